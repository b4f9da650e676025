//! `freshet why URL`: in plain sentences, why a page is or is not due.

use std::process::ExitCode;

use jiff::tz::TimeZone;

use freshet::look::why::why;
use freshet::report::diff::harmless;
use freshet::time::Timestamp;

use super::plan::looking;
use crate::cli::{Global, WhyArgs};
use crate::settings::when::zone;
use crate::terminal::{json, print};

pub(crate) fn run(global: &Global, arguments: &WhyArgs) -> anyhow::Result<ExitCode> {
    let mut crawler = looking(global, &arguments.flags.0, arguments.every.as_ref(), None)?;
    // JSON is for programs: its times are UTC, in sentences too.
    let zone = if global.json { TimeZone::UTC } else { zone() };
    let why = why(&mut crawler, &arguments.url, Timestamp::now(), &zone)?;
    print(&if global.json { json(&why)? } else { lines(&why.sentences) })
}

/// Sentences, a line each. Parts of them may come from a stranger's store.
fn lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| harmless(sentence) + "\n").collect()
}
