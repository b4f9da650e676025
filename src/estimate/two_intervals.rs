//! A prior of two made-up intervals, one with a change and one without (Grimes & Ford 2008, §4.4).
//!
//! They stand before the visits of every page, so that the most likely rate has no edge cases. Their lengths are fitted to the
//! periods of a group of pages. The paper does not say how the two become a distribution; both readings are here, see [`Base`].
//! For populations with a wide spread the best fit lies on the edge of the search box, which is a property of the family. So a
//! crawl does not fit a distribution: it takes the pair with the least error of estimates, see [`super::tuned_intervals`].

use rand::{Rng, RngExt as _};

use super::RATE_OF_AN_UNKNOWN_PAGE;

/// The two intervals, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoIntervals {
    /// The interval with a change.
    pub changed_days: f64,
    /// The interval without a change.
    pub unchanged_days: f64,
}

impl Default for TwoIntervals {
    /// Two equal intervals, for which a page without visits has the rate of an unknown page.
    fn default() -> Self {
        let days = std::f64::consts::LN_2 / RATE_OF_AN_UNKNOWN_PAGE;
        Self { changed_days: days, unchanged_days: days }
    }
}

/// The quantity that is uniformly distributed before the two intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Periods, at the middles of a histogram's bins: one way to read the paper.
    Periods,
    /// Rates: the two intervals give a density ab/(b − a) (e^(−ar) − e^(−br)), where a is the unchanged interval and b the sum of both.
    Rates,
}

/// The share of pages with a period in each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The width of a bin, in days.
    pub bin_days: f64,
    /// The shares of the pages, from period 0 on.
    pub shares: Vec<f64>,
}

impl Histogram {
    /// The histogram of these periods. Periods beyond the last bin are left out. The order of the pages does not matter.
    pub fn of(periods_days: &[f64], bin_days: f64, bins: usize) -> Self {
        let mut counts = vec![0.0; bins];
        for period in periods_days {
            let at = (period / bin_days).floor();
            if at >= 0.0
                && at < bins as f64
                && let Some(count) = counts.get_mut(at as usize)
            {
                *count += 1.0;
            }
        }
        let total: f64 = counts.iter().sum();
        let share = |count: &f64| if total > 0.0 { count / total } else { 0.0 };
        Self { bin_days, shares: counts.iter().map(share).collect() }
    }
}

/// The limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The shortest interval, in days.
    pub shortest_days: f64,
    /// The longest interval, in days.
    pub longest_days: f64,
    /// Steps of one search.
    pub steps: u32,
    /// The number of searches.
    pub restarts: u32,
}

impl Default for Search {
    fn default() -> Self {
        Self { shortest_days: 1.0 / 24.0, longest_days: 5000.0 / 24.0, steps: 4000, restarts: 5 }
    }
}

/// The result of several searches.
#[derive(Clone, Debug, PartialEq)]
pub struct Annealed {
    /// The best pair of all searches.
    pub two: TwoIntervals,
    /// The distance that was minimised, at this pair.
    pub distance: f64,
    /// The best distance of each search.
    pub ends: Vec<f64>,
}

/// How many searches came to the same result. The paper takes it as a measure of confidence that the best result was found
/// (Grimes & Ford 2008, §4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchAgreement {
    /// The number of searches.
    pub searches: u32,
    /// Searches whose distance is within a fiftieth of the best one.
    pub agree: u32,
}

impl Annealed {
    /// How many of the searches agree with the best one.
    pub fn agreement(&self) -> SearchAgreement {
        const WITHIN: f64 = 1.02;
        let agree = self.ends.iter().filter(|end| **end <= WITHIN * self.distance).count() as u32;
        SearchAgreement { searches: self.ends.len() as u32, agree }
    }
}

impl TwoIntervals {
    /// The most likely rate of a page without visits: ln(1 + tc/tu) / tc.
    pub fn rate(self) -> f64 {
        (self.changed_days / self.unchanged_days).ln_1p() / self.changed_days
    }

    /// The share of pages in each bin, if periods had the distribution of the two intervals.
    pub fn shares(self, base: Base, bin_days: f64, bins: usize) -> Vec<f64> {
        let Self { changed_days: changed, unchanged_days: unchanged } = self;
        let mass = |bin: usize| match base {
            Base::Periods => {
                let period = (bin as f64 + 0.5) * bin_days;
                -(-changed / period).exp_m1() * (-unchanged / period).exp()
            }
            Base::Rates => {
                // P(rate > r) = (b e^(−ar) − a e^(−br)) / (b − a); a rate above 1/period means a shorter period.
                let above = |rate: f64| {
                    (-unchanged * rate).exp() * (1.0 - unchanged * (-changed * rate).exp_m1() / changed)
                };
                let longest = above(1.0 / ((bin + 1) as f64 * bin_days));
                if bin == 0 { longest } else { longest - above(1.0 / (bin as f64 * bin_days)) }
            }
        };
        let masses: Vec<f64> = (0..bins).map(mass).collect();
        let total: f64 = masses.iter().sum();
        masses.iter().map(|mass| if total > 0.0 { mass / total } else { 0.0 }).collect()
    }

