//! The part of a page's row that is folded from its observations: reading it, writing it, making it again.

use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::versions::{Sketches, differ, has_text, is_sketched};
use super::{Result, SqliteStore, StoreError, count, learning, moment, signed};
use crate::change::ChangeSettings;
use crate::change::profile::Profiles;
use crate::fetch::visit::Outcome;
use crate::observation::{Life, Standing};
use crate::page::{HostId, PageId};
use crate::policy::{Learnt, Policy};
use crate::store::fold::{Fact, Folded, Folding, Found, FromBases};
use crate::store::{CycleId, Rebuilt, VersionId};
use crate::time::Timestamp;

/// All that [`folded`] reads, in its order.
pub(super) const FOLDED: &str = "state, failures, due_at, last_outcome, visits, changes, last_visit_at,
    last_cycle_id, version_id, text_rules, profiles, has_words, seen_at, learnt";
pub(super) const FOLDED_COLUMNS: usize = 14;

pub(super) fn folded(row: &Row<'_>) -> rusqlite::Result<Folded> {
    let name: String = row.get(0)?;
    let profiles: Option<Vec<u8>> = row.get(10)?;
    let learnt: Option<Vec<u8>> = row.get(13)?;
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
        has_words: row.get(11)?,
        // Profiles that can't be read are as good as none: new ones begin.
        profiles: profiles.and_then(|bytes| Profiles::from_bytes(&bytes)).unwrap_or_default(),
        seen_at: moment(row.get(12)?),
        learnt: learning::learnt(learnt.as_deref()),
    })
}

/// Sets all that [`folded`] reads, by the values that [`values`] gives; the page's id is the first.
pub(super) const SET_FOLDED: &str = "state = ?2, failures = ?3, due_at = ?4, last_outcome = ?5, visits = ?6,
    changes = ?7, last_visit_at = ?8, last_cycle_id = ?9, version_id = ?10, text_rules = ?11, profiles = ?12,
    has_words = ?13, seen_at = ?14, learnt = ?15";

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
        folded.has_words.into(),
        integer(folded.seen_at.map(Timestamp::millis)),
        learning::stored(&folded.learnt),
    ]
}

/// Versions or pages of one transaction: a rebuild that is stopped has rebuilt whole ones.
const AT_ONCE: usize = 500;

/// Some of what is made again.
#[derive(Clone, Copy)]
enum Work<'a> {
    Versions(&'a [i64]),
    Pages(&'a [i64]),
}

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
    let policy = std::sync::Arc::clone(&store.policy);
    // What another policy learnt is no mistake: it is made again when this one takes over.
    let is_learnt = learning::kind(&store.connection)? == Some(policy.memory_version());
    let (mut done, all) = (0, (versions.len() + pages.len()) as u64);
    let mut rebuilt =
        Rebuilt { pages: pages.len() as u64, versions: versions.len() as u64, ..Rebuilt::default() };
    let mut step = |connection: &Connection, some: Work<'_>| -> Result<()> {
        match some {
            Work::Versions(ids) => rebuilt.sketches_differ += resketch(connection, ids, settings)?,
            Work::Pages(ids) => {
                rebuilt.pages_differ +=
                    refold_pages(connection, ids, settings, (&*policy, is_learnt || write))?
            }
        }
        let (Work::Versions(ids) | Work::Pages(ids)) = some;
        done += ids.len() as u64;
        progress(done, all);
        Ok(())
    };
    let work = versions.chunks(AT_ONCE).map(Work::Versions).chain(pages.chunks(AT_ONCE).map(Work::Pages));
    if write {
        learning::note_unfinished(&store.connection)?;
        for some in work {
            let transaction = store.transaction()?;
            step(&transaction, some)?;
            transaction.commit()?;
        }
        learning::note_kind(&store.connection, &*store.policy)?;
    } else {
        // Made and thrown away, all at once: the pages are held against the sketches that would be there.
        let transaction = store.transaction()?;
        for some in work {
            step(&transaction, some)?;
        }
        transaction.rollback()?;
    }
    Ok(rebuilt)
}

