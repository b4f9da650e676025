//! Someone who doubts the papers, or us: their experiments, run again.

use std::collections::BTreeSet;
use std::fs;

use crate::support::Freshet;

/// Files of a folder that end so, by name.
fn files(freshet: &Freshet, folder: &str, end: &str) -> BTreeSet<String> {
    let read = fs::read_dir(freshet.path(folder)).expect("the folder");
    let names = read.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(end)).collect()
}

#[test]
fn the_experiments_of_a_paper_become_tables_plots_and_numbers() {
    let freshet = Freshet::new();
    for (paper, figures, said) in [
        ("avrachenkov", 18, ["Fig. 1, as printed", "Theorems 1 and 2", "B = 80, p = 0.8", "Beyond Fig. 3"]),
        ("grimes-ford", 14, ["MLE (eq. 2)", "Fig. 2, as printed", "Beyond the paper", "tuned on MAD"]),
        (
            "longevity",
            18,
            ["FS-D", "Fig. 12: the same", "as printed, on other pages", "all pages, longevity-bound"],
        ),
        (
            "user-centric",
            14,
            [
                "Fig. 4: quality against",
                "the better of SBR and EBR",
                "knows ΔQ",
                "indexing, against the exact",
            ],
        ),
    ] {
        let ran = freshet.run(&["reproduce", paper, "--runs", "20", "--out", "out"]);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        for words in said {
            assert!(ran.stdout.contains(words), "{words} in {}", ran.output());
        }
        assert!(ran.stderr.contains("files in out"), "how it went is told: {}", ran.output());
        let of_paper = |end| files(&freshet, "out", end).into_iter().filter(|name| name.starts_with(paper));
        let plots: Vec<String> = of_paper(".svg").collect();
        assert_eq!(plots.len(), figures, "{plots:?}");
        for name in plots {
            let svg = fs::read_to_string(freshet.path("out").join(&name)).expect("a plot");
            assert!(svg.starts_with("<svg") && svg.contains("<path") && !svg.contains("NaN"), "{name}");
            let csv = name.replace(".svg", ".csv");
            let csv = fs::read_to_string(freshet.path("out").join(csv)).expect("its numbers");
            assert!(csv.starts_with("curve,x,y,low,high\n") && csv.lines().count() > 10, "{name}");
        }
        assert!(of_paper("-table-1.csv").count() >= 3);
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let freshet = Freshet::new();
    let run = |seed: &str| {
        let mut all = freshet.json(&["reproduce", "avrachenkov", "--runs", "4", "--seed", seed, "--json"]);
        assert_eq!(all["runs"], 4);
        let mut found = all["reproduced"].take();
        // Measured times are the only numbers that don't follow from the seed.
        let experiments = found["experiments"].as_array_mut().expect("experiments");
        experiments.retain(|experiment| experiment["name"] != "section-4-step-time");
        found
    };
    let once = run("7");
    let experiments = once["experiments"].as_array().expect("experiments");
    assert_eq!(experiments.len(), 7);
    assert!(experiments[0]["figures"][0]["curves"][0]["points"][0]["y"].is_number());
    assert_eq!(once, run("7"));
    assert_ne!(once, run("8"));
    assert!(freshet.path("reproduce/avrachenkov-1b-band.svg").is_file(), "the default folder");
}

#[test]
fn one_command_runs_every_paper_and_writes_a_page_of_them() {
    let freshet = Freshet::new();
    let ran = freshet.run(&["reproduce", "all", "--runs", "4", "--out", "papers"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stderr.contains("open `papers/index.html`"), "{}", ran.output());
    let page = fs::read_to_string(freshet.path("papers/index.html")).expect("the page");
    for words in [
        "Avrachenkov",
        "Grimes &amp; Ford",
        "Olston &amp; Pandey 2008",
        "Pandey &amp; Olston 2005",
        "Santos",
        "--runs 4 --seed 1",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    // Every file is on the page, and every link leads to a file or a heading of it.
    let linked = |from: &str| page.contains(&format!("\"{from}\""));
    for name in files(&freshet, "papers", "").iter().filter(|name| *name != "index.html") {
        assert!(linked(name), "{name} is not on the page");
    }
    let after = |mark| page.split(mark).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0));
    for link in after("href=\"").chain(after("src=\"")) {
        match link.strip_prefix('#') {
            Some(place) => assert!(page.contains(&format!("id=\"{place}\"")), "no heading {place}"),
            None => assert!(freshet.path("papers").join(link).is_file(), "no file {link}"),
        }
    }
    let ran = freshet.run(&["reproduce", "all", "pages.ds"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert!(ran.stderr.contains("made-up pages only"), "{}", ran.output());
}

#[test]
fn recorded_pages_take_the_place_of_made_up_ones() {
    let freshet = Freshet::new();
    // Sixty days of three pages: one never changes, one does every day, one every fourth.
    let bits = format!("{}\n{}\n{}\n", "0".repeat(60), "1".repeat(60), "0001".repeat(15));
    freshet.write("pages.brdc", &bits);
    freshet.write("few.brdc", "0110\n");
    let ran = freshet.run(&["import", "few.brdc", "--format", "brdc", "--out", "few.ds"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let ran = freshet.run(&["import", "pages.brdc", "--format", "brdc", "--out", "pages.ds"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let ran = freshet.run(&["reproduce", "longevity", "pages.ds", "--out", "out"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stdout.contains("3 pages, watched"), "{}", ran.output());
    assert!(!ran.stdout.contains("Fig. 1 and 2"), "bits have no fragments: {}", ran.output());
    assert!(files(&freshet, "out", ".svg").contains("longevity-6-offline.svg"));
    // One page changed 59 times in 59 days, and one 14 times.
    let ran = freshet.run(&["reproduce", "grimes-ford", "pages.ds", "--runs", "4", "--out", "rates"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stdout.contains("1 of the 3 pages of the dataset changed 25 times"), "{}", ran.output());
    assert!(files(&freshet, "rates", ".svg").contains("grimes-ford-3-rates-recorded.svg"));

    for (arguments, said) in [
        (["reproduce", "longevity", "nowhere.ds"], "nowhere.ds"),
        (["reproduce", "longevity", "pages.brdc"], "pages.brdc"),
        (["reproduce", "longevity", "few.ds"], "no page was watched at 30 cycles"),
        (["reproduce", "user-centric", "pages.ds"], "pages.ds"),
        (["reproduce", "grimes-ford", "few.ds"], "no page changed 25 times or more"),
        (["reproduce", "avrachenkov", "pages.ds"], "made-up pages only"),
    ] {
        let ran = freshet.run(&arguments);
        assert_eq!(ran.code, Some(1), "{}", ran.output());
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
}

#[test]
fn what_can_t_be_run_or_written_is_told() {
    let freshet = Freshet::new();
    assert_eq!(freshet.run(&["reproduce", "newton"]).code, Some(2));
    assert_eq!(freshet.run(&["reproduce", "avrachenkov", "--runs", "0"]).code, Some(2));
    freshet.write("taken", "a file");
    let ran = freshet.run(&["reproduce", "grimes-ford", "--runs", "2", "--out", "taken"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    assert!(ran.stderr.contains("can't make `taken`"), "{}", ran.output());
}
