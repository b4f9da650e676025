//! The promises of every policy in the registry. A new row is under test as soon as it is there.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use freshet::observation::Life;
use freshet::page::{HostId, Kin, PageId};
use freshet::policy::registry::{ALL, DEFAULT, PolicyRow, PolicySettings, find};
use freshet::policy::{Apart, Learnt, Lesson, PageMemory, PageState, Policy, Survey, Yield, score};
use freshet::quality::measure::MeasureId;
use freshet::time::{Age, Timestamp};
use proptest::prelude::*;

const DAY: i64 = 86_400_000;

/// Estimators that keep a memory of each shape there is.
const ESTIMATORS: [&str; 7] = ["mle", "cg", "lln", "two-interval", "posterior", "dated", "count"];

fn policy(name: &str) -> Box<dyn Policy> {
    let settings = PolicySettings { queries: Some(MeasureId(1)), ..PolicySettings::default() };
    find(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Every row, and rows that take an estimator with some of them.
fn names() -> Vec<String> {
    let with = |row: &PolicyRow| {
        let estimators = ESTIMATORS.iter().filter(|_| row.takes_estimator());
        estimators.map(|estimator| format!("{}:{estimator}", row.name)).collect::<Vec<_>>()
    };
    ALL.iter().flat_map(|row| std::iter::once(row.name.to_owned()).chain(with(row))).collect()
}

/// A visit: the days since the one before, and what it found.
#[derive(Clone, Debug)]
struct Visit {
    days: f64,
    changed: bool,
    divergence: f64,
    bases: Vec<(f64, f64)>,
    new_links: u32,
    /// Visits of one round are made in one cycle.
    cycle: i64,
}

impl Visit {
    fn lesson(&self, at: Timestamp, weight: f64) -> Lesson {
        let base =
            |(days, divergence): &(f64, f64)| Apart { age: Age::from_days(*days), divergence: *divergence };
        Lesson {
            divergence: Some(if self.changed { self.divergence } else { 0.0 }),
            bases: self.bases.iter().map(base).collect(),
            new_links: self.new_links,
            cycle: self.cycle,
            weight,
            ..Lesson::of_bit(at, Age::from_days(self.days), self.changed)
        }
    }
}

fn visits(most: usize) -> impl Strategy<Value = Vec<Visit>> {
    let days = prop_oneof![1e-9..1e-2_f64, 0.01..5.0_f64, 0.5..1000.0_f64];
    let bases = prop::collection::vec((0.01..400.0_f64, 0.0..1.0_f64), 0..4);
    let visit = (days, any::<bool>(), 0.0..1.0_f64, bases, 0..3_u32);
    let visit = visit.prop_map(|(days, changed, divergence, bases, new_links)| Visit {
        days,
        changed,
        divergence,
        bases,
        new_links,
        cycle: 0,
    });
    let numbered =
        |visits: Vec<Visit>| (0..).zip(visits).map(|(cycle, visit)| Visit { cycle, ..visit }).collect();
    prop::collection::vec(visit, 0..most).prop_map(numbered)
}

/// A page that was fetched once.
fn fetched(id: i64, weight: f64) -> PageState {
    let at = Timestamp::from_millis(100 * DAY);
    let mut page = PageState::found(PageId(id), HostId(id % 2), 1, weight, at);
    page.kin = Kin::of(&format!("http://host-{}.example/a/page-{id}.html", id % 2));
    (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(at), Some(at));
    page
}

/// One more visit, folded as the live crawl does.
fn visit(policy: &dyn Policy, page: &mut PageState, visit: &Visit) {
    let at = page.waits_since().plus(Duration::from_secs_f64(visit.days * 86_400.0));
    page.learnt.take(&visit.lesson(at, page.weight), page.host, page.depth, policy);
    (page.last_visit, page.seen_at) = (Some(at), Some(at));
}

fn visited(policy: &dyn Policy, id: i64, weight: f64, visits: &[Visit]) -> PageState {
    let mut page = fetched(id, weight);
    visits.iter().for_each(|next| visit(policy, &mut page, next));
    page
}

fn survey(policy: &mut dyn Policy, pages: &[PageState], cycle: i64, visits_a_day: f64) {
    survey_with(policy, pages, cycle, visits_a_day, &mut None);
}

/// The same with the memory of the collection that a store keeps.
fn survey_with(
    policy: &mut dyn Policy,
    pages: &[PageState],
    cycle: i64,
    visits_a_day: f64,
    memory: &mut Option<String>,
) {
    policy.survey(&mut Survey {
        now: Timestamp::from_millis(20_000 * DAY),
        cycle,
        cycle_length: Age::from_days(1.0),
        visits_a_day: Some(visits_a_day),
        shares_a_day: false,
        hosts: &HashMap::from([(HostId(1), Yield { visited: 8, useful: 6 })]),
        memory,
        pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
    });
}

fn after(page: &PageState, millis: i64) -> Timestamp {
    Timestamp::from_millis(page.waits_since().millis().saturating_add(millis))
}

#[test]
fn a_row_makes_the_policy_of_its_name() {
    let names: BTreeSet<&str> = ALL.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), ALL.len(), "a name stands twice in the registry");
    for row in ALL {
        assert_eq!(policy(row.name).name(), row.name);
        assert!(!row.about.is_empty() && !policy(row.name).memory_version().is_empty(), "{}", row.name);
        let with = format!("{}:mle", row.name);
        match find(&with, &PolicySettings::default()) {
            Ok(found) => assert!(row.takes_estimator() && found.name() == with, "{with}"),
            Err(error) => assert!(!row.takes_estimator() && error.contains("takes no estimator"), "{error}"),
        }
    }
    assert!(names.contains(DEFAULT));
}

