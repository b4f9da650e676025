//! §4: the time of one more visit, which grows with the visits before it for the exact MLE and not for the online estimators.

use std::time::Instant;

use super::one_page::{CHANGE_RATE, CRAWL_RATE};
use super::paths::{ExactMle, PagePace};
use super::{DAMPING, GAMMA, lln, naive, sa};
use crate::estimate::censored::MostLikely;
use crate::estimate::{Estimator, EstimatorState};
use crate::reproduce::{Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Point, Scale};
use crate::time::Age;

/// Visits before the one that is measured.
const VISITS: [u32; 4] = [10, 100, 1000, 10_000];
/// Steps that are measured together, because one is too short for the clock.
const STEPS: usize = 50;
/// How often that is done; the median counts.
const TIMES: usize = 9;

/// The time of a step by the number of visits.
pub(super) fn step_time(effort: Effort) -> Experiment {
    let (lln, sa, naive) = (lln(DAMPING, CRAWL_RATE), sa(GAMMA, CRAWL_RATE), naive(CRAWL_RATE));
    let exact = MostLikely { keep: usize::MAX, ..MostLikely::default() };
    let kept = MostLikely::default();
    let rows: [(&str, &dyn Estimator, &dyn Estimator); 5] = [
        // The history of the exact MLE can be made without a search at each visit.
        ("MLE (eq. 9)", &exact, &ExactMle),
        ("MLE of crawls, 16 lengths", &kept, &kept),
        ("LLN", &lln, &lln),
        ("SA", &sa, &sa),
        ("Naive", &naive, &naive),
    ];
    let heads = VISITS.map(|visits| format!("k = {visits}"));
    let mut table = Numbers::new(["microseconds a step".to_owned()].into_iter().chain(heads));
    let mut curves = Vec::new();
    for (name, estimator, filler) in rows {
        let times = VISITS.map(|visits| microseconds(estimator, filler, visits, effort));
        table.row(name, times);
        let points = VISITS.iter().zip(times).map(|(visits, time)| Point::new(f64::from(*visits), time));
        curves.push(FigureCurve::measured(name, points.collect()));
    }
    Experiment {
        name: "section-4-step-time",
        title: "Section 4: the time of a step by the visits before it, Δ = 5, p = 3".to_owned(),
        notes: vec![
            "the paper: \"the time taken by each iteration in MLE rapidly grows as k increases. However, our estimators take roughly \
             the same amount of time for each iteration\"; it shows no figure"
                .to_owned(),
            format!(
                "measured on this machine, medians of {TIMES} times {STEPS} steps: these numbers alone don't follow from the seed. \
                 MLE starts its search at the last estimate, so a few passes over all intervals are enough"
            ),
            "beyond: crawls keep 16 lengths of intervals and merge the others, so the time of their MLE has a bound".to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "section-4-step-time",
            title: "Section 4: the time of a step, Δ = 5, p = 3".to_owned(),
            across: Scale::log("visits before it, k"),
            up: Scale::log("microseconds"),
            curves,
        }],
    }
}

/// The time to add one more visit and have the estimate, after that number of visits.
fn microseconds(estimator: &dyn Estimator, filler: &dyn Estimator, visits: u32, effort: Effort) -> f64 {
    let pace = PagePace::random(CHANGE_RATE, CRAWL_RATE);
    let mut random = effort.draws(16);
    let mut state = EstimatorState::default();
    for at in 0..visits {
        let (gap, seen) = pace.next(&mut random);
        // The last visit gives the estimator its own last estimate.
        let by = if at + 1 < visits { filler } else { estimator };
        by.observe(&mut state, Age::from_days(gap), seen);
    }
    let next: Vec<_> = (0..STEPS).map(|_| pace.next(&mut random)).collect();
    let mut times = ErrorSample::default();
    for _ in 0..TIMES {
        let mut states = vec![state.clone(); STEPS];
        let started = Instant::now();
        for (state, (gap, seen)) in states.iter_mut().zip(&next) {
            estimator.observe(state, Age::from_days(*gap), *seen);
        }
        times.add(started.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
        std::hint::black_box(&states);
    }
    times.median()
}
