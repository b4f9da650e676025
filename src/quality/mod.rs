//! What a fresher copy is worth to searchers (Pandey & Olston 2005).
//!
//! Comes in: texts, whose words are [`terms`]; a [`workload::Workload`] of queries with frequencies; and the scores that pages have for
//! its terms before and after a refresh ([`scoring`]). Goes out: the quality of the results that searchers see ([`answer`]), the
//! gain of a refresh measured exactly there, or nearly and cheaply in [`delta`], and the gain that is expected of the next one
//! ([`gain`]). [`transport`] spreads refreshes over cycles for the paper's two other schemes.
//!
//! Nothing here does I/O, reads a clock or draws a random number; the readers of workloads take what a caller opened.

pub mod access_log;
pub mod answer;
pub mod attention;
pub mod copies;
pub mod delta;
pub mod gain;
pub mod measure;
pub mod repository;
pub mod score_rank;
pub mod scoring;
pub mod search_workload;
pub mod terms;
pub mod transport;
pub mod workload;
pub mod workload_file;
