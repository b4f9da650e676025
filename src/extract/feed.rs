//! Feeds: bytes in, the dates of their entries out (RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0).
//!
//! Every page that is fetched is asked, as the server's word is no help: feeds come as XML, as HTML and as plain
//! text. So the first bytes are walked up to the root element, and only if that is a feed's is anything read or
//! decoded. What must stay true: no bytes make it fail; time is linear in the bytes; entities of a DTD are never
//! expanded; what is nested into an entry (Atom's `source`) is not taken for the entry's own.

use std::borrow::Cow;

use jiff::fmt::rfc2822;
use memchr::{memchr, memchr2, memmem};
use quick_xml::events::Event;

use super::charset;
use super::sitemap::{date as w3c_date, lenient_reader, push_reference};

/// How much of a body may stand before its root element, in bytes: some feeds begin with a comment of half a KiB, so
/// that old browsers don't take them for pages.
const BEFORE_ROOT_BYTES: usize = 4096;

/// The dates of a feed's entries, in UTC seconds, in the order of the file, at most `most` of them. An entry's date
/// is that of its publication, or else that of its last change; one without a readable date is left out, and so
/// is one that the file's end cuts off. `None` if the body is no feed.
pub fn entry_dates(body: &[u8], content_type: Option<&str>, most: usize) -> Option<Vec<i64>> {
    let kind = kind(body)?;
    let (text, _) = charset::decode(body, content_type);
    let mut reader = lenient_reader(&text);
    let mut gathering = FeedReader::new(kind);
    while !gathering.has_channel || gathering.dates.len() < most {
        match reader.read_event() {
            Ok(Event::Start(tag)) => gathering.start(tag.local_name().into_inner()),
            Ok(Event::End(tag)) => gathering.end(tag.local_name().into_inner()),
            Ok(Event::Text(text)) if gathering.field.is_some() => gathering.text.push_str(&text),
            Ok(Event::CData(text)) if gathering.field.is_some() => gathering.text.push_str(&text),
            Ok(Event::GeneralRef(name)) if gathering.field.is_some() => {
                push_reference(&mut gathering.text, &name);
            }
            // The file ends where it is not well-formed; everything before that counts.
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    gathering.dates.truncate(most);
    // Other things than feeds are written in RDF; only a feed has a channel and items.
    (kind != FeedKind::Rdf || gathering.has_channel).then_some(gathering.dates)
}

/// The root element, which says what entries are called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FeedKind {
    Rss,
    /// RSS 0.90 and 1.0, if it is a feed.
    Rdf,
    Atom,
}

fn kind(body: &[u8]) -> Option<FeedKind> {
    let start = body.get(..BEFORE_ROOT_BYTES).unwrap_or(body);
    let start = if charset::has_utf16_mark(start) {
        // UTF-16 looks like ASCII once its zero bytes are out.
        Cow::Owned(start.iter().skip(2).copied().filter(|byte| *byte != 0).collect())
    } else {
        Cow::Borrowed(start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start))
    };
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

/// The parts of an entry that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FeedField {
    /// `pubDate` of RSS, `published` of Atom, `issued` of Atom 0.3 and Dublin Core.
    Published,
    /// `dc:date` of RSS, `updated` of Atom (and of RSS that borrows it), `modified` of Atom 0.3 and Dublin Core.
    Updated,
}

/// The dates of a feed being gathered.
struct FeedReader {
    entry_name: &'static str,
    dates: Vec<i64>,
    /// A channel or an item was seen.
    has_channel: bool,
    in_entry: bool,
    published: Option<i64>,
    updated: Option<i64>,
    /// The field being read, and its text so far.
    field: Option<FeedField>,
    text: String,
    /// How many elements of other kinds are open inside the entry.
    nested: usize,
}

impl FeedReader {
    fn new(kind: FeedKind) -> Self {
        Self {
            entry_name: if kind == FeedKind::Atom { "entry" } else { "item" },
            dates: Vec::new(),
            has_channel: false,
            in_entry: false,
            published: None,
            updated: None,
            field: None,
            text: String::new(),
            nested: 0,
        }
    }

    fn start(&mut self, name: &str) {
        if name.eq_ignore_ascii_case(self.entry_name) {
            // One that was never closed ends where the next begins.
            self.close_entry();
            (self.in_entry, self.has_channel) = (true, true);
        } else if self.in_entry {
            self.field = FeedField::called(name).filter(|_| self.nested == 0);
            self.nested += usize::from(self.field.is_none());
            self.text.clear();
        } else if name == "channel" {
            self.has_channel = true;
        }
    }

