//! Hosts that ask for time, are in trouble, or are not there: they get their time, and the crawl its other pages.

use crate::support::operator::{crawl, host, outcome, page, waiting_for};
use crate::support::{Freshet, Hit, Reply, Site, links_page};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Short pauses after failures; the promises are the same.
const HASTY: &str = "[crawl]\nback_off = 0.2\n";

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];
/// A host that still rests is put off to a later run, not waited for.
const IMPATIENT: [&str; 5] = ["--delay", "0", "--no-sitemaps", "--patience", "5"];

fn hasty() -> Freshet {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", HASTY);
    freshet
}

fn throttled(status: u16, retry_after: &str) -> Reply {
    Reply::status(status, "not now").header("Retry-After", retry_after)
}

/// The seconds from the end of each visit to a path to whatever the host was asked for next.
fn pauses_after(hits: &[Hit], path: &str) -> Vec<f64> {
    let followed = hits.windows(2).filter(|pair| pair[0].path == path);
    followed.map(|pair| pair[1].start - pair[0].end).collect()
}

/// The seconds between one visit to a path and the next.
fn gaps_of(hits: &[Hit], path: &str) -> Vec<f64> {
    let visits: Vec<&Hit> = hits.iter().filter(|hit| hit.path == path).collect();
    visits.windows(2).map(|pair| pair[1].start - pair[0].end).collect()
}

#[test]
fn a_host_that_asks_for_a_second_gets_it_from_all_of_us() {
    let site = Site::start();
    site.page("/", links_page("home", &["/busy", "/other", "/third"]).as_str());
    site.page("/busy", Reply::sequence(vec![throttled(429, "1"), "here you are".into()]));
    site.page("/other", "other");
    site.page("/third", "third");
    let freshet = hasty();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 4, "{}", ran.output());
    let log = site.log();
    assert_eq!(log.count("/busy"), 2);
    let pause = pauses_after(log.hits(), "/busy")[0];
    assert!(pause >= 0.995, "something was asked {pause} s later: {:#?}", log.hits());
    assert_eq!(page(&freshet, &site.url("/busy"))["state"], "alive");
}

#[test]
fn a_host_that_names_the_time_to_come_back_is_left_alone_until_then() {
    let site = Site::start();
    let named: Arc<Mutex<Option<SystemTime>>> = Arc::default();
    let early: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let (name, note) = (Arc::clone(&named), Arc::clone(&early));
    site.page("/", links_page("home", &["/busy", "/other"]).as_str());
    site.page("/other", "other");
    site.otherwise(move |request| {
        if request.path != "/busy" {
            return Reply::status(404, "none");
        }
        let now = SystemTime::now();
        let mut name = name.lock().unwrap();
        match *name {
            Some(date) => {
                note.lock().unwrap().extend(date.duration_since(now).ok());
                "here you are".into()
            }
            None => {
                // The form has whole seconds, so this is between one and two from now.
                let whole = now.duration_since(UNIX_EPOCH).unwrap().as_secs() + 2;
                let date = UNIX_EPOCH + Duration::from_secs(whole);
                *name = Some(date);
                throttled(503, &httpdate::fmt_http_date(date))
            }
        }
    });
    let freshet = hasty();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    assert_eq!(site.log().count("/busy"), 2);
    let early = early.lock().unwrap();
    assert!(early.iter().all(|early| early.as_millis() <= 5), "too early by {early:?}");
    let pause = pauses_after(site.log().hits(), "/busy")[0];
    assert!(pause >= 0.5, "the whole host waits, but was asked {pause} s later");
}

#[test]
fn a_page_that_stays_busy_is_tried_ever_more_slowly_and_then_left() {
    let site = Site::start();
    site.page("/", links_page("home", &["/busy", "/other"]).as_str());
    site.page("/busy", Reply::status(503, "not now"));
    site.page("/other", "other");
    let freshet = hasty();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.code, Some(0), "other pages came\n{}", ran.output());
    let log = site.log();
    assert_eq!(log.count("/busy"), 3, "{:?}", log.paths());
    assert_eq!(log.count("/other"), 1);
    let gaps = gaps_of(log.hits(), "/busy");
    assert!(gaps[0] >= 0.195 && gaps[1] >= 0.395, "{gaps:?}");
    let first = pauses_after(log.hits(), "/busy")[0];
    assert!(first >= 0.195, "the whole host gets the pause, but was asked {first} s later");
    assert_eq!(outcome(&freshet, &site.url("/busy")), "throttled");
    assert_eq!(page(&freshet, &site.url("/busy"))["state"], "failing");
}

