//! Why a page was not fetched: told apart, and told in every view with its host and its URL.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::tls_server::{Authority, Fault, serve};
use crate::support::{FAST, Freshet, Ran, Reply, Running, Site, links_page};

const LIMIT: Duration = Duration::from_secs(60);

/// Short limits on time, so that a server that says nothing is soon given up.
const HASTY: &str = "[crawl]\nback_off = 0.2\n[limits]\nconnect_seconds = 2\nidle_seconds = 1\n";

/// A folder whose commands trust this authority, and no other.
struct Trusting {
    freshet: Freshet,
}

impl Trusting {
    fn new(authority: &Authority) -> Self {
        let freshet = Freshet::new();
        freshet.write("roots.pem", &authority.pem);
        freshet.write("freshet.toml", HASTY);
        Self { freshet }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.freshet.command();
        command
            .args(arguments)
            .env("SSL_CERT_FILE", self.freshet.path("roots.pem"))
            .env_remove("SSL_CERT_DIR");
        Running::start(command).wait(LIMIT)
    }

    /// What a command prints as JSON, whatever its exit code.
    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ran.output()))
    }

    fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(&[arguments, &["--json"]].concat());
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

/// An address that no server listens at.
fn vacant() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

/// A server that takes whatever comes for a bad request, as servers do that speak plain HTTP only.
fn plain_http() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    address
}

#[test]
fn each_fault_of_a_certificate_is_told() {
    let authority = Authority::new("freshet's stories");
    let user = Trusting::new(&authority);
    let check = |fault| {
        let url = format!("https://{}/", serve(fault, &authority));
        user.run(&[&["check", &url, "--json"], &FAST[..]].concat())
    };
    let good = check(Fault::None).json();
    assert_eq!((&good["outcome"], &good["reason"]), (&json!("fetched"), &Value::Null), "{good:#}");
    for (fault, said) in [
        (Fault::Expired, "TLS: the certificate expired on 2021-01-01T00:00:00Z"),
        (Fault::NotYetValid, "TLS: the certificate is not valid before 2090-01-01T00:00:00Z"),
        (Fault::WrongName, "TLS: the certificate is for `other.example`, not for `127.0.0.1`"),
        (Fault::UnknownIssuer, "TLS: the issuer of the certificate is unknown"),
        (Fault::SelfSigned, "TLS: the certificate is self-signed"),
        (Fault::SelfSignedAuthority, "TLS: the certificate is self-signed"),
    ] {
        let ran = check(fault);
        assert_eq!(ran.code, Some(1), "{fault:?}: {}", ran.output());
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let reason = told["reason"].as_str().expect("a reason");
        assert!(reason.starts_with("`https://127.0.0.1:") && reason.ends_with(said), "{fault:?}: {reason}");
        assert_eq!(told["hops"][0]["reason"], said, "{fault:?}");
        assert!(ran.stderr.contains(said), "{fault:?}: {}", ran.output());
        assert!(!ran.stderr.contains("failed to verify"), "a line without a host: {}", ran.output());
    }
}

