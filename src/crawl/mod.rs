//! The live loop: cycles until told to stop.

mod accounts;
mod arrivals;
pub mod batch;
mod cycle;
mod importance;
pub mod learning;
pub mod monitor;
pub mod observe;
mod opening;
mod outbox;
mod planner;
pub mod preview;
pub mod rebuild;
pub mod record;
pub mod redirect;
mod sitemaps;
mod survey;
mod terms;
pub mod weights;
mod writer;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use xxhash_rust::xxh3::xxh3_64;

use crate::fetch::FetchSettings;
use crate::fetch::visit::Waiting;
use crate::fetch::web::Web;
use crate::page::{Normaliser, PageId};
use crate::policy::Policy;
use crate::store::{Change, CycleId, Store, StoreError};
use crate::time::Timestamp;
use crate::unique::{Scope, UniquenessVerifier, host_hash, query_path_hash};
pub use accounts::Counts;

use accounts::Accounts;
use observe::Observer;
use record::Recorder;
use weights::{WeightBy, Weights};
use writer::WriterPlace;

/// How a crawl works.
#[derive(Clone, Debug)]
pub struct CrawlSettings {
    pub fetch: FetchSettings,
    /// Requests a cycle may send; none: as many as there are pages.
    pub budget: Option<u64>,
    pub cycles: u64,
    /// From the start of one cycle to that of the next, if they are regular: a cycle asks no host for more than its
    /// delay allows in that time.
    pub every: Option<Duration>,
    /// Of a cycle's visits, the share that goes to pages never visited; `None`: they compete with the others.
    pub discover: Option<f64>,
    /// What the importance of pages goes by.
    pub weight: WeightBy,
    /// Pages are visited again once their score reaches it; `None`: all that the budget has room for.
    pub threshold: Option<f64>,
    /// Redirects that are followed.
    pub redirects: u32,
    /// Look for sitemaps.
    pub sitemaps: bool,
    /// Fingerprints kept in memory.
    pub max_known: usize,
    /// A hash of what decides which links are taken (the seeds are mixed in): a page that was read by other rules is
    /// read again though it did not change.
    pub rules: u64,
}

/// What a single cycle may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct CycleLimits {
    pub budget: Option<u64>,
    pub threshold: Option<f64>,
    /// After that it plans nothing more.
    pub time: Option<Duration>,
}

/// What went wrong with the crawl itself; a page that fails is an outcome, never this.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the writer could not be started: {0}")]
    Writer(#[source] std::io::Error),
    #[error("the writer stopped unexpectedly; what was committed is safe")]
    WriterLost,
}

/// Where a crawl stands, as it goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub cycle: u64,
    pub counts: Counts,
    /// Pages waiting, planned or not.
    pub left: u64,
    pub in_flight: usize,
    pub hosts_waiting: usize,
    pub elapsed: Duration,
    /// How long it will still take at this pace, if that can be said.
    pub time_left: Option<Duration>,
}

/// How a crawl ended.
#[derive(Clone, Debug)]
pub struct CrawlReport {
    pub cycles: u64,
    pub resumed: bool,
    pub counts: Counts,
    /// Pages in the store, other spellings included.
    pub known: u64,
    pub hosts: usize,
    pub elapsed: Duration,
    /// Told to stop before it was done.
    pub stopped: bool,
    /// The least score of a page that was visited again in the last cycle: the threshold that its budget came to.
    pub threshold: Option<f64>,
}

