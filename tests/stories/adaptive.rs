//! A crawl that learns: budgets go where visits gain most, and it can say what it will do and why.

use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The flags of [`FAST`] that `plan` and `why` have: they fetch nothing.
const NO_PAUSE: [&str; 2] = ["--delay", "0"];
const NO_SITEMAPS: [&str; 1] = ["--no-sitemaps"];

/// A home page with links to so many others; of these, the first few say something else at each visit.
fn site_of(pages: usize, changing: usize) -> Site {
    let site = Site::start();
    let names: Vec<String> = (0..pages).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, name) in names.iter().enumerate() {
        let title = name.clone();
        let text = move |count: u64| article(&title, 60, if number < changing { count } else { 0 }, &[]);
        site.page(name, Reply::dynamic(move |request| text(request.count as u64).into()));
    }
    site
}

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site, flags: &[&str]) -> Value {
    let seeds = freshet.seeds(&[site.url("/")]);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..], &NO_SITEMAPS, flags].concat())
}

#[track_caller]
fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The pages of the next cycle's plan, best first.
#[track_caller]
fn planned(freshet: &Freshet, site: &Site, flags: &[&str]) -> Vec<String> {
    let ran = freshet.run(&[&["plan", "--json"], &NO_PAUSE[..], &NO_SITEMAPS, flags].concat());
    let path = |line: &Value| line["url"].as_str().expect("a URL").replace(&site.origin(0), "");
    lines(&ran).iter().map(path).collect()
}

#[track_caller]
fn why(freshet: &Freshet, url: &str, flags: &[&str]) -> Value {
    freshet.json(&[&["why", url, "--json"], &NO_PAUSE[..], &NO_SITEMAPS, flags].concat())
}

fn pages_asked(site: &Site) -> BTreeSet<String> {
    site.log().paths().into_iter().filter(|path| path != "/robots.txt").collect()
}

// --- learning --------------------------------------------------------------------------------------------------

#[test]
fn a_page_that_changes_is_visited_before_one_that_never_did() {
    let site = site_of(30, 10);
    let freshet = Freshet::new();
    // A run for each cycle: on a busy machine the start of a program takes longer than a whole cycle, and after a
    // wait many times as long as any before, pages that were never seen to change are worth a look too.
    for _ in 0..4 {
        crawl(&freshet, &site, &[]);
    }
    site.clear_log();
    crawl(&freshet, &site, &["--budget", "10"]);
    let changing = (0..10).filter(|page| site.log().asked(&format!("/{page}"))).count();
    assert!(changing >= 8, "{:?}", site.log().paths());
}

#[test]
fn in_the_long_run_no_page_is_forgotten() {
    let site = site_of(12, 6);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "3"]);
    site.clear_log();
    crawl(&freshet, &site, &["--budget", "4", "--cycles", "40"]);
    for page in 0..12 {
        assert!(site.log().asked(&format!("/{page}")), "/{page}: {:?}", site.log().paths());
    }
}

#[test]
fn another_policy_learns_from_the_same_visits_and_the_store_is_sound() {
    let site = site_of(25, 5);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "3"]);
    let listed = || freshet.run(&["pages", "--json"]).stdout;
    let before = listed();
    site.clear_log();
    for policy in ["nutch", "change-probability:mle", "optimal", "t*x", "random", "every"] {
        let foreseen = planned(&freshet, &site, &["--budget", "6", "--policy", policy]);
        assert_eq!(foreseen.len(), 6, "{policy}");
    }
    assert_eq!(listed(), before, "a look changes nothing");
    assert_eq!(site.log().total(), 0, "and asks nothing");
    crawl(&freshet, &site, &["--budget", "6", "--policy", "stormcrawler"]);
    let check = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.output());
    crawl(&freshet, &site, &["--budget", "6", "--policy", "utility:two-interval"]);
    let check = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.output());
}

// --- the plan --------------------------------------------------------------------------------------------------

