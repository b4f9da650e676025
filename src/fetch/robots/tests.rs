//! Cases that fit no table. RFC 9309 corner by corner is in `corners`, the properties of every file are in
//! `properties`.

mod corners;
mod golden;
mod properties;

use super::*;

fn host() -> Host {
    Host::parse("http://example.org").expect("a host")
}

fn url(path: &str) -> Url {
    Url::parse(&format!("http://example.org{path}")).expect("a URL written by hand")
}

#[test]
fn a_host_without_rules_or_without_answer() {
    assert!(Robots::allow_all().allows(&url("/a")));
    let nothing = Robots::parse(b"User-agent: *\nDisallow: /\n", "freshet");
    assert!(!nothing.allows(&url("/a")));
    assert!(nothing.allows(&url("/robots.txt")));
    assert!(!nothing.allows(&url("/robots.txt?a")), "another resource");
    let elsewhere = Url::parse("mailto:a@example.org").expect("a URL");
    assert!(!Robots::parse(b"User-agent: *\nDisallow: /\nAllow: /b\n", "freshet").allows(&elsewhere));
}

#[test]
fn what_needs_no_asking_is_not_asked() {
    let rules = |body: &[u8]| Robots::parse(body, "freshet").rules;
    assert!(matches!(rules(b""), RobotsRules::AllowAll));
    assert!(matches!(rules(b"User-agent: *\nAllow: /a\nDisallow:\n"), RobotsRules::AllowAll));
    assert!(matches!(rules(b"User-agent: other\nDisallow: /\n"), RobotsRules::AllowAll));
    assert!(matches!(rules(b"User-agent: *\nDisallow: /a\nDisallow: /\n"), RobotsRules::DisallowAll));
    assert!(matches!(rules(b"User-agent: *\nDisallow: /\nAllow: /a\n"), RobotsRules::Ask { .. }));
}

#[test]
fn a_clone_can_go_to_another_thread() {
    fn travels<T: Send + Sync + Clone + std::fmt::Debug>() {}
    travels::<Robots>();
}

fn delay_of(body: &str) -> Option<f64> {
    Robots::parse(body.as_bytes(), "freshet").crawl_delay().map(|delay| delay.as_secs_f64())
}

#[test]
fn crawl_delays_are_kept_however_long_they_are() {
    /// Longer than any limit.
    const LONGEST: f64 = (1_u64 << 40) as f64;
    let asked = [
        ("0.5", Some(0.5)),
        ("3", Some(3.0)),
        ("0", Some(0.0)),
        (" 10 # seconds", Some(10.0)),
        ("3600", Some(3600.0)),
        ("86400", Some(86_400.0)),
        ("1e30", Some(LONGEST)),
        ("1e999", Some(LONGEST)),
        ("inf", Some(LONGEST)),
        ("10s", Some(10.0)),
        ("10 seconds", Some(10.0)),
        ("2.", Some(2.0)),
        ("nan", None),
        ("-1", None),
        ("-1e39", None),
        ("abc", None),
        ("", None),
    ];
    for (value, expected) in asked {
        assert_eq!(delay_of(&format!("User-agent: *\nCrawl-delay: {value}\n")), expected, "`{value}`");
    }
}

#[test]
fn crawl_delays_belong_to_groups() {
    let largest = "User-agent: *\nCrawl-delay: 2\nCrawl-delay: 7\nDisallow: /a\nCrawl-delay: 3\n";
    assert_eq!(delay_of(largest), Some(7.0));
    let ours = "User-agent: *\nCrawl-delay: 9\nDisallow: /a\nUser-agent: freshet\nCrawl-delay: 1\n";
    assert_eq!(delay_of(ours), Some(1.0));
    let none = "User-agent: *\nCrawl-delay: 9\nDisallow: /a\nUser-agent: freshet\nDisallow: /a\n";
    assert_eq!(delay_of(none), None);
    let others = "User-agent: other\nCrawl-delay: 9\nDisallow: /a\nUser-agent: *\nDisallow: /a\n";
    assert_eq!(delay_of(others), None);
    let joined_later = "User-agent: other\nCrawl-delay: 5\nUser-agent: freshet\nDisallow: /a\n";
    assert_eq!(delay_of(joined_later), None, "the delay is that of the agents above it");
    let both = "User-agent: other\nUser-agent: freshet\nCrawl-delay: 5\nUser-agent: third\nDisallow: /a\n";
    assert_eq!(delay_of(both), Some(5.0));
    let above = "Crawl-delay: 4\nUser-agent: *\nDisallow: /a\n";
    assert_eq!(delay_of(above), Some(4.0));
    let above_and_ours = "Crawl-delay: 4\nUser-agent: *\nCrawl-delay: 0\n";
    assert_eq!(delay_of(above_and_ours), Some(0.0));
}

