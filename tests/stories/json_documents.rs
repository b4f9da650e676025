//! docs/json.md against what the commands print: every key is in the tables with its type, and every key of the tables is
//! printed. One key has one type wherever it stands.

use crate::support::{FAST, Freshet, Ran, Reply, Running, Site, article, links_page};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const DOCUMENT: &str = include_str!("../../docs/json.md");

/// Commands whose documents are about data of their own kind: datasets, replays, formulas, settings.
const STUDIES: [&str; 13] = [
    "simulate",
    "evolve",
    "evolve --explain",
    "reproduce",
    "export",
    "import",
    "export --format files",
    "demo",
    "web",
    "score",
    "compare",
    "rates",
    "config",
];

/// A busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// The keys of a command, by their way (`hosts[].host`), with their types.
type Keys = BTreeMap<String, BTreeSet<String>>;

/// The tables of the document, by the heading above them.
fn documented() -> BTreeMap<String, Keys> {
    let mut tables: BTreeMap<String, Keys> = BTreeMap::new();
    let mut heading = String::new();
    for line in DOCUMENT.lines() {
        if let Some(name) = line.strip_prefix("## `freshet ") {
            heading = name.trim_end_matches('`').to_owned();
            tables.entry(heading.clone()).or_default();
        } else if line.starts_with("## ") {
            heading.clear();
        } else if let Some(row) = line.strip_prefix("| `").filter(|_| !heading.is_empty()) {
            let (key, rest) = row.split_once('`').expect("a key in back-ticks");
            let types = rest.split('|').nth(1).expect("a column of types").trim();
            let types = types.split(" or ").map(|kind| kind.trim().to_owned()).collect();
            let before = tables.entry(heading.clone()).or_default().insert(key.to_owned(), types);
            assert!(before.is_none(), "docs/json.md, {heading}: `{key}` is there twice");
        }
    }
    tables
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Notes every key of a value. `maps` are the ways whose keys are data: they stand as `*`.
fn note(value: &Value, way: &str, maps: &BTreeSet<String>, keys: &mut Keys) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let open = if way.is_empty() { "*".to_owned() } else { format!("{way}.*") };
                let key = if maps.contains(&open) { "*" } else { key };
                let way = if way.is_empty() { key.to_owned() } else { format!("{way}.{key}") };
                keys.entry(way.clone()).or_default().insert(type_of(inner).to_owned());
                note(inner, &way, maps, keys);
            }
        }
        Value::Array(items) => {
            let way = format!("{way}[]");
            for item in items {
                if !item.is_object() {
                    keys.entry(way.clone()).or_default().insert(type_of(item).to_owned());
                }
                note(item, &way, maps, keys);
            }
        }
        _ => {}
    }
}

/// What the commands printed, by the heading of their table.
#[derive(Default)]
struct Printed {
    documents: BTreeMap<String, Vec<Value>>,
}

impl Printed {
    #[track_caller]
    fn take(&mut self, heading: &str, ran: &Ran, codes: &[i32]) {
        assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{heading}\n{}", ran.output());
        let documents = serde_json::Deserializer::from_str(&ran.stdout).into_iter::<Value>();
        let documents: Vec<Value> = documents.map(|value| value.expect("JSON")).collect();
        assert!(!documents.is_empty(), "{heading} prints nothing\n{}", ran.output());
        for document in &documents {
            assert_eq!(document["version"], 1, "{heading}: {document:#}");
        }
        self.documents.entry(heading.to_owned()).or_default().extend(documents);
    }

    #[track_caller]
    fn run(&mut self, freshet: &Freshet, heading: &str, arguments: &[&str]) {
        self.take(heading, &freshet.run(&[arguments, &["--json"]].concat()), &[0]);
    }
}

