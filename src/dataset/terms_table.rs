//! `terms.parquet`: the words of pages over time, as hashes of terms with counts. A workload of queries can be replayed on them.
//!
//! A row stands for each row of `fragments.parquet`, in the same order, if the words of any text of the page are known. Terms are those
//! that a search index takes from a page: of its title and its text ([`crate::quality::terms`]).

use std::path::Path;

use super::disk::{CYCLE, FRAGMENTS_FILE, TIME};
use super::page_record::StateRecord;
use super::parquet::{Column, ColumnKind, TableBatch, TableReader, TableWriter, Value};
use super::rows_by_page::RowsByPage;
use super::{DatasetError, TextWords};
use crate::quality::copies::term_hash;
use crate::quality::terms::TermCounts;

/// The table of words.
pub(super) const TERMS_FILE: &str = "terms.parquet";

/// Hashes of the terms of a text.
pub(super) const HASHES_NOTE: &str = "terms of title and text from then on, as hashes, ascending; null: the page was removed, or they are not known";
/// How often each term occurs.
pub(super) const COUNTS_NOTE: &str = "how often each of these terms occurs";
/// The length of a text.
pub(super) const LENGTH_NOTE: &str = "terms of title and text, each as often as it occurs";

pub(super) const TERMS: [Column; 6] = [
    Column::new("page", ColumnKind::U32, "number of the page"),
    CYCLE,
    TIME,
    Column::or_null("hashes", ColumnKind::Hashes, HASHES_NOTE),
    Column::or_null("counts", ColumnKind::Counts, COUNTS_NOTE),
    Column::or_null("length", ColumnKind::U32, LENGTH_NOTE),
];

impl TextWords {
    /// The words of a text whose terms were counted.
    pub fn of(counted: &TermCounts) -> TextWords {
        let mut counts: Vec<(u64, u32)> =
            counted.iter().map(|(term, count)| (term_hash(term), count)).collect();
        counts.sort_unstable();
        TextWords { length: counted.length(), counts: counts.into() }
    }
}

/// The cells of words in a table. They live apart from the words, which have hash and count side by side.
#[derive(Default)]
pub(super) struct WordCells {
    hashes: Vec<u64>,
    counts: Vec<u32>,
    length: Option<u32>,
}

impl WordCells {
    /// The cells of these words.
    pub(super) fn of(words: Option<&TextWords>) -> Self {
        let Some(words) = words else { return Self::default() };
        let (hashes, counts) = words.counts.iter().copied().unzip();
        Self { hashes, counts, length: Some(words.length) }
    }

    /// Hashes, counts and length, or three nulls.
    pub(super) fn values(&self) -> [Value<'_>; 3] {
        match self.length {
            Some(length) => [Value::Hashes(&self.hashes), Value::Counts(&self.counts), Value::U32(length)],
            None => [Value::Null; 3],
        }
    }
}

/// The words of a row whose cells start at `from`; they have these names.
pub(super) fn words_row(
    batch: &TableBatch,
    row: usize,
    from: usize,
    [hashes_name, counts_name, length_name]: [&'static str; 3],
) -> Result<Option<TextWords>, (&'static str, String)> {
    let cells = (batch.hashes(from, row), batch.counts(from + 1, row), batch.u32(from + 2, row));
    let (hashes, counts, length) = match cells {
        (None, None, None) => return Ok(None),
        (Some(hashes), Some(counts), Some(length)) => (hashes, counts, length),
        _ => {
            let wrong =
                format!("null, and `{counts_name}` or `{length_name}` is not, or the other way round");
            return Err((hashes_name, wrong));
        }
    };
    if hashes.len() != counts.len() {
        let wrong = format!("{} counts for {} terms", counts.len(), hashes.len());
        return Err((counts_name, wrong));
    }
    if !hashes.is_sorted_by(|one, next| one < next) {
        return Err((hashes_name, "the hashes are not in ascending order".to_owned()));
    }
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if counts.contains(&0) || sum > u64::from(length) {
        return Err((counts_name, format!("a count is 0, or they add up to more than the length, {length}")));
    }
    Ok(Some(TextWords { length, counts: hashes.into_iter().zip(counts).collect() }))
}

/// The table as it is written.
pub(super) struct TermsWriter {
    table: TableWriter,
}

impl TermsWriter {
    /// Begins the table in the folder of a dataset.
    pub(super) fn create(folder: &Path) -> Result<Self, DatasetError> {
        Ok(Self { table: TableWriter::create(&folder.join(TERMS_FILE), &TERMS)? })
    }

    /// Adds the texts of a page.
    pub(super) fn states(&mut self, page: u32, states: &[StateRecord]) -> Result<(), DatasetError> {
        for state in states {
            let cells = WordCells::of(state.words.as_ref());
            let [hashes, counts, length] = cells.values();
            let (cycle, time) = (Value::or_null(state.cycle, Value::U32), Value::I64(state.time_ms));
            self.table.push(&[Value::U32(page), cycle, time, hashes, counts, length])?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), DatasetError> {
        self.table.finish()
    }
}

/// A row of the table.
pub(super) struct TermsRow {
    cycle: Option<u32>,
    time_ms: i64,
    pub(super) words: Option<TextWords>,
}

impl TermsRow {
    fn read(batch: &TableBatch, row: usize) -> Result<Self, (&'static str, String)> {
        let words = words_row(batch, row, 3, ["hashes", "counts", "length"])?;
        Ok(Self { cycle: batch.u32(1, row), time_ms: batch.i64(2, row).unwrap_or_default(), words })
    }

    /// Its cycle and time.
    pub(super) fn when(&self) -> (Option<u32>, i64) {
        (self.cycle, self.time_ms)
    }
}

/// Opens the table of a dataset's folder, if it has one.
pub(super) fn open_terms(folder: &Path) -> Result<Option<RowsByPage<TermsRow>>, DatasetError> {
    let path = folder.join(TERMS_FILE);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(RowsByPage::new(TableReader::open(&path, &TERMS, &[])?, TermsRow::read)))
}

/// Gives the texts of a page their words. A page has a row for each text, or none.
pub(super) fn give_words(
    folder: &Path,
    page: u32,
    states: &mut [StateRecord],
    rows: Vec<TermsRow>,
) -> Result<(), DatasetError> {
    if rows.is_empty() {
        return Ok(());
    }
    let fits = |(state, row): (&StateRecord, &TermsRow)| (state.cycle, state.time_ms) == row.when();
    if states.len() != rows.len() || !states.iter().zip(&rows).all(fits) {
        return Err(other_rows(folder, page));
    }
    for (state, row) in states.iter_mut().zip(rows) {
        state.words = row.words;
    }
    Ok(())
}

/// The error for words that don't fit the texts of a page.
pub(super) fn other_rows(folder: &Path, page: u32) -> DatasetError {
    let wrong = format!("has other rows for page {page} than `{FRAGMENTS_FILE}`; import the dataset again");
    DatasetError::of_file(&folder.join(TERMS_FILE), wrong)
}
