//! The objectives of crawl rates: three kinds of freshness, and the best crawl rate for each.
//!
//! For all three a page's best crawl rate is its change rate times a function of one number, y = multiplier · cost · change
//! rate / weight ([`Objective::share`]). [`super::solve`] finds the multiplier that spends the budget.

use crate::numeric::gamma_function::{inverse_churn, inverse_churn_of_rest};

/// The quantity that crawl rates maximise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Freshness, with visits at random moments: Σ w p/(p + Δ) (Avrachenkov et al. 2020, eq. 10, after Azar
    /// et al. 2018).
    Poisson,
    /// Freshness, with visits at even distances: Σ w (1 − e^(−Δ/p)) p/Δ (Cho & Garcia-Molina 2003).
    Periodic,
    /// The harmonic cost of unseen changes, −Σ w ln(p/(p + Δ)), which is minimised (LambdaCrawl, Kolobov et al. 2019). The other two
    /// give up pages that change too fast; this one gives every page that changes some visits.
    Harmonic,
}

impl Objective {
    /// Every objective.
    pub const ALL: [Self; 3] = [Self::Poisson, Self::Periodic, Self::Harmonic];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Periodic => "periodic",
            Self::Harmonic => "harmonic",
        }
    }

    /// The best crawl rate as a share of the change rate, where y = μ c Δ / w, given as its logarithm.
    ///
    /// Poisson: w Δ/(p + Δ)² = μ c, so 1/√y − 1. Periodic: (w/Δ) G(r) = μ c with r = Δ/p, so 1/G⁻¹(y). Both
    /// are 0 from y = 1 on. Harmonic: w Δ/(p (p + Δ)) = μ c, so (√(1 + 4/y) − 1)/2.
    pub(super) fn share(self, log_y: f64) -> f64 {
        let (y, rest) = (log_y.exp(), -log_y.exp_m1());
        match self {
            Self::Harmonic => 2.0 / (y + (y * (y + 4.0)).sqrt()),
            _ if rest <= 0.0 => 0.0,
            Self::Poisson => rest / (y.sqrt() * (1.0 + y.sqrt())),
            Self::Periodic if y < 0.5 => 1.0 / inverse_churn(y),
            Self::Periodic => 1.0 / inverse_churn_of_rest(rest.ln()),
        }
    }

    /// The worth of a page's copy at a crawl rate, per weight: its freshness. For the harmonic cost it is the logarithm of the
    /// freshness, which falls without bound as visits become rare.
    pub fn value(self, change_rate: f64, crawl_rate: f64) -> f64 {
        match self {
            Self::Harmonic if change_rate <= 0.0 => 0.0,
            Self::Poisson => freshness_of_random_visits(change_rate, crawl_rate),
            Self::Periodic => freshness_of_even_visits(change_rate, crawl_rate),
            Self::Harmonic => -(change_rate / crawl_rate).ln_1p(),
        }
    }
}

/// The share of time in which the copy equals the page, with visits at random moments: p/(p + Δ) (Avrachenkov et al. 2020, §4).
pub fn freshness_of_random_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    if change_rate <= 0.0 { 1.0 } else { crawl_rate / (crawl_rate + change_rate) }
}

/// The share of time in which the copy equals the page, with visits at even distances: (1 − e^(−r))/r with r = Δ/p (Cho &
/// Garcia-Molina 2003).
pub(super) fn freshness_of_even_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    let r = change_rate / crawl_rate;
    if change_rate <= 0.0 {
        1.0
    } else if r.is_finite() {
        -(-r).exp_m1() / r
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number};

    #[test]
    fn freshness_is_the_golden_values() {
        let golden = golden(include_str!("../../../tests/golden/freshness_closed_forms.json"));
        for case in golden["cases"].as_array().expect("cases") {
            let (change, crawl) = (number(&case["delta"]), number(&case["p"]));
            for (value, name) in [
                (freshness_of_random_visits(change, crawl), "freshness_poisson"),
                (freshness_of_even_visits(change, crawl), "freshness_periodic"),
            ] {
                assert!(close(value, number(&case[name]), 1e-8), "{name} of {case}: {value}");
            }
        }
    }
}
