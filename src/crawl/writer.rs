//! The one writer: it has the store and the policy while a cycle runs, and records visits in batches.
//!
//! Orders come in by a bounded channel, so a slow disk slows the crawl and never fills the memory. Whatever waits
//! when the writer is free is committed together; each order is answered, in order.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::time::Instant;

use super::batch::{Batch, Content, FoundPage, RecordedVisit, ToldChange, VisitRecord};
use super::recorder::Recorder;
use super::second_look::SecondLook;
use super::site_spending::SiteSpending;
use crate::change::ChangeSettings;
use crate::fetch::visit::{HostReport, RobotsRecord};
use crate::observation::room::StoreLimits;
use crate::page::{Host, PageUrl, SeedId};
use crate::schedule::{Candidates, Plan};
use crate::store::{CycleId, ListRow, PlannedVisit, StoreError, Tally, Wanted};
use crate::time::Timestamp;
use crate::unique::{NewPage, Refusal};

/// An order to the writer.
#[derive(Debug)]
pub(super) enum Order {
    /// A visit, and the traffic up to it: the two are committed together.
    Visit(Box<VisitRecord>, Tally),
    /// A sitemap file: the pages that were not known, what it tells of others, and the file itself as it was read.
    Sitemap {
        found: Vec<NewPage>,
        told: Vec<ToldChange>,
        file: Option<Box<ListRow>>,
    },
    Host(Box<HostReport>),
    /// All sitemap files of a host were read; with the indexes among them.
    SitemapsRead(Host, Timestamp, Vec<ListRow>),
    Counts(Vec<(Refusal, u64)>, Tally),
    AdoptSeed(SeedId, PageUrl),
    /// This seed answers for itself again.
    LetGo(SeedId),
    /// Requests sent to sites that have a budget.
    SiteSpending(SiteSpending),
    /// The stored robots.txt of this host is needed.
    Robots(Host),
    Plan(Plan),
    /// Pages are to be scored again, by what was recorded so far.
    LookAgain(SecondLook),
}

/// An answer of the writer.
#[derive(Debug)]
pub(super) enum Reply {
    /// This number of orders was committed: how visits were judged, and the pages that are new.
    Recorded {
        orders: usize,
        visits: Vec<RecordedVisit>,
        new: Vec<FoundPage>,
    },
    /// The robots.txt of a host, if one is stored.
    Robots(Host, Option<RobotsRecord>),
    Planned(Vec<PlannedVisit>),
    /// The pages that wait, with new scores.
    LookedAgain(Candidates),
    Failed(StoreError),
}

/// Visits committed together at the most: bounds the memory that waits for the disk.
const BATCH: usize = 256;
/// Orders that may wait.
const QUEUE: usize = 256;
/// Memory of the orders that wait and of the batch that is being committed, in units of [`UNIT_BYTES`]: a page, visited or
/// found, takes one, and a body as many as its length. 64 MiB in all.
const ROOM: u32 = 16_384;
const UNIT_BYTES: usize = 4096;
/// When this number of orders waits, there is no use in lingering.
const BUSY: usize = 32;
/// Commits are at least this far apart, so that a slow crawl's visits share them.
const LINGER: std::ops::RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_millis(500);

/// Where a writer works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WriterPlace {
    /// On a thread of its own, beside the network.
    #[default]
    Thread,
    /// On the runtime of the crawl, which waits meanwhile: tests run in tokio's time, and without threads.
    #[cfg(test)]
    Task,
}

/// The crawl's end of the writer.
pub(super) struct Writer {
    orders: Option<Sender<Order>>,
    room: Arc<Semaphore>,
    replies: UnboundedReceiver<Reply>,
    worker: Worker,
}

enum Worker {
    Thread(JoinHandle<Option<Recorder>>),
    #[cfg(test)]
    Task(tokio::task::JoinHandle<Recorder>),
}

