//! A page is taken off the watch by no single answer: not by a redirect, not by a canonical link, and not for ever.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{FAST, Freshet, Reply, Site, article, links_page};

const PAGES: [&str; 5] = ["/p1", "/p2", "/p3", "/p4", "/p5"];

/// Visits every page that is due, whatever its rate of change.
const EVERY_PAGE: [&str; 4] = ["--policy", "age", "--no-sitemaps", "--json"];

#[track_caller]
fn crawl(freshet: &Freshet, seeds: &[String], flags: &[&str]) -> Value {
    let seeds = freshet.seeds(seeds);
    freshet.json(&[&["crawl", "--seeds", &seeds], &EVERY_PAGE[..], &FAST[..], flags].concat())
}

/// Goes on with the store for a cycle.
#[track_caller]
fn again(freshet: &Freshet) -> Value {
    freshet.json(&[&["crawl"], &EVERY_PAGE[..], &FAST[..]].concat())
}

/// The paths that one more cycle asks for.
#[track_caller]
fn asked_again(freshet: &Freshet, site: &Site) -> BTreeSet<String> {
    site.clear_log();
    again(freshet);
    site.log().paths().into_iter().collect()
}

/// The state of a page, and the page that stands for it.
#[track_caller]
fn state(freshet: &Freshet, url: &str) -> (Value, Value) {
    let listed = freshet.run(&["pages", "--json", "--aliases"]);
    let mut rows = listed.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let row = rows.rfind(|row| row["url"] == url).expect("the page is listed");
    (row["state"].clone(), row["alias_of"].clone())
}

/// A home page, and five articles that have nothing in common.
fn articles(site: &Site) {
    site.page("/", links_page("home", &PAGES));
    for (path, seed) in PAGES.iter().zip(1..) {
        site.page(path, article(path, 120, seed, &[]));
    }
}

fn paths(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|path| (*path).to_owned()).collect()
}

/// Makes every visit of the store a day and a half older.
fn a_day_later(freshet: &Freshet) {
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).expect("a store");
    store.execute("UPDATE page SET last_visit_at = last_visit_at - 129600000", []).expect("an update");
}

#[test]
fn a_site_that_sends_everyone_to_one_notice_is_watched_on() {
    let site = Site::start();
    articles(&site);
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &[]);
    // Some pages are found while the site is down: nothing is held of them.
    site.page("/", links_page("home", &[&PAGES[..], &["/new1", "/new2"]].concat()));
    site.page("/notice", article("We are moving house", 60, 99, &[]));
    let late = ["/new1", "/new2"];
    for path in PAGES.iter().chain(&late) {
        site.page(path, Reply::redirect(301, "/notice"));
    }
    for _ in 0..3 {
        again(&freshet);
    }
    for path in PAGES.iter().chain(&late) {
        assert_eq!(state(&freshet, &site.url(path)), (json!("redirected"), Value::Null), "{path}");
    }
    let merged = json!([{ "host": site.origin(0), "target": site.url("/notice"), "page_count": 7, "unlike_count": 5 }]);
    assert_eq!(freshet.json(&["status", "--json"])["merged"], merged);
    let said =
        format!("7 pages of {} lead to {}, 5 of them with another text", site.origin(0), site.url("/notice"));
    assert!(freshet.run(&["status"]).stdout.contains(&said));
    assert!(freshet.run(&["changes"]).stderr.contains(&said));
    assert!(!freshet.run(&["changes", "--host", "elsewhere.example"]).stderr.contains(&said));
    articles(&site);
    for (path, seed) in late.iter().zip(20..) {
        site.page(path, article(path, 120, seed, &[]));
    }
    let asked = asked_again(&freshet, &site);
    assert!(asked.is_superset(&paths(&PAGES)) && asked.is_superset(&paths(&late)), "{asked:?}");
    for path in PAGES.iter().chain(&late) {
        assert_eq!(state(&freshet, &site.url(path)).0, "alive", "{path}");
    }
    assert_eq!(freshet.json(&["status", "--json"])["merged"], json!([]), "it is over");
    let rebuilt = freshet.json(&["store", "rebuild", "--check", "--json"]);
    assert_eq!((&rebuilt["pages_differ"], &rebuilt["aliases_differ"]), (&json!(0), &json!(0)));
    for path in PAGES {
        let rows = exported(&freshet, &site.url(path));
        let outcomes: Vec<&Value> = rows.iter().map(|row| &row["outcome"]).collect();
        assert_eq!(outcomes, ["fetched", "moved", "moved", "moved", "fetched"], "{path}");
    }
}

