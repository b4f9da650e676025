//! What visits measure: how far pages moved, held against the truth; what the rules leave out; and that an error is
//! never a change.

use crate::support::{FAST, Freshet, Reply, Request, Site, article, links_page};
use freshet::change::divergence::exact;
use freshet::change::fragment::Fragments;
use freshet::model_web::model::{truth, validators};
use freshet::model_web::{self, Fate, Tenant, Validity, WebSpec};
use freshet::page::PageId;
use freshet::store::{self, PageFilter, Store, VisitRow};
use freshet::time::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A crawl from these seeds, or one more; the summary.
#[track_caller]
pub fn crawl(freshet: &Freshet, seeds: &[String], flags: &[&str]) -> Value {
    let seeds = freshet.seeds(seeds);
    freshet.json(&[&["crawl", "--json", "--seeds", &seeds, "--no-sitemaps"], &FAST[..], flags].concat())
}

#[track_caller]
pub fn open(freshet: &Freshet) -> Box<dyn Store> {
    store::open_to_look(&freshet.path("freshet.db")).expect("the store")
}

/// The visits of every page, by its URL, each in order of time.
#[track_caller]
pub fn visits(freshet: &Freshet) -> BTreeMap<String, Vec<VisitRow>> {
    let mut store = open(freshet);
    let mut pages = Vec::new();
    let everything = PageFilter { aliases: true, ..PageFilter::default() };
    store.list_pages(&everything, &mut |page| pages.push((page.url, PageId(page.id)))).expect("pages");
    pages.into_iter().map(|(url, id)| (url, store.visits(id).expect("visits"))).collect()
}

/// The changes that `changes --json` lists, the latest first.
#[track_caller]
pub fn changes(freshet: &Freshet, flags: &[&str]) -> Vec<Value> {
    events(freshet, &[&["--kind", "changed"], flags].concat())
}

