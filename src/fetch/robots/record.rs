//! Body → the lines of it that mean something to us, in their order.
//!
//! As forgiving as the large crawlers are: any line end, blanks anywhere, a blank instead of the colon, the
//! common misspellings. A line that was cut off is not read, for half a path is another path.

use std::borrow::Cow;

use super::MAX_BYTES;

/// One line that means something. Values are without comment and blanks around them, otherwise as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Agent(&'a [u8]),
    Rule(RuleVerdict, &'a [u8]),
    CrawlDelay(&'a [u8]),
    Sitemap(&'a [u8]),
}

/// The verdict of a rule on the URLs that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleVerdict {
    Allow,
    Disallow,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The body as UTF-8. One with the byte order mark of UTF-16 is decoded: its site wrote rules, whatever its editor made of
/// them. A line that was cut off is left out, as in any other body.
pub(super) fn text(body: &[u8]) -> Cow<'_, [u8]> {
    let unit = match body {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return Cow::Borrowed(body),
    };
    let is_cut = body.len() > MAX_BYTES;
    let read = body.get(2..MAX_BYTES.min(body.len())).unwrap_or_default();
    let units = read.as_chunks::<2>().0.iter().map(|octets| unit(*octets));
    let decoded = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    let mut decoded = decoded.collect::<String>().into_bytes();
    if is_cut {
        let whole = decoded.iter().rposition(is_line_end).unwrap_or(0);
        decoded.truncate(whole);
    }
    Cow::Owned(decoded)
}

pub(super) fn records(body: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let lines = whole_lines(body);
    let lines = lines.strip_prefix(BYTE_ORDER_MARK).unwrap_or(lines);
    lines.split(is_line_end).filter_map(record)
}

/// The lines that end within the first [`MAX_BYTES`], or the whole of a shorter body.
fn whole_lines(body: &[u8]) -> &[u8] {
    // One byte more than we read: if it ends a line, the line before it is whole.
    match body.get(..=MAX_BYTES) {
        None => body,
        Some(head) => head.rsplitn(2, is_line_end).nth(1).unwrap_or_default(),
    }
}

fn is_line_end(octet: &u8) -> bool {
    // NUL is in no path, and some hosts pad with it: to end the line there makes a rule wider, never
    // narrower.
    matches!(octet, b'\n' | b'\r' | 0)
}

fn record(line: &[u8]) -> Option<Record<'_>> {
    let line = trim(line.split(|&octet| octet == b'#').next()?);
    let at_colon = || split_at(line, |octet| *octet == b':').and_then(named);
    // `Disallow /a`, but not the prose `Allow me to explain`: without a colon, a value is a single word.
    let at_blank = || {
        split_at(line, u8::is_ascii_whitespace)
            .filter(|(_, value)| !value.iter().any(u8::is_ascii_whitespace))
            .and_then(named)
    };
    at_colon().or_else(at_blank)
}

fn split_at(line: &[u8], separator: impl Fn(&u8) -> bool) -> Option<(&[u8], &[u8])> {
    let mut parts = line.splitn(2, separator);
    Some((trim(parts.next()?), trim(parts.next()?)))
}

fn named<'a>((name, value): (&[u8], &'a [u8])) -> Option<Record<'a>> {
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
        Some(Record::Rule(RuleVerdict::Disallow, value))
    } else if is(&["allow"]) {
        Some(Record::Rule(RuleVerdict::Allow, value))
    } else if is(&["user-agent", "user agent", "useragent"]) {
        Some(Record::Agent(value))
    } else if is(&["crawl-delay", "crawl delay", "crawldelay"]) {
        Some(Record::CrawlDelay(value))
    } else if is(&["sitemap", "site-map", "site map"]) {
        Some(Record::Sitemap(value))
    } else {
        None
    }
}

/// Without the blanks around it, those that word processors leave (U+00A0) included.
fn trim(octets: &[u8]) -> &[u8] {
    match std::str::from_utf8(octets) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => octets.trim_ascii(),
    }
}
