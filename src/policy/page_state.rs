//! All that a policy may see of a page: its observations, folded.

use crate::page::Depth;
use crate::time::{Age, Timestamp};

/// A page as a policy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageState {
    /// Links followed from a seed.
    pub depth: Depth,
    /// Importance, from the seeds file; 1 unless said otherwise.
    pub weight: f64,
    pub found_at: Timestamp,
    /// The last visit, however it ended; `None` for a page never visited.
    pub last_visit: Option<Timestamp>,
}

impl PageState {
    /// Time since the last visit; for a page never visited, since it was found.
    pub fn age(&self, now: Timestamp) -> Age {
        now.since(self.last_visit.unwrap_or(self.found_at))
    }
}
