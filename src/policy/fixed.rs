//! The same interval for every page: what most monitors do.

use super::interval_rule;
use super::{PageState, Policy, Reason, Score};
use crate::time::{Age, Timestamp};

/// Due after a fixed time; the one that is due longest comes first.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    pub interval: Age,
}

impl Policy for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        interval_rule::score(page, now, self.interval.days())
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn reason(&self, _page: &PageState, _now: Timestamp) -> Reason {
        interval_rule::reason(self.interval.days())
    }
}