#[test]
fn a_retry_after_that_means_nothing_is_as_good_as_none() {
    let site = Site::start();
    let nonsense = ["soon", "-5", "", "1.5e3", "Thu, 01 Jan 1970 00:00:00 GMT"];
    let paths: Vec<String> = (0..nonsense.len()).map(|at| format!("/{at}")).collect();
    let links: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links).as_str());
    for (path, nonsense) in paths.iter().zip(nonsense) {
        site.page(path, Reply::sequence(vec![throttled(429, nonsense), "here you are".into()]));
    }
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\n");
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 6, "{}", ran.output());
    for path in &paths {
        assert_eq!(site.log().count(path), 2, "{path}");
    }
    let pauses = pauses_after(site.log().hits(), "/0");
    assert!(pauses[0] >= 0.045, "it backs off as without one: {pauses:?}");
}

#[test]
fn a_page_that_asks_for_ten_years_is_left_and_the_others_are_not() {
    let site = Site::start();
    site.page("/", links_page("home", &["/never", "/other", "/third"]).as_str());
    site.page("/never", throttled(429, "315360000"));
    site.page("/other", "other");
    site.page("/third", "third");
    let freshet = hasty();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    let log = site.log();
    assert_eq!(log.count("/never"), 1);
    assert!(log.asked("/other") && log.asked("/third"));
}

#[test]
fn a_host_that_asks_for_more_than_our_patience_rests_and_is_not_asked_by_the_next_run_either() {
    let site = Site::start();
    site.page("/", links_page("home", &["/1", "/2", "/3", "/4"]).as_str());
    for path in ["/1", "/2", "/3", "/4"] {
        site.page(path, throttled(429, "3600"));
    }
    let freshet = hasty();
    let flags = [&FLAGS[..], &["--patience", "2"]].concat();
    let ran = crawl(&freshet, &[site.url("/")], &flags);

    let summary = ran.json();
    let asked = site.log().hits().iter().filter(|hit| hit.status == 429).count();
    assert_eq!(asked, 1, "{:?}", site.log().paths());
    assert_eq!(summary["put_off_by_reason"]["retry-after"], 3, "{}", ran.output());
    let said = host(&freshet, &site.origin(0));
    assert_eq!(said["waiting_for"], "retry-after", "{said:#}");
    assert!(freshet.run(&["status"]).stdout.contains("retry-after for 5"), "some 59 minutes are left");

    site.clear_log();
    let again = freshet.run(&[&["crawl", "--allow-private"], &flags[..]].concat());
    assert_eq!(site.log().paths(), [""; 0], "{}", again.output());
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "retry-after");
}

#[test]
fn a_host_that_fails_again_and_again_rests() {
    let site = Site::with_hosts(2);
    let paths: Vec<String> = (1..=9).map(|at| format!("/{at}")).collect();
    let links: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links).as_str());
    for path in &paths {
        site.page_on(0, path, Reply::status(500, "broken"));
        site.page_on(1, path, "well");
    }
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\nmax_failures = 3\nattempts = 1\n");
    let ran = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);

    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let failed = site.log().on(0).hits().iter().filter(|hit| hit.status == 500).count();
    assert_eq!(failed, 3, "{:?}", site.log().on(0).paths());
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "failing");
    assert_eq!(
        site.log().on(1).total(),
        11,
        "the other host is not to blame: {:?}",
        site.log().on(1).paths()
    );

    site.clear_log();
    let again = crawl(&freshet, &[site.url_on(0, "/")], &IMPATIENT);
    assert_eq!(site.log().on(0).total(), 0, "it still rests\n{}", again.output());
}

#[test]
fn a_host_that_nobody_listens_on_is_unreachable() {
    let vacant = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let origin = format!("http://{vacant}");
    let freshet = hasty();
    let alone = crawl(&freshet, &[format!("{origin}/")], &FLAGS);

    assert_eq!(alone.code, Some(1), "nothing at all could be fetched\n{}", alone.output());
    assert!(alone.stderr.contains("nothing could be fetched"), "{}", alone.output());
    assert_eq!(waiting_for(&freshet, &origin), "unreachable");

    let site = Site::start();
    site.page("/", "home");
    let beside = crawl(&freshet, &[format!("{origin}/"), site.url("/")], &IMPATIENT);
    assert_eq!(beside.code, Some(0), "one host came\n{}", beside.output());
}

#[test]
fn a_name_that_does_not_resolve_is_unreachable() {
    let freshet = hasty();
    let ran = crawl(&freshet, &["http://no-such-host.invalid/"], &FLAGS);

    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert_eq!(waiting_for(&freshet, "http://no-such-host.invalid"), "unreachable");
}

#[test]
fn a_server_that_stumbles_is_asked_again() {
    let site = Site::start();
    site.page("/", links_page("home", &["/stumbles", "/resets"]).as_str());
    let broken = || Reply::status(500, "oops");
    site.page("/stumbles", Reply::sequence(vec![broken(), broken(), "here you are".into()]));
    site.page("/resets", Reply::sequence(vec![Reply::reset(), Reply::reset(), "here you are".into()]));
    let freshet = hasty();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    assert_eq!(site.log().count("/stumbles"), 3);
    assert_eq!(site.log().count("/resets"), 3);
}
