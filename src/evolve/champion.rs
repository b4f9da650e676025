//! The champion as a file: a readable formula, with its settings and its fitness.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::population::Selection;
use super::{ChampionVerdict, EvolveEffort, EvolveSettings, Journal, Pick};
use crate::policy::expression::Expression;
use crate::simulate::compare::spread;

/// What `freshet evolve` writes, and `--policy evolved:FILE` reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Champion {
    /// Pages with the highest value are visited first.
    pub formula: String,
    /// The formula as it was bred, with parts that have no effect.
    pub bred: String,
    /// The shortest form of that with the same order of pages that algebra gives.
    pub equivalent: String,
    /// The data it was bred on.
    pub data: String,
    /// Whether all runs were finished.
    pub finished: bool,
    /// Its fitness.
    pub scores: Scores,
    /// The settings it was bred with.
    pub settings: EvolveSettings,
    /// The work that it took.
    #[serde(default)]
    pub effort: EvolveEffort,
    /// The picks of every selection in every fold.
    #[serde(default, rename = "fold")]
    pub picks: Vec<Pick>,
}

/// The fitness of a champion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// On the training pages.
    pub training: f64,
    /// On the validation pages.
    pub validation: f64,
    /// On the test pages of its fold, which it has not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<f64>,
    /// On all pages.
    pub all: f64,
    /// For each selection: the fitness of the formulas it picks, on pages they have not seen.
    #[serde(default)]
    pub tests: Vec<Tested>,
}

/// The mean over folds, and the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The selection that picked.
    pub selection: Selection,
    /// The mean fitness.
    pub mean: f64,
    /// The half-width of the interval; `None` with too few folds for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<f64>,
    /// Folds that the mean is over.
    pub folds: usize,
}

/// A longer warm-up in a file is a mistake.
const MOST_WARM_UP: u32 = 1000;

/// Why a file can't be read as a champion.
#[derive(Debug)]
pub struct ChampionError {
    path: PathBuf,
    wrong: String,
}

impl fmt::Display for ChampionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.wrong)
    }
}

impl std::error::Error for ChampionError {}

impl Champion {
    /// The champion of a journal, with the verdict on it.
    pub fn new(data: String, journal: &Journal, verdict: &ChampionVerdict) -> Self {
        let EvolveSettings { folds, runs, .. } = journal.settings;
        let Pick { formula, training, validation, test, .. } = verdict.champion.clone();
        let tested = |selection: Selection| {
            let own = verdict.picks.iter().filter(|pick| pick.selection == selection);
            let tests: Vec<f64> = own.filter_map(|pick| pick.test).collect();
            let (mean, off) = spread(&tests);
            (!tests.is_empty()).then_some(Tested { selection, mean, off, folds: tests.len() })
        };
        let tests = Selection::ALL.into_iter().filter_map(tested).collect();
        Self {
            formula: verdict.formula.to_string(),
            bred: formula,
            equivalent: verdict.equivalent.to_string(),
            data,
            finished: journal.finished.len() == (folds * runs) as usize,
            scores: Scores { training, validation, test, all: verdict.on_all, tests },
            settings: journal.settings.clone(),
            effort: journal.effort,
            picks: verdict.picks.clone(),
        }
    }

    /// Reads a file, and checks its formula.
    pub fn read(path: &Path) -> Result<Self, ChampionError> {
        let wrong = |wrong: String| ChampionError { path: path.to_owned(), wrong };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let champion: Self = toml::from_str(&text)
            .map_err(|error| wrong(format!("this is no file of `freshet evolve`: {error}")))?;
        champion.expression().map_err(wrong)?;
        let EvolveSettings { budget, warm_up, .. } = champion.settings;
        if !(budget > 0.0 && budget <= 1.0) || warm_up > MOST_WARM_UP {
            return Err(wrong(format!(
                "`settings` has a budget of `{budget}` and a warm-up of `{warm_up}`; they are a share above 0 up to 1, and at \
                 most {MOST_WARM_UP} cycles"
            )));
        }
        Ok(champion)
    }

    /// The formula, read again.
    pub fn expression(&self) -> Result<Expression, String> {
        self.formula.parse().map_err(|error| format!("`formula`, {error}"))
    }

    /// The text of the file.
    pub fn text(&self) -> Result<String, toml::ser::Error> {
        let head = "# A score function that `freshet evolve` bred: pages with the highest value are visited first.\n\
                    # Run it with `--policy evolved:FILE`; `freshet evolve --explain FILE` says which facts it uses.\n\n";
        Ok(head.to_owned() + &toml::to_string_pretty(self)?)
    }
}
