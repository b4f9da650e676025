//! What goes from a source to a file: pages, each with its visits and what it said when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A page and all that is recorded of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRecord {
    pub group: String,
    pub site: String,
    pub url: String,
    /// Importance; 1 is that of an ordinary page.
    pub weight: f64,
    /// In the order of time; the first that brought a copy has nothing to compare with.
    pub visits: Vec<VisitRecord>,
    /// What it said from when on, in the order of time.
    pub states: Vec<StateRecord>,
}

/// One visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitRecord {
    /// The cycle of its group, from 0; `None`: the one that the time falls in.
    pub cycle: Option<u32>,
    /// UTC milliseconds since 1970.
    pub time_ms: i64,
    /// Since the visit before that brought a copy; `None`: nothing to compare.
    pub changed: Option<bool>,
    /// From the copy before, 0 to 1.
    pub divergence: Option<f64>,
    /// How it ended, as a crawl names it; `None`: it brought or confirmed a copy.
    pub outcome: Option<String>,
    /// Of HTTP.
    pub status: Option<u32>,
    pub bytes: Option<u64>,
    pub took_ms: Option<u64>,
}

/// What a page says from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRecord {
    pub cycle: Option<u32>,
    pub time_ms: i64,
    /// Stands for the sequence of its words: two texts may have the same fragments and not be the same.
    pub text: u64,
    /// Ascending; `None`: the page was removed.
    pub hashes: Option<Vec<u64>>,
}

impl PageRecord {
    pub fn new(group: &str, site: &str, url: &str, weight: f64) -> Self {
        let (group, site, url) = (group.to_owned(), site.to_owned(), url.to_owned());
        Self { group, site, url, weight, visits: Vec::new(), states: Vec::new() }
    }

    /// The first visit that brought a copy; `None` if none did.
    pub fn first_copy(&self) -> Option<&VisitRecord> {
        self.visits.iter().find(|visit| visit.brought_a_copy())
    }

    /// The visits that had something to compare with.
    pub fn comparisons(&self) -> impl Iterator<Item = (&VisitRecord, bool)> {
        self.visits.iter().filter_map(|visit| Some((visit, visit.changed?)))
    }
}

impl VisitRecord {
    /// One of which nothing else is known.
    pub fn at(time_ms: i64, changed: Option<bool>) -> Self {
        Self { time_ms, changed, ..Self::default() }
    }

    fn brought_a_copy(&self) -> bool {
        matches!(self.outcome.as_deref(), None | Some("fetched" | "not-modified"))
    }
}

/// Pages that were watched together, and the cycles they were watched in: cycle c is at `start + c · step`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupInfo {
    pub name: String,
    /// Cycle 0, in UTC milliseconds since 1970.
    pub start_ms: i64,
    pub step_ms: i64,
    pub cycles: u32,
}

impl GroupInfo {
    /// The cycle of a visit: the one it names, else the one that its time falls in. What is outside is taken as the
    /// first or the last one.
    pub fn cycle_of(&self, cycle: Option<u32>, time_ms: i64) -> u32 {
        let by_time = || {
            let passed = time_ms.saturating_sub(self.start_ms).max(0) / self.step_ms.max(1);
            u32::try_from(passed).unwrap_or(u32::MAX)
        };
        cycle.unwrap_or_else(by_time).min(self.cycles.saturating_sub(1))
    }

    pub fn time_of(&self, cycle: u32) -> i64 {
        self.start_ms.saturating_add(self.step_ms.saturating_mul(i64::from(cycle)))
    }
}

/// A day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// No group has more cycles: a mistake in a time or a step must not fill memory or disk.
pub const MOST_CYCLES: u32 = 10_000_000;

/// Times are at most so far from 1970: some 140,000 years, so that sums and differences of them are none to worry about.
pub const FARTHEST_MS: i64 = 1 << 52;

/// Finds out the groups of a file that does not tell them.
#[derive(Debug)]
pub struct GroupsSeen {
    start_ms: Option<i64>,
    step_ms: i64,
    seen: BTreeMap<String, Seen>,
    /// In the order in which they were met.
    order: Vec<String>,
}

#[derive(Debug)]
struct Seen {
    first_ms: i64,
    last_ms: i64,
    last_cycle: Option<u32>,
}

impl GroupsSeen {
    pub fn new(start_ms: Option<i64>, step_ms: Option<i64>) -> Self {
        let step_ms = step_ms.unwrap_or(DAY_MS).max(1);
        Self { start_ms, step_ms, seen: BTreeMap::new(), order: Vec::new() }
    }

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
                    let seen = Seen { first_ms: time_ms, last_ms: time_ms, last_cycle: cycle };
                    self.seen.insert(page.group.clone(), seen);
                    self.order.push(page.group.clone());
                }
            }
        }
    }

    /// Cycle 0 is at the start that was given, else at the whole step at or before the first visit.
    pub fn groups(self) -> Vec<GroupInfo> {
        let Self { start_ms, step_ms, mut seen, order } = self;
        let groups = order.into_iter().filter_map(|name| {
            let Seen { first_ms, last_ms, last_cycle } = seen.remove(&name)?;
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
    fn groups_that_nobody_told_are_found_out() {
        let mut seen = GroupsSeen::new(None, Some(10));
        let mut page = PageRecord::new("b", "s", "u", 1.0);
        page.visits = vec![VisitRecord::at(105, None), VisitRecord::at(131, Some(true))];
        seen.see(&page);
        page.group = "a".into();
        page.visits = vec![VisitRecord { cycle: Some(7), ..VisitRecord::at(100, None) }];
        seen.see(&page);
        let info =
            |name: &str, start_ms, cycles| GroupInfo { name: name.into(), start_ms, step_ms: 10, cycles };
        assert_eq!(seen.groups(), [info("b", 100, 4), info("a", 100, 8)]);
    }
}
