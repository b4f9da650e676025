//! Character references: `&amp;`, `&amp`, `&#38;`, `&#x26;` → the characters they stand for.
//!
//! In comes the text from an ampersand on, out comes what it stands for and how many bytes it was (HTML Standard,
//! 13.2.5.72 to 13.2.5.84). What must stay true: only digits that are used up are looked at without bound, so that
//! a page of ampersands is read in linear time; and an ampersand that begins no reference stays itself.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use html5ever::data::NAMED_ENTITIES;

/// Where a reference stands; the rules differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReferencePlace {
    /// Between tags: `&notit` is `¬it`.
    Text,
    /// In an attribute: `?a=1&not=2` stays as it is, since it is an old link and not a reference.
    Attribute,
}

/// The characters that a reference stands for: one, or two for some names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meaning {
    /// The first character.
    pub first: char,
    /// The second, if there is one.
    pub second: Option<char>,
}

impl Meaning {
    const fn one(first: char) -> Self {
        Self { first, second: None }
    }
}

/// The longest name in the table, in bytes, without its semicolon.
const LONGEST_NAME_BYTES: usize = 31;
/// The shortest and the longest name that need no semicolon, in bytes.
const BARE_NAME_BYTES: RangeInclusive<usize> = 2..=6;

/// The reference at the start of `rest`, and its length in bytes; `None` if there is none there, even if there is
/// an ampersand.
pub(crate) fn read(rest: &[u8], place: ReferencePlace) -> Option<(Meaning, usize)> {
    match rest.strip_prefix(b"&")?.first()? {
        b'#' => numeric(rest).map(|(character, length)| (Meaning::one(character), length)),
        byte if byte.is_ascii_alphanumeric() => named(rest.get(1..)?, place),
        _ => None,
    }
}

/// `raw` with its references read, and NUL replaced, as in an attribute value.
pub(crate) fn decode_attribute(raw: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'&', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(decode(raw, ReferencePlace::Attribute))
}

/// `raw` with its references read, and NUL replaced by U+FFFD.
pub(crate) fn decode(raw: &str, place: ReferencePlace) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(found) = memchr::memchr2(b'&', 0, rest.as_bytes()) {
        let (before, from) = rest.split_at_checked(found).unwrap_or((rest, ""));
        decoded.push_str(before);
        let length = match read(from.as_bytes(), place) {
            Some((Meaning { first, second }, length)) => {
                decoded.push(first);
                decoded.extend(second);
                length
            }
            None => {
                decoded.push(if from.starts_with('&') { '&' } else { char::REPLACEMENT_CHARACTER });
                1
            }
        };
        rest = from.get(length..).unwrap_or("");
    }
    decoded.push_str(rest);
    decoded
}

fn named(name: &[u8], place: ReferencePlace) -> Option<(Meaning, usize)> {
    let window = name.get(..LONGEST_NAME_BYTES + 1).unwrap_or(name);
    let run = window.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(window.len());
    if window.get(run) == Some(&b';')
        && let Some(meaning) = window.get(..=run).and_then(terminated)
    {
        return Some((meaning, run + 2));
    }
    let bare = |length: usize| {
        let name = window.get(..length).filter(|_| BARE_NAME_BYTES.contains(&length))?;
        look_up(name).map(|meaning| (meaning, length + 1))
    };
    match place {
        // The longest name that fits counts. A longer one needs its semicolon: every name is letters and digits.
        ReferencePlace::Text => (1..=run.min(*BARE_NAME_BYTES.end())).rev().find_map(bare),
        // Not before `=`, a letter or a digit: so the name is the whole run, or there is none.
        ReferencePlace::Attribute if window.get(run) == Some(&b'=') => None,
        ReferencePlace::Attribute => bare(run),
    }
}

/// The meaning of a name that ends with a semicolon. The commonest need no table: most pages have no others.
fn terminated(name: &[u8]) -> Option<Meaning> {
    match name {
        b"amp;" => Some(Meaning::one('&')),
        b"lt;" => Some(Meaning::one('<')),
        b"gt;" => Some(Meaning::one('>')),
        b"quot;" => Some(Meaning::one('"')),
        b"apos;" => Some(Meaning::one('\'')),
        b"nbsp;" => Some(Meaning::one('\u{a0}')),
        _ => look_up(name),
    }
}

