//! What is remembered: pages, hosts, observations, versions, cycles.
//!
//! The contract of every implementation:
//! - a call that returns `Ok` is durable against a crash of the process;
//! - a call that returns `Err` changed nothing;
//! - the log of observations is append-only;
//! - a page is one row for ever: its fingerprint is unique, and a page found again keeps its first row;
//! - between [`Store::plan`] and the [`Store::record`] of its visit (or [`Store::close_cycle`]) a page stays
//!   planned, so an interrupted cycle can be finished: what was recorded is not visited again, what was planned
//!   and not recorded still is.
//!
//! Calls block; the crawl makes them from one thread of its own.

pub mod error;
pub mod fold;
mod sqlite;
pub mod version;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::change::ChangeSettings;
pub use crate::change::VersionId;
use crate::change::changed_when::ChangedWhen;
use crate::change::profile::{Measured, Profiles};
use crate::change::sketch::Sketch;
use crate::estimate::priors::Priors;
use crate::fetch::visit::{HostReport, Outcome, Validators};
use crate::observation::{Life, Observation};
use crate::page::{Depth, Fingerprint, Host, HostId, PageId, PageUrl, SeedId};
use crate::policy::{Lesson, PageState, Policy, Yield};
use crate::schedule::Plan;
use crate::time::Timestamp;
use crate::unique::seeds::Seed;
use crate::unique::{NewPage, Refusal, ScopeKind};
pub use error::StoreError;
use sqlite::SqliteStore;

/// What a call to a store gives.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Opens a store for writing: makes it if there is none, brings it up to date, and locks it. The location chooses the
/// implementation: a path is a SQLite file.
pub fn open(location: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open(file(location)?)?))
}

/// Opens a store for reading, while a crawl may be writing to it. Writing through it fails. A store that an earlier
/// release made is brought up to date first.
pub fn open_to_look(location: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open_to_look(file(location)?)?))
}

/// Is there anything at this location that could be opened?
pub fn exists(location: &Path) -> Result<bool> {
    Ok(file(location)?.exists())
}

/// Opens a store that has room for this number of database pages more and then finds its disk full: for tests.
#[doc(hidden)]
pub fn open_with_room(location: &Path, pages: i64) -> Result<Box<dyn Store>> {
    let mut store = SqliteStore::open(file(location)?)?;
    store.limit_pages(pages)?;
    Ok(Box::new(store))
}

/// The file that a location names.
fn file(location: &Path) -> Result<&Path> {
    let scheme = location.to_str().and_then(|named| named.split_once("://")).map(|(scheme, _)| scheme);
    match scheme {
        Some("postgres" | "postgresql") => Err(StoreError::NotBuilt(location.display().to_string())),
        _ => Ok(location),
    }
}

/// A place that remembers.
pub trait Store: Send {
    /// Adds seeds, or takes over the new wishes of seeds there are, and makes each a page of depth 0.
    fn add_seeds(&mut self, seeds: &[Seed], now: Timestamp) -> Result<()>;

    /// Every seed there is.
    fn seeds(&mut self) -> Result<Vec<KnownSeed>>;

    /// Makes a URL that a seed redirects to a seed of its own, with that seed's wishes.
    fn adopt_seed(&mut self, of: SeedId, url: &PageUrl, now: Timestamp) -> Result<()>;

    /// Calls `each` for every page, in order of their ids.
    fn each_page(&mut self, each: &mut dyn FnMut(KnownPage)) -> Result<()>;

    /// From here on what visits teach is folded by this policy.
    fn follow(&mut self, policy: Arc<dyn Policy>);

    /// What made the memories that pages have; nothing if none has one.
    fn memory_kind(&mut self) -> Result<Option<String>>;

