//! The second run and those after it: what is known is asked for again, cheaply, and what is left is taken up.

use crate::support::{FAST, Freshet, Reply, Site, links_page};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write as _;

const NO_SITEMAPS: [&str; 1] = ["--no-sitemaps"];

/// Crawls from the seeds; the summary.
#[track_caller]
fn first(freshet: &Freshet, seed: &str, flags: &[&str]) -> Value {
    let seeds = freshet.seeds(&[seed]);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..], flags].concat())
}

/// Goes on with the store; the summary.
#[track_caller]
fn again(freshet: &Freshet, flags: &[&str]) -> Value {
    freshet.json(&[&["crawl", "--json"], &FAST[..], flags].concat())
}

/// What `pages` says of the page at this URL.
#[track_caller]
fn page(freshet: &Freshet, url: &str) -> Value {
    let ran = freshet.run(&["pages", "--json"]);
    let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    rows.into_iter().find(|row| row["url"] == url).unwrap_or_else(|| panic!("no `{url}`\n{}", ran.output()))
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail")
}

fn sitemap(entries: &[(String, &str)]) -> String {
    let urls: String = entries
        .iter()
        .map(|(url, lastmod)| format!("<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>"))
        .collect();
    format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"
    )
}

// --- unchanged and changed -------------------------------------------------------------------------------------

#[test]
fn a_page_with_an_etag_is_asked_whether_it_changed() {
    let site = Site::start();
    site.page("/", Reply::html("same as ever").etag("\"v1\""));
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &NO_SITEMAPS);
    assert_eq!((&summary["unchanged"], &summary["changed"]), (&json!(0), &json!(0)));
    site.clear_log();

    let summary = again(&freshet, &NO_SITEMAPS);
    let log = site.log();
    assert_eq!(log.paths(), ["/"], "robots.txt holds for a day");
    assert_eq!(log.hits()[0].header("If-None-Match"), Some("\"v1\""));
    assert_eq!(log.hits()[0].status, 304);
    assert_eq!(summary["outcomes"], json!({ "not-modified": 1 }));
    assert_eq!((&summary["succeeded"], &summary["unchanged"]), (&json!(1), &json!(1)));
    let row = page(&freshet, &site.url("/"));
    assert_eq!(
        (&row["state"], &row["visit_count"], &row["change_count"]),
        (&json!("alive"), &json!(2), &json!(0))
    );
    assert_eq!(row["body_bytes"], "same as ever".len(), "the page is still held");
}

#[test]
fn a_page_with_a_date_is_asked_whether_it_changed_since() {
    let site = Site::start();
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    site.page("/", Reply::html("same as ever").last_modified(date));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    let summary = again(&freshet, &NO_SITEMAPS);
    let last = site.log().hits().last().cloned().expect("a request");
    assert_eq!(last.header("If-Modified-Since"), Some(date));
    assert_eq!(last.status, 304);
    assert_eq!(summary["unchanged"], 1);
}

#[test]
fn a_new_etag_takes_the_place_of_the_old_one() {
    let site = Site::start();
    site.page("/", Reply::html("old").etag("\"v1\"").last_modified("Sun, 06 Nov 1994 08:49:37 GMT"));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    site.page("/", Reply::html("new").etag("W/\"v2\""));
    let summary = again(&freshet, &NO_SITEMAPS);
    assert_eq!(summary["changed"], 1);
    let summary = again(&freshet, &NO_SITEMAPS);
    let last = site.log().hits().last().cloned().expect("a request");
    assert_eq!(last.header("If-None-Match"), Some("W/\"v2\""));
    assert_eq!(last.header("If-Modified-Since"), None, "the new version has no date");
    assert_eq!(summary["unchanged"], 1);
}

#[test]
fn the_same_body_without_a_word_about_it_is_unchanged_and_kept_once() {
    let site = Site::start();
    site.page("/", links_page("home", &["/copy"]));
    site.page("/copy", links_page("home", &["/copy"]));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    let summary = again(&freshet, &NO_SITEMAPS);
    assert_eq!((&summary["unchanged"], &summary["changed"]), (&json!(2), &json!(0)));
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["size"]["version_count"], 1, "a content is held once, whoever brings it");
    assert_eq!(status["size"]["observation_count"], 4);
}

