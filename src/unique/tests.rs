use proptest::prelude::*;

use super::*;
use crate::page::{Normaliser, UrlError};

fn page(text: &str) -> PageUrl {
    Normaliser::default().parse(text).unwrap()
}

fn links(texts: &[&str]) -> Vec<Candidate> {
    texts.iter().map(|text| Candidate { url: page(text), lastmod: None, anchor: None }).collect()
}

fn numbered(count: usize, url: impl Fn(usize) -> String) -> Vec<Candidate> {
    (0..count).map(|number| Candidate { url: page(&url(number)), lastmod: None, anchor: None }).collect()
}

fn verifier(limits: TrapLimits, max_known: usize) -> UniquenessVerifier {
    let mut verifier = UniquenessVerifier::new(
        Scope::new(ScopeKind::Host, Some(3), limits, SiteRules::default()),
        max_known,
    );
    verifier.scope_mut().add_seed(SeedId(1), &page("https://example.org/"), None, None);
    verifier
}

fn found(pages: &[NewPage]) -> Vec<&str> {
    pages.iter().map(|page| page.url.as_str()).collect()
}

const SOURCE: LinkSource = LinkSource { depth: 1, seed: Some(SeedId(1)), page: Some(PageId(7)) };

#[test]
fn new_pages_pass_once() {
    let mut verifier = verifier(TrapLimits::default(), 1000);
    let given =
        links(&["https://example.org/a?x=1&y=2", "https://example.org/b", "https://EXAMPLE.org/a?y=2&x=1#z"]);
    let admitted = verifier.admit(given.clone(), &SOURCE);
    assert_eq!(found(&admitted.new), ["https://example.org/a?x=1&y=2", "https://example.org/b"]);
    assert_eq!((admitted.unsure.len(), admitted.known), (0, 1));
    let first = &admitted.new[0];
    assert_eq!((first.depth, first.seed, first.found_on), (1, SeedId(1), Some(PageId(7))));
    let again = verifier.admit(given, &SOURCE);
    assert_eq!((again.new.len(), again.known, verifier.known()), (0, 3, 2));
    assert_eq!(verifier.take_refusals(), []);
}

#[test]
fn refused_links_are_counted_by_reason() {
    let mut verifier = verifier(TrapLimits::default(), 1000);
    verifier.admit(links(&["https://a.org/", "https://b.org/", "https://example.org/a/a/a/a"]), &SOURCE);
    verifier.admit(links(&["https://example.org/deep"]), &LinkSource { depth: 4, ..SOURCE });
    verifier.refuse(Refusal::NoFollow, 5);
    verifier.refuse((&UrlError::UserInfo).into(), 1);
    assert_eq!(
        verifier.take_refusals(),
        [
            (Refusal::UserInfo, 1),
            (Refusal::OutOfScope, 2),
            (Refusal::TooDeep, 1),
            (Refusal::RepeatedSegments, 1),
            (Refusal::NoFollow, 5)
        ]
    );
    assert_eq!((verifier.take_refusals(), verifier.known()), (vec![], 0));
}

#[test]
fn a_page_gives_so_many_links_but_a_sitemap_gives_all() {
    let mut verifier = verifier(TrapLimits { links_per_page: 10, ..TrapLimits::default() }, 1000);
    let given = numbered(30, |number| format!("https://example.org/{number}"));
    assert_eq!(verifier.admit(given.clone(), &SOURCE).new.len(), 10);
    assert_eq!(verifier.take_refusals(), [(Refusal::LinksPerPage, 20)]);
    let admitted = verifier.admit(given, &LinkSource { page: None, ..SOURCE });
    assert_eq!((admitted.new.len(), admitted.known), (20, 10));
}

#[test]
fn a_path_has_so_many_queries_and_a_host_so_many_pages() {
    let limits = TrapLimits { query_variants: 3, pages_per_host: 8, ..TrapLimits::default() };
    let mut verifier = verifier(limits, 1000);
    let tilde = |number| if number % 2 == 0 { "~" } else { "%7E" };
    let queries = numbered(5, |number| format!("https://example.org/{}?q={number}", tilde(number)));
    assert_eq!(verifier.admit(queries, &SOURCE).new.len(), 3);
    let pages = numbered(7, |number| format!("https://example.org/p{number}"));
    assert_eq!(verifier.admit(pages, &SOURCE).new.len(), 5);
    assert_eq!(verifier.admit(links(&["http://example.org/"]), &SOURCE).new.len(), 1, "another host");
    assert_eq!(verifier.take_refusals(), [(Refusal::QueryVariants, 2), (Refusal::HostFull, 2)]);
}

