//! Golden fits, and properties that hold for any samples.

use proptest::prelude::*;
use serde_json::Value;

use super::super::samples::combined;
use super::*;
use crate::estimate::tests::{close, golden, number, numbers};

fn samples(case: &Value) -> Vec<Sample> {
    let (days, divergence) = (numbers(&case["t"]), numbers(&case["D"]));
    days.iter().zip(&divergence).map(|(days, divergence)| Sample::new(*days, *divergence)).collect()
}

#[test]
fn fits_are_the_golden_values() {
    let golden = golden(include_str!("../../tests/golden/curve_fits.json"));
    let tolerance = |name: &str| number(&golden["tolerance"][name]);
    for case in golden["cases"].as_array().expect("cases") {
        let label = &case["label"];
        let fit = Fit::of(&samples(case)).expect("a fit");
        let expected = &case["fit"];
        let (kind, items) = match fit.curve {
            Curve::Static => ("static", None),
            Curve::Churn { .. } => ("churn", None),
            Curve::Scroll { items, .. } => ("scroll", Some(u64::from(items))),
        };
        assert_eq!(
            (kind, items),
            (expected["chosen"].as_str().expect("a name"), expected["K"].as_u64()),
            "{label}"
        );
        if kind == "static" {
            assert_eq!(fit.error, 0.0);
            continue;
        }
        let most = number(&expected["sse"]) * (1.0 + tolerance("sse_factor")) + 1e-8;
        assert!(fit.error <= most, "{label}: {} for {most}", fit.error);
        if !expected["well_conditioned"].as_bool().expect("a flag") {
            continue;
        }
        let (Curve::Churn { height, rate } | Curve::Scroll { height, rate, .. }) = fit.curve else {
            panic!("{label}: {fit:?}");
        };
        assert!(close(height, number(&expected["A"]), tolerance("params_relative")), "{label}: {fit:?}");
        assert!(close(rate, number(&expected["rate"]), tolerance("params_relative")), "{label}: {fit:?}");
        for root in case["phi"].as_array().expect("roots") {
            let period = fit.curve.refresh_period(number(&root["T"]));
            match (period, root["phi"].as_f64()) {
                (Some(period), Some(expected)) => {
                    assert!(
                        close(period, expected, tolerance("phi_relative")),
                        "{label}: {period} {expected}"
                    );
                }
                (period, expected) => assert_eq!(period, expected, "{label}: {root}"),
            }
        }
    }
}

#[test]
fn a_grid_finds_what_lies_on_it_and_no_better() {
    let grid: Vec<f64> = grid().collect();
    assert_eq!(grid.len(), 97);
    assert!(close(grid[0], 0.001, 1e-12) && close(grid[96], 20.0, 1e-12));
    for (items, turnover) in [(1, grid[40]), (4, grid[55]), (32, grid[50])] {
        let curve = Curve::scroll(0.6, f64::from(items) * turnover, items);
        let days = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0];
        let samples = days.map(|days| Sample::new(days, curve.divergence(days)));
        let fit = Fit::on_grid(&samples, 1.0).expect("a fit");
        assert!(
            fit.error < 1e-28 && close(fit.curve.supremum(), curve.supremum(), 1e-9),
            "{fit:?} {curve:?}"
        );
        // The same page, seen by a crawler with weekly cycles.
        let weekly = samples.map(|sample| Sample { days: 7.0 * sample.days, ..sample });
        let fit = Fit::on_grid(&weekly, 7.0).expect("a fit");
        assert!(close(fit.curve.supremum(), 7.0 * curve.supremum(), 1e-9), "{fit:?} {curve:?}");
    }
}

