//! The jobs that figures 6 to 12 are made of, and how their outcomes become curves and tables.

use super::Corpus;
use super::by_threshold::{Method, SpentRequests, ThresholdJob, ThresholdOutcome};
use super::frontier::CostFrontier;
use crate::reproduce::{Figure, FigureCurve, Numbers, Point, Scale, geometric};
use crate::simulate::Measuring;

/// Thresholds of each method, evenly spread over orders of magnitude, in divergence × days; periods of Uniform, in days.
const THRESHOLDS: (f64, f64, u32) = (0.02, 300.0, 60);
const PERIODS: (f64, f64, u32) = (0.25, 120.0, 60);
/// At some thresholds CGM gives up many pages at once, so it gets more of them: its best ones must be included.
const THRESHOLDS_OF_CGM: (f64, f64, u32) = (0.02, 300.0, 120);

/// Sketches of m hashes and h profiles, as in the paper.
pub(super) const MEASURINGS: [Measuring; 4] = [
    Measuring { sketch: Some(8), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 5 },
    Measuring { sketch: None, profiles: 5 },
];
pub(super) const WHOLE: Measuring = Measuring { sketch: None, profiles: 5 };

/// Staleness that methods are compared at, as shares of that of copies that are never refreshed.
pub(super) const TARGETS: [f64; 6] = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8];
/// Bounds on risk (ρ) that the paper's methods are tried with besides the default. CGM has none.
pub(super) const RISKS: [(&str, f64); 2] = [("ρ = 100", 100.0), ("no ρ", f64::INFINITY)];
/// The least cost that is plotted: less is hardly one refresh in the time that pages were watched.
const LEAST_COST: f64 = 1e-3;
pub(super) const OFFLINE: [Method; 5] = [
    Method::Uniform,
    Method::FragmentStatic,
    Method::FragmentDynamic,
    Method::HolisticStatic,
    Method::HolisticDynamic,
];
pub(super) const ONLINE: [Method; 3] =
    [Method::Cgm, Method::LongevityCurve(WHOLE), Method::LongevityBound(WHOLE)];

pub(super) fn jobs() -> Vec<ThresholdJob> {
    let mut jobs = vec![ThresholdJob { method: Method::Uniform, threshold: f64::INFINITY }];
    let measured = MEASURINGS.iter().filter(|measuring| **measuring != WHOLE);
    let measured = measured.flat_map(|m| [Method::LongevityCurve(*m), Method::LongevityBound(*m)]);
    let methods = OFFLINE.into_iter().chain(ONLINE).chain([Method::CgmBiasReduced]).chain(measured);
    for method in methods {
        let (from, to, many) = match method {
            Method::Uniform => PERIODS,
            Method::Cgm | Method::CgmBiasReduced => THRESHOLDS_OF_CGM,
            _ => THRESHOLDS,
        };
        jobs.extend(
            geometric(from, to, many).into_iter().map(|threshold| ThresholdJob { method, threshold }),
        );
    }
    jobs
}

/// The jobs of these methods, and the one that never refreshes.
pub(super) fn only(methods: &[Method]) -> Vec<ThresholdJob> {
    let wanted = |job: &ThresholdJob| methods.contains(&job.method) || job.threshold.is_infinite();
    jobs().into_iter().filter(wanted).collect()
}

/// The mean outcomes of all jobs over pages.
pub(super) struct Results<'a> {
    pub(super) jobs: &'a [ThresholdJob],
    pub(super) outcomes: Vec<ThresholdOutcome>,
}

/// A part of the time.
pub(super) type ResultPart = fn(&ThresholdOutcome) -> &SpentRequests;
pub(super) const WARM_UP: ResultPart = |outcome| &outcome.warm_up;
pub(super) const STEADY: ResultPart = |outcome| &outcome.steady;

