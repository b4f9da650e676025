//! Two texts → what differs: lines first (a page's text has a block a line), then the words of lines that were replaced.
//!
//! The search is that of Myers (1986) with a deadline, which the caller gives: on texts made to be slow the result is
//! longer than it need be, never wrong and never late. `report::diff` draws it.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag, DiffableStr, capture_diff_slices_deadline, group_diff_ops};
use unicode_normalization::char::is_combining_mark;

use crate::change::segment::is_unspaced;

/// Words are shown as changed one by one only if at least this share of them stayed; else the whole lines are.
const KEPT_SHARE: f64 = 0.3;
/// More lines around a change than any text is worth.
const MOST_CONTEXT: usize = 1 << 20;

/// The difference between two texts.
#[derive(Clone, Debug)]
pub struct TextDiff {
    old: Vec<DiffLine>,
    new: Vec<DiffLine>,
    /// In order, and over all lines of both.
    operations: Vec<DiffOp>,
    words_removed: usize,
    words_added: usize,
}

/// A line of one of the texts.
#[derive(Clone, Debug)]
pub(crate) struct DiffLine {
    /// Without the newline.
    pub text: String,
    /// False for a last line that has no newline.
    pub ended: bool,
    /// Where its words changed, in bytes, in order.
    pub changed: Vec<Range<usize>>,
}

/// Lines that were replaced, and where they stood. Lines are counted from 1; as in a unified diff, a side without lines
/// has the number of the line before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Hunk {
    /// The lines added.
    pub added: Vec<String>,
    /// Lines added.
    pub new_lines: usize,
    /// The first line added.
    pub new_start: usize,
    /// Lines removed.
    pub old_lines: usize,
    /// The first line removed.
    pub old_start: usize,
    /// The lines removed.
    pub removed: Vec<String>,
}

impl TextDiff {
    /// Compares two texts. What has not been compared by the deadline counts as replaced.
    pub fn of(old: &str, new: &str, deadline: Instant) -> TextDiff {
        let mut names = StringNumbers::default();
        let [old_names, new_names] = [old, new].map(|text| names.of(text.split_inclusive('\n')));
        let operations =
            capture_diff_slices_deadline(Algorithm::Myers, &old_names, &new_names, Some(deadline));
        let mut diff =
            TextDiff { old: lines(old), new: lines(new), operations, words_removed: 0, words_added: 0 };
        for operation in diff.operations.clone() {
            if operation.tag() != DiffTag::Equal {
                diff.mark_words(operation.old_range(), operation.new_range(), deadline);
            }
        }
        diff
    }

    /// Are the texts the same?
    pub fn is_empty(&self) -> bool {
        self.operations.iter().all(|operation| operation.tag() == DiffTag::Equal)
    }

    /// Words of the old text that are not in the new one; punctuation is none.
    pub fn words_removed(&self) -> usize {
        self.words_removed
    }

    /// Words of the new text that were not in the old one.
    pub fn words_added(&self) -> usize {
        self.words_added
    }

