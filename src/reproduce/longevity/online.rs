//! Fig. 8 and 9: methods that learn, in the warm-up and after it. Fig. 10: smaller sketches and fewer profiles.

use super::Corpus;
use super::by_threshold::{LearningPhase, Method, ThresholdJob, ThresholdSettings};
use super::results::{
    BOUND, CURVE, NamedMethod, ResultPart, Results, STEADY, WARM_UP, costs, jobs, named, plot, thresholds,
};
use super::sketches::{self, MEASURINGS};
use crate::reproduce::{CurveKind, Experiment, FigureCurve, Numbers, geometric};

/// Values of l that are tried, as multiples of the time between two chances. With the largest, waits of l and 2·l nearly fill the
/// warm-up of 15 chances: fewer than two refreshes show no curve.
const TRIED_LEARNING: (f64, f64, u32) = (0.25, 4.5, 9);
/// l is tuned on one page of this many.
const TUNED_ON: usize = 10;
/// l of these thresholds is listed.
const LISTED: usize = 8;

/// Fig. 8 to 10.
pub(super) fn run(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    told("figures 8 to 10: tuning l");
    // §5.1 names ρ for the bound-based method only.
    let bound_settings = corpus.settings();
    let curve_settings = ThresholdSettings {
        learning: LearningPhase::AtMostInWarmUp { days: corpus.chance_days() },
        risk: f64::INFINITY,
        ..bound_settings
    };
    let tuned = tuned(corpus, &curve_settings);
    let measured = |make: fn(crate::simulate::Measuring) -> Method| MEASURINGS.map(make).to_vec();
    let curve_jobs = |methods: Vec<Method>| -> Vec<ThresholdJob> {
        let with = |method: Method| {
            let job = move |(threshold, l): &(f64, f64)| ThresholdJob {
                learning_days: Some(*l),
                ..ThresholdJob::new(method, *threshold)
            };
            tuned.iter().map(job).collect::<Vec<_>>()
        };
        methods.into_iter().flat_map(with).collect()
    };
    told(&format!("figures 8 to 10: {} pages", corpus.pages.len()));
    let known = corpus.results(jobs(&[Method::Uniform, Method::FragmentDynamic]), &bound_settings);
    let with_sketches = corpus.has_fragments();
    let curves = corpus.results(
        curve_jobs(if with_sketches { measured(Method::LongevityCurve) } else { vec![CURVE] }),
        &curve_settings,
    );
    let bounds = corpus.results(
        jobs(&if with_sketches { measured(Method::LongevityBound) } else { vec![BOUND] }),
        &bound_settings,
    );
    let with_risk = ThresholdSettings { risk: bound_settings.risk, ..curve_settings };
    let for_ever = ThresholdSettings {
        learning: LearningPhase::AtMost { days: corpus.chance_days() },
        ..curve_settings
    };
    let other = [
        ("beyond: curve-fitting, also ρ = 10", with_risk),
        ("beyond: curve-fitting, l·n for ever", for_ever),
    ];
    let other = other.map(|(name, settings)| (name, corpus.results(curve_jobs(vec![CURVE]), &settings)));
    let mut experiments = vec![learners(corpus, &tuned, &known, &curves, &bounds, &other)];
    if with_sketches {
        experiments.push(sketches::run(&known, &curves, &bounds));
    }
    experiments
}

