//! Signals: facts of their own, the counts that follow from them, the lists they come from, and pings.

use super::*;

impl Begun {
    /// Records what is told, and these visits.
    #[track_caller]
    fn hear(&mut self, told: Vec<ToldChange>, visits: Vec<VisitRecord>) {
        self.take(Batch { told, ..batch(visits) }).expect("the batch is taken");
    }

    /// A sitemap that was read at `learnt` says that the page changed at `date`.
    #[track_caller]
    fn listed(&mut self, path: &str, date: u64, learnt: u64) {
        self.hear(vec![told_by(SignalKind::Sitemap, path, later(date), later(learnt))], Vec::new());
    }

    fn signals(&mut self, path: &str) -> PageSignals {
        page(&mut *self.store, path).state.signals
    }

    fn count(&mut self, path: &str, kind: SignalKind) -> (u32, u32) {
        let SignalCount { since_visit, total } = self.signals(path).of(kind);
        (since_visit, total)
    }

    fn log_of(&mut self, path: &str) -> Vec<Signal> {
        let page = self.id(path);
        self.store.signals_of(&[page]).expect("signals")
    }

    fn trust(&mut self, kind: SignalKind) -> Option<HostTrust> {
        let rows = self.store.trust().expect("trust");
        rows.into_iter().find(|row| row.kind == kind).map(|row| row.trust)
    }
}

pub fn signals_are_facts_that_pages_count(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/never"]);
    let (root, a) = (begun.id("/"), begun.id("/a"));
    begun.record(vec![read(root, "home", later(10)), read(a, "one", later(10))]);
    assert_eq!(begun.signals("/a"), PageSignals::default());
    begun.listed("/a", 100, 150);
    begun.hear(vec![told_by(SignalKind::Feed, "/a", later(200), later(250))], Vec::new());
    begun.hear(vec![told_by(SignalKind::Ping, "/never", later(300), later(310))], Vec::new());
    begun.listed("/never", 200, 250);
    begun.listed("/unknown", 200, 250);
    let facts = vec![
        Signal { page: a, kind: SignalKind::Sitemap, date: Some(later(100)), learnt_at: later(150) },
        Signal { page: a, kind: SignalKind::Feed, date: Some(later(200)), learnt_at: later(250) },
    ];
    // A sitemap gives whole seconds.
    assert_eq!(begun.log_of("/a"), facts);
    let never = begun.id("/never");
    let all = begun.store.signals_of(&[never, a, root]).expect("signals");
    assert_eq!(all.iter().map(|signal| signal.page).collect::<Vec<_>>(), [a, a, never], "page by page");
    assert_eq!(begun.count("/a", SignalKind::Sitemap), (1, 1));
    assert_eq!(begun.count("/a", SignalKind::Feed), (1, 1));
    assert_eq!(begun.count("/never", SignalKind::Ping), (1, 1), "people may ask for a page without a copy");
    assert_eq!(begun.count("/never", SignalKind::Sitemap), (0, 0), "its first visit is due in any case");
    let before = begun.signals("/a");
    drop(begun);
    let mut store = place.open();
    assert_eq!(store.known_page(a).expect("a page").map(|page| page.state.signals), Some(before));
    assert_eq!(page(&mut *store, "/").state.signals, PageSignals::default());
}

pub fn a_visit_uses_up_what_was_told_before_it(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one", later(10))]);
    begun.listed("/", 50, 60);
    begun.listed("/", 70, 80);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (2, 2));
    // A visit that fails leaves them as they are.
    begun.record(vec![visit(root, Outcome::ServerError, later(90))]);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (2, 2));
    // This one was on its way when the last signal came: what it brought is older than that.
    begun.listed("/", 130, 140);
    begun.record(vec![read(root, "two", later(100))]);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (1, 3));
    // So is one of the same batch.
    let told = vec![told_by(SignalKind::Sitemap, "/", later(230), later(240))];
    begun.hear(told, vec![visit(root, Outcome::NotModified, later(200))]);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (1, 4));
    begun.record(vec![visit(root, Outcome::NotModified, later(300))]);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (0, 4));
}

