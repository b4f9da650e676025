//! Cycles and their plans; batches that are taken whole or not at all.

use super::*;

pub fn what_is_planned_stays_planned_until_it_is_recorded(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let known = pages(&mut *begun.store);
    let order = [&known[2], &known[0], &known[1]];
    let visits = begun.store.plan(begun.cycle, &plan_of(&order)).expect("a plan");
    assert_eq!(urls(&visits), ["/b", "/", "/a"], "in the order of the plan");
    assert_eq!(
        (visits[0].page, visits[0].host, visits[0].depth, visits[0].hops),
        (known[2].id, known[2].host, 0, 0)
    );
    begun.record(vec![fetched(known[0].id, b"home", "home", NOW)]);
    drop(begun);

    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"], "best first, and the recorded one is not among them");
    drop(store);

    // Looking at it did not use it up.
    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"]);
    let failed = Outcome::Failed(Failure::NoAnswer);
    let visits =
        vec![visit(known[1].id, failed, NOW), visit(known[2].id, Outcome::Refused(Refused::Robots), NOW)];
    record(&mut *store, open.id, batch(visits)).expect("the batch is taken");
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert!(open.outstanding.is_empty(), "a visit that failed is a visit");
}

pub fn an_interrupted_cycle_goes_on(place: &dyn Place) {
    let mut store = place.open();
    store.add_seeds(&[seed("/")], NOW).expect("a seed is added");
    let first = store.open_cycle("breadth-first", Some(10), NOW).expect("it opens");
    assert!(!first.resumed && first.outstanding.is_empty() && first.requests == 0);
    let tally = Tally { requests: 4, bytes: 1000, deferred: 1 };
    record(&mut *store, first.id, Batch { tally, now: NOW, ..Batch::default() }).expect("the batch is taken");
    drop(store);

    let mut store = place.open();
    let again = store.open_cycle("another", Some(20), later(60)).expect("it opens");
    assert_eq!((again.id, again.resumed, again.requests), (first.id, true, 4));
    let cycles = store.cycles(10).expect("cycles");
    assert_eq!(cycles.len(), 1);
    assert_eq!(
        (cycles[0].policy.as_str(), cycles[0].budget),
        ("another", Some(20)),
        "this run's wishes hold"
    );
    assert_eq!((cycles[0].started_at, cycles[0].ended_at), (NOW, None));
    store.close_cycle(again.id, later(90), Some(0.25)).expect("it closes");
    drop(store);

    let mut store = place.open();
    let next = store.open_cycle("breadth-first", None, later(120)).expect("it opens");
    assert!(!next.resumed && next.id > first.id && next.requests == 0);
    let cycles = store.cycles(10).expect("cycles");
    assert_eq!(
        cycles.iter().map(|cycle| cycle.id).collect::<Vec<_>>(),
        [next.id.0, first.id.0],
        "newest first"
    );
    assert_eq!((cycles[1].ended_at, cycles[0].ended_at), (Some(later(90)), None));
    assert_eq!(store.cycles(1).expect("one cycle").len(), 1);
}

pub fn a_closed_cycle_frees_what_it_planned(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    let known = pages(&mut *begun.store);
    begun.store.plan(begun.cycle, &plan_of(&[&known[0], &known[1]])).expect("a plan");
    begun.next_cycle();
    drop(begun);
    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
    let visits = store.plan(open.id, &plan_of(&[&known[1]])).expect("it can be planned again");
    assert_eq!(urls(&visits), ["/a"]);
}

pub fn a_plan_that_makes_no_sense_changes_nothing(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let known = pages(&mut *begun.store);
    let mut plan = plan_of(&[&known[0]]);
    plan.visits.push(Planned {
        page: PageId(999),
        host: known[0].host,
        score: Score::new(1.0),
        is_new: false,
    });
    assert!(begun.store.plan(begun.cycle, &plan).is_err());
    drop(begun);
    let open = place.open().open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
}

/// A batch with something of everything, and this visit at its end.
fn full_batch(begun: &mut Begun, last: VisitRecord) -> Batch {
    let (root, from) = (begun.id("/"), begun.seed);
    let report = HostReport {
        host: Host::parse("https://third.example").expect("a host"),
        delay: Duration::from_secs(1),
        wait: None,
        failures: 0,
        rests: 2,
        robots: None,
    };
    let links = vec![found("https://second.example/", from, Some(root))];
    Batch {
        visits: vec![VisitRecord { found: links, ..fetched(root, b"body", "text", later(1)) }, last],
        found: vec![found("/from-a-sitemap", from, None)],
        sitemap_dates: vec![(url("/").fingerprint(), 1_700_000_000)],
        adopted_seeds: Vec::new(),
        hosts: vec![report],
        sitemaps_read: vec![(url("/").host(), later(1))],
        refusals: vec![(Refusal::OutOfScope, 3)],
        tally: Tally { requests: 5, bytes: 500, deferred: 1 },
        now: later(1),
        change: ChangeSettings::default(),
    }
}

pub fn a_batch_is_taken_whole_or_not_at_all(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let known = pages(&mut *begun.store);
    begun.store.plan(begun.cycle, &plan_of(&[&known[0]])).expect("a plan");
    let before = everything(&mut *begun.store);
    let bad = full_batch(&mut begun, visit(PageId(999), Outcome::Fetched, NOW));
    assert!(begun.take(bad).is_err(), "a visit of a page that is not there");
    assert_eq!(everything(&mut *begun.store), before);

    // The store still works, and what was undone has left no trace in its memory either.
    let root = begun.id("/");
    let good = full_batch(&mut begun, visit(root, Outcome::NotModified, later(2)));
    let recorded = begun.take(good).expect("the batch is taken");
    assert_eq!(recorded.new.len(), 2);
    assert_eq!(recorded.visits.len(), 2);
    drop(begun);
    let mut store = place.open();
    assert_ne!(everything(&mut *store), before);
    assert_eq!(store.summary().expect("a summary").observations, 2);
    let open = store.open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty());
    for origin in ["https://example.org", "https://second.example", "https://third.example"] {
        host(&mut *store, origin);
    }
    assert_eq!(
        page(&mut *store, "https://second.example/").host,
        host(&mut *store, "https://second.example").id
    );
}

pub fn observations_are_only_added(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let outcomes = [Outcome::Fetched, Outcome::Missing, Outcome::ServerError, Outcome::Fetched];
    for (count, outcome) in outcomes.into_iter().enumerate() {
        begun.record(vec![visit(root, outcome, later(count as u64))]);
        assert_eq!(begun.store.summary().expect("a summary").observations, count as u64 + 1);
        begun.next_cycle();
    }
    let row = begun.row("/");
    assert_eq!((row.visits, row.outcome.as_deref()), (4, Some("fetched")), "a visit is one attempt");
    assert_eq!(row.last_visit_at, Some(later(3)));
}
