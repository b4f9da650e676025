//! Contents: held once, and back to the byte.

use super::*;
use freshet::observation::room::StoreLimits;

pub fn a_content_is_held_once_and_comes_back_to_the_byte(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/copy", "/empty", "/large"]);
    let bytes: Vec<u8> = (0..=255u8).cycle().take(300_000).collect();
    let cases: [(&str, &[u8], &str); 4] = [
        ("/", b"<p>caf\xe9\0 and tea</p>", "café and tea"),
        ("/copy", b"<p>caf\xe9\0 and tea</p>", "café and tea"),
        ("/empty", b"", ""),
        ("/large", &bytes, ""),
    ];
    let mut visits = Vec::new();
    for (path, body, text) in cases {
        visits.push(fetched(begun.id(path), body, text, NOW));
    }
    begun.record(visits);
    drop(begun);

    let mut store = place.open();
    let summary = store.summary().expect("a summary");
    assert_eq!(summary.versions, 3, "the copy is held once");
    let bytes_of = |at: usize| (cases[at].1.len() + cases[at].2.len()) as u64;
    assert_eq!(summary.content_bytes, bytes_of(0) + bytes_of(2) + bytes_of(3));
    assert!(summary.stored_bytes > 0 && summary.file_bytes > 0);
    for (path, body, text) in cases {
        let id = page(&mut *store, path).id;
        let held = store.content(id).expect("it is read").unwrap_or_else(|| panic!("{path} holds nothing"));
        assert!(held.body == body, "{path}: {} bytes, not {}", held.body.len(), body.len());
        assert_eq!((held.text.as_str(), held.content_type.as_deref()), (text, Some("text/html")), "{path}");
        assert_eq!(row(&mut *store, path).bytes, Some(body.len() as u64), "{path}");
    }
}

pub fn pages_that_share_a_content_keep_their_own_types(place: &dyn Place) {
    let mut begun = begun(place, &["/a.html", "/a.txt"]);
    let typed = |page, name: &str| {
        let Content::Read(read) = content(b"the same bytes", "the same bytes") else { unreachable!() };
        let read = Content::Read(ReadContent { content_type: Some(name.to_owned()), ..read });
        VisitRecord { content: Some(read), ..visit(page, Outcome::Fetched, NOW) }
    };
    let (html, text) = (begun.id("/a.html"), begun.id("/a.txt"));
    begun.record(vec![typed(html, "text/html"), typed(text, "text/plain")]);
    assert_eq!(begun.store.summary().expect("a summary").versions, 1);
    for (path, id, name) in [("/a.html", html, "text/html"), ("/a.txt", text, "text/plain")] {
        assert_eq!(begun.row(path).content_type.as_deref(), Some(name));
        let held = begun.store.content(id).expect("it is read").expect("it holds something");
        assert_eq!(held.content_type.as_deref(), Some(name));
    }
}

pub fn a_page_keeps_what_it_held_through_bad_times(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let mut changed = Vec::new();
    for (body, outcome) in [
        (Some("one"), Outcome::Fetched),
        (Some("one"), Outcome::Fetched),
        (None, Outcome::Missing),
        (None, Outcome::Failed(Failure::TooSlow)),
        (Some("two"), Outcome::Fetched),
        (Some("one"), Outcome::Fetched),
    ] {
        let visit = match body {
            Some(body) => fetched(root, body.as_bytes(), body, NOW),
            None => visit(root, outcome, NOW),
        };
        changed.extend(begun.record(vec![visit]).visits.into_iter().map(|visit| visit.changed));
        begun.next_cycle();
        let expected = if body == Some("two") { "two" } else { "one" };
        let held = begun.store.content(root).expect("it is read").expect("it holds something");
        assert_eq!(held.text, expected);
    }
    assert_eq!(changed, [None, Some(false), None, None, Some(true), Some(true)]);
    assert_eq!(begun.row("/").changes, 2);
    assert_eq!(
        begun.store.summary().expect("a summary").versions,
        2,
        "a content that came back is the old one"
    );
}

