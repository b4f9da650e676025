//! A score as a formula: `evolve` breeds formulas, and a user may type one.
//!
//! The functions are those of Santos et al. 2013 (§4), the terminals theirs and some more. The paper does not define its functions
//! outside of their domains. Ours are protected, so that no value is infinite or not a number: a/b is 1 for |b| < 10⁻⁹; log a is
//! ln |a|, and 0 for |a| < 10⁻⁹; exp a is e^min(a, 27); a ^ b is e^(b ln |a|) with the exponent clamped to −700 … 27, and 0 for
//! |a| < 10⁻⁹; every result is clamped to ±10¹². Constants are real numbers; the paper's own code cut them to whole numbers.
//!
//! A formula is a list of symbols in prefix order. A part of a formula is a run of the list, so breeding copies runs.

mod parse;
mod simplify;
pub mod terminal;

use std::fmt;
use std::ops::Range;

pub use parse::Misspelt;
pub use terminal::Terminal;

/// A function of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// a + b.
    Add,
    /// a − b.
    Subtract,
    /// a · b.
    Multiply,
    /// a / b.
    Divide,
    /// a ^ b.
    Power,
    /// ln |a|.
    Log,
    /// e^a.
    Exp,
}

impl Function {
    /// Every function.
    pub const ALL: [Self; 7] =
        [Self::Add, Self::Subtract, Self::Multiply, Self::Divide, Self::Log, Self::Power, Self::Exp];

    /// The number of its operands.
    pub(crate) const fn operands(self) -> usize {
        if matches!(self, Self::Log | Self::Exp) { 1 } else { 2 }
    }

    /// The value for two numbers that are within bounds; a function of one number ignores the second.
    #[inline]
    pub fn of(self, a: f64, b: f64) -> f64 {
        let value = match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => divide(a, b),
            Self::Power => power(a, b),
            Self::Log => log(a),
            Self::Exp => exp(a),
        };
        bounded(value)
    }
}

/// Smaller numbers count as 0 where 0 is not allowed.
const NOTHING: f64 = 1e-9;
/// The largest value.
const MOST: f64 = 1e12;
/// The largest exponent of e.
const MOST_EXPONENT: f64 = 27.0;
const LEAST_EXPONENT: f64 = -700.0;

#[inline]
fn divide(a: f64, b: f64) -> f64 {
    if b.abs() < NOTHING { 1.0 } else { a / b }
}

#[inline]
fn log(a: f64) -> f64 {
    if a.abs() < NOTHING { 0.0 } else { a.abs().ln() }
}

#[inline]
fn exp(a: f64) -> f64 {
    a.min(MOST_EXPONENT).exp()
}

#[inline]
fn power(a: f64, b: f64) -> f64 {
    if a.abs() < NOTHING { 0.0 } else { (b * a.abs().ln()).clamp(LEAST_EXPONENT, MOST_EXPONENT).exp() }
}

/// A function of numbers within bounds is never not-a-number, so only numbers from outside are checked for it ([`settled`]).
#[inline]
fn bounded(value: f64) -> f64 {
    value.clamp(-MOST, MOST)
}

/// A number from outside, made safe for functions: within bounds, and never not-a-number.
pub fn settled(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { bounded(value) }
}

/// The smallest part of a formula: a function, a terminal or a constant.
#[derive(Clone, Copy, Debug)]
pub enum Symbol {
    /// A function of the parts that follow.
    Call(Function),
    /// A constant.
    Number(f64),
    /// A fact about the page.
    Fact(Terminal),
}

impl Symbol {
    /// The number of parts that follow and belong to it.
    pub(crate) const fn operands(self) -> usize {
        match self {
            Self::Call(function) => function.operands(),
            Self::Number(_) | Self::Fact(_) => 0,
        }
    }

    /// A number that is different for each symbol.
    fn code(self) -> u64 {
        // Numbers in formulas are never not-a-number, so the patterns of those are free.
        const FREE: u64 = 0x7ff8_0000_0000_0000;
        match self {
            Self::Number(value) => value.to_bits(),
            Self::Call(function) => FREE | 0x100 | function as u64,
            Self::Fact(terminal) => FREE | 0x200 | terminal as u64,
        }
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code()
    }
}

