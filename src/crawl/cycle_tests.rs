//! Tests of whole cycles on a scripted web, in tokio's paused time: no sockets, no threads.

use tempfile::TempDir;

use super::*;
use crate::change::ChangeSettings;
use crate::crawl::observe::{Observer, Reading};
use crate::crawl::weights::WeightBy;
use crate::crawl::writer::WriterPlace;
use crate::crawl::{CrawlReport, CrawlSettings};
use crate::fetch::politeness::Politeness;
use crate::fetch::robots::ProductTokens;
use crate::fetch::scripted::{ScriptedAnswer, ScriptedWeb};
use crate::fetch::visit::Failure;
use crate::fetch::{FetchSettings, SitePace};
use crate::observation::room::StoreLimits;
use crate::page::{Normaliser, Sites};
use crate::policy::registry;
use crate::store::{self, Store};
use crate::unique::seeds::Seed;
use crate::unique::{Scope, ScopeKind, SiteRules, TrapLimits};

#[path = "budget_tests.rs"]
mod budget;

/// A store in a folder of its own, with what a crawl of it needs.
struct World {
    folder: TempDir,
    policy: &'static str,
    settings: fn(&mut CrawlSettings),
}

const SECOND: Duration = Duration::from_secs(1);

impl World {
    /// Seeds as (URL, weight).
    fn new(seeds: &[(&str, f64)], policy: &'static str, settings: fn(&mut CrawlSettings)) -> Self {
        let world = Self { folder: tempfile::tempdir().expect("a folder"), policy, settings };
        let seeds: Vec<Seed> = seeds.iter().map(|(url, weight)| seed(url, *weight)).collect();
        world.store().add_seeds(&seeds, Timestamp::now()).expect("seeds are added");
        world
    }

    fn store(&self) -> Box<dyn Store> {
        store::open(&self.folder.path().join("store.db")).expect("a store")
    }

    fn crawler(&self, web: ScriptedWeb) -> Crawler<ScriptedWeb> {
        self.crawler_of(web, self.store())
    }

    fn crawler_of(&self, web: ScriptedWeb, store: Box<dyn Store>) -> Crawler<ScriptedWeb> {
        let mut settings = CrawlSettings {
            store_limits: StoreLimits::default(),
            fetch: FetchSettings {
                politeness: Politeness::default(),
                concurrency: 100,
                rate: None,
                address_rate: None,
                body_bytes: 1 << 20,
                sitemap_bytes: 1 << 20,
                robots_redirects: 5,
                robots_age: Duration::from_secs(86_400),
                product_tokens: ProductTokens::new("freshet"),
                sites: Sites::default(),
            },
            budget: None,
            cycles: 1,
            every: None,
            discover: None,
            weight: WeightBy::Seeds,
            workload: None,
            index: None,
            threshold: None,
            redirects: 5,
            sitemaps: false,
            list_day: crate::signal::lists::DAY,
            max_known: 1000,
            rules: 0,
        };
        (self.settings)(&mut settings);
        let observer = Observer {
            normaliser: Normaliser::default(),
            links_per_page: 1000,
            obey_nofollow: true,
            product_tokens: ProductTokens::new("freshet"),
            sitemap_bytes: 1 << 20,
            reading: Reading::default(),
            change: ChangeSettings::default(),
            anchors: false,
        };
        let scope = Scope::new(ScopeKind::Host, None, TrapLimits::default(), SiteRules::default());
        let policy = registry::find(self.policy, &Default::default()).expect("a policy");
        let mut crawler = Crawler::new(web, store, policy, scope, observer, settings).expect("a crawler");
        crawler.writer_place = WriterPlace::Task;
        crawler
    }
}

fn seed(url: &str, weight: f64) -> Seed {
    let url = Normaliser::default().parse(url).expect("a seed");
    Seed { url, weight, max_depth: None, scope: None, line: Some(1) }
}

/// Runs one cycle to its end.
async fn cycle(crawler: &mut Crawler<ScriptedWeb>) -> CrawlReport {
    let (_stop, stop) = watch::channel(false);
    cycle_until(crawler, stop).await
}

async fn cycle_until(crawler: &mut Crawler<ScriptedWeb>, stop: watch::Receiver<bool>) -> CrawlReport {
    let progress = watch::Sender::new(Progress::default());
    let stopped = stop.clone();
    run(crawler, 1, stop, &progress).await.expect("a cycle");
    crawler.report(1, *stopped.borrow())
}

