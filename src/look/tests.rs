//! Tests of views on a small store, crawled from a scripted web.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tempfile::TempDir;
use tokio::sync::watch;

use super::changes::{Changes, ChangesWanted, KeptOut, WantedHost};
use super::check::ask::Asker;
use super::check::check;
use super::diff::diff;
use super::history::{VisitFound, history};
use super::page::page_url;
use super::pages::{in_state, pages};
use super::plan::plan;
use super::status::status;
use super::why::why;
use super::*;
use crate::change::ChangeSettings;
use crate::crawl::observe::{Observer, Reading};
use crate::crawl::weights::WeightBy;
use crate::crawl::{CrawlSettings, Crawler, CycleLimits, Progress};
use crate::fetch::FetchSettings;
use crate::fetch::politeness::Politeness;
use crate::fetch::robots::ProductTokens;
use crate::fetch::scripted::{ScriptedAnswer, ScriptedWeb};
use crate::observation::EventKind;
use crate::observation::room::StoreLimits;
use crate::page::{Normaliser, Sites};
use crate::policy::registry;
use crate::store::{self, PageFilter, PageRow, Store};
use crate::time::Timestamp;
use crate::unique::seeds::Seed;
use crate::unique::{Scope, ScopeKind, SiteRules, TrapLimits};

const HOME: &str = "https://a.example/";
const NEWS: &str = "https://a.example/news";

fn web() -> ScriptedWeb {
    let web = ScriptedWeb::default();
    let home = "<title>Home</title><a href=/news>news</a> <a href=/gone>gone</a> <a href=/private>private</a> \
                <a href=https://b.example/>elsewhere</a> <a href=/news#top>news again</a>";
    web.set_page(HOME, home);
    let news = |word: &str| {
        ScriptedAnswer::html(format!("<p>The quick {word} fox jumps over the lazy dog today.</p>"))
    };
    web.set(NEWS, [news("brown"), news("red")]);
    let robots = ScriptedAnswer::body("text/plain", "User-agent: *\nDisallow: /private\n");
    web.set("https://a.example/robots.txt", [robots]);
    web
}

fn fetch_settings() -> FetchSettings {
    FetchSettings {
        politeness: Politeness { delay: Duration::ZERO, ..Politeness::default() },
        concurrency: 10,
        rate: None,
        address_rate: None,
        body_bytes: 1 << 20,
        sitemap_bytes: 1 << 20,
        robots_redirects: 5,
        robots_age: Duration::from_secs(86_400),
        product_tokens: ProductTokens::new("freshet"),
        sites: Sites::default(),
    }
}

fn observer() -> Observer {
    Observer {
        normaliser: Normaliser::default(),
        links_per_page: 1000,
        obey_nofollow: true,
        product_tokens: ProductTokens::new("freshet"),
        sitemap_bytes: 1 << 20,
        reading: Reading::default(),
        change: ChangeSettings::default(),
        anchors: false,
    }
}

fn scope() -> Scope {
    Scope::new(ScopeKind::Host, None, TrapLimits::default(), SiteRules::default())
}

/// A store in a folder of its own, after two cycles: the news changed between them.
struct SmallStore {
    folder: TempDir,
    crawler: Crawler<ScriptedWeb>,
}

impl SmallStore {
    async fn crawled() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = store::open(&folder.path().join("store.db")).expect("a store");
        let url = Normaliser::default().parse(HOME).expect("a seed");
        let seed = Seed { url, weight: 1.0, max_depth: None, scope: None, line: Some(1) };
        store.add_seeds(&[seed], Timestamp::now()).expect("seeds are added");
        let settings = CrawlSettings {
            store_limits: StoreLimits::default(),
            fetch: fetch_settings(),
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
        let policy = registry::find("age", &Default::default()).expect("a policy");
        let crawler = Crawler::new(web(), store, policy, scope(), observer(), settings).expect("a crawler");
        let mut world = Self { folder, crawler };
        for _ in 0..2 {
            let (_stop, stopped) = watch::channel(false);
            let progress = watch::Sender::new(Progress::default());
            world.crawler.run_once(CycleLimits::default(), stopped, &progress).await.expect("a cycle");
        }
        world
    }

