//! `freshet serve`: the pages, feeds, API and metrics as browsers and programs get them, and who does not.

use crate::stopped_and_killed::wait_until;
use crate::support::browser::Served;
use crate::support::{FAST, Freshet, Reply, Site, article, links_page};
use std::io::{BufRead, BufReader};
use std::time::Duration;

const TOKEN: &str = "a token that is long enough";

/// Every page that people look at.
const PAGES: [&str; 6] = ["/", "/changes", "/sites", "/pages", "/policies", "/search"];

/// Every address of the API that needs no page.
const API: [&str; 10] = [
    "/api/v1/status",
    "/api/v1/cycles",
    "/api/v1/sites",
    "/api/v1/pages",
    "/api/v1/changes",
    "/api/v1/signals",
    "/api/v1/seeds",
    "/api/v1/log",
    "/api/v1/plan",
    "/api/openapi.json",
];

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site) {
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--seeds", &seeds], &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
}

/// A site of which one page changes at each visit, crawled twice.
fn crawled(freshet: &Freshet) -> Site {
    let site = Site::start();
    site.page("/", links_page("home", &["/news", "/still"]));
    site.page("/news", Reply::dynamic(|request| article("The news", 60, request.count as u64, &[]).into()));
    site.page("/still", article("It stays", 60, 9, &[]));
    crawl(freshet, &site);
    crawl(freshet, &site);
    site
}

/// Waits until an address answers with 200 and not that it is being worked out.
#[track_caller]
fn worked_out(served: &Served, path: &str) -> serde_json::Value {
    wait_until(path, || served.get(path).status == 200);
    served.get(path).json()
}

