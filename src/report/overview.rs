//! A collection at a glance, for a terminal.

use std::fmt::Write as _;

use super::budget_bar::about;
use super::changes;
use super::diff::harmless;
use super::{Align, Screen, Shorten, Table, counted, number};
use crate::look::changes::KeptOut;
use crate::look::inbox::{Inbox, InboxEntry};
use crate::look::overview::Overview;
use crate::look::spending::DaySpending;

/// Hosts that wait and are listed.
const MOST_WAITING: usize = 20;

/// The sentence, what needs a person, the days, the inbox and the hosts that wait.
pub fn overview(overview: &Overview, inbox: &Inbox, screen: &Screen) -> String {
    let mut text = format!("{}.\n", overview.sentence);
    for alarm in &overview.alarms {
        let _ = writeln!(text, "! {}", harmless(&alarm.said));
    }
    text.push_str("\nRequests by day and what they brought\n");
    text.push_str(&days(overview, screen));
    let _ = write!(text, "\n{}\n{}", inbox_line(inbox), entries(inbox, screen));
    if !overview.waiting.is_empty() {
        text.push_str("\nHosts that wait\n");
        let mut table = Table::new(&[
            ("host", Align::Left),
            ("pages", Align::Right),
            ("until", Align::Left),
            ("why", Align::Left),
        ])
        .shorten("host", Shorten::Middle);
        for host in overview.waiting.iter().take(MOST_WAITING) {
            table.row([
                host.host.clone(),
                number(host.pages),
                screen.time(host.until_at),
                host.reason.clone(),
            ]);
        }
        text.push_str(&table.fitted(screen.width));
    }
    text
}

fn days(overview: &Overview, screen: &Screen) -> String {
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        ("day (UTC)", Align::Left),
        right("requests"),
        right("budget"),
        right("changed"),
        right("round robin"),
        right("new"),
        right("unchanged"),
        right("304"),
        right("moved"),
        right("gone"),
        right("failed"),
        right("other"),
    ])
    .leave_out(&["other", "moved", "304", "unchanged"]);
    for day in &overview.days {
        let brought = &day.brought;
        table.row([
            day.day.clone(),
            number(day.requests),
            day.budget.map_or("-".to_owned(), number),
            number(brought.changed),
            day.round_robin_changed.map_or("-".to_owned(), |even| format!("{even:.1}")),
            number(brought.first),
            number(brought.unchanged),
            number(brought.not_modified),
            number(brought.moved),
            number(brought.gone),
            number(brought.failed),
            number(day.other_requests),
        ]);
    }
    table.fitted(screen.width)
}

/// `37 lasting changes, 12 not read; 9 changes kept out: 5 did not last, 4 wait for a later visit`
pub fn inbox_line(inbox: &Inbox) -> String {
    let mut line = format!(
        "{}{}, {} not read",
        if inbox.has_more { "at least " } else { "" },
        counted(inbox.lasting_changes, "lasting change"),
        number(inbox.unread_changes as u64)
    );
    let out = KeptOut { did_not_last: inbox.noisy_changes, wait: inbox.waiting_changes };
    if let Some(out) = changes::kept_out(out) {
        let _ = write!(line, "; {out}");
    }
    line
}

fn entries(inbox: &Inbox, screen: &Screen) -> String {
    if inbox.entries.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("when", Align::Left),
        ("worth", Align::Right),
        ("page", Align::Left),
        ("change", Align::Left),
    ])
    .shorten("page", Shorten::Middle)
    .shorten("change", Shorten::End);
    for entry in &inbox.entries {
        let page = entry.same_change.clone().unwrap_or_else(|| entry.event.url.clone());
        table.row([screen.time(entry.event.at), format!("{:.3}", entry.worth), page, first_words(entry)]);
    }
    table.fitted(screen.width)
}

/// The first line that came, or else that went.
fn first_words(entry: &InboxEntry) -> String {
    let lines = &entry.diff.lines;
    let line = lines.iter().find(|line| line.is_added).or_else(|| lines.first());
    line.map_or("(no words; its bytes differ)".to_owned(), |line| {
        let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
        format!("{} {text}", if line.is_added { '+' } else { '−' })
    })
}

/// What round robin would have brought, for all days together: `round robin would have found about 21 changes in their place`
pub fn round_robin(overview: &Overview) -> Option<String> {
    let even: f64 = overview.days.iter().filter_map(|day| day.round_robin_changed).sum();
    let found: u64 = overview.days.iter().map(|day| day.brought.changed).sum();
    let revisits: u64 = overview.days.iter().map(DaySpending::revisits).sum();
    (revisits > 0 && even > 0.0).then(|| {
        format!(
            "{} of known pages found {}; round robin would have found {} with as many",
            counted(revisits, "visit"),
            counted(found, "change"),
            about(even)
        )
    })
}
