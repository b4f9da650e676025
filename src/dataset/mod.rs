//! Change histories as files: records of many pages, to be replayed, studied and passed on.
//!
//! Everything is pages and visits. A page has a site, a URL and a weight. A visit has a time and, if there was a copy to
//! compare with, whether the page had changed. Some sources also have the texts of pages over time, as sets of fragments and as words.
//! Pages that were watched together are a [`Group`] with cycles of its own.
//!
//! A dataset is a folder ([`disk`]). Every format has a file of its own and a row in [`mod@format`]; it goes to and from
//! [`page_record::PageRecord`]s one page at a time, so that memory holds a page and not a dataset. [`export`] writes files,
//! [`import`] reads them. What must stay true: a file that is written, read and written again has the same bytes, and a
//! file with a mistake leaves nothing behind.
//!
//! [`Dataset::load`] reads a dataset into memory for the simulator: cycles, and bits or texts.

pub mod blobs;
pub mod bodies;
mod body_name;
mod brdc;
pub mod counts;
pub mod csv_cell;
pub mod csv_table;
pub mod disk;
pub mod error;
pub mod export;
mod fields;
pub mod format;
mod fragments;
pub mod group;
pub mod import;
mod lambdacrawl;
pub mod metadata;
mod observations;
pub(crate) mod page_record;
mod parquet;
mod rates;
mod recording;
mod recording_text;
mod recording_words;
mod rows_by_page;
mod rows_to_pages;
mod signals;
pub mod stored;
mod terms_table;
mod text_lines;
mod words;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use error::DatasetError;
pub use words::WantedWords;

use crate::signal::SignalKind;
use crate::time::Timestamp;
use disk::{FRAGMENTS, PAGES, VISITS};
use fields::parse_time as time;
use group::GroupInfo;
use page_record::PageRecord;
use parquet::TableReader;
use words::WordsByText;

/// A moment, as `2012-11-30`, `2012-11-30T08:00:00Z` or milliseconds since 1970.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    time(text).map(Timestamp::from_millis)
}

/// Recorded histories, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The name given by the user or the source.
    pub name: String,
    /// The groups, in the order of the folder.
    pub groups: Vec<Group>,
}

/// Pages that were watched together. Cycle c is at `start + c · step`.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Unique in the dataset.
    pub name: String,
    /// Time of cycle 0.
    pub start: Timestamp,
    /// Time from one cycle to the next.
    pub step: Duration,
    /// Number of cycles.
    pub cycles: u32,
    /// The pages, in the order of the folder.
    pub pages: Vec<RecordedPage>,
}

/// A page and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPage {
    /// Its URL, or another name.
    pub url: String,
    /// Its site: usually the host.
    pub site: String,
    /// Importance; an ordinary page has 1.
    pub weight: f64,
    /// The cycle of its first copy.
    pub born: u32,
    /// Its changes from then on.
    pub history: History,
    /// The words of each text: of [`History::Texts`] in the same order; of [`History::Bits`] those of the first copy, and after each
    /// change. Empty if the dataset has no words or they were not asked for.
    pub words: Vec<TextWords>,
    /// Pages of its group that link to it; 0 if it is not known.
    pub inlinks: u32,
    /// Signals of its changes, in the order in which they were learnt.
    pub signals: Vec<RecordedSignal>,
}

/// A hint from outside a page that it changed ([`crate::signal::Signal`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSignal {
    /// Where it comes from.
    pub kind: SignalKind,
    /// When the page changed, as the signal says; `None` if it gives no date.
    pub date: Option<Timestamp>,
    /// When it became known.
    pub learnt_at: Timestamp,
}

/// The words of a text: its terms by their hashes ([`crate::quality::copies::term_hash`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextWords {
    /// Terms, each as often as it occurs.
    pub length: u32,
    /// Hashes of the terms, ascending, each with its count.
    pub counts: Arc<[(u64, u32)]>,
}

