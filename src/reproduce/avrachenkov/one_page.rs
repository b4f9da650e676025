//! Expt. 1: five estimators on one page, over time.

use rand::Rng;

use super::{lln, sa, visit};
use crate::estimate::censored::{Naive, VisitHistory};
use crate::estimate::moments::Moments;
use crate::estimate::online::{Damping, limit_if_evenly_spaced};
use crate::estimate::{Estimator, EstimatorState};
use crate::policy::allocation::freshness_of_random_visits;
use crate::reproduce::{
    Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Scale, exponential, geometric,
};
use crate::time::Age;

/// Changes and visits a day of the page of Expt. 1.
pub(super) const CHANGE_RATE: f64 = 5.0;
pub(super) const CRAWL_RATE: f64 = 3.0;
/// Days that the page is watched. This number is ours: the paper gives none.
const WATCHED_DAYS: f64 = 300.0;

/// How a page is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    Exponential,
    Even,
}

impl Gaps {
    fn next(self, crawl_rate: f64, random: &mut impl Rng) -> f64 {
        match self {
            Self::Exponential => exponential(crawl_rate, random),
            Self::Even => 1.0 / crawl_rate,
        }
    }
}

/// Expt. 1: the estimates of one page, over time.
pub(super) fn one_page(effort: Effort) -> Experiment {
    let mut table = Numbers::new([
        "estimator",
        "random: mean",
        "random: low",
        "random: high",
        "even: mean",
        "tends to",
        "even: tends to",
    ]);
    let mut figures = Vec::new();
    let mut last: Vec<[ErrorSample; 5]> = Vec::new();
    let times = geometric(1.0, WATCHED_DAYS, 30);
    for (gaps, name, title, experiment) in [
        (Gaps::Exponential, "1-random-visits", "One page, Δ = 5, p = 3, visits at random moments", 1),
        (Gaps::Even, "1-even-visits", "The same page, visits at even distances", 2),
    ] {
        let samples = watched(effort, gaps, &times, experiment);
        let mut curves: Vec<FigureCurve> = (0..NAMES.len())
            .zip(NAMES)
            .map(|(at, name)| {
                let points = times.iter().zip(&samples);
                FigureCurve::measured(
                    name,
                    points.filter_map(|(time, of)| Some(of.get(at)?.point(*time))).collect(),
                )
            })
            .collect();
        curves.push(FigureCurve::level("the truth, 5", 1.0, WATCHED_DAYS, CHANGE_RATE));
        let limit = match gaps {
            Gaps::Exponential => naive_limit(CHANGE_RATE, CRAWL_RATE),
            Gaps::Even => limit_if_evenly_spaced(CHANGE_RATE, CRAWL_RATE),
        };
        let whose = if gaps == Gaps::Even { "LLN, SA" } else { "naive" };
        curves.push(FigureCurve::level(format!("limit of {whose}, {limit:.2}"), 1.0, WATCHED_DAYS, limit));
        let up = Scale::linear("estimated changes a day")
            .within(0.0, if gaps == Gaps::Even { 20.0 } else { 12.0 });
        figures.push(Figure {
            name,
            title: title.to_owned(),
            across: Scale::log("days watched"),
            up,
            curves,
        });
        last.extend(samples.into_iter().last());
    }
    let even = limit_if_evenly_spaced(CHANGE_RATE, CRAWL_RATE);
    let naive_even = CRAWL_RATE * -(-CHANGE_RATE / CRAWL_RATE).exp_m1();
    let limits = [
        (naive_limit(CHANGE_RATE, CRAWL_RATE), naive_even),
        (CHANGE_RATE, CHANGE_RATE),
        (CHANGE_RATE, CHANGE_RATE),
        (CHANGE_RATE, even),
        (CHANGE_RATE, even),
    ];
    for ((at, name), limit) in NAMES.into_iter().enumerate().zip(limits) {
        let [random, even] =
            [0, 1].map(|gaps| last.get(gaps).and_then(|all| all.get(at)).cloned().unwrap_or_default());
        let [low, high] = random.quantiles([0.025, 0.975]);
        table.row(name, [random.mean(), low, high, even.mean(), limit.0, limit.1]);
    }
    Experiment {
        name: "1-one-page",
        title: format!("Expt. 1: estimates of one page after {WATCHED_DAYS} days, {} runs", effort.runs),
        notes: vec![
            "Δ = 5 and p = 3 are the paper's; lines are medians, shades hold 95 of 100 runs (early on a mean is ruled by \
             runs in which every visit found a change)"
                .to_owned(),
            "the paper does not say where SA starts; here at one change in ten days. γ = 0.75 (its §2 prints η = (k + \
             1)^γ: the minus was lost), α = 1"
                .to_owned(),
            "a page never seen to change has no most likely rate by the paper; it is 0, and MLE here takes once in the \
             time watched, as Grimes & Ford do"
                .to_owned(),
            "even distances are ours: that gaps are exponential is no detail of LLN and SA but all they rest on"
                .to_owned(),
        ],
        tables: vec![table],
        figures,
    }
}

const NAMES: [&str; 5] = ["naive", "MLE", "MM", "LLN", "SA"];

/// The limit of the naive estimate if visits come at random: the rate of visits that find a change, p · Δ/(p + Δ).
pub(super) fn naive_limit(change_rate: f64, crawl_rate: f64) -> f64 {
    crawl_rate * (1.0 - freshness_of_random_visits(change_rate, crawl_rate))
}

/// The estimates of each run at each time, in the order of [`NAMES`].
fn watched(effort: Effort, gaps: Gaps, times: &[f64], experiment: u64) -> Vec<[ErrorSample; 5]> {
    let mut random = effort.draws(experiment);
    let mut samples = vec![<[ErrorSample; 5]>::default(); times.len()];
    let (moments, lln, sa) =
        (Moments { keep: usize::MAX }, lln(Damping::One, CRAWL_RATE), sa(0.75, CRAWL_RATE));
    let folded: [&dyn Estimator; 4] = [&Naive, &moments, &lln, &sa];
    for _ in 0..effort.runs {
        let mut states = <[EstimatorState; 4]>::default();
        // `MostLikely` would search for its maximum at each visit; here it is searched for only when it is needed.
        let mut history = VisitHistory::keeping(usize::MAX);
        let mut now = 0.0;
        let mut gap = gaps.next(CRAWL_RATE, &mut random);
        for (time, sample) in times.iter().zip(&mut samples) {
            while now + gap <= *time {
                let seen = visit(CHANGE_RATE, gap, &mut random);
                let interval = Age::from_days(gap);
                for (estimator, state) in folded.iter().zip(&mut states) {
                    estimator.observe(state, interval, seen);
                }
                history.add(gap, seen);
                now += gap;
                gap = gaps.next(CRAWL_RATE, &mut random);
            }
            let [naive, moments, lln, sa] = std::array::from_fn(|at| {
                let asked = folded.get(at).zip(states.get(at));
                asked.map_or(0.0, |(estimator, state)| estimator.as_published(state).rate.get())
            });
            for (sample, rate) in sample.iter_mut().zip([naive, history.most_likely(), moments, lln, sa]) {
                sample.add(rate);
            }
        }
    }
    samples
}
