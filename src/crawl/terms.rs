//! The terms of a cycle, and how its pages are seen.

use std::collections::HashMap;
use std::time::Duration;

use super::clock;
use super::weights::Weights;
use crate::page::PageId;
use crate::policy::{self, Learnt, PageState, Policy};
use crate::store::{CycleCommand, KnownPage, Store, StoreError};
use crate::time::{Age, Timestamp};

/// How pages are ranked, where that differs from the store's rows.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Their importance.
    pub(super) weights: Weights,
    /// What this policy learnt of them, if the store has another policy's memories.
    pub(super) learnt: Option<HashMap<PageId, Learnt>>,
    /// What it learnt of pages that the store does not have yet: their gains wait in the search index.
    pub(super) waiting: HashMap<PageId, Learnt>,
    /// What the words of the links to new pages promise.
    pub(super) promised: HashMap<PageId, f64>,
}

impl View {
    /// Makes the page the one that is ranked, as of `now`.
    pub(super) fn adjust(&self, page: &mut KnownPage, now: Timestamp) {
        clock::correct_page(page, now);
        page.state.weight = self.weights.of(page.id, page.state.weight);
        if let Some(learnt) = &self.learnt {
            page.state.learnt = learnt.get(&page.id).cloned().unwrap_or_default();
        }
        page.state.anchor_gain = self.promised.get(&page.id).copied().unwrap_or(0.0);
        if let Some(learnt) = self.waiting.get(&page.id) {
            page.state.learnt = learnt.clone();
        }
    }
}

/// The terms of a cycle that a policy depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Its number.
    pub(super) cycle: i64,
    /// When it begins.
    pub(super) now: Timestamp,
    /// Requests it may send.
    pub(super) budget: Option<u64>,
    /// Pages wait until their score reaches it.
    pub(super) threshold: Option<f64>,
    /// The cycles of a day share a budget.
    pub(super) shares_a_day: bool,
    /// From its start to that of the next.
    pub(super) length: Age,
}

impl Terms {
    /// The middle of the cycle: a page that is due by then belongs to this cycle rather than to the next.
    pub(super) fn middle(&self) -> Timestamp {
        self.now.plus(Duration::try_from_secs_f64(self.length.seconds() / 2.0).unwrap_or_default())
    }

    /// May a page that was visited before wait for a later cycle? A page below the threshold may. Without a threshold and
    /// without a budget the policy decides.
    pub(super) fn can_wait(&self, policy: &dyn Policy, page: &PageState) -> bool {
        let waits = || match self.threshold {
            Some(threshold) => policy::score(policy, page, self.now).value() < threshold,
            None => self.budget.is_none() && !policy.is_due(page, self.middle()),
        };
        page.last_visit.is_some() && waits()
    }
}

/// Time from the start of one cycle to the start of the next: as set, else the time since the last one began, else a day.
pub(super) fn cycle_length(
    store: &mut dyn Store,
    every: Option<Duration>,
    now: Timestamp,
) -> Result<Age, StoreError> {
    if let Some(every) = every {
        return Ok(Age::from_days(every.as_secs_f64() / 86_400.0));
    }
    // A cycle of named pages says nothing about how often the collection is visited.
    let last =
        store.latest_cycle(|cycle| cycle.ended_at.is_some() && cycle.command != Some(CycleCommand::Only))?;
    let passed = last.map(|cycle| now.since(cycle.started_at)).filter(|age| age.seconds() > 0.0);
    Ok(passed.unwrap_or(Age::from_days(1.0)))
}
