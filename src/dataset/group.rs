//! Groups of pages that were watched together, with their cycles; found out for files that don't name them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::page_record::PageRecord;

/// Pages that were watched together, and the cycles they were watched in: cycle c is at `start + c · step`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupInfo {
    /// Unique in a dataset.
    pub name: String,
    /// Cycle 0, in UTC milliseconds since 1970.
    pub start_ms: i64,
    /// Milliseconds from one cycle to the next.
    pub step_ms: i64,
    /// Number of cycles.
    pub cycles: u32,
}

impl GroupInfo {
    /// The cycle of a visit: the one it names, else the one that its time falls in. A time before the first or after the
    /// last cycle belongs to that one.
    pub fn cycle_of(&self, cycle: Option<u32>, time_ms: i64) -> u32 {
        let by_time = || {
            let passed = time_ms.saturating_sub(self.start_ms).max(0) / self.step_ms.max(1);
            u32::try_from(passed).unwrap_or(u32::MAX)
        };
        cycle.unwrap_or_else(by_time).min(self.cycles.saturating_sub(1))
    }

    /// The time of a cycle, in UTC milliseconds since 1970.
    pub fn time_of(&self, cycle: u32) -> i64 {
        self.start_ms.saturating_add(self.step_ms.saturating_mul(i64::from(cycle)))
    }
}

/// A day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// Most cycles of a group: a mistake in a time or a step must not fill memory or disk.
pub const MOST_CYCLES: u32 = 10_000_000;

/// Longest distance from 1970, some 140,000 years: sums and differences of such times can't overflow.
pub const FARTHEST_MS: i64 = 1 << 52;

/// Finds the groups of a file that does not describe them.
#[derive(Debug)]
pub struct GroupsSeen {
    start_ms: Option<i64>,
    step_ms: i64,
    seen: BTreeMap<String, SeenGroup>,
    /// Names, in the order in which they were met.
    order: Vec<String>,
}

#[derive(Debug)]
struct SeenGroup {
    first_ms: i64,
    last_ms: i64,
    last_cycle: Option<u32>,
}

impl GroupsSeen {
    /// Starts with cycle 0 at this time, and this step, if they are known.
    pub fn new(start_ms: Option<i64>, step_ms: Option<i64>) -> Self {
        let step_ms = step_ms.unwrap_or(DAY_MS).max(1);
        Self { start_ms, step_ms, seen: BTreeMap::new(), order: Vec::new() }
    }

    /// Takes note of a page.
    pub fn see(&mut self, page: &PageRecord) {
        let visits = page.visits.iter().map(|visit| (visit.cycle, visit.time_ms));
        for (cycle, time_ms) in visits.chain(page.states.iter().map(|state| (state.cycle, state.time_ms))) {
            match self.seen.get_mut(&page.group) {
                Some(seen) => {
                    seen.first_ms = seen.first_ms.min(time_ms);
                    seen.last_ms = seen.last_ms.max(time_ms);
                    seen.last_cycle = seen.last_cycle.max(cycle);
                }
                None => {
                    let seen = SeenGroup { first_ms: time_ms, last_ms: time_ms, last_cycle: cycle };
                    self.seen.insert(page.group.clone(), seen);
                    self.order.push(page.group.clone());
                }
            }
        }
    }

    /// The groups. Cycle 0 is at the start that was given, else at the whole step at or before the first visit.
    pub fn groups(self) -> Vec<GroupInfo> {
        let Self { start_ms, step_ms, mut seen, order } = self;
        let groups = order.into_iter().filter_map(|name| {
            let SeenGroup { first_ms, last_ms, last_cycle } = seen.remove(&name)?;
            let start_ms = start_ms.unwrap_or_else(|| first_ms.div_euclid(step_ms).saturating_mul(step_ms));
            let all = GroupInfo { name, start_ms, step_ms, cycles: u32::MAX };
            let last = all.cycle_of(None, last_ms).max(last_cycle.unwrap_or(0));
            Some(GroupInfo { cycles: last.saturating_add(1), ..all })
        });
        groups.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::page_record::VisitLine;
    use super::*;

    #[test]
    fn a_visit_is_of_the_cycle_that_its_time_falls_in() {
        let group = GroupInfo { name: "g".into(), start_ms: 1000, step_ms: 10, cycles: 4 };
        let cycle = |time| group.cycle_of(None, time);
        assert_eq!([900, 1000, 1009, 1010, 1039, 1040, 9999].map(cycle), [0, 0, 0, 1, 3, 3, 3]);
        assert_eq!(group.cycle_of(Some(2), 1000), 2);
        assert_eq!(group.time_of(3), 1030);
    }

    #[test]
    fn groups_without_a_description_are_found_from_the_visits() {
        let mut seen = GroupsSeen::new(None, Some(10));
        let mut page = PageRecord::new("b", "s", "u", 1.0);
        page.visits = vec![VisitLine::at(105, None), VisitLine::at(131, Some(true))];
        seen.see(&page);
        page.group = "a".into();
        page.visits = vec![VisitLine { cycle: Some(7), ..VisitLine::at(100, None) }];
        seen.see(&page);
        let info =
            |name: &str, start_ms, cycles| GroupInfo { name: name.into(), start_ms, step_ms: 10, cycles };
        assert_eq!(seen.groups(), [info("b", 100, 4), info("a", 100, 8)]);
    }
}
