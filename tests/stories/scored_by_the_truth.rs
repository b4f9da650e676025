//! A crawl, held against the truth of the web it crawled.

use crate::a_web_that_changes::{DAY_SECONDS, Web, again, first, now, played, recording, text_then};
use crate::support::{Freshet, Reply, Site};
use serde_json::Value;
use std::time::Duration;

fn score(freshet: &Freshet, web: &Web) -> Value {
    freshet.json(&["score", "--truth", &web.seeds[0], "--json"])
}

/// A figure of all pages, `now` or over the `past`.
#[track_caller]
fn figure(score: &Value, when: &str, name: &str) -> f64 {
    score["all"][when][name].as_f64().unwrap_or_else(|| panic!("no `{name}` {when}: {score}"))
}

#[test]
fn a_crawl_of_a_web_that_stands_still_is_fresh_and_complete() {
    let freshet = Freshet::new();
    let start = (now() - 20.0 * DAY_SECONDS).to_string();
    let flags = ["web", "--port", "0", "--hosts", "2", "--pages", "50", "--median-bytes", "2500"];
    // Noise and all: what a reader ignores makes no page stale.
    let web = Web::start(&freshet, &[&flags[..], &["--day", "100d", "--start", &start]].concat());
    first(&freshet, &web);
    let score = score(&freshet, &web);
    for (name, expected) in
        [("living", 100.0), ("coverage", 1.0), ("freshness", 1.0), ("staleness", 0.0), ("missed", 0.0)]
    {
        assert_eq!(figure(&score, "now", name), expected, "{name}");
    }
    assert_eq!(figure(&score, "now", "age_seconds"), 0.0);
    let sites: Vec<&str> =
        score["sites"].as_array().expect("sites").iter().filter_map(|site| site["name"].as_str()).collect();
    let origins: Vec<&str> = web.seeds.iter().map(|seed| seed.trim_end_matches('/')).collect();
    assert_eq!(sites, origins, "the other host is found from the one named");
    let living = |group: &Value| group["now"]["living"].as_f64().unwrap_or(0.0);
    assert_eq!(score["behaviours"].as_array().expect("behaviours").iter().map(living).sum::<f64>(), 100.0);
    assert_eq!(score["curve"].as_array().map(Vec::len), Some(61));

    let shown = freshet.run(&["score", "--truth", &web.seeds[1]]);
    assert_eq!(shown.code, Some(0), "{}", shown.output());
    let all = shown.stdout.lines().find(|line| line.starts_with("all")).expect("a row");
    assert!(all.contains("100.0 %  100.0 %      0.000"), "{}", shown.stdout);
}

