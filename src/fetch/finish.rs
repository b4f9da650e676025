//! The end of a request: what it says of its host, and what follows from it.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::host::{HostAddress, RobotsState};
use super::politeness::{HostVerdict, Sign};
use super::reason;
use super::robots::Robots;
use super::task::{self, EndedTask, Task, TaskEnd, TaskKind};
use super::visit::{Answer, HostReport, RobotsFault, RobotsRecord, Visit, Waiting};
use super::web::{NoAnswer, NoAnswerCause, Web};
use super::{FetchEvent, Fetcher, read_robots, unasked};
use crate::page::{Host, has_user_info};
use crate::time::Timestamp;

/// How long is waited for a file descriptor the first time; the pauses grow with each time in a row.
const UNSENT_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause is this many times the first one: two seconds.
const LONGEST_UNSENT_PAUSES: u32 = 20;
/// Times in a row that a host is tried without a file descriptor: about two minutes, longer than idle connections are
/// kept.
const MOST_UNSENT: u32 = 70;

/// Files that the caller is asked for at the same time. It bounds the memory of those on their way: 4 MiB.
const MOST_RECALLS: usize = 8;

/// Is a host put off for a reason on our side?
fn is_ours(why: Waiting) -> bool {
    matches!(why, Waiting::Stopped | Waiting::Budget | Waiting::OutOfFiles)
}

