//! Counts that are kept beside the rows are those of the rows, whatever was done; and lists go on from any place.

use super::*;
use freshet::store::views::day_of;
use freshet::store::{Brought, BroughtKind, DayTally, MOST_TICKS, NamedInstead, PageCursor};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

const HOSTS: [&str; 3] = ["https://example.org", "https://other.example", "https://third.example"];

/// An address of a small web: pages meet again and again.
fn anywhere(random: &mut Pcg64Mcg) -> String {
    format!("{}/{}", HOSTS[random.random_range(0..HOSTS.len())], random.random_range(0..25))
}

/// A visit of a page that ends in some way.
fn any_visit(random: &mut Pcg64Mcg, page: PageId, seed: SeedId, at: Timestamp) -> VisitRecord {
    let target = url(&anywhere(random)).fingerprint();
    let text = words(random.random_range(0..4), 20);
    let mut visit = match random.random_range(0..12) {
        0 => visit(page, Outcome::Missing, at),
        1 => visit(page, Outcome::ServerError, at),
        2 => visit(page, Outcome::Refused(Refused::Robots), at),
        3 => redirected(page, &anywhere(random), random.random_bool(0.5), at),
        4 => visit(page, Outcome::NotModified, at),
        5 => VisitRecord { alias: Some(target), ..read(page, &text, at) },
        6 => VisitRecord { alias: Some(target), ..read(page, "one text that many pages have", at) },
        _ => read(page, &text, at),
    };
    for _ in 0..random.random_range(0..3) {
        let url = url(&anywhere(random));
        visit.found.push(NewPage { url, depth: 1, seed, found_on: Some(page), lastmod: None, anchor: None });
    }
    visit
}

