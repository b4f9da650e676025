//! Beyond Grimes & Ford 2008: the bias of three estimators, and priors of two intervals against the best first interval for two populations.

use rand::Rng;

use super::watched::CORPUS;
use crate::estimate::bias_reduced::BiasReduced;
use crate::estimate::censored::{MostLikely, Naive};
use crate::estimate::initial_interval::{
    EPOCHS, LONGEST_DAYS, SHARE_OF_PERIOD, SHORTEST_DAYS, Trial, best, median_errors,
};
use crate::estimate::two_intervals::{Base, Histogram, Search, TwoIntervals};
use crate::estimate::{Estimator, EstimatorState, Seen};
use crate::reproduce::{
    CurveKind, Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Point, Scale, exponential,
    geometric,
};
use crate::time::Age;

/// The period of the page in days. Only the ratio of intervals to it matters.
const PERIOD_DAYS: f64 = 11.0;
/// Visits of each page.
const VISITS: u32 = 20;
const NAMES: [&str; 3] = ["naive", "ratio (eq. 1)", "MLE (eq. 2)"];

/// The error of estimates, by the length of intervals.
pub(super) fn bias(effort: Effort) -> Experiment {
    let ratios = geometric(0.05, 10.0, 24);
    let mut table = Numbers::new([
        "estimator",
        "even, C 0.1",
        "even, C 1",
        "even, C 3",
        "0.8: C 0.1",
        "0.8: C 1",
        "0.8: C 3",
    ]);
    let mut figures = Vec::new();
    for (share, name, title) in [
        (None, "beyond-bias-even-intervals", "Bias by interval: 20 visits at even distances"),
        (
            Some(SHARE_OF_PERIOD),
            "beyond-bias-chosen-intervals",
            "Bias by first interval: the next is 0.8 of the estimated period",
        ),
    ] {
        let found: Vec<[f64; 3]> = ratios.iter().map(|ratio| mean_rates(effort, *ratio, share)).collect();
        let of = |at: usize| {
            let points = ratios.iter().zip(&found);
            points.filter_map(|(ratio, rates)| Some(Point::new(*ratio, *rates.get(at)?))).collect()
        };
        let mut curves: Vec<FigureCurve> =
            NAMES.into_iter().enumerate().map(|(at, name)| FigureCurve::measured(name, of(at))).collect();
        curves.push(FigureCurve::level("the truth", 0.05, 10.0, 1.0));
        if share.is_some() {
            curves.push(FigureCurve::level("limit of naive, 0.50", 0.05, 10.0, naive_limit()));
        }
        let across = if share.is_some() { "first interval / true period" } else { "interval / true period" };
        figures.push(Figure {
            name,
            title: title.to_owned(),
            across: Scale::log(across),
            up: Scale::linear("mean estimated rate / true rate").within(0.0, 1.6),
            curves,
        });
    }
    let asked = [None, Some(SHARE_OF_PERIOD)]
        .map(|share| [0.1, 1.0, 3.0].map(|ratio| mean_rates(effort, ratio, share)));
    for (at, name) in NAMES.into_iter().enumerate() {
        let numbers = asked.iter().flatten().filter_map(|rates| rates.get(at).copied());
        table.row(name, numbers);
    }
    Experiment {
        name: "beyond-bias",
        title: format!(
            "Beyond the paper: mean estimated rate by true rate, {VISITS} visits, {} runs; C = interval by period",
            effort.runs
        ),
        notes: vec![
            format!(
                "{VISITS} visits a page. Even distances show the bias by itself; chosen ones (0.8 of the period that \
                 the estimator itself says) what becomes of it in a crawl"
            ),
            "eq. 1 prints period / C on its left; it is C / period. It is no maximum of the likelihood either, which is \
             −ln((n − X)/n): half a visit more keeps it finite"
                .to_owned(),
            "at the ends the paper's rules for the edges (§3.3) rule the most likely rate: where intervals are long every \
             visit finds a change, and the period is taken for the shortest interval, too long; where they are short none \
             does, and it is taken for the time watched. In a crawl intervals move away from both ends; what is left is the \
             bias of 20 visits, upwards"
                .to_owned(),
            "a naive crawler that waits 0.8 of the period it believes in ends where 0.8 of its visits find a change: it \
             believes in half of the true rate, −0.8 / ln 0.2, however long it goes on"
                .to_owned(),
        ],
        tables: vec![table],
        figures,
    }
}