/// How a page changed.
#[derive(Clone, Debug, PartialEq)]
pub enum History {
    /// One bit per cycle after `born`: bit i (word i/64, lowest first) says that the page changed between cycle born+i and
    /// born+i+1. Where there was no visit the bit is 0: a partial history can't know.
    Bits(Vec<u64>),
    /// From each of these cycles on the page has this text (an index into `texts`); texts are sorted fragment hashes.
    /// Two texts may have the same fragments: they differ in the order of their words.
    Texts {
        /// A cycle, and the text from then on.
        from: Vec<(u32, u32)>,
        /// The distinct texts.
        texts: Vec<Arc<[u64]>>,
    },
}

impl Dataset {
    /// Whether any page has texts, so that divergence can be measured.
    pub fn has_texts(&self) -> bool {
        let is_text = |page: &RecordedPage| matches!(page.history, History::Texts { .. });
        self.groups.iter().any(|group| group.pages.iter().any(is_text))
    }
}

impl History {
    /// Number of recorded changes.
    pub fn changes(&self) -> u64 {
        match self {
            Self::Bits(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
            Self::Texts { from, .. } => from.len().saturating_sub(1) as u64,
        }
    }
}

/// Words of 64 bits that the histories of a dataset may take: 16 GB.
const MOST_WORDS: usize = 1 << 31;

/// The place of a page of the file in the dataset.
#[derive(Clone, Copy)]
struct PagePlace {
    group: u32,
    page: u32,
}

impl Dataset {
    /// Reads a dataset's folder. Takes the memory that the histories need: one bit per page and cycle, or all texts.
    ///
    /// A visit between two cycles counts for the cycle that its time falls in. Pages without a copy are left out; so are
    /// pages without a text, if the dataset has texts.
    pub fn load(path: &Path) -> Result<Self, DatasetError> {
        Self::load_with(path, WantedWords::None)
    }

    /// The same with the words of texts, as far as they are wanted. A dataset without words, or with words that were made by another
    /// scheme than those of a workload, is an error then.
    pub fn load_with(path: &Path, wanted: WantedWords<'_>) -> Result<Self, DatasetError> {
        let manifest = disk::Manifest::read(path)?;
        let words = WordsByText::open(path, &manifest, wanted)?;
        let has_texts = path.join(disk::FRAGMENTS_FILE).exists();
        let mut groups: Vec<Group> = manifest.groups.iter().map(Group::empty).collect();
        let places = read_pages(path, &manifest.groups, &mut groups)?;
        let mut dataset = Self { name: manifest.name, groups };
        dataset.read_signals(path, &places)?;
        if has_texts {
            dataset.read_texts(path, &manifest.groups, &places, words)?;
        } else {
            dataset.read_bits(path, &manifest.groups, &places)?;
        }
        Ok(dataset)
    }

    fn page(&mut self, place: PagePlace) -> Option<&mut RecordedPage> {
        self.groups.get_mut(place.group as usize)?.pages.get_mut(place.page as usize)
    }

    fn read_signals(&mut self, folder: &Path, places: &[Option<PagePlace>]) -> Result<(), DatasetError> {
        let Some(mut table) = signals::open_signals(folder)? else { return Ok(()) };
        for (number, place) in (0..).zip(places) {
            let found = table.of_page(number)?;
            if let Some(page) = place.and_then(|place| self.page(place)) {
                page.signals = found;
            }
        }
        table.end()
    }