    /// Makes the memory of every page again from the log, unless it is of the kind that the policy followed makes. Says
    /// how many pages were learnt anew; `progress` is told how much of how much is done.
    fn relearn(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64>;

    /// Calls `each` for every page that holds anything (or every so many of them), in order of their ids, with what its
    /// visits taught, in their order.
    fn each_history(&mut self, every: u64, each: &mut dyn FnMut(PageLessons)) -> Result<()>;

    /// What the visits of one page taught, in their order.
    fn lessons(&mut self, page: PageId) -> Result<Vec<Lesson>>;

    /// A single fact that was kept by this name.
    fn note(&mut self, name: &str) -> Result<Option<String>>;

    /// Keeps a single fact, in place of what it was.
    fn set_note(&mut self, name: &str, value: &str) -> Result<()>;

    /// Pages of which something is held.
    fn pages_held(&mut self) -> Result<u64>;

    /// A page as scheduling sees it.
    fn known_page(&mut self, page: PageId) -> Result<Option<KnownPage>>;

    /// Visits that had something to compare with, of all pages.
    fn comparisons(&mut self) -> Result<u64>;

    /// The priors there are.
    fn priors(&mut self) -> Result<Priors>;

    /// Keeps these in place of the priors there were.
    fn set_priors(&mut self, priors: &Priors) -> Result<()>;

    /// Calls `each` for every page whose links are known, with the high halves of the fingerprints of the pages it links
    /// to.
    fn each_links(&mut self, each: &mut dyn FnMut(PageId, &[u64])) -> Result<()>;

    /// What is remembered of every host.
    fn hosts(&mut self) -> Result<Vec<KnownHost>>;

    /// The open cycle, if one was interrupted; else a new one.
    fn open_cycle(&mut self, policy: &str, budget: Option<u64>, now: Timestamp) -> Result<OpenCycle>;

    /// Notes that these visits are planned, and gives what is needed to make them.
    fn plan(&mut self, cycle: CycleId, plan: &Plan) -> Result<Vec<PlannedVisit>>;

    /// Takes in a batch, all of it or nothing.
    fn record(&mut self, cycle: CycleId, batch: &Batch) -> Result<Recorded>;

    /// Ends the cycle: what was planned and put off is free again. Keeps the least score that was visited again in it.
    fn close_cycle(&mut self, cycle: CycleId, now: Timestamp, threshold: Option<f64>) -> Result<()>;

    /// Counts over everything.
    fn summary(&mut self) -> Result<Summary>;

    /// The latest cycles, newest first.
    fn cycles(&mut self, most: usize) -> Result<Vec<CycleRow>>;

    /// Calls `each` for every page that passes the filter, in order of their ids.
    fn list_pages(&mut self, filter: &PageFilter, each: &mut dyn FnMut(PageRow)) -> Result<()>;

    /// Body and text of the version a page holds, with its content type.
    fn content(&mut self, page: PageId) -> Result<Option<StoredContent>>;

    /// Calls `each` for every observation, page by page in order of their ids, a page's own in order of time.
    fn each_visit(&mut self, each: &mut dyn FnMut(VisitRow)) -> Result<()>;

    /// The other spellings of a page, in order of their ids: those that it stands for, none if another stands for it. A
    /// page that moved is the alias of the one it moved to, and its visits and versions stay its own; so the whole
    /// history of a page is that of its own and of those it lived at before.
    fn spellings(&mut self, of: PageId) -> Result<Vec<Spelling>>;

    /// The page of that fingerprint.
    fn find_page(&mut self, page: Fingerprint) -> Result<Option<PageRow>>;

    /// A page's observations, in order of time.
    fn visits(&mut self, page: PageId) -> Result<Vec<VisitRow>>;

    /// The version that the first visit of a page after that time found, of those that found any.
    fn found_next(&mut self, page: PageId, after: Timestamp) -> Result<Option<VersionId>>;

    /// The change profiles kept of a page.
    fn profiles(&mut self, page: PageId) -> Result<Profiles>;

    /// Calls `each` for every change that a visit found at or after `since`, the latest first, until it says no.
    fn each_change(&mut self, since: Timestamp, each: &mut dyn FnMut(Change) -> bool) -> Result<()>;

    /// Makes again from the log and the versions what is derived from them: the sketches, and what is folded into
    /// pages. Without `write` it only says what would differ. `progress` is told how much of how much is done.
    fn rebuild(
        &mut self,
        settings: ChangeSettings,
        write: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Rebuilt>;

    /// What scheduling keeps of the pages, in bytes.
    fn sizes(&mut self) -> Result<Sizes>;

    /// Body and text of a version that a visit left; the content type is the page's own affair.
    fn version(&mut self, version: VersionId) -> Result<Option<StoredContent>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleId(pub i64);

/// A seed as it is stored.
#[derive(Clone, Debug)]
pub struct KnownSeed {
    pub id: SeedId,
    pub url: String,
    pub scope: Option<ScopeKind>,
    pub max_depth: Option<u32>,
    /// Not named by the operator: a seed redirects here.
    pub adopted: bool,
}

/// A page as scheduling needs it.
#[derive(Clone, Debug)]
pub struct KnownPage {
    pub id: PageId,
    pub fingerprint: Fingerprint,
    pub url: String,
    pub host: HostId,
    pub state: PageState,
    /// Not to be visited before.
    pub due_at: Timestamp,
    /// The cycle it was last visited in.
    pub last_cycle: Option<CycleId>,
    /// The page that stands for this one, if another does.
    pub alias_of: Option<PageId>,
}

/// A page, and what its visits taught.
#[derive(Clone, Debug)]
pub struct PageLessons {
    pub page: PageId,
    pub url: String,
    pub host: HostId,
    pub depth: Depth,
    pub lessons: Vec<Lesson>,
}

/// A host as it is stored.
#[derive(Clone, Debug)]
pub struct KnownHost {
    pub id: HostId,
    pub report: HostReport,
    pub sitemaps_at: Option<Timestamp>,
    pub pages: u64,
    /// What visits to its pages came to.
    pub yields: Yield,
}

/// A cycle under way.
#[derive(Clone, Debug)]
pub struct OpenCycle {
    pub id: CycleId,
    /// It was interrupted, and goes on.
    pub resumed: bool,
    /// Requests it has sent so far.
    pub requests: u64,
    /// Planned, not recorded.
    pub outstanding: Vec<PlannedVisit>,
}

/// All that is needed to make a visit and to place what it finds.
#[derive(Clone, Debug)]
pub struct PlannedVisit {
    pub page: PageId,
    pub host: HostId,
    pub seed: SeedId,
    pub url: String,
    pub depth: Depth,
    /// Redirects that led here.
    pub hops: u32,
    pub held: Validators,
    /// By which rules its links were taken when it was last read; see [`VisitRecord::rules`].
    pub read_by: Option<u64>,
    /// Which rules left the text that is held; see [`VisitRecord::text_rules`].
    pub text_rules: u64,
}

/// What is committed together.
#[derive(Debug, Default)]
pub struct Batch {
    pub visits: Vec<VisitRecord>,
    /// Pages found elsewhere than on a page (in sitemaps).
    pub found: Vec<NewPage>,
    /// When pages changed last, by their sitemap, in UTC seconds.
    pub sitemap_dates: Vec<(Fingerprint, i64)>,
    pub hosts: Vec<HostReport>,
    /// Hosts whose sitemaps were read.
    pub sitemaps_read: Vec<(Host, Timestamp)>,
    pub refusals: Vec<(Refusal, u64)>,
    pub tally: Tally,
    pub now: Timestamp,
    /// How changes are measured.
    pub change: ChangeSettings,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
            && self.found.is_empty()
            && self.sitemap_dates.is_empty()
            && self.hosts.is_empty()
            && self.sitemaps_read.is_empty()
            && self.refusals.is_empty()
            && self.tally == Tally::default()
    }
}

/// What is added to the cycle's own counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub requests: u64,
    pub bytes: u64,
    pub deferred: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.deferred += other.deferred;
    }
}

