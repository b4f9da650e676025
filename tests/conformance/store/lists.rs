//! Hosts, counts and lists.

use super::*;

/// The robots.txt that the store has of a host.
fn robots_of(store: &mut dyn Store, origin: &str) -> Option<RobotsRecord> {
    let robots_of = vec![Host::parse(origin).expect("a host")];
    let loaded = store.load(&Wanted { robots_of, ..Wanted::default() }).expect("rows");
    loaded.robots.into_iter().next().map(|(_, record)| record)
}

pub fn hosts_and_their_waits_come_back(place: &dyn Place) {
    let mut begun = begun(place, &["/", "http://[::1]:8080/"]);
    let robots =
        RobotsRecord { at: NOW, status: 200, body: b"User-agent: *\nDisallow: /\xff".to_vec().into() };
    let report = |origin: &str, wait, robots| HostReport {
        host: Host::parse(origin).expect("a host"),
        delay: Duration::from_millis(1_500),
        wait,
        reason: wait.map(|_| "HTTP 503".to_owned()),
        failures: 3,
        rests: 2,
        robots,
        robots_fault: wait.map(|_| RobotsFault { status: Some(503), reason: "HTTP 503".to_owned() }),
    };
    let waits = [
        Waiting::RetryAfter,
        Waiting::BackOff,
        Waiting::Failing,
        Waiting::Unreachable,
        Waiting::RobotsUnavailable,
        Waiting::CrawlDelay,
    ];
    for why in waits {
        let reports = vec![
            report("https://example.org", Some((later(60), why)), Some(robots.clone())),
            report("http://[::1]:8080", None, None),
        ];
        let batch = Batch { hosts: reports, now: NOW, ..Batch::default() };
        begun.take(batch).expect("the batch is taken");
        let stored = host(&mut *begun.store, "https://example.org");
        assert_eq!(stored.robots, Some(RobotsStatus { at: NOW, status: 200 }));
        let known = stored.report;
        assert_eq!(known.wait, Some((later(60), why)));
        assert_eq!(known.reason.as_deref(), Some("HTTP 503"));
        let fault = known.robots_fault.as_ref();
        assert_eq!(fault.map(|fault| (fault.status, fault.reason.as_str())), Some((Some(503), "HTTP 503")));
        assert_eq!((known.delay, known.failures), (Duration::from_millis(1_500), 3));
        assert_eq!(robots_of(&mut *begun.store, "https://example.org"), Some(robots.clone()));
        let other = host(&mut *begun.store, "http://[::1]:8080");
        assert_eq!((other.report.wait, other.robots), (None, None));
        assert_eq!((other.report.reason, other.report.robots_fault), (None, None));
        assert_eq!(robots_of(&mut *begun.store, "http://[::1]:8080"), None);
    }
    // A wait that is over goes; the robots.txt that was read stays until another is.
    let batch =
        Batch { hosts: vec![report("https://example.org", None, None)], now: NOW, ..Batch::default() };
    begun.take(batch).expect("the batch is taken");
    drop(begun);
    let known = host(&mut *place.open(), "https://example.org");
    assert_eq!((known.report.wait, known.robots.map(|robots| robots.at)), (None, Some(NOW)));
    assert_eq!((known.report.reason, known.report.robots_fault), (None, None), "they go with the wait");
    assert_eq!(robots_of(&mut *place.open(), "https://example.org"), Some(robots));
    assert_eq!(robots_of(&mut *place.open(), "https://unknown.example"), None);
    assert_eq!((known.pages, known.sitemaps_at), (1, None));
    assert_eq!((known.forbidden, known.refused), (0, 0));
}

pub fn the_reason_of_a_visit_and_where_it_led_are_kept(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/sent", "https://other.example/", "https://private.example/"]);
    let ids = ["/", "/sent", "https://other.example/", "https://private.example/"].map(|path| begun.id(path));
    let away = url::Url::parse("https://elsewhere.example/").expect("a URL");
    let with = |outcome, reason: Option<&str>, redirect_to: Option<&url::Url>, page| {
        let plain = visit(page, outcome, NOW);
        let (reason, redirect_to) = (reason.map(str::to_owned), redirect_to.cloned());
        VisitRecord { attempt: Attempt { reason, redirect_to, ..plain.attempt.clone() }, ..plain }
    };
    let expired = "TLS: the certificate expired on 2024-01-01T00:00:00Z";
    begun.record(vec![
        with(Outcome::Failed(Failure::Tls), Some(expired), None, ids[0]),
        with(Outcome::BadRedirect(RedirectFault::OutOfScope), None, Some(&away), ids[1]),
        visit(ids[2], Outcome::Refused(Refused::Robots), NOW),
        visit(ids[3], Outcome::Refused(Refused::Address), NOW),
    ]);
    drop(begun);
    let mut store = place.open();
    let visits = store.visits_of(&ids).expect("visits");
    let told: Vec<_> =
        visits.iter().map(|visit| (visit.reason.as_deref(), visit.redirect.as_deref())).collect();
    assert_eq!(told, [(Some(expired), None), (None, Some(away.as_str())), (None, None), (None, None)]);
    let facts = visits.iter().map(|visit| visit.observation().expect("a fact").attempt).collect::<Vec<_>>();
    assert_eq!((facts[0].reason.as_deref(), facts[1].redirect_to.as_ref()), (Some(expired), Some(&away)));
    for (origin, counts) in [("https://other.example", (1, 0)), ("https://private.example", (0, 1))] {
        let known = host(&mut *store, origin);
        assert_eq!((known.forbidden, known.refused), counts, "{origin}");
    }
}

