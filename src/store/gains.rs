//! Facts about refreshes that a page's own visits don't tell: what they gained in search results.

use crate::page::PageId;
use crate::quality::gain::MeasuredGain;
use crate::quality::measure::MeasureId;

/// What a refresh gained in search results.
#[derive(Clone, Debug, PartialEq)]
pub struct GainRow {
    /// The page.
    pub page: PageId,
    /// How it was measured. Gains of different measures can't be compared.
    pub measure: MeasureId,
    /// The gain.
    pub gain: MeasuredGain,
    /// The words of the workload that moved most, the most first.
    pub words: Vec<String>,
}