/// Where 1 − e^(−rate · C) = 0.8 the naive rate is 0.8/C: the next interval is C again.
fn naive_limit() -> f64 {
    -SHARE_OF_PERIOD / (-SHARE_OF_PERIOD).ln_1p()
}

/// The mean over runs of the estimated rate divided by the true one, after [`VISITS`] visits. The first interval is `ratio`
/// periods; the others are the same, or `share` of the period that the estimator gives.
fn mean_rates(effort: Effort, ratio: f64, share: Option<f64>) -> [f64; 3] {
    let likely = MostLikely { keep: usize::MAX, ..MostLikely::default() };
    let ratio_of = BiasReduced::default();
    let estimators: [&dyn Estimator; 3] = [&Naive, &ratio_of, &likely];
    estimators.map(|estimator| {
        // All estimators get the same draws, so that they differ by their estimates alone.
        let mut random = effort.draws(1);
        let mut sample = ErrorSample::default();
        for _ in 0..effort.runs {
            let mut state = EstimatorState::default();
            let mut interval = ratio * PERIOD_DAYS;
            for _ in 0..VISITS {
                let seen = Seen::from(exponential(1.0 / PERIOD_DAYS, &mut random) < interval);
                estimator.observe(&mut state, Age::from_days(interval), seen);
                if let Some(share) = share {
                    let period = 1.0 / estimator.estimate(&state).rate.get();
                    interval = (share * period).clamp(SHORTEST_DAYS, LONGEST_DAYS);
                }
            }
            sample.add(estimator.as_published(&state).rate.get() * PERIOD_DAYS);
        }
        sample.mean()
    })
}

/// The distribution of the true periods of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimulatedPopulation {
    /// The pages of Fig. 3.
    Wide,
    /// As by two intervals, one of 66 hours with a change and one of 60 without: a distribution that the prior can express.
    AsThePrior,
}

impl SimulatedPopulation {
    const ALL: [Self; 2] = [Self::Wide, Self::AsThePrior];

    fn name(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::AsThePrior => "as the prior",
        }
    }

    fn period_days(self, random: &mut impl Rng) -> f64 {
        match self {
            Self::Wide => CORPUS.period_days(random),
            Self::AsThePrior => {
                // A rate with the density of `Base::Rates` is the sum of two exponential ones.
                let (unchanged, both) = (60.0 / 24.0, 126.0 / 24.0);
                1.0 / (exponential(unchanged, random) + exponential(both, random))
            }
        }
    }

    fn trials(self, pages: u32, random: &mut impl Rng) -> Vec<Trial> {
        (0..pages).map(|_| Trial::draw(self.period_days(random), random)).collect()
    }
}

/// First intervals that are tried, in days.
const FIRST_DAYS: [f64; 8] = [0.25, 1.0, 3.0, 5.0, 7.0, 11.0, 20.0, 40.0];

fn epochs() -> impl Iterator<Item = String> {
    (1..=EPOCHS).map(|epoch| format!("epoch {epoch}"))
}

fn error_curve(name: impl Into<String>, errors: &[f64]) -> FigureCurve {
    let points = (1_u32..).zip(errors).map(|(epoch, error)| Point::new(f64::from(epoch), *error));
    FigureCurve::measured(name, points.collect())
}

fn error_figure(name: &'static str, title: &str, curves: Vec<FigureCurve>) -> Figure {
    let across = Scale::linear("epoch (visits after the first download)").within(0.9, 5.1);
    let up = Scale::log("median of |estimated − true period|, days");
    Figure { name, title: title.to_owned(), across, up, curves }
}

