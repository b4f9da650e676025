//! What visits taught: lessons read from the log, memories of pages, priors, links among pages.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params, types::Value};

use super::{Result, SqliteStore, StoreError, count, moment, signed};
use crate::change::profile::Measured;
use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors};
use crate::page::{Depth, HostId, PageId};
use crate::policy::{Learnt, Lesson, Policy};
use crate::store::PageLessons;
use crate::store::fold::{Told, lesson};
use crate::time::Timestamp;

/// What a page's row says was learnt of it. What can't be read is as good as nothing: the log has it all.
pub(super) fn learnt(bytes: Option<&[u8]>) -> Learnt {
    bytes.and_then(Learnt::from_bytes).unwrap_or_default()
}

/// Nothing takes no room.
pub(super) fn stored(learnt: &Learnt) -> Value {
    if *learnt == Learnt::default() { Value::Null } else { Value::Blob(learnt.to_bytes()) }
}

/// What an observation was told besides the content: three columns from `at` on.
pub(super) fn told(row: &Row<'_>, at: usize) -> rusqlite::Result<Told> {
    Ok(Told {
        date: moment(row.get(at)?),
        events: row.get(at + 1)?,
        new_links: row.get::<_, Option<u32>>(at + 2)?.unwrap_or(0),
    })
}

/// How far a visit found the page to be from its base versions: one column. What can't be read is as good as nothing.
pub(super) fn bases(row: &Row<'_>, column: usize, at: Timestamp) -> rusqlite::Result<Vec<Measured>> {
    let bytes = row.get_ref(column)?.as_blob_or_null().ok().flatten();
    Ok(bytes.and_then(|bytes| Measured::from_bytes(bytes, at)).unwrap_or_default())
}

pub(super) fn lessons(connection: &Connection, page: PageId) -> Result<Vec<Lesson>> {
    let mut statement = connection.prepare_cached(
        "SELECT at, changed, dated_at, events, new_links, divergence, bases FROM observation
         WHERE page_id = ?1 AND version_id IS NOT NULL ORDER BY id",
    )?;
    let mut rows = statement.query([page.0])?;
    let (mut lessons, mut seen_at) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        let at = Timestamp::from_millis(row.get(0)?);
        let bases = bases(row, 6, at)?;
        lessons.extend(lesson(seen_at, at, row.get(1)?, told(row, 2)?, row.get(5)?, &bases));
        seen_at = Some(at);
    }
    Ok(lessons)
}

pub(super) fn each_history(
    connection: &Connection,
    every: u64,
    each: &mut dyn FnMut(PageLessons),
) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT id, url, host_id, depth FROM page WHERE seen_at IS NOT NULL AND id % ?1 = 0 ORDER BY id",
    )?;
    let mut rows = statement.query([signed(every.max(1))])?;
    while let Some(row) = rows.next()? {
        let page = PageId(row.get(0)?);
        each(PageLessons {
            page,
            url: row.get(1)?,
            host: HostId(row.get(2)?),
            depth: row.get(3)?,
            lessons: lessons(connection, page)?,
        });
    }
    Ok(())
}

pub(super) fn comparisons(connection: &Connection) -> Result<u64> {
    let sum = connection
        .query_row("SELECT coalesce(sum(changed + unchanged), 0) FROM cycle", [], |row| row.get(0))?;
    Ok(count(sum))
}

// --- memories ----------------------------------------------------------------------------------------------------

const KIND: &str = "memory-kind";
const GROUP: &str = "prior-group";
const COMPARISONS: &str = "prior-comparisons";

pub(super) fn note(connection: &Connection, name: &str) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT value FROM note WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn set_note(connection: &Connection, name: &str, value: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO note (name, value) VALUES (?1, ?2)")?
        .execute([name, value])?;
    Ok(())
}

pub(super) fn kind(connection: &Connection) -> Result<Option<String>> {
    note(connection, KIND)
}

pub(super) fn note_kind(connection: &Connection, policy: &dyn Policy) -> Result<()> {
    set_note(connection, KIND, &policy.memory_version())
}

