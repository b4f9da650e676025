//! Golden values of the papers' policies, and properties beyond those that `tests/conformance/policy.rs` checks for every row.

use proptest::prelude::*;

use super::allocation::{CrawlRates, Objective, Watched, optimal};
use super::registry::{ALL, PolicySettings, find};
use super::*;
use crate::estimate::tests::{close, golden, number, numbers};
use crate::longevity::curve::Curve;
use crate::observation::Life;
use crate::page::PageId;
use crate::quality::measure::MeasureId;

const DAY: i64 = 86_400_000;

/// Every policy, and those that learn rates with an estimator of each kind.
fn policies() -> Vec<Box<dyn Policy>> {
    let settings = PolicySettings { queries: Some(MeasureId(1)), ..PolicySettings::default() };
    let mut all = Vec::new();
    for row in ALL {
        all.extend(find(row.name, &settings).ok());
        for estimator in ["mle", "cg", "lln", "two-interval", "dated", "count"] {
            all.extend(find(&format!("{}:{estimator}", row.name), &settings).ok());
        }
    }
    all
}

/// A page that these visits, days apart, found changed or not.
fn visited(policy: &dyn Policy, id: i64, visits: &[(f64, bool)], weight: f64) -> PageState {
    let mut at = Timestamp::from_millis(100 * DAY);
    let mut page = PageState::found(PageId(id), HostId(1), 1, weight, at);
    (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(at), Some(at));
    for (days, changed) in visits {
        let interval = Age::from_days(*days);
        at = at.plus(std::time::Duration::from_secs_f64(interval.seconds()));
        let lesson = Lesson::of_bit(at, interval, *changed);
        page.learnt.take(&lesson, page.host, page.depth, policy);
        (page.last_visit, page.seen_at) = (Some(at), Some(at));
    }
    page
}

fn look_over(policy: &mut dyn Policy, pages: &[PageState], visits_a_day: f64) {
    let hosts = HashMap::from([(HostId(1), Yield { visited: 8, useful: 6 })]);
    let mut each = |look: &mut dyn FnMut(&PageState, usize)| pages.iter().for_each(|page| look(page, 1));
    policy.survey(&mut Survey {
        now: Timestamp::from_millis(20_000 * DAY),
        cycle: 3,
        cycle_length: Age::from_days(1.0),
        visits_a_day: Some(visits_a_day),
        shares_a_day: false,
        hosts: &hosts,
        memory: &mut None,
        pages: &mut each,
    });
}

fn history() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let short = prop::collection::vec((1e-9..1e-3_f64, any::<bool>()), 0..12);
    let long = prop::collection::vec((0.01..1000.0_f64, any::<bool>()), 0..12);
    let always = prop::collection::vec((0.01..30.0_f64, Just(true)), 0..12);
    prop_oneof![short, long, always]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_pages_does_not_matter(
        histories in prop::collection::vec(history(), 2..6), budget in 0.01..50.0_f64
    ) {
        // Where a page just begins to be worth visits, its rate at even distances hangs on digits that numbers don't have.
        let steady = |policy: &dyn Policy| !policy.name().starts_with("optimal-periodic");
        for mut policy in policies().into_iter().filter(|policy| steady(&**policy)) {
            let mut pages: Vec<PageState> =
                (1..).zip(&histories).map(|(id, visits)| visited(&*policy, id, visits, 1.0)).collect();
            let now = Timestamp::from_millis(20_000 * DAY);
            look_over(&mut *policy, &pages, budget);
            let one: Vec<f64> = pages.iter().map(|page| score(&*policy, page, now).value()).collect();
            pages.reverse();
            look_over(&mut *policy, &pages, budget);
            let mut other: Vec<f64> = pages.iter().map(|page| score(&*policy, page, now).value()).collect();
            other.reverse();
            for (one, other) in one.iter().zip(&other) {
                prop_assert!(close(*one, *other, 1e-3) || (one - other).abs() < 1e-12, "{} {one} {other}", policy.name());
            }
        }
    }
}

