//! The support itself is tested here, with a client of a few lines on a bare socket, so that no HTTP
//! library's manners come between a test and what the site does. Logs are written by hand where only their
//! arithmetic matters.

// A test that fails says so by panicking.
#![allow(unreachable_pub, reason = "a test binary has no callers: `pub` says what its files share")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

mod support;

use proptest::prelude::*;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use support::{Freshet, Hit, Log, Ran, Reply, Running, Site, article, is_withheld, links_page};

const PATIENCE: Duration = Duration::from_secs(20);

/// A client that does as it is told, on one connection.
struct Client {
    stream: BufReader<TcpStream>,
}

#[derive(Debug)]
struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Client {
    fn to(site: &Site, host: usize) -> Client {
        let stream = TcpStream::connect(site.origin(host).trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { stream: BufReader::new(stream) }
    }

    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.send_bytes(format!("{method} {path} HTTP/1.1\r\nHost: site\r\n{headers}\r\n").as_bytes());
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    fn receive(&mut self, has_body: bool) -> io::Result<Response> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_string()),
            }
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let split = |line: &String| {
            line.split_once(": ").map(|(name, value)| (name.to_string(), value.to_string())).unwrap()
        };
        let mut response =
            Response { status, headers: lines[1..].iter().map(split).collect(), body: Vec::new() };
        if has_body {
            let length = response.header("Content-Length").map_or(0, |length| length.parse().unwrap());
            response.body = vec![0; length];
            self.stream.read_exact(&mut response.body)?;
        }
        Ok(response)
    }

    fn get_with(&mut self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send("GET", path, headers);
        self.receive(true).unwrap()
    }

    fn get(&mut self, path: &str) -> Response {
        self.get_with(path, &[])
    }

    fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).unwrap();
        bytes
    }
}

fn get(site: &Site, path: &str) -> Response {
    Client::to(site, 0).get(path)
}

/// Waits for something that other threads bring about.
#[track_caller]
fn eventually(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "it never came about");
        thread::sleep(Duration::from_millis(5));
    }
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

// ---- what a path answers

