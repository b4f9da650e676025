//! `freshet serve`: the page of a page and of a site, as people see them: pictures, versions, texts as they were, and what strangers wrote.

use crate::stopped_and_killed::wait_until;
use crate::support::browser::{Answered, Served};
use crate::support::{FAST, Freshet, Reply, Site, links_page};

/// No page may be larger.
const MOST_BYTES: usize = 300_000;

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site, times: usize) {
    let seeds = freshet.seeds(&[site.url("/")]);
    for _ in 0..times {
        let ran = freshet.run(&[&["crawl", "--no-sitemaps", "--seeds", &seeds], &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
}

/// A list of five items, the one with the number `first` last, under a heading and over a foot that stay.
fn news(first: usize) -> String {
    let words = |item: usize| (0..12).map(|word| format!("word{item}x{word} ")).collect::<String>();
    let items: String = (first..first + 5).rev().map(|item| format!("<li>{}</li>", words(item))).collect();
    format!(
        "<title>The news</title><h1>The news of our small town</h1><ul>{items}</ul><p>Written by people who live here</p>"
    )
}

/// A site with a list of news, crawled six times.
fn crawled(freshet: &Freshet) -> Site {
    let site = Site::start();
    site.page("/", links_page("home", &["/news"]).as_str());
    site.page("/news", Reply::sequence((0..6).map(|first| Reply::html(news(first))).collect()));
    crawl(freshet, &site, 6);
    site
}

/// The address of the page about a page.
#[track_caller]
fn place(served: &Served, url: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
    let found = served.get(&format!("/page?url={query}"));
    assert_eq!(found.status, 303, "{}", found.body);
    found.header("location").expect("a place").to_owned()
}

#[track_caller]
fn shown(served: &Served, path: &str) -> Answered {
    let page = served.get(path);
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    assert!(page.body.len() < MOST_BYTES, "{path} has {} bytes", page.body.len());
    for inline in ["<script>", " style=", " onclick=", "javascript:", "NaN"] {
        assert!(!page.body.contains(inline), "{path} has {inline}");
    }
    page
}

#[track_caller]
fn assert_told(page: &Answered, parts: &[&str]) {
    for part in parts {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
}

#[test]
fn a_page_shows_how_it_moved_how_often_it_changes_and_its_visits() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let place = place(&served, &site.url("/news"));
    let page = shown(&served, &place);
    assert_told(
        &page,
        &[
            "<h1><bdi>The news</bdi></h1>",
            "<dt>visits</dt><dd>6</dd>",
            "<dt>changes</dt><dd>5</dd>",
            "When its text came and went",
            "always there",
            "Divergence from a copy as it ages",
            "utility at",
            "divergence × days",
            "The measured points as numbers",
            "<th scope=\"row\">gamma <span class=\"tag\">default</span></th>",
            "Version <output id=\"v-shown\">6</output> of 6",
        ],
    );
    assert!(page.body.matches("<svg").count() >= 4, "stripes, curve, strip of visits, bars of rates");
    assert!(page.body.contains("var(--plot-1"), "plots have the colours of the page");
    let visits = shown(&served, &format!("{place}/visits"));
    assert_told(&visits, &["Visits 1 to 6 of 6 visits, the latest first.", "first", "fetched"]);
}

#[test]
fn versions_stand_side_by_side_and_are_chosen_by_forms() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let place = place(&served, &site.url("/news"));
    // As the form of the slider sends it.
    let second = shown(&served, &format!("{place}?v=2"));
    assert_told(
        &second,
        &[
            "Version 1</a>",
            "Version 2</a>",
            "word5x0",
            "word0x11",
            "12 words added, 12 removed",
            "d-added",
            "d-removed",
        ],
    );
    assert!(!second.body.contains("word9x"), "version 6 is not compared");
    assert_told(
        &second,
        &[&format!("{place}?v=1#versions"), &format!("{place}?v=3#versions"), "type=\"range\""],
    );
    let both = shown(&served, &format!("{place}?from=6&to=1"));
    assert_told(
        &both,
        &["Version 1</a>", "Version 6</a>", "60 words added, 60 removed", "word9x0", "word4x0"],
    );
    // What is not there leads to the nearest that is.
    let last = shown(&served, &format!("{place}?v=99"));
    assert_told(&last, &["<output id=\"v-shown\">6</output>"]);
    assert_eq!(served.get(&format!("{place}?v=two")).status, 400);
}

#[test]
fn a_text_is_shown_as_it_was() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let place = place(&served, &site.url("/news"));
    let now = shown(&served, &format!("{place}/text"));
    assert_told(&now, &["Version 6 of 6", "word9x0", "SHA-256"]);
    let first = shown(&served, &format!("{place}/text?v=1"));
    assert_told(&first, &["Version 1 of 6", "word0x0", "?v=2"]);
    assert!(!first.body.contains("word9x0"));
    assert_told(&shown(&served, &format!("{place}/text?at=2200-01-01")), &["Version 6 of 6", "word9x0"]);
    let before = served.get(&format!("{place}/text?at=2001-01-01"));
    assert_eq!(before.status, 404, "{}", before.body);
    assert!(before.body.contains("its first version is of"), "{}", before.body);
    let wrong = served.get(&format!("{place}/text?at=soon"));
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert!(wrong.body.contains("write a date"), "{}", wrong.body);
}

/// The reasons of a page, once they are worked out.
#[track_caller]
fn reasons(served: &Served, place: &str) -> Answered {
    let path = format!("{place}/why");
    wait_until("the reasons", || !shown(served, &path).body.contains("being worked out"));
    shown(served, &path)
}

#[test]
fn reasons_are_told_at_an_address_of_their_own() {
    let freshet = Freshet::new();
    let site = crawled(&freshet);
    let served = Served::start(&freshet, &[]);
    let place = place(&served, &site.url("/news"));
    assert_told(&shown(&served, &place), &[&format!("href=\"{place}/why\"")]);
    assert_told(
        &reasons(&served, &place),
        &["Last visited", "Of 5 visits that could compare, 5 found a change", "Rank "],
    );
}

#[test]
fn a_site_shows_when_and_how_its_pages_change_and_how_it_is_treated() {
    let freshet = Freshet::new();
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /secret\nCrawl-delay: 0\n"));
    site.page("/", links_page("home", &["/news", "/secret"]).as_str());
    site.page("/news", Reply::sequence((0..6).map(|first| Reply::html(news(first))).collect()));
    crawl(&freshet, &site, 6);
    let served = Served::start(&freshet, &[]);
    let host = site.origin(0);
    let query: String = url::form_urlencoded::byte_serialize(host.as_bytes()).collect();
    let page = shown(&served, &format!("/site?host={query}"));
    assert_told(
        &page,
        &[
            &host,
            "Changes by weekday and hour",
            "The latest 5 changes since",
            "<th scope=\"row\">Mon</th>",
            "The 1 page that changed last",
            "scroll: 1",
            "robots.txt",
            "outcome=robots",
            "The news",
            "class=\"strip\"",
        ],
    );
    // By its name alone, too.
    let name = host.trim_start_matches("http://");
    assert_told(&shown(&served, &format!("/site?host={name}")), &[&host]);
    let unknown = served.get("/site?host=no.such.example");
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    assert_eq!(served.get("/site?host=two%20words").status, 404);
}

#[test]
fn what_strangers_wrote_is_shown_and_never_obeyed() {
    let freshet = Freshet::new();
    let site = Site::start();
    freshet.write("freshet.toml", "[limits]\nurl_length = 6000\n");
    let long = format!("/{}", "long".repeat(1250));
    site.page("/", links_page("home", &["/hostile", &long]).as_str());
    let hostile = |word: &str| {
        let lines = "<p>&lt;&amp;&quot;'&lt;script&gt;alert(1)&lt;/script&gt; \u{202e}turned\u{2066}</p>"
            .repeat(3000);
        Reply::html(format!(
            "<title>&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;\u{202e}{word}</title><p>{word} &lt;img src=x onerror=alert(3)&gt;</p>{lines}<p>{}</p>",
            "&lt;".repeat(400_000)
        ))
    };
    site.page("/hostile", Reply::sequence(vec![hostile("one"), hostile("two"), hostile("three")]));
    site.page(&long, Reply::sequence(vec![Reply::html("<p>one word</p>"), Reply::html("<p>two words</p>")]));
    crawl(&freshet, &site, 3);
    let served = Served::start(&freshet, &[]);
    let (hostile, long) = (place(&served, &site.url("/hostile")), place(&served, &site.url(&long)));
    let query: String = url::form_urlencoded::byte_serialize(site.origin(0).as_bytes()).collect();
    let paths = [
        hostile.clone(),
        format!("{hostile}?from=1&to=3"),
        format!("{hostile}/text"),
        format!("{hostile}/text?part=5"),
        format!("{hostile}/visits"),
        format!("{hostile}/why"),
        long.clone(),
        format!("{long}/text"),
        format!("{long}/why"),
        format!("/site?host={query}"),
    ];
    for path in paths {
        let page = shown(&served, &path);
        for obeyed in ["<script>alert", "<img", "\u{202e}", "\u{2066}"] {
            assert!(!page.body.contains(obeyed), "{path} has {obeyed}");
        }
    }
    assert_told(&shown(&served, &hostile), &["&#60;script&#62;alert(2)"]);
    assert_told(
        &shown(&served, &format!("{hostile}/text")),
        &["Part 1 of", "Next part", "&#60;script&#62;alert(1)"],
    );
}

#[test]
fn a_page_without_visits_and_one_that_is_not_there_are_told() {
    let freshet = Freshet::new();
    let site = Site::start();
    site.page("/", links_page("home", &["/later"]).as_str());
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran =
        freshet.run(&[&["crawl", "--no-sitemaps", "--budget", "2", "--seeds", &seeds], &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let served = Served::start(&freshet, &[]);
    let later = place(&served, &site.url("/later"));
    assert_told(&shown(&served, &later), &["It was not visited yet."]);
    assert_told(&shown(&served, &format!("{later}/visits")), &["No visits."]);
    assert_told(&reasons(&served, &later), &["never visited"]);
    assert_eq!(served.get(&format!("{later}/text")).status, 404);
    let once = shown(&served, &place(&served, &site.url("/")));
    assert_told(&once, &["One version is stored", "It takes two visits to say how often it changes."]);
    for (path, status) in [
        ("/page/99999", 404),
        ("/page/one", 404),
        ("/page/99999/text", 404),
        ("/page/99999/why", 404),
        ("/page", 400),
        ("/page?url=nonsense%20here", 400),
        ("/page?url=http://no.such.example/", 404),
        ("/site", 400),
    ] {
        let answered = served.get(path);
        assert_eq!(answered.status, status, "{path}: {}", answered.body);
        assert!(answered.body.starts_with("<!doctype html>"), "{path}: {}", answered.body);
    }
}
