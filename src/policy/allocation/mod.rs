//! Policies that first decide how often each page should be visited, and then when.
//!
//! The crawl rates follow from change rates and the budget ([`solve`]); they are computed once a cycle, from a survey of
//! all pages. A page is due when its visits so far lag behind its rate. Models with visits at random moments (Avrachenkov et
//! al. 2020; LambdaCrawl) are followed in that: the time to the next visit is drawn from an exponential distribution at each
//! visit.

pub mod by_shingles;
mod objective;
mod solve;

pub use objective::{Objective, freshness_of_random_visits};
pub use solve::{CrawlRates, VisitTerms, Watched, optimal, optimal_under};

use super::registry::{Made, PolicyRequest};
use super::{Draw, Fact, LooksAt, PageState, Policy, Reason, Score, Survey, Unit, learns_by_estimator};
use crate::estimate::Estimate;
use crate::estimate::learner::Learner;
use crate::time::Timestamp;
use solve::crawl_rate;

/// Best for freshness, with visits at random moments.
pub(super) fn make_optimal(request: &PolicyRequest<'_>) -> Made {
    CrawlRate::of(request, Allocation::Optimal(Objective::Poisson), RateMoments::Random)
}

/// Best for freshness, with visits at even distances.
pub(super) fn make_optimal_periodic(request: &PolicyRequest<'_>) -> Made {
    CrawlRate::of(request, Allocation::Optimal(Objective::Periodic), RateMoments::Even)
}

/// The least harmonic cost of unseen changes.
pub(super) fn make_harmonic(request: &PolicyRequest<'_>) -> Made {
    CrawlRate::of(request, Allocation::Optimal(Objective::Harmonic), RateMoments::Random)
}

/// Visits in proportion to changes.
pub(super) fn make_proportional(request: &PolicyRequest<'_>) -> Made {
    CrawlRate::of(request, Allocation::Proportional, RateMoments::Random)
}

/// The same rate for all pages.
pub(super) fn make_uniform(request: &PolicyRequest<'_>) -> Made {
    CrawlRate::of(request, Allocation::Uniform, RateMoments::Random)
}

/// How the budget is divided among pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allocation {
    /// The division that maximises the objective.
    Optimal(Objective),
    /// Visits in proportion to changes: the result of rules that adapt an interval.
    Proportional,
    /// The same rate for all pages.
    Uniform,
}

/// The moments of the visits to a page that should be visited p times a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RateMoments {
    /// Whenever 1/p has passed.
    Even,
    /// After a time drawn from an exponential distribution with mean 1/p.
    Random,
}

#[derive(Debug)]
struct CrawlRate {
    name: String,
    learner: Learner,
    allocation: Allocation,
    moments: RateMoments,
    /// The worth of one more visit a day; for `Proportional`, visits per change. `None`: there is no budget, and all pages are
    /// visited.
    multiplier: Option<f64>,
    /// The least rate of any page, in visits a day.
    least: f64,
}

/// The share of the budget that is spread evenly. Optimal rates give up some pages, and a page that is never visited again is
/// never found to have calmed down. LambdaCrawl's ε (Kolobov et al. 2019) does the same.
const SHARE_FOR_ALL: f64 = 0.05;

impl CrawlRate {
    fn of(request: &PolicyRequest<'_>, allocation: Allocation, moments: RateMoments) -> Made {
        let (name, learner) = (request.name.to_owned(), request.learner()?);
        Ok(Box::new(Self { name, learner, allocation, moments, multiplier: None, least: 0.0 }))
    }

    fn estimate(&self, page: &PageState) -> Estimate {
        self.learner.estimate(page.host, page.depth, &page.learnt.state)
    }

    fn watched(&self, page: &PageState) -> Watched {
        Watched { change_rate: self.estimate(page).rate.get(), weight: page.weight }
    }

    /// The crawl rate of a page, in visits a day; `None` without a budget.
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

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.copy_age(now).days() * self.rate(page).unwrap_or(1.0))
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        let estimate = Fact::change_rate(self.estimate(page));
        let visits = self.rate(page).map(|rate| {
            Fact::new("visits_a_day", "worth a visit {}", rate, Unit::PerDay)
                .told_as("its share of the budget is a visit {}")
        });
        let drawn = (self.moments == RateMoments::Random).then(Fact::drawn);
        Reason::of([estimate].into_iter().chain(visits).chain(drawn))
    }

    learns_by_estimator!();

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
                // Pages in one state count as a single page: its visits cost and are worth as much as theirs together.
                let alike =
                    |(page, count): (&Watched, &f64)| Watched { weight: page.weight * count, ..*page };
                let of_states: Vec<Watched> = pages.iter().zip(&counts).map(alike).collect();
                let bounds =
                    |count: &f64| VisitTerms { cost: *count, least: self.least, ..VisitTerms::default() };
                let terms: Vec<VisitTerms> = counts.iter().map(bounds).collect();
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

    fn looks_at(&self) -> LooksAt {
        let draw = (self.moments == RateMoments::Random).then_some(Draw::EachVisit);
        LooksAt { draw, ..LooksAt::default() }
    }
}
