//! The canonical key: what all spellings of one page have in common.
//!
//! In comes a URL in the form it is fetched; out goes the text its fingerprint is taken of. Servers answer alike to
//! `%7Euser` and `~user`, and nearly all to `?a=1&b=2` and `?b=2&a=1`, yet some do not: so we compare by the key and
//! fetch the spelling that was found. What must stay true: the key is itself a URL, and its own key.
//!
//! Canonical here is RFC 3986 §6.2.2, and a little more: an escape of an unreserved character is decoded, other
//! escapes have upper-case digits, a character that may not stand in a path or query is escaped, and so is a `%` that
//! begins no escape. Reserved characters keep their form, since `%2F` is not `/`.

use std::borrow::Cow;

use url::{Position, Url};

/// The key of a URL that has no fragment and no user info. Borrowed when the URL is its own key, as most are.
pub(super) fn of(url: &Url) -> Cow<'_, str> {
    let path = url.path();
    let query = url.query();
    let sorted = query.is_none_or(|query| query.split('&').is_sorted());
    if sorted && is_canonical(path) && query.is_none_or(is_canonical) {
        return Cow::Borrowed(url.as_str());
    }
    let mut key = String::with_capacity(url.as_str().len() + 16);
    key.push_str(&url[..Position::BeforePath]);
    key.push_str(&canonical(path));
    if let Some(query) = query {
        let mut parameters: Vec<Cow<'_, str>> = query.split('&').map(canonical).collect();
        parameters.sort_unstable();
        let mut separator = '?';
        for parameter in &parameters {
            key.push(separator);
            key.push_str(parameter);
            separator = '&';
        }
    }
    Cow::Owned(key)
}

/// The bytes of a text with its escapes decoded, letters in lower case: for comparing names.
pub(super) fn decoded_lower_case(text: &str) -> impl Iterator<Item = u8> {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let (&first, tail) = rest.split_first()?;
        let (byte, tail) = match escape(rest) {
            Some(escape) => (escape.byte, escape.tail),
            None => (first, tail),
        };
        rest = tail;
        Some(byte.to_ascii_lowercase())
    })
}

/// An escape at the start of a text, and what follows it.
struct Escape<'a> {
    byte: u8,
    upper_case: bool,
    tail: &'a [u8],
}

fn escape(text: &[u8]) -> Option<Escape<'_>> {
    let [b'%', high, low, tail @ ..] = text else { return None };
    let byte = hex_digit(*high)? << 4 | hex_digit(*low)?;
    Some(Escape { byte, upper_case: !high.is_ascii_lowercase() && !low.is_ascii_lowercase(), tail })
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn is_canonical(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = if STANDS_AS_IT_IS[usize::from(byte)] {
            tail
        } else {
            match escape(rest) {
                Some(escape) if escape.upper_case && !is_unreserved(escape.byte) => escape.tail,
                _ => return false,
            }
        };
    }
    true
}

fn canonical(text: &str) -> Cow<'_, str> {
    if is_canonical(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if STANDS_AS_IT_IS[usize::from(byte)] {
            out.push(char::from(byte));
            rest = tail;
        } else if let Some(escape) = escape(rest) {
            if is_unreserved(escape.byte) {
                out.push(char::from(escape.byte));
            } else {
                push_escaped(&mut out, escape.byte);
            }
            rest = escape.tail;
        } else {
            push_escaped(&mut out, byte);
            rest = tail;
        }
    }
    Cow::Owned(out)
}

fn push_escaped(out: &mut String, byte: u8) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    out.push('%');
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// By byte: whether it may stand unescaped in a path or a query (RFC 3986 §3.3 and §3.4). A table, because every byte
/// of every link is looked at.
static STANDS_AS_IT_IS: [bool; 256] = {
    let reserved = b"!$&'()*+,;=:@/?";
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_unreserved(byte as u8);
        byte += 1;
    }
    let mut next = 0;
    while next < reserved.len() {
        table[reserved[next] as usize] = true;
        next += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_have_one_form() {
        let cases = [
            ("/%7euser/%41%2d", "/~user/A-"),
            ("/a%2fb", "/a%2Fb"),
            ("/caf%c3%a9", "/caf%C3%A9"),
            ("/a|b[c]^", "/a%7Cb%5Bc%5D%5E"),
            ("/100%", "/100%25"),
            ("/%zz", "/%25zz"),
            ("/%%34%31", "/%2541"),
            ("/%252e", "/%252e"),
            ("/plain/path.html;v=1", "/plain/path.html;v=1"),
        ];
        for (given, expected) in cases {
            assert_eq!(canonical(given), expected, "{given}");
            assert!(is_canonical(expected), "{expected}");
            assert_eq!(is_canonical(given), given == expected, "{given}");
        }
    }

    #[test]
    fn parameters_are_sorted_whole_and_after_decoding() {
        let key = |text: &str| of(&Url::parse(text).unwrap()).into_owned();
        assert_eq!(key("http://a.org/?b=2&a=3&a=1"), "http://a.org/?a=1&a=3&b=2");
        assert_eq!(key("http://a.org/?b=1&%61=1"), "http://a.org/?a=1&b=1");
        assert_eq!(key("http://a.org/?q=a+b"), "http://a.org/?q=a+b");
        assert_eq!(key("http://a.org/?q=a%20b"), "http://a.org/?q=a%20b");
        assert_eq!(key("http://a.org/?x%26y=1"), "http://a.org/?x%26y=1");
    }

    #[test]
    fn a_url_that_is_its_own_key_is_not_copied() {
        for text in ["https://a.org/b/c.html", "https://a.org/%E4%B8%AD%2F", "https://a.org/?a=1&b=2"] {
            assert!(matches!(of(&Url::parse(text).unwrap()), Cow::Borrowed(key) if key == text), "{text}");
        }
    }

    #[test]
    fn names_compare_decoded() {
        assert!(decoded_lower_case("Utm%5Fsource%").eq(*b"utm_source%"));
    }
}
