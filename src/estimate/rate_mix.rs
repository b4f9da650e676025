//! The change rates of many pages in a few numbers, so that a view need not read a million pages.
//!
//! Comes in: what is believed of the rate of each page, a Gamma distribution ([`Gamma`]), with a weight. Goes out: the sum of
//! the weights of the pages that will not have changed after a time, Σ w (b/(b + t))^a. Pages whose mean rates differ by at most a
//! fifth, and whose shapes by at most a half, share a bin. A bin keeps the mean of their rates (so the first step away from t = 0
//! is exact) and the geometric mean of their shapes. The chance itself is [`Gamma::chance_of_change`], as everywhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::gamma::Gamma;

/// Bins to a factor e of the mean rate.
const RATE_STEPS: f64 = 5.0;
/// Bins to a factor e of the shape.
const SHAPE_STEPS: f64 = 2.5;
/// Rates and shapes beyond these bounds share the outermost bins: one change in 10¹² days, and 10¹² a day.
const BOUND: f64 = 1e12;

/// The change rates of many pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateMix {
    bins: BTreeMap<(i32, i32), MixedRates>,
}

/// Pages of one bin, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MixedRates {
    weight: f64,
    /// Σ weight · mean rate.
    rate: f64,
    /// Σ weight · ln shape.
    log_shape: f64,
}

/// A bin as it is written: the weight, and the distribution that stands for its pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeighedRate(f64, Gamma);

impl RateMix {
    /// Adds a page. One that has no weight, or of which nothing sensible is believed, adds nothing.
    pub fn add(&mut self, belief: Gamma, weight: f64) {
        let usable = |x: f64| x.is_finite() && x > 0.0;
        if !usable(weight) || !usable(belief.shape) || !usable(belief.days) {
            return;
        }
        let rate = belief.mean().clamp(1.0 / BOUND, BOUND);
        let log_shape = belief.shape.clamp(1.0 / BOUND, BOUND).ln();
        let bin = ((rate.ln() * RATE_STEPS).floor() as i32, (log_shape * SHAPE_STEPS).floor() as i32);
        let mixed = self.bins.entry(bin).or_default();
        mixed.weight += weight;
        mixed.rate += weight * rate;
        mixed.log_shape += weight * log_shape;
    }

    /// The sum of the weights.
    pub fn weight(&self) -> f64 {
        self.bins.values().map(|bin| bin.weight).sum()
    }

    /// The sum of the weights of the pages that are expected not to change within `days`: Σ w (b/(b + t))^a.
    pub fn unchanged_after(&self, days: f64) -> f64 {
        self.weight() - self.changed_after(days)
    }

    /// The sum of the weights of the pages that are expected to change within `days`.
    pub fn changed_after(&self, days: f64) -> f64 {
        let days = days.max(0.0);
        self.bins.values().map(|bin| bin.weight * bin.belief().chance_of_change(days)).sum()
    }

    /// The bins, for a store to keep.
    pub fn to_rows(&self) -> Vec<WeighedRate> {
        self.bins.values().map(|bin| WeighedRate(bin.weight, bin.belief())).collect()
    }

    /// What [`RateMix::to_rows`] gave.
    pub fn from_rows(rows: &[WeighedRate]) -> Self {
        let mut mix = Self::default();
        rows.iter().for_each(|WeighedRate(weight, belief)| mix.add(*belief, *weight));
        mix
    }
}

impl MixedRates {
    /// The distribution that stands for the pages of the bin.
    fn belief(&self) -> Gamma {
        let shape = (self.log_shape / self.weight).exp();
        Gamma { shape, days: shape * self.weight / self.rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pages() -> impl Strategy<Value = Vec<(Gamma, f64)>> {
        let page = (-5.0..5.0_f64, -9.0..4.0_f64, 0.0..=1.0_f64);
        let page = page.prop_map(|(shape, rate, weight)| {
            let shape = shape.exp();
            (Gamma { shape, days: shape / rate.exp() }, weight)
        });
        prop::collection::vec(page, 1..300)
    }

    fn mix(pages: &[(Gamma, f64)]) -> RateMix {
        let mut mix = RateMix::default();
        pages.iter().for_each(|(belief, weight)| mix.add(*belief, *weight));
        mix
    }

    #[test]
    fn a_single_page_is_kept_exactly() {
        let belief = Gamma { shape: 2.0, days: 8.0 };
        let mut mix = RateMix::default();
        mix.add(belief, 0.5);
        for days in [0.0_f64, 0.1, 8.0, 1000.0] {
            let kept: f64 = 8.0 / (8.0 + days);
            let direct = 0.5 * kept * kept;
            assert!((mix.unchanged_after(days) - direct).abs() < 1e-12, "{days}");
        }
    }

    #[test]
    fn a_million_pages_fit_in_a_few_kilobytes() {
        let mut mix = RateMix::default();
        for at in 0..100_000_u32 {
            let shape = 0.1 + f64::from(at % 97);
            mix.add(Gamma { shape, days: 1.0 + f64::from(at % 1009) }, 1.0);
        }
        let text = serde_json::to_string(&mix.to_rows()).expect("rows");
        assert!(text.len() < 60_000, "{}", text.len());
    }

    #[test]
    fn what_makes_no_sense_adds_nothing() {
        let mut mix = RateMix::default();
        for (shape, days, weight) in [
            (0.0, 1.0, 1.0),
            (f64::NAN, 1.0, 1.0),
            (1.0, f64::INFINITY, 1.0),
            (1.0, 1.0, 0.0),
            (1.0, 1.0, -1.0),
        ] {
            mix.add(Gamma { shape, days }, weight);
        }
        assert_eq!(mix, RateMix::default());
        assert_eq!((mix.weight(), mix.changed_after(1.0)), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn the_bins_agree_with_the_sum_over_the_pages(pages in pages(), log_days in -6.0..8.0_f64) {
            let days = log_days.exp();
            let direct: f64 =
                pages.iter().map(|(belief, weight)| weight * (1.0 - belief.chance_of_change(days))).sum();
            let all: f64 = pages.iter().map(|(_, weight)| weight).sum();
            let mix = mix(&pages);
            prop_assert!((mix.weight() - all).abs() <= 1e-9 * (1.0 + all));
            // Half a point of the share.
            let off = (mix.unchanged_after(days) - direct).abs();
            prop_assert!(off <= 0.005 * all + 1e-9, "{off} of {all} after {days} days");
            let again = RateMix::from_rows(&mix.to_rows());
            prop_assert!((again.unchanged_after(days) - mix.unchanged_after(days)).abs() <= 0.002 * all + 1e-9);
        }
    }
}
