//! The two made-up intervals that make estimates best: those with the least error in simulated visits.
//!
//! Grimes & Ford 2008 (§4.4) fit the distribution of the two intervals to that of the collection. For a collection with a wide
//! spread of periods no pair fits, and the pair that is nearest gives estimates that are worse than those without a prior
//! (`freshet reproduce grimes-ford`, Fig. 7). So the error itself is minimised: its median over pages (MAD), and the mean of that over
//! the first three visits. Visits are those of §5: the first after the period that the two intervals alone give, each next one after
//! the estimated period.

use rand::{Rng, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::censored::VisitHistory;
use super::initial_interval::{Trial, median_errors, trials_of};
use super::priors;
use super::two_intervals::{Annealed, Search, TwoIntervals};

/// Visits whose errors count.
const TUNED_EPOCHS: usize = 3;
/// The search takes fewer steps than that for a distribution: each of them simulates all pages, and there is no edge to be found.
const STEPS: u32 = 60;

/// The mean error of the first visits with two intervals as prior, in days.
fn mean_error(trials: &[Trial], two: TwoIntervals) -> f64 {
    let errors = median_errors(trials, 1.0 / two.rate(), 1.0, Some(two));
    errors.iter().take(TUNED_EPOCHS).sum::<f64>() / TUNED_EPOCHS as f64
}

/// The two intervals with the least [`mean_error`], by the annealing of §4.4. Each is between a hundredth of the median period and
/// ten times it.
pub(crate) fn tune(trials: &[Trial], median_period_days: f64, random: &mut impl Rng) -> Annealed {
    let search = Search {
        shortest_days: median_period_days / 100.0,
        longest_days: median_period_days * 10.0,
        steps: STEPS,
        ..Search::default()
    };
    TwoIntervals::anneal(&search, random, |two| mean_error(trials, two))
}

/// The two intervals for the pages of a collection; `None` if no page changed. The order of the pages does not matter.
pub(super) fn fit(histories: &[VisitHistory]) -> Option<Annealed> {
    let periods = priors::periods(histories);
    let median = periods.get(periods.len() / 2).copied()?;
    // The simulation knows intervals from an hour to a year. A collection on a fast clock may have periods of seconds: it is
    // simulated in units of its median period, which is 10 days there.
    let unit = median / 10.0;
    let scaled: Vec<f64> = periods.iter().map(|period| period / unit).collect();
    let found = tune(&trials_of(&scaled), median / unit, &mut Pcg64Mcg::seed_from_u64(1));
    let TwoIntervals { changed_days, unchanged_days } = found.two;
    let two = TwoIntervals { changed_days: changed_days * unit, unchanged_days: unchanged_days * unit };
    Some(Annealed {
        two,
        distance: found.distance * unit,
        ends: found.ends.iter().map(|end| end * unit).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Seen;
    use crate::estimate::tests::close;
    use crate::time::Age;

    /// Pages with periods from a tenth of a day to ten days, most of them near one, each watched 60 times.
    fn pages(day: f64) -> Vec<VisitHistory> {
        let page = |at: i32| {
            let period = 10_f64.powf(f64::from(at) / 50.0 * (f64::from(at) / 50.0).abs());
            let interval = 0.25 * period;
            let changed = |visit: usize| visit * 2 % 9 < 2;
            VisitHistory::of(
                (0..60).map(|visit| (Age::from_days(day * interval), Seen::from(changed(visit)))),
            )
        };
        (-50..=50).map(page).collect()
    }

    #[test]
    fn a_tuned_pair_is_near_the_middle_of_the_pages_on_any_clock_and_in_any_order() {
        let mut of_days = pages(1.0);
        let found = fit(&of_days).expect("pages that change");
        let period = 1.0 / found.two.rate();
        assert!((0.3..2.0).contains(&period), "{found:?}");
        assert_eq!(found.agreement().searches, 5);
        of_days.reverse();
        assert_eq!(fit(&of_days), Some(found.clone()));
        // A day that lasts two minutes.
        let fast = fit(&pages(1.0 / 720.0)).expect("pages that change");
        assert!(close(1.0 / fast.two.rate(), period / 720.0, 0.02), "{fast:?}");
        assert_eq!(fit(&[VisitHistory::of([(Age::from_days(1.0), Seen::Unchanged)])]), None);
    }
}
