//! Requests that a cycle has sent to hosts whose site has a budget, kept so that a cycle that goes on does not spend them twice.
//!
//! The store counts visits of pages by itself. This note counts robots.txt, sitemaps and second tries too. It is written a few
//! times a second, so a run that was killed may lack the last moments; the visits that are recorded count in any case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::page::Host;
use crate::store::{CycleId, Store, StoreError};

/// The name of the note.
const NOTE: &str = "site-requests";

/// Requests by host, of one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SiteSpending {
    cycle: i64,
    requests: BTreeMap<String, u64>,
}

impl SiteSpending {
    pub(super) fn of<'a>(cycle: CycleId, spent: impl Iterator<Item = (&'a Host, u64)>) -> Self {
        let requests = spent.filter(|(_, requests)| *requests > 0);
        Self { cycle: cycle.0, requests: requests.map(|(host, count)| (host.to_string(), count)).collect() }
    }

    /// The spending of this cycle that an earlier run has noted.
    pub(crate) fn load(store: &mut dyn Store, cycle: CycleId) -> Result<Self, StoreError> {
        let noted = store.note(NOTE)?.and_then(|text| serde_json::from_str::<Self>(&text).ok());
        Ok(noted.filter(|noted| noted.cycle == cycle.0).unwrap_or_default())
    }

    pub(super) fn save(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        serde_json::to_string(self).map_or(Ok(()), |text| store.set_note(NOTE, &text))
    }

    /// Requests that were sent to this host.
    pub(crate) fn on(&self, host: &Host) -> u64 {
        self.requests.get(host.as_str()).copied().unwrap_or(0)
    }
}
