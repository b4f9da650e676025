//! Samples: a page's divergence by age, gathered from all its change profiles.
//!
//! Each profile is moved so that its base is at age 0, all profiles are united, and divergences at equal ages are averaged
//! (Olston & Pandey 2008, §4.2; where the paper subtracts the base version, the base time is meant). The number of averaged
//! measurements is kept as a weight.

/// Gaps that differ by less than this share count as equal: visits of a cycle are not punctual to the second.
pub const SAME_GAP: f64 = 0.01;

/// The divergence of a page from one of its versions, `days` later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The age of the version, in days.
    pub days: f64,
    /// The divergence from it.
    pub divergence: f64,
    /// The number of measurements that this is the mean of.
    pub weight: f64,
}

impl Sample {
    /// One measurement.
    pub const fn new(days: f64, divergence: f64) -> Self {
        Self { days, divergence, weight: 1.0 }
    }
}

/// Samples in order of age, those of equal age averaged. Ages are equal if they differ by at most the share `same_gap` of the
/// least of them ([`SAME_GAP`]; 0 for ages that count cycles). Unusable samples are left out: a negative or infinite age, a
/// divergence that is not a number, a weight that is not positive. Divergences are clamped to [0, 1].
pub fn combined(samples: impl IntoIterator<Item = Sample>, same_gap: f64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = samples
        .into_iter()
        .filter(|sample| sample.days >= 0.0 && sample.days.is_finite())
        .filter(|sample| sample.weight > 0.0 && sample.weight.is_finite() && !sample.divergence.is_nan())
        .map(|sample| Sample { divergence: sample.divergence.clamp(0.0, 1.0), ..sample })
        .collect();
    samples.sort_by(|a, b| a.days.total_cmp(&b.days));
    let mut combined: Vec<Sample> = Vec::with_capacity(samples.len());
    let mut first = f64::NAN;
    for sample in samples {
        match combined.last_mut() {
            Some(mean) if sample.days <= first * (1.0 + same_gap) => mean.take_in(sample),
            _ => {
                first = sample.days;
                combined.push(sample);
            }
        }
    }
    combined
}

/// Adds a sample to those kept of a page, which are in order of age. A sample of the same age is averaged with it. Beyond `most`
/// samples, the two that are nearest in age, as a ratio, are merged. All numbers are rounded to four bytes.
pub fn keep(samples: &mut Vec<Sample>, sample: Sample, most: usize) {
    let is_sound = sample.days > 0.0 && sample.days.is_finite() && !sample.divergence.is_nan();
    if !is_sound {
        return;
    }
    let mut sample = Sample { divergence: sample.divergence.clamp(0.0, 1.0), ..sample };
    sample.shorten();
    let at = samples.partition_point(|kept| kept.days * (1.0 + SAME_GAP) < sample.days);
    match samples.get_mut(at).filter(|kept| kept.days <= sample.days * (1.0 + SAME_GAP)) {
        Some(kept) => {
            kept.take_in(sample);
            kept.shorten();
        }
        None => samples.insert(at, sample),
    }
    while samples.len() > most.max(1) {
        let ratio = |pair: &[Sample]| match pair {
            [one, next] => next.days / one.days,
            _ => f64::INFINITY,
        };
        let nearest = samples.windows(2).enumerate().min_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b)));
        let Some((place, _)) = nearest else { return };
        let next = samples.remove(place + 1);
        if let Some(kept) = samples.get_mut(place) {
            kept.take_in(next);
            kept.shorten();
        }
    }
}

impl Sample {
    /// Rounds the numbers as they will be read back.
    fn shorten(&mut self) {
        for number in [&mut self.days, &mut self.divergence, &mut self.weight] {
            *number = f64::from(*number as f32);
        }
    }

    fn take_in(&mut self, other: Sample) {
        self.weight += other.weight;
        let share = other.weight / self.weight;
        // Equal ages must stay equal to the last digit.
        if other.days != self.days {
            self.days += share * (other.days - self.days);
        }
        self.divergence += share * (other.divergence - self.divergence);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_of_an_age_are_averaged_and_the_nearest_become_one() {
        let mut kept = Vec::new();
        for (days, divergence) in [(1.0, 0.2), (2.0, 0.4), (1.001, 0.4), (8.0, 0.8), (2.5, 0.6)] {
            keep(&mut kept, Sample::new(days, divergence), 3);
        }
        let shown: Vec<_> =
            kept.iter().map(|kept| (kept.days as f32, kept.divergence as f32, kept.weight)).collect();
        assert_eq!(shown, [(1.0005, 0.3, 2.0), (2.25, 0.5, 2.0), (8.0, 0.8, 1.0)]);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_in_order_and_sound(
            samples in prop::collection::vec((any::<f64>(), any::<f64>()), 0..60), most in 1usize..14
        ) {
            let mut kept: Vec<Sample> = Vec::new();
            for (days, divergence) in samples {
                keep(&mut kept, Sample::new(days, divergence), most);
                prop_assert!(kept.len() <= most);
                prop_assert!(kept.windows(2).all(|pair| pair[0].days <= pair[1].days));
                prop_assert!(kept.iter().all(|kept| (0.0..=1.0).contains(&kept.divergence) && kept.weight >= 1.0));
            }
        }
    }

    use crate::estimate::tests::{golden, number, numbers};

    #[test]
    fn profiles_are_put_together_as_in_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/curve_fits.json"));
        let tolerance = number(&golden["tolerance"]["combine_absolute"]);
        for case in golden["combine"].as_array().expect("cases") {
            let mut samples = Vec::new();
            for profile in case["profiles"].as_array().expect("profiles") {
                let points: Vec<Vec<f64>> = profile.as_array().expect("points").iter().map(numbers).collect();
                samples.extend(points.iter().map(|point| Sample::new(point[0] - points[0][0], point[1])));
            }
            let combined = combined(samples, 0.0);
            let expected: Vec<Vec<f64>> =
                case["combined"].as_array().expect("points").iter().map(numbers).collect();
            assert_eq!(combined.len(), expected.len());
            for (sample, expected) in combined.iter().zip(&expected) {
                assert_eq!((sample.days, sample.weight), (expected[0], expected[2]));
                assert!((sample.divergence - expected[1]).abs() <= tolerance, "{sample:?} {expected:?}");
            }
        }
    }

    #[test]
    fn nearly_equal_gaps_are_one_and_what_cannot_be_is_left_out() {
        let odd = [(f64::NAN, 0.5), (-1.0, 0.5), (f64::INFINITY, 0.5), (1.0, f64::NAN)];
        let seen = [(1.0, 0.2), (2.0, 7.0), (1.008, 0.4), (2.0, -7.0)];
        let samples = odd.iter().chain(&seen).map(|(days, divergence)| Sample::new(*days, *divergence));
        let means = combined(samples, SAME_GAP);
        assert_eq!(means.len(), 2);
        assert!((means[0].days - 1.004).abs() < 1e-12 && (means[0].divergence - 0.3).abs() < 1e-12);
        assert_eq!(means[1], Sample { days: 2.0, divergence: 0.5, weight: 2.0 });
    }
}