impl Results<'_> {
    fn of(&self, method: Method) -> impl Iterator<Item = (f64, &ThresholdOutcome)> {
        let all = self.jobs.iter().zip(&self.outcomes);
        all.filter(move |(job, _)| job.method == method).map(|(job, outcome)| (job.threshold, outcome))
    }

    pub(super) fn frontier(&self, method: Method, part: ResultPart) -> CostFrontier {
        CostFrontier::of(self.of(method).map(|(_, outcome)| part(outcome)))
    }

    /// Staleness against cost, from the dearest threshold to the cheapest.
    pub(super) fn curve(&self, name: impl Into<String>, method: Method, part: ResultPart) -> FigureCurve {
        let frontier = self.frontier(method, part);
        let points = frontier.points().iter().filter(|(cost, _)| *cost >= LEAST_COST);
        FigureCurve::measured(name, points.map(|(cost, staleness)| Point::new(*cost, *staleness)).collect())
    }

    /// The staleness of copies that are never refreshed.
    pub(super) fn never(&self, part: ResultPart) -> f64 {
        let never = self.of(Method::Uniform).find(|(threshold, _)| threshold.is_infinite());
        never.map_or(f64::NAN, |(_, outcome)| part(outcome).staleness())
    }

    /// The staleness of copies that are refreshed whenever they can be.
    pub(super) fn always(&self, part: ResultPart) -> f64 {
        self.of(Method::Uniform).map(|(_, outcome)| part(outcome).staleness()).fold(f64::INFINITY, f64::min)
    }

    /// Half way between the two: what the paper calls moderate (§5.3).
    pub(super) fn middle(&self, part: ResultPart) -> f64 {
        0.5 * (self.always(part) + self.never(part))
    }

    /// The staleness that methods are compared at.
    pub(super) fn targets(&self, part: ResultPart) -> [f64; TARGETS.len()] {
        let never = self.never(part);
        TARGETS.map(|share| share * never)
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
        let mut all: Vec<&SpentRequests> = self.of(method).map(|(_, outcome)| part(outcome)).collect();
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

    /// The refreshes of each method for the same staleness, and the holistic staleness at a moderate one.
    pub(super) fn needed(&self, methods: &[(String, Method)], what: &str, part: ResultPart) -> Numbers {
        let targets = self.targets(part);
        let heads = targets.iter().map(|staleness| format!("for {staleness:.3}"));
        let middle = self.middle(part);
        let holistic = format!("holistic at {middle:.3}");
        let mut table = Numbers::new(std::iter::once(what.to_owned()).chain(heads).chain([holistic]));
        for (name, method) in methods {
            let frontier = self.frontier(*method, part);
            let costs = targets.map(|staleness| frontier.cost_of(staleness).unwrap_or(f64::NAN));
            let holistic = self.holistic(*method, middle, part);
            table.row(name.clone(), costs.into_iter().chain([holistic]));
        }
        table
    }
}

pub(super) fn named<const N: usize>(methods: [Method; N]) -> Vec<(String, Method)> {
    methods.map(|method| (method.name().to_owned(), method)).to_vec()
}

pub(super) fn refreshes(corpus: &Corpus<'_>) -> String {
    format!("refreshes a page and {}", corpus.unit())
}

pub(super) fn plot(corpus: &Corpus<'_>, name: &'static str, title: &str, curves: Vec<FigureCurve>) -> Figure {
    Figure {
        name,
        title: title.to_owned(),
        across: Scale::log(&refreshes(corpus)),
        up: Scale::linear("fragment staleness").above(0.0),
        curves,
    }
}

/// The paper's methods that learn, named with their bound on risk.
pub(super) fn learners(risk: &str) -> Vec<(String, Method)> {
    [ONLINE[1], ONLINE[2]].map(|method| (format!("{}, {risk}", method.name()), method)).to_vec()
}

/// Refreshes divided by those of CGM in `all`, at each staleness and in the middle.
pub(super) fn share_of_cgm(
    results: &Results<'_>,
    all: &Results<'_>,
    methods: &[(String, Method)],
    of: &str,
) -> Numbers {
    let heads = TARGETS.iter().map(|share| format!("at {:.0} %", 100.0 * share));
    let first = std::iter::once("refreshes by those of CGM".to_owned());
    let mut table = Numbers::new(first.chain(heads).chain(["in the middle".to_owned()]));
    let cgm = all.frontier(Method::Cgm, STEADY);
    for (name, method) in methods {
        let own = results.frontier(*method, STEADY);
        let targets = all.targets(STEADY).into_iter().chain([all.middle(STEADY)]);
        let shares = targets.map(|staleness| match (own.cost_of(staleness), cgm.cost_of(staleness)) {
            (Some(own), Some(cgm)) if cgm > 0.0 => own / cgm,
            _ => f64::NAN,
        });
        table.row(format!("{of}, {name}"), shares);
    }
    table
}

pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
