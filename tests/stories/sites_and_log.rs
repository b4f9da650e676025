//! The daily report: a row per site, the log of the last cycle, lists in an order, and the links of stored pages.

use crate::support::operator::crawl;
use crate::support::terminal::printed;
use crate::support::{Freshet, Ran, Reply, Running, Site, article, links_page};
use serde_json::Value;
use std::time::{Duration, Instant};

const FLAGS: [&str; 5] = ["--delay", "0", "--no-sitemaps", "--patience", "0"];

#[track_caller]
fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn urls(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["url"].as_str().expect("a URL")).collect()
}

/// A site that is well, and one that asks for time after its first page.
fn two_sites() -> (Site, Site) {
    let well = Site::start();
    well.page("/", article("home", 60, 1, &["/news", "/gone", "/old"]).as_str());
    well.page(
        "/news",
        Reply::sequence(vec![article("n", 80, 2, &[]).into(), article("n", 80, 3, &["/late"]).into()]),
    );
    well.page("/late", article("late", 50, 4, &[]).as_str());
    well.page("/old", Reply::redirect(302, "/news"));
    let busy = Site::start();
    busy.page("/", links_page("busy", &["/a"]).as_str());
    busy.page("/a", Reply::status(503, "not now").header("Retry-After", "3600"));
    (well, busy)
}

