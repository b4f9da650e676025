//! Expt. 3: LLN with several α and SA with several γ, on a page that changes five times as often as it is visited.

use super::paths::{EstimatePath, PagePace, paths, root_mean_square};
use super::{lln, sa, visit_counts};
use crate::estimate::Estimator;
use crate::estimate::online::Damping;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Scale};

/// Δ and p of both panels of Fig. 3.
const CHANGE_RATE: f64 = 1000.0;
const CRAWL_RATE: f64 = 200.0;
/// Visits to the page. This number is ours: the text gives none.
const VISITS: u32 = 5000;
/// Visits at which the tables stop.
const LOOKS: [u32; 4] = [10, 100, 1000, VISITS];

/// The choices of α with their names, in the order of [`Damping::ALL`].
pub(super) const ALPHAS: [&str; 4] = ["α = 1", "α = log(k + 1)", "α = √k", "α = k^0.75"];
/// The choices of γ.
const GAMMAS: [f64; 3] = [0.5, 0.75, 1.0];

/// Fig. 3.
pub(super) fn choices(effort: Effort) -> Experiment {
    let runs = effort.less(5);
    let visits = visit_counts(1, VISITS, 40, &LOOKS);
    let pace = PagePace::random(CHANGE_RATE, CRAWL_RATE);
    let by_alpha = Damping::ALL.map(|damping| lln(damping, CRAWL_RATE));
    let by_gamma = GAMMAS.map(|gamma| sa(gamma, CRAWL_RATE));
    let gammas = GAMMAS.map(|gamma| format!("γ = {gamma}"));
    let gammas: Vec<&str> = gammas.iter().map(String::as_str).collect();
    let estimators: Vec<&dyn Estimator> = by_alpha.iter().map(|one| one as &dyn Estimator).collect();
    let alpha_paths = paths(runs, &estimators, pace, &visits, &mut effort.draws(13));
    let estimators: Vec<&dyn Estimator> = by_gamma.iter().map(|one| one as &dyn Estimator).collect();
    let gamma_paths = paths(runs, &estimators, pace, &visits, &mut effort.draws(14));
    Experiment {
        name: "3-choices",
        title: format!("Fig. 3, as printed: Δ = 1000, p = 200, LLN by α (a) and SA by γ (b), {runs} runs"),
        notes: vec![
            "the paper prints no numbers here; it says that α = k^0.75 is the worst, that γ = 0.75 is better than γ = 0.5, and that γ \
             = 1 is worse"
                .to_owned(),
            "printed: Δ = 1000, p = 200, three α of which the text names k^0.75, and γ. The others of α are those of §2: 1, log k and \
             √k; log k is 0 at the first visit, though α must be above 0, so here it is log(k + 1)"
                .to_owned(),
            format!("assumed: {VISITS} visits, means of {runs} runs; SA starts at one change in ten days, which is 0 beside Δ"),
            "with γ = 1 what is left of the start falls as k^(−p/(p + Δ)), here as k^(−1/6): a fifth of Δ is missing after 5000 visits"
                .to_owned(),
            "the paper admits γ in (0, 1]; its theorem on convergence needs γ > ½, and its speed γ < 1".to_owned(),
        ],
        tables: vec![table("LLN", &ALPHAS, &alpha_paths), table("SA", &gammas, &gamma_paths)],
        figures: vec![
            figure("3a-alpha", "Fig. 3a: LLN by α, Δ = 1000, p = 200, means", &ALPHAS, &alpha_paths),
            figure("3b-gamma", "Fig. 3b: SA by γ, Δ = 1000, p = 200, means", &gammas, &gamma_paths),
        ],
    }
}

fn table(of: &str, names: &[&str], paths: &[EstimatePath]) -> Numbers {
    let means = LOOKS.map(|visits| format!("mean, k = {visits}"));
    let errors = [1000, VISITS].map(|visits| format!("RMSE, k = {visits}"));
    let mut table = Numbers::new([of.to_owned()].into_iter().chain(means).chain(errors));
    for (name, path) in names.iter().zip(paths) {
        let means = LOOKS.map(|visits| path.at(visits).mean());
        let errors = [1000, VISITS].map(|visits| root_mean_square(&path.at(visits), CHANGE_RATE));
        table.row(*name, means.into_iter().chain(errors));
    }
    table
}

fn figure(name: &'static str, title: &str, names: &[&str], paths: &[EstimatePath]) -> Figure {
    let curves = names.iter().zip(paths).map(|(name, path)| path.curve(name, |of| of.mean()));
    let truth = FigureCurve::level("Δ = 1000", 1.0, f64::from(VISITS), CHANGE_RATE);
    Figure {
        name,
        title: title.to_owned(),
        across: Scale::log("visits, k"),
        up: Scale::linear("estimate of Δ").above(0.0),
        curves: curves.chain([truth]).collect(),
    }
}
