//! Picks the champion from a journal, and tests it on pages it has not seen.

use serde::{Deserialize, Serialize};

use super::population::Selection;
use super::{Breeding, EvolveEffort, EvolveSettings, Journal, Parts, Runners, parts, restored};
use crate::dataset::Dataset;
use crate::policy::expression::{Expression, Symbol};
use crate::simulate::compare::spread;

/// A formula that a selection picked in a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The selection that picked it.
    pub selection: Selection,
    /// The fold, from 0.
    pub fold: u32,
    /// The formula as text.
    pub formula: String,
    /// Its fitness on the training pages.
    pub training: f64,
    /// Its fitness on the validation pages.
    pub validation: f64,
    /// Fitness on the test pages of the fold. `None` if there is only one fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<f64>,
}

/// The champion, and the picks of every selection in every fold.
#[derive(Clone, Debug, PartialEq)]
pub struct ChampionVerdict {
    /// The pick with the best fitness on all pages.
    pub champion: Pick,
    /// The champion's formula, without parts that have no effect.
    pub formula: Expression,
    /// The formula as it was bred, in a shorter form with the same order of pages.
    pub equivalent: Expression,
    /// The champion's fitness in a replay of all pages, including those it was bred on: the figure of `freshet simulate`.
    pub on_all: f64,
    /// The picks of every selection in every fold.
    pub picks: Vec<Pick>,
}

impl ChampionVerdict {
    /// The mean fitness of a selection's picks on pages they have not seen, and the half-width of its 95 % confidence
    /// interval, if there are folds enough for one.
    pub fn test(&self, selection: Selection) -> Option<(f64, Option<f64>)> {
        let own = self.picks.iter().filter(|pick| pick.selection == selection);
        let tested: Vec<f64> = own.filter_map(|pick| pick.test).collect();
        (!tested.is_empty()).then(|| spread(&tested))
    }
}

/// Picks the champion; `None` before the first generation is over.
pub fn judge(dataset: &Dataset, journal: &Journal) -> Option<ChampionVerdict> {
    let settings = &journal.settings;
    let mut effort = EvolveEffort::default();
    let mut picks = Vec::new();
    for fold in 0..settings.folds {
        let mut candidates: Vec<_> = journal
            .finished
            .iter()
            .filter(|run| run.fold == fold)
            .flat_map(|run| run.candidates.clone())
            .collect();
        let current = journal.current.clone().filter(|current| current.fold == fold);
        if candidates.is_empty() && current.is_none() {
            continue;
        }
        let breeding = Breeding::new(dataset, settings, fold);
        if current.is_some() {
            let kept = restored(current, settings.kept).1;
            candidates.extend(breeding.candidates(kept.best(), &|| false, &mut effort)?);
        }
        for selection in Selection::ALL {
            let worth = |one: &super::JournalCandidate| selection.worth(one.training, one.validation);
            // Of equal ones the first, so that later runs don't change it.
            let best = candidates.iter().rev().max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
            let formula: Expression = best.formula.parse().ok()?;
            let test = breeding.test(&formula);
            picks.push(Pick {
                selection,
                fold,
                formula: best.formula.clone(),
                training: best.training,
                validation: best.validation,
                test,
            });
        }
    }
    champion(dataset, settings, picks)
}

fn champion(dataset: &Dataset, settings: &EvolveSettings, picks: Vec<Pick>) -> Option<ChampionVerdict> {
    // In one replay, as `freshet simulate` makes it. Parts of the pages, each with its own budget, would give another figure.
    let (all_pages, runners) = (parts::all_pages(dataset, settings), Runners::new(dataset, settings));
    let on_all = |formula: &Expression| {
        let found =
            runners.all(&all_pages, &[formula], settings.fitness, &|| false, &mut EvolveEffort::default());
        found.and_then(|found| found.first().copied()).unwrap_or(0.0)
    };
    let scored = picks.iter().filter(|pick| pick.selection == settings.selection).filter_map(|pick| {
        let formula: Expression = pick.formula.parse().ok()?;
        Some((on_all(&formula), pick, formula))
    });
    let (_, pick, bred) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let breeding = Breeding::new(dataset, settings, pick.fold);
    let equivalent = breeding.equivalent(&bred);
    let formula = breeding.shortened(&equivalent);
    let worth = |parts| breeding.worth(parts, &formula);
    let Parts { training, validation, .. } = &breeding.parts;
    let champion = Pick {
        formula: bred.to_string(),
        training: worth(training),
        validation: worth(validation),
        test: breeding.test(&formula),
        ..pick.clone()
    };
    let on_all = on_all(&formula);
    Some(ChampionVerdict { champion, formula, equivalent, on_all, picks })
}

