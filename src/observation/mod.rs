//! A visit compared with what was known of its page: the fact it leaves, and the state that a page's facts add up to.
//!
//! In comes how a visit ended ([`Attempt`]) and what the page held before; out comes an [`Observation`], which is
//! appended to the log, and the page's state after it ([`Folded`]). Every rule is a pure function: the writer of a crawl
//! and a rebuild from the log call the same ones, so that both come to the same page state, to the bit.

pub mod alias;
pub mod claim;
pub mod compare;
pub mod empty;
pub mod event;
pub mod fold;
pub mod lesson;
pub mod life;
pub mod rebuild;
pub mod room;
pub mod told;
pub mod validate;
pub mod wall;

use std::time::Duration;

use url::Url;

pub use alias::{PageGraph, PageNode};
pub use claim::{Claim, SameAs};
pub use compare::{Comparison, Found, VersionHashes};
pub use event::{Condition, EventKind};
pub use fold::Folded;
pub use lesson::{Apart, Lesson};
pub use life::{Life, Standing};
pub use told::Told;
pub use wall::SmallTexts;

use crate::change::VersionId;
use crate::change::profile::Measured;
use crate::fetch::visit::Outcome;
use crate::page::PageId;
use crate::page::PageSignals;
use crate::time::Timestamp;

/// One turn of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleId(pub i64);

/// How one attempt on a page ended, before it is compared with anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// When the request was sent.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The cause in words, where the outcome and the status don't say it all.
    pub reason: Option<String>,
    /// Where the answer leads, whether that is followed or not.
    pub redirect_to: Option<Url>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Length of the body that came.
    pub bytes: u64,
    /// From the request to the end of the answer.
    pub took: Duration,
}

/// The fact that a visit leaves in the log: never changed, never deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The page that was visited.
    pub page: PageId,
    /// The cycle it was visited in.
    pub cycle: CycleId,
    /// How the visit ended.
    pub attempt: Attempt,
    /// The page's version after the visit, if the visit brought or confirmed one.
    pub found: Option<Found>,
    /// Did the page change? `None`: there was nothing to compare with.
    pub changed: Option<bool>,
    /// Divergence of the content found from the stored one; `None` where one of them has no words.
    pub divergence: Option<f64>,
    /// How far it is from each base version that the page had then, oldest first.
    pub bases: Vec<Measured>,
    /// An earlier version with the same text, if the page changed back to it.
    pub returned_to: Option<VersionId>,
    /// Dates and counts that the page or its site gave besides the content.
    pub told: Told,
    /// The page that this one says it is another spelling of.
    pub same_as: Option<SameAs>,
    /// The weight of the page in the cycle of the visit. Weights by links can't be computed again later.
    pub weight: f64,
    /// The signals that the page had at the visit.
    pub signals: PageSignals,
}

impl Observation {
    /// The lesson of this visit about how the page changes. `seen_at`: the visit before that brought or confirmed what
    /// was held. `None` if there was nothing to compare with: a visit that failed leaves the interval open. Nor can an
    /// interval be known if the clock was set back in between.
    pub fn lesson(&self, seen_at: Option<Timestamp>) -> Option<Lesson> {
        let found = self.found?;
        let at = self.attempt.at;
        let seen_at = seen_at.filter(|seen_at| *seen_at <= at)?;
        let Told { date, events, new_links } = self.told;
        Some(Lesson {
            at,
            cycle: self.cycle.0,
            weight: self.weight,
            interval: at.since(seen_at),
            changed: self.changed?,
            date,
            events,
            new_links,
            divergence: self.divergence,
            bases: self.bases.iter().map(|measured| Apart::of(measured, at)).collect(),
            is_empty: !found.has_words,
            signals: self.signals,
        })
    }
}

/// The lessons of one page's visits. `log` holds all of them, in the order in which they were recorded.
pub fn lessons(log: &[Observation]) -> Vec<Lesson> {
    let mut seen_at = None;
    let mut lessons = Vec::new();
    for fact in log.iter().filter(|fact| fact.found.is_some()) {
        lessons.extend(fact.lesson(seen_at));
        seen_at = Some(fact.attempt.at);
    }
    lessons
}

/// A visit that brought nothing, for tests to build on.
#[cfg(test)]
pub(crate) fn observation(at: Timestamp, outcome: Outcome) -> Observation {
    Observation {
        page: PageId(1),
        cycle: CycleId(1),
        attempt: Attempt {
            at,
            outcome,
            reason: None,
            redirect_to: None,
            status: None,
            bytes: 0,
            took: Duration::ZERO,
        },
        found: None,
        changed: None,
        divergence: None,
        bases: Vec::new(),
        returned_to: None,
        told: Told::default(),
        same_as: None,
        weight: 1.0,
        signals: PageSignals::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Age;

    const AT: Timestamp = Timestamp::from_seconds(1_000_000);

    fn found(seconds: u64, changed: Option<bool>) -> Observation {
        let found = Found { version: VersionId(1), text_rules: 0, has_words: true };
        let at = AT.plus(Duration::from_secs(seconds));
        Observation { found: Some(found), changed, ..observation(at, Outcome::Fetched) }
    }

    #[test]
    fn a_visit_that_failed_leaves_the_interval_open() {
        let failed = observation(AT.plus(Duration::from_secs(50)), Outcome::ServerError);
        let log = [found(0, None), failed, found(100, Some(false)), found(300, Some(true))];
        let taught: Vec<(Age, bool)> =
            lessons(&log).iter().map(|lesson| (lesson.interval, lesson.changed)).collect();
        let seconds = |seconds: f64| Age::from_days(seconds / 86_400.0);
        assert_eq!(taught, [(seconds(100.0), false), (seconds(200.0), true)]);
    }

    #[test]
    fn the_first_visit_teaches_nothing() {
        assert_eq!(lessons(&[found(0, None)]), []);
        assert_eq!(found(0, Some(true)).lesson(None), None, "nothing was seen before");
        assert_eq!(observation(AT, Outcome::Missing).lesson(Some(AT)), None, "nothing was found");
        let ahead = AT.plus(Duration::from_secs(86_400));
        assert_eq!(found(0, Some(true)).lesson(Some(ahead)), None, "the clock was set back");
    }
}
