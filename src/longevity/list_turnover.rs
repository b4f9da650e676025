//! The turnover of a list of K items while new items push out old ones, as a function of z = rate · age.
//!
//! N, the number of new items, is Poisson with mean z. G_K(z) = E[min(N, K)] / K is the share of the list that was replaced.
//! Everything else about a scroll curve follows from the probabilities of N around K. A single item (K = 1) is churn.

use crate::numeric::gamma_function::{ln_gamma, lower, upper};

/// Up to this many items the probabilities are summed one by one, which is faster than the incomplete Gamma function.
const SUMMED: u32 = 64;

/// 1, 1/2, 1/3, …
const RECIPROCALS: [f64; SUMMED as usize + 2] = {
    let mut reciprocals = [1.0; SUMMED as usize + 2];
    let mut i = 1;
    while i < reciprocals.len() {
        reciprocals[i] = 1.0 / (i + 1) as f64;
        i += 1;
    }
    reciprocals
};

/// Below this share of K the probability of more than K + 1 items is summed by itself, because 1 − the others has lost its digits.
const FEW: f64 = 0.1;

/// The probabilities of N that the formulas need.
struct Arrivals {
    /// N ≤ K − 2.
    fewer: f64,
    /// N = K − 1.
    last: f64,
    /// N = K.
    at: f64,
    /// N = K + 1.
    next: f64,
    /// N ≥ K + 2.
    more: f64,
}

/// G_K at `z` and its first two derivatives by ln z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurvePoint {
    pub value: f64,
    pub slope: f64,
    pub bend: f64,
}

/// G_K(z) = E[min(N, K)] / K = (z Q(K − 1, z) + K P(K, z)) / K, in [0, 1].
pub(super) fn replaced(items: u32, z: f64) -> f64 {
    if z <= 0.0 {
        return 0.0;
    }
    if z > turned_over(items) {
        return 1.0;
    }
    let Arrivals { fewer, at, next, more, .. } = arrivals(items, z);
    (z * fewer / f64::from(items) + (at + next + more)).min(1.0)
}

/// ∫₀ᶻ x dG_K(x) = (z²/2 · Q(K, z) + K(K + 1)/2 · P(K + 2, z)) / K: the utility of a list of height and rate 1.
/// At most [`most_utility`].
pub(super) fn utility(items: u32, z: f64) -> f64 {
    if z <= 0.0 {
        return 0.0;
    }
    let most = most_utility(items);
    if z > turned_over(items) {
        return most;
    }
    let Arrivals { fewer, last, more, .. } = arrivals(items, z);
    (0.5 * z * z * (fewer + last) / f64::from(items) + most * more).min(most)
}

/// (K + 1) / 2.
pub(super) fn most_utility(items: u32) -> f64 {
    0.5 * (f64::from(items) + 1.0)
}

/// [`replaced`] with its derivatives: dG/d ln z = z Q(K, z) / K, and once more (z/K) (Q(K, z) − K P[N = K]).
pub(super) fn with_derivatives(items: u32, z: f64) -> CurvePoint {
    let Arrivals { fewer, last, at, next, more } = arrivals(items, z);
    let (below, scale) = (fewer + last, z / f64::from(items));
    CurvePoint {
        value: scale * fewer + (at + next + more),
        slope: scale * below,
        bend: scale * (below - f64::from(items) * at),
    }
}

/// Beyond this z a list has turned over, as far as numbers go: 40 deviations above its mean.
fn turned_over(items: u32) -> f64 {
    let items = f64::from(items);
    items + 40.0 * items.sqrt() + 80.0
}

/// Of z in (0, [`turned_over`]].
fn arrivals(items: u32, z: f64) -> Arrivals {
    let k = f64::from(items);
    if items > SUMMED {
        let at = (k * z.ln() - z - ln_gamma(k + 1.0)).exp();
        let (last, next) = (at * k / z, at * z / (k + 1.0));
        return Arrivals { fewer: upper(k - 1.0, z), last, at, next, more: lower(k + 2.0, z) };
    }
    let (mut last, mut fewer) = ((-z).exp(), 0.0);
    for reciprocal in RECIPROCALS.iter().take(items.saturating_sub(1) as usize) {
        fewer += last;
        last *= z * reciprocal;
    }
    let at = last * z / k;
    let next = at * z / (k + 1.0);
    let more = if z >= FEW * k {
        (1.0 - fewer - last - at - next).max(0.0)
    } else {
        // P(K + 2, z) as its series, up to what z²/2 would not notice.
        let negligible = 1e-18 * z * z / (k * k);
        let (mut i, mut sum) = (k + 2.0, 0.0);
        let mut term = next * z / i;
        while term > negligible {
            sum += term;
            i += 1.0;
            term *= z / i;
        }
        sum
    };
    Arrivals { fewer, last, at, next, more }
}