#[test]
fn sitemaps_stand_anywhere() {
    let body = b"Sitemap: https://example.org/1.xml\nUser-agent: other\n\
        SITEMAP:https://example.org/2.xml?a=b #\nDisallow: /\nSitemap: /relative.xml\n\
        Sitemap: ftp://example.org/3.xml\nSitemap: https://example.org/1.xml\nSitemap: \xff\nSitemap:\nUser-agent: *\n\
        Sitemap: example.org/named.xml\nSitemap: s/m.xml\n\
        Site-map: http://elsewhere.example/4.xml";
    let robots = Robots::parse(body, "freshet");
    let named: Vec<_> = robots.sitemaps(&host()).iter().map(Url::to_string).collect();
    assert_eq!(
        named,
        [
            "https://example.org/1.xml",
            "https://example.org/2.xml?a=b",
            "http://example.org/relative.xml",
            "http://example.org/named.xml",
            "http://example.org/s/m.xml",
            "http://elsewhere.example/4.xml"
        ]
    );
    let many: String = (0..1000).map(|index| format!("Sitemap: https://example.org/{index}\n")).collect();
    assert_eq!(Robots::parse(many.as_bytes(), "freshet").sitemaps(&host()).len(), 100);
    assert!(Robots::allow_all().sitemaps(&host()).is_empty());
}

#[test]
fn a_file_in_utf_16_is_read_by_its_byte_order_mark() {
    let text = "User-agent: *\r\nDisallow: /a\r\nDisallow: /ü\r\nSitemap: /s.xml\r\n";
    let encoded = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
    };
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let robots = Robots::parse(&encoded(text, unit), "freshet");
        assert!(!robots.allows(&url("/a")) && !robots.allows(&url("/%C3%BC")) && robots.allows(&url("/b")));
        assert_eq!(robots.sitemaps(&host()).len(), 1);
        // The last line goes on beyond the part that is read: it is left out.
        let long = format!("{text}#{}\nDisallow: /private\n", "x".repeat(MAX_BYTES / 2 - 80));
        let long = Robots::parse(&encoded(&long, unit), "freshet");
        assert!(!long.allows(&url("/a")) && long.allows(&url("/p")));
    }
    // An odd byte at the end, and half a pair: no panic.
    assert!(Robots::parse(b"\xff\xfe\x00\xd8\x41", "freshet").allows(&url("/a")));
}

#[test]
fn a_long_body_is_cut_at_a_line_end() {
    let allows = |body: &[u8], path: &str| Robots::parse(body, "freshet").allows(&url(path));
    let mut huge = b"User-agent: *\nDisallow: /a\n".to_vec();
    huge.resize(5_000_000, b'x');
    assert!(!allows(&huge, "/a"), "rules first, then 5 MB of junk");

    let mut late = b"User-agent: *\nDisallow: /a\n#".to_vec();
    late.resize(512 * 1024, b'x');
    late.extend(b"\nDisallow: /b\n");
    assert!(!allows(&late, "/a") && allows(&late, "/b"), "rules after 512 KiB");

    // The last line begins `from_end` bytes before the cut, and goes on after it.
    let last_line = |line: &[u8], from_end: usize| {
        let mut body = b"User-agent: *\nDisallow: /a\n#".to_vec();
        body.resize(MAX_BYTES - from_end - 1, b'x');
        body.push(b'\n');
        body.extend(line);
        body
    };
    let line = b"Disallow: /private\n";
    assert!(allows(&last_line(line, 11), "/b"), "`Disallow: /` is not what was written");
    assert!(allows(&last_line(line, 11), "/private"));
    assert!(!allows(&last_line(line, 11), "/a"));
    assert!(!allows(&last_line(line, line.len()), "/private"), "the line ends with the cut");
    assert!(!allows(&last_line(line, line.len() - 1), "/private"), "its line end is the first byte cut off");
    assert!(allows(&last_line(line, line.len() - 2), "/private"));
    assert!(
        !allows(&last_line(b"Disallow: /private", line.len() - 1), "/private"),
        "exactly as long as the cut"
    );

    assert!(allows(&b"x".repeat(MAX_BYTES * 2), "/a"), "one line without end");
}

