//! The fetcher: requests in, visits out, every host treated politely.
//!
//! Each host has a queue; a heap of turns says which host may be asked next and when. A host is asked for its
//! robots.txt before anything else, has at most [`Politeness::per_host`] requests in flight, and gets its pause
//! after each. Whatever is asked of the web goes through here, redirect hops and robots.txt included, so the
//! promise has one place to be kept. The fetcher knows neither plans nor the store: the caller submits
//! [`Request`]s and takes [`Event`]s.

mod errand;
mod host;
pub mod limits;
pub mod network;
pub mod politeness;
pub mod robots;
pub mod visit;
pub mod web;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::page::{Host, Sites};
use crate::time::Timestamp;
use errand::{Done, Errand, Home, Job, Orders};
use host::{HostAddress, HostQueue, RobotsState};
use politeness::{Pace, Politeness, Verdict};
use robots::Robots;
use visit::{Answer, HostReport, Outcome, Refused, Request, RobotsRecord, Subject, Visit, Waiting};
use web::{NoAnswer, Web};

/// How the fetcher works.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    pub politeness: Politeness,
    /// Requests in flight, over all hosts.
    pub concurrency: usize,
    /// Requests a second, over all hosts.
    pub rate: Option<f64>,
    /// Requests a second to one IP address, however many hosts it serves.
    pub address_rate: Option<f64>,
    /// Body bytes of a page, decoded.
    pub body_bytes: usize,
    /// Bytes of a sitemap.
    pub sitemap_bytes: usize,
    /// Redirects of robots.txt that are followed.
    pub robots_redirects: u32,
    /// How long a robots.txt holds.
    pub robots_age: Duration,
    /// Whom robots.txt is read for.
    pub user_agent: String,
    pub sites: Sites<SitePace>,
}

/// What is different for one site.
#[derive(Clone, Debug, Default)]
pub struct SitePace {
    pub delay: Option<Duration>,
    pub user_agent: Option<String>,
}

/// What comes back.
#[derive(Debug)]
pub enum Event<T> {
    /// A visit ended, and this is what the digest made of it.
    Visited(T),
    /// Not asked for in this cycle, and not to blame for it.
    Deferred { request: Request, why: Waiting },
    /// Something about a host is worth remembering.
    Host(HostReport),
    /// A host's robots.txt was read: these are the sitemaps it names.
    Robots { host: Host, sitemaps: Vec<Url> },
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub requests: u64,
    pub bytes: u64,
}

/// Asks the web, politely. `digest` turns each visit into what the caller wants, on the task that fetched it.
pub struct Fetcher<W, T, D> {
    web: Arc<W>,
    digest: Arc<D>,
    settings: FetchSettings,
    hosts: Vec<HostQueue>,
    index: HashMap<Host, usize>,
    /// Hosts by the moment they may next be asked. An entry counts only if its host still has that turn.
    turns: BinaryHeap<Reverse<(Instant, usize)>>,
    tasks: JoinSet<Done<T>>,
    events: VecDeque<Event<T>>,
    everyone: Option<DefaultDirectRateLimiter>,
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// Requests that may still be sent.
    left: Option<u64>,
    stopped: bool,
    queued: usize,
    traffic: Traffic,
    random: Pcg64,
    clock: DefaultClock,
}

