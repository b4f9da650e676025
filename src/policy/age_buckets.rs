//! Divergences of all visits to a page, averaged in twelve ages, and the curve that fits them.
//!
//! Formulas use it for the behaviour of a page ([`super::traces`]). Old measurements stay until a test for drift says that the page has
//! begun or stopped to change. (The policy `longevity-curve` fits the current profiles only, as Olston & Pandey 2008, §4.1, do. With
//! these buckets in their place it was no better: `docs/results.md`.)

use super::Lesson;
use super::longevity_curve::{POINTS_TO_SEE_A_CURVE, as_read_back, push_curve, take_curve};
use crate::longevity::curve::Curve;
use crate::longevity::drift::Drift;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{Sample, keep};
use crate::varint::{push_float32, take_byte, take_float32};

/// The divergences that visits measured from versions of each age, and the curve that fits them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgeBuckets {
    /// The measurements, in order of age.
    pub samples: Vec<Sample>,
    /// The curve that fits them.
    pub curve: Curve,
    /// A test whether the page still moves as the curve says.
    pub drift: Drift,
}

/// How many ages are kept of a page: as many as the paper's profiles have points.
const MOST_AGES: usize = 12;

impl Default for AgeBuckets {
    fn default() -> Self {
        Self { samples: Vec::new(), curve: Curve::Static, drift: Drift::default() }
    }
}

impl AgeBuckets {
    /// Adds the measurements of a visit that came `days` after the one before. Without base versions the copy serves as one. If the
    /// page has begun or stopped to change, older measurements are dropped.
    pub(crate) fn add(&mut self, lesson: &Lesson, days: f64) {
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
        self.curve = as_read_back(Fit::of(&self.samples).map_or(Curve::Static, |fit| fit.worth()));
    }

    /// The number of measurements.
    pub(crate) fn points(&self) -> f64 {
        self.samples.iter().map(|sample| sample.weight).sum()
    }

    /// Appends the bytes of the memory.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_curve(bytes, self.curve);
        self.drift.push_bytes(bytes);
        bytes.push(self.samples.len() as u8);
        for Sample { days, divergence, weight } in &self.samples {
            [days, divergence, weight].iter().for_each(|number| push_float32(bytes, **number));
        }
    }

    /// Reads what [`Self::push_bytes`] wrote.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let curve = take_curve(rest)?;
        let drift = Drift::take_bytes(rest)?;
        let samples = (0..take_byte(rest)?).map(|_| {
            Some(Sample {
                days: take_float32(rest)?,
                divergence: take_float32(rest)?,
                weight: take_float32(rest)?,
            })
        });
        Some(Self { samples: samples.collect::<Option<_>>()?, curve, drift })
    }
}
