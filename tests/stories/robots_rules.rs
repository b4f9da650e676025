//! What a host's robots.txt and its pages ask of crawlers is done, and what can't be read is taken as a no.

use crate::support::operator::{crawl, host, outcome, page, waiting_for};
use crate::support::{Freshet, Reply, Site, links_page};
use std::time::Duration;

const FLAGS: [&str; 3] = ["--delay", "0", "--no-sitemaps"];

/// Short pauses and time-outs, and one more try of what fails.
const HASTY: &str =
    "[crawl]\nback_off = 0.05\nattempts = 2\n[limits]\nconnect_seconds = 0.5\nidle_seconds = 0.5\n";

fn hasty() -> Freshet {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", HASTY);
    freshet
}

fn rules(text: &str) -> Reply {
    Reply::text(text)
}

fn fronts(site: &Site, hosts: usize) -> Vec<String> {
    (0..hosts).map(|host| site.url_on(host, "/")).collect()
}

#[test]
fn a_host_without_robots_txt_may_be_crawled() {
    let statuses = [404, 410, 401, 403, 400];
    let site = Site::with_hosts(statuses.len());
    site.page("/", "home");
    for (host, status) in statuses.into_iter().enumerate() {
        site.page_on(host, "/robots.txt", Reply::status(status, "User-agent: *\nDisallow: /\n"));
    }
    let ran = crawl(&Freshet::new(), &fronts(&site, statuses.len()), &FLAGS);

    assert_eq!(ran.json()["succeeded"], statuses.len(), "{}", ran.output());
}

#[test]
fn a_host_whose_robots_txt_can_not_be_had_is_left_alone() {
    let troubles = [
        Reply::status(500, "broken"),
        Reply::status(503, "busy"),
        Reply::status(429, "busy"),
        Reply::reset(),
        Reply::silent(),
        Reply::html("User-agent: *").truncate(5),
    ];
    let site = Site::with_hosts(troubles.len());
    site.page("/", "home");
    site.page("/sitemap.xml", "<urlset></urlset>");
    for (host, trouble) in troubles.iter().enumerate() {
        site.page_on(host, "/robots.txt", trouble.clone());
    }
    let freshet = hasty();
    let ran = crawl(&freshet, &fronts(&site, troubles.len()), &["--delay", "0"]);

    assert_eq!(ran.code, Some(1), "{}", ran.output());
    for host in 0..troubles.len() {
        let asked = site.log().on(host).paths();
        assert_eq!(asked, ["/robots.txt", "/robots.txt"], "host {host}");
        assert_eq!(waiting_for(&freshet, &site.origin(host)), "robots-unavailable", "host {host}");
    }
    assert!(freshet.run(&["status"]).stdout.contains("robots-unavailable"));
}

#[test]
fn a_host_whose_robots_txt_comes_at_the_second_try_is_crawled_by_it() {
    let site = Site::start();
    let second = rules("User-agent: *\nDisallow: /no\n");
    site.page("/robots.txt", Reply::sequence(vec![Reply::status(503, "busy"), second]));
    site.page("/", links_page("home", &["/yes", "/no"]).as_str());
    site.page("/yes", "yes");
    let ran = crawl(&hasty(), &[site.url("/")], &FLAGS);

    assert_eq!(site.log().paths(), ["/robots.txt", "/robots.txt", "/", "/yes"], "{}", ran.output());
}

#[test]
fn a_host_that_asks_for_time_before_its_robots_txt_gets_it() {
    let site = Site::start();
    let busy = Reply::status(429, "busy").header("Retry-After", "1");
    site.page("/robots.txt", Reply::sequence(vec![busy, rules("User-agent: *\nDisallow: /no\n")]));
    site.page("/", links_page("home", &["/no"]).as_str());
    let ran = crawl(&hasty(), &[site.url("/")], &FLAGS);

    assert_eq!(site.log().paths(), ["/robots.txt", "/robots.txt", "/"], "{}", ran.output());
    assert!(site.log().gaps(0)[0] >= 0.995, "{:?}", site.log().gaps(0));
}

