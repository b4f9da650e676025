//! New pages first, in order of depth; then the page visited longest ago.

use super::{PageState, Policy, Score};
use crate::time::Timestamp;

/// Learns nothing: discovers breadth first, then goes round.
#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

/// Above any age in seconds (it is 30,000 years), and small enough that a depth still counts below it.
const NEW: f64 = 1e12;

impl Policy for BreadthFirst {
    fn name(&self) -> &'static str {
        "breadth-first"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        match page.last_visit {
            None => Score::new(NEW * 2.0 - f64::from(page.depth)),
            Some(_) => Score::new(page.age(now).seconds().min(NEW)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(depth: u32, last_visit: Option<i64>) -> PageState {
        PageState {
            depth,
            weight: 1.0,
            found_at: Timestamp::from_seconds(0),
            last_visit: last_visit.map(Timestamp::from_seconds),
        }
    }

    #[test]
    fn new_pages_come_first_by_depth_then_the_one_visited_longest_ago() {
        let now = Timestamp::from_seconds(1_000_000);
        let order =
            [page(0, None), page(1, None), page(u32::MAX, None), page(0, Some(10)), page(0, Some(999_999))];
        let scores: Vec<f64> = order.iter().map(|page| BreadthFirst.score(page, now).value()).collect();
        assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    }
}
