//! The live loop: cycles, one after the other, until the crawl is told to stop.
//!
//! `cycle.rs` is one cycle, start to end. `opening.rs` reads what it starts from, `planner.rs` decides which pages it visits
//! and when, `arrivals.rs` takes the visits that end, `writer.rs` hands them to `record.rs`, which judges and stores them.
//! [`monitor`] runs cycles at fixed times, and [`preview`] says what the next one would do.

mod accounts;
mod arrivals;
pub mod batch;
pub mod clock;
pub mod collection_rates;
mod cycle;
mod gains;
mod importance;
pub mod learning;
pub mod learning_together;
pub mod monitor;
pub mod observe;
pub mod only;
mod opening;
mod outbox;
mod past;
pub mod pings;
mod planner;
pub mod preview;
pub mod process_group;
mod realias;
pub mod rebuild;
pub mod record;
mod recorder;
pub mod redirect;
pub mod reread;
pub mod retold;
mod second_look;
mod seeded_scope;
mod signal_book;
pub(crate) mod site_spending;
mod sitemaps;
mod sketches;
pub mod stored_links;
mod stored_robots;
mod survey;
mod telling;
mod terms;
pub mod text_command;
pub mod weights;
mod writer;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::fetch::FetchSettings;
use crate::fetch::visit::Waiting;
use crate::fetch::web::Web;
use crate::follow::FollowError;
use crate::follow::background::IndexHandle;
use crate::follow::promises::WordPromises;
use crate::observation::SmallTexts;
use crate::observation::room::StoreLimits;
use crate::page::{Normaliser, PageId};
use crate::policy::Policy;
use crate::quality::search_workload::SearchWorkload;
use crate::store::{CycleCommand, CycleId, PageEvent, Store, StoreError};
use crate::time::Timestamp;
use crate::unique::{Scope, UniquenessVerifier, host_hash, query_path_hash};
pub use accounts::Counts;

use accounts::Accounts;
use observe::Observer;
use recorder::Recorder;

use seeded_scope::{SeededScope, VisitScope};
use weights::{WeightBy, Weights};
use writer::WriterPlace;

/// The settings of a crawl.
#[derive(Clone, Debug)]
pub struct CrawlSettings {
    /// How requests are sent.
    pub fetch: FetchSettings,
    /// How much pages and hosts may store.
    pub store_limits: StoreLimits,
    /// Requests that a cycle may send; `None`: as many as its pages need.
    pub budget: Option<u64>,
    /// Cycles that the crawl runs.
    pub cycles: u64,
    /// Time from the start of one cycle to the start of the next, if they are regular. A cycle asks no host for more than its
    /// pause allows in that time.
    pub every: Option<Duration>,
    /// Share of a cycle's visits that goes to pages never visited; `None`: they compete with the others.
    pub discover: Option<f64>,
    /// How pages get their importance.
    pub weight: WeightBy,
    /// What people search for, where it is known.
    pub workload: Option<Arc<SearchWorkload>>,
    /// Where the search index is, if there is or will be one.
    pub index: Option<PathBuf>,
    /// Pages are visited again once their score reaches this; `None`: as many as the budget has room for.
    pub threshold: Option<f64>,
    /// Redirects that are followed in a row.
    pub redirects: u32,
    /// Sitemaps are read.
    pub sitemaps: bool,
    /// A day, in which sitemaps are read again: [`crate::signal::lists::DAY`], but for a web whose days are shorter.
    pub list_day: Duration,
    /// Pages that the set of known pages holds in memory.
    pub max_known: usize,
    /// A hash of the rules by which links are taken, to which the seeds are added. The links of a page that was read by other
    /// rules are taken again from its stored body.
    pub rules: u64,
}

/// The limits of a single cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct CycleLimits {
    /// Requests that it may send.
    pub budget: Option<u64>,
    /// Score from which pages are visited again.
    pub threshold: Option<f64>,
    /// Time after which it plans no more visits.
    pub time: Option<Duration>,
}

/// An error of the crawl itself. A page that fails is an outcome, never this.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index could not be read.
    #[error(transparent)]
    Index(#[from] FollowError),
    /// The writer's thread could not be started.
    #[error("the writer could not be started: {0}")]
    Writer(#[source] std::io::Error),
    /// The writer panicked, and the store is gone with it.
    #[error("the writer stopped unexpectedly; what was committed is safe")]
    WriterLost,
}

/// The progress of a crawl.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The cycle under way; the first is 1.
    pub cycle: u64,
    /// The counts so far.
    pub counts: Counts,
    /// Pages that wait, planned or not, within the budget.
    pub left: u64,
    /// Requests in flight.
    pub in_flight: usize,
    /// Hosts that have requests waiting and none in flight.
    pub hosts_waiting: usize,
    /// Time since the crawl began.
    pub elapsed: Duration,
    /// Time that the rest will take at this pace; `None` before the first request.
    pub time_left: Option<Duration>,
}

