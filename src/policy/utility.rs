//! What a visit gains: the time for which a fresh copy would stay fresh. The default.
//!
//! Holistic utility U(t) = t·D(t) − ∫₀ᵗ D with D(t) the chance of a change within t (Olston & Pandey 2008, §2.2, eq. 4,
//! and appendix A). Visiting wherever w·U reaches a threshold is the schedule that is optimal for evenly spaced visits
//! (Cho & Garcia-Molina 2003): U of a page that changes faster than it can be followed stays low, and the page is given
//! up for those whose copy lasts. With a belief instead of a rate, U grows without bound while little is known: what is
//! uncertain is visited at some time, and no page is forgotten.
//!
//! New pages and revisits stand on one scale: see [`newcomers`](super::newcomers).

use super::newcomers::{self, Newcomers};
use super::{PageState, Policy, Reason, Score, Survey};
use crate::estimate::learner::Learner;
use crate::longevity::curve::Curve;
use crate::time::Timestamp;

/// U(t) of a page that changes at random, `rate` times a day: (1 − (1 + rt) e^(−rt)) / r (Olston & Pandey 2008, appendix
/// A), in days. A page that never changes is worth 0.
pub fn refresh_utility(rate: f64, days: f64) -> f64 {
    Curve::churn(1.0, rate).utility(days)
}

#[derive(Debug)]
pub struct Utility {
    name: String,
    learner: Learner,
    newcomers: Newcomers,
}

impl Utility {
    pub fn new(name: String, learner: Learner) -> Self {
        Self { name, learner, newcomers: Newcomers::default() }
    }

    /// What a visit gains in freshness, in days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        match self.learner.belief(page.host, page.depth, &page.learnt.state) {
            Some(belief) => belief.utility(1.0, days),
            None => refresh_utility(
                self.learner.estimate(page.host, page.depth, &page.learnt.state).rate.get(),
                days,
            ),
        }
    }

    fn new_links(&self, page: &PageState, now: Timestamp) -> f64 {
        newcomers::new_links(page, self.learner.prior_days(page.host, page.depth), now)
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
        self.newcomers.look(survey);
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.newcomers.worth_again(page) {
            return Score::new(worth);
        }
        Score::new(page.weight * (self.gain(page, now) + self.new_links(page, now)))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let estimate = self.learner.estimate(page.host, page.depth, &page.learnt.state);
        let age = page.copy_age(now);
        let chance = match self.learner.belief(page.host, page.depth, &page.learnt.state) {
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
    }
}
