//! Beyond the paper: fragments by their own K, bounds on risk, groups of pages, and where refreshes go.

use super::Corpus;
use super::by_threshold::{LearningPhase, Method, ThresholdOutcome, ThresholdSettings};
use super::lives::{CLASSES, Lived, SECONDS_A_DAY, class};
use super::results::{
    BOUND, CURVE, NamedMethod, PageOutcomes, Results, STEADY, jobs, named, plot, share_of_cgm,
};
use crate::numeric::gamma_function::lower;
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Groups with fewer pages have no row of their own.
const FEWEST_PAGES: usize = 20;
/// Bounds on risk (ρ) that the paper's methods are tried with besides 10. CGM has none.
pub(super) const RISKS: [(&str, f64); 2] = [("ρ = 100", 100.0), ("no ρ", f64::INFINITY)];
/// Methods that know the truth of a page.
const KNOWN: [Method; 3] = [Method::Uniform, Method::FragmentStatic, Method::HolisticStatic];

/// The range over which distributions of lifetimes are plotted, in updates, and the number of points.
const LONGEST: f64 = 12.0;
const PLACES: u32 = 48;

/// Lifetimes of fragments by their own K, in mean times between updates, compared with the sum of K exponential times.
pub(super) fn lives_by_fragment(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let mut shares = Numbers::new(["non-static fragments", "K = 1 (churn)", "K = 2", "K > 2 (scroll)"]);
    let (mut by_lives, mut by_time, mut by_page, mut pages) = ([0.0; 3], [0.0; 3], [0.0; 3], 0.0);
    let places: Vec<f64> = (0..=PLACES).map(|at| LONGEST * f64::from(at) / f64::from(PLACES)).collect();
    let mut seen = [(); 3].map(|()| vec![0.0; places.len()]);
    let mut model = seen.clone();
    let mut weights = [0.0; 3];
    for lived in lived {
        let Some(rate) = lived.lives.change_frequency().filter(|rate| *rate > 0.0) else { continue };
        let all: f64 = lived.by_update.iter().sum();
        if all == 0.0 {
            continue;
        }
        pages += 1.0;
        for life in lived.lives.whole() {
            let (class, fragments) = (class(life.updates), life.life.fragments as f64);
            // Each page counts as one in each class it has fragments of.
            let weight = fragments / lived.by_update[class];
            by_lives[class] += fragments;
            by_time[class] += fragments * life.seconds;
            by_page[class] += fragments / all;
            weights[class] += weight;
            let lasted = rate * life.seconds / SECONDS_A_DAY;
            for (at, place) in places.iter().enumerate() {
                seen[class][at] += if lasted <= *place { weight } else { 0.0 };
                model[class][at] += weight * lower(life.updates.max(1) as f64, *place);
            }
        }
    }
    let share = |of: [f64; 3]| of.map(|own| own / of.iter().sum::<f64>());
    shares.row("by lives", share(by_lives));
    shares.row("by time on the page", share(by_time));
    shares.row("by lives, mean over pages", by_page.map(|sum| sum / pages));
    let mut gaps = Numbers::new(["largest gap of model and data", "of the distribution"]);
    let curve = |class: usize, sums: &[f64], name: String, kind: CurveKind| {
        let points = places.iter().zip(sums).map(|(x, sum)| Point::new(*x, sum / weights[class]));
        FigureCurve { name, kind, points: points.collect() }
    };
    let mut drawn = Vec::new();
    for (class, name) in CLASSES.iter().enumerate().filter(|(class, _)| weights[*class] > 0.0) {
        let data = curve(class, &seen[class], format!("{name}, seen"), CurveKind::Measured);
        let told = curve(class, &model[class], format!("{name}, model"), CurveKind::Reference);
        let apart = data.points.iter().zip(&told.points).map(|(a, b)| (a.y - b.y).abs());
        gaps.row(*name, [apart.fold(0.0, f64::max)]);
        drawn.push((class, [data, told]));
    }
    let figure = |name: &'static str, title: &str, wanted: &dyn Fn(usize) -> bool| Figure {
        name,
        title: title.to_owned(),
        across: Scale::linear("lifetime, in mean times between updates of the page"),
        up: Scale::linear("share of fragments gone by then").within(0.0, 1.0),
        curves: drawn
            .iter()
            .filter(|(class, _)| wanted(*class))
            .flat_map(|(_, curves)| curves.clone())
            .collect(),
    };
    let mut figures = vec![
        figure("beyond-lives-churn", "Beyond: lives that end at the next update (K = 1)", &|class| {
            class == 0
        }),
        figure("beyond-lives-scroll", "Beyond: lives that outlive updates (K = 2 and more)", &|class| {
            class > 0
        }),
    ];
    figures.retain(|figure| !figure.curves.is_empty());
    Experiment {
        name: "beyond-lives",
        title: "Beyond: lifetimes of single fragments by their own K, on all pages".to_owned(),
        notes: vec![
            corpus.about(),
            "Fig. 5 groups pages; here each fragment has its own K. The model is the sum of K exponential times at the page's own \
             rate of updates (§3.3). Lives cut off by either end are left out, so long ones are too few; and no life is seen that is \
             shorter than a step"
                .to_owned(),
            "`freshet history` looks at places in the text, and so tells slow churn beside a fast clock from scroll; datasets have \
             no order of words"
                .to_owned(),
        ],
        tables: vec![shares, gaps],
        figures,
    }
}

