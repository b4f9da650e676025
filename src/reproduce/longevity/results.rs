//! Methods at many thresholds, and how their outcomes become curves and tables.

use super::Corpus;
use super::by_threshold::{
    Method, SpentRequests, ThresholdJob, ThresholdOutcome, ThresholdSettings, mean, sweep,
};
use super::frontier::CostFrontier;
use crate::reproduce::{Figure, FigureCurve, Numbers, Point, Scale, geometric};
use crate::simulate::Measuring;

/// Thresholds of methods that know the truth, evenly spread over orders of magnitude, in divergence × days; of methods that
/// learn; periods of Uniform, in days; and divergences, for U = D.
const THRESHOLDS: (f64, f64, u32) = (0.02, 300.0, 60);
const THRESHOLDS_OF_LEARNERS: (f64, f64, u32) = (0.03, 200.0, 40);
const PERIODS: (f64, f64, u32) = (0.25, 120.0, 60);
const DIVERGENCES: (f64, f64, u32) = (0.001, 1.0, 60);
/// At some thresholds CGM gives up many pages at once, so it gets more of them: its best ones must be included.
const THRESHOLDS_OF_CGM: (f64, f64, u32) = (0.02, 300.0, 120);

/// Whole texts and five profiles, as in the paper (§5.2).
pub(super) const WHOLE: Measuring = Measuring { sketch: None, profiles: 5 };
/// The paper's methods that learn.
pub(super) const CURVE: Method = Method::LongevityCurve(WHOLE);
pub(super) const BOUND: Method = Method::LongevityBound(WHOLE);

/// Where methods are compared: staleness between that of copies refreshed at every chance (0) and that of copies never
/// refreshed (1). The paper calls this range the playing field, and its middle moderate (§5.3).
pub(super) const FIELD: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
/// The least cost that is plotted: less is hardly one refresh in the time that pages were watched.
const LEAST_COST: f64 = 2e-3;

/// The thresholds of a method.
pub(super) fn thresholds(method: Method) -> Vec<f64> {
    let (from, to, many) = match method {
        Method::Uniform => PERIODS,
        Method::DivergenceStatic | Method::DivergenceDynamic => DIVERGENCES,
        Method::Cgm | Method::CgmBiasReduced => THRESHOLDS_OF_CGM,
        Method::LongevityCurve(_) | Method::LongevityBound(_) => THRESHOLDS_OF_LEARNERS,
        Method::FragmentStatic
        | Method::FragmentDynamic
        | Method::HolisticStatic
        | Method::HolisticDynamic => THRESHOLDS,
    };
    geometric(from, to, many)
}

/// CGM gives all pages up at an infinite threshold: they are never refreshed, but for a learning phase that all methods share.
const NEVER: ThresholdJob = ThresholdJob::new(Method::Cgm, f64::INFINITY);

/// These methods at all their thresholds, and the job that never refreshes.
pub(super) fn jobs(methods: &[Method]) -> Vec<ThresholdJob> {
    let mut jobs = vec![NEVER];
    for method in methods {
        jobs.extend(thresholds(*method).into_iter().map(|threshold| ThresholdJob::new(*method, threshold)));
    }
    jobs
}

/// The outcomes of jobs on each page; `None` for a page that can't be watched.
pub(super) type PageOutcomes = Vec<Option<Vec<ThresholdOutcome>>>;

impl Corpus<'_> {
    /// Runs all jobs over all pages.
    pub(super) fn sweep(&self, jobs: &[ThresholdJob], settings: &ThresholdSettings) -> PageOutcomes {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        sweep(self.pages.len(), &|at| self.watched(at), jobs, settings, threads)
    }

    /// The mean outcomes of all jobs over all pages.
    pub(super) fn results(&self, jobs: Vec<ThresholdJob>, settings: &ThresholdSettings) -> Results {
        let pages = self.sweep(&jobs, settings);
        Results::of(self, jobs, &pages)
    }
}

