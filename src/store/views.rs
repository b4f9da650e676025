//! Rows behind the view of sites, the log of a cycle, and the order of a list of pages.

use std::collections::BTreeMap;

use super::VisitRow;
use crate::observation::CycleId;
use crate::time::Timestamp;

/// The pages of a host, counted, and the visits that one cycle made there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTally {
    /// Pages by where they are in their life, aliases left out.
    pub lives: BTreeMap<String, u64>,
    /// Those of them that were last visited in the cycle.
    pub lives_in_cycle: BTreeMap<String, u64>,
    /// Pages that were found since the cycle began, aliases left out.
    pub found: u64,
    /// Other spellings of pages.
    pub aliases: u64,
    /// The last visit that brought or confirmed a page.
    pub last_success_at: Option<Timestamp>,
    /// Bytes of packed contents that its pages were the first to bring.
    pub stored_bytes: u64,
    /// Visits of the cycle by how they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Those of them that found a change.
    pub changed: u64,
    /// Bytes of bodies that came in the cycle.
    pub received_bytes: u64,
}

/// A visit as the log shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedVisit {
    /// The address of the page.
    pub url: String,
    /// The observation.
    pub visit: VisitRow,
}

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The visits of a cycle, in order of time.
    Cycle(CycleId),
    /// The visits of a cycle, the latest first.
    CycleBackwards(CycleId),
    /// Visits that were recorded after the one with this number, in the order in which they were recorded.
    After(i64),
}

/// The order of a list of pages. Pages that are equal in it are in the order of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// As they were found.
    #[default]
    Number,
    /// By address.
    Url,
    /// Most changes first.
    Changes,
    /// Most visits first.
    Visits,
    /// Most failures in a row first.
    Failures,
    /// Latest visit first, those without a visit last.
    LastVisit,
    /// Latest found first.
    Found,
    /// Largest stored body first, those without one last.
    Bytes,
    /// Most important first.
    Weight,
    /// Those that may be visited first, first.
    Due,
}
