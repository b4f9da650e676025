//! Rows for those who manage the collection: seeds and their pages, pages that are read again, what a person had deleted.

use serde::Serialize;

use crate::change::VersionId;
use crate::page::{Depth, PageId, SeedId};
use crate::time::Timestamp;

/// What the operator wants of a seed from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedChange {
    /// It is not wanted any more. What is stored stays.
    Remove,
    /// Nothing under it is visited for now.
    Pause,
    /// It is wanted again, whether it was removed or paused.
    Resume,
}

/// Pages that were found from a seed and are in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedPages {
    /// The seed.
    pub seed: SeedId,
    /// The state of a page, as it is stored; `None` for other spellings of pages.
    pub life: Option<String>,
    /// Pages in this state.
    pub pages: u64,
    /// The latest visit to a page of the seed, in whatever state; `None` where no page of this state was visited.
    pub last_visit_at: Option<Timestamp>,
}

/// A page whose stored body is read again for its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageToRead {
    /// Its number.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// The seed it was found from.
    pub seed: SeedId,
    /// Links followed from the seed.
    pub depth: Depth,
    /// The version it holds.
    pub version: VersionId,
    /// The type of that version, as the host said it.
    pub content_type: Option<String>,
    /// Links of it to known pages are stored.
    pub has_links: bool,
}

/// The links of a page, read again from its stored body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinksReread {
    /// The page.
    pub page: PageId,
    /// A hash of what decided which of its links were taken.
    pub rules: u64,
    /// The known pages that it links to, as [`crate::page::Fingerprint::prefix`] has them, in the order of the page.
    pub links: Vec<u64>,
}

/// What is deleted when pages are forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Pages, aliases among them.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Visits in the log.
    #[serde(rename = "observation_count")]
    pub observations: u64,
    /// Contents that no other page has.
    #[serde(rename = "version_count")]
    pub versions: u64,
    /// Bytes that these take in the store.
    pub stored_bytes: u64,
    /// Hosts that have no other page.
    #[serde(rename = "host_count")]
    pub hosts: u64,
    /// Seeds among the pages: they are not wanted any more.
    #[serde(rename = "seed_count")]
    pub seeds: u64,
}
