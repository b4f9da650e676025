//! What a visit gains: the time for which a fresh copy would stay fresh. The default.
//!
//! Holistic utility U(t) = t·D(t) − ∫₀ᵗ D with D(t) the chance of a change within t (Olston & Pandey 2008, §2.2, eq. 4,
//! and appendix A). Visiting wherever w·U reaches a threshold is the schedule that is optimal for evenly spaced visits
//! (Cho & Garcia-Molina 2003): U of a page that changes faster than it can be followed stays low, and the page is given
//! up for those whose copy lasts. With a belief instead of a rate, U grows without bound while little is known: what is
//! uncertain is visited at some time, and no page is forgotten.
//!
//! New pages and revisits stand on one scale: a missing page is as far from what it should be as a page can be, so a
//! page that is fetched for the first time gains the time for which its copy will last, up to [`HORIZON_DAYS`], times
//! the chance that there is anything to be had. A page that leads to new ones gains their divergence too: D grows by 1
//! for each, so U grows by ν t²/2 if it shows ν new links a day.

use std::collections::HashMap;

use super::learner::Learner;
use super::{PageState, Policy, Reason, Score, Survey, Yield};
use crate::estimate::gamma_function::churn;
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

/// U(t) of a page that changes at random, `rate` times a day: (1 − (1 + rt) e^(−rt)) / r (Olston & Pandey 2008, appendix
/// A), in days. A page that never changes is worth 0.
pub fn refresh_utility(rate: f64, days: f64) -> f64 {
    if rate <= 0.0 { 0.0 } else { churn(rate * days) / rate }
}

/// The worth of new links, `links_a_day` of them: U of a divergence that grows by 1 with each (D = ν t, so ν t²/2), in days.
pub fn discovery_utility(links_a_day: f64, days: f64) -> f64 {
    links_a_day * days * days / 2.0
}

#[derive(Debug)]
pub struct Utility {
    name: String,
    learner: Learner,
    hosts: HashMap<HostId, Yield>,
}

impl Utility {
    pub fn new(name: String, learner: Learner) -> Self {
        Self { name, learner, hosts: HashMap::new() }
    }

    /// What a visit gains in freshness, in days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        match self.learner.belief(page) {
            Some(belief) => belief.utility(1.0, days),
            None => refresh_utility(self.learner.estimate(page).rate.get(), days),
        }
    }

    /// What a visit gains in new pages. What is believed of any page before its first visits keeps one link that was
    /// found at once from making a page a fountain of them.
    fn new_links(&self, page: &PageState, now: Timestamp) -> f64 {
        let learnt = &page.learnt;
        if learnt.new_links == 0 {
            return 0.0;
        }
        let watched = learnt.state.watched_days + self.learner.prior_days(page);
        discovery_utility(f64::from(learnt.new_links) / watched, page.copy_age(now).days())
    }
}

impl Policy for Utility {
    fn name(&self) -> &str {
        &self.name
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn learner_mut(&mut self) -> Option<&mut Learner> {
        Some(&mut self.learner)
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.hosts.clone_from(survey.hosts);
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if !page.is_held() && matches!(page.life, Life::Failing | Life::Missing) {
            let chance = RETURN_AFTER_FAILURE.powi(page.failures.min(99).cast_signed());
            return Score::new(self.score_unseen(page).value() * chance);
        }
        Score::new(page.weight * (self.gain(page, now) + self.new_links(page, now)))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        let chance = self.hosts.get(&page.host).copied().unwrap_or_default().chance();
        Score::new(page.weight * chance * HORIZON_DAYS / (1.0 + DEPTH_LOSS * f64::from(page.depth)))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let estimate = self.learner.estimate(page);
        let age = page.copy_age(now);
        let chance = match self.learner.belief(page) {
            Some(belief) => belief.chance_of_change(age.days()),
            None => -(-estimate.rate.get() * age.days()).exp_m1(),
        };
        let gain = self.gain(page, now) + self.new_links(page, now);
        let (estimate, chance) = (Some(estimate), Some(chance));
        Reason { estimate, chance, gain_days: Some(gain), ..Reason::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_gains_the_time_that_a_copy_lasts() {
        // After very long a page is surely stale, and a fresh copy lasts for a period.
        assert!((refresh_utility(0.25, 1e6) - 4.0).abs() < 1e-9);
        // Soon after the last visit: r t²/2.
        assert!((refresh_utility(0.25, 1e-3) / (0.25 * 1e-6 / 2.0) - 1.0).abs() < 1e-3);
        assert_eq!(refresh_utility(0.0, 10.0), 0.0);
        assert_eq!(discovery_utility(2.0, 2.0), 4.0);
    }
}
