//! The rhythm of a day: a copy that is taken before quiet hours stays right for longer.
//!
//! With a budget for each cycle this changes nothing: all pages share the hour, so their order stays the same. Where the cycles of
//! a day share a budget, a visit may come sooner or later within the day, and [`HourFactors`] say when.

use crate::time::{Age, Timestamp};

/// Hours of a day.
pub(crate) const HOURS: usize = 24;
const DAY: f64 = 24.0;
const HOUR_MS: i64 = 3_600_000;
/// No wait makes more of what moves in it than this many times.
const MOST: f64 = 20.0;
/// Pages that waited longer have the factor of a wait with the same hour in the last of these days.
const DAYS: usize = 8;

/// A number for each hour of the day, UTC; 1 on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DayRhythm([f64; HOURS]);

impl Default for DayRhythm {
    fn default() -> Self {
        Self([1.0; HOURS])
    }
}

impl DayRhythm {
    /// These numbers, divided by their mean. If they have none above 0, the day is even.
    pub(crate) fn of(hours: [f64; HOURS]) -> Self {
        let mean = hours.iter().sum::<f64>() / DAY;
        if mean > 0.0 && mean.is_finite() { Self(hours.map(|hour| hour / mean)) } else { Self::default() }
    }

    /// The number of an hour.
    pub(crate) fn at(&self, hour: usize) -> f64 {
        self.0.get(hour % HOURS).copied().unwrap_or(1.0)
    }

    pub(crate) fn hours(&self) -> &[f64; HOURS] {
        &self.0
    }

    /// The integral over the hours from midnight on, and the integral of that.
    fn integrals(&self, hours: f64) -> (f64, f64) {
        let over = |mut left: f64| {
            let (mut once, mut twice) = (0.0, 0.0);
            for rate in self.0 {
                let step = left.clamp(0.0, 1.0);
                twice += once * step + rate * step * step / 2.0;
                once += rate * step;
                left -= step;
            }
            (once, twice)
        };
        let days = (hours / DAY).floor();
        let rest = hours - DAY * days;
        let ((once, twice), (_, day)) = (over(rest), over(DAY));
        (DAY * days + once, twice + DAY * days * rest + days * day + DAY * DAY * days * (days - 1.0) / 2.0)
    }
}

/// The hour of the day at a moment, with its fraction.
pub(crate) fn hour_of_day(at: Timestamp) -> f64 {
    at.millis().rem_euclid(HOUR_MS * HOURS as i64) as f64 / HOUR_MS as f64
}

/// What the hour of a plan does to the gain of a visit, by how long the page has waited.
///
/// Let τ be the time since the last visit, each hour counted by its rate s, and S(φ) what moves in the day after a visit at φ, averaged
/// over the day, beyond that of an even day. A page is visited in an even day when its wait t reaches some L. With a rhythm, its
/// best time to be visited is now if for no w up to a day ∫τ over the next w costs less than what waiting for w saves, L·(w − S(φ + w) + S(φ)).
/// So it stands where a page stands in an even day that has waited for
///
///   t' = the least, over w, of (the mean of τ over the next w) / (1 + (S(φ) − S(φ + w))/w).
///
/// Gains grow as t² ("maths" of the longevity utility for slow pages: U ≈ s t²/2), which gives the factor (t'/t)². (Ours; no paper has it.)
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HourFactors(Vec<f64>);

