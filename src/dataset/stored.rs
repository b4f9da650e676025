//! A store as a source of histories: its pages one after the other, each with its visits and, if wanted, its texts.
//!
//! [`Stored`] is for exports, and [`backtest`] for replays; both read the same pages and visits, so that a replay of a store and
//! one of a dataset exported from it give the same figures. A visit belongs to the cycle that it was made in. Visits of a cycle
//! that has not ended are left out.
//!
//! Pages that another one stands for keep their history under their own URL, with the name of the other. Pages never
//! visited are left out.

use std::collections::HashMap;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

use super::fields::site_of;
use super::group::{DAY_MS, GroupInfo};
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::{Dataset, DatasetError, Group, RecordedPage, RecordedSignal, TextWords, WantedWords};
use crate::change::fragment::{Fragmenter, Fragments};
use crate::page::PageId;
use crate::quality::terms::TermReader;
use crate::store::{self, CycleId, PageFilter, PageRow, Store, VersionId, VisitRow};
use crate::time::Timestamp;

/// A store that is open, twice: one lists the pages while the other is asked for their visits.
pub struct Stored {
    /// The name of the store's file.
    pub name: String,
    /// Its cycles that have ended.
    pub group: GroupInfo,
    /// A cycle goes on: its visits are left out.
    pub open_cycle: bool,
    pages: Box<dyn Store>,
    visits: Box<dyn Store>,
    /// Those that have ended, in order.
    cycles: Vec<CycleId>,
    /// Words of a fragment.
    pub(super) words: usize,
    /// Pages that link to each page, if they were counted: see [`Stored::with_inlinks`].
    inlinks: Option<HashMap<PageId, u32>>,
}

impl Stored {
    /// Opens a store to be exported; fragments have `words` words.
    pub fn open(path: &Path, words: usize) -> Result<Self, DatasetError> {
        let (mut pages, visits) = (store::open_to_look(path)?, store::open_to_look(path)?);
        let mut rows = pages.cycles(usize::MAX)?;
        rows.reverse();
        let begun = rows.len();
        rows.retain(|cycle| cycle.ended_at.is_some());
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            let said = "has no cycle that has ended; `freshet crawl` first";
            return Err(DatasetError::of_file(path, said));
        };
        let gaps = i64::try_from(rows.len()).unwrap_or(i64::MAX) - 1;
        let span = last.started_at.millis().saturating_sub(first.started_at.millis());
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_else(|| "freshet".to_owned());
        let group = GroupInfo {
            name: name.clone(),
            start_ms: first.started_at.millis(),
            step_ms: if gaps > 0 { (span / gaps).max(1) } else { DAY_MS },
            cycles: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        };
        let cycles = rows.iter().map(|cycle| CycleId(cycle.id)).collect();
        Ok(Self { name, group, open_cycle: rows.len() < begun, pages, visits, cycles, words, inlinks: None })
    }

    /// The same with the number of pages that link to each page; a page that is not among them has none.
    #[must_use]
    pub fn with_inlinks(self, inlinks: HashMap<PageId, u32>) -> Self {
        Self { inlinks: Some(inlinks), ..self }
    }

    /// Pages that have a version: about as many as [`Stored::each`] gives.
    pub fn pages(&mut self) -> Result<u64, DatasetError> {
        Ok(self.pages.pages_held()?)
    }

    /// Calls `each` with every page that was visited, in order of their ids.
    pub fn each(
        &mut self,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        self.each_in(1, states, each)
    }

    /// The same for one page in `every`.
    fn each_in(
        &mut self,
        every: u64,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let Self { pages, visits, cycles, words, group, inlinks, .. } = self;
        let (fragmenter, terms) = (Fragmenter::new(1), TermReader::default());
        let mut texts = Texts { store: &mut **visits, fragmenter, terms, words: *words };
        let linking = |page: i64| Some(inlinks.as_ref()?.get(&PageId(page)).copied().unwrap_or(0));
        let mut done = Ok(());
        pages.list_pages(&PageFilter { aliases: true, ..PageFilter::default() }, &mut |row| {
            let is_taken = row.id.unsigned_abs().is_multiple_of(every.max(1));
            if done.is_ok() && is_taken && row.visits > 0 {
                done = texts
                    .page(&row, cycles, &group.name, states)
                    .map(|page| PageRecord { inlinks: linking(row.id), alias_of: row.alias_of, ..page })
                    .and_then(|page| if page.visits.is_empty() { Ok(()) } else { each(page) });
            }
        })?;
        done
    }
}

/// A store's own history, to be replayed: what a dataset has that was exported from it as `observations`. In cycles without a
/// visit a page is taken not to have changed. Words that are wanted are those of the copies that these visits found.
pub fn backtest(path: &Path, wanted: WantedWords<'_>) -> Result<Backtest, DatasetError> {
    backtest_of_some(path, wanted, 1)
}

