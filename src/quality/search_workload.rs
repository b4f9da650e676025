//! What people search for, and how they see a collection: a workload with a scoring and an attention.

use super::attention::Attention;
use super::measure::MeasureId;
use super::scoring::Scoring;
use super::workload::Workload;

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

impl SearchWorkload {
    /// The name of gains that are measured by it.
    pub fn measure(&self) -> MeasureId {
        MeasureId::of(&self.workload, self.scoring, self.attention)
    }
}
