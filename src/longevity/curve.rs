//! A divergence curve: the expected divergence of a page from its copy, at any age of the copy.
//!
//! The parametric forms of the two behaviours of Olston & Pandey 2008, §3.3. Text that churns is replaced at random moments, so
//! its divergence is A (1 − e^(−rt)). In a list of K items that scrolls, new items push out the oldest: A·G_K(rt), where
//! G_K(z) = E[min(N, K)] / K and N is Poisson with mean z. The paper gives no formula to fit. These are the expectations for
//! a small share of the page; `exact_divergence.rs` has the exact ones, which rise faster by 0.04 A if a fifth of the page
//! scrolls. K = 1 is churn; for many items the curve is a straight line up to A.
//!
//! What must stay true: divergence and utility are finite, never negative and never fall with age, except in the last digit.

use super::list_turnover;
use crate::numeric::gamma_function::{churn, inverse_churn};
use crate::numeric::root;

/// The expected divergence of a page from its copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Nothing ever changes.
    Static,
    /// A share of the page is replaced as a whole, `rate` times a day; divergence tends to `height`.
    Churn {
        /// The limit of divergence.
        height: f64,
        /// Replacements a day.
        rate: f64,
    },
    /// `rate` new items a day push out the oldest of `items`.
    Scroll {
        /// The limit of divergence.
        height: f64,
        /// New items a day.
        rate: f64,
        /// The length of the list.
        items: u32,
    },
}

impl Curve {
    /// A churn curve; the static one if height or rate is 0, negative or not a number.
    pub fn churn(height: f64, rate: f64) -> Self {
        Self::scroll(height, rate, 1)
    }

    /// A scroll curve, with `height` up to 1. A list of one item is churn. The static curve as for [`Curve::churn`].
    pub fn scroll(height: f64, rate: f64, items: u32) -> Self {
        if !(height > 0.0 && rate > 0.0 && rate.is_finite()) {
            return Curve::Static;
        }
        let height = height.min(1.0);
        if items <= 1 { Curve::Churn { height, rate } } else { Curve::Scroll { height, rate, items } }
    }

    /// D(t), in [0, 1]: the expected divergence of the page from a copy of this age.
    pub fn divergence(&self, days: f64) -> f64 {
        match *self {
            Curve::Static => 0.0,
            Curve::Churn { height, rate } => height * -(-turns(rate, days)).exp_m1(),
            Curve::Scroll { height, rate, items } => {
                height * list_turnover::replaced(items, turns(rate, days))
            }
        }
    }

    /// U(t) = t·D(t) − ∫₀ᵗ D = ∫₀ᵗ x dD(x): the utility of a refresh (Olston & Pandey 2008, §2.2, eq. 4), in divergence × days.
    /// The second form loses no digits for small t.
    ///
    /// Churn: (A/r) P(2, rt). Scroll: A/(rK) · (z²/2 · Q(K, z) + K(K + 1)/2 · P(K + 2, z)), z = rt.
    pub fn utility(&self, days: f64) -> f64 {
        match *self {
            Curve::Static => 0.0,
            Curve::Churn { height, rate } => height / rate * churn(turns(rate, days)),
            Curve::Scroll { height, rate, items } => {
                height / rate * list_turnover::utility(items, turns(rate, days))
            }
        }
    }

    /// The limit of utility, which it never exceeds: A/r, or A(K + 1)/(2r).
    pub fn supremum(&self) -> f64 {
        match *self {
            Curve::Static => 0.0,
            Curve::Churn { height, rate } => height / rate,
            Curve::Scroll { height, rate, items } => height / rate * list_turnover::most_utility(items),
        }
    }

    /// The limit of divergence, A.
    pub fn height(&self) -> f64 {
        match *self {
            Curve::Static => 0.0,
            Curve::Churn { height, .. } | Curve::Scroll { height, .. } => height,
        }
    }

    /// The least age, in days, at which utility reaches `threshold`; `None` if it never does.
    ///
    /// To refresh each page at that age, with one threshold for all, is the best use of a number of refreshes (Olston & Pandey
    /// 2008, §2.2).
    pub fn refresh_period(&self, threshold: f64) -> Option<f64> {
        if threshold <= 0.0 {
            return Some(0.0);
        }
        if threshold >= self.supremum() || threshold.is_nan() {
            return None;
        }
        let period = match *self {
            Curve::Static => return None,
            Curve::Churn { height, rate } => inverse_churn(threshold * rate / height) / rate,
            Curve::Scroll { height, rate, items } => {
                let worth = threshold * rate / height;
                // Utility is at most z²/(2K), which it nears for small z. So this start is below the root.
                let start = 0.5 * (2.0 * f64::from(items) * worth).ln() - 0.125;
                let rest = |log_z: f64| list_turnover::utility(items, log_z.exp()) - worth;
                root::of_rising(start, 0.25, rest).exp() / rate
            }
        };
        period.is_finite().then_some(period)
    }
}