/// A page with links to `/0`, `/1` and so on.
fn hub(links: usize) -> String {
    (0..links).map(|page| format!("<a href=/{page}>page {page}</a> ")).collect()
}

/// A web with a hub and the pages that it links to.
fn hub_web(origin: &str, links: usize) -> ScriptedWeb {
    let web = ScriptedWeb::default();
    add_hub(&web, origin, links);
    web
}

fn add_hub(web: &ScriptedWeb, origin: &str, links: usize) {
    web.set_page(&format!("{origin}/"), &hub(links));
    for page in 0..links {
        web.set_page(&format!("{origin}/{page}"), &format!("Words of page {page} at {origin}."));
    }
}

/// How many pages of an origin were asked for.
fn asked_of(web: &ScriptedWeb, origin: &str) -> usize {
    web.pages_asked().iter().filter(|url| url.starts_with(origin)).count()
}

#[tokio::test(start_paused = true)]
async fn links_found_in_a_wave_are_visited_in_the_same_cycle_with_a_pause_between_requests() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let mut crawler = world.crawler(hub_web("https://a.example", 30));
    let report = cycle(&mut crawler).await;
    assert_eq!((report.counts.fetched, report.counts.new, report.known), (31, 30, 31));
    let log = crawler.web.log();
    assert_eq!(log.len(), 32, "robots.txt and each page once");
    assert!(log.windows(2).all(|pair| pair[1].at - pair[0].at >= SECOND));
    // 30 pages are more than fit into one wave of a host, and no time is lost between waves.
    assert!(log[31].at - log[0].at < SECOND * 35);
}

#[tokio::test(start_paused = true)]
async fn a_host_is_asked_for_no_more_than_fits_into_the_cycle() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |settings| {
        settings.every = Some(Duration::from_millis(10_500))
    });
    let mut crawler = world.crawler(hub_web("https://a.example", 30));
    let began = Instant::now();
    let report = cycle(&mut crawler).await;
    assert!(began.elapsed() < SECOND * 11);
    assert_eq!(crawler.web.log().len(), 11, "robots.txt at once, then a page a second");
    assert_eq!((report.counts.fetched, report.counts.deferred), (10, 21));
    assert_eq!(report.counts.put_off["cycle-over"], 21);
}

#[tokio::test(start_paused = true)]
async fn better_pages_that_are_found_take_the_place_of_chosen_ones() {
    // Host a is slow and its five pages count little; the hub of host b leads to pages that count ten times as much.
    let slow: Vec<String> = (0..5).map(|page| format!("https://a.example/{page}")).collect();
    let mut seeds: Vec<(&str, f64)> = slow.iter().map(|url| (url.as_str(), 1.0)).collect();
    seeds.push(("https://b.example/", 10.0));
    let world = World::new(&seeds, "utility", |settings| {
        settings.budget = Some(8);
        let pace = SitePace { delay: Some(SECOND * 30), ..SitePace::default() };
        assert!(settings.fetch.sites.add("a.example", pace));
    });
    let web = hub_web("https://b.example", 5);
    slow.iter().for_each(|url| web.set_page(url, "Words that matter less."));
    let mut crawler = world.crawler(web);
    let report = cycle(&mut crawler).await;
    // Two robots.txt, the hub, the two pages of host a that were planned before the hub was read, and pages of host b.
    assert_eq!(report.counts.requests, 8);
    assert_eq!(asked_of(&crawler.web, "https://b.example/"), 4);
    assert_eq!(asked_of(&crawler.web, "https://a.example/"), 2);
    assert_eq!(report.counts.put_off["budget"], report.counts.deferred);
}

