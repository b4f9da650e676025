//! Pages after their warm-up, which is the same for all formulas: replays of formulas begin there.

use std::collections::HashMap;

use super::formula_states::StateVisit;
use crate::simulate::ReplayTerms;
use crate::simulate::truth::Truth;

/// Pages of a group, after their warm-up.
#[derive(Debug)]
pub struct WarmedUp {
    pub(super) truth: Truth,
    pub(super) terms: ReplayTerms,
    /// Does it matter how far pages move?
    pub(super) moves: bool,
    /// In order of their cycles.
    pub(super) entries: Vec<Entry>,
}

/// Pages that begin to compete at the same cycle after the same visits.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) cycle: u32,
    pub(super) last: u32,
    pub(super) weight: f64,
    pub(super) visits: Vec<StateVisit>,
    /// In rising order.
    pub(super) members: Vec<u32>,
}

impl WarmedUp {
    /// Replays the warm-up. `moves`: does it matter how far pages move?
    pub fn new(truth: Truth, terms: ReplayTerms, moves: bool) -> Self {
        let mut pages = Self { truth, terms, moves, entries: Vec::new() };
        pages.entries = pages.warm_up();
        pages
    }

    /// Is there no page that competes?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn warm_up(&self) -> Vec<Entry> {
        type Key = (u32, u64, Vec<(bool, u64)>);
        let (truth, warm_up) = (&self.truth, self.terms.warm_up);
        let mut entries: HashMap<Key, Entry> = HashMap::new();
        for page in 0..truth.pages() as u32 {
            let born = truth.born.get(page as usize).copied().unwrap_or(0);
            if !competes(born, warm_up, truth.cycles) {
                continue;
            }
            let weight = truth.weights.get(page as usize).copied().unwrap_or(1.0);
            let last = born + warm_up;
            let visits: Vec<StateVisit> =
                (born + 1..=last).map(|cycle| self.visit(page, cycle - 1, cycle)).collect();
            let seen = visits.iter().map(|visit| (visit.changed, visit.moved.to_bits())).collect();
            let entry = entries.entry((born, weight.to_bits(), seen)).or_insert_with(|| Entry {
                cycle: last + 1,
                last,
                weight,
                visits,
                members: Vec::new(),
            });
            entry.members.push(page);
        }
        let mut entries: Vec<Entry> = entries.into_values().collect();
        // Members are in order of their numbers, and no page is in two entries.
        entries.sort_by_key(|entry| (entry.cycle, entry.members.first().copied()));
        entries
    }

    /// What a visit finds.
    pub(super) fn visit(&self, page: u32, last: u32, now: u32) -> StateVisit {
        let changed = self.truth.has_changed(page, last, now);
        let moved = match changed && self.moves {
            true => self.truth.divergence(page, self.truth.text(page, last), self.truth.text(page, now)),
            false => f64::from(u8::from(changed)),
        };
        StateVisit { gap: now - last, changed, moved }
    }
}

/// Is there a cycle left for a page, after its first copy and the warm-up?
pub(super) fn competes(born: u32, warm_up: u32, cycles: u32) -> bool {
    u64::from(born) + u64::from(warm_up) + 1 < u64::from(cycles)
}
