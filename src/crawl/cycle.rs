//! One cycle, start to end: score what is known, then plan and visit in waves until the budget is spent or nothing
//! is left, then close.
//!
//! A wave takes the best pages that their hosts can be asked for soon; links found in it compete in the next. A page
//! is planned in the store before it is asked for, and its plan falls with the commit that records it: killed at any
//! moment, the next run takes up what was planned and not recorded, and asks for nothing that was.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use super::observe::{Observed, Observer};
use super::sitemaps::Sitemaps;
use super::writer::{Order, Reply, Writer};
use super::{CrawlError, Crawler, Progress};
use crate::fetch::visit::{Held, Outcome, Request, Subject, Visit, Waiting};
use crate::fetch::web::Web;
use crate::fetch::{Fetcher, HostPlace, Traffic};
use crate::page::{Host, HostId, PageId};
use crate::schedule::Candidates;
use crate::store::{AddedPage, CycleId, PlannedVisit, Recorded, RecordedVisit, Tally};
use crate::time::Timestamp;
use crate::unique::{host_hash, query_path_hash};

/// A wave plans for each host what it can be asked for in this time: enough to keep it busy while the next wave is
/// planned, little enough that a better page found meanwhile does not wait long.
const HORIZON: Duration = Duration::from_secs(10);
/// … and never more than this of one host.
const HOST_WAVE: usize = 200;
/// Visits of one wave.
const WAVE: usize = 4_000;
/// How often those who watch are told.
const TICK: Duration = Duration::from_millis(250);

type Digest = Box<dyn Fn(Visit) -> Observed + Send + Sync>;

pub(super) struct Cycle<'a, W> {
    pub(super) crawler: &'a mut Crawler<W>,
    pub(super) id: CycleId,
    pub(super) writer: Writer,
    pub(super) fetcher: Fetcher<W, Observed, Digest>,
    pub(super) candidates: Candidates,
    pub(super) hosts: HashMap<HostId, CycleHost>,
    pub(super) ids: HashMap<Host, HostId>,
    /// Visits planned and not ended.
    pub(super) planned: HashMap<PageId, PlannedVisit>,
    pub(super) sitemaps: Sitemaps,
    /// Orders that the writer has not answered.
    pub(super) unanswered: usize,
    pub(super) planning: bool,
    /// A host may have room for more.
    pub(super) thirsty: bool,
    pub(super) stopping: bool,
    /// What of the traffic is in the store.
    pub(super) told: Traffic,
}

pub(super) struct CycleHost {
    pub(super) place: HostPlace,
    /// Something of it is to be visited in this cycle.
    pub(super) wanted: bool,
    pub(super) sitemaps_at: Option<Timestamp>,
}

pub(super) async fn run<W: Web>(
    crawler: &mut Crawler<W>,
    number: u64,
    mut stop: watch::Receiver<bool>,
    progress: &watch::Sender<Progress>,
) -> Result<(), CrawlError> {
    let mut cycle = Cycle::open(crawler)?;
    let outcome = cycle.go(number, &mut stop, progress).await;
    let Cycle { writer, id, stopping, crawler, .. } = cycle;
    // Whatever happened, the store comes back: what was committed is in it.
    crawler.store = writer.finish();
    outcome?;
    if !stopping {
        crawler.close_cycle(id)?;
    }
    Ok(())
}

