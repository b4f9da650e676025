//! The memory of a page: how much it moved in which time, over its life and of late.
//!
//! The sums are those before the last visit, and the last visit stands beside them. So the memory tells both what is known of
//! the page now and what was known when its last visit was planned, which is what the collection learns from.

use crate::policy::{Lesson, PageMemory};
use crate::signal::PageSignals;
use crate::signal::lists::MOST_UNUSED;
use crate::varint::{push_float32, push_short_float, short_float, take_byte, take_float32, take_short_float};

/// What the sums of late keep at each visit (g).
const KEEP: f64 = 0.95;

/// What a page's visits added up to. Times are in days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct WatchedSums {
    /// All divergence that was found (Y), in the time under watch (T).
    pub(super) found: f64,
    pub(super) days: f64,
    /// The same, fading at each visit (Ry, Rt).
    pub(super) found_of_late: f64,
    pub(super) days_of_late: f64,
    /// From the last change that was seen to the last visit; `None` if no change was ever seen.
    pub(super) quiet_days: Option<f64>,
    /// The copy is of a removed page, or has no words.
    pub(super) is_gone: bool,
}

impl WatchedSums {
    /// After one more visit.
    fn after(self, visit: &LastVisit) -> Self {
        Self {
            found: f64::from((self.found + visit.found) as f32),
            days: f64::from((self.days + visit.days) as f32),
            found_of_late: f64::from((KEEP * self.found_of_late + visit.found) as f32),
            days_of_late: f64::from((KEEP * self.days_of_late + visit.days) as f32),
            quiet_days: match self.quiet_days {
                _ if visit.changed => Some(0.0),
                quiet => quiet.map(|quiet| f64::from((quiet + visit.days) as f32)),
            },
            is_gone: visit.is_gone,
        }
    }
}

/// The last visit that had something to compare with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LastVisit {
    /// Divergence from the copy.
    pub(super) found: f64,
    /// Days since the copy was taken or confirmed.
    pub(super) days: f64,
    pub(super) changed: bool,
    /// What it found has no words.
    pub(super) is_gone: bool,
    /// Divergence from the oldest base version, and the age of that version in days, to 0.2 %.
    pub(super) oldest: (f64, f64),
    /// The signals that the page had at the visit.
    pub(super) signals: PageSignals,
}

/// The memory of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PageWatch {
    /// Before the last visit.
    pub(super) before: WatchedSums,
    pub(super) last: Option<LastVisit>,
    /// It lists changes of other pages one by one, with their dates: a feed.
    pub(super) is_feed: bool,
}

const HAS_LAST: u8 = 1;
const CHANGED: u8 = 2;
const GONE: u8 = 4;
const WAS_GONE: u8 = 8;
const HAD_CHANGED: u8 = 16;
const FEED: u8 = 32;

impl PageWatch {
    /// After all visits.
    pub(super) fn sums(&self) -> WatchedSums {
        self.last.as_ref().map_or(self.before, |last| self.before.after(last))
    }

    /// Adds a visit that found `found` of the page replaced. Numbers are rounded as they will be read back.
    /// `hears`: its signals are remembered.
    pub(super) fn add(&mut self, lesson: &Lesson, found: f64, hears: bool) {
        let days = lesson.interval.days().clamp(0.0, MOST_DAYS);
        let oldest = lesson
            .bases
            .iter()
            .filter(|base| base.age.days().is_finite() && !base.divergence.is_nan())
            .max_by(|a, b| a.age.days().total_cmp(&b.age.days()));
        let oldest = oldest.map_or((0.0, 0.0), |base| {
            (short_float(base.divergence.clamp(0.0, 1.0)), short_float(base.age.days().min(MOST_DAYS)))
        });
        self.before = self.sums();
        self.is_feed |= lesson.events.is_some();
        self.last = Some(LastVisit {
            found: f64::from(found as f32),
            days: f64::from(days as f32),
            changed: lesson.changed,
            is_gone: lesson.is_empty,
            oldest,
            signals: if hears { cut(lesson.signals) } else { PageSignals::NONE },
        });
    }

