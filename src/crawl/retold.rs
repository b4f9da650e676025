//! What follows from the log of signals, derived from it again: the counts of pages, and how often hosts were right.
//!
//! The writer of a crawl keeps both up to date by the same functions ([`super::signal_book`]), so that both come to the same bits.

use std::collections::{BTreeMap, HashMap};

use crate::observation::{Folded, Observation};
use crate::page::{HostId, PageId};
use crate::signal::trust::{HostTrust, ToldVisit};
use crate::signal::{PageSignals, Signal, SignalKind};
use crate::store::{Commit, Result, Store, TrustRow};
use crate::time::Timestamp;

/// Pages whose signals are read together.
const AT_ONCE: usize = 500;

/// How often the signals of hosts were right, added up page by page.
#[derive(Debug, Default)]
pub(super) struct Retold {
    trust: BTreeMap<(HostId, SignalKind), HostTrust>,
}

impl Retold {
    /// The first signal of each host and kind: visits count from there on. All pages of the hosts must be among `pages`.
    pub(super) fn begin(store: &mut dyn Store, pages: &[(PageId, HostId)]) -> Result<Self> {
        let mut first: BTreeMap<(HostId, SignalKind), Timestamp> = BTreeMap::new();
        for some in pages.chunks(AT_ONCE) {
            let hosts: HashMap<PageId, HostId> = some.iter().copied().collect();
            for signal in store.signals_of(&some.iter().map(|(page, _)| *page).collect::<Vec<_>>())? {
                let Some(host) = hosts.get(&signal.page) else { continue };
                let since = first.entry((*host, signal.kind)).or_insert(signal.learnt_at);
                *since = signal.learnt_at.min(*since);
            }
        }
        Ok(Self { trust: first.into_iter().map(|(of, since)| (of, HostTrust::new(since))).collect() })
    }

    /// Adds the visits of one page.
    pub(super) fn add(&mut self, host: HostId, log: &[Observation], signals: &[Signal]) {
        let of_host: Vec<SignalKind> =
            SignalKind::ALL.into_iter().filter(|kind| self.trust.contains_key(&(host, *kind))).collect();
        if of_host.is_empty() {
            return;
        }
        let visits = ToldVisit::of_log(log, signals);
        for kind in of_host {
            if let Some(trust) = self.trust.get_mut(&(host, kind)) {
                visits.iter().for_each(|visit| trust.add(kind, visit));
            }
        }
    }

    /// Adds the rows that differ from those that are stored, of hosts that `is_asked`. Says how many differ.
    pub(super) fn finish(
        self,
        store: &mut dyn Store,
        is_asked: impl Fn(HostId) -> bool,
        rows: &mut Commit,
    ) -> Result<u64> {
        let mut kept: BTreeMap<(HostId, SignalKind), HostTrust> = store
            .trust()?
            .into_iter()
            .filter(|row| is_asked(row.host))
            .map(|row| ((row.host, row.kind), row.trust))
            .collect();
        for ((host, kind), trust) in self.trust {
            if kept.remove(&(host, kind)) != Some(trust) {
                rows.trust.push(TrustRow { host, kind, trust });
            }
        }
        rows.dropped_trust = kept.into_keys().collect();
        Ok((rows.trust.len() + rows.dropped_trust.len()) as u64)
    }
}

/// The signals of a page, counted again.
pub(super) fn counts(signals: &[Signal], folded: &Folded) -> PageSignals {
    PageSignals::of_log(signals, folded.seen_at)
}

/// Says again how often the signals of these hosts were right, after some of their pages were forgotten.
pub fn after_forgetting(store: &mut dyn Store, hosts: &[HostId]) -> Result<()> {
    let mut pages = Vec::new();
    store.each_page(&mut |page| {
        if hosts.contains(&page.host) {
            pages.push((page.id, page.host));
        }
    })?;
    let mut retold = Retold::begin(store, &pages)?;
    for some in pages.chunks(AT_ONCE) {
        let ids: Vec<PageId> = some.iter().map(|(page, _)| *page).collect();
        let signals = by_page(store.signals_of(&ids)?);
        for ((page, host), log) in some.iter().zip(store.logs(&ids)?) {
            retold.add(*host, &log, signals.get(page).map(Vec::as_slice).unwrap_or_default());
        }
    }
    let mut rows = Commit::default();
    if retold.finish(store, |host| hosts.contains(&host), &mut rows)? > 0 {
        store.commit(&rows)?;
    }
    Ok(())
}

/// Signals by their pages, in the order in which they were learnt.
pub(super) fn by_page(signals: Vec<Signal>) -> HashMap<PageId, Vec<Signal>> {
    let mut by_page: HashMap<PageId, Vec<Signal>> = HashMap::new();
    for signal in signals {
        by_page.entry(signal.page).or_default().push(signal);
    }
    by_page
}
