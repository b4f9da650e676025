//! One page under many spellings is one page: it is asked for once, kept once, and listed once.

use crate::support::{FAST, Freshet, Reply, Site, article, links_page};
use serde_json::{Value, json};

/// Crawls from the seeds; the summary.
#[track_caller]
fn crawl(freshet: &Freshet, seeds: &[String], flags: &[&str]) -> Value {
    let seeds = freshet.seeds(seeds);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json", "--no-sitemaps"], &FAST[..], flags].concat())
}

/// Goes on with the store; the summary.
#[track_caller]
fn again(freshet: &Freshet) -> Value {
    freshet.json(&[&["crawl", "--json", "--no-sitemaps"], &FAST[..]].concat())
}

/// What `pages` lists with these flags, a row a page.
#[track_caller]
fn pages(freshet: &Freshet, flags: &[&str]) -> Vec<Value> {
    let ran = freshet.run(&[&["pages", "--json"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The row of the page at this URL, aliases included.
#[track_caller]
fn page(freshet: &Freshet, url: &str) -> Value {
    let found = pages(freshet, &["--aliases"]).into_iter().find(|page| page["url"] == url);
    found.unwrap_or_else(|| panic!("`{url}` is not listed: {:#?}", pages(freshet, &["--aliases"])))
}

fn port(site: &Site, host: usize) -> String {
    site.origin(host).rsplit(':').next().unwrap_or_default().to_owned()
}

fn with_canonical(title: &str, canonical: &str, links: &[&str]) -> String {
    let link = format!("<head><link rel=\"canonical\" href=\"{canonical}\">");
    links_page(title, links).replace("<head>", &link)
}

// --- spellings -------------------------------------------------------------------------------------------------

#[test]
fn what_only_looks_different_is_asked_for_once() {
    let site = Site::start();
    let port = port(&site, 0);
    let absolute = [
        format!("http://127.0.0.1:{port}/a"),
        format!("HTTP://127.0.0.1:{port}/a"),
        format!("//127.0.0.1:0{port}/a"),
        format!("http://127.0.0.1.:{port}/a"),
        format!("http://0x7f.1:{port}/a"),
        format!("http://2130706433:{port}/a"),
    ];
    let mut links = vec![
        "/a",
        "a",
        "/a#part",
        "/a#another",
        "/./a",
        "/b/../a",
        "/b/%2e%2E/a",
        "/%61",
        "/a?",
        "  /a\t",
        "\\a",
        "/a?utm_source=letter&utm_medium=mail",
        "/a?gclid=123",
        "/a?fbclid=abc#part",
        "/a?PHPSESSID=0123456789",
        "/a?sessionid=0123456789abcdef",
        "/a;jsessionid=ABCDEF.node1",
        "/a;JSESSIONID=ABCDEF?utm_campaign=x",
    ];
    links.extend(absolute.iter().map(String::as_str));
    site.page("/", links_page("home", &links));
    site.page("/a", "the page");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/a"]);
    assert_eq!(summary["succeeded"], 2);
    assert_eq!(summary["refused_links"], json!({}));
    assert_eq!(pages(&freshet, &["--aliases"]).len(), 2);
}

#[test]
fn a_page_is_asked_for_as_it_was_found_first() {
    let site = Site::start();
    let links = [
        "/%7Euser/",
        "/~user/",
        "/list?b=2&a=1",
        "/list?a=1&b=2",
        "/list?b=2&utm_source=x&a=1",
        "/caf%c3%a9",
        "/café",
    ];
    site.page("/", links_page("home", &links));
    site.otherwise(|_| Reply::html("found"));
    site.page("/robots.txt", Reply::status(404, ""));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &[]);
    let mut asked = site.log().paths();
    asked.sort_unstable();
    assert_eq!(asked, ["/", "/%7Euser/", "/caf%c3%a9", "/list?b=2&a=1", "/robots.txt"]);
}

#[test]
fn what_may_be_another_page_is_another_page() {
    let site = Site::start();
    let links = [
        "/a",
        "/A",
        "/a/",
        "/a%2Fb",
        "/a/b",
        "/a?page=1",
        "/a?page=2",
        "/a?page=",
        "/a;v=1",
        "/talk?SESSION_ID=5089",
        "/talk?SESSION_ID=5090",
    ];
    site.page("/", links_page("home", &links));
    site.otherwise(|_| Reply::html("found"));
    site.page("/robots.txt", Reply::status(404, ""));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["succeeded"], 12);
    for path in &links {
        assert_eq!(site.log().count(path), 1, "{path}: {:?}", site.log().paths());
    }
}

#[test]
fn letter_case_and_a_dot_at_the_end_of_a_name_are_nothing() {
    let site = Site::start();
    let port = port(&site, 0);
    let links =
        [format!("http://LOCALHOST:{port}/a"), format!("http://localhost.:{port}/a"), "/a".to_owned()];
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links));
    site.page("/a", "the page");
    let freshet = Freshet::new();
    crawl(&freshet, &[format!("http://LocalHost:{port}/"), format!("http://localhost.:{port}/")], &[]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/a"]);
    assert_eq!(freshet.json(&["status", "--json"])["hosts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_port_that_goes_without_saying_need_not_be_said() {
    let site = Site::start();
    let links = ["http://127.77.0.1/x", "http://127.77.0.1:80/x", "https://127.77.0.1:443/x"];
    site.page("/", links_page("home", &[&links[..], &["https://127.77.0.1/x"]].concat()));
    let freshet = Freshet::new();
    // The budget ends before anything is asked of that address.
    crawl(&freshet, &[site.url("/")], &["--scope", "any", "--budget", "2"]);
    let mut known: Vec<Value> =
        pages(&freshet, &["--url", "127.77"]).iter().map(|row| row["url"].clone()).collect();
    known.sort_by_key(ToString::to_string);
    assert_eq!(known, ["http://127.77.0.1/x", "https://127.77.0.1/x"]);
}

#[test]
fn which_parameters_do_not_matter_can_be_said() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a?from=home", "/a?from=menu", "/a?utm_source=x"]));
    site.otherwise(|_| Reply::html("found"));
    site.page("/robots.txt", Reply::status(404, ""));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\ndrop_parameters = [\"fro*\"]\n");
    crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/a", "/a?utm_source=x"]);
}

#[test]
fn spellings_in_the_seeds_file_are_one_seed() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let lines = [site.url("/"), site.url(""), site.url("/#top"), site.url("/?utm_source=x"), site.url("/./")];
    crawl(&freshet, &lines, &[]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/"]);
    assert_eq!(freshet.json(&["status", "--json"])["seed_count"], 1);
}

// --- canonical links -------------------------------------------------------------------------------------------

#[test]
fn a_page_that_names_its_canonical_becomes_an_alias() {
    let site = Site::start();
    site.page("/", links_page("home", &["/print", "/story?view=amp"]));
    let story = |canonical: &str, links: &[&str]| {
        let link = format!("<head><link rel=\"canonical\" href=\"{canonical}\">");
        article("story", 300, 1, links).replace("<head>", &link)
    };
    site.page("/print", story("/story", &["/linked"]));
    site.page("/story", story(&site.url("/story"), &[]));
    site.page("/linked", "an alias has links too");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["succeeded"], 5, "{summary:#}");
    assert_eq!(site.log().count("/story"), 1, "the canonical was not known before");
    assert_eq!(site.log().count("/linked"), 1);
    assert_eq!(page(&freshet, &site.url("/print"))["state"], "alive", "one visit is not believed");
    again(&freshet);

    let alias = page(&freshet, &site.url("/print"));
    assert_eq!((&alias["state"], &alias["alias_of"]), (&json!("alias"), &json!(site.url("/story"))));
    let listed = pages(&freshet, &[]);
    assert!(listed.iter().all(|row| row["url"] != site.url("/print")), "{listed:#?}");
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["pages"]["aliases"], 2, "both spellings of the story");
    assert_eq!(status["pages"]["known"], 3);

    site.clear_log();
    again(&freshet);
    let mut paths = site.log().paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/", "/linked", "/story"], "aliases are not visited again");
}

