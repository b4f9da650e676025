//! The memory of `longevity`: how fast the fragments of a page are replaced, learnt from divergences.

use crate::longevity::drift::Drift;
use crate::policy::Apart;
use crate::varint::{
    push, push_float32, push_short_float, short_float, take, take_byte, take_float32, take_short_float,
};

/// Pages replaced, and the days that this took: the start of the memory, and all that a score needs of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// See [`Replaced::pages`].
    pub pages: f64,
    /// See [`Replaced::days`].
    pub days: f64,
}

impl Sums {
    /// Reads the sums at the start of what [`Replaced::push_bytes`] wrote.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        Some(Self { pages: take(rest)? as f64 / FOUND_STEPS, days: take_float32(rest)? })
    }
}

/// How much of a page was replaced in which time, and what its last visits found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replaced {
    /// The sum of the divergences that visits found, in whole pages. It is a whole number of steps of 1/65535.
    pub pages: f64,
    /// The sum of the days that fragments lived under watch: the exposure that [`Self::pages`] is divided by.
    pub days: f64,
    /// A test whether the page still moves as these sums say.
    drift: Drift,
    /// As many are filled as the test for drift has seen visits.
    recent: [Recent; Replaced::RECENT],
    /// The divergence of the last visit from the oldest base version, and the age of that version in days, to 0.2 %.
    pub oldest: (f32, f32),
}

/// One of the last visits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Recent {
    /// The divergence from the copy.
    pub found: f32,
    /// Days since the visit before, to 0.2 %.
    pub days: f32,
    /// The share of these days that was added to [`Replaced::days`], in steps of 1/255.
    share: u8,
}

impl Recent {
    /// The days that it added to [`Replaced::days`].
    pub(crate) fn lived(&self) -> f64 {
        f64::from(self.days) * f64::from(self.share) / LIVED_STEPS
    }
}

const LIVED_STEPS: f64 = u8::MAX as f64;
/// Divergences are kept in this many steps, two bytes.
const FOUND_STEPS: f64 = u16::MAX as f64;

/// The sum of divergences, rounded to the nearest step.
fn sum_in_steps(pages: f64) -> f64 {
    (pages * FOUND_STEPS).round() / FOUND_STEPS
}

/// The divergence, rounded to the nearest step.
fn in_steps(divergence: f64) -> f32 {
    ((divergence.clamp(0.0, 1.0) * FOUND_STEPS).round() / FOUND_STEPS) as f32
}

fn push_steps(bytes: &mut Vec<u8>, divergence: f32) {
    bytes.extend_from_slice(&((f64::from(divergence) * FOUND_STEPS).round() as u16).to_le_bytes());
}

fn take_steps(rest: &mut &[u8]) -> Option<f32> {
    let (two, more) = rest.split_first_chunk::<2>()?;
    *rest = more;
    Some(in_steps(f64::from(u16::from_le_bytes(*two)) / FOUND_STEPS))
}

/// Prior for a page with few visits: a twentieth of it was replaced, in half the interval of the visit at hand.
const PRIOR_PAGES: f64 = 0.05;
const PRIOR_INTERVALS: f64 = 0.5;

impl Replaced {
    /// How many visits are remembered one by one.
    pub(crate) const RECENT: usize = 4;

    /// Adds a visit that found this divergence after `days`. All numbers are rounded as they will be read back.
    ///
    /// A visit does not tell when a fragment was replaced, only that it was. If fragments go at rate s, a fragment that went
    /// within t days had lived for 1/s − t/(e^(st) − 1) of them on average; a fragment that stayed lived for all t. (This is the
    /// expectation step for censored exponential lifetimes.) The rate is the page's own, this visit included, so the memory
    /// depends on the page's visits alone.
    pub fn add(&mut self, divergence: f64, days: f64) {
        let (found, days) = (in_steps(divergence), rounded(days.clamp(0.0, 1e12)));
        let divergence = f64::from(found);
        let known = (self.pages + PRIOR_PAGES) / (self.days + days * PRIOR_INTERVALS);
        let filled = self.recent().len();
        let shift = self.drift.observe(divergence, -(-known * days).exp_m1());
        if self.drift.visits() == 0 {
            // No time has passed at all: nothing can be told.
            return;
        }
        let rate = (self.pages + divergence + PRIOR_PAGES) / (self.days + days * (1.0 + PRIOR_INTERVALS));
        let lived = (1.0 - divergence) * days + divergence * lifetime_within(rate, days);
        let share = if days > 0.0 { (lived / days * LIVED_STEPS).round() as u8 } else { 0 };
        self.pages = sum_in_steps(self.pages + divergence);
        self.days = rounded(self.days + days * f64::from(share) / LIVED_STEPS);
        let visit = Recent { found, days: short_float(days) as f32, share };
        if filled == Self::RECENT {
            self.recent.rotate_left(1);
        }
        if let Some(last) = self.recent.get_mut(filled.min(Self::RECENT - 1)) {
            *last = visit;
        }
        if shift.is_some() {
            self.forget();
        }
    }

