//! The operator of a story: crawls some URLs, then looks at what the store says of pages and hosts.

use super::{Freshet, Ran};
use serde_json::Value;

/// Crawls these seeds with these flags, loopback allowed, and returns how it ended, whatever that was.
#[track_caller]
pub fn crawl(freshet: &Freshet, seeds: &[impl AsRef<str>], flags: &[&str]) -> Ran {
    crawl_strictly(freshet, seeds, &[&["--allow-private"], flags].concat())
}

/// As [`crawl`], but only addresses that the flags allow.
#[track_caller]
pub fn crawl_strictly(freshet: &Freshet, seeds: &[impl AsRef<str>], flags: &[&str]) -> Ran {
    let seeds = freshet.seeds(seeds);
    freshet.run(&[&["crawl", "--json", "--seeds", &seeds], flags].concat())
}

/// Every page the store knows, other spellings aside.
#[track_caller]
pub fn pages(freshet: &Freshet) -> Vec<Value> {
    let listed = freshet.run(&["pages", "--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.output());
    listed.stdout.lines().map(|line| serde_json::from_str(line).expect("a page is a JSON object")).collect()
}

/// The page of that URL. Panics with all there are if there is none.
#[track_caller]
pub fn page(freshet: &Freshet, url: &str) -> Value {
    let all = pages(freshet);
    let found = all.iter().find(|page| page["url"] == url).cloned();
    found.unwrap_or_else(|| panic!("no page `{url}` among {all:#?}"))
}

/// How the last visit to a page ended.
#[track_caller]
pub fn outcome(freshet: &Freshet, url: &str) -> String {
    page(freshet, url)["outcome"].as_str().unwrap_or("never visited").to_owned()
}

/// What `status` says of a host, named as in `http://127.0.0.1:4321`.
#[track_caller]
pub fn host(freshet: &Freshet, origin: &str) -> Value {
    let status = freshet.json(&["status", "--json"]);
    let hosts = status["hosts"].as_array().cloned().unwrap_or_default();
    let found = hosts.iter().find(|host| host["host"] == origin).cloned();
    found.unwrap_or_else(|| panic!("no host `{origin}` among {hosts:#?}"))
}

/// What a host waits for; empty when it does not.
#[track_caller]
pub fn waiting_for(freshet: &Freshet, origin: &str) -> String {
    host(freshet, origin)["waiting_for"].as_str().unwrap_or_default().to_owned()
}
