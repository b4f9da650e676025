//! Settings that don't bite: a file to start from, what holds and why, and a word about everything that has no effect.

use crate::support::{FAST, Freshet, Ran, Reply, Running, Site};
use std::fs::File;
use std::process::Command;
use std::time::Duration;

/// A busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn run(command: Command) -> Ran {
    Running::start(command).wait(PATIENCE)
}

/// Runs a shell line in the folder, with the binary as `$FRESHET`.
#[track_caller]
fn shell(freshet: &Freshet, line: &str) -> Ran {
    let binary = freshet.command();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(freshet.path(".")).env("BINARY", binary.get_program());
    run(command)
}

#[track_caller]
fn read(freshet: &Freshet, name: &str) -> String {
    std::fs::read_to_string(freshet.path(name)).expect("the file is there")
}

#[test]
fn init_writes_a_file_that_changes_nothing_and_never_overwrites_one() {
    let freshet = Freshet::new();
    let before = freshet.run(&["config"]);
    let ran = freshet.run(&["init"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.output());
    let text = read(&freshet, "freshet.toml");
    for line in
        ["[crawl]", "#delay = 1", "#budget = 1000", "#every = \"1d\"", "#body_bytes = 8388608", "[site."]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(
        !text.contains("#address_rate") && !text.contains("utm_"),
        "derived settings have no line\n{text}"
    );
    let after = freshet.run(&["config"]);
    let settings = |ran: &Ran| ran.stdout.lines().skip(2).collect::<Vec<_>>().join("\n");
    assert_eq!(settings(&after), settings(&before), "the file changes nothing");

    freshet.write("freshet.toml", "[crawl]\ndelay = 5\n");
    let ran = freshet.run(&["init"]);
    assert_eq!(ran.code, Some(1), "{}", ran.output());
    for said in ["error: `freshet.toml` exists and is not overwritten", "hint: `freshet init --out FILE`"] {
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
    assert_eq!(read(&freshet, "freshet.toml"), "[crawl]\ndelay = 5\n");
    assert_eq!(freshet.run(&["init", "--out", "other.toml"]).code, Some(0));
    assert_eq!(read(&freshet, "other.toml"), text);
    assert_eq!(freshet.run(&["init", "--out", "-"]).stdout, text);
    assert_eq!(freshet.run(&["init", "--out", "no/such/folder.toml"]).code, Some(1));
}

#[test]
fn config_says_where_each_value_comes_from() {
    let freshet = Freshet::new();
    freshet
        .write("freshet.toml", "store = 'my.db'\n\n[crawl]\n# a pause\ndelay = 0.5\nobjective = 'changes'\n");
    let mut command = freshet.command();
    command
        .args(["config", "--budget", "7"])
        .env("FRESHET_SCOPE", "domain")
        .env("FRESHET_IGNORE_NOFOLLOW", "0");
    let told = run(command).stdout;
    for (setting, source) in [
        ("store = \"my.db\"", "# from freshet.toml:1"),
        ("delay = 0.5", "# from freshet.toml:5"),
        ("objective = \"changes\"", "# from freshet.toml:6"),
        ("budget = 7", "# flag --budget"),
        ("scope = \"domain\"", "# from FRESHET_SCOPE"),
        ("# follow_nofollow = false", "# default"),
        ("# concurrency = 64", "# default"),
        ("# address_rate = 8.0", "# derived: 4 / delay"),
        ("# policy = \"change-probability\"", "# derived: by objective"),
        ("# max_depth", "# not set"),
    ] {
        let line = told.lines().find(|line| line.starts_with(&format!("{setting} ")));
        assert!(line.is_some_and(|line| line.ends_with(source)), "{setting} {source}\n{told}");
    }
    let json = freshet.json(&["config", "--json", "--budget", "7"]);
    assert_eq!(
        json["crawl"]["budget"],
        serde_json::json!({ "value": 7, "source": "flag", "from": "--budget" })
    );
    assert_eq!(json["crawl"]["delay"]["from"], "freshet.toml:5");
    assert_eq!(json["crawl"]["address_rate"]["source"], "derived");
    assert_eq!(json["crawl"]["max_depth"]["source"], "unset");
}

#[test]
fn a_saved_config_freezes_nothing_that_is_derived() {
    let freshet = Freshet::new();
    freshet.write("first.toml", "[crawl]\ndelay = 2\n");
    let saved = freshet.run(&["config", "--config", "first.toml"]).stdout;
    freshet.write("freshet.toml", saved);
    let settings = freshet.json(&["config", "--json", "--delay", "0"]);
    assert_eq!(settings["crawl"]["address_rate"]["value"], 0.0, "it follows the delay of the flag");
    assert_eq!(settings["crawl"]["drop_parameters"]["source"], "default");
}

#[test]
fn config_refuses_to_write_over_the_file_that_it_reads() {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\ndelay = 5\n");
    let ran = shell(&freshet, "\"$BINARY\" config > freshet.toml");
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    for said in
        ["standard output is `freshet.toml`", "emptied", "hint: restore", "freshet init", "draft.toml"]
    {
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.output());
    }
    // The shell has emptied it: nothing else was written, so that the loss is seen.
    assert_eq!(read(&freshet, "freshet.toml"), "");
    freshet.write("freshet.toml", "[crawl]\ndelay = 5\n");
    assert_eq!(shell(&freshet, "\"$BINARY\" config >> ./freshet.toml").code, Some(2));
    assert_eq!(read(&freshet, "freshet.toml"), "[crawl]\ndelay = 5\n");
    let ran = shell(&freshet, "\"$BINARY\" config > draft.toml");
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert!(read(&freshet, "draft.toml").contains("delay = 5.0"));
    assert!(File::open(freshet.path("freshet.toml")).is_ok());
}

#[test]
fn a_variable_that_is_no_setting_is_told() {
    let freshet = Freshet::new();
    let with = |arguments: &[&str]| {
        let mut command = freshet.command();
        command.args(arguments).env("FRESHET_DELYA", "3").env("FRESHET_MY_KEY", "x");
        run(command)
    };
    let ran = with(&["config"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    for said in [
        "warning: the environment variable `FRESHET_DELYA` is no setting; did you mean `FRESHET_DELAY`?\n",
        "warning: the environment variable `FRESHET_MY_KEY` is no setting; docs/settings.md lists them\n",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.output());
    }
    assert_eq!(with(&["config", "-q"]).stderr, "");
    // A variable that goes into a header is in use.
    freshet.write("freshet.toml", "[site.\"a.example\"]\nheaders = { X-Key = \"$FRESHET_MY_KEY\" }\n");
    assert!(!with(&["config"]).stderr.contains("FRESHET_MY_KEY"));
}

#[test]
fn a_section_of_a_site_that_matches_nothing_is_told_once() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[site.\"127.0.0.9\"]\ndelay = 9\n[site.\"127.0.0.1\"]\ndelay = 0\n");
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = [&["crawl", "--cycles", "2", "--seeds", &seeds], &FAST[..]].concat();
    let plan = ["plan", "--delay", "0"];
    let once = [&["monitor", "--once"], &FAST[..]].concat();
    for arguments in [&crawl[..], &plan[..], &once[..]] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        let told =
            ran.stderr.matches("warning: [site.\"127.0.0.9\"] matches no seed and no known host").count();
        assert_eq!(told, 1, "{}", ran.output());
        assert!(ran.stderr.contains("did you mean `127.0.0.1`?"), "{}", ran.output());
        assert!(!ran.stderr.contains("[site.\"127.0.0.1\"]"), "{}", ran.output());
    }
}

