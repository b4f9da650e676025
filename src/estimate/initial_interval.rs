//! The interval before the second visit to an unknown page (Grimes & Ford 2008, §4.2).
//!
//! Pages with known periods are visited in a simulation: the first time after a candidate interval, then after the intervals that
//! the estimates suggest. The best candidate is the one whose estimates are closest to the truth.

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::Seen;
use super::censored::VisitHistory;
use super::priors;
use super::two_intervals::TwoIntervals;

/// The number of simulated visits to each page.
pub(crate) const EPOCHS: usize = 5;
/// Intervals are between an hour and a year.
pub(crate) const SHORTEST_DAYS: f64 = 1.0 / 24.0;
pub(crate) const LONGEST_DAYS: f64 = 365.0;
/// The next interval, as a share of the estimated period (§4.1). With 1, a page that changed at every visit
/// would keep the same interval, because its estimate is that interval.
pub(crate) const SHARE_OF_PERIOD: f64 = 0.8;

/// A page with a known period, and a number in [0, 1) for each visit that decides whether the page changed. All candidates use the
/// same numbers, so that they can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    /// The true period, in days.
    pub period_days: f64,
    /// A number for each visit.
    pub chances: [f64; EPOCHS],
}

impl Trial {
    /// A page of this period with random numbers.
    pub(crate) fn draw(period_days: f64, random: &mut impl Rng) -> Self {
        Self { period_days, chances: std::array::from_fn(|_| random.random()) }
    }

    /// The error of the estimated period after each visit, in days.
    fn errors(&self, first_days: f64, share: f64, prior: Option<TwoIntervals>) -> [f64; EPOCHS] {
        let start = VisitHistory::keeping(usize::MAX);
        let mut history = prior.map_or_else(|| start.clone(), |prior| start.after(prior));
        let mut interval = first_days;
        self.chances.map(|chance| {
            interval = interval.clamp(SHORTEST_DAYS, LONGEST_DAYS);
            history.add(interval, Seen::from(chance < -(-interval / self.period_days).exp_m1()));
            let estimated = 1.0 / history.most_likely();
            interval = share * estimated;
            (estimated - self.period_days).abs()
        })
    }
}

/// The median error (MAD) of the estimated periods after each visit, in days. The first interval is `first_days`; each later one is
/// `share` of the estimated period.
pub(crate) fn median_errors(
    trials: &[Trial],
    first_days: f64,
    share: f64,
    prior: Option<TwoIntervals>,
) -> [f64; EPOCHS] {
    median_errors_each(trials.iter().map(|trial| (trial, first_days)), share, prior)
}

/// [`median_errors`] where each page has a first interval of its own.
pub(crate) fn median_errors_each<'a>(
    trials: impl Iterator<Item = (&'a Trial, f64)>,
    share: f64,
    prior: Option<TwoIntervals>,
) -> [f64; EPOCHS] {
    let errors: Vec<_> = trials.map(|(trial, first)| trial.errors(first, share, prior)).collect();
    std::array::from_fn(|epoch| {
        median(errors.iter().filter_map(|of_page| of_page.get(epoch).copied()).collect())
    })
}

/// The candidate whose median errors have the least mean over the visits; the first one of several, and `None` if there is no
/// candidate. The paper does not say how visits are pooled.
pub(crate) fn best(trials: &[Trial], candidates_days: &[f64]) -> Option<f64> {
    let mean =
        |first: f64| median_errors(trials, first, SHARE_OF_PERIOD, None).iter().sum::<f64>() / EPOCHS as f64;
    let scored = candidates_days.iter().map(|first| (mean(*first), *first));
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, first)| first)
}

/// A first interval that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriedInterval {
    /// The interval, in days.
    pub first_days: f64,
    /// The median error of the estimated period after each visit, in days.
    pub errors_days: [f64; EPOCHS],
}

impl TriedInterval {
    /// The mean of the errors, by which intervals are compared.
    pub fn mean(&self) -> f64 {
        self.errors_days.iter().sum::<f64>() / EPOCHS as f64
    }
}

/// First intervals that were tried on the pages of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedIntervals {
    /// The pages.
    pub pages: usize,
    /// Half of the pages have a shorter period, in days.
    pub median_period_days: f64,
    /// The intervals, shortest first.
    pub tried: Vec<TriedInterval>,
}

impl TriedIntervals {
    /// The interval of the least mean error; the shortest of several.
    pub fn best(&self) -> Option<TriedInterval> {
        self.tried.iter().copied().min_by(|a, b| a.mean().total_cmp(&b.mean()))
    }
}

/// The most pages that are simulated for a collection.
const MOST_TRIALS: usize = 400;
/// The number of first intervals that are tried for a collection.
const CANDIDATES: u32 = 24;

/// Simulated pages of these periods, which are sorted: some of them, evenly from the shortest to the longest.
pub(super) fn trials_of(periods: &[f64]) -> Vec<Trial> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let every = periods.len().div_ceil(MOST_TRIALS).max(1);
    periods.iter().step_by(every).map(|period| Trial::draw(*period, &mut random)).collect()
}

