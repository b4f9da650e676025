//! The posterior distribution of a page's period, on a grid of periods (Grimes & Ford 2008, §4.3).
//!
//! The prior is empirical as in the paper: the distribution of the periods of a collection's own pages ([`PeriodGrid::fit`]).
//! Before there is one, every order of magnitude has the same mass.

use super::censored::{VisitHistory, with_history};
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::time::Age;

/// Periods, each with the share of pages that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodGrid {
    days: Vec<f64>,
    log_masses: Vec<f64>,
}

/// The most pages that a fit takes, evenly from the shortest to the longest period.
const PAGES_OF_A_FIT: usize = 2000;
/// Rounds of a fit. More rounds follow the chance of the sample: the distribution falls apart into spikes.
const ROUNDS_OF_A_FIT: usize = 12;
/// The share of the mass that is the same for all periods.
const SPREAD_EVENLY: f64 = 0.01;

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

    /// The distribution of the periods of these pages, on the grid of [`Self::log_uniform`]; `None` if no page changed.
    ///
    /// The paper counts the estimated periods of pages with 25 changes or more. A crawl has pages with few visits, for which one
    /// estimate says little: a page without a change may have any long period. So each page counts with its whole posterior, and
    /// the mean of all posteriors is the next prior, some times over (expectation maximisation). With many visits a page this is
    /// the histogram of the paper. A hundredth of the mass stays spread evenly, so that no period is impossible.
    pub(crate) fn fit(histories: &[VisitHistory]) -> Option<Self> {
        if histories.iter().all(VisitHistory::is_quiet) {
            return None;
        }
        let even = Self::log_uniform();
        // In order of their periods, so that neither the choice nor the rounding of sums depends on the order of the pages.
        let mut pages: Vec<(f64, &VisitHistory)> =
            histories.iter().map(|history| (history.most_likely(), history)).collect();
        pages.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.quiet_days.total_cmp(&b.1.quiet_days)));
        let every = pages.len().div_ceil(PAGES_OF_A_FIT).max(1);
        let likelihoods: Vec<Vec<f64>> =
            pages.iter().step_by(every).map(|(_, history)| even.likelihoods(history)).collect();
        let share = 1.0 / even.days.len() as f64;
        let mut masses = vec![share; even.days.len()];
        for _ in 0..ROUNDS_OF_A_FIT {
            let mut next = vec![0.0; masses.len()];
            for page in &likelihoods {
                let total: f64 = page.iter().zip(&masses).map(|(likelihood, mass)| likelihood * mass).sum();
                for ((to, likelihood), mass) in next.iter_mut().zip(page).zip(&masses) {
                    *to += likelihood * mass / total / likelihoods.len() as f64;
                }
            }
            masses = next;
        }
        let masses: Vec<f64> =
            masses.iter().map(|mass| SPREAD_EVENLY * share + (1.0 - SPREAD_EVENLY) * mass).collect();
        Self::new(even.days, &masses)
    }

    /// Each period in days, shortest first, with its mass.
    pub(crate) fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.days.iter().zip(&self.log_masses).map(|(days, log_mass)| [*days, log_mass.exp()])
    }

    /// The probability of a history for each period, divided by the highest of them.
    pub(crate) fn likelihoods(&self, history: &VisitHistory) -> Vec<f64> {
        let logs: Vec<f64> = self.days.iter().map(|days| history.log_likelihood(1.0 / days)).collect();
        let top = logs.iter().copied().fold(f64::MIN, f64::max);
        logs.iter().map(|log| (log - top).exp()).collect()
    }

    /// The distribution after a history: a mass for each period, together 1.
    pub(crate) fn masses_after(&self, history: &VisitHistory) -> Vec<f64> {
        let likelihoods = self.likelihoods(history);
        let masses: Vec<f64> =
            likelihoods.iter().zip(&self.log_masses).map(|(likely, log)| likely * log.exp()).collect();
        let total: f64 = masses.iter().sum();
        masses.iter().map(|mass| mass / total).collect()
    }

    /// The shortest period that this share of the mass does not exceed, in days.
    pub(crate) fn quantile_days(&self, share: f64) -> f64 {
        let mut below = 0.0;
        let reached = self.points().find(|[_, mass]| {
            below += mass;
            below >= share
        });
        reached.or_else(|| self.points().last()).map_or(0.0, |[days, _]| days)
    }

    /// The mean rate, in changes a day.
    pub(crate) fn mean_rate(&self) -> f64 {
        self.points().map(|[days, mass]| mass / days).sum()
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
    fn the_prior_of_a_collection_is_the_distribution_of_its_periods() {
        // Three pages of four change about once in two days, and one about once in forty: each was watched for 400 days.
        let page = |period: f64| {
            let changes = (400.0 / period) as usize;
            VisitHistory::of(
                (0..400).map(|day| (Age::from_days(1.0), Seen::from(day % (400 / changes) == 0))),
            )
        };
        let mut pages: Vec<VisitHistory> = [2.0, 40.0, 2.0, 2.0].repeat(10).into_iter().map(page).collect();
        let fitted = PeriodGrid::fit(&pages).expect("a prior");
        let mass = |from: f64, to: f64| {
            fitted.points().filter(|[days, _]| (from..to).contains(days)).map(|[_, mass]| mass).sum::<f64>()
        };
        assert!((mass(1.0, 4.0) - 0.75).abs() < 0.02, "{}", mass(1.0, 4.0));
        assert!((mass(20.0, 80.0) - 0.25).abs() < 0.02, "{}", mass(20.0, 80.0));
        assert!(mass(1000.0, 20_000.0) > 0.0, "no period is impossible");
        assert!((1.0..3.0).contains(&fitted.quantile_days(0.5)) && fitted.quantile_days(0.9) > 20.0);
        pages.rotate_left(3);
        assert_eq!(PeriodGrid::fit(&pages), Some(fitted.clone()), "the order of the pages does not matter");
        assert_eq!(PeriodGrid::fit(&[VisitHistory::of([(Age::from_days(3.0), Seen::Unchanged)])]), None);

        // A new page of this collection that was seen unchanged for a week is probably one of the slow ones.
        let quiet = VisitHistory::of([(Age::from_days(14.0), Seen::Unchanged)]);
        let after = fitted.posterior(&quiet);
        assert!(after.mean_period_days > 20.0 && after.mean_rate < fitted.mean_rate() / 3.0, "{after:?}");
        assert!(close(fitted.masses_after(&quiet).iter().sum(), 1.0, 1e-9));
    }

    #[test]
    fn a_grid_needs_masses() {
        assert_eq!(PeriodGrid::new(vec![1.0], &[0.0]), None);
        assert_eq!(PeriodGrid::new(vec![1.0], &[f64::NAN]), None);
        assert_eq!(PeriodGrid::new(vec![2.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(PeriodGrid::new(vec![1.0, 2.0], &[1.0]), None);
    }
}