/// The mean outcomes of all jobs over pages.
pub(super) struct Results {
    pub(super) jobs: Vec<ThresholdJob>,
    pub(super) outcomes: Vec<ThresholdOutcome>,
    /// Days from one chance of a refresh to the next.
    chance_days: f64,
}

/// A part of the time.
pub(super) type ResultPart = fn(&ThresholdOutcome) -> &SpentRequests;
pub(super) const WARM_UP: ResultPart = |outcome| &outcome.warm_up;
pub(super) const STEADY: ResultPart = |outcome| &outcome.steady;

impl Results {
    pub(super) fn of(corpus: &Corpus<'_>, jobs: Vec<ThresholdJob>, pages: &PageOutcomes) -> Self {
        Self { jobs, outcomes: mean(pages.iter().flatten()), chance_days: corpus.chance_days() }
    }

    /// The same jobs on some of the pages.
    pub(super) fn on(&self, pages: &[Vec<ThresholdOutcome>]) -> Self {
        Self { jobs: self.jobs.clone(), outcomes: mean(pages), chance_days: self.chance_days }
    }

    /// Refreshes ÷ chances: 1 is a refresh of every page at every chance (§3.4).
    pub(super) fn cost(&self, spent: &SpentRequests) -> f64 {
        self.chance_days * spent.cost()
    }

    fn all(&self, method: Method) -> impl Iterator<Item = (f64, &ThresholdOutcome)> {
        let all = self.jobs.iter().zip(&self.outcomes);
        all.filter(move |(job, _)| job.method == method).map(|(job, outcome)| (job.threshold, outcome))
    }

    pub(super) fn frontier(&self, method: Method, part: ResultPart) -> CostFrontier {
        let points = self.all(method).map(|(_, outcome)| part(outcome));
        CostFrontier::through(points.map(|spent| (self.cost(spent), spent.staleness())))
    }

    /// Staleness against cost, from the dearest threshold to the cheapest.
    pub(super) fn curve(&self, name: impl Into<String>, method: Method, part: ResultPart) -> FigureCurve {
        let frontier = self.frontier(method, part);
        let points = frontier.points().iter().filter(|(cost, _)| *cost >= LEAST_COST);
        FigureCurve::measured(name, points.map(|(cost, staleness)| Point::new(*cost, *staleness)).collect())
    }

    /// The staleness of copies that are never refreshed.
    pub(super) fn never(&self, part: ResultPart) -> f64 {
        let never = self.jobs.iter().zip(&self.outcomes).find(|(job, _)| **job == NEVER);
        never.map_or(f64::NAN, |(_, outcome)| part(outcome).staleness())
    }

    /// The staleness of copies that are refreshed at every chance. Needs the jobs of [`Method::Uniform`].
    pub(super) fn always(&self, part: ResultPart) -> f64 {
        self.all(Method::Uniform).map(|(_, outcome)| part(outcome).staleness()).fold(f64::INFINITY, f64::min)
    }

    /// The staleness at a place of the field.
    pub(super) fn at(&self, place: f64, part: ResultPart) -> f64 {
        let always = self.always(part);
        always + place * (self.never(part) - always)
    }

    /// The staleness that methods are compared at.
    pub(super) fn field(&self, part: ResultPart) -> [f64; FIELD.len()] {
        FIELD.map(|place| self.at(place, part))
    }

    /// The field in words.
    pub(super) fn about_field(&self, part: ResultPart) -> String {
        format!(
            "copies refreshed at every chance have a staleness of {:.4}, copies never refreshed {:.4}: the field. Costs are \
             normalised: 1 is a refresh of every page at every chance. Empty: no threshold comes to that staleness",
            self.always(part),
            self.never(part)
        )
    }

