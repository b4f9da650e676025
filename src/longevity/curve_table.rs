//! The curves that a fit tries, as tables over the logarithm of time.
//!
//! Time is counted in turns here: ν·t, where ν = r/K is how often a list is replaced as a whole. As a function of x = ln(ν t),
//! curves of different rates are the same curve moved sideways. So a scan over ln ν, in steps as wide as a cell, reads
//! consecutive cells for each sample, at the same place within each cell.
//!
//! What must stay true: a value from the table differs from G_K by less than 1e-6. The resulting error in a sum of squares is
//! too small to change the choice of a curve. The chosen curve is evaluated exactly.

use std::sync::LazyLock;

use super::list_turnover::{CurvePoint, replaced, with_derivatives};

/// The lists that are tried, churn (one item) first.
pub(super) const ITEMS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Width of a cell in ln(ν t), and of a step of the scan.
pub(super) const STEP: f64 = 0.125;
/// The table ends where the curve is this close to the line through 0, or to 1.
const NEAR: f64 = 1e-7;

/// Enough for every curve, from where it leaves the line to where it is at 1.
const CELLS: usize = 128;
/// Each cell has a polynomial of degree 5, with the curve's value, slope and curvature at both ends.
const COEFFICIENTS: usize = 6;

/// One curve.
#[derive(Debug)]
pub(super) struct CurveTable {
    pub items: u32,
    /// The first cell begins at x = `first` · [`STEP`]; before it the curve is a straight line.
    pub first: f64,
    /// From the cell at x = `end` · [`STEP`] on it is 1.
    pub end: f64,
    /// Coefficients by power, then by cell; beyond the last cell the curve is 1.
    cells: [[f64; CELLS]; COEFFICIENTS],
}

/// The curves of [`ITEMS`].
pub(super) fn curves() -> &'static [CurveTable; ITEMS.len()] {
    static CURVES: LazyLock<[CurveTable; ITEMS.len()]> = LazyLock::new(|| ITEMS.map(CurveTable::new));
    &CURVES
}

impl CurveTable {
    fn new(items: u32) -> Self {
        let turn = |cell: f64| (cell * STEP).exp();
        let at = |cell: f64| replaced(items, f64::from(items) * turn(cell));
        let (mut first, mut end) = (0.0, 0.0);
        while (at(first) - turn(first)).abs() > NEAR {
            first -= 1.0;
        }
        while 1.0 - at(end) > NEAR {
            end += 1.0;
        }
        let mut cells = [[0.0; CELLS]; COEFFICIENTS];
        for i in 0..CELLS {
            let cell = first + i as f64;
            let ends = [cell, cell + 1.0].map(|cell| with_derivatives(items, f64::from(items) * turn(cell)));
            let coefficients = if cell < end { polynomial(ends) } else { [1.0, 0.0, 0.0, 0.0, 0.0, 0.0] };
            for (row, coefficient) in cells.iter_mut().zip(coefficients) {
                row[i] = coefficient;
            }
        }
        Self { items, first, end, cells }
    }

    /// G_K where ν t = e^(`place` · [`STEP`]).
    #[inline]
    pub(super) fn at(&self, place: f64) -> f64 {
        let within = place - self.first;
        if within < 0.0 {
            return (place * STEP).exp();
        }
        let cell = (within as usize).min(CELLS - 1);
        let u = within - cell as f64;
        let [a, b, c, d, e, f] = &self.cells;
        a[cell] + u * (b[cell] + u * (c[cell] + u * (d[cell] + u * (e[cell] + u * f[cell]))))
    }

    /// [`CurveTable::at`] of `place`, `place` + 1, `place` + 2, …
    pub(super) fn row(&self, place: f64, values: &mut [f64]) {
        let within = place - self.first;
        // Steps before the table begins, in it, and after its end.
        let before = ((-within).ceil().max(0.0) as usize).min(values.len());
        let (line, rest) = values.split_at_mut(before);
        let growth = STEP.exp();
        let mut value = (place * STEP).exp();
        for here in line {
            *here = value;
            value *= growth;
        }
        let within = within + before as f64;
        let cell = (within as usize).min(CELLS);
        let u = within - cell as f64;
        let inside = (CELLS - cell).min(rest.len());
        let (table, end) = rest.split_at_mut(inside);
        end.fill(1.0);
        let [a, b, c, d, e, f] = self.cells.each_ref().map(|row| &row[cell..cell + inside]);
        for i in 0..inside {
            table[i] = a[i] + u * (b[i] + u * (c[i] + u * (d[i] + u * (e[i] + u * f[i]))));
        }
    }
}

/// The polynomial over a cell that has these values and derivatives at its ends.
fn polynomial(ends: [CurvePoint; 2]) -> [f64; COEFFICIENTS] {
    let [left, right] =
        ends.map(|CurvePoint { value, slope, bend }| (value, STEP * slope, STEP * STEP * bend));
    let rise = right.0 - left.0;
    [
        left.0,
        left.1,
        0.5 * left.2,
        10.0 * rise - 6.0 * left.1 - 4.0 * right.1 - 1.5 * left.2 + 0.5 * right.2,
        -15.0 * rise + 8.0 * left.1 + 7.0 * right.1 + 1.5 * left.2 - right.2,
        6.0 * rise - 3.0 * left.1 - 3.0 * right.1 - 0.5 * left.2 + 0.5 * right.2,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_values_are_near_the_curve_and_rows_are_the_same_values() {
        for curve in curves() {
            let mut worst = 0.0_f64;
            let mut last = 0.0;
            for i in 0..40_000 {
                let place = -90.0 + f64::from(i) * 0.0033;
                let exact = replaced(curve.items, f64::from(curve.items) * (place * STEP).exp());
                let value = curve.at(place);
                worst = worst.max((value - exact).abs());
                assert!(value >= last - 2.0 * NEAR, "{} at {place}", curve.items);
                last = value;
            }
            assert!(worst < 1e-6, "{}: {worst}", curve.items);
            assert!(curve.end - curve.first < CELLS as f64, "{}", curve.items);
            for start in [-100.3, -70.0, -3.9, 0.0, 17.25, 60.5] {
                let mut row = [0.0; 120];
                curve.row(start, &mut row);
                for (i, value) in row.iter().enumerate() {
                    let at = curve.at(start + i as f64);
                    assert!(
                        (value - at).abs() < 2.0 * NEAR,
                        "{} at {start} + {i}: {value} {at}",
                        curve.items
                    );
                }
            }
        }
    }
}
