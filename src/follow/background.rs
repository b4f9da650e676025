//! The follower of a running crawl: a thread that keeps the search index up to date.
//!
//! It reads through a connection of its own, so that the crawl never waits for it. It looks at the log every few seconds, and at the
//! end reads what is left, unless it has to stop at once.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::FollowResult;
use super::search_index::{FollowStep, SearchIndex};
use crate::store;

/// How often it looks at the log.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A follower at work.
pub struct BackgroundIndex {
    orders: Sender<FollowOrder>,
    thread: JoinHandle<FollowResult<FollowStep>>,
}

/// An order to the follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FollowOrder {
    /// Look at the log now.
    Look,
    /// Read what is left, and end.
    Finish,
    /// End after the batch that is being read.
    Stop,
}

impl BackgroundIndex {
    /// Starts to keep the index of this store up to date. The store has to exist.
    pub fn start(store: &Path, index: &Path) -> std::io::Result<Self> {
        let (orders, incoming) = channel();
        let (store, index) = (store.to_owned(), index.to_owned());
        let thread = std::thread::Builder::new().name("freshet-index".to_owned());
        let thread = thread.spawn(move || run(&store, &index, &incoming))?;
        Ok(Self { orders, thread })
    }

    /// Lets it look at the log now: a cycle has ended.
    pub fn look(&self) {
        let _ = self.orders.send(FollowOrder::Look);
    }

    /// Ends it, and says how much it wrote. `at_once`: what it has not read yet is left to the next follower.
    pub fn finish(self, at_once: bool) -> FollowResult<FollowStep> {
        let order = if at_once { FollowOrder::Stop } else { FollowOrder::Finish };
        let _ = self.orders.send(order);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(super::FollowError::Other("its thread ended unexpectedly".to_owned())))
    }
}

fn run(store: &Path, index: &Path, orders: &Receiver<FollowOrder>) -> FollowResult<FollowStep> {
    give_way();
    let mut store = store::open_to_look(store)?;
    let mut index = SearchIndex::open(index, &mut *store)?;
    if let Some(reason) = index.remade() {
        tracing::warn!("the search index is made again: {reason}");
    }
    let is_new = index.is_new()?;
    let mut all = FollowStep::default();
    let mut order = Some(FollowOrder::Look);
    loop {
        let mut is_behind = order != Some(FollowOrder::Stop) && index.behind(&mut *store)? > 0;
        while is_behind {
            let step = index.step(&mut *store)?;
            all.written += step.written;
            all.removed += step.removed;
            all.read += step.read;
            is_behind = step.is_behind;
            match orders.try_recv() {
                Ok(FollowOrder::Stop) => return Ok(all),
                Ok(FollowOrder::Finish) => order = Some(FollowOrder::Finish),
                _ => {}
            }
        }
        if matches!(order, Some(FollowOrder::Finish | FollowOrder::Stop)) {
            if is_new && order == Some(FollowOrder::Finish) {
                index.compact()?;
            }
            return Ok(all);
        }
        order = match orders.recv_timeout(LOOK_EVERY) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(FollowOrder::Stop),
        };
    }
}

/// Lets the threads of the crawl go first where there are too few cores. On Linux this is about the calling thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 10);
}