    fn store(&self) -> Box<dyn Store> {
        store::open_to_look(&self.folder.path().join("store.db")).expect("a store")
    }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn listed(store: &mut dyn Store, filter: &PageFilter) -> Vec<String> {
    let mut found = Vec::new();
    pages(store, filter, |page: PageRow| {
        found.push(page.url);
        Ok::<_, LookError>(())
    })
    .expect("pages");
    found
}

#[tokio::test]
async fn a_status_counts_pages_and_their_fates() {
    let world = SmallStore::crawled().await;
    let status = status(&mut *world.store(), 5, false, Timestamp::now()).expect("a status");
    assert_eq!((status.pages.known, status.seeds, status.cycles.len()), (4, 1, 2));
    assert_eq!(status.hosts.iter().map(|host| host.host.as_str()).collect::<Vec<_>>(), ["https://a.example"]);
    assert_eq!(status.hosts[0].robots_status, Some(200));
    let json = serde_json::to_value(&status).expect("JSON");
    assert_eq!(json["refused_links"]["out-of-scope"], 1, "{json}");
    assert!(json.get("sizes").is_none(), "sizes were not asked for");
}

#[tokio::test]
async fn pages_are_listed_by_state_until_the_reader_has_enough() {
    let world = SmallStore::crawled().await;
    let mut store = world.store();
    assert_eq!(listed(&mut *store, &PageFilter::default()).len(), 4);
    let alive = in_state(PageFilter::default(), "alive").expect("a state");
    assert_eq!(listed(&mut *store, &alive), [HOME, NEWS]);
    let mut seen = 0;
    let stopped = pages(&mut *store, &PageFilter::default(), |page| {
        seen += 1;
        Err(LookError::UnknownPage(page.url))
    });
    assert!(stopped.is_err());
    assert_eq!(seen, 1, "no row comes after an error");
}

#[tokio::test]
async fn a_change_is_given_with_its_words() {
    let world = SmallStore::crawled().await;
    let mut store = world.store();
    let mut wanted = ChangesWanted {
        since: Timestamp::from_seconds(0),
        kinds: vec![EventKind::Changed],
        host: WantedHost::parse("a.example"),
        min_divergence: 0.0,
        lasting: false,
        unread: false,
        most: 10,
        most_new: None,
        fragment_words: 4,
    };
    let observer = observer();
    let mut changes = Changes::find(&mut *store, &observer, &wanted).expect("changes");
    let found = changes.next(deadline()).expect("a change").expect("a change");
    assert_eq!((found.event.url.as_str(), found.words_added, found.words_removed), (NEWS, 1, 1));
    assert_eq!(found.added, ["The quick red fox jumps over the lazy dog today."]);
    assert!(changes.next(deadline()).expect("no error").is_none());
    wanted.host = WantedHost::parse("b.example");
    let mut elsewhere = Changes::find(&mut *store, &observer, &wanted).expect("changes");
    assert!(elsewhere.next(deadline()).expect("no error").is_none());
    (wanted.host, wanted.lasting) = (None, true);
    let mut lasting = Changes::find(&mut *store, &observer, &wanted).expect("changes");
    assert!(lasting.next(deadline()).expect("no error").is_none(), "no later visit has confirmed it");
    assert_eq!(lasting.kept_out(), KeptOut { did_not_last: 0, wait: 1 });
}

#[tokio::test]
async fn new_pages_that_are_too_many_are_counted() {
    let world = SmallStore::crawled().await;
    let mut store = world.store();
    let mut wanted = ChangesWanted {
        since: Timestamp::from_seconds(0),
        kinds: Vec::new(),
        host: None,
        min_divergence: 0.0,
        lasting: false,
        unread: false,
        most: 10,
        most_new: Some(1),
        fragment_words: 4,
    };
    let observer = observer();
    let mut changes = Changes::find(&mut *store, &observer, &wanted).expect("events");
    let [many] = changes.many_new() else { panic!("one cycle: {:?}", changes.many_new()) };
    assert_eq!((many.pages, many.cycle.0), (2, 1));
    let kinds = |changes: &mut Changes<'_>| {
        let next = || changes.next(deadline()).expect("no error").map(|found| found.event.kind.name());
        std::iter::from_fn(next).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&mut changes), ["changed"]);
    wanted.most_new = Some(2);
    let mut changes = Changes::find(&mut *store, &observer, &wanted).expect("events");
    assert_eq!(changes.many_new(), []);
    assert_eq!(kinds(&mut changes), ["changed", "new", "new"]);
}

