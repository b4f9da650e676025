//! Seeds that are listed, paused, resumed and removed; pages that are visited now, and pages that are forgotten for good.

use crate::support::operator::{crawl, page, pages};
use crate::support::{FAST, Freshet, Ran, Reply, Site, links_page};
use serde_json::Value;

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];

/// Two hosts, each with a home page and two pages.
fn two_hosts() -> Site {
    let site = Site::with_hosts(2);
    site.page("/", links_page("home", &["/a", "/b"]));
    site.page("/a", "page a");
    site.page("/b", "page b");
    site
}

/// Goes on with the store.
#[track_caller]
fn again(freshet: &Freshet, flags: &[&str]) -> Ran {
    let ran = freshet.run(&[&["crawl", "--json", "--no-sitemaps"], &FAST[..], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

#[track_caller]
fn done(freshet: &Freshet, arguments: &[&str]) -> Ran {
    let ran = freshet.run(arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

/// What `seeds` says of the seed at this URL.
#[track_caller]
fn seed(freshet: &Freshet, url: &str) -> Value {
    let ran = done(freshet, &["seeds", "--json"]);
    let mut rows =
        ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    rows.find(|row| row["url"] == url).unwrap_or_else(|| panic!("no `{url}`\n{}", ran.output()))
}

// --- seeds -------------------------------------------------------------------------------------------------------

#[test]
fn seeds_are_listed_with_their_state_and_their_pages() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    let lines = [format!("{}\tweight=2\tdepth=3", site.url_on(0, "/")), site.url_on(1, "/")];
    crawl(&freshet, &lines, &[&FLAGS[..], &["--budget", "5"]].concat());
    let first = seed(&freshet, &site.url_on(0, "/"));
    assert_eq!((&first["state"], &first["weight"]), (&"active".into(), &2.0.into()));
    assert_eq!((&first["max_depth"], &first["in_file"]), (&3.into(), &true.into()));
    assert!(first["last_visit_at"].is_string() && first["added_at"].is_string(), "{first}");
    let counts = |name: &str| -> u64 {
        (0..2).filter_map(|host| seed(&freshet, &site.url_on(host, "/"))["pages"][name].as_u64()).sum()
    };
    assert_eq!((counts("known"), counts("alive"), counts("new")), (6, 3, 3), "two requests are robots.txt");
    let table = done(&freshet, &["seeds"]).stdout;
    assert!(table.starts_with("state   pages  alive  new  failing"), "{table}");
    assert!(table.contains(&site.url_on(1, "/")), "{table}");
}

#[test]
fn nothing_under_a_paused_seed_is_visited_until_it_is_resumed() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    // A page of the first host links to one of the second that is not known yet.
    site.page_on(0, "/a", links_page("page a", &[&site.url_on(1, "/late")]));
    site.page_on(1, "/late", "late");
    crawl(&freshet, &[site.url_on(1, "/")], &FLAGS);
    let paused = site.origin(1);
    let ran = done(&freshet, &["seeds", "pause", &paused]);
    assert!(ran.stderr.contains("is paused"), "{}", ran.output());
    site.clear_log();
    // The seeds file still names it, which does not resume it.
    crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    again(&freshet, &[]);
    assert_eq!(site.log().on(1).total(), 0, "{:?}", site.log().on(1).paths());
    assert_eq!(seed(&freshet, &site.url_on(1, "/"))["state"], "paused");
    assert_eq!(page(&freshet, &site.url_on(1, "/late"))["state"], "new", "its links are not lost");
    done(&freshet, &["seeds", "resume", &site.url_on(1, "/")]);
    again(&freshet, &[]);
    let mut asked = site.log().on(1).paths();
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/b", "/late"]);
}

#[test]
fn pages_of_a_removed_seed_stay_and_are_not_visited() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    let ran = done(&freshet, &["seeds", "remove", &site.url_on(1, "/")]);
    assert!(ran.stderr.contains("is removed") && ran.stderr.contains("seeds file"), "{}", ran.output());
    site.clear_log();
    again(&freshet, &[]);
    assert_eq!((site.log().on(0).total(), site.log().on(1).total()), (3, 0));
    assert_eq!(pages(&freshet).len(), 6, "everything stored stays");
    assert_eq!(seed(&freshet, &site.url_on(1, "/"))["state"], "removed");
    let unknown = freshet.run(&["seeds", "remove", "nosuch.example"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    assert!(unknown.stderr.contains("there is no seed `nosuch.example`"), "{}", unknown.output());
    // A seeds file that names it wants it again, and that is said.
    let ran = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    assert!(
        ran.stderr.contains("1 removed seed active again, because `seeds.txt` names"),
        "{}",
        ran.output()
    );
    assert_eq!(site.log().on(1).total(), 3);
}

#[test]
fn a_seeds_file_that_no_longer_names_a_seed_is_told() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    let all = ["/", "/a", "/b"].map(|path| site.url_on(1, path));
    crawl(&freshet, &[&all[..], &[site.url_on(0, "/"), site.url_on(0, "/a")]].concat(), &FLAGS);
    let ran = crawl(&freshet, &[site.url_on(0, "/")], &FLAGS);
    let line = ran.stderr.lines().find(|line| line.contains("no longer names")).expect("it is said");
    assert!(line.starts_with("warning: `seeds.txt` no longer names 4 seeds, still crawled: `"), "{line}");
    assert!(line.contains(" and 1 more; `freshet seeds remove URL` ends that"), "{line}");
    for url in all.iter().chain([&site.url_on(0, "/a")]) {
        done(&freshet, &["seeds", "remove", url]);
    }
    let ran = crawl(&freshet, &[site.url_on(0, "/")], &FLAGS);
    assert!(!ran.stderr.contains("no longer names"), "{}", ran.output());
}

#[test]
fn a_host_that_no_seed_wants_is_not_reported_as_waiting() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    site.page_on(1, "/robots.txt", Reply::text("User-agent: *\nCrawl-delay: 900\n"));
    let first = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    assert!(first.stderr.contains("900 s"), "{}", first.output());
    let waiting = |freshet: &Freshet| crate::support::operator::host(freshet, &site.origin(1));
    assert_eq!(waiting(&freshet)["waiting_for"], "crawl-delay");
    done(&freshet, &["seeds", "remove", &site.origin(1)]);
    let ran = again(&freshet, &[]);
    assert!(!ran.stderr.contains("900 s"), "{}", ran.output());
    let host = waiting(&freshet);
    assert_eq!((&host["waiting_for"], &host["reason"]), (&Value::Null, &"no seed wants it".into()), "{host}");
    for look in [&["plan"][..], &["why", &site.url_on(0, "/a")]] {
        let ran = done(&freshet, look);
        assert!(!ran.output().contains("900 s"), "{}", ran.output());
    }
}

// --- pages that are visited now ----------------------------------------------------------------------------------

#[test]
fn pages_that_are_named_are_visited_now_and_no_others() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    site.page("/unlinked", "a page that no page links to");
    crawl(&freshet, &[site.url_on(0, "/")], &FLAGS);
    site.clear_log();
    let named = [site.url_on(0, "/a"), site.url_on(0, "/unlinked"), site.url_on(1, "/b")];
    let ran = again(&freshet, &["--policy", "nutch", "--only", &named[0], &named[1], &named[2]]);
    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    assert_eq!((site.log().on(0).paths().len(), site.log().on(1).paths().len()), (2, 2), "robots.txt is one");
    assert!(ran.stderr.contains("in the scope of no seed: it is a seed of its own"), "{}", ran.output());
    let own = seed(&freshet, &named[2]);
    assert_eq!((&own["in_file"], &own["max_depth"]), (&false.into(), &0.into()), "{own}");
    let last = freshet.json(&["status", "--json"])["cycles"][0].clone();
    assert_eq!((&last["command"], last["ended_at"].is_string()), (&"only".into(), true), "{last}");
    // Its budget is a cap too, and the seeds file does not have to name it.
    site.clear_log();
    let ran = again(&freshet, &["--budget", "1", "--only", &named[0], &named[1]]);
    assert_eq!(
        (site.log().total(), &ran.json()["put_off_by_reason"]["budget"]),
        (1, &1.into()),
        "{}",
        ran.output()
    );
    let ran = crawl(&freshet, &[site.url_on(0, "/")], &FLAGS);
    assert!(!ran.stderr.contains("no longer names"), "{}", ran.output());
    let bad = freshet.run(&["crawl", "--only", "htp:/x"]);
    assert_eq!(bad.code, Some(2), "{}", bad.output());
}

#[test]
fn a_store_may_begin_with_a_page_that_is_named() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    again(&freshet, &["--only", &site.url("/")]);
    assert_eq!(site.log().paths(), ["/robots.txt", "/"]);
    again(&freshet, &[]);
    assert_eq!(
        site.log().paths(),
        ["/robots.txt", "/", "/"],
        "it is watched, and its links are not followed"
    );
}

