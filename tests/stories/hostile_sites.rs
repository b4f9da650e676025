//! A site that means harm, or is broken, costs the other sites nothing, and the machine little.

use std::time::Duration;

use crate::support::operator::{crawl, host, outcome, waiting_for};
use crate::support::{Freshet, Reply, Site, links_page};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Rules of about this length, which all differ.
fn long_rules(bytes: usize) -> String {
    let mut rules = String::from("User-agent: *\n");
    let mut number = 0;
    while rules.len() < bytes {
        rules += &format!("Disallow: /{number:x}-\n");
        number += 1;
    }
    rules
}

#[test]
fn a_site_that_is_slow_on_many_ports_has_a_quarter_of_the_places() {
    let slow = Site::with_ports(10);
    slow.page("/robots.txt", Reply::status(404, "none").delay(millis(400)));
    let good = Site::with_hosts(2);
    good.page_on(1, "/", links_page("home", &["/a", "/b"]).as_str());
    let seeds: Vec<String> =
        (0..10).map(|port| slow.url_on(port, "/")).chain([good.url_on(1, "/")]).collect();
    let ran = crawl(
        &Freshet::new(),
        &seeds,
        &["--delay", "0", "--concurrency", "8", "--no-sitemaps", "--address-rate", "0"],
    );

    assert_eq!(slow.log().max_concurrent_of_all(), 2, "{}", ran.output());
    assert_eq!(slow.log().total(), 20, "every port is asked, one after the other\n{}", ran.output());
    assert_eq!(good.log().on(1).total(), 4);
}

#[test]
fn a_host_whose_bodies_never_end_is_asked_ever_more_slowly() {
    let site = Site::start();
    let pages: Vec<String> = (0..4).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = pages.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links).as_str());
    for page in &pages {
        site.page(page, Reply::html("x".repeat(1000)).drip(1, millis(100)));
    }
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.7\n[limits]\ntotal_seconds = 0.3\n");
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);

    assert_eq!(outcome(&freshet, &site.url("/0")), "too-slow");
    let starts: Vec<f64> = site.log().hits().iter().map(|hit| hit.start).collect();
    // robots.txt, the front page, two that are too slow: from then on the host is left alone for a while, and then longer.
    assert!(starts[4] - starts[3] >= 0.7, "{starts:?}");
    assert!(starts[5] - starts[4] >= 1.4, "{starts:?}");
}

#[test]
fn sitemaps_on_many_ports_are_asked_for_on_a_few() {
    let site = Site::with_ports(12);
    let sitemaps: String =
        (0..12).map(|port| format!("Sitemap: {}\n", site.url_on(port, "/s.xml"))).collect();
    site.page("/robots.txt", Reply::text(long_rules(500 << 10)));
    site.page_on(0, "/robots.txt", Reply::text(sitemaps));
    site.page("/", "home");
    for port in 0..12 {
        let map = format!("<urlset><url><loc>{}</loc></url></urlset>", site.url_on(0, "/"));
        site.page_on(port, "/s.xml", Reply::bytes("application/xml", map));
    }
    let ran = crawl(&Freshet::new(), &[site.url("/")], &["--delay", "0"]);

    let asked = (0..12).filter(|port| site.log().on(*port).total() > 0).count();
    assert_eq!(asked, 5, "its own port and four others\n{}", ran.output());
    assert_eq!(site.log().on(0).count("/s.xml"), 1);
}

#[test]
fn a_robots_txt_with_too_many_rules_forbids_more_and_never_less() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text(format!("{}Allow: /5-/open\n", long_rules(450 << 10))));
    site.page("/", links_page("home", &["/5-", "/5-/open", "/7fff-/a", "/zebra"]).as_str());
    site.page("/zebra", "free");
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);

    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/zebra"], "{}", ran.output());
    // The next run takes the rules from the store.
    site.clear_log();
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    assert!(!site.log().asked("/robots.txt") && !site.log().asked("/5-"), "{:?}", site.log().paths());
}

#[test]
fn robots_txt_can_not_send_us_to_what_another_host_forbids() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/robots.txt", Reply::redirect(302, site.url_on(1, "/private/expensive?hop=1")));
    site.page_on(0, "/", "home");
    site.page_on(1, "/robots.txt", Reply::text("User-agent: *\nDisallow: /private\n"));
    site.page_on(1, "/private/expensive", "so many rows");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url_on(0, "/")], &["--delay", "0", "--no-sitemaps"]);

    let log = site.log();
    assert_eq!(log.on(0).paths(), ["/robots.txt"]);
    assert_eq!(log.on(1).paths(), ["/robots.txt"], "its rules are read before anything is asked of it");
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "robots-unavailable");
}

#[test]
fn a_crawl_delay_of_a_day_is_not_cut_to_an_hour() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nCrawl-delay: 86400\n"));
    site.page("/", "home");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--max-crawl-delay", "7200"]);

    assert_eq!(site.log().paths(), ["/robots.txt"]);
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "crawl-delay");
    assert_eq!(host(&freshet, &site.origin(0))["delay_seconds"], 86_400.0);
}

#[test]
fn a_rate_that_no_clock_can_keep_is_refused() {
    let site = Site::start();
    for rate in ["1e-11", "1e-20", "0.0000009", "-1"] {
        for flag in ["--rate", "--address-rate"] {
            let ran = crawl(&Freshet::new(), &[site.url("/")], &[&format!("{flag}={rate}")]);
            assert_eq!(ran.code, Some(2), "{}", ran.output());
            assert!(ran.stderr.contains("0.000001"), "{}", ran.output());
        }
    }
    assert_eq!(site.log().total(), 0);
}
