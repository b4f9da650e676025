//! The reason of a score in words: the values of any policy, with their units.

use std::time::Duration;

use super::figures::{percent, rate, span};
use crate::policy::{Fact, Reason, Unit};
use crate::time::Age;

/// The labels with their values, for a table: `replaced every 3 d`.
pub(super) fn labels(reason: &Reason) -> impl Iterator<Item = String> + '_ {
    let told = reason.facts().iter().filter(|fact| !fact.label.is_empty());
    told.map(|fact| filled_in(fact, fact.label))
}

/// The parts of a sentence, with their values.
pub(super) fn clauses(reason: &Reason) -> impl Iterator<Item = String> + '_ {
    let told = reason.facts().iter().filter(|fact| !fact.sentence.is_empty());
    told.map(|fact| filled_in(fact, fact.sentence))
}

/// Fills in the places of a label or sentence, as [`Fact`] describes them.
fn filled_in(fact: &Fact, words: &str) -> String {
    if fact.unit == Unit::Term {
        return format!("{words} = {}", rate(fact.value));
    }
    let value = match fact.unit {
        Unit::PerDay if fact.value <= 0.0 => "never".to_owned(),
        Unit::PerDay => format!("every {}", period(fact.value)),
        Unit::Days => span_of(Age::from_days(fact.value)),
        Unit::Share => percent(fact.value),
        Unit::Number | Unit::Term | Unit::Flag => rate(fact.value),
    };
    let (low, high) = fact.bounds.unwrap_or((fact.value, fact.value));
    words
        .replace("{}", &value)
        .replace("{number}", &rate(fact.value))
        .replace("{period}", &period(fact.value))
        .replace("{low}", &rate(low))
        .replace("{high}", &rate(high))
}

/// The time that one takes at this rate a day.
fn period(a_day: f64) -> String {
    if a_day > 0.0 { span_of(Age::from_days(1.0 / a_day)) } else { CENTURIES.to_owned() }
}

const CENTURIES: &str = "centuries";

/// An age in words; more than a century is not told to the day.
pub(super) fn span_of(age: Age) -> String {
    const CENTURY: f64 = 36_525.0;
    if age.days() > CENTURY {
        return CENTURIES.to_owned();
    }
    span(Duration::try_from_secs_f64(age.seconds()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimate;

    #[test]
    fn any_policys_values_are_told_with_their_units() {
        let reason = Reason::of([
            Fact::change_rate(Estimate::new(0.5, 0.25, 2.0)),
            Fact::new("doubt", "doubt {}", 0.125, Unit::Share).told_as(""),
            Fact::term("X", 3.0),
            Fact::drawn(),
        ]);
        let told: Vec<String> = labels(&reason).collect();
        assert_eq!(told, ["changes every 2 d", "doubt 12.5 %", "X = 3.000", "drawn"]);
        let told: Vec<String> = clauses(&reason).collect();
        let rate =
            "it is taken to change every 2 d (0.5000 changes a day, from 0.2500 to 2.000 19 times out of 20)";
        assert_eq!(told, [rate, "X = 3.000"]);
        let never = Reason::of([Fact::change_rate(Estimate::new(0.0, 0.0, 2.0))]);
        assert_eq!(labels(&never).collect::<Vec<_>>(), ["changes never"]);
    }
}
