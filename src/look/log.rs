//! The log of visits, line by line: what a cycle fetched, and how each visit ended.

use std::collections::VecDeque;

use serde::Serialize;

use crate::fetch::reason;
use crate::store::{CycleId, LogPart, LoggedVisit, Store};
use crate::time::Timestamp;

use super::LookError;
use super::changes::WantedHost;

/// Which visits of the log are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogWanted {
    /// Of this cycle; `None`: of the last one.
    pub cycle: Option<i64>,
    /// Only visits to this host.
    pub host: Option<WantedHost>,
    /// Only visits that ended like this.
    pub outcome: Option<String>,
    /// The latest of them, at most this number.
    pub latest: Option<usize>,
}

impl LogWanted {
    fn takes(&self, line: &LogLine) -> bool {
        self.outcome.as_ref().is_none_or(|outcome| *outcome == line.outcome)
            && self.host.as_ref().is_none_or(|host| host.has(&line.url))
    }
}

/// A visit, as a line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct LogLine {
    /// When the request was sent.
    pub at: Timestamp,
    /// The cycle it was made in.
    pub cycle_id: i64,
    /// Its number in the log.
    pub observation_id: i64,
    /// The page.
    pub page_id: i64,
    /// Its address.
    pub url: String,
    /// How it ended.
    pub outcome: String,
    /// Why it brought nothing, in words.
    pub reason: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// Where it was sent, if it was sent elsewhere.
    pub redirect_to: Option<String>,
    /// Length of the body that came.
    pub body_bytes: u64,
    /// From the request to the end of the answer.
    pub took_ms: u64,
    /// Did the page change? `None`: there was nothing to compare with.
    #[serde(rename = "is_changed")]
    pub changed: Option<bool>,
    /// How far it was from the visit before.
    pub divergence: Option<f64>,
    /// The version that the visit brought or confirmed.
    pub version_id: Option<i64>,
}

impl From<LoggedVisit> for LogLine {
    fn from(LoggedVisit { url, visit }: LoggedVisit) -> Self {
        Self {
            at: visit.at,
            cycle_id: visit.cycle.0,
            observation_id: visit.id,
            page_id: visit.page.0,
            url,
            reason: reason::in_words(&visit.outcome, visit.status, visit.reason.as_deref()),
            outcome: visit.outcome,
            status: visit.status,
            redirect_to: visit.redirect,
            body_bytes: visit.bytes,
            took_ms: u64::try_from(visit.took.as_millis()).unwrap_or(u64::MAX),
            changed: visit.changed,
            divergence: visit.divergence,
            version_id: visit.version.map(|version| version.0),
        }
    }
}

/// Calls `each` for every visit that is wanted, in order of time, until it fails. Returns the number of the last visit in the
/// log, from where [`log_after`] goes on.
pub fn log<E: From<LookError>>(
    store: &mut dyn Store,
    wanted: &LogWanted,
    mut each: impl FnMut(LogLine) -> Result<(), E>,
) -> Result<i64, E> {
    let last = store.log_end().map_err(LookError::from)?;
    let Some(cycle) = cycle(store, wanted.cycle)? else { return Ok(last) };
    match wanted.latest {
        None => each_line(store, LogPart::Cycle(cycle), wanted, &mut each)?,
        Some(0) => {}
        Some(most) => {
            let mut lines: VecDeque<LogLine> = VecDeque::new();
            let part = LogPart::CycleBackwards(cycle);
            let mut keep = |visit| {
                let line = LogLine::from(visit);
                if wanted.takes(&line) {
                    lines.push_front(line);
                }
                lines.len() < most
            };
            store.each_logged(part, &mut keep).map_err(LookError::from)?;
            lines.into_iter().try_for_each(each)?;
        }
    }
    Ok(last)
}

/// Calls `each` for every wanted visit of any cycle that was recorded after the one with this number, in the order of recording.
/// Returns the number of the last.
pub fn log_after<E: From<LookError>>(
    store: &mut dyn Store,
    after: i64,
    wanted: &LogWanted,
    mut each: impl FnMut(LogLine) -> Result<(), E>,
) -> Result<i64, E> {
    let mut last = after;
    each_line(store, LogPart::After(after), wanted, &mut |line: LogLine| {
        last = line.observation_id;
        each(line)
    })?;
    Ok(last)
}

/// The cycle that is wanted: one that the store must have, or the last; `None`: there is none yet.
fn cycle<E: From<LookError>>(store: &mut dyn Store, wanted: Option<i64>) -> Result<Option<CycleId>, E> {
    let last = store.cycles(1).map_err(LookError::from)?.first().map(|cycle| cycle.id);
    match wanted {
        Some(wanted) if last.is_none_or(|last| !(1..=last).contains(&wanted)) => {
            Err(LookError::UnknownCycle { wanted, last }.into())
        }
        wanted => Ok(wanted.or(last).map(CycleId)),
    }
}

fn each_line<E: From<LookError>>(
    store: &mut dyn Store,
    part: LogPart,
    wanted: &LogWanted,
    each: &mut dyn FnMut(LogLine) -> Result<(), E>,
) -> Result<(), E> {
    let mut done = Ok(());
    let read = store.each_logged(part, &mut |visit| {
        let line = LogLine::from(visit);
        if wanted.takes(&line) {
            done = each(line);
        }
        done.is_ok()
    });
    read.map_err(LookError::from)?;
    done
}
