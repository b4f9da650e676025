//! Sites tell of their changes: sitemaps, feeds, links on other pages, and people by `freshet ping`.

use crate::stopped_and_killed::wait_until;
use crate::support::{FAST, Freshet, Reply, Site, article, links_page};
use freshet::time::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use std::time::Duration;

/// A date that no visit of this test is later than, as sitemaps and feeds write it.
fn soon() -> String {
    Timestamp::now().plus(Duration::from_secs(3600)).to_string()
}

const LONG_AGO: &str = "2020-02-02T02:02:02Z";

fn sitemap(site: &Site, pages: &[(&str, &str)]) -> String {
    let entries: Vec<String> = pages
        .iter()
        .map(|(path, date)| format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>", site.url(path)))
        .collect();
    format!("<urlset>{}</urlset>", entries.concat())
}

/// A site whose pages change at each visit, and whose sitemap says nothing new.
fn site(pages: &[&str]) -> Site {
    let site = Site::start();
    site.page("/", links_page("home", pages));
    for page in pages {
        site.page(page, Reply::dynamic(|request| article("page", 60, request.count as u64, &[]).into()));
    }
    let listed: Vec<(&str, &str)> = pages.iter().map(|page| (*page, LONG_AGO)).collect();
    site.page("/sitemap.xml", Reply::text(sitemap(&site, &listed)).etag("\"old\""));
    site
}

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site) {
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--seeds", &seeds], &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
}

/// Sitemaps are read once a day: two days pass for them.
fn days_pass(freshet: &Freshet) {
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    let ago = 2 * 86_400_000;
    store
        .execute_batch(&format!(
            "UPDATE host SET sitemaps_at = sitemaps_at - {ago};
             UPDATE list SET read_at = read_at - {ago}, fetched_at = fetched_at - {ago};"
        ))
        .expect("times that can be shifted");
}

/// The signals of one kind that the site has told.
#[track_caller]
fn kind(freshet: &Freshet, kind: &str) -> Value {
    let signals = freshet.run(&["signals", "--json"]);
    assert_eq!(signals.code, Some(0), "{}", signals.output());
    let sites = signals.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let kinds: Vec<Value> =
        sites.flat_map(|site| site["kinds"].as_array().cloned().unwrap_or_default()).collect();
    kinds.into_iter().find(|found| found["kind"] == kind).unwrap_or(Value::Null)
}

#[track_caller]
fn told(freshet: &Freshet, named: &str) -> u64 {
    kind(freshet, named)["signal_count"].as_u64().unwrap_or(0)
}

#[track_caller]
fn rebuilds_alike(freshet: &Freshet) {
    let rebuilt = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(rebuilt.code, Some(0), "{}", rebuilt.output());
}

#[test]
fn a_date_of_a_sitemap_that_moves_is_a_signal_and_visits_say_whether_it_was_right() {
    let (site, freshet) = (site(&["/a", "/b", "/c"]), Freshet::new());
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "sitemap"), 0, "nothing has moved");
    let moved = sitemap(&site, &[("/a", LONG_AGO), ("/b", &soon()), ("/c", LONG_AGO)]);
    site.page("/sitemap.xml", Reply::text(moved).etag("\"new\""));
    days_pass(&freshet);
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "sitemap"), 1);
    // However the requests fell: by now a visit has looked into it, and found the change.
    crawl(&freshet, &site);
    let sitemap = kind(&freshet, "sitemap");
    assert_eq!((&sitemap["right"], &sitemap["wrong"], &sitemap["unused"]), (&1.into(), &0.into(), &0.into()));
    let table = freshet.run(&["signals", "127.0.0.1"]);
    assert!(table.stdout.contains("right 1 of 1 time"), "{}", table.output());
    assert!(table.stdout.contains("/sitemap.xml"), "{}", table.output());
    let why = freshet.run(&["why", &site.url("/b")]);
    assert!(
        why.stdout.contains("Signals of its site so far: sitemap: right 1 of 1 time"),
        "{}",
        why.output()
    );
    let sites = freshet.run(&["status", "--sites"]);
    assert!(sites.stdout.contains("sitemap 1 of 1"), "{}", sites.output());
    rebuilds_alike(&freshet);
}

