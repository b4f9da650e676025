//! Heartbeats of sites: a row a host, a tick a visit.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::LookError;
use super::waits::WaitingHost;
use crate::page::HostId;
use crate::store::{BroughtKind, DayTally, KnownHost, MOST_TICKS, Store, Tick};
use crate::time::Timestamp;

/// The latest visits to a host.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct HostStrip {
    /// Its origin.
    pub host: String,
    /// Pages it has.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Visits that are drawn, the oldest first.
    pub ticks: Vec<StripTick>,
    /// Those of them that found a change.
    pub changed: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Why it waits, if it does.
    pub waits: Option<WaitingHost>,
}

/// A visit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct StripTick {
    /// When it was made.
    pub at: Timestamp,
    /// What it brought.
    #[serde(rename = "brought_kind")]
    pub brought: BroughtKind,
    /// How far the page moved, if it could be measured.
    pub divergence: Option<f32>,
}

impl StripTick {
    fn of(tick: &Tick) -> Self {
        Self { at: tick.at, brought: tick.brought, divergence: tick.divergence }
    }
}

/// The heartbeats of at most `most` hosts: first those that wait or whose last visit failed, then those with most changes lately, then
/// those with most visits.
pub(super) fn strips(
    store: &mut dyn Store,
    hosts: &[KnownHost],
    lately: &[DayTally],
    waiting: &[(HostId, WaitingHost)],
    most: usize,
) -> Result<Vec<HostStrip>, LookError> {
    let waiting: BTreeMap<HostId, &WaitingHost> = waiting.iter().map(|(id, host)| (*id, host)).collect();
    let chosen = choose(hosts, lately, &waiting.keys().copied().collect(), most);
    let ids: Vec<HostId> = chosen.iter().map(|host| host.id).collect();
    let mut ticks = store.ticks(&ids)?;
    let strip = |host: &KnownHost| {
        let ticks = ticks.remove(&host.id).unwrap_or_default();
        strip(host, &ticks, waiting.get(&host.id).map(|waits| (*waits).clone()))
    };
    Ok(chosen
        .into_iter()
        .map(strip)
        .filter(|strip| !strip.ticks.is_empty() || strip.waits.is_some())
        .collect())
}

/// The latest visits to each of these sites, which are lists of hosts: those to the hosts of a site together, the oldest first.
pub fn site_ticks(store: &mut dyn Store, sites: &[Vec<HostId>]) -> Result<Vec<Vec<StripTick>>, LookError> {
    let known = store.ticks(&sites.concat())?;
    let of_site = |hosts: &Vec<HostId>| {
        let ticks = hosts.iter().filter_map(|host| known.get(host)).flatten();
        let mut ticks: Vec<StripTick> = ticks.map(StripTick::of).collect();
        ticks.sort_by_key(|tick| tick.at);
        ticks.split_off(ticks.len().saturating_sub(MOST_TICKS))
    };
    Ok(sites.iter().map(of_site).collect())
}

fn strip(host: &KnownHost, ticks: &[Tick], waits: Option<WaitingHost>) -> HostStrip {
    let count = |kind: BroughtKind| ticks.iter().filter(|tick| tick.brought == kind).count() as u64;
    let (changed, failed) = (count(BroughtKind::Changed), count(BroughtKind::Failed));
    let ticks = ticks.iter().map(StripTick::of).collect();
    HostStrip { host: host.report.host.as_str().to_owned(), pages: host.pages, ticks, changed, failed, waits }
}

/// The hosts that a person looks at first.
fn choose<'h>(
    hosts: &'h [KnownHost],
    lately: &[DayTally],
    waiting: &BTreeSet<HostId>,
    most: usize,
) -> Vec<&'h KnownHost> {
    let mut news: BTreeMap<HostId, (u64, u64)> = BTreeMap::new();
    for tally in lately {
        let (changed, visits) = news.entry(tally.host).or_default();
        *changed += tally.brought.changed;
        *visits += super::spending::sent(&tally.brought);
    }
    let place = |host: &KnownHost| {
        let (changed, visits) = news.get(&host.id).copied().unwrap_or_default();
        let is_well = !waiting.contains(&host.id) && host.report.failures == 0;
        (is_well, std::cmp::Reverse((changed, visits, host.pages)), host.id)
    };
    let mut hosts: Vec<&KnownHost> = hosts.iter().collect();
    hosts.sort_by_cached_key(|host| place(host));
    // Trouble must not push out all that is well.
    let troubled = hosts.iter().filter(|host| !place(host).0).count();
    if troubled > most / 2 && hosts.len() > most {
        let well = hosts.split_off(troubled);
        hosts.truncate(most - well.len().min(most / 2));
        hosts.extend(well);
    }
    hosts.truncate(most);
    hosts
}
