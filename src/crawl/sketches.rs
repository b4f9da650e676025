//! Sketches of versions: as they are kept, and made from the text where they are not.

use crate::change::fragment::SCHEME;
use crate::change::sketch::Sketch;
use crate::change::{self, ChangeSettings};
use crate::store::{Result, SketchRow, Store, VersionId};

/// The sketch that is kept of a version, if its fragments were made as they are made now. One that can't be read is not
/// used: the text has it all.
pub(super) fn kept_sketch(row: &SketchRow, settings: ChangeSettings) -> Option<Sketch> {
    let is_current = (row.scheme, row.words) == (i64::from(SCHEME), settings.fragment_words as i64);
    if is_current { Sketch::from_bytes(&row.hashes) } else { None }
}

/// A version's sketch, made from its text.
pub(super) fn made_sketch(
    store: &mut dyn Store,
    version: VersionId,
    settings: ChangeSettings,
) -> Result<Sketch> {
    let text = store.version(version)?.map(|found| found.text).unwrap_or_default();
    Ok(change::sketch(&text, settings))
}

/// A sketch as it is kept.
pub(super) fn sketch_row(version: VersionId, sketch: &Sketch, settings: ChangeSettings) -> SketchRow {
    let (scheme, words) = (i64::from(SCHEME), settings.fragment_words as i64);
    SketchRow { version, scheme, words, hashes: sketch.to_bytes() }
}
