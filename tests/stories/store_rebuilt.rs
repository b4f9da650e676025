//! What is derived from the log can be made from it again; and a store that an earlier release made serves on.

use crate::support::operator::crawl as crawl_seeds;
use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};
use crate::what_changed::{changes, crawl, open, visits};
use freshet::page::PageId;
use rusqlite::Connection;
use rusqlite::types::Value as Field;
use serde_json::json;
use std::time::Duration;

fn database(freshet: &Freshet) -> Connection {
    Connection::open(freshet.path("freshet.db")).expect("the store")
}

/// All rows of what a query asks for, to the bit.
#[track_caller]
fn dump(freshet: &Freshet, sql: &str) -> Vec<Vec<Field>> {
    let store = database(freshet);
    let mut statement = store.prepare(sql).expect("a query");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

const PAGES: &str = "SELECT * FROM page ORDER BY id";
const SKETCHES: &str = "SELECT * FROM sketch ORDER BY version_id";
const LOG: &str = "SELECT * FROM observation ORDER BY id";

#[track_caller]
fn rebuild(freshet: &Freshet, flags: &[&str]) -> Ran {
    freshet.run(&[&["store", "rebuild", "--json"], flags].concat())
}

/// Crawls a site on which all kinds of things happen, several times.
fn eventful(freshet: &Freshet) -> Site {
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\nback_off = 0.01\n");
    let site = Site::start();
    let links = ["/steady", "/moving", "/dated", "/lost", "/moved", "/picture", "/blank", "/turns", "/sent"];
    site.page("/", links_page("home", &links));
    site.page("/steady", article("steady", 60, 1, &[]));
    site.page("/moving", Reply::dynamic(|request| article("m", 60, request.count as u64, &[]).into()));
    site.page("/dated", Reply::from(article("dated", 60, 2, &[])).etag("\"v1\""));
    site.page("/lost", Reply::sequence(vec!["here".into(), Reply::status(404, "no"), "here".into()]));
    let moved = Reply::sequence(vec!["moved soon".into(), "moved soon".into(), Reply::redirect(301, "/new")]);
    site.page("/moved", moved);
    site.page("/new", "it is here now");
    site.page(
        "/picture",
        Reply::dynamic(|request| Reply::bytes("image/png", vec![0x89, request.count as u8])),
    );
    site.page("/blank", "<html><body><hr></body></html>");
    let turns = [1, 2, 1, 3].map(|seed| article("turns", 60, seed, &[]).into());
    site.page("/turns", Reply::sequence(turns.to_vec()));
    site.page("/sent", Reply::sequence(vec!["sent".into(), Reply::redirect(302, "/steady"), "sent".into()]));
    for cycle in 0..7 {
        // What counts as a change is nothing that is made again.
        let flags: &[&str] = if cycle == 3 { &["--changed", "bytes"] } else { &[] };
        crawl(freshet, &[site.url("/")], flags);
    }
    site
}

#[test]
fn after_eventful_crawls_a_rebuild_has_nothing_to_do() {
    let freshet = Freshet::new();
    eventful(&freshet);
    let before = [PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql));
    let checked = rebuild(&freshet, &["--check"]);
    let told = checked.json();
    assert_eq!((&told["sketches_differ"], &told["pages_differ"]), (&json!(0), &json!(0)), "{told}");
    assert_eq!(told["page_count"], before[0].len());
    assert!(told["version_count"].as_u64() > Some(10), "{told}");
    assert_eq!(rebuild(&freshet, &[]).code, Some(0));
    assert_eq!([PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql)), before);
}

