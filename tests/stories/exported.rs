//! Exports: which visits and pages a file has, where it goes, and bodies as files.

use crate::support::{FAST, Freshet, Ran, Reply, Site, article, links_page};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::process::Command;

#[track_caller]
fn done(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran
}

#[track_caller]
fn crawl(freshet: &Freshet, urls: &[String], cycles: &str) {
    let seeds = freshet.seeds(urls);
    let flags = ["crawl", "--seeds", &seeds, "--cycles", cycles, "--no-sitemaps", "--quiet"];
    done(freshet.run(&[&flags, &FAST[..]].concat()));
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Three hosts' worth of trouble on two: a page that changes, one that is gone after a while, one that never was, a picture,
/// and one that moves for good to a page with the same text.
fn troubled() -> (Site, Freshet) {
    let site = Site::with_ports(2);
    let links = ["/changing", "/gone", "/never", "/picture.png", "/old", "/new"];
    site.page("/", links_page("home", &links));
    site.page("/changing", Reply::dynamic(|request| article("page", 60, request.count as u64, &[]).into()));
    let there = Reply::html(article("gone soon", 60, 77, &[])).header("x-kept", "yes");
    site.page(
        "/gone",
        Reply::sequence(vec![there.clone(), there, Reply::status(404, "no"), Reply::status(404, "no")]),
    );
    site.page("/picture.png", Reply::bytes("image/png", b"\x89PNG\r\n\x00\xff".to_vec()));
    let same = || Reply::html(article("same", 60, 5, &[])).last_modified("Mon, 16 Nov 2026 08:00:00 GMT");
    let moved = Reply::redirect(301, "/new");
    site.page("/old", Reply::sequence(vec![same(), moved.clone(), moved.clone(), moved]));
    site.page("/new", same());
    site.page_on(1, "/", "<p>another host with a text of its own");
    let freshet = Freshet::new();
    let urls = [site.url("/"), site.url_on(1, "/")];
    for _ in 0..5 {
        crawl(&freshet, &urls, "1");
    }
    (site, freshet)
}

fn out(freshet: &Freshet, arguments: &[&str]) -> Ran {
    freshet.run(&[&["export"], arguments].concat())
}

#[test]
fn a_store_and_the_dataset_exported_from_it_are_replayed_alike() {
    let (_site, freshet) = troubled();
    done(out(&freshet, &["--format", "observations", "--out", "visits.parquet"]));
    done(freshet.run(&["import", "visits.parquet", "--format", "observations", "--out", "ds"]));
    let flags = ["--policy", "longevity,age,utility,nutch,t*x", "--budget", "20%,50%", "--json", "--quiet"];
    let of_store = done(freshet.run(&[&["simulate", "--store", "freshet.db"], &flags[..]].concat())).stdout;
    let of_dataset = done(freshet.run(&[&["simulate", "ds"], &flags[..]].concat())).stdout;
    let (of_store, of_dataset) = (lines(&of_store), lines(&of_dataset));
    assert_eq!(of_store.len(), 10);
    assert_eq!(of_store, of_dataset);
}

#[test]
fn an_export_says_what_its_format_leaves_out_and_no_history_is_lost() {
    let (site, freshet) = troubled();
    let alias = lines(&done(freshet.run(&["pages", "--state", "alias", "--json"])).stdout);
    assert_eq!(alias.len(), 1, "the old page is an alias by now: {alias:?}");

    let all = done(out(&freshet, &["--format", "observations", "--out", "all.jsonl", "--json"])).json();
    let rows = lines(&fs::read_to_string(freshet.path("all.jsonl")).unwrap());
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(
        all["counts"]["visits"], status["size"]["observation_count"],
        "every visit is there: {status}"
    );
    assert_eq!(all["left_out"]["aliases"], 0);
    let old: Vec<&Value> = rows.iter().filter(|row| row["url"] == site.url("/old")).collect();
    assert!(old.len() >= 2 && old.iter().all(|row| row["alias_of"] == site.url("/new")), "{old:?}");
    assert_eq!(old[1]["redirect_to"], site.url("/new"), "{old:?}");

    for format in ["brdc", "lambdacrawl", "rates"] {
        let ran = done(out(&freshet, &["--format", format, "--out", format]));
        let visits = format!("1 alias with {} visits left out: `observations` has their history", old.len());
        assert!(ran.stderr.contains(&visits), "{}", ran.output());
        // The page that never was.
        assert!(ran.stderr.contains("1 page left out: this format has no place"), "{}", ran.output());
        assert!(
            ran.stderr.contains(" in the source, ") && ran.stderr.contains("in the file: it has "),
            "{}",
            ran.output()
        );
    }
}

#[test]
fn observations_say_the_type_the_redirect_the_date_and_the_outcome_of_each_visit() {
    let (site, freshet) = troubled();
    for ending in ["csv", "jsonl", "parquet"] {
        let file = format!("visits.{ending}");
        done(out(&freshet, &["--format", "observations", "--out", &file]));
        let dataset = format!("from-{ending}");
        done(freshet.run(&["import", &file, "--format", "observations", "--out", &dataset]));
        let again = format!("{ending}.jsonl");
        done(out(&freshet, &["--from", &dataset, "--format", "observations", "--out", &again]));
    }
    let read = |name: &str| fs::read_to_string(freshet.path(name)).unwrap();
    assert!(read("csv.jsonl") == read("visits.jsonl") && read("parquet.jsonl") == read("visits.jsonl"));
    let rows = lines(&read("visits.jsonl"));
    let of = |path: &str| rows.iter().filter(|row| row["url"] == site.url(path)).collect::<Vec<_>>();
    assert!(
        of("/picture.png").iter().all(|row| row["content_type"] == "image/png"),
        "{:?}",
        of("/picture.png")
    );
    assert!(
        of("/never").iter().all(|row| row["outcome"] == "missing" && row["status"] == 404),
        "{:?}",
        of("/never")
    );
    assert!(of("/never").iter().all(|row| row["content_type"].is_null()), "{:?}", of("/never"));
    assert_eq!(of("/new")[0]["last_modified_ms"], 1_794_816_000_000_i64, "{:?}", of("/new"));
    assert_eq!(of("/old")[1]["outcome"], "moved", "{:?}", of("/old"));
}

#[test]
fn an_export_takes_some_sites_and_some_times_and_goes_to_standard_output() {
    let (site, freshet) = troubled();
    let port = site.origin(1).rsplit_once(':').unwrap().1.to_owned();
    let to_stdout = ["--format", "observations-jsonl", "--out", "-"];
    let one = done(out(&freshet, &[&to_stdout[..], &["--site", &format!("127.0.0.1:{port}")]].concat()));
    let rows = lines(&one.stdout);
    assert!(rows.len() == 5 && rows.iter().all(|row| row["url"] == site.url_on(1, "/")), "{}", one.output());
    assert!(!freshet.path("-").exists() && !freshet.path("-.meta.json").exists());
    // A dataset that the receiver makes of it.
    freshet.write("piped.jsonl", &one.stdout);
    done(freshet.run(&["import", "piped.jsonl", "--format", "observations", "--out", "ds"]));

    let all = lines(&done(out(&freshet, &to_stdout)).stdout);
    let middle = all.iter().filter_map(|row| row["time_ms"].as_i64()).max().unwrap() / 1000;
    let since = jiff::Timestamp::from_second(middle).unwrap().to_string();
    let late = lines(&done(out(&freshet, &[&to_stdout[..], &["--since", &since]].concat())).stdout);
    assert!(!late.is_empty() && late.len() <= all.len());
    assert!(late.iter().all(|row| row["time_ms"].as_i64().unwrap() >= middle * 1000));

    for (arguments, code, said) in [
        (&["--format", "brdc", "--out", "-"][..], 1, "several files"),
        (&["--format", "rates", "--since", "1h", "--out", "r.csv"], 1, "--since can't choose"),
        (&["--format", "observations", "--out", "visits"], 2, "observations-csv"),
        (
            &["--format", "observations", "--site", "no.example", "--out", "x.csv"],
            1,
            "no page of `no.example`",
        ),
        (&["--format", "observations", "--at", "1h", "--out", "x.csv"], 2, "--format files"),
        (&["--format", "files", "--out", "-"], 2, "folder"),
    ] {
        let ran = out(&freshet, arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}\n{}", ran.output());
        assert!(ran.stderr.contains(said) && !freshet.path("x.csv").exists(), "{}", ran.output());
    }
    let wide = done(out(&freshet, &["--format", "observations-csv", "--out", "-", "--quiet"]));
    let plain = done(out(&freshet, &["--format", "observations", "--out", "-"]));
    assert_eq!(plain.stdout, wide.stdout, "CSV by default");
    assert!(wide.stdout.starts_with("group,site,url,") && wide.stderr.is_empty(), "{}", wide.output());
}

#[test]
fn links_pipes_and_devices_are_written_through_and_modes_are_kept() {
    let (_site, freshet) = troubled();
    let export = |to: &str| out(&freshet, &["--format", "observations-csv", "--out", to]);
    fs::create_dir(freshet.path("elsewhere")).unwrap();
    freshet.write("elsewhere/target.csv", "old");
    fs::set_permissions(freshet.path("elsewhere/target.csv"), Permissions::from_mode(0o600)).unwrap();
    symlink("elsewhere/target.csv", freshet.path("link.csv")).unwrap();
    done(export("link.csv"));
    assert!(fs::symlink_metadata(freshet.path("link.csv")).unwrap().is_symlink());
    let target = freshet.path("elsewhere/target.csv");
    assert!(fs::read_to_string(&target).unwrap().starts_with("group,"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);

    let fifo = freshet.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo).unwrap()
    });
    done(export("fifo"));
    assert_eq!(reader.join().unwrap(), fs::read_to_string(&target).unwrap());
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(!freshet.path("fifo.meta.json").exists(), "nothing stands beside a pipe");

    let full = export("/dev/full");
    assert_eq!(full.code, Some(1), "{}", full.output());
    assert!(full.stderr.contains("`/dev/full` can't be written"), "{}", full.output());
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    assert!(!std::path::Path::new("/dev/full.meta.json").exists());

    let deep = export("a/b/visits.csv");
    assert_eq!(deep.code, Some(1), "{}", deep.output());
    assert!(deep.stderr.contains("there is no folder `a`; make it first"), "{}", deep.output());
    assert!(!freshet.path("a").exists());
    done(export("a/visits.csv"));

    // The same for a plot, and for a dataset that a link stands in the way of.
    symlink("elsewhere/plot.svg", freshet.path("plot.svg")).unwrap();
    let flags = ["--policy", "age", "--budget", "50%", "--plot", "plot.svg"];
    done(freshet.run(&[&["simulate", "--store", "freshet.db"], &flags[..]].concat()));
    assert!(fs::symlink_metadata(freshet.path("plot.svg")).unwrap().is_symlink());
    assert!(fs::read_to_string(freshet.path("elsewhere/plot.svg")).unwrap().starts_with("<svg"));
    symlink("nowhere", freshet.path("ds")).unwrap();
    let import = freshet.run(&["import", "a/visits.csv", "--format", "observations-csv", "--out", "ds"]);
    assert_eq!(import.code, Some(1), "{}", import.output());
    assert!(fs::symlink_metadata(freshet.path("ds")).unwrap().is_symlink());
    let evolve = freshet.run(&["evolve", "--synthetic", "pages=50,cycles=10", "--out", "/dev/null"]);
    assert_eq!(evolve.code, Some(2), "{}", evolve.output());
    assert!(!std::path::Path::new("/dev/null.journal").exists());
}