#[test]
fn a_plan_is_what_the_next_cycle_does_and_fetches_nothing() {
    let site = site_of(30, 10);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "3"]);
    for policy in ["utility", "age", "nutch", "longevity", "longevity-curve", "longevity-bound"] {
        // All have waited alike.
        crawl(&freshet, &site, &["--policy", policy]);
        site.clear_log();
        let flags = ["--budget", "10", "--policy", policy];
        let plan = planned(&freshet, &site, &flags);
        assert_eq!(site.log().total(), 0, "nobody was asked");
        assert_eq!(plan.len(), 10);
        crawl(&freshet, &site, &flags);
        assert_eq!(pages_asked(&site), plan.into_iter().collect(), "{policy}");
    }
    let table = freshet.run(&[&["plan", "--budget", "8"], &NO_PAUSE[..]].concat());
    for said in [
        "rank",
        "score",
        "replaced every",
        "8 visits by `calibrated` with a budget of 8, of 31 pages",
        "a threshold of",
    ] {
        assert!(table.stdout.contains(said), "`{said}`: {}", table.output());
    }
}

#[test]
fn a_threshold_visits_what_has_reached_it_and_a_budget_tells_its_own() {
    let site = site_of(30, 10);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "4"]);
    let told = crawl(&freshet, &site, &["--budget", "10"]);
    let implied = told["lowest_score"].as_f64().expect("the least score that was visited again");
    assert!(implied > 0.0, "{told}");
    let cycles = freshet.json(&["status", "--json"])["cycles"].clone();
    assert_eq!(cycles[0]["lowest_score"].as_f64(), Some(implied), "{cycles}");

    // Scores only rise while a page waits: what is above the middle one now will be.
    let ran = freshet.run(&[&["plan", "--json", "--limit", "0"], &NO_PAUSE[..], &NO_SITEMAPS].concat());
    let scores: Vec<f64> = lines(&ran).iter().filter_map(|line| line["score"].as_f64()).collect();
    let middle = scores[scores.len() / 2].to_string();
    let plan = planned(&freshet, &site, &["--limit", "0", "--threshold", &middle]);
    assert!(
        plan.len() > scores.len() / 2 && plan.len() <= scores.len(),
        "{} of {}",
        plan.len(),
        scores.len()
    );
    site.clear_log();
    crawl(&freshet, &site, &["--threshold", "1000000"]);
    assert_eq!(pages_asked(&site), BTreeSet::new(), "nothing is worth that much");
    crawl(&freshet, &site, &["--threshold", "0"]);
    assert_eq!(pages_asked(&site).len(), 31, "all is worth a visit");
    crawl(&freshet, &site, &["--threshold", "0", "--budget", "5"]);
    for (flag, said) in [
        ("--threshold=-1", "threshold is `-1`"),
        ("--threshold=NaN", "threshold is `NaN`"),
        ("--risk=0", "risk is `0`"),
        ("--learning=soon", "learning is `soon`"),
    ] {
        let ran = freshet.run(&["crawl", flag]);
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
}

#[test]
fn a_plan_asks_a_host_for_no_more_than_its_delay_allows_in_a_cycle() {
    let site = Site::with_hosts(2);
    let names: Vec<String> = (0..30).map(|page| format!("/{page}")).collect();
    let links: Vec<&str> = names.iter().map(String::as_str).collect();
    for host in 0..2 {
        site.page_on(host, "/", links_page("home", &links));
    }
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url_on(0, "/"), site.url_on(1, "/")]);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..], &NO_SITEMAPS].concat());
    let flags = ["--delay", "10", "--budget", "50", "--every", "60s", "--json"];
    let plan = lines(&freshet.run(&[&["plan"], &flags[..]].concat()));
    for host in 0..2 {
        let origin = site.origin(host);
        let of_host =
            plan.iter().filter(|line| line["url"].as_str().is_some_and(|page| page.starts_with(&origin)));
        assert_eq!(of_host.count(), 6, "one at the start, and one every ten seconds");
    }
}

