//! What the command line takes, what it says, and where: data on stdout, talk on stderr, mistakes with their repair.

use crate::support::{FAST, Freshet, Ran, Reply, Running, Site, links_page};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Ten seconds are enough for any of these; a busy machine may take more.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn crawl(freshet: &Freshet, flags: &[&str]) -> Ran {
    freshet.run(&[&["crawl", "--no-sitemaps"], &FAST[..], flags].concat())
}

/// Runs a command that was made ready by hand.
#[track_caller]
fn run(command: Command) -> Ran {
    Running::start(command).wait(PATIENCE)
}

/// The mistake is named, with what it was made in, and the exit code says who made it.
#[track_caller]
fn assert_refused(ran: &Ran, code: i32, said: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.output());
    for words in said {
        assert!(ran.stderr.contains(words), "`{words}` is not said\n{}", ran.output());
    }
    assert_eq!(ran.stdout, "", "nothing but data goes to stdout\n{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

// --- the seeds file --------------------------------------------------------------------------------------------

const BAD_SEEDS: &str = "\
# a comment, and a blank line

htp://example.org/
http://127.0.0.1:1/fine\tweight=2
http://reader:secret@example.org/
https://example.org/\tdepth=deep
https://example.org/\tcolour=blue
just some words
";

#[test]
fn every_bad_seed_is_told_at_once_with_its_place_and_its_repair() {
    let freshet = Freshet::new();
    freshet.write("bad.txt", BAD_SEEDS);
    let ran = crawl(&freshet, &["--seeds", "bad.txt"]);
    assert_refused(
        &ran,
        2,
        &["bad.txt:3:", "`htp`", "bad.txt:5:", "bad.txt:6:", "`deep`", "bad.txt:7:", "`colour`"],
    );
    assert!(ran.stderr.contains("bad.txt:8:"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("bad.txt:4:"), "a good line is not complained of\n{}", ran.stderr);
    assert!(!ran.stderr.contains("secret"), "a password is not repeated\n{}", ran.stderr);
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("hint:")).count(), 5, "{}", ran.stderr);
    assert!(ran.stderr.contains("--skip-bad-seeds"), "{}", ran.stderr);
    assert!(!freshet.path("freshet.db").exists(), "nothing was begun");
}

#[test]
fn bad_seeds_are_told_however_quiet_it_has_to_be() {
    let freshet = Freshet::new();
    freshet.write("bad.txt", BAD_SEEDS);
    let ran = crawl(&freshet, &["--seeds", "bad.txt", "-q"]);
    assert_refused(&ran, 2, &["bad.txt:3:", "bad.txt:8:"]);
}

#[test]
fn bad_seeds_can_be_skipped() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    freshet.write("some.txt", format!("htp://example.org/\n{}\n", site.url("/")));
    let ran = crawl(&freshet, &["--seeds", "some.txt", "--skip-bad-seeds"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stderr.contains("warning: some.txt:1:"), "{}", ran.stderr);
    assert_eq!(site.log().paths(), ["/robots.txt", "/"]);
}

#[test]
fn a_seeds_file_says_what_each_seed_is_worth() {
    let site = Site::start();
    site.page("/", "home");
    site.page("/plain", "plain");
    let freshet = Freshet::new();
    let lines = format!(
        "\u{feff}# seeds\r\n{}\tweight=2.5\tdepth=0\r\n\r\n{}   # why not\r\n",
        site.url("/"),
        site.url("/plain")
    );
    freshet.write("seeds.txt", lines);
    assert_eq!(crawl(&freshet, &["--seeds", "seeds.txt"]).code, Some(0));
    let rows = freshet.run(&["pages", "--json"]).stdout;
    let weights: Vec<Value> =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).expect("JSON")["weight"].clone()).collect();
    assert_eq!(weights, [json!(2.5), json!(1.0)]);
}

#[test]
fn seeds_can_come_from_standard_input() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let with_input = |text: String| {
        freshet.write("input", text);
        let mut command = freshet.command();
        command.args(["crawl", "--seeds", "-", "--no-sitemaps"]).args(FAST);
        command.stdin(std::fs::File::open(freshet.path("input")).expect("it was just written"));
        run(command)
    };
    let ran = with_input("http//\n".to_owned());
    assert_refused(&ran, 2, &["<stdin>:1:"]);
    let ran = with_input(site.url("/") + "\n");
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(site.log().paths(), ["/robots.txt", "/"]);
}