#[test]
fn bodies_go_out_as_files_in_folders_by_host_with_an_index() {
    let (site, freshet) = troubled();
    let told = done(out(&freshet, &["--format", "files", "--out", "archive", "--json"])).json();
    let index = lines(&fs::read_to_string(freshet.path("archive/index.jsonl")).unwrap());
    assert_eq!(told["pages"], index.len(), "{told}");
    assert_eq!(
        (&told["files"], &told["written"], &told["aliases"]),
        (&told["pages"], &told["pages"], &1.into())
    );
    let of = |path: &str| index.iter().find(|line| line["url"] == site.url(path)).unwrap();
    let host = site.origin(0).replace("http://", "").replace(':', "_");
    for (path, file) in [("/", "index.html"), ("/gone", "gone.html"), ("/picture.png", "picture.png")] {
        assert_eq!(of(path)["file"], format!("{host}/{file}"), "{index:?}");
    }
    let titles = ["/", "/gone", "/picture.png"].map(|path| of(path)["title"].clone());
    assert_eq!(titles, [Value::from("home"), "gone soon".into(), Value::Null]);
    // An earlier release stored no titles: they are read from the bodies.
    let store = rusqlite::Connection::open(freshet.path("freshet.db")).unwrap();
    store.execute("UPDATE version SET title = NULL", []).unwrap();
    store.close().unwrap();
    done(out(&freshet, &["--format", "files", "--out", "archive"]));
    assert_eq!(lines(&fs::read_to_string(freshet.path("archive/index.jsonl")).unwrap()), index);
    assert_eq!(
        fs::read(freshet.path(&format!("archive/{host}/picture.png"))).unwrap(),
        b"\x89PNG\r\n\x00\xff"
    );
    assert_eq!(
        (&of("/picture.png")["content_type"], &of("/picture.png")["status"]),
        (&"image/png".into(), &200.into())
    );
    let sum =
        Command::new("sha256sum").arg(freshet.path(&format!("archive/{host}/picture.png"))).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert_eq!(of("/picture.png")["sha256"].as_str(), sum.split_whitespace().next());
    assert_eq!(of("/gone")["state"], "gone");

    // Again: nothing is written. A file that was damaged, or is gone, is.
    let again = done(out(&freshet, &["--format", "files", "--out", "archive", "--json"])).json();
    assert_eq!((&again["files"], &again["written"]), (&told["files"], &0.into()), "{again}");
    freshet.write(&format!("archive/{host}/picture.png"), b"\x89PNG\r\n\x00\xfe");
    fs::remove_file(freshet.path(&format!("archive/{host}/gone.html"))).unwrap();
    let mended = done(out(&freshet, &["--format", "files", "--out", "archive", "--json"])).json();
    assert_eq!(mended["written"], 2, "{mended}");

    let all = done(out(&freshet, &["--format", "files", "--all-versions", "--out", "all", "--json"])).json();
    let every = lines(&fs::read_to_string(freshet.path("all/index.jsonl")).unwrap());
    let changing: Vec<&Value> = every.iter().filter(|line| line["url"] == site.url("/changing")).collect();
    assert_eq!(changing.len(), 5, "{all}");
    assert!(every.iter().any(|line| line["url"] == site.url("/old") && line["alias_of"] == site.url("/new")));
    for line in &every {
        let body = fs::read(freshet.path("all").join(line["file"].as_str().unwrap())).unwrap();
        assert_eq!(line["body_bytes"], body.len(), "{line}");
    }
    // A snapshot: what the pages held when the third version came.
    let fetched_at = |line: &Value| line["fetched_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let then = fetched_at(changing[2]);
    // Times in the index are whole seconds.
    let later = jiff::Timestamp::from_millisecond(then.as_millisecond() + 999).unwrap();
    done(out(&freshet, &["--format", "files", "--at", &later.to_string(), "--out", "then"]));
    let snapshot = lines(&fs::read_to_string(freshet.path("then/index.jsonl")).unwrap());
    let held = snapshot.iter().find(|line| line["url"] == site.url("/changing")).unwrap();
    assert!(fetched_at(held) <= later && fetched_at(held) >= then, "{held}");
    let before = out(&freshet, &["--format", "files", "--at", "2020-01-01", "--out", "never"]);
    assert_eq!(before.code, Some(1), "{}", before.output());
    assert!(!freshet.path("never/index.jsonl").exists());
}

#[test]
fn pages_whose_names_no_file_system_could_tell_apart_have_files_of_their_own() {
    let site = Site::start();
    let paths =
        ["/Case", "/case", "/a", "/a/b", "/a.html", "/a.html/b", "/x?q=1/2", "/x?q=1_2", "/con", "/d/"];
    site.page("/", links_page("home", &paths));
    for path in paths {
        site.page(path, format!("<p>the page {path}").as_str());
    }
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], "1");
    done(out(&freshet, &["--format", "files", "--out", "archive"]));
    let index = lines(&fs::read_to_string(freshet.path("archive/index.jsonl")).unwrap());
    assert_eq!(index.len(), 11, "{index:?}");
    let mut names = std::collections::BTreeSet::new();
    for line in &index {
        let file = line["file"].as_str().unwrap();
        assert!(names.insert(file.to_lowercase()), "`{file}` twice: {index:?}");
        if line["url"] != site.url("/") {
            let body = fs::read_to_string(freshet.path("archive").join(file)).unwrap();
            assert_eq!(
                body,
                format!("<p>the page {}", line["url"].as_str().unwrap().replace(&site.origin(0), ""))
            );
        }
    }
}

