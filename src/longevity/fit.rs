//! Samples → the curve that fits them best.
//!
//! Weighted least squares over [`Curve`]: churn, and scroll with 2, 4, 8, 16 or 32 items. The height enters linearly, so for a
//! given rate it is a quotient, clipped to [0, 1]. The rate is scanned and then refined. Olston & Pandey 2008 (§4) fit a curve
//! but don't say how. The loss is squared, not robust: samples lie in [0, 1] already, and one outlier among a dozen is a fact
//! about the page.
//!
//! Three samples are few, and a single one fits any curve: [`Fit::ages`] tells how many there were.
//!
//! [`Fit::on_grid`] is the same without refinement, on a fixed grid of rates. An independent implementation made its figures
//! that way, so a replay can be compared with them.

use super::curve::Curve;
use super::curve_table::{CurveTable, ITEMS, STEP, curves};
use super::list_turnover::replaced;
use super::samples::Sample;

/// The fewest distinct ages that can tell a list from churn.
const AGES_TO_SEE_SCROLL: usize = 4;

/// The least rate that is tried replaces this share of the page until the longest age. Below it the curve is a straight line.
const LEAST_TURN: f64 = 0.01;
/// The largest rate that is tried turns the page over this often until the shortest age: 1 − e^(−20) can't be told from 1.
const MOST_TURNS: f64 = 20.0;

/// FitSums of squares that differ by less count as equal, and the simpler curve is taken: a share of the least sum, and an absolute
/// difference for rounding.
const TIE: (f64, f64) = (1e-3, 1e-9);

/// From this many turns until the shortest age on (or the same divergence, for a list) the rate can't be told.
const SATURATED_TURNS: f64 = 5.0;

/// Ages are clamped to this range, in days: a tenth of a second to three thousand years.
const AGES: (f64, f64) = (1e-6, 1e6);
/// Weights are clamped to this range.
const WEIGHTS: (f64, f64) = (1e-9, 1e9);
/// Enough for the ages above: ln(20 / 0.01 · 1e12) / [`STEP`] + 3.
const MOST_STEPS: usize = 288;
/// FitSums of squares that differ by a smaller share of the total differ only by rounding.
const ROUNDING: f64 = 1e-12;
/// The precision of a refined rate is twice this, in steps: 4e-5 of the rate.
const ENOUGH: f64 = 2e-5 / STEP;
/// Golden section alone would get there in this many tries.
const MOST_TRIES: usize = 24;

/// A fitted curve, and how good it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The best curve.
    pub curve: Curve,
    /// The weighted sum of squared differences.
    pub error: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// The number of samples; of distinct ages, if they were [`combined`](super::samples::combined).
    pub ages: usize,
    /// The shortest age, in days.
    pub least_days: f64,
    /// Has the curve reached its height at the shortest age? Then the rate is not known.
    pub is_saturated: bool,
}

impl Fit {
    /// The best curve for samples as [`combined`](super::samples::combined) gives them; `None` if none has a positive age.
    pub fn of(samples: &[Sample]) -> Option<Self> {
        let points = FitPoints::of(samples)?;
        if points.is_all_zero() {
            return Some(points.fit((Curve::Static, 0.0), false));
        }
        let mut best: [(f64, f64); ITEMS.len()] = [(f64::INFINITY, 0.0); ITEMS.len()];
        for (best, curve) in best.iter_mut().zip(points.candidates()) {
            *best = points.best_turnover(curve);
        }
        let least = best.iter().fold(f64::INFINITY, |least, (error, _)| least.min(*error));
        let enough = least * (1.0 + TIE.0) + TIE.1;
        let (items, turnover) = ITEMS
            .iter()
            .zip(&best)
            .find(|(_, (error, _))| *error <= enough)
            .map_or((1, 0.0), |(items, (_, log_turnover))| (*items, log_turnover.exp()));
        let at_least_days = replaced(items, f64::from(items) * turnover * points.least_days);
        let is_saturated = at_least_days >= -(-SATURATED_TURNS).exp_m1();
        Some(points.fit(points.best_height(items, turnover), is_saturated))
    }

    /// The best curve on a fixed grid: ν = r/K at 97 values from 0.001 to 20 a cycle, evenly spaced in ln ν, with at most 20 turns
    /// until the shortest age. Of equally good curves the first is taken, fewer items first. Nothing is interpolated.
    pub fn on_grid(samples: &[Sample], days_a_cycle: f64) -> Option<Self> {
        let points = FitPoints::of(samples)?;
        if points.is_all_zero() {
            return Some(points.fit((Curve::Static, 0.0), false));
        }
        let mut best = ((Curve::Static, points.squares), false);
        for curve in points.candidates() {
            for turnover in grid().map(|turns_a_cycle| turns_a_cycle / days_a_cycle) {
                let turns = turnover * points.least_days;
                if turns > MOST_TURNS {
                    break;
                }
                let tried = points.best_height(curve.items, turnover);
                if tried.1 < best.0.1 {
                    best = (tried, turns >= SATURATED_TURNS);
                }
            }
        }
        Some(points.fit(best.0, best.1))
    }

