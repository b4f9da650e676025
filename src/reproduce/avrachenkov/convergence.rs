//! Theorems 1 and 2: how fast the error falls with the number of visits, measured as a slope on logarithmic axes.

use super::choices::ALPHAS;
use super::one_page::{CHANGE_RATE, CRAWL_RATE};
use super::paths::{PagePace, mean_error, paths, root_mean_square};
use super::{lln, sa, visit_counts};
use crate::estimate::Estimator;
use crate::estimate::online::Damping;
use crate::reproduce::{CurveKind, Effort, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Slopes are taken between these numbers of visits: before the first, the start of SA still shows.
pub(super) const FIRST: u32 = 300;
pub(super) const LAST: u32 = 10_000;
const GAMMAS: [f64; 5] = [0.5, 0.6, 0.75, 0.9, 1.0];
/// Exponents of the bound of Theorem 1, max(k^(−½), α/k), in the order of [`Damping::ALL`].
const ALPHA_BOUNDS: [f64; 4] = [-0.5, -0.5, -0.5, -0.25];

/// The slopes of both theorems on the page of Expt. 1.
pub(super) fn convergence(effort: Effort) -> Experiment {
    slopes(effort, effort.less(2), LAST)
}

/// The same with that number of runs and visits.
pub(super) fn slopes(effort: Effort, runs: u32, last: u32) -> Experiment {
    let by_alpha = Damping::ALL.map(|damping| lln(damping, CRAWL_RATE));
    let by_gamma = GAMMAS.map(|gamma| sa(gamma, CRAWL_RATE));
    let estimators: Vec<&dyn Estimator> = by_alpha
        .iter()
        .map(|one| one as &dyn Estimator)
        .chain(by_gamma.iter().map(|one| one as &dyn Estimator))
        .collect();
    // γ = 1 is outside of Theorem 2.
    let gammas =
        GAMMAS.map(|gamma| (format!("SA, γ = {gamma}"), if gamma < 1.0 { -gamma / 2.0 } else { f64::NAN }));
    let alphas = ALPHAS.map(|alpha| format!("LLN, {alpha}")).into_iter().zip(ALPHA_BOUNDS);
    let visits = visit_counts(FIRST, last, 12, &[]);
    let pace = PagePace::random(CHANGE_RATE, CRAWL_RATE);
    let found = paths(runs, &estimators, pace, &visits, &mut effort.draws(15));
    let mut table = Numbers::new([
        "estimator".to_owned(),
        "bound of the theorem".to_owned(),
        "slope of the mean error".to_owned(),
        "slope of the RMSE".to_owned(),
        format!("RMSE, k = {FIRST}"),
        format!("RMSE, k = {last}"),
    ]);
    let mut curves = Vec::new();
    for ((name, bound), path) in alphas.chain(gammas).zip(&found) {
        let rmse = |of: &_| root_mean_square(of, CHANGE_RATE);
        let ends = [FIRST, last].map(|visits| rmse(&path.at(visits)));
        let mean_slope = slope(&path.over(|of| mean_error(of, CHANGE_RATE)));
        table.row(name.clone(), [bound, mean_slope, slope(&path.over(rmse))].into_iter().chain(ends));
        curves.push(path.curve(&name, rmse));
    }
    let power = |name: &str, exponent: f64| {
        let point = |visits: &u32| Point::new(f64::from(*visits), 8.0 * f64::from(*visits).powf(exponent));
        let points = visits.iter().map(point).collect();
        FigureCurve { name: name.to_owned(), kind: CurveKind::Reference, points }
    };
    curves.push(power("falls as k^(−1/2)", -0.5));
    curves.push(power("falls as k^(−1/4)", -0.25));
    Experiment {
        name: "theorems-1-and-2",
        title: format!("Theorems 1 and 2: how fast errors fall, Δ = 5, p = 3, k = {FIRST} to {last}, {runs} runs"),
        notes: vec![
            "bound by the theorems: the mean of |estimate − Δ| falls at least as fast as max(k^(−1/2), α/k) for LLN, and as k^(−γ/2) \
             for SA with γ < 1, up to a constant and for large k. Measured: slopes of straight lines through the logarithms of the \
             mean error and of the RMSE"
                .to_owned(),
            "a bound is no law: a slope may be steeper, and it may be flatter where k is not yet large. With α = k^0.75, α/k is \
             still 0.1 at k = 10,000, a quarter of 1 − Δ/(p + Δ), beside which the theorem takes it to be small"
                .to_owned(),
            "γ = 1 is not covered. There the start falls as k^(−p/(p + Δ)), here k^(−0.375)".to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "theorems-rmse",
            title: "Theorems 1 and 2: RMSE by visits, Δ = 5, p = 3".to_owned(),
            across: Scale::log("visits, k"),
            up: Scale::log("RMSE"),
            curves,
        }],
    }
}

/// The slope of a straight line through the logarithms, by least squares.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let many = points.len() as f64;
    let logs = points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (across, up) = logs.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / many, sum.1 + y / many));
    let (both, square) = logs.fold((0.0, 0.0), |sum, (x, y)| {
        (sum.0 + (x - across) * (y - up), sum.1 + (x - across) * (x - across))
    });
    both / square
}