#[test]
fn every_page_of_a_crawled_store_is_whole_and_carries_the_headers_that_keep_it_safe() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    for path in PAGES {
        let page = served.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(
            page.body.starts_with("<!doctype html>") && page.body.trim_end().ends_with("</html>"),
            "{path}"
        );
        assert!(page.body.contains("aria-current=\"page\""), "{path}");
        assert!(page.body.len() < 300_000, "{path}");
        for inline in ["<script>", " style=", " onclick=", "javascript:"] {
            assert!(!page.body.contains(inline), "{path} has {inline}");
        }
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    assert!(served.get("/").body.contains("class=\"sentence\" data-live>Fresh "), "{}", served.get("/").body);
    assert!(served.get("/changes").body.contains("The news"));
    assert!(served.get("/changes?order=largest").body.contains("divergence"));
    assert!(served.get("/sites").body.contains(&site.origin(0)));
    let pages = served.get("/pages?url=still");
    assert!(pages.body.contains("It stays") && !pages.body.contains("The news"), "{}", pages.body);
    let style = served.get("/assets/style.css");
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(style.header("cache-control").is_some_and(|kept| kept.contains("immutable")));
    let licence = served.get("/assets/uPlot.LICENSE.txt");
    assert!(licence.body.contains("MIT License"), "{licence:?}");
    let head = served.ask("HEAD", "/", &[], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn a_dashboard_that_is_up_before_the_store_waits_for_it() {
    let freshet = Freshet::new();
    let served = Served::start(&freshet, &[]);
    for path in PAGES {
        let page = served.get(path);
        if path != "/search" {
            assert_eq!(page.status, 503, "{path}");
            assert!(page.body.contains("There is no store yet"), "{}", page.body);
        }
        assert!(
            !page.body.contains(&freshet.path("").display().to_string()),
            "no place of the machine is told"
        );
    }
    assert_eq!(served.get("/healthz").status, 503);
    assert_eq!(served.get("/api/v1/status").json()["status"], 503);
    let _site = crawled(&freshet);
    assert_eq!(served.get("/").status, 200, "the store is there now");
    assert_eq!(served.get("/healthz").status, 200, "{}", served.get("/healthz").body);
}

#[test]
fn what_can_not_be_asked_is_said_with_what_to_do() {
    let freshet = Freshet::new();
    let _site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    for (path, status, said) in [
        ("/nothing", 404, "there is no such page"),
        ("/sites?sort=colour", 400, "be sorted by"),
        ("/pages?sort=colour", 400, "there are url, changes"),
        ("/pages?state=asleep", 400, "there is no state"),
        ("/pages?after=x", 400, "no place in a list"),
        ("/pages?max_depth=x", 400, "can&#39;t be read"),
        ("/changes?since=yesterday", 400, "write a date"),
        ("/changes?kind=odd", 400, "started-failing"),
        ("/changes?after=1", 400, "no place in the list"),
        ("/changes?host=no.such.example", 404, "has no host"),
        ("/api/v1/history?url=http://no.such.example/", 404, "does not know"),
        ("/api/v1/history?url=nonsense%20here", 400, "no page"),
        ("/api/v1/history", 400, "url"),
        ("/api/v1/pages?limit=0", 400, "from 1 to 1000"),
        ("/api/v1/log?cycle=99", 404, "no cycle"),
    ] {
        let answered = served.get(path);
        assert_eq!(answered.status, status, "{path}: {}", answered.body);
        assert!(answered.body.contains(said), "{path}: {}", answered.body);
        if path.starts_with("/api/") {
            assert_eq!(answered.header("content-type"), Some("application/problem+json"));
            assert_eq!(answered.json()["status"], status);
        }
    }
    assert_eq!(
        served.ask("POST", "/pages", &[("Origin", &format!("http://{}", served.host))], "").status,
        405
    );
    assert_eq!(served.get(&format!("/pages?url={}", "a".repeat(20_000))).status, 414);
}

#[test]
fn what_strangers_wrote_is_shown_as_text() {
    let freshet = Freshet::new();
    let site = Site::start();
    let long = format!("/long?{}", "a".repeat(1500));
    site.page("/", links_page("home", &["/bad", &long]));
    let title = "&lt;script&gt;alert(1)&lt;/script&gt;\u{202e}txt.exe\" onmouseover=\"x";
    let page =
        |body: &str| format!("<html><head><title>{title}</title></head><body><p>{body}</p></body></html>");
    let first = page("some words that stand here at first and then are gone again");
    let then =
        page("&lt;img src=x onerror=alert(2)&gt; and &lt;/ins&gt; words that nobody saw \u{2067}before");
    site.page("/bad", Reply::sequence(vec![first.into(), then.into()]));
    site.page(&long, article("a long address", 40, 3, &[]));
    crawl(&freshet, &site);
    crawl(&freshet, &site);
    let searched = freshet.run(&["search", "words"]);
    assert_eq!(searched.code, Some(0), "{}", searched.output());
    let served = Served::start(&freshet, &[]);
    for path in
        ["/", "/changes", "/changes?order=largest", "/sites", "/pages", "/policies", "/search?q=words"]
    {
        let page = served.get(path);
        assert_eq!(page.status, 200, "{path}");
        for markup in ["<script>alert", "<img src=x", "onmouseover=\"x", "\u{202e}", "\u{2067}"] {
            assert!(!page.body.contains(markup), "{path} has {markup}");
        }
        assert!(page.body.len() < 300_000, "{path}: {} bytes", page.body.len());
    }
    let changes = served.get("/changes").body;
    assert!(changes.contains("&#60;script&#62;alert(1)"), "{changes}");
    assert!(served.get("/search?q=words").body.contains("<mark>"));
    let echoed = served.get("/search?q=%22%3E%3Cscript%3Ealert(3)%3C/script%3E").body;
    assert!(!echoed.contains("<script>alert"), "{echoed}");
    let feed = served.get("/changes.atom");
    let entries = feed_rs_entries(&feed.body);
    assert!(entries > 0, "{}", feed.body);
}

/// The entries of an Atom feed, counted by a reader of XML.
#[track_caller]
fn feed_rs_entries(text: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut entries = 0;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Start(tag)) if tag.name().as_ref() == "entry" => entries += 1,
            Ok(quick_xml::events::Event::Eof) => return entries,
            Ok(_) => {}
            Err(error) => panic!("{error}: {text}"),
        }
    }
}

#[test]
fn feeds_stay_the_same_until_something_happens() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let atom = served.get("/changes.atom?kind=changed");
    assert_eq!(atom.header("content-type"), Some("application/atom+xml; charset=utf-8"));
    assert_eq!(feed_rs_entries(&atom.body), 1, "{}", atom.body);
    let json = served.get("/changes.json?kind=changed");
    let feed = json.json();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(feed["items"][0]["title"], "The news");
    assert_eq!(feed["items"][0]["_freshet"]["kind"], "changed");
    let tag = atom.header("etag").expect("a tag").to_owned();
    let again = served.ask("GET", "/changes.atom?kind=changed", &[("If-None-Match", &tag)], "");
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    crawl(&freshet, &site);
    let later = served.ask("GET", "/changes.atom?kind=changed", &[("If-None-Match", &tag)], "");
    assert_eq!((later.status, feed_rs_entries(&later.body)), (200, 2));
}

