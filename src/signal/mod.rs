//! Signals: hints from outside a page that it changed, and how far each host's can be trusted.
//!
//! A signal is a logged fact: which page, what kind, the date it gives, when we learnt of it. It is never a visit by itself.
//! Policies see a page's signals as counts by kind ([`PageSignals`]).

pub mod clock;
pub mod hub;
pub mod lists;
pub mod spec;
pub mod trust;

use std::time::Duration;

pub use crate::page::{PageSignals, SignalCount, SignalKind};

use crate::page::PageId;
use crate::time::Timestamp;
use crate::varint::{push, take_byte, take_small};

impl SignalKind {
    /// All kinds, in the order of [`PageSignals`].
    pub const ALL: [Self; 4] = [Self::Sitemap, Self::Feed, Self::Hub, Self::Ping];

    /// The name in the store, in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::Hub => "hub",
            Self::Ping => "ping",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A hint that a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The page.
    pub page: PageId,
    /// Where the hint comes from.
    pub kind: SignalKind,
    /// When the page changed, as the signal says; `None` if it gives no date.
    pub date: Option<Timestamp>,
    /// When we learnt of it.
    pub learnt_at: Timestamp,
}

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;

/// The latest moment that a date can stand for: many sitemaps give days, and a day is the whole of it. No later than `at`, when
/// the date was read.
pub fn latest_moment(date: Timestamp, at: Timestamp) -> Timestamp {
    if date.millis() % DAY_MILLIS != 0 {
        return date;
    }
    let end = date.plus(Duration::from_millis(DAY_MILLIS.unsigned_abs() - 1));
    end.min(at.max(date))
}

impl Signal {
    /// Does it tell of a change that a visit at `seen_at` can't have seen? `None`: there is no copy of the page.
    ///
    /// A signal that we learnt before the visit is used up by it. One that we learnt later is old news if its date is not later than
    /// the visit.
    pub fn is_news(&self, seen_at: Option<Timestamp>) -> bool {
        let Some(seen_at) = seen_at else { return true };
        self.learnt_at > seen_at && self.date.is_none_or(|date| latest_moment(date, self.learnt_at) > seen_at)
    }
}

impl PageSignals {
    /// No signal ever came.
    pub const NONE: Self =
        Self { by_kind: [SignalCount { since_visit: 0, total: 0 }; SignalKind::ALL.len()] };

    /// The count of one kind.
    pub fn of(&self, kind: SignalKind) -> SignalCount {
        self.by_kind.get(kind as usize).copied().unwrap_or_default()
    }

    /// Has the page ever had a signal?
    pub fn any(&self) -> bool {
        self.by_kind.iter().any(|count| count.total > 0)
    }

    /// Counts a signal that was just learnt.
    pub fn learn(&mut self, kind: SignalKind) {
        if let Some(count) = self.by_kind.get_mut(kind as usize) {
            count.since_visit = count.since_visit.saturating_add(1);
            count.total = count.total.saturating_add(1);
        }
    }

    /// Counts a signal that was learnt late: a visit has seen the page since the change that it tells of.
    pub fn learn_late(&mut self, kind: SignalKind) {
        if let Some(count) = self.by_kind.get_mut(kind as usize) {
            count.total = count.total.saturating_add(1);
        }
    }