pub fn what_a_visit_has_seen_is_no_signal(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one", later(100))]);
    begun.listed("/", 90, 150);
    assert!(begun.log_of("/").is_empty(), "it changed before the visit");
    begun.listed("/", 120, 160);
    begun.listed("/", 120, 170);
    begun.listed("/", 110, 180);
    assert_eq!(begun.log_of("/").len(), 1, "a date that stands still or moves back says nothing");
    begun.listed("/", 500 * DAY, 190);
    assert_eq!(begun.log_of("/").len(), 1, "nor does one of the future");
    begun.listed("/", 200, 210);
    assert_eq!(begun.log_of("/").len(), 2, "the site mended its dates");
    assert_eq!(
        row(&mut *begun.store, "/").sitemap_lastmod.map(|at| at.millis() / 1000),
        Some(later(200).millis() / 1000)
    );
}

pub fn a_page_collects_no_more_signals_than_tell_anything(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one", later(1))]);
    let more = u64::from(MOST_UNUSED) + 9;
    (1..more).for_each(|hour| begun.listed("/", hour * 3600, hour * 3600 + 9));
    assert_eq!(begun.count("/", SignalKind::Sitemap), (MOST_UNUSED, MOST_UNUSED));
    begun.record(vec![visit(root, Outcome::NotModified, later(more * 3600))]);
    begun.listed("/", more * 3600 + 60, more * 3600 + 70);
    assert_eq!(begun.count("/", SignalKind::Sitemap), (1, MOST_UNUSED + 1));
}

pub fn links_that_appear_and_entries_of_feeds_are_signals(place: &dyn Place) {
    let mut begun = begun(place, &["/hub", "/feed", "/a", "/b", "/c", "/d"]);
    let [hub, feed, a, b, c, d] = ["/hub", "/feed", "/a", "/b", "/c", "/d"].map(|path| begun.id(path));
    begun.record([a, b, c].map(|page| read(page, &format!("page {page:?}"), later(5))).into());
    let links = |paths: &[&str]| Some(paths.iter().map(|path| url(path).fingerprint().prefix()).collect());
    let at = |seconds: u64, visit: VisitRecord| VisitRecord {
        read_at: later(seconds + 1),
        same_rules: true,
        ..visit
    };
    let linked = |paths: &[&str], seconds: u64| {
        let text = format!("links {paths:?}");
        at(seconds, VisitRecord { links: links(paths), ..read(hub, &text, later(seconds)) })
    };
    begun.record(vec![linked(&["/a", "/c"], 10)]);
    assert_eq!(begun.count("/a", SignalKind::Hub), (0, 0), "there was nothing to compare with");
    begun.record(vec![linked(&["/b", "/hub", "/d", "/a", "/c"], 20)]);
    assert_eq!(begun.count("/b", SignalKind::Hub), (1, 1));
    let told = Signal { page: b, kind: SignalKind::Hub, date: None, learnt_at: later(21) };
    assert_eq!(begun.log_of("/b"), [told]);
    assert_eq!(begun.count("/hub", SignalKind::Hub), (0, 0), "a page does not tell of itself");
    assert_eq!(begun.count("/d", SignalKind::Hub), (0, 0), "it was never visited");
    // Links that other rules took are not new on the page.
    begun.record(vec![VisitRecord { same_rules: false, ..linked(&["/b"], 30) }]);
    begun.record(vec![VisitRecord { same_rules: false, ..linked(&["/a", "/b"], 40) }]);
    assert_eq!(begun.count("/a", SignalKind::Hub), (0, 0));
    let entries = |dated: &[(&str, u64)], paths: &[&str], seconds: u64| {
        let entries: Vec<_> = dated
            .iter()
            .map(|(path, date)| (url(path).fingerprint(), later(*date).millis() / 1000))
            .collect();
        let dates = Some(entries.iter().map(|(_, date)| *date).collect());
        let text = format!("feed {dated:?} {paths:?}");
        let visit = VisitRecord {
            entries,
            entry_dates: dates,
            links: links(paths),
            ..read(feed, &text, later(seconds))
        };
        at(seconds, visit)
    };
    begun.record(vec![entries(&[("/a", 50), ("/c", 2)], &["/a", "/c"], 60)]);
    assert_eq!(begun.count("/a", SignalKind::Feed), (1, 1), "by the date of its entry");
    assert_eq!(begun.count("/c", SignalKind::Feed), (0, 0), "an entry of long ago");
    begun.record(vec![entries(&[("/a", 50)], &["/b", "/a", "/c"], 70)]);
    assert_eq!(begun.count("/a", SignalKind::Feed), (1, 1));
    assert_eq!(begun.count("/b", SignalKind::Feed), (1, 1), "an entry that appeared without a date");
    begun.record(vec![read(d, "d", later(75)), entries(&[("/d", 74)], &["/d"], 80)]);
    assert_eq!(begun.count("/d", SignalKind::Feed), (0, 0));
}

