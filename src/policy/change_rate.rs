//! The change rate itself, by any estimator: the busiest page first, however long ago it was visited.

use super::{PageState, Policy, Reason, Score, Survey};
use crate::estimate::learner::Learner;
use crate::time::Timestamp;

/// CG of Santos et al. (2013, §5.1) with the estimator `cg`. As published: an estimator that says 0 makes a page's score
/// 0 for ever, and the page is visited only when nothing else is left.
#[derive(Debug)]
pub struct ChangeRate {
    pub name: String,
    pub learner: Learner,
}

impl Policy for ChangeRate {
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

    fn score(&self, page: &PageState, _now: Timestamp) -> Score {
        Score::new(self.learner.as_published(page.host, page.depth, &page.learnt.state).rate.get())
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        Reason {
            estimate: Some(self.learner.as_published(page.host, page.depth, &page.learnt.state)),
            ..Reason::default()
        }
    }
}
