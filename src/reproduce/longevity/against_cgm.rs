//! Fig. 11 and 12: refreshes that methods need for the same staleness, as shares of those of CGM.

use super::Corpus;
use super::by_threshold::{Method, ThresholdJob, ThresholdOutcome, mean};
use super::results::{ONLINE, Results, STEADY, WHOLE, learners, named, plot, share_of_cgm};
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Groups with fewer pages have no row of their own.
const FEWEST_PAGES: usize = 20;
const ALL: [Method; 9] = Method::all(WHOLE);

/// Fig. 11 and 12: refreshes for the same staleness, compared with CGM. `other` has the outcomes of the jobs `learning` with
/// other bounds on risk.
pub(super) fn against_cgm(
    corpus: &Corpus<'_>,
    all: &Results<'_>,
    pages: &[Option<Vec<ThresholdOutcome>>],
    learning: &[ThresholdJob],
    other: &[(&str, Vec<Option<Vec<ThresholdOutcome>>>)],
) -> Experiment {
    let known = [Method::FragmentStatic, Method::HolisticStatic];
    let mut compared: Vec<FigureCurve> =
        ONLINE.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
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
        FigureCurve { kind: CurveKind::Reference, ..all.curve(name, method, STEADY) }
    }));
    if corpus.dataset.groups.len() > 1 {
        for (group, at) in corpus.dataset.groups.iter().zip(0_u32..) {
            let own = |pages: &[Option<Vec<ThresholdOutcome>>]| {
                let own = corpus.pages.iter().zip(pages).filter(|((group, _), _)| *group == at);
                let own: Vec<Vec<ThresholdOutcome>> =
                    own.filter_map(|(_, outcomes)| outcomes.clone()).collect();
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
    let mut runs = vec![CgmRun { jobs: all.jobs, pages, methods: named(methods) }];
    runs.extend(other.iter().map(|(name, pages)| CgmRun { jobs: learning, pages, methods: learners(name) }));
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

/// How refreshes and staleness are spread over kinds of pages, in the middle of the field.
fn where_they_go(corpus: &Corpus<'_>, all: &Results<'_>, runs: &[CgmRun<'_>]) -> Numbers {
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

/// The outcomes of jobs on each page, and the methods that get a row.
struct CgmRun<'a> {
    jobs: &'a [ThresholdJob],
    pages: &'a [Option<Vec<ThresholdOutcome>>],
    methods: Vec<(String, Method)>,
}

/// Refreshes divided by those of CGM in `all`, from 4 % to 90 % of the staleness of copies that are never refreshed.
fn ratios(results: &Results<'_>, all: &Results<'_>, methods: &[Method], said: &str) -> Vec<FigureCurve> {
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
