//! Replays against golden values, against the live scheduler, and against counting by hand.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::measured_visit::{MeasuredVisit, start_profile};
use super::*;
use crate::change::profile::Profiles;
use crate::dataset::{Group, History, RecordedPage};
use crate::estimate::tests::{golden, number, numbers};
use crate::observation::Life;
use crate::page::{HostId, PageId};
use crate::policy::registry::{ALL, PolicySettings, find};
use crate::policy::{CollectedVisit, Lesson, PageState, PlanMoment, Policy, Survey};
use crate::schedule::Candidates;
use metric::Figures;

const DAY: Duration = Duration::from_secs(86_400);

fn bits(text: &str) -> History {
    let mut words = vec![0_u64; text.len().div_ceil(64)];
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| *byte == b'1') {
        words[at / 64] |= 1 << (at % 64);
    }
    History::Bits(words)
}

pub(super) fn group_of(histories: &[String]) -> Group {
    let page = |text: &String| RecordedPage::unnamed(bits(text));
    Group {
        name: "test".to_owned(),
        start: Timestamp::from_seconds(1_000_000_000),
        step: DAY,
        cycles: histories.iter().map(|text| text.len() as u32 + 1).max().unwrap_or(0),
        pages: histories.iter().map(page).collect(),
    }
}

pub(super) fn terms_of(group: &Group, budget: f64, warm_up: u32, ties: Ties) -> ReplayTerms {
    let measuring = Measuring::default();
    ReplayTerms {
        budget,
        warm_up,
        step: group.step,
        every: 1,
        by_day: false,
        start: group.start,
        ties,
        measuring,
    }
}

pub(super) fn in_order(group: &Group) -> Vec<u32> {
    (0..group.pages.len() as u32).collect()
}

fn by<'a>(policy: Box<dyn Policy>, truth: &'a Truth, terms: ReplayTerms) -> Chooser<'a> {
    Chooser::Policy(ByPolicy::new(policy, truth, terms))
}

/// What a replay found, and the pages that it chose in each cycle.
fn replay_with_picks(
    truth: &Truth,
    policy: Box<dyn Policy>,
    terms: ReplayTerms,
) -> (Vec<CycleFigures>, Vec<Vec<u32>>) {
    let mut picks = Vec::new();
    let mut told = |_: u32, chosen: &[u32]| picks.push(chosen.to_vec());
    let cycles = replay_telling(truth, &mut by(policy, truth, terms), &terms, &mut told);
    (cycles, picks)
}

