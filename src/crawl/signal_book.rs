//! Signals of a batch: what lists, hubs and people tell is judged against what the store knows of the pages, beside the visits.
//!
//! A signal is logged if it tells something that the last visit of its page can't have seen. Everything else that is kept of signals, the
//! counts of pages and how often hosts were right, follows from the logs; [`super::retold`] derives it again by the same functions.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::batch::{Batch, Content, ToldChange, VisitRecord};
use crate::observation::Observation;
use crate::page::{Fingerprint, HostId, PageId};
use crate::signal::lists::{MOST_UNUSED, has_moved};
use crate::signal::trust::{HostTrust, ToldVisit};
use crate::signal::{PageSignals, Signal, SignalKind, hub};
use crate::store::{Commit, Loaded, Result, SignalledPage, Store, StoredTargets, TrustRow, Wanted};
use crate::time::Timestamp;

/// Adds the rows that signals are judged by, as far as they can be named before anything else is known.
pub(super) fn want(wanted: &mut Wanted, batch: &Batch) {
    let entries = batch.visits.iter().flat_map(|visit| &visit.entries).map(|(page, _)| *page);
    wanted.told = batch.told.iter().map(|told| told.page).chain(entries).collect();
    wanted.told.sort_unstable();
    wanted.told.dedup();
    wanted.links_of =
        batch.visits.iter().filter(|visit| tells_by_links(visit)).map(|visit| visit.page).collect();
}

/// Can the links of this visit be compared with those of the visit before?
fn tells_by_links(visit: &VisitRecord) -> bool {
    visit.same_rules && visit.links.is_some() && matches!(visit.content, Some(Content::Read(_)))
}

/// What is known of pages and hosts that signals are about, with the signals of this batch.
#[derive(Default)]
pub(super) struct SignalBook {
    pages: HashMap<PageId, SignalledPage>,
    by_address: HashMap<Fingerprint, PageId>,
    by_prefix: HashMap<u64, PageId>,
    /// Signals that were learnt after the last visit, those of this batch with them.
    recent: HashMap<PageId, Vec<Signal>>,
    /// Links of pages as they were last read.
    links: HashMap<PageId, StoredTargets>,
    trust: HashMap<(HostId, SignalKind), HostTrust>,
    rows: SignalRows,
}

/// What has to be written.
#[derive(Default)]
struct SignalRows {
    signals: Vec<Signal>,
    counted: BTreeSet<PageId>,
    trusted: BTreeSet<(HostId, SignalKind)>,
    sitemap_dates: BTreeMap<PageId, i64>,
    feed_dates: BTreeMap<PageId, i64>,
}

impl SignalBook {
    /// Loads the rest of the rows. `loaded` has what [`want`] asked for.
    pub(super) fn load(store: &mut dyn Store, batch: &Batch, loaded: &mut Loaded) -> Result<Self> {
        let mut book = Self { links: std::mem::take(&mut loaded.links), ..Self::default() };
        for told in std::mem::take(&mut loaded.told) {
            book.add(told);
        }
        for page in &loaded.pages {
            book.add(SignalledPage {
                id: page.id,
                fingerprint: page.node.fingerprint,
                host: page.host,
                seen_at: page.folded.seen_at,
                // Dates were loaded if anything is told of the page.
                sitemap_date: book.pages.get(&page.id).and_then(|told| told.sitemap_date),
                feed_date: book.pages.get(&page.id).and_then(|told| told.feed_date),
                signals: page.signals,
            });
        }
        let mut wanted = Wanted { told_prefixes: book.linked(batch), ..Wanted::default() };
        wanted.signals_after = loaded
            .pages
            .iter()
            .filter(|page| page.signals.any())
            .map(|page| {
                let visits =
                    batch.visits.iter().filter(|visit| visit.page == page.id).map(|visit| visit.attempt.at);
                let first =
                    visits.chain([page.folded.seen_at.unwrap_or(Timestamp::from_millis(i64::MIN))]).min();
                (page.id, first.unwrap_or_default())
            })
            .collect();
        wanted.trust_of = book.pages.values().map(|page| page.host).collect();
        let found = store.load(&wanted)?;
        book.take_trust(found.trust);
        for signal in found.signals {
            book.recent.entry(signal.page).or_default().push(signal);
        }
        let asked: HashSet<HostId> = wanted.trust_of.into_iter().collect();
        let more: Vec<HostId> =
            found.told.iter().map(|page| page.host).filter(|host| !asked.contains(host)).collect();
        for told in found.told {
            if !book.pages.contains_key(&told.id) {
                book.add(told);
            }
        }
        if !more.is_empty() {
            book.take_trust(store.load(&Wanted { trust_of: more, ..Wanted::default() })?.trust);
        }
        Ok(book)
    }

    /// The signals that a page has so far.
    pub(super) fn of(&self, page: PageId) -> PageSignals {
        self.pages.get(&page).map(|page| page.signals).unwrap_or_default()
    }

    fn add(&mut self, page: SignalledPage) {
        self.by_address.insert(page.fingerprint, page.id);
        self.by_prefix.insert(page.fingerprint.prefix(), page.id);
        self.pages.insert(page.id, page);
    }

    fn take_trust(&mut self, rows: Vec<TrustRow>) {
        self.trust.extend(rows.into_iter().map(|row| ((row.host, row.kind), row.trust)));
    }

    /// The pages that links of this batch tell of, as far as they have to be loaded.
    fn linked(&self, batch: &Batch) -> Vec<u64> {
        let visits = batch.visits.iter().filter(|visit| tells_by_links(visit));
        let mut linked: Vec<u64> = visits.flat_map(|visit| self.told_by_links(visit)).collect();
        linked.retain(|prefix| !self.by_prefix.contains_key(prefix));
        linked.sort_unstable();
        linked.dedup();
        linked
    }