/// In the first third of a page's time, which is not measured, it waits at most l·n, whatever the method; after it methods are free.
pub(super) fn settings(corpus: &Corpus<'_>) -> ThresholdSettings {
    let learning = LearningPhase::AtMostInWarmUp { days: corpus.chance_days().max(1.0) };
    ThresholdSettings { learning, warm_up: 1.0 / 3.0, ..corpus.settings() }
}

/// The paper's methods that learn, named with their bound on risk.
pub(super) fn learners<'a>(risk: &str, results: &'a Results) -> Vec<NamedMethod<'a>> {
    [CURVE, BOUND].map(|method| (format!("{}, {risk}", method.name()), method, results)).to_vec()
}

/// The outcomes of jobs on each page, and their means.
struct RiskRun {
    risk: &'static str,
    pages: PageOutcomes,
    results: Results,
}

impl RiskRun {
    fn on(corpus: &Corpus<'_>, risk: &'static str, methods: &[Method], settings: &ThresholdSettings) -> Self {
        let jobs = jobs(methods);
        let pages = corpus.sweep(&jobs, settings);
        Self { risk, results: Results::of(corpus, jobs, &pages), pages }
    }

    /// The results of one group of pages, if it is large enough.
    fn group(&self, corpus: &Corpus<'_>, group: u32) -> Option<Results> {
        let own = corpus.pages.iter().zip(&self.pages).filter(|((other, _), _)| *other == group);
        let own: Vec<Vec<ThresholdOutcome>> = own.filter_map(|(_, outcomes)| outcomes.clone()).collect();
        (own.len() >= FEWEST_PAGES).then(|| self.results.on(&own))
    }
}

