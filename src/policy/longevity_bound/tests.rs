//! The policy as printed, through the live policy: golden traces, weights, bounds, and the history of the threshold.

use std::collections::HashMap;

use super::*;
use crate::change::VersionId;
use crate::change::divergence::Divergence;
use crate::change::profile::{BaseVersion, Profiles};
use crate::estimate::tests::{close, golden, number, numbers};
use crate::longevity::bound::tests::trace_divergence;
use crate::page::PageId;
use crate::policy::Apart;
use crate::time::Age;

const DAY: f64 = 86_400_000.0;

fn at(days: f64) -> Timestamp {
    Timestamp::from_millis((days * DAY).round() as i64)
}

/// A page, its profiles as a store keeps them, and what the policy has learnt.
struct BoundedPage {
    profiles: Profiles,
    learnt: Learnt,
    last: f64,
    kept: usize,
}

impl BoundedPage {
    fn new(kept: usize) -> Self {
        let mut profiles = Profiles::default();
        profiles.start(BaseVersion { at: at(0.0), version: VersionId(0) }, kept, &[]);
        Self { profiles, learnt: Learnt::default(), last: 0.0, kept }
    }

    /// A visit as the live crawl records it: measured, learnt, then a profile is started.
    fn visit(&mut self, policy: &dyn Policy, now: f64, weight: f64, apart: impl Fn(f64, f64) -> f64) {
        let found = BaseVersion { at: at(now), version: VersionId((now * 1e6) as i64) };
        let bases: Vec<f64> =
            self.profiles.iter().map(|profile| profile.base.at.millis() as f64 / DAY).collect();
        let mut next = bases.iter();
        let Ok(measured) = self.profiles.extend(found, false, |_| {
            let base = next.next().copied().unwrap_or_default();
            Ok::<_, std::convert::Infallible>(Divergence::new(apart(base, now)).unwrap_or(Divergence::NONE))
        });
        let bases = measured.iter().map(|from| Apart::of(from, found.at)).collect();
        let lesson = Lesson::of_bit(found.at, Age::from_days(now - self.last), true);
        let lesson = Lesson { bases, weight, ..lesson };
        self.learnt.take(&lesson, HostId(1), 1, policy);
        let pinned = policy.pinned_base(&self.learnt);
        self.profiles.start(found, self.kept, pinned.as_slice());
        self.last = now;
    }

    fn period(&self) -> f64 {
        self.learnt.memory.peek(take_period_and_reference).expect("a period").0
    }

    fn reference(&self) -> f64 {
        self.learnt.memory.peek(take_period_and_reference).expect("a time").1.millis() as f64 / DAY
    }
}

#[test]
fn the_live_policy_walks_the_golden_traces() {
    let golden = golden(include_str!("../../../tests/golden/bound_policy_traces.json"));
    for case in golden["cases"].as_array().expect("cases") {
        let settings = LongevitySettings {
            risk: number(&case["rho"]) / number(&case["Dmax"]),
            learning_days: 1e9,
            threshold: Some(number(&case["T"])),
            cycle_days: 1e-3,
        };
        // The traces do not limit the points of a profile.
        let policy = LongevityBound { most_points: usize::MAX, ..LongevityBound::new(settings) };
        let mut page = BoundedPage::new(number(&case["h"]) as usize);
        for row in case["trace"].as_array().expect("rows") {
            page.visit(&policy, number(&row["t"]), 1.0, |from, to| trace_divergence(case, from, to));
            // Times are exact to the millisecond.
            assert!(close(page.period(), number(&row["phi"]), 1e-6), "{} days in {row}", page.period());
            assert!((page.reference() - number(&row["t_ref"])).abs() < 1e-6, "{} in {row}", page.reference());
            let bases = page.profiles.iter().map(|profile| profile.base.at.millis() as f64 / DAY);
            let (bases, expected) = (bases.collect::<Vec<_>>(), numbers(&row["bases"]));
            assert_eq!(bases.len(), expected.len(), "{row}");
            assert!(
                bases.iter().zip(expected).all(|(base, expected)| (base - expected).abs() < 1e-6),
                "{row}"
            );
        }
    }
}

/// A page that is replaced at an even pace within ten days.
fn even(from: f64, to: f64) -> f64 {
    ((to - from) / 10.0).min(1.0)
}

fn with_threshold(threshold: f64) -> LongevityBound {
    LongevityBound::new(LongevitySettings { threshold: Some(threshold), ..LongevitySettings::default() })
}

/// The period after these visits.
fn period_after(policy: &LongevityBound, weight: f64, days: &[f64]) -> f64 {
    let mut page = BoundedPage::new(5);
    days.iter().for_each(|now| page.visit(policy, *now, weight, even));
    page.period()
}

