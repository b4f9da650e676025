//! One cycle, start to end: score what is known, then plan and visit in waves until the budget is spent or nothing
//! is left, then close.
//!
//! With a budget, the best pages that it has room for are chosen first, over all hosts, and chosen again as new ones are
//! found: a slow host's good page is not given up for another host's poor one only because that could be had sooner. A
//! wave takes those of them that their hosts can be asked for soon; links found in it compete in the next. A page is
//! planned in the store before it is asked for, and its plan falls with the commit that records it: killed at any
//! moment, the next run takes up what was planned and not recorded, and asks for nothing that was.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use super::observe::{Observed, Observer};
use super::prepare::{self, Terms, View};
use super::sitemaps::Sitemaps;
use super::weights::Weights;
use super::writer::{Order, Reply, Writer};
use super::{CrawlError, Crawler, Progress};
use crate::fetch::visit::{Outcome, Request, Subject, Validators, Waiting};
use crate::fetch::web::Web;
use crate::fetch::{Fetcher, HostPlace, Traffic};
use crate::page::{Host, HostId, PageId};
use crate::policy::{self, PageState, Policy};
use crate::schedule::{Candidates, Discovery};
use crate::store::{
    AddedPage, CycleId, KnownPage, OpenCycle, PlannedVisit, Recorded, RecordedVisit, Store, Tally,
};
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

pub(super) struct Cycle<'a, W> {
    pub(super) crawler: &'a mut Crawler<W>,
    pub(super) id: CycleId,
    pub(super) writer: Writer,
    pub(super) fetcher: Fetcher<W, Observed>,
    /// What may be visited and is not chosen.
    pub(super) candidates: Candidates,
    /// Chosen for this cycle, and not planned yet. Without a budget there is nothing to choose.
    pub(super) chosen: Candidates,
    /// New pages came, or there is room to fill: it is time to choose again.
    pub(super) stale: bool,
    /// When pages were last chosen, and how long that took.
    pub(super) last_choice: Option<(Instant, Duration)>,
    pub(super) discovery: Option<Discovery>,
    pub(super) view: View,
    pub(super) policy: Arc<dyn Policy>,
    /// When nothing more is planned.
    pub(super) until: Option<Instant>,
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

/// All that a cycle starts from: hosts as they were left, and every page that may be visited, with its score.
pub(super) struct Ready<W> {
    pub(super) fetcher: Fetcher<W, Observed>,
    pub(super) hosts: HashMap<HostId, CycleHost>,
    pub(super) ids: HashMap<Host, HostId>,
    pub(super) candidates: Candidates,
}

