//! The promises of every estimator in the registry.

use std::collections::BTreeSet;

use freshet::estimate::registry::{EstimatorSettings, all, find};
use freshet::estimate::{Estimate, EstimatorState, Rate, Seen};
use freshet::time::Age;
use proptest::prelude::*;

fn visits(most: usize) -> impl Strategy<Value = Vec<(Age, Seen)>> {
    let days = prop_oneof![1e-9..1e-3_f64, 0.01..100.0_f64, 1.0..1e9_f64];
    let seen = prop_oneof![
        Just(Seen::Unchanged),
        Just(Seen::Changed),
        (0.0..1.0_f64).prop_map(|days| Seen::ChangedAgo(Age::from_days(days))),
        (0_u32..9).prop_map(Seen::Counted),
    ];
    prop::collection::vec((days.prop_map(Age::from_days), seen), 0..most)
}

fn is_sound(Estimate { rate, low, high }: Estimate) -> bool {
    low <= rate && rate <= high && high.get().is_finite()
}

#[test]
fn a_name_finds_its_estimator_and_a_version_begins_with_it() {
    let settings = EstimatorSettings::default();
    let names: BTreeSet<&str> = all(&settings).iter().map(|estimator| estimator.name()).collect();
    assert_eq!(names.len(), all(&settings).len(), "a name stands twice in the registry");
    for name in names {
        let found = find(name, &settings).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.name(), name);
        assert!(found.memory_version().starts_with(&format!("{name}/")), "{}", found.memory_version());
    }
}

proptest! {
    #[test]
    fn an_estimate_is_finite_within_its_bounds_and_never_0(visits in visits(30)) {
        for estimator in all(&EstimatorSettings::default()) {
            let mut state = EstimatorState::default();
            for (interval, seen) in &visits {
                estimator.observe(&mut state, *interval, *seen);
                let (published, estimate) = (estimator.as_published(&state), estimator.estimate(&state));
                prop_assert!(is_sound(published) && is_sound(estimate), "{}", estimator.name());
                prop_assert!(estimate.rate > Rate::NONE && estimate.rate >= published.rate, "{}", estimator.name());
            }
        }
    }

    #[test]
    fn a_state_survives_its_bytes(visits in visits(20)) {
        for estimator in all(&EstimatorSettings::default()) {
            let mut state = EstimatorState::default();
            for (interval, seen) in &visits {
                let mut bytes = Vec::new();
                state.push_bytes(&mut bytes);
                let mut rest = &bytes[..];
                prop_assert_eq!(EstimatorState::take_bytes(&mut rest), Some(state.clone()), "{}", estimator.name());
                prop_assert!(rest.is_empty());
                estimator.observe(&mut state, *interval, *seen);
            }
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Some(state) = EstimatorState::take_bytes(&mut &bytes[..]) {
            for estimator in all(&EstimatorSettings::default()) {
                prop_assert!(is_sound(estimator.estimate(&state)), "{}", estimator.name());
            }
        }
    }
}
