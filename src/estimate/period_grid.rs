//! The posterior distribution of a page's period, on a grid of periods (Grimes & Ford 2008, §4.3).

use super::censored::{VisitHistory, with_history};
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::time::Age;

/// Periods, each with the share of pages that have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeriodGrid {
    days: Vec<f64>,
    log_masses: Vec<f64>,
}

/// The distribution after some visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Posterior {
    /// The mean of changes a day; not one over the mean period.
    pub mean_rate: f64,
    /// The mean period, in days.
    pub mean_period_days: f64,
    /// The most probable period; the shortest if there are several.
    pub likeliest_period_days: f64,
    /// ln P(history) under the prior.
    pub log_evidence: f64,
    /// Bounds that contain the page's rate 19 times out of 20.
    pub bounds: (f64, f64),
}

impl PeriodGrid {
    /// A grid of periods, shortest first, with masses that need not add up to 1. `None` if no period has a mass, or a number is not
    /// usable.
    #[cfg(test)]
    pub(crate) fn new(days: Vec<f64>, masses: &[f64]) -> Option<Self> {
        let total: f64 = masses.iter().sum();
        let usable = days.len() == masses.len()
            && days.iter().all(|days| days.is_finite() && *days > 0.0)
            && days.is_sorted()
            && masses.iter().all(|mass| *mass >= 0.0)
            && total > 0.0
            && total.is_finite();
        usable.then(|| {
            let log_masses = masses.iter().map(|mass| (mass / total).ln()).collect();
            Self { days, log_masses }
        })
    }

    /// A grid with the same mass for every order of magnitude, from an hour (the paper's step) to thirty years, with 20 periods to a
    /// factor of ten.
    pub(crate) fn log_uniform() -> Self {
        const TO_A_DECADE: i32 = 20;
        // 10^(−28/20) days are 57 minutes.
        let steps = -28..=4 * TO_A_DECADE;
        let days: Vec<f64> =
            steps.map(|step| 10_f64.powf(f64::from(step) / f64::from(TO_A_DECADE))).collect();
        let log_mass = -(days.len() as f64).ln();
        Self { log_masses: vec![log_mass; days.len()], days }
    }

    /// Bayes' rule on the grid, in logarithms, because probabilities may be smaller than a float can be.
    pub(crate) fn posterior(&self, history: &VisitHistory) -> Posterior {
        let logs: Vec<f64> = self
            .days
            .iter()
            .zip(&self.log_masses)
            .map(|(days, log_mass)| log_mass + history.log_likelihood(1.0 / days))
            .collect();
        let top = logs.iter().copied().fold(f64::MIN, f64::max);
        let masses: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = masses.iter().sum();
        let mean = |of: fn(f64) -> f64| {
            self.days.iter().zip(&masses).map(|(days, mass)| of(*days) * mass).sum::<f64>() / total
        };
        let likeliest = logs.iter().position(|log| *log == top).and_then(|at| self.days.get(at));
        // The longest periods are the lowest rates.
        let quantile = |share: f64| {
            let mut below = 0.0;
            let reached = self.days.iter().zip(&masses).rev().find(|(_, mass)| {
                below += **mass;
                below >= share * total
            });
            reached.map_or(0.0, |(days, _)| 1.0 / days)
        };
        Posterior {
            mean_rate: mean(|days| 1.0 / days),
            mean_period_days: mean(|days| days),
            likeliest_period_days: likeliest.copied().unwrap_or(0.0),
            log_evidence: top + total.ln(),
            bounds: (quantile(0.025), quantile(0.975)),
        }
    }
}

/// The mean rate of [`PeriodGrid::posterior`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridPosterior {
    /// The prior.
    pub grid: PeriodGrid,
    /// How many lengths of intervals are kept apart.
    pub keep: usize,
}

impl Estimator for GridPosterior {
    fn name(&self) -> &'static str {
        "posterior"
    }

    fn memory_version(&self) -> String {
        format!("posterior/1 keep {}", self.keep)
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let days = state.count(interval, seen);
        with_history(state, self.keep, |history| history.add(days, seen));
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let posterior = match &state.memory {
            Memory::History(history) => self.grid.posterior(history),
            _ => self.grid.posterior(&VisitHistory::keeping(2)),
        };
        Estimate::new(posterior.mean_rate, posterior.bounds.0, posterior.bounds.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, history_case, number, numbers};

    #[test]
    fn posteriors_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/grid_posterior.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 32);
        for case in cases {
            let masses = numbers(&golden["priors"][case["prior"].as_str().expect("a name")]);
            // The unit is an hour there; here it is called a day.
            let periods = (1..=masses.len()).map(|period| period as f64).collect();
            let grid = PeriodGrid::new(periods, &masses).expect("a prior");
            let posterior = grid.posterior(&VisitHistory::of(history_case(case)));
            let same = |value: f64, name: &str| {
                let expected = number(&case[name]);
                assert!(
                    close(value, expected, tolerance) || (value - expected).abs() < 1e-12,
                    "{name} of {case}"
                );
            };
            same(posterior.mean_rate, "post_mean_rate");
            same(posterior.mean_period_days, "post_mean_period");
            same(posterior.log_evidence, "log_evidence");
            assert_eq!(posterior.likeliest_period_days, number(&case["map_period"]), "{case}");
            assert!(posterior.bounds.0 <= posterior.bounds.1);
        }
    }

    #[test]
    fn a_grid_needs_masses() {
        assert_eq!(PeriodGrid::new(vec![1.0], &[0.0]), None);
        assert_eq!(PeriodGrid::new(vec![1.0], &[f64::NAN]), None);
        assert_eq!(PeriodGrid::new(vec![2.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(PeriodGrid::new(vec![1.0, 2.0], &[1.0]), None);
    }
}
