//! Rates by name: how much pages of the same name on a site moved, numbers in the name aside.
//!
//! What must stay true: the number of names is bounded. Of too many, those that only one page has go first: they tell nothing.

use crate::identity_hash::ByHash;
use crate::varint::{push, push_float, take, take_float, take_small};

/// Names that are kept.
const MOST_NAMES: usize = 1 << 16;

/// Sums over the pages of each name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names(ByHash<u32, NameSums>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct NameSums {
    found: f64,
    days: f64,
    pages: u32,
}

impl Names {
    /// Adds a visit to a page of this name; `is_first`: the page had no visit before that told anything.
    pub(super) fn add(&mut self, name: u32, found: f64, days: f64, is_first: bool) {
        let sums = self.0.entry(name).or_default();
        sums.found += found;
        sums.days += days;
        sums.pages = sums.pages.saturating_add(u32::from(is_first));
        if self.0.len() > MOST_NAMES {
            self.give_up_some();
        }
    }

    /// Divergence found and days watched of the pages of this name, but for one that has these sums.
    pub(super) fn without(&self, name: u32, found: f64, days: f64) -> (f64, f64) {
        let sums = self.0.get(&name).copied().unwrap_or_default();
        ((sums.found - found).max(0.0), (sums.days - days).max(0.0))
    }

    fn give_up_some(&mut self) {
        let mut order: Vec<(u32, f64, u32)> =
            self.0.iter().map(|(name, sums)| (sums.pages, sums.days, *name)).collect();
        order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        for (_, _, name) in order.split_off(MOST_NAMES / 2) {
            self.0.remove(&name);
        }
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        let mut order: Vec<(&u32, &NameSums)> = self.0.iter().collect();
        order.sort_unstable_by_key(|(name, _)| **name);
        push(bytes, order.len() as u64);
        for (name, sums) in order {
            push(bytes, u64::from(*name));
            push_float(bytes, sums.found);
            push_float(bytes, sums.days);
            push(bytes, u64::from(sums.pages));
        }
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut taken = Self::default();
        for _ in 0..take(rest)? {
            let name = take_small(rest)?;
            let sums =
                NameSums { found: take_float(rest)?, days: take_float(rest)?, pages: take_small(rest)? };
            taken.0.insert(name, sums);
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_tells_nothing_of_itself() {
        let mut names = Names::default();
        names.add(7, 0.5, 2.0, true);
        assert_eq!(names.without(7, 0.5, 2.0), (0.0, 0.0));
        names.add(7, 0.25, 3.0, true);
        assert_eq!(names.without(7, 0.5, 2.0), (0.25, 3.0));
        let mut bytes = Vec::new();
        names.push_bytes(&mut bytes);
        assert_eq!(Names::take_bytes(&mut &bytes[..]), Some(names));
    }

    #[test]
    fn of_too_many_names_those_of_many_pages_stay() {
        let mut names = Names::default();
        (0..2).for_each(|_| names.add(0, 0.1, 1.0, true));
        (1..=MOST_NAMES as u32).for_each(|name| names.add(name, 0.1, 1.0, true));
        assert_eq!(names.0.len(), MOST_NAMES / 2);
        assert!(names.0.contains_key(&0));
    }
}
