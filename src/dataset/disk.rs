//! A dataset on disk: a folder with `dataset.json` (its description), `pages.parquet`, `visits.parquet` and, if the texts of
//! pages are known, `fragments.parquet` and [`terms.parquet`](super::terms_table); and `signals.parquet`, if there are
//! [signals](super::signals).
//!
//! Pages are numbered from 0 in their order; the other tables are sorted by page, then time. All tables are read side by side, one
//! page at a time.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::DatasetError;
use super::counts::{DatasetCounts, DatasetTally};
use super::group::{FARTHEST_MS, GroupInfo, MOST_CYCLES};
use super::metadata::{FragmentNote, TermNote};
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::parquet::{Column, ColumnKind, TableBatch, TableReader, TableWriter, Value};
use super::rows_by_page::RowsByPage;
use super::signals::{SignalsWriter, open_signals};
use super::terms_table::{TermsWriter, give_words, open_terms};

/// The description of the dataset.
pub(super) const MANIFEST_FILE: &str = "dataset.json";
/// The table of pages.
pub(super) const PAGES_FILE: &str = "pages.parquet";
/// The table of visits.
pub(super) const VISITS_FILE: &str = "visits.parquet";
/// The table of texts.
pub(super) const FRAGMENTS_FILE: &str = "fragments.parquet";

/// The version of the layout. It goes up when an older program could not read the files any more.
/// 3: `pages.parquet` has `inlinks`, and there may be `terms.parquet`.
const FORM: u32 = 3;

/// The page that stands for another one now.
pub(super) const ALIAS_OF: Column = Column::added(
    "alias_of",
    ColumnKind::Text,
    "the page that stands for it now (a confirmed permanent redirect or canonical link); null: none",
);

/// Pages that link to a page.
pub(super) const INLINKS: Column =
    Column::added("inlinks", ColumnKind::U32, "pages of its group that link to it; null: not known");

pub(super) const PAGES: [Column; 9] = [
    Column::new("page", ColumnKind::U32, "number of the page, from 0"),
    Column::new("group", ColumnKind::Text, "the group it was watched with"),
    Column::new("site", ColumnKind::Text, "its site"),
    Column::new("url", ColumnKind::Text, "its URL, or whatever names it"),
    Column::new("weight", ColumnKind::F64, "importance; 1: an ordinary page"),
    Column::or_null(
        "first_cycle",
        ColumnKind::U32,
        "cycle of the first copy; null: the one that the time falls in",
    ),
    Column::or_null(
        "first_ms",
        ColumnKind::I64,
        "time of the first copy, UTC milliseconds since 1970; null: none was held",
    ),
    ALIAS_OF,
    INLINKS,
];

pub(super) const VISITS: [Column; 9 + LATER_COLUMNS] = [
    Column::new("page", ColumnKind::U32, "number of the page"),
    CYCLE,
    TIME,
    Column::or_null(
        "changed",
        ColumnKind::Bool,
        "had it changed since the copy before? null: nothing to compare",
    ),
    Column::or_null("divergence", ColumnKind::F64, "how far from the copy before, 0 to 1"),
    Column::or_null("outcome", ColumnKind::Text, "how the visit ended; null: it brought a copy"),
    Column::or_null("status", ColumnKind::U32, "HTTP status"),
    Column::or_null("bytes", ColumnKind::U64, "bytes of the answer"),
    Column::or_null("took_ms", ColumnKind::U64, "milliseconds that the visit took"),
    Column::added("content_type", ColumnKind::Text, "content type of the copy that was fetched or confirmed"),
    Column::added("redirect_to", ColumnKind::Text, "the URL that it led to, if it was sent elsewhere"),
    Column::added(
        "last_modified_ms",
        ColumnKind::I64,
        "when the page said that it had last changed (Last-Modified, else its sitemap), UTC milliseconds since 1970",
    ),
    Column::added(
        "reason",
        ColumnKind::Text,
        "cause of a failure in words, where outcome and status don't say it all",
    ),
];

/// Columns of visits that files of earlier versions don't have.
pub(super) const LATER_COLUMNS: usize = 4;

pub(super) const FRAGMENTS: [Column; 5] = [
    Column::new("page", ColumnKind::U32, "number of the page"),
    CYCLE,
    TIME,
    Column::new(
        "text",
        ColumnKind::U64,
        "stands for the sequence of the words: other words or another order, another number",
    ),
    Column::or_null(
        "hashes",
        ColumnKind::Hashes,
        "fragments of the text from then on, ascending; null: the page was removed",
    ),
];

