//! Beyond Expt. 2: crawl rates that are used while change rates are learnt, on pages whose rates differ a hundredfold.

use rand::{Rng, RngExt as _};

use super::freshness::{PageWeights, reached};
use super::{GAMMA, sa, visit};
use crate::estimate::censored::MostLikely;
use crate::estimate::online::LawOfLargeNumbers;
use crate::estimate::{Estimator, EstimatorState};
use crate::policy::allocation::{Objective, VisitTerms, Watched, optimal, optimal_under};
use crate::reproduce::{
    Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Point, Scale, exponential, geometric,
};
use crate::time::Age;

/// Pages, and visits a day to each on average.
const PAGES: usize = 100;
const VISITS_A_PAGE: f64 = 0.5;
/// Change rates are spread evenly in their logarithm between these.
const SLOWEST: f64 = 0.05;
const FASTEST: f64 = 5.0;
/// The least crawl rate of a page, as a part of an even share: without visits its change rate can't be learnt.
const LEAST_SHARE: f64 = 0.1;
const FIRST_LEARNT_DAYS: f64 = 3.0;
const LONGEST_LEARNT_DAYS: f64 = 300.0;

/// The estimators whose change rates become crawl rates.
pub(super) const LEARNERS: [&str; 3] = ["LLN", "SA", "MLE"];

/// How the estimated rates are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// They are learnt from visits at even rates, and used afterwards.
    Apart,
    /// They are used at once, and learnt from the visits that follow.
    Loop,
    /// The same, with a least crawl rate for all pages.
    LoopWithLeast,
}

impl Use {
    const ALL: [Self; 3] = [Self::Apart, Self::Loop, Self::LoopWithLeast];
}

/// Freshness over the runs: at each time, by each use and each estimator; and that of known and of uniform rates.
struct Freshness {
    learnt: Vec<[[ErrorSample; 3]; 3]>,
    best: ErrorSample,
    uniform: ErrorSample,
    /// For each estimator, in a loop: the share of the pages worth a visit that get none in the end.
    given_up: [ErrorSample; 3],
}

/// How fresh copies are if crawl rates are made from estimates, apart and in a loop.
pub(super) fn in_a_loop(effort: Effort) -> Experiment {
    let runs = effort.less(20);
    let times = geometric(FIRST_LEARNT_DAYS, LONGEST_LEARNT_DAYS, 16);
    let alike = learnt_freshness(runs, PageWeights::Alike, &times, &mut effort.draws(3));
    let zipf = learnt_freshness(runs, PageWeights::Zipf, &times, &mut effort.draws(6));
    let figure = |name, title: &str, across: &str, found: &Freshness, uses: &[(Use, &str)]| Figure {
        name,
        title: title.to_owned(),
        across: Scale::log(across),
        up: Scale::linear("freshness, Σ w p/(p + Δ) / Σ w"),
        curves: freshness_curves(found, &times, uses),
    };
    let apart = [(Use::Apart, "")];
    let looped = [(Use::Loop, ""), (Use::LoopWithLeast, ", least rate")];
    let figures = vec![
        figure(
            "beyond-learnt-apart",
            "Beyond Fig. 2: rates learnt at even visits, then put to use",
            "days of learning",
            &alike,
            &apart,
        ),
        figure(
            "beyond-in-a-loop",
            "Beyond Fig. 2: rates put to use while they are learnt",
            "days",
            &alike,
            &looped,
        ),
        figure(
            "beyond-zipf-weights",
            "Beyond Fig. 2: learnt at even visits, weights 1, ½, ⅓, …",
            "days of learning",
            &zipf,
            &apart,
        ),
    ];
    Experiment {
        name: "beyond-in-a-loop",
        title: format!(
            "Beyond Fig. 2: estimates of LLN, SA and MLE used in a loop, {PAGES} pages after {LONGEST_LEARNT_DAYS} days, {runs} runs: equal weights, then 1, ½, ⅓, …"
        ),
        notes: vec![
            format!(
                "all parameters are ours: {PAGES} pages, change rates log-uniform from {SLOWEST} to {FASTEST} a day, {VISITS_A_PAGE} \
                 visits a page and day, p not given; the freshness is that which the crawl rates reach in the long run"
            ),
            "learnt apart: from visits at even rates. In a loop: each estimate sets the rates of the next visits; a page \
             believed to change too fast is given up, and never learnt of again, unless there is a least rate; the last column \
             is the share of the pages worth visits that get none in the end"
                .to_owned(),
            format!(
                "in a loop LLN takes the mean crawl rate so far for p, as it knows only one, and SA the one of each visit; the \
                 least rate is {LEAST_SHARE} of an even share"
            ),
            "a rate of 0 would starve a page for ever, so estimates are at least once in twice the time watched".to_owned(),
        ],
        tables: vec![freshness_table(&alike, &times), freshness_table(&zipf, &times)],
        figures,
    }
}

