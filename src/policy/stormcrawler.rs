//! The rule of Apache StormCrawler (AdaptiveScheduler), with the values it ships.

use super::interval_rule::{Bounds, IntervalRule, RuleScale};
use super::registry::{Made, PolicyRequest};

const SHIPPED: Bounds = Bounds { first: 1.0, least: 1.0 / 24.0, most: 14.0 };

/// A change sets the interval half-way to one hour; no change makes it half as long again, up to a fortnight.
///
/// The original counts in whole minutes, and forgets a page's interval at the first error. Neither is done here: a visit that
/// failed changes nothing.
fn stormcrawler(scale: RuleScale) -> IntervalRule {
    IntervalRule { name: "stormcrawler", bounds: SHIPPED.scaled(scale), next, early_share: 0.0 }
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(stormcrawler(request.settings.rules)))
}

fn next(days: f64, changed: bool, _since_change: f64, least: f64) -> f64 {
    if changed { f64::midpoint(days, least) } else { days * 1.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::interval_rule::tests::{intervals, settles_at};
    use crate::time::Age;

    #[test]
    fn intervals_go_as_the_rule_says() {
        // A day of 24: 24 → (24 + 1)/2 → 18.75 → 28.125
        let rule = stormcrawler(RuleScale::Day(Age::from_days(24.0)));
        let found = intervals(&rule, &[(24.0, true), (12.0, false), (18.0, false)]);
        assert_eq!(found, [12.5, 18.75, 28.125]);
    }

    #[test]
    fn it_settles_where_four_visits_in_ten_find_a_change() {
        let share = settles_at(&stormcrawler(RuleScale::Day(Age::from_days(1.0))), 0.5);
        assert!((0.3..0.5).contains(&share), "{share}");
    }
}