#[test]
fn a_page_that_is_named_does_not_move_the_calendar_of_a_monitor() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    let seeds = freshet.seeds(&[site.url("/")]);
    let flags =
        ["monitor", "--once", "--json", "--no-sitemaps", "--every", "1h", "--budget", "9", "--catch-up"];
    done(&freshet, &[&flags[..], &["--seeds", &seeds], &FAST[..]].concat());
    again(&freshet, &["--only", &site.url("/a")]);
    let ran = done(&freshet, &[&flags[..], &FAST[..]].concat());
    assert!(!ran.stderr.contains("did not run"), "{}", ran.output());
    assert_eq!(ran.json()["budget"], 9);
}

// --- pages that are forgotten ------------------------------------------------------------------------------------

/// Words that pack badly, so that they are found in the file as they are.
const SECRET: &str = "qzx7Kf93hVbn0sWq";

fn is_in_files(freshet: &Freshet, text: &str) -> bool {
    let files =
        ["freshet.db", "freshet.db-wal"].map(|name| std::fs::read(freshet.path(name)).unwrap_or_default());
    files.iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[test]
fn a_forgotten_page_is_gone_from_the_file_and_does_not_come_back_by_itself() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    site.page_on(0, "/", Reply::html(links_page("home", &["/a", "/b"])).etag("\"1\""));
    site.page_on(0, "/a", SECRET);
    site.page_on(0, "/b", "the same as on the other host");
    site.page_on(1, "/b", "the same as on the other host");
    crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    assert!(is_in_files(&freshet, SECRET), "the test can see it");

    let asked = freshet.run(&["forget", &site.url_on(0, "/a")]);
    assert_eq!(asked.code, Some(2), "{}", asked.output());
    assert!(asked.stderr.contains("this deletes 1 page with 1 visit and 1 version ("), "{}", asked.output());
    assert!(asked.stderr.contains("add --yes"), "{}", asked.output());
    assert!(is_in_files(&freshet, SECRET), "nothing was deleted");

    let ran = done(&freshet, &["forget", "--yes", &site.url_on(0, "/a")]);
    assert!(ran.stdout.contains("deleted 1 page with 1 visit and 1 version ("), "{}", ran.output());
    assert!(ran.stderr.contains("exclude = ['^https?://127\\.0\\.0\\.1:"), "{}", ran.output());
    assert!(!is_in_files(&freshet, SECRET), "its bytes are overwritten");
    assert_eq!(freshet.run(&["history", &site.url_on(0, "/a")]).code, Some(1));
    assert_eq!(pages(&freshet).len(), 5);
    site.clear_log();
    again(&freshet, &[]);
    assert!(!site.log().on(0).asked("/a"), "a link that is known does not bring it back");
    assert!(!site.log().on(0).asked("/robots.txt"), "the host has other pages, so its robots.txt is kept");

    // A content that another page has stays.
    let shared = freshet.json(&["forget", "--yes", "--json", &site.url_on(0, "/b")]);
    assert_eq!((&shared["page_count"], &shared["version_count"]), (&1.into(), &0.into()), "{shared}");
    assert_eq!(page(&freshet, &site.url_on(1, "/b"))["is_stored"], true);
    let check = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.output());
    // A new page gets a number of its own.
    let ran = again(&freshet, &["--only", &site.url_on(0, "/a")]);
    assert_eq!(ran.json()["succeeded"], 1, "{}", ran.output());
    assert!(is_in_files(&freshet, SECRET));
}

#[test]
fn a_host_that_is_forgotten_goes_with_its_seed_and_its_robots_txt() {
    let (site, freshet) = (two_hosts(), Freshet::new());
    crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    let host = site.origin(1);
    let forgotten = freshet.json(&["forget", "--yes", "--json", &host]);
    assert_eq!((&forgotten["page_count"], &forgotten["host_count"]), (&3.into(), &1.into()), "{forgotten}");
    assert_eq!(
        (&forgotten["seed_count"], &forgotten["observation_count"]),
        (&1.into(), &3.into()),
        "{forgotten}"
    );
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(
        (status["hosts"].as_array().map(Vec::len), &status["seed_count"]),
        (Some(1), &1.into()),
        "{status}"
    );
    site.clear_log();
    again(&freshet, &[]);
    assert_eq!((site.log().on(0).total(), site.log().on(1).total()), (3, 0));
    let unknown = freshet.run(&["forget", "--yes", "nosuch.example"]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    assert!(unknown.stderr.contains("does not know `nosuch.example`"), "{}", unknown.output());
}
