//! The change rates of pages from their visits, by one estimator or several, and the priors of a store.

use std::collections::HashMap;

use serde::ser::{Serialize, Serializer};

use crate::crawl::learning;
use crate::dataset::DatasetError;
use crate::dataset::csv_table::CsvTable;
use crate::estimate::learner::Learner;
use crate::estimate::period_grid::PeriodGrid;
use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors, PriorsFit};
use crate::estimate::registry::{self, EstimatorSettings};
use crate::estimate::two_intervals::TwoIntervals;
use crate::estimate::{Estimate, Estimator, EstimatorState, Seen};
use crate::page::{HostId, Normaliser, PageId};
use crate::policy::Lesson;
use crate::policy::page_state::seen;
use crate::store::Store;
use crate::time::Age;

use super::LookError;
use super::page::find;

/// The columns of a file of visits: a row has the days since the visit before, and whether the page had changed.
pub const VISIT_COLUMNS: [&str; 3] = ["page", "interval", "changed"];

/// The change rate of a page, by each estimator.
#[derive(Clone, Debug, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct PageEstimates {
    /// The page.
    #[serde(rename = "url")]
    pub page: String,
    /// By the names of the estimators, in their order.
    pub estimates: NamedEstimates,
    /// Visits that had something to compare with.
    #[serde(skip)]
    pub visits: u32,
    /// Those of them that found a change.
    #[serde(skip)]
    pub changes: u32,
}

/// Estimates by name; they serialise as a map.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEstimates(pub Vec<(&'static str, Estimate)>);

impl Serialize for NamedEstimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, estimate)| (name, estimate)))
    }
}

impl utoipa::PartialSchema for NamedEstimates {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        std::collections::BTreeMap::<String, Estimate>::schema()
    }
}

impl utoipa::ToSchema for NamedEstimates {
    fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
        std::collections::BTreeMap::<String, Estimate>::schemas(schemas);
    }
}

/// A prior that was fitted to the pages of a store.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FittedPrior {
    /// The estimator it is for; `first-interval`: for all that have no prior.
    pub estimator: &'static str,
    /// The pages that it is for.
    pub group: String,
    /// The pages it was fitted to.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Its first parameter; of a distribution of periods, the lower quartile in days.
    pub first: f64,
    /// Its second parameter; of a distribution of periods, the upper quartile in days.
    pub second: f64,
    /// Changes a day of a page that was never visited twice.
    pub rate: f64,
    /// The number of searches for it, if it is searched for with random numbers.
    pub searches: Option<u32>,
    /// Searches that came to the same result: a measure of confidence in it.
    pub searches_agree: Option<u32>,
    /// The kind of prior.
    #[serde(skip)]
    pub kind: PriorKind,
}

/// First intervals for new pages, tried on the pages of a store.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FirstIntervals {
    /// The interval of the least mean error: the best time between the first and the second visit to a new page.
    pub best_seconds: f64,
    /// The pages it was tried on.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Half of them have a shorter estimated period.
    pub median_period_seconds: f64,
    /// All intervals that were tried, shortest first.
    pub tried: Vec<FirstIntervalTried>,
}

/// A first interval and its errors.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FirstIntervalTried {
    /// The interval.
    pub first_interval_seconds: f64,
    /// The median over pages of the error of the estimated period, after each of the first five visits.
    pub median_error_seconds: Vec<f64>,
    /// The mean of these.
    pub mean_error_seconds: f64,
}

/// First intervals for new pages (Grimes & Ford 2008, §4.2). `None` if the store has too little to try them on.
pub fn first_intervals(store: &mut dyn Store) -> Result<Option<FirstIntervals>, LookError> {
    const DAY: f64 = 86_400.0;
    let Some(found) = learning::first_intervals(store)? else { return Ok(None) };
    let tried = found.tried.iter().map(|tried| FirstIntervalTried {
        first_interval_seconds: tried.first_days * DAY,
        median_error_seconds: tried.errors_days.iter().map(|error| error * DAY).collect(),
        mean_error_seconds: tried.mean() * DAY,
    });
    Ok(found.best().map(|best| FirstIntervals {
        best_seconds: best.first_days * DAY,
        pages: found.pages as u64,
        median_period_seconds: found.median_period_days * DAY,
        tried: tried.collect(),
    }))
}

