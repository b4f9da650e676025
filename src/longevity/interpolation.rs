//! The divergence of a page between two snapshots, interpolated by eagerness (Olston & Pandey 2008, appendix B).
//!
//! Of three consecutive snapshots, which share of the divergence from the first to the third was there at the second? The mean
//! over all such triples is the page's eagerness: near 1 if the page moves at once and then stays, 1/2 if it moves evenly.

/// E(P), from the divergences (first to second, first to third) of each triple; `None` if there is no usable triple. If the page
/// returned to its first version the quotient is 0/0 or ∞, and the triple is left out; if it nearly returned the quotient
/// exceeds 1, and counts as 1.
pub fn eagerness(triples: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (near, far) in triples {
        if far > 0.0 && near >= 0.0 {
            sum += (near / far).min(1.0);
            count += 1.0;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// The divergence from a base version between two snapshots with these divergences from it: (1 − E)·left + E·right.
pub fn interpolated(eagerness: f64, left: f64, right: f64) -> f64 {
    (1.0 - eagerness) * left + eagerness * right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{golden, number, numbers};

    #[test]
    fn eagerness_is_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/curve_fits.json"));
        let tolerance = number(&golden["tolerance"]["eagerness_absolute"]);
        for case in golden["eagerness"].as_array().expect("cases") {
            let rows: Vec<Vec<f64>> =
                case["divergence"].as_array().expect("rows").iter().map(numbers).collect();
            let triples = (0..rows.len() - 2).map(|first| (rows[first][first + 1], rows[first][first + 2]));
            let found = eagerness(triples);
            assert_eq!(found.is_some(), !case["eagerness"].is_null());
            let Some(found) = found else { continue };
            assert!((found - number(&case["eagerness"])).abs() <= tolerance, "{found}");
            let place = &case["interpolated"];
            let row = &rows[number(&place["base"]) as usize];
            let ends = numbers(&place["between"]);
            let value = interpolated(found, row[ends[0] as usize], row[ends[1] as usize]);
            assert!((value - number(&place["value"])).abs() <= tolerance, "{value}");
        }
    }

    #[test]
    fn a_page_that_came_back_says_nothing_or_all() {
        assert_eq!(eagerness([]), None);
        assert_eq!(eagerness([(0.4, 0.0), (f64::NAN, 0.5), (0.1, f64::NAN)]), None);
        assert_eq!(eagerness([(0.4, 0.2), (0.1, 0.2)]), Some(0.75));
    }
}
