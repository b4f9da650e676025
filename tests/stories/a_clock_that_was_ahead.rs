//! A cycle that ran while the clock was ahead leaves dates of the future in the store. The next crawl goes on all the same.

use crate::support::operator::crawl;
use crate::support::{Freshet, Reply, Site, article, links_page};
use rusqlite::Connection;

const FLAGS: [&str; 2] = ["--delay", "0"];

/// Makes the store one that was written while the clock was this number of days ahead.
fn shift(freshet: &Freshet, days: i64) {
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    let by = days * 86_400_000;
    store
        .execute_batch(&format!(
            "DROP TRIGGER observation_is_never_changed;
             UPDATE observation SET at = at + {by};
             UPDATE cycle SET started_at = started_at + {by}, ended_at = ended_at + {by};
             UPDATE page SET due_at = due_at + {by}, found_at = found_at + {by},
                    last_visit_at = last_visit_at + {by}, seen_at = seen_at + {by};
             UPDATE host SET not_before = not_before + {by}, robots_at = robots_at + {by}, sitemaps_at = sitemaps_at + {by};"
        ))
        .expect("times that can be shifted");
    drop(store);
    let rebuilt = freshet.run(&["store", "rebuild"]);
    assert_eq!(rebuilt.code, Some(0), "{}", rebuilt.output());
}

fn site() -> Site {
    let site = Site::with_hosts(2);
    site.page("/", links_page("home", &["/well", "/failing"]).as_str());
    site.page("/well", article("well", 80, 1, &[]).as_str());
    site.page("/failing", Reply::status(403, "no"));
    site.page("/sitemap.xml", Reply::status(404, "none"));
    site.page_on(1, "/", Reply::status(503, "busy").header("Retry-After", "3000"));
    site
}

#[test]
fn a_crawl_after_a_cycle_of_the_future_goes_on_and_warns() {
    let (site, freshet) = (site(), Freshet::new());
    let seeds = [site.url("/"), site.url_on(1, "/")];
    crawl(&freshet, &seeds, &FLAGS);
    shift(&freshet, 400);
    site.clear_log();

    let status = freshet.run(&["status"]);
    assert!(status.stdout.contains("warning the last cycle began at"), "{}", status.output());
    let why = freshet.json(&["why", "--json", &site.url("/well")]);
    assert_eq!(why["verdict"], "due", "{why}");

    site.page("/well", article("well", 80, 2, &[]).as_str());
    site.page_on(1, "/", "well again");
    let second = crawl(&freshet, &seeds, &FLAGS);
    assert_eq!(second.code, Some(0), "{}", second.output());
    assert!(second.stderr.contains("the last cycle began at"), "{}", second.output());
    assert_eq!(second.json()["changed"], 1, "{}", second.output());
    for path in ["/robots.txt", "/sitemap.xml", "/", "/well", "/failing"] {
        assert_eq!(site.log().on(0).count(path), 1, "{path} is asked for: {:?}", site.log().paths());
    }
    assert!(site.log().on(1).asked("/"), "a wait until next year is not believed");

    // From then on all is as ever.
    site.clear_log();
    let third = crawl(&freshet, &seeds, &FLAGS);
    assert!(!third.stderr.contains("the last cycle began"), "{}", third.output());
    assert!(!site.log().asked("/robots.txt"), "the robots.txt of a moment ago still counts");
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

#[test]
fn pages_of_the_future_do_not_starve_under_a_budget() {
    let (site, freshet) = (Site::start(), Freshet::new());
    let pages: Vec<String> = (0..6).map(|page| format!("/{page}")).collect();
    pages.iter().for_each(|page| site.page(page, article(page, 50, 1, &[]).as_str()));
    let seeds: Vec<String> = pages.iter().map(|page| site.url(page)).collect();
    crawl(&freshet, &seeds, &["--delay", "0", "--no-sitemaps"]);
    // Half of the pages were visited by a wrong clock.
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    let by = 400 * 86_400_000_i64;
    let sql =
        "UPDATE page SET last_visit_at = last_visit_at + ?1, seen_at = seen_at + ?1, due_at = due_at + ?1
               WHERE url GLOB '*/[012]'";
    assert_eq!(store.execute(sql, [by]).expect("times that can be shifted"), 3);
    drop(store);
    site.clear_log();
    crawl(&freshet, &seeds, &["--delay", "0", "--no-sitemaps", "--budget", "3", "--policy", "age"]);
    let mut asked = site.log().paths();
    asked.retain(|path| path != "/robots.txt");
    asked.sort();
    assert_eq!(asked, pages[..3], "visits at an unknown time are long ago");
}

#[test]
fn a_monitor_does_not_wait_for_the_future() {
    let (site, freshet) = (site(), Freshet::new());
    let seeds = [site.url("/")];
    crawl(&freshet, &seeds, &FLAGS);
    shift(&freshet, 400);
    site.clear_log();
    let named = freshet.seeds(&seeds);
    let mut monitor =
        freshet.start(&["monitor", "--seeds", &named, "--allow-private", "--delay", "0", "--every", "1d"]);
    while !site.log().asked("/well") && monitor.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let asked = site.log().asked("/well");
    let ran = monitor.kill();
    assert!(asked, "{}", ran.output());
}
