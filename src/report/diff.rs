//! Two texts → what differs: for people ([`Diff::coloured`], [`Diff::plain`]), for `patch` ([`Diff::unified`]) and for
//! programs ([`Diff::to_json`]).
//!
//! Lines are compared first (a page's text has a block a line), then the words of lines that were replaced. The search is
//! that of Myers (1986) with a deadline: on texts made to be slow the diff is longer than it need be, never wrong and never
//! late.

mod shown;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, DiffTag, DiffableStr, capture_diff_slices_deadline, group_diff_ops};

pub use shown::harmless;

/// After this, what has not been compared counts as replaced.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Words are shown as changed one by one only if at least this share of them stayed; else the whole lines are.
const KEPT_SHARE: f64 = 0.3;
/// More lines around a change than any text is worth.
const MOST_CONTEXT: usize = 1 << 20;

/// What differs between two texts.
#[derive(Clone, Debug)]
pub struct Diff {
    old: Vec<DiffLine>,
    new: Vec<DiffLine>,
    /// In order, and over all lines of both.
    operations: Vec<DiffOp>,
    words_removed: usize,
    words_added: usize,
}

#[derive(Clone, Debug)]
struct DiffLine {
    /// Without the newline.
    text: String,
    /// False for a last line that has no newline.
    ended: bool,
    /// Where its words changed, in bytes, in order.
    changed: Vec<Range<usize>>,
}

impl Diff {
    pub fn of(old: &str, new: &str) -> Diff {
        Self::within(old, new, TIME_LIMIT)
    }

    fn within(old: &str, new: &str, limit: Duration) -> Diff {
        let deadline = Instant::now().checked_add(limit);
        let mut names = StringNumbers::default();
        let [old_names, new_names] = [old, new].map(|text| names.of(text.split_inclusive('\n')));
        let operations = capture_diff_slices_deadline(Algorithm::Myers, &old_names, &new_names, deadline);
        let mut diff =
            Diff { old: lines(old), new: lines(new), operations, words_removed: 0, words_added: 0 };
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

    /// A unified diff as `patch` takes it, with so many lines around each change; nothing for texts that are the same.
    /// Lines are as they are, however long and whatever is in them.
    pub fn unified(&self, old_name: &str, new_name: &str, context: usize) -> String {
        if self.is_empty() {
            return String::new();
        }
        // A tab is what `patch` takes for the end of the name.
        let safe = |name: &str| name.split('\t').map(harmless).collect::<Vec<_>>().join("\t");
        let mut text = format!("--- {}\n+++ {}\n", safe(old_name), safe(new_name));
        for hunk in self.hunks(context) {
            let (old, new) = spans(&hunk);
            // Writing to a string does not fail.
            let _ = writeln!(text, "@@ -{} +{} @@", place(&old), place(&new));
            for operation in &hunk {
                let (old, new) = (self.old_lines(operation), self.new_lines(operation));
                if operation.tag() == DiffTag::Equal {
                    old.iter().for_each(|line| write_line(&mut text, ' ', line));
                } else {
                    old.iter().for_each(|line| write_line(&mut text, '-', line));
                    new.iter().for_each(|line| write_line(&mut text, '+', line));
                }
            }
        }
        text
    }

    /// For a terminal: removed words red, added ones green, what stayed dim. No line is wider than `width` columns (30 at
    /// the least): long ones are shortened around what changed. Whatever the texts hold, the terminal is safe.
    pub fn coloured(&self, width: usize, context: usize) -> String {
        shown::shown(self, width, context, &shown::ANSI)
    }

    /// As [`Diff::coloured`], with `[-removed-]` and `{+added+}` instead of colours.
    pub fn plain(&self, width: usize, context: usize) -> String {
        shown::shown(self, width, context, &shown::MARKS)
    }

    /// A list of hunks, each with the lines removed and added and where they stood. Lines are counted from 1; as in a
    /// unified diff, a side without lines has the number of the line before.
    pub fn to_json(&self) -> Value {
        let texts =
            |lines: &[DiffLine]| -> Vec<String> { lines.iter().map(|line| line.text.clone()).collect() };
        let changes = self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
        let hunks = changes.map(|operation| {
            let (old, new) = (operation.old_range(), operation.new_range());
            json!({
                "old_start": first(&old),
                "old_lines": old.len(),
                "new_start": first(&new),
                "new_lines": new.len(),
                "removed": texts(self.old_lines(operation)),
                "added": texts(self.new_lines(operation)),
            })
        });
        hunks.collect()
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

    /// Changes that lie near each other, with what is around them.
    fn hunks(&self, context: usize) -> Vec<Vec<DiffOp>> {
        group_diff_ops(self.operations.clone(), context.min(MOST_CONTEXT))
    }

    fn old_lines(&self, operation: &DiffOp) -> &[DiffLine] {
        self.old.get(operation.old_range()).unwrap_or_default()
    }

    fn new_lines(&self, operation: &DiffOp) -> &[DiffLine] {
        self.new.get(operation.new_range()).unwrap_or_default()
    }

    /// Finds and counts the words that changed between lines that were replaced.
    fn mark_words(&mut self, old: Range<usize>, new: Range<usize>, deadline: Option<Instant>) {
        let old = self.old.get_mut(old).unwrap_or_default();
        let new = self.new.get_mut(new).unwrap_or_default();
        let (mut removed, mut added) = (words(old), words(new));
        let late = deadline.is_some_and(|deadline| deadline <= Instant::now());
        if !removed.is_empty() && !added.is_empty() && !late {
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

/// What is between blanks and word boundaries, all of it changed for now.
fn words(lines: &[DiffLine]) -> Vec<Word> {
    let mut words = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let mut end = 0;
        for token in line.text.as_str().tokenize_unicode_words() {
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

/// Finds the words that stayed, unless so few did that nobody would call it the same text.
fn compare_words(
    removed: &mut [Word],
    added: &mut [Word],
    old: &[DiffLine],
    new: &[DiffLine],
    deadline: Option<Instant>,
) {
    fn text<'a>(lines: &'a [DiffLine], word: &Word) -> &'a str {
        lines.get(word.line).and_then(|line| line.text.get(word.range.clone())).unwrap_or_default()
    }
    let mut names = StringNumbers::default();
    let old_names = names.of(removed.iter().map(|word| text(old, word)));
    let new_names = names.of(added.iter().map(|word| text(new, word)));
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old_names, &new_names, deadline);
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

fn spans(hunk: &[DiffOp]) -> (Range<usize>, Range<usize>) {
    let whole = |of: fn(&DiffOp) -> Range<usize>| {
        let start = hunk.first().map_or(0, |operation| of(operation).start);
        start..hunk.last().map_or(start, |operation| of(operation).end)
    };
    (whole(DiffOp::old_range), whole(DiffOp::new_range))
}

/// The number of the first line, counted from 1; without lines, that of the line before.
fn first(lines: &Range<usize>) -> usize {
    if lines.is_empty() { lines.start } else { lines.start + 1 }
}

fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => first(lines).to_string(),
        many => format!("{},{many}", first(lines)),
    }
}

fn write_line(text: &mut String, sign: char, line: &DiffLine) {
    text.push(sign);
    text.push_str(&line.text);
    text.push_str(if line.ended { "\n" } else { "\n\\ No newline at end of file\n" });
}

#[cfg(test)]
mod tests;
