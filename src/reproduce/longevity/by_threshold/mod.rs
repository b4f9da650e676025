//! Pages one by one, each refreshed when its own utility reaches a threshold: no budget, no cycle, no competition.
//!
//! This is how Olston & Pandey 2008 compare policies (§3.4 and §6): one threshold T for all pages makes a policy spend so
//! many refreshes and leaves so much staleness; T from small to large draws a curve. Comes in: what is known of a page
//! ([`WatchedPage`]), a [`Method`] and a threshold. Goes out: what was spent and how stale the copy was, apart for
//! the warm-up, in which the policies that learn know little, and for the rest.
//!
//! A page's first copy is free. Refreshes are at moments of the recording; what a page was like between them is
//! interpolated (appendix B). Time counts in days; a recording may call its cycle a day.

mod learning;
mod refresher;
pub(super) mod watched_page;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::simulate::Measuring;
use refresher::Refresher;
use watched_page::WatchedPage;

/// Who decides when a page is refreshed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// All pages that ever change have one period: the threshold.
    Uniform,
    /// The period at which the utility of the page's true mean curve reaches the threshold.
    FragmentStatic,
    /// When the utility of what the page did since its last refresh reaches it.
    FragmentDynamic,
    /// As [`Method::FragmentStatic`], for the chance of any change at the page's true rate.
    HolisticStatic,
    /// As [`Method::FragmentDynamic`], any change being a whole one.
    HolisticDynamic,
    /// Cho & Garcia-Molina: the rate is estimated from what refreshes found, the period is the holistic one.
    Cgm,
    /// The same with their estimator for visits at even distances, which has less bias.
    CgmBiasReduced,
    /// A curve is fitted to what refreshes found (§4.2).
    LongevityCurve(Measuring),
    /// Bounds on the utility, by what refreshes found (§4.3).
    LongevityBound(Measuring),
}

impl Method {
    /// Every method, those that learn last.
    pub const fn all(measuring: Measuring) -> [Self; 9] {
        [
            Self::Uniform,
            Self::FragmentStatic,
            Self::FragmentDynamic,
            Self::HolisticStatic,
            Self::HolisticDynamic,
            Self::Cgm,
            Self::CgmBiasReduced,
            Self::LongevityCurve(measuring),
            Self::LongevityBound(measuring),
        ]
    }

    /// The paper's name, or that of the live policy.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform => "Uniform",
            Self::FragmentStatic => "FS-S",
            Self::FragmentDynamic => "FS-D",
            Self::HolisticStatic => "HS-S",
            Self::HolisticDynamic => "HS-D",
            Self::Cgm => "CGM",
            Self::CgmBiasReduced => "CGM, bias-reduced",
            Self::LongevityCurve(_) => "longevity-curve",
            Self::LongevityBound(_) => "longevity-bound",
        }
    }
}

/// A method at one threshold: divergence × days, or for [`Method::Uniform`] days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdJob {
    pub method: Method,
    pub threshold: f64,
}

/// How the methods that learn are set, and what is measured apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdSettings {
    /// l: after n refreshes a page waits at most n times as long (§4.2), in days.
    pub learning_days: f64,
    /// ρ: a page waits at most ρ·T (§4.5). The paper's own methods only; CGM has no such bound.
    pub risk: f64,
    /// The first part of a page's time that counts as warm-up.
    pub warm_up: f64,
    /// Whether l binds after the warm-up, too. In the long run it binds no more: sooner or later n is large enough. In a
    /// time that ends, it would have CGM go on refreshing the pages that it means to leave alone.
    pub keeps_learning: bool,
    /// Pages may be refreshed at one in so many moments; 0 is taken for 1.
    pub every: usize,
}

impl Default for ThresholdSettings {
    fn default() -> Self {
        Self { learning_days: 1.0, risk: 10.0, warm_up: 1.0 / 3.0, keeps_learning: false, every: 1 }
    }
}

impl ThresholdSettings {
    /// The moments of a page that count as warm-up.
    fn warm_moments(&self, page: &WatchedPage) -> usize {
        (self.warm_up * page.moments().saturating_sub(1) as f64).round() as usize
    }
}

/// What a stretch of time cost and how stale the copy was in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpentRequests {
    pub days: f64,
    pub refreshes: f64,
    /// ∫ divergence from the copy, and ∫ 1 while the copy is not what the page says.
    fragment_area: f64,
    holistic_area: f64,
}

impl SpentRequests {
    /// Refreshes a day.
    pub fn cost(&self) -> f64 {
        self.share(self.refreshes)
    }

    /// The mean divergence over time: eq. 2 of the paper, with the 1/(t₂ − t₁) that is missing in print.
    pub fn staleness(&self) -> f64 {
        self.share(self.fragment_area)
    }

    /// The share of time in which the copy was not what the page said.
    pub fn holistic_staleness(&self) -> f64 {
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

/// What a method at a threshold came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThresholdOutcome {
    pub warm_up: SpentRequests,
    /// What follows on the warm-up.
    pub steady: SpentRequests,
}

/// How far a page is from its copy: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CopyDivergence {
    fragments: f64,
    holistic: f64,
}

impl CopyDivergence {
    fn by(self, holistic: bool) -> f64 {
        if holistic { self.holistic } else { self.fragments }
    }
}

/// Runs a method over one page.
pub fn watch(page: &WatchedPage, job: ThresholdJob, settings: &ThresholdSettings) -> ThresholdOutcome {
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
        if moment > 0 && moment % settings.every.max(1) == 0 && refresher.is_due(page.days(moment), now) {
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

/// Runs all jobs over all pages, so many at a time: the outcomes of each page, in the order of the jobs. `page` makes each
/// page when its turn comes; those it makes none of have none.
pub fn sweep(
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

/// The mean over pages of each job's outcome, all pages counting alike however long they were watched.
pub fn mean<'a>(pages: impl IntoIterator<Item = &'a Vec<ThresholdOutcome>>) -> Vec<ThresholdOutcome> {
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
