//! Signals of pages in files: `signals.parquet` in a dataset's folder, and a file beside an export.
//!
//! A signal says that a page changed, and where that is known from ([`crate::signal`]). An export has the signals of its pages in
//! `FILE.signals.csv` or, where the export is Parquet, in `FILE.signals.parquet`: pages in the order of the export, signals of a
//! page in the order in which they were learnt. Both are read one page at a time.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::csv_cell::guarded;
use super::csv_table::CsvTable;
use super::disk::wrong_row;
use super::group::FARTHEST_MS;
use super::metadata::{FileNote, beside};
use super::page_record::PageRecord;
use super::parquet::{Column, ColumnKind, TableBatch, TableReader, TableWriter, Value};
use super::rows_by_page::RowsByPage;
use super::rows_to_pages::Wrong;
use super::{DatasetError, RecordedSignal};
use crate::signal::{Signal, SignalKind};
use crate::time::Timestamp;

/// The table of signals in the folder of a dataset.
pub(super) const SIGNALS_FILE: &str = "signals.parquet";

const KIND: Column = Column::new(
    "kind",
    ColumnKind::Text,
    "where it comes from: sitemap, feed, hub (a link on a hub page) or ping",
);
const DATE: Column = Column::or_null(
    "date_ms",
    ColumnKind::I64,
    "when the page changed, as the signal says, UTC milliseconds since 1970; null: it gives no date",
);
const LEARNT: Column =
    Column::new("learnt_ms", ColumnKind::I64, "when it became known, UTC milliseconds since 1970");

/// The columns of the table of a dataset.
const SIGNALS: [Column; 4] = [Column::new("page", ColumnKind::U32, "number of the page"), KIND, DATE, LEARNT];

/// The columns of the file beside an export.
const BESIDE: [Column; 5] = [
    Column::new("group", ColumnKind::Text, "the group of the page"),
    Column::new("url", ColumnKind::Text, "the page"),
    KIND,
    DATE,
    LEARNT,
];

impl RecordedSignal {
    /// A signal of a store.
    pub(super) fn of(signal: &Signal) -> Self {
        let Signal { kind, date, learnt_at, .. } = *signal;
        Self { kind, date, learnt_at }
    }

    /// A signal by the values of a row; the error names the column.
    fn read(kind: &str, date_ms: Option<i64>, learnt_ms: i64) -> Result<Self, (&'static str, String)> {
        let unknown =
            || (KIND.name, format!("`{kind}` is no kind of signals: it is sitemap, feed, hub or ping"));
        let kind = SignalKind::from_name(kind).ok_or_else(unknown)?;
        for (column, time_ms) in [(DATE.name, date_ms), (LEARNT.name, Some(learnt_ms))] {
            if time_ms.is_some_and(|time_ms| time_ms.unsigned_abs() > FARTHEST_MS.unsigned_abs()) {
                return Err((column, "this is no time in milliseconds since 1970".to_owned()));
            }
        }
        let date = date_ms.map(Timestamp::from_millis);
        Ok(Self { kind, date, learnt_at: Timestamp::from_millis(learnt_ms) })
    }

    fn values(&self) -> [Value<'static>; 3] {
        let date = Value::or_null(self.date, |date| Value::I64(date.millis()));
        [Value::Text(self.kind.name()), date, Value::I64(self.learnt_at.millis())]
    }
}

/// The signals of a dataset as they are written.
pub(super) struct SignalsWriter(TableWriter);

impl SignalsWriter {
    /// Begins the table in the folder of a dataset.
    pub(super) fn create(folder: &Path) -> Result<Self, DatasetError> {
        Ok(Self(TableWriter::create(&folder.join(SIGNALS_FILE), &SIGNALS)?))
    }

    /// Adds the signals of a page.
    pub(super) fn page(&mut self, page: u32, signals: &[RecordedSignal]) -> Result<(), DatasetError> {
        signals.iter().try_for_each(|signal| {
            let [kind, date, learnt] = signal.values();
            self.0.push(&[Value::U32(page), kind, date, learnt])
        })
    }

    pub(super) fn finish(self) -> Result<(), DatasetError> {
        self.0.finish()
    }
}

/// Opens the signals of a dataset, if it has some.
pub(super) fn open_signals(folder: &Path) -> Result<Option<RowsByPage<RecordedSignal>>, DatasetError> {
    let path = folder.join(SIGNALS_FILE);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(RowsByPage::new(TableReader::open(&path, &SIGNALS, &[])?, |rows, row| signal_row(rows, row, 1))))
}

