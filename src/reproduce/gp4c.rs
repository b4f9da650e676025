//! Santos et al. 2013, "Learning to Schedule Webpage Updates Using Genetic Programming": score functions that are bred,
//! against their baselines and ours.
//!
//! Their BRDC'12 is not published. Pages are those of any dataset, or drawn: change rates log-normal, half of the pages
//! static, 57 cycles as BRDC'12 has.

use std::collections::BTreeMap;

use super::{CurveKind, Effort, Experiment, Figure, FigureCurve, Numbers, Point, Reproduced, Scale};
use crate::dataset::{Dataset, Group};
use crate::evolve::fitness::Fitness;
use crate::evolve::population::Selection;
use crate::evolve::{self, EvolveSettings, Journal};
use crate::policy::expression::Terminal;
use crate::policy::registry::FORMULA;
use crate::simulate::compare::{fold, groups, is_narrow, replayed, spread};
use crate::simulate::metric::{CycleFigures, Figures};
use crate::simulate::synthetic::Spec;
use crate::simulate::truth::Truth;

/// The baselines of the paper, in the order of its Table 2.
const BASELINES: [(&str, &str); 7] = [
    ("Rand", "random"),
    ("Age", "age"),
    ("NAD", "nad"),
    ("SAD", "sad"),
    ("AAD", "aad"),
    ("GAD", "gad"),
    ("CG", "cg"),
];

/// Our policies that are compared with it: each is the best of ours for one aim.
const OURS: [&str; 4] = ["t*x", "change-probability", "utility", "longevity"];

/// The name of formulas bred on the paper's terminals.
const PAPERS: &str = "GP4C n, X, t";

/// Recorded pages have spells in which they change more often: after a change, the next day brings another 1.3 to 8 times as
/// often as by chance. Twice is what this gives.
const REST: f64 = 0.5;

/// Groups with fewer pages can't be split into folds and compared.
const LEAST_PAGES: usize = 100;

/// Pages drawn for each run.
const PAGES_A_RUN: u32 = 10;
const CYCLES: u32 = 57;
/// With fewer runs everything is made as small as possible.
const FEW_RUNS: u32 = 100;
/// With more terminals hardly two pages are in the same state, and a replay takes longer. So it is made on at most this many
/// pages of a group.
const MOST_PAGES: usize = 5000;

/// Table 2, Fig. 1, and the effect of other terminals and aims. `told` is called with the step that begins.
pub fn run(effort: Effort, dataset: Option<&Dataset>, told: &mut dyn FnMut(&str)) -> Reproduced {
    let drawn;
    let is_made_up = dataset.is_none();
    let dataset = match dataset {
        Some(dataset) => dataset,
        None => {
            drawn = made_up(effort).dataset();
            &drawn
        }
    };
    let settings = settings(effort);
    let papers = bred(dataset, &settings, PAPERS, told);
    let table_2 = table_2(dataset, &settings, &papers, told);
    let some = sample(dataset, settings.least_pages);
    let papers = if some.is_whole { papers } else { bred(&some.pages, &settings, PAPERS, told) };
    let what = "More terminals, other aims, and policies that need no breeding";
    let mut experiments = vec![table_2, beyond(("beyond", what), &some.pages, &settings, papers, told)];
    if is_made_up {
        let resting = resting(effort).dataset();
        let papers = bred(&resting, &settings, PAPERS, told);
        let what = "The same, where pages rest for half of their time";
        experiments.push(beyond(("resting", what), &resting, &settings, papers, told));
    }
    let paper = "Santos et al. 2013: Learning to Schedule Webpage Updates Using Genetic Programming";
    Reproduced { paper, experiments }
}

fn made_up(effort: Effort) -> Spec {
    Spec { pages: (PAGES_A_RUN * effort.runs) as usize, cycles: CYCLES, seed: effort.seed, ..Spec::default() }
}

