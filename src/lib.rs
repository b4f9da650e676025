//! freshet keeps a collection of web pages fresh with as few requests as possible, and records how they change.
//!
//! Data goes round one way, and each step is a room:
//!
//! ```text
//! seeds ─► schedule ─► fetch ─► extract ─┬─► unique ─► new pages ─────────────┐
//!             ▲                          └─► change ─► observation ─► estimate ─► policy ─┤
//!             └───────────── store (pages, observations, versions) ◄──────────┘
//! ```
//!
//! A room knows those above it in this list, never those below. From [`change`] to [`schedule`] nothing does I/O or
//! looks at a clock: `now` is an argument, so that the live crawl and a replay share every decision. Traits stand at
//! the seams and nowhere else: [`fetch::web::Web`], [`estimate::Estimator`], [`policy::Policy`], [`store::Store`].
//!
//! Start at [`crawl`]: `crawl/cycle.rs` is one turn of the loop, start to end.

pub mod time;

pub mod varint;

pub mod identity_hash;

/// Numerical functions that several rooms need: the gamma function and its relatives, roots of functions.
pub mod numeric;

pub mod page;

pub mod fetch;

pub mod extract;

pub mod unique;

pub mod change;

pub mod observation;

pub mod estimate;

pub mod longevity;

pub mod policy;

pub mod schedule;

pub mod store;

pub mod dataset;

pub mod crawl;

pub mod simulate;

pub mod evolve;

pub mod model_web;

pub mod reproduce;

pub mod report;
