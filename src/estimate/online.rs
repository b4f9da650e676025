//! LLN and SA (Avrachenkov et al. 2020): two estimators with a few numbers a page, for visits at random moments; and the naive one
//! that they are compared with.
//!
//! Both assume exponential gaps between visits. With evenly spaced visits, p a day, they tend to p (e^(rate / p) − 1)
//! ([`limit_if_evenly_spaced`]), which is too high; [`super::bias_reduced`] is for such visits.

use super::share::wilson;
use super::{Estimate, Estimator, EstimatorState, Memory, RATE_OF_AN_UNKNOWN_PAGE, Rate, Seen};
use crate::time::Age;

/// The number that [`LawOfLargeNumbers`] adds to the visits that found nothing, so that its estimate is finite: a of §3.1, which must
/// be positive and grow slower than the visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damping {
    /// 1.
    #[default]
    One,
    /// ln(n + 1); the paper's ln n is 0 at the first visit.
    Log,
    /// √n.
    SquareRoot,
    /// n^¾.
    ThreeQuarters,
}

impl Damping {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::One, Self::Log, Self::SquareRoot, Self::ThreeQuarters];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Log => "log",
            Self::SquareRoot => "sqrt",
            Self::ThreeQuarters => "3/4",
        }
    }

    /// The choice of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its value after this many visits.
    pub fn of(self, visits: f64) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Log => visits.ln_1p(),
            Self::SquareRoot => visits.sqrt(),
            Self::ThreeQuarters => visits.powf(0.75),
        }
    }
}

/// p X / (n + a − X) (Avrachenkov et al. 2020, eq. 2); 0 if nothing changed.
pub(crate) fn law_of_large_numbers(crawl_rate: f64, visits: f64, changes: f64, damping: f64) -> f64 {
    if changes == 0.0 { 0.0 } else { crawl_rate * changes / (visits + damping - changes) }
}

/// p X / n (Avrachenkov et al. 2020, §3.3): changes seen by the time of the visits. It tends to p · rate / (p + rate).
pub(crate) fn naive(crawl_rate: f64, visits: f64, changes: f64) -> f64 {
    crawl_rate * changes / visits
}

/// One step of SA, y + η (I (y + p) − y) (Avrachenkov et al. 2020, eq. 3). With η ≤ 1 the result is never negative.
pub(crate) fn stochastic_approximation(rate: f64, crawl_rate: f64, changed: bool, step: f64) -> f64 {
    let target = if changed { rate + crawl_rate } else { 0.0 };
    rate + step * (target - rate)
}

/// The limit of LLN and SA with evenly spaced visits: p (e^(rate / p) − 1).
pub(crate) fn limit_if_evenly_spaced(rate: f64, crawl_rate: f64) -> f64 {
    crawl_rate * (rate / crawl_rate).exp_m1()
}

/// Visits a day: as set, or as observed so far.
fn crawl_rate(set: Option<Rate>, state: &EstimatorState) -> f64 {
    set.map(Rate::get).or_else(|| state.mean_days().map(|days| 1.0 / days)).unwrap_or(0.0)
}

/// Bounds on the rate from bounds on q = rate / (rate + p), the share of visits that find a change. One more visit that found
/// nothing keeps them finite.
fn bounds(state: &EstimatorState, crawl_rate: f64, damping: f64) -> (f64, f64) {
    let (low, high) = wilson(f64::from(state.changes), f64::from(state.visits) + damping);
    (crawl_rate * low / (1.0 - low), crawl_rate * high / (1.0 - high))
}

/// LLN (§3.1), whose mean error falls as 1/√n.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LawOfLargeNumbers {
    /// The number added to visits that found nothing.
    pub damping: Damping,
    /// p of the paper; `None`: visits divided by time.
    pub crawl_rate: Option<Rate>,
}

impl Estimator for LawOfLargeNumbers {
    fn name(&self) -> &'static str {
        "lln"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        state.count(interval, seen);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        if state.visits == 0 {
            return Estimate::of_nothing(0.0);
        }
        let (p, visits) = (crawl_rate(self.crawl_rate, state), f64::from(state.visits));
        let damping = self.damping.of(visits);
        let (low, high) = bounds(state, p, damping);
        Estimate::new(law_of_large_numbers(p, visits, f64::from(state.changes), damping), low, high)
    }
}

/// The naive estimator with a given crawl rate, for comparison. [`super::censored::Naive`] takes the visits' own rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NaiveAtRate {
    /// p of the paper.
    pub crawl_rate: Rate,
}

impl Estimator for NaiveAtRate {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        state.count(interval, seen);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        if state.visits == 0 {
            return Estimate::of_nothing(0.0);
        }
        let (p, visits, changes) = (self.crawl_rate.get(), f64::from(state.visits), f64::from(state.changes));
        let (low, high) = wilson(changes, visits);
        Estimate::new(naive(p, visits, changes), p * low, p * high)
    }
}

