//! Which characters a body's bytes are: bytes and the server's word in, text and the charset's name out.
//!
//! The order is that of the HTML Standard (13.2.3.2) with one addition for pages that say nothing: byte order mark,
//! `charset` of the Content-Type header, `<meta>` (or XML declaration) in the first 1024 bytes, in a page a later
//! `<meta>`, UTF-8 if the bytes are that, a guess. An unknown label counts as absent. What must stay true: the same bytes
//! and header always give the same text, and bytes that are wrong in the charset become U+FFFD, never an error.

use std::borrow::Cow;
use std::fmt::Write as _;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::memmem;

use super::elements::{Attribute, Element};
use super::html::{HtmlToken, Scanner};

/// How far into a page a `<meta>` may say its charset, in bytes (HTML Standard, 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;
/// How much of a page the guess is made from, in bytes: the guess is slow (some 40 MB/s) and seldom needs more.
const GUESS_BYTES: usize = 64 * 1024;

/// The text of `body`, and the charset it was read with.
pub(super) fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, &'static Encoding) {
    let encoding = declared_at_start(body, content_type).unwrap_or_else(|| guess(body));
    // A byte order mark chose the encoding already, so this only takes it off.
    let (text, encoding, _) = encoding.decode(body);
    (text, encoding)
}

/// As [`decode`], for an HTML page: a `<meta>` anywhere in it comes before a guess, as browsers begin again when they
/// meet one (HTML Standard, 13.2.3.4).
pub(super) fn decode_page<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
) -> (Cow<'a, str>, &'static Encoding) {
    let declared = declared_at_start(body, content_type).or_else(|| late_meta(body));
    let (text, encoding, _) = declared.unwrap_or_else(|| guess(body)).decode(body);
    (text, encoding)
}

/// Escapes the characters beyond ASCII in the query of an address by their bytes in the page's charset, as browsers do;
/// one that the charset lacks becomes an escaped numeric reference (URL Standard, percent-encode after encoding).
pub(super) fn escape_query(address: &mut String, encoding: &'static Encoding) {
    let query = address.find('?').map_or(address.len(), |mark| mark + 1);
    let end = address.find('#').unwrap_or(address.len()).max(query);
    let Some(written) = address.get(query..end).filter(|written| !written.is_ascii()) else { return };
    let mut escaped = String::with_capacity(written.len() * 2);
    let mut rest = written;
    while let Some(first) = rest.chars().next() {
        let ascii = first.is_ascii();
        let length = rest.find(|other: char| other.is_ascii() != ascii).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(length);
        if ascii {
            escaped.push_str(run);
        } else {
            push_escaped(&mut escaped, run, encoding);
        }
        rest = tail;
    }
    address.replace_range(query..end, &escaped);
}

/// Characters beyond ASCII, escaped.
fn push_escaped(escaped: &mut String, run: &str, encoding: &'static Encoding) {
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::with_capacity(run.len() * 2);
    let mut rest = run;
    loop {
        bytes.reserve(run.len() * 4 + 16);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            EncoderResult::InputEmpty => break,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            }
        }
    }
    for byte in bytes {
        match byte {
            0..=0x20 | 0x7f.. | b'"' | b'#' | b'<' | b'>' | b'\'' => {
                // Writing to a string does not fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
            _ => escaped.push(char::from(byte)),
        }
    }
}

/// The charset that the Content-Type header names, if it is one.
pub(crate) fn from_header(content_type: Option<&str>) -> Option<&'static Encoding> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        if name.trim().eq_ignore_ascii_case("charset") {
            Encoding::for_label_no_replacement(value.as_bytes())
        } else {
            None
        }
    })
}

/// The charset that a byte order mark, the header or the start of the page names.
fn declared_at_start(body: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    let mark = Encoding::for_bom(body).map(|(encoding, _)| encoding);
    mark.or_else(|| from_header(content_type)).or_else(|| prescan(body))
}

