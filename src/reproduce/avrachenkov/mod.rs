//! Avrachenkov, Patil & Thoppe 2020, "Change Rate Estimation and Optimal Freshness in Web Page Crawling": their three
//! experiments on simulated pages.
//!
//! Rates and times are in days here; the paper names no unit.

mod choices;
mod freshness;
mod one_page;

use rand::Rng;

use super::{Effort, Reproduced, exponential};
use crate::estimate::online::{Damping, LawOfLargeNumbers, Step, StochasticApproximation};
use crate::estimate::{RATE_OF_AN_UNKNOWN_PAGE, Rate, Seen};
use choices::choices;
use freshness::freshness;
use one_page::one_page;

/// All three experiments. `told` is called with the step that begins.
pub fn run(effort: Effort, told: &mut dyn FnMut(&str)) -> Reproduced {
    told("experiment 1: five estimators on one page");
    let one_page = one_page(effort);
    told("experiment 2: crawl rates from estimated change rates");
    let freshness = freshness(effort);
    told("experiment 3: the steps of SA and the damping of LLN");
    let choices = choices(effort);
    Reproduced {
        paper: "Avrachenkov, Patil & Thoppe 2020: Change Rate Estimation and Optimal Freshness in Web Page Crawling",
        experiments: vec![one_page, freshness, choices],
    }
}

/// A visit to a page that changes at random: does it find a change?
fn visit(change_rate: f64, gap: f64, random: &mut impl Rng) -> Seen {
    Seen::from(exponential(change_rate, random) < gap)
}

fn lln(damping: Damping, crawl_rate: f64) -> LawOfLargeNumbers {
    LawOfLargeNumbers { damping, crawl_rate: Some(Rate::per_day(crawl_rate)) }
}

fn sa(gamma: f64, crawl_rate: f64) -> StochasticApproximation {
    StochasticApproximation {
        step: Step::Falling { gamma, first: 0 },
        start: Rate::per_day(RATE_OF_AN_UNKNOWN_PAGE),
        crawl_rate: Some(Rate::per_day(crawl_rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::freshness::LEARNERS;
    use super::one_page::{CHANGE_RATE, CRAWL_RATE, naive_limit};
    use super::*;
    use crate::reproduce::Numbers;

    const FEW: Effort = Effort { runs: 24, seed: 1 };

    fn number(table: &Numbers, row: &str, head: &str) -> f64 {
        table.get(row, head).expect("a number")
    }

    #[test]
    fn four_estimators_find_the_truth_and_counting_does_not() {
        let table = &one_page(FEW).tables[0];
        for name in ["MLE", "MM", "LLN", "SA"] {
            let mean = number(table, name, "random: mean");
            assert!((mean - CHANGE_RATE).abs() < 0.5, "{name}: {mean}");
        }
        let naive = number(table, "naive", "random: mean");
        assert!((naive - 1.875).abs() < 0.1, "{naive}");
        assert_eq!(naive_limit(CHANGE_RATE, CRAWL_RATE), 1.875);
    }

    #[test]
    fn even_distances_mislead_lln_and_sa_alone() {
        let table = &one_page(FEW).tables[0];
        for (name, limit) in [("MLE", 5.0), ("MM", 5.0), ("LLN", 12.88), ("SA", 12.88)] {
            let mean = number(table, name, "even: mean");
            assert!((mean - limit).abs() < 0.1 * limit, "{name}: {mean}");
        }
    }

    #[test]
    fn estimated_rates_come_near_the_best_and_beat_uniform_ones() {
        for table in &freshness(FEW).tables {
            let of = |row: &str| number(table, row, "learnt apart");
            for name in LEARNERS {
                assert!(of(name) <= of("the truth") + 1e-12, "{name}: {}", of(name));
                assert!(
                    of(name) > 0.97 * of("the truth") && of(name) > of("uniform"),
                    "{name}: {}",
                    of(name)
                );
            }
        }
    }

    #[test]
    fn a_step_that_falls_too_fast_never_arrives_if_visits_are_rare() {
        let choices = choices(FEW);
        let [steps, dampings] = &choices.tables[..] else { panic!("two tables") };
        let rare = |gamma: &str| number(steps, gamma, "Δ 10, p 1");
        assert!(rare("γ = 1") > 2.0 * rare("γ = 0.75"), "{} {}", rare("γ = 1"), rare("γ = 0.75"));
        let often = |gamma: &str| number(steps, gamma, "Δ 5, p 10");
        assert!(often("γ = 1") < often("γ = 0.5"), "visited often, it is the best");
        let heavy = number(dampings, "α = n^¾", "after 3000");
        assert!(heavy > 2.0 * number(dampings, "α = 1", "after 3000"), "{heavy}");
    }
}
