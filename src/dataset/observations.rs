//! `observations`: every visit with everything known about it, as CSV, JSON lines or Parquet.
//!
//! The rows of a page stand together, in the order of time. Files of other programs need only `url`, `time_ms` and
//! `changed`; a value that is missing or empty is unknown.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::DatasetError;
use super::csv_cell::guarded;
use super::csv_table::CsvTable;
use super::disk::{ALIAS_OF, LATER_COLUMNS, VISITS, later_values, visit_row_in_two, visit_values, wrong_row};
use super::fields::site_of;
use super::fields::{check_weight, parse_time};
use super::format::EachRecord;
use super::group::GroupInfo;
use super::import::ImportedFile;
use super::metadata::FileNote;
use super::page_record::{PageRecord, VisitLine};
use super::parquet::{Column, ColumnKind, TableReader, TableWriter, Value};
use super::rows_to_pages::{RowOwner, RowsToPages, TakePage, check_divergence, check_order};
use super::text_lines::TextLines;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Csv,
    JsonLines,
    Parquet,
}

pub(super) const WHOSE: [Column; 4] = [
    Column::new("group", ColumnKind::Text, "the group it was watched with"),
    Column::new("site", ColumnKind::Text, "its site"),
    Column::new("url", ColumnKind::Text, "its URL, or whatever names it"),
    Column::new("weight", ColumnKind::F64, "importance; 1: an ordinary page"),
];

/// The place of `alias_of`. What was added after it comes after it.
const ALIAS_PLACE: usize = WHOSE.len() + VISITS.len() - 1 - LATER_COLUMNS;

pub(super) fn columns() -> Vec<Column> {
    let mut columns: Vec<Column> = WHOSE.iter().chain(VISITS.iter().skip(1)).copied().collect();
    columns.insert(ALIAS_PLACE, ALIAS_OF);
    columns
}

/// The part of a page that the format holds: everything but its texts.
pub(super) fn kept(page: &PageRecord, _: &GroupInfo) -> Option<PageRecord> {
    let (visits, alias_of) = (page.visits.clone(), page.alias_of.clone());
    let kept = PageRecord::new(&page.group, &page.site, &page.url, page.weight);
    (!visits.is_empty()).then_some(PageRecord { visits, alias_of, ..kept })
}

/// A row of CSV or JSON.
#[derive(Serialize, Deserialize)]
struct ObservationRow {
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    site: Option<String>,
    url: String,
    #[serde(default)]
    weight: Option<f64>,
    #[serde(default)]
    cycle: Option<u32>,
    time_ms: i64,
    changed: Option<bool>,
    #[serde(default)]
    divergence: Option<f64>,
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    status: Option<u32>,
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default)]
    took_ms: Option<u64>,
    #[serde(default)]
    alias_of: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
    #[serde(default)]
    redirect_to: Option<String>,
    #[serde(default)]
    last_modified_ms: Option<i64>,
    #[serde(default)]
    reason: Option<String>,
}

impl ObservationRow {
    fn of(page: &PageRecord, visit: VisitLine) -> Self {
        let VisitLine {
            cycle,
            time_ms,
            changed,
            divergence,
            outcome,
            status,
            bytes,
            took_ms,
            content_type,
            redirect_to,
            last_modified_ms,
            reason,
        } = visit;
        Self {
            group: Some(page.group.clone()),
            site: Some(page.site.clone()),
            url: page.url.clone(),
            weight: Some(page.weight),
            cycle,
            time_ms,
            changed,
            divergence,
            outcome,
            status,
            bytes,
            took_ms,
            alias_of: page.alias_of.clone(),
            content_type,
            redirect_to,
            last_modified_ms,
            reason,
        }
    }

