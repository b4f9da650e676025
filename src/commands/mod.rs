//! One file a command: parse, call, print. `policies` is `--policy help`.

pub mod changes;
pub mod check;
pub mod compare;
pub mod completions;
pub mod config;
pub mod crawl;
pub mod demo;
pub mod diff;
pub mod estimate;
pub mod evolve;
pub mod export;
pub mod history;
pub mod import;
pub mod monitor;
pub mod pages;
pub mod plan;
pub mod policies;
pub mod rates;
pub mod reproduce;
pub mod score;
pub mod simulate;
pub mod status;
pub mod store;
pub mod web;
pub mod why;
