//! The words that a change brought, with some of their line around them: one line for lists.

use std::ops::Range;

use similar::DiffTag;

use super::text_diff::{DiffLine, TextDiff};

/// Characters of the line that are shown before the words that are new.
const BEFORE: usize = 20;

/// The lines that a change brought. `later`: only those of which something is in this text as well, unless there are none.
pub(super) fn new_lines<'d>(diff: &'d TextDiff, later: Option<&str>) -> Vec<&'d DiffLine> {
    let lines: Vec<&DiffLine> = added(diff);
    let Some(later) = later else { return lines };
    let kept: Vec<&DiffLine> =
        lines.iter().copied().filter(|line| lasting_passage(line, later).is_some()).collect();
    if kept.is_empty() { lines } else { kept }
}

/// The first new words, within `most` characters. `later`: the first of those that are in this text as well.
pub(super) fn excerpt(diff: &TextDiff, later: Option<&str>, most: usize) -> Option<String> {
    // A line whose end alone changed, as the last one of a text that goes on now, has no new words.
    new_lines(diff, later).into_iter().find_map(|line| {
        let lasting = later.and_then(|later| lasting_passage(line, later));
        let passage = lasting.or_else(|| line.changed.first())?;
        Some(around(&line.text, passage, most))
    })
}

/// The share of the new lines of which something is in the later text, 0 to 1; 1 if nothing came, or there is no later text to ask.
pub(super) fn lasting_share(diff: &TextDiff, later: Option<&str>) -> f64 {
    let Some(later) = later else { return 1.0 };
    let lines = added(diff);
    let kept = lines.iter().filter(|line| lasts_in(line, later)).count();
    // What lasted may be the form of a line, not its words: then it is what the judge has seen that counts.
    if kept == 0 { 1.0 } else { kept as f64 / lines.len() as f64 }
}

/// Is something that came with this line in the later text as well?
pub(super) fn lasts_in(line: &DiffLine, later: &str) -> bool {
    lasting_passage(line, later).is_some()
}

fn added(diff: &TextDiff) -> Vec<&DiffLine> {
    let hunks = diff.hunks(0);
    let changes = hunks.iter().flatten().filter(|operation| operation.tag() != DiffTag::Equal);
    changes.flat_map(|operation| diff.new_lines(operation)).collect()
}

/// The first changed passage of a line that is in another text too, together with the word beside it.
fn lasting_passage<'l>(line: &'l DiffLine, later: &str) -> Option<&'l Range<usize>> {
    line.changed.iter().find(|passage| {
        let before = line.text.get(..passage.start).unwrap_or_default();
        let after = line.text.get(passage.end..).unwrap_or_default();
        // A number by itself may stand anywhere.
        let start = last_word(before).map_or(passage.start, |length| passage.start - length);
        let end = if start == passage.start { passage.end + first_word(after) } else { passage.end };
        line.text
            .get(start..end)
            .is_some_and(|probe| !probe.trim().is_empty() && later.contains(probe.trim()))
    })
}

/// Bytes of the last word of a text and of everything behind it; `None` if it has no word.
pub(super) fn last_word(text: &str) -> Option<usize> {
    let end = text.trim_end();
    let word = end.rsplit(char::is_whitespace).next().filter(|word| !word.is_empty())?;
    Some(text.len() - end.len() + word.len())
}

/// Bytes of the first word of a text and of everything before it.
fn first_word(text: &str) -> usize {
    let start = text.trim_start();
    let word = start.split(char::is_whitespace).next().unwrap_or_default();
    text.len() - start.len() + word.len()
}

/// A part of a line: the passage, some words before it, and what fits behind it. `…` stands for what is left out.
fn around(line: &str, passage: &Range<usize>, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let before = line.get(..passage.start).unwrap_or_default();
    let shown = match before.char_indices().rev().nth(BEFORE) {
        None => 0,
        // From the next word on.
        Some((cut, _)) => {
            let tail = before.get(cut..).unwrap_or_default();
            tail.find(char::is_whitespace).map_or(cut, |gap| cut + gap)
        }
    };
    let rest = line.get(shown..).unwrap_or_default().trim_start();
    let mut text = if shown == 0 { String::new() } else { "…".to_owned() };
    let room = most.saturating_sub(text.chars().count());
    match rest.char_indices().nth(room) {
        None => text.push_str(rest),
        Some(_) => {
            text.extend(rest.chars().take(room.saturating_sub(1)));
            text.push('…');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn diff(old: &str, new: &str) -> TextDiff {
        TextDiff::of(old, new, Instant::now() + Duration::from_secs(2))
    }

    #[test]
    fn the_changed_words_are_shown_and_not_the_start_of_their_line() {
        let old = "The quick brown fox jumps over the lazy dog and then sleeps. In stock: 23 pieces of it";
        let new = old.replace("23", "22");
        assert_eq!(excerpt(&diff(old, &new), None, 30).as_deref(), Some("…sleeps. In stock: 22 pieces …"));
        assert_eq!(excerpt(&diff(old, &new), None, 500).as_deref(), Some(&*new), "it fits");
        assert_eq!(excerpt(&diff("a b c d", "a b c d"), None, 30), None);
        assert_eq!(excerpt(&diff("one\ntwo", "one"), None, 30), None, "nothing came");
        let long = "word ".repeat(50);
        assert!(excerpt(&diff("", &long), None, 30).unwrap().starts_with("word word"));
    }

    #[test]
    fn a_text_that_goes_on_shows_the_words_that_came() {
        let change = diff("Entry 1\nFirst words", "Entry 1\nFirst words\nEntry 2\nSecond words");
        assert_eq!(excerpt(&change, None, 60).as_deref(), Some("Entry 2"));
    }

    #[test]
    fn what_lasted_is_shown_and_not_the_clock_beside_it() {
        let page = |clock: &str, advert: &str| format!("It is {clock}\nRead this: {advert}");
        let change = diff(&page("10:01", "bread"), &page("10:07", "boats"));
        assert_eq!(excerpt(&change, None, 60).as_deref(), Some("It is 10:07"));
        let later = page("10:19", "boats");
        assert_eq!(excerpt(&change, Some(&later), 60).as_deref(), Some("Read this: boats"));
        let lines: Vec<&str> = new_lines(&change, Some(&later)).iter().map(|line| &*line.text).collect();
        assert_eq!(lines, ["Read this: boats"]);
        let one_line =
            |clock: &str, advert: &str| format!("It is now {clock} here and do read this: {advert}");
        let change = diff(&one_line("10:01", "bread"), &one_line("10:07", "boats"));
        let shown = excerpt(&change, Some(&one_line("10:19", "boats")), 24).unwrap();
        assert!(shown.contains("boats") && !shown.contains("10:07"), "{shown}");
    }

    #[test]
    fn letters_of_any_width_are_cut_whole() {
        let (old, new) = ("é".repeat(40) + " один два", "é".repeat(40) + " один три");
        for most in 1..40 {
            let shown = excerpt(&diff(&old, &new), Some(&new), most).unwrap();
            assert!(shown.chars().count() <= most.max(2), "{shown}");
        }
    }
}
