//! Samples → the curve that fits them best.
//!
//! Weighted least squares over [`Curve`]: churn, and scroll with 2, 4, 8, 16 or 32 items. The height enters
//! linearly, so for a given rate it is a quotient, clipped to [0, 1]; the rate is scanned and then refined. Olston & Pandey 2008 (§4) fit a curve but don't say how. Squares, not a robust loss: samples
//! lie in [0, 1] already, and one that is off by 1 among a dozen is a fact about the page.
//!
//! Three samples are few, and one fits any curve: [`Fit::ages`] says how many there were.
//!
//! [`Fit::on_grid`] is the same without refinement, on a fixed grid of rates: what the figures of an independent
//! implementation were made with, so that a replay can be held against them.

use super::curve::Curve;
use super::samples::Sample;
use super::shape::replaced;
use super::tabulated::{ITEMS, STEP, Tabulated, curves};

/// Fewer distinct ages can't tell a list from churn.
const AGES_TO_SEE_SCROLL: usize = 4;

/// The least rate that is tried turns over this share of the page until the longest age: less is a straight line.
const LEAST_TURN: f64 = 0.01;
/// The largest turns over so often until the shortest age: 1 − e^(−20), nobody can tell more.
const MOST_TURNS: f64 = 20.0;

/// Sums of squares that differ by less are equal, and the simpler curve is taken: a share of the least, and what
/// rounding leaves.
const TIE: (f64, f64) = (1e-3, 1e-9);

/// At so many turns until the shortest age, or at the same divergence for a list, the rate can't be told any more.
const SATURATED_TURNS: f64 = 5.0;

/// Ages are moved between these, in days: a tenth of a second and three thousand years.
const AGES: (f64, f64) = (1e-6, 1e6);
/// Weights are moved between these.
const WEIGHTS: (f64, f64) = (1e-9, 1e9);
/// Enough for the ages above: ln(20 / 0.01 · 1e12) / [`STEP`] + 3.
const MOST_STEPS: usize = 288;
/// Sums of squares that differ by less, as a share of all, differ by rounding.
const ROUNDING: f64 = 1e-12;
/// A rate is refined until it is known to twice this, in steps: 4e-5 of itself.
const ENOUGH: f64 = 2e-5 / STEP;
/// Golden section alone would be there by then.
const MOST_TRIES: usize = 24;

/// A curve that was fitted, and how well it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// What fits best.
    pub curve: Curve,
    /// The weighted sum of squares that it leaves.
    pub error: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// How many samples there were; ages, if they were [`combined`](super::samples::combined).
    pub ages: usize,
    /// The shortest age there was, in days.
    pub least_days: f64,
    /// The curve is at its height at the shortest age already: how fast it got there nobody saw.
    pub is_saturated: bool,
}

