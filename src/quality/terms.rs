//! Text → terms: what a search, an index and a workload count.
//!
//! A term is a word in lower case: a run of letters and digits. In scripts without blanks (Chinese, Japanese, Thai, Lao, Burmese,
//! Khmer) it is a pair of neighbouring characters, and a character that stands alone is a term. These are the words of
//! [`crate::change::fragment`], found by the same function. Texts are taken in normalisation form KC, so that `ﬁ` is `fi` and `Ａ` is
//! `a`; accents stay. A term that is longer than [`MOST_TERM_BYTES`] is cut there, in texts and in queries alike.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use xxhash_rust::xxh3::xxh3_64;

use crate::change::fragment::Fragmenter;
use crate::change::segment::is_unspaced;
use crate::identity_hash::ByHash;

/// Which way of making terms this is. It goes up whenever any text would get other terms than before: an index that was made another
/// way is made again.
pub const TERM_SCHEME: u32 = 1;

/// Longest term in bytes of UTF-8: no word of any language is longer, and what is longer is a key or a blob.
pub const MOST_TERM_BYTES: usize = 64;

/// Reads the terms of one text after the other, in the same memory.
#[derive(Clone, Debug)]
pub struct TermReader {
    words: Fragmenter,
}

impl Default for TermReader {
    fn default() -> Self {
        Self { words: Fragmenter::new(1) }
    }
}

impl TermReader {
    /// Gives each term, in the order of the text; one that comes twice is given twice.
    pub fn each(&mut self, text: &str, mut take: impl FnMut(&str)) {
        self.words.each_run(&normalised(text), |word| {
            if let Ok(term) = str::from_utf8(cut(word)) {
                take(term);
            }
        });
    }

    /// The terms of a document that has these parts, counted.
    pub fn count(&mut self, parts: &[&str]) -> TermCounts {
        let mut counts = TermCounts::default();
        for part in parts {
            self.words.each_run(&normalised(part), |word| counts.add(word));
        }
        counts
    }
}

/// The distinct terms of a text, in the order in which they first occur: the words of a query.
pub fn distinct_terms(text: &str) -> Vec<String> {
    let counts = TermReader::default().count(&[text]);
    counts.iter().map(|(term, _)| term.to_owned()).collect()
}

/// The terms of a document with how often each occurs.
#[derive(Clone, Debug, Default)]
pub struct TermCounts {
    /// All terms, one after the other.
    joined: String,
    /// Where each stands, and how often it occurs.
    terms: Vec<(Range<usize>, u32)>,
    /// Places in `terms`, by the hash of the term.
    places: ByHash<u64, usize>,
    length: u32,
}

impl TermCounts {
    /// Counts a word, as bytes of UTF-8. Most words of a text were in it before: those are known by their hash alone.
    fn add(&mut self, word: &[u8]) {
        let word = cut(word);
        let new = self.terms.len();
        let place = *self.places.entry(xxh3_64(word)).or_insert(new);
        if place == new {
            let start = self.joined.len();
            self.joined.push_str(str::from_utf8(word).unwrap_or_default());
            self.terms.push((start..self.joined.len(), 0));
        }
        if let Some((_, count)) = self.terms.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.length = self.length.saturating_add(1);
    }

    /// Each term with its count, in the order in which they first occur.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.terms.iter().map(|(place, count)| (self.joined.get(place.clone()).unwrap_or_default(), *count))
    }

    /// The hash of each term ([`super::copies::term_hash`]) with its count, in any order.
    pub(super) fn hashes(&self) -> impl Iterator<Item = (u64, u32)> {
        let count = |place: usize| self.terms.get(place).map_or(0, |(_, count)| *count);
        self.places.iter().map(move |(hash, place)| (*hash, count(*place)))
    }

    /// How often a term occurs.
    pub fn count_of(&self, term: &str) -> u32 {
        let place = self.places.get(&xxh3_64(term.as_bytes()));
        place.and_then(|place| self.terms.get(*place)).map_or(0, |(_, count)| *count)
    }

    /// Distinct terms.
    pub fn distinct(&self) -> usize {
        self.terms.len()
    }

    /// Terms, each as often as it occurs: the length of the document.
    pub fn length(&self) -> u32 {
        self.length
    }
}

/// Where these terms stand in a text, in its order: the ranges of bytes that a reader would mark. Pairs of characters that share one
/// are one range. At most `most` ranges.
pub fn places_of(text: &str, terms: &[String], most: usize) -> Vec<Range<usize>> {
    let mut reader = TermReader::default();
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        let kind = LetterKind::of(letter);
        let mut end = start + letter.len_utf8();
        // A script without blanks: this character, and the one after it.
        let mut stop = end;
        while let Some((_, next)) = letters.peek().filter(|(_, next)| LetterKind::of(*next) == kind) {
            stop = end + next.len_utf8();
            if kind == LetterKind::Unspaced {
                break;
            }
            end = stop;
            letters.next();
        }
        if kind == LetterKind::Other {
            continue;
        }
        let Some(word) = text.get(start..stop) else { continue };
        let mut is_wanted = false;
        reader.each(word, |term| is_wanted |= terms.iter().any(|wanted| wanted == term));
        if is_wanted {
            let is_full = places.len() >= most;
            match places.last_mut() {
                Some(last) if last.end >= start => last.end = stop,
                _ if is_full => break,
                _ => places.push(start..stop),
            }
        }
    }
    places
}

