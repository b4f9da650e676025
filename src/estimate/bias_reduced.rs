//! CG: the estimator of Cho & Garcia-Molina 2003, with less bias than the share of visits that found a
//! change.

use super::share::wilson;
use super::weighted::VisitLength;
use super::{Estimate, Estimator, EstimatorState, Seen};
use crate::time::Age;

/// −ln((n − X + ½) / (n + ½)): expected changes a visit, of which `visits` of equal length found `changes`.
///
/// Grimes & Ford 2008, §3.2, eq. 1 (whose left side is printed upside down), and Santos et al. 2013, eq. 1.
/// Finite for any count: it is as if half a visit more had found nothing.
pub fn ratio(visits: f64, changes: f64) -> f64 {
    ((visits + 0.5) / (visits - changes.min(visits) + 0.5)).ln()
}

/// [`ratio`] over the length of a visit. If the intervals are not alike, their mean is only a rough stand-in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BiasReduced {
    pub visit: VisitLength,
}

impl Estimator for BiasReduced {
    fn name(&self) -> &'static str {
        "cg"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        state.count(interval, seen);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let (Some(days), true) = (self.visit.days(state), state.visits > 0) else {
            return Estimate::of_nothing(0.0);
        };
        let (visits, changes) = (f64::from(state.visits), f64::from(state.changes));
        // The ratio is −ln(1 − q) of q = X / (n + ½), so its bounds are those of q.
        let (low, high) = wilson(changes, visits + 0.5);
        let rate = |share: f64| -(-share).ln_1p() / days;
        Estimate::new(ratio(visits, changes) / days, rate(low), rate(high))
    }
}
