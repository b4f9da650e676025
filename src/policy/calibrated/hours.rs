//! Hours of the day: how much faster than on average pages move in each of them.
//!
//! What visits found and what was expected of them is kept by the hour of the visit before and the hours since. Visits after the
//! same time are compared with one another only: a page that moves less in its second day than in its first says nothing of hours.
//! Rates are found by expectation and maximisation, as in the clocks of folders: a finding is shared out over the hours of its interval by their rates.

use std::collections::BTreeMap;

use crate::longevity::rhythm::{DayRhythm, HOURS, hour_of_day};
use crate::time::Timestamp;
use crate::varint::{push, push_float, take, take_float};

/// Each hour starts with as much evidence of an even day as this many typical changes.
const EVEN_CHANGES: f64 = 10.0;
/// Longer intervals tell little of hours.
const MOST_HOURS: u32 = 2 * HOURS as u32;
/// Steps of expectation and maximisation: further ones change the rates by less than a hundredth.
const STEPS: usize = 30;
/// With more visits than this, what is known is halved, so that a rhythm may change.
const MOST_VISITS: f64 = 100_000.0;

/// What was found, and expected, after intervals of one length that began in one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HourCell {
    found: f64,
    expected: f64,
}

/// The findings of all visits, by length of the interval in hours and the hour in which it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HourFindings {
    cells: BTreeMap<(u32, u32), HourCell>,
    visits: f64,
}

impl HourFindings {
    /// Adds a visit: what it found of a page, and what was expected, since the visit before.
    pub(super) fn add(&mut self, since: Timestamp, at: Timestamp, found: f64, expected: f64) {
        let length = (at.since(since).days() * HOURS as f64).round().max(1.0);
        if length > f64::from(MOST_HOURS) || expected <= 0.0 {
            return;
        }
        let from = hour_of_day(since).round() as u32 % HOURS as u32;
        let cell = self.cells.entry((length as u32, from)).or_default();
        cell.found += found;
        cell.expected += expected;
        self.visits += 1.0;
        if self.visits > MOST_VISITS {
            self.visits /= 2.0;
            for cell in self.cells.values_mut() {
                cell.found /= 2.0;
                cell.expected /= 2.0;
            }
        }
    }

    /// How much faster than on average pages move in each hour.
    pub(super) fn rhythm(&self, jump: f64) -> DayRhythm {
        let mut rhythm = DayRhythm::default();
        for _ in 0..STEPS {
            rhythm = self.next_step(&rhythm, EVEN_CHANGES * jump);
        }
        rhythm
    }

    fn next_step(&self, rhythm: &DayRhythm, even: f64) -> DayRhythm {
        let (mut found, mut expected) = ([even; HOURS], [even; HOURS]);
        let mut cells = self.cells.iter().peekable();
        while let Some(length) = cells.peek().map(|((length, _), _)| *length) {
            let alike: Vec<(u32, HourCell, f64)> =
                std::iter::from_fn(|| cells.next_if(|((other, _), _)| *other == length))
                    .map(|((_, from), cell)| {
                        (*from, *cell, hours_of(*from, length).map(|hour| rhythm.at(hour)).sum())
                    })
                    .collect();
            let all_found: f64 = alike.iter().map(|(_, cell, _)| cell.found).sum();
            let all_expected: f64 = alike.iter().map(|(_, cell, moved)| cell.expected * moved).sum();
            if !(all_found > 0.0 && all_expected > 0.0) {
                continue;
            }
            let level = all_found / all_expected;
            for (from, cell, moved) in alike {
                for hour in hours_of(from, length) {
                    if let (Some(found), Some(expected)) = (found.get_mut(hour), expected.get_mut(hour)) {
                        *found += cell.found * rhythm.at(hour) / moved;
                        *expected += level * cell.expected;
                    }
                }
            }
        }
        let mut rates = [1.0; HOURS];
        for (rate, (found, expected)) in rates.iter_mut().zip(found.iter().zip(&expected)) {
            *rate = found / expected;
        }
        DayRhythm::of(rates)
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_float(bytes, self.visits);
        push(bytes, self.cells.len() as u64);
        for ((length, from), cell) in &self.cells {
            [*length, *from].iter().for_each(|number| push(bytes, u64::from(*number)));
            [cell.found, cell.expected].iter().for_each(|number| push_float(bytes, *number));
        }
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let float = |rest: &mut &[u8]| take_float(rest).filter(|number| number.is_finite() && *number >= 0.0);
        let visits = float(rest)?;
        let count = take(rest)?;
        let mut cells = BTreeMap::new();
        for _ in 0..count {
            let length =
                u32::try_from(take(rest)?).ok().filter(|length| (1..=MOST_HOURS).contains(length))?;
            let from = u32::try_from(take(rest)?).ok().filter(|from| *from < HOURS as u32)?;
            cells.insert((length, from), HourCell { found: float(rest)?, expected: float(rest)? });
        }
        Some(Self { cells, visits })
    }
}