pub fn sitemaps_leave_dates_and_the_time_they_were_read(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let from = begun.seed;
    let dated = NewPage { lastmod: Some(1_600_000_000), ..found("/a", from, None) };
    let told = [("/", 1_700_000_000), ("/unknown", 1)];
    let told = told
        .map(|(page, date)| told_by(SignalKind::Sitemap, page, Timestamp::from_seconds(date), NOW))
        .to_vec();
    let batch = Batch {
        found: vec![dated],
        told,
        sitemaps_read: vec![(url("/").host(), later(7))],
        now: NOW,
        ..Batch::default()
    };
    begun.take(batch).expect("the batch is taken");
    drop(begun);
    let mut store = place.open();
    assert_eq!(row(&mut *store, "/").sitemap_lastmod, Some(Timestamp::from_seconds(1_700_000_000)));
    assert_eq!(row(&mut *store, "/a").sitemap_lastmod, Some(Timestamp::from_seconds(1_600_000_000)));
    assert_eq!(pages(&mut *store).len(), 2, "a date makes no page");
    assert_eq!(host(&mut *store, "https://example.org").sitemaps_at, Some(later(7)));
}

pub fn refusals_add_up(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    for _ in 0..3 {
        let refusals = vec![(Refusal::OutOfScope, 10), (Refusal::NoFollow, 1), (Refusal::OutOfScope, 1)];
        let batch = Batch { refusals, now: NOW, ..Batch::default() };
        begun.take(batch).expect("the batch is taken");
        begun.next_cycle();
    }
    drop(begun);
    let refusals = place.open().summary().expect("a summary").refusals;
    assert_eq!(refusals, [("out-of-scope".to_owned(), 33), ("no-follow".to_owned(), 3)], "most first");
}

pub fn counts_of_a_cycle_add_up(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b", "/c"]);
    let ids = ["/", "/a", "/b", "/c"].map(|path| begun.id(path));
    let from = begun.seed;
    let tally = |requests| Tally { requests, bytes: requests * 100, deferred: 1 };
    let with = |begun: &mut Begun, visits: Vec<VisitRecord>, requests| {
        let whole = Batch { tally: tally(requests), ..batch(visits) };
        begun.take(whole).expect("the batch is taken");
    };
    let links = vec![found("/new", from, Some(ids[0]))];
    let first = vec![
        VisitRecord { found: links, ..fetched(ids[0], b"one", "one", NOW) },
        fetched(ids[1], b"a", "a", NOW),
        visit(ids[2], Outcome::Missing, NOW),
        visit(ids[3], Outcome::Refused(Refused::Robots), NOW),
    ];
    with(&mut begun, first, 3);
    begun.next_cycle();
    let second = vec![
        fetched(ids[0], b"two", "two", NOW),
        visit(ids[1], Outcome::NotModified, NOW),
        redirected(ids[2], "/a", false, NOW),
        visit(ids[3], Outcome::Failed(Failure::Tls), NOW),
    ];
    with(&mut begun, second, 4);
    with(&mut begun, Vec::new(), 2);
    drop(begun);

    let cycles = place.open().cycles(10).expect("cycles");
    let counts: Vec<[u64; 8]> = cycles
        .iter()
        .map(|c| [c.requests, c.bytes, c.deferred, c.fetched, c.new_pages, c.changed, c.unchanged, c.failed])
        .collect();
    assert_eq!(counts, [[6, 600, 2, 2, 0, 1, 1, 1], [3, 300, 1, 2, 1, 0, 0, 1]]);
}