    /// The curve for computing utility. If the rate is not known, a page must not look worthless: then the page is taken to turn over
    /// once in the shortest age, so utility is at most height · shortest age.
    pub fn worth(&self) -> Curve {
        if self.is_saturated { Curve::churn(self.curve.height(), 1.0 / self.least_days) } else { self.curve }
    }

    /// The root mean square difference of the samples from the curve.
    pub fn deviation(&self) -> f64 {
        (self.error / self.weight).sqrt()
    }
}

/// The points of a fit: positive ages, divergences in [0, 1], positive weights.
struct FitPoints {
    points: Vec<FitPoint>,
    least_days: f64,
    most_days: f64,
    weight: f64,
    /// Σ w y².
    squares: f64,
}

struct FitPoint {
    days: f64,
    /// ln of the age, in steps.
    place: f64,
    divergence: f64,
    weight: f64,
}

/// FitSums over points of a curve of height 1, f.
#[derive(Clone, Copy, Default)]
struct FitSums {
    /// Σ w y f.
    along: f64,
    /// Σ w f².
    own: f64,
}

impl FitSums {
    fn add(&mut self, point: &FitPoint, value: f64) {
        let weighted = point.weight * value;
        self.along += weighted * point.divergence;
        self.own += weighted * value;
    }

    /// A = Σ w y f / Σ w f², in [0, 1]. The second sum is not 0: the longest age turns over at least [`LEAST_TURN`].
    fn height(self) -> f64 {
        (self.along / self.own).clamp(0.0, 1.0)
    }

    /// Σ w (y − A f)², where Σ w y² is `squares`.
    fn error(self, squares: f64) -> f64 {
        let height = self.height();
        (squares - height * (2.0 * self.along - height * self.own)).max(0.0)
    }
}

/// [`FitSums`] for every step of a scan.
struct Scan {
    along: [f64; MOST_STEPS],
    own: [f64; MOST_STEPS],
}

impl Scan {
    fn add(&mut self, point: &FitPoint, values: &[f64]) {
        let FitPoint { divergence, weight, .. } = *point;
        for ((along, own), value) in self.along.iter_mut().zip(&mut self.own).zip(values) {
            let weighted = weight * value;
            *along += weighted * divergence;
            *own += weighted * value;
        }
    }

    fn errors(&self, squares: f64, errors: &mut [f64]) {
        for ((along, own), error) in self.along.iter().zip(&self.own).zip(errors) {
            *error = FitSums { along: *along, own: *own }.error(squares);
        }
    }
}

impl FitPoints {
    fn of(samples: &[Sample]) -> Option<Self> {
        let usable =
            |sample: &&Sample| sample.days > 0.0 && sample.weight > 0.0 && !sample.divergence.is_nan();
        let points: Vec<FitPoint> = samples
            .iter()
            .filter(usable)
            .map(|sample| {
                let days = sample.days.clamp(AGES.0, AGES.1);
                FitPoint {
                    days,
                    place: days.ln() / STEP,
                    divergence: sample.divergence.clamp(0.0, 1.0),
                    weight: sample.weight.clamp(WEIGHTS.0, WEIGHTS.1),
                }
            })
            .collect();
        let mut all = Self { points, least_days: f64::INFINITY, most_days: 0.0, weight: 0.0, squares: 0.0 };
        for point in &all.points {
            all.least_days = all.least_days.min(point.days);
            all.most_days = all.most_days.max(point.days);
            all.weight += point.weight;
            all.squares += point.weight * point.divergence * point.divergence;
        }
        (!all.points.is_empty()).then_some(all)
    }

    fn is_all_zero(&self) -> bool {
        self.points.iter().all(|point| point.divergence == 0.0)
    }