#[test]
fn a_page_of_somebody_else_can_neither_read_nor_change_anything() {
    let freshet = Freshet::new();
    let _site = crawled(&freshet);
    let served = Served::start(&freshet, &["--host", "crawl.example", "--token", TOKEN]);
    let bearer = format!("Bearer {TOKEN}");
    let own = format!("http://{}", served.host);
    // Its name points here: the browser says which name that was.
    for name in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "a b"] {
        let refused = served.ask("GET", "/", &[("Host", name), ("Authorization", &bearer)], "");
        assert!(matches!(refused.status, 400 | 421), "`{name}`: {refused:?}");
        assert!(!refused.body.contains("freshet.db"), "{}", refused.body);
    }
    assert_eq!(
        served.ask("GET", "/", &[("Host", "crawl.example"), ("Authorization", &bearer)], "").status,
        200
    );
    let port = served.host.rsplit_once(':').map_or("", |(_, port)| port);
    let local = format!("localhost:{port}");
    assert_eq!(served.ask("GET", "/", &[("Host", &local), ("Authorization", &bearer)], "").status, 200);
    // It sends a form here, with the cookie of the person.
    let cookie = log_in(&served, TOKEN);
    let body = "{\"url\":\"http://a.example/\"}";
    for origin in ["http://evil.example", "null"] {
        let refused = served.ask("POST", "/api/v1/ping", &[("Origin", origin), ("Cookie", &cookie)], body);
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    assert_eq!(served.ask("POST", "/api/v1/ping", &[("Cookie", &cookie)], body).status, 403, "no origin");
    assert_eq!(
        served.ask("POST", "/api/v1/ping", &[("Cookie", &cookie), ("Origin", &own)], body).status,
        200
    );
}

