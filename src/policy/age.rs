//! Round robin: the page that was left alone longest comes first. `every` is the same order, and no page waits for a later
//! cycle: without a budget each page is visited in each cycle, also one that is gone or fails.

use super::registry::{Made, PolicyRequest};
use super::{PageState, Policy, Score};
use crate::time::Timestamp;

/// Age (Santos et al. 2013, §5.1): time since the last visit. It learns nothing, and is hard to beat where little can be
/// learnt.
#[derive(Clone, Debug)]
struct ByAge {
    name: String,
}

/// The name of the policy that visits all pages in each cycle.
const EVERY: &str = "every";

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(ByAge { name: request.name.to_owned() }))
}

impl Policy for ByAge {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.age(now).seconds())
    }

    fn visits_all(&self) -> bool {
        self.name == EVERY
    }
}
