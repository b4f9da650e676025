//! Behaviour on small cases and on arbitrary texts.

use std::ops::Range;

use proptest::prelude::*;

use super::*;

/// Words that churned and that scrolled from one page to another, a line in each string.
fn moved(old: &[&str], new: &[&str]) -> (f64, f64) {
    let moves = Moves::between(&old.join("\n"), &new.join("\n"));
    (moves.churned(), moves.scrolled())
}

const TOP: &str = "a heading of the page";
const END: &str = "and a last line";

#[test]
fn what_stays_does_not_move() {
    let page = "one\ntwo\n\nthree";
    let moves = Moves::between(page, page);
    assert_eq!(moves, Moves::default());
    assert_eq!(moves.static_share(), 1.0);
    let all = BehaviourShares { static_share: 1.0, churn: 0.0, scroll: 0.0 };
    assert_eq!(classify(moves.static_share(), &moves), (Behaviour::Static, all));
    assert_eq!(moved(&["a b", "c d", "e f"], &["e f", "a b", "c d"]), (0.0, 0.0), "the same lines elsewhere");
    assert_eq!(moved(&[], &[]), (0.0, 0.0));
}

#[test]
fn a_paragraph_in_the_place_of_another_is_churn() {
    let (old, new) = ([TOP, "it was like this", END], [TOP, "now all is otherwise and longer", END]);
    assert_eq!(moved(&old, &new), (10.0, 0.0));
    let moves = Moves::of([old.join("\n").as_str(), &new.join("\n")]);
    // Six words of the fifteen of the page as it is now.
    assert_eq!((moves.updates(), moves.static_share()), (1, 1.0 - 6.0 / 15.0));
    assert_eq!(
        classify(0.5, &moves),
        (Behaviour::Churn, BehaviourShares { static_share: 0.5, churn: 0.5, scroll: 0.0 })
    );
    assert_eq!(moved(&[TOP, "seen by few so far", END], &[TOP, "seen by many so far", END]), (2.0, 0.0));
    assert_eq!(moved(&["all of", "it"], &["is", "other now"]), (6.0, 0.0), "everything");
}

#[test]
fn a_list_with_new_items_on_top_scrolls() {
    let old = [TOP, "item one", "item two", "item three", "item four", "item five", END];
    let one = [TOP, "item zero", "item one", "item two", "item three", "item four", END];
    let two = [TOP, "item new", "item zero", "item one", "item two", "item three", END];
    assert_eq!(moved(&old, &one), (0.0, 4.0));
    assert_eq!(moved(&old, &two), (0.0, 8.0));
    assert_eq!(moved(&two, &old), (0.0, 8.0), "or at the end");
    let moves = Moves::of([old.join("\n").as_str(), &one.join("\n"), &two.join("\n")]);
    assert_eq!((moves.updates(), moves.static_share()), (2, 1.0 - 10.0 / 19.0), "five items of two words");
    let (behaviour, shares) = classify(moves.static_share(), &moves);
    assert_eq!((behaviour, shares.churn), (Behaviour::Scroll, 0.0));
}

#[test]
fn a_list_is_known_again_when_all_of_it_turned_over() {
    let page = |items: Range<usize>| {
        let items: Vec<String> = items.rev().map(|item| format!("item {}", "x".repeat(item))).collect();
        format!("{TOP}\n{}\n{END}", items.join("\n"))
    };
    let pages = [page(1..5), page(2..6), page(9..13), page(20..24), page(23..27), page(30..34)];
    let moves = Moves::of(pages.iter().map(String::as_str));
    assert!(moves.churned() > moves.scrolled());
    assert_eq!(classify(moves.static_share(), &moves).0, Behaviour::Scroll);
    let never_seen_to = Moves::of([&pages[0], &pages[2], &pages[5]].map(String::as_str));
    assert_eq!(classify(never_seen_to.static_share(), &never_seen_to).0, Behaviour::Churn);
}

#[test]
fn what_comes_or_goes_alone_scrolls() {
    let (few, many) = ([TOP, "first", "second", END], [TOP, "a new one", "first", "second", END]);
    assert_eq!(moved(&few, &many), (0.0, 3.0));
    assert_eq!(moved(&many, &few), (0.0, 3.0));
    assert_eq!(moved(&few[..3], &[TOP, "first", "second", "third of all"]), (0.0, 3.0));
    assert_eq!(moved(&[], &few), (0.0, 11.0));
}

#[test]
fn a_list_below_a_text_that_is_replaced_still_scrolls() {
    let old = [TOP, "this is the news of today", "item a", "item b", "item c", END];
    let new = [TOP, "other news came in since then", "item z", "item a", "item b", END];
    let (churned, scrolled) = moved(&old, &new);
    assert_eq!((churned, scrolled), (12.0, 4.0));
}

