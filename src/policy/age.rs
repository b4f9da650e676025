//! Round robin: the page that was left alone longest comes first. `every` is the same order without a budget: all pages, each
//! cycle.

use super::registry::{Made, PolicyRequest};
use super::{PageState, Policy, Score};
use crate::time::Timestamp;

/// Age (Santos et al. 2013, §5.1): time since the last visit. It learns nothing, and is hard to beat where little can be
/// learnt.
#[derive(Clone, Debug)]
struct ByAge {
    name: String,
}

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
}
