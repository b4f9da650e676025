//! The search index: the words of the stored pages, as far as it has read the log.
//!
//! Comes in: the log of visits, from the cursor on. Goes out: for each page that can be found, the words of its stored version. The
//! index is made of the *present* state of the pages that the log names, so that a page that was visited ten times since is read
//! once. A new index does not read the whole log: it goes through the pages, then on from where the log ended when it began.
//!
//! What must stay true: a batch of pages and the cursor behind it are one transaction. A kill leaves both or neither, so that no
//! page is in the index twice and none is passed over.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior, params};

use super::FollowResult;
use super::index_file::{self, number, set};
use super::measuring::{BatchVisits, CountInlinks, IndexMeasure};
use super::page_writer::PageWriter;
use crate::page::PageId;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::terms::TermReader;
use crate::store::{self, LogPart, Store};
use crate::time::Timestamp;

pub use super::index_file::path_beside;

/// Visits or pages that are read for one transaction.
const BATCH: usize = 500;

/// The note of a store that says when pages were last forgotten in it.
pub const FORGOTTEN_NOTE: &str = "pages_forgotten_at";

/// An index over the words of the stored pages.
pub struct SearchIndex {
    connection: Connection,
    /// Where it is; `None`: it is temporary.
    path: Option<PathBuf>,
    is_writable: bool,
    remade: Option<String>,
    /// The pages that a new index still has to go through, in order of their numbers.
    to_build: Option<Vec<PageId>>,
    reader: TermReader,
    /// The store it belongs to, once that is known.
    identity: Option<i64>,
    /// The measure of refreshes, if they are measured.
    measure: Option<IndexMeasure>,
}

/// A step of a follower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowStep {
    /// Pages that were written.
    pub written: u64,
    /// Pages that were taken out.
    pub removed: u64,
    /// Visits or pages that were read.
    pub read: u64,
    /// There is more to read.
    pub is_behind: bool,
}

impl SearchIndex {
    /// Opens the index beside a store for writing, and makes it if there is none. An index that is damaged, of another version or of
    /// another store is made again: see [`Self::remade`].
    pub fn open(path: &Path, store: &mut dyn Store) -> FollowResult<Self> {
        let (mut connection, mut remade) = index_file::open(path)?;
        let identity = identity(store)?;
        match number(&connection, "store")? {
            Some(known) if Some(known) != identity => {
                index_file::make(&mut connection).map_err(|error| error.about(path))?;
                remade = Some("it was made from another store".to_owned());
            }
            _ => {}
        }
        let path = Some(path.to_owned());
        Ok(Self { path, remade, ..Self::with(connection, true) })
    }

    /// An empty index in the place of one that turned out to be damaged while it was used. Queries that can still be read stay.
    pub fn replace(path: &Path, said: &str) -> FollowResult<Self> {
        let connection = index_file::replace(path)?;
        let remade = Some(format!("it was damaged ({said})"));
        Ok(Self { path: Some(path.to_owned()), remade, ..Self::with(connection, true) })
    }

