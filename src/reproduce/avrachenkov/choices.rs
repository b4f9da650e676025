//! Expt. 3: the effect of the step of SA and of the damping of LLN on the error.

use rand::Rng;

use super::one_page::{CHANGE_RATE, CRAWL_RATE};
use super::{lln, sa, visit};
use crate::estimate::online::Damping;
use crate::estimate::{Estimator, EstimatorState};
use crate::reproduce::{
    Effort, Experiment, Figure, FigureCurve, Numbers, Point, Scale, exponential, geometric,
};
use crate::time::Age;

/// The pages of Expt. 3: changes and visits a day.
const PACES: [(f64, f64, &str, &str); 3] = [
    (5.0, 10.0, "3a-steps-visited-often", "SA on a page visited twice as often as it changes"),
    (5.0, 3.0, "3b-steps-as-before", "SA on the page of Expt. 1, Δ = 5, p = 3"),
    (10.0, 1.0, "3b-steps-visited-rarely", "SA on a page that changes ten times between visits"),
];
const GAMMAS: [f64; 4] = [0.5, 0.6, 0.75, 1.0];
const LONGEST_VISITS: f64 = 3000.0;

/// Expt. 3: the effect of γ of SA and of α of LLN on the error.
pub(super) fn choices(effort: Effort) -> Experiment {
    let runs = effort.less(5);
    let visits = geometric(1.0, LONGEST_VISITS, 25);
    let mut steps = Numbers::new(["SA", "Δ 5, p 10", "Δ 5, p 3", "Δ 10, p 1"]);
    let mut dampings = Numbers::new(["LLN", "after 10 visits", "after 100", "after 1000", "after 3000"]);
    let mut figures = Vec::new();
    let mut last: Vec<Vec<f64>> = vec![Vec::new(); GAMMAS.len()];
    for (change_rate, crawl_rate, name, title) in PACES {
        let estimators = GAMMAS.map(|gamma| sa(gamma, crawl_rate));
        let each: Vec<&dyn Estimator> = estimators.iter().map(|one| one as &dyn Estimator).collect();
        let errors = errors(runs, &each, (change_rate, crawl_rate), &visits, &mut effort.draws(4));
        let curves = GAMMAS
            .iter()
            .zip(&errors)
            .map(|(gamma, errors)| error_curve(format!("γ = {gamma}"), &visits, errors));
        for (last, errors) in last.iter_mut().zip(&errors) {
            last.extend(errors.last().copied());
        }
        figures.push(error_figure(name, title, curves.collect()));
    }
    for (gamma, errors) in GAMMAS.iter().zip(last) {
        steps.row(format!("γ = {gamma}"), errors);
    }
    let estimators = Damping::ALL.map(|damping| lln(damping, CRAWL_RATE));
    let each: Vec<&dyn Estimator> = estimators.iter().map(|one| one as &dyn Estimator).collect();
    let pace = (CHANGE_RATE, CRAWL_RATE);
    let found = errors(runs, &each, pace, &visits, &mut effort.draws(5));
    let names = ["α = 1", "α = ln(n + 1)", "α = √n", "α = n^¾"];
    let curves =
        names.iter().zip(&found).map(|(name, errors)| error_curve((*name).to_owned(), &visits, errors));
    figures.push(error_figure("3-damping", "LLN on the page of Expt. 1, Δ = 5, p = 3", curves.collect()));
    let round = [10.0, 100.0, 1000.0, LONGEST_VISITS];
    let found = errors(runs, &each, pace, &round, &mut effort.draws(5));
    for (name, errors) in names.iter().zip(found) {
        dampings.row(*name, errors);
    }
    Experiment {
        name: "3-choices",
        title: format!("Expt. 3: mean error by Δ after {LONGEST_VISITS} visits, {runs} runs"),
        notes: vec![
            "the rates of Fig. 3b are assumed; what it shows needs a page that changes faster than it is visited. With γ = 1 \
             what is left of the start falls as k^(−p/(p + Δ)): for Δ = 10, p = 1 half of it is there after 2000 visits"
                .to_owned(),
            "the paper admits γ in (0, 1]; its theorem on convergence needs γ > ½, and its speed γ < 1".to_owned(),
            "α = log k is 0 at the first visit, though α must be above 0: here ln(n + 1)".to_owned(),
        ],
        tables: vec![steps, dampings],
        figures,
    }
}

/// The mean of |estimate − Δ| / Δ over runs, for each estimator after each number of visits.
fn errors(
    runs: u32,
    estimators: &[&dyn Estimator],
    (change_rate, crawl_rate): (f64, f64),
    visits: &[f64],
    random: &mut impl Rng,
) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; visits.len()]; estimators.len()];
    for _ in 0..runs {
        let mut states = vec![EstimatorState::default(); estimators.len()];
        let mut done = 0.0;
        for (at, many) in visits.iter().enumerate() {
            while done < many.round() {
                let gap = exponential(crawl_rate, random);
                let seen = visit(change_rate, gap, random);
                for (estimator, state) in estimators.iter().zip(&mut states) {
                    estimator.observe(state, Age::from_days(gap), seen);
                }
                done += 1.0;
            }
            for ((estimator, state), sums) in estimators.iter().zip(&states).zip(&mut sums) {
                let error = (estimator.as_published(state).rate.get() - change_rate).abs() / change_rate;
                if let Some(sum) = sums.get_mut(at) {
                    *sum += error / f64::from(runs);
                }
            }
        }
    }
    sums
}

fn error_curve(name: String, visits: &[f64], errors: &[f64]) -> FigureCurve {
    let points = visits.iter().zip(errors).map(|(visits, error)| Point::new(visits.round(), *error));
    FigureCurve::measured(name, points.collect())
}

fn error_figure(name: &'static str, title: &str, curves: Vec<FigureCurve>) -> Figure {
    let (across, up) = (Scale::log("visits"), Scale::log("mean of |estimate − Δ| / Δ"));
    Figure { name, title: title.to_owned(), across, up, curves }
}
