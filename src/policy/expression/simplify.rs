//! Formula → a shorter formula with the same meaning.
//!
//! [`Expression::canonical`] keeps every value to the bit, so formulas with the same canonical form can share their fitness.
//! [`Expression::simplified`] keeps values except for rounding, if terminals are within their ranges. [`Expression::ranking`]
//! keeps only the order of pages, which is all that a policy needs.

use super::{Expression, Function, MOST, MOST_EXPONENT, NOTHING, Symbol, end_of, exp};

/// The most rounds; it ends earlier when nothing changes.
const MOST_PASSES: usize = 20;

impl Expression {
    /// The common form of all formulas that are equal by rules that hold exactly: constants are folded, operands of sums and
    /// products are sorted, and adding 0 or multiplying by 1 is left out.
    #[must_use]
    pub fn canonical(&self) -> Self {
        Self(rewritten(&self.0, Rules::Exact))
    }

    /// A shorter form with the same values except for rounding.
    #[must_use]
    pub fn simplified(&self) -> Self {
        let mut form = self.canonical();
        for _ in 0..MOST_PASSES {
            let next = Self(rewritten(&form.0, Rules::Rounded));
            if next == form {
                break;
            }
            form = next;
        }
        form
    }

    /// A shorter form that ranks pages in the same order: constants that are added to every score, or multiply it, are left out.
    #[must_use]
    pub fn ranking(&self) -> Self {
        let mut form = self.simplified();
        while let Some(inner) = same_order(&form.0) {
            form = Self(inner).simplified();
        }
        form
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Exact,
    Rounded,
}

/// Rewrites every part, innermost first.
fn rewritten(symbols: &[Symbol], rules: Rules) -> Vec<Symbol> {
    let mut parts: Vec<Vec<Symbol>> = Vec::new();
    for symbol in symbols.iter().rev() {
        let part = match symbol {
            Symbol::Call(function) => {
                let first = parts.pop().unwrap_or_default();
                let second =
                    if function.operands() == 2 { parts.pop().unwrap_or_default() } else { Vec::new() };
                reduced(*function, first, second, rules)
            }
            leaf => vec![*leaf],
        };
        parts.push(part);
    }
    parts.pop().unwrap_or_default()
}

fn number(part: &[Symbol]) -> Option<f64> {
    match part {
        [Symbol::Number(value)] => Some(*value),
        _ => None,
    }
}

fn reduced(function: Function, a: Vec<Symbol>, b: Vec<Symbol>, rules: Rules) -> Vec<Symbol> {
    let (left, right) = (number(&a), number(&b));
    let constant = |value: f64| vec![Symbol::Number(value)];
    if let (Some(x), true) = (left, function.operands() == 1 || right.is_some()) {
        return constant(function.of(x, right.unwrap_or(0.0)));
    }
    match (function, left, right) {
        (Function::Add, Some(0.0), _) => return b,
        (Function::Add | Function::Subtract, _, Some(0.0)) => return a,
        (Function::Subtract, _, _) if a == b => return constant(0.0),
        (Function::Multiply, Some(0.0), _) | (Function::Multiply, _, Some(0.0)) => return constant(0.0),
        (Function::Multiply, Some(1.0), _) => return b,
        (Function::Multiply | Function::Divide, _, Some(1.0)) => return a,
        (Function::Divide, _, _) if a == b => return constant(1.0),
        (Function::Divide, _, Some(c)) if c.abs() < NOTHING => return constant(1.0),
        (Function::Power, Some(1.0), _) => return constant(1.0),
        (Function::Power, Some(c), _) if c.abs() < NOTHING => return constant(0.0),
        _ => {}
    }
    if rules == Rules::Rounded
        && let Some(shorter) = rounded(function, &a, &b)
    {
        return shorter;
    }
    let code = |part: &[Symbol]| part.iter().map(|symbol| symbol.code()).collect::<Vec<_>>();
    let commutes = matches!(function, Function::Add | Function::Multiply);
    let (a, b) = if commutes && code(&b) < code(&a) { (b, a) } else { (a, b) };
    [vec![Symbol::Call(function)], a, b].concat()
}

/// Rules that hold except for rounding, if values stay within bounds.
fn rounded(function: Function, a: &[Symbol], b: &[Symbol]) -> Option<Vec<Symbol>> {
    let call = |function, a: &[Symbol], b: &[Symbol]| [&[Symbol::Call(function)], a, b].concat();
    let with =
        |function, x: &[Symbol], c: f64| reduced(function, x.to_vec(), vec![Symbol::Number(c)], Rules::Exact);
    let (left, right) = (number(a), number(b));
    match function {
        Function::Log => {
            let [inner, _] = operands(a, Function::Exp)?;
            let (low, high) = range(inner);
            (low >= -20.0 && high <= MOST_EXPONENT).then(|| inner.to_vec())
        }
        Function::Exp => {
            let [inner, _] = operands(a, Function::Log)?;
            let (low, high) = range(inner);
            (low >= NOTHING && high <= exp(MOST_EXPONENT)).then(|| inner.to_vec())
        }
        Function::Power => {
            let (low, high) = range(a);
            match right? {
                0.0 if low >= NOTHING => Some(vec![Symbol::Number(1.0)]),
                1.0 if low >= NOTHING && high <= exp(MOST_EXPONENT) => Some(a.to_vec()),
                _ => None,
            }
        }
        Function::Add | Function::Subtract => {
            // 0 − x, added or taken off.
            if let Some([zero, x]) = operands(b, Function::Subtract)
                && number(zero) == Some(0.0)
            {
                let other = if function == Function::Add { Function::Subtract } else { Function::Add };
                return Some(call(other, a, x));
            }
            if let (Function::Add, Some([zero, x])) = (function, operands(a, Function::Subtract))
                && number(zero) == Some(0.0)
            {
                return Some(call(Function::Subtract, b, x));
            }
            let (sum, c) = match (left, right) {
                (None, Some(c)) if function == Function::Subtract => (a, -c),
                (None, Some(c)) => (a, c),
                (Some(c), None) if function == Function::Add => (b, c),
                _ => return None,
            };
            let (x, inner) = constant_of_sum(sum)?;
            is_small(x, &[inner, c]).then(|| with(Function::Add, x, inner + c))
        }
        Function::Multiply | Function::Divide => {
            // What was just multiplied by is divided by again.
            let undone = if function == Function::Multiply { Function::Divide } else { Function::Multiply };
            for (product, factor) in [(a, b), (b, a)] {
                let Some([x, y]) = operands(product, undone) else { continue };
                if std::ptr::eq(product, b) && function == Function::Divide {
                    continue;
                }
                let is_safe = |x: &[Symbol]| is_far_from_nothing(factor) && stays_within(x, factor);
                if y == factor && is_safe(x) {
                    return Some(x.to_vec());
                }
                if undone == Function::Multiply && x == factor && is_safe(y) {
                    return Some(y.to_vec());
                }
            }
            let (product, c) = match (left, right) {
                (None, Some(c)) if function == Function::Divide && c.abs() >= NOTHING => (a, 1.0 / c),
                (None, Some(c)) if function == Function::Multiply => (a, c),
                (Some(c), None) if function == Function::Multiply => (b, c),
                _ => return None,
            };
            let (x, inner) = constant_of_product(product)?;
            let (low, high) = range(x);
            let most = low.abs().max(high.abs());
            let fits = [inner, c, inner * c].iter().all(|factor| most * factor.abs() <= MOST);
            let is_number = inner * c != 0.0 && (inner * c).abs() <= MOST;
            (fits && is_number).then(|| with(Function::Multiply, x, inner * c))
        }
    }
}

/// The operands of a call of this function.
fn operands(part: &[Symbol], function: Function) -> Option<[&[Symbol]; 2]> {
    let (first, rest) = part.split_first()?;
    if *first != Symbol::Call(function) {
        return None;
    }
    let (a, b) = rest.split_at_checked(end_of(rest, 0)?)?;
    Some([a, b])
}

/// x and c of x + c, c + x, x − c.
fn constant_of_sum(part: &[Symbol]) -> Option<(&[Symbol], f64)> {
    if let Some([a, b]) = operands(part, Function::Add) {
        return number(a).map(|c| (b, c)).or(number(b).map(|c| (a, c)));
    }
    let [a, b] = operands(part, Function::Subtract)?;
    number(b).map(|c| (a, -c))
}

/// x and c of x · c, c · x, x / c.
fn constant_of_product(part: &[Symbol]) -> Option<(&[Symbol], f64)> {
    if let Some([a, b]) = operands(part, Function::Multiply) {
        return number(a).map(|c| (b, c)).or(number(b).map(|c| (a, c)));
    }
    let [a, b] = operands(part, Function::Divide)?;
    number(b).filter(|c| c.abs() >= NOTHING).map(|c| (a, 1.0 / c))
}

/// Does no sum of them come near the bounds?
fn is_small(x: &[Symbol], constants: &[f64]) -> bool {
    let (low, high) = range(x);
    let all = constants.iter().map(|c| c.abs()).sum::<f64>();
    low - all >= -MOST && high + all <= MOST
}

fn is_far_from_nothing(x: &[Symbol]) -> bool {
    let (low, high) = range(x);
    low >= NOTHING || high <= -NOTHING
}

/// Is neither the product nor the quotient clamped?
fn stays_within(x: &[Symbol], factor: &[Symbol]) -> bool {
    let most = |part: &[Symbol]| range(part).0.abs().max(range(part).1.abs());
    let least = range(factor).0.abs().min(range(factor).1.abs());
    most(x) * most(factor) <= MOST && most(x) / least <= MOST
}

/// The range of a formula's values.
fn range(symbols: &[Symbol]) -> (f64, f64) {
    let mut ranges: Vec<(f64, f64)> = Vec::new();
    for symbol in symbols.iter().rev() {
        let next = match symbol {
            Symbol::Number(value) => (*value, *value),
            Symbol::Fact(terminal) => terminal.range(),
            Symbol::Call(function) => {
                let a = ranges.pop().unwrap_or((-MOST, MOST));
                let b = if function.operands() == 2 { ranges.pop() } else { None }.unwrap_or((0.0, 0.0));
                range_of(*function, a, b)
            }
        };
        ranges.push(next);
    }
    ranges.pop().unwrap_or((-MOST, MOST))
}

fn range_of(function: Function, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let corners = |of: &dyn Fn(f64, f64) -> f64| {
        let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        (least, all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let (low, high) = match function {
        Function::Add => (a.0 + b.0, a.1 + b.1),
        Function::Subtract => (a.0 - b.1, a.1 - b.0),
        Function::Multiply => corners(&|x, y| x * y),
        Function::Divide if b.0 >= NOTHING || b.1 <= -NOTHING => corners(&|x, y| x / y),
        Function::Log if a.0 >= NOTHING => (a.0.ln(), a.1.ln()),
        Function::Exp => (exp(a.0), exp(a.1)),
        Function::Power => (0.0, exp(MOST_EXPONENT)),
        Function::Divide | Function::Log => (-MOST, MOST),
    };
    (low.max(-MOST), high.min(MOST))
}

/// The argument of an increasing function, which ranks pages in the same order.
fn same_order(symbols: &[Symbol]) -> Option<Vec<Symbol>> {
    if let Some((x, c)) = constant_of_sum(symbols).filter(|(x, c)| is_small(x, &[*c])) {
        return number(x).is_none().then(|| x.to_vec()).filter(|_| c.is_finite());
    }
    if let Some((x, c)) = constant_of_product(symbols) {
        let (low, high) = range(x);
        let fits = c > 0.0 && low * c >= -MOST && high * c <= MOST;
        return fits.then(|| x.to_vec());
    }
    if let Some([x, _]) = operands(symbols, Function::Log) {
        return (range(x).0 >= NOTHING).then(|| x.to_vec());
    }
    if let Some([x, _]) = operands(symbols, Function::Exp) {
        let (low, high) = range(x);
        return (low >= -700.0 && high <= MOST_EXPONENT).then(|| x.to_vec());
    }
    None
}
