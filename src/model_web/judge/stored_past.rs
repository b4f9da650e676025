//! The pasts of pages, as a store remembers them, for the judge.

use std::collections::HashMap;

use super::score::{PagePast, PastVisit, VisitEffect};
use super::{Pasts, Witness};
use crate::crawl::weights::counted_inlinks;
use crate::model_web::model::truth;
use crate::page::PageId;
use crate::store::{PageFilter, Store, StoreError, StoredContent, VersionId, VisitRow};

/// The past of every page of the web that the store knows, other spellings included.
pub fn pasts(store: &mut dyn Store, web: &[Witness]) -> Result<Pasts, StoreError> {
    let prefixes: Vec<String> = web.iter().map(|witness| format!("{}/", witness.origin)).collect();
    let mut pages = HashMap::new();
    let filter = PageFilter { aliases: true, ..PageFilter::default() };
    store.list_pages(&filter, &mut |row| {
        if prefixes.iter().any(|prefix| row.url.starts_with(prefix)) {
            let past = PagePast { found_at: row.found_at.seconds(), weight: row.weight, visits: Vec::new() };
            pages.insert(row.id, (row.url, past));
        }
    })?;
    store.each_visit(&mut |row| {
        if let (Some((_, past)), Some(what)) = (pages.get_mut(&row.page.0), what(&row)) {
            past.visits.push(PastVisit { at: row.at.seconds(), what });
        }
    })?;
    Ok(pages.into_values().collect())
}

/// The number of known pages that link to each page, by its URL.
pub fn inlinks(store: &mut dyn Store) -> Result<HashMap<String, u32>, StoreError> {
    let counted = counted_inlinks(store)?;
    let mut inlinks = HashMap::with_capacity(counted.len());
    store.list_pages(&PageFilter::default(), &mut |row| {
        let count = counted.get(&PageId(row.id)).copied().unwrap_or(0);
        inlinks.insert(row.url, count);
    })?;
    Ok(inlinks)
}

/// The effect of a visit on the copy; one that failed has none.
fn what(row: &VisitRow) -> Option<VisitEffect> {
    match (row.outcome.as_str(), row.version) {
        ("fetched", Some(version)) => Some(VisitEffect::Read(version)),
        ("not-modified", Some(version)) => Some(VisitEffect::Confirmed(version)),
        ("missing" | "moved" | "redirected", _) => Some(VisitEffect::Lost),
        _ => None,
    }
}

/// The text of a version as the truth of a made page would tell it: without noise.
pub fn held_text(store: &mut dyn Store, version: VersionId) -> Result<String, StoreError> {
    let found = content(store, version)?;
    Ok(truth::held_text(&found.body, found.text))
}

/// The text of a version as it was read.
pub fn text(store: &mut dyn Store, version: VersionId) -> Result<String, StoreError> {
    Ok(content(store, version)?.text)
}

fn content(store: &mut dyn Store, version: VersionId) -> Result<StoredContent, StoreError> {
    let found = store.version(version)?;
    found.ok_or_else(|| StoreError::BadValue(format!("version {}, which is not there", version.0)))
}
