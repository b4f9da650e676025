//! Pages that are broken, hostile or merely odd: each ends as an outcome with a reason, and the crawl goes on.

use crate::support::operator::{crawl, outcome, page};
use crate::support::{Freshet, Ran, Reply, Site, links_page};
use std::io::Write as _;
use std::time::Duration;

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];

/// One try each, short pauses after it, and short limits on time.
const HASTY: &str = "[crawl]\nback_off = 0.05\nattempts = 1\n\
                     [limits]\nconnect_seconds = 1\nidle_seconds = 1\ntotal_seconds = 2\n";

fn hasty() -> Freshet {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", HASTY);
    freshet
}

/// Crawls a front page that links to these pages and then to a good one; each must end as told, and the good one
/// be fetched.
#[track_caller]
fn assert_outcomes(freshet: &Freshet, pages: Vec<(&str, Reply, &str)>) -> (Site, Ran) {
    let site = Site::start();
    let links: Vec<&str> = pages.iter().map(|(path, ..)| *path).chain(["/good"]).collect();
    site.page("/", links_page("home", &links).as_str());
    site.page("/good", "good");
    for (path, reply, _) in &pages {
        site.page(path, reply.clone());
    }
    let ran = crawl(freshet, &[site.url("/")], &FLAGS);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    let told: Vec<(&str, String)> =
        pages.iter().map(|(path, ..)| (*path, outcome(freshet, &site.url(path)))).collect();
    let expected: Vec<(&str, String)> =
        pages.iter().map(|(path, _, expected)| (*path, (*expected).to_owned())).collect();
    assert_eq!(told, expected, "{}", ran.output());
    assert_eq!(outcome(freshet, &site.url("/good")), "fetched");
    (site, ran)
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// HTML whose body is compressed, or said to be.
fn encoded(encoding: &str, body: Vec<u8>) -> Reply {
    Reply::bytes("text/html", body).header("Content-Encoding", encoding)
}

#[test]
fn a_page_larger_than_the_limit_is_not_taken() {
    let nine_mib = vec![b' '; 9 << 20];
    let bomb = gzip(&nine_mib);
    assert!(bomb.len() < 100_000, "small on the wire");
    let mut endless = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec();
    endless.extend_from_slice(&nine_mib);
    let (_site, ran) = assert_outcomes(
        &hasty(),
        vec![
            ("/bomb", encoded("gzip", bomb), "too-large"),
            ("/promised", Reply::bytes("text/html", nine_mib), "too-large"),
            ("/endless", Reply::raw(endless), "too-large"),
        ],
    );
    assert_eq!(ran.json()["failed"], 3);
}

#[test]
fn the_limit_on_bodies_is_the_operators_to_set() {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nbody_bytes = 1000\n");
    assert_outcomes(
        &freshet,
        vec![
            ("/fits", Reply::html("x".repeat(1000)), "fetched"),
            ("/does-not", Reply::html("x".repeat(1001)), "too-large"),
            ("/bomb", Reply::html("x".repeat(1001)).gzip(), "too-large"),
        ],
    );
}

#[test]
fn a_page_that_ends_before_its_end_is_not_taken_for_the_page() {
    let page = links_page("cut", &["/from-a-broken-page"]);
    let chunked = |chunks: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")
    };
    let chunk = format!("{:x}\r\n{page}\r\n", page.len());
    let (site, _) = assert_outcomes(
        &hasty(),
        vec![
            ("/truncated", Reply::html(page.as_str()).truncate(page.len() - 20), "cut-off"),
            ("/longer", Reply::html(page.as_str()).header("Content-Length", "100000"), "cut-off"),
            ("/no-last-chunk", Reply::raw(chunked(&chunk)), "cut-off"),
            ("/bad-chunk", Reply::raw(chunked(&format!("{chunk}zz\r\nnonsense\r\n0\r\n\r\n"))), "malformed"),
        ],
    );
    assert!(!site.log().asked("/from-a-broken-page"), "a part of a page was read as a page");
}

#[test]
fn what_is_not_http_is_malformed() {
    let many: String = (0..5_000).map(|at| format!("X-{at}: {}\r\n", "y".repeat(100))).collect();
    let header_bomb = format!("HTTP/1.1 200 OK\r\n{many}\r\nbody");
    let long_header = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\nbody", "y".repeat(2 << 20));
    assert_outcomes(
        &hasty(),
        vec![
            ("/noise", Reply::raw("SSH-2.0-OpenSSH_9.6\r\n\r\n"), "malformed"),
            ("/many-headers", Reply::raw(header_bomb), "malformed"),
            ("/long-header", Reply::raw(long_header), "malformed"),
            (
                "/two-lengths",
                Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nbody"),
                "malformed",
            ),
        ],
    );
}

