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
    let rows = listed.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let row = rows.filter(|row| row["url"] == url).next_back().expect("the page is listed");
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
    articles(&site);
    for (path, seed) in late.iter().zip(20..) {
        site.page(path, article(path, 120, seed, &[]));
    }
    let asked = asked_again(&freshet, &site);
    assert!(asked.is_superset(&paths(&PAGES)) && asked.is_superset(&paths(&late)), "{asked:?}");
    for path in PAGES.iter().chain(&late) {
        assert_eq!(state(&freshet, &site.url(path)).0, "alive", "{path}");
    }
    let rebuilt = freshet.json(&["store", "rebuild", "--check", "--json"]);
    assert_eq!((&rebuilt["pages_differ"], &rebuilt["aliases_differ"]), (&json!(0), &json!(0)));
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
