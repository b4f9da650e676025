//! The log read back: visits, and the versions they left.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row};

use super::load::each_row;
use super::{Result, count, moment};
use crate::change::profile::Measured;
use crate::observation::{SameAs, Told};
use crate::page::PageId;
use crate::store::{CycleId, StoredContent, VersionId, VisitRow, version};
use crate::time::Timestamp;

pub(super) fn visits_of(connection: &Connection, pages: &[PageId]) -> Result<Vec<VisitRow>> {
    // An old row does not say whether there are words: then there are if there is text.
    let sql = |places: &str| {
        format!(
            "SELECT page_id, cycle_id, at, outcome, status, changed, divergence, bases, bytes, took_ms, validator,
                    version_id, returned_to, detail, text_rules, id, dated_at, events, new_links,
                    same_as, same_apart,
                    coalesce(has_words, (SELECT text_bytes > 0 FROM version WHERE version.id = version_id), 0),
                    coalesce((SELECT length(content) > 0 FROM version WHERE version.id = version_id), 0), reason
             FROM observation WHERE page_id IN ({places}) ORDER BY page_id, at, id"
        )
    };
    let mut pages = pages.to_vec();
    pages.sort_unstable();
    pages.dedup();
    let mut visits = Vec::new();
    each_row(
        connection,
        &pages,
        "?",
        sql,
        |page| vec![Box::new(page.0)],
        |row| {
            visits.push(visit(row)?);
            Ok(())
        },
    )?;
    Ok(visits)
}

fn visit(row: &Row<'_>) -> Result<VisitRow> {
    let at = Timestamp::from_millis(row.get(2)?);
    // Bytes that can't be read count as none.
    let bases = row.get_ref(7)?.as_blob_or_null().ok().flatten();
    Ok(VisitRow {
        id: row.get(15)?,
        page: PageId(row.get(0)?),
        cycle: CycleId(row.get(1)?),
        at,
        outcome: row.get(3)?,
        reason: row.get(23)?,
        status: row.get(4)?,
        changed: row.get(5)?,
        divergence: row.get(6)?,
        bases: bases.and_then(|bytes| Measured::from_bytes(bytes, at)).unwrap_or_default(),
        bytes: count(row.get(8)?),
        took: Duration::from_millis(count(row.get(9)?)),
        validator: row.get(10)?,
        version: row.get::<_, Option<i64>>(11)?.map(VersionId),
        text_rules: row.get::<_, Option<i64>>(14)?.unwrap_or(0).cast_unsigned(),
        has_words: row.get(21)?,
        is_stored: row.get(22)?,
        returned_to: row.get::<_, Option<i64>>(12)?.map(VersionId),
        redirect: row.get(13)?,
        told: Told {
            date: moment(row.get(16)?),
            events: row.get(17)?,
            new_links: row.get::<_, Option<u32>>(18)?.unwrap_or(0),
        },
        same_as: match row.get::<_, Option<i64>>(19)? {
            Some(page) => Some(SameAs { page: PageId(page), apart: row.get(20)? }),
            None => None,
        },
    })
}

pub(super) fn version(connection: &Connection, version: VersionId) -> Result<Option<StoredContent>> {
    let found: Option<(Vec<u8>, i64, i64)> = connection
        .prepare_cached("SELECT content, body_bytes, text_bytes FROM version WHERE id = ?1")?
        .query_row([version.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((packed, body_bytes, text_bytes)) = found else { return Ok(None) };
    if packed.is_empty() {
        return Ok(None);
    }
    let (body, text) = version::unpack(&packed, count(body_bytes) as usize, count(text_bytes) as usize)?;
    Ok(Some(StoredContent { body, text, content_type: None }))
}
