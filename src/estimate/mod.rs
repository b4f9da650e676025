//! Observations → change rate: how often a page changes, from visits that only tell whether it did.
//!
//! Comes in: for each visit, the time since the one before and what it [saw](Seen). Goes out: an [`Estimate`], in changes a day.
//! Nothing here does I/O or reads a clock. What must stay true: an estimate is never infinite or not-a-number, its bounds
//! contain it, and [`Estimator::estimate`] is never 0, so that no page is given up for good.
//!
//! An [`Estimator`] keeps nothing about pages. What it has learnt about a page is an [`EstimatorState`], which the page keeps. So
//! one estimator serves a million pages, a registry can hold all estimators behind one type, and the live crawl and a replay
//! can store and update states in the same way. A state has counts that every estimator reads, and a small memory of the
//! estimator; an estimator ignores a memory that another one left.
//!
//! The model is that of Cho & Garcia-Molina, Grimes & Ford 2008 (§3.1) and Avrachenkov et al. 2020 (§2): changes are a Poisson
//! process, and a visit sees a change if there was at least one, with probability P = 1 − e^(−rate · interval). The first
//! download of a page has nothing to compare with and does not count as a visit here.

pub(crate) mod bias_reduced;
pub(crate) mod censored;
pub mod count;
pub mod dated;
pub mod gamma;
pub(crate) mod initial_interval;
pub mod learner;
mod memory;
pub mod moments;
pub mod online;
pub(crate) mod period_grid;
pub mod priors;
pub mod rate_mix;
pub mod registry;
mod share;
pub(crate) mod tuned_intervals;
pub(crate) mod two_intervals;
pub(crate) mod weighted;

use serde::{Deserialize, Serialize};

use crate::time::Age;
use censored::VisitHistory;

/// Changes a day; finite and never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct Rate(f64);

impl Rate {
    /// No change at all.
    pub const NONE: Self = Self(0.0);
    /// The highest rate, which stands for "no bound": a thousand changes within the shortest interval.
    pub(crate) const MOST: Self = Self(1e15);

    /// The rate of this many changes a day. Not-a-number becomes 0; other numbers are clamped to the bounds.
    pub(crate) fn per_day(changes: f64) -> Self {
        Self(if changes > 0.0 { changes.min(Self::MOST.0) } else { 0.0 })
    }

    /// Changes a day.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A change rate with bounds that contain the true rate 19 times out of 20, if the model holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Estimate {
    /// The rate.
    pub rate: Rate,
    /// The lower bound.
    pub low: Rate,
    /// The upper bound.
    pub high: Rate,
}

impl Estimate {
    /// An estimate in changes a day. Bounds that don't contain the rate are widened until they do.
    pub fn new(rate: f64, low: f64, high: f64) -> Self {
        let [rate, low, high] = [rate, low, high].map(Rate::per_day);
        Self { rate, low: if low < rate { low } else { rate }, high: if high > rate { high } else { rate } }
    }

    /// The estimate for a page without visits.
    fn of_nothing(rate: f64) -> Self {
        Self::new(rate, 0.0, Rate::MOST.get())
    }
}

/// What a visit tells about changes since the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// No change.
    Unchanged,
    /// One change or more, at unknown times.
    Changed,
    /// One change or more, the last of them this long before the visit. Only for dates that passed [`dated::last_change`].
    ChangedAgo(Age),
    /// The exact number of changes, from a complete feed or history.
    Counted(u32),
}

impl From<bool> for Seen {
    fn from(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

impl Seen {
    /// Was there a change?
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

    /// The rate as the published formula gives it, which may be 0: for studies, and for policies that are used as published.
    fn as_published(&self, state: &EstimatorState) -> Estimate;

    /// The rate for scheduling. A rate of 0 would starve the page, so the rate is at least one change in twice the time that the page
    /// was watched; this floor never exceeds the rate of an unknown page.
    fn estimate(&self, state: &EstimatorState) -> Estimate {
        let said = self.as_published(state);
        let least = (0.5 / state.watched_days).min(RATE_OF_AN_UNKNOWN_PAGE);
        Estimate::new(said.rate.get().max(least), said.low.get(), said.high.get())
    }
}

/// What an estimator has learnt about one page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EstimatorState {
    /// Visits that had something to compare with (n of the papers).
    pub visits: u32,
    /// Visits among them that found a change (X).
    pub changes: u32,
    /// The sum of all intervals, in days.
    pub watched_days: f64,
    /// The estimator's own memory.
    pub memory: Memory,
}

/// The memory of an estimator beyond the counts. Several estimators share a shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Counts are enough.
    #[default]
    Nothing,
    /// A weighted share of the visits that found a change.
    Share(f64),
    /// The rate so far, in changes a day.
    Rate(f64),
    /// A Gamma distribution over rates.
    Gamma(gamma::Gamma),
    /// The intervals themselves, compressed.
    History(Box<VisitHistory>),
    /// Changes that were counted one by one.
    Count {
        /// The number of changes.
        events: f64,
        /// The time that they took, in days.
        days: f64,
    },
}

impl EstimatorState {
    /// Rounds the sum of all intervals to the precision of four bytes, for a policy that does not need more.
    pub(crate) fn shorten(&mut self) {
        self.watched_days = f64::from(self.watched_days as f32);
    }

    /// Counts a visit, and returns its interval in days, clamped to bounds.
    pub fn count(&mut self, interval: Age, seen: Seen) -> f64 {
        let days = bounded_days(interval);
        self.visits = self.visits.saturating_add(1);
        self.changes = self.changes.saturating_add(u32::from(seen.changed()));
        self.watched_days += days;
        days
    }

    /// Visits that would have left these counts: at their mean interval, the changes spread evenly among them. Of more than
    /// [`MOST_EVEN_VISITS`] it is only a part, with the same share of changes.
    pub(crate) fn even_visits(&self) -> impl Iterator<Item = (Age, Seen)> + use<> {
        let visits = self.visits.min(MOST_EVEN_VISITS);
        let interval = Age::from_days(self.watched_days / f64::from(self.visits.max(1)));
        let share = f64::from(self.changes.min(self.visits)) / f64::from(self.visits.max(1));
        let changes_after = move |visits: u32| (share * f64::from(visits) + 0.5).floor();
        (0..visits).map(move |visit| (interval, Seen::from(changes_after(visit + 1) > changes_after(visit))))
    }

    /// The mean interval; `None` before the first visit.
    fn mean_days(&self) -> Option<f64> {
        (self.visits > 0).then(|| self.watched_days / f64::from(self.visits))
    }
}

/// The most visits that [`EstimatorState::even_visits`] gives: after them a prior hardly matters.
const MOST_EVEN_VISITS: u32 = 1000;

/// Changes a day of a page that was never visited twice: one in ten days. For their pages Grimes & Ford 2008 (§4.2) found
/// that 11 days are the best first interval. A prior that is fitted to the collection is better than either.
pub(crate) const RATE_OF_AN_UNKNOWN_PAGE: f64 = 0.1;

/// The shortest interval that counts; shorter ones count as this long.
const SHORTEST_DAYS: f64 = Age::SHORTEST_DAYS;
/// The longest interval that counts, so that sums of intervals stay finite.
const LONGEST_DAYS: f64 = 1e12;

fn bounded_days(interval: Age) -> f64 {
    interval.days().clamp(SHORTEST_DAYS, LONGEST_DAYS)
}

#[cfg(test)]
pub(crate) mod tests;