#[test]
fn five_redirects_of_robots_txt_are_followed_and_not_six() {
    let site = Site::with_hosts(2);
    site.page("/", links_page("home", &["/no"]).as_str());
    site.page("/no", "forbidden, if anyone could know");
    site.page("/robots.txt", Reply::redirect(301, "/r1"));
    for hop in 1..5 {
        site.page(&format!("/r{hop}"), Reply::redirect(302, format!("r{}", hop + 1)));
    }
    site.page_on(0, "/r5", rules("User-agent: *\nDisallow: /no\n"));
    site.page_on(1, "/r5", Reply::redirect(302, "/r6"));
    site.page_on(1, "/r6", rules("User-agent: *\nDisallow: /no\n"));
    let ran = crawl(&Freshet::new(), &fronts(&site, 2), &FLAGS);

    assert!(!site.log().on(0).asked("/no"), "{}", ran.output());
    assert!(site.log().on(0).asked("/"));
    // Where the sixth leads is not looked at: there is no robots.txt to be had, as with a 404 (RFC 9309 §2.3.1.2).
    assert!(!site.log().on(1).asked("/r6"));
    assert!(site.log().on(1).asked("/no"), "{}", ran.output());
}

#[test]
fn robots_txt_that_goes_round_in_circles_is_none() {
    let site = Site::with_hosts(3);
    site.page("/", "home");
    site.page_on(0, "/robots.txt", Reply::redirect(301, "/robots.txt"));
    site.page_on(1, "/robots.txt", Reply::redirect(301, site.url_on(2, "/robots.txt")));
    site.page_on(2, "/robots.txt", Reply::redirect(301, site.url_on(1, "/robots.txt")));
    let ran = crawl(&Freshet::new(), &fronts(&site, 3), &["--delay", "0.05", "--no-sitemaps"]);

    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    assert_eq!(site.log().on(0).count("/robots.txt"), 6, "once, and five redirects");
    assert_eq!(site.log().count("/robots.txt"), 18);
    for host in 0..3 {
        site.log().assert_polite(host, 0.05);
    }
}

#[test]
fn robots_txt_on_another_host_counts_and_that_host_is_treated_politely() {
    let site = Site::with_hosts(4);
    site.page("/", links_page("home", &["/no", "/yes"]).as_str());
    site.page("/yes", "yes");
    for host in 0..3 {
        site.page_on(host, "/robots.txt", Reply::redirect(301, site.url_on(3, "/robots.txt")));
    }
    site.page_on(3, "/robots.txt", rules("User-agent: *\nDisallow: /no\n"));
    let ran = crawl(&Freshet::new(), &fronts(&site, 3), &["--delay", "0.15", "--no-sitemaps"]);

    assert_eq!(ran.json()["succeeded"], 6, "{}", ran.output());
    assert!(!site.log().asked("/no"));
    assert_eq!(site.log().on(3).paths(), ["/robots.txt"; 3], "it is asked for nothing else");
    for host in 0..4 {
        site.log().assert_polite(host, 0.15);
    }
}

#[test]
fn robots_txt_that_redirects_to_trouble_is_not_asked_for_for_ever() {
    let site = Site::with_hosts(3);
    site.page("/", "home");
    site.page_on(0, "/robots.txt", Reply::redirect(301, "/broken"));
    site.page_on(0, "/broken", Reply::status(503, "busy"));
    site.page_on(1, "/robots.txt", Reply::redirect(301, site.url_on(2, "/broken")));
    site.page_on(2, "/broken", Reply::status(500, "broken"));
    let freshet = hasty();
    let ran = freshet.start(&[
        "crawl",
        "--allow-private",
        "--delay",
        "0",
        "--seeds",
        &freshet.seeds(&[site.url_on(0, "/"), site.url_on(1, "/")]),
    ]);
    let ran = ran.wait(Duration::from_secs(20));

    assert!(!site.log().asked("/"), "{}", ran.output());
    assert_eq!(site.log().on(0).count("/robots.txt"), 2, "{:?}", site.log().on(0).paths());
    assert_eq!(site.log().on(1).count("/robots.txt"), 2, "{:?}", site.log().on(1).paths());
    for host in [0, 1] {
        assert_eq!(waiting_for(&freshet, &site.origin(host)), "robots-unavailable", "host {host}");
    }
}