    /// The distance of the two intervals from a population: the Euclidean distance of the shares (§4.4).
    pub fn distance(self, population: &Histogram, base: Base) -> f64 {
        let shares = self.shares(base, population.bin_days, population.shares.len());
        let squares =
            shares.iter().zip(&population.shares).map(|(model, real)| (model - real) * (model - real));
        squares.sum::<f64>().sqrt()
    }

    /// The two intervals whose distribution is nearest to a population (§4.4).
    pub fn fit(population: &Histogram, base: Base, search: &Search, random: &mut impl Rng) -> Annealed {
        Self::anneal(search, random, |two| two.distance(population, base))
    }

    /// The two intervals of the least distance, found by simulated annealing: Metropolis–Hastings in the logarithms of the lengths,
    /// cooled from the distance at the start to a ten-thousandth of it. The best place that was seen is returned.
    pub(super) fn anneal(search: &Search, random: &mut impl Rng, distance: impl Fn(Self) -> f64) -> Annealed {
        let (from, to) = (search.shortest_days.ln(), search.longest_days.ln());
        let two = |at: [f64; 2]| Self { changed_days: at[0].exp(), unchanged_days: at[1].exp() };
        let distance = |at: [f64; 2]| distance(two(at));
        let mut all_best = (f64::MAX, [f64::midpoint(from, to); 2]);
        let mut ends = Vec::new();
        for _ in 0..search.restarts.max(1) {
            let mut best = (f64::MAX, [f64::midpoint(from, to); 2]);
            let mut here = [0.0; 2].map(|_: f64| from + (to - from) * random.random::<f64>());
            let start = distance(here);
            let mut far = start;
            if far < best.0 {
                best = (far, here);
            }
            for step in 0..search.steps {
                let cooled = 1e-4_f64.powf(f64::from(step) / f64::from(search.steps));
                let reach = 0.8 * cooled.powf(0.35) + 0.01;
                let moves = normal_pair(random);
                let next = [(here[0], moves[0]), (here[1], moves[1])]
                    .map(|(length, step)| (length + reach * step).clamp(from, to));
                let next_far = distance(next);
                let worse = next_far - far;
                if worse <= 0.0 || random.random::<f64>() < (-worse / (0.1 * start * cooled)).exp() {
                    (here, far) = (next, next_far);
                    if far < best.0 {
                        best = (far, here);
                    }
                }
            }
            ends.push(best.0);
            if best.0 < all_best.0 {
                all_best = best;
            }
        }
        Annealed { two: two(all_best.1), distance: all_best.0, ends }
    }
}

/// Two draws from a normal distribution (Box & Muller 1958).
fn normal_pair(random: &mut impl Rng) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * random.random::<f64>()).sin_cos();
    [radius * sin, radius * cos]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};

    const HOURS: f64 = 24.0;

    #[test]
    fn distances_and_fits_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/two_interval_prior.json"));
        let tolerance = &golden["tolerance"];
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 8);
        for case in cases {
            let population = Histogram {
                bin_days: number(&golden["bin_width_hours"]) / HOURS,
                shares: numbers(&case["empirical_mass"]),
            };
            let base = match case["base_measure"].as_str() {
                Some("flat_rate") => Base::Rates,
                _ => Base::Periods,
            };
            for point in case["objective_evaluations"].as_array().expect("points") {
                let two = TwoIntervals {
                    changed_days: number(&point["t_changed"]) / HOURS,
                    unchanged_days: number(&point["t_unchanged"]) / HOURS,
                };
                let (far, expected) = (two.distance(&population, base), number(&point["objective"]));
                assert!(
                    close(far, expected, number(&tolerance["objective_evaluations_relative"])),
                    "{point}"
                );
            }
            let best = &case["best"];
            let search = Search::default();
            let found = TwoIntervals::fit(&population, base, &search, &mut Pcg64Mcg::seed_from_u64(1));
            let (two, far) = (found.two, found.distance);
            assert!(close(two.distance(&population, base), far, 1e-12));
            assert_eq!(found.agreement().searches, search.restarts);
            assert!(found.agreement().agree >= 2, "{found:?}");
            let factor = number(&tolerance["best_objective_factor"]);
            assert!(far <= number(&best["objective"]) * factor, "{far} for {best}");
            if case["identifiable"].as_bool() == Some(true) {
                let period = HOURS / two.rate();
                let near = number(&tolerance["mode_period_relative"]);
                assert!(close(period, number(&best["mode_period"]), near), "{period} for {best}");
            }
        }
    }

    #[test]
    fn the_order_of_pages_does_not_matter_and_fast_pages_give_a_fast_rate() {
        let search = Search { steps: 200, restarts: 2, ..Search::default() };
        let fitted = |periods: &[f64]| {
            let population = Histogram::of(periods, 0.5, 40);
            TwoIntervals::fit(&population, Base::Rates, &search, &mut Pcg64Mcg::seed_from_u64(3)).two
        };
        let slow = fitted(&[9.0, 11.0, 14.0, 8.0]);
        assert_eq!(slow, fitted(&[14.0, 8.0, 9.0, 11.0]));
        assert!(fitted(&[0.2, 0.4, 0.5, 0.9]).rate() > slow.rate());
        assert!(close(TwoIntervals::default().rate(), RATE_OF_AN_UNKNOWN_PAGE, 1e-12));
    }
}