#[tokio::test(start_paused = true)]
async fn budget_of_a_host_that_rests_goes_to_others() {
    let seeds = [("https://a.example/", 10.0), ("https://a.example/1", 10.0), ("https://b.example/", 1.0)];
    let world = World::new(&seeds, "utility", |settings| {
        settings.budget = Some(7);
        settings.fetch.politeness.attempts = 1;
    });
    let web = hub_web("https://b.example", 9);
    // Without its robots.txt nothing may be asked of host a: it rests.
    web.set("https://a.example/robots.txt", [ScriptedAnswer::failure(Failure::NoAnswer)]);
    let mut crawler = world.crawler(web);
    let report = cycle(&mut crawler).await;
    assert_eq!(asked_of(&crawler.web, "https://a.example/"), 0);
    assert_eq!(asked_of(&crawler.web, "https://b.example/"), 5, "all that is left after both robots.txt");
    assert_eq!(report.counts.requests, 7);
    assert_eq!(report.counts.put_off["robots-unavailable"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_sites_budget_holds_whatever_the_cycle_has_left() {
    let world =
        World::new(&[("https://a.example/", 1.0), ("https://b.example/", 1.0)], "utility", |settings| {
            settings.budget = Some(20);
            let pace = SitePace { budget: Some(4), ..SitePace::default() };
            assert!(settings.fetch.sites.add("a.example", pace));
        });
    let web = hub_web("https://a.example", 20);
    add_hub(&web, "https://b.example", 5);
    let mut crawler = world.crawler(web);
    cycle(&mut crawler).await;
    assert_eq!(asked_of(&crawler.web, "https://a.example/"), 3, "robots.txt is the fourth");
    assert_eq!(asked_of(&crawler.web, "https://b.example/"), 6);
}

#[tokio::test(start_paused = true)]
async fn a_sites_budget_holds_over_a_stop() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |settings| {
        let pace = SitePace { budget: Some(8), ..SitePace::default() };
        assert!(settings.fetch.sites.add("a.example", pace));
    });
    // A page that is busy at first costs two requests.
    let web = || {
        let web = hub_web("https://a.example", 12);
        web.set("https://a.example/0", [ScriptedAnswer::status(503), ScriptedAnswer::html("words")]);
        web
    };
    let mut crawler = world.crawler(web());
    let (stop, stopped) = watch::channel(false);
    let timer = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(6500)).await;
        let _ = stop.send(true);
        stop
    });
    assert!(cycle_until(&mut crawler, stopped).await.stopped);
    timer.await.expect("the stop");
    let first = crawler.web.log().len();
    assert!((4..8).contains(&first), "{first} requests, robots.txt among them");

    let store = crawler.recorder.take().expect("the store").store;
    let mut crawler = world.crawler_of(web(), store);
    assert!(cycle(&mut crawler).await.resumed);
    assert_eq!(first + crawler.web.log().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_that_was_told_to_stop_goes_on_in_the_next_run() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let mut crawler = world.crawler(hub_web("https://a.example", 12));
    let (stop, stopped) = watch::channel(false);
    let timer = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5500)).await;
        let _ = stop.send(true);
        stop
    });
    let report = cycle_until(&mut crawler, stopped).await;
    timer.await.expect("the stop");
    let first = crawler.web.pages_asked();
    assert!(report.stopped && first.len() == 5, "{first:?}");
    assert_eq!(report.counts.fetched, 5, "the requests in flight are recorded");
    let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
    assert_eq!((row.ended_at, row.deferred), (None, 0));

    let store = crawler.recorder.take().expect("the store").store;
    let mut crawler = world.crawler_of(hub_web("https://a.example", 12), store);
    let report = cycle(&mut crawler).await;
    let second = crawler.web.pages_asked();
    assert!(report.resumed);
    assert_eq!(first.len() + second.len(), 13);
    assert!(second.iter().all(|url| !first.contains(url)), "no page is asked for twice");
    assert_eq!(crawler.web.log().len(), second.len(), "robots.txt still holds");
    let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
    assert!(row.ended_at.is_some());
    assert_eq!((row.fetched, row.requests), (13, 14));
}

#[tokio::test(start_paused = true)]
async fn a_cycle_that_was_cut_off_repeats_no_recorded_visit_and_leaves_out_no_planned_one() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let mut crawler = world.crawler(hub_web("https://a.example", 12));
    // The future is dropped in the middle of a request: whatever was not committed is lost.
    let (_stop, stop) = watch::channel(false);
    let ended = tokio::time::timeout(Duration::from_millis(6700), cycle_until(&mut crawler, stop)).await;
    assert!(ended.is_err());
    assert!(crawler.store().is_err(), "the writer has it");
    let first = crawler.web.pages_asked();
    drop(crawler);
    tokio::time::sleep(SECOND).await;

    let mut crawler = world.crawler(hub_web("https://a.example", 12));
    let report = cycle(&mut crawler).await;
    assert!(report.resumed);
    let second = crawler.web.pages_asked();
    let mut all: Vec<String> = first.iter().chain(&second).cloned().collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 13, "each page was visited");
    let twice = first.iter().filter(|url| second.contains(url)).count();
    assert!(twice <= 1, "only the visit that was not recorded is repeated");
}