impl<W: Web, T: Send + 'static> Fetcher<W, T> {
    pub(super) async fn join_one(&mut self) {
        match self.tasks.join_next().await {
            Some(Ok(done)) => self.finish(done),
            // A task can't be cancelled here, and its digest is guarded; its host would wait for ever for it.
            Some(Err(error)) => tracing::error!(%error, "a fetch task ended unexpectedly"),
            None => {}
        }
    }

    pub(super) fn finish(&mut self, done: EndedTask<T>) {
        let EndedTask { host: at, took, sign, reason, first_try, bytes, end } = done;
        let now = Instant::now();
        self.hosts[at].in_flight -= 1;
        let resolves = match &end {
            TaskEnd::Resolved(_) => true,
            TaskEnd::Unsent(task) => matches!(task.kind, TaskKind::Resolve),
            _ => false,
        };
        self.return_share(at, resolves);
        self.traffic.bytes += bytes;
        let end = match end {
            TaskEnd::Unsent(task) => {
                self.unsent(at, task, now);
                self.schedule_with_twins(at);
                return self.wake_share(at);
            }
            end => {
                self.hosts[at].unsent = 0;
                end
            }
        };
        let verdict = match &end {
            // A look-up that went well is no request: the host owes no pause for it.
            TaskEnd::Resolved(Ok(_) | Err(NoAnswer { cause: NoAnswerCause::Refused(_), .. })) => {
                HostVerdict::GoOn
            }
            _ => {
                self.each_with_twins(at, |host| host.pace.pause(now, took));
                let politeness = &self.settings.politeness;
                self.hosts[at].pace.ended(now, took, sign, first_try, politeness, &mut self.random)
            }
        };
        self.heed(at, verdict, reason);
        // That no server listens on one port says nothing of the other.
        if verdict != HostVerdict::GoOn && sign != Sign::Unreachable {
            self.tell_twins(at);
        }
        match end {
            TaskEnd::Visited(digested) => self.events.push_back(FetchEvent::Visited(digested)),
            TaskEnd::Again { visit, attempt } => self.again(at, *visit, attempt, now),
            TaskEnd::Robots { of, hops, attempt, url, answer } => {
                self.robots_answered(of, hops, attempt, &url, answer)
            }
            TaskEnd::Resolved(resolved) => self.resolved(at, resolved),
            TaskEnd::Unsent(_) => {}
        }
        self.schedule_with_twins(at);
        self.wake_share(at);
    }

    /// Nothing left this machine because there was no file descriptor: this is not a request, and says nothing of the
    /// host. It is tried again a little later, when others have ended; if that never helps, the host is left alone in
    /// this cycle.
    fn unsent(&mut self, at: usize, task: Task, now: Instant) {
        let is_request = !matches!(task.kind, TaskKind::Resolve);
        if is_request {
            self.uncounted += 1;
            for left in [&mut self.left, &mut self.hosts[at].left].into_iter().flatten() {
                *left += 1;
            }
        }
        let host = &mut self.hosts[at];
        host.unsent += 1;
        if host.unsent >= MOST_UNSENT {
            tracing::warn!(host = %host.host, "no file descriptor is to be had: the host is left for a later cycle");
            host.resting = Some(Waiting::OutOfFiles);
            self.defer(task, Waiting::OutOfFiles);
            return self.defer_all(at, Waiting::OutOfFiles);
        }
        let until = now + UNSENT_PAUSE.saturating_mul(host.unsent.min(LONGEST_UNSENT_PAUSES));
        host.pace.hold(until);
        if is_request {
            self.enqueue(at, Task { not_before: until, ..task });
        }
    }

    /// Notes a host's wait with its reason in words, or gives the host up for the cycle.
    pub(super) fn heed(&mut self, at: usize, verdict: HostVerdict, reason: Option<String>) {
        let wall = Timestamp::now();
        match verdict {
            HostVerdict::GoOn => {
                // A request that ran beside this one may have brought a wait that is not over.
                if self.hosts[at].wait.is_some_and(|(until, _)| until <= wall) {
                    self.hosts[at].wait = None;
                    self.hosts[at].reason = None;
                    self.report(at, None);
                }
            }
            HostVerdict::Wait(span, why) => {
                // The longer of two wishes holds.
                if self.hosts[at].wait.is_none_or(|(until, _)| until < wall.plus(span)) {
                    self.hosts[at].wait = Some((wall.plus(span), why));
                    self.hosts[at].reason = reason;
                }
                self.report(at, None);
            }
            HostVerdict::Rest(span, why) => {
                let words = reason.as_deref().unwrap_or(why.name());
                tracing::info!(host = %self.hosts[at].host, why = why.name(), reason = words, seconds = span.as_secs(), "host rests");
                self.hosts[at].wait = Some((wall.plus(span), why));
                self.hosts[at].reason = reason;
                self.hosts[at].resting = Some(why);
                self.report(at, None);
                self.defer_all(at, why);
            }
        }
    }

    pub(super) fn again(&mut self, at: usize, visit: Visit, attempt: u32, now: Instant) {
        if self.stopped || self.hosts[at].resting.is_some() {
            self.events.push_back(FetchEvent::Visited((self.digest)(visit)));
            return;
        }
        // The page's own pause, on top of the host's, so that other pages go first meanwhile.
        let pause = self.settings.politeness.back_off.saturating_mul(1 << attempt.min(16));
        let (url, request) = (visit.request.url.clone(), visit.request.clone());
        self.enqueue(
            at,
            Task {
                kind: TaskKind::Visit(request),
                url,
                attempt: attempt + 1,
                not_before: now + pause,
                last: Some(Box::new(visit)),
            },
        );
    }

    pub(super) fn resolved(&mut self, at: usize, resolved: Result<IpAddr, NoAnswer>) {
        match resolved {
            Ok(address) => self.hosts[at].address = HostAddress::Known(address),
            // The pace has noted it: another look-up follows after its pause, or the host rests.
            Err(NoAnswer { cause: NoAnswerCause::Failed(_), .. }) => {}
            Err(refused) => {
                let host = &mut self.hosts[at];
                for task in std::mem::take(&mut host.queue) {
                    self.queued -= 1;
                    match task.kind {
                        TaskKind::Visit(request) => {
                            let visit = unasked(request, refused.clone());
                            self.events.push_back(FetchEvent::Visited((self.digest)(visit)));
                        }
                        TaskKind::Robots { of, .. } => {
                            let fault =
                                RobotsFault::of("it redirects to an address that is private or reserved");
                            self.robots_unavailable(of, u32::MAX, fault);
                        }
                        TaskKind::Resolve => {}
                    }
                }
            }
        }
    }

    /// RFC 9309 §2.3.1: what the answer to robots.txt means.
    pub(super) fn robots_answered(
        &mut self,
        of: usize,
        hops: u32,
        attempt: u32,
        url: &Url,
        answer: Result<Answer, NoAnswer>,
    ) {
        let (status, body) = match &answer {
            Ok(answer) if (300..400).contains(&answer.status) && answer.status != 304 => {
                match task::location(answer, url).filter(|to| Host::of(to).is_some() && !has_user_info(to)) {
                    Some(to) if hops < self.settings.robots_redirects => {
                        return self.robots_hop(of, hops + 1, attempt, to);
                    }
                    // Too many redirects, or one to nowhere: as if there were no file.
                    _ => (404, bytes::Bytes::new()),
                }
            }
            Ok(answer)
                if answer.status == 429
                    || answer.status == 304
                    || answer.status >= 500
                    || answer.status < 200 =>
            {
                let (status, reason) = (Some(answer.status), reason::http_status(answer.status));
                return self.robots_unavailable(of, attempt.max(1), RobotsFault { status, reason });
            }
            Ok(answer) => (answer.status, answer.body.clone()),
            Err(none) => {
                let words = reason::in_words(none.outcome().code(), None, none.reason.as_deref());
                return self.robots_unavailable(
                    of,
                    attempt.max(1),
                    RobotsFault::of(words.unwrap_or_default()),
                );
            }
        };
        self.hosts[of].robots_fault = None;
        self.hosts[of].robots_behind = None;
        let robots = read_robots(status, &body, &self.token_of(&self.hosts[of].host.clone()));
        self.hosts[of].robots = RobotsState::Known { until: Instant::now() + self.settings.robots_age };
        self.hosts[of].sitemaps_told = false;
        self.take_robots(of, robots, true);
        self.report(of, Some(RobotsRecord { at: Timestamp::now(), status, body }));
        self.schedule(of);
    }

    pub(super) fn robots_hop(&mut self, of: usize, hops: u32, attempt: u32, to: Url) {
        let unavailable = |words: &str| RobotsFault::of(format!("it redirects to `{to}`, {words}"));
        let Some(host) = Host::of(&to) else {
            return self.robots_unavailable(of, u32::MAX, unavailable("which has no host"));
        };
        let at = self.host_index(&host);
        if self.hosts[at].resting.is_some() {
            return self.robots_unavailable(of, u32::MAX, unavailable("whose host waits"));
        }
        let circle = unavailable("which needs this file itself");
        let task = Task {
            kind: TaskKind::Robots { of, hops },
            url: to,
            attempt,
            not_before: Instant::now(),
            last: None,
        };
        let behind = Some(at).filter(|at| task.needs_leave(*at));
        // Hosts whose rules are behind one another's would wait for each other for ever.
        if std::iter::successors(behind, |host| self.hosts[*host].robots_behind).any(|host| host == of) {
            return self.robots_unavailable(of, u32::MAX, circle);
        }
        self.hosts[of].robots_behind = behind;
        self.enqueue(at, task);
    }

    /// No robots.txt to be had: everything on the host is forbidden. It is tried again a few times, then the host
    /// rests until a later cycle.
    pub(super) fn robots_unavailable(&mut self, of: usize, attempt: u32, fault: RobotsFault) {
        let attempts = self.settings.politeness.attempts;
        let host = &mut self.hosts[of];
        host.robots = RobotsState::Unknown;
        host.robots_behind = None;
        host.robots_attempts = attempt;
        tracing::info!(host = %host.host, reason = fault.reason, "robots.txt could not be fetched");
        let reason = fault.reason.clone();
        host.robots_fault = Some(fault);
        if host.resting.is_none() && attempt >= attempts {
            let verdict = host.pace.rest(Waiting::RobotsUnavailable);
            self.heed(of, verdict, Some(reason));
        } else {
            self.report(of, None);
        }
        self.schedule(of);
    }

    /// The rules of a host are known: its pause follows, and the caller gets its sitemaps, once. `is_read`: the file
    /// came from the host just now, and is not one that was recalled; the operator is warned once, when it is read.
    pub(super) fn take_robots(&mut self, of: usize, robots: Robots, is_read: bool) {
        let too_slow = robots.crawl_delay().filter(|delay| *delay > self.settings.politeness.max_crawl_delay);
        let host = &mut self.hosts[of];
        host.pace.ask_delay(robots.crawl_delay());
        host.robots_attempts = 0;
        let name = host.host.clone();
        let tells = !std::mem::replace(&mut host.sitemaps_told, true);
        let sitemaps = if tells { robots.sitemaps(&name) } else { Vec::new() };
        self.rules.put(of, robots);
        self.pace_twins(of);
        if let Some(delay) = too_slow {
            let reason = format!(
                "robots.txt asks for {} s between requests, more than the {} s allowed",
                delay.as_secs_f64(),
                self.settings.politeness.max_crawl_delay.as_secs_f64()
            );
            if is_read {
                tracing::warn!(host = %name, "{reason}: the host is skipped (raise it with --max-crawl-delay)");
            }
            self.heed(of, HostVerdict::Rest(self.settings.robots_age, Waiting::CrawlDelay), Some(reason));
            self.tell_twins(of);
        } else if tells {
            self.events.push_back(FetchEvent::Robots { host: name, sitemaps });
        }
    }

    /// Asks the caller for the robots.txt of a host, whose rules are known and not in memory.
    pub(super) fn recall_robots(&mut self, at: usize) {
        if let RobotsState::Known { until } = self.hosts[at].robots {
            self.hosts[at].robots = RobotsState::Recalled { until };
            self.recalls.push_back(at);
            self.send_recalls();
        }
    }

    pub(super) fn send_recalls(&mut self) {
        while self.recalls_sent < MOST_RECALLS
            && let Some(at) = self.recalls.pop_front()
        {
            self.recalls_sent += 1;
            self.events.push_back(FetchEvent::RobotsWanted(self.hosts[at].host.clone()));
        }
    }

    /// Whatever waits on the host waits no longer, and so it needs no turn.
    pub(super) fn defer_all(&mut self, at: usize, why: Waiting) {
        self.hosts[at].turn = None;
        for task in std::mem::take(&mut self.hosts[at].queue) {
            self.queued -= 1;
            self.defer(task, why);
        }
        // Its turn may have been the one that its share had.
        self.wake_share(at);
    }

    pub(super) fn defer(&mut self, task: Task, why: Waiting) {
        match (task.kind, task.last) {
            // It was tried, and how that ended is a fact.
            (TaskKind::Visit(_), Some(visit)) => {
                self.events.push_back(FetchEvent::Visited((self.digest)(*visit)))
            }
            (TaskKind::Visit(request), None) => self.events.push_back(FetchEvent::Deferred { request, why }),
            // The host is not to blame for these: robots.txt is asked for again when a page needs it.
            (TaskKind::Robots { of, .. }, _) if is_ours(why) => {
                self.hosts[of].robots = RobotsState::Unknown;
            }
            (TaskKind::Robots { of, .. }, _) => {
                let fault = RobotsFault::of(format!("the host of `{}` waits", task.url));
                self.robots_unavailable(of, u32::MAX, fault)
            }
            (TaskKind::Resolve, _) => {}
        }
    }

    pub(super) fn report(&mut self, at: usize, robots: Option<RobotsRecord>) {
        let host = &self.hosts[at];
        self.events.push_back(FetchEvent::Host(HostReport {
            host: host.host.clone(),
            delay: host.pace.delay(),
            wait: host.wait,
            reason: host.reason.clone(),
            failures: host.pace.failures(),
            rests: host.pace.rests(),
            robots,
            robots_fault: host.robots_fault.clone(),
        }));
    }
}
