//! Tests of the fetcher on a scripted web, in tokio's paused time.

use std::convert::identity;

use super::scripted::{ScriptedAnswer, ScriptedWeb};
use super::visit::{Subject, Validators};
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
    let report = HostReport { host, delay: Duration::ZERO, wait: None, failures: 0, rests: 0, robots: None };
    fetcher.remember(&report, Some(RobotsStatus { at: Timestamp::now(), status: 200 }), false);
    ask(&mut fetcher, "http://a.example/no");

    assert_eq!(finish(&mut fetcher).await, [("http://a.example/no".to_owned(), "robots")]);
    assert_eq!(asked(&fetcher), ["http://a.example/robots.txt"]);
}