#[test]
fn signals_of_a_store_go_with_its_history() {
    let site = Site::start();
    site.page("/", links_page("home", &["/feed", "/told"]));
    site.page("/told", Reply::dynamic(|request| article("told", 60, request.count as u64, &[]).into()));
    let entry = |id: &str, url: String| format!("<entry><id>{id}</id><link href=\"{url}\"/></entry>");
    let feed = |entries: &str| {
        let xml = format!("<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>News</title>{entries}</feed>");
        Reply::bytes("application/atom+xml", xml)
    };
    let (first, second) = (entry("1", site.url("/")), entry("2", site.url("/told")));
    site.page("/feed", Reply::sequence(vec![feed(&first), feed(&(second + &first))]));
    let freshet = Freshet::new();
    for _ in 0..3 {
        crawl(&freshet, &[site.url("/")], "1");
    }
    let url = site.url("/told");
    for (file, format) in [("visits.csv", "observations"), ("texts.parquet", "fragments")] {
        done(out(&freshet, &["--format", format, "--out", file]));
        done(freshet.run(&["import", file, "--format", format, "--out", &format!("{file}.ds")]));
    }
    let told = |file: &str| {
        let text = fs::read_to_string(freshet.path(file)).expect("signals");
        let rows = text.lines().filter(|line| line.contains(&format!(",{url},feed,"))).count();
        (rows, text)
    };
    let (rows, text) = told("visits.csv.signals.csv");
    assert_eq!(rows, 1, "{text}");
    assert!(freshet.path("texts.parquet.signals.parquet").exists());
    // What was imported is what a replay of the store has, and what an export of the dataset writes again.
    for dataset in ["visits.csv.ds", "texts.parquet.ds"] {
        done(out(&freshet, &["--from", dataset, "--format", "observations", "--out", "again.csv"]));
        assert_eq!(told("again.csv.signals.csv").0, 1, "{dataset}");
    }
    let piped = out(&freshet, &["--format", "observations", "--out", "-"]);
    assert!(piped.stderr.contains("signal") && piped.stderr.contains("no room"), "{}", piped.stderr);
    assert!(!piped.stdout.contains(",feed,"), "{}", piped.stdout);
}
