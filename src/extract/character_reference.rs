//! Character references: `&amp;`, `&amp`, `&#38;`, `&#x26;` → the characters they stand for.
//!
//! In comes the text from an ampersand on, out comes what it stands for and how many bytes it was (HTML Standard,
//! 13.2.5.72 to 13.2.5.84). What must stay true: only digits that are used up are looked at without bound, so that
//! a page of ampersands is read in linear time; and an ampersand that begins no reference stays itself.

use std::borrow::Cow;

use super::entities::{BARE, TERMINATED};

/// Where a reference stands; the rules differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReferencePlace {
    /// Between tags: `&notit` is `¬it`.
    Text,
    /// In an attribute: `?a=1&not=2` stays as it is, since it is an old link and not a reference.
    Attribute,
}

/// What a reference stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// One character, by number.
    Character(char),
    /// One or two characters, by name.
    Named(&'static str),
}

/// The longest name in the tables, in bytes, without its semicolon.
const LONGEST_NAME_BYTES: usize = 31;
/// The longest name that needs no semicolon, in bytes.
const LONGEST_BARE_NAME_BYTES: usize = 6;

/// The reference at the start of `rest`, and its length in bytes; `None` if there is none there, even if there is
/// an ampersand.
pub fn read(rest: &[u8], place: ReferencePlace) -> Option<(Meaning, usize)> {
    match rest.strip_prefix(b"&")?.first()? {
        b'#' => numeric(rest).map(|(character, length)| (Meaning::Character(character), length)),
        byte if byte.is_ascii_alphanumeric() => named(rest.get(1..)?, place),
        _ => None,
    }
}

/// `raw` with its references read, and NUL replaced, as in an attribute value.
pub fn decode_attribute(raw: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'&', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(decode(raw, ReferencePlace::Attribute))
}

/// `raw` with its references read, and NUL replaced by U+FFFD.
pub fn decode(raw: &str, place: ReferencePlace) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(found) = memchr::memchr2(b'&', 0, rest.as_bytes()) {
        let (before, from) = rest.split_at_checked(found).unwrap_or((rest, ""));
        decoded.push_str(before);
        let length = match read(from.as_bytes(), place) {
            Some((Meaning::Character(character), length)) => {
                decoded.push(character);
                length
            }
            Some((Meaning::Named(characters), length)) => {
                decoded.push_str(characters);
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
        && let Some(characters) = window.get(..run).and_then(terminated)
    {
        return Some((Meaning::Named(characters), run + 2));
    }
    // No longer name can match: every name is letters and digits, and only those in `BARE` may end without `;`.
    let longest = (1..=run.min(LONGEST_BARE_NAME_BYTES)).rev();
    let (characters, length) = longest.into_iter().find_map(|length| {
        window.get(..length).and_then(|name| look_up(&BARE, name)).map(|characters| (characters, length))
    })?;
    let next = name.get(length);
    if place == ReferencePlace::Attribute
        && next.is_some_and(|byte| *byte == b'=' || byte.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((Meaning::Named(characters), length + 1))
}

/// The commonest names are known by heart: most pages have no others.
fn terminated(name: &[u8]) -> Option<&'static str> {
    match name {
        b"amp" => Some("&"),
        b"lt" => Some("<"),
        b"gt" => Some(">"),
        b"quot" => Some("\""),
        b"apos" => Some("'"),
        b"nbsp" => Some("\u{a0}"),
        _ => look_up(&TERMINATED, name),
    }
}

fn look_up(table: &[(&str, &'static str)], name: &[u8]) -> Option<&'static str> {
    let found = table.binary_search_by(|(candidate, _)| candidate.as_bytes().cmp(name)).ok()?;
    table.get(found).map(|(_, characters)| *characters)
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
    fn the_tables_are_sorted_and_within_the_stated_lengths() {
        assert!(TERMINATED.windows(2).all(|pair| pair[0].0.as_bytes() < pair[1].0.as_bytes()));
        assert!(BARE.windows(2).all(|pair| pair[0].0.as_bytes() < pair[1].0.as_bytes()));
        assert_eq!(TERMINATED.iter().map(|(name, _)| name.len()).max(), Some(LONGEST_NAME_BYTES));
        assert_eq!(BARE.iter().map(|(name, _)| name.len()).max(), Some(LONGEST_BARE_NAME_BYTES));
        assert!(
            BARE.iter().all(|(name, characters)| look_up(&TERMINATED, name.as_bytes()) == Some(characters))
        );
        assert_eq!(TERMINATED.len() + BARE.len(), 2231, "as many as the WHATWG list has");
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
