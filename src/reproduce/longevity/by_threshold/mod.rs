//! Pages one by one, each refreshed when its own utility reaches a threshold: no budget, no cycle, no competition.
//!
//! This is how Olston & Pandey 2008 compare policies (§3.4 and §5): all pages have the same threshold T, which gives a number of
//! refreshes and a staleness. Values of T from small to large give a curve. A page ([`WatchedPage`]), a [`Method`] and a
//! threshold come in. The cost and the staleness go out, separately for the warm-up, in which methods that learn know little,
//! and for the time after it.
//!
//! A page's first copy is free. Refreshes are at moments of the recording; between moments divergence is interpolated
//! (appendix B). Time counts in days; for a recording a cycle counts as a day.

mod learning;
mod refresher;
pub(super) mod watched_page;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::simulate::Measuring;
use refresher::{RealisedWorth, Refresher};
use watched_page::WatchedPage;

/// How it is decided when a page is refreshed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Method {
    /// All pages that ever change have one period: the threshold.
    Uniform,
    /// The period at which the utility of the page's true mean curve reaches the threshold.
    FragmentStatic,
    /// The moment at which the utility of the changes since the last refresh reaches the threshold.
    FragmentDynamic,
    /// As [`Method::FragmentStatic`], for the chance of any change at the page's true rate.
    HolisticStatic,
    /// As [`Method::FragmentDynamic`], with any change counting as a whole one.
    HolisticDynamic,
    /// The naive utility U = D (§2.3): the period at which the page's true mean curve itself reaches the threshold, a divergence.
    DivergenceStatic,
    /// The same by the changes since the last refresh.
    DivergenceDynamic,
    /// Cho & Garcia-Molina: the rate is estimated from refreshes, the period is the holistic one.
    Cgm,
    /// The same with their estimator for visits at even intervals, which has less bias.
    CgmBiasReduced,
    /// A curve is fitted to the divergences that refreshes found (§4.2).
    LongevityCurve(Measuring),
    /// Bounds on the utility, by the divergences that refreshes found (§4.3).
    LongevityBound(Measuring),
}

impl Method {
    /// Every method, those that learn last.
    #[cfg(test)]
    const fn all(measuring: Measuring) -> [Self; 11] {
        [
            Self::Uniform,
            Self::FragmentStatic,
            Self::FragmentDynamic,
            Self::HolisticStatic,
            Self::HolisticDynamic,
            Self::DivergenceStatic,
            Self::DivergenceDynamic,
            Self::Cgm,
            Self::CgmBiasReduced,
            Self::LongevityCurve(measuring),
            Self::LongevityBound(measuring),
        ]
    }

    /// The paper's name, or that of the live policy.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Uniform => "Uniform",
            Self::FragmentStatic => "FS-S",
            Self::FragmentDynamic => "FS-D",
            Self::HolisticStatic => "HS-S",
            Self::HolisticDynamic => "HS-D",
            Self::DivergenceStatic => "U = D, static",
            Self::DivergenceDynamic => "U = D, dynamic",
            Self::Cgm => "CGM",
            Self::CgmBiasReduced => "CGM, bias-reduced",
            Self::LongevityCurve(_) => "longevity-curve",
            Self::LongevityBound(_) => "longevity-bound",
        }
    }
}

/// A method at one threshold: divergence × days; for [`Method::Uniform`] days, for U = D divergence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThresholdJob {
    pub method: Method,
    pub threshold: f64,
    /// l, in days, if it is another than that of the settings.
    pub learning_days: Option<f64>,
}

impl ThresholdJob {
    pub(super) const fn new(method: Method, threshold: f64) -> Self {
        Self { method, threshold, learning_days: None }
    }
}

/// The first refreshes of a page, while methods that learn know little. n is the number of refreshes so far, the first copy included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LearningPhase {
    /// Methods decide from the start.
    Free,
    /// A page waits at most l·n (§4.2). The bound grows with n, and soon binds no more.
    AtMost { days: f64 },
    /// The same in the warm-up; after it methods are free.
    AtMostInWarmUp { days: f64 },
    /// In the warm-up a page waits l·n, whatever the method: one schedule for all (§5.3). After it methods are free.
    Schedule { days: f64 },
}

impl LearningPhase {
    /// The same with another l.
    pub(super) fn with(self, days: Option<f64>) -> Self {
        match (self, days) {
            (_, None) | (Self::Free, _) => self,
            (Self::AtMost { .. }, Some(days)) => Self::AtMost { days },
            (Self::AtMostInWarmUp { .. }, Some(days)) => Self::AtMostInWarmUp { days },
            (Self::Schedule { .. }, Some(days)) => Self::Schedule { days },
        }
    }
}

/// Settings of the methods that learn, and of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThresholdSettings {
    /// How the first refreshes come.
    pub learning: LearningPhase,
    /// ρ: a page waits at most ρ·T (§4.5). The paper's own methods only; CGM has no such bound.
    pub risk: f64,
    /// The first part of a page's time that counts as warm-up.
    pub warm_up: f64,
    /// Pages may be refreshed at every n-th moment only; 0 counts as 1.
    pub every: usize,
}

