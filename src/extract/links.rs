//! Links: start tags in, the addresses that the page asks its reader to go to out, as written.
//!
//! Links are `a` and `area`, frames, and of `link` the next and previous page, the page in other languages and its feeds; not
//! style sheets, icons, forms, comments or strings in scripts. What must stay true: an address comes once,
//! however often it stands in the page, in the order of first appearance; one that is not HTTP, empty, or a place in
//! the same page is not there; memory is bounded by the limit, and what is beyond it is counted.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use super::elements::{Attribute, Element};
use super::html::Scanner;
use crate::identity_hash::ByHash;

/// Version of which links are found in a body. It goes up when more or other links are found: then stored bodies are read again
/// for them, once. 2: feeds that a page names, and links in feeds.
pub const LINKS_VERSION: u32 = 2;

/// A link of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// As written in the page, trimmed, without tabs and newlines (as the URL Standard reads it), not yet resolved.
    pub href: String,
    /// The page asks not to follow it (`nofollow`, `ugc`, `sponsored`), wherever it links there.
    pub nofollow: bool,
    /// When the page that it leads to changed last, by the entry of a feed, in UTC seconds.
    pub lastmod: Option<i64>,
}

/// The links of a page being gathered.
#[derive(Clone, Debug)]
pub struct Links {
    kept: Vec<Link>,
    dropped: usize,
    limit: usize,
    /// Hash of an address → its place in `kept`. The hash is keyed, so a page cannot be made to collide.
    places: ByHash<u64, usize>,
    keys: RandomState,
}

impl Links {
    /// An empty list that takes at most `limit` links.
    pub fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), dropped: 0, limit, places: ByHash::default(), keys: RandomState::new() }
    }

    /// Adds the link of the start tag that `scanner` is at, if it is one.
    #[inline]
    pub fn start(&mut self, element: Element, scanner: &Scanner<'_>) {
        let attribute = match element {
            Element::A | Element::Area | Element::Link => Attribute::Href,
            Element::Iframe | Element::Frame => Attribute::Src,
            _ => return,
        };
        let Some(address) = scanner.value(attribute) else { return };
        let rel = scanner.value(Attribute::Rel);
        let rel = rel.as_deref().unwrap_or_default();
        if element == Element::Link && !is_page_link(rel, scanner) {
            return;
        }
        if let Some(href) = web_address(&address) {
            let nofollow = !rel.is_empty() && has_token(rel, &["nofollow", "ugc", "sponsored"]);
            self.add(href, nofollow, None);
        }
    }

    /// The links kept, and how many more there were. A link that was dropped is counted each time it stands there.
    pub fn finish(self) -> (Vec<Link>, usize) {
        (self.kept, self.dropped)
    }

    /// Adds a link.
    pub(super) fn add(&mut self, href: Cow<'_, str>, nofollow: bool, lastmod: Option<i64>) {
        let hash = self.keys.hash_one(href.as_bytes());
        let known = self.places.get(&hash).and_then(|place| self.kept.get_mut(*place));
        if let Some(link) = known.filter(|link| link.href == href) {
            link.nofollow &= nofollow;
            link.lastmod = link.lastmod.max(lastmod);
        } else if self.kept.len() < self.limit {
            self.places.insert(hash, self.kept.len());
            self.kept.push(Link { href: href.into_owned(), nofollow, lastmod });
        } else {
            self.dropped += 1;
        }
    }
}

/// The address that `written` is, if it may be one of a page on the web: not empty, not only a fragment, without
/// a scheme other than `http` or `https`. Trimmed and without tabs and newlines, as the URL Standard asks.
pub(crate) fn web_address(written: &str) -> Option<Cow<'_, str>> {
    let trimmed = written.trim_matches(|character| character <= ' ');
    let broken = |character| matches!(character, '\t' | '\n' | '\r');
    let address = if trimmed.contains(broken) {
        Cow::Owned(trimmed.replace(broken, ""))
    } else {
        Cow::Borrowed(trimmed)
    };
    if address.is_empty() || address.starts_with('#') {
        return None;
    }
    let is_web = scheme(&address)
        .is_none_or(|scheme| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"));
    is_web.then_some(address)
}

/// Whether a list of words, as in `rel`, has one of `tokens`.
pub fn has_token(list: &str, tokens: &[&str]) -> bool {
    list.split_ascii_whitespace().any(|word| tokens.iter().any(|token| word.eq_ignore_ascii_case(token)))
}

/// The text before the first colon, if it is a scheme.
fn scheme(address: &str) -> Option<&str> {
    let end = address
        .bytes()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))?;
    let (scheme, rest) = address.split_at_checked(end)?;
    (rest.starts_with(':') && scheme.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(scheme)
}

/// The types of feeds. `application/json` is not one of them: many pages name an interface for programs by it.
const FEEDS: [&str; 3] = ["application/rss+xml", "application/atom+xml", "application/feed+json"];

