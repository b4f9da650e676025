//! Rows of a CSV file, read strictly: what can't be used is told with file, line and column.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use csv::{ErrorKind, StringRecord, Trim};

/// One row, and where it is.
pub struct Row<'a> {
    file: &'a str,
    line: u64,
    record: &'a StringRecord,
    columns: &'a [(&'static str, usize)],
}

impl Row<'_> {
    /// A column's text; it must not be empty.
    pub fn text(&self, column: &'static str) -> anyhow::Result<&str> {
        match self.field(column) {
            "" => Err(self.wrong(column, "is empty")),
            text => Ok(text),
        }
    }

    /// A column's number, if it is finite and passes `allowed`; `rule` says which ones do.
    pub fn number(
        &self,
        column: &'static str,
        rule: &str,
        allowed: impl Fn(f64) -> bool,
    ) -> anyhow::Result<f64> {
        let number =
            self.field(column).parse().ok().filter(|number: &f64| number.is_finite() && allowed(*number));
        number.ok_or_else(|| self.wrong(column, rule))
    }

    fn field(&self, column: &str) -> &str {
        let at = self.columns.iter().find(|(name, _)| *name == column).map(|(_, at)| *at);
        at.and_then(|at| self.record.get(at)).unwrap_or("")
    }

    fn wrong(&self, column: &'static str, rule: &str) -> anyhow::Error {
        let at = self.columns.iter().find(|(name, _)| *name == column).map_or(0, |(_, at)| at + 1);
        let Self { file, line, .. } = self;
        anyhow!("{file}:{line}:{at}: {column} `{}` {rule}", self.field(column))
    }
}

/// Calls `each` with every row of the file that has these columns, in the order of the file; `-` is standard input.
/// Other columns are passed over.
pub fn read(
    path: &Path,
    columns: &[&'static str],
    each: impl FnMut(&Row<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.display().to_string();
    if name == "-" {
        return read_from(std::io::stdin().lock(), "standard input", columns, each);
    }
    let file = File::open(path).with_context(|| format!("`{name}` could not be opened"))?;
    read_from(file, &name, columns, each)
}

fn read_from(
    input: impl Read,
    file: &str,
    columns: &[&'static str],
    mut each: impl FnMut(&Row<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut rows = csv::ReaderBuilder::new().trim(Trim::All).from_reader(input);
    let heads = rows.headers().map_err(|error| unreadable(file, error))?.clone();
    let mut places = Vec::new();
    for column in columns {
        let Some(at) = heads.iter().position(|head| head == *column) else {
            bail!("{file}:1: there is no column `{column}`; the first line must be `{}`", columns.join(","));
        };
        places.push((*column, at));
    }
    let mut record = StringRecord::new();
    while rows.read_record(&mut record).map_err(|error| unreadable(file, error))? {
        let line = record.position().map_or(0, csv::Position::line);
        each(&Row { file, line, record: &record, columns: &places })?;
    }
    Ok(())
}

/// An error of the reader, in our words.
fn unreadable(file: &str, error: csv::Error) -> anyhow::Error {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let last = len.min(expected_len) + 1;
            anyhow!("{file}:{line}:{last}: there are {len} fields; the first line has {expected_len}")
        }
        ErrorKind::Utf8 { err, .. } => {
            anyhow!("{file}:{line}:{}: this is not UTF-8; save the file as UTF-8", err.field() + 1)
        }
        ErrorKind::Io(error) => anyhow::Error::new(error).context(format!("`{file}` could not be read")),
        other => anyhow!("{file}:{line}: this is not CSV: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8]) -> Result<Vec<(String, f64)>, String> {
        let mut found = Vec::new();
        read_from(text, "some.csv", &["page", "rate"], |row| {
            let rate = row.number("rate", "is below 0", |rate| rate >= 0.0)?;
            found.push((row.text("page")?.to_owned(), rate));
            Ok(())
        })
        .map(|()| found)
        .map_err(|error| format!("{error:#}"))
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
            (&b""[..], "some.csv:1: there is no column `page`"),
            (b"page\nx\n", "some.csv:1: there is no column `rate`"),
            (b"page,rate\nx,1\ny,-1\n", "some.csv:3:2: rate `-1` is below 0"),
            (b"page,rate\nx,inf\n", "some.csv:2:2: rate `inf`"),
            (b"page,rate\nx,NaN\n", "some.csv:2:2: rate `NaN`"),
            (b"page,rate\n,1\n", "some.csv:2:1: page `` is empty"),
            (b"page,rate\nx,1\ny\n", "some.csv:3:2: there are 1 fields; the first line has 2"),
            (b"page,rate\n\xff,1\n", "some.csv:2:1: this is not UTF-8"),
        ] {
            let error = read_all(text).expect_err("a mistake");
            assert!(error.starts_with(place), "{error}, not {place}");
        }
    }
}
