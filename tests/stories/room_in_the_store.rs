//! A page that is another one at every visit does not fill the disk: beyond a limit its changes are known, its bodies not
//! stored.

use super::what_changed::{changes, crawl, visits};
use crate::support::{Freshet, Reply, Site, article, links_page};
use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering};

/// A page of words that are others at every visit.
fn random(page: u64) -> Reply {
    let visit = AtomicU64::new(1000 * page);
    Reply::dynamic(move |_| Reply::from(article("noise", 2000, visit.fetch_add(1, Ordering::Relaxed), &[])))
}

fn stored_bytes(freshet: &Freshet, sql: &str) -> u64 {
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    let bytes: i64 = store.query_row(sql, [], |row| row.get(0)).expect("a number");
    bytes.unsigned_abs()
}

#[test]
fn a_page_beyond_its_limit_is_followed_without_its_bodies() {
    let site = Site::start();
    site.page("/", links_page("home", &["/noise", "/calm"]).as_str());
    site.page("/noise", random(0));
    site.page("/calm", article("calm", 50, 3, &[]).as_str());
    let freshet = Freshet::new();
    let seeds = [site.url("/")];
    crawl(&freshet, &seeds, &[]);
    let one = stored_bytes(&freshet, "SELECT stored_bytes FROM page WHERE url LIKE '%/noise'");
    assert!(one > 1000, "{one}");
    freshet.write("freshet.toml", format!("[limits]\npage_store_bytes = {}\n", one * 5 / 2));
    for _ in 0..5 {
        assert_eq!(crawl(&freshet, &seeds, &[])["changed"], 1);
    }

    let noise = site.url("/noise");
    let seen = &visits(&freshet)[&noise];
    let stored: Vec<bool> = seen.iter().map(|visit| visit.is_stored).collect();
    assert_eq!(stored, [true, true, false, false, false, false]);
    assert!(seen[1..].iter().all(|visit| visit.divergence > Some(0.5)), "sketches measure on: {seen:?}");
    assert!(stored_bytes(&freshet, "SELECT max(stored_bytes) FROM page") <= one * 5 / 2);
    assert_eq!(
        stored_bytes(&freshet, "SELECT sum(stored_bytes) FROM host"),
        stored_bytes(&freshet, "SELECT sum(length(content)) FROM version")
    );

    let status = freshet.run(&["status"]);
    assert!(
        status.stdout.contains("4 versions of pages are known by their hashes only"),
        "{}",
        status.output()
    );
    let why = freshet.run(&["why", &noise]);
    assert!(why.stdout.contains("Its latest version is not stored"), "{}", why.output());
    let history = freshet.run(&["history", &noise]);
    assert!(history.stdout.contains("4 visits found a version that is not stored"), "{}", history.output());
    assert_eq!(changes(&freshet, &[]).len(), 5, "every change is told");
    assert_eq!(changes(&freshet, &["--lasting"]).len(), 0);
    for looked in [
        vec!["diff", noise.as_str()],
        vec!["store", "rebuild", "--check"],
        vec!["export", "--format", "fragments", "--out", "texts.parquet"],
    ] {
        let ran = freshet.run(&looked);
        assert_eq!(ran.code, Some(0), "{looked:?}: {}", ran.output());
    }
    let calm = freshet.run(&["why", &site.url("/calm")]);
    assert!(!calm.stdout.contains("not stored"), "{}", calm.output());
}

#[test]
fn the_pages_of_a_host_share_a_limit() {
    let site = Site::start();
    let pages: Vec<String> = (0..8).map(|page| format!("/{page}")).collect();
    (0..).zip(&pages).for_each(|(number, page)| site.page(page, random(number)));
    site.page("/", links_page("home", &pages.iter().map(String::as_str).collect::<Vec<_>>()).as_str());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nhost_store_bytes = 20000\n");
    let summary = crawl(&freshet, &[site.url("/")], &[]);
    assert_eq!(summary["succeeded"], 9, "{summary}");
    let stored = stored_bytes(&freshet, "SELECT stored_bytes FROM host");
    assert!((1000..=20_000).contains(&stored), "{stored}");
    assert!(stored_bytes(&freshet, "SELECT count(*) FROM version WHERE length(content) = 0") > 0);
}
