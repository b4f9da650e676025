//! Many policies over many groups, folds and page orders: figures with their confidence intervals.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use serde::Serialize;

use super::metric::{CycleFigures, Figures, mean_known};
use super::oracle::{ByOracle, Oracle, bound};
use super::raised_signals::{RaisedSignals, SignalSource};
use super::searched::{SearchedDataset, SearchedPages};
use super::truth::Truth;
use super::visit_credit::{ByCredit, CreditShares};
use super::{ByPolicy, Chooser, Measuring, ReplayTerms, Ties, replay};
use crate::dataset::{Dataset, Group};
use crate::policy::registry::{self, LongevitySettings, PolicySettings, RuleScale};
use crate::quality::measure::MeasureId;
use crate::time::Age;

/// Which replays are made.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// Policies, oracles and shares by credit, by name.
    pub policies: Vec<String>,
    /// Shares of the pages that a cycle visits.
    pub budgets: Vec<f64>,
    /// Cycles after a page's first copy in which it is visited without having to compete.
    pub warm_up: u32,
    /// Moments of the truth from one cycle to the next.
    pub every: u32,
    /// Number of parts that the pages are split into. Each is replayed by itself; 1: all pages together.
    pub folds: u32,
    /// Number of orders of the pages, which decide ties. The first is the order of the dataset.
    pub orders: u32,
    /// Which of two pages with the same score is visited first.
    pub ties: Ties,
    /// How far visits see pages move.
    pub measuring: Measuring,
    /// Replays that run at the same time.
    pub threads: usize,
    /// Groups with fewer pages are left out, unless there are no others.
    pub least_pages: usize,
    /// What people search for, and the words of the dataset; `None`: no queries are replayed.
    pub searched: Option<Arc<SearchedDataset>>,
    /// Signals that policies can look at.
    pub signals: SignalSource,
    /// The share of the budget for reading lists of signals, if that costs requests; `None`: lists are free.
    pub list_cost: Option<f64>,
    /// The cycles of a day share their budget.
    pub by_day: bool,
}

/// The name that stands for the least staleness that any schedule can reach.
pub const BOUND: &str = "bound";

/// How one policy did with one budget.
#[derive(Clone, Debug, Serialize)]
pub struct CompareRow {
    /// The policy's name.
    pub policy: String,
    /// The share of the pages that a cycle visits.
    pub budget: f64,
    /// The plain mean over the groups.
    pub mean: MeanInterval,
    /// The figures of each group.
    pub groups: BTreeMap<String, MeanInterval>,
    /// The cycles of the first order and fold, by group.
    #[serde(skip)]
    pub cycles: BTreeMap<String, Vec<CycleFigures>>,
}

/// Means over folds and orders, and the half-widths of their 95 % confidence intervals.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct MeanInterval {
    /// The means.
    #[serde(flatten)]
    pub figures: Figures,
    /// The half-widths; `None` with fewer than [`LEAST_SAMPLES`].
    pub off: Option<Figures>,
    /// Replays that the means are over.
    pub samples: usize,
}

impl MeanInterval {
    fn of(samples: &[Figures]) -> Self {
        let spread = |of: fn(&Figures) -> f64| spread(&samples.iter().map(of).collect::<Vec<f64>>());
        let mean = |of: fn(&Figures) -> f64| spread(of).0;
        let off = |of: fn(&Figures) -> f64| spread(of).1.unwrap_or(0.0);
        // Groups and parts in which no query has a result have no quality.
        let known: Vec<f64> = samples.iter().filter_map(|figures| figures.quality).collect();
        let all = |take: &dyn Fn(fn(&Figures) -> f64) -> f64, quality: Option<f64>| Figures {
            change_rate: take(|figures| figures.change_rate),
            freshness: take(|figures| figures.freshness),
            staleness: take(|figures| figures.staleness),
            age: take(|figures| figures.age),
            weighted_freshness: take(|figures| figures.weighted_freshness),
            weighted_staleness: take(|figures| figures.weighted_staleness),
            ndcg: take(|figures| figures.ndcg),
            quality,
            requests: take(|figures| figures.requests as f64) as u64,
        };
        let off = (samples.len() >= LEAST_SAMPLES).then(|| all(&off, self::spread(&known).1));
        let figures = all(&mean, mean_known(samples.iter().map(|figures| figures.quality)));
        Self { figures, off, samples: samples.len() }
    }
}

