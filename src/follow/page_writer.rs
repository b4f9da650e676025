//! Pages written into the tables of the search index, within a transaction of the follower.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::FollowResult;
use super::index_file::{number, set};
use super::measuring::{BatchVisits, IndexMeasure};
use super::search_index::FollowStep;
use crate::observation::Life;
use crate::page::PageId;
use crate::quality::copies::CopyWords;
use crate::quality::terms::TermReader;
use crate::store::{PageFacts, PageFilter, Store, VersionId, Wanted};

/// Whether a page can be found, and which version of it: not if it is gone, if another page stands for it, or if it has no words.
fn findable_version(page: &PageFacts) -> Option<VersionId> {
    let is_found = page.node.alias_of.is_none() && page.node.life != Life::Gone && page.node.has_words;
    page.folded.version.filter(|_| is_found)
}

/// Writes pages within a transaction.
pub(super) struct PageWriter<'a> {
    connection: &'a Connection,
    reader: &'a mut TermReader,
    step: FollowStep,
    /// The measure of refreshes, if they are measured.
    measure: Option<&'a mut IndexMeasure>,
    /// What the batch says about the pages that it visited.
    visits: &'a HashMap<PageId, BatchVisits>,
    /// The number of the next document: none is given twice.
    next: i64,
    /// Counts of the collection.
    documents: i64,
    length: i64,
}

