//! The probability that a page has changed since it was last seen: 1 − e^(−rate · age), by any estimator.

use super::registry::{Made, PolicyRequest};
use super::{Fact, PageState, Policy, Reason, Score, Survey, learns_by_estimator};
use crate::estimate::Estimate;
use crate::estimate::learner::Learner;
use crate::time::Timestamp;

/// NAD, SAD, AAD and GAD of Santos et al. (2013, §5.1) with the estimators of these names; they count time in cycles. With
/// `gamma` the rate is uncertain, and the probability is 1 − (b/(b + t))^a. The estimate is used as published: if it is 0 the
/// score stays 0.
#[derive(Debug)]
struct ChangeProbability {
    name: String,
    learner: Learner,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(ChangeProbability { name: request.name.to_owned(), learner: request.learner()? }))
}

impl ChangeProbability {
    fn estimate(&self, page: &PageState) -> Estimate {
        self.learner.as_published(page.host, page.depth, &page.learnt.state)
    }

    fn probability(&self, page: &PageState, now: Timestamp) -> f64 {
        self.learner.chance_of_change(page.host, page.depth, &page.learnt.state, page.copy_age(now))
    }
}

impl Policy for ChangeProbability {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(self.probability(page, now))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let probability = self.probability(page, now);
        Reason::of([Fact::change_rate(self.estimate(page)), Fact::change_probability(probability)])
    }

    learns_by_estimator!();

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.learner.count_in(survey.cycle_length);
    }
}
