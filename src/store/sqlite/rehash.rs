//! Hashes of versions that an earlier release stored: made again from the contents, once.
//!
//! Earlier releases told contents apart by xxh3-128. The migration leaves a note with the last version that has been done; this
//! goes on from there, in short transactions, and removes the note at the end. A kill in between loses nothing.

use rusqlite::{Connection, Row, params};

use super::{Result, SqliteStore, notes};
use crate::store::version::{content_hash, unpack};

/// The note of the migration.
const HASHED_TO: &str = "versions-hashed-to";
/// Versions in a transaction: a crawl's own batches are as large.
const BATCH: i64 = 200;

/// Hashes what an earlier release stored. Does nothing if that has been done.
pub(super) fn contents(store: &mut SqliteStore) -> Result<()> {
    let Some(mut done) = notes::note(&store.connection, HASHED_TO)?.and_then(|id| id.parse::<i64>().ok())
    else {
        return Ok(());
    };
    let last: i64 =
        store.connection.query_row("SELECT coalesce(max(id), 0) FROM version", [], |row| row.get(0))?;
    if last > done {
        tracing::warn!(
            "contents are told apart by SHA-256 from now on: the {} versions of the store are hashed again, once",
            last - done
        );
    }
    while done < last {
        let transaction = store.transaction()?;
        done = match batch(&transaction, done)? {
            Some(id) => id,
            None => last,
        };
        notes::set_note(&transaction, HASHED_TO, &done.to_string())?;
        transaction.commit()?;
    }
    store.connection.execute("DELETE FROM note WHERE name = ?1", [HASHED_TO])?;
    Ok(())
}

/// Hashes the versions after one, and gives the last of them.
fn batch(connection: &Connection, after: i64) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, body_bytes, text_bytes, content FROM version WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut rows = statement.query([after, BATCH])?;
    let mut update =
        connection.prepare_cached("UPDATE version SET body_hash = ?2, text_hash = ?3 WHERE id = ?1")?;
    let mut done = None;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let packed: Vec<u8> = row.get(3)?;
        // A content that can't be read matches nothing from now on: its page is stored again at its next visit.
        if let Ok((body, text)) = unpack(&packed, length(row, 1)?, length(row, 2)?) {
            let hashes = [content_hash(&body), content_hash(text.as_bytes())].map(u128::to_be_bytes);
            update.execute(params![id, hashes[0], hashes[1]])?;
        }
        done = Some(id);
    }
    Ok(done)
}

fn length(row: &Row<'_>, column: usize) -> Result<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}