#[test]
fn a_canonical_on_another_host_has_no_say() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/", with_canonical("home", &site.url_on(1, "/"), &[]));
    site.page_on(1, "/", "the one that claims it");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/"), site.url_on(1, "/")], &[]);
    assert_eq!(page(&freshet, &site.url("/"))["alias_of"], Value::Null);
    again(&freshet);
    assert_eq!(site.log().on(0).count("/"), 2);
}

#[test]
fn two_pages_that_name_each_other_do_not_both_vanish() {
    let site = Site::start();
    site.page("/", links_page("home", &["/left", "/right"]));
    site.page("/left", with_canonical("hand", "/right", &[]));
    site.page("/right", with_canonical("hand", "/left", &[]));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert_eq!(freshet.json(&["status", "--json"])["pages"]["aliases"], 1);
    site.clear_log();
    again(&freshet);
    assert_eq!(site.log().count("/left") + site.log().count("/right"), 1);
}

#[test]
fn an_alias_of_a_page_that_is_gone_stands_for_itself_again() {
    let site = Site::start();
    site.page("/", links_page("home", &["/print"]));
    site.page("/print", with_canonical("story", "/story", &[]));
    site.page("/story", with_canonical("story", "/story", &[]));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--cycles", "2"]);
    assert_eq!(page(&freshet, &site.url("/print"))["state"], "alias");
    site.remove("/story");
    site.clear_log();
    again(&freshet);
    assert_eq!(site.log().first("/story").map(|hit| hit.status), Some(404));
    assert_eq!(site.log().count("/print"), 0);
    again(&freshet);
    assert_eq!(site.log().count("/story"), 2, "a page is gone when two visits say so");
    site.clear_log();
    again(&freshet);
    assert_eq!(site.log().count("/print"), 1, "{:?}", site.log().paths());
    assert_eq!(page(&freshet, &site.url("/print"))["state"], "alive");
}

