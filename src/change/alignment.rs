//! Lines of two versions of a text, and which of them stayed.
//!
//! What must stay true: time is that of sorting the lines, whatever they say; the same texts always align the
//! same way.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::segment::count_words;

/// A block of a page.
pub(crate) struct TextLine<'a> {
    pub text: &'a str,
    pub exact: u64,
    /// Without digits, so that `1. Title` and `5 minutes ago` are known again when their numbers changed.
    pub loose: u64,
    pub words: usize,
}

/// The blocks of a text, blank ones left out.
pub(super) fn lines(text: &str) -> Vec<TextLine<'_>> {
    let mut letters = Vec::new();
    let mut lines = Vec::new();
    for text in text.split('\n').map(str::trim).filter(|text| !text.is_empty()) {
        let exact = xxh3_64(text.as_bytes());
        letters.clear();
        let (is_loose, words) = if text.is_ascii() {
            read_ascii(text.as_bytes(), &mut letters)
        } else {
            read(text, &mut letters)
        };
        let loose = if is_loose { xxh3_64(&letters) } else { exact };
        lines.push(TextLine { text, exact, loose, words });
    }
    lines
}

/// Leaves what is no digit in `letters`, and says whether a line has both digits and letters, and how many words.
fn read(text: &str, letters: &mut Vec<u8>) -> (bool, usize) {
    let is_loose = text.contains(char::is_numeric) && text.contains(char::is_alphabetic);
    if is_loose {
        for part in text.split(char::is_numeric) {
            letters.extend_from_slice(part.as_bytes());
        }
    }
    (is_loose, count_words(text))
}

/// As [`read`], in one go without branches that can't be predicted; most lines of most pages are ASCII.
fn read_ascii(text: &[u8], letters: &mut Vec<u8>) -> (bool, usize) {
    letters.resize(text.len(), 0);
    let (mut kept, mut words) = (0, 0);
    let (mut has_letters, mut after_blank) = (false, true);
    for byte in text {
        letters[kept] = *byte;
        kept += usize::from(!byte.is_ascii_digit());
        has_letters |= byte.is_ascii_alphabetic();
        // As Unicode has it: the vertical tab is a blank, too.
        let blank = matches!(byte, b' ' | b'\t'..=b'\r');
        words += usize::from(after_blank & !blank);
        after_blank = blank;
    }
    letters.truncate(kept);
    (has_letters && kept < text.len(), words)
}

/// Pairs of lines that stayed, in order on both sides: first those that are the same, then between them those
/// that are but for their digits.
pub(super) fn align(old: &[TextLine<'_>], new: &[TextLine<'_>]) -> Vec<(usize, usize)> {
    let exact = |lines: &[TextLine<'_>]| lines.iter().map(|line| line.exact).collect::<Vec<_>>();
    let (old_exact, new_exact) = (exact(old), exact(new));
    let whole = [(0..old.len(), 0..new.len())];
    let mut kept = stayed(&old_exact, &new_exact, &whole);
    let gaps: Vec<_> = gaps(&kept, old.len(), new.len())
        .filter(|(left, right)| !left.is_empty() && !right.is_empty())
        .collect();
    if gaps.is_empty() {
        return kept;
    }
    // A line that the other side has as it is only moved: no other stands for it.
    let loose = |lines: &[TextLine<'_>], other: &[u64]| {
        let other: HashSet<u64> = other.iter().copied().collect();
        let hash = |line: &TextLine<'_>| if other.contains(&line.exact) { line.exact } else { line.loose };
        lines.iter().map(hash).collect::<Vec<_>>()
    };
    kept.extend(stayed(&loose(old, &new_exact), &loose(new, &old_exact), &gaps));
    kept.sort_unstable();
    kept
}

/// The most times that boxes are cut smaller: each time is linear, and pages need two or three.
const MOST_CUTS: usize = 12;

/// Lines that stayed within each pair of ranges: those that begin and end it on both sides, then those that
/// each side has exactly once, as far as their order is the same, then again between these (the idea of Bram
/// Cohen's patience diff).
fn stayed(old: &[u64], new: &[u64], boxes: &[(Range<usize>, Range<usize>)]) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    let mut boxes = boxes.to_vec();
    for _ in 0..MOST_CUTS {
        let mut smaller = Vec::new();
        for (mut left, mut right) in boxes {
            while !left.is_empty() && !right.is_empty() && old.get(left.start) == new.get(right.start) {
                kept.push((left.start, right.start));
                left.start += 1;
                right.start += 1;
            }
            while !left.is_empty() && !right.is_empty() && old.get(left.end - 1) == new.get(right.end - 1) {
                left.end -= 1;
                right.end -= 1;
                kept.push((left.end, right.end));
            }
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let anchors = in_order(&once_in_both(old, new, &left, &right));
            if anchors.is_empty() {
                continue;
            }
            let (mut from_left, mut from_right) = (left.start, right.start);
            for (at_left, at_right) in anchors.iter().copied().chain([(left.end, right.end)]) {
                smaller.push((from_left..at_left, from_right..at_right));
                (from_left, from_right) = (at_left + 1, at_right + 1);
            }
            kept.extend(anchors);
        }
        if smaller.is_empty() {
            break;
        }
        boxes = smaller;
    }
    kept.sort_unstable();
    kept
}

/// Pairs of lines that occur once in each of two ranges, by the place on the left.
fn once_in_both(old: &[u64], new: &[u64], left: &Range<usize>, right: &Range<usize>) -> Vec<(usize, usize)> {
    /// How often a line occurs on either side, and where it was seen last.
    #[derive(Default)]
    struct Seen {
        left: (u32, usize),
        right: (u32, usize),
    }
    let mut seen: HashMap<u64, Seen> = HashMap::with_capacity(left.len());
    for (at, hash) in left.clone().zip(old.iter().skip(left.start)) {
        let left = &mut seen.entry(*hash).or_default().left;
        *left = (left.0.saturating_add(1), at);
    }
    for (at, hash) in right.clone().zip(new.iter().skip(right.start)) {
        if let Some(seen) = seen.get_mut(hash) {
            seen.right = (seen.right.0.saturating_add(1), at);
        }
    }
    let once = seen.into_values().filter(|seen| seen.left.0 == 1 && seen.right.0 == 1);
    let mut pairs: Vec<_> = once.map(|seen| (seen.left.1, seen.right.1)).collect();
    pairs.sort_unstable();
    pairs
}

/// The longest run of pairs, not necessarily next to each other, that rise on the right as on the left.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best run of each length, and for each pair the one before it in its run.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let right = |place: usize| pairs.get(place).map_or(0, |pair| pair.1);
    for (place, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| right(*end) < pair.1);
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(place) = next {
        run.extend(pairs.get(place));
        next = before.get(place).copied().flatten();
    }
    run.reverse();
    run
}

/// The lines between the pairs that stayed, on either side; both may be empty.
pub(super) fn gaps(
    kept: &[(usize, usize)],
    old: usize,
    new: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let starts = [(0, 0)].into_iter().chain(kept.iter().map(|(left, right)| (left + 1, right + 1)));
    let ends = kept.iter().copied().chain([(old, new)]);
    starts.zip(ends).map(|(start, end)| (start.0..end.0, start.1..end.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ascii_is_read_as_every_other_text(text in "[a-cA1-3 ._\\t\\x0b\\x1f]{0,40}") {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            let (found, expected) = (read_ascii(text.as_bytes(), &mut one), read(&text, &mut other));
            prop_assert_eq!(found, expected);
            prop_assert!(!found.0 || one == other);
        }
    }
}
