//! The embedded store: one SQLite file, nothing to install.
//!
//! One connection writes, in WAL mode, so that others can read meanwhile. A lock file beside the database says that
//! a crawl is using it; readers don't take it.

mod answers;
mod collection;
mod commit;
mod counting;
mod counts;
mod cycles;
mod events;
mod file;
mod forget;
mod gains;
mod hosts;
mod lists;
mod load;
mod log;
mod look;
mod notes;
mod page_order;
mod pages;
mod paging;
mod plans;
mod read_marks;
mod reader;
mod rehash;
mod settled;
mod signals;
mod state;
mod tallies;
mod ticks;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::{
    CollectionMemory, Commit, CycleCommand, CycleId, CycleRow, DayTally, EventCount, EventFilter, Forgotten,
    Frontier, GainRow, HostTally, JournalSize, KeptAnswer, KnownHost, KnownPage, KnownSeed, ListRow, Loaded,
    Log, LogPart, LoggedPlan, LoggedVisit, Look, NamedInstead, Notes, OpenCycle, PageAddress, PageEvent,
    PageFilter, PageRow, PageToRead, Ping, PlannedVisit, Result, SeedChange, SeedPages, SettledEvents,
    SignalTotal, SketchedVersion, StoreError, StoredContent, Summary, Tick, TrustRow, VersionFacts,
    VersionId, VisitRow, Wanted,
};
use crate::estimate::priors::Priors;
use crate::page::{Fingerprint, HostId, PageId, SeedId};
use crate::quality::measure::MeasureId;
use crate::schedule::Plan;
use crate::signal::Signal;
use crate::time::Timestamp;
use crate::unique::seeds::Seed;

mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

use file::{check_file, lock, newest_schema};
pub(super) use reader::reader as open_reader;

/// A store in one file.
pub(super) struct SqliteStore {
    connection: Connection,
    /// Ids of hosts seen by this process, by origin.
    host_ids: HashMap<String, HostId>,
    path: PathBuf,
    /// The size of the journal that was warned of.
    told_journal_bytes: u64,
    /// Held as long as the store is open for a crawl.
    _lock: Option<File>,
}

impl SqliteStore {
    /// Opens the store for a crawl: makes it if there is none, brings it up to date, and locks it.
    pub(super) fn open(path: &Path) -> Result<Self> {
        check_file(path)?;
        let lock = lock(path)?;
        crate::whole_file::create_private(path);
        let connection = Connection::open(path).map_err(|error| cannot_open(path, error))?;
        let mut store = Self::configure(connection, path, Some(lock))?;
        store.migrate()?;
        rehash::contents(&mut store)?;
        events::derive(&mut store)?;
        counting::catch_up(&mut store)?;
        Ok(store)
    }

    /// Opens the store to look at it: nothing is changed, a crawl may be going on. One that an earlier release made is
    /// brought up to date first.
    pub(super) fn open_to_look(path: &Path) -> Result<Self> {
        match check_file(path)? {
            None => return Err(StoreError::Missing(path.to_owned())),
            Some(schema) if schema < newest_schema() => drop(Self::open(path).map_err(unwritable(path))?),
            Some(_) => {}
        }
        let connection = reader::reader(path)?;
        counting::stand_in(&connection)?;
        Ok(Self::with(connection, path, None))
    }

    /// Opens the store to leave pings in it: SQLite lets two programs write in turn, and the crawl's lock is not asked for. One that an
    /// earlier release made is brought up to date first.
    pub(super) fn open_to_ping(path: &Path) -> Result<Self> {
        match check_file(path)? {
            None => return Err(StoreError::Missing(path.to_owned())),
            Some(schema) if schema < newest_schema() => drop(Self::open(path).map_err(unwritable(path))?),
            Some(_) => {}
        }
        let connection = Connection::open(path).map_err(|error| cannot_open(path, error))?;
        Self::configure(connection, path, None)
    }

    fn with(connection: Connection, path: &Path, lock: Option<File>) -> Self {
        let (host_ids, path) = (HashMap::new(), path.to_owned());
        Self { connection, host_ids, path, told_journal_bytes: 0, _lock: lock }
    }

