//! The experiments of the papers that freshet stands on, run again with freshet's own estimators.
//!
//! The number of runs and a seed come in, and for some papers a dataset. A [`Reproduced`] goes out: tables, curves, and notes
//! on mistakes in a paper and on details that it leaves open and that had to be assumed. No formula is written a second time
//! here, only simulated pages and statistics over runs. The same seed gives the same numbers, except where time is measured.
//!
//! Nothing is plotted, printed or written here: the command does that. Fig. 2 of `user-centric` needs a store, which is in a temporary
//! folder and goes away.

pub mod avrachenkov;
pub mod gp4c;
pub mod grimes_ford;
pub mod longevity;
pub mod registry;
pub mod user_centric;

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How often a page's life is simulated. Experiments with many pages make fewer runs, as their notes say.
    pub runs: u32,
    /// All draws follow from it.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { runs: 1000, seed: 1 }
    }
}

impl Effort {
    /// Random numbers of an experiment, which don't depend on those of other experiments.
    fn draws(self, experiment: u64) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(self.seed.wrapping_mul(1_000_003).wrapping_add(experiment))
    }

    /// The number of runs divided by `times`, but at least two.
    fn less(self, times: u32) -> u32 {
        (self.runs / times.max(1)).max(2)
    }
}

/// A paper's experiments, run again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduced {
    /// The paper, in short.
    pub paper: &'static str,
    /// Its experiments, in the paper's order.
    pub experiments: Vec<Experiment>,
}

/// One experiment: its notes, tables and figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// A short name, for file names.
    pub name: &'static str,
    /// The title that is printed.
    pub title: String,
    /// What was run, what was assumed, and mistakes in the paper.
    pub notes: Vec<String>,
    /// The numbers.
    pub tables: Vec<Numbers>,
    /// The plots.
    pub figures: Vec<Figure>,
}

/// A table of named rows with a number for each column. A number that is not finite is unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// The heads of the columns, that of the names first.
    pub heads: Vec<String>,
    /// A name and its numbers.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl Numbers {
    fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { heads: heads.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    fn row(&mut self, of: impl Into<String>, numbers: impl IntoIterator<Item = f64>) {
        self.rows.push((of.into(), numbers.into_iter().collect()));
    }

    /// The number of that row under that head.
    pub fn get(&self, of: &str, head: &str) -> Option<f64> {
        // The first head is that of the names.
        let at = self.heads.iter().skip(1).position(|other| other == head)?;
        self.rows.iter().find(|(name, _)| name == of)?.1.get(at).copied()
    }
}

/// Curves in one plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// A short name, for file names. No two figures of a paper have the same.
    pub name: &'static str,
    /// The title that is drawn.
    pub title: String,
    /// The horizontal axis.
    pub across: Scale,
    /// The vertical axis.
    pub up: Scale,
    /// The curves, the first at the bottom.
    pub curves: Vec<FigureCurve>,
}

/// The label and the scale of an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// The words beside the axis.
    pub label: String,
    /// Is it logarithmic?
    pub log: bool,
    /// The lower bound; `None`: as the points have it.
    pub from: Option<f64>,
    /// The upper bound; `None`: as the points have it.
    pub to: Option<f64>,
}

impl Scale {
    fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), log: false, from: None, to: None }
    }

    fn log(label: &str) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    fn within(self, from: f64, to: f64) -> Self {
        Self { from: Some(from), to: Some(to), ..self }
    }

    fn above(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }
}

/// One curve of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureCurve {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub kind: CurveKind,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// What a curve stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// A result of the runs.
    Measured,
    /// A reference for the others: a truth, or a limit given by theory.
    Reference,
    /// A histogram: the share of pages in each bin.
    Histogram,
    /// Points that are not joined.
    Scatter,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up; the mean of the runs.
    pub y: f64,
    /// The range of 95 % of the runs, if runs differ.
    pub bounds: Option<(f64, f64)>,
}

impl Point {
    const fn new(x: f64, y: f64) -> Self {
        Self { x, y, bounds: None }
    }
}

impl FigureCurve {
    fn measured(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), kind: CurveKind::Measured, points }
    }

    /// A level line between two places.
    fn level(name: impl Into<String>, from: f64, to: f64, value: f64) -> Self {
        let points = vec![Point::new(from, value), Point::new(to, value)];
        Self { name: name.into(), kind: CurveKind::Reference, points }
    }
}

/// The values of all runs at one place.
#[derive(Clone, Debug, Default, PartialEq)]
struct ErrorSample(Vec<f64>);

impl ErrorSample {
    fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The quantile at that share, interpolated between the two values next to it.
    fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        shares.map(|share| {
            let at = share * values.len().saturating_sub(1) as f64;
            let (below, part) = (at.floor(), at.fract());
            match (values.get(below as usize), values.get(below as usize + 1)) {
                (Some(low), Some(high)) if part > 0.0 => low + part * (high - low),
                (Some(value), _) => *value,
                (None, _) => f64::NAN,
            }
        })
    }

    fn median(&self) -> f64 {
        let [median] = self.quantiles([0.5]);
        median
    }

    /// The median, and the range of 95 % of the values.
    fn point(&self, x: f64) -> Point {
        let [low, median, high] = self.quantiles([0.025, 0.5, 0.975]);
        Point { x, y: median, bounds: Some((low, high)) }
    }
}

/// Pearson's correlation. Not a number if one of the two does not vary.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// A draw of the time to the next event, if events come at random at this rate.
fn exponential(rate: f64, random: &mut impl Rng) -> f64 {
    -(-random.random::<f64>()).ln_1p() / rate
}

/// Numbers from the first to the last, each a fixed multiple of the one before.
fn geometric(first: f64, last: f64, many: u32) -> Vec<f64> {
    let step = (last / first).ln() / f64::from(many.max(2) - 1);
    (0..many).map(|at| first * (step * f64::from(at)).exp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_told_by_their_quantiles() {
        let sample = ErrorSample(vec![3.0, 1.0, 2.0, 4.0]);
        assert_eq!((sample.mean(), sample.median()), (2.5, 2.5));
        assert_eq!(sample.quantiles([0.0, 1.0]), [1.0, 4.0]);
        assert!(ErrorSample::default().median().is_nan());
    }

    #[test]
    fn random_moments_come_at_their_rate() {
        let mut draws = Effort::default().draws(0);
        let mean = (0..10_000).map(|_| exponential(4.0, &mut draws)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.25).abs() < 0.01, "{mean}");
        let places = geometric(1.0, 100.0, 3);
        assert!((places[1] - 10.0).abs() < 1e-9 && (places[2] - 100.0).abs() < 1e-9, "{places:?}");
    }
}
