//! A difference between two texts as a few short lines, for a list: what came, what went, and which words of a line changed.

use std::ops::Range;

use serde::Serialize;
use similar::DiffTag;

use super::new_text::lasts_in;
use super::text_diff::{DiffLine, TextDiff};

/// Lines of a difference that are given.
const MOST_LINES: usize = 8;
/// Characters of a line that are given.
const MOST_CHARACTERS: usize = 200;
/// Characters before the first changed word that are given of a line that is too long.
const BEFORE: usize = 60;

/// A few lines of a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct InlineDiff {
    /// In their order: what went stands before what came in its place.
    pub lines: Vec<InlineLine>,
    /// Lines that came or went and are not given.
    #[serde(rename = "more_line_count")]
    pub more: usize,
}

/// A line that came or went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct InlineLine {
    /// It came; else it went.
    pub is_added: bool,
    /// Its text, in parts.
    pub parts: Vec<InlinePart>,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct InlinePart {
    /// The text.
    pub text: String,
    /// These words came or went; else they stayed.
    pub is_changed: bool,
}

impl InlineDiff {
    /// The first lines of a difference. `later`: lines of which nothing is in this text are left out, and so is what they came in place
    /// of, unless nothing would be left.
    pub fn of(diff: &TextDiff, later: Option<&str>) -> Self {
        let shown = Self::of_lasting(diff, later);
        if shown.lines.is_empty() && later.is_some() { Self::of_lasting(diff, None) } else { shown }
    }

    fn of_lasting(diff: &TextDiff, later: Option<&str>) -> Self {
        let lasts = |line: &DiffLine| later.is_none_or(|later| lasts_in(line, later));
        let mut shown = Self::default();
        let hunks = diff.hunks(0);
        for operation in hunks.iter().flatten().filter(|operation| operation.tag() != DiffTag::Equal) {
            let (old, new) = (diff.old_lines(operation), diff.new_lines(operation));
            if old.len() == new.len() {
                for (old, new) in old.iter().zip(new).filter(|(_, new)| lasts(new)) {
                    shown.add(false, old);
                    shown.add(true, new);
                }
            } else {
                if new.is_empty() || new.iter().any(lasts) {
                    old.iter().for_each(|line| shown.add(false, line));
                }
                new.iter().filter(|line| lasts(line)).for_each(|line| shown.add(true, line));
            }
        }
        shown
    }

    fn add(&mut self, is_added: bool, line: &DiffLine) {
        // Only the end of the line differs.
        if line.changed.is_empty() {
            return;
        }
        if self.lines.len() >= MOST_LINES {
            self.more += 1;
            return;
        }
        self.lines.push(InlineLine { is_added, parts: parts(line) });
    }
}

/// The line in parts, cut around its first changed words if it is long.
fn parts(line: &DiffLine) -> Vec<InlinePart> {
    let text = line.text.as_str();
    let first = line.changed.first().map_or(0, |passage| passage.start);
    let from = if text.chars().count() <= MOST_CHARACTERS { 0 } else { back(text, first, BEFORE) };
    let mut left = MOST_CHARACTERS;
    let mut parts = Vec::new();
    if from > 0 {
        parts.push(InlinePart { text: "…".to_owned(), is_changed: false });
    }
    let mut push = |range: Range<usize>, is_changed: bool| {
        let text = text.get(range).unwrap_or_default();
        if text.is_empty() || left == 0 {
            return;
        }
        let mut shown: String = text.chars().take(left).collect();
        let is_cut = shown.len() < text.len();
        left -= shown.chars().count().min(left);
        if is_cut {
            (left, shown) = (0, shown + "…");
        }
        parts.push(InlinePart { text: shown, is_changed });
    };
    let mut at = from;
    for passage in &line.changed {
        push(at..passage.start.max(at), false);
        push(passage.start.max(at)..passage.end, true);
        at = passage.end.max(at);
    }
    push(at..text.len(), false);
    parts
}

/// The place this many characters before another.
fn back(text: &str, place: usize, characters: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    before.char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shown(old: &str, new: &str) -> Vec<String> {
        let diff = TextDiff::of(old, new, Instant::now() + Duration::from_secs(5));
        let line = |line: &InlineLine| {
            let parts = line
                .parts
                .iter()
                .map(|part| if part.is_changed { format!("[{}]", part.text) } else { part.text.clone() });
            format!("{}{}", if line.is_added { '+' } else { '-' }, parts.collect::<String>())
        };
        InlineDiff::of(&diff, None).lines.iter().map(line).collect()
    }

    #[test]
    fn lines_stand_beside_what_they_became() {
        assert_eq!(
            shown("Tea costs 3 pounds\nsame\nMilk is white", "Tea costs 4 pounds\nsame\nMilk is white\nNews"),
            ["-Tea costs [3] pounds", "+Tea costs [4] pounds", "+[News]"]
        );
        assert_eq!(shown("a\nb", "a"), ["-[b]"]);
        assert_eq!(shown("same", "same"), [""; 0]);
    }

    #[test]
    fn a_clock_that_moved_on_is_left_out() {
        let page = |clock: &str, price: &str| format!("It is {clock}\nTea costs {price}");
        let diff = |old: &str, new: &str| TextDiff::of(old, new, Instant::now() + Duration::from_secs(5));
        let change = diff(&page("10:01", "3 pounds"), &page("10:07", "4 pounds"));
        let of = |later: Option<&str>| InlineDiff::of(&change, later).lines.len();
        assert_eq!((of(None), of(Some(&page("10:19", "4 pounds"))), of(Some("all new"))), (4, 2, 4));
    }

    #[test]
    fn a_long_line_is_cut_around_its_change_and_a_long_difference_at_its_end() {
        let line = |word: &str| format!("{} {word} {}", "é".repeat(500), "ö".repeat(500));
        let lines = shown(&line("three"), &line("four"));
        assert!(lines.iter().all(|line| line.chars().count() <= MOST_CHARACTERS + 6), "{lines:?}");
        assert!(
            lines[0].starts_with("-…é") && lines[0].contains("[three]") && lines[0].ends_with('…'),
            "{lines:?}"
        );
        let many: String = (0..100).map(|at| format!("line {at}\n")).collect();
        let diff = TextDiff::of("", &many, Instant::now() + Duration::from_secs(5));
        let inline = InlineDiff::of(&diff, None);
        assert_eq!((inline.lines.len(), inline.more), (MOST_LINES, 100 - MOST_LINES));
    }
}
