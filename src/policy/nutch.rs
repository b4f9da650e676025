//! The rule of Apache Nutch (AdaptiveFetchSchedule), with the values it ships.

use super::interval_rule::{Bounds, IntervalRule, RuleScale};
use super::registry::{Made, PolicyRequest};

const SHIPPED: Bounds = Bounds { first: 30.0, least: 60.0 / 86_400.0, most: 365.0 };

/// A change shortens the interval by a fifth; no change lengthens it by two fifths (nutch-default.xml; the fall-back values in
/// its code differ). The interval is never shorter than the time since the last change that was seen. The next visit comes
/// earlier than the interval by three tenths of that time (sync_delta).
///
/// Nutch has two maxima that disagree: intervals grow to 365 days, but a due time more than 90 days ahead is set to now, so
/// that a page that stops changing ends up being visited every day. Here both are 365 days.
fn nutch(scale: RuleScale) -> IntervalRule {
    IntervalRule { name: "nutch", bounds: SHIPPED.scaled(scale), next, early_share: 0.3 }
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(nutch(request.settings.rules)))
}

fn next(days: f64, changed: bool, since_change: f64, _least: f64) -> f64 {
    // A change seen now is the last one seen.
    if changed { days * 0.8 } else { (days * 1.4).max(since_change) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::interval_rule::tests::{intervals, settles_at};
    use crate::time::Age;

    #[test]
    fn intervals_go_as_the_rule_says() {
        let rule = nutch(RuleScale::Day(Age::from_days(1.0)));
        // 30 → 24 → 33.6 (no change for 24 days) → 47.04.
        let found = intervals(&rule, &[(30.0, true), (24.0, false), (9.6, false)]);
        assert_eq!(found.map(|days| (days * 1000.0).round() / 1000.0), [24.0, 33.6, 47.04]);
        // The interval is never shorter than the time without a change: 100 days.
        let found = intervals(&rule, &[(60.0, false), (40.0, false), (1.0, true)]);
        assert_eq!(found.map(f64::round), [60.0, 100.0, 80.0]);
    }

    #[test]
    fn it_settles_where_six_visits_in_ten_find_a_change() {
        let share = settles_at(&nutch(RuleScale::Day(Age::from_days(1.0))), 0.2);
        assert!((0.55..0.72).contains(&share), "{share}");
    }
}
