//! Feeds lead to pages; feeds, JSON, XML, CSV and plain text have words; and a command reads what freshet can't.

use crate::support::operator::pages;
use crate::support::{FAST, Freshet, Reply, Site};
use crate::what_changed::{changes, crawl};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The addresses that the store knows, without the origin.
#[track_caller]
fn known(freshet: &Freshet, site: &Site) -> Vec<String> {
    let mut paths: Vec<String> = pages(freshet)
        .iter()
        .filter_map(|page| page["url"].as_str()?.strip_prefix(&site.origin(0)).map(str::to_owned))
        .collect();
    paths.sort_unstable();
    paths
}

fn rss(entries: &str) -> Reply {
    let feed = format!(
        "<?xml version='1.0'?><rss version='2.0'><channel><title>News</title><link>/</link>{entries}</channel></rss>"
    );
    Reply::bytes("application/rss+xml", feed)
}

// --- feeds -----------------------------------------------------------------------------------------------------

#[test]
fn a_page_that_only_a_feed_names_is_found() {
    let site = Site::start();
    site.page(
        "/",
        "<html><head><link rel=alternate type=application/rss+xml href=/rss>\
         <link rel=alternate type=application/atom+xml href=/atom>\
         <link rel=alternate type=application/feed+json href=/json></head><body><p>Home of the news</p></body></html>",
    );
    site.page(
        "/rss",
        rss("<item><title>One</title><link>/only-in-rss</link><pubDate>Thu, 05 Nov 2026 10:00:00 GMT</pubDate>\
             <enclosure url='/talk.mp3' type='audio/mpeg'/></item><item><link>https://elsewhere.example/</link></item>\
             <item><link>/hidden/by-robots</link></item>"),
    );
    site.page(
        "/atom",
        Reply::bytes(
            "application/atom+xml",
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/deep/'><title>Atom</title><link rel='self' href='/self'/>\
             <entry><title>Two</title><link href='only-in-atom'/><updated>2026-11-06T10:00:00Z</updated></entry></feed>",
        ),
    );
    site.page(
        "/json",
        Reply::bytes(
            "application/feed+json",
            r#"{"version": "https://jsonfeed.org/version/1.1", "title": "JSON", "items": [{"id": "3", "url": "/only-in-json"}]}"#,
        ),
    );
    for path in ["/only-in-rss", "/deep/only-in-atom", "/only-in-json", "/talk.mp3", "/hidden/by-robots"] {
        site.page(path, format!("<p>This is the page at {path} and it says so.</p>"));
    }
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /hidden/\n"));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &[]);
    let found = known(&freshet, &site);
    let expected = [
        "/",
        "/atom",
        "/deep/only-in-atom",
        "/hidden/by-robots",
        "/json",
        "/only-in-json",
        "/only-in-rss",
        "/rss",
    ];
    assert_eq!(found, expected);
    assert!(
        site.log().hits().iter().all(|hit| !hit.path.starts_with("/hidden/")),
        "robots.txt holds for them"
    );
    // The entry's date is the page's, as if a sitemap had given it.
    let page =
        pages(&freshet).into_iter().find(|page| page["url"] == site.url("/only-in-rss")).expect("the page");
    assert!(page.to_string().contains("2026-11-05T10:00:00Z"), "{page:#}");
    assert_eq!(
        pages(&freshet).iter().filter(|page| page["content_type"] == "application/rss+xml").count(),
        1
    );
}

// --- texts -----------------------------------------------------------------------------------------------------