/// A visit, ready to be remembered.
#[derive(Debug)]
pub struct VisitRecord {
    pub page: PageId,
    pub observation: Observation,
    pub content: Option<Content>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub noindex: bool,
    /// What the host was asked to compare.
    pub validator: Option<&'static str>,
    /// A hash of what decided which of its links were taken.
    pub rules: u64,
    /// A hash of the rules that left its text; 0: there were none.
    pub text_rules: u64,
    /// What counts as a change of this page.
    pub changed_when: ChangedWhen,
    /// Pages that were found on it and were not known.
    pub found: Vec<NewPage>,
    /// The known pages that it links to, as [`Fingerprint::prefix`] has them, sorted; `None` if it was not read.
    pub links: Option<Vec<u64>>,
    /// The dates of its entries in UTC seconds, if it is a feed.
    pub entry_dates: Option<Vec<i64>>,
    /// The page it redirects to.
    pub redirect: Option<Fingerprint>,
    /// The page that it is another spelling of.
    pub alias: Option<Fingerprint>,
}

/// What a fetched page holds.
#[derive(Debug)]
pub enum Content {
    /// What the store holds of it already.
    Held,
    Read(ReadContent),
}

impl Content {
    /// What was read, if it is not what is held.
    pub fn read(&self) -> Option<&ReadContent> {
        match self {
            Content::Held => None,
            Content::Read(read) => Some(read),
        }
    }
}