/// Does something, of all that writes to a store.
fn anything(begun: &mut Begun, random: &mut Pcg64Mcg, at: Timestamp) {
    let ids: Vec<PageId> = pages(&mut *begun.store).iter().map(|page| page.id).collect();
    let any = |random: &mut Pcg64Mcg| ids[random.random_range(0..ids.len())];
    match random.random_range(0..20) {
        0 => {
            begun.store.close_cycle(begun.cycle, at, None).expect("the cycle closes");
            let open = begun.store.open_cycle(CycleCommand::Crawl, "breadth-first", None, at);
            begun.cycle = open.expect("a cycle opens").id;
        }
        1 if ids.len() > 8 => {
            let forgotten = [any(random), any(random)];
            begun.store.forget(&forgotten, at).expect("they are forgotten");
        }
        2 => {
            let seed =
                Seed { url: url(&anywhere(random)), weight: 2.0, max_depth: None, scope: None, line: None };
            begun.store.add_seeds(&[seed], at).expect("a seed");
        }
        3 => drop(begun.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild")),
        4 => {
            let gain = MeasuredGain { at, delta: 0.5, is_first: false };
            let row = GainRow { page: any(random), measure: MEASURE, gain, words: Vec::new() };
            let gains = vec![row.clone(), row];
            begun.store.commit(&Commit { gains, ..Commit::default() }).expect("gains are kept");
        }
        5 => {
            let mut signals = PageSignals::default();
            for _ in 0..random.random_range(0..4) {
                signals.learn(SignalKind::ALL[random.random_range(0..SignalKind::ALL.len())]);
            }
            let page_signals = vec![(any(random), signals)];
            begun.store.commit(&Commit { page_signals, ..Commit::default() }).expect("signals are counted");
        }
        _ => {
            let mut visits = Vec::new();
            for second in 0..random.random_range(1..6) {
                let at = at.plus(Duration::from_secs(second));
                let page = any(random);
                visits.push(any_visit(random, page, begun.seed, at));
            }
            begun.take(Batch { now: at, ..batch(visits) }).expect("the batch is taken");
        }
    }
}

/// Compares every view that reads counts with what the rows say, without a word of how they are counted.
fn assert_counts_are_those_of_the_rows(store: &mut dyn Store, cycle: CycleId) {
    let rows = listed(store, &PageFilter { aliases: true, ..PageFilter::default() });
    let known: Vec<&PageRow> = rows.iter().filter(|row| row.state != "alias").collect();
    let all = pages(store);
    let mut log = Vec::new();
    store.each_visit(&mut |visit| log.push(visit)).expect("the log");
    log.sort_by_key(|visit| visit.id);
    let host_of: BTreeMap<PageId, _> = all.iter().map(|page| (page.id, page.host)).collect();

    let mut told: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (page, kind) in all.iter().flat_map(|page| SignalKind::ALL.map(|kind| (page, kind))) {
        let count = page.state.signals.of(kind);
        if count.total > 0 {
            let (total, unused) = told.entry((page.host, kind.name())).or_default();
            *total += u64::from(count.total);
            *unused += u64::from(count.since_visit);
        }
    }
    let kept = store.signal_totals().expect("totals of signals").into_iter();
    let kept: Vec<_> = kept.map(|row| ((row.host, row.kind.name()), (row.total, row.unused))).collect();
    assert_eq!(kept, told.into_iter().collect::<Vec<_>>());

    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.aliases), (known.len() as u64, (rows.len() - known.len()) as u64));
    assert_eq!(summary.visited, known.iter().filter(|row| row.last_visit_at.is_some()).count() as u64);
    assert_eq!(summary.observations, log.len() as u64);
    for (life, count) in &summary.lives {
        assert_eq!(*count, known.iter().filter(|row| row.state == *life).count() as u64, "{life}");
    }
    for (outcome, count) in &summary.last_outcomes {
        assert_eq!(*count, known.iter().filter(|row| row.outcome.as_ref() == Some(outcome)).count() as u64);
    }
    let versions: Vec<VersionId> = (1..=200).map(VersionId).collect();
    let versions = store.version_facts(&versions).expect("versions");
    assert_eq!(summary.versions, versions.len() as u64);
    let bytes: u64 = versions.iter().map(|version| version.body_bytes + version.text_bytes).sum();
    assert_eq!(summary.content_bytes, bytes);

    let tallies = store.host_tallies(cycle).expect("tallies");
    for host in store.hosts().expect("hosts") {
        let of_host: Vec<&KnownPage> = all.iter().filter(|page| page.host == host.id).collect();
        assert_eq!(host.pages, of_host.len() as u64);
        let Some(tally) = tallies.get(&host.id) else {
            assert!(of_host.is_empty());
            continue;
        };
        let in_cycle =
            of_host.iter().filter(|page| page.alias_of.is_none() && page.last_cycle == Some(cycle));
        assert_eq!(tally.lives_in_cycle.values().sum::<u64>(), in_cycle.count() as u64);
        assert_eq!(tally.last_success_at, of_host.iter().filter_map(|page| page.state.seen_at).max());
        let visits = log.iter().filter(|visit| visit.cycle == cycle && host_of[&visit.page] == host.id);
        assert_eq!(tally.received_bytes, visits.map(|visit| visit.bytes).sum::<u64>());

        let mut ticks = store.ticks(&[host.id]).expect("ticks").remove(&host.id).unwrap_or_default();
        let mut visits: Vec<&VisitRow> = log.iter().filter(|visit| host_of[&visit.page] == host.id).collect();
        visits.drain(..visits.len().saturating_sub(MOST_TICKS));
        assert_eq!(ticks.len(), visits.len());
        for (tick, visit) in ticks.drain(..).zip(visits) {
            assert_eq!(tick.at.millis(), visit.at.millis() / 1000 * 1000);
            assert_eq!(tick.brought, BroughtKind::of(&visit.outcome, visit.changed));
            let apart = visit.divergence.zip(tick.divergence).map_or(0.0, |(is, was)| is - f64::from(was));
            assert!(tick.divergence.is_some() == visit.divergence.is_some() && apart.abs() < 0.003);
        }
    }

    let mut days: BTreeMap<_, DayTally> = BTreeMap::new();
    for visit in &log {
        let (day, host) = (day_of(visit.at), host_of[&visit.page]);
        let none = DayTally { day, host, brought: Brought::default(), divergence: 0.0, bytes: 0 };
        let tally = days.entry((day, host)).or_insert(none);
        let kind = BroughtKind::of(&visit.outcome, visit.changed);
        let place = BroughtKind::ALL.iter().position(|other| *other == kind).expect("a kind");
        let mut one = [0; 8];
        one[place] = 1;
        tally.brought.add(&Brought::from_counts(one));
        tally.bytes += visit.bytes;
        tally.divergence += visit.divergence.filter(|_| visit.changed == Some(true)).unwrap_or(0.0);
    }
    let kept = store.day_tallies(i64::MIN, i64::MAX).expect("tallies");
    assert_eq!(kept.len(), days.len());
    for (kept, counted) in kept.iter().zip(days.values()) {
        assert_eq!((kept.day, kept.host, kept.brought), (counted.day, counted.host, counted.brought));
        assert_eq!(kept.bytes, counted.bytes);
        assert!((kept.divergence - counted.divergence).abs() < 1e-3);
    }

    let mut named: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for row in &rows {
        let host = HOSTS.iter().find(|host| row.url.starts_with(*host)).expect("a host");
        if let (Some(target), None | Some(false)) = (&row.same_as, row.same_text) {
            let (pages, unlike) = named.entry((host.to_string(), target.clone())).or_default();
            *pages += 1;
            *unlike += u64::from(row.same_text == Some(false));
        }
    }
    let named: Vec<NamedInstead> = named
        .into_iter()
        .map(|((host, target), (pages, unlike))| NamedInstead { host, target, pages, unlike })
        .collect();
    assert_eq!(store.named_instead(1, 1).expect("groups"), named);
    assert_eq!(store.recount(false).expect("a count"), 0, "all that is kept");
}

