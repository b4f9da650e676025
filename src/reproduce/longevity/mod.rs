//! Olston & Pandey 2008, "Recrawl Scheduling Based on Information Longevity": how long fragments live, and what policies gain
//! that use it.
//!
//! An experiment under a figure number has the parameters that the paper prints; what is ours has the name "beyond". Their pages
//! are not published. Ours are made up, see [`webs`], or those of a dataset, whose cycles then count as snapshots.

mod against_cgm;
mod beyond;
mod by_threshold;
mod frequency;
mod frontier;
mod lifetimes;
mod lives;
mod offline;
mod online;
mod other_webs;
mod results;
mod shown_pages;
mod sketches;
mod webs;

use std::borrow::Cow;

use super::{Effort, Experiment, Reproduced};
use crate::change::lifetime::Lifetimes;
use crate::dataset::{Dataset, Group, History};
use crate::simulate::synthetic::Spec;
use crate::time::Timestamp;
use by_threshold::watched_page::WatchedPage;
use by_threshold::{LearningPhase, ThresholdSettings};
use lives::Lived;
use webs::{PaperWeb, SNAPSHOT_DAYS};

/// Pages that were watched at fewer cycles are left out: they show no curve.
pub const FEWEST_MOMENTS: u32 = 30;
/// ρ, as printed (§5.1).
const RISK: f64 = 10.0;

/// The figures of pages, lifetimes and policies. `told` is called with the step that begins.
pub fn run(effort: Effort, dataset: Option<&Dataset>, told: &mut dyn FnMut(&str)) -> Reproduced {
    let experiments = match dataset {
        Some(dataset) => on_dataset(&Corpus::of(dataset), told),
        None => on_made_up_pages(effort, told),
    };
    Reproduced {
        paper: "Olston & Pandey 2008: Recrawl Scheduling Based on Information Longevity",
        experiments,
    }
}

/// Every figure on the two webs after the paper's data sets, then the longer web.
fn on_made_up_pages(effort: Effort, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let high_quality = Corpus::of_web(&PaperWeb::high_quality(effort));
    let mut experiments = figures(&high_quality, told);
    experiments.push(against_cgm::figure_11(&high_quality, told));
    experiments.push(against_cgm::figure_12(&Corpus::of_web(&PaperWeb::random(effort)), told));
    let long = Corpus::of_spec(&webs::long(effort));
    experiments.push(beyond::lives_by_fragment(&long, &Lived::all(&long)));
    experiments.push(beyond::against_cgm(&long, told));
    experiments.push(other_webs::other_webs(effort, told));
    experiments
}

/// The same figures on a dataset. It stands for one data set, so there is no Fig. 12.
fn on_dataset(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let mut experiments = figures(corpus, told);
    experiments.push(against_cgm::figure_11(corpus, told));
    if corpus.has_fragments() {
        experiments.push(beyond::lives_by_fragment(corpus, &Lived::all(corpus)));
    }
    experiments.push(beyond::against_cgm(corpus, told));
    experiments
}

/// Fig. 1 to 6 and 8 to 10. Fig. 7 explains the bounds, and has no data.
fn figures(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let mut experiments = Vec::new();
    if corpus.has_fragments() {
        told(&format!("figures 1 to 5: how the fragments of {} pages live", corpus.pages.len()));
        let lived = Lived::all(corpus);
        experiments.push(shown_pages::run(corpus, &lived));
        experiments.push(frequency::run(corpus, &lived));
        experiments.push(lifetimes::theory());
        experiments.push(lifetimes::by_dominant_k(corpus, &lived));
    }
    experiments.push(offline::run(corpus, told));
    experiments.extend(online::run(corpus, told));
    experiments
}

/// How many pages of a dataset were watched long enough.
pub fn pages(dataset: &Dataset) -> usize {
    Corpus::of(dataset).pages.len()
}

/// Where the pages of the experiments come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CorpusKind {
    /// Pages after one of the paper's data sets.
    Paper(PaperWeb),
    /// Made-up pages that are seen at every moment.
    Long,
    /// The pages of a dataset.
    Recorded,
}

/// The pages of the experiments.
struct Corpus<'a> {
    dataset: Cow<'a, Dataset>,
    /// A group, and a page of it.
    pages: Vec<(u32, u32)>,
    kind: CorpusKind,
    /// Days from one moment to the next; a cycle of a recording counts as a day.
    step_days: f64,
    /// Pages may be refreshed at every n-th moment.
    every: usize,
}

impl<'a> Corpus<'a> {
    fn of(dataset: &'a Dataset) -> Self {
        Self::new(Cow::Borrowed(dataset), CorpusKind::Recorded, 1.0, 1)
    }

    fn of_web(web: &PaperWeb) -> Self {
        Self::new(Cow::Owned(web.dataset()), CorpusKind::Paper(*web), f64::from(SNAPSHOT_DAYS), 1)
    }

    /// Made-up pages that are seen at every moment, and refreshed at most as often as the paper's.
    fn of_spec(spec: &Spec) -> Self {
        let every = (SNAPSHOT_DAYS * spec.moments) as usize;
        Self::new(Cow::Owned(spec.dataset()), CorpusKind::Long, 1.0 / f64::from(spec.moments), every)
    }

