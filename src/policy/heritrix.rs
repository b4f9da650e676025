//! The rule of Heritrix 1 (WaitEvaluator). Heritrix 3 revisits pages only at a fixed delay, if one is set.

use super::interval_rule::{Bounds, IntervalRule, RuleScale};
use super::registry::{Made, PolicyRequest};

const SHIPPED: Bounds = Bounds { first: 1.0, least: 1.0 / 24.0, most: 28.0 };
const FACTOR: f64 = 1.5;

/// A change divides the wait by 1.5; no change multiplies it by 1.5. It starts at a day and stays between an hour and four
/// weeks.
fn heritrix(scale: RuleScale) -> IntervalRule {
    IntervalRule { name: "heritrix", bounds: SHIPPED.scaled(scale), next, early_share: 0.0 }
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(heritrix(request.settings.rules)))
}

fn next(days: f64, changed: bool, _since_change: f64, _least: f64) -> f64 {
    if changed { days / FACTOR } else { days * FACTOR }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::interval_rule::tests::{intervals, settles_at};
    use crate::time::Age;

    #[test]
    fn intervals_go_as_the_rule_says() {
        let rule = heritrix(RuleScale::Day(Age::from_days(9.0)));
        assert_eq!(intervals(&rule, &[(9.0, true), (6.0, true), (4.0, false)]), [6.0, 4.0, 6.0]);
        let long = vec![(1.0, false); 30];
        assert_eq!(intervals::<30>(&rule, &long)[29], 28.0 * 9.0, "four weeks at the most");
    }

    #[test]
    fn it_settles_where_every_other_visit_finds_a_change() {
        let share = settles_at(&heritrix(RuleScale::Day(Age::from_days(1.0))), 0.5);
        assert!((0.42..0.58).contains(&share), "{share}");
    }
}
