//! Expt. 1: four estimators on one page, once (Fig. 1a) and a thousand times (Fig. 1b).

use super::paths::{EstimatePath, ExactMle, PagePace, paths, root_mean_square};
use super::{DAMPING, GAMMA, lln, naive, sa, visit_counts};
use crate::estimate::Estimator;
use crate::policy::allocation::freshness_of_random_visits;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Scale};

/// Δ and p of the page of Expt. 1.
pub(super) const CHANGE_RATE: f64 = 5.0;
pub(super) const CRAWL_RATE: f64 = 3.0;
/// Visits to the page. This number is ours: the text gives none.
pub(super) const VISITS: u32 = 1000;

/// The estimators of Expt. 1 in the order of its text.
const NAMES: [&str; 4] = ["LLN", "SA", "Naive", "MLE"];

/// Fig. 1.
pub(super) fn one_page(effort: Effort) -> Experiment {
    let pace = PagePace::random(CHANGE_RATE, CRAWL_RATE);
    let (lln, sa, naive) = (lln(DAMPING, CRAWL_RATE), sa(GAMMA, CRAWL_RATE), naive(CRAWL_RATE));
    let estimators: [&dyn Estimator; 4] = [&lln, &sa, &naive, &ExactMle];
    let often = visit_counts(1, VISITS, 200, &[]);
    let once = paths(1, &estimators, pace, &often, &mut effort.draws(11));
    let seldom = visit_counts(1, VISITS, 30, &[]);
    let all = paths(effort.runs, &estimators, pace, &seldom, &mut effort.draws(12));
    let figure =
        |name, title: &str, draw: &dyn Fn(&EstimatePath, &str) -> FigureCurve, of: &[EstimatePath]| {
            let mut curves: Vec<FigureCurve> =
                of.iter().zip(NAMES).map(|(path, name)| draw(path, name)).collect();
            curves.push(FigureCurve::level("Δ = 5", 1.0, f64::from(VISITS), CHANGE_RATE));
            let limit = naive_limit(CHANGE_RATE, CRAWL_RATE);
            curves.push(FigureCurve::level("limit of Naive, 1.875", 1.0, f64::from(VISITS), limit));
            Figure {
                name,
                title: title.to_owned(),
                across: Scale::log("visits, k"),
                up: Scale::linear("estimate of Δ").within(0.0, 12.0),
                curves,
            }
        };
    let mut table = Numbers::new(["at k = 1000", "mean", "RMSE", "2.5 %", "97.5 %", "tends to"]);
    for (name, path) in NAMES.into_iter().zip(&all) {
        let last = path.at(VISITS);
        let [low, high] = last.quantiles([0.025, 0.975]);
        let limit = if name == "Naive" { naive_limit(CHANGE_RATE, CRAWL_RATE) } else { CHANGE_RATE };
        table.row(name, [last.mean(), root_mean_square(&last, CHANGE_RATE), low, high, limit]);
    }
    Experiment {
        name: "1-one-page",
        title: format!("Fig. 1, as printed: Δ = 5, p = 3, one run (a) and {} runs (b)", effort.runs),
        notes: vec![
            "the paper prints no numbers here; it says that MLE, LLN and SA are comparable and all outperform Naive".to_owned(),
            "printed: Δ = 5, p = 3, α = 1, γ = 0.75, 1000 runs. Assumed: 1000 visits, and SA starts at one change in ten days"
                .to_owned(),
            "in b, lines are medians and shades hold 95 of 100 runs: early on, a mean is ruled by the runs in which every visit \
             found a change"
                .to_owned(),
            "mistakes in the paper: its §2 prints η = (k + 1)^γ without the minus; for a page never seen to change it says that the \
             MLE does not exist, but it is 0. There MLE takes one change in the time watched, and where every visit found one, one \
             in the shortest interval, as Grimes & Ford do"
                .to_owned(),
        ],
        tables: vec![table],
        figures: vec![
            figure("1a-one-run", "Fig. 1a: one run, Δ = 5, p = 3", &|path, name| path.curve(name, |of| of.median()), &once),
            figure("1b-band", "Fig. 1b: 95 % of the runs, Δ = 5, p = 3", &EstimatePath::band, &all),
        ],
    }
}

/// The limit of the naive estimate if visits come at random: the rate of visits that find a change, p · Δ/(p + Δ).
pub(super) fn naive_limit(change_rate: f64, crawl_rate: f64) -> f64 {
    crawl_rate * (1.0 - freshness_of_random_visits(change_rate, crawl_rate))
}
