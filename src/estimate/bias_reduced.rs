//! CG: the estimator of Cho & Garcia-Molina 2003, which is less biased than the share of visits that found a change.

use super::share::wilson;
use super::weighted::VisitLength;
use super::{Estimate, Estimator, EstimatorState, Seen};
use crate::time::Age;

/// −ln((n − X + ½) / (n + ½)): expected changes a visit, if `changes` of `visits` at equal intervals found a change.
///
/// Grimes & Ford 2008, §3.3, eq. 1 (whose left side is printed upside down), and Santos et al. 2013, eq. 1.
/// It is finite for any count, as if half a visit more had found nothing.
pub(crate) fn ratio(visits: f64, changes: f64) -> f64 {
    ((visits + 0.5) / (visits - changes.min(visits) + 0.5)).ln()
}

/// [`ratio`] over the length of a visit. If intervals differ, their mean is only a rough substitute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BiasReduced {
    /// The length of a visit.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, history_case, number};

    #[test]
    fn ratios_and_rates_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/estimators.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        let estimator = BiasReduced::default();
        for case in golden["cases"].as_array().expect("cases") {
            let found = ratio(number(&case["n"]), number(&case["X"]));
            assert!(close(found, number(&case["cg_ratio"]), tolerance), "{case}");
            let mut state = EstimatorState::default();
            for (interval, seen) in history_case(case) {
                estimator.observe(&mut state, interval, seen);
            }
            let rate = estimator.as_published(&state).rate.get();
            assert!(close(rate, number(&case["cg_rate"]), tolerance), "{case}");
        }
        // Never and always: nothing, and ln(2n + 1).
        assert_eq!((ratio(0.0, 0.0), ratio(7.0, 0.0)), (0.0, 0.0));
        assert!(close(ratio(7.0, 7.0), 15_f64.ln(), 1e-12));
    }
}
