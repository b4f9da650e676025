//! The fetcher: requests in, visits out, every host treated politely.
//!
//! Each host has a queue; a heap of turns says which host may be asked next and when. A host is asked for its
//! robots.txt before anything else, has at most [`Politeness::per_host`] requests in flight, and gets its pause
//! after each. Twins, the origins `http` and `https` of one name, are one host in all of this but robots.txt. Whatever is asked of the web goes through here, redirect hops and robots.txt included, so the
//! promise has one place to be kept. The fetcher knows neither plans nor the store: the caller submits
//! [`Request`]s and takes [`FetchEvent`]s.

pub mod answer_head;
mod certificates;
mod classify;
mod dispatch;
mod finish;
mod host;
mod host_report;
pub mod limits;
pub mod network;
pub mod politeness;
pub mod reason;
mod resolver;
pub mod robots;
pub mod scripted;
mod shares;
mod task;
mod twins;
pub mod visit;
pub mod web;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::DefaultClock;
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::page::{Host, Sites, has_user_info};
use crate::time::Timestamp;
use host::{HostQueue, RobotsState};
use politeness::{Pace, Politeness};
use robots::{ProductTokens, Robots, RobotsCache};
use shares::Shares;
use task::{Aside, EndedTask, Task, TaskKind};
use visit::{HostReport, Refused, Request, RobotsRecord, RobotsStatus, Visit, Waiting};
use web::{NoAnswer, Web};

/// How the fetcher works.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// Pauses, and when a host is left alone.
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
    /// The name that a host's robots.txt is read for.
    pub product_tokens: ProductTokens,
    /// Sites that are treated otherwise.
    pub sites: Sites<SitePace>,
}

impl FetchSettings {
    /// The name that this host's robots.txt is read for.
    pub(crate) fn product_token(&self, host: &Host) -> &str {
        self.product_tokens.of(host)
    }
}

/// Settings of one site that differ from the general ones.
#[derive(Clone, Debug, Default)]
pub struct SitePace {
    /// The pause between two requests.
    pub delay: Option<Duration>,
    /// Requests that may be sent to one of its hosts.
    pub budget: Option<u64>,
}

/// An event that the caller is told.
#[derive(Debug)]
pub(crate) enum FetchEvent<T> {
    /// A visit ended, and this is what the digest made of it.
    Visited(T),
    /// Not asked for in this cycle, and not to blame for it.
    Deferred { request: Request, why: Waiting },
    /// Something about a host is worth remembering.
    Host(HostReport),
    /// A host's robots.txt was read: these are the sitemaps it names.
    Robots { host: Host, sitemaps: Vec<Url> },
    /// The robots.txt of this host is needed again: [`Fetcher::recalled`] takes it.
    RobotsWanted(Host),
}

/// Where a [`Fetcher`] keeps a host. Holds for that fetcher only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostPlace(usize);

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests sent, robots.txt and second tries included.
    pub requests: u64,
    /// Body bytes, decoded.
    pub bytes: u64,
}

/// Makes of an ended visit what the caller wants to know of it.
type Digest<T> = Arc<dyn Fn(Visit) -> T + Send + Sync>;

/// Asks the web, politely. `digest` turns each visit into what the caller wants, on the task that fetched it.
pub(crate) struct Fetcher<W, T> {
    web: Arc<W>,
    digest: Digest<T>,
    settings: FetchSettings,
    hosts: Vec<HostQueue>,
    index: HashMap<Host, usize>,
    /// Requests in flight by domain and by address.
    shares: Shares,
    /// Rules of the hosts served last.
    rules: RobotsCache,
    /// Hosts whose robots.txt the caller will be asked for.
    recalls: VecDeque<usize>,
    /// Files that the caller was asked for and has not given.
    recalls_sent: usize,
    /// Hosts by the moment they may next be asked. An entry counts only if its host still has that turn.
    /// Of hosts with the same moment, the one that was asked longer ago comes first.
    turns: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    /// Places for sitemaps that are being unpacked.
    unpacking: Arc<Semaphore>,
    /// Visits whose digest takes long.
    aside: Aside,
    tasks: JoinSet<EndedTask<T>>,
    events: VecDeque<FetchEvent<T>>,
    everyone: Option<DefaultDirectRateLimiter>,
    addresses: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// The ceiling over all hosts let a request through that was not sent yet.
    granted: bool,
    /// Requests that may still be sent.
    left: Option<u64>,
    stopped: bool,
    queued: usize,
    traffic: Traffic,
    /// Requests that were counted and could not be sent.
    uncounted: u64,
    random: Pcg64,
    clock: DefaultClock,
}

