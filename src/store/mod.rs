//! Values in, values out: pages, hosts, observations, versions, cycles. The store decides nothing.
//!
//! The contract of every implementation:
//! - a call that returns `Ok` is durable against a crash of the process;
//! - a call that returns `Err` changed nothing: each writes in one transaction;
//! - the logs of observations and of signals are append-only, but for [`Frontier::forget`], which a person asks for;
//! - a page is one row for ever: its fingerprint is unique, and a page found again keeps its first row;
//! - between [`Frontier::plan`] and the [`Log::commit`] of its visit (or [`Frontier::close_cycle`]) a page stays
//!   planned, so an interrupted cycle can be finished: what was recorded is not visited again, what was planned
//!   and not recorded still is;
//! - counts that are kept beside the rows (those of [`Look::summary`], [`Look::host_tallies`], [`Look::day_tallies`] and others) are
//!   written in the transaction of the rows, so they agree with them at any moment; [`Log::recount`] makes them again;
//! - no call keeps a transaction open while its caller pauses in a call back, so such a reader holds up neither a writer
//!   nor its checkpoints. A list shows the rows there were when it began, each as it is when it is reached, or some rows
//!   before that.
//!
//! Calls block; the crawl makes them from one thread of its own. Reading that can be built from these calls is in
//! [`reading`].

pub mod collection_rows;
pub mod commit;
pub mod cycle_rows;
pub mod error;
pub mod events;
mod gains;
mod packed_head;
mod page_order;
mod plan_rows;
pub mod reading;
pub mod rows;
mod signal_rows;
mod sizes;
mod sqlite;
pub mod version;
pub mod views;

use std::collections::BTreeMap;
use std::path::Path;

pub use crate::change::VersionId;
use crate::estimate::priors::Priors;
pub use crate::observation::CycleId;
use crate::page::{HostId, PageId, SeedId};
use crate::quality::measure::MeasureId;
use crate::schedule::Plan;
use crate::signal::Signal;
use crate::time::Timestamp;
use crate::unique::seeds::Seed;
pub use collection_rows::{Forgotten, LinksReread, PageToRead, SeedChange, SeedPages};
pub use commit::{
    Commit, CycleCounts, Earlier, EarlierContent, FreeIds, JudgedVisit, Loaded, NewPageRow, NewVersion,
    PageFacts, PageRefold, ReadAs, ReadContent, SketchRow, SketchedVersion, Tally, Wanted,
};
pub use cycle_rows::{CycleCommand, CycleRow};
pub use error::StoreError;
pub use events::{EventCount, EventFilter, EventPlace, PageEvent, PageEvents, SettledEvents};
pub use gains::GainRow;
pub use page_order::{NoCursor, OrderValue, PageCursor, PageOrder};
pub use plan_rows::{CollectionMemory, LoggedPlan};
pub use rows::{
    JournalSize, KeptAnswer, KnownHost, KnownPage, KnownSeed, OpenCycle, PageAddress, PageFilter,
    PageLessons, PageRow, PlannedVisit, Spelling, StoredContent, Summary, VersionFacts, VisitRow,
};
pub use signal_rows::{ListRow, Ping, SignalTotal, SignalledPage, StoredTargets, TrustRow};
pub use sizes::Sizes;
use sqlite::SqliteStore;
pub use views::{
    Brought, BroughtKind, DayTally, HostTally, LogPart, LoggedVisit, MOST_TICKS, NamedInstead, Tick,
};

/// The result of a call to a store.
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

/// Opens a store to leave pings or read marks in it, while a crawl may be writing to it. A store that an earlier release made is
/// brought up to date first.
pub fn open_to_ping(location: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open_to_ping(file(location)?)?))
}

/// Is there anything at this location that could be opened?
pub fn exists(location: &Path) -> Result<bool> {
    Ok(file(location)?.exists())
}