/// Costs as shares of those of CGM, with other bounds on risk, by group, and by how often pages change.
pub(super) fn against_cgm(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Experiment {
    told(&format!("beyond the paper: bounds on risk on {} pages", corpus.pages.len()));
    let settings = settings(corpus);
    let learning = [Method::Cgm, Method::CgmBiasReduced, CURVE, BOUND];
    let methods: Vec<Method> = KNOWN.into_iter().chain(learning).collect();
    let first = RiskRun::on(corpus, "ρ = 10", &methods, &settings);
    let other = RISKS.map(|(name, risk)| {
        RiskRun::on(corpus, name, &[CURVE, BOUND], &ThresholdSettings { risk, ..settings })
    });
    let all = &first.results;
    let mut table = share_of_cgm(all, &named(all, &methods), "all pages");
    for run in &other {
        table.rows.extend(share_of_cgm(all, &learners(run.risk, &run.results), "all pages").rows);
    }
    if corpus.dataset.groups.len() > 1 {
        for (group, at) in corpus.dataset.groups.iter().zip(0_u32..) {
            let Some(own) = first.group(corpus, at) else { continue };
            table.rows.extend(share_of_cgm(&own, &named(&own, &learning), &group.name).rows);
            for run in &other {
                let Some(loose) = run.group(corpus, at) else { continue };
                table.rows.extend(share_of_cgm(&own, &learners(run.risk, &loose), &group.name).rows);
            }
        }
    }
    let mut rows: Vec<(&RiskRun, Vec<NamedMethod<'_>>)> = vec![(&first, named(all, &methods))];
    rows.extend(other.iter().map(|run| (run, learners(run.risk, &run.results))));
    let spent = where_they_go(corpus, all, &rows);
    let mut compared: Vec<FigureCurve> =
        learning.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
    let mut shares = ratios(all, all, &[CURVE, BOUND, Method::FragmentStatic, Method::Uniform], "");
    if let Some(loose) = other.last() {
        compared.push(loose.results.curve(format!("longevity-curve, {}", loose.risk), CURVE, STEADY));
        shares.extend(ratios(&loose.results, all, &[CURVE], &format!(", {}", loose.risk)));
    }
    let [_, known @ ..] = KNOWN;
    compared.extend(known.map(|method| {
        let name = format!("{}, knows", method.name());
        FigureCurve { kind: CurveKind::Reference, ..all.curve(name, method, STEADY) }
    }));
    Experiment {
        name: "beyond-cgm",
        title: "Beyond: costs as shares of those of CGM, by bound on risk, group and kind of page".to_owned(),
        notes: vec![
            corpus.about(),
            all.about_field(STEADY),
            format!(
                "in the first third of a page's time a page that was refreshed n times waits at most {}·n {}s, in all methods; \
                 measured after it. ρ is 10 where nothing is said; CGM has no bound on risk",
                corpus.chance_days().max(1.0),
                corpus.unit()
            ),
            "CGM gets the best of 120 thresholds, the others of 40 to 60. Where pages changed at every visit, it takes them to \
             change once in their shortest interval: at thresholds a little below that it gives all of them the same period, and \
             does as well as Uniform"
                .to_owned(),
            "Uniform knows which pages never change, as none that learns does: that alone is worth much".to_owned(),
        ],
        tables: vec![table, spent],
        figures: vec![
            plot("beyond-cgm", "Beyond: against CGM, last two thirds of the time", compared),
            Figure {
                name: "beyond-cgm-share",
                title: "Beyond: cost for the same staleness, as a share of CGM's".to_owned(),
                across: Scale::linear("fragment staleness").above(0.0),
                up: Scale::linear("cost ÷ that of CGM").within(0.0, 2.0),
                curves: shares,
            },
        ],
    }
}

/// Kinds of pages, by how often they change: never, less than at every second chance of a refresh, and more often.
const KINDS: usize = 3;

/// The kind of each page.
fn kinds(corpus: &Corpus<'_>) -> Vec<Option<usize>> {
    let kind = |at: usize| {
        let rate = corpus.watched(at)?.rate().unwrap_or(0.0) * corpus.chance_days();
        Some(if rate >= 0.5 { 2 } else { usize::from(rate > 0.0) })
    };
    (0..corpus.pages.len()).map(kind).collect()
}

/// How refreshes and staleness are spread over kinds of pages, in the middle of the field.
fn where_they_go(corpus: &Corpus<'_>, all: &Results, runs: &[(&RiskRun, Vec<NamedMethod<'_>>)]) -> Numbers {
    let kinds = kinds(corpus);
    let names = ["never change", "change rarely", "change at every second chance or more"];
    let heads = names.iter().flat_map(|name| [format!("refreshes: {name}"), format!("staleness: {name}")]);
    let mut table =
        Numbers::new(std::iter::once("shares, in the middle of the field".to_owned()).chain(heads));
    let staleness = all.at(0.5, STEADY);
    for (run, methods) in runs {
        for (name, method, results) in methods {
            let Some((cheap, dear, part)) = results.around(*method, staleness) else { continue };
            let mut sums = [(0.0, 0.0); KINDS];
            for (outcomes, kind) in run.pages.iter().zip(&kinds) {
                let (Some(outcomes), Some(kind)) = (outcomes, kind) else { continue };
                let ends = [(cheap, 1.0 - part), (dear, part)];
                for (outcome, share) in
                    ends.iter().filter_map(|(at, share)| Some((outcomes.get(*at)?, share)))
                {
                    if let Some((cost, stale)) = sums.get_mut(*kind) {
                        *cost += share * outcome.steady.cost();
                        *stale += share * outcome.steady.staleness();
                    }
                }
            }
            let (cost, stale) = sums.iter().fold((0.0, 0.0), |all, kind| (all.0 + kind.0, all.1 + kind.1));
            table.row(name.clone(), sums.iter().flat_map(|kind| [kind.0 / cost, kind.1 / stale]));
        }
    }
    table
}

/// Costs divided by those of CGM in `all`, from 4 % to 90 % of the staleness of copies that are never refreshed.
fn ratios(results: &Results, all: &Results, methods: &[Method], said: &str) -> Vec<FigureCurve> {
    let cgm = all.frontier(Method::Cgm, STEADY);
    let places: Vec<f64> = (4..=90).map(|at| 0.01 * f64::from(at) * all.never(STEADY)).collect();
    let of = |method: &Method| {
        let own = results.frontier(*method, STEADY);
        let share = |staleness: &f64| {
            Some(Point::new(*staleness, own.cost_of(*staleness)? / cgm.cost_of(*staleness)?))
        };
        FigureCurve::measured(format!("{}{said}", method.name()), places.iter().filter_map(share).collect())
    };
    let mut curves: Vec<FigureCurve> = methods.iter().map(of).collect();
    if said.is_empty()
        && let (Some(first), Some(last)) = (places.first(), places.last())
    {
        curves.push(FigureCurve::level("CGM", *first, *last, 1.0));
    }
    curves
}
