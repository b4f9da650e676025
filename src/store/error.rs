//! The errors of a store, in our words. The driver's own error is kept as the source.

use std::error::Error;
use std::path::PathBuf;

/// An error of the database driver, whichever it is.
pub(crate) type DriverError = Box<dyn Error + Send + Sync>;

/// Each says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    /// The file is something else.
    #[error("`{}` is not a database; name another file with --store, or move this one away", .0.display())]
    NotADatabase(PathBuf),
    /// The database is another program's.
    #[error("`{}` is a database, but not one of freshet's; name another file with --store", .0.display())]
    Foreign(PathBuf),
    /// A later release wrote it.
    #[error(
        "`{}` was written by a newer freshet (its schema is version {found}, this program knows {known}); \
         use that program, or name another file with --store", .path.display()
    )]
    Newer {
        /// Where it is.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest schema that this program knows.
        known: i64,
    },
    /// An earlier release wrote it, and it can't be written to.
    #[error(
        "`{}` was made by an earlier freshet and has to be brought up to date, but it, or its folder, can't be written to; \
         open it once as a user who may write there, or look at a copy", .0.display()
    )]
    Outdated(PathBuf),
    /// Another crawl has it.
    #[error("`{}` is in use by another crawl; wait for it, or name another file with --store", .0.display())]
    InUse(PathBuf),
    /// There is nothing to look at.
    #[error("there is no store at `{}`; `freshet crawl --seeds FILE` makes one", .0.display())]
    Missing(PathBuf),
    /// The system refuses it.
    #[error("`{}` can't be opened: {reason}", .path.display())]
    CannotOpen {
        /// Where it is.
        path: PathBuf,
        /// The system's own message.
        reason: String,
    },
    /// There is no implementation for this location yet.
    #[error("`{0}`: stores on PostgreSQL are not built yet; name a file with --store")]
    NotBuilt(String),
    /// There is no room left.
    #[error(
        "the disk is full: nothing more can be stored. What was committed is safe; free some space and run again"
    )]
    Full(#[source] DriverError),
    /// It was opened for reading, or may not be written to.
    #[error("the store can't be written to: {0}. What was committed is safe")]
    ReadOnly(#[source] DriverError),
    /// The file is broken.
    #[error("the store is damaged: {0}. Keep a copy, then try `sqlite3 FILE .recover`")]
    Corrupt(#[source] DriverError),
    /// A migration failed.
    #[error("the store could not be brought up to date: {0}")]
    Migration(#[source] DriverError),
    /// A row makes no sense.
    #[error("the store holds a value that makes no sense: {0}")]
    BadValue(String),
    /// Whatever else the driver says.
    #[error("the store: {0}")]
    Other(#[source] DriverError),
}
