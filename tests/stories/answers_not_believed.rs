//! Answers that are well-formed and still are not the page: an empty body, a 304 that was not asked for.

use super::what_changed::{changes, crawl, visits};
use crate::support::{Freshet, Hit, Reply, Site, article};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The seeds of a site: the page of the story, and one that is always well, so that the crawl has something to fetch.
fn site_with_a_good_page(site: &Site) -> Vec<String> {
    site.page("/good", "good");
    vec![site.url("/"), site.url("/good")]
}

#[test]
fn an_empty_page_is_believed_when_a_second_visit_confirms_it() {
    let site = Site::start();
    site.page("/", Reply::from(article("page", 200, 7, &[])).etag("\"v1\""));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\nback_off = 0.01\n");
    let seeds = site_with_a_good_page(&site);
    crawl(&freshet, &seeds, &[]);

    site.page("/", Reply::html("").etag("\"v2\""));
    let first = crawl(&freshet, &seeds, &["--on-change", "touch on-change-ran"]);
    assert_eq!(
        (&first["changed"], &first["outcomes"]),
        (&json!(0), &json!({ "empty": 1, "fetched": 1 })),
        "{first}"
    );
    assert!(!freshet.path("on-change-ran").exists());
    assert_eq!(changes(&freshet, &[]), [json!(null); 0]);

    let second = crawl(&freshet, &seeds, &[]);
    assert_eq!((&second["changed"], &second["outcomes"]), (&json!(1), &json!({ "fetched": 2 })), "{second}");
    let named: Vec<Option<String>> = site
        .log()
        .hits()
        .iter()
        .filter(|hit| hit.path == "/")
        .map(|hit| hit.header("if-none-match").map(str::to_owned))
        .collect();
    let v1 = Some("\"v1\"".to_owned());
    assert_eq!(named, [None, v1.clone(), v1], "the validators of the stored page are kept");
    let seen = &visits(&freshet)[&site.url("/")];
    let changed: Vec<_> = seen.iter().map(|visit| (visit.changed, visit.divergence)).collect();
    assert_eq!(changed, [(None, None), (None, None), (Some(true), Some(1.0))]);

    // Words that come back are believed at once.
    site.page("/", article("page", 200, 7, &[]).as_str());
    assert_eq!(crawl(&freshet, &seeds, &[])["changed"], 1);
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

#[test]
fn an_empty_page_that_recovers_was_never_a_change() {
    let site = Site::start();
    site.page("/", article("page", 200, 7, &[]).as_str());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\nback_off = 0.01\n");
    let seeds = site_with_a_good_page(&site);
    crawl(&freshet, &seeds, &[]);
    site.page("/", "<p> </p>");
    assert_eq!(crawl(&freshet, &seeds, &[])["changed"], 0);
    site.page("/", article("page", 200, 7, &[]).as_str());
    assert_eq!(crawl(&freshet, &seeds, &[])["unchanged"], 2);
    assert_eq!(changes(&freshet, &[]), [json!(null); 0]);
}

#[test]
fn a_304_that_was_not_asked_for_is_an_error() {
    let site = Site::start();
    site.page("/", article("page", 50, 7, &["/never-read"]).as_str());
    site.page("/never-read", Reply::status(304, ""));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\nback_off = 0.01\n");
    let seeds = site_with_a_good_page(&site);
    let first = crawl(&freshet, &seeds, &[]);
    assert_eq!((&first["succeeded"], &first["outcomes"]["http-error"]), (&json!(2), &json!(1)), "{first}");

    site.page("/", Reply::status(304, ""));
    let second = crawl(&freshet, &seeds, &[]);
    assert_eq!(second["outcomes"]["http-error"], 2, "{second}");
    let hits = site.log();
    assert!(hits.hits().iter().all(|hit| hit.header("if-none-match").is_none()));
    let seen = visits(&freshet);
    assert_eq!(seen[&site.url("/")].last().and_then(|visit| visit.version), None);
    assert_eq!(seen[&site.url("/never-read")][0].outcome, "http-error");
}

#[test]
fn a_server_that_always_says_304_is_asked_for_the_page_now_and_then() {
    let site = Site::start();
    let day = Arc::new(AtomicU64::new(0));
    let today = Arc::clone(&day);
    site.page(
        "/",
        Reply::dynamic(move |request| match request.header("if-none-match") {
            Some(_) => Reply::status(304, ""),
            None => {
                Reply::from(article("page", 60, today.load(Ordering::Relaxed), &[])).header("ETag", "\"v1\"")
            }
        }),
    );
    let freshet = Freshet::new();
    let seeds = [site.url("/")];
    crawl(&freshet, &seeds, &[]);
    day.store(1, Ordering::Relaxed);
    for _ in 0..9 {
        assert_eq!(crawl(&freshet, &seeds, &[])["outcomes"], json!({ "not-modified": 1 }));
    }
    let tenth = crawl(&freshet, &seeds, &[]);
    assert_eq!((&tenth["changed"], &tenth["outcomes"]), (&json!(1), &json!({ "fetched": 1 })), "{tenth}");
    // The count begins again.
    assert_eq!(crawl(&freshet, &seeds, &[])["outcomes"], json!({ "not-modified": 1 }));
    let asked_plainly = |hit: &&Hit| hit.path == "/" && hit.header("if-none-match").is_none();
    assert_eq!(site.log().hits().iter().filter(asked_plainly).count(), 2);
}

#[test]
fn a_date_of_the_second_of_the_visit_is_not_asked_by() {
    let site = Site::start();
    let now = || httpdate::fmt_http_date(std::time::SystemTime::now());
    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT";
    site.page(
        "/",
        Reply::dynamic(move |_| {
            Reply::html("some words").header("Last-Modified", now()).header("Date", now())
        }),
    );
    site.page("/old", Reply::html("old words").last_modified(long_ago));
    let freshet = Freshet::new();
    let seeds = [site.url("/"), site.url("/old")];
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    let log = site.log();
    let asked_by = |path: &str| -> Vec<Option<String>> {
        let hits = log.hits().iter().filter(|hit| hit.path == path);
        hits.map(|hit| hit.header("if-modified-since").map(str::to_owned)).collect()
    };
    assert_eq!(asked_by("/"), [None, None]);
    assert_eq!(asked_by("/old"), [None, Some(long_ago.to_owned())]);
}