    /// The two thresholds, as places among the jobs, between which a method reaches this staleness at the least cost; and the
    /// place between them, from 0 for the first to 1 for the second.
    pub(super) fn around(&self, method: Method, staleness: f64) -> Option<(usize, usize, f64)> {
        let own = self.jobs.iter().zip(&self.outcomes).enumerate();
        let own = own.filter(|(_, (job, _))| job.method == method);
        let mut own: Vec<(usize, &SpentRequests)> =
            own.map(|(at, (_, outcome))| (at, &outcome.steady)).collect();
        own.sort_by(|a, b| a.1.cost().total_cmp(&b.1.cost()));
        own.windows(2).find_map(|pair| match pair {
            [(cheap, high), (dear, low)] if high.staleness() >= staleness && low.staleness() <= staleness => {
                let wide = high.staleness() - low.staleness();
                let part = if wide > 0.0 { (high.staleness() - staleness) / wide } else { 0.0 };
                Some((*cheap, *dear, part))
            }
            _ => None,
        })
    }

    /// The holistic staleness where the fragment staleness is this high.
    fn holistic(&self, method: Method, staleness: f64, part: ResultPart) -> f64 {
        let mut all: Vec<&SpentRequests> = self.all(method).map(|(_, outcome)| part(outcome)).collect();
        all.sort_by(|a, b| a.staleness().total_cmp(&b.staleness()));
        let between = all.windows(2).find_map(|pair| match pair {
            [low, high] if low.staleness() <= staleness && high.staleness() >= staleness => {
                let wide = high.staleness() - low.staleness();
                let part = if wide > 0.0 { (staleness - low.staleness()) / wide } else { 0.0 };
                Some(low.holistic_staleness() + part * (high.holistic_staleness() - low.holistic_staleness()))
            }
            _ => None,
        });
        between.unwrap_or(f64::NAN)
    }
}

/// A method, its name in a table, and the results it is in: those of other settings are in other results.
pub(super) type NamedMethod<'a> = (String, Method, &'a Results);

/// Methods of the same results under their own names.
pub(super) fn named<'a>(results: &'a Results, methods: &[Method]) -> Vec<NamedMethod<'a>> {
    methods.iter().map(|method| (method.name().to_owned(), *method, results)).collect()
}

/// The cost of each method for the same staleness, and the holistic staleness in the middle of the field, which is that of `all`.
pub(super) fn costs(all: &Results, methods: &[NamedMethod<'_>], what: &str, part: ResultPart) -> Numbers {
    let heads = all.field(part).map(|staleness| format!("for {staleness:.4}"));
    let middle = all.at(0.5, part);
    let holistic = format!("holistic at {middle:.4}");
    let mut table = Numbers::new(std::iter::once(what.to_owned()).chain(heads).chain([holistic]));
    for (name, method, results) in methods {
        let frontier = results.frontier(*method, part);
        let costs = all.field(part).map(|staleness| frontier.cost_of(staleness).unwrap_or(f64::NAN));
        let holistic = results.holistic(*method, middle, part);
        table.row(name.clone(), costs.into_iter().chain([holistic]));
    }
    table
}

/// Costs divided by those of CGM in `all`, at each place of the field.
pub(super) fn share_of_cgm(all: &Results, methods: &[NamedMethod<'_>], of: &str) -> Numbers {
    let heads = FIELD.iter().map(|place| format!("at {:.0} %", 100.0 * place));
    let mut table = Numbers::new(std::iter::once("cost ÷ that of CGM".to_owned()).chain(heads));
    let cgm = all.frontier(Method::Cgm, STEADY);
    for (name, method, results) in methods {
        let own = results.frontier(*method, STEADY);
        let shares =
            all.field(STEADY).map(|staleness| match (own.cost_of(staleness), cgm.cost_of(staleness)) {
                (Some(own), Some(cgm)) if cgm > 0.0 => own / cgm,
                _ => f64::NAN,
            });
        let name = if of.is_empty() { name.clone() } else { format!("{of}, {name}") };
        table.row(name, shares);
    }
    table
}

/// Staleness against normalised cost.
pub(super) fn plot(name: &'static str, title: impl Into<String>, curves: Vec<FigureCurve>) -> Figure {
    Figure {
        name,
        title: title.into(),
        across: Scale::linear("refresh cost; 1 is every page at every chance").above(0.0),
        up: Scale::linear("fragment staleness"),
        curves,
    }
}
