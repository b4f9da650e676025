use serde_json::Value;

use super::convergence::{LAST, slope, slopes};
use super::one_page::{CHANGE_RATE, CRAWL_RATE, naive_limit};
use super::*;
use crate::reproduce::Numbers;

fn golden(experiment: &str) -> Value {
    let all: Value =
        serde_json::from_str(include_str!("../../../tests/golden/avrachenkov.json")).expect("JSON");
    all[experiment].clone()
}

fn number(table: &Numbers, row: &str, head: &str) -> f64 {
    table.get(row, head).unwrap_or_else(|| panic!("no {row}, {head} in {table:?}"))
}

#[track_caller]
fn near(found: f64, expected: &Value, noise: f64, of: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("no check value for {of}"));
    assert!((found - expected).abs() <= noise, "{of}: {found} is not within {noise} of {expected}");
}

#[test]
fn fig_1_has_the_means_and_errors_of_the_check() {
    let runs = 200;
    let experiment = one_page::one_page(Effort { runs, seed: 1 });
    let (table, golden) = (&experiment.tables[0], golden("fig_1b"));
    for name in ["LLN", "SA", "MLE"] {
        // Four standard errors of a mean and of a root mean square over the runs.
        let rmse = golden[name]["rmse"].as_f64().expect("a number");
        let root = f64::from(runs).sqrt();
        near(number(table, name, "mean"), &golden[name]["mean"], 4.0 * rmse / root, name);
        near(number(table, name, "RMSE"), &golden[name]["rmse"], 4.0 * rmse / (2.0_f64.sqrt() * root), name);
    }
    near(number(table, "Naive", "mean"), &golden["Naive"]["mean"], 0.02, "Naive");
    assert_eq!(naive_limit(CHANGE_RATE, CRAWL_RATE), 1.875);
    let one_run = &experiment.figures[0];
    assert_eq!(one_run.name, "1a-one-run");
    assert!(one_run.curves.iter().all(|curve| curve.points.iter().all(|point| point.bounds.is_none())));
    assert!(experiment.figures[1].curves[0].points.iter().all(|point| point.bounds.is_some()));
}

#[test]
fn fig_2_has_the_freshness_and_the_rates_of_the_check() {
    let experiment = freshness::freshness(Effort { runs: 120, seed: 1 });
    let [alike, zipf] = &experiment.tables[..] else { panic!("two tables") };
    let optimum = number(alike, "the truth", "freshness, k = 1000");
    let uniform = number(alike, "uniform", "freshness, k = 1000");
    let golden_2b = golden("fig_2b_equal_weights");
    let check = |of: &Value| of.as_f64().expect("a number");
    // The mean of 100 drawn pages moves by 0.015 from draw to draw, and the check is of one draw or few.
    near(optimum, &golden_2b["optimum"], 0.03, "optimum");
    near(uniform, &golden_2b["uniform"], 0.03, "uniform");
    // Differences on the same pages move by less.
    let gain = check(&golden_2b["optimum"]) - check(&golden_2b["uniform"]);
    assert!((optimum - uniform - gain).abs() < 0.003, "{optimum} {uniform}");
    for (visits, noise) in [("20", 0.015), ("1000", 0.0008)] {
        for name in ["LLN", "SA", "Naive"] {
            let lost = optimum - number(alike, name, &format!("freshness, k = {visits}"));
            let expected = check(&golden_2b["optimum"]) - check(&golden_2b[visits][name]);
            assert!((lost - expected).abs() < noise, "{name} after {visits}: {lost} for {expected}");
        }
    }
    let golden_2a = golden("fig_2a_skewed_weights");
    for name in ["LLN", "SA", "Naive"] {
        let off = number(zipf, name, "error of p, k = 1000");
        near(off, &golden_2a[name], 0.2 * check(&golden_2a[name]), name);
    }
}

#[test]
fn a_page_never_seen_to_change_costs_most_of_the_freshness_that_is_lost_early() {
    let experiment = freshness::freshness(Effort { runs: 40, seed: 3 });
    let of = |row: &str| number(&experiment.tables[0], row, "freshness, k = 20");
    assert!(of("LLN") < of("uniform") && of("uniform") < of("LLN with the floor of crawls"));
}

