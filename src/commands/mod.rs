//! One file a command: parse, call, print. `policies` is `--policy help`.

pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod estimate;
pub(crate) mod evolve;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod monitor;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod policies;
pub(crate) mod rates;
pub(crate) mod reproduce;
pub(crate) mod score;
pub(crate) mod simulate;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod web;
pub(crate) mod why;
