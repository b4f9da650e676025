//! Someone who studies how pages change: rates from recorded visits, and visits shared out by rates.

use crate::support::{Freshet, Ran};
use serde_json::Value;

const HISTORIES: &str = "\
page,interval,changed
http://a.example/,2,1
http://b.example/,5,0
http://a.example/,2,0
http://b.example/,15,0
http://a.example/,2,1
";

const PAGES: &str = "\
page,rate,weight
slow,0.1,1
steady,1,1
frantic,10,1
never,0,1
";

fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn rate_of<'a>(lines: &'a [Value], page: &str) -> &'a Value {
    lines.iter().find(|line| line["url"] == page).expect("the page")
}

#[test]
fn every_estimator_tells_its_rate_with_bounds() {
    let freshet = Freshet::new();
    freshet.write("visits.csv", HISTORIES);
    let all = lines(&freshet.run(&["estimate", "--input", "visits.csv", "--json"]));
    assert_eq!(all.len(), 2, "a line a page, in the order of the file");
    assert_eq!(all[0]["url"], "http://a.example/");
    let estimates = all[0]["estimates"].as_object().expect("estimates");
    for name in ["naive", "cg", "mle", "mm", "lln", "sa", "posterior", "two-interval", "gamma", "nad", "gad"]
    {
        let of = |field: &str| estimates[name][field].as_f64().expect("a number");
        assert!(of("low") <= of("rate") && of("rate") <= of("high"), "{name}: {}", estimates[name]);
    }
    // Two of three visits, two days apart, found a change: −ln(⅓)/2 a day.
    let likeliest = estimates["mle"]["rate"].as_f64().expect("a number");
    assert!((likeliest - 3_f64.ln() / 2.0).abs() < 1e-9, "{likeliest}");
    // Nothing in twenty days.
    assert_eq!(all[1]["estimates"]["mle"]["rate"], 0.05);

    let one = lines(&freshet.run(&["estimate", "--input", "visits.csv", "--estimator", "naive", "--json"]));
    assert_eq!(one[0]["estimates"].as_object().map(serde_json::Map::len), Some(1));
    let table = freshet.run(&["estimate", "--input", "visits.csv", "--estimator", "mle,gamma"]);
    assert!(table.stdout.contains("changes a day") && table.stdout.contains("0.5493"), "{}", table.output());
}

#[test]
fn visits_go_where_they_buy_the_most_freshness() {
    let freshet = Freshet::new();
    freshet.write("pages.csv", PAGES);
    for (objective, frantic_is_visited) in [("poisson", false), ("periodic", false), ("harmonic", true)] {
        let rates = lines(&freshet.run(&[
            "rates",
            "--input",
            "pages.csv",
            "--budget",
            "2",
            "--objective",
            objective,
            "--json",
        ]));
        let rate = |page: &str| rate_of(&rates, page)["visits_per_day"].as_f64().expect("a number");
        let spent: f64 = ["slow", "steady", "frantic", "never"].into_iter().map(rate).sum();
        assert!((spent - 2.0).abs() < 1e-9, "{objective}: {rates:?}");
        assert_eq!(rate("frantic") > 0.0, frantic_is_visited, "{objective}: {rates:?}");
        assert_eq!(rate("never"), 0.0);
    }
    let table = freshet.run(&["rates", "--input", "pages.csv", "--budget", "2"]);
    assert!(table.stdout.contains("never  ") && table.stdout.contains("visits a day"), "{}", table.output());
}

#[test]
fn a_bad_file_is_told_with_file_line_and_column() {
    let freshet = Freshet::new();
    for (file, text, command, said) in [
        ("a.csv", "page,interval,changed\nx,1,1\nx,soon,0\n", "estimate", "a.csv:3:2: interval `soon`"),
        ("b.csv", "page,interval,changed\nx,1,yes\n", "estimate", "b.csv:2:3: changed `yes`"),
        ("c.csv", "page,rate\nx,1\n", "rates", "c.csv:1:2: there is no column `weight`"),
        ("d.csv", "page,rate,weight\nx,1,-1\n", "rates", "d.csv:2:3: weight `-1`"),
        ("e.csv", "page,rate,weight\nx,1\n", "rates", "e.csv:2:3: there are 2 fields"),
    ] {
        freshet.write(file, text);
        let flags: &[&str] = if command == "rates" { &["--budget", "1"] } else { &[] };
        let ran = freshet.run(&[&[command, "--input", file], flags].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.output());
        assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{said}: {}", ran.output());
    }
}

#[test]
fn a_wrong_flag_is_the_callers_mistake() {
    let freshet = Freshet::new();
    freshet.write("visits.csv", HISTORIES);
    freshet.write("pages.csv", PAGES);
    for (arguments, said) in [
        (&["estimate"][..], "--input"),
        (&["estimate", "--input", "visits.csv", "--estimator", "psychic"], "`psychic`"),
        (&["rates", "--input", "pages.csv"], "--budget"),
        (&["rates", "--input", "pages.csv", "--budget", "-1"], "`-1`"),
        (&["rates", "--input", "pages.csv", "--budget", "NaN"], "`NaN`"),
        (&["rates", "--input", "pages.csv", "--budget", "1", "--objective", "joy"], "joy"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
}