#[test]
fn a_scripted_page_is_served_and_any_other_is_not_found() {
    let site = Site::start();
    site.page("/", "<p>hello</p>");
    let page = get(&site, "/");
    assert_eq!((page.status, page.text().as_str()), (200, "<p>hello</p>"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(get(&site, "/robots.txt").status, 404);
    site.page("/", String::from("changed"));
    assert_eq!(get(&site, "/").text(), "changed");
    site.remove("/");
    assert_eq!(get(&site, "/").status, 404);
    site.otherwise(|request| Reply::text(format!("{} {}", request.path, request.count)));
    assert_eq!(get(&site, "/").text(), "/ 4");
    assert!(site.url("/a").starts_with("http://127.0.0.1:") && site.url("/a").ends_with("/a"));
}

#[test]
fn a_query_has_a_page_of_its_own_or_that_of_its_path() {
    let site = Site::start();
    site.page("/list", "any");
    site.page("/list?page=2", "second");
    let mut client = Client::to(&site, 0);
    assert_eq!(client.get("/list").text(), "any");
    assert_eq!(client.get("/list?page=2").text(), "second");
    assert_eq!(client.get("/list?page=3").text(), "any");
}

#[test]
fn a_sequence_goes_on_with_each_request_and_its_last_repeats() {
    let site = Site::with_hosts(2);
    site.page("/", Reply::sequence(vec!["one".into(), Reply::status(503, "two"), "three".into()]));
    let mut client = Client::to(&site, 0);
    let texts: Vec<String> = (0..4).map(|_| client.get("/").text()).collect();
    assert_eq!(texts, ["one", "two", "three", "three"]);
    assert_eq!(Client::to(&site, 1).get("/").text(), "one", "each host has its own turns");
    site.page("/", Reply::sequence(vec!["anew".into(), "again".into()]));
    assert_eq!(client.get("/").text(), "anew", "a page scripted anew starts anew");
    site.clear_log();
    assert_eq!(client.get("/").text(), "again", "a cleared log leaves turns alone");
    assert_eq!(site.log().total(), 1);
}

#[test]
fn a_closure_sees_the_request_and_builders_hold_for_what_it_answers() {
    let site = Site::start();
    let reply = Reply::dynamic(|request| {
        Reply::text(format!(
            "{} {} {}",
            request.method,
            request.header("x-NAME").unwrap_or("none"),
            request.count
        ))
    });
    site.page("/", reply.header("X-Outer", "yes").etag("\"e\""));
    let mut client = Client::to(&site, 0);
    let first = client.get_with("/", &[("X-Name", "Ada")]);
    assert_eq!((first.text().as_str(), first.header("x-outer")), ("GET Ada 1", Some("yes")));
    assert_eq!(client.get("/").text(), "GET none 2");
    assert_eq!(client.get_with("/", &[("If-None-Match", "\"e\"")]).status, 304);
}

#[test]
fn an_etag_or_a_date_that_still_holds_is_answered_304() {
    let site = Site::start();
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    site.page("/", Reply::html("body").etag("\"v1\"").last_modified(date));
    let mut client = Client::to(&site, 0);
    let full = client.get("/");
    assert_eq!((full.header("etag"), full.header("last-modified")), (Some("\"v1\""), Some(date)));
    for (headers, status) in [
        (vec![("If-None-Match", "\"v1\"")], 304),
        (vec![("if-none-match", "\"v0\", W/\"v1\"")], 304),
        (vec![("If-None-Match", "\"v0\"")], 200),
        (vec![("If-Modified-Since", date)], 304),
        (vec![("If-Modified-Since", "Sun, 06 Nov 1994 08:49:38 GMT")], 200),
        (vec![("If-None-Match", "\"v0\""), ("If-Modified-Since", date)], 200),
    ] {
        let response = client.get_with("/", &headers);
        assert_eq!(response.status, status, "{headers:?}");
        assert_eq!(response.header("etag"), Some("\"v1\""));
        assert_eq!(response.body.is_empty(), status == 304);
    }
    site.page("/", Reply::html("new body").etag("\"v2\""));
    assert_eq!(client.get_with("/", &[("If-None-Match", "\"v1\"")]).text(), "new body");
    let statuses: Vec<u16> = site.log().hits().iter().map(|hit| hit.status).collect();
    assert_eq!(statuses, [200, 304, 304, 200, 304, 200, 200, 200]);
}

#[test]
fn a_redirect_says_where_and_headers_of_ones_own_win() {
    let site = Site::start();
    site.page("/old", Reply::redirect(301, "/new"));
    site.page("/csv", Reply::html("a,b").header("content-type", "text/csv").header("Retry-After", "7"));
    let mut client = Client::to(&site, 0);
    let moved = client.get("/old");
    assert_eq!((moved.status, moved.header("location")), (301, Some("/new")));
    let table = client.get("/csv");
    let types: Vec<_> =
        table.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type")).collect();
    assert_eq!(types, [&("content-type".to_string(), "text/csv".to_string())]);
    assert_eq!(table.header("retry-after"), Some("7"));
}

#[test]
fn a_gzip_body_unpacks_to_what_was_scripted() {
    let site = Site::start();
    let text = "freshet ".repeat(1000);
    site.page("/", Reply::text(text.clone()).gzip());
    let packed = get(&site, "/");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < 500, "{} bytes", packed.body.len());
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, text);
}

#[test]
fn a_body_larger_than_any_buffer_arrives_whole() {
    let site = Site::start();
    let body: Vec<u8> = (0..8_000_000_u32).map(|byte| (byte % 251) as u8).collect();
    site.page("/", Reply::bytes("application/octet-stream", body.clone()));
    assert!(get(&site, "/").body == body);
}

