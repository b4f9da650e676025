//! What visits teach.

use super::*;

pub fn lessons_are_what_visits_could_compare(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let dated = |text: &str, at, date: &str| VisitRecord {
        last_modified: Some(date.to_owned()),
        ..fetched(root, text.as_bytes(), text, at)
    };
    let seconds = NOW.seconds() as i64;
    let feed = |text: &str, at, dates: &[i64]| VisitRecord {
        entry_dates: Some(dates.to_vec()),
        ..fetched(root, text.as_bytes(), text, at)
    };
    begun.record(vec![dated("one", NOW, "Sun, 06 Nov 1994 08:49:37 GMT")]);
    begun.record(vec![visit(root, Outcome::NotModified, later(100))]);
    // What failed adds nothing, and leaves the interval open.
    begun.record(vec![visit(root, Outcome::ServerError, later(150))]);
    let from = Some(root);
    let found = vec![found("/a", begun.seed, from), found("/b", begun.seed, from)];
    begun.record(vec![VisitRecord { found, ..fetched(root, b"two", "two", later(300)) }]);
    // Two entries since the last visit, and an older one: none was missed.
    begun.record(vec![feed("three", later(400), &[seconds + 390, seconds + 350, seconds + 10])]);
    // All are newer: some may have been pushed out.
    begun.record(vec![feed("four", later(500), &[seconds + 490, seconds + 450])]);
    let lessons = begun.store.lessons(root).expect("lessons");
    let facts: Vec<_> = lessons
        .iter()
        .map(|lesson| (lesson.interval.seconds() as u64, lesson.changed, lesson.events, lesson.new_links))
        .collect();
    assert_eq!(
        facts,
        [(100, false, None, 0), (200, true, None, 2), (100, true, Some(2), 0), (100, true, None, 0)]
    );
    let date = Timestamp::from_seconds(784_111_777);
    assert_eq!(lessons[0].date, Some(date), "what has not changed is still of its date");
    assert_eq!(lessons[1].date, None);
    let known = begun.store.known_page(root).expect("a page").expect("the root");
    assert_eq!((known.state.learnt.state.visits, known.state.learnt.state.changes), (4, 3));
    assert_eq!(
        (known.state.seen_at, known.state.failures, known.state.learnt.new_links),
        (Some(later(500)), 0, 2)
    );
    assert!(begun.store.known_page(PageId(999)).expect("nothing").is_none());
    let mut all = Vec::new();
    begun.store.each_history(1, &mut |page| all.push((page.page, page.lessons.len()))).expect("histories");
    assert_eq!(all, [(root, 4)]);
    assert_eq!(begun.store.comparisons().expect("a number"), 4);
    assert_eq!(host(&mut *begun.store, "https://example.org").yields, Yield { visited: 1, useful: 1 });
}

pub fn what_is_learnt_live_is_what_is_learnt_from_the_log(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let ids = ["/", "/a", "/b"].map(|path| begun.id(path));
    let names = [
        "utility",
        "nutch",
        "change-probability:aad",
        "utility:mle",
        "optimal:sa",
        "change-rate:count",
        "longevity",
        "longevity-curve",
        "longevity-bound",
    ];
    begun.policy = policy("utility");
    assert_eq!(begun.relearn(&mut |_, _| ()).expect("nothing to learn"), 0);
    for day in 0..12_u64 {
        for (place, id) in ids.into_iter().enumerate() {
            let text = if day % (place as u64 + 1) == 0 { words(day as usize, 9) } else { words(0, 9) };
            let at = later(day * DAY + place as u64);
            begun.record(vec![fetched(id, text.as_bytes(), &text, at)]);
        }
        if day == 5 {
            begun.record(vec![visit(ids[0], Outcome::ServerError, later(day * DAY + 7))]);
        }
    }
    let live = derived(&mut *begun.store);
    let learnt =
        |store: &mut dyn Store| pages(store).into_iter().map(|page| page.state.learnt).collect::<Vec<_>>();
    let by_utility = learnt(&mut *begun.store);
    for name in names.into_iter().skip(1).chain(["utility"]) {
        begun.policy = policy(name);
        let mut told = Vec::new();
        let learnt_again = begun.relearn(&mut |done, all| told.push((done, all))).expect("it learns");
        assert_eq!((learnt_again, told.last()), (3, Some(&(3, 3))), "{name}");
        assert_eq!(begun.relearn(&mut |_, _| ()).expect("again"), 0, "{name} is learnt");
        let kind = learning::memory(&mut *begun.store).expect("a kind");
        assert_eq!(kind, Some(MemoryMaker::By(policy(name).memory_version())));
        let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
        assert_eq!(rebuilt.pages_differ, 0, "{name}");
        if name != "utility" {
            assert_ne!(learnt(&mut *begun.store), by_utility, "{name}");
        }
    }
    assert_eq!(learnt(&mut *begun.store), by_utility);
    assert_eq!(derived(&mut *begun.store), live);
}