impl<'a> PageWriter<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        reader: &'a mut TermReader,
        measure: Option<&'a mut IndexMeasure>,
        visits: &'a HashMap<PageId, BatchVisits>,
    ) -> FollowResult<Self> {
        let count = |name: &str| number(connection, name).map(|count| count.unwrap_or(0));
        let (next, documents, length) =
            (count("next_document")?.max(1), count("documents")?, count("length")?);
        Ok(Self { connection, reader, step: FollowStep::default(), measure, visits, next, documents, length })
    }

    /// Keeps the counts, and says what was done.
    pub(super) fn finish(self) -> FollowResult<FollowStep> {
        for (name, count) in
            [("next_document", self.next), ("documents", self.documents), ("length", self.length)]
        {
            set(self.connection, name, count)?;
        }
        Ok(self.step)
    }

    /// Brings these pages up to date, as the store has them now.
    pub(super) fn write(&mut self, store: &mut dyn Store, pages: &[PageId]) -> FollowResult<()> {
        let loaded = store.load(&Wanted { pages: pages.to_vec(), ..Wanted::default() })?.pages;
        // A page that is not there any more was forgotten.
        let known: HashSet<PageId> = loaded.iter().map(|page| page.id).collect();
        for page in pages.iter().filter(|page| !known.contains(page)) {
            self.remove(*page)?;
        }
        let is_left = |page: &&PageFacts| page.node.life == Life::Gone;
        let left: HashSet<String> = loaded.iter().filter(is_left).map(|page| page.url.clone()).collect();
        for page in loaded {
            self.write_page(store, &page)?;
        }
        if left.is_empty() { Ok(()) } else { self.write_freed(store, &left) }
    }

    /// Brings pages up to date that stood behind others which are gone now: they stand for themselves again, without a visit.
    fn write_freed(&mut self, store: &mut dyn Store, gone: &HashSet<String>) -> FollowResult<()> {
        let mut freed = Vec::new();
        let filter = PageFilter { only_naming: true, ..PageFilter::default() };
        store.list_pages(&filter, &mut |row| {
            freed.extend(row.same_as.filter(|named| gone.contains(named)).map(|_| PageId(row.id)));
        })?;
        for page in store.load(&Wanted { pages: freed, ..Wanted::default() })?.pages {
            self.write_page(store, &page)?;
        }
        Ok(())
    }

    fn write_page(&mut self, store: &mut dyn Store, page: &PageFacts) -> FollowResult<()> {
        let version = findable_version(page);
        let indexed = self.indexed_version(page.id)?;
        if version.is_some() && indexed == version {
            return Ok(());
        }
        let content = match version {
            Some(version) => store.version(version)?.map(|content| (version, content)),
            None => None,
        };
        let before = if indexed.is_some() { self.take_out(page.id)? } else { None };
        // There may have been no room for its text.
        let Some((version, content)) = content else { return self.replaced(page.id, before, None) };
        let title = content.title.as_deref().unwrap_or_default();
        let counts = self.reader.count(&[title, &content.text]);
        let mut tokens = String::with_capacity(counts.distinct() * 10);
        for (term, count) in counts.iter() {
            tokens.push_str(term);
            tokens.push(':');
            match char::from_digit(count, 10) {
                Some(digit) => tokens.push(digit),
                None => tokens.push_str(&count.to_string()),
            }
            tokens.push(' ');
        }
        let id = self.next;
        let seen_at = page.folded.seen_at.unwrap_or_default().millis();
        let mut insert = self.connection.prepare_cached("INSERT INTO word (rowid, terms) VALUES (?1, ?2)")?;
        insert.execute(params![id, tokens])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO document (id, page, version, length, observed_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![id, page.id.0, version.0, counts.length(), seen_at])?;
        self.next += 1;
        self.documents += 1;
        self.length += i64::from(counts.length());
        self.step.written += 1;
        let words = self.measure.as_ref().map(|measure| measure.words_of(&counts));
        if let Some(words) = &words {
            let mut insert = self
                .connection
                .prepare_cached("INSERT INTO workload_words (document, words) VALUES (?1, ?2)")?;
            insert.execute(params![id, words.to_bytes()])?;
        }
        self.replaced(page.id, before, words)
    }

    /// A page's words were replaced: the refresh is measured.
    fn replaced(
        &mut self,
        page: PageId,
        before: Option<CopyWords>,
        after: Option<CopyWords>,
    ) -> FollowResult<()> {
        let Some(measure) = &mut self.measure else { return Ok(()) };
        measure.replaced(self.connection, page, before.as_ref(), after.as_ref(), self.visits.get(&page))
    }

    fn indexed_version(&self, page: PageId) -> FollowResult<Option<VersionId>> {
        let mut statement = self.connection.prepare_cached("SELECT version FROM document WHERE page = ?1")?;
        Ok(statement.query_row([page.0], |row| row.get(0)).optional()?.map(VersionId))
    }

    /// Takes a page out that is not there any more.
    pub(super) fn remove(&mut self, page: PageId) -> FollowResult<()> {
        let before = self.take_out(page)?;
        self.replaced(page, before, None)
    }

    /// Takes a page out, and gives the words of its copy that the workload asks for.
    fn take_out(&mut self, page: PageId) -> FollowResult<Option<CopyWords>> {
        let mut delete =
            self.connection.prepare_cached("DELETE FROM document WHERE page = ?1 RETURNING id, length")?;
        let deleted: Option<(i64, i64)> =
            delete.query_row([page.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        if let Some((id, length)) = deleted {
            self.connection.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([id])?;
            self.documents -= 1;
            self.length -= length;
            self.step.removed += 1;
            return self.take_words(id);
        }
        Ok(None)
    }

    fn take_words(&self, document: i64) -> FollowResult<Option<CopyWords>> {
        let sql = "DELETE FROM workload_words WHERE document = ?1 RETURNING words";
        let mut delete = self.connection.prepare_cached(sql)?;
        let bytes: Option<Vec<u8>> = delete.query_row([document], |row| row.get(0)).optional()?;
        Ok(bytes.and_then(|bytes| CopyWords::from_bytes(&bytes)))
    }

    /// Takes pages out that the store does not have any more.
    pub(super) fn sweep(&mut self, store: &mut dyn Store) -> FollowResult<()> {
        let mut known = HashSet::new();
        store.each_page(&mut |page| {
            known.insert(page.id);
        })?;
        let mut statement = self.connection.prepare("SELECT page FROM document")?;
        let indexed = statement.query_map([], |row| row.get(0).map(PageId))?;
        let gone: Vec<PageId> = indexed
            .filter(|page| page.as_ref().map_or(true, |page| !known.contains(page)))
            .collect::<rusqlite::Result<_>>()?;
        gone.into_iter().try_for_each(|page| self.remove(page))
    }
}
