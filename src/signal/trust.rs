//! How far the signals of a host can be trusted: what visits found is compared with what they had been told.
//!
//! A visit that had something to compare with counts once for each kind of signal that its host has ever given. It was told of a
//! change or not, and it found one or not: four counts. The writer of a crawl adds visits one by one, and a rebuild adds those of the
//! log, by the same functions. All sums are whole numbers, so both come to the same bits in any order.

use super::{Signal, SignalKind, latest_moment};
use crate::observation::Observation;
use crate::time::{Age, Timestamp};

/// A visit, and what signals had told before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldVisit {
    /// When it was made.
    pub at: Timestamp,
    /// Did it find a change?
    pub changed: bool,
    /// The first signal of each kind since the visit before, in the order of [`SignalKind::ALL`].
    pub told: [Option<Signal>; SignalKind::ALL.len()],
}

impl ToldVisit {
    /// `fact` was recorded when the page had last been seen at `seen_at`. `signals` of the page are in the order in which they were
    /// learnt. `None` if the visit had nothing to compare with.
    pub fn of<'a>(
        fact: &Observation,
        seen_at: Option<Timestamp>,
        signals: impl IntoIterator<Item = &'a Signal>,
    ) -> Option<Self> {
        let (at, changed) = (fact.attempt.at, fact.lesson(seen_at)?.changed);
        let mut told = [None; SignalKind::ALL.len()];
        for signal in signals.into_iter().filter(|signal| signal.learnt_at <= at && signal.is_news(seen_at)) {
            if let Some(first) = told.get_mut(signal.kind as usize) {
                first.get_or_insert(*signal);
            }
        }
        Some(Self { at, changed, told })
    }

    /// The visits of one page. `log` holds its observations and `signals` its signals, each in the order of recording.
    pub fn of_log(log: &[Observation], signals: &[Signal]) -> Vec<Self> {
        let mut seen_at = None;
        let mut visits = Vec::new();
        for fact in log.iter().filter(|fact| fact.found.is_some()) {
            visits.extend(Self::of(fact, seen_at, signals));
            seen_at = Some(fact.attempt.at);
        }
        visits
    }
}

/// How the signals of one kind compare with what visits to the pages of a host found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTrust {
    /// The first signal. Visits before it don't count: the kind was not there to tell.
    pub since: Timestamp,
    /// Visits that were told of a change and found one.
    pub right: u64,
    /// Visits that were told of a change and found none.
    pub wrong: u64,
    /// Visits that found a change and were not told.
    pub missed: u64,
    /// Visits that found no change and were not told of one.
    pub quiet: u64,
    /// Right ones whose signal gave a date.
    pub dated: u64,
    /// Time from those dates until we learnt of them, in milliseconds, added up.
    pub late_ms: u64,
}

/// A signal is late by this at most: one wrong date of long ago must not hide how late the others are.
const MOST_LATE_MS: i64 = 30 * 86_400_000;

impl HostTrust {
    /// The host has just given its first signal of the kind.
    pub fn new(since: Timestamp) -> Self {
        Self { since, right: 0, wrong: 0, missed: 0, quiet: 0, dated: 0, late_ms: 0 }
    }

    /// Adds a visit to a page of the host.
    pub fn add(&mut self, kind: SignalKind, visit: &ToldVisit) {
        if visit.at < self.since {
            return;
        }
        let told = visit.told.get(kind as usize).copied().flatten();
        match (told, visit.changed) {
            (Some(_), true) => self.right += 1,
            (Some(_), false) => self.wrong += 1,
            (None, true) => self.missed += 1,
            (None, false) => self.quiet += 1,
        }
        if let Some((date, learnt_at)) =
            told.filter(|_| visit.changed).and_then(|told| Some((told.date?, told.learnt_at)))
        {
            let late = learnt_at.millis() - latest_moment(date, learnt_at).millis();
            self.dated += 1;
            self.late_ms += late.clamp(0, MOST_LATE_MS).unsigned_abs();
        }
    }

    /// Visits that were told of a change.
    pub fn told(&self) -> u64 {
        self.right + self.wrong
    }

