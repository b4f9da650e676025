//! Crawl rates kept by credit, with a fixed number of visits a cycle.
//!
//! Each cycle a page earns as much of a visit as its crawl rate says. A visit costs one, and the pages with most credit are
//! visited. So every page is visited as often as it earned, at nearly even intervals, though its rate may change meanwhile.
//! Credit depends on all that a page has earned so far, not on its state alone, so it can't be a policy of the live crawl.
//! The live counterparts, `optimal` and `proportional`, visit at random moments instead.

use super::learning::Learning;
use super::truth::Truth;
use super::{ReplayTerms, best_pages};
use crate::page::{HostId, PageId};
use crate::policy::allocation::{Objective, VisitTerms, Watched, optimal_under};
use crate::policy::{PageState, Policy};
use crate::signal::PageSignals;

/// How the visits of a cycle are shared out among pages. No page gets more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditShares {
    /// The shares that make freshness largest if visits come at random moments (Azar et al. 2018).
    Azar,
    /// In proportion to the change rates.
    Proportional,
}

impl CreditShares {
    pub const ALL: [Self; 2] = [Self::Azar, Self::Proportional];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Azar => "azar-credit",
            Self::Proportional => "proportional-credit",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shares| shares.name() == name)
    }

    /// How much of a visit each page earns in a cycle with `visits` visits. `rates` are in changes a cycle.
    fn earned(self, rates: &[f64], visits: f64) -> Vec<f64> {
        match self {
            Self::Azar => {
                let pages: Vec<Watched> =
                    rates.iter().map(|rate| Watched { change_rate: *rate, weight: 1.0 }).collect();
                let at_most_one = vec![VisitTerms { most: 1.0, ..VisitTerms::default() }; rates.len()];
                let found = optimal_under(Objective::Poisson, &pages, &at_most_one, visits);
                found.map_or_else(|| vec![0.0; rates.len()], |found| found.rates)
            }
            Self::Proportional => proportional(rates, visits),
        }
    }
}

/// min(1, r/μ), with μ such that all visits are spent, if there are enough pages.
fn proportional(rates: &[f64], visits: f64) -> Vec<f64> {
    let mut earned = vec![0.0; rates.len()];
    let mut fastest_first: Vec<(&mut f64, f64)> =
        earned.iter_mut().zip(rates.iter().copied()).filter(|(_, rate)| *rate > 0.0).collect();
    fastest_first.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (mut left, mut changes) = (visits, fastest_first.iter().map(|(_, rate)| rate).sum::<f64>());
    for (earned, rate) in fastest_first {
        // A page that would earn more than one visit earns one, and the slower pages share the rest.
        if left >= 1.0 && rate * left >= changes {
            *earned = 1.0;
            (left, changes) = (left - 1.0, changes - rate);
        } else {
            *earned = rate * left / changes;
        }
    }
    earned
}

/// The credit of all pages of a replay.
pub struct ByCredit<'a> {
    shares: CreditShares,
    terms: ReplayTerms,
    learning: Learning<'a>,
    /// For each page: its changes a cycle; its credit, once it competes.
    rates: Vec<f64>,
    credit: Vec<Option<f64>>,
}

impl<'a> ByCredit<'a> {
    /// Change rates are those that the policy learns.
    pub fn new(shares: CreditShares, policy: Box<dyn Policy>, truth: &'a Truth, terms: ReplayTerms) -> Self {
        let pages = truth.pages();
        Self {
            shares,
            terms,
            learning: Learning::new(policy, truth, terms),
            rates: vec![0.0; pages],
            credit: vec![None; pages],
        }
    }

    /// Changes a cycle, as learnt from the page's visits.
    fn rate(&mut self, page: u32) -> f64 {
        let memory = self.learning.memory(page);
        let learnt = self.learning.learnt(memory);
        let start = self.terms.start;
        let page = PageState { learnt, ..PageState::found(PageId(0), HostId(0), 0, 1.0, start) };
        // The rate that `change-rate` ranks pages by: the mean of a Gamma distribution. It is never 0, so it needs no floor, as
        // the rates of other estimators do.
        let rate = self.learning.policy.reason(&page, start).value("estimate").unwrap_or(0.0);
        rate * self.terms.days(self.terms.every).days()
    }

    fn look_again(&mut self, page: u32) {
        let found = self.rate(page);
        if let Some(rate) = self.rates.get_mut(page as usize) {
            *rate = found;
        }
    }

    /// The pages that compete.
    fn competing(&self) -> Vec<u32> {
        (0..).zip(&self.credit).filter(|(_, credit)| credit.is_some()).map(|(page, _)| page).collect()
    }

