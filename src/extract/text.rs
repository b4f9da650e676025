//! The words a reader sees: runs of a page's text in, one tidy text out.
//!
//! White space, of whatever Unicode kind, is folded: one space between words, one newline between blocks, none at
//! the ends. Control characters, which show nothing, are left out. The result is in Unicode normalisation form C,
//! so that a page that only re-encodes its accents has not changed. What must stay true: the same runs give the same
//! text wherever they were cut, and time is linear. Most text is ASCII with single spaces, so that is what is
//! fast: eight bytes at a time are found to need nothing, and copied.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::html::Text;
use super::reference::{self, Meaning, Place};

/// What stands between the last word and the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// A text being gathered.
#[derive(Clone, Default, Debug)]
pub struct Words {
    bytes: Vec<u8>,
    gap: Gap,
}

impl Words {
    /// Nothing yet, with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), gap: Gap::None }
    }

    /// Starts a new line before the next word.
    #[inline]
    pub fn break_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Sets the next word apart from the last one.
    #[inline]
    pub fn part_words(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Adds a run of a page.
    #[inline]
    pub fn push(&mut self, text: &Text<'_>) {
        self.push_bytes(text.raw.as_bytes(), text.references);
    }

    /// Adds text in which a newline is a newline to the reader.
    pub fn push_lines(&mut self, text: &str) {
        for line in text.split(['\n', '\r']) {
            self.push_bytes(line.as_bytes(), false);
            self.break_line();
        }
    }

    /// The text: folded, trimmed, in normalisation form C.
    pub fn finish(self) -> String {
        let mut text = match String::from_utf8(self.bytes) {
            Ok(text) => text,
            // Runs are cut at ASCII only, so this is not reached; if it were, a text is better than none.
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if !is_composed(&text) {
            text = text.nfc().collect();
        }
        text.shrink_to_fit();
        text
    }

    fn push_bytes(&mut self, run: &[u8], references: bool) {
        let mut rest = run;
        while let Some(&byte) = rest.first() {
            let used = match byte {
                b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' => {
                    self.part_words();
                    1
                }
                b'&' => self.push_ampersand(rest, references),
                0..0x20 | 0x7f => 1,
                0x80.. => match wide_space(rest) {
                    Some(length) => {
                        self.part_words();
                        length
                    }
                    None if matches!(rest, [0xc2, 0x80..=0x9f, ..]) => 2,
                    None => self.copy(rest, foreign_length(rest)),
                },
                _ => self.copy(rest, plain_length(rest)),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    /// Copies `length` bytes, which begin with no space, and may end with one.
    #[inline(always)]
    fn copy(&mut self, rest: &[u8], length: usize) -> usize {
        self.close_gap();
        let mut copied = rest.get(..length).unwrap_or_default();
        if let Some(trimmed) = copied.strip_suffix(b" ") {
            copied = trimmed;
            self.gap = Gap::Space;
        }
        self.bytes.extend_from_slice(copied);
        length
    }

    #[inline(always)]
    fn close_gap(&mut self) {
        if self.gap != Gap::None {
            if !self.bytes.is_empty() {
                self.bytes.push(if self.gap == Gap::Line { b'\n' } else { b' ' });
            }
            self.gap = Gap::None;
        }
    }

    fn push_ampersand(&mut self, rest: &[u8], references: bool) -> usize {
        match if references { reference::read(rest, Place::Text) } else { None } {
            Some((Meaning::Character(character), length)) => {
                self.push_character(character);
                length
            }
            Some((Meaning::Named(characters), length)) => {
                characters.chars().for_each(|character| self.push_character(character));
                length
            }
            None => {
                self.push_character('&');
                1
            }
        }
    }

    fn push_character(&mut self, character: char) {
        if character.is_whitespace() {
            self.part_words();
        } else if !character.is_control() {
            self.close_gap();
            self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// How many bytes from the start can be copied as they are: printable ASCII, no ampersand, no second space in a
/// row. At least 1, given that the first byte is such a byte.
#[inline(always)]
fn plain_length(rest: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    const LOW: u64 = ONES * 0x7f;
    let mut length = 0;
    // The top bit: the byte before this word is a space.
    let mut space_before = 0_u64;
    // No sum below carries into the next byte, so each mask is exact in each byte, not only in its lowest.
    while let Some(word) = rest.get(length..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let low = word & LOW;
        let above_space = (low + ONES * (0x7f - 0x20)) & HIGH;
        let at_least_space = low + ONES * (0x80 - 0x20);
        let not_ampersand = (low ^ (ONES * u64::from(b'&'))) + LOW;
        let not_delete = (low ^ LOW) + LOW;
        let space = above_space ^ HIGH;
        let second_space = space & ((space << 8) | space_before);
        let special = (!(at_least_space & not_ampersand & not_delete) | word | second_space) & HIGH;
        if special != 0 {
            return length + special.trailing_zeros() as usize / 8;
        }
        space_before = space >> 56;
        length += 8;
    }
    let mut after_space = space_before != 0;
    while let Some(&byte) = rest.get(length) {
        if !matches!(byte, b' '..=b'~') || byte == b'&' || (byte == b' ' && after_space) {
            break;
        }
        after_space = byte == b' ';
        length += 1;
    }
    length
}

/// How many bytes from the start are of characters beyond ASCII, up to the first that might be a space or a control
/// character. At least 1.
#[inline(always)]
fn foreign_length(rest: &[u8]) -> usize {
    let stop = |byte: &u8| *byte < 0x80 || matches!(byte, 0xc2 | 0xe1..=0xe3);
    rest.iter().skip(1).position(stop).map_or(rest.len(), |length| length + 1)
}

/// The length of the white space beyond ASCII at the start, if there is any.
#[inline(always)]
fn wide_space(rest: &[u8]) -> Option<usize> {
    match rest {
        [0xc2, 0x85 | 0xa0, ..] => Some(2),
        [0xe1, 0x9a, 0x80, ..] | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..] => Some(3),
        [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => Some(3),
        _ => None,
    }
}

/// Whether `text` is in normalisation form C for certain.
fn is_composed(text: &str) -> bool {
    // Characters of the commonest scripts that no other character changes or is changed by; the full look-up costs
    // more than all the rest of the reading.
    let common = |character: char| {
        matches!(character,
            '\0'..='\u{2ff}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' | '\u{2010}'..='\u{205e}'
            | '\u{20a0}'..='\u{20c0}' | '\u{3001}'..='\u{3029}' | '\u{3041}'..='\u{3096}'
            | '\u{30a0}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ffef}')
    };
    text.is_ascii() || text.chars().all(common) || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::char::canonical_combining_class;

    use super::super::names::Element;
    use super::*;

    fn fold(runs: &[&str]) -> String {
        let mut words = Words::default();
        for raw in runs {
            words.push(&Text { raw, inside: Element::Other, references: true });
        }
        words.finish()
    }

    #[test]
    fn white_space_is_folded_and_trimmed() {
        assert_eq!(fold(&["  a \t\n b  c\r\n"]), "a b c");
        assert_eq!(fold(&["a ", " b", "", "c "]), "a bc");
        assert_eq!(
            fold(&["one two three four five six seven  eight "]),
            "one two three four five six seven eight"
        );
        assert_eq!(fold(&["a\u{a0}\u{3000}b\u{2003}c&nbsp;&#32;d&emsp;"]), "a b c d");
        assert_eq!(fold(&[" \n "]), "");
    }

    #[test]
    fn what_shows_nothing_is_left_out() {
        assert_eq!(fold(&["a\0b\u{7f}c\u{1}d\u{81}e&#129;f&#1;g"]), "abcdefg");
        assert_eq!(fold(&["a\u{85}b"]), "a b", "NEL is a space");
    }

    #[test]
    fn references_are_read_where_there_are_any() {
        assert_eq!(fold(&["a &lt; b&amp;c &copy &amp;lt;"]), "a < b&c © &lt;");
        let mut words = Words::default();
        words.push(&Text { raw: "a &lt; b", inside: Element::Xmp, references: false });
        assert_eq!(words.finish(), "a &lt; b");
    }

    #[test]
    fn the_result_is_composed() {
        assert_eq!(fold(&["z\u{307}o\u{301}l\u{301}w"]), "żóĺw");
        assert_eq!(fold(&["e", "&#x301;"]), "é", "even over the border of two runs");
        assert_eq!(fold(&["\u{212b}"]), "Å");
        assert_eq!(fold(&["żółw 日本 привет “x” が"]), "żółw 日本 привет “x” が");
    }

    #[test]
    fn the_common_characters_are_composed_alone_and_together() {
        for character in ('\0'..=char::MAX).filter(|character| character.len_utf8() < 4) {
            let alone = character.to_string();
            if is_composed(&alone) && canonical_combining_class(character) == 0 {
                assert_eq!(alone.nfc().collect::<String>(), alone, "{character:?}");
            }
            // A mark or a vowel sign can compose with what is before it: such a character may not be common.
            let marked = format!("{alone}\u{301}");
            assert!(!is_composed(&marked) || marked.nfc().eq(marked.chars()), "{character:?}");
        }
    }

    #[test]
    fn many_marks_in_a_row_take_linear_time() {
        let marks = "\u{301}\u{323}".repeat(200_000);
        assert!(fold(&["a", &marks]).starts_with('ạ'));
    }

    /// The plain way to do the same, a character at a time.
    fn fold_slowly(text: &str) -> String {
        let words: Vec<String> = text
            .split(char::is_whitespace)
            .map(|word| word.chars().filter(|character| !character.is_control()).collect::<String>())
            .filter(|word| !word.is_empty())
            .collect();
        words.join(" ").nfc().collect()
    }

    proptest! {
        #[test]
        fn folding_eight_bytes_at_a_time_is_folding(text in "[ -%'-~\n\t\u{0}\u{1f}\u{7f}-\u{a1}żß\u{2000}-\u{2030}\u{3000}日ё\u{301}\u{ad}]{0,60}") {
            prop_assert_eq!(fold(&[&text]), fold_slowly(&text));
        }

        #[test]
        fn words_with_single_and_double_spaces(words in prop::collection::vec("[a-z]{1,9} {0,2}", 0..20)) {
            let text = words.concat();
            prop_assert_eq!(fold(&[&text]), fold_slowly(&text));
        }

        #[test]
        fn the_cut_between_runs_does_not_matter(left in "[a-c ż\u{a0}\n\u{301}]{0,12}", right in "[a-c ż\u{a0}\n\u{301}]{0,12}") {
            prop_assert_eq!(fold(&[&left, &right]), fold(&[&format!("{left}{right}")]));
        }
    }
}
