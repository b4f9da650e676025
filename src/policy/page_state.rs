//! Everything that a policy may see of a page: its observations, folded.

use crate::estimate::dated::{Claims, Trust, last_change};
use crate::estimate::{EstimatorState, Seen};
use crate::observation::{Lesson, Life};
use crate::page::{Depth, HostId, Kin, PageId};
use crate::signal::PageSignals;
use crate::time::{Age, Timestamp};
use crate::varint::{push, push_signed, take_byte, take_signed, take_small};

use super::Policy;
use super::page_memory::PageMemory;

/// A page as a policy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageState {
    /// Its number.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// The number of links from a seed.
    pub depth: Depth,
    /// Pages with similar addresses.
    pub kin: Kin,
    /// Importance; 1 is an ordinary page.
    pub weight: f64,
    /// When it was found.
    pub found_at: Timestamp,
    /// The last visit, however it ended; `None` for a page never visited.
    pub last_visit: Option<Timestamp>,
    /// The last visit that brought or confirmed the copy; `None` if there is no copy.
    pub seen_at: Option<Timestamp>,
    /// Is it alive, failing, or gone?
    pub life: Life,
    /// The number of failed visits in a row.
    pub failures: u32,
    /// What visits have taught about it.
    pub learnt: Learnt,
    /// For a page that was never fetched: the gain in search results that the words of the links to it promise. 0 if no policy asks.
    pub anchor_gain: f64,
    /// What signals say of it, counted by kind.
    pub signals: PageSignals,
    /// A list (a sitemap) told of it, not a link on a page. So it is with seeds and pings, too.
    pub is_listed: bool,
}

impl PageState {
    /// A page that was just found.
    pub fn found(page: PageId, host: HostId, depth: Depth, weight: f64, found_at: Timestamp) -> Self {
        let (last_visit, seen_at, life, failures) = (None, None, Life::New, 0);
        let learnt = Learnt::default();
        let kin = Kin::default();
        let anchor_gain = 0.0;
        let signals = PageSignals::default();
        Self {
            page,
            host,
            depth,
            kin,
            weight,
            found_at,
            last_visit,
            seen_at,
            life,
            failures,
            learnt,
            anchor_gain,
            signals,
            is_listed: false,
        }
    }

    /// Time since the last visit; for a page never visited, since it was found.
    pub fn age(&self, now: Timestamp) -> Age {
        now.since(self.waits_since())
    }

    /// The moment since which the page has waited: its last visit, or when it was found.
    pub fn waits_since(&self) -> Timestamp {
        self.last_visit.unwrap_or(self.found_at)
    }

    /// The age of the copy: the time since a visit last brought or confirmed it. A failed visit does not make a copy younger.
    pub(crate) fn copy_age(&self, now: Timestamp) -> Age {
        now.since(self.seen_at.unwrap_or_else(|| self.waits_since()))
    }

    /// Is there a copy of it?
    pub(crate) fn is_held(&self) -> bool {
        self.seen_at.is_some()
    }
}

/// What visits have taught about a page: counts for every policy, and the policy's own memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learnt {
    /// Counts of visits and changes, and the estimator's memory.
    pub state: EstimatorState,
    /// The policy's own memory of the page.
    pub memory: PageMemory,
    /// The dates that the page gives for its own changes.
    pub dates: Dates,
    /// New pages that were found on it after its first visit.
    pub new_links: u32,
}

/// Flags of the bytes of a [`Learnt`]: there is a date that the page gave; it is in seconds, as most are; and the state is short, see
/// [`EstimatorState::is_short`]. Earlier releases knew the first one only.
const HAS_DATE: u8 = 1;
const IN_SECONDS: u8 = 2;
const SHORT: u8 = 4;

impl Learnt {
    /// Adds one more visit, as the policy learns.
    pub fn take(&mut self, lesson: &Lesson, host: HostId, depth: Depth, policy: &dyn Policy) {
        let seen = self.dates.see(lesson);
        policy.learn(host, depth, self, lesson, seen);
        // If the page did not change, its links are new only because the scope has changed.
        if lesson.changed || lesson.moved() > 0.0 {
            self.new_links = self.new_links.saturating_add(lesson.new_links);
        }
    }