/// The thresholds of the curve-fitting method, each with the l at which a day of the warm-up costs as many refreshes as a day after
/// it: "such that the investment in learning is proportional to the refresh cost incurred" (§5.1).
fn tuned(corpus: &Corpus<'_>, settings: &ThresholdSettings) -> Vec<(f64, f64)> {
    let (from, to, many) = TRIED_LEARNING;
    let tried: Vec<f64> = geometric(from * corpus.chance_days(), to * corpus.chance_days(), many);
    let sample = corpus.one_in(TUNED_ON);
    let thresholds = thresholds(CURVE);
    let with = |threshold: f64| {
        let job =
            move |l: &f64| ThresholdJob { learning_days: Some(*l), ..ThresholdJob::new(CURVE, threshold) };
        tried.iter().map(job).collect::<Vec<_>>()
    };
    let all = sample.results(thresholds.iter().flat_map(|threshold| with(*threshold)).collect(), settings);
    let best = |outcomes: &[super::by_threshold::ThresholdOutcome]| {
        let off = |at: usize| {
            let (warm, steady) = outcomes
                .get(at)
                .map_or((0.0, 0.0), |outcome| (all.cost(&outcome.warm_up), all.cost(&outcome.steady)));
            (warm.max(1e-9) / steady.max(1e-9)).ln().abs()
        };
        let best = (0..tried.len()).min_by(|a, b| off(*a).total_cmp(&off(*b)));
        best.and_then(|at| tried.get(at)).copied().unwrap_or(from)
    };
    thresholds.into_iter().zip(all.outcomes.chunks(tried.len()).map(best)).collect()
}

/// Fig. 8 and 9.
fn learners(
    corpus: &Corpus<'_>,
    tuned: &[(f64, f64)],
    known: &Results,
    curves: &Results,
    bounds: &Results,
    other: &[(&str, Results)],
) -> Experiment {
    let mut rows: Vec<NamedMethod<'_>> = vec![
        ("curve-fitting, l tuned".to_owned(), CURVE, curves),
        ("bound-based, ρ = 10".to_owned(), BOUND, bounds),
    ];
    let draw = |rows: &[NamedMethod<'_>], part: ResultPart| {
        let mut drawn: Vec<FigureCurve> =
            rows.iter().map(|(name, method, results)| results.curve(name.clone(), *method, part)).collect();
        drawn.extend([Method::Uniform, Method::FragmentDynamic].map(|method| FigureCurve {
            kind: CurveKind::Reference,
            ..known.curve(method.name(), method, part)
        }));
        drawn
    };
    let figures = vec![
        plot("8-warm-up", "Fig. 8: methods that learn, first half", draw(&rows, WARM_UP)),
        plot("9-steady", "Fig. 9: methods that learn, second half", draw(&rows, STEADY)),
    ];
    rows.extend(other.iter().map(|(name, results)| ((*name).to_owned(), CURVE, results)));
    rows.extend(named(known, &[Method::Uniform, Method::FragmentDynamic]));
    let mut learning = Numbers::new(["curve-fitting", "l", "cost of the warm-up", "cost after it"]);
    let whole = curves.jobs.iter().zip(&curves.outcomes).filter(|(job, _)| job.method == CURVE);
    let whole: Vec<_> = whole.collect();
    for (((threshold, l), (_, outcome)), _) in
        tuned.iter().zip(&whole).zip(0..).filter(|(_, at)| at % tuned.len().div_ceil(LISTED).max(1) == 0)
    {
        let costs = [curves.cost(&outcome.warm_up), curves.cost(&outcome.steady)];
        learning.row(format!("T = {threshold:.3}"), std::iter::once(*l).chain(costs));
    }
    Experiment {
        name: "8-online",
        title: "Fig. 8 and 9: methods that learn, in the warm-up and after it".to_owned(),
        notes: vec![
            corpus.about(),
            format!("warm-up: {}", known.about_field(WARM_UP)),
            format!("after it: {}", known.about_field(STEADY)),
            "as printed, on other pages: the warm-up is the first half (30 of 60 days), h = 5, ρ = 10 (bound-based), references \
             Uniform and FS-D. l is tuned for each T so that learning costs in proportion to refreshing. Assumed: in proportion \
             means as many refreshes in the warm-up as after it; the learning phase ends with the warm-up; the first period of \
             the bound-based method is the shortest"
                .to_owned(),
            "the paper prints no number of these figures. It says that both methods cost about the same in the warm-up and are \
             as stale as Uniform there; that after it both are significantly better than Uniform, and curve-fitting slightly \
             ahead"
                .to_owned(),
        ],
        tables: vec![
            costs(known, &rows, "Fig. 8, warm-up: refresh cost", WARM_UP),
            costs(known, &rows, "Fig. 9, after it: refresh cost", STEADY),
            learning,
        ],
        figures,
    }
}
