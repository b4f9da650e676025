//! The same interval for every page: the rule of most monitors.

use super::interval_rule::{Bounds, IntervalRule};
use super::registry::{Made, PolicyRequest};

/// A page is due after a fixed time. The page that has been due longest comes first.
pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    let days = request.settings.interval.days();
    let bounds = Bounds { first: days, least: days, most: days };
    Ok(Box::new(IntervalRule { name: "fixed", bounds, next: |days, _, _, _| days, early_share: 0.0 }))
}
