//! Seeds as their operator manages them, and pages that are read again.

use rusqlite::{Connection, params};

use super::{Result, SqliteStore, count, moment, signed};
use crate::page::{HostId, PageId, SeedId};
use crate::store::{PageToRead, SeedChange, SeedPages, VersionId};
use crate::time::Timestamp;

pub(super) fn change_seeds(
    store: &mut SqliteStore,
    seeds: &[SeedId],
    change: SeedChange,
    now: Timestamp,
) -> Result<()> {
    let set = match change {
        SeedChange::Remove => "removed_at = coalesce(removed_at, ?2), paused_at = NULL",
        SeedChange::Pause => "paused_at = coalesce(paused_at, ?2)",
        SeedChange::Resume => "removed_at = NULL, paused_at = NULL",
    };
    let transaction = store.transaction()?;
    for seed in seeds {
        let sql = format!("UPDATE seed SET {set} WHERE id = ?1 AND ?2 IS NOT NULL");
        transaction.prepare_cached(&sql)?.execute(params![seed.0, now.millis()])?;
    }
    transaction.commit()?;
    Ok(())
}

pub(super) fn seed_pages(connection: &Connection) -> Result<Vec<SeedPages>> {
    let mut statement = connection.prepare(
        "SELECT page_count.seed_id, CASE is_alias WHEN 0 THEN state END AS life, sum(pages),
                CASE WHEN sum(visited) > 0 THEN last_visit_at END
         FROM page_count LEFT JOIN seed_visit ON seed_visit.seed_id = page_count.seed_id
         GROUP BY page_count.seed_id, life ORDER BY page_count.seed_id, life",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(SeedPages {
            seed: SeedId(row.get(0)?),
            life: row.get(1)?,
            pages: count(row.get(2)?),
            last_visit_at: moment(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn hosts_without_seed(connection: &Connection) -> Result<Vec<HostId>> {
    // Most stores have no such seed: then no page has to be looked at.
    let mut statement = connection.prepare(
        "WITH idle AS (SELECT id FROM seed
            WHERE removed_at IS NOT NULL OR paused_at IS NOT NULL OR let_go_at IS NOT NULL)
         SELECT host_id FROM page_count WHERE EXISTS (SELECT 1 FROM idle)
         GROUP BY host_id HAVING min(seed_id IN (SELECT id FROM idle)) = 1 ORDER BY host_id",
    )?;
    let rows = statement.query_map([], |row| Ok(HostId(row.get(0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn pages_to_read(
    connection: &Connection,
    rules: u64,
    after: PageId,
    most: usize,
) -> Result<Vec<PageToRead>> {
    let mut statement = connection.prepare_cached(
        "SELECT page.id, page.url, page.seed_id, page.depth, page.version_id, page.content_type,
                coalesce(length(link.targets), 0) > 0
         FROM page LEFT JOIN link ON link.page_id = page.id
         WHERE page.id > ?1 AND page.version_id IS NOT NULL AND page.read_by_rules IS NOT ?2
         ORDER BY page.id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![after.0, rules.cast_signed(), signed(most as u64)], |row| {
        Ok(PageToRead {
            page: PageId(row.get(0)?),
            url: row.get(1)?,
            seed: SeedId(row.get(2)?),
            depth: row.get(3)?,
            version: VersionId(row.get(4)?),
            content_type: row.get(5)?,
            has_links: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