#[test]
fn change_rates_and_picks_are_the_golden_values() {
    let golden = golden(include_str!("../../tests/golden/changerate_sim.json"));
    for case in golden["cases"].as_array().expect("cases") {
        let histories: Vec<String> = case["changes"]
            .as_array()
            .expect("changes")
            .iter()
            .map(|text| text.as_str().expect("bits").to_owned())
            .collect();
        let group = group_of(&histories);
        let truth = Truth::of(&group, &in_order(&group));
        let share = number(&case["k"]) / histories.len() as f64;
        let terms = terms_of(&group, share, number(&case["W"]) as u32, Ties::LowerFirst);
        for (name, expected) in case["policies"].as_object().expect("policies") {
            let policy = find(&name.to_lowercase(), &PolicySettings::default()).expect("a policy");
            let (cycles, all_picks) = replay_with_picks(&truth, policy, terms);
            let rates: Vec<f64> =
                cycles.iter().map(|cycle| cycle.changed as f64 / cycle.visits as f64).collect();
            for (at, (rate, expected)) in rates.iter().zip(numbers(&expected["per_day"])).enumerate() {
                assert!((rate - expected).abs() < 1e-12, "{name}, day {at}: {rate} for {expected}");
            }
            for (picks, expected) in all_picks.iter().zip(expected["picks"].as_array().expect("picks")) {
                let picks: Vec<f64> = picks.iter().map(|page| f64::from(*page)).collect();
                assert_eq!(picks, numbers(expected), "{name}");
            }
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            assert!((mean - number(&expected["mean"])).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn figures_are_those_counted_by_hand() {
    // Two pages, one visit a day from day 2 on, by age: 0, 1, 0.
    let group = group_of(&["1010".to_owned(), "0110".to_owned()]);
    let truth = Truth::of(&group, &in_order(&group));
    let terms = terms_of(&group, 0.5, 1, Ties::OlderFirst);
    let policy = find("age", &PolicySettings::default()).expect("a policy");
    let cycles = replay(&truth, &mut by(policy, &truth, terms), &terms);
    // Day 2: page 1 changes, page 0 is visited: nothing found. Day 3: both change, page 1 is visited: found, page 0 is
    // stale. Day 4: page 0 is visited: found.
    let facts: Vec<_> =
        cycles.iter().map(|cycle| (cycle.cycle, cycle.changed, cycle.fresh, cycle.age)).collect();
    assert_eq!(facts, [(2, 0, 1, 0.0), (3, 1, 1, 0.0), (4, 1, 2, 0.0)]);
    let all = Figures::of(&cycles);
    assert_eq!((all.requests, all.change_rate, all.freshness), (3, 2.0 / 3.0, 4.0 / 6.0));
    assert_eq!((all.staleness, all.weighted_freshness), (2.0 / 6.0, 4.0 / 6.0));
    assert_eq!(all.weighted_staleness, 2.0 / 6.0, "all weigh the same");
    // With weights 5 and 1: page 1 is stale on day 2, page 0 on day 3.
    let mut weighted = Truth::of(&group, &in_order(&group));
    weighted.weights = vec![5.0, 1.0];
    let policy = find("age", &PolicySettings::default()).expect("a policy");
    let weighed = replay(&weighted, &mut by(policy, &weighted, terms), &terms);
    assert_eq!(weighed.iter().map(|cycle| cycle.stale_weight).collect::<Vec<_>>(), [1.0, 5.0, 0.0]);
    assert_eq!(Figures::of(&weighed[..2]).weighted_staleness, 6.0 / 12.0);
    assert_eq!(cycles.iter().map(|cycle| cycle.ndcg).collect::<Vec<_>>(), [0.0, 1.0, 1.0]);
}

#[test]
fn texts_that_come_back_are_fresh_again_and_fragments_say_how_far() {
    let text = |hashes: &[u64]| Arc::from(hashes);
    let history = History::Texts {
        from: vec![(0, 0), (3, 1), (5, 0), (6, 1)],
        texts: vec![text(&[1, 2, 3, 4]), text(&[3, 4, 5, 6])],
    };
    let page = |weight, history| RecordedPage { weight, ..RecordedPage::unnamed(history) };
    let pages = vec![page(1.0, history), page(3.0, bits("000000"))];
    let group = Group { pages, cycles: 8, ..group_of(&[]) };
    let truth = Truth::of(&group, &in_order(&group));
    assert!(truth.has_fragments());
    let terms = terms_of(&group, 0.5, 1, Ties::OlderFirst);
    // The heavier page is visited, whatever happens.
    let policy = find("expr:weight", &PolicySettings::default()).expect("a policy");
    let cycles = replay(&truth, &mut by(policy, &truth, terms), &terms);
    let apart: Vec<f64> = cycles.iter().map(|cycle| (cycle.staleness * 1e6).round() / 1e6).collect();
    let two_thirds = 0.666_667;
    assert_eq!(apart, [0.0, two_thirds, two_thirds, 0.0, two_thirds, two_thirds]);
    let ages: Vec<f64> = cycles.iter().map(|cycle| cycle.age).collect();
    assert_eq!(ages, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    assert!(cycles.iter().all(|cycle| cycle.weight == 4.0));
}

/// Chooses by the live scheduler, page by page. All pages are born at cycle 0.
struct Live<'a> {
    policy: Box<dyn Policy>,
    terms: ReplayTerms,
    truth: &'a Truth,
    states: Vec<PageState>,
    profiles: Vec<Profiles>,
}

impl<'a> Live<'a> {
    /// After the warm-up.
    fn new(policy: Box<dyn Policy>, truth: &'a Truth, terms: ReplayTerms) -> Self {
        let at = terms.start;
        let state = |page: usize| PageState {
            kin: truth.kin[page],
            life: Life::Alive,
            last_visit: Some(at),
            seen_at: Some(at),
            ..PageState::found(PageId(page as i64), HostId(0), 0, truth.weights[page], at)
        };
        let states = (0..truth.pages()).map(state).collect();
        let mut profiles = vec![Profiles::default(); truth.pages()];
        for (page, profiles) in (0..).zip(&mut profiles) {
            MeasuredVisit::of(truth, &terms, profiles, page, 0, 0);
            start_profile(truth, &terms, profiles, (page, 0), None);
        }
        let mut live = Self { policy, terms, truth, states, profiles };
        let all: Vec<u32> = (0..truth.pages() as u32).collect();
        (1..=terms.warm_up).for_each(|cycle| live.visit(&all, cycle));
        live
    }

    fn visit(&mut self, pages: &[u32], cycle: u32) {
        let at = self.terms.at(cycle);
        for page in pages {
            let state = &mut self.states[*page as usize];
            let interval = state.copy_age(at);
            let last = cycle - (interval.days() + 0.5) as u32;
            let changed = self.truth.text(*page, last) != self.truth.text(*page, cycle);
            let lesson = Lesson::of_bit(at, interval, changed);
            let mut lesson = Lesson { cycle: i64::from(cycle), weight: state.weight, ..lesson };
            let profiles = &mut self.profiles[*page as usize];
            if self.truth.has_fragments() {
                MeasuredVisit::of(self.truth, &self.terms, profiles, *page, last, cycle).tell(&mut lesson);
            }
            state.learnt.take(&lesson, state.host, state.depth, &*self.policy);
            let pinned = self.policy.pinned_base(&state.learnt);
            start_profile(self.truth, &self.terms, profiles, (*page, cycle), pinned);
            (state.last_visit, state.seen_at) = (Some(at), Some(at));
        }
        self.learn_from_all(pages, at, cycle > self.terms.warm_up);
    }

    fn learn_from_all(&mut self, pages: &[u32], at: Timestamp, was_planned: bool) {
        let mut pages = pages.to_vec();
        pages.sort_unstable();
        let visit = |page: &u32| {
            let PageState { host, kin, found_at, learnt, .. } = &self.states[*page as usize];
            let (host, kin, found_at) = (*host, *kin, *found_at);
            CollectedVisit { host, kin, found_at, at, learnt, was_planned }
        };
        let visits: Vec<CollectedVisit<'_>> = pages.iter().map(visit).collect();
        let warm_up = PlanMoment { at, ..PlanMoment::default() };
        let plan = self.policy.planned().filter(|_| was_planned).unwrap_or(warm_up);
        self.policy.learn_from_all(&plan, &visits);
    }

    fn choose(&mut self, cycle: u32, visits: usize) -> Vec<u32> {
        let now = self.terms.at(cycle);
        let states = &self.states;
        let mut each = |look: &mut dyn FnMut(&PageState, usize)| states.iter().for_each(|page| look(page, 1));
        self.policy.survey(&mut Survey {
            now,
            cycle: i64::from(cycle),
            cycle_length: Age::from_days(1.0),
            visits_a_day: Some(visits as f64),
            shares_a_day: false,
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut each,
        });
        let mut candidates = Candidates::default();
        for state in &self.states {
            candidates.push(state, crate::policy::score(&*self.policy, state, now));
        }
        let plan = candidates.choose(visits, None, |_| usize::MAX);
        plan.visits.iter().map(|visit| visit.page.0 as u32).collect()
    }
}

/// Gives a page words in place of bits: each change replaces one of six, or all of a page in three.
fn tell_texts(page: &mut RecordedPage, at: usize) {
    let History::Bits(words) = &page.history else { return };
    let (mut from, mut texts) = (vec![(0, 0)], vec![Arc::from([0_u64, 1, 2, 3, 4, 5])]);
    for cycle in (0..12_u32).filter(|cycle| words[0] >> cycle & 1 == 1) {
        let mut next: Vec<u64> = texts.last().map_or(Vec::new(), |text: &Arc<[u64]>| text.to_vec());
        let new = 10 * (u64::from(cycle) + 1);
        let replaced = if at.is_multiple_of(3) { next.len() } else { 1 };
        next.drain(..replaced);
        next.extend((0..replaced as u64).map(|word| new + word));
        from.push((cycle + 1, texts.len() as u32));
        texts.push(Arc::from(next));
    }
    page.history = History::Texts { from, texts };
    page.url = format!("https://example.org/{}/page{at}.html", at % 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The same page states give the same plan, live and here, for every policy that fits no prior on the way.
    #[test]
    fn the_live_scheduler_and_the_replay_choose_alike(
        histories in prop::collection::vec("[01]{12}", 3..14), budget in 0.05..0.6_f64, has_texts in any::<bool>()
    ) {
        let mut group = group_of(&histories);
        if has_texts {
            group.pages.iter_mut().enumerate().for_each(|(at, page)| tell_texts(page, at));
        }
        let truth = Truth::of(&group, &in_order(&group));
        let terms = terms_of(&group, budget, 2, Ties::OlderFirst);
        for row in ALL {
            for name in [row.name.to_owned(), format!("{}:mle", row.name)] {
                let policy = || find(&name, &PolicySettings::default());
                let (Ok(one), Ok(other)) = (policy(), policy()) else { continue };
                if one.prior_kind().is_some() {
                    continue;
                }
                let (figures, picks) = replay_with_picks(&truth, one, terms);
                let mut live = Live::new(other, &truth, terms);
                for (cycle, picked) in figures.iter().map(|figures| figures.cycle).zip(&picks) {
                    prop_assert_eq!(picked, &live.choose(cycle, picked.len()), "{}, cycle {}", name, cycle);
                    live.visit(picked, cycle);
                }
                for cycle in figures {
                    prop_assert!(cycle.fresh <= cycle.pages && cycle.changed <= cycle.visits);
                    prop_assert!((0.0..=1.0 + 1e-9).contains(&cycle.ndcg) && cycle.age >= 0.0);
                    prop_assert_eq!(cycle.visits, terms.visits(cycle.pages));
                }
            }
        }
    }
}

#[test]
fn between_cycles_copies_only_age() {
    // Two moments a cycle: page 0 changes at the third moment and at the seventh, page 1 never.
    let group = group_of(&["00100010".to_owned(), "00000000".to_owned()]);
    let truth = Truth::of(&group, &in_order(&group));
    let terms = ReplayTerms { every: 2, ..terms_of(&group, 0.5, 0, Ties::OlderFirst) };
    let policy = find("age", &PolicySettings::default()).expect("a policy");
    let all = replay(&truth, &mut by(policy, &truth, terms), &terms);
    let facts: Vec<_> =
        all.iter().map(|moment| (moment.cycle, moment.visits, moment.changed, moment.fresh)).collect();
    // Visits at 2 (page 0), 4 (page 1), 6 (page 0: found) and 8 (page 1).
    assert_eq!(
        facts,
        [(2, 1, 0, 2), (3, 0, 0, 1), (4, 1, 0, 1), (5, 0, 0, 1), (6, 1, 1, 2), (7, 0, 0, 1), (8, 1, 0, 1)]
    );
    let figures = Figures::of(&all);
    assert_eq!((figures.requests, figures.change_rate), (4, 0.25));
    assert_eq!(figures.freshness, 9.0 / 14.0, "the mean over time");
}

#[test]
fn sites_of_made_up_pages_are_seen_by_policies_that_look_at_addresses_and_by_no_others() {
    let with: super::synthetic::Spec = "pages=300,cycles=15,sites=12,median=0.3".parse().expect("a spec");
    let replays = [with, super::synthetic::Spec { sites: 0, ..with }].map(|spec| {
        let group = spec.dataset().groups.remove(0);
        let truth = Truth::of(&group, &in_order(&group));
        let terms = terms_of(&group, 0.05, 2, Ties::OlderFirst);
        let of = |row: &crate::policy::registry::PolicyRow| {
            let policy = find(row.name, &PolicySettings::default()).ok()?;
            let looks = policy.looks_at().kin;
            Some((row.name, looks, Figures::of(&replay(&truth, &mut by(policy, &truth, terms), &terms))))
        };
        ALL.iter().filter_map(of).collect::<Vec<_>>()
    });
    let [with, without] = replays;
    assert_eq!(with.len(), without.len());
    let mut differ = 0;
    for ((name, looks, with), (_, _, without)) in with.iter().zip(&without) {
        assert_eq!(with.requests, without.requests, "{name}");
        assert!(*looks || with == without, "{name} does not look at addresses");
        differ += usize::from(with != without);
    }
    assert!(differ > 0, "some policy sees the sites");
}
