//! Learning: the priors of a policy, and its memories of pages made again from the log.
//!
//! Priors are fitted again whenever there are a quarter more visits that had something to compare with
//! ([`is_time_to_fit`]), and pages are learnt again from the log if they moved.

use std::collections::HashMap;

use super::gains::PageGains;
use super::learning_together::{self, Keep};
use super::survey;
use crate::estimate::censored::{KEPT_LENGTHS, VisitHistory};
use crate::estimate::initial_interval::{self, TriedIntervals};
use crate::estimate::priors::{GroupBy, LEAST_PAGES_IN_ALL, PriorKind, Priors, PriorsFit, is_time_to_fit};
use crate::observation::{Lesson, lessons};
use crate::page::{Depth, HostId, PageId};
use crate::policy::page_state::seen;
use crate::policy::{Learnt, Policy};
use crate::quality::gain::MeasuredGain;
use crate::store::{Commit, PageFacts, PageRefold, Store, StoreError, Wanted};
use crate::time::Age;

/// The most pages that a fit reads, evenly taken from all.
const MOST_PAGES: u64 = 200_000;
/// A prior that moved less than this, as a ratio, is left as it was: learning all pages again would change nothing.
const NEARLY: f64 = 1.05;

/// The priors for the policy: those of the store, or new ones if it is time for a fit. Says whether they are new.
pub fn priors(store: &mut dyn Store, policy: &dyn Policy) -> Result<(Priors, bool), StoreError> {
    let held = store.priors()?;
    let Some(kind) = policy.prior_kind() else {
        return Ok((held, false));
    };
    let comparisons = store.comparisons()?;
    if !is_time_to_fit(comparisons, held.comparisons) {
        return Ok((held, false));
    }
    let mut fitted = fit(store, held.by, &[kind])?.priors;
    fitted.comparisons = comparisons;
    if fitted.is_empty() || nearly_the_same(&held, &fitted, kind) {
        fitted.all.clone_from(&held.all);
    } else {
        fitted.all.extend(held.all.iter().filter(|prior| prior.kind != kind));
    }
    Ok((fitted, true))
}

fn nearly_the_same(held: &Priors, fitted: &Priors, kind: PriorKind) -> bool {
    let (held, fitted) = (held.of(kind), fitted.of(kind));
    let near = |one: f64, other: f64| (one / other).max(other / one) < NEARLY;
    let all_near = |one: &[[f64; 2]], other: &[[f64; 2]]| {
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| near(one[0], other[0]) && near(one[1], other[1]))
    };
    held.len() == fitted.len()
        && held
            .iter()
            .all(|(group, numbers)| fitted.get(group).is_some_and(|others| all_near(numbers, others)))
}

/// Fits priors of these kinds to what the store's visits found.
pub fn fit(store: &mut dyn Store, by: GroupBy, kinds: &[PriorKind]) -> Result<PriorsFit, StoreError> {
    let pages = histories(store)?;
    if pages.len() < LEAST_PAGES_IN_ALL {
        return Ok(PriorsFit { priors: Priors { by, ..Priors::default() }, ..PriorsFit::default() });
    }
    Ok(Priors::fit(by, kinds, &pages))
}

/// First intervals for new pages, tried on what the store's visits found (Grimes & Ford 2008, §4.2). `None` if there are too few
/// pages, or if none ever changed.
pub fn first_intervals(store: &mut dyn Store) -> Result<Option<TriedIntervals>, StoreError> {
    let pages = histories(store)?;
    if pages.len() < LEAST_PAGES_IN_ALL {
        return Ok(None);
    }
    let histories: Vec<VisitHistory> = pages.into_iter().map(|(_, _, history)| history).collect();
    Ok(initial_interval::of_collection(&histories))
}

/// The histories of pages that were visited at least twice: of all, or of [`MOST_PAGES`].
fn histories(store: &mut dyn Store) -> Result<Vec<(HostId, Depth, VisitHistory)>, StoreError> {
    let mut pages: Vec<(HostId, Depth, VisitHistory)> = Vec::new();
    let every = store.pages_held()?.div_ceil(MOST_PAGES).max(1);
    store.each_history(every, &mut |page| {
        if page.lessons.is_empty() {
            return;
        }
        let mut history = VisitHistory::keeping(KEPT_LENGTHS);
        for (interval, seen) in seen(&page.lessons) {
            history.add(interval.days().max(Age::SHORTEST_DAYS), seen);
        }
        pages.push((page.host, page.depth, history));
    })?;
    Ok(pages)
}

