//! What can go wrong with a store, in our words; the driver's are kept as the source.

use std::path::PathBuf;

/// Each says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{}` is not a database; name another file with --store, or move this one away", .0.display())]
    NotADatabase(PathBuf),
    #[error("`{}` is a database, but not one of freshet's; name another file with --store", .0.display())]
    Foreign(PathBuf),
    #[error(
        "`{}` was written by a newer freshet (its schema is version {found}, this program knows {known}); \
         use that program, or name another file with --store", .path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("`{}` is in use by another crawl; wait for it, or name another file with --store", .0.display())]
    InUse(PathBuf),
    #[error("there is no store at `{}`; `freshet crawl --seeds FILE` makes one", .0.display())]
    Missing(PathBuf),
    #[error("`{}` can't be opened: {reason}", .path.display())]
    CannotOpen { path: PathBuf, reason: String },
    #[error(
        "the disk is full: nothing more can be stored. What was committed is safe; free some space and run again"
    )]
    Full(#[source] rusqlite::Error),
    #[error("the store can't be written to: {0}. What was committed is safe")]
    ReadOnly(#[source] rusqlite::Error),
    #[error("the store is damaged: {0}. Keep a copy, then try `sqlite3 FILE .recover`")]
    Corrupt(#[source] rusqlite::Error),
    #[error("the store could not be brought up to date: {0}")]
    Migration(#[source] Box<refinery::Error>),
    #[error("the store holds a value that makes no sense: {0}")]
    BadValue(String),
    #[error("the store: {0}")]
    Other(#[source] rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full(error),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error),
            _ => StoreError::Other(error),
        }
    }
}
