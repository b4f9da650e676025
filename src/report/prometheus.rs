//! The store in figures, as Prometheus reads them (text format 0.0.4).
//!
//! No label is an address or a host: a series for each would never end.

use std::fmt::Write as _;

use crate::look::status::{NamedCounts, StoreStatus};
use crate::store::{Brought, BroughtKind, CycleRow};
use crate::time::Timestamp;

/// The sums over all cycles.
#[derive(Clone, Copy, Debug, Default)]
struct CycleSums {
    requests: u64,
    bytes: u64,
    new_pages: u64,
    deferred: u64,
}

/// Every figure of a store. `cycles` are all of its cycles, the newest first; `brought` all of its visits; `took_seconds` is how long it
/// took to read them.
pub fn metrics(
    status: &StoreStatus,
    cycles: &[CycleRow],
    brought: &Brought,
    now: Timestamp,
    took_seconds: f64,
) -> String {
    let mut text = MetricText::default();
    let sums = cycles.iter().fold(CycleSums::default(), |sums, cycle| CycleSums {
        requests: sums.requests + cycle.requests,
        bytes: sums.bytes + cycle.bytes,
        new_pages: sums.new_pages + cycle.new_pages,
        deferred: sums.deferred + cycle.deferred,
    });
    text.counter("freshet_requests_total", "Requests of all kinds that were sent.", sums.requests);
    text.counter("freshet_received_bytes_total", "Bytes of bodies that came.", sums.bytes);
    text.head("freshet_visits_total", "counter", "Visits by what they brought.");
    for (kind, count) in BroughtKind::ALL.iter().zip(brought.counts()) {
        text.labelled("freshet_visits_total", "brought", &name_of(*kind), count);
    }
    text.counter("freshet_new_pages_total", "Pages found that were not known.", sums.new_pages);
    text.counter("freshet_put_off_total", "Visits put off to a later cycle.", sums.deferred);
    text.named(
        "freshet_refused_links_total",
        "counter",
        "Links that were not taken.",
        "reason",
        &status.refused,
    );
    text.counter("freshet_cycles_total", "Cycles that were begun.", cycles.len() as u64);
    let last = cycles.first();
    let open = last.is_some_and(|cycle| cycle.ended_at.is_none());
    text.gauge("freshet_cycle_open", "1 while a cycle has not ended.", u64::from(open));
    if let Some(cycle) = last {
        text.gauge(
            "freshet_cycle_start_timestamp_seconds",
            "When the last cycle began.",
            cycle.started_at.seconds(),
        );
        let end = cycle.ended_at.unwrap_or(now);
        text.gauge(
            "freshet_cycle_duration_seconds",
            "Length of the last cycle, so far if it is open.",
            end.since(cycle.started_at).seconds(),
        );
        text.gauge("freshet_cycle_requests", "Requests of the last cycle.", cycle.requests);
        if let Some(budget) = cycle.budget {
            text.gauge("freshet_cycle_budget_requests", "Requests that the last cycle may send.", budget);
        }
        text.gauge("freshet_cycle_changed", "Visits of the last cycle that found a change.", cycle.changed);
        text.gauge("freshet_cycle_failed", "Visits of the last cycle that failed.", cycle.failed);
    }
    text.named("freshet_pages", "gauge", "Pages by state, aliases left out.", "state", &status.pages.states);
    text.gauge("freshet_aliases", "Other spellings of pages.", status.pages.aliases);
    text.gauge("freshet_hosts", "Hosts that are known.", status.hosts.len() as u64);
    let waiting = status.hosts.iter().filter(|host| host.waiting_until.is_some()).count();
    text.gauge("freshet_hosts_waiting", "Hosts that ask for time.", waiting as u64);
    text.gauge("freshet_seeds", "Seeds.", status.seeds);
    text.gauge("freshet_versions", "Distinct contents that are stored.", status.store.versions);
    text.gauge("freshet_content_bytes", "Bytes of bodies and texts, unpacked.", status.store.content_bytes);
    text.gauge("freshet_content_stored_bytes", "Bytes that they take.", status.store.content_stored_bytes);
    text.gauge("freshet_store_bytes", "Bytes of the store on disk.", status.store.bytes);
    text.gauge("freshet_journal_bytes", "Bytes of its journal.", status.store.journal_bytes);
    text.gauge("freshet_scrape_duration_seconds", "Time that it took to read all this.", took_seconds);
    text.0
}

/// The name as JSON has it.
fn name_of(kind: BroughtKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Lines of metrics.
#[derive(Default)]
struct MetricText(String);

impl MetricText {
    fn head(&mut self, name: &str, kind: &str, about: &str) {
        let _ = write!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}\n");
    }

    fn counter(&mut self, name: &str, about: &str, value: u64) {
        self.head(name, "counter", about);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn gauge(&mut self, name: &str, about: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", about);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn named(&mut self, name: &str, kind: &str, about: &str, label: &str, counts: &NamedCounts) {
        self.head(name, kind, about);
        for (value, count) in &counts.0 {
            self.labelled(name, label, value, *count);
        }
    }

    fn labelled(&mut self, name: &str, label: &str, value: &str, count: u64) {
        let value = value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
        let _ = writeln!(self.0, "{name}{{{label}=\"{value}\"}} {count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_escaped() {
        let mut text = MetricText::default();
        text.labelled("a", "b", "c\"\\\n", 7);
        assert_eq!(text.0, "a{b=\"c\\\"\\\\\\n\"} 7\n");
    }
}
