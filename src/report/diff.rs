//! How a difference between texts is drawn: for people ([`coloured`], [`plain`]) and for `patch` ([`unified`]).
//!
//! For people a line is cut to the width around what changed, and nothing in it is obeyed by a terminal.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{DiffOp, DiffTag};
use unicode_width::UnicodeWidthChar;

use crate::look::text_diff::{DiffLine, TextDiff, first};

/// A unified diff as `patch` takes it, with `context` lines around each change; empty for texts that are the same.
/// Lines are as they are, however long and whatever is in them.
pub fn unified(diff: &TextDiff, old_name: &str, new_name: &str, context: usize) -> String {
    if diff.is_empty() {
        return String::new();
    }
    // A tab is what `patch` takes for the end of the name.
    let safe = |name: &str| name.split('\t').map(harmless).collect::<Vec<_>>().join("\t");
    let mut text = format!("--- {}\n+++ {}\n", safe(old_name), safe(new_name));
    for hunk in diff.hunks(context) {
        let (old, new) = spans(&hunk);
        // Writing to a string does not fail.
        let _ = writeln!(text, "@@ -{} +{} @@", place(&old), place(&new));
        for operation in &hunk {
            let (old, new) = (diff.old_lines(operation), diff.new_lines(operation));
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
pub fn coloured(diff: &TextDiff, width: usize, context: usize) -> String {
    shown(diff, width, context, &ANSI)
}

/// As [`coloured`], with `[-removed-]` and `{+added+}` instead of colours.
pub fn plain(diff: &TextDiff, width: usize, context: usize) -> String {
    shown(diff, width, context, &MARKS)
}

/// The marks before and after a changed stretch.
struct Ink(&'static str, &'static str);

/// How the parts are marked.
struct Inks {
    removed: Ink,
    added: Ink,
    stayed: Ink,
    /// Columns that telling a part takes.
    frame: usize,
}

const ANSI: Inks = Inks {
    removed: Ink("\u{1b}[31m", "\u{1b}[0m"),
    added: Ink("\u{1b}[32m", "\u{1b}[0m"),
    stayed: Ink("\u{1b}[2m", "\u{1b}[0m"),
    frame: 0,
};
const MARKS: Inks = Inks { removed: Ink("[-", "-]"), added: Ink("{+", "+}"), stayed: Ink("", ""), frame: 4 };

/// A narrower terminal shows nothing that makes sense.
const LEAST_WIDTH: usize = 30;
/// The sign of a line, and a blank.
const SIGN: usize = 2;

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSegment {
    /// Its text, harmless to show.
    pub text: String,
    /// It is not in the other text.
    pub changed: bool,
}

fn shown(diff: &TextDiff, width: usize, context: usize, inks: &Inks) -> String {
    let room = width.max(LEAST_WIDTH) - SIGN;
    let mut out = String::new();
    if diff.is_empty() {
        return out;
    }
    let mut end = 0;
    for hunk in diff.hunks(context) {
        let (old, _) = spans(&hunk);
        if !out.is_empty() {
            let skipped = old.start.saturating_sub(end);
            let lines = if skipped == 1 { "line" } else { "lines" };
            let between = format!("… {skipped} {lines} the same …");
            write(&mut out, "  ", vec![LineSegment { text: between, changed: false }], &inks.stayed, inks);
        }
        end = old.end;
        for operation in &hunk {
            if operation.tag() == DiffTag::Equal {
                for line in diff.old_lines(operation) {
                    write(&mut out, "  ", shorten(parts(line), room, inks.frame), &inks.stayed, inks);
                }
                continue;
            }
            let (removed, added) = (diff.old_lines(operation), diff.new_lines(operation));
            // As many lines as before: each beside what it became.
            let step = if removed.len() == added.len() { 1 } else { removed.len().max(added.len()).max(1) };
            for place in (0..removed.len().max(added.len())).step_by(step) {
                for line in removed.iter().skip(place).take(step) {
                    write(&mut out, "- ", shorten(parts(line), room, inks.frame), &inks.removed, inks);
                }
                for line in added.iter().skip(place).take(step) {
                    write(&mut out, "+ ", shorten(parts(line), room, inks.frame), &inks.added, inks);
                }
            }
        }
    }
    out
}

fn write(out: &mut String, sign: &str, parts: Vec<LineSegment>, changed: &Ink, inks: &Inks) {
    let start = out.len();
    // In colours the sign has that of its line; in marks it is its own mark.
    let sign_ink = if inks.frame == 0 { changed } else { &inks.stayed };
    let inked = parts.into_iter().map(|part| (part.text, if part.changed { changed } else { &inks.stayed }));
    for (text, Ink(before, after)) in [(sign.to_owned(), sign_ink)].into_iter().chain(inked) {
        out.push_str(before);
        out.push_str(&text);
        out.push_str(after);
    }
    if inks.frame > 0 {
        out.truncate(start.max(out.trim_end_matches(' ').len()));
    }
    out.push('\n');
}

/// The parts of a line that changed, and those between them.
pub(super) fn parts(line: &DiffLine) -> Vec<LineSegment> {
    let mut parts = Vec::new();
    let mut end = 0;
    let mut add = |range: std::ops::Range<usize>, changed| {
        if let Some(text) = line.text.get(range).filter(|text| !text.is_empty()) {
            parts.push(LineSegment { text: harmless(text), changed });
        }
    };
    for passage in &line.changed {
        add(end..passage.start, false);
        add(passage.clone(), true);
        end = passage.end;
    }
    add(end..line.text.len(), false);
    parts
}

/// Of a line that does not fit, what changed with a little around it, from the first change on.
pub(super) fn shorten(parts: Vec<LineSegment>, room: usize, frame: usize) -> Vec<LineSegment> {
    let cost = |part: &LineSegment| columns(&part.text) + if part.changed { frame } else { 0 };
    if parts.iter().map(cost).sum::<usize>() <= room {
        return parts;
    }
    let keep = room / 6;
    let last = parts.len() - 1;
    let short = parts.into_iter().enumerate().map(|(place, part)| {
        let text = match (part.changed, place) {
            (true, _) if last == 0 => head(&part.text, room - frame),
            (true, _) => head(&part.text, room * 2 / 3),
            (false, 0) if last > 0 => tail(&part.text, keep),
            (false, place) if place == last => head(&part.text, room.max(keep)),
            (false, _) if columns(&part.text) > 2 * keep => {
                head(&part.text, keep) + &tail(&part.text, keep - 1)
            }
            (false, _) => part.text.clone(),
        };
        LineSegment { text, ..part }
    });
    let short: Vec<LineSegment> = short.collect();
    let (mut left, many) = (room, short.len());
    let mut shown = Vec::new();
    for (place, part) in short.into_iter().enumerate() {
        // As long as more comes, a column is kept for the sign that it was cut.
        let after = usize::from(place + 1 < many);
        if cost(&part) + after <= left {
            left -= cost(&part);
            shown.push(part);
            continue;
        }
        let frame = if part.changed { frame } else { 0 };
        match left.checked_sub(frame) {
            Some(space) if space > 1 => shown.push(LineSegment { text: head(&part.text, space), ..part }),
            _ => shown.push(LineSegment { text: head("……", left.min(1)), changed: false }),
        }
        break;
    }
    shown
}

/// Columns on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// The beginning of a text in that many columns, a `…` at its end if something is missing.
fn head(text: &str, room: usize) -> String {
    cut(text.chars(), columns(text), room).into_iter().collect()
}

/// The end of a text in that many columns, a `…` at its beginning if something is missing.
fn tail(text: &str, room: usize) -> String {
    cut(text.chars().rev(), columns(text), room).into_iter().rev().collect()
}

fn cut(letters: impl Iterator<Item = char>, all: usize, room: usize) -> Vec<char> {
    if all <= room {
        return letters.collect();
    }
    let Some(mut left) = room.checked_sub(1) else { return Vec::new() };
    let mut kept = Vec::new();
    for letter in letters {
        let Some(rest) = left.checked_sub(width(letter)) else { break };
        left = rest;
        kept.push(letter);
    }
    kept.push('…');
    kept
}

/// A text without anything that a terminal obeys: control characters show as their pictures, tabs as blanks; those that
/// turn the direction of writing, or break lines, as `�`.
pub fn harmless(text: &str) -> String {
    let picture = |letter: char| match letter {
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => '�',
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '�',
        other => other,
    };
    text.chars().map(picture).collect()
}

fn spans(hunk: &[DiffOp]) -> (Range<usize>, Range<usize>) {
    let whole = |of: fn(&DiffOp) -> Range<usize>| {
        let start = hunk.first().map_or(0, |operation| of(operation).start);
        start..hunk.last().map_or(start, |operation| of(operation).end)
    };
    (whole(DiffOp::old_range), whole(DiffOp::new_range))
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

#[cfg(test)]
mod cut_tests {
    use super::*;

    #[test]
    fn a_cut_shows_and_fits() {
        assert_eq!([head("abcdef", 6), head("abcdef", 4), tail("abcdef", 4)], ["abcdef", "abc…", "…def"]);
        assert_eq!([head("abc", 0), head("abc", 1), tail("abc", 1)], ["", "…", "…"]);
        assert_eq!(head("漢字漢字", 6), "漢字…", "wide letters take two columns");
    }

    #[test]
    fn what_a_terminal_obeys_becomes_a_picture() {
        let sly = "a\u{1b}[31mb\tc\r\u{7f}\u{9b}\u{202e}\u{2028}\0é";
        assert_eq!(harmless(sly), "a␛[31mb c␍␡���␀é");
    }
}