    fn cells(&self) -> [String; 13 + LATER_COLUMNS] {
        fn cell<T: ToString>(value: Option<T>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        [
            cell(self.group.as_ref()),
            cell(self.site.as_ref()),
            self.url.clone(),
            cell(self.weight),
            cell(self.cycle),
            self.time_ms.to_string(),
            cell(self.changed.map(u8::from)),
            cell(self.divergence),
            cell(self.outcome.as_ref()),
            cell(self.status),
            cell(self.bytes),
            cell(self.took_ms),
            cell(self.alias_of.as_ref()),
            cell(self.content_type.as_ref()),
            cell(self.redirect_to.as_ref()),
            cell(self.last_modified_ms),
            cell(self.reason.as_ref()),
        ]
    }
}

/// Writes all pages in this encoding.
pub(super) fn write(path: &Path, encoding: Encoding, each: EachRecord<'_>) -> Result<(), DatasetError> {
    let mut writer = ObservationsWriter::create(path, encoding)?;
    each(&mut |page, _| writer.page(page))?;
    writer.finish()
}

struct ObservationsWriter {
    path: PathBuf,
    out: ObservationsOut,
}

enum ObservationsOut {
    Csv(csv::Writer<BufWriter<File>>),
    Json(BufWriter<File>),
    Parquet(TableWriter),
}

impl ObservationsWriter {
    fn create(path: &Path, encoding: Encoding) -> Result<Self, DatasetError> {
        let file = || File::create(path).map(BufWriter::new).map_err(DatasetError::write(path));
        let out = match encoding {
            Encoding::Csv => {
                let mut rows = csv::Writer::from_writer(file()?);
                let heads: Vec<&str> = columns().iter().map(|column| column.name).collect();
                rows.write_record(heads).map_err(|error| unwritten(path, error))?;
                ObservationsOut::Csv(rows)
            }
            Encoding::JsonLines => ObservationsOut::Json(file()?),
            Encoding::Parquet => ObservationsOut::Parquet(TableWriter::create(path, &columns())?),
        };
        Ok(Self { path: path.to_owned(), out })
    }

