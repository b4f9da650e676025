//! From a seeds file to stored pages.

use crate::support::{FAST, Freshet, Reply, Site, links_page};

#[test]
fn everything_reachable_is_fetched_once_and_robots_comes_first() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "b#part", "/a?utm_source=x", "//127.0.0.9:1/else"]).as_str());
    site.page("/a", links_page("a", &["/", "/c"]).as_str());
    site.page("/b", links_page("b", &[]).as_str());
    site.page("/c", Reply::text("plain words"));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let summary = freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..]].concat());

    assert_eq!(summary["succeeded"], 4);
    assert_eq!(summary["refused_links"]["out-of-scope"], 1);
    let log = site.log();
    assert!(log.asked("/sitemap.xml"));
    for path in ["/", "/a", "/b", "/c"] {
        assert_eq!(log.count(path), 1, "{path}");
    }
    assert_eq!(log.total(), 6);
    log.assert_polite(0, 0.0);

    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["pages"]["known"], 4);
    assert_eq!(status["pages"]["visited"], 4);
    let listed = freshet.run(&["pages", "--format", "csv"]);
    assert_eq!(listed.stdout.lines().count(), 5);
}
