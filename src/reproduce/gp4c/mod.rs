//! Santos et al. 2013, "Learning to Schedule Webpage Updates Using Genetic Programming": score functions that are bred,
//! against their baselines and ours.
//!
//! Their BRDC'12 is published by its authors (the paper's footnote 2), but could not be had. Pages are those of any dataset,
//! or made up: change rates log-normal, half of the pages static, 57 days and sites as in its Table 1.

mod beyond;
mod breeding;
mod cycles;
mod printed;
mod table_1;
mod table_2;

use std::collections::BTreeMap;

use super::{Effort, Numbers, Reproduced};
use crate::dataset::{Dataset, Group};
use crate::evolve::population::Selection;
use crate::evolve::{self, EvolveSettings, Journal};
use crate::policy::registry::FORMULA;
use crate::simulate::compare::{fold, groups, is_narrow, replayed};
use crate::simulate::metric::{CycleFigures, Figures};
use crate::simulate::synthetic::Spec;
use crate::simulate::truth::Truth;
use beyond::beyond;
use breeding::breeding;
use table_1::table_1;
use table_2::table_2;

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

/// The name of formulas bred on the paper's terminals.
const PAPERS: &str = "GP4C n, X, t";

/// Recorded pages have spells in which they change more often: after a change, the next day brings another 1.3 to 8 times as
/// often as by chance. Twice is what this gives.
const REST: f64 = 0.5;

/// Groups with fewer pages can't be split into folds and compared.
const LEAST_PAGES: usize = 100;

/// Pages drawn for each run, up to the paper's number.
const PAGES_A_RUN: u32 = 10;
/// The first copy of each page, which nothing is compared with, and a comparison on each of the paper's days. Two of these are
/// warm-up, so 55 cycles are counted, as in the paper.
const CYCLES: u32 = 1 + printed::DAYS;
/// With fewer runs everything is made as small as possible.
const FEW_RUNS: u32 = 100;
/// With more terminals hardly two pages are in the same state, and a replay takes longer. So it is made on at most this many
/// pages of a group.
const MOST_PAGES: usize = 5000;

/// Tables 1 and 2, Fig. 1, the rules of breeding, and the effect of other terminals and aims. `told` is called with the step
/// that begins.
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
    let mut experiments = vec![table_1(dataset, is_made_up)];
    let papers = bred(dataset, &settings, PAPERS, told);
    experiments.extend(table_2(dataset, &settings, &papers, told));
    experiments.push(breeding(dataset, &settings, &papers, told));
    let some = sample(dataset, settings.least_pages);
    let papers = if some.is_whole { papers } else { bred(&some.pages, &settings, PAPERS, told) };
    let what = "Beyond the paper: more terminals, other aims, and policies that need no breeding";
    experiments.push(beyond(("beyond", what), &some.pages, &settings, papers, told));
    if is_made_up {
        let resting = resting(effort).dataset();
        let papers = bred(&resting, &settings, PAPERS, told);
        let what = "Beyond the paper: the same, where pages rest for half of their time";
        experiments.push(beyond(("resting", what), &resting, &settings, papers, told));
    }
    let paper = "Santos et al. 2013: Learning to Schedule Webpage Updates Using Genetic Programming";
    Reproduced { paper, experiments }
}

fn made_up(effort: Effort) -> Spec {
    let pages = PAGES_A_RUN.saturating_mul(effort.runs).min(printed::PAGES);
    let sites = (f64::from(pages) * f64::from(printed::SITES) / f64::from(printed::PAGES)).round() as usize;
    Spec { pages: pages as usize, cycles: CYCLES, sites: sites.max(1), seed: effort.seed, ..Spec::default() }
}

