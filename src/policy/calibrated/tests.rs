//! Reference runs of an independent implementation, and promises that hold under any history.

use proptest::prelude::*;

use super::*;
use crate::page::{Kin, PageId};
use crate::policy::score;
use std::collections::HashMap;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// A policy that has seen some visits, live-like: one plan a day.
struct Watch {
    policy: Calibrated,
    pages: Vec<PageState>,
    now: Timestamp,
    visits_a_day: Option<f64>,
    /// The first page is a feed.
    has_feed: bool,
    /// The time from a plan to the next, where the plans of a day share a budget.
    shared: Option<Age>,
}

impl Watch {
    fn new(pages: usize) -> Self {
        let now = Timestamp::from_seconds(1_700_000_000);
        let pages = (0..pages as i64).map(|id| {
            let mut page = PageState::found(PageId(id), HostId(id % 2), 1, 1.0, now);
            page.kin = Kin::of(&format!("http://host-{}.example/{}/page-{id}.html", id % 2, id % 3));
            (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(now), Some(now));
            page
        });
        let policy = Calibrated::new("calibrated", CountedAs::Divergence);
        Self { policy, pages: pages.collect(), now, visits_a_day: None, has_feed: false, shared: None }
    }

    fn plan(&mut self, later: Duration) {
        self.now = self.now.plus(later);
        let pages = &self.pages;
        self.policy.survey(&mut Survey {
            now: self.now,
            cycle: 1,
            cycle_length: self.shared.unwrap_or(Age::from_days(1.0)),
            visits_a_day: self.visits_a_day,
            shares_a_day: self.shared.is_some(),
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
        });
    }

    fn best(&self, budget: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pages.len()).collect();
        let score = |at: &usize| score(&self.policy, &self.pages[*at], self.now).value();
        order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
        order.truncate(budget);
        order
    }

    fn visit(&mut self, at: &[usize], found: impl Fn(usize) -> f64) {
        for at in at {
            let page = &mut self.pages[*at];
            let moved = found(*at);
            let interval = self.now.since(page.seen_at.unwrap());
            let lesson =
                Lesson { divergence: Some(moved), ..Lesson::of_bit(self.now, interval, moved > 0.0) };
            let events = (self.has_feed && *at == 0).then_some(1);
            let lesson = Lesson { signals: page.signals, events, ..lesson };
            page.learnt.take(&lesson, page.host, page.depth, &self.policy);
            page.signals.visited();
            (page.last_visit, page.seen_at) = (Some(self.now), Some(self.now));
        }
        let plan = self.policy.planned().unwrap();
        let visits: Vec<CollectedVisit<'_>> = at
            .iter()
            .map(|at| {
                let page = &self.pages[*at];
                let PageState { host, kin, found_at, learnt, .. } = page;
                CollectedVisit {
                    host: *host,
                    kin: *kin,
                    found_at: *found_at,
                    at: self.now,
                    learnt,
                    was_planned: true,
                }
            })
            .collect();
        self.policy.learn_from_all(&plan, &visits);
    }
}

#[test]
fn pages_that_move_are_visited_more_often_and_none_is_forgotten() {
    let mut watch = Watch::new(30);
    let (mut visits, mut last) = ([0; 30], [0; 30]);
    for cycle in 1..400 {
        watch.plan(DAY);
        let best = watch.best(2);
        watch.visit(&best, |at| if at < 5 { 0.3 } else { 0.0 });
        for at in best {
            assert!(cycle - last[at] < 350, "page {at} waits from {} to {cycle}", last[at]);
            (visits[at], last[at]) = (visits[at] + 1, cycle);
        }
    }
    let (fast, slow) = (visits[..5].iter().sum::<i32>() / 5, visits[5..].iter().sum::<i32>() / 25);
    assert!(fast > 2 * slow && visits.iter().all(|count| *count > 0), "{visits:?}");
}

#[test]
fn lists_are_worth_what_they_tell() {
    let mut watch = Watch { visits_a_day: Some(3.0), has_feed: true, ..Watch::new(20) };
    for cycle in 1..80 {
        watch.pages[cycle * 7 % 20].signals.learn(SignalKind::Feed);
        watch.plan(DAY);
        let best = watch.best(3);
        let has_moved: Vec<bool> =
            watch.pages.iter().map(|page| page.signals.of(SignalKind::Feed).since_visit > 0).collect();
        watch.visit(&best, |at| if has_moved[at] { 0.3 } else { 0.0 });
    }
    watch.plan(DAY);
    let gain = |at: usize| watch.policy.feed_gain(&watch.pages[at], watch.now);
    assert!(gain(0) > 0.0 && gain(2) == 0.0, "{} {}", gain(0), gain(2));
    // The other host has no feed under watch, and no host has a sitemap that told of anything.
    assert_eq!((gain(1), watch.policy.list_gain(HostId(0), Age::from_days(1.0))), (0.0, None));
    // Pages that a sitemap told of later than the first reading make it worth another.
    let now = watch.now;
    let page = |id, at| PageState { is_listed: true, ..PageState::found(PageId(id), HostId(1), 1, 1.0, at) };
    watch.pages.extend([page(20, now), page(21, now.plus(3 * DAY))]);
    watch.plan(5 * DAY);
    let gain =
        |days| watch.policy.list_gain(HostId(1), Age::from_days(days)).map_or(0.0, |gain| gain.value());
    assert!(gain(1.0) > 0.0 && gain(2.0) > gain(1.0), "{} {}", gain(1.0), gain(2.0));
}

