//! Scores → plan: which pages a cycle visits, how many it may visit, and when it begins.
//!
//! There is no I/O and no clock here. [`rank`] is the one order of pages, and the choice of the best classes of pages in
//! one state, which replays make. [`candidates`] is the choice of the best single pages under a cap for each host, which the
//! live crawl makes, and replays whose pages share no score. [`threshold`] and [`calendar`] serve monitors.

pub mod calendar;
pub mod candidates;
pub mod plan;
pub mod rank;
pub mod threshold;

pub use candidates::{Candidates, Discovery};
pub use plan::{Plan, Planned};