    fn read_bits(
        &mut self,
        folder: &Path,
        infos: &[GroupInfo],
        places: &[Option<PagePlace>],
    ) -> Result<(), DatasetError> {
        let wanted = ["page", "cycle", "time_ms", "changed"];
        let mut table = TableReader::open(&folder.join(disk::VISITS_FILE), &VISITS, &wanted)?;
        while let Some(batch) = table.next_batch()? {
            let (Some(pages), Some(times), Some(changes)) = (batch.u32s(0), batch.i64s(2), batch.bools(3))
            else {
                continue;
            };
            // Most visits found no change, so only the others are looked at.
            for row in changes.values().set_indices() {
                let page = pages.value(row);
                let Some(place) = places.get(page as usize) else {
                    return Err(unknown_page(table.path(), batch.first_row + row as u64, page));
                };
                // A null may have any bit, and a page without a copy has no history.
                let (Some(true), Some(place)) = (batch.bool(3, row), *place) else { continue };
                let Some(info) = infos.get(place.group as usize) else { continue };
                let cycle = info.cycle_of(batch.u32(1, row), times.value(row));
                if let Some(page) = self.page(place) {
                    page.changed_in(cycle);
                }
            }
        }
        Ok(())
    }

    fn read_texts(
        &mut self,
        folder: &Path,
        infos: &[GroupInfo],
        places: &[Option<PagePlace>],
        mut words: Option<WordsByText<'_>>,
    ) -> Result<(), DatasetError> {
        let mut table = TableReader::open(&folder.join(disk::FRAGMENTS_FILE), &FRAGMENTS, &[])?;
        let (mut page_at_hand, mut known) = (None, HashMap::new());
        while let Some(batch) = table.next_batch()? {
            for row in 0..batch.rows() {
                let (Some(number), Some(text)) = (batch.u32(0, row), batch.u64(3, row)) else { continue };
                let Some(place) = places.get(number as usize) else {
                    return Err(unknown_page(table.path(), batch.first_row + row as u64, number));
                };
                let when = (batch.u32(1, row), batch.i64(2, row).unwrap_or_default());
                let words_now = words.as_mut().map(|words| words.next(number, when)).transpose()?;
                let Some(place) = *place else { continue };
                let Some(info) = infos.get(place.group as usize) else { continue };
                if page_at_hand != Some(number) {
                    page_at_hand = Some(number);
                    known.clear();
                }
                let cycle = info.cycle_of(when.0, when.1);
                let hashes = || Arc::from(batch.hashes(4, row).unwrap_or_default());
                if let Some(page) = self.page(place) {
                    page.take_state(cycle, text, &mut known, hashes, words_now);
                }
            }
        }
        words.map_or(Ok(()), WordsByText::end)?;
        for group in &mut self.groups {
            group.pages.retain(|page| matches!(page.history, History::Texts { .. }));
        }
        Ok(())
    }
}

impl Group {
    fn empty(info: &GroupInfo) -> Self {
        let GroupInfo { name, start_ms, step_ms, cycles } = info;
        let step = Duration::from_millis(u64::try_from(*step_ms).unwrap_or(1));
        let start = Timestamp::from_millis(*start_ms);
        Self { name: name.clone(), start, step, cycles: *cycles, pages: Vec::new() }
    }
}

impl RecordedPage {
    /// A page without a name, from the first cycle on.
    pub(crate) fn unnamed(history: History) -> Self {
        let (url, site, words, signals) = (String::new(), String::new(), Vec::new(), Vec::new());
        Self { url, site, weight: 1.0, born: 0, history, words, inlinks: 0, signals }
    }

    /// The page of a record, with a bit for each cycle after its first copy; `None` if it has no copy.
    fn of_record(page: &PageRecord, info: &GroupInfo) -> Option<Self> {
        let first = page.first_copy()?;
        let born = info.cycle_of(first.cycle, first.time_ms);
        let history = History::Bits(vec![0; bit_words(info, born)]);
        let (url, site) = (page.url.clone(), page.site.clone());
        let mut recorded = Self {
            url,
            site,
            weight: page.weight,
            born,
            history,
            words: Vec::new(),
            inlinks: page.inlinks.unwrap_or(0),
            signals: page.signals.clone(),
        };
        for (visit, _) in page.comparisons().filter(|(_, changed)| *changed) {
            recorded.changed_in(info.cycle_of(visit.cycle, visit.time_ms));
        }
        Some(recorded)
    }