    fn new(dataset: Cow<'a, Dataset>, kind: CorpusKind, step_days: f64, every: usize) -> Self {
        let mut pages = Vec::new();
        for (group, at) in dataset.groups.iter().zip(0..) {
            let watched = |born: u32| group.cycles.saturating_sub(born) >= FEWEST_MOMENTS;
            let own = group.pages.iter().zip(0..).filter(|(page, _)| watched(page.born));
            pages.extend(own.map(|(_, page)| (at, page)));
        }
        Self { dataset, pages, kind, step_days, every }
    }

    /// Days from one chance of a refresh to the next. A cost of 1 is a refresh at every chance.
    fn chance_days(&self) -> f64 {
        self.step_days * self.every as f64
    }

    /// The settings of §5.1: ρ = 10, and the first half of a page's time is the warm-up (30 of 60 days).
    fn settings(&self) -> ThresholdSettings {
        ThresholdSettings { learning: LearningPhase::Free, risk: RISK, warm_up: 0.5, every: self.every }
    }

    /// These days as a share of the time watched; `None` for a dataset, whose groups have cycles of different lengths.
    fn share_of_days(&self, days: f64) -> Option<f64> {
        let group = self.dataset.groups.first().filter(|_| self.kind != CorpusKind::Recorded)?;
        Some(days / (self.step_days * f64::from(group.cycles)))
    }

    /// Every `many`-th page.
    fn one_in(&self, many: usize) -> Corpus<'_> {
        let pages = self.pages.iter().step_by(many.max(1)).copied().collect();
        Corpus { dataset: Cow::Borrowed(&self.dataset), pages, ..*self }
    }

    /// The unit of time.
    fn unit(&self) -> &'static str {
        if self.kind == CorpusKind::Recorded { "cycle" } else { "day" }
    }

    fn has_fragments(&self) -> bool {
        let mut groups = self.dataset.groups.iter().flat_map(|group| &group.pages);
        groups.any(|page| matches!(page.history, History::Texts { .. }))
    }

    /// The pages in words.
    fn about(&self) -> String {
        let pages = self.pages.len();
        match self.kind {
            CorpusKind::Paper(web) => format!(
                "{pages} made-up pages after the paper's data set {}, {} snapshots, one every second day; divergence between \
                 snapshots is interpolated (appendix B). Assumed: {}",
                web.name, web.snapshots, web.about
            ),
            CorpusKind::Long => format!(
                "{pages} made-up pages, {} days, seen {:.0} times a day and refreshed once in two days at most. 40 % are quiet. Of \
                 the others the text of 40 % is static; elsewhere a twentieth to two fifths of it churns or scrolls (6 items) at \
                 log-normal rates, 0.1 a day in the middle, σ = 1.2; 60 % have adverts, a twelfth of the page, replaced 3 times \
                 a day in the middle. The two are drawn apart from each other",
                self.dataset.groups.first().map_or(0.0, |group| f64::from(group.cycles) * self.step_days),
                1.0 / self.step_days
            ),
            CorpusKind::Recorded => format!(
                "{pages} pages, watched at {FEWEST_MOMENTS} cycles or more, of a dataset with {} groups; time counts in cycles of \
                 each group; between cycles divergence is interpolated (appendix B)",
                self.dataset.groups.len()
            ),
        }
    }

    fn group_of(&self, at: usize) -> Option<&Group> {
        self.dataset.groups.get(self.pages.get(at)?.0 as usize)
    }

    fn watched(&self, at: usize) -> Option<WatchedPage> {
        let (_, page) = self.pages.get(at)?;
        WatchedPage::of(self.group_of(at)?, *page, self.step_days, self.kind == CorpusKind::Long)
    }

    /// A page's name, if it has one.
    fn name(&self, at: usize) -> String {
        let page = self.group_of(at).zip(self.pages.get(at));
        let url = page.and_then(|(group, (_, page))| group.pages.get(*page as usize)).map(|page| &page.url);
        match url {
            Some(url) if !url.is_empty() => url.clone(),
            _ => format!("page {at}"),
        }
    }

    /// The lifetimes of a page's fragments, in days.
    fn lifetimes(&self, at: usize) -> Option<Lifetimes> {
        let group = self.group_of(at)?;
        let page = group.pages.get(self.pages.get(at)?.1 as usize)?;
        let History::Texts { from, texts } = &page.history else { return None };
        let time = |moment: u32| {
            let days = f64::from(moment - page.born) * self.step_days;
            Timestamp::from_seconds((days * 86_400.0).round() as i64)
        };
        let mut lives = Lifetimes::default();
        let mut seen: Option<(u32, u32)> = None;
        for (moment, text) in from.iter().chain([&(group.cycles, u32::MAX)]) {
            // A text is last seen at the moment before the next text: births and deaths are put between the two.
            if let Some((since, held)) = seen
                && *moment > since + 1
            {
                lives.see(time(*moment - 1), texts.get(held as usize)?);
            }
            if let Some(fragments) = texts.get(*text as usize) {
                lives.see(time(*moment), fragments);
            }
            seen = Some((*moment, *text));
        }
        Some(lives)
    }
}

#[cfg(test)]
mod tests;
