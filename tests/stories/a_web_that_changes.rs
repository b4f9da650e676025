//! Crawls of a web that changes, held against its truth.
//!
//! Each web has days that last for months, and is put up as it is on a given day: while a story runs it stands still,
//! and between two crawls it is put up again, some days later, on the same port.

use crate::support::{FAST, Freshet, Ran, Running};
use freshet::page::PageId;
use freshet::store::{self, Store};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 100 real days: a story of seconds sees a millionth of it pass.
const DAY: &str = "100d";
pub const DAY_SECONDS: f64 = 100.0 * 86_400.0;

/// Small pages, no noise, and ETags that tell the truth where there are any. No dates: a web put up again for a later
/// day has lived its whole past earlier.
const PLAIN: [&str; 9] = [
    "--no-noise",
    "--median-bytes",
    "2500",
    "--etag-wrong",
    "0",
    "--modified-right",
    "0",
    "--modified-wrong",
    "0",
];

/// A web that is up, and the seeds it printed.
pub struct Web {
    running: Running,
    pub seeds: Vec<String>,
}

impl Web {
    /// Puts it up as it is on `day`.
    #[track_caller]
    pub fn on_day(freshet: &Freshet, day: f64, port: u16, flags: &[&str]) -> Web {
        let start = (now() - day * DAY_SECONDS).to_string();
        let port = port.to_string();
        let place = ["web", "--day", DAY, "--start", &start, "--port", &port];
        Web::start(freshet, &[&place, &PLAIN[..], flags].concat())
    }

