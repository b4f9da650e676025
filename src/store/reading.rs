//! Reading that is built on the contract: it is the same for every implementation.

use super::{
    CycleCommand, CycleRow, PageFacts, PageFilter, PageLessons, PageRow, Result, Sizes, Spelling, Store,
    StoreError, StoredContent, VersionId, VisitRow, Wanted,
};
use crate::change::profile::Profiles;
use crate::observation::{Lesson, Observation, lessons};
use crate::page::{Depth, Fingerprint, HostId, PageId};
use crate::time::Timestamp;

/// Cycles that are looked through before all of them are.
const FEW_CYCLES: usize = 32;

/// Pages whose visits are read together.
const AT_ONCE: usize = 200;

/// Bytes of the last visit, of the last that brought or confirmed anything, and of the time it is due: 6 each, as SQLite stores
/// milliseconds of this century.
const FIXED_BYTES: u64 = 18;

impl dyn Store + '_ {
    /// The page of that fingerprint.
    pub fn find_page(&mut self, page: Fingerprint) -> Result<Option<PageRow>> {
        let filter = PageFilter { page: Some(page), aliases: true, ..PageFilter::default() };
        let mut found = None;
        self.list_pages(&filter, &mut |row| found = Some(row))?;
        Ok(found)
    }

    /// Number of pages that have a stored version.
    pub(crate) fn pages_held(&mut self) -> Result<u64> {
        let mut held = 0;
        self.each_page(&mut |page| held += u64::from(page.state.seen_at.is_some()))?;
        Ok(held)
    }

    /// The latest cycle that passes.
    pub fn latest_cycle(&mut self, passes: impl Fn(&CycleRow) -> bool) -> Result<Option<CycleRow>> {
        // Nearly always one of the last few.
        for most in [FEW_CYCLES, usize::MAX] {
            let cycles = self.cycles(most)?;
            let is_all = cycles.len() < most;
            let found = cycles.into_iter().find(&passes);
            if found.is_some() || is_all {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The cycle that was interrupted and that the next crawl goes on with, if there is one.
    pub fn interrupted_cycle(&mut self) -> Result<Option<CycleRow>> {
        let last = self.latest_cycle(|cycle| cycle.command != Some(CycleCommand::Only))?;
        Ok(last.filter(|cycle| cycle.ended_at.is_none()))
    }

    /// Visits that had something to compare with, of all pages.
    pub fn comparisons(&mut self) -> Result<u64> {
        Ok(self.cycles(usize::MAX)?.iter().map(|cycle| cycle.changed + cycle.unchanged).sum())
    }

    /// Body and text of the stored version of a page, with its content type.
    pub fn content(&mut self, page: PageId) -> Result<Option<StoredContent>> {
        let Some(facts) = self.facts(page)? else { return Ok(None) };
        let Some(version) = facts.folded.version else { return Ok(None) };
        let found = self.version(version)?;
        let row = self.find_page(facts.node.fingerprint)?;
        let content_type = row.and_then(|row| row.content_type);
        Ok(found.map(|content| StoredContent { content_type, ..content }))
    }

    /// The version that a page has.
    pub fn current_version(&mut self, page: PageId) -> Result<Option<VersionId>> {
        Ok(self.facts(page)?.and_then(|facts| facts.folded.version))
    }

    /// The change profiles kept of a page.
    pub fn profiles(&mut self, page: PageId) -> Result<Profiles> {
        match self.facts(page)? {
            Some(facts) if !facts.is_readable => {
                Err(StoreError::BadValue(format!("the state of page {page}, which can't be read")))
            }
            facts => Ok(facts.map(|facts| facts.folded.profiles).unwrap_or_default()),
        }
    }

    fn facts(&mut self, page: PageId) -> Result<Option<PageFacts>> {
        Ok(self.load(&Wanted { pages: vec![page], ..Wanted::default() })?.pages.pop())
    }

    /// A page's observations, in order of time.
    pub fn visits(&mut self, page: PageId) -> Result<Vec<VisitRow>> {
        self.visits_of(&[page])
    }

    /// Calls `each` for every observation, page by page in order of their ids, a page's own in order of time.
    pub fn each_visit(&mut self, each: &mut dyn FnMut(VisitRow)) -> Result<()> {
        let mut pages = Vec::new();
        self.each_page(&mut |page| pages.push(page.id))?;
        for some in pages.chunks(AT_ONCE) {
            self.visits_of(some)?.into_iter().for_each(&mut *each);
        }
        Ok(())
    }

    /// The version that the first visit of a page after that time found, of those that found any.
    pub fn found_next(&mut self, page: PageId, after: Timestamp) -> Result<Option<VersionId>> {
        let visits = self.visits(page)?;
        Ok(visits.into_iter().filter(|visit| visit.at > after).find_map(|visit| visit.version))
    }

    /// The other spellings of a page, in order of their ids: those that it stands for, none if another stands for it. A
    /// page that moved is the alias of the one it moved to, and its visits and versions stay its own; so the whole
    /// history of a page is its own and that of those it lived at before.
    pub fn spellings(&mut self, of: PageId) -> Result<Vec<Spelling>> {
        let filter = PageFilter { alias_of: Some(of), only_aliases: true, ..PageFilter::default() };
        let mut spellings = Vec::new();
        self.list_pages(&filter, &mut |row| {
            spellings.push(Spelling { page: PageId(row.id), url: row.url, moved: false });
        })?;
        let pages: Vec<PageId> = spellings.iter().map(|spelling| spelling.page).collect();
        let visits = if pages.is_empty() { Vec::new() } else { self.visits_of(&pages)? };
        for spelling in &mut spellings {
            // By its last answer: a visit that failed says nothing of where a page lives.
            let answers = ["moved", "redirected", "fetched", "not-modified"];
            let own = visits.iter().filter(|visit| visit.page == spelling.page);
            let last = own.rev().find(|visit| answers.contains(&visit.outcome.as_str()));
            spelling.moved = last.is_some_and(|visit| visit.outcome == "moved");
        }
        Ok(spellings)
    }

    /// The log of each of these pages, in the order in which it was recorded.
    pub(crate) fn logs(&mut self, pages: &[PageId]) -> Result<Vec<Vec<Observation>>> {
        let facts = |log: Vec<VisitRow>| log.iter().map(VisitRow::observation).collect();
        self.log_rows(pages)?.into_iter().map(facts).collect()
    }

    /// The rows of the log of each of these pages, in the order in which it was recorded.
    pub(crate) fn log_rows(&mut self, pages: &[PageId]) -> Result<Vec<Vec<VisitRow>>> {
        let mut rows = self.visits_of(pages)?;
        rows.sort_unstable_by_key(|row| (row.page, row.id));
        let mut rows = rows.into_iter().peekable();
        let mut logs = Vec::with_capacity(pages.len());
        for page in pages {
            let mut log = Vec::new();
            while let Some(row) = rows.next_if(|row| row.page == *page) {
                log.push(row);
            }
            logs.push(log);
        }
        Ok(logs)
    }

    /// The lessons of one page's visits, in their order.
    pub fn lessons(&mut self, page: PageId) -> Result<Vec<Lesson>> {
        Ok(self.logs(&[page])?.iter().flat_map(|log| lessons(log)).collect())
    }

    /// Calls `each` for every page that holds anything (or every `every`th of them), in order of their ids, with what its
    /// visits taught, in their order.
    pub fn each_history(&mut self, every: u64, each: &mut dyn FnMut(PageLessons)) -> Result<()> {
        let every = i64::try_from(every.max(1)).unwrap_or(i64::MAX);
        let mut pages: Vec<(PageId, HostId, Depth)> = Vec::new();
        self.each_page(&mut |page| {
            if page.state.seen_at.is_some() && page.id.0 % every == 0 {
                pages.push((page.id, page.host, page.state.depth));
            }
        })?;
        for some in pages.chunks(AT_ONCE) {
            let ids: Vec<PageId> = some.iter().map(|(id, ..)| *id).collect();
            let facts = self.load(&Wanted { pages: ids.clone(), ..Wanted::default() })?.pages;
            let url = |id: PageId| facts.iter().find(|page| page.id == id).map(|page| page.url.clone());
            for ((id, host, depth), log) in some.iter().zip(self.logs(&ids)?) {
                let url = url(*id).unwrap_or_default();
                each(PageLessons { page: *id, url, host: *host, depth: *depth, lessons: lessons(&log) });
            }
        }
        Ok(())
    }

    /// Bytes of what scheduling keeps of the pages.
    pub fn sizes(&mut self) -> Result<Sizes> {
        let mut ids = Vec::new();
        self.each_page(&mut |page| ids.extend(page.state.seen_at.map(|_| page.id)))?;
        let mut sizes = Sizes::default();
        for some in ids.chunks(AT_ONCE) {
            let mut pages = self.load(&Wanted { pages: some.to_vec(), ..Wanted::default() })?.pages;
            pages.retain(|page| !page.folded.profiles.is_empty());
            let bases = |page: &PageFacts| {
                let mut bases: Vec<VersionId> =
                    page.folded.profiles.iter().map(|profile| profile.base.version).collect();
                bases.sort_unstable();
                bases.dedup();
                bases
            };
            let sketches: Vec<VersionId> = pages.iter().flat_map(bases).collect();
            let sketches = self.load(&Wanted { sketches, ..Wanted::default() })?.sketches;
            let bytes: std::collections::HashMap<VersionId, u64> =
                sketches.iter().map(|sketch| (sketch.version, sketch.hashes.len() as u64)).collect();
            for page in &pages {
                let profiles = page.folded.profiles.to_bytes().len() as u64;
                let memory =
                    if page.learnt == Default::default() { 0 } else { page.learnt.to_bytes().len() as u64 };
                let own: u64 = bases(page).iter().filter_map(|base| bytes.get(base)).sum();
                sizes.pages += 1;
                sizes.fixed_bytes += FIXED_BYTES;
                sizes.profile_bytes += profiles;
                sizes.memory_bytes += memory;
                sizes.sketch_bytes += own;
                sizes.largest_bytes = sizes.largest_bytes.max(FIXED_BYTES + profiles + memory + own);
            }
        }
        Ok(sizes)
    }
}
