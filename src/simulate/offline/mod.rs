//! Pages one by one, each refreshed when its own utility reaches a threshold: no budget, no cycle, no competition.
//!
//! This is how Olston & Pandey 2008 compare policies (§3.4 and §6): one threshold T for all pages makes a policy spend so
//! many refreshes and leaves so much staleness; T from small to large draws a curve. Comes in: what is known of a page
//! ([`page::WatchedPage`]), a [`Method`] and a threshold. Goes out: what was spent and how stale the copy was, apart for
//! the warm-up, in which the policies that learn know little, and for the rest.
//!
//! A page's first copy is free. Refreshes are at moments of the recording; what a page was like between them is
//! interpolated (appendix B). Time counts in days; a recording may call its cycle a day.

mod learn;
pub mod page;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Measuring;
use crate::longevity::curve::Curve;
use crate::longevity::since::Since;
use learn::{Bound, Cgm, CgmBiasReduced, Fitting, Learner};
use page::WatchedPage;

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
pub struct Job {
    pub method: Method,
    pub threshold: f64,
}

/// How the methods that learn are set, and what is measured apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
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

impl Default for Settings {
    fn default() -> Self {
        Self { learning_days: 1.0, risk: 10.0, warm_up: 1.0 / 3.0, keeps_learning: false, every: 1 }
    }
}

impl Settings {
    /// The moments of a page that count as warm-up.
    fn warm_moments(&self, page: &WatchedPage) -> usize {
        (self.warm_up * page.moments().saturating_sub(1) as f64).round() as usize
    }
}

/// What a stretch of time cost and how stale the copy was in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub days: f64,
    pub refreshes: f64,
    /// ∫ divergence from the copy, and ∫ 1 while the copy is not what the page says.
    fragment_area: f64,
    holistic_area: f64,
}

impl Spent {
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
    fn add_page(&mut self, page: &Spent) {
        self.days += 1.0;
        self.refreshes += page.cost();
        self.fragment_area += page.staleness();
        self.holistic_area += page.holistic_staleness();
    }
}

/// What a method at a threshold came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub warm_up: Spent,
    /// What follows on the warm-up.
    pub steady: Spent,
}

/// Decides for one page.
trait Refresher {
    /// Is it time, so many days after the first copy? The page is so far from the copy now, in fragments and as a whole.
    fn is_due(&self, days: f64, apart: Apart) -> bool;

    /// The page is refreshed at this moment.
    fn refreshed(&mut self, page: &WatchedPage, moment: usize);

    /// Time passes at this divergence in the mean.
    fn passed(&mut self, _days: f64, _apart: Apart) {}
}

/// How far a page is from its copy: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Apart {
    fragments: f64,
    holistic: f64,
}

/// Runs a method over one page.
pub fn watch(page: &WatchedPage, job: Job, settings: &Settings) -> Outcome {
    let mut refresher = refresher(page, job, settings);
    let mut outcome = Outcome::default();
    let last = page.moments().saturating_sub(1);
    let warm = settings.warm_moments(page);
    let days = page.step_days();
    let apart = |held: u32, moment: usize| {
        let live = page.text(moment);
        Apart { fragments: page.divergence(held, live), holistic: f64::from(u8::from(held != live)) }
    };
    let (mut held, mut now) = (page.text(0), Apart::default());
    for moment in 0..last {
        let spent = if moment < warm { &mut outcome.warm_up } else { &mut outcome.steady };
        if moment > 0 && moment % settings.every.max(1) == 0 && refresher.is_due(page.days(moment), now) {
            refresher.refreshed(page, moment);
            spent.refreshes += 1.0;
            (held, now) = (page.text(moment), Apart::default());
        }
        let unchanged = page.text(moment) == page.text(moment + 1);
        let next = if unchanged { now } else { apart(held, moment + 1) };
        let mean = Apart {
            fragments: page.between(now.fragments, next.fragments),
            holistic: page.between(now.holistic, next.holistic),
        };
        refresher.passed(days, mean);
        spent.pass(days, mean.fragments, mean.holistic);
        now = next;
    }
    outcome
}

