//! Changes as they are told: `changes`, `diff`, and a command for each of them.

use crate::stopped_and_killed::wait_until;
use crate::support::{FAST, Freshet, Ran, Reply, Running, Site, article, links_page};
use crate::what_changed::{changes, crawl, visits};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// A page of paragraphs.
fn page(paragraphs: &[&str]) -> String {
    let paragraphs: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!("<!DOCTYPE html><html><head><title>t</title></head><body>{paragraphs}</body></html>")
}

const OLD: [&str; 4] = [
    "the river is low and the boats are idle in the harbour",
    "two letters came for the old man by the bridge",
    "the market is closed until the morning after next",
    "nothing else was heard of in the whole valley",
];

fn edited() -> String {
    let rain = "the rain has come at last, <b>&lt;heavily&gt;</b> &amp; without an end, and the river rises";
    page(&[OLD[0], OLD[1], rain, OLD[2], "nothing more was heard of in the whole valley"])
}

#[track_caller]
fn crawled(freshet: &Freshet, site: &Site, times: usize, flags: &[&str]) {
    for _ in 0..times {
        crawl(freshet, &[site.url("/")], flags);
    }
}

/// The paths of what is told.
fn paths(site: &Site, told: &[Value]) -> Vec<String> {
    let path = |change: &Value| {
        let url = change["url"].as_str().expect("a URL");
        url.strip_prefix(&site.origin(0)).expect("of this site").to_owned()
    };
    told.iter().map(path).collect()
}

// --- changes ---------------------------------------------------------------------------------------------------

/// A page with a clock, one with adverts that take turns, one that was edited once, one that was rewritten, one that
/// stands still; crawled four times.
fn busy_site() -> (Site, Freshet) {
    let site = Site::start();
    site.page("/", links_page("home", &["/clock", "/advert", "/edit", "/rewritten", "/still", "/a&b"]));
    site.page(
        "/clock",
        Reply::dynamic(|request| {
            page(&[OLD[0], &format!("now it is 10 {}", 10 + request.count), OLD[1]]).into()
        }),
    );
    let advert = |request: &crate::support::Request| {
        let advert = ["buy our boats today", "new shoes for the winter", "bread from the old mill"];
        page(&[OLD[0], advert[request.count % 3], OLD[2]]).into()
    };
    site.page("/advert", Reply::dynamic(advert));
    site.page("/edit", Reply::sequence(vec![page(&OLD).into(), edited().into()]));
    site.page(
        "/rewritten",
        Reply::sequence(vec![article("one", 90, 1, &[]).into(), article("two", 90, 2, &[]).into()]),
    );
    site.page("/still", page(&OLD));
    site.page("/a&b", Reply::sequence(vec![page(&OLD).into(), edited().into()]));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 4, &[]);
    (site, freshet)
}

