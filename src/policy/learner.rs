//! An estimator with its priors: what a policy learns rates by.
//!
//! A prior is what is believed of a page before it was visited twice. Fitted to the pages at hand, and where there are
//! enough of them to each group (a host, a depth), it is what makes few visits tell much.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::estimate::censored::History;
use crate::estimate::gamma::Gamma;
use crate::estimate::registry::{self, EstimatorSettings};
use crate::estimate::two_intervals::{Base, Histogram, Search, TwoIntervals};
use crate::estimate::weighted::VisitLength;
use crate::estimate::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::page::{Depth, HostId};
use crate::time::Age;

use super::PageState;

/// What pages have in common that share a prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// Nothing: one prior for all.
    All,
    #[default]
    Host,
    Depth,
}

impl GroupBy {
    pub const ALL: [Self; 3] = [Self::All, Self::Host, Self::Depth];

    /// The name on the command line and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Host => "host",
            Self::Depth => "depth",
        }
    }

    /// The group of a page.
    pub fn key(self, host: HostId, depth: Depth) -> i64 {
        match self {
            Self::All => 0,
            Self::Host => host.0,
            Self::Depth => i64::from(depth),
        }
    }
}

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| format!("there is no group `{name}`; there is `all`, `host`, `depth`"))
    }
}

/// Which family a prior is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorKind {
    /// A Gamma distribution over rates.
    Gamma,
    /// A changed and an unchanged interval before the first visit (Grimes & Ford 2008, §4.4).
    TwoIntervals,
}

impl PriorKind {
    pub const ALL: [Self; 2] = [Self::Gamma, Self::TwoIntervals];

    /// The name of the estimator that goes by it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gamma => "gamma",
            Self::TwoIntervals => "two-interval",
        }
    }
}

/// A prior as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    pub kind: PriorKind,
    /// `None`: of all pages that no group has a prior for.
    pub group: Option<i64>,
    /// The shape and the days of a Gamma distribution; or the changed and the unchanged interval, in days.
    pub numbers: [f64; 2],
    /// Pages it was fitted to.
    pub pages: u64,
}

/// Every prior there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priors {
    pub by: GroupBy,
    pub all: Vec<Prior>,
    /// Visits that had something to compare with, when they were fitted.
    pub comparisons: u64,
}

/// A group has a prior of its own from so many pages on that were visited twice; fewer lean on all pages.
const LEAST_PAGES: usize = 100;
/// Any fit needs so many pages.
pub const LEAST_PAGES_IN_ALL: usize = 20;
/// Before so many comparisons there is nothing to fit.
const LEAST_COMPARISONS: u64 = 50;

/// Is it time to fit priors again, if the last fit had so many comparisons and there are so many by now? Once there are a
/// quarter more: what a fit costs, and learning all pages anew from the log, stays in proportion to the visits themselves.
pub fn is_time_to_fit(comparisons: u64, fitted: u64) -> bool {
    comparisons >= LEAST_COMPARISONS && comparisons >= fitted.saturating_add(fitted / 4)
}

/// Bins of the histogram that two intervals are fitted to, each as wide as a hundredth of the longest period seen.
const BINS: usize = 200;