    /// A visit in this cycle found a change.
    fn changed_in(&mut self, cycle: u32) {
        if let Some(bit) = cycle.checked_sub(self.born + 1)
            && let History::Bits(words) = &mut self.history
            && let Some(word) = words.get_mut(bit as usize / 64)
        {
            *word |= 1 << (bit % 64);
        }
    }

    fn take_state(
        &mut self,
        cycle: u32,
        text: u64,
        known: &mut HashMap<u64, u32>,
        hashes: impl FnOnce() -> Arc<[u64]>,
        words: Option<TextWords>,
    ) {
        if matches!(self.history, History::Bits(_)) {
            self.born = cycle;
            self.history = History::Texts { from: Vec::new(), texts: Vec::new() };
        }
        let History::Texts { from, texts } = &mut self.history else { return };
        let index = *known.entry(text).or_insert_with(|| {
            texts.push(hashes());
            self.words.extend(words);
            texts.len() as u32 - 1
        });
        // The last text of a cycle is the one that counts.
        if from.last().is_some_and(|(last, _)| *last == cycle) {
            from.pop();
        }
        if from.last().is_none_or(|(_, last)| *last != index) {
            from.push((cycle, index));
        }
    }
}

/// Words of 64 bits for a page whose first copy is of this cycle.
fn bit_words(info: &GroupInfo, born: u32) -> usize {
    info.cycles.saturating_sub(born + 1).div_ceil(64) as usize
}

fn unknown_page(file: &Path, row: u64, page: u32) -> DatasetError {
    let file = file.display().to_string();
    let wrong = format!("page {page} is not in `{}`; import the dataset again", disk::PAGES_FILE);
    DatasetError::Row { file, row, column: "page".to_owned(), wrong }
}

fn read_pages(
    folder: &Path,
    infos: &[GroupInfo],
    groups: &mut [Group],
) -> Result<Vec<Option<PagePlace>>, DatasetError> {
    let mut table = TableReader::open(&folder.join(disk::PAGES_FILE), &PAGES, &[])?;
    let by_name: HashMap<&str, usize> =
        infos.iter().enumerate().map(|(at, info)| (info.name.as_str(), at)).collect();
    let (mut places, mut words) = (Vec::new(), 0);
    while let Some(batch) = table.next_batch()? {
        for row in 0..batch.rows() {
            let record = disk::page_row(&batch, row, table.path(), places.len())?;
            let at = by_name.get(record.page.group.as_str()).copied();
            let (Some(at), Some(info), Some(group)) =
                (at, at.and_then(|at| infos.get(at)), at.and_then(|at| groups.get_mut(at)))
            else {
                let wrong = format!("there is no group `{}` in `{}`", record.page.group, disk::MANIFEST_FILE);
                let file = table.path().display().to_string();
                let row = batch.first_row + row as u64;
                return Err(DatasetError::Row { file, row, column: "group".to_owned(), wrong });
            };
            let Some(first_ms) = record.first_ms else {
                places.push(None);
                continue;
            };
            let born = info.cycle_of(record.first_cycle, first_ms);
            let bits = bit_words(info, born);
            words += bits;
            if words > MOST_WORDS {
                let wrong = format!(
                    "needs more than {} GB of memory: a bit for each page and cycle; import it with a longer --step",
                    MOST_WORDS >> 27
                );
                return Err(DatasetError::of_file(folder, wrong));
            }
            places.push(Some(PagePlace { group: at as u32, page: group.pages.len() as u32 }));
            group.pages.push(RecordedPage {
                url: record.page.url,
                site: record.page.site,
                weight: record.page.weight,
                born,
                history: History::Bits(vec![0; bits]),
                words: Vec::new(),
                inlinks: record.page.inlinks.unwrap_or(0),
                signals: Vec::new(),
            });
        }
    }
    Ok(places)
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