/// The charset that the start of the page declares.
fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    let start = body.get(..PRESCAN_BYTES).unwrap_or(body);
    // Every charset that can be declared this way has ASCII where ASCII is, so any of its relatives will do.
    let start = encoding_rs::mem::decode_latin1(start);
    first_meta(&start).or_else(|| xml_label(&start).and_then(declared))
}

/// The charset that a `<meta>` after the start of the page declares. Most pages without one don't mention it at all, so
/// that they need not be walked.
fn late_meta(body: &[u8]) -> Option<&'static Encoding> {
    let rest = body.get(PRESCAN_BYTES..)?;
    let is_mentioned =
        ["charset", "CHARSET", "Charset"].iter().any(|name| memmem::find(rest, name.as_bytes()).is_some());
    if is_mentioned { first_meta(&encoding_rs::mem::decode_latin1(body)) } else { None }
}

/// The charset that the first `<meta>` with a known one declares.
fn first_meta(page: &str) -> Option<&'static Encoding> {
    let mut scanner = Scanner::new(page, false);
    while let Some(token) = scanner.advance() {
        if let HtmlToken::Start(tag) = token
            && tag.element == Element::Meta
            && let Some(label) = meta_label(&scanner)
            && let Some(encoding) = declared(&label)
        {
            return Some(encoding);
        }
    }
    None
}

fn meta_label(scanner: &Scanner<'_>) -> Option<String> {
    if let Some(label) = scanner.value(Attribute::Charset) {
        return Some(label.into_owned());
    }
    if !scanner.value(Attribute::HttpEquiv)?.eq_ignore_ascii_case("content-type") {
        return None;
    }
    let content = scanner.value(Attribute::Content)?.to_ascii_lowercase();
    let (_, after) = content.split_once("charset")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    value
        .split(|end: char| end.is_ascii_whitespace() || matches!(end, ';' | '"' | '\''))
        .next()
        .map(str::to_owned)
}

fn xml_label(start: &str) -> Option<&str> {
    let (declaration, _) = start.strip_prefix("<?xml")?.split_once('>')?;
    let (_, after) = declaration.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value.get(1..)?.split(quote).next()
}