/// rate · age, finite. A negative age, or one that is not a number, counts as 0.
fn turns(rate: f64, days: f64) -> f64 {
    (rate * days).clamp(0.0, f64::MAX).max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::estimate::tests::{close, golden, number};

    #[test]
    fn divergence_and_utility_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/divergence_curves.json"));
        let (relative, absolute) =
            (number(&golden["tolerance"]["relative"]), number(&golden["tolerance"]["absolute"]));
        for case in golden["parametric"].as_array().expect("cases") {
            let (height, rate) = (number(&case["A"]), number(&case["rate"]));
            let items = number(&case["K"]) as u32;
            let curves = [
                ("churn", Curve::churn(height, rate)),
                ("scroll", Curve::scroll(height, rate, items)),
                // A list of one item by the formulas of a list.
                ("scroll", Curve::Scroll { height, rate, items }),
            ];
            for (name, curve) in curves {
                let is = |value: f64, expected: f64| {
                    assert!(
                        close(value, expected, relative) || (value - expected).abs() <= absolute,
                        "{name} {case}: {value}, not {expected}"
                    );
                };
                is(curve.supremum(), number(&case[format!("sup_U_{name}")]));
                for point in case["points"].as_array().expect("points") {
                    let days = number(&point["t"]);
                    is(curve.divergence(days), number(&point[format!("D_{name}")]));
                    is(curve.utility(days), number(&point[format!("U_{name}")]));
                }
            }
        }
    }

    #[test]
    fn refresh_periods_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/u_roots.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let (height, rate) = (number(&case["A"]), number(&case["rate"]));
            let (items, threshold) = (number(&case["K"]) as u32, number(&case["T"]));
            for (name, curve) in
                [("churn", Curve::churn(height, rate)), ("scroll", Curve::scroll(height, rate, items))]
            {
                let near_supremum = threshold > 0.99999 * curve.supremum();
                let tolerance = if near_supremum { 1e-4 } else { tolerance };
                let period = curve.refresh_period(threshold);
                // The file's rule is that a supremum is never reached; one of its four such cases has a root in the
                // last digit.
                if threshold == curve.supremum() {
                    assert_eq!(period, None, "{name} {case}");
                    continue;
                }
                match (period, case[format!("phi_{name}")].as_f64()) {
                    (Some(period), Some(expected)) => {
                        assert!(close(period, expected, tolerance), "{name} {case}: {period}");
                    }
                    (period, expected) => assert_eq!(period, expected, "{name} {case}"),
                }
                let capped = period.unwrap_or(f64::INFINITY).min(number(&case["cap"]));
                assert!(
                    close(capped, number(&case[format!("phi_{name}_capped")]), tolerance),
                    "{name} {case}"
                );
            }
        }
        for case in golden["holistic"].as_array().expect("cases") {
            let utility = Curve::churn(1.0, number(&case["rate"])).utility(number(&case["t"]));
            assert!(close(utility, number(&case["U"]), tolerance), "{case}: {utility}");
        }
    }

    #[test]
    fn tiny_and_huge_ages_keep_their_digits() {
        for items in [1, 2, 5, 32, 64, 65, 1000] {
            let curve = Curve::Scroll { height: 0.5, rate: 2.0, items };
            let k = f64::from(items);
            // D ≈ A r t / K, U ≈ A r t² / (2K).
            for days in [1e-150, 1e-9, 1e-7] {
                assert!(close(curve.divergence(days), days / k, 1e-6), "{items} {days}");
                assert!(close(curve.utility(days), 0.5 * days * days / k, 1e-6), "{items} {days}");
            }
            for days in [1e5, 1e300, f64::INFINITY] {
                assert_eq!((curve.divergence(days), curve.utility(days)), (0.5, curve.supremum()), "{items}");
            }
            assert_eq!((curve.divergence(f64::NAN), curve.utility(-1.0)), (0.0, 0.0));
        }
    }

    #[test]
    fn what_cannot_be_a_curve_is_static() {
        for (height, rate) in [(0.0, 1.0), (0.5, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert_eq!(Curve::churn(height, rate), Curve::Static);
        }
        assert_eq!(Curve::scroll(2.0, 3.0, 1), Curve::Churn { height: 1.0, rate: 3.0 });
        assert_eq!(Curve::Static.refresh_period(0.1), None);
        assert_eq!(Curve::churn(0.5, 1.0).refresh_period(f64::NAN), None);
        assert_eq!(Curve::churn(0.5, 1.0).refresh_period(0.0), Some(0.0));
    }

    fn any_curve() -> impl Strategy<Value = Curve> {
        (0.0..1.0_f64, -6.0..6.0_f64, 1_u32..100)
            .prop_map(|(height, log_rate, items)| Curve::scroll(height, 10_f64.powf(log_rate), items))
    }

    proptest! {
        #[test]
        fn nothing_falls_with_age(curve in any_curve(), turns in -8.0..3.0_f64, longer in 1.0..3.0_f64) {
            let scale = if curve == Curve::Static { 1.0 } else { curve.supremum() / curve.height() };
            let (early, late) = (scale * 10_f64.powf(turns), scale * 10_f64.powf(turns) * longer);
            prop_assert!(curve.divergence(late) >= curve.divergence(early) * (1.0 - 1e-12));
            prop_assert!(curve.utility(late) >= curve.utility(early) * (1.0 - 1e-12));
            prop_assert!(curve.utility(late) <= curve.supremum() && curve.divergence(late) <= curve.height());
            // U ≤ t·D: the integral is not negative.
            prop_assert!(curve.utility(late) <= late * curve.divergence(late) * (1.0 + 1e-12));
        }

        #[test]
        fn a_period_is_where_utility_is_the_threshold(curve in any_curve(), share in 1e-9..0.999_f64) {
            let threshold = share * curve.supremum();
            if let Some(period) = curve.refresh_period(threshold) {
                prop_assert!(close(curve.utility(period), threshold, 1e-9), "{period}");
            } else {
                prop_assert_eq!(curve, Curve::Static);
            }
        }
    }
}
