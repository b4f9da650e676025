//! Bytes of a recorded page → its words and fragments, by the rule that makes figures on recordings comparable.
//!
//! A crawl reads pages differently (see [`crate::extract`], which keeps the words that a reader sees). This rule is simple
//! to write again: bytes are UTF-8, else ISO-8859-1; letters become lower case; comments, scripts, styles, noscripts and
//! templates are cut out; tags become spaces; character references are decoded; letters become lower case again. Words are
//! the longest runs of letters and digits (Unicode L* and N*). Fragments are runs of four words with a space between them,
//! hashed with xxh3-64; a text of one to three words is one fragment.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use crate::change::fragment::Fragments;
use crate::extract::character_reference::{self, ReferencePlace};

/// Words in a fragment.
const WORDS: usize = 4;

/// The text of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedText {
    /// Hash of the sequence of its words.
    pub(super) id: u64,
    pub(super) words: usize,
    /// Hashes of the fragments, ascending.
    pub(super) hashes: Vec<u64>,
}

/// Reads one content after the other, reusing its memory.
#[derive(Debug, Default)]
pub(super) struct RecordedTextReader {
    /// Words with a space after each.
    joined: String,
    /// Places at which words start, and at which the next one would.
    starts: Vec<usize>,
    hashes: Vec<u64>,
}

impl RecordedTextReader {
    pub(super) fn read(&mut self, content: &[u8]) -> RecordedText {
        self.split(&visible(content));
        let starts = &self.starts;
        let words = starts.len() - 1;
        let run = WORDS.min(words);
        self.hashes.clear();
        if words > 0 {
            let ends = starts.get(run..).unwrap_or_default();
            let runs = starts.iter().zip(ends).filter_map(|(start, end)| self.joined.get(*start..*end - 1));
            self.hashes.extend(runs.map(|run| xxh3_64(run.as_bytes())));
        }
        let hashes = Fragments::from_hashes(std::mem::take(&mut self.hashes)).as_slice().to_vec();
        RecordedText { id: xxh3_64(self.joined.as_bytes()), words, hashes }
    }

    /// The empty text of a removed page.
    pub(super) fn nothing(&mut self) -> RecordedText {
        self.read(b"")
    }

    fn split(&mut self, text: &str) {
        self.joined.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut within = false;
        for letter in text.chars() {
            if is_of_a_word(letter) {
                self.joined.push(letter);
                within = true;
            } else if within {
                self.joined.push(' ');
                self.starts.push(self.joined.len());
                within = false;
            }
        }
        if within {
            self.joined.push(' ');
            self.starts.push(self.joined.len());
        }
    }
}

/// The whole text of a content, in lower case, with spaces for tags.
fn visible(content: &[u8]) -> String {
    let text = match std::str::from_utf8(content) {
        Ok(text) => text.to_lowercase(),
        // Of ISO-8859-1 each byte is the character of that number.
        Err(_) => content.iter().map(|byte| char::from(*byte)).collect::<String>().to_lowercase(),
    };
    let text = without_tags(&without_hidden(&text));
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    character_reference::decode(&text, ReferencePlace::Text).to_lowercase()
}

/// Elements that are cut with everything in them.
const HIDDEN: [&str; 4] = ["script", "style", "noscript", "template"];

/// Replaces comments and hidden elements with a space; one without an end is cut to the end of the text.
fn without_hidden(text: &str) -> Cow<'_, str> {
    let (mut kept, mut rest, mut from) = (String::new(), text, 0);
    while let Some(found) = memchr::memchr(b'<', rest.as_bytes().get(from..).unwrap_or_default()) {
        let at = from + found;
        let Some(end) = hidden_end(rest.get(at..).unwrap_or_default()) else {
            from = at + 1;
            continue;
        };
        kept.push_str(rest.get(..at).unwrap_or_default());
        kept.push(' ');
        rest = rest.get(at..).and_then(|rest| rest.get(end..)).unwrap_or_default();
        from = 0;
    }
    if kept.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The end of a comment or hidden element that starts here.
