//! What planning a cycle costs: every page scored by the default policy, and the best hundredth chosen.
//!
//! `cargo bench --bench schedule` does it for 10⁵, 10⁶ and 10⁷ pages whose states are made up as they are asked for, on one
//! core, and then for 10⁵ and 10⁶ pages in a real store, from opening it to the plan. It ends with the most memory that the
//! process ever took.

// A benchmark that can't be set up says so by panicking.
#![allow(clippy::expect_used)]

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::learning;
use freshet::crawl::observe::{Observer, Reading, SiteReading};
use freshet::crawl::weights::WeightBy;
use freshet::crawl::{CrawlSettings, Crawler};
use freshet::estimate::{EstimatorState, Memory};
use freshet::extract::text_rules::TextRules;
use freshet::fetch::FetchSettings;
use freshet::fetch::limits::{AddressRules, Limits};
use freshet::fetch::network::{Network, NetworkSettings};
use freshet::fetch::politeness::Politeness;
use freshet::fetch::robots::ProductTokens;
use freshet::observation::Life;
use freshet::page::{HostId, Kin, Normaliser, PageId, Sites};
use freshet::policy::longevity::Replaced;
use freshet::policy::registry::{self, PolicySettings};
use freshet::policy::{self, Learnt, PageState, Policy, Survey};
use freshet::quality::gain::{GainWindow, MeasuredGain};
use freshet::quality::measure::MeasureId;
use freshet::schedule::Candidates;
use freshet::store;
use freshet::time::{Age, Timestamp};
use freshet::unique::seeds;
use freshet::unique::{Scope, ScopeKind, SiteRules, TrapLimits};
use rusqlite::{Connection, params};
use xxhash_rust::xxh3::xxh3_64;

const NOW: Timestamp = Timestamp::from_seconds(1_794_800_000);
/// Pages of one host.
const PER_HOST: i64 = 1000;

/// Page `id` of a made-up collection: a tenth of them new, the others visited up to 60 times, up to 60 days ago.
fn page(id: i64) -> PageState {
    let bits = xxh3_64(&id.to_le_bytes());
    let found_at = Timestamp::from_seconds(1_780_000_000);
    let mut page = PageState::found(PageId(id), HostId(id / PER_HOST), (bits % 7) as u32, 1.0, found_at);
    if bits.is_multiple_of(10) {
        return page;
    }
    let seen_at = Timestamp::from_seconds(1_794_800_000 - (bits >> 8 & 0xff_ffff) as i64 % (60 * 86_400));
    let visits = 1 + (bits >> 32) as u32 % 60;
    let changes = (bits >> 40) as u32 % (visits + 1);
    let watched_days = f64::from(visits) * 2.5;
    page.learnt.state = EstimatorState { visits, changes, watched_days, memory: Memory::Nothing };
    let mut replaced = Replaced::default();
    for visit in 0..visits.min(3) {
        let found = if visit < changes { (bits >> 48 & 0xff) as f64 / 256.0 } else { 0.0 };
        replaced.add(found, 2.5);
    }
    page.learnt.memory.write(|bytes| replaced.push_bytes(bytes));
    page.kin = Kin::of(&url(id));
    (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(seen_at), Some(seen_at));
    page
}

fn default_policy() -> Box<dyn Policy> {
    registry::find(registry::DEFAULT, &PolicySettings::default()).expect("the default policy")
}

fn url(id: i64) -> String {
    format!("http://host-{}.example/section/{}/an-article-about-{id}", id / PER_HOST, id % 17)
}

/// Looks over all of them, scores them and chooses a hundredth, a host having room for a twentieth of its pages.
fn plan(policy: &mut dyn Policy, pages: i64) -> usize {
    plan_of(policy, pages, &mut |look| (0..pages).for_each(|id| look(&page(id))))
}

/// Calls a function with every page.
type WalkPages<'a> = dyn FnMut(&mut dyn FnMut(&PageState)) + 'a;

/// The same with the pages that `each` gives.
fn plan_of(policy: &mut dyn Policy, pages: i64, each: &mut WalkPages<'_>) -> usize {
    policy.survey(&mut Survey {
        now: NOW,
        cycle: 1,
        cycle_length: Age::from_days(1.0),
        visits_a_day: Some(pages as f64 / 100.0),
        hosts: &HashMap::new(),
        memory: &mut None,
        pages: &mut |look| each(&mut |page| look(page, 1)),
    });
    let mut candidates = Candidates::default();
    each(&mut |page| candidates.push(page, policy::score(policy, page, NOW)));
    candidates.choose(pages as usize / 100, None, |_| PER_HOST as usize / 20).visits.len()
}

fn in_memory(criterion: &mut Criterion) {
    let mut policy = default_policy();
    let mut group = criterion.benchmark_group("score all, choose 1 %");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for pages in [100_000, 1_000_000, 10_000_000] {
        group.throughput(Throughput::Elements(pages as u64));
        group.bench_with_input(BenchmarkId::from_parameter(pages), &pages, |bencher, pages| {
            bencher.iter(|| plan(&mut *policy, *pages));
        });
    }
    group.finish();
    println!("the most memory so far: {} MB", peak_megabytes());
}