/// Fewest samples for a confidence interval. With two, Student's t is 12.7: the interval of a share can be wider than 0 to 1.
pub const LEAST_SAMPLES: usize = 3;

/// The mean, and the half-width of its 95 % confidence interval; `None` with fewer than [`LEAST_SAMPLES`].
pub fn spread(samples: &[f64]) -> (f64, Option<f64>) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count.max(1.0);
    let squares = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>();
    let off = || deviations(samples.len() - 1) * (squares / (count - 1.0) / count).sqrt();
    (mean, (samples.len() >= LEAST_SAMPLES).then(off))
}

/// Does an interval of this half-width say anything about a share? One that is as wide as 0 to 1 does not.
pub fn is_narrow(off: &f64) -> bool {
    *off < 0.5
}

/// Student's t for a two-sided 95 % interval, by degrees of freedom.
fn deviations(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    match freedom {
        0 => f64::INFINITY,
        1..=10 => TABLE.get(freedom - 1).copied().unwrap_or(2.0),
        11..=20 => 2.13,
        21..=40 => 2.03,
        _ => 1.96,
    }
}

/// One replay to be made.
struct Job<'a> {
    policy: usize,
    budget: usize,
    group: &'a Group,
    order: u32,
    fold: u32,
}

/// Is there a policy, an oracle or a rule by credit of that name, that can be made with these queries?
pub fn check(name: &str, queries: Option<MeasureId>) -> Result<(), String> {
    if name == BOUND || Oracle::from_name(name).is_some() || CreditShares::from_name(name).is_some() {
        return Ok(());
    }
    registry::find(name, &PolicySettings { queries, ..PolicySettings::default() }).map(drop)
}

/// Replays every policy with every budget. `progress` is called with the number of replays that are done, and of all.
pub fn compare(
    dataset: &Dataset,
    plan: &ComparePlan,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<CompareRow>, String> {
    let queries = plan.searched.as_ref().map(|searched| searched.measure());
    for name in &plan.policies {
        check(name, queries)?;
    }
    let groups = groups(dataset, plan.least_pages);
    let mut jobs = Vec::new();
    for budget in 0..plan.budgets.len() {
        for policy in 0..plan.policies.len() {
            for group in &groups {
                for order in 0..plan.orders {
                    jobs.extend((0..plan.folds).map(|fold| Job { policy, budget, group, order, fold }));
                }
            }
        }
    }
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Vec<CycleFigures>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                while let Some((at, job)) = take(&next, &jobs) {
                    let cycles = run(job, plan);
                    if let Ok(mut results) = results.lock()
                        && let Some(place) = results.get_mut(at)
                    {
                        *place = Some(cycles);
                    }
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    Ok(rows(plan, &groups, &jobs, &results))
}

/// The groups that have at least `least_pages` pages; all groups if there are none.
pub fn groups(dataset: &Dataset, least_pages: usize) -> Vec<&Group> {
    let large: Vec<&Group> = dataset.groups.iter().filter(|group| group.pages.len() >= least_pages).collect();
    if large.is_empty() { dataset.groups.iter().collect() } else { large }
}

/// The pages of a fold, in rising order, and all other pages in the order in which they were drawn. The draw is always the same.
pub fn fold(pages: usize, folds: u32, fold: u32) -> (Vec<u32>, Vec<u32>) {
    let mut all: Vec<u32> = (0..pages as u32).collect();
    all.shuffle(&mut Pcg64::seed_from_u64(1));
    let is_own = |place: usize| place % folds.max(1) as usize == fold as usize;
    let of = |own: bool| {
        let drawn = all.iter().enumerate().filter(move |(place, _)| is_own(*place) == own);
        drawn.map(|(_, page)| *page).collect::<Vec<u32>>()
    };
    let mut own = of(true);
    own.sort_unstable();
    (own, of(false))
}

fn take<'a, 'b>(next: &AtomicUsize, jobs: &'b [Job<'a>]) -> Option<(usize, &'b Job<'a>)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, job))
}

