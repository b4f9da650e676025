//! Readers of the log with a cursor of their own: the search index.
//!
//! A follower reads the log of visits in order, from a cursor that it keeps in its own file, in one transaction with what it writes.
//! So it may lag, be killed, be deleted and be made again, and it never slows the crawl. It knows the store only by the trait
//! [`crate::store::Store`].

pub mod background;
pub mod gain_outbox;
mod index_file;
pub mod measuring;
mod page_writer;
pub mod postings;
pub mod promises;
pub mod query_log;
pub mod search_index;
pub mod workload_words;

use std::path::PathBuf;

use crate::store::StoreError;

/// Why a follower could not go on.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The follower's own file can't be opened or written here.
    #[error("the search index `{path}` can't be written: {reason}")]
    CannotWrite {
        /// The file.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
    /// The follower's own file is damaged. It can be made again.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    /// Anything else about the follower's own file.
    #[error("the search index can't be used: {0}")]
    Other(String),
}

impl From<rusqlite::Error> for FollowError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly,
        };
        let said = error.to_string();
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged(said),
            Some(ReadOnly | PermissionDenied | CannotOpen | DiskFull) => {
                Self::CannotWrite { path: PathBuf::new(), reason: said }
            }
            _ => Self::Other(said),
        }
    }
}

impl FollowError {
    /// The same error with the file that it is about.
    fn about(self, file: &std::path::Path) -> Self {
        match self {
            Self::CannotWrite { reason, .. } => Self::CannotWrite { path: file.to_owned(), reason },
            other => other,
        }
    }
}

/// The result of a follower's work.
pub type FollowResult<T, E = FollowError> = std::result::Result<T, E>;
