//! The first screen: is it well, what is new, was the budget well spent?

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::shown::{Foreign, MixedText, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::LookError;
use crate::look::inbox::{Inbox, InboxEntry, InboxWanted, NEWEST, inbox};
use crate::look::inline_diff::{InlineDiff, InlineLine};
use crate::look::overview::{Alarm, Overview, OverviewTerms, overview as look_over};
use crate::look::strips::HostStrip;
use crate::look::waits::WaitingHost;
use crate::report::brought::{BroughtInk, LEGEND};
use crate::report::budget_bar::{self, BudgetRow};
use crate::report::overview::{inbox_line, round_robin};
use crate::report::{Screen, heartbeat, number};
use crate::store::{CycleRow, Store};
use crate::time::Timestamp;

use super::{PageFrame, drawn};

/// Days of the list of what requests brought.
const DAYS: Duration = Duration::from_secs(6 * 86_400);
/// Days of the inbox.
const INBOX_DAYS: Duration = Duration::from_secs(14 * 86_400);
/// Heartbeats that are shown, and entries of the inbox.
const MOST_STRIPS: usize = 12;
const MOST_ENTRIES: usize = 15;
/// Lines of a change that are shown at once; the others unfold.
const HEAD_LINES: usize = 4;
/// Hosts that wait and are shown; more are counted.
const MOST_WAITING: usize = 12;
/// Cycles of the table.
const CYCLES: usize = 20;
/// After this time no more changes are judged: the rest comes with the next look, which knows these already.
const JUDGING: Duration = Duration::from_millis(200);

/// What can be asked of it.
#[derive(Deserialize)]
pub(crate) struct OverviewQuery {
    /// Show changes that were read, too.
    read: Option<String>,
}

#[derive(Template)]
#[template(path = "overview.html", config = "src/dashboard/askama.toml")]
struct OverviewPage {
    frame: PageFrame,
    sentence: String,
    alarms: Vec<Alarm>,
    freshness: Option<FreshnessLine>,
    with_read: bool,
    inbox_line: String,
    has_more: bool,
    entries: Vec<EntryRow>,
    more_entries: usize,
    shown_visits: String,
    log_end: i64,
    days: Vec<BudgetRow>,
    legend: [BroughtInk; 8],
    round_robin: Option<String>,
    strips: Vec<StripRow>,
    more_strips: usize,
    waiting: Vec<WaitingRow>,
    more_waiting: usize,
    cycle: Option<CycleLine>,
    cycles: Vec<CycleCells>,
}

struct FreshnessLine {
    held: String,
    without_copy: u64,
    noted: Moment,
}

/// An entry of the inbox as the template draws it.
pub(crate) struct EntryRow {
    pub title: String,
    pub href: String,
    pub url: String,
    pub at: Moment,
    pub many: Option<String>,
    pub divergence: Option<String>,
    pub lasting: Option<String>,
    pub weight: Option<String>,
    pub is_read: bool,
    pub visits: String,
    pub diff: InlineDiff,
}

struct StripRow {
    host: String,
    href: String,
    svg: String,
    said: String,
    waits: bool,
}

struct WaitingRow {
    host: String,
    href: String,
    pages: String,
    until: Moment,
    reason: String,
}

struct CycleLine {
    id: i64,
    started: Moment,
    ended: Option<Moment>,
    policy: String,
}

/// A cycle of the table.
struct CycleCells {
    id: i64,
    started: Moment,
    runs: bool,
    requests: String,
    changed: String,
    new_pages: String,
    failed: String,
}

/// The page.
pub(crate) async fn overview(
    State(site): State<Dashboard>,
    Asked(asked): Asked<OverviewQuery>,
) -> Result<Response, Trouble> {
    let (now, screen, asker) = (site.now(), site.screen(), site.clone());
    let with_read = asked.read.is_some();
    let found = site.look(move |store| {
        let view = glance(store, &asker, now)?;
        let log_end = store.log_end()?;
        let cycles = store.cycles(CYCLES)?;
        Ok((view, lasting(store, &asker, with_read, now)?, log_end, cycles))
    });
    let (view, changes, log_end, cycles) = found.await?;
    let page = page(PageFrame::new(&site, "/", "Overview"), view, changes, (now, &screen));
    let cycles =
        cycles.iter().map(|cycle| CycleCells::of(cycle, Moment::new(cycle.started_at, now, &screen)));
    drawn(&OverviewPage { with_read, log_end, cycles: cycles.collect(), ..page })
}

/// The collection at a glance, by the settings of the dashboard.
pub(crate) fn glance(store: &mut dyn Store, site: &Dashboard, now: Timestamp) -> Result<Overview, LookError> {
    let settings = site.settings();
    let terms = OverviewTerms {
        since: now.minus(DAYS),
        most_strips: MOST_STRIPS,
        normaliser: &settings.observer.normaliser,
        free_bytes: crate::store::free_bytes(&settings.store),
        every: settings.every,
    };
    look_over(store, &terms, now)
}

/// The inbox, as far as its changes can be judged in a moment.
pub(crate) fn lasting(
    store: &mut dyn Store,
    site: &Dashboard,
    with_read: bool,
    now: Timestamp,
) -> Result<Inbox, LookError> {
    let (settings, began) = (site.settings(), Instant::now());
    let wanted = InboxWanted {
        since: now.minus(INBOX_DAYS),
        with_read,
        hosts: None,
        newest: NEWEST,
        most: MOST_ENTRIES,
        fragment_words: settings.observer.change.fragment_words,
    };
    let mut memory = site.inbox_memory().lock().unwrap_or_else(PoisonError::into_inner);
    let mut is_over = || began.elapsed() > JUDGING;
    inbox(store, &settings.observer, &wanted, &mut memory, (began + 2 * JUDGING, &mut is_over))
}

fn page(
    frame: PageFrame,
    view: Overview,
    changes: Inbox,
    (now, screen): (Timestamp, &Screen),
) -> OverviewPage {
    let moment = |at| Moment::new(at, now, screen);
    let freshness = view.freshness.map(|fresh| FreshnessLine {
        held: number(fresh.held_pages),
        without_copy: fresh.pages_without_copy,
        noted: moment(fresh.noted_at),
    });
    let waiting = view.waiting.iter().take(MOST_WAITING).map(|host| WaitingRow::of(host, &moment));
    let visits: Vec<i64> = changes.entries.iter().flat_map(|entry| entry.visit_ids.clone()).collect();
    OverviewPage {
        frame,
        sentence: view.sentence.clone(),
        freshness,
        with_read: false,
        inbox_line: inbox_line(&changes),
        has_more: changes.has_more,
        more_entries: changes.entry_count.saturating_sub(changes.entries.len()),
        shown_visits: joined(&visits),
        log_end: 0,
        entries: changes.entries.into_iter().map(|entry| EntryRow::of(entry, &moment)).collect(),
        round_robin: round_robin(&view),
        legend: LEGEND,
        strips: view.strips.iter().map(|strip| StripRow::of(strip, screen)).collect(),
        more_strips: view.host_count.saturating_sub(view.strips.len()),
        waiting: waiting.collect(),
        more_waiting: view.waiting.len().saturating_sub(MOST_WAITING),
        cycle: view.cycle.as_ref().map(|cycle| CycleLine::of(cycle, &moment)),
        days: budget_bar::rows(&view.days),
        alarms: view.alarms,
        cycles: Vec::new(),
    }
}

/// Numbers as a form sends them.
fn joined(visits: &[i64]) -> String {
    visits.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

impl EntryRow {
    /// The lines that are shown at once.
    fn head(&self) -> &[InlineLine] {
        self.diff.lines.get(..HEAD_LINES.min(self.diff.lines.len())).unwrap_or_default()
    }

    /// The lines that unfold.
    fn tail(&self) -> &[InlineLine] {
        self.diff.lines.get(HEAD_LINES..).unwrap_or_default()
    }

    pub(crate) fn of(entry: InboxEntry, moment: &dyn Fn(Timestamp) -> Moment) -> Self {
        let event = entry.event;
        let title = event.title.filter(|title| !title.trim().is_empty());
        Self {
            title: title.unwrap_or_else(|| event.url.clone()),
            href: links::page(event.page_id),
            url: event.url,
            at: moment(event.at),
            many: entry.same_change,
            divergence: event.divergence.map(|apart| format!("{apart:.2}")),
            lasting: (entry.lasting < 1.0).then(|| format!("{:.0} %", 100.0 * entry.lasting)),
            weight: (entry.weight != 1.0).then(|| format!("{:.2}", entry.weight)),
            is_read: entry.is_read,
            visits: joined(&entry.visit_ids),
            diff: entry.diff,
        }
    }
}

impl StripRow {
    fn of(strip: &HostStrip, screen: &Screen) -> Self {
        Self {
            host: strip.host.clone(),
            href: links::site(&strip.host),
            svg: heartbeat::strip(strip, screen),
            said: heartbeat::said(strip),
            waits: strip.waits.is_some(),
        }
    }
}

impl WaitingRow {
    fn of(host: &WaitingHost, moment: &dyn Fn(Timestamp) -> Moment) -> Self {
        Self {
            host: host.host.clone(),
            href: links::site(&host.host),
            pages: number(host.pages),
            until: moment(host.until_at),
            reason: host.reason.clone(),
        }
    }
}

impl CycleLine {
    fn of(cycle: &CycleRow, moment: &dyn Fn(Timestamp) -> Moment) -> Self {
        Self {
            id: cycle.id,
            started: moment(cycle.started_at),
            ended: cycle.ended_at.map(moment),
            policy: cycle.policy.clone(),
        }
    }
}

impl CycleCells {
    fn of(cycle: &CycleRow, started: Moment) -> Self {
        Self {
            id: cycle.id,
            started,
            runs: cycle.ended_at.is_none(),
            requests: number(cycle.requests),
            changed: number(cycle.changed),
            new_pages: number(cycle.new_pages),
            failed: number(cycle.failed),
        }
    }
}

/// The address of the overview, with what was read or without.
pub(crate) fn address(with_read: bool) -> String {
    Href::to("/").with_some("read", with_read.then_some("yes")).written()
}
