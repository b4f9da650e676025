//! A generation of formulas: which have children, and which are kept over all generations.

use std::collections::HashSet;

use rand::{Rng, RngExt as _};
use serde::{Deserialize, Serialize};

use super::breeding_rule::BreedingRule;
use super::variation::{Alphabet, Origin, cross, pick, swap};
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

/// The next generation: as many formulas as in this one, made from its formulas by `rule`.
///
/// If the best of all generations go on, they are the first of the next one: so they are among its parents, too. At most half
/// of a generation goes on, so that there are children (the paper has 50 of 300). Otherwise only the best parent goes on.
pub(crate) fn next_generation(
    parents: &[Individual],
    kept: &Kept,
    rule: BreedingRule,
    alphabet: &Alphabet,
    random: &mut impl Rng,
) -> Vec<Expression> {
    let mut children: Vec<Expression> = if rule.kept_go_on() {
        kept.best().iter().take(parents.len() / 2).map(|kept| kept.formula.clone()).collect()
    } else {
        parents.iter().min_by(|a, b| a.order(b)).map(|best| best.formula.clone()).into_iter().collect()
    };
    let top = if rule.crosses_the_top() { top(parents) } else { Vec::new() };
    while children.len() < parents.len() {
        let one = chosen(parents, random);
        children.push(match Origin::draw(random) {
            Origin::Crossover if top.is_empty() => cross(one, chosen(parents, random), random),
            Origin::Crossover => cross(pick(&top, random), pick(&top, random), random),
            Origin::Reproduction => one.clone(),
            Origin::Replacement => alphabet.replace(one, random),
            Origin::Swap => swap(one, random),
        });
    }
    children
}

/// One in this many formulas of a generation is a top one: 50 of 300. The paper does not say how many are; 50 is the only
/// number of best formulas that it has (N_b, §5.2).
const TOP: usize = 6;

