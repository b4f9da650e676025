//! The exact expected divergence of a page of which a share churns and a share scrolls. Tests compare simpler forms with it.
//!
//! The model of Olston & Pandey 2008, §3.3: a page of constant size; a share c is replaced as a whole at rate r; a share s is a
//! list of K equal items, which new items enter at another rate; the rest is static; all parts are independent. If the share d
//! of a page was replaced, the Jaccard distance is j(d) = 2d/(1 + d), because it counts old and new fragments.
//! [`super::curve::Curve`] is the simple form that is fitted.

use crate::numeric::gamma_function::{churn, lower};

/// A page of three parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MixedPage {
    /// The share of the page that churns, and how often a day.
    pub(super) churn: (f64, f64),
    /// The share that scrolls, and new items a day.
    pub(super) scroll: (f64, f64),
    /// How many items the list holds.
    pub(super) items: u32,
}

/// j(d) = 2d/(1 + d).
fn distance(replaced: f64) -> f64 {
    2.0 * replaced / (1.0 + replaced)
}

impl MixedPage {
    /// D(t) = Σ π_n (e^(−rt)·j(s·n/K) + (1 − e^(−rt))·j(c + s·n/K)), where π_n is the chance of n new items, and all
    /// from K on count as K.
    pub(super) fn divergence(&self, days: f64) -> f64 {
        let churned = self.churn_lifetime(days);
        let come = self.scroll.1 * days;
        let mut chance = (-come).exp();
        let mut sum = 0.0;
        for n in 0..=self.items {
            let chance_here = if n < self.items { chance } else { self.scroll_lifetime(days) };
            sum += chance_here * ((1.0 - churned) * self.without_churn(n) + churned * self.with_churn(n));
            chance *= come / f64::from(n + 1);
        }
        sum
    }

    /// U(t) = ∫₀ᵗ x dD(x), each term of which is positive, so that no digits are lost where t is small.
    ///
    /// With a_n = j(s·n/K), b_n = j(c + s·n/K), and r and ρ the rates of churn and scroll:
    /// Σ_{n<K} ρ ((b_{n+1} − b_n)·I_n(0) + (a_{n+1} − a_n − b_{n+1} + b_n)·I_n(r)) for items that come, and
    /// (b_K − a_K)·P(2, rt)/r + r Σ_{n<K} (b_n − a_n − b_K + a_K)·I_n(r) for what churns, where
    /// I_n(r) = ∫₀ᵗ x e^(−rx) π_n(x) dx = (n + 1) ρⁿ/(ρ + r)^(n+2) · P(n + 2, (ρ + r)t).
    pub(super) fn utility(&self, days: f64) -> f64 {
        let (rate, come) = (self.churn.1, self.scroll.1);
        let gap = |n: u32| self.with_churn(n) - self.without_churn(n);
        let mut utility = if rate > 0.0 { gap(self.items) * churn(rate * days) / rate } else { 0.0 };
        for n in 0..self.items {
            let rise = self.with_churn(n + 1) - self.with_churn(n);
            let extra = gap(n) - gap(n + 1);
            utility += come * rise * self.moment(n, 0.0, days);
            utility += (come * extra + rate * (gap(n) - gap(self.items))) * self.moment(n, rate, days);
        }
        utility
    }

    /// ∫₀ᵗ D = t·D(t) − U(t).
    pub(super) fn integral(&self, days: f64) -> f64 {
        days * self.divergence(days) - self.utility(days)
    }

    /// The chance that a fragment that churns is gone after so long: 1 − e^(−rt).
    pub(super) fn churn_lifetime(&self, days: f64) -> f64 {
        -(-self.churn.1 * days).exp_m1()
    }

    /// The chance that an item of the list is gone, if it just came: P(K, rt), an Erlang distribution.
    pub(super) fn scroll_lifetime(&self, days: f64) -> f64 {
        lower(f64::from(self.items), self.scroll.1 * days)
    }

    /// a_n: n items are new.
    fn without_churn(&self, n: u32) -> f64 {
        distance(self.scrolled(n))
    }

    /// b_n: n items are new, and what churns was replaced.
    fn with_churn(&self, n: u32) -> f64 {
        distance(self.churn.0 + self.scrolled(n))
    }

    fn scrolled(&self, n: u32) -> f64 {
        self.scroll.0 * f64::from(n) / f64::from(self.items.max(1))
    }

    /// I_n of [`MixedPage::utility`].
    fn moment(&self, n: u32, rate: f64, days: f64) -> f64 {
        let (come, n) = (self.scroll.1, f64::from(n));
        let both = come + rate;
        if both <= 0.0 {
            return if n == 0.0 { 0.5 * days * days } else { 0.0 };
        }
        (n + 1.0) * (come / both).powf(n) / (both * both) * lower(n + 2.0, both * days)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::estimate::tests::{close, golden, number};

    #[test]
    fn expected_divergence_is_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/divergence_curves.json"));
        let (relative, absolute) =
            (number(&golden["tolerance"]["relative"]), number(&golden["tolerance"]["absolute"]));
        for case in golden["cases"].as_array().expect("cases") {
            let of = |name: &str| number(&case[name]);
            let page = MixedPage {
                churn: (of("churn_fraction"), of("churn_rate")),
                scroll: (of("scroll_fraction"), of("scroll_rate")),
                items: of("K") as u32,
            };
            let is = |value: f64, expected: f64| {
                let is_close = close(value, expected, relative) || (value - expected).abs() <= absolute;
                assert!(is_close, "{page:?}: {value}, not {expected}");
            };
            for point in case["points"].as_array().expect("points") {
                let days = number(&point["t"]);
                is(page.divergence(days), number(&point["D"]));
                is(page.integral(days), number(&point["integral"]));
                is(page.utility(days), number(&point["U"]));
            }
            for point in case["lifetime_cdf"].as_array().expect("points") {
                let days = number(&point["t"]);
                is(page.churn_lifetime(days), number(&point["churn"]));
                is(page.scroll_lifetime(days), number(&point["scroll"]));
            }
        }
    }

    #[test]
    fn small_ages_keep_their_digits() {
        let page = MixedPage { churn: (0.3, 2.0), scroll: (0.2, 1.0), items: 10 };
        // D'(0): j(c)·r + j(s/K)·ρ; U ≈ D'(0)·t²/2.
        let slope = distance(0.3) * 2.0 + distance(0.02);
        for days in [1e-9, 1e-100] {
            assert!(close(page.divergence(days), slope * days, 1e-7));
            assert!(close(page.utility(days), 0.5 * slope * days * days, 1e-7));
        }
    }

    proptest! {
        #[test]
        fn nothing_falls_with_age_nor_exceeds_what_can_change(
            churn in (0.0..0.5_f64, 0.0..10.0_f64), scroll in (0.0..0.5_f64, 0.0..10.0_f64), items in 0_u32..40,
            days in 0.0..100.0_f64, longer in 0.0..10.0_f64,
        ) {
            let page = MixedPage { churn, scroll, items };
            let (early, late) = (page.divergence(days), page.divergence(days + longer));
            prop_assert!(early >= 0.0 && early <= late + 1e-12 && late <= distance(churn.0 + scroll.0) + 1e-12);
            let (early, late) = (page.utility(days), page.utility(days + longer));
            prop_assert!(early >= 0.0 && early <= late * (1.0 + 1e-9) + 1e-12);
            prop_assert!(page.integral(days) >= -1e-12);
        }
    }
}
