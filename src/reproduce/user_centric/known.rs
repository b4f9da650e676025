//! Fig. 4: quality against refreshes a week, with the parameters of all policies estimated from the whole data (§6.2, §6.3).

use super::collections::SNAPSHOTS;
use super::forecast::{WeeklyGains, gain_rates};
use super::searched::{RefreshPlan, SearchedCollection};
use crate::estimate::bias_reduced;
use crate::policy::allocation::by_shingles::{makes_irrelevant, makes_stale};
use crate::policy::allocation::{Objective, VisitTerms, Watched, optimal_under};
use crate::quality::gain::{MeasuredRefresh, priority, ratio_of_sums};
use crate::quality::transport::{RefreshDemand, schedule, whole_refreshes};
use crate::simulate::best_pages;

/// Thresholds that are tried, as printed.
pub(super) const TAUS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Weeks with refreshes.
const WEEKS: usize = SNAPSHOTS as usize - 1;
/// The first ideal time of a page's refreshes is half a period after the start.
const PHASE: f64 = 0.5;

/// What is known of all pages of a collection under one score.
pub(super) struct Parameters {
    /// For each page, how far each of its updates moved it.
    updates: Vec<Vec<f64>>,
    /// Clicks on each page: Σ f·I(rank), the mean over all weeks.
    clicks: Vec<f64>,
    /// δQ_A of each page, the mean over its updates.
    gains: Vec<f64>,
    /// The same as a ratio of sums, ours.
    gains_by_sums: Vec<f64>,
    /// The same as a ratio of sums from the exact gain of each update, ours.
    exact_gains: Vec<f64>,
}

/// A scheme that knows the parameters of all pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KnownScheme {
    Sbr(f64),
    Ebr(f64),
    UserCentric,
    /// δQ_A as ΣΔQ_A ÷ all weeks: ours.
    UserCentricBySums,
    /// The same with the exact gain of each update in place of ΔQ_A: ours.
    UserCentricExactly,
}

impl Parameters {
    pub(super) fn of(
        searched: &SearchedCollection<'_>,
        gains: &WeeklyGains,
        exact: &WeeklyGains,
    ) -> Parameters {
        let truth = searched.truth;
        let updates = |page: u32| {
            let steps = truth.steps(page).windows(2);
            steps
                .filter_map(|pair| Some(truth.divergence(page, pair.first()?.text, pair.last()?.text)))
                .collect()
        };
        let mut clicks = vec![0.0; searched.pages() as usize];
        for week in 0..SNAPSHOTS {
            let copies: Vec<_> = (0..searched.pages())
                .filter_map(|page| {
                    Some((u64::from(page), searched.words(page, week)?, searched.inlinks(page)))
                })
                .collect();
            for ((page, _, _), attention) in copies.iter().zip(searched.searchers().attention_on(&copies)) {
                if let Some(sum) = clicks.get_mut(*page as usize) {
                    *sum += attention / f64::from(SNAPSHOTS);
                }
            }
        }
        let by_sums = |refreshes: &Vec<(u32, MeasuredRefresh)>| {
            // The time after the last update counts, too: a refresh then would have found nothing.
            let last = refreshes.last().map_or(0, |(week, _)| *week);
            let rest = MeasuredRefresh { delta: 0.0, gap: f64::from(SNAPSHOTS - 1 - last) };
            let all: Vec<MeasuredRefresh> =
                refreshes.iter().map(|(_, refresh)| *refresh).chain([rest]).collect();
            ratio_of_sums(&all).unwrap_or(0.0)
        };
        Parameters {
            updates: (0..searched.pages()).map(updates).collect(),
            clicks,
            gains: gain_rates(gains, 1, SNAPSHOTS - 1),
            gains_by_sums: gains.iter().map(by_sums).collect(),
            exact_gains: exact.iter().map(by_sums).collect(),
        }
    }

    /// The refreshes of a scheme with B a week.
    pub(super) fn plan(&self, scheme: KnownScheme, most: usize) -> RefreshPlan {
        match scheme {
            KnownScheme::Sbr(tau) => transported(&self.staleness(tau), most),
            KnownScheme::Ebr(tau) => transported(&self.embarrassment(tau), most),
            KnownScheme::UserCentric => by_priority(&self.gains, most),
            KnownScheme::UserCentricBySums => by_priority(&self.gains_by_sums, most),
            KnownScheme::UserCentricExactly => by_priority(&self.exact_gains, most),
        }
    }