#[test]
fn an_unchanged_sitemap_costs_a_304() {
    let (site, freshet) = (site(&["/a", "/b"]), Freshet::new());
    crawl(&freshet, &site);
    days_pass(&freshet);
    site.clear_log();
    crawl(&freshet, &site);
    let statuses = || -> Vec<u16> {
        let log = site.log();
        log.hits().iter().filter(|hit| hit.path == "/sitemap.xml").map(|hit| hit.status).collect()
    };
    assert_eq!(statuses(), [304]);
    crawl(&freshet, &site);
    assert_eq!(statuses(), [304], "once a day is enough");
    // With another scope other pages of it may be wanted.
    days_pass(&freshet);
    let ran = freshet.run(&[&["crawl", "--exclude", "/b"], &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(statuses(), [304, 200]);
}

#[test]
fn files_of_an_index_whose_date_stands_still_are_not_asked_for() {
    let (site, freshet) = (site(&["/a", "/b"]), Freshet::new());
    let index = |site: &Site, second: &str| {
        let entry = |file: &str, date: &str| {
            format!("<sitemap><loc>{}</loc><lastmod>{date}</lastmod></sitemap>", site.url(file))
        };
        format!("<sitemapindex>{}{}</sitemapindex>", entry("/one.xml", LONG_AGO), entry("/two.xml", second))
    };
    site.page("/sitemap.xml", Reply::text(index(&site, LONG_AGO)));
    site.page("/one.xml", Reply::text(sitemap(&site, &[("/a", LONG_AGO)])));
    site.page("/two.xml", Reply::text(sitemap(&site, &[("/b", LONG_AGO)])));
    crawl(&freshet, &site);
    site.page("/sitemap.xml", Reply::text(index(&site, "2021-02-02T02:02:02Z")));
    site.page("/two.xml", Reply::text(sitemap(&site, &[("/b", &soon()), ("/new", LONG_AGO)])));
    site.page("/new", article("new", 50, 1, &[]));
    days_pass(&freshet);
    site.clear_log();
    crawl(&freshet, &site);
    let log = site.log();
    assert!(!log.asked("/one.xml") && log.asked("/two.xml") && log.asked("/new"), "{:?}", log.paths());
    assert_eq!(told(&freshet, "sitemap"), 1);
    rebuilds_alike(&freshet);
}

#[test]
fn an_entry_of_a_feed_tells_of_its_page() {
    let (site, freshet) = (site(&["/a", "/b", "/feed.xml"]), Freshet::new());
    let feed = |site: &Site, entries: &[(&str, Option<String>)]| {
        let item = |(path, date): &(&str, Option<String>)| {
            let date = date.as_ref().map(|date| format!("<dc:date>{date}</dc:date>")).unwrap_or_default();
            format!("<item><title>{path}</title><link>{}</link>{date}</item>", site.url(path))
        };
        let items: Vec<String> = entries.iter().map(item).collect();
        let feed =
            format!("<rss version='2.0'><channel><title>news</title>{}</channel></rss>", items.concat());
        Reply::bytes("application/rss+xml", feed)
    };
    let old = Some(LONG_AGO.to_owned());
    site.page("/feed.xml", feed(&site, &[("/a", old.clone())]));
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "feed"), 0);
    // One entry with a later date, and one that appears without any.
    site.page("/feed.xml", feed(&site, &[("/b", None), ("/a", Some(soon()))]));
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "feed"), 2);
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "feed"), 2, "they were told");
    rebuilds_alike(&freshet);
}

#[test]
fn a_link_that_appears_on_another_page_tells_of_its_page() {
    let (site, freshet) = (site(&["/hub", "/x", "/y"]), Freshet::new());
    site.page("/hub", links_page("hub", &["/x"]));
    crawl(&freshet, &site);
    site.page("/hub", links_page("hub", &["/y", "/x"]));
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "hub"), 1);
    let why = freshet.json(&["why", "--json", &site.url("/y")]);
    assert_eq!(why["signals"][0]["signal_count"], 1, "{why}");
    let why = freshet.json(&["why", "--json", &site.url("/x")]);
    assert_eq!(why["signals"][0]["signal_count"], 0, "{why}");
    rebuilds_alike(&freshet);
}

#[test]
fn a_ping_is_taken_over_by_the_next_cycle_also_while_a_crawl_is_running() {
    let (site, freshet) = (site(&["/a", "/b"]), Freshet::new());
    site.page("/unlinked", article("unlinked", 40, 1, &[]));
    crawl(&freshet, &site);
    site.page(
        "/b",
        Reply::dynamic(|request| article("b", 60, request.count as u64, &[]).into())
            .delay(Duration::from_secs(2)),
    );
    site.clear_log();
    let running = freshet.start(&[&["crawl"], &FAST[..]].concat());
    wait_until("the crawl is at work", || site.log().asked("/b"));
    let ping = freshet.run(&["ping", &site.url("/a"), &site.url("/unlinked"), "--json"]);
    assert_eq!(ping.code, Some(0), "{}", ping.output());
    let verdicts: Vec<Value> = ping
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["known", "new"]);
    let ran = running.wait(Duration::from_secs(60));
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(told(&freshet, "ping"), 0, "the cycle under way leaves them alone");
    site.page("/b", article("b", 60, 1, &[]));
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "ping"), 1);
    assert!(site.log().asked("/unlinked"), "{:?}", site.log().paths());
    crawl(&freshet, &site);
    let pings = kind(&freshet, "ping");
    assert_eq!((&pings["signal_count"], &pings["right"]), (&1.into(), &1.into()), "it counts once");
    rebuilds_alike(&freshet);
}

