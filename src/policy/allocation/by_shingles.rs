//! `sbr` and `ebr`: crawl rates for changes that are large enough, kept by the times at which visits are ideal.
//!
//! Both are the schemes that Pandey & Olston 2005 compare theirs with (§6.1.1, §6.1.2). A threshold τ on the share of fragments that
//! changed tells updates that count from those that don't:
//!
//! - `sbr` (staleness): a copy is stale if *more* than τ of its fragments changed. The rate λ(p) is that of such updates, all pages
//!   weigh the same, and the objective is the share of pages that are not stale (Cho & Garcia-Molina).
//! - `ebr` (embarrassment): d(p) is the share of a page's updates that changed *at least* τ of its fragments; a click on the
//!   result finds something else then. The rate is that of all updates, and a page weighs d(p) times the clicks on it (Wolf et al.
//!   2002). The clicks are the page's weight.
//!
//! The crawl rates are best for freshness with visits at even distances, at most one a cycle. The hard budget of a cycle is
//! kept by the transportation algorithm of Wolf et al. 2002 ([`crate::quality::transport`]). Its optimum gives each cycle a run
//! of the visits in the order of their ideal times, so the pages of the coming cycle are those whose ideal times come first. That
//! is the score: how far the ideal time, the last visit + 1 ÷ rate, has passed.

use super::solve::crawl_rate;
use super::{Objective, SHARE_FOR_ALL, VisitTerms, Watched, optimal_under};
use crate::estimate::learner::Learner;
use crate::estimate::priors::{PriorKind, Priors};
use crate::estimate::{Estimate, Seen};
use crate::page::{Depth, HostId};
use crate::policy::registry::{Made, PolicyRequest};
use crate::policy::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey, Unit};
use crate::time::Timestamp;
use crate::varint::{push, take_small};

/// Staleness.
pub(in crate::policy) fn make_sbr(request: &PolicyRequest<'_>) -> Made {
    ByShingles::of(request, ShingleAim::Staleness)
}

/// Embarrassment.
pub(in crate::policy) fn make_ebr(request: &PolicyRequest<'_>) -> Made {
    ByShingles::of(request, ShingleAim::Embarrassment)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShingleAim {
    Staleness,
    Embarrassment,
}

/// Does an update make a copy stale (§6.1.1)? More than τ of the fragments must differ.
pub fn makes_stale(divergence: f64, tau: f64) -> bool {
    divergence > tau
}

/// Does an update make a result irrelevant (§6.1.2)? At least τ of the fragments must have changed.
pub fn makes_irrelevant(divergence: f64, tau: f64) -> bool {
    divergence >= tau
}

/// Updates of a page, and those among them that make a result irrelevant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Updates {
    all: u32,
    large: u32,
}

impl Updates {
    fn take(rest: &mut &[u8]) -> Option<Self> {
        let (all, large) = (take_small(rest)?, take_small(rest)?);
        (large <= all).then_some(Self { all, large })
    }

    /// d(p). Before the first update it is that of the collection, which counts as one update.
    fn share(self, of_all: f64) -> f64 {
        (f64::from(self.large) + of_all) / (f64::from(self.all) + 1.0)
    }
}

#[derive(Debug)]
struct ByShingles {
    name: String,
    learner: Learner,
    aim: ShingleAim,
    tau: f64,
    /// d of the collection.
    share: f64,
    /// `None`: there is no budget, and all pages are visited.
    rates: Option<Rates>,
}

/// What the crawl rate of a page follows from.
#[derive(Clone, Copy, Debug)]
struct Rates {
    multiplier: f64,
    /// Visits a day.
    least: f64,
    /// Visits a day: one a cycle.
    most: f64,
}

impl ByShingles {
    fn of(request: &PolicyRequest<'_>, aim: ShingleAim) -> Made {
        let (name, learner, tau) = (request.name.to_owned(), request.learner()?, request.settings.tau);
        Ok(Box::new(Self { name, learner, aim, tau, share: 1.0, rates: None }))
    }

    fn estimate(&self, page: &PageState) -> Estimate {
        self.learner.estimate(page.host, page.depth, &page.learnt.state)
    }

    fn irrelevant_share(&self, page: &PageState) -> f64 {
        page.learnt.memory.read(Updates::take).share(self.share)
    }

    fn watched(&self, page: &PageState) -> Watched {
        let weight = match self.aim {
            ShingleAim::Staleness => 1.0,
            ShingleAim::Embarrassment => page.weight * self.irrelevant_share(page),
        };
        Watched { change_rate: self.estimate(page).rate.get(), weight }
    }

    /// The crawl rate of a page, in visits a day; `None` without a budget.
    fn rate(&self, page: &PageState) -> Option<f64> {
        let Rates { multiplier, least, most } = self.rates?;
        Some(crawl_rate(Objective::Periodic, self.watched(page), multiplier).min(most).max(least))
    }
}