#[test]
fn what_robots_txt_forbids_is_listed_as_blocked_and_never_asked_for() {
    let site = Site::start();
    site.page(
        "/robots.txt",
        rules(
            "# for everyone\nUser-agent: *\nDisallow: /\n\n\
             User-agent: otherbot\nUser-agent: FRESHET\nDisallow: /private\nAllow: /private/but-this\n\
             Disallow: /*.pdf$\nDisallow: /*?print=\nDisallow: /caf%C3%A9\n\n\
             User-agent: thirdbot\nDisallow: /open\n",
        ),
    );
    let forbidden =
        ["/private", "/private/deep", "/paper.pdf", "/open?print=1", "/caf%C3%A9", "/private/but-not"];
    let allowed = ["/private/but-this", "/paper.pdf?x=1", "/open", "/open?page=2", "/PRIVATE"];
    site.page("/", links_page("home", &[&forbidden[..], &allowed[..]].concat()).as_str());
    for path in forbidden.iter().chain(&allowed) {
        site.page(path, *path);
    }
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["blocked"], forbidden.len(), "{}", ran.output());
    for path in forbidden {
        assert!(!site.log().asked(path), "{path} was asked for");
        let listed = page(&freshet, &site.url(path));
        assert_eq!((&listed["state"], &listed["outcome"]), (&"blocked".into(), &"robots".into()), "{path}");
    }
    for path in allowed {
        assert_eq!(site.log().count(path), 1, "{path}");
    }
    let listed = freshet.run(&["pages", "--state", "blocked", "--format", "csv"]);
    assert_eq!(listed.stdout.lines().count(), 1 + forbidden.len(), "{}", listed.output());
}

#[test]
fn a_redirect_to_what_robots_txt_forbids_is_not_followed() {
    let site = Site::start();
    site.page("/robots.txt", rules("User-agent: *\nDisallow: /no\n"));
    site.page("/", Reply::redirect(302, "/no"));
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(site.log().paths(), ["/robots.txt", "/"], "{}", ran.output());
    assert_eq!(outcome(&freshet, &site.url("/no")), "robots");
}

#[test]
fn a_crawl_delay_longer_than_ours_is_kept() {
    let site = Site::start();
    site.page("/robots.txt", rules("User-agent: *\nCrawl-delay: 0.3\n"));
    site.page("/", links_page("home", &["/a", "/b"]).as_str());
    site.page("/a", "a");
    site.page("/b", "b");
    let freshet = Freshet::new();
    let flags = ["--delay", "0.05"];
    let ran = crawl(&freshet, &[site.url("/")], &flags);

    assert_eq!(ran.json()["succeeded"], 3, "{}", ran.output());
    site.log().assert_polite(0, 0.3);
    assert_eq!(host(&freshet, &site.origin(0))["delay_seconds"], 0.3);

    site.clear_log();
    crawl(&freshet, &[site.url("/")], &flags);
    assert!(site.log().total() >= 3);
    site.log().assert_spaced(0, 0.3);
}

#[test]
fn a_host_that_wants_too_long_a_delay_is_skipped_and_that_is_said() {
    let site = Site::with_hosts(2);
    site.page("/", "home");
    site.page_on(0, "/robots.txt", rules("User-agent: *\nCrawl-delay: 0.5\n"));
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &fronts(&site, 2), &[&FLAGS[..], &["--max-crawl-delay", "0.2"]].concat());

    assert_eq!(ran.json()["put_off_by_reason"]["crawl-delay"], 1, "{}", ran.output());
    assert_eq!(site.log().on(0).paths(), ["/robots.txt"]);
    assert!(site.log().on(1).asked("/"));
    assert!(ran.stderr.contains(&site.origin(0)), "{}", ran.output());
    assert!(ran.stderr.contains("--max-crawl-delay"), "the repair is named\n{}", ran.output());
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "crawl-delay");

    // The operator takes the hint.
    let raised = crawl(&freshet, &fronts(&site, 1), &[&FLAGS[..], &["--max-crawl-delay", "1"]].concat());
    assert!(site.log().on(0).asked("/"), "{}", raised.output());
    site.log().assert_polite(0, 0.5);
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "");
}

