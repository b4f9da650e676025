//! Rules that adapt an interval: a change shortens the interval to the next visit, no change stretches it.
//!
//! Other crawlers work this way. Such a rule settles where P·ln(down) + (1 − P)·ln(up) = 0, where P is the probability that a
//! visit finds a change. So it visits each page in proportion to its change rate, and knows no budget. Here the rules are given
//! a budget: the page that exceeds its interval most, as a ratio, comes first. Then only the ratios of intervals matter, and
//! their bounds.

use super::page_memory::PageMemory;
use super::{Fact, Learnt, Lesson, PageState, Policy, Reason, Score};
use crate::estimate::Seen;
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};
use crate::varint::{push_float, take_float};

/// The first interval, and the bounds of all intervals, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) first: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

/// The scale of a rule's intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleScale {
    /// The intervals that the crawler ships, with a day of this length: shorter than a real day for a web that is sped up.
    Day(Age),
    /// This first and this shortest interval, in days. The longest is as many times the first as in the crawler that ships the
    /// rule. With a budget only ratios matter, and these start from an even use of it.
    Start {
        /// The first interval, in days.
        first: f64,
        /// The shortest interval, in days.
        least: f64,
    },
}

impl Bounds {
    pub(super) fn scaled(self, scale: RuleScale) -> Self {
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

/// A rule: how a visit changes the interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalRule {
    pub(super) name: &'static str,
    pub(super) bounds: Bounds,
    /// The next interval, before bounds. Its arguments: the interval so far, whether the page changed, the days since the last
    /// change that was seen before this visit, and the shortest interval.
    pub(super) next: fn(days: f64, changed: bool, since_change: f64, least: f64) -> f64,
    /// The share of the time since the last change by which the next visit comes earlier.
    pub(super) early_share: f64,
}

/// The memory of a page, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    /// To the next visit.
    days: f64,
    /// Since the last visit that saw a change, or since the first one.
    since_change: f64,
}

impl IntervalRule {
    fn interval(&self, memory: &PageMemory) -> Interval {
        let stored =
            memory.peek(|rest| Some(Interval { days: take_float(rest)?, since_change: take_float(rest)? }));
        stored.unwrap_or(Interval { days: self.bounds.first, since_change: 0.0 })
    }

    /// Days from the last visit to the next.
    fn wait(&self, page: &PageState) -> f64 {
        let Interval { days, since_change } = self.interval(&page.learnt.memory);
        let early = self.early_share * since_change;
        let early = if early > self.bounds.most { 0.0 } else { early };
        (days - early).max(self.bounds.least)
    }
}

impl Policy for IntervalRule {
    fn name(&self) -> &str {
        self.name
    }

    /// Age over interval: a page is due at 1.
    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.copy_age(now).days() / self.wait(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let wait = self.wait(page);
        Reason::of(Fact::interval(wait, wait - page.copy_age(now).days()))
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let Interval { days, since_change } = self.interval(&learnt.memory);
        let passed = since_change + learnt.state.count(lesson.interval, seen);
        let Bounds { least, most, .. } = self.bounds;
        let days = (self.next)(days, seen.changed(), passed, least).clamp(least, most);
        let since_change = if seen.changed() { 0.0 } else { passed };
        learnt
            .memory
            .write(|bytes| [days, since_change].iter().for_each(|number| push_float(bytes, *number)));
    }

    fn memory_version(&self) -> String {
        let Bounds { first, least, most } = self.bounds;
        format!("{}/1 first {first} least {least} most {most}", self.name)
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

    /// The interval after each visit; a visit is (days, whether it found a change).
    pub(in crate::policy) fn intervals<const N: usize>(
        rule: &IntervalRule,
        visits: &[(f64, bool)],
    ) -> [f64; N] {
        let mut learnt = Learnt::default();
        let after = |(days, changed): &(f64, bool)| {
            teach(rule, &mut learnt, *days, *changed);
            rule.interval(&learnt.memory).days
        };
        visits.iter().map(after).collect::<Vec<_>>().try_into().expect("as many as visits")
    }

    /// The share of visits that find a change, for a page of this change rate that is visited whenever the rule says.
    pub(in crate::policy) fn settles_at(rule: &IntervalRule, rate: f64) -> f64 {
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
