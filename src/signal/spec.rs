//! Signals as a flag describes them: how often they are right, how much they tell, how late they come, and how they are wrong.
//!
//! `freshet simulate --signals` and `freshet web --signals` read the same text. What a delay is counted in, and how signals
//! are drawn, is up to them.

use std::fmt;
use std::str::FromStr;

use crate::near_names;

/// How good the signals of a site are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalSpec {
    /// The share of signals that are right. Above 0.
    pub precision: f64,
    /// The share of changes that are told.
    pub recall: f64,
    /// Time from a change to its signal: cycles in a replay, days on a web.
    pub delay: f64,
    /// How false signals come.
    pub falsehood: Falsehood,
}

/// How false signals come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Falsehood {
    /// Each for itself, at any time.
    #[default]
    Poisson,
    /// All pages of a host at once, as if a build had touched them.
    Build,
    /// Every page, always: a date that is made up at the request. Precision and recall say nothing then.
    Always,
}

impl Falsehood {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Poisson, Self::Build, Self::Always];

    /// The name in a flag.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Build => "build",
            Self::Always => "always",
        }
    }
}

/// How a flag is written.
pub const FORM: &str = "PRECISION,RECALL[,delay=N][,poisson|build|always]";

/// Longest delay: more cycles or days than any history has.
const LONGEST_DELAY: f64 = 1e6;

/// Lowest precision: with fewer right signals than one in a million, all of them are noise.
const LEAST_PRECISION: f64 = 1e-6;

impl FromStr for SignalSpec {
    type Err = String;

    /// Reads `0.8,0.5,delay=2,build`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let (Some(precision), Some(recall)) = (parts.next(), parts.next()) else {
            return Err(format!("`{text}` has no recall; write {FORM}"));
        };
        let precision = within(precision, LEAST_PRECISION, 1.0).ok_or_else(|| {
            format!("the precision is `{precision}`; it must be a share from {LEAST_PRECISION} to 1")
        })?;
        let recall = within(recall, 0.0, 1.0)
            .ok_or_else(|| format!("the recall is `{recall}`; it must be a share from 0 to 1"))?;
        let (mut delay, mut falsehood) = (None, None);
        for part in parts {
            if let Some(value) = part.strip_prefix("delay=") {
                let parsed = within(value, 0.0, LONGEST_DELAY);
                let parsed = parsed.ok_or_else(|| {
                    format!("the delay is `{value}`; it must be a number from 0 to {LONGEST_DELAY}")
                })?;
                once(&mut delay, parsed, "delay")?;
            } else if let Some(named) = Falsehood::ALL.into_iter().find(|known| known.name() == part) {
                once(&mut falsehood, named, "kind of false signals")?;
            } else {
                let known = ["delay=N"].into_iter().chain(Falsehood::ALL.map(Falsehood::name));
                return Err(format!("there is no `{part}`; {}", near_names::instead(part, known)));
            }
        }
        let (delay, falsehood) = (delay.unwrap_or(0.0), falsehood.unwrap_or_default());
        Ok(Self { precision, recall, delay, falsehood })
    }
}

fn within(text: &str, from: f64, to: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (from..=to).contains(number))
}

fn once<T>(place: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    if place.replace(value).is_some() { Err(format!("more than one {name} is given")) } else { Ok(()) }
}

impl fmt::Display for SignalSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { precision, recall, delay, falsehood } = self;
        write!(f, "{precision},{recall}")?;
        if *delay > 0.0 {
            write!(f, ",delay={delay}")?;
        }
        if *falsehood != Falsehood::default() {
            write!(f, ",{}", falsehood.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_read_and_only_two_are_needed() {
        let read = |text: &str| text.parse::<SignalSpec>();
        let plain = SignalSpec { precision: 0.8, recall: 0.5, delay: 0.0, falsehood: Falsehood::Poisson };
        assert_eq!(read("0.8,0.5"), Ok(plain));
        assert_eq!(read(".8,.5,poisson"), Ok(plain));
        let late = SignalSpec { delay: 2.0, falsehood: Falsehood::Build, ..plain };
        assert_eq!(read("0.8, 0.5, build, delay=2"), Ok(late));
        assert_eq!(late.to_string(), "0.8,0.5,delay=2,build");
        assert_eq!(read(&late.to_string()), Ok(late));
        assert_eq!(plain.to_string(), "0.8,0.5");
    }

    #[test]
    fn a_mistake_is_told_with_the_rule() {
        let said = |text: &str| text.parse::<SignalSpec>().expect_err(text);
        assert_eq!(said("0.8"), format!("`0.8` has no recall; write {FORM}"));
        assert_eq!(said("0,1"), "the precision is `0`; it must be a share from 0.000001 to 1");
        assert_eq!(said("1.5,1"), "the precision is `1.5`; it must be a share from 0.000001 to 1");
        assert_eq!(said("1,NaN"), "the recall is `NaN`; it must be a share from 0 to 1");
        assert_eq!(said("1,1,delay=-1"), "the delay is `-1`; it must be a number from 0 to 1000000");
        assert_eq!(said("1,1,biuld"), "there is no `biuld`; did you mean `build`?");
        assert_eq!(said("1,1,build,always"), "more than one kind of false signals is given");
        assert_eq!(said("1,1,delay=1,delay=1"), "more than one delay is given");
        assert!(said("1,1,").starts_with("there is no ``; there is `delay=N`, `poisson`"));
    }
}