    fn configure(connection: Connection, path: &Path, lock: Option<File>) -> Result<Self> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(128);
        let set = |sql: &str| connection.execute_batch(sql).map_err(|error| cannot_open(path, error));
        set("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
        set("PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;")?;
        set(&format!(
            "PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}; PRAGMA journal_size_limit = {KEPT_JOURNAL_BYTES};"
        ))?;
        Ok(Self::with(connection, path, lock))
    }

    fn migrate(&mut self) -> Result<()> {
        // Grouped: the schema and the note that it is there are one transaction, so a kill leaves both or neither.
        let migrated = embedded::migrations::runner().set_grouped(true).run(&mut self.connection);
        migrated.map_err(|error| StoreError::Migration(error.into()))?;
        Ok(())
    }

    /// Writes are taken at once: a transaction that starts by reading can't always become a writing one.
    fn transaction(&mut self) -> Result<Transaction<'_>> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    /// Warns of a journal that can't be folded in, and again whenever it has doubled.
    fn watch_journal(&mut self) {
        let journal = journal(&self.path);
        if journal.is_overgrown() && journal.bytes / 2 >= self.told_journal_bytes {
            self.told_journal_bytes = journal.bytes;
            tracing::warn!("{}", journal.warning());
        }
    }

    /// Lets the file grow by this number of database pages and no further, as a full disk would.
    pub(super) fn limit_pages(&mut self, more: i64) -> Result<()> {
        let now: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let _: i64 =
            self.connection
                .query_row(&format!("PRAGMA max_page_count = {}", now + more), [], |row| row.get(0))?;
        Ok(())
    }
}

/// The journal is folded into the database when it has this number of database pages: 32 MB.
const CHECKPOINT_PAGES: u64 = 8000;
/// Bytes of a database page, as SQLite makes it.
const DATABASE_PAGE_BYTES: u64 = 4096;
/// Bytes of the journal's file that stay on disk after it was folded in: twice what it normally has, so that the file is
/// neither cut nor grown in ordinary use.
const KEPT_JOURNAL_BYTES: u64 = 2 * CHECKPOINT_PAGES * DATABASE_PAGE_BYTES;

/// A file beside the database with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The error of a store that has to be brought up to date and can't be written to.
fn unwritable(path: &Path) -> impl Fn(StoreError) -> StoreError {
    move |error| match error {
        StoreError::CannotOpen { .. } | StoreError::ReadOnly(_) => StoreError::Outdated(path.to_owned()),
        error => error,
    }
}

/// The journal beside a database.
fn journal(path: &Path) -> JournalSize {
    let bytes = std::fs::metadata(beside(path, "-wal")).map_or(0, |found| found.len());
    JournalSize { bytes, checkpoint_bytes: CHECKPOINT_PAGES * DATABASE_PAGE_BYTES }
}

/// How long a write waits for a reader's checkpoint, or a reader for a writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full(error.into()),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(error.into()),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error.into()),
            _ => StoreError::Other(error.into()),
        }
    }
}

fn cannot_open(path: &Path, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase(path.to_owned()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::DiskFull) => error.into(),
        Some(ErrorCode::ReadOnly) => StoreError::CannotOpen {
            path: path.to_owned(),
            reason: "it, or its folder, is read-only".to_owned(),
        },
        Some(ErrorCode::CannotOpen) => StoreError::CannotOpen {
            path: path.to_owned(),
            reason: "the folder does not exist, or may not be written to".to_owned(),
        },
        _ => StoreError::CannotOpen { path: path.to_owned(), reason: error.to_string() },
    }
}

fn fingerprint(bytes: &[u8]) -> Result<Fingerprint> {
    let bytes: [u8; 16] = bytes
        .try_into()
        .map_err(|_| StoreError::BadValue(format!("a fingerprint of {} bytes", bytes.len())))?;
    Ok(Fingerprint::from_bytes(bytes))
}

/// A count that SQLite keeps signed.
fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn moment(value: Option<i64>) -> Option<Timestamp> {
    value.map(Timestamp::from_millis)
}

impl Frontier for SqliteStore {
    fn add_seeds(&mut self, seeds: &[Seed], now: Timestamp) -> Result<()> {
        pages::add_seeds(self, seeds, now)
    }