impl Breeding {
    /// The fitness on the test pages of the fold, if any of them compete.
    fn test(&self, formula: &Expression) -> Option<f64> {
        let test = &self.parts.test;
        test.iter().any(|pages| !pages.is_empty()).then(|| self.worth(test, formula))
    }

    fn worth(&self, parts: &[super::WarmedUp], formula: &Expression) -> f64 {
        let all = self.worth_of_all(parts, &[formula]);
        all.first().copied().unwrap_or(0.0)
    }

    fn worth_of_all(&self, parts: &[super::WarmedUp], formulas: &[&Expression]) -> Vec<f64> {
        let runners: &Runners = &self.runners;
        runners
            .all(parts, formulas, self.fitness, &|| false, &mut EvolveEffort::default())
            .unwrap_or_default()
    }

    /// The shortest form that orders pages the same way. Rounding may break rules of algebra, so it is tried on the pages too.
    fn equivalent(&self, bred: &Expression) -> Expression {
        let worth = |formula: &Expression| {
            (self.worth(&self.parts.training, formula), self.worth(&self.parts.validation, formula))
        };
        let before = worth(bred);
        let forms = [bred.ranking(), bred.simplified(), bred.canonical()];
        forms.into_iter().find(|form| worth(form) == before).unwrap_or_else(|| bred.clone())
    }

    /// Removes parts that have no effect: a part is replaced by one of its own parts, or by a number, as long as the formula
    /// does not get worse on the training pages or on the validation pages.
    fn shortened(&self, formula: &Expression) -> Expression {
        let mut best = formula.clone();
        let worth = |formulas: &[&Expression]| -> Vec<(f64, f64)> {
            let training = self.worth_of_all(&self.parts.training, formulas);
            training.into_iter().zip(self.worth_of_all(&self.parts.validation, formulas)).collect()
        };
        let Some(least) = worth(&[&best]).first().copied() else { return best };
        for _ in 0..MOST_CUTS {
            let mut shorter = shorter(&best);
            shorter.sort_by_key(|form| form.symbols().len());
            // A few at a time: the shortest that is good enough is taken.
            let found = shorter.chunks(BATCH).find_map(|forms| {
                let forms: Vec<&Expression> = forms.iter().collect();
                let good =
                    |(training, validation): &(f64, f64)| *training >= least.0 && *validation >= least.1;
                let place = worth(&forms).iter().position(good)?;
                forms.get(place).map(|form| (*form).clone())
            });
            match found {
                Some(form) => best = form,
                None => break,
            }
        }
        best
    }
}

const MOST_CUTS: usize = 100;
const BATCH: usize = 16;

/// All formulas in which one part is replaced by one of its own parts, or by 1.
fn shorter(formula: &Expression) -> Vec<Expression> {
    let symbols = formula.symbols();
    let mut all = Vec::new();
    for (at, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.operands() > 0) {
        let part = formula.part(at);
        let mut inner = at + 1;
        for _ in 0..symbol.operands() {
            let operand = formula.part(inner);
            inner = operand.end;
            all.extend(symbols.get(operand).map(|operand| formula.with(part.clone(), operand)));
        }
        all.push(formula.with(part, &[Symbol::Number(1.0)]));
    }
    all.into_iter().map(|form| form.ranking()).filter(|form| form.symbols().len() < symbols.len()).collect()
}