/// The change rates of the pages of a file, in the order in which it first names them.
pub fn estimates_of_file(
    table: &mut CsvTable,
    estimators: &[Box<dyn Estimator>],
) -> Result<Vec<PageEstimates>, DatasetError> {
    let mut pages: Vec<(String, Vec<EstimatorState>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    while table.next_row()? {
        let name = table.name("page")?;
        let days = table.number("interval", "is not a number of days above 0", |days| days > 0.0)?;
        let changed =
            table.number("changed", "is neither 0 nor 1", |changed| changed == 0.0 || changed == 1.0)?;
        let place = *places.entry(name.to_owned()).or_insert_with(|| {
            pages.push((name.to_owned(), vec![EstimatorState::default(); estimators.len()]));
            pages.len() - 1
        });
        if let Some((_, states)) = pages.get_mut(place) {
            for (estimator, state) in estimators.iter().zip(states) {
                estimator.observe(state, Age::from_days(days), Seen::from(changed == 1.0));
            }
        }
    }
    let judged = pages.into_iter().map(|(page, states)| {
        let (visits, changes) = states.first().map_or((0, 0), |state| (state.visits, state.changes));
        let said = estimators.iter().zip(&states);
        let estimates = said.map(|(estimator, state)| (estimator.name(), estimator.as_published(state)));
        PageEstimates { page, visits, changes, estimates: NamedEstimates(estimates.collect()) }
    });
    Ok(judged.collect())
}

/// The change rates of pages of the store, by learners that know the store's priors: those of one page, or of all.
pub fn estimates_of_store(
    store: &mut dyn Store,
    learners: &[(&'static str, Learner)],
    page: Option<(&Normaliser, &str)>,
) -> Result<Vec<PageEstimates>, LookError> {
    let mut judged = Vec::new();
    let mut take = |page: String, host: HostId, depth: u32, lessons: &[Lesson]| {
        let seen: Vec<(Age, Seen)> = seen(lessons).collect();
        let estimates = learners.iter().map(|(name, learner)| {
            let mut state = EstimatorState::default();
            seen.iter().for_each(|(interval, seen)| learner.learn(host, depth, &mut state, *interval, *seen));
            (*name, learner.of(host, depth).as_published(&state))
        });
        let changes = lessons.iter().filter(|lesson| lesson.changed).count() as u32;
        let (visits, estimates) = (lessons.len() as u32, NamedEstimates(estimates.collect()));
        judged.push(PageEstimates { page, visits, changes, estimates });
    };
    match page {
        Some((normaliser, url)) => {
            let page = find(store, normaliser, url)?;
            let id = PageId(page.id);
            let host = store.known_page(id)?.map_or(HostId(0), |known| known.host);
            take(page.url, host, page.depth, &store.lessons(id)?);
        }
        None => store.each_history(1, &mut |page| take(page.url, page.host, page.depth, &page.lessons))?,
    }
    Ok(judged)
}

/// The change rate of one page of the store by every estimator, the default first, with the store's own priors.
pub fn estimates_of_page(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    settings: &EstimatorSettings,
) -> Result<Option<PageEstimates>, LookError> {
    let priors = store.priors()?;
    let mut learners = Vec::new();
    for estimator in registry::all(settings) {
        let Ok(mut learner) = Learner::new(estimator.name(), settings) else { continue };
        learner.believe(&priors);
        learners.push((estimator.name(), learner));
    }
    Ok(estimates_of_store(store, &learners, Some((normaliser, url)))?.pop())
}

/// Priors with the names of their groups, in the order of [`PriorKind::ALL`].
pub fn fitted_priors(store: &mut dyn Store, fit: &PriorsFit) -> Result<Vec<FittedPrior>, LookError> {
    let priors = &fit.priors;
    let hosts: HashMap<i64, String> =
        store.hosts()?.into_iter().map(|host| (host.id.0, host.report.host.as_str().to_owned())).collect();
    let mut fitted = Vec::new();
    for kind in PriorKind::ALL {
        for (group, numbers) in priors.of(kind) {
            let first_of = |prior: &&Prior| prior.kind == kind && prior.group == group;
            let pages = priors.all.iter().find(first_of).map_or(0, |prior| prior.pages);
            let agreement = fit.agreements.get(&group).filter(|_| kind == PriorKind::TwoIntervals);
            let Some([first, second, rate]) = summary(kind, &numbers) else { continue };
            fitted.push(FittedPrior {
                estimator: kind.name(),
                group: group_name(priors, group, &hosts),
                pages,
                first,
                second,
                rate,
                searches: agreement.map(|agreement| agreement.searches),
                searches_agree: agreement.map(|agreement| agreement.agree),
                kind,
            });
        }
    }
    Ok(fitted)
}

/// The two numbers of a prior that are shown, and the changes a day of a page that was never visited twice.
fn summary(kind: PriorKind, numbers: &[[f64; 2]]) -> Option<[f64; 3]> {
    let [first, second] = *numbers.first()?;
    Some(match kind {
        PriorKind::Gamma => [first, second, first / second],
        PriorKind::TwoIntervals => {
            [first, second, TwoIntervals { changed_days: first, unchanged_days: second }.rate()]
        }
        PriorKind::Periods => {
            let masses: Vec<f64> = numbers.iter().map(|[_, mass]| *mass).collect();
            let grid = PeriodGrid::new(numbers.iter().map(|[days, _]| *days).collect(), &masses)?;
            [grid.quantile_days(0.25), grid.quantile_days(0.75), grid.mean_rate()]
        }
        PriorKind::FirstInterval => [first, second, 1.0 / first],
    })
}

fn group_name(priors: &Priors, group: Option<i64>, hosts: &HashMap<i64, String>) -> String {
    match (group, priors.by) {
        (None, _) => "all others".to_owned(),
        (Some(group), GroupBy::Host) => hosts.get(&group).cloned().unwrap_or_default(),
        (Some(group), by) => format!("{} {group}", by.name()),
    }
}
