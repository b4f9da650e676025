//! A plan: the visits chosen, in order.

use crate::page::{HostId, PageId};
use crate::policy::Score;

/// Visits in the order they were chosen, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub visits: Vec<Planned>,
}

/// One visit of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    pub page: PageId,
    pub host: HostId,
    pub score: Score,
    /// It was never visited.
    pub is_new: bool,
}