pub fn gains_are_facts_of_their_own_and_are_learnt_again(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    let (root, other) = (begun.id("/"), begun.id("/a"));
    begun.policy = policy("user-centric");
    begun.relearn(&mut |_, _| ()).expect("nothing to learn");
    for day in 0..4_u64 {
        let text = words(day as usize, 9);
        let both = [root, other].map(|page| fetched(page, text.as_bytes(), &text, later(day * DAY)));
        begun.record(both.into());
    }
    let row = |page, measure, day: u64, delta, words: &[&str]| GainRow {
        page,
        measure,
        gain: MeasuredGain { at: later(day * DAY), delta, is_first: day == 0 },
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let all = [
        row(root, MEASURE, 0, 4.0, &["cancer"]),
        row(root, MEASURE, 1, 2.0, &["law", "今天"]),
        row(root, MEASURE, 3, -1.0, &[]),
        row(other, MEASURE, 2, 0.0, &[]),
    ];
    let of_others = [row(root, MeasureId(u64::MAX), 1, 9.0, &["tax"])];
    let unknown = [row(PageId(999), MEASURE, 1, 1.0, &[])];
    let gains = [&all[..], &of_others, &unknown].concat();
    begun.store.commit(&Commit { gains: gains.clone(), ..Commit::default() }).expect("gains are kept");
    // What is known stays as it was first kept.
    let again = vec![row(root, MEASURE, 1, 5.0, &[])];
    begun.store.commit(&Commit { gains: again, ..Commit::default() }).expect("nothing is kept twice");
    assert_eq!(begun.store.gains_of(&[other, root], MEASURE).expect("gains"), all);
    assert_eq!(begun.store.gains_of(&[root], MeasureId(u64::MAX)).expect("gains"), of_others);
    assert_eq!(begun.store.gains_of(&[root], MeasureId(3)).expect("none"), []);
    // Live, the gains of days 0, 1 and 3 came after their visits.
    let mut live = begun.store.known_page(root).expect("a page").expect("the root").state.learnt;
    all.iter().filter(|row| row.page == root).for_each(|row| begun.policy.learn_gain(&mut live, &row.gain));
    begun.policy = policy("age");
    begun.relearn(&mut |_, _| ()).expect("another policy");
    begun.policy = policy("user-centric");
    assert_eq!(begun.relearn(&mut |_, _| ()).expect("it learns"), 2);
    assert_eq!(begun.store.known_page(root).expect("a page").expect("the root").state.learnt, live);
    assert_eq!(
        begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look").pages_differ,
        0
    );
    begun.store.forget(&[root], later(9 * DAY)).expect("forgotten");
    assert_eq!(begun.store.gains_of(&[root, other], MEASURE).expect("gains"), all[3..]);
}

pub fn words_of_links_are_kept_until_the_first_visit(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let with_words = NewPage { anchor: Some("the seminar".into()), ..found("/a", begun.seed, None) };
    let found = vec![with_words, found("/b", begun.seed, None)];
    begun.take(Batch { found, ..batch(Vec::new()) }).expect("pages are found");
    let page = begun.id("/a");
    assert_eq!(begun.store.anchors().expect("words"), [(page, "the seminar".to_owned())]);
    begun.record(vec![fetched(page, b"body", "text", NOW)]);
    assert_eq!(begun.store.anchors().expect("none"), []);
}

pub fn priors_notes_and_links_come_back(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    assert!(begun.store.priors().expect("none").is_empty());
    let prior = |kind, group, numbers| Prior { kind, group, numbers, pages: 7 };
    let priors = Priors {
        by: GroupBy::Depth,
        all: vec![
            prior(PriorKind::FirstInterval, None, [11.0, 3.5]),
            prior(PriorKind::Gamma, None, [0.5, 2.0]),
            prior(PriorKind::Gamma, Some(3), [0.25, 1.5]),
            // A distribution has a row for each period, shortest first.
            prior(PriorKind::Periods, None, [0.5, 0.25]),
            prior(PriorKind::Periods, None, [2.0, 0.5]),
            prior(PriorKind::Periods, None, [30.0, 0.25]),
            prior(PriorKind::TwoIntervals, None, [4.0, 8.0]),
        ],
        comparisons: 123,
    };
    let mut shuffled = priors.clone();
    shuffled.all.reverse();
    begun.store.set_priors(&shuffled).expect("kept");
    begun.store.set_note("a", "one").expect("kept");
    begun.store.set_note("a", "two").expect("kept");
    let links = |page: PageId, targets: &[u64]| VisitRecord {
        links: Some(targets.to_vec()),
        ..fetched(page, b"body", "text", NOW)
    };
    let (root, other) = (begun.id("/"), begun.id("/a"));
    begun.record(vec![links(root, &[1, 2, u64::MAX]), links(other, &[5])]);
    begun.record(vec![links(other, &[])]);
    begun.record(vec![visit(root, Outcome::NotModified, later(5))]);
    drop(begun);
    let mut store = place.open();
    assert_eq!(store.priors().expect("priors"), priors);
    assert_eq!(store.note("a").expect("a note"), Some("two".to_owned()));
    assert_eq!(store.note("b").expect("no note"), None);
    let mut all = Vec::new();
    store.each_links(&mut |page, targets| all.push((page, targets.to_vec()))).expect("links");
    assert_eq!(all, [(root, vec![1, 2, u64::MAX]), (other, vec![])]);
    store.set_priors(&Priors::default()).expect("none any more");
    assert!(store.priors().expect("none").is_empty());
}

pub fn pages_count_what_their_seed_does(place: &dyn Place) {
    let mut store = place.open();
    let important = |weight| Seed { weight, ..seed("/") };
    store.add_seeds(&[important(3.0)], NOW).expect("a seed");
    let cycle = store.open_cycle(CycleCommand::Crawl, "age", None, NOW).expect("a cycle").id;
    let root = page(&mut *store, "/").id;
    let seed_id = store.seeds().expect("seeds")[0].id;
    let links = vec![found("/a", seed_id, Some(root))];
    let visit = VisitRecord { found: links, ..fetched(root, b"x", "x", NOW) };
    record(&mut *store, cycle, batch(vec![visit])).expect("taken");
    let in_sitemap = Batch { found: vec![found("/b", seed_id, None)], now: NOW, ..Batch::default() };
    record(&mut *store, cycle, in_sitemap).expect("taken");
    let weights = |store: &mut dyn Store| ["/", "/a", "/b"].map(|path| page(store, path).state.weight);
    assert_eq!(weights(&mut *store), [3.0, 3.0, 3.0]);
    store.add_seeds(&[important(0.5)], NOW).expect("the seed again");
    assert_eq!(weights(&mut *store), [0.5, 0.5, 0.5]);
}