#[test]
fn the_state_survives_its_bytes() {
    let mut watch = Watch::new(9);
    for _ in 0..80 {
        watch.plan(DAY);
        let best = watch.best(3);
        watch.visit(&best, |at| at as f64 / 10.0);
    }
    let bytes = watch.policy.collection_bytes();
    let mut other = Calibrated::new("calibrated", CountedAs::Divergence);
    assert!(other.recall_collection(&bytes));
    assert_eq!(other.collection, watch.policy.collection);
    assert_eq!(other.collection_bytes(), bytes);
    assert!(!other.recall_collection(&bytes[..bytes.len() - 1]));
    assert!(other.recall_collection(&[]) && other.collection == LearntCollection::default());
}

proptest! {
    #[test]
    fn a_score_is_finite_and_never_falls_while_a_page_waits(
        plans in prop::collection::vec((1_u64..2_000_000, prop::collection::vec((0_usize..12, 0.0..1.0_f64), 0..5)), 1..25),
        // Pages that are told of before each visit.
        told in prop::collection::vec((0_usize..12, prop::sample::select(SignalKind::ALL.to_vec())), 0..60),
        waits in prop::collection::vec(1_u64..100_000_000, 1..6)
    ) {
        let mut watch = Watch::new(12);
        let mut told = told.into_iter();
        for (later, visits) in plans {
            for (at, kind) in told.by_ref().take(4) {
                watch.pages[at].signals.learn(kind);
            }
            watch.plan(Duration::from_secs(later));
            let mut at: Vec<usize> = visits.iter().map(|(at, _)| *at).collect();
            at.sort_unstable();
            at.dedup();
            let found: HashMap<usize, f64> = visits.into_iter().collect();
            watch.visit(&at, |at| found[&at]);
        }
        told.for_each(|(at, kind)| watch.pages[at].signals.learn(kind));
        watch.plan(DAY);
        let mut waits = waits;
        waits.sort_unstable();
        // With a budget for the day the hour counts, so a score may fall at night; it stays a number.
        watch.shared = Some(Age::from_days(0.1));
        watch.plan(Duration::from_secs(waits[0]));
        for (page, wait) in watch.pages.iter().zip(waits.iter().cycle()) {
            let score = score(&watch.policy, page, watch.now.plus(Duration::from_secs(*wait))).value();
            prop_assert!(score.is_finite() && score >= 0.0, "{score}");
        }
        watch.shared = None;
        watch.plan(DAY);
        for page in &watch.pages {
            let scores: Vec<f64> = waits
                .iter()
                .map(|wait| score(&watch.policy, page, watch.now.plus(Duration::from_secs(*wait))).value())
                .collect();
            prop_assert!(scores.iter().all(|score| score.is_finite()) && scores.is_sorted(), "{scores:?}");
        }
    }

    #[test]
    fn the_order_of_pages_in_the_store_does_not_matter(seed in any::<u64>()) {
        let (mut one, mut other) = (Watch::new(10), Watch::new(10));
        other.pages.reverse();
        for cycle in 0..30_u64 {
            let found = |at: usize| ((seed >> ((at as u64 * 7 + cycle) % 60)) & 3) as f64 / 4.0;
            one.plan(DAY);
            other.plan(DAY);
            let best = one.best(3);
            one.visit(&best, found);
            let same: Vec<usize> = best.iter().map(|at| 9 - at).collect();
            other.visit(&same, |at| found(9 - at));
        }
        one.plan(DAY);
        other.plan(DAY);
        for (page, same) in one.pages.iter().zip(other.pages.iter().rev()) {
            let (a, b) = (score(&one.policy, page, one.now).value(), score(&other.policy, same, other.now).value());
            prop_assert!((a - b).abs() <= 1e-9 * a.abs().max(1e-9), "{a} {b}");
        }
    }
}

proptest! {
    // Each case is a life of a collection.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn no_page_waits_for_ever(
        moves in prop::collection::vec(0.0..1.0_f64, 6), budget in 1_usize..3
    ) {
        let mut watch = Watch::new(6);
        let mut last = [0; 6];
        for cycle in 1..1200 {
            watch.plan(DAY);
            let best = watch.best(budget);
            watch.visit(&best, |at| if moves[at] < 0.3 { 0.0 } else { moves[at] });
            best.iter().for_each(|at| last[*at] = cycle);
            prop_assert!(last.iter().all(|last| cycle - last < 1000), "{last:?}");
        }
    }
}
