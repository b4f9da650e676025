//! Versions and the sketches that stand for them.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Result, look, signed};
use crate::change::divergence::{Divergence, divergence};
use crate::change::fragment::SCHEME;
use crate::change::sketch::Sketch;
use crate::change::{self, ChangeSettings};
use crate::page::PageId;
use crate::store::{ReadContent, VersionId};
use crate::time::Timestamp;

/// The version that has this content, which is kept if it is new.
pub(super) fn version_id(
    connection: &Connection,
    content: &ReadContent,
    seen: Timestamp,
) -> Result<VersionId> {
    let (body_hash, text_hash) = (content.body_hash.to_be_bytes(), content.text_hash.to_be_bytes());
    let inserted = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO version (body_hash, text_hash, first_seen, body_bytes, text_bytes, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            body_hash,
            text_hash,
            seen.millis(),
            signed(content.body_bytes as u64),
            signed(content.text_bytes as u64),
            content.packed,
        ])?;
    if inserted > 0 {
        return Ok(VersionId(connection.last_insert_rowid()));
    }
    let id = connection
        .prepare_cached("SELECT id FROM version WHERE body_hash = ?1 AND text_hash = ?2")?
        .query_row([body_hash, text_hash], |row| row.get(0))?;
    Ok(VersionId(id))
}

/// Hashes of a version's body and text.
fn hashes(connection: &Connection, version: VersionId) -> Result<([u8; 16], [u8; 16])> {
    Ok(connection
        .prepare_cached("SELECT body_hash, text_hash FROM version WHERE id = ?1")?
        .query_row([version.0], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Do two versions differ in their bytes, and in what a reader sees? What has no words differs as its bytes do.
pub(super) fn differ(
    connection: &Connection,
    one: VersionId,
    other: VersionId,
    has_words: bool,
) -> Result<(bool, bool)> {
    if one == other {
        return Ok((false, false));
    }
    let (one, other) = (hashes(connection, one)?, hashes(connection, other)?);
    let bytes = one.0 != other.0;
    Ok((bytes, if has_words { one.1 != other.1 } else { bytes }))
}

/// Is there any text in it?
pub(super) fn has_text(connection: &Connection, version: VersionId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT text_bytes > 0 FROM version WHERE id = ?1")?
        .query_row([version.0], |row| row.get(0))?)
}

/// Is a sketch of it kept, or worth keeping?
pub(super) fn is_sketched(connection: &Connection, version: VersionId) -> Result<bool> {
    let kept = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM sketch WHERE version_id = ?1)")?
        .query_row([version.0], |row| row.get(0))?;
    Ok(kept || has_text(connection, version)?)
}

/// The latest version that the page had before and that has the same text, or the same bytes where there are no words.
pub(super) fn seen_before(
    connection: &Connection,
    page: PageId,
    version: VersionId,
    has_words: bool,
) -> Result<Option<VersionId>> {
    let (body_hash, text_hash) = hashes(connection, version)?;
    let found: Option<i64> = connection
        .prepare_cached(
            "SELECT observation.version_id FROM observation JOIN version ON version.id = observation.version_id
             WHERE observation.page_id = ?1 AND version.text_hash = ?2 AND (?4 OR version.body_hash = ?3)
             ORDER BY observation.at DESC, observation.id DESC LIMIT 1",
        )?
        .query_row(params![page.0, text_hash, body_hash, has_words], |row| row.get(0))
        .optional()?;
    Ok(found.map(VersionId))
}

/// Sketches of the versions that one visit is held against.
pub(super) struct Sketches<'a> {
    connection: &'a Connection,
    settings: ChangeSettings,
    /// The sketch of what the visit brought.
    found: Option<&'a Sketch>,
    /// What was measured already.
    measured: Vec<(VersionId, Divergence)>,
}

impl<'a> Sketches<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        settings: ChangeSettings,
        found: Option<&'a Sketch>,
    ) -> Self {
        Self { connection, settings, found, measured: Vec::new() }
    }

    /// How far what the visit found (`version`) is from another version.
    pub(super) fn divergence(&mut self, version: Option<VersionId>, from: VersionId) -> Result<Divergence> {
        if let Some((_, known)) = self.measured.iter().find(|(known, _)| *known == from) {
            return Ok(*known);
        }
        let from_sketch = self.load(from)?;
        let apart = match (self.found, version) {
            (Some(found), _) => divergence(found, &from_sketch),
            (None, Some(version)) => divergence(&self.load(version)?, &from_sketch),
            (None, None) => Divergence::NONE,
        };
        self.measured.push((from, apart));
        Ok(apart)
    }

    /// Keeps the sketch of a version, in place of any made in another way.
    pub(super) fn keep(&self, version: VersionId, sketch: &Sketch) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO sketch (version_id, scheme, words, hashes) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![version.0, SCHEME, self.settings.fragment_words as i64, sketch.to_bytes()])?;
        Ok(())
    }

    /// A version's sketch: the one that is kept, or made from its text where there is none of this kind.
    pub(super) fn load(&self, version: VersionId) -> Result<Sketch> {
        match self.kept(version)? {
            Some(sketch) => Ok(sketch),
            None => self.make(version),
        }
    }

    /// The sketch that is kept of a version, if its fragments were made as they are made now.
    pub(super) fn kept(&self, version: VersionId) -> Result<Option<Sketch>> {
        let kept: Option<(i64, i64, Vec<u8>)> = self
            .connection
            .prepare_cached("SELECT scheme, words, hashes FROM sketch WHERE version_id = ?1")?
            .query_row([version.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let wanted = (i64::from(SCHEME), self.settings.fragment_words as i64);
        // One that can't be read is as good as none: the text has it all.
        Ok(kept
            .filter(|(scheme, words, _)| (*scheme, *words) == wanted)
            .and_then(|(_, _, hashes)| Sketch::from_bytes(&hashes)))
    }

    /// A version's sketch, made from its text.
    pub(super) fn make(&self, version: VersionId) -> Result<Sketch> {
        let text = look::version(self.connection, version)?.map(|found| found.text).unwrap_or_default();
        Ok(change::sketch(&text, self.settings))
    }
}
