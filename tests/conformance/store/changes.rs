//! How far visits find pages to have moved.

use super::*;

#[track_caller]
pub fn a_visit_says_how_far_the_page_moved(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    // 100 words are 97 fragments of four; 50 of them stay.
    let apart = 1.0 - 47.0 / (97.0 + 97.0 - 47.0);
    begun.record(vec![read(root, &words(0, 100), later(0))]);
    let recorded = begun.record(vec![read(root, &words(50, 100), later(10))]);
    let change = recorded.visits[0].event.clone().expect("a change");
    assert_eq!((change.url.as_str(), change.previous_at), ("https://example.org/", Some(later(0))));
    assert!((change.divergence.expect("words") - apart).abs() < 1e-12);
    begun.record(vec![VisitRecord {
        validator: Some("etag"),
        ..visit(root, Outcome::NotModified, later(20))
    }]);
    begun.record(vec![VisitRecord {
        content: Some(Content::Held),
        ..visit(root, Outcome::Fetched, later(30))
    }]);
    begun.record(vec![read(root, &words(0, 100), later(40))]);
    let seen = visits(&mut *begun.store, root);
    let changed: Vec<_> = seen.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [None, Some(true), Some(false), Some(false), Some(true)]);
    let divergences: Vec<_> = seen.iter().map(|visit| visit.divergence).collect();
    assert_eq!(divergences, [None, Some(apart), Some(0.0), Some(0.0), Some(apart)]);
    assert_eq!((seen[2].validator.as_deref(), seen[1].validator.as_deref()), (Some("etag"), None));
    assert_eq!((seen[1].bytes, seen[1].took, seen[1].status), (100, Duration::from_millis(7), Some(200)));
    // From each base version, the oldest first: at the first visit, the second, and so on.
    let bases = |at: usize| -> Vec<(Timestamp, f64)> {
        let rounded = |divergence: f64| (divergence * 1000.0).round() / 1000.0;
        seen[at].bases.iter().map(|found| (found.base.at, rounded(found.divergence.get()))).collect()
    };
    assert_eq!(bases(0), []);
    assert_eq!(bases(1), [(later(0), 0.68)]);
    assert_eq!(bases(3), [(later(0), 0.68), (later(10), 0.0), (later(20), 0.0)]);
    assert_eq!(bases(4), [(later(0), 0.0), (later(10), 0.68), (later(20), 0.68), (later(30), 0.68)]);
    let row = begun.row("/");
    assert_eq!((row.visits, row.changes), (5, 2));
}

pub fn profiles_are_kept_of_the_last_versions(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/none"]);
    let (root, none) = (begun.id("/"), begun.id("/none"));
    for day in 0..9 {
        begun.record(vec![read(root, &words(day as usize * 10, 100), later(day * DAY))]);
    }
    let profiles = begun.store.profiles(root).expect("profiles");
    let bases: Vec<_> = profiles.iter().map(|profile| profile.base.at).collect();
    assert_eq!(bases, [4, 5, 6, 7, 8].map(|day| later(day * DAY)));
    let oldest = profiles.iter().next().expect("a profile");
    let divergences: Vec<f64> = oldest.points.iter().map(|point| point.divergence.get()).collect();
    assert!(divergences.is_sorted() && divergences.len() == 4, "{divergences:?}");
    assert!(begun.store.profiles(none).expect("profiles").is_empty());
}

pub fn errors_are_no_changes(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/other"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "the page", later(0))]);
    let errors = [
        Outcome::Missing,
        Outcome::SoftMissing,
        Outcome::SoftBusy,
        Outcome::Empty,
        Outcome::Wall,
        Outcome::ServerError,
        Outcome::HttpError,
        Outcome::Throttled { retry_after: None },
        Outcome::Failed(Failure::CutOff),
        Outcome::Failed(Failure::NoAnswer),
        Outcome::Failed(Failure::TooLarge),
        Outcome::Refused(Refused::Robots),
    ];
    let mut at = 0;
    for error in errors {
        at += 1;
        let recorded = begun.record(vec![visit(root, error.clone(), later(at))]);
        assert_eq!(recorded.visits[0].changed, None, "{error}");
    }
    begun.record(vec![redirected(root, "/other", false, later(at + 1))]);
    let recorded = begun.record(vec![read(root, "the page", later(at + 2))]);
    assert_eq!(recorded.visits[0].changed, Some(false), "it is what it was before all that");
    let seen = visits(&mut *begun.store, root);
    assert!(
        seen.iter().rev().skip(1).take(12).all(|visit| visit.divergence.is_none() && visit.bases.is_empty())
    );
    assert_eq!(begun.row("/").changes, 0);
    let profiles = begun.store.profiles(root).expect("profiles");
    assert_eq!(profiles.iter().map(|profile| profile.points.len()).collect::<Vec<_>>(), [1, 0]);
}

pub fn a_text_that_comes_back_is_recognised(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    for (second, (body, text)) in
        [("a1", "a"), ("b1", "b"), ("a2", "a"), ("c1", "c"), ("b1", "b")].iter().enumerate()
    {
        begun.record(vec![fetched(root, body.as_bytes(), text, later(second as u64))]);
    }
    let seen = visits(&mut *begun.store, root);
    let returned: Vec<_> = seen.iter().map(|visit| visit.returned_to).collect();
    assert_eq!(returned, [None, None, seen[0].version, None, seen[1].version]);
    assert_eq!(seen[1].version, seen[4].version, "the same bytes are the same version");
    assert_ne!(seen[0].version, seen[2].version);
}

