//! Seeds and pages: rows that are made once and stay.

use super::*;

pub fn a_new_store_is_empty(place: &dyn Place) {
    let mut store = place.open();
    assert!(store.seeds().expect("seeds").is_empty());
    assert!(store.hosts().expect("hosts").is_empty());
    assert!(store.cycles(10).expect("cycles").is_empty());
    assert!(pages(&mut *store).is_empty());
    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.visited, summary.observations, summary.seeds), (0, 0, 0, 0));
    assert!(store.content(PageId(1)).expect("no content").is_none());
}

pub fn seeds_are_pages_of_depth_zero(place: &dyn Place) {
    let mut store = place.open();
    let wishes = Seed { weight: 2.5, max_depth: Some(3), scope: Some(ScopeKind::Prefix), ..seed("/docs/") };
    store.add_seeds(&[wishes, seed("https://other.example/")], NOW).expect("seeds are added");
    drop(store);

    let mut store = place.open();
    let seeds = store.seeds().expect("seeds");
    assert_eq!(seeds.len(), 2);
    assert_eq!(seeds[0].url, "https://example.org/docs/");
    assert_eq!((seeds[0].max_depth, seeds[0].scope), (Some(3), Some(ScopeKind::Prefix)));
    assert_eq!((seeds[1].max_depth, seeds[1].scope), (None, None));
    let docs = page(&mut *store, "/docs/");
    assert_eq!((docs.state.depth, docs.state.weight), (0, 2.5));
    assert_eq!((docs.state.found_at, docs.state.last_visit, docs.last_cycle), (NOW, None, None));
    assert!(docs.alias_of.is_none() && docs.due_at <= NOW);
    assert_eq!(host(&mut *store, "https://example.org").pages, 1);
    assert_eq!(host(&mut *store, "https://other.example").pages, 1);
}

pub fn a_seed_named_again_has_its_new_wishes(place: &dyn Place) {
    let mut store = place.open();
    let first = Seed { weight: 2.0, max_depth: Some(1), scope: Some(ScopeKind::Any), ..seed("/?b=2&a=1") };
    store.add_seeds(&[first], NOW).expect("a seed is added");
    let before = (store.seeds().expect("seeds")[0].id, page(&mut *store, "/?a=1&b=2").id);
    // The same page under another spelling.
    store.add_seeds(&[Seed { weight: 3.0, ..seed("/?a=1&b=2") }], later(60)).expect("it is added again");
    let seeds = store.seeds().expect("seeds");
    assert_eq!(seeds.len(), 1);
    assert_eq!((seeds[0].scope, seeds[0].max_depth), (None, None));
    let again = page(&mut *store, "/?a=1&b=2");
    assert_eq!((seeds[0].id, again.id), before);
    assert_eq!((again.state.weight, again.state.found_at), (3.0, NOW));
    assert_eq!(again.url, "https://example.org/?b=2&a=1", "as it was found first");
}

pub fn a_page_that_becomes_a_seed_is_one_row_still(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let links = vec![found("/docs", from, Some(root))];
    begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    assert_eq!(page(&mut *begun.store, "/docs").state.depth, 1);
    let before = begun.id("/docs");
    begun.store.add_seeds(&[Seed { weight: 4.0, ..seed("/docs") }], later(60)).expect("it is added");
    let after = page(&mut *begun.store, "/docs");
    assert_eq!((after.id, after.state.depth, after.state.weight), (before, 0, 4.0));
    assert_eq!(pages(&mut *begun.store).len(), 2);
}

