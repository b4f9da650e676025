//! The log read back: visits, and the versions they left.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::load::rows_of;
use super::paging::last_id;
use super::{Result, count, moment};
use crate::change::profile::Measured;
use crate::observation::{EventKind, SameAs, Told};
use crate::page::PageId;
use crate::signal::PageSignals;
use crate::store::{CycleId, LogPart, LoggedVisit, StoredContent, VersionId, VisitRow, version};
use crate::time::Timestamp;

/// All that [`visit`] reads. An old row does not say whether there are words: then there are if there is text.
const VISIT: &str =
    "page_id, cycle_id, at, outcome, status, changed, divergence, bases, bytes, took_ms, validator,
     version_id, returned_to, detail, text_rules, id, dated_at, events, new_links,
     same_as, same_apart,
     coalesce(has_words, (SELECT text_bytes > 0 FROM version WHERE version.id = version_id), 0),
     coalesce((SELECT length(content) > 0 FROM version WHERE version.id = version_id), 0), reason,
     (SELECT kind FROM event WHERE event.observation_id = observation.id), coalesce(weight, 1.0), signals";

pub(super) fn visits_of(connection: &Connection, pages: &[PageId]) -> Result<Vec<VisitRow>> {
    let sql = |places: &str| {
        format!("SELECT {VISIT} FROM observation WHERE page_id IN ({places}) ORDER BY page_id, at, id")
    };
    rows_of(connection, pages, |page| page.0, sql, visit)
}

/// Visits of the log read at once.
const LOGGED_AT_ONCE: usize = 1000;

/// The start of a statement that [`logged`] reads; what follows says which visits, and in which order.
fn select_logged(which: &str) -> String {
    let url = "(SELECT url FROM page WHERE page.id = page_id) AS url";
    format!("SELECT {VISIT}, {url} FROM observation WHERE {which} LIMIT {LOGGED_AT_ONCE}")
}

pub(super) fn each_logged(
    connection: &Connection,
    part: LogPart,
    each: &mut dyn FnMut(LoggedVisit) -> bool,
) -> Result<()> {
    // `?1` and `?2` are the time and the number of the visit before; what is recorded after `?3` is not listed.
    let (sql, mut before, cycle) = match part {
        LogPart::Cycle(cycle) => {
            let which = "at >= ?1 AND (at > ?1 OR id > ?2) AND id <= ?3 AND cycle_id = ?4 ORDER BY at, id";
            (select_logged(which), (i64::MIN, i64::MIN), cycle.0)
        }
        LogPart::CycleBackwards(cycle) => {
            let which = "at <= ?1 AND (at < ?1 OR id < ?2) AND id <= ?3 AND cycle_id = ?4
                         ORDER BY at DESC, id DESC";
            (select_logged(which), (i64::MAX, i64::MAX), cycle.0)
        }
        LogPart::After(id) => {
            (select_logged("?1 = ?1 AND id > ?2 AND id <= ?3 AND ?4 = ?4 ORDER BY id"), (0, id), 0)
        }
    };
    let last = last_id(connection, "observation", "id")?;
    loop {
        let mut some = Vec::new();
        {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![before.0, before.1, last, cycle])?;
            while let Some(row) = rows.next()? {
                let url: Option<String> = row.get("url")?;
                some.push(LoggedVisit { url: url.unwrap_or_default(), visit: visit(row)? });
            }
        }
        let is_last = some.len() < LOGGED_AT_ONCE;
        if let Some(end) = some.last() {
            before = (end.visit.at.millis(), end.visit.id);
        }
        if !some.into_iter().all(&mut *each) || is_last {
            return Ok(());
        }
    }
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
        weight: row.get(25)?,
        signals: signals(row, 26)?,
        event: row.get_ref(24)?.as_str_or_null().ok().flatten().and_then(EventKind::from_name),
    })
}

/// The signals of a page; bytes that can't be read count as none.
pub(super) fn signals(row: &Row<'_>, place: usize) -> Result<PageSignals> {
    let bytes = row.get_ref(place)?.as_blob_or_null().ok().flatten();
    Ok(bytes.and_then(PageSignals::from_bytes).unwrap_or_default())
}

pub(super) fn version(connection: &Connection, version: VersionId) -> Result<Option<StoredContent>> {
    let found: Option<(Vec<u8>, i64, i64, Option<String>)> = connection
        .prepare_cached("SELECT content, body_bytes, text_bytes, title FROM version WHERE id = ?1")?
        .query_row([version.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((packed, body_bytes, text_bytes, title)) = found else { return Ok(None) };
    if packed.is_empty() {
        return Ok(None);
    }
    let (body, text) = version::unpack(&packed, count(body_bytes) as usize, count(text_bytes) as usize)?;
    Ok(Some(StoredContent { body, text, content_type: None, title }))
}