#[test]
fn numbers_that_change_do_not_hide_what_stayed() {
    let old = ["1. apples", "2. pears", "3. plums", "seen 10 times"];
    let new = ["1. cherries", "2. apples", "3. pears", "seen 12 times"];
    // Cherries come and plums go, two words each; two ranks and a count changed.
    assert_eq!(moved(&old, &new), (6.0, 4.0));
    let log = ["12:03 in", "12:02 in", "12:01 in", "12:00 in"];
    assert_eq!(moved(&log[1..], &log[..3]), (0.0, 4.0), "lines that differ in nothing but numbers");
}

#[test]
fn a_slow_region_beside_a_fast_one_is_still_churn() {
    let page =
        |slow: &str, fast: &str| format!("{TOP}\n{slow} {slow} {slow}\nbetween\n{fast} {fast} {fast}\n{END}");
    let pages: Vec<String> = ["a", "b", "c", "d", "e", "f"]
        .iter()
        .enumerate()
        .map(|(at, fast)| page(if at < 3 { "before" } else { "after" }, fast))
        .collect();
    let moves = Moves::of(pages.iter().map(String::as_str));
    assert_eq!(moves.scrolled(), 0.0);
    assert_eq!(
        moves.static_share(),
        1.0 - 6.0 / 16.0,
        "each counts with what it shows, not with how often it moves"
    );
}

/// The nearest counterpart by looking through all that waits, the plain way.
fn nearest(waiting: &[(usize, bool, bool)], came: bool, is_pure: bool) -> Option<usize> {
    waiting.iter().rposition(|(_, other_came, other_pure)| *other_came != came && (*other_pure || is_pure))
}

proptest! {
    #[test]
    fn the_nearest_counterpart_is_found_without_a_search(kinds in prop::collection::vec(any::<(bool, bool)>(), 0..40)) {
        let (mut waiting, mut plain) = (WaitingSurplus::default(), Vec::new());
        for (hunk, (came, is_pure)) in kinds.into_iter().enumerate() {
            let surplus = Surplus { hunk, came, is_pure, words: 1.0 };
            let expected = nearest(&plain, came, is_pure).map(|place| plain.remove(place).0);
            prop_assert_eq!(waiting.take_counterpart(&surplus).map(|other| other.hunk), expected);
            if expected.is_none() {
                waiting.push(surplus);
                plain.push((hunk, came, is_pure));
            }
        }
    }

    #[test]
    fn any_two_texts_are_compared(old in "[a-c1é \n]{0,60}", new in "[a-c1é \n]{0,60}") {
        check(&old, &new);
    }

    #[test]
    fn any_two_texts_at_all_are_compared(old in any::<String>(), new in any::<String>()) {
        check(&old, &new);
    }

    #[test]
    fn however_long_the_history_its_memory_stays(pages in proptest::collection::vec("[a-e\n]{0,20}", 0..40)) {
        let moves = Moves::of(pages.iter().map(String::as_str));
        prop_assert!(moves.regions.len() <= MOST_REGIONS);
        let each: f64 = pages.windows(2).map(|pair| Moves::between(&pair[0], &pair[1]).moved()).sum();
        prop_assert!((moves.moved() - each).abs() < 1e-6, "no word is lost");
        let (_, shares) = classify(moves.static_share(), &moves);
        prop_assert!((shares.static_share + shares.churn + shares.scroll - 1.0).abs() < 1e-9);
    }
}

fn check(old: &str, new: &str) {
    let moves = Moves::between(old, new);
    let words = (old.split_whitespace().count() + new.split_whitespace().count()) as f64;
    assert!(moves.moved() <= words + 1e-9, "no more moved than there was");
    assert!(moves.churned() >= 0.0 && moves.scrolled() >= 0.0);
    assert!((0.0..=1.0).contains(&moves.static_share()));
    let kept = align(&lines(old), &lines(new));
    assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1), "in order");
}

#[test]
fn a_long_page_of_lines_all_alike_takes_no_longer() {
    let alike = |lines: usize| "the same again\n".repeat(lines);
    let swapped: String = (0..20_000).map(|line| format!("line {}\n", line ^ 1)).collect();
    let plain: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    assert_eq!(Moves::between(&alike(20_000), &alike(19_990)).scrolled(), 30.0);
    assert_eq!(Moves::between(&plain, &swapped).updates(), 0);
    assert!(Moves::between(&plain, &alike(20_000)).churned() > 0.0);
}
