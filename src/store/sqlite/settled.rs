//! Events of pages that were found again since: a part of the list at a time, so that no call goes through all of it.

use rusqlite::{Connection, params};

use super::events::{FROM_EVENT, SELECT_EVENTS, conditions, place, read};
use super::{Result, count, signed};
use crate::store::{EventFilter, EventPlace, SettledEvents};
use crate::time::Timestamp;

pub(super) fn settled(
    connection: &Connection,
    filter: &EventFilter,
    scanned: usize,
    most: usize,
) -> Result<SettledEvents> {
    // The scan is of the index alone; a page is looked up for each of its rows.
    let scan = format!(
        "SELECT observation_id, at, kind, cycle_id FROM event WHERE {}
         ORDER BY event.at DESC, event.observation_id DESC LIMIT ?4",
        conditions(filter)
    );
    let (at, observation) = place(filter.before);
    let sql = format!(
        "{SELECT_EVENTS} FROM ({scan}) AS event {FROM_EVENT}
         WHERE page.seen_at > event.at ORDER BY event.at DESC, event.observation_id DESC LIMIT ?5"
    );
    let limit = |number: usize| signed(number as u64);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows =
        statement.query(params![filter.since.millis(), at, observation, limit(scanned), limit(most)])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read(row)?);
    }
    // Up to the last event that is given, if there may be more of them; else up to the end of the scan.
    let last = events.last().filter(|_| events.len() >= most).map(|event| event.place());
    let upto = last.map_or((i64::MIN, i64::MIN), |last| (last.at.millis(), last.observation));
    let sql = format!(
        "SELECT count(*), min(at), (SELECT count(*) FROM ({scan})) FROM ({scan}) WHERE (at, observation_id) >= (?5, ?6)"
    );
    let (passed, end, all): (i64, Option<i64>, i64) = connection.prepare_cached(&sql)?.query_row(
        params![filter.since.millis(), at, observation, limit(scanned), upto.0, upto.1],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let rest = match (last, end) {
        (Some(last), _) => Some(last),
        (None, Some(end)) if count(all) >= scanned as u64 => {
            let sql = format!("SELECT observation_id FROM ({scan}) ORDER BY at, observation_id LIMIT 1");
            let observation = connection
                .prepare_cached(&sql)?
                .query_row(params![filter.since.millis(), at, observation, limit(scanned)], |row| {
                    row.get(0)
                })?;
            Some(EventPlace { at: Timestamp::from_millis(end), observation })
        }
        _ => None,
    };
    let waiting = count(passed).saturating_sub(events.len() as u64);
    Ok(SettledEvents { events, waiting, rest })
}
