//! A collection under watch: cycles at fixed distances until stopped.

use crate::support::{FAST, Freshet, Running, Site, links_page};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

fn site() -> Site {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "/b"]));
    site.page("/a", "a");
    site.page("/b", "b");
    site
}

fn monitor(freshet: &Freshet, site: &Site, flags: &[&str]) -> Running {
    let seeds = freshet.seeds(&[site.url("/")]);
    freshet.start(&[&["monitor", "--seeds", &seeds, "--no-sitemaps"], &FAST[..], flags].concat())
}

/// Waits until so many cycles were told of.
#[track_caller]
fn wait_for_cycles(running: &Running, cycles: usize) {
    let deadline = Instant::now() + LIMIT;
    // As text or as JSON, a line for each.
    let ended = |line: &&str| line.contains(" cycle: ") || line.contains("\"started_at\"");
    while running.stdout().lines().filter(ended).count() < cycles {
        assert!(Instant::now() < deadline, "{}\n{}", running.stdout(), running.stderr());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn terminate(running: &Running) {
    let sent = Command::new("kill").args(["-TERM", &running.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn cycles_come_at_fixed_distances_until_sigterm() {
    let (site, freshet) = (site(), Freshet::new());
    let running = monitor(&freshet, &site, &["--every", "1s"]);
    wait_for_cycles(&running, 3);
    terminate(&running);
    let ran = running.wait(LIMIT);
    assert_eq!(ran.code, Some(0), "stopping it is how it ends: {}", ran.output());
    assert!(ran.stdout.contains(" cycle: ") && ran.stdout.contains("3 fetched"), "{}", ran.output());
    assert!(ran.stdout.contains(" day: "), "what the day came to: {}", ran.output());
    assert!(ran.stderr.contains("the next cycle begins at"), "{}", ran.output());
    let cycles = freshet.json(&["status", "--json"])["cycles"].as_array().cloned().expect("cycles");
    assert!(cycles.len() >= 3 && cycles.iter().all(|cycle| !cycle["ended_at"].is_null()), "{cycles:?}");
    assert!(site.log().count("/a") >= 3, "each cycle visits it again");
    assert!(site.log().count("/robots.txt") == 1, "a day's robots.txt is asked for once");
}

#[test]
fn a_days_budget_is_kept_however_many_cycles_the_day_has() {
    let (site, freshet) = (site(), Freshet::new());
    let flags = ["--every", "1s", "--daily-budget", "9", "--json"];
    let running = monitor(&freshet, &site, &flags);
    wait_for_cycles(&running, 8);
    terminate(&running);
    let ran = running.wait(LIMIT);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(site.log().total() <= 9, "{:?}", site.log().paths());
    assert!(site.log().total() >= 4, "{:?}", site.log().paths());
    // Another run knows what the last one spent.
    let once = freshet.run(&[&["monitor", "--once", "--daily-budget", "9"], &FAST[..], &flags[..2]].concat());
    assert_eq!(once.code, Some(0), "{}", once.output());
    assert!(site.log().total() <= 9, "{:?}", site.log().paths());
    let both = freshet.run(&["monitor", "--daily-budget", "9", "--budget", "3"]);
    assert_eq!(both.code, Some(2), "{}", both.output());
    let none = freshet.run(&["monitor", "--daily-budget", "0"]);
    assert_eq!(none.code, Some(2), "{}", none.output());
    assert!(none.stderr.contains("--daily-budget is 0"), "{}", none.output());
}

#[test]
fn one_run_at_a_time_on_a_store() {
    let (site, freshet) = (site(), Freshet::new());
    let running = monitor(&freshet, &site, &["--every", "1h"]);
    wait_for_cycles(&running, 1);
    let second = freshet.run(&[&["monitor", "--once"], &FAST[..]].concat());
    assert_eq!(second.code, Some(1), "{}", second.output());
    assert!(second.stderr.contains("in use"), "{}", second.output());
    assert_eq!(freshet.run(&["status"]).code, Some(0), "looking is allowed");
    terminate(&running);
    assert_eq!(running.wait(LIMIT).code, Some(0));
}

#[test]
fn once_is_one_cycle_for_timers() {
    let (site, freshet) = (site(), Freshet::new());
    for runs in 1..=3 {
        let ran = monitor(&freshet, &site, &["--once", "--json", "--budget", "2"]).wait(LIMIT);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        let lines: Vec<Value> =
            ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        assert_eq!(lines.len(), 1, "{}", ran.output());
        assert!(lines[0]["requests"].as_u64() <= Some(2), "{}", lines[0]);
        let cycles = freshet.json(&["status", "--json"])["cycles"].as_array().map(Vec::len);
        assert_eq!(cycles, Some(runs));
    }
}

#[test]
fn what_a_downtime_missed_is_made_up_for_little_by_little() {
    let (site, freshet) = (site(), Freshet::new());
    let names: Vec<String> = (0..60).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for name in &names {
        site.page(name, name.clone());
    }
    let ran = monitor(&freshet, &site, &["--once", "--every", "1s", "--budget", "8"]).wait(LIMIT);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    // Four cycles and a half are missed.
    std::thread::sleep(Duration::from_millis(4500));
    let mut spent = Vec::new();
    for _ in 0..2 {
        let flags = ["--once", "--every", "1s", "--budget", "8", "--catch-up", "--json"];
        let ran = monitor(&freshet, &site, &flags).wait(LIMIT);
        let line: Value = serde_json::from_str(ran.stdout.trim()).expect("a line of JSON");
        spent.push(line["budget"].as_u64().expect("a budget"));
    }
    assert_eq!(spent, [10, 10], "a quarter more, again and again, not all at once");
}

#[test]
fn a_cycle_that_was_stopped_is_finished_by_the_next_run() {
    let (site, freshet) = (site(), Freshet::new());
    let names: Vec<String> = (0..40).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for name in &names {
        site.page(name, name.clone());
    }
    let seeds = freshet.seeds(&[site.url("/")]);
    let slow = [
        "monitor",
        "--seeds",
        &seeds,
        "--no-sitemaps",
        "--allow-private",
        "--delay",
        "0.05",
        "--every",
        "1h",
    ];
    let running = freshet.start(&slow);
    let deadline = Instant::now() + LIMIT;
    while site.log().total() < 8 {
        assert!(Instant::now() < deadline, "{}", running.stderr());
        std::thread::sleep(Duration::from_millis(5));
    }
    terminate(&running);
    let ran = running.wait(LIMIT);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stdout.contains("stopped"), "{}", ran.output());
    let before = site.log().paths();
    let ran = freshet.run(&[&slow[..], &["--once"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let cycles = freshet.json(&["status", "--json"])["cycles"].as_array().cloned().expect("cycles");
    assert_eq!(cycles.len(), 1, "it was the same cycle: {cycles:?}");
    for name in &names {
        assert_eq!(site.log().count(name), 1, "{name}, once in the cycle; before the stop: {before:?}");
    }
}

#[test]
fn a_time_of_day_is_kept() {
    let (site, freshet) = (site(), Freshet::new());
    // Half a day from now, it waits: nothing is asked for before.
    let hour = (jiff::Timestamp::now().as_second() / 3600 + 12) % 24;
    let running = monitor(&freshet, &site, &["--every", "1d", "--at", &format!("{hour:02}:00")]);
    let deadline = Instant::now() + LIMIT;
    while !running.stderr().contains("the next cycle begins at") {
        assert!(Instant::now() < deadline, "{}", running.stderr());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(running.stderr().contains(&format!(" {hour:02}:00:00 UTC")), "{}", running.stderr());
    terminate(&running);
    let ran = running.wait(LIMIT);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(site.log().total(), 0);
}
