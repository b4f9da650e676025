//! The scanner: decoded HTML in, tags and runs of text out, in the order of the page.
//!
//! It follows the WHATWG tokenizer (HTML Standard, 13.2.5), state by state where the states can be told apart by
//! what comes out, and jumps over the rest with `memchr`. The tests hold it to an independent implementation. What
//! must stay true:
//! - Time is linear in the input and memory constant, whatever the input: no tree is built, nothing is kept of
//!   a tag but where the attributes of [`Attribute`] stand, and no byte is looked at more than a few times.
//! - A tag that is not closed when the page ends is not a tag; neither is a start tag inside a script or comment.
//! - Of two attributes with one name the first counts.
//!
//! It differs from the standard where that asks for a tree, and in nothing else: `svg` and `math` are taken to last
//! to their end tag, or to a tag that cannot stand in them (see `foreign`), and inside them, as in XHTML, `<title/>`
//! is closed and `<![CDATA[` is text.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::character_reference;
use super::elements::{Attribute, ContentModel, Element, extend_key};
use super::foreign::ForeignElements;
use super::raw_text::{comment_length, is_space, raw_length, script_length};

/// The next piece of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HtmlToken<'a> {
    /// Characters. A text may come in several runs, one after the other.
    Text(TextRun<'a>),
    /// A start tag; [`Scanner::value`] has its attributes until the next token is asked for.
    Start(Tag<'a>),
    /// An end tag.
    End(Tag<'a>),
}

/// A run of characters, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextRun<'a> {
    /// The characters as they stand in the page.
    pub raw: &'a str,
    /// The element whose content is no markup, in which it stands; [`Element::Other`] in plain markup.
    pub inside: Element,
    /// Whether `&` begins a character reference in it.
    pub references: bool,
}

/// A tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag<'a> {
    /// Which element it opens or closes.
    pub element: Element,
    /// Its name as written, in whatever case.
    pub name: &'a str,
    /// Whether nothing stands inside it: a void element, or `<name/>` where that means so.
    pub is_empty: bool,
}

/// Where a value stands, in bytes from the start of the page.
#[derive(Clone, Copy, Default, Debug)]
struct ByteSpan {
    start: usize,
    end: usize,
}

/// A walk over one page.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    page: &'a str,
    position: usize,
    xhtml: bool,
    foreign: ForeignElements,
    /// The element whose content, not tokenised as markup, begins at `position`.
    inside: Element,
    /// Where the attributes of the last tag begin.
    attributes_at: usize,
    /// Bit n: the last tag has the attribute n, at `spans[n]`.
    present: u32,
    spans: [ByteSpan; Attribute::COUNT],
}

impl<'a> Scanner<'a> {
    /// At the start of `page`. With `xhtml`, `<script/>` has no content, as in XML.
    pub fn new(page: &'a str, xhtml: bool) -> Self {
        Self {
            page,
            position: 0,
            xhtml,
            foreign: ForeignElements::default(),
            inside: Element::Other,
            attributes_at: 0,
            present: 0,
            spans: [ByteSpan::default(); Attribute::COUNT],
        }
    }

