//! How far a crawl goes: scope, patterns, depth and limits; and what it tells of the links it left alone.

use crate::support::{FAST, Freshet, Reply, Site, links_page};
use serde_json::{Value, json};

/// Crawls these seed lines with these flags; the summary.
#[track_caller]
fn crawl(freshet: &Freshet, seeds: &[String], flags: &[&str]) -> Value {
    let seeds = freshet.seeds(seeds);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json", "--no-sitemaps"], &FAST[..], flags].concat())
}

/// The pages of a host that were asked for, in the order of the alphabet.
fn pages_asked(site: &Site, host: usize) -> Vec<String> {
    let mut paths = site.log().on(host).paths();
    paths.retain(|path| path != "/robots.txt");
    paths.sort_unstable();
    paths
}

/// `127.0.0.1:4321`, as sections of the settings file are called.
fn address(site: &Site, host: usize) -> String {
    site.origin(host).trim_start_matches("http://").to_owned()
}

/// A chain of pages, each with a link to the next: `/0`, `/1`, …
fn chain(site: &Site, length: usize) {
    for at in 0..length {
        site.page(&format!("/{at}"), links_page("link of a chain", &[&format!("/{}", at + 1)]));
    }
}

// --- scope -----------------------------------------------------------------------------------------------------

#[test]
fn without_a_word_a_crawl_stays_on_the_hosts_of_its_seeds() {
    let site = Site::with_hosts(3);
    let (second, third) = (site.url_on(1, "/there"), site.url_on(2, "/nowhere"));
    site.page_on(0, "/", links_page("home", &["/here", &second, &third]));
    site.page("/here", "here");
    site.page_on(1, "/", "a seed as well");
    site.page_on(1, "/there", "there");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/"), site.url_on(1, "/")], &[]);

    assert_eq!(pages_asked(&site, 0), ["/", "/here"]);
    assert_eq!(pages_asked(&site, 1), ["/", "/there"]);
    assert_eq!(site.log().on(2).total(), 0, "not even its robots.txt");
    assert_eq!(summary["refused_links"], json!({ "out-of-scope": 1 }));
}

#[test]
fn another_port_of_an_address_is_another_host() {
    let site = Site::with_ports(2);
    site.page_on(0, "/", links_page("home", &[&site.url_on(1, "/")]));
    site.page_on(1, "/", "next door");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(site.log().on(1).total(), 0);
    assert_eq!(summary["refused_links"]["out-of-scope"], 1);
}

#[test]
fn scope_prefix_stays_in_the_folder_of_its_seed() {
    let site = Site::start();
    let links = ["a.html", "deep/b.html", "/docs/c.html", "/docsish", "../blog/", "/docs/../secret", "/"];
    site.page("/docs/index.html", links_page("docs", &links));
    for page in ["/docs/a.html", "/docs/deep/b.html", "/docs/c.html"] {
        site.page(page, links_page("inside", &["/blog/", "/docs/index.html"]));
    }
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/docs/index.html")], &["--scope", "prefix"]);

    let inside = ["/docs/a.html", "/docs/c.html", "/docs/deep/b.html", "/docs/index.html"];
    assert_eq!(pages_asked(&site, 0), inside);
    assert_eq!(
        summary["refused_links"],
        json!({ "out-of-scope": 7 }),
        "4 of the first page, 1 of each other"
    );
}

#[test]
fn scope_domain_means_an_address_on_every_port() {
    let site = Site::with_ports(2);
    site.page_on(0, "/", links_page("home", &[&site.url_on(1, "/"), "http://127.0.0.9:1/"]));
    site.page_on(1, "/", links_page("next door", &["/further"]));
    site.page_on(1, "/further", "further");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &["--scope", "domain"]);
    assert_eq!(pages_asked(&site, 1), ["/", "/further"]);
    assert_eq!(summary["refused_links"], json!({ "out-of-scope": 1 }));
    site.log().assert_polite(1, 0.0);
}

#[test]
fn scope_any_goes_wherever_links_lead() {
    let site = Site::with_hosts(3);
    site.page_on(0, "/", links_page("home", &[&site.url_on(1, "/one")]));
    site.page_on(1, "/one", links_page("one", &[&site.url_on(2, "/two")]));
    site.page_on(2, "/two", "two");
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &["--scope", "any"]);
    assert_eq!(summary["succeeded"], 3);
    assert_eq!(summary["host_count"], 3);
    assert_eq!(summary["refused_links"], json!({}));
    for host in 0..3 {
        site.log().assert_polite(host, 0.0);
    }
}

