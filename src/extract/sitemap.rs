//! Sitemaps: bytes in, URLs with the dates of their last change out (sitemaps.org, protocol 0.9).
//!
//! XML sitemaps and sitemap indexes are read, with or without namespaces and prefixes, and text files of one URL
//! a line; each may be gzipped. What must stay true: a broken or cut file gives what stood before the break; memory
//! is bounded by the two limits, whatever the file promises; entities of a DTD are never expanded; what extensions
//! nest into an entry (`image:loc`) is not taken for the entry's own. URLs come as written, trimmed, HTTP only.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};
use thiserror::Error;

use super::charset;
use super::links::web_address;

/// A URL that a sitemap lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SitemapEntry {
    /// As written, trimmed; a page's, or in an index another sitemap's.
    pub url: String,
    /// When it last changed, as the site says, in UTC seconds; `None` if it does not say so in a date we can read.
    pub lastmod: Option<i64>,
}

/// The contents of a sitemap file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sitemap {
    /// Pages.
    Urls(Vec<SitemapEntry>),
    /// Other sitemaps.
    Index(Vec<SitemapEntry>),
}

/// Why a file is no sitemap.
#[derive(Error, Debug)]
pub enum SitemapError {
    /// It begins like gzip, and not a byte can be unpacked.
    #[error("gzip broken at its start")]
    Gzip(#[source] std::io::Error),
    /// It is XML or HTML, but of another kind.
    #[error("root element is `{root}`, not `urlset` or `sitemapindex`")]
    OtherXml {
        /// The name of its first element.
        root: String,
    },
    /// It is neither XML with an element nor a list of URLs.
    #[error("neither xml nor a list of urls")]
    NoSitemap,
}

/// Reads a sitemap of any kind. Entries beyond `max_entries`, and what is beyond `max_decoded_bytes` once
/// unpacked, are dropped without a word.
pub fn read(body: &[u8], max_entries: usize, max_decoded_bytes: usize) -> Result<Sitemap, SitemapError> {
    let bytes = unpack(body, max_decoded_bytes)?;
    let (text, _) = charset::decode(&bytes, None);
    if text.trim_start().starts_with('<') {
        read_xml(&text, max_entries)
    } else {
        read_lines(&text, max_entries)
    }
}

fn unpack(body: &[u8], max_decoded_bytes: usize) -> Result<Cow<'_, [u8]>, SitemapError> {
    if !body.starts_with(b"\x1f\x8b") {
        return Ok(Cow::Borrowed(body.get(..max_decoded_bytes).unwrap_or(body)));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_decoded_bytes).unwrap_or(u64::MAX);
    match MultiGzDecoder::new(body).take(limit).read_to_end(&mut bytes) {
        Err(error) if bytes.is_empty() => Err(SitemapError::Gzip(error)),
        // Cut in the middle: what came before counts.
        _ => Ok(Cow::Owned(bytes)),
    }
}

fn read_lines(text: &str, max_entries: usize) -> Result<Sitemap, SitemapError> {
    let is_web = |line: &&str| {
        let start = line.get(..8).unwrap_or_default().to_ascii_lowercase();
        start.starts_with("http://") || start.starts_with("https://")
    };
    let mut urls = text.lines().map(str::trim).filter(is_web).peekable();
    if urls.peek().is_none() {
        return Err(SitemapError::NoSitemap);
    }
    let entries = urls.take(max_entries).map(|url| SitemapEntry { url: url.to_owned(), lastmod: None });
    Ok(Sitemap::Urls(entries.collect()))
}

/// The parts of an entry that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SitemapField {
    Location,
    LastChange,
}

/// The entries of an XML sitemap being gathered.
struct SitemapReader {
    /// The name of the element that holds an entry.
    entry_name: &'static str,
    entries: Vec<SitemapEntry>,
    in_entry: bool,
    location: Option<String>,
    lastmod: Option<i64>,
    /// The field being read, and its text so far.
    field: Option<SitemapField>,
    text: String,
    /// How many elements of other kinds are open inside the entry.
    nested: usize,
}

