//! How the pages of a site behave: static, churn, scroll or mixed, read off the latest changes of a few pages.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::change::behaviour::{Behaviour, BehaviourShares};
use crate::change::snapshots::Snapshots;
use crate::store::{PageEvent, Store, StoreError, VersionId};
use crate::time::Timestamp;

use super::history::ShownShares;
use super::status::NamedCounts;

/// Pages that are looked at: those that changed last.
const MOST_PAGES: usize = 24;
/// Changes of a page that are looked at, the latest.
const MOST_CHANGES: usize = 4;

/// Pages of a site by their behaviour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SiteBehaviour {
    /// Number of pages by behaviour, in the order static, churn, scroll, mixed.
    pub counts: NamedCounts,
    /// The pages that were looked at, the one that changed last first.
    pub pages: Vec<SampledPage>,
    /// Pages that changed lately and were not looked at: there were too many, or the time was over.
    pub not_looked_at: u64,
}

/// A page whose latest changes were looked at.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SampledPage {
    /// Its number.
    pub page_id: i64,
    /// Its address.
    pub url: String,
    /// Its title, as it was found last.
    pub title: Option<String>,
    /// How it behaves.
    pub behaviour: Behaviour,
    /// Shares of its fragments.
    pub shares: ShownShares,
    /// Changes that this was read off.
    #[serde(rename = "change_count")]
    pub changes: usize,
    /// The last of them.
    pub changed_at: Timestamp,
}

/// The latest changes of a page that follow on one another, the last one first.
struct LatestChanges<'e> {
    last: &'e PageEvent,
    /// The version after each of them, with the time it was found; the version before the first one last.
    versions: Vec<(Timestamp, VersionId)>,
}

/// The pages behind these changes, which are in order of time, the latest first. No text is read after the deadline.
pub(super) fn site_behaviour(
    store: &mut dyn Store,
    changes: &[PageEvent],
    fragment_words: usize,
    deadline: Instant,
) -> Result<SiteBehaviour, StoreError> {
    let latest = latest_changes(changes);
    let mut found = SiteBehaviour::default();
    let mut counts: BTreeMap<Behaviour, u64> = BTreeMap::new();
    for of_page in &latest {
        if found.pages.len() >= MOST_PAGES || Instant::now() > deadline {
            found.not_looked_at += 1;
            continue;
        }
        let Some((behaviour, shares)) = behaviour_of(store, of_page, fragment_words)? else {
            found.not_looked_at += 1;
            continue;
        };
        *counts.entry(behaviour).or_default() += 1;
        let BehaviourShares { static_share, churn, scroll } = shares;
        found.pages.push(SampledPage {
            page_id: of_page.last.page_id,
            url: of_page.last.url.clone(),
            title: of_page.last.title.clone(),
            behaviour,
            shares: ShownShares { static_share, churn, scroll },
            changes: of_page.versions.len().saturating_sub(1),
            changed_at: of_page.last.at,
        });
    }
    found.counts =
        NamedCounts(counts.into_iter().map(|(kind, pages)| (kind.name().to_owned(), pages)).collect());
    Ok(found)
}

/// The changes page by page, the page that changed last first.
fn latest_changes(changes: &[PageEvent]) -> Vec<LatestChanges<'_>> {
    let mut pages: Vec<LatestChanges<'_>> = Vec::new();
    let mut places: BTreeMap<i64, usize> = BTreeMap::new();
    for event in changes {
        let (Some(now), Some(before), Some(before_at)) =
            (event.version_id, event.previous_version_id, event.previous_at)
        else {
            continue;
        };
        match places.get(&event.page_id).and_then(|place| pages.get_mut(*place)) {
            None => {
                places.insert(event.page_id, pages.len());
                let versions = vec![(event.at, VersionId(now)), (before_at, VersionId(before))];
                pages.push(LatestChanges { last: event, versions });
            }
            // The rules of what is noise may have changed in between; then the texts are not compared.
            Some(page) if page.versions.len() <= MOST_CHANGES => {
                if page.versions.last().is_some_and(|(_, earliest)| earliest.0 == now) {
                    page.versions.push((before_at, VersionId(before)));
                }
            }
            Some(_) => {}
        }
    }
    pages
}

/// How a page behaves; `None` if one of its texts is not stored, or it has no words.
fn behaviour_of(
    store: &mut dyn Store,
    page: &LatestChanges<'_>,
    fragment_words: usize,
) -> Result<Option<(Behaviour, BehaviourShares)>, StoreError> {
    let mut past = Snapshots::new(fragment_words);
    for (at, version) in page.versions.iter().rev() {
        let Some(content) = store.version(*version)? else { return Ok(None) };
        past.see(*at, *version, 0, |_| Ok::<_, StoreError>(content.text))?;
    }
    Ok(past.behaviour())
}
