//! What looking at a large store costs: `freshet status`, `status --sites`, and a page of the list of pages in every order.
//!
//! `cargo bench --bench look` makes a store of 10⁶ pages on 1000 hosts with two million visits in 40 cycles, 700 MB, as an earlier release would
//! have left it: counting it once is the first figure. `FRESHET_BENCH_PAGES_COUNT` sets another number of pages, `FRESHET_BENCH_STORE`
//! names a file to keep the store in.

// A benchmark that can't be set up says so by panicking.
#![allow(clippy::expect_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use freshet::look::sites::sites;
use freshet::look::status::status;
use freshet::page::{Normaliser, Sites};
use freshet::store::{self, PageCursor, PageFilter, PageOrder};
use freshet::time::Timestamp;
use freshet::unique::seeds;
use rusqlite::{Connection, params};
use xxhash_rust::xxh3::xxh3_64;

const NOW: Timestamp = Timestamp::from_seconds(1_794_800_000);
const DAY_MS: i64 = 86_400_000;
const HOSTS: i64 = 1000;
const CYCLES: i64 = 40;

/// Writes pages, their versions and visits past the store, and leaves a note that nothing of it is counted.
fn fill(path: &Path, pages: i64) {
    let normaliser = Normaliser::new(&[] as &[&str], 2048);
    let mut store = store::open(path).expect("a store");
    let list: String = (0..HOSTS).map(|host| format!("http://host-{host}.example/\n")).collect();
    store.add_seeds(&seeds::read("bench", list.as_bytes(), &normaliser).seeds, NOW).expect("seeds");
    let first = store.log_end().expect("a log") + 1;
    drop(store);
    let mut connection = Connection::open(path).expect("a store");
    let transaction = connection.transaction().expect("a transaction");
    for cycle in 1..=CYCLES {
        let began = NOW.millis() - (CYCLES + 1 - cycle) * DAY_MS;
        transaction
            .execute(
                "INSERT INTO cycle (id, started_at, ended_at, policy, command, last_page) VALUES (?1, ?2, ?3, 'calibrated', 'monitor', ?4)",
                params![cycle, began, began + DAY_MS / 2, HOSTS],
            )
            .expect("a cycle");
    }
    for number in 0..pages {
        let id = HOSTS + 1 + number;
        let bits = xxh3_64(&number.to_le_bytes());
        let (host, cycle) = (number % HOSTS, 1 + (bits >> 8) as i64 % CYCLES);
        let at = NOW.millis() - (CYCLES + 1 - cycle) * DAY_MS + (bits >> 16) as i64 % (DAY_MS / 2);
        let url =
            normaliser.parse(&format!("http://host-{host}.example/section/{}/page-{number}", number % 17));
        let url = url.expect("a URL");
        let is_new = bits.is_multiple_of(10);
        let (state, outcome) = match bits % 50 {
            _ if is_new => ("new", None),
            1 => ("gone", Some("missing")),
            3 => ("failing", Some("server-error")),
            rest if rest % 2 == 1 => ("alive", Some("fetched")),
            _ => ("alive", Some("not-modified")),
        };
        let version = (state == "alive").then_some(id);
        if let Some(version) = version {
            transaction
                .prepare_cached(
                    "INSERT INTO version (id, body_hash, text_hash, first_seen, body_bytes, text_bytes, content)
                     VALUES (?1, ?2, ?2, ?3, ?4, 900, ?5)",
                )
                .expect("a statement")
                .execute(params![version, bits.to_le_bytes(), at, 500 + (bits >> 1) as i64 % 90_000, [7_u8; 24]])
                .expect("a version");
        }
        let failures = if state == "alive" || is_new { 0 } else { 1 + (bits >> 1) as i64 % 5 };
        let alias = (bits.is_multiple_of(9) && version.is_some()).then_some(1 + (bits >> 1) as i64 % HOSTS);
        transaction
            .prepare_cached(
                "INSERT INTO page (id, fingerprint, url, host_id, seed_id, depth, hops, found_at, weight, state, last_outcome, visits,
                    changes, failures, due_at, last_visit_at, last_cycle_id, seen_at, version_id, alias_of, same_as, same_text, learnt,
                    body_bytes)
                 VALUES (?1, ?2, ?3, 1 + ?4, 1 + ?4, ?5, 0, ?6, 1.0, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17, ?18, ?19, ?20)",
            )
            .expect("a statement")
            .execute(params![
                id,
                url.fingerprint().to_bytes(),
                url.as_str(),
                host,
                1 + number % 6,
                NOW.millis() - 60 * DAY_MS + number / 200 * 1000,
                state,
                outcome,
                if is_new { 0 } else { 2 + (bits >> 1) as i64 % 58 },
                if version.is_some() { (bits >> 1) as i64 % 10 } else { 0 },
                failures,
                if failures > 0 { NOW.millis() + DAY_MS } else { 0 },
                outcome.map(|_| at),
                outcome.map(|_| cycle),
                version.map(|_| at),
                version,
                alias,
                alias.map(|_| true),
                outcome.map(|_| [3_u8; 140]),
                version.map(|_| 500 + (bits >> 1) as i64 % 90_000),
            ])
            .expect("a page");
        for (cycle, at, outcome) in outcome.into_iter().flat_map(|outcome| {
            let before = (cycle > 1).then_some((cycle - 1, at - DAY_MS, "fetched"));
            before.into_iter().chain([(cycle, at, outcome)])
        }) {
            transaction
                .prepare_cached(
                    "INSERT INTO observation (page_id, cycle_id, at, outcome, status, changed, bytes, took_ms, version_id)
                     VALUES (?1, ?2, ?3, ?4, 200, ?5, 5000, 120, ?6)",
                )
                .expect("a statement")
                .execute(params![id, cycle, at, outcome, outcome == "fetched", version])
                .expect("a visit");
        }
    }
    transaction
        .execute("INSERT INTO note (name, value) VALUES ('counts-kept-to', 'pages 0')", [])
        .expect("a note");
    transaction.commit().expect("all pages");
    let begun = Instant::now();
    let mut store = store::open(path).expect("a store");
    println!(
        "counting {pages} pages and {} visits once: {:.1?}",
        store.log_end().expect("a log") + 1 - first,
        begun.elapsed()
    );
    assert_eq!(store.summary().expect("a summary").versions > 0, pages > 0);
}

