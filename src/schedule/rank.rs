//! The one order of pages: by score, then by time since the last visit, then by id; and the best classes of pages in it.
//!
//! The live crawl ranks single pages ([`super::Candidates`]). A replay ranks classes: pages in one state whose last visit was
//! at the same time share a [`Rank`], and only their ids tell them apart. [`cut`] finds the best k pages of classes without
//! sorting all of them; [`lowest`] says which pages of those classes that tie at the end are among them.

use std::cmp::Ordering;

use crate::page::PageId;
use crate::policy::Score;
use crate::time::Timestamp;

/// The place of a page in the order, its id aside: the greater goes first. A higher score is greater; of equal scores, that
/// of the page that was left alone longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The bits of the score, changed so that they rise with it.
    score: u64,
    /// Rises with the time that the page waits.
    waits: u64,
}

/// The highest bit of a number of 64.
const SIGN: u64 = 1 << 63;

impl Rank {
    /// Of a page with that score whose last visit was at that time. A score is a [`Score`]'s value, or another number
    /// that is not rounded as these are, where only a replay knows it.
    pub fn new(score: f64, waits_since: Timestamp) -> Self {
        let bits = score.to_bits();
        let score = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Self { score, waits: !(waits_since.millis().cast_unsigned() ^ SIGN) }
    }

    /// The score that it was made of.
    pub fn score(self) -> Score {
        let bits = if self.score & SIGN == 0 { !self.score } else { self.score ^ SIGN };
        Score::new(f64::from_bits(bits))
    }

    /// As one number, which is compared without a branch.
    fn key(self) -> u128 {
        u128::from(self.score) << 64 | u128::from(self.waits)
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A page in the order; the greater goes first. Of pages with the same rank, that with the lower id, which is known longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankedPage {
    /// Its place but for the id.
    pub rank: Rank,
    /// Its id.
    pub page: PageId,
}

impl Ord for RankedPage {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| other.page.cmp(&self.page))
    }
}

impl PartialOrd for RankedPage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A class of pages with the same rank.
#[derive(Clone, Copy, Debug)]
pub struct RankedClass {
    /// The rank of each of its pages.
    pub rank: Rank,
    /// How many pages it has.
    pub size: u32,
    /// The number of the class, for the caller.
    pub class: u32,
}

/// Where the best pages end among classes that [`cut`] has put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// All pages of the classes before this place are among the best.
    pub whole: usize,
    /// Classes from `whole` up to this place have the same rank; of their pages, those with the lowest ids are.
    pub tied: usize,
    /// How many pages those are.
    pub room: usize,
}

/// Finds the best `budget` pages. Classes are moved so that better ones come first as far as that matters: those within
/// `whole`, and those after `tied`, are in no order.
///
/// This is quickselect, with classes that count for as many places as they have pages.
pub fn cut(classes: &mut [RankedClass], budget: usize) -> Cut {
    let (mut low, mut high, mut room) = (0, classes.len(), budget);
    while low < high {
        let at = |place: usize| classes.get(place).map(|class| class.rank);
        let mut three = [at(low), at(low + (high - low) / 2), at(high - 1)];
        three.sort_unstable();
        let Some(pivot) = three[1] else { break };
        // Better ones to the front, worse ones to the back.
        let (mut better, mut next, mut worse) = (low, low, high);
        let (mut better_pages, mut equal_pages) = (0, 0);
        while next < worse {
            let Some(here) = classes.get(next).copied() else { break };
            match here.rank.cmp(&pivot) {
                Ordering::Greater => {
                    better_pages += here.size as usize;
                    classes.swap(better, next);
                    (better, next) = (better + 1, next + 1);
                }
                Ordering::Equal => {
                    equal_pages += here.size as usize;
                    next += 1;
                }
                Ordering::Less => {
                    worse -= 1;
                    classes.swap(next, worse);
                }
            }
        }
        if better_pages > room {
            high = better;
        } else if better_pages == room {
            return Cut { whole: better, tied: better, room: 0 };
        } else if better_pages + equal_pages >= room {
            return Cut { whole: better, tied: worse, room: room - better_pages };
        } else {
            room -= better_pages + equal_pages;
            low = worse;
        }
    }
    Cut { whole: low, tied: low, room: 0 }
}

