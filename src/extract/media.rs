//! The kind of a body: the server's word and the first bytes in, one of six kinds out.
//!
//! The server's word counts when there is one, so an image stays an image whatever its bytes look like; a body
//! announced as text that is not text is no text (WHATWG MIME Sniffing, 7.2). Only without a word is it guessed. A feed
//! is recognised by its root element, since feeds come as HTML, XML, JSON and plain text.

use super::{charset, feed};

/// The kinds of bodies that are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MediaKind {
    /// HTML or XHTML.
    Html,
    /// Plain text, and tables as text.
    Text,
    /// JSON.
    Json,
    /// XML that is neither a page nor a feed.
    Xml,
    /// RSS, Atom or JSON Feed, by its root.
    Feed,
    /// Anything else: not read.
    Other,
}

/// How much of a body is looked at for bytes that no text has.
const SNIFFED_BYTES: usize = 1024;

/// Types of text that are for programs, or never end.
const NOT_FOR_READERS: [&str; 5] =
    ["text/css", "text/javascript", "text/ecmascript", "text/x-javascript", "text/event-stream"];

/// Types of text that don't begin with `text/`.
const MORE_TEXT: [&str; 6] = [
    "application/csv",
    "application/markdown",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-tex",
];

/// Types of JSON that don't end in `+json`; the last ones are JSON lines.
const JSON: [&str; 5] =
    ["application/json", "text/json", "application/jsonl", "application/x-ndjson", "application/ndjson"];