#[test]
fn fig_3_has_the_means_and_errors_of_the_check() {
    let experiment = choices::choices(Effort { runs: 500, seed: 1 });
    let [alphas, gammas] = &experiment.tables[..] else { panic!("two tables") };
    let golden_3a = golden("fig_3a");
    for name in choices::ALPHAS {
        // A single estimate is off by 85 or less; four standard errors over 100 runs.
        near(number(alphas, name, "mean, k = 1000"), &golden_3a[name], 4.0 * 85.0 / 10.0, name);
    }
    let golden_3b = golden("fig_3b");
    for name in ["γ = 0.5", "γ = 0.75", "γ = 1"] {
        let rmse = golden_3b[name]["rmse"].as_f64().expect("a number");
        // With γ = 1 most of the error is the same in all runs.
        near(number(gammas, name, "mean, k = 5000"), &golden_3b[name]["mean"], 0.4 * rmse.min(88.0), name);
        near(number(gammas, name, "RMSE, k = 5000"), &golden_3b[name]["rmse"], 0.3 * rmse, name);
    }
    // What the paper says of the figure.
    let off = |name: &str| number(gammas, name, "RMSE, k = 5000");
    assert!(off("γ = 0.75") < off("γ = 0.5") && off("γ = 0.5") < off("γ = 1"));
}

#[test]
fn errors_fall_as_fast_as_the_theorems_say() {
    let table = &slopes(Effort { runs: 0, seed: 1 }, 100, LAST).tables[0];
    for name in ["LLN, α = 1", "LLN, α = log(k + 1)", "SA, γ = 0.5", "SA, γ = 0.6", "SA, γ = 0.75"] {
        let bound = number(table, name, "bound of the theorem");
        for head in ["slope of the mean error", "slope of the RMSE"] {
            // Three standard errors of the slope over 100 runs.
            let found = number(table, name, head);
            assert!((found - bound).abs() < 0.09, "{name}, {head}: {found} for {bound}");
        }
    }
    let exact: Vec<(f64, f64)> = [1.0, 10.0, 50.0_f64].iter().map(|k| (*k, 7.0 * k.powf(-0.375))).collect();
    assert!((slope(&exact) + 0.375).abs() < 1e-12);
}

#[test]
fn the_time_of_a_step_is_measured_for_each_estimator() {
    let table = &step_time::step_time(Effort::default()).tables[0];
    assert_eq!(table.rows.len(), 5);
    assert!(
        table.rows.iter().all(|(_, times)| times.len() == 4 && times.iter().all(|time| time.is_finite()))
    );
}

#[test]
fn even_distances_mislead_lln_and_sa_alone() {
    let table = &even_visits::even_visits(Effort { runs: 24, seed: 1 }).tables[0];
    for (name, limit) in [("MLE", 5.0), ("MM", 5.0), ("LLN", 12.88), ("SA", 12.88)] {
        let mean = number(table, name, "even: mean");
        assert!((mean - limit).abs() < 0.1 * limit, "{name}: {mean}");
    }
    let mean = number(table, "MM", "random: mean");
    assert!((mean - CHANGE_RATE).abs() < 0.5, "{mean}");
}

#[test]
fn in_a_loop_estimated_rates_come_near_the_best_and_beat_uniform_ones() {
    for table in &in_a_loop::in_a_loop(Effort { runs: 24, seed: 1 }).tables {
        let of = |row: &str| number(table, row, "learnt apart");
        for name in in_a_loop::LEARNERS {
            assert!(of(name) <= of("the truth") + 1e-12, "{name}: {}", of(name));
            assert!(of(name) > 0.97 * of("the truth") && of(name) > of("uniform"), "{name}: {}", of(name));
        }
    }
}

#[test]
fn a_step_that_falls_too_fast_never_arrives_if_visits_are_rare() {
    let found = other_paces::other_paces(Effort { runs: 24, seed: 1 });
    let [steps, dampings] = &found.tables[..] else { panic!("two tables") };
    let rare = |gamma: &str| number(steps, gamma, "Δ 10, p 1");
    assert!(rare("γ = 1") > 2.0 * rare("γ = 0.75"), "{} {}", rare("γ = 1"), rare("γ = 0.75"));
    let often = |gamma: &str| number(steps, gamma, "Δ 5, p 10");
    assert!(often("γ = 1") < often("γ = 0.5"), "visited often, it is the best");
    let heavy = number(dampings, "α = k^0.75", "k = 3000");
    assert!(heavy > 2.0 * number(dampings, "α = 1", "k = 3000"), "{heavy}");
}
