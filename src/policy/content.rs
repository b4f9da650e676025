//! What is remembered of how far a page moved, for policies that go by it.

use super::traces::Traces;
use super::{Apart, Lesson};
use crate::longevity::curve::Curve;
use crate::longevity::drift::Drift;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{Sample, keep};
use crate::time::Age;

/// A memory of the policy's own; one that another policy left is taken for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Nothing,
    Replaced(Replaced),
    Fitted(Box<Fitted>),
    Pinned(Box<Pinned>),
    Traced(Box<Traces>),
}

impl Content {
    /// Appends its compact form: nothing for nothing.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Replaced(replaced) => {
                bytes.push(1);
                replaced.push_bytes(bytes);
            }
            Self::Fitted(fitted) => {
                bytes.push(2);
                fitted.push_bytes(bytes);
            }
            Self::Pinned(pinned) => {
                bytes.push(3);
                pinned.push_bytes(bytes);
            }
            Self::Traced(traces) => {
                bytes.push(4);
                traces.push_bytes(bytes);
            }
        }
    }

    /// Undoes [`Self::push_bytes`]; `None` if that is not what wrote it.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let Some((kind, more)) = rest.split_first() else { return Some(Self::Nothing) };
        *rest = more;
        match kind {
            1 => Replaced::take_bytes(rest).map(Self::Replaced),
            2 => Fitted::take_bytes(rest).map(|fitted| Self::Fitted(Box::new(fitted))),
            3 => Pinned::take_bytes(rest).map(|pinned| Self::Pinned(Box::new(pinned))),
            4 => Traces::take_bytes(rest).map(|traces| Self::Traced(Box::new(traces))),
            _ => None,
        }
    }
}

/// How much of a page was replaced in how long a time, and what its last visits saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replaced {
    /// Divergences of visits from what was held, summed: whole pages.
    pub pages: f64,
    /// Days in which it could have been replaced and was not yet.
    pub days: f64,
    /// Whether it is still the page that these sums are of.
    drift: Drift,
    recent: [Recent; Replaced::RECENT],
    /// Of these, how many there were.
    visits: u8,
    /// How far the last visit found it to be from the oldest version that is kept, and how old that was, in days.
    pub oldest: (f32, f32),
}

/// What a visit saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recent {
    /// The divergence from what was held.
    pub found: f32,
    /// Since the visit before.
    pub days: f32,
    /// Of these days, what it added to [`Replaced::days`], in steps.
    share: u8,
}

impl Recent {
    /// What it added to [`Replaced::days`].
    pub fn lived(&self) -> f64 {
        f64::from(self.days) * f64::from(self.share) / LIVED_STEPS
    }
}

const LIVED_STEPS: f64 = u8::MAX as f64;
/// Divergences are kept in so many steps.
const FOUND_STEPS: f64 = u16::MAX as f64;

/// To the nearest step, 0 to 1.
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

/// What a page that was hardly watched is taken for: so much of it replaced in so many times the time of its next visit.
const UNKNOWN: (f64, f64) = (0.05, 0.5);

impl Replaced {
    /// Visits that are remembered one by one.
    pub const RECENT: usize = 4;

    /// Takes in a visit that found this divergence after so many days. All numbers are as they will be read back.
    ///
    /// What is replaced when is not known, only that it was before the visit. A fragment that was has been there for
    /// 1/s − t/(e^(st) − 1) days in the mean, if fragments go at a rate of s; one that was not, for all t (the
    /// expectation step for exponential lifetimes that are censored). The rate is the page's own, this visit included,
    /// so what is remembered depends on nothing but the page's visits.
    pub fn add(&mut self, divergence: f64, days: f64) {
        let (found, short_days) = (in_steps(divergence), days.clamp(0.0, 1e12) as f32);
        let (divergence, days) = (f64::from(found), f64::from(short_days));
        let known = (self.pages + UNKNOWN.0) / (self.days + days * UNKNOWN.1);
        let shift = self.drift.observe(divergence, -(-known * days).exp_m1());
        let rate = (self.pages + divergence + UNKNOWN.0) / (self.days + days * (1.0 + UNKNOWN.1));
        let lived = (1.0 - divergence) * days + divergence * lifetime_within(rate, days);
        let share = if days > 0.0 { (lived / days * LIVED_STEPS).round() as u8 } else { 0 };
        let visit = Recent { found, days: short_days, share };
        self.pages = short(self.pages + divergence);
        self.days = short(self.days + visit.lived());
        if usize::from(self.visits) == Self::RECENT {
            self.recent.rotate_left(1);
        } else {
            self.visits += 1;
        }
        if let Some(last) = self.recent.get_mut(usize::from(self.visits) - 1) {
            *last = visit;
        }
        if shift.is_some() {
            self.forget();
        }
    }