#[test]
fn raw_bytes_go_out_as_they_are_and_the_connection_closes() {
    let site = Site::start();
    site.page("/", Reply::raw("HTTP/1.1 299 Odd\r\nBroken\r\n\r\nbytes"));
    site.page("/nothing", Reply::raw(""));
    let mut client = Client::to(&site, 0);
    client.send("GET", "/", &[]);
    assert_eq!(client.rest(), b"HTTP/1.1 299 Odd\r\nBroken\r\n\r\nbytes");
    let mut client = Client::to(&site, 0);
    client.send("GET", "/nothing", &[]);
    assert_eq!(client.rest(), b"");
    let log = site.log();
    assert_eq!((log.hits()[0].status, log.hits()[1].status), (299, 0));
}

#[test]
fn a_truncated_body_ends_before_its_length() {
    let site = Site::start();
    site.page("/", Reply::text("0123456789").truncate(4));
    let mut client = Client::to(&site, 0);
    client.send("GET", "/", &[]);
    let head = client.receive(false).unwrap();
    assert_eq!(head.header("content-length"), Some("10"));
    assert_eq!(client.rest(), b"0123");
}

#[test]
fn a_reset_is_a_reset_and_not_an_end() {
    let site = Site::start();
    site.page("/", Reply::reset());
    let mut client = Client::to(&site, 0);
    client.send("GET", "/", &[]);
    assert_eq!(client.receive(true).unwrap_err().kind(), ErrorKind::ConnectionReset);
    // The same when the head comes in two parts, the first of which has been read.
    let mut client = Client::to(&site, 0);
    client.send_bytes(b"GET / HTTP/1.1\r\nHost:");
    thread::sleep(millis(50));
    client.send_bytes(b" site\r\n\r\n");
    assert_eq!(client.receive(true).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let log = site.log();
    assert_eq!((log.total(), log.hits()[0].status), (2, 0));
    assert!(log.hits()[0].end.is_finite());
}

#[test]
fn a_dripping_body_comes_piece_by_piece() {
    let site = Site::start();
    site.page("/", Reply::text("0123456789").drip(2, millis(100)));
    let begun = Instant::now();
    assert_eq!(get(&site, "/").text(), "0123456789");
    // Five pieces, four pauses.
    assert!(begun.elapsed() >= millis(300), "{:?}", begun.elapsed());
    let log = site.log();
    assert!(log.hits()[0].end - log.hits()[0].start >= 0.3);
}

#[test]
fn a_delay_comes_before_the_head() {
    let site = Site::start();
    site.page("/", Reply::text("late").delay(millis(300)));
    let begun = Instant::now();
    assert_eq!(get(&site, "/").text(), "late");
    assert!(begun.elapsed() >= millis(200), "{:?}", begun.elapsed());
}

// ---- connections

#[test]
fn one_connection_carries_several_requests_and_head_has_no_body() {
    let site = Site::start();
    site.page("/a", "first");
    site.page("/b", "second");
    site.page("/gone", Reply::status(204, "never sent"));
    let mut client = Client::to(&site, 0);
    assert_eq!(client.get("/a").text(), "first");
    client.send("HEAD", "/a", &[]);
    assert_eq!(client.receive(false).unwrap().header("content-length"), Some("5"));
    assert_eq!(client.get("/gone").status, 204);
    client.send_bytes(b"POST /b HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody");
    assert_eq!(client.receive(true).unwrap().text(), "second");
    let last = client.get_with("/b", &[("Connection", "close")]);
    assert_eq!((last.text().as_str(), last.header("connection")), ("second", Some("close")));
    assert_eq!(client.rest(), b"");
    assert_eq!(get(&site, "/a").text(), "first");
    let connections: Vec<u64> = site.log().hits().iter().map(|hit| hit.connection).collect();
    assert_eq!(connections, [1, 1, 1, 1, 1, 2]);
    assert_eq!(site.log().max_concurrent(0), 1);
}

#[test]
fn paths_and_headers_are_logged_as_they_were_sent() {
    let site = Site::start();
    let path = "/a%20b/%C3%A9/../x%2fy?q=%41&r=+";
    site.page(path, "as sent");
    let mut client = Client::to(&site, 0);
    assert_eq!(client.get_with(path, &[("User-AGENT", "freshet/1.0")]).text(), "as sent");
    let log = site.log();
    assert_eq!(log.paths(), [path]);
    assert_eq!(log.hits()[0].header("user-agent"), Some("freshet/1.0"));
    assert!(log.hits()[0].headers.contains(&("User-AGENT".to_string(), "freshet/1.0".to_string())));
}

#[test]
fn what_is_not_a_request_is_refused_and_logged() {
    let site = Site::start();
    for (bytes, status) in [
        ("hello\r\n\r\n".to_string(), 400),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_string(), 400),
        (format!("GET /{} HTTP/1.1\r\n", "x".repeat(70_000)), 431),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_string(), 411),
    ] {
        let mut client = Client::to(&site, 0);
        client.send_bytes(bytes.as_bytes());
        assert_eq!(client.receive(true).unwrap().status, status);
        assert_eq!(site.log().hits().last().map(|hit| hit.status), Some(status));
    }
}

