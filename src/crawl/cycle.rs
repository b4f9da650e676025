//! One cycle, start to end: score what is known, then plan and visit in waves until the budget is spent or nothing
//! is left, then close.
//!
//! The [`Planner`] decides which pages are visited and when; links found in a wave compete in the next. A page is planned in
//! the store before it is asked for, and its plan falls with the commit that records its visit. However a run ends, the next
//! one takes up the visits that were planned and not recorded, and repeats none that were recorded.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use url::Url;

use super::batch::{FoundPage, RecordedVisit};
use super::opening::{CycleHosts, Opening, PageFetcher};
use super::outbox::Outbox;
use super::planner::Planner;
use super::recorder::Recorder;
use super::second_look::{self, Second, SecondLook};
use super::site_spending::SiteSpending;
use super::sitemaps::Sitemaps;
use super::terms::{self, Terms, View};
use super::weights::Weights;
use super::writer::{Order, Reply, Writer};
use super::{CrawlError, Crawler, Progress, clock, gains, survey};
use crate::fetch::visit::{Request, Subject, Validators, Waiting};
use crate::fetch::web::Web;
use crate::observation::validate::wants_body;
use crate::page::{HostId, PageId};
use crate::store::{CycleId, LoggedPlan, OpenCycle, PlannedVisit, Tally};
use crate::time::Timestamp;
use crate::unique::{host_hash, query_path_hash};

/// How often progress is told and counts go to the store.
const TICK: Duration = Duration::from_millis(250);

/// A cycle under way.
pub(super) struct Cycle<'a, W> {
    pub(super) crawler: &'a mut Crawler<W>,
    pub(super) id: CycleId,
    pub(super) phase: Phase,
    pub(super) planner: Planner,
    pub(super) fetcher: PageFetcher<W>,
    pub(super) outbox: Outbox,
    pub(super) hosts: CycleHosts,
    pub(super) sitemaps: Sitemaps,
    /// Visits that are planned and have not ended.
    pub(super) planned: HashMap<PageId, PlannedVisit>,
    /// Requests to sites that have a budget, as the store knows them.
    on_sites: SiteSpending,
    second: Second,
}

/// How far a cycle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waves are planned whenever a host may have room.
    Running,
    /// Every visit has ended and pages still wait: one more wave is tried with the budget that came back.
    Refilling,
    /// The cycle's time is over. Requests in flight end; nothing more is planned.
    Over,
    /// The crawl was told to stop. Requests in flight end; the next run goes on with the cycle.
    Stopping,
}

impl Phase {
    /// May waves be planned?
    fn plans(self) -> bool {
        matches!(self, Self::Running | Self::Refilling)
    }
}

/// Runs a cycle, the `number`th of this crawl.
pub(super) async fn run<W: Web>(
    crawler: &mut Crawler<W>,
    number: u64,
    mut stop: watch::Receiver<bool>,
    progress: &watch::Sender<Progress>,
) -> Result<(), CrawlError> {
    let mut cycle = Cycle::open(crawler)?;
    let outcome = cycle.go(number, &mut stop, progress).await;
    let Cycle { outbox, id, phase, crawler, .. } = cycle;
    // Whatever happened, the store and the policy come back: what was committed is in the store.
    crawler.recorder = outbox.finish().await;
    outcome?;
    crawler.note_rates()?;
    // A cycle of named pages is not resumed: who wants the rest names it again.
    if phase != Phase::Stopping || crawler.only.is_some() {
        crawler.close_cycle(id)?;
    }
    Ok(())
}

