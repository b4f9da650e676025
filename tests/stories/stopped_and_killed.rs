//! A crawl that is stopped, or killed, loses nothing that was committed, and the next run goes on where it was.

use crate::support::{FAST, Freshet, Reply, Running, Site, links_page};
use rand::{RngExt as _, SeedableRng as _};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a busy machine; whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(30);

#[track_caller]
fn start(freshet: &Freshet, seeds: &[String], flags: &[&str]) -> Running {
    let seeds = freshet.seeds(seeds);
    freshet.start(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..], flags].concat())
}

/// Goes on with the store, to its end; the summary.
#[track_caller]
fn go_on(freshet: &Freshet, flags: &[&str]) -> Value {
    freshet.json(&[&["crawl", "--json"], &FAST[..], flags].concat())
}

/// Looks again and again until it is so.
#[track_caller]
pub fn wait_until(what: &str, so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal by its name, as `kill` takes it.
fn signal(running: &Running, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &running.id().to_string()]).status();
    assert!(sent.expect("`kill` can be run").success());
}

/// The pages that are in the store as visited; none while there is no store yet.
#[track_caller]
fn visited(freshet: &Freshet) -> HashSet<String> {
    let ran = freshet.run(&["pages", "--json", "--aliases"]);
    if ran.stderr.contains("there is no store") {
        return HashSet::new();
    }
    assert_eq!(ran.code, Some(0), "a store left by a killed crawl can be looked at\n{}", ran.output());
    let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let seen = rows.into_iter().filter(|row| row["visit_count"] != 0);
    seen.filter_map(|row| row["url"].as_str().map(str::to_owned)).collect()
}

/// A site of `hosts` × `pages` pages; each answer takes its time. Every tenth page is one that has moved, and one
/// page of each host is in no page's links, only in the sitemap.
fn wide_site(hosts: usize, pages: usize, answer_time: Duration) -> Site {
    let site = Site::with_hosts(hosts);
    let name = |page: usize| format!("/{page}");
    for page in 0..pages {
        let links: Vec<String> =
            (page * 3 + 1..=page * 3 + 3).filter(|branch| *branch < pages).map(name).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let body = links_page(&format!("page {page}"), &links);
        if page % 10 == 9 {
            site.page(&name(page), Reply::redirect(301, format!("/moved/{page}")).delay(answer_time));
            site.page(&format!("/moved/{page}"), Reply::html(body).delay(answer_time));
        } else {
            site.page(&name(page), Reply::html(body).delay(answer_time));
        }
    }
    for host in 0..hosts {
        let listed = format!("<urlset><url><loc>{}</loc></url></urlset>", site.url_on(host, "/hidden"));
        site.page_on(host, "/sitemap.xml", Reply::bytes("text/xml", listed).delay(answer_time));
    }
    site.page("/hidden", Reply::html("hidden").delay(answer_time));
    site
}

