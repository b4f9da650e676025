//! Table 2: ChangeRate of the baselines and of bred formulas.

use super::cycles::{Fig1, cycle_by_cycle};
use super::{BASELINES, Bred, Contender, by_fold, gp, known, percent, printed, replay_all, without_interval};
use crate::dataset::Dataset;
use crate::evolve::EvolveSettings;
use crate::evolve::population::Selection;
use crate::reproduce::{Experiment, Numbers};
use crate::simulate::compare::spread;

/// The paper's example of a simple formula (§5.3), and the policy.
const EXAMPLE: (&str, &str) = ("t*X", "t*x");

/// Table 2 and Fig. 1.
pub(super) fn table_2(
    dataset: &Dataset,
    settings: &EvolveSettings,
    bred: &Bred,
    told: &mut dyn FnMut(&str),
) -> Vec<Experiment> {
    let contenders = |fold: u32| {
        let named = |(name, policy): (&str, &str)| (name.to_owned(), policy.to_owned());
        let mut all: Vec<Contender> = BASELINES.into_iter().chain([EXAMPLE]).map(named).collect();
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
    let heads = ["policy", "ChangeRate", "±", "the paper", "± ", "over the best baseline", "±  "];
    let mut table = Numbers::new(heads);
    let names = BASELINES.iter().map(|(name, _)| (*name).to_owned()).chain(Selection::ALL.map(gp));
    for name in names.chain([EXAMPLE.0.to_owned()]) {
        let own = rate(&name);
        let over: Vec<f64> = own.iter().zip(rate(best)).map(|(own, best)| own - best).collect();
        let ((mean, off), (more, more_off)) = (spread(&own), spread(&over));
        let (printed, printed_off) = printed::rate(&name);
        let printed_off = printed_off.unwrap_or(printed::UNKNOWN);
        table.row(name, [mean, known(off), printed, printed_off, more, known(more_off)]);
    }
    let headline = gp(Selection::Best);
    let over = |rate: &dyn Fn(&str) -> f64| 100.0 * (rate(&headline) / rate("CG") - 1.0);
    let mut notes = vec![
        format!(
            "after {} cycles of warm-up each cycle visits {} of the pages of the part that is replayed (a fold; the paper: of the \
             dataset); {} folds, bounds are 95 % over them, differences are taken fold by fold; {} formulas in all",
            settings.warm_up,
            percent(settings.budget),
            settings.folds,
            bred.evaluated
        ),
        format!("the best baseline is {best}; the champion of all folds: {}", bred.champion),
        format!(
            "{headline} is {:.1} % above CG; the paper: around 10 % ({:.1} %). The paper's t*X is \"above\" its number",
            over(&|name| spread(&rate(name)).0),
            over(&|name| printed::rate(name).0)
        ),
        "the paper's rates of crossover, reproduction, replacement and swap are taken as weights, as they add up to 115 %; the \
         best formulas of all runs of a fold are picked from together"
            .to_owned(),
    ];
    notes.extend(without_interval(&[&table]));
    let Fig1 { counts, days_below, figure } = cycle_by_cycle(dataset, settings, &replays);
    let table_2 = Experiment {
        name: "table-2",
        title: "Table 2: ChangeRate on pages that formulas were not bred on".to_owned(),
        notes,
        tables: vec![table],
        figures: Vec::new(),
    };
    let fig_1 = Experiment {
        name: "fig-1",
        title: "Fig. 1: cycles in which GP4C best is better than each baseline".to_owned(),
        notes: vec![
            "95 % over the folds, differences taken fold by fold; without an interval a cycle counts as tied. Cycles are counted from \
             the first after the warm-up, as the paper's days are"
                .to_owned(),
            format!("cycles below: {days_below}"),
            "the paper's days below: AAD 1, 3; GAD 1. It has no counts for Rand, Age and SAD".to_owned(),
        ],
        tables: vec![counts],
        figures: vec![figure],
    };
    vec![table_2, fig_1]
}
