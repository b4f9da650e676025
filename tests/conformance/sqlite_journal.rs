//! The journal of a SQLite store: a reader that stays in a transaction makes it grow, and afterwards it shrinks again.

use freshet::look::status::status;
use freshet::store::{self, JournalSize, Store};
use freshet::time::Timestamp;
use rusqlite::Connection;
use std::path::Path;
use tempfile::TempDir;

fn warnings(store: &mut dyn Store) -> Vec<String> {
    status(store, 1, false, Timestamp::now()).expect("the status").warnings
}

fn journal_bytes(store: &Path) -> u64 {
    let mut journal = store.as_os_str().to_owned();
    journal.push("-wal");
    std::fs::metadata(journal).map_or(0, |found| found.len())
}

#[test]
fn a_journal_that_a_reader_holds_up_is_told_and_shrinks_when_the_reader_is_gone() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("freshet.db");
    let mut store = store::open(&path).expect("a store");
    let reader = Connection::open(&path).expect("a reader");
    reader.execute_batch("BEGIN; SELECT count(*) FROM page;").expect("a transaction");

    let much = "x".repeat(10_000_000);
    for number in 0..14 {
        store.set_note(&format!("note {number}"), &much).expect("a note");
    }
    let journal = store.summary().expect("a summary").journal;
    assert!(journal.is_overgrown() && journal.bytes == journal_bytes(&path), "{journal:?}");
    let told = warnings(&mut *store);
    assert!(told.len() == 1 && told[0].starts_with("the journal beside the store has 14"), "{told:?}");

    drop(reader);
    for number in 0..3 {
        store.set_note("small", &number.to_string()).expect("a note");
    }
    assert!(journal_bytes(&path) <= 2 * journal.checkpoint_bytes, "{} bytes stay", journal_bytes(&path));
    assert_eq!(warnings(&mut *store), [""; 0]);
}

#[test]
fn four_times_its_size_is_too_much() {
    let of = |bytes| JournalSize { bytes, checkpoint_bytes: 1000 };
    assert_eq!([1000, 4000, 4001].map(|bytes| of(bytes).is_overgrown()), [false, false, true]);
    assert!(!JournalSize::default().is_overgrown(), "a store without a journal");
}