fn one<T: rusqlite::types::FromSql>(store: &Connection, sql: &str) -> T {
    store.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

// --- killed ----------------------------------------------------------------------------------------------------

#[test]
fn killed_at_25_moments_nothing_is_lost_repeated_or_forgotten() {
    const HOSTS: usize = 3;
    const KILLS: usize = 25;
    const ANSWER_TIME: Duration = Duration::from_millis(30);
    let mut random = rand_pcg::Pcg64::seed_from_u64(2026);
    let lives: Vec<u64> = (0..KILLS).map(|_| random.random_range(5..150)).collect();
    // A host answers one request at a time, so this many pages can't be had before the last kill: all of them fall
    // into one cycle.
    let pages = KILLS + (lives.iter().sum::<u64>() / ANSWER_TIME.as_millis() as u64) as usize;
    let site = wide_site(HOSTS, pages, ANSWER_TIME);
    let freshet = Freshet::new();
    let seeds: Vec<String> = (0..HOSTS).map(|host| site.url_on(host, "/0")).collect();

    let mut committed = HashSet::new();
    for (kill, life) in lives.iter().enumerate() {
        site.clear_log();
        let crawl = start(&freshet, &seeds, &[]);
        // Half of the kills may fall into its beginning; the others find it at work, however slow the machine.
        if kill % 2 == 1 {
            wait_until("the crawl asks for something", || site.log().total() > 0);
        }
        thread::sleep(Duration::from_millis(*life));
        let ran = crawl.kill();
        assert_eq!(ran.code, None, "kill {kill} came too late\n{}", ran.output());
        assert_nothing_repeated(&site, &committed, kill);
        let now = visited(&freshet);
        assert!(now.is_superset(&committed), "kill {kill}: lost {:?}", committed.difference(&now));
        committed = now;
    }
    assert!(committed.len() > HOSTS, "the crawl got somewhere between the kills: {}", committed.len());

    site.clear_log();
    let summary = go_on(&freshet, &[]);
    assert_eq!(summary["resumed"], true);
    assert_nothing_repeated(&site, &committed, KILLS);

    let moved = (0..pages).filter(|page| page % 10 == 9).count();
    let all = HOSTS * (pages + moved + 1);
    assert_eq!(visited(&freshet).len(), all, "nothing is forgotten");
    let store = Connection::open(freshet.path("freshet.db")).expect("the store opens");
    assert_eq!(one::<String>(&store, "PRAGMA integrity_check"), "ok");
    let count = |sql: &str| one::<i64>(&store, sql) as usize;
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(count("SELECT count(*) FROM cycle"), 1, "it was one cycle all along");
    assert_eq!(count("SELECT count(*) FROM cycle WHERE ended_at IS NULL"), 0);
    assert_eq!(count("SELECT count(*) FROM plan"), 0);
    assert_eq!(count("SELECT count(*) FROM observation"), all, "each page was stored once");
    assert_eq!(count("SELECT count(DISTINCT page_id) FROM observation"), all);
    assert_eq!(count("SELECT count(*) FROM page WHERE version_id IS NOT NULL"), all - HOSTS * moved);
}

/// No page that was committed before is in the log.
#[track_caller]
fn assert_nothing_repeated(site: &Site, committed: &HashSet<String>, kill: usize) {
    for hit in site.log().hits() {
        let url = site.url_on(hit.host, &hit.path);
        assert!(!committed.contains(&url), "after kill {kill} `{url}` was fetched though it was committed");
    }
}

#[test]
fn killed_while_its_store_is_made_it_makes_it_whole() {
    let site = Site::start();
    site.page("/", "home");
    let mut random = rand_pcg::Pcg64::seed_from_u64(9);
    for attempt in 0..20 {
        let freshet = Freshet::new();
        let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps"]);
        // The store is made within the first milliseconds: kill at any moment from its first sign on.
        wait_until("the store appears", || freshet.path("freshet.db").exists());
        thread::sleep(Duration::from_micros(random.random_range(0..12_000)));
        crawl.kill();
        site.clear_log();
        let ran = freshet.run(&[&["crawl", "--seeds", "seeds.txt", "--no-sitemaps"], &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "attempt {attempt}\n{}", ran.output());
        assert_eq!(visited(&freshet).len(), 1, "attempt {attempt}");
    }
}

#[test]
fn killed_while_its_sitemap_is_on_the_way_it_asks_again() {
    let site = Site::start();
    site.page("/", "home");
    let listed = format!("<urlset><url><loc>{}</loc></url></urlset>", site.url("/hidden"));
    site.page("/sitemap.xml", Reply::sequence(vec![Reply::silent(), Reply::bytes("text/xml", listed)]));
    site.page("/hidden", "hidden");
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/")], &[]);
    wait_until("the sitemap is asked for", || site.log().asked("/sitemap.xml"));
    crawl.kill();
    go_on(&freshet, &[]);
    assert_eq!(site.log().count("/hidden"), 1, "{:?}", site.log().paths());
}

#[test]
fn what_is_in_the_store_was_paid_for_though_the_crawl_was_killed() {
    let site = wide_site(1, 60, Duration::from_millis(5));
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/0")], &["--no-sitemaps", "--budget", "40"]);
    wait_until("pages are stored", || visited(&freshet).len() > 5);
    crawl.kill();
    let stored = visited(&freshet).len() as u64;
    let status = freshet.json(&["status", "--json"]);
    let spent = status["cycles"][0]["requests"].as_u64().expect("a number");
    assert!(spent >= stored, "{stored} pages are stored, but only {spent} requests are accounted for");

    site.clear_log();
    go_on(&freshet, &["--no-sitemaps", "--budget", "40"]);
    let total = site.log().total() as u64;
    assert!(total + stored <= 40, "a budget of 40: {stored} were stored before, and {total} followed");
}

#[test]
fn a_killed_crawl_leaves_no_lock_behind_and_a_living_one_keeps_others_out() {
    let site = Site::start();
    site.page("/", Reply::silent());
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps"]);
    wait_until("the page is asked for", || site.log().asked("/"));

    let other = freshet.run(&[&["crawl"], &FAST[..]].concat());
    assert_eq!(other.code, Some(1), "{}", other.output());
    assert!(other.stderr.contains("in use by another crawl"), "{}", other.output());
    assert_eq!(freshet.json(&["status", "--json"])["pages"]["known"], 1, "one may look meanwhile");
    assert_eq!(site.log().count("/"), 1);

    crawl.kill();
    site.page("/", "home");
    assert_eq!(go_on(&freshet, &["--no-sitemaps"])["succeeded"], 1);
}

// --- stopped ---------------------------------------------------------------------------------------------------

/// A slow page under way, nine more waiting.
fn slow_site(answer: Reply) -> Site {
    let site = Site::start();
    let links: Vec<String> = (0..10).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links));
    for link in &links[1..] {
        site.page(link, *link);
    }
    site.page("/0", answer);
    site
}