    fn seeds(&mut self) -> Result<Vec<KnownSeed>> {
        pages::seeds(&self.connection)
    }

    fn change_seeds(&mut self, seeds: &[SeedId], change: SeedChange, now: Timestamp) -> Result<()> {
        collection::change_seeds(self, seeds, change, now)
    }

    fn forget(&mut self, pages: &[PageId], now: Timestamp) -> Result<Forgotten> {
        forget::forget(self, pages, now)
    }

    fn each_page_in(&mut self, every: u64, each: &mut dyn FnMut(&mut KnownPage)) -> Result<()> {
        pages::each(&mut self.connection, every, each)
    }

    fn each_address(&mut self, each: &mut dyn FnMut(&mut PageAddress)) -> Result<()> {
        pages::each_address(&mut self.connection, each)
    }

    fn known_page(&mut self, page: PageId) -> Result<Option<KnownPage>> {
        pages::one(&self.connection, page)
    }

    fn each_links(&mut self, each: &mut dyn FnMut(PageId, &[u64])) -> Result<()> {
        notes::each_links(&self.connection, each)
    }

    fn anchors(&mut self) -> Result<Vec<(PageId, String)>> {
        pages::anchors(&self.connection)
    }

    fn hosts(&mut self) -> Result<Vec<KnownHost>> {
        hosts::all(&self.connection)
    }

    fn lists_of(&mut self, hosts: &[HostId]) -> Result<Vec<ListRow>> {
        signals::lists_of(&self.connection, hosts)
    }

    fn pings(&mut self) -> Result<Vec<Ping>> {
        signals::pings(&self.connection)
    }

    fn add_pings(&mut self, pings: &[Ping]) -> Result<()> {
        signals::add_pings(self, pings)
    }

    fn open_cycle(
        &mut self,
        command: CycleCommand,
        policy: &str,
        budget: Option<u64>,
        now: Timestamp,
    ) -> Result<OpenCycle> {
        cycles::open(self, command, policy, budget, now)
    }

    fn plan(&mut self, cycle: CycleId, plan: &Plan) -> Result<Vec<PlannedVisit>> {
        cycles::plan(self, cycle, plan)
    }

    fn close_cycle(&mut self, cycle: CycleId, now: Timestamp, threshold: Option<f64>) -> Result<()> {
        cycles::close(self, cycle, now, threshold)
    }
}

impl Log for SqliteStore {
    fn load(&mut self, wanted: &Wanted) -> Result<Loaded> {
        load::load(self, wanted)
    }

    fn commit(&mut self, rows: &Commit) -> Result<()> {
        commit::commit(self, rows)
    }

    fn visits_of(&mut self, pages: &[PageId]) -> Result<Vec<VisitRow>> {
        log::visits_of(&self.connection, pages)
    }

    fn version(&mut self, version: VersionId) -> Result<Option<StoredContent>> {
        log::version(&self.connection, version)
    }

    fn pages_to_read(&mut self, rules: u64, after: PageId, most: usize) -> Result<Vec<PageToRead>> {
        collection::pages_to_read(&self.connection, rules, after, most)
    }

    fn answers_of(&mut self, pages: &[PageId]) -> Result<Vec<KeptAnswer>> {
        answers::answers_of(&self.connection, pages)
    }

    fn version_facts(&mut self, versions: &[VersionId]) -> Result<Vec<VersionFacts>> {
        answers::facts(&self.connection, versions)
    }

    fn gains_of(&mut self, pages: &[PageId], measure: MeasureId) -> Result<Vec<GainRow>> {
        gains::gains_of(&self.connection, pages, measure)
    }

    fn signals_of(&mut self, pages: &[PageId]) -> Result<Vec<Signal>> {
        signals::of_pages(&self.connection, pages)
    }

    fn sketched_versions(&mut self, after: VersionId, most: usize) -> Result<Vec<SketchedVersion>> {
        load::sketched_versions(&self.connection, after, most)
    }

    fn recount(&mut self, write: bool) -> Result<u64> {
        counting::recount(self, write)
    }
}

impl Notes for SqliteStore {
    fn note(&mut self, name: &str) -> Result<Option<String>> {
        notes::note(&self.connection, name)
    }

