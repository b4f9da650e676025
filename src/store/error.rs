//! What can go wrong with a store, in our words. The driver's own error is kept as the source.

use std::error::Error;
use std::path::PathBuf;

/// An error of the database driver, whichever it is.
pub type DriverError = Box<dyn Error + Send + Sync>;

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
    #[error("`{0}`: stores on PostgreSQL are not built yet; name a file with --store")]
    NotBuilt(String),
    #[error(
        "the disk is full: nothing more can be stored. What was committed is safe; free some space and run again"
    )]
    Full(#[source] DriverError),
    #[error("the store can't be written to: {0}. What was committed is safe")]
    ReadOnly(#[source] DriverError),
    #[error("the store is damaged: {0}. Keep a copy, then try `sqlite3 FILE .recover`")]
    Corrupt(#[source] DriverError),
    #[error("the store could not be brought up to date: {0}")]
    Migration(#[source] DriverError),
    #[error("the store holds a value that makes no sense: {0}")]
    BadValue(String),
    #[error("the store: {0}")]
    Other(#[source] DriverError),
}