impl Writer {
    /// `linger`: how long it may wait for more before it commits; found pages wait as long to be planned. If it can't be
    /// started the recorder is given back.
    pub(super) fn start(
        recorder: Recorder,
        cycle: CycleId,
        linger: Duration,
        change: ChangeSettings,
        store_limits: StoreLimits,
        place: WriterPlace,
    ) -> Result<Self, (Box<Recorder>, std::io::Error)> {
        let linger = linger.clamp(*LINGER.start(), *LINGER.end());
        let (orders, incoming) = channel(QUEUE);
        let (outgoing, replies) = unbounded_channel();
        let room = Arc::new(Semaphore::new(ROOM as usize));
        let batches = BatchWriter {
            recorder,
            cycle,
            change,
            store_limits,
            linger,
            last_commit: Instant::now(),
            replies: outgoing,
        };
        let own_room = Arc::clone(&room);
        let worker = match place {
            WriterPlace::Thread => {
                // A thread that can't be started would drop the recorder with its work: it is handed over afterwards.
                let (hand_over, handed_over) = std::sync::mpsc::channel::<BatchWriter>();
                let thread = std::thread::Builder::new().name("freshet-writer".to_owned());
                let started =
                    thread.spawn(move || Some(write(handed_over.recv().ok()?, incoming, &own_room)));
                match started {
                    Err(error) => return Err((Box::new(batches.recorder), error)),
                    Ok(thread) => {
                        let _ = hand_over.send(batches);
                        Worker::Thread(thread)
                    }
                }
            }
            #[cfg(test)]
            WriterPlace::Task => Worker::Task(tokio::spawn(write_on_runtime(batches, incoming, own_room))),
        };
        Ok(Self { orders: Some(orders), room, replies, worker })
    }

    /// Hands over an order. A writer that has failed takes no more; its [`Reply::Failed`] says why.
    pub(super) async fn send(&self, order: Order) {
        if let (Some(orders), Ok(taken)) = (&self.orders, self.room.acquire_many(weight(&order)).await) {
            taken.forget();
            let _ = orders.send(order).await;
        }
    }

    /// The next answer. `None` once the writer has ended.
    pub(super) async fn reply(&mut self) -> Option<Reply> {
        self.replies.recv().await
    }

    /// Lets it finish its orders, and gives the recorder back. `None` only if it panicked.
    pub(super) async fn finish(mut self) -> Option<Recorder> {
        self.orders = None;
        match self.worker {
            Worker::Thread(thread) => thread.join().ok().flatten(),
            #[cfg(test)]
            Worker::Task(task) => task.await.ok(),
        }
    }
}

/// The writer's loop on a thread.
fn write(mut batches: BatchWriter, mut orders: Receiver<Order>, room: &Semaphore) -> Recorder {
    // However this ends, the crawl may not wait for room any more.
    let _open = CloseOnDrop(room);
    while let Some(first) = orders.blocking_recv() {
        std::thread::sleep(batches.pause(&first, orders.len()));
        if !batches.take(first, &mut orders, room) {
            break;
        }
    }
    batches.recorder
}

/// The same loop on the runtime of the crawl.
#[cfg(test)]
async fn write_on_runtime(
    mut batches: BatchWriter,
    mut orders: Receiver<Order>,
    room: Arc<Semaphore>,
) -> Recorder {
    let _open = CloseOnDrop(&room);
    while let Some(first) = orders.recv().await {
        tokio::time::sleep(batches.pause(&first, orders.len())).await;
        if !batches.take(first, &mut orders, &room) {
            break;
        }
    }
    batches.recorder
}

/// The writer's work, wherever it is done.
struct BatchWriter {
    recorder: Recorder,
    cycle: CycleId,
    change: ChangeSettings,
    store_limits: StoreLimits,
    linger: Duration,
    last_commit: Instant,
    replies: UnboundedSender<Reply>,
}

impl BatchWriter {
    /// How long to wait for more orders before the next commit. A plan does not wait: hosts stand idle until it is written.
    /// Nor does a robots.txt: its host stands idle until it is read.
    fn pause(&self, first: &Order, waiting: usize) -> Duration {
        if matches!(first, Order::Plan(_) | Order::LookAgain(_) | Order::Robots(_)) || waiting >= BUSY {
            Duration::ZERO
        } else {
            self.linger.saturating_sub(self.last_commit.elapsed())
        }
    }

