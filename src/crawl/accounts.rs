//! The accounts of a crawl: every visit, request and refusal is counted here, by one rule.

use std::collections::BTreeMap;

use super::batch::RecordedVisit;
use crate::fetch::Traffic;
use crate::fetch::visit::{OutcomeClass, Waiting};
use crate::store::Tally;
use crate::unique::Refusal;

/// The counts of a crawl so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were sent, for robots.txt and sitemaps too.
    pub requests: u64,
    /// Bytes of the bodies that came, decoded.
    pub bytes: u64,
    /// Visits that brought the page, or the answer that it is unchanged.
    pub fetched: u64,
    /// Pages found that were not known.
    pub new: u64,
    /// Visits that found another content.
    pub changed: u64,
    /// Visits that found the content that was held.
    pub unchanged: u64,
    /// Visits that were sent elsewhere.
    pub redirected: u64,
    /// Visits that brought nothing.
    pub failed: u64,
    /// Visits that robots.txt or the address rules forbade.
    pub blocked: u64,
    /// Visits put off to a later cycle.
    pub deferred: u64,
    /// Visits by how they ended.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Visits put off, by reason.
    pub put_off: BTreeMap<&'static str, u64>,
    /// Links not taken, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

/// How visits ended, counted: the one rule, for what is shown and for what the store keeps of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VisitCounts {
    pub(super) fetched: u64,
    pub(super) redirected: u64,
    pub(super) blocked: u64,
    pub(super) failed: u64,
    /// Fetched, and another content than the one held.
    pub(super) changed: u64,
    /// Fetched, and the content that was held.
    pub(super) unchanged: u64,
}

impl VisitCounts {
    pub(super) fn of(visits: &[RecordedVisit]) -> Self {
        let mut counts = Self::default();
        for RecordedVisit { outcome, changed, .. } in visits {
            match outcome.class() {
                OutcomeClass::Fetched => counts.fetched += 1,
                OutcomeClass::Redirected => counts.redirected += 1,
                OutcomeClass::Blocked => counts.blocked += 1,
                OutcomeClass::Failed => counts.failed += 1,
            }
            // Only a page that was fetched can be compared; the first visit has nothing to compare with.
            match changed {
                Some(true) => counts.changed += 1,
                Some(false) => counts.unchanged += 1,
                None => {}
            }
        }
        counts
    }
}

/// The counts of a crawl, and how much of the traffic is in the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    /// The counts that people see.
    pub(super) counts: Counts,
    /// Traffic of this cycle that was counted.
    counted: Traffic,
}

impl Accounts {
    /// A cycle opens: its fetcher counts from nothing.
    pub(super) fn open_cycle(&mut self) {
        self.counted = Traffic::default();
    }

    /// Requests of this cycle that were counted.
    pub(super) fn requests_in_cycle(&self) -> u64 {
        self.counted.requests
    }

    /// A batch was recorded: these visits, and `new` pages that were not known.
    pub(super) fn record(&mut self, visits: &[RecordedVisit], new: usize) {
        let VisitCounts { fetched, redirected, blocked, failed, changed, unchanged } =
            VisitCounts::of(visits);
        let counts = &mut self.counts;
        counts.new += new as u64;
        counts.fetched += fetched;
        counts.redirected += redirected;
        counts.blocked += blocked;
        counts.failed += failed;
        counts.changed += changed;
        counts.unchanged += unchanged;
        for visit in visits {
            *counts.outcomes.entry(visit.outcome.code()).or_default() += 1;
        }
    }

    /// Visits were put off. Returns what the store's cycle counts of it: a cycle that was stopped goes on in the next run, so
    /// for the store the visits that it did not reach are not put off.
    pub(super) fn put_off(&mut self, why: Waiting, visits: u64) -> Tally {
        self.counts.deferred += visits;
        *self.counts.put_off.entry(why.name()).or_default() += visits;
        let deferred = if why == Waiting::Stopped { 0 } else { visits };
        Tally { deferred, ..Tally::default() }
    }

    /// Links were refused.
    pub(super) fn refuse(&mut self, refusals: &[(Refusal, u64)]) {
        for (reason, count) in refusals {
            *self.counts.refused.entry(reason.name()).or_default() += count;
        }
    }

    /// The cycle's fetcher has sent and received `traffic` so far. Returns the part that was not counted before, for the
    /// store.
    pub(super) fn spend(&mut self, traffic: Traffic) -> Tally {
        let spent = Tally {
            requests: traffic.requests - self.counted.requests,
            bytes: traffic.bytes - self.counted.bytes,
            ..Tally::default()
        };
        self.counts.requests += spent.requests;
        self.counts.bytes += spent.bytes;
        self.counted = traffic;
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::{Failure, Outcome, RedirectFault, Refused};

    #[test]
    fn every_visit_is_counted_once_by_its_class() {
        let to = url::Url::parse("https://example.org/").expect("a URL");
        let visit = |outcome, changed| RecordedVisit { outcome, changed, event: None };
        let visits = [
            visit(Outcome::Fetched, Some(true)),
            visit(Outcome::NotModified, Some(false)),
            visit(Outcome::Redirected { to, permanent: true }, None),
            visit(Outcome::Refused(Refused::Robots), None),
            visit(Outcome::Missing, None),
            visit(Outcome::BadRedirect(RedirectFault::Loop), None),
            visit(Outcome::Failed(Failure::Dns), None),
        ];
        let mut accounts = Accounts::default();
        accounts.record(&visits, 3);
        let counts = &accounts.counts;
        assert_eq!((counts.fetched, counts.redirected, counts.blocked, counts.failed), (2, 1, 1, 3));
        assert_eq!((counts.changed, counts.unchanged, counts.new), (1, 1, 3));
        assert_eq!(counts.outcomes.values().sum::<u64>(), 7);
        assert_eq!(counts.outcomes["redirect-loop"], 1);
    }

    #[test]
    fn traffic_is_counted_once_and_anew_for_each_cycle() {
        let mut accounts = Accounts::default();
        let so_far = |requests, bytes| Traffic { requests, bytes };
        assert_eq!(accounts.spend(so_far(3, 100)), Tally { requests: 3, bytes: 100, ..Tally::default() });
        assert_eq!(accounts.spend(so_far(5, 100)), Tally { requests: 2, ..Tally::default() });
        assert_eq!(accounts.spend(so_far(5, 100)), Tally::default());
        accounts.open_cycle();
        assert_eq!(accounts.spend(so_far(1, 7)).requests, 1);
        assert_eq!((accounts.counts.requests, accounts.counts.bytes), (6, 107));
        assert_eq!(accounts.requests_in_cycle(), 1);
    }

    #[test]
    fn a_stopped_cycle_puts_nothing_off_in_the_store() {
        let mut accounts = Accounts::default();
        assert_eq!(accounts.put_off(Waiting::Budget, 4).deferred, 4);
        assert_eq!(accounts.put_off(Waiting::Stopped, 2).deferred, 0);
        assert_eq!(accounts.counts.deferred, 6);
        assert_eq!(accounts.counts.put_off["stopped"], 2);
    }
}
