//! Counts over the whole store, from those that are kept.

use std::path::Path;

use rusqlite::Connection;

use super::counts::Total;
use super::{Result, count};
use crate::store::Summary;

pub(super) fn summary(connection: &Connection, path: &Path) -> Result<Summary> {
    let one = |sql: &str| -> Result<u64> {
        Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(count)?)
    };
    let groups = |sql: &str| -> Result<Vec<(String, u64)>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row.get(1)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let pages = |sums: &str, which: &str| {
        one(&format!("SELECT coalesce(sum({sums}), 0) FROM page_count WHERE {which}"))
    };
    let totals = groups("SELECT name, value FROM total")?;
    let total =
        |total: Total| totals.iter().find(|(name, _)| name == total.name()).map_or(0, |(_, value)| *value);
    let journal = super::journal(path);
    Ok(Summary {
        known: pages("pages", "is_alias = 0")?,
        visited: pages("visited", "is_alias = 0")?,
        aliases: pages("pages", "is_alias = 1")?,
        lives: groups(
            "SELECT state, sum(pages) FROM page_count WHERE is_alias = 0 GROUP BY state ORDER BY 2 DESC, state",
        )?,
        last_outcomes: groups(
            "SELECT outcome, sum(pages) FROM page_count WHERE is_alias = 0 AND outcome <> ''
             GROUP BY outcome ORDER BY 2 DESC, outcome",
        )?,
        hosts: one("SELECT count(*) FROM host")?,
        observations: total(Total::Observations),
        gains: total(Total::Gains),
        versions: total(Total::Versions),
        versions_without_room: total(Total::VersionsWithoutRoom),
        content_bytes: total(Total::ContentBytes),
        stored_bytes: total(Total::StoredBytes),
        file_bytes: std::fs::metadata(path).map_or(0, |found| found.len()) + journal.bytes,
        journal,
        seeds: one("SELECT count(*) FROM seed")?,
        refusals: groups("SELECT reason, count FROM refusal ORDER BY count DESC, reason")?,
    })
}