    /// A page that has begun or stopped to change is what its last visits saw.
    fn forget(&mut self) {
        let sum = |of: fn(&Recent) -> f64| short(self.recent().iter().map(of).sum());
        (self.pages, self.days) = (sum(|visit| f64::from(visit.found)), sum(Recent::lived));
    }

    /// Takes note of how far a visit found the page to be from the oldest of these.
    pub fn compare_with_oldest(&mut self, bases: &[Apart]) {
        let is_sound = |apart: &&Apart| apart.age.days().is_finite() && !apart.divergence.is_nan();
        let oldest = bases.iter().filter(is_sound).max_by(|a, b| a.age.days().total_cmp(&b.age.days()));
        self.oldest = oldest.map_or((0.0, 0.0), |apart| {
            (in_steps(apart.divergence), apart.age.days().clamp(0.0, 1e12) as f32)
        });
    }

    /// The last visits, the newest last.
    pub fn recent(&self) -> &[Recent] {
        self.recent.get(..usize::from(self.visits)).unwrap_or(&[])
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        [self.pages, self.days].iter().for_each(|number| push_short(bytes, *number));
        self.drift.push_bytes(bytes);
        push_steps(bytes, self.oldest.0);
        push_short(bytes, f64::from(self.oldest.1));
        bytes.push(self.visits);
        for Recent { found, days, share } in self.recent() {
            push_steps(bytes, *found);
            push_short(bytes, f64::from(*days));
            bytes.push(*share);
        }
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (pages, days) = (take_short(rest)?, take_short(rest)?);
        let mut replaced = Self { pages, days, drift: Drift::take_bytes(rest)?, ..Self::default() };
        replaced.oldest = (take_steps(rest)?, take_short(rest)? as f32);
        replaced.visits = take_byte(rest).filter(|visits| usize::from(*visits) <= Self::RECENT)?;
        for place in replaced.recent.get_mut(..usize::from(replaced.visits))? {
            *place =
                Recent { found: take_steps(rest)?, days: take_short(rest)? as f32, share: take_byte(rest)? };
        }
        Some(replaced)
    }
}

/// The mean lifetime of what goes at this rate, if it is known to have gone within so many days: 1/s − t/(e^(st) − 1).
fn lifetime_within(rate: f64, days: f64) -> f64 {
    let lives = rate * days;
    // The difference of two large numbers, where the time is short: by its series.
    if lives < 1e-3 { days * (0.5 - lives / 12.0) } else { 1.0 / rate - days / lives.min(600.0).exp_m1() }
}

/// How far a page was from versions of each age, and the curve that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// In order of age.
    pub samples: Vec<Sample>,
    pub curve: Curve,
    /// Whether it is still what the page does.
    pub drift: Drift,
}

/// Fewer points don't show a curve.
pub const POINTS_TO_SEE_A_CURVE: f64 = 3.0;
/// Ages that are kept of a page: the paper's profiles have that many points.
const MOST_AGES: usize = 12;

impl Default for Fitted {
    fn default() -> Self {
        Self { samples: Vec::new(), curve: Curve::Static, drift: Drift::default() }
    }
}

impl Fitted {
    /// Takes in what a visit measured, after so many days. Where there were no base versions, what was held is one. A page
    /// that has begun or stopped to change is learnt anew from here.
    pub fn add(&mut self, lesson: &Lesson, days: f64) {
        let is_known = self.points() >= POINTS_TO_SEE_A_CURVE;
        if is_known && self.drift.observe(lesson.moved(), self.curve.divergence(days)).is_some() {
            self.samples.clear();
            keep(&mut self.samples, Sample::new(days, lesson.moved()), MOST_AGES);
            self.curve = Curve::Static;
            return;
        }
        for apart in &lesson.bases {
            keep(&mut self.samples, Sample::new(apart.age.days(), apart.divergence), MOST_AGES);
        }
        if lesson.bases.is_empty() {
            keep(&mut self.samples, Sample::new(days, lesson.moved()), MOST_AGES);
        }
        self.curve = shortened(Fit::of(&self.samples).map_or(Curve::Static, |fit| fit.worth()));
    }

