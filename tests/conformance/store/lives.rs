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
        (Outcome::Refused(Refused::Robots), "blocked", DAY),
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

/// A visit of a page that names another as its canonical and has this text.
fn canonical(page: PageId, of: &str, text: &str) -> VisitRecord {
    VisitRecord { alias: Some(url(of).fingerprint()), ..read(page, text, NOW) }
}

pub fn an_alias_is_believed_when_a_later_cycle_says_the_same(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/story", "/print", "/moved", "/other"]);
    let [story, print, moved, other] = ["/story", "/print", "/moved", "/other"].map(|path| begun.id(path));
    let text = words(0, 100);
    begun.record(vec![read(moved, &text, NOW)]);
    begun.next_cycle();
    let visits = || {
        vec![
            read(story, &text, NOW),
            canonical(print, "/story", &words(10, 100)),
            redirected(moved, "/story", true, NOW),
            canonical(other, "/story", &words(500, 100)),
        ]
    };
    begun.record(visits());
    // A second time in the same cycle is no confirmation.
    begun.record(visits());
    assert_eq!(begun.store.summary().expect("a summary").aliases, 0);
    begun.next_cycle();
    begun.record(visits());
    for (path, is_alias) in [("/print", true), ("/moved", true), ("/other", false), ("/story", false)] {
        let row = begun.row(path);
        assert_eq!(row.alias_of.as_deref(), is_alias.then_some("https://example.org/story"), "{path}");
    }
    let alias = page(&mut *begun.store, "/print");
    assert_eq!((alias.due_at, alias.waits_until()), (NOW, later(DAY)), "it is looked at again, rarely");
    // The word that it is unchanged says the same canonical again.
    begun.next_cycle();
    begun.record(vec![visit(print, Outcome::NotModified, NOW)]);
    assert_eq!(page(&mut *begun.store, "/print").waits_until(), later(2 * DAY));
    let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.aliases_differ), (0, 0));
    // They answer for themselves.
    begun.next_cycle();
    begun.record(vec![read(print, &words(10, 100), NOW), read(moved, &text, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 0);
    assert_eq!(page(&mut *begun.store, "/print").waits_until(), NOW);
}

pub fn many_unlike_pages_that_lead_to_one_are_no_aliases_of_it(place: &dyn Place) {
    let paths: Vec<String> = (0..6).map(|page| format!("/p{page}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).chain(["/unseen", "/notice"]).collect();
    let mut begun = begun_with_found(place, &names);
    let ids: Vec<PageId> = paths.iter().map(|path| begun.id(path)).collect();
    let (unseen, notice) = (begun.id("/unseen"), begun.id("/notice"));
    begun.record(ids.iter().zip(0..).map(|(id, page)| read(*id, &words(page * 200, 100), NOW)).collect());
    begun.next_cycle();
    let visits = || -> Vec<VisitRecord> {
        let pages = ids.iter().chain([&unseen]);
        let sent = pages.map(|page| redirected(*page, "/notice", true, NOW));
        sent.chain([read(notice, "closed for repair", NOW)]).collect()
    };
    for _ in 0..3 {
        begun.record(visits());
        begun.next_cycle();
    }
    assert_eq!(begun.store.summary().expect("a summary").aliases, 0);
    let claims = page(&mut *begun.store, "/p0").claim.expect("a claim");
    assert_eq!((claims.of, claims.times, claims.near), (notice, 3, Some(false)));
    let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.aliases_differ), (0, 0));
}

pub fn a_page_that_is_named_as_a_seed_is_no_alias(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/old", "/new"]);
    let (old, new) = (begun.id("/old"), begun.id("/new"));
    let visits = || vec![read(new, "here", NOW), redirected(old, "/new", true, NOW)];
    begun.record_twice(visits);
    assert!(begun.row("/old").alias_of.is_some());
    begun.store.add_seeds(&[seed("/old")], NOW).expect("a seed is added");
    assert_eq!((begun.row("/old").state.as_str(), begun.row("/old").alias_of), ("redirected", None));
    begun.next_cycle();
    begun.record_twice(visits);
    assert_eq!(begun.row("/old").alias_of, None);
    let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.aliases_differ), (0, 0));
}