/// A page whose `<meta>` could be read is not UTF-16, whatever it says.
fn declared(label: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label.as_bytes())?;
    Some(match encoding {
        encoding if encoding == UTF_16BE || encoding == UTF_16LE => UTF_8,
        encoding if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

fn guess(body: &[u8]) -> &'static Encoding {
    let invalid = body.get(Encoding::utf8_valid_up_to(body)..).unwrap_or_default();
    // A body that a limit on bytes cut within its last character is still UTF-8.
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none() && invalid.len() < body.len();
    if invalid.is_empty() || (invalid.len() < 4 && std::str::from_utf8(invalid).is_err_and(is_cut)) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body.get(..GUESS_BYTES).unwrap_or(body), body.len() <= GUESS_BYTES);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether the page begins with the byte order mark of UTF-16.
pub(crate) fn has_utf16_mark(body: &[u8]) -> bool {
    body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff")
}

/// Whether `needle`, in lower case, stands in the first `PRESCAN_BYTES` of `body` in any case.
pub(crate) fn starts_with_mention(body: &[u8], needle: &[u8]) -> bool {
    let start = body.get(..PRESCAN_BYTES).unwrap_or(body).to_ascii_lowercase();
    memmem::find(&start, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
        let (text, encoding) = decode_page(body, content_type);
        (text.into_owned(), encoding.name())
    }

    #[test]
    fn a_byte_order_mark_comes_first() {
        assert_eq!(decoded(b"\xef\xbb\xbfa", Some("text/html; charset=iso-8859-2")), ("a".into(), "UTF-8"));
        assert_eq!(decoded(b"\xff\xfea\0\x17\x01", Some("text/html")), ("aė".into(), "UTF-16LE"));
        assert_eq!(decoded(b"\xfe\xff\0a", None), ("a".into(), "UTF-16BE"));
    }

    #[test]
    fn then_the_header_then_meta() {
        let page = b"<meta charset=iso-8859-2><p>\xb1";
        assert_eq!(decoded(page, None).1, "ISO-8859-2");
        assert!(decoded(page, None).0.ends_with('ą'));
        assert_eq!(decoded(page, Some("text/html; Charset=\"windows-1251\"")).1, "windows-1251");
        assert_eq!(decoded(page, Some("text/html; charset=klingon")).1, "ISO-8859-2");
        let old = b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset = windows-1250;x'>";
        assert_eq!(decoded(old, None).1, "windows-1250");
        assert_eq!(decoded(b"<?xml version='1.0' encoding='koi8-r'?><html>", None).1, "KOI8-R");
    }

    #[test]
    fn a_meta_that_does_not_count() {
        assert_eq!(decoded(b"<!-- <meta charset=koi8-r> -->", None).1, "UTF-8");
        assert_eq!(decoded(b"<script>'<meta charset=koi8-r>'</script>", None).1, "UTF-8");
        assert_eq!(decoded(b"<meta charset=klingon><meta charset=koi8-r>", None).1, "KOI8-R");
        assert_eq!(decoded(b"<meta charset=utf-16>", None).1, "UTF-8");
        assert_eq!(decode(b"<p>text</p>", None).1, UTF_8);
    }

    #[test]
    fn a_late_meta_counts_in_a_page() {
        let mut late = vec![b' '; PRESCAN_BYTES];
        late.extend_from_slice(b"<p>\xc1</p><meta charset=koi8-r>");
        assert!(decoded(&late, None).0.contains("<p>а</p>"));
        assert_eq!(decoded(&late, Some("text/html; charset=windows-1251")).1, "windows-1251");
        assert_ne!(decode(&late, None).1.name(), "KOI8-R", "a plain text has no such thing");
        let mut hidden = vec![b' '; PRESCAN_BYTES];
        hidden.extend_from_slice(b"<script>'<meta charset=koi8-r>'</script>");
        assert_eq!(decoded(&hidden, None).1, "UTF-8");
    }

    #[test]
    fn queries_are_escaped_in_the_charset_of_the_page() {
        let escaped = |address: &str, label: &str| {
            let mut address = address.to_owned();
            escape_query(&mut address, Encoding::for_label(label.as_bytes()).unwrap());
            address
        };
        assert_eq!(escaped("/é?q=é&x=1#é", "latin1"), "/é?q=%E9&x=1#é");
        assert_eq!(escaped("?q=日本", "shift_jis"), "?q=%93%FA%96{");
        assert_eq!(escaped("?q=日", "latin1"), "?q=%26%2326085%3B");
        assert_eq!(escaped("/a#b?é", "latin1"), "/a#b?é");
        assert_eq!(escaped("?plain", "latin1"), "?plain");
    }

    #[test]
    fn then_utf8_if_it_is_and_then_a_guess() {
        assert_eq!(decoded("żółw".as_bytes(), None), ("żółw".into(), "UTF-8"));
        assert_eq!(decoded(b"\xc5\xbc\xc3", None).1, "UTF-8", "cut in its last character");
        let (text, name) = decoded(b"<title>\x93\xfa\x96\x7b</title>", Some("text/html; charset=klingon"));
        assert_eq!((text.as_str(), name), ("<title>日本</title>", "Shift_JIS"));
    }

    #[test]
    fn wrong_bytes_become_replacement_characters() {
        let (text, name) = decoded(b"caf\xe9 \xff", Some("text/html; charset=utf-8"));
        assert_eq!((text.as_str(), name), ("caf\u{fffd} \u{fffd}", "UTF-8"));
        assert_eq!(decoded(b"", None), (String::new(), "UTF-8"));
    }
}
