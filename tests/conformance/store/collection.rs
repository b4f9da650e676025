//! Seeds that are managed, pages whose links are read again, and pages that are forgotten.

use super::*;
use freshet::store::{Forgotten, LinksReread, SeedChange};

pub fn seeds_are_paused_removed_and_resumed(place: &dyn Place) {
    let mut store = place.open();
    store.add_seeds(&[seed("/"), seed("/a")], NOW).expect("seeds are added");
    let ids: Vec<SeedId> = store.seeds().expect("seeds").iter().map(|seed| seed.id).collect();
    store.change_seeds(&ids[1..], SeedChange::Pause, later(1)).expect("it is paused");
    store.change_seeds(&ids[1..], SeedChange::Pause, later(2)).expect("once more");
    // A file that names it again does not resume it.
    store.add_seeds(&[seed("/a")], later(3)).expect("it is named again");
    drop(store);
    let mut store = place.open();
    let states = |store: &mut dyn Store| {
        let seeds = store.seeds().expect("seeds");
        seeds.iter().map(|seed| (seed.paused_at, seed.removed_at)).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut *store), [(None, None), (Some(later(1)), None)]);
    store.change_seeds(&ids[1..], SeedChange::Remove, later(4)).expect("it is removed");
    assert_eq!(states(&mut *store), [(None, None), (None, Some(later(4)))]);
    store.change_seeds(&ids[1..], SeedChange::Resume, later(5)).expect("it is resumed");
    assert_eq!(states(&mut *store), [(None, None), (None, None)]);
    store.change_seeds(&ids[1..], SeedChange::Remove, later(6)).expect("it is removed");
    store.add_seeds(&[seed("/a")], later(7)).expect("it is named again");
    assert_eq!(states(&mut *store), [(None, None), (None, None)], "who names it wants it");
}

pub fn a_seed_knows_whether_a_file_named_it(place: &dyn Place) {
    let mut store = place.open();
    store.add_seeds(&[seed("/"), Seed { line: None, ..seed("/a") }], NOW).expect("seeds are added");
    let in_file = |store: &mut dyn Store| {
        store.seeds().expect("seeds").iter().map(|seed| seed.in_file).collect::<Vec<_>>()
    };
    assert_eq!(in_file(&mut *store), [true, false]);
    store.add_seeds(&[seed("/a")], later(1)).expect("a file names it");
    assert_eq!(in_file(&mut *store), [true, true]);
    let seeds = store.seeds().expect("seeds");
    assert_eq!((seeds[1].weight, seeds[1].added_at), (1.0, NOW));
}

pub fn pages_are_counted_by_their_seed_and_state(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    let (first, root) = (begun.seed, begun.id("/"));
    let links = vec![found("/b", first, Some(root)), found("/c", first, Some(root))];
    begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", later(5)) }]);
    let counts = begun.store.seed_pages().expect("counts");
    let of = |seed: SeedId| {
        let rows = counts.iter().filter(move |row| row.seed == seed);
        rows.map(|row| (row.life.as_deref(), row.pages, row.last_visit_at)).collect::<Vec<_>>()
    };
    assert_eq!(of(first), [(Some("alive"), 1, Some(later(5))), (Some("new"), 2, None)]);
    let second = begun.store.seeds().expect("seeds")[1].id;
    assert_eq!(of(second), [(Some("new"), 1, None)]);
    // A host that has no other page than those of a paused seed is wanted by none.
    let host = page(&mut *begun.store, "/").host;
    assert!(begun.store.hosts_without_seed().expect("hosts").is_empty());
    begun.store.change_seeds(&[first], SeedChange::Pause, later(6)).expect("it is paused");
    assert!(begun.store.hosts_without_seed().expect("hosts").is_empty(), "the second seed is on it");
    begun.store.change_seeds(&[second], SeedChange::Remove, later(6)).expect("it is removed");
    assert_eq!(begun.store.hosts_without_seed().expect("hosts"), [host]);
}

