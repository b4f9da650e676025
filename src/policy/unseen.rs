//! The worth of pages that were never fetched, on the scale of utility: divergence × days.
//!
//! A missing page has divergence 1. So the first visit gains the time for which the copy will last, up to [`HORIZON_DAYS`],
//! times the chance that the visit brings anything. A page that leads to new pages gains their divergence, too: D grows by 1
//! with each new link, so with ν new links a day U grows as ν t²/2.

use std::collections::HashMap;

use super::{PageState, Survey, Yield};
use crate::observation::Life;
use crate::page::HostId;
use crate::time::Timestamp;

/// The longest time that a copy is counted on, in days.
const HORIZON_DAYS: f64 = 30.0;
/// The loss of worth with each link away from the seeds: enough for breadth-first order among equals.
const DEPTH_LOSS: f64 = 0.01;

/// The factor for each failure in a row of a page that was never fetched, in addition to the halving that every page gets: a
/// first try that failed is soon repeated, later ones less and less.
const RETRY_FACTOR: f64 = 0.2;

/// U of a divergence that grows by 1 with each new link: D = ν t, so ν t²/2, in days.
pub(super) fn discovery_utility(links_a_day: f64, days: f64) -> f64 {
    links_a_day * days * days / 2.0
}

/// The results of first visits so far, by host.
#[derive(Clone, Debug, Default)]
pub(super) struct Unseen {
    hosts: HashMap<HostId, Yield>,
}

impl Unseen {
    /// Takes over the results of first visits.
    pub(super) fn look_at_hosts(&mut self, survey: &Survey<'_>) {
        self.hosts.clone_from(survey.hosts);
    }

    /// The worth of the first visit to a page.
    pub(super) fn worth(&self, page: &PageState) -> f64 {
        let chance = self.hosts.get(&page.host).copied().unwrap_or_default().chance();
        page.weight * chance * HORIZON_DAYS / (1.0 + DEPTH_LOSS * f64::from(page.depth))
    }

    /// The worth of another try, for a page that was visited but never fetched and may come back. `None` for other pages.
    pub(super) fn worth_after_failure(&self, page: &PageState) -> Option<f64> {
        let may_come_back = !page.is_held() && matches!(page.life, Life::Failing | Life::Missing);
        may_come_back.then(|| self.worth(page) * RETRY_FACTOR.powi(page.failures.min(99).cast_signed()))
    }
}

/// The weight of the prior of [`discovery_gain`], in cycles, for policies that have no better number.
pub(super) const LINK_PRIOR_CYCLES: f64 = 10.0;

/// The gain of a visit in new pages, in days.
///
/// The rate of new links has a prior: 0 links in `prior_days`. Without it, one link found at the first visit would make the page
/// look like a hub.
pub(super) fn discovery_gain(page: &PageState, prior_days: f64, now: Timestamp) -> f64 {
    let learnt = &page.learnt;
    if learnt.new_links == 0 {
        return 0.0;
    }
    let watched = learnt.state.watched_days + prior_days;
    discovery_utility(f64::from(learnt.new_links) / watched, page.copy_age(now).days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_worth_the_square_of_the_wait() {
        assert_eq!(discovery_utility(2.0, 2.0), 4.0);
    }
}
