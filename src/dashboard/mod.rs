//! The dashboard: pages, an API and metrics over the views of [`crate::look`], served by HTTP.
//!
//! In comes a request, out goes a page, JSON or a feed; [`router`] makes the whole of it a value that a test can call without a
//! socket. Every page shows a view that the terminal prints too. It reads only, but for pings and read marks. What must stay true: a request
//! holds no statement of the store open while its answer is sent, so a reader never blocks the crawl; every text that was
//! crawled is escaped and [`shown`] as what it is; nothing is fetched from elsewhere; [`guard`] has looked at every request first.
//!
//! A page is a file in `pages/` (a handler and the struct of its template) and a template that extends `base.html`. A resource of
//! the API is a file in `api/`.

pub mod api;
pub(crate) mod assets;
mod events;
mod feeds;
pub mod guard;
mod links;
mod list;
pub mod listen;
mod marks;
mod pages;
mod policies;
mod readers;
mod reasons;
mod shown;
mod trouble;
mod watch;
mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::middleware;
use axum::routing::{get, post};
use jiff::tz::TimeZone;
use tokio::sync::{Semaphore, watch as stop_signal};

use crate::crawl::Crawler;
use crate::crawl::observe::Observer;
use crate::fetch::SitePace;
use crate::fetch::network::Network;
use crate::look::LookError;
use crate::look::inbox::InboxMemory;
use crate::page::Sites;
use crate::quality::scoring::Scoring;
use crate::report::Screen;
use crate::store::Store;
use crate::time::Timestamp;
use crate::unique::Scope;

use events::Pulse;
use guard::GuardSettings;
use policies::PolicyWork;
use readers::StoreReaders;
use reasons::ReasonWork;
use trouble::Trouble;
use watch::ServerWatch;

/// Crawlers that look at a time.
const MOST_CRAWLERS: usize = 2;
/// How long a request waits for one of them.
const CRAWLER_PATIENCE: Duration = Duration::from_secs(10);

/// Makes a crawler that only looks, by the operator's settings: nothing in the store is changed and no request is sent. The error is
/// a sentence for the operator.
pub type LookingCrawler = dyn Fn() -> Result<Crawler<Network>, String> + Send + Sync;

/// The settings of the dashboard, as the operator wrote them.
pub struct DashboardSettings {
    /// The store.
    pub store: PathBuf,
    /// The period of the timetable, if one is set.
    pub every: Option<Duration>,
    /// Budgets of sites.
    pub pace: Sites<SitePace>,
    /// How pages are read.
    pub observer: Observer,
    /// The operator's rules on links; the seeds come from the store.
    pub scope: Scope,
    /// How results of searches are ranked.
    pub scoring: Scoring,
    /// The zone of the times that people read.
    pub zone: TimeZone,
    /// For the next plan, the reasons and the links of a page.
    pub looking: Box<LookingCrawler>,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Turns true when the server stops: streams of events end then.
    pub stopped: stop_signal::Receiver<bool>,
    /// Who may look.
    pub guard: GuardSettings,
}

/// The state behind every request.
#[derive(Clone)]
pub struct Dashboard {
    settings: Arc<DashboardSettings>,
    readers: Arc<StoreReaders>,
    pulse: Arc<Pulse>,
    inbox_memory: Arc<Mutex<InboxMemory>>,
    work: Arc<PolicyWork>,
    reasons: Arc<ReasonWork>,
    watch: Arc<ServerWatch>,
    /// Crawlers that look: each reads every address of the store.
    crawlers: Arc<Semaphore>,
}

impl Dashboard {
    /// A dashboard of a store, which need not exist yet.
    pub fn new(settings: DashboardSettings) -> Self {
        let readers = Arc::new(StoreReaders::new(settings.store.clone()));
        Self {
            settings: Arc::new(settings),
            readers,
            pulse: Arc::default(),
            inbox_memory: Arc::default(),
            work: Arc::default(),
            reasons: Arc::default(),
            watch: Arc::default(),
            crawlers: Arc::new(Semaphore::new(MOST_CRAWLERS)),
        }
    }

    /// Verdicts on changes, from one look at the inbox to the next.
    pub(crate) fn inbox_memory(&self) -> &Mutex<InboxMemory> {
        &self.inbox_memory
    }

    /// The time: the only place that asks for it.
    pub(crate) fn now(&self) -> Timestamp {
        (self.settings.now)()
    }

    /// What times are read by.
    pub(crate) fn screen(&self) -> Screen {
        Screen { width: None, zone: self.settings.zone.clone() }
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &DashboardSettings {
        &self.settings
    }

    /// Asks the store, on a thread where that may take its time. The connection is one of a few: a request that gets none in time
    /// is told so.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Store) -> Result<T, LookError> + Send + 'static,
    ) -> Result<T, Trouble> {
        self.noted(self.readers.look(work).await)
    }

    /// Asks a crawler that only looks, as `freshet links` does: it knows the rules on links, the policy and the budget.
    pub(crate) async fn ask_crawler<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Crawler<Network>) -> Result<T, LookError> + Send + 'static,
    ) -> Result<T, Trouble> {
        // Says so if there is no store.
        self.look(|_| Ok(())).await?;
        let seat = Arc::clone(&self.crawlers).acquire_owned();
        let seat = tokio::time::timeout(CRAWLER_PATIENCE, seat).await.map_err(|_| Trouble::Busy)?;
        let site = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            let mut crawler = (site.settings.looking)()
                .map_err(|error| Trouble::failed("a look at the next cycle", &error))?;
            work(&mut crawler).map_err(Trouble::from)
        });
        let done = done.await.map_err(|error| Trouble::failed("a look at the next cycle", &error));
        self.noted(done.and_then(|done| done))
    }

    /// Keeps in mind that a request could not be answered, for `/healthz`.
    fn noted<T>(&self, done: Result<T, Trouble>) -> Result<T, Trouble> {
        if matches!(done, Err(Trouble::Failed)) {
            self.watch
                .note(self.now(), "the store could not be read; the log of the server says more".to_owned());
        }
        done
    }
}

/// The whole dashboard as one service.
pub fn router(site: Dashboard) -> Router {
    let pages = Router::new()
        .route("/", get(pages::overview::overview))
        .route("/login", get(pages::login::form).post(pages::login::enter))
        .route("/logout", post(pages::login::leave))
        .route("/read", post(marks::mark))
        .route("/events", get(events::events))
        .route("/healthz", get(watch::healthz))
        .route("/metrics", get(watch::prometheus))
        .route("/pages", get(pages::list::pages))
        .route("/policies", get(pages::policies::policies))
        .route("/search", get(pages::search::search))
        .route("/changes", get(pages::changes::changes))
        .route("/changes.atom", get(feeds::atom))
        .route("/changes.json", get(feeds::json))
        .route("/sites", get(pages::sites::sites))
        .route("/site", get(pages::site::site))
        .route("/page", get(pages::page::by_url))
        .route("/page/{id}", get(pages::page::page))
        .route("/page/{id}/text", get(pages::page_text::text))
        .route("/page/{id}/visits", get(pages::page_visits::visits))
        .route("/page/{id}/why", get(pages::page_why::reasons))
        .route("/assets/{name}", get(assets::asset));
    pages
        .merge(api::router())
        .fallback(trouble::no_such_page)
        .method_not_allowed_fallback(trouble::no_such_method)
        .layer(middleware::from_fn_with_state(site.clone(), trouble::dress))
        .layer(middleware::from_fn_with_state(site.clone(), guard::check))
        .layer(middleware::from_fn(guard::protect))
        .with_state(site)
}
