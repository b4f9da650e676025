//! The part of a page's row that is folded from its observations: reading it, writing it, making it again.

use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::versions::{Sketches, differ, has_words};
use super::{Result, SqliteStore, StoreError, count, moment, signed};
use crate::change::ChangeSettings;
use crate::change::profile::Profiles;
use crate::fetch::visit::Outcome;
use crate::observation::{Life, Standing};
use crate::page::PageId;
use crate::store::fold::{Fact, Folded, Found};
use crate::store::{CycleId, Rebuilt, VersionId};
use crate::time::Timestamp;

/// All that [`folded`] reads, in its order.
pub(super) const FOLDED: &str = "state, failures, due_at, last_outcome, visits, changes, last_visit_at,
    last_cycle_id, version_id, text_rules, profiles";
pub(super) const FOLDED_COLUMNS: usize = 11;

pub(super) fn folded(row: &Row<'_>) -> rusqlite::Result<Folded> {
    let name: String = row.get(0)?;
    let profiles: Option<Vec<u8>> = row.get(10)?;
    Ok(Folded {
        standing: Standing {
            life: Life::from_name(&name).unwrap_or_default(),
            failures: row.get(1)?,
            due_at: Timestamp::from_millis(row.get(2)?),
        },
        last_outcome: row.get(3)?,
        visits: count(row.get(4)?),
        changes: count(row.get(5)?),
        last_visit_at: moment(row.get(6)?),
        last_cycle: row.get::<_, Option<i64>>(7)?.map(CycleId),
        version: row.get::<_, Option<i64>>(8)?.map(VersionId),
        text_rules: row.get::<_, Option<i64>>(9)?.unwrap_or(0).cast_unsigned(),
        // Profiles that can't be read are as good as none: new ones begin.
        profiles: profiles.and_then(|bytes| Profiles::from_bytes(&bytes)).unwrap_or_default(),
    })
}

/// Sets all that [`folded`] reads, by the values that [`values`] gives; the page's id is the first.
pub(super) const SET_FOLDED: &str = "state = ?2, failures = ?3, due_at = ?4, last_outcome = ?5, visits = ?6,
    changes = ?7, last_visit_at = ?8, last_cycle_id = ?9, version_id = ?10, text_rules = ?11, profiles = ?12";

pub(super) fn values(page: PageId, folded: &Folded) -> [Value; 1 + FOLDED_COLUMNS] {
    let integer = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
    [
        Value::Integer(page.0),
        Value::Text(folded.standing.life.name().to_owned()),
        Value::Integer(i64::from(folded.standing.failures)),
        Value::Integer(folded.standing.due_at.millis()),
        folded.last_outcome.clone().map_or(Value::Null, Value::Text),
        Value::Integer(signed(folded.visits)),
        Value::Integer(signed(folded.changes)),
        integer(folded.last_visit_at.map(Timestamp::millis)),
        integer(folded.last_cycle.map(|cycle| cycle.0)),
        integer(folded.version.map(|version| version.0)),
        Value::Integer(folded.text_rules.cast_signed()),
        if folded.profiles.is_empty() { Value::Null } else { Value::Blob(folded.profiles.to_bytes()) },
    ]
}

/// Pages of one transaction: a rebuild that is stopped has rebuilt whole pages.
const PAGES_AT_ONCE: usize = 500;

/// Makes every sketch, and then every page's folded part, again.
pub(super) fn rebuild(
    store: &mut SqliteStore,
    settings: ChangeSettings,
    write: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Rebuilt> {
    let ids = |sql: &str| -> Result<Vec<i64>> {
        let mut statement = store.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let versions = ids("SELECT id FROM version ORDER BY id")?;
    let pages = ids("SELECT id FROM page ORDER BY id")?;
    let (mut done, all) = (0, (versions.len() + pages.len()) as u64);
    let mut rebuilt =
        Rebuilt { pages: pages.len() as u64, versions: versions.len() as u64, ..Rebuilt::default() };
    for some in versions.chunks(PAGES_AT_ONCE) {
        let transaction = store.transaction()?;
        for version in some.iter().copied().map(VersionId) {
            if has_words(&transaction, version)? {
                let sketches = Sketches::new(&transaction, settings, None);
                let (made, kept) = (sketches.make(version)?, sketches.kept(version)?);
                if kept.as_ref() != Some(&made) {
                    rebuilt.sketches_differ += 1;
                }
                sketches.keep(version, &made)?;
            }
        }
        // What is only looked at is made and thrown away.
        if write {
            transaction.commit()?
        } else {
            transaction.rollback()?
        }
        done += some.len() as u64;
        progress(done, all);
    }
    for some in pages.chunks(PAGES_AT_ONCE) {
        let transaction = store.transaction()?;
        for page in some.iter().copied().map(PageId) {
            let before = transaction
                .prepare_cached(&format!("SELECT {FOLDED} FROM page WHERE id = ?1"))?
                .query_row([page.0], folded)?;
            let after = refold(&transaction, page, settings)?;
            if before != after {
                rebuilt.pages_differ += 1;
                transaction
                    .prepare_cached(&format!("UPDATE page SET {SET_FOLDED} WHERE id = ?1"))?
                    .execute(params_from_iter(values(page, &after)))?;
            }
        }
        if write {
            transaction.commit()?
        } else {
            transaction.rollback()?
        }
        done += some.len() as u64;
        progress(done, all);
    }
    Ok(rebuilt)
}

/// What a page's log amounts to.
fn refold(connection: &Connection, page: PageId, settings: ChangeSettings) -> Result<Folded> {
    let mut folded = Folded::default();
    let mut statement = connection.prepare_cached(
        "SELECT cycle_id, at, outcome, detail, changed, version_id, text_rules FROM observation
         WHERE page_id = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([page.0])?;
    while let Some(row) = rows.next()? {
        let (code, detail): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        let outcome = Outcome::from_code(&code, detail.as_deref())
            .ok_or_else(|| StoreError::BadValue(format!("`{code}` as the outcome of a visit")))?;
        let found = match row.get::<_, Option<i64>>(5)?.map(VersionId) {
            Some(version) => {
                let text_rules = row.get::<_, Option<i64>>(6)?.unwrap_or(0).cast_unsigned();
                let has_words = has_words(connection, version)?;
                let same_text = match folded.version.filter(|_| text_rules == folded.text_rules) {
                    Some(held) => !differ(connection, version, held, has_words)?.1,
                    None => false,
                };
                Some(Found { version, text_rules, same_text, has_words })
            }
            None => None,
        };
        let fact = Fact {
            cycle: CycleId(row.get(0)?),
            at: Timestamp::from_millis(row.get(1)?),
            outcome: &outcome,
            changed: row.get(4)?,
            found,
        };
        let mut sketches = Sketches::new(connection, settings, None);
        folded.take(&fact, settings.profiles, |base| {
            sketches.divergence(found.map(|found| found.version), base)
        })?;
    }
    Ok(folded)
}
