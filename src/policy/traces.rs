//! The memory of a formula: only what its terminals need.

use crate::estimate::Seen;
use crate::estimate::gamma::{Gamma, GammaPosterior};
use crate::estimate::weighted::VisitWeights;
use crate::longevity::curve::Curve;
use crate::varint::{push_float, take_byte, take_float};

use super::Lesson;
use super::age_buckets::AgeBuckets;
use super::expression::Terminal;
use super::longevity::Replaced;

/// The parts of the memory that a formula needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WantedTraces(u8);

const SHARES: u8 = 1;
const RATE: u8 = 2;
const MOVED: u8 = 4;
const REPLACED: u8 = 8;
const CURVE: u8 = 16;
const QUIET: u8 = 32;

impl WantedTraces {
    /// The parts that these terminals need.
    pub fn of(terminals: &[Terminal]) -> Self {
        let bit = |terminal: &Terminal| match terminal {
            Terminal::Sad | Terminal::Aad | Terminal::Gad => SHARES,
            Terminal::Gamma => RATE,
            Terminal::Divergence => MOVED,
            Terminal::Longevity => REPLACED,
            Terminal::Behaviour => CURVE,
            Terminal::Quiet => QUIET,
            _ => 0,
        };
        Self(terminals.iter().map(bit).fold(0, |all, bit| all | bit))
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Are counts enough?
    pub(crate) fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Do divergences matter?
    pub fn divergence(self) -> bool {
        self.has(MOVED | REPLACED | CURVE)
    }

    /// The version of the memory, with one bit for each part.
    pub fn memory_version(self) -> String {
        format!("formula/2 {:x}", self.0)
    }
}

/// The memory itself. Parts that are not needed stay at their start values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// Weighted shares of visits that found a change, by [`WEIGHTS`].
    shares: [f64; 3],
    rate: Option<Gamma>,
    /// The sum of divergences from visit to visit.
    moved: f64,
    /// Days from the last visit that found a change to the last visit.
    quiet_days: f64,
    replaced: Option<Box<Replaced>>,
    curve: Option<Box<AgeBuckets>>,
}

const WEIGHTS: [VisitWeights; 3] = [VisitWeights::Last, VisitWeights::Linear, VisitWeights::Doubling];
/// Prior of a fragment's lifetime: a twentieth of the page was replaced in half a day.
const HARDLY_WATCHED: (f64, f64) = (0.05, 0.5);

impl Traces {
    /// Adds a visit, the page's `visits`-th, that came `days` after the one before.
    ///
    /// Divergence is measured from the visit before. Older versions don't matter, so the memory follows from gaps and divergences
    /// alone.
    pub fn add(&mut self, wanted: WantedTraces, visits: u32, days: f64, lesson: &Lesson, seen: Seen) {
        if wanted.has(SHARES) {
            for (share, weights) in self.shares.iter_mut().zip(WEIGHTS) {
                *share = weights.with(*share, visits, seen.changed());
            }
        }
        if wanted.has(RATE) {
            self.rate = Some(self.belief().after(days, seen));
        }
        if wanted.has(MOVED) {
            self.moved += lesson.moved();
        }
        if wanted.has(QUIET) {
            self.quiet_days = if seen.changed() { 0.0 } else { self.quiet_days + days };
        }
        if wanted.has(REPLACED) {
            self.replaced.get_or_insert_default().add(lesson.moved(), days);
        }
        if wanted.has(CURVE) {
            let since_last = Lesson { bases: Vec::new(), ..lesson.clone() };
            self.curve.get_or_insert_default().add(&since_last, days);
        }
    }

    /// The share for these weights. (NAD needs no memory; this has the other three.)
    pub fn share(&self, weights: VisitWeights) -> f64 {
        let place = WEIGHTS.iter().position(|other| *other == weights);
        place.and_then(|place| self.shares.get(place)).copied().unwrap_or(0.0)
    }

    fn belief(&self) -> Gamma {
        self.rate.unwrap_or(GammaPosterior::default().prior)
    }

    /// Changes a day.
    pub fn rate(&self) -> f64 {
        self.belief().mean()
    }

    /// The sum of divergences from visit to visit.
    pub fn moved(&self) -> f64 {
        self.moved
    }

    /// Days from the last visit that found a change to the last visit.
    pub(crate) fn quiet_days(&self) -> f64 {
        self.quiet_days
    }

    /// The mean lifetime of a fragment, in days.
    pub(crate) fn lifetime_days(&self) -> f64 {
        let (pages, days) =
            self.replaced.as_ref().map_or((0.0, 0.0), |replaced| (replaced.pages, replaced.days));
        (days + HARDLY_WATCHED.1) / (pages + HARDLY_WATCHED.0)
    }

    /// 0 for a static page, 1 for churn, 2 for scroll.
    pub fn behaviour(&self) -> f64 {
        match self.curve.as_ref().map(|fitted| fitted.curve) {
            None | Some(Curve::Static) => 0.0,
            Some(Curve::Churn { .. }) => 1.0,
            Some(Curve::Scroll { .. }) => 2.0,
        }
    }

    /// Appends the bytes of the memory.
    pub fn push_bytes(&self, bytes: &mut Vec<u8>) {
        self.shares.iter().for_each(|share| push_float(bytes, *share));
        [self.moved, self.quiet_days].iter().for_each(|number| push_float(bytes, *number));
        let has = [self.rate.is_some(), self.replaced.is_some(), self.curve.is_some()];
        bytes.push(has.iter().fold(0, |flags, has| flags << 1 | u8::from(*has)));
        if let Some(Gamma { shape, days }) = self.rate {
            [shape, days].iter().for_each(|number| push_float(bytes, *number));
        }
        if let Some(replaced) = &self.replaced {
            replaced.push_bytes(bytes);
        }
        if let Some(curve) = &self.curve {
            curve.push_bytes(bytes);
        }
    }

    /// Reads what [`Self::push_bytes`] wrote.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut float = || take_float(rest);
        let (shares, moved, quiet_days) = ([float()?, float()?, float()?], float()?, float()?);
        let flags = take_byte(rest)?;
        let mut traces = Self { shares, moved, quiet_days, ..Self::default() };
        if flags & 4 != 0 {
            traces.rate = Some(Gamma { shape: take_float(rest)?, days: take_float(rest)? });
        }
        if flags & 2 != 0 {
            traces.replaced = Some(Box::new(Replaced::take_bytes(rest)?));
        }
        if flags & 1 != 0 {
            traces.curve = Some(Box::new(AgeBuckets::take_bytes(rest)?));
        }
        Some(traces)
    }
}
