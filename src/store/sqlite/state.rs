//! The part of a page's row that is folded from its observations: reading it, writing it.

use rusqlite::{Row, types::Value};

use super::{count, moment, signed};
use crate::change::profile::Profiles;
use crate::observation::{Claim, Condition, Folded, Life, Standing};
use crate::page::PageId;
use crate::policy::Learnt;
use crate::store::{CycleId, VersionId};
use crate::time::Timestamp;

/// All that [`state`] reads, in its order.
pub(super) const STATE: &str =
    "page.state, page.failures, page.due_at, page.last_outcome, page.visits, page.changes,
    page.last_visit_at, page.last_cycle_id, page.version_id, page.text_rules, page.profiles, page.has_words,
    page.seen_at, page.learnt, page.same_as, page.same_times, page.same_moved, page.same_text,
    page.condition";
pub(super) const STATE_COLUMNS: usize = 19;

/// A page's state, its memory, and whether all of it could be read: what can't be read is read as nothing, since the log
/// has it all.
pub(super) fn state(row: &Row<'_>) -> rusqlite::Result<(Folded, Learnt, bool)> {
    let life = Life::from_name(row.get_ref(0)?.as_str().unwrap_or_default());
    let profiles = row.get_ref(10)?.as_blob_or_null()?.map(Profiles::from_bytes);
    let memory = row.get_ref(13)?.as_blob_or_null()?.map(Learnt::from_bytes);
    let is_readable = life.is_some() && profiles != Some(None) && memory != Some(None);
    let folded = Folded {
        standing: Standing {
            life: life.unwrap_or_default(),
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
        profiles: profiles.flatten().unwrap_or_default(),
        seen_at: moment(row.get(12)?),
        claim: claim(row, 14)?,
        condition: row.get_ref(18)?.as_str_or_null()?.and_then(Condition::from_name).unwrap_or_default(),
    };
    Ok((folded, memory.flatten().unwrap_or_default(), is_readable))
}

/// The page that another one's last visits named in its place: four columns from `first` on.
pub(super) fn claim(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Claim>> {
    let Some(of) = row.get::<_, Option<i64>>(first)?.map(PageId) else { return Ok(None) };
    let times = row.get::<_, Option<u32>>(first + 1)?.unwrap_or(0);
    let moved = row.get::<_, Option<bool>>(first + 2)?.unwrap_or(false);
    Ok(Some(Claim { of, times, moved, near: row.get(first + 3)? }))
}

/// The part of [`SET_STATE`] that is left out where a visit found no change, so that the index of it is not written then.
pub(super) const SET_CHANGES: &str = "changes = ?7, ";

/// Sets all that [`state`] reads, by the values that [`values`] gives; the page's id is the first.
pub(super) const SET_STATE: &str = "state = ?2, failures = ?3, due_at = ?4, last_outcome = ?5, visits = ?6,
    changes = ?7, last_visit_at = ?8, last_cycle_id = ?9, version_id = ?10, text_rules = ?11, profiles = ?12,
    has_words = ?13, seen_at = ?14, learnt = ?15, same_as = ?16, same_times = ?17, same_moved = ?18, same_text = ?19,
    condition = ?20,
    body_bytes = CASE WHEN version_id IS ?10 THEN body_bytes
        ELSE (SELECT body_bytes FROM version WHERE version.id = ?10) END";

pub(super) fn values(page: PageId, folded: &Folded, learnt: &Learnt) -> [Value; 1 + STATE_COLUMNS] {
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
        // Nothing takes no room.
        if *learnt == Learnt::default() { Value::Null } else { Value::Blob(learnt.to_bytes()) },
        integer(folded.claim.map(|claim| claim.of.0)),
        integer(folded.claim.map(|claim| i64::from(claim.times))),
        folded.claim.map(|claim| claim.moved).into(),
        folded.claim.and_then(|claim| claim.near).into(),
        // A page that answers takes no room.
        match folded.condition {
            Condition::Well => Value::Null,
            told => Value::Text(told.name().to_owned()),
        },
    ]
}
