//! JSON as text: a line for each value, with its key.
//!
//! `{"price": {"amount": 1.50, "tags": ["a", "b"]}}` is read as `price:`, `amount: 1.50`, `tags:`, `a`, `b`. A value that
//! changes changes one line, and one that comes or goes moves no other. Numbers stay as they are written. A sequence of JSON
//! texts (JSON lines) is read like one. What must stay true: time and memory are linear in the bytes, however deep they are
//! nested.

use serde::de::IgnoredAny;

use super::text::Words;

/// The values of a text, a line each; `None` if it is not JSON.
pub(super) fn read(text: &str) -> Option<String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    // That it is JSON is known before anything is read, so that what follows need not fail.
    if values.next()?.is_err() || values.any(|value| value.is_err()) {
        return None;
    }
    let mut words = Words::with_capacity(text.len());
    let mut is_empty = true;
    let mut rest = text;
    while let Some((token, after)) = next_token(rest) {
        rest = after;
        match token {
            JsonToken::Mark(b':') => {
                words.push_plain(":");
                words.part_words();
                continue;
            }
            JsonToken::Mark(_) => {
                words.break_line();
                continue;
            }
            JsonToken::Literal(literal) => words.push_plain(literal),
            JsonToken::Text(quoted) => push_text(&mut words, quoted),
        }
        is_empty = false;
        // The colon of a key, if this is one, stands next to it: `"a" : 1` is `a: 1`.
        if !rest.trim_start().starts_with(':') {
            words.break_line();
        }
    }
    // A list or an object with nothing in it is an answer, not an empty page.
    Some(if is_empty { text.split_whitespace().collect() } else { words.finish() })
}

/// A part of a JSON text.
enum JsonToken<'a> {
    /// One of `{}[],:`.
    Mark(u8),
    /// A number, `true`, `false` or `null`.
    Literal(&'a str),
    /// A text, with its quotes.
    Text(&'a str),
}

/// The first part of a valid JSON text, and what follows it.
fn next_token(text: &str) -> Option<(JsonToken<'_>, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r']);
    let bytes = text.as_bytes();
    let length = match bytes.first()? {
        mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => {
            return Some((JsonToken::Mark(*mark), text.get(1..)?));
        }
        b'"' => {
            let mut at = 1;
            loop {
                at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
                if bytes.get(at) == Some(&b'"') {
                    break at + 1;
                }
                at += 2;
            }
        }
        _ => {
            let ends = |byte: &u8| {
                matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"') || byte.is_ascii_whitespace()
            };
            bytes.iter().position(ends).unwrap_or(bytes.len())
        }
    };
    let (token, after) = text.split_at_checked(length)?;
    let token = if token.starts_with('"') { JsonToken::Text(token) } else { JsonToken::Literal(token) };
    Some((token, after))
}

/// A text with its escapes read; one that is no Unicode (half of a surrogate pair) stays as it is written.
fn push_text(words: &mut Words, quoted: &str) {
    let written = quoted.trim_matches('"');
    if !quoted.contains('\\') {
        return words.push_plain(written);
    }
    let read: Option<String> = serde_json::from_str(quoted).ok();
    for (place, line) in read.as_deref().unwrap_or(written).split(['\n', '\r']).enumerate() {
        if place > 0 {
            words.break_line();
        }
        words.push_plain(line);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_for_each_value_with_its_key() {
        let text = r#" {"price" : {"amount": 1.50, "was": 2e-3, "tags": ["a b", "c"], "none": [], "ok": true},
            "": null, "note": "two\nlines \u00e9 \"q\" \\", "list": [{"id": 1}, {"id": 2}], "half": "\ud800"} "#;
        let lines = "price:\namount: 1.50\nwas: 2e-3\ntags:\na b\nc\nnone:\nok: true\n: null\nnote: two\nlines é \"q\" \\\n\
            list:\nid: 1\nid: 2\nhalf: \\ud800";
        assert_eq!(read(text).as_deref(), Some(lines));
        assert_eq!(read("12.50").as_deref(), Some("12.50"));
        assert_eq!(read("{\"a\":1}\n{\"a\":2}\n").as_deref(), Some("a: 1\na: 2"));
    }

    #[test]
    fn nothing_in_it_is_not_an_empty_text() {
        assert_eq!(read("[ ]").as_deref(), Some("[]"));
        assert_eq!(read("{}\n").as_deref(), Some("{}"));
    }

    #[test]
    fn what_is_no_json() {
        for text in ["", " ", "{", "{\"a\":}", "callback({})", "not json", "<p>", "{\"a\":1} x"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn nesting_costs_nothing() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&deep).as_deref(), Some("1"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "([{}\\[\\],:\"\\\\ tu0-9\\PC]|true|null|\\\\u[dD]8[0-9]{2}){0,40}") {
            if let Some(read) = read(&text) {
                prop_assert!(!read.is_empty());
            }
        }

        #[test]
        fn one_changed_value_is_one_changed_line(values in prop::collection::vec(0..1000_u32, 1..30), place in 0..30_usize) {
            let of = |values: &[u32]| {
                let members: Vec<String> = values.iter().enumerate().map(|(n, v)| format!("\"k{n}\": [{{\"v\": {v}}}]")).collect();
                read(&format!("{{{}}}", members.join(","))).unwrap_or_default()
            };
            let mut other = values.clone();
            let place = place % values.len();
            other[place] += 1;
            let (one, two) = (of(&values), of(&other));
            prop_assert_eq!(one.lines().zip(two.lines()).filter(|(one, two)| one != two).count(), 1);
            prop_assert_eq!(one.lines().count(), two.lines().count());
        }
    }
}
