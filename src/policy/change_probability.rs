//! The chance that a page has changed since it was last seen: 1 − e^(−rate · age), by any estimator.

use super::{PageState, Policy, Reason, Score, Survey};
use crate::estimate::learner::Learner;
use crate::time::Timestamp;

/// NAD, SAD, AAD and GAD of Santos et al. (2013, §5.1) with the estimators of these names, time being counted in cycles.
/// With `gamma` the rate is uncertain, and the chance is 1 − (b/(b + t))^a. As published: an estimator that says 0 makes
/// a page's score 0 for ever.
#[derive(Debug)]
pub struct ChangeProbability {
    pub name: String,
    pub learner: Learner,
}

impl ChangeProbability {
    fn chance(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        match self.learner.belief(page.host, page.depth, &page.learnt.state) {
            Some(belief) => belief.chance_of_change(days),
            None => -(-self.learner.as_published(page.host, page.depth, &page.learnt.state).rate.get()
                * days)
                .exp_m1(),
        }
    }
}

impl Policy for ChangeProbability {
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
        self.learner.count_in(survey.cycle_length);
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(self.chance(page, now))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let (estimate, chance) =
            (self.learner.as_published(page.host, page.depth, &page.learnt.state), self.chance(page, now));
        Reason { estimate: Some(estimate), chance: Some(chance), ..Reason::default() }
    }
}