    /// The lines that were replaced, in order.
    pub fn replaced(&self) -> Vec<Hunk> {
        let texts = |lines: &[DiffLine]| lines.iter().map(|line| line.text.clone()).collect();
        let hunk = |operation: &DiffOp| Hunk {
            old_start: first(&operation.old_range()),
            old_lines: operation.old_range().len(),
            new_start: first(&operation.new_range()),
            new_lines: operation.new_range().len(),
            removed: texts(self.old_lines(operation)),
            added: texts(self.new_lines(operation)),
        };
        self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal).map(hunk).collect()
    }

    /// The lines that were added and those that were removed, in order; a line with changed words is both.
    pub fn lines(&self) -> (Vec<String>, Vec<String>) {
        let changes = || self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
        let text = |line: &DiffLine| line.text.clone();
        (
            changes().flat_map(|operation| self.new_lines(operation)).map(text).collect(),
            changes().flat_map(|operation| self.old_lines(operation)).map(text).collect(),
        )
    }

    /// Changes that lie near each other, with the lines around them.
    pub(crate) fn hunks(&self, context: usize) -> Vec<Vec<DiffOp>> {
        group_diff_ops(self.operations.clone(), context.min(MOST_CONTEXT))
    }

    /// Lines of the old text that an operation is about.
    pub(crate) fn old_lines(&self, operation: &DiffOp) -> &[DiffLine] {
        self.old.get(operation.old_range()).unwrap_or_default()
    }

    /// Lines of the new text that an operation is about.
    pub(crate) fn new_lines(&self, operation: &DiffOp) -> &[DiffLine] {
        self.new.get(operation.new_range()).unwrap_or_default()
    }

    /// Finds and counts the words that changed between lines that were replaced.
    fn mark_words(&mut self, old: Range<usize>, new: Range<usize>, deadline: Instant) {
        let old = self.old.get_mut(old).unwrap_or_default();
        let new = self.new.get_mut(new).unwrap_or_default();
        let (mut removed, mut added) = (words(old), words(new));
        if !removed.is_empty() && !added.is_empty() {
            compare_words(&mut removed, &mut added, old, new, deadline);
        }
        self.words_removed += removed.iter().filter(|word| word.changed && word.counts).count();
        self.words_added += added.iter().filter(|word| word.changed && word.counts).count();
        mark(old, &removed);
        mark(new, &added);
    }
}

/// Numbers for strings: equal ones for equal strings, and quick to compare.
#[derive(Default)]
struct StringNumbers<'a>(HashMap<&'a str, usize>);

impl<'a> StringNumbers<'a> {
    fn of(&mut self, texts: impl Iterator<Item = &'a str>) -> Vec<usize> {
        let number = |text| {
            let next = self.0.len();
            *self.0.entry(text).or_insert(next)
        };
        texts.map(number).collect()
    }
}

fn lines(text: &str) -> Vec<DiffLine> {
    let line = |line: &str| match line.strip_suffix('\n') {
        Some(text) => DiffLine { text: text.to_owned(), ended: true, changed: Vec::new() },
        None => DiffLine { text: line.to_owned(), ended: false, changed: Vec::new() },
    };
    text.split_inclusive('\n').map(line).collect()
}

/// A word or a mark of punctuation.
#[derive(Debug)]
struct Word {
    /// Counted from the first of the lines in question.
    line: usize,
    range: Range<usize>,
    counts: bool,
    changed: bool,
}

/// The words and punctuation marks of lines, all marked as changed for now.
fn words(lines: &[DiffLine]) -> Vec<Word> {
    let mut words = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let mut end = 0;
        for token in line.text.as_str().tokenize_unicode_words().into_iter().flat_map(characters) {
            let range = end..end + token.len();
            end = range.end;
            if !token.chars().all(char::is_whitespace) {
                let counts = token.chars().any(char::is_alphanumeric);
                words.push(Word { line: place, range, counts, changed: true });
            }
        }
    }
    words
}

/// A word; in scripts without blanks, its characters with their marks.
fn characters(word: &str) -> impl Iterator<Item = &str> {
    let is_start = |letter: char| is_unspaced(letter) && !is_combining_mark(letter);
    let starts = word.char_indices().skip(1).filter(move |(_, letter)| is_start(*letter)).map(|(at, _)| at);
    let mut from = 0;
    starts.chain([word.len()]).filter_map(move |at| word.get(std::mem::replace(&mut from, at)..at))
}

