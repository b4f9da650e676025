//! Expt. 2: crawl rates from estimated change rates, and the freshness that they reach.

use rand::{Rng, RngExt as _};

use super::paths::PagePace;
use super::{DAMPING, GAMMA, lln, naive, sa, visit_counts};
use crate::estimate::{Estimator, EstimatorState};
use crate::policy::allocation::{Objective, Watched, freshness_of_random_visits, optimal};
use crate::reproduce::{Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Point, Scale};
use crate::time::Age;

/// N, B and p of Expt. 2. Change rates are uniform between 0 and 1.
const PAGES: usize = 100;
const BUDGET: f64 = 80.0;
const CRAWL_RATE: f64 = 0.8;
/// Visits to each page. This number is ours: the text gives none.
const VISITS: u32 = 1000;
/// The first number of visits that is drawn: before it most pages have not been seen to change.
const FIRST: u32 = 5;
/// Visits at which the table stops.
const LOOKS: [u32; 4] = [FIRST, 20, 100, VISITS];

/// The plans that are compared. The last is ours: the rates that a crawl would use.
const PLANS: [&str; 4] = ["LLN", "SA", "Naive", "LLN with the floor of crawls"];

/// The weight of a page's freshness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageWeights {
    Alike,
    /// 1, 1/2, 1/3 and so on, whatever the change rate.
    Zipf,
}

impl PageWeights {
    pub(super) fn of(self, page: usize) -> f64 {
        match self {
            Self::Alike => 1.0,
            Self::Zipf => 1.0 / (page + 1) as f64,
        }
    }
}

/// Fig. 2.
pub(super) fn freshness(effort: Effort) -> Experiment {
    let runs = effort.less(10);
    let alike = learnt(runs, PageWeights::Alike, &mut effort.draws(17));
    let zipf = learnt(runs, PageWeights::Zipf, &mut effort.draws(18));
    Experiment {
        name: "2-optimal-rates",
        title: format!(
            "Fig. 2, as printed but for the weights, which are not: N = {PAGES}, Δ ~ U[0, 1], B = {BUDGET}, p = {CRAWL_RATE}, {runs} draws of pages: equal weights, then 1, ½, ⅓, …"
        ),
        notes: vec![
            "the paper prints no numbers here; it says that the crawl rates by LLN and SA are much better than by Naive (a), that the \
             freshness hardly differs between the three, and that LLN and SA come closer to the optimum in the end (b)"
                .to_owned(),
            "printed: N, B, p and the distribution of Δ. Assumed: the weights, which the paper does not print, so there are two \
             choices; 1000 visits to each page; α = 1, γ = 0.75; a shows one draw and its first page, the one with weight 1"
                .to_owned(),
            "with equal weights Naive is nearly as good as LLN: it takes all pages to change more slowly than they do, and the best \
             rates depend mostly on the order. With unequal weights it is not: what the paper says of a suggests that its weights \
             differ"
                .to_owned(),
            "an estimate of 0 gives a page no visit, and its freshness is 0 if it changes at all: that is most of the loss after 20 \
             visits. Beyond: with the floor of crawls, one change in twice the time watched, most of it is gone"
                .to_owned(),
            "eq. 10 sums from 0, not from 1, in print; freshness here is divided by the sum of weights".to_owned(),
        ],
        tables: vec![alike.table(), zipf.table()],
        figures: vec![
            alike.page_figure("2a-rate-of-one-page", "Fig. 2a: the crawl rate of one page, equal weights"),
            alike.freshness_figure("2b-freshness", "Fig. 2b: freshness by estimated rates, equal weights"),
            zipf.page_figure("2a-rate-of-one-page-zipf", "Fig. 2a: the crawl rate of one page, weights 1, ½, ⅓, …"),
            zipf.freshness_figure("2b-freshness-zipf", "Fig. 2b: freshness by estimated rates, weights 1, ½, ⅓, …"),
        ],
    }
}

/// The plans of all draws, by the number of visits.
struct LearntPlans {
    visits: Vec<u32>,
    /// Freshness of each plan after each number of visits.
    freshness: Vec<Vec<ErrorSample>>,
    /// The mean over pages of |rate − best rate|, in the same order.
    off: Vec<Vec<ErrorSample>>,
    /// The rate of the first page of the first draw.
    one_page: Vec<Vec<Point>>,
    best_of_one_page: f64,
    best: ErrorSample,
    uniform: ErrorSample,
}

