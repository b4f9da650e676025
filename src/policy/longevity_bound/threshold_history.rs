//! The values that a threshold had which follows the budget, cycle by cycle.
//!
//! A page's period depends on the thresholds of its visits. They are no facts of the page, so they are kept as the policy's memory of
//! the collection: with them the memory of every page can be made again from its log.

use std::fmt;

/// A threshold has another value only when it has moved by this share: the text stays short.
const LEAST_MOVE: f64 = 0.02;

/// The thresholds of all cycles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ThresholdHistory {
    /// Before the first step.
    first: f64,
    /// Each with the cycle that it is in force from, in order.
    steps: Vec<(i64, f64)>,
    /// Where it has moved to, and the cycle that moved it last.
    drifting: (i64, f64),
}

impl ThresholdHistory {
    pub(super) fn starting_at(first: f64) -> Self {
        Self { first, steps: Vec::new(), drifting: (i64::MIN, first) }
    }

    /// The threshold before any survey.
    pub(super) fn first(&self) -> f64 {
        self.first
    }

    /// The threshold of a cycle.
    pub(super) fn at(&self, cycle: i64) -> f64 {
        let after = self.steps.partition_point(|(from, _)| *from <= cycle);
        after.checked_sub(1).and_then(|place| self.steps.get(place)).map_or(self.first, |(_, value)| *value)
    }

    /// Moves the threshold before a cycle, unless this cycle, or a later one, has moved it already.
    pub(super) fn move_before(&mut self, cycle: i64, moved: impl FnOnce(f64) -> f64) {
        let (last, value) = self.drifting;
        if cycle <= last {
            return;
        }
        let value = rounded(moved(value));
        self.drifting = (cycle, value);
        let in_force = self.at(cycle);
        if (value / in_force).ln().abs() >= LEAST_MOVE {
            self.steps.push((cycle, value));
        }
    }

    /// Reads the text of [`fmt::Display`]; `None` if it can't have written it. Earlier releases kept the last value alone: it counts
    /// for all visits so far.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let first = value(words.next()?)?;
        let step = |word: &str| -> Option<(i64, f64)> {
            let (cycle, threshold) = word.split_once(':')?;
            Some((cycle.parse().ok()?, value(threshold)?))
        };
        let Some(drifting) = words.next() else { return Some(Self::starting_at(first)) };
        let steps = words.map(step).collect::<Option<Vec<_>>>()?;
        steps.is_sorted_by(|a, b| a.0 < b.0).then_some(Self { first, steps, drifting: step(drifting)? })
    }
}

/// The first value, the last move, and the steps: `0.25 14:0.203 12:0.21 14:0.203`.
impl fmt::Display for ThresholdHistory {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{} {}:{}", self.first, self.drifting.0, self.drifting.1)?;
        self.steps.iter().try_for_each(|(cycle, value)| write!(text, " {cycle}:{value}"))
    }
}

fn value(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
}

/// To five digits, within bounds that no period reaches.
fn rounded(value: f64) -> f64 {
    let value = if value.is_nan() { 1.0 } else { value.clamp(1e-9, 1e9) };
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_has_the_threshold_of_the_last_step_before_it() {
        let mut history = ThresholdHistory::starting_at(0.25);
        history.move_before(3, |value| value * 2.0);
        history.move_before(4, |value| value * 1.01);
        history.move_before(5, |value| value * 1.02);
        history.move_before(5, |value| value * 9.0);
        history.move_before(2, |value| value * 9.0);
        let thresholds = [0, 2, 3, 4, 5, 99].map(|cycle| history.at(cycle));
        assert_eq!(thresholds, [0.25, 0.25, 0.5, 0.5, 0.5151, 0.5151], "small moves add up");
        assert_eq!(history.to_string(), "0.25 5:0.5151 3:0.5 5:0.5151");
        assert_eq!(ThresholdHistory::from_text(&history.to_string()), Some(history));
    }

    #[test]
    fn a_lone_number_is_the_memory_of_an_earlier_release() {
        assert_eq!(ThresholdHistory::from_text("0.125"), Some(ThresholdHistory::starting_at(0.125)));
        for odd in ["", "soon", "-1", "NaN", "0.25 x", "0.25 3:0.5 4:0.5 4:0.6", "0.25 3:0.5 5:0.5 4:0.6"] {
            assert_eq!(ThresholdHistory::from_text(odd), None, "{odd}");
        }
    }
}