impl<'a, W: Web> Cycle<'a, W> {
    fn open(crawler: &'a mut Crawler<W>) -> Result<Self, CrawlError> {
        let now = Timestamp::now();
        let mut store = crawler.store.take().ok_or(CrawlError::WriterLost)?;
        let settings = &crawler.settings;
        let mut open = store.open_cycle(crawler.policy.name(), settings.budget, now)?;
        crawler.resumed |= open.resumed;
        let left = crawler.settings.budget.map(|budget| budget.saturating_sub(open.requests));
        let observer = std::sync::Arc::clone(&crawler.observer);
        let digest: Digest = Box::new(move |visit| Observer::observe(&observer, visit));
        let mut fetcher =
            Fetcher::new(std::sync::Arc::clone(&crawler.web), digest, crawler.settings.fetch.clone(), left);
        let mut hosts = HashMap::new();
        let mut ids = HashMap::new();
        for known in store.hosts()? {
            fetcher.remember(&known.report, open.resumed);
            ids.insert(known.report.host.clone(), known.id);
            let place = fetcher.place(&known.report.host);
            hosts.insert(known.id, CycleHost { place, wanted: false, sitemaps_at: known.sitemaps_at });
        }
        let mut candidates = Candidates::default();
        let (policy, unwanted) = (&*crawler.policy, &crawler.unwanted);
        // The plan rows of pages that are not wanted any more fall when the cycle closes.
        open.outstanding.retain(|visit| !unwanted.contains(&visit.page));
        let outstanding: HashSet<PageId> = open.outstanding.iter().map(|visit| visit.page).collect();
        store.each_page(&mut |page| {
            let visited = page.last_cycle == Some(open.id);
            if visited && let Some(known) = hosts.get_mut(&page.host) {
                fetcher.charge(known.place, 1);
                // Killed before its sitemaps were read: they are asked for though all its known pages are done.
                known.wanted = true;
            }
            if visited || page.is_alias || page.due_at > now || unwanted.contains(&page.id) {
                return;
            }
            if let Some(known) = hosts.get_mut(&page.host) {
                known.wanted = true;
            }
            if outstanding.contains(&page.id) {
                return;
            }
            let waits_since = page.state.last_visit.unwrap_or(page.state.found_at);
            candidates.push(page.id, page.host, policy.score(&page.state, now), waits_since);
        })?;
        tracing::info!(
            cycle = open.id.0,
            resumed = open.resumed,
            pages = candidates.len(),
            planned = open.outstanding.len(),
            "cycle opens"
        );
        // Found pages can wait a little: their host has its pause to keep.
        let linger = crawler.settings.fetch.politeness.delay / 4;
        let writer =
            Writer::start(store, open.id, linger, crawler.observer.change).map_err(CrawlError::Writer)?;
        let mut cycle = Self {
            crawler,
            id: open.id,
            writer,
            fetcher,
            candidates,
            hosts,
            ids,
            planned: HashMap::new(),
            sitemaps: Sitemaps::default(),
            unanswered: 0,
            planning: false,
            thirsty: true,
            stopping: false,
            told: Traffic::default(),
        };
        cycle.submit(open.outstanding);
        Ok(cycle)
    }

    async fn go(
        &mut self,
        number: u64,
        stop: &mut watch::Receiver<bool>,
        progress: &watch::Sender<Progress>,
    ) -> Result<(), CrawlError> {
        let started = Instant::now();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut idle = false;
        let mut asked_again = false;
        let mut listening = true;
        loop {
            if *stop.borrow() && !self.stopping {
                self.stopping = true;
                self.fetcher.stop(Waiting::Stopped);
                idle = false;
            }
            self.plan_wave().await;
            if idle && self.unanswered == 0 && !self.planning {
                if asked_again || self.stopping || self.candidates.is_empty() {
                    break;
                }
                // What was put off gave its share of the budget back: perhaps another host can use it.
                (self.thirsty, asked_again) = (true, true);
                continue;
            }
            tokio::select! {
                biased;
                reply = self.writer.reply() => {
                    match reply {
                        Some(Reply::Recorded { orders, recorded }) => self.recorded(orders, recorded),
                        Some(Reply::Planned(visits)) => {
                            self.planning = false;
                            asked_again = false;
                            self.submit(visits);
                        }
                        Some(Reply::Failed(error)) => return Err(error.into()),
                        None => return Err(CrawlError::WriterLost),
                    }
                    idle = false;
                }
                event = self.fetcher.next(), if !idle => match event {
                    Some(event) => self.take(event).await,
                    None => idle = true,
                },
                _ = tick.tick() => {
                    self.tell_counts().await;
                    let _ = progress.send(self.progress(number, started));
                }
                // Nobody left who could ask us to stop: then nobody is listened for.
                changed = stop.changed(), if listening && !self.stopping => listening = changed.is_ok(),
            }
        }
        // Pages whose hosts rest, or that the budget has no room for, wait for a later cycle.
        if self.fetcher.left() == Some(0) && !self.stopping && !self.candidates.is_empty() {
            let waiting = self.candidates.len() as u64;
            self.crawler.counts.deferred += waiting;
            *self.crawler.counts.put_off.entry(Waiting::Budget.name()).or_default() += waiting;
            let tally = Tally { deferred: waiting, ..Tally::default() };
            self.order(Order::Counts(Vec::new(), tally)).await;
        }
        self.tell_counts().await;
        while self.unanswered > 0 {
            match self.writer.reply().await {
                Some(Reply::Recorded { orders, recorded }) => self.recorded(orders, recorded),
                Some(Reply::Planned(_)) => self.planning = false,
                Some(Reply::Failed(error)) => return Err(error.into()),
                None => return Err(CrawlError::WriterLost),
            }
        }
        let _ = progress.send(self.progress(number, started));
        self.crawler.hosts = self.hosts.len();
        Ok(())
    }

