//! The words a reader sees: runs of a page's text in, one tidy text out.
//!
//! White space, of whatever Unicode kind, is folded: one space between words, one newline between blocks, none at
//! the ends. Control characters, which show nothing, are left out. The result is in Unicode normalisation form C,
//! so that a page that only re-encodes its accents has not changed. What must stay true: the same runs give the same
//! text wherever they were cut, and time is linear. Most text is ASCII with single spaces, so that is what is
//! fast: eight bytes at a time are found to need nothing, and copied.

use encoding_rs::UTF_8;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::character_reference::{self, Meaning, ReferencePlace};
use super::html::TextRun;

/// The gap between the last word and the next one.
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
    /// An empty text with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), gap: Gap::None }
    }

    /// Starts a new line before the next word.
    #[inline]
    pub(crate) fn break_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Sets the next word apart from the last one.
    #[inline]
    pub(crate) fn part_words(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Adds a run of a page.
    #[inline]
    pub fn push(&mut self, text: &TextRun<'_>) {
        self.push_bytes(text.raw.as_bytes(), text.references);
    }

    /// Adds a piece of text without references.
    pub(super) fn push_plain(&mut self, text: &str) {
        self.push_bytes(text.as_bytes(), false);
    }

    /// Adds text in which a newline is a newline to the reader.
    pub(crate) fn push_lines(&mut self, text: &str) {
        for line in text.split(['\n', '\r']) {
            self.push_bytes(line.as_bytes(), false);
            self.break_line();
        }
    }

    /// The text: folded, trimmed, in normalisation form C.
    pub fn finish(self) -> String {
        let bytes = match into_ascii(self.bytes) {
            Ok(text) => return text,
            Err(bytes) => bytes,
        };
        // Runs are cut at whole characters, so nothing is replaced here: this only finds that out, and quickly.
        let (text, _) = UTF_8.decode_without_bom_handling(&bytes);
        if is_composed(&text) { text.into_owned() } else { text.nfc().collect() }
    }

    fn push_bytes(&mut self, run: &[u8], references: bool) {
        let mut rest = run;
        while let Some(&byte) = rest.first() {
            let used = match byte {
                b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' => {
                    self.part_words();
                    // Pages are indented: spaces come in long runs.
                    rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
                }
                b'&' => self.push_ampersand(rest, references),
                0..0x20 | 0x7f => 1,
                0xc2 | 0xe1..=0xe3 if let Some((length, is_space)) = invisible(rest) => {
                    if is_space {
                        self.part_words();
                    }
                    length
                }
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
        match if references { character_reference::read(rest, ReferencePlace::Text) } else { None } {
            Some((Meaning { first, second }, length)) => {
                self.push_character(first);
                second.into_iter().for_each(|character| self.push_character(character));
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

/// ASCII as a text, in the memory it is in: touching as much again for a copy is a third of a long page's time.
fn into_ascii(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if !bytes.is_ascii() {
        return Err(bytes);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| error.into_bytes())?;
    text.shrink_to_fit();
    Ok(text)
}

/// How many bytes from the start can be copied as they are: no control character, no ampersand, no space but single
/// ASCII ones. At least 1, given that the first byte begins a character of that kind.
#[inline(always)]
fn plain_length(rest: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length = ascii_length(rest, length);
        // Beyond ASCII, words are short and spaces many: it takes a while to be worth eight bytes at a time again.
        let mut last_wide = length;
        let mut after_space = length > 0 && rest.get(length - 1) == Some(&b' ');
        while length <= last_wide + 8 {
            let from = rest.get(length..).unwrap_or_default();
            let Some(&byte) = from.first() else { return length };
            let step = match byte {
                b' ' if after_space => return length,
                b'&' | 0..b' ' | 0x7f => return length,
                b' '..0x7f => 1,
                0x80..0xe0 if byte == 0xc2 && invisible(from).is_some() => return length,
                0x80..0xe0 => 2,
                0xe1..=0xe3 if invisible(from).is_some() => return length,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
            };
            after_space = byte == b' ';
            if step > 1 {
                last_wide = length;
            }
            length += step;
        }
    }
}

/// How far from `start` all is printable ASCII, with no ampersand and no second space in a row, give or take the
/// last seven bytes of the run.
#[inline(always)]
fn ascii_length(rest: &[u8], start: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    const LOW: u64 = ONES * 0x7f;
    let mut length = start;
    // The top bit of the lowest byte: the byte before this word is a space.
    let mut space_before = if start > 0 && rest.get(start - 1) == Some(&b' ') { 0x80 } else { 0 };
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
    length
}

/// The length of the white space or control character beyond ASCII at the start, if there is one, and whether it
/// is white space.
#[inline(always)]
fn invisible(rest: &[u8]) -> Option<(usize, bool)> {
    match rest {
        [0xc2, 0x85 | 0xa0, ..] => Some((2, true)),
        [0xc2, 0x80..=0x9f, ..] => Some((2, false)),
        [0xe1, 0x9a, 0x80, ..] | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..] => Some((3, true)),
        [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => Some((3, true)),
        _ => None,
    }
}

/// Whether `text` is in normalisation form C for certain.
fn is_composed(text: &str) -> bool {
    is_composed_at_a_glance(text) || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// Whether `text` has only characters of the commonest scripts that change no other character and are changed by
/// none. The full look-up costs more than all the rest of the reading.
fn is_composed_at_a_glance(text: &str) -> bool {
    // Below U+0300 there is nothing to compose, and no byte of such a character is 0xcc or more.
    if text.bytes().fold(0, u8::max) < 0xcc {
        return true;
    }
    // First bytes of characters that are all of that kind: Cyrillic, Chinese, Korean.
    let settled = |byte: u8| matches!(byte, ..0xcc | 0xd0 | 0xd1 | 0xe4..=0xe9 | 0xeb | 0xec);
    let mut open = text.bytes().enumerate().filter(|(_, byte)| !settled(*byte));
    open.all(|(at, _)| text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_common))
}

fn is_common(character: char) -> bool {
    matches!(character,
        '\u{48a}'..='\u{52f}' | '\u{2010}'..='\u{205e}' | '\u{20a0}'..='\u{20c0}' | '\u{2122}'
        | '\u{2190}'..='\u{22ff}' | '\u{2500}'..='\u{27bf}' | '\u{3001}'..='\u{3029}' | '\u{3041}'..='\u{3096}'
        | '\u{30a0}'..='\u{30ff}' | '\u{d000}'..='\u{d7a3}' | '\u{fe00}'..='\u{fe0f}' | '\u{ff01}'..='\u{ff9d}'
        | '\u{1f300}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::char::canonical_combining_class;

    use super::super::elements::Element;
    use super::*;

    fn fold(runs: &[&str]) -> String {
        let mut words = Words::default();
        for raw in runs {
            words.push(&TextRun { raw, inside: Element::Other, references: true });
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
        words.push(&TextRun { raw: "a &lt; b", inside: Element::Xmp, references: false });
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
    fn the_common_characters_change_nothing_and_are_changed_by_nothing() {
        for character in ('\0'..=char::MAX).filter(|character| *character < '\u{20000}') {
            if is_composed_at_a_glance(character.encode_utf8(&mut [0; 4])) {
                assert_eq!(is_nfc_quick(std::iter::once(character)), IsNormalized::Yes, "{character:?}");
                assert_eq!(canonical_combining_class(character), 0, "{character:?}");
            }
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
