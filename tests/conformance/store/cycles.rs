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
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"], "best first, and the recorded one is not among them");
    drop(store);

    // Looking at it did not use it up.
    let mut store = place.open();
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"]);
    let failed = Outcome::Failed(Failure::NoAnswer);
    let visits =
        vec![visit(known[1].id, failed, NOW), visit(known[2].id, Outcome::Refused(Refused::Robots), NOW)];
    record(&mut *store, open.id, batch(visits)).expect("the batch is taken");
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, later(9)).expect("it opens");
    assert!(open.outstanding.is_empty(), "a visit that failed is a visit");
}

pub fn an_interrupted_cycle_goes_on(place: &dyn Place) {
    let mut store = place.open();
    store.add_seeds(&[seed("/")], NOW).expect("a seed is added");
    let first = store.open_cycle(CycleCommand::Crawl, "breadth-first", Some(10), NOW).expect("it opens");
    assert!(!first.resumed && first.outstanding.is_empty() && first.requests == 0);
    let tally = Tally { requests: 4, bytes: 1000, deferred: 1 };
    record(&mut *store, first.id, Batch { tally, now: NOW, ..Batch::default() }).expect("the batch is taken");
    drop(store);

    let mut store = place.open();
    let again = store.open_cycle(CycleCommand::Crawl, "another", Some(20), later(60)).expect("it opens");
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
    let next = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, later(120)).expect("it opens");
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
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
    let visits = store.plan(open.id, &plan_of(&[&known[1]])).expect("it can be planned again");
    assert_eq!(urls(&visits), ["/a"]);
}

pub fn a_cycle_of_named_pages_stands_beside_the_others(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let known = pages(&mut *begun.store);
    begun.store.plan(begun.cycle, &plan_of(&[&known[0], &known[1]])).expect("a plan");
    let only = begun.store.open_cycle(CycleCommand::Only, "age", None, later(9)).expect("it opens");
    assert!(!only.resumed && only.id != begun.cycle && only.outstanding.is_empty());
    begun.store.plan(only.id, &plan_of(&[&known[2]])).expect("a plan");
    begun.store.close_cycle(only.id, later(10), None).expect("it closes");
    let interrupted = begun.store.open_cycle(CycleCommand::Crawl, "age", None, later(11)).expect("it opens");
    assert_eq!((interrupted.id, interrupted.resumed), (begun.cycle, true), "the other one goes on");
    assert_eq!(urls(&interrupted.outstanding), ["/", "/a"]);
    // One that was killed is not resumed, and its plan is gone.
    let killed = begun.store.open_cycle(CycleCommand::Only, "age", None, later(12)).expect("it opens");
    begun.store.plan(killed.id, &plan_of(&[&known[2]])).expect("a plan");
    let going = begun.store.open_cycle(CycleCommand::Monitor, "age", None, later(13)).expect("it opens");
    assert_eq!((going.id, going.outstanding.len()), (begun.cycle, 2));
    let row = begun.store.cycles(1).expect("cycles").remove(0);
    assert_eq!((row.id, row.ended_at), (killed.id.0, Some(later(13))));
}

pub fn a_cycle_knows_the_command_that_began_it(place: &dyn Place) {
    let mut store = place.open();
    for command in CycleCommand::ALL {
        let open = store.open_cycle(command, "age", None, NOW).expect("it opens");
        store.close_cycle(open.id, later(1), None).expect("it closes");
    }
    let commands: Vec<_> = store.cycles(9).expect("cycles").iter().map(|cycle| cycle.command).collect();
    assert_eq!(commands, [Some(CycleCommand::Only), Some(CycleCommand::Monitor), Some(CycleCommand::Crawl)]);
    // A resumed cycle stays the one of the command that began it.
    let open = store.open_cycle(CycleCommand::Crawl, "age", None, later(2)).expect("it opens");
    let again = store.open_cycle(CycleCommand::Monitor, "age", None, later(3)).expect("it opens");
    assert_eq!(open.id, again.id);
    assert_eq!(store.cycles(1).expect("a cycle")[0].command, Some(CycleCommand::Crawl));
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
    let open = place.open().open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
}

