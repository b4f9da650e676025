use proptest::prelude::*;

use super::*;

fn page(text: &str) -> PageUrl {
    Normaliser::default().parse(text).unwrap()
}

fn fetched(text: &str) -> String {
    page(text).as_str().to_owned()
}

#[test]
fn what_never_tells_pages_apart_is_dropped() {
    let cases = [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org.:443/a/../b/./c#d", "https://example.org/b/c"),
        ("https://example.org/?", "https://example.org/"),
        ("https://example.org/?#x", "https://example.org/"),
        ("https://example.org/?utm_source=a&id=7&UTM_Medium=b", "https://example.org/?id=7"),
        ("https://example.org/?fbclid=abc", "https://example.org/"),
        ("https://example.org/?utm%5Fsource=a&gclid", "https://example.org/"),
        ("https://example.org/a;jsessionid=0A1B!x?q=1", "https://example.org/a?q=1"),
        ("https://example.org/a;v=2;JSESSIONID=0;w=3", "https://example.org/a;v=2;w=3"),
        ("https://example.org/b/..;jsessionid=0", "https://example.org/"),
        ("https://example.org/?SessionID=6f9619ff8b86d011b42d00cf4fc964ff&a=1", "https://example.org/?a=1"),
        ("https://example.org/?session_id=0A1B2C3D4E5F6G7H", "https://example.org/"),
        ("http://127.1../", "http://127.0.0.1/"),
        ("  https://exa\nmple.org/ ", "https://example.org/"),
    ];
    for (given, expected) in cases {
        assert_eq!(fetched(given), expected, "{given}");
    }
}

#[test]
fn the_rest_is_fetched_as_found() {
    for text in [
        "https://example.org/%7euser/a%2fb",
        "https://example.org/?b=2&a=1&&a=0",
        "https://example.org/?sid=12&ref=home&s=x",
        "https://example.org/?xutm_source=1&utm=2",
        "https://example.org/a;jsessionid=1/b",
        "https://example.org/jsessionid=1",
        "https://example.org/a;jsessionid",
        "https://example.org/talk?SESSION_ID=5089",
        "https://example.org/BillOverview/69922?SessionId=119",
        "https://example.org/talk?sessionid=opening-of-the-conference",
        "https://example.org/talk?session_id",
        "https://example.org//a//b",
        "http://example.org:443/",
    ] {
        assert_eq!(fetched(text), text);
    }
}