fn learnt_freshness(runs: u32, weights: PageWeights, times: &[f64], random: &mut impl Rng) -> Freshness {
    let mut found = Freshness {
        learnt: vec![<[[ErrorSample; 3]; 3]>::default(); times.len()],
        best: ErrorSample::default(),
        uniform: ErrorSample::default(),
        given_up: Default::default(),
    };
    for _ in 0..runs {
        let truth: Vec<Watched> = (0..PAGES)
            .map(|page| Watched {
                change_rate: SLOWEST * (FASTEST / SLOWEST).powf(random.random::<f64>()),
                weight: weights.of(page),
            })
            .collect();
        let evenly = vec![VISITS_A_PAGE; PAGES];
        let best = planned(&truth, 0.0);
        found.best.add(reached(&truth, &best));
        found.uniform.add(reached(&truth, &evenly));
        for (learner, _) in LEARNERS.iter().enumerate() {
            for (place, way) in Use::ALL.into_iter().enumerate() {
                let mut pages: Vec<LearntRates> =
                    truth.iter().map(|page| LearntRates::new(page.change_rate)).collect();
                let mut rates = evenly.clone();
                let mut now = 0.0;
                for (time, sample) in times.iter().zip(&mut found.learnt) {
                    for (page, rate) in pages.iter_mut().zip(&rates) {
                        page.live(time - now, *rate, learner, random);
                    }
                    now = *time;
                    let believed: Vec<Watched> = pages
                        .iter()
                        .zip(&truth)
                        .map(|(page, truth)| Watched { change_rate: page.believed(learner), ..*truth })
                        .collect();
                    let plan = planned(&believed, if way == Use::LoopWithLeast { LEAST_SHARE } else { 0.0 });
                    if let Some(sample) = sample.get_mut(place).and_then(|of| of.get_mut(learner)) {
                        sample.add(reached(&truth, &plan));
                    }
                    if way != Use::Apart {
                        rates = plan;
                    }
                }
                if let (Use::Loop, Some(sample)) = (way, found.given_up.get_mut(learner)) {
                    sample.add(given_up(&best, &rates));
                }
            }
        }
    }
    found
}

impl Freshness {
    fn of(&self, time: usize, way: Use, learner: usize) -> Option<&ErrorSample> {
        let place = Use::ALL.iter().position(|other| *other == way)?;
        self.learnt.get(time)?.get(place)?.get(learner)
    }
}

fn freshness_curves(found: &Freshness, times: &[f64], uses: &[(Use, &str)]) -> Vec<FigureCurve> {
    let mut curves = Vec::new();
    for (way, suffix) in uses {
        for (learner, name) in LEARNERS.into_iter().enumerate() {
            let points = times.iter().enumerate().filter_map(|(at, time)| {
                let sample = found.of(at, *way, learner)?;
                Some(Point::new(*time, sample.mean()))
            });
            curves.push(FigureCurve::measured(format!("{name}{suffix}"), points.collect()));
        }
    }
    for (name, sample) in [("known rates", &found.best), ("uniform", &found.uniform)] {
        curves.push(FigureCurve::level(name, FIRST_LEARNT_DAYS, LONGEST_LEARNT_DAYS, sample.mean()));
    }
    curves
}

