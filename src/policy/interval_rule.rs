//! Rules that turn one knob: an interval to the next visit, shortened by a change and stretched without one.
//!
//! That is what other crawlers do. Such a rule settles where P·ln(down) + (1 − P)·ln(up) = 0, P being the chance that a
//! visit finds a change, whatever the page's rate: it visits in proportion to the rate, and a budget is none of its
//! concern. Here they are given one: the page whose interval is most exceeded, as a ratio, comes first. So only the
//! ratios of intervals matter, and their bounds.

use super::{PageState, Reason, Score};
use crate::estimate::{EstimatorState, Memory, Seen};
use crate::time::{Age, Timestamp};

/// Between which bounds intervals stay, and where they start, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub first: f64,
    pub least: f64,
    pub most: f64,
}

impl Bounds {
    /// The same with days of another length, for a web whose days pass faster.
    pub fn scaled(self, day: Age) -> Self {
        let days = day.days();
        Self { first: self.first * days, least: self.least * days, most: self.most * days }
    }

    /// The interval to the next visit, and the time since a change was seen.
    pub fn memory(self, state: &EstimatorState) -> (f64, f64) {
        match state.memory {
            Memory::Interval { days, since_change } => (days, since_change),
            _ => (self.first, 0.0),
        }
    }

    /// Folds a visit: `next` makes the new interval of the old one, of whether the page changed, and of the time since a
    /// change was last seen before this visit.
    pub fn learn(
        self,
        state: &mut EstimatorState,
        interval: Age,
        seen: Seen,
        next: impl FnOnce(f64, bool, f64) -> f64,
    ) {
        let (days, since_change) = self.memory(state);
        let passed = since_change + state.count(interval, seen);
        let days = next(days, seen.changed(), passed).clamp(self.least, self.most);
        state.memory = Memory::Interval { days, since_change: if seen.changed() { 0.0 } else { passed } };
    }
}

/// Age over interval: 1 is due.
pub fn score(page: &PageState, now: Timestamp, interval_days: f64) -> Score {
    Score::new(page.copy_age(now).days() / interval_days)
}

pub fn reason(interval_days: f64) -> Reason {
    Reason { interval_days: Some(interval_days), ..Reason::default() }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::page::HostId;
    use crate::policy::Policy;

    /// The interval after each visit, of which some found a change.
    pub fn intervals<const N: usize>(
        rule: &dyn Policy,
        visits: &[(f64, bool)],
        interval: impl Fn(&EstimatorState) -> f64,
    ) -> [f64; N] {
        let mut state = EstimatorState::default();
        let after = |(days, changed): &(f64, bool)| {
            rule.learn(HostId(1), 0, &mut state, Age::from_days(*days), Seen::from(*changed));
            interval(&state)
        };
        visits.iter().map(after).collect::<Vec<_>>().try_into().expect("as many as visits")
    }

    /// Of the visits of a page that changes so often a day, each made when the rule says, the share that finds a change.
    pub fn settles_at(rule: &dyn Policy, rate: f64) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut state = EstimatorState::default();
        let mut found = 0_u32;
        const VISITS: u32 = 20_000;
        for _ in 0..VISITS {
            let page = page_of(&state);
            // The score is the age over the wait, so one over the score at an age of one is the wait.
            let days = 1.0
                / rule.score(&page, page.waits_since().plus(std::time::Duration::from_secs(86_400))).value();
            let changed = random.random::<f64>() < -(-rate * days).exp_m1();
            found += u32::from(changed);
            rule.learn(HostId(1), 0, &mut state, Age::from_days(days), Seen::from(changed));
        }
        f64::from(found) / f64::from(VISITS)
    }

    fn page_of(state: &EstimatorState) -> PageState {
        let at = Timestamp::from_seconds(1_000_000);
        let mut page = PageState::found(crate::page::PageId(1), HostId(1), 0, 1.0, at);
        (page.last_visit, page.seen_at) = (Some(at), Some(at));
        page.learnt.state = state.clone();
        page
    }
}