/// The type of a content without its parameters, in lower case: `text/html`. Empty if there is none.
pub fn essence(content_type: Option<&str>) -> String {
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The kind of `body`, from its Content-Type header or, without one, from its first bytes.
///
/// `image/png` is [`MediaKind::Other`] whatever the bytes are. A body announced as a kind of text that has bytes no text
/// has in its first KiB, and is not UTF-16, is [`MediaKind::Other`] too.
pub fn media_kind(content_type: Option<&str>, body: &[u8]) -> MediaKind {
    let kind = match essence(content_type).as_str() {
        "" | "*/*" | "unknown/unknown" | "application/unknown" => sniff(body),
        "text/html" | "application/xhtml+xml" => MediaKind::Html,
        "text/xml" | "application/xml" => xml_kind(body),
        image if image.starts_with("image/") => return MediaKind::Other,
        kind if kind.ends_with("+xml") => xml_kind(body),
        kind if kind.ends_with("+json") || JSON.contains(&kind) => MediaKind::Json,
        kind if NOT_FOR_READERS.contains(&kind) => return MediaKind::Other,
        kind if kind.starts_with("text/") || MORE_TEXT.contains(&kind) => MediaKind::Text,
        _ => return MediaKind::Other,
    };
    let start = body.get(..SNIFFED_BYTES).unwrap_or(body);
    let utf16 = charset::has_utf16_mark(body)
        || charset::from_header(content_type).is_some_and(|encoding| encoding.name().starts_with("UTF-16"));
    match kind {
        _ if !utf16 && start.iter().any(|byte| is_binary(*byte)) => MediaKind::Other,
        kind if kind != MediaKind::Other && feed::kind(body).is_some() => MediaKind::Feed,
        kind => kind,
    }
}

/// A byte that no text in an ASCII-based charset has (WHATWG MIME Sniffing, "binary data byte").
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

fn sniff(body: &[u8]) -> MediaKind {
    const HTML: [&str; 18] = [
        "!doctype html",
        "html",
        "head",
        "script",
        "iframe",
        "h1",
        "div",
        "font",
        "table",
        "a",
        "style",
        "title",
        "b",
        "body",
        "br",
        "p",
        "meta",
        "!--",
    ];
    // UTF-16 looks like ASCII once its zero bytes are out.
    let start = body.get(..SNIFFED_BYTES).unwrap_or(body);
    let start: Vec<u8> = start.iter().filter(|byte| **byte != 0).map(u8::to_ascii_lowercase).collect();
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let start = marks.iter().find_map(|mark| start.strip_prefix(*mark)).unwrap_or(&start).trim_ascii_start();
    if ["<?xml", "<urlset", "<sitemapindex"].iter().any(|tag| start.starts_with(tag.as_bytes())) {
        return xml_kind(body);
    }
    let Some(tag) = start.strip_prefix(b"<") else {
        return if start.starts_with(b"%pdf-") { MediaKind::Other } else { MediaKind::Text };
    };
    let html = HTML.iter().any(|name| {
        tag.strip_prefix(name.as_bytes()).is_some_and(|after| {
            *name == "!--" || matches!(after.first(), Some(b' ' | b'>' | b'\n' | b'\t' | b'\r'))
        })
    });
    if html { MediaKind::Html } else { MediaKind::Text }
}

fn xml_kind(body: &[u8]) -> MediaKind {
    if charset::starts_with_mention(body, b"<html") { MediaKind::Html } else { MediaKind::Xml }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_decides() {
        assert_eq!(media_kind(Some("Text/HTML; charset=x"), b"plain"), MediaKind::Html);
        assert_eq!(media_kind(Some("application/xhtml+xml"), b"<html/>"), MediaKind::Html);
        assert_eq!(media_kind(Some("text/plain"), b"<html>"), MediaKind::Text);
        assert_eq!(media_kind(Some("application/xml"), b"<?xml version='1.0'?><urlset>"), MediaKind::Xml);
        assert_eq!(
            media_kind(Some("text/xml"), b"<?xml version='1.0'?><!DOCTYPE html><html>"),
            MediaKind::Html
        );
        assert_eq!(media_kind(Some("image/png"), b"<!DOCTYPE html><html>"), MediaKind::Other);
        for kind in ["application/json", "application/ld+json; charset=utf-8", "application/x-ndjson"] {
            assert_eq!(media_kind(Some(kind), b"{}"), MediaKind::Json, "{kind}");
        }
        for kind in
            ["text/csv", "text/tab-separated-values", "text/markdown", "application/yaml", "text/vcard"]
        {
            assert_eq!(media_kind(Some(kind), b"a,b"), MediaKind::Text, "{kind}");
        }
        for kind in ["application/vnd.x+xml", "application/xml"] {
            assert_eq!(media_kind(Some(kind), b"<a/>"), MediaKind::Xml, "{kind}");
        }
        for kind in
            ["text/css", "text/javascript", "image/svg+xml", "application/pdf", "application/octet-stream"]
        {
            assert_eq!(media_kind(Some(kind), b"<a/>"), MediaKind::Other, "{kind}");
        }
    }

    #[test]
    fn a_feed_is_told_by_its_root() {
        for kind in ["application/rss+xml", "text/xml", "text/html", "text/plain", ""] {
            assert_eq!(
                media_kind(Some(kind), b"<?xml version='1.0'?><rss><channel>"),
                MediaKind::Feed,
                "{kind}"
            );
        }
        let json = br#"{"version": "https://jsonfeed.org/version/1"}"#;
        assert_eq!(media_kind(Some("application/json"), json), MediaKind::Feed);
        assert_eq!(media_kind(Some("application/rss+xml"), b"<urlset>"), MediaKind::Xml);
        assert_eq!(media_kind(Some("image/png"), b"<rss>"), MediaKind::Other);
        assert_eq!(media_kind(Some("text/html"), b"<html><rss>"), MediaKind::Html);
    }

    #[test]
    fn text_that_is_not_text() {
        let every_byte: Vec<u8> = (0..=255).collect();
        assert_eq!(media_kind(Some("text/html"), &every_byte), MediaKind::Other);
        assert_eq!(media_kind(Some("text/html"), b"<a href='/ok/n\0ul'>x</a>"), MediaKind::Other);
        assert_eq!(media_kind(Some("text/html"), b"\xff\xfe<\0p\0>\0"), MediaKind::Html);
        assert_eq!(media_kind(Some("text/html; charset=utf-16le"), b"<\0p\0>\0"), MediaKind::Html);
        let mut late = vec![b'x'; SNIFFED_BYTES];
        late.push(0);
        assert_eq!(media_kind(Some("text/plain"), &late), MediaKind::Text);
        assert_eq!(
            media_kind(Some("text/plain"), b"a\x1b[1mb\t\r\n\x0c"),
            MediaKind::Text,
            "ESC is in ISO-2022-JP"
        );
    }

    #[test]
    fn without_a_header_the_bytes_decide() {
        assert_eq!(media_kind(None, b"\n <!DocType HTML>"), MediaKind::Html);
        assert_eq!(media_kind(Some(""), b"<!--x--><p>"), MediaKind::Html);
        assert_eq!(media_kind(None, b"\xef\xbb\xbf<html>"), MediaKind::Html);
        assert_eq!(media_kind(None, b"\xff\xfe<\0p\0>\0"), MediaKind::Html);
        assert_eq!(media_kind(None, b"<abc>"), MediaKind::Text);
        assert_eq!(media_kind(None, b"<urlset>"), MediaKind::Xml);
        assert_eq!(media_kind(None, b"hello"), MediaKind::Text);
        assert_eq!(media_kind(None, b""), MediaKind::Text);
        assert_eq!(media_kind(None, b"%PDF-1.7"), MediaKind::Other);
        assert_eq!(media_kind(None, b"\x89PNG\r\n\x1a\n\0"), MediaKind::Other);
    }
}