#[test]
fn a_weight_counts_like_a_lower_threshold() {
    let days: Vec<f64> = (1..=7).map(f64::from).collect();
    for weight in [0.1, 0.5, 3.0, 10.0] {
        let weighted = period_after(&with_threshold(1.0), weight, &days);
        let lower = period_after(&with_threshold(1.0 / weight), 1.0, &days);
        assert!(close(weighted, lower, 1e-9), "{weighted} {lower}");
    }
    let (light, heavy) =
        (period_after(&with_threshold(1.0), 0.1, &days), period_after(&with_threshold(1.0), 3.0, &days));
    assert!(light > 2.0 * heavy, "{light} {heavy}");
}

#[test]
fn risk_and_learning_bound_the_period() {
    let settings = LongevitySettings { threshold: Some(0.5), risk: 4.0, ..LongevitySettings::default() };
    let policy = LongevityBound::new(settings);
    let mut page = BoundedPage::new(5);
    let still = |_: f64, _: f64| 0.0;
    let mut periods = Vec::new();
    for day in [1.0, 3.0, 6.0, 10.0, 15.0, 21.0, 28.0] {
        page.visit(&policy, day, 0.5, still);
        periods.push(page.period());
    }
    // ρT/w is 4 days; l·n is a day more with each refresh.
    assert_eq!(periods, [2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0]);
    let mut light = BoundedPage::new(5);
    light.visit(&policy, 1.0, 0.01, still);
    light.visit(&policy, 3.0, 0.01, still);
    assert_eq!(light.period(), 3.0, "a page that does not matter is learnt, too");
    // Before anything is learnt the bounds are all there is.
    let mut new = PageState::found(PageId(1), HostId(1), 1, 1.0, at(0.0));
    (new.last_visit, new.seen_at) = (Some(at(0.0)), Some(at(0.0)));
    assert_eq!(
        (policy.period(&new), policy.is_due(&new, at(1.0)), policy.is_due(&new, at(0.9))),
        (1.0, true, false)
    );
    new.learnt = page.learnt;
    new.weight = 0.25;
    assert_eq!(policy.period(&new), 4.0, "the period that was learnt");
    new.weight = 2.0;
    assert_eq!(policy.period(&new), 1.0, "a page that has gained weight is bound by it at once");
    assert!((policy.score(&new, at(29.0)).value() - 0.5 * 29.0).abs() < 1e-9, "T when the period is over");
}

fn survey(policy: &mut LongevityBound, memory: &mut Option<String>, cycle: i64, due: usize) {
    let mut page = PageState::found(PageId(1), HostId(1), 1, 1.0, at(0.0));
    (page.last_visit, page.seen_at) = (Some(at(0.0)), Some(at(0.0)));
    policy.survey(&mut Survey {
        now: at(1000.0),
        cycle,
        cycle_length: Age::from_days(1.0),
        visits_a_day: Some(10.0),
        shares_a_day: false,
        hosts: &HashMap::new(),
        memory,
        pages: &mut |look| look(&page, due),
    });
}

#[test]
fn a_page_is_learnt_again_by_the_thresholds_that_its_visits_had() {
    let mut live = LongevityBound::new(LongevitySettings::default());
    let (mut memory, mut page, mut lessons) = (None, BoundedPage::new(5), Vec::new());
    for (cycle, due) in (1..).zip([40, 40, 40, 2, 2, 40, 40, 0, 0, 40]) {
        survey(&mut live, &mut memory, cycle, due);
        // A run that was stopped surveys its cycle again: the threshold does not move again.
        let before = live.threshold;
        survey(&mut live, &mut memory, cycle, 1000);
        assert_eq!(live.threshold, before);
        let now = cycle as f64;
        let bases = page.profiles.iter().map(|profile| {
            let base = profile.base.at.millis() as f64 / DAY;
            Apart { age: Age::from_days(now - base), divergence: even(base, now) }
        });
        let lesson =
            Lesson { bases: bases.collect(), cycle, ..Lesson::of_bit(at(now), Age::from_days(1.0), true) };
        page.learnt.take(&lesson, HostId(1), 1, &live);
        lessons.push(lesson);
        page.profiles.start(
            BaseVersion { at: at(now), version: VersionId(cycle) },
            5,
            live.pinned_base(&page.learnt).as_slice(),
        );
    }
    let rebuilt = |policy: &LongevityBound| {
        let mut learnt = Learnt::default();
        lessons.iter().for_each(|lesson| learnt.take(lesson, HostId(1), 1, policy));
        learnt.to_bytes()
    };
    let mut again = LongevityBound::new(LongevitySettings::default());
    assert_ne!(rebuilt(&again), page.learnt.to_bytes(), "without the history the periods are others");
    again.recall(&memory.expect("a history"));
    assert_eq!(rebuilt(&again), page.learnt.to_bytes());
    assert_eq!(again.memory_version(), live.memory_version());
}
