//! A site: its hosts, when and how its pages change, its budget, the trust in its signals, what happened last.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use std::time::{Duration, Instant};

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::shown::{Foreign, Moment, tab};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::signals::{ListStatus, SignalTrust};
use crate::look::site_behaviour::SampledPage;
use crate::look::site_view::{SiteView, SiteWanted, site_view};
use crate::look::sites::SiteStatus;
use crate::look::status::HostStatus;
use crate::report::week_heat::{WEEKDAYS, week_heat, written};
use crate::report::{Screen, bytes, counted, number, percent, span};
use crate::store::PageEvent;
use crate::time::Timestamp;

use super::visit_rows::StripPart;
use super::{PageFrame, drawn};

/// Time to read the texts of pages that changed lately.
const TIME_LIMIT: Duration = Duration::from_millis(150);

/// Which site is meant.
#[derive(Deserialize)]
pub(crate) struct SiteQuery {
    host: String,
}

#[derive(Template)]
#[template(path = "site.html", config = "src/dashboard/askama.toml")]
struct SitePage {
    frame: PageFrame,
    host: String,
    twins: Vec<String>,
    waits: Option<(Moment, String)>,
    reason: Option<String>,
    facts: Vec<(&'static str, String)>,
    states: Vec<(String, String, String)>,
    strip: Option<StripPart>,
    hosts: Vec<HostLine>,
    budget: Option<BudgetLine>,
    heat: Option<String>,
    heat_said: String,
    heat_rows: Vec<(&'static str, Vec<String>)>,
    behaviours: Vec<(String, u64)>,
    behaviour_said: String,
    sampled: Vec<SampledLine>,
    signals: Vec<(&'static str, String)>,
    lists: Vec<ListLine>,
    events: Vec<EventLine>,
    pages_href: String,
    changes_href: String,
}

struct HostLine {
    host: String,
    pages: String,
    delay: String,
    robots: String,
    read: Option<Moment>,
    forbidden: u64,
    forbidden_href: String,
    refused: u64,
    failures: u32,
}

struct BudgetLine {
    spent: String,
    budget: String,
    share: String,
    /// For the element `meter`.
    value: u64,
    most: u64,
}

struct SampledLine {
    href: String,
    name: String,
    behaviour: &'static str,
    shares: [String; 3],
    changes: usize,
    changed: Moment,
}

struct ListLine {
    url: String,
    entries: String,
    read: Moment,
    flaw: &'static str,
}

struct EventLine {
    kind: &'static str,
    href: String,
    name: String,
    at: Moment,
    moved: String,
}

/// The page of a site.
pub(crate) async fn site(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SiteQuery>,
) -> Result<Response, Trouble> {
    let (now, screen) = (site.now(), site.screen());
    let view = viewed(&site, asked.host).await?;
    drawn(&SitePage::of(&site, view, now, &screen))
}

/// The view of the site of that host.
pub(crate) async fn viewed(site: &Dashboard, host: String) -> Result<SiteView, Trouble> {
    let (now, asker) = (site.now(), site.clone());
    site.look(move |store| {
        let settings = asker.settings();
        let wanted = SiteWanted {
            host: host.trim(),
            zone: &settings.zone,
            fragment_words: settings.observer.change.fragment_words,
            deadline: Instant::now() + TIME_LIMIT,
            now,
        };
        site_view(store, &settings.pace, &wanted)
    })
    .await
}

impl SitePage {
    fn of(site: &Dashboard, view: SiteView, now: Timestamp, screen: &Screen) -> Self {
        let moment = |at: Timestamp| Moment::new(at, now, screen);
        let SiteView { status, hours, behaviour, .. } = &view;
        let waits = status.waiting_until_at.map(|until| {
            (
                moment(until),
                status.reason.clone().or(status.waiting_for.map(str::to_owned)).unwrap_or_default(),
            )
        });
        let heat_rows = WEEKDAYS.iter().zip(&hours.cells);
        Self {
            frame: PageFrame::new(site, "/sites", tab(&status.host)),
            reason: status.reason.clone().filter(|_| waits.is_none()),
            waits,
            facts: facts(status, now),
            states: states(status),
            strip: StripPart::of(&view.ticks, screen),
            hosts: view.hosts.iter().map(|host| host_line(host, &moment)).collect(),
            budget: budget(status),
            heat: week_heat(hours),
            heat_said: heat_said(&view, screen),
            heat_rows: heat_rows
                .map(|(day, cells)| (*day, cells.iter().map(|cell| written(*cell)).collect()))
                .collect(),
            behaviours: behaviour.counts.0.clone(),
            behaviour_said: behaviour_said(&view),
            sampled: behaviour.pages.iter().map(|page| sampled(page, &moment)).collect(),
            signals: status
                .signals
                .iter()
                .map(|trust: &SignalTrust| (trust.kind, trust.in_words()))
                .collect(),
            lists: view.lists.iter().map(|list| list_line(list, &moment)).collect(),
            events: view.events.iter().map(|event| event_line(event, &moment)).collect(),
            pages_href: Href::to("/pages").with("host", &status.host).written(),
            changes_href: Href::to("/changes").with("host", &status.host).written(),
            host: status.host.clone(),
            twins: status.twins.clone(),
        }
    }
}

fn facts(status: &SiteStatus, now: Timestamp) -> Vec<(&'static str, String)> {
    let cycle = &status.last_cycle;
    let last = status.last_success_at.map_or("never".to_owned(), |at| format!("{} ago", span(now.after(at))));
    vec![
        ("pages", number(status.pages)),
        ("visits in the last cycle", number(cycle.visits)),
        ("of them changed", number(cycle.changed)),
        ("new pages", number(cycle.new)),
        ("received", bytes(cycle.received_bytes)),
        ("stored", bytes(status.stored_bytes)),
        ("last success", last),
    ]
}

/// Pages by their state, with their share, and the list of these pages.
fn states(status: &SiteStatus) -> Vec<(String, String, String)> {
    let all = status.pages.max(1) as f64;
    let row = |(name, pages): &(String, u64)| {
        let href = Href::to("/pages").with("host", &status.host).with("state", name).written();
        (name.clone(), format!("{} ({})", number(*pages), percent(*pages as f64 / all)), href)
    };
    status.states.0.iter().map(row).collect()
}

fn host_line(host: &HostStatus, moment: &dyn Fn(Timestamp) -> Moment) -> HostLine {
    let robots = match (&host.robots_reason, host.robots_status) {
        (Some(why), _) => format!("could not be fetched: {why}"),
        (None, Some(200)) => "read".to_owned(),
        (None, Some(status)) => format!("HTTP {status}: no rules"),
        (None, None) => "not read yet".to_owned(),
    };
    HostLine {
        host: host.host.clone(),
        pages: number(host.pages),
        delay: span(Duration::try_from_secs_f64(host.delay_seconds).unwrap_or_default()),
        read: host.robots_read.map(moment),
        forbidden: host.forbidden_pages,
        forbidden_href: Href::to("/pages").with("host", &host.host).with("outcome", "robots").written(),
        refused: host.refused_pages,
        failures: host.failures,
        robots,
    }
}

fn budget(status: &SiteStatus) -> Option<BudgetLine> {
    let (budget, spent) = (status.budget?, status.budget_spent.unwrap_or(0));
    Some(BudgetLine {
        spent: number(spent),
        budget: number(budget),
        share: percent(spent as f64 / budget.max(1) as f64),
        value: spent.min(budget),
        most: budget.max(1),
    })
}

/// What the heat map is made of.
fn heat_said(view: &SiteView, screen: &Screen) -> String {
    let hours = &view.hours;
    let Some(since) = hours.since else { return "No change was found yet.".to_owned() };
    let left_out = match hours.without_hour {
        0 => String::new(),
        some => format!(
            "; {} left out, because the visit before was more than a week earlier or not known",
            counted(some, "change")
        ),
    };
    format!(
        "The latest {} since {}{left_out}. A change came at some moment since the visit before, so it is spread evenly over that time.",
        counted(hours.changes, "change"),
        screen.time(since)
    )
}

fn behaviour_said(view: &SiteView) -> String {
    let looked_at = view.behaviour.pages.len();
    if looked_at == 0 {
        return "No page with two versions to compare was looked at.".to_owned();
    }
    let more = match view.behaviour.not_looked_at {
        0 => String::new(),
        some => format!("; {} that changed a little earlier were not looked at", counted(some, "page")),
    };
    format!("The {} that changed last, by their latest changes{more}.", counted(looked_at, "page"))
}

fn sampled(page: &SampledPage, moment: &dyn Fn(Timestamp) -> Moment) -> SampledLine {
    let shares = page.shares;
    SampledLine {
        href: links::page(page.page_id),
        name: page.title.clone().unwrap_or_else(|| page.url.clone()),
        behaviour: page.behaviour.name(),
        shares: [shares.static_share, shares.churn, shares.scroll].map(percent),
        changes: page.changes,
        changed: moment(page.changed_at),
    }
}

fn list_line(list: &ListStatus, moment: &dyn Fn(Timestamp) -> Moment) -> ListLine {
    let of = if list.is_index { "file" } else { "page" };
    ListLine {
        url: list.url.clone(),
        entries: counted(list.entries, of),
        read: moment(list.read_at),
        flaw: list.flaw_in_words.unwrap_or("believed"),
    }
}

fn event_line(event: &PageEvent, moment: &dyn Fn(Timestamp) -> Moment) -> EventLine {
    EventLine {
        kind: event.kind.name(),
        href: links::page(event.page_id),
        name: event.title.clone().unwrap_or_else(|| event.url.clone()),
        at: moment(event.at),
        moved: event.divergence.map_or("–".to_owned(), |moved| format!("{moved:.3}")),
    }
}