#[test]
fn what_changed_is_listed_the_latest_first() {
    let (site, freshet) = busy_site();
    let told = changes(&freshet, &[]);
    let mut expected: Vec<&str> = ["/clock", "/advert"].repeat(3);
    expected.extend(["/edit", "/rewritten", "/a&b"]);
    let mut found = paths(&site, &told);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let times: Vec<&str> = told.iter().filter_map(|change| change["at"].as_str()).collect();
    assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");

    let edit = told.iter().find(|change| change["url"] == site.url("/edit")).expect("the edit");
    assert_eq!(
        edit["added"][0],
        "the rain has come at last, <heavily> & without an end, and the river rises"
    );
    assert!(edit["words_added"].as_u64() > Some(10), "{edit}");
    assert_eq!(edit["words_removed"], 1, "{edit}");
    assert!(edit["divergence"].as_f64().is_some_and(|apart| apart > 0.1 && apart < 0.9), "{edit}");
    let visits = visits(&freshet).remove(&site.url("/edit")).expect("visits");
    assert_eq!(edit["version_id"], json!(visits[1].version.map(|version| version.0)));
    assert_eq!(edit["previous_version_id"], json!(visits[0].version.map(|version| version.0)));
    assert_eq!(edit["previous_at"], json!(visits[0].at));

    let table = freshet.run(&["changes", "--kind", "changed"]);
    assert_eq!(table.code, Some(0), "{}", table.output());
    assert_eq!(table.stdout.lines().filter(|line| line.contains("http://")).count(), told.len());
    assert!(table.stdout.contains("the rain has come at last"), "{}", table.stdout);

    assert_eq!(paths(&site, &changes(&freshet, &["--min-divergence", "0.9"])), ["/rewritten"]);
    assert_eq!(changes(&freshet, &["--limit", "2"]), told[..2]);
    assert_eq!(changes(&freshet, &["--limit", "0"]), told, "0 is no limit");
    assert_eq!(freshet.run(&["changes", "--kind", "changed", "--limit", "0"]).stdout, table.stdout);
    let origin = site.origin(0);
    let name_and_port = origin.strip_prefix("http://").expect("an origin");
    for host in ["127.0.0.1", &origin, name_and_port, &origin.to_uppercase()] {
        assert_eq!(changes(&freshet, &["--host", host]), told, "{host}");
    }
    for host in ["example.org", "127.0.0.1:1", "https://127.0.0.1"] {
        let unknown = freshet.run(&["changes", "--host", host]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""), "{host}: {}", unknown.output());
        assert!(unknown.stderr.contains(&format!("the store has no host `{host}`")), "{}", unknown.stderr);
    }
    let wrong = freshet.run(&["changes", "--host", "no host"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
    assert!(wrong.stderr.contains("`no host`"), "{}", wrong.stderr);
}

#[test]
fn a_change_that_lasted_is_told_from_a_clock_and_an_advert() {
    let (site, freshet) = busy_site();
    let lasting = changes(&freshet, &["--lasting"]);
    let lasting_paths: BTreeSet<String> = paths(&site, &lasting).into_iter().collect();
    assert_eq!(lasting_paths, BTreeSet::from(["/a&b", "/edit", "/rewritten"].map(str::to_owned)));
    assert_eq!(lasting.len(), 3);
    assert_eq!(changes(&freshet, &["--lasting", "--limit", "1"]), lasting[..1]);

    // What no later visit has seen is not known to last.
    site.page("/still", edited());
    crawled(&freshet, &site, 1, &[]);
    assert!(!paths(&site, &changes(&freshet, &["--lasting"])).contains(&"/still".to_owned()));
    crawled(&freshet, &site, 1, &[]);
    assert!(paths(&site, &changes(&freshet, &["--lasting"])).contains(&"/still".to_owned()));
}

#[test]
fn what_lasts_is_measured_in_fragments_as_the_crawl_took_them() {
    let site = Site::start();
    let turns = [("ten", "rain"), ("eleven", "snow"), ("twelve", "snow")];
    let turn = |(clock, word): (&str, &str)| -> Reply {
        page(&[&format!("now it is {clock} and there is {word} here")]).into()
    };
    site.page("/", Reply::sequence(turns.map(turn).into()));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 3, &["--fragment-words", "1"]);
    // By the word, the snow lasts. Of the fragments of four that it came with, too few do: the clock is near.
    assert_eq!(changes(&freshet, &["--lasting", "--fragment-words", "1"]).len(), 1);
    assert_eq!(changes(&freshet, &["--lasting"]).len(), 0);
    let by_environment = |words: &str, arguments: &[&str]| {
        let mut command = freshet.command();
        command.args(arguments).env("FRESHET_FRAGMENT_WORDS", words);
        Running::start(command).wait(Duration::from_secs(60))
    };
    assert_eq!(
        by_environment("1", &["changes", "--kind=changed", "--lasting", "--json"]).stdout.lines().count(),
        1
    );
    assert_eq!(
        by_environment("4", &["changes", "--kind=changed", "--lasting", "--json"]).stdout.lines().count(),
        0
    );
    let history = ["history", &site.url("/"), "--json"];
    assert_eq!(freshet.json(&history)["fragment_words"], 4);
    assert_eq!(by_environment("1", &history).json()["fragment_words"], 1);
    let flagged = freshet.json(&[&history[..], &["--fragment-words", "2"]].concat());
    assert_eq!(flagged["fragment_words"], 2);
    for command in ["changes", "history"] {
        let url = site.url("/");
        let mut arguments = vec![command, "--fragment-words", "65"];
        arguments.extend((command == "history").then_some(url.as_str()));
        let ran = freshet.run(&arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.output());
    }
}

