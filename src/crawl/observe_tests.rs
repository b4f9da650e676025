//! Tests of reading a page, without a crawl.

use bytes::Bytes;
use reqwest::header::{HeaderName, HeaderValue};

use super::*;
use crate::extract::text_rules::TextRules;

fn observer() -> Observer {
    Observer {
        normaliser: Normaliser::default(),
        links_per_page: 100,
        obey_nofollow: true,
        product_tokens: ProductTokens::new("freshet"),
        sitemap_bytes: 1 << 20,
        reading: Reading::default(),
        change: ChangeSettings::default(),
        anchors: false,
    }
}

fn answer(headers: &[(&'static str, &'static str)], body: &'static str) -> Answer {
    let named = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    let mut headers: HeaderMap = headers.iter().map(named).collect();
    headers.insert("content-type", HeaderValue::from_static("text/html"));
    Answer {
        status: 200,
        protocol: reqwest::Version::HTTP_11,
        headers,
        body: Bytes::from_static(body.as_bytes()),
        cut: false,
        address: None,
        place: None,
    }
}

fn here() -> Url {
    Url::parse("https://example.org/a/").expect("a URL")
}

const PAGE: &str = r##"<title>A page</title><base href="/b/"><link rel=canonical href="c">
    <p>Some words that stay. <span class=clock>12:34 today</span></p>
    <a href="one">1</a> <a href="one#part">again</a> <a href="two" rel=nofollow>2</a> <a href="https://me@example.org/">3</a>"##;

#[test]
fn a_page_is_read_by_its_headers_and_its_sites_rules() {
    let mut observer = observer();
    let ignored = TextRules::new(&[".clock".to_owned()], &[], &[]).expect("rules");
    observer.reading.general.rules = ignored;
    let page = observer.read(&here(), &answer(&[("x-robots-tag", "noindex")], PAGE));
    assert!(page.noindex() && !page.nofollow());
    assert_eq!((page.soft_outcome(), page.words_ignored), (None, 2));
    let document = page.document.expect("a document");
    assert!(document.text.starts_with("Some words that stay."), "{}", document.text);
    let canonical = observer.canonical(&here(), &document).expect("a canonical page");
    assert_eq!(canonical.as_str(), "https://example.org/b/c");
}

#[test]
fn links_are_resolved_and_judged_before_scope() {
    let observer = observer();
    let document = observer.read(&here(), &answer(&[], PAGE)).document.expect("a document");
    let judged = |page_nofollow| {
        let links = observer.links(&here(), &document, page_nofollow);
        links.map(|link| link.judge().map(|url| url.to_string())).collect::<Vec<_>>()
    };
    let one = || Ok("https://example.org/b/one".to_owned());
    assert_eq!(judged(false), [one(), one(), Err(Refusal::NoFollow), Err(Refusal::UserInfo)]);
    assert!(judged(true).iter().all(|link| *link == Err(Refusal::NoFollow)));
}

#[test]
fn a_visit_counts_what_it_refuses_and_names_each_page_once_in_a_row() {
    let request = crate::fetch::visit::Request {
        subject: Subject::Page(crate::page::PageId(1)),
        url: here(),
        validators: Validators::default(),
    };
    let visit = Visit {
        request,
        at: crate::time::Timestamp::default(),
        took: std::time::Duration::ZERO,
        outcome: Outcome::Fetched,
        reason: None,
        answer: Some(answer(&[], PAGE)),
    };
    let observed = observer().observe(visit);
    assert_eq!(observed.links.len(), 1);
    let refused: Vec<_> = observed.refused.iter().collect();
    assert_eq!(refused, [(Refusal::UserInfo, 1), (Refusal::NoFollow, 1)]);
    assert!(matches!(observed.content, Some(Content::Read(_))));
}

#[test]
fn a_page_that_says_it_is_missing_leaves_nothing() {
    let body = "<title>404 Not Found</title><h1>404 Not Found</h1><a href=/>home</a>";
    let page = observer().read(&here(), &answer(&[("etag", "\"1\"")], body));
    assert_eq!(page.soft_outcome(), Some(Outcome::SoftMissing));
}
