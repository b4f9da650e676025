//! Getting a page back: what was stored, byte for byte, at any date.

use crate::support::{FAST, Freshet, Ran, Reply, Site, operator};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::{Command, Stdio};

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\xff\xfe binary \x00\x01";
const LATIN: &[u8] = b"<html><body><p>caf\xe9 au lait, na\xefve</p></body></html>";

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site) {
    let ran = operator::crawl(freshet, &[site.url("/")], &["--delay", "0", "--no-sitemaps", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
}

/// What a command wrote to standard output, byte for byte.
#[track_caller]
fn bytes(freshet: &Freshet, arguments: &[&str]) -> Vec<u8> {
    let ran = freshet.command().arg("show").args(arguments).stderr(Stdio::piped()).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

fn show(freshet: &Freshet, arguments: &[&str]) -> Ran {
    freshet.run(&[&["show"], arguments].concat())
}

fn first(text: &str) -> String {
    format!("<title>News</title><p>{text} of the day</p>\r\n<!-- to the byte -->")
}

/// A site with a page that changes once, a picture, a page in Latin-1, one that goes, and one that moves; crawled twice.
fn crawled() -> (Site, Freshet) {
    let site = Site::start();
    let links =
        "<a href=/news>1</a><a href=/p.png>2</a><a href=/latin>3</a><a href=/gone>4</a><a href=/away>5</a>";
    site.page("/", links);
    let news = |text: &str| {
        let reply = Reply::html(first(text)).header("X-Served-By", "one");
        reply.header("Set-Cookie", "a=1").header("Set-Cookie", "b=2").header("X-Word", "caf\u{e9}")
    };
    site.page("/news", Reply::sequence(vec![news("first text"), news("second text")]));
    site.page("/p.png", Reply::bytes("image/png", PICTURE.to_vec()).gzip());
    site.page("/latin", Reply::bytes("text/html; charset=iso-8859-1", LATIN.to_vec()));
    let missing = || Reply::status(404, "no");
    site.page(
        "/gone",
        Reply::sequence(vec![Reply::html(first("a last text")), missing(), missing(), missing()]),
    );
    site.page("/away", Reply::redirect(302, "/news"));
    let freshet = Freshet::new();
    for _ in 0..3 {
        crawl(&freshet, &site);
    }
    (site, freshet)
}

fn history(freshet: &Freshet, url: &str) -> Vec<Value> {
    freshet.json(&["history", url, "--json"])["visits"].as_array().cloned().unwrap()
}

#[test]
fn a_pipe_and_a_file_get_the_body_byte_for_byte() {
    let (site, freshet) = crawled();
    assert_eq!(bytes(&freshet, &[&site.url("/p.png")]), PICTURE);
    assert_eq!(bytes(&freshet, &[&site.url("/latin"), "--body"]), LATIN);
    assert_eq!(bytes(&freshet, &[&site.url("/latin"), "--text"]), "café au lait, naïve".as_bytes());
    assert_eq!(bytes(&freshet, &[&site.url("/news")]), first("second text").as_bytes());
    let ran = show(&freshet, &[&site.url("/p.png"), "--out", "p.png"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{}", ran.output());
    assert_eq!(fs::read(freshet.path("p.png")).unwrap(), PICTURE);
    let sum = Command::new("sha256sum").arg(freshet.path("p.png")).output().unwrap().stdout;
    let told = freshet.json(&["show", &site.url("/p.png"), "--json"]);
    assert_eq!(told["title"], Value::Null);
    assert_eq!(told["sha256"].as_str(), String::from_utf8(sum).unwrap().split_whitespace().next());
}

#[test]
fn json_and_headers_say_how_it_came() {
    let (site, freshet) = crawled();
    let told = freshet.json(&["show", &site.url("/news"), "--json"]);
    assert_eq!(told["title"], "News");
    assert_eq!((&told["url"], &told["status"]), (&site.url("/news").into(), &200.into()), "{told}");
    assert_eq!(
        (&told["protocol"], &told["remote_address"]),
        (&"HTTP/1.1".into(), &"127.0.0.1".into()),
        "{told}"
    );
    assert!(told["text"].as_str().unwrap().contains("second text") && told["state"] == "alive", "{told}");
    assert_eq!(told["body_bytes"], first("second text").len(), "{told}");
    let values = |wanted: &str| -> Vec<String> {
        let headers = told["headers"].as_array().unwrap().iter();
        let own = headers.filter(|header| header["name"] == wanted);
        own.map(|header| header["value"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (values("set-cookie"), values("x-served-by")),
        (vec!["a=1".into(), "b=2".into()], vec!["one".into()])
    );
    let head = String::from_utf8_lossy(&bytes(&freshet, &[&site.url("/news"), "--headers"])).into_owned();
    assert!(
        head.starts_with("HTTP/1.1 200\r\n") && head.contains("\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n"),
        "{head}"
    );
    // The body is stored without its encoding, and so are the headers.
    let picture = freshet.json(&["show", &site.url("/p.png"), "--json"]);
    assert!(!picture["headers"].to_string().contains("content-encoding"), "{picture}");
    assert_eq!(picture["content_type"], "image/png");
}

#[test]
fn an_old_version_is_shown_by_its_date() {
    let (site, freshet) = crawled();
    let url = site.url("/news");
    let visits = history(&freshet, &url);
    let at = visits[0]["at"].as_str().unwrap();
    // Times that are shown are whole seconds: the moment itself lies in the second after.
    let exact = |row: usize| -> i64 {
        let store = rusqlite::Connection::open(freshet.path("freshet.db")).unwrap();
        let sql = "SELECT at FROM observation JOIN page ON page.id = page_id WHERE page.url = ?1 ORDER BY at LIMIT 1 OFFSET ?2";
        store.query_row(sql, rusqlite::params![url, row as i64], |row| row.get(0)).unwrap()
    };
    let moment = |millis: i64| jiff::Timestamp::from_millisecond(millis).unwrap().to_string();
    let then = moment(exact(1) - 1);
    assert_eq!(bytes(&freshet, &[&url, "--at", &then]), first("first text").as_bytes(), "{at}");
    let told = freshet.json(&["show", &url, "--at", &then, "--json"]);
    assert_eq!((&told["fetched_at"], &told["confirmed_at"]), (&visits[0]["at"], &visits[0]["at"]), "{told}");
    assert_eq!(bytes(&freshet, &[&url, "--at", &moment(exact(1))]), first("second text").as_bytes());
    let before = show(&freshet, &[&url, "--at", "2020-01-01"]);
    assert_eq!(before.code, Some(1), "{}", before.output());
    assert!(
        before.stderr.contains("nothing was stored of") && before.stderr.contains("its first version is of"),
        "{}",
        before.output()
    );
    let wrong = show(&freshet, &[&url, "--at", "yesterday"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
}

#[test]
fn a_page_that_is_gone_shows_its_last_version_and_says_so() {
    let (site, freshet) = crawled();
    let ran = show(&freshet, &[&site.url("/gone")]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(ran.stdout, first("a last text"));
    assert!(ran.stderr.contains("the page is gone: this is its last version, of "), "{}", ran.output());
    let quiet = show(&freshet, &[&site.url("/gone"), "--quiet"]);
    assert!(quiet.stderr.is_empty(), "{}", quiet.output());
    let nothing = show(&freshet, &[&site.url("/away")]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.output());
    assert!(nothing.stderr.contains("nothing is stored of"), "{}", nothing.output());
}

#[test]
fn files_links_pipes_and_devices_are_written_through() {
    let (site, freshet) = crawled();
    let url = site.url("/p.png");
    freshet.write("target", "old");
    symlink("target", freshet.path("link")).unwrap();
    assert_eq!(show(&freshet, &[&url, "--out", "link"]).code, Some(0));
    assert!(fs::symlink_metadata(freshet.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read(freshet.path("target")).unwrap(), PICTURE);

    let fifo = freshet.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read(fifo).unwrap()
    });
    assert_eq!(show(&freshet, &[&url, "--out", "fifo"]).code, Some(0));
    assert_eq!(reader.join().unwrap(), PICTURE);
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());

    let full = show(&freshet, &[&url, "--out", "/dev/full"]);
    assert_eq!(full.code, Some(1), "{}", full.output());
    assert!(full.stderr.contains("`/dev/full` can't be written"), "{}", full.output());
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    let device = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let full = freshet.command().args(["show", &url]).stdout(device).output().unwrap();
    assert_eq!(full.status.code(), Some(1), "a full pipe is told");
}

#[test]
fn a_version_of_an_earlier_release_is_shown_without_headers() {
    let freshet = Freshet::new();
    let earlier = include_bytes!("../conformance/earlier_store.db.gz");
    let mut file = fs::File::create(freshet.path("freshet.db")).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(&earlier[..]), &mut file).unwrap();
    let url = "http://127.0.0.1:18799/moving";
    let told = freshet.json(&["show", url, "--json"]);
    assert!(told["headers"].is_null() && told["status"].is_null(), "{told}");
    assert_eq!(told["sha256"].as_str().map(str::len), Some(64), "it is made when it is asked for: {told}");
    let headers = show(&freshet, &[url, "--headers"]);
    assert_eq!(headers.code, Some(1), "{}", headers.output());
    assert!(headers.stderr.contains("the headers of this version are not known"), "{}", headers.output());
}

#[test]
fn a_version_without_room_is_a_clear_error() {
    let site = Site::start();
    site.page(
        "/",
        Reply::dynamic(|request| Reply::html(format!("<p>{}", "word ".repeat(500 + request.count)))),
    );
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\npage_store_bytes = 1\n");
    let ran = operator::crawl(&freshet, &[site.url("/")], &FAST[1..]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let told = show(&freshet, &[&site.url("/")]);
    assert_eq!(told.code, Some(1), "{}", told.output());
    assert!(
        told.stderr.contains("is known by its hashes only: there was no room for its"),
        "{}",
        told.output()
    );
}

#[test]
fn a_page_is_found_as_people_type_it() {
    let (site, freshet) = crawled();
    let bare = site.url("/news").replace("http://", "");
    assert_eq!(bytes(&freshet, &[&bare]), first("second text").as_bytes());
    for command in ["diff", "history", "why"] {
        let ran = freshet.run(&[command, &bare]);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.output());
    }
    for (typed, said) in [
        (site.url("/news/"), format!("did you mean `{}`?", site.url("/news"))),
        (site.url("/news").replace("http:", "https:"), format!("did you mean `{}`?", site.url("/news"))),
        (site.url("/nothing"), "the store does not know".to_owned()),
    ] {
        let ran = show(&freshet, &[&typed]);
        assert_eq!(ran.code, Some(1), "{}", ran.output());
        assert!(ran.stderr.contains(&said), "{}", ran.output());
    }
    let wrong = show(&freshet, &["word"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
    let check = freshet.run(&["check", "127.0.0.1:9/x", "--allow-private"]);
    assert!(check.stderr.contains("https://127.0.0.1:9/x"), "{}", check.output());
}

#[test]
fn nothing_that_was_sent_is_in_the_store() {
    let site = Site::start();
    site.page("/", Reply::html("<p>for members"));
    let freshet = Freshet::new();
    let section = format!("[site.\"{}\"]\nheaders = {{ X-Key = \"open-sesame\" }}\n", site.origin(0));
    freshet.write("freshet.toml", section);
    crawl(&freshet, &site);
    assert_eq!(site.log().first("/").unwrap().header("x-key"), Some("open-sesame"));
    let told = freshet.json(&["show", &site.url("/"), "--json"]);
    assert!(told["headers"].as_array().is_some_and(|headers| !headers.is_empty()), "{told}");
    for entry in fs::read_dir(freshet.path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending != "toml") {
            let held = fs::read(&path).unwrap();
            assert!(!held.windows(11).any(|part| part == b"open-sesame"), "{}", path.display());
        }
    }
}
