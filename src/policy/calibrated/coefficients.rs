//! Coefficients of the rate: how much each feature counts, learnt by what errors cost.
//!
//! In come features at planning and what the visits found; out comes ln of how much faster than the mean a page is expected to
//! move. A rate that is off by a factor e^η costs e^(η/2) + e^(−η/2) times the least staleness, because the best frequency goes
//! with the root of the rate. That loss is convex, so one Newton step a plan follows its minimum.
//!
//! What must stay true: coefficients are finite under any history, and none moves by more than [`MOST_STEP`] a plan.

use crate::varint::{push_float, take_float};

/// How many features there are, and the place of each in [`Features`].
pub(super) const FEATURES: usize = 7;
pub(super) const OWN: usize = 0;
pub(super) const LAG: usize = 1;
pub(super) const CLOCK: usize = 2;
pub(super) const YOUTH: usize = 3;
pub(super) const GONE: usize = 4;
pub(super) const NAME: usize = 5;
pub(super) const TOLD: usize = 6;

/// Numbers that tell a page's rate.
pub(super) type Features = [f64; FEATURES];

/// Prior of each coefficient: mean and standard deviation over groups of pages that it was learnt on before.
const PRIOR: [(f64, f64); FEATURES] =
    [(0.85, 0.40), (-0.35, 0.40), (0.75, 0.35), (0.40, 0.40), (-2.0, 1.0), (0.20, 0.30), (0.0, 0.40)];
/// Standard deviation of the intercept, whose mean is 0.
const INTERCEPT_DEVIATION: f64 = 1.0;
/// No coefficient moves further at one plan.
const MOST_STEP: f64 = 0.5;
/// ln of a ratio of rates is cut here while learning.
const MOST_LEARNT: f64 = 12.0;
/// The same where pages are scored.
const MOST_SCORED: f64 = 9.0;

/// The intercept and a coefficient for each feature.
const SIZE: usize = FEATURES + 1;

/// Coefficients, and how sure they are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Coefficients {
    /// The intercept first.
    values: [f64; SIZE],
    /// The curvature of the loss so far: the prior's precision and that of all visits.
    precision: [[f64; SIZE]; SIZE],
}

/// A visit, as coefficients are learnt by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RatedVisit {
    /// What was known of its page when it was planned.
    pub(super) features: Features,
    /// Divergence found, in typical events: d/J.
    pub(super) found: f64,
    /// Divergence expected of a mean page, in typical events: t s₀/J.
    pub(super) expected: f64,
    /// ln of the factor by which signals stretched its time; 0 without signals.
    pub(super) offset: f64,
}

impl Default for Coefficients {
    fn default() -> Self {
        let mut values = [0.0; SIZE];
        let mut precision = [[0.0; SIZE]; SIZE];
        let deviations = std::iter::once(INTERCEPT_DEVIATION).chain(PRIOR.map(|(_, deviation)| deviation));
        for (place, (row, deviation)) in precision.iter_mut().zip(deviations).enumerate() {
            if let Some(own) = row.get_mut(place) {
                *own = deviation.powi(-2);
            }
        }
        for (value, (mean, _)) in values.iter_mut().skip(1).zip(PRIOR) {
            *value = mean;
        }
        Self { values, precision }
    }
}

impl Coefficients {
    /// The coefficients of the features, without the intercept.
    pub(super) fn of_features(&self) -> Features {
        let [_, rest @ ..] = self.values;
        rest
    }

    /// ln of the expected rate of a page over the mean rate, its clock left out; the intercept is learnt, and left out too.
    pub(super) fn relative_rate(&self, features: &Features) -> f64 {
        let values = self.of_features();
        let all = values.iter().zip(features).enumerate();
        let sum: f64 =
            all.filter(|(place, _)| *place != CLOCK).map(|(_, (value, feature))| value * feature).sum();
        sum.clamp(-MOST_SCORED, MOST_SCORED)
    }

    /// The factor by which kin stretch a page's time: r^(b/2). (It is the root because utility grows with the square of time.)
    pub(super) fn clock_factor(&self, clock: f64) -> f64 {
        let [_, _, _, coefficient, ..] = self.values;
        (coefficient * clock / 2.0).clamp(-MOST_SCORED, MOST_SCORED).exp()
    }

    /// ln of the expected rate over the mean rate, with the intercept and the clock: what learning compares with the visit.
    pub(super) fn prediction(&self, features: &Features) -> f64 {
        let [intercept, rest @ ..] = self.values;
        intercept + rest.iter().zip(features).map(|(value, feature)| value * feature).sum::<f64>()
    }

