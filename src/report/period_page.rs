//! The report of a period as one HTML file that needs nothing else: style and pictures are in it, and no script.

use askama::Template;

use super::brought::{BroughtInk, LEGEND};
use super::budget_bar::{self, BudgetRow};
use super::diff::harmless;
use super::overview::{inbox_line, round_robin};
use super::{Screen, bytes, counted, heartbeat, number};
use crate::look::inbox::{Inbox, InboxEntry};
use crate::look::inline_diff::InlineDiff;
use crate::look::overview::Overview;
use crate::look::sites::{SiteStatus, SitesStatus};
use crate::look::spending::DaySpending;
use crate::time::Timestamp;

/// The style sheet of the dashboard: a report looks like it.
const STYLE: &str = include_str!("../dashboard/assets/style.css");
/// Sites that have a row; more are counted.
const MOST_SITES: usize = 200;
/// Characters of a title or an address.
const MOST_CHARACTERS: usize = 240;

/// All that a report shows.
#[derive(Clone, Copy)]
pub struct PeriodReport<'a> {
    /// The name of the store.
    pub store: &'a str,
    /// When the period begins.
    pub since: Timestamp,
    /// The collection at a glance; its days are those of the period.
    pub overview: &'a Overview,
    /// Lasting changes of the period.
    pub inbox: &'a Inbox,
    /// Every site.
    pub sites: &'a SitesStatus,
}

#[derive(Template)]
#[template(path = "report.html", config = "src/dashboard/askama.toml")]
struct PeriodPage {
    style: &'static str,
    store: String,
    since: String,
    made: String,
    sentence: String,
    period: String,
    alarms: Vec<String>,
    round_robin: Option<String>,
    legend: [BroughtInk; 8],
    days: Vec<BudgetRow>,
    inbox_line: String,
    entries: Vec<ReportedChange>,
    more_entries: usize,
    strips: Vec<(String, String, String)>,
    waiting: Vec<(String, String, String, String)>,
    sites: Vec<ReportedSite>,
    more_sites: usize,
}

struct ReportedChange {
    title: String,
    url: String,
    at: String,
    many: Option<String>,
    divergence: Option<String>,
    diff: InlineDiff,
}

struct ReportedSite {
    host: String,
    pages: String,
    visits: String,
    changed: String,
    stored: String,
    success: String,
    reason: String,
}

/// The text of the file.
pub fn html(report: &PeriodReport<'_>, screen: &Screen) -> Result<String, askama::Error> {
    let PeriodReport { overview, inbox, sites, .. } = *report;
    let page = PeriodPage {
        style: STYLE,
        store: safe(report.store),
        since: screen.time(report.since),
        made: screen.time(overview.as_of_at),
        sentence: overview.sentence.clone(),
        period: period(&overview.days),
        alarms: overview.alarms.iter().map(|alarm| safe(&alarm.said)).collect(),
        round_robin: round_robin(overview),
        legend: LEGEND,
        days: budget_bar::rows(&overview.days),
        inbox_line: inbox_line(inbox),
        entries: inbox.entries.iter().map(|entry| ReportedChange::of(entry, screen)).collect(),
        more_entries: inbox.entry_count.saturating_sub(inbox.entries.len()),
        strips: overview
            .strips
            .iter()
            .map(|site| (safe(&site.host), heartbeat::strip(site, screen), heartbeat::said(site)))
            .collect(),
        waiting: overview
            .waiting
            .iter()
            .map(|host| {
                (safe(&host.host), number(host.pages), screen.time(host.until_at), safe(&host.reason))
            })
            .collect(),
        sites: sites.sites.iter().take(MOST_SITES).map(|site| ReportedSite::of(site, screen)).collect(),
        more_sites: sites.sites.len().saturating_sub(MOST_SITES),
    };
    page.render()
}

/// `8 days: 3,120 requests brought 211 changes and 40 new pages, and 58.1 MB`
fn period(days: &[DaySpending]) -> String {
    let sum = |of: fn(&DaySpending) -> u64| days.iter().map(of).sum::<u64>();
    format!(
        "{}: {} brought {} and {}, and {}",
        counted(days.len(), "day"),
        counted(sum(|day| day.requests), "request"),
        counted(sum(|day| day.brought.changed), "change"),
        counted(sum(|day| day.brought.first), "new page"),
        bytes(sum(|day| day.received_bytes))
    )
}

