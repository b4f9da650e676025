//! The page's own hints: start tags and headers in, what the page says of itself to crawlers out.
//!
//! These are its canonical address, the base of its links, where it sends its reader on, and what it asks robots not
//! to do. What must stay true: of two canonicals, bases or refreshes the first counts; of two requests to robots
//! the stricter one; addresses are as written, trimmed, and are never of another scheme than HTTP.

use super::elements::{Attribute, Element};
use super::html::Scanner;
use super::links::{has_token, web_address};

/// The hints that a page gives about itself.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Hints {
    /// The address it wants to be known by (`<link rel=canonical>`), not resolved.
    pub canonical: Option<String>,
    /// The base of its links (`<base href>`), not resolved.
    pub base: Option<String>,
    /// Where it sends its reader on (`<meta http-equiv=refresh>`).
    pub refresh: Option<Refresh>,
    /// Its wishes for all robots (`<meta name=robots>`).
    robots: RobotsTag,
    /// Its wishes for single robots (`<meta name=otherbot>`), by the name as written.
    robots_by_name: Vec<(Box<str>, RobotsTag)>,
}

/// A page that moves its reader on by itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Refresh {
    /// After how long, in seconds; at least 0.
    pub seconds: f64,
    /// Where to, not resolved.
    pub url: String,
}

/// The wishes of `X-Robots-Tag` headers and `<meta>` tags.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RobotsTag {
    /// Not to index the page.
    pub noindex: bool,
    /// Not to follow its links.
    pub nofollow: bool,
}

impl Hints {
    /// Takes note of the start tag that `scanner` is at.
    #[inline]
    pub fn start(&mut self, element: Element, scanner: &Scanner<'_>) {
        match element {
            Element::Meta => self.meta(scanner),
            Element::Base if self.base.is_none() => self.base = address(scanner),
            Element::Link if self.canonical.is_none() && is_canonical(scanner) => {
                self.canonical = address(scanner)
            }
            _ => {}
        }
    }

    fn meta(&mut self, scanner: &Scanner<'_>) {
        let Some(content) = scanner.value(Attribute::Content) else { return };
        let is_refresh = |name: &str| name.trim_ascii().eq_ignore_ascii_case("refresh");
        if scanner.value(Attribute::HttpEquiv).is_some_and(|name| is_refresh(&name)) {
            self.refresh = self.refresh.take().or_else(|| refresh(&content));
        }
        let Some(name) = scanner.value(Attribute::Name) else { return };
        let name = name.trim_ascii();
        let is_everyone = name.eq_ignore_ascii_case("robots");
        if is_everyone || is_product(name) {
            let mut tag = RobotsTag::default();
            content.split([',', ' ', '\t', '\n', '\r']).for_each(|directive| tag.add(directive));
            if is_everyone {
                self.robots.join(tag);
            } else if tag != RobotsTag::default() {
                self.robots_by_name.push((name.into(), tag));
            }
        }
    }

    /// The addresses that it gives.
    pub(super) fn addresses(&mut self) -> impl Iterator<Item = &mut String> {
        let refresh = self.refresh.as_mut().map(|refresh| &mut refresh.url);
        self.canonical.iter_mut().chain(self.base.as_mut()).chain(refresh)
    }

    /// The page's wishes for the crawler called `product_token`.
    pub(crate) fn robots_for(&self, product_token: &str) -> RobotsTag {
        let mut tag = self.robots;
        let ours = self.robots_by_name.iter().filter(|(name, _)| name.eq_ignore_ascii_case(product_token));
        ours.for_each(|(_, asked)| tag.join(*asked));
        tag
    }
}

impl RobotsTag {
    /// Both requests hold.
    pub fn join(&mut self, other: Self) {
        self.noindex |= other.noindex;
        self.nofollow |= other.nofollow;
    }

    fn add(&mut self, directive: &str) {
        let directive = directive.trim();
        let none = directive.eq_ignore_ascii_case("none");
        self.noindex |= none || directive.eq_ignore_ascii_case("noindex");
        self.nofollow |= none || directive.eq_ignore_ascii_case("nofollow");
    }
}

