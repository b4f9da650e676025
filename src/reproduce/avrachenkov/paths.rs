//! Estimates along a page's visits: many runs of several estimators on the same draws.

use rand::Rng;

use super::visit;
use crate::estimate::censored::VisitHistory;
use crate::estimate::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::reproduce::{ErrorSample, FigureCurve, Point, exponential};
use crate::time::Age;

/// How a page is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gaps {
    Exponential,
    Even,
}

/// How often a page changes and is visited, a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PagePace {
    pub change_rate: f64,
    pub crawl_rate: f64,
    pub gaps: Gaps,
}

impl PagePace {
    /// Visits at random moments, as the paper has them.
    pub(super) const fn random(change_rate: f64, crawl_rate: f64) -> Self {
        Self { change_rate, crawl_rate, gaps: Gaps::Exponential }
    }

    fn gap(self, random: &mut impl Rng) -> f64 {
        match self.gaps {
            Gaps::Exponential => exponential(self.crawl_rate, random),
            Gaps::Even => 1.0 / self.crawl_rate,
        }
    }

    /// The days to the next visit, and what it sees.
    pub(super) fn next(self, random: &mut impl Rng) -> (f64, Seen) {
        let gap = self.gap(random);
        (gap, visit(self.change_rate, gap, random))
    }
}

/// The estimates of one estimator: those of all runs, after each number of visits.
pub(super) struct EstimatePath {
    visits: Vec<u32>,
    estimates: Vec<ErrorSample>,
}

/// Runs all estimators on the same visits.
pub(super) fn paths(
    runs: u32,
    estimators: &[&dyn Estimator],
    pace: PagePace,
    visits: &[u32],
    random: &mut impl Rng,
) -> Vec<EstimatePath> {
    let none =
        || EstimatePath { visits: visits.to_vec(), estimates: vec![ErrorSample::default(); visits.len()] };
    let mut paths: Vec<EstimatePath> = estimators.iter().map(|_| none()).collect();
    for _ in 0..runs {
        let mut states = vec![EstimatorState::default(); estimators.len()];
        let mut done = 0;
        for (at, until) in visits.iter().enumerate() {
            while done < *until {
                let (gap, seen) = pace.next(random);
                for (estimator, state) in estimators.iter().zip(&mut states) {
                    estimator.observe(state, Age::from_days(gap), seen);
                }
                done += 1;
            }
            for ((estimator, state), path) in estimators.iter().zip(&states).zip(&mut paths) {
                if let Some(sample) = path.estimates.get_mut(at) {
                    sample.add(estimator.as_published(state).rate.get());
                }
            }
        }
    }
    paths
}

impl EstimatePath {
    /// The estimates after that number of visits; empty if it was not asked for.
    pub(super) fn at(&self, visits: u32) -> ErrorSample {
        let at = self.visits.iter().position(|other| *other == visits);
        at.and_then(|at| self.estimates.get(at)).cloned().unwrap_or_default()
    }

    /// Numbers of visits with a figure over the runs.
    pub(super) fn over(&self, figure: impl Fn(&ErrorSample) -> f64) -> Vec<(f64, f64)> {
        self.visits.iter().zip(&self.estimates).map(|(k, of)| (f64::from(*k), figure(of))).collect()
    }

    /// A curve of a figure over the runs.
    pub(super) fn curve(&self, name: &str, figure: impl Fn(&ErrorSample) -> f64) -> FigureCurve {
        let points = self.over(figure).into_iter().map(|(visits, value)| Point::new(visits, value));
        FigureCurve::measured(name, points.collect())
    }

    /// A curve of medians with the range of 95 % of the runs.
    pub(super) fn band(&self, name: &str) -> FigureCurve {
        let points = self.visits.iter().zip(&self.estimates).map(|(visits, of)| of.point(f64::from(*visits)));
        FigureCurve::measured(name, points.collect())
    }
}

/// √ of the mean of (estimate − truth)².
pub(super) fn root_mean_square(estimates: &ErrorSample, truth: f64) -> f64 {
    let squares: f64 = estimates.0.iter().map(|estimate| (estimate - truth).powi(2)).sum();
    (squares / estimates.0.len() as f64).sqrt()
}

/// The mean of |estimate − truth|.
pub(super) fn mean_error(estimates: &ErrorSample, truth: f64) -> f64 {
    estimates.0.iter().map(|estimate| (estimate - truth).abs()).sum::<f64>() / estimates.0.len() as f64
}

/// The MLE of eq. 9 over all intervals. The equation is solved when the estimate is asked for, not at each visit.
pub(super) struct ExactMle;

impl Estimator for ExactMle {
    fn name(&self) -> &'static str {
        "mle"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let days = state.count(interval, seen);
        let mut history = match std::mem::take(&mut state.memory) {
            Memory::History(history) => history,
            _ => Box::new(VisitHistory::keeping(usize::MAX)),
        };
        history.add(days, seen);
        state.memory = Memory::History(history);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let rate = match &state.memory {
            Memory::History(history) => history.most_likely(),
            _ => 0.0,
        };
        Estimate::new(rate, rate, rate)
    }
}
