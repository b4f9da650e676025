//! What happened to the pages: new, changed, gone, back, moved, started failing, recovered; told everywhere alike.

use crate::changes_told::entries;
use crate::support::{FAST, Freshet, Ran, Reply, Site, links_page};
use crate::what_changed::{changes, events};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A page with a title and paragraphs.
fn page(title: &str, paragraphs: &[&str]) -> String {
    let paragraphs: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!("<!DOCTYPE html><html><head><title>{title}</title></head><body>{paragraphs}</body></html>")
}

const TEXT: &str = "the river is low and the boats are idle in the harbour of the old town";

/// Crawls once more; each failed visit is tried once, and nothing waits.
#[track_caller]
fn crawl(freshet: &Freshet, site: &Site, flags: &[&str]) -> Ran {
    let seeds = freshet.seeds(&[site.url("/")]);
    let config = "[crawl]\nattempts = 1\nback_off = 0.01\n";
    if !freshet.path("freshet.toml").exists() {
        freshet.write("freshet.toml", config);
    }
    let ran =
        freshet.run(&[&["crawl", "--json", "--seeds", &seeds, "--no-sitemaps"], &FAST[..], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

/// Kind and path of events, the earliest first.
fn told(site: &Site, events: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let event = |event: &Value| (text(&event["kind"]), text(&event["url"]).replace(&site.origin(0), ""));
    events.iter().rev().map(event).collect()
}

fn pair(kind: &str, path: &str) -> (String, String) {
    (kind.to_owned(), path.to_owned())
}

/// Pages that wait after failures are due at once: as if weeks had gone by.
fn weeks_later(freshet: &Freshet) {
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).expect("the store");
    let weeks = 40 * 86_400_000_i64;
    let moved = store.execute("UPDATE page SET due_at = 0, last_visit_at = last_visit_at - ?1", [weeks]);
    assert!(moved.is_ok_and(|pages| pages > 0));
}

/// A site on which everything happens, crawled six times with a command that notes every event.
fn eventful() -> (Site, Freshet) {
    let site = Site::start();
    let good = |title: &str| Reply::from(page(title, &[TEXT, "and more about it"]));
    let broken = || Reply::status(500, "broken");
    let missing = || Reply::status(404, "no");
    let away = || Reply::redirect(301, "/there");
    let pages = ["/edit", "/leaves", "/returns", "/moves", "/there", "/falters", "/hiccup", "/once"];
    site.page("/", links_page("home", &pages));
    site.page("/there", good("There"));
    let edited = page("After &amp; on", &[TEXT, "and less about it"]);
    site.page("/edit", Reply::sequence(vec![good("Before"), good("Before"), edited.into()]));
    site.page("/leaves", Reply::sequence(vec![good("Leaves"), missing(), Reply::status(410, "no")]));
    site.page("/returns", Reply::sequence(vec![good("Here"), missing(), missing(), good("Here")]));
    site.page("/moves", Reply::sequence(vec![good("Moves"), away(), away(), away(), good("Moves")]));
    site.page("/falters", Reply::sequence(vec![good("Falters"), broken(), broken(), good("Falters")]));
    site.page("/hiccup", Reply::sequence(vec![good("Hiccup"), broken(), good("Hiccup")]));
    site.page("/once", Reply::sequence(vec![good("Once"), missing(), good("Once")]));
    let freshet = Freshet::new();
    let kinds = "new,changed,gone,back,moved,started-failing,recovered";
    for _ in 0..6 {
        crawl(&freshet, &site, &["--on-change", "cat >> told.jsonl", "--on-change-kinds", kinds]);
        weeks_later(&freshet);
    }
    (site, freshet)
}

#[test]
fn everything_that_happens_to_a_page_is_listed() {
    let (site, freshet) = eventful();
    let all = events(&freshet, &[]);
    let of_path = |path: &str| -> Vec<String> {
        told(&site, &all).into_iter().filter(|event| event.1 == path).map(|event| event.0).collect()
    };
    assert_eq!(of_path("/edit"), ["new", "changed"]);
    assert_eq!(of_path("/leaves"), ["new", "gone"], "gone is told once");
    assert_eq!(of_path("/returns"), ["new", "gone", "back"]);
    assert_eq!(of_path("/moves"), ["new", "moved", "back"]);
    assert_eq!(of_path("/falters"), ["new", "started-failing", "recovered"]);
    assert_eq!(of_path("/hiccup"), ["new"], "one bad answer is not believed");
    assert_eq!(of_path("/once"), ["new"], "nor is one 404");

    let of = |kind: &str, path: &str| {
        let is_it = |event: &&Value| event["kind"] == kind && event["url"] == site.url(path);
        all.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {path}"))
    };
    let gone = of("gone", "/leaves");
    let expected = (&json!(410), &json!("missing"), &json!("Leaves"));
    assert_eq!((&gone["status"], &gone["outcome"], &gone["title"]), expected);
    assert!(gone["version_id"].is_null() && gone["previous_version_id"].is_i64(), "{gone}");
    let moved = of("moved", "/moves");
    assert_eq!((&moved["redirect_to"], &moved["title"]), (&json!(site.url("/there")), &json!("Moves")));
    let edit = of("changed", "/edit");
    assert_eq!((&edit["title"], &edit["new_text"]), (&json!("After & on"), &json!("and less about it")));
    assert_eq!(of("started-failing", "/falters")["outcome"], "server-error");
    assert_eq!(of("back", "/returns")["is_changed"], false);

    assert_eq!(told(&site, &events(&freshet, &["--kind", "recovered"])), [pair("recovered", "/falters")]);
    assert_eq!(events(&freshet, &["--kind", "gone,moved"]).len(), 3);
    let table = freshet.run(&["changes"]).stdout;
    for part in
        ["started failing", "→ http", "missing (410)", "After & on", "server-error (500)", "as it was before"]
    {
        assert!(table.contains(part), "{part}\n{table}");
    }
    let wrong = freshet.run(&["changes", "--kind", "vanished"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
    assert!(
        wrong.stderr.contains("started-failing") && wrong.stderr.contains("vanished"),
        "{}",
        wrong.stderr
    );
    // The test moved the times of pages, so that these differ from the log.
    let rebuilt = freshet.run(&["store", "rebuild", "--check", "--json", "--policy", "age"]);
    assert!(rebuilt.stdout.contains("\"events_differ\": 0"), "{}", rebuilt.output());
}

#[test]
fn a_command_and_a_feed_get_what_the_list_has() {
    let (_site, freshet) = eventful();
    let listed = events(&freshet, &[]);
    let told = std::fs::read_to_string(freshet.path("told.jsonl")).expect("they were told");
    let mut told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.len(), listed.len());
    for event in &mut told {
        assert!(event["store"].is_string(), "{event}");
        let is_it = |one: &&Value| one["url"] == event["url"] && one["kind"] == event["kind"];
        let one = listed.iter().find(is_it).unwrap_or_else(|| panic!("{event} is not listed"));
        for (name, value) in event.as_object().expect("an object").iter().filter(|(name, _)| *name != "store")
        {
            assert_eq!(&one[name], value, "{name} of {one}");
        }
    }
    let feed = freshet.run(&["changes", "--format", "atom"]);
    let entries = entries(&feed.stdout);
    assert_eq!(entries.len(), listed.len());
    for (entry, event) in entries.iter().zip(&listed) {
        assert_eq!((&json!(entry.category), &json!(entry.title)), (&event["kind"], &event["title"]));
        assert_eq!(json!(entry.link), event["url"]);
    }
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len());
    let content =
        |kind: &str| &entries.iter().find(|entry| entry.category == kind).expect("an entry").content;
    assert!(content("gone").contains("is gone: missing (4"), "{}", content("gone"));
    assert!(content("started-failing").contains("server-error (500)"), "{}", content("started-failing"));
}

#[test]
fn a_command_runs_for_the_kinds_that_are_wanted() {
    let site = Site::start();
    site.page("/", links_page("home", &["/edit", "/leaves"]));
    site.page(
        "/edit",
        Reply::dynamic(|request| page("Edit", &[TEXT, &format!("edit {}", request.count)]).into()),
    );
    let missing = Reply::status(404, "no");
    site.page("/leaves", Reply::sequence(vec![page("Leaves", &[TEXT]).into(), missing]));
    let freshet = Freshet::new();
    let command = ["--on-change", "cat >> told.jsonl"];
    let kinds = || -> Vec<String> {
        let told = std::fs::read_to_string(freshet.path("told.jsonl")).unwrap_or_default();
        let _ = std::fs::remove_file(freshet.path("told.jsonl"));
        let kind = |line: &str| {
            serde_json::from_str::<Value>(line).expect("JSON")["kind"].as_str().map(str::to_owned)
        };
        let mut kinds: Vec<String> = told.lines().filter_map(kind).collect();
        kinds.sort();
        kinds
    };
    crawl(&freshet, &site, &command);
    assert_eq!(kinds(), [""; 0], "what is new is not told unless it is asked for");
    crawl(&freshet, &site, &command);
    assert_eq!(kinds(), ["changed"]);
    crawl(&freshet, &site, &command);
    assert_eq!(kinds(), ["changed", "gone"], "a page that vanished rings");
    crawl(&freshet, &site, &[&command[..], &["--on-change-kinds", "gone,new"]].concat());
    assert_eq!(kinds(), [""; 0]);
    let wrong = freshet.run(&["crawl", "--on-change-kinds", "gone"]);
    assert_eq!(wrong.code, Some(2), "without a command: {}", wrong.output());
}

#[test]
fn since_last_is_what_the_latest_cycle_brought() {
    let site = Site::start();
    site.page(
        "/",
        Reply::sequence(vec![page("Home", &["one thing"]).into(), page("Home", &["another"]).into()]),
    );
    let freshet = Freshet::new();
    let last = || told(&site, &events(&freshet, &["--since", "last"]));
    crawl(&freshet, &site, &[]);
    assert_eq!(last(), [pair("new", "/")]);
    crawl(&freshet, &site, &[]);
    assert_eq!(last(), [pair("changed", "/")]);
    crawl(&freshet, &site, &[]);
    assert_eq!(last(), []);
    assert_eq!(events(&freshet, &[]).len(), 2);
    let wrong = freshet.run(&["changes", "--since", "lately"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("`last`"), "{}", wrong.output());
}

#[test]
fn a_first_crawl_is_one_line_of_a_table() {
    let site = Site::start();
    let names: Vec<String> = (0..30).map(|page| format!("/{page}")).collect();
    site.page("/", links_page("home", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    names.iter().for_each(|name| site.page(name, page(name, &[TEXT, name])));
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    site.page("/3", page("Three", &[TEXT, "is another now"]));
    crawl(&freshet, &site, &[]);
    let table = freshet.run(&["changes"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].contains("changed") && lines[1].contains("Three"), "{table}");
    assert!(lines[2].contains("31 new pages in cycle 1; --kind new lists them"), "{table}");
    assert_eq!(freshet.run(&["changes", "--kind", "new"]).stdout.lines().count(), 32);
    assert_eq!(events(&freshet, &[]).len(), 32, "programs get them all");
}

// --- changes that last -----------------------------------------------------------------------------------------

/// A site of pages that change once, and stay like that, beside noise; crawled this often.
fn lasting_site(times: usize) -> (Site, Freshet) {
    let site = Site::start();
    let pages =
        ["/paper.pdf", "/feed.atom", "/data.csv", "/price", "/currency", "/case", "/clock", "/advert"];
    site.page("/", links_page("home", &pages));
    let pdf = |byte: u8| Reply::bytes("application/pdf", [b"%PDF-1.4 ".as_slice(), &[byte; 400]].concat());
    site.page("/paper.pdf", Reply::sequence(vec![pdf(1), pdf(2).etag("\"two\"")]));
    let feed = |entry: &str| {
        let entry = format!("<entry><id>urn:a</id><title>{entry}</title></entry>");
        let feed = format!("<feed xmlns='http://www.w3.org/2005/Atom'><title>A feed</title>{entry}</feed>");
        Reply::bytes("application/atom+xml", feed)
    };
    site.page("/feed.atom", Reply::sequence(vec![feed("one"), feed("two")]));
    let table = |cell: &str| Reply::bytes("text/csv", format!("name,boats\nharbour,{cell}\n"));
    site.page("/data.csv", Reply::sequence(vec![table("7"), table("8")]));
    let clock = |minute: usize, rest: &str| page("Clock", &[&format!("It is 10:{minute}"), TEXT, rest]);
    let once = move |before: &'static str, after: &'static str| {
        // A clock ticks beside what changes once, so that no two answers are the same.
        Reply::dynamic(move |request| {
            clock(10 + request.count, if request.count < 2 { before } else { after }).into()
        })
    };
    site.page("/price", once("A boat is 1.50 a day", "A boat is 1,50 a day"));
    site.page("/currency", once("A boat is $ 50 a day", "A boat is € 50 a day"));
    site.page("/case", once("The harbour master", "The Harbour Master"));
    site.page(
        "/advert",
        once("Read this: bread from the old mill is good", "Read this: new shoes for the winter are here"),
    );
    site.page("/clock", once("nothing else changes", "nothing else changes"));
    let freshet = Freshet::new();
    (0..times).for_each(|_| drop(crawl(&freshet, &site, &[])));
    (site, freshet)
}

#[test]
fn changes_that_words_do_not_show_last_once_they_are_confirmed() {
    let (site, freshet) = lasting_site(2);
    let lasting = || -> BTreeSet<String> {
        told(&site, &changes(&freshet, &["--lasting"])).into_iter().map(|event| event.1).collect()
    };
    assert_eq!(lasting(), BTreeSet::new(), "no later visit was made yet");
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);
    let expected = ["/paper.pdf", "/feed.atom", "/data.csv", "/price", "/currency", "/case", "/advert"]
        .map(str::to_owned);
    assert_eq!(lasting(), BTreeSet::from(expected));
    assert_eq!(changes(&freshet, &["--lasting"]).len(), 7, "each once");
    assert_eq!(
        lasting().len() + 1,
        BTreeSet::from_iter(changes(&freshet, &[]).iter().map(|c| c["url"].to_string())).len()
    );
}

#[test]
fn the_new_text_is_what_lasted_and_not_the_clock_beside_it() {
    let (site, freshet) = lasting_site(4);
    let all = changes(&freshet, &["--lasting"]);
    let of = |path: &str| {
        let event = all.iter().find(|event| event["url"] == site.url(path)).expect("it is listed");
        (event["new_text"].as_str().unwrap_or_default().to_owned(), event["added"][0].clone())
    };
    assert_eq!(of("/advert").1, "Read this: new shoes for the winter are here");
    assert!(of("/advert").0.contains("new shoes for the winter"), "{:?}", of("/advert"));
    assert!(of("/currency").0.contains("€ 50"), "{:?}", of("/currency"));
    assert!(of("/price").0.contains("1,50"), "{:?}", of("/price"));
    let ran = freshet.run(&["changes", "--lasting", "--kind", "changed"]);
    assert!(
        ran.stdout.contains("new shoes for the winter") && !ran.stdout.contains("It is 10:"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.lines().next().is_some_and(|heads| heads.ends_with("new text")), "{}", ran.stdout);
    assert!(ran.stderr.contains("did not last") && ran.stderr.contains("changes kept out"), "{}", ran.stderr);
    let json = freshet.run(&["changes", "--lasting", "--json"]);
    assert!(json.stderr.contains("changes kept out"), "{}", json.stderr);
    let quiet = freshet.run(&["changes", "--lasting", "-q"]);
    assert_eq!(quiet.stderr, "");
}

// --- diff ------------------------------------------------------------------------------------------------------

#[test]
fn a_diff_after_new_noise_rules_does_not_show_what_the_rules_removed() {
    let site = Site::start();
    let turns = ["calm", "calm", "rough"];
    site.page(
        "/",
        Reply::dynamic(move |request| {
            let sea = turns[(request.count - 1).min(2)];
            let clock = format!("<div class=clock>It is 10:{}</div>", 10 + request.count);
            page("Sea", &[TEXT, &format!("the sea is {sea}"), &clock]).into()
        }),
    );
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    let rules = "[crawl]\nattempts = 1\nback_off = 0.01\n[change]\nignore = [\".clock\"]\n";
    freshet.write("freshet.toml", rules);
    crawl(&freshet, &site, &[]);
    let url = site.url("/");
    let ran = freshet.run(&["diff", &url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.output());
    assert!(
        ran.stderr.contains("no difference in the text") && ran.stderr.contains("its bytes differ"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("noise rules changed"), "{}", ran.stderr);
    let told = freshet.json(&["diff", &url, "--json"]);
    assert_eq!((&told["words_removed"], &told["read_again"]), (&json!(0), &json!(true)), "{told}");
    crawl(&freshet, &site, &[]);
    let told = freshet.json(&["diff", &url, "--json"]);
    assert_eq!(told["hunks"][0]["added"], json!(["the sea is rough"]), "{told}");
    assert_eq!((&told["words_added"], &told["read_again"]), (&json!(1), &json!(false)), "{told}");
    // Over the change of the rules, both are read by those of today.
    let told = freshet.json(&["diff", &url, "--from", "2020-01-01", "--json"]);
    assert_eq!((&told["words_added"], &told["words_removed"]), (&json!(1), &json!(1)), "{told}");
    assert_eq!(told["read_again"], true, "{told}");
}

#[test]
fn a_diff_is_dated_by_the_visit_that_found_the_change() {
    let site = Site::start();
    let turns = vec![page("Home", &["one thing"]).into(), page("Home", &["another thing"]).into()];
    site.page("/", Reply::sequence(turns));
    let freshet = Freshet::new();
    for _ in 0..4 {
        crawl(&freshet, &site, &[]);
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    let url = site.url("/");
    let change = changes(&freshet, &[]).remove(0);
    let told = freshet.json(&["diff", &url, "--json"]);
    assert_eq!(
        (&told["to"]["found_at"], &told["from"]["confirmed_at"]),
        (&change["at"], &change["previous_at"])
    );
    assert!(told["to"]["confirmed_at"].as_str() > told["to"]["found_at"].as_str(), "{told}");
    let ran = freshet.run(&["diff", &url]);
    assert!(
        ran.stdout.contains(&format!("+++ {url}\t{}", change["at"].as_str().unwrap_or("?"))),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("Home: found ") && ran.stderr.contains("last seen as before"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("No newline"), "{}", ran.stdout);
    let history = freshet.run(&["history", &url]).stdout;
    assert!(history.contains("title: Home"), "{history}");
    let pages = freshet.run(&["pages"]).stdout;
    assert!(pages.contains("title") && pages.contains("Home"), "{pages}");
}

#[test]
fn a_page_whose_text_is_the_same_says_what_else_changed() {
    let site = Site::start();
    let linked = |title: &str, target: &str| page(title, &[&format!("<a href=\"{target}\">read on</a>")]);
    site.page("/", Reply::sequence(vec![linked("One", "/a").into(), linked("Two", "/b").into()]));
    let freshet = Freshet::new();
    crawl(&freshet, &site, &["--max-depth", "0"]);
    crawl(&freshet, &site, &["--max-depth", "0"]);
    let url = site.url("/");
    let ran = freshet.run(&["diff", &url]);
    for part in [
        "no difference in the text",
        "its bytes differ",
        "its title changed from `One` to `Two`",
        "1 link added, 1 removed",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let told = freshet.json(&["diff", &url, "--json"]);
    assert_eq!(
        (&told["added_links"], &told["removed_links"]),
        (&json!([site.url("/b")]), &json!([site.url("/a")]))
    );
    assert_eq!((&told["title_differs"], &told["from"]["title"]), (&json!(true), &json!("One")));
}

#[test]
fn a_page_of_one_line_has_a_readable_diff() {
    let site = Site::start();
    let sentences: Vec<String> =
        (0..30).map(|number| format!("Sentence {number} is about boats and the sea.")).collect();
    let old = sentences.join(" ");
    let new = old.replace("Sentence 17 is about boats", "Sentence 17 is about bread");
    site.page("/", Reply::sequence(vec![page("Home", &[&old]).into(), page("Home", &[&new]).into()]));
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);
    let url = site.url("/");
    let piped = freshet.run(&["diff", &url]).stdout;
    assert!(
        piped.contains(
            "\n-Sentence 17 is about boats and the sea.\n+Sentence 17 is about bread and the sea.\n"
        ),
        "{piped}"
    );
    assert!(piped.lines().skip(2).all(|line| line.len() < 100), "{piped}");
    let whole = freshet.run(&["diff", "--unified", &url]).stdout;
    assert!(whole.contains(&format!("\n+{new}\n")), "{whole}");
}