#[test]
fn a_seed_line_has_its_own_scope() {
    let site = Site::with_hosts(2);
    site.page("/docs/", links_page("docs", &["a", "/blog/"]));
    site.page("/docs/a", "a");
    site.page("/blog/", "blog");
    let freshet = Freshet::new();
    let lines = [site.url("/docs/") + "\tscope=prefix", site.url_on(1, "/docs/")];
    let summary = crawl(&freshet, &lines, &["--scope", "host"]);
    assert_eq!(pages_asked(&site, 0), ["/docs/", "/docs/a"]);
    assert_eq!(pages_asked(&site, 1), ["/blog/", "/docs/", "/docs/a"]);
    assert_eq!(summary["refused_links"], json!({ "out-of-scope": 1 }));
}

// --- depth -----------------------------------------------------------------------------------------------------

#[test]
fn max_depth_counts_links_from_the_seed() {
    let site = Site::start();
    chain(&site, 9);
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/0")], &["--max-depth", "2"]);
    assert_eq!(pages_asked(&site, 0), ["/0", "/1", "/2"]);
    assert_eq!(summary["refused_links"], json!({ "too-deep": 1 }));
    let listed = freshet.run(&["pages", "--format", "csv"]).stdout;
    assert_eq!(listed.lines().count(), 4, "what is too deep is not even known\n{listed}");
}

#[test]
fn a_depth_of_zero_is_the_seed_alone() {
    let site = Site::start();
    chain(&site, 3);
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/0")], &["--max-depth", "0"]);
    assert_eq!(pages_asked(&site, 0), ["/0"]);
}

#[test]
fn a_seed_lines_depth_stands_over_the_flag() {
    let site = Site::with_hosts(2);
    chain(&site, 9);
    let freshet = Freshet::new();
    let lines = [site.url("/0") + "\tdepth=1", site.url_on(1, "/0")];
    let summary = crawl(&freshet, &lines, &["--max-depth", "3"]);
    assert_eq!(pages_asked(&site, 0), ["/0", "/1"]);
    assert_eq!(pages_asked(&site, 1), ["/0", "/1", "/2", "/3"]);
    assert_eq!(summary["refused_links"], json!({ "too-deep": 2 }));
}

// --- patterns --------------------------------------------------------------------------------------------------

#[test]
fn include_and_exclude_choose_by_the_whole_url() {
    let site = Site::start();
    let links = ["/news/1", "/news/2.pdf", "/shop/1", "/sport/1", "/news/private/3"];
    site.page("/", links_page("the seed need not match", &links));
    site.page("/news/1", "news");
    site.page("/sport/1", "sport");
    let freshet = Freshet::new();
    let flags =
        ["--include", "/news/", "--include", "/sport/", "--exclude", r"\.pdf$", "--exclude", "private"];
    let summary = crawl(&freshet, &[site.url("/")], &flags);
    assert_eq!(pages_asked(&site, 0), ["/", "/news/1", "/sport/1"]);
    assert_eq!(summary["refused_links"], json!({ "excluded": 2, "not-included": 1 }));
}

// --- limits on pages -------------------------------------------------------------------------------------------

#[test]
fn max_pages_per_host_holds_for_each_host_apart() {
    let site = Site::with_hosts(2);
    let links: Vec<String> = (0..20).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("many", &links));
    site.otherwise(|_| Reply::html("one of many"));
    let freshet = Freshet::new();
    let seeds = [site.url("/"), site.url_on(1, "/")];
    let summary = crawl(&freshet, &seeds, &["--max-pages-per-host", "5"]);
    assert_eq!(pages_asked(&site, 0).len(), 5);
    assert_eq!(pages_asked(&site, 1).len(), 5);
    assert_eq!(summary["refused_links"], json!({ "host-full": 32 }));
}

#[test]
fn only_so_many_links_of_a_page_are_taken() {
    let site = Site::start();
    let links: Vec<String> = (0..10).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("many", &links));
    site.otherwise(|_| Reply::html("one of many"));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nlinks_per_page = 4\n");
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(pages_asked(&site, 0), ["/", "/0", "/1", "/2", "/3"]);
    assert_eq!(summary["refused_links"], json!({ "links-per-page": 6 }));
}

