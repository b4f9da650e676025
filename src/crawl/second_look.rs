//! A second look within a cycle: a policy that learns from all pages takes in what the first half of the visits found, and scores
//! the pages that wait again.
//!
//! What the first visits of a cycle find tells of their kin: where a folder has moved, the rest of it is visited in this cycle
//! rather than in the next. It costs another pass over the pages, so it is left out where that pass is long beside the cycle.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

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

/// Is a second look worth its time? `first`: how long the first took; `elapsed`: the time since the cycle began; `visits`: how many
/// of `budget` were made.
pub(super) fn is_due(first: Duration, elapsed: Duration, visits: u64, budget: u64) -> bool {
    visits * 2 >= budget && visits < budget && first * MOST_SHARE < elapsed
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
    fn a_second_look_comes_after_half_of_the_visits_if_it_is_short() {
        let (short, long) = (Duration::from_millis(10), Duration::from_secs(60));
        assert!(!is_due(short, Duration::from_secs(10), 49, 100));
        assert!(is_due(short, Duration::from_secs(10), 50, 100));
        assert!(!is_due(short, Duration::from_secs(10), 100, 100), "nothing is left to choose");
        assert!(!is_due(long, Duration::from_secs(600), 50, 100), "it would take a tenth of the time");
    }
}