    fn end(&mut self, name: &str) {
        if name.eq_ignore_ascii_case(self.entry_name) {
            self.close_entry();
        } else if let Some(field) = self.field.take() {
            let date = date(self.text.trim());
            match field {
                FeedField::Published => self.published = self.published.or(date),
                FeedField::Updated => self.updated = self.updated.or(date),
            }
        } else {
            self.nested = self.nested.saturating_sub(1);
        }
    }

    fn close_entry(&mut self) {
        self.dates.extend(self.published.or(self.updated));
        (self.in_entry, self.published, self.updated) = (false, None, None);
        (self.field, self.nested) = (None, 0);
    }
}

impl FeedField {
    fn called(name: &str) -> Option<Self> {
        match name {
            "published" | "issued" => Some(Self::Published),
            "updated" | "modified" | "date" => Some(Self::Updated),
            // Written in every case there is.
            _ if name.eq_ignore_ascii_case("pubDate") => Some(Self::Published),
            _ => None,
        }
    }
}

/// A date in the format of Atom (RFC 3339) or in that of RSS (RFC 2822); feeds of both kinds use both.
fn date(text: &str) -> Option<i64> {
    // Many a feed's weekday is not that of its date.
    const PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    w3c_date(text).or_else(|| PARSER.parse_timestamp(text).ok().map(|at| at.as_second()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dates(body: &str) -> Option<Vec<i64>> {
        entry_dates(body.as_bytes(), None, 100)
    }

    const RSS: &str = "<?xml version='1.0'?><rss version='2.0'><channel><title>x</title>
        <pubDate>Sat, 03 Jan 1970 00:00:00 GMT</pubDate>
        <item><title>a</title><pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item>
        <item><title>no date</title></item>
        <item><pubDate>soon</pubDate></item>
        <item><dc:date>1970-01-01T01:00:00+01:00</dc:date><pubDate><![CDATA[
            1 Jan 70 00:01 +0000]]></pubDate></item>
        <item><dc:date>1970-01-01T00:00:07Z</dc:date><br/></item></channel></rss>";

    #[test]
    fn rss_has_the_date_of_publication_or_else_another() {
        assert_eq!(dates(RSS), Some(vec![86_400, 60, 7]));
        assert_eq!(entry_dates(RSS.as_bytes(), Some("text/html"), 2), Some(vec![86_400, 60]));
        assert_eq!(entry_dates(RSS.as_bytes(), None, 0), Some(vec![]));
    }

    #[test]
    fn atom_has_the_date_of_publication_or_else_of_the_last_change() {
        let body = "<feed xmlns='http://www.w3.org/2005/Atom'><updated>1970-01-09T00:00:00Z</updated>
            <entry><updated>1970-01-01T00:00:09Z</updated><published>1970-01-01T00:00:01Z</published></entry>
            <entry><source><updated>1970-01-01T00:00:05Z</updated></source>
                <updated>1970-01-01T01:00:02&#43;01:00</updated></entry>
            <entry><updated>1970-01-01T00:00:03Z</updated><published>?</published></entry></feed>";
        assert_eq!(dates(body), Some(vec![1, 2, 3]));
        let prefixed = body.replace('<', "<a:").replace("<a:/", "</a:");
        assert_eq!(dates(&prefixed), Some(vec![1, 2, 3]));
    }

    #[test]
    fn older_atom_and_dublin_core_have_names_of_their_own() {
        let old = "<feed version='0.3'><modified>1970-01-09T00:00:00Z</modified>
            <entry><issued>1970-01-01T00:00:01Z</issued><modified>1970-01-01T00:00:09Z</modified></entry>
            <entry><modified>1970-01-01T00:00:02Z</modified></entry></feed>";
        assert_eq!(dates(old), Some(vec![1, 2]));
        let terms = "<rss><channel><item><dcterms:modified>1970-01-01T00:00:04Z</dcterms:modified>
            <dcterms:issued>1970-01-01T00:00:03Z</dcterms:issued></item></channel></rss>";
        assert_eq!(dates(terms), Some(vec![3]));
    }

    #[test]
    fn rdf_is_a_feed_if_it_has_a_channel() {
        let body =
            "<rdf:RDF><channel><items><rdf:Seq><rdf:li/></rdf:Seq></items><dc:date>1971</dc:date></channel>
            <item><dc:date>1970-01-01T00:00Z</dc:date></item></rdf:RDF>";
        assert_eq!(dates(body), Some(vec![0]));
        assert_eq!(entry_dates(body.as_bytes(), None, 0), Some(vec![]));
        assert_eq!(dates("<rdf:RDF><channel></channel></rdf:RDF>"), Some(vec![]));
        assert_eq!(dates("<rdf:RDF><foaf:Person><dc:date>1970</dc:date></foaf:Person></rdf:RDF>"), None);
    }

    #[test]
    fn what_may_stand_before_the_root() {
        let before = "\u{feff} \n<?xml version='1.0'?><?xml-stylesheet href='/rss>'?><!-- <html> -->\n";
        let doctype = "<!DOCTYPE rss [<!ENTITY nbsp '&#160;'> %HTMLlat1; ] >";
        assert_eq!(dates(&format!("{before}{doctype}<rss>")), Some(vec![]));
        assert_eq!(dates(&format!("{before}<!DOCTYPE rss PUBLIC 'x'><RSS\n version='0.91'>")), Some(vec![]));
        assert_eq!(dates(&format!("<!--{}--><rss/>", " ".repeat(600))), Some(vec![]));
        let wide: Vec<u8> = format!("\u{feff}{RSS}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(entry_dates(&wide, None, 9), dates(RSS));
    }

    #[test]
    fn what_is_no_feed() {
        for body in [
            "",
            "<",
            "<!",
            "<!--",
            "<!-->",
            "<!DOCTYPE rss [",
            "<!DOCTYPE html><html><body><rss><item>",
            "<html><rss>",
            "rss <rss>",
            "<rss",
            "<rssx>",
            "<urlset>",
            "{\"version\": \"https://jsonfeed.org/version/1.1\"}",
        ] {
            assert_eq!(dates(body), None, "{body:?}");
        }
    }

    #[test]
    fn a_broken_feed_gives_what_stood_before_the_break() {
        let date = |second| format!("<pubDate>1 Jan 1970 00:00:0{second} UT</pubDate>");
        let item = |second| format!("<item>{}</item>", date(second));
        assert_eq!(dates(&format!("<rss>{}<item>{}", item(1), date(2))), Some(vec![1]), "cut");
        assert_eq!(dates(&format!("<rss><item>{}{}", date(1), item(2))), Some(vec![1, 2]), "not closed");
        assert_eq!(dates(&format!("<rss>{}</x>&y;&z {}", item(1), item(2))), Some(vec![1, 2]));
        assert_eq!(dates("<rss><item><pubDate>&a; 1970</pubDate></item>"), Some(vec![]));
    }

    #[test]
    fn dates_of_both_formats() {
        assert_eq!(date("Mon, 16 Nov 2026 03:25:00 GMT"), Some(1_794_799_500));
        assert_eq!(date("Tue, 16 Nov 2026 04:25 +0100"), Some(1_794_799_500), "it was a Monday");
        assert_eq!(date("15 Nov 2026 22:25:00 EST"), Some(1_794_799_500));
        assert_eq!(date("2026-11-16T03:25:00.5Z"), Some(1_794_799_500));
        assert_eq!(date("Mon, 31 Feb 2026 03:25:00 GMT"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(
            root in prop::sample::select(vec!["", "<rss>", "<feed>", "<rdf:RDF>", "\u{feff}<!DOCTYPE a [b]><rss "]),
            pieces in prop::collection::vec(prop::sample::select(vec![
                "<item>", "</item>", "<entry>", "</entry>", "<channel>", "<pubDate>", "</pubDate>", "<dc:date>",
                "</dc:date>", "<updated>", "</published>", "1970-01-01", "T00:00:00Z", "1 Jan 70 00:00 GMT", "Mon, ",
                "(", "&amp;", "&#43;", "&", "<![CDATA[", "]]>", "<!--", "-->", "<?", "\u{e9}", "<", ">", "'", "\0",
            ]), 0..30),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let body = [root.as_bytes(), pieces.concat().as_bytes(), &bytes].concat();
            prop_assert!(entry_dates(&body, None, 3).is_none_or(|dates| dates.len() <= 3));
            let _ = entry_dates(&bytes, None, 3);
        }

        #[test]
        fn no_text_of_a_date_makes_it_fail(text in "[A-Za-z0-9 ,:+()-]{0,40}|\\PC{0,20}") {
            let _ = date(&text);
        }

        #[test]
        fn every_entry_with_a_date_is_found(seconds in prop::collection::vec(0_i64..4_000_000_000, 0..20)) {
            let body = seconds.iter().fold("<feed>".to_owned(), |body, second| {
                let at = crate::time::Timestamp::from_seconds(*second);
                body + &format!("<entry><published>{at}</published></entry>")
            });
            prop_assert_eq!(dates(&body), Some(seconds));
        }
    }
}
