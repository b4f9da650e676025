//! The learning phase of a page: at the outset it waits no longer than l·n, where n is the number of its refreshes so far (Olston &
//! Pandey 2008, §4.2).
//!
//! The paper does not say how long the phase lasts. Here it lasts five refreshes, as many as the paper keeps profiles. Then the policy
//! has ten points to go by. With a budget no page can be promised a visit, only a place: a page that has waited l·n days scores what
//! the last page that fits the budget scores ([`Marginal`]). With a threshold T that score is T.

use std::collections::BTreeMap;

use super::registry::LongevitySettings;
use super::{PageState, Policy, Survey, score};

/// Refreshes that the learning phase lasts, the first copy included.
const REFRESHES: u32 = 5;

/// The most days that a page may wait which was refreshed `refreshes` times, the first copy included: l·n in its learning phase,
/// then any number.
pub(super) fn most_days(settings: &LongevitySettings, refreshes: u32) -> f64 {
    if refreshes <= REFRESHES { settings.learning_days * f64::from(refreshes) } else { f64::INFINITY }
}

/// Refreshes of a page, the first copy included. Later visits are those that had a copy to compare with.
pub(super) fn refreshes(visits: u32) -> u32 {
    visits.saturating_add(1)
}

/// Scores of all pages, counted in steps: tells the score that is just enough for a visit.
#[derive(Debug, Default)]
struct Marginal(BTreeMap<i32, f64>);

/// Steps of a doubling: scores that differ by less than 2 % count as one.
const STEPS: f64 = 32.0;

impl Marginal {
    fn add(&mut self, score: f64, pages: f64) {
        if score > 0.0 {
            *self.0.entry((score.log2() * STEPS).floor() as i32).or_default() += pages;
        }
    }

    /// A score just above that of the last page that fits among this many visits; `None` if there are visits for all pages.
    fn score(&self, visits: f64) -> Option<f64> {
        if self.0.values().sum::<f64>() <= visits {
            return None;
        }
        let mut better = 0.0;
        let last = self.0.iter().rev().find(|(_, pages)| {
            better += **pages;
            better >= visits
        });
        last.map(|(step, _)| (f64::from(step + 1) / STEPS).exp2())
    }
}

/// The score that is just enough for a visit in the coming cycle: the threshold if there is one, else the score of the last page
/// that fits the budget. `None` if all pages are visited.
pub(super) fn marginal_score(
    policy: &dyn Policy,
    settings: &LongevitySettings,
    survey: &mut Survey<'_>,
) -> Option<f64> {
    if settings.threshold.is_some() {
        return settings.threshold;
    }
    let visits = survey.visits_a_day? * survey.cycle_length.days();
    let (mut all, now) = (Marginal::default(), survey.now);
    (survey.pages)(&mut |page: &PageState, count| all.add(score(policy, page, now).value(), count as f64));
    all.score(visits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_wait_longer_with_each_refresh_until_it_is_known() {
        let settings = LongevitySettings { learning_days: 2.0, ..LongevitySettings::default() };
        assert_eq!(
            [1, 2, 5, 6].map(|refreshes| most_days(&settings, refreshes)),
            [2.0, 4.0, 10.0, f64::INFINITY]
        );
    }

    #[test]
    fn the_marginal_score_is_that_of_the_last_page_that_fits() {
        let mut all = Marginal::default();
        [(8.0, 1.0), (4.0, 2.0), (1.0, 5.0), (0.0, 9.0)]
            .iter()
            .for_each(|(score, pages)| all.add(*score, *pages));
        let near = |visits: f64, score: f64| {
            all.score(visits).is_some_and(|found| found >= score && found < 1.03 * score)
        };
        assert!(near(0.5, 8.0) && near(1.0, 8.0) && near(2.0, 4.0) && near(3.0, 4.0) && near(7.0, 1.0));
        assert_eq!(all.score(8.0), None, "there are visits for all that score anything");
    }
}
