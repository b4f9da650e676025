//! The queries that `freshet search` keeps in the file of the index.
//!
//! They are read from an index of any version, and from a damaged one as far as they can be: a workload does not depend on words of
//! documents. Nothing is written.

use std::path::Path;

use super::{FollowError, FollowResult};
use crate::store;

/// The texts of the queries that were asked, in their order. `None`: there is no index at this path.
pub fn asked(index: &Path) -> FollowResult<Option<Vec<String>>> {
    if !index.exists() {
        return Ok(None);
    }
    let connection = store::sqlite_reader(index).map_err(|error| FollowError::Damaged(error.to_string()))?;
    let mut statement = connection.prepare("SELECT text FROM query ORDER BY id")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    // Up to the first that can't be read.
    Ok(Some(rows.map_while(Result::ok).collect()))
}
