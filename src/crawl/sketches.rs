//! Sketches of versions: as they are kept, and made from the text where they are not.

use crate::change::fragment::SCHEME;
use crate::change::sketch::Sketch;
use crate::change::{self, ChangeSettings};
use crate::store::{Result, SketchRow, Store, VersionId};

/// The sketch that is kept of a version, if its fragments were made as they are made now. One that can't be read is not
/// used: the text has it all.
///
/// It has at most as many bytes of each hash as sketches have now. A sketch of an earlier scheme counts too. [`super::rebuild::renew`] has made all of them again, except those of versions
/// whose text is not stored; for nearly all texts the schemes agree.
pub(super) fn kept_sketch(row: &SketchRow, settings: ChangeSettings) -> Option<Sketch> {
    let is_current = row.scheme <= i64::from(SCHEME) && row.words == settings.fragment_words as i64;
    let kept = if is_current { Sketch::from_bytes(&row.hashes) } else { None };
    kept.map(|sketch| sketch.with_hashes_of(settings.hash_bytes))
}

/// The store's note of the scheme of its sketches.
const SCHEME_NOTE: &str = "fragment-scheme";
/// The note of a store whose sketches are being made again: some pages may be measured by another scheme still.
const BEING_RENEWED: &str = "being renewed";

/// Which scheme made the sketches of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SketchesMade {
    /// The present one.
    Now,
    /// An earlier one.
    Earlier,
    /// They were being made again, and that was stopped on the way.
    Halfway,
}

/// Which scheme made the store's sketches.
pub(super) fn sketches_made(store: &mut dyn Store) -> Result<SketchesMade> {
    let note = store.note(SCHEME_NOTE)?;
    Ok(match note.as_deref() {
        Some(scheme) if scheme == SCHEME.to_string() => SketchesMade::Now,
        Some(BEING_RENEWED) => SketchesMade::Halfway,
        _ => SketchesMade::Earlier,
    })
}

/// Notes which scheme made the store's sketches.
pub(super) fn note_sketches(store: &mut dyn Store, made: SketchesMade) -> Result<()> {
    match made {
        SketchesMade::Now => store.set_note(SCHEME_NOTE, &SCHEME.to_string()),
        SketchesMade::Halfway => store.set_note(SCHEME_NOTE, BEING_RENEWED),
        SketchesMade::Earlier => Ok(()),
    }
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
