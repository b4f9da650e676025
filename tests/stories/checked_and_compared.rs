//! One page looked at, two pages held against each other: asked for as politely as in a crawl, and nothing stored.

use crate::support::{Freshet, Ran, Reply, Running, Site, links_page};
use serde_json::{Value, json};
use std::time::Duration;

/// The site is on loopback, and needs no pause.
const FAST: [&str; 3] = ["--allow-private", "--delay", "0"];

#[track_caller]
fn assert_refused(ran: &Ran, code: i32, said: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.output());
    for words in said {
        assert!(ran.stderr.contains(words), "`{words}` is not said\n{}", ran.output());
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

/// Nothing but what the story wrote itself.
#[track_caller]
fn assert_nothing_stored(freshet: &Freshet) {
    let files = std::fs::read_dir(freshet.path(".")).expect("the folder is there");
    let names: Vec<String> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.starts_with("freshet.db")), "{names:?}");
}

// --- compare ---------------------------------------------------------------------------------------------------

#[test]
fn two_files_are_as_far_apart_as_the_definition_says() {
    let golden: Value =
        serde_json::from_str(include_str!("../golden/jaccard.json")).expect("the golden file is JSON");
    let tolerance = golden["tolerance"]["absolute"].as_f64().expect("a tolerance");
    let freshet = Freshet::new();
    for case in golden["cases"].as_array().expect("cases").iter().step_by(4) {
        freshet.write("a.txt", case["a"].as_str().expect("a text"));
        freshet.write("b.txt", case["b"].as_str().expect("a text"));
        let found = freshet.json(&["compare", "a.txt", "b.txt", "--json", "--k", &case["k"].to_string()]);
        let divergence = found["divergence"].as_f64().expect("a number");
        let expected = case["fragment_staleness"].as_f64().expect("a number");
        assert!((divergence - expected).abs() <= tolerance, "{case}\n{found}");
        for (name, golden) in
            [("fragments_a", "shingles_a"), ("fragments_b", "shingles_b"), ("shared", "intersection")]
        {
            assert_eq!(found[name], case[golden], "{name}\n{case}\n{found}");
        }
        for (name, fragments) in [("only_a", "fragments_a"), ("only_b", "fragments_b")] {
            assert_eq!(found[name] == json!([]), found[fragments] == found["shared"], "{case}\n{found}");
        }
    }
    assert_nothing_stored(&freshet);
}

#[test]
fn what_only_one_text_has_is_told_in_words() {
    let freshet = Freshet::new();
    freshet.write("a.txt", "The quick brown fox jumps over the lazy dog.");
    freshet.write("b.txt", "The quick brown fox leaps over the lazy dog.");
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--json"]);
    assert_eq!(
        found,
        json!({
            "a": "a.txt", "b": "b.txt", "divergence": 0.8, "exact_divergence": 0.8, "k": 4, "m": null,
            "fragments_a": 6, "fragments_b": 6, "shared": 2,
            "only_a": ["quick brown fox jumps over the lazy"],
            "only_b": ["quick brown fox leaps over the lazy"],
        })
    );

    let ran = freshet.run(&["compare", "a.txt", "b.txt", "--k", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "divergence 0.2222",
            "fragments of 1 word: 7 in both",
            "",
            "only in a.txt: 1 of 8 fragments",
            "- jumps",
            "",
            "only in b.txt: 1 of 8 fragments",
            "+ leaps",
        ]
    );
}

