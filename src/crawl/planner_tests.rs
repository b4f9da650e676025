//! Tests of the planner: no store, no network, no clock.

use proptest::prelude::*;

use super::*;
use crate::observation::Life;
use crate::page::PageId;
use crate::time::Timestamp;

/// A host that is asked once a second and has nothing in its queue.
const HOST: HostLoad = HostLoad { delay: Duration::from_secs(1), queued: 0, left: None, is_resting: false };

fn state(page: i64, host: i64, is_new: bool) -> PageState {
    let mut state = PageState::found(PageId(page), HostId(host), 0, 1.0, Timestamp::default());
    state.life = if is_new { Life::New } else { Life::Alive };
    state.last_visit = (!is_new).then(|| Timestamp::from_seconds(1));
    state
}

/// Pages as (host, score, never visited); their ids count from 0.
fn planner(pages: &[(i64, i64, bool)], discover: Option<f64>, until: Option<Instant>) -> Planner {
    let mut candidates = Candidates::default();
    for (page, (host, score, is_new)) in (0..).zip(pages) {
        candidates.push(&state(page, *host, *is_new), Score::new(*score as f64));
    }
    Planner::new(candidates, discover, until)
}

fn pages(plan: Option<Plan>) -> Vec<i64> {
    plan.map(|plan| plan.visits.iter().map(|visit| visit.page.0).collect()).unwrap_or_default()
}

#[test]
fn a_wave_takes_what_each_host_can_be_asked_for_soon() {
    let now = Instant::now();
    // 30 pages of a host with a pause of 1 s, 5 of one with a pause of a minute.
    let all: Vec<_> = (0..35).map(|page| (i64::from(page >= 30), 100 - page, true)).collect();
    let mut planner = planner(&all, None, None);
    let load = |host: HostId| {
        let delay = Duration::from_secs(if host == HostId(0) { 1 } else { 60 });
        Some(HostLoad { delay, ..HOST })
    };
    let wave = pages(planner.next_wave(None, now, load));
    assert_eq!(wave, (0..10).chain(30..32).collect::<Vec<_>>());
    assert_eq!(planner.waiting(), 23);
    assert!(!planner.wants_wave(now), "until a host has room");
}

#[test]
fn the_next_wave_comes_when_a_queue_is_half_empty() {
    let now = Instant::now();
    let mut planner = planner(&[(0, 1, true); 30], None, None);
    let queued = |queued| HostLoad { queued, ..HOST };
    assert_eq!(pages(planner.next_wave(None, now, |_| Some(HOST))).len(), 10);
    planner.host_freed(HostId(0), queued(5), now);
    assert!(!planner.wants_wave(now));
    planner.host_freed(HostId(0), queued(4), now);
    assert!(planner.wants_wave(now));
    assert_eq!(pages(planner.next_wave(None, now, |_| Some(queued(4)))).len(), 6);
    // A host without pages asks for nothing.
    planner.host_freed(HostId(7), HOST, now);
    assert!(!planner.wants_wave(now));
}

#[test]
fn a_host_gets_no_more_than_its_budget_and_the_cycles_time_allow() {
    let now = Instant::now();
    let minute = Duration::from_secs(60);
    assert_eq!(HostLoad { left: Some(7), queued: 3, ..HOST }.cap(None), 4);
    assert_eq!(HostLoad { delay: Duration::from_secs(20), ..HOST }.cap(Some(minute)), 3);
    assert_eq!(HostLoad { delay: Duration::from_secs(25), ..HOST }.cap(Some(minute)), 3);
    assert_eq!(HostLoad { delay: Duration::ZERO, ..HOST }.cap(Some(minute)), usize::MAX);
    assert_eq!(HostLoad { is_resting: true, ..HOST }.cap(None), 0);

    let mut planner = planner(&[(0, 1, true); 9], None, Some(now + minute));
    let slow = HostLoad { delay: Duration::from_secs(20), ..HOST };
    assert_eq!(pages(planner.next_wave(None, now, |_| Some(slow))).len(), 2, "the least of a wave");
    // 30 s later there is time for two more, and both are in the queue.
    let later = now + minute / 2;
    assert!(planner.next_wave(None, later, |_| Some(HostLoad { queued: 2, ..slow })).is_none());
    assert!(planner.is_over(now + minute) && !planner.wants_wave(now + minute));
}

#[test]
fn with_a_budget_a_slow_hosts_good_page_is_kept_for_later() {
    let now = Instant::now();
    // Host 1 has the best three pages, and room for two now.
    let mut planner =
        planner(&[(1, 9, true), (1, 8, true), (1, 7, true), (2, 1, true), (2, 2, true)], None, None);
    let slow = |host: HostId| {
        let delay = Duration::from_secs(if host == HostId(1) { 30 } else { 1 });
        Some(HostLoad { delay, ..HOST })
    };
    assert!(planner.choose(4, now, slow));
    assert_eq!(pages(planner.next_wave(Some(4), now, slow)), [0, 1, 4]);
    // The last of the budget waits for the slow host, though the other one could use it at once.
    assert!(!planner.choose(1, now, slow), "the choice stands");
    assert_eq!(pages(planner.next_wave(Some(1), now, slow)), [2]);
    assert_eq!(planner.waiting(), 1);
}

