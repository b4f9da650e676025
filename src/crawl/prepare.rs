//! Before a cycle: the policy is given its priors, pages are learnt anew where need be, and it looks over them all.
//!
//! Priors are fitted again whenever there are a quarter more visits that had something to compare with
//! ([`is_time_to_fit`]), and pages learnt anew from the log if they moved.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::estimate::censored::{History, KEPT_LENGTHS};
use crate::estimate::priors::{GroupBy, LEAST_PAGES_IN_ALL, PriorKind, Priors, is_time_to_fit};
use crate::page::{Depth, HostId, PageId};
use crate::policy::page_state::seen;
use crate::policy::{self, Learnt, PageState, Policy, Survey, Yield, registry};
use crate::store::{KnownHost, KnownPage, Store, StoreError};
use crate::time::{Age, Timestamp};

use super::weights::Weights;

/// Pages that are looked at for a fit, at the most: evenly taken from all.
const MOST_PAGES: u64 = 200_000;
/// A prior that moved less than this, as a ratio, is left as it was: learning all pages anew would change nothing.
const NEARLY: f64 = 1.05;

/// The priors that the policy should go by: those of the store, or new ones if it is time for a fit. Says whether they
/// are new.
pub fn priors(store: &mut dyn Store, policy: &dyn Policy) -> Result<(Priors, bool), StoreError> {
    let held = store.priors()?;
    let Some(kind) = policy.prior_kind() else {
        return Ok((held, false));
    };
    let comparisons = store.comparisons()?;
    if !is_time_to_fit(comparisons, held.comparisons) {
        return Ok((held, false));
    }
    let mut fitted = fit(store, held.by, &[kind])?;
    fitted.comparisons = comparisons;
    if fitted.is_empty() || nearly_the_same(&held, &fitted, kind) {
        fitted.all.clone_from(&held.all);
    } else {
        fitted.all.extend(held.all.iter().filter(|prior| prior.kind != kind));
    }
    Ok((fitted, true))
}

fn nearly_the_same(held: &Priors, fitted: &Priors, kind: PriorKind) -> bool {
    let of = |priors: &Priors| {
        let own = priors.all.iter().filter(|prior| prior.kind == kind);
        own.map(|prior| (prior.group, prior.numbers)).collect::<HashMap<_, _>>()
    };
    let (held, fitted) = (of(held), of(fitted));
    let near = |one: f64, other: f64| (one / other).max(other / one) < NEARLY;
    held.len() == fitted.len()
        && held.iter().all(|(group, [first, second])| {
            fitted.get(group).is_some_and(|numbers| near(*first, numbers[0]) && near(*second, numbers[1]))
        })
}

/// Fits priors of these kinds to what the store's visits found.
pub fn fit(store: &mut dyn Store, by: GroupBy, kinds: &[PriorKind]) -> Result<Priors, StoreError> {
    let mut pages: Vec<(HostId, Depth, History)> = Vec::new();
    let every = store.pages_held()?.div_ceil(MOST_PAGES).max(1);
    store.each_history(every, &mut |page| {
        if page.lessons.is_empty() {
            return;
        }
        let mut history = History::keeping(KEPT_LENGTHS);
        for (interval, seen) in seen(&page.lessons) {
            history.add(interval.days().max(Age::SHORTEST_DAYS), seen);
        }
        pages.push((page.host, page.depth, history));
    })?;
    if pages.len() < LEAST_PAGES_IN_ALL {
        return Ok(Priors { by, ..Priors::default() });
    }
    Ok(Priors::fit(by, kinds, &pages))
}

