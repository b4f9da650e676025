//! Kept counts, read for the views: hosts, days, the latest visits.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::counts::MILLION;
use super::load::rows_of;
use super::{Result, count, moment, signed, ticks};
use crate::observation::CycleId;
use crate::page::HostId;
use crate::store::{Brought, DayTally, HostTally, NamedInstead, Tick};

/// The pages of every host that has any, and the visits of one cycle. The cost is that of the hosts, whatever the number of pages.
pub(super) fn hosts(connection: &Connection, cycle: CycleId) -> Result<BTreeMap<HostId, HostTally>> {
    let mut tallies: BTreeMap<HostId, HostTally> = BTreeMap::new();
    pages(connection, &mut tallies)?;
    of_cycle(connection, cycle, &mut tallies)?;
    let mut statement = connection.prepare_cached(
        "SELECT id, stored_bytes, last_success_at FROM host LEFT JOIN host_visit ON host_visit.host_id = host.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(tally) = tallies.get_mut(&HostId(row.get(0)?)) {
            (tally.stored_bytes, tally.last_success_at) = (count(row.get(1)?), moment(row.get(2)?));
        }
    }
    Ok(tallies)
}

fn pages(connection: &Connection, tallies: &mut BTreeMap<HostId, HostTally>) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT host_id, is_alias, state, sum(pages) FROM page_count GROUP BY 1, 2, 3")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(HostId(row.get(0)?)).or_default();
        let pages = count(row.get(3)?);
        if row.get(1)? {
            tally.aliases += pages;
        } else {
            tally.lives.insert(row.get(2)?, pages);
        }
    }
    Ok(())
}

fn of_cycle(
    connection: &Connection,
    cycle: CycleId,
    tallies: &mut BTreeMap<HostId, HostTally>,
) -> Result<()> {
    let mut lives =
        connection.prepare_cached("SELECT host_id, state, pages FROM cycle_life WHERE cycle_id = ?1")?;
    let mut rows = lives.query([cycle.0])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(HostId(row.get(0)?)).or_default();
        tally.lives_in_cycle.insert(row.get(1)?, count(row.get(2)?));
    }
    let mut found = connection
        .prepare_cached("SELECT host_id, sum(pages) FROM cycle_found WHERE cycle_id >= ?1 GROUP BY 1")?;
    let is_known = connection
        .prepare_cached("SELECT 1 FROM cycle WHERE id = ?1")?
        .query_row([cycle.0], |_| Ok(()))
        .optional()?;
    let mut rows = found.query([is_known.map_or(i64::MAX, |()| cycle.0)])?;
    while let Some(row) = rows.next()? {
        tallies.entry(HostId(row.get(0)?)).or_default().found = count(row.get(1)?);
    }
    let mut visits = connection.prepare_cached(
        "SELECT host_id, outcome, visits, changed, bytes FROM cycle_visit WHERE cycle_id = ?1",
    )?;
    let mut rows = visits.query([cycle.0])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(HostId(row.get(0)?)).or_default();
        tally.outcomes.insert(row.get(1)?, count(row.get(2)?));
        tally.changed += count(row.get(3)?);
        tally.received_bytes += count(row.get(4)?);
    }
    Ok(())
}

/// What visits brought on these days, in order of the days and hosts.
pub(super) fn days(connection: &Connection, from_day: i64, to_day: i64) -> Result<Vec<DayTally>> {
    let mut statement = connection.prepare_cached(
        "SELECT day, host_id, divergence, bytes, first, changed, unchanged, not_modified, moved, gone, failed, refused
         FROM day_tally WHERE day BETWEEN ?1 AND ?2 ORDER BY day, host_id",
    )?;
    let rows = statement.query_map(params![from_day, to_day], |row| {
        let mut counts = [0; 8];
        for (place, kind) in counts.iter_mut().enumerate() {
            *kind = count(row.get(4 + place)?);
        }
        Ok(DayTally {
            day: row.get(0)?,
            host: HostId(row.get(1)?),
            brought: Brought::from_counts(counts),
            divergence: row.get::<_, i64>(2)? as f64 / MILLION,
            bytes: count(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The latest visits of these hosts; those that have none are left out.
pub(super) fn latest(connection: &Connection, hosts: &[HostId]) -> Result<BTreeMap<HostId, Vec<Tick>>> {
    let sql = |places: &str| format!("SELECT host_id, ticks FROM host_visit WHERE host_id IN ({places})");
    let read = |row: &rusqlite::Row<'_>| {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        Ok((HostId(row.get(0)?), ticks::from_bytes(bytes)))
    };
    Ok(rows_of(connection, hosts, |host| host.0, sql, read)?.into_iter().collect())
}

/// Groups of pages that name one page in their place, in order of the hosts and the pages named.
pub(super) fn named_instead(connection: &Connection, pages: u64, unlike: u64) -> Result<Vec<NamedInstead>> {
    let mut statement = connection.prepare_cached(
        "SELECT host.origin, page.url, naming.pages, naming.unlike
         FROM naming JOIN host ON host.id = naming.host_id JOIN page ON page.id = naming.page_id
         WHERE naming.pages >= ?1 OR naming.unlike >= ?2 ORDER BY host.origin, page.url",
    )?;
    let rows = statement.query_map([signed(pages), signed(unlike)], |row| {
        Ok(NamedInstead {
            host: row.get(0)?,
            target: row.get(1)?,
            pages: count(row.get(2)?),
            unlike: count(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