impl Priors {
    /// Fits priors to what was seen of pages: of all together, and of each group that is large enough. The order of the
    /// pages does not matter. Nothing comes of too few pages, or if none ever changed.
    pub fn fit(by: GroupBy, kinds: &[PriorKind], pages: &[(HostId, Depth, History)]) -> Self {
        let mut groups: BTreeMap<Option<i64>, Vec<History>> = BTreeMap::new();
        for (host, depth, history) in pages {
            groups.entry(None).or_default().push(history.clone());
            if by != GroupBy::All {
                groups.entry(Some(by.key(*host, *depth))).or_default().push(history.clone());
            }
        }
        let mut all = Vec::new();
        for (group, histories) in &groups {
            let least = if group.is_some() { LEAST_PAGES } else { LEAST_PAGES_IN_ALL };
            if histories.len() < least {
                continue;
            }
            for kind in kinds {
                let numbers = match kind {
                    PriorKind::Gamma => Gamma::fit(histories).map(|fit| [fit.shape, fit.days]),
                    PriorKind::TwoIntervals => fit_two_intervals(histories),
                };
                let pages = histories.len() as u64;
                all.extend(numbers.map(|numbers| Prior { kind: *kind, group: *group, numbers, pages }));
            }
        }
        Self { by, all, comparisons: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn of(&self, kind: PriorKind) -> impl Iterator<Item = &Prior> {
        self.all.iter().filter(move |prior| prior.kind == kind)
    }
}

/// The two intervals nearest to the periods of these pages, as [`History::most_likely`] has them.
fn fit_two_intervals(histories: &[History]) -> Option<[f64; 2]> {
    let mut periods: Vec<f64> = histories
        .iter()
        .map(|history| 1.0 / history.most_likely())
        .filter(|period| period.is_finite())
        .collect();
    if periods.is_empty() || histories.iter().all(History::is_quiet) {
        return None;
    }
    periods.sort_by(f64::total_cmp);
    // The longest of all would make the bins too wide for the others: one in twenty may lie beyond.
    let longest = periods.get((periods.len() - 1) * 19 / 20).copied()?;
    let bin_days = 2.0 * longest / BINS as f64;
    let population = Histogram::of(&periods, bin_days, BINS);
    let search = Search { shortest_days: bin_days / 10.0, longest_days: 20.0 * longest, ..Search::default() };
    let fitted = TwoIntervals::fit_seeded(&population, Base::Rates, &search, 1);
    Some([fitted.changed_days, fitted.unchanged_days])
}

/// An estimator, with a prior for each group that has one.
pub struct Learner {
    name: String,
    settings: EstimatorSettings,
    by: GroupBy,
    general: Box<dyn Estimator>,
    groups: BTreeMap<i64, Box<dyn Estimator>>,
    /// What gamma believes before the first visit, by group.
    gammas: BTreeMap<i64, Gamma>,
    prior_hash: u64,
}

impl fmt::Debug for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learner").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Learner {
    /// By the estimator's name.
    pub fn new(name: &str, settings: &EstimatorSettings) -> Result<Self, String> {
        Ok(Self {
            name: name.to_owned(),
            settings: settings.clone(),
            by: GroupBy::default(),
            general: registry::find(name, settings)?,
            groups: BTreeMap::new(),
            gammas: BTreeMap::new(),
            prior_hash: 0,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which prior it goes by.
    pub fn prior(&self) -> Option<PriorKind> {
        PriorKind::ALL.into_iter().find(|kind| kind.name() == self.name)
    }

    /// Takes over fitted priors in place of what it believed.
    pub fn believe(&mut self, priors: &Priors) {
        self.by = priors.by;
        self.groups.clear();
        self.gammas.clear();
        self.prior_hash = 0;
        let Some(kind) = self.prior() else { return };
        for prior in priors.of(kind) {
            let [first, second] = prior.numbers;
            let mut settings = self.settings.clone();
            settings.gamma.prior = Gamma { shape: first, days: second };
            settings.two_intervals = TwoIntervals { changed_days: first, unchanged_days: second };
            let Ok(estimator) = registry::find(&self.name, &settings) else { continue };
            match prior.group {
                None => {
                    self.general = estimator;
                    self.settings.gamma = settings.gamma;
                    self.settings.two_intervals = settings.two_intervals;
                }
                Some(group) => {
                    self.groups.insert(group, estimator);
                    self.gammas.insert(group, settings.gamma.prior);
                }
            }
            let said =
                format!("{} {:?} {} {}", self.prior_hash, prior.group, first.to_bits(), second.to_bits());
            self.prior_hash = xxh3_64(said.as_bytes());
        }
    }

    /// Sets what a change per visit is a change per, for estimators that count visits.
    pub fn count_in(&mut self, cycle: Age) {
        self.settings.visit = VisitLength::Cycle(cycle);
        if let Ok(estimator) = registry::find(&self.name, &self.settings) {
            self.general = estimator;
        }
    }

    /// Names the memory it makes: the estimator, how it is set, and its priors.
    pub fn memory_kind(&self) -> String {
        let EstimatorSettings { step, keep, gamma, .. } = &self.settings;
        let set = match self.name.as_str() {
            "sa" => format!(" {step:?}"),
            "gamma" => format!(" {:?} {:016x}", gamma.memory_days, self.prior_hash),
            "mle" | "dated" | "mm" | "posterior" => format!(" {keep}"),
            "two-interval" => format!(" {keep} {:016x}", self.prior_hash),
            _ => String::new(),
        };
        format!("{}{set}", self.name)
    }

    pub fn learn(&self, host: HostId, depth: Depth, state: &mut EstimatorState, interval: Age, seen: Seen) {
        self.of(host, depth).observe(state, interval, seen);
    }

    /// How often the page changes; never 0.
    pub fn estimate(&self, page: &PageState) -> Estimate {
        self.of(page.host, page.depth).estimate(&page.learnt.state)
    }

    /// The same as the formula has it, which may be 0.
    pub fn as_published(&self, page: &PageState) -> Estimate {
        self.of(page.host, page.depth).as_published(&page.learnt.state)
    }

    /// What is believed of the page's rate, if the estimator says it as a Gamma distribution.
    pub fn belief(&self, page: &PageState) -> Option<Gamma> {
        match page.learnt.state.memory {
            Memory::Gamma(belief) => Some(belief),
            _ if self.name == PriorKind::Gamma.name() => Some(self.gamma_prior(page)),
            _ => None,
        }
    }

    /// For how many days of watching what is believed before the first visit counts.
    pub fn prior_days(&self, page: &PageState) -> f64 {
        self.gamma_prior(page).days
    }

    fn gamma_prior(&self, page: &PageState) -> Gamma {
        let group = self.gammas.get(&self.by.key(page.host, page.depth));
        group.copied().unwrap_or(self.settings.gamma.prior)
    }

    /// The estimator for pages of that host and depth.
    pub fn of(&self, host: HostId, depth: Depth) -> &dyn Estimator {
        if self.groups.is_empty() {
            return &*self.general;
        }
        self.groups.get(&self.by.key(host, depth)).map_or(&*self.general, |estimator| &**estimator)
    }
}