    pub(super) fn of(memory: &PageMemory) -> Self {
        memory.peek(Self::take_bytes).unwrap_or_default()
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let last = self.last.unwrap_or_default();
        bytes.push(
            flag(self.last.is_some(), HAS_LAST)
                | flag(last.changed, CHANGED)
                | flag(last.is_gone, GONE)
                | flag(self.before.is_gone, WAS_GONE)
                | flag(self.before.quiet_days.is_some(), HAD_CHANGED)
                | flag(self.is_feed, FEED),
        );
        push_float32(bytes, self.before.found);
        push_float32(bytes, self.before.days);
        push_float32(bytes, self.before.found_of_late);
        push_float32(bytes, self.before.days_of_late);
        if let Some(quiet) = self.before.quiet_days {
            push_float32(bytes, quiet);
        }
        if self.last.is_some() {
            push_float32(bytes, last.found);
            push_float32(bytes, last.days);
            push_short_float(bytes, last.oldest.0);
            push_short_float(bytes, last.oldest.1);
        }
        bytes.extend(last.signals.to_bytes());
    }

    /// Reads what [`Self::push_bytes`] wrote; nothing follows it.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let flags = take_byte(rest)?;
        let is = |flag: u8| flags & flag != 0;
        let mut before = WatchedSums {
            found: take_float32(rest)?,
            days: take_float32(rest)?,
            found_of_late: take_float32(rest)?,
            days_of_late: take_float32(rest)?,
            quiet_days: None,
            is_gone: is(WAS_GONE),
        };
        if is(HAD_CHANGED) {
            before.quiet_days = Some(take_float32(rest)?);
        }
        let mut watched = Self { before, last: None, is_feed: is(FEED) };
        if is(HAS_LAST) {
            let (found, days) = (take_float32(rest)?, take_float32(rest)?);
            let oldest = (take_short_float(rest)?, take_short_float(rest)?);
            let signals = PageSignals::from_bytes(std::mem::take(rest))?;
            watched.last =
                Some(LastVisit { found, days, changed: is(CHANGED), is_gone: is(GONE), oldest, signals });
        }
        Some(watched)
    }
}

/// Counts as they are remembered. Beyond [`MOST_SIGNALS`] another signal tells little.
fn cut(mut signals: PageSignals) -> PageSignals {
    for count in &mut signals.by_kind {
        count.total = count.total.min(MOST_SIGNALS);
        count.since_visit = count.since_visit.min(MOST_UNUSED);
    }
    signals
}

/// Two bytes hold it.
const MOST_SIGNALS: u32 = (1 << 14) - 1;

/// Longer intervals are cut: no page is watched for three billion years.
const MOST_DAYS: f64 = 1e12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Apart;
    use crate::signal::SignalCount;
    use crate::time::{Age, Timestamp};

    fn lesson(days: f64, changed: bool) -> Lesson {
        Lesson::of_bit(Timestamp::default(), Age::from_days(days), changed)
    }

    #[test]
    fn the_memory_tells_what_was_known_before_the_last_visit_and_after_it() {
        let mut watched = PageWatch::default();
        watched.add(&lesson(2.0, true), 0.5, true);
        watched.add(&lesson(3.0, false), 0.0, true);
        assert_eq!((watched.before.found, watched.before.days), (0.5, 2.0));
        assert_eq!(watched.before.quiet_days, Some(0.0));
        let sums = watched.sums();
        assert_eq!((sums.found, sums.days, sums.quiet_days), (0.5, 5.0, Some(3.0)));
        assert!((sums.found_of_late - 0.95 * 0.5).abs() < 1e-7);
        assert!((sums.days_of_late - (0.95 * 2.0 + 3.0)).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn the_bytes_are_few_and_give_the_memory_back(
            visits in prop::collection::vec(
                (0.0..1e4_f64, any::<bool>(), 0.0..1.0_f64, any::<bool>(), prop::array::uniform4((0_u32..20, any::<u32>()))), 0..20)
        ) {
            let mut watched = PageWatch::default();
            for (days, changed, found, is_empty, counts) in visits {
                let bases = vec![Apart { age: Age::from_days(days), divergence: found }];
                let by_kind = counts.map(|(since_visit, total)| SignalCount { since_visit, total });
                let signals = PageSignals { by_kind };
                watched.add(&Lesson { is_empty, bases, signals, ..lesson(days, changed) }, found, true);
                if let Some(last) = &mut watched.last {
                    // A kind without a signal has none since the visit, either.
                    let none = last.signals.by_kind.iter_mut().filter(|count| count.total == 0);
                    none.for_each(|count| count.since_visit = 0);
                }
                let mut bytes = Vec::new();
                watched.push_bytes(&mut bytes);
                prop_assert!(bytes.len() <= 48, "{}", bytes.len());
                prop_assert_eq!(PageWatch::take_bytes(&mut &bytes[..]), Some(watched));
            }
        }
    }
}