pub fn a_seed_that_moved_hands_on_its_wishes_once(place: &dyn Place) {
    let mut store = place.open();
    let wishes = Seed { max_depth: Some(2), scope: Some(ScopeKind::Domain), ..seed("/") };
    store.add_seeds(&[wishes], NOW).expect("a seed is added");
    let from = store.seeds().expect("seeds")[0].id;
    let moved = url("https://www.example.org/");
    for _ in 0..2 {
        let adopted_seeds = vec![(from, moved.clone())];
        store.commit(&Commit { now: NOW, adopted_seeds, ..Commit::default() }).expect("it is adopted");
    }
    drop(store);
    let seeds = place.open().seeds().expect("seeds");
    assert_eq!(seeds.len(), 2);
    assert_eq!(seeds[1].url, "https://www.example.org/");
    assert_eq!((seeds[1].max_depth, seeds[1].scope), (Some(2), Some(ScopeKind::Domain)));
    assert_eq!((seeds[1].adopted_by, seeds[1].let_go_at), (Some(from), None));

    // It answers for itself again, and moves once more.
    let mut store = place.open();
    let commit = |adopted_seeds, let_go| Commit { now: NOW, adopted_seeds, let_go, ..Commit::default() };
    store.commit(&commit(Vec::new(), vec![from])).expect("it is let go");
    let let_go = |store: &mut dyn Store| {
        store.seeds().expect("seeds").iter().map(|seed| seed.let_go_at).collect::<Vec<_>>()
    };
    assert_eq!(let_go(&mut *store), [None, Some(NOW)]);
    store.commit(&commit(vec![(from, moved.clone())], Vec::new())).expect("it is adopted");
    assert_eq!(let_go(&mut *store), [None, None]);
    store.commit(&commit(Vec::new(), vec![from])).expect("it is let go");
    store.add_seeds(&[seed("https://www.example.org/")], NOW).expect("a seed is added");
    let named = &store.seeds().expect("seeds")[1];
    assert_eq!((named.adopted, named.adopted_by, named.let_go_at), (false, None, None));
}

pub fn a_page_is_one_row_for_ever(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let links = vec![found("/a?x=1&y=2", from, Some(root)), found("/a?y=2&x=1", from, Some(root))];
    let recorded = begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    assert_eq!(recorded.new.len(), 1, "two spellings in one batch");
    let first = recorded.new[0].id;

    begun.next_cycle();
    let links = vec![found("/a?y=2&x=1", from, Some(root)), found("/", from, Some(root))];
    let recorded =
        begun.record(vec![VisitRecord { found: links, ..fetched(root, b"new", "new", later(60)) }]);
    assert!(recorded.new.is_empty(), "{:?}", recorded.new);
    let elsewhere =
        Batch { found: vec![found("/a?x=1&y=2", from, None)], now: later(60), ..Batch::default() };
    assert!(begun.take(elsewhere).expect("the batch is taken").new.is_empty());
    let known = page(&mut *begun.store, "/a?x=1&y=2");
    assert_eq!((known.id, known.url.as_str()), (first, "https://example.org/a?x=1&y=2"));
    assert_eq!(known.state.found_at, NOW);
    assert_eq!(pages(&mut *begun.store).len(), 2);
}

pub fn pages_come_back_as_they_were_found(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let deep = NewPage {
        depth: 7,
        lastmod: Some(1_700_000_000),
        ..found("https://b.example:8443/x?é#f", from, None)
    };
    let batch = Batch { found: vec![deep, found("/a", from, None)], now: later(5), ..Batch::default() };
    let recorded = begun.take(batch).expect("the batch is taken");
    let origins: Vec<&str> = recorded.new.iter().map(|new| new.url.origin()).collect();
    assert_eq!(origins, ["https://b.example:8443", "https://example.org"]);
    assert_eq!(recorded.new[0].state.depth, 7);
    drop(begun);

    let mut store = place.open();
    let order: Vec<PageId> = pages(&mut *store).iter().map(|page| page.id).collect();
    assert!(order.is_sorted() && order[0] == root, "{order:?}");
    let known = page(&mut *store, "https://b.example:8443/x?é");
    assert_eq!(known.id, recorded.new[0].id);
    assert_eq!(known.host, recorded.new[0].host);
    assert_eq!(known.fingerprint, url("https://b.example:8443/x?é").fingerprint());
    assert_eq!((known.state.depth, known.state.weight, known.state.found_at), (7, 1.0, later(5)));
    let row = row(&mut *store, "https://b.example:8443/x?é");
    assert_eq!(row.sitemap_lastmod, Some(Timestamp::from_seconds(1_700_000_000)));
    assert_eq!((row.state.as_str(), row.outcome, row.visits), ("new", None, 0));
    assert!(store.content(known.id).expect("no content").is_none());
}
