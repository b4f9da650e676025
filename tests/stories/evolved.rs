//! Score functions that are bred from histories, and formulas that a user types: in the simulator and live.

use crate::stopped_and_killed::wait_until;
use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Small enough for a test, large enough that breeding gains something.
const SMALL: [&str; 10] =
    ["--population", "24", "--generations", "4", "--runs", "2", "--folds", "2", "--kept", "8"];
const PAGES: [&str; 2] = ["--synthetic", "pages=120,cycles=14"];

#[track_caller]
fn evolve(freshet: &Freshet, flags: &[&str]) -> Ran {
    freshet.run(&[&["evolve"], &SMALL[..], flags].concat())
}

#[track_caller]
fn done(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

#[track_caller]
fn refused(ran: &Ran, said: &[&str]) {
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    for part in said {
        assert!(ran.stderr.contains(part), "`{part}` is not said\n{}", ran.output());
    }
}

/// Runs the `simulate` command that `evolve` prints, as a shell does. It must give the printed figure again, to the digit.
#[track_caller]
fn gives_the_figure_again(freshet: &Freshet, ran: &Ran) {
    let line = |start: &str| ran.stdout.lines().find_map(|line| line.strip_prefix(start));
    let arguments = line("try: freshet ").unwrap_or_else(|| panic!("no command: {}", ran.output()));
    let figure = ran.stdout.split("all pages ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let figure = figure.expect("a figure");
    let program = freshet.command().get_program().to_string_lossy().into_owned();
    let mut shell = Command::new("sh");
    shell.current_dir(freshet.path(".")).env_clear().args(["-c", &format!("'{program}' {arguments}")]);
    let output = shell.output().expect("a shell");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = table.lines().nth(1).unwrap_or_else(|| panic!("`{arguments}`: {output:?}"));
    assert!(first.split_whitespace().any(|cell| cell == figure), "{figure} is not in\n{table}`{arguments}`");
}

fn file(freshet: &Freshet, name: &str) -> String {
    std::fs::read_to_string(freshet.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn champion(freshet: &Freshet, name: &str) -> toml::Table {
    file(freshet, name).parse().expect("TOML")
}

fn formula(champion: &toml::Table) -> &str {
    champion["formula"].as_str().expect("a formula")
}

#[test]
fn a_champion_is_a_readable_formula_with_its_scores_and_runs_in_the_simulator() {
    let freshet = Freshet::new();
    let ran = done(evolve(&freshet, &PAGES));
    for part in [
        "champion: ",
        "training",
        "validation",
        "pages not seen",
        "best ",
        "sum ",
        "avg ",
        "node evaluations",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.output());
    }
    assert!(ran.stdout.contains(" formulas bred, ") && ran.stdout.contains(" replays, "), "{}", ran.output());
    assert!(ran.stdout.contains("(±?: too few folds for an interval)"), "{}", ran.output());
    let found = champion(&freshet, "champion.toml");
    assert!(ran.stdout.contains(formula(&found)));
    assert_eq!(found["finished"].as_bool(), Some(true));
    let setting = |name: &str| found["settings"][name].as_str();
    assert_eq!(
        (setting("breeding"), setting("selection")),
        (Some("paper"), Some("best")),
        "as the paper has it"
    );
    let score = |name: &str| found["scores"][name].as_float().expect("a score");
    assert!(["training", "validation", "test", "all"].iter().all(|name| (0.0..=1.0).contains(&score(name))));
    assert_eq!(found["scores"]["tests"].as_array().map(Vec::len), Some(3));
    let plot = file(&freshet, "champion.svg");
    assert!(plot.starts_with("<svg") && plot.contains("best so far") && !plot.contains("NaN"));
    assert!(!freshet.path("champion.journal").exists(), "there is nothing to go on with");

    let policies = format!("evolved:champion.toml,expr:{},age", formula(&found));
    let both = done(freshet.run(&[&["simulate", "--policy", &policies, "--json"], &PAGES[..]].concat()));
    let lines: Vec<Value> =
        both.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["mean"], lines[1]["mean"], "the file is the formula");
    assert_eq!(lines[0]["policy"], lines[1]["policy"]);
    let rate = lines[0]["mean"]["change_rate"].as_f64().expect("a rate");
    assert!(rate > lines[2]["mean"]["change_rate"].as_f64().expect("a rate"), "better than round robin");
}

#[test]
fn the_command_that_is_printed_gives_the_printed_figure() {
    let freshet = Freshet::new();
    for (seed, flags) in [
        ("1", &[][..]),
        ("2", &["--fitness", "freshness", "--warm-up", "4", "--budget", "7%"]),
        ("3", &["--fitness", "ndcg", "--terminals", "all", "--budget", "0.123456789"]),
        ("4", &["--least-pages", "2", "--out", "it's the best.toml"]),
    ] {
        let ran = done(evolve(&freshet, &[&["--seed", seed], &PAGES[..], flags].concat()));
        gives_the_figure_again(&freshet, &ran);
    }
    let bits: String = (0..60_u32)
        .map(|page| {
            (0..12)
                .map(|day| if (page * 7 + day * day) % 11 < page % 5 { '1' } else { '0' })
                .collect::<String>()
                + "\n"
        })
        .collect();
    freshet.write("sixty pages.changes", &bits);
    let import = ["import", "sixty pages.changes", "--format", "brdc", "--out", "sixty pages.ds"];
    done(freshet.run(&import));
    let ran = done(evolve(&freshet, &["sixty pages.ds"]));
    gives_the_figure_again(&freshet, &ran);
}

#[test]
fn a_typed_formula_is_the_policy_it_says() {
    let freshet = Freshet::new();
    let run = |policies: &str| {
        let ran = done(freshet.run(&[&["simulate", "--json", "--policy", policies], &PAGES[..]].concat()));
        ran.stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["mean"].clone())
            .collect()
    };
    let found: Vec<Value> = run("t*x,expr:t * X,age,expr:t,nad,expr:1 - exp(-(t * nad)),expr:pow(t, 2),age");
    assert_eq!(found.len(), 8, "a comma within parentheses belongs to the formula");
    for pair in found.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
}

#[test]
fn the_same_seed_gives_the_same_champion_on_any_number_of_threads() {
    let freshet = Freshet::new();
    for threads in ["1", "3"] {
        let out = format!("{threads}.toml");
        let terminals = "n,X,t,aad,gamma,age,longevity";
        done(evolve(
            &freshet,
            &[&["--threads", threads, "--out", &out, "--terminals", terminals], &PAGES[..]].concat(),
        ));
    }
    let [mut one, mut three] = ["1.toml", "3.toml"].map(|name| champion(&freshet, name));
    for champion in [&mut one, &mut three] {
        champion["effort"].as_table_mut().expect("a table").remove("seconds");
    }
    assert_eq!(one, three);
    done(evolve(&freshet, &[&["--seed", "2", "--out", "other.toml"], &PAGES[..]].concat()));
    assert_ne!(champion(&freshet, "other.toml")["fold"], one["fold"]);
    for breeding in ["tournament", "top-parents", "kept-go-on"] {
        done(evolve(&freshet, &[&["--breeding", breeding, "--out", "other.toml"], &PAGES[..]].concat()));
        assert_eq!(champion(&freshet, "other.toml")["settings"]["breeding"].as_str(), Some(breeding));
    }
}

#[test]
fn one_that_is_stopped_shows_its_best_and_goes_on() {
    let freshet = Freshet::new();
    let endless =
        ["evolve", "--synthetic", "pages=400,cycles=20", "--generations", "100000", "--population", "60"];
    for time in 0..2 {
        let running = freshet.start(&endless);
        wait_until("a generation", || running.stderr().contains("generation "));
        let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
        assert!(sent.expect("`kill` can be run").success());
        let ran = running.wait(Duration::from_secs(60));
        assert_eq!(ran.code, Some(130), "{}", ran.output());
        assert!(
            ran.stdout.contains("champion: ") && ran.stderr.contains("to continue from"),
            "{}",
            ran.output()
        );
        assert_eq!(ran.stderr.contains("continuing after"), time == 1, "{}", ran.output());
        assert_eq!(champion(&freshet, "champion.toml")["finished"].as_bool(), Some(false));
        assert!(freshet.path("champion.journal").exists());
    }
    // Another run must not take it for its own, nor spoil it.
    refused(&evolve(&freshet, &PAGES), &["champion.journal", "other pages", "--start-over"]);
    assert!(freshet.path("champion.journal").exists());
    done(evolve(&freshet, &[&["--start-over"], &PAGES[..]].concat()));
    assert_eq!(champion(&freshet, "champion.toml")["finished"].as_bool(), Some(true));
}

#[test]
fn what_a_formula_goes_by_is_explained() {
    let freshet = Freshet::new();
    done(evolve(&freshet, &PAGES));
    let ran = done(freshet.run(&["evolve", "--explain", "champion.toml"]));
    assert!(ran.stdout.contains("loss") && ran.stdout.contains("changerate"), "{}", ran.output());
    assert!(!ran.stdout.contains("those of them"), "{}", ran.output());
    let plot = file(&freshet, "champion.surface.svg");
    assert!(plot.contains("visited first") && plot.contains("visited last") && !plot.contains("NaN"));
    let of =
        freshet.json(&["evolve", "--explain", "champion.toml", "--synthetic", "pages=60,cycles=9", "--json"]);
    assert_eq!(of["pages"], 60);
    assert_eq!(of["formula"].as_str(), Some(formula(&champion(&freshet, "champion.toml"))));
    let endless = file(&freshet, "champion.toml").replace("warm_up = 2", "warm_up = 4294967295");
    freshet.write("endless.toml", &endless);
    refused(&freshet.run(&["evolve", "--explain", "endless.toml"]), &["4294967295", "1000"]);
    let terminals = done(freshet.run(&["evolve", "--terminals", "help"]));
    assert!(["n ", "gamma", "longevity", "signals"].iter().all(|name| terminals.stdout.contains(name)));
}

#[test]
fn what_is_wrong_is_told_before_anything_is_done() {
    let freshet = Freshet::new();
    let simulate = |policy: &str| freshet.run(&[&["simulate", "--policy", policy], &PAGES[..]].concat());
    refused(
        &simulate("expr:t * (X + "),
        &["column 9", "the formula ends where a number, a name or `(` was expected"],
    );
    refused(&simulate("expr:t * wibble"), &["column 5", "there is no `wibble`", "`gamma`"]);
    refused(&simulate("expr:"), &["column 1"]);
    let warm_up = ["simulate", "--warm-up", "4294967295"];
    refused(&freshet.run(&[&warm_up, &PAGES[..]].concat()), &["--warm-up"]);
    refused(&simulate("evolved:nowhere.toml"), &["nowhere.toml", "freshet evolve"]);
    freshet.write("junk.toml", "formula = 3");
    refused(&simulate("evolved:junk.toml"), &["junk.toml", "no file of `freshet evolve`"]);
    refused(&freshet.run(&["evolve", "--explain", "junk.toml"]), &["junk.toml"]);
    refused(&freshet.run(&["crawl", "--policy", "expr:1 +"]), &["column 4"]);
    refused(&freshet.run(&["evolve"]), &["name a dataset"]);
    for (flags, said) in [
        (&["--terminals", "n,psychic"][..], "psychic"),
        (&["--budget", "0"], "--budget"),
        (&["--population", "1"], "--population"),
        (&["--fitness", "beauty"], "changerate"),
        (&["--breeding", "selective"], "top-parents"),
        (&["--warm-up", "13"], "warm-up"),
    ] {
        refused(&freshet.run(&[&["evolve"], &PAGES[..], flags].concat()), &[said]);
    }
    refused(&freshet.run(&["evolve", "--synthetic", "pages=50,cycles=9,moments=4"]), &["moments"]);
    freshet.write("champion.journal", "{}");
    refused(&evolve(&freshet, &PAGES), &["champion.journal", "--start-over"]);
    freshet.write("champion.journal", "\u{0}\u{1}");
    refused(&evolve(&freshet, &PAGES), &["champion.journal", "--start-over"]);
    for (out, said) in [("best.journal", "journal"), ("best.svg", "plot"), (".", "a folder")] {
        refused(&evolve(&freshet, &[&["--out", out], &PAGES[..]].concat()), &["--out", said]);
    }
    refused(&freshet.run(&["evolve", "--synthetic", "pages=1,cycles=9"]), &["too few pages"]);
    refused(&freshet.run(&["simulate", "--synthetic", "pages=50000000,cycles=100000"]), &["memory"]);
    let nowhere = evolve(&freshet, &[&["--out", "no/such/folder/champion.toml"], &PAGES[..]].concat());
    assert_eq!(nowhere.code, Some(1), "{}", nowhere.output());
    assert!(nowhere.stderr.contains("can't be written"), "{}", nowhere.output());
    assert!(!freshet.path("champion.toml").exists());
}

#[test]
fn a_formula_decides_which_pages_a_crawl_visits_and_is_bred_from_what_it_saw() {
    let site = Site::start();
    let names: Vec<String> = (0..40).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, name) in names.iter().enumerate() {
        let title = name.clone();
        let text = move |count: u64| article(&title, 60, if number < 8 { count } else { 0 }, &[]);
        site.page(name, Reply::dynamic(move |request| text(request.count as u64).into()));
    }
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = |flags: &[&str]| {
        let always = ["crawl", "--seeds", &seeds, "--json", "--no-sitemaps"];
        freshet.json(&[&always, &FAST[..], flags].concat())
    };
    crawl(&["--cycles", "6"]);
    let ran = done(evolve(&freshet, &["--store", "freshet.db", "--warm-up", "1", "--budget", "20%"]));
    gives_the_figure_again(&freshet, &ran);
    site.clear_log();
    crawl(&["--budget", "8", "--policy", "expr:X * t"]);
    let asked = site.log().paths();
    let changing =
        |path: &String| path.trim_start_matches('/').parse::<usize>().is_ok_and(|number| number < 8);
    assert_eq!(asked.iter().filter(|path| changing(path)).count(), 8, "{asked:?}");
    let status = freshet.json(&["status", "--json"]);
    assert!(status.to_string().contains("expr:X * t"), "{status}");

    crawl(&["--budget", "8", "--policy", "evolved:champion.toml"]);
    let formula = formula(&champion(&freshet, "champion.toml")).to_owned();
    let plan = done(freshet.run(&["plan", "--policy", "evolved:champion.toml", "--budget", "8"]));
    assert!(plan.stdout.contains(&formula), "{}", plan.output());
    let why = done(freshet.run(&["why", &site.url("/3"), "--policy", "expr:gamma * t + aad + longevity"]));
    assert!(why.stdout.contains("expr:gamma * t") && why.stdout.contains("longevity = "), "{}", why.output());
    // With the formula's own memory, made again from the log.
    done(freshet.run(&[
        "store",
        "rebuild",
        "--check",
        "--policy",
        "expr:gamma * t + divergence + behaviour",
    ]));
}
