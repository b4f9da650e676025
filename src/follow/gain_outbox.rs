//! Gains that the index has measured and the store does not have yet.
//!
//! The index writes them in one transaction with its cursor. The crawl reads them, keeps them in the log of the store, and only then
//! strikes them off here. A kill in between makes the crawl read them again, and the store passes over what it has.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::FollowResult;
use crate::page::PageId;
use crate::quality::gain::MeasuredGain;
use crate::quality::measure::MeasureId;
use crate::store::{self, GainRow};
use crate::time::Timestamp;

/// How long a write waits for that of the follower.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// The gains of this measure that wait in the index of that path, page by page in order of time. None if there is no index.
pub fn waiting(index: &Path, measure: MeasureId) -> FollowResult<Vec<GainRow>> {
    if !index.exists() {
        return Ok(Vec::new());
    }
    let Ok(connection) = store::sqlite_reader(index) else { return Ok(Vec::new()) };
    let sql = "SELECT page, at, delta, is_first, words FROM gain WHERE measure = ?1 ORDER BY page, at";
    // An index of another release has no such table: it will be made again.
    let Ok(mut statement) = connection.prepare(sql) else { return Ok(Vec::new()) };
    let rows = statement.query_map([measure.0.cast_signed()], |row| {
        let (at, words) = (Timestamp::from_millis(row.get(1)?), row.get::<_, String>(4)?);
        Ok(GainRow {
            page: PageId(row.get(0)?),
            measure,
            gain: MeasuredGain { at, delta: row.get(2)?, is_first: row.get(3)? },
            words: words.split_whitespace().map(str::to_owned).collect(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Strikes off gains that the store has.
pub fn taken(index: &Path, gains: &[GainRow]) -> FollowResult<()> {
    let mut connection = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let transaction = connection.transaction()?;
    {
        let mut delete =
            transaction.prepare("DELETE FROM gain WHERE page = ?1 AND measure = ?2 AND at = ?3")?;
        for row in gains {
            delete.execute(params![row.page.0, row.measure.0.cast_signed(), row.gain.at.millis()])?;
        }
    }
    Ok(transaction.commit()?)
}