    /// The next tag or run of text; `None` at the end of the page, and ever after.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<HtmlToken<'a>> {
        if self.inside != Element::Other
            && let Some(text) = self.opaque_text()
        {
            return Some(text);
        }
        loop {
            let rest = self.rest();
            if *rest.first()? != b'<' {
                let end = memchr(b'<', rest).unwrap_or(rest.len());
                return Some(self.text(end));
            }
            match rest.get(1) {
                Some(byte) if byte.is_ascii_alphabetic() => return self.tag(1),
                Some(b'/') => match rest.get(2) {
                    Some(byte) if byte.is_ascii_alphabetic() => return self.tag(2),
                    Some(b'>') => self.position += 3,
                    Some(_) => self.skip_past_bracket(2),
                    None => return Some(self.text(2)),
                },
                Some(b'!') => {
                    if let Some(section) = self.declaration() {
                        return Some(section);
                    }
                }
                Some(b'?') => self.skip_past_bracket(1),
                _ => {
                    let end =
                        rest.get(1..).and_then(|rest| memchr(b'<', rest)).map_or(rest.len(), |end| end + 1);
                    return Some(self.text(end));
                }
            }
        }
    }

    /// Whether the walk is inside `svg` or `math`.
    #[inline]
    pub(crate) fn in_foreign(&self) -> bool {
        self.foreign.depth() > 0
    }

    /// How many `svg` and `math` are open.
    #[inline]
    pub(super) fn foreign_depth(&self) -> usize {
        self.foreign.depth()
    }

    /// Whether the last tag has any of `attributes`.
    #[inline]
    pub(crate) fn has_any(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().any(|attribute| self.present & bit(*attribute) != 0)
    }

    /// The value of an attribute of the last tag, its references read; empty if it is only named.
    pub fn value(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        if !self.has_any(&[attribute]) {
            return None;
        }
        let span = self.spans.get(attribute as usize)?;
        self.page.get(span.start..span.end).map(character_reference::decode_attribute)
    }

    /// All attributes of the last tag, name and value as written, duplicates included.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let page = self.page;
        let mut position = self.attributes_at;
        std::iter::from_fn(move || match next_attribute(page.as_bytes(), position) {
            TagPart::Attribute { name, value, next, .. } => {
                position = next;
                Some((page.get(name.start..name.end)?, page.get(value.start..value.end)?))
            }
            TagPart::Close { .. } | TagPart::EndOfPage => None,
        })
    }

    /// The last tag from behind its name to its end, as written.
    pub(super) fn rest_of_tag(&self) -> &'a str {
        self.page.get(self.attributes_at..self.position).unwrap_or_default()
    }

    #[inline(always)]
    fn rest(&self) -> &'a [u8] {
        self.page.as_bytes().get(self.position..).unwrap_or_default()
    }

    /// `length` bytes of markup's text from here.
    #[inline(always)]
    fn text(&mut self, length: usize) -> HtmlToken<'a> {
        let raw = self.page.get(self.position..self.position + length).unwrap_or_default();
        self.position += length;
        HtmlToken::Text(TextRun { raw, inside: Element::Other, references: true })
    }

    /// The tag at `position`, whose name begins `name_offset` bytes on.
    #[inline(always)]
    fn tag(&mut self, name_offset: usize) -> Option<HtmlToken<'a>> {
        let bytes = self.page.as_bytes();
        let start = self.position + name_offset;
        let (mut end, mut key) = (start, 0);
        while let Some(&byte) = bytes.get(end) {
            if is_space(byte) || byte == b'/' || byte == b'>' {
                break;
            }
            key = extend_key(key, byte);
            end += 1;
        }
        let name = self.page.get(start..end)?;
        let element = Element::of(key, name.as_bytes());
        let self_closing = self.walk_attributes(end)?;
        if name_offset == 2 {
            if self.in_foreign() {
                self.foreign.end(element, name);
            }
            return Some(HtmlToken::End(Tag { element, name, is_empty: false }));
        }
        if self.in_foreign() && self.foreign.is_left_by(key, name) {
            let has_font = || self.attributes().any(|(name, _)| sets_font(name));
            if !name.eq_ignore_ascii_case("font") || has_font() {
                self.foreign.leave();
            }
        }
        let in_foreign = self.in_foreign();
        let enters_foreign = matches!(element, Element::Svg | Element::Math);
        let closed = self_closing && (self.xhtml || enters_foreign || in_foreign);
        let is_empty = closed || element.is_void();
        // The title of a drawing may hold markup.
        let holds_markup =
            element.content() == ContentModel::Markup || (in_foreign && element == Element::Title);
        if !closed && !holds_markup {
            self.inside = element;
        }
        if !closed && (in_foreign || enters_foreign) {
            self.foreign.start(element, name);
        }
        Some(HtmlToken::Start(Tag { element, name, is_empty }))
    }

    /// Goes past the tag whose attributes begin at `from`, noting where those that matter stand. `None`: the page
    /// ends in it, so it is no tag and nothing follows. Otherwise, whether it ends with `/>`.
    #[inline(always)]
    fn walk_attributes(&mut self, from: usize) -> Option<bool> {
        self.attributes_at = from;
        self.present = 0;
        let bytes = self.page.as_bytes();
        let mut position = from;
        loop {
            match next_attribute(bytes, position) {
                TagPart::Attribute { name, key, value, next } => {
                    let attribute = Attribute::of(key, bytes.get(name.start..name.end).unwrap_or_default());
                    if attribute != Attribute::Other
                        && self.present & bit(attribute) == 0
                        && let Some(span) = self.spans.get_mut(attribute as usize)
                    {
                        *span = value;
                        self.present |= bit(attribute);
                    }
                    position = next;
                }
                TagPart::Close { self_closing, next } => {
                    self.position = next;
                    return Some(self_closing);
                }
                TagPart::EndOfPage => {
                    self.position = bytes.len();
                    return None;
                }
            }
        }
    }

    /// Goes past the next `>` that is `offset` bytes on or later, or to the end.
    fn skip_past_bracket(&mut self, offset: usize) {
        let from = self.position + offset;
        let rest = self.page.as_bytes().get(from..).unwrap_or_default();
        self.position = from + memchr(b'>', rest).map_or(rest.len(), |end| end + 1);
    }

    /// Goes past what begins with `<!`: a comment, a document type, or something taken for a comment. A CDATA
    /// section is text where there are such sections.
    fn declaration(&mut self) -> Option<HtmlToken<'a>> {
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            self.position += 4 + comment_length(comment);
        } else if (self.xhtml || self.in_foreign()) && rest.starts_with(b"<![CDATA[") {
            let start = self.position + 9;
            let end = memmem::find(rest, b"]]>").map_or(self.page.len(), |end| self.position + end);
            self.position = (end + 3).min(self.page.len());
            let raw = self.page.get(start..end).unwrap_or_default();
            return Some(HtmlToken::Text(TextRun { raw, inside: Element::Other, references: false }));
        } else {
            // A `>` ends a document type even between quotes, so it need not be taken apart.
            self.skip_past_bracket(2);
        }
        None
    }

    /// The text inside an element whose content is not markup, up to its end tag; `None` if there is none.
    fn opaque_text(&mut self) -> Option<HtmlToken<'a>> {
        let inside = std::mem::replace(&mut self.inside, Element::Other);
        let rest = self.rest();
        let name = inside.name().as_bytes();
        let length = match inside.content() {
            ContentModel::Plain => rest.len(),
            ContentModel::Script => script_length(rest),
            _ => raw_length(rest, name),
        };
        if length == 0 {
            return None;
        }
        let raw = self.page.get(self.position..self.position + length).unwrap_or_default();
        self.position += length;
        Some(HtmlToken::Text(TextRun {
            raw,
            inside,
            references: inside.content() == ContentModel::Escapable,
        }))
    }
}