    /// Starts again from the last visits: the page has begun or stopped to change.
    fn forget(&mut self) {
        let sum = |of: fn(&Recent) -> f64| self.recent().iter().map(of).sum::<f64>();
        let (pages, days) = (sum(|visit| f64::from(visit.found)), sum(Recent::lived));
        (self.pages, self.days) = (sum_in_steps(pages), rounded(days));
    }

    /// Notes the divergence from the oldest of the base versions.
    pub(crate) fn compare_with_oldest(&mut self, bases: &[Apart]) {
        let is_sound = |apart: &&Apart| apart.age.days().is_finite() && !apart.divergence.is_nan();
        let oldest = bases.iter().filter(is_sound).max_by(|a, b| a.age.days().total_cmp(&b.age.days()));
        self.oldest = oldest.map_or((0.0, 0.0), |apart| {
            (in_steps(apart.divergence), short_float(apart.age.days().min(1e12)) as f32)
        });
    }

    /// The last visits, newest last.
    pub(crate) fn recent(&self) -> &[Recent] {
        self.recent.get(..usize::from(self.drift.visits())).unwrap_or(&self.recent)
    }

    /// Appends the bytes of the memory; the sums come first.
    pub fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push(bytes, (self.pages * FOUND_STEPS).round() as u64);
        push_float32(bytes, self.days);
        self.drift.push_bytes(bytes);
        push_steps(bytes, self.oldest.0);
        push_short_float(bytes, f64::from(self.oldest.1));
        for Recent { found, days, share } in self.recent() {
            push_steps(bytes, *found);
            push_short_float(bytes, f64::from(*days));
            bytes.push(*share);
        }
    }

    /// Reads what [`Self::push_bytes`] wrote.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let Sums { pages, days } = Sums::take_bytes(rest)?;
        let mut replaced = Self { pages, days, drift: Drift::take_bytes(rest)?, ..Self::default() };
        replaced.oldest = (take_steps(rest)?, take_short_float(rest)? as f32);
        let filled = replaced.recent().len();
        for place in replaced.recent.iter_mut().take(filled) {
            *place = Recent {
                found: take_steps(rest)?,
                days: take_short_float(rest)? as f32,
                share: take_byte(rest)?,
            };
        }
        Some(replaced)
    }
}

/// The mean lifetime of a fragment that is known to have gone within `days`, at this rate: 1/s − t/(e^(st) − 1).
fn lifetime_within(rate: f64, days: f64) -> f64 {
    let lives = rate * days;
    // For short times this is the difference of two large numbers; its series keeps the digits.
    if lives < 1e-3 { days * (0.5 - lives / 12.0) } else { 1.0 / rate - days / lives.min(600.0).exp_m1() }
}

/// The number, rounded to the precision of four bytes.
fn rounded(number: f64) -> f64 {
    f64::from(number as f32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_went_lived_for_half_of_a_short_time_and_for_its_mean_of_a_long_one() {
        assert!((lifetime_within(1e-6, 10.0) - 5.0).abs() < 1e-4);
        assert!((lifetime_within(1.0, 1e4) - 1.0).abs() < 1e-9);
        let (below, above) = (lifetime_within(0.999e-3, 1.0), lifetime_within(1.001e-3, 1.0));
        assert!((below - above).abs() < 1e-6, "the series meets the formula");
    }

    #[test]
    fn the_rate_of_a_page_that_churns_is_found_whatever_the_interval() {
        for days in [0.5, 3.0, 10.0] {
            let mut replaced = Replaced::default();
            let rate = 0.2_f64;
            (0..4000).for_each(|_| replaced.add(-(-rate * days).exp_m1(), days));
            let found = replaced.pages / replaced.days;
            assert!((found / rate - 1.0).abs() < 0.05, "{found} after {days} days");
        }
    }

    #[test]
    fn a_page_that_begins_to_change_is_learnt_again() {
        let mut replaced = Replaced::default();
        (0..40).for_each(|_| replaced.add(0.0, 1.0));
        assert_eq!((replaced.pages, replaced.days), (0.0, 40.0));
        (0..8).for_each(|_| replaced.add(0.6, 1.0));
        let rate = replaced.pages / replaced.days;
        assert!(rate > 0.5, "{rate}: forty quiet days are forgotten");
        (0..12).for_each(|_| replaced.add(0.0, 1.0));
        let rate = replaced.pages / replaced.days;
        assert!(rate < 0.05, "{rate}: and so is the unrest");
    }

    proptest! {
        #[test]
        fn sums_stay_numbers(visits in prop::collection::vec((any::<f64>(), 1e-9..1e12f64), 0..50)) {
            let mut replaced = Replaced::default();
            for (divergence, days) in visits {
                let divergence = if divergence.is_nan() { 1.0 } else { divergence };
                let before = replaced;
                replaced.add(divergence, days);
                prop_assert!(replaced.pages >= 0.0 && replaced.days >= 0.0 && replaced.recent().len() > before.recent().len().min(3));
                prop_assert!(replaced.pages.is_finite() && replaced.days.is_finite());
            }
        }
    }
}
