//! `freshet changes`: what happened to the pages, as a table, JSON lines or an Atom feed.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use freshet::look::changes::{Changes, ChangesWanted, WantedHost, latest_cycle};
use freshet::look::hosts::must_be_known;
use freshet::look::merged::many_in_one;
use freshet::report::changes::{ChangeTable, FEED_END, feed_entry, feed_start, kept_out};
use freshet::report::counted;
use freshet::report::diff::harmless;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{ChangesArgs, ChangesFormat, Global};
use crate::settings::when::moment;
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{Talk, json_line, screen};

use super::diff::deadline;

/// Events that a table shows unless told otherwise: a change is a diff to make.
const TABLE_ROWS: usize = 100;
/// New pages of a cycle that a table lists; more are counted.
const MOST_NEW: usize = 20;
/// `--since last`
const LAST: &str = "last";

pub(crate) fn run(global: &Global, arguments: &ChangesArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let format = if global.json { ChangesFormat::Json } else { arguments.format };
    let mut wanted = wanted(arguments, format, now)?;
    let settings = Settings::load(global, &Given::of_words(arguments.fragment_words))?;
    wanted.fragment_words = settings.change.fragment_words;
    let mut store = store::open_to_look(&settings.store)?;
    if let (Some(host), Some(named)) = (&wanted.host, &arguments.host) {
        must_be_known(&mut *store, host, named)?;
    }
    if arguments.since == LAST {
        wanted.since = latest_cycle(&mut *store)?.unwrap_or(now);
    }
    for group in many_in_one(&mut *store)? {
        // These pages have no changes while they show nothing of their own.
        if wanted.host.as_ref().is_none_or(|host| host.has(&group.host)) {
            tracing::warn!("{}", harmless(&group.warning()));
        }
    }
    let observer = settings.observer();
    let mut changes = Changes::find(&mut *store, &observer, &wanted)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut shown = Vec::new();
    match format {
        ChangesFormat::Table => {
            let mut table = ChangeTable::new(screen());
            let many_new = changes.many_new().to_vec();
            let mut many_new = many_new.iter().peekable();
            while let Some(event) = changes.next(deadline())? {
                while let Some(many) = many_new.next_if(|many| many.last_at >= event.event.at) {
                    table.add_many(many);
                }
                shown.push(event.event.observation_id);
                table.add(&event);
            }
            many_new.for_each(|many| table.add_many(many));
            out.write_all(table.render().as_bytes())?;
        }
        ChangesFormat::Json => {
            while let Some(event) = changes.next(deadline())? {
                shown.push(event.event.observation_id);
                out.write_all(json_line(&event)?.as_bytes())?;
            }
        }
        ChangesFormat::Atom => {
            out.write_all(feed_start(wanted.since, now).as_bytes())?;
            while let Some(event) = changes.next(deadline())? {
                shown.push(event.event.observation_id);
                out.write_all(feed_entry(&event).as_bytes())?;
            }
            out.write_all(FEED_END.as_bytes())?;
        }
    }
    out.flush()?;
    if let Some(line) = kept_out(changes.kept_out()) {
        talk.say(&line);
    }
    if arguments.mark_read && !shown.is_empty() {
        // What could not be written was not read.
        store::open_to_ping(&settings.store)?.mark_read(&shown, true, now)?;
        talk.say(&format!("{} marked as read", counted(shown.len(), "event")));
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything but the words of a fragment, which are a setting.
fn wanted(arguments: &ChangesArgs, format: ChangesFormat, now: Timestamp) -> Result<ChangesWanted, Usage> {
    // The latest cycle is in the store, which is not open yet.
    let since = match arguments.since.as_str() {
        LAST => now,
        text => moment("--since", text, now)
            .map_err(|Usage(wrong)| Usage(format!("{wrong}, or `{LAST}` for the latest cycle")))?,
    };
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
    let (host, lasting, unread) = (host.transpose()?, arguments.lasting, arguments.unread);
    let kinds = arguments.kind.clone();
    // Who asks for new pages gets them all.
    let most_new = (format == ChangesFormat::Table && kinds.is_empty()).then_some(MOST_NEW);
    Ok(ChangesWanted {
        since,
        kinds,
        host,
        min_divergence,
        lasting,
        unread,
        most,
        most_new,
        fragment_words: 0,
    })
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
