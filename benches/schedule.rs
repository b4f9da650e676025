//! What planning a cycle costs: every page scored by the default policy, and the best hundredth chosen.
//!
//! `cargo bench --bench schedule` does it on one core for 10⁵, 10⁶ and 10⁷ pages whose states and URLs are in memory: their kin
//! are read off the URLs as a part of planning. Then it does it for 10⁵ and 10⁶ pages in a real store, from opening it to the
//! plan. Beside the time of the clock it prints the CPU time, and the memory that planning took. It takes 4 GB, most of them
//! for the states.

// A benchmark that can't be set up says so by panicking.
#![allow(clippy::expect_used)]

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::learning;
use freshet::crawl::observe::{Observer, Reading, SiteReading};
use freshet::crawl::weights::WeightBy;
use freshet::crawl::{CrawlSettings, Crawler};
use freshet::extract::text_rules::TextRules;
use freshet::fetch::FetchSettings;
use freshet::fetch::limits::{AddressRules, Limits};
use freshet::fetch::network::{Network, NetworkSettings};
use freshet::fetch::politeness::Politeness;
use freshet::fetch::robots::ProductTokens;
use freshet::observation::Life;
use freshet::page::{HostId, Kin, Normaliser, PageId, Sites};
use freshet::policy::registry::{self, PolicySettings};
use freshet::policy::{self, Learnt, Lesson, PageState, Policy, Survey};
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

/// Page `id` of a made-up collection, as `policy` knows it: a tenth of them new, the others visited up to 60 times, up to 60 days
/// ago. The last three visits are in the policy's memory. Its kin are not known yet.
fn page(id: i64, policy: &dyn Policy) -> PageState {
    let bits = xxh3_64(&id.to_le_bytes());
    let found_at = Timestamp::from_seconds(1_780_000_000);
    let mut page = PageState::found(PageId(id), HostId(id / PER_HOST), (bits % 7) as u32, 1.0, found_at);
    if bits.is_multiple_of(10) {
        return page;
    }
    let seen_at = NOW.minus(Duration::from_secs((bits >> 8 & 0xff_ffff) % (60 * 86_400)));
    let visits = 1 + (bits >> 32) as u32 % 60;
    let changes = (bits >> 40) as u32 % (visits + 1);
    for visit in (0..visits.min(3)).rev() {
        let at = seen_at.minus(Duration::from_secs(u64::from(visit) * 216_000));
        let divergence = if visit < changes { (bits >> 48 & 0xff) as f64 / 256.0 } else { 0.0 };
        let lesson = Lesson::of_bit(at, Age::from_days(2.5), divergence > 0.0);
        page.learnt.take(&Lesson { divergence: Some(divergence), ..lesson }, page.host, page.depth, policy);
    }
    (page.learnt.state.visits, page.learnt.state.changes) = (visits, changes);
    page.learnt.state.watched_days = f64::from(visits) * 2.5;
    (page.life, page.last_visit, page.seen_at) = (Life::Alive, Some(seen_at), Some(seen_at));
    page
}

fn default_policy() -> Box<dyn Policy> {
    registry::find(registry::DEFAULT, &PolicySettings::default()).expect("the default policy")
}

fn url(id: i64) -> String {
    format!("http://host-{}.example/section/{}/an-article-about-{id}", id / PER_HOST, id % 17)
}

/// Pages in memory, with their URLs, one after the other in one text.
struct Pages {
    states: Vec<PageState>,
    urls: String,
    ends: Vec<usize>,
}

impl Pages {
    fn made(pages: i64, policy: &dyn Policy) -> Self {
        let mut made = Self {
            states: Vec::with_capacity(pages as usize),
            urls: String::with_capacity(pages as usize * 64),
            ends: Vec::with_capacity(pages as usize),
        };
        for id in 0..pages {
            made.states.push(page(id, policy));
            made.urls.push_str(&url(id));
            made.ends.push(made.urls.len());
        }
        made
    }

    /// Plans a cycle of the first pages. Their kin are read off their URLs when the policy first sees them.
    fn plan(&mut self, policy: &mut dyn Policy, pages: usize) -> usize {
        let Self { states, urls, ends } = self;
        let mut has_kin = false;
        plan(policy, pages, &mut |every, look| {
            for (place, page) in states[..pages].iter_mut().enumerate().step_by(every) {
                if !has_kin {
                    let start = if place == 0 { 0 } else { ends[place - 1] };
                    page.kin = Kin::of(urls.get(start..ends[place]).unwrap_or_default());
                }
                look(page);
            }
            has_kin |= every == 1;
        })
    }
}

/// Calls a function with one page in so many.
type WalkPages<'a> = dyn FnMut(usize, &mut dyn FnMut(&PageState)) + 'a;

