//! How hosts are paced: one request at a time, a pause after each, and ceilings over them all.

use crate::support::operator::{crawl, host, waiting_for};
use crate::support::{Freshet, Log, Reply, Request, Site, links_page};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A front page and so many pages behind it, each answered after `delay`.
fn small_site(site: &Site, pages: usize, delay: Duration) {
    let links: Vec<String> = (0..pages).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", Reply::html(links_page("home", &links)).delay(delay));
    for link in links {
        site.page(link, Reply::html(links_page(link, &[])).delay(delay));
    }
}

/// How long the server waits for what must come before it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Requests that are answered only when a number of them are in flight at once: that they were does not depend on how
/// fast the machine is.
#[derive(Clone)]
struct Meeting {
    size: usize,
    came: Arc<(Mutex<usize>, Condvar)>,
}

impl Meeting {
    fn of(size: usize) -> Meeting {
        Meeting { size, came: Arc::default() }
    }

    fn reply(&self) -> Reply {
        let Meeting { size, came } = self.clone();
        Reply::dynamic(move |_| {
            let (count, changed) = &*came;
            let mut all = count.lock().unwrap();
            *all += 1;
            let needed = (*all).div_ceil(size) * size;
            changed.notify_all();
            drop(changed.wait_timeout_while(all, PATIENCE, |all| *all < needed).unwrap());
            Reply::html("all were there")
        })
    }
}

fn fronts(site: &Site, hosts: usize) -> Vec<String> {
    (0..hosts).map(|host| site.url_on(host, "/")).collect()
}

/// Requests came at no more than `rate` a second. What is promised is when they leave; that the first may arrive
/// late is allowed for by one interval.
#[track_caller]
fn assert_rate(log: &Log, rate: f64) {
    let starts: Vec<f64> = log.hits().iter().map(|hit| hit.start).collect();
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else { panic!("nothing was asked") };
    let least = (starts.len() as f64 - 2.0) / rate;
    assert!(last - first >= least, "{} requests within {} s: {starts:?}", starts.len(), last - first);
}

#[test]
fn every_request_waits_for_the_one_before_it_whatever_it_is_for() {
    let site = Site::with_hosts(6);
    let hosts = 0..6;
    site.page("/robots.txt", Reply::redirect(302, "/rules.txt"));
    site.page("/rules.txt", Reply::text("User-agent: *\nDisallow: /private\n"));
    site.page("/", links_page("home", &["/a", "/b", "/old", "/private"]).as_str());
    site.page("/a", links_page("a", &["/", "/c"]).as_str());
    site.page("/b", Reply::status(500, "sorry"));
    site.page("/c", Reply::text("plain"));
    site.page("/old", Reply::redirect(302, "/older"));
    site.page("/older", Reply::redirect(301, "/new"));
    site.page("/new", "the new one");
    site.page("/mapped", "found by the sitemap");
    for host in hosts.clone() {
        let listed = site.url_on(host, "/mapped");
        let map = format!("<urlset><url><loc>{listed}</loc></url></urlset>");
        site.page_on(host, "/sitemap.xml", Reply::bytes("application/xml", map));
    }
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\n");
    let ran = crawl(&freshet, &fronts(&site, 6), &["--delay", "0.15"]);

    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let log = site.log();
    for host in hosts {
        log.assert_polite(host, 0.15);
        let on_host = log.on(host);
        for path in ["/sitemap.xml", "/", "/a", "/b", "/c", "/old", "/older", "/new", "/mapped"] {
            assert_eq!(on_host.count(path), 1, "{path} on host {host}: {:?}", on_host.paths());
        }
        assert!(!on_host.asked("/private"));
    }
}

#[test]
fn many_hosts_that_send_us_to_one_do_not_hurry_us() {
    let site = Site::with_hosts(6);
    for host in 0..5 {
        site.page_on(host, "/", Reply::redirect(302, site.url_on(5, &format!("/from-{host}"))));
        site.page_on(5, &format!("/from-{host}"), "welcome");
    }
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &fronts(&site, 5), &["--delay", "0.15", "--scope", "any", "--no-sitemaps"]);

    assert_eq!(ran.json()["succeeded"], 5, "{}", ran.output());
    assert_eq!(site.log().on(5).total(), 6, "robots.txt and five pages");
    site.log().assert_polite(5, 0.15);
}

