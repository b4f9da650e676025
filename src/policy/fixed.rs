//! The same interval for every page: what most monitors do.

use super::interval_rule::{Bounds, IntervalRule};
use crate::time::Age;

/// Due after a fixed time; the one that is due longest comes first.
pub fn fixed(interval: Age) -> IntervalRule {
    let days = interval.days();
    let bounds = Bounds { first: days, least: days, most: days };
    IntervalRule { name: "fixed", bounds, next: |days, _, _, _| days, early_share: 0.0 }
}