    // --- planning ----------------------------------------------------------------------------------------------

    /// Plans a wave, if a host may have room and none is being planned.
    async fn plan_wave(&mut self) {
        if self.planning || self.stopping || !self.thirsty || self.candidates.is_empty() {
            return;
        }
        self.thirsty = false;
        let on_their_way = (self.fetcher.queued() + self.fetcher.in_flight()) as u64;
        let budget = self
            .fetcher
            .left()
            .map_or(WAVE, |left| left.saturating_sub(on_their_way).min(WAVE as u64) as usize);
        let (fetcher, hosts) = (&self.fetcher, &self.hosts);
        let plan = self.candidates.choose(budget, |id| hosts.get(&id).map_or(0, |host| room(fetcher, host)));
        if plan.visits.is_empty() {
            return;
        }
        self.planning = true;
        self.writer.send(Order::Plan(plan)).await;
    }

    fn submit(&mut self, visits: Vec<PlannedVisit>) {
        for visit in visits {
            match Url::parse(&visit.url) {
                Ok(url) => {
                    // Read by other rules, it may hold links that are wanted now: then it is read again, changed or not.
                    let same_rules = visit.read_by == Some(self.crawler.settings.rules)
                        && visit.text_rules == self.crawler.observer.reading.of(&url).rules.hash();
                    let held = if same_rules { visit.held.clone() } else { Held::default() };
                    let request = Request { subject: Subject::Page(visit.page), url, held };
                    self.planned.insert(visit.page, visit);
                    self.fetcher.submit(request);
                }
                Err(error) => tracing::warn!(url = visit.url, %error, "a stored page has a URL that is none"),
            }
        }
    }

    /// Pages the store took as new: they compete in the next wave.
    fn recorded(&mut self, orders: usize, recorded: Recorded) {
        self.unanswered -= orders.min(self.unanswered);
        self.crawler.counts.new += recorded.new.len() as u64;
        for RecordedVisit { outcome, changed, change } in recorded.visits {
            self.count(&outcome);
            match changed {
                Some(true) => self.crawler.counts.changed += 1,
                Some(false) => self.crawler.counts.unchanged += 1,
                None => {}
            }
            if let (Some(change), Some(told)) = (change, &self.crawler.changes) {
                // Nobody listening any more is nobody's loss.
                let _ = told.send(change);
            }
        }
        let now = Timestamp::now();
        for AddedPage { id, host, url, state } in recorded.new {
            // The memory was full when it came: now that the store took it, it counts against the limits.
            if !self.crawler.verifier.knows(url.fingerprint()) {
                self.crawler.verifier.remember(url.fingerprint(), host_hash(&url), query_path_hash(&url));
            }
            self.crawler.pages += 1;
            let known = self.hosts.entry(host).or_insert_with(|| {
                let origin = url.host();
                let place = self.fetcher.place(&origin);
                self.ids.insert(origin, host);
                CycleHost { place, wanted: true, sitemaps_at: None }
            });
            known.wanted = true;
            let score = self.crawler.policy.score(&state, now);
            self.candidates.push(id, host, score, state.found_at);
            self.thirsty = true;
        }
    }

