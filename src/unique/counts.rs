//! How many pages a host, or a path with a query, has; in little memory.
//!
//! In come hashes, one for each new page; out goes how often a hash came. Traps are few and large (a calendar without
//! end, a search form), but most hosts and paths come once or twice, and a counter for each would cost more than the
//! known URLs themselves. So there are at most [`SPARED`] + known pages ÷ 8 counters; when one more is wanted, all are
//! lowered by one and those at nothing forgotten (Misra & Gries, Finding repeated elements, 1982).
//!
//! What must stay true:
//! - A count is never too high: nothing is refused that the limits allow.
//! - It is too low by at most the number of lowerings. Each takes away as many counts as there are counters, and
//!   counts come one a page, so n pages lower at most 8·ln(1 + n ÷ (8·[`SPARED`])) times: 46 at ten million. A trap is
//!   closed that many pages late. (Pages counted while the set of known URLs is full add one for each n ÷ 8.)
//! - A counter takes at most 39 bytes in the table, so both kinds together take at most 10 bytes a known page.

use std::collections::HashMap;

/// Counters that a small crawl may have without losing any; 160 KB.
const SPARED: usize = 4096;

/// Counts by hash.
#[derive(Clone, Debug, Default)]
pub(super) struct FrequentCounts {
    counters: HashMap<u64, u32>,
}

impl FrequentCounts {
    /// How often `hash` came, or a little less.
    pub(super) fn of(&self, hash: u64) -> u32 {
        self.counters.get(&hash).copied().unwrap_or(0)
    }

    /// Counts `hash` once more. `known` is how many pages are known: memory is measured by it.
    pub(super) fn add(&mut self, hash: u64, known: usize) {
        if let Some(count) = self.counters.get_mut(&hash) {
            *count = count.saturating_add(1);
            return;
        }
        if self.counters.len() >= SPARED + known / 8 {
            self.counters.retain(|_, count| {
                *count -= 1;
                *count > 0
            });
            // The one that came is lowered with them, to nothing.
            return;
        }
        self.counters.insert(hash, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hashes_are_counted_exactly() {
        let mut counts = FrequentCounts::default();
        for number in 0..1000 {
            counts.add(number % 10, 0);
        }
        assert_eq!((counts.of(3), counts.of(10)), (100, 0));
    }

    #[test]
    fn many_hashes_cost_bounded_memory_and_a_trap_still_shows() {
        let mut counts = FrequentCounts::default();
        let pages = 150_000;
        for number in 0..pages {
            let hash = if number % 100 == 0 { 0 } else { number };
            counts.add(hash, number as usize);
            assert!(counts.counters.len() <= SPARED + number as usize / 8);
        }
        let lowered = 8.0 * (1.0 + pages as f64 / (8.0 * SPARED as f64)).ln();
        let (count, came) = (f64::from(counts.of(0)), pages as f64 / 100.0);
        assert!(count <= came && count >= came - lowered - 1.0, "{count} of {came}, at most {lowered} lost");
    }
}