#[test]
fn long_rules_become_stricter() {
    let allows = |body: String, path: &str| Robots::parse(body.as_bytes(), "freshet").allows(&url(path));
    let path = |length: usize| format!("/{}", "a".repeat(length - 1));
    assert!(!allows(format!("User-agent: *\nDisallow: {}\n", path(1024)), &path(1024)));
    assert!(allows(format!("User-agent: *\nDisallow: {}\n", path(1024)), &path(1023)));
    assert!(!allows(format!("User-agent: *\nDisallow: {}\n", path(3000)), &path(1024)), "cut");
    assert!(
        !allows(format!("User-agent: *\nDisallow: {}$\n", path(3000)), &path(3001)),
        "cut, with its end sign"
    );
    assert!(allows(format!("User-agent: *\nDisallow: {}\n", path(3000)), &path(1023)));
    assert!(allows(format!("User-agent: *\nDisallow: /\nAllow: {}\n", path(1024)), &path(1024)));
    assert!(!allows(format!("User-agent: *\nDisallow: /\nAllow: {}\n", path(1025)), &path(1025)), "skipped");
    let longer = format!("User-agent: *\nAllow: {}\nDisallow: {}\n", path(1024), path(1025));
    assert!(!allows(longer, &path(1025)), "the cut Disallow is still the longer of the two");
    let escaped = format!("User-agent: *\nDisallow: /{}\n", "é".repeat(500));
    assert!(!allows(escaped, &format!("/{}", "é".repeat(400))), "the length is that of our spelling");
}

#[test]
fn wildcards_beyond_the_bound_become_stricter() {
    let mut body = String::from("User-agent: *\n");
    for index in 0..10_000 {
        body += &format!("Disallow: /filler/*{index}\n");
    }
    body +=
        "Disallow: /shop/*/basket\nAllow: /shop/*/open\nAllow: /shop/a\nDisallow: /plain\nDisallow: /end$\n";
    let robots = Robots::parse(body.as_bytes(), "freshet");
    let allows = |path| robots.allows(&url(path));
    assert!(!allows("/shop/1/basket"), "still forbidden");
    assert!(!allows("/shop/1/open"), "an Allow with a wildcard is left out");
    assert!(!allows("/shop/else"), "forbidden up to the first star");
    assert!(!allows("/shop/a/basket"), "and as long as it was, so no shorter Allow beats it");
    assert!(allows("/other"));
    assert!(!allows("/plain/a") && !allows("/end") && allows("/end/a"), "plain rules are not rationed");
    // The same rule again costs nothing.
    let repeated = format!("User-agent: *\n{}Disallow: /b/*c\n", "Disallow: /a/*b\n".repeat(10_000));
    assert!(Robots::parse(repeated.as_bytes(), "freshet").allows(&url("/b/d")));
}

#[test]
fn deep_wildcards_end_soon() {
    let body = format!("User-agent: *\nDisallow: /{}b$\n", "*a".repeat(500));
    let robots = Robots::parse(body.as_bytes(), "freshet");
    assert!(robots.allows(&url(&format!("/{}", "a".repeat(5000)))));
    assert!(!robots.allows(&url(&format!("/{}b", "a".repeat(5000)))));
}

#[test]
fn the_product_token_of_a_user_agent() {
    let tokens = [
        ("freshet/0.1 (+https://example.org)", "freshet"),
        ("freshet", "freshet"),
        (" my_own-bot/2", "my_own-bot"),
        ("Mozilla/5.0 (compatible; freshet/0.1; +https://example.org)", "freshet"),
        ("Mozilla/5.0 (X11; Linux)", "Mozilla"),
        ("Mozilla/5.0 (compatible; )", "*"),
        ("freshet (compatible; other)", "freshet"),
        ("ツ/1.0", "*"),
        ("1/2", "*"),
        ("*", "*"),
        ("", "*"),
    ];
    for (user_agent, token) in tokens {
        assert_eq!(token_of(user_agent), token, "`{user_agent}`");
    }
    let body = b"User-agent: *\nDisallow: /a\nUser-agent: freshet\nDisallow: /b\n";
    assert!(
        !Robots::parse(body, "freshet/0.1 (+https://example.org)").allows(&url("/b")),
        "a whole user agent"
    );
    assert!(!Robots::parse(body, "").allows(&url("/a")), "no token: what everyone is told");
    assert!(
        !Robots::parse(b"User-agent:\nDisallow: /b\nUser-agent: *\nDisallow: /a\n", "").allows(&url("/a"))
    );
}

#[test]
fn the_deciding_rule_is_the_longest_that_matches() {
    let body =
        b"User-agent: *\nDisallow: /\nUser-agent: freshet\nDisallow: /private # ours\nAllow: /private/open\n\
        Disallow: /*.pdf$\nDisallow: /same\nAllow: /same\nDisallow:\n";
    let decides = |path: &str| {
        let url = Url::parse("https://example.org").and_then(|host| host.join(path)).expect("a URL");
        deciding_rule(body, "freshet/0.1", &url)
    };
    assert_eq!(decides("/private/x").as_deref(), Some("Disallow: /private"));
    assert_eq!(decides("/private/open/x").as_deref(), Some("Allow: /private/open"));
    assert_eq!(decides("/a/b.pdf").as_deref(), Some("Disallow: /*.pdf$"));
    assert_eq!(decides("/same").as_deref(), Some("Allow: /same"));
    for free in ["/", "/a.pdf?x", "/robots.txt"] {
        assert_eq!(decides(free), None, "{free}");
    }
}