    pub(super) async fn order(&mut self, order: Order) {
        self.unanswered += 1;
        self.writer.send(order).await;
    }

    /// The host whose visit just ended may take more.
    pub(super) fn quench(&mut self, host: HostId) {
        if let Some(known) = self.hosts.get(&host)
            && self.candidates.on(host) > 0
            && room(&self.fetcher, known) * 2 > wave_of(&self.fetcher, known)
        {
            self.thirsty = true;
        }
    }

    fn count(&mut self, outcome: &Outcome) {
        let counts = &mut self.crawler.counts;
        *counts.outcomes.entry(outcome.code()).or_default() += 1;
        match outcome {
            Outcome::Fetched | Outcome::NotModified => counts.fetched += 1,
            Outcome::Redirected { .. } => counts.redirected += 1,
            Outcome::Refused(_) => counts.blocked += 1,
            _ => counts.failed += 1,
        }
    }

    /// Brings the store's counts up to what was spent and refused since it was last told.
    async fn tell_counts(&mut self) {
        let spent = self.spent();
        let refusals = self.crawler.verifier.take_refusals();
        self.crawler.counts.refuse(&refusals);
        if spent != Tally::default() || !refusals.is_empty() {
            self.order(Order::Counts(refusals, spent)).await;
        }
    }

    /// What was spent since this was last asked: it goes to the store with the next order.
    pub(super) fn spent(&mut self) -> Tally {
        let traffic = self.fetcher.traffic();
        let spent = Tally {
            requests: traffic.requests - self.told.requests,
            bytes: traffic.bytes - self.told.bytes,
            deferred: 0,
        };
        self.crawler.counts.requests += spent.requests;
        self.crawler.counts.bytes += spent.bytes;
        self.told = traffic;
        spent
    }

    fn progress(&self, number: u64, started: Instant) -> Progress {
        let waiting = self.candidates.len() + self.planned.len();
        let left = self.fetcher.left().map_or(waiting as u64, |budget| budget.min(waiting as u64));
        let elapsed = started.elapsed();
        let rate = self.told.requests as f64 / elapsed.as_secs_f64().max(0.001);
        // The slowest host decides when its delay is what holds things up.
        let slowest = self
            .candidates
            .hosts()
            .filter_map(|(id, pages)| {
                Some(self.fetcher.delay_of(self.hosts.get(&id)?.place).mul_f64(pages as f64))
            })
            .max()
            .unwrap_or_default();
        let even =
            (rate > 0.0).then(|| Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(Duration::MAX));
        Progress {
            cycle: number,
            counts: self.crawler.counts.clone(),
            left,
            in_flight: self.fetcher.in_flight(),
            hosts_waiting: self.fetcher.hosts_waiting(),
            elapsed: self.crawler.started.elapsed(),
            time_left: even.map(|even| if self.fetcher.left().is_some() { even } else { even.max(slowest) }),
        }
    }
}

/// What a host's queue holds when it is full: what it can be asked for until the horizon.
fn wave_of<W: Web>(fetcher: &Fetcher<W, Observed, Digest>, host: &CycleHost) -> usize {
    let delay = fetcher.delay_of(host.place).as_secs_f64();
    if delay <= 0.0 { HOST_WAVE } else { ((HORIZON.as_secs_f64() / delay) as usize).clamp(2, HOST_WAVE) }
}

/// How many more visits of this host may be planned now.
fn room<W: Web>(fetcher: &Fetcher<W, Observed, Digest>, host: &CycleHost) -> usize {
    if fetcher.is_resting(host.place) {
        return 0;
    }
    let free = wave_of(fetcher, host).saturating_sub(fetcher.queued_on(host.place));
    match fetcher.left_on(host.place) {
        Some(left) => free.min((left as usize).saturating_sub(fetcher.queued_on(host.place))),
        None => free,
    }
}