pub fn not_modified_means_the_version_held(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/never"]);
    let (root, never) = (begun.id("/"), begun.id("/never"));
    begun.record(vec![fetched(root, b"one", "one", NOW)]);
    begun.next_cycle();
    let visits =
        vec![visit(root, Outcome::NotModified, later(1)), visit(never, Outcome::NotModified, later(1))];
    let recorded = begun.record(visits);
    let changed: Vec<Option<bool>> = recorded.visits.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [Some(false), None], "a page that holds nothing has nothing to compare with");
    assert_eq!(begun.store.content(root).expect("it is read").map(|held| held.text).as_deref(), Some("one"));

    // A body that is the one held need not be sent again; who holds nothing has nothing to compare it with.
    begun.next_cycle();
    let held = |page| VisitRecord { content: Some(Content::Held), ..visit(page, Outcome::Fetched, later(2)) };
    let recorded = begun.record(vec![held(root), held(never)]);
    let changed: Vec<Option<bool>> = recorded.visits.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [Some(false), None]);
    assert_eq!(begun.store.summary().expect("a summary").versions, 1);
    assert_eq!(begun.store.content(root).expect("it is read").map(|held| held.text).as_deref(), Some("one"));
    assert!(begun.store.content(never).expect("it is read").is_none());
}

pub fn every_visit_comes_back_with_what_it_left(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/other"]);
    let (root, other) = (begun.id("/"), begun.id("/other"));
    begun.record(vec![fetched(other, b"two", "two", later(1)), fetched(root, b"one", "one", NOW)]);
    begun.next_cycle();
    begun.record(vec![visit(root, Outcome::NotModified, later(2)), visit(other, Outcome::Missing, later(3))]);
    begun.next_cycle();
    begun.record(vec![fetched(root, b"<p>new", "new", later(4))]);

    let mut rows = Vec::new();
    begun.store.each_visit(&mut |row| rows.push(row)).expect("visits are read");
    let told: Vec<_> = rows.iter().map(|row| (row.page, row.at, row.outcome.as_str())).collect();
    let expected = [
        (root, NOW, "fetched"),
        (root, later(2), "not-modified"),
        (root, later(4), "fetched"),
        (other, later(1), "fetched"),
        (other, later(3), "missing"),
    ];
    assert_eq!(told, expected);
    assert_eq!((rows[0].version, rows[4].version), (rows[1].version, None));
    let mut read = |row: usize| {
        let version = rows[row].version.expect("a version");
        let found = begun.store.version(version).expect("it is read").expect("it is there");
        (found.body, found.text)
    };
    assert_eq!(read(1), (b"one".to_vec(), "one".to_owned()));
    assert_eq!(read(2), (b"<p>new".to_vec(), "new".to_owned()));
    assert_eq!(read(3), (b"two".to_vec(), "two".to_owned()));
    assert!(begun.store.version(VersionId(999)).expect("no such version").is_none());
}

/// An answer with these headers.
fn head(at: Timestamp, headers: &[(&str, &str)]) -> AnswerHead {
    AnswerHead {
        at,
        address: Some([127, 0, 0, 1].into()),
        protocol: "HTTP/1.1".to_owned(),
        status: 200,
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect(),
        is_cut: false,
    }
}

