//! The summary of a crawl.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::crawl::CrawlReport;

/// The summary of a crawl.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlSummary {
    /// The store.
    pub store: PathBuf,
    /// Cycles that were run.
    #[serde(rename = "cycle_count")]
    pub cycles: u64,
    /// An interrupted cycle was resumed.
    pub resumed: bool,
    /// It was stopped before it was done.
    pub stopped: bool,
    /// How long it took.
    #[serde(rename = "elapsed_seconds")]
    pub seconds: f64,
    /// Requests sent.
    pub requests: u64,
    /// Requests sent, on average.
    pub requests_per_second: f64,
    /// Bytes received.
    #[serde(rename = "received_bytes")]
    pub bytes: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    #[serde(rename = "succeeded")]
    pub fetched: u64,
    /// Pages found that were not known.
    #[serde(rename = "new_pages")]
    pub new: u64,
    /// Visits that found a change.
    pub changed: u64,
    /// Visits that found none.
    pub unchanged: u64,
    /// Visits that led elsewhere.
    pub redirected: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits that robots.txt or the address rules forbade.
    pub blocked: u64,
    /// Visits left for a later cycle.
    #[serde(rename = "put_off")]
    pub deferred: u64,
    /// Pages in the store.
    #[serde(rename = "known_urls")]
    pub known: u64,
    /// Hosts in the store.
    #[serde(rename = "host_count")]
    pub hosts: usize,
    /// Visits by how they ended.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Visits left for later, by reason.
    #[serde(rename = "put_off_by_reason")]
    pub put_off: BTreeMap<&'static str, u64>,
    /// Links that were not followed, by reason.
    #[serde(rename = "refused_links")]
    pub refused: BTreeMap<&'static str, u64>,
    /// The least score of a page that was visited again.
    #[serde(rename = "lowest_score")]
    pub threshold: Option<f64>,
    /// Commands that were run for changes; `None` if there is no such command.
    pub on_change: Option<HookCounts>,
}

/// How the commands that are run for changes fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HookCounts {
    /// Those that succeeded.
    #[serde(rename = "succeeded")]
    pub well: u64,
    /// Those that failed.
    pub failed: u64,
    /// Changes that no command was run for, because the crawl was stopped.
    pub not_run: u64,
}

impl CrawlSummary {
    /// The summary of a crawl of this store.
    pub fn of(report: &CrawlReport, store: PathBuf, on_change: Option<HookCounts>) -> Self {
        let counts = &report.counts;
        let seconds = report.elapsed.as_secs_f64();
        Self {
            store,
            cycles: report.cycles,
            resumed: report.resumed,
            stopped: report.stopped,
            seconds,
            requests: counts.requests,
            requests_per_second: counts.requests as f64 / seconds.max(1e-9),
            bytes: counts.bytes,
            fetched: counts.fetched,
            new: counts.new,
            changed: counts.changed,
            unchanged: counts.unchanged,
            redirected: counts.redirected,
            failed: counts.failed,
            blocked: counts.blocked,
            deferred: counts.deferred,
            known: report.known,
            hosts: report.hosts,
            outcomes: counts.outcomes.clone(),
            put_off: counts.put_off.clone(),
            refused: counts.refused.clone(),
            threshold: report.threshold,
            on_change,
        }
    }

    /// How long it took.
    pub fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }
}