// --- redirects -------------------------------------------------------------------------------------------------

#[test]
fn permanent_redirects_become_aliases_and_temporary_ones_do_not() {
    let site = Site::start();
    let codes = [301, 302, 303, 307, 308];
    let links: Vec<String> = codes.iter().map(|code| format!("/by{code}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links));
    for code in codes {
        site.page(&format!("/by{code}"), Reply::redirect(code, format!("/new{code}")));
        site.page(&format!("/new{code}"), "moved here");
    }
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["redirected"], 5);
    assert_eq!(summary["succeeded"], 6);
    assert_eq!(summary["outcomes"], json!({ "fetched": 6, "moved": 2, "redirected": 3 }));
    for code in codes {
        let row = page(&freshet, &site.url(&format!("/by{code}")));
        assert_eq!(row["state"], "redirected", "{code}: one visit is not believed");
    }
    again(&freshet);
    assert_eq!(page(&freshet, &site.url("/by301"))["alias_of"], site.url("/new301"));
    assert_eq!(page(&freshet, &site.url("/by302"))["state"], "redirected");

    site.clear_log();
    again(&freshet);
    for code in codes {
        let permanent = matches!(code, 301 | 308);
        assert_eq!(site.log().asked(&format!("/by{code}")), !permanent, "{code}");
        assert_eq!(site.log().count(&format!("/new{code}")), 1, "{code}");
    }
}

#[test]
fn a_page_reached_by_redirect_and_by_link_is_fetched_once() {
    let site = Site::start();
    site.page("/", links_page("home", &["/moved", "/target", "/also-moved", "/deep"]));
    site.page("/moved", Reply::redirect(301, "/target#part"));
    site.page("/also-moved", Reply::redirect(302, "/target?utm_source=redirect"));
    site.page("/deep", links_page("deep", &["/late"]));
    site.page("/late", Reply::redirect(307, "/target"));
    site.page("/target", "here");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().count("/target"), 1);
    assert_eq!(site.log().total(), 7, "{:?}", site.log().paths());
    assert_eq!(summary["redirected"], 3);
}

#[test]
fn five_hops_are_followed_and_the_sixth_is_not() {
    let site = Site::start();
    site.page("/", links_page("home", &["/fine0", "/far0"]));
    for hop in 0..5 {
        site.page(&format!("/fine{hop}"), Reply::redirect(302, format!("/fine{}", hop + 1)));
    }
    for hop in 0..9 {
        site.page(&format!("/far{hop}"), Reply::redirect(302, format!("/far{}", hop + 1)));
    }
    site.page("/fine5", "arrived");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(page(&freshet, &site.url("/fine5"))["state"], "alive");
    assert_eq!(page(&freshet, &site.url("/far5"))["outcome"], "redirect-too-many");
    assert!(!site.log().asked("/far6"), "{:?}", site.log().paths());
    assert_eq!(summary["outcomes"]["redirect-too-many"], 1);
    assert_eq!(summary["failed"], 1);
}

