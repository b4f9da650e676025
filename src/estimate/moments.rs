//! Moment matching (Avrachenkov et al. 2020, §3.3, after Upadhyay et al.): the rate at which the expected number of visits without
//! a change is the observed number.

use super::censored::{VisitHistory, VisitRun, with_history};
use super::share::wilson;
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::time::Age;

/// The root of Σ e^(−rate t) = `unchanged` over all intervals. It is 0 if there are no more intervals than that, and `None` if
/// `unchanged` is 0, as the rate would be infinite.
///
/// The sum is convex and falls, so Newton's steps from the left of the root never overshoot.
pub(crate) fn matched(intervals: &[VisitRun], unchanged: f64) -> Option<f64> {
    let visits: f64 = intervals.iter().map(|run| f64::from(run.count)).sum();
    let longest = intervals.iter().map(|run| run.days).fold(0.0, f64::max);
    if unchanged >= visits || longest == 0.0 {
        return Some(0.0);
    }
    if unchanged <= 0.0 {
        return None;
    }
    let mut rate = -(unchanged / visits).ln() / longest;
    for _ in 0..200 {
        let (mut excess, mut slope) = (-unchanged, 0.0);
        for run in intervals {
            let quiet = f64::from(run.count) * (-rate * run.days).exp();
            excess += quiet;
            slope += run.days * quiet;
        }
        let step = excess / slope;
        if !step.is_finite() {
            break;
        }
        rate += step;
        if step.abs() <= 1e-13 * rate {
            break;
        }
    }
    Some(rate)
}

/// [`matched`] as an estimator. If every visit found a change, the rule of Grimes & Ford 2008 (§3.3) holds: one change in the
/// shortest interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    /// How many lengths of intervals are kept apart.
    pub keep: usize,
}

impl Estimator for Moments {
    fn name(&self) -> &'static str {
        "mm"
    }

    fn memory_version(&self) -> String {
        format!("mm/1 keep {}", self.keep)
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let days = state.count(interval, seen);
        // Here all lengths count, with a change or without.
        with_history(state, self.keep, |history| history.add(days, Seen::Changed));
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let Memory::History(history) = &state.memory else { return Estimate::of_nothing(0.0) };
        let (visits, changes) = (f64::from(state.visits), f64::from(state.changes));
        let rate = matched(history.changed(), visits - changes);
        let (low, high) = wilson(changes, visits + 0.5);
        let bound = |share: f64| matched(history.changed(), visits * (1.0 - share)).unwrap_or(f64::MAX);
        Estimate::new(rate.unwrap_or_else(|| once_in_the_shortest(history)), bound(low), bound(high))
    }
}

fn once_in_the_shortest(history: &VisitHistory) -> f64 {
    history.shortest_days().map_or(0.0, |days| 1.0 / days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, history_case, number};

    #[test]
    fn matched_rates_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/estimators.json"));
        let tolerance = number(&golden["tolerance"]["mle_mm_relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let visits = history_case(case);
            let runs: Vec<VisitRun> =
                visits.iter().map(|(interval, _)| VisitRun { days: interval.days(), count: 1 }).collect();
            let matched = matched(&runs, number(&case["n"]) - number(&case["X"]));
            let expected = &case["mm"]["rate"];
            match matched {
                None => assert!(expected.is_null(), "{case}"),
                Some(rate) => assert!(close(rate, number(expected), tolerance), "{rate} {case}"),
            }
            let estimator = Moments { keep: usize::MAX };
            let mut state = EstimatorState::default();
            visits.iter().for_each(|(interval, seen)| estimator.observe(&mut state, *interval, *seen));
            let estimate = estimator.as_published(&state).rate.get();
            match matched {
                None => {
                    assert!(close(estimate, number(&case["mle"]["rate"]), tolerance), "the rule for the edge")
                }
                Some(rate) => assert!(close(estimate, rate, 1e-9)),
            }
        }
    }
}
