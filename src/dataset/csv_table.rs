//! A CSV file with a header: rows by the names of their columns; what is wrong is told with its place.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, StringRecord, Trim};

use super::DatasetError;

/// A table that is read row by row.
pub struct CsvTable {
    path: PathBuf,
    rows: csv::Reader<BufReader<File>>,
    heads: StringRecord,
    row: StringRecord,
}

impl CsvTable {
    /// The columns that are required may stand in any order, among others.
    pub fn open(path: &Path, required: &[&str]) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let mut rows = csv::ReaderBuilder::new().trim(Trim::Headers).from_reader(BufReader::new(file));
        let heads = rows.headers().map_err(|error| unreadable(path, error))?.clone();
        if heads.is_empty() {
            let said =
                format!("the file is empty; the first line must name the columns {}", required.join(", "));
            return Err(DatasetError::at(path, 1, 1, said));
        }
        for column in required {
            if !heads.iter().any(|head| head == *column) {
                let said = format!("there is no column `{column}`; there must be {}", required.join(", "));
                return Err(DatasetError::at(path, 1, heads.len(), said));
            }
        }
        Ok(Self { path: path.to_owned(), rows, heads, row: StringRecord::new() })
    }

    /// Goes on to the next row; false: there is none. A table without rows is a mistake.
    pub fn next_row(&mut self) -> Result<bool, DatasetError> {
        let is_first = self.row.position().is_none();
        let found = self.rows.read_record(&mut self.row).map_err(|error| unreadable(&self.path, error))?;
        if !found && is_first {
            return Err(DatasetError::at(&self.path, 2, 1, "the file has a header and no rows"));
        }
        Ok(found)
    }

    /// What the row has in that column; `None` if nothing.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.row.get(self.place(column)?).filter(|text| !text.is_empty())
    }

    pub fn wrong(&self, column: &str, said: impl Into<String>) -> DatasetError {
        let line = self.row.position().map_or(1, csv::Position::line);
        DatasetError::at(&self.path, line, self.place(column).unwrap_or(0) + 1, said)
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.heads.iter().position(|head| head == column)
    }
}

fn unreadable(path: &Path, error: csv::Error) -> DatasetError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let column = len.min(expected_len) as usize + 1;
            let said = format!("there are {len} fields; the first line has {expected_len}");
            DatasetError::at(path, line, column, said)
        }
        ErrorKind::Utf8 { err, .. } => {
            DatasetError::at(path, line, err.field() + 1, "this is not UTF-8; save the file as UTF-8")
        }
        ErrorKind::Io(error) => DatasetError::read(path)(error),
        other => DatasetError::at(path, line, 1, format!("this is not CSV: {other:?}")),
    }
}