/// The table has the names of the WHATWG list (HTML Standard, 13.5) with the semicolons that they need, and all their
/// beginnings, which stand for nothing (0). The second number is 0 for names of one character.
fn look_up(name: &[u8]) -> Option<Meaning> {
    let (first, second) = *NAMED_ENTITIES.get(std::str::from_utf8(name).ok()?)?;
    let character = |number| char::from_u32(number).filter(|character| *character != '\0');
    Some(Meaning { first: character(first)?, second: character(second) })
}

fn numeric(rest: &[u8]) -> Option<(char, usize)> {
    let (radix, digits_at) = if matches!(rest.get(2), Some(b'x' | b'X')) { (16, 3) } else { (10, 2) };
    let digits = rest.get(digits_at..)?;
    let mut number = 0_u32;
    let mut length = 0;
    while let Some(digit) = digits.get(length).and_then(|byte| char::from(*byte).to_digit(radix)) {
        // Above the last code point it can only stay too large: enough to know, and it cannot wrap round.
        number = number.saturating_mul(radix).saturating_add(digit);
        length += 1;
    }
    if length == 0 {
        return None;
    }
    let semicolon = usize::from(digits.get(length) == Some(&b';'));
    Some((character(number), digits_at + length + semicolon))
}

/// Old pages number the C1 controls as windows-1252 does; NUL, surrogates and what is out of range are U+FFFD.
fn character(number: u32) -> char {
    const WINDOWS_1252: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}',
        '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}',
        '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
    ];
    match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => {
            WINDOWS_1252.get(number as usize - 0x80).copied().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        decode(raw, ReferencePlace::Text)
    }

    #[test]
    fn the_table_has_the_names_of_the_standard_within_the_stated_lengths() {
        let names = NAMED_ENTITIES.entries().filter(|(_, meaning)| meaning.0 != 0).map(|(name, _)| *name);
        let (terminated, bare): (Vec<&str>, Vec<&str>) = names.partition(|name| name.ends_with(';'));
        assert_eq!((terminated.len(), bare.len()), (2125, 106), "as many as the WHATWG list has");
        assert_eq!(terminated.iter().map(|name| name.len()).max(), Some(LONGEST_NAME_BYTES + 1));
        assert_eq!(bare.iter().map(|name| name.len()).min(), Some(*BARE_NAME_BYTES.start()));
        assert_eq!(bare.iter().map(|name| name.len()).max(), Some(*BARE_NAME_BYTES.end()));
    }

    #[test]
    fn names_with_and_without_a_semicolon() {
        assert_eq!(text("a &amp; b &amp b &lt;&gt;"), "a & b & b <>");
        assert_eq!(text("&notit; &notin; &not"), "¬it; ∉ ¬");
        assert_eq!(text("&CounterClockwiseContourIntegral;"), "∳");
        assert_eq!(text("&nGt;"), "\u{226b}\u{20d2}", "a name may stand for two characters");
        assert_eq!(
            text("&hearts &unknown; & &; &"),
            "&hearts &unknown; & &; &",
            "hearts needs its semicolon"
        );
    }

    #[test]
    fn in_an_attribute_an_old_link_is_left_alone() {
        assert_eq!(decode_attribute("?a=1&copy=2&amp;b=3&ampx"), "?a=1&copy=2&b=3&ampx");
        assert_eq!(decode_attribute("?a&copy"), "?a©");
        assert_eq!(decode_attribute("?a&copy;=2"), "?a©=2");
    }

    #[test]
    fn numbers_and_what_they_may_not_be() {
        assert_eq!(text("&#65;&#x42;&#X43&#68"), "ABCD");
        assert_eq!(text("&#x80;&#150;"), "€–", "windows-1252");
        assert_eq!(text("&#0;&#xd800;&#x110000;&#99999999999999999999;"), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(text("&#; &#x; &#xg;"), "&#; &#x; &#xg;");
        assert_eq!(decode_attribute("a\0b"), "a\u{fffd}b");
        assert_eq!(decode_attribute("\0lt;\0#65;"), "\u{fffd}lt;\u{fffd}#65;", "NUL is no ampersand");
    }
}
