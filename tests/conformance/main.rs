//! The promises of each seam: a new store, policy or estimator is done when its suite passes. Policies and estimators are under
//! test as soon as they are in their registry.
//!
//! To put another store under the suite, write a [`store::Place`] for it and add a line as the one below.

// A test that fails says so by panicking.
#![allow(unreachable_pub, reason = "a test binary has no callers: `pub` says what its files share")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

mod estimator;
mod policy;
#[macro_use]
mod store;
mod sqlite;
mod sqlite_journal;

conformance_of_a_store!(sqlite_store, crate::sqlite::Folder::new());
