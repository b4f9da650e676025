//! Connections that only look: beside a crawl, at a file of somebody else, on a medium that can't be written to.
//!
//! SQLite shares the state of a journal through a file in the store's folder. Where that file is missing and can't be made,
//! a database is opened as one that does not change. This is right only if its journal is empty: what the journal has would
//! not be seen.

use std::fmt::Write as _;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{BUSY_TIMEOUT, Result, StoreError, beside, cannot_open};

/// A journal of this length has no more than its own head.
const WAL_HEAD_BYTES: u64 = 32;

/// A connection that only looks. After a crash there may be a journal to roll back first, which only a connection
/// that may write can do: that is what it does, and all it does.
pub(in crate::store) fn reader(path: &Path) -> Result<Connection> {
    let opened = match open(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        }
        opened => opened,
    };
    match opened {
        Err(error)
            if matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)) =>
        {
            unchanging(path, error)
        }
        opened => opened.map_err(|error| cannot_open(path, error)),
    }
}

fn open(path: impl AsRef<Path>, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Opens a database whose folder can't be written to, if nothing of it is in a journal. `error`: why it could not be opened
/// as others are.
fn unchanging(path: &Path, error: rusqlite::Error) -> Result<Connection> {
    let cannot = |reason: String| StoreError::CannotOpen { path: path.to_owned(), reason };
    match std::fs::File::open(path) {
        Err(denied) if denied.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(cannot("this user may not read it".to_owned()));
        }
        Err(_) => return Err(cannot_open(path, error)),
        Ok(_) => {}
    }
    for (ending, empty_bytes) in [("-wal", WAL_HEAD_BYTES), ("-journal", 0)] {
        let journal = beside(path, ending);
        if std::fs::metadata(&journal).is_ok_and(|found| found.len() > empty_bytes) {
            return Err(cannot(format!(
                "`{}` has changes that are not folded in yet, and this user may not do that here; look at it once as a \
                 user who may write to the folder, or copy both files to another folder and look there",
                journal.display()
            )));
        }
    }
    let Some(address) = address(path) else { return Err(cannot_open(path, error)) };
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(address, access).map_err(|error| cannot_open(path, error))
}

/// The path as a URI that says that the file does not change; `None` if it is not UTF-8.
fn address(path: &Path) -> Option<String> {
    let whole = std::fs::canonicalize(path).ok()?;
    let mut address = "file:".to_owned();
    for byte in whole.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    Some(address + "?mode=ro&immutable=1")
}