/// Of lists of pages in rising order: how many of each are among the `room` lowest of all. No page is in two lists.
pub fn lowest(lists: &[&[u32]], room: usize) -> Vec<usize> {
    let below = |page: u32| lists.iter().map(move |list| list.partition_point(|other| *other < page));
    // The least number that has as many before it.
    let (mut low, mut high) = (0_u32, u32::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle).sum::<usize>() < room { low = middle + 1 } else { high = middle }
    }
    below(low).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::HostId;
    use crate::schedule::Candidates;

    fn rank(score: f64, since: i64) -> Rank {
        Rank::new(score, Timestamp::from_millis(since))
    }

    #[test]
    fn higher_scores_go_first_then_pages_that_wait_longer_then_lower_ids() {
        let page =
            |score: f64, since: i64, page: i64| RankedPage { rank: rank(score, since), page: PageId(page) };
        let in_order = [
            page(1e300, 0, 9),
            page(2.0, -5, 9),
            page(2.0, 3, 1),
            page(2.0, 3, 2),
            page(0.0, 0, 0),
            page(-0.5, i64::MIN, 0),
            page(-0.5, i64::MAX, 0),
            page(-1e300, 0, 0),
        ];
        assert!(in_order.windows(2).all(|two| two[0] > two[1]));
        assert!(in_order.iter().all(|page| rank(page.rank.score().value(), 0).score() == page.rank.score()));
        assert_eq!(in_order.map(|page| page.rank.score().value())[5], -0.5);
    }

    #[test]
    fn the_lowest_pages_of_all_lists_are_counted() {
        assert_eq!(lowest(&[&[1, 5, 9], &[2, 3, 20]], 4), [2, 2]);
        assert_eq!(lowest(&[&[1, 5, 9], &[2, 3, 20]], 0), [0, 0]);
        assert_eq!(lowest(&[&[1, 5, 9]], 3), [3]);
    }

    proptest! {
        #[test]
        fn the_best_pages_of_classes_are_the_best_pages(
            pages in prop::collection::vec((-4i64..4, 0i64..4), 0..60), budget in 0usize..60
        ) {
            // Pages with the same score and age are a class; a class may also be in two parts.
            let mut members: std::collections::HashMap<(i64, i64, usize), Vec<u32>> = Default::default();
            let mut single = Candidates::default();
            for ((score, since), page) in pages.iter().zip(0_u32..) {
                members.entry((*score, *since, page as usize % 2)).or_default().push(page);
                let ranked = RankedPage { rank: rank(*score as f64, *since), page: PageId(page.into()) };
                single.push_ranked(ranked, HostId(0), false);
            }
            let members: Vec<_> = members.into_iter().collect();
            let mut classes: Vec<RankedClass> = (0_u32..)
                .zip(&members)
                .map(|(class, ((score, since, _), pages))| {
                    RankedClass { rank: rank(*score as f64, *since), size: pages.len() as u32, class }
                })
                .collect();
            let Cut { whole, tied, room } = cut(&mut classes, budget);
            let of = |class: &RankedClass| members[class.class as usize].1.as_slice();
            let mut best: Vec<u32> = classes[..whole].iter().flat_map(|class| of(class).to_vec()).collect();
            let ties: Vec<&[u32]> = classes[whole..tied].iter().map(of).collect();
            for (list, count) in ties.iter().zip(lowest(&ties, room)) {
                best.extend(&list[..count]);
            }
            best.sort_unstable();
            let plan = single.choose(budget, None, |_| usize::MAX);
            let mut expected: Vec<u32> = plan.visits.iter().map(|visit| visit.page.0 as u32).collect();
            expected.sort_unstable();
            prop_assert_eq!(best, expected);
        }
    }
}