/// A history with signals of every kind, right and wrong ones, and visits that are late.
fn told_history(place: &dyn Place) -> Begun {
    let mut begun = begun(place, &["/a", "/b", "https://second.example/"]);
    let ids = ["/a", "/b", "https://second.example/"].map(|path| begun.id(path));
    for day in 0..14_u64 {
        let base = day * DAY;
        let mut told = Vec::new();
        for (place, path) in ["/a", "/b", "https://second.example/"].iter().enumerate() {
            let kind = SignalKind::ALL[(day as usize + place) % 4];
            if kind != SignalKind::Hub && !(day + place as u64).is_multiple_of(3) {
                told.push(told_by(kind, path, later(base + 100), later(base + 3700)));
            }
        }
        let visits = ids.iter().enumerate().map(|(place, page)| {
            let sent = later(base + if day % 4 == 0 { 3000 } else { 9000 });
            match (day + place as u64) % 5 {
                0 => visit(*page, Outcome::ServerError, sent),
                1 => visit(*page, Outcome::NotModified, sent),
                _ => read(*page, &words(day as usize * place, 50), sent),
            }
        });
        begun.hear(told, visits.collect());
        begun.next_cycle();
    }
    begun
}

pub fn visits_say_how_far_a_host_is_trusted(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one", later(10))]);
    begun.record(vec![read(root, "two", later(20))]);
    assert_eq!(begun.trust(SignalKind::Sitemap), None);
    // Told and right.
    begun.listed("/", 30, 90);
    begun.record(vec![read(root, "three", later(100))]);
    // Told and wrong.
    begun.listed("/", 110, 120);
    begun.record(vec![visit(root, Outcome::NotModified, later(130))]);
    // Not told.
    begun.record(vec![read(root, "four", later(140))]);
    begun.record(vec![read(root, "four", later(150))]);
    let trust = begun.trust(SignalKind::Sitemap).expect("there was a signal");
    assert_eq!((trust.right, trust.wrong, trust.missed, trust.quiet), (1, 1, 1, 1));
    assert_eq!(trust.since, later(90));
    // Lists give whole seconds.
    assert_eq!((trust.dated, trust.late_ms / 1000), (1, 60));
    assert_eq!(begun.trust(SignalKind::Feed), None);
    let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.signals_differ, rebuilt.pages_differ), (0, 0));
}

