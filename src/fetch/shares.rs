//! Shares: how many of the requests in flight may belong to one registrable domain, or to one address.
//!
//! A site that answers slowly on many hosts would otherwise hold every place, and all other sites would wait for it. A host
//! whose domain or address has its share in flight waits here, in the order in which hosts came, without a turn. When a place
//! becomes free the next host that can be asked now gets a turn. What must stay true: a share that has room and hosts that wait
//! has one with a turn, so every end of a request and every turn that was used or lost looks for the next.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::net::IpAddr;

use tokio::time::Instant;

use super::Fetcher;
use super::host::HostAddress;
use super::web::Web;

/// One domain or address is given this part of all places, and one place at the least.
const PART: usize = 4;

/// Requests in flight, and hosts that wait for one of these to end.
#[derive(Debug, Default)]
struct OneShare {
    in_flight: usize,
    waiting: VecDeque<usize>,
}

/// The shares of domains and addresses. One without requests and hosts that wait is not held.
#[derive(Debug, Default)]
pub(super) struct Shares {
    domains: HashMap<String, OneShare>,
    addresses: HashMap<IpAddr, OneShare>,
}

/// One more request is in flight, or one less.
fn count<K: Hash + Eq>(shares: &mut HashMap<K, OneShare>, key: K, starts: bool) {
    let share = shares.entry(key).or_default();
    share.in_flight = if starts { share.in_flight + 1 } else { share.in_flight.saturating_sub(1) };
}

/// The next host that waits, if there is room. Forgets a share that is not needed.
fn next_of<K: Hash + Eq>(shares: &mut HashMap<K, OneShare>, key: &K, most: usize) -> Option<usize> {
    let share = shares.get_mut(key)?;
    if share.in_flight == 0 && share.waiting.is_empty() {
        shares.remove(key);
        return None;
    }
    if share.in_flight < most { share.waiting.pop_front() } else { None }
}

impl<W: Web, T: Send + 'static> Fetcher<W, T> {
    /// Requests that one domain or address may have in flight. An operator who allows one host more has said so.
    fn most_in_share(&self) -> usize {
        (self.settings.concurrency / PART).max(self.settings.politeness.per_host as usize).max(1)
    }

    fn domain_of(&self, at: usize) -> String {
        self.hosts[at].host.domain().to_owned()
    }

    fn address_of(&self, at: usize) -> Option<IpAddr> {
        match self.hosts[at].address {
            HostAddress::Known(address) => Some(address),
            HostAddress::Unknown => None,
        }
    }

    /// Lets the host wait if its domain or address has its share in flight. Says whether it does.
    pub(super) fn waits_for_share(&mut self, at: usize) -> bool {
        let most = self.most_in_share();
        let (domain, address) = (self.domain_of(at), self.address_of(at));
        let domains = self.shares.domains.get_mut(&domain);
        let addresses = address.and_then(|address| self.shares.addresses.get_mut(&address));
        let full = domains.into_iter().chain(addresses).find(|share| share.in_flight >= most);
        if let Some(share) = full {
            share.waiting.push_back(at);
            self.hosts[at].waits_for_share = true;
            return true;
        }
        false
    }

    /// A request to the host starts. `resolves`: it is a look-up, which no address is asked for.
    pub(super) fn take_share(&mut self, at: usize, resolves: bool) {
        self.count_share(at, resolves, true);
    }

    /// A request to the host ended.
    pub(super) fn return_share(&mut self, at: usize, resolves: bool) {
        self.count_share(at, resolves, false);
    }

    fn count_share(&mut self, at: usize, resolves: bool, starts: bool) {
        let (domain, address) = (self.domain_of(at), self.address_of(at).filter(|_| !resolves));
        count(&mut self.shares.domains, domain, starts);
        if let Some(address) = address {
            count(&mut self.shares.addresses, address, starts);
        }
    }

    /// Gives hosts of the same domain or address their turns while there is room, up to one that can be asked now.
    pub(super) fn wake_share(&mut self, at: usize) {
        let most = self.most_in_share();
        let (domain, address) = (self.domain_of(at), self.address_of(at));
        while let Some(host) = next_of(&mut self.shares.domains, &domain, most) {
            if self.wake(host) {
                break;
            }
        }
        while let Some(host) = address.and_then(|address| next_of(&mut self.shares.addresses, &address, most))
        {
            if self.wake(host) {
                break;
            }
        }
    }

    /// Gives a host that waited its turn. Says whether that is now.
    fn wake(&mut self, host: usize) -> bool {
        self.hosts[host].waits_for_share = false;
        self.schedule(host);
        self.hosts[host].turn.is_some_and(|turn| turn <= Instant::now())
    }
}
