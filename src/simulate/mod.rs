//! Policies over recorded histories: which pages a policy would have visited, and how good the copies would have been.
//!
//! A policy, the truth of a group of pages and a budget come in. The figures of each cycle go out ([`metric`]). The
//! protocol is that of Santos et al. 2013 (§5.2): a page's first copy is free; it is visited in each of the next few cycles
//! (the warm-up, which is not counted); from then on it competes, and each cycle visits the best k pages that compete.
//!
//! [`classes`] is the replay engine, which `evolve` uses too. Policies see the [`crate::policy::PageState`]s that they see
//! live, learn by [`crate::policy::Learnt::take`] as they do live, and pages are ranked by [`crate::schedule::rank`]. The
//! rest of a page's live state is not replayed: in a recording every visit brings a copy.

mod by_policy;
pub(crate) mod classes;
pub mod compare;
mod day_budget;
pub(crate) mod distinct;
mod known_signals;
mod learning;
pub(crate) mod measured_visit;
pub mod metric;
pub mod oracle;
pub mod raised_signals;
mod replayed_gains;
pub mod searched;
pub mod synthetic;
mod synthetic_sites;
pub mod truth;
pub(crate) mod visit_credit;

use std::time::Duration;

use crate::page::{HostId, PageId};
use crate::schedule::Candidates;
use crate::schedule::rank::{Rank, RankedPage};
use crate::time::{Age, Timestamp};
pub use by_policy::ByPolicy;
use metric::{CycleFigures, Ledger};
use oracle::ByOracle;
use truth::Truth;
use visit_credit::ByCredit;

/// How a replay is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayTerms {
    /// The share of the competing pages that a cycle visits.
    pub budget: f64,
    /// Cycles after a page's first copy in which it is visited without having to compete.
    pub warm_up: u32,
    /// Time from one moment of the truth to the next.
    pub step: Duration,
    /// Moments from one cycle to the next: 1 if the truth is known at cycles only.
    pub every: u32,
    /// The cycles of a day share their budget, by the threshold that a monitor keeps.
    pub by_day: bool,
    /// The time of the first moment.
    pub start: Timestamp,
    /// Which of two pages with the same score goes first.
    pub ties: Ties,
    /// How far pages moved is measured like this.
    pub measuring: Measuring,
}

/// How a crawl measures how far pages move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measuring {
    /// Hashes of a sketch (m of the longevity paper). `None`: sketches keep all hashes.
    pub sketch: Option<usize>,
    /// Change profiles that are kept for a page (h of the longevity paper).
    pub profiles: usize,
}

impl Default for Measuring {
    fn default() -> Self {
        Self { sketch: None, profiles: 5 }
    }
}

/// Which of two pages with the same score goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The one that was left alone longer, then the one with the lower number: as in a live crawl.
    #[default]
    OlderFirst,
    /// The one with the lower number.
    LowerFirst,
}

impl ReplayTerms {
    /// Visits of a cycle in which `pages` pages compete: at least one, if there is a page.
    pub fn visits(&self, pages: usize) -> usize {
        if pages == 0 { 0 } else { ((self.budget * pages as f64 + 0.5).floor() as usize).clamp(1, pages) }
    }

    /// The time of a moment.
    pub fn at(&self, moment: u32) -> Timestamp {
        self.start.plus(self.step.saturating_mul(moment))
    }

    fn days(&self, moments: u32) -> Age {
        Age::from_days(self.step.as_secs_f64() / 86_400.0 * f64::from(moments))
    }
}

/// What a cycle does.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// The pages that are visited, best first.
    pub(crate) pages: Vec<u32>,
    /// Lists of signals that are read, each for a request.
    readings: usize,
}

impl Choice {
    fn of_pages(pages: Vec<u32>) -> Self {
        Self { pages, readings: 0 }
    }
}

