//! RSS and Atom: text in, the feed's entries out.

use std::borrow::Cow;

use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::{Feed, FeedEntry, FeedKind, FeedText, MOST_ENTRIES, date};
use crate::extract::links::{has_token, web_address};
use crate::extract::sitemap::{lenient_reader, push_reference};

/// Reads the text of a feed; `None` for RDF that is no feed.
pub(super) fn read(text: &str, kind: FeedKind) -> Option<Feed<'_>> {
    let mut reader = lenient_reader(text);
    let mut gathering = FeedReader::new(text, kind);
    loop {
        let before = reader.buffer_position();
        let event = reader.read_event();
        let after = reader.buffer_position();
        match event {
            Ok(Event::Start(tag)) => gathering.start(&tag, after),
            Ok(Event::Empty(tag)) => gathering.empty(&tag),
            Ok(Event::End(tag)) => gathering.end(tag.local_name().into_inner(), before),
            Ok(Event::Text(text)) => gathering.text(&text),
            Ok(Event::CData(text)) => gathering.text(&text),
            Ok(Event::GeneralRef(name)) => {
                if let Some(field) = &mut gathering.field {
                    push_reference(&mut field.text, &name);
                }
            }
            // The file ends where it is not well-formed; everything before that counts.
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
        if gathering.feed.entries.len() >= MOST_ENTRIES {
            break;
        }
    }
    // Other things than feeds are written in RDF; only a feed has a channel and items.
    (kind != FeedKind::Rdf || gathering.has_channel).then_some(gathering.feed)
}

/// The parts of a feed and of an entry that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FeedField {
    Title,
    /// `description` of RSS, `summary` of Atom, `subtitle` of a feed.
    Summary,
    /// `content` of Atom, `content:encoded` of RSS.
    Content,
    /// `link` of RSS.
    Link,
    /// `guid` of RSS, where it is an address.
    Permalink,
    /// `pubDate` of RSS, `published` of Atom, `issued` of Atom 0.3 and Dublin Core.
    Published,
    /// `dc:date` of RSS, `updated` of Atom (and of RSS that borrows it), `modified` of Atom 0.3 and Dublin Core.
    Updated,
}

/// A field being read.
struct OpenField {
    field: FeedField,
    /// The name of its element, and how many elements of that name are open within it.
    name: String,
    same_named: usize,
    /// Its text so far, without tags.
    text: String,
    /// Where its content starts in the file.
    start: u64,
    /// The content is markup: escaped, or as elements of its own.
    is_html: bool,
    has_elements: bool,
}

/// A feed being gathered.
struct FeedReader<'a> {
    file: &'a str,
    kind: FeedKind,
    entry_name: &'static str,
    feed: Feed<'a>,
    /// A channel or an item was seen.
    has_channel: bool,
    /// The root element was seen.
    in_root: bool,
    entry: Option<FeedEntry<'a>>,
    /// The prefix of the root's or the entry's name.
    prefix: String,
    field: Option<OpenField>,
    /// How many elements of other kinds are open, inside the entry or outside of entries.
    nested: usize,
}