/// Each page is visited at p; after each number of visits the estimates become a plan, which is judged by the true rates.
fn learnt(runs: u32, weights: PageWeights, random: &mut impl Rng) -> LearntPlans {
    let visits = visit_counts(FIRST, VISITS, 60, &LOOKS);
    let none = || vec![vec![ErrorSample::default(); visits.len()]; PLANS.len()];
    let mut found = LearntPlans {
        freshness: none(),
        off: none(),
        one_page: vec![Vec::new(); PLANS.len()],
        best_of_one_page: 0.0,
        best: ErrorSample::default(),
        uniform: ErrorSample::default(),
        visits: visits.clone(),
    };
    let (lln, sa, naive) = (lln(DAMPING, CRAWL_RATE), sa(GAMMA, CRAWL_RATE), naive(CRAWL_RATE));
    let estimators: [&dyn Estimator; 3] = [&lln, &sa, &naive];
    for run in 0..runs {
        let truth: Vec<Watched> = (0..PAGES)
            .map(|page| Watched { change_rate: random.random(), weight: weights.of(page) })
            .collect();
        let best = optimal(Objective::Poisson, &truth, BUDGET).rates;
        found.best.add(reached(&truth, &best));
        found.uniform.add(reached(&truth, &[CRAWL_RATE; PAGES]));
        if run == 0 {
            found.best_of_one_page = best.first().copied().unwrap_or(0.0);
        }
        let mut states = vec![<[EstimatorState; 3]>::default(); PAGES];
        let mut done = 0;
        for (at, until) in visits.iter().enumerate() {
            for (page, states) in truth.iter().zip(&mut states) {
                for _ in done..*until {
                    let (gap, seen) = PagePace::random(page.change_rate, CRAWL_RATE).next(random);
                    for (estimator, state) in estimators.iter().zip(states.iter_mut()) {
                        estimator.observe(state, Age::from_days(gap), seen);
                    }
                }
            }
            done = *until;
            let published = |which: usize| {
                move |states: &[EstimatorState; 3]| {
                    let asked = estimators.get(which).zip(states.get(which));
                    asked.map_or(0.0, |(estimator, state)| estimator.as_published(state).rate.get())
                }
            };
            let floored = |states: &[EstimatorState; 3]| lln.estimate(&states[0]).rate.get();
            let believed: [Vec<f64>; 4] = [
                states.iter().map(published(0)).collect(),
                states.iter().map(published(1)).collect(),
                states.iter().map(published(2)).collect(),
                states.iter().map(floored).collect(),
            ];
            for (plan, rates) in believed.iter().enumerate() {
                let pages = truth.iter().zip(rates);
                let pages: Vec<Watched> =
                    pages.map(|(page, rate)| Watched { change_rate: *rate, ..*page }).collect();
                let rates = optimal(Objective::Poisson, &pages, BUDGET).rates;
                let off: f64 = rates.iter().zip(&best).map(|(rate, best)| (rate - best).abs()).sum();
                found.add(plan, at, reached(&truth, &rates), off / PAGES as f64);
                if run == 0 {
                    let first = Point::new(f64::from(*until), rates.first().copied().unwrap_or(0.0));
                    found.one_page.get_mut(plan).into_iter().for_each(|path| path.push(first));
                }
            }
        }
    }
    found
}

impl LearntPlans {
    fn add(&mut self, plan: usize, at: usize, freshness: f64, off: f64) {
        for (samples, value) in [(&mut self.freshness, freshness), (&mut self.off, off)] {
            if let Some(sample) = samples.get_mut(plan).and_then(|of| of.get_mut(at)) {
                sample.add(value);
            }
        }
    }

    fn table(&self) -> Numbers {
        let heads = LOOKS.map(|visits| format!("freshness, k = {visits}"));
        let off = [20, VISITS].map(|visits| format!("error of p, k = {visits}"));
        let mut table = Numbers::new(["rates from".to_owned()].into_iter().chain(heads).chain(off));
        table.row("the truth", [self.best.mean(); LOOKS.len()].into_iter().chain([0.0; 2]));
        let mean = |of: Option<&Vec<ErrorSample>>, visits: u32| {
            let at = self.visits.iter().position(|other| *other == visits);
            at.and_then(|at| of?.get(at)).map_or(f64::NAN, ErrorSample::mean)
        };
        for (plan, name) in PLANS.into_iter().enumerate() {
            let freshness = LOOKS.map(|visits| mean(self.freshness.get(plan), visits));
            let off = [20, VISITS].map(|visits| mean(self.off.get(plan), visits));
            table.row(name, freshness.into_iter().chain(off));
        }
        table.row("uniform", [self.uniform.mean(); LOOKS.len()].into_iter().chain([f64::NAN; 2]));
        table
    }

    /// Only the paper's three.
    fn page_figure(&self, name: &'static str, title: &str) -> Figure {
        let paths = self.one_page.iter().zip(PLANS).take(3);
        let mut curves: Vec<FigureCurve> =
            paths.map(|(path, name)| FigureCurve::measured(name, path.clone())).collect();
        curves.push(self.level("true optimum", self.best_of_one_page));
        let up = Scale::linear("crawl rate of the page").above(0.0);
        Figure { name, title: title.to_owned(), across: Scale::log("visits to each page, k"), up, curves }
    }

    /// Only the paper's three.
    fn freshness_figure(&self, name: &'static str, title: &str) -> Figure {
        let curve = |(samples, name): (&Vec<ErrorSample>, &str)| {
            let points = self.visits.iter().zip(samples).map(|(k, of)| Point::new(f64::from(*k), of.mean()));
            FigureCurve::measured(name, points.collect())
        };
        let mut curves: Vec<FigureCurve> = self.freshness.iter().zip(PLANS).take(3).map(curve).collect();
        curves.push(self.level("true optimum", self.best.mean()));
        curves.push(self.level("uniform", self.uniform.mean()));
        let up = Scale::linear("freshness (eq. 10), Σ w p/(p + Δ) / Σ w");
        Figure { name, title: title.to_owned(), across: Scale::log("visits to each page, k"), up, curves }
    }

    fn level(&self, name: &str, value: f64) -> FigureCurve {
        FigureCurve::level(name, f64::from(FIRST), f64::from(VISITS), value)
    }
}

/// The freshness at these crawl rates (eq. 10), by weight.
pub(super) fn reached(pages: &[Watched], crawl_rates: &[f64]) -> f64 {
    let fresh =
        |(page, rate): (&Watched, &f64)| page.weight * freshness_of_random_visits(page.change_rate, *rate);
    let all: f64 = pages.iter().map(|page| page.weight).sum();
    pages.iter().zip(crawl_rates).map(fresh).sum::<f64>() / all
}
