use std::sync::Arc;
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use url::Url;

use super::*;
use crate::fetch::politeness::Politeness;
use crate::fetch::robots::ProductTokens;
use crate::fetch::scripted::{LoggedRequest, ScriptedAnswer, ScriptedWeb};
use crate::fetch::visit::{HostReport, Outcome, Request, RobotsRecord, Subject, Visit, Waiting};
use crate::fetch::{FetchEvent, FetchSettings};
use crate::page::{Host, PageId, Sites};

type VisitFetcher = Fetcher<ScriptedWeb, Visit>;

/// How the requests of a test ended.
#[derive(Default)]
struct TwinVisit {
    fetched: Vec<String>,
    put_off: Vec<(String, Waiting)>,
    reports: Vec<HostReport>,
}

fn fetcher(web: ScriptedWeb) -> VisitFetcher {
    let settings = FetchSettings {
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
    };
    Fetcher::new(Arc::new(web), |visit| visit, settings, None)
}

fn submit(fetcher: &mut VisitFetcher, urls: &[&str]) {
    for (page, url) in (1..).zip(urls) {
        fetcher.submit(Request {
            url: Url::parse(url).unwrap(),
            validators: Default::default(),
            subject: Subject::Page(PageId(page)),
        });
    }
}

async fn run(fetcher: &mut VisitFetcher) -> TwinVisit {
    let mut ended = TwinVisit::default();
    while let Some(event) = fetcher.next().await {
        match event {
            FetchEvent::Visited(visit) if visit.outcome == Outcome::Fetched => {
                ended.fetched.push(visit.request.url.to_string());
            }
            FetchEvent::Deferred { request, why } => ended.put_off.push((request.url.to_string(), why)),
            FetchEvent::Host(report) => ended.reports.push(report),
            FetchEvent::RobotsWanted(host) => fetcher.recalled(&host, None),
            FetchEvent::Visited(_) | FetchEvent::Robots { .. } => {}
        }
    }
    ended
}

/// The seconds between the starts of requests.
fn gaps(log: &[LoggedRequest]) -> Vec<u64> {
    log.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs()).collect()
}

const BOTH: [&str; 6] = [
    "http://a.example/1",
    "http://a.example/2",
    "http://a.example/3",
    "https://a.example/1",
    "https://a.example/2",
    "https://a.example/3",
];

fn web_of_both() -> ScriptedWeb {
    let web = ScriptedWeb::default();
    for url in BOTH {
        web.set(url, [ScriptedAnswer::html("words").after(Duration::from_secs(3))]);
    }
    web
}