impl CrawlReport {
    /// Something was tried, and nothing at all could be fetched.
    pub fn nothing_fetched(&self) -> bool {
        let counts = &self.counts;
        // What the budget or the clock put off was not tried.
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
    /// Pages that an earlier run took in and the operator does not want any more. They stay, and are left alone.
    unwanted: HashSet<PageId>,
    accounts: Accounts,
    /// Who is told of changes.
    changes: Option<UnboundedSender<Change>>,
    started: Instant,
    resumed: bool,
    pages: u64,
    hosts: usize,
    /// The least score of a page that the last cycle visited again.
    least: Option<f64>,
    /// The policy's memory of the collection after the last survey.
    policy_memory: Option<String>,
    /// How long the next cycle may take, if that is not the time from one to the next.
    time: Option<Duration>,
    writer_place: WriterPlace,
}

impl<W: Web> Crawler<W> {
    /// `scope` must hold the operator's rules; the store's seeds are added to it here.
    pub fn new(
        web: W,
        mut store: Box<dyn Store>,
        policy: Box<dyn Policy>,
        mut scope: Scope,
        observer: Observer,
        mut settings: CrawlSettings,
    ) -> Result<Self, CrawlError> {
        for seed in store.seeds()? {
            // One that was adopted wants nothing that its seed did not.
            if !seed.adopted {
                let wish = format!("{:?}", (settings.rules, &seed.url, seed.scope, seed.max_depth));
                settings.rules = xxh3_64(wish.as_bytes());
            }
            match observer.normaliser.parse(&seed.url) {
                Ok(url) => scope.add_seed(seed.id, &url, seed.scope, seed.max_depth),
                Err(error) => tracing::warn!(url = seed.url, %error, "a stored seed is left out"),
            }
        }
        let mut verifier = UniquenessVerifier::new(scope, settings.max_known);
        let mut unwanted = HashSet::new();
        let mut pages = 0;
        store.each_page(&mut |page| match observer.normaliser.parse(&page.url) {
            Ok(url) => {
                pages += 1;
                verifier.remember(page.fingerprint, host_hash(&url), query_path_hash(&url));
                if verifier.scope_mut().judge(&url, page.state.depth, None).is_err() {
                    unwanted.insert(page.id);
                }
            }
            Err(error) => tracing::warn!(url = page.url, %error, "a stored page has a URL that is none"),
        })?;
        Ok(Self {
            web: Arc::new(web),
            policy_name: policy.name().to_owned(),
            recorder: Some(Recorder { store, policy, weights: Weights::default() }),
            settings,
            observer: Arc::new(observer),
            verifier,
            unwanted,
            accounts: Accounts::default(),
            changes: None,
            started: Instant::now(),
            resumed: false,
            pages,
            hosts: 0,
            least: None,
            policy_memory: None,
            time: None,
            writer_place: WriterPlace::default(),
        })
    }

    /// Tells of every change that a visit finds, once it is stored.
    pub fn tell_changes(&mut self, to: UnboundedSender<Change>) {
        self.changes = Some(to);
    }

    /// Tells nobody any more.
    pub fn tell_nobody(&mut self) {
        self.changes = None;
    }

    /// Runs its cycles. `stop` turning true lets what is in flight finish; `progress` is told how it goes.
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

    /// Runs one cycle within these limits, and gives back what it came to.
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

    /// Gets the store ready for the policy, which may take a while where another was used before: see [`learning::learn`].
    /// Every cycle does so by itself.
    pub fn prepare(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), CrawlError> {
        let Recorder { store, policy, .. } = self.recorder.as_mut().ok_or(CrawlError::WriterLost)?;
        let mut learn = || learning::learn(&mut **store, &mut **policy, progress);
        // All pages may have to be learnt again: meanwhile signals are to be heard.
        let runtime = tokio::runtime::Handle::try_current().ok();
        let flavor = runtime.map(|runtime| runtime.runtime_flavor());
        let learnt = match flavor {
            Some(tokio::runtime::RuntimeFlavor::MultiThread) => tokio::task::block_in_place(learn),
            _ => learn(),
        };
        Ok(learnt?)
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

    /// The store, which no cycle has at the moment.
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

    fn close_cycle(&mut self, cycle: CycleId) -> Result<(), CrawlError> {
        let Recorder { store, policy, .. } = self.recorder.as_mut().ok_or(CrawlError::WriterLost)?;
        if let Some(memory) = self.policy_memory.take() {
            survey::keep_memory(&mut **store, policy.name(), &memory)?;
        }
        Ok(store.close_cycle(cycle, Timestamp::now(), self.least)?)
    }
}
