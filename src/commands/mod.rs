//! One file a command: build, call, print.

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

use std::future::Future;

use anyhow::Context as _;

/// Waits for something that is done on this thread.
fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the asynchronous runtime could not be started")?;
    Ok(runtime.block_on(work))
}
