//! Rows behind the view of sites, the log of a cycle, and the order of a list of pages.

use std::collections::BTreeMap;

use serde::Serialize;

use super::VisitRow;
use crate::observation::CycleId;
use crate::page::HostId;
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

/// What the visits of a day (UTC) brought, by host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayTally {
    /// Days since 1970-01-01.
    pub day: i64,
    /// The host of the pages.
    pub host: HostId,
    /// Its visits by what they brought.
    pub brought: Brought,
    /// Added up over the visits that found a change.
    pub divergence: f64,
    /// Bytes of bodies that came.
    pub bytes: u64,
}

/// Visits by what they brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Brought {
    /// The first copy of a page.
    pub first: u64,
    /// Another content.
    pub changed: u64,
    /// The same content again.
    pub unchanged: u64,
    /// The answer 304.
    pub not_modified: u64,
    /// An address elsewhere.
    pub moved: u64,
    /// There is no such page.
    pub gone: u64,
    /// Nothing.
    pub failed: u64,
    /// No request was sent: robots.txt or the address rules forbid it.
    pub refused: u64,
}

/// What one visit brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BroughtKind {
    /// The first copy of a page.
    First,
    /// Another content.
    Changed,
    /// The same content again.
    Unchanged,
    /// The answer 304.
    NotModified,
    /// An address elsewhere.
    Moved,
    /// There is no such page.
    Gone,
    /// Nothing.
    Failed,
    /// No request was sent: robots.txt or the address rules forbid it.
    Refused,
}

/// A visit to a host, as small as it can be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// When it was made.
    pub at: Timestamp,
    /// What it brought.
    pub brought: BroughtKind,
    /// How far the page moved, if it could be measured.
    pub divergence: Option<f32>,
}

/// The latest visits of a host that are given as ticks.
pub const MOST_TICKS: usize = 60;

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
