//! What happened to pages: told as visits are recorded, and listed afterwards.

use super::*;

/// All events that pass a filter, read a few at a time.
#[track_caller]
fn listed_events(store: &mut dyn Store, filter: &EventFilter, at_once: usize) -> Vec<PageEvent> {
    let mut filter = filter.clone();
    let mut all = Vec::new();
    loop {
        let some = store.events(&filter, at_once).expect("events are read");
        filter.before = some.last().map(PageEvent::place);
        let is_last = some.len() < at_once;
        all.extend(some);
        if is_last {
            return all;
        }
    }
}

pub fn events_are_listed_latest_first(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, "one", later(0))]);
    begun.record(vec![visit(a, Outcome::ServerError, later(1))]);
    begun.record(vec![read(a, "two", later(2)), read(b, "one", later(2))]);
    begun.record(vec![read(a, "three", later(4)), read(b, "two", later(3))]);
    let mut told =
        |filter: EventFilter, at_once: usize| -> Vec<(String, &'static str, u64, Option<Timestamp>)> {
            let event = |event: PageEvent| {
                let at = event.at.since(NOW).seconds() as u64;
                (event.url.replace("https://example.org", ""), event.kind.name(), at, event.previous_at)
            };
            listed_events(&mut *begun.store, &filter, at_once).into_iter().map(event).collect()
        };
    let since = |since: u64| EventFilter { since: later(since), ..EventFilter::default() };
    let all = [
        ("/a".to_owned(), "changed", 4, Some(later(2))),
        ("/b".to_owned(), "changed", 3, Some(later(2))),
        ("/a".to_owned(), "changed", 2, Some(later(0))),
        ("/b".to_owned(), "new", 0, None),
        ("/a".to_owned(), "new", 0, None),
    ];
    for at_once in [1, 2, 3, 5, 9] {
        assert_eq!(told(since(0), at_once), all, "{at_once} at once");
    }
    assert_eq!(told(since(3), 9), all[..2]);
    assert_eq!(told(since(5), 9), []);
    assert_eq!(told(EventFilter { kinds: vec![EventKind::New], ..since(0) }, 9), all[3..]);
    assert_eq!(
        told(EventFilter { kinds: vec![EventKind::Changed, EventKind::Gone], ..since(0) }, 2),
        all[..3]
    );
    assert_eq!(told(EventFilter { hosts: Some(Vec::new()), ..since(0) }, 9), []);
    assert_eq!(told(EventFilter { no_new_of: vec![CycleId(1)], ..since(0) }, 9), all[..3]);
}

pub fn changes_of_pages_that_were_found_again_are_listed(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b", "/c"]);
    let [a, b, c] = ["/a", "/b", "/c"].map(|path| begun.id(path));
    begun.record(Vec::from([a, b, c].map(|page| read(page, "one", later(0)))));
    begun.record(vec![read(a, "two", later(1)), read(b, "two", later(2)), read(c, "two", later(3))]);
    begun.record(vec![
        read(a, "three", later(4)),
        visit(b, Outcome::ServerError, later(5)),
        read(c, "two", later(6)),
    ]);
    let changed = EventFilter { kinds: vec![EventKind::Changed], ..EventFilter::default() };
    let mut settled = |before, scanned: usize, most: usize| {
        let filter = EventFilter { before, ..changed.clone() };
        let found = begun.store.settled_events(&filter, scanned, most).expect("events");
        let at = |event: &PageEvent| event.at.since(NOW).seconds() as u64;
        let rest = found.rest.map(|rest| rest.at.since(NOW).seconds() as u64);
        ((found.events.iter().map(at).collect::<Vec<_>>(), found.waiting, rest), found.rest)
    };
    // /a changed again at 4 and waits; /b failed since.
    assert_eq!(settled(None, 9, 9).0, (vec![3, 1], 2, None));
    assert_eq!(settled(None, 1, 9).0, (vec![], 1, Some(4)));
    let (part, rest) = settled(None, 9, 1);
    assert_eq!(part, (vec![3], 1, Some(3)));
    assert_eq!(settled(rest, 9, 9).0, (vec![1], 1, None));
    assert_eq!(settled(rest, 1, 9).0, (vec![], 1, Some(2)));
}