#[test]
fn new_pages_come_in_order_of_depth_and_failures_lower_a_score() {
    for name in names() {
        let policy = policy(&name);
        let new = |depth| PageState::found(PageId(1), HostId(1), depth, 1.0, Timestamp::from_millis(DAY));
        let now = Timestamp::from_millis(40 * DAY);
        let scores: Vec<f64> = (0..4).map(|depth| score(&*policy, &new(depth), now).value()).collect();
        assert!(scores.is_sorted_by(|a, b| a > b), "{name}: {scores:?}");
        let visit =
            Visit { days: 1.0, changed: true, divergence: 0.5, bases: Vec::new(), new_links: 0, cycle: 0 };
        let mut page = visited(&*policy, 1, 1.0, &[visit.clone(), visit]);
        let now = after(&page, DAY);
        let well = score(&*policy, &page, now).value();
        page.failures = 2;
        let failing = score(&*policy, &page, now).value();
        assert!((failing - well / 4.0).abs() <= 1e-9 * well, "{name}: {failing} after {well}");
    }
}

#[test]
fn a_page_that_a_wrong_clock_visited_in_the_future_scores_as_one_that_was_just_visited() {
    for name in names() {
        let policy = policy(&name);
        let visit = |changed| Visit {
            days: 2.0,
            changed,
            divergence: 0.5,
            bases: Vec::new(),
            new_links: 0,
            cycle: 0,
        };
        let page = visited(&*policy, 1, 1.0, &[visit(true), visit(false), visit(true)]);
        let at_once = score(&*policy, &page, after(&page, 0)).value();
        for days_ahead in [1, 400, 100_000] {
            let now = after(&page, -days_ahead * DAY);
            let ahead = score(&*policy, &page, now).value();
            assert_eq!(ahead, at_once, "{name}, {days_ahead} days ahead");
            policy.reason(&page, now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_score_is_finite_and_never_falls_while_a_page_waits(
        histories in prop::collection::vec(visits(10), 1..5), weight in 0.01..100.0_f64,
        mut waits in prop::collection::vec(prop_oneof![0..400 * DAY, Just(0), Just(i64::MAX / 4)], 2..6),
        budget in 0.01..50.0_f64, failures in 0_u32..40
    ) {
        waits.sort_unstable();
        for name in names() {
            let mut policy = policy(&name);
            let mut pages: Vec<PageState> =
                (1..).zip(&histories).map(|(id, visits)| visited(&*policy, id, weight, visits)).collect();
            survey(&mut *policy, &pages, 3, budget);
            for page in &mut pages {
                page.failures = failures;
                let mut last = f64::NEG_INFINITY;
                for wait in &waits {
                    let value = score(&*policy, page, after(page, *wait)).value();
                    prop_assert!(value.is_finite(), "{name}: {value}");
                    // The last digits may be lost to rounding.
                    prop_assert!(value >= last - last.abs() * 1e-9, "{name}: {value} after {last}");
                    last = value;
                }
            }
        }
    }

    #[test]
    fn a_memory_survives_its_bytes(visits in visits(12), wait in 0..400 * DAY) {
        for name in names() {
            let mut policy = policy(&name);
            let page = visited(&*policy, 1, 1.0, &visits);
            let learnt = Learnt::from_bytes(&page.learnt.to_bytes()).expect("bytes that can be read");
            prop_assert_eq!(&learnt, &page.learnt, "{}", &name);
            let read = PageState { learnt, ..page.clone() };
            survey(&mut *policy, std::slice::from_ref(&page), 3, 1.0);
            let now = after(&page, wait);
            prop_assert_eq!(score(&*policy, &read, now), score(&*policy, &page, now), "{}", &name);
            prop_assert_eq!(policy.reason(&read, now), policy.reason(&page, now), "{}", &name);
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..120), visits in visits(3)) {
        for name in names() {
            let mut policy = policy(&name);
            let mut page = fetched(1, 1.0);
            page.learnt.memory = PageMemory::from_bytes(&bytes);
            survey(&mut *policy, std::slice::from_ref(&page), 3, 1.0);
            prop_assert!(score(&*policy, &page, after(&page, DAY)).value().is_finite(), "{name}");
            visits.iter().for_each(|next| visit(&*policy, &mut page, next));
            prop_assert!(score(&*policy, &page, after(&page, DAY)).value().is_finite(), "{name}");
        }
        let _ = Learnt::from_bytes(&bytes);
    }

    /// Live, a survey comes before each visit and the memory goes through the store. A rebuild learns a page's log in one go, after
    /// the policy was given its memory of the collection. The memories and the scores are the same.
    #[test]
    fn live_and_rebuilt_memories_are_the_same(
        histories in prop::collection::vec(visits(8), 1..4), weight in 0.1..10.0_f64, wait in 0..400 * DAY
    ) {
        for name in &names() {
            let (mut live, mut memory) = (policy(name), None);
            let mut pages: Vec<PageState> = (1..).take(histories.len()).map(|id| fetched(id, weight)).collect();
            let rounds = histories.iter().map(Vec::len).max().unwrap_or(0);
            for round in 0..rounds {
                survey_with(&mut *live, &pages, round as i64, 1.0, &mut memory);
                for (page, visits) in pages.iter_mut().zip(&histories) {
                    if let Some(next) = visits.get(round) {
                        visit(&*live, page, next);
                        page.learnt = Learnt::from_bytes(&page.learnt.to_bytes()).expect("bytes that can be read");
                    }
                }
            }
            let mut again = policy(name);
            memory.iter().for_each(|memory| again.recall(memory));
            prop_assert_eq!(again.memory_version(), live.memory_version(), "{}", name);
            let replayed: Vec<PageState> =
                (1..).zip(&histories).map(|(id, visits)| visited(&*again, id, weight, visits)).collect();
            prop_assert_eq!(&replayed, &pages, "{}", name);
            survey_with(&mut *live, &pages, 99, 1.0, &mut memory.clone());
            survey_with(&mut *again, &replayed, 99, 1.0, &mut memory);
            for (one, other) in pages.iter().zip(&replayed) {
                let now = after(one, wait);
                prop_assert_eq!(score(&*live, one, now), score(&*again, other, now), "{}", name);
            }
        }
    }

    /// A replay lets pages share a score that differ only in what the policy does not look at.
    #[test]
    fn a_policy_says_what_it_looks_at(visits in visits(8), wait in 0..400 * DAY) {
        for name in names() {
            let mut policy = policy(&name);
            let page = visited(&*policy, 1, 1.0, &visits);
            survey(&mut *policy, std::slice::from_ref(&page), 3, 1.0);
            let (looks_at, now) = (policy.looks_at(), after(&page, wait));
            let value = |page: &PageState| score(&*policy, page, now);
            if !looks_at.kin {
                let other = PageState { kin: Kin::of("http://other.example/b/x.html"), ..page.clone() };
                prop_assert_eq!(value(&other), value(&page), "{} looks at kin", &name);
            }
            if !looks_at.age {
                let other = PageState { found_at: Timestamp::from_millis(DAY), ..page.clone() };
                prop_assert_eq!(value(&other), value(&page), "{} looks at when a page was found", &name);
            }
            if !looks_at.divergence {
                let whole = |visit: &Visit| Visit { divergence: 1.0, bases: Vec::new(), ..visit.clone() };
                let other = visited(&*policy, 1, 1.0, &visits.iter().map(whole).collect::<Vec<_>>());
                prop_assert_eq!(value(&other), value(&page), "{} looks at divergence", &name);
            }
            if looks_at.draw.is_none() {
                let other = PageState { page: PageId(7), ..page.clone() };
                prop_assert_eq!(value(&other), value(&page), "{} looks at the page's number", &name);
            }
        }
    }

    #[test]
    fn a_reason_can_be_printed(visits in visits(6), wait in 0..400 * DAY) {
        for name in names() {
            let mut policy = policy(&name);
            let page = visited(&*policy, 1, 1.0, &visits);
            survey(&mut *policy, std::slice::from_ref(&page), 3, 1.0);
            let reason = policy.reason(&page, after(&page, wait));
            let keys: Vec<&str> = reason.facts().iter().filter_map(|fact| fact.key).collect();
            prop_assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{}: a key stands twice", &name);
            let json = serde_json::to_value(&reason).expect("JSON");
            prop_assert!(keys.iter().all(|key| !json[*key].is_null()), "{name}: {json}");
            for fact in reason.facts() {
                prop_assert!(fact.value.is_finite(), "{name}: {fact:?}");
                prop_assert!(!fact.label.is_empty() || !fact.sentence.is_empty(), "{name}: {fact:?}");
            }
        }
    }
}
