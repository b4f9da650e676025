//! A policy that learns from all pages together takes in the visits that were logged since it last did.
//!
//! The visits of each plan are taken in together, in the order of the log. What the policy then knows of the collection is kept
//! with the place in the log that it has come to; it follows from the log and the plans alone. So a crawl that goes on and one
//! that learns all of the log again come to the same state, bit for bit.

use std::collections::HashMap;

use super::learning::{self, MemoryMaker};
use crate::observation::Observation;
use crate::page::{Depth, HostId, Kin, PageId};
use crate::policy::{CollectedVisit, Learnt, PlanMoment, Policy};
use crate::store::{CollectionMemory, KnownPage, LogPart, LoggedPlan, Store, StoreError, VisitRow};
use crate::time::{Age, Timestamp};

/// Pages of which no more than this are looked up one by one; of more, all pages are read.
const ONE_BY_ONE: usize = 5_000;

/// Cycles among which one of the future is looked for.
const LATEST_CYCLES: usize = 100;

/// Whether what was learnt is kept in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Yes,
    /// The store is only looked at.
    No,
}

/// Lets the policy take in the visits that it has not seen. Says how many there were. The memories of pages in the store must be
/// this policy's own, unless all of the log is learnt.
pub(super) fn catch_up(
    store: &mut dyn Store,
    policy: &mut dyn Policy,
    keep: Keep,
) -> Result<u64, StoreError> {
    if !policy.learns_from_all() {
        return Ok(0);
    }
    let version = policy.memory_version();
    let kept = store.collection_memory(&version)?.filter(|kept| policy.recall_collection(&kept.content));
    let from = match kept {
        Some(kept) => kept.upto,
        None => {
            policy.recall_collection(&[]);
            0
        }
    };
    let taken = take_in(store, policy, from, i64::MAX)?;
    if let Some((upto, _)) = taken
        && keep == Keep::Yes
    {
        let content = policy.collection_bytes();
        store.keep_collection_memory(&version, &CollectionMemory { upto, content })?;
    }
    Ok(taken.map_or(0, |(_, visits)| visits))
}

/// Makes what the policy knows of the collection again from the log and the plans. Says whether it was anything else; with
/// `write` it is kept then. A store that keeps nothing of the kind for this policy is left alone.
pub fn rebuild(store: &mut dyn Store, policy: &mut dyn Policy, write: bool) -> Result<bool, StoreError> {
    let version = policy.memory_version();
    let kept = match store.collection_memory(&version)? {
        Some(kept) if policy.learns_from_all() => kept,
        _ => return Ok(false),
    };
    policy.recall_collection(&[]);
    take_in(store, policy, 0, kept.upto)?;
    let content = policy.collection_bytes();
    let differs = content != kept.content;
    if differs && write {
        store.keep_collection_memory(&version, &CollectionMemory { upto: kept.upto, content })?;
    }
    Ok(differs)
}

/// A visit that waits until all visits of its plan are there.
struct TaughtVisit {
    page: PageId,
    at: Timestamp,
    learnt: Learnt,
}

/// A page whose visits are being learnt.
struct Running {
    /// Its memory in the store, which has this policy's lesson of its one visit.
    stored: Option<Learnt>,
    host: HostId,
    depth: Depth,
    kin: Kin,
    found_at: Timestamp,
    learnt: Learnt,
    seen_at: Option<Timestamp>,
}

