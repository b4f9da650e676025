//! The known URLs, compact, in memory.
//!
//! In come fingerprints of pages; out goes whether a page is known. Of each fingerprint the 64-bit prefix is kept, in
//! one open-addressing table with linear probing, so nearly every look-up touches one or two lines of memory.
//!
//! What must stay true:
//! - A known page is never called new. The other way round a new page is taken for a known one when its prefix is
//!   already there: with n known pages with probability n / 2⁶⁴ a look-up, about 5·10⁻¹³ at ten million. A crawl that
//!   looks up ten thousand million distinct new links against ten million pages loses one with probability 0.5 %.
//! - The table is between 0.4 and 0.8 full once it has grown, so a page costs 10 to 20 bytes. While it grows the old
//!   table stands beside the new one: half as much again, for the time of one pass.
//! - It holds `max_entries` and no more. From then on a page that is not in it is [`Membership::Unsure`], and whoever asks
//!   has to ask the store.

use std::hash::{BuildHasher, RandomState};

use crate::page::Fingerprint;

/// The answer of the set about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// It was inserted before (or shares its prefix with a page that was).
    Known,
    /// It was never inserted.
    New,
    /// It is not here, but the set is full and may have turned it away.
    Unsure,
}

/// A set of pages that can be asked whether it knows one, bounded in memory.
#[derive(Clone, Debug)]
pub struct KnownSet {
    /// A power of two of prefixes, or none at all; [`EMPTY`] where there is no page.
    slots: Vec<u64>,
    /// Brings a 64-bit product down to a slot number.
    shift: u32,
    len: usize,
    max_entries: usize,
    /// Odd, and another one in each set: links are chosen by strangers, and a known order of slots could be filled
    /// with one long run of pages that makes every look-up a walk.
    multiplier: u64,
}

/// The mark of a free slot; a page with this prefix is kept as 1.
const EMPTY: u64 = 0;

/// Slots of the first table: 8 KiB.
const FIRST_SLOTS: usize = 1024;

impl KnownSet {
    /// An empty set that will take `max_entries` pages. Memory is taken as pages come, not here.
    pub(crate) fn with_limit(max_entries: usize) -> KnownSet {
        let multiplier = RandomState::new().hash_one(EMPTY) | 1;
        KnownSet { slots: Vec::new(), shift: 0, len: 0, max_entries, multiplier }
    }

    /// Whether a page is known.
    pub fn contains(&self, page: Fingerprint) -> Membership {
        match self.find(stored(page)) {
            Slot::Held => Membership::Known,
            _ if self.len >= self.max_entries => Membership::Unsure,
            _ => Membership::New,
        }
    }

    /// Makes a page known. `false` when it was already, or when the set is full and did not take it.
    pub fn insert(&mut self, page: Fingerprint) -> bool {
        let value = stored(page);
        let place = self.find(value);
        if place == Slot::Held || self.len >= self.max_entries {
            return false;
        }
        match place {
            Slot::Free(slot) if (self.len + 1) * 5 <= self.slots.len() * 4 => self.put(slot, value),
            _ => {
                self.grow();
                self.place(value);
            }
        }
        self.len += 1;
        true
    }

    /// How many pages are known.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no page is known.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory held by the table, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    fn find(&self, value: u64) -> Slot {
        let last = self.slots.len().wrapping_sub(1);
        let mut slot = self.home(value);
        // A slot is always free, so this ends there; an empty table ends at once.
        while let Some(&held) = self.slots.get(slot) {
            if held == value {
                return Slot::Held;
            }
            if held == EMPTY {
                return Slot::Free(slot);
            }
            slot = (slot + 1) & last;
        }
        Slot::Nowhere
    }

    /// Where a page's run begins. High bits of the product, so a growing table is filled from front to back.
    fn home(&self, value: u64) -> usize {
        (value.wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
        self.shift = u64::BITS - slots.trailing_zeros();
        for value in old.into_iter().filter(|value| *value != EMPTY) {
            self.place(value);
        }
    }

    fn place(&mut self, value: u64) {
        if let Slot::Free(slot) = self.find(value) {
            self.put(slot, value);
        }
    }

    fn put(&mut self, slot: usize, value: u64) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }
}

/// Where a search ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Held,
    Free(usize),
    /// There is no table yet.
    Nowhere,
}

fn stored(page: Fingerprint) -> u64 {
    page.prefix().max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn page(prefix: u64) -> Fingerprint {
        Fingerprint(u128::from(prefix) << 64 | 7)
    }

    #[test]
    fn an_empty_set_knows_nothing() {
        let known = KnownSet::with_limit(10);
        assert_eq!((known.len(), known.is_empty(), known.bytes()), (0, true, 0));
        assert_eq!(known.contains(page(0)), Membership::New);
        assert_eq!(known.contains(page(5)), Membership::New);
    }

    #[test]
    fn a_full_set_is_unsure_of_what_it_does_not_hold() {
        let mut known = KnownSet::with_limit(2);
        assert!(known.insert(page(1)));
        assert!(!known.insert(page(1)));
        assert!(known.insert(page(2)));
        assert!(!known.insert(page(3)));
        assert_eq!(known.len(), 2);
        assert_eq!(
            [1, 2, 3].map(|n| known.contains(page(n))),
            [Membership::Known, Membership::Known, Membership::Unsure]
        );
        assert_eq!(KnownSet::with_limit(0).contains(page(1)), Membership::Unsure);
    }

    #[test]
    fn a_prefix_of_zero_is_kept_as_one() {
        let mut known = KnownSet::with_limit(10);
        assert!(known.insert(page(0)));
        assert_eq!(known.contains(page(0)), Membership::Known);
        assert_eq!(known.contains(page(1)), Membership::Known);
        assert!(!known.insert(page(1)));
    }

    #[test]
    fn a_page_costs_ten_to_twenty_bytes() {
        let mut known = KnownSet::with_limit(usize::MAX);
        for number in 0..200_000_u64 {
            known.insert(page(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
            let per_page = known.bytes() as f64 / known.len() as f64;
            assert!(known.len() < 820 || (10.0..=20.0).contains(&per_page), "{per_page} at {}", known.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Few distinct values, so that they repeat; neighbours, so that they crowd.
        #[test]
        fn it_answers_as_a_set_from_the_standard_library_does(
            prefixes in prop::collection::vec(prop_oneof![1_u64..3000, (u64::MAX - 200)..=u64::MAX], 0..3000),
            limit in prop_oneof![Just(usize::MAX), 0..2000_usize],
        ) {
            let mut known = KnownSet::with_limit(limit);
            let mut expected = HashSet::new();
            for prefix in prefixes {
                let full = expected.len() >= limit;
                let answer = match (expected.contains(&prefix), full) {
                    (true, _) => Membership::Known,
                    (false, true) => Membership::Unsure,
                    (false, false) => Membership::New,
                };
                prop_assert_eq!(known.contains(page(prefix)), answer);
                prop_assert_eq!(known.insert(page(prefix)), !full && expected.insert(prefix));
                prop_assert_eq!(known.len(), expected.len());
            }
            for prefix in &expected {
                prop_assert_eq!(known.contains(page(*prefix)), Membership::Known);
            }
        }
    }
}