/// First intervals tried on the periods of these pages, from a tenth of the median period to four times it. `None` if no page
/// changed.
pub(crate) fn of_collection(histories: &[VisitHistory]) -> Option<TriedIntervals> {
    let periods = priors::periods(histories);
    let median_period_days = periods.get(periods.len() / 2).copied()?;
    // The simulation knows intervals from an hour to a year. A collection on a fast clock may have periods of seconds: it is
    // simulated in units of its median period, which is 10 days there.
    let unit = median_period_days / 10.0;
    let scaled: Vec<f64> = periods.iter().map(|period| period / unit).collect();
    let trials = trials_of(&scaled);
    let (from, to) = (1.0_f64, 40.0_f64);
    let step = (to / from).ln() / f64::from(CANDIDATES - 1);
    let tried = (0..CANDIDATES).map(|at| {
        let first = from * (step * f64::from(at)).exp();
        let errors = median_errors(&trials, first, SHARE_OF_PERIOD, None);
        TriedInterval { first_days: first * unit, errors_days: errors.map(|error| error * unit) }
    });
    Some(TriedIntervals { pages: periods.len(), median_period_days, tried: tried.collect() })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle), values.len() % 2) {
        (None, _) => 0.0,
        (Some(value), 1) => *value,
        (Some(value), _) => f64::midpoint(*value, values.get(middle - 1).copied().unwrap_or(*value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};

    const HOURS: f64 = 24.0;

    #[test]
    fn median_errors_and_the_best_interval_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/initial_interval.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let periods = numbers(&case["true_periods"]);
            let chances = case["uniforms"].as_array().expect("uniforms").iter().map(numbers);
            let mut trials: Vec<Trial> = periods
                .iter()
                .zip(chances)
                .map(|(period, chances)| Trial {
                    period_days: period / HOURS,
                    chances: chances.try_into().expect("five numbers"),
                })
                .collect();
            let same = |errors: [f64; EPOCHS], expected: &serde_json::Value| {
                for (error, expected) in errors.iter().zip(numbers(expected)) {
                    assert!(close(error * HOURS, expected, tolerance), "{errors:?} for {expected}");
                }
            };
            let mut firsts = Vec::new();
            for candidate in case["candidates"].as_array().expect("candidates") {
                let first = number(&candidate["initial"]) / HOURS;
                firsts.push(first);
                same(median_errors(&trials, first, SHARE_OF_PERIOD, None), &candidate["mad_by_epoch"]);
            }
            let expected = number(&case["best_initial"]) / HOURS;
            assert_eq!(best(&trials, &firsts), Some(expected));
            trials.reverse();
            assert_eq!(best(&trials, &firsts), Some(expected), "the order of the pages does not matter");

            let pseudo = &case["with_pseudo"];
            let prior = TwoIntervals {
                changed_days: number(&pseudo["t_changed"]) / HOURS,
                unchanged_days: number(&pseudo["t_unchanged"]) / HOURS,
            };
            assert!(close(HOURS / prior.rate(), number(&pseudo["initial"]), 1e-9));
            let share = number(&pseudo["factor"]);
            trials.reverse();
            same(median_errors(&trials, 1.0 / prior.rate(), share, Some(prior)), &pseudo["mad_by_epoch"]);
        }
    }

    #[test]
    fn the_best_first_interval_of_a_collection_is_somewhat_below_its_median_period() {
        use crate::time::Age;
        // Log-normal periods around 18 days on a day of any length: the quantiles, each with 60 visits at a quarter of its period.
        let pages = |day: f64| -> Vec<VisitHistory> {
            let page = |at: i32| {
                let normal = 2.0 * f64::from(at) / 100.0 * (1.0 + f64::from(at.abs()) / 200.0);
                let interval = 0.25 * day * 18.0 * (0.95 * normal).exp();
                VisitHistory::of(
                    (0..60).map(|visit| (Age::from_days(interval), Seen::from(visit * 2 % 9 < 2))),
                )
            };
            (-100..=100).map(page).collect()
        };
        let found = of_collection(&pages(1.0)).expect("pages that change");
        let share = found.best().map(|best| best.first_days / found.median_period_days);
        assert!(share.is_some_and(|share| (0.35..0.95).contains(&share)), "{share:?}");
        assert_eq!((found.pages, found.tried.len()), (201, 24));
        let fast = of_collection(&pages(1.0 / 720.0)).expect("pages that change");
        let fast_share = fast.best().map_or(0.0, |best| best.first_days / fast.median_period_days);
        assert!(
            share.is_some_and(|share| close(share, fast_share, 0.01)),
            "the clock does not matter: {fast_share}"
        );
        assert_eq!(of_collection(&[VisitHistory::of([(Age::from_days(3.0), Seen::Unchanged)])]), None);
    }

    #[test]
    fn without_pages_there_is_nothing_to_say() {
        assert_eq!(median_errors(&[], 1.0, 1.0, None), [0.0; EPOCHS]);
        assert_eq!(best(&[], &[]), None);
    }
}
