//! When fragments came and went over a page's history, and what that says of it.
//!
//! Comes in: a page's snapshots in order of time, each as its sorted distinct fragments. Goes out: lives,
//! that is groups of fragments that came at the same snapshot and went at the same one, and what follows from
//! them: longevity, the frequency of updates, and how many updates a fragment survives (Olston & Pandey 2008,
//! §3.2 and §3.3). What must stay true: each fragment of each snapshot belongs to exactly one life; one that
//! goes and comes back has two.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Timestamp;

/// A group of fragments that came together and went together. Snapshots are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FragmentLife {
    /// The first snapshot that shows them; `None` if that is the first of all, so that their birth was not seen.
    pub born: Option<usize>,
    /// The first snapshot without them; `None` if they are still there.
    pub died: Option<usize>,
    pub fragments: usize,
}

/// A life that was seen from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WholeLife {
    pub life: FragmentLife,
    /// The fragments went at the Kth update after they came: 1 is the very next.
    pub updates: usize,
    /// Its length: birth and death are each taken to be halfway between the two snapshots around them.
    pub seconds: f64,
}

/// The lives of a page's fragments, snapshot by snapshot.
///
/// Memory follows the fragments of the latest snapshot and the number of lives, not the size of the history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifetimes {
    times: Vec<Timestamp>,
    /// Fragments of each snapshot.
    sizes: Vec<usize>,
    /// How many updates there were up to each snapshot, itself included.
    updates: Vec<usize>,
    /// Lives that ended, in the order in which they did.
    ended: Vec<FragmentLife>,
    /// The fragments of the latest snapshot, sorted, each with its birth.
    living: Vec<(u64, Option<usize>)>,
}

impl FragmentLife {
    /// Whether it was there at every snapshot.
    pub(crate) fn is_static(&self) -> bool {
        self.born.is_none() && self.died.is_none()
    }
}

