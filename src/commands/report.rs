//! `freshet report`: a period at a glance, as text, JSON, or one HTML file.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;

use freshet::look::inbox::{Inbox, InboxMemory, InboxWanted, inbox};
use freshet::look::overview::{Overview, OverviewTerms, overview};
use freshet::look::sites::sites;
use freshet::report;
use freshet::report::period_page::{PeriodReport, html};
use freshet::store;
use freshet::time::Timestamp;
use freshet::whole_file;

use crate::cli::{Global, ReportArgs};
use crate::settings::when::moment;
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, json, print, screen};

/// Heartbeats that are drawn.
const MOST_STRIPS: usize = 60;
/// Changes that are judged, the newest of the period.
const NEWEST: usize = 5_000;
/// How long differences may take; what is not compared then counts as replaced.
const DIFF_TIME: Duration = Duration::from_secs(60);

/// A report as JSON has it.
#[derive(Serialize)]
struct ReportJson<'a> {
    since_at: Timestamp,
    overview: &'a Overview,
    inbox: &'a Inbox,
}

pub(crate) fn run(global: &Global, arguments: &ReportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let since = moment("--since", &arguments.since, now)?;
    let settings = Settings::load(global, &Given::of_words(arguments.fragment_words))?;
    let mut store = store::open_to_look(&settings.store)?;
    let observer = settings.observer();
    let terms = OverviewTerms {
        since,
        most_strips: MOST_STRIPS,
        normaliser: &observer.normaliser,
        free_bytes: store::free_bytes(&settings.store),
        every: settings.crawl.every,
    };
    let view = overview(&mut *store, &terms, now)?;
    let wanted = InboxWanted {
        since,
        with_read: !arguments.unread,
        hosts: None,
        newest: NEWEST,
        most: if arguments.limit == 0 { usize::MAX } else { arguments.limit },
        fragment_words: settings.change.fragment_words,
    };
    let mut memory = InboxMemory::default();
    let until: (Instant, &mut dyn FnMut() -> bool) = (Instant::now() + DIFF_TIME, &mut || false);
    let changes = inbox(&mut *store, &observer, &wanted, &mut memory, until)?;
    if let Some(path) = &arguments.out {
        let sites = sites(&mut *store, &settings.crawl.fetch.sites, now)?;
        let name = settings.store.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let report = PeriodReport { store: &name, since, overview: &view, inbox: &changes, sites: &sites };
        write(path, &html(&report, &screen())?)?;
        talk.say(&format!("wrote `{}`", path.display()));
    }
    if global.json {
        return print(&json(&ReportJson { since_at: since, overview: &view, inbox: &changes })?);
    }
    if arguments.out.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    print(&report::overview::overview(&view, &changes, &screen()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    whole_file::write(path, text.as_bytes()).with_context(|| format!("`{}` can't be written", path.display()))
}