pub fn changes_are_marked_as_read_and_as_not_read(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, "one", later(0))]);
    begun.record(vec![read(a, "two", later(1)), read(b, "two", later(2))]);
    begun.record(vec![read(a, "three", later(3))]);
    let filter = EventFilter { kinds: vec![EventKind::Changed], ..EventFilter::default() };
    let visits: Vec<i64> =
        listed_events(&mut *begun.store, &filter, 9).iter().map(|event| event.observation_id).collect();
    let [third, second, first] = *visits else { panic!("{visits:?}") };
    let unread = |store: &mut dyn Store| -> Vec<i64> {
        let filter = EventFilter { unread: true, ..filter.clone() };
        listed_events(store, &filter, 1).iter().map(|event| event.observation_id).collect()
    };
    let store = &mut *begun.store;
    assert_eq!((unread(store), store.read_of(&visits).expect("marks")), (visits.clone(), Vec::new()));
    store.mark_read(&[second, 9_999], true, NOW).expect("marked");
    assert_eq!(
        (unread(store), store.read_of(&[9_999, second, first]).expect("marks")),
        (vec![third, first], vec![second])
    );
    store.mark_read(&[second], false, NOW).expect("marked");
    assert_eq!(unread(store), visits);
    // Everything up to one, whatever was marked before; a later mark counts all the same.
    store.mark_read_to(second).expect("marked");
    assert_eq!((unread(store), store.read_of(&visits).expect("marks")), (vec![third], vec![first, second]));
    store.mark_read(&[first], false, NOW).expect("marked");
    assert_eq!(unread(store), [third, first]);
    store.mark_read_to(first).expect("marked");
    assert_eq!(unread(store), [third], "an earlier place takes nothing back");
    // Marks are kept, and go with their page.
    drop(begun);
    let mut store = place.open();
    assert_eq!(unread(&mut *store), [third]);
    store.mark_read(&[third], true, NOW).expect("marked");
    store.forget(&[a], NOW).expect("forgotten");
    assert_eq!(store.read_of(&[third]).expect("marks"), [0_i64; 0]);
}

/// A history with events of every kind; all that was told of them.
fn every_kind(begun: &mut Begun) -> Vec<PageEvent> {
    let [a, b, c, d] = ["/a", "/b", "/c", "/d"].map(|path| begun.id(path));
    let mut told = Vec::new();
    for day in 0..9u64 {
        let at = |page: u64| later(day * DAY + page);
        let visits = vec![
            match day {
                1 | 2 => visit(a, Outcome::Missing, at(0)),
                5 => visit(a, Outcome::NotModified, at(0)),
                6 => read(a, "another text", at(0)),
                _ => read(a, "a text", at(0)),
            },
            match day {
                2..=4 => redirected(b, "/c", true, at(1)),
                _ => read(b, "a text", at(1)),
            },
            match day {
                1 => visit(c, Outcome::Failed(Failure::NoAnswer), at(2)),
                3 | 4 => visit(c, Outcome::ServerError, at(2)),
                7.. => read(c, "a third text", at(2)),
                _ => read(c, "a text", at(2)),
            },
            // Never stored: nothing is told of it.
            if day % 2 == 0 {
                visit(d, Outcome::Missing, at(3))
            } else {
                visit(d, Outcome::HttpError, at(3))
            },
        ];
        told.extend(begun.record(visits).visits.into_iter().filter_map(|visit| visit.event));
        begun.next_cycle();
    }
    told
}

pub fn every_kind_of_event_is_told_live_and_listed_alike(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b", "/c", "/d"]);
    let told = every_kind(&mut begun);
    let kinds: Vec<(&str, &str, u64)> = told
        .iter()
        .map(|event| {
            let day = event.at.since(NOW).seconds() as u64 / DAY;
            (event.url.trim_start_matches("https://example.org"), event.kind.name(), day)
        })
        .collect();
    let expected = [
        ("/a", "new", 0),
        ("/b", "new", 0),
        ("/c", "new", 0),
        ("/a", "gone", 2),
        ("/a", "back", 3),
        ("/b", "moved", 3),
        ("/c", "started-failing", 4),
        ("/b", "back", 5),
        ("/c", "recovered", 5),
        ("/a", "changed", 6),
        ("/a", "changed", 7),
        ("/c", "changed", 7),
    ];
    assert_eq!(kinds, expected);
    let moved = told.iter().find(|event| event.kind == EventKind::Moved).expect("a move");
    assert_eq!((moved.redirect_to.as_deref(), moved.status), (Some("https://example.org/c"), Some(301)));
    let gone = told.iter().find(|event| event.kind == EventKind::Gone).expect("it is gone");
    assert_eq!((gone.version_id, gone.previous_at, gone.outcome.as_str()), (None, Some(later(0)), "missing"));
    let mut listed = listed_events(&mut *begun.store, &EventFilter::default(), 5);
    listed.reverse();
    assert!(listed.iter().all(|event| event.observation_id > 0));
    listed.iter_mut().for_each(|event| event.observation_id = 0);
    assert_eq!(listed, told, "the list is what was told");
    // The log says it of each visit, too.
    let mut of_log = Vec::new();
    begun.store.each_visit(&mut |visit| of_log.extend(visit.event)).expect("visits are read");
    assert_eq!(of_log.len(), told.len());
}