/// Memories are being made again: stopped on the way, some are of one kind and some of the other, and all are learnt anew
/// by the next run.
pub(super) fn note_unfinished(connection: &Connection) -> Result<()> {
    set_note(connection, KIND, "being learnt")
}

/// Pages of one transaction.
const AT_ONCE: usize = 2000;

pub(super) fn relearn(store: &mut SqliteStore, progress: &mut dyn FnMut(u64, u64)) -> Result<u64> {
    let policy = Arc::clone(&store.policy);
    if kind(&store.connection)? == Some(policy.memory_version()) {
        return Ok(0);
    }
    let pages: Vec<(i64, i64, Depth)> = {
        let mut statement = store
            .connection
            .prepare("SELECT id, host_id, depth FROM page WHERE seen_at IS NOT NULL ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    note_unfinished(&store.connection)?;
    let mut done = 0;
    for some in pages.chunks(AT_ONCE) {
        let transaction = store.transaction()?;
        for (id, host, depth) in some {
            let mut learnt = Learnt::default();
            for lesson in lessons(&transaction, PageId(*id))? {
                learnt.take(&lesson, HostId(*host), *depth, &*policy);
            }
            transaction
                .prepare_cached("UPDATE page SET learnt = ?2 WHERE id = ?1")?
                .execute(params![id, stored(&learnt)])?;
        }
        transaction.commit()?;
        done += some.len() as u64;
        progress(done, pages.len() as u64);
    }
    note_kind(&store.connection, &*policy)?;
    Ok(done)
}

// --- priors ------------------------------------------------------------------------------------------------------

pub(super) fn priors(connection: &Connection) -> Result<Priors> {
    let mut statement = connection
        .prepare("SELECT kind, \"group\", first, second, pages FROM prior ORDER BY kind, \"group\"")?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let kind = PriorKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| StoreError::BadValue(format!("`{name}` as a kind of prior")))?;
        let numbers = [row.get(2)?, row.get(3)?];
        all.push(Prior { kind, group: row.get(1)?, numbers, pages: count(row.get(4)?) });
    }
    let by = note(connection, GROUP)?.and_then(|name| name.parse::<GroupBy>().ok()).unwrap_or_default();
    let comparisons = note(connection, COMPARISONS)?.and_then(|number| number.parse().ok()).unwrap_or(0);
    Ok(Priors { by, all, comparisons })
}

pub(super) fn set_priors(store: &mut SqliteStore, priors: &Priors) -> Result<()> {
    let transaction = store.transaction()?;
    transaction.execute("DELETE FROM prior", [])?;
    for Prior { kind, group, numbers: [first, second], pages } in &priors.all {
        transaction
            .prepare_cached(
                "INSERT INTO prior (kind, \"group\", first, second, pages) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![kind.name(), group, first, second, signed(*pages)])?;
    }
    set_note(&transaction, GROUP, priors.by.name())?;
    set_note(&transaction, COMPARISONS, &priors.comparisons.to_string())?;
    transaction.commit()?;
    Ok(())
}

// --- links -------------------------------------------------------------------------------------------------------

pub(super) fn keep_links(connection: &Connection, page: PageId, targets: &[u64]) -> Result<()> {
    let bytes: Vec<u8> = targets.iter().flat_map(|target| target.to_le_bytes()).collect();
    connection
        .prepare_cached("INSERT OR REPLACE INTO link (page_id, targets) VALUES (?1, ?2)")?
        .execute(params![page.0, bytes])?;
    Ok(())
}

pub(super) fn each_links(connection: &Connection, each: &mut dyn FnMut(PageId, &[u64])) -> Result<()> {
    let mut statement = connection.prepare("SELECT page_id, targets FROM link ORDER BY page_id")?;
    let mut rows = statement.query([])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        targets.clear();
        targets.extend(bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight)));
        each(PageId(row.get(0)?), &targets);
    }
    Ok(())
}