    /// Commits this order together with those that wait, up to a plan, and answers. Says whether it can go on.
    fn take(&mut self, first: Order, orders: &mut Receiver<Order>, room: &Semaphore) -> bool {
        let mut batch = Batch {
            now: Timestamp::now(),
            change: self.change,
            store_limits: self.store_limits,
            ..Batch::default()
        };
        let mut taken = 0;
        let mut weighed = 0;
        let mut plan = None;
        let mut robots_of = Vec::new();
        let mut spending = None;
        let mut look = None;
        let mut next = Some(first);
        while let Some(order) = next {
            weighed += weight(&order);
            match order {
                Order::Plan(chosen) => {
                    plan = Some(chosen);
                    break;
                }
                Order::LookAgain(again) => {
                    look = Some(again);
                    break;
                }
                Order::Robots(host) => robots_of.push(host),
                Order::SiteSpending(sent) => {
                    taken += 1;
                    spending = Some(sent);
                }
                other => {
                    taken += 1;
                    add(&mut batch, other);
                }
            }
            next = if batch.visits.len() < BATCH { orders.try_recv().ok() } else { None };
        }
        let noted = spending.map_or(Ok(()), |spending| spending.save(&mut *self.recorder.store));
        let committed = noted.and_then(|()| self.commit(batch, taken, plan.as_ref()));
        let committed = committed.and_then(|()| robots_of.into_iter().try_for_each(|host| self.recall(host)));
        let committed = committed.and_then(|()| look.map_or(Ok(()), |look| self.look_again(&look)));
        room.add_permits(weighed as usize);
        self.last_commit = Instant::now();
        if let Err(error) = committed {
            let _ = self.replies.send(Reply::Failed(error));
            return false;
        }
        true
    }

    fn commit(&mut self, batch: Batch, orders: usize, plan: Option<&Plan>) -> Result<(), StoreError> {
        if orders > 0 {
            let (visits, new) = if batch.is_empty() {
                Default::default()
            } else {
                self.recorder.record(self.cycle, batch)?
            };
            let _ = self.replies.send(Reply::Recorded { orders, visits, new });
        }
        if let Some(plan) = plan {
            let _ = self.replies.send(Reply::Planned(self.recorder.store.plan(self.cycle, plan)?));
        }
        Ok(())
    }

    fn look_again(&mut self, look: &SecondLook) -> Result<(), StoreError> {
        let _ = self.replies.send(Reply::LookedAgain(look.take(&mut self.recorder)?));
        Ok(())
    }

    /// Answers with the stored robots.txt of a host: one that was read in this run was committed before.
    fn recall(&mut self, host: Host) -> Result<(), StoreError> {
        let wanted = Wanted { robots_of: vec![host.clone()], ..Wanted::default() };
        let robots = self.recorder.store.load(&wanted)?.robots.pop().map(|(_, record)| record);
        let _ = self.replies.send(Reply::Robots(host, robots));
        Ok(())
    }
}

struct CloseOnDrop<'a>(&'a Semaphore);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The units that an order takes.
fn weight(order: &Order) -> u32 {
    let units = match order {
        Order::Visit(visit, _) => {
            let body = match &visit.content {
                Some(Content::Read(read)) => read.packed.len(),
                _ => 0,
            };
            1 + visit.found.len() + body / UNIT_BYTES
        }
        Order::Sitemap { found, told, .. } => found.len().max(told.len()),
        Order::Host(report) => report.robots.as_ref().map_or(0, |robots| robots.body.len() / UNIT_BYTES),
        _ => 0,
    };
    u32::try_from(units).unwrap_or(u32::MAX).min(ROOM)
}

fn add(batch: &mut Batch, order: Order) {
    match order {
        Order::Visit(visit, tally) => {
            batch.visits.push(*visit);
            batch.tally.add(tally);
        }
        Order::Sitemap { found, told, file } => {
            batch.found.extend(found);
            batch.told.extend(told);
            batch.lists.extend(file.map(|file| *file));
        }
        Order::Host(report) => batch.hosts.push(*report),
        Order::SitemapsRead(host, at, indexes) => {
            batch.sitemaps_read.push((host, at));
            batch.lists.extend(indexes);
        }
        Order::Counts(refusals, tally) => {
            batch.refusals.extend(refusals);
            batch.tally.add(tally);
        }
        // One or the other: the last word counts.
        Order::AdoptSeed(of, url) => {
            batch.let_go.retain(|seed| *seed != of);
            batch.adopted_seeds.push((of, url));
        }
        Order::LetGo(seed) => {
            batch.adopted_seeds.retain(|(of, _)| *of != seed);
            batch.let_go.push(seed);
        }
        Order::SiteSpending(_) | Order::Robots(_) | Order::Plan(_) | Order::LookAgain(_) => {}
    }
}