/// Gets a store ready for a cycle by this policy: new priors are kept, and pages learnt anew that another policy, or
/// this one with other priors, had learnt. `progress` is told how much of how much is done.
pub fn learn(
    store: &mut dyn Store,
    policy: &mut Arc<dyn Policy>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StoreError> {
    // Whoever followed it before lets go of it, so that it can be given its priors.
    store.follow(registry::counting());
    let (priors, are_new) = priors(store, &**policy)?;
    if are_new {
        store.set_priors(&priors)?;
    }
    believe(policy, &priors);
    store.follow(Arc::clone(policy));
    let pages = store.relearn(progress)?;
    if pages > 0 {
        tracing::info!(pages, policy = policy.name(), "learnt anew from the log");
    }
    // To be followed again once it has looked over the pages.
    store.follow(registry::counting());
    Ok(())
}

/// The note of a policy's memory of the collection ([`Survey::memory`]).
fn memory_note(policy: &str) -> String {
    format!("policy-memory {policy}")
}

/// The name of that note in stores of earlier versions, when the only such memory was the threshold of `longevity-bound`.
const EARLIER_NOTE: &str = "policy-threshold";

/// The policy's memory of the collection, as the last survey left it.
fn recall(store: &mut dyn Store, policy: &str) -> Result<Option<String>, StoreError> {
    match store.note(&memory_note(policy))? {
        Some(kept) => Ok(Some(kept)),
        None => store.note(EARLIER_NOTE),
    }
}

/// Keeps the policy's memory of the collection for the next run.
pub fn keep_memory(store: &mut dyn Store, policy: &str, memory: &str) -> Result<(), StoreError> {
    store.set_note(&memory_note(policy), memory)
}

/// Gives the policy its priors. Nobody else may hold it meanwhile.
pub fn believe(policy: &mut Arc<dyn Policy>, priors: &Priors) {
    if let Some(policy) = Arc::get_mut(policy) {
        policy.believe(priors);
    }
}

/// What a policy would have learnt of every page, if that is not what the store holds. The store is left as it is.
pub fn learnt_otherwise(
    store: &mut dyn Store,
    policy: &dyn Policy,
) -> Result<Option<HashMap<PageId, Learnt>>, StoreError> {
    if store.memory_kind()? == Some(policy.memory_version()) {
        return Ok(None);
    }
    let mut all = HashMap::new();
    store.each_history(1, &mut |page| {
        let mut learnt = Learnt::default();
        for lesson in &page.lessons {
            learnt.take(lesson, page.host, page.depth, policy);
        }
        all.insert(page.page, learnt);
    })?;
    Ok(Some(all))
}

/// How pages are seen, where that is not as the store has them.
#[derive(Debug, Default)]
pub struct View {
    pub weights: Weights,
    /// What was learnt of them, if another policy's memory is in the store.
    pub learnt: Option<HashMap<PageId, Learnt>>,
}

impl View {
    /// The page as it is to be ranked.
    pub fn adjust(&self, page: &mut KnownPage) {
        page.state.weight = self.weights.of(page.id, page.state.weight);
        if let Some(learnt) = &self.learnt {
            page.state.learnt = learnt.get(&page.id).cloned().unwrap_or_default();
        }
    }
}

/// A cycle, as far as a policy asks.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub cycle: i64,
    pub now: Timestamp,
    pub budget: Option<u64>,
    /// Pages wait until their score reaches it.
    pub threshold: Option<f64>,
    /// From its start to that of the next.
    pub length: Age,
}

impl Terms {
    /// The middle of the cycle: what is due by then is due in this cycle rather than in the next.
    pub fn middle(&self) -> Timestamp {
        self.now.plus(Duration::try_from_secs_f64(self.length.seconds() / 2.0).unwrap_or_default())
    }

    /// May a page that was visited before wait for a later cycle? Those below the threshold may; without one, and without
    /// a budget that says how many, the policy tells.
    pub fn can_wait(&self, policy: &dyn Policy, page: &PageState) -> bool {
        let waits = || match self.threshold {
            Some(threshold) => policy::score(policy, page, self.now).value() < threshold,
            None => self.budget.is_none() && !policy.is_due(page, self.middle()),
        };
        page.last_visit.is_some() && waits()
    }
}

/// From the start of one cycle to that of the next: as set, or as long ago as the last one began, or a day.
pub fn cycle_length(
    store: &mut dyn Store,
    every: Option<Duration>,
    now: Timestamp,
) -> Result<Age, StoreError> {
    if let Some(every) = every {
        return Ok(Age::from_days(every.as_secs_f64() / 86_400.0));
    }
    let last = store.cycles(2)?.into_iter().find(|cycle| cycle.ended_at.is_some());
    let passed = last.map(|cycle| now.since(cycle.started_at)).filter(|age| age.seconds() > 0.0);
    Ok(passed.unwrap_or(Age::from_days(1.0)))
}

/// Lets the policy look over all pages that `is_wanted` lets through and that don't wait beyond this cycle, and gives its memory
/// of the collection. Nobody else may hold the policy meanwhile.
pub fn look_over(
    store: &mut dyn Store,
    policy: &mut Arc<dyn Policy>,
    hosts: &[KnownHost],
    view: &View,
    terms: Terms,
    is_wanted: &dyn Fn(&KnownPage) -> bool,
) -> Result<Option<String>, StoreError> {
    debug_assert!(Arc::strong_count(policy) == 1, "the policy is in use");
    let Some(policy) = Arc::get_mut(policy) else { return Ok(None) };
    let mut memory = recall(store, policy.name())?;
    let yields: HashMap<HostId, Yield> = hosts.iter().map(|host| (host.id, host.yields)).collect();
    let mut failed = None;
    let mut pages = |look: &mut dyn FnMut(&PageState, usize)| {
        let each = &mut |mut page: KnownPage| {
            if is_wanted(&page) && page.due_at <= terms.middle() {
                view.adjust(&mut page);
                look(&page.state, 1);
            }
        };
        failed = store.each_page(each).err();
    };
    let visits_a_day = terms.budget.map(|budget| budget as f64 / terms.length.days());
    policy.survey(&mut Survey {
        now: terms.now,
        cycle: terms.cycle,
        cycle_length: terms.length,
        visits_a_day,
        hosts: &yields,
        memory: &mut memory,
        pages: &mut pages,
    });
    failed.map_or(Ok(memory), Err)
}
