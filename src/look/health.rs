//! Is the crawl well? The last cycle, the timetable, and the disk, as facts that a watchdog can act upon.

use std::time::Duration;

use serde::Serialize;

use crate::store::{CycleCommand, CycleRow, Store};
use crate::time::Timestamp;

use super::LookError;
use super::figures::{bytes, span};

/// Cycles of a monitor that tell how often it runs, where no setting does.
const RECENT_CYCLES: usize = 10;

/// A cycle is late when this much of its period more has passed: clocks, long cycles and restarts take some of it.
const LATE_AFTER: f64 = 1.5;

/// With less free space than this the crawl will soon have no room for what it fetches.
const LEAST_FREE_BYTES: u64 = 256 << 20;

/// Whether the crawl is well.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Nothing is wrong.
    pub is_well: bool,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
    /// When the last cycle began.
    pub cycle_started_at: Option<Timestamp>,
    /// When it ended; `None`: it goes on, or there was none.
    pub cycle_ended_at: Option<Timestamp>,
    /// From the start of one cycle of the monitor to the next, if there is a timetable: as set, or as the last cycles kept it.
    pub period_seconds: Option<f64>,
    /// The next cycle should have begun.
    pub is_late: bool,
    /// Bytes that are free where the store is; `None`: not known.
    pub free_bytes: Option<u64>,
    /// Bytes of the journal beside the store, and what it should have at most.
    pub journal_bytes: u64,
    /// What the last request failed by that the server could not answer, if that was in the last hour.
    pub last_error: Option<String>,
}

/// Looks whether the crawl is well. `every`: the period of the timetable, if it is set; `free_bytes`: on the disk of the store.
pub fn health(
    store: &mut dyn Store,
    every: Option<Duration>,
    free_bytes: Option<u64>,
    last_error: Option<String>,
    now: Timestamp,
) -> Result<Health, LookError> {
    let journal = store.summary()?.journal;
    let cycles = store.cycles(RECENT_CYCLES)?;
    let last = cycles.first();
    let period = period(&cycles, every);
    let since = last.map(|cycle| now.after(cycle.started_at));
    let late = period.zip(since).filter(|(period, since)| *since > period.mul_f64(LATE_AFTER));
    let mut problems = Vec::new();
    if let Some((period, since)) = late {
        problems.push(format!(
            "the last cycle began {} ago, and one is due every {}",
            span(since),
            span(period)
        ));
    }
    if let Some(cycle) = last
        && cycle.ended_at.is_some()
        && cycle.fetched == 0
        && cycle.failed > 0
    {
        problems.push(format!("all {} visits of the last cycle failed", cycle.failed));
    }
    if let Some(free) = free_bytes.filter(|free| *free < LEAST_FREE_BYTES) {
        problems.push(format!("only {} are free on the disk of the store", bytes(free)));
    }
    if journal.is_overgrown() {
        problems.push(journal.warning());
    }
    problems.extend(last_error.iter().map(|error| format!("a request could not be answered: {error}")));
    Ok(Health {
        is_well: problems.is_empty(),
        problems,
        cycle_started_at: last.map(|cycle| cycle.started_at),
        cycle_ended_at: last.and_then(|cycle| cycle.ended_at),
        period_seconds: period.map(|period| period.as_secs_f64()),
        is_late: late.is_some(),
        free_bytes,
        journal_bytes: journal.bytes,
        last_error,
    })
}

/// The period of a monitor: as set, or the median time between its last cycles. `None` unless the last cycle was one of a monitor.
fn period(cycles: &[CycleRow], every: Option<Duration>) -> Option<Duration> {
    let is_monitored = |cycle: &&CycleRow| cycle.command == Some(CycleCommand::Monitor);
    cycles.first().filter(is_monitored)?;
    if every.is_some() {
        return every;
    }
    let starts: Vec<Timestamp> = cycles.iter().filter(is_monitored).map(|cycle| cycle.started_at).collect();
    let mut gaps: Vec<Duration> =
        starts.iter().zip(starts.iter().skip(1)).map(|(later, earlier)| later.after(*earlier)).collect();
    gaps.sort_unstable();
    // One gap may be a restart.
    if gaps.len() < 2 { None } else { gaps.get(gaps.len() / 2).copied() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(started: i64, command: CycleCommand) -> CycleRow {
        CycleRow {
            id: 1,
            started_at: Timestamp::from_seconds(started),
            ended_at: None,
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

    #[test]
    fn a_timetable_is_read_from_the_cycles_of_a_monitor() {
        let monitored = |starts: &[i64]| -> Vec<CycleRow> {
            starts.iter().map(|start| cycle(*start, CycleCommand::Monitor)).collect()
        };
        let seconds = |cycles: &[CycleRow]| period(cycles, None).map(|period| period.as_secs());
        assert_eq!(seconds(&monitored(&[10_000, 6400, 2800])), Some(3600));
        assert_eq!(seconds(&monitored(&[90_000, 6400, 2800, -800])), Some(3600), "one gap was a rest");
        assert_eq!(seconds(&monitored(&[10_000, 6400])), None, "one gap says little");
        let mut by_hand = monitored(&[6400, 2800, -800]);
        by_hand.insert(0, cycle(10_000, CycleCommand::Crawl));
        assert_eq!(seconds(&by_hand), None, "no timetable is kept now");
        assert_eq!(period(&by_hand, Some(Duration::from_secs(60))), None);
        let set = period(&monitored(&[0]), Some(Duration::from_secs(60)));
        assert_eq!(set, Some(Duration::from_secs(60)));
    }
}