// --- traps -----------------------------------------------------------------------------------------------------

#[test]
fn a_calendar_without_end_is_left_after_so_many_months() {
    let site = Site::start();
    site.page("/", links_page("home", &["/calendar?month=0", "/about"]));
    site.page("/about", "about");
    site.page(
        "/calendar",
        Reply::dynamic(|request| {
            let month = request.path.rsplit('=').next().and_then(|month| month.parse().ok()).unwrap_or(0u32);
            links_page("calendar", &[&format!("/calendar?month={}", month + 1)]).into()
        }),
    );
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nquery_variants = 5\n");
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    let months = pages_asked(&site, 0).iter().filter(|path| path.starts_with("/calendar")).count();
    assert_eq!(months, 5);
    assert!(site.log().asked("/about"));
    assert_eq!(summary["refused_links"], json!({ "query-variants": 1 }));

    // The limit holds over the runs: what is known counts.
    site.page("/", links_page("home", &["/calendar?month=77"]));
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert!(!site.log().asked("/calendar?month=77"));
    assert_eq!(summary["refused_links"], json!({ "query-variants": 1 }));
}

#[test]
fn folders_within_folders_end_at_the_path_depth() {
    let site = Site::start();
    site.otherwise(|request| {
        let depth = request.path.matches('/').count();
        links_page("deeper", &[&format!("level{depth}/")]).into()
    });
    site.page("/robots.txt", Reply::status(404, ""));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\npath_depth = 6\n");
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(pages_asked(&site, 0).len(), 7, "{:?}", pages_asked(&site, 0));
    assert_eq!(summary["refused_links"], json!({ "path-too-deep": 1 }));
}

#[test]
fn a_relative_link_gone_wrong_ends_after_three_rounds() {
    let site = Site::start();
    site.otherwise(|_| links_page("again", &["de/"]).into());
    site.page("/robots.txt", Reply::status(404, ""));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(pages_asked(&site, 0), ["/", "/de/", "/de/de/", "/de/de/de/"]);
    assert_eq!(summary["refused_links"], json!({ "repeated-segments": 1 }));
}

#[test]
fn a_url_that_is_too_long_is_not_asked_for() {
    let site = Site::start();
    let prefix = site.url("/").len();
    let fits = format!("/{}", "f".repeat(200 - prefix));
    let too_long = format!("/{}", "t".repeat(201 - prefix));
    let absurd = format!("/{}", "a".repeat(100_000));
    site.page("/", links_page("home", &[&fits, &too_long, &absurd]));
    site.page(&fits, "just so");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nurl_length = 200\n");
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(pages_asked(&site, 0), ["/", fits.as_str()]);
    assert_eq!(summary["refused_links"], json!({ "url-too-long": 2 }));
}

// --- sections of a site ----------------------------------------------------------------------------------------

#[test]
fn a_sites_section_excludes_and_scopes_there_alone() {
    let site = Site::with_hosts(2);
    site.page("/docs/", links_page("docs", &["a", "/blog/", "private"]));
    for page in ["/docs/a", "/docs/private", "/blog/"] {
        site.page(page, "words");
    }
    let freshet = Freshet::new();
    let section = format!("[site.\"{}\"]\nscope = \"prefix\"\nexclude = [\"private\"]\n", address(&site, 0));
    freshet.write("freshet.toml", section);
    let summary = crawl(&freshet, &[site.url("/docs/"), site.url_on(1, "/docs/")], &[]);
    assert_eq!(pages_asked(&site, 0), ["/docs/", "/docs/a"]);
    assert_eq!(pages_asked(&site, 1), ["/blog/", "/docs/", "/docs/a", "/docs/private"]);
    assert_eq!(summary["refused_links"], json!({ "excluded": 1, "out-of-scope": 1 }));
}

#[test]
fn a_sites_include_stands_in_for_the_general_one() {
    let site = Site::with_hosts(2);
    site.page("/", links_page("home", &["/red", "/blue"]));
    site.page("/red", "red");
    site.page("/blue", "blue");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", format!("[site.\"{}\"]\ninclude = [\"/blue\"]\n", address(&site, 1)));
    let summary = crawl(&freshet, &[site.url("/"), site.url_on(1, "/")], &["--include", "/red"]);
    assert_eq!(pages_asked(&site, 0), ["/", "/red"]);
    assert_eq!(pages_asked(&site, 1), ["/", "/blue"]);
    assert_eq!(summary["refused_links"], json!({ "not-included": 2 }));
}

