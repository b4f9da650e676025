//! The file of a store before it is opened: is it ours, which schema has it, is somebody using it?

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::{Result, StoreError, cannot_open, embedded, reader};

/// Looks at the file without changing it: is it ours, and do we understand it? Says which schema it has; `None`: there
/// is nothing in it yet.
pub(super) fn check_file(path: &Path) -> Result<Option<i64>> {
    match std::fs::metadata(path) {
        Err(_) => return Ok(None),
        Ok(found) if found.is_dir() => {
            return Err(StoreError::CannotOpen {
                path: path.to_owned(),
                reason: "it is a folder".to_owned(),
            });
        }
        Ok(found) if found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let connection = reader::reader(path)?;
    let one = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, Option<i64>>(0))
            .map_err(|error| cannot_open(path, error))
    };
    let tables = one("SELECT count(*) FROM sqlite_master WHERE type = 'table'")?.unwrap_or(0);
    let ours = one("SELECT count(*) FROM sqlite_master WHERE name = 'observation'")?.unwrap_or(0);
    let history =
        one("SELECT count(*) FROM sqlite_master WHERE name = 'refinery_schema_history'")?.unwrap_or(0);
    match (tables, history, ours) {
        // Killed while it was being made: the next run makes it.
        (0, ..) | (1, 1, 0) => return Ok(None),
        (_, 1, 1) => {}
        _ => return Err(StoreError::Foreign(path.to_owned())),
    }
    let found = one("SELECT max(version) FROM refinery_schema_history")?.unwrap_or(0);
    let known = newest_schema();
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    Ok(Some(found))
}

/// The schema that this release writes.
pub(super) fn newest_schema() -> i64 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().map(|migration| i64::from(migration.version())).max().unwrap_or(0)
}

/// Takes the lock beside a store, which only one crawl has.
pub(super) fn lock(path: &Path) -> Result<File> {
    // One store has one lock, by whatever link it is named.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = real.into_os_string();
    name.push(".lock");
    let cannot = |error: std::io::Error| StoreError::CannotOpen {
        path: path.to_owned(),
        reason: format!("its lock file can't be made: {error}"),
    };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(name).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}
