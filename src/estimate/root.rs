//! Where a function of one number is zero.

/// A zero of `function` between `low` and `high`, where its signs differ; the nearer end if they don't.
///
/// Chandrupatla 1997: inverse quadratic steps while they are safe, halving else; at most 200 steps, and as
/// near as numbers are.
pub fn between(low: f64, high: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut b) = (low, high);
    let (mut at_a, mut at_b) = (function(a), function(b));
    if at_a == 0.0 || (at_a > 0.0) == (at_b > 0.0) {
        return if at_a.abs() <= at_b.abs() { a } else { b };
    }
    let mut share = 0.5;
    for _ in 0..200 {
        let middle = a + share * (b - a);
        let at_middle = function(middle);
        let (c, at_c);
        if (at_middle > 0.0) == (at_a > 0.0) {
            (c, at_c) = (a, at_a);
        } else {
            (c, at_c) = (b, at_b);
            (b, at_b) = (a, at_a);
        }
        (a, at_a) = (middle, at_middle);
        let (best, at_best) = if at_a.abs() < at_b.abs() { (a, at_a) } else { (b, at_b) };
        let least = f64::EPSILON * best.abs() / (b - a).abs();
        if at_best == 0.0 || least >= 0.5 || b == a {
            return best;
        }
        let (along, up) = ((a - b) / (c - b), (at_a - at_b) / (at_c - at_b));
        share = if up * up < along && (1.0 - up) * (1.0 - up) < 1.0 - along {
            at_a / (at_b - at_a) * at_c / (at_b - at_c)
                + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        } else {
            0.5
        };
        share = if share.is_finite() { share.clamp(least, 1.0 - least) } else { 0.5 };
    }
    if at_a.abs() < at_b.abs() { a } else { b }
}

/// A zero of a `function` that rises, looked for around `start` in steps that begin with `step` and double.
pub fn of_rising(start: f64, step: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let at_start = function(start);
    if at_start == 0.0 {
        return start;
    }
    let away = if at_start < 0.0 { step } else { -step };
    let (mut near, mut width) = (start, away);
    loop {
        let far = near + width;
        if (function(far) > 0.0) != (at_start > 0.0) {
            return between(near.min(far), near.max(far), function);
        }
        if !(far + 2.0 * width).is_finite() {
            return far;
        }
        (near, width) = (far, 2.0 * width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_found_as_near_as_numbers_are() {
        assert!((between(0.0, 2.0, |x| x * x - 2.0) - 2.0_f64.sqrt()).abs() < 1e-15);
        assert!((between(1.0, 1e9, |x: f64| x.ln() - 3.0) - 3.0_f64.exp()).abs() < 1e-13);
        assert!((of_rising(0.0, 1.0, |x| x - 12_345.5) - 12_345.5).abs() < 1e-9);
        assert!((of_rising(0.0, 1.0, |x| x + 12_345.5) + 12_345.5).abs() < 1e-9);
        assert!((of_rising(0.0, 0.1, |x| (x - 0.25) * (x - 0.25) * (x - 0.25)) - 0.25).abs() < 1e-5);
        // No change of sign: the end that is nearest to one.
        assert_eq!(between(1.0, 3.0, |x| x), 1.0);
        assert!(of_rising(0.0, 1.0, |_| -1.0).is_finite());
    }
}