#[test]
fn new_pages_are_chosen_before_worse_ones_that_were_chosen() {
    let now = Instant::now();
    let mut planner = planner(&[(1, 3, false), (1, 2, false), (2, 1, false)], None, None);
    let one = |_| Some(HostLoad { queued: 9, ..HOST });
    assert!(planner.choose(2, now, one));
    assert_eq!(pages(planner.next_wave(Some(2), now, one)), [0]);
    // Page 1 is chosen. A better page comes: it takes its place.
    planner.add(&state(9, 2, true), Score::new(5.0));
    assert!(planner.wants_wave(now));
    assert!(planner.choose(1, now, one));
    assert_eq!(pages(planner.next_wave(Some(1), now, one)), [9]);
    assert_eq!(planner.lowest(), Some(3.0), "of pages that are visited again");
}

#[test]
fn a_choice_that_took_long_is_not_repeated_at_once() {
    let now = Instant::now();
    let mut planner = planner(&[(1, 3, true), (1, 2, true)], None, None);
    assert!(planner.choose(1, now, |_| Some(HOST)));
    planner.choice_took(Duration::from_millis(100));
    planner.add(&state(9, 2, true), Score::new(5.0));
    assert!(!planner.choose(1, now + Duration::from_secs(4), |_| Some(HOST)));
    assert!(planner.choose(1, now + Duration::from_secs(5), |_| Some(HOST)));
}

#[test]
fn budget_that_comes_back_goes_to_another_host() {
    let now = Instant::now();
    let mut planner = planner(&[(1, 9, true), (1, 8, true), (2, 1, true), (2, 2, true)], None, None);
    assert!(planner.choose(2, now, |_| Some(HOST)));
    planner.choice_took(Duration::from_secs(9));
    assert_eq!(pages(planner.next_wave(Some(2), now, |_| Some(HOST))), [0, 1]);
    // Host 1 rests: both visits are put off, and nothing else is chosen.
    let resting = |host: HostId| Some(HostLoad { is_resting: host == HostId(1), ..HOST });
    planner.visit_put_off();
    assert!(planner.wants_wave(now));
    assert!(!planner.choose(2, now, resting), "too early");
    assert!(planner.next_wave(Some(2), now, resting).is_none());
    planner.refill();
    assert!(planner.choose(2, now, resting), "there is nothing else to do");
    assert_eq!(pages(planner.next_wave(Some(2), now, resting)), [3, 2]);
}

#[test]
fn a_share_of_all_waves_goes_to_new_pages() {
    let now = Instant::now();
    let all: Vec<_> = (0..80).map(|page| (page % 4, 100 - page, page >= 40)).collect();
    let mut planner = planner(&all, Some(0.25), None);
    let (mut left, mut new) = (40, 0);
    while left > 0 {
        planner.refill();
        planner.choose(left, now, |_| Some(HOST));
        let wave = planner.next_wave(Some(left.min(7)), now, |_| Some(HOST)).expect("a wave");
        left -= wave.visits.len();
        new += wave.visits.iter().filter(|visit| visit.is_new).count();
    }
    assert_eq!(new, 10);
}

fn known(last_cycle: Option<i64>, due_at: i64, score_is_due: bool) -> KnownPage {
    let mut state = state(1, 1, false);
    state.last_visit = Some(Timestamp::from_seconds(if score_is_due { 0 } else { 999 }));
    KnownPage {
        id: PageId(1),
        fingerprint: crate::page::Normaliser::default()
            .parse("https://example.org/")
            .expect("a page")
            .fingerprint(),
        url: "https://example.org/".to_owned(),
        host: HostId(1),
        state,
        due_at: Timestamp::from_seconds(due_at),
        last_cycle: last_cycle.map(CycleId),
        alias_of: None,
        claim: None,
    }
}

#[test]
fn a_cycle_goes_on_where_it_was_interrupted() {
    let policy = crate::policy::registry::find("age", &Default::default()).expect("a policy");
    let terms = Terms {
        cycle: 5,
        now: Timestamp::from_seconds(1000),
        budget: None,
        threshold: Some(500.0),
        shares_a_day: false,
        length: crate::time::Age::from_days(1.0),
    };
    let of = |page: &KnownPage, is_wanted, is_planned| {
        Eligibility::of(page, CycleId(5), &terms, &*policy, is_wanted, is_planned)
    };
    assert_eq!(of(&known(Some(5), 0, true), true, true), Eligibility::Visited);
    assert_eq!(of(&known(Some(4), 0, true), true, false), Eligibility::Candidate);
    assert_eq!(of(&known(Some(4), 0, true), false, false), Eligibility::Unwanted);
    assert_eq!(of(&known(Some(4), 2000, true), true, false), Eligibility::Waits);
    assert_eq!(of(&known(Some(4), 0, false), true, false), Eligibility::Waits, "its score is low");
    assert_eq!(
        of(&known(Some(4), 0, false), true, true),
        Eligibility::Planned,
        "it was planned all the same"
    );
}

proptest! {
    #[test]
    fn waves_never_exceed_the_budget_or_a_hosts_room(
        all in prop::collection::vec((0i64..4, -20i64..20, any::<bool>()), 0..60),
        budget in 0usize..40,
        queues in prop::collection::vec(0usize..12, 4),
    ) {
        let now = Instant::now();
        let mut planner = planner(&all, None, None);
        let load = |host: HostId| Some(HostLoad { queued: queues[host.0 as usize], ..HOST });
        planner.choose(budget, now, load);
        let wave = planner.next_wave(Some(budget), now, load).unwrap_or_default();
        prop_assert!(wave.visits.len() <= budget);
        prop_assert_eq!(wave.visits.len() + planner.waiting(), all.len());
        for (host, queued) in queues.iter().enumerate() {
            let taken = wave.visits.iter().filter(|visit| visit.host.0 == host as i64).count();
            prop_assert!(taken + queued <= 10 || taken == 0);
        }
    }
}