impl<W: Web> Ready<W> {
    /// Nothing is asked for, and nothing written.
    pub(super) fn of(
        crawler: &mut Crawler<W>,
        store: &mut dyn Store,
        open: &OpenCycle,
        view: &View,
        terms: Terms,
    ) -> Result<Self, CrawlError> {
        let now = terms.now;
        let left = terms.budget.map(|budget| budget.saturating_sub(open.requests));
        let observer = Arc::clone(&crawler.observer);
        let digest = move |visit| Observer::observe(&observer, visit);
        let mut fetcher =
            Fetcher::new(Arc::clone(&crawler.web), digest, crawler.settings.fetch.clone(), left);
        let (mut hosts, mut ids) = (HashMap::new(), HashMap::new());
        let known_hosts = store.hosts()?;
        for known in &known_hosts {
            fetcher.remember(&known.report, open.resumed);
            ids.insert(known.report.host.clone(), known.id);
            let place = fetcher.place(&known.report.host);
            hosts.insert(known.id, CycleHost { place, wanted: false, sitemaps_at: known.sitemaps_at });
        }
        let unwanted = &crawler.unwanted;
        let is_wanted = |page: &KnownPage| page.alias_of.is_none() && !unwanted.contains(&page.id);
        prepare::look_over(store, &mut crawler.policy, &known_hosts, view, terms, &is_wanted)?;
        let policy = &*crawler.policy;
        let mut candidates = Candidates::default();
        let outstanding: HashSet<PageId> = open.outstanding.iter().map(|visit| visit.page).collect();
        store.each_page(&mut |mut page| {
            let visited = page.last_cycle == Some(open.id);
            if visited && let Some(known) = hosts.get_mut(&page.host) {
                fetcher.charge(known.place, 1);
                // Killed before its sitemaps were read: they are asked for though all its known pages are done.
                known.wanted = true;
            }
            if visited || page.due_at > now || !is_wanted(&page) {
                return;
            }
            let is_planned = outstanding.contains(&page.id);
            view.adjust(&mut page);
            if !is_planned && terms.can_wait(policy, &page.state) {
                return;
            }
            if let Some(known) = hosts.get_mut(&page.host) {
                known.wanted = true;
            }
            if !is_planned {
                candidates.push(&page.state, policy::score(policy, &page.state, now));
            }
        })?;
        Ok(Self { fetcher, hosts, ids, candidates })
    }
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
        crawler.prepare(&mut |_, _| {})?;
        let mut store = crawler.store.take().ok_or(CrawlError::WriterLost)?;
        let settings = &crawler.settings;
        let length = prepare::cycle_length(&mut *store, settings.every, now)?;
        let mut open = store.open_cycle(crawler.policy.name(), settings.budget, now)?;
        crawler.resumed |= open.resumed;
        // The plan rows of pages that are not wanted any more fall when the cycle closes.
        open.outstanding.retain(|visit| !crawler.unwanted.contains(&visit.page));
        let view = View { weights: Weights::load(&mut *store, settings.weight)?, learnt: None };
        let terms =
            Terms { cycle: open.id.0, now, budget: settings.budget, threshold: settings.threshold, length };
        crawler.least = None;
        let Ready { fetcher, hosts, ids, candidates } = Ready::of(crawler, &mut *store, &open, &view, terms)?;
        tracing::info!(
            cycle = open.id.0,
            resumed = open.resumed,
            pages = candidates.len(),
            planned = open.outstanding.len(),
            "cycle opens"
        );
        store.follow(Arc::clone(&crawler.policy));
        // Found pages can wait a little: their host has its pause to keep.
        let linger = crawler.settings.fetch.politeness.delay / 4;
        let writer =
            Writer::start(store, open.id, linger, crawler.observer.change).map_err(CrawlError::Writer)?;
        let mut cycle = Self {
            id: open.id,
            writer,
            fetcher,
            candidates,
            chosen: Candidates::default(),
            stale: true,
            last_choice: None,
            discovery: crawler.settings.discover.map(Discovery::of),
            view,
            policy: Arc::clone(&crawler.policy),
            until: crawler.time.or(crawler.settings.every).map(|time| Instant::now() + time),
            crawler,
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
        let mut over = false;
        let mut listening = true;
        loop {
            if *stop.borrow() && !self.stopping {
                self.stopping = true;
                self.fetcher.stop(Waiting::Stopped);
                idle = false;
            }
            if self.is_over() && !over {
                // What is queued is put off; what is in flight comes home.
                over = true;
                self.fetcher.stop(Waiting::CycleOver);
                idle = false;
            }
            self.plan_wave().await;
            if idle && self.unanswered == 0 && !self.planning {
                if asked_again || self.stopping || self.waiting() == 0 || self.is_over() {
                    break;
                }
                // What was put off gave its share of the budget back: perhaps another host can use it.
                (self.thirsty, self.stale, asked_again) = (true, true, true);
                self.last_choice = None;
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
        let why = match self.fetcher.left() {
            Some(0) => Some(Waiting::Budget),
            _ => self.is_over().then_some(Waiting::CycleOver),
        };
        if let Some(why) = why.filter(|_| !self.stopping && self.waiting() > 0) {
            let waiting = self.waiting() as u64;
            self.crawler.counts.deferred += waiting;
            *self.crawler.counts.put_off.entry(why.name()).or_default() += waiting;
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

    /// Pages that may still be visited in this cycle and are not planned.
    fn waiting(&self) -> usize {
        self.candidates.len() + self.chosen.len()
    }

    /// Has the cycle's time run out?
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Plans a wave, if a host may have room and none is being planned.
    async fn plan_wave(&mut self) {
        if self.planning || self.stopping || !self.thirsty || self.waiting() == 0 || self.is_over() {
            return;
        }
        self.thirsty = false;
        // What is in flight was taken off the budget when it was sent.
        let queued = self.fetcher.queued() as u64;
        let left = self.fetcher.left().map(|left| left.saturating_sub(queued) as usize);
        if let Some(left) = left {
            self.choose_again(left);
        }
        let (fetcher, hosts, until) = (&self.fetcher, &self.hosts, self.until);
        let room = |id: HostId| hosts.get(&id).map_or(0, |host| room(fetcher, host, until));
        let plan = match left {
            Some(left) => self.chosen.choose(left.min(WAVE), None, room),
            None => self.candidates.choose(WAVE, None, room),
        };
        if plan.visits.is_empty() {
            return;
        }
        if let Some(discovery) = &mut self.discovery {
            plan.visits.iter().for_each(|visit| discovery.count(visit.is_new));
        }
        let revisits = plan.visits.iter().filter(|visit| !visit.is_new).map(|visit| visit.score.value());
        self.crawler.least = revisits.chain(self.crawler.least).min_by(f64::total_cmp);
        self.planning = true;
        self.writer.send(Order::Plan(plan)).await;
    }

    /// Chooses the pages that what is `left` of the budget goes to, if the choice is out of date. With very many pages
    /// that takes a while, and is not done for each new one: it may take one part in fifty of the time.
    fn choose_again(&mut self, left: usize) {
        let is_early = self.last_choice.is_some_and(|(at, took)| at.elapsed() < took * 50);
        let is_full = self.chosen.len() == left || self.candidates.is_empty() && self.chosen.len() < left;
        if is_early || is_full && !self.stale {
            return;
        }
        let started = Instant::now();
        self.candidates.append(std::mem::take(&mut self.chosen));
        let (fetcher, hosts, until) = (&self.fetcher, &self.hosts, self.until);
        let cap = |id: HostId| hosts.get(&id).map_or(0, |host| cap(fetcher, host, until));
        self.chosen = self.candidates.split(left, self.discovery.as_ref().copied().as_mut(), cap);
        self.stale = false;
        self.last_choice = Some((started, started.elapsed()));
    }

    fn submit(&mut self, visits: Vec<PlannedVisit>) {
        for visit in visits {
            match Url::parse(&visit.url) {
                Ok(url) => {
                    // Read by other rules, it may hold links that are wanted now: then it is read again, changed or not.
                    let same_rules = visit.read_by == Some(self.crawler.settings.rules)
                        && visit.text_rules == self.crawler.observer.reading.of(&url).rules.hash();
                    let validators = if same_rules { visit.held.clone() } else { Validators::default() };
                    let request = Request { subject: Subject::Page(visit.page), url, validators };
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
            let state = PageState { weight: self.view.weights.of(id, state.weight), ..state };
            self.candidates.push(&state, policy::score(&*self.policy, &state, now));
            (self.thirsty, self.stale) = (true, true);
        }
    }

    pub(super) async fn order(&mut self, order: Order) {
        self.unanswered += 1;
        self.writer.send(order).await;
    }

    /// The host whose visit just ended may take more.
    pub(super) fn quench(&mut self, host: HostId) {
        if let Some(known) = self.hosts.get(&host)
            && self.candidates.on(host) + self.chosen.on(host) > 0
            && room(&self.fetcher, known, self.until) * 2 > wave_of(&self.fetcher, known)
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
        let waiting = self.waiting() + self.planned.len();
        let left = self.fetcher.left().map_or(waiting as u64, |budget| budget.min(waiting as u64));
        let elapsed = started.elapsed();
        let rate = self.told.requests as f64 / elapsed.as_secs_f64().max(0.001);
        // The slowest host decides when its delay is what holds things up.
        let slowest = self
            .candidates
            .hosts()
            .filter_map(|id| {
                let pages = self.candidates.on(id) as f64;
                Some(self.fetcher.delay_of(self.hosts.get(&id)?.place).mul_f64(pages))
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
fn wave_of<W: Web>(fetcher: &Fetcher<W, Observed>, host: &CycleHost) -> usize {
    let delay = fetcher.delay_of(host.place).as_secs_f64();
    if delay <= 0.0 { HOST_WAVE } else { ((HORIZON.as_secs_f64() / delay) as usize).clamp(2, HOST_WAVE) }
}

/// How many more visits of this host may be planned now.
fn room<W: Web>(fetcher: &Fetcher<W, Observed>, host: &CycleHost, until: Option<Instant>) -> usize {
    let free = wave_of(fetcher, host).saturating_sub(fetcher.queued_on(host.place));
    free.min(cap(fetcher, host, until))
}

/// How many more visits of this host the cycle has room for: what its site's budget allows, and its delay until the
/// cycle is over.
pub(super) fn cap<W: Web>(fetcher: &Fetcher<W, Observed>, host: &CycleHost, until: Option<Instant>) -> usize {
    if fetcher.is_resting(host.place) {
        return 0;
    }
    let by_budget = fetcher.left_on(host.place).map_or(usize::MAX, |left| left as usize);
    let by_time = until.map_or(usize::MAX, |until| {
        visits_within(until.saturating_duration_since(Instant::now()), fetcher.delay_of(host.place))
    });
    by_budget.min(by_time).saturating_sub(fetcher.queued_on(host.place))
}

/// Visits to one host that fit into a time, the pause between them being kept.
fn visits_within(time: Duration, delay: Duration) -> usize {
    if delay.is_zero() {
        usize::MAX
    } else {
        ((time.as_secs_f64() / delay.as_secs_f64()) as usize).saturating_add(1)
    }
}
