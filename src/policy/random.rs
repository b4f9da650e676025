//! Rand: every page has the same chance, drawn again each cycle.

use super::registry::{Made, PolicyRequest};
use super::{Draw, Fact, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::time::Timestamp;

/// Rand (Santos et al. 2013, §5.1). The same cycle of the same pages draws the same numbers, so that a run can be repeated.
#[derive(Clone, Copy, Debug, Default)]
struct Random {
    cycle: u64,
}

pub(super) fn make(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(Random::default()))
}

impl Policy for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn score(&self, _page: &PageState, _now: Timestamp) -> Score {
        Score::new(1.0)
    }

    fn reason(&self, _page: &PageState, _now: Timestamp) -> Reason {
        Reason::of([Fact::drawn()])
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.cycle = survey.cycle.cast_unsigned();
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { draw: Some(Draw::EachCycle(self.cycle)), ..LooksAt::default() }
    }
}