#[test]
fn a_page_at_its_height_at_once_is_worth_no_more_than_its_shortest_age() {
    let samples = [1.0, 2.0, 4.0, 8.0].map(|days| Sample::new(days, 0.4));
    for fit in [Fit::of(&samples), Fit::on_grid(&samples, 1.0)] {
        let fit = fit.expect("a fit");
        assert!(fit.is_saturated && close(fit.curve.height(), 0.4, 1e-6), "{fit:?}");
        let worth = fit.worth();
        assert!(close(worth.supremum(), 0.4, 1e-6), "{worth:?}");
        // A·g(1 − (1 + t/g) e^(−t/g)), g = 1.
        assert!(close(worth.utility(2.0), 0.4 * (1.0 - 3.0 * (-2.0_f64).exp()), 1e-6));
    }
}

#[test]
fn weights_count_as_repetitions() {
    let seen = [(1.0, 0.1), (1.0, 0.3), (2.0, 0.25), (4.0, 0.5), (4.0, 0.4), (4.0, 0.45), (9.0, 0.6)];
    let all = seen.map(|(days, divergence)| Sample::new(days, divergence));
    let (apart, together) = (Fit::of(&all).expect("a fit"), Fit::of(&combined(all, 0.0)).expect("a fit"));
    assert!(close(apart.curve.height(), together.curve.height(), 1e-4), "{apart:?} {together:?}");
    assert!(close(apart.curve.supremum(), together.curve.supremum(), 1e-4), "{apart:?} {together:?}");
    assert_eq!((together.ages, together.weight), (4, 7.0));
}

proptest! {
    #[test]
    fn no_scan_point_is_better_than_the_fit(
        curve in (0.01..1.0_f64, -3.0..2.0_f64, 0_usize..6),
        seen in proptest::collection::vec((-2.0..2.0_f64, -0.1..0.1_f64), 1..14),
    ) {
        let (height, log_rate, items) = curve;
        let page = Curve::scroll(height, 10_f64.powf(log_rate), ITEMS[items]);
        let samples = combined(seen.iter().map(|(log_days, noise)| {
            let days = 10_f64.powf(*log_days);
            Sample::new(days, page.divergence(days) + noise)
        }), 0.0);
        let fit = Fit::of(&samples).expect("a fit");
        let points = FitPoints::of(&samples).expect("points");
        for tried in points.candidates() {
            for i in 0..400 {
                let turnover = LEAST_TURN / points.most_days * 10_f64.powf(f64::from(i) * 0.025);
                if turnover * points.least_days <= MOST_TURNS {
                    let error = points.best_height(tried.items, turnover).1;
                    // Nearly straight lines are not told apart.
                    prop_assert!(fit.error <= error * (1.0 + 2.0 * TIE.0) + 1e-7, "{fit:?}: {turnover} {error}");
                }
            }
        }
    }

    #[test]
    fn whatever_comes_in_fits_are_finite(
        seen in proptest::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..10),
        plausible in proptest::collection::vec((0_u8..6, -1..3_i32), 0..10),
        age in any::<f64>(),
    ) {
        let odd = seen.iter().map(|(days, divergence, weight)| Sample {
            days: *days, divergence: *divergence, weight: *weight,
        });
        let plain = plausible.iter().map(|(days, divergence)| Sample::new(f64::from(*days), f64::from(*divergence)));
        let all: Vec<Sample> = odd.chain(plain).collect();
        for samples in [combined(all.clone(), 0.01), all] {
            for fit in [Fit::of(&samples), Fit::on_grid(&samples, 1.0)].into_iter().flatten() {
                prop_assert!(fit.error >= 0.0 && fit.error.is_finite(), "{fit:?}");
                for curve in [fit.curve, fit.worth()] {
                    prop_assert!((0.0..=1.0).contains(&curve.divergence(age)), "{fit:?}");
                    prop_assert!(curve.utility(age) >= 0.0 && curve.utility(age).is_finite(), "{fit:?}");
                    prop_assert!(curve.supremum().is_finite(), "{fit:?}");
                    prop_assert!(curve.refresh_period(age).is_none_or(|days| days >= 0.0), "{fit:?}");
                }
            }
        }
    }
}