#[test]
fn a_changed_body_counts_as_a_change_and_brings_its_links() {
    let site = Site::start();
    site.page("/", Reply::sequence(vec!["old".into(), links_page("new", &["/added"]).into()]));
    site.page("/added", "added");
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    let summary = again(&freshet, &NO_SITEMAPS);
    assert_eq!(
        (&summary["changed"], &summary["unchanged"], &summary["new_pages"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert_eq!(site.log().count("/added"), 1);
    assert_eq!(page(&freshet, &site.url("/"))["change_count"], 1);
    assert_eq!(freshet.json(&["status", "--json"])["size"]["version_count"], 3);
}

#[test]
fn links_of_a_page_that_is_not_modified_stay_alive() {
    let site = Site::start();
    site.page("/", Reply::from(links_page("home", &["/a", "/b"])).etag("\"v1\""));
    site.page("/a", "a");
    site.page("/b", "b");
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &["--no-sitemaps", "--budget", "2"]);
    assert_eq!(summary["requests"], 2, "robots.txt and the seed");
    assert!(!site.log().asked("/a"));

    again(&freshet, &NO_SITEMAPS);
    let log = site.log();
    assert_eq!(log.hits().iter().filter(|hit| hit.path == "/" && hit.status == 304).count(), 1);
    assert_eq!((log.count("/a"), log.count("/b")), (1, 1));
}

// --- wishes that change ----------------------------------------------------------------------------------------

/// Home, two pages below it, one page below each of these; all of them say when they did not change.
fn two_levels() -> Site {
    let site = Site::start();
    let page = |path: &str, links: &[&str]| {
        site.page(path, Reply::from(links_page(path, links)).etag(format!("\"{path}\"")));
    };
    page("/", &["/a", "/b"]);
    page("/a", &["/a/x"]);
    page("/b", &["/b/x"]);
    page("/a/x", &[]);
    page("/b/x", &[]);
    site
}

#[test]
fn a_wider_wish_finds_what_an_earlier_run_left_alone() {
    let site = two_levels();
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &["--no-sitemaps", "--max-depth", "1"]);
    assert_eq!(summary["refused_links"], json!({ "too-deep": 2 }));
    again(&freshet, &NO_SITEMAPS);
    let log = site.log();
    assert_eq!((log.count("/a/x"), log.count("/b/x")), (1, 1), "the pages did not change, the wish did");

    site.clear_log();
    let summary = again(&freshet, &NO_SITEMAPS);
    assert_eq!(summary["outcomes"], json!({ "not-modified": 5 }), "the same wish costs no bodies");
}

#[test]
fn a_wider_wish_reaches_every_page_however_small_the_budget() {
    let site = two_levels();
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &["--no-sitemaps", "--max-depth", "1"]);
    for _ in 0..12 {
        again(&freshet, &["--no-sitemaps", "--budget", "1"]);
    }
    let log = site.log();
    assert!(log.asked("/a/x") && log.asked("/b/x"), "{:?}", log.paths());
}

#[test]
fn a_wish_for_more_in_the_seeds_file_counts_too() {
    let site = two_levels();
    let freshet = Freshet::new();
    first(&freshet, &(site.url("/") + "\tdepth=1"), &NO_SITEMAPS);
    assert!(!site.log().asked("/a/x"));
    first(&freshet, &(site.url("/") + "\tdepth=2"), &NO_SITEMAPS);
    let log = site.log();
    assert_eq!((log.count("/a/x"), log.count("/b/x")), (1, 1), "{:?}", log.paths());
}

#[test]
fn a_page_that_fails_when_the_wish_grows_is_read_from_what_is_stored() {
    let site = two_levels();
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &["--no-sitemaps", "--max-depth", "1"]);
    site.page("/a", Reply::status(403, "not now"));
    again(&freshet, &NO_SITEMAPS);
    assert_eq!(site.log().count("/a/x"), 1, "{:?}", site.log().paths());
}

