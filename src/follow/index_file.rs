//! The file of the search index: opened, made, and made again when it can't be used as it is.
//!
//! The tables:
//! - `meta`: the version of this form, the way terms are made, the store it belongs to, the cursor, and counts of the collection;
//! - `document`: a page that can be found: its version, its length in terms, when its copy was last confirmed at the time of indexing;
//! - `word`: FTS5 without contents. A document is a row of `term:count` tokens, each once. FTS5 keeps no more than the numbers of
//!   documents for each token, a byte or two each: that makes the index small, and a count costs nothing;
//! - `posting`: the same, read by token;
//! - `workload_words`: for each document, the counts of the words that a workload asks for, if refreshes are measured;
//! - `score_rank`: the score–rank functions of these words;
//! - `gain`: what refreshes gained, until the store has it. It can't be made again, so it outlives the other tables, too;
//! - `query`: the queries that were asked. They can't be made again, so they outlive every other table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{FollowError, FollowResult};
use crate::quality::terms::TERM_SCHEME;

/// The version of the tables. An index of another version is made again.
const FORMAT: i64 = 2;

/// How long a write waits for that of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of new postings that FTS5 gathers before it writes them as a segment. Its own value is 1 MB; larger segments are merged
/// less often.
const HASH_BYTES: i64 = 16 << 20;

/// Tokens are parted by blanks, and `:` stands between a term and its count. The tokenizer `ascii` takes every letter beyond ASCII
/// as it is, and terms have no ASCII besides small letters and digits: so tokens stay as we made them.
const TABLES: &str = "
    CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        page INTEGER NOT NULL UNIQUE,
        version INTEGER NOT NULL,
        length INTEGER NOT NULL,
        observed_at INTEGER NOT NULL
    );
    CREATE VIRTUAL TABLE word USING fts5(
        terms, content = '', contentless_delete = 1, detail = none, tokenize = \"ascii tokenchars ':'\"
    );
    CREATE VIRTUAL TABLE posting USING fts5vocab(word, 'instance');
    CREATE TABLE workload_words (document INTEGER PRIMARY KEY, words BLOB NOT NULL);
    CREATE TABLE score_rank (term INTEGER PRIMARY KEY, function BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS gain (
        page INTEGER NOT NULL,
        measure INTEGER NOT NULL,
        at INTEGER NOT NULL,
        delta REAL NOT NULL,
        is_first INTEGER NOT NULL,
        words TEXT NOT NULL,
        PRIMARY KEY (page, measure, at)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS query (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL);";

/// Where the index of a store is: `freshet.search.db` for `freshet.db`, else the store's path with `.search.db` behind it.
pub fn path_beside(store: &Path) -> PathBuf {
    if store.extension().is_some_and(|extension| extension == "db") {
        return store.with_extension("search.db");
    }
    with_ending(store, ".search.db")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens the index at this path for writing, and makes it if there is none. `Some`: why what was there could not be used.
pub(super) fn open(path: &Path) -> FollowResult<(Connection, Option<String>)> {
    match open_as_it_is(path) {
        Err(FollowError::Damaged(said)) => {
            let connection = replace(path)?;
            Ok((connection, Some(format!("it was damaged ({said})"))))
        }
        opened => opened,
    }
    .map_err(|error| error.about(path))
}

/// Makes an empty index in the place of a damaged one, with the queries that can still be read.
pub(super) fn replace(path: &Path) -> FollowResult<Connection> {
    let queries = salvaged_queries(path);
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(with_ending(path, ending));
    }
    let (mut connection, _) = open_as_it_is(path)?;
    keep_queries(&mut connection, &queries)?;
    Ok(connection)
}

/// An index that goes with the connection, in a temporary file that has no name.
pub(super) fn open_temporary() -> FollowResult<Connection> {
    let mut connection = Connection::open("")?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    make(&mut connection)?;
    Ok(connection)
}

fn open_as_it_is(path: &Path) -> FollowResult<(Connection, Option<String>)> {
    crate::whole_file::create_private(path);
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if connection.is_readonly("main")? {
        return Err(FollowError::CannotWrite { path: path.to_owned(), reason: "it is read-only".to_owned() });
    }
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000;",
    )?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables == 0 {
        make(&mut connection)?;
        return Ok((connection, None));
    }
    let reason = unusable(&connection)?;
    if reason.is_some() {
        make(&mut connection)?;
    }
    Ok((connection, reason))
}

/// Why the tables can't be used, if they can't.
pub(super) fn unusable(connection: &Connection) -> FollowResult<Option<String>> {
    let has = |name: &str| -> FollowResult<bool> {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
        Ok(connection.query_row(sql, [name], |row| row.get::<_, i64>(0))? > 0)
    };
    if !has("meta")? {
        return Err(FollowError::Other(
            "the file is a database, but not a search index; move it away".to_owned(),
        ));
    }
    if number(connection, "format")? != Some(FORMAT) {
        return Ok(Some("another release of freshet made it".to_owned()));
    }
    if number(connection, "terms")? != Some(i64::from(TERM_SCHEME)) {
        return Ok(Some("its words were found by other rules".to_owned()));
    }
    for table in ["document", "word", "posting", "workload_words", "score_rank", "gain", "query"] {
        if !has(table)? {
            return Err(FollowError::Damaged(format!("the table `{table}` is missing")));
        }
    }
    // FTS5 reads its own tables only when it is asked something.
    connection.query_row("SELECT count(*) FROM (SELECT 1 FROM posting LIMIT 1)", [], |_| Ok(()))?;
    Ok(None)
}

/// Makes the tables, in place of those of another version. Queries stay.
pub(super) fn make(connection: &mut Connection) -> FollowResult<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "DROP TABLE IF EXISTS posting; DROP TABLE IF EXISTS word; DROP TABLE IF EXISTS document;
         DROP TABLE IF EXISTS workload_words; DROP TABLE IF EXISTS score_rank;
         CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID; DELETE FROM meta;",
    )?;
    transaction.execute_batch(TABLES)?;
    transaction.execute("INSERT INTO word (word, rank) VALUES ('hashsize', ?1)", [HASH_BYTES])?;
    set(&transaction, "format", FORMAT)?;
    set(&transaction, "terms", i64::from(TERM_SCHEME))?;
    Ok(transaction.commit()?)
}

