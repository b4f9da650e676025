//! What people search for, as a crawl is told of it.

use crate::quality::attention::Attention;
use crate::quality::scoring::Scoring;
use crate::quality::workload::Workload;

/// A workload, and how its searchers see a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchWorkload {
    /// What they ask, and how often.
    pub workload: Workload,
    /// How results are ranked.
    pub scoring: Scoring,
    /// How far down they look.
    pub attention: Attention,
}