/// A body with its text, packed.
#[derive(Debug)]
pub struct ReadContent {
    pub body_hash: u128,
    pub text_hash: u128,
    pub content_type: Option<String>,
    pub charset: Option<&'static str>,
    pub body_bytes: usize,
    pub text_bytes: usize,
    /// What stands for its fragments; `None` if it is nothing that has words.
    pub sketch: Option<Sketch>,
    /// As [`version::pack`] makes it.
    pub packed: Vec<u8>,
}

/// What came of a batch.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Pages that are really new, with their ids.
    pub new: Vec<AddedPage>,
    /// For each visit of the batch, in its order, what it was taken for.
    pub visits: Vec<RecordedVisit>,
}

/// A visit as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedVisit {
    /// As it came, unless a redirect turned out to close a circle.
    pub outcome: Outcome,
    /// Did the page change? `None`: nothing to compare.
    pub changed: Option<bool>,
    /// What is told of it, if it did.
    pub change: Option<Change>,
}

/// A change, as a visit found it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub page: i64,
    pub url: String,
    pub at: Timestamp,
    /// The visit before that brought or confirmed the earlier content.
    pub previous_at: Option<Timestamp>,
    /// From the earlier content; nothing where there are no words to compare.
    pub divergence: Option<f64>,
    pub version: i64,
    pub previous_version: i64,
    /// An earlier version with the same text.
    pub returned_to: Option<i64>,
    pub bytes: u64,
}

/// A page that was just added.
#[derive(Clone, Debug)]
pub struct AddedPage {
    pub id: PageId,
    pub host: HostId,
    pub url: PageUrl,
    pub state: PageState,
}

/// What a rebuild found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    pub versions: u64,
    pub pages: u64,
    /// Versions whose sketch was not the one that their text gives.
    pub sketches_differ: u64,
    /// Pages that were not what their log amounts to.
    pub pages_differ: u64,
}

/// Bytes of what scheduling keeps of the pages that were visited and have words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    pub pages: u64,
    /// Times: the last visit, the last that brought or confirmed anything, and when it is due.
    pub fixed_bytes: u64,
    /// Change profiles.
    pub profile_bytes: u64,
    /// What the policy learnt.
    pub memory_bytes: u64,
    /// Sketches of the versions that the profiles start from.
    pub sketch_bytes: u64,
    /// Of the page that takes most.
    pub largest_bytes: u64,
}