#[test]
fn what_was_lost_or_altered_is_told_and_mended_to_the_bit() {
    let freshet = Freshet::new();
    let site = eventful(&freshet);
    let before = [PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql));
    for harm in [
        "UPDATE page SET profiles = NULL",
        "UPDATE page SET profiles = x'ffffff'",
        "UPDATE page SET visits = 0, changes = 99, failures = 7, state = 'gone', due_at = 5",
        "UPDATE page SET version_id = NULL, last_visit_at = NULL, last_cycle_id = NULL, last_outcome = NULL",
        "UPDATE page SET text_rules = 12345 WHERE id % 2 = 0",
        // That a page without words has a place for some is known from its sketch alone.
        "DELETE FROM sketch WHERE (SELECT text_bytes FROM version WHERE id = version_id) > 0",
        "UPDATE sketch SET hashes = x'00'",
        "UPDATE sketch SET hashes = x'01', words = 9",
        "UPDATE page SET state = 'no such state', profiles = x'80'",
    ] {
        database(&freshet).execute(harm, []).expect("harm is done");
        let harmed = [PAGES, SKETCHES].map(|sql| dump(&freshet, sql));
        let checked = rebuild(&freshet, &["--check"]);
        assert_eq!(checked.code, Some(1), "{harm}\n{}", checked.output());
        assert_eq!([PAGES, SKETCHES].map(|sql| dump(&freshet, sql)), harmed, "{harm}: a check mends nothing");
        let mended = rebuild(&freshet, &[]);
        assert_eq!(mended.code, Some(0), "{harm}\n{}", mended.output());
        assert_eq!(mended.stdout, checked.stdout, "{harm}: it does what it said it would do");
        for (after, before) in [PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql)).iter().zip(&before) {
            assert_eq!(after, before, "{harm}");
        }
        assert_eq!(rebuild(&freshet, &["--check"]).code, Some(0), "{harm}");
    }
    let said = freshet.run(&["store", "rebuild"]);
    assert!(
        said.stdout.contains("0 sketches, 0 pages, 0 aliases and the events of 0 pages differed"),
        "{}",
        said.stdout
    );
    crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(rebuild(&freshet, &["--check"]).code, Some(0));
}

#[test]
fn a_rebuild_waits_for_no_crawl_but_says_so() {
    let site = Site::start();
    site.page("/", Reply::html("slow").delay(Duration::from_secs(20)));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawling = freshet.start(&[&["crawl", "--seeds", &seeds], &FAST[..]].concat());
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while !site.log().asked("/") {
        assert!(std::time::Instant::now() < deadline, "{}", crawling.stderr());
        std::thread::sleep(Duration::from_millis(5));
    }
    for flags in [&[][..], &["--check"]] {
        let refused = rebuild(&freshet, flags);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.output());
        assert!(refused.stderr.contains("freshet.db"), "{}", refused.stderr);
    }
    assert_eq!(freshet.run(&["changes"]).code, Some(0), "looking is always allowed");
    crawling.kill();
    assert_eq!(rebuild(&freshet, &["--check"]).code, Some(0), "the lock goes with the crawl");
}

#[test]
fn a_rebuild_that_is_killed_leaves_a_store_to_rebuild() {
    let site = Site::start();
    let names: Vec<String> = (0..150).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (seed, name) in names.iter().enumerate() {
        let turns = (0..3).map(|turn| article(name, 400, (seed * 10 + turn) as u64, &[]).into()).collect();
        site.page(name, Reply::sequence(turns));
    }
    let freshet = Freshet::new();
    for _ in 0..3 {
        crawl(&freshet, &[site.url("/")], &["--per-host", "4"]);
    }
    let before = [PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql));
    for wait in [5, 40, 90, 150, 250] {
        database(&freshet)
            .execute_batch("DELETE FROM sketch; UPDATE page SET profiles = NULL")
            .expect("harm");
        let running = freshet.start(&["store", "rebuild"]);
        std::thread::sleep(Duration::from_millis(wait));
        running.kill();
        assert_eq!(freshet.run(&["status"]).code, Some(0));
        let sound = dump(&freshet, "PRAGMA integrity_check");
        assert_eq!(sound, [[Field::Text("ok".to_owned())]]);
        assert_eq!(rebuild(&freshet, &[]).code, Some(0));
        assert_eq!([PAGES, SKETCHES, LOG].map(|sql| dump(&freshet, sql)), before);
    }
}