/// A batch with something of everything, and this visit at its end.
fn full_batch(begun: &mut Begun, last: VisitRecord) -> Batch {
    let (root, from) = (begun.id("/"), begun.seed);
    let report = HostReport {
        host: Host::parse("https://third.example").expect("a host"),
        delay: Duration::from_secs(1),
        wait: None,
        reason: None,
        failures: 0,
        rests: 2,
        robots: None,
        robots_fault: None,
    };
    let links = vec![found("https://second.example/", from, Some(root))];
    Batch {
        store_limits: Default::default(),
        visits: vec![VisitRecord { found: links, ..fetched(root, b"body", "text", later(1)) }, last],
        found: vec![found("/from-a-sitemap", from, None)],
        told: vec![told_by(SignalKind::Sitemap, "/", Timestamp::from_seconds(1_700_000_000), later(1))],
        lists: Vec::new(),
        pings_taken: Vec::new(),
        adopted_seeds: Vec::new(),
        let_go: Vec::new(),
        reread: Vec::new(),
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
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).expect("it opens");
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

/// What happens to some pages in one cycle: they are visited more than once, change and change back, fail, and lead to each
/// other and to pages that are found on the way.
fn busy_visits(ids: &dyn Fn(&str) -> PageId, seed: SeedId) -> Vec<VisitRecord> {
    let [a, b, c, d] = ["/a", "/b", "/c", "/d"].map(ids);
    let links = |on: PageId, paths: &[&str]| -> Vec<NewPage> {
        paths.iter().map(|path| found(path, seed, Some(on))).collect()
    };
    let dated =
        |visit: VisitRecord, date: &str| VisitRecord { last_modified: Some(date.to_owned()), ..visit };
    let same_as =
        |visit: VisitRecord, path: &str| VisitRecord { alias: Some(url(path).fingerprint()), ..visit };
    let (one, two) = (words(0, 60), words(20, 60));
    vec![
        VisitRecord { found: links(a, &["/new", "/b"]), ..read(a, &one, later(1)) },
        dated(read(b, &one, later(2)), "Sun, 06 Nov 1994 08:49:37 GMT"),
        read(a, &two, later(3)),
        visit(b, Outcome::NotModified, later(4)),
        // Back to what it was two visits ago.
        VisitRecord { found: links(a, &["/new", "https://second.example/"]), ..read(a, &one, later(5)) },
        // To a page that is found by the redirect itself, and on to one that was found before.
        VisitRecord { found: links(c, &["/found"]), ..redirected(c, "/found", true, later(6)) },
        same_as(read(d, &one, later(7)), "/c"),
        redirected(d, "/new", true, later(8)),
        visit(a, Outcome::Missing, later(9)),
        visit(a, Outcome::Missing, later(10)),
        same_as(read(b, &two, later(11)), "/a"),
        redirected(b, "/d", false, later(12)),
        redirected(d, "/b", true, later(13)),
        visit(c, Outcome::Failed(Failure::Dns), later(14)),
        visit(c, Outcome::Failed(Failure::Dns), later(14)),
        VisitRecord { entry_dates: Some(vec![1, 2]), ..read(a, &words(40, 60), later(15)) },
        // The clock was set back.
        read(a, &two, later(2)),
        read(a, &one, later(16)),
    ]
}

/// All that is seen of a store, its visits and contents included.
fn all_of(store: &mut dyn Store) -> String {
    let mut visits = Vec::new();
    store.each_visit(&mut |visit| visits.push(visit)).expect("visits are read");
    let events = store.events(&EventFilter::default(), usize::MAX).expect("events are read");
    format!("{}\n{visits:#?}\n{events:#?}", derived(store))
}

pub fn visits_of_a_batch_are_judged_one_after_the_other(place: &dyn Place) {
    let other = place.another();
    let seeds = ["/a", "/b", "/c", "/d"];
    let (mut together, mut apart) = (begun_with_found(place, &seeds), begun_with_found(&*other, &seeds));
    // A first cycle, so that there is something to compare with and to confirm.
    for begun in [&mut together, &mut apart] {
        let [a, b, c, d] = ["/a", "/b", "/c", "/d"].map(|path| begun.id(path));
        begun.record(vec![
            read(a, &words(0, 60), NOW),
            VisitRecord { alias: Some(url("/a").fingerprint()), ..read(b, &words(0, 60), NOW) },
            redirected(c, "/b", true, NOW),
            redirected(d, "/a", true, NOW),
        ]);
        begun.next_cycle();
    }
    let known = pages(&mut *together.store);
    let id = |path: &str| {
        let wanted = url(path).fingerprint();
        known.iter().find(|page| page.fingerprint == wanted).expect("a page").id
    };
    let whole = together.record(busy_visits(&id, together.seed));
    let mut single = Recorded::default();
    for visit in busy_visits(&id, apart.seed) {
        let recorded = apart.record(vec![visit]);
        single.new.extend(recorded.new);
        single.visits.extend(recorded.visits);
    }
    assert_eq!(whole.visits, single.visits);
    assert_eq!(format!("{:#?}", whole.new), format!("{:#?}", single.new));
    assert_eq!(all_of(&mut *together.store), all_of(&mut *apart.store));
    let rebuilt = together.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.sketches_differ, rebuilt.aliases_differ), (0, 0, 0));
}