fn hidden_end(rest: &str) -> Option<usize> {
    if let Some(comment) = rest.strip_prefix("<!--") {
        return Some(comment.find("-->").map_or(rest.len(), |end| "<!--".len() + end + "-->".len()));
    }
    let tag = rest.strip_prefix('<')?;
    let name = HIDDEN.into_iter().find(|name| {
        let after = tag.strip_prefix(name).and_then(|after| after.chars().next());
        after.is_some_and(|next| next.is_whitespace() || matches!(next, '/' | '>'))
    })?;
    let closing = rest.find(&format!("</{name}"));
    let end = closing.and_then(|closing| Some(closing + rest.get(closing..)?.find('>')? + 1));
    Some(end.unwrap_or(rest.len()))
}

/// Replaces each `<[a-z/!?][^>]*>` with a space.
fn without_tags(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (before, tag) = rest.split_at_checked(at).unwrap_or((rest, ""));
        kept.push_str(before);
        let is_tag = matches!(tag.as_bytes().get(1), Some(b'a'..=b'z' | b'/' | b'!' | b'?'));
        // Behind the character that makes it a tag, which may be no `>` itself.
        let end =
            if is_tag { memchr::memchr(b'>', tag.as_bytes().get(2..).unwrap_or_default()) } else { None };
        match end {
            Some(end) => {
                kept.push(' ');
                rest = tag.get(end + 3..).unwrap_or_default();
            }
            // Nothing ends any more, so no tag does.
            None if is_tag => {
                rest = tag;
                break;
            }
            None => {
                kept.push('<');
                rest = tag.get(1..).unwrap_or_default();
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// Letters and digits, Unicode L* and N*. [`char::is_alphanumeric`] takes marks for letters too.
fn is_of_a_word(letter: char) -> bool {
    static MARKS: LazyLock<Vec<char>> = LazyLock::new(|| {
        let words = Regex::new(r"^[\p{L}\p{N}]$").ok();
        let others = ('\u{80}'..=char::MAX).filter(|letter| letter.is_alphanumeric());
        let mut utf8 = [0; 4];
        others
            .filter(|letter| {
                words.as_ref().is_some_and(|words| !words.is_match(letter.encode_utf8(&mut utf8)))
            })
            .collect()
    });
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric();
    }
    letter.is_alphanumeric() && MARKS.binary_search(&letter).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(content: &[u8]) -> String {
        let mut reader = RecordedTextReader::default();
        reader.read(content);
        reader.joined.trim_end().to_owned()
    }

    #[test]
    fn words_are_what_the_rule_says() {
        assert_eq!(words(b"<P>Hello, <b>World</b> 42</p>"), "hello world 42");
        assert_eq!(words(b"caf\xe9"), "caf\u{e9}", "not UTF-8, so ISO-8859-1");
        assert_eq!(words("caf\u{e9}".as_bytes()), "caf\u{e9}");
        assert_eq!(words(b"a<!-- b --> c <!-- d"), "a c");
        assert_eq!(words(b"a<script>b</script >c<style x>d</style"), "a c");
        assert_eq!(words(b"a<scripts>b</scripts>"), "a b", "another name");
        assert_eq!(words(b"a <3 b < c > d <e"), "a 3 b c d e", "these are no tags");
        assert_eq!(words(b"a&amp;b &Auml;&#66;&lt;i&gt;"), "a b \u{e4}b i");
        assert_eq!(
            words("\u{e01}\u{e33}\u{e31}x \u{24b6}".as_bytes()),
            "\u{e01}\u{e33} x",
            "marks part words"
        );
        assert_eq!(words(b"<>a <a>b</a>"), "a b");
    }

    #[test]
    fn fragments_are_runs_of_four_words() {
        let mut reader = RecordedTextReader::default();
        let text = reader.read(b"one two three four five");
        let mut expected = vec![xxh3_64(b"one two three four"), xxh3_64(b"two three four five")];
        expected.sort_unstable();
        assert_eq!((text.words, text.hashes), (5, expected));
        assert_eq!(reader.read(b"one two").hashes, [xxh3_64(b"one two")]);
        assert_eq!(reader.read(b"<p>").hashes, [0; 0]);
        assert_eq!(reader.read(b"<p>").id, reader.nothing().id);
        let (one, other) = (reader.read(b"a b a b a b"), reader.read(b"a b a b a b a b"));
        assert_eq!(one.hashes, other.hashes);
        assert_ne!(one.id, other.id, "the same fragments, another sequence");
    }
}
