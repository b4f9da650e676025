//! Golden values of crawl rates, and properties that hold for any pages.

use super::*;
use crate::estimate::tests::{close, golden, number, numbers};
use crate::numeric::gamma_function::churn;
use crate::quality::transport;
use proptest::prelude::*;

fn pages_of(case: &serde_json::Value) -> Vec<Watched> {
    let (weights, rates) = (numbers(&case["w"]), numbers(&case["delta"]));
    weights.iter().zip(&rates).map(|(weight, rate)| Watched { change_rate: *rate, weight: *weight }).collect()
}

fn freshness(objective: Objective, pages: &[Watched], rates: &[f64]) -> f64 {
    pages.iter().zip(rates).map(|(page, rate)| page.weight * objective.value(page.change_rate, *rate)).sum()
}

#[test]
fn crawl_rates_are_the_golden_values() {
    let golden = golden(include_str!("../../../tests/golden/azar_rates.json"));
    let tolerance = |name: &str| number(&golden["tolerance"][name]);
    let same_rates = |rates: &[f64], expected: &[f64], what: &str| {
        assert_eq!(rates.len(), expected.len());
        for (rate, expected) in rates.iter().zip(expected) {
            let near = close(*rate, *expected, tolerance("rates_relative"))
                || (rate - expected).abs() <= tolerance("rates_absolute");
            assert!(near, "{what}: {rate} for {expected}");
        }
    };
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 17);
    for case in cases {
        let (pages, budget) = (pages_of(case), number(&case["B"]));
        for objective in Objective::ALL {
            let (found, expected) = (optimal(objective, &pages, budget), &case[objective.name()]);
            let what = format!("{} {}", case["label"], objective.name());
            same_rates(&found.rates, &numbers(&expected["rates"]), &what);
            match (found.multiplier, expected["multiplier"].as_f64()) {
                (None, None) => {}
                (Some(a), Some(b)) => {
                    assert!(close(a, b, tolerance("multiplier_relative")), "{what} {a} {b}")
                }
                (found, expected) => panic!("{what}: {found:?} for {expected:?}"),
            }
            if let Some(expected) = expected["freshness"].as_f64() {
                let found = freshness(objective, &pages, &found.rates);
                assert!(close(found, expected, tolerance("objective_relative")), "{what} {found} {expected}");
            }
        }
        if case["capped"].is_object() {
            let terms: Vec<VisitTerms> = numbers(&case["capped"]["cap"])
                .iter()
                .map(|cap| VisitTerms { most: *cap, ..VisitTerms::default() })
                .collect();
            let found = optimal_under(Objective::Poisson, &pages, &terms, budget).expect("no least rates");
            same_rates(&found.rates, &numbers(&case["capped"]["rates"]), "capped");
            let (a, b) = (found.multiplier.expect("one"), number(&case["capped"]["multiplier"]));
            assert!(close(a, b, tolerance("multiplier_relative")), "{} {a} {b}", case["label"]);
        }
        // The closed form and the search agree.
        let searched = optimal_under(Objective::Poisson, &pages, &[], budget).expect("no least rates");
        same_rates(&searched.rates, &numbers(&case["poisson"]["rates"]), "searched");
    }
}

#[test]
fn least_rates_are_kept_or_refused() {
    let pages = [Watched { change_rate: 50.0, weight: 1.0 }, Watched { change_rate: 0.1, weight: 1.0 }];
    let terms = [VisitTerms { least: 0.2, ..VisitTerms::default() }; 2];
    let found = optimal_under(Objective::Poisson, &pages, &terms, 1.0).expect("enough");
    assert!(close(found.rates[0], 0.2, 1e-9) && close(found.rates[1], 0.8, 1e-9), "{found:?}");
    assert_eq!(optimal_under(Objective::Poisson, &pages, &terms, 0.3), None);
}

fn any_pages() -> impl Strategy<Value = Vec<Watched>> {
    let page = (-4.0..3.0_f64, -3.0..3.0_f64, 0_u8..12).prop_map(|(rate, weight, kind)| Watched {
        change_rate: if kind == 0 { 0.0 } else { 10_f64.powf(rate) },
        weight: if kind == 1 { 0.0 } else { 10_f64.powf(weight) },
    });
    proptest::collection::vec(page, 1..40)
}

/// What a little more of the crawl rate is worth: the slope of the objective.
fn slope(objective: Objective, page: &Watched, rate: f64) -> f64 {
    let Watched { change_rate, weight } = *page;
    match objective {
        Objective::Poisson => weight * change_rate / ((rate + change_rate) * (rate + change_rate)),
        Objective::Periodic if rate == 0.0 => weight / change_rate,
        Objective::Periodic => weight / change_rate * churn(change_rate / rate),
        Objective::Harmonic => weight * change_rate / (rate * (rate + change_rate)),
    }
}

#[test]
fn absurd_numbers_give_finite_rates() {
    let absurd = [0.0, -1.0, 1e-308, 1e-300, 1.0, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
    let pages: Vec<Watched> = (absurd.iter())
        .flat_map(|rate| absurd.map(|weight| Watched { change_rate: *rate, weight }))
        .collect();
    for objective in Objective::ALL {
        for budget in absurd {
            let found = optimal(objective, &pages, budget);
            assert!(
                found.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0),
                "{objective:?} {budget}"
            );
            let all = pages.iter().filter(|page| changes(page)).count();
            assert!(all > 0 && found.multiplier.is_none_or(f64::is_finite), "{objective:?} {budget}");
        }
    }
}