#[test]
fn an_encoding_that_is_not_what_it_says_is_said() {
    let page = links_page("inside", &["/inside"]);
    let once = gzip(page.as_bytes());
    let twice = gzip(&once);
    let cut = once[..once.len() / 2].to_vec();
    let (site, _) = assert_outcomes(
        &hasty(),
        vec![
            ("/twice", encoded("gzip, gzip", twice), "encoding"),
            ("/plain", encoded("gzip", page.clone().into_bytes()), "encoding"),
            ("/unknown", encoded("rot13", page.clone().into_bytes()), "encoding"),
            ("/identity", encoded("identity", page.clone().into_bytes()), "fetched"),
        ],
    );
    assert_eq!(site.log().count("/inside"), 1, "those that decode are read");
    // Half a stream is no page, whichever of the two it is called.
    let half = hasty();
    let site = Site::start();
    site.page("/", encoded("gzip", cut));
    crawl(&half, &[site.url("/")], &FLAGS);
    assert!(["encoding", "cut-off"].contains(&outcome(&half, &site.url("/")).as_str()));
}

#[test]
fn an_encoding_is_known_by_its_name_in_any_case() {
    let body = gzip(links_page("inside", &["/inside"]).as_bytes());
    let names = [("/upper", "GZIP"), ("/old", "x-gzip")];
    let pages = names.map(|(path, name)| (path, encoded(name, body.clone()), "fetched"));
    let (site, _) = assert_outcomes(&Freshet::new(), pages.to_vec());
    assert!(site.log().asked("/inside"), "{:?}", site.log().paths());
}

#[test]
fn a_server_that_wastes_our_time_does_not_get_it() {
    assert_outcomes(
        &hasty(),
        vec![
            ("/drip", Reply::html("x".repeat(100)).drip(1, Duration::from_millis(300)), "too-slow"),
            ("/stalls", Reply::html("x".repeat(100)).drip(50, Duration::from_secs(30)), "too-slow"),
            ("/silent", Reply::silent(), "no-answer"),
            ("/reset", Reply::reset(), "hung-up"),
            ("/mute", Reply::raw(""), "hung-up"),
        ],
    );
}

#[test]
fn what_is_not_a_page_is_kept_but_not_read() {
    let types = ["image/png", "application/json", "application/pdf", "text/css", "application/octet-stream"];
    let pages: Vec<(String, Reply)> = types
        .iter()
        .enumerate()
        .map(|(at, kind)| (format!("/{at}"), Reply::bytes(*kind, format!("<a href='/hidden'>{at}</a>"))))
        .collect();
    let freshet = Freshet::new();
    let given = pages.iter().map(|(path, reply)| (path.as_str(), reply.clone(), "fetched")).collect();
    let (site, _) = assert_outcomes(&freshet, given);

    assert!(!site.log().asked("/hidden"), "{:?}", site.log().paths());
    for (at, kind) in types.iter().enumerate() {
        let listed = page(&freshet, &site.url(&format!("/{at}")));
        assert_eq!(listed["content_type"], *kind, "{listed:#}");
        assert_eq!(listed["state"], "alive", "{listed:#}");
        assert_eq!(listed["body_bytes"], 23, "{listed:#}");
    }
}

#[test]
fn the_same_bytes_are_listed_under_the_type_each_page_gave_them() {
    let body = "<a href='/on'>on</a>";
    let freshet = Freshet::new();
    let (site, _) = assert_outcomes(
        &freshet,
        vec![
            ("/image", Reply::bytes("image/png", body), "fetched"),
            ("/page", Reply::bytes("text/html", body), "fetched"),
        ],
    );
    assert_eq!(page(&freshet, &site.url("/image"))["content_type"], "image/png");
    assert_eq!(page(&freshet, &site.url("/page"))["content_type"], "text/html");
    assert!(site.log().asked("/on"));
}

#[test]
fn what_follows_a_page_on_the_wire_is_not_taken_for_another() {
    let more = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 28\r\n\r\n<a href='/smuggled'>x</a>    ";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage";
    let (site, _) =
        assert_outcomes(&hasty(), vec![("/short", Reply::raw(format!("{head}{more}")), "fetched")]);
    assert!(!site.log().asked("/smuggled"), "{:?}", site.log().paths());
}

