//! The opening of a cycle: hosts as the last run left them, and every page that may be visited, with its score.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::observe::{Observed, Observer};
use super::planner::{Eligibility, HostLoad};
use super::recorder::Recorder;
use super::site_spending::SiteSpending;
use super::terms::{Terms, View};
use super::{CrawlError, CrawlSettings, Crawler};
use super::{clock, survey, text_command};
use crate::fetch::web::Web;
use crate::fetch::{Fetcher, HostPlace};
use crate::identity_hash::ById;
use crate::page::{Host, HostId, PageId, PageUrl};
use crate::policy::{self, Policy};
use crate::schedule::Candidates;
use crate::signal::lists;
use crate::store::{KnownPage, ListRow, OpenCycle};
use crate::time::Timestamp;

/// The fetcher of a crawl.
pub(super) type PageFetcher<W> = Fetcher<W, Observed>;

/// Everything that a cycle starts from.
pub(super) struct Opening<W> {
    pub(super) fetcher: PageFetcher<W>,
    pub(super) hosts: CycleHosts,
    pub(super) candidates: Candidates,
    /// The sitemap files of the hosts whose sitemaps are read, as they were last read.
    pub(super) lists: Vec<ListRow>,
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
            let host = CycleHost { place, is_wanted: false, reads_lists: false };
            hosts.insert(known.id, known.report.host.clone(), host);
        }
        let (unwanted, only) = (&crawler.unwanted, &crawler.only);
        let is_wanted = |page: &KnownPage| is_wanted(page, unwanted);
        let policy_memory = survey::look_over(
            &mut **store,
            &mut **policy,
            &known_hosts,
            view,
            terms,
            &is_wanted,
            crawler.pages,
        )?;
        let policy = &**policy;
        let mut candidates = Candidates::default();
        let mut visited: HashMap<HostId, u64> = HashMap::new();
        let outstanding: HashSet<PageId> = open.outstanding.iter().map(|visit| visit.page).collect();
        store.each_page(&mut |page| {
            view.adjust(page, terms.now);
            let is_planned = outstanding.contains(&page.id);
            let eligibility = match &only {
                Some(only) if only.contains(&page.id) => Eligibility::Candidate,
                Some(_) => Eligibility::Unwanted,
                None => Eligibility::of(page, open.id, &terms, policy, is_wanted(page), is_planned),
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
        let mut lists = Vec::new();
        if crawler.settings.sitemaps {
            // Sitemaps are read even of hosts whose pages find no room in the budget.
            let read_at = known_hosts.iter().map(|host| (host.id, host.sitemaps_at));
            let now = Timestamp::now();
            let CrawlSettings { every, list_day, .. } = crawler.settings;
            let reading = ListChoice { policy, left, now, time: every, day: list_day };
            let due = reading.choose(read_at, &hosts, &fetcher, &mut candidates);
            lists = store.lists_of(&due)?;
            for id in due {
                if let Some(host) = hosts.by_id.get_mut(&id) {
                    host.reads_lists = true;
                    fetcher.want_sitemaps(host.place);
                }
            }
        }
        Ok(Self { fetcher, hosts, candidates, lists, policy_memory })
    }
}

/// The share of a budget that goes to lists at the most: what they tell is of use only with visits that are left.
const MOST_FOR_LISTS: f64 = 0.05;

/// The choice of the hosts whose sitemaps are read in a cycle.
struct ListChoice<'a> {
    policy: &'a dyn Policy,
    /// Requests that the cycle may still send.
    left: Option<u64>,
    now: Timestamp,
    /// The time that the cycle has.
    time: Option<Duration>,
    /// How long a day lasts.
    day: Duration,
}

impl ListChoice<'_> {
    /// Where the policy knows what reading is worth and a budget is set, sitemaps compete with pages. Else they are read once a day.
    fn choose<W: Web>(
        &self,
        read_at: impl Iterator<Item = (HostId, Option<Timestamp>)>,
        hosts: &CycleHosts,
        fetcher: &PageFetcher<W>,
        candidates: &mut Candidates,
    ) -> Vec<HostId> {
        let wanted: Vec<(HostId, Option<Timestamp>)> =
            read_at.filter(|(id, _)| hosts.get(*id).is_some_and(|host| host.is_wanted)).collect();
        let gains: HashMap<HostId, f64> = wanted.iter().filter_map(|(id, at)| self.gain(*id, *at)).collect();
        let lowest = if gains.is_empty() { 0.0 } else { self.lowest(hosts, fetcher, candidates) };
        let is_due = |id: HostId, at| {
            lists::is_due(at, self.now, self.day, gains.get(&id).map(|gain| (*gain, lowest)))
        };
        let mut due: Vec<HostId> =
            wanted.into_iter().filter(|(id, at)| is_due(*id, *at)).map(|(id, _)| id).collect();
        if let Some(left) = self.left {
            // Those that are read once a day, or for the first time, come first.
            let gain = |id: &HostId| gains.get(id).copied().unwrap_or(f64::INFINITY);
            due.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(b)));
            let by_day = due.iter().filter(|id| !gains.contains_key(id)).count();
            due.truncate(by_day + (left as f64 * MOST_FOR_LISTS).ceil() as usize);
        }
        due
    }

    fn gain(&self, host: HostId, read_at: Option<Timestamp>) -> Option<(HostId, f64)> {
        let read_at = read_at.filter(|_| self.left.is_some())?;
        let gain = self.policy.list_gain(host, self.now.since(read_at))?;
        Some((host, gain.value()))
    }

    /// The lowest score of a page that the budget has room for; 0 if it has room for all.
    fn lowest<W: Web>(
        &self,
        hosts: &CycleHosts,
        fetcher: &PageFetcher<W>,
        candidates: &mut Candidates,
    ) -> f64 {
        let left = self.left.map_or(usize::MAX, |left| left as usize);
        if left >= candidates.len() {
            return 0.0;
        }
        let cap = |host: HostId| hosts.load(host, fetcher).map_or(0, |load| load.cap(self.time));
        let chosen = candidates.split(left, None, cap);
        let lowest = if chosen.len() < left { None } else { chosen.lowest() };
        candidates.append(chosen);
        lowest.unwrap_or(0.0)
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
    /// Its sitemaps are read in this cycle.
    pub(super) reads_lists: bool,
}

/// The hosts of a cycle, by id and by name.
#[derive(Debug, Default)]
pub(super) struct CycleHosts {
    by_id: ById<HostId, CycleHost>,
    ids: HashMap<Host, HostId>,
}

impl CycleHosts {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: HostId) -> Option<&CycleHost> {
        self.by_id.get(&id)
    }

    pub(super) fn id(&self, host: &Host) -> Option<HostId> {
        self.ids.get(host).copied()
    }

    pub(super) fn named(&self, host: &Host) -> Option<&CycleHost> {
        self.get(self.id(host)?)
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
            self.insert(id, name, CycleHost { place, is_wanted: true, reads_lists: true });
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
