//! The best k pages under a cap for each host.
//!
//! Greedy is exact: per-host caps make the feasible plans a partition matroid, so the best page that still fits is always
//! part of a best plan. New pages and pages that were visited before compete by their scores, unless a share of the plan is
//! set aside for new ones. The live crawl chooses this way, and a replay where each page has a score of its own.

use std::collections::BinaryHeap;

use super::plan::{Plan, Planned};
use super::rank::{Rank, RankedPage};
use crate::identity_hash::ById;
use crate::observation::Life;
use crate::page::{HostId, PageId};
use crate::policy::{PageState, Score};

/// Pages that may be visited, each with its score.
#[derive(Debug, Default)]
pub struct Candidates {
    new: Pool,
    known: Pool,
}

/// How much of a plan goes to pages that were never visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discovery {
    /// The share of new pages among all visits, in [0, 1].
    pub share: f64,
    /// Visits so far.
    pub visits: u64,
    /// Visits so far to pages that were new.
    pub new: u64,
}

impl Discovery {
    /// No visit was made yet.
    pub fn of(share: f64) -> Self {
        Self { share, visits: 0, new: 0 }
    }

    /// Should the next visit go to a new page? Their number is never more than one away from its share.
    fn wants_new(&self) -> bool {
        self.new as f64 + 0.5 < self.share * (self.visits + 1) as f64
    }

    /// Counts a visit.
    pub fn count(&mut self, is_new: bool) {
        self.visits += 1;
        self.new += u64::from(is_new);
    }
}

impl Candidates {
    /// Takes in a page with its score. Ties go to the page that was left alone longer, then to the one known longer.
    pub fn push(&mut self, page: &PageState, score: Score) {
        self.push_ranked(ranked(page, score), page.host, page.life == Life::New);
    }

    /// Takes in a page whose rank is known.
    pub(crate) fn push_ranked(&mut self, page: RankedPage, host: HostId, is_new: bool) {
        let pool = if is_new { &mut self.new } else { &mut self.known };
        pool.push(host, page);
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.new.len + self.known.len
    }

    /// How many of them were never visited.
    pub(crate) fn len_of_new(&self) -> usize {
        self.new.len
    }

    /// Is there no page left?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many pages of this host are left.
    pub fn on(&self, host: HostId) -> usize {
        self.new.on(host) + self.known.on(host)
    }

