//! Rules on links that change are applied to what is stored: nothing is downloaded again for it.

use crate::support::operator::{crawl, page, pages};
use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];

/// A site whose pages all have a validator: `/` links to `/a`, `/a` to `/a/b`, and so on. `/other` is linked from `/`.
fn chain() -> Site {
    let site = Site::start();
    let page = |path: &str, links: &[&str]| {
        site.page(path, Reply::html(article(path, 60, path.len() as u64, links)).etag(format!("\"{path}\"")));
    };
    page("/", &["/a", "/other"]);
    page("/a", &["/a/b"]);
    page("/a/b", &["/a/b/c"]);
    page("/a/b/c", &["/"]);
    page("/other", &[]);
    site
}

#[track_caller]
fn again(freshet: &Freshet, flags: &[&str]) -> Ran {
    let ran = freshet.run(&[&["crawl", "--json", "--no-sitemaps"], &FAST[..], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

/// Paths that were answered with a body since the log was last cleared.
fn downloaded(site: &Site) -> Vec<String> {
    let hits = site.log();
    let mut paths: Vec<String> =
        hits.hits().iter().filter(|hit| hit.status == 200).map(|hit| hit.path.clone()).collect();
    paths.sort();
    site.clear_log();
    paths
}

#[test]
fn no_body_comes_twice_when_scope_patterns_or_depth_change() {
    let (site, freshet) = (chain(), Freshet::new());
    crawl(&freshet, &[site.url("/")], &FLAGS);
    assert_eq!(downloaded(&site), ["/", "/a", "/a/b", "/a/b/c", "/other"]);
    let changes: [&[&str]; 6] = [
        &["--exclude", "zzz"],
        &[],
        &["--max-depth", "9"],
        &["--include", "127"],
        &["--scope", "any"],
        &["--max-pages-per-host", "1000"],
    ];
    for flags in changes {
        let ran = again(&freshet, flags);
        assert_eq!(site.log().total(), 5, "every page is visited, {flags:?}");
        assert_eq!(downloaded(&site), [""; 0], "all are answered with 304, {flags:?}");
        assert!(
            ran.stderr
                .contains("the rules for links have changed: 5 stored pages read again, 0 new pages found"),
            "{}",
            ran.output()
        );
    }
    let ran = again(&freshet, &["--max-pages-per-host", "1000"]);
    assert!(!ran.stderr.contains("read again"), "the rules are the same\n{}", ran.output());
}

#[test]
fn pages_that_come_into_scope_are_found_in_stored_bodies() {
    let (site, freshet) = (chain(), Freshet::new());
    crawl(&freshet, &[site.url("/")], &[&FLAGS[..], &["--max-depth", "1", "--exclude", "other"]].concat());
    assert_eq!(downloaded(&site), ["/", "/a"]);
    // Wider by one link: `/a/b` is known from the stored body of `/a`, and is all that is downloaded.
    let ran = again(&freshet, &["--max-depth", "2", "--exclude", "other"]);
    assert!(ran.stderr.contains("2 stored pages read again, 1 new page found"), "{}", ran.output());
    assert_eq!(downloaded(&site), ["/a/b"]);
    again(&freshet, &[]);
    assert_eq!(downloaded(&site), ["/a/b/c", "/other"]);
    // Narrower: pages out of scope are left alone, and stay.
    again(&freshet, &["--exclude", "/a"]);
    let mut asked = site.log().paths();
    asked.sort();
    assert_eq!(asked, ["/", "/other"]);
    assert_eq!(pages(&freshet).len(), 5);
}

#[test]
fn depth_counts_the_shortest_way_when_it_is_limited_later() {
    let (site, freshet) = (Site::start(), Freshet::new());
    // `/far` is first found two links away, and one link away after the home page changed.
    site.page("/", Reply::html(links_page("home", &["/a"])).etag("\"1\""));
    site.page("/a", Reply::html(links_page("a", &["/far"])).etag("\"1\""));
    site.page("/far", Reply::html("far away").etag("\"1\""));
    crawl(&freshet, &[site.url("/")], &FLAGS);
    site.page("/", Reply::html(links_page("home", &["/a", "/far"])).etag("\"2\""));
    again(&freshet, &[]);
    assert_eq!(page(&freshet, &site.url("/far"))["depth"], 2, "along the way on which it was first found");
    site.clear_log();
    again(&freshet, &["--max-depth", "1"]);
    assert!(site.log().asked("/far"), "{:?}", site.log().paths());
    assert_eq!(page(&freshet, &site.url("/far"))["depth"], 1);
    assert_eq!(downloaded(&site), [""; 0]);
}

#[test]
fn links_that_headers_ask_to_leave_alone_are_left_alone_in_stored_bodies() {
    let (site, freshet) = (chain(), Freshet::new());
    let reply = Reply::html(article("a", 60, 1, &["/a/b"])).etag("\"a\"");
    site.page("/a", reply.header("X-Robots-Tag", "nofollow"));
    crawl(&freshet, &[site.url("/")], &FLAGS);
    site.clear_log();
    again(&freshet, &["--exclude", "zzz"]);
    assert!(!site.log().asked("/a/b"), "{:?}", site.log().paths());
    again(&freshet, &["--ignore-nofollow"]);
    assert_eq!(downloaded(&site), ["/a/b", "/a/b/c"], "now they are wanted");
}

#[test]
fn a_store_of_an_earlier_release_gives_up_its_feeds_and_nothing_is_downloaded_for_it() {
    let (site, freshet) = (Site::start(), Freshet::new());
    let page = |path: &str, body: &str| {
        site.page(path, Reply::html(body.to_owned()).etag(format!("\"{path}\"")));
    };
    page("/", "<link rel=alternate type=application/rss+xml href=/feed><p>home <a href=/leaf>leaf</a>");
    page("/leaf", "<p>a page without links");
    page("/feed", "<p>stands for a feed");
    crawl(&freshet, &[site.url("/")], &FLAGS);
    let ran = freshet.run(&["forget", &site.url("/feed"), "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    // As an earlier release left it: no headers, and links taken by other rules.
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).unwrap();
    store.execute_batch("DELETE FROM answer; UPDATE page SET read_by_rules = 1; DELETE FROM note WHERE name = 'links-read-by'").unwrap();
    store.close().unwrap();
    downloaded(&site);
    let ran = again(&freshet, &[]);
    assert!(ran.stderr.contains("2 stored pages read again, 1 new page found"), "{}", ran.output());
    assert_eq!(downloaded(&site), ["/feed"]);
    let ran = again(&freshet, &[]);
    assert!(!ran.stderr.contains("read again"), "once is enough\n{}", ran.output());
}

#[test]
fn a_page_whose_body_is_not_stored_is_downloaded() {
    let (site, freshet) = (chain(), Freshet::new());
    freshet.write("freshet.toml", "[limits]\npage_store_bytes = 1\n");
    crawl(&freshet, &[site.url("/")], &FLAGS);
    downloaded(&site);
    again(&freshet, &["--exclude", "zzz"]);
    assert_eq!(downloaded(&site), ["/", "/a", "/a/b", "/a/b/c", "/other"]);
    again(&freshet, &["--exclude", "zzz"]);
    assert_eq!(downloaded(&site), [""; 0], "the rules are the same");
}
