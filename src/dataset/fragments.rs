//! `fragments`: the texts of pages over time, as sorted hashes of their fragments, in Parquet. Policies that use fragments
//! can be replayed on them; with their words, so that queries can be too.

use std::path::Path;

use super::DatasetError;
use super::disk::{FRAGMENTS, INLINKS, state_row, state_values, wrong_row};
use super::format::EachRecord;
use super::group::GroupInfo;
use super::import::ImportedFile;
use super::metadata::FileNote;
use super::observations::{WHOSE, whose_values};
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::parquet::{Column, ColumnKind, TableReader, TableWriter, Value};
use super::rows_to_pages::{RowOwner, RowsToPages, TakePage, check_order};
use super::terms_table::{COUNTS_NOTE, HASHES_NOTE, LENGTH_NOTE, WordCells, words_row};
use crate::change::divergence::exact;
use crate::change::fragment::Fragments;

fn columns() -> Vec<Column> {
    let columns = WHOSE.iter().chain(FRAGMENTS.iter().skip(1)).chain(&WORDS).chain([&INLINKS]);
    columns.copied().collect()
}

/// Columns of words, which earlier releases did not write.
const WORDS: [Column; 3] = [
    Column::added("terms", ColumnKind::Hashes, HASHES_NOTE),
    Column::added("term_counts", ColumnKind::Counts, COUNTS_NOTE),
    Column::added("length", ColumnKind::U32, LENGTH_NOTE),
];
/// The places of the first of them, and of the inlinks.
const WORDS_PLACE: usize = WHOSE.len() + FRAGMENTS.len() - 1;
const INLINKS_PLACE: usize = WORDS_PLACE + WORDS.len();

/// The part of a page that the format holds: its texts, and a visit at each time its text was another.
pub(super) fn kept(page: &PageRecord, _: &GroupInfo) -> Option<PageRecord> {
    if page.states.is_empty() {
        return None;
    }
    let (visits, states) = (visits(&page.states), page.states.clone());
    let kept = PageRecord::new(&page.group, &page.site, &page.url, page.weight);
    Some(PageRecord { visits, states, inlinks: page.inlinks, ..kept })
}

/// Visits that find each of these texts as it appears.
pub(super) fn visits(states: &[StateRecord]) -> Vec<VisitLine> {
    let mut before: Option<(u64, Fragments)> = None;
    let mut visits = Vec::with_capacity(states.len());
    for state in states {
        let now = Fragments::from_hashes(state.hashes.clone().unwrap_or_default());
        let found = before.as_ref().map(|(text, before)| (*text != state.text, exact(before, &now).get()));
        visits.push(VisitLine {
            cycle: state.cycle,
            divergence: found.map(|(_, divergence)| divergence),
            ..VisitLine::at(state.time_ms, found.map(|(changed, _)| changed))
        });
        before = Some((state.text, now));
    }
    visits
}

/// Writes all pages as a file of this format.
pub(super) fn write(path: &Path, each: EachRecord<'_>) -> Result<(), DatasetError> {
    let mut writer = FragmentsWriter::create(path)?;
    each(&mut |page, _| writer.page(page))?;
    writer.finish()
}

struct FragmentsWriter {
    table: TableWriter,
}

impl FragmentsWriter {
    fn create(path: &Path) -> Result<Self, DatasetError> {
        Ok(Self { table: TableWriter::create(path, &columns())? })
    }

    /// A page as [`kept`] made it.
    fn page(&mut self, page: &PageRecord) -> Result<(), DatasetError> {
        for state in &page.states {
            let mut row = whose_values(page).to_vec();
            row.extend(state_values(state));
            let words = WordCells::of(state.words.as_ref());
            row.extend(words.values());
            row.push(Value::or_null(page.inlinks, Value::U32));
            self.table.push(&row)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), DatasetError> {
        self.table.finish()
    }
}

/// The files of an export.
pub(super) fn files() -> Vec<FileNote> {
    vec![FileNote::of_table("Parquet, a row each time that a page says something else.", &columns())]
}

/// Reads the pages of a file.
pub(super) fn read(
    from: &ImportedFile<'_>,
    take: TakePage<'_>,
) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
    let mut with_visits = |page: PageRecord| {
        let visits = visits(&page.states);
        take(PageRecord { visits, ..page })
    };
    let mut pages = RowsToPages::new(&mut with_visits);
    let mut table = TableReader::open(from.path, &columns(), &[])?;
    while let Some(batch) = table.next_batch()? {
        for row in 0..batch.rows() {
            let wrong =
                |column: &str, said: String| wrong_row(from.path, batch.first_row + row as u64, column, said);
            let text = |column| batch.text(column, row).unwrap_or_default();
            let weight = batch.f64(3, row).unwrap_or(1.0);
            let page = pages.page(
                RowOwner { group: text(0), site: text(1), url: text(2), weight, alias_of: None },
                &wrong,
            )?;
            let inlinks = batch.u32(INLINKS_PLACE, row);
            if page.states.is_empty() {
                page.inlinks = inlinks;
            } else if page.inlinks != inlinks {
                return Err(wrong("inlinks", "another number than in the rows before".to_owned()));
            }
            let mut state = state_row(&batch, row, WHOSE.len());
            state.words = words_row(&batch, row, WORDS_PLACE, WORDS.map(|column| column.name))
                .map_err(|(column, said)| wrong(column, said))?;
            check_order(page.states.last().map(|last| last.time_ms), state.time_ms, &wrong)?;
            if state.hashes.iter().any(|hashes| !hashes.is_sorted_by(|one, next| one < next)) {
                return Err(wrong("hashes", "the hashes are not in ascending order".to_owned()));
            }
            page.states.push(state);
        }
    }
    pages.finish()?;
    Ok(None)
}