    /// SBR: the rate of updates that make a copy stale (§6.1.1).
    fn staleness(&self, tau: f64) -> Vec<Watched> {
        let rate = |updates: &Vec<f64>| {
            let stale = updates.iter().filter(|moved| makes_stale(**moved, tau)).count();
            Watched { change_rate: weekly_rate(stale), weight: 1.0 }
        };
        self.updates.iter().map(rate).collect()
    }

    /// EBR: the rate of all updates, and as weight d(p) times the clicks (§6.1.2).
    fn embarrassment(&self, tau: f64) -> Vec<Watched> {
        let watched = |(updates, clicks): (&Vec<f64>, &f64)| {
            let irrelevant = updates.iter().filter(|moved| makes_irrelevant(**moved, tau)).count();
            let share = irrelevant as f64 / updates.len().max(1) as f64;
            Watched { change_rate: weekly_rate(updates.len()), weight: clicks * share }
        };
        self.updates.iter().zip(&self.clicks).map(watched).collect()
    }
}

/// The Poisson rate of a page that had another text at this many of the 47 weekly looks, by the bias-reduced estimator of Cho &
/// Garcia-Molina, who SBR is from: −ln((n − X + ½)/(n + ½)).
fn weekly_rate(changes: usize) -> f64 {
    bias_reduced::ratio(WEEKS as f64, changes as f64)
}

/// Frequencies that are best for freshness, at most one refresh a week, scheduled under the hard budget by the transportation
/// algorithm.
pub(super) fn transported(pages: &[Watched], most: usize) -> RefreshPlan {
    let terms = vec![VisitTerms { most: 1.0, ..VisitTerms::default() }; pages.len()];
    let rates = optimal_under(Objective::Periodic, pages, &terms, most as f64).map(|found| found.rates);
    let whole = whole_refreshes(&rates.unwrap_or_default(), WEEKS, most);
    let demands: Vec<RefreshDemand> =
        whole.into_iter().map(|refreshes| RefreshDemand { refreshes, phase: PHASE }).collect();
    let weeks = schedule(&demands, WEEKS, most).unwrap_or_else(|| vec![Vec::new(); WEEKS]);
    let pages = |week: Vec<usize>| week.into_iter().map(|page| page as u32).collect();
    std::iter::once(Vec::new()).chain(weeks.into_iter().map(pages)).collect()
}

/// User-centric: at each week the B pages with the highest δQ_A · (t − last refresh) (§6.1.3).
fn by_priority(gains: &[f64], most: usize) -> RefreshPlan {
    let mut copies = vec![0_u32; gains.len()];
    let mut plan = vec![Vec::new()];
    for week in 1..SNAPSHOTS {
        let scored = (0..)
            .zip(gains.iter().zip(&copies))
            .map(|(page, (gain, copied))| (priority(*gain, f64::from(week - copied)), *copied, page));
        let chosen = best_pages(scored, most);
        for page in &chosen {
            if let Some(copy) = copies.get_mut(*page as usize) {
                *copy = week;
            }
        }
        plan.push(chosen);
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_centric_takes_turns_by_gain() {
        // Gains 3 and 1 with one refresh a week: 3·1 against 1·3 at the third week, when the page left alone longer comes first.
        let plan = by_priority(&[3.0, 1.0, 0.0], 1);
        assert_eq!(plan[..6], [vec![], vec![0], vec![0], vec![1], vec![0], vec![0]]);
        assert!(plan.iter().all(|week| !week.contains(&2)));
    }

    #[test]
    fn transported_refreshes_keep_the_budget_and_leave_out_what_never_changes() {
        let page = |change_rate| Watched { change_rate, weight: 1.0 };
        let plan = transported(&[page(0.1), page(0.1), page(0.0), page(0.3)], 1);
        assert_eq!(plan.len(), SNAPSHOTS as usize);
        assert!(plan.iter().all(|week| week.len() <= 1 && !week.contains(&2)));
        let refreshes = |page| plan.iter().filter(|week| week.contains(&page)).count();
        assert!(refreshes(0) >= 10 && refreshes(1) >= 10 && refreshes(3) >= 10, "{plan:?}");
        let idle = transported(&[page(0.0)], 1);
        assert!(idle.iter().all(Vec::is_empty));
    }
}
