//! The first thing a newcomer runs: a web of its own, crawled and visited again, and what that gained.

use crate::support::{Freshet, Ran};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

/// Seconds of work, on a machine that may be busy with other tests.
const LIMIT: Duration = Duration::from_secs(180);

#[track_caller]
fn demo(freshet: &Freshet, arguments: &[&str]) -> Ran {
    let temporary = freshet.path("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder can be made");
    let mut command = freshet.command();
    command.env("TMPDIR", &temporary).arg("demo").args(arguments);
    crate::support::Running::start(command).wait(LIMIT)
}

/// What the demo has left behind.
fn left_behind(freshet: &Freshet) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(freshet.path("tmp")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[track_caller]
fn figure(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("no `{name}`: {of}"))
}

#[test]
fn it_spends_its_budget_gains_freshness_and_leaves_a_store() {
    let freshet = Freshet::new();
    let told = demo(&freshet, &["--short", "--json"]).json();
    let policies = told["contenders"].as_array().expect("contenders").iter().map(|one| &one["policy"]);
    assert_eq!(policies.collect::<Vec<_>>(), ["calibrated", "calibrated-alone", "uniform", "nutch"]);
    let contender = &told["contenders"][0];
    let cycles = contender["by_cycle"].as_array().expect("cycles");
    assert_eq!(cycles.len() as u64, told["cycle_count"].as_u64().expect("a number"));
    let mut requests = 0.0;
    for cycle in cycles {
        assert!(figure(cycle, "requests") <= figure(&told, "budget"), "{cycle}");
        assert!(figure(cycle, "succeeded") > 0.0, "{cycle}");
        for share in ["freshness", "staleness", "coverage"] {
            assert!((0.0..=1.0).contains(&figure(cycle, share)), "{share}: {cycle}");
        }
        requests += figure(cycle, "requests");
    }
    assert_eq!(requests, figure(contender, "requests"));
    let pages = figure(&told, "host_count") * figure(&told, "pages_per_host");
    assert!(figure(&told, "budget") < pages && figure(&told["first_crawl"], "requests") > 0.9 * pages);
    assert!(figure(contender, "changed") > 0.0);
    let left_alone = &told["left_alone"]["all"];
    for when in ["now", "past"] {
        let (kept, left) = (&contender["all"][when], &left_alone[when]);
        assert_eq!(kept["living"], pages);
        assert!(figure(kept, "freshness") > figure(left, "freshness"), "{when}: {kept} {left}");
        assert!(figure(kept, "staleness") < figure(left, "staleness"), "{when}: {kept} {left}");
    }
    let changes = contender["changes"].as_array().expect("changes");
    assert!((1..=3).contains(&changes.len()), "{changes:?}");
    for change in changes {
        assert!(figure(change, "words_added") + figure(change, "words_removed") > 0.0, "{change}");
        assert!(!change["hunks"].as_array().expect("hunks").is_empty(), "{change}");
    }

    let store = contender["store"].as_str().expect("a path");
    assert!(store.starts_with(freshet.path("tmp").to_str().expect("UTF-8")), "{store}");
    let listed = freshet.run(&["pages", "--aliases", "--store", store, "--format", "json"]);
    let urls: Vec<Value> =
        listed.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(urls.len() as f64 >= pages, "{}", listed.output());
    for url in urls.iter().map(|page| page["url"].as_str().expect("a URL")) {
        assert!(url.starts_with("http://127.0.1."), "only loopback is visited: {url}");
    }
    // Those that need no network and end by themselves.
    for next in told["next"].as_array().expect("commands") {
        let command = next["command"].as_str().expect("a command");
        if [" status ", " pages ", " changes ", " history "].iter().any(|name| command.contains(name)) {
            let ran = Command::new("sh").args(["-c", command]).output().expect("a shell");
            assert!(ran.status.success() && !ran.stdout.is_empty(), "{command}");
        }
    }
}

#[test]
fn what_it_prints_is_for_people_and_its_store_is_where_it_was_wanted() {
    let freshet = Freshet::new();
    let ran = demo(&freshet, &["--short", "--policy", "utility", "--store", "mine.db"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    for said in
        ["Cycle by cycle", "no revisits", "What changed", "Try next", "freshet status --store mine.db"]
    {
        assert!(ran.stdout.contains(said), "`{said}`: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colours where there is no terminal");
    let commands = |line: &&str| !line.starts_with("  ") || line.contains("…");
    for line in ran.stdout.lines().filter(commands) {
        assert!(line.chars().count() <= 110, "{line}");
    }
    assert!(ran.stderr.contains("cycle 5 of 5: "), "a line a cycle: {}", ran.stderr);
    assert!(freshet.path("mine.db").exists() && left_behind(&freshet).is_empty());

    let before = std::fs::read(freshet.path("mine.db")).expect("a store");
    let again = demo(&freshet, &["--short", "--policy", "utility", "--store", "mine.db"]);
    assert_eq!(again.code, Some(2), "{}", again.output());
    assert!(again.stderr.contains("`mine.db` is there already"), "{}", again.output());
    assert!(again.stdout.is_empty());
    assert_eq!(std::fs::read(freshet.path("mine.db")).expect("a store"), before, "it is left as it was");
}

#[test]
fn a_wrong_call_is_told_so_and_leaves_nothing() {
    let freshet = Freshet::new();
    for (arguments, said) in [
        (&["--policy", "psychic"][..], "there is no policy `psychic`"),
        (&["--policy", "utility,utility"], "names `utility` twice"),
        (&["--seed", "many"], "--seed"),
        (&["--days", "3"], "--days"),
        (&["--budget", "0"], "--budget is 0"),
        (&["--hosts", "0"], "--hosts is `0`"),
        (&["--day", "1ms"], "--day is `1ms`"),
    ] {
        let ran = demo(&freshet, arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{}", ran.output());
    }
    assert!(left_behind(&freshet).is_empty());
}

#[test]
fn ctrl_c_ends_it_and_leaves_nothing() {
    let freshet = Freshet::new();
    let running = freshet.start(&["demo", "--short", "--store", "mine.db"]);
    let deadline = Instant::now() + LIMIT;
    while !running.stderr().contains("cycle 1 of") {
        assert!(Instant::now() < deadline, "no cycle ended: {}", running.stderr());
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let ran = running.wait(LIMIT);
    assert_eq!(ran.code, Some(130), "{}", ran.output());
    assert!(ran.stdout.is_empty() && ran.stderr.contains("is removed"), "{}", ran.output());
    let files = std::fs::read_dir(freshet.path("")).expect("a folder").flatten();
    let left: Vec<_> = files.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}
