//! The change rate itself, by any estimator: the page that changes most often comes first, however long ago it was visited.

use super::registry::{Made, PolicyRequest};
use super::{Fact, PageState, Policy, Reason, Score, Survey, learns_by_estimator};
use crate::estimate::Estimate;
use crate::estimate::learner::Learner;
use crate::time::Timestamp;

/// CG of Santos et al. (2013, §5.1) with the estimator `cg`. The estimate is used as published: if it is 0 the score stays 0,
/// and the page is visited only when nothing else is left.
#[derive(Debug)]
struct ChangeRate {
    name: String,
    learner: Learner,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(ChangeRate { name: request.name.to_owned(), learner: request.learner()? }))
}

impl ChangeRate {
    fn estimate(&self, page: &PageState) -> Estimate {
        self.learner.as_published(page.host, page.depth, &page.learnt.state)
    }
}

impl Policy for ChangeRate {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, _now: Timestamp) -> Score {
        Score::new(self.estimate(page).rate.get())
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        Reason::of([Fact::change_rate(self.estimate(page))])
    }

    learns_by_estimator!();

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.learner.count_in(survey.cycle_length);
    }
}