/// The top formulas of a generation, the best first. Formulas that are equal count once: otherwise copies of one formula could
/// be all of them.
fn top(parents: &[Individual]) -> Vec<Expression> {
    let mut best: Vec<&Individual> = parents.iter().collect();
    best.sort_by(|a, b| a.order(b));
    let mut known = HashSet::new();
    best.retain(|parent| known.insert(parent.formula.canonical()));
    best.iter().take(parents.len().div_ceil(TOP).max(2)).map(|parent| parent.formula.clone()).collect()
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
    /// The highest f_v. The paper's Fig. 1 draws it.
    #[default]
    Best,
    /// The highest f_t + f_v − s, s being the standard deviation of the two.
    Sum,
    /// The highest (f_t + f_v)/2 − s.
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
    use std::collections::BTreeSet;

    use rand::SeedableRng as _;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::policy::expression::{Symbol, Terminal};

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

    /// Sixty formulas, each with a number of its own, from 1001 to 1060; the fitness of each is its number.
    fn sixty() -> Vec<Individual> {
        (1001..=1060).map(|number| of(&format!("t + {number}"), f64::from(number))).collect()
    }

    /// The numbers of `sixty` that a formula has.
    fn numbers(formula: &Expression) -> BTreeSet<u32> {
        let number = |symbol: &Symbol| match symbol {
            Symbol::Number(number) if (1001.0..=1060.0).contains(number) => Some(*number as u32),
            _ => None,
        };
        formula.symbols().iter().filter_map(number).collect()
    }

    fn bred(parents: &[Individual], kept: &Kept, rule: BreedingRule, seed: u64) -> Vec<Expression> {
        next_generation(parents, kept, rule, &Alphabet::new(&[]), &mut Pcg64::seed_from_u64(seed))
    }

    #[test]
    fn a_tournament_prefers_better_parents_and_the_best_lives_on() {
        let parents = sixty();
        let children = bred(&parents, &Kept::new(5), BreedingRule::Tournament, 3);
        assert_eq!(children.len(), 60);
        assert_eq!(children.first(), parents.last().map(|best| &best.formula));
        let mut random = Pcg64::seed_from_u64(3);
        let is_better = |_: &i32| numbers(chosen(&parents, &mut random)).first() > Some(&1030);
        let drawn = (0..1000).filter(is_better).count();
        assert!((700..800).contains(&drawn), "three of four are of the better half: {drawn}");
    }

    #[test]
    fn only_the_top_sixth_is_crossed() {
        let parents = sixty();
        let top: Vec<String> = top(&parents).iter().map(ToString::to_string).collect();
        let expected: Vec<String> = (1051..=1060).rev().map(|number| format!("t + {number}")).collect();
        assert_eq!(top, expected);
        // A child with two of the numbers has two parents.
        let crossed = |rule: BreedingRule| -> BTreeSet<u32> {
            let children = (0..100).flat_map(|seed| bred(&parents, &Kept::new(5), rule, seed));
            children.map(|child| numbers(&child)).filter(|numbers| numbers.len() > 1).flatten().collect()
        };
        for rule in [BreedingRule::TopParents, BreedingRule::Paper] {
            assert_eq!(crossed(rule), (1051..=1060).collect(), "each of them, and no other: {rule:?}");
        }
        for rule in [BreedingRule::Tournament, BreedingRule::KeptGoOn] {
            assert!(crossed(rule).first() < Some(&1020), "parents of every rank: {rule:?}");
        }
        // Other children may have any parent, by tournament.
        let all = (0..20).flat_map(|seed| bred(&parents, &Kept::new(5), BreedingRule::Paper, seed));
        let single: BTreeSet<u32> = all.flat_map(|child| numbers(&child)).collect();
        assert!(single.len() > 50, "{single:?}");
    }

    #[test]
    fn copies_of_a_formula_are_one_of_the_top() {
        let mut parents: Vec<Individual> = (0..50).map(|_| of("X * t", 9.0)).collect();
        parents.extend(["t * X", "n", "t", "X", "n + t"].map(|formula| of(formula, 1.0)));
        parents.extend((0..5).map(|_| of("n + X", 0.5)));
        let top: Vec<String> = top(&parents).iter().map(ToString::to_string).collect();
        assert_eq!(
            top,
            ["X * t", "n", "t", "X", "n + t", "n + X"],
            "six, though a sixth of sixty would be ten"
        );
    }

    #[test]
    fn the_best_of_all_generations_go_on() {
        let parents = sixty();
        let mut kept = Kept::new(5);
        // Better ones of earlier generations, which the parents have lost.
        let lost = ["n * 2000", "X * 2001", "n * 2002"];
        lost.iter().for_each(|formula| kept.offer(&of(formula, 5000.0)));
        parents.iter().for_each(|parent| kept.offer(parent));
        let best: Vec<Expression> = kept.best().iter().map(|kept| kept.formula.clone()).collect();
        assert_eq!(best.len(), 5);
        for rule in [BreedingRule::Paper, BreedingRule::KeptGoOn] {
            let children = bred(&parents, &kept, rule, 1);
            assert_eq!((&children[..5], children.len()), (&best[..], 60), "{rule:?}");
            // So they are among the parents of the generation after that, and crossed, as they are its top.
            let mut next: Vec<Individual> =
                children.into_iter().map(|formula| Individual { fitness: 0.0, formula }).collect();
            next.iter_mut().take(5).for_each(|kept| kept.fitness = 1.0);
            let top: Vec<Expression> = top(&next).into_iter().take(5).collect();
            assert_eq!(top.iter().collect::<HashSet<_>>(), best.iter().collect(), "{rule:?}");
        }
        for rule in [BreedingRule::TopParents, BreedingRule::Tournament] {
            let children = bred(&parents, &kept, rule, 1);
            assert!(best[..3].iter().all(|lost| !children.contains(lost)), "{rule:?}");
        }
        // With few formulas, half of them are children all the same.
        let few = bred(&parents[..6], &kept, BreedingRule::Paper, 1);
        assert_eq!((few.len(), &few[..3]), (6, &best[..3]));
    }

    /// As it was before there were other rules.
    fn next_generation_before(
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

    #[test]
    fn a_tournament_gives_the_same_children_as_before() {
        let alphabet = Alphabet::new(&Terminal::PAPERS);
        let mut kept = Kept::new(5);
        kept.offer(&of("n", 1e6));
        for seed in 0..20 {
            let mut random = Pcg64::seed_from_u64(seed);
            let formulas = alphabet.create(50, &mut random).into_iter().zip(0_u32..);
            let parents: Vec<Individual> = formulas
                .map(|(formula, at)| Individual { formula, fitness: f64::from(at * 7 % 50) })
                .collect();
            let mut same = random.clone();
            assert_eq!(
                next_generation(&parents, &kept, BreedingRule::Tournament, &alphabet, &mut random),
                next_generation_before(&parents, &alphabet, &mut same)
            );
        }
    }
}
