//! Every site in a row: its latest visits as a strip, pages, the last cycle, waits, trust in its signals.

use std::cmp::Reverse;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::list::{ListColumn, ListFoot, ListHead, ROWS, heads, way};
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::sites::{SiteStatus, SitesCycle, sites as all_sites};
use crate::look::strips::{StripTick, site_ticks};
use crate::observation::Life;
use crate::report::heartbeat::small_strip;
use crate::report::{bytes, number};

use super::{PageFrame, drawn};

/// What the table shows, and by what it can be sorted.
const COLUMNS: [ListColumn; 10] = [
    ListColumn::text("host", "site"),
    ListColumn::text("", "latest visits"),
    ListColumn::number("pages", "pages"),
    ListColumn::number("visits", "visits"),
    ListColumn::number("changed", "changed"),
    ListColumn::number("new", "new"),
    ListColumn::number("failing", "failing"),
    ListColumn::number("bytes", "received"),
    ListColumn::time("success", "last success"),
    ListColumn::text("", "why it waits"),
];

/// What can be asked of the list.
#[derive(Deserialize)]
pub(crate) struct SitesQuery {
    q: Option<String>,
    waiting: Option<String>,
    sort: Option<String>,
    after: Option<String>,
    back: Option<String>,
}

#[derive(Template)]
#[template(path = "sites.html", config = "src/dashboard/askama.toml")]
struct SitesPage {
    frame: PageFrame,
    query: String,
    only_waiting: bool,
    sort: String,
    heads: Vec<ListHead>,
    rows: Vec<SiteRow>,
    foot: ListFoot,
    found: String,
    cycle: Option<(i64, Moment)>,
}

struct SiteRow {
    host: String,
    href: String,
    strip: Option<String>,
    pages: String,
    visits: String,
    changed: String,
    new: String,
    failing: u64,
    received: String,
    success: Option<Moment>,
    waits: Option<Moment>,
    reason: String,
}

/// The page.
pub(crate) async fn sites(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SitesQuery>,
) -> Result<Response, Trouble> {
    let (now, screen, asker) = (site.now(), site.screen(), site.clone());
    let all = site.look(move |store| all_sites(store, &asker.settings().pace, now)).await?;
    let only_waiting = asked.waiting.is_some();
    let query = asked.q.clone().unwrap_or_default().trim().to_lowercase();
    let sort = asked.sort.clone().unwrap_or_default();
    let (name, is_reversed) = way(&sort);
    if !sort.is_empty() && !COLUMNS.iter().any(|column| column.key == name) {
        return Err(Trouble::BadQuery(format!("the sites can't be sorted by `{sort}`")));
    }
    let mut rows: Vec<SiteStatus> = all.sites;
    rows.retain(|row| {
        let is_named = || std::iter::once(&row.host).chain(&row.twins).any(|host| host.contains(&query));
        (!only_waiting || row.waiting_until_at.is_some()) && is_named()
    });
    sorted(&mut rows, name);
    if is_reversed {
        rows.reverse();
    }
    let filters = Href::to("/sites")
        .with_some("q", asked.q.as_deref())
        .with_some("waiting", only_waiting.then_some("yes"));
    let here = filters.clone().with_some("sort", Some(&sort));
    let found = rows.len();
    // Sites are few enough to be sorted at once; the key of a row is its host.
    let start = asked.after.as_ref().and_then(|after| rows.iter().position(|row| row.host == *after));
    let start = start.map_or(0, |place| place + 1);
    let shown = rows.get(start..).unwrap_or_default();
    let shown = shown.get(..shown.len().min(ROWS as usize)).unwrap_or_default();
    let last = shown.last().filter(|_| start + shown.len() < found).map(|row| row.host.as_str());
    let ids: Vec<_> = shown.iter().map(|row| row.ids.clone()).collect();
    let ticks = site.look(move |store| site_ticks(store, &ids)).await?;
    let moment = |at| Moment::new(at, now, &screen);
    drawn(&SitesPage {
        frame: PageFrame::new(&site, "/sites", "Sites"),
        heads: heads(&COLUMNS, &filters, &sort),
        foot: ListFoot::new(&here, asked.after.as_deref(), asked.back.as_deref(), last),
        rows: shown.iter().zip(&ticks).map(|(row, ticks)| SiteRow::of(row, ticks, &moment)).collect(),
        query: asked.q.unwrap_or_default(),
        found: number(found as u64),
        cycle: all.cycle.map(|SitesCycle { cycle_id, started_at, .. }| (cycle_id, moment(started_at))),
        only_waiting,
        sort,
    })
}

/// Without an order: as the view has them, those that wait first.
fn sorted(rows: &mut [SiteStatus], sort: &str) {
    match sort {
        "host" => rows.sort_by(|one, other| one.host.cmp(&other.host)),
        "pages" => rows.sort_by_key(|row| Reverse(row.pages)),
        "visits" => rows.sort_by_key(|row| Reverse(row.last_cycle.visits)),
        "changed" => rows.sort_by_key(|row| Reverse(row.last_cycle.changed)),
        "new" => rows.sort_by_key(|row| Reverse(row.last_cycle.new)),
        "failing" => rows.sort_by_key(|row| Reverse(row.life(Life::Failing))),
        "bytes" => rows.sort_by_key(|row| Reverse(row.last_cycle.received_bytes)),
        "success" => rows.sort_by_key(|row| Reverse(row.last_success_at)),
        _ => {}
    }
}

impl SiteRow {
    fn of(row: &SiteStatus, ticks: &[StripTick], moment: &dyn Fn(crate::time::Timestamp) -> Moment) -> Self {
        let cycle = &row.last_cycle;
        Self {
            host: row.host.clone(),
            href: links::site(&row.host),
            strip: (!ticks.is_empty()).then(|| small_strip(ticks)),
            pages: number(row.pages),
            visits: number(cycle.visits),
            changed: number(cycle.changed),
            new: number(cycle.new),
            failing: row.life(Life::Failing),
            received: bytes(cycle.received_bytes),
            success: row.last_success_at.map(moment),
            waits: row.waiting_until_at.map(moment),
            reason: row.reason.clone().unwrap_or_default(),
        }
    }
}