#[tokio::test]
async fn a_history_has_its_visits_and_a_diff_their_difference() {
    let world = SmallStore::crawled().await;
    let (mut store, normaliser) = (world.store(), Normaliser::default());
    let told = history(&mut *store, &normaliser, NEWS, 4, usize::MAX).expect("a history");
    assert_eq!(
        told.visits.iter().map(|visit| visit.found).collect::<Vec<_>>(),
        [VisitFound::First, VisitFound::Changed]
    );
    assert_eq!((told.visit_count, told.change_count, told.snapshots, told.updates), (2, 1, 2, 1));
    let last = history(&mut *store, &normaliser, NEWS, 4, 1).expect("a history");
    assert_eq!((last.visits.len(), last.visit_count), (1, 2));
    assert_eq!(last.visits[0].found, VisitFound::Changed, "it is compared with visits that are not shown");

    let observer = observer();
    let found = diff(&mut *store, &observer, NEWS, (None, None), deadline()).expect("a diff");
    assert_eq!((found.hunks.len(), found.words_added, found.bytes_differ), (1, 1, true));
    assert!(found.from.confirmed_at <= found.to.found_at && found.from.version_id != found.to.version_id);
    let since = Some(found.to.found_at);
    let same = diff(&mut *store, &observer, NEWS, (since, None), deadline()).expect("a diff");
    assert!(same.hunks.is_empty());
}

#[tokio::test]
async fn questions_without_an_answer_say_why() {
    let world = SmallStore::crawled().await;
    let (mut store, observer) = (world.store(), observer());
    let mut ask =
        |url: &str| diff(&mut *store, &observer, url, (None, None), deadline()).expect_err("no answer");
    assert!(matches!(ask("https://a.example/nowhere"), LookError::UnknownPage(_)));
    assert!(matches!(ask("https://a.example/gone"), LookError::NothingStored(_)));
    assert!(ask("htp://a.example/").is_misuse());
    let secret = ask("https://me:secret@a.example/");
    assert!(secret.is_misuse() && !secret.to_string().contains("secret"), "{secret}");
}

#[tokio::test]
async fn a_plan_and_its_reasons_agree() {
    let mut world = SmallStore::crawled().await;
    let now = Timestamp::now();
    let next = plan(&mut world.crawler, now).expect("a plan");
    assert_eq!(next.visits.iter().map(|visit| visit.rank).collect::<Vec<_>>(), [1, 2]);
    let reason = why(&mut world.crawler, NEWS, now, &TimeZone::UTC).expect("a reason");
    assert_eq!((reason.verdict, reason.planned, reason.policy.as_str()), ("due", true, "age"));
    assert_eq!((reason.visits_compared, reason.changes), (1, 1));
    assert!(reason.sentences[0].contains("is in the plan of the next cycle"), "{:?}", reason.sentences);
    let planned = next.visits.iter().find(|visit| visit.page == NEWS).expect("the news are planned");
    assert_eq!(planned.score, reason.score);
    let forbidden =
        why(&mut world.crawler, "https://a.example/private", now, &TimeZone::UTC).expect("a reason");
    assert_eq!((forbidden.verdict, forbidden.planned), ("robots", false));
}

#[tokio::test]
async fn a_check_judges_links_as_the_crawl_did() {
    let mut asker = Asker::new(web(), fetch_settings(), 5, Normaliser::default());
    let home = page_url(HOME, &Normaliser::default()).expect("a page");
    let now = Timestamp::from_seconds(1_800_000_000);
    let mut paused = Vec::new();
    let told = check(&mut asker, &observer(), scope(), home, now, &mut |host, _| {
        paused.push(host.as_str().to_owned());
    })
    .await;
    assert_eq!((told.fetched, told.outcome, told.requests, told.at), (true, "fetched", 2, now));
    assert_eq!(paused, ["https://a.example"]);
    let page = told.page.expect("a page");
    assert_eq!(page.title.as_deref(), Some("Home"));
    let judged: Vec<(&str, &str)> =
        page.links.iter().map(|link| (link.href.as_str(), link.why.as_ref())).collect();
    let expected = [
        ("/news", "in scope (host)"),
        ("/gone", "in scope (host)"),
        ("/private", "robots"),
        ("https://b.example/", "out-of-scope"),
        ("/news#top", "known"),
    ];
    assert_eq!(judged, expected);
    let missing = page_url("https://a.example/gone", &Normaliser::default()).expect("a page");
    let told = check(&mut asker, &observer(), scope(), missing, now, &mut |_, _| {}).await;
    assert_eq!((told.fetched, told.outcome), (false, "missing"));
    assert!(told.reason.is_some_and(|reason| reason.contains("404")));
}