/// Gets a store ready for a cycle by this policy: new priors are kept, and pages are learnt again that another policy, or
/// this one with other priors, had learnt. `progress` gets how much of how much is done.
pub fn learn(
    store: &mut dyn Store,
    policy: &mut dyn Policy,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StoreError> {
    let (priors, are_new) = priors(store, policy)?;
    if are_new {
        store.set_priors(&priors)?;
    }
    prepare(store, policy, &priors)?;
    let pages = relearn(store, policy, progress)?;
    if pages > 0 {
        tracing::info!(pages, policy = policy.name(), "learnt again from the log");
    }
    let visits = learning_together::catch_up(store, policy, Keep::Yes)?;
    tracing::debug!(visits, policy = policy.name(), "taken in for the collection");
    Ok(())
}

/// Who made the memories that pages have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryMaker {
    /// A policy whose memory is of this kind.
    By(String),
    /// They are being made again: if that is stopped on the way, some are of one kind and some of another, and the next
    /// run learns them all again.
    BeingLearnt,
}

/// The store's note of the kind of memory that pages have.
const MEMORY_KIND: &str = "memory-kind";
const BEING_LEARNT: &str = "being learnt";

/// Who made the memories of the store's pages; `None` if no page has one.
pub fn memory(store: &mut dyn Store) -> Result<Option<MemoryMaker>, StoreError> {
    let kind = store.note(MEMORY_KIND)?;
    Ok(kind.map(|kind| if kind == BEING_LEARNT { MemoryMaker::BeingLearnt } else { MemoryMaker::By(kind) }))
}

/// Notes who makes the memories from here on.
pub(super) fn set_memory(store: &mut dyn Store, memory: &MemoryMaker) -> Result<(), StoreError> {
    let kind = match memory {
        MemoryMaker::By(kind) => kind,
        MemoryMaker::BeingLearnt => BEING_LEARNT,
    };
    store.set_note(MEMORY_KIND, kind)
}

/// Pages that are learnt and committed together.
const AT_ONCE: usize = 1000;

/// Makes the memory of every page again from the log, unless it is of the kind that this policy makes. Says how many
/// pages were learnt; `progress` is told how much of how much is done.
///
/// It commits some pages at a time. If it fails on the way, the next run learns them all again.
pub fn relearn(
    store: &mut dyn Store,
    policy: &dyn Policy,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<u64, StoreError> {
    let own = MemoryMaker::By(policy.memory_version());
    if memory(store)?.as_ref() == Some(&own) {
        return Ok(0);
    }
    let mut pages: Vec<PageId> = Vec::new();
    store.each_page(&mut |page| pages.extend(page.state.seen_at.map(|_| page.id)))?;
    set_memory(store, &MemoryMaker::BeingLearnt)?;
    let mut done = 0;
    for some in pages.chunks(AT_ONCE) {
        let logs = store.logs(some)?;
        let facts = store.load(&Wanted { pages: some.to_vec(), ..Wanted::default() })?.pages;
        let mut facts: HashMap<PageId, PageFacts> = facts.into_iter().map(|page| (page.id, page)).collect();
        let gains = PageGains::load(store, policy, some)?;
        let mut rows = Commit::default();
        for (page, log) in some.iter().zip(&logs) {
            let Some(PageFacts { id, host, depth, folded, .. }) = facts.remove(page) else { continue };
            let learnt = taught(&lessons(log), gains.of(id), host, depth, policy);
            rows.refolded.push(PageRefold { page: id, folded, learnt });
        }
        store.commit(&rows)?;
        done += some.len() as u64;
        progress(done, pages.len() as u64);
    }
    set_memory(store, &own)?;
    Ok(done)
}

/// The memory that a policy has of a page after these visits, whose gains were measured later.
pub(super) fn taught(
    lessons: &[Lesson],
    gains: &[MeasuredGain],
    host: HostId,
    depth: Depth,
    policy: &dyn Policy,
) -> Learnt {
    let mut learnt = Learnt::default();
    for lesson in lessons {
        learnt.take(lesson, host, depth, policy);
    }
    for gain in gains {
        policy.learn_gain(&mut learnt, gain);
    }
    learnt
}

/// Gives the policy its priors and its memory of the collection, before pages are learnt.
pub fn prepare(store: &mut dyn Store, policy: &mut dyn Policy, priors: &Priors) -> Result<(), StoreError> {
    policy.believe(priors);
    if let Some(memory) = survey::recall(store, policy.name())? {
        policy.recall(&memory);
    }
    Ok(())
}

/// The memories that a policy would have of all pages; `None` if the store has them. The store stays as it is.
pub fn learnt_otherwise(
    store: &mut dyn Store,
    policy: &dyn Policy,
) -> Result<Option<HashMap<PageId, Learnt>>, StoreError> {
    if memory(store)? == Some(MemoryMaker::By(policy.memory_version())) {
        return Ok(None);
    }
    let mut all = HashMap::new();
    store.each_history(1, &mut |page| {
        all.insert(page.page, taught(&page.lessons, &[], page.host, page.depth, policy));
    })?;
    let mut pages: Vec<PageId> = all.keys().copied().collect();
    pages.sort_unstable();
    for some in pages.chunks(AT_ONCE) {
        let gains = PageGains::load(store, policy, some)?;
        for page in some {
            let learnt = all.entry(*page).or_default();
            gains.of(*page).iter().for_each(|gain| policy.learn_gain(learnt, gain));
        }
    }
    Ok(Some(all))
}
