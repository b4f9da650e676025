//! One site in figures: what `status --sites` says of it, its hosts, when and how its pages change, and its latest events.
//!
//! Counts are of the whole site. When and how pages change is read from its latest changes alone, so that it takes bounded time whatever
//! the size of the store; the value says how many these were.

use std::time::Instant;

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::fetch::SitePace;
use crate::observation::EventKind;
use crate::page::{HostId, Sites};
use crate::store::{EventFilter, PageEvent, Store};
use crate::time::Timestamp;

use super::LookError;
use super::changes::WantedHost;
use super::hosts::must_be_known;
use super::signals::ListStatus;
use super::site_behaviour::{SiteBehaviour, site_behaviour};
use super::sites::{SiteStatus, SitesCycle, sites};
use super::status::HostStatus;
use super::strips::{StripTick, site_ticks};
use super::week_hours::WeekHours;

/// Changes of the site that are looked at, the latest.
const MOST_CHANGES: usize = 1000;
/// Events that are listed, the latest.
const LISTED: usize = 20;
/// Sitemaps that are listed.
const MOST_LISTS: usize = 50;

/// A site.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SiteView {
    /// Its pages, the last cycle, its budget, the trust in its signals, why it waits.
    pub status: SiteStatus,
    /// The cycle that these figures are of.
    pub cycle: Option<SitesCycle>,
    /// Its hosts, the one with most pages first: delay, robots.txt, pages that are forbidden.
    pub hosts: Vec<HostStatus>,
    /// Its sitemaps as they were last read, at most 50.
    pub lists: Vec<ListStatus>,
    /// The latest visits to it, at most 60, the oldest first.
    pub ticks: Vec<StripTick>,
    /// When its pages change: its latest changes, at most 1000, by hour of the week.
    pub hours: WeekHours,
    /// How its pages behave: those that changed last.
    pub behaviour: SiteBehaviour,
    /// Its latest events.
    pub events: Vec<PageEvent>,
}

/// What is asked of a site.
#[derive(Clone, Debug)]
pub struct SiteWanted<'a> {
    /// As a person named it.
    pub host: &'a str,
    /// The zone of hours and weekdays.
    pub zone: &'a TimeZone,
    /// Words of a fragment.
    pub fragment_words: usize,
    /// When reading texts must be done.
    pub deadline: Instant,
    /// The time.
    pub now: Timestamp,
}

/// The site of that host and its twins. `pace` has the budgets of sites.
pub fn site_view(
    store: &mut dyn Store,
    pace: &Sites<SitePace>,
    wanted: &SiteWanted<'_>,
) -> Result<SiteView, LookError> {
    let unknown = || LookError::UnknownHost { named: wanted.host.to_owned(), near: Vec::new() };
    let named = WantedHost::parse(wanted.host).ok_or_else(unknown)?;
    let all = sites(store, pace, wanted.now)?;
    let is_named =
        |site: &&SiteStatus| named.has(&site.host) || site.twins.iter().any(|twin| named.has(twin));
    let Some(status) = all.sites.iter().find(is_named).cloned() else {
        must_be_known(store, &named, wanted.host)?;
        return Err(unknown());
    };
    let mut hosts: Vec<(HostId, HostStatus)> = store
        .hosts()?
        .into_iter()
        .filter(|host| {
            let origin = host.report.host.as_str();
            origin == status.host || status.twins.iter().any(|twin| twin == origin)
        })
        .map(|host| (host.id, HostStatus::of(host, wanted.now)))
        .collect();
    hosts.sort_by_key(|(_, host)| std::cmp::Reverse(host.pages));
    let ids: Vec<HostId> = hosts.iter().map(|(id, _)| *id).collect();
    let changes = latest(store, &ids, &[EventKind::Changed], MOST_CHANGES)?;
    let events = latest(store, &ids, &[], LISTED)?;
    let lists = store.lists_of(&ids)?.into_iter().take(MOST_LISTS).map(ListStatus::of).collect();
    Ok(SiteView {
        hours: WeekHours::of(&changes, wanted.zone),
        behaviour: site_behaviour(store, &changes, wanted.fragment_words, wanted.deadline)?,
        ticks: site_ticks(store, &[ids])?.pop().unwrap_or_default(),
        status,
        cycle: all.cycle,
        hosts: hosts.into_iter().map(|(_, host)| host).collect(),
        lists,
        events,
    })
}

/// The latest events of these hosts, the latest first. Hosts are asked one by one: the events of one host stand together in the store.
fn latest(
    store: &mut dyn Store,
    hosts: &[HostId],
    kinds: &[EventKind],
    most: usize,
) -> Result<Vec<PageEvent>, LookError> {
    let mut events = Vec::new();
    for host in hosts {
        let filter =
            EventFilter { kinds: kinds.to_vec(), hosts: Some(vec![*host]), ..EventFilter::default() };
        events.extend(store.events(&filter, most)?);
    }
    events.sort_by_key(|event| std::cmp::Reverse((event.at, event.observation_id)));
    events.truncate(most);
    Ok(events)
}