    /// Counts the signals of a page. `seen_at`: the last visit that brought or confirmed its copy.
    pub fn of_log<'a>(
        signals: impl IntoIterator<Item = &'a Signal>,
        seen_at: Option<Timestamp>,
    ) -> PageSignals {
        let mut counts = Self::default();
        for signal in signals {
            counts.take(signal, seen_at);
        }
        counts
    }

    /// Counts one more signal of the log. It counts as one since the visit only if it tells something new.
    pub fn take(&mut self, signal: &Signal, seen_at: Option<Timestamp>) {
        if let Some(count) = self.by_kind.get_mut(signal.kind as usize) {
            count.total = count.total.saturating_add(1);
            count.since_visit = count.since_visit.saturating_add(u32::from(signal.is_news(seen_at)));
        }
    }

    /// The page was visited at `seen_at`, and the visit brought or confirmed its copy. `recent` holds at least the signals of the
    /// page that were learnt after that.
    pub fn seen<'a>(&mut self, seen_at: Timestamp, recent: impl IntoIterator<Item = &'a Signal>) {
        self.visited();
        for signal in recent.into_iter().filter(|signal| signal.is_news(Some(seen_at))) {
            if let Some(count) = self.by_kind.get_mut(signal.kind as usize) {
                count.since_visit = count.since_visit.saturating_add(1);
            }
        }
    }

    /// The bytes that a store keeps; empty if there never was a signal. A byte says which kinds have counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if !self.any() {
            return bytes;
        }
        bytes.push(0);
        for (place, count) in self.by_kind.iter().enumerate().filter(|(_, count)| count.total > 0) {
            if let Some(kinds) = bytes.first_mut() {
                *kinds |= 1 << place;
            }
            push(&mut bytes, u64::from(count.total));
            push(&mut bytes, u64::from(count.since_visit));
        }
        bytes
    }

    /// Reads the bytes of [`PageSignals::to_bytes`]; `None` if they can't be read.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut counts = Self::default();
        let mut rest = bytes;
        if rest.is_empty() {
            return Some(counts);
        }
        let kinds = take_byte(&mut rest)?;
        for (place, count) in counts.by_kind.iter_mut().enumerate() {
            if kinds & (1 << place) != 0 {
                *count = SignalCount { total: take_small(&mut rest)?, since_visit: take_small(&mut rest)? };
            }
        }
        rest.is_empty().then_some(counts)
    }

    /// The page was visited: its signals so far are used up.
    pub fn visited(&mut self) {
        self.by_kind.iter_mut().for_each(|count| count.since_visit = 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_visit_uses_signals_up() {
        let mut signals = PageSignals::default();
        assert!(!signals.any());
        signals.learn(SignalKind::Feed);
        signals.learn(SignalKind::Feed);
        signals.visited();
        signals.learn(SignalKind::Feed);
        assert_eq!(signals.of(SignalKind::Feed), SignalCount { since_visit: 1, total: 3 });
        signals.learn_late(SignalKind::Feed);
        assert_eq!(signals.of(SignalKind::Feed), SignalCount { since_visit: 1, total: 4 });
        assert_eq!(signals.of(SignalKind::Ping), SignalCount::default());
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + seconds)
    }

    fn signal(kind: SignalKind, date: Option<i64>, learnt: i64) -> Signal {
        Signal { page: PageId(1), kind, date: date.map(at), learnt_at: at(learnt) }
    }

    #[test]
    fn what_a_visit_has_seen_is_no_news() {
        let told = signal(SignalKind::Sitemap, Some(50), 100);
        assert!(told.is_news(None) && told.is_news(Some(at(49))));
        assert!(!told.is_news(Some(at(50))), "the visit saw that change");
        assert!(!told.is_news(Some(at(100))), "learnt before the visit: used up");
        let undated = signal(SignalKind::Feed, None, 100);
        assert!(undated.is_news(Some(at(99))) && !undated.is_news(Some(at(100))));
    }

    #[test]
    fn a_date_without_a_time_is_the_whole_day() {
        let day = Timestamp::from_seconds(20_000 * 86_400);
        let hour = |hour: u64| day.plus(Duration::from_secs(3600 * hour));
        let told = Signal { page: PageId(1), kind: SignalKind::Sitemap, date: Some(day), learnt_at: hour(9) };
        assert!(told.is_news(Some(hour(8))));
        assert_eq!(latest_moment(day, hour(9)), hour(9), "not later than it was read");
        assert_eq!(latest_moment(day, hour(30)), Timestamp::from_millis(hour(24).millis() - 1));
        assert_eq!(latest_moment(hour(5), hour(30)), hour(5));
        assert_eq!(
            latest_moment(day, hour(0).minus(Duration::from_secs(60))),
            day,
            "a date of the future stays"
        );
    }

    #[test]
    fn counts_survive_their_bytes_and_take_no_room_without_signals() {
        let mut counts = PageSignals::default();
        assert_eq!((counts.to_bytes(), PageSignals::from_bytes(&[])), (Vec::new(), Some(counts)));
        counts.by_kind[0] = SignalCount { since_visit: 2, total: 300 };
        counts.by_kind[3] = SignalCount { since_visit: 0, total: 1 };
        assert_eq!(PageSignals::from_bytes(&counts.to_bytes()), Some(counts));
        assert_eq!(counts.to_bytes().len(), 6);
        assert_eq!(PageSignals::from_bytes(&[1]), None);
        assert_eq!(PageSignals::from_bytes(&[0, 9]), None);
    }

    proptest! {
        #[test]
        fn counts_live_are_the_counts_of_the_log(
            facts in prop::collection::vec((0_usize..5, prop::option::of(-5_i64..120), 0_i64..9), 0..40),
        ) {
            // Time passes; each step is a signal of some kind or a visit that was sent some time ago.
            let (mut live, mut log, mut seen_at) = (PageSignals::default(), Vec::new(), None);
            for (step, (what, date, ago)) in (0..).zip(facts) {
                let now = step * 3;
                match SignalKind::ALL.get(what) {
                    Some(kind) => {
                        let signal = signal(*kind, date, now);
                        live.take(&signal, seen_at);
                        log.push(signal);
                    }
                    None => {
                        let at = at(now - ago);
                        seen_at = Some(at);
                        live.seen(at, log.iter().filter(|signal: &&Signal| signal.learnt_at > at));
                    }
                }
                prop_assert_eq!(live, PageSignals::of_log(&log, seen_at));
                prop_assert_eq!(PageSignals::from_bytes(&live.to_bytes()), Some(live));
            }
        }
    }

    #[test]
    fn kinds_have_names() {
        for kind in SignalKind::ALL {
            assert_eq!(SignalKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(SignalKind::from_name("changefreq"), None);
    }
}
