//! Body bytes → document: the text a reader sees, the links, and the page's own hints; and sitemaps → URLs.
//!
//! This room knows no hosts, scope or earlier pages: links go out as they are written, and the caller resolves them.
//! What must stay true: the same bytes and header always give the same document; time is linear
//! in the bytes and memory in what is kept of them, whatever the bytes, so that no page can stop the crawl; and no
//! bytes make it fail. A page is walked once, tag by tag, and no tree is built: a browser may see a broken page a
//! little otherwise, but nesting costs nothing (see `html` for what the walk takes for a tag, `visibility` for what
//! it takes for hidden).

pub mod anchors;
pub(crate) mod character_reference;
mod charset;
pub mod elements;
pub mod feed;
mod folded;
mod foreign;
pub mod hints;
pub mod html;
mod json_text;
pub mod links;
mod media;
mod raw_text;
mod selection;
pub mod sitemap;
pub mod soft_error;
pub mod text;
pub mod text_rules;
mod title;
pub(crate) mod visibility;
mod xml_text;

pub use folded::FoldedText;
pub use hints::{Hints, Refresh, RobotsTag, robots_tag};
pub use links::Link;
pub use media::{MediaKind, essence, media_kind};
pub use title::{MOST_CHARACTERS as MOST_TITLE_CHARACTERS, title, title_of_body};

use url::Url;

use elements::Element;
use folded::Unfolded;
use html::{HtmlToken, Scanner};
use links::Links;
use text::Words;
use visibility::Visibility;

/// A body, read.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The words a reader sees: one space between words, one newline between blocks, trimmed, in Unicode
    /// normalisation form C. The title is not part of it.
    pub text: String,
    /// How the text that `aria-hidden` folds away was read. Texts that were read in two ways are not compared.
    pub folded: FoldedText,
    /// Whether the noise rules could not be applied, because the page is nested too deeply.
    pub unruled: bool,
    /// The title, folded like the text; `None` if there is none or it is empty.
    pub title: Option<String>,
    /// The links, each once, in the order of the page.
    pub links: Vec<Link>,
    /// The hints that the page gives about itself.
    pub hints: Hints,
    /// The charset that the bytes were read with.
    pub charset: &'static str,
    /// How many more links stood in the page than the limit kept.
    pub links_dropped: usize,
    /// The dates of its entries in UTC seconds, if it is a feed: see [`feed::entry_dates`].
    pub entry_dates: Option<Vec<i64>>,
}

impl Document {
    /// The URL that the links of a page at `url` are relative to: its `<base>`, or else its own.
    pub fn base(&self, url: &Url) -> Url {
        let base = self.hints.base.as_deref().and_then(|base| url.join(base).ok());
        base.unwrap_or_else(|| url.clone())
    }

    /// A document that has a text and nothing else.
    pub fn of_text(text: String, charset: &'static str) -> Self {
        Self {
            text,
            folded: FoldedText::LeftOut,
            unruled: false,
            title: None,
            links: Vec::new(),
            hints: Hints::default(),
            charset,
            links_dropped: 0,
            entry_dates: None,
        }
    }
}

/// Reads a body of any kind; `None` for kinds that are not read. Links beyond `max_links` are counted, not kept.
pub fn document(body: &[u8], content_type: Option<&str>, max_links: usize) -> Option<Document> {
    match media_kind(content_type, body) {
        MediaKind::Html => Some(html(body, content_type, max_links)),
        MediaKind::Text => Some(plain_text(body, content_type)),
        MediaKind::Feed => {
            Some(feed::document(body, content_type, max_links).unwrap_or_else(|| data(body, content_type)))
        }
        MediaKind::Json | MediaKind::Xml => Some(data(body, content_type)),
        MediaKind::Other => None,
    }
}