/// The same for `user-centric`, whose pages remember what their last refreshes gained.
fn by_gains(criterion: &mut Criterion) {
    let settings = PolicySettings { queries: Some(MeasureId(1)), ..PolicySettings::default() };
    let mut policy = registry::find("user-centric", &settings).expect("a policy");
    let window = |id: i64| {
        let bits = xxh3_64(&id.to_le_bytes());
        let mut window = GainWindow::default();
        for visit in 0..(bits >> 32) as i64 % 9 {
            let at = Timestamp::from_seconds(1_794_000_000 + visit * 86_400);
            let changed = (bits >> visit & 1) == 1;
            window.push(at, 86_400_000, changed);
            if changed {
                window.measure(&MeasuredGain {
                    at,
                    delta: (bits >> visit & 0xff) as f64 / 64.0 - 1.0,
                    is_first: false,
                });
            }
        }
        window
    };
    let pages = 1_000_000;
    let states: Vec<PageState> = (0..pages)
        .map(|id| {
            let mut page = page(id);
            page.learnt.memory.write(|bytes| window(id).write(bytes));
            page
        })
        .collect();
    let mut group = criterion.benchmark_group("score all by user-centric, choose 1 %");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5))
        .throughput(Throughput::Elements(pages as u64));
    group.bench_function(BenchmarkId::from_parameter(pages), |bencher| {
        bencher.iter(|| plan_of(&mut *policy, pages, &mut |look| states.iter().for_each(look)));
    });
    group.finish();
}

fn in_a_store(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open a store, plan 1 %");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for pages in [100_000, 1_000_000] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bench.db");
        fill(&path, pages);
        group.throughput(Throughput::Elements(pages as u64));
        group.bench_with_input(BenchmarkId::from_parameter(pages), &pages, |bencher, pages| {
            bencher.iter(|| {
                let started = Instant::now();
                let mut crawler = crawler(&path, *pages as u64 / 100);
                let plan = crawler.preview(NOW, None).expect("a plan");
                assert_eq!(plan.visits.len(), *pages as usize / 100);
                started.elapsed()
            });
        });
    }
    group.finish();
    println!("the most memory so far: {} MB", peak_megabytes());
}

/// A store that knows so many pages, as if they had been crawled.
fn fill(path: &Path, pages: i64) {
    let normaliser = Normaliser::new(&[] as &[&str], 2048);
    let mut store = store::open(path).expect("a store");
    let list: String = (0..=pages / PER_HOST).map(|host| format!("http://host-{host}.example/\n")).collect();
    store.add_seeds(&seeds::read("bench", list.as_bytes(), &normaliser).seeds, NOW).expect("seeds");
    learning::relearn(&mut *store, &*default_policy(), &mut |_, _| {}).expect("an empty log");
    let hosts: HashMap<String, i64> = store
        .hosts()
        .expect("hosts")
        .iter()
        .map(|host| (host.report.host.as_str().to_owned(), host.id.0))
        .collect();
    drop(store);
    let mut connection = Connection::open(path).expect("a store");
    let transaction = connection.transaction().expect("a transaction");
    let mut insert = transaction
        .prepare(
            "INSERT OR IGNORE INTO page (fingerprint, url, host_id, seed_id, depth, hops, found_at, weight, state, visits,
                last_visit_at, seen_at, learnt) VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, 1.0, ?6, ?7, ?8, ?8, ?9)",
        )
        .expect("a statement");
    for id in 0..pages {
        let PageState { depth, found_at, last_visit, life, learnt, .. } = page(id);
        let url = normaliser.parse(&url(id)).expect("a URL");
        let bytes = (learnt != Learnt::default()).then(|| learnt.to_bytes());
        insert
            .execute(params![
                url.fingerprint().to_bytes(),
                url.as_str(),
                hosts[url.host().as_str()],
                depth.max(1),
                found_at.millis(),
                life.name(),
                learnt.state.visits,
                last_visit.map(Timestamp::millis),
                bytes
            ])
            .expect("a page");
    }
    drop(insert);
    transaction.commit().expect("all pages");
}

fn crawler(path: &Path, budget: u64) -> Crawler<Network> {
    let network = NetworkSettings {
        user_agent: "bench".to_owned(),
        limits: Limits::default(),
        keep_alive: Duration::from_secs(5),
        addresses: AddressRules::public(),
        sites: Sites::default(),
    };
    let observer = Observer {
        normaliser: Normaliser::new(&[] as &[&str], 2048),
        links_per_page: 2000,
        obey_nofollow: true,
        product_tokens: ProductTokens::new("bench"),
        sitemap_bytes: 1 << 20,
        reading: Reading {
            general: SiteReading { rules: TextRules::default(), changed: ChangedWhen::default() },
            sites: Sites::default(),
            commands: Default::default(),
        },
        change: ChangeSettings::default(),
        anchors: false,
    };
    let settings = CrawlSettings {
        store_limits: Default::default(),
        fetch: FetchSettings {
            politeness: Politeness::default(),
            concurrency: 64,
            rate: None,
            address_rate: None,
            body_bytes: 1 << 20,
            sitemap_bytes: 1 << 20,
            robots_redirects: 5,
            robots_age: Duration::from_secs(86_400),
            product_tokens: ProductTokens::new("bench"),
            sites: Sites::default(),
        },
        budget: Some(budget),
        cycles: 1,
        every: Some(Duration::from_secs(86_400)),
        threshold: None,
        discover: None,
        weight: WeightBy::Seeds,
        workload: None,
        index: None,
        redirects: 5,
        sitemaps: false,
        max_known: 16_000_000,
        rules: 0,
    };
    let scope = Scope::new(
        ScopeKind::Host,
        None,
        TrapLimits::default(),
        SiteRules { include: None, exclude: None, scope: None },
    );
    let store = store::open_to_look(path).expect("a store");
    Crawler::new(
        Network::new(network).expect("a network"),
        store,
        default_policy(),
        scope,
        observer,
        settings,
    )
    .expect("a crawler")
}

/// The most memory that this process ever took; 0 where nobody tells.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

criterion_group!(benches, in_memory, by_gains, in_a_store);
criterion_main!(benches);