#[test]
fn a_share_of_the_budget_can_be_kept_for_new_pages() {
    let site = site_of(40, 0);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--budget", "12"]);
    let new = |share: &str| {
        let flags = ["--budget", "10", "--discover", share];
        let ran = freshet.run(&[&["plan", "--json"], &NO_PAUSE[..], &flags[..]].concat());
        lines(&ran).iter().filter(|line| line["is_new"] == true).count()
    };
    assert_eq!([new("0"), new("0.3"), new("1")], [0, 3, 10]);
    let without = planned(&freshet, &site, &["--budget", "10"]);
    assert_eq!(without.len(), 10, "new pages come first where nothing is known to change: {without:?}");
}

#[test]
fn importance_comes_from_the_seeds_or_from_links() {
    let site = Site::start();
    site.page("/", links_page("home", &["/a", "/b", "/c", "/popular"]));
    for page in ["/a", "/b", "/c"] {
        site.page(page, links_page(page, &["/popular"]));
    }
    site.page("/popular", "much linked to");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/a") + "\tweight=7 depth=0", site.url("/")]);
    freshet.json(&[&["crawl", "--seeds", &seeds, "--json"], &FAST[..], &NO_SITEMAPS].concat());
    let best = |weight: &str| planned(&freshet, &site, &["--budget", "1", "--weight", weight]).remove(0);
    assert_eq!([best("seeds"), best("inlinks"), best("pagerank")], ["/a", "/popular", "/popular"]);
    let plan = freshet.run(&[&["plan", "--json"], &NO_PAUSE[..], &["--weight", "equal"]].concat());
    assert!(lines(&plan).iter().all(|line| line["weight"] == 1.0));
}

// --- why -------------------------------------------------------------------------------------------------------

#[test]
fn every_page_has_its_reason() {
    let site = site_of(25, 5);
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /7\n"));
    site.page("/8", Reply::status(404, "gone"));
    site.page("/9", Reply::redirect(301, "/10"));
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "3"]);
    site.clear_log();
    let verdict = |path: &str, flags: &[&str]| why(&freshet, &site.url(path), flags)["verdict"].clone();
    assert_eq!(verdict("/0", &[]), "due");
    assert_eq!(verdict("/0", &["--budget", "25"]), "due");
    assert_eq!(verdict("/20", &["--budget", "3"]), "below-the-cut");
    assert_eq!(verdict("/7", &[]), "robots");
    assert_eq!(verdict("/8", &[]), "back-off");
    assert_eq!(verdict("/3", &["--exclude", "/3$"]), "out-of-scope");
    assert_eq!(verdict("/1", &["--policy", "fixed", "--interval", "9d"]), "not-due");
    assert_eq!(site.log().total(), 0, "nobody was asked");

    let said = why(&freshet, &site.url("/0"), &["--budget", "25"]);
    assert_eq!((&said["visits_compared"], &said["changes_found"]), (&json!(2), &json!(2)));
    let text = freshet.run(&[&["why", &site.url("/0"), "--budget", "25"], &NO_PAUSE[..]].concat()).stdout;
    for words in [
        "is in the plan of the next cycle.",
        "Of 2 visits that could compare, 2 found a change",
        "Estimate by `calibrated`: its text is replaced about every",
        "of it has changed since our copy",
        "to gain",
        "under a budget of 25",
        "robots.txt answered 200",
    ] {
        assert!(text.contains(words), "`{words}`: {text}");
    }
    let moved = freshet.run(&[&["why", &site.url("/9")], &NO_PAUSE[..]].concat());
    assert!(moved.stdout.contains("is another spelling of"), "{}", moved.output());
    let unknown = freshet.run(&["why", &site.url("/nowhere")]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    assert!(unknown.stderr.contains("the store does not know"), "{}", unknown.output());
}