impl HourFactors {
    /// At a plan, if the next one comes a cycle later. Cycles of more than half a day have no choice of hours.
    pub(crate) fn at(rhythm: &DayRhythm, now: Timestamp, cycle: Age) -> Self {
        let step = cycle.days() * DAY;
        if !(step > 0.0 && step <= DAY / 2.0) {
            return Self::default();
        }
        let step = step.max(0.25);
        let now = hour_of_day(now) + DAY * (DAYS + 1) as f64;
        let after = |hour: f64| {
            let ((moved, from), (_, to)) = (rhythm.integrals(hour), rhythm.integrals(hour + DAY));
            (to - from) / DAY - moved - DAY / 2.0
        };
        let (own, (_, so_far)) = (after(now), rhythm.integrals(now));
        // By wait: the mean of what moves until its end, and by how much it pays to wait.
        let waits: Vec<(f64, f64)> = (1..=(DAY / step + 1e-9) as usize)
            .map(|steps| {
                let wait = steps as f64 * step;
                let moved = (rhythm.integrals(now + wait).1 - so_far) / wait;
                (moved, (1.0 + (own - after(now + wait)) / wait).max(1.0 / MOST))
            })
            .collect();
        let factor = |waited: usize| {
            let waited = waited as f64;
            let (seen, _) = rhythm.integrals(now - waited);
            let stands =
                waits.iter().map(|(moved, pays)| (moved - seen) / pays).fold(f64::INFINITY, f64::min);
            (stands.max(0.0) / (waited + step / 2.0)).powi(2)
        };
        Self((0..=HOURS * DAYS).map(factor).collect())
    }

    /// The factor for a page that has waited this long; 1 without a rhythm.
    pub(crate) fn of(&self, waited: Age) -> f64 {
        let longest = (HOURS * DAYS) as f64;
        let hours = (waited.days() * DAY).round().max(0.0);
        let hours = if hours > longest { longest - DAY + hours % DAY } else { hours };
        self.0.get(hours as usize).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(hour: u64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 / 86_400 * 86_400 + 3600 * hour as i64)
    }

    fn hours(hours: f64) -> Age {
        Age::from_days(hours / DAY)
    }

    /// Quiet from 20:00 to 6:00.
    fn office() -> DayRhythm {
        DayRhythm::of(std::array::from_fn(|hour| if (6..20).contains(&hour) { 1.0 } else { 0.2 }))
    }

    #[test]
    fn integrals_are_those_of_the_steps() {
        let rhythm = office();
        for hour in [0.0, 3.5, 20.0, 24.0, 47.25, 200.0] {
            let steps = 20_000;
            let width = hour / f64::from(steps);
            let (mut once, mut twice) = (0.0, 0.0);
            for step in 0..steps {
                let rate = rhythm.at(((f64::from(step) + 0.5) * width) as usize);
                twice += (once + rate * width / 2.0) * width;
                once += rate * width;
            }
            let found = rhythm.integrals(hour);
            assert!(
                (found.0 - once).abs() < 0.02 && (found.1 - twice).abs() < 0.02 * hour.max(1.0),
                "{hour}"
            );
        }
    }

    #[test]
    fn the_hour_before_the_quiet_ones_is_the_best() {
        for waited in [12.0, 24.0, 60.0, 24.0 * 20.0] {
            let factor = |hour: u64| HourFactors::at(&office(), at(hour), hours(1.0)).of(hours(waited));
            let best = (0..24).max_by(|a, b| factor(*a).total_cmp(&factor(*b)));
            assert_eq!(best, Some(20), "after {waited} hours");
            assert!(
                factor(20) > 1.0 && factor(8) < 0.95,
                "after {waited} hours: {} {}",
                factor(20),
                factor(8)
            );
        }
    }

    #[test]
    fn long_cycles_leave_no_choice() {
        assert_eq!(HourFactors::at(&office(), at(3), hours(24.0)).of(hours(50.0)), 1.0);
        assert_eq!(HourFactors::at(&office(), at(3), hours(0.0)).of(hours(50.0)), 1.0);
    }

    proptest! {
        #[test]
        fn an_even_day_changes_nothing(hour in 0u64..24, cycle in 0.3..12.0f64, waited in 0.0..1000.0f64) {
            let factor = HourFactors::at(&DayRhythm::default(), at(hour), hours(cycle)).of(hours(waited));
            prop_assert!((factor - 1.0).abs() < 1e-6, "{}", factor);
        }

        #[test]
        fn factors_are_numbers(
            rates in prop::array::uniform24(0.0..1e9f64), hour in 0u64..24, cycle in 0.0..30.0f64, waited in 0.0..1e6f64
        ) {
            let factor = HourFactors::at(&DayRhythm::of(rates), at(hour), hours(cycle)).of(hours(waited));
            prop_assert!(factor.is_finite() && factor >= 0.0, "{}", factor);
        }
    }
}