/// A number that is kept by this name.
pub(super) fn number(connection: &Connection, name: &str) -> FollowResult<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten())
}

/// Keeps a number, in place of what it was.
pub(super) fn set(connection: &Connection, name: &str, value: impl Into<Option<i64>>) -> FollowResult<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?;
    statement.execute(params![name, value.into()])?;
    Ok(())
}

/// A query that was asked, and when, in milliseconds.
type AskedRow = (i64, String);

/// The queries of a damaged file, as far as they can be read.
fn salvaged_queries(path: &Path) -> Vec<AskedRow> {
    let read = || -> rusqlite::Result<Vec<AskedRow>> {
        let connection = Connection::open(path)?;
        let mut statement = connection.prepare("SELECT at, text FROM query ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        // Up to the first that can't be read.
        Ok(rows.map_while(std::result::Result::ok).collect())
    };
    read().unwrap_or_default()
}

fn keep_queries(connection: &mut Connection, queries: &[AskedRow]) -> FollowResult<()> {
    let transaction = connection.transaction()?;
    for (at, text) in queries {
        transaction.execute("INSERT INTO query (at, text) VALUES (?1, ?2)", params![at, text])?;
    }
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_beside_its_store() {
        assert_eq!(path_beside(Path::new("a/freshet.db")), Path::new("a/freshet.search.db"));
        assert_eq!(path_beside(Path::new("pages.sqlite")), Path::new("pages.sqlite.search.db"));
        assert_eq!(path_beside(Path::new("store")), Path::new("store.search.db"));
    }

    #[test]
    fn tokens_of_every_script_stay_as_they_were_made() {
        let connection = open_temporary().unwrap();
        let tokens = [
            "café:1",
            "naïve:12",
            "今天:3",
            "タワ:1",
            "第:1",
            "2026:4",
            "привет:2",
            "ไท:1",
            "𠀀𠀁:7",
            "ⅷ:1",
            "ß:1",
        ];
        connection.execute("INSERT INTO word (rowid, terms) VALUES (1, ?1)", [tokens.join(" ")]).unwrap();
        let mut statement =
            connection.prepare("SELECT term FROM posting WHERE doc = 1 ORDER BY term").unwrap();
        let kept: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(rusqlite::Result::unwrap).collect();
        let mut expected = tokens.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(kept, expected);
    }
}