    fn told_by_links(&self, visit: &VisitRecord) -> Vec<u64> {
        let (Some(before), Some(now)) = (self.links.get(&visit.page), &visit.links) else {
            return Vec::new();
        };
        // The entries of a feed move down by themselves.
        let in_order = before.in_order && visit.entry_dates.is_none();
        hub::told(&before.targets, in_order, now)
    }

    /// Takes what lists and people told.
    pub(super) fn tell(&mut self, told: &[ToldChange]) {
        for change in told {
            self.take(change.page, change.kind, change.date, change.learnt_at);
        }
    }

    /// Takes a date that was given for a page.
    fn take(&mut self, page: Fingerprint, kind: SignalKind, date: Timestamp, learnt_at: Timestamp) {
        let Some(page) = self.by_address.get(&page).and_then(|id| self.pages.get_mut(id)) else { return };
        let (id, is_held, seconds) = (page.id, page.seen_at.is_some(), date.millis().div_euclid(1000));
        // Dates of lists are kept in seconds.
        let listed = Timestamp::from_seconds(seconds);
        let before = match kind {
            SignalKind::Sitemap => {
                if page.sitemap_date != Some(listed) {
                    self.rows.sitemap_dates.insert(id, seconds);
                }
                page.sitemap_date.replace(listed)
            }
            SignalKind::Feed => {
                if page.feed_date != Some(listed) {
                    self.rows.feed_dates.insert(id, seconds);
                }
                page.feed_date.replace(listed).or(page.sitemap_date)
            }
            // The first visit is not made sooner because of a link. People may say that they wait for it.
            SignalKind::Hub => None,
            SignalKind::Ping => return self.learn(id, kind, Some(date), learnt_at),
        };
        // What changed before there was a copy changed nothing for us.
        if is_held && has_moved(listed, before, learnt_at) {
            self.learn(id, kind, Some(date), learnt_at);
        }
    }

    /// Logs a signal, if it is news and the page does not have many already that no visit has looked into.
    fn learn(&mut self, page: PageId, kind: SignalKind, date: Option<Timestamp>, learnt_at: Timestamp) {
        let Some(page) = self.pages.get_mut(&page) else { return };
        let signal = Signal { page: page.id, kind, date, learnt_at };
        if !signal.is_news(page.seen_at) || page.signals.of(kind).since_visit >= MOST_UNUSED {
            return;
        }
        page.signals.take(&signal, page.seen_at);
        self.recent.entry(page.id).or_default().push(signal);
        self.rows.counted.insert(page.id);
        self.rows.signals.push(signal);
        let trust = (page.host, kind);
        if let Entry::Vacant(first) = self.trust.entry(trust) {
            first.insert(HostTrust::new(learnt_at));
            self.rows.trusted.insert(trust);
        }
    }

    /// A visit was judged. `seen_at`: the one before it that brought or confirmed the copy. What had been told is compared with what the
    /// visit found, and is used up.
    pub(super) fn visited(&mut self, fact: &Observation, seen_at: Option<Timestamp>) {
        let Some(page) = self.pages.get_mut(&fact.page).filter(|_| fact.found.is_some()) else { return };
        let at = fact.attempt.at;
        let recent = self.recent.get(&page.id).map(Vec::as_slice).unwrap_or_default();
        if let Some(visit) = ToldVisit::of(fact, seen_at, recent) {
            for kind in SignalKind::ALL {
                let Some(trust) = self.trust.get_mut(&(page.host, kind)) else { continue };
                let before = *trust;
                trust.add(kind, &visit);
                if *trust != before {
                    self.rows.trusted.insert((page.host, kind));
                }
            }
        }
        page.seen_at = Some(at);
        if page.signals.any() {
            page.signals.seen(at, recent);
            self.rows.counted.insert(page.id);
        }
    }

    /// The links of a visit that was judged tell of other pages: new links, and those that were moved up. So do the entries of a feed.
    pub(super) fn read(&mut self, visit: &VisitRecord) {
        for (page, date) in &visit.entries {
            self.take(*page, SignalKind::Feed, Timestamp::from_seconds(*date), visit.read_at);
        }
        if !tells_by_links(visit) {
            return;
        }
        let kind = if visit.entry_dates.is_some() { SignalKind::Feed } else { SignalKind::Hub };
        let dated: HashSet<u64> = visit.entries.iter().map(|(page, _)| page.prefix()).collect();
        for prefix in self.told_by_links(visit) {
            let Some(page) = self.by_prefix.get(&prefix).and_then(|id| self.pages.get(id)) else { continue };
            if page.seen_at.is_some() && page.id != visit.page && !dated.contains(&prefix) {
                self.learn(page.id, kind, None, visit.read_at);
            }
        }
        if let Some(links) = &visit.links {
            self.links.insert(visit.page, StoredTargets { targets: links.clone(), in_order: true });
        }
    }

    /// Adds what has to be written.
    pub(super) fn finish(self, rows: &mut Commit) {
        let SignalRows { signals, counted, trusted, sitemap_dates, feed_dates } = self.rows;
        rows.signals = signals;
        rows.page_signals =
            counted.into_iter().filter_map(|id| Some((id, self.pages.get(&id)?.signals))).collect();
        rows.trust = trusted
            .into_iter()
            .filter_map(|(host, kind)| Some(TrustRow { host, kind, trust: *self.trust.get(&(host, kind))? }))
            .collect();
        rows.sitemap_dates = sitemap_dates.into_iter().collect();
        rows.feed_dates = feed_dates.into_iter().collect();
    }
}