    /// One Newton step on the staleness that wrong rates cost at these visits: 2 (A + B) with A = (d/J) e^(−η/2) and
    /// B = (t s₀/J) e^(η/2), in typical events.
    pub(super) fn learn(&mut self, visits: &[RatedVisit]) {
        let mut slope = [0.0; SIZE];
        for visit in visits {
            let eta = (self.prediction(&visit.features) + visit.offset).clamp(-MOST_LEARNT, MOST_LEARNT);
            let (a, b) = loss_parts(visit.found, visit.expected, eta);
            if !(a.is_finite() && b.is_finite()) {
                continue;
            }
            let mut x = [1.0; SIZE];
            x.iter_mut().skip(1).zip(visit.features).for_each(|(to, from)| *to = from);
            for ((row, slope), one) in self.precision.iter_mut().zip(&mut slope).zip(x) {
                *slope += one * (b - a);
                row.iter_mut().zip(x).for_each(|(cell, other)| *cell += one * other * (a + b) / 2.0);
            }
        }
        let Some(step) = solve(&self.precision, &slope) else { return };
        let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
        let scale = (MOST_STEP / longest.max(1e-12)).min(1.0);
        self.values.iter_mut().zip(step).for_each(|(value, part)| *value -= part * scale);
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        let all = self.values.iter().chain(self.precision.iter().flatten());
        all.for_each(|number| push_float(bytes, *number));
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut taken = Self::default();
        for number in taken.values.iter_mut().chain(taken.precision.iter_mut().flatten()) {
            *number = take_float(rest).filter(|number| number.is_finite())?;
        }
        Some(taken)
    }

    /// The intercept and the coefficients.
    #[cfg(test)]
    pub(super) fn values(&self) -> [f64; SIZE] {
        self.values
    }
}

/// The two parts of the loss of a rate that was predicted to be e^η times the mean: A falls with η, B rises.
pub(super) fn loss_parts(found: f64, expected: f64, eta: f64) -> (f64, f64) {
    (found * (-eta / 2.0).exp(), expected * (eta / 2.0).exp())
}

/// The solution of `matrix` · x = `right` by Cholesky's method; `None` if the matrix is not positive definite.
fn solve(matrix: &[[f64; SIZE]; SIZE], right: &[f64; SIZE]) -> Option<[f64; SIZE]> {
    let mut lower = [[0.0; SIZE]; SIZE];
    for row in 0..SIZE {
        for column in 0..=row {
            let products: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            let rest = matrix[row][column] - products;
            lower[row][column] = if row == column {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / lower[column][column]
            };
        }
    }
    let mut x = *right;
    for row in 0..SIZE {
        let known: f64 = (0..row).map(|k| lower[row][k] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    for row in (0..SIZE).rev() {
        let known: f64 = (row + 1..SIZE).map(|k| lower[k][row] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    x.iter().all(|part| part.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equations_are_solved() {
        let mut matrix = [[0.0; SIZE]; SIZE];
        (0..SIZE).for_each(|at| matrix[at][at] = 2.0 + at as f64);
        (matrix[0][1], matrix[1][0]) = (1.0, 1.0);
        let x = [1.0, -2.0, 3.0, 0.5, 0.0, 7.0, -1.0, 4.0];
        let right: [f64; SIZE] =
            std::array::from_fn(|row| (0..SIZE).map(|column| matrix[row][column] * x[column]).sum());
        let found = solve(&matrix, &right).unwrap();
        assert!(found.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(solve(&[[0.0; SIZE]; SIZE], &right), None);
    }

    #[test]
    fn a_feature_that_tells_nothing_loses_its_coefficient() {
        // Pages that look fast move like all others.
        let mut learnt = Coefficients::default();
        let outcome = |own| RatedVisit {
            features: [own, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            found: 1.0,
            expected: 1.0,
            offset: 0.0,
        };
        (0..400).for_each(|_| learnt.learn(&[outcome(1.0), outcome(-1.0)]));
        let own = learnt.of_features()[OWN];
        assert!(own.abs() < 0.1, "{own}");
    }

    proptest! {
        #[test]
        fn coefficients_stay_numbers(
            plans in prop::collection::vec(
                prop::collection::vec((prop::array::uniform7(-40.0..40.0_f64), 0.0..1e6_f64, 0.0..1e9_f64), 0..8), 0..30)
        ) {
            let mut learnt = Coefficients::default();
            for plan in plans {
                let before = learnt.values();
                let visits: Vec<RatedVisit> = plan
                    .into_iter()
                    .map(|(features, found, expected)| RatedVisit { features, found, expected, offset: 0.0 })
                    .collect();
                learnt.learn(&visits);
                for (now, then) in learnt.values().iter().zip(before) {
                    prop_assert!(now.is_finite() && (now - then).abs() <= MOST_STEP + 1e-9);
                }
                let mut bytes = Vec::new();
                learnt.push_bytes(&mut bytes);
                prop_assert_eq!(Coefficients::take_bytes(&mut &bytes[..]), Some(learnt.clone()));
            }
        }
    }
}