pub fn links_that_were_read_again_are_those_of_the_new_rules(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let (root, a) = (begun.id("/"), begun.id("/a"));
    begun.record(vec![
        VisitRecord { links: Some(vec![7]), ..fetched(root, b"home", "home", NOW) },
        fetched(a, b"a", "a", NOW),
    ]);
    let to_read =
        |begun: &mut Begun, rules, after, most| begun.store.pages_to_read(rules, after, most).expect("pages");
    assert!(to_read(&mut begun, RULES, PageId(0), 9).is_empty(), "these are their rules");
    let pages = to_read(&mut begun, 43, PageId(0), 9);
    assert_eq!(pages.iter().map(|page| page.page).collect::<Vec<_>>(), [root, a], "`/b` has no version");
    assert_eq!((pages[0].url.as_str(), pages[0].depth), (url("/").as_str(), 0));
    assert_eq!((pages[0].has_links, pages[1].has_links), (true, false));
    assert_eq!(pages[0].content_type.as_deref(), Some("text/html"));
    assert_eq!(to_read(&mut begun, 43, PageId(0), 1).len(), 1);
    assert_eq!(to_read(&mut begun, 43, root, 9)[0].page, a);
    let reread = vec![LinksReread { page: root, rules: 43, links: vec![3, 5] }];
    let depths = vec![(a, 4)];
    begun.store.commit(&Commit { now: NOW, reread, depths, ..Commit::default() }).expect("it is taken");
    assert_eq!(to_read(&mut begun, 43, PageId(0), 9)[0].page, a);
    let mut links = Vec::new();
    begun.store.each_links(&mut |page, targets| links.push((page, targets.to_vec()))).expect("links");
    assert_eq!(links, [(root, vec![3, 5])]);
    assert_eq!(page(&mut *begun.store, "/a").state.depth, 4);
}

pub fn what_is_forgotten_is_gone_and_nothing_else_is(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b", "https://other.example/x"]);
    let (a, b, other) = (begun.id("/a"), begun.id("/b"), begun.id("https://other.example/x"));
    begun.record(vec![
        VisitRecord { links: Some(vec![1]), ..fetched(a, b"alone", "alone", NOW) },
        fetched(b, b"shared", "shared", later(1)),
        fetched(other, b"shared", "shared", later(2)),
    ]);
    // `/b` says that it is another spelling of `/a`.
    let alias = Some(url("/a").fingerprint());
    begun.record(vec![VisitRecord { alias, ..fetched(b, b"shared, named", "shared", later(3)) }]);
    begun.record(vec![fetched(a, b"alone, later", "alone, later", later(4))]);
    let before = begun.store.would_forget(&[a]).expect("it is weighed");
    assert_eq!((before.pages, before.observations, before.versions, before.hosts), (1, 2, 2, 0));
    assert!(before.stored_bytes > 0);
    assert_eq!(begun.store.would_forget(&[a]).expect("again"), before, "nothing was changed");
    let visits_of_b = visits(&mut *begun.store, b).len();
    assert_eq!(begun.store.forget(&[a], later(5)).expect("it is forgotten"), before);
    drop(begun);

    let mut store = place.open();
    assert!(pages(&mut *store).iter().all(|page| page.id != a));
    assert!(visits(&mut *store, a).is_empty());
    assert_eq!(visits(&mut *store, b).len(), visits_of_b, "the log of the others is whole");
    assert!(
        visits(&mut *store, b).iter().all(|visit| visit.same_as.is_none()),
        "what they said of it is left open"
    );
    assert_eq!(store.content(b).expect("a content").expect("it is held").text, "shared");
    // A content that two pages have stays until the last of them goes, and so does a host.
    let shared = store.forget(&[other], later(6)).expect("it is forgotten");
    assert_eq!((shared.pages, shared.hosts), (1, 1));
    assert_eq!(store.content(b).expect("a content").expect("it is held").text, "shared");
    assert!(
        store.hosts().expect("hosts").iter().all(|host| host.report.host.as_str() != "https://other.example")
    );
    assert_eq!(store.forget(&[a, other], later(7)).expect("again"), Forgotten::default());
    let seeds: Vec<PageId> = vec![page(&mut *store, "/seed").id];
    assert_eq!(store.forget(&seeds, later(8)).expect("a seed").seeds, 1);
    assert!(store.seeds().expect("seeds")[0].removed_at.is_some(), "its other page still refers to it");
}

pub fn numbers_of_what_was_forgotten_are_not_given_again(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b"]);
    let b = begun.id("/b");
    begun.record(vec![fetched(b, b"last", "last", NOW)]);
    let visit = visits(&mut *begun.store, b)[0].clone();
    begun.store.forget(&[b], later(1)).expect("it is forgotten");
    let (a, from) = (begun.id("/a"), begun.seed);
    begun.record(vec![VisitRecord {
        found: vec![found("/c", from, Some(a))],
        ..fetched(a, b"first", "first", later(2))
    }]);
    let next = visits(&mut *begun.store, a)[0].clone();
    assert!(next.id > visit.id && next.version > visit.version, "{next:?}");
    assert!(begun.id("/c") > b);
    let c = begun.id("/c");
    begun.store.forget(&[c], later(3)).expect("it is forgotten");
    begun.store.add_seeds(&[seed("/d")], later(4)).expect("a seed is added");
    assert!(begun.id("/d") > c);
}