impl<'a, W: Web> Cycle<'a, W> {
    fn open(crawler: &'a mut Crawler<W>) -> Result<Self, CrawlError> {
        let now = Timestamp::now();
        crawler.prepare(&mut |_, _| {})?;
        crawler.read_again(&mut |_, _| {})?;
        crawler.judge_scope_again()?;
        crawler.take_pings()?;
        let reading = Instant::now();
        let (open, opening, terms) =
            crawler.with_recorder(|crawler, recorder| read_store(crawler, recorder, now))?;
        let first = reading.elapsed();
        let Opening { fetcher, hosts, candidates, lists, .. } = opening;
        tracing::info!(
            cycle = open.id.0,
            resumed = open.resumed,
            pages = candidates.len(),
            planned = open.outstanding.len(),
            "cycle opens"
        );
        crawler.resumed |= open.resumed;
        crawler.least = None;
        crawler.accounts.open_cycle();
        let until = crawler.time.or(crawler.settings.every).map(|time| Instant::now() + time);
        let planner = Planner::new(candidates, crawler.settings.discover, until);
        // Found pages can wait a little: their host has its pause to keep.
        let linger = crawler.settings.fetch.politeness.delay / 4;
        let budget = fetcher.left();
        let recorder = crawler.recorder.take().ok_or(CrawlError::WriterLost)?;
        let is_open = recorder.policy.learns_from_all() && crawler.only.is_none();
        let (change, place) = (crawler.observer.change, crawler.writer_place);
        let writer =
            match Writer::start(recorder, open.id, linger, change, crawler.settings.store_limits, place) {
                Ok(writer) => writer,
                Err((recorder, error)) => {
                    crawler.recorder = Some(*recorder);
                    return Err(CrawlError::Writer(error));
                }
            };
        let mut cycle = Self {
            crawler,
            id: open.id,
            phase: Phase::Running,
            planner,
            fetcher,
            outbox: Outbox::new(writer),
            hosts,
            sitemaps: Sitemaps::known(lists),
            planned: HashMap::new(),
            on_sites: SiteSpending::of(open.id, std::iter::empty()),
            second: Second {
                is_open,
                keeps_planned: is_open,
                first,
                began: Instant::now(),
                terms,
                budget,
                planned: HashSet::new(),
            },
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
        // The fetcher has nothing to do until it is given something.
        let mut is_idle = false;
        loop {
            if self.advance(*stop.borrow()) {
                is_idle = false;
            }
            self.look_again().await;
            self.plan_wave().await;
            if is_idle && self.outbox.is_quiet() {
                if self.phase != Phase::Running || self.planner.waiting() == 0 {
                    break;
                }
                self.phase = Phase::Refilling;
                self.planner.refill();
                continue;
            }
            tokio::select! {
                biased;
                reply = self.outbox.reply() => {
                    self.answered(reply?);
                    is_idle = false;
                }
                event = self.fetcher.next(), if !is_idle => match event {
                    Some(event) => self.take(event).await,
                    None => is_idle = true,
                },
                _ = tick.tick() => {
                    self.tell_counts().await;
                    let _ = progress.send(self.progress(number, started));
                }
                () = told_to_stop(stop), if self.phase != Phase::Stopping => {}
            }
        }
        self.put_off_the_rest().await;
        self.tell_counts().await;
        while !self.outbox.is_quiet() {
            let reply = self.outbox.reply().await?;
            self.answered(reply);
        }
        let _ = progress.send(self.progress(number, started));
        self.crawler.hosts = self.hosts.len();
        self.crawler.least = self.planner.lowest();
        Ok(())
    }

    /// Moves to another phase if it is time. Says whether the fetcher has something to tell because of that.
    fn advance(&mut self, is_told_to_stop: bool) -> bool {
        let (phase, why) = if is_told_to_stop && self.phase != Phase::Stopping {
            (Phase::Stopping, Waiting::Stopped)
        } else if self.phase.plans() && self.planner.is_over(Instant::now()) {
            (Phase::Over, Waiting::CycleOver)
        } else {
            return false;
        };
        self.phase = phase;
        self.fetcher.stop(why);
        true
    }

    /// Orders a second look, once, when most of the first part of the visits has ended.
    async fn look_again(&mut self) {
        let Second { is_open, first, began, mut terms, .. } = self.second;
        if !is_open || !self.phase.plans() || self.second.room() != Some(0) {
            return;
        }
        if !second_look::is_due(self.second.planned.len(), self.planned.len()) {
            return;
        }
        let time = self.crawler.settings.every.unwrap_or_default().max(began.elapsed());
        if !second_look::is_worth_it(first, time) {
            self.second.close();
            return;
        }
        self.second.is_open = false;
        terms.now = Timestamp::now();
        let unwanted = Arc::new(self.crawler.unwanted.clone());
        let look = SecondLook { terms, unwanted, known: self.crawler.pages };
        self.outbox.order(Order::LookAgain(look)).await;
    }

    /// Plans a wave, if a host may have room and no wave is being planned.
    async fn plan_wave(&mut self) {
        let now = Instant::now();
        if !self.phase.plans() || self.outbox.is_planning() || !self.planner.wants_wave(now) {
            return;
        }
        let room = self.second.room();
        if room == Some(0) {
            return;
        }
        // Requests in flight were taken off the budget when they were sent.
        let queued = self.fetcher.queued() as u64;
        let left = self.fetcher.left().map(|left| left.saturating_sub(queued) as usize);
        let load = |host| self.hosts.load(host, &self.fetcher);
        if let Some(left) = left
            && self.planner.choose(left, now, load)
        {
            self.planner.choice_took(now.elapsed());
        }
        let left = left.map(|left| left.min(room.unwrap_or(left)));
        if let Some(plan) = self.planner.next_wave(left, now, load) {
            self.outbox.plan(plan).await;
        }
    }

    /// Takes what the writer answers.
    fn answered(&mut self, reply: Reply) {
        match reply {
            Reply::Recorded { visits, new, .. } => self.recorded(visits, new),
            Reply::Planned(visits) => {
                if self.phase == Phase::Refilling {
                    self.phase = Phase::Running;
                }
                self.submit(visits);
            }
            Reply::LookedAgain(candidates) => {
                let planned = self.second.close();
                self.planner.scored_again(candidates, |page| planned.contains(&page));
            }
            Reply::Robots(host, record) => self.fetcher.recalled(&host, record.as_ref()),
            // The outbox turns it into an error.
            Reply::Failed(_) => {}
        }
    }

    fn submit(&mut self, visits: Vec<PlannedVisit>) {
        for visit in visits {
            if self.second.keeps_planned {
                self.second.planned.insert(visit.page);
            }
            match Url::parse(&visit.url) {
                Ok(url) => {
                    // A page that was read by other rules may hold links that are wanted now. Where its stored body could not be
                    // read again, it is downloaded, changed or not. So is one whose text was read by other noise rules.
                    let same_rules = visit.read_by == Some(self.crawler.settings.rules)
                        && self.crawler.observer.reading.have_read(
                            &url,
                            visit.content_type.as_deref(),
                            visit.text_rules,
                        );
                    let validators = match &visit.held {
                        _ if !same_rules => Validators::default(),
                        held if wants_body(visit.confirmations) => {
                            Validators { body: held.body, ..Validators::default() }
                        }
                        held => held.clone(),
                    };
                    let request = Request { subject: Subject::Page(visit.page), url, validators };
                    self.planned.insert(visit.page, visit);
                    self.fetcher.submit(request);
                }
                Err(error) => {
                    tracing::warn!(url = visit.url, %error, "a stored page is left out: its URL can't be read")
                }
            }
        }
    }

    /// A batch is in the store: visits are counted, and pages that the store took as new compete in the next wave.
    fn recorded(&mut self, visits: Vec<RecordedVisit>, new: Vec<FoundPage>) {
        let crawler = &mut *self.crawler;
        crawler.accounts.record(&visits, new.len());
        for RecordedVisit { event, .. } in visits {
            if let (Some(event), Some(told)) = (event, &crawler.events) {
                // The listener may be gone; the crawl goes on.
                let _ = told.send(event);
            }
        }
        for FoundPage { host, url, state, score } in new {
            // The memory was full when it came: now that the store took it, it counts against the limits.
            if !crawler.verifier.knows(url.fingerprint()) {
                crawler.verifier.remember(url.fingerprint(), host_hash(&url), query_path_hash(&url));
            }
            crawler.pages += 1;
            if !crawler.visits.accepts(crawler.verifier.scope_mut(), &url, state.depth) {
                crawler.unwanted.insert(state.page);
            } else if crawler.only.is_none() {
                self.hosts.found(host, &url, &mut self.fetcher);
                self.planner.add(&state, score);
            }
        }
    }

    /// A visit to the host ended.
    pub(super) fn host_freed(&mut self, host: HostId) {
        if let Some(load) = self.hosts.load(host, &self.fetcher) {
            self.planner.host_freed(host, load, Instant::now());
        }
    }

    /// At the end: pages that the budget or the time had no room for wait for a later cycle. So do those that a cycle which
    /// was told to stop did not reach; for the store they are not put off, because the cycle goes on in the next run.
    async fn put_off_the_rest(&mut self) {
        let waiting = self.planner.waiting() as u64;
        if self.phase == Phase::Stopping {
            let accounts = &mut self.crawler.accounts;
            let stopped = accounts.counts.put_off.get(Waiting::Stopped.name()).copied().unwrap_or(0);
            let room = self.fetcher.left().map_or(u64::MAX, |left| left.saturating_sub(stopped));
            for (why, visits) in
                [(Waiting::Stopped, waiting.min(room)), (Waiting::Budget, waiting.saturating_sub(room))]
            {
                if visits > 0 {
                    accounts.put_off(why, visits);
                }
            }
            return;
        }
        let why = match self.fetcher.left() {
            Some(0) => Some(Waiting::Budget),
            _ => self.planner.is_over(Instant::now()).then_some(Waiting::CycleOver),
        };
        if let Some(why) = why.filter(|_| waiting > 0) {
            let tally = self.crawler.accounts.put_off(why, waiting);
            self.outbox.order(Order::Counts(Vec::new(), tally)).await;
        }
    }

    /// Brings the store's counts up to what was spent and refused since it was last told.
    async fn tell_counts(&mut self) {
        let spent = self.spent();
        let refusals = self.crawler.verifier.take_refusals();
        self.crawler.accounts.refuse(&refusals);
        if spent != Tally::default() || !refusals.is_empty() {
            self.outbox.order(Order::Counts(refusals, spent)).await;
        }
        let on_sites = SiteSpending::of(self.id, self.fetcher.spent_on_sites());
        if on_sites != self.on_sites {
            self.on_sites = on_sites.clone();
            self.outbox.order(Order::SiteSpending(on_sites)).await;
        }
    }

    /// Traffic since this was last asked: it goes to the store with the next order.
    pub(super) fn spent(&mut self) -> Tally {
        self.crawler.accounts.spend(self.fetcher.traffic())
    }

    fn progress(&self, number: u64, started: Instant) -> Progress {
        let accounts = &self.crawler.accounts;
        let waiting = (self.planner.waiting() + self.planned.len()) as u64;
        let left = self.fetcher.left().map_or(waiting, |budget| budget.min(waiting));
        let rate = accounts.requests_in_cycle() as f64 / started.elapsed().as_secs_f64().max(0.001);
        let even =
            (rate > 0.0).then(|| Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(Duration::MAX));
        // Without a budget every page is visited, and the slowest host may take longer than the rest.
        let longest = match self.fetcher.left() {
            Some(_) => Duration::ZERO,
            None => self.planner.longest(|host| self.hosts.delay(host, &self.fetcher)),
        };
        Progress {
            cycle: number,
            counts: accounts.counts.clone(),
            left,
            in_flight: self.fetcher.in_flight(),
            hosts_waiting: self.fetcher.hosts_waiting(),
            elapsed: self.crawler.started.elapsed(),
            time_left: even.map(|even| even.max(longest)),
        }
    }
}

/// Opens the cycle in the store and reads everything that it starts from. The cycle goes on, if one was interrupted.
fn read_store<W: Web>(
    crawler: &mut Crawler<W>,
    recorder: &mut Recorder,
    now: Timestamp,
) -> Result<(OpenCycle, Opening<W>, Terms), CrawlError> {
    let Recorder { store, policy, .. } = &mut *recorder;
    let settings = &crawler.settings;
    let length = terms::cycle_length(&mut **store, settings.every, now)?;
    if let Some(last) = store.cycles(1)?.first().filter(|last| clock::is_ahead(last.started_at, now)) {
        tracing::warn!("{}", clock::warning(last.started_at, now));
    }
    let mut open = store.open_cycle(crawler.command, policy.name(), settings.budget, now)?;
    // The plan rows of pages that are not wanted any more fall when the cycle closes.
    open.outstanding.retain(|visit| !crawler.unwanted.contains(&visit.page));
    let promises = gains::promises(&**policy, settings)?;
    let promised = gains::promised(&mut **store, &promises)?;
    let weights = Weights::load(&mut **store, settings)?;
    let view = View { weights, promised, ..View::default() };
    let terms =
        Terms { cycle: open.id.0, now, budget: settings.budget, threshold: settings.threshold, length };
    let opening = Opening::of(crawler, recorder, &open, &view, terms)?;
    let plan = LoggedPlan::of(recorder.store.log_end()?, now, length, recorder.policy.planned());
    recorder.store.log_plan(&plan)?;
    recorder.weights = view.weights;
    recorder.promises = promises;
    // It is stored before the first visit: what pages learn in this cycle may depend on it.
    if let Some(memory) = &opening.policy_memory {
        survey::keep_memory(&mut *recorder.store, recorder.policy.name(), memory)?;
    }
    Ok((open, opening, terms))
}

/// Ends when the crawl is told to stop. If whoever could tell is gone, it never ends.
async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        pending::<()>().await;
    }
}

#[cfg(test)]
#[path = "cycle_tests.rs"]
mod tests;
