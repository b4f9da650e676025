//! What people look at: counts and lists.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params_from_iter, types::Value};

use super::{Result, StoreError, count, moment};
use crate::change::profile::{Measured, Profiles};
use crate::page::{Fingerprint, PageId};
use crate::store::{
    Change, CycleId, PageFilter, PageRow, Sizes, Spelling, StoredContent, Summary, VersionId, VisitRow,
    version,
};
use crate::time::Timestamp;

pub(super) fn summary(connection: &Connection, path: &Path) -> Result<Summary> {
    let one = |sql: &str| -> Result<u64> {
        Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(count)?)
    };
    let groups = |sql: &str| -> Result<Vec<(String, u64)>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row.get(1)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let sizes = |column: &str| one(&format!("SELECT coalesce(sum({column}), 0) FROM version"));
    Ok(Summary {
        known: one("SELECT count(*) FROM page WHERE alias_of IS NULL")?,
        visited: one("SELECT count(*) FROM page WHERE alias_of IS NULL AND last_visit_at IS NOT NULL")?,
        aliases: one("SELECT count(*) FROM page WHERE alias_of IS NOT NULL")?,
        lives: groups(
            "SELECT state, count(*) FROM page WHERE alias_of IS NULL GROUP BY state ORDER BY count(*) DESC, state",
        )?,
        last_outcomes: groups(
            "SELECT last_outcome, count(*) FROM page WHERE alias_of IS NULL AND last_outcome IS NOT NULL
             GROUP BY last_outcome ORDER BY count(*) DESC, last_outcome",
        )?,
        hosts: one("SELECT count(*) FROM host")?,
        observations: one("SELECT count(*) FROM observation")?,
        versions: one("SELECT count(*) FROM version")?,
        content_bytes: sizes("body_bytes + text_bytes")?,
        stored_bytes: sizes("length(content)")?,
        file_bytes: file_bytes(path),
        seeds: one("SELECT count(*) FROM seed")?,
        refusals: groups("SELECT reason, count FROM refusal ORDER BY count DESC, reason")?,
    })
}

/// The database, and what it has not folded in yet.
fn file_bytes(path: &Path) -> u64 {
    let wal = || {
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        name
    };
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    size(path) + size(Path::new(&wal()))
}

pub(super) fn pages(
    connection: &Connection,
    filter: &PageFilter,
    each: &mut dyn FnMut(PageRow),
) -> Result<()> {
    let mut conditions = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    let mut condition = |sql: &str, value: Value| {
        conditions.push(sql.to_owned());
        values.push(value);
    };
    if let Some(page) = filter.page {
        condition("page.fingerprint = ?", Value::from(page.to_bytes().to_vec()));
    }
    if let Some(life) = filter.life {
        condition("page.state = ?", Value::from(life.name().to_owned()));
    }
    if let Some(host) = &filter.host {
        // `example.org` finds it under both schemes and every port.
        condition(
            "(host.origin = ?1x OR host.origin IN ('http://' || ?1x, 'https://' || ?1x)
              OR instr(host.origin, '://' || ?1x || ':') > 0)",
            Value::from(host.clone()),
        );
    }
    if let Some(url) = &filter.url {
        condition("instr(page.url, ?) > 0", Value::from(url.clone()));
    }
    if let Some(outcome) = &filter.outcome {
        condition("page.last_outcome = ?", Value::from(outcome.clone()));
    }
    if let Some(depth) = filter.max_depth {
        condition("page.depth <= ?", Value::from(i64::from(depth)));
    }
    // Each condition names its own value; the number is its place in the list.
    let mut clauses: Vec<String> = conditions
        .iter()
        .enumerate()
        .map(|(at, sql)| {
            let place = format!("?{}", at + 1);
            if sql.contains("?1x") { sql.replace("?1x", &place) } else { sql.replace('?', &place) }
        })
        .collect();
    if filter.only_aliases {
        clauses.push("page.alias_of IS NOT NULL".to_owned());
    } else if !filter.aliases {
        clauses.push("page.alias_of IS NULL".to_owned());
    }
    let clause = if clauses.is_empty() { String::new() } else { format!("WHERE {}", clauses.join(" AND ")) };
    let limit = filter.limit.map_or(String::new(), |limit| format!("LIMIT {}", limit.min(i64::MAX as u64)));
    let mut statement = connection.prepare(&format!(
        "SELECT page.id, page.url, page.state, page.last_outcome, page.depth, page.weight, page.visits, page.changes,
                page.failures, page.found_at, page.last_visit_at, page.due_at, version.body_bytes,
                page.content_type, page.sitemap_lastmod_seconds, page.noindex, target.url
         FROM page JOIN host ON host.id = page.host_id
              LEFT JOIN version ON version.id = page.version_id
              LEFT JOIN page AS target ON target.id = page.alias_of
         {clause} ORDER BY page.id {limit}"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        let alias_of: Option<String> = row.get(16)?;
        let state: String = row.get(2)?;
        each(PageRow {
            id: row.get(0)?,
            url: row.get(1)?,
            state: if alias_of.is_some() { "alias".to_owned() } else { state },
            outcome: row.get(3)?,
            depth: row.get(4)?,
            weight: row.get(5)?,
            visits: count(row.get(6)?),
            changes: count(row.get(7)?),
            failures: count(row.get(8)?),
            found_at: Timestamp::from_millis(row.get(9)?),
            last_visit_at: moment(row.get(10)?),
            due_at: moment(row.get::<_, Option<i64>>(11)?.filter(|due| *due > 0)),
            bytes: row.get::<_, Option<i64>>(12)?.map(count),
            content_type: row.get(13)?,
            sitemap_lastmod: row.get::<_, Option<i64>>(14)?.map(Timestamp::from_seconds),
            noindex: row.get(15)?,
            alias_of,
        });
    }
    Ok(())
}