/// The same for one page in `every`, evenly taken: those whose ids can be divided by it.
pub fn backtest_of_some(path: &Path, wanted: WantedWords<'_>, every: u64) -> Result<Backtest, DatasetError> {
    let mut stored = Stored::open(path, 1)?;
    let info = stored.group.clone();
    let mut group = Group::empty(&info);
    let mut comparisons = 0;
    let wants_words = !matches!(wanted, WantedWords::None);
    stored.each_in(every, wants_words, &mut |page| {
        comparisons += page.comparisons().count();
        let mut recorded = RecordedPage::of_record(&page, &info);
        if let Some(recorded) = recorded.as_mut().filter(|_| wants_words) {
            recorded.take_words(&page.states, &info, wanted);
        }
        group.pages.extend(recorded);
        Ok(())
    })?;
    if comparisons == 0 {
        return Err(DatasetError::of_file(path, "has no page that was visited twice; `freshet crawl` again"));
    }
    let dataset = Dataset { name: path.display().to_string(), groups: vec![group] };
    Ok(Backtest { dataset, open_cycle: stored.open_cycle })
}

/// A store's own history.
#[derive(Debug)]
pub struct Backtest {
    /// The history.
    pub dataset: Dataset,
    /// A cycle goes on: its visits are left out.
    pub open_cycle: bool,
}

/// The hash of a text, its fragments and its words; without both if the page is gone.
type VersionText = (u64, Option<Vec<u64>>, Option<TextWords>);

struct Texts<'a> {
    store: &'a mut dyn Store,
    /// Of single words.
    fragmenter: Fragmenter,
    terms: TermReader,
    words: usize,
}

impl Texts<'_> {
    fn page(
        &mut self,
        row: &PageRow,
        cycles: &[CycleId],
        group: &str,
        states: bool,
    ) -> Result<PageRecord, DatasetError> {
        let url = &row.url;
        let site = site_of(url).unwrap_or_else(|| url.to_owned());
        let mut page = PageRecord::new(group, &site, url, row.weight);
        let mut held: Option<VersionId> = None;
        let visits = self.store.visits(PageId(row.id))?;
        let types = self.content_types(row, &visits)?;
        for visit in visits {
            let Ok(cycle) = cycles.binary_search(&visit.cycle) else { continue };
            let content_type = visit.version.and_then(|version| types.get(&version)).cloned();
            let record = record(&visit, u32::try_from(cycle).ok(), content_type);
            let time_ms = record.time_ms;
            if states {
                let state = match visit.version {
                    Some(version) if held != Some(version) => {
                        held = Some(version);
                        self.text(version)?
                    }
                    None if visit.outcome == "missing" && held.is_some() => {
                        held = None;
                        Some((self.hash(""), None, None))
                    }
                    _ => None,
                };
                if let Some((text, hashes, words)) = state {
                    let last = page.states.last().map(|last| (last.text, last.hashes.is_none()));
                    if last != Some((text, hashes.is_none())) {
                        page.states.push(StateRecord { cycle: record.cycle, time_ms, text, hashes, words });
                    }
                }
            }
            page.visits.push(record);
        }
        page.signals = self.store.signals_of(&[PageId(row.id)])?.iter().map(RecordedSignal::of).collect();
        Ok(page)
    }

    /// The content types of a page's versions, as far as they are known. An earlier release kept that of the last one only.
    fn content_types(
        &mut self,
        row: &PageRow,
        visits: &[VisitRow],
    ) -> Result<HashMap<VersionId, String>, DatasetError> {
        let last = visits.iter().rev().find_map(|visit| visit.version);
        let mut types: HashMap<VersionId, String> = last.zip(row.content_type.clone()).into_iter().collect();
        for answer in self.store.answers_of(&[PageId(row.id)])? {
            types.extend(answer.head.header("content-type").map(|named| (answer.version, named)));
        }
        types.values_mut().for_each(|named| *named = named.trim().to_owned());
        types.retain(|_, named| !named.is_empty());
        Ok(types)
    }

    fn text(&mut self, version: VersionId) -> Result<Option<VersionText>, DatasetError> {
        let Some(content) = self.store.version(version)? else { return Ok(None) };
        let hashes = Fragments::of(&content.text, self.words).as_slice().to_vec();
        let title = content.title.as_deref().unwrap_or_default();
        let words = TextWords::of(&self.terms.count(&[title, &content.text]));
        Ok(Some((self.hash(&content.text), Some(hashes), Some(words))))
    }

    /// Of the sequence of its words.
    fn hash(&mut self, text: &str) -> u64 {
        let mut hash = Xxh3Default::new();
        self.fragmenter.each_run(text, |word| {
            hash.update(word);
            hash.update(b" ");
        });
        hash.digest()
    }
}

fn record(visit: &VisitRow, cycle: Option<u32>, content_type: Option<String>) -> VisitLine {
    VisitLine {
        cycle,
        time_ms: visit.at.millis(),
        changed: visit.changed,
        divergence: visit.divergence,
        outcome: Some(visit.outcome.clone()),
        status: visit.status.map(u32::from),
        bytes: Some(visit.bytes),
        took_ms: u64::try_from(visit.took.as_millis()).ok(),
        content_type,
        redirect_to: visit.redirect.clone(),
        last_modified_ms: visit.told.date.map(Timestamp::millis),
        reason: visit.reason.clone(),
    }
}