pub fn a_rebuild_repairs_aliases(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/old", "/new", "/other"]);
    let [old, new, other] = ["/old", "/new", "/other"].map(|path| begun.id(path));
    begun.record_twice(|| vec![read(new, "here", NOW), redirected(old, "/new", true, NOW)]);
    begun.record(vec![canonical(other, "/new", "something else entirely")]);
    let aliases = vec![(old, None), (other, Some(new))];
    begun.store.commit(&Commit { aliases, ..Commit::default() }).expect("a commit");
    let rebuilt = begun.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!(rebuilt.aliases_differ, 2);
    assert_eq!(begun.row("/old").alias_of.as_deref(), Some("https://example.org/new"));
    assert_eq!(begun.row("/other").alias_of, None);
}

pub fn an_alias_points_to_a_page_that_is_none(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/one", "/two", "/three"]);
    let (one, two, three) = (begun.id("/one"), begun.id("/two"), begun.id("/three"));
    begun.record(vec![read(two, "same", NOW), read(three, "same", NOW)]);
    begun.record_twice(|| vec![canonical(one, "/two", "same")]);
    let alias = begun.row("/one");
    assert_eq!((alias.state.as_str(), alias.alias_of.as_deref()), ("alias", Some("https://example.org/two")));
    assert!(page(&mut *begun.store, "/one").alias_of.is_some());

    // Its target becomes an alias itself: both point to the end.
    begun.record_twice(|| vec![canonical(two, "/three", "same")]);
    for path in ["/one", "/two"] {
        assert_eq!(begun.row(path).alias_of.as_deref(), Some("https://example.org/three"), "{path}");
    }
    // No page is the alias of itself, by whatever detour.
    begun.record_twice(|| vec![canonical(three, "/one", "same")]);
    begun.record_twice(|| vec![canonical(three, "/three", "same")]);
    assert_eq!(begun.row("/three").alias_of, None);
    drop(begun);
    let mut store = place.open();
    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.aliases), (2, 2));
    assert_eq!(row(&mut *store, "/one").alias_of.as_deref(), Some("https://example.org/three"));
}

pub fn aliases_of_a_page_that_is_gone_stand_for_themselves(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/old", "/older", "/new"]);
    let (old, older, new) = (begun.id("/old"), begun.id("/older"), begun.id("/new"));
    begun.record(vec![read(new, "here", NOW)]);
    begun.record_twice(|| vec![redirected(old, "/new", true, NOW), redirected(older, "/old", true, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2);
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2, "once may be a slip");
    begun.next_cycle();
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    let summary = begun.store.summary().expect("a summary");
    assert_eq!((summary.aliases, summary.known), (0, 4));
    assert!(page(&mut *begun.store, "/old").alias_of.is_none());
}

pub fn no_page_becomes_the_alias_of_a_page_that_is_missing(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/copy", "/story"]);
    let (copy, story) = (begun.id("/copy"), begun.id("/story"));
    begun.record(vec![read(story, "copy", NOW)]);
    begun.record(vec![visit(story, Outcome::Missing, NOW)]);
    begun.record_twice(|| vec![canonical(copy, "/story", "copy")]);
    assert_eq!(begun.row("/copy").alias_of, None);
    // A page that is not known can't stand for another.
    begun.record_twice(|| vec![canonical(copy, "/unknown", "copy")]);
    assert_eq!(begun.row("/copy").state, "alive");
}

pub fn a_page_knows_its_other_spellings_and_they_keep_their_past(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/old", "/older", "/print", "/new"]);
    let [old, older, print, new] = ["/old", "/older", "/print", "/new"].map(|path| begun.id(path));
    assert_eq!(begun.store.spellings(new).expect("spellings"), []);
    begun.record(vec![fetched(old, b"story", "story", NOW)]);
    begun.record_twice(|| {
        vec![
            fetched(new, b"story", "story", later(DAY)),
            redirected(old, "/new", true, later(DAY)),
            redirected(older, "/old", true, later(DAY)),
            VisitRecord {
                alias: Some(url("/new").fingerprint()),
                ..fetched(print, b"print", "story", later(DAY))
            },
        ]
    });
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
    assert_eq!((outcomes.len(), outcomes[1].as_str(), outcomes[2].as_str()), (4, "moved", "moved"));
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