pub(super) fn content(connection: &Connection, page: PageId) -> Result<Option<StoredContent>> {
    let found: Option<(Vec<u8>, i64, i64, Option<String>)> = connection
        .query_row(
            "SELECT content, body_bytes, text_bytes, page.content_type
             FROM page JOIN version ON version.id = page.version_id WHERE page.id = ?1",
            [page.0],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .optional()?;
    let Some((packed, body_bytes, text_bytes, content_type)) = found else { return Ok(None) };
    let (body, text) = version::unpack(&packed, count(body_bytes) as usize, count(text_bytes) as usize)?;
    Ok(Some(StoredContent { body, text, content_type }))
}

pub(super) fn find_page(connection: &Connection, page: Fingerprint) -> Result<Option<PageRow>> {
    let filter = PageFilter { page: Some(page), aliases: true, ..PageFilter::default() };
    let mut found = None;
    pages(connection, &filter, &mut |row| found = Some(row))?;
    Ok(found)
}

/// All that [`visit`] reads; what follows says which.
const SELECT_VISITS: &str =
    "SELECT page_id, cycle_id, at, outcome, status, changed, divergence, bases, bytes, took_ms,
        validator, version_id, returned_to, detail, text_rules
     FROM observation";

fn visit(row: &Row<'_>) -> rusqlite::Result<VisitRow> {
    let at = Timestamp::from_millis(row.get(2)?);
    let bases: Option<Vec<u8>> = row.get(7)?;
    Ok(VisitRow {
        page: PageId(row.get(0)?),
        cycle: CycleId(row.get(1)?),
        at,
        outcome: row.get(3)?,
        status: row.get(4)?,
        changed: row.get(5)?,
        divergence: row.get(6)?,
        bases: bases.and_then(|bytes| Measured::from_bytes(&bytes, at)).unwrap_or_default(),
        bytes: count(row.get(8)?),
        took: Duration::from_millis(count(row.get(9)?)),
        validator: row.get(10)?,
        version: row.get::<_, Option<i64>>(11)?.map(VersionId),
        returned_to: row.get::<_, Option<i64>>(12)?.map(VersionId),
        redirect: row.get(13)?,
        text_rules: row.get::<_, Option<i64>>(14)?.unwrap_or(0).cast_unsigned(),
    })
}

pub(super) fn visits(connection: &Connection, each: &mut dyn FnMut(VisitRow)) -> Result<()> {
    let mut statement = connection.prepare(&format!("{SELECT_VISITS} ORDER BY page_id, at, id"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(visit(row)?);
    }
    Ok(())
}

pub(super) fn spellings(connection: &Connection, of: PageId) -> Result<Vec<Spelling>> {
    // By its last answer: a visit that failed says nothing of where a page lives.
    let mut statement = connection.prepare_cached(
        "SELECT id, url, 'moved' IS (
             SELECT outcome FROM observation
             WHERE page_id = page.id AND outcome IN ('moved', 'redirected', 'fetched', 'not-modified')
             ORDER BY at DESC, id DESC LIMIT 1)
         FROM page WHERE alias_of = ?1 ORDER BY id",
    )?;
    let rows = statement.query_map([of.0], |row| {
        Ok(Spelling { page: PageId(row.get(0)?), url: row.get(1)?, moved: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn visits_of(connection: &Connection, page: PageId) -> Result<Vec<VisitRow>> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT_VISITS} WHERE page_id = ?1 ORDER BY at, id"))?;
    let rows = statement.query_map([page.0], visit)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn found_next(
    connection: &Connection,
    page: PageId,
    after: Timestamp,
) -> Result<Option<VersionId>> {
    let found = connection
        .prepare_cached(
            "SELECT version_id FROM observation
             WHERE page_id = ?1 AND at > ?2 AND version_id IS NOT NULL ORDER BY at, id LIMIT 1",
        )?
        .query_row([page.0, after.millis()], |row| Ok(VersionId(row.get(0)?)))
        .optional()?;
    Ok(found)
}

pub(super) fn profiles(connection: &Connection, page: PageId) -> Result<Profiles> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT profiles FROM page WHERE id = ?1")?
        .query_row([page.0], |row| row.get(0))
        .optional()?
        .flatten();
    Profiles::from_bytes(&bytes.unwrap_or_default())
        .ok_or_else(|| StoreError::BadValue(format!("change profiles of page {page} that are none")))
}

pub(super) fn changes(
    connection: &Connection,
    since: Timestamp,
    each: &mut dyn FnMut(Change) -> bool,
) -> Result<()> {
    // By time, for which there is an index; by number only where a clock was set back and nothing is earlier.
    let mut statement = connection.prepare(
        "SELECT page.url, now.at, before.at, now.divergence, now.version_id, before.version_id, now.returned_to, now.bytes,
                now.page_id
         FROM observation AS now JOIN page ON page.id = now.page_id
              JOIN observation AS before ON before.id = coalesce(
                (SELECT id FROM observation
                 WHERE page_id = now.page_id AND at <= now.at AND id < now.id AND version_id IS NOT NULL
                 ORDER BY at DESC, id DESC LIMIT 1),
                (SELECT max(id) FROM observation
                 WHERE page_id = now.page_id AND id < now.id AND version_id IS NOT NULL))
         WHERE now.changed = 1 AND now.at >= ?1 ORDER BY now.at DESC, now.id DESC",
    )?;
    let mut rows = statement.query([since.millis()])?;
    while let Some(row) = rows.next()? {
        let wanted = each(Change {
            page: row.get(8)?,
            url: row.get(0)?,
            at: Timestamp::from_millis(row.get(1)?),
            previous_at: moment(row.get(2)?),
            divergence: row.get(3)?,
            version: row.get(4)?,
            previous_version: row.get(5)?,
            returned_to: row.get(6)?,
            bytes: count(row.get(7)?),
        });
        if !wanted {
            break;
        }
    }
    Ok(())
}

/// Bytes of the last visit, of the last that brought or confirmed anything, and of the time it is due: 8 each.
const FIXED_BYTES: u64 = 24;

pub(super) fn sizes(connection: &Connection) -> Result<Sizes> {
    let mut sizes = Sizes::default();
    let mut statement = connection
        .prepare("SELECT profiles, coalesce(length(learnt), 0) FROM page WHERE profiles IS NOT NULL")?;
    let mut sketch = connection.prepare("SELECT length(hashes) FROM sketch WHERE version_id = ?1")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        let Some(profiles) = Profiles::from_bytes(&bytes) else { continue };
        let mut bases: Vec<i64> = profiles.iter().map(|profile| profile.base.version.0).collect();
        bases.sort_unstable();
        bases.dedup();
        let mut sketches = 0;
        for base in bases {
            sketches += sketch.query_row([base], |row| row.get(0)).optional()?.map_or(0, count);
        }
        sizes.pages += 1;
        sizes.fixed_bytes += FIXED_BYTES;
        let memory = count(row.get(1)?);
        sizes.profile_bytes += bytes.len() as u64;
        sizes.memory_bytes += memory;
        sizes.sketch_bytes += sketches;
        sizes.largest_bytes = sizes.largest_bytes.max(FIXED_BYTES + bytes.len() as u64 + memory + sketches);
    }
    Ok(sizes)
}

pub(super) fn version(connection: &Connection, version: VersionId) -> Result<Option<StoredContent>> {
    let found: Option<(Vec<u8>, i64, i64)> = connection
        .prepare_cached("SELECT content, body_bytes, text_bytes FROM version WHERE id = ?1")?
        .query_row([version.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((packed, body_bytes, text_bytes)) = found else { return Ok(None) };
    let (body, text) = version::unpack(&packed, count(body_bytes) as usize, count(text_bytes) as usize)?;
    Ok(Some(StoredContent { body, text, content_type: None }))
}
