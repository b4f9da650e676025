//! Which changes a person has read: a mark by visit, and a note for all visits up to one.

use rusqlite::{Connection, params};

use super::{Result, SqliteStore, notes};
use crate::time::Timestamp;

/// The note of the visit up to which every change counts as read that has no mark of its own.
const READ_TO: &str = "read-to";

/// The change of an `event` was read.
pub(super) const IS_READ: &str =
    "coalesce((SELECT is_read FROM read_mark WHERE read_mark.observation_id = event.observation_id),
     event.observation_id <= (SELECT CAST(value AS INTEGER) FROM note WHERE name = 'read-to'), 0)";

pub(super) fn mark(store: &mut SqliteStore, visits: &[i64], is_read: bool, now: Timestamp) -> Result<()> {
    let transaction = store.transaction()?;
    {
        let mut insert = transaction.prepare_cached(
            "INSERT OR REPLACE INTO read_mark (observation_id, is_read, at)
             SELECT id, ?2, ?3 FROM observation WHERE id = ?1",
        )?;
        for visit in visits {
            insert.execute(params![visit, is_read, now.millis()])?;
        }
    }
    Ok(transaction.commit()?)
}

pub(super) fn mark_to(store: &mut SqliteStore, visit: i64) -> Result<()> {
    let transaction = store.transaction()?;
    let before = notes::note(&transaction, READ_TO)?.and_then(|visit| visit.parse::<i64>().ok());
    let to = before.map_or(visit, |before| before.max(visit));
    notes::set_note(&transaction, READ_TO, &to.to_string())?;
    transaction.execute("DELETE FROM read_mark WHERE observation_id <= ?1", [visit])?;
    Ok(transaction.commit()?)
}

pub(super) fn read_of(connection: &Connection, visits: &[i64]) -> Result<Vec<i64>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {IS_READ} FROM (SELECT ?1 AS observation_id) AS event"))?;
    let mut read = Vec::new();
    for visit in visits {
        if statement.query_row([visit], |row| row.get::<_, bool>(0))? {
            read.push(*visit);
        }
    }
    read.sort_unstable();
    Ok(read)
}
