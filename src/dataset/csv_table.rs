//! A CSV file with a header: rows by the names of their columns. Mistakes are reported with file, line and column.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use csv::{ErrorKind, StringRecord, Trim};

use super::DatasetError;
use super::csv_cell::unguarded;

/// A table that is read row by row.
pub struct CsvTable {
    path: PathBuf,
    rows: csv::Reader<Box<dyn Read>>,
    heads: StringRecord,
    row: StringRecord,
    needs_rows: bool,
}

impl CsvTable {
    /// A file that a program wrote: fields are taken as they are, and a file without rows is a mistake. The columns that
    /// are required may stand in any order, among others.
    pub(super) fn open(path: &Path, required: &[&str]) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let table = Self::read(path, Box::new(BufReader::new(file)), Trim::Headers, required)?;
        Ok(Self { needs_rows: true, ..table })
    }

    /// A file that a person may have written, or standard input for `-`: blanks around fields don't count, and there may be
    /// no rows.
    pub fn open_input(path: &Path, required: &[&str]) -> Result<Self, DatasetError> {
        if path == Path::new("-") {
            let input = Box::new(std::io::stdin().lock());
            return Self::read(Path::new("standard input"), input, Trim::All, required);
        }
        let file = File::open(path).map_err(DatasetError::read(path))?;
        Self::read(path, Box::new(BufReader::new(file)), Trim::All, required)
    }

    fn read(path: &Path, input: Box<dyn Read>, trim: Trim, required: &[&str]) -> Result<Self, DatasetError> {
        let mut rows = csv::ReaderBuilder::new().trim(trim).from_reader(input);
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
        Ok(Self { path: path.to_owned(), rows, heads, row: StringRecord::new(), needs_rows: false })
    }

    /// Goes on to the next row; false: there is none.
    pub fn next_row(&mut self) -> Result<bool, DatasetError> {
        let is_first = self.row.position().is_none();
        let found = self.rows.read_record(&mut self.row).map_err(|error| unreadable(&self.path, error))?;
        if !found && is_first && self.needs_rows {
            return Err(DatasetError::at(&self.path, 2, 1, "the file has a header and no rows"));
        }
        Ok(found)
    }

    /// The text of a column in this row; `None` if it is empty.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.row.get(self.place(column)?).map(unguarded).filter(|text| !text.is_empty())
    }

    /// The text of a column in this row, which must not be empty.
    pub fn name(&self, column: &str) -> Result<&str, DatasetError> {
        self.text(column).ok_or_else(|| self.wrong(column, format!("{column} is empty")))
    }

    /// The number of a column in this row, if it is finite and passes `allowed`; `rule` says what is wrong with others.
    pub fn number(
        &self,
        column: &str,
        rule: &str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<f64, DatasetError> {
        let text = self.text(column).unwrap_or_default();
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && allowed(*number));
        number.ok_or_else(|| self.wrong(column, format!("{column} `{text}` {rule}")))
    }

    /// A mistake in a column of this row.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &'static [u8]) -> Result<Vec<(String, f64)>, String> {
        let read = || {
            let required = ["page", "rate"];
            let mut table = CsvTable::read(Path::new("some.csv"), Box::new(text), Trim::All, &required)?;
            let mut found = Vec::new();
            while table.next_row()? {
                let rate = table.number("rate", "is below 0", |rate| rate >= 0.0)?;
                found.push((table.name("page")?.to_owned(), rate));
            }
            Ok::<_, DatasetError>(found)
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn rows_are_read_by_the_names_of_their_columns() {
        let found = read_all(b"\xef\xbb\xbfrate, note ,page\n1.5,\"a, b\",x\n 2 ,,\"y\ny\"\n").expect("rows");
        assert_eq!(found, [("x".to_owned(), 1.5), ("y\ny".to_owned(), 2.0)]);
        assert_eq!(read_all(b"page,rate\n"), Ok(Vec::new()));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, place) in [
            (&b""[..], "some.csv:1:1: the file is empty"),
            (b"page\nx\n", "some.csv:1:1: there is no column `rate`"),
            (b"page,rate\nx,1\ny,-1\n", "some.csv:3:2: rate `-1` is below 0"),
            (b"page,rate\nx,inf\n", "some.csv:2:2: rate `inf`"),
            (b"page,rate\nx,NaN\n", "some.csv:2:2: rate `NaN`"),
            (b"page,rate\n,1\n", "some.csv:2:1: page is empty"),
            (b"page,rate\nx,1\ny\n", "some.csv:3:2: there are 1 fields; the first line has 2"),
            (b"page,rate\n\xff,1\n", "some.csv:2:1: this is not UTF-8"),
        ] {
            let error = read_all(text).expect_err("a mistake");
            assert!(error.starts_with(place), "{error}, not {place}");
        }
    }
}
