//! Facts that are kept from run to run: notes, priors, links among pages.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::paging::{each_by_id, last_id};
use super::{Result, SqliteStore, StoreError, count, signed};
use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors};
use crate::page::PageId;

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

// --- priors ------------------------------------------------------------------------------------------------------

pub(super) fn priors(connection: &Connection) -> Result<Priors> {
    let mut statement = connection
        .prepare("SELECT kind, \"group\", first, second, pages FROM prior ORDER BY kind, \"group\", first")?;
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
    let sql =
        "SELECT page_id, targets FROM link WHERE page_id > ?1 AND page_id <= ?2 ORDER BY page_id LIMIT ?3";
    let last = last_id(connection, "link", "page_id")?;
    let mut targets = Vec::new();
    let read = |row: &Row<'_>| -> Result<(i64, Vec<u8>)> { Ok((row.get(0)?, row.get(1)?)) };
    each_by_id(connection, (sql, &[]), (i64::MIN, last, None), |(page, _)| *page, read, &mut |(
        page,
        bytes,
    )| {
        targets.clear();
        targets.extend(bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight)));
        each(PageId(page), &targets);
    })
}