#[test]
fn the_first_twenty_stretches_are_shown_unless_all_are_wanted() {
    let freshet = Freshet::new();
    let with = |word: &str| (0..30).map(|n| format!("same{n} also{n} {word}{n}\n")).collect::<String>();
    freshet.write("a.txt", with("old"));
    freshet.write("b.txt", with("new"));
    let lines = |flags: &[&str], sign: &str| {
        let ran = freshet.run(&[&["compare", "a.txt", "b.txt", "--k", "1"], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran.stdout.lines().filter(|line| line.starts_with(sign)).count()
    };
    assert_eq!([lines(&[], "- "), lines(&[], "+ "), lines(&[], "  and 10 more")], [20, 20, 2]);
    assert_eq!([lines(&["--all"], "- "), lines(&["--all"], "+ "), lines(&["--all"], "  and")], [30, 30, 0]);
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--k", "1", "--json"]);
    assert_eq!(found["only_a"].as_array().map(Vec::len), Some(30));
}

#[test]
fn a_sketch_estimates_what_all_fragments_tell() {
    let freshet = Freshet::new();
    let words = |from: u32| (from..from + 300).map(|n| format!("word{n} ")).collect::<String>();
    freshet.write("a.txt", words(0));
    freshet.write("b.txt", words(150));
    let found = freshet.json(&["compare", "a.txt", "b.txt", "--json", "--k", "1", "--m", "64"]);
    assert_eq!((&found["m"], &found["shared"]), (&json!(64), &json!(150)));
    let [estimate, exact] = ["divergence", "exact_divergence"].map(|name| found[name].as_f64().unwrap());
    assert!((exact - 2.0 / 3.0).abs() < 1e-12 && estimate != exact, "{found}");
    // Six standard deviations: √(1/3 · 2/3 / 64) = 0.059.
    assert!((estimate - exact).abs() < 0.36, "{found}");
    let ran = freshet.run(&["compare", "a.txt", "b.txt", "--k", "1", "--m", "64"]);
    assert!(ran.stdout.contains("estimated from the 64 smallest"), "{}", ran.output());
    assert!(ran.stdout.contains("exactly 0.6667"), "{}", ran.output());
}

#[test]
fn pages_are_read_as_pages_and_texts_as_texts() {
    let freshet = Freshet::new();
    freshet.write("page.HTM", "<title>no part</title><p>One <b>two</b> three<script>four()</script><p>five");
    freshet.write("plain.txt", "one two\nthree five\n");
    freshet.write("tags.txt", "<p>One <b>two</b> three<p>five");
    let divergence = |a: &str, b: &str| freshet.json(&["compare", a, b, "--json"])["divergence"].clone();
    assert_eq!(divergence("page.HTM", "plain.txt"), json!(0.0));
    assert_ne!(divergence("page.HTM", "tags.txt"), json!(0.0));
    assert_eq!(divergence("plain.txt", "plain.txt"), json!(0.0));

    let mut command = freshet.command();
    command.args(["compare", "-", "plain.txt", "--json"]);
    command.stdin(std::fs::File::open(freshet.path("plain.txt")).expect("it was just written"));
    let found = Running::start(command).wait(Duration::from_secs(60)).json();
    assert_eq!((&found["divergence"], &found["a"]), (&json!(0.0), &json!("-")));
}

#[test]
fn words_of_a_fragment_are_those_of_the_settings() {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[change]\nfragment_words = 2\n");
    freshet.write("a.txt", "one two three");
    let k = |flags: &[&str]| {
        freshet.json(&[&["compare", "a.txt", "a.txt", "--json"], flags].concat())["k"].clone()
    };
    assert_eq!([k(&[]), k(&["--k", "3"]), k(&["--k", "64"])], [2, 3, 64]);
}

#[test]
fn what_can_not_be_compared_is_named() {
    let freshet = Freshet::new();
    freshet.write("a.txt", "one two three");
    freshet.write("empty.txt", "");
    freshet.write("image.html", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR");
    freshet.write("image", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR");
    freshet.write("latin.txt", b"caf\xe9 \xff\xfe \x80");
    for (flags, code, said) in [
        (&["--k", "0"][..], 2, "--k is `0`"),
        (&["--k", "65"], 2, "from 1 to 64"),
        (&["--k", "x"], 2, "--k"),
        (&["--m", "0"], 2, "--m is `0`"),
        (&["--m", "x"], 2, "--m is `x`"),
        (&["--m", "-3"], 2, "-3"),
    ] {
        let ran = freshet.run(&[&["compare", "a.txt", "a.txt"], flags].concat());
        assert_refused(&ran, code, &[said]);
        assert_eq!(ran.stdout, "");
    }
    for (name, code, said) in [
        ("missing.txt", 1, "`missing.txt` can't be read"),
        (".", 1, "`.` can't be read"),
        ("image.html", 1, "`image.html` is no text"),
        ("image", 1, "`image` is no text"),
        ("ftp://example.org/", 1, "can't be read"),
        ("http://", 2, "is no page"),
        ("http://reader:secret@example.org/", 2, "password"),
    ] {
        let ran = freshet.run(&["compare", "a.txt", name]);
        assert_refused(&ran, code, &[said]);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    assert_refused(&freshet.run(&["compare", "-", "-"]), 2, &["standard input"]);
    assert_refused(&freshet.run(&["compare", "a.txt"]), 2, &[]);
    let found = freshet.json(&["compare", "a.txt", "empty.txt", "--json"]);
    assert_eq!((&found["divergence"], &found["fragments_b"]), (&json!(1.0), &json!(0)));
    assert_eq!(freshet.json(&["compare", "empty.txt", "empty.txt", "--json"])["divergence"], json!(0.0));
    assert_eq!(freshet.run(&["compare", "a.txt", "latin.txt"]).code, Some(0));
}

#[test]
fn a_page_of_the_web_is_compared_with_a_file_by_the_rules_of_the_settings() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /no\n"));
    site.page("/old", Reply::redirect(301, "/new"));
    site.page("/new", "<p>one two three four<p class=clock>12:34");
    site.page("/no", "forbidden");
    site.page("/image", Reply::bytes("image/png", "not a picture"));
    site.page("/soft", "<title>Page not found</title><p>Page not found");
    let freshet = Freshet::new();
    freshet.write("a.txt", "one two three four");
    let compare = |path: &str, more: &[&str]| {
        freshet.run(&[&["compare", "a.txt", &site.url(path), "--json"], &FAST[..], more].concat())
    };
    assert_ne!(compare("/old", &[]).json()["divergence"], json!(0.0));
    freshet.write("freshet.toml", "[change]\nignore = [\".clock\"]\n");
    let found = compare("/old", &[]).json();
    assert_eq!((&found["divergence"], &found["b"]), (&json!(0.0), &json!(site.url("/old"))));

    assert_refused(&compare("/no", &[]), 1, &["robots.txt", "/no"]);
    assert_refused(&compare("/gone", &[]), 1, &["404", "/gone"]);
    assert_refused(&compare("/image", &[]), 1, &["is no text", "/image"]);
    assert_refused(&compare("/soft", &[]), 1, &["says that there is none"]);
    assert!(!site.log().asked("/no"), "{:?}", site.log().paths());
    let strict = freshet.run(&["compare", "a.txt", &site.url("/new")]);
    assert_refused(&strict, 1, &["private", "--allow-private"]);
    assert_nothing_stored(&freshet);
}

#[test]
fn two_pages_of_one_host_are_asked_for_with_a_pause() {
    let site = Site::start();
    site.page("/a", links_page("one", &["/b"]));
    site.page("/b", links_page("one", &["/b"]));
    let freshet = Freshet::new();
    let (a, b) = (site.url("/a"), site.url("/b"));
    let found = freshet.json(&["compare", &a, &b, "--json", "--allow-private", "--delay", "0.2"]);
    assert_eq!(found["divergence"], json!(0.0));
    assert_eq!(site.log().count("/robots.txt"), 1, "{:?}", site.log().paths());
    site.log().assert_polite(0, 0.2);
}