/// Reads an HTML or XHTML page. Links beyond `max_links` are counted, not kept.
pub fn html(body: &[u8], content_type: Option<&str>, max_links: usize) -> Document {
    let (page, encoding) = charset::decode_page(body, content_type);
    let xhtml = is_xhtml(content_type);
    let mut scanner = Scanner::new(&page, xhtml);
    let mut words = Words::with_capacity(page.len());
    let mut title = None;
    let mut links = Links::new(max_links);
    let mut hints = Hints::default();
    let mut visibility = Visibility::default();
    while let Some(token) = scanner.advance() {
        match token {
            HtmlToken::Text(text) => match text.inside {
                // Here, and not at its end tag, because a page may end in its title.
                Element::Title if visibility.is_live() && !scanner.in_foreign() => {
                    let mut found = Words::default();
                    found.push(&text);
                    title = title.or(Some(found.finish()).filter(|title| !title.is_empty()));
                }
                inside if inside.holds_text() && visibility.is_shown() => words.push(&text),
                Element::Other => visibility.pass_over(text.raw),
                _ => {}
            },
            HtmlToken::Start(tag) => {
                visibility.start(tag, &scanner);
                if visibility.is_live() {
                    links.start(tag.element, &scanner);
                    hints.start(tag.element, &scanner);
                }
                set_apart(&mut words, tag.element, &visibility);
            }
            HtmlToken::End(tag) => {
                set_apart(&mut words, tag.element, &visibility);
                visibility.end(tag, &scanner);
            }
        }
    }
    let (mut links, links_dropped) = links.finish();
    if encoding.output_encoding() != encoding_rs::UTF_8 {
        links.iter_mut().for_each(|link| charset::escape_query(&mut link.href, encoding));
        hints.addresses().for_each(|address| charset::escape_query(address, encoding));
    }
    let text = words.finish();
    let (folded, unfolded) = visibility.folds().judge(text.len());
    let text = if folded == FoldedText::LeftOut { text } else { shown_text(&page, xhtml, unfolded) };
    let charset = encoding.name();
    Document { folded, title, links, hints, links_dropped, ..Document::of_text(text, charset) }
}

/// The text of a page in which these folded elements are shown.
fn shown_text(page: &str, xhtml: bool, unfolded: Unfolded<'_>) -> String {
    let mut scanner = Scanner::new(page, xhtml);
    let mut words = Words::with_capacity(page.len());
    let mut visibility = Visibility::new(unfolded);
    while let Some(token) = scanner.advance() {
        match token {
            HtmlToken::Text(text) => {
                if text.inside.holds_text() && visibility.is_shown() {
                    words.push(&text);
                }
            }
            HtmlToken::Start(tag) => {
                visibility.start(tag, &scanner);
                set_apart(&mut words, tag.element, &visibility);
            }
            HtmlToken::End(tag) => {
                set_apart(&mut words, tag.element, &visibility);
                visibility.end(tag, &scanner);
            }
        }
    }
    words.finish()
}

/// Reads a plain text: its lines, and no links.
pub fn plain_text(body: &[u8], content_type: Option<&str>) -> Document {
    let (text, encoding) = charset::decode(body, content_type);
    Document::of_text(folded_lines(&text), encoding.name())
}

/// Reads JSON or XML: a line for each value, and no links. What is neither, though it was announced as such, is read as plain
/// text.
fn data(body: &[u8], content_type: Option<&str>) -> Document {
    let (text, encoding) = charset::decode(body, content_type);
    let is_markup = text.trim_start().starts_with('<');
    let read = if is_markup { xml_text::read(&text) } else { json_text::read(&text) };
    Document::of_text(read.unwrap_or_else(|| folded_lines(&text)), encoding.name())
}

/// The lines of a text as [`Document::text`] has them.
pub(crate) fn folded_lines(text: &str) -> String {
    let mut words = Words::with_capacity(text.len());
    words.push_lines(text);
    words.finish()
}

/// An element that is not shown sets nothing apart: its own border is as invisible as what is in it.
#[inline]
fn set_apart(words: &mut Words, element: Element, visibility: &Visibility<'_>) {
    if element != Element::Other && visibility.is_shown() {
        if element.breaks_line() {
            words.break_line();
        } else if element.parts_words() {
            words.part_words();
        }
    }
}

fn is_xhtml(content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let xml = ["application/xhtml+xml", "application/xml", "text/xml"];
    xml.iter().any(|kind| essence.eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests;