impl<W: Web, T: Send + 'static> Fetcher<W, T> {
    /// `budget`: the most requests that may be sent, of whatever kind.
    pub(crate) fn new(
        web: Arc<W>,
        digest: impl Fn(Visit) -> T + Send + Sync + 'static,
        settings: FetchSettings,
        budget: Option<u64>,
    ) -> Self {
        Self {
            web,
            digest: Arc::new(digest),
            everyone: settings.rate.and_then(quota).map(RateLimiter::direct),
            addresses: settings.address_rate.and_then(quota).map(RateLimiter::keyed),
            settings,
            hosts: Vec::new(),
            index: HashMap::new(),
            shares: Shares::default(),
            rules: RobotsCache::default(),
            recalls: VecDeque::new(),
            recalls_sent: 0,
            turns: BinaryHeap::new(),
            unpacking: Arc::new(Semaphore::new(task::MOST_UNPACKING)),
            aside: Aside::default(),
            tasks: JoinSet::new(),
            events: VecDeque::new(),
            granted: false,
            left: budget,
            stopped: false,
            queued: 0,
            traffic: Traffic::default(),
            uncounted: 0,
            // Making one reads the processor's identity: once, not once a request.
            clock: DefaultClock::default(),
            random: Pcg64::seed_from_u64(Timestamp::now().millis() as u64),
        }
    }

    /// Visits for which `takes_long` is true are digested off the network's threads, `at_once` of them at a time.
    pub(crate) fn digest_aside(
        &mut self,
        at_once: usize,
        takes_long: impl Fn(&Visit) -> bool + Send + Sync + 'static,
    ) {
        self.aside = Aside(Some((Arc::new(takes_long), Arc::new(Semaphore::new(at_once)))));
    }

    /// Takes over what an earlier run knew of a host: a robots.txt that still holds is not asked for again, and a host that
    /// asked for time gets it. The file itself is asked of the caller when the host is first served.
    ///
    /// `asked`: it may have been asked a moment ago, whatever the report says.
    pub(crate) fn remember(&mut self, report: &HostReport, robots: Option<RobotsStatus>, asked: bool) {
        let now = Timestamp::now();
        let age = self.settings.robots_age;
        let at = self.host_index(&report.host);
        self.hosts[at].reason.clone_from(&report.reason);
        self.hosts[at].robots_fault.clone_from(&report.robots_fault);
        self.hosts[at].pace.resume(report.rests, Instant::now());
        if asked || robots.is_some() || report.wait.is_some() {
            self.hosts[at].pace.asked_before(Instant::now());
        }
        let fresh = robots.filter(|robots| {
            now.since(robots.at).seconds() < age.as_secs_f64()
                && (200..500).contains(&robots.status)
                && robots.status != 429
        });
        if let Some(robots) = fresh {
            let until = Instant::now() + age.saturating_sub(duration_since(now, robots.at));
            let host = &mut self.hosts[at];
            host.robots = RobotsState::Known { until };
            host.pace.assume_delay(report.delay);
        }
        match report.wait {
            Some((until, Waiting::CrawlDelay)) => {
                // The stored pause is its Crawl-delay, where that is longer than our own. The limit may have been raised
                // since; if the host does not rest now, its file decides.
                let politeness = &self.settings.politeness;
                let is_too_slow =
                    report.delay > politeness.max_crawl_delay && report.delay > self.site_delay(&report.host);
                if fresh.is_some() && is_too_slow {
                    self.hosts[at].resting = Some(Waiting::CrawlDelay);
                    self.hosts[at].wait = Some((until, Waiting::CrawlDelay));
                } else {
                    self.report(at, None);
                }
            }
            None => {}
            Some((until, why)) if until > now => {
                let host = &mut self.hosts[at];
                host.pace.resume(report.rests, Instant::now() + until.after(now));
                if until.after(now) > self.settings.politeness.patience {
                    host.resting = Some(why);
                }
                host.wait = Some((until, why));
            }
            Some(_) => {}
        }
        self.pace_twins(at);
        self.tell_twins(at);
    }

    /// The robots.txt that [`FetchEvent::RobotsWanted`] asked for. `None`: it is not to be had, and the host is asked for it.
    pub(crate) fn recalled(&mut self, host: &Host, record: Option<&RobotsRecord>) {
        self.recalls_sent = self.recalls_sent.saturating_sub(1);
        self.send_recalls();
        let at = self.host_index(host);
        let RobotsState::Recalled { until } = self.hosts[at].robots else { return };
        match record {
            Some(record) => {
                self.hosts[at].robots = RobotsState::Known { until };
                let robots = read_robots(record.status, &record.body, &self.token_of(host));
                self.take_robots(at, robots, false);
            }
            None => self.hosts[at].robots = RobotsState::Unknown,
        }
        self.schedule(at);
    }

    /// Has the sitemaps of a host told that was remembered, though no page of it is asked for.
    pub(crate) fn want_sitemaps(&mut self, host: HostPlace) {
        if !self.hosts[host.0].sitemaps_told && self.hosts[host.0].resting.is_none() {
            self.recall_robots(host.0);
        }
    }

    /// Puts a request into its host's queue. It comes back as [`FetchEvent::Visited`] or [`FetchEvent::Deferred`], always.
    pub(crate) fn submit(&mut self, request: Request) {
        let Some(host) = Host::of(&request.url).filter(|_| !has_user_info(&request.url)) else {
            // There is no host, or the URL has credentials: refused like an address that may not be reached.
            let visit = unasked(request, Refused::Address.into());
            self.events.push_back(FetchEvent::Visited((self.digest)(visit)));
            return;
        };
        let at = self.host_index(&host);
        let url = request.url.clone();
        self.enqueue(
            at,
            Task { kind: TaskKind::Visit(request), url, attempt: 1, not_before: Instant::now(), last: None },
        );
    }

    /// The next event; `None` when nothing is queued or under way. Safe to drop and call again.
    pub(crate) async fn next(&mut self) -> Option<FetchEvent<T>> {
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
                (false, None) => self.join_one().await,
                (false, Some(wake)) => tokio::select! {
                    biased;
                    () = self.join_one() => {}
                    () = sleep_until(wake) => {}
                },
            }
        }
    }

    /// Sends nothing more: what is queued is deferred, what is in flight still comes.
    pub(crate) fn stop(&mut self, why: Waiting) {
        self.stopped = true;
        for at in 0..self.hosts.len() {
            self.defer_all(at, why);
        }
    }

    /// Requests waiting for their host's turn.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// A host's place here: what is asked of it often is asked by this.
    pub(crate) fn place(&mut self, host: &Host) -> HostPlace {
        HostPlace(self.host_index(host))
    }

    /// Requests waiting on this host, those of its twins included: they wait for the same turns.
    pub(crate) fn queued_on(&self, host: HostPlace) -> usize {
        self.with_twins(host.0).map(|at| self.hosts[at].queue.len()).sum()
    }

    /// The pause now kept with this host.
    pub(crate) fn delay_of(&self, host: HostPlace) -> Duration {
        self.hosts[host.0].pace.delay()
    }

    /// Was the host given up for this cycle?
    pub(crate) fn is_resting(&self, host: HostPlace) -> bool {
        self.hosts[host.0].resting.is_some()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.tasks.len()
    }

    /// Hosts with something to do that are not being asked at this moment.
    pub(crate) fn hosts_waiting(&self) -> usize {
        self.hosts.iter().filter(|host| !host.queue.is_empty() && host.in_flight == 0).count()
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Requests that the budget still allows.
    pub(crate) fn left(&self) -> Option<u64> {
        self.left
    }

    /// Requests that the budget of this host's site still allows.
    pub(crate) fn left_on(&self, host: HostPlace) -> Option<u64> {
        self.hosts[host.0].left
    }

    /// Requests that were sent to each host whose site has a budget, those of an earlier run included.
    pub(crate) fn spent_on_sites(&self) -> impl Iterator<Item = (&Host, u64)> {
        self.hosts.iter().filter_map(|host| {
            let left = host.left?;
            let budget = self.site(&host.host)?.budget?;
            Some((&host.host, budget.saturating_sub(left)))
        })
    }

    /// Requests that an earlier run of this cycle has sent to this host.
    pub(crate) fn charge(&mut self, host: HostPlace, requests: u64) {
        if let Some(left) = &mut self.hosts[host.0].left {
            *left = left.saturating_sub(requests);
        }
    }

    fn host_index(&mut self, host: &Host) -> usize {
        if let Some(at) = self.index.get(host) {
            return *at;
        }
        let pace = Pace::new(self.site_delay(host), Instant::now());
        let budget = self.site(host).and_then(|site| site.budget);
        self.hosts.push(HostQueue::new(host.clone(), pace, budget));
        let at = self.hosts.len() - 1;
        self.index.insert(host.clone(), at);
        self.find_twins(at);
        at
    }

    fn site(&self, host: &Host) -> Option<&SitePace> {
        self.settings.sites.of(host.name(), Some(host.port()))
    }

    fn site_delay(&self, host: &Host) -> Duration {
        self.site(host).and_then(|site| site.delay).unwrap_or(self.settings.politeness.delay)
    }

    fn token_of(&self, host: &Host) -> String {
        self.settings.product_token(host).to_owned()
    }
}