/// A signal whose columns start at `from`.
fn signal_row(rows: &TableBatch, row: usize, from: usize) -> Result<RecordedSignal, (&'static str, String)> {
    let (kind, date) = (rows.text(from, row).unwrap_or_default(), rows.i64(from + 1, row));
    RecordedSignal::read(kind, date, rows.i64(from + 2, row).unwrap_or_default())
}

/// The encoding of signals beside an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalsBeside {
    /// The format has no room for them.
    None,
    Csv,
    Parquet,
}

impl SignalsBeside {
    fn suffix(self) -> &'static str {
        if self == Self::Parquet { ".signals.parquet" } else { ".signals.csv" }
    }

    /// The description of the file.
    pub(super) fn note(self) -> FileNote {
        let about =
            "Signals: hints from outside a page that it changed. A row a signal, pages in the order of FILE.";
        FileNote { suffix: self.suffix().to_owned(), ..FileNote::of_table(about, &BESIDE) }
    }
}

/// The file of signals beside an export, which is made with the first signal.
pub(super) struct SignalsBesideWriter {
    path: PathBuf,
    encoding: SignalsBeside,
    out: Option<BesideOut>,
}

enum BesideOut {
    Csv(csv::Writer<BufWriter<File>>),
    Parquet(TableWriter),
}

impl SignalsBesideWriter {
    pub(super) fn new(main: &Path, encoding: SignalsBeside) -> Self {
        Self { path: beside(main, encoding.suffix()), encoding, out: None }
    }

    /// Adds the signals of a page. Gives the number that there is no room for.
    pub(super) fn page(&mut self, page: &PageRecord) -> Result<u64, DatasetError> {
        if page.signals.is_empty() || self.encoding == SignalsBeside::None {
            return Ok(page.signals.len() as u64);
        }
        let unwritten =
            |error: csv::Error| DatasetError::of_file(&self.path, format!("can't be written: {error}"));
        let out = match &mut self.out {
            Some(out) => out,
            none if self.encoding == SignalsBeside::Parquet => {
                none.insert(BesideOut::Parquet(TableWriter::create(&self.path, &BESIDE)?))
            }
            none => {
                let file = File::create(&self.path).map_err(DatasetError::write(&self.path))?;
                let mut rows = csv::Writer::from_writer(BufWriter::new(file));
                rows.write_record(BESIDE.map(|column| column.name)).map_err(unwritten)?;
                none.insert(BesideOut::Csv(rows))
            }
        };
        for signal in &page.signals {
            match out {
                BesideOut::Parquet(table) => {
                    let [kind, date, learnt] = signal.values();
                    table.push(&[Value::Text(&page.group), Value::Text(&page.url), kind, date, learnt])?;
                }
                BesideOut::Csv(rows) => {
                    let date = signal.date.map_or_else(String::new, |date| date.millis().to_string());
                    let learnt = signal.learnt_at.millis().to_string();
                    let (group, url) = (guarded(&page.group), guarded(&page.url));
                    rows.write_record([&*group, &*url, signal.kind.name(), &date, &learnt])
                        .map_err(unwritten)?;
                }
            }
        }
        Ok(0)
    }

    /// Is there a file?
    pub(super) fn finish(self) -> Result<bool, DatasetError> {
        match self.out {
            None => return Ok(false),
            Some(BesideOut::Parquet(table)) => table.finish()?,
            Some(BesideOut::Csv(mut rows)) => rows.flush().map_err(DatasetError::write(&self.path))?,
        }
        Ok(true)
    }
}

/// The signals beside a file that is imported. Pages are asked for in their order.
pub(super) struct SignalsBesideReader {
    path: PathBuf,
    rows: BesideRows,
    /// The next row.
    next: Option<BesideRow>,
}

enum BesideRows {
    Csv(CsvTable),
    Parquet { table: TableReader, batch: Option<TableBatch>, row: usize },
}

/// A signal with the group and the URL of its page.
struct BesideRow {
    group: String,
    url: String,
    signal: RecordedSignal,
}