/// What a log may hold, were it tampered with: times that repeat or step back, divergences that fall, or are none.
fn odd_lesson() -> impl Strategy<Value = Lesson> {
    let odd = || prop_oneof![0.0..1.0_f64, any::<f64>(), Just(0.0), Just(1.0), Just(f64::NAN)];
    let days = || prop_oneof![0.01..100.0_f64, any::<f64>(), Just(0.0), Just(7.0)];
    let bases = prop::collection::vec((days(), odd()), 0..7);
    (days(), any::<bool>(), prop::option::of(odd()), bases).prop_map(|(days, changed, divergence, bases)| {
        let apart = |(days, divergence)| Apart { age: Age::from_days(days), divergence };
        let bases = bases.into_iter().map(apart).collect();
        Lesson { divergence, bases, ..Lesson::of_bit(Timestamp::default(), Age::from_days(days), changed) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_profile_is_too_odd(
        all in prop::collection::vec(prop::collection::vec(odd_lesson(), 0..30), 1..4),
        waits in prop::collection::vec(prop_oneof![0..400 * DAY, Just(0), Just(i64::MAX / 4)], 2..6)
    ) {
        let mut waits = waits;
        waits.sort_unstable();
        for name in ALL.iter().map(|row| row.name).filter(|name| name.starts_with("longevity")) {
            let mut policy = find(name, &PolicySettings::default()).expect("a policy");
            let at = Timestamp::from_millis(100 * DAY);
            let mut pages: Vec<PageState> = Vec::new();
            for (id, lessons) in (1..).zip(&all) {
                let mut page = PageState::found(PageId(id), HostId(1), 1, 1.0, at);
                (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(at), Some(at));
                for lesson in lessons {
                    page.learnt.take(lesson, page.host, page.depth, &*policy);
                }
                let bytes = page.learnt.to_bytes();
                prop_assert_eq!(Learnt::from_bytes(&bytes).map(|learnt| learnt.to_bytes()), Some(bytes));
                pages.push(page);
            }
            look_over(&mut *policy, &pages, 1.0);
            for page in &pages {
                let mut last = 0.0;
                for wait in &waits {
                    let now = Timestamp::from_millis(at.millis().saturating_add(*wait));
                    let value = score(&*policy, page, now).value();
                    prop_assert!(value.is_finite() && value >= last * (1.0 - 1e-9), "{name}: {value} after {last}");
                    last = value;
                }
                prop_assert!(last > 0.0 || waits.last() == Some(&0), "{name} starves a page");
            }
        }
    }
}

/// Our own policies forget no page: in the long run even one that never changed, among pages that always did.
#[test]
fn no_page_stays_unvisited_for_ever() {
    for name in [
        "utility",
        "utility:mle",
        "utility:cg",
        "optimal",
        "optimal-periodic",
        "harmonic",
        "proportional",
        "age",
    ] {
        let mut policy = find(name, &PolicySettings::default()).expect("a policy");
        let mut pages: Vec<PageState> =
            (0..20).map(|id| visited(&*policy, id, &[(1.0, id > 0), (1.0, id > 0)], 1.0)).collect();
        let start = pages[0].waits_since().millis();
        let mut quiet_visits = 0;
        for day in 1..=400 {
            let now = Timestamp::from_millis(start + day * DAY);
            look_over(&mut *policy, &pages, 1.0);
            let scores: Vec<f64> = pages.iter().map(|page| score(&*policy, page, now).value()).collect();
            let best = (0..pages.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).expect("pages");
            quiet_visits += i32::from(best == 0);
            let page = &mut pages[best];
            let interval = page.copy_age(now);
            let lesson = Lesson::of_bit(now, interval, best > 0);
            page.learnt.take(&lesson, page.host, page.depth, &*policy);
            (page.last_visit, page.seen_at) = (Some(now), Some(now));
        }
        assert!(quiet_visits >= 2, "{name}: {quiet_visits} visits to the quiet page");
    }
}

/// Scores and picks of the papers' policies (Santos et al. 2013, §5.1), through the registry: as a crawl would have them.
#[test]
fn the_papers_policies_have_their_golden_scores_and_picks() {
    let golden = golden(include_str!("../../tests/golden/policies_topk.json"));
    let tolerance = number(&golden["tolerance"]["relative"]);
    for case in golden["cases"].as_array().expect("cases") {
        let ages = numbers(&case["t"]);
        for name in ["NAD", "SAD", "AAD", "GAD", "CG", "Age", "tX"] {
            let mut policy = find(&name.to_lowercase(), &PolicySettings::default()).expect("a policy");
            look_over(&mut *policy, &[], 1.0);
            let histories = case["histories"].as_array().expect("histories").iter().map(numbers);
            let scores: Vec<f64> = histories
                .zip(&ages)
                .enumerate()
                .map(|(id, (history, age))| {
                    let visits: Vec<(f64, bool)> = history.iter().map(|seen| (1.0, *seen > 0.0)).collect();
                    let page = visited(&*policy, id as i64, &visits, 1.0);
                    let now = page.waits_since().plus(std::time::Duration::from_secs_f64(age * 86_400.0));
                    let value = score(&*policy, &page, now).value();
                    // Ages are in seconds here.
                    if name == "Age" { value / 86_400.0 } else { value }
                })
                .collect();
            for (value, expected) in scores.iter().zip(numbers(&case["policies"][name]["scores"])) {
                assert!(
                    close(*value, expected, tolerance) || (value - expected).abs() < 1e-15,
                    "{name} {case}"
                );
            }
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
            let picks: Vec<f64> =
                order.iter().take(number(&case["k"]) as usize).map(|at| *at as f64).collect();
            assert_eq!(picks, numbers(&case["policies"][name]["top"]), "{name}");
        }
    }
}

proptest! {
    /// Olston & Pandey 2008, appendix A: to visit each page when w·U reaches a threshold, with the divergence that is 0 or 1, is the
    /// schedule with even distances that is best for freshness (Cho & Garcia-Molina 2003). The threshold is the multiplier.
    #[test]
    fn a_threshold_on_holistic_utility_gives_the_optimal_even_visits(
        pages in prop::collection::vec((0.01..20.0_f64, 0.1..5.0_f64), 1..20), budget in 0.05..30.0_f64
    ) {
        let watched: Vec<Watched> =
            pages.iter().map(|(change_rate, weight)| Watched { change_rate: *change_rate, weight: *weight }).collect();
        let CrawlRates { rates, multiplier } = optimal(Objective::Periodic, &watched, budget);
        let threshold = multiplier.expect("a price of a visit");
        for (page, rate) in watched.iter().zip(rates) {
            let period = Curve::churn(1.0, page.change_rate).refresh_period(threshold / page.weight);
            let utility = page.weight * utility::refresh_utility(page.change_rate, 1.0 / rate);
            match period {
                Some(days) => {
                    prop_assert!(close(utility, threshold, 1e-6), "{utility} {threshold}");
                    // The nearer U is to its limit, the less its value says of the time.
                    let is_told = page.change_rate * days < 10.0;
                    prop_assert!(!is_told || close(1.0 / days, rate, 1e-3), "every {days} days, {rate} a day");
                }
                // Where only one visit in thirty changes would be made, w·U differs from its limit by less than numbers can tell.
                None => prop_assert!(rate <= page.change_rate / 30.0, "given up: {rate}"),
            }
        }
    }
}

#[test]
fn a_host_whose_pages_are_of_no_use_waits_with_its_new_ones() {
    let mut policy = find("utility", &PolicySettings::default()).expect("a policy");
    let hosts = HashMap::from([
        (HostId(1), Yield { visited: 99, useful: 4 }),
        (HostId(2), Yield { visited: 99, useful: 99 }),
    ]);
    policy.survey(&mut Survey {
        now: Timestamp::from_millis(20_000 * DAY),
        cycle: 1,
        cycle_length: Age::from_days(1.0),
        visits_a_day: None,
        shares_a_day: false,
        hosts: &hosts,
        memory: &mut None,
        pages: &mut |_| {},
    });
    let found = |host| PageState::found(PageId(1), HostId(host), 1, 1.0, Timestamp::from_millis(0));
    let scores = [1, 2, 3].map(|host| policy.score_unseen(&found(host)).value());
    assert!(scores[0] < 0.1 * scores[1] && scores[1] == scores[2], "{scores:?}");
}

#[test]
fn a_score_that_rises_with_new_links_says_so() {
    let mut rising = 0;
    for mut policy in policies() {
        let plain = visited(&*policy, 1, &[(1.0, true), (1.0, false)], 1.0);
        let mut hub = plain.clone();
        hub.learnt.new_links = 50;
        look_over(&mut *policy, &[plain.clone(), hub.clone()], 10.0);
        let now = Timestamp::from_millis(110 * DAY);
        let gains = policy.score(&hub, now).value() > policy.score(&plain, now).value();
        let told = policy.reason(&hub, now).value("new_links_gain_days");
        assert_eq!(told.is_some_and(|days| days > 0.0), gains, "{}", policy.name());
        assert_eq!(policy.reason(&plain, now).value("new_links_gain_days"), None, "{}", policy.name());
        rising += usize::from(gains);
    }
    assert!(rising >= 4, "{rising} policies count new links");
}
