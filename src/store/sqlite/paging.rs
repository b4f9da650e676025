//! Long lists, some rows at a time: a reader that pauses has no statement open, so it holds up neither a writer nor its
//! checkpoints.

use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::{Result, StoreError, signed};

/// Rows read at once.
const AT_ONCE: usize = 1000;
/// A scan of a table with ids up to this does not start a thread.
const FEW: i64 = 20_000;
/// Lots of rows that wait to be handed out, besides the one that is.
const AHEAD: usize = 2;

/// The largest id of a table: rows that come later are not listed.
pub(super) fn last_id(connection: &Connection, table: &str, id: &str) -> Result<i64> {
    let sql = format!("SELECT coalesce(max({id}), 0) FROM {table}");
    Ok(connection.query_row(&sql, [], |row| row.get(0))?)
}

/// Calls `each` for every row of a query in order of ids. `sql` gives rows whose id is more than `?1` and at most `?2`, in
/// their order, at most `?3` of them; what else it asks for is in `more`. At most `most` rows behind `after` are listed.
pub(super) fn each_by_id<T>(
    connection: &Connection,
    (sql, more): (&str, &[Value]),
    (mut after, last, most): (i64, i64, Option<u64>),
    id: impl Fn(&T) -> i64,
    read: impl Fn(&Row<'_>) -> Result<T>,
    each: &mut dyn FnMut(T),
) -> Result<()> {
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

/// A scan of a table in order of its ids, which puts the rows into values that are used again and again.
pub(super) struct PageScan<Id, Read> {
    /// The query, as for [`each_by_id`].
    pub(super) sql: String,
    /// The largest id.
    pub(super) last: i64,
    /// The id of a value.
    pub(super) id: Id,
    /// Makes a value of a row; it may take one apart that is not needed any more.
    pub(super) read: Read,
}

impl<Id, Read> PageScan<Id, Read> {
    /// Calls `each` for every row. A large table is read in a thread of its own, a few lots ahead: reading takes as long as what
    /// is done with the rows.
    pub(super) fn each<T: Send>(self, connection: &mut Connection, each: &mut dyn FnMut(&mut T)) -> Result<()>
    where
        Id: Fn(&T) -> i64 + Send,
        Read: Fn(&Row<'_>, Option<T>) -> Result<T> + Send,
    {
        let mut after = i64::MIN;
        if self.last <= FEW {
            let (mut used, mut room) = (Vec::new(), Vec::new());
            loop {
                let mut lot = self.lot(connection, &mut after, &mut used, room)?;
                lot.iter_mut().for_each(&mut *each);
                if lot.len() < AT_ONCE {
                    return Ok(());
                }
                room = std::mem::replace(&mut used, lot);
            }
        }
        thread::scope(|scope| {
            let (full, lots) = sync_channel(AHEAD);
            let (back, free) = channel();
            let read = move || {
                let mut room = Vec::new();
                loop {
                    let mut used = free.try_recv().unwrap_or_default();
                    let lot = self.lot(connection, &mut after, &mut used, room);
                    let is_last = lot.as_ref().map_or(true, |lot| lot.len() < AT_ONCE);
                    // Where nobody takes it, the caller has given up.
                    if full.send(lot).is_err() || is_last {
                        return;
                    }
                    room = used;
                }
            };
            let reader = thread::Builder::new().name("freshet-reader".to_owned());
            reader.spawn_scoped(scope, read).map_err(|error| StoreError::Other(error.into()))?;
            for lot in lots {
                let mut lot = lot?;
                lot.iter_mut().for_each(&mut *each);
                // The reader may be done.
                let _ = back.send(lot);
            }
            Ok(())
        })
    }

    /// The rows after that id, in `room`, made of the values of `used` as far as they go; fewer than [`AT_ONCE`] only at the end.
    fn lot<T>(
        &self,
        connection: &Connection,
        after: &mut i64,
        used: &mut Vec<T>,
        mut room: Vec<T>,
    ) -> Result<Vec<T>>
    where
        Id: Fn(&T) -> i64,
        Read: Fn(&Row<'_>, Option<T>) -> Result<T>,
    {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query([*after, self.last, AT_ONCE as i64])?;
        while let Some(row) = rows.next()? {
            room.push((self.read)(row, used.pop())?);
        }
        used.clear();
        *after = room.last().map_or(self.last, &self.id);
        Ok(room)
    }
}