#[test]
fn hosts_that_can_not_be_visited_are_told_apart_in_every_view() {
    let authority = Authority::new("freshet's stories");
    let user = Trusting::new(&authority);
    let site = Site::with_ports(4);
    site.page_on(0, "/robots.txt", Reply::reset());
    site.page_on(1, "/robots.txt", Reply::silent());
    site.page_on(2, "/robots.txt", Reply::status(500, "broken"));
    let plain = format!("https://{}", plain_http());
    let silent = site.origin(3).replace("http://", "https://");
    let expired = format!("https://{}", serve(Fault::Expired, &authority));
    let hosts = [
        (vacant(), "unreachable", "connection refused"),
        ("http://does-not-exist.invalid".to_owned(), "unreachable", "DNS lookup failed"),
        (expired, "unreachable", "TLS: the certificate expired on 2021-01-01T00:00:00Z"),
        (plain, "unreachable", "the server does not speak TLS"),
        (silent, "unreachable", "connection timed out"),
        (site.origin(0), "robots-unavailable", "connection reset before an answer came"),
        (site.origin(1), "robots-unavailable", "timed out: connected, but no answer came in time"),
        (
            site.origin(2),
            "robots-unavailable",
            "robots.txt could not be fetched (HTTP 500 Internal Server Error); nothing on this host may be crawled until it can",
        ),
    ];
    let seeds: Vec<String> = hosts.iter().map(|(origin, ..)| format!("{origin}/")).collect();
    user.freshet.seeds(&seeds);
    let crawled = user.run(&[&["crawl", "--seeds", "seeds.txt", "-v"], &FAST[..]].concat());
    assert_eq!(crawled.code, Some(1), "{}", crawled.output());
    assert!(crawled.stderr.contains("says why each host waits"), "{}", crawled.output());
    assert!(!crawled.stderr.contains("failed to verify"), "a line without a host: {}", crawled.output());

    let status = user.json(&["status"]);
    let text = user.run(&["status"]).stdout;
    let pages = user.json_lines(&["pages"]);
    for (origin, waits_for, said) in &hosts {
        let told = status["hosts"].as_array().and_then(|all| all.iter().find(|host| host["host"] == *origin));
        let told = told.unwrap_or_else(|| panic!("{origin}: {status:#}"));
        let has = |value: &Value| value.as_str().is_some_and(|reason| reason.contains(said));
        assert!(told["waiting_for"] == *waits_for && has(&told["reason"]), "{said}: {told:#}");
        assert!(text.lines().any(|line| line.contains(origin) && line.contains(said)), "{said}: {text}");
        let logged = crawled.stderr.lines().find(|line| line.contains("host rests") && line.contains(origin));
        let short =
            said.split(" (").next().unwrap_or(said).replace("robots.txt could not be fetched", "HTTP 500");
        assert!(logged.is_some_and(|line| line.contains(&short)), "{said}: {}", crawled.stderr);

        let url = format!("{origin}/");
        let page = pages.iter().find(|page| page["url"] == url).unwrap_or_else(|| panic!("{url}"));
        assert!(page["outcome"].is_null() && has(&page["reason"]), "{page:#}");
        let why = user.json(&["why", &url]);
        assert!(has(&why["host_reason"]) && has(&why["reason"]), "{why:#}");
        let sentences = user.run(&["why", &url]).stdout;
        assert!(sentences.contains(said), "{sentences}");
        let history = user.run(&["history", &url]).stdout;
        assert!(history.contains("it has not been visited yet: ") && history.contains(said), "{history}");
    }
    let broken =
        status["hosts"].as_array().and_then(|all| all.iter().find(|host| host["host"] == site.origin(2)));
    assert_eq!(broken.map(|host| &host["robots_status"]), Some(&json!(500)), "{status:#}");
}

#[test]
fn a_visit_that_failed_is_told_with_its_status_its_reason_and_where_it_led() {
    let site = Site::with_ports(2);
    let (site_url, away) = (site.url("/"), site.url_on(1, "/away"));
    let paths = ["/missing", "/reset", "/out", "/garbage", "/moved"];
    site.page("/", links_page("home", &paths).as_str());
    site.page("/missing", Reply::status(404, "no"));
    site.page("/reset", Reply::reset());
    site.page("/out", Reply::redirect(302, away.clone()));
    site.page("/garbage", Reply::raw("this is not HTTP\r\n\r\n"));
    site.page("/moved", Reply::redirect(301, "/new"));
    site.page("/new", "here");
    let freshet = Freshet::new();
    freshet.seeds(&[&site_url]);
    let crawled = freshet.run(&[&["crawl", "--seeds", "seeds.txt", "-v"], &FAST[..]].concat());
    assert_eq!(crawled.code, Some(0), "{}", crawled.output());
    let table = freshet.run(&["pages"]).stdout;
    let csv = freshet.run(&["pages", "--format", "csv"]).stdout;
    assert!(
        csv.lines().next().is_some_and(|heads| heads.contains("outcome,status,redirect_to,reason")),
        "{csv}"
    );
    for (path, outcome, status, said, led_to) in [
        ("/missing", "missing", json!(404), "HTTP 404 Not Found", None),
        ("/reset", "hung-up", Value::Null, "connection reset before an answer came", None),
        ("/out", "redirect-out-of-scope", json!(302), "it redirects out of the scope", Some(&away)),
        ("/garbage", "malformed", Value::Null, "the answer is not valid HTTP: ", None),
    ] {
        let url = site.url(path);
        let history = freshet.json(&["history", &url, "--json"]);
        let visit = &history["visits"][0];
        assert_eq!((&visit["outcome"], &visit["status"]), (&json!(outcome), &status), "{visit:#}");
        assert!(visit["reason"].as_str().is_some_and(|reason| reason.starts_with(said)), "{visit:#}");
        assert_eq!(visit["redirect_to"].as_str(), led_to.map(String::as_str), "{visit:#}");
        let shown = freshet.run(&["history", &url]).stdout;
        assert!(shown.contains(said) && shown.contains("HTTP"), "{shown}");
        for list in [&table, &csv] {
            let line =
                list.lines().find(|line| line.contains(&url)).unwrap_or_else(|| panic!("{url}: {list}"));
            assert!(line.contains(said) && led_to.is_none_or(|to| line.contains(to.as_str())), "{line}");
        }
        let filtered = freshet.run(&["pages", "--outcome", outcome]).stdout;
        assert!(filtered.contains(&url), "{filtered}");
        let logged = crawled.stderr.lines().find(|line| line.contains(&format!("{url}\"")));
        assert!(
            logged.is_some_and(|line| line.contains(said) && line.contains("host=")),
            "{}",
            crawled.stderr
        );
        let why = freshet.run(&["why", &url]).stdout;
        assert!(why.contains(said) && !why.contains("since our copy"), "{why}");
    }
    let moved = table.lines().find(|line| line.contains("/moved")).unwrap_or_else(|| panic!("{table}"));
    assert!(moved.contains("301") && moved.contains(&format!("→ {}", site.url("/new"))), "{moved}");
}

