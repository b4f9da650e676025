//! Events of pages: written with their visits, read as lists and counts, and derived once from the log of an earlier
//! release.

use rusqlite::{Connection, Row, params};

use super::{Result, SqliteStore, StoreError, count, log, moment, notes, read_marks, signed};
use crate::observation::{EventKind, Observation, event};
use crate::page::{HostId, PageId};
use crate::store::{CycleId, EventCount, EventFilter, EventPlace, PageEvent, PageEvents};
use crate::time::Timestamp;

/// Keeps the event that the visit at this place of the log made.
pub(super) fn keep(connection: &Connection, observation: i64, kind: EventKind) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO event (observation_id, at, kind, cycle_id, host_id)
             SELECT observation.id, observation.at, ?2, observation.cycle_id, page.host_id
             FROM observation JOIN page ON page.id = observation.page_id WHERE observation.id = ?1",
        )?
        .execute(params![observation, kind.name()])?;
    Ok(())
}

/// Keeps these events of a page in place of those it had.
pub(super) fn replace(connection: &Connection, PageEvents { page, events }: &PageEvents) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM event WHERE observation_id IN (SELECT id FROM observation WHERE page_id = ?1)",
        )?
        .execute([page.0])?;
    events.iter().try_for_each(|(observation, kind)| keep(connection, *observation, *kind))
}

/// The columns that [`read`] reads.
pub(super) const SELECT_EVENTS: &str =
    "SELECT page.url, event.at, before.at, now.divergence, now.version_id, before.version_id, now.returned_to,
            now.bytes, now.page_id, event.kind, event.cycle_id, now.outcome, now.status, now.detail, now.changed,
            version.title, event.observation_id, now.reason";

/// The tables that they come from, behind `event`. The version before: by time, for which there is an index; by number only where
/// a clock was set back and nothing is earlier.
pub(super) const FROM_EVENT: &str = "JOIN observation AS now ON now.id = event.observation_id
     JOIN page ON page.id = now.page_id
     LEFT JOIN observation AS before ON before.id = coalesce(
       (SELECT id FROM observation
        WHERE page_id = now.page_id AND at <= now.at AND id < now.id AND version_id IS NOT NULL
        ORDER BY at DESC, id DESC LIMIT 1),
       (SELECT max(id) FROM observation
        WHERE page_id = now.page_id AND id < now.id AND version_id IS NOT NULL))
     LEFT JOIN version ON version.id = coalesce(now.version_id, before.version_id)";

pub(super) fn list(connection: &Connection, filter: &EventFilter, most: usize) -> Result<Vec<PageEvent>> {
    let sql = format!(
        "{SELECT_EVENTS} FROM event {} {FROM_EVENT}
         WHERE {} ORDER BY event.at DESC, event.observation_id DESC LIMIT ?4",
        // The events of one host stand together, in this order. SQLite does not see by itself that this saves a walk over all.
        if filter.hosts.as_ref().is_some_and(|hosts| hosts.len() == 1) {
            "INDEXED BY event_host"
        } else {
            ""
        },
        conditions(filter)
    );
    let (at, observation) = place(filter.before);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![filter.since.millis(), at, observation, signed(most as u64)])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read(row)?);
    }
    Ok(events)
}

pub(super) fn counts(connection: &Connection, filter: &EventFilter) -> Result<Vec<EventCount>> {
    let sql = format!(
        "SELECT cycle_id, host_id, kind, count(*), max(at) FROM event INDEXED BY event_at WHERE {}
         GROUP BY cycle_id, host_id, kind ORDER BY cycle_id DESC, host_id, kind",
        conditions(filter)
    );
    let (at, observation) = place(filter.before);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![filter.since.millis(), at, observation])?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        counts.push(EventCount {
            cycle: CycleId(row.get(0)?),
            host: HostId(row.get(1)?),
            kind: kind(row, 2)?,
            count: count(row.get(3)?),
            last_at: Timestamp::from_millis(row.get(4)?),
        });
    }
    Ok(counts)
}

