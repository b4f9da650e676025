//! Olston & Pandey 2008, "Recrawl Scheduling Based on Information Longevity": how long fragments live, and what policies gain
//! that use it.
//!
//! Their pages are not published. Ours are those of any dataset, or drawn: see [`made_up`]. Time counts in cycles of the
//! dataset, each group having its own; made-up pages have one of a day.

mod against_cgm;
mod by_threshold;
mod frontier;
mod lives;
mod offline;
mod online;
mod other_webs;
mod results;
mod sketches;

use std::borrow::Cow;

use super::{Effort, Experiment, Reproduced};
use crate::change::lifetime::Lifetimes;
use crate::dataset::{Dataset, Group, History};
use crate::simulate::synthetic::Spec;
use crate::time::Timestamp;
use by_threshold::watched_page::WatchedPage;
use by_threshold::{ThresholdSettings, mean, sweep};
use results::{ONLINE, RISKS, Results, jobs, only, threads};

/// Pages that were watched at fewer cycles are left out: they show no curve.
pub const FEWEST_MOMENTS: u32 = 30;

/// The figures of pages, lifetimes and policies. `told` is called with the step that begins.
pub fn run(effort: Effort, dataset: Option<&Dataset>, told: &mut dyn FnMut(&str)) -> Reproduced {
    let corpus = match dataset {
        Some(dataset) => Corpus::of(dataset),
        None => Corpus::made_up(effort),
    };
    let mut experiments = Vec::new();
    if corpus.has_fragments() {
        told(&format!("figures 1 to 5: how the fragments of {} pages live", corpus.pages.len()));
        experiments.extend(lives::run(&corpus));
    }
    experiments.extend(policies(&corpus, told));
    if corpus.is_made_up() {
        experiments.push(other_webs::other_webs(effort, told));
    }
    Reproduced {
        paper: "Olston & Pandey 2008: Recrawl Scheduling Based on Information Longevity",
        experiments,
    }
}

/// Fig. 6 and 8 to 12: the refreshes of policies and the staleness of copies, page by page at one threshold.
fn policies(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let settings = corpus.settings();
    let jobs = jobs();
    told(&format!("figures 6 to 12: {} pages, {} policies and thresholds", corpus.pages.len(), jobs.len()));
    let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), &jobs, &settings, threads());
    let all = Results { jobs: &jobs, outcomes: mean(pages.iter().flatten()) };
    let mut experiments =
        vec![offline::offline(corpus, &all, &settings), online::online(corpus, &all, &settings)];
    if corpus.has_fragments() {
        experiments.push(sketches::sketches(corpus, &all));
    }
    let learning = only(&[ONLINE[1], ONLINE[2]]);
    let other = RISKS.map(|(name, risk)| {
        let settings = ThresholdSettings { risk, ..settings };
        let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), &learning, &settings, threads());
        (name, pages)
    });
    experiments.push(against_cgm::against_cgm(corpus, &all, &pages, &learning, &other));
    experiments
}

/// How many pages of a dataset were watched long enough.
pub fn pages(dataset: &Dataset) -> usize {
    Corpus::of(dataset).pages.len()
}

/// A web by what the paper says of its own (the high-quality pages): roughly half of the pages never change at all (§3.4);
/// almost 90 % of the content is static, and 3 % is gone within two days (§5.3); pages are seen once in two days (§3.1).
///
/// Two of five pages are quiet. Of the others, two of five have text that never changes, and six of ten have adverts, whatever
/// their text does: so 50 % never change. Adverts are a twelfth of a page, 3 % of all content, and are replaced about
/// three times a day. Of text that changes a twentieth to two fifths does, 7 % of all content: it churns or, on half of these
/// pages, scrolls, between once in two days and once in two months for most.
fn made_up(effort: Effort) -> Spec {
    let (cycles, moments) = if effort.runs < FEW_RUNS { (60, 1) } else { (240, 4) };
    Spec {
        pages: effort.less(2).max(FEWEST_PAGES) as usize,
        cycles,
        moments,
        scroll: Some(0.5),
        adverts: 0.6,
        advert_part: 1.0 / 12.0,
        moving: 0.4,
        quiet: 0.4,
        fragments: 192,
        static_share: 0.4,
        median_rate: 0.1,
        spread: 1.2,
        seed: effort.seed,
        ..Spec::default()
    }
}

/// The shortest time between two refreshes of a made-up page, in days, as in the paper.
const DAYS_APART: u32 = 2;
/// With fewer runs pages are watched for two months only, at one moment a day.
const FEW_RUNS: u32 = 100;
/// Fewer pages would not have one of each kind.
const FEWEST_PAGES: u32 = 12;

/// The pages of the experiments.
struct Corpus<'a> {
    dataset: Cow<'a, Dataset>,
    /// A group, and a page of it.
    pages: Vec<(u32, u32)>,
    /// Moments of a day.
    moments: u32,
    /// Do pages change at moments only, and stay the same between them?
    exact: bool,
}

impl<'a> Corpus<'a> {
    fn of(dataset: &'a Dataset) -> Self {
        Self::new(Cow::Borrowed(dataset), 1, false)
    }

    fn made_up(effort: Effort) -> Self {
        let spec = made_up(effort);
        Self::new(Cow::Owned(spec.dataset()), spec.moments, true)
    }

    fn new(dataset: Cow<'a, Dataset>, moments: u32, exact: bool) -> Self {
        let mut pages = Vec::new();
        for (group, at) in dataset.groups.iter().zip(0..) {
            let watched = |born: u32| group.cycles.saturating_sub(born) >= FEWEST_MOMENTS;
            let own = group.pages.iter().zip(0..).filter(|(page, _)| watched(page.born));
            pages.extend(own.map(|(_, page)| (at, page)));
        }
        Self { dataset, pages, moments, exact }
    }

    /// The settings of methods. Made-up pages are refreshed at most once in two days, as in the paper; others at any cycle.
    fn settings(&self) -> ThresholdSettings {
        if !self.is_made_up() {
            return ThresholdSettings::default();
        }
        let every = (DAYS_APART * self.moments) as usize;
        ThresholdSettings { every, learning_days: f64::from(DAYS_APART), ..ThresholdSettings::default() }
    }

    fn is_made_up(&self) -> bool {
        self.exact
    }

    /// The unit of time.
    fn unit(&self) -> &'static str {
        if self.is_made_up() { "day" } else { "cycle" }
    }

    fn has_fragments(&self) -> bool {
        let mut groups = self.dataset.groups.iter().flat_map(|group| &group.pages);
        groups.any(|page| matches!(page.history, History::Texts { .. }))
    }

    fn group_of(&self, at: usize) -> Option<&Group> {
        self.dataset.groups.get(self.pages.get(at)?.0 as usize)
    }

    fn watched(&self, at: usize) -> Option<WatchedPage> {
        let (_, page) = self.pages.get(at)?;
        WatchedPage::of(self.group_of(at)?, *page, 1.0 / f64::from(self.moments), self.exact)
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
            let seconds = i64::from(moment - page.born) * 86_400 / i64::from(self.moments);
            Timestamp::from_seconds(seconds)
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