/// Bytes that are free on the disk of a store; `None` if that can't be found out.
pub fn free_bytes(location: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(file(location).ok()?).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// A connection that only reads a SQLite file, wherever it is: in a folder that can't be written to, or beside a writer.
pub(crate) fn sqlite_reader(path: &Path) -> Result<rusqlite::Connection> {
    sqlite::open_reader(path)
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
pub trait Store: Frontier + Log + Notes + Look + Send {}

impl<T: Frontier + Log + Notes + Look + Send> Store for T {}

/// The part a crawl plans with: seeds, pages, hosts, and the cycle under way.
pub trait Frontier {
    /// Adds seeds, or updates the settings of seeds that are known, and makes each a page of depth 0 that no other page
    /// stands for.
    fn add_seeds(&mut self, seeds: &[Seed], now: Timestamp) -> Result<()>;

    /// Every seed there is.
    fn seeds(&mut self) -> Result<Vec<KnownSeed>>;

    /// Keeps what the operator wants of these seeds from now on.
    fn change_seeds(&mut self, seeds: &[SeedId], change: SeedChange, now: Timestamp) -> Result<()>;

    /// Deletes these pages, their visits, the contents that no other page has, and hosts that have no other page, for good:
    /// their bytes are overwritten. Seeds among them are removed. The numbers of what was deleted are not given again. A
    /// person asks for this; nothing else takes anything from the log.
    fn forget(&mut self, pages: &[PageId], now: Timestamp) -> Result<Forgotten>;

    /// Calls `each` for every page, in order of their ids. The page it gets is used again for the next one.
    fn each_page(&mut self, each: &mut dyn FnMut(&mut KnownPage)) -> Result<()> {
        self.each_page_in(1, each)
    }

    /// The same for one page in `every`, evenly taken: those whose ids can be divided by it.
    fn each_page_in(&mut self, every: u64, each: &mut dyn FnMut(&mut KnownPage)) -> Result<()>;

    /// Calls `each` for every page, in order of their ids, with what it is called.
    fn each_address(&mut self, each: &mut dyn FnMut(&mut PageAddress)) -> Result<()>;

    /// A page as scheduling sees it.
    fn known_page(&mut self, page: PageId) -> Result<Option<KnownPage>>;

    /// Calls `each` for every page whose links are known, with the high halves of the fingerprints of the pages it links
    /// to, in the order of the page.
    fn each_links(&mut self, each: &mut dyn FnMut(PageId, &[u64])) -> Result<()>;

    /// The words of the links by which pages were found that have not been visited, in order of the pages' ids; only of pages that
    /// have some.
    fn anchors(&mut self) -> Result<Vec<(PageId, String)>>;

    /// Every host that is known.
    fn hosts(&mut self) -> Result<Vec<KnownHost>>;

    /// The sitemap files of these hosts as they were last read, in order of the hosts and of their addresses.
    fn lists_of(&mut self, hosts: &[HostId]) -> Result<Vec<ListRow>>;

    /// The pings that wait to be taken over, in order of time.
    fn pings(&mut self) -> Result<Vec<Ping>>;

    /// Leaves pings to be taken over. Of two for one address the later one counts.
    fn add_pings(&mut self, pings: &[Ping]) -> Result<()>;

    /// The open cycle, if one was interrupted; else a new one of this command. A cycle of [`CycleCommand::Only`] is always a
    /// new one and is never resumed: one that was interrupted is closed here. It leaves the plan of another cycle alone.
    fn open_cycle(
        &mut self,
        command: CycleCommand,
        policy: &str,
        budget: Option<u64>,
        now: Timestamp,
    ) -> Result<OpenCycle>;

    /// Notes that these visits are planned, and gives what is needed to make them.
    fn plan(&mut self, cycle: CycleId, plan: &Plan) -> Result<Vec<PlannedVisit>>;

    /// Ends the cycle: pages that were planned and not visited are free again. Keeps the least score that was visited
    /// again in it.
    fn close_cycle(&mut self, cycle: CycleId, now: Timestamp, threshold: Option<f64>) -> Result<()>;
}

/// The part the writer uses, and the log read back: load, commit, visits, versions.
pub trait Log {
    /// The rows that are wanted, in a few set queries; those that are not there are left out.
    fn load(&mut self, wanted: &Wanted) -> Result<Loaded>;

    /// Writes finished rows, all of them or none.
    fn commit(&mut self, rows: &Commit) -> Result<()>;

    /// The observations of these pages: page by page in order of their ids, a page's own in order of time.
    fn visits_of(&mut self, pages: &[PageId]) -> Result<Vec<VisitRow>>;

    /// Body and text of a version that a visit left; `None` if there is no such version, or there was no room to store it. Its content type is not known: that is the page's own.
    fn version(&mut self, version: VersionId) -> Result<Option<StoredContent>>;

    /// The next pages after `after`, in order of their ids and at most `most`, that have a version and whose links were not
    /// taken by these rules.
    fn pages_to_read(&mut self, rules: u64, after: PageId, most: usize) -> Result<Vec<PageToRead>>;

    /// The answers that brought versions to these pages, as far as they are kept: page by page in order of their ids, a page's
    /// own in order of time. There is at most one of each page and version: that of the first visit that brought it.
    fn answers_of(&mut self, pages: &[PageId]) -> Result<Vec<KeptAnswer>>;

    /// What is known of these versions besides their contents, in order of their ids; those that are not there are left out.
    fn version_facts(&mut self, versions: &[VersionId]) -> Result<Vec<VersionFacts>>;

    /// What refreshes of these pages gained in search results by this measure: page by page in order of their ids, a page's own in
    /// order of time.
    fn gains_of(&mut self, pages: &[PageId], measure: MeasureId) -> Result<Vec<GainRow>>;

    /// The signals of these pages: page by page in order of their ids, a page's own in the order in which they were learnt.
    fn signals_of(&mut self, pages: &[PageId]) -> Result<Vec<Signal>>;

    /// The next versions after `after`, in order of their ids and at most `most`, with their sketches.
    fn sketched_versions(&mut self, after: VersionId, most: usize) -> Result<Vec<SketchedVersion>>;

    /// Counts all rows, and says how many of the counts that are kept beside them were others. With `write` these are put right.
    fn recount(&mut self, write: bool) -> Result<u64>;
}

/// Facts that are kept from run to run, for the policy and the crawl.
pub trait Notes {
    /// A single fact that was kept by this name.
    fn note(&mut self, name: &str) -> Result<Option<String>>;

    /// Keeps a single fact, in place of what it was.
    fn set_note(&mut self, name: &str, value: &str) -> Result<()>;

    /// Marks the changes that these visits found as read, or as not read.
    fn mark_read(&mut self, visits: &[i64], is_read: bool, now: Timestamp) -> Result<()>;

    /// Marks all changes as read that were found by this visit or earlier in the log.
    fn mark_read_to(&mut self, visit: i64) -> Result<()>;

    /// Logs a plan, before the first visit that it leads to. It stands in place of one after which no visit was recorded.
    fn log_plan(&mut self, plan: &LoggedPlan) -> Result<()>;

    /// The plans that led to the visits after this one, in order.
    fn plans_since(&mut self, visit: i64) -> Result<Vec<LoggedPlan>>;

    /// What a policy knows of the collection, by [`crate::policy::Policy::memory_version`].
    fn collection_memory(&mut self, version: &str) -> Result<Option<CollectionMemory>>;

    /// Keeps what a policy knows of the collection, in place of what was kept.
    fn keep_collection_memory(&mut self, version: &str, memory: &CollectionMemory) -> Result<()>;

    /// The priors there are.
    fn priors(&mut self) -> Result<Priors>;

    /// Keeps these in place of the priors there were.
    fn set_priors(&mut self, priors: &Priors) -> Result<()>;
}

/// The part behind the views that people look at.
pub trait Look {
    /// Counts over everything.
    fn summary(&mut self) -> Result<Summary>;

    /// Pages by the seed that they were found from and their state, in order of the seeds.
    fn seed_pages(&mut self) -> Result<Vec<SeedPages>>;

    /// Hosts that no seed wants at the moment: all their pages were found from seeds that are removed, paused or let go.
    fn hosts_without_seed(&mut self) -> Result<Vec<HostId>>;

    /// What [`Frontier::forget`] would delete with these pages.
    fn would_forget(&mut self, pages: &[PageId]) -> Result<Forgotten>;

    /// The latest cycles, newest first.
    fn cycles(&mut self, most: usize) -> Result<Vec<CycleRow>> {
        self.cycles_before(CycleId(i64::MAX), most)
    }

    /// The cycles before this one, newest first.
    fn cycles_before(&mut self, before: CycleId, most: usize) -> Result<Vec<CycleRow>>;

    /// The pages of every host that has any, counted, with the visits of one cycle.
    fn host_tallies(&mut self, cycle: CycleId) -> Result<BTreeMap<HostId, HostTally>>;

    /// What visits brought from one day to another, both included, in order of the days and hosts. Days are UTC, counted from
    /// 1970-01-01 ([`views::day_of`]).
    fn day_tallies(&mut self, from_day: i64, to_day: i64) -> Result<Vec<DayTally>>;

    /// The latest visits of these hosts, in the order in which they were recorded, at most [`MOST_TICKS`] each; hosts that have none
    /// are left out.
    fn ticks(&mut self, hosts: &[HostId]) -> Result<BTreeMap<HostId, Vec<Tick>>>;

    /// Groups of pages of one host whose last visits name one page in their place: those of at least `pages` that are not known to have
    /// its text, or of at least `unlike` that are known to have another one. In order of the hosts and the pages named.
    fn named_instead(&mut self, pages: u64, unlike: u64) -> Result<Vec<NamedInstead>>;

    /// Those of these visits whose changes a person has read, in order.
    fn read_of(&mut self, visits: &[i64]) -> Result<Vec<i64>>;

    /// How often the signals of each host and kind were right, in order of the hosts and kinds; only where there was one.
    fn trust(&mut self) -> Result<Vec<TrustRow>>;

    /// The signals of each host and kind, in order of the hosts and kinds; only where there was one.
    fn signal_totals(&mut self) -> Result<Vec<SignalTotal>>;

    /// The number of the visit that was recorded last; 0 if there is none.
    fn log_end(&mut self) -> Result<i64>;

    /// Calls `each` for every visit of a part of the log, until it says no.
    fn each_logged(&mut self, part: LogPart, each: &mut dyn FnMut(LoggedVisit) -> bool) -> Result<()>;

    /// Calls `each` for every page that passes the filter, in the filter's order.
    fn list_pages(&mut self, filter: &PageFilter, each: &mut dyn FnMut(PageRow)) -> Result<()>;

    /// The events that pass the filter, the latest first, at most `most` of them. [`EventFilter::before`] goes on after
    /// the last one that was read.
    fn events(&mut self, filter: &EventFilter, most: usize) -> Result<Vec<PageEvent>>;

    /// Of the latest `scanned` events that pass the filter: those of pages that a later visit has found, the latest first, at most
    /// `most` of them. The rest of the list is read by [`EventFilter::before`].
    fn settled_events(&mut self, filter: &EventFilter, scanned: usize, most: usize) -> Result<SettledEvents>;

    /// The events that pass the filter, counted by cycle, host and kind, the latest cycle first.
    fn count_events(&mut self, filter: &EventFilter) -> Result<Vec<EventCount>>;
}