#[test]
fn many_clients_are_served_at_once_and_each_hit_is_logged() {
    let site = Site::with_hosts(2);
    site.otherwise(|request| Reply::text(request.path.clone()));
    thread::scope(|scope| {
        for worker in 0..24 {
            let site = &site;
            scope.spawn(move || {
                let mut client = Client::to(site, worker % 2);
                for turn in 0..25 {
                    let path = format!("/{worker}/{turn}");
                    assert_eq!(client.get(&path).text(), path);
                }
            });
        }
    });
    let log = site.log();
    assert_eq!((log.total(), log.on(0).total(), log.on(1).total()), (600, 300, 300));
    assert!(log.hits().iter().all(|hit| hit.status == 200 && hit.start <= hit.end && hit.end.is_finite()));
}

#[test]
fn hosts_have_addresses_or_ports_of_their_own_and_pages_too() {
    for site in [Site::with_hosts(3), Site::with_ports(3)] {
        site.page("/", "everywhere");
        site.page_on(2, "/", "only here");
        let texts: Vec<String> = (0..3).map(|host| Client::to(&site, host).get("/").text()).collect();
        assert_eq!(texts, ["everywhere", "everywhere", "only here"]);
        assert_ne!(site.origin(0), site.origin(1));
        let hosts: Vec<usize> = site.log().hits().iter().map(|hit| hit.host).collect();
        assert_eq!(hosts, [0, 1, 2]);
    }
    assert!(Site::with_hosts(3).url_on(2, "/x").starts_with("http://127.0.0.3:"));
}

// ---- ends

#[test]
fn a_client_that_hangs_up_ends_its_hit() {
    let site = Site::start();
    site.page("/silent", Reply::silent());
    site.page("/late", Reply::text("late").delay(Duration::from_secs(3600)));
    site.page("/drip", Reply::text("drip").drip(1, Duration::from_secs(3600)));
    for (path, status) in [("/silent", 0), ("/late", 0), ("/drip", 200)] {
        let mut client = Client::to(&site, 0);
        client.send("GET", path, &[]);
        eventually(|| site.log().asked(path));
        assert_eq!(site.log().first(path).map(|hit| hit.end), Some(f64::INFINITY));
        // The drip has sent its first piece by now, or is about to.
        if status == 200 {
            client.receive(false).unwrap();
        }
        drop(client);
        eventually(|| site.log().first(path).is_some_and(|hit| hit.end.is_finite()));
        assert_eq!(site.log().first(path).map(|hit| hit.status), Some(status));
    }
    site.log().assert_spaced(0, 0.0);
}

