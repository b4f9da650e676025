//! A page's life, its aliases, and redirects.

use super::*;

pub fn a_page_is_alive_missing_gone_and_alive_again(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let story = [
        (Outcome::Fetched, "alive", 0),
        (Outcome::Missing, "missing", 0),
        (Outcome::Missing, "gone", DAY),
        (Outcome::ServerError, "gone", DAY),
        (Outcome::Fetched, "alive", 0),
        (Outcome::Refused(Refused::Robots), "blocked", 0),
        (Outcome::Redirected { to: url("/x").as_url().clone(), permanent: false }, "redirected", 0),
        (Outcome::Fetched, "alive", 0),
    ];
    for (outcome, state, wait) in story {
        begun.record(vec![visit(root, outcome.clone(), NOW)]);
        assert_eq!(begun.row("/").state, state, "after {outcome}");
        assert_eq!(page(&mut *begun.store, "/").due_at, later(wait), "after {outcome}");
        begun.next_cycle();
    }
}

pub fn failures_push_a_page_back(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    for (failures, wait) in [(1, 0), (2, 600), (3, 1200)] {
        begun.record(vec![visit(root, Outcome::Failed(Failure::Connect), NOW)]);
        let row = begun.row("/");
        assert_eq!((row.state.as_str(), row.outcome.as_deref()), ("failing", Some("connect")));
        assert_eq!(row.failures, failures);
        let known = page(&mut *begun.store, "/");
        assert_eq!(known.due_at, later(wait));
        assert_eq!(known.last_cycle, Some(begun.cycle));
        assert_eq!(known.state.last_visit, Some(NOW), "a visit that failed is one");
        begun.next_cycle();
    }
    begun.record(vec![fetched(root, b"one", "one", later(1))]);
    assert_eq!(begun.row("/").failures, 0);
    assert_eq!(page(&mut *begun.store, "/").state.last_visit, Some(later(1)));
}

pub fn an_alias_points_to_a_page_that_is_none(place: &dyn Place) {
    let mut begun = begun(place, &["/one", "/two", "/three"]);
    let (one, two, three) = (begun.id("/one"), begun.id("/two"), begun.id("/three"));
    let canonical = |page: PageId, of: &str| VisitRecord {
        alias: Some(url(of).fingerprint()),
        ..fetched(page, of.as_bytes(), of, NOW)
    };
    begun.record(vec![canonical(one, "/two")]);
    let alias = begun.row("/one");
    assert_eq!((alias.state.as_str(), alias.alias_of.as_deref()), ("alias", Some("https://example.org/two")));
    assert!(page(&mut *begun.store, "/one").alias_of.is_some());

    // Its target becomes an alias itself: both point to the end.
    begun.record(vec![canonical(two, "/three")]);
    for path in ["/one", "/two"] {
        assert_eq!(begun.row(path).alias_of.as_deref(), Some("https://example.org/three"), "{path}");
    }
    // Nobody is the alias of itself, by whatever detour.
    begun.record(vec![canonical(three, "/one"), canonical(three, "/three")]);
    assert_eq!(begun.row("/three").alias_of, None);
    drop(begun);
    let mut store = place.open();
    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.aliases), (1, 2));
    assert_eq!(row(&mut *store, "/one").alias_of.as_deref(), Some("https://example.org/three"));
}