/// Simulated pages for each run.
const PAGES_A_RUN: u32 = 5;

/// Bins of 8 hours each, up to 30 days.
const BIN_DAYS: f64 = 8.0 / 24.0;
const BINS: usize = 90;

/// Two intervals fitted to a population, and their effect on the error.
pub(super) fn priors(effort: Effort) -> Experiment {
    let pages = effort.runs.saturating_mul(PAGES_A_RUN);
    let mut fits = Numbers::new([
        "population, flat over",
        "changed, days",
        "unchanged, days",
        "period of both",
        "distance",
    ]);
    let mut errors = Numbers::new(
        ["population, method".to_owned()].into_iter().chain(epochs()).chain(["mean".to_owned()]),
    );
    let mut figures = Vec::new();
    for (population, draws) in SimulatedPopulation::ALL.into_iter().zip(8..) {
        let mut random = effort.draws(draws);
        let trials = population.trials(pages, &mut random);
        let periods: Vec<f64> = trials.iter().map(|trial| trial.period_days).collect();
        let seen = Histogram::of(&periods, BIN_DAYS, BINS);
        let fitted = [(Base::Periods, "periods"), (Base::Rates, "rates")].map(|(base, name)| {
            let two = TwoIntervals::fit(&seen, base, &Search::default(), &mut random).two;
            let numbers = [two.changed_days, two.unchanged_days, 1.0 / two.rate(), two.distance(&seen, base)];
            fits.row(format!("{}, {name}", population.name()), numbers);
            (two, base, name)
        });
        figures.push(spread(population, &seen, &fitted));
        figures.push(with_and_without(population, &trials, &fitted, &mut errors));
    }
    Experiment {
        name: "beyond-priors",
        title: format!("Beyond the paper: priors against the best first interval, median errors (MAD) in days, {pages} pages"),
        notes: vec![
            "`wide` has the pages of Fig. 3, `as the prior` has rates as intervals of 66 and 60 hours give: a distribution that two intervals \
             can express. Pairs are fitted to the pages that they are tested on"
                .to_owned(),
            "to a wide population the best fit lies on the edge of that box: two intervals can't express it, and the first \
             interval they propose is of no use. `two alike` is ours: two of the same length, whose period is the median of the \
             population, which is known here"
                .to_owned(),
            "with the prior the next interval is the estimated period (factor 1.0, §5), the first that of the prior alone; \
             without it 0.8. To tell the prior from the first interval: `best first` is the best of eight candidates, \
             `rates' first` that of the prior over rates"
                .to_owned(),
        ],
        tables: vec![fits, errors],
        figures,
    }
}

fn spread(
    population: SimulatedPopulation,
    seen: &Histogram,
    fitted: &[(TwoIntervals, Base, &str)],
) -> Figure {
    let points = |shares: &[f64]| -> Vec<Point> {
        let middles = (0_u32..).map(|bin| (f64::from(bin) + 0.5) * BIN_DAYS);
        middles.zip(shares).map(|(period, share)| Point::new(period, *share)).collect()
    };
    let mut curves = vec![FigureCurve {
        name: "pages".to_owned(),
        kind: CurveKind::Histogram,
        points: points(&seen.shares),
    }];
    for (two, base, name) in fitted {
        let shares = two.shares(*base, BIN_DAYS, BINS);
        curves.push(FigureCurve::measured(format!("prior, flat over {name}"), points(&shares)));
    }
    let (name, title) = match population {
        SimulatedPopulation::Wide => ("beyond-fit-wide", "Two intervals fitted to a wide population"),
        SimulatedPopulation::AsThePrior => {
            ("beyond-fit-as-the-prior", "Two intervals fitted to a population of their kind")
        }
    };
    let (across, up) =
        (Scale::linear("period, days").within(0.0, 30.0), Scale::linear("share of pages in 8 hours"));
    Figure { name, title: title.to_owned(), across, up: Scale { from: Some(0.0), ..up }, curves }
}

