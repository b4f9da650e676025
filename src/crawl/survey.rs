//! Before a cycle the policy looks over all pages once.

use std::collections::HashMap;

use super::terms::{Terms, View};
use crate::page::HostId;
use crate::policy::{PageState, Policy, Survey, Yield};
use crate::store::{KnownHost, KnownPage, Store, StoreError};

/// Lets the policy look over all pages that `is_wanted` lets through and that don't wait beyond this cycle, and gives its
/// memory of the collection. `known`: how many pages there are.
pub(super) fn look_over(
    store: &mut dyn Store,
    policy: &mut dyn Policy,
    hosts: &[KnownHost],
    view: &View,
    terms: Terms,
    is_wanted: &dyn Fn(&KnownPage) -> bool,
    known: u64,
) -> Result<Option<String>, StoreError> {
    let mut memory = recall(store, policy.name())?;
    let yields: HashMap<HostId, Yield> = hosts.iter().map(|host| (host.id, host.yields)).collect();
    let every = policy.survey_sample().map_or(1, |enough| (known / enough).max(1));
    let mut failed = None;
    let mut pages = |look: &mut dyn FnMut(&PageState, usize)| {
        let each = &mut |page: &mut KnownPage| {
            view.adjust(page, terms.now);
            if is_wanted(page) && page.waits_until() <= terms.middle() {
                look(&page.state, every as usize);
            }
        };
        failed = store.each_page_in(every, each).err();
    };
    let visits_a_day = terms.budget.map(|budget| budget as f64 / terms.length.days());
    policy.survey(&mut Survey {
        now: terms.now,
        cycle: terms.cycle,
        cycle_length: terms.length,
        visits_a_day,
        shares_a_day: terms.shares_a_day,
        hosts: &yields,
        memory: &mut memory,
        pages: &mut pages,
    });
    failed.map_or(Ok(memory), Err)
}

/// The note of a policy's memory of the collection ([`Survey::memory`]).
fn memory_note(policy: &str) -> String {
    format!("policy-memory {policy}")
}

/// The name of that note in stores of earlier versions, when the only such memory was the threshold of `longevity-bound`.
const EARLIER_NOTE: &str = "policy-threshold";

/// The policy's memory of the collection, as the last survey left it.
pub(super) fn recall(store: &mut dyn Store, policy: &str) -> Result<Option<String>, StoreError> {
    match store.note(&memory_note(policy))? {
        Some(kept) => Ok(Some(kept)),
        None => store.note(EARLIER_NOTE),
    }
}

/// Keeps the policy's memory of the collection for the next run.
pub(super) fn keep_memory(store: &mut dyn Store, policy: &str, memory: &str) -> Result<(), StoreError> {
    store.set_note(&memory_note(policy), memory)
}