/// Finds the words that stayed, unless so few did that the text is better shown as rewritten.
fn compare_words(
    removed: &mut [Word],
    added: &mut [Word],
    old: &[DiffLine],
    new: &[DiffLine],
    deadline: Instant,
) {
    fn text<'a>(lines: &'a [DiffLine], word: &Word) -> &'a str {
        lines.get(word.line).and_then(|line| line.text.get(word.range.clone())).unwrap_or_default()
    }
    let mut names = StringNumbers::default();
    let old_names = names.of(removed.iter().map(|word| text(old, word)));
    let new_names = names.of(added.iter().map(|word| text(new, word)));
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old_names, &new_names, Some(deadline));
    let size = |place: Option<usize>| {
        let operation = place.and_then(|place| operations.get(place));
        operation.map_or(0, |operation| operation.old_range().len().max(operation.new_range().len()))
    };
    // A word or two that two rewritten passages happen to share would only tear them apart.
    let is_chance = |place: usize, kept: usize| {
        2 * kept < size(place.checked_sub(1)) && 2 * kept < size(place.checked_add(1))
    };
    let stayed: Vec<_> = operations
        .iter()
        .enumerate()
        .filter(|(place, operation)| {
            operation.tag() == DiffTag::Equal && !is_chance(*place, operation.old_range().len())
        })
        .map(|(_, operation)| (operation.old_range(), operation.new_range()))
        .collect();
    let kept: usize = stayed.iter().map(|(old, _)| old.len()).sum();
    if (kept as f64) < KEPT_SHARE * removed.len().min(added.len()) as f64 {
        return;
    }
    for (old, new) in stayed {
        removed.get_mut(old).unwrap_or_default().iter_mut().for_each(|word| word.changed = false);
        added.get_mut(new).unwrap_or_default().iter_mut().for_each(|word| word.changed = false);
    }
}

/// Joins neighbours that changed into one passage.
fn mark(lines: &mut [DiffLine], words: &[Word]) {
    let mut before: Option<(usize, bool)> = None;
    for word in words {
        if let (true, Some(line)) = (word.changed, lines.get_mut(word.line)) {
            match line.changed.last_mut() {
                Some(passage) if before == Some((word.line, true)) => passage.end = word.range.end,
                _ => line.changed.push(word.range.clone()),
            }
        }
        before = Some((word.line, word.changed));
    }
}

/// The number of the first line, counted from 1; without lines, that of the line before.
pub(crate) fn first(lines: &Range<usize>) -> usize {
    if lines.is_empty() { lines.start } else { lines.start + 1 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn programs_get_lines_and_their_numbers() {
        let old = "Title\nThe quick brown fox jumps.\nsame\nlast line\n";
        let new = "Title\nThe quick red fox jumps.\nsame\nlast line\nmore\n";
        let diff = TextDiff::of(old, new, Instant::now() + Duration::from_secs(2));
        let hunk = |old: (usize, &[&str]), new: (usize, &[&str])| Hunk {
            old_start: old.0,
            old_lines: old.1.len(),
            new_start: new.0,
            new_lines: new.1.len(),
            removed: old.1.iter().map(ToString::to_string).collect(),
            added: new.1.iter().map(ToString::to_string).collect(),
        };
        let expected = [
            hunk((2, &["The quick brown fox jumps."]), (2, &["The quick red fox jumps."])),
            hunk((4, &[]), (5, &["more"])),
        ];
        assert_eq!(diff.replaced(), expected);
        assert_eq!((diff.words_removed(), diff.words_added()), (1, 2));
    }

    #[test]
    fn a_character_is_marked_where_a_script_has_no_blanks() {
        let marked = |old: &str, new: &str| {
            let diff = TextDiff::of(old, new, Instant::now() + Duration::from_secs(2));
            let of = |line: &DiffLine| -> Vec<String> {
                line.changed
                    .iter()
                    .filter_map(|range| line.text.get(range.clone()))
                    .map(str::to_owned)
                    .collect()
            };
            (of(&diff.old[0]), of(&diff.new[0]), diff.words_removed(), diff.words_added())
        };
        let one = |old: &str, new: &str| (vec![old.to_owned()], vec![new.to_owned()], 1, 1);
        assert_eq!(marked("今天天气很好。", "今天天气不好。"), one("很", "不"));
        assert_eq!(marked("ソフトウェアの更新", "ソフトウエアの更新"), one("ェ", "エ"));
        assert_eq!(marked("ｿﾌﾄｳｪｱ", "ｿﾌﾄｳｴｱ"), one("ｪ", "ｴ"));
        assert_eq!(marked("ที่นี่มีน้ำ", "ที่นั่นมีน้ำ").2, 1);
        assert_eq!(marked("售价5999元", "售价6999元"), one("5999", "6999"));
    }
}