#[test]
fn a_host_that_asks_for_time_is_the_reason_for_all_its_pages() {
    let site = site_of(3, 0);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    site.page("/0", Reply::status(503, "busy").header("retry-after", "3600"));
    crawl(&freshet, &site, &[]);
    let said = why(&freshet, &site.url("/1"), &[]);
    assert_eq!(said["verdict"], "host-waits", "{said}");
    assert!(said["sentences"][0].as_str().is_some_and(|text| text.contains("retry-after")), "{said}");
}

// --- failures --------------------------------------------------------------------------------------------------

#[test]
fn pages_that_failed_take_no_part_of_a_budget_that_others_need() {
    let site = site_of(20, 0);
    for page in 0..5 {
        site.page(&format!("/{page}"), Reply::status(404, "not here"));
    }
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "3"]);
    site.clear_log();
    crawl(&freshet, &site, &["--budget", "10", "--cycles", "2"]);
    let missing = (0..5).filter(|page| site.log().asked(&format!("/{page}"))).count();
    assert_eq!(missing, 0, "{:?}", site.log().paths());
    assert_eq!(pages_asked(&site).len(), 16, "home and all that is there: {:?}", site.log().paths());
}

#[test]
fn wrong_wishes_are_named() {
    let freshet = Freshet::new();
    for (arguments, said) in [
        (&["crawl", "--discover", "2"][..], "discover is `2`"),
        (
            &["crawl", "--weight", "gold"],
            "weight is `gold`; there is `seeds`, `equal`, `inlinks`, `pagerank`",
        ),
        (&["crawl", "--policy", "age:mle"], "policy `age` takes no estimator"),
        (&["crawl", "--policy", "utility:psychic"], "there is no estimator `psychic`"),
        (&["crawl", "--policy", "fixed", "--interval", "soon"], "interval is `soon`"),
        (&["monitor", "--every", "0s"], "every is `0s`"),
        (&["monitor", "--at", "2 pm"], "at is `2 pm`"),
        (&["plan", "--every", "daily"], "every is `daily`"),
        (&["estimate"], "required"),
        (&["estimate", "--all", "--fit-prior"], "cannot be used with"),
        (&["estimate", "--fit-prior", "--group", "colour"], "there is no group `colour`"),
        (&["estimate", "--all", "--sa-gamma", "0.2"], "sa_gamma is `0.2`"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains(said), "`{said}`: {}", ran.output());
    }
    for arguments in [&["plan"][..], &["why", "http://a.example/"], &["estimate", "--all"]] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains("freshet.db"), "{}", ran.output());
    }
    let list = freshet.run(&["crawl", "--policy", "help"]);
    assert_eq!(list.code, Some(0), "{}", list.output());
    assert!(
        list.stdout.contains("utility") && list.stdout.contains("the rule of Apache Nutch"),
        "{}",
        list.output()
    );
}

// --- estimates from the store ----------------------------------------------------------------------------------

