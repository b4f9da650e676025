//! A plan: the visits chosen, in order.

use crate::page::{HostId, PageId};
use crate::policy::Score;

/// The visits of a cycle or of a wave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Best first.
    pub visits: Vec<Planned>,
}

/// One visit of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// The page to visit.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// The score that it was chosen by.
    pub score: Score,
    /// Was it never visited before?
    pub is_new: bool,
}
