//! Creates formulas, and makes new ones from them by crossover and mutation (Santos et al. 2013, §4).

use std::collections::HashSet;

use rand::{Rng, RngExt as _};

use super::key;
use crate::policy::expression::{Expression, Function, Symbol, Terminal};

/// The paper's constants.
pub(crate) const CONSTANTS: [f64; 8] = [0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0];

/// Levels of a formula that is created, or of a part that mutation makes.
pub(crate) const MOST_LEVELS: usize = 10;
/// Levels of a formula that is made from two others.
pub(crate) const MOST_LEVELS_CROSSED: usize = 9;
const LEAST_LEVELS: usize = 2;

/// When a part of a formula is chosen at random, the chance that it is a function with its operands and not a single
/// terminal, if there is one (Koza 1992). Without this, half of all exchanges would be of single terminals.
const INNER: f64 = 0.9;
/// How often another place is tried if a child is too deep.
const TRIES: usize = 10;

/// How children are made, by relative weight: the paper's rates add up to 115 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Crossover,
    Reproduction,
    Replacement,
    Swap,
}

impl Origin {
    const WEIGHTS: [(Self, u32); 4] =
        [(Self::Crossover, 90), (Self::Reproduction, 15), (Self::Replacement, 5), (Self::Swap, 5)];

    pub(super) fn draw(random: &mut impl Rng) -> Self {
        let all = Self::WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = random.random_range(0..all);
        for (origin, weight) in Self::WEIGHTS {
            if drawn < weight {
                return origin;
            }
            drawn -= weight;
        }
        Self::Crossover
    }
}

/// The symbols that formulas are made of.
#[derive(Clone, Debug)]
pub(crate) struct Alphabet {
    terminals: Vec<Terminal>,
}

impl Alphabet {
    pub(crate) fn new(terminals: &[Terminal]) -> Self {
        Self { terminals: terminals.to_vec() }
    }

    /// A fact or a constant, with the same chance.
    fn leaf(&self, random: &mut impl Rng) -> Symbol {
        let fact = self.terminals.get(random.random_range(0..self.terminals.len().max(1)));
        match fact {
            Some(terminal) if random.random::<bool>() => Symbol::Fact(*terminal),
            _ => Symbol::Number(*pick(&CONSTANTS, random)),
        }
    }

    /// Creates formulas, ramped half and half (Koza 1992): equally many of each number of levels, half of them full to the
    /// last level and half grown at random. No two are the same, unless too many tries find no other.
    pub(crate) fn create(&self, count: usize, random: &mut impl Rng) -> Vec<Expression> {
        let ramp = MOST_LEVELS - LEAST_LEVELS + 1;
        let mut all: Vec<Expression> = Vec::with_capacity(count);
        let mut seen = HashSet::new();
        let mut tries = 0;
        while all.len() < count {
            let levels = LEAST_LEVELS + all.len() / 2 % ramp;
            let formula = self.formula(levels, all.len().is_multiple_of(2), random);
            tries += 1;
            if seen.insert(key(&formula)) || tries > 20 * count {
                all.push(formula);
            }
        }
        all
    }

    fn formula(&self, levels: usize, full: bool, random: &mut impl Rng) -> Expression {
        loop {
            let mut symbols = vec![Symbol::Call(*pick(&Function::ALL, random))];
            let operands = symbols.first().map_or(0, |symbol| symbol.operands());
            for _ in 0..operands {
                self.grow(levels - 1, full, random, &mut symbols);
            }
            if let Some(formula) = Expression::new(symbols) {
                return formula;
            }
        }
    }

    fn grow(&self, levels: usize, full: bool, random: &mut impl Rng, symbols: &mut Vec<Symbol>) {
        let leaves = self.terminals.len() + CONSTANTS.len();
        let is_leaf = levels <= 1 || (!full && random.random_range(0..leaves + Function::ALL.len()) < leaves);
        if is_leaf {
            return symbols.push(self.leaf(random));
        }
        let function = *pick(&Function::ALL, random);
        symbols.push(Symbol::Call(function));
        for _ in 0..function.operands() {
            self.grow(levels - 1, full, random, symbols);
        }
    }

    /// Replaces a part of the formula by a new one.
    pub(crate) fn replace(&self, parent: &Expression, random: &mut impl Rng) -> Expression {
        for _ in 0..TRIES {
            let at = place(parent, random);
            let mut new = Vec::new();
            let levels = random.random_range(1..=MOST_LEVELS / 2);
            self.grow(levels, false, random, &mut new);
            let child = parent.with(parent.part(at), &new);
            if child.depth() <= MOST_LEVELS {
                return child;
            }
        }
        parent.clone()
    }
}