    #[track_caller]
    pub fn start(freshet: &Freshet, arguments: &[&str]) -> Web {
        let running = freshet.start(arguments);
        let deadline = Instant::now() + Duration::from_secs(20);
        // Two pipes: what was written first need not be read first.
        while !(running.stderr().contains("the truth") && running.stdout().ends_with('\n')) {
            assert!(Instant::now() < deadline, "the web did not come up: {}", running.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
        let seeds = running.stdout().lines().map(str::to_owned).collect();
        Web { running, seeds }
    }

    pub fn port(&self) -> u16 {
        self.seeds[0]
            .trim_end_matches('/')
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .expect("a port")
    }

    /// Ends it as Ctrl-C does.
    #[track_caller]
    pub fn stop(self) -> Ran {
        let sent = Command::new("kill").args(["-INT", &self.running.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        self.running.wait(Duration::from_secs(10))
    }

    /// The truth of each page that lives on any host, by its URL.
    pub fn living(&self) -> BTreeMap<String, Value> {
        let mut living = BTreeMap::new();
        for seed in &self.seeds {
            for page in truth(&format!("{seed}.truth/site"))["pages"].as_array().expect("a list") {
                let path = page["path"].as_str().expect("a path");
                living.insert(seed.trim_end_matches('/').to_owned() + path, page.clone());
            }
        }
        living
    }
}

pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64()
}

fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("http");
    rest.split_at(rest.find('/').expect("a path"))
}

/// Sends the request lines on one connection, which the last closes; all that comes back.
fn ask(host: &str, requests: &[String]) -> String {
    let mut stream = TcpStream::connect(host).expect("the web is up");
    for request in requests {
        stream.write_all(request.as_bytes()).expect("it listens");
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(url: &str) -> String {
    let (host, path) = split(url);
    ask(host, &[format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")])
}

#[track_caller]
fn truth(url: &str) -> Value {
    let answer = get(url);
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or_else(|error| panic!("no truth at `{url}`: {error}: {answer}"))
}

/// What a page says, as it was `days` ago; none if it does not live then.
pub fn text_then(url: &str, days: f64) -> Option<String> {
    let (host, path) = split(url);
    let at = now() - days * DAY_SECONDS;
    truth(&format!("http://{host}/.truth/page?path={path}&at={at}"))
        .as_object_mut()
        .filter(|told| told["fate"] == "lives")
        .and_then(|told| told["text"].as_str().map(str::to_owned))
}

/// What was true of a page `days` ago and since: its fate now, and its changes in between.
fn truth_since(url: &str, days: f64) -> Value {
    let (host, path) = split(url);
    let from = now() - days * DAY_SECONDS;
    truth(&format!("http://{host}/.truth/page?path={path}&from={from}"))
}

pub fn first(freshet: &Freshet, web: &Web) -> Value {
    let seeds = freshet.seeds(&web.seeds);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..]].concat())
}

pub fn again(freshet: &Freshet) -> Value {
    freshet.json(&[&["crawl", "--json"], &FAST[..]].concat())
}

/// Crawls a web as it is on one day; what lived then, and the same web on a later day.
fn crawled_then_moved_on(
    freshet: &Freshet,
    day: f64,
    later: f64,
    flags: &[&str],
) -> (BTreeMap<String, Value>, Web) {
    let web = Web::on_day(freshet, day, 0, flags);
    first(freshet, &web);
    let (before, port) = (web.living(), web.port());
    web.stop();
    (before, Web::on_day(freshet, later, port, flags))
}

/// All pages of the store by URL, aliases included.
fn rows(freshet: &Freshet) -> BTreeMap<String, Value> {
    let listed = freshet.run(&["pages", "--json", "--aliases"]);
    let rows = listed.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    rows.map(|row| (row["url"].as_str().expect("a URL").to_owned(), row)).collect()
}

fn alive(rows: &BTreeMap<String, Value>) -> BTreeSet<String> {
    rows.iter().filter(|(_, row)| row["state"] == "alive").map(|(url, _)| url.clone()).collect()
}

#[test]
fn everything_that_lives_is_found_and_nothing_else_is_held_alive() {
    let freshet = Freshet::new();
    for sitemaps in [&["--sitemap-recall", "0"][..], &["--sitemap-recall", "1"]] {
        let flags = [&["--hosts", "2", "--pages", "130", "--turnover", "0.05"], sitemaps].concat();
        let web = Web::on_day(&freshet, 20.0, 0, &flags);
        let summary = first(&freshet, &web);
        let living: BTreeSet<String> = web.living().into_keys().collect();
        assert_eq!(living.len(), 260);
        let prefix = format!(":{}/", web.port());
        let held: BTreeSet<String> =
            alive(&rows(&freshet)).into_iter().filter(|url| url.contains(&prefix)).collect();
        assert_eq!(held, living);
        assert!(summary["failed"].as_u64() > Some(0), "links that had gone stale: {summary}");
        assert!(summary["redirected"].as_u64() > Some(0), "and pages that had moved: {summary}");
    }
}

#[test]
fn a_second_crawl_finds_changed_exactly_the_pages_that_the_truth_says_changed() {
    // A page of links whose targets moved is another page by its bytes, and says what it said.
    finds_changed("bytes", |url| {
        truth_since(url, 1.5)["changes"].as_array().is_some_and(|changes| !changes.is_empty())
    });
    finds_changed("text", |url| text_then(url, 1.5) != text_then(url, 0.0));
}

/// Crawls a web, and again after a day and a half: changed are those of which it is true, and no others.
#[track_caller]
fn finds_changed(rule: &str, is_changed: impl Fn(&str) -> bool) {
    let freshet = Freshet::new();
    let flags = ["--hosts", "2", "--pages", "120", "--turnover", "0.02", "--seed", "7"];
    let (before, web) = crawled_then_moved_on(&freshet, 10.0, 11.5, &flags);
    let summary = freshet.json(&[&["crawl", "--json", "--changed", rule], &FAST[..]].concat());
    let held = rows(&freshet);
    let (mut changed, mut unchanged) = (BTreeSet::new(), BTreeSet::new());
    for url in before.keys() {
        if text_then(url, 0.0).is_some() {
            (if is_changed(url) { &mut changed } else { &mut unchanged }).insert(url.clone());
        }
    }
    assert!(changed.len() > 40 && unchanged.len() > 100, "{} {}", changed.len(), unchanged.len());
    let found: BTreeSet<String> =
        held.iter().filter(|(_, row)| row["change_count"] == 1).map(|(url, _)| url.clone()).collect();
    assert_eq!(found, changed);
    assert_eq!(summary["changed"], changed.len());
    assert_eq!(summary["unchanged"], unchanged.len());
    assert_eq!(alive(&held), web.living().into_keys().collect::<BTreeSet<_>>(), "new pages are found too");
}

#[test]
fn changes_are_seen_while_the_web_moves_on() {
    let freshet = Freshet::new();
    // Validators of both kinds, all right: a day of three seconds has changes within one second of each other.
    let right =
        ["--etag-right", "0.5", "--etag-wrong", "0", "--modified-right", "1", "--modified-wrong", "0"];
    let size =
        ["web", "--port", "0", "--hosts", "1", "--pages", "80", "--median-bytes", "2500", "--no-noise"];
    let web = Web::start(&freshet, &[&size[..], &right, &["--day", "3s", "--turnover", "0"]].concat());
    let began = now();
    first(&freshet, &web);
    let rested = now();
    std::thread::sleep(Duration::from_secs(3));
    let resumed = now();
    again(&freshet);
    let ended = now();

    let held = rows(&freshet);
    let origin = web.seeds[0].trim_end_matches('/');
    let (mut changed, mut unchanged) = (0, 0);
    for page in web.living().keys() {
        let path = page.strip_prefix(origin).expect("of this host");
        let truth = truth(&format!("{origin}/.truth/page?path={path}&from={began}&at={ended}"));
        let changes: Vec<f64> =
            truth["changes"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
        if changes.iter().any(|at| (rested..resumed).contains(at)) {
            assert_eq!(held[page]["change_count"], 1, "{page} {changes:?}");
            changed += 1;
        } else if changes.is_empty() {
            assert_eq!(held[page]["change_count"], 0, "{page}");
            unchanged += 1;
        }
    }
    assert!(changed > 5 && unchanged > 30, "{changed} {unchanged}");
}

#[test]
fn pages_that_died_are_missing_then_gone_and_pages_that_moved_are_aliases() {
    let freshet = Freshet::new();
    let flags = ["--hosts", "1", "--pages", "150", "--turnover", "0.1", "--move-share", "0.5"];
    let (before, web) = crawled_then_moved_on(&freshet, 3.0, 6.0, &flags);
    again(&freshet);
    let held = rows(&freshet);
    let origin = web.seeds[0].trim_end_matches('/');
    let (mut died, mut moved) = (Vec::new(), Vec::new());
    for url in before.keys() {
        let truth = truth_since(url, 3.0);
        match truth["fate"].as_str() {
            Some("lives") => assert_eq!(held[url]["state"], "alive", "{url}"),
            Some("died") => {
                assert_eq!(held[url]["state"], "missing", "{url}");
                died.push(url);
            }
            Some("moved") => {
                let to = origin.to_owned() + truth["moved_to"].as_str().expect("a path");
                assert_eq!(held[url]["state"], "redirected", "one visit is not believed");
                assert_eq!(held[&to]["state"], "alive");
                moved.push((url, to));
            }
            fate => panic!("`{url}` was there: {fate:?}"),
        }
    }
    assert!(died.len() > 10 && moved.len() > 10, "{} {}", died.len(), moved.len());

    // A move is believed when it is confirmed; where the page changed too, that takes four cycles.
    for _ in 0..3 {
        again(&freshet);
    }
    let held = rows(&freshet);
    for url in died {
        assert_eq!(held[url]["state"], "gone", "{url}");
    }
    for (url, to) in moved {
        assert_eq!((&held[url]["state"], &held[url]["alias_of"]), (&json!("alias"), &json!(to)));
    }
}

/// The visits of a page in the store, with what it says they left, in order of time.
fn visits(store: &mut dyn Store, page: PageId) -> Vec<(String, Option<String>)> {
    let mut visits = Vec::new();
    store
        .each_visit(&mut |visit| {
            if visit.page == page {
                visits.push(visit);
            }
        })
        .expect("visits");
    let mut text = |version| store.version(version).expect("a version").expect("it is there").text;
    visits.into_iter().map(|visit| (visit.outcome, visit.version.map(&mut text))).collect()
}

#[test]
fn a_crawl_short_of_file_descriptors_takes_longer_and_blames_nobody() {
    let freshet = Freshet::new();
    let flags = ["--hosts", "60", "--pages", "3", "--turnover", "0", "--sitemap-recall", "1"];
    let web = Web::on_day(&freshet, 1.0, 0, &flags);
    let seeds = freshet.seeds(&web.seeds);
    // Enough for the store and two dozen connections.
    let mut command = Command::new("sh");
    command.current_dir(freshet.path(".")).args(["-c", "ulimit -n 50 && exec \"$0\" \"$@\""]);
    command.arg(env!("CARGO_BIN_EXE_freshet")).args(["crawl", "--json", "--seeds", &seeds]).args(FAST);
    let ran = Running::start(command).wait(Duration::from_secs(100));
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let summary = ran.json();
    assert_eq!((&summary["succeeded"], &summary["failed"]), (&json!(180), &json!(0)), "{summary}");
    assert_eq!(alive(&rows(&freshet)), web.living().into_keys().collect::<BTreeSet<_>>());
    let status = freshet.json(&["status", "--json"]);
    for host in status["hosts"].as_array().expect("hosts") {
        assert_eq!(host["waiting_for"].as_str().unwrap_or_default(), "", "{host}");
    }
    web.stop();
}

#[test]
fn a_page_that_moved_keeps_its_history() {
    let freshet = Freshet::new();
    let flags = ["--hosts", "1", "--pages", "120", "--turnover", "0.1", "--move-share", "1"];
    let (before, web) = crawled_then_moved_on(&freshet, 3.0, 6.0, &flags);
    // A move is believed when it is confirmed; where the page changed too, that takes four cycles.
    for _ in 0..4 {
        again(&freshet);
    }
    let held = rows(&freshet);
    let origin = web.seeds[0].trim_end_matches('/');
    let mut store = store::open_to_look(&freshet.path("freshet.db")).expect("the store");
    let id = |url: &str| PageId(held[url]["page_id"].as_i64().expect("an id"));
    let mut moved = 0;
    for url in before.keys() {
        let truth = truth_since(url, 3.0);
        if truth["fate"] != "moved" {
            assert_eq!(truth["fate"], "lives");
            continue;
        }
        let to = origin.to_owned() + truth["moved_to"].as_str().expect("a path");
        // The old spelling stands for the new one, with all that was seen there.
        let spellings = store.spellings(id(&to)).expect("spellings");
        let old = spellings.iter().find(|spelling| spelling.url == *url).expect("it is remembered");
        assert!(old.moved && old.page == id(url), "{old:?}");
        let past = visits(&mut *store, old.page);
        let outcomes: Vec<&str> = past.iter().map(|(outcome, _)| outcome.as_str()).collect();
        let (first, later) = outcomes.split_first().expect("visits");
        assert_eq!(*first, "fetched", "{url}");
        assert!((2..=4).contains(&later.len()) && later.iter().all(|outcome| *outcome == "moved"), "{url}");
        assert_eq!(past[0].1, text_then(url, 3.0), "{url}");
        // And the page goes on where it lives.
        let now = visits(&mut *store, id(&to));
        assert_eq!(now.len(), 4, "{to}");
        assert_eq!((now[0].0.as_str(), now[0].1.as_deref()), ("fetched", truth["text"].as_str()));
        moved += 1;
    }
    assert!(moved > 10, "{moved}");
}

#[test]
fn the_web_speaks_http_keeps_connections_and_stops_when_told() {
    let freshet = Freshet::new();
    let right = ["--hosts", "1", "--pages", "50", "--etag-right", "1"];
    let web = Web::on_day(&freshet, 2.0, 0, &right);
    let (host, _) = split(&web.seeds[0]);
    let whole = get(&web.seeds[0]);
    let header = |name: &str| {
        whole.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or_default().to_owned()
    };
    let (etag, length) = (header("etag:"), header("content-length:"));
    assert!(etag.starts_with('"') && !length.is_empty(), "{whole}");
    let line = |method: &str, path: &str, more: &str| {
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n")
    };
    let answers = ask(
        host,
        &[
            line("HEAD", "/", ""),
            line("GET", "/", &format!("If-None-Match: {etag}\r\n")),
            line("GET", "/no-such-page", ""),
            line("POST", "/", "Content-Length: 0\r\n"),
            line("GET", "/robots.txt", "Connection: close\r\n"),
        ],
    );
    let codes: Vec<&str> =
        answers.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.split(' ').next()).collect();
    assert_eq!(codes, ["200", "304", "404", "405", "200"], "{answers}");
    let head = answers.split("HTTP/1.1 ").nth(1).unwrap_or_default();
    assert!(head.contains(&format!("content-length: {length}")) && head.ends_with("\r\n\r\n"), "{head}");
    assert!(answers.ends_with(&format!("Sitemap: http://{host}/sitemap.xml\n")));

    let port = web.port().to_string();
    let second = freshet.run(&["web", "--port", &port]);
    assert_eq!(second.code, Some(1), "{}", second.output());
    assert!(second.stderr.contains("--port 0"), "{}", second.stderr);
    let idle = TcpStream::connect(host).expect("the web is up");
    let ended = web.stop();
    assert_eq!(ended.code, Some(0), "{}", ended.output());
    drop(idle);
}

#[test]
fn webs_at_the_edge_of_what_can_be_asked_for_answer_as_others_do() {
    let freshet = Freshet::new();
    let edges: [&[&str]; 4] = [
        // Billions of days old, a hundred turns a day.
        &["--day", "10ms", "--start", "0", "--turnover", "100", "--move-share", "1", "--pages", "60"],
        &["--day", "10ms", "--start", "0", "--turnover", "100", "--move-share", "0", "--rhythm"],
        // It has not begun, and will not for thousands of years.
        &["--day", "1000d", "--start", "253402300799", "--pages", "1"],
        &["--static-share", "0", "--scroll-share", "1", "--gone-share", "1", "--sitemap-recall", "0"],
    ];
    for flags in edges {
        let web = Web::start(&freshet, &[&["web", "--port", "0", "--hosts", "1"], flags].concat());
        let (host, front) = (split(&web.seeds[0]).0, get(&web.seeds[0]));
        assert!(front.starts_with("HTTP/1.1 200"), "{flags:?} {front}");
        let links = front.split("href=\"").skip(1).filter_map(|link| link.split('"').next());
        let own = ["/robots.txt", "/sitemap.xml", "/feed.atom", "/.truth/site"];
        for path in links.take(30).chain(own) {
            let answer = get(&format!("http://{host}{path}"));
            let code = answer.split(' ').nth(1).unwrap_or_default();
            assert!(["200", "301", "404", "410"].contains(&code), "{flags:?} {path} {answer}");
        }
        assert_eq!(web.stop().code, Some(0));
    }
}

#[test]
fn what_is_no_good_request_ends_its_own_connection_and_nothing_else() {
    let freshet = Freshet::new();
    let web = Web::on_day(&freshet, 1.0, 0, &["--hosts", "1", "--pages", "3"]);
    let (host, _) = split(&web.seeds[0]);
    let code = |request: &str| {
        let answer = ask(host, &[request.to_owned()]);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let close = "Connection: close\r\n\r\n";
    for method in ["PUT", "DELETE", "OPTIONS", "BREW"] {
        assert_eq!(code(&format!("{method} / HTTP/1.1\r\nHost: {host}\r\n{close}")), "405", "{method}");
    }
    let ranged = format!("GET / HTTP/1.1\r\nHost: {host}\r\nRange: bytes=0-3\r\n{close}");
    assert_eq!(code(&ranged), "200", "no ranges here");
    assert_eq!(code("what is this\r\n\r\n"), "400");
    let many: String = (0..300).map(|place| format!("X-{place}: x\r\n")).collect();
    assert_eq!(code(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n{many}{close}")), "431");
    assert_eq!(code(&format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n{close}", "a".repeat(60_000))), "404");
    assert!(get(&web.seeds[0]).starts_with("HTTP/1.1 200"));
    web.stop();
}

#[test]
fn a_web_that_can_t_be_is_refused_with_the_reason() {
    let freshet = Freshet::new();
    let cases: [(&[&str], &str); 9] = [
        (&["--pages", "10000000"], "1000000"),
        (&["--static-share", "nan"], "static pages"),
        (&["--start", "nan"], "1970"),
        (&["--day", "10"], "`10`"),
        (&["--day", "0s"], "10ms"),
        (&["--hosts", "0"], "hosts"),
        (&["--pages", "0"], "pages"),
        (&["--etag-right", "0.8", "--etag-wrong", "0.3"], "ETags together"),
        (&["--start=-5"], "1970"),
    ];
    for (flags, said) in cases {
        let ran = freshet.run(&[&["web", "--port", "0"], flags].concat());
        assert_eq!(ran.code, Some(2), "{flags:?} {}", ran.output());
        assert!(ran.stderr.contains(said), "{flags:?} {}", ran.stderr);
    }
}

/// Contents of a recording, one byte a letter as old pages are, and nothing says so. They are called `aa`, `bb` and so on.
pub fn tape(freshet: &Freshet, contents: &[&str]) {
    let latin: Vec<Vec<u8>> =
        contents.iter().map(|text| text.chars().map(|letter| letter as u8).collect()).collect();
    freshet.write("tape/blobs.sqlite", "");
    let blobs = rusqlite::Connection::open(freshet.path("tape/blobs.sqlite")).expect("a database");
    let tables = "CREATE TABLE pack(id INTEGER PRIMARY KEY, raw_len INTEGER NOT NULL, zstd BLOB NOT NULL);
        CREATE TABLE blob(sha TEXT PRIMARY KEY, pack INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL)
            WITHOUT ROWID;";
    blobs.execute_batch(tables).expect("tables");
    let packed = zstd::encode_all(latin.concat().as_slice(), 1).expect("memory");
    blobs.execute("INSERT INTO pack VALUES (1, 0, ?1)", [packed]).expect("a pack");
    let mut offset = 0;
    for (letter, content) in ('a'..='z').zip(&latin) {
        let length = content.len() as i64;
        let name = [letter, letter].iter().collect::<String>();
        blobs.execute("INSERT INTO blob VALUES (?1, 1, ?2, ?3)", (name, offset, length)).expect("a blob");
        offset += length;
    }
}

/// A recording of one group of three pages: on the third day one changes, one is removed, and a text stays as it is.
pub fn recording(freshet: &Freshet) {
    let contents = [
        "<p>Old words.</p><a href=\"b.html\">b</a>",
        "<p>New words.</p>",
        "<p>caf\u{e9}</p>",
        "# Notes\n\n1 <b> 2, caf\u{e9} &amp; more",
    ];
    tape(freshet, &contents);
    let line = |path: &str, versions: Value| {
        let window = ["2020-01-01T00:00:00Z", "2020-02-01T00:00:00Z"];
        let media = if path.ends_with(".md") { "text/markdown" } else { "text/html" };
        json!({ "group": "old", "path": path, "media": media, "window": window, "versions": versions })
    };
    let a = line(
        "a page.html",
        json!([{ "t": "2019-12-01T00:00:00Z", "b": "aa" }, { "t": "2020-01-04T00:00:00Z", "b": "bb" }]),
    );
    let b = line(
        "b.html",
        json!([{ "t": "2019-12-01T00:00:00Z", "b": "cc" }, { "t": "2020-01-04T00:00:00Z", "b": null }]),
    );
    let notes = line("notes.md", json!([{ "t": "2019-12-01T00:00:00Z", "b": "dd" }]));
    freshet.write("tape/manifest.jsonl", format!("{a}\n{b}\n{notes}\n"));
}

/// The recording, put up as it is on a day of it.
#[track_caller]
pub fn played(freshet: &Freshet, day: f64, port: u16) -> Web {
    let (start, port) = ((now() - day * DAY_SECONDS).to_string(), port.to_string());
    Web::start(freshet, &["web", "--replay", "tape", "--day", DAY, "--start", &start, "--port", &port])
}

#[test]
fn a_recording_is_played_back_on_the_same_sockets() {
    let freshet = Freshet::new();
    recording(&freshet);
    let web = played(&freshet, 1.0, 0);
    let url = |path: &str| format!("{}{path}", web.seeds[0]);
    let (a, b, notes, front) = (url("a%20page.html"), url("b.html"), url("notes.md"), url(""));
    first(&freshet, &web);
    assert_eq!(alive(&rows(&freshet)), BTreeSet::from([front.clone(), a.clone(), b.clone(), notes.clone()]));
    let told = truth(&url(".truth/page?path=/b.html"));
    assert_eq!((&told["fate"], &told["text"]), (&json!("lives"), &json!("caf\u{e9}")));
    let told = truth(&url(".truth/text?path=/notes.md"));
    assert_eq!(told["text"], "# Notes\n1 <b> 2, caf\u{e9} &amp; more", "as a crawler reads it");
    let port = web.port();
    web.stop();

    let web = played(&freshet, 5.0, port);
    let summary = again(&freshet);
    let held = rows(&freshet);
    assert_eq!(held[&notes]["change_count"], 0);
    assert_eq!((&held[&a]["change_count"], &held[&b]["state"]), (&json!(1), &json!("missing")));
    assert_eq!(summary["changed"], 2, "and the list of pages: {summary}");
    web.stop();

    let ran = freshet.run(&["web", "--replay", "nowhere"]);
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    assert!(ran.stderr.contains("nowhere/manifest.jsonl"), "{}", ran.stderr);
    assert_eq!(freshet.run(&["web", "--replay", "tape", "--pages", "5"]).code, Some(2));
}

/// The dates of a list, in seconds since 1970, by the path that stands before each.
fn dates(list: &str, before: &str, after: &str) -> BTreeMap<String, f64> {
    let entries = list.split(before).skip(1).filter_map(|entry| {
        let (url, rest) = entry.split_once(['<', '"'])?;
        let (_, rest) = rest.split_once(after)?;
        let date: jiff::Timestamp = rest.split_once('<')?.0.parse().expect("a date");
        Some((split(url).1.to_owned(), date.as_millisecond() as f64 / 1000.0))
    });
    entries.collect()
}

#[test]
fn lists_tell_what_changed_as_late_and_as_well_as_asked_for() {
    let freshet = Freshet::new();
    let web = |signals: &str| {
        let flags = ["--hosts", "1", "--pages", "60", "--turnover", "0", "--signals", signals];
        Web::on_day(&freshet, 9.0, 0, &flags)
    };
    let sitemap = |web: &Web| dates(&get(&format!("{}sitemap.xml", web.seeds[0])), "<loc>", "<lastmod>");
    let truth_at = |web: &Web, days: f64| -> BTreeMap<String, f64> {
        let at = now() - days * DAY_SECONDS;
        let told = truth(&format!("{}.truth/site?at={at}", web.seeds[0]));
        let pages = told["pages"].as_array().expect("pages").iter();
        pages
            .map(|page| {
                (
                    page["path"].as_str().expect("a path").to_owned(),
                    page["last_change"].as_f64().expect("a time"),
                )
            })
            .collect()
    };
    let alike = |told: &BTreeMap<String, f64>, is: &BTreeMap<String, f64>| {
        assert_eq!(told.len(), 60);
        told.iter().filter(|(path, at)| (**at - is[*path].max(0.0)).abs() < 0.002).count()
    };
    for (signals, days) in [("1,1", 0.0), ("1,1,delay=2", 2.0)] {
        let web = web(signals);
        assert_eq!(alike(&sitemap(&web), &truth_at(&web, days)), 60, "{signals}");
        let feed = dates(&get(&format!("{}feed.atom", web.seeds[0])), "<link href=\"", "<updated>");
        let is = truth_at(&web, days);
        // The newest entry of a page comes first, and the last one is kept here.
        assert!(!feed.is_empty() && feed.iter().all(|(path, at)| *at <= is[path] + 0.002), "{feed:?}");
        assert!(get(&web.seeds[0]).contains("href=\"/feed.atom\""));
        web.stop();
    }
    let half = web("0.5,0.5");
    let right = alike(&sitemap(&half), &truth_at(&half, 0.0));
    // False dates come to static pages as often as to others, so after nine days most pages have had one.
    assert!((1..40).contains(&right), "{right}");
    half.stop();
    let lying = web("1,1,always");
    let told: BTreeSet<u64> = sitemap(&lying).values().map(|at| *at as u64).collect();
    assert!(told.iter().all(|at| now() - (*at as f64) < 30.0), "all dates are of now: {told:?}");
    lying.stop();

    let web = web("0.8,0.8,build");
    let (host, _) = split(&web.seeds[0]);
    let line = |headers: &str| {
        format!("GET /sitemap.xml HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n")
    };
    let answer = ask(host, &[line("")]);
    let header = |name: &str| {
        let found = answer.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        found.trim().to_owned()
    };
    let tag = line(&format!("If-None-Match: {}\r\n", header("etag:")));
    assert!(ask(host, &[tag]).starts_with("HTTP/1.1 304"));
    let date = line(&format!("If-Modified-Since: {}\r\n", header("last-modified:")));
    assert!(ask(host, &[date]).starts_with("HTTP/1.1 304"));
    web.stop();

    for (flags, said) in [
        (&["--signals", "0.8"][..], "--signals: `0.8` has no recall"),
        (&["--signals", "0.001,1"], "the sitemap's precision is `0.001`; it must be from 0.01 to 1"),
        (&["--signals", "1,1,delay=5000"], "the sitemap's delay is `5000`; it must be from 0 to 1000 days"),
        (&["--signals", "1,1", "--feed-recall", "1"], "cannot be used with"),
    ] {
        let ran = freshet.run(&[&["web", "--port", "0"], flags].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

#[test]
fn a_recording_can_tell_its_changes_late() {
    let freshet = Freshet::new();
    recording(&freshet);
    let told = |day: f64, signals: &[&str]| {
        let start = (now() - day * DAY_SECONDS).to_string();
        let place = ["web", "--replay", "tape", "--day", DAY, "--start", &start, "--port", "0"];
        let web = Web::start(&freshet, &[&place, signals].concat());
        let lists = ["sitemap.xml", "feed.atom"].map(|list| get(&format!("{}{list}", web.seeds[0])));
        web.stop();
        let day_of = |at: f64| ((at - (now() - day * DAY_SECONDS)) / DAY_SECONDS * 10.0).round() / 10.0;
        let days = dates(&lists[0], "<loc>", "<lastmod>").into_iter().map(|(path, at)| (path, day_of(at)));
        (days.collect::<BTreeMap<String, f64>>(), lists[1].clone())
    };
    let (plain, none) = told(5.0, &[]);
    assert!(none.starts_with("HTTP/1.1 404"), "{none}");
    let (prompt, feed) = told(5.0, &["--signals", "1,1"]);
    assert!(feed.contains("<updated>"), "{feed}");
    assert_eq!(prompt.keys().collect::<Vec<_>>(), plain.keys().collect::<Vec<_>>());
    let changed: Vec<&String> = prompt.iter().filter(|(_, day)| **day > 0.0).map(|(path, _)| path).collect();
    assert!(!changed.is_empty(), "{prompt:?}");
    let (late, _) = told(5.0, &["--signals", "1,1,delay=50"]);
    assert!(late.values().all(|day| *day <= 0.0), "not known yet: {late:?}");
    let (always, _) = told(5.0, &["--signals", "1,1,always"]);
    assert!(always.values().all(|day| *day == 5.0), "{always:?}");
}