/// Fewer pages that are watched as long as openbsd-www-5y: within a few weeks hardly any page begins to rest or to change.
fn resting(effort: Effort) -> Spec {
    let spec = made_up(effort);
    let cycles = if effort.runs < FEW_RUNS { CYCLES } else { 260 };
    Spec { pages: (spec.pages / 5).clamp(LEAST_PAGES, MOST_PAGES), cycles, rest: REST, ..spec }
}

fn settings(effort: Effort) -> EvolveSettings {
    let full = EvolveSettings { seed: effort.seed, ..EvolveSettings::default() };
    if effort.runs >= FEW_RUNS {
        return full;
    }
    EvolveSettings { population: 40, generations: 6, runs: 1, folds: 3, kept: 10, ..full }
}

/// The pages on which formulas with any terminals are replayed.
struct CorpusSample {
    pages: Dataset,
    is_whole: bool,
}

/// Some pages of each large group.
fn sample(dataset: &Dataset, least_pages: usize) -> CorpusSample {
    let large = groups(dataset, least_pages);
    let is_whole = large.iter().all(|group| group.pages.len() <= MOST_PAGES);
    let some = |group: &&Group| {
        let parts = group.pages.len().div_ceil(MOST_PAGES).max(1) as u32;
        let own = fold(group.pages.len(), parts, 0).0;
        let pages = own.iter().filter_map(|at| group.pages.get(*at as usize)).cloned().collect();
        Group { pages, ..(*group).clone() }
    };
    let groups = large.iter().map(some).collect();
    CorpusSample { pages: Dataset { name: dataset.name.clone(), groups }, is_whole }
}

/// Replays each policy on each fold. The results are by policy, fold and group.
type Replays = BTreeMap<String, Vec<Vec<Vec<CycleFigures>>>>;

/// What is replayed on a fold: a name, and the policy.
type Contender = (String, String);

fn replay_all(
    dataset: &Dataset,
    settings: &EvolveSettings,
    contenders: &dyn Fn(u32) -> Vec<Contender>,
    told: &mut dyn FnMut(&str),
) -> Replays {
    let mut replays = Replays::new();
    let groups = groups(dataset, settings.least_pages);
    for number in 0..settings.folds {
        told(&format!("replaying all on fold {} of {}", number + 1, settings.folds));
        for (name, policy) in contenders(number) {
            let of = |group: &&Group| {
                let pages = fold(group.pages.len(), settings.folds, number).0;
                let truth = Truth::of(group, &pages);
                replayed(&policy, group, &truth, &evolve::terms(settings, group))
            };
            replays.entry(name).or_default().push(groups.iter().map(of).collect());
        }
    }
    replays
}

/// A figure of a policy in each fold: the mean over the groups.
fn by_fold(replays: &[Vec<Vec<CycleFigures>>], of: fn(&Figures) -> f64) -> Vec<f64> {
    let mean = |groups: &Vec<Vec<CycleFigures>>| {
        groups.iter().map(|cycles| of(&Figures::of(cycles))).sum::<f64>() / groups.len().max(1) as f64
    };
    replays.iter().map(mean).collect()
}

/// The formulas that were bred: for each selection one for each fold.
struct Bred {
    formulas: BTreeMap<(Selection, u32), String>,
    champion: String,
    evaluated: u64,
}

fn bred(dataset: &Dataset, settings: &EvolveSettings, what: &str, told: &mut dyn FnMut(&str)) -> Bred {
    let mut journal = Journal::new(dataset, settings.clone());
    let (folds, runs) = (settings.folds, settings.runs);
    let stopped = evolve::evolve(dataset, &mut journal, &|| false, &mut |_, progress| {
        if progress.generation + 1 == settings.generations {
            told(&format!(
                "breeding {what}: fold {} of {folds}, run {} of {runs}, {} {:.4}",
                progress.fold + 1,
                progress.run + 1,
                settings.fitness.name(),
                progress.figures.best
            ));
        }
    });
    // It is never asked to stop.
    debug_assert!(stopped.is_ok());
    let verdict = evolve::judge(dataset, &journal);
    let picks = verdict.iter().flat_map(|verdict| &verdict.picks);
    Bred {
        formulas: picks.map(|pick| ((pick.selection, pick.fold), pick.formula.clone())).collect(),
        champion: verdict.as_ref().map_or(String::new(), |verdict| verdict.formula.to_string()),
        evaluated: journal.effort.formulas,
    }
}

