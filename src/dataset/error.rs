//! Errors of datasets: the place, the mistake, and the repair.

use std::io;
use std::path::Path;

use crate::store::StoreError;

/// An error of a dataset. Its message has the place, the mistake, and the repair.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file can't be read or written.
    #[error("`{path}` can't be {what}: {source}")]
    Io {
        /// The file.
        path: String,
        /// `read` or `written`.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A mistake in a text file. Lines and columns count from 1; a column is a character in lines of bits and in JSON, a
    /// field in tables.
    #[error("{file}:{line}:{column}: {wrong}")]
    Place {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: u64,
        /// The mistake.
        wrong: String,
    },
    /// A mistake in a Parquet file. Rows count from 1.
    #[error("{file}: row {row}, column `{column}`: {wrong}")]
    Row {
        /// The file.
        file: String,
        /// The row.
        row: u64,
        /// The name of the column.
        column: String,
        /// The mistake.
        wrong: String,
    },
    /// A file that can't be used.
    #[error("`{file}` {wrong}")]
    File {
        /// The file.
        file: String,
        /// The mistake.
        wrong: String,
    },
    /// A dataset is never overwritten.
    #[error("`{0}` is there already; name another place with --out, or move it away")]
    Exists(String),
    /// A wish that can't be met.
    #[error("{0}")]
    Cannot(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DatasetError {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |source| Self::Io { path, what: "read", source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |source| Self::Io { path, what: "written", source }
    }

    pub(super) fn at(file: &Path, line: u64, column: usize, wrong: impl Into<String>) -> Self {
        Self::Place { file: file.display().to_string(), line, column: column as u64, wrong: wrong.into() }
    }

    pub(super) fn of_file(file: &Path, wrong: impl Into<String>) -> Self {
        Self::File { file: file.display().to_string(), wrong: wrong.into() }
    }

    /// A mistake in JSON that starts at this line of a file.
    pub(super) fn json(file: &Path, line: u64, error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let wrong = said.rsplit_once(" at line ").map_or(said.as_str(), |(wrong, _)| wrong);
        let line = line + (error.line() as u64).saturating_sub(1);
        Self::at(file, line, error.column().max(1), wrong)
    }
}