#[test]
fn a_sites_budget_is_what_it_is_asked_for_in_a_cycle() {
    let site = Site::with_hosts(2);
    chain(&site, 8);
    let freshet = Freshet::new();
    freshet.write("freshet.toml", format!("[site.\"{}\"]\nbudget = 4\n", address(&site, 0)));
    crawl(&freshet, &[site.url("/0"), site.url_on(1, "/0")], &[]);
    let log = site.log();
    assert_eq!(log.on(0).total(), 4, "robots.txt is a request too: {:?}", log.on(0).paths());
    assert_eq!(log.on(1).total(), 10, "the other host has no such limit: {:?}", log.on(1).paths());

    // What was left comes first the next time.
    site.clear_log();
    crawl(&freshet, &[site.url("/0")], &["--config", "freshet.toml"]);
    let again = site.log().on(0);
    assert_eq!(again.total(), 4, "{:?}", again.paths());
    assert_eq!(again.paths()[0], "/3", "new pages come first: {:?}", again.paths());
}

// --- the account -----------------------------------------------------------------------------------------------

#[test]
fn every_link_left_alone_is_counted_by_its_reason() {
    let site = Site::start();
    let port = address(&site, 0).rsplit(':').next().unwrap_or_default().to_owned();
    let long = format!("/{}", "x".repeat(3000));
    let links = [
        "http://127.0.0.9:1/elsewhere",
        "/secret/1",
        "/secret/2",
        &long,
        "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
        "/a/b/a/b/a/b/a/b",
        &format!("http://reader:word@127.0.0.1:{port}/"),
        "http://[nonsense/",
    ];
    let nofollow = r#"<a href="/paid" rel="nofollow">paid</a>"#;
    site.page("/", format!("{}{nofollow}", links_page("home", &links)));
    let freshet = Freshet::new();
    let summary = crawl(&freshet, &[site.url("/")], &["--exclude", "/secret/"]);
    let expected = json!({
        "excluded": 2,
        "malformed": 1,
        "no-follow": 1,
        "out-of-scope": 1,
        "path-too-deep": 1,
        "repeated-segments": 1,
        "url-too-long": 1,
        "user-info": 1,
    });
    assert_eq!(summary["refused_links"], expected);
    assert_eq!(freshet.json(&["status", "--json"])["refused_links"], expected);
    assert_eq!(pages_asked(&site, 0), ["/"]);
    let told = freshet.run(&["status"]).stdout;
    assert!(told.contains("2 excluded") && told.contains("1 user-info"), "{told}");

    // `status` adds up over the runs.
    site.page("/", links_page("home", &["/secret/3"]));
    let summary = crawl(&freshet, &[site.url("/")], &["--exclude", "/secret/"]);
    assert_eq!(summary["refused_links"], json!({ "excluded": 1 }));
    assert_eq!(freshet.json(&["status", "--json"])["refused_links"]["excluded"], 3);
}

#[test]
fn limits_hold_beyond_the_memory_of_known_pages() {
    let site = Site::start();
    site.otherwise(|request| {
        // A trap: every page leads to five that nobody has seen.
        let links: Vec<String> =
            (0..5).map(|next| format!("{}/{next}", request.path.trim_end_matches('/'))).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        match request.path.as_str() {
            "/robots.txt" | "/sitemap.xml" => Reply::status(404, "none"),
            _ => Reply::html(links_page("trap", &links)),
        }
    });
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nknown_urls = 40\npages_per_host = 60\nrepeated_segments = 16\n");
    let seeds = freshet.seeds(&[site.url("/")]);
    let summary = freshet.json(&["crawl", "--seeds", &seeds, "--json", "--allow-private", "--delay", "0"]);
    // Links of one batch may pass together before the store has said which are new.
    let known = summary["known_urls"].as_u64().unwrap_or(u64::MAX);
    assert!((60..400).contains(&known), "{summary:#}");
    assert!(summary["refused_links"]["host-full"].as_u64() > Some(0), "{summary:#}");
}
