//! What a reader sees with: the width of the terminal, and the zone of times.

use jiff::tz::TimeZone;

use crate::time::Timestamp;

/// What a reader sees with. Tables are fitted to the width; times are shown in the zone.
#[derive(Clone, Debug)]
pub struct Screen {
    /// Columns of the terminal; `None`: it is none, and nothing is shortened.
    pub width: Option<usize>,
    /// The zone of times.
    pub zone: TimeZone,
}

impl Screen {
    /// No terminal, and times in UTC.
    pub fn plain() -> Self {
        Self { width: None, zone: TimeZone::UTC }
    }

    /// A moment, with its zone: `2026-11-16 04:45:14 CET`.
    pub fn time(&self, at: Timestamp) -> String {
        at.in_zone(&self.zone)
    }

    /// The same, or a dash for one that never was.
    pub fn time_or_dash(&self, at: Option<Timestamp>) -> String {
        at.map_or("-".to_owned(), |at| self.time(at))
    }
}