    pub(super) fn born(&mut self, page: u32, cycle: u32) {
        self.learning.born(page, cycle);
    }

    pub(super) fn visited(&mut self, page: u32, cycle: u32, changed: bool) {
        self.learning.visited(page, cycle, changed, true, PageSignals::NONE);
        if let Some(Some(credit)) = self.credit.get_mut(page as usize) {
            *credit -= 1.0;
            self.look_again(page);
        }
    }

    pub(super) fn competes(&mut self, page: u32) {
        if let Some(credit) = self.credit.get_mut(page as usize) {
            *credit = Some(0.0);
        }
        self.look_again(page);
    }

    pub(super) fn choose(&mut self, visits: usize) -> Vec<u32> {
        let pages = self.competing();
        if self.learning.fit() {
            pages.iter().for_each(|page| self.look_again(*page));
        }
        let rates: Vec<f64> =
            pages.iter().map(|page| self.rates.get(*page as usize).copied().unwrap_or(0.0)).collect();
        let earned = self.shares.earned(&rates, visits as f64);
        let mut ranked: Vec<(f64, u32, u32)> = Vec::with_capacity(pages.len());
        for (page, earned) in pages.iter().zip(earned) {
            if let Some(Some(credit)) = self.credit.get_mut(*page as usize) {
                *credit += earned;
                ranked.push((*credit, self.learning.last(*page), *page));
            }
        }
        best_pages(ranked, visits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{group_of, in_order, terms_of};
    use super::super::truth::Truth;
    use super::super::{Chooser, Ties, replay};
    use super::*;
    use crate::policy::registry::{PolicySettings, find};

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9)
    }

    #[test]
    fn no_page_earns_more_than_a_visit() {
        // In proportion the first would earn 1.6 of two visits: it has one, the others share the second.
        assert!(close(&CreditShares::Proportional.earned(&[1.0, 8.0, 0.0, 1.0], 2.0), &[0.5, 1.0, 0.0, 0.5]));
        assert!(close(&CreditShares::Proportional.earned(&[1.0, 2.0], 1.0), &[1.0 / 3.0, 2.0 / 3.0]));
        assert!(close(&CreditShares::Proportional.earned(&[1.0, 2.0], 3.0), &[1.0, 1.0]));
        // √(r/μ) − r with √(1/μ) = (1 + 1 + 0.25)/(1 + 0.5): twice 1.5 of the root, less the rate.
        assert!(close(&CreditShares::Azar.earned(&[1.0, 0.25], 1.0), &[0.5, 0.5]));
        // The fastest page is given up.
        assert!(close(&CreditShares::Azar.earned(&[100.0, 0.25], 0.5), &[0.0, 0.5]));
        assert!(close(&CreditShares::Azar.earned(&[0.5, 0.5], 3.0), &[1.0, 1.0]));
    }

    proptest! {
        #[test]
        fn all_visits_are_earned(rates in proptest::collection::vec(1e-4..50.0_f64, 1..40), part in 0.01..1.0_f64) {
            let visits = (part * rates.len() as f64).ceil();
            for shares in CreditShares::ALL {
                let earned = shares.earned(&rates, visits);
                prop_assert!(earned.iter().all(|earned| (0.0..=1.0 + 1e-9).contains(earned)), "{earned:?}");
                prop_assert!((earned.iter().sum::<f64>() - visits).abs() < 1e-6, "{shares:?} {visits} {earned:?}");
            }
        }
    }

    #[test]
    fn what_is_earned_is_spent() {
        // Page number n changes every n-th cycle.
        let bits = |gap: usize| (0..59).map(|at| if at % gap == 0 { '1' } else { '0' }).collect();
        let pages: Vec<String> = (1..=30).map(bits).collect();
        let group = group_of(&pages);
        let truth = Truth::of(&group, &in_order(&group));
        let terms = terms_of(&group, 0.1, 2, Ties::OlderFirst);
        for shares in CreditShares::ALL {
            let policy = find("change-rate", &PolicySettings::default()).expect("a policy");
            let mut chooser = Chooser::Credit(ByCredit::new(shares, policy, &truth, terms));
            let cycles = replay(&truth, &mut chooser, &terms);
            let Chooser::Credit(chooser) = chooser else { panic!("it chose by credit") };
            assert!(cycles.iter().all(|cycle| cycle.visits == 3));
            let credit: Vec<f64> = chooser.credit.iter().copied().flatten().collect();
            assert!(credit.iter().sum::<f64>().abs() < 1e-6, "{shares:?} {credit:?}");
            assert!(credit.iter().all(|credit| credit.abs() < 3.0), "{shares:?} {credit:?}");
        }
    }
}