#[test]
fn other_fragments_and_sketches_are_made_from_the_texts_that_are_held() {
    let freshet = Freshet::new();
    let site = eventful(&freshet);
    let log = dump(&freshet, LOG);
    for change in ["fragment_words = 2", "sketch = 16", "sketch = \"all\"", "sketch = \"all\"\nprofiles = 1"]
    {
        freshet.write("freshet.toml", format!("[change]\n{change}\n"));
        let checked = rebuild(&freshet, &["--check"]);
        assert_eq!(checked.code, Some(1), "{change}\n{}", checked.output());
        let made = rebuild(&freshet, &[]);
        assert_eq!((made.code, made.stdout), (Some(0), checked.stdout), "{change}: as it was foretold");
        assert_eq!(rebuild(&freshet, &["--check"]).code, Some(0), "{change}");
        assert_eq!(dump(&freshet, LOG), log, "{change}: the log is never touched");
    }
    let flags = freshet.json(&["store", "rebuild", "--check", "--json", "--profiles", "1"]);
    assert_eq!(flags["pages_differ"], 0, "flags as a crawl has them");
    let page = visits(&freshet).remove(&site.url("/turns")).expect("visits");
    let mut store = open(&freshet);
    let profiles = store.profiles(page[0].page).expect("profiles");
    assert_eq!(profiles.len(), 1);
    drop(store);
    crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(rebuild(&freshet, &["--check"]).code, Some(0), "a crawl goes on with them");
}

#[test]
fn eight_hashes_one_profile_and_what_was_learnt_fit_into_128_bytes() {
    let site = Site::start();
    let names: Vec<String> = (0..40).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for name in &names {
        let title = name.clone();
        site.page(
            name,
            Reply::dynamic(move |request| article(&title, 200, request.count as u64, &[]).into()),
        );
    }
    let freshet = Freshet::new();
    for _ in 0..9 {
        crawl(&freshet, &[site.url("/")], &["--sketch", "8", "--profiles", "1", "--per-host", "4"]);
        let sizes = freshet.json(&["status", "--sizes", "--json"])["scheduling_size"].clone();
        assert_eq!(sizes["page_count"], 41);
        // The sketch has 33 bytes, and what the default policy remembers 55 at the most.
        assert!(sizes["largest_bytes"].as_u64() <= Some(128), "{sizes}");
    }
    let shown = freshet.run(&["status", "--sizes"]);
    assert!(shown.stdout.contains("the largest page"), "{}", shown.stdout);
}

/// Rows of the page table that a policy and its profiles make.
const MEMORIES: &str = "SELECT url, learnt, profiles FROM page ORDER BY id";