#[test]
fn a_bare_host_means_https() {
    let site = Site::start();
    site.page("/", "spoken in the clear");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\n[limits]\nconnect_seconds = 1\n");
    let bare = site.origin(0).replace("http://", "");
    let seeds = freshet.seeds(&[bare.as_str()]);
    let ran = crawl(&freshet, &["--seeds", &seeds]);
    assert_eq!(ran.code, Some(1), "nothing could be fetched\n{}", ran.output());
    assert!(ran.stderr.contains("nothing could be fetched"), "{}", ran.output());
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["hosts"][0]["host"], format!("https://{bare}"));
    assert!(status["hosts"][0]["waiting_for"].is_string(), "why it waits is told: {status:#}");
    assert!(site.log().hits().iter().all(|hit| hit.status != 200), "nothing was asked in the clear");
}

#[test]
fn a_seeds_file_without_seeds_is_a_mistake() {
    let freshet = Freshet::new();
    freshet.write("empty.txt", "");
    assert_refused(&crawl(&freshet, &["--seeds", "empty.txt"]), 2, &["`empty.txt`", "a URL a line"]);
    freshet.write("comments.txt", "# nothing\n\n   \n# at all\n");
    assert_refused(&crawl(&freshet, &["--seeds", "comments.txt"]), 2, &["`comments.txt`"]);
    assert_refused(&crawl(&freshet, &["--seeds", "missing.txt"]), 2, &["`missing.txt`", "can't be read"]);
    assert_refused(&crawl(&freshet, &["--seeds", "."]), 2, &["can't be read"]);
    assert!(!freshet.path("freshet.db").exists());
}

#[test]
fn without_seeds_and_without_a_store_there_is_advice() {
    let freshet = Freshet::new();
    assert_refused(&crawl(&freshet, &[]), 2, &["`freshet.db`", "--seeds FILE"]);
    assert!(!freshet.path("freshet.db").exists(), "looking for it did not make it");
    freshet.write("freshet.db", "");
    assert_refused(&crawl(&freshet, &[]), 2, &["--seeds FILE"]);
}

// --- wrongly called --------------------------------------------------------------------------------------------

#[test]
fn wrong_flags_are_named_before_anything_begins() {
    let site = Site::start();
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let cases: [(&[&str], &str); 12] = [
        (&["--dealy", "1"], "--dealy"),
        (&["--delay=-1"], "delay"),
        (&["--delay=soon"], "soon"),
        (&["--delay=nan"], "delay"),
        (&["--delay=inf"], "delay"),
        (&["--concurrency=0"], "concurrency"),
        (&["--concurrency=many"], "many"),
        (&["--budget=0"], "budget"),
        (&["--cycles=-2"], "-2"),
        (&["--scope=galaxy"], "galaxy"),
        (&["--include=("], "regular expression"),
        (&["--policy=psychic"], "psychic"),
    ];
    for (flags, said) in cases {
        let ran = freshet.run(&[&["crawl", "--seeds", &seeds, "--allow-private"], flags].concat());
        assert_refused(&ran, 2, &[said]);
    }
    let ran = freshet.run(&["crawl", "--seeds", &seeds, "--allow-private=10.0.0.0/99"]);
    assert_refused(&ran, 2, &["10.0.0.0/99"]);
    assert_refused(&freshet.run(&["crowl"]), 2, &["crowl"]);
    assert_refused(&freshet.run(&[]), 2, &["Usage"]);
    assert_eq!(site.log().total(), 0);
    assert!(!freshet.path("freshet.db").exists());
}

#[test]
fn a_wrong_variable_of_the_environment_is_named() {
    let freshet = Freshet::new();
    let mut command = freshet.command();
    command.args(["config"]).env("FRESHET_DELAY", "soon");
    assert_refused(&run(command), 2, &["soon", "delay"]);
}