    /// The share of signals that were right; `None` before the first was looked into.
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.told())
    }

    /// The share of changes that signals told of; `None` before the first change.
    pub fn recall(&self) -> Option<f64> {
        share(self.right, self.right + self.missed)
    }

    /// The mean time from the date that a right signal gave until we learnt of it.
    pub fn lateness(&self) -> Option<Age> {
        (self.dated > 0).then(|| Age::from_days(self.late_ms as f64 / self.dated as f64 / 86_400_000.0))
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::change::VersionId;
    use crate::fetch::visit::Outcome;
    use crate::observation::{Found, observation};
    use crate::page::PageId;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000_200 + 3600 * hour)
    }

    fn visit(hour: i64, changed: Option<bool>) -> Observation {
        let found = Found { version: VersionId(1), text_rules: 0, has_words: true };
        Observation { found: Some(found), changed, ..observation(at(hour), Outcome::Fetched) }
    }

    fn told(kind: SignalKind, date: Option<i64>, learnt: i64) -> Signal {
        Signal { page: PageId(1), kind, date: date.map(at), learnt_at: at(learnt) }
    }

    fn trust(kind: SignalKind, log: &[Observation], signals: &[Signal]) -> HostTrust {
        let first = signals.iter().find(|signal| signal.kind == kind).expect("a signal");
        let mut trust = HostTrust::new(first.learnt_at);
        ToldVisit::of_log(log, signals).iter().for_each(|visit| trust.add(kind, visit));
        trust
    }

    #[test]
    fn visits_say_how_often_signals_were_right() {
        // First seen at 0. Told at 2, right at 3. Told nothing, changed at 5. Told at 6, nothing at 7. Quiet at 9.
        let log = [
            visit(0, None),
            visit(3, Some(true)),
            visit(5, Some(true)),
            visit(7, Some(false)),
            visit(9, Some(false)),
        ];
        let signals = [told(SignalKind::Sitemap, Some(1), 2), told(SignalKind::Sitemap, None, 6)];
        let trust = trust(SignalKind::Sitemap, &log, &signals);
        assert_eq!((trust.right, trust.wrong, trust.missed, trust.quiet), (1, 1, 1, 1));
        assert_eq!((trust.precision(), trust.recall()), (Some(0.5), Some(0.5)));
        assert!((trust.lateness().expect("one gave a date").seconds() - 3600.0).abs() < 1e-3);
    }

    #[test]
    fn a_kind_is_not_blamed_for_changes_before_it_was_there() {
        let log = [visit(0, None), visit(1, Some(true)), visit(2, Some(true)), visit(5, Some(true))];
        let trust = trust(SignalKind::Feed, &log, &[told(SignalKind::Feed, Some(3), 4)]);
        assert_eq!((trust.right, trust.missed), (1, 0));
    }

    #[test]
    fn several_signals_before_one_visit_are_one() {
        let log = [visit(0, None), visit(9, Some(true))];
        let signals = [
            told(SignalKind::Hub, None, 1),
            told(SignalKind::Hub, None, 2),
            told(SignalKind::Ping, Some(2), 3),
        ];
        let hub = trust(SignalKind::Hub, &log, &signals);
        assert_eq!((hub.right, hub.told(), hub.lateness()), (1, 1, None));
        assert_eq!(trust(SignalKind::Ping, &log, &signals).right, 1);
    }

    #[test]
    fn old_news_tells_nothing() {
        // Visited at 4; what we learnt at 5 of a change at 3 was seen already.
        let log = [visit(0, None), visit(4, Some(true)), visit(8, Some(true))];
        let trust = trust(SignalKind::Sitemap, &log, &[told(SignalKind::Sitemap, Some(3), 5)]);
        assert_eq!((trust.right, trust.missed), (0, 1));
    }

    #[test]
    fn nothing_is_said_before_there_is_anything_to_say() {
        let trust = HostTrust::new(at(0));
        assert_eq!((trust.precision(), trust.recall(), trust.lateness()), (None, None, None));
    }

    proptest! {
        #[test]
        fn every_comparison_counts_once_and_shares_are_shares(
            steps in prop::collection::vec((0_usize..6, prop::option::of(-3_i64..90), any::<bool>()), 1..60),
        ) {
            let (mut log, mut signals) = (vec![visit(-9, None)], vec![told(SignalKind::Sitemap, None, -8)]);
            for (hour, (what, date, changed)) in (0..).zip(steps) {
                match SignalKind::ALL.get(what) {
                    Some(kind) => signals.push(told(*kind, date, hour)),
                    None => log.push(visit(hour, Some(changed))),
                }
            }
            let visits = ToldVisit::of_log(&log, &signals);
            prop_assert_eq!(visits.len(), log.len() - 1);
            let trust = trust(SignalKind::Sitemap, &log, &signals);
            prop_assert_eq!(trust.right + trust.wrong + trust.missed + trust.quiet, visits.len() as u64);
            prop_assert_eq!(trust.right + trust.missed, visits.iter().filter(|visit| visit.changed).count() as u64);
            prop_assert!(trust.dated <= trust.right);
            for share in [trust.precision(), trust.recall()].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            // In any order the sums are the same.
            let mut backwards = HostTrust::new(trust.since);
            visits.iter().rev().for_each(|visit| backwards.add(SignalKind::Sitemap, visit));
            prop_assert_eq!(backwards, trust);
        }
    }
}
