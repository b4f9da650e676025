//! `freshet why URL`: in plain sentences, why a page is or is not due.

use std::process::ExitCode;

use freshet::look::why::why;
use freshet::report::diff::harmless;
use freshet::time::Timestamp;

use super::plan::looking;
use crate::cli::{Global, WhyArgs};
use crate::terminal::{json, print};

pub(crate) fn run(global: &Global, arguments: &WhyArgs) -> anyhow::Result<ExitCode> {
    let mut crawler = looking(global, &arguments.flags.0, arguments.every.as_ref(), None)?;
    let why = why(&mut crawler, &arguments.url, Timestamp::now())?;
    print(&if global.json { json(&why)? } else { lines(&why.sentences) })
}

/// Sentences, a line each. Parts of them may come from a stranger's store.
fn lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| harmless(sentence) + "\n").collect()
}