pub fn pages_of_one_batch_may_lead_to_each_other(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b"]);
    let (a, b, seed) = (begun.id("/a"), begun.id("/b"), begun.seed);
    let target = vec![found("/c", seed, Some(a))];
    let recorded = begun.record(vec![
        VisitRecord { found: target, ..redirected(a, "/c", true, later(1)) },
        redirected(b, "/c", true, later(2)),
    ]);
    let c = recorded.new[0].id;
    assert_eq!(recorded.new.len(), 1);
    assert_eq!(page(&mut *begun.store, "/a").alias_of, None, "one visit is not believed");
    begun.next_cycle();
    begun.record(vec![
        read(c, "here", later(3)),
        redirected(a, "/c", true, later(3)),
        redirected(b, "/c", true, later(3)),
    ]);
    assert_eq!(page(&mut *begun.store, "/a").alias_of, Some(c));
    assert_eq!(page(&mut *begun.store, "/b").alias_of, Some(c));
    let recorded =
        begun.record(vec![redirected(c, "/b", false, later(3)), redirected(b, "/c", false, later(4))]);
    let outcomes: Vec<&str> = recorded.visits.iter().map(|visit| visit.outcome.code()).collect();
    assert_eq!(outcomes, ["redirect-loop", "redirected"], "/b led to /c already");
}

pub fn pages_are_read_in_order_all_of_them_or_one_in_so_many(place: &dyn Place) {
    let mut store = place.open();
    // Few, and as many as are read ahead.
    for count in [7, 21_500] {
        let seeds: Vec<Seed> = (0..count).map(|page| seed(&format!("/{page}/x"))).collect();
        store.add_seeds(&seeds, NOW).expect("seeds are added");
        let all = pages(&mut *store);
        assert_eq!(all.len(), count);
        assert!(all.is_sorted_by(|one, next| one.id < next.id));
        assert!(all.iter().all(|page| page.state.page == page.id && page.state.kin == Kin::of(&page.url)));
        let mut some = Vec::new();
        store.each_page_in(5, &mut |page| some.push((page.id, page.url.clone()))).expect("pages are read");
        let expected = all.iter().filter(|page| page.id.0 % 5 == 0).map(|page| (page.id, page.url.clone()));
        assert!(some.into_iter().eq(expected));
        let mut addresses = Vec::new();
        store.each_address(&mut |page| addresses.push(page.clone())).expect("pages are read");
        let expected = all.into_iter().map(|page| PageAddress {
            id: page.id,
            fingerprint: page.fingerprint,
            url: page.url,
            depth: page.state.depth,
        });
        assert!(addresses.into_iter().eq(expected));
    }
}

pub fn a_list_may_be_longer_than_what_is_read_at_once(place: &dyn Place) {
    let mut store = place.open();
    let seeds: Vec<Seed> = (0..2500).map(|page| seed(&format!("/{page}"))).collect();
    store.add_seeds(&seeds, NOW).expect("seeds are added");
    assert_eq!(pages(&mut *store).len(), 2500);
    let of = |limit| PageFilter { limit, ..PageFilter::default() };
    for (limit, length) in [(None, 2500), (Some(0), 0), (Some(1), 1), (Some(1000), 1000), (Some(2001), 2001)]
    {
        let rows = listed(&mut *store, &of(limit));
        assert_eq!(rows.len(), length);
        assert!(rows.is_sorted_by_key(|row| row.id));
    }
    let some = PageFilter { url: Some("/24".to_owned()), limit: Some(50), ..PageFilter::default() };
    assert_eq!(listed(&mut *store, &some).len(), 50);
}
