//! The rule of Heritrix 1 (WaitEvaluator). Heritrix 3 visits nothing again unless it is told a fixed delay.

use super::interval_rule::{self, Bounds};
use super::{PageState, Policy, Reason, Score};
use crate::estimate::{EstimatorState, Seen};
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// A change divides the wait by 1.5, no change multiplies it by as much; from an hour to four weeks, at first a day.
#[derive(Clone, Copy, Debug)]
pub struct Heritrix {
    bounds: Bounds,
}

const SHIPPED: Bounds = Bounds { first: 1.0, least: 1.0 / 24.0, most: 28.0 };
const FACTOR: f64 = 1.5;

impl Heritrix {
    /// With days of this length.
    pub fn new(day: Age) -> Self {
        Self { bounds: SHIPPED.scaled(day) }
    }
}

impl Policy for Heritrix {
    fn name(&self) -> &str {
        "heritrix"
    }

    fn memory_kind(&self) -> String {
        format!("heritrix {:?}", self.bounds)
    }

    fn learn(&self, _host: HostId, _depth: Depth, state: &mut EstimatorState, interval: Age, seen: Seen) {
        self.bounds.learn(
            state,
            interval,
            seen,
            |days, changed, _| {
                if changed { days / FACTOR } else { days * FACTOR }
            },
        );
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
        let rule = Heritrix::new(Age::from_days(9.0));
        let found =
            intervals(&rule, &[(9.0, true), (6.0, true), (4.0, false)], |state| rule.bounds.memory(state).0);
        assert_eq!(found, [6.0, 4.0, 6.0]);
        let long = vec![(1.0, false); 30];
        let last = intervals::<30>(&rule, &long, |state| rule.bounds.memory(state).0)[29];
        assert_eq!(last, 28.0 * 9.0, "four weeks at the most");
    }

    #[test]
    fn it_settles_where_every_other_visit_finds_a_change() {
        let share = settles_at(&Heritrix::new(Age::from_days(1.0)), 0.5);
        assert!((0.42..0.58).contains(&share), "{share}");
    }
}
