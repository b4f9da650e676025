//! For each seam, functions that take any implementation: a new store is done when they all pass.
//!
//! To put another store under the suite, write a [`store::Place`] for it and add a line as the one below.

// A test that fails says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

#[macro_use]
mod store;
mod sqlite;

conformance_of_a_store!(sqlite_store, crate::sqlite::Folder::new());
