//! A budget is a cap: no cycle sends more, and missed cycles are made up for only if the operator asks for it.

use crate::support::operator::crawl;
use crate::support::{FAST, Freshet, Ran, Site, links_page};
use serde_json::Value;
use std::time::Duration;

/// A site with more pages than any budget here.
fn site() -> Site {
    let site = Site::start();
    let names: Vec<String> = (0..80).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for name in &names {
        site.page(name, name.clone());
    }
    site
}

fn once(freshet: &Freshet, flags: &[&str]) -> Ran {
    let ran = freshet.run(&[&["monitor", "--once", "--json", "--no-sitemaps"], &FAST[..], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

fn budget(ran: &Ran) -> u64 {
    let line: Value = serde_json::from_str(ran.stdout.trim()).expect("a line of JSON");
    line["budget"].as_u64().expect("a budget")
}

/// Requests since the log was last cleared.
fn sent(site: &Site) -> usize {
    let sent = site.log().total();
    site.clear_log();
    sent
}

#[test]
fn a_crawl_is_no_missed_cycle_of_a_monitor() {
    let (site, freshet) = (site(), Freshet::new());
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps", "--budget", "10"]);
    std::thread::sleep(Duration::from_millis(2500));
    sent(&site);
    let ran = once(&freshet, &["--every", "1s", "--budget", "20", "--catch-up"]);
    assert!(!ran.stderr.contains("did not run"), "{}", ran.output());
    assert_eq!((budget(&ran), sent(&site)), (20, 20));
}

#[test]
fn missed_cycles_are_told_and_the_budget_stays_a_cap() {
    let (site, freshet) = (site(), Freshet::new());
    let seeds = freshet.seeds(&[site.url("/")]);
    let flags = ["--every", "1s", "--budget", "8"];
    once(&freshet, &[&["--seeds", &seeds], &flags[..]].concat());
    std::thread::sleep(Duration::from_millis(3500));
    sent(&site);
    let ran = once(&freshet, &flags);
    assert!(ran.stderr.contains("scheduled cycles did not run; --catch-up"), "{}", ran.output());
    assert_eq!((budget(&ran), sent(&site)), (8, 8));
}

#[test]
fn making_up_for_missed_cycles_is_asked_for_and_told_with_its_numbers() {
    let (site, freshet) = (site(), Freshet::new());
    let seeds = freshet.seeds(&[site.url("/")]);
    let flags = ["--every", "1s", "--budget", "8", "--catch-up"];
    once(&freshet, &[&["--seeds", &seeds], &flags[..]].concat());
    std::thread::sleep(Duration::from_millis(4500));
    sent(&site);
    let ran = once(&freshet, &flags);
    assert!(
        ran.stderr.contains("scheduled cycles did not run; budget raised to 10 (8 + 2) until caught up"),
        "{}",
        ran.output()
    );
    assert_eq!((budget(&ran), sent(&site)), (10, 10));
    // The debt belongs to the terms under which it was made.
    for other in [["--every", "1d", "--budget", "8"], ["--every", "1s", "--budget", "12"]] {
        let ran = once(&freshet, &[&other[..], &["--catch-up"]].concat());
        assert!(!ran.stderr.contains("budget raised"), "{}", ran.output());
        assert_eq!(budget(&ran).to_string(), other[3]);
    }
    // Nor does it come back with the first terms.
    let ran = once(&freshet, &["--every", "1d", "--budget", "8", "--catch-up"]);
    assert_eq!(budget(&ran), 8, "{}", ran.output());
}

#[test]
fn a_spent_allowance_of_the_day_is_told() {
    let (site, freshet) = (site(), Freshet::new());
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps", "--budget", "10"]);
    sent(&site);
    let ran = once(&freshet, &["--every", "10m", "--daily-budget", "10"]);
    assert!(
        ran.stderr.contains("the 24-hour allowance of 10 requests is spent: 0 left until 20"),
        "{}",
        ran.output()
    );
    assert_eq!(sent(&site), 0);
}

#[test]
fn a_policy_of_all_pages_leaves_none_out() {
    let (site, freshet) = (Site::start(), Freshet::new());
    site.page("/", links_page("home", &["/here", "/vanishes"]));
    site.page("/here", "here");
    site.page("/vanishes", "here for now");
    let flags = ["--delay", "0", "--no-sitemaps", "--policy", "every"];
    crawl(&freshet, &[site.url("/")], &flags);
    site.remove("/vanishes");
    for _ in 0..3 {
        crawl(&freshet, &[site.url("/")], &flags);
    }
    assert_eq!(site.log().count("/vanishes"), 4, "a page that is gone is visited too");
    site.page("/vanishes", "here again");
    crawl(&freshet, &[site.url("/")], &flags);
    let row = crate::support::operator::page(&freshet, &site.url("/vanishes"));
    assert_eq!((&row["state"], &row["visit_count"]), (&"alive".into(), &5.into()), "{row}");
}
