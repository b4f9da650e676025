//! Text → formula.

use std::fmt;
use std::str::FromStr;

use super::{Expression, Function, Symbol, Terminal};

/// The deepest nesting that is accepted.
const MOST_NESTED: usize = 100;
const MOST_SYMBOLS: usize = 10_000;
/// The longest text that is accepted: enough for a formula of the most symbols, with two parentheses and a comma each.
const MOST_TOKENS: usize = 4 * MOST_SYMBOLS;

/// An error in the text of a formula, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelt {
    /// The place in characters, from 1.
    pub column: usize,
    /// The mistake.
    pub wrong: String,
}

impl fmt::Display for Misspelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.wrong)
    }
}

impl std::error::Error for Misspelt {}

impl FromStr for Expression {
    type Err = Misspelt;

    /// `t * X / (n + 1)`: numbers, names, `+ - * / ^`, `log(…)`, `exp(…)`, `pow(…, …)` and parentheses.
    fn from_str(text: &str) -> Result<Self, Misspelt> {
        let mut reader = Reader { tokens: tokens(text)?, at: 0, nested: 0 };
        let symbols = reader.sum()?;
        match reader.next() {
            (_, Token::End) => {}
            (column, token) => {
                return Err(Misspelt {
                    column,
                    wrong: expected(&token, "`+`, `-`, `*`, `/`, `^` or the end"),
                });
            }
        }
        if symbols.len() > MOST_SYMBOLS {
            let wrong = format!("the formula has {} symbols; {MOST_SYMBOLS} are the most", symbols.len());
            return Err(Misspelt { column: 1, wrong });
        }
        let whole = Self::new(symbols);
        whole.ok_or_else(|| Misspelt { column: 1, wrong: "this is no formula".to_owned() })
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Sign(char),
    End,
}

fn expected(found: &Token, what: &str) -> String {
    match found {
        Token::Number(value) => format!("there is `{value}` where {what} was expected"),
        Token::Name(name) => format!("there is `{name}` where {what} was expected"),
        Token::Sign(sign) => format!("there is `{sign}` where {what} was expected"),
        Token::End => format!("the formula ends where {what} was expected"),
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Misspelt> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at).copied() {
        let column = at + 1;
        if tokens.len() >= MOST_TOKENS {
            let wrong = format!("the formula goes on; {MOST_SYMBOLS} symbols are the most");
            return Err(Misspelt { column, wrong });
        }
        let end = |from: usize, is_part: &dyn Fn(usize, char) -> bool| {
            let goes_on = |place: &usize| letters.get(*place).is_some_and(|letter| is_part(*place, *letter));
            (from..=letters.len()).find(|place| !goes_on(place)).unwrap_or(letters.len())
        };
        let text_to = |end: usize| letters.get(at..end).unwrap_or(&[]).iter().collect::<String>();
        if letter.is_whitespace() {
            at += 1;
        } else if letter.is_ascii_digit() || letter == '.' {
            // `1e-3`: a sign belongs to the number only behind its e.
            let is_e = |place: usize| {
                place
                    .checked_sub(1)
                    .and_then(|place| letters.get(place))
                    .is_some_and(|e| matches!(e, 'e' | 'E'))
            };
            let to = end(at, &|place, letter| {
                letter.is_ascii_digit()
                    || matches!(letter, '.' | 'e' | 'E')
                    || (matches!(letter, '+' | '-') && is_e(place))
            });
            let text = text_to(to);
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            let number =
                number.ok_or_else(|| Misspelt { column, wrong: format!("`{text}` is not a number") })?;
            tokens.push((column, Token::Number(number)));
            at = to;
        } else if letter.is_alphabetic() {
            let to = end(at, &|_, letter| letter.is_alphanumeric() || letter == '_');
            tokens.push((column, Token::Name(text_to(to))));
            at = to;
        } else {
            let sign = match letter {
                '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' => letter,
                '−' => '-',
                '×' | '·' => '*',
                '÷' => '/',
                _ => {
                    let wrong = format!("`{letter}` has no meaning in a formula");
                    return Err(Misspelt { column, wrong });
                }
            };
            tokens.push((column, Token::Sign(sign)));
            at += 1;
        }
    }
    tokens.push((letters.len() + 1, Token::End));
    Ok(tokens)
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    nested: usize,
}

impl Reader {
    fn peek(&self) -> (usize, Token) {
        self.tokens.get(self.at).or(self.tokens.last()).cloned().unwrap_or((1, Token::End))
    }

