//! Bounds on a share of visits.

/// Standard deviations of a two-sided bound that holds 19 times out of 20.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// Bounds of a share, of which `hits` out of `tries` are a sample (Wilson 1927). Both numbers may be fractions. The bounds lie in
/// [0, 1] and contain hits / tries; without tries they are 0 and 1.
pub(super) fn wilson(hits: f64, tries: f64) -> (f64, f64) {
    if tries <= 0.0 {
        return (0.0, 1.0);
    }
    let (share, z2) = ((hits / tries).clamp(0.0, 1.0), DEVIATIONS * DEVIATIONS);
    let centre = (share + z2 / (2.0 * tries)) / (1.0 + z2 / tries);
    let spread =
        DEVIATIONS / (1.0 + z2 / tries) * (share * (1.0 - share) / tries + z2 / (4.0 * tries * tries)).sqrt();
    ((centre - spread).clamp(0.0, share), (centre + spread).clamp(share, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_contain_the_share_and_close_in_on_it() {
        // 8 of 10: worked by hand from Wilson's formula.
        let (low, high) = wilson(8.0, 10.0);
        assert!((low - 0.490_162).abs() < 1e-6 && (high - 0.943_318).abs() < 1e-6, "{low} {high}");
        let (near_low, near_high) = wilson(8000.0, 10_000.0);
        assert!(near_low > 0.79 && near_high < 0.81);
        assert_eq!(wilson(0.0, 0.0), (0.0, 1.0));
        assert!(wilson(0.0, 4.0).0 == 0.0 && wilson(4.0, 4.0).1 == 1.0);
    }
}