#[test]
fn a_page_that_redirects_to_itself_is_a_loop() {
    let site = Site::start();
    site.page("/", links_page("home", &["/self", "/self-with-fragment"]));
    site.page("/self", Reply::redirect(302, "/self"));
    site.page("/self-with-fragment", Reply::redirect(301, "/self-with-fragment?utm_source=me#top"));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["outcomes"]["redirect-loop"], 2);
    assert_eq!(site.log().total(), 4, "{:?}", site.log().paths());
}

#[test]
fn redirects_in_a_circle_are_a_loop_and_each_is_asked_once() {
    for code in [301, 302] {
        let site = Site::start();
        site.page("/", links_page("home", &["/ping", "/one"]));
        site.page("/ping", Reply::redirect(code, "/pong"));
        site.page("/pong", Reply::redirect(code, "/ping"));
        site.page("/one", Reply::redirect(code, "/two"));
        site.page("/two", Reply::redirect(code, "/three"));
        site.page("/three", Reply::redirect(code, "/one"));
        let freshet = Freshet::new();
        let summary = crawl(&freshet, &[site.url("/")], &[]);
        assert_eq!(summary["outcomes"]["redirect-loop"], 2, "{code}: {summary:#}");
        for path in ["/ping", "/pong", "/one", "/two", "/three"] {
            assert_eq!(site.log().count(path), 1, "{code} {path}");
        }
        assert_eq!(page(&freshet, &site.url("/pong"))["outcome"], "redirect-loop");
        let status = freshet.json(&["status", "--json"]);
        assert_eq!(status["pages"]["last_outcomes"]["redirect-loop"], 2, "{status:#}");
    }
}

#[test]
fn a_circle_whose_pages_are_all_linked_is_a_loop_too() {
    let site = Site::start();
    site.page("/", links_page("home", &["/ping", "/pong"]));
    site.page("/ping", Reply::redirect(302, "/pong"));
    site.page("/pong", Reply::redirect(302, "/ping"));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().count("/ping"), 1);
    assert_eq!(site.log().count("/pong"), 1);
    assert_eq!(summary["outcomes"]["redirect-loop"], 1, "{summary:#}");
}

#[test]
fn a_redirect_to_where_nobody_may_go_is_a_failure_with_its_reason() {
    let site = Site::with_hosts(2);
    let out = site.url_on(1, "/");
    let cases: [(&str, &str, &str); 9] = [
        ("/out", &out, "redirect-out-of-scope"),
        ("/file", "file:///etc/passwd", "redirect-out-of-scope"),
        ("/script", "javascript:alert(1)", "redirect-out-of-scope"),
        ("/ftp", "ftp://127.0.0.1/x", "redirect-out-of-scope"),
        ("/data", "data:text/html,hello", "redirect-out-of-scope"),
        ("/user", "http://reader:word@127.0.0.1/x", "redirect-out-of-scope"),
        ("/nonsense", "http://[nonsense", "redirect-bad-location"),
        ("/empty", "", "redirect-bad-location"),
        ("/port", "http://127.0.0.1:99999/", "redirect-bad-location"),
    ];
    let links: Vec<&str> = cases.iter().map(|(path, ..)| *path).chain(["/none"]).collect();
    site.page_on(0, "/", links_page("home", &links));
    for (path, location, _) in cases {
        site.page(path, Reply::redirect(302, location));
    }
    site.page("/none", Reply::status(302, "no Location at all"));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    for (path, _, outcome) in cases.iter().copied().chain([("/none", "", "redirect-bad-location")]) {
        let row = page(&freshet, &site.url(path));
        assert_eq!(row["outcome"], outcome, "{path}");
        assert_eq!(row["state"], "failing", "{path}");
    }
    assert_eq!(site.log().on(1).total(), 0);
    assert_eq!(
        summary["outcomes"],
        json!({ "fetched": 1, "redirect-bad-location": 4, "redirect-out-of-scope": 6 })
    );
    assert_eq!(summary["refused_links"]["out-of-scope"], 1);
    assert_eq!(summary["refused_links"]["scheme"], 4);
    assert_eq!(summary["refused_links"]["user-info"], 1);
}