pub fn the_answer_that_first_brought_a_version_to_a_page_is_kept(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/copy", "/bare"]);
    let (root, copy, bare) = (begun.id("/"), begun.id("/copy"), begun.id("/bare"));
    let with = |visit: VisitRecord, head: AnswerHead| VisitRecord { answer: Some(head), ..visit };
    let first = head(NOW, &[("date", "one"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x", "")]);
    let of_copy = AnswerHead {
        address: Some("2001:db8::7".parse().expect("an address")),
        protocol: "HTTP/2.0".to_owned(),
        headers: vec![("x-name".to_owned(), b"caf\xe9".to_vec())],
        is_cut: true,
        ..head(later(1), &[])
    };
    begun.record(vec![
        with(fetched(root, b"one", "one", NOW), first.clone()),
        with(fetched(copy, b"one", "one", later(1)), of_copy.clone()),
        fetched(bare, b"one", "one", later(1)),
    ]);
    begun.next_cycle();
    // The same names, another content; then the first content again, and a body that is the one held.
    let second = head(later(2), &[("date", "two"), ("set-cookie", "a=3"), ("set-cookie", "b=4"), ("x", "y")]);
    begun.record(vec![with(fetched(root, b"two", "two", later(2)), second.clone())]);
    begun.next_cycle();
    begun.record(vec![with(fetched(root, b"one", "one", later(3)), head(later(3), &[("date", "three")]))]);
    begun.next_cycle();
    let held = |page| VisitRecord { content: Some(Content::Held), ..visit(page, Outcome::Fetched, later(4)) };
    let late = head(later(4), &[("date", "four")]);
    begun.record(vec![with(held(root), late.clone()), with(held(bare), late.clone())]);

    let kept = begun.store.answers_of(&[bare, root, copy, root]).expect("answers are read");
    let versions: Vec<VersionId> = kept.iter().map(|answer| answer.version).collect();
    let (one, two) = (versions[0], versions[1]);
    assert!(one != two);
    let told: Vec<_> = kept.into_iter().map(|answer| (answer.page, answer.version, answer.head)).collect();
    assert_eq!(told, [(root, one, first), (root, two, second), (copy, one, of_copy), (bare, one, late)]);
    assert!(begun.store.answers_of(&[]).expect("nothing is asked").is_empty());
}

pub fn headers_take_no_room_where_contents_have_none(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let long = "x".repeat(900);
    let visit = |text: &str, at| VisitRecord {
        answer: Some(head(at, &[("x-long", &long)])),
        ..fetched(root, text.as_bytes(), text, at)
    };
    let limits = StoreLimits { page_bytes: 1000, host_bytes: 0 };
    let batch = Batch { store_limits: limits, ..batch(vec![visit("one", NOW), visit("two", later(1))]) };
    begun.take(batch).expect("the batch is taken");
    assert_eq!(begun.store.answers_of(&[root]).expect("answers are read").len(), 2);
    begun.next_cycle();
    let full = StoreLimits { page_bytes: 200, host_bytes: 0 };
    let batch = Batch { store_limits: full, ..self::batch(vec![visit("three", later(2))]) };
    begun.take(batch).expect("the batch is taken");
    assert_eq!(begun.store.answers_of(&[root]).expect("answers are read").len(), 2, "there was no room");
}

pub fn versions_have_the_whole_hash_of_their_body(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![fetched(root, b"abc", "text", NOW)]);
    let version = begun.store.visits(root).expect("visits")[0].version.expect("a version");
    let facts = begun.store.version_facts(&[version, VersionId(999), version]).expect("facts are read");
    assert_eq!(facts.len(), 1);
    let sha256 = facts[0].sha256.map(|hash| version::hex(&hash));
    // FIPS 180-4, the example of one block.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256.as_deref(), Some(expected));
    let of = (facts[0].version, facts[0].first_seen, facts[0].body_bytes, facts[0].text_bytes);
    assert_eq!((of, facts[0].is_stored), ((version, NOW, 3, 4), true));
    assert_eq!(facts[0].title.as_deref(), Some("about text"));
}

pub fn validators_come_with_the_plan(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let planned = |begun: &mut Begun| {
        let known = pages(&mut *begun.store);
        begun.store.plan(begun.cycle, &plan_of(&[&known[0]])).expect("a plan").remove(0).held
    };
    assert_eq!(planned(&mut begun), Default::default());
    let visit_with = |etag: Option<&str>, date: Option<&str>| VisitRecord {
        etag: etag.map(str::to_owned),
        last_modified: date.map(str::to_owned),
        noindex: etag.is_some(),
        ..fetched(root, b"one", "one", NOW)
    };
    begun.record(vec![visit_with(Some("\"v1\""), Some("Sun, 06 Nov 1994 08:49:37 GMT"))]);
    let held = planned(&mut begun);
    assert_eq!((held.etag.as_deref(), held.body), (Some("\"v1\""), Some(content_hash(b"one"))));
    assert_eq!(held.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(begun.row("/").noindex);

    // A visit without a body says nothing about them …
    begun.record(vec![visit(root, Outcome::NotModified, NOW)]);
    begun.record(vec![visit(root, Outcome::ServerError, NOW)]);
    assert_eq!(planned(&mut begun), held);
    assert!(begun.row("/").noindex);
    // … and one with a body says everything.
    begun.record(vec![visit_with(None, None)]);
    let held = planned(&mut begun);
    assert_eq!((held.etag, held.last_modified), (None, None));
    assert!(!begun.row("/").noindex);
}

pub fn a_plan_says_by_which_rules_a_page_was_read(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let held = VisitRecord { content: Some(Content::Held), ..visit(root, Outcome::Fetched, NOW) };
    let story = [
        (visit(root, Outcome::Missing, NOW), 1, None),
        (fetched(root, b"one", "one", NOW), 2, Some(2)),
        // Not read, so it stands as it was read before.
        (visit(root, Outcome::NotModified, NOW), 3, Some(2)),
        (held, 4, Some(2)),
        (visit(root, Outcome::ServerError, NOW), 5, Some(2)),
        (fetched(root, b"one", "one", NOW), u64::MAX, Some(u64::MAX)),
    ];
    for (visit, rules, read_by) in story {
        let outcome = visit.attempt.outcome.clone();
        begun.record(vec![VisitRecord { rules, ..visit }]);
        begun.next_cycle();
        let known = page(&mut *begun.store, "/");
        let planned = begun.store.plan(begun.cycle, &plan_of(&[&known])).expect("a plan");
        assert_eq!(planned[0].read_by, read_by, "after {outcome} by rules {rules}");
    }
}