fn with_and_without(
    population: SimulatedPopulation,
    trials: &[Trial],
    fitted: &[(TwoIntervals, Base, &str)],
    table: &mut Numbers,
) -> Figure {
    let first = best(trials, &FIRST_DAYS).unwrap_or(PERIOD_DAYS);
    let median = ErrorSample(trials.iter().map(|trial| trial.period_days).collect()).median();
    let alike = TwoIntervals {
        changed_days: median * std::f64::consts::LN_2,
        unchanged_days: median * std::f64::consts::LN_2,
    };
    let mut methods = vec![("no prior, best first", first, SHARE_OF_PERIOD, None)];
    for (two, base, _) in fitted {
        let of_prior = 1.0 / two.rate();
        match base {
            Base::Periods => methods.push(("prior over periods", of_prior, 1.0, Some(*two))),
            Base::Rates => methods.extend([
                ("no prior, rates' first", of_prior, SHARE_OF_PERIOD, None),
                ("prior over rates", of_prior, 1.0, Some(*two)),
                ("prior over rates, best first", first, 1.0, Some(*two)),
            ]),
        }
    }
    methods.push(("two alike, median period", 1.0 / alike.rate(), 1.0, Some(alike)));
    let mut curves = Vec::new();
    for (name, first, share, prior) in methods {
        let errors = median_errors(trials, first, share, prior);
        let mean = errors.iter().sum::<f64>() / EPOCHS as f64;
        table.row(format!("{}, {name}", population.name()), errors.into_iter().chain([mean]));
        curves.push(error_curve(name, &errors));
    }
    let (name, title) = match population {
        SimulatedPopulation::Wide => {
            ("beyond-errors-wide", "Error with and without the prior, wide population")
        }
        SimulatedPopulation::AsThePrior => {
            ("beyond-errors-as-the-prior", "Error with and without the prior, a population of its kind")
        }
    };
    error_figure(name, title, curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Effort = Effort { runs: 150, seed: 1 };

    #[test]
    fn long_intervals_mislead_the_naive_rate_alone() {
        let [naive, ratio, likely] = mean_rates(FEW, 0.1, None);
        assert!(
            [naive, ratio, likely].iter().all(|rate| (rate - 1.0).abs() < 0.15),
            "{naive} {ratio} {likely}"
        );
        // A visit in two periods finds at most one change: (1 − e^−2) / 2.
        let [naive, ratio, likely] = mean_rates(FEW, 2.0, None);
        assert!((naive - 0.432).abs() < 0.02, "{naive}");
        assert!((ratio - 1.0).abs() < 0.15 && (likely - 1.0).abs() < 0.15, "{ratio} {likely}");
    }

    #[test]
    fn a_naive_crawler_comes_to_believe_in_half_of_the_truth() {
        let [naive, _, likely] = mean_rates(FEW, 1.0, Some(SHARE_OF_PERIOD));
        assert!((naive_limit() - 0.497).abs() < 1e-3);
        assert!(naive < 0.75 && (likely - 1.0).abs() < 0.25, "{naive} {likely}");
    }

    #[test]
    fn a_prior_that_fits_makes_the_first_errors_smaller() {
        let found = priors(FEW);
        let [fits, errors] = &found.tables[..] else { panic!("two tables") };
        let fit = |head: &str| fits.get("as the prior, rates", head).expect("a number");
        assert!((fit("period of both") - 3.7).abs() < 0.5, "{}", fit("period of both"));
        let wide = |head: &str| fits.get("wide, rates", head).expect("a number");
        assert!(wide("changed, days") > 100.0, "on the edge of the box: {}", wide("changed, days"));
        let of = |row: &str| errors.get(row, "mean").expect("a number");
        assert!(of("as the prior, prior over rates") < of("as the prior, no prior, rates' first"));
        for population in SimulatedPopulation::ALL.map(SimulatedPopulation::name) {
            let row = |method: &str| of(&format!("{population}, {method}"));
            assert!(row("two alike, median period") < row("no prior, best first"), "{population}");
        }
    }
}