fn looking(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = std::env::var_os("FRESHET_BENCH_STORE");
    let path = kept.map_or_else(|| folder.path().join("bench.db"), Into::into);
    let pages = std::env::var("FRESHET_BENCH_PAGES_COUNT").ok().and_then(|count| count.parse().ok());
    let pages = pages.unwrap_or(1_000_000);
    if !path.exists() {
        fill(&path, pages);
    }
    let mut group = criterion.benchmark_group(format!("look at {pages} pages"));
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("status", |bencher| {
        bencher.iter(|| {
            let mut store = store::open_to_look(&path).expect("a store");
            status(&mut *store, 5, false, NOW).expect("a status")
        });
    });
    group.bench_function("sites", |bencher| {
        bencher.iter(|| {
            let mut store = store::open_to_look(&path).expect("a store");
            sites(&mut *store, &Sites::default(), NOW).expect("sites").sites.len()
        });
    });
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
    for order in orders {
        let mut store = store::open_to_look(&path).expect("a store");
        let mut list = |after: Option<PageCursor>, limit: u64| {
            let filter = PageFilter { order, after, limit: Some(limit), ..PageFilter::default() };
            let mut last = None;
            store
                .list_pages(&filter, &mut |row| last = Some(PageCursor::behind(&row, order)))
                .expect("a list");
            last
        };
        group.bench_function(BenchmarkId::new("the first 50", format!("{order:?}")), |bencher| {
            bencher.iter(|| list(None, 50));
        });
        // The middle of the list.
        let middle = list(None, pages as u64 * 2 / 5);
        group.bench_function(BenchmarkId::new("50 from the middle", format!("{order:?}")), |bencher| {
            bencher.iter(|| list(middle.clone(), 50));
        });
    }
    group.finish();
}

criterion_group!(benches, looking);
criterion_main!(benches);