/// A score that rises with the days that have passed since the ideal time, and is above 0 also before it.
fn score_of(days_past: f64) -> Score {
    Score::new(if days_past >= 0.0 { 1.0 + days_past } else { 1.0 / (1.0 - days_past) })
}

impl Policy for ByShingles {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        let period = self.rate(page).map_or(0.0, |rate| 1.0 / rate);
        score_of(page.copy_age(now).days() - period)
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        let estimate = Fact::change_rate(self.estimate(page));
        let share = (self.aim == ShingleAim::Embarrassment).then(|| {
            Fact::new("irrelevant_share", "{} of its changes large", self.irrelevant_share(page), Unit::Share)
                .told_as("{} of its changes are taken to make it another page for searchers")
        });
        let visits = self.rate(page).map(|rate| {
            Fact::new("visits_a_day", "worth a visit {}", rate, Unit::PerDay)
                .told_as("its share of the budget is a visit {}")
        });
        Reason::of([estimate].into_iter().chain(share).chain(visits))
    }

    fn learn(&self, host: HostId, depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let seen = match self.aim {
            ShingleAim::Staleness if !makes_stale(lesson.moved(), self.tau) => Seen::Unchanged,
            _ => seen,
        };
        self.learner.learn(host, depth, &mut learnt.state, lesson.interval, seen);
        if self.aim == ShingleAim::Embarrassment && lesson.changed {
            let Updates { all, large } = learnt.memory.read(Updates::take);
            let is_large = makes_irrelevant(lesson.moved(), self.tau);
            learnt.memory.write(|bytes| {
                push(bytes, u64::from(all.saturating_add(1)));
                push(bytes, u64::from(large.saturating_add(u32::from(is_large))));
            });
        }
    }

    fn memory_version(&self) -> String {
        let aim = if self.aim == ShingleAim::Staleness { "sbr" } else { "ebr" };
        format!("{aim}/1 tau {} {}", self.tau, self.learner.memory_version())
    }

    /// Priors are fitted to changes of any size, so they are of use to `ebr` only.
    fn prior_kind(&self) -> Option<PriorKind> {
        self.learner.prior_kind().filter(|_| self.aim == ShingleAim::Embarrassment)
    }

    fn believe(&mut self, priors: &Priors) {
        if self.aim == ShingleAim::Embarrassment {
            self.learner.believe(priors);
        }
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.learner.count_in(survey.cycle_length);
        let (mut updates, mut large, mut all) = (0.0, 0.0, 0.0);
        (survey.pages)(&mut |page, count| {
            let known = page.learnt.memory.read(Updates::take);
            updates += f64::from(known.all) * count as f64;
            large += f64::from(known.large) * count as f64;
            all += count as f64;
        });
        // One more update, a large one: nothing is known at first.
        self.share = (large + 1.0) / (updates + 1.0);
        let Some(budget) = survey.visits_a_day.filter(|budget| *budget > 0.0 && all > 0.0) else {
            self.rates = None;
            return;
        };
        let (least, most) = (SHARE_FOR_ALL * budget / all, 1.0 / survey.cycle_length.days());
        let (mut pages, mut terms) = (Vec::new(), Vec::new());
        (survey.pages)(&mut |page, count| {
            // Pages in one state count as a single page: its visits cost and are worth as much as theirs together.
            let (watched, count) = (self.watched(page), count as f64);
            pages.push(Watched { weight: watched.weight * count, ..watched });
            terms.push(VisitTerms { cost: count, least: least.min(most), most });
        });
        let found = optimal_under(Objective::Periodic, &pages, &terms, budget);
        let multiplier = found.and_then(|found| found.multiplier);
        self.rates = multiplier.map(|multiplier| Rates { multiplier, least: least.min(most), most });
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, ..LooksAt::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::page::PageId;
    use crate::policy::registry::{PolicySettings, find};
    use crate::policy::score;
    use crate::quality::transport;
    use crate::time::Age;

    const START: Timestamp = Timestamp::from_seconds(86_400 * 100);

    fn policy(name: &str, tau: f64) -> Box<dyn Policy> {
        let settings = PolicySettings { tau, ..PolicySettings::default() };
        find(name, &settings).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A page with a visit a day, each of which found this divergence.
    fn visited(policy: &dyn Policy, id: i64, weight: f64, divergences: &[f64]) -> PageState {
        let mut page = PageState::found(PageId(id), HostId(0), 0, weight, START);
        (page.last_visit, page.seen_at) = (Some(START), Some(START));
        for divergence in divergences {
            let at = page.waits_since().plus(Duration::from_hours(24));
            let lesson = Lesson {
                divergence: Some(*divergence),
                ..Lesson::of_bit(at, Age::from_days(1.0), *divergence > 0.0)
            };
            page.learnt.take(&lesson, page.host, page.depth, policy);
            (page.last_visit, page.seen_at) = (Some(at), Some(at));
        }
        page
    }

    fn survey(policy: &mut dyn Policy, pages: &[PageState], visits_a_day: f64) {
        policy.survey(&mut Survey {
            now: START,
            cycle: 1,
            cycle_length: Age::from_days(1.0),
            visits_a_day: Some(visits_a_day),
            shares_a_day: false,
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
        });
    }

    fn visits_a_day(policy: &dyn Policy, page: &PageState) -> f64 {
        policy.reason(page, START).value("visits_a_day").expect("a budget")
    }

    #[test]
    fn exactly_tau_is_not_stale_but_irrelevant() {
        assert!(!makes_stale(0.3, 0.3) && makes_stale(0.31, 0.3));
        assert!(makes_irrelevant(0.3, 0.3) && !makes_irrelevant(0.29, 0.3));
        let estimate = |name: &str, tau: f64| {
            let policy = policy(name, tau);
            let page = visited(&*policy, 1, 1.0, &[0.3, 0.0, 0.3, 0.0, 0.3, 0.0]);
            policy.reason(&page, START).value("estimate").expect("an estimate")
        };
        // Changes at half of the daily visits: the rate is ln 2 a day.
        assert!(estimate("sbr:mle", 0.3) < 0.3 && (estimate("sbr:mle", 0.29) - 0.693).abs() < 1e-3);
        assert!((estimate("ebr:mle", 0.9) - 0.693).abs() < 1e-3, "every update counts for the rate");
    }

    #[test]
    fn embarrassment_counts_large_updates_and_clicks() {
        let mut policy = policy("ebr", 0.5);
        let pages = [
            visited(&*policy, 1, 1.0, &[0.0, 0.9, 0.0, 0.9, 0.0, 0.9]),
            visited(&*policy, 2, 1.0, &[0.0, 0.1, 0.0, 0.1, 0.0, 0.1]),
            visited(&*policy, 3, 9.0, &[0.0, 0.9, 0.0, 0.9, 0.0, 0.9]),
        ];
        survey(&mut *policy, &pages, 1.5);
        let share = |page: &PageState| policy.reason(page, START).value("irrelevant_share");
        // 7 of 10: one large update is assumed.
        assert_eq!(share(&pages[0]), Some((3.0 + 0.7) / 4.0));
        assert_eq!(share(&pages[1]), Some(0.7 / 4.0));
        let rates = pages.each_ref().map(|page| visits_a_day(&*policy, page));
        assert!(rates[2] > rates[0] && rates[0] > rates[1], "{rates:?}");
    }

    #[test]
    fn staleness_gives_up_what_changes_too_fast_and_no_page_for_ever() {
        let mut policy = policy("sbr:mle", 0.2);
        let mut seldom = [0.0; 12];
        seldom[5] = 0.8;
        let pages = [visited(&*policy, 1, 1.0, &[0.8; 12]), visited(&*policy, 2, 1.0, &seldom)];
        survey(&mut *policy, &pages, 0.1);
        let rates = pages.each_ref().map(|page| visits_a_day(&*policy, page));
        assert!((rates[0] - 0.1 * SHARE_FOR_ALL / 2.0).abs() < 1e-12 && rates[1] > 0.09, "{rates:?}");
    }

    proptest! {
        /// The pages of the coming cycle are those that the transportation problem puts into it.
        #[test]
        fn the_order_of_scores_is_that_of_the_transported_visits(
            ideals in prop::collection::vec(0.0..9.0_f64, 1..12), capacity in 1_usize..4
        ) {
            let cycles = ideals.len().div_ceil(capacity);
            let assigned = transport::assign(&ideals, cycles, capacity).expect("room for all");
            let cost = |assigned: &[usize]| -> f64 {
                ideals.iter().zip(assigned).map(|(ideal, cycle)| transport::deviation(*ideal, *cycle)).sum()
            };
            // The same numbers for each cycle, filled in the order of the scores.
            let mut order: Vec<usize> = (0..ideals.len()).collect();
            order.sort_by(|a, b| score_of(-ideals[*b]).value().total_cmp(&score_of(-ideals[*a]).value()));
            let mut by_score = vec![0; ideals.len()];
            let mut sorted = assigned.clone();
            sorted.sort_unstable();
            order.iter().zip(sorted).for_each(|(visit, cycle)| by_score[*visit] = cycle);
            prop_assert!((cost(&by_score) - cost(&assigned)).abs() < 1e-9);
        }

        #[test]
        fn a_page_left_alone_longer_comes_first(days in prop::collection::vec(0.0..50.0_f64, 2..6)) {
            let mut policy = policy("sbr", 0.1);
            let page = visited(&*policy, 1, 1.0, &[0.5, 0.0, 0.5]);
            survey(&mut *policy, std::slice::from_ref(&page), 0.5);
            let mut days = days;
            days.sort_by(f64::total_cmp);
            let scores: Vec<f64> = days.iter().map(|days| {
                let now = page.waits_since().plus(Duration::from_secs_f64(days * 86_400.0));
                score(&*policy, &page, now).value()
            }).collect();
            prop_assert!(scores.is_sorted(), "{scores:?}");
        }
    }
}
