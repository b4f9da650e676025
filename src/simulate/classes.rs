//! The replay engine: pages that compete, in classes of pages that share a score.
//!
//! Pages of one class are in the same state and were last visited in the same cycle. So a cycle costs as much as there are
//! classes and visits, not pages: a score is worked out once for a class, and the best classes are selected, not sorted.
//! `simulate` scores them by a policy and visits pages one by one, in their order; `evolve` scores them by a formula in
//! columns and visits whole classes. Which pages are the best is decided by [`crate::schedule::rank`], as in a live crawl.

use std::cmp::Reverse;

use super::Ties;
use crate::schedule::rank::{Cut, Rank, RankedClass, cut, lowest};
use crate::time::Timestamp;

/// Pages in one state whose last visit was in the same cycle.
#[derive(Debug)]
pub(crate) struct Class<T> {
    /// The number of the state, for the caller.
    pub(crate) state: u32,
    /// The cycle of the last visit.
    pub(crate) last: u32,
    /// Was the last visit one of the warm-up?
    pub(crate) is_entry: bool,
    /// Any other value that its pages share.
    pub(crate) shared: T,
    members: Vec<u32>,
    /// Members before this place have left.
    from: usize,
    is_sorted: bool,
}

impl<T> Class<T> {
    pub(crate) fn pages(&self) -> &[u32] {
        self.members.get(self.from..).unwrap_or(&[])
    }

    pub(crate) fn size(&self) -> usize {
        self.members.len() - self.from
    }
}

/// All classes of a replay.
#[derive(Debug)]
pub(crate) struct Classes<T> {
    all: Vec<Class<T>>,
    ties: Ties,
    /// Is each page a class of its own?
    each_alone: bool,
    /// The classes of the last choice, those of the chosen pages first.
    ranked: Vec<RankedClass>,
    best: Cut,
    /// For each state: the class that pages join when they come into it, and the turn in which that class was made.
    joined: Vec<(u64, u32)>,
    /// Counts up whenever the classes in `joined` are no longer right.
    turn: u64,
    /// The last visit of the pages that join in this turn.
    joining_last: u32,
    /// Lists of members that are not used any more.
    spare: Vec<Vec<u32>>,
}

impl<T> Classes<T> {
    pub(crate) fn new(ties: Ties) -> Self {
        Self {
            all: Vec::new(),
            ties,
            each_alone: false,
            ranked: Vec::new(),
            best: Cut { whole: 0, tied: 0, room: 0 },
            joined: Vec::new(),
            turn: 1,
            joining_last: 0,
            spare: Vec::new(),
        }
    }

