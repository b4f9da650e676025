//! Priors: what an estimator believes about a page's change rate before its first visits.
//!
//! Comes in: the visit histories of many pages. Goes out: a prior for all pages, and one for each group of pages (a host,
//! a link depth) that is large enough. A prior that fits the collection makes few visits tell much about a page.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::censored::VisitHistory;
use super::gamma::Gamma;
use super::initial_interval;
use super::period_grid::PeriodGrid;
use super::tuned_intervals;
use super::two_intervals::SearchAgreement;
use crate::near_names;
use crate::page::{Depth, HostId};

/// How pages are grouped: pages of one group share a prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// One prior for all pages.
    All,
    /// One prior for each host.
    #[default]
    Host,
    /// One prior for each link depth.
    Depth,
}

impl GroupBy {
    /// Every way to group pages.
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
        let names = Self::ALL.map(Self::name);
        found.ok_or_else(|| format!("there is no group `{name}`; {}", near_names::instead(name, names)))
    }
}

/// The family of a prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorKind {
    /// A Gamma distribution over rates.
    Gamma,
    /// A changed and an unchanged interval before the first visit (Grimes & Ford 2008, §4.4).
    TwoIntervals,
    /// The distribution of periods, on a grid (their §4.3).
    Periods,
    /// The interval before the second visit to a page (their §4.2), for estimators without a prior.
    FirstInterval,
}

impl PriorKind {
    /// Every kind of prior.
    pub const ALL: [Self; 4] = [Self::Gamma, Self::TwoIntervals, Self::Periods, Self::FirstInterval];

    /// The name in the store: that of the estimator that uses this kind of prior, or `first-interval`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gamma => "gamma",
            Self::TwoIntervals => "two-interval",
            Self::Periods => "posterior",
            Self::FirstInterval => "first-interval",
        }
    }
}

/// One prior, as it is stored. A prior of kind [`PriorKind::Periods`] is several of these, one for each period of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Its family.
    pub kind: PriorKind,
    /// The group's key ([`GroupBy::key`]). `None` is the prior of all pages whose group has none of its own.
    pub group: Option<i64>,
    /// For `Gamma`: the shape, and the scale in days. For `TwoIntervals`: the changed and the unchanged interval, in days. For
    /// `Periods`: a period in days, and the share of pages that have it. For `FirstInterval`: the interval, and the mean over the
    /// first five visits of the median error of the period, in days.
    pub numbers: [f64; 2],
    /// How many pages it was fitted to.
    pub pages: u64,
}

/// All priors of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priors {
    /// How pages are grouped.
    pub by: GroupBy,
    /// The priors themselves.
    pub all: Vec<Prior>,
    /// How many comparisons (visits with something to compare with) the collection had at the time of the fit.
    pub comparisons: u64,
}

/// Priors that were fitted just now, and the confidence in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorsFit {
    /// The priors.
    pub priors: Priors,
    /// For each group with a prior of two intervals: how many searches for it agree.
    pub agreements: BTreeMap<Option<i64>, SearchAgreement>,
}

/// The fewest pages, each visited at least twice, for which a group gets a prior of its own. Smaller groups use that of all pages.
const LEAST_PAGES: usize = 100;
/// The fewest pages that any prior is fitted to.
pub(crate) const LEAST_PAGES_IN_ALL: usize = 20;
/// The fewest comparisons before the first fit.
const LEAST_COMPARISONS: u64 = 50;

/// Is it time to fit priors again? `fitted` is the number of comparisons at the last fit, `comparisons` the number now.
///
/// The answer is yes once there are a quarter more. So the cost of fits, and of learning all pages again from the log, stays
/// in proportion to the number of visits.
pub(crate) fn is_time_to_fit(comparisons: u64, fitted: u64) -> bool {
    comparisons >= LEAST_COMPARISONS && comparisons >= fitted.saturating_add(fitted / 4)
}

impl Priors {
    /// Fits priors to the histories of pages: one for all pages, and one for each group that is large enough. The order of the
    /// pages does not matter. The result is empty if there are too few pages, or if none ever changed.
    pub fn fit(by: GroupBy, kinds: &[PriorKind], pages: &[(HostId, Depth, VisitHistory)]) -> PriorsFit {
        let mut groups: BTreeMap<Option<i64>, Vec<VisitHistory>> = BTreeMap::new();
        for (host, depth, history) in pages {
            groups.entry(None).or_default().push(history.clone());
            if by != GroupBy::All {
                groups.entry(Some(by.key(*host, *depth))).or_default().push(history.clone());
            }
        }
        let (mut all, mut agreements) = (Vec::new(), BTreeMap::new());
        for (group, histories) in &groups {
            let least = if group.is_some() { LEAST_PAGES } else { LEAST_PAGES_IN_ALL };
            if histories.len() < least {
                continue;
            }
            for kind in kinds {
                let rows: Vec<[f64; 2]> = match kind {
                    PriorKind::Gamma => {
                        Gamma::fit(histories).map(|fit| [fit.shape, fit.days]).into_iter().collect()
                    }
                    PriorKind::TwoIntervals => {
                        let found = tuned_intervals::fit(histories);
                        agreements.extend(found.iter().map(|found| (*group, found.agreement())));
                        let pair = found.map(|found| [found.two.changed_days, found.two.unchanged_days]);
                        pair.into_iter().collect()
                    }
                    PriorKind::Periods => {
                        PeriodGrid::fit(histories).iter().flat_map(PeriodGrid::points).collect()
                    }
                    PriorKind::FirstInterval => {
                        let tried = initial_interval::of_collection(histories);
                        let best =
                            tried.and_then(|tried| tried.best().map(|best| [best.first_days, best.mean()]));
                        best.into_iter().collect()
                    }
                };
                let pages = histories.len() as u64;
                all.extend(rows.into_iter().map(|numbers| Prior {
                    kind: *kind,
                    group: *group,
                    numbers,
                    pages,
                }));
            }
        }
        PriorsFit { priors: Self { by, all, comparisons: 0 }, agreements }
    }

    /// Is there no prior at all?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The numbers of the priors of one kind, by group: one pair, or one for each period of a grid.
    pub(crate) fn of(&self, kind: PriorKind) -> BTreeMap<Option<i64>, Vec<[f64; 2]>> {
        let mut groups: BTreeMap<Option<i64>, Vec<[f64; 2]>> = BTreeMap::new();
        for prior in self.all.iter().filter(|prior| prior.kind == kind) {
            groups.entry(prior.group).or_default().push(prior.numbers);
        }
        groups
    }
}

/// The periods of these pages in days, shortest first; a page's period is one over [`VisitHistory::most_likely`]. Empty if no
/// page changed.
pub(super) fn periods(histories: &[VisitHistory]) -> Vec<f64> {
    if histories.iter().all(VisitHistory::is_quiet) {
        return Vec::new();
    }
    let periods = histories.iter().map(|history| 1.0 / history.most_likely());
    let mut periods: Vec<f64> = periods.filter(|period| period.is_finite()).collect();
    periods.sort_by(f64::total_cmp);
    periods
}