#[tokio::test(start_paused = true)]
async fn every_outcome_is_counted_alike_in_the_report_and_in_the_store() {
    let links = "<a href=/moved>1</a> <a href=/away>2</a> <a href=/loop>3</a> <a href=/none>4</a> <a href=/secret>5</a>";
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let web = ScriptedWeb::default();
    web.set(
        "https://a.example/robots.txt",
        [ScriptedAnswer::body("text/plain", "User-agent: *\nDisallow: /secret")],
    );
    web.set("https://a.example/", [ScriptedAnswer::html(links).with_etag("\"1\"")]);
    web.set("https://a.example/moved", [ScriptedAnswer::redirect(301, "/target")]);
    web.set("https://a.example/away", [ScriptedAnswer::redirect(302, "https://elsewhere.example/")]);
    web.set("https://a.example/loop", [ScriptedAnswer::redirect(302, "/loop")]);
    web.set_page("https://a.example/target", "The page that moved.");
    let mut crawler = world.crawler(web);
    let counts = cycle(&mut crawler).await.counts;
    let of = |name: &str| counts.outcomes.get(name).copied().unwrap_or(0);
    assert_eq!((of("fetched"), of("moved"), of("missing"), of("robots")), (2, 1, 1, 1));
    assert_eq!((of("redirect-out-of-scope"), of("redirect-loop")), (1, 1));
    assert_eq!((counts.fetched, counts.redirected, counts.blocked, counts.failed), (2, 1, 1, 3));
    assert_eq!(counts.refused["out-of-scope"], 1);
    let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
    assert_eq!((row.fetched, row.failed, row.new_pages), (counts.fetched, counts.failed, counts.new));
    assert_eq!((row.requests, row.bytes), (counts.requests, counts.bytes));
    assert!(!crawler.web.pages_asked().contains(&"https://a.example/secret".to_owned()));

    // The next cycle asks whether the page is still the one that is held.
    crawler.accounts = Default::default();
    let counts = cycle(&mut crawler).await.counts;
    assert_eq!(counts.outcomes["not-modified"], 1);
    let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
    assert_eq!((row.changed, row.unchanged), (counts.changed, counts.unchanged));
    assert!(crawler.web.log().iter().any(|asked| asked.is_conditional));
}

#[tokio::test(start_paused = true)]
async fn a_share_of_the_budget_goes_to_new_pages() {
    let world = World::new(&[("https://a.example/", 1.0)], "age", |settings| settings.discover = Some(0.5));
    let mut crawler = world.crawler(hub_web("https://a.example", 9));
    cycle(&mut crawler).await;
    // Ten pages were visited, and ten new ones come. Without a share all new ones would go first.
    let urls: Vec<String> = (0..10).map(|page| format!("https://b.example/{page}")).collect();
    let mut store = crawler.recorder.take().expect("the store").store;
    store
        .add_seeds(&urls.iter().map(|url| seed(url, 1.0)).collect::<Vec<_>>(), Timestamp::now())
        .expect("seeds");
    let mut crawler = world.crawler_of(hub_web("https://a.example", 9), store);
    crawler.settings.budget = Some(11);
    cycle(&mut crawler).await;
    assert_eq!(asked_of(&crawler.web, "https://a.example/"), 5);
    assert_eq!(asked_of(&crawler.web, "https://b.example/"), 5, "robots.txt is the eleventh request");
}

#[tokio::test(start_paused = true)]
async fn an_error_while_a_cycle_opens_leaves_the_store_usable() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let read_only = store::open_to_look(&world.folder.path().join("store.db")).expect("a store");
    let mut crawler = world.crawler_of(hub_web("https://a.example", 3), read_only);
    let (_stop, stop) = watch::channel(false);
    let progress = watch::Sender::new(Progress::default());
    for _ in 0..2 {
        let ended = run(&mut crawler, 1, stop.clone(), &progress).await;
        assert!(matches!(ended, Err(CrawlError::Store(_))));
        assert_eq!(crawler.store().expect("the store").seeds().expect("seeds").len(), 1);
    }
    assert!(crawler.web.log().is_empty());
    // Wherever the error comes from.
    assert!(crawler.with_recorder(|_, _| Err::<(), _>(CrawlError::WriterLost)).is_err());
    assert!(crawler.store().is_ok());
}