#[test]
fn rates_come_from_the_stores_own_visits_and_priors_are_fitted_to_them() {
    let site = site_of(30, 10);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "2"]);
    crawl(&freshet, &site, &["--cycles", "3", "--policy", "age"]);
    let one = lines(&freshet.run(&["estimate", &site.url("/0"), "--json"]));
    let estimates = one[0]["estimates"].as_object().expect("estimates");
    assert_eq!((one.len(), estimates.len()), (1, 15));
    let all = lines(&freshet.run(&["estimate", "--all", "--estimator", "cg,dated", "--json"]));
    assert_eq!(all.len(), 31);
    let rate = |path: &str| {
        let line = all.iter().find(|line| line["url"] == site.url(path)).expect("the page");
        line["estimates"]["cg"]["rate"].as_f64().expect("a rate")
    };
    assert!(rate("/0") > 0.0 && rate("/20") == 0.0);

    let fitted = lines(&freshet.run(&["estimate", "--fit-prior", "--group", "all", "--json"]));
    let names: Vec<&Value> = fitted.iter().map(|line| &line["estimator"]).collect();
    assert_eq!(names, ["gamma", "two-interval", "posterior", "first-interval"]);
    let [_, two, posterior, first] = &fitted[..] else { panic!("{fitted:?}") };
    assert_eq!(two["searches"], 5, "{two}");
    assert!(two["searches_agree"].as_u64().is_some_and(|agree| (1..=5).contains(&agree)), "{two}");
    assert!(posterior["searches"].is_null() && posterior["first"].as_f64() <= posterior["second"].as_f64());
    let tried = freshet.json(&["estimate", "--first-interval", "--json"]);
    let best = tried["best_seconds"].as_f64().expect("an interval");
    let days = first["first"].as_f64().expect("an interval");
    assert!((best / (86_400.0 * days) - 1.0).abs() < 1e-9, "{best} seconds, {days} days");
    assert_eq!((tried["page_count"].as_u64(), tried["tried"].as_array().map(Vec::len)), (Some(31), Some(24)));
    assert!(fitted.iter().all(|line| line["rate"].as_f64().is_some_and(|rate| rate > 0.0)), "{fitted:?}");
    let shown = freshet.run(&["estimate", "--fit-prior"]);
    assert!(shown.stdout.contains("all others") && shown.stdout.contains("shape"), "{}", shown.output());
    assert!(shown.stdout.contains("searches agree") && shown.stdout.contains(" of 5"), "{}", shown.output());
    let shown = freshet.run(&["estimate", "--first-interval"]);
    assert!(shown.stdout.starts_with("best first interval "), "{}", shown.output());
    // A prior from the pages that never changed makes the rate of such a page lower than the one that knows no page.
    let rate = |store: &Freshet| {
        let one = lines(&store.run(&["estimate", &site.url("/20"), "--estimator", "posterior", "--json"]));
        one[0]["estimates"]["posterior"]["rate"].as_f64().expect("a rate")
    };
    let unfitted = Freshet::new();
    crawl(&unfitted, &site, &["--cycles", "2"]);
    crawl(&unfitted, &site, &["--cycles", "3", "--policy", "age"]);
    assert_ne!(rate(&freshet), rate(&unfitted), "the prior of the collection is used");
    crawl(&freshet, &site, &["--budget", "5"]);
    let check = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.output());
}

#[test]
fn too_little_to_fit_to_is_said() {
    let site = site_of(3, 1);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "2"]);
    for (flag, said) in [
        ("--fit-prior", "too little to fit priors to"),
        ("--first-interval", "too little to try first intervals on"),
    ] {
        let ran = freshet.run(&["estimate", flag]);
        assert_eq!(ran.code, Some(1), "{}", ran.output());
        assert!(ran.stderr.contains(said) && ran.stderr.contains("`freshet crawl`"), "{}", ran.output());
    }
}

#[test]
fn pages_can_be_visited_again_after_their_estimated_periods() {
    let site = site_of(25, 5);
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--cycles", "2"]);
    crawl(&freshet, &site, &["--cycles", "4", "--policy", "every"]);
    let plan = planned(&freshet, &site, &["--budget", "5", "--policy", "estimated-period"]);
    let changing: BTreeSet<String> = (0..5).map(|page| format!("/{page}")).collect();
    assert_eq!(plan.into_iter().collect::<BTreeSet<_>>(), changing, "short periods are exceeded first");
    crawl(&freshet, &site, &["--budget", "5", "--policy", "estimated-period"]);
    let why = freshet.run(&["why", &site.url("/0"), "--policy", "estimated-period"]);
    assert!(why.stdout.contains("it is visited every"), "{}", why.output());
    crawl(&freshet, &site, &["--budget", "5", "--policy", "estimated-period:mle"]);
    let check = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.output());
}