/// η, the weight of the newest visit in SA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// (k + 1)^(−γ), where k counts visits from `first` on. It converges for γ in (½, 1]; at γ = 1 very slowly, for pages that change
    /// faster than they are visited. The paper has `first` = 0, whose first step forgets the start value if nothing changed; 5 and
    /// more keep it.
    Falling {
        /// γ.
        gamma: f64,
        /// The number of the first visit.
        first: u32,
    },
    /// A constant (0.05 to 0.1): it never settles, and so follows a page whose rate changes.
    Constant(f64),
}

impl Step {
    fn at(self, visits_before: u32) -> f64 {
        match self {
            Self::Falling { gamma, first } => {
                (f64::from(visits_before) + f64::from(first) + 1.0).powf(-gamma)
            }
            Self::Constant(step) => step,
        }
        .clamp(0.0, 1.0)
    }
}

/// SA (§3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StochasticApproximation {
    /// η.
    pub step: Step,
    /// The rate before the first visit, which the paper leaves open; the mean of the collection is a good choice.
    pub start: Rate,
    /// p of the paper; `None`: visits divided by time.
    pub crawl_rate: Option<Rate>,
}

impl Default for StochasticApproximation {
    fn default() -> Self {
        Self {
            step: Step::Falling { gamma: 0.75, first: 0 },
            start: Rate::per_day(RATE_OF_AN_UNKNOWN_PAGE),
            crawl_rate: None,
        }
    }
}

impl StochasticApproximation {
    fn rate(&self, state: &EstimatorState) -> f64 {
        match state.memory {
            Memory::Rate(rate) => rate,
            _ => self.start.get(),
        }
    }
}

impl Estimator for StochasticApproximation {
    fn name(&self) -> &'static str {
        "sa"
    }

    fn memory_version(&self) -> String {
        match self.step {
            Step::Falling { gamma, first } => format!("sa/1 falling {gamma} {first}"),
            Step::Constant(step) => format!("sa/1 constant {step}"),
        }
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let step = self.step.at(state.visits);
        state.count(interval, seen);
        let p = crawl_rate(self.crawl_rate, state);
        let rate = stochastic_approximation(self.rate(state), p, seen.changed(), step);
        state.memory = Memory::Rate(Rate::per_day(rate).get());
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        if state.visits == 0 {
            return Estimate::of_nothing(self.start.get());
        }
        let (low, high) = bounds(state, crawl_rate(self.crawl_rate, state), Damping::One.of(0.0));
        Estimate::new(self.rate(state), low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, history_case, number, numbers};

    fn folded(estimator: &dyn Estimator, visits: &[(Age, Seen)]) -> Vec<f64> {
        let mut state = EstimatorState::default();
        let rate = |(interval, seen): &(Age, Seen)| {
            estimator.observe(&mut state, *interval, *seen);
            estimator.as_published(&state).rate.get()
        };
        visits.iter().map(rate).collect()
    }

    #[test]
    fn both_go_the_way_of_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/estimators.json"));
        let tolerance = number(&golden["tolerance"]["relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let visits = history_case(case);
            let crawl_rate = Some(Rate::per_day(number(&case["p"])));
            let same = |path: &[f64], expected: &[f64]| {
                assert_eq!(path.len(), expected.len());
                for (rate, expected) in path.iter().zip(expected) {
                    assert!(close(*rate, *expected, tolerance), "{rate} for {expected} in {case}");
                }
            };
            for (name, damping) in [
                ("one", Damping::One),
                ("log_k_plus_1", Damping::Log),
                ("sqrt_k", Damping::SquareRoot),
                ("k_075", Damping::ThreeQuarters),
            ] {
                let path = folded(&LawOfLargeNumbers { damping, crawl_rate }, &visits);
                same(&path[path.len() - 1..], &[number(&case["lln"][name])]);
                if name == "one" && case["lln_path_one"].is_array() {
                    same(&path, &numbers(&case["lln_path_one"]));
                }
            }
            for (name, gamma) in [("gamma_050", 0.5), ("gamma_075", 0.75), ("gamma_100", 1.0)] {
                let start = Rate::per_day(number(&case["sa"]["y0"]));
                let step = Step::Falling { gamma, first: 0 };
                let path = folded(&StochasticApproximation { step, start, crawl_rate }, &visits);
                same(&path[path.len() - 1..], &[number(&case["sa"][name])]);
                if name == "gamma_075" && case["sa_path_075"].is_array() {
                    same(&path, &numbers(&case["sa_path_075"]));
                }
            }
        }
    }

    #[test]
    fn evenly_spaced_visits_mislead_both_as_the_golden_values_say() {
        let golden = golden(include_str!("../../tests/golden/freshness_closed_forms.json"));
        for case in golden["cases"].as_array().expect("cases") {
            let limit = limit_if_evenly_spaced(number(&case["delta"]), number(&case["p"]));
            assert!(close(limit, number(&case["lln_limit_if_periodic"]), 1e-8), "{case}");
        }
    }
}