#[test]
fn what_is_remembered_is_known_and_counts() {
    let limits = TrapLimits { query_variants: 2, pages_per_host: 4, ..TrapLimits::default() };
    let mut verifier = verifier(limits, 1000);
    for text in ["https://example.org/s?q=1", "https://example.org/s?q=2", "https://example.org/s?q=2"] {
        let page = page(text);
        verifier.remember(page.fingerprint(), host_hash(&page), query_path_hash(&page));
    }
    let given = ["s?q=1", "s?q=3", "a", "b", "c"].map(|path| format!("https://example.org/{path}"));
    let admitted = verifier.admit(links(&given.each_ref().map(String::as_str)), &SOURCE);
    assert_eq!(
        (found(&admitted.new), admitted.known),
        (vec!["https://example.org/a", "https://example.org/b"], 1)
    );
    assert_eq!(verifier.take_refusals(), [(Refusal::QueryVariants, 1), (Refusal::HostFull, 1)]);
    assert_eq!(query_path_hash(&page("https://example.org/s")), None);
}

#[test]
fn a_full_known_set_hands_on_what_it_cannot_tell() {
    let mut verifier = verifier(TrapLimits { pages_per_host: 4, ..TrapLimits::default() }, 2);
    let given = ["a", "b", "c", "c", "d"].map(|path| format!("https://example.org/{path}"));
    let given = links(&given.each_ref().map(String::as_str));
    let admitted = verifier.admit(given.clone(), &SOURCE);
    assert_eq!(found(&admitted.new), ["https://example.org/a", "https://example.org/b"]);
    assert_eq!(found(&admitted.unsure), ["https://example.org/c", "https://example.org/d"]);
    assert_eq!(admitted.known, 1);
    for page in &admitted.unsure {
        verifier.remember(page.url.fingerprint(), host_hash(&page.url), query_path_hash(&page.url));
    }
    let again = verifier.admit(given, &SOURCE);
    assert_eq!((again.new.len(), again.unsure.len(), again.known), (0, 0, 2));
    assert_eq!(verifier.take_refusals(), [(Refusal::HostFull, 3)]);
    assert_eq!(verifier.known(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_link_is_accounted_for_and_no_page_passes_twice(
        batches in prop::collection::vec(
            (prop::collection::vec("https?://(example\\.org|b\\.org)(/[ab]{1,2}){0,5}(\\?[ab]{0,3})?", 0..30), 0_u32..5, any::<bool>()),
            1..6,
        ),
        max_known in prop_oneof![3 => Just(10_000_usize), 1 => 0_usize..20],
    ) {
        let limits = TrapLimits { links_per_page: 20, query_variants: 3, pages_per_host: 25, ..TrapLimits::default() };
        let mut verifier = verifier(limits, max_known);
        let mut passed = HashSet::new();
        for (texts, depth, on_page) in batches {
            let source = LinkSource { depth, seed: None, page: on_page.then_some(PageId(1)) };
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let admitted = verifier.admit(links(&texts), &source);
            let refused: u64 = verifier.take_refusals().iter().map(|(_, count)| count).sum();
            let told = admitted.new.len() + admitted.unsure.len() + admitted.known + refused as usize;
            prop_assert_eq!(told, texts.len());
            prop_assert!(admitted.unsure.is_empty() || verifier.known() == max_known);
            let unsure: HashSet<Fingerprint> = admitted.unsure.iter().map(|page| page.url.fingerprint()).collect();
            prop_assert_eq!(unsure.len(), admitted.unsure.len());
            prop_assert!(unsure.is_disjoint(&passed));
            for page in &admitted.new {
                prop_assert!(passed.insert(page.url.fingerprint()), "twice: {}", page.url);
                prop_assert_eq!(page.url.host_name(), "example.org");
                prop_assert!(page.depth <= 3);
            }
            let new: Vec<&str> = found(&admitted.new);
            let again = verifier.admit(links(&new), &LinkSource { page: None, ..source });
            prop_assert_eq!((again.new.len(), again.unsure.len(), again.known), (0, 0, new.len()));
            prop_assert_eq!(verifier.known(), passed.len());
        }
    }
}

#[test]
fn a_single_link_is_judged_without_counting_its_refusal() {
    let mut verifier = verifier(TrapLimits::default(), 100);
    let mut admit =
        |url: &str| verifier.admit_one(Candidate { url: page(url), lastmod: None, anchor: None }, &SOURCE);
    assert!(matches!(admit("https://example.org/a"), Admission::New(_)));
    assert_eq!(admit("https://example.org/a"), Admission::Known);
    assert_eq!(admit("https://example.com/"), Admission::Refused(Refusal::OutOfScope));
    assert_eq!(verifier.take_refusals(), []);
}

#[test]
fn a_seed_takes_its_scope_along_within_its_domain() {
    let seed = page("https://example.org/");
    let mut verifier = verifier(TrapLimits::default(), 100);
    let scope = verifier.scope_mut();
    let (www, other) = (page("https://www.example.org/"), page("https://example.com/"));
    assert!(!scope.follow_seed(SeedId(1), &seed.host(), &other));
    assert!(scope.follow_seed(SeedId(1), &seed.host(), &www));
    assert_eq!(scope.judge(&www, 0, None), Ok(SeedId(1)));
    // It is in scope now: there is nothing to widen.
    assert!(!scope.follow_seed(SeedId(1), &seed.host(), &www));
}