#[tokio::test(start_paused = true)]
async fn sitemaps_lead_to_pages_and_are_read_once_a_day() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |settings| settings.sitemaps = true);
    let web = ScriptedWeb::default();
    web.set_page("https://a.example/", "A page without links.");
    web.set_page("https://a.example/hidden", "A page that only the sitemap names.");
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                   <url><loc>https://a.example/hidden</loc></url></urlset>";
    web.set("https://a.example/sitemap.xml", [ScriptedAnswer::body("application/xml", sitemap)]);
    let mut crawler = world.crawler(web);
    assert_eq!(cycle(&mut crawler).await.counts.fetched, 2);
    cycle(&mut crawler).await;
    let is_sitemap = |url: &Url| url.path() == "/sitemap.xml";
    assert_eq!(crawler.web.log().iter().filter(|asked| is_sitemap(&asked.url)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_preview_names_the_pages_that_the_cycle_then_visits() {
    let world = World::new(&[("https://a.example/", 1.0)], "age", |_| {});
    let mut crawler = world.crawler(hub_web("https://a.example", 9));
    cycle(&mut crawler).await;
    let before = crawler.web.pages_asked().len();
    crawler.settings.budget = Some(4);
    let preview = crawler.preview(Timestamp::now(), None).expect("a preview");
    assert_eq!((preview.visits.len(), preview.candidates, preview.new), (4, 10, 0));
    assert_eq!(crawler.web.pages_asked().len(), before, "a preview asks for nothing");
    cycle(&mut crawler).await;
    let named: Vec<String> = preview.visits.into_iter().map(|visit| visit.page.url).collect();
    assert_eq!(crawler.web.pages_asked()[before..], named[..]);
}

#[tokio::test(start_paused = true)]
async fn a_seed_that_moved_within_its_domain_takes_its_scope_along() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let web = hub_web("https://www.a.example", 3);
    web.set("https://a.example/", [ScriptedAnswer::redirect(301, "https://www.a.example/")]);
    let mut crawler = world.crawler(web);
    let counts = cycle(&mut crawler).await.counts;
    assert_eq!((counts.fetched, counts.redirected), (4, 1));
    let seeds = crawler.store().expect("the store").seeds().expect("seeds");
    assert!(seeds.iter().any(|seed| seed.adopted && seed.url == "https://www.a.example/"));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_asks_for_time_gets_it_and_its_page_is_tried_again() {
    let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
    let web = ScriptedWeb::default();
    let busy = ScriptedAnswer::status(503).with_header(reqwest::header::RETRY_AFTER, "60");
    web.set("https://a.example/", [busy, ScriptedAnswer::html("The page.")]);
    let mut crawler = world.crawler(web);
    let counts = cycle(&mut crawler).await.counts;
    assert_eq!((counts.fetched, counts.failed, counts.requests), (1, 0, 3));
    let log = crawler.web.log();
    assert!(log[2].at - log[1].at >= SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn hosts_are_asked_side_by_side_and_each_only_once_at_a_time() {
    let hosts = ["https://a.example/", "https://b.example/", "https://c.example/"];
    let world = World::new(&hosts.map(|host| (host, 1.0)), "every", |_| {});
    let web = ScriptedWeb::default();
    for host in hosts {
        add_hub(&web, host.trim_end_matches('/'), 4);
        let slow = ScriptedAnswer::html(hub(4)).after(SECOND * 20);
        web.set(host, [slow]);
    }
    let mut crawler = world.crawler(web);
    cycle(&mut crawler).await;
    let log = crawler.web.log();
    let of = |host: &str| log.iter().filter(|asked| asked.url.as_str().starts_with(host)).collect::<Vec<_>>();
    for host in hosts {
        let asked = of(host);
        assert_eq!(asked.len(), 6);
        assert!(asked[2].at - asked[1].at >= SECOND * 21, "the slow answer ends, then the pause passes");
    }
    assert_eq!(of(hosts[0])[1].at, of(hosts[1])[1].at);
}

#[tokio::test(start_paused = true)]
async fn the_same_crawl_goes_the_same_way_every_time() {
    let mut logs = Vec::new();
    for _ in 0..2 {
        let world = World::new(&[("https://a.example/", 1.0), ("https://b.example/", 1.0)], "every", |_| {});
        let web = hub_web("https://a.example", 20);
        add_hub(&web, "https://b.example", 20);
        let mut crawler = world.crawler(web);
        let began = Instant::now();
        cycle(&mut crawler).await;
        let log = crawler.web.log();
        logs.push(log.into_iter().map(|asked| (asked.url, asked.at - began)).collect::<Vec<_>>());
    }
    assert_eq!(logs[0], logs[1]);
}
