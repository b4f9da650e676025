//! The summary of a crawl or a cycle, drawn as a table or a line.

use std::collections::BTreeMap;

use crate::crawl::monitor::{CycleSummary, DaySummary};
use crate::look::crawled::{CrawlSummary, HookCounts};

use super::{Align, Screen, Table, bytes, counted, number, span};

/// Outcomes that count as blocked.
const BLOCKED: [&str; 2] = ["robots", "address"];
/// Outcomes that are no failures.
const GOOD: [&str; 4] = ["fetched", "not-modified", "moved", "redirected"];

/// The summary of a crawl.
pub fn summary(crawl: &CrawlSummary) -> String {
    let mut table = Table::new(&[("crawl", Align::Left), ("", Align::Right), ("", Align::Left)]);
    let mut row = |name: &str, value: u64, note: String| table.row([name.to_owned(), number(value), note]);
    let by = |counts: &BTreeMap<&str, u64>, wanted: &dyn Fn(&str) -> bool| {
        let shown = counts.iter().filter(|(name, _)| wanted(name));
        shown.map(|(name, count)| format!("{name} {}", number(*count))).collect::<Vec<_>>().join(", ")
    };
    let rate = crawl.requests_per_second;
    row("requests", crawl.requests, format!("{rate:.1}/s in {}", span(crawl.elapsed())));
    row("fetched", crawl.fetched, bytes(crawl.bytes));
    row("  new pages found", crawl.new, String::new());
    row("  changed", crawl.changed, String::new());
    row("  unchanged", crawl.unchanged, String::new());
    if let Some(HookCounts { well, failed, not_run }) = crawl.on_change {
        let failed = (failed > 0).then(|| format!("{} failed", number(failed)));
        let not_run = (not_run > 0).then(|| format!("{} not run", number(not_run)));
        let notes = failed.into_iter().chain(not_run);
        row("  change hooks run", well, notes.collect::<Vec<_>>().join(", "));
    }
    row("redirected", crawl.redirected, String::new());
    let is_failure = |name: &str| !BLOCKED.contains(&name) && !GOOD.contains(&name);
    row("failed", crawl.failed, by(&crawl.outcomes, &is_failure));
    row("blocked", crawl.blocked, by(&crawl.outcomes, &|name| BLOCKED.contains(&name)));
    row("left for later", crawl.deferred, by(&crawl.put_off, &|_| true));
    row("links not followed", crawl.refused.values().sum(), by(&crawl.refused, &|_| true));
    row("pages known", crawl.known, format!("on {}", counted(crawl.hosts, "host")));
    table.render()
}

/// A line for a cycle of a monitor.
pub fn cycle_line(cycle: &CycleSummary, screen: &Screen) -> String {
    let stopped = if cycle.stopped { ", stopped" } else { "" };
    let took = std::time::Duration::try_from_secs_f64(cycle.seconds).unwrap_or_default();
    let CycleSummary { cycle_began, requests, fetched, changed, new, failed, .. } = *cycle;
    let figures = figures(requests, fetched, changed, new, failed);
    format!("{} cycle: {figures} in {}{stopped}\n", screen.time(cycle_began), span(took))
}

/// A line for a day of a monitor.
pub fn day_line(day: &DaySummary) -> String {
    let DaySummary { requests, fetched, changed, new, failed, .. } = *day;
    let figures = figures(requests, fetched, changed, new, failed);
    format!("{} UTC day: {}, {figures}\n", day.day, counted(day.cycles, "cycle"))
}

fn figures(requests: u64, fetched: u64, changed: u64, new: u64, failed: u64) -> String {
    format!(
        "{}, {} fetched, {} changed, {} new, {} failed",
        counted(requests, "request"),
        number(fetched),
        number(changed),
        number(new),
        number(failed)
    )
}
