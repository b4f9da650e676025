//! What would policy X have done? Policies replayed over recorded, made-up and own histories.

use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};
use serde_json::Value;

const BITS: &str = "\
0010010001
1010100101
1101101111
0000010000
1110001111
1000110000
0000000000
0000000000
";

#[track_caller]
fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn figure(line: &Value, name: &str) -> f64 {
    line["mean"][name].as_f64().unwrap_or_else(|| panic!("no `{name}`: {line}"))
}

/// A dataset of eight pages and ten days.
fn imported(freshet: &Freshet) {
    freshet.write("eight.changes", BITS);
    let ran = freshet.run(&["import", "eight.changes", "--format", "brdc", "--out", "eight.ds"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
}

#[test]
fn policies_are_compared_on_the_same_history() {
    let freshet = Freshet::new();
    imported(&freshet);
    let policies = "age,t*x,utility,clairvoyant-now,bound";
    let all =
        lines(&freshet.run(&["simulate", "eight.ds", "--policy", policies, "--budget", "25%,50%", "--json"]));
    assert_eq!(all.len(), 10);
    for line in &all {
        for name in ["change_rate", "freshness", "staleness", "ndcg"] {
            assert!((0.0..=1.0).contains(&figure(line, name)), "{name}: {line}");
        }
    }
    let of = |policy: &str, budget: f64| {
        all.iter().find(|line| line["policy"] == policy && line["budget"] == budget).expect("a line")
    };
    assert_eq!(figure(of("age", 0.25), "requests"), 16.0, "two visits on each of eight days");
    assert!(figure(of("clairvoyant-now", 0.25), "change_rate") >= figure(of("age", 0.25), "change_rate"));
    assert!(
        figure(of("bound", 0.25), "staleness") <= figure(of("clairvoyant-now", 0.25), "staleness") + 1e-9
    );
    assert!(figure(of("age", 0.5), "freshness") > figure(of("age", 0.25), "freshness"));
    assert_eq!(of("age", 0.25)["cycles"]["eight"].as_array().map(Vec::len), Some(8), "{}", of("age", 0.25));

    let flags = ["--policy", "age,utility", "--folds", "2", "--seeds", "3"];
    let table = freshet.run(&[&["simulate", "eight.ds", "--plot", "out.svg"], &flags[..]].concat());
    assert!(table.stdout.contains("ChangeRate") && table.stdout.contains('±'), "{}", table.output());
    let plot = std::fs::read_to_string(freshet.path("out.svg")).expect("a plot");
    assert!(plot.starts_with("<svg") && plot.contains("utility") && !plot.contains("NaN"), "{plot}");
    let two = freshet.run(&["simulate", "eight.ds", "--policy", "age", "--folds", "2"]);
    assert!(
        two.stdout.contains(" ±?") && two.stdout.contains("too few folds or page orders"),
        "{}",
        two.output()
    );
    let costs =
        ["simulate", "eight.ds", "--policy", "age,longevity", "--budget", "25%,50%", "--plot", "costs.svg"];
    let ran = freshet.run(&costs);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let plot = std::fs::read_to_string(freshet.path("costs.svg")).expect("a plot");
    assert!(plot.contains("staleness by refresh cost") && plot.contains("longevity"), "{plot}");
    let csv = freshet.run(&["simulate", "eight.ds", "--policy", "age", "--csv"]).stdout;
    assert!(csv.starts_with("policy,budget,group,") && csv.lines().count() == 3, "{csv}");
}

#[test]
fn made_up_pages_are_the_same_for_the_same_spec() {
    let freshet = Freshet::new();
    let run = || {
        let spec = ["simulate", "--synthetic", "pages=300,cycles=20,seed=5", "--policy", "all", "--json"];
        freshet.run(&spec).stdout
    };
    let once = run();
    assert_eq!(once.lines().count(), 25);
    let ran = freshet.run(&["simulate", "--synthetic", "pages=300,cycles=20,seed=5", "--plot", "all.svg"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let plot = std::fs::read_to_string(freshet.path("all.svg")).expect("a plot");
    assert!(plot.contains(" others<") && plot.contains("axis starts at 0."), "{plot}");
    assert_eq!(run(), once);
}

#[test]
fn a_store_can_ask_what_another_policy_would_have_saved_it() {
    let site = Site::start();
    let names: Vec<String> = (0..12).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, name) in names.iter().enumerate() {
        let title = name.clone();
        let text = move |count: u64| article(&title, 40, if number < 4 { count } else { 0 }, &[]);
        site.page(name, Reply::dynamic(move |request| text(request.count as u64).into()));
    }
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--seeds", &seeds, "--json", "--no-sitemaps", "--cycles", "8"];
    freshet.json(&[&crawl[..], &FAST].concat());
    let ran = freshet.run(&[
        "simulate",
        "--store",
        "freshet.db",
        "--policy",
        "age,utility",
        "--budget",
        "25%",
        "--json",
    ]);
    let all = lines(&ran);
    assert!(figure(&all[1], "change_rate") > figure(&all[0], "change_rate"), "{}", ran.output());
    assert!(ran.stderr.contains("gets no credit"), "it says what it can't know: {}", ran.stderr);
}

#[test]
fn wrong_wishes_and_datasets_are_named() {
    let freshet = Freshet::new();
    imported(&freshet);
    freshet.write("broken.ds/dataset.json", "{");
    for (arguments, code, said) in [
        (&["simulate"][..], 2, "there is nothing to replay"),
        (&["simulate", "eight.ds", "--policy", "psychic"], 2, "there is no policy `psychic`"),
        (&["simulate", "eight.ds", "--budget", "0"], 2, "--budget is `0`"),
        (&["simulate", "eight.ds", "--budget", "120%"], 2, "--budget is `120%`"),
        (&["simulate", "--synthetic", "pages=none"], 2, "pages is `none`"),
        (&["simulate", "nowhere.ds"], 1, "nowhere.ds"),
        (&["simulate", "broken.ds"], 1, "broken.ds"),
        (&["simulate", "--store", "none.db"], 1, "none.db"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains(said), "`{said}`: {}", ran.output());
    }
}
