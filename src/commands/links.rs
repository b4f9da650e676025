//! `freshet links`: the links of stored pages, and what becomes of each. Nothing is fetched.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use freshet::look::LookError;
use freshet::look::hosts::must_be_known;
use freshet::look::links::{LinksWanted, PageLink, links, links_of};
use freshet::report;
use freshet::store::PageFilter;
use freshet::unique::Refusal;

use super::changes::wanted_host;
use super::plan::looking;
use crate::cli::{Global, LinksArgs};
use crate::settings::Usage;
use crate::terminal::{Talk, json_line, screen};

/// Why a list of links ends before its last.
#[derive(Debug)]
enum ListEnd {
    /// As many as were asked for are shown.
    Enough,
    Failed(anyhow::Error),
}

impl From<LookError> for ListEnd {
    fn from(error: LookError) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) fn run(global: &Global, arguments: &LinksArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let reason = arguments.reason.as_deref().map(reason).transpose()?;
    let wanted = LinksWanted { refused: arguments.refused, reason };
    let host = arguments.host.as_ref().map(|host| host.to_lowercase());
    let wanted_host = arguments.host.as_deref().map(wanted_host).transpose()?;
    let mut crawler = looking(global, &arguments.flags.0, None, None)?;
    if let (Some(wanted), Some(named)) = (&wanted_host, &arguments.host) {
        must_be_known(crawler.store()?, wanted, named)?;
    }
    let screen = screen();
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut left = arguments.limit.unwrap_or(usize::MAX);
    let on_page = arguments.url.is_none();
    let mut show = |link: PageLink| -> Result<(), ListEnd> {
        if left == 0 {
            return Err(ListEnd::Enough);
        }
        left -= 1;
        let text =
            if global.json { json_line(&link) } else { Ok(report::links::line(&link, on_page, &screen)) };
        let shown = text.and_then(|text| Ok(out.write_all(text.as_bytes())?));
        shown.map_err(ListEnd::Failed)
    };
    let done = match &arguments.url {
        Some(url) => links_of(&mut crawler, url, &wanted, &mut show),
        None => links(&mut crawler, &PageFilter { host, ..PageFilter::default() }, &wanted, &mut show),
    };
    out.flush()?;
    match done {
        Ok(counts) => talk.say(&report::links::summary(&counts)),
        Err(ListEnd::Enough) => {}
        Err(ListEnd::Failed(error)) => return Err(error),
    }
    Ok(ExitCode::SUCCESS)
}

fn reason(text: &str) -> Result<Refusal, Usage> {
    Refusal::from_name(text).ok_or_else(|| {
        let known: Vec<&str> = Refusal::all().iter().map(|refusal| refusal.name()).collect();
        Usage(format!("there is no reason `{text}`; there are {}", known.join(", ")))
    })
}