/// Puts a part of one formula in place of a part of the other.
pub(crate) fn cross(one: &Expression, other: &Expression, random: &mut impl Rng) -> Expression {
    for _ in 0..TRIES {
        let (to, from) = (place(one, random), place(other, random));
        let part = other.symbols().get(other.part(from)).unwrap_or(&[]);
        let child = one.with(one.part(to), part);
        if child.depth() <= MOST_LEVELS_CROSSED {
            return child;
        }
    }
    one.clone()
}

/// Exchanges two parts of a formula, neither of which is within the other.
pub(crate) fn swap(parent: &Expression, random: &mut impl Rng) -> Expression {
    let length = parent.symbols().len();
    for _ in 0..TRIES {
        let (a, b) = (random.random_range(0..length), random.random_range(0..length));
        let (first, second) = (parent.part(a.min(b)), parent.part(a.max(b)));
        if first.end > second.start {
            continue;
        }
        let part = |of: std::ops::Range<usize>| parent.symbols().get(of).unwrap_or(&[]).to_vec();
        let (one, two) = (part(first.clone()), part(second.clone()));
        let child = parent.with(second, &one).with(first, &two);
        if child.depth() <= MOST_LEVELS {
            return child;
        }
    }
    parent.clone()
}

/// Where a part begins.
fn place(formula: &Expression, random: &mut impl Rng) -> usize {
    let symbols = formula.symbols();
    let wants_inner = random.random::<f64>() < INNER;
    let is_wanted = |symbol: &Symbol| (symbol.operands() > 0) == wants_inner;
    let many = symbols.iter().filter(|symbol| is_wanted(symbol)).count();
    if many == 0 {
        return random.random_range(0..symbols.len().max(1));
    }
    let drawn = random.random_range(0..many);
    let places = symbols.iter().enumerate().filter(|(_, symbol)| is_wanted(symbol));
    places.map(|(at, _)| at).nth(drawn).unwrap_or(0)
}

/// One of them, each with the same chance.
pub(super) fn pick<'a, T>(all: &'a [T], random: &mut impl Rng) -> &'a T {
    &all[random.random_range(0..all.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn creation_is_ramped_half_and_half() {
        let alphabet = Alphabet::new(&Terminal::PAPERS);
        let all = alphabet.create(300, &mut Pcg64::seed_from_u64(1));
        assert_eq!(all.len(), 300);
        let full = all.iter().step_by(2).zip((LEAST_LEVELS..=MOST_LEVELS).cycle());
        full.for_each(|(formula, levels)| assert_eq!(formula.depth(), levels, "{formula}"));
        let grown = all.iter().skip(1).step_by(2).zip((LEAST_LEVELS..=MOST_LEVELS).cycle());
        grown.for_each(|(formula, levels)| assert!((2..=levels).contains(&formula.depth())));
        let facts: std::collections::BTreeSet<_> = all.iter().flat_map(Expression::terminals).collect();
        assert_eq!(facts.into_iter().collect::<Vec<_>>(), Terminal::PAPERS);
    }

    #[test]
    fn ways_are_drawn_by_their_weights() {
        let mut random = Pcg64::seed_from_u64(1);
        let draws: Vec<Origin> = (0..11_500).map(|_| Origin::draw(&mut random)).collect();
        for (origin, weight) in Origin::WEIGHTS {
            let many = draws.iter().filter(|drawn| **drawn == origin).count() as f64;
            assert!((many / 100.0 - f64::from(weight)).abs() < 3.0, "{origin:?}: {many}");
        }
    }

    proptest! {
        #[test]
        fn children_are_whole_and_not_too_deep(seed in any::<u64>()) {
            let mut random = Pcg64::seed_from_u64(seed);
            let alphabet = Alphabet::new(&Terminal::ALL);
            let parents = alphabet.create(8, &mut random);
            for (one, other) in parents.iter().zip(parents.iter().rev()) {
                let children = [
                    (cross(one, other, &mut random), MOST_LEVELS_CROSSED),
                    (alphabet.replace(one, &mut random), MOST_LEVELS),
                    (swap(one, &mut random), MOST_LEVELS),
                ];
                for (child, most) in children {
                    prop_assert_eq!(Expression::new(child.symbols().to_vec()), Some(child.clone()));
                    prop_assert!(child.depth() <= most || child == *one);
                }
            }
        }

        #[test]
        fn what_is_swapped_is_still_there(seed in any::<u64>()) {
            let mut random = Pcg64::seed_from_u64(seed);
            let parents = Alphabet::new(&Terminal::PAPERS).create(20, &mut random);
            for parent in parents {
                let child = swap(&parent, &mut random);
                let sorted = |formula: &Expression| {
                    let mut all: Vec<String> = formula.symbols().iter().map(|symbol| format!("{symbol:?}")).collect();
                    all.sort();
                    all
                };
                prop_assert_eq!(sorted(&parent), sorted(&child));
            }
        }
    }
}