/// A filter as SQL; the times are `?1` to `?3`. Kinds are words of ours, the rest are numbers.
pub(super) fn conditions(filter: &EventFilter) -> String {
    let mut sql =
        "event.at >= ?1 AND event.at <= ?2 AND (event.at < ?2 OR event.observation_id < ?3)".to_owned();
    let list = |values: Vec<String>| values.join(", ");
    if !filter.kinds.is_empty() {
        let kinds = filter.kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
        sql += &format!(" AND event.kind IN ({})", list(kinds));
    }
    if let Some(hosts) = &filter.hosts {
        let hosts = hosts.iter().map(|host| host.0.to_string()).collect();
        sql += &format!(" AND event.host_id IN ({})", list(hosts));
    }
    if !filter.no_new_of.is_empty() {
        let cycles = filter.no_new_of.iter().map(|cycle| cycle.0.to_string()).collect();
        sql += &format!(" AND NOT (event.kind = 'new' AND event.cycle_id IN ({}))", list(cycles));
    }
    if filter.unread {
        sql += &format!(" AND NOT ({})", read_marks::IS_READ);
    }
    sql
}

pub(super) fn place(before: Option<EventPlace>) -> (i64, i64) {
    before.map_or((i64::MAX, i64::MAX), |place| (place.at.millis(), place.observation))
}

fn kind(row: &Row<'_>, column: usize) -> Result<EventKind> {
    let name = row.get_ref(column)?.as_str().unwrap_or_default();
    EventKind::from_name(name)
        .ok_or_else(|| StoreError::BadValue(format!("`{name}` as the kind of an event")))
}

pub(super) fn read(row: &Row<'_>) -> Result<PageEvent> {
    let title: Option<String> = row.get(15)?;
    Ok(PageEvent {
        kind: kind(row, 9)?,
        page_id: row.get(8)?,
        url: row.get(0)?,
        is_title_known: title.is_some(),
        title: title.filter(|title| !title.is_empty()),
        at: Timestamp::from_millis(row.get(1)?),
        previous_at: moment(row.get(2)?),
        cycle_id: row.get(10)?,
        outcome: row.get(11)?,
        reason: row.get(17)?,
        status: row.get(12)?,
        redirect_to: row.get(13)?,
        changed: row.get(14)?,
        divergence: row.get(3)?,
        version_id: row.get(4)?,
        previous_version_id: row.get(5)?,
        returned_to_version_id: row.get(6)?,
        body_bytes: count(row.get(7)?),
        observation_id: row.get(16)?,
    })
}

// --- the log of an earlier release -------------------------------------------------------------------------------

/// The note of the migration: pages up to this one have their events.
const DERIVED_TO: &str = "events-derived-to";
/// Pages in a transaction.
const PAGES_AT_ONCE: i64 = 200;

/// Derives the events of a log that an earlier release wrote, in short transactions. Does nothing if that has been done;
/// goes on where a kill stopped it.
pub(super) fn derive(store: &mut SqliteStore) -> Result<()> {
    let Some(mut done) = notes::note(&store.connection, DERIVED_TO)?.and_then(|id| id.parse::<i64>().ok())
    else {
        return Ok(());
    };
    loop {
        let transaction = store.transaction()?;
        let pages = next_pages(&transaction, done)?;
        let Some(last) = pages.last().copied() else { break };
        let mut rows = log::visits_of(&transaction, &pages)?;
        // In the order in which they were recorded.
        rows.sort_unstable_by_key(|row| (row.page, row.id));
        for of_page in rows.chunk_by(|one, other| one.page == other.page) {
            let facts = of_page.iter().map(|row| row.observation()).collect::<Result<Vec<Observation>>>()?;
            let (events, condition) = event::events(&facts);
            for (row, kind) in of_page.iter().zip(events) {
                kind.map_or(Ok(()), |kind| keep(&transaction, row.id, kind))?;
            }
            if let Some(row) = of_page.first().filter(|_| condition != Default::default()) {
                transaction
                    .prepare_cached("UPDATE page SET condition = ?2 WHERE id = ?1")?
                    .execute(params![row.page.0, condition.name()])?;
            }
        }
        done = last.0;
        notes::set_note(&transaction, DERIVED_TO, &done.to_string())?;
        transaction.commit()?;
    }
    store.connection.execute("DELETE FROM note WHERE name = ?1", [DERIVED_TO])?;
    Ok(())
}

fn next_pages(connection: &Connection, after: i64) -> Result<Vec<PageId>> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM page WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let ids = statement.query_map([after, PAGES_AT_ONCE], |row| Ok(PageId(row.get(0)?)))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}
