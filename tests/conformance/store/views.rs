//! What the view of sites, the log and the orders of lists are made of.

use super::*;

pub fn pages_are_counted_by_host_and_cycle(place: &dyn Place) {
    let mut begun = begun(place, &["/", "https://other.example/"]);
    let (home, other) = (begun.id("/"), begun.id("https://other.example/"));
    let links = vec![found("/a", begun.seed, Some(home)), found("/b", begun.seed, Some(home))];
    let first = vec![
        VisitRecord { found: links, ..read(home, &words(0, 50), NOW) },
        visit(other, Outcome::Missing, NOW),
    ];
    begun.take(batch(first)).expect("the batch is taken");
    let seen = host(&mut *begun.store, "https://example.org").id;
    let unseen = host(&mut *begun.store, "https://other.example").id;
    let tallies = begun.store.host_tallies(begun.cycle).expect("counts");
    assert_eq!(tallies.len(), 2);
    let tally = &tallies[&seen];
    let counts = |of: &[(&str, u64)]| -> BTreeMap<String, u64> {
        of.iter().map(|(name, count)| (name.to_string(), *count)).collect()
    };
    assert_eq!(tally.lives, counts(&[("alive", 1), ("new", 2)]));
    assert_eq!(tally.lives_in_cycle, counts(&[("alive", 1)]));
    assert_eq!((tally.found, tally.changed, tally.received_bytes), (3, 0, 100), "a seed is found too");
    assert_eq!((tally.outcomes.clone(), tally.last_success_at), (counts(&[("fetched", 1)]), Some(NOW)));
    assert!(tally.stored_bytes > 0);
    assert_eq!((tallies[&unseen].last_success_at, tallies[&unseen].stored_bytes), (None, 0));
    assert_eq!(tallies[&unseen].lives_in_cycle, counts(&[("missing", 1)]));

    begun.next_cycle();
    let second = vec![read(home, &words(10, 50), later(60)), visit(other, Outcome::Missing, later(61))];
    begun.take(Batch { now: later(61), ..batch(second) }).expect("the batch is taken");
    let tallies = begun.store.host_tallies(begun.cycle).expect("counts");
    let tally = &tallies[&seen];
    assert_eq!((tally.changed, tally.outcomes.clone()), (1, counts(&[("fetched", 1)])));
    assert_eq!(tally.last_success_at, Some(later(60)));
    assert_eq!(tallies[&unseen].lives_in_cycle, counts(&[("gone", 1)]));
    let none = begun.store.host_tallies(CycleId(99)).expect("counts");
    assert_eq!((none[&seen].found, none[&seen].outcomes.len(), none[&seen].lives_in_cycle.len()), (0, 0, 0));
}

fn logged(store: &mut dyn Store, part: LogPart) -> Vec<LoggedVisit> {
    let mut visits = Vec::new();
    let mut each = |visit| {
        visits.push(visit);
        true
    };
    store.each_logged(part, &mut each).expect("the log is read");
    visits
}

pub fn the_log_of_a_cycle_is_in_order_of_time(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let ids = ["/", "/a", "/b"].map(|path| begun.id(path));
    assert_eq!(begun.store.log_end().expect("an end"), 0);
    // Visits are recorded as they end, not as they begin.
    let visits = vec![
        visit(ids[0], Outcome::Missing, later(3)),
        redirected(ids[1], "/b", false, later(1)),
        read(ids[2], "one two three", later(3)),
    ];
    begun.take(batch(visits)).expect("the batch is taken");
    let first = begun.cycle;
    let end = begun.store.log_end().expect("an end");
    begun.next_cycle();
    begun.take(batch(vec![read(ids[0], "four", later(9))])).expect("the batch is taken");

    let paths = |visits: &[LoggedVisit]| -> Vec<String> {
        visits.iter().map(|visit| visit.url.replace("https://example.org", "")).collect()
    };
    let log = logged(&mut *begun.store, LogPart::Cycle(first));
    assert_eq!(paths(&log), ["/a", "/", "/b"]);
    assert_eq!(log[0].visit.redirect.as_deref(), Some("https://example.org/b"));
    assert_eq!(log[2].visit, begun.store.visits(ids[2]).expect("visits")[0], "the whole observation");
    assert_eq!(paths(&logged(&mut *begun.store, LogPart::CycleBackwards(first))), ["/b", "/", "/a"]);
    assert_eq!(paths(&logged(&mut *begun.store, LogPart::After(end))), ["/"]);
    assert_eq!(paths(&logged(&mut *begun.store, LogPart::After(0))).len(), 4);
    assert_eq!(logged(&mut *begun.store, LogPart::Cycle(CycleId(99))), []);
    let mut asked = 0;
    let mut once = |_| {
        asked += 1;
        false
    };
    begun.store.each_logged(LogPart::Cycle(first), &mut once).expect("the log is read");
    assert_eq!(asked, 1, "a reader that has enough is not given more");
}