#[test]
fn a_page_that_failed_when_the_wish_grew_and_is_not_stored_is_read_when_it_answers() {
    let site = two_levels();
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\npage_store_bytes = 1\n");
    first(&freshet, &site.url("/"), &["--no-sitemaps", "--max-depth", "1"]);
    site.page("/a", Reply::status(403, "not now"));
    again(&freshet, &NO_SITEMAPS);
    assert_eq!(site.log().count("/a/x"), 0, "{:?}", site.log().paths());
    site.page("/a", Reply::from(links_page("/a", &["/a/x"])).etag("\"/a\""));
    again(&freshet, &NO_SITEMAPS);
    assert_eq!(site.log().count("/a/x"), 1, "{:?}", site.log().paths());
}

#[test]
fn a_narrower_wish_leaves_alone_what_an_earlier_run_knew() {
    let narrower: [&[&str]; 3] = [&["--exclude", "/x$"], &["--max-depth", "1"], &["--include", "/[ab]$"]];
    for flags in narrower {
        let site = two_levels();
        let freshet = Freshet::new();
        first(&freshet, &site.url("/"), &NO_SITEMAPS);
        assert!(site.log().asked("/a/x") && site.log().asked("/b/x"));
        site.clear_log();
        again(&freshet, &[&NO_SITEMAPS, flags].concat());
        let mut asked = site.log().paths();
        asked.sort_unstable();
        assert_eq!(asked, ["/", "/a", "/b"], "{flags:?}");
        // What is known is not forgotten: with the old wish it is visited again.
        again(&freshet, &NO_SITEMAPS);
        assert!(site.log().asked("/a/x") && site.log().asked("/b/x"), "{flags:?}");
    }
}

// --- missing, failing ------------------------------------------------------------------------------------------

#[test]
fn a_page_is_gone_when_two_runs_say_so_and_then_left_in_peace() {
    for status in [404, 410] {
        let site = Site::start();
        site.page("/", links_page("home", &["/lost"]));
        site.page("/lost", Reply::sequence(vec!["here".into(), Reply::status(status, "no more")]));
        let freshet = Freshet::new();
        let state = || page(&freshet, &site.url("/lost"))["state"].clone();
        first(&freshet, &site.url("/"), &NO_SITEMAPS);
        assert_eq!(state(), "alive");
        let summary = again(&freshet, &NO_SITEMAPS);
        assert_eq!(state(), "missing", "{status}: once may be a slip");
        assert_eq!(summary["failed"], 1);
        again(&freshet, &NO_SITEMAPS);
        assert_eq!(state(), "gone", "{status}");
        assert_eq!(freshet.json(&["status", "--json"])["pages"]["gone"], 1);
        site.clear_log();
        again(&freshet, &NO_SITEMAPS);
        assert_eq!(site.log().paths(), ["/"], "{status}: a page that is gone is not asked for at once");
        assert_eq!(page(&freshet, &site.url("/lost"))["body_bytes"], 4, "what it said is kept");
    }
}

#[test]
fn a_page_that_was_missing_once_may_come_back() {
    let site = Site::start();
    let gone = Reply::status(404, "no");
    site.page("/", Reply::sequence(vec!["a".into(), gone.clone(), "a".into(), gone, "a".into()]));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    for state in ["missing", "alive", "missing", "alive"] {
        // A run in which nothing could be fetched at all says so.
        let ran = freshet.run(&[&["crawl"], &FAST[..], &NO_SITEMAPS].concat());
        assert_eq!(ran.code, Some(i32::from(state == "missing")), "{}", ran.output());
        assert_eq!(page(&freshet, &site.url("/"))["state"], state);
    }
}

