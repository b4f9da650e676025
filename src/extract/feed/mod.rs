//! Feeds: bytes in, their entries out as text, links and dates (RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed).
//!
//! Every body is asked, as the server's word is no help: feeds come as XML, as HTML and as plain text. So the first bytes
//! are walked up to the root element, and only if that is a feed's is anything read or decoded. Feeds are read here
//! and not by a crate for feeds, because most feeds are a little broken: what stands before the break counts. What must stay
//! true: no bytes make it fail; time is linear in the bytes; entities of a DTD are never expanded; what is nested into an
//! entry (Atom's `source`) is not taken for the entry's own.

mod json;
mod xml;

use std::borrow::Cow;

use jiff::fmt::rfc2822;
use memchr::{memchr, memchr2, memmem};

use super::links::{Links, web_address};
use super::sitemap::date as w3c_date;
use super::text::Words;
use super::{Document, Hints, charset, html};

/// How much of a body may stand before its root element, in bytes: some feeds begin with a comment of half a KiB, so
/// that old browsers don't take them for pages.
const BEFORE_ROOT_BYTES: usize = 4096;

/// Entries of one feed that are read: real feeds have tens, archives a few thousand.
const MOST_ENTRIES: usize = 10_000;

/// The form of a feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FeedKind {
    Rss,
    /// RSS 0.90 and 1.0, if it is a feed.
    Rdf,
    Atom,
    Json,
}

/// Reads a feed; `None` if the body is none after all. Links beyond `max_links` are counted, not kept.
///
/// The text has a line for the title of each entry, and lines for its content, or else for its summary. Dates are not in it,
/// because many feeds write the present time into themselves. The links are those of the feed and of its entries to pages, with
/// the date of the entry's last change; enclosures are none.
pub(super) fn document(body: &[u8], content_type: Option<&str>, max_links: usize) -> Option<Document> {
    let (text, encoding) = charset::decode(body, content_type);
    let read = match kind(body)? {
        FeedKind::Json => json::read(&text)?,
        kind => xml::read(&text, kind)?,
    };
    Some(read.into_document(encoding.name(), max_links, text.len()))
}

/// The dates of a feed's entries, in UTC seconds, in the order of the file. An entry's date is that of its publication, or
/// else that of its last change; one without a readable date is left out, and so is one that the file's end cuts
/// off. `None` if the body is no feed.
pub fn entry_dates(body: &[u8], content_type: Option<&str>) -> Option<Vec<i64>> {
    document(body, content_type, 0)?.entry_dates
}

/// A feed, read.
#[derive(Default, Debug)]
struct Feed<'a> {
    title: Option<Cow<'a, str>>,
    /// Its description.
    about: Option<FeedText<'a>>,
    /// Addresses of pages that belong to the feed itself, as written.
    links: Vec<Cow<'a, str>>,
    /// The base of addresses.
    base: Option<String>,
    entries: Vec<FeedEntry<'a>>,
}

/// An entry of a feed.
#[derive(Default, Debug)]
struct FeedEntry<'a> {
    title: Option<FeedText<'a>>,
    summary: Option<FeedText<'a>>,
    content: Option<FeedText<'a>>,
    /// Addresses of its pages, as written.
    links: Vec<Cow<'a, str>>,
    /// The base of its addresses, if it has one of its own.
    base: Option<String>,
    published: Option<i64>,
    updated: Option<i64>,
}

/// A text of a feed.
#[derive(Debug)]
enum FeedText<'a> {
    Plain(Cow<'a, str>),
    Html(Cow<'a, str>),
}

impl Feed<'_> {
    fn into_document(self, charset: &'static str, max_links: usize, bytes: usize) -> Document {
        let mut words = Words::with_capacity(bytes);
        let mut links = Links::new(max_links);
        let mut add = |href: &str, lastmod| {
            if let Some(href) = web_address(href) {
                links.add(href, false, lastmod);
            }
        };
        if let Some(title) = &self.title {
            words.push_lines(title);
        }
        if let Some(about) = &self.about {
            about.push(&mut words);
        }
        self.links.iter().for_each(|link| add(link, None));
        let mut dates = Vec::new();
        for entry in self.entries {
            dates.extend(entry.published.or(entry.updated));
            let base = entry.base.as_deref().map(|base| based(self.base.as_deref(), base));
            for link in &entry.links {
                add(&based(base.as_deref(), link), entry.updated.or(entry.published));
            }
            let content = entry.content.filter(|content| !content.is_blank()).or(entry.summary);
            entry.title.into_iter().chain(content).for_each(|text| text.push(&mut words));
        }
        let mut title = Words::default();
        title.push_lines(self.title.as_deref().unwrap_or_default());
        let title = Some(title.finish().replace('\n', " ")).filter(|title| !title.is_empty());
        let mut hints = Hints::default();
        hints.base = self.base;
        let (links, links_dropped) = links.finish();
        let entry_dates = Some(dates);
        let text = words.finish();
        Document { title, links, hints, links_dropped, entry_dates, ..Document::of_text(text, charset) }
    }
}

