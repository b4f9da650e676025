//! A page of the store by its URL, and what was held of it when.

use freshet::page::Normaliser;
use freshet::page::PageId;
use freshet::store::{PageRow, Store, StoreError, StoredContent, VersionId, VisitRow};
use freshet::time::Timestamp;

use crate::cli::{CrawlFlags, Global};
use crate::settings::{Settings, Usage};

/// A page and the visits of all its spellings, in order of time.
pub struct History {
    pub page: PageRow,
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
    pub fn of(store: &mut dyn Store, global: &Global, url: &str) -> anyhow::Result<History> {
        let normaliser = Settings::load(global, &CrawlFlags::default())?.normaliser();
        let mut page = find(store, &normaliser, url)?;
        // Another spelling stands for the page: its history is that page's.
        if let Some(target) = page.alias_of.clone() {
            page = find(store, &normaliser, &target)?;
        }
        let mut visits: Vec<(String, VisitRow)> = Vec::new();
        let others = store.spellings(PageId(page.id))?;
        let others = others.into_iter().map(|other| (other.page, other.url));
        for (id, url) in std::iter::once((PageId(page.id), page.url.clone())).chain(others) {
            visits.extend(store.visits(id)?.into_iter().map(|visit| (url.clone(), visit)));
        }
        visits.sort_by_key(|(_, visit)| visit.at);
        Ok(History { page, visits })
    }

    /// What was held after each visit that brought or confirmed something.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let held = self.visits.iter();
        held.filter_map(|(_, visit)| Some(Snapshot { at: visit.at, version: visit.version? })).collect()
    }
}

fn find(store: &mut dyn Store, normaliser: &Normaliser, url: &str) -> anyhow::Result<PageRow> {
    let wanted = normaliser.parse(url).map_err(|error| Usage(format!("`{url}` is no page: {error}")))?;
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
