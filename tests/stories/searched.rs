//! Search: words that are found in the stored pages, and an index that follows the crawl, is killed, damaged and made again.

use crate::support::operator::crawl;
use crate::support::{FAST, Freshet, Ran, Reply, Site, links_page};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

const INDEX: &str = "freshet.search.db";

/// A site with a few pages, crawled once.
fn crawled(pages: &[(&str, &str)]) -> (Site, Freshet) {
    let site = Site::start();
    let links: Vec<&str> = pages.iter().map(|(path, _)| *path).collect();
    site.page("/", links_page("home", &links));
    for (path, html) in pages {
        site.page(path, format!("<meta charset=utf-8>{html}"));
    }
    let freshet = Freshet::new();
    go(&freshet, &site, &[]);
    (site, freshet)
}

#[track_caller]
fn go(freshet: &Freshet, site: &Site, flags: &[&str]) -> Ran {
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--seeds", &seeds, "--no-sitemaps"], &FAST[..], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

#[track_caller]
fn search(freshet: &Freshet, words: &[&str]) -> Value {
    freshet.json(&[&["search", "--json"], words].concat())
}

/// The paths that are found, the best first.
#[track_caller]
fn found(freshet: &Freshet, words: &[&str]) -> Vec<String> {
    let results = search(freshet, words);
    let hits = results["hits"].as_array().expect("a list of hits");
    let path = |hit: &Value| {
        let url = hit["url"].as_str().expect("a URL");
        url.splitn(4, '/').nth(3).map_or("/".to_owned(), |path| format!("/{path}"))
    };
    hits.iter().map(path).collect()
}

fn index(freshet: &Freshet) -> Connection {
    Connection::open(freshet.path(INDEX)).expect("an index")
}

#[track_caller]
fn one(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).expect("a number")
}

const PAGES: [(&str, &str); 3] = [
    ("/1", "<title>Fresh news</title><p>The fresh crawler visits pages that change often."),
    ("/2", "<title>Archive</title><p>An archive of pages that never change, and of nothing else at all."),
    ("/3", "<title>Both</title><p>Fresh fresh fresh pages."),
];

#[test]
fn pages_that_have_all_words_are_found_the_best_first() {
    let (site, freshet) = crawled(&PAGES);
    assert_eq!(found(&freshet, &["fresh"]), ["/3", "/1"]);
    assert_eq!(found(&freshet, &["FRESH", "Pages,", "crawler"]), ["/1"], "all words, in any case");
    assert_eq!(found(&freshet, &["archive never"]), ["/2"]);
    assert_eq!(found(&freshet, &["news"]), ["/1"], "titles are searched too");
    assert_eq!(found(&freshet, &["fresh", "archive"]), [""; 0]);
    for score in ["bm25", "tf-idf", "inlinks"] {
        let mut all = found(&freshet, &["pages", "--score", score]);
        all.sort();
        assert_eq!(all, ["/1", "/2", "/3"], "{score}");
    }
    assert_eq!(found(&freshet, &["pages", "--limit", "1"]).len(), 1);

    let text = freshet.run(&["search", "fresh", "change"]);
    assert_eq!(text.code, Some(0), "{}", text.output());
    assert!(text.stdout.starts_with(&format!("1. Fresh news\n   {}\n", site.url("/1"))), "{}", text.output());
    assert!(
        text.stdout.contains("The *fresh* crawler visits pages that *change* often."),
        "{}",
        text.output()
    );
    assert!(text.stdout.contains("seen ") && text.stdout.contains("changed since: "), "{}", text.output());
    assert!(text.stdout.ends_with("1 page that has all words; 4 pages searched\n"), "{}", text.output());

    let results = search(&freshet, &["fresh"]);
    let hit = &results["hits"][0];
    assert_eq!((&results["match_count"], &results["searched_pages"]), (&2.into(), &4.into()), "{results:#}");
    assert_eq!((&hit["rank"], &hit["title"]), (&1.into(), &"Both".into()), "{results:#}");
    let chance = hit["change_probability"].as_f64().expect("a probability");
    assert!(
        (0.0..1.0).contains(&chance) && hit["age_seconds"].as_f64().is_some_and(|age| age < 3600.0),
        "{hit:#}"
    );
}

