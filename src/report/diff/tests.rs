use std::time::{Duration, Instant};

use super::*;
use proptest::prelude::*;

const OLD: &str = "Title\nThe quick brown fox jumps.\nsame one\nsame two\nsame three\nsame four\nlast line\n";
const NEW: &str =
    "Title\nThe quick red fox jumps.\nsame one\nsame two\nsame three\nsame four\nlast line\nmore\n";

fn compared(old: &str, new: &str) -> TextDiff {
    within(old, new, Duration::from_secs(2))
}

fn within(old: &str, new: &str, limit: Duration) -> TextDiff {
    TextDiff::of(old, new, Instant::now() + limit)
}

#[test]
fn the_same_text_has_no_diff() {
    for text in ["", "one", "one\ntwo\n"] {
        let diff = compared(text, text);
        assert!(diff.is_empty());
        assert_eq!(unified(&diff, "a", "b", 3) + &plain(&diff, 80, 3) + &coloured(&diff, 80, 3), "");
        assert!(diff.replaced().is_empty());
        assert_eq!((diff.words_added(), diff.words_removed()), (0, 0));
    }
}

#[test]
fn a_unified_diff_by_hand() {
    let expected = "\
--- old
+++ new
@@ -1,3 +1,3 @@
 Title
-The quick brown fox jumps.
+The quick red fox jumps.
 same one
@@ -7 +7,2 @@
 last line
+more
";
    assert_eq!(unified(&compared(OLD, NEW), "old", "new", 1), expected);
    assert_eq!(
        unified(&compared("", "a"), "old", "ne\nw", 3),
        "--- old\n+++ ne␊w\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"
    );
    assert_eq!(unified(&compared("a\nb\n", "b\n"), "x", "y", 0), "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn words_that_changed_are_marked_and_counted() {
    let diff = compared(OLD, NEW);
    let expected = "  Title
- The quick [-brown-] fox jumps.
+ The quick {+red+} fox jumps.
  same one
  … 3 lines the same …
  last line
+ {+more+}
";
    assert_eq!(plain(&diff, 80, 1), expected);
    assert_eq!((diff.words_removed(), diff.words_added()), (1, 2));
    let coloured = coloured(&diff, 80, 0);
    assert!(coloured.contains("\u{1b}[31mbrown\u{1b}[0m"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[32mred\u{1b}[0m"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[2mThe quick \u{1b}[0m"), "{coloured:?}");
}

#[test]
fn a_text_that_was_rewritten_is_not_torn_into_words() {
    let diff = compared("Apples grow on tall trees, they say.\n", "My uncle has a boat, red and small.\n");
    let expected = "- [-Apples grow on tall trees, they say.-]\n+ {+My uncle has a boat, red and small.+}\n";
    assert_eq!(plain(&diff, 80, 0), expected);
    assert_eq!((diff.words_removed(), diff.words_added()), (7, 8));
}

#[test]
fn long_lines_are_shortened_around_the_change() {
    let many = "word ".repeat(400);
    let diff = compared(&format!("{many}old {many}\n"), &format!("{many}new {many}\n"));
    let shown = plain(&diff, 60, 0);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("[-old-]") && lines[1].contains("{+new+}"), "{shown}");
    assert!(lines.iter().all(|line| line.starts_with(['-', '+']) && line.chars().count() == 60), "{shown}");
    assert!(lines[0].starts_with("- …") && lines[0].ends_with('…'), "{shown}");
}

#[test]
fn blanks_alone_are_no_words() {
    let diff = compared("one two\n", "one  two\n");
    assert!(!diff.is_empty());
    assert_eq!((diff.words_removed(), diff.words_added()), (0, 0));
    assert_eq!(plain(&diff, 80, 0), "- one two\n+ one  two\n");
}

#[test]
fn a_text_made_to_be_slow_is_compared_all_the_same() {
    // No word stands where it stood, and each is there many times.
    let text = |step: usize| -> String { (0..60_000).map(|at| format!("w{} ", at * step % 997)).collect() };
    let (old, new) = (text(7), text(11));
    for limit in [Duration::ZERO, Duration::from_millis(50)] {
        let diff = within(&old, &new, limit);
        assert!(!diff.is_empty() && diff.words_added() > 0);
        assert!(plain(&diff, 80, 3).lines().all(|line| line.chars().count() <= 80));
    }
    let lines = |text: &str| text.replace(' ', "\n");
    let diff = within(&lines(&old), &lines(&new), Duration::ZERO);
    assert_eq!(applied(&lines(&old), &unified(&diff, "a", "b", 3)), lines(&new));
}

/// The text that `patch` would make: hunks are taken from where they say they are, and must fit.
fn applied(old: &str, unified: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut taken = 0;
    let mut lines = unified.split_inclusive('\n').skip(2).peekable();
    while let Some(head) = lines.next() {
        let (start, _) = head.strip_prefix("@@ -").and_then(|rest| rest.split_once(' ')).expect("a hunk");
        let (start, many) = start.split_once(',').unwrap_or((start, "1"));
        let (start, many): (usize, usize) = (start.parse().unwrap(), many.parse().unwrap());
        let start = if many == 0 { start } else { start - 1 };
        new.extend(old[taken..start].iter().copied());
        taken = start;
        while let Some(line) = lines.next_if(|line| !line.starts_with("@@")) {
            let (sign, mut text) = line.split_at(1);
            if lines.next_if(|line| line.starts_with('\\')).is_some() {
                text = text.strip_suffix('\n').expect("a newline of the diff's own");
            }
            if sign != "+" {
                assert_eq!(old[taken], text);
                taken += 1;
            }
            if sign != "-" {
                new.push_str(text);
            }
        }
        assert_eq!(taken, start + many);
    }
    new.extend(old[taken..].iter().copied());
    new
}

/// Few letters and many newlines, so that texts share lines; and letters that make trouble.
fn text() -> impl Strategy<Value = String> {
    let letters =
        proptest::sample::select(vec!["a", "b ", "\n", "\n", "c", "\r", "\u{1b}[2J", "é", "漢", "@@ -1"]);
    let made = proptest::collection::vec(letters, 0..40).prop_map(|parts| parts.concat());
    prop_oneof![made, any::<String>()]
}

proptest! {
    #[test]
    fn a_unified_diff_leads_from_the_old_to_the_new(old in text(), new in text(), context in 0_usize..4) {
        let diff = compared(&old, &new);
        prop_assert_eq!(diff.is_empty(), old == new);
        if old != new {
            prop_assert_eq!(applied(&old, &unified(&diff, "old", "new", context)), new);
        }
    }

    #[test]
    fn whatever_is_shown_is_harmless_and_fits(
        old in text(), new in text(), width in 0_usize..120, context in any::<usize>(),
    ) {
        let diff = compared(&old, &new);
        let plain = plain(&diff, width, context);
        let stripped = ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[2m", "\u{1b}[0m"]
            .iter()
            .fold(coloured(&diff, width, context), |text, code| text.replace(code, ""));
        for line in plain.lines().chain(stripped.lines()) {
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
            let columns: usize =
                line.chars().map(|letter| unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0)).sum();
            prop_assert!(columns <= width.max(30), "{:?}", line);
        }
        let _ = diff.replaced();
    }
}