    /// A page as [`kept`] made it.
    fn page(&mut self, page: &PageRecord) -> Result<(), DatasetError> {
        let failed = DatasetError::write(&self.path);
        match &mut self.out {
            ObservationsOut::Csv(rows) => {
                for visit in &page.visits {
                    let cells = ObservationRow::of(page, visit.clone()).cells();
                    rows.write_record(cells.iter().map(|cell| guarded(cell).into_owned()))
                        .map_err(|error| unwritten(&self.path, error))?;
                }
            }
            ObservationsOut::Json(lines) => {
                let write = |visit: &VisitLine, lines: &mut BufWriter<File>| {
                    serde_json::to_writer(&mut *lines, &ObservationRow::of(page, visit.clone()))?;
                    lines.write_all(b"\n")
                };
                page.visits.iter().try_for_each(|visit| write(visit, lines)).map_err(failed)?;
            }
            ObservationsOut::Parquet(table) => {
                for visit in &page.visits {
                    let mut row = whose_values(page).to_vec();
                    row.extend(visit_values(visit));
                    row.push(Value::or_null(page.alias_of.as_deref(), Value::Text));
                    row.extend(later_values(visit));
                    table.push(&row)?;
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), DatasetError> {
        match self.out {
            ObservationsOut::Csv(mut rows) => rows.flush().map_err(DatasetError::write(&self.path)),
            ObservationsOut::Json(mut lines) => lines.flush().map_err(DatasetError::write(&self.path)),
            ObservationsOut::Parquet(table) => table.finish(),
        }
    }
}

pub(super) fn whose_values(page: &PageRecord) -> [Value<'_>; 4] {
    [Value::Text(&page.group), Value::Text(&page.site), Value::Text(&page.url), Value::F64(page.weight)]
}

fn unwritten(path: &Path, error: csv::Error) -> DatasetError {
    DatasetError::of_file(path, format!("can't be written: {error}"))
}

/// The files of an export.
pub(super) fn files(encoding: Encoding) -> Vec<FileNote> {
    let about = match encoding {
        Encoding::Csv => "CSV with a header, a row a visit; an empty cell is null; `changed` is 0 or 1.",
        Encoding::JsonLines => "A JSON object a line, a line a visit.",
        Encoding::Parquet => "Parquet, a row a visit.",
    };
    vec![FileNote::of_table(about, &columns())]
}

/// The format of a file of observations, by its first bytes.
pub(super) fn sniff(path: &Path) -> Result<&'static str, DatasetError> {
    let mut first = [0; 4];
    let mut file = File::open(path).map_err(DatasetError::read(path))?;
    let read = file.read(&mut first).map_err(DatasetError::read(path))?;
    Ok(match first.get(..read).unwrap_or_default() {
        b"PAR1" => "observations-parquet",
        [b'{', ..] => "observations-jsonl",
        _ => "observations-csv",
    })
}

/// Reads the pages of a file.
pub(super) fn read(
    from: &ImportedFile<'_>,
    encoding: Encoding,
    take: TakePage<'_>,
) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
    let mut pages = RowsToPages::new(take);
    match encoding {
        Encoding::Csv => read_csv(from, &mut pages)?,
        Encoding::JsonLines => read_json(from, &mut pages)?,
        Encoding::Parquet => read_parquet(from, &mut pages)?,
    }
    pages.finish()?;
    Ok(None)
}

fn add(
    pages: &mut RowsToPages<'_>,
    of: RowOwner<'_>,
    visit: VisitLine,
    wrong: &dyn Fn(&str, String) -> DatasetError,
) -> Result<(), DatasetError> {
    let page = pages.page(of, wrong)?;
    check_order(page.visits.last().map(|last| last.time_ms), visit.time_ms, wrong)?;
    check_divergence(visit.divergence, wrong)?;
    page.visits.push(visit);
    Ok(())
}

fn read_csv(from: &ImportedFile<'_>, pages: &mut RowsToPages<'_>) -> Result<(), DatasetError> {
    let mut table = CsvTable::open(from.path, &["url", "time_ms", "changed"])?;
    while table.next_row()? {
        let wrong = |column: &str, said: String| table.wrong(column, said);
        let text = |column: &str| table.text(column).map(str::to_owned);
        let url = table.text("url").unwrap_or_default();
        let group = table.text("group").unwrap_or(from.name);
        let host = if table.text("site").is_none() { site_of(url) } else { None };
        let site = table.text("site").or(host.as_deref()).unwrap_or(group);
        let weight =
            table.text("weight").map_or(Ok(1.0), check_weight).map_err(|said| wrong("weight", said))?;
        let time = table.text("time_ms").unwrap_or_default();
        let time_ms = parse_time(time)
            .ok_or_else(|| wrong("time_ms", format!("`{time}` is no time in milliseconds since 1970")))?;
        let changed = match table.text("changed") {
            None => None,
            Some("0" | "false") => Some(false),
            Some("1" | "true") => Some(true),
            Some(other) => return Err(wrong("changed", format!("`{other}` is neither 0 nor 1 nor empty"))),
        };
        let visit = VisitLine {
            cycle: number(&table, "cycle")?,
            time_ms,
            changed,
            divergence: number(&table, "divergence")?,
            outcome: text("outcome"),
            status: number(&table, "status")?,
            bytes: number(&table, "bytes")?,
            took_ms: number(&table, "took_ms")?,
            content_type: text("content_type"),
            redirect_to: text("redirect_to"),
            last_modified_ms: number(&table, "last_modified_ms")?,
            reason: text("reason"),
        };
        let alias_of = table.text("alias_of");
        add(pages, RowOwner { group, site, url, weight, alias_of }, visit, &wrong)?;
    }
    Ok(())
}

fn number<T: std::str::FromStr>(table: &CsvTable, column: &str) -> Result<Option<T>, DatasetError> {
    let wrong = |text: &str| table.wrong(column, format!("`{text}` is no number that {column} can have"));
    table.text(column).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

fn read_json(from: &ImportedFile<'_>, pages: &mut RowsToPages<'_>) -> Result<(), DatasetError> {
    let mut lines = TextLines::open(from.path)?;
    while let Some((number, line)) = lines.next_line()? {
        let wrong = |_: &str, said: String| DatasetError::at(from.path, number, 1, said);
        let row: ObservationRow =
            serde_json::from_str(line).map_err(|error| DatasetError::json(from.path, number, &error))?;
        let group = row.group.as_deref().unwrap_or(from.name);
        let host = if row.site.is_none() { site_of(&row.url) } else { None };
        let site = row.site.as_deref().or(host.as_deref()).unwrap_or(group);
        let (weight, alias_of) = (row.weight.unwrap_or(1.0), row.alias_of.as_deref());
        let of = RowOwner { group, site, url: &row.url, weight, alias_of };
        let visit = VisitLine {
            cycle: row.cycle,
            time_ms: row.time_ms,
            changed: row.changed,
            divergence: row.divergence,
            outcome: row.outcome,
            status: row.status,
            bytes: row.bytes,
            took_ms: row.took_ms,
            content_type: row.content_type,
            redirect_to: row.redirect_to,
            last_modified_ms: row.last_modified_ms,
            reason: row.reason,
        };
        add(pages, of, visit, &wrong)?;
    }
    Ok(())
}

fn read_parquet(from: &ImportedFile<'_>, pages: &mut RowsToPages<'_>) -> Result<(), DatasetError> {
    let mut table = TableReader::open(from.path, &columns(), &[])?;
    while let Some(batch) = table.next_batch()? {
        for row in 0..batch.rows() {
            let wrong =
                |column: &str, said: String| wrong_row(from.path, batch.first_row + row as u64, column, said);
            let text = |column| batch.text(column, row).unwrap_or_default();
            let weight = batch.f64(3, row).unwrap_or(1.0);
            let alias_of = batch.text(ALIAS_PLACE, row);
            let of = RowOwner { group: text(0), site: text(1), url: text(2), weight, alias_of };
            add(pages, of, visit_row_in_two(&batch, row, WHOSE.len(), ALIAS_PLACE + 1), &wrong)?;
        }
    }
    Ok(())
}
