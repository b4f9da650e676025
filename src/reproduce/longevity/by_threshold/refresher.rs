//! When one page is refreshed, by each method.

use super::learning::{BoundPeriod, CgmBiasReducedPeriod, CgmPeriod, CurvePeriod, LearntPeriod, PeriodRule};
use super::watched_page::WatchedPage;
use super::{CopyDivergence, Method, ThresholdJob, ThresholdSettings};
use crate::longevity::curve::Curve;
use crate::longevity::since_refresh::SinceRefresh;

/// Decides when one page is refreshed.
pub(super) enum Refresher {
    /// At even intervals.
    Periodic { period_days: f64, due_days: f64 },
    /// By the changes since the last refresh, which a crawler can't know.
    Realised { threshold: f64, worth: RealisedWorth, since: SinceRefresh },
    /// After the period that was learnt from refreshes.
    Learning(LearntPeriod),
}

/// What a refresh is worth by the changes since the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RealisedWorth {
    /// The utility of fragments (eq. 4).
    Fragments,
    /// The utility if any change counts as a whole one.
    Holistic,
    /// The present divergence (§2.3).
    Divergence,
}

impl Refresher {
    pub(super) fn new(page: &WatchedPage, job: ThresholdJob, settings: &ThresholdSettings) -> Self {
        let threshold = job.threshold;
        let learning = |rule: PeriodRule, most_days: f64| {
            let phase = settings.learning.with(job.learning_days);
            Self::Learning(LearntPeriod::new(rule, page, most_days, phase, settings.warm_moments(page)))
        };
        let realised = |worth| Self::Realised { threshold, worth, since: SinceRefresh::default() };
        // The bound on risk (§4.5); CGM has none.
        let most_days = settings.risk * threshold;
        match job.method {
            Method::Uniform => Self::periodic(page.changes().then_some(threshold)),
            Method::FragmentStatic => Self::periodic(page.refresh_period(threshold)),
            Method::HolisticStatic => {
                let churn = page.rate().map(|rate| Curve::churn(1.0, rate));
                Self::periodic(churn.and_then(|curve| curve.refresh_period(threshold)))
            }
            Method::DivergenceStatic => Self::periodic(page.divergence_period(threshold)),
            Method::FragmentDynamic => realised(RealisedWorth::Fragments),
            Method::HolisticDynamic => realised(RealisedWorth::Holistic),
            Method::DivergenceDynamic => realised(RealisedWorth::Divergence),
            Method::Cgm => learning(PeriodRule::Cgm(CgmPeriod::new(threshold)), f64::INFINITY),
            Method::CgmBiasReduced => {
                learning(PeriodRule::CgmBiasReduced(CgmBiasReducedPeriod::new(threshold)), f64::INFINITY)
            }
            Method::LongevityCurve(measuring) => {
                learning(PeriodRule::Curve(CurvePeriod::new(threshold, measuring)), most_days)
            }
            Method::LongevityBound(measuring) => {
                let first_days = page.step_days() * settings.every.max(1) as f64;
                learning(PeriodRule::Bound(BoundPeriod::new(threshold, measuring, first_days)), most_days)
            }
        }
    }

    /// `None`: never.
    fn periodic(period: Option<f64>) -> Self {
        let period_days = period.unwrap_or(f64::INFINITY);
        Self::Periodic { period_days, due_days: period_days }
    }

    /// Is a refresh due at this moment, `days` after the first copy, if the page is that far from its copy now?
    pub(super) fn is_due(&self, moment: usize, days: f64, apart: CopyDivergence) -> bool {
        match self {
            Self::Periodic { due_days, .. } => is_past(*due_days, days),
            Self::Realised { threshold, worth, since } => {
                let divergence = apart.by(*worth);
                let worth = match worth {
                    RealisedWorth::Divergence => divergence,
                    RealisedWorth::Fragments | RealisedWorth::Holistic => since.utility(divergence),
                };
                // A refresh that finds the page unchanged brings nothing, however low the threshold is.
                divergence > 0.0 && worth >= *threshold
            }
            Self::Learning(learnt) => is_past(learnt.due_days(moment), days),
        }
    }

    /// The page is refreshed at this moment.
    pub(super) fn refreshed(&mut self, page: &WatchedPage, moment: usize) {
        match self {
            // From the time that it was due, not from the moment that came next: else periods would be too long.
            Self::Periodic { period_days, due_days } => {
                *due_days = (*due_days + *period_days).max(page.days(moment));
            }
            Self::Realised { since, .. } => *since = SinceRefresh::default(),
            Self::Learning(learnt) => learnt.refreshed(page, moment),
        }
    }

    /// Time passes; the page is that far from its copy on average.
    pub(super) fn passed(&mut self, days: f64, apart: CopyDivergence) {
        if let Self::Realised { worth, since, .. } = self {
            since.pass(days, apart.by(*worth));
        }
    }
}

/// Days are sums of steps, so they may miss the time that is due by a rounding error.
fn is_past(due_days: f64, days: f64) -> bool {
    days >= due_days * (1.0 - 1e-9)
}
