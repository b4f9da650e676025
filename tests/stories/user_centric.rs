//! Pages that matter to those who search: the quality of results, and visits that go where it gains (Pandey & Olston 2005).

use crate::a_web_that_changes::{again, first, played, tape};
use crate::support::operator::crawl;
use crate::support::{FAST, Freshet, Ran, Site, links_page};
use serde_json::{Value, json};

const POLICY: [&str; 4] = ["--policy", "user-centric", "--queries", "queries.txt"];

/// Table 1: p1's score for `cancer` rose, p2's fell, p3 is not held yet, p4 was removed.
#[test]
fn the_four_discrepancies_of_table_1_cost_quality_and_a_crawl_brings_it_back() {
    let freshet = Freshet::new();
    let contents = [
        "<p>A page about cancer, which stays as it is.</p>",
        "<p>Nothing yet about it.</p>",
        "<p>News about cancer, and once more cancer.</p>",
        "<p>Treatment of cancer.</p>",
        "<p>An old page about cancer.</p>",
    ];
    tape(&freshet, &contents);
    let (before, after) = ("2019-12-01T00:00:00Z", "2020-01-04T00:00:00Z");
    let page = |path: &str, versions: Value| {
        let window = ["2020-01-01T00:00:00Z", "2020-02-01T00:00:00Z"];
        json!({ "group": "old", "path": path, "media": "text/html", "window": window, "versions": versions })
            .to_string()
            + "\n"
    };
    let manifest = [
        page("p0.html", json!([{ "t": before, "b": "aa" }])),
        page("p1.html", json!([{ "t": before, "b": "bb" }, { "t": after, "b": "cc" }])),
        page("p2.html", json!([{ "t": before, "b": "cc" }, { "t": after, "b": "bb" }])),
        page("p3.html", json!([{ "t": after, "b": "dd" }])),
        page("p4.html", json!([{ "t": before, "b": "ee" }, { "t": after, "b": null }])),
    ];
    freshet.write("tape/manifest.jsonl", manifest.concat());
    freshet.write("queries.txt", "cancer\n");
    let web = played(&freshet, 1.0, 0);
    first(&freshet, &web);
    let quality = |seed: &str, scoring: &str| {
        let score = ["score", "--truth", seed, "--queries", "queries.txt", "--score", scoring, "--json"];
        freshet.json(&score)["search_quality"]["quality"].as_f64().expect("a quality")
    };
    assert_eq!(quality(&web.seeds[0], "tf-idf"), 1.0);
    let port = web.port();
    web.stop();

    let web = played(&freshet, 5.0, port);
    for scoring in ["tf-idf", "bm25"] {
        let stale = quality(&web.seeds[0], scoring);
        assert!(stale > 0.0 && stale < 0.9, "{scoring}: {stale}");
    }
    again(&freshet);
    for scoring in ["tf-idf", "bm25"] {
        assert!(quality(&web.seeds[0], scoring) > 0.999_999, "{scoring}");
    }
}

/// Pages of the site of Fig. 5 besides the two that it is about.
const OTHERS: [&str; 6] = ["/1", "/2", "/3", "/4", "/5", "/6"];

/// Pages about other things. Without them the words of the queries would be on most pages, and tell none apart.
const ELSEWHERE: [&str; 6] = ["/7", "/8", "/9", "/10", "/11", "/12"];

/// A new text on the page with the advert, and on the page of the seminar. Only the words of the second are asked for.
fn turn(site: &Site, time: usize) {
    let advert = format!("limited offer number {time} shoes handbags discount sale hurry today only ");
    site.page("/advert", format!("<title>Weather</title><p>Sunshine again.</p><p>{}</p>", advert.repeat(30)));
    let topics =
        ["databases databases databases databases indexes", "networks networks networks", "compilers"];
    let topic = topics[time % topics.len()];
    site.page(
        "/seminar",
        format!("<title>Seminar</title><p>The seminar this week: {topic}. Talk {time}.</p>"),
    );
}