    /// Opens the index beside a store that may not be written to. `None`: there is none, or it can't be used as it is.
    pub fn open_to_look(path: &Path, store: &mut dyn Store) -> FollowResult<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let Ok(connection) = store::sqlite_reader(path) else { return Ok(None) };
        if !matches!(index_file::unusable(&connection), Ok(None)) {
            return Ok(None);
        }
        let is_its = number(&connection, "store")? == identity(store)?;
        let index = Self { path: Some(path.to_owned()), ..Self::with(connection, false) };
        Ok(is_its.then_some(index))
    }

    /// An empty index that goes away with this value.
    pub fn temporary() -> FollowResult<Self> {
        Ok(Self::with(index_file::open_temporary()?, true))
    }

    fn with(connection: Connection, is_writable: bool) -> Self {
        Self {
            connection,
            path: None,
            is_writable,
            remade: None,
            to_build: None,
            reader: TermReader::default(),
            identity: None,
            measure: None,
        }
    }

    /// Why the index that was there could not be used, if that is so.
    pub fn remade(&self) -> Option<&str> {
        self.remade.as_deref()
    }

    /// It keeps what is written to it: it is neither temporary nor read-only.
    pub fn is_kept(&self) -> bool {
        self.is_writable && self.path.is_some()
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Empties it; queries stay. What follows goes through all pages again.
    pub fn empty(&mut self) -> FollowResult<()> {
        self.to_build = None;
        index_file::make(&mut self.connection)
    }

    /// It has not gone through all pages yet.
    pub fn is_new(&self) -> FollowResult<bool> {
        let (cursor, built) = (number(&self.connection, "cursor")?, number(&self.connection, "built_page")?);
        Ok(cursor.is_none() || built.is_some())
    }

    /// Visits or, for a new index, pages that it has not read yet. Not every one of them changes it.
    pub fn behind(&mut self, store: &mut dyn Store) -> FollowResult<u64> {
        let end = store.log_end()?;
        match (number(&self.connection, "cursor")?, number(&self.connection, "built_page")?) {
            (None, _) => store.pages_held().map_err(Into::into),
            (Some(_), Some(built)) => {
                let mut left = 0;
                store.each_page(&mut |page| {
                    left += u64::from(page.id.0 > built && page.state.seen_at.is_some())
                })?;
                Ok(left)
            }
            (Some(cursor), None) => {
                let forgot = forgotten_at(store)? != number(&self.connection, "forgotten")?;
                Ok(u64::try_from(end - cursor).unwrap_or(0).max(u64::from(forgot)))
            }
        }
    }

    /// Reads what it has not read yet; a new index is compacted then. `each` is called after each batch with the number of visits or pages read so far.
    pub fn follow(&mut self, store: &mut dyn Store, each: &mut dyn FnMut(u64)) -> FollowResult<FollowStep> {
        let is_new = self.is_new()?;
        let mut all = FollowStep::default();
        loop {
            let step = self.step(store)?;
            all.written += step.written;
            all.removed += step.removed;
            all.read += step.read;
            each(all.read);
            if !step.is_behind {
                break;
            }
        }
        if is_new && self.is_kept() {
            self.compact()?;
        }
        Ok(all)
    }

    /// Reads one batch, and keeps it together with the cursor behind it.
    pub fn step(&mut self, store: &mut dyn Store) -> FollowResult<FollowStep> {
        if self.identity.is_none() {
            self.identity = identity(store)?;
        }
        let (identity, forgotten, end) = (self.identity, forgotten_at(store)?, store.log_end()?);
        let Self { connection, to_build, reader, measure, .. } = self;
        // The cursor is read when no one else can move it any more.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let part = match (number(&transaction, "cursor")?, number(&transaction, "built_page")?) {
            (None, _) => {
                set(&transaction, "cursor", end)?;
                set(&transaction, "forgotten", forgotten)?;
                next_pages(store, to_build, PageId(0))?
            }
            (Some(_), Some(built)) => next_pages(store, to_build, PageId(built))?,
            (Some(cursor), None) => next_visits(store, cursor, end)?,
        };
        set(&transaction, "store", identity)?;
        let mut writer = PageWriter::new(&transaction, reader, measure.as_mut(), &part.visits)?;
        if number(&transaction, "forgotten")? != forgotten {
            writer.sweep(store)?;
            set(&transaction, "forgotten", forgotten)?;
        }
        writer.write(store, &part.pages)?;
        let step = FollowStep { read: part.read, is_behind: part.is_behind, ..writer.finish()? };
        if let Some(measure) = measure {
            measure.end_batch(&transaction, store)?;
        }
        match part.end {
            PartEnd::Page(page) => set(&transaction, "built_page", page.0)?,
            PartEnd::AllPages => {
                set(&transaction, "built_page", None)?;
                *to_build = None;
            }
            PartEnd::Visit(visit) => set(&transaction, "cursor", visit)?,
        }
        transaction.commit()?;
        Ok(step)
    }

    /// Measures what refreshes gain from here on, by these searchers. `count_inlinks` is asked if pages are scored by their links.
    pub fn measure_by(
        &mut self,
        search: &SearchWorkload,
        count_inlinks: CountInlinks,
        store: &mut dyn Store,
    ) -> FollowResult<()> {
        self.measure = Some(IndexMeasure::open(&mut self.connection, search, count_inlinks, store)?);
        Ok(())
    }

    /// Merges all that was written in pieces: the file gets smaller, and searches faster.
    pub fn compact(&mut self) -> FollowResult<()> {
        self.connection.execute("INSERT INTO word (word) VALUES ('optimize')", [])?;
        self.connection.execute_batch("VACUUM")?;
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Takes pages out of the index, so that none of their words stay in its file.
    pub fn forget(&mut self, pages: &[PageId]) -> FollowResult<()> {
        self.connection.execute_batch("PRAGMA secure_delete = ON")?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let visits = HashMap::new();
        let mut writer = PageWriter::new(&transaction, &mut self.reader, None, &visits)?;
        for page in pages {
            writer.remove(*page)?;
        }
        writer.finish()?;
        for page in pages {
            transaction.execute("DELETE FROM gain WHERE page = ?1", [page.0])?;
        }
        // Words of deleted documents stay in FTS5's segments until these are merged.
        transaction.execute("INSERT INTO word (word) VALUES ('optimize')", [])?;
        transaction.commit()?;
        self.connection.execute_batch("PRAGMA secure_delete = OFF")?;
        // A reader may hold the journal; then the next checkpoint does it.
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Keeps a query that was asked.
    pub fn log_query(&mut self, text: &str, at: Timestamp) -> FollowResult<()> {
        self.connection
            .execute("INSERT INTO query (at, text) VALUES (?1, ?2)", params![at.millis(), text])?;
        Ok(())
    }
}

/// Which store it is: one has no first cycle that began in the same millisecond as that of another.
fn identity(store: &mut dyn Store) -> FollowResult<Option<i64>> {
    Ok(store.cycles(usize::MAX)?.last().map(|first| first.started_at.millis()))
}

/// When pages were last forgotten in the store, in milliseconds.
fn forgotten_at(store: &mut dyn Store) -> FollowResult<Option<i64>> {
    Ok(store.note(FORGOTTEN_NOTE)?.and_then(|at| at.parse().ok()))
}

/// The part of the store that one transaction takes.
struct Part {
    pages: Vec<PageId>,
    /// What its visits say about them.
    visits: HashMap<PageId, BatchVisits>,
    /// Visits or pages in it.
    read: u64,
    end: PartEnd,
    /// There is more behind it.
    is_behind: bool,
}

/// How far a part reaches.
enum PartEnd {
    /// A new index went through the pages up to this one.
    Page(PageId),
    /// A new index went through all pages: the log is next.
    AllPages,
    /// The log was read up to this visit.
    Visit(i64),
}

/// The next pages that a new index goes through.
fn next_pages(
    store: &mut dyn Store,
    to_build: &mut Option<Vec<PageId>>,
    after: PageId,
) -> FollowResult<Part> {
    let all = match to_build {
        Some(all) => all,
        None => {
            let mut held = Vec::new();
            store.each_page(&mut |page| held.extend(page.state.seen_at.map(|_| page.id)))?;
            to_build.insert(held)
        }
    };
    let start = all.partition_point(|page| *page <= after);
    let left = all.get(start..).unwrap_or_default();
    let pages = left.get(..BATCH).unwrap_or(left).to_vec();
    let end = match pages.last() {
        Some(last) if pages.len() < left.len() => PartEnd::Page(*last),
        _ => PartEnd::AllPages,
    };
    // Visits may have come meanwhile.
    Ok(Part { read: pages.len() as u64, pages, visits: HashMap::new(), end, is_behind: true })
}

/// The pages of the next visits of the log, each once.
fn next_visits(store: &mut dyn Store, cursor: i64, log_end: i64) -> FollowResult<Part> {
    let (mut pages, mut visits) = (Vec::new(), HashMap::<PageId, BatchVisits>::new());
    let (mut read, mut last) = (0, cursor);
    store.each_logged(LogPart::After(cursor), &mut |logged| {
        pages.push(logged.visit.page);
        let known = visits.entry(logged.visit.page).or_default();
        known.last = logged.visit.at;
        if logged.visit.version.is_some() && logged.visit.changed != Some(false) {
            known.refresh = Some((logged.visit.at, logged.visit.changed.is_none()));
        }
        last = logged.visit.id;
        read += 1;
        pages.len() < BATCH
    })?;
    pages.sort_unstable();
    pages.dedup();
    Ok(Part { pages, visits, read, end: PartEnd::Visit(last), is_behind: read > 0 && last < log_end })
}