impl Eq for Symbol {}

impl std::hash::Hash for Symbol {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.code().hash(state);
    }
}

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expression(Vec<Symbol>);

impl Expression {
    /// A formula of symbols in prefix order; `None` if they don't make exactly one formula.
    pub fn new(symbols: Vec<Symbol>) -> Option<Self> {
        let settle = |symbol: Symbol| match symbol {
            Symbol::Number(value) => Symbol::Number(settled(value)),
            other => other,
        };
        let symbols: Vec<Symbol> = symbols.into_iter().map(settle).collect();
        (end_of(&symbols, 0) == Some(symbols.len())).then_some(Self(symbols))
    }

    /// Its symbols in prefix order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.0
    }

    /// A list of numbers that is different for each formula.
    pub fn codes(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|symbol| symbol.code())
    }

    /// The number of levels; 1 for a single terminal.
    pub fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::new();
        for symbol in self.0.iter().rev() {
            let below = (0..symbol.operands()).filter_map(|_| depths.pop()).max().unwrap_or(0);
            depths.push(below + 1);
        }
        depths.pop().unwrap_or(0)
    }

    /// The run of symbols of the part that begins at `at`.
    pub fn part(&self, at: usize) -> Range<usize> {
        at..end_of(&self.0, at).unwrap_or(self.0.len())
    }

    /// The formula with a part replaced by another formula.
    #[must_use]
    pub fn with(&self, part: Range<usize>, other: &[Symbol]) -> Self {
        let mut symbols = self.0.clone();
        symbols.splice(part, other.iter().copied());
        Self(symbols)
    }

    /// Its terminals, each once, in the order of [`Terminal::ALL`].
    pub fn terminals(&self) -> Vec<Terminal> {
        let has = |terminal: &Terminal| self.0.contains(&Symbol::Fact(*terminal));
        Terminal::ALL.into_iter().filter(has).collect()
    }

    /// Its value for these values of terminals.
    pub fn value(&self, of: impl Fn(Terminal) -> f64) -> f64 {
        let mut stack: Vec<f64> = Vec::with_capacity(16);
        for symbol in self.0.iter().rev() {
            let value = match symbol {
                Symbol::Number(value) => *value,
                Symbol::Fact(terminal) => settled(of(*terminal)),
                Symbol::Call(function) => {
                    let first = stack.pop().unwrap_or(0.0);
                    let second = if function.operands() == 2 { stack.pop().unwrap_or(0.0) } else { 0.0 };
                    function.of(first, second)
                }
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(0.0)
    }

    /// Its values in many places at once. Terminals are columns of settled numbers, as long as `values`.
    ///
    /// It works on blocks of places, so that each symbol is decoded once per block.
    pub fn values(&self, columns: &Columns, scratch: &mut Scratch, values: &mut [f64]) {
        for (block, values) in values.chunks_mut(BLOCK).enumerate() {
            let places = block * BLOCK..block * BLOCK + values.len();
            self.block(columns, places, scratch);
            if let Some(result) = scratch.0.first().and_then(|column| column.get(..values.len())) {
                values.copy_from_slice(result);
            }
        }
    }

    fn block(&self, columns: &Columns, places: Range<usize>, scratch: &mut Scratch) {
        let length = places.len();
        let mut height = 0;
        for symbol in self.0.iter().rev() {
            if scratch.0.len() <= height {
                scratch.0.resize_with(height + 1, || [0.0; BLOCK]);
            }
            match symbol {
                Symbol::Number(value) => {
                    scratch.0.iter_mut().skip(height).take(1).for_each(|column| column.fill(*value));
                    height += 1;
                }
                Symbol::Fact(terminal) => {
                    let from = columns.of(*terminal).get(places.clone());
                    if let (Some(from), Some(to)) = (from, scratch.0.get_mut(height)) {
                        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                    }
                    height += 1;
                }
                Symbol::Call(function) if function.operands() == 1 => {
                    if let Some(column) = height.checked_sub(1).and_then(|at| scratch.0.get_mut(at)) {
                        each(&mut column[..length], *function);
                    }
                }
                Symbol::Call(function) => {
                    height -= 1;
                    let (below, top) = scratch.0.split_at_mut(height);
                    if let (Some(second), Some(first)) = (below.last_mut(), top.first()) {
                        both(&first[..length], &mut second[..length], *function);
                    }
                }
            }
        }
    }
}

/// Applies a function to columns. The first operand is on top of the stack; the result replaces the second.
fn both(first: &[f64], second: &mut [f64], function: Function) {
    // A loop each, so that what is simple is done several at a time.
    macro_rules! each_with {
        ($of:expr) => {
            second.iter_mut().zip(first).for_each(|(b, a)| *b = bounded($of(*a, *b)))
        };
    }
    match function {
        Function::Add => each_with!(|a, b| a + b),
        Function::Subtract => each_with!(|a, b| a - b),
        Function::Multiply => each_with!(|a, b| a * b),
        Function::Divide => each_with!(divide),
        Function::Power => each_with!(power),
        Function::Log | Function::Exp => {}
    }
}

fn each(column: &mut [f64], function: Function) {
    match function {
        Function::Log => column.iter_mut().for_each(|a| *a = log(*a)),
        _ => column.iter_mut().for_each(|a| *a = exp(*a)),
    }
}

/// The number of places in a block: a few such columns fit into the first-level cache.
const BLOCK: usize = 256;

/// Memory for intermediate values, to be reused.
#[derive(Debug, Default)]
pub struct Scratch(Vec<[f64; BLOCK]>);

/// The values of terminals, one column each.
#[derive(Clone, Debug, Default)]
pub struct Columns([Vec<f64>; Terminal::ALL.len()]);

impl Columns {
    /// The column of a terminal.
    pub fn of(&self, terminal: Terminal) -> &[f64] {
        &self.0[terminal as usize]
    }

    /// The column of a terminal, to be filled.
    pub fn of_mut(&mut self, terminal: Terminal) -> &mut Vec<f64> {
        &mut self.0[terminal as usize]
    }

    /// Empties all columns.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

/// The end of the formula that begins at `at`.
fn end_of(symbols: &[Symbol], at: usize) -> Option<usize> {
    let mut open = 1_usize;
    for (place, symbol) in symbols.iter().enumerate().skip(at) {
        open = open - 1 + symbol.operands();
        if open == 0 {
            return Some(place + 1);
        }
    }
    None
}

/// The formula as people write it; parsing it gives the same formula.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(String, u8)> = Vec::new();
        for symbol in self.0.iter().rev() {
            let part = match symbol {
                Symbol::Number(value) if value.is_sign_negative() => (format!("{value}"), SIGNED),
                Symbol::Number(value) => (format!("{value}"), WHOLE),
                Symbol::Fact(terminal) => (terminal.name().to_owned(), WHOLE),
                Symbol::Call(function) => {
                    let first = parts.pop().unwrap_or_default();
                    let (sign, binds) = match function {
                        Function::Log | Function::Exp => {
                            let name = if *function == Function::Log { "log" } else { "exp" };
                            parts.push((format!("{name}({})", first.0), WHOLE));
                            continue;
                        }
                        Function::Add => ('+', SUM),
                        Function::Subtract => ('-', SUM),
                        Function::Multiply => ('*', PRODUCT),
                        Function::Divide => ('/', PRODUCT),
                        Function::Power => ('^', POWER),
                    };
                    let second = parts.pop().unwrap_or_default();
                    // Sums and products are read from the left, powers from the right.
                    let (least_left, least_right) =
                        if binds == POWER { (POWER + 1, POWER) } else { (binds, binds + 1) };
                    let first = within(first, least_left);
                    let second = within(second, least_right.max(SIGNED + 1));
                    (format!("{first} {sign} {second}"), binds)
                }
            };
            parts.push(part);
        }
        f.write_str(&parts.pop().unwrap_or_default().0)
    }
}

/// The precedence of operators when a formula is written.
const SUM: u8 = 1;
const SIGNED: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 4;
const WHOLE: u8 = 9;

fn within((text, binds): (String, u8), least: u8) -> String {
    if binds >= least { text } else { format!("({text})") }
}

#[cfg(test)]
pub(crate) mod tests;