fn read_xml(text: &str, max_entries: usize) -> Result<Sitemap, SitemapError> {
    let mut reader = lenient_reader(text);
    let mut gathering: Option<SitemapReader> = None;
    // The file ends where it is not well-formed; everything before that counts.
    while let Ok(event) = reader.read_event() {
        let Some(known) = &mut gathering else {
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    gathering = Some(SitemapReader::under(tag.local_name().into_inner())?)
                }
                Event::Eof => break,
                _ => {}
            }
            continue;
        };
        match event {
            Event::Start(tag) => known.start(tag.local_name().into_inner()),
            Event::End(tag) => known.end(tag.local_name().into_inner()),
            Event::Text(text) if known.field.is_some() => known.text.push_str(&text),
            Event::CData(text) if known.field.is_some() => known.text.push_str(&text),
            Event::GeneralRef(name) if known.field.is_some() => push_reference(&mut known.text, &name),
            Event::Eof => break,
            _ => {}
        }
        if known.entries.len() >= max_entries {
            break;
        }
    }
    let Some(mut gathering) = gathering else { return Err(SitemapError::NoSitemap) };
    gathering.close_entry();
    gathering.entries.truncate(max_entries);
    Ok(match gathering.entry_name {
        "url" => Sitemap::Urls(gathering.entries),
        _ => Sitemap::Index(gathering.entries),
    })
}

impl SitemapReader {
    fn under(root: &str) -> Result<Self, SitemapError> {
        let entry_name = match root.to_ascii_lowercase().as_str() {
            "urlset" => "url",
            "sitemapindex" => "sitemap",
            _ => return Err(SitemapError::OtherXml { root: root.chars().take(40).collect() }),
        };
        Ok(Self {
            entry_name,
            entries: Vec::new(),
            in_entry: false,
            location: None,
            lastmod: None,
            field: None,
            text: String::new(),
            nested: 0,
        })
    }

    fn start(&mut self, name: &str) {
        if name.eq_ignore_ascii_case(self.entry_name) {
            self.close_entry();
            self.in_entry = true;
        } else if self.in_entry {
            self.field = match name {
                "loc" if self.nested == 0 => Some(SitemapField::Location),
                "lastmod" if self.nested == 0 => Some(SitemapField::LastChange),
                _ => {
                    self.nested += 1;
                    None
                }
            };
            self.text.clear();
        }
    }

    fn end(&mut self, name: &str) {
        if name.eq_ignore_ascii_case(self.entry_name) {
            self.close_entry();
        } else if let Some(field) = self.field.take() {
            match field {
                SitemapField::Location => self.location = web_address(&self.text).map(|url| url.into_owned()),
                SitemapField::LastChange => self.lastmod = date(self.text.trim()),
            }
        } else {
            self.nested = self.nested.saturating_sub(1);
        }
    }

    fn close_entry(&mut self) {
        if let Some(url) = self.location.take() {
            self.entries.push(SitemapEntry { url, lastmod: self.lastmod });
        }
        (self.in_entry, self.lastmod, self.field, self.nested) = (false, None, None, 0);
    }
}

/// A reader that goes on where a strict one would stop: what is written on the web is seldom quite XML.
pub(super) fn lenient_reader(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    reader
}

/// Adds what a reference stands for (`&amp;`, `&#43;`); one that only a DTD can know is added as it is written.
pub(super) fn push_reference(text: &mut String, reference: &BytesRef<'_>) {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        text.push(character);
    } else if let Some(characters) = resolve_predefined_entity(reference) {
        text.push_str(characters);
    } else {
        // Not ours to expand: a DTD may define it, and a bomb would.
        text.push('&');
        text.push_str(reference);
        text.push(';');
    }
}

/// A W3C date (`2026`, `2026-11`, `2026-11-16`, `2026-11-16T03:25:00.5+01:00`) in UTC seconds. What a shorter one
/// leaves open is its first moment; a time without a zone is taken for UTC.
pub(super) fn date(text: &str) -> Option<i64> {
    let (day, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)),
        None => (text, None),
    };
    let mut parts = day.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |month| digits(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| digits(day, 2))?;
    if parts.next().is_some()
        || !(1..=12).contains(&month)
        || !(1..=days_of_month(year, month)).contains(&day)
    {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + time.map_or(Some(0), seconds_of_day)?)
}

/// `03:25`, `03:25:00` or `03:25:00.5`, with a zone: seconds from midnight UTC, which may be another day's.
fn seconds_of_day(text: &str) -> Option<i64> {
    let text = text.trim();
    let zone_at = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (time, zone) = text.split_at_checked(zone_at)?;
    let mut parts = time.trim().split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = parts.next().map_or(Some(0), |second| digits(second.split('.').next()?, 2))?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(hour * 3600 + minute * 60 + second - zone_seconds(zone)?)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let offset = zone.get(1..)?.replacen(':', "", 1);
    let (hours, minutes) = offset.split_at_checked(2)?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in the Gregorian calendar, carried back before its start; `year` is not negative.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Counted in years that begin in March, so that the leap day is the last one and months before it add up.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_before_month = (153 * month + 2) / 5;
    // 719 468 days lie between 1 March of the year 0 and 1 January 1970.
    365 * year + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
#[path = "sitemap_tests.rs"]
mod tests;
