//! Pages that a person had deleted: the one exception to the log being append-only.
//!
//! One transaction deletes the pages, their visits, the contents that no other page has, and every row that refers to one of
//! these. The triggers that guard the log are taken away and put back within it, so that a crash leaves all or nothing.
//! The kept counts are taken down with them. Deleted rows are overwritten, and the journal is folded in and emptied: nothing of them stays in the file.

use rusqlite::{Connection, params};

use super::counting::{Counting, forget_visits, hosts_again, seeds_again};
use super::counts::KeptCounts;
use super::{Result, SqliteStore, StoreError, count};
use crate::page::PageId;
use crate::store::Forgotten;
use crate::time::Timestamp;

/// What would be deleted with these pages.
pub(super) fn weigh(connection: &Connection, pages: &[PageId]) -> Result<Forgotten> {
    let transaction = connection.unchecked_transaction()?;
    let forgotten = mark(&transaction, pages)?;
    // The marks go with it.
    transaction.rollback()?;
    Ok(forgotten)
}

pub(super) fn forget(store: &mut SqliteStore, pages: &[PageId], now: Timestamp) -> Result<Forgotten> {
    // References are checked once at the end: they go in circles, and most have no index by which a deleted row could be
    // looked for.
    store.connection.execute_batch("PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF;")?;
    let forgotten = delete_all(store, pages, now);
    store.connection.execute_batch("PRAGMA secure_delete = OFF; PRAGMA foreign_keys = ON;")?;
    let forgotten = forgotten?;
    store.host_ids.clear();
    // A reader may hold the journal; then the next checkpoint does it.
    store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(forgotten)
}

fn delete_all(store: &mut SqliteStore, pages: &[PageId], now: Timestamp) -> Result<Forgotten> {
    let transaction = store.transaction()?;
    let forgotten = mark(&transaction, pages)?;
    transaction.execute(
        "INSERT INTO forgotten (at, pages, observations, versions, last_page, last_version, last_observation)
         VALUES (?1, ?2, ?3, ?4, (SELECT coalesce(max(id), 0) FROM page), (SELECT coalesce(max(id), 0) FROM version),
                 (SELECT coalesce(max(id), 0) FROM observation))",
        params![
            now.millis(),
            super::signed(forgotten.pages),
            super::signed(forgotten.observations),
            super::signed(forgotten.versions)
        ],
    )?;
    let guards = triggers(&transaction)?;
    for (name, _) in &guards {
        transaction.execute_batch(&format!("DROP TRIGGER \"{name}\""))?;
    }
    let touched = ids(
        &transaction,
        "SELECT id FROM forgotten_page
         UNION SELECT id FROM page WHERE alias_of IN (SELECT id FROM forgotten_page)
         UNION SELECT id FROM page WHERE same_as IN (SELECT id FROM forgotten_page)",
    )?;
    let seeds =
        ids(&transaction, "SELECT DISTINCT seed_id FROM page WHERE id IN (SELECT id FROM forgotten_page)")?;
    let mut counts = KeptCounts::default();
    let counting = Counting::begin(&transaction, touched)?;
    let hosts = forget_visits(&transaction, &mut counts)?;
    delete(&transaction, now)?;
    counting.pages(&transaction, [], &mut counts)?;
    counts.add_to(&transaction)?;
    hosts_again(&transaction, &hosts)?;
    seeds_again(&transaction, &seeds)?;
    for (_, sql) in &guards {
        transaction.execute_batch(sql)?;
    }
    transaction.execute_batch(DROP_MARKS)?;
    if transaction.prepare("PRAGMA foreign_key_check")?.exists([])? {
        return Err(StoreError::BadValue(
            "a row that refers to a page to be forgotten; nothing was deleted".to_owned(),
        ));
    }
    transaction.commit()?;
    Ok(forgotten)
}

const DROP_MARKS: &str =
    "DROP TABLE temp.forgotten_page; DROP TABLE temp.forgotten_version; DROP TABLE temp.forgotten_host;";