    fn next(&mut self) -> (usize, Token) {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Reads one of these signs, if it comes next.
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        match self.peek().1 {
            Token::Sign(sign) if signs.contains(&sign) => {
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    fn must(&mut self, sign: char, what: &str) -> Result<(), Misspelt> {
        if self.sign(&[sign]).is_some() {
            return Ok(());
        }
        let (column, token) = self.peek();
        Err(Misspelt { column, wrong: expected(&token, what) })
    }

    /// Reads a nested part. The depth is limited, because each level uses the stack.
    fn deeper(
        &mut self,
        read: fn(&mut Self) -> Result<Vec<Symbol>, Misspelt>,
    ) -> Result<Vec<Symbol>, Misspelt> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            let wrong = format!("parts stand within parts, more than {MOST_NESTED} times");
            return Err(Misspelt { column: self.peek().0, wrong });
        }
        let part = read(self);
        self.nested -= 1;
        part
    }

    fn sum(&mut self) -> Result<Vec<Symbol>, Misspelt> {
        let mut left = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let function = if sign == '+' { Function::Add } else { Function::Subtract };
            left = call(function, [left, self.product()?]);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Vec<Symbol>, Misspelt> {
        let mut left = self.signed()?;
        while let Some(sign) = self.sign(&['*', '/']) {
            let function = if sign == '*' { Function::Multiply } else { Function::Divide };
            left = call(function, [left, self.signed()?]);
        }
        Ok(left)
    }

    /// A minus before a number belongs to the number; before anything else it means 0 − x.
    fn signed(&mut self) -> Result<Vec<Symbol>, Misspelt> {
        let mut is_minus = false;
        while self.sign(&['-']).is_some() {
            is_minus = !is_minus;
        }
        let of = self.power()?;
        Ok(match (is_minus, of.as_slice()) {
            (false, _) => of,
            (true, [Symbol::Number(value)]) => vec![Symbol::Number(-value)],
            (true, _) => call(Function::Subtract, [vec![Symbol::Number(0.0)], of]),
        })
    }

    /// Powers group from the right: a ^ b ^ c is a ^ (b ^ c).
    fn power(&mut self) -> Result<Vec<Symbol>, Misspelt> {
        let mut all = vec![self.whole()?];
        while self.sign(&['^']).is_some() {
            if self.peek().1 == Token::Sign('-') {
                all.push(self.deeper(Self::signed)?);
                break;
            }
            all.push(self.whole()?);
        }
        let mut right = all.pop().unwrap_or_default();
        while let Some(left) = all.pop() {
            right = call(Function::Power, [left, right]);
        }
        Ok(right)
    }

    fn whole(&mut self) -> Result<Vec<Symbol>, Misspelt> {
        let (column, token) = self.next();
        match token {
            Token::Number(value) => Ok(vec![Symbol::Number(value)]),
            Token::Sign('(') => {
                let inner = self.deeper(Self::sum)?;
                self.must(')', "`)` or a sign")?;
                Ok(inner)
            }
            Token::Name(name) => self.named(column, &name),
            other => Err(Misspelt { column, wrong: expected(&other, "a number, a name or `(`") }),
        }
    }

    fn named(&mut self, column: usize, name: &str) -> Result<Vec<Symbol>, Misspelt> {
        let function = match name {
            "log" | "ln" => Function::Log,
            "exp" => Function::Exp,
            "pow" => Function::Power,
            _ => {
                let terminal = Terminal::from_name(name);
                let terminal = terminal.map_err(|said| Misspelt { column, wrong: said })?;
                return Ok(vec![Symbol::Fact(terminal)]);
            }
        };
        self.must('(', &format!("`(` behind `{name}`"))?;
        let first = self.deeper(Self::sum)?;
        if function.operands() == 1 {
            self.must(')', "`)` or a sign")?;
            return Ok(call(function, [first]));
        }
        self.must(',', "`,` and the exponent")?;
        let second = self.deeper(Self::sum)?;
        self.must(')', "`)` or a sign")?;
        Ok(call(function, [first, second]))
    }
}

fn call<const N: usize>(function: Function, operands: [Vec<Symbol>; N]) -> Vec<Symbol> {
    let mut all = vec![Symbol::Call(function)];
    operands.iter().for_each(|operand| all.extend_from_slice(operand));
    all
}
