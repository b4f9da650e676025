//! What must hold of every estimator, and what their tests share.

use super::registry::{EstimatorSettings, all};
use super::*;
use proptest::prelude::*;
use serde_json::Value;

pub(crate) fn golden(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[track_caller]
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// Whether two numbers are the same, but for a share of the larger.
pub(crate) fn close(a: f64, b: f64, relative: f64) -> bool {
    a == b || (a - b).abs() <= relative * a.abs().max(b.abs())
}

/// The visits of a golden case, one day being its unit of time.
pub(crate) fn history_case(case: &Value) -> Vec<(Age, Seen)> {
    let (intervals, changed) = (numbers(&case["intervals"]), numbers(&case["changed"]));
    let visit = |(days, changed): (&f64, &f64)| (Age::from_days(*days), Seen::from(*changed > 0.0));
    intervals.iter().zip(&changed).map(visit).collect()
}

/// Visits of which nothing can be taken for granted.
pub(crate) fn any_history(most: usize) -> impl Strategy<Value = Vec<(Age, Seen)>> {
    let days = prop_oneof![
        4 => (-4.0..4.0_f64).prop_map(|log| 10_f64.powf(log)),
        1 => Just(1.0),
        1 => prop_oneof![Just(0.0), Just(1e-30), Just(1e30), Just(f64::INFINITY), Just(f64::NAN)],
    ];
    let seen = prop_oneof![
        4 => any::<bool>().prop_map(Seen::from),
        1 => any::<f64>().prop_map(|days| Seen::ChangedAgo(Age::from_days(days))),
        1 => (0_u32..1000).prop_map(Seen::Counted),
    ];
    proptest::collection::vec((days.prop_map(Age::from_days), seen), 0..most)
}

fn check(estimate: Estimate) -> Result<(), TestCaseError> {
    let Estimate { rate, low, high } = estimate;
    prop_assert!(
        [rate, low, high].iter().all(|rate| rate.get().is_finite() && rate.get() >= 0.0),
        "{estimate:?}"
    );
    prop_assert!(low <= rate && rate <= high, "{estimate:?}");
    Ok(())
}

proptest! {
    #[test]
    fn whatever_is_seen_estimates_are_finite_and_within_their_bounds(visits in any_history(40)) {
        for estimator in all(&EstimatorSettings::default()) {
            let mut state = EstimatorState::default();
            check(estimator.as_published(&state))?;
            prop_assert!(estimator.estimate(&state).rate > Rate::NONE, "{}", estimator.name());
            for (interval, seen) in &visits {
                estimator.observe(&mut state, *interval, *seen);
                let published = estimator.as_published(&state);
                check(published)?;
                let estimate = estimator.estimate(&state);
                check(estimate)?;
                prop_assert!(estimate.rate > Rate::NONE, "{} starves the page", estimator.name());
                prop_assert!(estimate.rate >= published.rate);
            }
        }
    }

    #[test]
    fn a_stored_state_goes_on_where_it_was(visits in any_history(20), cut in 0_usize..20) {
        for estimator in all(&EstimatorSettings::default()) {
            let (mut kept, mut stored) = (EstimatorState::default(), EstimatorState::default());
            for (at, (interval, seen)) in visits.iter().enumerate() {
                if at == cut {
                    let text = serde_json::to_string(&stored).expect("a state can be written");
                    stored = serde_json::from_str(&text).expect("and read");
                }
                estimator.observe(&mut kept, *interval, *seen);
                estimator.observe(&mut stored, *interval, *seen);
            }
            let [kept, stored] = [&kept, &stored].map(|state| estimator.estimate(state).rate.get());
            prop_assert!(close(kept, stored, 1e-6), "{} {kept} {stored}", estimator.name());
        }
    }

    #[test]
    fn a_page_is_judged_alike_whatever_other_pages_there_are(
        pages in proptest::collection::vec(any_history(8), 1..6)
    ) {
        for estimator in all(&EstimatorSettings::default()) {
            let rate = |visits: &Vec<(Age, Seen)>| {
                let mut state = EstimatorState::default();
                visits.iter().for_each(|(interval, seen)| estimator.observe(&mut state, *interval, *seen));
                estimator.estimate(&state)
            };
            let forwards: Vec<_> = pages.iter().map(rate).collect();
            let mut backwards: Vec<_> = pages.iter().rev().map(rate).collect();
            backwards.reverse();
            prop_assert_eq!(forwards, backwards);
        }
    }

    /// One visit more that finds a change never lowers a rate that looks at lengths of time.
    #[test]
    fn a_change_more_makes_no_page_slower(
        visits in proptest::collection::vec((0.01..100.0_f64, any::<bool>()), 1..20), days in 0.01..100.0_f64
    ) {
        for estimator in all(&EstimatorSettings::exact()) {
            if !["mle", "two-interval", "posterior"].contains(&estimator.name()) {
                continue;
            }
            let mut state = EstimatorState::default();
            for (days, changed) in &visits {
                estimator.observe(&mut state, Age::from_days(*days), Seen::from(*changed));
            }
            let mixed = state.changes > 0 && state.changes < state.visits;
            let before = estimator.as_published(&state).rate.get();
            estimator.observe(&mut state, Age::from_days(days), Seen::Changed);
            let after = estimator.as_published(&state).rate.get();
            prop_assert!(!mixed || after >= before * (1.0 - 1e-9), "{} {before} {after}", estimator.name());
        }
    }
}

#[test]
fn the_state_of_a_page_is_small() {
    assert!(std::mem::size_of::<EstimatorState>() <= 48, "{}", std::mem::size_of::<EstimatorState>());
}

#[test]
fn steady_pages_get_the_rate_they_have() {
    // A change every second visit, visits two days apart: −ln(½)/2 a day for those that know of unseen
    // changes.
    for estimator in all(&EstimatorSettings::default()) {
        let mut state = EstimatorState::default();
        for visit in 0..400 {
            estimator.observe(&mut state, Age::from_days(2.0), Seen::from(visit % 2 == 0));
        }
        let rate = estimator.estimate(&state).rate.get();
        let expected = match estimator.name() {
            "gamma" | "mle" | "two-interval" | "posterior" | "mm" | "cg" => std::f64::consts::LN_2 / 2.0,
            "naive" | "nad" | "aad" => 0.25,
            // Visits at even distances mislead it, as it says.
            "lln" => 0.5,
            _ => continue,
        };
        assert!(close(rate, expected, 0.05), "{}: {rate} for {expected}", estimator.name());
    }
}

#[test]
fn a_page_that_never_changed_is_not_given_up() {
    for estimator in all(&EstimatorSettings::default()) {
        let mut state = EstimatorState::default();
        for _ in 0..100 {
            estimator.observe(&mut state, Age::from_days(1.0), Seen::Unchanged);
        }
        let rate = estimator.estimate(&state).rate.get();
        assert!((0.0049..0.011).contains(&rate), "{}: {rate}", estimator.name());
    }
}
