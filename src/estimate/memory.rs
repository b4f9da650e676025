//! The bytes of an estimator's state, as a store keeps them.

use super::censored::{VisitHistory, VisitRun};
use super::gamma::Gamma;
use super::{EstimatorState, Memory};
use crate::varint::{push, push_float, push_float32, take, take_float, take_float32, take_small};

impl EstimatorState {
    /// Are counts all there is, and would four bytes hold the sum of all intervals?
    pub(crate) fn is_short(&self) -> bool {
        self.memory == Memory::Nothing && f64::from(self.watched_days as f32) == self.watched_days
    }

    /// Appends the bytes of the state.
    pub fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push(bytes, u64::from(self.visits));
        push(bytes, u64::from(self.changes));
        push_float(bytes, self.watched_days);
        let (kind, numbers): (u8, &[f64]) = match &self.memory {
            Memory::Nothing => (0, &[]),
            Memory::Share(share) => (1, &[*share]),
            Memory::Rate(rate) => (2, &[*rate]),
            Memory::Gamma(Gamma { shape, days }) => (3, &[*shape, *days]),
            Memory::History(history) => return push_history(bytes, history),
            Memory::Count { events, days } => (5, &[*events, *days]),
        };
        bytes.push(kind);
        numbers.iter().for_each(|number| push_float(bytes, *number));
    }

    /// Appends the bytes of a state that [is short](Self::is_short): five less.
    pub(crate) fn push_short_bytes(&self, bytes: &mut Vec<u8>) {
        push(bytes, u64::from(self.visits));
        push(bytes, u64::from(self.changes));
        push_float32(bytes, self.watched_days);
    }

    /// Reads what [`Self::push_short_bytes`] wrote.
    pub(crate) fn take_short_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (visits, changes) = (take_small(rest)?, take_small(rest)?);
        let watched_days = take_float32(rest).filter(|days| (0.0..=MOST).contains(days))?;
        Some(Self { visits, changes, watched_days, memory: Memory::Nothing })
    }

    /// Reads what [`Self::push_bytes`] wrote from the start of `rest`; `None` if it can't be read, or if no visits lead to
    /// such a state.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (visits, changes) = (take_small(rest)?, take_small(rest)?);
        let watched_days = take_number(rest)?;
        let (&kind, more) = rest.split_first()?;
        *rest = more;
        let mut float = || take_number(rest);
        let memory = match kind {
            0 => Memory::Nothing,
            1 => Memory::Share(float()?),
            2 => Memory::Rate(float()?),
            3 => Memory::Gamma(Gamma { shape: float()?, days: float()? }),
            4 => Memory::History(Box::new(take_history(rest)?)),
            5 => Memory::Count { events: float()?, days: float()? },
            // Earlier versions kept two numbers of an interval rule here. A store's memories of that version are made again.
            6 => {
                float()?;
                float()?;
                Memory::Nothing
            }
            _ => return None,
        };
        Some(Self { visits, changes, watched_days, memory })
    }
}

/// The largest number that a state may hold. Counts, days and rates of visits stay below it: the longest interval is
/// taken for 10¹² days, and there are at most 4 · 10⁹ visits.
const MOST: f64 = 1e22;

/// A number as visits lead to it: not negative, and not beyond all bounds.
fn take_number(rest: &mut &[u8]) -> Option<f64> {
    take_float(rest).filter(|number| (0.0..=MOST).contains(number))
}

fn push_history(bytes: &mut Vec<u8>, history: &VisitHistory) {
    bytes.push(4);
    let VisitHistory { changed, events, quiet_days, shortest_days, last_rate, keep } = history;
    push(bytes, *keep as u64);
    push(bytes, u64::from(*events));
    [quiet_days, shortest_days, last_rate].iter().for_each(|number| push_float(bytes, **number));
    push(bytes, changed.len() as u64);
    for VisitRun { days, count } in changed {
        push_float(bytes, *days);
        push(bytes, u64::from(*count));
    }
}

fn take_history(rest: &mut &[u8]) -> Option<VisitHistory> {
    let (keep, events) = (usize::try_from(take(rest)?).ok()?, take_small(rest)?);
    let quiet_days = take_number(rest)?;
    // The largest number there is stands for "no interval yet".
    let shortest_days = take_float(rest).filter(|days| *days == f64::MAX || (0.0..=MOST).contains(days))?;
    let last_rate = take_number(rest)?;
    let runs = take(rest)?;
    let mut changed = Vec::new();
    for _ in 0..runs {
        changed.push(VisitRun { days: take_number(rest)?, count: take_small(rest)? });
    }
    Some(VisitHistory { changed, events, quiet_days, shortest_days, last_rate, keep })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Seen;
    use crate::estimate::registry::{EstimatorSettings, all};
    use crate::time::Age;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_learnt_survives_being_stored(
            visits in proptest::collection::vec((1e-6..1e3_f64, 0u8..4), 0..40)
        ) {
            for estimator in all(&EstimatorSettings::default()) {
                let mut state = EstimatorState::default();
                for (days, kind) in &visits {
                    let seen = match kind {
                        0 => Seen::Unchanged,
                        1 => Seen::Changed,
                        2 => Seen::ChangedAgo(Age::from_days(days / 2.0)),
                        _ => Seen::Counted(3),
                    };
                    estimator.observe(&mut state, Age::from_days(*days), seen);
                }
                let mut bytes = Vec::new();
                state.push_bytes(&mut bytes);
                let mut rest = &bytes[..];
                prop_assert_eq!(EstimatorState::take_bytes(&mut rest), Some(state), "{}", estimator.name());
                prop_assert!(rest.is_empty());
            }
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = EstimatorState::take_bytes(&mut &bytes[..]);
        }
    }
}