#[test]
fn a_wrong_settings_file_is_told_with_its_line() {
    let freshet = Freshet::new();
    let cases: [(&str, &[&str]); 11] = [
        ("[crawl]\ndelay = \n", &["freshet.toml", "line 2"]),
        ("[crawl]\n\ndelai = 1\n", &["freshet.toml", "line 3", "delai"]),
        ("[limits]\nurl_length = -5\n", &["freshet.toml", "line 2"]),
        ("[crawl]\nscope = \"planet\"\n", &["freshet.toml", "line 2", "planet"]),
        ("[crawl]\nexclude = [\"[\"]\n", &["exclude", "regular expression"]),
        ("[site.\"not a host\"]\ndelay = 1\n", &["not a host"]),
        ("[change]\nignore = [\"div[\"]\n", &["[change] ignore", "`div[` is no CSS selector"]),
        ("[change]\nsketch = \"some\"\n", &["sketch", "`some`", "`all`"]),
        ("[site.\"a.org\"]\nonly = [\"p >\"]\n", &["[site.\"a.org\"] only", "`p >` is no CSS selector"]),
        (
            "[site.\"a.org\"]\nignore_text = [\"(\"]\n",
            &["a.org", "ignore_text", "`(` is no regular expression"],
        ),
        (
            "[site.\"a.org\"]\nchanged = \"often\"\n",
            &["[site.\"a.org\"] changed", "`often`", "divergence > 0.02"],
        ),
    ];
    for (text, said) in cases {
        freshet.write("freshet.toml", text);
        assert_refused(&freshet.run(&["config"]), 2, said);
        assert_refused(&crawl(&freshet, &[]), 2, said);
    }
    let ran = freshet.run(&["config", "--config", "nowhere.toml"]);
    assert_refused(&ran, 2, &["`nowhere.toml`", "can't be read"]);
}

/// A section of `freshet config --json` without the sources.
fn values(section: &Value) -> Value {
    let settings = section.as_object().expect("a section").iter();
    settings.map(|(key, setting)| (key.clone(), setting["value"].clone())).collect()
}

// --- settings --------------------------------------------------------------------------------------------------

#[test]
fn flags_stand_over_environment_over_file_over_defaults() {
    let freshet = Freshet::new();
    let setting = |arguments: &[&str], variable: Option<&str>| -> Value {
        let mut command = freshet.command();
        command.args(["config", "--json"]).args(arguments);
        if let Some(value) = variable {
            command.env("FRESHET_DELAY", value);
        }
        run(command).json()["crawl"]["delay"]["value"].clone()
    };
    assert_eq!(setting(&[], None), 1.0);
    freshet.write("freshet.toml", "[crawl]\ndelay = 2\n");
    assert_eq!(setting(&[], None), 2.0);
    assert_eq!(setting(&[], Some("3")), 3.0);
    assert_eq!(setting(&["--delay", "4"], Some("3")), 4.0);
    freshet.write("other.toml", "[crawl]\ndelay = 5\n");
    assert_eq!(setting(&["--config", "other.toml"], None), 5.0);
}

#[test]
fn how_changes_are_told_is_a_setting() {
    let freshet = Freshet::new();
    let none: [&str; 0] = [];
    assert_eq!(
        values(&freshet.json(&["config", "--json"])["change"]),
        json!({ "fragment_words": 4, "sketch": 250, "hash_bytes": 4, "profiles": 5, "changed": "text", "ignore": none, "only": none,
            "ignore_text": none, "text_seconds": 30.0, "text": {} })
    );
    let flags =
        ["--fragment-words", "8", "--sketch", "all", "--profiles", "1", "--changed", "divergence>0.1"];
    let given = values(&freshet.json(&[&["config", "--json"], &flags[..]].concat())["change"]);
    assert_eq!((&given["fragment_words"], &given["sketch"]), (&json!(8), &json!("all")));
    assert_eq!((&given["profiles"], &given["changed"]), (&json!(1), &json!("divergence>0.1")));
    for (flag, value) in [
        ("--fragment-words", "0"),
        ("--sketch", "0"),
        ("--hash-bytes", "5"),
        ("--profiles", "33"),
        ("--changed", "x"),
    ] {
        let name = flag.trim_start_matches('-').replace('-', "_");
        assert_refused(&freshet.run(&["config", flag, value]), 2, &[&name, &format!("`{value}`")]);
    }
}

