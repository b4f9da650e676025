//! The memory of `longevity-curve`: the current change profiles of a page, and the curve that is fitted to them.

use crate::change::profile::Profiles;
use crate::longevity::curve::Curve;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{SAME_GAP, Sample, combined};
use crate::policy::{Lesson, followed_profiles};
use crate::varint::{push, push_float32, take_byte, take_float32, take_small};

/// The fewest measurements that show a curve.
pub(crate) const POINTS_TO_SEE_A_CURVE: f64 = 3.0;
/// Profiles of one point that are kept where visits are compared with the copy alone: as many as the paper keeps profiles.
const MOST_OF_COPIES: usize = 5;

/// The current change profiles, and the curve that fits the union of their points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitted {
    profiles: Profiles,
    /// The curve that fits them. While they have too few points, the curve that fitted those before.
    pub curve: Curve,
    /// The points that the curve was fitted to.
    points: u32,
}

impl Default for Fitted {
    fn default() -> Self {
        Self { profiles: Profiles::default(), curve: Curve::Static, points: 0 }
    }
}

impl Fitted {
    /// Adds the measurements of a visit: each profile that is still kept has a point more, and those that are not are gone. Then a
    /// curve is fitted to the union of all points (Olston & Pandey 2008, §4.2). Without base versions the copy serves as one.
    pub(crate) fn add(&mut self, lesson: &Lesson, _days: f64) {
        followed_profiles::follow(&mut self.profiles, lesson, MOST_OF_COPIES);
        let samples = self.samples();
        let points = samples.iter().map(|sample| sample.weight).sum::<f64>();
        // A profile that starts again has too few points for a while, and with one profile there is no other.
        if points >= POINTS_TO_SEE_A_CURVE || self.points() < POINTS_TO_SEE_A_CURVE {
            self.curve = as_read_back(Fit::of(&samples).map_or(Curve::Static, |fit| fit.worth()));
            self.points = points as u32;
        }
    }

    /// The number of measurements that the curve was fitted to.
    pub(crate) fn points(&self) -> f64 {
        f64::from(self.points)
    }

    /// The union of the points of all profiles, moved so that each base is at age 0; equal ages are averaged.
    pub(super) fn samples(&self) -> Vec<Sample> {
        let points = self.profiles.iter().flat_map(followed_profiles::points);
        let samples = points.filter(|(days, _)| *days > 0.0).map(|(days, apart)| Sample::new(days, apart));
        combined(samples, SAME_GAP)
    }

    /// Appends the bytes of the memory; what a score needs comes first.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_curve(bytes, self.curve);
        push(bytes, u64::from(self.points));
        bytes.extend(self.profiles.to_bytes());
    }

    /// Reads what [`Self::push_bytes`] wrote, up to the end.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (curve, points) = (take_curve(rest)?, take_small(rest)?);
        let profiles = Profiles::from_bytes(std::mem::take(rest))?;
        Some(Self { profiles, curve, points })
    }

    /// Reads the curve and the number of measurements, which are all that a score needs.
    pub(super) fn take_curve_and_points(rest: &mut &[u8]) -> Option<(Curve, f64)> {
        Some((take_curve(rest)?, f64::from(take_small(rest)?)))
    }
}

/// Appends a curve: nine bytes.
pub(crate) fn push_curve(bytes: &mut Vec<u8>, curve: Curve) {
    let (height, rate, items) = match curve {
        Curve::Static => (0.0, 0.0, 0),
        Curve::Churn { height, rate } => (height, rate, 1),
        Curve::Scroll { height, rate, items } => (height, rate, items as u8),
    };
    bytes.push(items);
    [height, rate].iter().for_each(|number| push_float32(bytes, *number));
}

/// Reads what [`push_curve`] wrote.
pub(crate) fn take_curve(rest: &mut &[u8]) -> Option<Curve> {
    let items = take_byte(rest)?;
    let (height, rate) = (take_float32(rest)?, take_float32(rest)?);
    Some(if items == 0 { Curve::Static } else { Curve::scroll(height, rate, u32::from(items)) })
}

/// The curve with its numbers rounded to four bytes, as it will be read back.
pub(crate) fn as_read_back(curve: Curve) -> Curve {
    let rounded = |number: f64| f64::from(number as f32);
    match curve {
        Curve::Static => Curve::Static,
        Curve::Churn { height, rate } => Curve::churn(rounded(height), rounded(rate)),
        Curve::Scroll { height, rate, items } => Curve::scroll(rounded(height), rounded(rate), items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Apart;
    use crate::time::{Age, Timestamp};

    /// A visit on this day that found the page this far from its versions of earlier days.
    fn visit(fitted: &mut Fitted, day: i64, bases: &[(i64, f64)]) {
        let apart = |(base, apart): &(i64, f64)| Apart {
            age: Age::from_days((day - base) as f64),
            divergence: *apart,
        };
        let bases = bases.iter().map(apart).collect();
        let at = Timestamp::from_seconds(86_400 * day);
        fitted.add(&Lesson { bases, ..Lesson::of_bit(at, Age::from_days(1.0), true) }, 1.0);
    }

    /// Divergence of a page half of whose rest goes each day.
    fn halves(days: i64) -> f64 {
        1.0 - 0.5_f64.powi(days as i32)
    }

    #[test]
    fn the_curve_is_fitted_to_the_union_of_the_current_profiles() {
        let mut fitted = Fitted::default();
        visit(&mut fitted, 1, &[(0, 0.5)]);
        visit(&mut fitted, 2, &[(0, 0.75), (1, 0.7)]);
        // Two points at one day, 0.5 and 0.7, and one at two days.
        let shown: Vec<_> = fitted
            .samples()
            .iter()
            .map(|sample| (sample.days, (sample.divergence * 100.0).round(), sample.weight))
            .collect();
        assert_eq!(shown, [(1.0, 60.0, 2.0), (2.0, 75.0, 1.0)]);
        assert_eq!(fitted.points(), 3.0);
    }

    #[test]
    fn old_profiles_are_forgotten_with_their_base_versions() {
        let mut fitted = Fitted::default();
        // Five days of unrest, with three profiles; then nothing moves.
        for day in 1..=5 {
            let bases: Vec<_> = (0.max(day - 3)..day).map(|base| (base, halves(day - base))).collect();
            visit(&mut fitted, day, &bases);
        }
        assert!(fitted.curve.divergence(3.0) > 0.8, "{:?}", fitted.curve);
        for day in 6..=9 {
            let bases: Vec<_> =
                (day - 3..day).map(|base| (base, if base < 5 { halves(5 - base) } else { 0.0 })).collect();
            visit(&mut fitted, day, &bases);
        }
        assert_eq!(fitted.curve, Curve::Static, "no base is older than day 5");
    }

    #[test]
    fn a_single_profile_that_starts_again_leaves_the_curve_until_it_shows_one() {
        let mut fitted = Fitted::default();
        (1..=5).for_each(|day| visit(&mut fitted, day, &[(0, halves(day))]));
        let curve = fitted.curve;
        visit(&mut fitted, 6, &[(5, 0.0)]);
        visit(&mut fitted, 7, &[(5, 0.0)]);
        assert_eq!((fitted.curve, fitted.points()), (curve, 5.0));
        visit(&mut fitted, 8, &[(5, 0.0)]);
        assert_eq!((fitted.curve, fitted.points()), (Curve::Static, 3.0));
    }
}