/// Decides which pages are visited.
pub enum Chooser<'a> {
    /// A policy of the live crawl.
    Policy(ByPolicy<'a>),
    /// An oracle, which knows the truth.
    Oracle(ByOracle<'a>),
    /// Crawl rates, kept by credit.
    Credit(ByCredit<'a>),
}

impl Chooser<'_> {
    /// A page's first copy is taken.
    fn born(&mut self, page: u32, cycle: u32) {
        match self {
            Self::Policy(policy) => policy.born(page, cycle),
            Self::Oracle(oracle) => oracle.visited(page, cycle),
            Self::Credit(credit) => credit.born(page, cycle),
        }
    }

    fn visited(&mut self, page: u32, cycle: u32, changed: bool) {
        match self {
            Self::Policy(policy) => policy.visited(page, cycle, changed),
            Self::Oracle(oracle) => oracle.visited(page, cycle),
            Self::Credit(credit) => credit.visited(page, cycle, changed),
        }
    }

    /// From this cycle on the page competes.
    fn competes(&mut self, page: u32) {
        match self {
            Self::Policy(policy) => policy.competes(page),
            Self::Oracle(oracle) => oracle.competes(page),
            Self::Credit(credit) => credit.competes(page),
        }
    }

    /// The best pages of those that compete, best first, with `requests` to send.
    fn choose(&mut self, cycle: u32, requests: usize) -> Choice {
        match self {
            Self::Policy(policy) => policy.choose(cycle, requests),
            Self::Oracle(oracle) => Choice::of_pages(oracle.choose(cycle, requests)),
            Self::Credit(credit) => Choice::of_pages(credit.choose(requests)),
        }
    }
}

/// Replays a recording. Gives the figures of each moment at which pages compete; between cycles copies only age.
pub fn replay(truth: &Truth, chooser: &mut Chooser<'_>, terms: &ReplayTerms) -> Vec<CycleFigures> {
    replay_telling(truth, chooser, terms, &mut |_, _| {})
}

/// As [`replay`]. `told` is called with each cycle and the pages chosen in it, before they are visited.
pub(crate) fn replay_telling(
    truth: &Truth,
    chooser: &mut Chooser<'_>,
    terms: &ReplayTerms,
    told: &mut dyn FnMut(u32, &[u32]),
) -> Vec<CycleFigures> {
    let events = truth.events();
    let mut births: Vec<Vec<u32>> = vec![Vec::new(); truth.cycles as usize];
    for (page, born) in (0..).zip(&truth.born) {
        if let Some(pages) = births.get_mut(*born as usize) {
            pages.push(page);
        }
    }
    let pages_born = |cycle: Option<u32>| {
        cycle.and_then(|cycle| births.get(cycle as usize)).map_or(&[][..], Vec::as_slice)
    };
    let mut ledger = Ledger::new(truth);
    let mut all = Vec::new();
    for cycle in 0..truth.cycles {
        for page in pages_born(Some(cycle)) {
            chooser.born(*page, cycle);
            ledger.first_copy(*page, cycle);
        }
        for page in events.get(cycle as usize).map_or(&[][..], Vec::as_slice) {
            ledger.changes(*page, cycle);
        }
        for back in 1..=terms.warm_up {
            for page in pages_born(cycle.checked_sub(back * terms.every)) {
                chooser.visited(*page, cycle, ledger.visit(*page, cycle));
            }
        }
        for page in pages_born(cycle.checked_sub((terms.warm_up + 1) * terms.every)) {
            chooser.competes(*page);
            ledger.counts(*page);
        }
        let competing = ledger.counting();
        if competing == 0 {
            continue;
        }
        if !cycle.is_multiple_of(terms.every) {
            all.push(ledger.between(cycle));
            continue;
        }
        let Choice { pages: chosen, readings } = chooser.choose(cycle, terms.visits(competing));
        told(cycle, &chosen);
        let mut figures = ledger.open(cycle, chosen.len());
        figures.readings = readings;
        for (rank, page) in chosen.iter().enumerate() {
            let changed = ledger.visit(*page, cycle);
            figures.visited(rank, changed);
            chooser.visited(*page, cycle, changed);
        }
        figures.quality = ledger.quality();
        all.push(ledger.close(figures, cycle));
    }
    all
}

/// The best pages where each page has a score of its own, chosen as a live crawl does. A page comes with its score and the
/// cycle of its last visit; cycles stand for times, as only their order counts.
pub(crate) fn best_pages(scored: impl IntoIterator<Item = (f64, u32, u32)>, visits: usize) -> Vec<u32> {
    let mut candidates = Candidates::default();
    for (score, last, page) in scored {
        let rank = Rank::new(score, Timestamp::from_millis(i64::from(last)));
        candidates.push_ranked(RankedPage { rank, page: PageId(i64::from(page)) }, HostId(0), false);
    }
    let plan = candidates.choose(visits, None, |_| usize::MAX);
    plan.visits.iter().map(|visit| visit.page.0 as u32).collect()
}

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod tests;