/// The hours of the day of an interval, each as often as it lies in it.
fn hours_of(from: u32, length: u32) -> impl Iterator<Item = usize> {
    (from..from + length).map(|hour| hour as usize % HOURS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Quiet from 20:00 to 6:00.
    fn moves(hour: u64) -> f64 {
        if (6..20).contains(&(hour % 24)) { 1.0 } else { 0.1 }
    }

    fn at(hour: u64) -> Timestamp {
        Timestamp::from_seconds(3600 * hour as i64)
    }

    /// A page that is visited every `step` hours and moves by `rate` an hour.
    fn watched(step: u64, visits: u64, rate: impl Fn(u64) -> f64) -> HourFindings {
        let mut findings = HourFindings::default();
        for visit in 1..=visits {
            let (from, to) = (step * (visit - 1), step * visit);
            let found = (from..to).map(&rate).sum::<f64>() / 100.0;
            findings.add(at(from), at(to), found, step as f64 / 100.0);
        }
        findings
    }

    #[test]
    fn quiet_nights_are_found_also_by_long_intervals() {
        for step in [1, 5, 7, 11] {
            let rhythm = watched(step, 3000, moves).rhythm(0.01);
            let (night, day) = (rhythm.at(1), rhythm.at(12));
            assert!(night < 0.5 && day > 1.3, "every {step} hours: {night} by night, {day} by day");
        }
    }

    #[test]
    fn an_even_web_has_even_hours() {
        let rhythm = watched(7, 3000, |_| 1.0).rhythm(0.01);
        assert!(rhythm.hours().iter().all(|rate| (rate - 1.0).abs() < 1e-9), "{rhythm:?}");
        assert_eq!(HourFindings::default().rhythm(0.01), DayRhythm::default());
    }

    #[test]
    fn visits_at_one_hour_of_the_day_say_nothing_of_hours() {
        let rhythm = watched(24, 3000, moves).rhythm(0.01);
        assert!(rhythm.hours().iter().all(|rate| (rate - 1.0).abs() < 1e-9), "{rhythm:?}");
    }

    #[test]
    fn a_new_rhythm_takes_the_place_of_the_old_one() {
        let mut findings = watched(1, 2 * MOST_VISITS as u64, moves);
        assert!(findings.visits <= MOST_VISITS);
        for visit in 0..2 * MOST_VISITS as u64 {
            findings.add(at(visit), at(visit + 1), 1.1 - moves(visit), 1.0);
        }
        let rhythm = findings.rhythm(0.01);
        assert!(rhythm.at(1) > rhythm.at(12), "{rhythm:?}");
    }

    proptest! {
        #[test]
        fn rates_are_numbers_and_bytes_are_read_back(
            visits in prop::collection::vec((0i64..300_000_000, 0i64..300_000_000, 0.0..10.0f64, 0.0..10.0f64), 0..60),
            jump in 1e-6..1.0f64
        ) {
            let mut findings = HourFindings::default();
            for (since, at, found, expected) in visits {
                findings.add(Timestamp::from_millis(since), Timestamp::from_millis(at), found, expected);
            }
            let rhythm = findings.rhythm(jump);
            prop_assert!(rhythm.hours().iter().all(|rate| rate.is_finite() && *rate >= 0.0));
            prop_assert!((rhythm.hours().iter().sum::<f64>() - HOURS as f64).abs() < 1e-6);
            let mut bytes = Vec::new();
            findings.push_bytes(&mut bytes);
            let mut rest = &*bytes;
            prop_assert_eq!(HourFindings::take_bytes(&mut rest), Some(findings));
            prop_assert!(rest.is_empty());
            for end in 0..bytes.len() {
                HourFindings::take_bytes(&mut bytes.get(..end).unwrap_or_default());
            }
        }
    }
}
