//! The numbers that Santos et al. 2013 print.

/// Stands for a number that is not printed, or not known. Tables show `-`. Unlike NaN it equals itself.
pub(super) const UNKNOWN: f64 = f64::NEG_INFINITY;

/// Days of Table 1, each with a comparison for every page.
pub(super) const DAYS: u32 = 57;
/// Pages of Table 1.
pub(super) const PAGES: u32 = 417_048;
/// Sites of Table 1.
pub(super) const SITES: u32 = 7171;
/// Pages of the smallest site, of the largest, and of a site on average (Table 1).
pub(super) const PAGES_A_SITE: [f64; 3] = [1.0, 2336.0, 58.15];

/// ChangeRate of Table 2, and the half-width of its 95 % interval. t·X is "above 0.690" (§5.3), without an interval.
pub(super) const TABLE_2: [(&str, f64, Option<f64>); 11] = [
    ("Rand", 0.1857, Some(0.0007)),
    ("Age", 0.2130, Some(0.0009)),
    ("NAD", 0.6892, Some(0.0056)),
    ("SAD", 0.5166, Some(0.0066)),
    ("AAD", 0.6344, Some(0.0095)),
    ("GAD", 0.6016, Some(0.0059)),
    ("CG", 0.6439, Some(0.0067)),
    ("GP4C best", 0.7058, Some(0.0096)),
    ("GP4C sum", 0.7008, Some(0.0176)),
    ("GP4C avg", 0.7034, Some(0.0107)),
    ("t*X", 0.690, None),
];

/// Of the 55 cycles of Fig. 1: in how many GP4C_Best is better than a baseline with 95 % confidence, and the days on which it
/// is worse. In all others they are tied (§5.3).
pub(super) const FIG_1: [(&str, u32, &[u32]); 4] =
    [("NAD", 22, &[]), ("AAD", 47, &[1, 3]), ("GAD", 49, &[1]), ("CG", 50, &[])];

/// Cycles that are counted: those after the warm-up of two days (§5.2).
pub(super) const CYCLES: u32 = DAYS - 2;

/// The row of Table 2.
pub(super) fn rate(name: &str) -> (f64, Option<f64>) {
    let row = TABLE_2.iter().find(|(of, _, _)| *of == name);
    row.map_or((UNKNOWN, None), |(_, rate, off)| (*rate, *off))
}

/// Cycles above, tied and below.
pub(super) fn counts(name: &str) -> [f64; 3] {
    match FIG_1.iter().find(|(of, _, _)| *of == name) {
        Some((_, above, below)) => {
            let (above, below) = (f64::from(*above), below.len() as f64);
            [above, f64::from(CYCLES) - above - below, below]
        }
        None => [UNKNOWN; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_agrees_with_itself() {
        assert_eq!(CYCLES, 55);
        assert!((f64::from(PAGES) / f64::from(SITES) - PAGES_A_SITE[2]).abs() < 0.01);
        for (name, above, tied, below) in [
            ("NAD", 22.0, 33.0, 0.0),
            ("AAD", 47.0, 6.0, 2.0),
            ("GAD", 49.0, 5.0, 1.0),
            ("CG", 50.0, 5.0, 0.0),
        ] {
            assert_eq!(counts(name), [above, tied, below]);
        }
        // "increasing the average ChangeRate by around 10 %" over CG.
        assert!((rate("GP4C best").0 / rate("CG").0 - 1.0 - 0.096).abs() < 0.001);
    }
}