#[tokio::test(start_paused = true)]
async fn two_schemes_of_a_name_are_asked_one_at_a_time_and_in_turn() {
    let mut fetcher = fetcher(web_of_both());
    submit(&mut fetcher, &BOTH);
    assert_eq!(run(&mut fetcher).await.fetched.len(), 6);
    let log = fetcher.web.log();
    let asked: Vec<&str> = log.iter().map(|asked| asked.url.as_str()).collect();
    assert_eq!(asked.iter().filter(|url| url.ends_with("/robots.txt")).count(), 2, "{asked:?}");
    // A page takes three seconds, and then as long a pause is due: two starts are six seconds apart.
    let pages: Vec<_> = log.iter().filter(|asked| asked.url.path() != "/robots.txt").cloned().collect();
    assert_eq!(pages.len(), 6, "{asked:?}");
    assert!(gaps(&pages).iter().all(|gap| *gap >= 6), "{:?}", gaps(&pages));
    assert!(gaps(&log).iter().all(|gap| *gap >= 1), "{:?}", gaps(&log));
    let schemes: Vec<&str> = pages.iter().map(|asked| asked.url.scheme()).collect();
    assert!(schemes.windows(2).all(|pair| pair[0] != pair[1]), "{schemes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_holds_for_both_schemes_also_after_a_restart() {
    let robots = ScriptedAnswer::body("text/plain", "User-agent: *\nCrawl-delay: 20\n");
    let web = web_of_both();
    web.set("https://a.example/robots.txt", [robots]);
    let mut first = fetcher(web);
    submit(&mut first, &BOTH);
    let ended = run(&mut first).await;
    let log = first.web.log();
    assert_eq!(log[0].url.as_str(), "http://a.example/robots.txt");
    let read = log.iter().position(|asked| asked.url.as_str() == "https://a.example/robots.txt").unwrap();
    assert!(gaps(&log[read..]).iter().all(|gap| *gap >= 20), "{:?}", gaps(&log));

    let mut second = fetcher(web_of_both());
    let report = ended.reports.iter().rfind(|report| report.robots.is_some()).unwrap();
    assert_eq!(report.host.as_str(), "https://a.example");
    second.remember(report, report.robots.as_ref().map(RobotsRecord::answered), true);
    submit(&mut second, &BOTH[..3]);
    assert_eq!(run(&mut second).await.fetched.len(), 3);
    let log = second.web.log();
    assert_eq!(log[0].url.as_str(), "http://a.example/robots.txt");
    assert!(gaps(&log).iter().all(|gap| *gap >= 20), "{:?}", gaps(&log));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_time_gets_it_from_both_schemes() {
    let web = web_of_both();
    let busy = ScriptedAnswer::status(429).with_header(RETRY_AFTER, "90");
    web.set("https://a.example/1", [busy, ScriptedAnswer::html("words")]);
    let mut fetcher = fetcher(web);
    submit(&mut fetcher, &BOTH);
    assert_eq!(run(&mut fetcher).await.fetched.len(), 6);
    let log = fetcher.web.log();
    let busy = log.iter().position(|asked| asked.url.as_str() == "https://a.example/1").unwrap();
    assert!(gaps(&log)[busy] >= 90, "{:?}", gaps(&log));
}

#[tokio::test(start_paused = true)]
async fn a_long_rest_holds_for_both_schemes_also_after_a_restart() {
    let web = web_of_both();
    web.set("https://a.example/1", [ScriptedAnswer::status(503).with_header(RETRY_AFTER, "3600")]);
    let mut first = fetcher(web);
    submit(&mut first, &BOTH);
    let ended = run(&mut first).await;
    // One page of http was asked before its twin was busy.
    let http = |(url, why): &&(String, Waiting)| url.starts_with("http:") && *why == Waiting::RetryAfter;
    assert_eq!(ended.put_off.iter().filter(http).count(), 2, "{:?}", ended.put_off);

    // The first run knew of one origin only, or of both: either way the other is left alone.
    let reports: Vec<HostReport> = ["http://a.example", "https://a.example"]
        .map(|origin| ended.reports.iter().rfind(|report| report.host.as_str() == origin).unwrap().clone())
        .into();
    assert!(reports.iter().all(|report| matches!(report.wait, Some((_, Waiting::RetryAfter)))));
    let orders = [vec![&reports[0]], vec![&reports[1]], vec![&reports[0], &reports[1]]];
    for known in orders {
        let mut second = fetcher(web_of_both());
        for report in known {
            second.remember(report, report.robots.as_ref().map(RobotsRecord::answered), false);
        }
        submit(&mut second, &BOTH);
        let ended = run(&mut second).await;
        assert_eq!((ended.put_off.len(), second.web.log().len()), (6, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_scheme_that_no_server_listens_for_does_not_hold_up_the_other() {
    let web = web_of_both();
    web.set_unreachable(Host::parse("http://a.example").unwrap());
    let mut fetcher = fetcher(web);
    submit(&mut fetcher, &BOTH);
    let ended = run(&mut fetcher).await;
    assert_eq!(ended.fetched.len(), 3, "{:?}", ended.fetched);
    assert_eq!(ended.put_off.len(), 3, "{:?}", ended.put_off);
}
