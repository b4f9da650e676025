//! One page looked at, two pages held against each other: asked for as politely as in a crawl, and nothing stored.

use crate::support::{Freshet, Ran, Reply, Running, Site, links_page};
use serde_json::{Value, json};
use std::time::Duration;

/// The site is on loopback, and needs no pause.
const FAST: [&str; 3] = ["--allow-private", "--delay", "0"];

#[track_caller]
fn assert_refused(ran: &Ran, code: i32, said: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.output());
    for words in said {
        assert!(ran.stderr.contains(words), "`{words}` is not said\n{}", ran.output());
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

/// Nothing but what the story wrote itself.
#[track_caller]
fn assert_nothing_stored(freshet: &Freshet) {
    let files = std::fs::read_dir(freshet.path(".")).expect("the folder is there");
    let names: Vec<String> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.starts_with("freshet.db")), "{names:?}");
}

// --- compare ---------------------------------------------------------------------------------------------------

#[test]
fn two_files_are_as_far_apart_as_the_definition_says() {
    let golden: Value =
        serde_json::from_str(include_str!("../golden/jaccard.json")).expect("the golden file is JSON");
    let tolerance = golden["tolerance"]["absolute"].as_f64().expect("a tolerance");
    let freshet = Freshet::new();
    for case in golden["cases"].as_array().expect("cases").iter().step_by(4) {
        freshet.write("a.txt", case["a"].as_str().expect("a text"));
        freshet.write("b.txt", case["b"].as_str().expect("a text"));
        let found = freshet.json(&["compare", "a.txt", "b.txt", "--json", "--k", &case["k"].to_string()]);
        let divergence = found["divergence"].as_f64().expect("a number");
        let expected = case["fragment_staleness"].as_f64().expect("a number");
        assert!((divergence - expected).abs() <= tolerance, "{case}\n{found}");
        for (name, golden) in
            [("fragments_a", "shingles_a"), ("fragments_b", "shingles_b"), ("shared", "intersection")]
        {
            assert_eq!(found[name], case[golden], "{name}\n{case}\n{found}");
        }
        for (name, fragments) in [("only_a", "fragments_a"), ("only_b", "fragments_b")] {
            assert_eq!(found[name] == json!([]), found[fragments] == found["shared"], "{case}\n{found}");
        }
    }
    assert_nothing_stored(&freshet);
}

#[test]
fn what_only_one_text_has_is_told_in_words() {
    let freshet = Freshet::new();
    freshet.write("a.txt", "The quick brown fox jumps over the lazy dog.");
    freshet.write("b.txt", "The quick brown fox leaps over the lazy dog.");
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--json"]);
    assert_eq!(
        found,
        json!({
            "a": "a.txt", "b": "b.txt", "divergence": 0.8, "exact_divergence": 0.8, "k": 4, "m": null,
            "fragments_a": 6, "fragments_b": 6, "shared": 2,
            "only_a": ["quick brown fox jumps over the lazy"],
            "only_b": ["quick brown fox leaps over the lazy"],
            "version": 1,
        })
    );

    let ran = freshet.run(&["compare", "a.txt", "b.txt", "--k", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "divergence 0.2222",
            "fragments of 1 word: 7 in both",
            "",
            "only in a.txt: 1 of 8 fragments",
            "- jumps",
            "",
            "only in b.txt: 1 of 8 fragments",
            "+ leaps",
        ]
    );
}

