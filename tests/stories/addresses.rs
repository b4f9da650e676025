//! Which addresses may be reached: public ones, and what the operator opened. Refused ones see no connection at all.

use crate::support::operator::{crawl, crawl_strictly, outcome, pages, waiting_for};
use crate::support::{Freshet, Reply, Site, links_page};
use std::io::ErrorKind;
use std::net::TcpListener;

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];
/// Host 0 of a site is open, the others are not.
const FIRST_ONLY: &str = "--allow-private=127.0.0.1/32";

fn port(site: &Site) -> String {
    site.origin(0).rsplit(':').next().unwrap_or_default().to_owned()
}

/// Nobody has connected so far: a site counts connections, those without a request too, so a crawl that may come in
/// has number 1.
#[track_caller]
fn assert_next_is_first_connection(site: &Site) {
    assert_eq!(site.log().total(), 0, "{:?}", site.log().paths());
    let ran = crawl_strictly(&Freshet::new(), &[site.url("/")], &[&FLAGS[..], &["--allow-private"]].concat());
    let first = site.log().hits().first().map(|hit| hit.connection);
    assert_eq!(first, Some(1), "somebody connected without asking\n{}", ran.output());
}

#[test]
fn a_loopback_seed_is_refused_without_a_connection() {
    let site = Site::start();
    site.page("/", "home");
    let freshet = Freshet::new();
    let ran = crawl_strictly(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.code, Some(1), "nothing could be fetched\n{}", ran.output());
    assert_eq!(site.log().total(), 0, "{:?}", site.log().paths());
    assert_eq!(outcome(&freshet, &site.url("/")), "address");
    let listed = freshet.run(&["pages", "--state", "blocked", "--format", "csv"]);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.output());
    assert_next_is_first_connection(&site);
}

#[test]
fn no_spelling_of_an_address_gets_past_the_rules() {
    let site = Site::start();
    let port = port(&site);
    site.page("/", "home");
    for spelling in [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "[::]",
    ] {
        let freshet = Freshet::new();
        let ran = crawl_strictly(&freshet, &[format!("http://{spelling}:{port}/")], &FLAGS);
        assert_ne!(ran.code, Some(0), "{spelling}\n{}", ran.output());
        assert_eq!(site.log().total(), 0, "{spelling} reached us: {:?}", site.log().paths());
        for page in pages(&freshet) {
            assert_eq!(page["outcome"], "address", "{spelling}");
        }
    }
}

#[test]
fn the_other_loopback_is_refused_too() {
    // A machine without IPv6 has nobody to reach there, and the seed is refused all the same.
    let listener = TcpListener::bind("[::1]:0").ok();
    let port = listener.as_ref().and_then(|one| one.local_addr().ok()).map_or(8080, |address| address.port());
    let seed = format!("http://[::1]:{port}/");
    let freshet = Freshet::new();
    let ran = crawl_strictly(&freshet, &[&seed], &FLAGS);

    assert_eq!(outcome(&freshet, &seed), "address", "{}", ran.output());
    if let Some(listener) = listener {
        listener.set_nonblocking(true).expect("a listener can be asked without waiting");
        let accepted = listener.accept().map(|(_, from)| from).map_err(|error| error.kind());
        assert_eq!(accepted, Err(ErrorKind::WouldBlock), "somebody connected");
    }
}

#[test]
fn a_name_is_judged_by_where_it_leads() {
    let site = Site::start();
    site.page("/", "home");
    let seed = format!("http://localhost:{}/", port(&site));
    let refused = Freshet::new();
    let ran = crawl_strictly(&refused, &[&seed], &FLAGS);
    assert_eq!(outcome(&refused, &seed), "address", "{}", ran.output());
    assert_eq!(site.log().total(), 0);
    assert_next_is_first_connection(&site);

    let allowed = Freshet::new();
    let ran = crawl_strictly(&allowed, &[&seed], &[&FLAGS[..], &["--allow-private"]].concat());
    assert_eq!(ran.json()["succeeded"], 1, "{}", ran.output());
}

#[test]
fn a_redirect_does_not_lead_past_the_rules() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/", links_page("home", &["/there", "/moved", "/meta"]).as_str());
    site.page_on(0, "/there", Reply::redirect(302, site.url_on(1, "/inner")));
    site.page_on(0, "/moved", Reply::redirect(301, site.url_on(1, "/deeper")));
    let refresh = format!("<meta http-equiv=refresh content='0; url={}'>", site.url_on(1, "/refreshed"));
    site.page_on(0, "/meta", refresh.as_str());
    site.page_on(1, "/inner", "secret");
    let freshet = Freshet::new();
    let flags = [&FLAGS[..], &["--scope", "any", FIRST_ONLY]].concat();
    let ran = crawl_strictly(&freshet, &[site.url("/")], &flags);

    assert_eq!(ran.json()["outcomes"]["address"], 3, "{}", ran.output());
    assert_eq!(site.log().on(1).total(), 0, "{:?}", site.log().on(1).paths());
    for path in ["/inner", "/deeper", "/refreshed"] {
        assert_eq!(outcome(&freshet, &site.url_on(1, path)), "address", "{path}");
    }
}

