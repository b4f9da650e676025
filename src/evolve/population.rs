//! A generation of formulas: which have children, and which are kept over all generations.

use std::collections::HashSet;

use rand::{Rng, RngExt as _};
use serde::{Deserialize, Serialize};

use super::variation::{Alphabet, Origin, cross, swap};
use crate::policy::expression::Expression;

/// A formula and its fitness on the training pages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Individual {
    pub formula: Expression,
    pub fitness: f64,
}

impl Individual {
    /// The better one comes first; of equally good ones, the shorter.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let size = |individual: &Self| individual.formula.symbols().len();
        other.fitness.total_cmp(&self.fitness).then(size(self).cmp(&size(other)))
    }
}

/// The next generation: as many formulas as in this one. The best formula is passed on unchanged.
pub(crate) fn next_generation(
    parents: &[Individual],
    alphabet: &Alphabet,
    random: &mut impl Rng,
) -> Vec<Expression> {
    let best = parents.iter().min_by(|a, b| a.order(b)).map(|best| best.formula.clone());
    let mut children: Vec<Expression> = best.into_iter().collect();
    while children.len() < parents.len() {
        let one = chosen(parents, random);
        children.push(match Origin::draw(random) {
            Origin::Crossover => cross(one, chosen(parents, random), random),
            Origin::Reproduction => one.clone(),
            Origin::Replacement => alphabet.replace(one, random),
            Origin::Swap => swap(one, random),
        });
    }
    children
}

/// Draws two formulas and gives the better one: a tournament of two.
fn chosen<'a>(parents: &'a [Individual], random: &mut impl Rng) -> &'a Expression {
    let mut draw = || &parents[random.random_range(0..parents.len())];
    let (one, other) = (draw(), draw());
    if other.order(one).is_lt() { &other.formula } else { &one.formula }
}

/// The best formulas over all generations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    most: usize,
    /// The best first.
    best: Vec<Individual>,
    /// Their canonical forms.
    known: HashSet<Expression>,
}

impl Kept {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    pub(crate) fn best(&self) -> &[Individual] {
        &self.best
    }

    /// Offers a formula. One that is equal to a kept one is not kept again.
    pub(crate) fn offer(&mut self, individual: &Individual) {
        let is_better = |last: &Individual| individual.order(last).is_lt();
        if self.best.len() >= self.most && !self.best.last().is_some_and(is_better) {
            return;
        }
        let canonical = individual.formula.canonical();
        if !self.known.insert(canonical.clone()) {
            return;
        }
        let kept = Individual { formula: canonical, fitness: individual.fitness };
        let place = self.best.partition_point(|other| kept.order(other).is_ge());
        self.best.insert(place, kept);
        if self.best.len() > self.most
            && let Some(last) = self.best.pop()
        {
            self.known.remove(&last.formula);
        }
    }
}

/// How a formula is picked among those that were kept, by their fitness on the training pages (f_t) and on the validation
/// pages (f_v) (Santos et al. 2013, §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The highest f_v.
    Best,
    /// The highest f_t + f_v − s, s being the standard deviation of the two.
    Sum,
    /// The highest (f_t + f_v)/2 − s.
    #[default]
    Avg,
}

impl Selection {
    /// All selections.
    pub const ALL: [Self; 3] = [Self::Best, Self::Sum, Self::Avg];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Sum => "sum",
            Self::Avg => "avg",
        }
    }

    /// The value that this selection ranks a formula by.
    pub fn worth(self, training: f64, validation: f64) -> f64 {
        let deviation = (training - validation).abs() / std::f64::consts::SQRT_2;
        match self {
            Self::Best => validation,
            Self::Sum => training + validation - deviation,
            Self::Avg => f64::midpoint(training, validation) - deviation,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64;

    use super::*;

    fn of(formula: &str, fitness: f64) -> Individual {
        Individual { formula: formula.parse().expect("a formula"), fitness }
    }

    #[test]
    fn the_best_are_kept_each_once() {
        let mut kept = Kept::new(2);
        for (formula, fitness) in [
            ("t * X", 0.5),
            ("X * t", 0.5),
            ("n", 0.1),
            ("t * X + 0", 0.5),
            ("t", 0.3),
            ("X", 0.6),
            ("n + 1", 0.1),
        ] {
            kept.offer(&of(formula, fitness));
        }
        let names: Vec<String> = kept.best().iter().map(|one| one.formula.to_string()).collect();
        assert_eq!(names, ["X", "X * t"]);
        kept.offer(&of("t", 0.55));
        assert_eq!(
            kept.best().last().map(|last| last.fitness),
            Some(0.55),
            "one that was pushed out may come again"
        );
    }

    #[test]
    fn selections_worked_by_hand() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let deviation = 0.2 / 2.0_f64.sqrt();
        assert!(close(Selection::Best.worth(0.6, 0.4), 0.4));
        assert!(close(Selection::Sum.worth(0.6, 0.4), 1.0 - deviation));
        assert!(close(Selection::Avg.worth(0.6, 0.4), 0.5 - deviation));
    }

    #[test]
    fn better_parents_have_more_children_and_the_best_lives_on() {
        let parents: Vec<Individual> = (0..50).map(|at| of(&format!("t + {at}"), f64::from(at))).collect();
        let alphabet = Alphabet::new(&[]);
        let children = next_generation(&parents, &alphabet, &mut Pcg64::seed_from_u64(3));
        assert_eq!(children.len(), 50);
        assert_eq!(children.first(), parents.last().map(|best| &best.formula));
        let mut random = Pcg64::seed_from_u64(3);
        let drawn: usize = (0..1000)
            .filter(|_| {
                let parent = chosen(&parents, &mut random);
                parents.iter().position(|other| other.formula == *parent) >= Some(25)
            })
            .count();
        assert!((700..800).contains(&drawn), "three of four are of the better half: {drawn}");
    }
}
