//! Cycles and their plans.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Result, SqliteStore, count, counting, moment, signed};
use crate::fetch::visit::{Outcome, Validators};
use crate::observation::validate::MOST_CONFIRMATIONS;
use crate::page::{HostId, PageId, SeedId};
use crate::schedule::Plan;
use crate::store::{CycleCommand, CycleId, CycleRow, OpenCycle, PlannedVisit};
use crate::time::Timestamp;

pub(super) fn open(
    store: &mut SqliteStore,
    command: CycleCommand,
    policy: &str,
    budget: Option<u64>,
    now: Timestamp,
) -> Result<OpenCycle> {
    let transaction = store.transaction()?;
    let only = CycleCommand::Only.name();
    transaction.execute(
        "DELETE FROM plan WHERE cycle_id IN (SELECT id FROM cycle WHERE ended_at IS NULL AND command = ?1)",
        [only],
    )?;
    transaction.execute(
        "UPDATE cycle SET ended_at = ?2 WHERE ended_at IS NULL AND command = ?1",
        params![only, now.millis()],
    )?;
    let interrupted: Option<(i64, i64)> = transaction
        .query_row(
            "SELECT id, requests FROM cycle WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    if let Some((id, requests)) = interrupted.filter(|_| command != CycleCommand::Only) {
        // The settings of this run count from here on.
        transaction.execute(
            "UPDATE cycle SET policy = ?2, budget = ?3 WHERE id = ?1",
            params![id, policy, budget.map(signed)],
        )?;
        transaction.commit()?;
        let outstanding = outstanding(&store.connection)?;
        return Ok(OpenCycle { id: CycleId(id), resumed: true, requests: count(requests), outstanding });
    }
    transaction.execute(
        "INSERT INTO cycle (started_at, command, policy, budget) VALUES (?1, ?2, ?3, ?4)",
        params![now.millis(), command.name(), policy, budget.map(signed)],
    )?;
    let id = transaction.last_insert_rowid();
    counting::cycle_begins(&transaction, id, now)?;
    transaction.commit()?;
    Ok(OpenCycle { id: CycleId(id), resumed: false, requests: 0, outstanding: Vec::new() })
}

/// All that [`planned`] reads; what follows says which pages.
const SELECT_PLANNED: &str = "SELECT page.id, page.host_id, page.seed_id, page.url, page.depth, page.hops,
            page.etag, page.last_modified, version.body_hash, page.read_by_rules, page.text_rules, page.content_type
     FROM page LEFT JOIN version ON version.id = page.version_id";

/// The outcomes of a page's latest visits that brought or confirmed anything, the latest first.
const SELECT_OUTCOMES: &str = "SELECT outcome FROM observation WHERE page_id = ?1 AND version_id IS NOT NULL
     ORDER BY at DESC, id DESC LIMIT ?2";

/// Counts the latest visits in a row that were answered with 304.
fn count_confirmations(connection: &Connection, visit: &mut PlannedVisit) -> rusqlite::Result<()> {
    // Without validators nothing can be confirmed.
    if visit.held.can_be_compared() {
        let mut statement = connection.prepare_cached(SELECT_OUTCOMES)?;
        let mut rows = statement.query([visit.page.0, MOST_CONFIRMATIONS.into()])?;
        while let Some(row) = rows.next()?
            && row.get_ref(0)?.as_str().ok() == Some(Outcome::NotModified.code())
        {
            visit.confirmations += 1;
        }
    }
    Ok(())
}

fn planned(row: &Row<'_>) -> rusqlite::Result<PlannedVisit> {
    let body: Option<[u8; 16]> = row.get(8)?;
    Ok(PlannedVisit {
        page: PageId(row.get(0)?),
        host: HostId(row.get(1)?),
        seed: SeedId(row.get(2)?),
        url: row.get(3)?,
        depth: row.get(4)?,
        hops: row.get(5)?,
        held: Validators {
            etag: row.get(6)?,
            last_modified: row.get(7)?,
            body: body.map(u128::from_be_bytes),
        },
        confirmations: 0,
        read_by: row.get::<_, Option<i64>>(9)?.map(i64::cast_unsigned),
        text_rules: row.get::<_, Option<i64>>(10)?.unwrap_or(0).cast_unsigned(),
        content_type: row.get(11)?,
    })
}

fn outstanding(connection: &Connection) -> Result<Vec<PlannedVisit>> {
    let mut statement = connection.prepare(&format!(
        "{SELECT_PLANNED} JOIN plan ON plan.page_id = page.id ORDER BY plan.score DESC, page.id"
    ))?;
    let rows = statement.query_map([], planned)?;
    let mut visits = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    visits.iter_mut().try_for_each(|visit| count_confirmations(connection, visit))?;
    Ok(visits)
}

pub(super) fn plan(store: &mut SqliteStore, cycle: CycleId, plan: &Plan) -> Result<Vec<PlannedVisit>> {
    let transaction = store.transaction()?;
    let mut visits = Vec::with_capacity(plan.visits.len());
    {
        let mut insert = transaction
            .prepare_cached("INSERT OR REPLACE INTO plan (page_id, cycle_id, score) VALUES (?1, ?2, ?3)")?;
        let mut select = transaction.prepare_cached(&format!("{SELECT_PLANNED} WHERE page.id = ?1"))?;
        for visit in &plan.visits {
            insert.execute(params![visit.page.0, cycle.0, visit.score.value()])?;
            let mut planned = select.query_row([visit.page.0], planned)?;
            count_confirmations(&transaction, &mut planned)?;
            visits.push(planned);
        }
    }
    transaction.commit()?;
    Ok(visits)
}

pub(super) fn close(
    store: &mut SqliteStore,
    cycle: CycleId,
    now: Timestamp,
    threshold: Option<f64>,
) -> Result<()> {
    let transaction = store.transaction()?;
    transaction.execute("DELETE FROM plan WHERE cycle_id = ?1", [cycle.0])?;
    transaction.execute(
        "UPDATE cycle SET ended_at = ?2, threshold = ?3 WHERE id = ?1",
        params![cycle.0, now.millis(), threshold],
    )?;
    transaction.commit()?;
    Ok(())
}

pub(super) fn before(connection: &Connection, before: CycleId, most: usize) -> Result<Vec<CycleRow>> {
    let mut statement = connection.prepare(
        "SELECT id, started_at, ended_at, policy, budget, requests, bytes, fetched, new_pages, changed, unchanged,
                failed, deferred, threshold, command
         FROM cycle WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map([before.0, signed(most as u64)], |row| {
        Ok(CycleRow {
            id: row.get(0)?,
            started_at: Timestamp::from_millis(row.get(1)?),
            ended_at: moment(row.get(2)?),
            command: row.get_ref(14)?.as_str_or_null()?.and_then(CycleCommand::from_name),
            policy: row.get(3)?,
            budget: row.get::<_, Option<i64>>(4)?.map(count),
            requests: count(row.get(5)?),
            bytes: count(row.get(6)?),
            fetched: count(row.get(7)?),
            new_pages: count(row.get(8)?),
            changed: count(row.get(9)?),
            unchanged: count(row.get(10)?),
            failed: count(row.get(11)?),
            deferred: count(row.get(12)?),
            threshold: row.get(13)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
