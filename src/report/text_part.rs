//! A long text in parts, each small enough for a page of HTML.

use super::diff::harmless;
use super::side_by_side::html_bytes;

/// Bytes of a part as HTML, at most.
pub const PART_BYTES: usize = 100_000;
/// A longer line goes on in a line of its own, so that a part is never much larger than it may be.
const LINE_CHARACTERS: usize = 4000;
/// Of the newline behind a line.
const END: usize = 1;

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextPart {
    /// Its lines, harmless to show; to be escaped as all text.
    pub lines: Vec<String>,
    /// Its number, from 1.
    pub number: usize,
    /// Parts that the text has, at least 1.
    pub parts: usize,
}

impl TextPart {
    /// The part with this number; the last if there are fewer.
    pub fn of(text: &str, number: usize, most_bytes: usize) -> Self {
        let wanted = number.max(1);
        let mut found = Self { lines: Vec::new(), number: 1, parts: 1 };
        let mut bytes = 0;
        for line in text.lines() {
            let mut rest = line;
            loop {
                let cut = rest.char_indices().nth(LINE_CHARACTERS).map_or(rest.len(), |(at, _)| at);
                let (start, more) = rest.split_at_checked(cut).unwrap_or((rest, ""));
                let shown = harmless(start);
                let own = html_bytes(&shown) + END;
                if bytes > 0 && bytes + own > most_bytes {
                    found.parts += 1;
                    bytes = 0;
                    if found.parts <= wanted {
                        found.lines.clear();
                    }
                }
                bytes += own;
                if found.parts <= wanted {
                    found.number = found.parts;
                    found.lines.push(shown);
                }
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_between_lines() {
        let part = |number| TextPart::of("one\ntwo\nthree\nfour\n", number, 10);
        let told = |part: TextPart| (part.lines.join(" "), part.number, part.parts);
        assert_eq!(told(part(1)), ("one two".to_owned(), 1, 3));
        assert_eq!(told(part(2)), ("three".to_owned(), 2, 3));
        assert_eq!(told(part(3)), ("four".to_owned(), 3, 3));
        assert_eq!(told(part(9)), ("four".to_owned(), 3, 3), "the last one");
        assert_eq!(told(part(0)), ("one two".to_owned(), 1, 3));
        assert_eq!(told(TextPart::of("", 1, 10)), (String::new(), 1, 1));
    }

    #[test]
    fn a_line_without_end_is_cut_and_nothing_in_it_is_obeyed() {
        let text = "<".repeat(10_000) + "\u{202e}\u{1b}[31m";
        let part = TextPart::of(&text, 1, PART_BYTES);
        assert_eq!((part.lines.len(), part.parts), (3, 1));
        assert!(
            part.lines[2].ends_with("<�␛[31m"),
            "{:?}",
            part.lines[2].chars().rev().take(9).collect::<String>()
        );
    }

    proptest! {
        #[test]
        fn no_part_is_large_and_all_together_are_the_text(text in "[a-z<&\n]{0,300}", most in 1..60_usize) {
            let parts = TextPart::of(&text, 1, most).parts;
            let all: Vec<TextPart> = (1..=parts).map(|number| TextPart::of(&text, number, most)).collect();
            for part in &all {
                let bytes: usize = part.lines.iter().map(|line| html_bytes(line) + END).sum();
                prop_assert!(bytes <= most || part.lines.len() == 1, "{part:?}");
            }
            let lines: Vec<&String> = all.iter().flat_map(|part| &part.lines).collect();
            prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
        }
    }
}