pub fn what_counts_as_a_change_is_the_site_s_own(place: &dyn Place) {
    let cases = [
        (ChangedWhen::Bytes, [true, true, true]),
        (ChangedWhen::Text, [false, true, true]),
        (ChangedWhen::Divergence(0.5), [false, false, true]),
    ];
    let mut begun = begun(place, &["/0", "/1", "/2"]);
    for (case, (changed_when, expected)) in cases.into_iter().enumerate() {
        let page = begun.id(&format!("/{case}"));
        let bodies = [
            ("first", words(0, 100)),
            ("second", words(0, 100)),
            ("third", words(5, 100)),
            ("last", words(90, 100)),
        ];
        let mut changed = Vec::new();
        for (second, (body, text)) in bodies.iter().enumerate() {
            let visit = fetched(page, format!("{body} {case}").as_bytes(), text, later(second as u64));
            changed.push(begun.record(vec![VisitRecord { changed_when, ..visit }]).visits[0].changed);
        }
        assert_eq!(changed[0], None);
        assert_eq!(changed[1..], expected.map(Some), "{changed_when}");
    }
}

pub fn texts_that_other_rules_left_are_not_compared(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "a page with a clock", later(0))]);
    begun.record(vec![VisitRecord {
        text_rules: 7,
        ..fetched(root, b"a page with a clock", "a page", later(1))
    }]);
    begun.record(vec![VisitRecord {
        text_rules: 7,
        ..fetched(root, b"a page with time", "a page", later(2))
    }]);
    begun.record(vec![visit(root, Outcome::NotModified, later(3))]);
    let seen = visits(&mut *begun.store, root);
    let changed: Vec<_> = seen.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [None, None, Some(false), Some(false)]);
    assert!(seen[1].bases.is_empty() && seen[3].bases.len() == 2, "profiles begin again");
    let plan = plan_of(&[&page(&mut *begun.store, "/")]);
    let planned = begun.store.plan(begun.cycle, &plan).expect("a plan");
    // What decides whether the page was read by the rules and commands of today.
    assert_eq!((planned[0].text_rules, planned[0].content_type.as_deref()), (7, Some("text/html")));
}

pub fn what_has_no_words_differs_as_its_bytes_do(place: &dyn Place) {
    let mut begun = begun(place, &["/picture"]);
    let picture = begun.id("/picture");
    for (second, body) in [b"one", b"two", b"two"].iter().enumerate() {
        let Content::Read(bytes) = content(*body, "") else { unreachable!() };
        let bytes = Content::Read(ReadContent { sketch: None, ..bytes });
        begun.record(vec![VisitRecord {
            content: Some(bytes),
            ..visit(picture, Outcome::Fetched, later(second as u64))
        }]);
    }
    let seen = visits(&mut *begun.store, picture);
    assert_eq!(seen.iter().map(|visit| visit.changed).collect::<Vec<_>>(), [None, Some(true), Some(false)]);
    assert!(seen.iter().all(|visit| visit.divergence.is_none() && visit.bases.is_empty()));
    assert!(begun.store.profiles(picture).expect("profiles").is_empty());
}

pub fn fragments_of_another_length_are_made_again(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one two three four five six", later(0))]);
    let change = ChangeSettings { fragment_words: 1, ..ChangeSettings::default() };
    let text = "one two three four five seven";
    let Content::Read(content) = content(text.as_bytes(), text) else { unreachable!() };
    let content = ReadContent { sketch: Some(change::sketch(text, change)), ..content };
    let visit =
        VisitRecord { content: Some(Content::Read(content)), ..visit(root, Outcome::Fetched, later(1)) };
    begun.take(Batch { change, ..batch(vec![visit]) }).expect("it is taken");
    let apart = visits(&mut *begun.store, root)[1].divergence.expect("words");
    assert!((apart - (1.0 - 5.0 / 7.0)).abs() < 1e-12, "{apart}");
}

pub fn what_the_next_visit_found_is_known(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, "other", later(15))]);
    begun.record(vec![read(a, "two", later(10))]);
    begun.record(vec![visit(a, Outcome::ServerError, later(20))]);
    begun.record(vec![visit(a, Outcome::NotModified, later(30))]);
    begun.record(vec![read(a, "one", later(40))]);
    // A clock that was set back: it is time that counts, not the order in which visits came in.
    begun.record(vec![read(a, "three", later(25))]);
    let seen = visits(&mut *begun.store, a);
    let left = |at: Timestamp| seen.iter().find(|visit| visit.at == at).and_then(|visit| visit.version);
    let mut next = |page: PageId, after: Timestamp| begun.store.found_next(page, after).expect("it is read");
    assert_eq!(next(a, later(0)), left(later(10)), "not what another page's visit found");
    assert_eq!(next(a, later(10)), left(later(25)), "not the visit that failed");
    assert_eq!(next(a, later(25)), left(later(30)), "what was confirmed was found");
    assert_eq!(next(a, later(30)), left(later(0)));
    assert_eq!(next(a, later(40)), None);
    assert_eq!(next(PageId(a.0 + b.0 + 1), later(0)), None);
}

pub fn a_page_is_found_by_its_fingerprint(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/old", "/new"]);
    let (old, new) = (begun.id("/old"), begun.id("/new"));
    begun.record_twice(|| vec![read(new, "here", later(1)), redirected(old, "/new", true, later(1))]);
    let found = begun.store.find_page(url("/old").fingerprint()).expect("a look").expect("it is there");
    assert_eq!(
        (found.url.as_str(), found.alias_of.as_deref()),
        ("https://example.org/old", Some("https://example.org/new"))
    );
    assert!(begun.store.find_page(url("/none").fingerprint()).expect("a look").is_none());
}
