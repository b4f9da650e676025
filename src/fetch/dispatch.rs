//! Which host may be asked now, and for which page.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use tokio::time::Instant;

use super::host::{HostAddress, RobotsState};
use super::task::{self, Task, TaskKind, TaskOrders};
use super::visit::{Refused, RobotsFault, Subject, Waiting};
use super::web::Web;
use super::{FetchEvent, Fetcher, unasked};

impl<W: Web, T: Send + 'static> Fetcher<W, T> {
    /// Sends what may be sent now; says when the next turn is, if nothing ends before.
    pub(super) fn dispatch(&mut self) -> Option<Instant> {
        let now = Instant::now();
        while self.tasks.len() < self.settings.concurrency.max(1) {
            let Reverse((at, _, host)) = *self.turns.peek()?;
            if self.hosts[host].turn != Some(at) {
                self.turns.pop();
                continue;
            }
            if at > now {
                return Some(at);
            }
            // First the ceiling over all hosts: while it allows no request, no host's turn has come.
            if let Err(wait) = self.everyone_permits() {
                return Some(now + wait);
            }
            self.turns.pop();
            self.hosts[host].turn = None;
            self.serve(host, now);
            self.wake_share(host);
        }
        // Every place is taken: the next thing to happen is that a request ends.
        None
    }

    pub(super) fn serve(&mut self, at: usize, now: Instant) {
        if !self.has_place(at) || self.hosts[at].pace.next_allowed() > now {
            return self.schedule(at);
        }
        if self.waits_for_share(at) {
            return;
        }
        let address = match &self.hosts[at].address {
            HostAddress::Known(address) => *address,
            HostAddress::Unknown => return self.resolve(at),
        };
        if let Err(wait) = self.address_permits(at, address) {
            return self.give_turn(at, now + wait);
        }
        match self.next_task(at, now) {
            Some(task) => self.send(at, task, now),
            None => self.schedule(at),
        }
    }

    /// The task to send now: robots.txt before everything else, then the first page that it allows.
    pub(super) fn next_task(&mut self, at: usize, now: Instant) -> Option<Task> {
        if self.left == Some(0) || self.hosts[at].left == Some(0) {
            self.defer_all(at, Waiting::Budget);
            return None;
        }
        let host = &mut self.hosts[at];
        if let Some(task) = host.take_robots_task(at) {
            self.queued -= 1;
            return Some(task);
        }
        match &host.robots {
            RobotsState::Asked | RobotsState::Recalled { .. } => return None,
            RobotsState::Known { until } if *until > now => {
                if self.rules.of(at).is_none() {
                    self.recall_robots(at);
                    return None;
                }
            }
            _ => {
                let url = host.host.url("/robots.txt")?;
                host.robots = RobotsState::Asked;
                host.robots_behind = None;
                let attempt = host.robots_attempts + 1;
                return Some(Task {
                    kind: TaskKind::Robots { of: at, hops: 0 },
                    url,
                    attempt,
                    not_before: now,
                    last: None,
                });
            }
        }
        loop {
            let task = self.hosts[at].take_runnable(now)?;
            self.queued -= 1;
            // What is not known is forbidden.
            if self.rules.of(at).is_some_and(|robots| robots.allows(&task.url)) {
                return Some(task);
            }
            match task.kind {
                TaskKind::Visit(request) => {
                    let visit = unasked(request, Refused::Robots.into());
                    self.events.push_back(FetchEvent::Visited((self.digest)(visit)));
                }
                // The rules of that host are behind a page that this one forbids.
                TaskKind::Robots { of, .. } => self.robots_unavailable(
                    of,
                    u32::MAX,
                    RobotsFault::of("it redirects to a page that robots.txt forbids"),
                ),
                TaskKind::Resolve => {}
            }
        }
    }

    pub(super) fn resolve(&mut self, at: usize) {
        let Some(url) = self.hosts[at].host.url("/") else { return };
        let task = Task { kind: TaskKind::Resolve, url, attempt: 1, not_before: Instant::now(), last: None };
        self.spawn(at, task);
    }

    pub(super) fn send(&mut self, at: usize, task: Task, now: Instant) {
        let per_host = self.settings.politeness.per_host;
        for left in [&mut self.left, &mut self.hosts[at].left].into_iter().flatten() {
            *left = left.saturating_sub(1);
        }
        // One that was counted and never sent stands for this one: the count never falls.
        match self.uncounted.checked_sub(1) {
            Some(rest) => self.uncounted = rest,
            None => self.traffic.requests += 1,
        }
        self.granted = false;
        self.hosts[at].granted = false;
        self.hosts[at].last_sent = self.traffic.requests;
        self.each_with_twins(at, |host| host.pace.started(now, per_host));
        tracing::debug!(url = %task.url, attempt = task.attempt, "get");
        if self.left == Some(0) {
            // That was the last request of the budget: what is queued is put off now.
            (0..self.hosts.len()).for_each(|host| self.defer_all(host, Waiting::Budget));
        }
        self.spawn(at, task);
        if per_host > 1 {
            self.schedule_with_twins(at);
        }
    }

    pub(super) fn spawn(&mut self, at: usize, task: Task) {
        self.hosts[at].in_flight += 1;
        self.take_share(at, matches!(task.kind, TaskKind::Resolve));
        let sitemap = matches!(&task.kind, TaskKind::Visit(request) if matches!(request.subject, Subject::Sitemap { .. }));
        self.tasks.spawn(task::run(TaskOrders {
            web: Arc::clone(&self.web),
            digest: Arc::clone(&self.digest),
            host: at,
            task,
            attempts: self.settings.politeness.attempts,
            patience: self.settings.politeness.patience,
            unpacking: Arc::clone(&self.unpacking),
            aside: self.aside.clone(),
            body_bytes: if sitemap { self.settings.sitemap_bytes } else { self.settings.body_bytes },
        }));
    }

    /// May a request go out now, by the ceiling over all hosts? Else: how long not. What was granted is kept until a
    /// request uses it.
    fn everyone_permits(&mut self) -> Result<(), Duration> {
        if let Some(everyone) = self.everyone.as_ref().filter(|_| !self.granted) {
            everyone.check().map_err(|not_until| not_until.wait_time_from(self.clock.now()))?;
            self.granted = true;
        }
        Ok(())
    }

    /// The same for the ceiling of this host's address.
    fn address_permits(&mut self, at: usize, address: IpAddr) -> Result<(), Duration> {
        if let Some(addresses) = self.addresses.as_ref().filter(|_| !self.hosts[at].granted) {
            addresses.check_key(&address).map_err(|not_until| not_until.wait_time_from(self.clock.now()))?;
            self.hosts[at].granted = true;
            if self.traffic.requests % 4096 == 4095 {
                // Keys of addresses that were left alone pile up otherwise.
                addresses.retain_recent();
                addresses.shrink_to_fit();
            }
        }
        Ok(())
    }

    /// Gives the host its next turn, if it has something to do and a place free.
    pub(super) fn schedule(&mut self, at: usize) {
        if self.hosts[at].turn.is_some() || self.hosts[at].waits_for_share || !self.has_place(at) {
            return;
        }
        if let Some(moment) = self.hosts[at].next_turn(at) {
            self.give_turn(at, moment);
        }
    }

    pub(super) fn give_turn(&mut self, at: usize, moment: Instant) {
        self.hosts[at].turn = Some(moment);
        self.turns.push(Reverse((moment, self.hosts[at].last_sent, at)));
    }

    pub(super) fn enqueue(&mut self, at: usize, task: Task) {
        let spent = (self.left == Some(0)).then_some(Waiting::Budget);
        let stopped = self.stopped.then_some(Waiting::Stopped);
        if let Some(why) = self.hosts[at].resting.or(stopped).or(spent) {
            return self.defer(task, why);
        }
        self.hosts[at].queue.push_back(task);
        self.queued += 1;
        // An earlier task may be due before the turn that is set.
        if let Some(moment) = self.hosts[at].next_turn(at)
            && self.has_place(at)
            && !self.hosts[at].waits_for_share
            && self.hosts[at].turn.is_none_or(|turn| turn > moment)
        {
            self.give_turn(at, moment);
        }
    }
}