#[test]
fn a_row_per_site_tells_the_last_cycle_and_why_it_waits() {
    let (well, busy) = two_sites();
    let freshet = Freshet::new();
    let port = busy.origin(0).rsplit(':').next().unwrap_or_default().to_owned();
    freshet.write("freshet.toml", format!("[site.\"127.0.0.1:{port}\"]\nbudget = 50\n"));
    for _ in 0..2 {
        let ran = crawl(&freshet, &[well.url("/"), busy.url("/")], &FLAGS);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    let status = freshet.json(&["status", "--sites", "--json"]);
    assert_eq!(status["cycle"]["cycle_id"], 2);
    let sites = status["sites"].as_array().expect("sites");
    assert_eq!(sites.len(), 2);
    let (first, second) = (&sites[0], &sites[1]);
    assert_eq!(first["host"], busy.origin(0), "the one that waits comes first: {status:#}");
    assert_eq!((&first["waiting_for"], &first["budget"]), (&"retry-after".into(), &50.into()), "{status:#}");
    let reason = first["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("HTTP 503 Service Unavailable: the host asks to come back in"), "{status:#}");
    assert!(first["budget_spent"].as_u64().is_some_and(|spent| (0..=50).contains(&spent)), "{status:#}");
    assert_eq!(second["host"], well.origin(0));
    assert_eq!((&second["page_count"], &second["states"]["alive"]), (&5.into(), &3.into()), "{status:#}");
    let cycle = &second["last_cycle"];
    assert_eq!(
        (&cycle["new_pages"], &cycle["changed"], &cycle["gone"]),
        (&1.into(), &1.into(), &1.into()),
        "{status:#}"
    );
    assert!(cycle["received_bytes"].as_u64() > Some(0) && second["stored_bytes"].as_u64() > Some(0));
    assert!(
        second["last_success_at"].as_str().is_some_and(|at| at.ends_with('Z')),
        "JSON has UTC: {status:#}"
    );

    let table = freshet.run(&["status", "--sites"]);
    assert_eq!(table.code, Some(0), "{}", table.output());
    assert!(table.stdout.contains(&format!(": {reason}")), "{}", table.stdout);
    assert!(table.stdout.contains("1 / 1"), "gone in the cycle, and in all\n{}", table.stdout);
    assert!(table.stdout.contains(" UTC"), "{}", table.stdout);
    let one = freshet.run(&["status", "--sites", "--hosts", "1"]);
    assert!(one.stdout.contains("(+1 more site: --hosts 0 shows all)"), "{}", one.stdout);
}

#[test]
fn the_log_has_a_line_for_each_visit_of_the_cycle() {
    let (well, _) = two_sites();
    let freshet = Freshet::new();
    crawl(&freshet, &[well.url("/")], &FLAGS);
    crawl(&freshet, &[well.url("/")], &FLAGS);
    let log = lines(&freshet.run(&["log", "--json"]));
    let asked = well.log();
    let in_second = asked.hits().len() - lines(&freshet.run(&["log", "--json", "--cycle", "1"])).len();
    assert!(log.len() >= 5 && log.len() <= in_second, "{log:#?}");
    assert!(log.iter().all(|line| line["cycle_id"] == 2));
    let times: Vec<&str> = log.iter().filter_map(|line| line["at"].as_str()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let of = |path: &str| log.iter().find(|line| line["url"] == well.url(path).as_str()).expect("a visit");
    assert_eq!((&of("/news")["outcome"], &of("/news")["is_changed"]), (&"fetched".into(), &true.into()));
    assert_eq!((&of("/gone")["outcome"], &of("/gone")["status"]), (&"missing".into(), &404.into()));
    assert_eq!(of("/gone")["reason"], "HTTP 404 Not Found");
    assert_eq!(of("/old")["redirect_to"], well.url("/news").as_str());
    assert!(of("/news")["body_bytes"].as_u64() > Some(0));

    let missing = lines(&freshet.run(&["log", "--json", "--outcome", "missing"]));
    assert_eq!(urls(&missing), [well.url("/gone")]);
    let latest = lines(&freshet.run(&["log", "--json", "--limit", "2"]));
    assert_eq!(latest, log[log.len() - 2..], "the latest, in order of time");
    let table = freshet.run(&["log"]);
    assert_eq!(table.stdout.lines().count(), 1 + log.len(), "{}", table.stdout);
    assert!(table.stdout.starts_with("when "), "{}", table.stdout);
    let sent_on = format!("{} → {}", well.url("/old"), well.url("/news"));
    assert!(table.stdout.contains(&sent_on), "{}", table.stdout);
    let unknown = freshet.run(&["log", "--cycle", "9"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    assert!(unknown.stderr.contains("there is no cycle 9; the last one is 2"), "{}", unknown.stderr);
}

/// Waits until the output has what is looked for.
#[track_caller]
fn wait_for(running: &Running, said: &str) {
    let begun = Instant::now();
    while !running.stdout().contains(said) {
        assert!(begun.elapsed() < Duration::from_secs(60), "`{said}` never came: {}", running.stdout());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_log_can_be_followed() {
    let (well, _) = two_sites();
    let freshet = Freshet::new();
    crawl(&freshet, &[well.url("/")], &FLAGS);
    let following = freshet.start(&["log", "--follow", "--limit", "0", "--json"]);
    crawl(&freshet, &[well.url("/")], &FLAGS);
    wait_for(&following, &well.url("/late"));
    let ran = following.kill();
    assert!(!ran.stdout.contains("\"cycle_id\":1,"), "the past was not asked for: {}", ran.output());
}

#[test]
fn pages_are_listed_in_any_order_since_a_time_and_by_who_links_to_a_page() {
    let (well, _) = two_sites();
    let freshet = Freshet::new();
    crawl(&freshet, &[well.url("/")], &FLAGS);
    crawl(&freshet, &[well.url("/")], &FLAGS);
    let listed = |flags: &[&str]| lines(&freshet.run(&[&["pages", "--json"], flags].concat()));
    let by_changes = listed(&["--sort", "changes"]);
    assert_eq!(by_changes[0]["url"], well.url("/news").as_str());
    let by_url = listed(&["--sort", "url"]);
    assert!(urls(&by_url).is_sorted() && by_url.len() == 5, "{by_url:#?}");
    assert_eq!(listed(&["--sort", "bytes", "--limit", "1"]).len(), 1);
    assert_eq!(listed(&["--since", "1h"]).len(), 5);
    assert_eq!(listed(&["--since", "2999-01-01"]).len(), 0);
    let to_news = listed(&["--links-to", &well.url("/news")]);
    assert_eq!(urls(&to_news), [well.url("/")], "who links there");
    assert_eq!(
        urls(&listed(&["--links-to", &well.url("/gone")])),
        [well.url("/")],
        "the page with the broken link"
    );
    assert_eq!(urls(&listed(&["--links-to", &well.url("/late")])), [well.url("/news")]);
    let unknown = freshet.run(&["pages", "--links-to", &well.url("/nowhere")]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    let found = listed(&["--url", "/late"]);
    assert_eq!(found[0]["found_on"], well.url("/news").as_str());
    for command in ["history", "why"] {
        let told = freshet.run(&[command, &well.url("/late"), "--store", "freshet.db"]);
        assert!(told.stdout.contains(&format!("found on {}", well.url("/news"))), "{}", told.output());
    }
}

#[test]
fn links_have_the_headers_of_the_stored_version_and_no_command_runs_for_them() {
    let site = Site::start();
    let home = || Reply::from(links_page("home", &["/doc.pdf"]));
    let shy = Reply::from(links_page("other", &["/doc.pdf"])).header("X-Robots-Tag", "nofollow");
    site.page("/", Reply::sequence(vec![home(), shy, home()]));
    site.page("/doc.pdf", Reply::bytes("application/pdf", b"%PDF".to_vec()));
    let freshet = Freshet::new();
    let ran = freshet.path("ran");
    let command = format!("[change]\ntext = {{ 'application/pdf' = \"touch '{}'; cat\" }}\n", ran.display());
    freshet.write("freshet.toml", &command);
    for _ in 0..3 {
        crawl(&freshet, &[site.url("/")], &FLAGS);
    }
    std::fs::remove_file(&ran).expect("the crawl ran it");
    let of_home = lines(&freshet.run(&["links", &site.url("/"), "--json"]));
    assert_eq!(of_home[0]["verdict"], "known", "the first version is back: {of_home:?}");
    assert_eq!(lines(&freshet.run(&["links", "--refused", "--json"])).len(), 0);
    assert!(!ran.exists(), "looking at links runs nothing");
}

#[test]
fn every_link_of_a_stored_page_can_be_asked_about() {
    let site = Site::start();
    let links = [
        "/news",
        "/gone",
        "https://elsewhere.example/x",
        "/private/a",
        "mailto:me@example.org",
        "http://me:secret@127.0.0.1/",
    ];
    let home = links_page("home", &links).replace("</body>", "<a rel=nofollow href=/shy>shy</a></body>");
    site.page("/", home.as_str());
    site.page("/news", article("news", 50, 1, &["/", "/private/b"]).as_str());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nexclude = ['/private/']\n");
    crawl(&freshet, &[site.url("/")], &FLAGS);
    let asked = site.log().total();
    let of_home = lines(&freshet.run(&["links", &site.url("/"), "--json"]));
    let told: Vec<(&str, &str)> = of_home
        .iter()
        .map(|link| {
            (
                link["href"].as_str().unwrap_or(""),
                link["refused_for"].as_str().or(link["state"].as_str()).unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("/news", "alive"),
            ("/gone", "missing"),
            ("https://elsewhere.example/x", "out-of-scope"),
            ("/private/a", "excluded"),
            ("http://me:secret@127.0.0.1/", "user-info"),
            ("/shy", "no-follow"),
        ]
    );
    let refused = lines(&freshet.run(&["links", "--refused", "--json"]));
    assert_eq!(refused.len(), 5, "{refused:#?}");
    let excluded = freshet.run(&["links", "--reason", "excluded"]);
    assert_eq!(excluded.code, Some(0), "{}", excluded.output());
    let expected = format!("excluded           {}  on {}\n", site.url("/private/b"), site.url("/news"));
    assert!(excluded.stdout.ends_with(&expected), "{}", excluded.output());
    assert!(excluded.stderr.contains("2 links on 2 pages"), "{}", excluded.stderr);
    // The settings of now count: nothing needs to be fetched to see what they would take.
    let free = lines(&freshet.run(&["links", &site.url("/news"), "--json", "--exclude", "zzz"]));
    assert_eq!(free[1]["verdict"], "new", "{free:#?}");
    let bad = freshet.run(&["links", "--reason", "tea"]);
    assert_eq!(bad.code, Some(2), "{}", bad.output());
    let unstored = freshet.run(&["links", &site.url("/gone")]);
    assert_eq!(unstored.code, Some(1), "{}", unstored.output());
    assert!(unstored.stderr.contains("nothing is stored"), "{}", unstored.stderr);
    assert_eq!(site.log().total(), asked, "nothing was asked for");
}

/// A site with long addresses, crawled twice; one page is gone, one fails.
fn long_addresses() -> (Site, Freshet, String) {
    let site = Site::start();
    let long = format!("/section/{}/page.html", "a-long-name-".repeat(6));
    site.page("/", article("home", 60, 1, &[&long, "/gone", "/broken"]).as_str());
    site.page(&long, Reply::sequence(vec![article("n", 80, 2, &[]).into(), article("n", 80, 3, &[]).into()]));
    site.page("/broken", Reply::status(403, "not for you"));
    let freshet = Freshet::new();
    for _ in 0..2 {
        crawl(&freshet, &[site.url("/")], &FLAGS);
    }
    (site, freshet, long)
}

#[test]
fn tables_fit_the_terminal_and_are_whole_in_a_pipe() {
    let (site, freshet, long) = long_addresses();
    let long = site.url(&long);
    let commands: [&[&str]; 9] = [
        &["status"],
        &["status", "--sites"],
        &["pages"],
        &["changes"],
        &["seeds"],
        &["log"],
        &["history", &long],
        &["history", &site.url("/broken")],
        &["plan"],
    ];
    for columns in [80, 100, 130] {
        for command in commands {
            let lines = printed(&freshet, columns, &[], command);
            // Sentences may be longer; tables are all that has two blanks in a row.
            let is_row = |line: &&String| line.trim_start().contains("  ") && !line.starts_with("store ");
            for line in lines.iter().filter(is_row) {
                let width = line.chars().count();
                assert!(
                    width <= usize::from(columns),
                    "{command:?} at {columns}: {width}\n{}",
                    lines.join("\n")
                );
            }
        }
        let pages = printed(&freshet, columns, &[], &["pages"]).join("\n");
        assert!(pages.contains("…") && pages.contains("page.html"), "{pages}");
    }
    for command in [&["pages"][..], &["log"], &["plan"]] {
        let piped = freshet.run(command);
        assert!(piped.stdout.contains(&long), "{}", piped.output());
    }
}

#[test]
fn times_are_local_in_tables_and_utc_in_json() {
    let (site, freshet, _) = long_addresses();
    let in_zone = |zone: &str, arguments: &[&str]| {
        let mut command = freshet.command();
        command.args(arguments).env("TZ", zone);
        Running::start(command).wait(Duration::from_secs(60))
    };
    // Half an hour off tells local time from UTC, whatever the hour is.
    let zone = "XST-5:30";
    let home = site.url("/");
    let commands: [&[&str]; 8] = [
        &["status"],
        &["status", "--sites"],
        &["pages"],
        &["changes"],
        &["seeds"],
        &["log"],
        &["history", &home],
        &["monitor", "--once", "--allow-private", "--delay", "0", "--no-sitemaps", "--budget", "1"],
    ];
    for command in commands {
        let ran = in_zone(zone, command);
        assert!(ran.stdout.contains(" XST"), "{command:?}\n{}", ran.output());
        assert!(
            !ran.stdout.contains("Z  ") && !ran.stdout.contains("Z cycle"),
            "{command:?}\n{}",
            ran.output()
        );
    }
    let visit = |zone: &str| {
        let line = in_zone(zone, &["log", "--json", "--limit", "1"]);
        lines(&line)[0]["at"].as_str().expect("a time").to_owned()
    };
    assert_eq!(visit(zone), visit("UTC"));
    assert!(visit(zone).ends_with('Z'));
    // What is typed is local too: a minute ago by the local clock is a minute ago.
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::posix("XST-5:30").expect("a zone"));
    let stamp = |minutes: i64| {
        let at = now.checked_sub(jiff::SignedDuration::from_mins(minutes)).expect("a time");
        at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
    };
    let since = |zone: &str, at: &str| lines(&in_zone(zone, &["pages", "--json", "--since", at])).len();
    assert_eq!(since(zone, &stamp(60)), 4);
    assert_eq!(since(zone, &stamp(-60)), 0, "an hour from now");
    assert_eq!(since("UTC", &stamp(60)), 0, "that is hours from now in UTC");
    let waits = in_zone(zone, &["why", &site.url("/broken")]);
    assert!(waits.stdout.contains(" XST"), "{}", waits.output());
}

#[test]
fn quiet_is_silent_unless_json_is_asked_for() {
    let (site, _) = two_sites();
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let quiet = |more: &[&str]| {
        let ran = freshet.run(&[more, &["-q", "--seeds", &seeds, "--allow-private"], &FLAGS].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran
    };
    for command in [&["crawl"][..], &["monitor", "--once"]] {
        let ran = quiet(command);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{command:?}");
    }
    assert!(quiet(&["crawl", "--json"]).json()["requests"].is_number());
    let loud = crawl(&freshet, &["http://127.0.0.1:1/"], &["-q", "--delay", "0"]);
    assert!(!loud.stderr.is_empty() || loud.code == Some(0), "errors are told: {}", loud.output());
}

#[test]
fn a_host_that_the_store_does_not_have_is_told() {
    let (site, _) = two_sites();
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &FLAGS);
    let port = site.origin(0).rsplit(':').next().unwrap_or_default().to_owned();
    for command in ["pages", "changes", "log", "links"] {
        let unknown = freshet.run(&[command, "--host", "nosuch.example"]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""), "{}", unknown.output());
        assert!(unknown.stderr.contains("the store has no host `nosuch.example`"), "{}", unknown.stderr);
        let near = freshet.run(&[command, "--host", &format!("127.0.0.2:{port}")]);
        let meant = format!("did you mean `127.0.0.1:{port}`?");
        assert!(near.stderr.contains(&meant), "{}", near.stderr);
        let known = freshet.run(&[command, "--host", "127.0.0.1"]);
        assert_eq!(known.code, Some(0), "{}", known.output());
        let none = freshet.run(&[command, "--host", "two words"]);
        assert_eq!(none.code, Some(2), "{}", none.output());
    }
}
