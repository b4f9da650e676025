//! A difference between two texts as rows of two columns, for a page of HTML: the older text on the left, the newer on the right.
//!
//! Lines that were replaced stand beside those that replaced them, with the words that changed marked. Whatever the texts hold, nothing in
//! a row can turn the direction of writing or break a line, and no row and no list is longer than it may be.

use similar::{DiffOp, DiffTag};

use super::diff::{LineSegment, parts, shorten};
use crate::look::text_diff::{DiffLine, TextDiff, first};

/// How much is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideLimits {
    /// Lines around a change.
    pub context: usize,
    /// Rows at most.
    pub rows: usize,
    /// Bytes of all rows as HTML at most.
    pub bytes: usize,
    /// A longer line is shortened around its changes, in columns of a terminal.
    pub line: usize,
}

impl Default for SideLimits {
    fn default() -> Self {
        Self { context: 3, rows: 400, bytes: 120_000, line: 600 }
    }
}

/// The rows of a difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideBySide {
    /// In order of the texts.
    pub rows: Vec<SideRow>,
    /// Lines with changes that are not among the rows: there were too many.
    pub left_out: usize,
}

/// A row: a line of each text, or what is between two changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideRow {
    /// `same`, `changed`, `removed`, `added` or `skipped`.
    pub kind: &'static str,
    /// The line of the older text, if there is one.
    pub old: Option<SideLine>,
    /// The line of the newer text, if there is one.
    pub new: Option<SideLine>,
    /// Lines between two changes that are the same and are not shown.
    pub skipped: usize,
}

/// A line of one of the texts.
#[derive(Clone, Debug, PartialEq)]
pub struct SideLine {
    /// Counted from 1.
    pub number: usize,
    /// All of it changed.
    pub is_whole: bool,
    /// The words that changed, and those between them. Harmless to show; to be escaped as all text.
    pub segments: Vec<LineSegment>,
}

impl SideBySide {
    /// The rows of a difference.
    pub fn of(diff: &TextDiff, limits: SideLimits) -> Self {
        let mut found = Self::default();
        if diff.is_empty() {
            return found;
        }
        let mut bytes = 0;
        let mut end = 0;
        for hunk in diff.hunks(limits.context) {
            let start = hunk.first().map_or(0, |operation| operation.old_range().start);
            let skipped = start.saturating_sub(end);
            end = hunk.last().map_or(end, |operation| operation.old_range().end);
            let between = (skipped > 0).then(|| SideRow { kind: "skipped", skipped, ..SideRow::default() });
            let rows = hunk.iter().flat_map(|operation| rows(diff, operation, limits.line));
            for row in between.into_iter().chain(rows) {
                bytes += row.html_bytes();
                if found.rows.len() >= limits.rows || bytes > limits.bytes || found.left_out > 0 {
                    found.left_out += usize::from(!matches!(row.kind, "same" | "skipped"));
                } else {
                    found.rows.push(row);
                }
            }
        }
        found
    }
}

/// The rows of an operation.
fn rows(diff: &TextDiff, operation: &DiffOp, line: usize) -> impl Iterator<Item = SideRow> {
    let (old, new) = (diff.old_lines(operation), diff.new_lines(operation));
    let is_same = operation.tag() == DiffTag::Equal;
    let (old_start, new_start) = (first(&operation.old_range()), first(&operation.new_range()));
    let side = move |lines: &[DiffLine], start: usize, place: usize| {
        let line_of = |found: &DiffLine| {
            let segments = shorten(parts(found), line, 0);
            SideLine { number: start + place, is_whole: segments.iter().all(|part| part.changed), segments }
        };
        lines.get(place).map(line_of)
    };
    (0..old.len().max(new.len())).map(move |place| {
        let (old, new) = (side(old, old_start, place), side(new, new_start, place));
        let kind = match (is_same, &old, &new) {
            (true, ..) => "same",
            (_, Some(_), None) => "removed",
            (_, None, Some(_)) => "added",
            _ => "changed",
        };
        SideRow { kind, old, new, skipped: 0 }
    })
}