/// Pages of two hosts, in every state of their life, one alias among them.
fn varied(place: &dyn Place) -> Begun {
    let mut begun = begun(place, &["/", "https://other.example:8443/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let names = ["/alive", "/missing", "/gone", "/failing", "/blocked", "/redirected", "/alias", "/new"];
    let mut links: Vec<NewPage> = names.iter().map(|path| found(path, from, Some(root))).collect();
    links.push(NewPage { depth: 4, ..found("https://other.example:8443/deep?x=%25_1", from, Some(root)) });
    begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    let ids: BTreeMap<&str, PageId> = names.iter().map(|path| (*path, begun.id(path))).collect();
    begun.record(vec![
        fetched(ids["/alive"], b"alive", "alive", NOW),
        visit(ids["/missing"], Outcome::Missing, NOW),
        visit(ids["/gone"], Outcome::Missing, NOW),
        visit(ids["/gone"], Outcome::Missing, NOW),
        visit(ids["/failing"], Outcome::Failed(Failure::TooLarge), NOW),
        visit(ids["/blocked"], Outcome::Refused(Refused::Robots), NOW),
        redirected(ids["/redirected"], "/alive", false, NOW),
        redirected(ids["/alias"], "/alive", true, NOW),
    ]);
    begun.next_cycle();
    begun.record(vec![redirected(ids["/alias"], "/alive", true, NOW)]);
    begun
}

pub fn summary_and_list_agree(place: &dyn Place) {
    let mut begun = varied(place);
    let store = &mut *begun.store;
    let summary = store.summary().expect("a summary");
    let rows = listed(store, &PageFilter::default());
    assert_eq!(summary.known, rows.len() as u64);
    assert_eq!(summary.known, 10);
    assert_eq!(summary.aliases, 1);
    assert_eq!(summary.visited, rows.iter().filter(|row| row.last_visit_at.is_some()).count() as u64);
    for life in Life::ALL {
        let of_life = listed(store, &PageFilter { life: Some(life), ..PageFilter::default() });
        assert_eq!(summary.life(life), of_life.len() as u64, "{}", life.name());
        assert!(of_life.iter().all(|row| row.state == life.name()));
        assert!(!of_life.is_empty(), "{}", life.name());
    }
    assert_eq!(summary.lives.iter().map(|(_, count)| count).sum::<u64>(), summary.known);
    for (outcome, count) in &summary.last_outcomes {
        let filter = PageFilter { outcome: Some(outcome.clone()), ..PageFilter::default() };
        assert_eq!(listed(store, &filter).len() as u64, *count, "{outcome}");
    }
    assert_eq!(summary.hosts, 2);
    assert_eq!(summary.seeds, 2);
    assert_eq!(summary.observations, 10);
    let of_hosts: u64 = store.hosts().expect("hosts").iter().map(|host| host.pages).sum();
    assert_eq!(of_hosts, summary.known + summary.aliases);
}

pub fn lists_are_filtered_by_everything_asked_for(place: &dyn Place) {
    let mut begun = varied(place);
    let store = &mut *begun.store;
    let mut paths = |filter: PageFilter| -> Vec<String> {
        let short = |row: PageRow| {
            row.url.replace("https://example.org", "").replace("https://other.example:8443", "o")
        };
        listed(store, &filter).into_iter().map(short).collect()
    };
    let all = PageFilter::default;
    assert_eq!(paths(all()).len(), 10);
    assert_eq!(paths(PageFilter { aliases: true, ..all() }).len(), 11);
    for host in ["other.example", "other.example:8443", "https://other.example:8443"] {
        let of_host = paths(PageFilter { host: Some(host.to_owned()), ..all() });
        assert_eq!(of_host, ["o/", "o/deep?x=%25_1"], "{host}");
    }
    for host in
        ["example", "ther.example", "other.example:443", "%", "%.example", "http://other.example:8443"]
    {
        assert_eq!(paths(PageFilter { host: Some(host.to_owned()), ..all() }), [""; 0], "{host}");
    }
    assert_eq!(paths(PageFilter { url: Some("?x=%25_".to_owned()), ..all() }), ["o/deep?x=%25_1"]);
    assert_eq!(paths(PageFilter { url: Some("_".to_owned()), ..all() }), ["o/deep?x=%25_1"], "no wildcard");
    assert_eq!(paths(PageFilter { url: Some("'; DROP TABLE page".to_owned()), ..all() }), [""; 0]);
    assert_eq!(paths(PageFilter { outcome: Some("too-large".to_owned()), ..all() }), ["/failing"]);
    assert_eq!(paths(PageFilter { max_depth: Some(0), ..all() }), ["/", "o/"]);
    assert_eq!(paths(PageFilter { max_depth: Some(3), ..all() }).len(), 9);
    assert_eq!(paths(PageFilter { limit: Some(3), ..all() }), ["/", "o/", "/alive"], "in order of their ids");
    assert_eq!(paths(PageFilter { limit: Some(0), ..all() }), [""; 0]);
    let both = PageFilter {
        life: Some(Life::Alive),
        host: Some("example.org".to_owned()),
        url: Some("live".to_owned()),
        max_depth: Some(1),
        limit: Some(5),
        ..all()
    };
    assert_eq!(paths(both), ["/alive"]);
}
