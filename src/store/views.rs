//! Rows behind the view of sites, the log of a cycle, and what visits brought by day.

use std::collections::BTreeMap;

use serde::Serialize;

use super::VisitRow;
use crate::observation::CycleId;
use crate::page::HostId;
use crate::time::Timestamp;

/// The pages of a host, counted, and the visits that one cycle made there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTally {
    /// Pages by where they are in their life, aliases left out.
    pub lives: BTreeMap<String, u64>,
    /// Those of them that were last visited in the cycle.
    pub lives_in_cycle: BTreeMap<String, u64>,
    /// Pages that were found since the cycle began, aliases left out.
    pub found: u64,
    /// Other spellings of pages.
    pub aliases: u64,
    /// The last visit that brought or confirmed a page.
    pub last_success_at: Option<Timestamp>,
    /// Bytes of packed contents that its pages were the first to bring.
    pub stored_bytes: u64,
    /// Visits of the cycle by how they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Those of them that found a change.
    pub changed: u64,
    /// Bytes of bodies that came in the cycle.
    pub received_bytes: u64,
}

/// A visit as the log shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedVisit {
    /// The address of the page.
    pub url: String,
    /// The observation.
    pub visit: VisitRow,
}

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The visits of a cycle, in order of time.
    Cycle(CycleId),
    /// The visits of a cycle, the latest first.
    CycleBackwards(CycleId),
    /// Visits that were recorded after the one with this number, in the order in which they were recorded.
    After(i64),
}

/// Pages of a host that name one page in their place and are not known to have its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInstead {
    /// The host, as an origin.
    pub host: String,
    /// The address of the page that they name.
    pub target: String,
    /// How many there are.
    pub pages: u64,
    /// Those of them whose text is known to be another one.
    pub unlike: u64,
}

// --- what visits brought -------------------------------------------------------------------------------------------

/// What a visit brought, for figures and strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BroughtKind {
    /// A content, where there was none to compare it with.
    First,
    /// Another content.
    Changed,
    /// The same content once more.
    Unchanged,
    /// 304: the word that the content is the same.
    NotModified,
    /// A redirect.
    Moved,
    /// The answer that there is no such page.
    Gone,
    /// Nothing that can be used: an error, a fault of the network, a wall.
    Failed,
    /// No request was sent: robots.txt forbids it, or the address is private.
    Refused,
}

impl BroughtKind {
    /// All there are, in the order of [`Brought`].
    pub const ALL: [Self; 8] = [
        Self::First,
        Self::Changed,
        Self::Unchanged,
        Self::NotModified,
        Self::Moved,
        Self::Gone,
        Self::Failed,
        Self::Refused,
    ];

    /// By the outcome of the visit, as [`crate::fetch::visit::Outcome::code`] says it, and whether the page changed, as its
    /// observation says.
    pub fn of(outcome: &str, changed: Option<bool>) -> Self {
        match (outcome, changed) {
            ("fetched", None) => Self::First,
            ("fetched", Some(true)) => Self::Changed,
            ("fetched", Some(false)) => Self::Unchanged,
            ("not-modified", _) => Self::NotModified,
            ("moved" | "redirected", _) => Self::Moved,
            ("missing" | "soft-missing", _) => Self::Gone,
            ("robots" | "address", _) => Self::Refused,
            _ => Self::Failed,
        }
    }

    /// Its place in [`BroughtKind::ALL`].
    pub(crate) fn place(self) -> usize {
        self as usize
    }
}

/// Visits by what they brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Brought {
    /// A content, where there was none to compare it with.
    pub first: u64,
    /// Another content.
    pub changed: u64,
    /// 200, with the same content.
    pub unchanged: u64,
    /// 304.
    pub not_modified: u64,
    /// A redirect.
    #[serde(rename = "redirected")]
    pub moved: u64,
    /// The answer that there is no such page.
    pub gone: u64,
    /// Nothing that can be used.
    pub failed: u64,
    /// No request was sent: robots.txt forbids it, or the address is private.
    pub refused: u64,
}

impl Brought {
    /// Counts in the order of [`BroughtKind::ALL`].
    pub fn from_counts(counts: [u64; 8]) -> Self {
        let [first, changed, unchanged, not_modified, moved, gone, failed, refused] = counts;
        Self { first, changed, unchanged, not_modified, moved, gone, failed, refused }
    }

    /// The counts in the order of [`BroughtKind::ALL`].
    pub fn counts(&self) -> [u64; 8] {
        let Self { first, changed, unchanged, not_modified, moved, gone, failed, refused } = *self;
        [first, changed, unchanged, not_modified, moved, gone, failed, refused]
    }

    /// All visits, whether a request was sent or not.
    pub fn visits(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// Adds the counts of others.
    pub fn add(&mut self, other: &Self) {
        let (mut counts, more) = (self.counts(), other.counts());
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        *self = Self::from_counts(counts);
    }
}

/// What the visits of a day (UTC) brought, by host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DayTally {
    /// Days since 1970-01-01.
    pub day: i64,
    /// The host.
    #[serde(skip)]
    pub host: HostId,
    /// The visits.
    pub brought: Brought,
    /// The sum of the divergences of the visits that found a change.
    pub divergence: f64,
    /// Bytes of bodies that came.
    pub bytes: u64,
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// The day (UTC) of a time, in days since 1970-01-01.
pub fn day_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(DAY_MS)
}

/// Visits of a host that are kept at hand.
pub const MOST_TICKS: usize = 60;

/// A visit, as small as a strip of the latest ones needs it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tick {
    /// When it was made, in whole seconds.
    pub at: Timestamp,
    /// What it brought.
    pub brought: BroughtKind,
    /// From what the visit before found, to 1/255; `None` where nothing was measured.
    pub divergence: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::{Outcome, OutcomeClass};

    #[test]
    fn every_outcome_brings_something_that_has_a_name() {
        for outcome in Outcome::PLAIN {
            let kind = BroughtKind::of(outcome.code(), None);
            let is_refused = outcome.class() == OutcomeClass::Blocked;
            assert_eq!(kind == BroughtKind::Refused, is_refused, "{outcome:?}");
            let is_answer = matches!(kind, BroughtKind::First | BroughtKind::NotModified);
            assert_eq!(is_answer, outcome.class() == OutcomeClass::Fetched, "{outcome:?}");
        }
        assert_eq!(BroughtKind::of("fetched", Some(true)), BroughtKind::Changed);
        assert_eq!(BroughtKind::of("moved", None), BroughtKind::Moved);
    }

    #[test]
    fn places_and_counts_agree() {
        for (place, kind) in BroughtKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.place(), place);
        }
        let counts = [1, 2, 3, 4, 5, 6, 7, 8];
        let mut twice = Brought::from_counts(counts);
        twice.add(&Brought::from_counts(counts));
        assert_eq!((twice.counts(), twice.visits()), (counts.map(|count| 2 * count), 72));
    }

    #[test]
    fn a_day_begins_at_midnight_utc() {
        assert_eq!(day_of(Timestamp::from_seconds(86_399)), 0);
        assert_eq!(day_of(Timestamp::from_seconds(86_400)), 1);
        assert_eq!(day_of(Timestamp::from_seconds(-1)), -1);
    }
}
