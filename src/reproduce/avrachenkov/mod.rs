//! Avrachenkov, Patil & Thoppe 2020, "Change Rate Estimation and Optimal Freshness in Web Page Crawling": their three
//! experiments on simulated pages with the parameters that they print, what their theorems and their text claim besides, and
//! experiments of ours, which are named *beyond*.
//!
//! Rates and times are in days here; the paper names no unit.

mod choices;
mod convergence;
mod even_visits;
mod freshness;
mod in_a_loop;
mod one_page;
mod other_paces;
mod paths;
mod step_time;

use rand::Rng;

use super::{Effort, Reproduced, exponential, geometric};
use crate::estimate::online::{Damping, LawOfLargeNumbers, NaiveAtRate, Step, StochasticApproximation};
use crate::estimate::{RATE_OF_AN_UNKNOWN_PAGE, Rate, Seen};

/// All experiments, those of the paper first. `told` is called with the step that begins.
pub fn run(effort: Effort, told: &mut dyn FnMut(&str)) -> Reproduced {
    told("Fig. 1: four estimators on one page");
    let one_page = one_page::one_page(effort);
    told("Fig. 2: crawl rates from estimated change rates");
    let freshness = freshness::freshness(effort);
    told("Fig. 3: the damping of LLN and the steps of SA");
    let choices = choices::choices(effort);
    told("theorems 1 and 2: how fast the errors fall");
    let convergence = convergence::convergence(effort);
    told("section 4: the time of a step");
    let step_time = step_time::step_time(effort);
    told("beyond: evenly spaced visits");
    let even_visits = even_visits::even_visits(effort);
    told("beyond: crawl rates in a loop with the estimates");
    let in_a_loop = in_a_loop::in_a_loop(effort);
    told("beyond: SA and LLN on other pages");
    let other_paces = other_paces::other_paces(effort);
    Reproduced {
        paper: "Avrachenkov, Patil & Thoppe 2020: Change Rate Estimation and Optimal Freshness in Web Page Crawling",
        experiments: vec![
            one_page,
            freshness,
            choices,
            convergence,
            step_time,
            even_visits,
            in_a_loop,
            other_paces,
        ],
    }
}

/// α of Expt. 1 and 2, and of LLN in crawls.
const DAMPING: Damping = Damping::One;
/// γ of Expt. 1 and 2, and of SA in crawls.
const GAMMA: f64 = 0.75;

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

fn naive(crawl_rate: f64) -> NaiveAtRate {
    NaiveAtRate { crawl_rate: Rate::per_day(crawl_rate) }
}

/// Numbers of visits from the first to the last, each a multiple of the one before, together with `also`.
fn visit_counts(first: u32, last: u32, many: u32, also: &[u32]) -> Vec<u32> {
    let spread = geometric(f64::from(first), f64::from(last), many);
    let mut counts: Vec<u32> = spread.iter().map(|count| count.round() as u32).chain(also.to_vec()).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests;
