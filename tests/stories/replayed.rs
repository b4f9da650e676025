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
fn a_policy_that_does_not_look_at_signals_does_the_same_with_them() {
    let freshet = Freshet::new();
    imported(&freshet);
    let run = |signals: &[&str]| {
        let flags = ["simulate", "eight.ds", "--policy", "age,utility", "--budget", "25%", "--json"];
        let ran = freshet.run(&[&flags[..], signals].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran
    };
    let without = run(&[]);
    for signals in [&["--signals", "0.8,0.5"][..], &["--signals", "1,1,delay=2,build", "--list-cost"]] {
        let with = run(signals);
        assert_eq!(with.stdout, without.stdout);
        assert!(with.stderr.contains("none of these policies looks at signals"), "{}", with.stderr);
    }
    assert!(!run(&["--signals", "none"]).stderr.contains("signals"));
}

#[test]
fn made_up_pages_are_the_same_for_the_same_spec() {
    let freshet = Freshet::new();
    let run = || {
        let spec = ["simulate", "--synthetic", "pages=300,cycles=20,seed=5", "--policy", "all", "--json"];
        freshet.run(&spec).stdout
    };
    let once = run();
    assert_eq!(once.lines().count(), 30);
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
        (&["simulate", "eight.ds", "--signals", "2,1"], 2, "--signals: the precision is `2`"),
        (&["simulate", "eight.ds", "--signals", "0.8"], 2, "--signals: `0.8` has no recall"),
        (&["simulate", "eight.ds", "--signals", "1,1,always,biuld"], 2, "did you mean `build`?"),
        (&["simulate", "eight.ds", "--signals", "1,1,delay=0.5"], 2, "a whole number of cycles"),
        (&["simulate", "eight.ds", "--list-cost=0"], 2, "--list-cost is `0`; write a share of the budget"),
        (&["simulate", "nowhere.ds"], 1, "nowhere.ds"),
        (&["simulate", "broken.ds"], 1, "broken.ds"),
        (&["simulate", "--store", "none.db"], 1, "none.db"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains(said), "`{said}`: {}", ran.output());
    }
}

#[test]
fn queries_are_asked_of_the_copies_that_each_policy_would_have_had() {
    let site = Site::start();
    let names: Vec<String> = (0..8).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, name) in names.iter().enumerate() {
        // All pages change with each visit; two of them are about patches now and then.
        let text = move |count: usize| {
            let about = if number < 2 && count % 3 == 1 { "errata patch" } else { "nothing new" };
            let words: Vec<String> = (0..30).map(|word| format!("{about} w{count}x{word}")).collect();
            format!("<title>page {number}</title><p>{}</p><a href=/>home</a>", words.join(" "))
        };
        site.page(name, Reply::dynamic(move |request| text(request.count).into()));
    }
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--seeds", &seeds, "--json", "--no-sitemaps", "--cycles", "9"];
    freshet.json(&[&crawl[..], &FAST].concat());
    freshet.write("queries.txt", "errata patch\t3\nhome\nunheard\n");
    let flags = ["--queries", "queries.txt", "--policy", "age,user-centric", "--json"];
    let simulate = |source: &[&str], flags: &[&str]| freshet.run(&[&["simulate"], source, flags].concat());

    let with_all = simulate(&["--store", "freshet.db"], &[&flags[..], &["--budget", "100%"]].concat());
    assert!(with_all.stderr.contains("1 of 3 queries find no page"), "{}", with_all.output());
    for line in lines(&with_all) {
        assert_eq!(figure(&line, "quality"), 1.0, "all pages are visited in every cycle: {line}");
    }
    let of_store = lines(&simulate(&["--store", "freshet.db"], &[&flags[..], &["--budget", "20%"]].concat()));
    assert!(figure(&of_store[0], "quality") < 1.0, "{}", of_store[0]);
    let others =
        lines(&simulate(&["--store", "freshet.db"], &["--policy", "age", "--budget", "20%", "--json"]));
    assert!(others[0]["mean"]["quality"].is_null(), "{}", others[0]);
    assert_eq!(
        figure(&others[0], "freshness"),
        figure(&of_store[0], "freshness"),
        "words change no other figure"
    );

    // The words go out with the fragments, and come back.
    freshet.json(&["export", "--format", "fragments", "--out", "f.parquet", "--json"]);
    freshet.json(&["import", "f.parquet", "--format", "fragments", "--out", "f.ds", "--json"]);
    let of_dataset = lines(&simulate(&["f.ds"], &[&flags[..], &["--budget", "20%"]].concat()));
    assert_eq!(figure(&of_dataset[0], "quality"), figure(&of_store[0], "quality"));
    let linked = simulate(&["f.ds"], &[&flags[..], &["--budget", "100%", "--score", "inlinks"]].concat());
    assert_eq!(figure(&lines(&linked)[0], "quality"), 1.0, "pages link to the home page, and it to them");
    let table = freshet.run(&["simulate", "f.ds", "--queries", "queries.txt", "--policy", "age"]);
    assert!(table.stdout.contains("search quality"), "{}", table.output());

    freshet.json(&["export", "--format", "observations", "--out", "v.csv", "--json"]);
    freshet.json(&["import", "v.csv", "--format", "observations", "--out", "v.ds", "--json"]);
    freshet.write("empty.txt", "# nothing\n");
    freshet.write("unheard.txt", "unheard\n");
    for (arguments, code, said) in [
        (&["v.ds", "--queries", "queries.txt"][..], 1, "has no words of its pages"),
        (&["f.ds", "--queries", "empty.txt"], 2, "empty.txt"),
        (&["f.ds", "--queries", "nowhere.txt"], 2, "nowhere.txt"),
        (&["f.ds", "--queries", "unheard.txt"], 1, "no query finds a page"),
        (&["f.ds", "--policy", "user-centric"], 2, "has to know what people search for"),
        (&["f.ds", "--queries", "queries.txt", "--score", "best"], 2, "best"),
        (&["f.ds", "--queries", "queries.txt", "--attention", "-1"], 2, "-1"),
        (&["--synthetic", "pages=10", "--queries", "queries.txt"], 2, "made-up pages have no words"),
    ] {
        let ran = simulate(arguments, &[]);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains(said), "`{said}`: {}", ran.output());
    }
}