pub(super) const CYCLE: Column = Column::or_null(
    "cycle",
    ColumnKind::U32,
    "cycle of the group, from 0; null: the one that the time falls in",
);
pub(super) const TIME: Column = Column::new("time_ms", ColumnKind::I64, "UTC milliseconds since 1970");

/// The description of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the layout.
    pub form: u32,
    /// The name of the dataset.
    pub name: String,
    /// The format that it was read from.
    pub source: String,
    /// The groups of pages.
    pub groups: Vec<GroupInfo>,
    /// Pages, sites, visits and changes.
    pub counts: DatasetCounts,
    /// How the fragments of its texts were made, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<FragmentNote>,
    /// How the terms of its texts were made, if it has them and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<TermNote>,
}

impl Manifest {
    /// Reads the description in a folder.
    pub fn read(folder: &Path) -> Result<Self, DatasetError> {
        let path = folder.join(MANIFEST_FILE);
        if !path.exists() {
            let wrong = match folder.exists() {
                true => format!(
                    "is not a dataset: there is no `{MANIFEST_FILE}` in it; `freshet import` makes one"
                ),
                false => "does not exist; `freshet import` makes a dataset".to_owned(),
            };
            return Err(DatasetError::of_file(folder, wrong));
        }
        let text = std::fs::read_to_string(&path).map_err(DatasetError::read(&path))?;
        let manifest: Self =
            serde_json::from_str(&text).map_err(|error| DatasetError::json(&path, 1, &error))?;
        if manifest.form > FORM {
            let wrong = format!("is of form {}, this program knows {FORM}; use a newer one", manifest.form);
            return Err(DatasetError::of_file(&path, wrong));
        }
        check_groups(&path, &manifest.groups)?;
        Ok(manifest)
    }
}

/// Checks that groups have unique names, a time, and steps above 0.
pub(super) fn check_groups(file: &Path, groups: &[GroupInfo]) -> Result<(), DatasetError> {
    for (at, group) in groups.iter().enumerate() {
        let wrong = if groups.iter().take(at).any(|other| other.name == group.name) {
            "is there twice"
        } else if group.step_ms < 1 {
            "has a step_ms below 1"
        } else if group.cycles == 0 {
            "has no cycles"
        } else if group.cycles > MOST_CYCLES {
            "has more than 10 million cycles: give a longer --step"
        } else if group.start_ms.saturating_abs() > FARTHEST_MS || group.step_ms > FARTHEST_MS {
            "starts at no time, or has a step_ms that is too long"
        } else {
            continue;
        };
        return Err(DatasetError::of_file(file, format!("is wrong: group `{}` {wrong}", group.name)));
    }
    Ok(())
}

/// A dataset that is being written into an empty folder.
pub struct DatasetWriter {
    folder: PathBuf,
    pages: TableWriter,
    visits: TableWriter,
    fragments: Option<TableWriter>,
    terms: Option<TermsWriter>,
    signals: Option<SignalsWriter>,
    /// How the fragments were made, if it is known.
    pub(super) made: Option<FragmentNote>,
    /// How the terms were made, if it is known.
    pub(super) made_terms: Option<TermNote>,
    next: u32,
    tally: DatasetTally,
}

impl DatasetWriter {
    /// Begins a dataset in an empty folder.
    pub fn create(folder: &Path) -> Result<Self, DatasetError> {
        Ok(Self {
            folder: folder.to_owned(),
            pages: TableWriter::create(&folder.join(PAGES_FILE), &PAGES)?,
            visits: TableWriter::create(&folder.join(VISITS_FILE), &VISITS)?,
            fragments: None,
            terms: None,
            signals: None,
            made: None,
            made_terms: None,
            next: 0,
            tally: DatasetTally::default(),
        })
    }

    /// Adds the next page, with its visits and states.
    pub fn page(&mut self, page: &PageRecord) -> Result<(), DatasetError> {
        let number = self.next;
        self.next = number.checked_add(1).ok_or_else(|| {
            DatasetError::Cannot(format!("a dataset holds at most {} pages; split the source", u32::MAX))
        })?;
        let first = page.first_copy();
        self.pages.push(&[
            Value::U32(number),
            Value::Text(&page.group),
            Value::Text(&page.site),
            Value::Text(&page.url),
            Value::F64(page.weight),
            Value::or_null(first.and_then(|first| first.cycle), Value::U32),
            Value::or_null(first.map(|first| first.time_ms), Value::I64),
            Value::or_null(page.alias_of.as_deref(), Value::Text),
            Value::or_null(page.inlinks, Value::U32),
        ])?;
        for visit in &page.visits {
            let mut row = vec![Value::U32(number)];
            row.extend(visit_values(visit));
            row.extend(later_values(visit));
            self.visits.push(&row)?;
        }
        if !page.signals.is_empty() {
            let signals = match &mut self.signals {
                Some(signals) => signals,
                none => none.insert(SignalsWriter::create(&self.folder)?),
            };
            signals.page(number, &page.signals)?;
        }
        self.tally.see(page);
        self.states(number, &page.states)
    }