#[test]
fn a_changed_value_of_each_kind_is_a_small_change_that_diff_shows() {
    let rows = |price: &str| {
        (0..40)
            .map(|n| format!("row{n},article {n},{}\n", if n == 7 { price } else { "9.99" }))
            .collect::<String>()
    };
    let objects = |price: &str| -> String {
        let items: Vec<Value> = (0..30)
            .map(|n| json!({"id": n, "name": format!("article number {n}"), "price": if n == 7 { price } else { "9.99" }}))
            .collect();
        json!({"items": items, "count": 30}).to_string()
    };
    let elements = |price: &str| {
        let items: String = (0..30)
            .map(|n| {
                format!(
                    "<item id='{n}'><name>article {n}</name><price>{}</price></item>",
                    if n == 7 { price } else { "9.99" }
                )
            })
            .collect();
        format!("<?xml version='1.0'?><list>{items}</list>")
    };
    let entries = |price: &str| -> String {
        (0..20)
            .map(|n| format!("<item><title>Entry {n}</title><description>&lt;p&gt;It costs {} now&lt;/p&gt;</description></item>", if n == 7 { price } else { "9.99" }))
            .collect()
    };
    let site = Site::start();
    let kinds: [(&str, &str, [String; 2]); 6] = [
        ("/data.csv", "text/csv", ["9.99", "12.50"].map(rows)),
        (
            "/data.tsv",
            "text/tab-separated-values",
            ["9.99", "12.50"].map(|price| rows(price).replace(',', "\t")),
        ),
        ("/notes.md", "text/markdown", ["9.99", "12.50"].map(rows)),
        ("/data.json", "application/json", ["9.99", "12.50"].map(objects)),
        ("/data.ld", "application/ld+json; charset=utf-8", ["9.99", "12.50"].map(objects)),
        ("/data.xml", "application/xml", ["9.99", "12.50"].map(elements)),
    ];
    for (path, kind, [old, new]) in &kinds {
        site.page(path, Reply::sequence([old, new].map(|body| Reply::bytes(*kind, body.clone())).to_vec()));
    }
    site.page("/feed", Reply::sequence(["9.99", "12.50"].map(|price| rss(&entries(price))).to_vec()));
    let freshet = Freshet::new();
    let paths: Vec<&str> = kinds.iter().map(|(path, ..)| *path).chain(["/feed"]).collect();
    let seeds: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    let told = changes(&freshet, &[]);
    assert_eq!(told.len(), paths.len(), "{told:#?}");
    for change in &told {
        let divergence = change["divergence"].as_f64().unwrap_or(1.0);
        assert!(divergence > 0.0 && divergence < 0.2, "{change:#}");
    }
    for url in &seeds {
        let diff = freshet.json(&["diff", url, "--json"]);
        let hunks = diff["hunks"].as_array().cloned().unwrap_or_default();
        assert_eq!(hunks.len(), 1, "{diff:#}");
        assert!(hunks[0]["removed"].to_string().contains("9.99"), "{diff:#}");
        assert!(hunks[0]["added"].to_string().contains("12.50"), "{diff:#}");
    }
}

