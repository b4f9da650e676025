//! Plans, and what policies know of the collection.

use rusqlite::{Connection, OptionalExtension, params};

use super::Result;
use crate::store::{CollectionMemory, LoggedPlan};
use crate::time::{Age, Timestamp};

pub(super) fn log(connection: &Connection, plan: &LoggedPlan) -> Result<()> {
    // Nothing came of a plan behind which no visit was recorded before the next.
    connection.prepare_cached("DELETE FROM plan_moment WHERE after_id = ?1")?.execute([plan.after])?;
    connection
        .prepare_cached(
            "INSERT INTO plan_moment (after_id, at, cycle_seconds, mean_lag) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![plan.after, plan.at.millis(), plan.cycle_length.seconds(), plan.mean_lag])?;
    Ok(())
}

pub(super) fn since(connection: &Connection, visit: i64) -> Result<Vec<LoggedPlan>> {
    let mut statement = connection.prepare_cached(
        "SELECT after_id, at, cycle_seconds, mean_lag FROM plan_moment
         WHERE after_id >= coalesce((SELECT max(after_id) FROM plan_moment WHERE after_id <= ?1), ?1) ORDER BY after_id",
    )?;
    let mut rows = statement.query([visit])?;
    let mut plans = Vec::new();
    while let Some(row) = rows.next()? {
        plans.push(LoggedPlan {
            after: row.get(0)?,
            at: Timestamp::from_millis(row.get(1)?),
            cycle_length: Age::from_seconds(row.get(2)?),
            mean_lag: row.get(3)?,
        });
    }
    Ok(plans)
}

pub(super) fn memory(connection: &Connection, version: &str) -> Result<Option<CollectionMemory>> {
    let mut statement =
        connection.prepare_cached("SELECT upto_id, content FROM collection_memory WHERE version = ?1")?;
    let memory = statement
        .query_row([version], |row| Ok(CollectionMemory { upto: row.get(0)?, content: row.get(1)? }));
    Ok(memory.optional()?)
}

pub(super) fn keep_memory(connection: &Connection, version: &str, memory: &CollectionMemory) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO collection_memory (version, upto_id, content) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![version, memory.upto, memory.content])?;
    Ok(())
}
