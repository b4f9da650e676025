//! The name on the command line → the estimator.

use super::Estimator;
use super::bias_reduced::BiasReduced;
use super::censored::{KEPT_LENGTHS, MostLikely, Naive};
use super::count::Counted;
use super::gamma::GammaPosterior;
use super::moments::Moments;
use super::online::{Damping, LawOfLargeNumbers, Step, StochasticApproximation};
use super::period_grid::{GridPosterior, PeriodGrid};
use super::two_intervals::TwoIntervals;
use super::weighted::{VisitLength, VisitWeights, Weighted};
use crate::near_names;

/// The settings of all estimators.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatorSettings {
    /// The length of a visit, for estimators that count visits rather than time.
    pub visit: VisitLength,
    /// How many lengths of intervals are kept apart, for estimators that need lengths.
    pub keep: usize,
    /// The settings of `gamma`.
    pub gamma: GammaPosterior,
    /// The prior of `two-interval`.
    pub two_intervals: TwoIntervals,
    /// The prior of `posterior`.
    pub periods: PeriodGrid,
    /// The weight of the newest visit in `sa`.
    pub step: Step,
    /// The number that `lln` adds to the visits that found nothing.
    pub damping: Damping,
}

impl Default for EstimatorSettings {
    fn default() -> Self {
        Self {
            visit: VisitLength::Mean,
            keep: KEPT_LENGTHS,
            gamma: GammaPosterior::default(),
            two_intervals: TwoIntervals::default(),
            periods: PeriodGrid::log_uniform(),
            step: StochasticApproximation::default().step,
            damping: Damping::default(),
        }
    }
}

impl EstimatorSettings {
    /// Settings that keep every interval, for studies: a page's state may grow with its history.
    pub fn exact() -> Self {
        Self { keep: usize::MAX, ..Self::default() }
    }
}

/// The estimator that is used if none is named.
pub const DEFAULT: &str = "gamma";

/// Every estimator, the default first.
pub fn all(settings: &EstimatorSettings) -> Vec<Box<dyn Estimator>> {
    let EstimatorSettings { visit, keep, gamma, two_intervals, step, damping, .. } = *settings;
    let weighted = |weights| -> Box<dyn Estimator> { Box::new(Weighted { weights, visit }) };
    let mut all: Vec<Box<dyn Estimator>> = vec![
        Box::new(gamma),
        Box::new(MostLikely { keep, prior: None, dated: false }),
        Box::new(MostLikely { keep, prior: Some(two_intervals), dated: true }),
        Box::new(GridPosterior { grid: settings.periods.clone(), keep }),
        Box::new(Moments { keep }),
        Box::new(BiasReduced { visit }),
        Box::new(Naive),
        Box::new(LawOfLargeNumbers { damping, ..LawOfLargeNumbers::default() }),
        Box::new(StochasticApproximation { step, ..StochasticApproximation::default() }),
        Box::new(MostLikely { keep, prior: None, dated: true }),
        Box::new(Counted),
    ];
    all.extend(VisitWeights::ALL.map(weighted));
    all
}

/// The estimator of this name; an error with the names that may be meant if there is none.
pub fn find(name: &str, settings: &EstimatorSettings) -> Result<Box<dyn Estimator>, String> {
    let mut known = all(settings);
    match known.iter().position(|estimator| estimator.name() == name) {
        Some(at) => Ok(known.swap_remove(at)),
        None => {
            let names = known.iter().map(|estimator| estimator.name());
            Err(format!("there is no estimator `{name}`; {}", near_names::instead(name, names)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_listed() {
        let settings = EstimatorSettings::default();
        let names: std::collections::BTreeSet<_> = all(&settings).iter().map(|one| one.name()).collect();
        assert_eq!(names.len(), all(&settings).len(), "no name twice");
        for name in names {
            assert_eq!(find(name, &settings).map(|found| found.name()), Ok(name));
        }
        assert!(find(DEFAULT, &settings).is_ok());
        assert!(find("psychic", &settings).err().is_some_and(|error| error.contains("`mle`")));
    }
}