#[test]
fn data_is_no_wall_no_error_page_and_not_empty() {
    let site = Site::start();
    let long: Vec<Value> = (0..200).map(|n| json!({"id": n, "name": "an article with a name"})).collect();
    let long = Value::from(long).to_string();
    let answers = [
        ("/error.json", vec![r#"{"error": "not found", "status": 404}"#.to_owned()]),
        ("/a.json", vec![long.clone(), r#"{"items": []}"#.to_owned()]),
        ("/b.json", vec![long.clone(), r#"{"items": []}"#.to_owned()]),
        ("/c.json", vec![long, "[]".to_owned()]),
        ("/broken.json", vec!["{\"a\": 1, oops".to_owned(), "{\"a\": 2, oops".to_owned()]),
    ];
    for (path, bodies) in &answers {
        let bodies = bodies.iter().map(|body| Reply::bytes("application/json", body.clone())).collect();
        site.page(path, Reply::sequence(bodies));
    }
    let freshet = Freshet::new();
    let seeds: Vec<String> = answers.iter().map(|(path, _)| site.url(path)).collect();
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    for page in pages(&freshet) {
        assert_eq!(page["outcome"], "fetched", "{page:#}");
    }
    assert_eq!(changes(&freshet, &[]).len(), 4, "the broken one too, as plain text");
}

#[test]
fn what_an_earlier_release_could_not_read_has_not_changed_when_it_is_read() {
    let site = Site::start();
    // What a release does not read it holds without words, as it does a content that is announced as bytes.
    let kinds = ["application/octet-stream", "application/json", "application/json"];
    let bodies = ["{\"price\": 1}", "{\"price\": 1}", "{\"price\": 2}"];
    let answers = kinds.iter().zip(bodies).map(|(kind, body)| Reply::bytes(*kind, body)).collect();
    site.page("/data.json", Reply::sequence(answers));
    let freshet = Freshet::new();
    let seeds = [site.url("/data.json")];
    crawl(&freshet, &seeds, &[]);
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    store.execute("UPDATE page SET read_by_rules = NULL", []).expect("the page is to be read again");
    drop(store);
    crawl(&freshet, &seeds, &[]);
    assert_eq!(changes(&freshet, &[]).len(), 0, "the same bytes are no change");
    crawl(&freshet, &seeds, &[]);
    let told = changes(&freshet, &[]);
    assert_eq!(told.len(), 1);
    assert!(told[0]["divergence"].as_f64().is_some(), "{told:#?}");
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

// --- check -----------------------------------------------------------------------------------------------------

#[test]
fn check_says_what_kind_of_content_it_is() {
    let site = Site::start();
    site.page("/paper.pdf", Reply::bytes("application/pdf", "%PDF-1.7 \u{1}\u{2}"));
    site.page("/data.json", Reply::bytes("application/json", "{\"a\": 1}"));
    site.page("/feed", rss("<item><link>/one</link></item>"));
    let freshet = Freshet::new();
    let said = |path: &str| freshet.run(&[&["check", &site.url(path)], &FAST[..]].concat()).stdout;
    let pdf = said("/paper.pdf");
    assert!(pdf.contains("application/pdf (stored; no text is extracted)"), "{pdf}");
    let data = said("/data.json");
    assert!(data.contains("application/json, UTF-8") && data.contains("a: 1"), "{data}");
    let feed = said("/feed");
    assert!(feed.contains("application/rss+xml (feed), UTF-8") && feed.contains("/one"), "{feed}");
}

// --- commands --------------------------------------------------------------------------------------------------

/// A "PDF" that the scripts of these stories read: its words behind a line with bytes that no text has.
fn pdf(words: &str) -> Reply {
    Reply::bytes("application/pdf", format!("%PDF-1.7 \u{1}\u{2}\n{words}\n"))
}

fn long_words(price: &str) -> String {
    (0..60)
        .map(|n| format!("paragraph {n} of the paper costs {}\n", if n == 7 { price } else { "nothing" }))
        .collect()
}

/// Settings in which `script` reads PDFs.
fn reads_pdf(freshet: &Freshet, script: &str, seconds: f64) {
    freshet.write("read-pdf.sh", script);
    let settings = format!(
        "[change]\ntext_seconds = {seconds}\ntext = {{ \"application/pdf\" = \"sh read-pdf.sh\" }}\n"
    );
    freshet.write("freshet.toml", settings);
}

const READ: &str = "tail -n +2\n";

#[test]
fn a_command_reads_what_freshet_cannot() {
    let site = Site::start();
    let answers = ["one crown", "two crowns"].map(|price| pdf(&long_words(price))).to_vec();
    site.page("/paper.pdf", Reply::sequence(answers));
    let freshet = Freshet::new();
    reads_pdf(&freshet, READ, 30.0);
    let seeds = [site.url("/paper.pdf")];
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    let told = changes(&freshet, &[]);
    assert_eq!(told.len(), 1);
    let divergence = told[0]["divergence"].as_f64().unwrap_or(1.0);
    assert!(divergence > 0.0 && divergence < 0.2, "{told:#?}");
    let diff = freshet.run(&["diff", &seeds[0]]);
    assert!(diff.stdout.contains("two crowns"), "{}", diff.output());
    let checked = freshet.run(&[&["check", &seeds[0]], &FAST[..]].concat());
    assert!(checked.stdout.contains("application/pdf, text by `sh read-pdf.sh`"), "{}", checked.output());
    assert!(checked.stdout.contains("paragraph 3 of the paper"), "{}", checked.output());
    let config = freshet.run(&["config"]).stdout;
    assert!(config.contains("text = { \"application/pdf\" = \"sh read-pdf.sh\" }"), "{config}");
}

#[test]
fn a_command_that_comes_later_or_is_another_one_is_no_change() {
    let site = Site::start();
    site.page("/paper.pdf", pdf(&long_words("much")).etag("\"v1\""));
    let freshet = Freshet::new();
    let seeds = [site.url("/paper.pdf")];
    crawl(&freshet, &seeds, &[]);
    reads_pdf(&freshet, READ, 30.0);
    crawl(&freshet, &seeds, &[]);
    let settings = "[change]\ntext = { \"application/pdf\" = \"sh read-pdf.sh | tr a-z A-Z\" }\n";
    freshet.write("freshet.toml", settings);
    crawl(&freshet, &seeds, &[]);
    let history = freshet.json(&["history", &seeds[0], "--json"]);
    assert_eq!(changes(&freshet, &[]).len(), 0, "{history:#}");
    // It was read again each time, though the server would have said 304; now there is nothing new about it.
    assert_eq!(site.log().count("/paper.pdf"), 3);
    crawl(&freshet, &seeds, &[]);
    assert_eq!(pages(&freshet)[0]["outcome"], "not-modified");
}

#[test]
fn a_command_that_fails_hangs_or_floods_leaves_a_content_without_text() {
    for (script, said) in [
        ("echo 'this is no PDF' >&2\nexit 3\n", "ended with exit status: 3: this is no PDF"),
        ("sleep 120 &\nsleep 120\n", "took longer than 500ms and was ended"),
        ("yes paper\n", "wrote more than 8 MiB and was ended"),
        ("kill -9 $$\n", "ended with "),
    ] {
        let site = Site::start();
        site.page("/", "<p>The front page of the site</p><a href=/paper.pdf>paper</a><a href=/more>more</a>");
        let answers = ["one", "two"].map(|price| pdf(&long_words(price))).to_vec();
        site.page("/paper.pdf", Reply::sequence(answers));
        site.page("/more", "<p>More of the same site</p>");
        let freshet = Freshet::new();
        reads_pdf(&freshet, script, if said.contains("500ms") { 0.5 } else { 30.0 });
        let ran = freshet.run(&[
            "crawl",
            "--seeds",
            &freshet.seeds(&[site.url("/")]),
            "--allow-private",
            "--delay",
            "0",
            "--no-sitemaps",
        ]);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        assert!(ran.stderr.contains("stored without text") && ran.stderr.contains(said), "{}", ran.output());
        assert_eq!(known(&freshet, &site), ["/", "/more", "/paper.pdf"], "the crawl went on");
        let paper = pages(&freshet)
            .into_iter()
            .find(|page| page["url"] == site.url("/paper.pdf"))
            .expect("the paper");
        assert_eq!(paper["outcome"], "fetched", "{paper:#}");
        crawl(&freshet, &[site.url("/")], &[]);
        assert_eq!(changes(&freshet, &[]).len(), 1, "it changed, by its bytes");
        let checked = freshet.run(&[&["check", &site.url("/paper.pdf")], &FAST[..]].concat());
        let expected = "application/pdf (stored without text: ";
        assert!(checked.stdout.contains(expected) && checked.stdout.contains(said), "{}", checked.output());
    }
}

#[test]
fn a_wrong_command_is_told_with_its_place() {
    let freshet = Freshet::new();
    for (line, said) in [
        (
            "text = { \"pdf\" = \"cat\" }",
            "[change] text, \"pdf\": write a type of content such as `application/pdf`",
        ),
        ("text = { \"application/pdf\" = \" \" }", "[change] text, \"application/pdf\": write a command"),
        (
            "text = { \"text/html\" = \"cat\" }",
            "[change] text, \"text/html\": freshet reads this type itself",
        ),
    ] {
        freshet.write("freshet.toml", format!("[change]\n{line}\n"));
        let ran = freshet.run(&["config"]);
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
}
