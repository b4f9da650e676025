//! Rates from changes that are counted one by one: the entries of a feed, the history of a sitemap.

use super::gamma::Gamma;
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::time::Age;

/// N / T: `events` in `days`, if none was missed. It is the most likely rate of a Poisson process; with a prior Gamma(a, b) the
/// posterior is Gamma(a + N, b + T).
pub fn rate(events: f64, days: f64) -> f64 {
    if events > 0.0 { events / days.max(super::SHORTEST_DAYS) } else { 0.0 }
}

/// The number of changes that are known one by one; 0 for an interval that only tells that there was a change.
pub fn events(seen: Seen) -> u32 {
    match seen {
        Seen::Unchanged | Seen::Changed => 0,
        Seen::ChangedAgo(_) => 1,
        Seen::Counted(events) => events,
    }
}

/// [`rate`] as an estimator. A visit that only tells that there was a change counts as one change; then the rate is a lower bound,
/// like [`super::censored::Naive`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted;

impl Counted {
    fn sums(state: &EstimatorState) -> (f64, f64) {
        match state.memory {
            Memory::Count { events, days } => (events, days),
            _ => (0.0, 0.0),
        }
    }
}

impl Estimator for Counted {
    fn name(&self) -> &'static str {
        "count"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let interval = state.count(interval, seen);
        let (events, days) = Self::sums(state);
        let more = match seen {
            Seen::Changed => 1,
            _ => self::events(seen),
        };
        state.memory = Memory::Count { events: events + f64::from(more), days: days + interval };
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let (events, days) = Self::sums(state);
        if days <= 0.0 {
            return Estimate::of_nothing(0.0);
        }
        // Jeffreys' prior for a Poisson rate: half an event in no time.
        let (low, high) = Gamma { shape: events + 0.5, days }.bounds();
        Estimate::new(rate(events, days), low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_changes_over_all_time() {
        assert_eq!((rate(6.0, 4.0), rate(0.0, 0.0)), (1.5, 0.0));
        assert!(rate(1.0, 0.0).is_finite());
        assert_eq!(events(Seen::Counted(7)) + events(Seen::ChangedAgo(Age::default())), 8);
        let posterior = Gamma { shape: 2.0, days: 3.0 }.after(4.0, Seen::Counted(6));
        assert_eq!((posterior.shape, posterior.days), (8.0, 7.0));
    }

    #[test]
    fn counts_are_believed_and_bare_changes_count_once() {
        let mut state = EstimatorState::default();
        for seen in [Seen::Counted(5), Seen::Unchanged, Seen::Changed] {
            Counted.observe(&mut state, Age::from_days(2.0), seen);
        }
        let estimate = Counted.as_published(&state);
        assert_eq!(estimate.rate.get(), 1.0);
        assert!(estimate.low.get() > 0.3 && estimate.high.get() < 2.5, "{estimate:?}");
    }
}