#[test]
fn robots_txt_is_read_once_a_day() {
    let site = Site::start();
    site.page("/robots.txt", rules("User-agent: *\nDisallow: /no\n"));
    site.page("/", links_page("home", &["/yes", "/no"]).as_str());
    site.page("/yes", "yes");
    let freshet = Freshet::new();
    crawl(&freshet, &[site.url("/")], &FLAGS);
    site.page("/", links_page("home", &["/yes", "/no", "/no/2"]).as_str());
    site.clear_log();
    let again = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(again.json()["succeeded"], 2, "{}", again.output());
    let mut asked = site.log().paths();
    asked.sort();
    assert_eq!(asked, ["/", "/yes"], "the rules still hold, and were not asked for");
}

#[test]
fn a_strange_robots_txt_is_read_as_far_as_it_means_something() {
    let ours = "User-agent: *\nDisallow: /no\n";
    let padding = "# nothing to see\n".repeat(40_000);
    let binary: Vec<u8> = (0..20_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    // What it is, the file, and whether it forbids /no.
    let strange = [
        ("with a byte order mark", rules(&format!("\u{feff}{ours}")), true),
        ("with the line ends of old", rules(&ours.replace('\n', "\r")), true),
        ("compressed", rules(ours).gzip(), true),
        ("a bomb", rules(&format!("{ours}{padding}")).gzip(), true),
        ("huge, rules first", rules(&format!("{ours}{padding}")), true),
        ("huge, rules beyond 500 KiB", rules(&format!("{padding}{ours}")), false),
        ("binary", Reply::bytes("application/octet-stream", binary), false),
        ("the front page", Reply::html(links_page("home", &[])), false),
        ("empty", rules(""), false),
    ];
    let site = Site::with_hosts(strange.len());
    site.page("/", links_page("home", &["/no"]).as_str());
    site.page("/no", "no");
    for (host, (_, reply, _)) in strange.iter().enumerate() {
        site.page_on(host, "/robots.txt", reply.clone());
    }
    let ran = crawl(&Freshet::new(), &fronts(&site, strange.len()), &FLAGS);

    for (host, (what, _, forbids)) in strange.iter().enumerate() {
        let log = site.log().on(host);
        assert!(log.asked("/"), "{what}\n{}", ran.output());
        assert_eq!(log.asked("/no"), !forbids, "{what}");
    }
}

#[test]
fn links_that_are_not_to_be_followed_are_not_unless_the_operator_says_so() {
    let page_with = |meta: &str, link: &str| {
        format!("<html><head>{meta}</head><body><a href=\"{link}\">on</a></body></html>")
    };
    let site = Site::start();
    site.page("/", links_page("home", &["/meta", "/ours", "/header", "/header-ours", "/others"]).as_str());
    site.page("/meta", page_with("<meta name=robots content='noindex, nofollow'>", "/no-1").as_str());
    site.page("/ours", page_with("<meta name=freshet content=none>", "/no-2").as_str());
    site.page("/header", Reply::html(page_with("", "/no-3")).header("X-Robots-Tag", "nofollow"));
    let named = "otherbot: noindex, freshet: nofollow";
    site.page("/header-ours", Reply::html(page_with("", "/no-4")).header("X-Robots-Tag", named));
    let others = Reply::html(page_with("<meta name=otherbot content=nofollow>", "/yes-1"));
    site.page("/others", others.header("X-Robots-Tag", "otherbot: nofollow"));
    site.page(
        "/yes-1",
        "<a href='/no-5' rel='external NoFollow'>no</a> <a href='/yes-2' rel=external>yes</a>",
    );
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    let log = site.log();
    assert_eq!(ran.json()["refused_links"]["no-follow"], 5, "{}", ran.output());
    assert!(log.asked("/yes-1") && log.asked("/yes-2"), "{:?}", log.paths());
    for path in ["/no-1", "/no-2", "/no-3", "/no-4", "/no-5"] {
        assert!(!log.asked(path), "{path} was followed");
    }

    let free = Freshet::new();
    crawl(&free, &[site.url("/")], &[&FLAGS[..], &["--ignore-nofollow"]].concat());
    for path in ["/no-1", "/no-2", "/no-3", "/no-4", "/no-5"] {
        assert!(site.log().asked(path), "{path} was not followed though we were told to");
    }
}

#[test]
fn a_page_that_is_not_to_be_indexed_is_marked_and_its_links_are_followed() {
    let site = Site::start();
    site.page("/", links_page("home", &["/meta", "/header"]).as_str());
    site.page("/meta", "<meta name=robots content=noindex><a href='/on'>on</a>");
    site.page("/header", Reply::html("<a href='/on'>on</a>").header("X-Robots-Tag", "noindex"));
    site.page("/on", "on");
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url("/")], &FLAGS);

    assert_eq!(ran.json()["succeeded"], 4, "{}", ran.output());
    for (path, noindex) in [("/", false), ("/meta", true), ("/header", true), ("/on", false)] {
        assert_eq!(page(&freshet, &site.url(path))["noindex"], noindex, "{path}");
    }
}

