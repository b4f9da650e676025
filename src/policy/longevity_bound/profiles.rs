//! The memory of `longevity-bound`: the period of a page, and its change profiles.

use crate::policy::{Apart, Lesson};
use crate::time::Age;
use crate::varint::{push_float32, take_byte, take_float32};

/// The period of a page, and the change profiles that it follows from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pinned {
    /// Days from one visit to the next.
    pub period: f64,
    /// Change profiles as (days since the base version, divergence from it). The pinned profile is first, then those that began
    /// later.
    pub profiles: Vec<Vec<(f32, f32)>>,
}

impl Pinned {
    /// Adds the measurements of a visit that came `days` after the one before. Base versions older than the pinned one are left
    /// out. If the pinned one is not kept any more, the oldest that is takes its place. Without base versions the copy serves as
    /// one.
    pub(super) fn extend(&mut self, lesson: &Lesson, days: f64) {
        let held = [Apart { age: Age::from_days(days), divergence: lesson.moved() }];
        let bases = if lesson.bases.is_empty() { &held[..] } else { &lesson.bases[..] };
        let mut before = std::mem::take(&mut self.profiles);
        for apart in bases.iter().filter(|apart| !apart.divergence.is_nan()) {
            let age = apart.age.days();
            // The same base version is as much older as the visit is later. Times are exact to the millisecond, ages to four bytes.
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

    /// Appends the bytes of the memory; the period comes first.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_float32(bytes, self.period);
        bytes.push(self.profiles.len() as u8);
        for profile in &self.profiles {
            bytes.push(profile.len() as u8);
            for (days, divergence) in profile {
                [days, divergence].iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            }
        }
    }

    /// Reads what [`Self::push_bytes`] wrote.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let period = take_float32(rest)?;
        let mut profiles = Vec::new();
        for _ in 0..take_byte(rest)? {
            let points =
                (0..take_byte(rest)?).map(|_| Some((take_float32(rest)? as f32, take_float32(rest)? as f32)));
            profiles.push(points.collect::<Option<Vec<_>>>()?);
        }
        Some(Self { period, profiles })
    }
}