/// The wishes of a response's `X-Robots-Tag` headers for the crawler called `product_token`.
///
/// `otherbot: noindex` asks it of another crawler, up to the next name or the end of that header. Dates in
/// `unavailable_after` and anything else unknown are passed over.
pub fn robots_tag<'a>(values: impl Iterator<Item = &'a str>, product_token: &str) -> RobotsTag {
    let mut tag = RobotsTag::default();
    for value in values {
        let mut for_us = true;
        for part in value.split(',') {
            let directive = match part.split_once(':') {
                Some((name, _)) if is_valued_directive(name.trim()) => continue,
                Some((name, directive)) if is_product(name.trim()) => {
                    let name = name.trim();
                    for_us = name == "*" || name.eq_ignore_ascii_case(product_token);
                    directive
                }
                _ => part,
            };
            if for_us {
                tag.add(directive);
            }
        }
    }
    tag
}

/// Directives that have a colon of their own, so are no crawler's name.
fn is_valued_directive(name: &str) -> bool {
    const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    VALUED.iter().any(|valued| name.eq_ignore_ascii_case(valued))
}

/// Whether it could name a crawler; the hours of a date could not.
fn is_product(name: &str) -> bool {
    let is_named = name.starts_with(|first: char| first.is_ascii_alphabetic());
    name == "*"
        || (is_named
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')))
}

fn is_canonical(scanner: &Scanner<'_>) -> bool {
    scanner.value(Attribute::Rel).is_some_and(|rel| has_token(&rel, &["canonical"]))
}

fn address(scanner: &Scanner<'_>) -> Option<String> {
    let href = scanner.value(Attribute::Href)?;
    web_address(&href).map(|address| address.into_owned())
}

/// Reads `5; url=/x` and its many spellings (HTML Standard, "shared declarative refresh steps"), parts of a second
/// included. Without an address the page only reloads itself: no hint.
fn refresh(content: &str) -> Option<Refresh> {
    let content = content.trim_ascii_start();
    let time_end = content.find(|end: char| !(end.is_ascii_digit() || end == '.')).unwrap_or(content.len());
    let (time, rest) = content.split_at_checked(time_end)?;
    let seconds = seconds(time)?;
    if !rest.starts_with(|separator: char| matches!(separator, ';' | ',') || separator.is_ascii_whitespace())
    {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let url = unquoted(after_url_equals(rest).unwrap_or(rest));
    let url = web_address(url)?.into_owned();
    Some(Refresh { seconds, url })
}

/// `12`, `.5`, `1.5`, and `1.5.9` for what it is worth.
fn seconds(time: &str) -> Option<f64> {
    let second_dot = time.match_indices('.').nth(1).map_or(time.len(), |(at, _)| at);
    match time.get(..second_dot)? {
        "" => None,
        "." => Some(0.0),
        number => number.parse().ok().filter(|seconds: &f64| seconds.is_finite()),
    }
}

fn after_url_equals(rest: &str) -> Option<&str> {
    let (name, after) = rest.split_at_checked(3)?;
    let after = after.trim_ascii_start().strip_prefix('=')?;
    name.eq_ignore_ascii_case("url").then_some(after.trim_ascii_start())
}

fn unquoted(url: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = url.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or_default();
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::html;

    fn hints(page: &str) -> Hints {
        html(page.as_bytes(), None, 10).hints
    }

    fn refreshed(content: &str) -> Option<(f64, String)> {
        refresh(content).map(|refresh| (refresh.seconds, refresh.url))
    }

    #[test]
    fn canonical_and_base_the_first_of_each() {
        let page = hints(
            "<base target=x><base href='/b/'><base href=/c/><link rel='CANONICAL' href=' /x '><body><link rel=canonical href=/y>",
        );
        assert_eq!(page.base.as_deref(), Some("/b/"));
        assert_eq!(page.canonical.as_deref(), Some("/x"));
        let none = hints(
            "<base href='data:x'><link rel=canonical href='javascript:x'><link rel=canonicalx href=/x><a rel=canonical href=/a>",
        );
        assert_eq!(none, Hints::default());
        assert_eq!(hints("<template><base href=/t></template>").base, None);
    }

    #[test]
    fn a_refresh_in_its_many_spellings() {
        let x = Some((5.0, "/x".to_owned()));
        for content in
            ["5;url=/x", " 5 ; URL = '/x' ", "5,/x", "5 /x", "5; url=\"/x\"y", "5;/x", "5;url=/x\t"]
        {
            assert_eq!(refreshed(content), x, "{content:?}");
        }
        assert_eq!(refreshed("0.5;url=/x"), Some((0.5, "/x".to_owned())));
        assert_eq!(refreshed(".;url=/x"), Some((0.0, "/x".to_owned())));
        assert_eq!(refreshed("1.5.9;url=/x"), Some((1.5, "/x".to_owned())));
        assert_eq!(refreshed("5;urlx"), Some((5.0, "urlx".to_owned())));
        for content in
            ["5", "5;", "5;url=", "", "url=/x", "x;url=/x", "-1;url=/x", "5x;url=/x", "5;url=javascript:x"]
        {
            assert_eq!(refreshed(content), None, "{content:?}");
        }
        let page = hints(
            "<meta http-equiv=Refresh content='9'><meta http-equiv=Refresh content='1;url=/a&amp;b'><meta http-equiv=refresh content='2;/c'>",
        );
        assert_eq!(page.refresh, Some(Refresh { seconds: 1.0, url: "/a&b".into() }));
    }

    #[test]
    fn robots_in_the_page() {
        let asked = |page: &str| {
            let tag = hints(page).robots_for("freshet");
            (tag.noindex, tag.nofollow)
        };
        assert_eq!(asked("<meta name=robots content='noindex,nofollow'>"), (true, true));
        assert_eq!(asked("<META NAME=Robots CONTENT=' NoIndex , follow'>"), (true, false));
        assert_eq!(asked("<meta name=robots content=none>"), (true, true));
        assert_eq!(
            asked("<meta name=freshet content=nofollow><meta name=robots content=index>"),
            (false, true)
        );
        assert_eq!(
            asked("<meta name=otherbot content=none><meta name=description content=noindex>"),
            (false, false)
        );
        assert_eq!(
            asked("<meta property=robots content=none><!--<meta name=robots content=none>-->"),
            (false, false)
        );
        let page = hints("<meta name=OtherBot content=noindex><meta name=otherbot content=nofollow>");
        assert_eq!(page.robots_for("otherbot"), RobotsTag { noindex: true, nofollow: true });
        assert_eq!(page.robots_for("freshet"), RobotsTag::default());
    }

    #[test]
    fn robots_in_headers() {
        let asked = |values: &[&str]| {
            let tag = robots_tag(values.iter().copied(), "freshet");
            (tag.noindex, tag.nofollow)
        };
        assert_eq!(asked(&["noindex, nofollow"]), (true, true));
        assert_eq!(asked(&["NoIndex", "nofollow"]), (true, true));
        assert_eq!(asked(&["none"]), (true, true));
        assert_eq!(asked(&["otherbot: noindex, nofollow"]), (false, false));
        assert_eq!(asked(&["otherbot: noindex", "nofollow"]), (false, true));
        assert_eq!(asked(&["otherbot: noindex, Freshet: nofollow"]), (false, true));
        assert_eq!(asked(&["*: noindex"]), (true, false));
        assert_eq!(
            asked(&["unavailable_after: Wed, 03 Nov 2021 13:09:53 GMT, nofollow", "max-snippet: 5, noindex"]),
            (true, true)
        );
        assert_eq!(asked(&["unavailable_after: 2020-09-21T10:00:00", "", ",:,", "index"]), (false, false));
    }
}