#[test]
fn a_site_with_a_user_agent_of_its_own_is_obeyed_under_that_name_everywhere() {
    let site = Site::with_hosts(2);
    site.page(
        "/robots.txt",
        "User-agent: thatbot\nDisallow: /private\n\nUser-agent: freshet\nDisallow: /open\n",
    );
    site.page("/", links_page("home", &["/meta", "/header", "/private", "/open", "/freshet"]).as_str());
    site.page("/meta", "<meta name=thatbot content='noindex, nofollow'><a href='/no-1'>on</a>");
    let header = "thatbot: noindex, nofollow";
    site.page("/header", Reply::html("<a href='/no-2'>on</a>").header("X-Robots-Tag", header));
    let ours = Reply::html("<meta name=freshet content='none'>").header("X-Robots-Tag", "freshet: none");
    site.page("/freshet", ours);
    for path in ["/private", "/open", "/no-1", "/no-2"] {
        site.page(path, "some words");
    }
    let freshet = Freshet::new();
    // The first host is sent a user agent of its own, the second that of all.
    let own = site.origin(0).replace("http://", "");
    freshet.write("freshet.toml", format!("[site.\"{own}\"]\nuser_agent = \"thatbot/1.0\"\n"));
    let ran = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &FLAGS);
    assert_eq!(ran.code, Some(0), "{}", ran.output());

    for (host, noindexed, forbidden) in
        [(0, ["/meta", "/header"], "/private"), (1, ["/freshet", ""], "/open")]
    {
        for path in ["/meta", "/header", "/freshet"] {
            let noindex = page(&freshet, &site.url_on(host, path))["noindex"].clone();
            assert_eq!(noindex, noindexed.contains(&path), "{path} of host {host}");
        }
        let log = site.log().on(host);
        for path in ["/private", "/open"] {
            assert_eq!(log.asked(path), path != forbidden, "{path} of host {host}");
        }
        for path in ["/no-1", "/no-2"] {
            assert_eq!(log.asked(path), host == 1, "{path} of host {host}");
        }
    }
}

#[test]
fn the_first_500_kib_count_whatever_their_type_and_no_half_line_does() {
    let site = Site::with_hosts(2);
    site.page("/", links_page("home", &["/secret/x", "/open"]).as_str());
    // A file that goes on beyond the limit, sent as anything but text.
    let long = format!("User-agent: *\nDisallow: /\n{}", "# padding\n".repeat(60_000));
    site.page_on(0, "/robots.txt", Reply::bytes("application/octet-stream", long));
    // The limit falls within the last line: `Allow: /secret/only/this` must not become `Allow: /secret`.
    let rules = "User-agent: *\nDisallow: /secret\n";
    let half = "Allow: /secret";
    let padding = "#".repeat(500 * 1024 - rules.len() - half.len() - 1);
    site.page_on(1, "/robots.txt", Reply::text(format!("{rules}{padding}\n{half}/only/this/one\n")));
    let freshet = Freshet::new();
    let ran = crawl(&freshet, &[site.url_on(0, "/"), site.url_on(1, "/")], &["--delay", "0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(site.log().on(0).paths(), ["/robots.txt"]);
    assert!(site.log().on(1).asked("/"));
    assert!(!site.log().on(1).asked("/secret/x"), "{:?}", site.log().on(1).paths());
}

#[test]
fn a_robots_file_that_claims_to_be_unchanged_is_none() {
    let site = Site::start();
    site.page("/", "home");
    site.page("/robots.txt", Reply::status(304, ""));
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[crawl]\nback_off = 0.05\n");
    crawl(&freshet, &[site.url("/")], &["--delay", "0"]);
    assert!(!site.log().asked("/"));
    assert_eq!(waiting_for(&freshet, &site.origin(0)), "robots-unavailable");
}
