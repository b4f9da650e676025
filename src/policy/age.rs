//! Round robin: the page left alone longest first. `every` is the same order without a budget: all of them, each cycle.

use super::{PageState, Policy, Score};
use crate::time::Timestamp;

/// Age (Santos et al. 2013, §5.1): time since the last visit. It learns nothing, and is hard to beat where little can
/// be learnt.
#[derive(Clone, Copy, Debug)]
pub struct ByAge {
    pub name: &'static str,
}

impl Policy for ByAge {
    fn name(&self) -> &str {
        self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.age(now).seconds())
    }
}