#[test]
fn a_query_without_words_and_a_store_without_pages_say_so() {
    let (_site, freshet) = crawled(&PAGES);
    for query in ["", " ", "-- …", "\u{1}"] {
        let ran = freshet.run(&["search", "--", query]);
        assert_eq!(ran.code, Some(2), "{query:?}\n{}", ran.output());
        assert!(
            ran.stderr.contains("no words to search for; a query is one word or more"),
            "{}",
            ran.output()
        );
    }
    let ran = freshet.run(&["search"]);
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    let ran = freshet.run(&["search", "fresh", "--score", "best"]);
    assert_eq!(ran.code, Some(2), "{}", ran.output());

    let none = freshet.run(&["search", "unheard", "fresh"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), "no page has `unheard`; 4 pages searched\n"));
    let long = freshet.run(&["search", &format!("fresh {}", "word ".repeat(20_000))]);
    assert_eq!(long.code, Some(0), "{}", long.stderr);

    let empty = Freshet::new();
    let ran = empty.run(&["search", "fresh"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert!(ran.stderr.contains("there is no store"), "{}", ran.output());
    let site = Site::start();
    site.page("/", Reply::bytes("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\0".to_vec()));
    go(&empty, &site, &[]);
    let ran = empty.run(&["search", "fresh"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert!(ran.stderr.contains("there is no text to search"), "{}", ran.output());
}

#[test]
fn words_of_every_script_are_found() {
    let (_site, freshet) = crawled(&[
        ("/zh", "<p>公司今天发布了新的产品，售价为5999元。"),
        ("/ja", "<title>お知らせ</title><p>東京タワーは毎月更新されます。"),
        ("/fr", "<p>Un café naïve à Zürich, CAFÉ ÉTÉ."),
        ("/plain", "<p>A cafe in Zurich."),
        ("/ru", "<p>Свежие страницы каждый день"),
        ("/odd", "<p>ﬁnd ＡＢＣ cafe\u{301}bar"),
    ]);
    assert_eq!(found(&freshet, &["发布"]), ["/zh"]);
    assert_eq!(found(&freshet, &["新的产品"]), ["/zh"], "every pair of characters occurs");
    assert_eq!(found(&freshet, &["5999"]), ["/zh"]);
    assert_eq!(found(&freshet, &["東京タワー"]), ["/ja"]);
    assert_eq!(found(&freshet, &["ﾀﾜｰ"]), ["/ja"], "half width");
    assert_eq!(found(&freshet, &["café"]), ["/fr"], "accents count");
    assert_eq!(found(&freshet, &["cafe\u{301} zürich"]), ["/fr"], "however they are written");
    assert_eq!(found(&freshet, &["cafe"]), ["/plain"]);
    assert_eq!(found(&freshet, &["СТРАНИЦЫ"]), ["/ru"]);
    assert_eq!(found(&freshet, &["find abc cafébar"]), ["/odd"]);
    let text = freshet.run(&["search", "发布"]).stdout;
    assert!(text.contains("公司今天*发布*了新的产品"), "{text}");
}

#[test]
fn a_changed_page_is_found_by_its_new_words_and_one_that_is_gone_is_not_found() {
    let site = Site::start();
    site.page("/", links_page("home", &["/news", "/lost", "/stays"]));
    site.page("/news", Reply::sequence(["<p>breakfast today", "<p>dinner today"].map(Reply::html).into()));
    site.page("/lost", "<p>today and never again");
    site.page("/stays", "<p>today as every day");
    let freshet = Freshet::new();
    go(&freshet, &site, &[]);
    let before = jiff::Timestamp::now().to_string();
    assert_eq!(found(&freshet, &["breakfast"]), ["/news"]);
    assert_eq!(search(&freshet, &["today"])["match_count"], 3);
    site.remove("/lost");
    go(&freshet, &site, &[]);
    assert_eq!(found(&freshet, &["breakfast"]), [""; 0]);
    assert_eq!(found(&freshet, &["dinner"]), ["/news"]);
    assert_eq!(found(&freshet, &["never"]), ["/lost"], "one bad answer is not believed");
    go(&freshet, &site, &[]);
    assert_eq!(found(&freshet, &["never"]), [""; 0], "gone");
    let today = search(&freshet, &["today"]);
    assert_eq!(
        (&today["match_count"], &today["terms"][0]["page_count"]),
        (&2.into(), &2.into()),
        "{today:#}"
    );
    assert_eq!(today["searched_pages"], 3);

    // The copies that were held before are still there.
    assert_eq!(found(&freshet, &["breakfast", "--as-of", &before]), ["/news"]);
    assert_eq!(found(&freshet, &["dinner", "--as-of", &before]), [""; 0]);
    assert_eq!(found(&freshet, &["never", "--as-of", &before]), ["/lost"]);
    let past = search(&freshet, &["today", "--as-of", &before]);
    assert_eq!((&past["match_count"], &past["searched_pages"]), (&3.into(), &4.into()), "{past:#}");
    let early = freshet.run(&["search", "today", "--as-of", "2001-01-01"]);
    assert_eq!(early.code, Some(1), "{}", early.output());
    assert!(
        early.stderr.contains("there is no text to search in the store at 2001-01-01"),
        "{}",
        early.output()
    );
}

#[test]
fn an_alias_is_not_found_beside_the_page_that_stands_for_it() {
    let site = Site::start();
    site.page("/", links_page("home", &["/page", "/page.html"]));
    let html =
        "<link rel=canonical href=/page><p>one page of many words that are the same on both of its addresses";
    site.page("/page", html);
    site.page("/page.html", html);
    let freshet = Freshet::new();
    go(&freshet, &site, &[]);
    search(&freshet, &["addresses"]);
    for _ in 0..2 {
        go(&freshet, &site, &[]);
    }
    assert_eq!(found(&freshet, &["addresses"]), ["/page"]);
}

#[test]
fn a_page_that_is_forgotten_leaves_no_word_in_the_index() {
    let (site, freshet) = crawled(&[("/a", "<p>secretword stays"), ("/b", "<p>other stays")]);
    assert_eq!(found(&freshet, &["secretword"]), ["/a"]);
    let ran = freshet.run(&["forget", "--yes", &site.url("/a")]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let bytes = fs::read(freshet.path(INDEX)).unwrap();
    // The log of queries is the operator's own, and has the word once.
    let count = bytes.windows(10).filter(|window| window == b"secretword").count();
    assert_eq!(count, 1, "only the query is left");
    assert_eq!(found(&freshet, &["stays"]), ["/b"]);

    // Killed between the store and the index: the index finds out by itself.
    let index = index(&freshet);
    let known = one(&index, "SELECT count(*) FROM document");
    index.execute("INSERT INTO document VALUES (999, 12345, 1, 3, 0)", []).unwrap();
    index.execute("UPDATE meta SET value = value + 1 WHERE name = 'documents'", []).unwrap();
    let store = Connection::open(freshet.path("freshet.db")).unwrap();
    store.execute("UPDATE note SET value = '7' WHERE name = 'pages_forgotten_at'", []).unwrap();
    assert_eq!(found(&freshet, &["stays"]), ["/b"]);
    assert_eq!(one(&index, "SELECT count(*) FROM document"), known);
}

#[test]
fn queries_are_kept_unless_they_are_not_to_be() {
    let (_site, freshet) = crawled(&PAGES);
    search(&freshet, &["fresh", "pages"]);
    search(&freshet, &["archive", "--no-log"]);
    search(&freshet, &["fresh", "--as-of", "0s"]);
    let connection = index(&freshet);
    let queries: Vec<(String, i64)> = connection
        .prepare("SELECT text, at FROM query")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(queries.len(), 1, "{queries:?}");
    assert_eq!(queries[0].0, "fresh pages");
    assert!((jiff::Timestamp::now().as_millisecond() - queries[0].1).abs() < 600_000);
}

/// Does something bad to an index.
type Spoil = fn(&Freshet);

#[test]
fn a_damaged_index_and_one_of_another_version_are_made_again_and_keep_the_queries() {
    let (_site, freshet) = crawled(&PAGES);
    let ways: [(&str, Spoil); 5] = [
        ("damaged", |freshet| {
            fs::write(freshet.path(INDEX), "no database at all, but a longer text").unwrap()
        }),
        ("damaged", |freshet| {
            let bytes = fs::read(freshet.path(INDEX)).unwrap();
            let cut: Vec<u8> = bytes[..4096].iter().copied().chain([0xab; 9000]).collect();
            fs::write(freshet.path(INDEX), cut).unwrap();
        }),
        ("another release", |freshet| {
            index(freshet).execute("UPDATE meta SET value = 999 WHERE name = 'format'", []).unwrap();
        }),
        ("other rules", |freshet| {
            index(freshet).execute("UPDATE meta SET value = 0 WHERE name = 'terms'", []).unwrap();
        }),
        ("another store", |freshet| {
            index(freshet).execute("UPDATE meta SET value = value - 1 WHERE name = 'store'", []).unwrap();
        }),
    ];
    for (place, (why, spoil)) in ways.into_iter().enumerate() {
        assert_eq!(found(&freshet, &["crawler"]), ["/1"]);
        spoil(&freshet);
        let ran = freshet.run(&["search", "crawler", "--json"]);
        assert_eq!(ran.json()["match_count"], 1, "{}", ran.output());
        assert!(ran.stderr.contains("the search index is made again"), "{place}: {}", ran.output());
        assert!(
            ran.stderr.contains(why) && ran.stderr.contains("indexing 4 pages …"),
            "{place}: {}",
            ran.output()
        );
        if place >= 2 {
            // The log of queries can't be made again: it stays.
            assert!(one(&index(&freshet), "SELECT count(*) FROM query") > 2 * (place as i64 - 2));
        }
    }
    // A file of something else is not overwritten.
    fs::remove_file(freshet.path(INDEX)).unwrap();
    let foreign = Connection::open(freshet.path(INDEX)).unwrap();
    foreign.execute_batch("CREATE TABLE letters (text)").unwrap();
    drop(foreign);
    let ran = freshet.run(&["search", "crawler"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert!(ran.stderr.contains("not a search index; move it away"), "{}", ran.output());
    assert_eq!(one(&index(&freshet), "SELECT count(*) FROM letters"), 0);
}

#[test]
fn a_page_of_the_index_that_is_garbled_is_noticed_when_it_is_read() {
    let (_site, freshet) = crawled(&PAGES);
    found(&freshet, &["crawler"]);
    let connection = index(&freshet);
    connection.execute("UPDATE word_data SET block = x'00ff00ff' WHERE id > 10", []).unwrap();
    drop(connection);
    let ran = freshet.run(&["search", "crawler", "--json"]);
    assert_eq!(ran.json()["match_count"], 1, "{}", ran.output());
    assert!(ran.stderr.contains("the search index is made again: it was damaged"), "{}", ran.output());
}

/// A store with this number of pages.
fn many_pages(pages: usize) -> (Site, Freshet) {
    let site = Site::start();
    let paths: Vec<String> = (0..pages).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &paths.iter().map(String::as_str).collect::<Vec<_>>()));
    site.otherwise(|request| {
        let own: String = request.path.trim_start_matches('/').to_owned();
        Reply::html(format!("<title>Page {own}</title><p>common words and the word own{own} alone"))
    });
    let freshet = Freshet::new();
    go(&freshet, &site, &[]);
    (site, freshet)
}

#[test]
fn a_kill_while_indexing_loses_nothing_and_writes_nothing_twice() {
    const PAGES: usize = 1500;
    let (_site, freshet) = many_pages(PAGES);
    let mut kills = 0;
    for wait in 0..40 {
        let mut running = freshet.start(&["search", "common"]);
        let begun = Instant::now();
        while running.is_running() && begun.elapsed() < Duration::from_millis(40 * (wait + 1)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        if !running.is_running() {
            break;
        }
        running.kill();
        kills += 1;
    }
    assert!(kills > 0, "it was killed at least once");
    let results = search(&freshet, &["common", "words", "--limit", "5"]);
    assert_eq!(results["match_count"], PAGES, "{results:#}");
    assert_eq!(results["terms"][0]["page_count"], PAGES, "{results:#}");
    for page in [0, 1, 499, 500, 501, 999, 1000, PAGES - 1] {
        assert_eq!(found(&freshet, &[&format!("own{page}")]), [format!("/{page}")]);
    }
    let connection = index(&freshet);
    let counted = "SELECT count(*) FROM (SELECT doc FROM posting WHERE term = 'common:1')";
    assert_eq!(one(&connection, counted), PAGES as i64);
    assert_eq!(one(&connection, "SELECT count(*) FROM document"), PAGES as i64 + 1);
    assert_eq!(one(&connection, "SELECT value FROM meta WHERE name = 'documents'"), PAGES as i64 + 1);
    let lengths = one(&connection, "SELECT sum(length) FROM document");
    assert_eq!(one(&connection, "SELECT value FROM meta WHERE name = 'length'"), lengths);
    connection.execute("INSERT INTO word (word) VALUES ('integrity-check')", []).unwrap();
}

#[test]
fn a_crawl_keeps_the_index_up_to_date_in_the_background() {
    let site = Site::start();
    site.page("/", links_page("home", &["/news"]));
    let texts = ["<p>breakfast", "<p>lunch", "<p>dinner", "<p>supper"];
    site.page("/news", Reply::sequence(texts.map(Reply::html).into()));
    let freshet = Freshet::new();
    go(&freshet, &site, &[]);
    assert!(!freshet.path(INDEX).exists(), "no one asked for it");
    go(&freshet, &site, &["--search"]);
    let in_index =
        |word: &str| one(&index(&freshet), &format!("SELECT count(*) FROM posting WHERE term = '{word}:1'"));
    assert_eq!((in_index("breakfast"), in_index("lunch")), (0, 1));
    go(&freshet, &site, &[]);
    assert_eq!((in_index("lunch"), in_index("dinner")), (0, 1), "one that is there is kept up to date");
    let once = freshet.run(&[&["monitor", "--once", "--no-sitemaps"], &FAST[..]].concat());
    assert_eq!(once.code, Some(0), "{}", once.output());
    assert_eq!((in_index("dinner"), in_index("supper")), (0, 1));

    fs::remove_file(freshet.path(INDEX)).unwrap();
    let rebuilt = freshet.json(&["store", "rebuild", "--index", "--json"]);
    assert_eq!(rebuilt["page_count"], 2, "{rebuilt:#}");
    assert_eq!(in_index("supper"), 1);
    assert_eq!(found(&freshet, &["supper"]), ["/news"]);
}

#[test]
fn the_index_follows_a_crawl_that_another_search_reads_beside() {
    let site = Site::start();
    site.page("/", links_page("home", &["/slow"]));
    site.page("/slow", Reply::silent());
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let mut running =
        freshet.start(&[&["crawl", "--search", "--no-sitemaps", "--seeds", &seeds], &FAST[..]].concat());
    let begun = Instant::now();
    // The home page is stored while the other one lets the crawl wait.
    while freshet.run(&["search", "home", "--json"]).code != Some(0) {
        assert!(running.is_running() && begun.elapsed() < Duration::from_secs(30), "{}", running.stderr());
        std::thread::sleep(Duration::from_millis(50));
    }
    running.kill();
    assert_eq!(found(&freshet, &["home"]), ["/"]);
}

#[test]
fn a_setting_switches_the_index_on() {
    let (site, freshet) = (Site::start(), Freshet::new());
    site.page("/", "<p>words");
    freshet.write("freshet.toml", "[crawl]\nsearch = true\n");
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    assert!(freshet.path(INDEX).exists());
}
