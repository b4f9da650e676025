//! Long lists, some rows at a time: no statement is open while a row is handed out, so a reader that pauses holds up
//! neither a writer nor its checkpoints.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::{Result, signed};

/// Rows read at once.
const AT_ONCE: usize = 1000;

/// The largest id of a table: rows that come later are not listed.
pub(super) fn last_id(connection: &Connection, table: &str, id: &str) -> Result<i64> {
    let sql = format!("SELECT coalesce(max({id}), 0) FROM {table}");
    Ok(connection.query_row(&sql, [], |row| row.get(0))?)
}

/// Calls `each` for every row of a query in order of ids. `sql` gives rows whose id is more than `?1` and at most `?2`, in
/// their order, at most `?3` of them; what else it asks for is in `more`. At most `most` rows are listed.
pub(super) fn each_by_id<T>(
    connection: &Connection,
    (sql, more): (&str, &[Value]),
    (last, most): (i64, Option<u64>),
    id: impl Fn(&T) -> i64,
    read: impl Fn(&Row<'_>) -> Result<T>,
    each: &mut dyn FnMut(T),
) -> Result<()> {
    let mut after = i64::MIN;
    let mut left = most.unwrap_or(u64::MAX);
    loop {
        let at_once = left.min(AT_ONCE as u64);
        let mut some = Vec::new();
        {
            let mut statement = connection.prepare_cached(sql)?;
            let bounds = [after, last, signed(at_once)].map(Value::Integer);
            let mut rows = statement.query(params_from_iter(bounds.iter().chain(more)))?;
            while let Some(row) = rows.next()? {
                some.push(read(row)?);
            }
        }
        let Some(end) = some.last().map(&id) else { return Ok(()) };
        let found = some.len() as u64;
        some.into_iter().for_each(&mut *each);
        left -= found;
        if found < at_once || left == 0 {
            return Ok(());
        }
        after = end;
    }
}
