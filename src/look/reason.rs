//! The reason of a score in words: a few for a table, parts of a sentence for a reader.

use std::time::Duration;

use crate::estimate::Estimate;
use crate::policy::Reason;
use crate::time::Age;

use super::figures::{percent, rate, span};

/// The values that a score depends on, in a few words each.
pub(super) fn labels(reason: &Reason) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(Estimate { rate: changes, .. }) = reason.estimate {
        parts.push(format!("changes {}", every(changes.get())));
    }
    if let Some(chance) = reason.chance {
        parts.push(format!("{} sure to have changed", percent(chance)));
    }
    if let Some(replaced) = reason.replaced_a_day {
        parts.push(format!("replaced {}", every(replaced)));
    }
    if let Some(divergence) = reason.divergence {
        parts.push(format!("{} of it expected to differ", percent(divergence)));
    }
    if let Some(gain) = reason.gain_days {
        parts.push(format!("gains {}", span_of(Age::from_days(gain))));
    }
    if let Some(visits) = reason.visits_a_day {
        parts.push(format!("worth a visit {}", every(visits)));
    }
    if let Some(interval) = reason.interval_days {
        parts.push(format!("due after {}", span_of(Age::from_days(interval))));
    }
    parts.extend(terms(reason));
    if reason.drawn {
        parts.push("drawn".to_owned());
    }
    parts
}

/// The values that a score depends on, as parts of a sentence. `copy_age`: how old the copy of the page is.
pub(super) fn clauses(reason: &Reason, copy_age: Age) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(estimate) = reason.estimate {
        parts.push(format!(
            "it is taken to change {} ({} changes a day, from {} to {} 19 times out of 20)",
            every(estimate.rate.get()),
            rate(estimate.rate.get()),
            rate(estimate.low.get()),
            rate(estimate.high.get())
        ));
    }
    if let Some(chance) = reason.chance {
        parts.push(format!("it is {} sure to have changed since it was last seen", percent(chance)));
    }
    if let Some(replaced) = reason.replaced_a_day {
        let all =
            if replaced > 0.0 { span_of(Age::from_days(1.0 / replaced)) } else { "centuries".to_owned() };
        parts.push(format!("its text is taken to be replaced within {all}"));
    }
    if let Some(haste) = reason.haste {
        parts.push(format!("by what pages like it did since, its time counts {} times", rate(haste)));
    }
    if let Some(divergence) = reason.divergence {
        parts.push(format!("{} of it is expected to differ from what is held", percent(divergence)));
    }
    if let Some(gain) = reason.gain_days {
        parts.push(format!("a visit now is expected to gain {} of freshness", span_of(Age::from_days(gain))));
    }
    if let Some(visits) = reason.visits_a_day {
        parts.push(format!("its share of the budget is a visit {}", every(visits)));
    }
    if let Some(interval) = reason.interval_days {
        let due = Age::from_days(interval - copy_age.days());
        let when = if due.seconds() > 0.0 { format!("in {}", span_of(due)) } else { "by now".to_owned() };
        parts.push(format!(
            "the rule visits it every {}, so it is due {when}",
            span_of(Age::from_days(interval))
        ));
    }
    if !reason.facts.is_empty() {
        parts.push(terms(reason).collect::<Vec<_>>().join(", "));
    }
    parts
}

/// The terms of a formula: `X = 3`
fn terms(reason: &Reason) -> impl Iterator<Item = String> + '_ {
    reason.facts.iter().map(|(name, value)| format!("{name} = {}", rate(*value)))
}

/// `every 3 d 2 h`
fn every(a_day: f64) -> String {
    if a_day <= 0.0 { "never".to_owned() } else { format!("every {}", span_of(Age::from_days(1.0 / a_day))) }
}

/// An age as people read it; ages of more than a century are not given to the day.
pub(super) fn span_of(age: Age) -> String {
    const CENTURY_DAYS: f64 = 36_525.0;
    if age.days() > CENTURY_DAYS {
        return "centuries".to_owned();
    }
    span(Duration::try_from_secs_f64(age.seconds()).unwrap_or_default())
}