pub fn a_rebuild_counts_signals_again_to_the_bit(place: &dyn Place) {
    let mut begun = told_history(place);
    let before = (derived(&mut *begun.store), begun.store.trust().expect("trust"));
    assert!(before.1.len() >= 4, "{:?}", before.1);
    let look = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((look.signals_differ, look.pages_differ), (0, 0), "{look:?}");
    // Wrong counts and trust are repaired.
    let (a, host) = (begun.id("/a"), page(&mut *begun.store, "/a").host);
    let mut wrong = PageSignals::default();
    wrong.learn(SignalKind::Hub);
    let trust = HostTrust::new(later(3));
    let rows = Commit {
        page_signals: vec![(a, wrong)],
        trust: [SignalKind::Hub, SignalKind::Sitemap].map(|kind| TrustRow { host, kind, trust }).to_vec(),
        ..Commit::default()
    };
    begun.store.commit(&rows).expect("a commit");
    let look = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!(look.signals_differ, 3, "{look:?}");
    let repaired = begun.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!(repaired.signals_differ, 3);
    assert_eq!((derived(&mut *begun.store), begun.store.trust().expect("trust")), before);
}

pub fn signals_go_with_a_page_that_is_forgotten(place: &dyn Place) {
    let mut begun = told_history(place);
    let (a, b, second) = (begun.id("/a"), begun.id("/b"), begun.id("https://second.example/"));
    let hosts = [page(&mut *begun.store, "/b").host, page(&mut *begun.store, "https://second.example/").host];
    let of_b = begun.log_of("/b");
    begun.store.forget(&[a, second], later(50 * DAY)).expect("they are forgotten");
    assert_eq!(begun.store.signals_of(&[a, b, second]).expect("signals"), of_b);
    retold::after_forgetting(&mut *begun.store, &hosts).expect("what is left is counted");
    assert!(begun.store.trust().expect("trust").iter().all(|row| row.host == hosts[0]));
    let look = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((look.signals_differ, look.pages_differ), (0, 0), "{look:?}");
}

pub fn sitemap_files_and_pings_come_back(place: &dyn Place) {
    let mut begun = begun(place, &["/", "https://second.example/"]);
    let [host, second] = ["/", "https://second.example/"].map(|path| page(&mut *begun.store, path).host);
    let file = |host, name: &str, entries| ListRow {
        url: format!("https://example.org/{name}.xml"),
        host,
        named_by: (name != "index").then(|| "https://example.org/index.xml".to_owned()),
        listed: (name == "one").then_some(Timestamp::from_seconds(1_700_000_000)),
        read_at: later(9),
        fetched_at: NOW,
        rules: u64::MAX,
        body_hash: u128::MAX - 5,
        etag: Some("\"v1\"".to_owned()),
        last_modified: None,
        is_index: name == "index",
        entries,
        flaw: (name == "two").then_some(ListFlaw::AllEqual),
    };
    let lists = vec![file(host, "two", 3), file(host, "one", 4), file(second, "index", 2)];
    begun.take(Batch { lists, ..batch(Vec::new()) }).expect("they are kept");
    begun.take(Batch { lists: vec![file(host, "two", 5)], ..batch(Vec::new()) }).expect("read again");
    let pinged = |path: &str, seconds| Ping { url: url(path).as_str().to_owned(), at: later(seconds) };
    begun.store.add_pings(&[pinged("/b", 5), pinged("/a", 6)]).expect("pings");
    begun.store.add_pings(&[pinged("/b", 7), pinged("/b", 4)]).expect("pinged again");
    drop(begun);
    let mut store = place.open();
    assert_eq!(store.lists_of(&[host]).expect("lists"), [file(host, "one", 4), file(host, "two", 5)]);
    assert_eq!(store.lists_of(&[second, host]).expect("lists").len(), 3);
    assert!(store.lists_of(&[]).expect("none").is_empty());
    assert_eq!(store.pings().expect("pings"), [pinged("/a", 6), pinged("/b", 7)]);
    // One that was pinged again while it was taken over stays.
    let pings_taken = vec![pinged("/a", 6), pinged("/b", 5)];
    store.commit(&Commit { pings_taken, ..Commit::default() }).expect("they are taken");
    assert_eq!(store.pings().expect("pings"), [pinged("/b", 7)]);
}