    /// The curves that this number of ages can tell apart.
    fn candidates(&self) -> &'static [CurveTable] {
        let curves = curves();
        if self.points.len() < AGES_TO_SEE_SCROLL { curves.get(..1).unwrap_or_default() } else { curves }
    }

    /// The sum of squares of a curve at its best turnover, ν = r/K, and ln ν.
    fn best_turnover(&self, curve: &CurveTable) -> (f64, f64) {
        // Rates at which the curve is a straight line for all points, or 1 for all points, are equally good.
        let low = (LEAST_TURN.ln() / STEP).max(curve.first) - self.most_days.ln() / STEP;
        let high = (MOST_TURNS.ln() / STEP).min(curve.end) - self.least_days.ln() / STEP;
        // One more step below, as the minimum may lie just above the lowest rate.
        let before = low - 1.0;
        let steps = ((high - before).ceil() as usize + 1).min(MOST_STEPS);
        let mut scan = Scan { along: [0.0; MOST_STEPS], own: [0.0; MOST_STEPS] };
        let mut values = [0.0; MOST_STEPS];
        for point in &self.points {
            curve.row(point.place + before, &mut values[..steps]);
            scan.add(point, &values[..steps]);
        }
        let errors = &mut values[..steps];
        scan.errors(self.squares, errors);
        let allowed = errors.get(1..).unwrap_or_default();
        let least = allowed.iter().fold(f64::INFINITY, |least, error| least.min(*error));
        // Many rates fit a single age equally well. Rounding must not decide, so the slowest is taken.
        let is_single = self.points.len() == 1;
        let alike = if is_single { least + ROUNDING * self.squares } else { least };
        let step = allowed.iter().position(|error| *error <= alike).unwrap_or(0);
        let mut best = (least, low + step as f64);
        if is_single {
            return (best.0, best.1 * STEP);
        }
        let error_at = |place: f64| {
            let mut sums = FitSums::default();
            for point in &self.points {
                sums.add(point, curve.at(point.place + place));
            }
            sums.error(self.squares)
        };
        for (i, around) in errors.windows(3).enumerate() {
            let [left, middle, right] = *around else { continue };
            // The minimum between two neighbours lies at most half as far below the middle as the higher neighbour lies above it.
            if middle <= left && middle < right && 1.5 * middle - 0.5 * left.max(right) < best.0 {
                let place = low + i as f64;
                let (place, error) =
                    lowest([(place - 1.0, left), (place, middle), (place + 1.0, right)], error_at);
                if error < best.0 && place >= low {
                    best = (error, place);
                }
            }
        }
        (best.0, best.1 * STEP)
    }

    /// The curve of this turnover with its best height, and its sum of squares. Nothing is interpolated.
    fn best_height(&self, items: u32, turnover: f64) -> (Curve, f64) {
        let rate = f64::from(items) * turnover;
        let mut sums = FitSums::default();
        let values: Vec<f64> = self.points.iter().map(|point| replaced(items, rate * point.days)).collect();
        for (point, value) in self.points.iter().zip(&values) {
            sums.add(point, *value);
        }
        let height = sums.height();
        let square = |(point, value): (&FitPoint, &f64)| {
            let rest = point.divergence - height * value;
            point.weight * rest * rest
        };
        (Curve::scroll(height, rate, items), self.points.iter().zip(&values).map(square).sum())
    }

    fn fit(&self, (curve, error): (Curve, f64), is_saturated: bool) -> Fit {
        Fit {
            curve,
            error,
            weight: self.weight,
            ages: self.points.len(),
            least_days: self.least_days,
            is_saturated,
        }
    }
}

/// The rates of [`Fit::on_grid`], a cycle.
fn grid() -> impl Iterator<Item = f64> {
    const POINTS: u32 = 97;
    let (low, high) = (0.001_f64.ln(), 20_f64.ln());
    (0..POINTS).map(move |i| (low + (high - low) * f64::from(i) / f64::from(POINTS - 1)).exp())
}

/// The minimum of a function as (place, value). Of the three starting places the middle one has the least value.
///
/// Brent's method (Algorithms for Minimization without Derivatives, 1973, ch. 5): repeatedly the minimum of the parabola through
/// the three best places, and golden section where that makes no progress. It ends when the place is enclosed, not when the
/// parabola asks for a small step: where a height reaches 1 the sum of squares bends abruptly, and steps become small too early.
fn lowest([left, middle, right]: [(f64, f64); 3], function: impl Fn(f64) -> f64) -> (f64, f64) {
    const SHARE: f64 = 0.381_966_011_250_105_1;
    let (mut from, mut to) = (left.0, right.0);
    let mut best = middle;
    let (mut second, mut third) = if left.1 <= right.1 { (left, right) } else { (right, left) };
    let (mut last_step, mut step_before) = (to - from, to - from);
    for _ in 0..MOST_TRIES {
        let (to_left, to_right) = (from - best.0, to - best.0);
        if to_right.max(-to_left) <= 2.0 * ENOUGH {
            break;
        }
        let (to_second, to_third) = (second.0 - best.0, third.0 - best.0);
        let (slope_second, slope_third) = ((second.1 - best.1) / to_second, (third.1 - best.1) / to_third);
        let parabola =
            0.5 * (to_second * slope_third - to_third * slope_second) / (slope_third - slope_second);
        let is_progress =
            parabola > to_left && parabola < to_right && parabola.abs() < 0.5 * step_before.abs();
        step_before = last_step;
        let mut step = parabola;
        if !is_progress {
            step_before = if to_right > -to_left { to_right } else { to_left };
            step = SHARE * step_before;
        }
        if step.abs() < ENOUGH {
            // A step just beside the best place, towards the farther end, so that one side encloses it.
            step = if to_right > -to_left { ENOUGH } else { -ENOUGH };
        }
        last_step = step;
        let tried = (best.0 + step, function(best.0 + step));
        if tried.1 <= best.1 {
            *(if step < 0.0 { &mut to } else { &mut from }) = best.0;
            (third, second, best) = (second, best, tried);
        } else {
            *(if step < 0.0 { &mut from } else { &mut to }) = tried.0;
            if tried.1 <= second.1 {
                (third, second) = (second, tried);
            } else if tried.1 <= third.1 {
                third = tried;
            }
        }
    }
    best
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
