//! Fig. 6 and 8 to 12: what policies spend and how stale copies are, page by page at one threshold.

use std::borrow::Cow;

use super::frontier::Frontier;
use super::{Corpus, DAYS_APART, FEWEST_MOMENTS, made_up};
use crate::reproduce::{Curve, Effort, Experiment, Figure, Kind, Numbers, Point, Scale, geometric};
use crate::simulate::Measuring;
use crate::simulate::offline::{Job, Method, Outcome, Settings, Spent, mean, sweep};
use crate::simulate::synthetic::Spec;

/// Thresholds of each method, evenly spread over orders of magnitude, in divergence × days; periods of Uniform, in days.
const THRESHOLDS: (f64, f64, u32) = (0.02, 300.0, 60);
const PERIODS: (f64, f64, u32) = (0.25, 120.0, 60);
/// CGM gives up many pages at once where T passes what it takes for their period: its best thresholds must be among them.
const THRESHOLDS_OF_CGM: (f64, f64, u32) = (0.02, 300.0, 120);

/// Sketches of m hashes and h profiles, as in the paper.
const MEASURINGS: [Measuring; 4] = [
    Measuring { sketch: Some(8), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 5 },
    Measuring { sketch: None, profiles: 5 },
];
const WHOLE: Measuring = Measuring { sketch: None, profiles: 5 };

/// Staleness that methods are compared at, as shares of that of copies that are never refreshed.
const TARGETS: [f64; 6] = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8];
/// Bounds on risk (ρ) that the paper's methods are tried with besides the default. CGM has none.
const RISKS: [(&str, f64); 2] = [("ρ = 100", 100.0), ("no ρ", f64::INFINITY)];
/// What is drawn: less is hardly a refresh in the time that pages were watched.
const LEAST_COST: f64 = 1e-3;
/// Groups with fewer pages have no row of their own.
const FEWEST_PAGES: usize = 20;

const OFFLINE: [Method; 5] = [
    Method::Uniform,
    Method::FragmentStatic,
    Method::FragmentDynamic,
    Method::HolisticStatic,
    Method::HolisticDynamic,
];
const ONLINE: [Method; 3] = [Method::Cgm, Method::LongevityCurve(WHOLE), Method::LongevityBound(WHOLE)];
const ALL: [Method; 9] = Method::all(WHOLE);

pub(super) fn run(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let settings = corpus.settings();
    let jobs = jobs();
    told(&format!("figures 6 to 12: {} pages, {} policies and thresholds", corpus.pages.len(), jobs.len()));
    let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), &jobs, &settings, threads());
    let all = Results { jobs: &jobs, outcomes: mean(pages.iter().flatten()) };
    let mut experiments = vec![offline(corpus, &all, &settings), online(corpus, &all, &settings)];
    if corpus.has_fragments() {
        experiments.push(sketches(corpus, &all));
    }
    let learning = only(&[ONLINE[1], ONLINE[2]]);
    let other = RISKS.map(|(name, risk)| {
        let settings = Settings { risk, ..settings };
        let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), &learning, &settings, threads());
        (name, pages)
    });
    experiments.push(against_cgm(corpus, &all, &pages, &learning, &other));
    experiments
}

fn jobs() -> Vec<Job> {
    let mut jobs = vec![Job { method: Method::Uniform, threshold: f64::INFINITY }];
    let measured = MEASURINGS.iter().filter(|measuring| **measuring != WHOLE);
    let measured = measured.flat_map(|m| [Method::LongevityCurve(*m), Method::LongevityBound(*m)]);
    let methods = OFFLINE.into_iter().chain(ONLINE).chain([Method::CgmBiasReduced]).chain(measured);
    for method in methods {
        let (from, to, many) = match method {
            Method::Uniform => PERIODS,
            Method::Cgm | Method::CgmBiasReduced => THRESHOLDS_OF_CGM,
            _ => THRESHOLDS,
        };
        jobs.extend(geometric(from, to, many).into_iter().map(|threshold| Job { method, threshold }));
    }
    jobs
}

