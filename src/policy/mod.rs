//! Page state + now → score: which page is most worth a visit.
//!
//! A policy sees a page's state and the time, never the store, the network or a dataset, so the same object ranks
//! pages in the live scheduler and in a replay. One file a policy, one row in [`registry`].

mod breadth_first;
pub mod importance;
pub mod optimal_rate;
pub mod page_state;
pub mod registry;

pub use breadth_first::BreadthFirst;
pub use page_state::PageState;

use crate::time::Timestamp;

/// What a visit is worth; higher first. Always finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    /// Not-a-number and infinities become the nearest score that can be ranked.
    pub fn new(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) })
    }

    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Gives a page its score.
pub trait Policy: Send + Sync {
    /// The name on the command line and in the store.
    fn name(&self) -> &'static str;

    /// Must be finite, and must not fall while a page waits.
    fn score(&self, page: &PageState, now: Timestamp) -> Score;
}
