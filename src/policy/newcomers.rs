//! Pages that nobody has seen, on the scale of utility: divergence × days.
//!
//! A missing page is as far from what it should be as a page can be, so a page that is fetched for the first time gains
//! the time for which its copy will last, up to [`HORIZON_DAYS`], times the chance that there is anything to be had. A page
//! that leads to new ones gains their divergence too: D grows by 1 for each, so U grows by ν t²/2 if it shows ν new links
//! a day.

use std::collections::HashMap;

use super::{PageState, Survey, Yield};
use crate::observation::Life;
use crate::page::HostId;
use crate::time::Timestamp;

/// Longer than this nobody counts on a copy, in days.
pub const HORIZON_DAYS: f64 = 30.0;
/// How much a step away from the seeds takes from the worth of a page nobody has seen: enough to go breadth first among
/// equals.
const DEPTH_LOSS: f64 = 0.01;

/// What each failure in a row leaves of the worth of a page that was never had, besides the half that it takes from any
/// page: a first try that failed is soon made again, a second and third ever less.
const RETURN_AFTER_FAILURE: f64 = 0.2;

/// The worth of new links, `links_a_day` of them: U of a divergence that grows by 1 with each (D = ν t, so ν t²/2), in days.
pub fn discovery_utility(links_a_day: f64, days: f64) -> f64 {
    links_a_day * days * days / 2.0
}

/// What first visits came to so far, by host.
#[derive(Clone, Debug, Default)]
pub struct Newcomers {
    hosts: HashMap<HostId, Yield>,
}

impl Newcomers {
    /// Looks at what first visits came to.
    pub fn look(&mut self, survey: &Survey<'_>) {
        self.hosts.clone_from(survey.hosts);
    }

    /// What the first visit of a page is worth.
    pub fn worth(&self, page: &PageState) -> f64 {
        let chance = self.hosts.get(&page.host).copied().unwrap_or_default().chance();
        page.weight * chance * HORIZON_DAYS / (1.0 + DEPTH_LOSS * f64::from(page.depth))
    }

    /// The same of a page that was sought in vain; nothing if there is something to revisit, or it is none that comes back.
    pub fn worth_again(&self, page: &PageState) -> Option<f64> {
        let is_sought = !page.is_held() && matches!(page.life, Life::Failing | Life::Missing);
        is_sought.then(|| self.worth(page) * RETURN_AFTER_FAILURE.powi(page.failures.min(99).cast_signed()))
    }
}

/// For so many cycles of watching what is believed of a page's links counts, where no better number is known.
pub const LINK_CYCLES: f64 = 10.0;

/// What a visit gains in new pages. What is believed of any page before its first visits, as so many days of watching,
/// keeps one link that was found at once from making a page a fountain of them.
pub fn new_links(page: &PageState, prior_days: f64, now: Timestamp) -> f64 {
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
