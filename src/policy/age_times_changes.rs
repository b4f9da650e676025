//! t·X: time since the last visit times changes seen.

use super::registry::{Made, PolicyRequest};
use super::{PageState, Policy, Score};
use crate::time::Timestamp;

/// A simple formula that genetic programming found, the example of Santos et al. (2013, §5.3). A page that never changed
/// keeps a score of 0, and is visited only when nothing else is left.
#[derive(Clone, Copy, Debug)]
struct AgeTimesChanges;

pub(super) fn make(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(AgeTimesChanges))
}

impl Policy for AgeTimesChanges {
    fn name(&self) -> &str {
        "t*x"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.age(now).days() * f64::from(page.learnt.state.changes))
    }
}
