//! The follower of a running crawl: a thread that keeps the search index up to date.
//!
//! It reads through a connection of its own, so that the crawl never waits for it. It looks at the log every few seconds, and at the
//! end reads what is left, unless it has to stop at once.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::FollowResult;
use super::measuring::CountInlinks;
use super::search_index::{FollowStep, SearchIndex};
use crate::quality::search_workload::SearchWorkload;
use crate::store;

/// How often it looks at the log.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A follower at work.
pub struct BackgroundIndex {
    orders: Sender<FollowOrder>,
    thread: JoinHandle<FollowResult<FollowStep>>,
}

/// A follower that can be waited for.
#[derive(Clone, Debug)]
pub struct IndexHandle {
    orders: Sender<FollowOrder>,
}

impl IndexHandle {
    /// Waits until the index has read the log as it is now, at most this long. Says whether it has.
    pub fn catch_up(&self, at_most: Duration) -> bool {
        let (done, is_done) = channel();
        self.orders.send(FollowOrder::CatchUp(done)).is_ok() && is_done.recv_timeout(at_most).is_ok()
    }
}

/// An order to the follower.
#[derive(Clone, Debug)]
enum FollowOrder {
    /// Look at the log now.
    Look,
    /// Look at the log now, and say when it is read.
    CatchUp(Sender<()>),
    /// Read what is left, and end.
    Finish,
    /// End after the batch that is being read.
    Stop,
}

impl BackgroundIndex {
    /// Starts to keep the index of this store up to date. The store has to exist. With `measured` it measures what refreshes gain.
    pub fn start(
        store: &Path,
        index: &Path,
        measured: Option<(Arc<SearchWorkload>, CountInlinks)>,
    ) -> std::io::Result<Self> {
        let (orders, incoming) = channel();
        let (store, index) = (store.to_owned(), index.to_owned());
        let thread = std::thread::Builder::new().name("freshet-index".to_owned());
        let thread = thread.spawn(move || run(&store, &index, measured, &incoming))?;
        Ok(Self { orders, thread })
    }

    /// Lets it look at the log now: a cycle has ended.
    pub fn look(&self) {
        let _ = self.orders.send(FollowOrder::Look);
    }

    /// What a crawl needs to wait for it.
    pub fn handle(&self) -> IndexHandle {
        IndexHandle { orders: self.orders.clone() }
    }

    /// Ends it, and says how much it wrote. After `patience` it ends with the batch that is being read, and what it has not read yet is
    /// left to the next follower; `None`: it reads all.
    pub fn finish(self, patience: Option<Duration>) -> FollowResult<FollowStep> {
        let _ = self.orders.send(FollowOrder::Finish);
        if let Some(patience) = patience {
            let until = Instant::now() + patience;
            while !self.thread.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = self.orders.send(FollowOrder::Stop);
        }
        self.thread
            .join()
            .unwrap_or_else(|_| Err(super::FollowError::Other("its thread ended unexpectedly".to_owned())))
    }
}

fn run(
    store: &Path,
    index: &Path,
    measured: Option<(Arc<SearchWorkload>, CountInlinks)>,
    orders: &Receiver<FollowOrder>,
) -> FollowResult<FollowStep> {
    give_way();
    let mut store = store::open_to_look(store)?;
    let mut index = SearchIndex::open(index, &mut *store)?;
    if let Some(reason) = index.remade() {
        tracing::warn!("the search index is made again: {reason}");
    }
    if let Some((search, count_inlinks)) = measured {
        index.measure_by(&search, count_inlinks, &mut *store)?;
    }
    let is_new = index.is_new()?;
    let (mut all, mut wish) = (FollowStep::default(), FollowWish::default());
    loop {
        let mut is_behind = !wish.stops && index.behind(&mut *store)? > 0;
        while is_behind {
            let step = index.step(&mut *store)?;
            all.written += step.written;
            all.removed += step.removed;
            all.read += step.read;
            is_behind = step.is_behind;
            while let Ok(order) = orders.try_recv() {
                wish.take(order);
            }
            if wish.stops {
                return Ok(FollowStep { is_behind, ..all });
            }
        }
        // Whoever asked may have given up waiting.
        for done in wish.waiting.drain(..) {
            let _ = done.send(());
        }
        if wish.stops || wish.finishes {
            if is_new && !wish.stops {
                index.compact()?;
            }
            return Ok(all);
        }
        match orders.recv_timeout(LOOK_EVERY) {
            Ok(order) => wish.take(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => wish.stops = true,
        }
    }
}

/// What the follower was ordered so far.
#[derive(Default)]
struct FollowWish {
    finishes: bool,
    stops: bool,
    /// Those that wait until the log is read.
    waiting: Vec<Sender<()>>,
}

impl FollowWish {
    fn take(&mut self, order: FollowOrder) {
        match order {
            FollowOrder::Look => {}
            FollowOrder::CatchUp(done) => self.waiting.push(done),
            FollowOrder::Finish => self.finishes = true,
            FollowOrder::Stop => self.stops = true,
        }
    }
}

/// Lets the threads of the crawl go first where there are too few cores. On Linux this is about the calling thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 10);
}
