//! The rule of Apache Nutch (AdaptiveFetchSchedule), with the values it ships.

use super::interval_rule::{self, Bounds};
use super::{PageState, Policy, Reason, Score};
use crate::estimate::{EstimatorState, Seen};
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// A change takes a fifth off the interval, no change adds two fifths (nutch-default.xml; the fall-backs in its code
/// differ). The interval is never shorter than the time since a change was last seen, and three tenths of that time are
/// taken off the wait for the next visit (sync_delta).
///
/// Its two maxima disagree: intervals grow to 365 days, but a due time more than 90 days ahead is pulled to now, so that a
/// page that stops changing ends up being visited every day. Here both are 365 days.
#[derive(Clone, Copy, Debug)]
pub struct Nutch {
    bounds: Bounds,
}

const SHIPPED: Bounds = Bounds { first: 30.0, least: 60.0 / 86_400.0, most: 365.0 };
const SHORTEN: f64 = 0.2;
const STRETCH: f64 = 0.4;
const SYNC_SHARE: f64 = 0.3;

impl Nutch {
    /// With days of this length.
    pub fn new(day: Age) -> Self {
        Self { bounds: SHIPPED.scaled(day) }
    }

    /// The wait for the next visit: the interval, less a share of the time since a change was seen.
    fn wait(&self, state: &EstimatorState) -> f64 {
        let (interval, since_change) = self.bounds.memory(state);
        let early = SYNC_SHARE * since_change;
        let early = if early > self.bounds.most { 0.0 } else { early };
        (interval - early).max(self.bounds.least)
    }
}

impl Policy for Nutch {
    fn name(&self) -> &str {
        "nutch"
    }

    fn memory_kind(&self) -> String {
        format!("nutch {:?}", self.bounds)
    }

    fn learn(&self, _host: HostId, _depth: Depth, state: &mut EstimatorState, interval: Age, seen: Seen) {
        self.bounds.learn(state, interval, seen, |days, changed, since_change| {
            let next = days * if changed { 1.0 - SHORTEN } else { 1.0 + STRETCH };
            // A change seen now is the last one seen.
            next.max(if changed { 0.0 } else { since_change })
        });
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        interval_rule::score(page, now, self.wait(&page.learnt.state))
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        interval_rule::reason(self.wait(&page.learnt.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::interval_rule::tests::{intervals, settles_at};

    #[test]
    fn intervals_go_as_the_rule_says() {
        let nutch = Nutch::new(Age::from_days(1.0));
        let memory = |state: &EstimatorState| nutch.bounds.memory(state).0;
        // 30 → 24 → 33.6 (no change for 24 days) → 47.04.
        let found = intervals(&nutch, &[(30.0, true), (24.0, false), (9.6, false)], memory);
        assert_eq!(found.map(|days| (days * 1000.0).round() / 1000.0), [24.0, 33.6, 47.04]);
        // The interval is never shorter than the time without a change: 100 days.
        let found = intervals(&nutch, &[(60.0, false), (40.0, false), (1.0, true)], memory);
        assert_eq!(found.map(f64::round), [60.0, 100.0, 80.0]);
    }

    #[test]
    fn it_settles_where_six_visits_in_ten_find_a_change() {
        let share = settles_at(&Nutch::new(Age::from_days(1.0)), 0.2);
        assert!((0.55..0.72).contains(&share), "{share}");
    }
}