#[test]
fn a_dropped_site_leaves_no_one_waiting() {
    let site = Site::with_hosts(2);
    site.page("/silent", Reply::silent());
    site.page("/late", Reply::text("late").delay(Duration::from_secs(3600)));
    site.page("/reset", Reply::reset().delay(Duration::from_secs(3600)));
    site.page("/drip", Reply::text("drip").drip(1, Duration::from_secs(3600)));
    site.page("/large", Reply::bytes("application/octet-stream", vec![0; 30_000_000]));
    let paths = ["/silent", "/late", "/reset", "/drip", "/large", "/silent"];
    let clients = paths.map(|path| {
        let mut client = Client::to(&site, 0);
        client.send("GET", path, &[]);
        client
    });
    let idle = Client::to(&site, 1);
    eventually(|| site.log().total() == paths.len());
    // The answers take an hour: if this comes back, they were not waited for.
    drop(site);
    for mut client in clients.into_iter().chain([idle]) {
        let mut bytes = Vec::new();
        if let Err(error) = client.stream.read_to_end(&mut bytes) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert!(!bytes.ends_with(b"late"));
    }
}

#[test]
fn a_closure_that_panics_fails_the_test() {
    let site = Site::start();
    site.page("/", Reply::dynamic(|_| panic!("this panic is part of the test")));
    let mut client = Client::to(&site, 0);
    client.send("GET", "/", &[]);
    assert!(client.receive(true).is_err());
    eventually(|| site.log().hits().iter().all(|hit| hit.end.is_finite()));
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(site)));
    let message = *dropped.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.contains("has panicked"), "{message}");
}

// ---- the log as a witness

#[test]
fn two_requests_at_once_are_seen_to_overlap() {
    let site = Site::with_hosts(2);
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    site.page(
        "/slow",
        Reply::dynamic(move |_| {
            released.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            Reply::text("slow")
        }),
    );
    let (mut one, mut other) = (Client::to(&site, 0), Client::to(&site, 0));
    one.send("GET", "/slow", &[]);
    eventually(|| site.log().total() == 1);
    assert_eq!(other.get("/quick").status, 404);
    assert_eq!(Client::to(&site, 1).get("/elsewhere").status, 404);
    release.send(()).unwrap();
    assert_eq!(one.receive(true).unwrap().text(), "slow");
    let log = site.log();
    assert_eq!(log.paths(), ["/slow", "/quick", "/elsewhere"]);
    assert_eq!((log.max_concurrent(0), log.max_concurrent(1), log.max_concurrent_of_all()), (2, 1, 2));
    assert!(log.min_gap(0).unwrap() < 0.0);
    assert!(log.impoliteness(0, 0.0, false).unwrap().contains("before an earlier one ended"));
    assert_eq!(log.impoliteness(1, 0.0, false), None);
}

#[test]
fn requests_sent_ahead_on_one_connection_overlap() {
    for delay in [Duration::ZERO, millis(100)] {
        let site = Site::start();
        site.page("/", Reply::text("first").delay(delay));
        let mut client = Client::to(&site, 0);
        client.send_bytes(b"GET / HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n");
        assert_eq!(client.receive(true).unwrap().text(), "first");
        assert_eq!(client.receive(true).unwrap().status, 404);
        assert_eq!(site.log().paths(), ["/", "/next"]);
        assert_eq!(site.log().max_concurrent(0), 2);
    }
}

#[test]
fn a_client_that_waits_for_each_answer_is_never_accused() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text(""));
    site.page("/", article("home", 2000, 1, &[]));
    let (mut one, mut other) = (Client::to(&site, 0), Client::to(&site, 0));
    one.get("/robots.txt");
    for _ in 0..200 {
        // No sleep between them: the tightest that a client can be without asking for two at once.
        assert_eq!(one.get("/").status, 200);
        assert_eq!(other.get("/").status, 200);
    }
    let log = site.log();
    assert_eq!((log.count("/"), log.max_concurrent(0)), (400, 1));
    log.assert_polite(0, 0.0);
}

fn hit(start: f64, end: f64, path: &str) -> Hit {
    Hit {
        start,
        end,
        host: 0,
        connection: 1,
        method: "GET".to_string(),
        path: path.to_string(),
        status: 200,
        headers: Vec::new(),
    }
}

