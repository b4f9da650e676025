use proptest::prelude::*;

use super::*;

fn total(ideals: &[f64], assigned: &[usize]) -> f64 {
    ideals.iter().zip(assigned).map(|(ideal, cycle)| deviation(*ideal, *cycle)).sum()
}

/// The least sum over every assignment that `allows`.
fn brute_force(ideals: &[f64], cycles: usize, allows: &dyn Fn(&[usize]) -> bool) -> Option<f64> {
    let mut assigned = vec![0; ideals.len()];
    let mut best: Option<f64> = None;
    loop {
        if allows(&assigned) {
            let sum = total(ideals, &assigned);
            best = Some(best.map_or(sum, |best| best.min(sum)));
        }
        // Counting in base `cycles`.
        let Some(at) = assigned.iter().position(|cycle| cycle + 1 < cycles) else { return best };
        assigned[at] += 1;
        assigned[..at].fill(0);
    }
}

fn most_in_a_cycle(assigned: &[usize], cycles: usize) -> usize {
    (0..cycles).map(|cycle| assigned.iter().filter(|other| **other == cycle).count()).max().unwrap_or(0)
}

#[test]
fn refreshes_that_all_want_the_middle_are_spread_around_it() {
    let ideals = [2.5; 5];
    let mut assigned = assign(&ideals, 5, 1).expect("room");
    assigned.sort_unstable();
    assert_eq!(assigned, [0, 1, 2, 3, 4]);
    assert_eq!(assign(&ideals, 5, 5).expect("room"), [2; 5]);
    assert_eq!(total(&ideals, &assign(&ideals, 5, 2).expect("room")), 3.0);
}

#[test]
fn too_many_refreshes_have_no_schedule() {
    assert_eq!(assign(&[0.5; 5], 2, 2), None);
    assert_eq!(assign(&[f64::NAN], 2, 2), None);
    assert_eq!(assign(&[0.5], 0, 2), None);
    assert_eq!(assign(&[], 0, 0), Some(Vec::new()));
    assert_eq!(schedule(&[RefreshDemand { refreshes: 5, phase: 0.5 }], 2, 2), None);
}

#[test]
fn ideal_times_are_even() {
    let demand = RefreshDemand { refreshes: 4, phase: 0.5 };
    assert_eq!(demand.ideal_times(8).collect::<Vec<_>>(), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(RefreshDemand { refreshes: 0, phase: 0.5 }.ideal_times(8).count(), 0);
}

#[test]
fn rates_become_whole_refreshes() {
    assert_eq!(whole_refreshes(&[0.5, 0.25, 0.0, 2.0], 8, 2), [4, 2, 0, 8]);
    // 3 · 1/3 · 4 cycles are 4 refreshes: one for each, and one more for the first.
    assert_eq!(whole_refreshes(&[1.0 / 3.0; 3], 4, 1), [2, 1, 1]);
    assert_eq!(whole_refreshes(&[1.0; 4], 3, 2).iter().sum::<u32>(), 6);
    assert_eq!(whole_refreshes(&[f64::NAN, -1.0, f64::INFINITY], 3, 9), [0, 0, 3]);
    assert_eq!(whole_refreshes(&[1.0], 0, 9), [0]);
}

fn any_demands() -> impl Strategy<Value = (Vec<RefreshDemand>, usize, usize)> {
    (1_usize..9, 1_usize..6).prop_flat_map(|(cycles, capacity)| {
        let demand = (0..=cycles as u32, 0.0..1.0_f64)
            .prop_map(|(refreshes, phase)| RefreshDemand { refreshes, phase });
        (prop::collection::vec(demand, 1..12), Just(cycles), Just(capacity))
    })
}

proptest! {
    #[test]
    fn the_assignment_is_the_best_of_all(
        ideals in prop::collection::vec(prop_oneof![-1.0..5.0_f64, (0_u8..8).prop_map(|half| f64::from(half) / 2.0)], 0..7),
        cycles in 1_usize..5, capacity in 1_usize..4,
    ) {
        let fits = |assigned: &[usize]| most_in_a_cycle(assigned, cycles) <= capacity;
        let best = brute_force(&ideals, cycles, &fits);
        let assigned = assign(&ideals, cycles, capacity);
        prop_assert_eq!(assigned.is_some(), best.is_some());
        if let (Some(assigned), Some(best)) = (assigned, best) {
            prop_assert!(fits(&assigned), "{assigned:?}");
            prop_assert!((total(&ideals, &assigned) - best).abs() < 1e-9, "{assigned:?} {best}");
        }
    }

    #[test]
    fn a_schedule_keeps_the_budget_the_counts_and_visits_no_page_twice_in_a_cycle((demands, cycles, capacity) in any_demands()) {
        let all: usize = demands.iter().map(|demand| demand.refreshes as usize).sum();
        let Some(timetable) = schedule(&demands, cycles, capacity) else {
            prop_assert!(all > cycles * capacity);
            return Ok(());
        };
        prop_assert!(timetable.iter().all(|pages| pages.len() <= capacity), "{timetable:?}");
        for (page, demand) in demands.iter().enumerate() {
            let in_cycles = timetable.iter().map(|pages| pages.iter().filter(|other| **other == page).count());
            prop_assert_eq!(in_cycles.clone().sum::<usize>(), demand.refreshes as usize);
            prop_assert!(in_cycles.max() <= Some(1), "{page}: {timetable:?}");
        }
    }

    #[test]
    fn whole_refreshes_spend_what_the_rates_ask_for(
        rates in prop::collection::vec(0.0..2.0_f64, 0..20), cycles in 1_usize..50, capacity in 0_usize..10
    ) {
        let counts = whole_refreshes(&rates, cycles, capacity);
        let asked: f64 = rates.iter().map(|rate| rate.min(1.0) * cycles as f64).sum();
        let given: u32 = counts.iter().sum();
        let expected = asked.min((capacity * cycles) as f64);
        prop_assert!(f64::from(given) <= expected + 1e-3 && f64::from(given) > expected - 1.0 - 1e-3, "{given} {expected}");
        prop_assert!(counts.iter().all(|count| *count as usize <= cycles));
    }
}
