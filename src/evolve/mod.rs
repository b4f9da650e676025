//! Genetic programming over formulas: a score function is learnt from the history of a collection (GP4C, Santos et al. 2013).
//!
//! A dataset and [`EvolveSettings`] come in. A [`Journal`] with the results of every run goes out, from which [`judge`] picks the
//! champion. The protocol is the paper's (§4, §5.2). Pages are split into folds. For each fold, formulas are bred on one half
//! of all other pages (training); the other half decides between the best of all generations (validation); the pages of the
//! fold itself test the formula that was picked.
//!
//! A formula's fitness is a replay by the engine of [`crate::simulate::classes`], with scores in columns ([`runner`]).
//!
//! The same dataset, settings and seed must give the same formulas, whatever the number of threads, and whether or not the
//! run was interrupted. So random numbers are drawn in breeding only, which is not parallel, and the generator of each
//! generation is seeded by that generation's number.

mod breeding_rule;
pub mod champion;
pub mod explain;
pub mod fitness;
mod formula_states;
mod journal;
mod judge;
mod parts;
pub mod population;
pub mod runner;
mod variation;
pub mod warmed_up;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::dataset::{Dataset, Group};
use crate::policy::expression::{Expression, Terminal};
use crate::simulate::compare::groups;
pub use breeding_rule::BreedingRule;
use fitness::Fitness;
pub use journal::{Current, EvolveEffort, Generation, Journal, JournalCandidate, JournalRun};
pub use judge::{ChampionVerdict, Pick, judge};
use parts::Parts;
pub use parts::{check, terms};
use population::{Individual, Kept, Selection, next_generation};
use runner::Runner;
use variation::Alphabet;
use warmed_up::WarmedUp;

/// How formulas are bred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolveSettings {
    /// Formulas of a generation.
    pub population: usize,
    /// Generations of a run.
    pub generations: u32,
    /// Number of independent runs, each with its own random numbers.
    pub runs: u32,
    /// Number of parts of the pages, each of which tests the formulas bred on the others. With 1 there is no test.
    pub folds: u32,
    /// What formulas are bred for.
    pub fitness: Fitness,
    /// The facts that formulas may use.
    pub terminals: Vec<Terminal>,
    /// Which formulas have children.
    #[serde(default = "BreedingRule::of_older_files")]
    pub breeding: BreedingRule,
    /// How the champion is picked.
    pub selection: Selection,
    /// The share of the pages that a cycle visits.
    pub budget: f64,
    /// Cycles after a page's first copy in which it is visited without having to compete.
    pub warm_up: u32,
    /// How many of the best formulas of all generations are kept: they are validated, and go on evolving.
    pub kept: usize,
    /// Groups with fewer pages are left out, unless there are no others.
    pub least_pages: usize,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for EvolveSettings {
    /// The settings of the paper.
    fn default() -> Self {
        Self {
            population: 300,
            generations: 50,
            runs: 5,
            folds: 5,
            fitness: Fitness::default(),
            terminals: Terminal::PAPERS.to_vec(),
            breeding: BreedingRule::default(),
            selection: Selection::default(),
            budget: 0.05,
            warm_up: 2,
            kept: 50,
            least_pages: 30,
            seed: 1,
        }
    }
}

/// How far a run has got.
#[derive(Clone, Copy, Debug)]
pub struct EvolveProgress<'a> {
    /// The fold of the run.
    pub fold: u32,
    /// The number of the run in its fold.
    pub run: u32,
    /// The generation that was just finished.
    pub generation: u32,
    /// Its figures.
    pub figures: Generation,
    /// The best formula of this run.
    pub best: &'a Expression,
}