#[test]
fn the_first_signal_lets_what_is_in_flight_finish() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let site = slow_site(Reply::html("slow, but it comes").delay(Duration::from_millis(700)));
        let freshet = Freshet::new();
        let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps"]);
        wait_until("the slow page is asked for", || site.log().asked("/0"));
        signal(&crawl, name);
        let ran = crawl.wait(PATIENCE);
        assert_eq!(ran.code, Some(code), "{name}\n{}", ran.output());
        assert_eq!(site.log().paths(), ["/robots.txt", "/", "/0"], "{name}: nothing more is asked for");
        assert_eq!(site.log().first("/0").map(|hit| hit.status), Some(200));
        assert!(visited(&freshet).contains(&site.url("/0")), "{name}: it was stored");
        assert!(ran.stderr.contains("freshet crawl"), "{name}: it says how to go on\n{}", ran.output());
        let summary: Value = serde_json::from_str(&ran.stdout).expect("the summary is printed all the same");
        assert_eq!((&summary["stopped"], &summary["succeeded"]), (&Value::Bool(true), &Value::from(2)));

        site.clear_log();
        let summary = go_on(&freshet, &["--no-sitemaps"]);
        assert_eq!(summary["resumed"], true, "{name}");
        let mut paths = site.log().paths();
        paths.sort_unstable();
        let rest: Vec<String> = (1..10).map(|page| format!("/{page}")).collect();
        assert_eq!(paths, rest, "{name}: what was left, and nothing else");
        assert_eq!(freshet.json(&["status", "--json"])["cycles"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn a_run_with_a_wider_wish_may_finish_what_a_narrow_one_began() {
    let site = Site::start();
    let slow = Reply::html("slow").delay(Duration::from_millis(300));
    site.page("/", Reply::from(links_page("home", &["/a", "/slow"])).etag("\"home\""));
    site.page("/a", Reply::from(links_page("a", &["/a/x"])).etag("\"a\""));
    site.page("/slow", slow);
    site.page("/a/x", "deep");
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps", "--max-depth", "1"]);
    wait_until("the slow page is asked for", || site.log().asked("/slow"));
    signal(&crawl, "INT");
    let ran = crawl.wait(PATIENCE);
    assert_eq!(ran.code, Some(130), "{}", ran.output());
    // The links of stored pages are judged by the wider rules before the cycle goes on.
    go_on(&freshet, &["--no-sitemaps"]);
    assert_eq!(site.log().count("/a/x"), 1, "{:?}", site.log().paths());
}

#[test]
fn how_to_go_on_names_the_flags_that_were_used_and_the_pages_that_are_left() {
    let site = slow_site(Reply::html("slow").delay(Duration::from_millis(300)));
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps", "--store", "mine.db"]);
    wait_until("the slow page is asked for", || site.log().asked("/0"));
    signal(&crawl, "INT");
    let ran = crawl.wait(PATIENCE);
    let line = "Go on with: freshet crawl --json --allow-private --delay 0 --no-sitemaps --store mine.db\n";
    assert!(ran.stderr.contains(line), "{}", ran.output());
    let stopped: Value = serde_json::from_str(&ran.stdout).expect("a summary");
    assert_eq!((&stopped["succeeded"], &stopped["known_urls"]), (&2.into(), &11.into()), "{}", ran.output());
    assert_eq!(
        (&stopped["put_off"], &stopped["put_off_by_reason"]["stopped"]),
        (&9.into(), &9.into()),
        "{}",
        ran.output()
    );
    assert_eq!(go_on(&freshet, &["--no-sitemaps", "--store", "mine.db"])["succeeded"], 9);
}

#[test]
fn the_second_signal_stops_at_once() {
    for (first, second, code) in [("INT", "INT", 130), ("TERM", "INT", 130), ("INT", "TERM", 143)] {
        let site = slow_site(Reply::silent());
        let freshet = Freshet::new();
        let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps"]);
        wait_until("the silent page is asked for", || site.log().asked("/0"));
        wait_until("the seed is stored", || visited(&freshet).contains(&site.url("/")));
        signal(&crawl, first);
        wait_until("it says that it stops", || crawl.stderr().contains("press Ctrl-C again to quit now"));
        signal(&crawl, second);
        let ran = crawl.wait(PATIENCE);
        assert_eq!(ran.code, Some(code), "{first}, {second}\n{}", ran.output());
        // It did not wait for the page that never answers: nothing is stored of it.
        assert!(!visited(&freshet).contains(&site.url("/0")), "{}", ran.output());

        site.page("/0", "not silent any more");
        site.clear_log();
        assert_eq!(go_on(&freshet, &["--no-sitemaps"])["resumed"], true);
        assert_eq!(site.log().count("/"), 0, "what was stored is not asked for again");
        assert_eq!(visited(&freshet).len(), 11);
    }
}

#[test]
fn a_stop_does_not_wait_for_a_host_that_asked_for_time() {
    let site = Site::start();
    site.page("/", Reply::status(503, "later").header("Retry-After", "60"));
    let freshet = Freshet::new();
    let crawl = start(&freshet, &[site.url("/")], &["--no-sitemaps"]);
    wait_until("the host has asked for time", || {
        site.log().first("/").is_some_and(|hit| hit.status == 503)
            && freshet.json(&["status", "--json"])["hosts"][0]["waiting_for"] == "retry-after"
    });
    signal(&crawl, "INT");
    let ran = crawl.wait(Duration::from_secs(20));
    assert_eq!(ran.code, Some(130), "{}", ran.output());
}

#[test]
fn a_stop_does_not_wait_for_the_pause_of_a_host() {
    let site = slow_site("quick".into());
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = freshet.start(&["crawl", "--seeds", &seeds, "--allow-private", "--delay", "60"]);
    wait_until("robots.txt is answered", || {
        site.log().first("/robots.txt").is_some_and(|hit| hit.status == 404)
    });
    signal(&crawl, "TERM");
    let ran = crawl.wait(Duration::from_secs(20));
    assert_eq!(ran.code, Some(143), "{}", ran.output());
}