/// Counts over the whole store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    pub known: u64,
    pub visited: u64,
    pub aliases: u64,
    /// Pages by where they are in their life, aliases left out.
    pub lives: Vec<(String, u64)>,
    /// Pages by how the last visit ended, aliases left out.
    pub last_outcomes: Vec<(String, u64)>,
    pub hosts: u64,
    pub observations: u64,
    pub versions: u64,
    pub content_bytes: u64,
    pub stored_bytes: u64,
    pub file_bytes: u64,
    pub seeds: u64,
    /// Links that were not taken, by reason.
    pub refusals: Vec<(String, u64)>,
}

impl Summary {
    /// Pages that are at this place in their life.
    pub fn life(&self, life: Life) -> u64 {
        self.lives.iter().find(|(name, _)| name == life.name()).map_or(0, |(_, count)| *count)
    }
}

/// A cycle as it is stored.
#[derive(Clone, Debug, Serialize)]
pub struct CycleRow {
    pub id: i64,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub policy: String,
    pub budget: Option<u64>,
    pub requests: u64,
    pub bytes: u64,
    pub fetched: u64,
    pub new_pages: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub deferred: u64,
    /// The least score of a page that was visited again.
    pub threshold: Option<f64>,
}

/// Which pages to list.
#[derive(Clone, Debug, Default)]
pub struct PageFilter {
    pub page: Option<Fingerprint>,
    pub life: Option<Life>,
    /// Host name, or origin.
    pub host: Option<String>,
    /// A part of the URL.
    pub url: Option<String>,
    pub outcome: Option<String>,
    pub max_depth: Option<u32>,
    /// Other spellings of pages too.
    pub aliases: bool,
    /// Other spellings of pages, and nothing else.
    pub only_aliases: bool,
    pub limit: Option<u64>,
}

/// A page as people look at it.
#[derive(Clone, Debug, Serialize)]
pub struct PageRow {
    pub id: i64,
    pub url: String,
    pub state: String,
    pub outcome: Option<String>,
    pub depth: u32,
    pub weight: f64,
    pub visits: u64,
    pub changes: u64,
    pub failures: u64,
    pub found_at: Timestamp,
    pub last_visit_at: Option<Timestamp>,
    pub due_at: Option<Timestamp>,
    pub bytes: Option<u64>,
    pub content_type: Option<String>,
    pub sitemap_lastmod: Option<Timestamp>,
    pub noindex: bool,
    pub alias_of: Option<String>,
}

/// Another spelling of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub page: PageId,
    pub url: String,
    /// It redirects for good: the page lived there before. Else it shows the page too, and says that it is the other.
    pub moved: bool,
}

/// An observation as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitRow {
    pub page: PageId,
    pub cycle: CycleId,
    /// When the request was sent.
    pub at: Timestamp,
    /// As [`Outcome::code`] says it.
    pub outcome: String,
    pub status: Option<u16>,
    pub changed: Option<bool>,
    /// From what the visit before found.
    pub divergence: Option<f64>,
    /// From each base version that the page had then, oldest first.
    pub bases: Vec<Measured>,
    pub bytes: u64,
    pub took: Duration,
    /// What the host was asked to compare.
    pub validator: Option<String>,
    /// What the page held after it, if the visit brought or confirmed anything.
    pub version: Option<VersionId>,
    /// Which rules left the text of that version; see [`VisitRecord::text_rules`].
    pub text_rules: u64,
    /// An earlier version with the same text, if the page changed back to it.
    pub returned_to: Option<VersionId>,
    /// Where it led, if it was sent elsewhere.
    pub redirect: Option<String>,
}

/// A version, unpacked.
#[derive(Clone, Debug)]
pub struct StoredContent {
    pub body: Vec<u8>,
    pub text: String,
    pub content_type: Option<String>,
}

/// Milliseconds as they are stored.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