#[test]
fn a_slow_host_does_not_hold_up_the_others() {
    let site = Site::with_hosts(2);
    // The slow host answers when the fast one has been crawled to its end, and else never.
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let wait = move |_: &Request| {
        let _ = released.lock().unwrap().recv_timeout(PATIENCE);
        Reply::html("at last")
    };
    site.page_on(0, "/", Reply::dynamic(wait));
    let end = move |_: &Request| {
        let _ = release.send(());
        Reply::html("the end")
    };
    site.page_on(1, "/6", Reply::dynamic(end));
    for step in 0..6 {
        let next = format!("/{}", step + 1);
        let path = if step == 0 { "/".to_owned() } else { format!("/{step}") };
        site.page_on(1, &path, links_page("step", &[&next]).as_str());
    }
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &fronts(&site, 2), &["--delay", "0.05"]);

    let log = site.log();
    let slow = log.on(0).first("/").cloned().expect("the slow host is asked");
    let fast = log.on(1).first("/6").cloned().expect("the fast host is crawled to its end");
    assert!(fast.start < slow.end, "the fast host ended at {} s\n{}", fast.end, ran.output());
}

#[test]
fn a_host_that_answers_slowly_is_asked_more_slowly() {
    let site = Site::start();
    site.page("/", Reply::html(links_page("home", &["/next"])).delay(millis(700)));
    site.page("/next", "next");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--delay", "0.05", "--no-sitemaps"]);

    let log = site.log();
    assert_eq!(log.paths(), ["/robots.txt", "/", "/next"]);
    let gap = log.gaps(0)[1];
    assert!(gap >= 0.695, "only {gap} s after an answer that took 0.7 s");
}

#[test]
fn two_requests_at_once_where_the_operator_allows_two_and_no_more() {
    let site = Site::start();
    small_site(&site, 6, Duration::ZERO);
    let meeting = Meeting::of(2);
    for page in 0..6 {
        site.page(&format!("/{page}"), meeting.reply());
    }
    let freshet = Freshet::new();
    let flags = ["--delay", "0.05", "--per-host", "2"];
    let ran = crawl(&freshet, &[site.url("/")], &flags);

    assert_eq!(site.log().max_concurrent(0), 2, "{:#?}\n{}", site.log(), ran.output());
    assert_eq!(ran.json()["succeeded"], 7);
}

#[test]
fn no_more_requests_are_in_flight_than_allowed_over_all_hosts() {
    let site = Site::with_hosts(9);
    small_site(&site, 2, millis(150));
    site.page("/robots.txt", Reply::status(404, "none").delay(millis(150)));
    // One page of a host, so that all three of a meeting can come at once.
    site.page("/0", Meeting::of(3).reply());
    let freshet = Freshet::new();
    let flags = ["--delay", "0", "--concurrency", "3", "--no-sitemaps"];
    let ran = crawl(&freshet, &fronts(&site, 9), &flags);

    assert_eq!(site.log().max_concurrent_of_all(), 3, "{}", ran.output());
    assert_eq!(ran.json()["succeeded"], 27);
}

#[test]
fn all_hosts_together_are_asked_no_faster_than_the_rate() {
    let site = Site::with_hosts(4);
    small_site(&site, 2, Duration::ZERO);
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &fronts(&site, 4), &["--delay", "0", "--rate", "10", "--address-rate", "0"]);

    assert_eq!(ran.json()["succeeded"], 12);
    assert_rate(&site.log(), 10.0);
}

#[test]
fn hosts_on_one_address_share_what_the_address_is_allowed() {
    let site = Site::with_ports(4);
    small_site(&site, 2, Duration::ZERO);
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &fronts(&site, 4), &["--delay", "0", "--address-rate", "10"]);

    assert_eq!(ran.json()["succeeded"], 12);
    assert_rate(&site.log(), 10.0);
}

#[test]
fn four_hosts_on_one_address_may_go_at_full_pace_but_not_twenty() {
    let site = Site::with_ports(20);
    let freshet = Freshet::new();
    // The default: four times what one host gets, so here 20 a second, where the hosts alone would be asked 100.
    let ran = crawl(&freshet, &fronts(&site, 20), &["--delay", "0.2", "--no-sitemaps"]);

    assert_eq!(site.log().total(), 40, "{}", ran.output());
    assert_rate(&site.log(), 20.0);
}

#[test]
fn a_site_can_have_a_delay_of_its_own() {
    let site = Site::with_hosts(2);
    small_site(&site, 2, Duration::ZERO);
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\ndelay = 0.05\n[site.\"127.0.0.2\"]\ndelay = 0.5\n");
    let ran = crawl(&freshet, &fronts(&site, 2), &[]);

    assert_eq!(ran.json()["succeeded"], 6);
    let log = site.log();
    log.assert_polite(0, 0.05);
    log.assert_polite(1, 0.5);
    assert!(log.min_gap(0) < Some(0.5), "the other site has the usual delay: {:?}", log.gaps(0));
    assert_eq!(host(&freshet, &site.origin(1))["delay_seconds"], 0.5);
}