#[test]
fn the_memory_of_longevity_bound_is_rebuilt_to_the_byte() {
    let site = Site::start();
    let names: Vec<String> = (0..12).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (seed, name) in (1_u64..).zip(&names) {
        let title = name.clone();
        // Each page has a new text at every visit, at every third, or never.
        let text = move |count: usize| if seed % 3 == 0 { 0 } else { count as u64 / (1 + 2 * (seed % 2)) };
        site.page(name, Reply::dynamic(move |request| article(&title, 80, text(request.count), &[]).into()));
    }
    let freshet = Freshet::new();
    let flags = |budget: &'static str, weight: &'static str| {
        ["--policy", "longevity-bound", "--budget", budget, "--weight", weight, "--profiles", "2"]
    };
    crawl(&freshet, &[site.url("/")], &["--profiles", "2"]);
    // The threshold moves with the budget, and weights with the links; both were others at earlier visits.
    for (budget, weight) in [
        ("13", "equal"),
        ("3", "pagerank"),
        ("13", "inlinks"),
        ("2", "equal"),
        ("13", "pagerank"),
        ("9", "inlinks"),
        ("13", "equal"),
    ] {
        crawl(&freshet, &[site.url("/")], &flags(budget, weight));
        let before = dump(&freshet, MEMORIES);
        let checked = rebuild(&freshet, &["--check", "--profiles", "2"]);
        assert_eq!(checked.code, Some(0), "{}", checked.output());
        database(&freshet)
            .execute("UPDATE page SET learnt = NULL, profiles = NULL", [])
            .expect("harm is done");
        assert_eq!(rebuild(&freshet, &["--profiles", "2"]).code, Some(0));
        assert_eq!(dump(&freshet, MEMORIES), before, "budget {budget}, weight {weight}");
    }
    let history = dump(&freshet, "SELECT value FROM note WHERE name = 'policy-memory longevity-bound'");
    let Some(Field::Text(history)) = history.first().and_then(|row| row.first()) else {
        panic!("{history:?}")
    };
    assert!(history.split(' ').count() > 3, "the threshold has moved: {history}");
    let weights = dump(&freshet, "SELECT DISTINCT weight FROM observation WHERE weight IS NOT NULL");
    assert!(weights.len() > 2, "{weights:?}");
    // Another policy, then back: visits made meanwhile are learnt by the last threshold.
    crawl(&freshet, &[site.url("/")], &["--profiles", "2", "--policy", "age"]);
    crawl(&freshet, &[site.url("/")], &flags("5", "equal"));
    let checked = rebuild(&freshet, &["--check", "--profiles", "2"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

// --- a store of an earlier release -----------------------------------------------------------------------------

/// Makes a store as the first release did, with what a crawl by this one left, as far as it knew of such things.
#[track_caller]
fn as_first_released(freshet: &Freshet) {
    std::fs::rename(freshet.path("freshet.db"), freshet.path("new.db")).expect("a store");
    let mut old = database(freshet);
    let schema = include_str!("../../migrations/sqlite/V1__crawl.sql");
    let first = refinery::Migration::unapplied("V1__crawl", schema).expect("a migration");
    refinery::Runner::new(&[first]).run(&mut old).expect("the first schema");
    let new = freshet.path("new.db").display().to_string();
    old.execute("ATTACH ?1 AS new", [new]).expect("the new store");
    for table in ["seed", "host", "version", "cycle", "page", "observation", "plan", "refusal"] {
        let mut columns = old.prepare("SELECT name FROM pragma_table_info(?1)").expect("columns");
        let columns = columns.query_map([table], |row| row.get(0)).expect("columns");
        let columns: Vec<String> = columns.map(|name| name.expect("a name")).collect();
        let columns = columns.join(", ");
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        old.execute(&copy, []).expect("rows");
    }
    old.execute("DETACH new", []).expect("it was attached");
}

#[test]
fn a_store_of_the_first_release_is_brought_up_to_date_by_looking_at_it() {
    let freshet = Freshet::new();
    let site = eventful(&freshet);
    let known = "SELECT url, visits, changes, state, version_id FROM page ORDER BY id";
    let logged = "SELECT id, page_id, at, outcome, changed, version_id FROM observation ORDER BY id";
    let (pages, log, told) = (dump(&freshet, known), dump(&freshet, logged), changes(&freshet, &[]));
    for look in
        [&["status"][..], &["changes"], &["pages"], &["diff", &site.url("/turns")], &["store", "rebuild"]]
    {
        as_first_released(&freshet);
        let ran = freshet.run(look);
        assert_eq!(ran.code, Some(0), "{look:?}\n{}", ran.output());
        assert_eq!((dump(&freshet, known), dump(&freshet, logged)), (pages.clone(), log.clone()), "{look:?}");
        let found = changes(&freshet, &[]);
        assert_eq!(found.len(), told.len(), "{look:?}");
        for (found, told) in found.iter().zip(&told) {
            for name in ["url", "at", "version_id", "previous_version_id", "previous_at", "added"] {
                assert_eq!(found[name], told[name], "{look:?}");
            }
        }
    }
    // From the log and the texts follows all that the first release did not know.
    let checked = rebuild(&freshet, &["--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

#[test]
fn a_store_of_the_first_release_is_crawled_on() {
    let freshet = Freshet::new();
    let site = eventful(&freshet);
    let before = visits(&freshet);
    as_first_released(&freshet);
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["changed"], 2, "the moving page and the picture: {summary}");
    assert!(summary["outcomes"]["not-modified"].as_u64() >= Some(1), "{summary}");
    let after = visits(&freshet);
    for (url, before) in &before {
        let after = &after[url];
        assert!(after.len() >= before.len(), "{url}");
        for (after, before) in after.iter().zip(before) {
            assert_eq!(
                (after.at, &after.outcome, after.version),
                (before.at, &before.outcome, before.version)
            );
        }
    }
    let last = |path: &str| after[&site.url(path)].last().expect("a visit").clone();
    let moving = last("/moving");
    assert_eq!(moving.changed, Some(true));
    assert!(moving.divergence > Some(0.5), "measured from the text that was held: {:?}", moving.divergence);
    assert_eq!((last("/steady").changed, last("/steady").divergence), (Some(false), Some(0.0)));
    let mut store = open(&freshet);
    assert_eq!(store.profiles(PageId(moving.page.0)).expect("profiles").len(), 1);
    drop(store);
    assert_eq!(rebuild(&freshet, &[]).code, Some(0));
    let mut store = open(&freshet);
    assert_eq!(store.profiles(PageId(moving.page.0)).expect("profiles").len(), 5, "the whole log counts");
}

#[test]
fn its_help_says_what_it_measures_with() {
    let help = Freshet::new().run(&["store", "rebuild", "--help"]).stdout;
    assert!(help.contains("or `all` [default: 250]"), "{help}");
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("should be rebuilt with the same flags"), "{help}");
}

#[test]
fn contents_that_an_earlier_release_hashed_otherwise_are_known_again() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "/b"]).as_str());
    site.page("/a", "words of a");
    site.page("/b", "words of b");
    let freshet = Freshet::new();
    let first = crawl_seeds(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    assert_eq!(first.json()["succeeded"], 3, "{}", first.output());
    // As the migration finds a store of an earlier release: other hashes, and the note that they are to be made again.
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).unwrap();
    store.execute("UPDATE version SET body_hash = randomblob(16), text_hash = randomblob(16)", []).unwrap();
    store.execute("INSERT INTO note (name, value) VALUES ('versions-hashed-to', '0')", []).unwrap();
    store.close().unwrap();

    let second = crawl_seeds(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    assert_eq!(
        (&second.json()["changed"], &second.json()["unchanged"]),
        (&0.into(), &3.into()),
        "{}",
        second.output()
    );
    assert!(second.stderr.contains("hashed again, once"), "{}", second.output());
    assert_eq!(freshet.json(&["--json", "status"])["size"]["version_count"], 3);
    let third = crawl_seeds(&freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps"]);
    assert!(!third.stderr.contains("hashed again"), "{}", third.output());
}

/// What the policy knows of the collection, and the last visit that it was learnt from.
const COLLECTION: &str = "SELECT version, upto_id, content FROM collection_memory";

#[test]
fn what_is_known_of_the_collection_is_rebuilt_to_the_byte() {
    let site = Site::start();
    let names: Vec<String> = (0..12).map(|page| format!("/{}/{page}", ["news", "docs"][page % 2])).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (seed, name) in (1_u64..).zip(&names) {
        let title = name.clone();
        let text = move |count: usize| if seed % 2 == 0 { 0 } else { count as u64 / (1 + seed % 3) };
        site.page(name, Reply::dynamic(move |request| article(&title, 80, text(request.count), &[]).into()));
    }
    let freshet = Freshet::new();
    // Another policy made the first visits; they are learnt from all the same.
    crawl(&freshet, &[site.url("/")], &["--policy", "age"]);
    for budget in ["13", "4", "13", "6", "9"] {
        crawl(&freshet, &[site.url("/")], &["--budget", budget]);
        let checked = rebuild(&freshet, &["--check"]).json();
        assert_eq!(checked["collection_differs"], json!(false), "budget {budget}: {checked}");
    }
    let before = dump(&freshet, COLLECTION);
    assert_eq!(before.len(), 1, "one policy has learnt");
    // A state that is not what the log amounts to is found, and made again.
    database(&freshet)
        .execute("UPDATE collection_memory SET content = zeroblob(40)", [])
        .expect("harm is done");
    let checked = rebuild(&freshet, &["--check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.output());
    assert!(checked.stdout.contains("\"collection_differs\": true"), "{}", checked.output());
    assert_eq!(rebuild(&freshet, &[]).code, Some(0));
    assert_eq!(dump(&freshet, COLLECTION), before);
    // A run with another policy in between teaches, too.
    crawl(&freshet, &[site.url("/")], &["--policy", "age", "--budget", "8"]);
    crawl(&freshet, &[site.url("/")], &["--budget", "5"]);
    let checked = rebuild(&freshet, &["--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}
