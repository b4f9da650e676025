//! Visits as rows of a table and as ticks of a strip.

use crate::look::history::PageVisit;
use crate::look::strips::StripTick;
use crate::report::brought::{BroughtInk, ink};
use crate::report::heartbeat::strip_of;
use crate::report::history::{found, reason};
use crate::report::{Screen, bytes, counted, span};
use crate::store::BroughtKind;

/// A visit, as a row.
pub(crate) struct VisitTableRow {
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
pub(crate) fn visit_lines(visits: &[PageVisit], screen: &Screen) -> Vec<VisitTableRow> {
    let line = |visit: &PageVisit| VisitTableRow {
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

/// Visits as a picture, with the kinds that are among them.
pub(crate) struct StripPart {
    pub svg: String,
    pub legend: Vec<BroughtInk>,
}

impl StripPart {
    /// The strip of these visits, which are in order of time; `None` if there are none.
    pub(crate) fn of(ticks: &[StripTick], screen: &Screen) -> Option<Self> {
        let is_there = |kind: &&BroughtKind| ticks.iter().any(|tick| tick.brought == **kind);
        let said = format!("The latest {}, a tick each", counted(ticks.len(), "visit"));
        (!ticks.is_empty()).then(|| Self {
            svg: strip_of(ticks, &said, screen),
            legend: BroughtKind::ALL.iter().filter(is_there).map(|kind| ink(*kind)).collect(),
        })
    }

    /// The strip of the visits of a page.
    pub(crate) fn of_page(visits: &[PageVisit], screen: &Screen) -> Option<Self> {
        let tick = |visit: &PageVisit| StripTick {
            at: visit.at,
            brought: BroughtKind::of(&visit.outcome, visit.changed),
            divergence: visit.divergence.map(|moved| moved as f32),
        };
        Self::of(&visits.iter().map(tick).collect::<Vec<_>>(), screen)
    }
}
