//! What a crawl saw goes out as a dataset in every format, comes back, and goes out again the same.

use crate::support::{FAST, Freshet, Reply, Site, article, links_page};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The formats, and what their files end in.
const FORMATS: [(&str, &str); 7] = [
    ("brdc", "brdc"),
    ("lambdacrawl", "tsv"),
    ("observations", "csv"),
    ("observations", "jsonl"),
    ("observations", "parquet"),
    ("fragments", "parquet"),
    ("rates", "csv"),
];

/// A crawl of three cycles over a home page and four others, of which the first two change at every visit.
fn crawled() -> (Site, Freshet) {
    let site = Site::start();
    site.page("/", links_page("home", &["/0", "/1", "/2", "/3"]));
    for number in 0..4 {
        let text = move |count: u64| article("page", 60, if number < 2 { count } else { 0 }, &[]);
        site.page(&format!("/{number}"), Reply::dynamic(move |request| text(request.count as u64).into()));
    }
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--seeds", &seeds, "--cycles", "3", "--no-sitemaps", "--quiet"];
    let ran = freshet.run(&[&crawl, &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    (site, freshet)
}

/// The files of an export, by their endings.
fn files(freshet: &Freshet, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(freshet.path(folder)).expect("a folder");
    let read = |path: std::path::PathBuf| fs::read(path).expect("a file");
    let files = entries.map(|entry| entry.expect("a file").path());
    files.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), read(path))).collect()
}

#[track_caller]
fn export(freshet: &Freshet, format: &str, out: &str, from: &[&str]) -> Value {
    freshet.json(&[&["export", "--format", format, "--out", out, "--json"], from].concat())
}

#[test]
fn what_is_exported_comes_back_and_goes_out_the_same() {
    let (_site, freshet) = crawled();
    for (at, (format, ending)) in FORMATS.into_iter().enumerate() {
        // One folder is made for an export, not the folders above it.
        fs::create_dir(freshet.path(&at.to_string())).expect("a folder");
        let (one, other, dataset) = (format!("{at}/one"), format!("{at}/other"), format!("{at}/dataset"));
        let told = export(&freshet, format, &format!("{one}/f.{ending}"), &[]);
        assert_eq!(told["counts"]["pages"], 5, "{told}");
        assert_eq!(told["counts"]["sites"], 1, "{told}");
        assert_eq!(told["counts"]["changes"], 4, "{told}");
        assert_eq!(told["groups"][0]["cycles"], 3, "{told}");
        let source = format!("{one}/f.{ending}");
        let read = freshet.json(&["import", &source, "--format", format, "--out", &dataset, "--json"]);
        assert_eq!(read["counts"], told["counts"], "{format}");
        assert_eq!(read["groups"], told["groups"], "{format}");
        export(&freshet, format, &format!("{other}/f.{ending}"), &["--from", &dataset]);
        let (was, is) = (files(&freshet, &one), files(&freshet, &other));
        assert!(was.len() >= 3, "data, metadata and README: {:?}", was.keys());
        assert_eq!(was, is, "{format} {ending}");
    }
    // From one format to the other: what pages said tells when they changed.
    let bits = |name: &str, from: &[&str]| {
        export(&freshet, "brdc", name, from);
        let text = fs::read_to_string(freshet.path(name)).expect("bits");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    assert_eq!(bits("bits/store", &[]), "00 00 00 11 11");
    assert_eq!(bits("bits/fragments", &["--from", "5/dataset"]), "00 00 00 11 11");
    assert_eq!(bits("bits/observations", &["--from", "2/dataset"]), "00 00 00 11 11");
    let readme = fs::read_to_string(freshet.path("bits/store.README.md")).expect("a README");
    assert!(readme.contains("| pages per site, min / max / mean | 5 / 5 / 5.00 |"), "{readme}");
}

#[test]
fn an_export_says_what_it_holds() {
    let (site, freshet) = crawled();
    let ran = freshet.run(&["export", "--format", "observations", "--out", "visits.csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(
        ran.stdout.starts_with("visits.csv: 5 pages of 1 site, 15 visits, 4 changes"),
        "{}",
        ran.output()
    );
    let csv = fs::read_to_string(freshet.path("visits.csv")).expect("a table");
    let host = site.origin(0).replace("http://", "");
    assert!(
        csv.lines()
            .nth(1)
            .is_some_and(|line| line.starts_with(&format!("freshet,{host},http://{host}/,1,0,"))),
        "{csv}"
    );
    // Only what is needed is there: nothing temporary.
    let mut names: Vec<_> = fs::read_dir(freshet.path("."))
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("freshet.db") && name != "seeds.txt")
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["visits.csv", "visits.csv.README.md", "visits.csv.meta.json"]);
}

#[test]
fn files_that_are_wrong_are_told_with_their_place_and_leave_nothing() {
    let freshet = Freshet::new();
    for (name, content, format, said) in [
        ("empty", &b""[..], "brdc", "empty:1:1: the file is empty"),
        ("short", b"0101\n010\n", "brdc", "short:2:4: there are 3 characters; the lines before have 4"),
        ("binary", b"\x7fELF\x02\x01\xff\n", "brdc", "binary:1:7: this is not UTF-8"),
        (
            "order.csv",
            b"url,time_ms,changed\nu,9,\nu,8,1\n",
            "observations",
            "order.csv:3:2: 8 is before the 9",
        ),
        (
            "torn.jsonl",
            b"{\"url\":\"u\",\"time",
            "observations",
            "torn.jsonl:1:16: EOF while parsing a string",
        ),
        ("twice.tsv", b"7\t0\t[]\n7\t0\t[]\n", "lambdacrawl", "twice.tsv:2:1: the page `7` is there twice"),
        ("no.parquet", b"PAR1", "fragments", "`no.parquet` is no whole Parquet file"),
        (
            "rates.csv",
            b"page,step_days,steps,changes\np,1,x,0\n",
            "rates",
            "rates.csv:2:3: `x` is not a whole number",
        ),
    ] {
        freshet.write(name, content);
        let ran = freshet.run(&["import", name, "--format", format, "--out", "dataset"]);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.output());
        assert!(ran.stderr.starts_with(&format!("error: {said}")), "`{said}`: {}", ran.output());
        fs::remove_file(freshet.path(name)).expect("the file");
        assert_eq!(fs::read_dir(freshet.path(".")).expect("a folder").count(), 0, "{name} left something");
    }
    for (arguments, code, said) in [
        (&["import", "nowhere", "--format", "brdc", "--out", "d"][..], 1, "`nowhere` does not exist"),
        (
            &["export", "--format", "brdc", "--out", "x", "--from", "nowhere"],
            1,
            "`nowhere` does not exist; `freshet import` makes a dataset",
        ),
        (&["export", "--format", "brdc", "--out", "x"], 1, "freshet.db"),
        (
            &["export", "--format", "observations", "--out", "visits"],
            2,
            "a file that ends in .csv, .jsonl or .parquet",
        ),
        (&["export", "--format", "xml", "--out", "x"], 2, "--format is `xml`; there is `brdc`, "),
        (&["import", "x", "--format", "brdc", "--out", "d", "--step", "daily"], 2, "--step is `daily`"),
        (&["import", "x", "--format", "brdc", "--out", "d", "--start", "soon"], 2, "--start is `soon`"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.output());
        assert!(ran.stderr.contains(said), "`{said}`: {}", ran.output());
    }
}