/// Takes in the visits behind `from`, up to `until`. Gives the last one and how many taught something; `None` if there is none.
fn take_in(
    store: &mut dyn Store,
    policy: &mut dyn Policy,
    from: i64,
    until: i64,
) -> Result<Option<(i64, u64)>, StoreError> {
    let mut rows: HashMap<PageId, u32> = HashMap::new();
    let (mut upto, mut earliest) = (from, None::<Timestamp>);
    // The log may grow meanwhile: only what is counted here is taken in.
    store.each_logged(LogPart::After(from), &mut |logged| {
        if logged.visit.id > until {
            return false;
        }
        upto = upto.max(logged.visit.id);
        earliest = Some(earliest.map_or(logged.visit.at, |at| at.min(logged.visit.at)));
        *rows.entry(logged.visit.page).or_default() += 1;
        true
    })?;
    if upto == from {
        return Ok(None);
    }
    // After a clock that was ahead was set right, a visit may have taught nothing: its page has to be learnt from the start.
    let was_set_back = store.cycles(LATEST_CYCLES)?.iter().any(|cycle| Some(cycle.started_at) > earliest);
    let mut pages = running(store, policy, (from, was_set_back), &rows)?;
    let plans = store.plans_since(from)?;
    let (mut group, mut taught) = (PlanGroup::default(), 0);
    let mut failed = None;
    store.each_logged(LogPart::After(from), &mut |logged| {
        if logged.visit.id > upto {
            return false;
        }
        let place = plans.partition_point(|plan| plan.after < logged.visit.id);
        let plan = place.checked_sub(1).and_then(|place| plans.get(place)).copied();
        if !group.is_of(plan, &logged.visit) {
            group.teach(policy, &pages);
            group = PlanGroup::of(plan, &logged.visit, group.first_at);
        }
        match logged.visit.observation() {
            Ok(fact) => {
                if let Some(waiting) = take_fact(policy, &mut pages, &fact) {
                    group.visits.push(waiting);
                    taught += 1;
                }
                true
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        }
    })?;
    group.teach(policy, &pages);
    failed.map_or(Ok(Some((upto, taught))), Err)
}

/// Takes one fact into the state of its page. Gives the visit if it taught something.
fn take_fact(
    policy: &dyn Policy,
    pages: &mut HashMap<PageId, Running>,
    fact: &Observation,
) -> Option<TaughtVisit> {
    let page = pages.get_mut(&fact.page)?;
    fact.found?;
    if let Some(learnt) = page.stored.take() {
        return fact.changed.map(|_| TaughtVisit { page: fact.page, at: fact.attempt.at, learnt });
    }
    let lesson = fact.lesson(page.seen_at);
    page.seen_at = Some(fact.attempt.at);
    page.learnt.take(&lesson?, page.host, page.depth, policy);
    Some(TaughtVisit { page: fact.page, at: fact.attempt.at, learnt: page.learnt.clone() })
}

/// The pages of these visits as they were before them: their facts up to `from`, learnt.
fn running(
    store: &mut dyn Store,
    policy: &dyn Policy,
    (from, was_set_back): (i64, bool),
    rows: &HashMap<PageId, u32>,
) -> Result<HashMap<PageId, Running>, StoreError> {
    let mut pages: HashMap<PageId, Running> = HashMap::with_capacity(rows.len());
    // Of a page with one visit the store has the memory after it. Of others it has not what each visit left.
    let own = from > 0
        && !was_set_back
        && learning::memory(store)? == Some(MemoryMaker::By(policy.memory_version()));
    let mut add = |page: &KnownPage| {
        let state = &page.state;
        let (host, depth, kin, found_at) = (state.host, state.depth, state.kin, state.found_at);
        let is_once = own && rows.get(&page.id) == Some(&1);
        let (stored, learnt, seen_at) = (is_once.then(|| state.learnt.clone()), Learnt::default(), None);
        pages.insert(page.id, Running { stored, host, depth, kin, found_at, learnt, seen_at });
    };
    if rows.len() > ONE_BY_ONE {
        store.each_page(&mut |page| {
            if rows.contains_key(&page.id) {
                add(page);
            }
        })?;
    } else {
        for page in rows.keys() {
            store.known_page(*page)?.iter().for_each(&mut add);
        }
    }
    if from == 0 {
        return Ok(pages);
    }
    let is_slow = |(id, page): (&PageId, &Running)| page.stored.is_none().then_some(*id);
    let ids: Vec<PageId> = pages.iter().filter_map(is_slow).collect();
    for some in ids.chunks(ONE_BY_ONE) {
        for row in store.visits_of(some)?.iter().filter(|row| row.id <= from) {
            take_fact(policy, &mut pages, &row.observation()?);
        }
    }
    Ok(pages)
}

/// The visits that one plan led to.
#[derive(Default)]
struct PlanGroup {
    plan: Option<LoggedPlan>,
    cycle: Option<i64>,
    first_at: Option<Timestamp>,
    /// When the group before it began.
    before: Option<Timestamp>,
    visits: Vec<TaughtVisit>,
}

impl PlanGroup {
    fn of(plan: Option<LoggedPlan>, visit: &VisitRow, before: Option<Timestamp>) -> Self {
        Self { plan, cycle: Some(visit.cycle.0), first_at: Some(visit.at), before, visits: Vec::new() }
    }

    fn is_of(&self, plan: Option<LoggedPlan>, visit: &VisitRow) -> bool {
        self.plan.map(|plan| plan.after) == plan.map(|plan| plan.after) && self.cycle == Some(visit.cycle.0)
    }

    /// The moment of the plan. Of visits that an earlier release planned it is that of the first of them.
    fn moment(&self, policy: &dyn Policy, visits: &[CollectedVisit<'_>]) -> PlanMoment {
        let at = self.plan.map(|plan| plan.at).or(self.first_at).unwrap_or_default();
        let spacing = || {
            let age = self.before.map(|before| at.since(before)).filter(|age| age.seconds() > 0.0);
            age.unwrap_or(Age::from_days(1.0))
        };
        let cycle_length = self.plan.map(|plan| plan.cycle_length).filter(|age| age.seconds() > 0.0);
        let moment = PlanMoment { at, cycle_length: cycle_length.unwrap_or_else(spacing), mean_lag: 0.0 };
        let mean_lag = self.plan.and_then(|plan| plan.mean_lag);
        PlanMoment { mean_lag: mean_lag.unwrap_or_else(|| policy.mean_lag(&moment, visits)), ..moment }
    }

    fn teach(&mut self, policy: &mut dyn Policy, pages: &HashMap<PageId, Running>) {
        let visits: Vec<CollectedVisit<'_>> = self
            .visits
            .iter()
            .filter_map(|visit| {
                let page = pages.get(&visit.page)?;
                Some(CollectedVisit {
                    host: page.host,
                    kin: page.kin,
                    found_at: page.found_at,
                    at: visit.at,
                    learnt: &visit.learnt,
                    was_planned: true,
                })
            })
            .collect();
        if visits.is_empty() {
            return;
        }
        let moment = self.moment(policy, &visits);
        policy.learn_from_all(&moment, &visits);
    }
}