/// A stranger's text without what turns lines or can't be seen. The template escapes it.
fn safe(text: &str) -> String {
    harmless(&text.chars().take(MOST_CHARACTERS).collect::<String>())
}

impl ReportedChange {
    fn of(entry: &InboxEntry, screen: &Screen) -> Self {
        let event = &entry.event;
        let title = event.title.as_deref().filter(|title| !title.trim().is_empty());
        let mut diff = entry.diff.clone();
        for part in diff.lines.iter_mut().flat_map(|line| &mut line.parts) {
            part.text = harmless(&part.text);
        }
        Self {
            title: safe(title.unwrap_or(&event.url)),
            url: safe(&event.url),
            at: screen.time(event.at),
            many: entry.same_change.as_deref().map(safe),
            divergence: event.divergence.map(|apart| format!("{apart:.2}")),
            diff,
        }
    }
}

impl ReportedSite {
    fn of(site: &SiteStatus, screen: &Screen) -> Self {
        Self {
            host: safe(&site.host),
            pages: number(site.pages),
            visits: number(site.last_cycle.visits),
            changed: number(site.last_cycle.changed),
            stored: bytes(site.stored_bytes),
            success: screen.time_or_dash(site.last_success_at),
            reason: site.reason.as_deref().map(safe).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::inline_diff::{InlineLine, InlinePart};
    use crate::observation::EventKind;
    use crate::store::PageEvent;

    fn nothing() -> (Overview, Inbox, SitesStatus) {
        let at = Timestamp::from_seconds(1_794_800_714);
        let overview = Overview {
            as_of_at: at,
            sentence: "Fresh 93.1 % (expected)".to_owned(),
            alarms: Vec::new(),
            freshness: None,
            cycle: None,
            days: Vec::new(),
            waiting: Vec::new(),
            strips: Vec::new(),
            host_count: 0,
        };
        let inbox = Inbox {
            since_at: at,
            entries: Vec::new(),
            entry_count: 0,
            lasting_changes: 0,
            unread_changes: 0,
            noisy_changes: 0,
            waiting_changes: 0,
            has_more: false,
        };
        (overview, inbox, SitesStatus { cycle: None, sites: Vec::new() })
    }

    fn page(overview: &Overview, inbox: &Inbox, sites: &SitesStatus) -> String {
        let report = PeriodReport { store: "f.db", since: overview.as_of_at, overview, inbox, sites };
        html(&report, &Screen::plain()).expect("a page")
    }

    #[test]
    fn an_empty_store_has_a_report_that_asks_for_nothing() {
        let (overview, inbox, sites) = nothing();
        let text = page(&overview, &inbox, &sites);
        assert!(text.starts_with("<!doctype html>") && text.contains("Fresh 93.1 % (expected)."), "{text}");
        for outside in ["<script", "<link", "src=", "@import", "url("] {
            assert!(!text.contains(outside), "{outside}");
        }
    }

    #[test]
    fn what_strangers_wrote_is_text() {
        let (overview, mut inbox, sites) = nothing();
        let evil = "<script>alert(1)</script>\u{202e}";
        let part = InlinePart { text: evil.to_owned(), is_changed: true };
        inbox.entries.push(InboxEntry {
            event: PageEvent {
                kind: EventKind::Changed,
                page_id: 1,
                url: format!("https://a.example/{}", "x".repeat(5_000)),
                title: Some(evil.to_owned()),
                at: overview.as_of_at,
                previous_at: None,
                cycle_id: 1,
                outcome: "fetched".to_owned(),
                reason: None,
                status: Some(200),
                redirect_to: None,
                changed: Some(true),
                divergence: Some(0.5),
                version_id: Some(2),
                previous_version_id: Some(1),
                returned_to_version_id: None,
                body_bytes: 0,
                observation_id: 7,
                is_title_known: true,
            },
            visit_id: 7,
            host: "https://a.example".to_owned(),
            pages: 1,
            same_change: None,
            weight: 1.0,
            lasting: 1.0,
            worth: 0.5,
            is_read: false,
            visit_ids: vec![7],
            diff: InlineDiff { lines: vec![InlineLine { is_added: true, parts: vec![part] }], more: 0 },
        });
        let text = page(&overview, &inbox, &sites);
        assert!(!text.contains("<script") && !text.contains('\u{202e}'), "{text}");
        assert!(text.contains("&#60;script&#62;") && !text.contains(&"x".repeat(300)));
    }
}
