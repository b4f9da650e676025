//! Rand: any page as well as any other, drawn anew each cycle.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{PageState, Policy, Reason, Score, Survey};
use crate::page::PageId;
use crate::time::Timestamp;

/// Rand (Santos et al. 2013, §5.1). The same cycle of the same pages is drawn alike, so that a run can be repeated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random {
    cycle: u64,
}

/// A number in (0, 1] that a page has for this `seed`, as good as drawn.
pub fn draw(page: PageId, seed: u64) -> f64 {
    let bits = xxh3_64_with_seed(&page.0.to_le_bytes(), seed) >> 11;
    (bits as f64 + 1.0) / (1_u64 << 53) as f64
}

impl Policy for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.cycle = survey.cycle.cast_unsigned();
    }

    fn score(&self, _page: &PageState, _now: Timestamp) -> Score {
        Score::new(1.0)
    }

    fn draw(&self, page: PageId, _waits_since: Timestamp) -> Option<f64> {
        Some(draw(page, self.cycle))
    }

    fn reason(&self, _page: &PageState, _now: Timestamp) -> Reason {
        Reason { drawn: true, ..Reason::default() }
    }
}
