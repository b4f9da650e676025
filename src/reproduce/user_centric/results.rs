//! Quality against refreshes a week, as curves and tables.

use crate::reproduce::{CurveKind, Figure, FigureCurve, Numbers, Point, Scale};

/// Where schemes are compared: the way from the quality of copies that are never refreshed (0) to 1.
pub(super) const LEVELS: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// With fewer pages every fifth B is tried.
const FEW_PAGES: usize = 100;

/// B of Fig. 4, as shares of the largest.
const SHARES_OF_MOST: [f64; 11] = [
    1.0 / 48.0,
    1.0 / 24.0,
    1.0 / 12.0,
    1.0 / 8.0,
    1.0 / 6.0,
    1.0 / 4.0,
    1.0 / 3.0,
    0.5,
    2.0 / 3.0,
    5.0 / 6.0,
    1.0,
];

/// The numbers of refreshes a week that are tried, of which the largest is a share of the pages.
pub(super) fn budgets(pages: usize, most_share: f64) -> Vec<usize> {
    let most = pages as f64 * most_share;
    // Of few pages the curves are rough in any case.
    let every = if pages < FEW_PAGES { 5 } else { 1 };
    let mut budgets: Vec<usize> = SHARES_OF_MOST
        .iter()
        .skip(SHARES_OF_MOST.len().saturating_sub(1) % every)
        .step_by(every)
        .map(|share| ((share * most).round() as usize).max(1))
        .collect();
    budgets.dedup();
    budgets
}

/// The quality that a scheme reaches with each number of refreshes a week, from few to many.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QualityCurve {
    pub name: String,
    /// B and quality. The first is that without refreshes.
    pub points: Vec<(f64, f64)>,
}

impl QualityCurve {
    /// The refreshes a week that this quality needs, between two points on a straight line; not a number if it is not reached.
    pub(super) fn needed(&self, quality: f64) -> f64 {
        let mut before: Option<(f64, f64)> = None;
        for (refreshes, reached) in &self.points {
            if *reached >= quality {
                return match before {
                    Some((fewer, less)) if *reached > less => {
                        fewer + (refreshes - fewer) * (quality - less) / (reached - less)
                    }
                    _ => *refreshes,
                };
            }
            if before.is_none_or(|(_, less)| *reached >= less) {
                before = Some((*refreshes, *reached));
            }
        }
        f64::NAN
    }

    /// The quality with this many refreshes a week, between two points on a straight line.
    pub(super) fn at(&self, budget: f64) -> f64 {
        let after = self.points.partition_point(|(refreshes, _)| *refreshes < budget);
        let before = after.checked_sub(1).and_then(|at| self.points.get(at));
        match (before, self.points.get(after)) {
            (Some((fewer, less)), Some((more, reached))) => {
                less + (reached - less) * (budget - fewer) / (more - fewer)
            }
            (None, Some((_, quality))) | (Some((_, quality)), None) => *quality,
            (None, None) => f64::NAN,
        }
    }
}

/// The quality of copies that are never refreshed: the first point of any curve.
pub(super) fn never(curves: &[QualityCurve]) -> f64 {
    curves.first().and_then(|curve| curve.points.first()).map_or(f64::NAN, |(_, quality)| *quality)
}

/// The quality at a level.
pub(super) fn at_level(never: f64, level: f64) -> f64 {
    never + (1.0 - never) * level
}

/// A table of the refreshes a week that each scheme needs for each level of quality.
pub(super) fn needs(head: &str, curves: &[QualityCurve]) -> Numbers {
    let never = never(curves);
    let levels = LEVELS.map(|level| at_level(never, level));
    let mut table =
        Numbers::new([head.to_owned()].into_iter().chain(levels.map(|quality| format!("Q = {quality:.4}"))));
    for curve in curves {
        table.row(curve.name.clone(), levels.map(|quality| curve.needed(quality)));
    }
    table
}

/// A panel in the paper's manner: quality across, refreshes a week up.
pub(super) fn panel(
    name: &'static str,
    title: String,
    curves: &[QualityCurve],
    references: &[QualityCurve],
) -> Figure {
    let never = never(curves);
    let drawn = |curve: &QualityCurve, kind: CurveKind| FigureCurve {
        name: curve.name.clone(),
        kind,
        points: curve.points.iter().map(|(refreshes, quality)| Point::new(*quality, *refreshes)).collect(),
    };
    let all = curves.iter().map(|curve| drawn(curve, CurveKind::Measured));
    let all = all.chain(references.iter().map(|curve| drawn(curve, CurveKind::Reference)));
    Figure {
        name,
        title,
        across: Scale::linear("repository quality Q").within(never, 1.0),
        up: Scale::linear("refreshes a week, B").above(0.0),
        curves: all.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_read_off_between_points() {
        let curve = QualityCurve {
            name: "a".to_owned(),
            points: vec![(0.0, 0.5), (10.0, 0.7), (20.0, 0.69), (30.0, 0.9)],
        };
        assert_eq!((curve.needed(0.4), curve.needed(0.7)), (0.0, 10.0));
        assert!((curve.needed(0.6) - 5.0).abs() < 1e-9 && (curve.needed(0.8) - 20.0).abs() < 1e-9);
        assert!(curve.needed(0.95).is_nan());
        assert!((curve.at(5.0) - 0.6).abs() < 1e-9 && curve.at(99.0) == 0.9);
        let table = needs("panel", std::slice::from_ref(&curve));
        assert_eq!(table.heads[1], "Q = 0.6250");
        assert!((table.rows[0].1[1] - (10.0 + 20.0 * 0.05 / 0.2)).abs() < 1e-9, "{table:?}");
        assert!(table.rows[0].1[3].is_nan());
    }

    #[test]
    fn budgets_rise_to_the_largest_and_are_at_least_1() {
        assert_eq!(budgets(16_000, 0.375).last(), Some(&6000));
        assert_eq!(budgets(99, 0.375), [1, 9, 37]);
    }
}