/// Fewer pages that are watched as long as openbsd-www-5y: within a few weeks hardly any page begins to rest or to change.
fn resting(effort: Effort) -> Spec {
    let spec = made_up(effort);
    let cycles = if effort.runs < FEW_RUNS { CYCLES } else { 260 };
    Spec { pages: (spec.pages / 5).clamp(LEAST_PAGES, MOST_PAGES), cycles, sites: 0, rest: REST, ..spec }
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

/// The fitness of the picks of a selection, fold by fold.
type Tests = BTreeMap<Selection, Vec<f64>>;

/// The formulas that were bred: for each selection one for each fold.
struct Bred {
    formulas: BTreeMap<(Selection, u32), String>,
    /// By selection: the ChangeRate, or another aim, on the test pages of each fold.
    tests: Tests,
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
    let picks = || verdict.iter().flat_map(|verdict| &verdict.picks);
    let mut tests = Tests::new();
    picks().for_each(|pick| tests.entry(pick.selection).or_default().extend(pick.test));
    Bred {
        tests,
        formulas: picks().map(|pick| ((pick.selection, pick.fold), pick.formula.clone())).collect(),
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
    fn a_glance_has_every_row_and_the_results_in_order() {
        let found = run(Effort { runs: 30, seed: 1 }, None, &mut |_| {});
        let names: Vec<&str> = found.experiments.iter().map(|experiment| experiment.name).collect();
        assert_eq!(names, ["table-1", "table-2", "fig-1", "breeding", "beyond", "resting"]);
        let tables: Vec<&Numbers> = found.experiments.iter().flat_map(|one| &one.tables).collect();
        let [pages, table, counts, rules, beyond, differences, resting, _] = tables[..] else {
            panic!("{}", tables.len())
        };
        let days = pages.get("cycles with a comparison (the paper: days)", "here");
        assert_eq!(
            (days, pages.get("pages", "here"), pages.get("sites", "here")),
            (Some(57.0), Some(300.0), Some(5.0))
        );
        for (name, printed, _) in printed::TABLE_2 {
            assert!(table.get(name, "ChangeRate").is_some_and(f64::is_finite), "{name}");
            assert_eq!(table.get(name, "the paper"), Some(printed));
        }
        // Rand, Age and SAD are below all others, as in the paper. Over twelve seeds these differences were 0.14 to 0.56, with
        // standard deviations of 0.03 to 0.08. The order of the others is within the noise of 300 pages.
        let rate = |name| table.get(name, "ChangeRate").expect("a rate");
        for less in ["Rand", "Age", "SAD"] {
            for more in ["NAD", "AAD", "GAD", "CG", "GP4C best", "GP4C sum", "t*X"] {
                assert!(rate(more) - rate(less) > 0.1, "{less} {} {more} {}", rate(less), rate(more));
            }
        }
        for (name, _) in BASELINES {
            let of = |head| counts.get(name, head).expect("a count");
            assert_eq!(of("above") + of("tied") + of("below"), 55.0, "{name}");
        }
        assert_eq!(counts.get("NAD", "the paper: above"), Some(22.0));
        assert_eq!(counts.get("AAD", "the paper: below"), Some(2.0));
        let of = |name| rules.get(name, "GP4C best").expect("a rate");
        assert!((of("paper") - rate("GP4C best")).abs() < 1e-9, "fold by fold the same pages");
        assert!(
            ["tournament", "top-parents", "kept-go-on"]
                .into_iter()
                .all(|name| of(name) > rate("Rand") + 0.05)
        );
        assert_eq!((beyond.rows.len(), resting.rows.len()), (8, 8));
        assert_eq!(differences.rows.len(), 2);
        let curves = &found.experiments[2].figures[0].curves;
        assert_eq!((curves.len(), curves[0].points.len()), (8, 55));
        assert_eq!((curves[0].points[0].x, curves[7].name.as_str()), (1.0, "GP4C best"));
        assert_eq!(run(Effort { runs: 30, seed: 1 }, None, &mut |_| {}), found, "the same seed");
    }

    #[test]
    fn made_up_pages_of_the_papers_size_have_its_table_1() {
        let spec = made_up(Effort { runs: 41_705, seed: 1 });
        assert_eq!((spec.pages, spec.sites, spec.cycles), (417_048, 7171, 58));
        let few = Spec { cycles: 4, ..spec }.dataset();
        let found = table_1(&few, true);
        for name in ["pages", "sites", "pages on a site, least", "pages on a site, most"] {
            let of = |head| found.tables[0].get(name, head).expect("a number");
            assert_eq!(of("here"), of("the paper"), "{name}");
        }
        let mean = found.tables[0].get("pages on a site, mean", "here").expect("a number");
        assert!((mean - printed::PAGES_A_SITE[2]).abs() < 0.01, "{mean}");
    }
}