/// Called now and then; gives true when it is time to stop.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// It was asked to stop. The journal has everything up to the last complete generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Breeds until all runs are over, or until it is asked to stop. `told` is called after every generation, with a journal that
/// can be saved.
pub fn evolve(
    dataset: &Dataset,
    journal: &mut Journal,
    stop: Stop<'_>,
    told: &mut dyn FnMut(&Journal, &EvolveProgress<'_>),
) -> Result<(), Stopped> {
    let settings = journal.settings.clone();
    let all = (0..settings.folds).flat_map(|fold| (0..settings.runs).map(move |run| (fold, run)));
    let mut at_hand: Option<Breeding> = None;
    for (fold, run) in all {
        if journal.finished.iter().any(|done| (done.fold, done.run) == (fold, run)) {
            continue;
        }
        let breeding = match at_hand.take() {
            Some(breeding) if breeding.fold == fold => breeding,
            _ => Breeding::new(dataset, &settings, fold),
        };
        let breeding = at_hand.insert(breeding);
        breed(breeding, journal, run, stop, told)?;
    }
    Ok(())
}

/// Breeds the formulas of one run.
fn breed(
    breeding: &mut Breeding,
    journal: &mut Journal,
    run: u32,
    stop: Stop<'_>,
    told: &mut dyn FnMut(&Journal, &EvolveProgress<'_>),
) -> Result<(), Stopped> {
    let settings = journal.settings.clone();
    let alphabet = Alphabet::new(&settings.terminals);
    let fold = breeding.fold;
    let current = journal.current.take().filter(|current| (current.fold, current.run) == (fold, run));
    let (mut population, mut kept, mut history) = restored(current, settings.kept);
    while history.len() < settings.generations as usize {
        let generation = history.len() as u32;
        let mut random = Pcg64::seed_from_u64(seed(&settings, fold, run, generation));
        let children = if population.is_empty() {
            alphabet.create(settings.population, &mut random)
        } else {
            next_generation(&population, &kept, settings.breeding, &alphabet, &mut random)
        };
        let Some(worth) = breeding.training(&children, stop, &mut journal.effort) else {
            journal.current = (!history.is_empty()).then(|| noted(fold, run, &population, &kept, &history));
            return Err(Stopped);
        };
        population = children
            .into_iter()
            .zip(worth)
            .map(|(formula, fitness)| Individual { formula, fitness })
            .collect();
        population.iter().for_each(|individual| kept.offer(individual));
        let count = population.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Individual) -> f64| population.iter().map(of).sum::<f64>() / count;
        let figures = Generation {
            best: kept.best().first().map_or(0.0, |best| best.fitness),
            mean: mean(&|individual| individual.fitness),
            symbols: mean(&|individual| individual.formula.symbols().len() as f64),
        };
        history.push(figures);
        journal.current = Some(noted(fold, run, &population, &kept, &history));
        if let Some(best) = kept.best().first() {
            told(journal, &EvolveProgress { fold, run, generation, figures, best: &best.formula });
        }
    }
    let Some(candidates) = breeding.candidates(kept.best(), stop, &mut journal.effort) else {
        journal.current = Some(noted(fold, run, &population, &kept, &history));
        return Err(Stopped);
    };
    journal.finished.push(JournalRun { fold, run, candidates, history });
    journal.current = None;
    Ok(())
}

fn restored(current: Option<Current>, most: usize) -> (Vec<Individual>, Kept, Vec<Generation>) {
    let mut kept = Kept::new(most);
    let Some(current) = current else { return (Vec::new(), kept, Vec::new()) };
    let read = |all: &[(String, f64)]| -> Vec<Individual> {
        let one = |(formula, fitness): &(String, f64)| {
            Some(Individual { formula: formula.parse().ok()?, fitness: *fitness })
        };
        all.iter().filter_map(one).collect()
    };
    read(&current.kept).iter().for_each(|individual| kept.offer(individual));
    (read(&current.population), kept, current.history)
}

fn noted(fold: u32, run: u32, population: &[Individual], kept: &Kept, history: &[Generation]) -> Current {
    let written = |all: &[Individual]| {
        all.iter().map(|individual| (individual.formula.to_string(), individual.fitness)).collect()
    };
    Current {
        fold,
        run,
        population: written(population),
        kept: written(kept.best()),
        history: history.to_vec(),
    }
}

/// The seed of a generation.
fn seed(settings: &EvolveSettings, fold: u32, run: u32, generation: u32) -> u64 {
    xxh3_64(format!("{} {fold} {run} {generation}", settings.seed).as_bytes())
}

/// The pages of a fold, ready to be replayed.
struct Breeding {
    fold: u32,
    fitness: Fitness,
    parts: Parts,
    runners: Runners,
    /// The fitness of formulas on the training pages, by their canonical form.
    known: HashMap<u128, f64>,
}

impl Breeding {
    fn new(dataset: &Dataset, settings: &EvolveSettings, fold: u32) -> Self {
        let runners = Runners::new(dataset, settings);
        let parts = Parts::new(dataset, settings, fold);
        Self { fold, fitness: settings.fitness, parts, runners, known: HashMap::new() }
    }

    /// The fitness of formulas on the training pages. `None` if it was stopped.
    fn training(
        &mut self,
        formulas: &[Expression],
        stop: Stop<'_>,
        effort: &mut EvolveEffort,
    ) -> Option<Vec<f64>> {
        let canonical: Vec<Expression> = formulas.par_iter().map(Expression::canonical).collect();
        let keys: Vec<u128> = canonical.iter().map(key).collect();
        let mut seen = HashSet::new();
        let is_new = |(key, _): &(&u128, &Expression)| !self.known.contains_key(*key) && seen.insert(**key);
        let new: Vec<(&u128, &Expression)> = keys.iter().zip(&canonical).filter(is_new).collect();
        let only: Vec<&Expression> = new.iter().map(|(_, formula)| *formula).collect();
        let found = self.runners.all(&self.parts.training, &only, self.fitness, stop, effort)?;
        self.known.extend(new.iter().map(|(key, _)| **key).zip(found));
        effort.formulas += formulas.len() as u64;
        Some(keys.iter().map(|key| self.known.get(key).copied().unwrap_or(0.0)).collect())
    }

    fn candidates(
        &self,
        best: &[Individual],
        stop: Stop<'_>,
        effort: &mut EvolveEffort,
    ) -> Option<Vec<JournalCandidate>> {
        let formulas: Vec<&Expression> = best.iter().map(|individual| &individual.formula).collect();
        let validated = self.runners.all(&self.parts.validation, &formulas, self.fitness, stop, effort)?;
        let candidate = |(individual, validation): (&Individual, f64)| JournalCandidate {
            formula: individual.formula.to_string(),
            training: individual.fitness,
            validation,
        };
        Some(best.iter().zip(validated).map(candidate).collect())
    }
}

/// A hash of a formula.
fn key(formula: &Expression) -> u128 {
    let bytes: Vec<u8> = formula.codes().flat_map(u64::to_le_bytes).collect();
    xxh3_128(&bytes)
}

/// Idle runners. Each thread takes a set of them, with a runner for each group.
struct Runners {
    terminals: Vec<Terminal>,
    cycle_days: Vec<f64>,
    idle: Mutex<Vec<Vec<Runner>>>,
}

impl Runners {
    fn new(dataset: &Dataset, settings: &EvolveSettings) -> Self {
        let days = |group: &&Group| group.step.as_secs_f64() / 86_400.0;
        let cycle_days = groups(dataset, settings.least_pages).iter().map(days).collect();
        Self { terminals: settings.terminals.clone(), cycle_days, idle: Mutex::default() }
    }

    /// The fitness of formulas: the mean over all groups in which pages compete. `None` if it was stopped.
    fn all(
        &self,
        parts: &[WarmedUp],
        formulas: &[&Expression],
        fitness: Fitness,
        stop: Stop<'_>,
        effort: &mut EvolveEffort,
    ) -> Option<Vec<f64>> {
        let nodes = AtomicU64::new(0);
        let count = parts.iter().filter(|pages| !pages.is_empty()).count().max(1) as f64;
        let found: Option<Vec<f64>> = formulas
            .par_iter()
            .map(|formula| {
                if stop() {
                    return None;
                }
                let mut runners = self.take();
                let before: u64 = runners.iter().map(|runner| runner.node_evaluations).sum();
                let each = parts.iter().zip(&mut runners).filter(|(pages, _)| !pages.is_empty());
                let sum: f64 = each.map(|(pages, runner)| runner.run(pages, formula, fitness)).sum();
                let after: u64 = runners.iter().map(|runner| runner.node_evaluations).sum();
                nodes.fetch_add(after - before, Ordering::Relaxed);
                if let Ok(mut idle) = self.idle.lock() {
                    idle.push(runners);
                }
                Some(sum / count)
            })
            .collect();
        effort.node_evaluations += nodes.into_inner();
        effort.replays += formulas.len() as u64;
        found
    }

    fn take(&self) -> Vec<Runner> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            self.cycle_days.iter().map(|days| Runner::new(&self.terminals, *days)).collect()
        })
    }
}

#[cfg(test)]
mod tests;