#[test]
fn a_redirect_hop_is_a_page_to_robots_and_to_the_patterns_too() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /closed\n"));
    site.page("/", links_page("home", &["/to-closed", "/to-excluded"]));
    site.page("/to-closed", Reply::redirect(302, "/closed"));
    site.page("/to-excluded", Reply::redirect(302, "/excluded"));
    site.page("/closed", "not for robots");
    site.page("/excluded", "not for us");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &["--exclude", "/excluded"]);
    assert!(!site.log().asked("/closed"));
    assert!(!site.log().asked("/excluded"));
    assert_eq!(page(&freshet, &site.url("/closed"))["outcome"], "robots");
    assert_eq!(summary["blocked"], 1);
    assert_eq!(summary["outcomes"]["redirect-out-of-scope"], 1);
}

#[test]
fn a_seed_that_moves_to_another_domain_is_not_followed_and_that_is_said() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/", Reply::redirect(301, site.url_on(1, "/")));
    site.page_on(1, "/", "somebody else's");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--seeds", &seeds], &FAST[..]].concat());
    assert_eq!(ran.code, Some(1), "nothing at all could be fetched\n{}", ran.output());
    assert!(ran.stdout.contains("redirect-out-of-scope 1"), "{}", ran.output());
    assert!(ran.stderr.contains(&site.url_on(1, "/")), "where it leads is said\n{}", ran.output());
    assert_eq!(site.log().on(1).total(), 0);
    assert_eq!(page(&freshet, &site.url("/"))["outcome"], "redirect-out-of-scope");
}

#[test]
fn a_seed_that_moves_within_its_domain_takes_its_scope_along() {
    // An address is its own domain, so a move to another port of it stays within.
    let site = Site::with_ports(2);
    site.page_on(0, "/", Reply::redirect(301, site.url_on(1, "/")));
    site.page_on(1, "/", links_page("new home", &["/a"]));
    site.page_on(1, "/a", links_page("a", &["/b"]));
    site.page_on(1, "/b", "b");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &["--budget", "5"]);
    assert_eq!(summary["succeeded"], 2, "{summary:#}");
    let summary = again(&freshet);
    assert!(site.log().on(1).asked("/b"), "the next run knows it: {summary:#}");
    assert_eq!(summary["refused_links"], json!({}));
}

// --- what a page says of its links -----------------------------------------------------------------------------

#[test]
fn links_are_relative_to_the_base_that_a_page_names() {
    let site = Site::with_hosts(2);
    let based = |base: &str, links: &[&str]| {
        links_page("based", links).replace("<head>", &format!("<head><base href=\"{base}\">"))
    };
    site.page_on(0, "/", based("/shelf/", &["book", ".", "../sign"]));
    site.page_on(0, "/shelf/book", based(&site.url_on(1, "/"), &["elsewhere"]));
    site.page_on(0, "/sign", "sign");
    site.page_on(0, "/shelf/", "shelf");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    let mut paths = site.log().paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/", "/robots.txt", "/shelf/", "/shelf/book", "/sign"]);
    assert_eq!(summary["refused_links"], json!({ "out-of-scope": 1 }));
}

#[test]
fn a_page_that_sends_its_reader_on_is_followed() {
    let site = Site::start();
    let refresh = |to: &str| format!("<meta http-equiv=\"refresh\" content=\"0; url={to}\"><p>moved</p>");
    site.page("/", refresh("/next"));
    site.page("/next", refresh("/"));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/", "/next"]);
    assert_eq!(summary["succeeded"], 2);
}

#[test]
fn a_page_whose_canonical_leads_back_to_it_or_shows_nothing_is_visited_again() {
    let site = Site::start();
    let canonical = |path: &str| format!("<link rel=canonical href=\"{path}\"><p>words</p>");
    site.page("/", links_page("home", &["/page/", "/q"]).as_str());
    site.page("/page/", canonical("/page").as_str());
    site.page("/page", Reply::redirect(301, "/page/"));
    site.page("/q", canonical("/forbidden").as_str());
    site.page("/forbidden", Reply::status(403, "no"));
    let freshet = Freshet::new();
    let flags = ["--cycles", "4"];
    crawl(&freshet, &[site.url("/")], &flags);
    // What their canonicals turn out to be can't stand for them.
    assert!(site.log().count("/page/") >= 3, "{:?}", site.log().paths());
    assert!(site.log().count("/q") >= 2, "{:?}", site.log().paths());
}
