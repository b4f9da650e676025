//! The difference between two versions of a page.

use std::time::Instant;

use serde::Serialize;

use crate::page::Normaliser;
use crate::store::Store;
use crate::time::Timestamp;

use super::LookError;
use super::page::{Sighting, VisitedPage, content};
use super::text_diff::{Hunk, TextDiff};

/// The difference between two versions of a page.
#[derive(Clone, Debug, Serialize)]
pub struct PageDiff {
    /// The page.
    pub url: String,
    /// The older version.
    pub from: ComparedVersion,
    /// The newer version.
    pub to: ComparedVersion,
    /// Words of the newer text that were not in the older one.
    pub words_added: usize,
    /// Words of the older text that are not in the newer one.
    pub words_removed: usize,
    /// Whether the bodies differ, whatever their texts say.
    pub bytes_differ: bool,
    /// The lines that were replaced.
    pub hunks: Vec<Hunk>,
    /// The texts compared, for those who draw them.
    #[serde(skip)]
    pub text: TextDiff,
    /// Whether either version has a text.
    #[serde(skip)]
    pub has_text: bool,
}

/// One side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedVersion {
    /// The visit that found it.
    pub at: Timestamp,
    /// Its number in the store.
    pub version: i64,
}

/// Compares the versions that were stored at two moments. Without `to` that is the last one; without `from` the last
/// before it that has another text, or, where there are no words, other bytes. What is not compared by the deadline
/// counts as replaced.
pub fn diff(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    deadline: Instant,
) -> Result<PageDiff, LookError> {
    let page = VisitedPage::load(store, normaliser, url)?;
    let url = page.page.url.clone();
    let Some((old, new)) = choose(store, &page.sightings(), from, to)? else {
        return Err(LookError::NothingStored(url));
    };
    let (before, after) = (content(store, old.version)?, content(store, new.version)?);
    let text = TextDiff::of(&before.text, &after.text, deadline);
    Ok(PageDiff {
        url,
        from: ComparedVersion { at: old.at, version: old.version.0 },
        to: ComparedVersion { at: new.at, version: new.version.0 },
        words_added: text.words_added(),
        words_removed: text.words_removed(),
        bytes_differ: before.body != after.body,
        hunks: text.replaced(),
        text,
        has_text: !before.text.is_empty() || !after.text.is_empty(),
    })
}

fn choose(
    store: &mut dyn Store,
    sightings: &[Sighting],
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<(Sighting, Sighting)>, LookError> {
    let at = |moment: Timestamp| {
        let stored = sightings.iter().rev().find(|sighting| sighting.at <= moment);
        stored.or(sightings.first()).copied()
    };
    let Some(new) = to.map_or_else(|| sightings.last().copied(), at) else { return Ok(None) };
    if let Some(from) = from {
        return Ok(at(from).map(|old| (old, new)));
    }
    let text = content(store, new.version)?.text;
    let earlier = sightings.iter().rev().filter(|sighting| sighting.at < new.at);
    let (mut old, mut same) = (new, new.version);
    for sighting in earlier {
        old = *sighting;
        if sighting.version != same {
            if text.is_empty() || content(store, sighting.version)?.text != text {
                break;
            }
            same = sighting.version;
        }
    }
    Ok(Some((old, new)))
}