fn refresher(page: &WatchedPage, job: Job, settings: &Settings) -> Box<dyn Refresher> {
    let threshold = job.threshold;
    let periodic = |period: Option<f64>| Box::new(Periodic::new(period));
    match job.method {
        Method::Uniform => periodic(page.changes().then_some(threshold)),
        Method::FragmentStatic => periodic(page.refresh_period(threshold)),
        Method::HolisticStatic => {
            periodic(page.rate().and_then(|rate| Curve::churn(1.0, rate).refresh_period(threshold)))
        }
        Method::FragmentDynamic | Method::HolisticDynamic => {
            let holistic = job.method == Method::HolisticDynamic;
            Box::new(Realised { threshold, holistic, since: Since::default() })
        }
        Method::Cgm => Box::new(Learner::new(Cgm::new(threshold), page, f64::INFINITY, settings)),
        Method::CgmBiasReduced => {
            Box::new(Learner::new(CgmBiasReduced::new(threshold), page, f64::INFINITY, settings))
        }
        Method::LongevityCurve(measuring) => {
            let most = settings.risk * threshold;
            Box::new(Learner::new(Fitting::new(threshold, measuring), page, most, settings))
        }
        Method::LongevityBound(measuring) => {
            let most = settings.risk * threshold;
            Box::new(Learner::new(Bound::new(threshold, measuring), page, most, settings))
        }
    }
}

/// At even distances, or never.
struct Periodic {
    period: f64,
    due: f64,
}

impl Periodic {
    fn new(period: Option<f64>) -> Self {
        let period = period.unwrap_or(f64::INFINITY);
        Self { period, due: period }
    }
}

impl Refresher for Periodic {
    fn is_due(&self, days: f64, _apart: Apart) -> bool {
        is_past(self.due, days)
    }

    fn refreshed(&mut self, page: &WatchedPage, moment: usize) {
        // From when it was due, not from the moment that came next: else periods would be longer than they are.
        self.due = (self.due + self.period).max(page.days(moment));
    }
}

/// Days are sums of steps: they meet what is due but for the last digits.
fn is_past(due: f64, days: f64) -> bool {
    days >= due * (1.0 - 1e-9)
}

/// By what the page did since the last refresh, which only an onlooker knows.
struct Realised {
    threshold: f64,
    holistic: bool,
    since: Since,
}

impl Refresher for Realised {
    fn is_due(&self, _days: f64, apart: Apart) -> bool {
        let divergence = if self.holistic { apart.holistic } else { apart.fragments };
        // A refresh that brings nothing is none, however low the threshold.
        divergence > 0.0 && self.since.utility(divergence) >= self.threshold
    }

    fn refreshed(&mut self, _page: &WatchedPage, _moment: usize) {
        self.since = Since::default();
    }

    fn passed(&mut self, days: f64, apart: Apart) {
        self.since.pass(days, if self.holistic { apart.holistic } else { apart.fragments });
    }
}

/// Runs all jobs over all pages, so many at a time: the outcomes of each page, in the order of the jobs. `page` makes each
/// page when its turn comes; those it makes none of have none.
pub fn sweep(
    pages: usize,
    page: &(dyn Fn(usize) -> Option<WatchedPage> + Sync),
    jobs: &[Job],
    settings: &Settings,
    threads: usize,
) -> Vec<Option<Vec<Outcome>>> {
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
                    let outcomes: Vec<Outcome> =
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
pub fn mean<'a>(pages: impl IntoIterator<Item = &'a Vec<Outcome>>) -> Vec<Outcome> {
    let mut means = Vec::new();
    for outcomes in pages {
        means.resize(outcomes.len(), Outcome::default());
        for (mean, outcome) in means.iter_mut().zip(outcomes) {
            mean.warm_up.add_page(&outcome.warm_up);
            mean.steady.add_page(&outcome.steady);
        }
    }
    means
}

#[cfg(test)]
mod tests;
