//! `freshet changes`: what changed across the collection, as a table, JSON lines or an Atom feed.

use std::io::{BufWriter, IsTerminal as _, Write};
use std::process::ExitCode;

use freshet::look::changes::{Changes, ChangesWanted, WantedHost};
use freshet::look::merged::many_in_one;
use freshet::report::changes::{ChangeTable, FEED_END, feed_entry, feed_start};
use freshet::report::diff::harmless;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{ChangesArgs, ChangesFormat, Global};
use crate::settings::when::moment;
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{columns, json_line};

use super::diff::deadline;

/// Changes that a table shows unless told otherwise: each is a diff to make.
const TABLE_ROWS: usize = 100;

pub(crate) fn run(global: &Global, arguments: &ChangesArgs) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let format = if global.json { ChangesFormat::Json } else { arguments.format };
    let mut wanted = wanted(arguments, format, now)?;
    let settings = Settings::load(global, &Given::of_words(arguments.fragment_words))?;
    wanted.fragment_words = settings.change.fragment_words;
    let mut store = store::open_to_look(&settings.store)?;
    for group in many_in_one(&mut *store)? {
        // No change is told of these pages while they show nothing of their own.
        if wanted.host.as_ref().is_none_or(|host| host.has(&group.host)) {
            tracing::warn!("{}", harmless(&group.warning()));
        }
    }
    let mut changes = Changes::find(&mut *store, &wanted)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match format {
        ChangesFormat::Table => {
            let mut table = ChangeTable::default();
            while let Some(change) = changes.next(deadline())? {
                table.add(&change);
            }
            let width = std::io::stdout().is_terminal().then(columns);
            out.write_all(table.render(width).as_bytes())?;
        }
        ChangesFormat::Json => {
            while let Some(change) = changes.next(deadline())? {
                out.write_all(json_line(&change)?.as_bytes())?;
            }
        }
        ChangesFormat::Atom => {
            out.write_all(feed_start(wanted.since, now).as_bytes())?;
            while let Some(change) = changes.next(deadline())? {
                out.write_all(feed_entry(&change).as_bytes())?;
            }
            out.write_all(FEED_END.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Everything but the words of a fragment, which are a setting.
fn wanted(arguments: &ChangesArgs, format: ChangesFormat, now: Timestamp) -> Result<ChangesWanted, Usage> {
    let since = moment("--since", &arguments.since, now)?;
    let min_divergence = arguments.min_divergence;
    if !(0.0..=1.0).contains(&min_divergence) {
        return Err(Usage(format!("--min-divergence is `{min_divergence}`; it must be from 0 to 1")));
    }
    let host = arguments.host.as_deref().map(wanted_host);
    let most = match (arguments.limit, format) {
        (Some(0), _) => usize::MAX,
        (Some(most), _) => most,
        (None, ChangesFormat::Table) => TABLE_ROWS,
        (None, ChangesFormat::Json | ChangesFormat::Atom) => usize::MAX,
    };
    let (host, lasting) = (host.transpose()?, arguments.lasting);
    Ok(ChangesWanted { since, host, min_divergence, lasting, most, fragment_words: 0 })
}

/// The host that `--host` names.
pub(crate) fn wanted_host(text: &str) -> Result<WantedHost, Usage> {
    WantedHost::parse(text).ok_or_else(|| no_host(text))
}

/// A password in the text is not repeated.
fn no_host(text: &str) -> Usage {
    let shown = if text.contains('@') { "…" } else { text };
    Usage(format!(
        "--host is `{shown}`, which is no host; write it like `example.org`, `example.org:8080` or \
         `https://example.org`"
    ))
}