/// A `font` that only marks a place in a drawing may stand in it.
fn sets_font(attribute: &str) -> bool {
    ["color", "face", "size"].iter().any(|name| attribute.eq_ignore_ascii_case(name))
}

#[inline(always)]
fn bit(attribute: Attribute) -> u32 {
    1 << attribute as u32
}

/// The next part of a tag.
enum TagPart {
    Attribute { name: ByteSpan, key: u64, value: ByteSpan, next: usize },
    Close { self_closing: bool, next: usize },
    EndOfPage,
}

/// Reads on inside a tag from `position`, which is never inside an attribute.
#[inline(always)]
fn next_attribute(bytes: &[u8], mut position: usize) -> TagPart {
    let mut slash = false;
    loop {
        match bytes.get(position) {
            Some(b'>') => return TagPart::Close { self_closing: slash, next: position + 1 },
            Some(b'/') => slash = true,
            Some(byte) if is_space(*byte) => slash = false,
            Some(_) => break,
            None => return TagPart::EndOfPage,
        }
        position += 1;
    }
    // The first byte belongs to the name whatever it is, even `=`.
    let mut name = ByteSpan { start: position, end: position };
    let mut key = 0;
    while let Some(&byte) = bytes.get(name.end) {
        if is_space(byte) || matches!(byte, b'/' | b'>') || (byte == b'=' && name.end > name.start) {
            break;
        }
        key = extend_key(key, byte);
        name.end += 1;
    }
    let equals = skip_spaces(bytes, name.end);
    if bytes.get(equals) != Some(&b'=') {
        return TagPart::Attribute {
            name,
            key,
            value: ByteSpan { start: equals, end: equals },
            next: equals,
        };
    }
    let start = skip_spaces(bytes, equals + 1);
    match bytes.get(start) {
        Some(&quote @ (b'"' | b'\'')) => {
            let start = start + 1;
            let value = bytes.get(start..).unwrap_or_default();
            match memchr(quote, value) {
                Some(length) => {
                    let end = start + length;
                    TagPart::Attribute { name, key, value: ByteSpan { start, end }, next: end + 1 }
                }
                None => TagPart::EndOfPage,
            }
        }
        _ => {
            let value = bytes.get(start..).unwrap_or_default();
            let length =
                value.iter().position(|byte| is_space(*byte) || *byte == b'>').unwrap_or(value.len());
            let end = start + length;
            TagPart::Attribute { name, key, value: ByteSpan { start, end }, next: end }
        }
    }
}

#[inline(always)]
fn skip_spaces(bytes: &[u8], mut position: usize) -> usize {
    while bytes.get(position).is_some_and(|byte| is_space(*byte)) {
        position += 1;
    }
    position
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