pub fn aliases_of_a_page_that_is_gone_stand_for_themselves(place: &dyn Place) {
    let mut begun = begun(place, &["/old", "/older", "/new"]);
    let (old, older, new) = (begun.id("/old"), begun.id("/older"), begun.id("/new"));
    begun.record(vec![redirected(old, "/new", true, NOW), redirected(older, "/old", true, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2);
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2, "once may be a slip");
    begun.next_cycle();
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    let summary = begun.store.summary().expect("a summary");
    assert_eq!((summary.aliases, summary.known), (0, 3));
    assert!(page(&mut *begun.store, "/old").alias_of.is_none());
}

pub fn nobody_becomes_the_alias_of_a_page_that_is_missing(place: &dyn Place) {
    let mut begun = begun(place, &["/copy", "/story"]);
    let (copy, story) = (begun.id("/copy"), begun.id("/story"));
    begun.record(vec![visit(story, Outcome::Missing, NOW)]);
    let alias = Some(url("/story").fingerprint());
    begun.record(vec![VisitRecord { alias, ..fetched(copy, b"copy", "copy", NOW) }]);
    assert_eq!(begun.row("/copy").alias_of, None);
    // A page that is not known can't stand for another.
    let alias = Some(url("/unknown").fingerprint());
    begun.record(vec![VisitRecord { alias, ..fetched(copy, b"copy", "copy", NOW) }]);
    assert_eq!(begun.row("/copy").state, "alive");
}

pub fn a_page_knows_its_other_spellings_and_they_keep_their_past(place: &dyn Place) {
    let mut begun = begun(place, &["/old", "/older", "/print", "/new"]);
    let [old, older, print, new] = ["/old", "/older", "/print", "/new"].map(|path| begun.id(path));
    assert_eq!(begun.store.spellings(new).expect("spellings"), []);
    begun.record(vec![
        fetched(old, b"story", "story", NOW),
        redirected(older, "/old", true, NOW),
        redirected(old, "/new", true, later(DAY)),
        fetched(new, b"story", "story", later(DAY)),
        VisitRecord {
            alias: Some(url("/new").fingerprint()),
            ..fetched(print, b"print", "print", later(DAY))
        },
    ]);
    // A host that does not answer has not taken back that the page moved.
    begun.next_cycle();
    begun.record(vec![visit(old, Outcome::Failed(Failure::NoAnswer), later(2 * DAY))]);
    drop(begun);
    let mut store = place.open();
    let spellings = store.spellings(new).expect("spellings");
    let seen: Vec<(PageId, &str, bool)> =
        spellings.iter().map(|spelling| (spelling.page, spelling.url.as_str(), spelling.moved)).collect();
    assert_eq!(
        seen,
        [
            (old, "https://example.org/old", true),
            (older, "https://example.org/older", true),
            (print, "https://example.org/print", false),
        ]
    );
    assert_eq!(store.spellings(old).expect("spellings"), [], "the other stands for it");
    let (mut outcomes, mut versions) = (Vec::new(), Vec::new());
    store
        .each_visit(&mut |visit| {
            if visit.page == old {
                outcomes.push(visit.outcome);
                versions.extend(visit.version);
            }
        })
        .expect("visits");
    assert_eq!(outcomes.first().map(String::as_str), Some("fetched"), "{outcomes:?}");
    assert_eq!((outcomes.len(), outcomes[1].as_str()), (3, "moved"));
    let text = store.version(versions[0]).expect("a version").map(|version| version.text);
    assert_eq!(text.as_deref(), Some("story"));
}

pub fn a_redirect_makes_pages_one_hop_further(place: &dyn Place) {
    let mut begun = begun(place, &["/0"]);
    let from = begun.seed;
    for hop in 0..3 {
        let (here, next) = (begun.id(&format!("/{hop}")), format!("/{}", hop + 1));
        let targets = vec![NewPage { depth: 0, ..found(&next, from, Some(here)) }];
        begun.record(vec![VisitRecord { found: targets, ..redirected(here, &next, false, NOW) }]);
    }
    let known = pages(&mut *begun.store);
    let visits = begun.store.plan(begun.cycle, &plan_of(&known.iter().collect::<Vec<_>>())).expect("a plan");
    assert_eq!(visits.iter().map(|visit| visit.hops).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // A page found by a link, on a page that redirects led to, begins at zero hops.
    let last = begun.id("/3");
    begun.record(vec![VisitRecord {
        found: vec![found("/linked", from, Some(last))],
        ..fetched(last, b"x", "x", NOW)
    }]);
    let linked = page(&mut *begun.store, "/linked");
    assert_eq!(begun.store.plan(begun.cycle, &plan_of(&[&linked])).expect("a plan")[0].hops, 0);
}

pub fn a_circle_of_redirects_is_a_loop(place: &dyn Place) {
    for permanent in [false, true] {
        let paths = if permanent { ["/p1", "/p2", "/p3"] } else { ["/t1", "/t2", "/t3"] };
        let mut begun = begun(place, &paths);
        let mut outcomes = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let visit = redirected(begun.id(path), paths[(at + 1) % 3], permanent, NOW);
            outcomes.push(begun.record(vec![visit]).visits[0].outcome.code());
        }
        let sent_on = if permanent { "moved" } else { "redirected" };
        assert_eq!(outcomes, [sent_on, sent_on, "redirect-loop"]);
        let last = begun.row(paths[2]);
        assert_eq!((last.state.as_str(), last.alias_of), ("failing", None));
        assert_eq!(begun.store.cycles(1).expect("a cycle")[0].failed, 1 + u64::from(permanent));
    }
}