    fn set_note(&mut self, name: &str, value: &str) -> Result<()> {
        notes::set_note(&self.connection, name, value)
    }

    fn mark_read(&mut self, visits: &[i64], is_read: bool, now: Timestamp) -> Result<()> {
        read_marks::mark(self, visits, is_read, now)
    }

    fn mark_read_to(&mut self, visit: i64) -> Result<()> {
        read_marks::mark_to(self, visit)
    }

    fn log_plan(&mut self, plan: &LoggedPlan) -> Result<()> {
        let transaction = self.transaction()?;
        plans::log(&transaction, plan)?;
        Ok(transaction.commit()?)
    }

    fn plans_since(&mut self, visit: i64) -> Result<Vec<LoggedPlan>> {
        plans::since(&self.connection, visit)
    }

    fn collection_memory(&mut self, version: &str) -> Result<Option<CollectionMemory>> {
        plans::memory(&self.connection, version)
    }

    fn keep_collection_memory(&mut self, version: &str, memory: &CollectionMemory) -> Result<()> {
        plans::keep_memory(&self.connection, version, memory)
    }

    fn priors(&mut self) -> Result<Priors> {
        notes::priors(&self.connection)
    }

    fn set_priors(&mut self, priors: &Priors) -> Result<()> {
        notes::set_priors(self, priors)
    }
}

impl Look for SqliteStore {
    fn summary(&mut self) -> Result<Summary> {
        look::summary(&self.connection, &self.path)
    }

    fn seed_pages(&mut self) -> Result<Vec<SeedPages>> {
        collection::seed_pages(&self.connection)
    }

    fn hosts_without_seed(&mut self) -> Result<Vec<HostId>> {
        collection::hosts_without_seed(&self.connection)
    }

    fn would_forget(&mut self, pages: &[PageId]) -> Result<Forgotten> {
        forget::weigh(&self.connection, pages)
    }

    fn cycles_before(&mut self, before: CycleId, most: usize) -> Result<Vec<CycleRow>> {
        cycles::before(&self.connection, before, most)
    }

    fn host_tallies(&mut self, cycle: CycleId) -> Result<BTreeMap<HostId, HostTally>> {
        tallies::hosts(&self.connection, cycle)
    }

    fn day_tallies(&mut self, from_day: i64, to_day: i64) -> Result<Vec<DayTally>> {
        tallies::days(&self.connection, from_day, to_day)
    }

    fn ticks(&mut self, hosts: &[HostId]) -> Result<BTreeMap<HostId, Vec<Tick>>> {
        tallies::latest(&self.connection, hosts)
    }

    fn named_instead(&mut self, pages: u64, unlike: u64) -> Result<Vec<NamedInstead>> {
        tallies::named_instead(&self.connection, pages, unlike)
    }

    fn read_of(&mut self, visits: &[i64]) -> Result<Vec<i64>> {
        read_marks::read_of(&self.connection, visits)
    }

    fn trust(&mut self) -> Result<Vec<TrustRow>> {
        signals::trust(&self.connection)
    }

    fn signal_totals(&mut self) -> Result<Vec<SignalTotal>> {
        signals::totals(&self.connection)
    }

    fn log_end(&mut self) -> Result<i64> {
        paging::last_id(&self.connection, "observation", "id")
    }

    fn each_logged(&mut self, part: LogPart, each: &mut dyn FnMut(LoggedVisit) -> bool) -> Result<()> {
        log::each_logged(&self.connection, part, each)
    }

    fn list_pages(&mut self, filter: &PageFilter, each: &mut dyn FnMut(PageRow)) -> Result<()> {
        lists::pages(&self.connection, filter, each)
    }

    fn events(&mut self, filter: &EventFilter, most: usize) -> Result<Vec<PageEvent>> {
        events::list(&self.connection, filter, most)
    }

    fn settled_events(&mut self, filter: &EventFilter, scanned: usize, most: usize) -> Result<SettledEvents> {
        settled::settled(&self.connection, filter, scanned, most)
    }

    fn count_events(&mut self, filter: &EventFilter) -> Result<Vec<EventCount>> {
        events::counts(&self.connection, filter)
    }
}
