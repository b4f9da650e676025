//! A lesson: one visit that had something to compare with, as far as it teaches how a page changes.
//!
//! Policies and estimators learn from lessons alone, live and from the log.

use crate::change::profile::Measured;
use crate::page::PageSignals;
use crate::time::{Age, Timestamp};

/// One visit that had something to compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// When the visit was made.
    pub at: Timestamp,
    /// The number of the cycle that the visit was made in.
    pub cycle: i64,
    /// The weight of the page in that cycle.
    pub weight: f64,
    /// Time since the visit that last brought or confirmed the stored version. A visit that failed in between leaves it open.
    pub interval: Age,
    /// Did the page change?
    pub changed: bool,
    /// When the page itself says that it last changed.
    pub date: Option<Timestamp>,
    /// Changes since the visit before, all of them, where the page tells them one by one.
    pub events: Option<u32>,
    /// Pages found on it that were not known.
    pub new_links: u32,
    /// Divergence of the content found from the stored one; `None` where one of them has no words.
    pub divergence: Option<f64>,
    /// How far it is from each base version there was, the oldest first.
    pub bases: Vec<Apart>,
    /// What the visit found has no words: the page was removed, or is empty.
    pub is_empty: bool,
    /// The signals that the page had at the visit.
    pub signals: PageSignals,
}

/// How far a visit found a page to be from a version of that age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Time since that version was found.
    pub age: Age,
    /// 0: the same, 1: nothing in common.
    pub divergence: f64,
}

impl Apart {
    /// The measurement of a visit at `at`.
    pub fn of(measured: &Measured, at: Timestamp) -> Self {
        Self { age: at.since(measured.base.at), divergence: measured.divergence.get() }
    }
}

impl Lesson {
    /// A visit to a page of weight 1 of which only this is known: whether it found a change.
    pub fn of_bit(at: Timestamp, interval: Age, changed: bool) -> Self {
        let (cycle, weight) = (0, 1.0);
        let (date, events, new_links, divergence, bases) = (None, None, 0, None, Vec::new());
        let (is_empty, signals) = (false, PageSignals::default());
        Self {
            at,
            cycle,
            weight,
            interval,
            changed,
            date,
            events,
            new_links,
            divergence,
            bases,
            is_empty,
            signals,
        }
    }

    /// How far the page moved, 0 to 1; where that can't be measured, a change is a whole one.
    pub fn moved(&self) -> f64 {
        let measured = self.divergence.filter(|divergence| !divergence.is_nan());
        measured.map_or(f64::from(u8::from(self.changed)), |divergence| divergence.clamp(0.0, 1.0))
    }
}
