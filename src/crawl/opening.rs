//! The opening of a cycle: hosts as the last run left them, and every page that may be visited, with its score.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::observe::{Observed, Observer};
use super::planner::{Eligibility, HostLoad};
use super::recorder::Recorder;
use super::site_spending::SiteSpending;
use super::terms::{Terms, View};
use super::{CrawlError, Crawler};
use super::{clock, sitemaps, survey, text_command};
use crate::fetch::web::Web;
use crate::fetch::{Fetcher, HostPlace};
use crate::page::{Host, HostId, PageId, PageUrl};
use crate::policy;
use crate::schedule::Candidates;
use crate::store::{KnownPage, OpenCycle};
use crate::time::Timestamp;

/// The fetcher of a crawl.
pub(super) type PageFetcher<W> = Fetcher<W, Observed>;

/// Everything that a cycle starts from.
pub(super) struct Opening<W> {
    pub(super) fetcher: PageFetcher<W>,
    pub(super) hosts: CycleHosts,
    pub(super) candidates: Candidates,
    /// The policy's memory of the collection after its survey.
    pub(super) policy_memory: Option<String>,
}

impl<W: Web> Opening<W> {
    /// Reads the store. Nothing is asked for, and nothing is written.
    pub(super) fn of(
        crawler: &mut Crawler<W>,
        recorder: &mut Recorder,
        open: &OpenCycle,
        view: &View,
        terms: Terms,
    ) -> Result<Self, CrawlError> {
        let Recorder { store, policy, .. } = recorder;
        let left = terms.budget.map(|budget| budget.saturating_sub(open.requests));
        let observer = Arc::clone(&crawler.observer);
        let digest = move |visit| Observer::observe(&observer, visit);
        let mut fetcher =
            Fetcher::new(Arc::clone(&crawler.web), digest, crawler.settings.fetch.clone(), left);
        let observer = Arc::clone(&crawler.observer);
        fetcher.digest_aside(text_command::AT_ONCE, move |visit| observer.reading.takes_long(visit));
        let mut hosts = CycleHosts::default();
        let mut known_hosts = store.hosts()?;
        for known in &mut known_hosts {
            let was_corrected = clock::correct_host(known, terms.now);
            fetcher.remember(&known.report, known.robots, open.resumed || was_corrected);
            let place = fetcher.place(&known.report.host);
            let host = CycleHost { place, is_wanted: false, sitemaps_at: known.sitemaps_at };
            hosts.insert(known.id, known.report.host.clone(), host);
        }
        let (unwanted, only) = (&crawler.unwanted, &crawler.only);
        let is_wanted = |page: &KnownPage| is_wanted(page, unwanted);
        let policy_memory =
            survey::look_over(&mut **store, &mut **policy, &known_hosts, view, terms, &is_wanted)?;
        let policy = &**policy;
        let mut candidates = Candidates::default();
        let mut visited: HashMap<HostId, u64> = HashMap::new();
        let outstanding: HashSet<PageId> = open.outstanding.iter().map(|visit| visit.page).collect();
        store.each_page(&mut |mut page| {
            view.adjust(&mut page, terms.now);
            let is_planned = outstanding.contains(&page.id);
            let eligibility = match &only {
                Some(only) if only.contains(&page.id) => Eligibility::Candidate,
                Some(_) => Eligibility::Unwanted,
                None => Eligibility::of(&page, open.id, &terms, policy, is_wanted(&page), is_planned),
            };
            match eligibility {
                Eligibility::Unwanted | Eligibility::Waits => return,
                Eligibility::Visited => {
                    *visited.entry(page.host).or_default() += 1;
                }
                Eligibility::Planned => {}
                Eligibility::Candidate => {
                    candidates.push(&page.state, policy::score(policy, &page.state, terms.now));
                }
            }
            // A host counts though all its pages were visited: the run may have ended before its sitemaps were read.
            hosts.want(page.host);
        })?;
        if open.resumed {
            let noted = SiteSpending::load(&mut **store, open.id)?;
            for (host, id) in &hosts.ids {
                let spent = noted.on(host).max(visited.get(id).copied().unwrap_or(0));
                if let Some(known) = hosts.get(*id) {
                    fetcher.charge(known.place, spent);
                }
            }
        }
        if crawler.settings.sitemaps {
            // Sitemaps are read even of hosts whose pages find no room in the budget.
            let now = Timestamp::now();
            let stale = |host: &&CycleHost| host.is_wanted && !sitemaps::are_fresh(host.sitemaps_at, now);
            hosts.by_id.values().filter(stale).for_each(|host| fetcher.want_sitemaps(host.place));
        }
        Ok(Self { fetcher, hosts, candidates, policy_memory })
    }
}

/// May this page be visited at all? One that is not wanted any more may not.
pub(super) fn is_wanted(page: &KnownPage, unwanted: &HashSet<PageId>) -> bool {
    !unwanted.contains(&page.id)
}

/// A host in a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleHost {
    /// Where the fetcher keeps it.
    pub(super) place: HostPlace,
    /// Some page of it is visited in this cycle.
    pub(super) is_wanted: bool,
    /// When its sitemaps were last read.
    pub(super) sitemaps_at: Option<Timestamp>,
}

/// The hosts of a cycle, by id and by name.
#[derive(Debug, Default)]
pub(super) struct CycleHosts {
    by_id: HashMap<HostId, CycleHost>,
    ids: HashMap<Host, HostId>,
}

impl CycleHosts {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: HostId) -> Option<&CycleHost> {
        self.by_id.get(&id)
    }

    pub(super) fn named(&self, host: &Host) -> Option<&CycleHost> {
        self.get(*self.ids.get(host)?)
    }

    pub(super) fn insert(&mut self, id: HostId, name: Host, host: CycleHost) {
        self.ids.insert(name, id);
        self.by_id.insert(id, host);
    }

    /// A page of this host is visited.
    fn want(&mut self, id: HostId) {
        if let Some(host) = self.by_id.get_mut(&id) {
            host.is_wanted = true;
        }
    }

    /// A page of this host was found.
    pub(super) fn found<W: Web>(&mut self, id: HostId, url: &PageUrl, fetcher: &mut PageFetcher<W>) {
        if !self.by_id.contains_key(&id) {
            let name = url.host();
            let place = fetcher.place(&name);
            self.insert(id, name, CycleHost { place, is_wanted: true, sitemaps_at: None });
        }
        self.want(id);
    }

    /// The pause that is kept with a host.
    pub(super) fn delay<W: Web>(&self, id: HostId, fetcher: &PageFetcher<W>) -> Option<Duration> {
        Some(fetcher.delay_of(self.get(id)?.place))
    }

    /// A host as the planner sees it.
    pub(super) fn load<W: Web>(&self, id: HostId, fetcher: &PageFetcher<W>) -> Option<HostLoad> {
        let place = self.get(id)?.place;
        Some(HostLoad {
            delay: fetcher.delay_of(place),
            queued: fetcher.queued_on(place),
            left: fetcher.left_on(place),
            is_resting: fetcher.is_resting(place),
        })
    }
}