/// Looks over the pages that `each` gives, or over as many as the policy asks for, scores them and chooses a hundredth, a host having room for a twentieth of its pages.
fn plan(policy: &mut dyn Policy, pages: usize, each: &mut WalkPages<'_>) -> usize {
    let every = policy.survey_sample().map_or(1, |enough| (pages as u64 / enough).max(1)) as usize;
    policy.survey(&mut Survey {
        now: NOW,
        cycle: 1,
        cycle_length: Age::from_days(1.0),
        visits_a_day: Some(pages as f64 / 100.0),
        shares_a_day: false,
        hosts: &HashMap::new(),
        memory: &mut None,
        pages: &mut |look| each(every, &mut |page| look(page, every)),
    });
    let mut candidates = Candidates::default();
    each(1, &mut |page| candidates.push(page, policy::score(policy, page, NOW)));
    candidates.choose(pages / 100, None, |_| PER_HOST as usize / 20).visits.len()
}

fn in_memory(criterion: &mut Criterion) {
    let mut policy = default_policy();
    let sizes = [100_000, 1_000_000, 10_000_000];
    // Made when the first of these is measured.
    let (mut all, mut before) = (None, 0);
    let mut group = criterion.benchmark_group("score all, choose 1 %");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for pages in sizes {
        group.throughput(Throughput::Elements(pages as u64));
        let cpu = CpuTime::default();
        group.bench_with_input(BenchmarkId::from_parameter(pages), &pages, |bencher, pages| {
            let all = all.get_or_insert_with(|| {
                let all = Pages::made(sizes[2], &*policy);
                before = megabytes("VmRSS:");
                all
            });
            bencher.iter(|| cpu.of(|| all.plan(&mut *policy, *pages as usize)));
        });
        cpu.print();
    }
    group.finish();
    if all.is_some() {
        let peak = megabytes("VmHWM:");
        println!("states and URLs: {before} MB; planning: {} MB more", peak.saturating_sub(before));
    }
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
            let mut page = page(id, &*policy);
            page.kin = Kin::of(&url(id));
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
        bencher.iter(|| {
            plan(&mut *policy, pages as usize, &mut |every, look| states.iter().step_by(every).for_each(look))
        });
    });
    group.finish();
}

fn in_a_store(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open a store, plan 1 %");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for pages in [100_000, 1_000_000] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bench.db");
        group.throughput(Throughput::Elements(pages as u64));
        let cpu = CpuTime::default();
        group.bench_with_input(BenchmarkId::from_parameter(pages), &pages, |bencher, pages| {
            if !path.exists() {
                fill(&path, *pages);
            }
            bencher.iter(|| {
                cpu.of(|| {
                    let mut crawler = crawler(&path, *pages as u64 / 100);
                    let plan = crawler.preview(NOW, None).expect("a plan");
                    assert_eq!(plan.visits.len(), *pages as usize / 100);
                })
            });
        });
        cpu.print();
    }
    group.finish();
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
    let policy = default_policy();
    let mut connection = Connection::open(path).expect("a store");
    let transaction = connection.transaction().expect("a transaction");
    let mut insert = transaction
        .prepare(
            "INSERT OR IGNORE INTO page (fingerprint, url, host_id, seed_id, depth, hops, found_at, weight, state, visits,
                last_visit_at, seen_at, learnt) VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, 1.0, ?6, ?7, ?8, ?8, ?9)",
        )
        .expect("a statement");
    for id in 0..pages {
        let PageState { depth, found_at, last_visit, life, learnt, .. } = page(id, &*policy);
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
    drop(connection);
    // These pages came past the store.
    store::open(path).expect("a store").recount(true).expect("a count");
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
        list_day: Duration::from_secs(86_400),
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

/// The CPU time of what is measured, all threads together.
#[derive(Default)]
struct CpuTime {
    seconds: Cell<f64>,
    runs: Cell<u32>,
}

impl CpuTime {
    fn of<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = cpu_seconds();
        let done = work();
        self.seconds.set(self.seconds.get() + cpu_seconds() - before);
        self.runs.set(self.runs.get() + 1);
        done
    }

    fn print(&self) {
        if self.runs.get() > 0 {
            println!(
                "CPU time: {:.3} s, the mean of {} runs",
                self.seconds.get() / f64::from(self.runs.get()),
                self.runs.get()
            );
        }
    }
}

/// The CPU time of this process so far, in steps of 10 ms; 0 where nobody tells.
fn cpu_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may have spaces; user and system time are the 12th and 13th field after it.
    let fields = status.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// A line of what Linux tells of this process's memory; 0 where nobody tells.
fn megabytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

criterion_group!(benches, in_memory, by_gains, in_a_store);
criterion_main!(benches);