impl Fit {
    /// The best curve for samples as [`combined`](super::samples::combined) gives them; `None` without any of a positive age.
    pub fn of(samples: &[Sample]) -> Option<Self> {
        let points = Points::of(samples)?;
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

    /// The best of a fixed grid: the same curves, ν = r/K at 97 values from 0.001 to 20 a cycle, evenly spaced in ln ν and
    /// at most 20 turns until the shortest age; the first that is best, fewer items first. Nothing is interpolated.
    pub fn on_grid(samples: &[Sample], days_a_cycle: f64) -> Option<Self> {
        let points = Points::of(samples)?;
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

    /// The curve to take the utility from. Where the rate is not known, a page must not look as if it were known
    /// to be worth nothing: it is taken to turn over once in the shortest age, so utility is at most height ·
    /// shortest age.
    pub fn worth(&self) -> Curve {
        if self.is_saturated { Curve::churn(self.curve.height(), 1.0 / self.least_days) } else { self.curve }
    }

    /// How far samples are from the curve, as a root mean square.
    pub fn deviation(&self) -> f64 {
        (self.error / self.weight).sqrt()
    }
}

/// What is fitted to: positive ages, divergences in [0, 1], positive weights.
struct Points {
    points: Vec<Point>,
    least_days: f64,
    most_days: f64,
    weight: f64,
    /// Σ w y².
    squares: f64,
}

struct Point {
    days: f64,
    /// ln of the age, in steps.
    place: f64,
    divergence: f64,
    weight: f64,
}

/// Sums over points of a curve of height 1, f.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Σ w y f.
    along: f64,
    /// Σ w f².
    own: f64,
}

impl Sums {
    fn add(&mut self, point: &Point, value: f64) {
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

/// The same for every step of a scan.
struct Scan {
    along: [f64; MOST_STEPS],
    own: [f64; MOST_STEPS],
}

impl Scan {
    fn add(&mut self, point: &Point, values: &[f64]) {
        let Point { divergence, weight, .. } = *point;
        for ((along, own), value) in self.along.iter_mut().zip(&mut self.own).zip(values) {
            let weighted = weight * value;
            *along += weighted * divergence;
            *own += weighted * value;
        }
    }

    fn errors(&self, squares: f64, errors: &mut [f64]) {
        for ((along, own), error) in self.along.iter().zip(&self.own).zip(errors) {
            *error = Sums { along: *along, own: *own }.error(squares);
        }
    }
}

impl Points {
    fn of(samples: &[Sample]) -> Option<Self> {
        let usable =
            |sample: &&Sample| sample.days > 0.0 && sample.weight > 0.0 && !sample.divergence.is_nan();
        let points: Vec<Point> = samples
            .iter()
            .filter(usable)
            .map(|sample| {
                let days = sample.days.clamp(AGES.0, AGES.1);
                Point {
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

    /// The curves that so many ages can tell apart.
    fn candidates(&self) -> &'static [Tabulated] {
        let curves = curves();
        if self.points.len() < AGES_TO_SEE_SCROLL { curves.get(..1).unwrap_or_default() } else { curves }
    }

    /// The sum of squares of a curve at its best turnover, ν = r/K, and ln ν.
    fn best_turnover(&self, curve: &Tabulated) -> (f64, f64) {
        // Where the curve is a straight line for all points, or 1 for all, a rate is as good as the next.
        let low = (LEAST_TURN.ln() / STEP).max(curve.first) - self.most_days.ln() / STEP;
        let high = (MOST_TURNS.ln() / STEP).min(curve.end) - self.least_days.ln() / STEP;
        // One step more, below: the least may lie just above the lowest rate.
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
        // A single age many rates fit alike, and rounding must not decide: the slowest is taken.
        let is_single = self.points.len() == 1;
        let alike = if is_single { least + ROUNDING * self.squares } else { least };
        let step = allowed.iter().position(|error| *error <= alike).unwrap_or(0);
        let mut best = (least, low + step as f64);
        if is_single {
            return (best.0, best.1 * STEP);
        }
        let error_at = |place: f64| {
            let mut sums = Sums::default();
            for point in &self.points {
                sums.add(point, curve.at(point.place + place));
            }
            sums.error(self.squares)
        };
        for (i, around) in errors.windows(3).enumerate() {
            let [left, middle, right] = *around else { continue };
            // Between its neighbours a valley is no deeper than half as far again as they rise above its middle.
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

    /// The curve of this turnover with its best height, and the sum of squares that it leaves: nothing is interpolated.
    fn best_height(&self, items: u32, turnover: f64) -> (Curve, f64) {
        let rate = f64::from(items) * turnover;
        let mut sums = Sums::default();
        let values: Vec<f64> = self.points.iter().map(|point| replaced(items, rate * point.days)).collect();
        for (point, value) in self.points.iter().zip(&values) {
            sums.add(point, *value);
        }
        let height = sums.height();
        let square = |(point, value): (&Point, &f64)| {
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

/// Where a function is least, and what it is there. Of the three places that it starts from, the one in the middle
/// has the least value.
///
/// Brent's method (Algorithms for Minimization without Derivatives, 1973, ch. 5): the lowest place of the parabola through
/// the three best, again and again; where that is no progress, golden section. It ends when the place is enclosed, not
/// when a parabola asks for a small step: where a height reaches 1 the sum of squares bends abruptly, and a parabola
/// with an end far away then creeps.
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
            // Just beside it, towards the end that is farther away: one of the two encloses it.
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
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::samples::combined;
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};

    fn samples(case: &Value) -> Vec<Sample> {
        let (days, divergence) = (numbers(&case["t"]), numbers(&case["D"]));
        days.iter().zip(&divergence).map(|(days, divergence)| Sample::new(*days, *divergence)).collect()
    }

    #[test]
    fn fits_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/curve_fits.json"));
        let tolerance = |name: &str| number(&golden["tolerance"][name]);
        for case in golden["cases"].as_array().expect("cases") {
            let label = &case["label"];
            let fit = Fit::of(&samples(case)).expect("a fit");
            let expected = &case["fit"];
            let (kind, items) = match fit.curve {
                Curve::Static => ("static", None),
                Curve::Churn { .. } => ("churn", None),
                Curve::Scroll { items, .. } => ("scroll", Some(u64::from(items))),
            };
            assert_eq!(
                (kind, items),
                (expected["chosen"].as_str().expect("a name"), expected["K"].as_u64()),
                "{label}"
            );
            if kind == "static" {
                assert_eq!(fit.error, 0.0);
                continue;
            }
            let most = number(&expected["sse"]) * (1.0 + tolerance("sse_factor")) + 1e-8;
            assert!(fit.error <= most, "{label}: {} for {most}", fit.error);
            if !expected["well_conditioned"].as_bool().expect("a flag") {
                continue;
            }
            let (Curve::Churn { height, rate } | Curve::Scroll { height, rate, .. }) = fit.curve else {
                panic!("{label}: {fit:?}");
            };
            assert!(close(height, number(&expected["A"]), tolerance("params_relative")), "{label}: {fit:?}");
            assert!(close(rate, number(&expected["rate"]), tolerance("params_relative")), "{label}: {fit:?}");
            for root in case["phi"].as_array().expect("roots") {
                let period = fit.curve.refresh_period(number(&root["T"]));
                match (period, root["phi"].as_f64()) {
                    (Some(period), Some(expected)) => {
                        assert!(
                            close(period, expected, tolerance("phi_relative")),
                            "{label}: {period} {expected}"
                        );
                    }
                    (period, expected) => assert_eq!(period, expected, "{label}: {root}"),
                }
            }
        }
    }

    #[test]
    fn a_grid_finds_what_lies_on_it_and_no_better() {
        let grid: Vec<f64> = grid().collect();
        assert_eq!(grid.len(), 97);
        assert!(close(grid[0], 0.001, 1e-12) && close(grid[96], 20.0, 1e-12));
        for (items, turnover) in [(1, grid[40]), (4, grid[55]), (32, grid[50])] {
            let curve = Curve::scroll(0.6, f64::from(items) * turnover, items);
            let days = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0];
            let samples = days.map(|days| Sample::new(days, curve.divergence(days)));
            let fit = Fit::on_grid(&samples, 1.0).expect("a fit");
            assert!(
                fit.error < 1e-28 && close(fit.curve.supremum(), curve.supremum(), 1e-9),
                "{fit:?} {curve:?}"
            );
            // The same page, seen by a crawler with weekly cycles.
            let weekly = samples.map(|sample| Sample { days: 7.0 * sample.days, ..sample });
            let fit = Fit::on_grid(&weekly, 7.0).expect("a fit");
            assert!(close(fit.curve.supremum(), 7.0 * curve.supremum(), 1e-9), "{fit:?} {curve:?}");
        }
    }

    #[test]
    fn a_page_at_its_height_at_once_is_worth_no_more_than_its_shortest_age() {
        let samples = [1.0, 2.0, 4.0, 8.0].map(|days| Sample::new(days, 0.4));
        for fit in [Fit::of(&samples), Fit::on_grid(&samples, 1.0)] {
            let fit = fit.expect("a fit");
            assert!(fit.is_saturated && close(fit.curve.height(), 0.4, 1e-6), "{fit:?}");
            let worth = fit.worth();
            assert!(close(worth.supremum(), 0.4, 1e-6), "{worth:?}");
            // A·g(1 − (1 + t/g) e^(−t/g)), g = 1.
            assert!(close(worth.utility(2.0), 0.4 * (1.0 - 3.0 * (-2.0_f64).exp()), 1e-6));
        }
    }

    #[test]
    fn weights_count_as_repetitions() {
        let seen = [(1.0, 0.1), (1.0, 0.3), (2.0, 0.25), (4.0, 0.5), (4.0, 0.4), (4.0, 0.45), (9.0, 0.6)];
        let all = seen.map(|(days, divergence)| Sample::new(days, divergence));
        let (apart, together) = (Fit::of(&all).expect("a fit"), Fit::of(&combined(all, 0.0)).expect("a fit"));
        assert!(close(apart.curve.height(), together.curve.height(), 1e-4), "{apart:?} {together:?}");
        assert!(close(apart.curve.supremum(), together.curve.supremum(), 1e-4), "{apart:?} {together:?}");
        assert_eq!((together.ages, together.weight), (4, 7.0));
    }

    proptest! {
        #[test]
        fn no_scan_point_is_better_than_the_fit(
            curve in (0.01..1.0_f64, -3.0..2.0_f64, 0_usize..6),
            seen in proptest::collection::vec((-2.0..2.0_f64, -0.1..0.1_f64), 1..14),
        ) {
            let (height, log_rate, items) = curve;
            let page = Curve::scroll(height, 10_f64.powf(log_rate), ITEMS[items]);
            let samples = combined(seen.iter().map(|(log_days, noise)| {
                let days = 10_f64.powf(*log_days);
                Sample::new(days, page.divergence(days) + noise)
            }), 0.0);
            let fit = Fit::of(&samples).expect("a fit");
            let points = Points::of(&samples).expect("points");
            for tried in points.candidates() {
                for i in 0..400 {
                    let turnover = LEAST_TURN / points.most_days * 10_f64.powf(f64::from(i) * 0.025);
                    if turnover * points.least_days <= MOST_TURNS {
                        let error = points.best_height(tried.items, turnover).1;
                        // Nearly straight lines are not told apart.
                        prop_assert!(fit.error <= error * (1.0 + 2.0 * TIE.0) + 1e-7, "{fit:?}: {turnover} {error}");
                    }
                }
            }
        }

        #[test]
        fn whatever_comes_in_fits_are_finite(
            seen in proptest::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..10),
            plausible in proptest::collection::vec((0_u8..6, -1..3_i32), 0..10),
            age in any::<f64>(),
        ) {
            let odd = seen.iter().map(|(days, divergence, weight)| Sample {
                days: *days, divergence: *divergence, weight: *weight,
            });
            let plain = plausible.iter().map(|(days, divergence)| Sample::new(f64::from(*days), f64::from(*divergence)));
            let all: Vec<Sample> = odd.chain(plain).collect();
            for samples in [combined(all.clone(), 0.01), all] {
                for fit in [Fit::of(&samples), Fit::on_grid(&samples, 1.0)].into_iter().flatten() {
                    prop_assert!(fit.error >= 0.0 && fit.error.is_finite(), "{fit:?}");
                    for curve in [fit.curve, fit.worth()] {
                        prop_assert!((0.0..=1.0).contains(&curve.divergence(age)), "{fit:?}");
                        prop_assert!(curve.utility(age) >= 0.0 && curve.utility(age).is_finite(), "{fit:?}");
                        prop_assert!(curve.supremum().is_finite(), "{fit:?}");
                        prop_assert!(curve.refresh_period(age).is_none_or(|days| days >= 0.0), "{fit:?}");
                    }
                }
            }
        }
    }
}