/// The site of Fig. 5, crawled three times in full, so that what refreshes gain is known.
fn learnt() -> (Site, Freshet) {
    let site = Site::start();
    site.page("/", links_page("home", &[&OTHERS[..], &ELSEWHERE, &["/advert", "/seminar"]].concat()));
    for path in ELSEWHERE {
        site.page(path, format!("<title>Garden</title><p>Flowers and trees of the garden {path}.</p>"));
    }
    for (number, path) in (1..).zip(OTHERS) {
        let words = "databases ".repeat(number % 3) + &"networks ".repeat(number % 4) + "seminar compilers";
        site.page(path, format!("<title>Notes {number}</title><p>Old notes on {words} and more of it.</p>"));
    }
    let freshet = Freshet::new();
    freshet.write("queries.txt", "databases\t10\nnetworks\t8\nseminar databases\t5\ncompilers\t2\n");
    let seeds = freshet.seeds(&[site.url("/")]);
    for time in 0..4 {
        turn(&site, time);
        let ran =
            freshet.run(&[&["crawl", "--seeds", &seeds, "--no-sitemaps"], &POLICY[..], &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    (site, freshet)
}

#[test]
fn the_advert_no_one_searches_for_is_left_alone_and_the_seminar_is_visited() {
    let (site, freshet) = learnt();
    site.clear_log();
    for time in 4..10 {
        turn(&site, time);
        let ran =
            freshet.run(&[&["crawl", "--no-sitemaps", "--budget", "1"], &POLICY[..], &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    let (seminar, advert) = (site.log().count("/seminar"), site.log().count("/advert"));
    assert!(seminar >= 5 && advert == 0, "{seminar} {advert} {:?}", site.log());

    let why = |page: &str| freshet.run(&[&["why", &site.url(page)], &POLICY[..]].concat());
    let told = why("/seminar");
    assert_eq!(told.code, Some(0), "{}", told.output());
    assert!(told.stdout.contains("`databases`") && told.stdout.contains("`networks`"), "{}", told.stdout);
    let told = why("/advert");
    assert!(!told.stdout.contains("`databases`"), "{}", told.stdout);

    let found = freshet.json(&["quality", "--queries", "queries.txt", "--json"]);
    let best = &found["best_visits"][0];
    assert_eq!((&best["url"], &best["is_measured"]), (&site.url("/seminar").into(), &true.into()), "{found}");
    let words = best["search_words"].as_array().expect("words");
    assert!(words.contains(&"databases".into()) || words.contains(&"networks".into()), "{found}");
    let listed = found["best_visits"].as_array().expect("pages");
    assert!(listed.iter().all(|page| page["url"] != site.url("/advert").as_str()), "{found}");
    assert!(
        found["estimated_quality"].as_f64().is_some_and(|quality| quality > 0.0 && quality <= 1.0),
        "{found}"
    );
    let shown = freshet.run(&["quality", "--queries", "queries.txt", "--limit", "3"]);
    for said in ["Estimated quality", "4 of 4 queries", "/seminar"] {
        assert!(shown.stdout.contains(said), "{said}: {}", shown.output());
    }
}

#[test]
fn attention_weighs_pages_for_every_other_policy() {
    let (site, freshet) = learnt();
    let weight = |path: &str| {
        let why = [
            "why",
            &site.url(path),
            "--policy",
            "age",
            "--weight",
            "workload",
            "--queries",
            "queries.txt",
            "--json",
        ];
        freshet.json(&why)["weight"].as_f64().expect("a weight")
    };
    let (advert, note) = (weight("/advert"), weight("/5"));
    assert!((advert - 0.05 / 1.05).abs() < 1e-9, "{advert}");
    assert!(note > 1.0, "{note}");
    let mean = ["/", "/advert", "/seminar"]
        .iter()
        .chain(&OTHERS)
        .chain(&ELSEWHERE)
        .map(|path| weight(path))
        .sum::<f64>()
        / 15.0;
    assert!((mean - 1.0).abs() < 1e-9, "{mean}");
}

#[track_caller]
fn refused(ran: &Ran, said: &[&str]) {
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    for said in said {
        assert!(ran.stderr.contains(said), "`{said}` is not in {}", ran.output());
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.output());
}

#[test]
fn without_queries_the_error_says_how_to_get_some() {
    let (_site, freshet) = small();
    let ways = ["--queries FILE", "--queries-from access.log --param q", "--queries-from search"];
    for call in [
        &["crawl", "--policy", "user-centric"][..],
        &["monitor", "--once", "--policy", "user-centric"],
        &["plan", "--policy", "user-centric"],
        &["plan", "--weight", "workload"],
        &["quality"],
        &["demo", "--policy", "user-centric"],
    ] {
        refused(&freshet.run(call), &ways);
    }
    refused(&freshet.run(&["plan", "--queries-from", "search"]), &["has kept no queries", "--queries FILE"]);
    let indexless = freshet.run(&["plan", "--weight", "workload", "--queries", "queries.txt"]);
    refused(&indexless, &["needs the search index", "freshet search"]);
}

/// A site of three pages, crawled once, with queries that find two of them.
fn small() -> (Site, Freshet) {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "/b"]));
    site.page("/a", "<meta charset=utf-8><p>naïve café 今天天气很好 Привет мир สวัสดี news");
    site.page("/b", "<p>news about nothing");
    let freshet = Freshet::new();
    assert_eq!(crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]).code, Some(0));
    freshet.write("queries.txt", "news\t2\nnothing\n");
    (site, freshet)
}

#[test]
fn queries_come_from_a_file_an_access_log_and_earlier_searches() {
    let (_site, freshet) = small();
    let log = "192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /s?q=news+nothing HTTP/1.1\" 200 23\n\
               192.0.2.7 - - [10/Oct/2025:13:55:37 +0000] \"GET /s?term=news HTTP/1.1\" 200 23\nno request\n";
    freshet.write("access.log", log);
    let said = |flags: &[&str]| {
        let ran = freshet.run(&[&["quality"], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran.stderr
    };
    assert!(said(&["--queries", "queries.txt"]).contains("queries.txt: 2 queries with 2 words"));
    let read = said(&["--queries-from", "access.log"]);
    assert!(
        read.contains("1 query with 2 words in 1 request; 2 lines without a query in `q` skipped"),
        "{read}"
    );
    assert!(
        said(&["--queries-from", "access.log", "--param", "term"])
            .contains("1 query with 1 word in 1 request")
    );
    for words in [&["news"][..], &["news"], &["nothing", "news"]] {
        assert_eq!(freshet.run(&[&["search"], words].concat()).code, Some(0));
    }
    assert!(said(&["--queries-from", "search"]).contains("2 queries with 2 words in 3 searches"));
    freshet.write("freshet.toml", "[search]\nqueries = \"queries.txt\"\nscore = \"tf-idf\"\nattention = 1\n");
    let found = freshet.json(&["quality", "--json"]);
    assert_eq!((&found["scoring"], &found["attention"]), (&"tf-idf".into(), &1.0.into()), "{found}");
    let log = freshet.json(&["quality", "--queries-from", "access.log", "--json"]);
    assert_eq!(log["query_count"], 1, "a flag replaces the file's own");
    refused(
        &freshet.run(&["quality", "--queries", "queries.txt", "--queries-from", "access.log"]),
        &["one source"],
    );
}

#[test]
fn queries_of_every_script_are_understood_and_those_that_find_nothing_are_no_error() {
    let (_site, freshet) = small();
    freshet.write("scripts.txt", "café\n天气很好\nПРИВЕТ мир\t3\nสวัสดี\nnaive\n");
    let found = freshet.json(&["quality", "--queries", "scripts.txt", "--json"]);
    assert_eq!((&found["query_count"], &found["answered_query_count"]), (&5.into(), &4.into()), "{found}");
    freshet.write("none.txt", "wordthatisnowhere\n");
    let none = freshet.run(&["quality", "--queries", "none.txt"]);
    assert_eq!(none.code, Some(0), "{}", none.output());
    assert!(none.stdout.contains("No query finds a page"), "{}", none.stdout);
    for flags in [&["--policy", "user-centric"][..], &["--weight", "workload"]] {
        let ran = freshet.run(&[&["crawl", "--queries", "none.txt"], flags, &FAST[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
}

#[test]
fn a_bad_workload_is_told_with_its_line_and_nothing_is_lost() {
    let (_site, freshet) = small();
    let pages = freshet.run(&["pages", "--json"]).stdout;
    let huge = "x".repeat(10 << 20);
    let cases: [(&str, Vec<u8>, &[&str]); 7] = [
        ("empty.txt", Vec::new(), &["empty.txt: has no queries", "hint: write a query a line"]),
        ("comments.txt", b"# nothing\n\n".to_vec(), &["has no queries"]),
        ("long.txt", format!("news\n{huge}\n").into_bytes(), &["long.txt:2", "longer than 16384 bytes"]),
        ("control.txt", b"news\nne\x07ws\n".to_vec(), &["control.txt:2", "U+0007"]),
        ("bytes.txt", b"\xff\xfe\n".to_vec(), &["bytes.txt:1", "UTF-8"]),
        ("often.txt", b"news\tmany\n".to_vec(), &["often.txt:1", "frequency `many`"]),
        ("signs.txt", b"!?\n".to_vec(), &["signs.txt:1", "has no words"]),
    ];
    for (name, text, said) in cases {
        freshet.write(name, text);
        for call in
            [&["quality"][..], &["crawl", "--policy", "user-centric"], &["plan", "--weight", "workload"]]
        {
            let ran = freshet.run(&[call, &["--queries", name]].concat());
            refused(&ran, said);
            assert!(ran.stderr.len() < 2000, "{}", ran.stderr);
        }
    }
    freshet.write("log.txt", huge + "\n");
    refused(
        &freshet.run(&["quality", "--queries-from", "log.txt"]),
        &["no line has a query in the parameter `q`"],
    );
    refused(&freshet.run(&["quality", "--queries", "nowhere.txt"]), &["nowhere.txt", "can't be read"]);
    for (flag, value) in [("--attention", "-1"), ("--attention", "much"), ("--score", "best")] {
        refused(&freshet.run(&["quality", "--queries", "queries.txt", flag, value]), &[value]);
    }
    assert_eq!(freshet.run(&["pages", "--json"]).stdout, pages);
}

#[test]
fn an_index_that_cannot_be_used_is_made_again_and_said_so() {
    let (_site, freshet) = small();
    let quality = || freshet.run(&["quality", "--queries", "queries.txt"]);
    let crawled = || freshet.run(&[&["crawl", "--no-sitemaps"], &POLICY[..], &FAST[..]].concat());
    assert_eq!(crawled().code, Some(0));
    assert_eq!(freshet.run(&["search", "news"]).code, Some(0));
    let before = quality();
    assert_eq!(before.code, Some(0), "{}", before.output());
    let index = || rusqlite::Connection::open(freshet.path("freshet.search.db")).expect("an index");
    let set = |name: &str| {
        let changed = index().execute("UPDATE meta SET value = 999 WHERE name = ?1", [name]);
        assert_eq!(changed.expect("a row"), 1);
    };
    let garble = || {
        freshet.write("freshet.search.db", vec![b'x'; 20_000]);
    };
    let spoil: [(&dyn Fn(), &str); 3] = [
        (&garble, "it was damaged"),
        (&|| set("format"), "another release"),
        (&|| set("terms"), "other rules"),
    ];
    for (spoil, said) in spoil {
        for crawls in [true, false] {
            spoil();
            let ran = if crawls { crawled() } else { quality() };
            assert_eq!(ran.code, Some(0), "{said}: {}", ran.output());
            assert!(
                ran.stderr.contains("made again") && ran.stderr.contains(said),
                "{said}: {}",
                ran.output()
            );
            let after = quality();
            assert_eq!(after.code, Some(0), "{}", after.output());
            assert!(!after.stderr.contains("made again"), "{}", after.output());
        }
    }
    // The damaged file had the search in it, the others kept it.
    let found = freshet.json(&["quality", "--queries", "queries.txt", "--json"]);
    assert_eq!((&found["searched_pages"], &found["answered_query_count"]), (&3.into(), &2.into()), "{found}");
}

#[test]
fn a_store_without_texts_has_nothing_to_search_and_is_crawled_all_the_same() {
    let site = Site::start();
    site.page("/", "<p>news about nothing");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\npage_store_bytes = 1\n");
    freshet.write("queries.txt", "news\n");
    for _ in 0..2 {
        let ran =
            crawl(&freshet, &[site.url("/")], &[&POLICY[..], &["--delay", "0", "--no-sitemaps"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
    }
    let ran = freshet.run(&["quality", "--queries", "queries.txt"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("there is no text to search"), "{}", ran.output());
    let weighed = ["crawl", "--weight", "workload", "--queries", "queries.txt"];
    assert_eq!(freshet.run(&[&weighed[..], &FAST[..]].concat()).code, Some(0));
}