#[test]
fn what_is_held_ages_and_a_second_crawl_makes_it_young() {
    let freshet = Freshet::new();
    let flags = ["--hosts", "1", "--pages", "120", "--turnover", "0.1", "--seed", "3"];
    let web = Web::on_day(&freshet, 10.0, 0, &flags);
    first(&freshet, &web);
    let port = web.port();
    web.stop();

    let web = Web::on_day(&freshet, 12.0, port, &flags);
    let stale = score(&freshet, &web);
    for name in ["freshness", "coverage"] {
        let figure = figure(&stale, "now", name);
        assert!(figure > 0.3 && figure < 1.0, "{name}: {stale}");
    }
    assert!(figure(&stale, "now", "staleness") > 0.05 && figure(&stale, "now", "age_seconds") >= 0.0);
    assert!(figure(&stale, "now", "missed") > 0.0, "pages were born that nobody has seen");
    assert_eq!(figure(&stale, "now", "dead_held"), 1.0, "nobody has noticed who died");
    let of = |name: &str| {
        let groups = stale["behaviours"].as_array().expect("behaviours");
        let group = groups.iter().find(|group| group["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        group["now"]["freshness"].as_f64().expect("a share")
    };
    assert!(of("static") > of("churn") && of("static") > of("mixed"), "{stale}");

    again(&freshet);
    let young = score(&freshet, &web);
    for (name, expected) in
        [("coverage", 1.0), ("freshness", 1.0), ("staleness", 0.0), ("missed", 0.0), ("dead_held", 0.0)]
    {
        assert_eq!(figure(&young, "now", name), expected, "{name}");
    }
}

/// The quality of search results falls as the web moves on, and another crawl brings it back.
#[test]
fn search_results_get_worse_with_age_and_a_second_crawl_makes_them_right() {
    let freshet = Freshet::new();
    let flags = ["--hosts", "1", "--pages", "60", "--turnover", "0.1", "--seed", "3"];
    let web = Web::on_day(&freshet, 10.0, 0, &flags);
    first(&freshet, &web);
    let port = web.port();
    web.stop();
    freshet.write("queries.txt", "river\t3\nsummer garden\noil price\t0.5\nwordthatisnowhere\n");
    let web = Web::on_day(&freshet, 12.0, port, &flags);
    let quality = |more: &[&str]| {
        let call = ["score", "--truth", &web.seeds[0], "--queries", "queries.txt", "--json"];
        let found = freshet.json(&[&call[..], more].concat())["search_quality"].clone();
        assert_eq!(
            (&found["query_count"], &found["answered_query_count"]),
            (&4.into(), &3.into()),
            "{found}"
        );
        found["quality"].as_f64().expect("a quality")
    };
    for scoring in ["bm25", "tf-idf", "inlinks"] {
        let stale = quality(&["--score", scoring]);
        assert!(stale > 0.05 && stale < 0.9999, "{scoring}: {stale}");
    }
    again(&freshet);
    for scoring in ["bm25", "tf-idf"] {
        let fresh = quality(&["--score", scoring, "--attention", "1"]);
        assert!(fresh > 0.999_999, "{scoring}: {fresh}");
    }
    let shown = freshet.run(&["score", "--truth", &web.seeds[0], "--queries", "queries.txt"]);
    assert!(
        shown.stdout.contains("quality 1.0000 of 1") && shown.stdout.contains("3 of 4"),
        "{}",
        shown.output()
    );
    assert!(shown.stderr.contains("queries.txt: 4 queries with 6 words"), "{}", shown.stderr);
    assert_eq!(freshet.json(&["score", "--truth", &web.seeds[0], "--json"])["search_quality"], Value::Null);
}

#[test]
fn the_past_is_seen_while_the_web_moves_on() {
    let freshet = Freshet::new();
    let flags = ["web", "--port", "0", "--hosts", "1", "--pages", "60", "--median-bytes", "2500"];
    let web = Web::start(&freshet, &[&flags[..], &["--day", "8s", "--turnover", "0.1"]].concat());
    first(&freshet, &web);
    let before = score(&freshet, &web);
    assert!(figure(&before, "now", "freshness") > 0.5, "{before}");
    std::thread::sleep(Duration::from_secs(6));
    let after = score(&freshet, &web);
    assert!(figure(&after, "now", "freshness") < figure(&before, "now", "freshness"));
    assert!(figure(&after, "now", "staleness") > figure(&before, "now", "staleness"));
    assert!(figure(&after, "now", "age_seconds") > 0.2, "{after}");
    assert!(figure(&after, "past", "freshness") > figure(&after, "now", "freshness"), "it was better once");
    assert!(figure(&after, "past", "age_seconds") < figure(&after, "now", "age_seconds"));
}

#[test]
fn pages_that_died_are_never_fresh_and_only_what_says_the_same_is() {
    let freshet = Freshet::new();
    let flags =
        ["--hosts", "1", "--pages", "100", "--turnover", "0.15", "--move-share", "0.3", "--seed", "5"];
    let web = Web::on_day(&freshet, 4.0, 0, &flags);
    first(&freshet, &web);
    let before = web.living();
    let port = web.port();
    web.stop();

    let web = Web::on_day(&freshet, 6.0, port, &flags);
    let living = web.living();
    let stays: Vec<&String> = before.keys().filter(|url| living.contains_key(*url)).collect();
    let same = stays.iter().filter(|url| text_then(url, 2.0) == text_then(url, 0.0)).count();
    assert!(same > 20 && same < stays.len() && stays.len() < 100, "{same} {}", stays.len());
    let expected = [
        ("living", 100.0),
        ("coverage", stays.len() as f64 / 100.0),
        ("freshness", same as f64 / 100.0),
        ("dead", (100 - stays.len()) as f64),
        ("dead_held", 1.0),
    ];
    let stale = score(&freshet, &web);
    for (name, expected) in expected {
        assert_eq!(figure(&stale, "now", name), expected, "{name}");
    }
    // Missed once, then gone: what is held of the dead counts for nothing, neither at the first look nor at the second.
    for _ in 0..2 {
        again(&freshet);
        let score = score(&freshet, &web);
        for (name, expected) in [("living", 100.0), ("coverage", 1.0), ("freshness", 1.0), ("dead_held", 0.0)]
        {
            assert_eq!(figure(&score, "now", name), expected, "{name}");
        }
        assert_eq!(figure(&score, "now", "dead"), (100 - stays.len()) as f64);
    }
}

#[test]
fn a_crawl_of_a_recording_is_held_against_what_was_recorded() {
    let freshet = Freshet::new();
    recording(&freshet);
    let web = played(&freshet, 1.0, 0);
    first(&freshet, &web);
    // Old encodings and texts that are no HTML included; the list of pages that is put before them is none of them.
    let fresh = score(&freshet, &web);
    for (name, expected) in
        [("living", 3.0), ("coverage", 1.0), ("freshness", 1.0), ("staleness", 0.0), ("missed", 0.0)]
    {
        assert_eq!(figure(&fresh, "now", name), expected, "{name}");
    }
    let group = &fresh["behaviours"][0];
    assert_eq!((&group["name"], &group["now"]["living"]), (&Value::from("recorded"), &Value::from(3.0)));
    let port = web.port();
    web.stop();

    let web = played(&freshet, 5.0, port);
    let stale = score(&freshet, &web);
    for (name, expected) in [("living", 2.0), ("freshness", 0.5), ("staleness", 0.5), ("dead_held", 1.0)] {
        assert_eq!(figure(&stale, "now", name), expected, "{name}");
    }
    again(&freshet);
    let young = score(&freshet, &web);
    for (name, expected) in [("living", 2.0), ("freshness", 1.0), ("dead", 1.0), ("dead_held", 0.0)] {
        assert_eq!(figure(&young, "now", name), expected, "{name}");
    }
    let shown = freshet.run(&["score", "--truth", &web.seeds[0]]);
    assert!(shown.stdout.contains("recorded"), "{}", shown.output());
}

#[test]
fn what_is_no_truth_is_told_so() {
    let freshet = Freshet::new();
    #[track_caller]
    fn fails(freshet: &Freshet, truth: &str, code: i32, said: &str) {
        let ran = freshet.run(&["score", "--truth", truth]);
        assert_eq!(ran.code, Some(code), "{}", ran.output());
        assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{}", ran.output());
    }
    let site = Site::start();
    site.page("/", "words");
    fails(&freshet, &site.url("/"), 1, "there is no store at");
    let web = Web::on_day(&freshet, 1.0, 0, &["--hosts", "1", "--pages", "3"]);
    let seeds = freshet.seeds(&[site.url("/")]);
    freshet.json(&["crawl", "--seeds", &seeds, "--json", "--allow-private", "--delay", "0"]);
    fails(&freshet, &web.seeds[0], 1, "has no page of the web");
    fails(&freshet, &site.url("/"), 1, "tells no truth: it answers 404");
    site.page("/.truth/site", Reply::text("{\"pages\": []}"));
    fails(&freshet, &site.url("/"), 1, "tells no truth: missing field");
    let gone = web.seeds[0].clone();
    web.stop();
    fails(&freshet, &gone, 1, "nothing answers at");
    fails(&freshet, "127.0.1.1:8000", 2, "is no address of a web");
    fails(&freshet, "https://127.0.1.1:8000/", 2, "must begin with http://");
    let ran = freshet.run(&["score"]);
    assert_eq!(ran.code, Some(2), "{}", ran.output());
}
