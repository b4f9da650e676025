//! How likely a searcher looks at a result, by its rank: I(r).
//!
//! I(r) = r^(−3/2), fitted to the logs of a search engine (Pandey & Olston 2005, §3, eq. 2); the exponent is a setting. The
//! constant of eq. 2 is 1: it cancels in the normalised quality, and changes no order of pages. What must stay true: I never rises
//! with the rank, because only then is the order by true score the best one (§3.1).

/// The exponent that the paper measured (§3, eq. 2).
const MEASURED_EXPONENT: f64 = 1.5;

/// Sums of at most this many terms are added term by term. Longer ones cost less by the closed form.
const MOST_TERMS_ADDED: u64 = 32;

/// The first terms of a long sum are added all the same: the closed form is worst there. After 8 of them its share of error is
/// below 0.001 for exponents up to 2.
const FIRST_TERMS_ADDED: u64 = 8;

/// The chance that a searcher looks at the result of a rank, I(r) = r^(−exponent), up to a constant factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    exponent: f64,
}

impl Default for Attention {
    fn default() -> Self {
        Self { exponent: MEASURED_EXPONENT }
    }
}

impl Attention {
    /// The exponents that are allowed: below 0 attention would rise with the rank, and above 100 every rank but the first has none.
    pub const EXPONENTS: std::ops::RangeInclusive<f64> = 0.0..=100.0;

    /// Attention that falls with this power of the rank; `None` for an exponent outside [`Attention::EXPONENTS`].
    pub fn new(exponent: f64) -> Option<Attention> {
        Self::EXPONENTS.contains(&exponent).then_some(Attention { exponent })
    }

    /// The power of the rank with which attention falls.
    pub fn exponent(self) -> f64 {
        self.exponent
    }

    /// I(r) of the result at a rank, of which the first is 1; rank 0 counts as 1. A page that is not among the results
    /// (`None`) is never looked at: I(∞) = 0 (§3).
    pub fn of(self, rank: Option<u64>) -> f64 {
        rank.map_or(0.0, |rank| self.at(rank))
    }

    /// I(r) of a rank; rank 0 counts as 1.
    pub fn at(self, rank: u64) -> f64 {
        let rank = rank.max(1) as f64;
        // The usual exponent, in a tenth of the time.
        if self.exponent == MEASURED_EXPONENT {
            1.0 / (rank * rank.sqrt())
        } else {
            rank.powf(-self.exponent)
        }
    }

    /// The attention that the ranks from `first` to `last` get together: Σ I(k). 0 if `last` is before `first`.
    ///
    /// Up to 32 terms are added one by one. Longer sums are the first 8 terms, and [`Attention::midpoint_sum`] for the rest: the
    /// definite integral that the paper puts in place of a long sum (§5.1.2).
    pub fn sum(self, first: u64, last: u64) -> f64 {
        let first = first.max(1);
        if last < first || last - first < MOST_TERMS_ADDED {
            return self.exact_sum(first, last);
        }
        let rest = first + FIRST_TERMS_ADDED;
        self.exact_sum(first, rest - 1) + self.midpoint_sum(rest, last)
    }

    /// Σ I(k) from `first` to `last`, term by term.
    pub fn exact_sum(self, first: u64, last: u64) -> f64 {
        (first.max(1)..=last).map(|rank| self.at(rank)).sum()
    }

    /// Σ I(k) from `first` to `last` by the midpoint rule: ∫ x^(−exponent) dx from first − 1/2 to last + 1/2.
    ///
    /// For the exponent 3/2 this is 2·(1/√(first − 1/2) − 1/√(last + 1/2)). The paper integrates from first − 1, which is infinite
    /// for the first rank. The midpoint rule is 12 % too high from rank 1 on, 2 % from rank 2 and 0.2 % from rank 5.
    pub fn midpoint_sum(self, first: u64, last: u64) -> f64 {
        let first = first.max(1);
        if last < first {
            return 0.0;
        }
        let (from, to) = (first as f64 - 0.5, last as f64 + 0.5);
        let power = 1.0 - self.exponent;
        if power.abs() < 1e-9 {
            return (to / from).ln();
        }
        (to.powf(power) - from.powf(power)) / power
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number};
    use proptest::prelude::*;

    #[test]
    fn partial_sums_are_the_golden_ones() {
        let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
        let relative = number(&golden["tolerance"]["relative"]);
        let attention = Attention::default();
        for case in golden["partial_sums"].as_array().expect("sums") {
            let (first, last) = (case["i"].as_u64().expect("rank"), case["j"].as_u64().expect("rank"));
            let (exact, midpoint) = (number(&case["exact"]), number(&case["midpoint"]));
            assert!(close(attention.exact_sum(first, last), exact, relative), "{case}");
            assert!(close(attention.midpoint_sum(first, last), midpoint, relative), "{case}");
            assert!(close(attention.sum(first, last), exact, 1e-3), "{case}");
        }
    }

    #[test]
    fn a_page_that_is_no_result_gets_no_attention() {
        let attention = Attention::default();
        assert_eq!(attention.of(None), 0.0);
        assert_eq!((attention.of(Some(1)), attention.of(Some(4))), (1.0, 0.125));
        assert_eq!(attention.sum(5, 4), 0.0);
        assert_eq!(attention.midpoint_sum(5, 4), 0.0);
    }

    #[test]
    fn exponents_that_would_turn_the_order_round_are_refused() {
        for exponent in [f64::NAN, -0.1, f64::INFINITY, 101.0] {
            assert_eq!(Attention::new(exponent), None);
        }
        assert_eq!(Attention::new(0.0).map(|attention| attention.at(7)), Some(1.0));
        assert_eq!(Attention::new(1.0).map(|attention| attention.at(4)), Some(0.25));
    }

    proptest! {
        #[test]
        fn long_sums_are_near_the_exact_ones(exponent in 0.0..2.0_f64, first in 1_u64..50, length in 0_u64..3000) {
            let attention = Attention::new(exponent).expect("allowed");
            let (sum, exact) =
                (attention.sum(first, first + length), attention.exact_sum(first, first + length));
            prop_assert!(close(sum, exact, 1e-3), "{sum} {exact}");
        }

        #[test]
        fn attention_never_rises_with_the_rank(exponent in 0.0..5.0_f64, rank in 1_u64..1_000_000) {
            let attention = Attention::new(exponent).expect("allowed");
            prop_assert!(attention.at(rank) >= attention.at(rank + 1));
        }
    }
}
