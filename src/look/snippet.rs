//! The part of a text that shows the words of a query best.

use std::ops::Range;

use serde::Serialize;

use crate::quality::terms::{distinct_terms, places_of};

/// A piece of a snippet. The pieces one after the other are the snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SnippetPart {
    /// The text, in which every run of white space is one blank.
    pub text: String,
    /// It is a word of the query.
    pub is_marked: bool,
}

/// Bytes of a text that are looked through: a page whose words all stand behind this shows its beginning.
const SEARCHED_BYTES: usize = 1 << 20;
/// Words of the query that are looked at.
const MOST_PLACES: usize = 500;
/// Length of a snippet in characters, about.
const SNIPPET_CHARACTERS: usize = 240;
/// Characters before the first word of the query.
const LEAD_CHARACTERS: usize = 48;

/// The part of the text that has the most different words of the query, then the most words, then the first one.
pub(super) fn snippet(text: &str, terms: &[String]) -> Vec<SnippetPart> {
    let text = text.get(..text.floor_char_boundary(SEARCHED_BYTES)).unwrap_or_default();
    let places = places_of(text, terms, MOST_PLACES);
    let window = best_window(text, &places);
    let start = window.first().map_or(0, |first| back(text, first.start, LEAD_CHARACTERS));
    let start = if start < LEAD_CHARACTERS { 0 } else { start };
    let end = forward(text, start, SNIPPET_CHARACTERS).max(window.last().map_or(0, |last| last.end));
    let mut parts = SnippetParts::default();
    if start > 0 {
        parts.push("… ", false);
    }
    let mut at = start;
    for place in places.iter().filter(|place| place.start >= start && place.end <= end) {
        parts.push(text.get(at..place.start).unwrap_or_default(), false);
        parts.push(text.get(place.clone()).unwrap_or_default(), true);
        at = place.end;
    }
    parts.push(text.get(at..end).unwrap_or_default(), false);
    if end < text.len() {
        parts.push(" …", false);
    }
    parts.0
}

/// The places of the best window, one after the other.
fn best_window<'a>(text: &str, places: &'a [Range<usize>]) -> &'a [Range<usize>] {
    // Two spellings of a word are one word.
    let word = |place: &Range<usize>| distinct_terms(text.get(place.clone()).unwrap_or_default());
    let words: Vec<Vec<String>> = places.iter().map(word).collect();
    let mut best: (usize, usize, &[Range<usize>]) = (0, 0, &[]);
    for (first, place) in places.iter().enumerate() {
        let stop = forward(text, place.start, SNIPPET_CHARACTERS - LEAD_CHARACTERS);
        let many = places.iter().skip(first).take_while(|other| other.end <= stop).count().max(1);
        let mut different: Vec<&String> = words.iter().skip(first).take(many).flatten().collect();
        different.sort_unstable();
        different.dedup();
        if (different.len(), many) > (best.0, best.1) {
            best = (different.len(), many, places.get(first..first + many).unwrap_or_default());
        }
    }
    best.2
}

/// The place that is up to this number of characters before another, at the start of a word if there is one.
fn back(text: &str, from: usize, characters: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    let start = before.char_indices().rev().take(characters).last().map_or(from, |(at, _)| at);
    let blank = before.get(start..).and_then(|lead| lead.find(char::is_whitespace));
    if start == 0 { 0 } else { blank.map_or(start, |blank| start + blank) }
}

/// The place that is up to this number of characters after another, at the end of a word if there is one.
fn forward(text: &str, from: usize, characters: usize) -> usize {
    let after = text.get(from..).unwrap_or_default();
    let Some((stop, _)) = after.char_indices().nth(characters) else { return text.len() };
    let blank = after.get(..stop).and_then(|part| part.rfind(char::is_whitespace));
    from + blank.filter(|blank| *blank > stop / 2).unwrap_or(stop)
}

/// The parts so far. White space is folded as they come.
#[derive(Default)]
struct SnippetParts(Vec<SnippetPart>);

impl SnippetParts {
    fn push(&mut self, text: &str, is_marked: bool) {
        let mut folded = String::with_capacity(text.len());
        let mut after_blank = self.0.last().is_none_or(|last| last.text.ends_with(' '));
        for letter in text.chars() {
            let is_blank = letter.is_whitespace();
            if !(is_blank && after_blank) {
                folded.push(if is_blank { ' ' } else { letter });
            }
            after_blank = is_blank;
        }
        if !folded.is_empty() {
            self.0.push(SnippetPart { text: folded, is_marked });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str, query: &str) -> String {
        let parts = snippet(text, &distinct_terms(query));
        parts
            .iter()
            .map(|part| if part.is_marked { format!("[{}]", part.text) } else { part.text.clone() })
            .collect()
    }

    #[test]
    fn words_are_marked_as_they_are_spelt() {
        assert_eq!(
            marked("A Fresh\n\n page,  a FRESH copy", "fresh copy"),
            "A [Fresh] page, a [FRESH] [copy]"
        );
        assert_eq!(marked("今天天气很好", "天气"), "今天[天气]很好");
        assert_eq!(marked("no such word", "other"), "no such word");
        assert_eq!(marked("", "other"), "");
    }

    #[test]
    fn the_window_with_the_most_words_is_shown() {
        let far = "filler ".repeat(200);
        let text = format!("fresh start {far} the fresh pages of today {far}");
        let shown = marked(&text, "fresh pages");
        assert!(shown.starts_with("… ") && shown.ends_with(" …"), "{shown}");
        assert!(shown.contains("the [fresh] [pages] of today"), "{shown}");
        assert!(shown.chars().count() < 300, "{shown}");
        let shown = marked(&far, "other");
        assert!(shown.starts_with("filler filler") && shown.ends_with(" …"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in any::<String>(), query in any::<String>(), long in "[a天é ]{0,600}") {
            let text = text + &long;
            for query in [query.as_str(), "a", "天天"] {
                let parts = snippet(&text, &distinct_terms(query));
                prop_assert!(parts.iter().all(|part| !part.text.is_empty()));
            }
        }
    }
}
