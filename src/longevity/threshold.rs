//! A utility threshold that follows a budget. The policy `longevity-bound` and the monitor's daily budget both use this step.

/// η, the speed of the threshold: a cycle that cost half as much again as intended raises it by a tenth.
const STEP: f64 = 0.2;

/// The threshold after a cycle that was meant to cost `meant` and did cost `cost`: T·e^(η·(cost − meant)/meant). The excess counts
/// up to `meant` only. A lower threshold costs more refreshes, so steps against the excess settle. (Olston & Pandey 2008, §4.4,
/// leave the threshold to the operator; this rule is ours.)
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