#[test]
fn a_page_is_read_in_the_charset_it_is_written_in() {
    let russian =
        "<p>Река несёт воду под старым мостом, и ветер стихает к вечеру.</p><a href='/мост'>мост</a>";
    let japanese = "<p>川は古い橋の下を静かに流れていく。</p><a href='/橋'>橋</a>";
    let windows_1251 = |text: &str| encoding_rs::WINDOWS_1251.encode(text).0.into_owned();
    let shift_jis = |text: &str| encoding_rs::SHIFT_JIS.encode(text).0.into_owned();
    let utf16 = |mark: &[u8], bytes: fn(u16) -> [u8; 2], text: &str| {
        [mark.to_vec(), text.encode_utf16().flat_map(bytes).collect()].concat()
    };
    let linked = |name: &str, text: &str| text.replace("href='/", &format!("href='/{name}/"));
    let meta = "<meta charset=shift_jis>";
    // How it is told which charset it is, its bytes, and the path that can only be found by reading it so.
    let (bridge, hashi) = ("%D0%BC%D0%BE%D1%81%D1%82", "%E6%A9%8B");
    let pages = [
        ("header", "text/html; charset=windows-1251", windows_1251(&linked("header", russian)), bridge),
        ("guess", "text/html", windows_1251(&linked("guess", &russian.repeat(3))), bridge),
        ("meta", "text/html", shift_jis(&format!("{meta}{}", linked("meta", japanese))), hashi),
        ("unknown", "text/html; charset=nonsense", linked("unknown", japanese).into_bytes(), hashi),
        ("little", "text/html", utf16(b"\xff\xfe", u16::to_le_bytes, &linked("little", japanese)), hashi),
        (
            "big",
            "text/html; charset=utf-8",
            utf16(b"\xfe\xff", u16::to_be_bytes, &linked("big", japanese)),
            hashi,
        ),
    ];
    let freshet = Freshet::new();
    let paths: Vec<String> = pages.iter().map(|(name, ..)| format!("/{name}")).collect();
    let given = pages.iter().zip(&paths);
    let given =
        given.map(|((_, kind, body, _), path)| (path.as_str(), Reply::bytes(*kind, body.clone()), "fetched"));
    let (site, ran) = assert_outcomes(&freshet, given.collect());

    for (name, _, _, found) in &pages {
        let path = format!("/{name}/{found}");
        assert!(site.log().asked(&path), "no {path} in {:?}\n{}", site.log().paths(), ran.output());
    }
}

#[test]
fn bytes_that_are_wrong_in_their_charset_do_not_cost_the_links() {
    let broken = [b"<p>caf\xe9 \xff\xfe\xc3(</p><a href='/after-1'>on</a>".to_vec()].concat();
    let wrong = encoding_rs::WINDOWS_1251.encode("<p>Река</p><a href='/after-2'>on</a>").0.into_owned();
    let (site, _) = assert_outcomes(
        &Freshet::new(),
        vec![
            ("/broken", Reply::bytes("text/html; charset=utf-8", broken), "fetched"),
            ("/wrong", Reply::bytes("text/html; charset=utf-8", wrong), "fetched"),
        ],
    );
    assert!(site.log().asked("/after-1") && site.log().asked("/after-2"), "{:?}", site.log().paths());
}

#[test]
fn a_hundred_thousand_boxes_in_boxes_are_read_quickly() {
    let deep = 100_000;
    let inner = format!("{}<a href='/inmost'>in</a>", "<div>".repeat(deep));
    let closed = format!("{inner}{}<a href='/after'>after</a>", "</div>".repeat(deep));
    let tables = format!("{}<a href='/in-tables'>in</a>", "<table><tr><td>".repeat(deep / 2));
    let (site, _) = assert_outcomes(
        &Freshet::new(),
        vec![("/closed", Reply::html(closed), "fetched"), ("/tables", Reply::html(tables), "fetched")],
    );
    for path in ["/inmost", "/after", "/in-tables"] {
        assert!(site.log().asked(path), "{path}");
    }
}

#[test]
fn of_two_hundred_thousand_links_some_are_taken_and_the_others_counted() {
    let links: String = (0..200_000).map(|at| format!("<a href=/{at}>x</a>\n")).collect();
    let site = Site::start();
    site.page("/", links.as_str());
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[limits]\nlinks_per_page = 30\n");
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(site.log().total(), 32, "robots.txt, the page, thirty links\n{}", ran.output());
    assert_eq!(ran.json()["refused_links"]["links-per-page"], 199_970, "{}", ran.output());
    let status = freshet.json(&["status", "--json"]);
    assert_eq!(status["refused_links"]["links-per-page"], 199_970);
}

#[test]
fn there_is_a_limit_on_links_by_default() {
    let links: String = (0..20_000).map(|at| format!("<a href=/{at}>x</a>\n")).collect();
    let site = Site::start();
    site.page("/", links.as_str());
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &[&FLAGS[..], &["--budget", "4"]].concat());

    let known = ran.json()["known_urls"].as_u64().unwrap_or_default();
    assert!((100..=10_000).contains(&known), "{known} pages known\n{}", ran.output());
    assert_eq!(ran.json()["refused_links"]["links-per-page"], 20_001 - known, "what is not taken is counted");
    assert_eq!(site.log().total(), 4);
}

#[test]
fn a_page_of_nothing_is_a_page() {
    assert_outcomes(
        &Freshet::new(),
        vec![
            ("/nuls", Reply::bytes("text/html", vec![0; 100_000]), "fetched"),
            (
                "/nuls-untold",
                Reply::raw([b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![0; 1_000]].concat()),
                "fetched",
            ),
            ("/empty", Reply::html(""), "fetched"),
            ("/no-content", Reply::status(204, ""), "http-error"),
        ],
    );
}