impl SignalsBesideReader {
    /// Opens the signals beside a file, if it has some. Where there is metadata, it says so: signals that an earlier export left
    /// under this name are not read.
    pub(super) fn open(
        main: &Path,
        encoding: SignalsBeside,
        listed: Option<&[FileNote]>,
    ) -> Result<Option<Self>, DatasetError> {
        let path = beside(main, encoding.suffix());
        let is_listed = |files: &[FileNote]| files.iter().any(|file| file.suffix == encoding.suffix());
        if encoding == SignalsBeside::None || !listed.map_or_else(|| path.exists(), is_listed) {
            return Ok(None);
        }
        let rows = if encoding == SignalsBeside::Parquet {
            BesideRows::Parquet { table: TableReader::open(&path, &BESIDE, &[])?, batch: None, row: 0 }
        } else {
            BesideRows::Csv(CsvTable::open(&path, &BESIDE.map(|column| column.name))?)
        };
        let mut reader = Self { path, rows, next: None };
        reader.advance()?;
        Ok(Some(reader))
    }

    /// The signals of the next page.
    pub(super) fn of_page(&mut self, group: &str, url: &str) -> Result<Vec<RecordedSignal>, DatasetError> {
        let mut found: Vec<RecordedSignal> = Vec::new();
        while let Some(row) = self.next.take_if(|row| row.group == group && row.url == url) {
            if found.last().is_some_and(|last| last.learnt_at > row.signal.learnt_at) {
                let wrong = format!("the signals of `{url}` are not in the order of `{}`", LEARNT.name);
                return Err(DatasetError::of_file(&self.path, wrong));
            }
            found.push(row.signal);
            self.advance()?;
        }
        Ok(found)
    }

    /// After the last page: are there no signals left?
    pub(super) fn end(self) -> Result<(), DatasetError> {
        match self.next {
            Some(row) => {
                let wrong =
                    format!("has signals of `{}`, which is no page, or not in the order of pages", row.url);
                Err(DatasetError::of_file(&self.path, wrong))
            }
            None => Ok(()),
        }
    }

    fn advance(&mut self) -> Result<(), DatasetError> {
        self.next = match &mut self.rows {
            BesideRows::Csv(table) => csv_row(table)?,
            BesideRows::Parquet { table, batch, row } => parquet_row(table, batch, row)?,
        };
        Ok(())
    }
}

fn csv_row(table: &mut CsvTable) -> Result<Option<BesideRow>, DatasetError> {
    if !table.next_row()? {
        return Ok(None);
    }
    let wrong: Wrong<'_> = &|column, said| table.wrong(column, said);
    let number = |column: &str| {
        let parsed = table.text(column).map(|text| text.parse::<i64>().map_err(|_| text));
        parsed
            .transpose()
            .map_err(|text| wrong(column, format!("`{text}` is no time in milliseconds since 1970")))
    };
    let text = |column: &str| table.text(column).unwrap_or_default().to_owned();
    let learnt = number(LEARNT.name)?.ok_or_else(|| wrong(LEARNT.name, "it is missing".to_owned()))?;
    let signal = RecordedSignal::read(&text(KIND.name), number(DATE.name)?, learnt);
    let signal = signal.map_err(|(column, said)| wrong(column, said))?;
    Ok(Some(BesideRow { group: text("group"), url: text("url"), signal }))
}