#[test]
fn since_when_is_said_as_people_say_it() {
    let site = Site::start();
    site.page("/", Reply::sequence(vec!["one thing".into(), "another thing".into()]));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 2, &[]);
    for since in
        ["1h", "30m", "7d", "2w", "1.5h", "600s", "2020-01-01", "2020-01-01T08:00", "2020-01-01T08:00Z"]
    {
        assert_eq!(changes(&freshet, &["--since", since]).len(), 1, "{since}");
    }
    for since in ["0s", "0ms", "2999-01-01", "2999-01-01T00:00:00+02:00"] {
        assert_eq!(changes(&freshet, &["--since", since]).len(), 0, "{since}");
    }
    for wrong in [
        ["--since", "yesterday"],
        ["--since", "5"],
        ["--since", ""],
        ["--since", "2026-13-01"],
        ["--min-divergence", "1.5"],
        ["--min-divergence", "-0.1"],
        ["--min-divergence", "nan"],
        ["--limit", "-1"],
        ["--format", "xml"],
    ] {
        let flag = format!("{}={}", wrong[0], wrong[1]);
        let ran = freshet.run(&["changes", &flag]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{flag}\n{}", ran.output());
        assert!(ran.stderr.contains(wrong[0]), "{flag}: {}", ran.stderr);
    }
}

#[test]
fn without_changes_the_list_is_empty_and_without_a_store_it_is_an_error() {
    let freshet = Freshet::new();
    for command in [&["changes"][..], &["diff", "http://example.org/"], &["store", "rebuild"]] {
        let none = freshet.run(command);
        assert_eq!(none.code, Some(1), "{command:?}\n{}", none.output());
        assert!(none.stderr.contains("freshet.db"), "{}", none.stderr);
        assert!(!freshet.path("freshet.db").exists(), "{command:?}: looking makes nothing");
    }
    let site = Site::start();
    site.page("/", "the same");
    crawled(&freshet, &site, 2, &[]);
    assert_eq!(changes(&freshet, &[]).len(), 0);
    assert_eq!(freshet.run(&["changes"]).code, Some(0));
    let feed = freshet.run(&["changes", "--kind", "changed", "--format", "atom"]);
    assert_eq!(entries(&feed.stdout), []);
}

/// What an entry of a feed says, its texts unescaped.
#[derive(Debug, Default, PartialEq)]
pub struct Entry {
    pub id: String,
    pub title: String,
    pub link: String,
    pub updated: String,
    pub content: String,
    pub category: String,
}

