//! A store as a source of histories: its pages one after the other, each with its visits and, if wanted, its texts.
//!
//! Cycles are the store's own, those that have ended; visits of a cycle that goes on are left out, so an export is of
//! whole cycles. Other spellings of pages are left out, and so are pages never visited.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

use super::DatasetError;
use super::fields::site_of;
use super::group::{DAY_MS, GroupInfo};
use super::page_record::{PageRecord, StateRecord, VisitLine};
use crate::change::fragment::{Fragmenter, Fragments};
use crate::page::PageId;
use crate::store::{self, CycleId, PageFilter, Store, VersionId, VisitRow};

/// A store that is open, twice: one lists the pages while the other is asked for their visits.
pub struct Stored {
    pub name: String,
    pub group: GroupInfo,
    /// A cycle goes on: its visits are left out.
    pub open_cycle: bool,
    pages: Box<dyn Store>,
    visits: Box<dyn Store>,
    /// Those that have ended, in order.
    cycles: Vec<CycleId>,
    /// Words of a fragment.
    words: usize,
}

impl Stored {
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
        Ok(Self { name, group, open_cycle: rows.len() < begun, pages, visits, cycles, words })
    }

    pub fn pages(&mut self) -> Result<u64, DatasetError> {
        Ok(self.pages.pages_held()?)
    }

    /// Calls `each` with every page that was visited, in order of their ids.
    pub fn each(
        &mut self,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let Self { pages, visits, cycles, words, group, .. } = self;
        let mut texts = Texts { store: &mut **visits, fragmenter: Fragmenter::new(1), words: *words };
        let mut done = Ok(());
        pages.list_pages(&PageFilter::default(), &mut |row| {
            if done.is_ok() && row.visits > 0 {
                done = texts
                    .page(PageId(row.id), &row.url, row.weight, cycles, &group.name, states)
                    .and_then(|page| if page.visits.is_empty() { Ok(()) } else { each(page) });
            }
        })?;
        done
    }
}

struct Texts<'a> {
    store: &'a mut dyn Store,
    /// Of single words.
    fragmenter: Fragmenter,
    words: usize,
}

impl Texts<'_> {
    fn page(
        &mut self,
        id: PageId,
        url: &str,
        weight: f64,
        cycles: &[CycleId],
        group: &str,
        states: bool,
    ) -> Result<PageRecord, DatasetError> {
        let site = site_of(url).unwrap_or_else(|| url.to_owned());
        let mut page = PageRecord::new(group, &site, url, weight);
        let mut held: Option<VersionId> = None;
        for visit in self.store.visits(id)? {
            let Ok(cycle) = cycles.binary_search(&visit.cycle) else { continue };
            let record = record(&visit, u32::try_from(cycle).ok());
            let time_ms = record.time_ms;
            if states {
                let state = match visit.version {
                    Some(version) if held != Some(version) => {
                        held = Some(version);
                        self.text(version)?.map(|(text, hashes)| (text, Some(hashes)))
                    }
                    None if visit.outcome == "missing" && held.is_some() => {
                        held = None;
                        Some((self.hash(""), None))
                    }
                    _ => None,
                };
                if let Some((text, hashes)) = state {
                    let last = page.states.last().map(|last| (last.text, last.hashes.is_none()));
                    if last != Some((text, hashes.is_none())) {
                        page.states.push(StateRecord { cycle: record.cycle, time_ms, text, hashes });
                    }
                }
            }
            page.visits.push(record);
        }
        Ok(page)
    }

    fn text(&mut self, version: VersionId) -> Result<Option<(u64, Vec<u64>)>, DatasetError> {
        let Some(content) = self.store.version(version)? else { return Ok(None) };
        let hashes = Fragments::of(&content.text, self.words).as_slice().to_vec();
        Ok(Some((self.hash(&content.text), hashes)))
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

fn record(visit: &VisitRow, cycle: Option<u32>) -> VisitLine {
    VisitLine {
        cycle,
        time_ms: visit.at.millis(),
        changed: visit.changed,
        divergence: visit.divergence,
        outcome: Some(visit.outcome.clone()),
        status: visit.status.map(u32::from),
        bytes: Some(visit.bytes),
        took_ms: u64::try_from(visit.took.as_millis()).ok(),
    }
}