/// A site with pages that change, move, vanish and fail, crawled a few times.
fn crawled(printed: &mut Printed) -> (Site, Freshet) {
    let site = Site::start();
    let robots = format!("User-agent: *\nDisallow: /closed\nSitemap: {}\n", site.url("/listed.xml"));
    site.page("/robots.txt", Reply::text(robots));
    let listed = format!("<urlset><url><loc>{}</loc></url></urlset>", site.url("/0"));
    site.page("/listed.xml", Reply::text(listed).etag("\"v1\""));
    // Priors are fitted to twenty pages or more.
    let many: Vec<String> = (0..20).map(|page| format!("/{page}")).collect();
    many.iter().for_each(|page| site.page(page, article(page, 30, 0, &[])));
    let links = ["/news", "/old", "/lost", "/no", "/closed", "/elsewhere", "http://other.example/"];
    let links: Vec<&str> = links.into_iter().chain(many.iter().map(String::as_str)).collect();
    site.page("/", links_page("home", &links));
    site.page("/news", Reply::dynamic(|request| article("news", 60, request.count as u64, &[]).into()));
    site.page("/old", Reply::redirect(301, "/new"));
    site.page("/new", article("new", 40, 0, &[]));
    site.page("/no", Reply::status(403, "no"));
    site.page("/elsewhere", Reply::redirect(302, "/news"));
    let freshet = Freshet::new();
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = [&["crawl", "--seeds", &seeds, "--on-change", "cat >> told.jsonl"], &FAST[..]].concat();
    for _ in 0..4 {
        printed.run(&freshet, "crawl", &crawl);
    }
    printed.run(&freshet, "ping", &["ping", &site.url("/news")]);
    let once = [&["monitor", "--once"], &FAST[..]].concat();
    printed.run(&freshet, "monitor", &once);
    let told = std::fs::read_to_string(freshet.path("told.jsonl")).expect("changes were told");
    let told = Ran { code: Some(0), stdout: told, stderr: String::new() };
    printed.take("crawl --on-change", &told, &[0]);
    (site, freshet)
}

fn looked_at(printed: &mut Printed, site: &Site, freshet: &Freshet) {
    let news = site.url("/news");
    printed.run(freshet, "status", &["status"]);
    printed.run(freshet, "status", &["status", "--sizes"]);
    printed.run(freshet, "report", &["report"]);
    printed.run(freshet, "seeds", &["seeds"]);
    printed.run(freshet, "status --sites", &["status", "--sites"]);
    printed.run(freshet, "pages", &["pages", "--aliases"]);
    printed.run(freshet, "log", &["log"]);
    printed.run(freshet, "links", &["links"]);
    printed.run(freshet, "show", &["show", &news]);
    printed.run(freshet, "changes", &["changes"]);
    printed.run(freshet, "diff", &["diff", &news]);
    printed.run(freshet, "history", &["history", &news]);
    printed.run(freshet, "history", &["history", &site.url("/new")]);
    printed.run(freshet, "search", &["search", "news"]);
    printed.run(freshet, "search", &["search", "new", "--as-of", "0s", "--score", "tf-idf"]);
    freshet.write("queries.txt", "news\t3\nnew\n");
    printed.run(freshet, "quality", &["quality", "--queries", "queries.txt"]);
    printed.run(freshet, "plan", &["plan", "--budget", "20"]);
    printed.run(freshet, "why", &["why", &news]);
    printed.run(freshet, "signals", &["signals"]);
    printed.run(freshet, "ping", &["ping", &news]);
    printed.run(freshet, "check", &[&["check", &news][..], &FAST[..]].concat());
    let failed = freshet.run(&[&["check", &site.url("/no"), "--json"][..], &FAST[..]].concat());
    printed.take("check", &failed, &[1]);
    printed.run(freshet, "estimate", &["estimate", "--all"]);
    printed.run(freshet, "estimate --fit-prior", &["estimate", "--fit-prior", "--group", "all"]);
    printed.run(freshet, "estimate --first-interval", &["estimate", "--first-interval"]);
    printed.run(freshet, "store rebuild", &["store", "rebuild"]);
    printed.run(freshet, "store rebuild --index", &["store", "rebuild", "--index"]);
    printed.run(freshet, "forget", &["forget", "--yes", &site.url("/0")]);
}