impl<W, T, D> Fetcher<W, T, D>
where
    W: Web,
    T: Send + 'static,
    D: Fn(Visit) -> T + Send + Sync + 'static,
{
    /// `budget`: the most requests that may be sent, of whatever kind.
    pub fn new(web: Arc<W>, digest: D, settings: FetchSettings, budget: Option<u64>) -> Self {
        Self {
            web,
            digest: Arc::new(digest),
            everyone: settings.rate.and_then(quota).map(RateLimiter::direct),
            addresses: settings.address_rate.and_then(quota).map(RateLimiter::keyed),
            settings,
            hosts: Vec::new(),
            index: HashMap::new(),
            turns: BinaryHeap::new(),
            tasks: JoinSet::new(),
            events: VecDeque::new(),
            left: budget,
            stopped: false,
            queued: 0,
            traffic: Traffic::default(),
            // Making one reads the processor's identity: once, not once a request.
            clock: DefaultClock::default(),
            random: Pcg64::seed_from_u64(Timestamp::now().millis() as u64),
        }
    }

    /// What an earlier run knew of a host: a robots.txt that still holds is not asked for again, and a host that
    /// asked for time gets it.
    pub fn remember(&mut self, report: &HostReport) {
        let now = Timestamp::now();
        let age = self.settings.robots_age;
        let at = self.host_index(&report.host);
        if let Some(record) = &report.robots
            && now.since(record.at).seconds() < age.as_secs_f64()
            && (200..500).contains(&record.status)
            && record.status != 429
        {
            let token = self.token_of(&report.host);
            let robots = read_robots(record.status, &record.body, &token);
            self.take_robots(at, robots, Instant::now() + age.saturating_sub(duration_since(now, record.at)));
        }
        if let Some((until, why)) = report.wait
            && until > now
        {
            let host = &mut self.hosts[at];
            host.pace.resume(report.failures, Instant::now() + until.after(now));
            if until.after(now) > self.settings.politeness.patience {
                host.resting = Some(why);
            }
            host.wait = Some((until, why));
        }
    }

    /// Puts a request into its host's queue. It comes back as [`Event::Visited`] or [`Event::Deferred`], always.
    pub fn submit(&mut self, request: Request) {
        let Some(host) = Host::of(&request.url) else {
            // No host to ask: refused as an address nobody may reach.
            let visit = unasked(request, Outcome::Refused(Refused::Address));
            self.events.push_back(Event::Visited((self.digest)(visit)));
            return;
        };
        let at = self.host_index(&host);
        let url = request.url.clone();
        self.enqueue(at, Job { errand: Errand::Visit(request), url, attempt: 1, not_before: Instant::now() });
    }

    /// The next event; `None` when nothing is queued or under way. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<Event<T>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let wake = self.dispatch();
            if !self.events.is_empty() {
                continue;
            }
            match (self.tasks.is_empty(), wake) {
                (true, None) => return None,
                (true, Some(wake)) => sleep_until(wake).await,
                (false, None) => self.take_home().await,
                (false, Some(wake)) => tokio::select! {
                    biased;
                    () = self.take_home() => {}
                    () = sleep_until(wake) => {}
                },
            }
        }
    }

    /// Sends nothing more: what is queued is deferred, what is in flight still comes.
    pub fn stop(&mut self, why: Waiting) {
        self.stopped = true;
        for at in 0..self.hosts.len() {
            self.defer_all(at, why);
        }
    }

    /// Requests waiting for their host's turn.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Requests waiting on this host.
    pub fn queued_on(&self, host: &Host) -> usize {
        self.index.get(host).map_or(0, |at| self.hosts[*at].queue.len())
    }

    /// The pause now kept with this host, if it was ever asked.
    pub fn delay_of(&self, host: &Host) -> Duration {
        match self.index.get(host) {
            Some(at) => self.hosts[*at].pace.delay(),
            None => self.site_delay(host),
        }
    }

    /// Was the host given up for this cycle?
    pub fn is_resting(&self, host: &Host) -> bool {
        self.index.get(host).is_some_and(|at| self.hosts[*at].resting.is_some())
    }

    pub fn in_flight(&self) -> usize {
        self.tasks.len()
    }

    /// Hosts with something to do that are not being asked at this moment.
    pub fn hosts_waiting(&self) -> usize {
        self.hosts.iter().filter(|host| !host.queue.is_empty() && host.in_flight == 0).count()
    }

    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Requests that the budget still allows.
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    // --- turns -------------------------------------------------------------------------------------------------

    /// Sends what may be sent now; says when the next turn is, if nothing ends before.
    fn dispatch(&mut self) -> Option<Instant> {
        let now = Instant::now();
        while self.tasks.len() < self.settings.concurrency.max(1) {
            let Reverse((at, host)) = *self.turns.peek()?;
            if self.hosts[host].turn != Some(at) {
                self.turns.pop();
                continue;
            }
            if at > now {
                return Some(at);
            }
            self.turns.pop();
            self.hosts[host].turn = None;
            self.serve(host, now);
        }
        // Every place is taken: the next thing to happen is that a request ends.
        None
    }

    fn serve(&mut self, at: usize, now: Instant) {
        let host = &self.hosts[at];
        if host.in_flight >= self.settings.politeness.per_host || host.pace.next_allowed() > now {
            return self.schedule(at);
        }
        let address = match &host.address {
            HostAddress::Known(address) => *address,
            HostAddress::Unknown => return self.resolve(at),
        };
        if let Err(wait) = self.permitted(address) {
            return self.give_turn(at, now + wait);
        }
        match self.next_job(at, now) {
            Some(job) => self.send(at, job, now),
            None => self.schedule(at),
        }
    }

    /// The job to send now: robots.txt before everything else, then the first page that it allows.
    fn next_job(&mut self, at: usize, now: Instant) -> Option<Job> {
        if self.left == Some(0) {
            self.defer_all(at, Waiting::Budget);
            return None;
        }
        let host = &mut self.hosts[at];
        if let Some(job) = host.take_robots_job() {
            self.queued -= 1;
            return Some(job);
        }
        match &host.robots {
            RobotsState::Asked => return None,
            RobotsState::Known { until, .. } if *until > now => {}
            _ => {
                let url = host.host.url("/robots.txt")?;
                host.robots = RobotsState::Asked;
                let attempt = host.robots_attempts + 1;
                return Some(Job {
                    errand: Errand::Robots { of: at, hops: 0 },
                    url,
                    attempt,
                    not_before: now,
                });
            }
        }
        loop {
            let job = self.hosts[at].take_runnable(now)?;
            self.queued -= 1;
            if self.hosts[at].allows(&job.url) {
                return Some(job);
            }
            if let Errand::Visit(request) = job.errand {
                let visit = unasked(request, Outcome::Refused(Refused::Robots));
                self.events.push_back(Event::Visited((self.digest)(visit)));
            }
        }
    }

    fn resolve(&mut self, at: usize) {
        let Some(url) = self.hosts[at].host.url("/") else { return };
        let job = Job { errand: Errand::Resolve, url, attempt: 1, not_before: Instant::now() };
        self.spawn(at, job);
    }

    fn send(&mut self, at: usize, job: Job, now: Instant) {
        let per_host = self.settings.politeness.per_host;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        self.traffic.requests += 1;
        self.hosts[at].pace.started(now, per_host);
        tracing::debug!(url = %job.url, attempt = job.attempt, "get");
        self.spawn(at, job);
        if per_host > 1 {
            self.schedule(at);
        }
    }

    fn spawn(&mut self, at: usize, job: Job) {
        self.hosts[at].in_flight += 1;
        let sitemap = matches!(&job.errand, Errand::Visit(request) if matches!(request.subject, Subject::Sitemap { .. }));
        self.tasks.spawn(errand::run(Orders {
            web: Arc::clone(&self.web),
            digest: Arc::clone(&self.digest),
            host: at,
            job,
            attempts: self.settings.politeness.attempts,
            patience: self.settings.politeness.patience,
            body_bytes: if sitemap { self.settings.sitemap_bytes } else { self.settings.body_bytes },
        }));
    }

    /// May a request go to this address now, by the ceilings over all hosts and per address? Else: how long not.
    fn permitted(&mut self, address: IpAddr) -> Result<(), Duration> {
        if let Some(addresses) = &self.addresses {
            addresses.check_key(&address).map_err(|not_until| not_until.wait_time_from(self.clock.now()))?;
            if self.traffic.requests % 4096 == 4095 {
                // Keys of addresses that were left alone pile up otherwise.
                addresses.retain_recent();
                addresses.shrink_to_fit();
            }
        }
        if let Some(everyone) = &self.everyone {
            everyone.check().map_err(|not_until| not_until.wait_time_from(self.clock.now()))?;
        }
        Ok(())
    }

    /// Gives the host its next turn, if it has something to do and a place free.
    fn schedule(&mut self, at: usize) {
        let host = &self.hosts[at];
        if host.turn.is_some() || host.in_flight >= self.settings.politeness.per_host {
            return;
        }
        if let Some(moment) = host.next_turn() {
            self.give_turn(at, moment);
        }
    }

    fn give_turn(&mut self, at: usize, moment: Instant) {
        self.hosts[at].turn = Some(moment);
        self.turns.push(Reverse((moment, at)));
    }

    fn enqueue(&mut self, at: usize, job: Job) {
        if self.stopped || self.hosts[at].resting.is_some() {
            let why = self.hosts[at].resting.unwrap_or(Waiting::Stopped);
            return self.defer(job, why);
        }
        self.hosts[at].queue.push_back(job);
        self.queued += 1;
        // An earlier job may be due before the turn that is set.
        if let Some(moment) = self.hosts[at].next_turn()
            && self.hosts[at].in_flight < self.settings.politeness.per_host
            && self.hosts[at].turn.is_none_or(|turn| turn > moment)
        {
            self.give_turn(at, moment);
        }
    }

    // --- what comes home ---------------------------------------------------------------------------------------

    async fn take_home(&mut self) {
        match self.tasks.join_next().await {
            Some(Ok(done)) => self.finish(done),
            // A task can't be cancelled here, and its digest is guarded; its host would wait for ever for it.
            Some(Err(error)) => tracing::error!(%error, "a fetch task ended unexpectedly"),
            None => {}
        }
    }

    fn finish(&mut self, done: Done<T>) {
        let Done { host: at, took, sign, first_try, bytes, home } = done;
        let now = Instant::now();
        self.hosts[at].in_flight -= 1;
        self.traffic.bytes += bytes;
        let verdict = match &home {
            // A look-up that went well is no request: the host owes no pause for it.
            Home::Resolved(Ok(_) | Err(NoAnswer::Refused(_))) => Verdict::GoOn,
            _ => self.hosts[at].pace.ended(
                now,
                took,
                sign,
                first_try,
                &self.settings.politeness,
                &mut self.random,
            ),
        };
        self.heed(at, verdict);
        match home {
            Home::Visited(digested) => self.events.push_back(Event::Visited(digested)),
            Home::Again { visit, attempt } => self.again(at, *visit, attempt, now),
            Home::Robots { of, hops, attempt, url, answer } => {
                self.robots_home(at, of, hops, attempt, &url, answer)
            }
            Home::Resolved(resolved) => self.resolved(at, resolved),
        }
        self.schedule(at);
    }

    /// Notes a host's wait, or gives the host up for the cycle.
    fn heed(&mut self, at: usize, verdict: Verdict) {
        let wall = Timestamp::now();
        match verdict {
            Verdict::GoOn => {
                if self.hosts[at].wait.take().is_some() {
                    self.report(at, None);
                }
            }
            Verdict::Wait(span, why) => {
                self.hosts[at].wait = Some((wall.plus(span), why));
                self.report(at, None);
            }
            Verdict::Rest(span, why) => {
                tracing::info!(host = %self.hosts[at].host, reason = why.name(), seconds = span.as_secs(), "host rests");
                self.hosts[at].wait = Some((wall.plus(span), why));
                self.hosts[at].resting = Some(why);
                self.report(at, None);
                self.defer_all(at, why);
            }
        }
    }

    fn again(&mut self, at: usize, visit: Visit, attempt: u32, now: Instant) {
        if self.stopped || self.hosts[at].resting.is_some() {
            self.events.push_back(Event::Visited((self.digest)(visit)));
            return;
        }
        // The page's own pause, on top of the host's, so that other pages go first meanwhile.
        let pause = self.settings.politeness.back_off.saturating_mul(1 << attempt.min(16));
        let url = visit.request.url.clone();
        self.enqueue(
            at,
            Job { errand: Errand::Visit(visit.request), url, attempt: attempt + 1, not_before: now + pause },
        );
    }

    fn resolved(&mut self, at: usize, resolved: Result<IpAddr, NoAnswer>) {
        match resolved {
            Ok(address) => self.hosts[at].address = HostAddress::Known(address),
            Err(NoAnswer::Refused(refused)) => {
                let host = &mut self.hosts[at];
                for job in std::mem::take(&mut host.queue) {
                    self.queued -= 1;
                    match job.errand {
                        Errand::Visit(request) => {
                            let visit = unasked(request, Outcome::Refused(refused.clone()));
                            self.events.push_back(Event::Visited((self.digest)(visit)));
                        }
                        Errand::Robots { of, .. } => self.robots_unavailable(of, 0),
                        Errand::Resolve => {}
                    }
                }
            }
            // The pace has noted it: another look-up follows after its pause, or the host rests.
            Err(NoAnswer::Failed(_)) => {}
        }
    }

    /// RFC 9309 §2.3.1: what the answer to robots.txt means.
    fn robots_home(
        &mut self,
        asked: usize,
        of: usize,
        hops: u32,
        attempt: u32,
        url: &Url,
        answer: Result<Answer, NoAnswer>,
    ) {
        let (status, body) = match &answer {
            Ok(answer) if (300..400).contains(&answer.status) && answer.status != 304 => {
                match errand::location(answer, url).filter(|to| matches!(to.scheme(), "http" | "https")) {
                    Some(to) if hops < self.settings.robots_redirects => {
                        return self.robots_hop(of, hops + 1, to);
                    }
                    // Too many redirects, or one to nowhere: as if there were no file.
                    _ => (404, bytes::Bytes::new()),
                }
            }
            Ok(answer) if answer.status == 429 || answer.status >= 500 || answer.status < 200 => {
                return self.robots_unavailable(of, attempt.max(1));
            }
            Ok(answer) => (answer.status, answer.body.clone()),
            Err(_) => {
                // A robots.txt on another host that can't be had is this host's to wait for.
                let _ = asked;
                return self.robots_unavailable(of, attempt.max(1));
            }
        };
        let robots = read_robots(status, &body, &self.token_of(&self.hosts[of].host.clone()));
        self.take_robots(of, robots, Instant::now() + self.settings.robots_age);
        self.report(of, Some(RobotsRecord { at: Timestamp::now(), status, body }));
        self.schedule(of);
    }

    fn robots_hop(&mut self, of: usize, hops: u32, to: Url) {
        let Some(host) = Host::of(&to) else { return self.robots_unavailable(of, u32::MAX) };
        let at = self.host_index(&host);
        if self.hosts[at].resting.is_some() {
            return self.robots_unavailable(of, u32::MAX);
        }
        self.enqueue(
            at,
            Job { errand: Errand::Robots { of, hops }, url: to, attempt: 1, not_before: Instant::now() },
        );
    }

    /// No robots.txt to be had: everything on the host is forbidden. It is tried again a few times, then the host
    /// rests until a later cycle.
    fn robots_unavailable(&mut self, of: usize, attempt: u32) {
        let attempts = self.settings.politeness.attempts;
        let host = &mut self.hosts[of];
        host.robots = RobotsState::Unknown;
        host.robots_attempts = attempt;
        if host.resting.is_none() && attempt >= attempts {
            let verdict = host.pace.rest(Waiting::RobotsUnavailable);
            self.heed(of, verdict);
        }
        self.schedule(of);
    }

    fn take_robots(&mut self, of: usize, robots: Robots, until: Instant) {
        let too_slow = robots.crawl_delay().filter(|delay| *delay > self.settings.politeness.max_crawl_delay);
        let host = &mut self.hosts[of];
        if let Some(delay) = robots.crawl_delay() {
            host.pace.ask_delay(delay);
        }
        host.robots_attempts = 0;
        let sitemaps = robots.sitemaps().to_vec();
        let name = host.host.clone();
        host.robots = RobotsState::Known { robots, until };
        if let Some(delay) = too_slow {
            tracing::warn!(
                host = %name,
                "robots.txt asks for {} s between requests, more than the {} s allowed: the host is skipped (raise it with --max-crawl-delay)",
                delay.as_secs(),
                self.settings.politeness.max_crawl_delay.as_secs()
            );
            self.heed(of, Verdict::Rest(self.settings.robots_age, Waiting::CrawlDelay));
        } else {
            self.events.push_back(Event::Robots { host: name, sitemaps });
        }
    }

    // --- putting off -------------------------------------------------------------------------------------------

    fn defer_all(&mut self, at: usize, why: Waiting) {
        for job in std::mem::take(&mut self.hosts[at].queue) {
            self.queued -= 1;
            self.defer(job, why);
        }
    }

    fn defer(&mut self, job: Job, why: Waiting) {
        match job.errand {
            Errand::Visit(request) => self.events.push_back(Event::Deferred { request, why }),
            Errand::Robots { of, .. } if !self.stopped => self.robots_unavailable(of, u32::MAX),
            Errand::Robots { .. } | Errand::Resolve => {}
        }
    }

    fn report(&mut self, at: usize, robots: Option<RobotsRecord>) {
        let host = &self.hosts[at];
        self.events.push_back(Event::Host(HostReport {
            host: host.host.clone(),
            delay: host.pace.delay(),
            wait: host.wait,
            failures: host.pace.failures(),
            robots,
        }));
    }

    // --- hosts -------------------------------------------------------------------------------------------------

    fn host_index(&mut self, host: &Host) -> usize {
        if let Some(at) = self.index.get(host) {
            return *at;
        }
        let pace = Pace::new(self.site_delay(host), Instant::now());
        self.hosts.push(HostQueue::new(host.clone(), pace));
        self.index.insert(host.clone(), self.hosts.len() - 1);
        self.hosts.len() - 1
    }

    fn site(&self, host: &Host) -> Option<&SitePace> {
        self.settings.sites.of(host.name(), Some(host.port()))
    }

    fn site_delay(&self, host: &Host) -> Duration {
        self.site(host).and_then(|site| site.delay).unwrap_or(self.settings.politeness.delay)
    }

    fn token_of(&self, host: &Host) -> String {
        let agent = self.site(host).and_then(|site| site.user_agent.as_deref());
        robots::product_token(agent.unwrap_or(&self.settings.user_agent)).to_owned()
    }
}

fn read_robots(status: u16, body: &[u8], token: &str) -> Robots {
    if (200..300).contains(&status) { Robots::parse(body, token) } else { Robots::allow_all() }
}

/// A visit that was never asked for.
fn unasked(request: Request, outcome: Outcome) -> Visit {
    Visit { request, at: Timestamp::now(), took: Duration::ZERO, outcome, answer: None }
}

fn duration_since(now: Timestamp, earlier: Timestamp) -> Duration {
    Duration::from_secs_f64(now.since(earlier).seconds())
}

/// So many a second, evenly, without a burst: a crawl has no reason to be impatient.
fn quota(per_second: f64) -> Option<Quota> {
    let period = (per_second.is_finite() && per_second > 0.0).then(|| 1.0 / per_second)?;
    let period = Duration::try_from_secs_f64(period).ok()?;
    Quota::with_period(period).map(|quota| quota.allow_burst(NonZeroU32::MIN))
}