    /// Measurements that it goes by.
    pub fn points(&self) -> f64 {
        self.samples.iter().map(|sample| sample.weight).sum()
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        let (height, rate, items) = match self.curve {
            Curve::Static => (0.0, 0.0, 0),
            Curve::Churn { height, rate } => (height, rate, 1),
            Curve::Scroll { height, rate, items } => (height, rate, items as u8),
        };
        bytes.push(items);
        [height, rate].iter().for_each(|number| push_short(bytes, *number));
        self.drift.push_bytes(bytes);
        bytes.push(self.samples.len() as u8);
        for Sample { days, divergence, weight } in &self.samples {
            [days, divergence, weight].iter().for_each(|number| push_short(bytes, **number));
        }
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let items = take_byte(rest)?;
        let (height, rate) = (take_short(rest)?, take_short(rest)?);
        let curve = if items == 0 { Curve::Static } else { Curve::scroll(height, rate, u32::from(items)) };
        let drift = Drift::take_bytes(rest)?;
        let samples = (0..take_byte(rest)?).map(|_| {
            Some(Sample { days: take_short(rest)?, divergence: take_short(rest)?, weight: take_short(rest)? })
        });
        Some(Self { samples: samples.collect::<Option<_>>()?, curve, drift })
    }
}

/// How long a page is left alone, and the profiles that say so.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    /// Days from one visit to the next.
    pub period: f64,
    /// The pinned one first, then those that began later: days since the base, and the divergence from it.
    pub profiles: Vec<Vec<(f32, f32)>>,
}

impl Pinned {
    /// Takes in what a visit measured, after so many days, from the base versions that are not older than the pinned one. If
    /// that one is not kept any more, the oldest that is takes its place; where there were none, what was held is one.
    pub fn extend(&mut self, lesson: &Lesson, days: f64) {
        let held = [Apart { age: Age::from_days(days), divergence: lesson.moved() }];
        let bases = if lesson.bases.is_empty() { &held[..] } else { &lesson.bases[..] };
        let mut before = std::mem::take(&mut self.profiles);
        for apart in bases.iter().filter(|apart| !apart.divergence.is_nan()) {
            let age = apart.age.days();
            // Of the same base: as much older as the visit is later. Times are kept to the millisecond, ages to four bytes.
            let is_same = |then: f64| (then + days - age).abs() <= 1e-5 * age + 1e-7;
            let of =
                |profile: &Vec<(f32, f32)>| profile.last().is_some_and(|(then, _)| is_same(f64::from(*then)));
            let mut profile = match before.iter().position(of) {
                Some(place) => before.swap_remove(place),
                None if is_same(0.0) => Vec::new(),
                None => continue,
            };
            profile.push((age as f32, apart.divergence.clamp(0.0, 1.0) as f32));
            self.profiles.push(profile);
        }
    }

    fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_short(bytes, self.period);
        bytes.push(self.profiles.len() as u8);
        for profile in &self.profiles {
            bytes.push(profile.len() as u8);
            for (days, divergence) in profile {
                [days, divergence].iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            }
        }
    }

    fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let period = take_short(rest)?;
        let mut profiles = Vec::new();
        for _ in 0..take_byte(rest)? {
            let points =
                (0..take_byte(rest)?).map(|_| Some((take_short(rest)? as f32, take_short(rest)? as f32)));
            profiles.push(points.collect::<Option<Vec<_>>>()?);
        }
        Some(Self { period, profiles })
    }
}

/// To the precision of four bytes.
fn short(number: f64) -> f64 {
    f64::from(number as f32)
}

/// As it will be read back.
fn shortened(curve: Curve) -> Curve {
    match curve {
        Curve::Static => Curve::Static,
        Curve::Churn { height, rate } => Curve::churn(short(height), short(rate)),
        Curve::Scroll { height, rate, items } => Curve::scroll(short(height), short(rate), items),
    }
}

/// Four bytes, for numbers that were kept to that precision.
fn push_short(bytes: &mut Vec<u8>, number: f64) {
    bytes.extend_from_slice(&(number as f32).to_le_bytes());
}

fn take_short(rest: &mut &[u8]) -> Option<f64> {
    let (four, more) = rest.split_first_chunk::<4>()?;
    *rest = more;
    Some(f64::from(f32::from_le_bytes(*four))).filter(|number| !number.is_nan())
}

pub(super) fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, more) = rest.split_first()?;
    *rest = more;
    Some(*byte)
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
    fn a_page_that_begins_to_change_is_learnt_anew() {
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