#[test]
fn spellings_of_one_page_share_a_fingerprint() {
    let spellings = [
        ("https://example.org/~a?x=1&y=%2f", "https://EXAMPLE.org:443/%7Ea?y=%2F&x=1&utm_id=3#top"),
        ("https://example.org/?a[]=1", "https://example.org/?a%5B%5D=1"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%c3%bc"),
    ];
    for (one, other) in spellings {
        assert_eq!(page(one).fingerprint(), page(other).fingerprint(), "{one}");
        assert_eq!(page(one).key(), page(other).key());
    }
    let pages = [
        "https://example.org/a/b",
        "https://example.org/a%2Fb",
        "https://example.org/a/b/",
        "https://example.org/A/b",
        "http://example.org/a/b",
        "https://example.org:8443/a/b",
        "https://www.example.org/a/b",
        "https://example.org/a/b?q=a+b",
        "https://example.org/a/b?q=a%20b",
    ];
    for (index, one) in pages.iter().enumerate() {
        for other in pages.iter().skip(index + 1) {
            assert_ne!(page(one).fingerprint(), page(other).fingerprint(), "{one} {other}");
        }
    }
}

#[test]
fn what_is_no_page_is_refused() {
    let normaliser = Normaliser::default();
    let refused = |text: &str| normaliser.parse(text).unwrap_err();
    assert_eq!(refused("mailto:a@example.org"), UrlError::Scheme("mailto".to_owned()));
    assert_eq!(refused("HTP://example.org"), UrlError::Scheme("htp".to_owned()));
    assert_eq!(refused("https://user@example.org/"), UrlError::UserInfo);
    assert_eq!(refused("https://:word@example.org/"), UrlError::UserInfo);
    assert_eq!(refused("https://./"), UrlError::NoHost);
    assert_eq!(refused("/a"), UrlError::Malformed(ParseError::RelativeUrlWithoutBase));
    assert_eq!(refused("https://"), UrlError::Malformed(ParseError::EmptyHost));
    let long = format!("https://example.org/{}", "a".repeat(2029));
    assert_eq!(refused(&long), UrlError::TooLong { length: 2049, limit: 2048 });
    assert!(normaliser.parse(long.get(..2048).unwrap_or_default()).is_ok());
    assert!(normaliser.parse(&format!("https://example.org/#{long}")).is_ok());
    let huge = format!("data:image/png;base64,{}", "A".repeat(1 << 20));
    assert!(matches!(refused(&huge), UrlError::TooLong { .. }));
}

#[test]
fn links_are_joined_to_their_base() {
    let normaliser = Normaliser::default();
    let base = Url::parse("https://example.org/a/b?c#d").unwrap();
    let joined = |link: &str| normaliser.join(&base, link).map(|page| page.as_str().to_owned());
    assert_eq!(joined("/x").as_deref(), Ok("https://example.org/x"));
    assert_eq!(joined("x#y").as_deref(), Ok("https://example.org/a/x"));
    assert_eq!(joined("?gclid=1").as_deref(), Ok("https://example.org/a/b"));
    assert_eq!(joined("").as_deref(), Ok("https://example.org/a/b?c"));
    assert_eq!(joined("//other.org").as_deref(), Ok("https://other.org/"));
    assert_eq!(joined("javascript:void(0)"), Err(UrlError::Scheme("javascript".to_owned())));
    assert!(joined("///").is_err());
}

#[test]
fn the_operator_chooses_what_is_dropped() {
    let text = "https://example.org/a;jsessionid=1?utm_source=1&Color=2&colour=3";
    let parsed = |names: &[&str]| Normaliser::new(names, 2048).parse(text).unwrap().as_str().to_owned();
    assert_eq!(parsed(&[]), text);
    assert_eq!(parsed(&["", "  "]), text);
    assert_eq!(parsed(&["COLO*"]), "https://example.org/a;jsessionid=1?utm_source=1");
    assert_eq!(parsed(&["*"]), "https://example.org/a");
    assert_eq!(
        parsed(&["colour=token", "color"]),
        "https://example.org/a;jsessionid=1?utm_source=1&colour=3"
    );
}

/// The value is that of the reference library in C (xxh3-128, seed 0). Stores hold such values.
#[test]
fn fingerprints_never_change() {
    let fingerprint = page("https://example.org/").fingerprint();
    assert_eq!(fingerprint, Fingerprint(0x9db2_570d_b118_aad0_d506_5686_b5f2_0b16));
    assert_eq!(Fingerprint::from_bytes(fingerprint.to_bytes()), fingerprint);
    assert_eq!(fingerprint.prefix().to_be_bytes(), fingerprint.to_bytes()[..8]);
}

#[test]
fn a_plain_path_is_hashed_where_it_stands() {
    assert!(matches!(page("https://example.org/a/b.html").key(), Cow::Borrowed(_)));
}

#[test]
fn a_page_knows_its_host() {
    let page = page("http://[::1]:8080/a?b");
    assert_eq!((page.origin(), page.host_name()), ("http://[::1]:8080", "::1"));
    assert_eq!(page.host().as_str(), page.origin());
}

/// Texts that look like URLs, with the characters that make trouble.
fn url_text() -> impl Strategy<Value = String> {
    (
        prop_oneof!["http", "https", "HTTPS"],
        "[a-zA-Z0-9.%-]{1,12}",
        prop_oneof![Just(String::new()), "(\\.org|\\.|:80|:443|:81)"],
        "(/[a-zA-Z0-9%;=._~|\\[\\]\\\\ é^'-]{0,6}|/%2e|/%2E%2e|/;jsessionid=1|/\\.\\.;cfid=1){0,4}",
        "(\\?([a-c0-9%=&+/'|;é]|utm_|gclid=|%75tm_|&fbclid|&sessionid=[0-9a-f%]{14,18}){0,8})?",
        "(#[a-z]{0,3})?",
    )
        .prop_map(|(scheme, name, end, path, query, fragment)| {
            format!("{scheme}://{name}{end}{path}{query}{fragment}")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_panics(text in "\\PC{0,40}", link in "\\PC{0,20}") {
        let normaliser = Normaliser::default();
        let _ = normaliser.parse(&text);
        let _ = normaliser.join(page("https://example.org/a/b?c").as_url(), &link);
    }

    #[test]
    fn normalising_twice_is_normalising_once(text in url_text()) {
        let normaliser = Normaliser::default();
        if let Ok(page) = normaliser.parse(&text) {
            prop_assert_eq!(normaliser.parse(page.as_str()), Ok(page.clone()));
            let by_key = normaliser.parse(&page.key()).unwrap();
            prop_assert_eq!(by_key.key(), page.key());
            prop_assert_eq!(by_key.fingerprint(), page.fingerprint());
            prop_assert_eq!(by_key.as_str(), page.key());
            prop_assert_eq!(Some(page.host()), Host::of(page.as_url()));
            let host = page.host();
            prop_assert_eq!(host.as_str(), page.origin());
        }
    }

    #[test]
    fn the_order_of_parameters_never_shows(
        (given, shuffled) in prop::collection::vec("[a-c%=+é]{0,4}", 1..6)
            .prop_flat_map(|parameters| (Just(parameters.clone()), Just(parameters).prop_shuffle()))
    ) {
        let of = |parameters: &[String]| page(&format!("https://example.org/p?{}", parameters.join("&")));
        prop_assert_eq!(of(&given).fingerprint(), of(&shuffled).fingerprint());
    }

    #[test]
    fn case_of_host_default_port_and_fragment_never_show(
        name in "[a-z]{1,8}\\.org", path in "(/[a-zA-Z0-9%]{0,5}){0,3}", query in "(\\?[a-z=&]{1,5})?", fragment in "\\PC{0,6}"
    ) {
        let plain = page(&format!("https://{name}{path}{query}"));
        let other = page(&format!("HTTPS://{}.:443{path}{query}#{fragment}", name.to_uppercase()));
        prop_assert_eq!(plain, other);
    }

    #[test]
    fn different_paths_differ(one in "(/[a-zA-Z0-9_.~-]{1,6}){0,4}", other in "(/[a-zA-Z0-9_.~-]{1,6}){0,4}") {
        let [one, other] = [one, other].map(|path| page(&format!("https://example.org{path}")));
        prop_assert_eq!(one.as_url().path() == other.as_url().path(), one.fingerprint() == other.fingerprint());
    }
}
