//! Links that appear on a page that is visited again, or move up there: what a hub tells about the pages it links to.
//!
//! Links are compared by their fingerprints alone, in the order in which they stand on the page. A page that was rebuilt, or whose links
//! are shuffled at each request, tells nothing.

use std::collections::{HashMap, HashSet};

/// Pages that one visit of a hub tells about, at most: the first on the page.
const MOST_TOLD: usize = 20;
/// If more links than this are new, and more than half of all, then the page was rebuilt.
const MANY_NEW: usize = 10;
/// Links are followed as far down a page as this: what moves below it does not matter to a reader.
const HEAD: usize = 64;
/// A link that overtook this many others was moved.
const OVERTAKEN: usize = 5;
/// If more than one link in this many was moved, the links were shuffled.
const MOVED_SHARE: usize = 8;

/// The links that this page tells about: new ones, and those that were moved up, in the order of the page. `in_order`: the links of before
/// are in the order of the page too; else nothing is known of how they moved.
pub fn told(before: &[u64], in_order: bool, now: &[u64]) -> Vec<u64> {
    let known: HashSet<u64> = before.iter().copied().collect();
    let new: HashSet<u64> = now.iter().copied().filter(|link| !known.contains(link)).collect();
    if before.is_empty() || new.len() > MANY_NEW && new.len() * 2 > now.len() {
        return Vec::new();
    }
    let risen = if in_order { risen(before, now) } else { HashSet::new() };
    let told = now.iter().copied().filter(|link| new.contains(link) || risen.contains(link));
    told.take(MOST_TOLD).collect()
}

/// The links that overtook others.
fn risen(before: &[u64], now: &[u64]) -> HashSet<u64> {
    let places: HashMap<u64, usize> = before.iter().copied().zip(0..).collect();
    // The places of before, in the order of now.
    let head: Vec<(u64, usize)> =
        now.iter().take(HEAD).filter_map(|link| Some((*link, *places.get(link)?))).collect();
    let overtaken =
        |at: usize, place: usize| head.iter().skip(at + 1).filter(|(_, other)| *other < place).count();
    let moved = head.iter().enumerate().filter(|(at, (_, place))| overtaken(*at, *place) >= OVERTAKEN);
    let moved: HashSet<u64> = moved.map(|(_, (link, _))| *link).collect();
    if moved.len() > (head.len() / MOVED_SHARE).max(1) { HashSet::new() } else { moved }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page() -> Vec<u64> {
        (1..=40).collect()
    }

    #[test]
    fn a_link_that_appears_is_told() {
        let mut now = page();
        now.insert(0, 99);
        assert_eq!(told(&page(), true, &now), [99]);
        assert_eq!(told(&page(), false, &now), [99]);
        assert!(told(&page(), true, &page()).is_empty());
        assert!(told(&[], true, &page()).is_empty(), "there is nothing to compare with");
    }

    #[test]
    fn a_link_that_moves_up_is_told_and_those_it_passes_are_not() {
        let mut now = page();
        let link = now.remove(20);
        now.insert(0, link);
        assert_eq!(told(&page(), true, &now), [link]);
        assert!(told(&page(), false, &now).is_empty(), "the order of before is not known");
        let mut lower = page();
        let link = lower.remove(0);
        lower.insert(30, link);
        assert!(told(&page(), true, &lower).is_empty(), "one moved down, none up");
        let mut little = page();
        little.swap(3, 5);
        assert!(told(&page(), true, &little).is_empty(), "neighbours change places all the time");
    }

    #[test]
    fn links_that_fall_off_the_end_move_no_other() {
        let now: Vec<u64> = std::iter::once(99).chain(page().into_iter().take(30)).collect();
        assert_eq!(told(&page(), true, &now), [99]);
    }

    #[test]
    fn a_page_that_was_rebuilt_or_shuffled_tells_nothing() {
        let rebuilt: Vec<u64> = (1..=10).chain(100..120).collect();
        assert!(told(&page(), true, &rebuilt).is_empty());
        let backwards: Vec<u64> = page().into_iter().rev().collect();
        assert!(told(&page(), true, &backwards).is_empty());
    }

    proptest! {
        #[test]
        fn only_links_of_the_page_are_told_and_not_many(
            before in prop::collection::vec(0_u64..50, 0..60),
            now in prop::collection::vec(0_u64..50, 0..60),
        ) {
            let told = told(&before, true, &now);
            prop_assert!(told.len() <= MOST_TOLD && told.iter().all(|link| now.contains(link)));
        }
    }
}