impl Bred {
    /// The name of the policy of a fold's formula, if there is one.
    fn policy(&self, selection: Selection, fold: u32) -> Option<String> {
        self.formulas.get(&(selection, fold)).map(|formula| format!("{FORMULA}{formula}"))
    }
}

fn gp(selection: Selection) -> String {
    format!("GP4C {}", selection.name())
}

/// Table 2 and Fig. 1.
fn table_2(
    dataset: &Dataset,
    settings: &EvolveSettings,
    bred: &Bred,
    told: &mut dyn FnMut(&str),
) -> Experiment {
    let contenders = |fold: u32| {
        let named = |(name, policy): &(&str, &str)| ((*name).to_owned(), (*policy).to_owned());
        let mut all: Vec<Contender> = BASELINES.iter().map(named).collect();
        all.extend(Selection::ALL.into_iter().filter_map(|one| Some((gp(one), bred.policy(one, fold)?))));
        all
    };
    let replays = replay_all(dataset, settings, &contenders, told);
    let rate =
        |name: &str| replays.get(name).map_or(Vec::new(), |own| by_fold(own, |figures| figures.change_rate));
    let best = BASELINES
        .iter()
        .map(|(name, _)| *name)
        .max_by(|a, b| spread(&rate(a)).0.total_cmp(&spread(&rate(b)).0))
        .unwrap_or("NAD");
    let mut table = Numbers::new(["policy", "ChangeRate", "±", "over the best baseline", "± "]);
    let names = BASELINES.iter().map(|(name, _)| (*name).to_owned()).chain(Selection::ALL.map(gp));
    for name in names {
        let own = rate(&name);
        let over: Vec<f64> = own.iter().zip(rate(best)).map(|(own, best)| own - best).collect();
        let ((mean, off), (more, more_off)) = (spread(&own), spread(&over));
        table.row(name, [mean, known(off), more, known(more_off)]);
    }
    let (counts, figure) = cycle_by_cycle(dataset, settings, &replays, best);
    let mut notes = vec![
        format!(
            "{} of the pages a cycle after {} cycles of warm-up; {} folds, bounds are 95 % over them, differences are taken fold \
             by fold; {} formulas in all",
            percent(settings.budget),
            settings.warm_up,
            settings.folds,
            bred.evaluated
        ),
        format!("the best baseline is {best}; the champion of all folds: {}", bred.champion),
        "the paper's rates of crossover, reproduction, replacement and swap are taken as weights, as they add up to 115 %; the \
         best formulas of all runs of a fold are picked from together"
            .to_owned(),
    ];
    notes.extend(without_interval(&[&table]));
    Experiment {
        name: "table-2",
        title: "Table 2: ChangeRate on pages that formulas were not bred on".to_owned(),
        notes,
        tables: vec![table, counts],
        figures: vec![figure],
    }
}

