//! The results of all runs so far, as a file. An interrupted run goes on from it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use super::EvolveSettings;
use crate::dataset::{Dataset, Group, History};
use crate::policy::expression::Expression;

/// The results of all runs so far: enough to go on from, and to pick a champion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// The settings of all runs.
    pub settings: EvolveSettings,
    /// A hash that tells whether the data are the same.
    pub data: u64,
    /// The runs that are finished.
    pub finished: Vec<JournalRun>,
    /// The run to go on with, if one was stopped.
    pub current: Option<Current>,
    /// The work of all runs.
    #[serde(default)]
    pub effort: EvolveEffort,
}

/// A run that is finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalRun {
    /// Its fold, from 0.
    pub fold: u32,
    /// Its number in the fold, from 0.
    pub run: u32,
    /// The formulas that it kept.
    pub candidates: Vec<JournalCandidate>,
    /// Its generations, in order.
    pub history: Vec<Generation>,
}

/// A formula that was kept, and its fitness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalCandidate {
    /// The formula as text.
    pub formula: String,
    /// Its fitness on the training pages.
    pub training: f64,
    /// Its fitness on the validation pages.
    pub validation: f64,
}

/// The run that is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Current {
    /// Its fold, from 0.
    pub fold: u32,
    /// Its number in the fold, from 0.
    pub run: u32,
    /// The last generation: formulas and their fitness.
    pub population: Vec<(String, f64)>,
    /// The best formulas so far, and their fitness.
    pub kept: Vec<(String, f64)>,
    /// Its generations so far, in order.
    pub history: Vec<Generation>,
}

/// The figures of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The best fitness of all generations so far.
    pub best: f64,
    /// The mean fitness of this generation.
    pub mean: f64,
    /// The mean number of symbols of a formula.
    pub symbols: f64,
}

/// The work that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvolveEffort {
    /// Formulas that were bred.
    pub formulas: u64,
    /// Replays, on training pages and on validation pages. A formula that is equal to an earlier one is not replayed on the
    /// training pages again.
    pub replays: u64,
    /// The sum over evaluations of symbols times states.
    pub node_evaluations: u64,
    /// Time on the clock.
    pub seconds: f64,
}

impl Journal {
    /// A journal without runs.
    pub fn new(dataset: &Dataset, settings: EvolveSettings) -> Self {
        let data = fingerprint(dataset);
        Self { settings, data, finished: Vec::new(), current: None, effort: EvolveEffort::default() }
    }

    /// Checks that it is of this dataset and these settings. If not, says what differs.
    pub fn fits(&self, dataset: &Dataset, settings: &EvolveSettings) -> Result<(), String> {
        if self.data != fingerprint(dataset) {
            return Err("it is of other pages".to_owned());
        }
        if self.settings != *settings {
            return Err(format!("it was run with {}", differing(&self.settings, settings)));
        }
        self.is_whole().map_err(|what| format!("it is damaged: {what}"))
    }

    /// Checks a journal that was read from a file.
    fn is_whole(&self) -> Result<(), String> {
        let EvolveSettings { folds, runs, population, generations, .. } = self.settings;
        let mut seen = HashSet::new();
        let mut is_one = |fold: u32, run: u32, history: &[Generation]| {
            if fold >= folds || run >= runs || !seen.insert((fold, run)) {
                return Err(format!("there is no place for run {run} of fold {fold}"));
            }
            if history.is_empty() || history.len() > generations as usize {
                return Err(format!("a run has {} generations", history.len()));
            }
            Ok(())
        };
        let mut formulas: Vec<&str> = Vec::new();
        for JournalRun { fold, run, candidates, history } in &self.finished {
            is_one(*fold, *run, history)?;
            if candidates.is_empty() {
                return Err("a run came to nothing".to_owned());
            }
            formulas.extend(candidates.iter().map(|one| one.formula.as_str()));
        }
        if let Some(Current { fold, run, population: all, kept, history }) = &self.current {
            is_one(*fold, *run, history)?;
            if all.len() != population || kept.is_empty() {
                return Err(format!("{} formulas are bred, and {} kept", all.len(), kept.len()));
            }
            formulas.extend(all.iter().chain(kept).map(|(formula, _)| formula.as_str()));
        }
        for formula in formulas {
            let read: Result<Expression, _> = formula.parse();
            read.map_err(|error| format!("a formula, {error}"))?;
        }
        if !(0.0..1e12).contains(&self.effort.seconds) {
            return Err(format!("it took {} seconds", self.effort.seconds));
        }
        Ok(())
    }
}

/// The settings that differ, as the flags that a run was given.
fn differing(own: &EvolveSettings, other: &EvolveSettings) -> String {
    let fields = |settings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (own, other) = (fields(own), fields(other));
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let flag = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Array(all) => all.iter().map(word).collect::<Vec<String>>().join(","),
            value => word(value),
        };
        format!("`--{} {value}`", name.replace('_', "-"))
    };
    let flags: Vec<String> =
        own.iter().filter(|(name, value)| other.get(*name) != Some(*value)).map(flag).collect();
    format!("other settings: {}", flags.join(", "))
}

/// A hash of a dataset. It is another one for other pages, cycles or changes.
fn fingerprint(dataset: &Dataset) -> u64 {
    let mut hash = Xxh3::new();
    // Each text with its end, each list with its length: no two datasets run into the same bytes.
    let text = |hash: &mut Xxh3, text: &str| {
        hash.update(text.as_bytes());
        hash.update(&[0xff]);
    };
    let numbers = |hash: &mut Xxh3, numbers: &[u64]| {
        hash.update(&(numbers.len() as u64).to_le_bytes());
        numbers.iter().for_each(|number| hash.update(&number.to_le_bytes()));
    };
    for Group { name, start, step, cycles, pages } in &dataset.groups {
        text(&mut hash, name);
        let (start, step) = (start.millis() as u64, step.as_nanos() as u64);
        numbers(&mut hash, &[start, step, u64::from(*cycles), pages.len() as u64]);
        for page in pages {
            text(&mut hash, &page.url);
            numbers(&mut hash, &[page.weight.to_bits(), u64::from(page.born)]);
            match &page.history {
                History::Bits(words) => numbers(&mut hash, words),
                History::Texts { from, texts } => {
                    let from: Vec<u64> =
                        from.iter().map(|(cycle, text)| u64::from(*cycle) << 32 | u64::from(*text)).collect();
                    numbers(&mut hash, &from);
                    texts.iter().for_each(|text| numbers(&mut hash, text));
                }
            }
        }
    }
    hash.digest()
}