#[test]
fn the_pause_is_kept_from_one_cycle_to_the_next() {
    let site = Site::start();
    small_site(&site, 1, Duration::ZERO);
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &["--delay", "0.4", "--cycles", "3", "--no-sitemaps"]);

    assert_eq!(site.log().count("/"), 3, "{}", ran.output());
    site.log().assert_polite(0, 0.4);
}

#[test]
fn the_pause_is_kept_from_one_run_to_the_next() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    for _ in 0..3 {
        // Longer than a run takes to start, so that only waiting can keep it.
        let ran = crawl(&freshet, &[site.url("/")], &["--delay", "0.7", "--no-sitemaps"]);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    assert_eq!(site.log().count("/"), 3);
    site.log().assert_polite(0, 0.7);
}

#[test]
fn the_user_agent_says_who_comes_and_whom_to_write_to() {
    let site = Site::start();
    small_site(&site, 1, Duration::ZERO);
    let freshet = Freshet::new();
    let flags = ["--delay", "0", "--contact", "https://example.org/bot"];
    let ran = crawl(&freshet, &[site.url("/")], &flags);

    let expected = concat!("freshet/", env!("CARGO_PKG_VERSION"), " (+https://example.org/bot)");
    assert_eq!(site.log().total(), 4, "{}", ran.output());
    for hit in site.log().hits() {
        assert_eq!(hit.header("user-agent"), Some(expected), "{}", hit.path);
    }
}

#[test]
fn what_is_said_to_one_site_is_not_said_to_another() {
    let site = Site::with_hosts(2);
    site.page("/robots.txt", Reply::text("User-agent: special\nDisallow: /no-special\n"));
    site.page("/", links_page("home", &["/away", "/no-special"]).as_str());
    site.page("/no-special", "not for all");
    site.page("/away", Reply::redirect(302, site.url_on(0, "/target")));
    site.page("/target", "here");
    let freshet = Freshet::new();
    let own = "user_agent = \"special/1.0\"\nheaders = { X-Key = \"secret\" }\n";
    freshet.write("freshet.toml", format!("[site.\"{}\"]\n{own}", site.origin(1)));
    let ran = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &["--delay", "0"]);

    let log = site.log();
    assert!(log.on(0).asked("/target") && log.on(1).asked("/away"), "{}", ran.output());
    for hit in log.hits() {
        let agent = hit.header("user-agent").unwrap_or_default();
        let special = hit.host == 1;
        assert_eq!(agent == "special/1.0", special, "{} on host {}: {agent}", hit.path, hit.host);
        assert_eq!(hit.header("x-key"), special.then_some("secret"), "{} on host {}", hit.path, hit.host);
    }
    // Robots.txt is read as the site is asked: by that name.
    assert!(log.on(0).asked("/no-special") && !log.on(1).asked("/no-special"));
}

#[test]
fn a_ceiling_over_all_hosts_is_reached_though_each_address_has_its_own() {
    let site = Site::with_hosts(12);
    site.page("/", links_page("home", &["/a", "/b"]).as_str());
    site.page("/a", "a");
    site.page("/b", "b");
    let seeds: Vec<String> = (0..12).map(|host| site.url_on(host, "/")).collect();
    let freshet = Freshet::new();
    let flags = ["--rate", "20", "--delay", "0.3", "--no-sitemaps"];
    let ran = crawl(&freshet, &seeds, &flags);
    // 48 requests at 20 a second; each host alone would need 1.2 s.
    assert_eq!(ran.json()["requests"], 48, "{}", ran.output());
    let seconds = ran.json()["elapsed_seconds"].as_f64().unwrap_or(f64::MAX);
    assert!((2.2..8.0).contains(&seconds), "{seconds} s");
}

#[test]
fn time_asked_for_is_given_though_a_request_beside_it_ends_well() {
    let site = Site::start();
    site.page("/", links_page("home", &["/busy", "/slow"]).as_str());
    site.page("/busy", Reply::status(429, "later").header("Retry-After", "3600"));
    site.page("/slow", Reply::html("slow").delay(Duration::from_millis(700)));
    let freshet = Freshet::new();
    let flags = ["--delay", "0", "--per-host", "2", "--no-sitemaps"];
    crawl(&freshet, &[site.url("/")], &flags);
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "retry-after");
    site.clear_log();
    crawl(&freshet, &[site.url("/")], &flags);
    assert_eq!(site.log().total(), 0, "{:?}", site.log().paths());
}
