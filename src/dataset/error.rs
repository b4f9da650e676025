//! What can go wrong with a dataset: always the place, what is wrong there, and what to do.

use std::io;
use std::path::Path;

use crate::store::StoreError;

/// Each says where, what is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("`{path}` can't be {what}: {source}")]
    Io { path: String, what: &'static str, source: io::Error },
    /// Line and column count from 1; the column is that of a character in lines of bits and in JSON, that of a field in
    /// tables.
    #[error("{file}:{line}:{column}: {wrong}")]
    Place { file: String, line: u64, column: u64, wrong: String },
    /// A row of a Parquet file, counted from 1.
    #[error("{file}: row {row}, column `{column}`: {wrong}")]
    Row { file: String, row: u64, column: String, wrong: String },
    #[error("`{file}` {wrong}")]
    File { file: String, wrong: String },
    #[error("`{0}` is there already; name another place with --out, or move it away")]
    Exists(String),
    #[error("{0}")]
    Cannot(String),
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
