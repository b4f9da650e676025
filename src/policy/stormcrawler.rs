//! The rule of Apache StormCrawler (AdaptiveScheduler), with the values it ships.

use super::interval_rule::{self, Bounds};
use super::{PageState, Policy, Reason, Score};
use crate::estimate::{EstimatorState, Seen};
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// A change brings the interval half-way to an hour, no change makes it half as long again, up to a fortnight.
///
/// The original counts whole minutes, and forgets all it knew at the first error: neither is done here, where an error
/// is no visit.
#[derive(Clone, Copy, Debug)]
pub struct StormCrawler {
    bounds: Bounds,
}

const SHIPPED: Bounds = Bounds { first: 1.0, least: 1.0 / 24.0, most: 14.0 };

impl StormCrawler {
    /// With days of this length.
    pub fn new(day: Age) -> Self {
        Self { bounds: SHIPPED.scaled(day) }
    }
}

impl Policy for StormCrawler {
    fn name(&self) -> &str {
        "stormcrawler"
    }

    fn memory_kind(&self) -> String {
        format!("stormcrawler {:?}", self.bounds)
    }

    fn learn(&self, _host: HostId, _depth: Depth, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let least = self.bounds.least;
        self.bounds.learn(state, interval, seen, |days, changed, _| {
            if changed { f64::midpoint(days, least) } else { days * 1.5 }
        });
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        interval_rule::score(page, now, self.bounds.memory(&page.learnt.state).0)
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        interval_rule::reason(self.bounds.memory(&page.learnt.state).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::interval_rule::tests::{intervals, settles_at};

    #[test]
    fn intervals_go_as_the_rule_says() {
        let rule = StormCrawler::new(Age::from_days(24.0));
        // A day of 24: 24 → (24 + 1)/2 → 18.75 → 28.125
        let found = intervals(&rule, &[(24.0, true), (12.0, false), (18.0, false)], |state| {
            rule.bounds.memory(state).0
        });
        assert_eq!(found, [12.5, 18.75, 28.125]);
    }

    #[test]
    fn it_settles_where_four_visits_in_ten_find_a_change() {
        let share = settles_at(&StormCrawler::new(Age::from_days(1.0)), 0.5);
        assert!((0.3..0.5).contains(&share), "{share}");
    }
}