#[test]
fn a_page_that_failed_is_tried_again_in_the_next_run() {
    let site = Site::start();
    site.page("/", links_page("home", &["/shy"]));
    site.page("/shy", Reply::sequence(vec![Reply::status(403, "no"), "well, then".into()]));
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &NO_SITEMAPS);
    assert_eq!((&summary["failed"], &summary["outcomes"]["http-error"]), (&json!(1), &json!(1)));
    assert_eq!(page(&freshet, &site.url("/shy"))["state"], "failing");
    again(&freshet, &NO_SITEMAPS);
    let row = page(&freshet, &site.url("/shy"));
    assert_eq!((&row["state"], &row["failures"]), (&json!("alive"), &json!(0)));
}

#[test]
fn a_page_that_fails_twice_is_given_time() {
    let site = Site::start();
    site.page("/", links_page("home", &["/never"]));
    site.page("/never", Reply::status(403, "no"));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    again(&freshet, &NO_SITEMAPS);
    let row = page(&freshet, &site.url("/never"));
    assert_eq!((&row["failures"], row["due_at"].is_string()), (&json!(2), true));
    site.clear_log();
    again(&freshet, &NO_SITEMAPS);
    assert_eq!(site.log().paths(), ["/"]);
}

// --- budget and cycles -----------------------------------------------------------------------------------------

#[test]
fn a_budget_is_never_overspent_and_the_rest_comes_next_time() {
    let site = Site::start();
    let links: Vec<String> = (0..12).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links));
    for link in &links {
        site.page(link, *link);
    }
    let freshet = Freshet::new();
    let mut visited = HashSet::new();
    let mut runs = 0;
    while visited.len() < 13 {
        site.clear_log();
        let flags = ["--budget", "5"];
        let summary =
            if runs == 0 { first(&freshet, &site.url("/"), &flags) } else { again(&freshet, &flags) };
        let log = site.log();
        assert_eq!(log.total(), 5, "run {runs}: {:?}", log.paths());
        assert_eq!(summary["requests"], 5, "run {runs}");
        for path in log.paths().into_iter().filter(|path| path != "/robots.txt" && path != "/sitemap.xml") {
            assert!(visited.len() == 13 || visited.insert(path.clone()), "run {runs}: {path} a second time");
        }
        runs += 1;
    }
    assert_eq!(runs, 3, "3 pages beside robots.txt and the sitemap, then 5, then 5");
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["pages"]["visited"], 13);
    let spent: Vec<&Value> =
        status["cycles"].as_array().into_iter().flatten().map(|cycle| &cycle["requests"]).collect();
    assert_eq!(spent, [5, 5, 5]);
}

#[test]
fn a_budget_counts_redirects_and_retries_too() {
    let site = Site::start();
    site.page("/", links_page("home", &["/r0", "/late"]));
    for hop in 0..5 {
        site.page(&format!("/r{hop}"), Reply::redirect(302, format!("/r{}", hop + 1)));
    }
    site.page("/late", Reply::reset());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\n");
    let summary = first(&freshet, &site.url("/"), &["--no-sitemaps", "--budget", "6"]);
    let log = site.log();
    assert_eq!(log.total(), 6, "{:?}", log.paths());
    assert_eq!(summary["requests"], 6);
}

#[test]
fn two_cycles_in_one_run_visit_everything_twice() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a"]));
    site.page("/a", Reply::sequence(vec!["one".into(), "two".into()]));
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &["--cycles", "2"]);
    let log = site.log();
    let counts = ["/robots.txt", "/sitemap.xml", "/", "/a"].map(|path| log.count(path));
    assert_eq!(counts, [1, 1, 2, 2]);
    assert_eq!(summary["cycle_count"], 2);
    assert_eq!((&summary["changed"], &summary["unchanged"]), (&json!(1), &json!(1)));
    let status = freshet.json(&["status", "--json"]);
    let cycles = status["cycles"].as_array().expect("cycles");
    assert_eq!(cycles.len(), 2);
    assert!(cycles.iter().all(|cycle| cycle["ended_at"].is_string()), "{status:#}");
    assert_eq!((&cycles[1]["succeeded"], &cycles[1]["new_pages"]), (&json!(2), &json!(1)));
}