/// The result of a crawl.
#[derive(Clone, Debug)]
pub struct CrawlReport {
    /// Cycles that ended.
    pub cycles: u64,
    /// A cycle that had been interrupted went on.
    pub resumed: bool,
    /// The counts.
    pub counts: Counts,
    /// Pages in the store, aliases included.
    pub known: u64,
    /// Hosts in the store.
    pub hosts: usize,
    /// Time that the crawl took.
    pub elapsed: Duration,
    /// The crawl was told to stop before it was done.
    pub stopped: bool,
    /// The lowest score of a page that the last cycle visited again: the threshold that its budget amounts to.
    pub threshold: Option<f64>,
}

impl CrawlReport {
    /// Were visits tried, and not one page fetched?
    pub fn nothing_fetched(&self) -> bool {
        let counts = &self.counts;
        // Visits that the budget or the time put off were not tried.
        let of = |why: Waiting| counts.put_off.get(why.name()).copied().unwrap_or(0);
        let put_off = counts.deferred.saturating_sub(of(Waiting::Budget) + of(Waiting::CycleOver));
        let tried = counts.redirected + counts.failed + counts.blocked + put_off;
        counts.fetched == 0 && tried > 0 && !self.stopped
    }
}

/// Crawls a store's pages over a web, by a policy.
pub struct Crawler<W> {
    web: Arc<W>,
    /// The store and the policy; a cycle's writer has them while it runs.
    recorder: Option<Recorder>,
    policy_name: String,
    settings: CrawlSettings,
    observer: Arc<Observer>,
    verifier: UniquenessVerifier,
    /// Which pages are visited.
    visits: VisitScope,
    /// The command that opens cycles.
    command: CycleCommand,
    /// The pages that are visited, and no others.
    only: Option<HashSet<PageId>>,
    /// Pages of an earlier run that the operator does not want any more. They stay in the store and are not visited.
    unwanted: HashSet<PageId>,
    /// The scope is another one than `unwanted` was made by.
    scope_changed: bool,
    /// The links of stored bodies are those of the rules.
    links_are_read: bool,
    accounts: Accounts,
    /// Gets the events that visits make.
    events: Option<UnboundedSender<PageEvent>>,
    started: Instant,
    resumed: bool,
    pages: u64,
    hosts: usize,
    /// The lowest score of a page that the last cycle visited again.
    least: Option<f64>,
    /// How long the next cycle may take, if that differs from the time between cycles.
    time: Option<Duration>,
    writer_place: WriterPlace,
    /// The follower that measures what refreshes gain.
    follower: Option<IndexHandle>,
}

/// How long a cycle waits for the search index before it plans without the latest gains.
const CATCH_UP: Duration = Duration::from_secs(60);

impl<W: Web> Crawler<W> {
    /// `scope` must hold the operator's rules; the store's seeds are added to it here.
    pub fn new(
        web: W,
        mut store: Box<dyn Store>,
        policy: Box<dyn Policy>,
        scope: Scope,
        observer: Observer,
        mut settings: CrawlSettings,
    ) -> Result<Self, CrawlError> {
        let SeededScope { links, visits, rules } =
            SeededScope::new(scope, settings.rules, &store.seeds()?, &observer.normaliser);
        settings.rules = rules;
        let mut verifier = UniquenessVerifier::new(links, settings.max_known);
        let mut unwanted = HashSet::new();
        let mut pages = 0;
        store.each_address(&mut |page| match observer.normaliser.parse(&page.url) {
            Ok(url) => {
                pages += 1;
                verifier.remember(page.fingerprint, host_hash(&url), query_path_hash(&url));
                if !visits.accepts(verifier.scope_mut(), &url, page.depth) {
                    unwanted.insert(page.id);
                }
            }
            Err(error) => {
                tracing::warn!(url = page.url, %error, "a stored page is left out: its URL can't be read")
            }
        })?;
        Ok(Self {
            web: Arc::new(web),
            policy_name: policy.name().to_owned(),
            recorder: Some(Recorder {
                store,
                policy,
                weights: Weights::default(),
                small_texts: SmallTexts::default(),
                promises: WordPromises::default(),
            }),
            settings,
            observer: Arc::new(observer),
            verifier,
            visits,
            command: CycleCommand::Crawl,
            only: None,
            unwanted,
            scope_changed: false,
            links_are_read: false,
            accounts: Accounts::default(),
            events: None,
            started: Instant::now(),
            resumed: false,
            pages,
            hosts: 0,
            least: None,
            time: None,
            writer_place: WriterPlace::default(),
            follower: None,
        })
    }

    /// From here on, every cycle of a policy that learns from gains in search results waits for this follower before it plans.
    pub fn plan_after(&mut self, follower: IndexHandle) {
        self.follower = Some(follower);
    }

    /// From here on, sends every event that a visit makes, once it is stored.
    pub fn tell_events(&mut self, to: UnboundedSender<PageEvent>) {
        self.events = Some(to);
    }

    /// Sends no more events.
    pub fn stop_telling(&mut self) {
        self.events = None;
    }