/// Reads a feed, which must be well-formed to its end.
#[track_caller]
pub fn entries(feed: &str) -> Vec<Entry> {
    let mut reader = Reader::from_str(feed);
    reader.config_mut().check_end_names = true;
    let (mut open, mut entries, mut text) = (Vec::new(), Vec::<Entry>::new(), String::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}\n{feed}")) {
            Event::Start(start) => {
                let name = start.name().as_ref().to_owned();
                if name == "entry" {
                    entries.push(Entry::default());
                }
                open.push(name);
                text.clear();
            }
            Event::Empty(empty) => {
                let mut attributes = empty.attributes().map(|one| one.expect("an attribute"));
                let is_link = empty.name().as_ref() == "link";
                let wanted = if is_link { "href" } else { "term" };
                let value = attributes.find(|one| one.key.as_ref() == wanted).expect("an attribute");
                let value = value.normalized_value(quick_xml::XmlVersion::Implicit1_0).expect("escaped");
                if let Some(entry) = entries.last_mut() {
                    *(if is_link { &mut entry.link } else { &mut entry.category }) = value.into_owned();
                }
            }
            Event::Text(piece) => text.push_str(&piece),
            Event::GeneralRef(reference) => {
                let whole = format!("&{};", &*reference);
                text.push_str(&quick_xml::escape::unescape(&whole).expect("a known reference"));
            }
            Event::End(_) => {
                let name = open.pop().expect("it was opened");
                if let Some(entry) = entries.last_mut() {
                    let place = match name.as_str() {
                        "id" => &mut entry.id,
                        "title" => &mut entry.title,
                        "updated" => &mut entry.updated,
                        "content" => &mut entry.content,
                        _ => continue,
                    };
                    *place = std::mem::take(&mut text);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?} stays open");
    entries
}

#[test]
fn a_feed_reader_can_follow_the_changes() {
    let (site, freshet) = busy_site();
    // Whatever a page says, a feed stays one.
    let sly = "a\u{1}b\u{8}c\u{fffe}d\u{ffff}e ]]> <!-- &amp;nbsp; \u{1b}[31m 漢字 \u{85}";
    site.page("/still", Reply::text(sly));
    crawled(&freshet, &site, 1, &[]);
    let ran = freshet.run(&["changes", "--kind", "changed", "--format", "atom"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let feed = ran.stdout;
    let unsayable = |c: char| (c < ' ' && !"\n\r\t".contains(c)) || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!feed.contains(unsayable), "{feed:?}");
    assert!(feed.starts_with(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">"
    ));
    let entries = entries(&feed);
    let told = changes(&freshet, &[]);
    assert_eq!(entries.len(), told.len());
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len(), "each has an id of its own");
    for (entry, change) in entries.iter().zip(&told) {
        let title = if change["title"].is_null() { &change["url"] } else { &change["title"] };
        assert_eq!((&json!(entry.title), &json!(entry.link)), (title, &change["url"]));
        assert_eq!(entry.category, "changed");
        assert_eq!(json!(entry.updated), change["at"]);
        assert!(entry.content.starts_with("<pre>") && entry.content.ends_with("</pre>"), "{}", entry.content);
    }
    let edit = entries.iter().find(|entry| entry.link == site.url("/a&b")).expect("the edit");
    assert!(edit.content.contains("&lt;heavily&gt; &amp; without an end"), "{}", edit.content);
    // The same change has the same id next time.
    let again = freshet.run(&["changes", "--kind=changed", "--format", "atom", "--limit", "3"]).stdout;
    let again: Vec<String> = self::entries(&again).into_iter().map(|entry| entry.id).collect();
    assert_eq!(again, entries[..3].iter().map(|entry| entry.id.clone()).collect::<Vec<_>>());
}

// --- diff ------------------------------------------------------------------------------------------------------

/// Applies a unified diff, as strictly as can be: every line must be where it is said to be.
#[track_caller]
fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    let mut lines = diff.lines().skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(place) = line.strip_prefix("@@ -") {
            let place = place.split([' ', ',']).next().expect("a place");
            let start: usize = place.parse().expect("a number");
            let many_removed = line.split(' ').nth(1).and_then(|span| span.split(',').nth(1));
            let start = if many_removed == Some("0") { start } else { start - 1 };
            while at < start {
                new.push_str(old[at]);
                at += 1;
            }
            continue;
        }
        if line.starts_with('\\') {
            continue;
        }
        let ended = !lines.peek().is_some_and(|next| next.starts_with('\\'));
        let (sign, text) = line.split_at(1);
        let text = if ended { format!("{text}\n") } else { text.to_owned() };
        if sign != "+" {
            assert_eq!(old[at], text, "line {at} is another\n{diff}");
            at += 1;
        }
        if sign != "-" {
            new.push_str(&text);
        }
    }
    old[at..].iter().for_each(|line| new.push_str(line));
    new
}

/// The texts of a page's versions, in order of its visits.
fn texts(freshet: &Freshet, url: &str) -> Vec<String> {
    let visits = visits(freshet).remove(url).expect("visits");
    let mut store = crate::what_changed::open(freshet);
    let held = visits.iter().filter_map(|visit| visit.version);
    // A diff of web text knows no last line without a newline.
    held.map(|version| store.version(version).expect("a version").expect("it is there").text + "\n").collect()
}

