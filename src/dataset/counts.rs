//! Counts of the pages, sites, visits and changes in a dataset.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::fields::show_time;
use super::page_record::PageRecord;

/// Counts like those of Table 1 of BRDC'12.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatasetCounts {
    /// The first and the last visit, UTC.
    pub period: Option<(String, String)>,
    /// Pages.
    pub pages: u64,
    /// Sites.
    pub sites: u64,
    /// Pages of the smallest site.
    pub pages_per_site_min: u64,
    /// Pages of the largest site.
    pub pages_per_site_max: u64,
    /// Mean pages of a site.
    pub pages_per_site_mean: f64,
    /// Visits.
    pub visits: u64,
    /// Visits that had a copy to compare with.
    pub comparisons: u64,
    /// Visits that found a change.
    pub changes: u64,
}

/// Counts pages one after the other. Memory grows with the number of sites.
#[derive(Debug, Default)]
pub struct DatasetTally {
    sites: HashMap<u128, u64>,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
    pages: u64,
    visits: u64,
    comparisons: u64,
    changes: u64,
}

impl DatasetTally {
    /// Counts one page.
    pub fn see(&mut self, page: &PageRecord) {
        self.pages += 1;
        *self.sites.entry(xxh3_128(page.site.as_bytes())).or_default() += 1;
        self.visits += page.visits.len() as u64;
        for visit in &page.visits {
            self.first_ms = Some(self.first_ms.map_or(visit.time_ms, |first| first.min(visit.time_ms)));
            self.last_ms = self.last_ms.max(Some(visit.time_ms));
        }
        for (_, changed) in page.comparisons() {
            self.comparisons += 1;
            self.changes += u64::from(changed);
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> DatasetCounts {
        let sites = self.sites.len() as u64;
        let per_site = || self.sites.values().copied();
        DatasetCounts {
            period: self.first_ms.zip(self.last_ms).map(|(first, last)| (show_time(first), show_time(last))),
            pages: self.pages,
            sites,
            pages_per_site_min: per_site().min().unwrap_or(0),
            pages_per_site_max: per_site().max().unwrap_or(0),
            pages_per_site_mean: if sites == 0 { 0.0 } else { self.pages as f64 / sites as f64 },
            visits: self.visits,
            comparisons: self.comparisons,
            changes: self.changes,
        }
    }
}
