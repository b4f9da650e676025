//! The Gamma function, the incomplete Gamma functions and their inverses, as rates and lifetimes need them.

/// ln Γ(x) for x > 0: Stirling's series, with x shifted to where the series is exact to 14 digits. Infinite at 0, not a number
/// below.
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    let (mut x, mut moved) = (x, 1.0);
    while x < 12.0 {
        moved *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - moved.ln()
}

/// P(a, x), the regularised lower incomplete Gamma function. For whole a it is the probability that a Poisson process has at least a
/// events within x, and so the distribution of the lifetime of an item in a list of a that scrolls (Olston & Pandey 2008, §3.3).
pub fn lower(a: f64, x: f64) -> f64 {
    lower_of_log(a, x.max(0.0).ln())
}

/// Q(a, x) = 1 − P(a, x), without loss of digits.
pub fn upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x > a + 1.0 {
        (a * x.ln() - x - ln_gamma(a)).exp() * fraction(a, x)
    } else {
        1.0 - lower(a, x)
    }
}

/// Terms of the series of P(a, x). It needs about 9 √a of them, so this is enough for a up to 10⁸; beyond that the sum is
/// cut off rather than waited for.
const MOST_TERMS: u32 = 100_000;

/// P(a, x) given ln x, for x that are smaller than a float can be.
fn lower_of_log(a: f64, log_x: f64) -> f64 {
    let x = log_x.exp();
    if x > a + 1.0 {
        return 1.0 - upper(a, x);
    }
    // e^(−x) x^a / Γ(a + 1) · (1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …)
    let (mut term, mut sum, mut k) = (1.0, 1.0, a);
    for _ in 0..MOST_TERMS {
        if term <= sum * 1e-17 {
            break;
        }
        k += 1.0;
        term *= x / k;
        sum += term;
    }
    (a * log_x - x - ln_gamma(a + 1.0)).exp() * sum
}

/// The continued fraction of Γ(a, x) e^x x^(−a) for x > a + 1, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut value = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        let (down, up) = (numerator * d + b, b + numerator / c);
        d = 1.0 / if down.abs() < TINY { TINY } else { down };
        c = if up.abs() < TINY { TINY } else { up };
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// The x at which P(a, x) = `share`, for a share in (0, 1).
pub fn quantile(a: f64, share: f64) -> f64 {
    // For small x, P(a, x) ≈ x^a / Γ(a + 1); for large a it is near a.
    let start = ((share.ln() + ln_gamma(a + 1.0)) / a).min(a.ln());
    super::root::of_rising(start, 0.5, |log_x| lower_of_log(a, log_x) - share).exp()
}

/// G(r) = P(2, r) = 1 − (1 + r) e^(−r). With r = rate · interval this is the rate times the utility of a visit to a page that churns.
pub fn churn(r: f64) -> f64 {
    if r > 0.5 {
        return 1.0 - (1.0 + r) * (-r).exp();
    }
    let (mut term, mut sum, mut k) = (1.0, 1.0, 2.0);
    while term > 1e-17 {
        k += 1.0;
        term *= r / k;
        sum += term;
    }
    0.5 * r * r * (-r).exp() * sum
}

/// The r at which [`churn`] is `y`, for y in [0, 1]; infinite at 1.
pub fn inverse_churn(y: f64) -> f64 {
    if y >= 0.5 {
        return inverse_churn_of_rest((1.0 - y).ln());
    }
    // Newton's steps on √(2 G(r)) = √(2y), which is nearly a straight line.
    let root = (2.0 * y.max(0.0)).sqrt();
    let mut r = root * (1.0 + root / 3.0);
    for _ in 0..20 {
        let here = (2.0 * churn(r)).sqrt();
        let step = (root - here) * here / (r * (-r).exp());
        if !step.is_finite() {
            break;
        }
        r += step;
        if step.abs() <= 1e-13 * r {
            break;
        }
    }
    r
}

/// The r at which (1 + r) e^(−r) = 1 − [`churn`] has this logarithm. It is exact even where churn itself is rounded to 1.
pub fn inverse_churn_of_rest(log_rest: f64) -> f64 {
    let rest = -log_rest.min(0.0);
    if !rest.is_finite() {
        return f64::INFINITY;
    }
    let mut r = rest + rest.ln_1p();
    for _ in 0..50 {
        let step = (rest - r + r.ln_1p()) * (1.0 + r) / r;
        if !step.is_finite() {
            break;
        }
        r += step;
        if step.abs() <= 1e-13 * r {
            break;
        }
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, relative: f64) -> bool {
        a == b || (a - b).abs() <= relative * a.abs().max(b.abs())
    }

    /// e^(−x) Σ x^i / i! over i < K.
    fn poisson_below(events: u32, x: f64) -> f64 {
        let (mut term, mut sum) = ((-x).exp(), 0.0);
        for i in 0..events {
            sum += term;
            term *= x / f64::from(i + 1);
        }
        sum
    }

    #[test]
    fn numbers_that_have_no_gamma_function_are_answered_at_once() {
        for x in [f64::NAN, -1e300, -1.0] {
            assert!(ln_gamma(x).is_nan(), "{x}");
        }
        assert_eq!(ln_gamma(0.0), f64::INFINITY);
        assert!(quantile(1e300, 0.025).is_finite() || quantile(1e300, 0.025).is_nan());
        assert!(lower(1e17, 1e17) <= 1.0);
    }

    #[test]
    fn the_gamma_function_is_a_factorial() {
        let mut factorial = 1.0_f64;
        for n in 1..20 {
            assert!((ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-13 * factorial.ln().max(1.0), "{n}");
            factorial *= f64::from(n);
        }
        assert!(close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-13));
    }

    #[test]
    fn whole_shapes_are_poisson_sums_and_quantiles_go_back() {
        for events in [1, 2, 5, 30] {
            for x in [0.01, 0.5, 3.0, 29.0, 45.0] {
                let (p, q) = (lower(f64::from(events), x), upper(f64::from(events), x));
                let below = poisson_below(events, x);
                assert!(
                    close(q, below, 1e-12) && (p + q - 1.0).abs() < 1e-13,
                    "{events} {x}: {q} for {below}"
                );
            }
        }
        assert_eq!((lower(2.0, 0.0), upper(2.0, 0.0), lower(3.0, 1e9)), (0.0, 1.0, 1.0));
        for a in [1e-3, 0.3, 1.0, 17.5, 4000.0, 1e6] {
            for share in [0.025, 0.5, 0.975] {
                let x = quantile(a, share);
                assert!(x == 0.0 || close(lower(a, x), share, 1e-9), "{a} {share} {x}");
            }
        }
    }

    #[test]
    fn churn_goes_back_and_forth() {
        for y in [1e-14, 1e-6, 0.1, 0.499, 0.5, 0.9, 1.0 - 1e-12] {
            let r = inverse_churn(y);
            assert!(close(churn(r), y, 1e-12), "{y}: {r}");
            assert!(close(lower(2.0, r), y, 1e-12), "{y}: {r}");
        }
        assert!(close(inverse_churn_of_rest(-1e9), 1e9 + 1e9_f64.ln(), 1e-12));
        assert_eq!((inverse_churn(0.0), inverse_churn(1.0)), (0.0, f64::INFINITY));
    }
}