#[test]
fn a_diff_shows_the_last_change_and_patch_takes_it() {
    let site = Site::start();
    let turns = vec![
        page(&OLD).into(),
        edited().into(),
        page(&["all is new", "and nothing is as it was"]).into(),
        Reply::status(500, "oh no"),
        page(&["all is new", "and nothing is as it was"]).into(),
    ];
    site.page("/", Reply::sequence(turns));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nattempts = 1\nback_off = 0.01\n");
    let mut after = Vec::new();
    for _ in 0..5 {
        let seeds = freshet.seeds(&[site.url("/")]);
        freshet.run(&[&["crawl", "--seeds", &seeds, "--no-sitemaps"], &FAST[..]].concat());
        std::thread::sleep(Duration::from_millis(15));
        after.push(jiff::Timestamp::now().to_string());
        std::thread::sleep(Duration::from_millis(15));
    }
    let url = site.url("/");
    let texts = texts(&freshet, &url);
    assert_eq!(texts.len(), 4);
    let diff = |flags: &[&str]| -> Ran {
        let ran = freshet.run(&[&["diff", &url], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        ran
    };
    // The last visit said nothing new: what it said before that is an edit away.
    assert_eq!(patched(&texts[1], &diff(&[]).stdout), texts[3]);
    let of = |from: &str, to: &str| diff(&["--from", from, "--to", to]).stdout;
    assert_eq!(patched(&texts[0], &of(&after[0], &after[1])), texts[1]);
    assert_eq!(patched(&texts[0], &of(&after[0], &after[4])), texts[3]);
    assert_eq!(patched(&texts[2], &of(&after[2], &after[0])), texts[0], "backwards, if asked to");
    assert_eq!(patched(&texts[0], &of("2020-01-01", "0s")), texts[3], "as far back as there is anything");
    assert_eq!(patched(&texts[0], &of("7d", "0s")), texts[3]);
    assert_eq!(of(&after[2], &after[4]), "", "an error between them is no difference");
    let none = diff(&["--from", &after[2]]);
    assert!(none.stderr.contains("no difference"), "{}", none.output());
    assert_eq!(patched(&texts[0], &diff(&["--to", &after[1]]).stdout), texts[1]);
    assert_eq!(patched(&texts[0], &diff(&["--to", &after[1], "--context", "0"]).stdout), texts[1]);

    let told = diff(&["--to", &after[1], "--json"]).json();
    assert_eq!((&told["url"], &told["words_removed"]), (&json!(url), &json!(1)), "{told}");
    assert_eq!(told["hunks"].as_array().map(Vec::len), Some(2), "{told}");
    let unified = diff(&["--to", &after[1]]).stdout;
    assert!(unified.starts_with(&format!("--- {url}\t")), "{unified}");
    assert!(unified.contains("\n+the rain has come at last, <heavily> & without an end"), "{unified}");
}

#[test]
fn a_terminal_is_shown_nothing_that_it_would_obey() {
    let site = Site::start();
    let sly = "the river \u{202e}rises\u{202c} again";
    site.page("/", Reply::sequence(vec![page(&OLD).into(), page(&[OLD[0], sly]).into()]));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 2, &[]);
    let table = freshet.run(&["changes"]);
    assert!(table.stdout.contains("the river �rises� again"), "{}", table.stdout);
    let url = site.url("/");
    let piped = freshet.run(&["diff", "--unified", &url]).stdout;
    assert!(piped.contains(&format!("\n+{sly}\n")), "{piped}");

    // What makes a terminal is not everywhere.
    if std::process::Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let mut command = std::process::Command::new("script");
    let diff = format!("{} diff --unified {url}", env!("CARGO_BIN_EXE_freshet"));
    command.args(["--quiet", "--return", "--command", &diff, "typescript"]).current_dir(freshet.path("."));
    command.stdin(std::process::Stdio::null());
    let ran = Running::start(command).wait(Duration::from_secs(60));
    assert!(ran.stdout.contains("\n+the river �rises� again"), "{}", ran.output());
}

#[test]
fn another_spelling_is_not_the_past_of_a_page() {
    let site = Site::start();
    site.page("/", links_page("home", &["/page", "/page?view=print"]));
    site.page("/page", Reply::sequence(vec![page(&OLD).into(), page(&OLD).into(), edited().into()]));
    // Its text is near that of the page, so the second visit confirms that the two are one.
    let print = page(&[&OLD[..], &["printed on paper"]].concat());
    let canonical = "<link rel=\"canonical\" href=\"/page\"></head>";
    site.page("/page?view=print", print.replace("</head>", canonical));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 3, &[]);
    let url = site.url("/page");
    let texts = texts(&freshet, &url);
    for asked in [&[url.as_str()][..], &[&url, "--from", "2020-01-01"], &[&site.url("/page?view=print")]] {
        let ran = freshet.run(&[&["diff"], asked].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.output());
        assert_eq!(patched(&texts[0], &ran.stdout), texts[2], "{asked:?}");
        assert!(!ran.stdout.contains("printed on paper"), "{}", ran.stdout);
    }
}