#[test]
fn a_ping_out_of_scope_is_refused_with_a_reason() {
    let (site, freshet) = (site(&["/a"]), Freshet::new());
    let none = freshet.run(&["ping", "https://example.org/"]);
    assert_eq!(none.code, Some(1), "{}", none.output());
    crawl(&freshet, &site);
    let ping = freshet.run(&["ping", &site.url("/a"), "http://elsewhere.example/"]);
    assert_eq!(ping.code, Some(1), "{}", ping.output());
    assert!(ping.stderr.contains("`http://elsewhere.example/` is not noted"), "{}", ping.output());
    assert!(ping.stderr.contains("/a` is noted"), "{}", ping.output());
    assert_eq!(freshet.run(&["ping", "no page"]).code, Some(2));
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "ping"), 1);
}

#[test]
fn a_sitemap_that_lies_is_seen_through() {
    let (site, freshet) = (site(&["/a", "/b", "/c", "/d"]), Freshet::new());
    crawl(&freshet, &site);
    let pages = ["/a", "/b", "/c", "/d"];
    let origin = site.url("");
    // Each request gets dates of its own moment.
    let stamped = move |_: &crate::support::Request| {
        let now = Timestamp::now();
        let entry = |path: &str| format!("<url><loc>{origin}{path}</loc><lastmod>{now}</lastmod></url>");
        let entries: Vec<String> = pages.iter().map(|path| entry(path)).collect();
        Reply::text(format!("<urlset>{}</urlset>", entries.concat()))
    };
    site.page("/sitemap.xml", Reply::dynamic(stamped));
    for _ in 0..3 {
        days_pass(&freshet);
        crawl(&freshet, &site);
    }
    assert_eq!(told(&freshet, "sitemap"), 0, "nothing is logged of it");
    let site_line = freshet.json(&["signals", "--json", "127.0.0.1"]);
    assert_eq!(site_line["lists"][0]["flaw"], "time-of-request", "{site_line}");
    // Stamped when the site is built.
    let built = soon();
    site.page("/sitemap.xml", Reply::text(sitemap(&site, &pages.map(|page| (page, built.as_str())))));
    days_pass(&freshet);
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "sitemap"), 0);
    let table = freshet.run(&["signals"]);
    assert!(table.stdout.contains("are all the same: not believed"), "{}", table.output());
    // A date of its own is believed again.
    let mut dates = pages.map(|page| (page, LONG_AGO));
    dates[2].1 = &built;
    site.page("/sitemap.xml", Reply::text(sitemap(&site, &dates)));
    days_pass(&freshet);
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "sitemap"), 1);
}

#[test]
fn a_crawl_that_is_killed_loses_no_signal_and_tells_none_twice() {
    let pages: Vec<String> = (0..12).map(|page| format!("/{page}")).collect();
    let names: Vec<&str> = pages.iter().map(String::as_str).collect();
    let (site, freshet) = (site(&names), Freshet::new());
    crawl(&freshet, &site);
    let at = soon();
    let mut dates: Vec<(&str, &str)> = names.iter().map(|page| (*page, at.as_str())).collect();
    dates[0].1 = LONG_AGO;
    site.page("/sitemap.xml", Reply::text(sitemap(&site, &dates)).etag("\"new\""));
    for page in &names {
        let slow = Reply::dynamic(|request| article("page", 60, request.count as u64, &[]).into());
        site.page(page, slow.delay(Duration::from_millis(150)));
    }
    days_pass(&freshet);
    let pinged = freshet.run(&["ping", &site.url("/0")]);
    assert_eq!(pinged.code, Some(0), "{}", pinged.output());
    let running = freshet.start(&[&["crawl"], &FAST[..]].concat());
    let logged = || -> i64 {
        let store = Connection::open(freshet.path("freshet.db")).expect("the store");
        store.query_row("SELECT count(*) FROM signal", [], |row| row.get(0)).unwrap_or(0)
    };
    wait_until("signals are in the store", || logged() >= 2);
    running.kill();
    rebuilds_alike(&freshet);
    // The host's sitemaps are read again if the last run did not note that it was done.
    days_pass(&freshet);
    crawl(&freshet, &site);
    crawl(&freshet, &site);
    assert_eq!(told(&freshet, "sitemap"), 11, "one for each page");
    assert_eq!(told(&freshet, "ping"), 1);
    rebuilds_alike(&freshet);
}