    /// Adds the texts of a page. A caller that has them before the page itself gives them here, in the order of pages.
    pub fn states(&mut self, page: u32, states: &[StateRecord]) -> Result<(), DatasetError> {
        if states.is_empty() {
            return Ok(());
        }
        let fragments = match &mut self.fragments {
            Some(fragments) => fragments,
            none => none.insert(TableWriter::create(&self.folder.join(FRAGMENTS_FILE), &FRAGMENTS)?),
        };
        for state in states {
            let [cycle, time, text, hashes] = state_values(state);
            fragments.push(&[Value::U32(page), cycle, time, text, hashes])?;
        }
        if states.iter().all(|state| state.words.is_none()) {
            return Ok(());
        }
        let terms = match &mut self.terms {
            Some(terms) => terms,
            none => none.insert(TermsWriter::create(&self.folder)?),
        };
        terms.states(page, states)
    }

    /// Writes the rest, and the description.
    pub fn finish(self, name: &str, source: &str, groups: Vec<GroupInfo>) -> Result<Manifest, DatasetError> {
        self.pages.finish()?;
        self.visits.finish()?;
        if let Some(fragments) = self.fragments {
            fragments.finish()?;
        }
        if let Some(signals) = self.signals {
            signals.finish()?;
        }
        let made_terms = self.made_terms.filter(|_| self.terms.is_some());
        if let Some(terms) = self.terms {
            terms.finish()?;
        }
        let (name, source, counts) = (name.to_owned(), source.to_owned(), self.tally.counts());
        let (fragments, terms) = (self.made, made_terms);
        let manifest = Manifest { form: FORM, name, source, groups, counts, fragments, terms };
        let path = self.folder.join(MANIFEST_FILE);
        let text = serde_json::to_string_pretty(&manifest)
            .map_err(|error| DatasetError::Cannot(error.to_string()))?;
        std::fs::write(&path, text + "\n").map_err(DatasetError::write(&path))?;
        Ok(manifest)
    }
}

/// The values of a visit, in the order of the columns after the page, but for the later ones.
pub(super) fn visit_values(visit: &VisitLine) -> [Value<'_>; 8] {
    [
        Value::or_null(visit.cycle, Value::U32),
        Value::I64(visit.time_ms),
        Value::or_null(visit.changed, Value::Bool),
        Value::or_null(visit.divergence, Value::F64),
        Value::or_null(visit.outcome.as_deref(), Value::Text),
        Value::or_null(visit.status, Value::U32),
        Value::or_null(visit.bytes, Value::U64),
        Value::or_null(visit.took_ms, Value::U64),
    ]
}

/// The values of the columns of a visit that were added later.
pub(super) fn later_values(visit: &VisitLine) -> [Value<'_>; LATER_COLUMNS] {
    [
        Value::or_null(visit.content_type.as_deref(), Value::Text),
        Value::or_null(visit.redirect_to.as_deref(), Value::Text),
        Value::or_null(visit.last_modified_ms, Value::I64),
        Value::or_null(visit.reason.as_deref(), Value::Text),
    ]
}

pub(super) fn state_values(state: &StateRecord) -> [Value<'_>; 4] {
    [
        Value::or_null(state.cycle, Value::U32),
        Value::I64(state.time_ms),
        Value::U64(state.text),
        Value::or_null(state.hashes.as_deref(), Value::Hashes),
    ]
}

/// A visit whose columns start at `from`, and those that were added later right after them.
pub(super) fn visit_row(batch: &TableBatch, row: usize, from: usize) -> VisitLine {
    visit_row_in_two(batch, row, from, from + VISITS.len() - 1 - LATER_COLUMNS)
}

/// A visit whose columns start at `from`, and those that were added later at `later`.
pub(super) fn visit_row_in_two(batch: &TableBatch, row: usize, from: usize, later: usize) -> VisitLine {
    let text = |column| batch.text(column, row).map(str::to_owned);
    VisitLine {
        cycle: batch.u32(from, row),
        time_ms: batch.i64(from + 1, row).unwrap_or_default(),
        changed: batch.bool(from + 2, row),
        divergence: batch.f64(from + 3, row),
        outcome: text(from + 4),
        status: batch.u32(from + 5, row),
        bytes: batch.u64(from + 6, row),
        took_ms: batch.u64(from + 7, row),
        content_type: text(later),
        redirect_to: text(later + 1),
        last_modified_ms: batch.i64(later + 2, row),
        reason: text(later + 3),
    }
}