    /// The bytes that a store keeps.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40);
        push(&mut bytes, u64::from(self.new_links));
        push(&mut bytes, u64::from(self.dates.trust.kept));
        push(&mut bytes, u64::from(self.dates.trust.broken));
        let seconds = self.dates.claimed.map(|date| date.millis()).filter(|millis| millis % 1000 == 0);
        let is_short = self.state.is_short();
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.dates.claimed.is_some(), HAS_DATE) | flag(seconds.is_some(), IN_SECONDS);
        bytes.push(flags | flag(is_short, SHORT));
        if let Some(date) = self.dates.claimed {
            push_signed(&mut bytes, seconds.map_or(date.millis(), |millis| millis / 1000));
        }
        if is_short {
            self.state.push_short_bytes(&mut bytes);
        } else {
            self.state.push_bytes(&mut bytes);
        }
        bytes.extend_from_slice(self.memory.bytes());
        bytes
    }

    /// Reads the bytes of [`Learnt::to_bytes`]; `None` if they can't be read. The policy's memory is not looked into.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let (new_links, kept, broken) =
            (take_small(&mut rest)?, take_small(&mut rest)?, take_small(&mut rest)?);
        let flags = take_byte(&mut rest)?;
        let claimed = match flags & (HAS_DATE | IN_SECONDS) {
            HAS_DATE => Some(Timestamp::from_millis(take_signed(&mut rest)?)),
            0 => None,
            _ => Some(Timestamp::from_millis(take_signed(&mut rest)?.saturating_mul(1000))),
        };
        let state = match flags & SHORT {
            0 => EstimatorState::take_bytes(&mut rest)?,
            _ => EstimatorState::take_short_bytes(&mut rest)?,
        };
        let dates = Dates { claimed, trust: Trust { kept, broken } };
        Some(Self { state, memory: PageMemory::from_bytes(rest), dates, new_links })
    }
}

/// The dates that a page gives for its own changes, and how far they can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dates {
    /// The date that the page gave at the last visit.
    pub claimed: Option<Timestamp>,
    /// How often its dates were right.
    pub trust: Trust,
}

/// What each of these visits tells about changes, in their order.
pub(crate) fn seen(lessons: &[Lesson]) -> impl Iterator<Item = (Age, Seen)> + '_ {
    let mut dates = Dates::default();
    lessons.iter().map(move |lesson| (lesson.interval, dates.see(lesson)))
}

impl Dates {
    /// What a visit tells about changes. The page's own date is used only if its dates have been right so far.
    pub fn see(&mut self, lesson: &Lesson) -> Seen {
        let claims = Claims {
            earlier_visit: Timestamp::from_millis(
                lesson.at.millis().saturating_sub((lesson.interval.seconds() * 1000.0) as i64),
            ),
            visit: lesson.at,
            earlier: self.claimed,
            latest: lesson.date,
            changed: lesson.changed,
        };
        let trusted = self.trust.holds();
        self.trust.observe(&claims);
        self.claimed = lesson.date;
        match (lesson.events, last_change(&claims)) {
            (Some(events), _) => Seen::Counted(events),
            (None, Some(ago)) if trusted => Seen::ChangedAgo(ago),
            _ => Seen::from(lesson.changed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(day: i64, changed: bool, date_day: Option<i64>) -> Lesson {
        let at = |day| Timestamp::from_seconds(day * 86_400);
        Lesson {
            // An hour after midnight.
            date: date_day.map(|day| Timestamp::from_seconds(day * 86_400 + 3600)),
            ..Lesson::of_bit(at(day), Age::from_days(2.0), changed)
        }
    }

    #[test]
    fn a_pages_own_dates_count_once_they_have_been_right_three_times() {
        let mut dates = Dates::default();
        assert_eq!(dates.see(&lesson(2, true, Some(1))), Seen::Changed, "nothing to go by yet");
        assert_eq!(dates.see(&lesson(4, false, Some(1))), Seen::Unchanged);
        assert_eq!(dates.see(&lesson(6, false, Some(1))), Seen::Unchanged);
        assert_eq!(dates.see(&lesson(8, true, Some(7))), Seen::Changed, "two times right");
        let Seen::ChangedAgo(ago) = dates.see(&lesson(10, true, Some(9))) else { panic!("{dates:?}") };
        assert!((ago.days() - 23.0 / 24.0).abs() < 1e-9, "{ago:?}");
        // A date that moves though nothing changed is broken trust.
        assert_eq!(dates.see(&lesson(12, false, Some(11))), Seen::Unchanged);
        assert_eq!(dates.see(&lesson(14, true, Some(13))), Seen::Changed);
        assert_eq!(dates.trust, Trust { kept: 5, broken: 1 });
    }

    #[test]
    fn a_feed_tells_how_many() {
        let mut dates = Dates::default();
        assert_eq!(dates.see(&Lesson { events: Some(3), ..lesson(2, true, None) }), Seen::Counted(3));
        assert_eq!(dates.see(&Lesson { events: Some(0), ..lesson(4, false, None) }), Seen::Counted(0));
    }
}