/// The rows of a page in an export.
#[track_caller]
fn exported(freshet: &Freshet, url: &str) -> Vec<Value> {
    let _ = std::fs::remove_file(freshet.path("visits.jsonl"));
    let ran = freshet.run(&["export", "--format", "observations", "--out", "visits.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let text = std::fs::read_to_string(freshet.path("visits.jsonl")).expect("a file");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    rows.filter(|row| row["url"] == url).collect()
}

#[test]
fn a_template_that_names_one_canonical_for_all_makes_no_page_of_them() {
    let site = Site::start();
    let home = "<head><link rel=\"canonical\" href=\"/\">";
    site.page("/", links_page("home", &PAGES).replace("<head>", home));
    for (path, seed) in PAGES.iter().zip(1..) {
        site.page(path, article(path, 120, seed, &[]).replace("<head>", home));
    }
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--cycles", "3"]);
    let status = freshet.json(&["status", "--json"]);
    assert_eq!((&status["pages"]["known"], &status["pages"]["aliases"]), (&json!(6), &json!(0)));
    assert_eq!(
        (&status["merged"][0]["target"], &status["merged"][0]["unlike_count"]),
        (&json!(site.url("/")), &json!(5))
    );
    assert!(asked_again(&freshet, &site).is_superset(&paths(&PAGES)));
}

#[test]
fn a_page_that_moved_is_looked_at_rarely_and_is_free_when_it_answers_for_itself() {
    let site = Site::start();
    site.page("/", links_page("home", &["/old"]));
    site.page("/old", article("story", 120, 1, &[]));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &[]);
    site.page("/old", Reply::redirect(301, "/new"));
    site.page("/new", article("story", 125, 1, &[]));
    again(&freshet);
    assert_eq!(state(&freshet, &site.url("/old")), (json!("redirected"), Value::Null));
    again(&freshet);
    assert_eq!(state(&freshet, &site.url("/old")), (json!("alias"), json!(site.url("/new"))));
    assert_eq!(asked_again(&freshet, &site), paths(&["/", "/new"]));
    let rows = exported(&freshet, &site.url("/old"));
    assert_eq!(rows.len(), 3, "its history is its own");
    assert!(rows.iter().all(|row| row["alias_of"] == site.url("/new")), "{rows:?}");
    assert!(exported(&freshet, &site.url("/new")).iter().all(|row| row["alias_of"].is_null()));

    a_day_later(&freshet);
    assert_eq!(asked_again(&freshet, &site), paths(&["/", "/new", "/old"]));
    a_day_later(&freshet);
    assert_eq!(asked_again(&freshet, &site), paths(&["/", "/new"]), "two days pass until the next look");
    site.page("/old", article("another story", 120, 2, &[]));
    a_day_later(&freshet);
    assert!(asked_again(&freshet, &site).contains("/old"));
    assert_eq!(state(&freshet, &site.url("/old")), (json!("alive"), Value::Null));
    assert!(asked_again(&freshet, &site).contains("/old"));
}

#[test]
fn a_page_that_is_named_as_a_seed_is_visited_again() {
    let site = Site::start();
    site.page("/", links_page("home", &["/old"]));
    site.page("/old", Reply::redirect(308, "/new"));
    site.page("/new", article("story", 120, 1, &[]));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert_eq!(state(&freshet, &site.url("/old")).0, "alias");
    assert!(!asked_again(&freshet, &site).contains("/old"));

    site.clear_log();
    crawl(&freshet, &[site.url("/old")], &["--cycles", "3"]);
    assert_eq!(site.log().count("/old"), 3, "a seed is never another spelling");
    assert_eq!(state(&freshet, &site.url("/old")), (json!("redirected"), Value::Null));
}

#[test]
fn a_seed_that_is_sent_elsewhere_for_a_while_widens_nothing() {
    let site = Site::with_ports(2);
    site.page_on(0, "/", Reply::redirect(302, site.url_on(1, "/")));
    site.page_on(1, "/", links_page("other", &["/a"]));
    site.page_on(1, "/a", "a");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--seeds", &seeds], &EVERY_PAGE[..], &FAST[..]].concat());
    assert!(ran.stderr.contains("name the target as a seed"), "{}", ran.output());
    assert_eq!(site.log().on(1).total(), 0);
    assert_eq!(freshet.json(&["status", "--json"])["adopted"], json!([]));
}

#[test]
fn a_host_that_a_seed_moved_to_is_let_go_when_the_seed_answers_for_itself() {
    let site = Site::with_ports(2);
    site.page_on(0, "/", Reply::redirect(301, site.url_on(1, "/")));
    site.page_on(1, "/", links_page("new home", &["/a"]));
    site.page_on(1, "/a", "a");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert_eq!((site.log().on(1).count("/"), site.log().on(1).count("/a")), (2, 2));
    let status = freshet.json(&["status", "--json"]);
    let moved = json!([{ "url": site.url_on(1, "/"), "seed": site.url("/"), "let_go_at": null }]);
    assert_eq!(status["adopted"], moved);

    site.page_on(0, "/", links_page("home again", &["/b"]));
    site.page_on(0, "/b", "b");
    // The cycle that finds this has planned the pages of the other host already; the next has not, in the same run or another.
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert!(site.log().on(1).count("/a") <= 3, "{:?}", site.log().paths());
    site.clear_log();
    again(&freshet);
    assert_eq!(site.log().on(1).total(), 0);
    assert_eq!(site.log().on(0).count("/b"), 1);
    let told = freshet.run(&["status"]);
    assert!(told.stdout.contains(&format!("{} is let go", site.url_on(1, "/"))), "{}", told.output());

    site.page_on(0, "/", Reply::redirect(301, site.url_on(1, "/")));
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert_eq!(site.log().on(1).count("/a"), 1, "it moved again");
}

#[test]
fn a_chain_of_canonical_links_ends_at_the_depth_that_is_wanted() {
    let site = Site::start();
    for page in 0..6 {
        let link = format!("<head><link rel=\"canonical\" href=\"/c{}\">", page + 1);
        site.page(&format!("/c{page}"), article("chain", 50, page, &[]).replace("<head>", &link));
    }
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/c0")], &["--max-depth", "2"]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/c0", "/c1", "/c2"]);
}