proptest! {
    #[test]
    fn budgets_are_met_and_no_visit_is_worth_more_elsewhere(
        pages in any_pages(), budget in (-4.0..4.0_f64).prop_map(|log| 10_f64.powf(log))
    ) {
        for objective in Objective::ALL {
            let found = optimal(objective, &pages, budget);
            prop_assert!(found.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0));
            let sum: f64 = found.rates.iter().sum();
            if !pages.iter().any(changes) {
                prop_assert_eq!(sum, 0.0);
                continue;
            }
            // Small differences of large numbers: a rate may be off by a part in 10^9 of its page's
            // change rate.
            let slack = 1e-9 * (budget + pages.iter().map(|page| page.change_rate).sum::<f64>());
            prop_assert!((sum - budget).abs() <= slack.min(1e-6 * budget.max(1e-3)), "{sum} of {budget}");
            let multiplier = found.multiplier.expect("pages that change have one");
            for (page, rate) in pages.iter().zip(&found.rates) {
                if !changes(page) {
                    prop_assert_eq!(*rate, 0.0);
                } else if *rate > 1e-6 * page.change_rate {
                    let slope = slope(objective, page, *rate);
                    prop_assert!(close(slope, multiplier, 1e-5), "{objective:?} {slope} {multiplier}");
                } else if objective != Objective::Harmonic {
                    prop_assert!(page.weight / page.change_rate <= multiplier * (1.0 + 1e-5));
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_pages_does_not_matter(pages in any_pages(), budget in 0.001..100.0_f64) {
        for objective in Objective::ALL {
            let forwards = optimal(objective, &pages, budget).rates;
            let turned: Vec<Watched> = pages.iter().rev().copied().collect();
            let mut backwards = optimal(objective, &turned, budget).rates;
            backwards.reverse();
            for (a, b) in forwards.iter().zip(&backwards) {
                prop_assert!(close(*a, *b, 1e-7) || (a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }

    #[test]
    fn bounds_and_costs_are_kept(pages in any_pages(), most in 0.01..10.0_f64, cost in 0.1..10.0_f64) {
        for objective in Objective::ALL {
            let terms: Vec<VisitTerms> =
                (0..pages.len()).map(|at| VisitTerms { cost: if at % 2 == 0 { cost } else { 1.0 }, least: 0.0, most }).collect();
            let found = optimal_under(objective, &pages, &terms, 5.0).expect("no least rates");
            let spent: f64 = found.rates.iter().zip(&terms).map(|(rate, terms)| rate * terms.cost).sum();
            prop_assert!(spent <= 5.0 + 1e-6 && found.rates.iter().all(|rate| *rate <= most));
        }
    }

    /// With the same budget, visits at even distances keep pages fresher.
    #[test]
    fn even_visits_beat_random_ones(pages in any_pages(), budget in 0.001..100.0_f64) {
        let [random, even] = [Objective::Poisson, Objective::Periodic]
            .map(|objective| freshness(objective, &pages, &optimal(objective, &pages, budget).rates));
        prop_assert!(even >= random * (1.0 - 1e-9), "{even} {random}");
    }
}

#[test]
fn pages_whose_ratios_differ_by_a_rounding_error_can_be_put_in_order() {
    // Weights 1, ½, ⅓, … and rates of few distinct values, as LLN gives them after five visits, have many ratios w/Δ that are equal but
    // for rounding. An order by products, w₁ Δ₂ > w₂ Δ₁, is not transitive among them, and the sort panicked at seed 58.
    for seed in 1..100_u32 {
        let mut drawn = seed;
        let pages: Vec<Watched> = (0..100_u32)
            .map(|page| {
                drawn ^= drawn << 13;
                drawn ^= drawn >> 17;
                drawn ^= drawn << 5;
                let changes = f64::from(1 + drawn % 5);
                Watched {
                    change_rate: 0.8 * changes / (6.0 - changes),
                    weight: 1.0 / (f64::from(page) + 1.0),
                }
            })
            .collect();
        let spent: f64 = optimal(Objective::Poisson, &pages, 80.0).rates.iter().sum();
        assert!((spent - 80.0).abs() < 1e-9, "{spent}");
    }
}

/// The frequencies that are best for freshness, as the paper's two other schemes use them (§6.1.1).
#[test]
fn optimal_frequencies_become_a_full_schedule() {
    let pages: Vec<Watched> =
        (0..200).map(|page| Watched { change_rate: 0.02 + 0.01 * f64::from(page), weight: 1.0 }).collect();
    let (cycles, capacity) = (47, 30);
    let rates = optimal(Objective::Periodic, &pages, capacity as f64).rates;
    let counts = transport::whole_refreshes(&rates, cycles, capacity);
    let demands: Vec<transport::RefreshDemand> = counts
        .iter()
        .map(|refreshes| transport::RefreshDemand { refreshes: *refreshes, phase: 0.5 })
        .collect();
    let timetable = transport::schedule(&demands, cycles, capacity).expect("room");
    assert_eq!(timetable.len(), cycles);
    assert!(timetable.iter().all(|pages| pages.len() <= capacity));
    let visits: usize = timetable.iter().map(Vec::len).sum();
    assert!(visits + 1 >= cycles * capacity, "{visits}");
    assert!(counts.last() == Some(&0), "pages that change most are abandoned: {counts:?}");
    for pages in &timetable {
        let mut distinct = pages.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), pages.len(), "no page twice in a cycle");
    }
}
