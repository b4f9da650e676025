//! The fetcher's state of one host: its queue, its pace, its robots.txt, its address.

use std::collections::VecDeque;
use std::net::IpAddr;

use tokio::time::Instant;

use super::politeness::Pace;
use super::task::Task;
use super::visit::{RobotsFault, Waiting};
use crate::page::Host;
use crate::time::Timestamp;

pub(super) struct HostQueue {
    pub host: Host,
    /// Places of the other origins of its server, as far as they are known: they share its pace and its waits.
    pub twins: Vec<usize>,
    pub pace: Pace,
    pub queue: VecDeque<Task>,
    pub in_flight: u32,
    /// Its domain or address has its share of requests in flight: it gets its turn when one of these ends.
    pub waits_for_share: bool,
    /// The number of the last request that was sent to it: of two twins, the one that waited longer goes first.
    pub last_sent: u64,
    /// Requests that may still be sent to it, by its site's budget.
    pub left: Option<u64>,
    pub address: HostAddress,
    /// The ceiling of its address let a request through that was not sent yet.
    pub granted: bool,
    pub robots: RobotsState,
    /// The host that its robots.txt was redirected to, if that host's own rules must allow the request.
    pub robots_behind: Option<usize>,
    /// The caller knows the sitemaps that robots.txt names.
    pub sitemaps_told: bool,
    /// Tries of robots.txt that brought nothing.
    pub robots_attempts: u32,
    /// Times in a row that nothing could be sent to it because there was no file descriptor.
    pub unsent: u32,
    /// When its turn is, if it has one.
    pub turn: Option<Instant>,
    /// The wait that people are told of: until when, and why.
    pub wait: Option<(Timestamp, Waiting)>,
    /// The event behind that wait, in words.
    pub reason: Option<String>,
    /// How the last request for its robots.txt failed; `None` if it was answered.
    pub robots_fault: Option<RobotsFault>,
    /// Given up for this cycle.
    pub resting: Option<Waiting>,
}

pub(super) enum HostAddress {
    Unknown,
    Known(IpAddr),
}

pub(super) enum RobotsState {
    Unknown,
    /// On its way, perhaps by another host.
    Asked,
    /// The rules hold until this moment. They are in the cache, or can be had from the caller.
    Known {
        until: Instant,
    },
    /// The same, and the caller is asked for the file.
    Recalled {
        until: Instant,
    },
}

impl RobotsState {
    /// Is a robots.txt on its way?
    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, RobotsState::Asked | RobotsState::Recalled { .. })
    }
}

impl HostQueue {
    pub(super) fn new(host: Host, pace: Pace, left: Option<u64>) -> Self {
        Self {
            host,
            twins: Vec::new(),
            pace,
            queue: VecDeque::new(),
            in_flight: 0,
            waits_for_share: false,
            last_sent: 0,
            left,
            address: HostAddress::Unknown,
            granted: false,
            robots: RobotsState::Unknown,
            robots_behind: None,
            sitemaps_told: false,
            robots_attempts: 0,
            unsent: 0,
            turn: None,
            wait: None,
            reason: None,
            robots_fault: None,
            resting: None,
        }
    }

    /// When it can next be asked for something: its pace, and the earliest task it has.
    /// `at` is its own index.
    pub(crate) fn next_turn(&self, at: usize) -> Option<Instant> {
        let waits_for_robots = self.robots.is_awaited();
        let able = |task: &&Task| !waits_for_robots || !task.needs_leave(at);
        let earliest = self.queue.iter().filter(able).map(|task| task.not_before).min()?;
        Some(earliest.max(self.pace.next_allowed()))
    }

    /// A robots.txt that another host's redirect sent here: it needs no leave of ours.
    /// `at` is the host's own index.
    pub(crate) fn take_robots_task(&mut self, at: usize) -> Option<Task> {
        let place = self.queue.iter().position(|task| !task.needs_leave(at))?;
        self.queue.remove(place)
    }

    /// The first task whose time has come.
    pub(crate) fn take_runnable(&mut self, now: Instant) -> Option<Task> {
        let at = self.queue.iter().position(|task| task.not_before <= now)?;
        self.queue.remove(at)
    }
}