#[test]
fn mistakes_are_told_in_plain_words_with_the_nearest_name() {
    let freshet = Freshet::new();
    for (arguments, said) in [
        (&["crawl", "--delay", "abc"][..], "error: delay is `abc`; it must be a number of seconds from 0"),
        (
            &["crawl", "--delay", "-1"],
            "error: delay is `-1`; it must be a number of seconds from 0 to 1000000000, and can't be negative",
        ),
        (&["crawl", "--max-depth", "-1"], "error: max_depth is `-1`; it must be a whole number, 0 or more"),
        (
            &["crawl", "--max-depth", "deep"],
            "error: max_depth is `deep`; it must be a whole number, 0 or more",
        ),
        (&["crawl", "--on-change-timeout", "long"], "it must be a number of seconds"),
        (&["crawl", "--policy", "longevty"], "there is no policy `longevty`; did you mean `longevity`"),
        (&["crawl", "--policy", "utility:gama"], "there is no estimator `gama`; did you mean `gamma`"),
        (&["crawl", "--weight", "pagerang"], "weight is `pagerang`; did you mean `pagerank`?"),
        (&["status", "--hosts", "many"], "--hosts is `many`; it must be a whole number, 0 or more"),
        (&["web", "--port", "99999"], "--port is `99999`; it must be a whole number from 0 to 65535"),
        (&["export", "--format", "brcd", "--out", "x"], "brdc"),
        (&["pages", "--state", "gon"], "did you mean `gone`"),
    ] {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}\n{}", ran.output());
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.output());
        assert!(!ran.stderr.contains("literal") && !ran.stderr.contains("digit"), "{}", ran.output());
        // A policy that is wrong is not answered with all of them.
        assert!(!ran.stderr.contains("`nutch`"), "{}", ran.output());
    }
}

#[test]
fn stderr_has_one_voice() {
    let site = Site::start();
    site.page("/robots.txt", Reply::text("User-agent: *\nCrawl-delay: 300\n"));
    site.page("/", "home");
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = [&["crawl", "--seeds", &seeds], &FAST[..]].concat();
    let ran = freshet.run(&crawl);
    let line = ran.stderr.lines().find(|line| line.contains("robots.txt asks for 300 s"));
    let line = line.unwrap_or_else(|| panic!("{}", ran.output()));
    assert!(line.starts_with("warning: robots.txt asks for 300 s"), "{line}");
    assert!(line.contains(&format!("host {}", site.origin(0))), "{line}");
    assert!(!ran.stderr.contains("WARN"), "{}", ran.output());
    let logged = freshet.run(&[&crawl[..], &["-v"]].concat());
    assert!(logged.stderr.contains("Z  INFO "), "with -v it is a log\n{}", logged.output());
}

#[test]
fn every_command_has_a_man_page() {
    let freshet = Freshet::new();
    let ran = freshet.run(&["man"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    for words in [".TH freshet 1", "freshet\\-crawl(1)", "\\-\\-store"] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    std::fs::create_dir(freshet.path("man1")).expect("a folder");
    assert_eq!(freshet.run(&["man", "--out", "man1"]).code, Some(0));
    for (page, words) in [
        ("freshet.1", "freshet"),
        ("freshet-crawl.1", "\\-\\-budget"),
        ("freshet-store-rebuild.1", "\\-\\-check"),
    ] {
        assert!(read(&freshet, &format!("man1/{page}")).contains(words), "{page}");
    }
    // One folder is made, not the folders above it.
    assert_eq!(freshet.run(&["man", "--out", "no/where"]).code, Some(1));
}
