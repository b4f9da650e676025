//! What the paper's two rules of breeding do: each alone, both, and neither.

use super::{Bred, both, bred, without_interval};
use crate::dataset::Dataset;
use crate::evolve::population::Selection;
use crate::evolve::{BreedingRule, EvolveSettings};
use crate::reproduce::{Experiment, Numbers};
use crate::simulate::compare::spread;

/// Breeds by every rule. `papers` were bred by both rules.
pub(super) fn breeding(
    dataset: &Dataset,
    settings: &EvolveSettings,
    papers: &Bred,
    told: &mut dyn FnMut(&str),
) -> Experiment {
    let rows = BreedingRule::ALL.map(|rule| {
        let tests = match rule == settings.breeding {
            true => papers.tests.clone(),
            false => {
                let settings = EvolveSettings { breeding: rule, ..settings.clone() };
                bred(dataset, &settings, &format!("by {}", rule.name()), told).tests
            }
        };
        (rule, tests)
    });
    let mut table = Numbers::new([
        "breeding",
        "GP4C best",
        "±",
        "over tournament",
        "± ",
        "GP4C avg",
        "±  ",
        "over tournament ",
        "±   ",
    ]);
    for (rule, tests) in &rows {
        let figures = [Selection::Best, Selection::Avg].into_iter().flat_map(|selection| {
            let of = |tests: &super::Tests| tests.get(&selection).cloned().unwrap_or_default();
            let own = of(tests);
            let before = rows.first().map_or(Vec::new(), |(_, tests)| of(tests));
            let over: Vec<f64> = own.iter().zip(before).map(|(own, before)| own - before).collect();
            [both(spread(&own)), both(spread(&over))]
        });
        table.row(rule.name(), figures.flatten());
    }
    let mut notes = vec![
        "tournament: both parents of a crossover win a tournament of two over the whole generation, and only its best formula \
         goes on. top-parents: both are drawn at random among the top sixth of the generation (50 of 300). kept-go-on: the best \
         50 formulas of all generations are part of the next one. paper: both rules"
            .to_owned(),
        "ChangeRate on pages not seen, 95 % over the folds, differences taken fold by fold".to_owned(),
    ];
    notes.extend(without_interval(&[&table]));
    Experiment {
        name: "breeding",
        title: "What the paper's rules of breeding do (§4; Listing 1.1, lines 11 and 12)".to_owned(),
        notes,
        tables: vec![table],
        figures: Vec::new(),
    }
}