#[test]
fn what_has_no_words_differs_by_its_bytes() {
    let site = Site::start();
    site.page("/", links_page("home", &["/picture", "/same"]));
    let picture = |byte: u8| Reply::bytes("image/png", vec![byte; 400]);
    site.page("/picture", Reply::sequence(vec![picture(1), picture(2), picture(3), picture(3)]));
    site.page("/same", picture(4));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 4, &[]);
    let url = site.url("/picture");
    let ran = freshet.run(&["diff", &url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.output());
    assert!(ran.stderr.contains("it has no words; its bytes differ"), "{}", ran.stderr);
    let told = freshet.json(&["diff", &url, "--json"]);
    let visits = visits(&freshet).remove(&url).expect("visits");
    let version = |place: usize| json!(visits[place].version.map(|version| version.0));
    assert_eq!((&told["bytes_differ"], &told["hunks"]), (&json!(true), &json!([])), "{told}");
    assert_eq!(
        (&told["from"]["version_id"], &told["to"]["version_id"]),
        (&version(1), &version(3)),
        "{told}"
    );

    let same = freshet.run(&["diff", &site.url("/same")]);
    assert!(same.stderr.contains("no difference"), "{}", same.stderr);
    assert_eq!(freshet.json(&["diff", &site.url("/same"), "--json"])["bytes_differ"], false);
}

#[test]
fn patch_itself_takes_what_diff_says() {
    if std::process::Command::new("patch").arg("--version").output().is_err() {
        return;
    }
    let site = Site::start();
    site.page("/", Reply::sequence(vec![page(&OLD).into(), edited().into()]));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 2, &[]);
    let texts = texts(&freshet, &site.url("/"));
    freshet.write("page.txt", &texts[0]);
    freshet.write("page.diff", freshet.run(&["diff", &site.url("/")]).stdout);
    let mut command = std::process::Command::new("patch");
    command.args(["page.txt", "page.diff"]).current_dir(freshet.path("."));
    let done = command.output().expect("patch runs");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(std::fs::read_to_string(freshet.path("page.txt")).expect("a file"), texts[1]);
}

#[test]
fn a_page_with_one_version_or_none_is_no_mistake_and_what_is_no_page_is_one() {
    let site = Site::start();
    site.page("/", links_page("home", &["/broken"]));
    site.page("/broken", Reply::status(403, "no"));
    let freshet = Freshet::new();
    crawled(&freshet, &site, 2, &[]);
    let one = freshet.run(&["diff", &site.url("/")]);
    assert_eq!((one.code, one.stdout.as_str()), (Some(0), ""), "{}", one.output());
    assert!(one.stderr.contains("no difference"), "{}", one.stderr);
    let told = freshet.json(&["diff", &site.url("/"), "--json"]);
    assert_eq!((&told["hunks"], &told["words_added"]), (&json!([]), &json!(0)));

    let nothing = freshet.run(&["diff", &site.url("/broken")]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.output());
    assert!(nothing.stderr.contains("nothing is stored of"), "{}", nothing.stderr);
    let unknown = freshet.run(&["diff", &site.url("/never")]);
    assert_eq!(unknown.code, Some(1), "{}", unknown.output());
    assert!(unknown.stderr.contains("/never"), "{}", unknown.stderr);
    for wrong in ["not a url", "ftp://example.org/", "/path"] {
        let ran = freshet.run(&["diff", wrong]);
        assert_eq!(ran.code, Some(2), "{wrong}\n{}", ran.output());
        assert!(ran.stderr.contains(wrong), "{}", ran.stderr);
    }
    for secret in ["http://me:secret@127.0.0.1/", "ftp://me:secret@127.0.0.1/", "http://me:secret@"] {
        for command in ["diff", "history"] {
            let ran = freshet.run(&[command, secret]);
            assert_eq!(ran.code, Some(2), "{secret}\n{}", ran.output());
            assert!(!ran.output().contains("secret"), "{}", ran.output());
        }
    }
    for wrong in [["--from", "once"], ["--to", "2026-99-99"], ["--context", "few"]] {
        let ran = freshet.run(&[&["diff", &site.url("/")], &wrong[..]].concat());
        assert_eq!(ran.code, Some(2), "{wrong:?}\n{}", ran.output());
        assert!(ran.stderr.contains(wrong[0]), "{}", ran.stderr);
    }
}

