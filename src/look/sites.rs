//! Every site in figures: its pages now, the last cycle, traffic, budget, and why it waits.
//!
//! A site is a host with its twins: `http` and `https` of one name. Everything comes from counts that the store keeps by host: the number
//! of pages and visits does not matter.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::crawl::clock;
use crate::crawl::site_spending::SiteSpending;
use crate::fetch::SitePace;
use crate::fetch::visit::Waiting;
use crate::observation::Life;
use crate::page::{Host, HostId, Sites};
use crate::signal::SignalKind;
use crate::signal::trust::HostTrust;
use crate::store::{CycleId, CycleRow, HostTally, KnownHost, Store};
use crate::time::Timestamp;

use super::LookError;
use super::signals::{SignalTrust, trust_by_host};
use super::status::{NamedCounts, reason};

/// Every site, and the cycle that the figures are of.
#[derive(Clone, Debug, Serialize)]
pub struct SitesStatus {
    /// The last cycle, ended or not; `None`: there was none yet.
    pub cycle: Option<SitesCycle>,
    /// The sites: those that wait first, then those with failing pages, then the largest.
    pub sites: Vec<SiteStatus>,
}

/// The cycle that figures of sites are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SitesCycle {
    /// Its number.
    pub cycle_id: i64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None`: it is open.
    pub ended_at: Option<Timestamp>,
}

/// A site in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SiteStatus {
    /// The origin with the most pages.
    pub host: String,
    /// Its other origins: the same name by the other scheme.
    pub twins: Vec<String>,
    /// The numbers of these hosts, in the same order.
    #[serde(skip)]
    pub ids: Vec<HostId>,
    /// Pages, aliases left out.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Pages by their state.
    pub states: NamedCounts,
    /// Other spellings of pages.
    pub aliases: u64,
    /// What the last cycle did here.
    pub last_cycle: SiteCycle,
    /// The last visit that brought or confirmed a page.
    pub last_success_at: Option<Timestamp>,
    /// Bytes of contents that its pages were the first to bring, packed.
    pub stored_bytes: u64,
    /// Requests that a cycle may send here, if `[site]` sets a budget.
    pub budget: Option<u64>,
    /// Requests of the last cycle that count against it.
    pub budget_spent: Option<u64>,
    /// How far its signals can be trusted, by kind; only kinds that have told of a change.
    pub signals: Vec<SignalTrust>,
    /// Failures in a row that the host is to blame for.
    pub failures: u32,
    /// It is left alone until then.
    pub waiting_until_at: Option<Timestamp>,
    /// The reason, by its name.
    pub waiting_for: Option<&'static str>,
    /// Why its pages were not visited, in words: the event behind its wait, a missing robots.txt, pages that are forbidden.
    pub reason: Option<String>,
}

/// What a cycle did on a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SiteCycle {
    /// Visits.
    #[serde(rename = "visit_count")]
    pub visits: u64,
    /// Visits by how they ended.
    pub outcomes: NamedCounts,
    /// Pages that were found.
    #[serde(rename = "new_pages")]
    pub new: u64,
    /// Visits that found a change.
    pub changed: u64,
    /// Pages that were visited and are gone.
    pub gone: u64,
    /// Pages that were visited and are failing.
    pub failing: u64,
    /// Bytes of bodies that came.
    pub received_bytes: u64,
}

impl SiteStatus {
    /// Pages that are in this state now.
    pub fn life(&self, life: Life) -> u64 {
        self.states.0.iter().find(|(name, _)| name == life.name()).map_or(0, |(_, pages)| *pages)
    }

    /// Waiting sites first, then those with failing pages, then the largest.
    fn place(&self) -> impl Ord + use<> {
        let is_well = self.life(Life::Failing) == 0 && self.failures == 0;
        (self.waiting_until_at.is_none(), is_well, std::cmp::Reverse(self.pages), self.host.clone())
    }
}

/// Every site of the store. `pace` has the budgets of sites.
pub fn sites(
    store: &mut dyn Store,
    pace: &Sites<SitePace>,
    now: Timestamp,
) -> Result<SitesStatus, LookError> {
    let cycle = store.cycles(1)?.into_iter().next();
    let id = CycleId(cycle.as_ref().map_or(0, |cycle: &CycleRow| cycle.id));
    let spending = SiteSpending::load(store, id)?;
    let mut tallies = store.host_tallies(id)?;
    let mut trust = trust_by_host(store)?;
    let mut groups: BTreeMap<Host, Vec<OneHost>> = BTreeMap::new();
    for mut known in store.hosts()? {
        clock::correct_host(&mut known, now);
        let tally = tallies.remove(&known.id).unwrap_or_default();
        let host = &known.report.host;
        let budget = pace.of(host.name(), Some(host.port())).and_then(|site| site.budget);
        let spent = budget.map(|_| spending.on(host).max(tally.outcomes.values().sum()));
        let trust = trust.remove(&known.id).unwrap_or_default();
        groups.entry(first_twin(host)).or_default().push(OneHost { known, tally, budget, spent, trust });
    }
    let mut sites: Vec<SiteStatus> = groups.into_values().map(|group| together(group, now)).collect();
    sites.sort_by_cached_key(SiteStatus::place);
    let cycle = cycle.map(|cycle| SitesCycle {
        cycle_id: cycle.id,
        started_at: cycle.started_at,
        ended_at: cycle.ended_at,
    });
    Ok(SitesStatus { cycle, sites })
}

/// A host, before it is put together with its twins.
struct OneHost {
    known: KnownHost,
    tally: HostTally,
    budget: Option<u64>,
    spent: Option<u64>,
    trust: Vec<(SignalKind, HostTrust)>,
}

impl OneHost {
    fn pages(&self) -> u64 {
        self.tally.lives.values().sum()
    }
}

/// The same for all twins.
fn first_twin(host: &Host) -> Host {
    host.twins().chain([host.clone()]).min().unwrap_or_else(|| host.clone())
}

/// Twins as one site.
fn together(mut hosts: Vec<OneHost>, now: Timestamp) -> SiteStatus {
    hosts.sort_by_key(|host| std::cmp::Reverse(host.pages()));
    let mut names = hosts.iter().map(|host| host.known.report.host.as_str().to_owned());
    let mut site = SiteStatus { host: names.next().unwrap_or_default(), ..SiteStatus::default() };
    site.twins = names.collect();
    site.ids = hosts.iter().map(|host| host.known.id).collect();
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let add = |to: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>| {
        more.iter().for_each(|(name, count)| *to.entry(name.clone()).or_default() += count);
    };
    let mut wait: Option<(Timestamp, Waiting)> = None;
    for host in &hosts {
        let tally = &host.tally;
        add(&mut states, &tally.lives);
        add(&mut outcomes, &tally.outcomes);
        let in_cycle = |life: Life| tally.lives_in_cycle.get(life.name()).copied().unwrap_or(0);
        let cycle = &mut site.last_cycle;
        cycle.new += tally.found;
        cycle.changed += tally.changed;
        cycle.gone += in_cycle(Life::Gone);
        cycle.failing += in_cycle(Life::Failing);
        cycle.received_bytes += tally.received_bytes;
        site.pages += host.pages();
        site.aliases += tally.aliases;
        site.last_success_at = site.last_success_at.max(tally.last_success_at);
        site.stored_bytes += tally.stored_bytes;
        site.budget = sum(site.budget, host.budget);
        site.budget_spent = sum(site.budget_spent, host.spent);
        site.signals.extend(host.trust.iter().map(|(kind, trust)| SignalTrust::of(*kind, trust)));
        site.failures = site.failures.max(host.known.report.failures);
        let waits = host.known.report.wait.filter(|(until, _)| *until > now);
        wait = [wait, waits].into_iter().flatten().max_by_key(|(until, _)| *until);
    }
    site.last_cycle.visits = outcomes.values().sum();
    (site.states, site.last_cycle.outcomes) = (most_first(states), most_first(outcomes));
    site.waiting_until_at = wait.map(|(until, _)| until);
    site.waiting_for = wait.map(|(_, why)| why.name());
    let longest = hosts.iter().find(|host| wait.is_some() && host.known.report.wait == wait);
    site.reason = longest.into_iter().chain(&hosts).find_map(|host| reason(&host.known));
    site
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

fn most_first(counts: BTreeMap<String, u64>) -> NamedCounts {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    NamedCounts(counts)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fetch::visit::HostReport;
    use crate::page::HostId;
    use crate::policy::Yield;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn one(origin: &str, pages: u64, wait: Option<(Timestamp, Waiting)>) -> OneHost {
        let report = HostReport {
            host: Host::parse(origin).unwrap(),
            delay: Duration::ZERO,
            wait,
            reason: wait.map(|(_, why)| format!("because of {}", why.name())),
            failures: 0,
            rests: 0,
            robots: None,
            robots_fault: None,
        };
        let known = KnownHost {
            id: HostId(1),
            report,
            robots: None,
            sitemaps_at: None,
            pages,
            forbidden: 0,
            refused: 0,
            yields: Yield::default(),
        };
        let lives = BTreeMap::from([("alive".to_owned(), pages)]);
        OneHost {
            known,
            tally: HostTally { lives, changed: 1, ..HostTally::default() },
            budget: Some(10),
            spent: Some(pages),
            trust: Vec::new(),
        }
    }

    #[test]
    fn twins_are_one_site_that_waits_as_long_as_the_longer_of_them() {
        let (soon, late) = (NOW.plus(Duration::from_secs(60)), NOW.plus(Duration::from_secs(900)));
        let group = vec![
            one("http://a.example", 2, Some((late, Waiting::RetryAfter))),
            one("https://a.example", 5, Some((soon, Waiting::BackOff))),
        ];
        let site = together(group, NOW);
        assert_eq!((site.host.as_str(), site.pages), ("https://a.example", 7));
        assert_eq!(site.twins, ["http://a.example"]);
        assert_eq!((site.last_cycle.changed, site.life(Life::Alive)), (2, 7));
        assert_eq!((site.waiting_until_at, site.waiting_for), (Some(late), Some("retry-after")));
        assert_eq!(site.reason.as_deref(), Some("because of retry-after"));
        assert_eq!((site.budget, site.budget_spent), (Some(20), Some(7)));
    }

    #[test]
    fn a_wait_that_is_over_is_not_told() {
        let site = together(vec![one("http://a.example", 1, Some((NOW, Waiting::RetryAfter)))], NOW);
        assert_eq!((site.waiting_until_at, site.waiting_for), (None, None));
    }

    #[test]
    fn only_twins_share_a_row() {
        let twin = |text: &str| first_twin(&Host::parse(text).unwrap());
        assert_eq!(twin("http://a.example"), twin("https://a.example"));
        assert_eq!(twin("http://a.example:8080"), twin("https://a.example:8080"));
        assert_ne!(twin("http://a.example:8080"), twin("http://a.example"));
        assert_ne!(twin("http://a.example"), twin("http://b.example"));
    }
}