#[test]
fn switches_and_lists_can_be_set_by_the_environment() {
    let freshet = Freshet::new();
    let mut command = freshet.command();
    command.args(["config", "--json"]);
    command.envs([
        ("FRESHET_STORE", "elsewhere.db"),
        ("FRESHET_NO_SITEMAPS", "true"),
        ("FRESHET_IGNORE_NOFOLLOW", "true"),
        ("FRESHET_ALLOW_PRIVATE", "10.0.0.0/8,192.168.0.0/16"),
        ("FRESHET_EXCLUDE", "one\ntwo,three"),
        ("FRESHET_BUDGET", "100"),
        ("FRESHET_SCOPE", "domain"),
    ]);
    let settings = run(command).json();
    assert_eq!(settings["store"]["value"], "elsewhere.db");
    let crawl = values(&settings["crawl"]);
    assert_eq!((&crawl["sitemaps"], &crawl["follow_nofollow"]), (&json!(false), &json!(true)));
    assert_eq!(crawl["allow_private"], json!(["10.0.0.0/8", "192.168.0.0/16"]));
    assert_eq!(crawl["exclude"], json!(["one", "two,three"]));
    assert_eq!((&crawl["budget"], &crawl["scope"]), (&json!(100), &json!("domain")));

    let mut command = freshet.command();
    command.args(["config", "--json"]).env("FRESHET_ALLOW_PRIVATE", "1");
    assert_eq!(run(command).json()["crawl"]["allow_private"]["value"], true);
}

#[test]
fn what_config_prints_is_a_settings_file() {
    let freshet = Freshet::new();
    let section = "[site.\"example.org\"]\ndelay = 3.5\nexclude = [\"/private\"]\nbudget = 10\nuser_agent = \"freshet-test\"\n\
                   [site.\"example.org\".headers]\nAccept-Language = \"en\"\n";
    freshet.write("freshet.toml", section);
    let flags = [
        "--delay",
        "0.25",
        "--budget",
        "7",
        "--include",
        r"\.html?$",
        "--contact",
        "https://example.org/bot",
    ];
    let printed = freshet.run(&[&["config"], &flags[..]].concat());
    assert_eq!(printed.code, Some(0), "{}", printed.output());
    // A header's value is not printed, and what stands for it is not taken for a value.
    freshet.write("printed.toml", &printed.stdout);
    let refused = freshet.run(&["config", "--config", "printed.toml"]);
    assert_refused(&refused, 2, &["printed.toml", "Accept-Language", "`***`"]);
    freshet.write("printed.toml", printed.stdout.replace("\"***\"", "\"en\""));
    let again = freshet.run(&["config", "--config", "printed.toml"]);
    assert_eq!(again.code, Some(0), "{}", again.output());
    let settings = |config: &[&str]| {
        let settings = freshet.json(&[&["config", "--json"], config].concat());
        let sites = settings["site"].as_object().expect("sites").values().map(values).collect::<Value>();
        (["crawl", "limits", "change", "search"].map(|section| values(&settings[section])), sites)
    };
    assert_eq!(settings(&["--config", "printed.toml"]), settings(&flags[..]));
    for said in ["delay = 0.25", "budget = 7", "[site.\"example.org\"]", "https://example.org/bot"] {
        assert!(printed.stdout.contains(said), "{said}\n{}", printed.stdout);
    }
}

#[test]
fn completions_come_for_each_shell() {
    let freshet = Freshet::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = freshet.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}\n{}", ran.output());
        for word in ["crawl", "status", "pages", "skip-bad-seeds"] {
            assert!(ran.stdout.contains(word), "{shell} does not know `{word}`");
        }
        assert_eq!(ran.stderr, "");
        for value in ["longevity", "oracles", "soft-missing", "failing", "lambdacrawl", "pagerank", "gamma"] {
            assert!(ran.stdout.contains(value), "{shell} does not complete `{value}`");
        }
    }
    assert_refused(&freshet.run(&["completions", "dos"]), 2, &["dos"]);
}

#[test]
fn help_and_version_are_data() {
    let freshet = Freshet::new();
    let ran = freshet.run(&["--version"]);
    assert_eq!((ran.code, ran.stdout.starts_with("freshet ")), (Some(0), true), "{}", ran.output());
    let ran = freshet.run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    for word in ["crawl", "status", "pages", "config", "completions", "--store"] {
        assert!(ran.stdout.contains(word), "{word}\n{}", ran.stdout);
    }
    assert!(freshet.run(&["crawl", "--help"]).stdout.contains("--max-pages-per-host"));
}

