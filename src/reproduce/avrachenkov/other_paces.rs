//! Beyond Expt. 3: SA by γ on pages that are visited often and rarely, and LLN by α on the page of Expt. 1.

use super::choices::ALPHAS;
use super::one_page::{CHANGE_RATE, CRAWL_RATE};
use super::paths::{EstimatePath, PagePace, mean_error, paths};
use super::{lln, sa, visit_counts};
use crate::estimate::Estimator;
use crate::estimate::online::Damping;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Scale};

/// Changes and visits a day of each page, with the names of its figure and its column.
const PACES: [(f64, f64, &str, &str, &str); 3] = [
    (
        5.0,
        10.0,
        "beyond-steps-visited-often",
        "Beyond Fig. 3: SA on a page visited twice as often as it changes",
        "Δ 5, p 10",
    ),
    (5.0, 3.0, "beyond-steps-one-page", "Beyond Fig. 3: SA on the page of Fig. 1, Δ = 5, p = 3", "Δ 5, p 3"),
    (
        10.0,
        1.0,
        "beyond-steps-visited-rarely",
        "Beyond Fig. 3: SA on a page that changes ten times between visits",
        "Δ 10, p 1",
    ),
];
const GAMMAS: [f64; 4] = [0.5, 0.6, 0.75, 1.0];
const VISITS: u32 = 3000;
/// Visits at which the table of LLN stops.
const LOOKS: [u32; 4] = [10, 100, 1000, VISITS];

/// Mean errors by γ and by α where the paper does not look.
pub(super) fn other_paces(effort: Effort) -> Experiment {
    let runs = effort.less(5);
    let visits = visit_counts(1, VISITS, 25, &LOOKS);
    let gammas = GAMMAS.map(|gamma| format!("γ = {gamma}"));
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut figures = Vec::new();
    for (change_rate, crawl_rate, name, title, _) in PACES {
        let estimators = GAMMAS.map(|gamma| sa(gamma, crawl_rate));
        let each: Vec<&dyn Estimator> = estimators.iter().map(|one| one as &dyn Estimator).collect();
        let pace = PagePace::random(change_rate, crawl_rate);
        let found = paths(runs, &each, pace, &visits, &mut effort.draws(4));
        columns
            .push(found.iter().map(|path| mean_error(&path.at(VISITS), change_rate) / change_rate).collect());
        figures.push(figure(name, title, change_rate, gammas.iter().map(String::as_str).zip(&found)));
    }
    let mut steps = Numbers::new(["SA"].into_iter().chain(PACES.iter().map(|pace| pace.4)));
    for (at, gamma) in gammas.iter().enumerate() {
        steps.row(gamma, columns.iter().map(|column| column.get(at).copied().unwrap_or(f64::NAN)));
    }
    let estimators = Damping::ALL.map(|damping| lln(damping, CRAWL_RATE));
    let each: Vec<&dyn Estimator> = estimators.iter().map(|one| one as &dyn Estimator).collect();
    let found = paths(runs, &each, PagePace::random(CHANGE_RATE, CRAWL_RATE), &visits, &mut effort.draws(5));
    let title = "Beyond Fig. 3: LLN on the page of Fig. 1, Δ = 5, p = 3";
    figures.push(figure("beyond-damping", title, CHANGE_RATE, ALPHAS.into_iter().zip(&found)));
    let heads = LOOKS.map(|visits| format!("k = {visits}"));
    let mut dampings = Numbers::new(["LLN".to_owned()].into_iter().chain(heads));
    for (name, path) in ALPHAS.into_iter().zip(&found) {
        dampings.row(name, LOOKS.map(|visits| mean_error(&path.at(visits), CHANGE_RATE) / CHANGE_RATE));
    }
    Experiment {
        name: "beyond-other-paces",
        title: format!("Beyond Fig. 3: mean error by Δ on other pages, after {VISITS} visits, {runs} runs"),
        notes: vec![
            "the best γ depends on the page: with γ = 1 what is left of the start falls as k^(−p/(p + Δ)), fast on a page that is \
             visited often; for Δ = 10, p = 1 half of it is there after 2000 visits"
                .to_owned(),
        ],
        tables: vec![steps, dampings],
        figures,
    }
}

/// The mean of |estimate − Δ| / Δ over runs, by visits.
fn figure<'a>(
    name: &'static str,
    title: &str,
    change_rate: f64,
    found: impl Iterator<Item = (&'a str, &'a EstimatePath)>,
) -> Figure {
    let curve = |(name, path): (&str, &EstimatePath)| {
        path.curve(name, |of| mean_error(of, change_rate) / change_rate)
    };
    let curves: Vec<FigureCurve> = found.map(curve).collect();
    let (across, up) = (Scale::log("visits, k"), Scale::log("mean of |estimate − Δ| / Δ"));
    Figure { name, title: title.to_owned(), across, up, curves }
}
