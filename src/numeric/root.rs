//! The zero of a function of one number.

/// Two numbers between which a function changes its sign, with its values there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The two numbers.
    pub ends: (f64, f64),
    /// The values of the function there.
    pub values: (f64, f64),
}

impl Bracket {
    /// The end at which the function is closer to zero.
    pub fn best(&self) -> f64 {
        if self.values.0.abs() <= self.values.1.abs() { self.ends.0 } else { self.ends.1 }
    }

    /// The bracket, narrowed to neighbouring floats, or until a value of the function is within `enough` of zero. Without a change of
    /// sign it stays the same.
    ///
    /// Chandrupatla 1997: inverse quadratic steps where they are safe, otherwise halving; at most 200 steps.
    #[must_use]
    pub fn narrowed(self, enough: f64, mut function: impl FnMut(f64) -> f64) -> Self {
        let ((mut a, mut b), (mut at_a, mut at_b)) = (self.ends, self.values);
        if (at_a > 0.0) == (at_b > 0.0) {
            return self;
        }
        let mut share = 0.5;
        for _ in 0..200 {
            let (best, at_best) = if at_a.abs() < at_b.abs() { (a, at_a) } else { (b, at_b) };
            let least = f64::EPSILON * best.abs() / (b - a).abs();
            if at_best.abs() <= enough || least >= 0.5 || a == b {
                break;
            }
            share = if f64::is_finite(share) { share.clamp(least, 1.0 - least) } else { 0.5 };
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
            let (along, up) = ((a - b) / (c - b), (at_a - at_b) / (at_c - at_b));
            share = if up * up < along && (1.0 - up) * (1.0 - up) < 1.0 - along {
                at_a / (at_b - at_a) * at_c / (at_b - at_c)
                    + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
            } else {
                0.5
            };
        }
        Self { ends: (a, b), values: (at_a, at_b) }
    }
}

/// A bracket of the zero of a rising `function`, searched around `start` in steps that begin with `step` and double. If there is no
/// zero, both ends are far away.
pub fn bracket_of_rising(start: f64, step: f64, mut function: impl FnMut(f64) -> f64) -> Bracket {
    let mut near = (start, function(start));
    let mut width = if near.1 < 0.0 { step } else { -step };
    loop {
        let far = near.0 + width;
        let at_far = function(far);
        if (at_far > 0.0) != (near.1 > 0.0) || !(far + 2.0 * width).is_finite() {
            return Bracket { ends: (near.0, far), values: (near.1, at_far) };
        }
        (near, width) = ((far, at_far), 2.0 * width);
    }
}

/// The zero of a rising `function`, to the precision of floats.
pub fn of_rising(start: f64, step: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    bracket_of_rising(start, step, &mut function).narrowed(0.0, function).best()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_found_as_near_as_numbers_are() {
        assert!((of_rising(1.0, 0.3, |x| x * x - 2.0) - 2.0_f64.sqrt()).abs() < 1e-15);
        assert!((of_rising(1.0, 1.0, |x: f64| x.ln() - 3.0) - 3.0_f64.exp()).abs() < 1e-13);
        assert!((of_rising(0.0, 1.0, |x| x - 12_345.5) - 12_345.5).abs() < 1e-9);
        assert!((of_rising(0.0, 1.0, |x| x + 12_345.5) + 12_345.5).abs() < 1e-9);
        assert!((of_rising(0.0, 0.1, |x| (x - 0.25) * (x - 0.25) * (x - 0.25)) - 0.25).abs() < 1e-5);
        // A jump: both sides of it are known.
        let jump = |x: f64| if x < 0.3 { -1.0 } else { 2.0 };
        let Bracket { ends, values } = bracket_of_rising(0.0, 1.0, jump).narrowed(0.0, jump);
        assert!((ends.0 - ends.1).abs() < 1e-15 && values.0 * values.1 == -2.0);
        assert!(of_rising(0.0, 1.0, |_| -1.0).is_finite());
    }
}
