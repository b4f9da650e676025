//! Observations → change rate: how often a page changes, from visits that only tell whether it did.
//!
//! Comes in: visit by visit, the time since the one before and what was [`Seen`]. Goes out: an [`Estimate`],
//! in changes a day. Nothing here does I/O or looks at a clock. What must stay true: an estimate is never
//! infinite nor not-a-number, its bounds contain it, and [`Estimator::estimate`] is never 0, so that no page
//! is given up for ever.
//!
//! An [`Estimator`] is a value without memory, and what it learnt of a page is an [`EstimatorState`] that the
//! page keeps: so one estimator serves a million pages, a registry can hold them all behind one type, and the
//! state can be stored and folded by the live crawl and by a replay alike. The state has counts that any
//! estimator reads, and a small memory of the estimator's own; a memory that another estimator left is taken
//! for none.
//!
//! The model is that of Cho & Garcia-Molina, Grimes & Ford 2008 (§3.1) and Avrachenkov et al. 2020 (§2):
//! changes come as a Poisson process, and a visit sees one exactly if there was at least one, P = 1 −
//! e^(−rate · interval). The first download of a page has nothing to compare with, and is no visit here.

pub mod bias_reduced;
pub mod censored;
pub mod count;
pub mod dated;
pub mod gamma;
pub mod initial_interval;
pub mod learner;
mod memory;
pub mod moments;
pub mod online;
pub mod period_grid;
pub mod priors;
pub mod registry;
mod share;
pub mod two_intervals;
pub mod weighted;

use serde::{Deserialize, Serialize};

use crate::time::Age;
use censored::History;

/// Changes a day; finite and never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(f64);

impl Rate {
    pub const NONE: Self = Self(0.0);
    /// Stands for "no bound": a thousand changes while the shortest interval passes.
    pub const MOST: Self = Self(1e15);

    /// What is not a number becomes 0, and what is out of bounds the nearest rate within.
    pub fn per_day(changes: f64) -> Self {
        Self(if changes > 0.0 { changes.min(Self::MOST.0) } else { 0.0 })
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A change rate, and between what bounds it is, 19 times out of 20, if the model holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub rate: Rate,
    pub low: Rate,
    pub high: Rate,
}

impl Estimate {
    /// Bounds that don't contain the rate are widened until they do.
    pub fn new(rate: f64, low: f64, high: f64) -> Self {
        let [rate, low, high] = [rate, low, high].map(Rate::per_day);
        Self { rate, low: if low < rate { low } else { rate }, high: if high > rate { high } else { rate } }
    }

    /// Of a page that nothing is known of.
    fn of_nothing(rate: f64) -> Self {
        Self::new(rate, 0.0, Rate::MOST.get())
    }
}

/// What a visit saw of the time since the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    Unchanged,
    /// One change or more, nobody knows when.
    Changed,
    /// One change or more, the last of them so long before the visit. Only for dates that passed
    /// [`dated::last_change`].
    ChangedAgo(Age),
    /// So many changes, none of them missed: a feed or a history that is complete.
    Counted(u32),
}

impl From<bool> for Seen {
    fn from(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

impl Seen {
    pub fn changed(self) -> bool {
        !matches!(self, Self::Unchanged | Self::Counted(0))
    }
}

/// Observations in, rate out.
pub trait Estimator: Send + Sync {
    /// The name on the command line and in the store.
    fn name(&self) -> &'static str;

    /// The version of the states that [`Self::observe`] makes: a store keeps it beside them, and states of another version are
    /// made again from the log. It must change with every setting that a state depends on.
    fn memory_version(&self) -> String {
        format!("{}/1", self.name())
    }

    /// Adds one more visit to the state of a page.
    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen);

    /// What the formula says, which may be 0: for studies, and for policies that are replayed as published.
    fn as_published(&self, state: &EstimatorState) -> Estimate;

    /// The same for scheduling. A rate of 0 would starve the page for ever, so it is at least one change in
    /// twice the time that the page was watched, and no more than the rate of an unknown page.
    fn estimate(&self, state: &EstimatorState) -> Estimate {
        let said = self.as_published(state);
        let least = (0.5 / state.watched_days).min(RATE_OF_AN_UNKNOWN_PAGE);
        Estimate::new(said.rate.get().max(least), said.low.get(), said.high.get())
    }
}

/// What an estimator has learnt of one page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EstimatorState {
    /// Visits that had something to compare with (n of the papers).
    pub visits: u32,
    /// Of these, those that found a change (X).
    pub changes: u32,
    /// All intervals together.
    pub watched_days: f64,
    pub memory: Memory,
}

/// What an estimator keeps beyond the counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    #[default]
    Nothing,
    /// A weighted share of the visits that found a change.
    Share(f64),
    /// The rate so far, a day.
    Rate(f64),
    /// A Gamma distribution over rates.
    Gamma(gamma::Gamma),
    /// The intervals themselves, as far as they are kept.
    History(Box<History>),
    /// Changes that are all counted, and the time they took.
    Count { events: f64, days: f64 },
}

impl EstimatorState {
    /// Counts a visit, and gives back its interval in days, within bounds.
    pub fn count(&mut self, interval: Age, seen: Seen) -> f64 {
        let days = bounded_days(interval);
        self.visits = self.visits.saturating_add(1);
        self.changes = self.changes.saturating_add(u32::from(seen.changed()));
        self.watched_days += days;
        days
    }

    /// The mean interval; `None` before the first visit.
    fn mean_days(&self) -> Option<f64> {
        (self.visits > 0).then(|| self.watched_days / f64::from(self.visits))
    }
}

/// Changes a day of a page that was never visited twice: one in ten days. Grimes & Ford 2008 (§4.2) find half
/// of their pages to change within 11 days; a prior fitted to the pages at hand is better than either.
pub const RATE_OF_AN_UNKNOWN_PAGE: f64 = 0.1;

/// Two visits can't be nearer, as far as rates go.
const SHORTEST_DAYS: f64 = Age::SHORTEST_DAYS;
/// Nor farther apart: sums of intervals stay finite.
const LONGEST_DAYS: f64 = 1e12;

fn bounded_days(interval: Age) -> f64 {
    interval.days().clamp(SHORTEST_DAYS, LONGEST_DAYS)
}

#[cfg(test)]
pub(crate) mod tests;