fn parquet_row(
    table: &mut TableReader,
    batch: &mut Option<TableBatch>,
    row: &mut usize,
) -> Result<Option<BesideRow>, DatasetError> {
    while batch.as_ref().is_none_or(|rows| *row >= rows.rows()) {
        (*batch, *row) = (table.next_batch()?, 0);
        if batch.is_none() {
            return Ok(None);
        }
    }
    let Some(rows) = batch else { return Ok(None) };
    let at = *row;
    *row += 1;
    let text = |column| rows.text(column, at).unwrap_or_default().to_owned();
    let wrong = |(column, said)| wrong_row(table.path(), rows.first_row + at as u64, column, said);
    Ok(Some(BesideRow { group: text(0), url: text(1), signal: signal_row(rows, at, 2).map_err(wrong)? }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::Dataset;
    use super::super::disk::DatasetReader;
    use super::super::export::{ExportOptions, ExportTo, Source, export};
    use super::super::format::Format;
    use super::super::import::{ImportOptions, import};
    use super::super::tests::{dataset, group, two_pages};
    use super::*;

    fn signal(kind: SignalKind, date: Option<i64>, learnt: i64) -> RecordedSignal {
        let date = date.map(Timestamp::from_millis);
        RecordedSignal { kind, date, learnt_at: Timestamp::from_millis(learnt) }
    }

    fn pages() -> Vec<PageRecord> {
        let mut pages = two_pages();
        pages[1].signals = vec![
            signal(SignalKind::Sitemap, Some(5), 7),
            signal(SignalKind::Ping, None, 7),
            signal(SignalKind::Feed, Some(9), 8),
        ];
        pages
    }

    fn exported(folder: &TempDir, format: &str) -> (PathBuf, u64) {
        let (from, out) = (folder.path().join("d"), folder.path().join(format));
        if !from.exists() {
            dataset(&from, &[group("g", 4)], &pages());
        }
        let format = Format::named(format).expect("a format");
        let mut source = Source::Dataset(Box::new(DatasetReader::open(&from).expect("a dataset")));
        let options = ExportOptions::default();
        let done =
            export(&mut source, format, ExportTo::File(&out), &options, &mut |_, _| ()).expect("a file");
        (out, done.left_out.signals)
    }

    fn imported(from: &Path, format: &str) -> Result<Vec<RecordedSignal>, String> {
        let to = TempDir::new().expect("a folder");
        let (out, format) = (to.path().join("d"), Format::named(format).expect("a format"));
        import(from, format, &out, &ImportOptions::default(), &mut |_, _| ())
            .map_err(|error| error.to_string())?;
        let loaded = Dataset::load(&out).map_err(|error| error.to_string())?;
        assert_eq!(loaded.groups[0].pages[0].signals, []);
        Ok(loaded.groups[0].pages[1].signals.clone())
    }

    #[test]
    fn signals_go_from_a_dataset_through_a_file_into_another() {
        let folder = TempDir::new().expect("a folder");
        for (format, beside) in [
            ("observations-csv", ".signals.csv"),
            ("observations-jsonl", ".signals.csv"),
            ("observations-parquet", ".signals.parquet"),
            ("fragments", ".signals.parquet"),
        ] {
            let (out, left_out) = exported(&folder, format);
            assert_eq!((left_out, super::beside(&out, beside).exists()), (0, true), "{format}");
            assert_eq!(imported(&out, format), Ok(pages()[1].signals.clone()), "{format}");
        }
        let csv = fs::read_to_string(folder.path().join("observations-csv.signals.csv")).expect("a file");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "group,url,kind,date_ms,learnt_ms");
        assert!(lines[1].ends_with(",sitemap,5,7") && lines[2].ends_with(",ping,,7"), "{csv}");
        assert_eq!(exported(&folder, "rates").1, 3, "no room for them, and that is said");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let folder = TempDir::new().expect("a folder");
        let (out, _) = exported(&folder, "observations-csv");
        let beside = super::beside(&out, ".signals.csv");
        let good = fs::read_to_string(&beside).expect("a file");
        let said = |text: &str| {
            fs::write(&beside, text).expect("a file");
            imported(&out, "observations-csv").expect_err(text)
        };
        assert!(
            said(&good.replace("ping", "rumour"))
                .contains(".signals.csv:3:3: `rumour` is no kind of signals")
        );
        assert!(said(&good.replace(",,7", ",soon,7")).contains(":3:4: `soon` is no time in milliseconds"));
        assert!(said(&good.replace(",9,8", ",9,")).contains(":4:5: it is missing"));
        assert!(said(&good.replace(",9,8", ",9,3")).contains("are not in the order of `learnt_ms`"));
        assert!(
            said(&good.replacen("g,", "other,", 2))
                .contains("which is no page, or not in the order of pages")
        );
        // Without metadata the file is read because it is there; with it because it is listed.
        fs::write(&beside, &good).expect("a file");
        fs::remove_file(super::beside(&out, ".meta.json")).expect("metadata");
        assert_eq!(imported(&out, "observations-csv").map(|signals| signals.len()), Ok(3));
        dataset(&folder.path().join("e"), &[group("g", 4)], &two_pages());
        let mut source =
            Source::Dataset(Box::new(DatasetReader::open(&folder.path().join("e")).expect("a dataset")));
        let (format, options) =
            (Format::named("observations-csv").expect("a format"), ExportOptions::default());
        export(&mut source, format, ExportTo::File(&out), &options, &mut |_, _| ()).expect("a file");
        assert!(beside.exists());
        assert_eq!(imported(&out, "observations-csv"), Ok(Vec::new()), "left by an earlier export");
    }
}
