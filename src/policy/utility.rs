//! The gain of a visit: the time for which a fresh copy stays fresh, by any estimator of change rates.
//!
//! Holistic utility U(t) = t·D(t) − ∫₀ᵗ D with D(t) the probability of a change within t (Olston & Pandey 2008, §2.2, eq. 4, and
//! appendix A). To visit a page whenever w·U reaches a threshold is the optimal schedule with evenly spaced visits (Cho &
//! Garcia-Molina 2003): U stays low for a page that changes faster than it can be followed, and such a page is given up for
//! pages whose copy lasts. With a distribution of rates instead of one rate, U grows without bound while little is known, so
//! an uncertain page is visited at some time and no page is forgotten.
//!
//! New pages and revisits have scores on one scale: see [`unseen`](super::unseen).

use super::registry::{Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::{Fact, PageState, Policy, Reason, Score, Survey, learns_by_estimator};
use crate::estimate::learner::Learner;
use crate::longevity::curve::Curve;
use crate::time::Timestamp;

/// U(t) of a page that changes at random, `rate` times a day: (1 − (1 + rt) e^(−rt)) / r (Olston & Pandey 2008, appendix
/// A), in days. A page that never changes has utility 0.
pub(super) fn refresh_utility(rate: f64, days: f64) -> f64 {
    Curve::churn(1.0, rate).utility(days)
}

#[derive(Debug)]
struct Utility {
    name: String,
    learner: Learner,
    unseen: Unseen,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    let (name, learner) = (request.name.to_owned(), request.learner()?);
    Ok(Box::new(Utility { name, learner, unseen: Unseen::default() }))
}

impl Utility {
    /// The gain of a visit in freshness, in days.
    fn freshness_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        match self.learner.belief(page.host, page.depth, &page.learnt.state) {
            Some(belief) => belief.utility(1.0, days),
            None => {
                let estimate = self.learner.estimate(page.host, page.depth, &page.learnt.state);
                refresh_utility(estimate.rate.get(), days)
            }
        }
    }

    /// The gain of a visit in new pages, in days.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        unseen::discovery_gain(page, self.learner.prior_days(page.host, page.depth), now)
    }
}

impl Policy for Utility {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.unseen.worth_after_failure(page) {
            return Score::new(worth);
        }
        Score::new(page.weight * (self.freshness_gain(page, now) + self.discovery_gain(page, now)))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.unseen.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let estimate = self.learner.estimate(page.host, page.depth, &page.learnt.state);
        let age = page.copy_age(now);
        let probability = match self.learner.belief(page.host, page.depth, &page.learnt.state) {
            Some(belief) => belief.chance_of_change(age.days()),
            None => -(-estimate.rate.get() * age.days()).exp_m1(),
        };
        let gain = self.freshness_gain(page, now) + self.discovery_gain(page, now);
        let facts = [Fact::change_rate(estimate), Fact::change_probability(probability), Fact::gain(gain)];
        Reason::of(facts.into_iter().chain(Fact::new_links(self.discovery_gain(page, now))))
    }

    learns_by_estimator!();

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
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