#[test]
fn pages_that_may_not_be_asked_for_are_neither_planned_nor_ranked_and_status_says_why() {
    let site = Site::with_ports(2);
    site.page_on(0, "/robots.txt", Reply::text("User-agent: *\nDisallow: /\n"));
    site.page_on(1, "/", "home");
    let (forbidden, free) = (site.url_on(0, "/"), site.url_on(1, "/"));
    let freshet = Freshet::new();
    freshet.seeds(&[&forbidden]);
    let crawled = freshet.run(&[&["crawl", "--seeds", "seeds.txt"], &FAST[..]].concat());
    assert_eq!(crawled.code, Some(1), "{}", crawled.output());
    assert!(crawled.stderr.contains("says why each host waits"), "{}", crawled.output());
    let status = freshet.run(&["status"]).stdout;
    assert!(status.contains("robots.txt forbids 1 page"), "{status}");

    freshet.seeds(&[&forbidden, &free]);
    let crawled = freshet.run(&[&["crawl", "--seeds", "seeds.txt"], &FAST[..]].concat());
    assert_eq!(crawled.code, Some(0), "{}", crawled.output());
    // The policy `every` visits pages that wait, too.
    for policy in ["longevity", "every"] {
        let plan = freshet.run(&["plan", "--policy", policy]).stdout;
        assert!(plan.contains(&free) && !plan.contains(&forbidden), "{plan}");
    }
    let why = freshet.run(&["why", &forbidden]).stdout;
    assert!(why.contains("is not visited: robots.txt forbids it."), "{why}");
    assert!(!why.contains("Rank") && !why.contains("score"), "{why}");
    let told = freshet.json(&["pages", "--state", "blocked", "--json"]);
    let (due, found) = (told["due_at"].as_str(), told["found_at"].as_str());
    let day = |at: Option<&str>| at.and_then(|at| at.get(8..10)).and_then(|day| day.parse::<i64>().ok());
    assert_ne!(day(due), day(found), "it waits a day after the first refusal: {told:#}");

    // Without --allow-private a loopback address is refused.
    let guarded = Freshet::new();
    guarded.seeds(&[&free]);
    let crawled = guarded.run(&["crawl", "--seeds", "seeds.txt", "--delay", "0"]);
    assert_eq!(crawled.code, Some(1), "{}", crawled.output());
    let status = guarded.run(&["status"]).stdout;
    assert!(status.contains("1 page on a private or reserved address"), "{status}");
    let shown = guarded.run(&["history", &free]).stdout;
    assert!(shown.contains("the address 127.0.0.1 is private or reserved"), "{shown}");
}

#[test]
fn a_crawl_delay_that_is_too_long_is_warned_of_once() {
    const WARNING: &str = "robots.txt asks for 120 s between requests, more than the 60 s allowed";
    let site = Site::with_ports(2);
    site.page_on(0, "/robots.txt", Reply::text("User-agent: *\nCrawl-delay: 120\n"));
    site.page_on(0, "/", "slow");
    site.page_on(1, "/", "home");
    let freshet = Freshet::new();
    freshet.seeds(&[site.url_on(0, "/"), site.url_on(1, "/")]);
    let crawl =
        |flags: &[&str]| freshet.run(&[&["crawl", "--seeds", "seeds.txt"], &FAST[..], flags].concat());
    let first = crawl(&[]);
    assert_eq!(first.stderr.matches(WARNING).count(), 1, "{}", first.output());
    let status = freshet.run(&["status"]).stdout;
    assert!(status.contains(WARNING) && status.contains("crawl-delay"), "{status}");
    let page = site.url_on(1, "/");
    let seed = site.origin(0);
    let exclude = format!("^{seed}/");
    let runs =
        [crawl(&[]), crawl(&["--exclude", &exclude]), freshet.run(&["plan"]), freshet.run(&["why", &page])];
    for ran in runs {
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        assert!(!ran.stderr.contains("asks for 120 s"), "{}", ran.output());
    }
}
