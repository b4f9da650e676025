//! Beyond Expt. 1: the same page with evenly spaced visits, and moment matching as a fifth estimator.

use super::one_page::{CHANGE_RATE, CRAWL_RATE, VISITS, naive_limit};
use super::paths::{EstimatePath, ExactMle, Gaps, PagePace, paths};
use super::{DAMPING, GAMMA, lln, naive, sa, visit_counts};
use crate::estimate::Estimator;
use crate::estimate::moments::Moments;
use crate::estimate::online::limit_if_evenly_spaced;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Scale};

const NAMES: [&str; 5] = ["LLN", "SA", "Naive", "MLE", "MM"];

/// The effect of evenly spaced visits on each estimator.
pub(super) fn even_visits(effort: Effort) -> Experiment {
    let (lln, sa, naive) = (lln(DAMPING, CRAWL_RATE), sa(GAMMA, CRAWL_RATE), naive(CRAWL_RATE));
    let moments = Moments { keep: usize::MAX };
    let estimators: [&dyn Estimator; 5] = [&lln, &sa, &naive, &ExactMle, &moments];
    let visits = visit_counts(1, VISITS, 30, &[]);
    let random = PagePace::random(CHANGE_RATE, CRAWL_RATE);
    let even = PagePace { gaps: Gaps::Even, ..random };
    let [random, even] = [(random, 1), (even, 2)]
        .map(|(pace, draws)| paths(effort.runs, &estimators, pace, &visits, &mut effort.draws(draws)));
    let limit = limit_if_evenly_spaced(CHANGE_RATE, CRAWL_RATE);
    let naive_even = CRAWL_RATE * -(-CHANGE_RATE / CRAWL_RATE).exp_m1();
    let limits = [
        (CHANGE_RATE, limit),
        (CHANGE_RATE, limit),
        (naive_limit(CHANGE_RATE, CRAWL_RATE), naive_even),
        (CHANGE_RATE, CHANGE_RATE),
        (CHANGE_RATE, CHANGE_RATE),
    ];
    let mut table = Numbers::new(["at k = 1000", "random: mean", "tends to", "even: mean", "even: tends to"]);
    for (((name, random), even), limits) in NAMES.into_iter().zip(&random).zip(&even).zip(limits) {
        let mean = |path: &EstimatePath| path.at(VISITS).mean();
        table.row(name, [mean(random), limits.0, mean(even), limits.1]);
    }
    let mut curves: Vec<FigureCurve> = even.iter().zip(NAMES).map(|(path, name)| path.band(name)).collect();
    for (name, value) in [("Δ = 5", CHANGE_RATE), ("limit of LLN and SA, 12.88", limit)] {
        curves.push(FigureCurve::level(name, 1.0, f64::from(VISITS), value));
    }
    Experiment {
        name: "beyond-even-visits",
        title: format!("Beyond Fig. 1: the same page with evenly spaced visits, and MM, {} runs", effort.runs),
        notes: vec![
            "the paper has exponential gaps only, and these are all that LLN and SA rest on: with even gaps both tend to \
             p (e^(Δ/p) − 1) = 12.88"
                .to_owned(),
            "MM is moment matching (§3.3), which the paper describes and does not run".to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "beyond-even-visits",
            title: "Beyond Fig. 1: Δ = 5, p = 3, evenly spaced visits".to_owned(),
            across: Scale::log("visits, k"),
            up: Scale::linear("estimate of Δ").within(0.0, 20.0),
            curves,
        }],
    }
}