impl FeedText<'_> {
    fn is_blank(&self) -> bool {
        let (Self::Plain(text) | Self::Html(text)) = self;
        text.trim().is_empty()
    }

    fn push(&self, words: &mut Words) {
        match self {
            Self::Plain(text) => words.push_lines(text),
            Self::Html(markup) => {
                let read = html(markup.as_bytes(), Some("text/html; charset=utf-8"), 0);
                words.push_lines(&read.text);
            }
        }
    }
}

/// An address under a base, both as written. What can't be told without the address of the feed is left to the caller.
fn based(base: Option<&str>, href: &str) -> String {
    let Some(base) = base else { return href.to_owned() };
    if let Ok(base) = url::Url::parse(base) {
        return base.join(href).map_or_else(|_| href.to_owned(), String::from);
    }
    let is_rooted = href.starts_with('/') || href.contains(':');
    match base.rfind('/').and_then(|slash| base.get(..=slash)) {
        Some(folder) if !is_rooted => format!("{folder}{href}"),
        _ => href.to_owned(),
    }
}

/// The form of the feed that a body begins like.
pub(super) fn kind(body: &[u8]) -> Option<FeedKind> {
    let start = body.get(..BEFORE_ROOT_BYTES).unwrap_or(body);
    let start = if charset::has_utf16_mark(start) {
        // UTF-16 looks like ASCII once its zero bytes are out.
        Cow::Owned(start.iter().skip(2).copied().filter(|byte| *byte != 0).collect())
    } else {
        Cow::Borrowed(start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start))
    };
    if start.trim_ascii_start().starts_with(b"{") {
        let is_feed = ["jsonfeed.org/version", "jsonfeed.org\\/version"]
            .iter()
            .any(|mark| memmem::find(&start, mark.as_bytes()).is_some());
        return is_feed.then_some(FeedKind::Json);
    }
    let name = root_name(&start)?;
    let kinds: [(&[u8], FeedKind); 3] =
        [(b"rss", FeedKind::Rss), (b"rdf", FeedKind::Rdf), (b"feed", FeedKind::Atom)];
    kinds.iter().find(|(root, _)| name.eq_ignore_ascii_case(root)).map(|(_, kind)| *kind)
}

/// The name of the first element, without its prefix; `None` if there is none, or other text before it.
fn root_name(start: &[u8]) -> Option<&[u8]> {
    let mut rest = start;
    loop {
        rest = rest.trim_ascii_start().strip_prefix(b"<")?;
        let length = match rest {
            [b'?', ..] => memmem::find(rest, b"?>")? + 2,
            [b'!', b'-', b'-', ..] => memmem::find(rest, b"-->")? + 3,
            [b'!', ..] => declaration_length(rest)?,
            _ => break,
        };
        rest = rest.get(length..)?;
    }
    let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))?;
    rest.get(..end)?.rsplit(|byte| *byte == b':').next()
}

/// A `<!DOCTYPE …>` may hold declarations of its own, in brackets; feeds declare the entities of HTML there.
fn declaration_length(rest: &[u8]) -> Option<usize> {
    let end = memchr2(b'[', b'>', rest)?;
    if rest.get(end) == Some(&b'>') {
        return Some(end + 1);
    }
    let closed = end + memchr(b']', rest.get(end..)?)?;
    Some(closed + memchr(b'>', rest.get(closed..)?)? + 1)
}

/// A date in the format of Atom (RFC 3339) or in that of RSS (RFC 2822); feeds of both kinds use both.
fn date(text: &str) -> Option<i64> {
    // Many a feed's weekday is not that of its date.
    const PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    w3c_date(text).or_else(|| PARSER.parse_timestamp(text).ok().map(|at| at.as_second()))
}

#[cfg(test)]
mod tests;