// --- who says what where ---------------------------------------------------------------------------------------

#[test]
fn json_stands_alone_on_stdout_and_talk_on_stderr() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = crawl(&freshet, &["--seeds", &seeds, "--json", "-v"]);
    let summary = ran.json();
    assert_eq!(summary["succeeded"], 1);
    for field in [
        "requests",
        "received_bytes",
        "new_pages",
        "changed",
        "unchanged",
        "failed",
        "elapsed_seconds",
        "known_urls",
        "refused_links",
    ] {
        assert!(!summary[field].is_null(), "{field}: {summary:#}");
    }
    assert!(ran.stderr.contains("--contact"), "{}", ran.stderr);

    let ran = crawl(&freshet, &[]);
    assert!(ran.stdout.starts_with("crawl"), "without --json it is a table\n{}", ran.stdout);
}

#[test]
fn quiet_says_nothing_at_all() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = crawl(&freshet, &["--seeds", &seeds, "--json", "-q"]);
    assert_eq!(ran.json()["succeeded"], 1);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_long_crawl_reports_by_lines_where_there_is_no_terminal() {
    let site = Site::start();
    site.page("/", links_page("home", &["/slow"]));
    site.page("/slow", Reply::html("slow").delay(Duration::from_millis(6_500)));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = crawl(&freshet, &["--seeds", &seeds, "--contact", "https://example.org/bot"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(ran.stderr.lines().count(), 1, "a line every five seconds\n{}", ran.stderr);
    for word in ["1 of 2 pages", "fetched 1", "new 1", "unchanged 0", "failed 0", "req/s", "hosts waiting"] {
        assert!(ran.stderr.contains(word), "{word}\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'), "no colours, no cursor\n{}", ran.stderr);
}

#[test]
fn a_run_with_nothing_to_do_says_so() {
    let site = Site::start();
    site.page("/", Reply::status(403, "no"));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    for _ in 0..2 {
        assert_eq!(crawl(&freshet, &["--seeds", &seeds]).code, Some(1), "nothing could be fetched");
    }
    let ran = crawl(&freshet, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(ran.stderr.contains("nothing was due"), "{}", ran.output());
}

#[test]
fn a_budget_that_robots_eats_up_is_no_failure() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = crawl(&freshet, &["--seeds", &seeds, "--budget", "1"]);
    assert_eq!(ran.code, Some(0), "the page was put off, it did not fail\n{}", ran.output());
    assert_eq!(site.log().paths(), ["/robots.txt"]);
    assert_eq!(crawl(&freshet, &["--budget", "1", "--json"]).json()["succeeded"], 1);
}

// --- pages and status ------------------------------------------------------------------------------------------

/// Two hosts: alive, missing, failing, blocked, redirected, deep and new pages.
fn varied() -> (Site, Freshet) {
    let site = Site::with_hosts(2);
    site.page("/robots.txt", Reply::text("User-agent: *\nDisallow: /closed\n"));
    site.page_on(
        0,
        "/",
        links_page("home", &["/a", "/lost", "/forbidden", "/closed", "/elsewhere", "/image.png"]),
    );
    site.page_on(0, "/a", links_page("a, with a comma", &["/a/deep,er"]));
    site.page_on(0, "/a/deep,er", "deep");
    site.page_on(0, "/forbidden", Reply::status(403, "no"));
    site.page_on(0, "/elsewhere", Reply::redirect(302, "/a"));
    site.page_on(0, "/image.png", Reply::bytes("image/png", vec![0; 2048]));
    site.page_on(1, "/", "the other host");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/"), site.url_on(1, "/")]);
    assert_eq!(crawl(&freshet, &["--seeds", &seeds]).code, Some(0));
    (site, freshet)
}

fn rows(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|row| serde_json::from_str(row).expect("a line of JSON")).collect()
}

#[test]
fn pages_are_listed_by_what_is_asked_for() {
    let (site, freshet) = varied();
    let listed = |flags: &[&str]| -> Vec<String> {
        let ran = freshet.run(&[&["pages", "--json"], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        rows(&ran)
            .iter()
            .filter_map(|row| row["url"].as_str())
            .map(|url| url.replace(&site.origin(0), "0").replace(&site.origin(1), "1"))
            .collect()
    };
    assert_eq!(listed(&[]).len(), 9);
    assert_eq!(listed(&["--state", "missing"]), ["0/lost"]);
    assert_eq!(listed(&["--state", "failing"]), ["0/forbidden"]);
    assert_eq!(listed(&["--state", "blocked"]), ["0/closed"]);
    assert_eq!(listed(&["--state", "redirected"]), ["0/elsewhere"]);
    assert_eq!(listed(&["--state", "alive"]), ["0/", "1/", "0/a", "0/image.png", "0/a/deep,er"]);
    assert_eq!(listed(&["--state", "gone"]), [""; 0]);
    assert_eq!(listed(&["--outcome", "http-error"]), ["0/forbidden"]);
    assert_eq!(listed(&["--outcome", "robots"]), ["0/closed"]);
    assert_eq!(listed(&["--url", "deep"]), ["0/a/deep,er"]);
    assert_eq!(listed(&["--host", "127.0.0.2"]), ["1/"]);
    assert_eq!(listed(&["--host", site.origin(1).as_str()]), ["1/"]);
    assert_eq!(listed(&["--host", site.origin(1).trim_start_matches("http://")]), ["1/"]);
    assert_eq!(listed(&["--max-depth", "0"]), ["0/", "1/"]);
    assert_eq!(listed(&["--limit", "2"]), ["0/", "1/"]);
    assert_eq!(
        listed(&["--state", "alive", "--host", "127.0.0.1", "--max-depth", "1", "--limit", "2"]),
        ["0/", "0/a"]
    );
    assert_refused(&freshet.run(&["pages", "--state", "tired"]), 2, &["--state is `tired`", "`alive`"]);
    assert_refused(&freshet.run(&["pages", "--outcome", "mising"]), 2, &["did you mean `missing`"]);
}

#[test]
fn pages_come_as_a_table_as_json_and_as_csv() {
    let (site, freshet) = varied();
    let json_rows = rows(&freshet.run(&["pages", "--format", "json"]));
    assert_eq!(json_rows, rows(&freshet.run(&["pages", "--json"])));
    let image = json_rows.iter().find(|row| row["url"] == site.url("/image.png")).expect("the image");
    assert_eq!((&image["body_bytes"], &image["content_type"]), (&json!(2048), &json!("image/png")));
    assert_eq!(
        (&image["depth"], &image["visit_count"], &image["noindex"]),
        (&json!(1), &json!(1), &json!(false))
    );
    assert!(image["last_visit_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{image}");

    let ran = freshet.run(&["pages", "--format", "csv"]);
    let mut table = csv::Reader::from_reader(ran.stdout.as_bytes());
    let heads = table.headers().expect("a heading").clone();
    let url = heads.iter().position(|head| head == "url").expect("a column of URLs");
    let urls: Vec<String> = table.records().map(|row| row.expect("a row")[url].to_owned()).collect();
    assert_eq!(urls.len(), 9);
    assert!(urls.contains(&site.url("/a/deep,er")), "commas are quoted: {urls:?}");

    let ran = freshet.run(&["pages"]);
    assert_eq!(ran.stdout.lines().count(), 10, "{}", ran.stdout);
    assert!(ran.stdout.starts_with("state"), "{}", ran.stdout);
    assert_eq!(freshet.run(&["pages", "--url", "no such"]).stdout.lines().count(), 1, "only the heading");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let site = Site::start();
    let links: Vec<String> =
        (0..1500).map(|page| format!("/a-page-with-a-rather-long-name-{page:0>40}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", links_page("home", &links));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    assert_eq!(crawl(&freshet, &["--seeds", &seeds, "--budget", "2"]).code, Some(0));
    let commands: [&[&str]; 4] =
        [&["pages"], &["pages", "--json"], &["pages", "--format", "csv"], &["completions", "bash"]];
    for arguments in commands {
        let mut command = freshet.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut first = String::new();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("a pipe"));
        reader.read_line(&mut first).expect("a line");
        drop(reader);
        let ended = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}\n{stderr}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}

#[test]
fn status_tells_of_pages_hosts_cycles_and_the_store() {
    let (site, freshet) = varied();
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["pages"]["known"], 9);
    assert_eq!(
        status["pages"]["states"],
        json!({ "alive": 5, "blocked": 1, "failing": 1, "missing": 1, "redirected": 1 })
    );
    assert_eq!(status["seed_count"], 2);
    let hosts = status["hosts"].as_array().expect("hosts");
    assert_eq!(hosts.len(), 2);
    assert_eq!(
        (&hosts[0]["host"], &hosts[0]["page_count"]),
        (&json!(site.origin(0)), &json!(8)),
        "the largest first"
    );
    assert_eq!((&hosts[0]["robots_status"], &hosts[0]["waiting_for"]), (&json!(200), &Value::Null));
    assert_eq!((&status["cycles"][0]["succeeded"], &status["cycles"][0]["failed"]), (&json!(5), &json!(2)));
    assert_eq!(status["size"]["observation_count"], 9);
    let size = std::fs::metadata(freshet.path("freshet.db")).expect("the store").len();
    assert!(status["size"]["store_bytes"].as_u64() >= Some(size), "{status:#}");

    let told = freshet.run(&["status"]).stdout;
    for words in ["9 known", "5 alive", "127.0.0.2", "calibrated", "observations"] {
        assert!(told.contains(words), "{words}\n{told}");
    }
}

#[test]
fn looking_at_a_store_that_is_not_there_says_how_to_make_one() {
    let freshet = Freshet::new();
    for command in ["status", "pages"] {
        assert_refused(&freshet.run(&[command]), 1, &["`freshet.db`", "freshet crawl --seeds FILE"]);
        assert_refused(&freshet.run(&[command, "--store", "other.db"]), 1, &["`other.db`"]);
    }
    assert!(!freshet.path("freshet.db").exists() && !freshet.path("other.db").exists());
}

#[test]
fn an_empty_store_file_is_no_store_yet() {
    let freshet = Freshet::new();
    freshet.write("freshet.db", "");
    for command in ["status", "pages"] {
        assert_refused(&freshet.run(&[command]), 1, &["`freshet.db`", "freshet crawl --seeds FILE"]);
    }
}

#[test]
fn a_store_that_is_none_is_left_as_it_is() {
    let site = Site::start();
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let letter =
        "Dear reader, this is a letter, and of some length, so that it cannot be taken for a database.\n";
    freshet.write("letter.txt", letter.repeat(20));
    let ran = crawl(&freshet, &["--seeds", &seeds, "--store", "letter.txt"]);
    assert_refused(&ran, 1, &["`letter.txt` is not a database", "--store"]);
    assert_eq!(std::fs::read_to_string(freshet.path("letter.txt")).expect("the letter"), letter.repeat(20));
    assert_refused(&freshet.run(&["status", "--store", "letter.txt"]), 1, &["not a database"]);
    let ran = crawl(&freshet, &["--seeds", &seeds, "--store", "no/such/folder/my.db"]);
    assert_refused(&ran, 1, &["no/such/folder/my.db"]);
    assert_eq!(site.log().total(), 0);
}

#[test]
fn the_store_can_be_named_by_flag_environment_and_file() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    freshet.write("freshet.toml", "store = \"by-file.db\"\n");
    assert_eq!(crawl(&freshet, &["--seeds", &seeds]).code, Some(0));
    assert!(freshet.path("by-file.db").exists() && !freshet.path("freshet.db").exists());
    assert_eq!(freshet.json(&["status", "--json"])["pages"]["known"], 1);
    let mut command = freshet.command();
    command.args(["status", "--json"]).env("FRESHET_STORE", "by-variable.db");
    assert_refused(&run(command), 1, &["by-variable.db"]);
    assert_refused(&freshet.run(&["status", "--store", "by-flag.db"]), 1, &["by-flag.db"]);
}

#[test]
fn what_the_budget_leaves_is_told_as_put_off() {
    let site = Site::start();
    let names: Vec<String> = (0..9).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    names.iter().for_each(|name| site.page(name, "a page"));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--seeds", &seeds, "--no-sitemaps", "--json", "--budget", "5"];
    let ran = freshet.run(&[&crawl[..], &FAST[..]].concat());
    // Robots.txt, home and three more of the nine.
    assert_eq!((&ran.json()["requests"], &ran.json()["put_off_by_reason"]["budget"]), (&json!(5), &json!(6)));
    assert!(ran.stderr.contains("the budget is spent; 6 pages wait for the next cycle"), "{}", ran.stderr);
}