/// The jobs of these methods, and what is never refreshed.
fn only(methods: &[Method]) -> Vec<Job> {
    let wanted = |job: &Job| methods.contains(&job.method) || job.threshold.is_infinite();
    jobs().into_iter().filter(wanted).collect()
}

/// What all jobs came to, in the mean over pages.
struct Results<'a> {
    jobs: &'a [Job],
    outcomes: Vec<Outcome>,
}

/// Which part of the time is looked at.
type Part = fn(&Outcome) -> &Spent;
const WARM_UP: Part = |outcome| &outcome.warm_up;
const STEADY: Part = |outcome| &outcome.steady;

impl Results<'_> {
    fn of(&self, method: Method) -> impl Iterator<Item = (f64, &Outcome)> {
        let all = self.jobs.iter().zip(&self.outcomes);
        all.filter(move |(job, _)| job.method == method).map(|(job, outcome)| (job.threshold, outcome))
    }

    fn frontier(&self, method: Method, part: Part) -> Frontier {
        Frontier::of(self.of(method).map(|(_, outcome)| part(outcome)))
    }

    /// Staleness against cost, from the dearest threshold to the cheapest.
    fn curve(&self, name: impl Into<String>, method: Method, part: Part) -> Curve {
        let frontier = self.frontier(method, part);
        let points = frontier.points().iter().filter(|(cost, _)| *cost >= LEAST_COST);
        Curve::measured(name, points.map(|(cost, staleness)| Point::new(*cost, *staleness)).collect())
    }

    /// The staleness of copies that are never refreshed.
    fn never(&self, part: Part) -> f64 {
        let never = self.of(Method::Uniform).find(|(threshold, _)| threshold.is_infinite());
        never.map_or(f64::NAN, |(_, outcome)| part(outcome).staleness())
    }

    /// The staleness of copies that are refreshed whenever they can be.
    fn always(&self, part: Part) -> f64 {
        self.of(Method::Uniform).map(|(_, outcome)| part(outcome).staleness()).fold(f64::INFINITY, f64::min)
    }

    /// Half way between the two: what the paper calls moderate (§5.3).
    fn middle(&self, part: Part) -> f64 {
        0.5 * (self.always(part) + self.never(part))
    }

    /// The staleness that methods are compared at.
    fn targets(&self, part: Part) -> [f64; TARGETS.len()] {
        let never = self.never(part);
        TARGETS.map(|share| share * never)
    }

    /// The two thresholds between which a method comes to this staleness most cheaply, as places among the jobs, and how far
    /// the second is on the way.
    fn around(&self, method: Method, staleness: f64) -> Option<(usize, usize, f64)> {
        let own = self.jobs.iter().zip(&self.outcomes).enumerate();
        let own = own.filter(|(_, (job, _))| job.method == method);
        let mut own: Vec<(usize, &Spent)> = own.map(|(at, (_, outcome))| (at, &outcome.steady)).collect();
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

    /// The holistic staleness where the other is this much.
    fn holistic(&self, method: Method, staleness: f64, part: Part) -> f64 {
        let mut all: Vec<&Spent> = self.of(method).map(|(_, outcome)| part(outcome)).collect();
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

    /// What each method spends for the same staleness, and how stale pages are as a whole at a moderate one.
    fn needed(&self, methods: &[(String, Method)], what: &str, part: Part) -> Numbers {
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

fn named<const N: usize>(methods: [Method; N]) -> Vec<(String, Method)> {
    methods.map(|method| (method.name().to_owned(), method)).to_vec()
}

fn refreshes(corpus: &Corpus<'_>) -> String {
    format!("refreshes a page and {}", corpus.unit())
}

fn plot(corpus: &Corpus<'_>, name: &'static str, title: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        name,
        title: title.to_owned(),
        across: Scale::log(&refreshes(corpus)),
        up: Scale::linear("fragment staleness").above(0.0),
        curves,
    }
}

/// Fig. 6: methods that know the truth of each page.
fn offline(corpus: &Corpus<'_>, all: &Results<'_>, settings: &Settings) -> Experiment {
    let curves = OFFLINE.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
    Experiment {
        name: "6-offline",
        title: format!(
            "Fig. 6: methods that know each page's truth; copies that are never refreshed are stale by {:.3}",
            all.never(STEADY)
        ),
        notes: vec![
            population(corpus),
            format!(
                "measured after the first {:.0} % of each page's time, as the others are; a row is empty where no threshold \
                 of the sweep comes to that staleness",
                100.0 * settings.warm_up
            ),
            "FS-S and HS-S take the mean curve and the rate of the very time they are measured in; FS-D and HS-D see what \
             the page did since the last refresh, so they never refresh for nothing"
                .to_owned(),
        ],
        tables: vec![all.needed(&named(OFFLINE), &refreshes(corpus), STEADY)],
        figures: vec![plot(corpus, "6-offline", "Methods that know the truth", curves)],
    }
}

fn population(corpus: &Corpus<'_>) -> String {
    if corpus.is_made_up() {
        return format!(
            "{} made-up pages, {} days, moments a day: {}; by what the paper says of its pages: half of the pages never \
             change (§3.4), nine tenths of the content don't, 3 % is gone within two days (§5.3), and pages are refreshed once \
             in two days at most. 40 % are quiet. Of the others the text of 40 % is static; elsewhere a twentieth to two fifths of \
             it churns or scrolls (6 items) at log-normal rates, 0.1 a day in the middle, σ = 1.2; 60 % have adverts, \
             a twelfth of the page, replaced 3 times a day in the middle. The two are drawn apart from each other",
            corpus.pages.len(),
            corpus.dataset.groups.first().map_or(0, |group| group.cycles / corpus.moments),
            corpus.moments
        );
    }
    let between = "between moments divergence is interpolated by the page's eagerness (appendix B)";
    format!(
        "{} pages, watched at {FEWEST_MOMENTS} cycles or more, of a dataset with {} groups; time counts in cycles of each group; \
         {between}",
        corpus.pages.len(),
        corpus.dataset.groups.len()
    )
}

/// Fig. 8 and 9: methods that learn, while they do and after it.
fn online(corpus: &Corpus<'_>, all: &Results<'_>, settings: &Settings) -> Experiment {
    let known = [Method::Uniform, Method::FragmentStatic];
    let curves = |part: Part| {
        let mut curves: Vec<Curve> = ONLINE.map(|method| all.curve(method.name(), method, part)).to_vec();
        curves.extend(
            known.map(|method| Curve { kind: Kind::Reference, ..all.curve(method.name(), method, part) }),
        );
        curves
    };
    let online = named(ONLINE);
    let warm = all.needed(&online, &format!("warm-up: {}", refreshes(corpus)), WARM_UP);
    let steady = all.needed(&online, &format!("after it: {}", refreshes(corpus)), STEADY);
    Experiment {
        name: "8-online",
        title: "Fig. 8 and 9: methods that learn, in the warm-up and after it".to_owned(),
        notes: vec![
            format!(
                "assumed: in the warm-up, the first {:.0} % of a page's time, a page that was refreshed n times waits at most \
                 {}·n {}s (l, §4.2), in all three; after it that binds no more. The two of the paper wait at most {}·T (ρ, \
                 §4.5); CGM has no such bound, and leaves pages alone that it thinks change 1/T times or more",
                100.0 * settings.warm_up,
                settings.learning_days,
                corpus.unit(),
                settings.risk
            ),
            "in the warm-up l·n decides at high thresholds: methods are alike there, and copies are never very stale".to_owned(),
        ],
        tables: vec![warm, steady],
        figures: vec![
            plot(corpus, "8-warm-up", "Methods that learn, in the warm-up", curves(WARM_UP)),
            plot(corpus, "9-steady", "Methods that learn, after the warm-up", curves(STEADY)),
        ],
    }
}

/// Fig. 10: smaller sketches and fewer profiles.
fn sketches(corpus: &Corpus<'_>, all: &Results<'_>) -> Experiment {
    let name = |measuring: &Measuring| {
        let hashes = measuring.sketch.map_or("∞".to_owned(), |hashes| hashes.to_string());
        format!("m = {hashes}, h = {}", measuring.profiles)
    };
    let (mut figures, mut rows) = (Vec::new(), Vec::new());
    type Make = fn(Measuring) -> Method;
    let both: [(&str, &str, Make); 2] = [
        ("10-sketches-curve", "longevity-curve", Method::LongevityCurve),
        ("10-sketches-bound", "longevity-bound", Method::LongevityBound),
    ];
    for (file, policy, make) in both {
        rows.extend(MEASURINGS.map(|measuring| (format!("{policy}, {}", name(&measuring)), make(measuring))));
        let curves =
            MEASURINGS.map(|measuring| all.curve(name(&measuring), make(measuring), STEADY)).to_vec();
        figures.push(plot(corpus, file, &format!("{policy} by size of sketch and profiles kept"), curves));
    }
    Experiment {
        name: "10-sketches",
        title: "Fig. 10: sketches of m hashes, h profiles".to_owned(),
        notes: vec![
            "whether a page changed at all is told by its whole text, not by the sketch. With h = 1 a literal \"new profile at \
             each refresh\" would never hold two points: a profile stays until it has had some (four for the curve; for \
             the bound as long as it is pinned)"
                .to_owned(),
        ],
        tables: vec![all.needed(&rows, &refreshes(corpus), STEADY)],
        figures,
    }
}

/// Fig. 11 and 12: refreshes that CGM needs for the same staleness. `other`: what the jobs `learning` came to with other bounds
/// on risk.
fn against_cgm(
    corpus: &Corpus<'_>,
    all: &Results<'_>,
    pages: &[Option<Vec<Outcome>>],
    learning: &[Job],
    other: &[(&str, Vec<Option<Vec<Outcome>>>)],
) -> Experiment {
    let known = [Method::FragmentStatic, Method::HolisticStatic];
    let mut compared: Vec<Curve> = ONLINE.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
    let results = |outcomes| Results { jobs: learning, outcomes };
    let loose: Vec<(&str, Results<'_>)> =
        other.iter().map(|(name, pages)| (*name, results(mean(pages.iter().flatten())))).collect();
    let mut shares = ratios(all, all, &[ONLINE[1], ONLINE[2], Method::FragmentStatic, Method::Uniform], "");
    let mut table = share_of_cgm(all, all, &named(ALL), "all pages");
    for (name, own) in &loose {
        table.rows.extend(share_of_cgm(own, all, &learners(name), "all pages").rows);
    }
    if let Some((name, own)) = loose.last() {
        let title = format!("longevity-curve, {name}");
        compared.push(own.curve(title, ONLINE[1], STEADY));
        shares.extend(ratios(own, all, &[ONLINE[1]], &format!(", {name}")));
    }
    compared.extend(known.map(|method| {
        let name = format!("{}, knows", method.name());
        Curve { kind: Kind::Reference, ..all.curve(name, method, STEADY) }
    }));
    if corpus.dataset.groups.len() > 1 {
        for (group, at) in corpus.dataset.groups.iter().zip(0_u32..) {
            let own = |pages: &[Option<Vec<Outcome>>]| {
                let own = corpus.pages.iter().zip(pages).filter(|((group, _), _)| *group == at);
                let own: Vec<Vec<Outcome>> = own.filter_map(|(_, outcomes)| outcomes.clone()).collect();
                (own.len() >= FEWEST_PAGES).then(|| mean(&own))
            };
            let Some(outcomes) = own(pages) else { continue };
            let group_all = Results { jobs: all.jobs, outcomes };
            table.rows.extend(share_of_cgm(&group_all, &group_all, &named(ONLINE), &group.name).rows);
            for (name, pages) in other {
                let Some(outcomes) = own(pages) else { continue };
                let rows = share_of_cgm(&results(outcomes), &group_all, &learners(name), &group.name).rows;
                table.rows.extend(rows);
            }
        }
    }
    let methods = [Method::Uniform, ONLINE[0], Method::CgmBiasReduced, ONLINE[1], ONLINE[2], known[0]];
    let mut runs = vec![Run { jobs: all.jobs, pages, methods: named(methods) }];
    runs.extend(other.iter().map(|(name, pages)| Run { jobs: learning, pages, methods: learners(name) }));
    let spent = where_they_go(corpus, all, &runs);
    let (never, always) = (all.never(STEADY), all.always(STEADY));
    Experiment {
        name: "11-cgm",
        title: "Fig. 11 and 12: refreshes for the same staleness, as shares of those of CGM".to_owned(),
        notes: vec![
            format!(
                "staleness is told as a share of that of copies never refreshed ({never:.3} for all pages), each group its own; \
                 empty where the thresholds of a method, or of CGM, don't come to it. Copies refreshed whenever they can be \
                 are stale by {always:.3}, {:.0} %: what lies between is the field, and half way ({:.0} %) is \"in the middle\", \
                 where the paper has its gain (§5.3)",
                100.0 * always / never,
                100.0 * all.middle(STEADY) / never
            ),
            "ρ is 10 where nothing is said. CGM has no bound on risk, so that like is compared with like where ours have \
             none either"
                .to_owned(),
            "CGM takes the most likely rate; with the bias-reduced estimate it leaves pages alone that it never saw change, \
             and pages that changed at every visit get periods that differ"
                .to_owned(),
            "CGM gets the best of 120 thresholds, the others of 60. Where pages changed at every visit, it takes them to change \
             once in their shortest interval: at thresholds a little below that it gives all of them one and the same \
             period, whichever is wanted, and does as well as Uniform"
                .to_owned(),
            "Uniform knows which pages never change, as none that learns does: that alone is worth much"
                .to_owned(),
        ],
        tables: vec![table, spent],
        figures: vec![
            plot(corpus, "11-cgm", "Against CGM, after the warm-up", compared),
            Figure {
                name: "12-cgm-share",
                title: "Refreshes for the same staleness, as a share of CGM's".to_owned(),
                across: Scale::linear("fragment staleness").above(0.0),
                up: Scale::linear("refreshes by those of CGM").within(0.0, 2.0),
                curves: shares,
            },
        ],
    }
}

/// Kinds of pages, by how often they change: never, less than once a day or cycle, and more often.
const KINDS: usize = 3;

/// The kind of each page.
fn kinds(corpus: &Corpus<'_>) -> Vec<Option<usize>> {
    let kind = |at: usize| {
        let rate = corpus.watched(at)?.rate().unwrap_or(0.0);
        Some(if rate >= 1.0 { 2 } else { usize::from(rate > 0.0) })
    };
    (0..corpus.pages.len()).map(kind).collect()
}

/// Where refreshes go in the middle of the field, and what staleness is left where.
fn where_they_go(corpus: &Corpus<'_>, all: &Results<'_>, runs: &[Run<'_>]) -> Numbers {
    let kinds = kinds(corpus);
    let unit = corpus.unit();
    let names =
        ["never change".to_owned(), format!("less than once a {unit}"), format!("once a {unit} or more")];
    let heads = names.iter().flat_map(|name| [format!("refreshes: {name}"), format!("staleness: {name}")]);
    let mut table = Numbers::new(std::iter::once("shares, in the middle".to_owned()).chain(heads));
    let staleness = all.middle(STEADY);
    for run in runs {
        let results = Results { jobs: run.jobs, outcomes: mean(run.pages.iter().flatten()) };
        for (name, method) in &run.methods {
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

/// What jobs came to on each page, and which methods are told of.
struct Run<'a> {
    jobs: &'a [Job],
    pages: &'a [Option<Vec<Outcome>>],
    methods: Vec<(String, Method)>,
}

/// The paper's methods, with this said of their bound on risk.
fn learners(risk: &str) -> Vec<(String, Method)> {
    [ONLINE[1], ONLINE[2]].map(|method| (format!("{}, {risk}", method.name()), method)).to_vec()
}

/// Refreshes by those of CGM in `all`, from a twenty-fifth of the staleness of copies never refreshed to nearly all of it.
fn ratios(results: &Results<'_>, all: &Results<'_>, methods: &[Method], said: &str) -> Vec<Curve> {
    let cgm = all.frontier(Method::Cgm, STEADY);
    let places: Vec<f64> = (4..=90).map(|at| 0.01 * f64::from(at) * all.never(STEADY)).collect();
    let of = |method: &Method| {
        let own = results.frontier(*method, STEADY);
        let share = |staleness: &f64| {
            Some(Point::new(*staleness, own.cost_of(*staleness)? / cgm.cost_of(*staleness)?))
        };
        Curve::measured(format!("{}{said}", method.name()), places.iter().filter_map(share).collect())
    };
    let mut curves: Vec<Curve> = methods.iter().map(of).collect();
    if said.is_empty()
        && let (Some(first), Some(last)) = (places.first(), places.last())
    {
        curves.push(Curve::level("CGM", *first, *last, 1.0));
    }
    curves
}

/// Refreshes by those of CGM in `all`, at each staleness and in the middle.
fn share_of_cgm(results: &Results<'_>, all: &Results<'_>, methods: &[(String, Method)], of: &str) -> Numbers {
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

/// What the gain depends on: pages that never change, adverts, how often one may come, and a learning phase that never ends.
pub(super) fn other_webs(effort: Effort, told: &mut dyn FnMut(&str)) -> Experiment {
    let spec = made_up(effort);
    let spec = Spec { pages: spec.pages / 2, ..spec };
    let lively = Spec { quiet: 0.0, moving: 1.0, advert_part: 1.0 / 16.0, ..spec };
    let every = (DAYS_APART * spec.moments) as usize;
    let settings = Settings { every, learning_days: f64::from(DAYS_APART), ..Settings::default() };
    let any_time = Settings::default();
    let webs = [
        ("as above", spec, settings),
        ("no adverts", Spec { adverts: 0.0, ..spec }, settings),
        ("adverts on 30 %", Spec { adverts: 0.3, ..spec }, settings),
        ("adverts on all", Spec { adverts: 1.0, ..spec }, settings),
        ("l·n for ever", spec, Settings { keeps_learning: true, ..settings }),
        ("four times a day", spec, any_time),
        ("lively, four times a day", lively, any_time),
    ];
    told(&format!("what it depends on: {} other webs", webs.len()));
    let learning = only(&[ONLINE[1], ONLINE[2]]);
    let [uniform, known] = [Method::Uniform, Method::FragmentStatic];
    let jobs = only(&[ONLINE[0], Method::CgmBiasReduced, ONLINE[1], ONLINE[2], known, uniform]);
    let mut table = Numbers::new(Vec::<String>::new());
    for (name, spec, settings) in webs {
        let corpus = Corpus::new(Cow::Owned(spec.dataset()), spec.moments, true);
        let outcomes = |jobs: &[Job], settings: Settings| {
            let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), jobs, &settings, threads());
            mean(pages.iter().flatten())
        };
        let all = Results { jobs: &jobs, outcomes: outcomes(&jobs, settings) };
        let own = named([ONLINE[1], ONLINE[2], Method::CgmBiasReduced, known]);
        let own = share_of_cgm(&all, &all, &own, name);
        table.heads = own.heads;
        table.rows.extend(own.rows);
        if let Some((said, risk)) = RISKS.last() {
            let settings = Settings { risk: *risk, ..settings };
            let loose = Results { jobs: &learning, outcomes: outcomes(&learning, settings) };
            table.rows.extend(share_of_cgm(&loose, &all, &learners(said), name).rows);
        }
    }
    Experiment {
        name: "12-webs",
        title: "What the gain depends on: refreshes as shares of those of CGM, half as many pages".to_owned(),
        notes: vec![
            "lively: no page is quiet, an eighth to all of the text changes where it does, and adverts are a sixteenth: only one \
             page in six never changes. Four times a day: pages may be refreshed at any moment, and l is a day"
                .to_owned(),
            "where no page has adverts a change is a change of text, and to count changes is not far wrong: what is gained \
             there is gained on pages that never change, which CGM goes on refreshing unless its estimate is the bias-reduced \
             one. If l·n binds for ever CGM never comes to be very stale: it refreshes the \
             pages that it would leave alone"
                .to_owned(),
            "ρ is what the paper's methods pay for what they don't know: at ρ = 10 a page that never changes is refreshed \
             once in 10·T, and where half of the pages never change that is half of all refreshes"
                .to_owned(),
        ],
        tables: vec![table],
        figures: Vec::new(),
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
