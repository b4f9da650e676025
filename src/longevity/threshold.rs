//! A threshold that follows a budget.

/// How fast it moves: a cycle that cost half as much again moves it by a tenth.
const STEP: f64 = 0.2;

/// The threshold after a cycle that cost so much and was meant to cost `meant`: T·e^(η·(cost − meant)/meant), a cycle
/// counting for no more than twice what it was meant to. The lower a threshold the more refreshes it costs, so a step against
/// the excess settles. (Olston & Pandey 2008, §4.4, leave the threshold to the operator; the rule is ours.)
pub fn after(threshold: f64, cost: f64, meant: f64) -> f64 {
    threshold * (STEP * ((cost - meant) / meant).clamp(-1.0, 1.0)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_with_the_excess_and_falls_without_one() {
        assert_eq!(after(2.0, 10.0, 10.0), 2.0);
        assert!((after(2.0, 15.0, 10.0) / 2.0 - 0.1_f64.exp()).abs() < 1e-12);
        assert_eq!(after(2.0, 1e9, 10.0), after(2.0, 20.0, 10.0));
        assert!((after(2.0, 0.0, 10.0) / 2.0 - (-0.2_f64).exp()).abs() < 1e-12);
    }
}