/// Logs in by the form; the cookie as it is sent back.
#[track_caller]
fn log_in(served: &Served, token: &str) -> String {
    let form = format!("token={}&next=/sites", token.replace(' ', "+"));
    let own = format!("http://{}", served.host);
    let headers = [("Origin", own.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    let entered = served.ask("POST", "/login", &headers, &form);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/sites")), "{entered:?}");
    let cookie = entered.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict;") && !cookie.contains(token), "{cookie}");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

#[test]
fn the_token_opens_everything_and_without_it_nothing_is_shown() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    freshet.write("token.txt", format!("{TOKEN}\n"));
    let served = Served::start(&freshet, &["--token-file", "token.txt"]);
    for path in PAGES {
        let page = served.get(path);
        assert_eq!(page.status, 303, "{path}");
        assert!(page.header("location").is_some_and(|to| to.starts_with("/login")), "{path}: {page:?}");
    }
    for path in API.iter().chain(&["/metrics", "/events", "/changes.atom"]) {
        let refused = served.get(path);
        assert_eq!(refused.status, 401, "{path}");
        assert!(!refused.body.contains(&site.origin(0)), "{path}");
    }
    assert_eq!(served.get("/healthz").body, "{\"is_well\":true}", "a watchdog needs no token");
    let form = served.get("/login?next=/pages");
    assert!(form.status == 200 && form.body.contains("value=\"/pages\""), "{}", form.body);
    let own = format!("http://{}", served.host);
    let wrong = served.ask("POST", "/login", &[("Origin", &own)], "token=another+token+of+that+length");
    assert!(wrong.status == 403 && wrong.header("set-cookie").is_none(), "{wrong:?}");
    let cookie = log_in(&served, TOKEN);
    assert_eq!(served.ask("GET", "/", &[("Cookie", &cookie)], "").status, 200);
    assert_eq!(served.ask("GET", "/", &[("Cookie", "freshet=00ff")], "").status, 303);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(served.ask("GET", "/metrics", &[("Authorization", &bearer)], "").status, 200);
    assert_eq!(served.ask("GET", "/metrics", &[("Authorization", "Bearer x")], "").status, 401);
}

#[test]
fn other_machines_are_let_in_only_with_a_token() {
    let freshet = Freshet::new();
    for (flags, said) in [
        (&["--listen", "0.0.0.0:0"][..], "it needs a token"),
        (&["--listen", "[::]:0"][..], "it needs a token"),
        (&["--token", "short"][..], "16 characters or more"),
        (&["--token-file", "missing.txt"][..], "can't be read"),
        (&["--listen", "nowhere"][..], "write an IP address and a port"),
    ] {
        let ran = freshet.run(&[&["serve"], flags].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
}

#[test]
fn the_api_tells_what_the_commands_print() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    for path in API {
        let answered = served.get(path);
        assert!(matches!(answered.status, 200 | 202), "{path}: {}", answered.body);
        assert_eq!(answered.header("content-type"), Some("application/json"), "{path}");
    }
    let url = site.url("/news");
    assert_eq!(
        served.get(&format!("/api/v1/history?url={url}")).json(),
        freshet.json(&["history", &url, "--json"])
    );
    assert_eq!(
        served.get(&format!("/api/v1/diff?url={url}")).json(),
        freshet.json(&["diff", &url, "--json"])
    );
    let why = worked_out(&served, &format!("/api/v1/why?url={url}"));
    assert_eq!(why["verdict"], freshet.json(&["why", &url, "--json"])["verdict"]);
    assert_eq!(served.get(&format!("/api/v1/page?url={url}")).json()["title"], "The news");
    let links = served.get(&format!("/api/v1/links?url={}", site.url("/"))).json();
    assert_eq!(links["items"].as_array().map(Vec::len), Some(2), "{links}");
    let status = served.get("/api/v1/status").json();
    assert_eq!((&status["pages"]["known"], &status["version"]), (&3.into(), &1.into()));
    let cycles = served.get("/api/v1/cycles").json();
    assert_eq!((&cycles["items"], &cycles["next"]), (&status["cycles"], &serde_json::Value::Null));
    let newest = served.get("/api/v1/cycles?limit=1").json();
    assert_eq!((&newest["items"][0], &newest["next"]), (&status["cycles"][0], &"2".into()));
    let oldest = served.get("/api/v1/cycles?limit=1&after=2").json();
    assert_eq!((&oldest["items"][0], &oldest["next"]), (&status["cycles"][1], &serde_json::Value::Null));
    assert_eq!(served.get("/api/v1/cycles?after=x").status, 400);
    let name = site.origin(0);
    let name = name.trim_start_matches("http://");
    assert_eq!(served.get(&format!("/api/v1/sites/{name}")).json()["page_count"], 3);
    let viewed = served.get(&format!("/api/v1/sites/{name}/view")).json();
    assert_eq!(
        (&viewed["status"]["page_count"], viewed["ticks"].as_array().map(Vec::len)),
        (&3.into(), Some(6))
    );
    let viewed = served.get(&format!("/api/v1/page/view?url={url}")).json();
    assert_eq!(
        (&viewed["asked"]["title"], &viewed["history"]["url"]),
        (&"The news".into(), &url.as_str().into())
    );
    // A list is read to its end part by part, and nothing comes twice.
    let (mut after, mut urls) = (String::new(), Vec::new());
    loop {
        let part = served.get(&format!("/api/v1/pages?sort=url&limit=1{after}")).json();
        urls.extend(part["items"].as_array().into_iter().flatten().map(|page| page["url"].clone()));
        let Some(next) = part["next"].as_str() else { break };
        after = format!("&after={}", next.replace('/', "%2F").replace(':', "%3A"));
    }
    assert_eq!(urls, ["/", "/news", "/still"].map(|path| site.url(path)));
    let logged = served.get("/api/v1/log?limit=2").json();
    let next = logged["next"].as_str().expect("more visits");
    let rest = served.get(&format!("/api/v1/log?after={next}")).json();
    assert_eq!((rest["items"].as_array().map(Vec::len), &rest["next"]), (Some(1), &serde_json::Value::Null));
    let plan = worked_out(&served, "/api/v1/plan");
    assert_eq!(plan["policy"], "calibrated");
    let backtest = worked_out(&served, "/api/v1/backtest");
    assert_eq!((&backtest["pages"], &backtest["cycles"]), (&3.into(), &2.into()), "{backtest}");
    assert_eq!(served.get("/api/v1/search?q=news").status, 404, "there is no index");
}

#[test]
fn the_description_of_the_api_is_the_one_in_the_documents() {
    let freshet = Freshet::new();
    let served = Served::start(&freshet, &[]);
    let told = served.get("/api/openapi.json");
    assert_eq!(told.json()["openapi"], "3.1.0");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        told.body == kept,
        "docs/openapi.json is another one; save /api/openapi.json of `freshet serve` there"
    );
}

#[test]
fn a_ping_is_a_signal_of_the_next_cycle() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let without = Served::start(&freshet, &[]);
    let own = format!("http://{}", without.host);
    let body = format!("{{\"url\":\"{}\"}}", site.url("/still"));
    let refused = without.ask("POST", "/api/v1/ping", &[("Origin", &own)], &body);
    assert!(refused.status == 403 && refused.body.contains("--token-file"), "{refused:?}");
    drop(without);
    let served = Served::start(&freshet, &["--token", TOKEN]);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let one = served.ask("POST", "/api/v1/ping", &headers, &body).json();
    assert_eq!((&one["noted"], &one["pages"][0]["verdict"]), (&1.into(), &"known".into()), "{one}");
    let list = format!(
        "{{\"host\":\"a\",\"key\":\"k\",\"urlList\":[\"{}\",\"{}\",\"http://elsewhere.example/\"]}}",
        site.url("/news"),
        site.url("/not-yet")
    );
    let many = served.ask("POST", "/api/v1/ping", &headers, &list).json();
    let verdicts =
        [&many["pages"][0], &many["pages"][1], &many["pages"][2]].map(|page| page["verdict"].clone());
    assert_eq!(verdicts, ["known", "new", "refused"]);
    for wrong in ["", "{}", "[]", "{\"url\":7}", "{\"urlList\":[]}", "{\"url\":\"no page\"}"] {
        assert_eq!(served.ask("POST", "/api/v1/ping", &headers, wrong).status, 400, "{wrong}");
    }
    let huge = format!("{{\"url\":\"{}\"}}", "a".repeat(2 << 20));
    assert_eq!(served.ask("POST", "/api/v1/ping", &headers, &huge).status, 413);
    site.page("/not-yet", article("now it is there", 40, 7, &[]));
    crawl(&freshet, &site);
    let signals = freshet.json(&["why", &site.url("/still"), "--json"]);
    assert!(signals.to_string().contains("\"ping\""), "{signals}");
    let pages = freshet.run(&["pages", "--url", "not-yet", "--json"]);
    assert!(pages.stdout.contains("now it is there"), "{}", pages.output());
}

#[test]
fn prometheus_reads_the_metrics() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let metrics = served.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let mut typed = std::collections::BTreeSet::new();
    for line in metrics.body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(typed.insert(name.to_owned()), "{name} twice");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let name = series.split('{').next().unwrap_or_default();
            assert!(typed.contains(name), "{line} has no type");
            value.parse::<f64>().unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    for said in [
        "freshet_pages{state=\"alive\"} 3",
        "freshet_visits_total{brought=\"changed\"} 1",
        "freshet_cycles_total 2",
    ] {
        assert!(metrics.body.lines().any(|line| line == said), "{said}: {}", metrics.body);
    }
    assert!(!metrics.body.contains(&site.origin(0)), "no address is a label");
}