fn run(job: &Job<'_>, plan: &ComparePlan) -> Vec<CycleFigures> {
    let Job { group, order, fold, .. } = job;
    let mut pages = self::fold(group.pages.len(), plan.folds, *fold).0;
    if *order > 0 {
        pages.shuffle(&mut Pcg64::seed_from_u64(u64::from(*order)));
    }
    let truth = Truth::of(group, &pages).with_words(plan.searched.as_deref(), group, &pages);
    let budget = plan.budgets.get(job.budget).copied().unwrap_or(0.05);
    let terms = ReplayTerms {
        budget,
        warm_up: plan.warm_up,
        step: group.step,
        every: plan.every,
        by_day: plan.by_day,
        start: group.start,
        ties: plan.ties,
        measuring: plan.measuring,
    };
    let signals = match &plan.signals {
        // Each order has a draw of its own, so that intervals are over draws, too.
        SignalSource::Drawn(spec) => {
            Some(RaisedSignals::drawn(spec, u64::from(*order), group, &pages, &truth, &terms))
        }
        SignalSource::Recorded => RaisedSignals::recorded(group, &pages, &terms),
        SignalSource::Off => None,
    };
    let truth = truth.with_signals(signals.map(|signals| signals.with_list_cost(plan.list_cost)));
    let name = plan.policies.get(job.policy).map_or("age", String::as_str);
    replayed(name, group, &truth, &terms)
}

/// Replays a policy, an oracle or a rule by credit, by its name, on pages of a group.
pub fn replayed(name: &str, group: &Group, truth: &Truth, terms: &ReplayTerms) -> Vec<CycleFigures> {
    if name == BOUND {
        return vec![CycleFigures::of_staleness(bound(truth, terms).staleness)];
    }
    if let Some(oracle) = Oracle::from_name(name) {
        return replay(truth, &mut Chooser::Oracle(ByOracle::new(oracle, truth, *terms)), terms);
    }
    let settings = policy_settings(group, truth, terms);
    let shares = CreditShares::from_name(name);
    match registry::find(if shares.is_some() { "change-rate" } else { name }, &settings) {
        Ok(policy) if let Some(shares) = shares => {
            replay(truth, &mut Chooser::Credit(ByCredit::new(shares, policy, truth, *terms)), terms)
        }
        Ok(policy) => replay(truth, &mut Chooser::Policy(ByPolicy::new(policy, truth, *terms)), terms),
        // Checked before.
        Err(_) => Vec::new(),
    }
}

/// The settings of policies in a replay of a group.
pub(crate) fn policy_settings(group: &Group, truth: &Truth, terms: &ReplayTerms) -> PolicySettings {
    // Rules of other crawlers have no budget: they start from the interval that would spend it evenly.
    let cycle = group.step.as_secs_f64() / 86_400.0 * f64::from(terms.every);
    let rules = RuleScale::Start { first: cycle / terms.budget, least: cycle };
    let longevity =
        LongevitySettings { learning_days: cycle, cycle_days: cycle, ..LongevitySettings::default() };
    PolicySettings {
        rules,
        interval: Age::from_days(cycle / terms.budget),
        longevity,
        queries: truth.searched.as_ref().map(SearchedPages::measure),
        ..PolicySettings::default()
    }
}

fn rows(
    plan: &ComparePlan,
    groups: &[&Group],
    jobs: &[Job<'_>],
    results: &[Option<Vec<CycleFigures>>],
) -> Vec<CompareRow> {
    let mut rows = Vec::new();
    for (budget, share) in plan.budgets.iter().enumerate() {
        for (policy, name) in plan.policies.iter().enumerate() {
            let own =
                jobs.iter().zip(results).filter(|(job, _)| job.policy == policy && job.budget == budget);
            let mut by_group: BTreeMap<String, Vec<Figures>> = BTreeMap::new();
            let mut by_sample: BTreeMap<(u32, u32), Vec<Figures>> = BTreeMap::new();
            let mut cycles = BTreeMap::new();
            for (job, result) in own {
                // A group in which no page competes has no figures.
                let Some(result) = result.as_ref().filter(|cycles| !cycles.is_empty()) else { continue };
                let figures = Figures::of(result);
                by_group.entry(job.group.name.clone()).or_default().push(figures);
                by_sample.entry((job.order, job.fold)).or_default().push(figures);
                if job.order == 0 && job.fold == 0 {
                    cycles.insert(job.group.name.clone(), result.clone());
                }
            }
            let macros: Vec<Figures> = by_sample.values().map(|of| MeanInterval::of(of).figures).collect();
            let groups = groups.iter().filter_map(|group| {
                let samples = by_group.get(&group.name)?;
                Some((group.name.clone(), MeanInterval::of(samples)))
            });
            let groups = groups.collect();
            rows.push(CompareRow {
                policy: name.clone(),
                budget: *share,
                mean: MeanInterval::of(&macros),
                groups,
                cycles,
            });
        }
    }
    rows
}