pub fn kept_counts_are_those_of_the_rows(place: &dyn Place) {
    for history in 0..4 {
        let place = place.another();
        let mut begun = begun(&*place, &["https://example.org/0", "https://other.example/1"]);
        let mut random = Pcg64Mcg::seed_from_u64(history);
        for step in 0..60 {
            // Every step is later than the one before, some of them on another day.
            anything(&mut begun, &mut random, later(step * 10_000));
            assert_eq!(begun.store.recount(false).expect("a count"), 0, "history {history}, step {step}");
            if step % 6 == 5 {
                assert_counts_are_those_of_the_rows(&mut *begun.store, begun.cycle);
            }
        }
        let before = derived(&mut *begun.store);
        drop(begun.store);
        let mut store = place.open();
        assert_eq!(derived(&mut *store), before, "after it was closed");
        assert_counts_are_those_of_the_rows(&mut *store, begun.cycle);
    }
}

pub fn a_batch_that_fails_leaves_the_counts_of_the_rows(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one", NOW)]);
    let unknown = read(PageId(99), "two", later(1));
    assert!(begun.take(batch(vec![read(root, "two", later(1)), unknown])).is_err());
    assert_counts_are_those_of_the_rows(&mut *begun.store, begun.cycle);
}

pub fn a_list_goes_on_from_any_place(place: &dyn Place) {
    let mut begun = begun(place, &["https://example.org/0", "https://other.example/1"]);
    let mut random = Pcg64Mcg::seed_from_u64(9);
    for step in 0..40 {
        anything(&mut begun, &mut random, later(step * 1000));
    }
    let store = &mut *begun.store;
    let orders = [
        PageOrder::Number,
        PageOrder::Url,
        PageOrder::Changes,
        PageOrder::Visits,
        PageOrder::Failures,
        PageOrder::LastVisit,
        PageOrder::Found,
        PageOrder::Bytes,
        PageOrder::Weight,
        PageOrder::Due,
    ];
    let filters = [
        PageFilter { aliases: true, ..PageFilter::default() },
        PageFilter { host: Some("example.org".to_owned()), ..PageFilter::default() },
        PageFilter { life: Some(Life::Missing), ..PageFilter::default() },
    ];
    for (order, filter) in orders.iter().flat_map(|order| filters.iter().map(move |filter| (*order, filter)))
    {
        let forwards = listed(store, &PageFilter { order, ..filter.clone() });
        let urls = |rows: &[PageRow]| rows.iter().map(|row| row.url.clone()).collect::<Vec<_>>();
        for reversed in [false, true] {
            let mut whole = urls(&forwards);
            if reversed {
                whole.reverse();
            }
            let mut filter = PageFilter { order, reversed, limit: Some(3), ..filter.clone() };
            let mut read: Vec<String> = Vec::new();
            loop {
                let rows = listed(store, &filter);
                read.extend(urls(&rows));
                let Some(last) = rows.last() else { break };
                let place = PageCursor::behind(last, order).to_string();
                filter.after = Some(place.parse().expect("a place"));
            }
            assert_eq!(read, whole, "{order:?}, reversed: {reversed}");
        }
        assert!(forwards.len() > 1, "{order:?}");
    }
}