#[test]
fn new_pages_come_before_those_seen_and_shallow_before_deep() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "/b"]));
    site.page("/a", links_page("a", &["/a/deep"]));
    site.page("/b", links_page("b", &[]));
    site.page("/a/deep", "deep");
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &["--no-sitemaps", "--budget", "3"]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/a"]);
    site.clear_log();
    again(&freshet, &["--no-sitemaps", "--budget", "3"]);
    assert_eq!(site.log().paths(), ["/b", "/a/deep", "/"], "then the one seen longest ago");
}

// --- sitemaps --------------------------------------------------------------------------------------------------

#[test]
fn a_sitemap_at_the_well_known_place_is_read_once_a_day() {
    let site = Site::start();
    site.page("/", "home, without links");
    let listed = [
        (site.url("/hidden"), "2025-01-02"),
        (site.url("/dated"), "2025-03-04T05:06:07+02:00"),
        (site.url("/undated"), "some day"),
        ("http://127.0.0.9:1/elsewhere".to_owned(), "2025-01-02"),
    ];
    site.page("/sitemap.xml", Reply::bytes("application/xml", sitemap(&listed)));
    for page in ["/hidden", "/dated", "/undated"] {
        site.page(page, page);
    }
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &[]);
    assert_eq!(summary["succeeded"], 4);
    assert_eq!(summary["refused_links"], json!({ "out-of-scope": 1 }));
    let lastmod = |path: &str| page(&freshet, &site.url(path))["sitemap_modified_at"].clone();
    assert_eq!(lastmod("/hidden"), "2025-01-02T00:00:00Z");
    assert_eq!(lastmod("/dated"), "2025-03-04T03:06:07Z");
    assert_eq!(lastmod("/undated"), Value::Null);

    site.clear_log();
    again(&freshet, &[]);
    assert!(!site.log().asked("/sitemap.xml"));
    assert_eq!(site.log().total(), 4);
}

#[test]
fn the_date_in_a_sitemap_is_kept_for_pages_that_were_known_before() {
    let site = Site::start();
    site.page("/", "home");
    site.page("/sitemap.xml", Reply::bytes("application/xml", sitemap(&[(site.url("/"), "2025-01-02")])));
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &[]);
    assert_eq!(page(&freshet, &site.url("/"))["sitemap_modified_at"], "2025-01-02T00:00:00Z");
}

#[test]
fn sitemaps_named_by_robots_are_read_index_gzip_and_all() {
    let site = Site::start();
    let robots = format!(
        "Sitemap: {}\nUser-agent: *\nDisallow:\nSitemap: {}\n",
        site.url("/index.xml"),
        site.url("/list.txt")
    );
    site.page("/robots.txt", Reply::text(robots));
    let parts = [site.url("/part1.xml"), site.url("/part2.xml.gz")];
    let parts: String = parts.iter().map(|part| format!("<sitemap><loc>{part}</loc></sitemap>")).collect();
    site.page("/index.xml", Reply::bytes("text/xml", format!("<sitemapindex>{parts}</sitemapindex>")));
    site.page("/part1.xml", Reply::bytes("text/xml", sitemap(&[(site.url("/one"), "2025-01-02")])));
    let zipped = gzipped(&sitemap(&[(site.url("/two"), "2025-01-03")]));
    site.page("/part2.xml.gz", Reply::bytes("application/gzip", zipped));
    site.page("/list.txt", Reply::text(format!("{}\n", site.url("/three"))));
    for page in ["/", "/one", "/two", "/three"] {
        site.page(page, page);
    }
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &[]);
    let log = site.log();
    assert_eq!(summary["succeeded"], 4, "{:?}", log.paths());
    assert!(!log.asked("/sitemap.xml"), "the well-known place is for those who name none");
    assert_eq!(page(&freshet, &site.url("/two"))["sitemap_modified_at"], "2025-01-03T00:00:00Z");
    log.assert_polite(0, 0.0);
}

