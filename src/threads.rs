//! The threads that asynchronous work runs on.

use std::future::Future;

use anyhow::Context as _;
use tokio::runtime::{Builder, Runtime};

use crate::settings::Settings;

/// Requests that one thread serves: at ten answers a second each, a core has time to spare.
const REQUESTS_PER_THREAD: usize = 128;
const FAILED: &str = "the asynchronous runtime could not be started";

/// Threads for a crawl. A polite crawl mostly waits: one thread serves it, and handing work from one to another would cost a
/// fifth more. A crawl that does not wait, or has very many hosts, gets all cores.
pub(crate) fn for_crawl(settings: &Settings) -> anyhow::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let fetch = &settings.crawl.fetch;
    let threads = if fetch.politeness.delay.is_zero() {
        cores
    } else {
        fetch.concurrency.div_ceil(REQUESTS_PER_THREAD).min(cores)
    };
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().context(FAILED)
}

/// A thread for each core.
pub(crate) fn all_cores() -> anyhow::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build().context(FAILED)
}

/// This thread alone.
pub(crate) fn this_one() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context(FAILED)
}

/// Waits for work that is done on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    Ok(this_one()?.block_on(work))
}