pub fn lists_have_the_order_asked_for(place: &dyn Place) {
    let mut begun = begun(place, &["/c", "/a", "/b"]);
    let (c, a, b) = (begun.id("/c"), begun.id("/a"), begun.id("/b"));
    begun
        .take(batch(vec![read(c, &words(0, 40), later(1)), visit(b, Outcome::Missing, later(2))]))
        .expect("taken");
    begun.next_cycle();
    let links = vec![found("/new", begun.seed, Some(c))];
    let visits =
        vec![VisitRecord { found: links, ..read(c, &words(9, 90), later(5)) }, read(a, "one", later(4))];
    begun.take(Batch { now: later(5), ..batch(visits) }).expect("taken");
    let mut store = begun.store;
    let mut paths = |filter: PageFilter| -> Vec<String> {
        let rows = listed(&mut *store, &filter);
        rows.iter().map(|row| row.url.replace("https://example.org/", "")).collect()
    };
    let by = |order: PageOrder| PageFilter { order, ..PageFilter::default() };
    assert_eq!(paths(by(PageOrder::Number)), ["c", "a", "b", "new"]);
    assert_eq!(paths(by(PageOrder::Url)), ["a", "b", "c", "new"]);
    assert_eq!(paths(by(PageOrder::Changes))[0], "c");
    assert_eq!(paths(by(PageOrder::Visits)), ["c", "a", "b", "new"]);
    assert_eq!(paths(by(PageOrder::Failures))[0], "b");
    assert_eq!(paths(by(PageOrder::LastVisit)), ["c", "a", "b", "new"]);
    assert_eq!(paths(by(PageOrder::Found))[0], "new");
    assert_eq!(paths(by(PageOrder::Bytes)), ["c", "a", "b", "new"]);
    assert_eq!(paths(by(PageOrder::Weight)).len(), 4);
    assert_eq!(paths(by(PageOrder::Due)).len(), 4);
    assert_eq!(paths(PageFilter { limit: Some(2), ..by(PageOrder::Url) }), ["a", "b"]);
    let since = Some(later(4));
    assert_eq!(paths(PageFilter { since, ..PageFilter::default() }), ["c", "a", "new"], "visited or found");
    let among = Some(vec![a, b]);
    assert_eq!(paths(PageFilter { among: among.clone(), ..PageFilter::default() }), ["a", "b"]);
    assert_eq!(paths(PageFilter { among, limit: Some(1), ..by(PageOrder::Url) }), ["a"]);
    assert_eq!(paths(PageFilter { among: Some(Vec::new()), ..PageFilter::default() }).len(), 0);
    assert_eq!(row(&mut *store, "/new").found_on.as_deref(), Some("https://example.org/c"));
    assert_eq!(row(&mut *store, "/c").found_on, None);
}

pub fn a_list_in_an_order_may_be_longer_than_what_is_read_at_once(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let seed = begun.seed;
    let found = (0..2_500).map(|number| found(&format!("/{:04}", 2_499 - number), seed, None)).collect();
    begun.take(Batch { found, ..batch(Vec::new()) }).expect("the batch is taken");
    let rows = listed(&mut *begun.store, &PageFilter { order: PageOrder::Url, ..PageFilter::default() });
    assert_eq!(rows.len(), 2_501);
    assert!(rows.is_sorted_by(|one, next| one.url < next.url));
}