// --- a command for every change --------------------------------------------------------------------------------

/// Crawls with a command for every change; how it ended.
#[track_caller]
fn crawl_telling(freshet: &Freshet, site: &Site, command: &str, flags: &[&str]) -> Ran {
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--json", "--seeds", &seeds, "--no-sitemaps", "--on-change", command];
    freshet.run(&[&crawl[..], &FAST[..], flags].concat())
}

/// Home and so many pages below it, of which those for which it is true say something else at each visit.
fn wide(pages: usize, moves: fn(usize) -> bool) -> Site {
    let site = Site::start();
    let names: Vec<String> = (0..pages).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    for (number, name) in names.iter().enumerate() {
        let title = name.clone();
        let said = Reply::dynamic(move |request| {
            let seed = if moves(number) { request.count as u64 } else { 0 };
            article(&title, 30, seed, &[]).into()
        });
        site.page(name, said);
    }
    site
}

#[test]
fn a_command_is_told_of_each_change_and_of_nothing_else() {
    let site = wide(6, |page| page % 2 == 0);
    let freshet = Freshet::new();
    let command = "cat > told.$$.json";
    let told = || -> Vec<Value> {
        let files = std::fs::read_dir(freshet.path(".")).expect("a folder");
        let paths = files.map(|file| file.expect("a file").path());
        let told = paths.filter(|path| path.to_string_lossy().contains("told."));
        told.map(|path| {
            serde_json::from_str(&std::fs::read_to_string(path).expect("text")).expect("one JSON value")
        })
        .collect()
    };
    let first = crawl_telling(&freshet, &site, command, &[]).json();
    assert_eq!((&first["succeeded"], told().len()), (&json!(7), 0), "what is new has not changed");
    // A failure in between is no visit that held the earlier content.
    site.page("/0", Reply::status(403, "not now"));
    let second = crawl_telling(&freshet, &site, command, &[]).json();
    assert_eq!(second["changed"], 2);
    site.page("/0", article("/0", 30, 77, &[]));
    let third = crawl_telling(&freshet, &site, command, &[]).json();
    assert_eq!(third["changed"], 3);

    let mut told = told();
    assert_eq!(told.len(), 5);
    let store = std::fs::canonicalize(freshet.path("freshet.db")).expect("the store");
    for change in &mut told {
        let path = change["store"].as_str().expect("where the store is");
        assert_eq!(std::fs::canonicalize(path).expect("it is there"), store);
        change.as_object_mut().expect("an object").remove("store");
    }
    // The same as `changes` tells, but for the diff.
    let mut listed = changes(&freshet, &[]);
    for change in &mut listed {
        for name in ["added", "removed", "words_added", "words_removed", "new_text"] {
            change.as_object_mut().expect("an object").remove(name);
        }
    }
    let sorted = |mut all: Vec<Value>| {
        all.sort_by_key(ToString::to_string);
        all
    };
    assert_eq!(sorted(told), sorted(listed));
}