    /// Hosts with pages left. A host with both new pages and known ones comes twice.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        self.new.hosts().chain(self.known.hosts())
    }

    /// How many pages would be taken before this one if there were no caps.
    pub(crate) fn better_than(&self, page: &PageState, score: Score) -> usize {
        let this = ranked(page, score);
        self.new.better_than(&this) + self.known.better_than(&this)
    }

    /// Takes out the best pages: at most `budget` in all, and at most `cap(host)` of each host.
    pub fn choose(
        &mut self,
        budget: usize,
        discovery: Option<&mut Discovery>,
        cap: impl FnMut(HostId) -> usize,
    ) -> Plan {
        let mut visits = Vec::with_capacity(budget.min(self.len()));
        self.take_best(budget, discovery, cap, |is_new, ranked, host| {
            visits.push(Planned { page: ranked.page, host, score: ranked.rank.score(), is_new });
        });
        Plan { visits }
    }

    /// Takes out the same pages as [`Candidates::choose`], and keeps them as candidates: for a plan that is fetched in waves.
    pub fn split(
        &mut self,
        budget: usize,
        discovery: Option<&mut Discovery>,
        cap: impl FnMut(HostId) -> usize,
    ) -> Candidates {
        let mut taken = Candidates::default();
        self.take_best(budget, discovery, cap, |is_new, ranked, host| {
            let pool = if is_new { &mut taken.new } else { &mut taken.known };
            pool.push(host, ranked);
        });
        taken
    }

    /// The lowest score of a page; `None` if there is no page.
    pub(crate) fn lowest(&self) -> Option<f64> {
        let pools = [&self.new, &self.known].into_iter();
        let pages = pools.flat_map(|pool| pool.by_host.values()).flat_map(HostPages::iter);
        pages.map(|ranked| ranked.rank.score().value()).min_by(f64::total_cmp)
    }

    /// All but these pages.
    #[must_use]
    pub(crate) fn without(self, is_out: impl Fn(PageId) -> bool) -> Self {
        let mut kept = Self::default();
        for (pool, to) in [(self.new, &mut kept.new), (self.known, &mut kept.known)] {
            for (host, pages) in pool.by_host {
                pages.iter().filter(|ranked| !is_out(ranked.page)).for_each(|ranked| to.push(host, *ranked));
            }
        }
        kept
    }

    /// Takes in all pages of `others`.
    pub fn append(&mut self, others: Candidates) {
        self.new.append(others.new);
        self.known.append(others.known);
    }

    fn take_best(
        &mut self,
        budget: usize,
        mut discovery: Option<&mut Discovery>,
        mut cap: impl FnMut(HostId) -> usize,
        mut take: impl FnMut(bool, RankedPage, HostId),
    ) {
        let mut room: ById<HostId, usize> = ById::default();
        let mut heads = [&mut self.new, &mut self.known].map(|pool| pool.heads(&mut room, &mut cap));
        for _ in 0..budget {
            for (pool, heads) in [&mut self.new, &mut self.known].into_iter().zip(&mut heads) {
                pool.skip_full(heads, &room);
            }
            let [new, known] = &mut heads;
            let is_new = match (new.peek(), known.peek(), &discovery) {
                (None, None, _) => break,
                (Some(_), None, _) => true,
                (None, Some(_), _) => false,
                (Some(_), Some(_), Some(discovery)) => discovery.wants_new(),
                (Some((new, _)), Some((known, _)), None) => new > known,
            };
            let (pool, heads) = if is_new { (&mut self.new, new) } else { (&mut self.known, known) };
            let Some((ranked, host)) = heads.pop() else { break };
            if let Some(room) = room.get_mut(&host) {
                *room -= 1;
            }
            if let Some(next) = pool.pop(host) {
                heads.push((next, host));
            }
            if let Some(discovery) = &mut discovery {
                discovery.count(is_new);
            }
            take(is_new, ranked, host);
        }
    }
}

fn ranked(page: &PageState, score: Score) -> RankedPage {
    RankedPage { rank: Rank::new(score.value(), page.waits_since()), page: page.page }
}

/// Pages by host.
#[derive(Debug, Default)]
struct Pool {
    by_host: ById<HostId, HostPages>,
    len: usize,
}

/// The pages of a host. Most pages of a large collection are never chosen: they are put in order when the best is asked for, all
/// at once.
#[derive(Debug, Default)]
struct HostPages {
    ordered: BinaryHeap<RankedPage>,
    /// Pages that came since.
    others: Vec<RankedPage>,
}

impl HostPages {
    fn len(&self) -> usize {
        self.ordered.len() + self.others.len()
    }

    fn iter(&self) -> impl Iterator<Item = &RankedPage> {
        self.ordered.iter().chain(&self.others)
    }

    fn first(&mut self) -> Option<RankedPage> {
        if !self.others.is_empty() {
            let others = std::mem::take(&mut self.others);
            if self.ordered.is_empty() {
                self.ordered = BinaryHeap::from(others);
            } else {
                self.ordered.extend(others);
            }
        }
        self.ordered.peek().copied()
    }
}

/// The best page of each host that has room.
type Heads = BinaryHeap<(RankedPage, HostId)>;

impl Pool {
    fn push(&mut self, host: HostId, ranked: RankedPage) {
        self.by_host.entry(host).or_default().others.push(ranked);
        self.len += 1;
    }

    fn on(&self, host: HostId) -> usize {
        self.by_host.get(&host).map_or(0, HostPages::len)
    }