/// The number of cycles in which GP4C is above the best baseline, and the curves. Only of the largest group, as others have
/// other cycles.
fn cycle_by_cycle(
    dataset: &Dataset,
    settings: &EvolveSettings,
    replays: &Replays,
    best: &str,
) -> (Numbers, Figure) {
    let groups = groups(dataset, settings.least_pages);
    let largest =
        (0..groups.len()).max_by_key(|at| groups.get(*at).map_or(0, |group| group.pages.len())).unwrap_or(0);
    let at = |name: &str| -> Vec<&Vec<CycleFigures>> {
        replays
            .get(name)
            .map_or(Vec::new(), |own| own.iter().filter_map(|groups| groups.get(largest)).collect())
    };
    let rates = |name: &str, cycle: usize| -> Vec<f64> {
        let share = |of: &CycleFigures| of.changed as f64 / of.visits.max(1) as f64;
        at(name).iter().filter_map(|cycles| cycles.get(cycle).map(share)).collect()
    };
    let cycles = at(best).iter().map(|cycles| cycles.len()).min().unwrap_or(0);
    let mut counts = Numbers::new([&format!("cycles, against {best}"), "above", "tied", "below"]);
    for selection in Selection::ALL {
        let (mut above, mut tied, mut below) = (0.0, 0.0, 0.0);
        for cycle in 0..cycles {
            let (own, other) = (rates(&gp(selection), cycle), rates(best, cycle));
            let over: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
            let (mean, off) = spread(&over);
            // Without an interval nothing is above or below.
            let off = off.unwrap_or(f64::INFINITY);
            match (mean - off > 0.0, mean + off < 0.0) {
                (true, _) => above += 1.0,
                (_, true) => below += 1.0,
                _ => tied += 1.0,
            }
        }
        counts.row(gp(selection), [above, tied, below]);
    }
    let first = at(best).first().and_then(|cycles| cycles.first()).map_or(0, |cycle| cycle.cycle);
    let curve = |name: &str| {
        let points = (0..cycles).map(|cycle| {
            let (mean, off) = spread(&rates(name, cycle));
            let bounds = off
                .filter(is_narrow)
                .map(|off| (mean - off, mean + off))
                .filter(|_| name.starts_with("GP4C"));
            Point { x: f64::from(first) + cycle as f64, y: mean, bounds }
        });
        FigureCurve::measured(name, points.collect())
    };
    let mut curves: Vec<FigureCurve> = BASELINES.iter().map(|(name, _)| curve(name)).collect();
    // Random is the reference for the others, and there are only seven colours.
    if let Some(chance) = curves.first_mut() {
        chance.kind = CurveKind::Reference;
    }
    curves.push(curve(&gp(Selection::default())));
    let title = match groups.get(largest) {
        Some(group) if groups.len() > 1 => format!("Fig. 1: ChangeRate cycle by cycle, {}", group.name),
        _ => "Fig. 1: ChangeRate cycle by cycle".to_owned(),
    };
    let (across, up) = (Scale::linear("cycle"), Scale::linear("ChangeRate").within(0.0, 1.0));
    (counts, Figure { name: "1-cycles", title, across, up, curves })
}