/// The events that `changes --json` lists, the latest first.
#[track_caller]
pub fn events(freshet: &Freshet, flags: &[&str]) -> Vec<Value> {
    let ran = freshet.run(&[&["changes", "--json"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

// --- the truth -------------------------------------------------------------------------------------------------

/// An evolving web that stands still on the day it is set to.
struct Still {
    site: Site,
    spec: WebSpec,
    day: Arc<Mutex<f64>>,
}

impl Still {
    fn put_up(spec: WebSpec) -> Still {
        let site = Site::start();
        let day = Arc::new(Mutex::new(0.0));
        let (of, today) = (spec.clone(), Arc::clone(&day));
        site.otherwise(move |request: &Request| {
            let day = *today.lock().expect("no one panics with it");
            let web = model_web::Site::new(&of, 0);
            let Fate::Lives(page) = web.fate(&request.path, day) else { return Reply::status(404, "") };
            let reply = Reply::html(web.html(&page, day));
            match validators::of(&web, &page, day).etag {
                Some(etag) => reply.etag(etag),
                None => reply,
            }
        });
        Still { site, spec, day }
    }

    fn set(&self, day: f64) {
        *self.day.lock().expect("no one panics with it") = day;
    }

    /// Crawls on each of the days.
    #[track_caller]
    fn crawled(&self, freshet: &Freshet, days: &[f64], flags: &[&str]) {
        for day in days {
            self.set(*day);
            let summary = crawl(freshet, &[self.site.url("/")], &[&["--per-host", "4"], flags].concat());
            assert_eq!(summary["succeeded"], self.spec.pages, "{summary}");
        }
    }

    /// Each page's URL, and its true fragments on each of the days.
    fn truth(&self, days: &[f64]) -> BTreeMap<String, Vec<Fragments>> {
        let web = model_web::Site::new(&self.spec, 0);
        let fragments = |page: &Tenant, day: f64| Fragments::of(&truth::text(&web, page, day), 4);
        web.living(0.0)
            .map(|page| {
                let url = self.site.url(&web.path(&page));
                (url, days.iter().map(|day| fragments(&page, *day)).collect())
            })
            .collect()
    }
}

fn still_spec(pages: u32, median_bytes: u32, noise: bool) -> WebSpec {
    let etag = Validity { right: 0.4, wrong: 0.0 };
    WebSpec { pages, median_bytes, noise, turnover: 0.0, static_share: 0.2, etag, ..WebSpec::default() }
}

/// Measured and true divergence of every visit from the one before, and from every base version, with the size of the
/// union of the fragments.
struct Held {
    from_before: Vec<(f64, f64, usize)>,
    from_bases: Vec<(f64, f64, usize)>,
}

#[track_caller]
fn held_against_the_truth(freshet: &Freshet, web: &Still, days: &[f64]) -> Held {
    let visits = visits(freshet);
    let mut held = Held { from_before: Vec::new(), from_bases: Vec::new() };
    for (url, truth) in web.truth(days) {
        let visits = &visits[&url];
        assert_eq!(visits.len(), days.len(), "{url}");
        let against = |old: usize, new: usize, measured: f64| {
            let (a, b) = (&truth[old], &truth[new]);
            let shared = a.iter().filter(|hash| b.contains(*hash)).count();
            (measured, exact(a, b).get(), a.len() + b.len() - shared)
        };
        for (now, visit) in visits.iter().enumerate() {
            let Some(before) = now.checked_sub(1) else {
                assert_eq!((visit.divergence, visit.changed, visit.bases.len()), (None, None, 0), "{url}");
                continue;
            };
            let measured = visit.divergence.expect("something to compare");
            held.from_before.push(against(before, now, measured));
            assert_eq!(visit.changed, Some(truth[before] != truth[now]), "{url} at visit {now}");
            assert!(!visit.bases.is_empty(), "{url} at visit {now}");
            for base in &visit.bases {
                let then = visits.iter().position(|visit| visit.at == base.base.at).expect("a visit");
                assert!(then < now);
                assert_eq!(visits[then].version, Some(base.base.version), "{url}");
                held.from_bases.push(against(then, now, base.divergence.get()));
            }
        }
    }
    held
}

#[track_caller]
fn assert_exact(held: &Held) {
    for (found, truth, _) in &held.from_before {
        assert!((found - truth).abs() < 1e-12, "{found}, not {truth}");
    }
    for (found, truth, _) in &held.from_bases {
        assert!((found - truth).abs() <= 0.5 / 65_535.0 + 1e-12, "{found}, not {truth}");
    }
}

#[test]
fn with_whole_sketches_every_divergence_is_the_true_one() {
    let days: Vec<f64> = (0..31).map(|step| 3.0 + 0.7 * f64::from(step)).collect();
    let web = Still::put_up(still_spec(200, 2500, false));
    let freshet = Freshet::new();
    web.crawled(&freshet, &days, &["--sketch", "all"]);
    let held = held_against_the_truth(&freshet, &web, &days);
    assert_exact(&held);
    let moved = held.from_before.iter().filter(|(_, truth, _)| *truth > 0.0).count();
    assert_eq!(held.from_before.len(), 6000);
    assert!(moved > 1000, "{moved} changes");
    assert!(held.from_bases.len() > 20_000, "{}", held.from_bases.len());
}

#[test]
fn a_sketch_of_256_errs_no_more_than_its_formula_says() {
    let days: Vec<f64> = (0..8).map(|step| 3.0 + 0.9 * f64::from(step)).collect();
    let web = Still::put_up(still_spec(120, 9000, false));
    let freshet = Freshet::new();
    web.crawled(&freshet, &days, &[]);
    let held = held_against_the_truth(&freshet, &web, &days);
    // Broder's estimate is unbiased with sd = √(J(1 − J)/m · (U − m)/(U − 1)) for a union of U fragments, and a mean
    // absolute error is at most a standard deviation.
    let deviation = |(_, truth, union): &(f64, f64, usize)| {
        let (same, union, most) = (1.0 - truth, *union as f64, 256.0);
        (same * (1.0 - same) / most * ((union - most) / (union - 1.0)).max(0.0)).sqrt()
    };
    for held in [&held.from_before, &held.from_bases] {
        let moved: Vec<_> = held.iter().filter(|(_, truth, union)| *truth > 0.0 && *union > 512).collect();
        assert!(moved.len() > 100, "{}", moved.len());
        let mean = |of: &dyn Fn(&(f64, f64, usize)) -> f64| {
            moved.iter().map(|one| of(one)).sum::<f64>() / moved.len() as f64
        };
        let error = mean(&|(found, truth, _)| (found - truth).abs());
        let bias = mean(&|(found, truth, _)| found - truth);
        let bound = mean(&deviation);
        assert!(error > 0.0 && error <= bound, "an error of {error} where {bound} was promised");
        assert!(bias.abs() < bound / 3.0, "a bias of {bias} at a deviation of {bound}");
        for one @ (found, truth, _) in moved {
            assert!((found - truth).abs() < 6.0 * deviation(one) + 1e-4, "{found}, not {truth}");
        }
    }
}

#[test]
fn noise_that_the_rules_leave_out_is_measured_nowhere() {
    let days: Vec<f64> = (0..4).map(|step| 3.0 + 0.9 * f64::from(step)).collect();
    let web = Still::put_up(still_spec(60, 2500, true));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[change]\nsketch = \"all\"\nignore = [\".noise\"]\n");
    web.crawled(&freshet, &days, &[]);
    let held = held_against_the_truth(&freshet, &web, &days);
    assert_exact(&held);
    assert!(held.from_before.iter().any(|(_, truth, _)| *truth == 0.0));

    let plain = Freshet::new();
    web.crawled(&plain, &days, &["--sketch", "all"]);
    for (url, visits) in visits(&plain) {
        for (at, visit) in visits.iter().enumerate().skip(1).filter(|(_, visit)| visit.outcome == "fetched") {
            assert_eq!(visit.changed, Some(true), "{url} at visit {at} has another clock");
        }
    }
}

// --- rules -----------------------------------------------------------------------------------------------------

/// A page that says the same, but for its clock.
fn clocked(time: &str) -> String {
    format!(
        "<html><head><title>t</title></head><body><main>{}</main><p class=\"clock\">now it is {time} o'clock</p>\
         </body></html>",
        article("river", 120, 1, &[])
    )
}

/// Crawls a page that says one thing and then another; whether it changed, and how far it moved.
#[track_caller]
fn seen(toml: &str, one: &str, other: &str) -> (Option<bool>, Option<f64>) {
    let site = Site::start();
    site.page("/", Reply::sequence(vec![one.into(), other.into()]));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", toml);
    let seeds = [site.url("/")];
    crawl(&freshet, &seeds, &[]);
    let summary = crawl(&freshet, &seeds, &[]);
    let visits = visits(&freshet).remove(&site.url("/")).expect("visits");
    let last = visits.last().expect("a visit");
    assert_eq!(summary["changed"], u64::from(last.changed == Some(true)), "{summary}");
    assert_eq!(changes(&freshet, &[]).len(), usize::from(last.changed == Some(true)));
    (last.changed, last.divergence)
}

#[test]
fn what_a_rule_leaves_out_is_no_change_and_without_the_rule_it_is() {
    let (one, other) = (clocked("ten"), clocked("eleven"));
    for rule in ["ignore = [\".clock\"]", "only = [\"main\"]", "ignore_text = [\"now it is .* o'clock\"]"] {
        assert_eq!(seen(&format!("[change]\n{rule}\n"), &one, &other), (Some(false), Some(0.0)), "{rule}");
        let edited = other.replace("</main>", "<p>and the rain has come at last</p></main>");
        let (changed, divergence) = seen(&format!("[change]\n{rule}\n"), &one, &edited);
        assert!(changed == Some(true) && divergence > Some(0.0), "{rule}: a real edit is one");
    }
    let (changed, divergence) = seen("", &one, &other);
    assert!(changed == Some(true) && divergence > Some(0.0) && divergence < Some(0.2), "{divergence:?}");
}

#[test]
fn what_counts_as_a_change_is_for_the_operator_to_say() {
    let page = clocked("ten");
    let markup = page.replace("<main>", "<main id=\"other\">");
    let small = clocked("eleven");
    let large = page.replace("</main>", &format!("{}</main>", article("more", 60, 9, &[])));
    for (rule, expected) in [
        ("bytes", [true, true, true]),
        ("text", [false, true, true]),
        ("divergence > 0.1", [false, false, true]),
        ("divergence > 0.02", [false, true, true]),
    ] {
        let toml = format!("[change]\nchanged = \"{rule}\"\n");
        let found = [&markup, &small, &large].map(|other| seen(&toml, &page, other).0);
        assert_eq!(found, expected.map(Some), "{rule}");
    }
    // The rule decides what counts, not what is measured.
    assert_eq!(seen("[change]\nchanged = \"bytes\"\n", &page, &markup).1, Some(0.0));
    assert!(seen("[change]\nchanged = \"divergence > 0.1\"\n", &page, &small).1 > Some(0.02));
}

#[test]
fn new_rules_read_every_page_anew_and_change_none() {
    let site = Site::start();
    site.page("/", Reply::from(links_page("home", &["/dated", "/bare"])).etag("\"home\""));
    site.page("/dated", Reply::from(clocked("ten")).etag("\"v1\""));
    site.page("/bare", clocked("ten"));
    let freshet = Freshet::new();
    let seeds = [site.url("/")];
    for _ in 0..2 {
        crawl(&freshet, &seeds, &[]);
    }
    let profile_bases = |path: &str| {
        let mut store = open(&freshet);
        let mut id = None;
        store
            .list_pages(&PageFilter::default(), &mut |page| {
                if page.url == site.url(path) {
                    id = Some(PageId(page.id));
                }
            })
            .expect("pages");
        let profiles = store.profiles(id.expect("a page")).expect("profiles");
        profiles.iter().map(|profile| profile.base.at).collect::<Vec<Timestamp>>()
    };
    assert_eq!(profile_bases("/dated").len(), 2);

    for rules in ["ignore = [\".clock\"]", "only = [\"main\"]", ""] {
        freshet.write("freshet.toml", format!("[change]\n{rules}\n"));
        site.clear_log();
        let summary = crawl(&freshet, &seeds, &[]);
        assert_eq!(summary["outcomes"], json!({ "fetched": 3 }), "`{rules}`: {:?}", site.log().paths());
        assert_eq!((&summary["changed"], &summary["unchanged"]), (&json!(0), &json!(0)), "`{rules}`");
        for hit in site.log().hits() {
            assert_eq!(hit.header("If-None-Match"), None, "`{rules}`: the text must be read again");
        }
        for path in ["/dated", "/bare"] {
            let visits = visits(&freshet).remove(&site.url(path)).expect("visits");
            let last = visits.last().expect("a visit");
            assert_eq!(
                (last.changed, last.divergence, last.bases.len()),
                (None, None, 0),
                "{path} `{rules}`"
            );
            assert_eq!(profile_bases(path), [last.at], "{path} `{rules}`: profiles start anew");
        }
        // From then on all is as ever.
        let summary = crawl(&freshet, &seeds, &[]);
        assert_eq!(summary["unchanged"], 3, "`{rules}`");
        assert_eq!(summary["outcomes"], json!({ "fetched": 1, "not-modified": 2 }), "`{rules}`");
        assert_eq!(profile_bases("/bare").len(), 2);
    }
    assert_eq!(changes(&freshet, &[]), [json!(null); 0]);
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

// --- an error is not a change ----------------------------------------------------------------------------------

const HASTY: &str =
    "[crawl]\nattempts = 1\nback_off = 0.01\n[limits]\nidle_seconds = 0.4\ntotal_seconds = 0.8\n";

fn the_page() -> Reply {
    Reply::from(article("page", 60, 7, &["/else"]))
}

/// Ways to answer a request for a page with something that is not the page, and what each is called.
fn errors() -> Vec<(&'static str, &'static str, Reply)> {
    let body = article("oh no", 50, 3, &["/nowhere"]);
    let short = "<html><head><title>Page not found</title></head><body><h1>Page not found</h1></body></html>";
    let busy = "<html><head><title>Too many requests</title></head><body>Please slow down.</body></html>";
    let wall = "<html><head><title>Example</title></head><body><h1>JavaScript is disabled</h1>In order to continue, we need \
        to verify that you're not a robot. Enable JavaScript and then reload the page.</body></html>";
    let gzip_of_nothing = Reply::html("this is no gzip at all").header("Content-Encoding", "gzip");
    vec![
        ("404", "missing", Reply::status(404, body.clone())),
        ("410", "missing", Reply::status(410, body.clone())),
        ("500", "server-error", Reply::status(500, body.clone())),
        ("503", "throttled", Reply::status(503, body.clone())),
        ("429", "throttled", Reply::status(429, body.clone())),
        ("403", "http-error", Reply::status(403, body.clone())),
        ("no content", "http-error", Reply::status(204, "")),
        ("reset content", "http-error", Reply::status(205, "")),
        (
            "a part of it",
            "http-error",
            Reply::status(206, body.clone()).header("Content-Range", "bytes 0-299/9999"),
        ),
        ("no bytes", "empty", "".into()),
        ("no words", "empty", "<html><head></head><body><div id=app></div></body></html>".into()),
        ("soft 404", "soft-missing", short.into()),
        ("busy", "soft-busy", busy.into()),
        ("robot check", "wall", wall.into()),
        ("truncated", "cut-off", Reply::from(body.clone()).header("Content-Length", "100000")),
        ("broken gzip", "encoding", gzip_of_nothing),
        ("cut gzip", "", Reply::from(body.clone()).gzip().truncate(60)),
        ("silence", "no-answer", Reply::silent()),
        ("reset", "hung-up", Reply::reset()),
        ("no HTTP", "", Reply::raw("SSH-2.0-OpenSSH_9.6\r\n\r\n")),
        ("temporary", "redirected", Reply::redirect(302, "/else")),
    ]
}

#[test]
fn an_error_is_not_a_change() {
    let errors = errors();
    for etag in [false, true] {
        // A host each: one that asks for time must not keep the others from being asked.
        let site = Site::with_hosts(errors.len());
        let well = || if etag { the_page().etag("\"v1\"") } else { the_page() };
        site.page("/else", "elsewhere there are other words than here");
        site.page("/", well());
        let freshet = Freshet::new();
        freshet.write("freshet.toml", HASTY);
        let seeds: Vec<String> = (0..errors.len()).map(|host| site.url_on(host, "/")).collect();
        let first = crawl(&freshet, &seeds, &[]);
        assert_eq!(first["succeeded"], 2 * errors.len(), "{first}");

        for (host, (_, _, reply)) in errors.iter().enumerate() {
            site.page_on(host, "/", reply.clone());
        }
        let second = crawl(&freshet, &seeds, &[]);
        assert_eq!(second["changed"], 0, "{second}");
        let seen = visits(&freshet);
        for ((name, outcome, _), seed) in errors.iter().zip(&seeds) {
            let [before, error] = &seen[seed][..] else { panic!("{name}: {:?}", seen[seed]) };
            assert!(outcome.is_empty() || error.outcome == *outcome, "{name} is `{}`", error.outcome);
            assert_eq!((error.changed, error.divergence, error.version), (None, None, None), "{name}");
            assert!(before.version.is_some() && error.bases.is_empty(), "{name}");
        }

        site.page("/", well());
        std::thread::sleep(std::time::Duration::from_millis(50));
        let third = crawl(&freshet, &seeds, &[]);
        assert_eq!((&third["changed"], &third["new_pages"]), (&json!(0), &json!(0)), "{third}");
        let seen = visits(&freshet);
        for ((name, ..), seed) in errors.iter().zip(&seeds) {
            let visits = &seen[seed];
            let (before, after) = (&visits[0], visits.last().expect("a visit"));
            assert_eq!(visits.len(), 3, "{name}: {visits:?}");
            assert_eq!((after.changed, after.divergence), (Some(false), Some(0.0)), "{name}");
            assert_eq!(after.version, before.version, "{name}: what was held is held");
            let expected = if etag { "not-modified" } else { "fetched" };
            assert_eq!(after.outcome, expected, "{name}");
            assert_eq!(after.bases.len(), 1, "{name}: its profile goes on");
        }
        assert_eq!(changes(&freshet, &[]), [json!(null); 0]);
        assert_eq!(
            freshet.json(&["status", "--json"])["size"]["version_count"],
            2,
            "nothing of the errors is kept"
        );
        let checked = freshet.run(&["store", "rebuild", "--check"]);
        assert_eq!(checked.code, Some(0), "{}", checked.output());
    }
}

#[test]
fn a_notice_that_pages_of_a_host_share_for_a_while_changes_one_of_them_at_the_most() {
    let site = Site::start();
    let paths = ["/a", "/b", "/c", "/d"];
    let long = |path: &str| article(path, 400, 1, &[]);
    paths.iter().for_each(|path| site.page(path, long(path)));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", HASTY);
    let seeds: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    crawl(&freshet, &seeds, &[]);

    // No phrase of it is known; the number is another one at each visit.
    let notice = |number: usize| {
        format!(
            "<html><head><title>Gate</title></head><body><h1>The gate is closed</h1><p>Our keeper lets nobody through today, \
             neither on foot nor by bicycle, and opens again when the storm has passed over the hills. Ticket {number}."
        )
    };
    for (number, path) in paths.iter().enumerate() {
        site.page(path, notice(number));
    }
    let second = crawl(&freshet, &seeds, &[]);
    assert_eq!(second["changed"], 1, "the first page that shows it may be meant: {second}");
    let outcomes: Vec<String> = visits(&freshet)
        .into_values()
        .filter_map(|seen| seen.last().map(|visit| visit.outcome.clone()))
        .collect();
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "wall").count(), 3, "{outcomes:?}");

    paths.iter().for_each(|path| site.page(path, long(path)));
    let third = crawl(&freshet, &seeds, &[]);
    assert_eq!(third["changed"], 1, "the other pages never left: {third}");
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}

#[test]
fn robots_txt_that_begins_to_forbid_and_relents_changes_nothing() {
    let site = Site::start();
    site.page("/", the_page());
    site.page("/else", "elsewhere");
    let freshet = Freshet::new();
    let seeds = [site.url("/")];
    let forget_robots = || {
        let store = rusqlite::Connection::open(freshet.path("freshet.db")).expect("the store");
        store.execute("UPDATE host SET robots_at = 0", []).expect("a host");
        // A page that was forbidden waits a day.
        store.execute("UPDATE page SET due_at = 0", []).expect("pages");
    };
    crawl(&freshet, &seeds, &[]);
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /"));
    forget_robots();
    let seeds_file = freshet.seeds(&seeds);
    freshet.run(&[&["crawl", "--seeds", &seeds_file, "--no-sitemaps"], &FAST[..]].concat());
    site.remove("/robots.txt");
    forget_robots();
    let summary = crawl(&freshet, &seeds, &[]);
    assert_eq!((&summary["unchanged"], &summary["changed"]), (&json!(2), &json!(0)), "{summary}");
    let visits = visits(&freshet).remove(&site.url("/")).expect("visits");
    let told: Vec<_> = visits.iter().map(|visit| (visit.outcome.as_str(), visit.changed)).collect();
    assert_eq!(told, [("fetched", None), ("robots", None), ("fetched", Some(false))]);
    assert_eq!(visits[2].version, visits[0].version);
    assert_eq!(visits[2].bases.len(), 1, "its profile goes on");
}

#[test]
fn a_page_that_moved_for_good_and_came_back_is_unchanged() {
    let site = Site::start();
    site.page("/", links_page("home", &["/page", "/other"]));
    site.page("/page", the_page());
    site.page("/other", "other words");
    site.page("/else", "else");
    let freshet = Freshet::new();
    let seeds = [site.url("/")];
    crawl(&freshet, &seeds, &[]);
    site.page("/page", Reply::redirect(301, "/new"));
    site.page("/new", the_page());
    let summary = crawl(&freshet, &seeds, &[]);
    assert_eq!(summary["changed"], 0, "{summary}");
    site.page("/new", Reply::redirect(301, "/page"));
    site.page("/page", the_page());
    for _ in 0..4 {
        let summary = crawl(&freshet, &seeds, &[]);
        assert_eq!(summary["changed"], 0, "{summary}");
    }
    let visits = visits(&freshet).remove(&site.url("/page")).expect("visits");
    let last = visits.last().expect("a visit");
    assert_eq!((last.changed, last.version), (Some(false), visits[0].version), "{visits:?}");
}

#[test]
fn a_text_that_comes_back_is_known_again() {
    let site = Site::start();
    let [one, two, three] = [1, 2, 3].map(|seed| article("page", 80, seed, &[]));
    // The same words in other bytes, too.
    let again = one.replace("<body>", "<body class=\"b\">");
    let turns = [&one, &two, &three, &again, &again, &two];
    site.page("/", Reply::sequence(turns.iter().map(|turn| turn.as_str().into()).collect()));
    let freshet = Freshet::new();
    for _ in turns {
        crawl(&freshet, &[site.url("/")], &[]);
    }
    let visits = visits(&freshet).remove(&site.url("/")).expect("visits");
    let version = |visit: usize| visits[visit].version;
    let returned: Vec<_> = visits.iter().map(|visit| visit.returned_to).collect();
    assert_eq!(returned, [None, None, None, version(0), None, version(1)]);
    assert_eq!(version(5), version(1), "held once");
    assert_ne!(version(3), version(0), "other bytes");
    let told = changes(&freshet, &[]);
    assert_eq!(told.len(), 4);
    assert_eq!(told[0]["returned_to_version_id"], json!(version(1).map(|version| version.0)));
    assert_eq!(told[3]["returned_to_version_id"], Value::Null);
    // From the first version it is as far as it was, and once not at all.
    let from_first: Vec<f64> = visits[1..].iter().map(|visit| visit.bases[0].divergence.get()).collect();
    assert!(from_first[0] > 0.5 && from_first[1] > 0.5, "{from_first:?}");
    assert_eq!(from_first[2..4], [0.0, 0.0], "{from_first:?}");
}

#[test]
fn what_has_no_words_changes_by_its_bytes() {
    let site = Site::start();
    site.page("/", links_page("home", &["/picture", "/blank"]));
    let picture = |last: u8| Reply::bytes("image/png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[last]].concat());
    site.page("/picture", Reply::sequence(vec![picture(1), picture(1), picture(2), picture(1)]));
    let blank = |id: u32| Reply::from(format!("<html><body><img src=\"/{id}.png\"></body></html>"));
    site.page("/blank", Reply::sequence(vec![blank(1), blank(2), "some words at last".into(), blank(1)]));
    let freshet = Freshet::new();
    for _ in 0..5 {
        crawl(&freshet, &[site.url("/")], &["--exclude", "[.]png$"]);
    }
    let visits = visits(&freshet);
    let told = |path: &str| -> Vec<(Option<bool>, Option<f64>)> {
        visits[&site.url(path)].iter().map(|visit| (visit.changed, visit.divergence)).collect()
    };
    assert_eq!(
        told("/picture"),
        [(None, None), (Some(false), None), (Some(true), None), (Some(true), None), (Some(false), None)],
        "no words, no divergence"
    );
    let pictures = &visits[&site.url("/picture")];
    let returned: Vec<_> = pictures.iter().map(|visit| visit.returned_to).collect();
    assert_eq!(returned, [None, None, None, pictures[0].version, None], "another picture is no return");
    let (gone, doubted) = ((Some(true), Some(1.0)), (None, None));
    assert_eq!(
        told("/blank"),
        [doubted, (Some(false), Some(0.0)), gone, doubted, gone],
        "words are missed twice"
    );
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.output());
}