pub fn events_are_counted_by_cycle_host_and_kind(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b", "/c", "/d"]);
    let told = every_kind(&mut begun);
    let host = page(&mut *begun.store, "/a").host;
    let counts = |begun: &mut Begun, filter: &EventFilter| -> Vec<(i64, &'static str, u64)> {
        let counts = begun.store.count_events(filter).expect("counts");
        assert!(counts.iter().all(|count| count.host == host));
        counts.iter().map(|count| (count.cycle.0, count.kind.name(), count.count)).collect()
    };
    let all = counts(&mut begun, &EventFilter::default());
    assert_eq!(all.iter().map(|(_, _, count)| count).sum::<u64>(), told.len() as u64);
    assert_eq!(all.last(), Some(&(told[0].cycle_id, "new", 3)));
    assert!(all.is_sorted_by(|one, other| one.0 >= other.0), "{all:?}");
    let changed = EventFilter { kinds: vec![EventKind::Changed], ..EventFilter::default() };
    assert_eq!(counts(&mut begun, &changed).iter().map(|(_, _, count)| *count).collect::<Vec<_>>(), [2, 1]);
    let late = EventFilter { since: later(7 * DAY), ..EventFilter::default() };
    assert_eq!(counts(&mut begun, &late).len(), 1);
    let elsewhere = EventFilter { hosts: Some(Vec::new()), ..EventFilter::default() };
    assert_eq!(counts(&mut begun, &elsewhere), []);
}

pub fn a_rebuild_repairs_events(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b", "/c", "/d"]);
    every_kind(&mut begun);
    let events = |begun: &mut Begun| listed_events(&mut *begun.store, &EventFilter::default(), 100);
    let before = events(&mut begun);
    let look = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((look.events_differ, look.pages_differ), (0, 0), "{look:?}");
    let a = begun.id("/a");
    let visits = visits(&mut *begun.store, a);
    let wrong = PageEvents { page: a, events: vec![(visits[1].id, EventKind::Recovered)] };
    begun.store.commit(&Commit { events: vec![wrong], ..Commit::default() }).expect("a commit");
    assert_ne!(events(&mut begun), before);
    let look = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!(look.events_differ, 1);
    assert_ne!(events(&mut begun), before, "a look changes nothing");
    let repaired = begun.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!((repaired.events_differ, repaired.pages_differ), (1, 0));
    assert_eq!(events(&mut begun), before);
}

pub fn titles_come_with_versions_pages_and_events(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, &words(0, 60), later(0))]);
    begun.record(vec![read(a, "two", later(1))]);
    begun.record(vec![visit(a, Outcome::Missing, later(2))]);
    begun.record(vec![visit(a, Outcome::Missing, later(3))]);
    let titles: Vec<Option<String>> = listed_events(&mut *begun.store, &EventFilter::default(), 9)
        .into_iter()
        .map(|event| event.title)
        .collect();
    let title = |text: &str| Some(format!("about {text}"));
    assert_eq!(titles, [title("two"), title("two"), None, title("one")], "gone, changed, new, new");
    assert_eq!((begun.row("/a").title, begun.row("/b").title), (title("two"), None));
    let of = |begun: &mut Begun, page: PageId| {
        let version = visits(&mut *begun.store, page)[0].version.expect("a version");
        begun.store.version(version).expect("it is read").expect("it is there").title
    };
    assert_eq!((of(&mut begun, a), of(&mut begun, b)), (title("one"), Some(String::new())), "none is known");
}
