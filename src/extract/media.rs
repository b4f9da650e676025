//! The kind of a body: the server's word and the first bytes in, one of four kinds out.
//!
//! The server's word counts when there is one, so an image stays an image whatever its bytes look like; a body
//! announced as text that is not text is no text (WHATWG MIME Sniffing, 7.2). Only without a word is it guessed.

use super::charset;

/// The kinds of bodies that are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MediaKind {
    /// HTML or XHTML.
    Html,
    /// Plain text.
    Text,
    /// XML that is no page: a sitemap, if anything.
    Sitemap,
    /// Anything else: not read.
    Other,
}

/// How much of a body is looked at for bytes that no text has.
const SNIFFED_BYTES: usize = 1024;

/// The kind of `body`, from its Content-Type header or, without one, from its first bytes.
///
/// `image/png` is [`MediaKind::Other`] whatever the bytes are. A body announced as HTML, XML or text that has
/// bytes no text has in its first KiB, and is not UTF-16, is [`MediaKind::Other`] too.
pub fn media_kind(content_type: Option<&str>, body: &[u8]) -> MediaKind {
    let essence =
        content_type.and_then(|value| value.split(';').next()).map(|value| value.trim().to_ascii_lowercase());
    let kind = match essence.as_deref() {
        None | Some("" | "*/*" | "unknown/unknown" | "application/unknown") => sniff(body),
        Some("text/html" | "application/xhtml+xml") => MediaKind::Html,
        Some("text/plain" | "text/markdown") => MediaKind::Text,
        Some("text/xml" | "application/xml" | "application/rss+xml" | "application/atom+xml") => {
            xml_kind(body)
        }
        Some(_) => return MediaKind::Other,
    };
    let start = body.get(..SNIFFED_BYTES).unwrap_or(body);
    let utf16 = charset::has_utf16_mark(body)
        || charset::from_header(content_type).is_some_and(|encoding| encoding.name().starts_with("UTF-16"));
    if !utf16 && start.iter().any(|byte| is_binary(*byte)) { MediaKind::Other } else { kind }
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
    if charset::starts_with_mention(body, b"<html") { MediaKind::Html } else { MediaKind::Sitemap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_decides() {
        assert_eq!(media_kind(Some("Text/HTML; charset=x"), b"plain"), MediaKind::Html);
        assert_eq!(media_kind(Some("application/xhtml+xml"), b"<html/>"), MediaKind::Html);
        assert_eq!(media_kind(Some("text/plain"), b"<html>"), MediaKind::Text);
        assert_eq!(media_kind(Some("application/xml"), b"<?xml version='1.0'?><urlset>"), MediaKind::Sitemap);
        assert_eq!(
            media_kind(Some("text/xml"), b"<?xml version='1.0'?><!DOCTYPE html><html>"),
            MediaKind::Html
        );
        assert_eq!(media_kind(Some("image/png"), b"<!DOCTYPE html><html>"), MediaKind::Other);
        assert_eq!(media_kind(Some("application/json"), b"{}"), MediaKind::Other);
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
        assert_eq!(media_kind(None, b"<urlset>"), MediaKind::Sitemap);
        assert_eq!(media_kind(None, b"hello"), MediaKind::Text);
        assert_eq!(media_kind(None, b""), MediaKind::Text);
        assert_eq!(media_kind(None, b"%PDF-1.7"), MediaKind::Other);
        assert_eq!(media_kind(None, b"\x89PNG\r\n\x1a\n\0"), MediaKind::Other);
    }
}