impl ThresholdSettings {
    /// The moments of a page that count as warm-up.
    fn warm_moments(&self, page: &WatchedPage) -> usize {
        (self.warm_up * page.moments().saturating_sub(1) as f64).round() as usize
    }
}

/// The cost of a span of time, and the staleness of the copy in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SpentRequests {
    pub days: f64,
    pub refreshes: f64,
    /// ∫ divergence from the copy, and ∫ 1 while the copy has another text than the page.
    fragment_area: f64,
    holistic_area: f64,
}

impl SpentRequests {
    /// Refreshes a day.
    pub(super) fn cost(&self) -> f64 {
        self.share(self.refreshes)
    }

    /// The mean divergence over time: eq. 2 of the paper, with the 1/(t₂ − t₁) that is missing in print.
    pub(super) fn staleness(&self) -> f64 {
        self.share(self.fragment_area)
    }

    /// The share of time in which the copy had another text than the page.
    pub(super) fn holistic_staleness(&self) -> f64 {
        self.share(self.holistic_area)
    }

    fn share(&self, of: f64) -> f64 {
        if self.days > 0.0 { of / self.days } else { 0.0 }
    }

    fn pass(&mut self, days: f64, fragments: f64, holistic: f64) {
        self.days += days;
        self.fragment_area += days * fragments;
        self.holistic_area += days * holistic;
    }

    /// Adds a page's means.
    fn add_page(&mut self, page: &SpentRequests) {
        self.days += 1.0;
        self.refreshes += page.cost();
        self.fragment_area += page.staleness();
        self.holistic_area += page.holistic_staleness();
    }
}

/// The outcome of a method at a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ThresholdOutcome {
    pub warm_up: SpentRequests,
    /// The time after the warm-up.
    pub steady: SpentRequests,
}

/// How far a page is from its copy: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CopyDivergence {
    fragments: f64,
    holistic: f64,
}

impl CopyDivergence {
    fn by(self, worth: RealisedWorth) -> f64 {
        if worth == RealisedWorth::Holistic { self.holistic } else { self.fragments }
    }
}

/// Runs a method over one page.
pub(super) fn watch(page: &WatchedPage, job: ThresholdJob, settings: &ThresholdSettings) -> ThresholdOutcome {
    let mut refresher = Refresher::new(page, job, settings);
    let mut outcome = ThresholdOutcome::default();
    let last = page.moments().saturating_sub(1);
    let warm = settings.warm_moments(page);
    let days = page.step_days();
    let apart = |held: u32, moment: usize| {
        let live = page.text(moment);
        CopyDivergence { fragments: page.divergence(held, live), holistic: f64::from(u8::from(held != live)) }
    };
    let (mut held, mut now) = (page.text(0), CopyDivergence::default());
    for moment in 0..last {
        let spent = if moment < warm { &mut outcome.warm_up } else { &mut outcome.steady };
        let is_chance = moment > 0 && moment % settings.every.max(1) == 0;
        if is_chance && refresher.is_due(moment, page.days(moment), now) {
            refresher.refreshed(page, moment);
            spent.refreshes += 1.0;
            (held, now) = (page.text(moment), CopyDivergence::default());
        }
        let unchanged = page.text(moment) == page.text(moment + 1);
        let next = if unchanged { now } else { apart(held, moment + 1) };
        let mean = CopyDivergence {
            fragments: page.between(now.fragments, next.fragments),
            holistic: page.between(now.holistic, next.holistic),
        };
        refresher.passed(days, mean);
        spent.pass(days, mean.fragments, mean.holistic);
        now = next;
    }
    outcome
}

/// Runs all jobs over all pages, on `threads` threads. Gives the outcomes of each page in the order of the jobs, or `None` if
/// `page` gives no page.
pub(super) fn sweep(
    pages: usize,
    page: &(dyn Fn(usize) -> Option<WatchedPage> + Sync),
    jobs: &[ThresholdJob],
    settings: &ThresholdSettings,
    threads: usize,
) -> Vec<Option<Vec<ThresholdOutcome>>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; pages]);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, pages.max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= pages {
                        break;
                    }
                    let Some(page) = page(at) else { continue };
                    let outcomes: Vec<ThresholdOutcome> =
                        jobs.iter().map(|job| watch(&page, *job, settings)).collect();
                    if let Ok(mut done) = done.lock()
                        && let Some(place) = done.get_mut(at)
                    {
                        *place = Some(outcomes);
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

/// The mean outcome of each job. All pages have the same weight, however long they were watched.
pub(super) fn mean<'a>(pages: impl IntoIterator<Item = &'a Vec<ThresholdOutcome>>) -> Vec<ThresholdOutcome> {
    let mut means = Vec::new();
    for outcomes in pages {
        means.resize(outcomes.len(), ThresholdOutcome::default());
        for (mean, outcome) in means.iter_mut().zip(outcomes) {
            mean.warm_up.add_page(&outcome.warm_up);
            mean.steady.add_page(&outcome.steady);
        }
    }
    means
}

#[cfg(test)]
mod tests;
