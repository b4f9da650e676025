use proptest::prelude::*;
use regex::RegexSet;

use super::*;
use crate::page::Normaliser;

fn page(text: &str) -> PageUrl {
    Normaliser::default().parse(text).unwrap()
}

fn patterns(texts: &[&str]) -> Option<RegexSet> {
    Some(RegexSet::new(texts).unwrap())
}

/// A scope with seeds numbered from 1.
fn scope(seeds: &[(&str, ScopeKind)]) -> Scope {
    let mut scope = Scope::new(ScopeKind::Host, None, TrapLimits::default(), SiteRules::default());
    for (number, (url, kind)) in (1..).zip(seeds) {
        scope.add_seed(SeedId(number), &page(url), Some(*kind), None);
    }
    scope
}

fn judge(scope: &Scope, url: &str) -> Result<i64, Refusal> {
    scope.judge(&page(url), 1, None).map(|seed| seed.0)
}

#[test]
fn names_of_scopes_are_read_back() {
    for kind in [ScopeKind::Prefix, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Any] {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert_eq!(
        "all".parse::<ScopeKind>().unwrap_err().to_string(),
        "unknown scope `all`, expected `prefix`, `host`, `domain` or `any`"
    );
}

#[test]
fn without_seeds_nothing_is_wanted() {
    assert_eq!(judge(&scope(&[]), "https://example.org/"), Err(Refusal::OutOfScope));
}

#[test]
fn host_scope_is_one_host_and_its_twin() {
    let scope =
        scope(&[("https://example.org/a", ScopeKind::Host), ("http://example.org:8080/", ScopeKind::Host)]);
    for (url, seed) in [
        ("https://example.org/b/c", Ok(1)),
        ("http://example.org/", Ok(1)),
        ("http://example.org:8080/x", Ok(2)),
        ("https://example.org:8080/", Err(Refusal::OutOfScope)),
        ("http://example.org:443/", Err(Refusal::OutOfScope)),
        ("https://www.example.org/", Err(Refusal::OutOfScope)),
    ] {
        assert_eq!(judge(&scope, url), seed, "{url}");
    }
}

#[test]
fn prefix_scope_is_a_folder() {
    let scope = scope(&[("https://example.org/~me/docs/index.html", ScopeKind::Prefix)]);
    for (url, seed) in [
        ("https://example.org/~me/docs/", Ok(1)),
        ("http://example.org/%7Eme/docs/a/b?c", Ok(1)),
        ("https://example.org/~me/docs", Err(Refusal::OutOfScope)),
        ("https://example.org/~me/docs2/", Err(Refusal::OutOfScope)),
        ("https://example.org/?/~me/docs/", Err(Refusal::OutOfScope)),
        ("https://example.com/~me/docs/", Err(Refusal::OutOfScope)),
    ] {
        assert_eq!(judge(&scope, url), seed, "{url}");
        assert_eq!(
            scope.judge(&page(url), 1, Some(SeedId(1))).map(|seed| seed.0),
            seed,
            "{url}, by its parent"
        );
    }
}

#[test]
fn domain_scope_goes_by_the_public_suffix_list() {
    let scope = scope(&[
        ("https://www.example.co.uk/", ScopeKind::Domain),
        ("https://me.github.io/", ScopeKind::Domain),
        ("http://127.0.0.1:81/", ScopeKind::Domain),
    ]);
    for (url, seed) in [
        ("http://example.co.uk/", Ok(1)),
        ("https://a.b.example.co.uk:81/", Ok(1)),
        ("https://other.co.uk/", Err(Refusal::OutOfScope)),
        ("https://me.github.io/x", Ok(2)),
        ("https://you.github.io/", Err(Refusal::OutOfScope)),
        ("http://127.0.0.1:82/", Ok(3)),
        ("http://126.0.0.1/", Err(Refusal::OutOfScope)),
    ] {
        assert_eq!(judge(&scope, url), seed, "{url}");
    }
}

#[test]
fn the_parent_is_asked_first_and_the_deepest_next() {
    let mut scope = Scope::new(ScopeKind::Host, Some(2), TrapLimits::default(), SiteRules::default());
    let seed = page("https://example.org/");
    scope.add_seed(SeedId(1), &seed, None, Some(0));
    scope.add_seed(SeedId(2), &seed, None, None);
    scope.add_seed(SeedId(3), &seed, None, Some(5));
    let link = page("https://example.org/x");
    assert_eq!(scope.judge(&link, 0, Some(SeedId(1))), Ok(SeedId(1)));
    assert_eq!(scope.judge(&link, 2, Some(SeedId(2))), Ok(SeedId(2)));
    assert_eq!(scope.judge(&link, 3, Some(SeedId(2))), Ok(SeedId(3)));
    assert_eq!(scope.judge(&link, 5, None), Ok(SeedId(3)));
    assert_eq!(scope.judge(&link, 6, None), Err(Refusal::TooDeep));
    assert_eq!(scope.judge(&link, 1, Some(SeedId(99))), Ok(SeedId(3)));
    scope.add_seed(SeedId(3), &page("https://example.com/"), None, None);
    assert_eq!(scope.judge(&link, 2, None), Ok(SeedId(2)));
    assert_eq!(scope.judge(&link, 3, None), Err(Refusal::TooDeep));
}

#[test]
fn patterns_choose_among_wanted_pages() {
    let rules =
        SiteRules { include: patterns(&["/article/", "/$"]), exclude: patterns(&["print"]), scope: None };
    let mut scope = Scope::new(ScopeKind::Any, None, TrapLimits::default(), rules);
    scope.add_seed(SeedId(1), &page("https://example.org/list"), None, None);
    let site = SiteRules { include: patterns(&["\\.html$"]), exclude: patterns(&["draft"]), scope: None };
    assert!(scope.add_site("example.com", site));
    assert!(!scope.add_site("not a host", SiteRules::default()));
    for (url, seed) in [
        ("https://example.org/article/1", Ok(1)),
        ("https://example.org/other", Err(Refusal::NotIncluded)),
        ("https://example.org/list", Ok(1)),
        ("https://example.org/article/print", Err(Refusal::Excluded)),
        ("https://example.com/article/1", Err(Refusal::NotIncluded)),
        ("https://www.example.com/a.html", Ok(1)),
        ("https://example.com/draft/a.html", Err(Refusal::Excluded)),
        ("https://example.com/print/a.html", Err(Refusal::Excluded)),
    ] {
        assert_eq!(judge(&scope, url), seed, "{url}");
    }
}

#[test]
fn a_site_sets_the_scope_of_its_seeds_whichever_comes_first() {
    let wide = || SiteRules { scope: Some(ScopeKind::Domain), ..SiteRules::default() };
    let mut scope = Scope::new(ScopeKind::Host, None, TrapLimits::default(), SiteRules::default());
    scope.add_seed(SeedId(1), &page("https://www.example.org/"), None, None);
    assert_eq!(judge(&scope, "https://example.org/"), Err(Refusal::OutOfScope));
    scope.add_site("example.org", wide());
    assert_eq!(judge(&scope, "https://example.org/"), Ok(1));
    scope.add_site("example.com", wide());
    scope.add_seed(SeedId(2), &page("https://www.example.com/"), None, None);
    scope.add_seed(SeedId(3), &page("https://www.example.net/"), None, None);
    assert_eq!(judge(&scope, "https://example.com/"), Ok(2));
    assert_eq!(judge(&scope, "https://example.net/"), Err(Refusal::OutOfScope));
}

#[test]
fn traps_are_told_by_their_urls() {
    let scope = scope(&[("https://example.org/", ScopeKind::Host)]);
    let path = |segments: usize| {
        format!("https://example.org{}/", (0..segments).map(|n| format!("/{n}")).collect::<String>())
    };
    for (url, seed) in [
        (path(16), Ok(1)),
        (path(17), Err(Refusal::PathTooDeep)),
        ("https://example.org/a/b/a/b/a/b".to_owned(), Ok(1)),
        ("https://example.org/a/b/a/b/a/b/a".to_owned(), Err(Refusal::RepeatedSegments)),
        (format!("https://example.org{}", "/".repeat(500)), Ok(1)),
    ] {
        assert_eq!(judge(&scope, &url), seed, "{url}");
    }
    let long = Normaliser::new::<&str>(&[], 9000)
        .parse(&format!("https://example.org/{}", "a".repeat(2029)))
        .unwrap();
    assert_eq!(scope.judge(&long, 0, None), Err(Refusal::UrlTooLong));
}

/// The scope of one seed, written from its definition and without an index.
fn accepts(seed: &PageUrl, kind: ScopeKind, page: &PageUrl) -> bool {
    let (seed_host, page_host) = (seed.host(), page.host());
    let has_default_port = |url: &PageUrl| url.as_url().port().is_none();
    let twins = seed_host.name() == page_host.name() && has_default_port(seed) && has_default_port(page);
    let same_host = seed_host == page_host || twins;
    match kind {
        ScopeKind::Any => true,
        ScopeKind::Host => same_host,
        ScopeKind::Domain => seed_host.domain() == page_host.domain(),
        ScopeKind::Prefix => {
            let mut folder: Vec<&str> = seed.as_url().path_segments().into_iter().flatten().collect();
            folder.pop();
            let path: Vec<&str> = page.as_url().path_segments().into_iter().flatten().collect();
            same_host && path.len() > folder.len() && path.starts_with(&folder)
        }
    }
}

fn any_page() -> impl Strategy<Value = PageUrl> {
    (
        "https?",
        "(www\\.)?(a|b)\\.(org|co\\.uk)|127\\.0\\.0\\.1|localhost",
        "(:81|:443)?",
        "(/[ab]{0,2}){0,4}",
        "(\\?a)?",
    )
        .prop_map(|(scheme, name, port, path, query)| page(&format!("{scheme}://{name}{port}{path}{query}")))
}

fn any_kind() -> impl Strategy<Value = ScopeKind> {
    prop_oneof![
        3 => Just(ScopeKind::Prefix),
        3 => Just(ScopeKind::Host),
        3 => Just(ScopeKind::Domain),
        1 => Just(ScopeKind::Any)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_link_is_accepted_exactly_when_some_seed_accepts_it(
        seeds in prop::collection::vec((any_page(), any_kind(), prop::option::of(0_u32..4)), 0..6),
        links in prop::collection::vec((any_page(), 0_u32..5, prop::option::of(0_i64..7)), 1..8),
        max_depth in prop::option::of(0_u32..5),
    ) {
        let limits = TrapLimits { repeated_segments: 100, ..TrapLimits::default() };
        let mut scope = Scope::new(ScopeKind::Host, max_depth, limits, SiteRules::default());
        for (number, (url, kind, depth)) in (0..).zip(&seeds) {
            scope.add_seed(SeedId(number), url, Some(*kind), *depth);
        }
        for (link, depth, parent) in links {
            let covering: Vec<usize> =
                (0..seeds.len()).filter(|place| accepts(&seeds[*place].0, seeds[*place].1, &link)).collect();
            let reaching: Vec<SeedId> = covering
                .iter()
                .filter(|place| seeds[**place].2.or(max_depth).is_none_or(|max_depth| depth <= max_depth))
                .map(|place| SeedId(*place as i64))
                .collect();
            let parent = parent.map(SeedId);
            match scope.judge(&link, depth, parent) {
                Ok(seed) => {
                    prop_assert!(reaching.contains(&seed));
                    prop_assert!(parent.is_none_or(|parent| !reaching.contains(&parent) || seed == parent));
                }
                Err(Refusal::TooDeep) => prop_assert!(reaching.is_empty() && !covering.is_empty()),
                Err(refusal) => prop_assert!(refusal == Refusal::OutOfScope && covering.is_empty()),
            }
        }
    }
}