/// Makes the sketches of these versions again; how many were not what their text gives.
fn resketch(connection: &Connection, versions: &[i64], settings: ChangeSettings) -> Result<u64> {
    let mut differ = 0;
    for version in versions.iter().copied().map(VersionId) {
        if is_sketched(connection, version)? {
            let sketches = Sketches::new(connection, settings, None);
            let made = sketches.make(version)?;
            if sketches.kept(version)?.as_ref() != Some(&made) {
                differ += 1;
                sketches.keep(version, &made)?;
            }
        }
    }
    Ok(differ)
}

/// Folds the logs of these pages again; how many were not what their log amounts to.
fn refold_pages(
    connection: &Connection,
    pages: &[i64],
    settings: ChangeSettings,
    (policy, compares_learnt): (&dyn Policy, bool),
) -> Result<u64> {
    let mut differ = 0;
    for page in pages.iter().copied().map(PageId) {
        let after = refold(connection, page, settings, policy)?;
        let same = connection
            .prepare_cached(&format!("SELECT {FOLDED} FROM page WHERE id = ?1"))?
            .query_row([page.0], |row| {
                // What can't be read is read as nothing, but it is not nothing.
                let (state, profiles): (String, Option<Vec<u8>>) = (row.get(0)?, row.get(10)?);
                let learnt: Option<Vec<u8>> = row.get(13)?;
                let readable = state == after.standing.life.name()
                    && profiles.unwrap_or_default() == after.profiles.to_bytes()
                    && learnt.as_deref().is_none_or(|bytes| Learnt::from_bytes(bytes).is_some());
                let mut before = folded(row)?;
                if !compares_learnt {
                    before.learnt.clone_from(&after.learnt);
                }
                Ok(readable && before == after)
            })?;
        if !same {
            differ += 1;
            connection
                .prepare_cached(&format!("UPDATE page SET {SET_FOLDED} WHERE id = ?1"))?
                .execute(params_from_iter(values(page, &after)))?;
        }
    }
    Ok(differ)
}

/// What a page's log amounts to.
fn refold(
    connection: &Connection,
    page: PageId,
    settings: ChangeSettings,
    policy: &dyn Policy,
) -> Result<Folded> {
    let mut folded = Folded::default();
    let (host, depth) = connection
        .prepare_cached("SELECT host_id, depth FROM page WHERE id = ?1")?
        .query_row([page.0], |row| Ok((HostId(row.get(0)?), row.get(1)?)))?;
    let folding = Folding { host, depth, profiles: settings.profiles, policy };
    let mut statement = connection.prepare_cached(
        "SELECT cycle_id, at, outcome, detail, changed, version_id, text_rules, has_words, dated_at, events, new_links,
                divergence, bases
         FROM observation
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
                let has_words = match row.get(7)? {
                    Some(noted) => noted,
                    None => has_text(connection, version)?,
                };
                let same_text = match folded.version.filter(|_| text_rules == folded.text_rules) {
                    Some(held) => !differ(connection, version, held, has_words)?.1,
                    None => false,
                };
                Some(Found { version, text_rules, same_text, has_words })
            }
            None => None,
        };
        let at = Timestamp::from_millis(row.get(1)?);
        let logged = learning::bases(row, 12, at)?;
        let fact = Fact {
            cycle: CycleId(row.get(0)?),
            at,
            outcome: &outcome,
            changed: row.get(4)?,
            found,
            told: learning::told(row, 8)?,
            apart: FromBases::Logged(&logged),
            divergence: row.get(11)?,
        };
        let mut sketches = Sketches::new(connection, settings, None);
        folded.take(&fact, &folding, |base| sketches.divergence(found.map(|found| found.version), base))?;
    }
    Ok(folded)
}