/// A state whose columns start at `from`.
pub(super) fn state_row(batch: &TableBatch, row: usize, from: usize) -> StateRecord {
    StateRecord {
        cycle: batch.u32(from, row),
        time_ms: batch.i64(from + 1, row).unwrap_or_default(),
        text: batch.u64(from + 2, row).unwrap_or_default(),
        hashes: batch.hashes(from + 3, row),
        words: None,
    }
}

/// A row of `pages.parquet`.
pub(super) struct PageTableRow {
    pub page: PageRecord,
    pub first_cycle: Option<u32>,
    pub first_ms: Option<i64>,
}

/// A row of `pages.parquet`; pages come in the order of their numbers.
pub(super) fn page_row(
    batch: &TableBatch,
    row: usize,
    file: &Path,
    expected: usize,
) -> Result<PageTableRow, DatasetError> {
    let number = batch.u32(0, row).unwrap_or_default();
    if number as usize != expected {
        let wrong = format!("is {number}, not {expected}; import the dataset again");
        return Err(wrong_row(file, batch.first_row + row as u64, "page", wrong));
    }
    let text = |column| batch.text(column, row).unwrap_or_default();
    let page = PageRecord::new(text(1), text(2), text(3), batch.f64(4, row).unwrap_or(1.0));
    let (alias_of, inlinks) = (batch.text(7, row).map(str::to_owned), batch.u32(8, row));
    let page = PageRecord { alias_of, inlinks, ..page };
    Ok(PageTableRow { page, first_cycle: batch.u32(5, row), first_ms: batch.i64(6, row) })
}

pub(super) fn wrong_row(file: &Path, row: u64, column: &str, wrong: impl Into<String>) -> DatasetError {
    DatasetError::Row {
        file: file.display().to_string(),
        row,
        column: column.to_owned(),
        wrong: wrong.into(),
    }
}

/// A dataset that is read one page at a time.
pub struct DatasetReader {
    folder: PathBuf,
    /// The description of the dataset.
    pub manifest: Manifest,
}

impl DatasetReader {
    /// Opens a folder.
    pub fn open(folder: &Path) -> Result<Self, DatasetError> {
        Ok(Self { folder: folder.to_owned(), manifest: Manifest::read(folder)? })
    }

    /// Whether it has the texts of pages.
    pub fn has_states(&self) -> bool {
        self.folder.join(FRAGMENTS_FILE).exists()
    }

    /// Calls `each` with every page in their order; with their texts only if `states` is set.
    pub fn each(
        &self,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let mut pages = TableReader::open(&self.folder.join(PAGES_FILE), &PAGES, &[])?;
        let mut visits =
            RowsByPage::new(TableReader::open(&self.folder.join(VISITS_FILE), &VISITS, &[])?, |rows, row| {
                Ok(visit_row(rows, row, 1))
            });
        let mut fragments = if states && self.has_states() {
            let table = TableReader::open(&self.folder.join(FRAGMENTS_FILE), &FRAGMENTS, &[])?;
            Some(RowsByPage::new(table, |rows, row| Ok(state_row(rows, row, 1))))
        } else {
            None
        };
        let mut terms = if fragments.is_some() { open_terms(&self.folder)? } else { None };
        let mut signals = open_signals(&self.folder)?;
        let mut number = 0;
        while let Some(batch) = pages.next_batch()? {
            for row in 0..batch.rows() {
                let mut page = page_row(&batch, row, pages.path(), number as usize)?.page;
                page.visits = visits.of_page(number)?;
                if let Some(fragments) = &mut fragments {
                    page.states = fragments.of_page(number)?;
                }
                if let Some(terms) = &mut terms {
                    let words = terms.of_page(number)?;
                    give_words(&self.folder, number, &mut page.states, words)?;
                }
                if let Some(signals) = &mut signals {
                    page.signals = signals.of_page(number)?;
                }
                each(page)?;
                number += 1;
            }
        }
        visits.end()?;
        signals.as_mut().map_or(Ok(()), RowsByPage::end)?;
        fragments.as_mut().map_or(Ok(()), RowsByPage::end)?;
        terms.as_mut().map_or(Ok(()), RowsByPage::end)
    }
}