#[test]
fn the_first_twenty_stretches_are_shown_unless_all_are_wanted() {
    let freshet = Freshet::new();
    let with = |word: &str| (0..30).map(|n| format!("same{n} also{n} {word}{n}\n")).collect::<String>();
    freshet.write("a.txt", with("old"));
    freshet.write("b.txt", with("new"));
    let lines = |flags: &[&str], sign: &str| {
        let ran = freshet.run(&[&["compare", "a.txt", "b.txt", "--k", "1"], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran.stdout.lines().filter(|line| line.starts_with(sign)).count()
    };
    assert_eq!([lines(&[], "- "), lines(&[], "+ "), lines(&[], "  and 10 more")], [20, 20, 2]);
    assert_eq!([lines(&["--all"], "- "), lines(&["--all"], "+ "), lines(&["--all"], "  and")], [30, 30, 0]);
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--k", "1", "--json"]);
    assert_eq!(found["only_a"].as_array().map(Vec::len), Some(30));
}

#[test]
fn a_sketch_estimates_what_all_fragments_tell() {
    let freshet = Freshet::new();
    let words = |from: u32| (from..from + 300).map(|n| format!("word{n} ")).collect::<String>();
    freshet.write("a.txt", words(0));
    freshet.write("b.txt", words(150));
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--json", "--k", "1", "--m", "64"]);
    assert_eq!((&found["m"], &found["shared"]), (&json!(64), &json!(150)));
    let [estimate, exact] = ["divergence", "exact_divergence"].map(|name| found[name].as_f64().unwrap());
    assert!((exact - 2.0 / 3.0).abs() < 1e-12 && estimate != exact, "{found}");
    // Six standard deviations: √(1/3 · 2/3 / 64) = 0.059.
    assert!((estimate - exact).abs() < 0.36, "{found}");
    let ran = freshet.run(&["compare", "a.txt", "b.txt", "--k", "1", "--m", "64"]);
    assert!(ran.stdout.contains("estimated from the 64 smallest"), "{}", ran.output());
    assert!(ran.stdout.contains("exactly 0.6667"), "{}", ran.output());
}

#[test]
fn pages_are_read_as_pages_and_texts_as_texts() {
    let freshet = Freshet::new();
    freshet.write("page.HTM", "<title>no part</title><p>One <b>two</b> three<script>four()</script><p>five");
    freshet.write("plain.txt", "one two\nthree five\n");
    freshet.write("tags.txt", "<p>One <b>two</b> three<p>five");
    let divergence = |a: &str, b: &str| freshet.json(&["compare", a, b, "--json"])["divergence"].clone();
    assert_eq!(divergence("page.HTM", "plain.txt"), json!(0.0));
    assert_ne!(divergence("page.HTM", "tags.txt"), json!(0.0));
    assert_eq!(divergence("plain.txt", "plain.txt"), json!(0.0));

    let mut command = freshet.command();
    command.args(["compare", "-", "plain.txt", "--json"]);
    command.stdin(std::fs::File::open(freshet.path("plain.txt")).expect("it was just written"));
    let found = Running::start(command).wait(Duration::from_secs(60)).json();
    assert_eq!((&found["divergence"], &found["a"]), (&json!(0.0), &json!("-")));
}

#[test]
fn words_of_a_fragment_are_those_of_the_settings() {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[change]\nfragment_words = 2\n");
    freshet.write("a.txt", "one two three");
    let k = |flags: &[&str]| {
        freshet.json(&[&["compare", "a.txt", "a.txt", "--json"], flags].concat())["k"].clone()
    };
    assert_eq!([k(&[]), k(&["--k", "3"]), k(&["--k", "64"])], [2, 3, 64]);
}

#[test]
fn what_can_not_be_compared_is_named() {
    let freshet = Freshet::new();
    freshet.write("a.txt", "one two three");
    freshet.write("empty.txt", "");
    freshet.write("image.html", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR");
    freshet.write("image", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR");
    freshet.write("latin.txt", b"caf\xe9 \xff\xfe \x80");
    for (flags, code, said) in [
        (&["--k", "0"][..], 2, "--k is `0`; it must be a whole number from 1 to 64"),
        (&["--k", "65"], 2, "from 1 to 64"),
        (&["--k", "x"], 2, "--k"),
        (&["--m", "0"], 2, "--m is `0`"),
        (&["--m", "x"], 2, "--m is `x`"),
        (&["--m", "-3"], 2, "--m is `-3`; it must be a number from 1 up, or `all`"),
    ] {
        let ran = freshet.run(&[&["compare", "a.txt", "a.txt"], flags].concat());
        assert_refused(&ran, code, &[said]);
        assert_eq!(ran.stdout, "");
    }
    for (name, code, said) in [
        ("missing.txt", 1, "`missing.txt` can't be read"),
        (".", 1, "`.` can't be read"),
        ("image.html", 1, "`image.html` is no text"),
        ("image", 1, "`image` is no text"),
        ("ftp://example.org/", 1, "can't be read"),
        ("http://", 2, "is no page"),
        ("http://reader:secret@example.org/", 2, "password"),
    ] {
        let ran = freshet.run(&["compare", "a.txt", name]);
        assert_refused(&ran, code, &[said]);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    assert_refused(&freshet.run(&["compare", "-", "-"]), 2, &["standard input"]);
    assert_refused(&freshet.run(&["compare", "a.txt"]), 2, &[]);
    let found = freshet.json(&["compare", "a.txt", "empty.txt", "--json"]);
    assert_eq!((&found["divergence"], &found["fragments_b"]), (&json!(1.0), &json!(0)));
    assert_eq!(freshet.json(&["compare", "empty.txt", "empty.txt", "--json"])["divergence"], json!(0.0));
    assert_eq!(freshet.run(&["compare", "a.txt", "latin.txt"]).code, Some(0));
}

#[test]
fn a_page_of_the_web_is_compared_with_a_file_by_the_rules_of_the_settings() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /no\n"));
    site.page("/old", Reply::redirect(301, "/new"));
    site.page("/new", "<p>one two three four<p class=clock>12:34");
    site.page("/no", "forbidden");
    site.page("/image", Reply::bytes("image/png", "not a picture"));
    site.page("/soft", "<title>Page not found</title><p>Page not found");
    let freshet = Freshet::new();
    freshet.write("a.txt", "one two three four");
    let compare = |path: &str, more: &[&str]| {
        freshet.run(&[&["compare", "a.txt", &site.url(path), "--json"], &FAST[..], more].concat())
    };
    assert_ne!(compare("/old", &[]).json()["divergence"], json!(0.0));
    freshet.write("freshet.toml", "[change]\nignore = [\".clock\"]\n");
    let found = compare("/old", &[]).json();
    assert_eq!((&found["divergence"], &found["b"]), (&json!(0.0), &json!(site.url("/old"))));

    assert_refused(&compare("/no", &[]), 1, &["robots.txt", "/no"]);
    assert_refused(&compare("/gone", &[]), 1, &["404", "/gone"]);
    assert_refused(&compare("/image", &[]), 1, &["is no text", "/image"]);
    assert_refused(&compare("/soft", &[]), 1, &["says that it does not exist"]);
    assert!(!site.log().asked("/no"), "{:?}", site.log().paths());
    let strict = freshet.run(&["compare", "a.txt", &site.url("/new")]);
    assert_refused(&strict, 1, &["private", "--allow-private"]);
    assert_nothing_stored(&freshet);
}

#[test]
fn two_pages_of_one_host_are_asked_for_with_a_pause() {
    let site = Site::start();
    site.page("/a", links_page("one", &["/b"]));
    site.page("/b", links_page("one", &["/b"]));
    let freshet = Freshet::new();
    let (a, b) = (site.url("/a"), site.url("/b"));
    let found = freshet.json(&["compare", &a, &b, "--json", "--allow-private", "--delay", "0.2"]);
    assert_eq!(found["divergence"], json!(0.0));
    assert_eq!(site.log().count("/robots.txt"), 1, "{:?}", site.log().paths());
    site.log().assert_polite(0, 0.2);
}

// --- check -----------------------------------------------------------------------------------------------------

#[track_caller]
fn check(freshet: &Freshet, url: &str, flags: &[&str]) -> Ran {
    freshet.run(&[&["check", url, "--json"], &FAST[..], flags].concat())
}

/// What was told, however it ended.
#[track_caller]
fn told(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ran.output()))
}

/// The link that is written like this, as (taken, why, robots).
#[track_caller]
fn link(report: &Value, href: &str) -> (Value, Value, Value) {
    let links = report["document"]["links"].as_array().cloned().unwrap_or_default();
    let found = links.iter().find(|link| link["href"] == href);
    let link = found.unwrap_or_else(|| panic!("no link `{href}` in {report:#}"));
    (link["taken"].clone(), link["why"].clone(), link["robots_allowed"].clone())
}

const HOME: &str = "<html><head><title>The harbour</title><base href='/sub/'>\
    <link rel=canonical href='/home'><meta name=robots content=noindex></head>\
    <body><p>one two three four five</p><p class=clock>it is noon</p><a href=a>a</a><a href='a#part'>again</a>\
    <a href='/no/way'>forbidden</a><a href='https://example.com/'>far</a><a rel=nofollow href='/ad'>ad</a>\
    <a href='/skip/me'>skip</a><a href='http://[bad/'>bad</a></body></html>";

#[test]
fn a_page_is_told_with_all_that_a_crawl_would_make_of_it() {
    let site = Site::start();
    let robots =
        "User-agent: *\nDisallow: /no\nAllow: /\nCrawl-delay: 0.1\nSitemap: https://example.org/map.xml\n";
    site.page("/robots.txt", Reply::text(robots));
    site.page("/", Reply::html(HOME).etag("\"v1\"").header("Cache-Control", "max-age=60").gzip());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[change]\nignore = [\".clock\"]\nsketch = 1\nfragment_words = 2\n");
    let report = check(&freshet, &site.url("/"), &["--exclude", "/skip/"]).json();

    assert_eq!((&report["is_fetched"], &report["outcome"]), (&json!(true), &json!("fetched")));
    assert_eq!((&report["reason"], &report["requests"]), (&Value::Null, &json!(2)));
    let hop = &report["hops"][0];
    assert_eq!((&hop["url"], &hop["status"]), (&json!(site.url("/")), &json!(200)));
    assert_eq!((&hop["address"], &hop["refused_for"]), (&json!("127.0.0.1"), &Value::Null));
    assert_eq!(
        hop["robots"],
        json!({
            "allowed": true, "rule": "Allow: /", "status": 200, "reason": null, "crawl_delay_seconds": 0.1, "delay_seconds": 0.1,
            "sitemaps": ["https://example.org/map.xml"],
        })
    );
    assert_eq!(hop["body_bytes"], HOME.len());
    assert_eq!(
        (&hop["chosen_headers"]["etag"], &hop["chosen_headers"]["cache-control"]),
        (&json!("\"v1\""), &json!("max-age=60"))
    );

    let page = &report["document"];
    assert_eq!((&page["media"], &page["charset"]), (&json!("html"), &json!("UTF-8")));
    assert_eq!((&page["title"], &page["base"]), (&json!("The harbour"), &json!("/sub/")));
    assert_eq!(page["canonical"], site.url("/home"));
    assert_eq!((&page["noindex"], &page["nofollow"]), (&json!(true), &json!(false)));
    assert!(page["text"].as_str().is_some_and(|text| text.starts_with("one two three four five")), "{page}");
    assert!(page["text"].as_str().is_some_and(|text| !text.contains("noon")), "{page}");
    assert_eq!(page["sketch"], 1);
    assert_eq!((&page["fragments"], &page["fragment_words"]), (&json!(5), &json!(2)));
    assert_eq!((&page["words"], &page["words_ignored"]), (&json!(6), &json!(3)));

    let yes = |why: &str| (json!(true), json!(why), json!(true));
    let no = |why: &str, robots: Value| (json!(false), json!(why), robots);
    assert_eq!(link(&report, "a"), yes("in scope (host)"));
    assert_eq!(page["links"][0]["url"], site.url("/sub/a"));
    assert_eq!(link(&report, "a#part"), no("known", json!(true)));
    assert_eq!(link(&report, "/no/way"), no("robots", json!(false)));
    assert_eq!(link(&report, "https://example.com/"), no("out-of-scope", Value::Null));
    assert_eq!(link(&report, "/ad"), no("no-follow", json!(true)));
    assert_eq!(link(&report, "/skip/me"), no("excluded", json!(true)));
    assert_eq!(link(&report, "http://[bad/"), no("malformed", Value::Null));
    let obstinate = check(&freshet, &site.url("/"), &["--ignore-nofollow", "--scope", "any"]).json();
    assert_eq!(link(&obstinate, "/ad"), yes("in scope (any)"));
    assert_eq!(link(&obstinate, "https://example.com/"), (json!(true), json!("in scope (any)"), Value::Null));
    let picky = check(&freshet, &site.url("/"), &["--include", "/news/", "--include", "/sub/"]).json();
    assert_eq!(link(&picky, "a"), yes("in scope (host), included by `/sub/`"));
    assert_eq!(link(&picky, "/skip/me"), no("not-included", json!(true)));
    assert_nothing_stored(&freshet);
}

#[test]
fn people_read_the_same_in_sections() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /no\n"));
    let links: Vec<String> = (0..30).map(|n| format!("/page{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).chain(["/no/1"]).collect();
    site.page("/", links_page("A list", &links));
    let freshet = Freshet::new();
    let read = |flags: &[&str]| {
        let ran = freshet.run(&[&["check", &site.url("/")], &FAST[..], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran.stdout
    };
    let text = read(&[]);
    for said in [
        "robots  allowed, a pause of 0 s is kept",
        "answer  200 fetched",
        "title      A list",
        "links: 31, of which a crawl takes 30, not taken: robots 1",
        "and 11 more (--links all shows them)",
        "more lines (--text shows all)",
        "content-type",
    ] {
        assert!(text.contains(said), "`{said}` is not said\n{text}");
    }
    assert!(!text.contains("\n  /page29"), "{text}");
    let all = read(&["--links", "all", "--text"]);
    assert!(all.contains("\n  /page29\n") && all.contains("robots   ") && !all.contains("shows"), "{all}");
    assert!(all.contains("  +  in scope (host)  ") && all.contains("why"), "{all}");
    assert!(!read(&["--links", "0"]).contains("why"));
}

#[test]
fn what_robots_txt_forbids_is_not_asked_for() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /private\n"));
    site.page("/private/page", "secret");
    let freshet = Freshet::new();
    let ran = check(&freshet, &site.url("/private/page"), &[]);
    assert_refused(&ran, 1, &["robots.txt", "forbids it"]);
    let report = told(&ran);
    assert_eq!((&report["is_fetched"], &report["outcome"]), (&json!(false), &json!("robots")));
    assert_eq!(report["hops"][0]["robots"]["allowed"], false);
    assert_eq!(report["hops"][0]["robots"]["rule"], "Disallow: /private");
    assert_eq!(report["document"], Value::Null);
    assert_eq!(site.log().paths(), ["/robots.txt"]);
    let text = freshet.run(&[&["check", &site.url("/private/page")], &FAST[..]].concat());
    assert!(text.stdout.contains("forbidden by `Disallow: /private`"), "{}", text.output());
    assert_nothing_stored(&freshet);
}

#[test]
fn redirects_are_followed_hop_by_hop_and_each_host_is_asked_for_its_rules_first() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/a", Reply::redirect(301, "/b"));
    site.page_on(0, "/b", Reply::redirect(302, site.url_on(1, "/c")));
    site.page_on(1, "/c", links_page("there", &["/d", &site.url_on(0, "/e")]));
    site.page_on(1, "/robots.txt", Reply::text("User-agent: *\nDisallow: /d\n"));
    let freshet = Freshet::new();
    let report = freshet.json(&["check", &site.url("/a"), "--json", "--allow-private", "--delay", "0.1"]);

    let hops: Vec<(&str, &str)> = report["hops"]
        .as_array()
        .expect("hops")
        .iter()
        .map(|hop| {
            (hop["outcome"].as_str().expect("a word"), hop["refused_for"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(hops, [("moved", ""), ("redirected", ""), ("fetched", "out-of-scope")]);
    assert_eq!(report["hops"][0]["redirect_to"], site.url("/b"));
    assert_eq!(report["hops"][0]["robots"]["status"], 404);
    assert_eq!(report["hops"][2]["robots"]["status"], 200);
    assert_eq!(report["document"]["url"], site.url_on(1, "/c"));
    assert_eq!(link(&report, "/d").1, "robots");
    assert_eq!(link(&report, &site.url_on(0, "/e")).1, "in scope (host)", "the first host is the seed's");
    assert_eq!(site.log().on(0).paths(), ["/robots.txt", "/a", "/b"]);
    assert_eq!(site.log().on(1).paths(), ["/robots.txt", "/c"]);
    site.log().assert_polite(0, 0.1);
    site.log().assert_polite(1, 0.1);
}

#[test]
fn a_redirect_to_an_address_that_is_not_open_ends_there() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/", Reply::redirect(302, site.url_on(1, "/inside")));
    site.page_on(1, "/inside", "for the house only");
    let freshet = Freshet::new();
    let ran =
        freshet.run(&["check", &site.url("/"), "--json", "--delay", "0", "--allow-private=127.0.0.1/32"]);
    assert_refused(&ran, 1, &["private", "hint:"]);
    let report = told(&ran);
    assert_eq!(
        (&report["outcome"], &report["hops"][1]["robots"]["allowed"]),
        (&json!("address"), &Value::Null)
    );
    assert_eq!(site.log().on(1).total(), 0);
}

#[test]
fn redirects_that_lead_nowhere_say_so() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /no\n"));
    site.page("/round", Reply::redirect(302, "/about"));
    site.page("/about", Reply::redirect(302, "/round"));
    site.page("/mail", Reply::redirect(302, "mailto:me@example.org"));
    site.page("/empty", Reply::redirect(302, ""));
    site.page("/forbidden", Reply::redirect(302, "/no"));
    for hop in 0..9 {
        site.page(&format!("/far{hop}"), Reply::redirect(302, format!("/far{}", hop + 1)));
    }
    let freshet = Freshet::new();
    for (path, outcome, hops) in [
        ("/round", "redirect-loop", 2),
        ("/mail", "redirect-out-of-scope", 1),
        ("/empty", "redirect-bad-location", 1),
        ("/forbidden", "robots", 2),
        ("/far0", "redirect-too-many", 6),
    ] {
        let ran = check(&freshet, &site.url(path), &[]);
        assert_refused(&ran, 1, &["was not fetched"]);
        let report = told(&ran);
        assert_eq!(report["outcome"], outcome, "{path}");
        assert_eq!(report["hops"].as_array().map(Vec::len), Some(hops), "{path}\n{report:#}");
    }
    assert!(!site.log().asked("/no") && !site.log().asked("/far6"), "{:?}", site.log().paths());
}

#[test]
fn a_page_that_is_not_to_be_had_is_asked_for_once_and_the_reason_told() {
    let site = Site::start();
    site.page("/gone", Reply::status(410, "gone"));
    site.page("/broken", Reply::status(500, "broken"));
    site.page("/busy", Reply::status(503, "busy").header("Retry-After", "7"));
    site.page("/closed", Reply::status(403, "closed"));
    site.page("/cut", Reply::html("a long page").truncate(3));
    site.page("/reset", Reply::reset());
    site.page("/soft", "<title>404 Not Found</title><h1>Not Found</h1>");
    let freshet = Freshet::new();
    for (path, outcome, said) in [
        ("/missing", "missing", "404"),
        ("/gone", "missing", "410"),
        ("/broken", "server-error", "500"),
        ("/busy", "throttled", "come back in 7 s"),
        ("/closed", "http-error", "403"),
        ("/cut", "cut-off", "within the body"),
        ("/reset", "hung-up", "connection reset before an answer came"),
        ("/soft", "soft-missing", "says that it does not exist"),
    ] {
        let ran = check(&freshet, &site.url(path), &[]);
        assert_refused(&ran, 1, &["was not fetched", said]);
        let report = told(&ran);
        assert_eq!((&report["outcome"], &report["is_fetched"]), (&json!(outcome), &json!(false)), "{path}");
        assert!(report["reason"].as_str().is_some_and(|reason| reason.contains(said)), "{report:#}");
        assert_eq!(site.log().count(path), 1, "{path}");
    }
    assert_nothing_stored(&freshet);
}

#[test]
fn hosts_that_can_not_or_may_not_be_asked_are_told_apart() {
    let site = Site::with_hosts(3);
    site.page("/", "home");
    site.page_on(0, "/robots.txt", Reply::status(500, "broken"));
    site.page_on(1, "/robots.txt", Reply::text("User-agent: *\nCrawl-delay: 100\n"));
    let freshet = Freshet::new();
    let dead = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://{}/", listener.local_addr().expect("an address"))
    };
    for (url, outcome, said) in [
        (
            site.url_on(0, "/"),
            "robots-unavailable",
            "robots.txt could not be fetched (HTTP 500 Internal Server Error)",
        ),
        (site.url_on(1, "/"), "crawl-delay", "--max-crawl-delay"),
        (dead, "unreachable", "can't be reached: connection refused"),
    ] {
        let ran = check(&freshet, &url, &[]);
        assert_refused(&ran, 1, &[said]);
        assert_eq!(told(&ran)["outcome"], outcome, "{}", ran.output());
    }
    assert_eq!(
        told(&check(&freshet, &site.url_on(1, "/"), &[]))["hops"][0]["robots"]["crawl_delay_seconds"],
        100.0
    );
    assert!(!site.log().asked("/"), "{:?}", site.log().paths());

    let private = freshet.run(&["check", &site.url_on(2, "/"), "--json"]);
    assert_refused(&private, 1, &["private", "hint:", "--allow-private"]);
    assert_eq!(told(&private)["outcome"], "address");
    assert_eq!(site.log().on(2).total(), 0);
    assert_nothing_stored(&freshet);
}

#[test]
fn what_is_no_page_is_the_caller_s_mistake() {
    let freshet = Freshet::new();
    for (arguments, said) in [
        (&["check", "example"][..], "`example` is no page"),
        (&["check", "ftp://example.org/"], "`ftp`"),
        (&["check", "http://reader:secret@example.org/"], "password"),
        (&["check", "https://example.org/", "--links", "many"], "--links is `many`"),
        (
            &["check", "https://example.org/", "--delay", "-1"],
            "delay is `-1`; it must be a number of seconds",
        ),
        (&["check"], "URL"),
    ] {
        let ran = freshet.run(arguments);
        assert_refused(&ran, 2, &[said]);
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    assert_nothing_stored(&freshet);
}

#[test]
fn flags_that_do_nothing_here_are_neither_shown_nor_taken() {
    let freshet = Freshet::new();
    for (command, taken, not_taken) in [
        (
            "check",
            &["--exclude", "--allow-private", "--delay"][..],
            &["--budget", "--policy", "--profiles"][..],
        ),
        (
            "compare",
            &["--k", "--allow-private", "--delay"],
            &["--budget", "--scope", "--fragment-words", "--store"],
        ),
        (
            "plan",
            &["--budget", "--policy", "--every", "--exclude"],
            &["--cycles", "--contact", "--allow-private"],
        ),
        ("why", &["--budget", "--policy", "--every", "--exclude"], &["--cycles", "--contact", "--sketch"]),
    ] {
        for help in ["-h", "--help"] {
            let shown = freshet.run(&[command, help]);
            assert_eq!(shown.code, Some(0), "{}", shown.output());
            for flag in taken {
                assert!(shown.stdout.contains(flag), "{command} {flag}\n{}", shown.stdout);
            }
            for flag in not_taken {
                assert!(!shown.stdout.contains(flag), "{command} {flag}\n{}", shown.stdout);
            }
        }
    }
    for arguments in
        [&["check", "http://a.example/", "--budget", "3"][..], &["compare", "a", "b", "--policy=age"]]
    {
        let ran = freshet.run(arguments);
        assert_refused(
            &ran,
            2,
            &["has no effect on this command", "hint: it is a flag of `crawl`, `monitor`"],
        );
    }
    let config = freshet.run(&["config", "--seeds", "a.txt"]);
    assert_refused(&config, 2, &["`--seeds` has no effect", "a flag of `crawl`, `monitor`"]);
}

#[test]
fn what_is_not_read_is_fetched_all_the_same() {
    let site = Site::start();
    site.page("/image", Reply::bytes("image/png", b"\x89PNG\r\n\x1a\n\x00".to_vec()));
    site.page("/text", Reply::bytes("text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()));
    site.page("/hidden", Reply::html("<p>words").header("X-Robots-Tag", "noindex, nofollow"));
    site.page(
        "/evil",
        Reply::html("<title>a&#27;[2Jb</title><a href='/&#27;[2J'>x</a>").header("ETag", "\"\u{e9}\""),
    );
    let turned = "<title>a\u{202e}b</title><meta charset=utf-8><p>c\u{202e}d\u{2066}e<a href='http://[\u{202e}/'>x</a>\
        <a href='/\u{202e}'>y</a>";
    site.page("/turned", Reply::html(turned));
    let freshet = Freshet::new();
    freshet.write("turned.txt", "one \u{202e}two\u{202c} three four");
    freshet.write("plain.txt", "one two three four");
    let compared = freshet.run(&["compare", "turned.txt", "plain.txt", "--k", "1"]).stdout;
    assert!(!compared.contains(['\u{202e}', '\u{202c}']), "{compared:?}");
    let page = |path: &str| check(&freshet, &site.url(path), &[]).json()["document"].clone();
    let image = page("/image");
    assert_eq!(
        (&image["media"], &image["charset"], &image["text"]),
        (&json!("other"), &Value::Null, &json!(""))
    );
    let text = page("/text");
    assert_eq!(
        (&text["media"], &text["charset"], &text["text"]),
        (&json!("text"), &json!("windows-1252"), &json!("café"))
    );
    let hidden = page("/hidden");
    assert_eq!((&hidden["noindex"], &hidden["nofollow"]), (&json!(true), &json!(true)));
    for path in ["/evil", "/image", "/turned"] {
        let ran = freshet.run(&[&["check", &site.url(path)], &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}', '\u{2066}']), "{:?}", ran.stdout);
    }
}