impl Lifetimes {
    /// Adds the next snapshot, in time linear in its size and that of the one before. Fragments that are not
    /// sorted are sorted first; a time before that of the last snapshot is taken to be the same.
    pub(crate) fn see(&mut self, at: Timestamp, fragments: &[u64]) {
        let fragments = sorted(fragments);
        let here = self.times.len();
        let at = self.times.last().map_or(at, |last| at.max(*last));
        let born = (here > 0).then_some(here);
        let mut living = Vec::with_capacity(fragments.len());
        let mut went: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        let (mut old, mut new) = (self.living.iter().peekable(), fragments.iter().peekable());
        let mut differs = false;
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some((before, _)), Some(now)) => before.cmp(now),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            match order {
                Ordering::Less => {
                    differs = true;
                    if let Some((_, born)) = old.next() {
                        *went.entry(*born).or_default() += 1;
                    }
                }
                Ordering::Greater => {
                    differs = true;
                    living.extend(new.next().map(|fragment| (*fragment, born)));
                }
                Ordering::Equal => {
                    new.next();
                    living.extend(old.next().copied());
                }
            }
        }
        self.ended.extend(went.into_iter().map(|(born, fragments)| FragmentLife {
            born,
            died: Some(here),
            fragments,
        }));
        let updates = self.updates.last().copied().unwrap_or(0) + usize::from(differs && here > 0);
        self.updates.push(updates);
        self.times.push(at);
        self.sizes.push(living.len());
        self.living = living;
    }

    /// All lives: by birth, the oldest first, then by death, those that still last behind.
    pub(crate) fn lives(&self) -> Vec<FragmentLife> {
        let mut lasting: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for (_, born) in &self.living {
            *lasting.entry(*born).or_default() += 1;
        }
        let lasting =
            lasting.into_iter().map(|(born, fragments)| FragmentLife { born, died: None, fragments });
        let mut lives: Vec<FragmentLife> = self.ended.iter().copied().chain(lasting).collect();
        lives.sort_by_key(|life| (life.born, life.died.unwrap_or(usize::MAX)));
        lives
    }

    /// When the snapshots were taken.
    pub(crate) fn times(&self) -> &[Timestamp] {
        &self.times
    }

    /// How many snapshots differ from the one before.
    pub(crate) fn updates(&self) -> usize {
        self.updates.last().copied().unwrap_or(0)
    }

    /// How long a fragment lives on average; `None` if none was seen from its beginning to its end.
    ///
    /// Lives that are cut off by either end of the history are left out (Olston & Pandey 2008, §3.2). A birth
    /// or death is put halfway between the two snapshots that it fell between: with even gaps that makes a
    /// life as long as the time from the first sight to the first sight without. Two biases remain. Lives
    /// shorter than a gap are mostly never seen, which makes the mean too long; lives about as long as the
    /// history are mostly cut off, which makes it too short.
    pub(crate) fn longevity(&self) -> Option<Duration> {
        let (mut lived, mut fragments) = (0.0, 0.0);
        for life in self.whole() {
            let weight = life.life.fragments as f64;
            lived += weight * life.seconds;
            fragments += weight;
        }
        (fragments > 0.0).then(|| Duration::try_from_secs_f64(lived / fragments).unwrap_or_default())
    }

    /// The lives that were seen from their beginning to their end, in the order in which they ended.
    pub(crate) fn whole(&self) -> impl Iterator<Item = WholeLife> + '_ {
        let updates = |index: usize| self.updates.get(index).copied().unwrap_or(0);
        self.ended.iter().filter_map(move |life| {
            let (born, died) = (life.born?, life.died?);
            Some(WholeLife {
                life: *life,
                updates: updates(died) - updates(born),
                seconds: self.halfway_to(died) - self.halfway_to(born),
            })
        })
    }

    /// The middle of the gap before a snapshot, in seconds since the first.
    fn halfway_to(&self, snapshot: usize) -> f64 {
        let seconds = |index: usize| match (self.times.first(), self.times.get(index)) {
            (Some(first), Some(at)) => at.since(*first).seconds(),
            _ => 0.0,
        };
        0.5 * (seconds(snapshot.saturating_sub(1)) + seconds(snapshot))
    }

    /// How often the page changes: updates a day, from the first snapshot to the last; `None` where no time
    /// passed. Several changes between two snapshots are one update, so this is a lower bound.
    pub(crate) fn change_frequency(&self) -> Option<f64> {
        let (first, last) = (self.times.first()?, self.times.last()?);
        let days = last.since(*first).seconds() / SECONDS_PER_DAY;
        (days > 0.0).then(|| self.updates() as f64 / days)
    }

    /// How many fragments were replaced at the Kth update after they came, for each K: 1 is the very next.
    /// Only lives that were seen whole count (Olston & Pandey 2008, §3.3: churn has K = 1, scroll a larger
    /// one).
    pub(crate) fn survived(&self) -> BTreeMap<usize, usize> {
        let mut survived = BTreeMap::new();
        for life in self.whole() {
            *survived.entry(life.updates).or_default() += life.life.fragments;
        }
        survived
    }

    /// The K of most fragments, the smaller one of two; `None` if no life was seen whole.
    pub(crate) fn dominant_k(&self) -> Option<usize> {
        let survived = self.survived();
        let most = survived.values().copied().max()?;
        survived.into_iter().find(|(_, fragments)| *fragments == most).map(|(k, _)| k)
    }

    /// The share of a page's fragments that were there at every snapshot, in [0, 1]: of the mean version, a
    /// visit that found nothing new being no version. A page without fragments, or never seen, is all static.
    pub(crate) fn static_share(&self) -> f64 {
        let fixed = self.living.iter().filter(|(_, born)| born.is_none()).count();
        let (mut versions, mut fragments) = (0, 0);
        for (index, size) in self.sizes.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| self.updates.get(before));
            if before != self.updates.get(index) {
                versions += 1;
                fragments += size;
            }
        }
        if fragments == 0 { 1.0 } else { fixed as f64 * versions as f64 / fragments as f64 }
    }

    /// All fragments' lives, by how much of them was seen.
    pub(crate) fn counts(&self) -> LifeCounts {
        let mut counts = LifeCounts::default();
        for life in self.lives() {
            *match (life.born, life.died) {
                (None, None) => &mut counts.always,
                (None, Some(_)) => &mut counts.went,
                (Some(_), None) => &mut counts.came,
                (Some(_), Some(_)) => &mut counts.whole,
            } += life.fragments;
        }
        counts
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Fragments by how much of their lives a history shows; one with two lives counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct LifeCounts {
    /// There at every snapshot.
    pub always: usize,
    /// There at first, and seen to go.
    pub went: usize,
    /// Seen to come, and still there.
    pub came: usize,
    /// Seen to come and to go.
    pub whole: usize,
}

fn sorted(fragments: &[u64]) -> Cow<'_, [u64]> {
    if fragments.is_sorted_by(|a, b| a < b) {
        return Cow::Borrowed(fragments);
    }
    let mut fragments = fragments.to_vec();
    fragments.sort_unstable();
    fragments.dedup();
    Cow::Owned(fragments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a page showed at a moment.
    #[derive(Clone, Debug)]
    struct Shown {
        at: Timestamp,
        fragments: Vec<u64>,
    }

    /// The lives in a whole history.
    fn lives_of(snapshots: &[Shown]) -> Lifetimes {
        let mut lives = Lifetimes::default();
        for snapshot in snapshots {
            lives.see(snapshot.at, &snapshot.fragments);
        }
        lives
    }

    /// Snapshots a day apart.
    fn history(pages: &[&[u64]]) -> Lifetimes {
        let mut lives = Lifetimes::default();
        for (day, page) in pages.iter().enumerate() {
            lives.see(Timestamp::from_seconds(day as i64 * 86_400), page);
        }
        lives
    }

    fn life(born: Option<usize>, died: Option<usize>, fragments: usize) -> FragmentLife {
        FragmentLife { born, died, fragments }
    }

    fn days(days: f64) -> Option<Duration> {
        Some(Duration::from_secs_f64(days * 86_400.0))
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let lives = history(&[]);
        assert_eq!((lives.lives(), lives.updates(), lives.static_share()), (vec![], 0, 1.0));
        assert_eq!((lives.longevity(), lives.change_frequency(), lives.dominant_k()), (None, None, None));
        let once = history(&[&[1, 2]]);
        assert_eq!(once.lives(), [life(None, None, 2)]);
        assert_eq!((once.change_frequency(), once.static_share()), (None, 1.0));
    }

    #[test]
    fn churn_is_replaced_by_the_next_update() {
        // Two fragments stay, two are replaced at each of the snapshots 1, 3 and 4.
        let page: [&[u64]; 5] =
            [&[1, 2, 10, 11], &[1, 2, 20, 21], &[1, 2, 20, 21], &[1, 2, 30, 31], &[1, 2, 40, 41]];
        let lives = history(&page);
        assert_eq!(
            lives.lives(),
            [
                life(None, Some(1), 2),
                life(None, None, 2),
                life(Some(1), Some(3), 2),
                life(Some(3), Some(4), 2),
                life(Some(4), None, 2)
            ]
        );
        assert_eq!(lives.updates(), 3);
        assert_eq!(lives.change_frequency(), Some(0.75));
        assert_eq!(lives.survived(), BTreeMap::from([(1, 4)]));
        assert_eq!(lives.dominant_k(), Some(1));
        assert_eq!(lives.longevity(), days(1.5));
        assert_eq!(lives.static_share(), 0.5);
        assert_eq!(lives.counts(), LifeCounts { always: 2, went: 2, came: 2, whole: 4 });
    }

    #[test]
    fn scroll_survives_as_many_updates_as_the_list_has_items() {
        let lives = history(&[&[1, 2, 3], &[2, 3, 4], &[3, 4, 5], &[4, 5, 6], &[5, 6, 7], &[6, 7, 8]]);
        assert_eq!(lives.survived(), BTreeMap::from([(3, 2)]), "4 and 5 were seen to come and to go");
        assert_eq!((lives.dominant_k(), lives.longevity(), lives.static_share()), (Some(3), days(3.0), 0.0));
    }

    #[test]
    fn of_two_ks_with_as_many_fragments_the_smaller_is_dominant() {
        let lives = history(&[&[], &[1], &[2, 3], &[3], &[]]);
        assert_eq!(lives.survived(), BTreeMap::from([(1, 2), (2, 1)]));
        let lives = history(&[&[], &[1, 2], &[2], &[]]);
        assert_eq!((lives.survived(), lives.dominant_k()), (BTreeMap::from([(1, 1), (2, 1)]), Some(1)));
    }

    #[test]
    fn a_fragment_that_comes_back_has_a_new_life() {
        let lives = history(&[&[1], &[], &[1], &[]]);
        assert_eq!(lives.lives(), [life(None, Some(1), 1), life(Some(2), Some(3), 1)]);
        assert_eq!((lives.updates(), lives.longevity()), (3, days(1.0)));
    }

    #[test]
    fn births_and_deaths_lie_in_the_middle_of_their_gaps() {
        let mut lives = Lifetimes::default();
        for (hours, page) in [(0, vec![]), (2, vec![7]), (3, vec![7]), (13, vec![])] {
            lives.see(Timestamp::from_seconds(hours * 3600), &page);
        }
        assert_eq!(lives.longevity(), Some(Duration::from_secs(7 * 3600)), "from 1 h to 8 h");
    }

    #[test]
    fn what_is_out_of_order_is_put_in_order() {
        let mut lives = history(&[&[3, 1, 1, 2]]);
        lives.see(Timestamp::from_seconds(-50), &[2, 1, 3]);
        assert_eq!((lives.lives(), lives.updates()), (vec![life(None, None, 3)], 0));
        assert_eq!(lives.times(), [Timestamp::from_seconds(0); 2]);
    }

    fn histories() -> impl Strategy<Value = Vec<Shown>> {
        let page = proptest::collection::btree_set(0u64..12, 0..8);
        proptest::collection::vec((page, 0i64..5), 0..12).prop_map(|pages| {
            let mut now = 0;
            let mut snapshots = Vec::new();
            for (page, gap) in pages {
                now += gap;
                let fragments = page.into_iter().collect();
                snapshots.push(Shown { at: Timestamp::from_seconds(now), fragments });
            }
            snapshots
        })
    }

    proptest! {
        #[test]
        fn every_fragment_of_every_snapshot_has_exactly_one_life(history in histories()) {
            let lives = lives_of(&history).lives();
            for index in 0..history.len() {
                let present = |life: &&FragmentLife| {
                    life.born.unwrap_or(0) <= index && life.died.is_none_or(|died| index < died)
                };
                let counted: usize = lives.iter().filter(present).map(|life| life.fragments).sum();
                prop_assert_eq!(counted, history[index].fragments.len());
                // And as many come and go at a snapshot as its fragments say.
                let set = |at: usize| history[at].fragments.iter().copied().collect::<BTreeSet<u64>>();
                if index > 0 {
                    let (before, now) = (set(index - 1), set(index));
                    let came = lives.iter().filter(|life| life.born == Some(index)).map(|life| life.fragments);
                    let went = lives.iter().filter(|life| life.died == Some(index)).map(|life| life.fragments);
                    prop_assert_eq!(came.sum::<usize>(), now.difference(&before).count());
                    prop_assert_eq!(went.sum::<usize>(), before.difference(&now).count());
                }
            }
            let groups: BTreeSet<_> = lives.iter().map(|life| (life.born, life.died)).collect();
            prop_assert_eq!(groups.len(), lives.len(), "each group once");
            prop_assert!(lives.iter().all(|life| life.fragments > 0));
        }

        #[test]
        fn a_visit_that_finds_nothing_new_changes_only_times(history in histories(), again in 0usize..12) {
            prop_assume!(again < history.len());
            let mut repeated = history.clone();
            repeated.insert(again, history[again].clone());
            let (once, twice) = (lives_of(&history), lives_of(&repeated));
            prop_assert_eq!(once.survived(), twice.survived());
            prop_assert_eq!(once.counts(), twice.counts());
            prop_assert_eq!(once.static_share(), twice.static_share());
            prop_assert_eq!(once.updates(), twice.updates());
            // The repeated snapshot is of the same moment, so only where births and deaths are put can move.
            prop_assert_eq!(once.change_frequency(), twice.change_frequency());
            let shift = |index: usize| index + usize::from(index > again);
            let shifted = once.lives().into_iter().map(|life| FragmentLife {
                born: life.born.map(shift), died: life.died.map(shift), ..life
            });
            prop_assert_eq!(shifted.collect::<Vec<_>>(), twice.lives());
        }

        #[test]
        fn shares_and_means_stay_within_their_bounds(history in histories()) {
            let lives = lives_of(&history);
            prop_assert!((0.0..=1.0).contains(&lives.static_share()));
            prop_assert!(lives.survived().keys().all(|k| (1..=lives.updates()).contains(k)));
            let last = history.last().map_or(0, |last| last.at.millis());
            let longest = Duration::from_millis(u64::try_from(last).unwrap());
            prop_assert!(lives.longevity().is_none_or(|mean| mean <= longest));
        }
    }
}
