//! Policies that first decide how often each page should be visited, and then when.
//!
//! The rates come from change rates and the budget ([`super::optimal_rate`]); they are found once a cycle, from a look
//! over all pages. A page is due when its visits so far lag behind its rate. Where the model visits at random moments
//! (Avrachenkov et al. 2020; LambdaCrawl) so do we: the time to the next visit is drawn from an exponential
//! distribution when a page is visited, and stays until the next.

use super::optimal_rate::{Objective, Terms, Watched, crawl_rate, optimal_under};
use super::random::draw;
use super::{PageState, Policy, Reason, Score, Survey};
use crate::estimate::learner::Learner;
use crate::page::PageId;
use crate::time::Timestamp;

/// How the budget is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// So that the objective is largest.
    Optimal(Objective),
    /// As often as a page changes, so often it is visited: what rules that turn one knob end up with.
    Proportional,
    /// All alike.
    Uniform,
}

/// When a page is visited that should be visited p times a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// As soon as 1/p has passed.
    Even,
    /// After a time drawn from an exponential distribution with mean 1/p.
    Random,
}

#[derive(Debug)]
pub struct CrawlRate {
    name: String,
    learner: Learner,
    allocation: Allocation,
    moments: Moments,
    /// What one visit a day more would be worth; for shares in proportion, visits per change. `None`: there is no
    /// budget, and all pages are visited anyway.
    multiplier: Option<f64>,
    /// Visits a day that every page gets.
    least: f64,
}

/// Of the budget, so much is spread evenly: the optimal rates give some pages up, and what is given up for ever is never
/// found to have calmed down. LambdaCrawl's ε (Kolobov et al. 2019) is the same.
const SHARE_FOR_ALL: f64 = 0.05;

impl CrawlRate {
    pub fn new(name: String, learner: Learner, allocation: Allocation, moments: Moments) -> Self {
        Self { name, learner, allocation, moments, multiplier: None, least: 0.0 }
    }

    fn watched(&self, page: &PageState) -> Watched {
        Watched {
            change_rate: self.learner.estimate(page.host, page.depth, &page.learnt.state).rate.get(),
            weight: page.weight,
        }
    }

    /// Visits a day that a page should have; `None` without a budget.
    fn rate(&self, page: &PageState) -> Option<f64> {
        let multiplier = self.multiplier?;
        let rate = match self.allocation {
            Allocation::Optimal(objective) => crawl_rate(objective, self.watched(page), multiplier),
            Allocation::Proportional => multiplier * self.watched(page).change_rate,
            Allocation::Uniform => multiplier,
        };
        Some(rate.max(self.least))
    }
}

impl Policy for CrawlRate {
    fn name(&self) -> &str {
        &self.name
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn learner_mut(&mut self) -> Option<&mut Learner> {
        Some(&mut self.learner)
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.learner.count_in(survey.cycle_length);
        let (mut pages, mut counts) = (Vec::new(), Vec::new());
        (survey.pages)(&mut |page, count| {
            pages.push(self.watched(page));
            counts.push(count as f64);
        });
        let all: f64 = counts.iter().sum();
        let Some(budget) = survey.visits_a_day.filter(|budget| *budget > 0.0 && all > 0.0) else {
            (self.multiplier, self.least) = (None, 0.0);
            return;
        };
        self.least = SHARE_FOR_ALL * budget / all;
        self.multiplier = match self.allocation {
            Allocation::Optimal(objective) => {
                // Pages that are alike are one whose visits cost, and are worth, as much as those of all of them.
                let alike =
                    |(page, count): (&Watched, &f64)| Watched { weight: page.weight * count, ..*page };
                let of_states: Vec<Watched> = pages.iter().zip(&counts).map(alike).collect();
                let bounds = |count: &f64| Terms { cost: *count, least: self.least, ..Terms::default() };
                let terms: Vec<Terms> = counts.iter().map(bounds).collect();
                optimal_under(objective, &of_states, &terms, budget).and_then(|found| found.multiplier)
            }
            Allocation::Proportional => {
                let changes: f64 =
                    pages.iter().zip(&counts).map(|(page, count)| page.change_rate * count).sum();
                (changes > 0.0).then(|| budget * (1.0 - SHARE_FOR_ALL) / changes)
            }
            Allocation::Uniform => Some(budget / all),
        };
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.copy_age(now).days() * self.rate(page).unwrap_or(1.0))
    }

    fn draw(&self, page: PageId, waits_since: Timestamp) -> Option<f64> {
        let wait = || -draw(page, waits_since.millis().cast_unsigned()).ln();
        (self.moments == Moments::Random).then(|| 1.0 / wait().max(1e-12))
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        let (estimate, visits_a_day) =
            (Some(self.learner.estimate(page.host, page.depth, &page.learnt.state)), self.rate(page));
        Reason { estimate, visits_a_day, drawn: self.moments == Moments::Random, ..Reason::default() }
    }
}
