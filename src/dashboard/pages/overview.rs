//! The first screen: is it well, what is new, was the budget well spent?

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use crate::dashboard::Dashboard;
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::Trouble;
use crate::look::status::{StoreStatus, status};
use crate::report::{bytes, counted, number};

use super::{PageFrame, drawn};

/// Cycles that are shown.
const CYCLES: usize = 5;

/// Hosts that wait and are shown; more are counted.
const WAITING: usize = 20;

#[derive(Template)]
#[template(path = "overview.html", config = "src/dashboard/askama.toml")]
struct OverviewPage {
    frame: PageFrame,
    sentence: String,
    warnings: Vec<String>,
    counts: Vec<(&'static str, String)>,
    waiting: Vec<WaitingRow>,
    more_waiting: usize,
    cycles: Vec<CycleLine>,
}

struct WaitingRow {
    host: String,
    href: String,
    until: Moment,
    reason: String,
}

struct CycleLine {
    id: i64,
    started: Moment,
    is_open: bool,
    requests: String,
    budget: String,
    changed: String,
    new: String,
    failed: String,
}

/// The page.
pub(crate) async fn overview(State(site): State<Dashboard>) -> Result<Response, Trouble> {
    let (now, screen) = (site.now(), site.screen());
    let status = site.look(move |store| status(store, CYCLES, false, now)).await?;
    let moment = |at| Moment::new(at, now, &screen);
    let waits = status.hosts.iter().filter_map(|host| host.waiting_until.map(|until| (host, until)));
    let waiting: Vec<WaitingRow> = waits
        .map(|(host, until)| WaitingRow {
            host: host.host.clone(),
            href: crate::dashboard::links::site(&host.host),
            until: moment(until),
            reason: host.reason.clone().unwrap_or_default(),
        })
        .collect();
    let cycles = status.cycles.iter().map(|cycle| CycleLine {
        id: cycle.id,
        started: moment(cycle.started_at),
        is_open: cycle.ended_at.is_none(),
        requests: number(cycle.requests),
        budget: cycle.budget.map_or("–".to_owned(), number),
        changed: number(cycle.changed),
        new: number(cycle.new_pages),
        failed: number(cycle.failed),
    });
    drawn(&OverviewPage {
        frame: PageFrame::new(&site, "/", "Overview"),
        sentence: sentence(&status, waiting.len()),
        counts: counts(&status),
        cycles: cycles.collect(),
        more_waiting: waiting.len().saturating_sub(WAITING),
        waiting: waiting.into_iter().take(WAITING).collect(),
        warnings: status.warnings,
    })
}

/// How things are, in one sentence.
fn sentence(status: &StoreStatus, waiting: usize) -> String {
    let pages = &status.pages;
    let Some(cycle) = status.cycles.first() else {
        return format!("{} known, and no cycle was run yet.", counted(pages.known, "page"));
    };
    let spent = match cycle.budget {
        Some(budget) => format!("{} of {} requests spent", number(cycle.requests), number(budget)),
        None => format!("{} sent", counted(cycle.requests, "request")),
    };
    let place = if cycle.ended_at.is_none() { "in the cycle that runs" } else { "in the last cycle" };
    let waiting = match waiting {
        0 => "no host waits".to_owned(),
        1 => "1 host waits".to_owned(),
        many => format!("{} hosts wait", number(many as u64)),
    };
    format!(
        "{} known, {spent} {place}, {} changed, {waiting}.",
        counted(pages.known, "page"),
        counted(cycle.changed, "page")
    )
}

fn counts(status: &StoreStatus) -> Vec<(&'static str, String)> {
    let (pages, store) = (&status.pages, &status.store);
    vec![
        ("pages known", number(pages.known)),
        ("visited", number(pages.visited)),
        ("gone", number(pages.gone)),
        ("failing", number(pages.failed)),
        ("hosts", number(status.hosts.len() as u64)),
        ("versions", number(store.versions)),
        ("store", bytes(store.bytes)),
    ]
}
