//! A page of the store by its URL, and what was held of it when.

use freshet::page::PageId;
use freshet::store::{PageRow, Spelling, Store, StoreError, StoredContent, VersionId, VisitRow};
use freshet::time::Timestamp;

use super::ask_page::page_url;
use crate::settings::Settings;

/// A page and the visits of all its spellings, in order of time.
pub struct History {
    pub page: PageRow,
    /// Its other spellings: those it moved from, and those that show it too.
    pub spellings: Vec<Spelling>,
    /// Where it was visited, and what came of it.
    pub visits: Vec<(String, VisitRow)>,
}

/// A version, and the visit that first found the page to hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    pub at: Timestamp,
    pub version: VersionId,
}

impl History {
    /// The history of a page. A page that moved has its own and that of where it lived before.
    pub fn of(store: &mut dyn Store, settings: &Settings, url: &str) -> anyhow::Result<History> {
        let mut page = find(store, settings, url)?;
        // Another spelling stands for the page: its history is that page's.
        if let Some(target) = page.alias_of.clone() {
            page = find(store, settings, &target)?;
        }
        let mut visits: Vec<(String, VisitRow)> = Vec::new();
        let spellings = store.spellings(PageId(page.id))?;
        let others = spellings.iter().map(|other| (other.page, other.url.clone()));
        for (id, url) in std::iter::once((PageId(page.id), page.url.clone())).chain(others) {
            visits.extend(store.visits(id)?.into_iter().map(|visit| (url.clone(), visit)));
        }
        visits.sort_by_key(|(_, visit)| visit.at);
        Ok(History { page, spellings, visits })
    }

    /// What was held after each sighting.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let held = |visit: &VisitRow| Some(Snapshot { at: visit.at, version: visit.version? });
        self.sightings().filter_map(held).collect()
    }

    /// The visits that found the page where it lived then, in order of time: at its own address, and before it was
    /// found there at those it moved from. Another spelling may show the page in another way.
    pub fn sightings(&self) -> impl Iterator<Item = &VisitRow> {
        let found = || self.visits.iter().map(|(_, visit)| visit).filter(|visit| visit.version.is_some());
        let own = PageId(self.page.id);
        let arrived = found().find(|visit| visit.page == own).map(|visit| visit.at);
        found().filter(move |visit| {
            let moved = || self.spellings.iter().any(|other| other.moved && other.page == visit.page);
            visit.page == own || arrived.is_none_or(|arrived| visit.at < arrived) && moved()
        })
    }
}

/// The page of that URL, which the store must know.
pub fn find(store: &mut dyn Store, settings: &Settings, url: &str) -> anyhow::Result<PageRow> {
    let wanted = page_url(url, settings)?;
    let found = store.find_page(wanted.fingerprint())?;
    found.ok_or_else(|| {
        anyhow::anyhow!("the store does not know `{wanted}`; `freshet pages --url TEXT` finds what it knows")
    })
}

/// A version's content, which must be there.
pub fn content(store: &mut dyn Store, version: VersionId) -> Result<StoredContent, StoreError> {
    let missing = || StoreError::BadValue(format!("version {}, which is not there", version.0));
    store.version(version)?.ok_or_else(missing)
}