#[test]
fn robots_txt_does_not_lead_past_the_rules() {
    let site = Site::with_hosts(2);
    site.page_on(0, "/robots.txt", Reply::redirect(301, site.url_on(1, "/robots.txt")));
    site.page_on(0, "/", "home");
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\n");
    let ran = crawl_strictly(&freshet, &[site.url("/")], &[&FLAGS[..], &[FIRST_ONLY]].concat());

    assert_eq!(site.log().on(1).total(), 0, "{:?}", site.log().on(1).paths());
    assert!(!site.log().asked("/"), "what robots.txt says is not known\n{}", ran.output());
    assert!(site.log().total() <= 3, "asked for again and again: {}", site.log().total());
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "robots-unavailable");
}

#[test]
fn a_sitemap_does_not_lead_past_the_rules() {
    let site = Site::with_hosts(2);
    let elsewhere = site.url_on(1, "/sitemap.xml");
    site.page_on(
        0,
        "/robots.txt",
        Reply::text(format!("Sitemap: {elsewhere}\nSitemap: {}\n", site.url("/map"))),
    );
    site.page_on(0, "/", "home");
    let index = format!(
        "<sitemapindex><sitemap><loc>{elsewhere}</loc></sitemap><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        site.url("/gone-there")
    );
    site.page_on(0, "/map", Reply::bytes("application/xml", index));
    site.page_on(0, "/gone-there", Reply::redirect(302, &elsewhere));
    let freshet = Freshet::new();
    let ran = crawl_strictly(&freshet, &[site.url("/")], &["--delay", "0", "--scope", "any", FIRST_ONLY]);

    assert_eq!(ran.json()["succeeded"], 1, "{}", ran.output());
    assert!(site.log().asked("/gone-there"), "{:?}", site.log().paths());
    assert_eq!(site.log().on(1).total(), 0, "{:?}", site.log().on(1).paths());
}

#[test]
fn names_and_passwords_in_urls_are_never_sent() {
    let site = Site::start();
    let with_password = |path: &str| format!("http://user:secret@127.0.0.1:{}{path}", port(&site));
    site.page("/robots.txt", Reply::redirect(301, with_password("/rules")));
    let named = format!("Sitemap: {}\nSitemap: {}\n", with_password("/map"), site.url("/index"));
    site.page("/rules", Reply::text(format!("User-agent: *\nDisallow:\n{named}")));
    site.page(
        "/index",
        Reply::bytes(
            "application/xml",
            format!("<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>", with_password("/map2")),
        ),
    );
    site.page("/", links_page("home", &[&with_password("/link"), "/there", "/plain"]).as_str());
    site.page("/there", Reply::redirect(302, with_password("/target")));
    site.page("/plain", "plain");
    let freshet = Freshet::new();
    let ran = crawl_strictly(&freshet, &[site.url("/")], &["--delay", "0", "--allow-private"]);

    let summary = ran.json();
    assert_eq!(summary["refused_links"]["user-info"], 2, "a link and a redirect\n{}", ran.output());
    assert!(site.log().asked("/plain"));
    for path in ["/link", "/target"] {
        assert!(!site.log().asked(path), "{path} was asked for");
    }
    assert_eq!(outcome(&freshet, &site.url("/there")), "redirect-out-of-scope");
    for hit in site.log().hits() {
        assert_eq!(hit.header("authorization"), None, "{}", hit.path);
        assert!(!format!("{hit:?}").contains("secret"), "{hit:?}");
    }
}

#[test]
fn a_seed_with_a_password_is_a_mistake_that_is_pointed_out() {
    let site = Site::start();
    let freshet = Freshet::new();
    let seed = format!("http://user:secret@127.0.0.1:{}/", port(&site));
    let ran = crawl_strictly(&freshet, &[seed], &["--allow-private"]);

    assert_eq!(ran.code, Some(2), "{}", ran.output());
    assert!(ran.stderr.contains("seeds.txt:1"), "{}", ran.output());
    assert_eq!(site.log().total(), 0);
}

#[test]
fn a_sitemap_or_robots_file_behind_user_info_is_not_asked_for() {
    let site = Site::with_hosts(2);
    site.page("/", "home");
    let behind = |host: usize, path: &str| site.url_on(host, path).replace("http://", "http://user:word@");
    site.page_on(0, "/robots.txt", Reply::text(format!("Sitemap: {}\n", behind(0, "/map.xml"))));
    site.page_on(1, "/robots.txt", Reply::redirect(301, behind(1, "/robots2.txt")));
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &["--delay", "0"]);
    assert!(!site.log().asked("/map.xml"), "{:?}", site.log().paths());
    assert!(!site.log().asked("/robots2.txt"), "{:?}", site.log().paths());
    assert!(site.log().hits().iter().all(|hit| hit.header("authorization").is_none()));
}