/// `freshet serve` prints its document when it answers, and goes on.
fn served(printed: &mut Printed, freshet: &Freshet) {
    let server = freshet.start(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    while !server.stdout().ends_with("}\n") {
        std::thread::sleep(Duration::from_millis(20));
    }
    printed.take("serve", &Ran { code: Some(0), stdout: server.stdout(), stderr: String::new() }, &[0]);
}

fn studied(printed: &mut Printed, freshet: &Freshet) {
    freshet.write("a.txt", "one two three four five");
    freshet.write("b.txt", "one two three four six");
    printed.run(freshet, "compare", &["compare", "a.txt", "b.txt"]);
    freshet.write("rates.csv", "page,rate,weight\na,1,1\nb,0.1,1\n");
    printed.run(freshet, "rates", &["rates", "--input", "rates.csv", "--budget", "1"]);
    printed.run(freshet, "export", &["export", "--format", "observations", "--out", "visits.csv"]);
    printed.run(freshet, "export --format files", &["export", "--format", "files", "--out", "bodies"]);
    printed.run(freshet, "import", &["import", "visits.csv", "--format", "observations", "--out", "made.ds"]);
    let simulate =
        ["simulate", "--synthetic", "pages=60,cycles=8", "--policy", "age,uniform", "--folds", "2"];
    printed.run(freshet, "simulate", &simulate);
    let evolve = ["evolve", "--synthetic", "pages=60,cycles=8", "--population", "6", "--generations", "2"];
    let evolve = [&evolve[..], &["--runs", "1", "--folds", "2", "--kept", "2"]].concat();
    printed.run(freshet, "evolve", &evolve);
    printed.run(freshet, "evolve --explain", &["evolve", "--explain", "champion.toml"]);
    printed.run(freshet, "reproduce", &["reproduce", "avrachenkov", "--runs", "2"]);
    printed.run(freshet, "init", &["init"]);
    freshet.write("with-site.toml", "[site.\"a.example\"]\ndelay = 2\n");
    printed.run(freshet, "config", &["config", "--config", "with-site.toml"]);
}

fn played(printed: &mut Printed) {
    let freshet = Freshet::new();
    let short = ["demo", "--short", "--hosts", "1", "--pages", "12", "--cycles", "1", "--day", "500ms"];
    let searched = ["--policy", "age", "--queries", "--store", "demo"];
    printed.run(&freshet, "demo", &[&short[..], &searched].concat());
    let mut command = freshet.command();
    command.args(["web", "--hosts", "1", "--pages", "8", "--port", "0", "--json"]);
    let web = Running::start(command);
    while !web.stdout().ends_with("}\n") {
        std::thread::sleep(Duration::from_millis(20));
    }
    let seeds: Value = serde_json::from_str(&web.stdout()).expect("JSON");
    let seed = seeds["seeds"][0].as_str().expect("a seed").to_owned();
    printed.take("web", &Ran { code: Some(0), stdout: web.stdout(), stderr: String::new() }, &[0]);
    let file = freshet.seeds(&[seed.as_str()]);
    let crawl = [&["crawl", "--seeds", &file, "--store", "web.db"], &FAST[..]].concat();
    assert_eq!(freshet.run(&crawl).code, Some(0));
    freshet.write("queries.txt", "river\nsummer garden\t2\n");
    let score = ["score", "--truth", &seed, "--store", "web.db", "--queries", "queries.txt", "--json"];
    printed.take("score", &freshet.start(&score).wait(PATIENCE), &[0]);
}

#[test]
fn every_document_is_as_the_reference_says() {
    let mut printed = Printed::default();
    let (site, freshet) = crawled(&mut printed);
    looked_at(&mut printed, &site, &freshet);
    served(&mut printed, &freshet);
    studied(&mut printed, &freshet);
    played(&mut printed);
    let tables = documented();
    let mut wrong = Vec::new();
    for (heading, documents) in &printed.documents {
        let Some(table) = tables.get(heading) else {
            wrong.push(format!("docs/json.md has no heading \"## `freshet {heading}`\""));
            continue;
        };
        let seen = keys_of(documents, Some(table));
        // Below a key of any type, anything may stand.
        let any: Vec<&String> =
            table.iter().filter(|(_, said)| said.contains("any")).map(|(key, _)| key).collect();
        let is_below = |key: &str| {
            any.iter()
                .any(|any| key.strip_prefix(any.as_str()).is_some_and(|rest| rest.starts_with(['.', '['])))
        };
        for (key, types) in seen.iter().filter(|(key, _)| !is_below(key)) {
            match table.get(key) {
                None => wrong.push(format!("{heading}: `{key}` ({types:?}) is not documented")),
                Some(said) if !said.contains("any") && !types.is_subset(said) => {
                    wrong.push(format!("{heading}: `{key}` is {types:?}, documented as {said:?}"));
                }
                Some(_) => {}
            }
        }
        for key in table.keys().filter(|key| !seen.contains_key(*key)) {
            // A key of an object that was nowhere to be seen says nothing.
            let parent = key.rsplit_once('.').map_or("", |(parent, _)| parent.trim_end_matches("[]"));
            let is_open = key.ends_with('*') || key.ends_with("[]");
            let has_parent = parent.is_empty() || has_object(documents, parent);
            if has_parent && !is_open && !is_sometimes(heading, key) {
                wrong.push(format!("{heading}: `{key}` is documented and not printed"));
            }
        }
    }
    for heading in tables.keys().filter(|heading| !printed.documents.contains_key(*heading)) {
        wrong.push(format!("docs/json.md: `freshet {heading}` is not run by this test"));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn keys_of(documents: &[Value], table: Option<&Keys>) -> Keys {
    let maps =
        table.into_iter().flat_map(|table| table.keys()).filter(|key| key.ends_with('*')).cloned().collect();
    let mut keys = Keys::new();
    documents.iter().for_each(|document| note(document, "", &maps, &mut keys));
    keys
}

/// Is there an object at the end of this way, in any document?
fn has_object(documents: &[Value], way: &str) -> bool {
    fn at<'a>(values: Vec<&'a Value>, step: &str) -> Vec<&'a Value> {
        let (name, is_list) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
        let named = values.into_iter().flat_map(|value| match name {
            "*" => value.as_object().into_iter().flat_map(|object| object.values()).collect::<Vec<_>>(),
            name => value.get(name).into_iter().collect(),
        });
        let inner = named.flat_map(|value| match value.as_array() {
            Some(items) if is_list => items.iter().collect::<Vec<_>>(),
            _ => vec![value],
        });
        inner.collect()
    }
    let found = way.split('.').fold(documents.iter().collect::<Vec<_>>(), at);
    let items =
        found.into_iter().flat_map(|value| value.as_array().map_or(vec![value], |all| all.iter().collect()));
    items.into_iter().any(Value::is_object)
}

/// Keys that are printed in some cases only; the document says in which.
fn is_sometimes(heading: &str, key: &str) -> bool {
    let row = DOCUMENT.lines().skip_while(|line| *line != format!("## `freshet {heading}`"));
    let row = row
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .find(|line| line.starts_with(&format!("| `{key}`")));
    row.is_some_and(|row| row.contains("(only "))
}

#[test]
fn a_key_has_one_type_wherever_it_stands() {
    let mut types: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (heading, keys) in documented() {
        for (way, kinds) in keys {
            let key = way.rsplit('.').next().unwrap_or_default();
            if key == "*" || key.ends_with("[]") || STUDIES.contains(&heading.as_str()) {
                continue;
            }
            for kind in kinds.iter().filter(|kind| *kind != "null") {
                types
                    .entry(key.to_owned())
                    .or_default()
                    .entry(kind.clone())
                    .or_default()
                    .insert(heading.clone());
            }
        }
    }
    let twice: Vec<_> = types.iter().filter(|(_, kinds)| kinds.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn every_command_that_prints_json_is_in_the_reference() {
    let tables = documented();
    let help = Freshet::new().run(&["--help"]).stdout;
    let commands =
        help.lines().skip_while(|line| *line != "Gather pages:").take_while(|line| *line != "Options:");
    let commands = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty());
    for command in commands.filter(|name| !["completions", "man", "help"].contains(name)) {
        let has_table = tables.keys().any(|heading| heading.split(' ').next() == Some(command));
        assert!(has_table, "docs/json.md has no heading \"## `freshet {command}`\"");
    }
}
