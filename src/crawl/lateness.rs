//! Whether a cycle of the monitor is late, as far as the store shows it: the monitor may have been stopped, or killed.

use std::time::Duration;

use super::CrawlError;
use super::monitor::last_terms;
use crate::store::{CycleCommand, CycleRow, Store};
use crate::time::Timestamp;

/// A cycle that is this much late is late, whatever the time between cycles.
const LEAST_GRACE: Duration = Duration::from_secs(120);
/// A cycle under a daily budget may wait until there is some again.
const DAY: Duration = Duration::from_secs(86_400);

/// A cycle that should have begun or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateCycle {
    /// When it should have.
    pub due_at: Timestamp,
    /// It began and has not ended; else it has not begun.
    pub is_open: bool,
}

/// The cycle that is late. `None` if all is well, or the last cycle was none of a monitor.
pub fn late_cycle(store: &mut dyn Store, now: Timestamp) -> Result<Option<LateCycle>, CrawlError> {
    let last = store.latest_cycle(|cycle| cycle.command != Some(CycleCommand::Only))?;
    let Some((every, is_by_day)) = last_terms(store)? else { return Ok(None) };
    Ok(last.and_then(|last| late(&last, every, is_by_day, now)))
}

fn late(last: &CycleRow, every: Duration, is_by_day: bool, now: Timestamp) -> Option<LateCycle> {
    if last.command != Some(CycleCommand::Monitor) {
        return None;
    }
    let is_open = last.ended_at.is_none();
    let due_at = last.started_at.plus(every);
    let wait = if is_by_day && !is_open { DAY } else { Duration::ZERO };
    let grace = (every / 10).max(LEAST_GRACE) + wait;
    (now > due_at.plus(grace)).then_some(LateCycle { due_at, is_open })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn cycle(command: CycleCommand, is_open: bool) -> CycleRow {
        CycleRow {
            id: 1,
            started_at: at(0),
            ended_at: (!is_open).then(|| at(10)),
            command: Some(command),
            policy: String::new(),
            budget: None,
            requests: 0,
            bytes: 0,
            fetched: 0,
            new_pages: 0,
            changed: 0,
            unchanged: 0,
            failed: 0,
            deferred: 0,
            threshold: None,
        }
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_seconds(1_794_800_000 + 60 * minutes)
    }

    #[test]
    fn a_cycle_is_late_a_while_after_it_was_due() {
        let late = |is_open, is_by_day, minutes| {
            late(&cycle(CycleCommand::Monitor, is_open), HOUR, is_by_day, at(minutes))
        };
        assert_eq!((late(false, false, 59), late(false, false, 66)), (None, None));
        assert_eq!(late(false, false, 67), Some(LateCycle { due_at: at(60), is_open: false }));
        assert_eq!(late(true, true, 67), Some(LateCycle { due_at: at(60), is_open: true }));
        assert_eq!(late(false, true, 67), None, "it may wait for the budget of a day");
        assert!(late(false, true, 67 + 24 * 60).is_some());
    }

    #[test]
    fn a_crawl_is_never_late() {
        let crawl = cycle(CycleCommand::Crawl, true);
        assert_eq!(super::late(&crawl, HOUR, false, at(1_000_000)), None);
    }
}