impl SideRow {
    /// About the bytes that the row takes as HTML.
    fn html_bytes(&self) -> usize {
        /// Of the tags of a row, and of those around a changed stretch.
        const ROW: usize = 160;
        const MARK: usize = 16;
        let line =
            |line: &SideLine| line.segments.iter().map(|part| MARK + html_bytes(&part.text)).sum::<usize>();
        ROW + self.old.as_ref().map_or(0, line) + self.new.as_ref().map_or(0, line)
    }
}

/// The bytes of a text that is escaped for HTML.
pub(crate) fn html_bytes(text: &str) -> usize {
    /// `&quot;` is the longest.
    const ESCAPED: usize = 6;
    let bytes = |letter: char| match letter {
        '&' | '<' | '>' | '"' | '\'' => ESCAPED,
        other => other.len_utf8(),
    };
    text.chars().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn rows(old: &str, new: &str, limits: SideLimits) -> SideBySide {
        SideBySide::of(&TextDiff::of(old, new, Instant::now() + Duration::from_secs(2)), limits)
    }

    fn written(line: &Option<SideLine>) -> String {
        line.as_ref().map_or("-".to_owned(), |line| {
            let segment = |part: &LineSegment| match part.changed {
                true => format!("[{}]", part.text),
                false => part.text.clone(),
            };
            format!("{} {}", line.number, line.segments.iter().map(segment).collect::<String>())
        })
    }

    fn told(found: &SideBySide) -> Vec<String> {
        let row = |row: &SideRow| match row.skipped {
            0 => format!("{}: {} | {}", row.kind, written(&row.old), written(&row.new)),
            lines => format!("{lines} lines"),
        };
        found.rows.iter().map(row).collect()
    }

    #[test]
    fn lines_stand_beside_those_that_replaced_them() {
        let old = "Title\nThe quick brown fox jumps.\nsame\nsame two\nsame three\nlast line\n";
        let new = "Title\nThe quick red fox jumps.\nsame\nsame two\nsame three\nlast line\nmore <b>\n";
        let found = rows(old, new, SideLimits { context: 1, ..SideLimits::default() });
        assert_eq!(
            told(&found),
            [
                "same: 1 Title | 1 Title",
                "changed: 2 The quick [brown] fox jumps. | 2 The quick [red] fox jumps.",
                "same: 3 same | 3 same",
                "2 lines",
                "same: 6 last line | 6 last line",
                "added: - | 7 [more <b>]",
            ]
        );
        assert_eq!((found.left_out, rows(old, old, SideLimits::default())), (0, SideBySide::default()));
    }

    #[test]
    fn long_texts_and_lines_are_cut_and_it_is_told() {
        let lines = |word: &str| (0..1000).map(|line| format!("{word} {line}\n")).collect::<String>();
        let found = rows(&lines("old"), &lines("new"), SideLimits { rows: 10, ..SideLimits::default() });
        assert_eq!((found.rows.len(), found.left_out), (10, 990));
        let wide = rows(&"<".repeat(1 << 20), "a", SideLimits::default());
        assert!(wide.rows[0].html_bytes() < 6000, "{}", wide.rows[0].html_bytes());
        let few =
            rows(&lines("<<<<<<<<<<"), &lines("new"), SideLimits { bytes: 5000, ..SideLimits::default() });
        assert!(few.rows.iter().map(SideRow::html_bytes).sum::<usize>() <= 5000 && few.left_out > 900);
    }

    proptest! {
        #[test]
        fn no_text_turns_the_direction_or_breaks_a_line(old in "\\PC{0,40}", new in "[a-z\u{202e}\u{2066}\n\r\u{0}\u{2028}]{0,40}") {
            let found = rows(&old, &new, SideLimits::default());
            for line in found.rows.iter().flat_map(|row| [&row.old, &row.new]).flatten() {
                let text: String = line.segments.iter().map(|part| part.text.as_str()).collect();
                prop_assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{2028}', '\n', '\r', '\0']), "{:?}", text);
            }
        }
    }
}
