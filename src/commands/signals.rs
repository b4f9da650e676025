//! `freshet signals`: what sites tell of their changes, and how far that can be trusted.

use std::process::ExitCode;

use freshet::look::changes::WantedHost;
use freshet::look::hosts::must_be_known;
use freshet::look::signals::signals;
use freshet::report;
use freshet::store;

use crate::cli::{Global, SignalsArgs};
use crate::settings::{Settings, Usage};
use crate::terminal::{json_line, print, screen};

pub(crate) fn run(global: &Global, arguments: &SignalsArgs) -> anyhow::Result<ExitCode> {
    let wanted =
        arguments.site.as_deref().map(|site| Ok::<_, Usage>((wanted_site(site)?, site))).transpose()?;
    let mut store = store::open_to_look(&Settings::store(global)?)?;
    if let Some((wanted, named)) = &wanted {
        must_be_known(&mut *store, wanted, named)?;
    }
    let sites = signals(&mut *store, wanted.as_ref().map(|(wanted, _)| wanted))?;
    if !global.json {
        return print(&report::signals::signals(&sites, arguments.site.is_some(), &screen()));
    }
    let lines: Vec<String> = sites.iter().map(json_line).collect::<anyhow::Result<_>>()?;
    print(&lines.concat())
}

/// The site that is named. A password in the text is not repeated.
fn wanted_site(text: &str) -> Result<WantedHost, Usage> {
    let shown = if text.contains('@') { "…" } else { text };
    let wrong = || {
        Usage(format!(
            "`{shown}` is no site; write it like `example.org`, `example.org:8080` or `https://example.org`"
        ))
    };
    WantedHost::parse(text).ok_or_else(wrong)
}
