//! The first look: how fresh it is, what the requests brought, and the lasting changes, each marked as read once.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::operator::crawl;
use crate::support::{Freshet, Reply, Running, Site, links_page};
use serde_json::{Value, json};

const TEXT: &str = "the river is low and the boats are idle in the harbour of the old town";

/// A page with words of its own and the footer of its site.
fn page(name: &str, news: &str, year: u32) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>{name}</title></head><body><p>All about {name}</p><p>{TEXT}</p><p>{news}</p>\
         <p>{name} is made by Example and its friends, copyright of {year} and all rights reserved</p></body></html>"
    )
}

/// Before and after, and after.
fn turns(before: String, after: String) -> Reply {
    Reply::sequence(vec![before.into(), after.clone().into(), after.into()])
}

const NAMES: [&str; 4] = ["tea", "coffee", "milk", "water"];

/// A site whose footer changes at the second visit, with a page that has news as well, one that shows the time, and one that goes.
fn crawled() -> (Site, Freshet) {
    let site = Site::start();
    let paths = ["/tea", "/coffee", "/milk", "/water", "/prices", "/clock", "/leaves"];
    site.page("/", links_page("home", &paths));
    for name in NAMES {
        site.page(&format!("/{name}"), turns(page(name, "no news", 2025), page(name, "no news", 2026)));
    }
    let prices = |said: &str, year| page("prices", said, year);
    site.page(
        "/prices",
        turns(
            prices("tea costs three pounds", 2025),
            prices("tea is sold out until the ships are back", 2026),
        ),
    );
    let clock = |minute: u32| {
        Reply::from(page("clock", &format!("the time is now {minute} minutes past nine"), 2025))
    };
    site.page("/clock", Reply::sequence(vec![clock(1), clock(7), clock(19)]));
    let gone = || Reply::status(404, "no");
    site.page("/leaves", Reply::sequence(vec![page("leaves", "soon gone", 2025).into(), gone(), gone()]));
    let freshet = Freshet::new();
    for _ in 0..3 {
        let ran =
            crawl(&freshet, &[site.url("/")], &["--policy", "every", "--no-sitemaps", "--budget", "40"]);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    (site, freshet)
}

fn entries(report: &Value) -> Vec<(String, u64)> {
    let entry = |entry: &Value| {
        let title = entry["event"]["title"].as_str().expect("a title").to_owned();
        (title, entry["page_count"].as_u64().expect("pages"))
    };
    report["inbox"]["shown"].as_array().expect("entries").iter().map(entry).collect()
}

#[test]
fn a_report_says_how_it_is_and_what_was_new() {
    let (site, freshet) = crawled();
    let report = freshet.json(&["report", "--json"]);
    let view = &report["overview"];
    let fresh = view["freshness"]["share"].as_f64().expect("a share");
    assert!((0.0..=1.0).contains(&fresh), "{view:#}");
    assert_eq!(view["freshness"]["held_pages"], 7, "the page that left is gone: {view:#}");
    let sentence = view["sentence"].as_str().expect("a sentence");
    assert!(sentence.starts_with("Fresh ") && sentence.contains("of 120 requests spent today"), "{sentence}");
    // A test may run past midnight.
    let days = view["days"].as_array().expect("days");
    let sum = |of: &dyn Fn(&Value) -> u64| days.iter().map(of).sum::<u64>();
    let brought = |kind: &'static str| sum(&move |day| day["brought"][kind].as_u64().expect("a count"));
    assert_eq!((brought("first"), brought("gone"), brought("failed")), (8, 2, 0), "{view:#}");
    assert_eq!(brought("changed"), 4 + 1 + 2, "{view:#}");
    assert_eq!(
        sum(&|day| day["requests"].as_u64().expect("requests")),
        site.log().total() as u64,
        "{view:#}"
    );
    assert!(days.iter().any(|day| day["round_robin_changed"].is_f64()), "{view:#}");
    let strip = &view["strips"][0];
    assert_eq!(strip["ticks"].as_array().map(Vec::len), Some(24), "three visits to eight pages: {strip:#}");

    assert_eq!(entries(&report).len(), 2, "{report:#}");
    let many = &report["inbox"]["shown"];
    let footer =
        many.as_array().and_then(|all| all.iter().find(|entry| entry["page_count"] == 4)).expect("a footer");
    assert_eq!(footer["same_change"], "4 pages of 127.0.0.1: the same change", "{footer:#}");
    assert_eq!(footer["visit_ids"].as_array().map(Vec::len), Some(4));
    assert!(
        entries(&report).contains(&("prices".to_owned(), 1)),
        "news of its own are not hidden: {report:#}"
    );
    assert_eq!((&report["inbox"]["noisy_changes"], &report["inbox"]["has_more"]), (&json!(1), &json!(false)));
    assert_eq!(report["inbox"]["waiting_changes"], 1, "what the last cycle found: {report:#}");
}

#[test]
fn a_change_that_was_read_is_not_shown_again() {
    let (_site, freshet) = crawled();
    let marked = freshet.run(&[
        "changes",
        "--kind",
        "changed",
        "--lasting",
        "--host",
        "127.0.0.1",
        "--limit",
        "2",
        "--mark-read",
    ]);
    assert!(marked.stderr.contains("2 events marked as read"), "{}", marked.output());
    let left = freshet.run(&["changes", "--kind", "changed", "--lasting", "--unread", "--json"]);
    assert_eq!(left.stdout.lines().count(), 3, "{}", left.output());
    let again = freshet.run(&["changes", "--unread", "--mark-read"]);
    assert_eq!(again.code, Some(0), "{}", again.output());
    assert_eq!(entries(&freshet.json(&["report", "--unread", "--json"])), []);
    let all = freshet.json(&["report", "--json"]);
    assert_eq!((entries(&all).len(), &all["inbox"]["unread_changes"]), (2, &json!(0)));
    // Marks outlive the events that are made again from the log.
    assert_eq!(freshet.run(&["store", "rebuild"]).code, Some(0));
    assert_eq!(entries(&freshet.json(&["report", "--unread", "--json"])), []);
}

#[test]
fn a_report_is_one_file_that_needs_nothing_else() {
    let (site, freshet) = crawled();
    let ran = freshet.run(&["report", "--out", "report.html", "--since", "2d"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.output());
    let text = std::fs::read_to_string(freshet.path("report.html")).expect("the report");
    for part in [
        "<!doctype html>",
        "4 pages of 127.0.0.1: the same change",
        "sold out",
        "class=\"strip\"",
        "class=\"budget\"",
        &site.origin(0),
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for outside in ["<script", "<link", "src=", "@import", "url(", "style=\""] {
        assert!(!text.contains(outside), "{outside}");
    }
    let text = freshet.run(&["report"]).stdout;
    assert!(text.starts_with("Fresh ") && text.contains("4 pages of 127.0.0.1: the same change"), "{text}");
    let empty = Freshet::new();
    assert_ne!(empty.run(&["report"]).code, Some(0), "there is no store");
}

/// A dashboard of the store, and its address.
fn serve(freshet: &Freshet) -> (Running, String) {
    let server = freshet.start(&["serve", "--listen", "127.0.0.1:0"]);
    let patience = Instant::now() + Duration::from_secs(60);
    while !server.stdout().contains('\n') {
        assert!(Instant::now() < patience, "no address\n{}", server.stderr());
        std::thread::sleep(Duration::from_millis(20));
    }
    let address = server.stdout().trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    (server, address)
}

/// Sends a request and gives the status and the whole answer.
fn ask(address: &str, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the dashboard");
    let length = body.len();
    let request = format!(
        "{head}Host: {address}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

fn marks(address: &str, origin: &str, form: &str) -> u16 {
    ask(address, &format!("POST /read HTTP/1.1\r\nOrigin: {origin}\r\n"), form).0
}

#[test]
fn the_overview_shows_what_is_new_and_takes_marks_while_a_crawl_runs() {
    let (site, freshet) = crawled();
    let (_server, address) = serve(&freshet);
    let look = || ask(&address, "GET / HTTP/1.1\r\n", "");
    let (status, page) = look();
    assert_eq!(status, 200, "{page}");
    for part in
        ["4 pages of 127.0.0.1: the same change", "sold out", "Fresh ", "class=\"strip\"", "class=\"budget\""]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let report = freshet.json(&["report", "--json"]);
    let footer =
        report["inbox"]["shown"].as_array().and_then(|all| all.iter().find(|entry| entry["page_count"] == 4));
    let visits = footer.expect("a footer")["visit_ids"].as_array().expect("visits");
    let visits = visits.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
    let form = format!("visits={visits}&read=yes");
    assert_eq!(marks(&address, "http://evil.example", &form), 403);
    assert_eq!(marks(&address, &format!("http://{address}"), "visits=nothing"), 400);
    assert!(look().1.contains("4 pages of"), "nothing was marked");
    // The writer of a crawl and the mark take turns.
    site.page("/tea", Reply::from("late").delay(Duration::from_secs(4)));
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawling = freshet.start(&[
        "crawl",
        "--seeds",
        &seeds,
        "--policy",
        "every",
        "--delay",
        "0",
        "--allow-private",
        "--no-sitemaps",
    ]);
    while site.log().paths().iter().filter(|path| *path == "/tea").nth(3).is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(marks(&address, &format!("http://{address}"), &form), 303);
    let page = look().1;
    assert!(!page.contains("4 pages of") && page.contains("sold out"), "{page}");
    assert_eq!(marks(&address, &format!("http://{address}"), &form.replace("yes", "no")), 303);
    assert!(look().1.contains("4 pages of"), "taken back");
    let ended = crawling.wait(Duration::from_secs(60));
    assert_eq!(ended.code, Some(0), "{}", ended.output());
}