/// Marks what goes with these pages, and counts it.
fn mark(connection: &Connection, pages: &[PageId]) -> Result<Forgotten> {
    connection.execute_batch("CREATE TEMP TABLE forgotten_page (id INTEGER PRIMARY KEY)")?;
    {
        let mut insert = connection
            .prepare("INSERT OR IGNORE INTO temp.forgotten_page SELECT id FROM page WHERE id = ?1")?;
        for page in pages {
            insert.execute([page.0])?;
        }
    }
    connection.execute_batch(
        "CREATE TEMP TABLE forgotten_version AS
            SELECT version_id AS id FROM observation WHERE page_id IN (SELECT id FROM forgotten_page)
                AND version_id IS NOT NULL
            EXCEPT SELECT version_id FROM observation WHERE page_id NOT IN (SELECT id FROM forgotten_page)
            EXCEPT SELECT returned_to FROM observation WHERE page_id NOT IN (SELECT id FROM forgotten_page)
            EXCEPT SELECT version_id FROM page WHERE id NOT IN (SELECT id FROM forgotten_page);
         CREATE TEMP TABLE forgotten_host AS
            SELECT DISTINCT host_id AS id FROM page WHERE id IN (SELECT id FROM forgotten_page)
            EXCEPT SELECT host_id FROM page WHERE id NOT IN (SELECT id FROM forgotten_page);",
    )?;
    let one = |sql: &str| -> Result<u64> {
        Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(count)?)
    };
    Ok(Forgotten {
        pages: one("SELECT count(*) FROM forgotten_page")?,
        observations: one(
            "SELECT count(*) FROM observation WHERE page_id IN (SELECT id FROM forgotten_page)",
        )?,
        versions: one("SELECT count(*) FROM forgotten_version")?,
        stored_bytes: one(
            "SELECT coalesce(sum(length(content)), 0) FROM version WHERE id IN (SELECT id FROM forgotten_version)",
        )?,
        hosts: one("SELECT count(*) FROM forgotten_host")?,
        seeds: one(&format!("SELECT count(*) FROM seed WHERE removed_at IS NULL AND {IS_FORGOTTEN_SEED}"))?,
    })
}

/// The seed is one of the pages.
const IS_FORGOTTEN_SEED: &str = "fingerprint IN
    (SELECT fingerprint FROM page WHERE id IN (SELECT id FROM forgotten_page))";

fn ids(connection: &Connection, sql: &str) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(sql)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// The triggers of the logs, with the statements that make them.
fn triggers(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('observation', 'signal')")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Columns that refer to a table: the table and column that refer.
fn referring(connection: &Connection, to: &str) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(
        "SELECT main.name, refers.\"from\" FROM sqlite_master AS main, pragma_foreign_key_list(main.name) AS refers
         WHERE main.type = 'table' AND refers.\"table\" = ?1",
    )?;
    let rows = statement.query_map([to], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn delete(connection: &Connection, now: Timestamp) -> Result<()> {
    // The seeds first, while their pages are known by their fingerprints.
    connection.execute(
        &format!("UPDATE seed SET removed_at = coalesce(removed_at, ?1) WHERE {IS_FORGOTTEN_SEED}"),
        [now.millis()],
    )?;
    connection.execute_batch(
        "UPDATE host SET stored_bytes = max(0, stored_bytes - coalesce((SELECT sum(page.stored_bytes) FROM page
            WHERE page.host_id = host.id AND page.id IN (SELECT id FROM forgotten_page)), 0));
         DELETE FROM read_mark WHERE observation_id IN
            (SELECT id FROM observation WHERE page_id IN (SELECT id FROM forgotten_page));
         DELETE FROM event WHERE observation_id IN
            (SELECT id FROM observation WHERE page_id IN (SELECT id FROM forgotten_page));",
    )?;
    let marked = [("page", "forgotten_page"), ("version", "forgotten_version"), ("host", "forgotten_host")];
    for (table, marks) in marked {
        for (from, column) in referring(connection, table)? {
            let sql = match (from.as_str(), column.as_str()) {
                // The pages of a host that is forgotten are forgotten themselves.
                ("page", "host_id") => continue,
                // What other pages say about a page that is forgotten is left open.
                ("page", _) | ("observation", "same_as" | "version_id" | "returned_to") => {
                    format!("UPDATE {from} SET {column} = NULL WHERE {column} IN (SELECT id FROM {marks})")
                }
                _ => format!("DELETE FROM \"{from}\" WHERE \"{column}\" IN (SELECT id FROM {marks})"),
            };
            connection.execute(&sql, [])?;
        }
    }
    connection.execute_batch(
        "UPDATE page SET found_on = NULL WHERE found_on IN (SELECT id FROM forgotten_page);
         UPDATE page SET same_times = NULL, same_moved = NULL, same_text = NULL
            WHERE same_as IS NULL AND same_times IS NOT NULL;
         DELETE FROM page WHERE id IN (SELECT id FROM forgotten_page);
         DELETE FROM version WHERE id IN (SELECT id FROM forgotten_version);
         DELETE FROM host WHERE id IN (SELECT id FROM forgotten_host);
         DELETE FROM answer_model WHERE id NOT IN (SELECT model_id FROM answer);
         DELETE FROM seed WHERE removed_at IS NOT NULL AND id NOT IN (SELECT seed_id FROM page)
            AND id NOT IN (SELECT adopted_by FROM seed WHERE adopted_by IS NOT NULL)
            AND fingerprint NOT IN (SELECT fingerprint FROM page);",
    )?;
    Ok(())
}