impl<'a> FeedReader<'a> {
    fn new(file: &'a str, kind: FeedKind) -> Self {
        Self {
            file,
            kind,
            entry_name: if kind == FeedKind::Atom { "entry" } else { "item" },
            feed: Feed::default(),
            has_channel: false,
            in_root: false,
            entry: None,
            prefix: String::new(),
            field: None,
            nested: 0,
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(field) = &mut self.field {
            field.text.push_str(text);
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, after: u64) {
        let name = tag.local_name().into_inner();
        if let Some(field) = &mut self.field
            && !name.eq_ignore_ascii_case(self.entry_name)
        {
            field.has_elements = true;
            field.same_named += usize::from(name.eq_ignore_ascii_case(&field.name));
            return;
        }
        if name.eq_ignore_ascii_case(self.entry_name) {
            // One that was never closed ends where the next begins.
            self.close_entry();
            self.has_channel = true;
            let base = base(tag);
            self.entry = Some(FeedEntry { base, ..FeedEntry::default() });
            self.set_prefix(tag);
        } else if !self.in_root || (name == "channel" && self.entry.is_none()) {
            self.has_channel |= name == "channel";
            self.in_root = true;
            self.feed.base = base(tag).filter(|base| web_address(base).is_some()).or(self.feed.base.take());
            self.set_prefix(tag);
        } else if let Some(field) = self.field_of(tag, name) {
            let is_html = self.is_html(tag, field);
            let (name, text) = (name.to_owned(), String::new());
            self.field = Some(OpenField {
                field,
                name,
                same_named: 0,
                text,
                start: after,
                is_html,
                has_elements: false,
            });
        } else {
            self.atom_link(tag, name);
            self.nested += 1;
        }
    }

    fn empty(&mut self, tag: &BytesStart<'_>) {
        match &mut self.field {
            Some(field) => field.has_elements = true,
            None => self.atom_link(tag, tag.local_name().into_inner()),
        }
    }

    fn end(&mut self, name: &str, before: u64) {
        if name.eq_ignore_ascii_case(self.entry_name) {
            self.close_entry();
        } else if let Some(field) = &mut self.field {
            if !name.eq_ignore_ascii_case(&field.name) {
                return;
            }
            match field.same_named.checked_sub(1) {
                Some(fewer) => field.same_named = fewer,
                None => self.close_field(before),
            }
        } else {
            self.nested = self.nested.saturating_sub(1);
        }
    }

    /// The field that a start tag opens, if it is the feed's or the entry's own.
    fn field_of(&self, tag: &BytesStart<'_>, name: &str) -> Option<FeedField> {
        if self.nested > 0 {
            return None;
        }
        let dated = match name {
            "published" | "issued" => Some(FeedField::Published),
            "updated" | "modified" | "date" => Some(FeedField::Updated),
            // Written in every case there is.
            _ if name.eq_ignore_ascii_case("pubDate") => Some(FeedField::Published),
            _ => None,
        };
        if dated.is_some() {
            return dated.filter(|_| self.entry.is_some());
        }
        let prefix = tag.name().prefix().map_or("", |prefix| prefix.into_inner());
        // Not the titles of pictures (`media:title`) and the like.
        let is_own = prefix == self.prefix || ["", "dc", "content", "atom"].contains(&prefix);
        match name {
            "title" if is_own => Some(FeedField::Title),
            "description" | "summary" | "subtitle" | "tagline" if is_own => Some(FeedField::Summary),
            "content" | "encoded" if is_own && self.entry.is_some() => Some(FeedField::Content),
            "link" if is_own && attribute(tag, "href").is_none() => Some(FeedField::Link),
            "guid" => Some(FeedField::Permalink)
                .filter(|_| attribute(tag, "isPermaLink").is_none_or(|value| value.trim() != "false")),
            _ => None,
        }
    }

    /// Is the text of a field markup that was escaped?
    fn is_html(&self, tag: &BytesStart<'_>, field: FeedField) -> bool {
        match (self.kind, field) {
            (FeedKind::Atom, _) => {
                attribute(tag, "type").is_some_and(|kind| kind.to_ascii_lowercase().contains("html"))
            }
            (_, FeedField::Summary | FeedField::Content) => true,
            _ => false,
        }
    }

    fn set_prefix(&mut self, tag: &BytesStart<'_>) {
        self.prefix = tag.name().prefix().map_or("", |prefix| prefix.into_inner()).to_owned();
    }

    /// Takes the address of a link of Atom that leads to a page.
    fn atom_link(&mut self, tag: &BytesStart<'_>, name: &str) {
        if name != "link" || self.nested > 0 {
            return;
        }
        let Some(href) = attribute(tag, "href") else { return };
        let rel = attribute(tag, "rel").unwrap_or_else(|| "alternate".to_owned());
        let leads_on = has_token(&rel, &["next", "prev", "previous"]) && self.entry.is_none();
        if leads_on || has_token(&rel, &["alternate"]) {
            self.links().push(Cow::Owned(href));
        }
    }

    fn links(&mut self) -> &mut Vec<Cow<'a, str>> {
        match &mut self.entry {
            Some(entry) => &mut entry.links,
            None => &mut self.feed.links,
        }
    }

    fn close_field(&mut self, before: u64) {
        let Some(OpenField { field, text, start, is_html, has_elements, .. }) = self.field.take() else {
            return;
        };
        let written = || {
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(before).ok()?);
            self.file.get(start..end)
        };
        let text = match written() {
            // Markup that was not escaped is read as it stands.
            Some(written) if has_elements => FeedText::Html(Cow::Borrowed(written)),
            _ if is_html => FeedText::Html(Cow::Owned(text)),
            _ => FeedText::Plain(Cow::Owned(text)),
        };
        let (FeedText::Plain(said) | FeedText::Html(said)) = &text;
        let (said, at) = (said.trim(), date(said.trim()));
        match (field, &mut self.entry) {
            (FeedField::Link, _) => {
                let link = Cow::Owned(said.to_owned());
                self.links().push(link);
            }
            (FeedField::Permalink, Some(entry)) => {
                if entry.links.is_empty() && said.starts_with("http") {
                    entry.links.push(Cow::Owned(said.to_owned()));
                }
            }
            (FeedField::Title, Some(entry)) => entry.title = entry.title.take().or(Some(text)),
            (FeedField::Summary, Some(entry)) => entry.summary = entry.summary.take().or(Some(text)),
            (FeedField::Content, Some(entry)) => entry.content = entry.content.take().or(Some(text)),
            (FeedField::Published, Some(entry)) => entry.published = entry.published.or(at),
            (FeedField::Updated, Some(entry)) => entry.updated = entry.updated.or(at),
            (FeedField::Title, None) => {
                self.feed.title = self.feed.title.take().or_else(|| Some(Cow::Owned(said.to_owned())));
            }
            (FeedField::Summary, None) => self.feed.about = self.feed.about.take().or(Some(text)),
            (_, None) => {}
        }
    }

    fn close_entry(&mut self) {
        self.feed.entries.extend(self.entry.take());
        (self.field, self.nested) = (None, 0);
    }
}

/// Longest base of addresses that is believed, in bytes. Each address is joined to it, so a long one would cost time and memory
/// for each.
const MOST_BASE_BYTES: usize = 2048;

/// The base of the addresses in an element.
fn base(tag: &BytesStart<'_>) -> Option<String> {
    attribute(tag, "xml:base").filter(|base| base.len() <= MOST_BASE_BYTES)
}

/// The value of an attribute, trimmed; `None` if it is not there or empty.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    // Without the check for doubles, which is quadratic.
    let mut attributes = tag.attributes();
    let found =
        attributes.with_checks(false).flatten().find(|attribute| attribute.key.into_inner() == name)?;
    let value = unescape(&found.value).unwrap_or_else(|_| found.value.clone());
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}