#[test]
fn a_command_that_fails_is_reported_and_the_crawl_is_none_the_worse() {
    let site = wide(3, |_| true);
    let freshet = Freshet::new();
    crawl_telling(&freshet, &site, "exit 3", &[]);
    let ran = crawl_telling(&freshet, &site, "echo mixed; echo up >&2; exit 3", &[]);
    assert_eq!(ran.json()["changed"], 3, "exit code 0, and nothing but JSON on standard output");
    assert_eq!(ran.stderr.matches("exit status: 3").count(), 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("3 of 3 commands of --on-change failed"), "{}", ran.stderr);
    assert_eq!(ran.json()["on_change"], json!({ "succeeded": 0, "failed": 3, "not_run": 0 }));
    let ran = crawl_telling(&freshet, &site, "no-such-command-at-all", &[]);
    assert_eq!(ran.json()["changed"], 3);
    assert!(ran.stderr.contains("exit status: 127"), "{}", ran.stderr);
    let ran = crawl_telling(&freshet, &site, "kill -9 $$", &[]);
    assert_eq!(ran.json()["changed"], 3);
    assert!(ran.stderr.contains("signal: 9"), "{}", ran.stderr);
    for wrong in ["0", "-1", "nan", "soon"] {
        let seconds = format!("--on-change-timeout={wrong}");
        let ran = crawl_telling(&freshet, &site, "true", &[&seconds]);
        assert_eq!(ran.code, Some(2), "{wrong}\n{}", ran.output());
        let ran = crawl_telling(&freshet, &site, "true", &[&seconds, "--store", "new.db"]);
        assert_eq!((ran.code, freshet.path("new.db").exists()), (Some(2), false), "{wrong}");
    }
}

/// Does a process still run? One that has ended and is not yet buried by whoever inherited it does not.
#[track_caller]
fn runs(process: &str) -> bool {
    let Ok(state) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // `12 (sleep) S …`
    !state.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

#[test]
fn a_crawl_that_is_stopped_starts_no_more_commands_and_leaves_none_behind() {
    let site = wide(20, |_| true);
    let freshet = Freshet::new();
    crawl_telling(&freshet, &site, "true", &[]);
    let seeds = freshet.seeds(&[site.url("/")]);
    let slow = "sleep 600 & echo $! >> began; wait";
    let crawl = ["crawl", "--json", "--seeds", &seeds, "--no-sitemaps", "--on-change", slow];
    let running = freshet.start(&[&crawl[..], &FAST[..]].concat());
    let began = || std::fs::read_to_string(freshet.path("began")).unwrap_or_default();
    wait_until("four commands run", || began().lines().count() == 4);
    for _ in 0..2 {
        let sent = std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        std::thread::sleep(Duration::from_millis(200));
    }
    let ran = running.wait(Duration::from_secs(10));
    assert_eq!(ran.code, Some(130), "{}", ran.output());
    wait_until("they are ended", || !began().lines().any(runs));
    assert_eq!(began().lines().count(), 4, "no more were started");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_began() {
    let site = wide(2, |_| true);
    let freshet = Freshet::new();
    crawl_telling(&freshet, &site, "true", &[]);
    // The sleep is a child of the shell's: to end the shell alone would leave it behind.
    let slow = "sleep 600 & echo $! >> began; wait; echo late > late";
    let ran = crawl_telling(&freshet, &site, slow, &["--on-change-timeout", "0.3"]);
    assert_eq!(ran.json()["changed"], 2);
    assert_eq!(ran.stderr.matches("took longer than 300ms and was ended").count(), 2, "{}", ran.stderr);
    assert!(!freshet.path("late").exists());
    let began = std::fs::read_to_string(freshet.path("began")).expect("they began");
    assert_eq!(began.lines().count(), 2);
    wait_until("they are ended", || !began.lines().any(runs));
}

#[test]
fn a_command_need_not_listen_and_may_say_what_it_likes() {
    let site = wide(4, |_| true);
    let freshet = Freshet::new();
    crawl_telling(&freshet, &site, "true", &[]);
    for command in ["exec 0<&-; true", "head -c 4000000 /dev/zero", "true", "cat; cat >/dev/null"] {
        let ran = crawl_telling(&freshet, &site, command, &[]);
        assert_eq!(ran.json()["changed"], 4, "{command}");
        assert!(!ran.stderr.contains("warning"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn two_hundred_changes_are_two_hundred_commands() {
    let site = wide(200, |_| true);
    let freshet = Freshet::new();
    let command = "read -r line && echo \"$line\" >> told.jsonl";
    crawl_telling(&freshet, &site, command, &["--per-host", "8"]);
    let ran = crawl_telling(&freshet, &site, command, &["--per-host", "8"]);
    assert_eq!(ran.json()["changed"], 200);
    let told = std::fs::read_to_string(freshet.path("told.jsonl")).expect("they were told");
    let urls: BTreeSet<String> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON")["url"].to_string())
        .collect();
    assert_eq!((urls.len(), told.lines().count()), (200, 200));
}
