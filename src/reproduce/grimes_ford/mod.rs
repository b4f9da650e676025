//! Grimes & Ford 2008, "Estimation of Web Page Change Rates": every figure with the printed parameters, and some experiments beyond
//! the paper.
//!
//! Fig. 1 is an example, and a test of it stands in [`watched`]. Fig. 8 is a placeholder in the draft. Their pages are not published:
//! ours are drawn, see [`watched::DrawnPopulation`].

mod beyond;
mod first_interval;
mod no_change;
mod paths;
mod prior;
mod watched;

pub use watched::usable;

use rand::Rng;

use super::{Effort, ErrorSample, Reproduced, exponential};
use crate::dataset::Dataset;

/// Figures 2 to 7, and what is ours. `told` is called with the step that begins.
pub fn run(effort: Effort, dataset: Option<&Dataset>, told: &mut dyn FnMut(&str)) -> Reproduced {
    let mut experiments = Vec::new();
    told("figure 2: 50 paths of estimates");
    experiments.push(paths::run(effort));
    told("figure 3: the distribution of estimated rates");
    experiments.push(watched::run(effort, dataset));
    told("figure 4: the error of the first visits, by first interval");
    experiments.push(first_interval::run(effort));
    told("figure 5: a page in which nothing changed");
    experiments.push(no_change::run(effort));
    told("figures 6 and 7: the prior of two intervals");
    experiments.extend(prior::run(effort));
    told("beyond the paper: bias, and priors for two populations");
    experiments.extend([beyond::bias(effort), beyond::priors(effort)]);
    Reproduced { paper: "Grimes & Ford 2008: Estimation of Web Page Change Rates", experiments }
}

/// Hours of a day: the paper counts in hours, freshet in days.
const HOURS: f64 = 24.0;

/// A draw from a normal distribution: the root of twice an exponential one, at a random angle (Box & Muller 1958).
fn normal(random: &mut impl Rng) -> f64 {
    use rand::RngExt as _;
    let radius = (2.0 * exponential(1.0, random)).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    ErrorSample(values.into_iter().collect()).median()
}
