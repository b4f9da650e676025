//! Tests of the fetcher on a scripted web, in tokio's paused time.

use std::convert::identity;

use reqwest::header::{DATE, RETRY_AFTER};

use super::scripted::{ScriptedAnswer, ScriptedWeb};
use super::visit::{Failure, Subject, Validators};
use super::*;
use crate::page::PageId;

/// A fetcher whose visits are told as they are.
type PlainFetcher = Fetcher<ScriptedWeb, Visit>;

fn settings() -> FetchSettings {
    FetchSettings {
        politeness: Politeness::default(),
        concurrency: 64,
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

fn fetcher(web: ScriptedWeb, settings: FetchSettings) -> PlainFetcher {
    Fetcher::new(Arc::new(web), identity, settings, None)
}

fn ask(fetcher: &mut PlainFetcher, url: &str) {
    let url = Url::parse(url).expect("a URL");
    fetcher.submit(Request { subject: Subject::Page(PageId(1)), url, validators: Validators::default() });
}

/// Lets the fetcher do all it has to do, and gives the visits in the order of their ends, with their outcomes. Files that
/// it wants again are those it told of before.
async fn finish(fetcher: &mut PlainFetcher) -> Vec<(String, &'static str)> {
    let mut files = HashMap::new();
    let mut ended = Vec::new();
    while let Some(event) = fetcher.next().await {
        match event {
            FetchEvent::Visited(visit) => ended.push((visit.request.url.to_string(), visit.outcome.code())),
            FetchEvent::Deferred { request, why } => ended.push((request.url.to_string(), why.name())),
            FetchEvent::Host(report) => files.extend(report.robots.map(|record| (report.host, record))),
            FetchEvent::RobotsWanted(host) => fetcher.recalled(&host, files.get(&host)),
            FetchEvent::Robots { .. } => {}
        }
    }
    ended
}

fn asked(fetcher: &PlainFetcher) -> Vec<String> {
    fetcher.web.log().into_iter().map(|request| request.url.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn rules_that_were_dropped_are_read_from_the_file_again() {
    let web = ScriptedWeb::default();
    let hosts = ["http://a.example", "http://b.example", "http://c.example"];
    for host in hosts {
        let rules = "User-agent: *\nDisallow: /no\nAllow: /no/but\n";
        web.set(&format!("{host}/robots.txt"), [ScriptedAnswer::body("text/plain", rules)]);
        web.set(&format!("{host}/yes"), [ScriptedAnswer::html("yes")]);
    }
    let mut fetcher = fetcher(web, settings());
    // There is room for the rules of one host only.
    fetcher.rules = RobotsCache::with_room(1);
    for path in ["/yes", "/no", "/no/but", "/yes", "/no"] {
        hosts.iter().for_each(|host| ask(&mut fetcher, &format!("{host}{path}")));
    }
    let ended = finish(&mut fetcher).await;

    assert_eq!(ended.iter().filter(|(_, outcome)| *outcome == "robots").count(), 6, "{ended:?}");
    assert_eq!(ended.iter().filter(|(_, outcome)| *outcome == "fetched").count(), 6, "{ended:?}");
    let asked = asked(&fetcher);
    assert_eq!(asked.iter().filter(|url| url.ends_with("/robots.txt")).count(), 3, "{asked:?}");
    assert!(!asked.iter().any(|url| url.ends_with("/no")), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_to_be_had_again_is_asked_of_its_host() {
    let web = ScriptedWeb::default();
    web.set(
        "http://a.example/robots.txt",
        [ScriptedAnswer::body("text/plain", "User-agent: *\nDisallow: /no")],
    );
    let mut fetcher = fetcher(web, settings());
    let host = Host::parse("http://a.example").expect("a host");
    let report = HostReport {
        host,
        delay: Duration::ZERO,
        wait: None,
        reason: None,
        failures: 0,
        rests: 0,
        robots: None,
        robots_fault: None,
    };
    fetcher.remember(&report, Some(RobotsStatus { at: Timestamp::now(), status: 200 }), false);
    ask(&mut fetcher, "http://a.example/no");

    assert_eq!(finish(&mut fetcher).await, [("http://a.example/no".to_owned(), "robots")]);
    assert_eq!(asked(&fetcher), ["http://a.example/robots.txt"]);
}

#[tokio::test(start_paused = true)]
async fn a_domain_has_a_quarter_of_the_requests_in_flight() {
    let web = ScriptedWeb::default();
    for host in 0..40 {
        let slow = ScriptedAnswer::failure(Failure::TooSlow).after(Duration::from_secs(60));
        web.set(&format!("http://h{host}.slow.example/robots.txt"), [slow]);
    }
    for page in 0..20 {
        web.set(&format!("http://good.example/{page}"), [ScriptedAnswer::html("words")]);
    }
    let mut fetcher = fetcher(web, FetchSettings { concurrency: 8, ..settings() });
    (0..40).for_each(|host| ask(&mut fetcher, &format!("http://h{host}.slow.example/")));
    (0..20).for_each(|page| ask(&mut fetcher, &format!("http://good.example/{page}")));
    let ended = finish(&mut fetcher).await;

    assert_eq!(ended.len(), 60, "no request is forgotten");
    let good = ended.iter().take(20).filter(|(url, _)| url.starts_with("http://good.example/"));
    assert_eq!(good.count(), 20, "the good host is served to its end first: {ended:?}");
    // Two at a time: each minute at most two more of the slow hosts are asked.
    let starts: Vec<Instant> = fetcher
        .web
        .log()
        .into_iter()
        .filter(|asked| asked.url.host_str().is_some_and(|name| name.ends_with("slow.example")))
        .map(|asked| asked.at)
        .collect();
    assert!(starts.windows(3).all(|three| three[2] - three[0] >= Duration::from_secs(60)), "{starts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_can_not_use_its_place_leaves_it_to_the_next() {
    let web = ScriptedWeb::default();
    let slow = ScriptedAnswer::html("at last").after(Duration::from_secs(5));
    for host in 0..30 {
        let busy = ScriptedAnswer::status(503);
        web.set(&format!("http://h{host}.a.example/1"), [busy, slow.clone()]);
        web.set(&format!("http://h{host}.a.example/2"), [slow.clone()]);
    }
    let mut fetcher = fetcher(web, FetchSettings { concurrency: 4, ..settings() });
    for host in 0..30 {
        ask(&mut fetcher, &format!("http://h{host}.a.example/1"));
        ask(&mut fetcher, &format!("http://h{host}.a.example/2"));
    }
    let ended = finish(&mut fetcher).await;
    assert_eq!(ended.iter().filter(|(_, outcome)| *outcome == "fetched").count(), 60, "{ended:?}");
    assert!(fetcher.hosts.iter().all(|host| !host.waits_for_share && host.turn.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_robots_redirect_asks_for_another_hosts_page_only_as_that_host_allows() {
    let web = ScriptedWeb::default();
    let redirect = |to: &str| [ScriptedAnswer::redirect(302, to)];
    let rules = |text: &'static str| [ScriptedAnswer::body("text/plain", text)];
    web.set("http://b.example/robots.txt", rules("User-agent: *\nDisallow: /private\n"));
    web.set("http://b.example/rules", rules("User-agent: *\nDisallow: /no\n"));
    web.set("http://reflects.example/robots.txt", redirect("http://b.example/private?hop=1"));
    web.set("http://asks.example/robots.txt", redirect("http://b.example/rules"));
    let mut fetcher = fetcher(web, settings());
    for url in ["http://reflects.example/a", "http://asks.example/no", "http://asks.example/yes"] {
        ask(&mut fetcher, url);
    }
    let mut ended = finish(&mut fetcher).await;
    ended.sort_unstable();
    let ended: Vec<_> = ended.iter().map(|(url, outcome)| (url.as_str(), *outcome)).collect();
    assert_eq!(
        ended,
        [
            ("http://asks.example/no", "robots"),
            ("http://asks.example/yes", "missing"),
            ("http://reflects.example/a", "robots-unavailable")
        ]
    );
    let mut on_b: Vec<_> = asked(&fetcher).into_iter().filter(|url| url.starts_with("http://b.")).collect();
    on_b.sort_unstable();
    assert_eq!(on_b, ["http://b.example/robots.txt", "http://b.example/rules"]);
}

#[tokio::test(start_paused = true)]
async fn hosts_whose_rules_are_behind_each_others_are_left_alone() {
    let web = ScriptedWeb::default();
    for (host, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let to = format!("http://{next}.example/rules");
        web.set(&format!("http://{host}.example/robots.txt"), [ScriptedAnswer::redirect(302, &to)]);
    }
    let mut fetcher = fetcher(web, settings());
    for host in ["a", "b", "c"] {
        ask(&mut fetcher, &format!("http://{host}.example/"));
    }
    let ended = finish(&mut fetcher).await;
    assert_eq!(ended.len(), 3, "{ended:?}");
    assert!(ended.iter().all(|(_, outcome)| *outcome == "robots-unavailable"), "{ended:?}");
    assert!(asked(&fetcher).iter().all(|url| url.ends_with("/robots.txt")), "{:?}", asked(&fetcher));
}

#[tokio::test(start_paused = true)]
async fn a_date_to_come_back_at_goes_by_the_servers_own_clock() {
    let web = ScriptedWeb::default();
    // The server's clock is years behind ours; it asks for 50 seconds.
    let busy = ScriptedAnswer::status(503)
        .with_header(DATE, "Sun, 06 Nov 1994 08:49:37 GMT")
        .with_header(RETRY_AFTER, "Sun, 06 Nov 1994 08:50:27 GMT");
    web.set("http://a.example/", [busy, ScriptedAnswer::html("words")]);
    let mut fetcher = fetcher(web, settings());
    ask(&mut fetcher, "http://a.example/");
    assert_eq!(finish(&mut fetcher).await, [("http://a.example/".to_owned(), "fetched")]);
    let log = fetcher.web.log();
    assert_eq!((log[2].at - log[1].at).as_secs(), 50);
}

#[test]
fn a_ceiling_that_is_very_low_is_still_a_ceiling() {
    for rate in [1e-300, 1e-20, 1e-11, 1e-6, 1.0, 1e9] {
        assert!(quota(rate).map(RateLimiter::direct).is_some(), "{rate}");
    }
    assert!(quota(0.0).is_none());
}

#[tokio::test]
async fn a_packed_sitemap_is_read_off_the_networks_threads_however_short_it_is() {
    let web = ScriptedWeb::default();
    let packed: &[u8] = b"\x1f\x8b and more";
    web.set("http://a.example/s.xml.gz", [ScriptedAnswer::body("application/gzip", packed)]);
    web.set("http://a.example/page", [ScriptedAnswer::body("application/gzip", packed)]);
    let digest = |visit: Visit| (visit.request.url.path().to_owned(), std::thread::current().id());
    let politeness = Politeness { delay: Duration::ZERO, ..Politeness::default() };
    let settings = FetchSettings { politeness, ..settings() };
    let mut fetcher = Fetcher::new(Arc::new(web), digest, settings, None);
    for (path, subject) in [("s.xml.gz", Subject::Sitemap { nesting: 0 }), ("page", Subject::Page(PageId(1)))]
    {
        let url = Url::parse("http://a.example/").and_then(|host| host.join(path)).expect("a URL");
        fetcher.submit(Request { subject, url, validators: Validators::default() });
    }
    let mut read = HashMap::new();
    while let Some(event) = fetcher.next().await {
        if let FetchEvent::Visited((path, thread)) = event {
            read.insert(path, thread == std::thread::current().id());
        }
    }
    assert_eq!((read["/s.xml.gz"], read["/page"]), (false, true));
}
