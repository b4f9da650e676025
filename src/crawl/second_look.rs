//! A second look within a cycle: a policy that learns from all pages takes in what the first half of the visits found and what the
//! lists told that were read meanwhile, and scores the pages that wait again.
//!
//! Where a folder has moved, the rest of it is visited in this cycle rather than in the next; so are pages that a sitemap tells of.
//! It costs another pass over the pages, so it is left out where that pass is long beside the cycle.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::learning_together::{self, Keep};
use super::opening::is_wanted;
use super::planner::Eligibility;
use super::recorder::Recorder;
use super::survey;
use super::terms::{Terms, View};
use crate::page::PageId;
use crate::policy;
use crate::schedule::Candidates;
use crate::store::{CycleId, LoggedPlan, Result};

/// The part of the cycle's time that a second look may take.
const MOST_SHARE: u32 = 20;

/// The visits of a budget that are planned before the second look.
fn first_part(budget: u64) -> u64 {
    budget.div_ceil(2)
}

/// Have most of the planned visits ended? The last few belong to slow hosts, for which others need not wait.
pub(super) fn is_due(planned: usize, under_way: usize) -> bool {
    under_way * 4 <= planned
}

/// `first`: how long the first look took; `time`: how long the cycle lasts.
pub(super) fn is_worth_it(first: Duration, time: Duration) -> bool {
    first * MOST_SHARE < time
}

/// Whether the cycle looks at its pages again.
pub(super) struct Second {
    /// The policy learns within the cycle, and no second look was ordered.
    pub(super) is_open: bool,
    /// No second look was answered: pages are noted that must not be planned twice.
    pub(super) keeps_planned: bool,
    /// How long the first look took, and when the cycle began.
    pub(super) first: Duration,
    pub(super) began: Instant,
    /// The terms of the first look.
    pub(super) terms: Terms,
    /// The requests that the cycle had left when it began, if it has a budget.
    pub(super) budget: Option<u64>,
    /// Every page that was ever planned.
    pub(super) planned: HashSet<PageId>,
}

impl Second {
    /// Visits that may still be planned before the second look; `None` if none is awaited.
    pub(super) fn room(&self) -> Option<usize> {
        let budget = self.budget.filter(|_| self.keeps_planned)?;
        Some((first_part(budget) as usize).saturating_sub(self.planned.len()))
    }

    /// There will be no second look, or it was taken.
    pub(super) fn close(&mut self) -> HashSet<PageId> {
        (self.is_open, self.keeps_planned) = (false, false);
        std::mem::take(&mut self.planned)
    }
}

/// All that the second look needs of the cycle.
#[derive(Debug)]
pub(super) struct SecondLook {
    /// As of now.
    pub(super) terms: Terms,
    /// Pages that the operator does not want.
    pub(super) unwanted: Arc<HashSet<PageId>>,
    /// How many pages there are.
    pub(super) known: u64,
}

impl SecondLook {
    /// Scores the pages that this cycle has not visited.
    pub(super) fn take(&self, recorder: &mut Recorder) -> Result<Candidates> {
        let terms = self.terms;
        let Recorder { store, policy, weights, .. } = recorder;
        let (store, policy) = (&mut **store, &mut **policy);
        learning_together::catch_up(store, policy, Keep::Yes)?;
        let hosts = store.hosts()?;
        let view = View { weights: std::mem::take(weights), ..View::default() };
        let wanted = |page: &_| is_wanted(page, &self.unwanted);
        let looked = survey::look_over(store, policy, &hosts, &view, terms, &wanted, self.known);
        let mut candidates = Candidates::default();
        let scored = looked.and_then(|_| {
            let plan = LoggedPlan::of(store.log_end()?, terms.now, terms.length, policy.planned());
            store.log_plan(&plan)?;
            store.each_page(&mut |page| {
                view.adjust(page, terms.now);
                let cycle = CycleId(terms.cycle);
                let eligibility =
                    Eligibility::of(page, cycle, &terms, policy, is_wanted(page, &self.unwanted), false);
                if eligibility == Eligibility::Candidate {
                    candidates.push(&page.state, policy::score(policy, &page.state, terms.now));
                }
            })
        });
        *weights = view.weights;
        scored.map(|()| candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_look_comes_when_most_of_half_of_the_visits_have_ended() {
        assert_eq!((first_part(0), first_part(1), first_part(100), first_part(101)), (0, 1, 50, 51));
        assert!(!is_due(50, 13) && is_due(50, 12) && is_due(50, 0));
    }

    #[test]
    fn a_second_look_that_is_long_beside_the_cycle_is_left_out() {
        assert!(is_worth_it(Duration::from_millis(10), Duration::from_secs(10)));
        assert!(!is_worth_it(Duration::from_secs(60), Duration::from_secs(600)), "a tenth of the time");
    }
}
