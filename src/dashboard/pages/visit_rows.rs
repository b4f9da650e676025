//! Visits of a page as rows of a table.

use crate::look::history::PageVisit;
use crate::report::history::{found, reason};
use crate::report::{Screen, bytes, span};

/// A visit, as a row.
pub(crate) struct VisitLine {
    pub at: String,
    pub outcome: String,
    pub status: String,
    pub found: &'static str,
    pub moved: String,
    pub bytes: String,
    pub took: String,
    /// Why it brought nothing, or where it led.
    pub reason: String,
}

/// The rows of these visits, the latest first.
pub(crate) fn visit_lines(visits: &[PageVisit], screen: &Screen) -> Vec<VisitLine> {
    let line = |visit: &PageVisit| VisitLine {
        at: screen.time(visit.at),
        outcome: visit.outcome.clone(),
        status: visit.status.map_or("–".to_owned(), |status| status.to_string()),
        found: found(visit.found),
        moved: visit.divergence.map_or("–".to_owned(), |moved| format!("{moved:.3}")),
        bytes: if visit.bytes == 0 { "–".to_owned() } else { bytes(visit.bytes) },
        took: span(std::time::Duration::from_millis(visit.took_ms)),
        reason: reason(visit).unwrap_or_default(),
    };
    visits.iter().rev().map(line).collect()
}