#[test]
fn a_crawl_is_told_of_as_it_goes_and_the_server_stops_at_the_first_signal() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", served.host);
    let mut lines = BufReader::new(served.send(&request)).lines().map(|line| line.expect("a line"));
    let mut event = |name: &str| {
        lines.find(|line| *line == format!("event: {name}")).expect("an event");
        let data = lines.next().unwrap_or_default();
        let data = data.strip_prefix("data: ").expect("its data").to_owned();
        serde_json::from_str::<serde_json::Value>(&data).expect("JSON")
    };
    let state = event("state");
    assert_eq!((&state["cycle_id"], &state["is_open"]), (&2.into(), &false.into()), "{state}");
    crawl(&freshet, &site);
    let mut news = event("news");
    while news["cycle_id"] != 3 || news["is_open"] != false {
        news = event("news");
    }
    assert_eq!(news["changed"], 1, "{news}");
    // The stream is open: it does not hold up the end.
    let killed = std::process::Command::new("kill").args(["-INT", &served.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let ended = served.wait(Duration::from_secs(60));
    assert_eq!(ended.code, Some(0), "{}", ended.output());
    assert!(ended.stderr.ends_with("stopped\n"), "{}", ended.output());
}

#[test]
fn a_reader_does_not_hold_up_a_crawl_nor_a_crawl_a_reader() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let idle = served.send(&format!("GET /pages HTTP/1.1\r\nHost: {}\r\n", served.host));
    let mut running = {
        let seeds = freshet.seeds(&[site.url("/")]);
        freshet.start(&[&["crawl", "--seeds", &seeds, "--cycles", "5"], &FAST[..]].concat())
    };
    let mut asked = 0;
    while running.is_running() {
        for path in ["/", "/pages", "/changes", "/sites"] {
            assert_eq!(served.get(path).status, 200);
            asked += 1;
        }
    }
    let ran = running.wait(Duration::from_secs(60));
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(asked > 0);
    drop(idle);
}