fn freshness_table(found: &Freshness, times: &[f64]) -> Numbers {
    let mut table = Numbers::new([
        "rates from",
        "learnt apart, 14 days",
        "learnt apart",
        "in a loop",
        "loop with a least rate",
        "given up in the loop",
    ]);
    let end = times.len().saturating_sub(1);
    let early = times.iter().position(|time| *time >= 13.9).unwrap_or(end);
    let always = |sample: &ErrorSample| [sample.mean(); 4].into_iter().chain([0.0]);
    table.row("the truth", always(&found.best));
    for (learner, name) in LEARNERS.into_iter().enumerate() {
        let mean = |(at, way)| found.of(at, way, learner).map_or(f64::NAN, ErrorSample::mean);
        let means =
            [(early, Use::Apart), (end, Use::Apart), (end, Use::Loop), (end, Use::LoopWithLeast)].map(mean);
        table.row(name, means.into_iter().chain(found.given_up.get(learner).map(ErrorSample::mean)));
    }
    table.row("uniform", always(&found.uniform));
    table
}

/// A page and the estimates of its change rate.
struct LearntRates {
    change_rate: f64,
    state: EstimatorState,
    /// Days since the last visit.
    waited_days: f64,
    crawl_rate: f64,
}

impl LearntRates {
    fn new(change_rate: f64) -> Self {
        Self { change_rate, state: EstimatorState::default(), waited_days: 0.0, crawl_rate: VISITS_A_PAGE }
    }

    /// Visits at random moments, for a while.
    fn live(&mut self, days: f64, crawl_rate: f64, learner: usize, random: &mut impl Rng) {
        self.crawl_rate = crawl_rate;
        let mut left = days;
        // The exponential distribution has no memory, so the wait for the next visit can begin again here.
        loop {
            let gap = if crawl_rate > 0.0 { exponential(crawl_rate, random) } else { f64::INFINITY };
            if gap > left {
                self.waited_days += left;
                return;
            }
            left -= gap;
            let interval = self.waited_days + gap;
            let seen = visit(self.change_rate, interval, random);
            let mut state = std::mem::take(&mut self.state);
            self.with(learner, |estimator| estimator.observe(&mut state, Age::from_days(interval), seen));
            self.state = state;
            self.waited_days = 0.0;
        }
    }

    fn believed(&self, learner: usize) -> f64 {
        self.with(learner, |estimator| estimator.estimate(&self.state).rate.get())
    }

    fn with<T>(&self, learner: usize, ask: impl FnOnce(&dyn Estimator) -> T) -> T {
        match learner {
            0 => ask(&LawOfLargeNumbers::default()),
            1 => ask(&sa(GAMMA, self.crawl_rate)),
            _ => ask(&MostLikely::default()),
        }
    }
}

/// The best crawl rates for these change rates. None is below `least_share` of an even share.
fn planned(pages: &[Watched], least_share: f64) -> Vec<f64> {
    let budget = VISITS_A_PAGE * pages.len() as f64;
    if least_share == 0.0 {
        return optimal(Objective::Poisson, pages, budget).rates;
    }
    let terms = vec![VisitTerms { least: least_share * VISITS_A_PAGE, ..VisitTerms::default() }; pages.len()];
    optimal_under(Objective::Poisson, pages, &terms, budget).map_or_else(Vec::new, |found| found.rates)
}

/// The share of the pages worth a visit that are not visited.
fn given_up(best: &[f64], rates: &[f64]) -> f64 {
    let due = best.iter().zip(rates).filter(|(best, _)| **best > 0.0);
    let missed = due.clone().filter(|(_, rate)| **rate == 0.0).count();
    missed as f64 / due.count().max(1) as f64
}