#[test]
fn a_log_counts_what_was_asked() {
    let log = Log::of(vec![hit(2.0, 2.5, "/a"), hit(0.0, 0.5, "/robots.txt"), hit(4.0, 4.5, "/a")]);
    assert_eq!(log.paths(), ["/robots.txt", "/a", "/a"]);
    assert_eq!((log.total(), log.count("/a"), log.asked("/a"), log.asked("/b")), (3, 2, true, false));
    assert_eq!(log.first("/a").map(|hit| hit.start), Some(2.0));
    assert_eq!(log.gaps(0), [1.5, 1.5]);
    assert_eq!(log.min_gap(0), Some(1.5));
    assert_eq!((log.min_gap(1), log.gaps(1), log.max_concurrent(1)), (None, Vec::new(), 0));
}

#[test]
fn gaps_are_counted_from_when_the_host_was_last_busy() {
    let log = Log::of(vec![hit(0.0, 10.0, "/long"), hit(1.0, 2.0, "/a"), hit(3.0, 4.0, "/b")]);
    assert_eq!(log.gaps(0), [-9.0, -7.0]);
    assert_eq!(log.max_concurrent(0), 2);
    let touching = Log::of(vec![hit(0.0, 1.0, "/a"), hit(1.0, 1.0, "/b"), hit(1.0, 2.0, "/c")]);
    assert_eq!(touching.max_concurrent(0), 1);
}

#[test]
fn politeness_allows_five_milliseconds_and_no_more() {
    let after = |gap: f64| Log::of(vec![hit(0.0, 1.0, "/robots.txt"), hit(1.0 + gap, 3.0, "/")]);
    after(0.996).assert_polite(0, 1.0);
    after(1.2).assert_polite(0, 1.0);
    Log::default().assert_polite(0, 1.0);
    let account = after(0.99).impoliteness(0, 1.0, true).unwrap();
    assert!(
        account.starts_with("host 0 was not treated politely: 1 of its 2 requests at fault"),
        "{account}"
    );
    assert!(account.contains("GET /robots.txt\n"), "{account}");
    assert!(account.contains("GET /  <-- began only 0.9900 s after the previous end\n"), "{account}");
}

#[test]
fn politeness_wants_robots_first_and_one_request_at_a_time() {
    let no_robots = Log::of(vec![hit(0.0, 1.0, "/")]);
    no_robots.assert_spaced(0, 1.0);
    let refused = catch_unwind(|| no_robots.assert_polite(0, 1.0)).unwrap_err();
    assert!(refused.downcast::<String>().unwrap().contains("the first request is not for `/robots.txt`"));
    let overlap = Log::of(vec![hit(0.0, 1.0, "/robots.txt"), hit(0.9, 2.0, "/")]);
    assert!(
        overlap.impoliteness(0, 0.0, true).unwrap().contains("began 0.1000 s before an earlier one ended")
    );
    let open = Log::of(vec![hit(0.0, f64::INFINITY, "/robots.txt"), hit(9.0, 10.0, "/")]);
    let account = open.impoliteness(0, 0.0, true).unwrap();
    assert!(account.contains("began while an earlier one never ended") && account.contains("in flight"));
}

proptest! {
    #[test]
    fn the_most_at_once_is_the_most_that_hold_any_start(
        spans in prop::collection::vec((0_u8..40, 0_u8..12), 0..30),
    ) {
        let span = |(start, length)| (f64::from(start), f64::from(start) + f64::from(length) + 0.5);
        let spans: Vec<(f64, f64)> = spans.into_iter().map(span).collect();
        let log = Log::of(spans.iter().map(|(start, end)| hit(*start, *end, "/")).collect());
        let holding = |time: f64| spans.iter().filter(|(start, end)| *start <= time && time < *end).count();
        let most = spans.iter().map(|(start, _)| holding(*start)).max().unwrap_or(0);
        prop_assert_eq!(log.max_concurrent(0), most);
    }

    #[test]
    fn requests_that_keep_the_delay_are_polite(
        delay in 0.0..5.0, steps in prop::collection::vec((0.0..3.0, 0.0..3.0), 0..20),
    ) {
        let mut now = 0.0;
        let mut hits = vec![hit(0.0, 0.0, "/robots.txt")];
        for (spare, length) in steps {
            now += delay + spare;
            hits.push(hit(now, now + length, "/"));
            now += length;
        }
        let log = Log::of(hits);
        prop_assert_eq!(log.impoliteness(0, delay, true), None);
        prop_assert_eq!(log.max_concurrent(0), 1);
    }

    #[test]
    fn an_article_has_just_the_words_asked_for(words in 0_usize..400, seed: u64) {
        let page = article("t", words, seed, &["/a"]);
        let paragraphs = page.lines().filter_map(|line| line.strip_prefix("<p>"));
        let text: String = paragraphs.map(|line| line.replace("</p>", " ")).collect();
        prop_assert_eq!(text.split_whitespace().count(), words);
        prop_assert_eq!(&page, &article("t", words, seed, &["/a"]));
        prop_assert!(words < 20 || page != article("t", words, seed ^ 1, &["/a"]));
    }
}