#[test]
fn a_sitemap_elsewhere_has_no_say_and_a_moved_one_is_found() {
    let site = Site::with_hosts(2);
    let stranger = site.url_on(1, "/sitemap.xml");
    site.page_on(
        0,
        "/robots.txt",
        Reply::text(format!("Sitemap: {stranger}\nSitemap: {}\n", site.url("/old.xml"))),
    );
    site.page_on(0, "/old.xml", Reply::redirect(301, "/new.xml"));
    site.page_on(0, "/new.xml", Reply::bytes("text/xml", sitemap(&[(site.url("/found"), "2025-01-02")])));
    site.page("/", "home");
    site.page("/found", "found");
    let freshet = Freshet::new();
    let summary = first(&freshet, &site.url("/"), &[]);
    assert_eq!(summary["succeeded"], 2);
    assert_eq!(site.log().on(1).total(), 0);
}

#[test]
fn sitemaps_are_not_looked_for_when_told_so() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text(format!("Sitemap: {}\n", site.url("/map.xml"))));
    site.page("/map.xml", Reply::bytes("text/xml", sitemap(&[(site.url("/hidden"), "2025-01-02")])));
    site.page("/", "home");
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &NO_SITEMAPS);
    assert_eq!(site.log().paths(), ["/robots.txt", "/"]);
    // The day has not begun: the next run may look.
    first(&freshet, &site.url("/"), &[]);
    assert!(site.log().asked("/map.xml"));
}

#[test]
fn a_sitemap_that_the_budget_had_no_room_for_is_read_by_the_next_run() {
    let site = Site::start();
    site.page("/", "home");
    site.page("/sitemap.xml", Reply::bytes("text/xml", sitemap(&[(site.url("/hidden"), "2025-01-02")])));
    site.page("/hidden", "hidden");
    let freshet = Freshet::new();
    first(&freshet, &site.url("/"), &["--budget", "2"]);
    for _ in 0..2 {
        again(&freshet, &["--budget", "2"]);
    }
    let log = site.log();
    assert_eq!((log.count("/sitemap.xml"), log.count("/hidden")), (1, 1), "{:?}", log.paths());
}

#[test]
fn the_budget_that_a_resting_host_gives_back_is_spent_on_another() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/robots.txt", Reply::status(500, "down"));
    site.page_on(1, "/", "alive");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\n");
    let mut urls: Vec<String> = (0..12).map(|page| site.url_on(0, &format!("/{page}"))).collect();
    urls.push(site.url_on(1, "/"));
    let seeds = freshet.seeds(&urls);
    let flags = ["crawl", "--seeds", &seeds, "--json", "--allow-private", "--delay", "0", "--budget", "10"];
    let summary = freshet.json(&flags);
    assert_eq!(summary["succeeded"], 1, "{summary:#}");
    assert!(summary["requests"].as_u64().is_some_and(|requests| requests <= 10));
}

#[test]
fn a_host_that_is_not_wanted_any_more_is_not_asked_for_its_sitemap() {
    let site = Site::with_hosts(2);
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url_on(0, "/"), site.url_on(1, "/")]);
    let first = ["crawl", "--seeds", &seeds, "--json", "--allow-private", "--delay", "0", "--no-sitemaps"];
    freshet.json(&first);
    site.clear_log();
    let unwanted = format!("^{}/", site.origin(1));
    freshet.json(&["crawl", "--json", "--allow-private", "--delay", "0", "--exclude", &unwanted]);
    assert!(site.log().on(0).asked("/sitemap.xml"));
    assert_eq!(site.log().on(1).total(), 0, "{:?}", site.log().on(1).paths());
}

#[test]
fn a_page_that_failed_is_not_new_any_more() {
    let site = Site::start();
    site.page("/", links_page("home", &["/forbidden"]).as_str());
    site.page("/forbidden", Reply::status(403, "no"));
    let freshet = Freshet::new();
    let flags = ["--no-sitemaps", "--policy", "age"];
    first(&freshet, &site.url("/"), &flags);
    site.clear_log();
    again(&freshet, &flags);
    // The page visited longest ago comes first, whatever came of it.
    assert_eq!(site.log().paths(), ["/", "/forbidden"]);
}
