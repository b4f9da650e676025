//! Twins: the origins of one server, `http` and `https` of one name.
//!
//! Each origin has a queue and a robots.txt of its own (RFC 9309 §2.3). For the server they are one client: together they
//! have at most [`Politeness::per_host`](super::politeness::Politeness::per_host) requests in flight, the pause follows
//! each of their requests, and a wait or a rest that the server asks for by one of them holds for all.

use tokio::time::Instant;

use super::Fetcher;
use super::host::HostQueue;
use super::web::Web;
use crate::time::Timestamp;

impl<W: Web, T: Send + 'static> Fetcher<W, T> {
    /// A host, then its twins.
    pub(super) fn with_twins(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::once(at).chain(self.hosts[at].twins.iter().copied())
    }

    /// Does something with a host and with its twins.
    pub(super) fn each_with_twins(&mut self, at: usize, mut act: impl FnMut(&mut HostQueue)) {
        act(&mut self.hosts[at]);
        for n in 0..self.hosts[at].twins.len() {
            let twin = self.hosts[at].twins[n];
            act(&mut self.hosts[twin]);
        }
    }

    /// Does the server take another request at this time?
    pub(super) fn has_place(&self, at: usize) -> bool {
        let in_flight: u32 = self.with_twins(at).map(|host| self.hosts[host].in_flight).sum();
        in_flight < self.settings.politeness.per_host
    }

    /// Gives the host and its twins their next turns.
    pub(super) fn schedule_with_twins(&mut self, at: usize) {
        self.schedule(at);
        for n in 0..self.hosts[at].twins.len() {
            self.schedule(self.hosts[at].twins[n]);
        }
    }

    /// A host is new: what is known of its twins holds for it too.
    pub(super) fn find_twins(&mut self, at: usize) {
        let twins: Vec<usize> =
            self.hosts[at].host.twins().filter_map(|twin| self.index.get(&twin).copied()).collect();
        for twin in &twins {
            self.hosts[*twin].twins.push(at);
        }
        self.hosts[at].twins.clone_from(&twins);
        for twin in twins {
            self.pace_twins(twin);
            self.share_wait(twin, at);
        }
        self.pace_twins(at);
    }

    /// The delay of a host is kept with its twins too, from the last request to any of them.
    pub(super) fn pace_twins(&mut self, at: usize) {
        for n in 0..self.hosts[at].twins.len() {
            let twin = self.hosts[at].twins[n];
            let paces: Vec<_> =
                self.hosts[twin].twins.iter().map(|other| self.hosts[*other].pace.clone()).collect();
            self.hosts[twin].pace.join(&paces);
        }
    }

    /// A wait of a host is kept with its twins too.
    pub(super) fn tell_twins(&mut self, at: usize) {
        for n in 0..self.hosts[at].twins.len() {
            self.share_wait(at, self.hosts[at].twins[n]);
        }
    }

    /// The wait of one host, if the server asked for it, holds for another, unless that one waits for longer.
    fn share_wait(&mut self, from: usize, to: usize) {
        let now = Timestamp::now();
        let host = &self.hosts[from];
        let Some((until, why)) = host.wait.filter(|(until, why)| *until > now && why.is_of_server()) else {
            return;
        };
        let rests = host.resting.filter(|why| why.is_of_server());
        let reason = host.reason.clone();
        let twin = &mut self.hosts[to];
        twin.pace.wait_until(Instant::now() + until.after(now));
        if twin.wait.is_none_or(|(held, _)| held < until) {
            twin.wait = Some((until, why));
            twin.reason = reason;
            self.report(to, None);
        }
        if let Some(why) = rests {
            self.hosts[to].resting.get_or_insert(why);
            self.defer_all(to, why);
        }
    }
}

#[cfg(test)]
#[path = "twins_tests.rs"]
mod tests;