/// Whether a `link` leads to another page for a reader, or to a feed.
fn is_page_link(rel: &str, scanner: &Scanner<'_>) -> bool {
    if has_token(rel, &["next", "prev"]) {
        return true;
    }
    if !has_token(rel, &["alternate"]) {
        return false;
    }
    let kind = scanner.value(Attribute::Type);
    let essence = kind.as_deref().and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    let is = |kinds: &[&str]| kinds.iter().any(|kind| essence.eq_ignore_ascii_case(kind));
    is(&FEEDS) || is(&["", "text/html", "application/xhtml+xml"]) && scanner.has_any(&[Attribute::Hreflang])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::extract::html;

    fn hrefs(page: &str) -> Vec<String> {
        html(page.as_bytes(), None, 100).links.into_iter().map(|link| link.href).collect()
    }

    #[test]
    fn the_elements_that_link() {
        assert_eq!(
            hrefs("<a href=/a>x</a><AREA HREF='/b'><iframe src=\"/c\"></iframe><frame src=/d>"),
            ["/a", "/b", "/c", "/d"]
        );
        assert_eq!(hrefs("<link rel='x NEXT' href=2><link rel=prev href=0>"), ["2", "0"]);
        assert_eq!(
            hrefs(
                "<link rel=alternate hreflang=pl href=/pl><link rel=alternate type=text/html hreflang=de href=/de>"
            ),
            ["/pl", "/de"]
        );
        assert_eq!(hrefs("<noscript><a href=/n>x</a></noscript>"), ["/n"]);
        assert_eq!(hrefs("<div hidden><a href=/h>x</a></div>"), ["/h"]);
    }

    #[test]
    fn what_does_not_link() {
        assert!(
            hrefs(
                "<link rel=stylesheet href=/s><link rel='shortcut icon' href=/i><link rel=preload href=/p>"
            )
            .is_empty()
        );
        assert!(
            hrefs("<link rel=alternate type=application/json href=/wp-json><link rel=alternate href=/q>")
                .is_empty()
        );
        let feeds = "<link rel=alternate type=application/rss+xml hreflang=en href=/r><link rel='x ALTERNATE' type='application/Atom+xml; a' \
            href=/a><link rel=alternate type=application/feed+json href=/j><link rel=self type=application/rss+xml href=/s>";
        assert_eq!(hrefs(feeds), ["/r", "/a", "/j"]);
        assert!(
            hrefs("<!-- <a href=/c> --><script>'<a href=/s>'</script><style><a href=/t></style>").is_empty()
        );
        assert!(
            hrefs("<form action=/f><img src=/i><b href=/b><a name=x><template><a href=/t></a></template>")
                .is_empty()
        );
        assert!(
            hrefs("<a href=''></a><a href='#x'></a><a href=' # '></a><a href></a><a href='/cut").is_empty()
        );
    }

    #[test]
    fn only_the_web() {
        let page = "<a href='javascript:x'><a href=' JAVA\nSCRIPT:x'><a href='mailto:a@b'><a href='data:,x'><a href='tel:+1'>\
                    <a href='ftp://h/x'><a href='about:blank'><a href='x+y.z-1:q'>";
        assert!(hrefs(page).is_empty());
        let web = "<a href='HTTP://h/'><a href='https:x'><a href='//h/x'><a href='?q=a:b'><a href='a/b:c'><a href='1:2'><a href=':x'>";
        assert_eq!(hrefs(web), ["HTTP://h/", "https:x", "//h/x", "?q=a:b", "a/b:c", "1:2", ":x"]);
    }

    #[test]
    fn as_the_url_standard_reads_it() {
        assert_eq!(hrefs("<a href=' \x01/a b\t\r\n/c&amp;d=1&copy=2 '>"), ["/a b/c&d=1&copy=2"]);
        assert_eq!(hrefs("<a href=/one href=/two>"), ["/one"]);
    }

    #[test]
    fn a_link_comes_once_and_may_be_followed_if_once_it_may() {
        let page = html(
            b"<a rel='x NoFollow' href=/a><a href=/b><a href=/a><a rel=ugc href=/c><a rel=sponsored href=/c>",
            None,
            9,
        );
        let links: Vec<_> = page.links.iter().map(|link| (link.href.as_str(), link.nofollow)).collect();
        assert_eq!(links, [("/a", false), ("/b", false), ("/c", true)]);
    }

    #[test]
    fn beyond_the_limit_links_are_counted() {
        let page = html(b"<a href=1><a href=2><a href=1><a href=3><a href=4><a href=2>", None, 2);
        assert_eq!((page.links.len(), page.links_dropped), (2, 2));
        assert_eq!(html(b"<a href=1>", None, 0).links_dropped, 1);
    }

    proptest! {
        #[test]
        fn no_address_is_lost_or_doubled(numbers in prop::collection::vec(0..40_u8, 0..80), limit in 0..50_usize) {
            let page: String = numbers.iter().map(|number| format!("<a href='/{number}'>x</a>")).collect();
            let document = html(page.as_bytes(), None, limit);
            let mut distinct: Vec<String> = Vec::new();
            for number in numbers {
                let href = format!("/{number}");
                if !distinct.contains(&href) {
                    distinct.push(href);
                }
            }
            let kept: Vec<String> = document.links.into_iter().map(|link| link.href).collect();
            prop_assert_eq!(&kept[..], &distinct[..distinct.len().min(limit)]);
            prop_assert_eq!(document.links_dropped == 0, distinct.len() <= limit);
        }
    }
}
