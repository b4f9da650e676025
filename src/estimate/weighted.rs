//! NAD, SAD, AAD and GAD (Santos et al. 2013, §5.1): the share of visits that found a change, with four kinds of weights.
//!
//! All are one sum: L = Σ wᵢ Iᵢ with Σ wᵢ = 1, where Iᵢ is 1 if visit i found a change. If w is the weight of the newest of n visits,
//! L becomes (1 − w) L + w I, so one number a page is enough.
//!
//! The paper counts time in cycles and ignores the length of intervals.

use super::share::wilson;
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::time::Age;

/// The weights of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitWeights {
    /// NAD: equal weights, 1/n.
    Equal,
    /// SAD: only the last visit counts.
    Last,
    /// AAD: the i-th visit has a weight in proportion to i.
    Linear,
    /// GAD: each visit has twice the weight of the one before.
    Doubling,
}

impl VisitWeights {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Equal, Self::Last, Self::Linear, Self::Doubling];

    /// The weight of the newest of `visits`, as a share of all weights.
    pub(crate) fn of_newest(self, visits: u32) -> f64 {
        let n = f64::from(visits.max(1));
        match self {
            Self::Equal => 1.0 / n,
            Self::Last => 1.0,
            Self::Linear => 2.0 / (n + 1.0),
            // 2^(n−1) / (2^n − 1), which is ½ in floats from n = 53 on.
            Self::Doubling => 0.5 / (1.0 - (-n).exp2()),
        }
    }

    /// The weighted share of visits that found a change, if it was `share` before the newest of `visits`.
    pub fn with(self, share: f64, visits: u32, changed: bool) -> f64 {
        let newest = self.of_newest(visits);
        ((1.0 - newest) * share + newest * f64::from(u8::from(changed))).clamp(0.0, 1.0)
    }

    /// The number of equally weighted visits that would tell as much: 1 / Σ wᵢ².
    fn worth(self, visits: u32) -> f64 {
        let n = f64::from(visits);
        match self {
            Self::Equal => n,
            Self::Last => 1.0,
            Self::Linear => 3.0 * n * (n + 1.0) / (2.0 * (2.0 * n + 1.0)),
            Self::Doubling => 3.0 * (1.0 - (-n).exp2()) / (1.0 + (-n).exp2()),
        }
    }
}

/// The length of a visit: the time that changes per visit are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum VisitLength {
    /// The mean interval of the page's own visits.
    #[default]
    Mean,
    /// A cycle, as in the paper, whatever the intervals were.
    Cycle(Age),
}

impl VisitLength {
    /// The length in days; `None` for the mean of no visits.
    pub(super) fn days(self, state: &EstimatorState) -> Option<f64> {
        match self {
            Self::Mean => state.mean_days(),
            Self::Cycle(cycle) => Some(super::bounded_days(cycle)),
        }
    }
}

/// A weighted share of visits that found a change, as a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weighted {
    /// The weights of visits.
    pub weights: VisitWeights,
    /// The length of a visit.
    pub visit: VisitLength,
}

impl Weighted {
    /// L, the weighted share, in [0, 1]; 0 before the first visit.
    pub(crate) fn share(&self, state: &EstimatorState) -> f64 {
        match state.memory {
            Memory::Share(share) => share,
            _ => 0.0,
        }
    }
}

impl Estimator for Weighted {
    fn name(&self) -> &'static str {
        match self.weights {
            VisitWeights::Equal => "nad",
            VisitWeights::Last => "sad",
            VisitWeights::Linear => "aad",
            VisitWeights::Doubling => "gad",
        }
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        state.count(interval, seen);
        let share = self.weights.with(self.share(state), state.visits, seen.changed());
        state.memory = Memory::Share(share);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let (Some(days), true) = (self.visit.days(state), state.visits > 0) else {
            return Estimate::of_nothing(0.0);
        };
        let (share, worth) = (self.share(state), self.weights.worth(state.visits));
        let (low, high) = wilson(share * worth, worth);
        Estimate::new(share / days, low / days, high / days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::bias_reduced;
    use crate::estimate::tests::{close, golden, number, numbers};

    fn share(weights: VisitWeights, history: &[f64]) -> f64 {
        let estimator = Weighted { weights, visit: VisitLength::Cycle(Age::from_days(1.0)) };
        let mut state = EstimatorState::default();
        for indicator in history {
            estimator.observe(&mut state, Age::from_days(3.0), Seen::from(*indicator > 0.0));
        }
        let estimate = estimator.as_published(&state);
        assert_eq!(estimate.rate.get(), estimator.share(&state), "a cycle is a day");
        estimate.rate.get()
    }

    #[test]
    fn shares_are_weighted_as_the_paper_says() {
        let history = [1.0, 0.0, 0.0, 1.0];
        assert!(close(share(VisitWeights::Equal, &history), 0.5, 1e-12));
        assert!(close(share(VisitWeights::Last, &history), 1.0, 1e-12));
        assert!(close(share(VisitWeights::Linear, &history), 0.5, 1e-12));
        assert!(close(share(VisitWeights::Doubling, &history), 9.0 / 15.0, 1e-12));
        assert_eq!(share(VisitWeights::Equal, &[]), 0.0);
        // Long after 2^n is more than a number can hold.
        assert!(close(share(VisitWeights::Doubling, &[1.0; 3000]), 1.0, 1e-12));
    }

    #[test]
    fn scores_and_picks_are_those_of_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/policies_topk.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let histories: Vec<Vec<f64>> =
                case["histories"].as_array().expect("histories").iter().map(numbers).collect();
            let ages = numbers(&case["t"]);
            let check = |name: &str, scores: Vec<f64>| {
                let expected = numbers(&case["policies"][name]["scores"]);
                assert_eq!(scores.len(), expected.len());
                for (score, expected) in scores.iter().zip(&expected) {
                    assert!(
                        close(*score, *expected, tolerance) || (score - expected).abs() < 1e-15,
                        "{name}"
                    );
                }
                let mut order: Vec<usize> = (0..scores.len()).collect();
                order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
                let picks: Vec<f64> =
                    order.iter().take(number(&case["k"]) as usize).map(|at| *at as f64).collect();
                assert_eq!(picks, numbers(&case["policies"][name]["top"]), "{name}");
            };
            for (name, weights) in ["NAD", "SAD", "AAD", "GAD"].into_iter().zip(VisitWeights::ALL) {
                let pairs = histories.iter().zip(&ages);
                check(name, pairs.map(|(history, age)| -(-share(weights, history) * age).exp_m1()).collect());
            }
            let changes = |history: &Vec<f64>| history.iter().sum::<f64>();
            check(
                "CG",
                histories
                    .iter()
                    .map(|history| bias_reduced::ratio(history.len() as f64, changes(history)))
                    .collect(),
            );
        }
    }
}