    /// Says whether each page is a class of its own from now on.
    pub(crate) fn keep_apart(&mut self, each_alone: bool) {
        self.each_alone = each_alone;
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Class<T>> {
        self.all.iter()
    }

    pub(crate) fn get(&self, class: u32) -> Option<&Class<T>> {
        self.all.get(class as usize)
    }

    pub(crate) fn clear(&mut self) {
        self.turn += 1;
        self.all.clear();
    }

    /// Takes out the last class; [`Classes::reuse`] takes its room back.
    pub(crate) fn pop(&mut self) -> Option<Class<T>> {
        self.turn += 1;
        self.all.pop()
    }

    pub(crate) fn reuse(&mut self, class: Class<T>) {
        self.spare.push(class.members);
    }

    /// A new class of pages in rising order, whose last visit was one of the warm-up.
    pub(crate) fn enter(&mut self, state: u32, last: u32, pages: &[u32], shared: impl Fn() -> T) {
        let together = if self.each_alone { 1 } else { pages.len().max(1) };
        for pages in pages.chunks(together) {
            let class = self.push(state, last, shared());
            if let Some(class) = self.all.get_mut(class as usize) {
                (class.is_sorted, class.is_entry) = (true, true);
                class.members.extend_from_slice(pages);
            }
        }
    }

    fn push(&mut self, state: u32, last: u32, shared: T) -> u32 {
        let mut members = self.spare.pop().unwrap_or_default();
        members.clear();
        let (from, is_sorted, is_entry) = (0, false, false);
        self.all.push(Class { state, last, is_entry, shared, members, from, is_sorted });
        self.all.len() as u32 - 1
    }

    /// The class for pages that are in that state and were visited in the cycle `last`; until the next choice it is the same
    /// one, as long as pages with other last visits don't join in between.
    pub(crate) fn joining(&mut self, state: u32, last: u32, shared: impl FnOnce() -> T) -> u32 {
        if self.joining_last != last {
            (self.turn, self.joining_last) = (self.turn + 1, last);
        }
        let place = state as usize;
        if self.joined.len() <= place {
            // With room to spare, as states come one by one.
            self.joined.resize(place + place / 2 + 1, (0, 0));
        }
        let next = self.all.len() as u32;
        let Some(joined) = self.joined.get_mut(place) else { return next };
        if joined.0 == self.turn && !self.each_alone {
            return joined.1;
        }
        *joined = (self.turn, next);
        self.push(state, last, shared())
    }

    pub(crate) fn join(&mut self, class: u32, page: u32) {
        if let Some(class) = self.all.get_mut(class as usize) {
            class.members.push(page);
        }
    }

    /// Pages join one of two classes: the second if they changed, else the first. Gives the number that changed.
    pub(crate) fn join_either(
        &mut self,
        pages: &[u32],
        [same, changed]: [u32; 2],
        has_changed: impl Fn(u32) -> bool,
    ) -> usize {
        let mut take = |at: u32| {
            let class = self.all.get_mut(at as usize);
            class.map(|class| std::mem::take(&mut class.members)).unwrap_or_default()
        };
        let (mut still, mut new) = (take(same), take(changed));
        let before = new.len();
        for page in pages {
            if has_changed(*page) { new.push(*page) } else { still.push(*page) }
        }
        let count = new.len() - before;
        for (at, members) in [(same, still), (changed, new)] {
            if let Some(class) = self.all.get_mut(at as usize) {
                class.members = members;
            }
        }
        count
    }

    /// Finds the best pages. `scores` has the score of each class, in the order of [`Classes::iter`].
    pub(crate) fn choose(&mut self, scores: &[f64], visits: usize) {
        let older_first = self.ties == Ties::OlderFirst;
        self.ranked.clear();
        for ((class, score), place) in self.all.iter().zip(scores).zip(0_u32..) {
            // Cycles stand for times: only their order counts.
            let since = if older_first { i64::from(class.last) } else { 0 };
            let rank = Rank::new(*score, Timestamp::from_millis(since));
            self.ranked.push(RankedClass { rank, size: class.size() as u32, class: place });
        }
        self.best = cut(&mut self.ranked, visits);
    }

    /// The pages that were chosen, best first, each with its last visit.
    pub(crate) fn in_order(&mut self, visits: usize) -> Vec<(u32, u32)> {
        let best = self.ranked.get_mut(..self.best.tied).unwrap_or_default();
        // All classes that are taken whole are better than those that tie at the end, so they stay in front.
        best.sort_unstable_by_key(|ranked| Reverse(ranked.rank));
        let mut pages: Vec<(u32, u32)> = Vec::with_capacity(visits);
        for tied in best.chunk_by(|one, other| one.rank == other.rank) {
            let start = pages.len();
            for class in tied.iter().filter_map(|ranked| self.all.get(ranked.class as usize)) {
                pages.extend(class.pages().iter().map(|page| (*page, class.last)));
            }
            let tied = pages.get_mut(start..).unwrap_or_default();
            let room = visits - start;
            if tied.len() > room {
                tied.select_nth_unstable(room);
                pages.truncate(visits);
            }
            pages.get_mut(start..).unwrap_or_default().sort_unstable();
        }
        pages
    }

    /// The classes that pages were chosen from, and how many of each: these are the first of its pages.
    pub(crate) fn chosen(&mut self) -> Vec<(u32, usize)> {
        let Cut { whole, tied, room } = self.best;
        let size = |class: u32| self.all.get(class as usize).map_or(0, Class::size);
        let mut chosen: Vec<(u32, usize)> =
            self.ranked.iter().take(whole).map(|ranked| (ranked.class, size(ranked.class))).collect();
        let shared = self.ranked.get(whole..tied).unwrap_or(&[]);
        if let [only] = shared
            && only.size as usize == room
        {
            chosen.push((only.class, room));
            return chosen;
        }
        for ranked in shared {
            if let Some(class) = self.all.get_mut(ranked.class as usize).filter(|class| !class.is_sorted) {
                class.members.get_mut(class.from..).unwrap_or_default().sort_unstable();
                class.is_sorted = true;
            }
        }
        let pages = |ranked: &RankedClass| self.all.get(ranked.class as usize).map_or(&[][..], Class::pages);
        let lists: Vec<&[u32]> = shared.iter().map(pages).collect();
        chosen.extend(shared.iter().map(|ranked| ranked.class).zip(lowest(&lists, room)));
        chosen
    }

    /// The worst class that pages were chosen from.
    pub(crate) fn last_chosen(&self) -> Option<u32> {
        let chosen = self.ranked.get(..self.best.tied).unwrap_or_default();
        chosen.iter().min_by_key(|ranked| ranked.rank).map(|ranked| ranked.class)
    }

    /// The first pages of a class leave it. `visit` is called with them, and can have them join other classes.
    pub(crate) fn leave(&mut self, class: u32, count: usize, visit: impl FnOnce(&mut Self, &[u32])) {
        let Some(left) = self.all.get_mut(class as usize) else { return };
        let members = std::mem::take(&mut left.members);
        let from = left.from;
        visit(self, members.get(from..from + count).unwrap_or(&[]));
        if let Some(left) = self.all.get_mut(class as usize) {
            left.members = members;
            left.from += count;
        }
    }

    /// These pages leave their classes, whatever their place in them. Each comes with its class.
    pub(crate) fn remove(&mut self, mut pages: Vec<(u32, u32)>) {
        pages.sort_unstable_by_key(|(page, class)| (*class, *page));
        for gone in pages.chunk_by(|one, other| one.1 == other.1) {
            let class = gone.first().and_then(|(_, class)| self.all.get_mut(*class as usize));
            let Some(class) = class else { continue };
            class.members.retain(|page| gone.binary_search_by_key(page, |(page, _)| *page).is_err());
        }
    }

    /// Drops the classes that all pages have left.
    pub(crate) fn clear_empty(&mut self) {
        self.turn += 1;
        let mut at = 0;
        while let Some(class) = self.all.get(at) {
            if class.size() == 0 {
                let class = self.all.swap_remove(at);
                self.reuse(class);
            } else {
                at += 1;
            }
        }
    }
}