    /// Hosts with pages left.
    fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        self.by_host.keys().copied()
    }

    fn better_than(&self, this: &RankedPage) -> usize {
        self.by_host.values().flat_map(HostPages::iter).filter(|ranked| *ranked > this).count()
    }

    fn heads(&mut self, room: &mut ById<HostId, usize>, cap: &mut impl FnMut(HostId) -> usize) -> Heads {
        let head = |(host, pages): (&HostId, &mut HostPages)| {
            let room = *room.entry(*host).or_insert_with(|| cap(*host));
            if room == 0 { None } else { pages.first().map(|first| (first, *host)) }
        };
        self.by_host.iter_mut().filter_map(head).collect()
    }

    /// Drops the best pages whose hosts are full.
    fn skip_full(&self, heads: &mut Heads, room: &ById<HostId, usize>) {
        while heads.peek().is_some_and(|(_, host)| room.get(host).is_some_and(|room| *room == 0)) {
            heads.pop();
        }
    }

    /// Takes out the best page of a host, and gives the next.
    fn pop(&mut self, host: HostId) -> Option<RankedPage> {
        let pages = self.by_host.get_mut(&host)?;
        pages.first()?;
        pages.ordered.pop();
        self.len -= 1;
        let next = pages.first();
        if next.is_none() {
            self.by_host.remove(&host);
        }
        next
    }

    fn append(&mut self, others: Pool) {
        self.len += others.len;
        for (host, mut more) in others.by_host {
            let pages = self.by_host.entry(host).or_default();
            pages.ordered.append(&mut more.ordered);
            pages.others.append(&mut more.others);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::Timestamp;

    fn state(page: i64, host: i64, seen: Option<i64>) -> PageState {
        let mut state = PageState::found(PageId(page), HostId(host), 0, 1.0, Timestamp::default());
        state.last_visit = seen.map(Timestamp::from_seconds);
        state.life = if seen.is_some() { Life::Alive } else { Life::New };
        state
    }

    fn candidates(pages: &[(i64, i64, bool)]) -> Candidates {
        let mut all = Candidates::default();
        for (page, (host, score, is_new)) in (0..).zip(pages) {
            all.push(&state(page, *host, (!is_new).then_some(0)), Score::new(*score as f64));
        }
        all
    }

    fn picked(plan: &Plan) -> Vec<i64> {
        plan.visits.iter().map(|visit| visit.page.0).collect()
    }

    #[test]
    fn the_best_pages_are_taken_under_the_hosts_caps() {
        // Host 1 has the three best, and room for two.
        let mut all = candidates(&[
            (1, 9, true),
            (1, 8, false),
            (1, 7, true),
            (2, 5, false),
            (2, 6, true),
            (3, 1, false),
        ]);
        let plan = all.choose(4, None, |host| if host == HostId(1) { 2 } else { 9 });
        assert_eq!(picked(&plan), [0, 1, 4, 3]);
        assert_eq!(all.len(), 2);
        assert_eq!(picked(&all.choose(9, None, |_| 9)), [2, 5]);
        assert!(all.is_empty());
    }

    #[test]
    fn ties_go_to_the_page_that_waits_longer_then_to_the_older_one() {
        let mut all = Candidates::default();
        for (page, since) in [(1, 30), (2, 10), (3, 10)] {
            all.push(&state(page, 1, Some(since)), Score::new(1.0));
        }
        assert_eq!(all.better_than(&state(1, 1, Some(30)), Score::new(1.0)), 2);
        assert_eq!(picked(&all.choose(3, None, |_| 3)), [2, 3, 1]);
    }

    #[test]
    fn a_share_is_set_aside_for_new_pages() {
        let pages: Vec<(i64, i64, bool)> = (0..40).map(|page| (1, 40 - page, page % 2 == 0)).collect();
        for (share, new) in [(0.0, 0), (0.25, 2), (0.5, 5), (1.0, 10)] {
            let mut discovery = Discovery::of(share);
            candidates(&pages).choose(10, Some(&mut discovery), |_| 99);
            assert_eq!((discovery.visits, discovery.new), (10, new), "{share}");
        }
        // Where one kind has run out the other gets the rest.
        let mut discovery = Discovery::of(0.25);
        candidates(&pages).choose(99, Some(&mut discovery), |_| 99);
        assert_eq!((discovery.visits, discovery.new), (40, 20));
    }

    proptest! {
        #[test]
        fn a_plan_keeps_its_budget_and_caps_and_no_better_plan_exists(
            pages in prop::collection::vec((0i64..5, -20i64..20, any::<bool>()), 0..60),
            budget in 0usize..40,
            caps in prop::collection::vec(0usize..12, 5),
        ) {
            let mut all = candidates(&pages);
            let plan = all.choose(budget, None, |host| caps[host.0 as usize]);
            prop_assert!(plan.visits.len() <= budget);
            prop_assert_eq!(plan.visits.len() + all.len(), pages.len());
            let mut used = [0usize; 5];
            for visit in &plan.visits {
                used[visit.host.0 as usize] += 1;
            }
            for host in 0..5 {
                prop_assert!(used[host] <= caps[host]);
                // The best page of every host that has room, if there is room for a page of each.
                let best = (0..pages.len()).filter(|at| pages[*at].0 == host as i64).max_by_key(|at| {
                    (pages[*at].1, std::cmp::Reverse(*at))
                });
                if let Some(best) = best.filter(|_| caps[host] > 0 && used[host] > 0) {
                    prop_assert!(picked(&plan).contains(&(best as i64)));
                }
            }
            prop_assert!(plan.visits.is_sorted_by(|a, b| a.score.value() >= b.score.value()));
            // The same by sorting everything: take what fits, best first.
            let mut order: Vec<usize> = (0..pages.len()).collect();
            order.sort_by_key(|at| (-pages[*at].1, *at));
            let mut room = caps.clone();
            let mut expected = Vec::new();
            for at in order {
                let host = pages[at].0 as usize;
                if expected.len() < budget && room[host] > 0 {
                    room[host] -= 1;
                    expected.push(at as i64);
                }
            }
            prop_assert_eq!(picked(&plan), expected);
        }

        #[test]
        fn pages_that_come_later_compete_with_those_that_were_not_chosen(
            waves in prop::collection::vec((prop::collection::vec((0i64..4, -9i64..9, any::<bool>()), 0..20), 0usize..15), 1..5),
        ) {
            let mut all = Candidates::default();
            let mut waiting: Vec<(i64, i64)> = Vec::new();
            let mut next = 0;
            for (pages, budget) in waves {
                for (host, score, is_new) in pages {
                    all.push(&state(next, host, (!is_new).then_some(0)), Score::new(score as f64));
                    waiting.push((-score, next));
                    next += 1;
                }
                waiting.sort_unstable();
                let rest = waiting.split_off(budget.min(waiting.len()));
                let expected: Vec<i64> = waiting.iter().map(|(_, page)| *page).collect();
                waiting = rest;
                prop_assert_eq!(picked(&all.choose(budget, None, |_| usize::MAX)), expected);
                prop_assert_eq!(all.len(), waiting.len());
                prop_assert_eq!(all.hosts().map(|host| all.on(host)).max().is_some(), !waiting.is_empty());
            }
        }

        #[test]
        fn what_is_split_off_is_what_would_be_chosen(
            pages in prop::collection::vec((0i64..4, -9i64..9, any::<bool>()), 0..40),
            budget in 0usize..30, cap in 0usize..9, share in prop::option::of(0.0..=1.0_f64)
        ) {
            let mut discovery = share.map(Discovery::of);
            let chosen = candidates(&pages).choose(budget, discovery.as_mut(), |_| cap);
            let mut all = candidates(&pages);
            let mut split = all.split(budget, share.map(Discovery::of).as_mut(), |_| cap);
            prop_assert_eq!(split.len(), chosen.visits.len());
            let mut again = picked(&split.choose(usize::MAX, None, |_| usize::MAX));
            again.sort_unstable();
            let mut expected = picked(&chosen);
            expected.sort_unstable();
            prop_assert_eq!(again, expected);
            all.append(candidates(&[]));
            prop_assert_eq!(all.len() + chosen.visits.len(), pages.len());
        }
    }
}