/// More terminals, other aims, and policies that need no breeding. `papers` were bred on n, X, t.
fn beyond(
    (name, title): (&'static str, &str),
    dataset: &Dataset,
    settings: &EvolveSettings,
    papers: Bred,
    told: &mut dyn FnMut(&str),
) -> Experiment {
    let more = more_terminals(dataset);
    let few_runs = settings.runs.min(2);
    let variants = [
        ("GP4C more terminals", more.clone(), Fitness::ChangeRate, settings.runs),
        ("GP4C n, X, t, for freshness", Terminal::PAPERS.to_vec(), Fitness::Freshness, few_runs),
        ("GP4C more terminals, for freshness", more.clone(), Fitness::Freshness, few_runs),
    ];
    let mut all = vec![(PAPERS, papers)];
    all.extend(variants.into_iter().map(|(name, terminals, fitness, runs)| {
        (name, bred(dataset, &EvolveSettings { terminals, fitness, runs, ..settings.clone() }, name, told))
    }));
    let selection = Selection::default();
    let contenders = |fold: u32| {
        let own =
            all.iter().filter_map(|(name, bred)| Some(((*name).to_owned(), bred.policy(selection, fold)?)));
        let ours = OURS.iter().map(|name| ((*name).to_owned(), (*name).to_owned()));
        ours.chain(own).collect()
    };
    let replays = replay_all(dataset, settings, &contenders, told);
    let mut table =
        Numbers::new(["policy", "ChangeRate", "±", "fresh", "± ", "NDCG", "±  ", "staleness", "±   "]);
    let mut differences = Numbers::new(["over n, X, t", "ChangeRate", "±", "fresh", "± "]);
    let of =
        |name: &str, of: fn(&Figures) -> f64| replays.get(name).map_or(Vec::new(), |own| by_fold(own, of));
    for name in OURS.into_iter().chain(all.iter().map(|(name, _)| *name)) {
        let figures: [fn(&Figures) -> f64; 4] = [
            |figures| figures.change_rate,
            |figures| figures.freshness,
            |figures| figures.ndcg,
            |figures| figures.staleness,
        ];
        table.row(name, figures.into_iter().flat_map(|figure| both(spread(&of(name, figure)))));
    }
    for (more, less) in [(1, 0), (3, 2)] {
        let (Some((more, _)), Some((less, _))) = (all.get(more), all.get(less)) else { continue };
        let over = |figure: fn(&Figures) -> f64| {
            let pairs = of(more, figure).into_iter().zip(of(less, figure));
            both(spread(&pairs.map(|(more, less)| more - less).collect::<Vec<f64>>()))
        };
        let numbers = [over(|figures| figures.change_rate), over(|figures| figures.freshness)];
        differences.row(*more, numbers.into_iter().flatten());
    }
    let names: Vec<&str> = more.iter().map(|terminal| terminal.name()).collect();
    let mut notes = vec![
        format!(
            "at most {MOST_PAGES} pages of a group; {} runs, {few_runs} for freshness; picked by {}; more terminals: {}",
            settings.runs,
            selection.name(),
            names.join(", ")
        ),
        "change-probability, utility and longevity need no breeding; each is the best of ours for changes found, for \
         freshness and for staleness"
            .to_owned(),
    ];
    notes.extend(all.iter().map(|(name, bred)| format!("{name}: {}", bred.champion)));
    notes.extend(without_interval(&[&table, &differences]));
    Experiment { name, title: title.to_owned(), notes, tables: vec![table, differences], figures: Vec::new() }
}

/// The change rate by irregular visits, and the time since a change was last seen, which n, X and t don't have. If it is known,
/// also how far pages move.
fn more_terminals(dataset: &Dataset) -> Vec<Terminal> {
    let mut all = [&Terminal::PAPERS[..], &[Terminal::Gamma, Terminal::Quiet]].concat();
    if dataset.has_texts() {
        all.extend([Terminal::Divergence, Terminal::Longevity]);
    }
    all
}

/// The half-width of an interval. One that says nothing is infinite, which tables show as `-`.
fn known(off: Option<f64>) -> f64 {
    off.filter(is_narrow).unwrap_or(f64::INFINITY)
}

/// What `-` means, if it is in one of the tables.
fn without_interval(tables: &[&Numbers]) -> Option<String> {
    let numbers = |table: &&Numbers| table.rows.iter().any(|(_, row)| row.contains(&f64::INFINITY));
    tables.iter().any(numbers).then(|| "-: too few folds for an interval".to_owned())
}

fn both((mean, off): (f64, Option<f64>)) -> [f64; 2] {
    [mean, known(off)]
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_has_every_row_and_bred_formulas_find_more_than_chance() {
        let found = run(Effort { runs: 30, seed: 1 }, None, &mut |_| {});
        let tables: Vec<&Numbers> = found.experiments.iter().flat_map(|one| &one.tables).collect();
        let [table, counts, beyond, differences, resting, _] = tables[..] else { panic!("{}", tables.len()) };
        for name in ["Rand", "Age", "NAD", "SAD", "AAD", "GAD", "CG", "GP4C best", "GP4C sum", "GP4C avg"] {
            assert!(table.get(name, "ChangeRate").is_some_and(f64::is_finite), "{name}");
        }
        let rate = |name| table.get(name, "ChangeRate").expect("a rate");
        assert!(rate("GP4C avg") > rate("Rand"));
        let of = |head| counts.get("GP4C avg", head).expect("a count");
        assert_eq!(of("above") + of("tied") + of("below"), f64::from(CYCLES - 3));
        assert_eq!((beyond.rows.len(), resting.rows.len()), (8, 8));
        assert_eq!(differences.rows.len(), 2);
        let curves = &found.experiments[0].figures[0].curves;
        assert_eq!((curves.len(), curves[0].points.len()), (8, 54));
        assert_eq!(curves[0].points[0].x, 3.0);
        assert_eq!(run(Effort { runs: 30, seed: 1 }, None, &mut |_| {}), found, "the same seed");
    }
}