    /// Runs its cycles. When `stop` turns true, requests in flight end and nothing more is sent. `progress` is kept up to date.
    pub async fn run(
        mut self,
        stop: watch::Receiver<bool>,
        progress: &watch::Sender<Progress>,
    ) -> Result<CrawlReport, CrawlError> {
        let mut done = 0;
        while done < self.settings.cycles && !*stop.borrow() {
            cycle::run(&mut self, done + 1, stop.clone(), progress).await?;
            done += 1;
        }
        Ok(self.report(done, *stop.borrow()))
    }

    /// Runs one cycle within these limits, and reports on it.
    pub async fn run_once(
        &mut self,
        limits: CycleLimits,
        stop: watch::Receiver<bool>,
        progress: &watch::Sender<Progress>,
    ) -> Result<CrawlReport, CrawlError> {
        let CycleLimits { budget, threshold, time } = limits;
        (self.settings.budget, self.settings.threshold, self.time) = (budget, threshold, time);
        self.started = Instant::now();
        self.resumed = false;
        let stopped = stop.clone();
        cycle::run(self, 1, stop, progress).await?;
        let report = self.report(1, *stopped.borrow());
        self.accounts = Accounts::default();
        Ok(report)
    }

    /// Gets the store ready for the policy. That may take a while if another policy was used before (see
    /// [`learning::learn`]), or a release that made fragments otherwise (see [`rebuild::renew`]). Every cycle does this by
    /// itself.
    pub fn prepare(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), CrawlError> {
        let Recorder { store, policy, .. } = self.recorder.as_mut().ok_or(CrawlError::WriterLost)?;
        let change = self.observer.change;
        let mut learn = || {
            let sketches = rebuild::renew(&mut **store, change, progress)?;
            if sketches > 0 {
                tracing::info!(sketches, "made again, because fragments are made otherwise now");
            }
            learning::learn(&mut **store, &mut **policy, progress)?;
            if policy.looks_at().gains.is_some() {
                if let Some(follower) = &self.follower {
                    follower.catch_up(CATCH_UP);
                }
                if let Some(index) = &self.settings.index {
                    let gains = gains::take_over(&mut **store, &**policy, index)?;
                    tracing::info!(gains, "taken over from the search index");
                }
            }
            Ok::<(), CrawlError>(())
        };
        // Learning all pages again takes a while, and a signal to stop must be heard meanwhile.
        let runtime = tokio::runtime::Handle::try_current().ok();
        let flavor = runtime.map(|runtime| runtime.runtime_flavor());
        match flavor {
            Some(tokio::runtime::RuntimeFlavor::MultiThread) => tokio::task::block_in_place(learn),
            _ => learn(),
        }
    }

    fn report(&self, cycles: u64, stopped: bool) -> CrawlReport {
        CrawlReport {
            cycles,
            resumed: self.resumed,
            known: self.pages,
            hosts: self.hosts,
            elapsed: self.started.elapsed(),
            stopped,
            threshold: self.least,
            counts: self.accounts.counts.clone(),
        }
    }

    /// How requests are sent.
    pub fn fetch_settings(&self) -> &FetchSettings {
        &self.settings.fetch
    }

    /// How URLs are spelt.
    pub fn normaliser(&self) -> &Normaliser {
        &self.observer.normaliser
    }

    /// The store. A cycle that runs has it.
    pub fn store(&mut self) -> Result<&mut dyn Store, CrawlError> {
        Ok(&mut *self.recorder.as_mut().ok_or(CrawlError::WriterLost)?.store)
    }

    /// Lends the store and the policy to `work`, and takes them back whatever comes of it.
    fn with_recorder<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Recorder) -> Result<T, CrawlError>,
    ) -> Result<T, CrawlError> {
        let mut recorder = self.recorder.take().ok_or(CrawlError::WriterLost)?;
        let done = work(self, &mut recorder);
        self.recorder = Some(recorder);
        done
    }

    /// Judges all pages again if a seed moved or came back in the last cycle.
    fn judge_scope_again(&mut self) -> Result<(), CrawlError> {
        if !std::mem::take(&mut self.scope_changed) {
            return Ok(());
        }
        self.with_recorder(|crawler, recorder| {
            let Crawler { verifier, visits, observer, unwanted, .. } = crawler;
            unwanted.clear();
            recorder.store.each_address(&mut |page| {
                let Ok(url) = observer.normaliser.parse(&page.url) else { return };
                if !visits.accepts(verifier.scope_mut(), &url, page.depth) {
                    unwanted.insert(page.id);
                }
            })?;
            Ok(())
        })
    }

    /// Notes how fresh the copies are expected to be: another pass over all pages, so a cycle of named pages leaves it out.
    fn note_rates(&mut self) -> Result<(), CrawlError> {
        if self.only.is_some() {
            return Ok(());
        }
        let Recorder { store, .. } = self.recorder.as_mut().ok_or(CrawlError::WriterLost)?;
        collection_rates::note(&mut **store, &self.unwanted, Timestamp::now())
    }

    fn close_cycle(&mut self, cycle: CycleId) -> Result<(), CrawlError> {
        let Recorder { store, .. } = self.recorder.as_mut().ok_or(CrawlError::WriterLost)?;
        Ok(store.close_cycle(cycle, Timestamp::now(), self.least)?)
    }
}
