//! Rules that turn one knob: an interval to the next visit, shortened by a change and stretched without one.
//!
//! That is what other crawlers do. Such a rule settles where P·ln(down) + (1 − P)·ln(up) = 0, P being the chance that a
//! visit finds a change, whatever the page's rate: it visits in proportion to the rate, and a budget is none of its
//! concern. Here they are given one: the page whose interval is most exceeded, as a ratio, comes first. So only the
//! ratios of intervals matter, and their bounds.

use super::{Learnt, Lesson, PageState, Policy, Reason, Score};
use crate::estimate::{EstimatorState, Memory, Seen};
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// Between which bounds intervals stay, and where they start, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub first: f64,
    pub least: f64,
    pub most: f64,
}

/// How long the intervals of a rule are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleScale {
    /// As shipped, a day being so long: shorter than ours for a web whose days pass faster.
    Day(Age),
    /// From this first interval, with this shortest one, in days; the longest as many times the first as it is shipped.
    /// Where a budget is given only ratios matter, and these start from an even use of it.
    Start { first: f64, least: f64 },
}

impl Bounds {
    pub fn scaled(self, scale: RuleScale) -> Self {
        match scale {
            RuleScale::Day(day) => {
                let days = day.days();
                Self { first: self.first * days, least: self.least * days, most: self.most * days }
            }
            RuleScale::Start { first, least } => {
                let most = first * self.most / self.first;
                Self { first: first.max(least), least, most: most.max(least) }
            }
        }
    }
}

/// A rule: how a visit makes the next interval of the last one.
#[derive(Clone, Copy, Debug)]
pub struct IntervalRule {
    pub name: &'static str,
    pub bounds: Bounds,
    /// Of the interval so far, whether the page changed, the days since a change was last seen before this visit, and
    /// the shortest interval: the next one, before bounds.
    pub next: fn(days: f64, changed: bool, since_change: f64, least: f64) -> f64,
    /// The share of the time since a change was last seen that is taken off the wait.
    pub early_share: f64,
}

impl IntervalRule {
    /// The interval to the next visit, and the time since a change was seen.
    pub fn memory(&self, state: &EstimatorState) -> (f64, f64) {
        match state.memory {
            Memory::Interval { days, since_change } => (days, since_change),
            _ => (self.bounds.first, 0.0),
        }
    }

    /// Days from the last visit to the next.
    fn wait(&self, page: &PageState) -> f64 {
        let (interval, since_change) = self.memory(&page.learnt.state);
        let early = self.early_share * since_change;
        let early = if early > self.bounds.most { 0.0 } else { early };
        (interval - early).max(self.bounds.least)
    }
}

impl Policy for IntervalRule {
    fn name(&self) -> &str {
        self.name
    }

    fn memory_kind(&self) -> String {
        format!("{} {:?}", self.name, self.bounds)
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let state = &mut learnt.state;
        let (days, since_change) = self.memory(state);
        let passed = since_change + state.count(lesson.interval, seen);
        let Bounds { least, most, .. } = self.bounds;
        let days = (self.next)(days, seen.changed(), passed, least).clamp(least, most);
        state.memory = Memory::Interval { days, since_change: if seen.changed() { 0.0 } else { passed } };
    }

    /// Age over interval: 1 is due.
    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.copy_age(now).days() / self.wait(page))
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        Reason { interval_days: Some(self.wait(page)), ..Reason::default() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::page::PageId;

    fn teach(rule: &IntervalRule, learnt: &mut Learnt, days: f64, changed: bool) {
        let lesson = Lesson::of_bit(Timestamp::default(), Age::from_days(days), changed);
        rule.learn(HostId(1), 0, learnt, &lesson, Seen::from(changed));
    }

    /// The interval after each visit, of which some found a change.
    pub fn intervals<const N: usize>(rule: &IntervalRule, visits: &[(f64, bool)]) -> [f64; N] {
        let mut learnt = Learnt::default();
        let after = |(days, changed): &(f64, bool)| {
            teach(rule, &mut learnt, *days, *changed);
            rule.memory(&learnt.state).0
        };
        visits.iter().map(after).collect::<Vec<_>>().try_into().expect("as many as visits")
    }

    /// Of the visits of a page that changes so often a day, each made when the rule says, the share that finds a change.
    pub fn settles_at(rule: &IntervalRule, rate: f64) -> f64 {
        const VISITS: u32 = 20_000;
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let at = Timestamp::from_seconds(1_000_000);
        let mut page = PageState::found(PageId(1), HostId(1), 0, 1.0, at);
        let mut found = 0_u32;
        for _ in 0..VISITS {
            let days = rule.wait(&page);
            let changed = random.random::<f64>() < -(-rate * days).exp_m1();
            found += u32::from(changed);
            teach(rule, &mut page.learnt, days, changed);
        }
        f64::from(found) / f64::from(VISITS)
    }
}
