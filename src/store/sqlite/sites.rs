//! Pages and the visits of a cycle, counted by host.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Result, count, moment};
use crate::observation::CycleId;
use crate::page::HostId;
use crate::store::HostTally;

/// Three set queries: one pass over the pages, one over the visits of the cycle, one over the hosts.
pub(super) fn tallies(connection: &Connection, cycle: CycleId) -> Result<BTreeMap<HostId, HostTally>> {
    let mut tallies: BTreeMap<HostId, HostTally> = BTreeMap::new();
    pages(connection, cycle, &mut tallies)?;
    visits(connection, cycle, &mut tallies)?;
    let mut statement = connection.prepare_cached("SELECT id, stored_bytes FROM host")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(tally) = tallies.get_mut(&HostId(row.get(0)?)) {
            tally.stored_bytes = count(row.get(1)?);
        }
    }
    Ok(tallies)
}

fn pages(connection: &Connection, cycle: CycleId, tallies: &mut BTreeMap<HostId, HostTally>) -> Result<()> {
    let began: Option<i64> = connection
        .query_row("SELECT started_at FROM cycle WHERE id = ?1", [cycle.0], |row| row.get(0))
        .optional()?;
    let mut statement = connection.prepare_cached(
        "SELECT host_id, state, alias_of IS NOT NULL, last_cycle_id IS ?1, count(*), sum(found_at >= ?2), max(seen_at)
         FROM page GROUP BY 1, 2, 3, 4",
    )?;
    let mut rows = statement.query(params![cycle.0, began.unwrap_or(i64::MAX)])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(HostId(row.get(0)?)).or_default();
        let (state, is_alias, in_cycle): (String, bool, bool) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let pages = count(row.get(4)?);
        tally.last_success_at = tally.last_success_at.max(moment(row.get(6)?));
        if is_alias {
            tally.aliases += pages;
            continue;
        }
        tally.found += count(row.get(5)?);
        if in_cycle {
            *tally.lives_in_cycle.entry(state.clone()).or_default() += pages;
        }
        *tally.lives.entry(state).or_default() += pages;
    }
    Ok(())
}

fn visits(connection: &Connection, cycle: CycleId, tallies: &mut BTreeMap<HostId, HostTally>) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT page.host_id, outcome, count(*), total(changed), sum(bytes)
         FROM observation JOIN page ON page.id = page_id WHERE cycle_id = ?1 GROUP BY 1, 2",
    )?;
    let mut rows = statement.query([cycle.0])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(HostId(row.get(0)?)).or_default();
        tally.outcomes.insert(row.get(1)?, count(row.get(2)?));
        tally.changed += row.get::<_, f64>(3)? as u64;
        tally.received_bytes += count(row.get(4)?);
    }
    Ok(())
}