// ---- pages, and the binary

#[test]
fn a_page_of_links_is_small_and_escaped() {
    let page = links_page("Q&A", &["/a?b=1&c=\"2\"", "/d"]);
    assert!(page.contains("<title>Q&amp;A</title>"));
    assert!(page.contains("<a href=\"/a?b=1&amp;c=&quot;2&quot;\">"));
    assert!(page.contains("<a href=\"/d\">/d</a>"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
}

#[test]
fn the_binary_runs_in_a_folder_of_its_own() {
    let freshet = Freshet::new();
    let ran = freshet.run(&["--version"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stdout.starts_with("freshet"), "{}", ran.output());
    assert_eq!(freshet.seeds(&["http://a/", "http://b/"]), "seeds.txt");
    assert_eq!(std::fs::read_to_string(freshet.path("seeds.txt")).unwrap(), "http://a/\nhttp://b/\n");
    assert!(freshet.write("deep/down/file", "x").ends_with("deep/down/file"));
    assert_eq!(freshet.command().get_current_dir(), Some(freshet.path("").as_path()));
    let folder = freshet.path("");
    drop(freshet);
    assert!(!folder.exists());
}

#[test]
fn settings_of_the_tester_are_withheld() {
    for name in ["FRESHET_DELAY", "RUST_LOG", "http_proxy", "HTTPS_PROXY", "NO_PROXY"] {
        assert!(is_withheld(name.as_ref()), "{name}");
    }
    for name in ["PATH", "HOME", "MY_FRESHET_DELAY", "RUST_BACKTRACE"] {
        assert!(!is_withheld(name.as_ref()), "{name}");
    }
}

#[test]
fn json_is_read_from_a_command_that_succeeds() {
    let ran =
        |code, stdout: &str| Ran { code: Some(code), stdout: stdout.to_string(), stderr: "why".to_string() };
    assert_eq!(ran(0, "{\"pages\": 3}\n").json()["pages"], 3);
    for (code, stdout, expected) in [(1, "{}", "the command failed"), (0, "3 pages", "stdout is not JSON")] {
        let message = *catch_unwind(|| ran(code, stdout).json()).unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains(expected) && message.contains("--- stderr\nwhy"), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_command_that_hangs_is_killed_with_its_output_shown() {
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Running::start(command)
    };
    let ran = shell("echo out; echo err >&2; exit 3").wait(PATIENCE);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(3), "out\n", "err\n"));
    // More than a pipe holds: it would hang if no one read along.
    assert_eq!(shell("head -c 300000 /dev/zero; exec sleep 0").wait(PATIENCE).stdout.len(), 300_000);

    let hanging = shell("echo begun; exec sleep 600");
    eventually(|| hanging.stdout() == "begun\n");
    let outcome = catch_unwind(AssertUnwindSafe(|| hanging.wait(millis(200))));
    let message = *outcome.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("still running after 200ms") && message.contains("begun\n"), "{message}");

    let mut running = shell("echo begun; exec sleep 600");
    eventually(|| running.stdout() == "begun\n");
    assert!(running.is_running());
    let killed = running.kill();
    assert_eq!((killed.code, killed.stdout.as_str()), (None, "begun\n"));
}