/// The rules that an answer to the request for robots.txt amounts to (RFC 9309 §2.3.1.1 to §2.3.1.3).
pub(crate) fn read_robots(status: u16, body: &[u8], token: &str) -> Robots {
    if (200..300).contains(&status) { Robots::parse(body, token) } else { Robots::allow_all() }
}

/// A visit that was never asked for.
fn unasked(request: Request, why: NoAnswer) -> Visit {
    let (at, outcome) = (Timestamp::now(), why.outcome());
    Visit { request, at, took: Duration::ZERO, outcome, reason: why.reason, answer: None }
}

fn duration_since(now: Timestamp, earlier: Timestamp) -> Duration {
    Duration::from_secs_f64(now.since(earlier).seconds())
}

/// The lowest ceiling of requests a second, one in eleven days: a lower one is kept as this one.
pub const LEAST_RATE: f64 = 1e-6;

/// A ceiling of requests a second, evenly, without a burst: a crawl has no reason to be impatient. 0 is no ceiling.
fn quota(per_second: f64) -> Option<Quota> {
    let period = (per_second > 0.0).then(|| 1.0 / per_second.max(LEAST_RATE))?;
    let period = Duration::try_from_secs_f64(period).ok()?;
    Quota::with_period(period).map(|quota| quota.allow_burst(NonZeroU32::MIN))
}

#[cfg(test)]
#[path = "fetcher_tests.rs"]
mod tests;
