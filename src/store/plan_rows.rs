//! Rows of policies that learn from all pages together: their plans, and what they know of the collection.

use crate::policy::PlanMoment;
use crate::time::{Age, Timestamp};

/// A plan, as the visits that it led to are learnt from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedPlan {
    /// The last visit before it: those behind it in the log, up to that of the next plan, are its own.
    pub after: i64,
    /// When it was made.
    pub at: Timestamp,
    /// From the start of one cycle to the start of the next.
    pub cycle_length: Age,
    /// As the policy found it; `None`: another policy made the plan.
    pub mean_lag: Option<f64>,
}

impl LoggedPlan {
    /// A plan that is made now, after this visit.
    pub fn of(after: i64, at: Timestamp, cycle_length: Age, planned: Option<PlanMoment>) -> Self {
        Self { after, at, cycle_length, mean_lag: planned.map(|plan| plan.mean_lag) }
    }
}

/// What a policy knows of the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionMemory {
    /// The last visit that it was learnt from.
    pub upto: i64,
    /// As [`crate::policy::Policy::collection_bytes`] gave it.
    pub content: Vec<u8>,
}