/// What a letter is to [`places_of`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterKind {
    Spaced,
    Unspaced,
    Other,
}

impl LetterKind {
    fn of(letter: char) -> Self {
        if is_unspaced(letter) {
            Self::Unspaced
        } else if letter.is_alphanumeric() || is_combining_mark(letter) {
            Self::Spaced
        } else {
            Self::Other
        }
    }
}

/// The text in normalisation form KC.
fn normalised(text: &str) -> Cow<'_, str> {
    // ASCII is in that form wherever it stands. Without it, marks may seem to be out of order that are not: then nothing is saved.
    let others = || text.chars().filter(|letter| !letter.is_ascii());
    if text.is_ascii() || is_nfkc_quick(others()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// A word of UTF-8, cut to the longest that a term may be.
fn cut(word: &[u8]) -> &[u8] {
    let Some(longest) = word.get(..=MOST_TERM_BYTES) else { return word };
    // The last letter that begins in here is one too many; bytes that go on with a letter are `10……`.
    let end = longest.iter().rposition(|byte| byte & 0b1100_0000 != 0b1000_0000);
    longest.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        TermReader::default().each(text, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn a_term_is_a_word_in_lower_case() {
        assert_eq!(terms("The Cat's 2 CATS,\tÜber-Maß"), ["the", "cat", "s", "2", "cats", "über", "maß"]);
        assert_eq!(terms("Привет, МИР"), ["привет", "мир"]);
        assert_eq!(terms("한국어 문장"), ["한국어", "문장"]);
        assert_eq!(terms("… -- !"), [""; 0]);
    }

    #[test]
    fn scripts_without_blanks_give_pairs_of_characters() {
        assert_eq!(terms("今天天气很好。"), ["今天", "天天", "天气", "气很", "很好"]);
        assert_eq!(terms("第3章"), ["第", "3", "章"]);
        assert_eq!(terms("東京タワー tower"), ["東京", "京タ", "タワ", "ワー", "tower"]);
    }

    #[test]
    fn spellings_of_the_same_letters_are_one_term() {
        assert_eq!(terms("cafe\u{301}"), terms("caf\u{e9}"));
        assert_eq!(terms("Ｆｉｎｄ ﬁnd"), ["find", "find"]);
        assert_eq!(terms("ﾀﾜｰ"), terms("タワー"));
        assert_ne!(terms("cafe"), terms("café"), "accents tell words apart");
    }

    #[test]
    fn a_long_word_is_cut_at_a_letter() {
        let long = "é".repeat(100);
        assert_eq!(terms(&long), ["é".repeat(32)]);
        assert_eq!(terms(&format!("a{long}")), [format!("a{}", "é".repeat(31))]);
    }

    #[test]
    fn terms_are_counted() {
        let counts = TermReader::default().count(&["The title", "the text and the end"]);
        let listed: Vec<(&str, u32)> = counts.iter().collect();
        assert_eq!(listed, [("the", 3), ("title", 1), ("text", 1), ("and", 1), ("end", 1)]);
        assert_eq!((counts.length(), counts.distinct()), (7, 5));
        assert_eq!((counts.count_of("the"), counts.count_of("no")), (3, 0));
        assert_eq!(distinct_terms("Fresh, fresh PAGES"), ["fresh", "pages"]);
    }

    #[test]
    fn places_are_found_as_the_text_spells_them() {
        let found = |text: &str, query: &str| -> Vec<String> {
            let places = places_of(text, &distinct_terms(query), 10);
            places.into_iter().filter_map(|place| text.get(place)).map(str::to_owned).collect()
        };
        assert_eq!(found("A Café, a CAFÉ; cafeteria", "café"), ["Café", "CAFÉ"]);
        assert_eq!(found("cafe\u{301}s and cafe\u{301}", "café"), ["cafe\u{301}"]);
        assert_eq!(found("今天天气很好", "天气"), ["天气"]);
        assert_eq!(found("今天天气很好", "天气很"), ["天气很"], "pairs that share a character are one place");
        assert_eq!(found("one two three two", "two"), ["two", "two"]);
        assert_eq!(places_of("two two two", &["two".to_owned()], 2).len(), 2);
        assert_eq!(found("", "two"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_that_keep_the_rules(text in any::<String>(), more in "[a-z今天é \u{301}]{0,40}") {
            let text = text + &more;
            let counts = TermReader::default().count(&[&text]);
            let mut length = 0;
            for (term, count) in counts.iter() {
                prop_assert!(!term.is_empty() && term.len() <= MOST_TERM_BYTES, "{term:?}");
                prop_assert!(!term.contains(|letter: char| letter.is_whitespace() || letter == ':'), "{term:?}");
                prop_assert_eq!(counts.count_of(term), count);
                length += count;
            }
            prop_assert_eq!(length, counts.length());
            let wanted: Vec<String> = counts.iter().map(|(term, _)| term.to_owned()).collect();
            let mut last = 0;
            for place in places_of(&text, &wanted, usize::MAX) {
                prop_assert!(place.start >= last && text.get(place.clone()).is_some_and(|word| !word.is_empty()));
                last = place.end;
            }
        }
    }
}
