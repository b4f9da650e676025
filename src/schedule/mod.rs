//! The scheduler: scores in, plan out. No I/O, so the live crawl and the simulator both call it.
//!
//! [`Candidates::choose`] takes the best k pages under a cap for each host. Greedy is exact: per-host caps make the
//! feasible plans a partition matroid, so the best page that still fits is always part of a best plan.

pub mod plan;

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use crate::page::{HostId, PageId};
use crate::policy::Score;
use crate::time::Timestamp;
pub use plan::{Plan, Planned};

/// Pages that may be visited, each with its score, by host.
#[derive(Debug, Default)]
pub struct Candidates {
    by_host: HashMap<HostId, BinaryHeap<Ranked>>,
    len: usize,
}

/// Best first: by score, then the one that waits longer, then the one known longer.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    score: Score,
    waits_since: Timestamp,
    page: PageId,
}

impl Candidates {
    /// `waits_since` breaks ties: the page that was left alone longer goes first.
    pub fn push(&mut self, page: PageId, host: HostId, score: Score, waits_since: Timestamp) {
        self.by_host.entry(host).or_default().push(Ranked { score, waits_since, page });
        self.len += 1;
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many pages of this host are left.
    pub fn on(&self, host: HostId) -> usize {
        self.by_host.get(&host).map_or(0, BinaryHeap::len)
    }

    /// Hosts with pages left, and how many.
    pub fn hosts(&self) -> impl Iterator<Item = (HostId, usize)> + '_ {
        self.by_host.iter().map(|(host, pages)| (*host, pages.len()))
    }

    /// Takes out the best pages: at most `budget` in all, and at most `cap(host)` of each host.
    pub fn choose(&mut self, budget: usize, mut cap: impl FnMut(HostId) -> usize) -> Plan {
        let mut best: BinaryHeap<(Ranked, HostId, usize)> = self
            .by_host
            .iter()
            .filter_map(|(host, pages)| {
                let room = cap(*host);
                pages.peek().filter(|_| room > 0).map(|first| (*first, *host, room))
            })
            .collect();
        let mut visits = Vec::with_capacity(budget.min(self.len));
        while visits.len() < budget {
            let Some((ranked, host, room)) = best.pop() else { break };
            visits.push(Planned { page: ranked.page, host, score: ranked.score });
            let Some(pages) = self.by_host.get_mut(&host) else { continue };
            pages.pop();
            self.len -= 1;
            match pages.peek() {
                Some(next) if room > 1 => best.push((*next, host, room - 1)),
                Some(_) => {}
                None => {
                    self.by_host.remove(&host);
                }
            }
        }
        Plan { visits }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .value()
            .total_cmp(&other.score.value())
            .then_with(|| other.waits_since.cmp(&self.waits_since))
            .then_with(|| other.page.cmp(&self.page))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidates(pages: &[(i64, i64)]) -> Candidates {
        let mut all = Candidates::default();
        for (page, (host, score)) in pages.iter().enumerate() {
            all.push(PageId(page as i64), HostId(*host), Score::new(*score as f64), Timestamp::default());
        }
        all
    }

    fn picked(plan: &Plan) -> Vec<i64> {
        plan.visits.iter().map(|visit| visit.page.0).collect()
    }

    #[test]
    fn the_best_pages_are_taken_under_the_hosts_caps() {
        // Host 1 has the three best, and room for two.
        let mut all = candidates(&[(1, 9), (1, 8), (1, 7), (2, 5), (2, 6), (3, 1)]);
        let plan = all.choose(4, |host| if host == HostId(1) { 2 } else { 9 });
        assert_eq!(picked(&plan), [0, 1, 4, 3]);
        assert_eq!(all.len(), 2);
        assert_eq!(picked(&all.choose(9, |_| 9)), [2, 5]);
        assert!(all.is_empty());
    }

    #[test]
    fn ties_go_to_the_page_that_waits_longer_then_to_the_older_one() {
        let mut all = Candidates::default();
        for (page, since) in [(1, 30), (2, 10), (3, 10)] {
            all.push(PageId(page), HostId(1), Score::new(1.0), Timestamp::from_seconds(since));
        }
        assert_eq!(picked(&all.choose(3, |_| 3)), [2, 3, 1]);
    }

    proptest! {
        #[test]
        fn a_plan_keeps_its_budget_and_caps_and_no_better_plan_exists(
            pages in prop::collection::vec((0i64..5, -20i64..20), 0..60),
            budget in 0usize..40,
            caps in prop::collection::vec(0usize..12, 5),
        ) {
            let mut all = candidates(&pages);
            let plan = all.choose(budget, |host| caps[host.0 as usize]);
            prop_assert!(plan.visits.len() <= budget);
            prop_assert_eq!(plan.visits.len() + all.len(), pages.len());
            let mut used = [0usize; 5];
            for visit in &plan.visits {
                used[visit.host.0 as usize] += 1;
            }
            for host in 0..5 {
                prop_assert!(used[host] <= caps[host]);
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
    }
}
