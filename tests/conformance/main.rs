//! For each seam, functions that take any implementation: a new store is done when they all pass.
//!
//! To put another store under the suite, write a [`store::Place`] for it and add a line as the one below.

#[macro_use]
mod store;
mod sqlite;

conformance_of_a_store!(sqlite_store, crate::sqlite::Folder::new());
