//! The first look at a collection: is it well, what did the requests bring, what needs a person?
//!
//! All of it comes from what the store keeps in few rows: the note of the last cycle ([`CollectionRates`]), the tallies of days, the
//! hosts, the cycles. No page is read but those of seeds.

use std::time::Duration;

use serde::Serialize;

use super::figures::{counted, number, percent, span};
use super::health::health;
use super::spending::{DaySpending, spending};
use super::strips::{HostStrip, strips};
use super::waits::WaitingHost;
use super::{LookError, waits};
use crate::crawl::clock;
use crate::crawl::collection_rates::CollectionRates;
use crate::observation::Life;
use crate::page::{HostId, Normaliser};
use crate::store::views::day_of;
use crate::store::{CycleRow, KnownHost, KnownSeed, Store};
use crate::time::Timestamp;

/// A host that has not answered for this long is a case for a person.
const SILENT_FOR: Duration = Duration::from_secs(2 * 86_400);
/// After this number of failures in a row a host counts as one that does not answer.
const SILENT_FAILURES: u32 = 3;
/// Hosts or seeds that a sentence names.
const MOST_NAMED: usize = 3;
/// Seeds whose pages are looked up: there are few, unless a program wrote the file.
const MOST_SEEDS: usize = 1_000;

/// The terms of a look.
#[derive(Clone, Copy, Debug)]
pub struct OverviewTerms<'a> {
    /// Days of the list are those from here on.
    pub since: Timestamp,
    /// Heartbeats of at most this number of hosts.
    pub most_strips: usize,
    /// How seeds are spelt.
    pub normaliser: &'a Normaliser,
    /// Bytes that are free where the store lies, if that is known.
    pub free_bytes: Option<u64>,
    /// The time from one cycle to the next, if the settings have it.
    pub every: Option<Duration>,
}

/// A collection at a glance.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Overview {
    /// When it was looked at.
    pub as_of_at: Timestamp,
    /// `Fresh 93.1 % (expected), 412 of 1,000 requests spent today, 37 pages changed, 2 hosts wait`
    pub sentence: String,
    /// What needs a person, the gravest first. Nothing: all is well.
    pub alarms: Vec<Alarm>,
    /// How fresh the copies are expected to be.
    pub freshness: Option<ExpectedFreshness>,
    /// The cycle that runs, or else the last one.
    pub cycle: Option<CycleRow>,
    /// What the requests brought, the latest day first; the first is today.
    pub days: Vec<DaySpending>,
    /// Hosts that are left alone for now, those with most pages first.
    pub waiting: Vec<WaitingHost>,
    /// Heartbeats of the hosts that a person looks at first.
    pub strips: Vec<HostStrip>,
    /// Hosts that there are.
    pub host_count: usize,
}

/// The freshness of all copies together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ExpectedFreshness {
    /// The share of the copies that are expected to be as their pages are now, 0 to 1.
    pub share: f64,
    /// Pages that have a copy.
    pub held_pages: u64,
    /// Pages that were never fetched.
    pub pages_without_copy: u64,
    /// The end of the cycle that it was worked out from. Later visits don't count yet.
    pub noted_at: Timestamp,
}

/// Something that a person has to do something about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Alarm {
    /// What it is.
    pub kind: AlarmKind,
    /// In a sentence, with what to do.
    pub said: String,
}

/// What an alarm is about, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlarmKind {
    /// The crawl is not well: no room on the disk, a cycle that is late, visits that all fail ([`health`]).
    Crawl,
    /// The clock is wrong, or was.
    Clock,
    /// A seed is gone.
    Seed,
    /// A host has not answered for long.
    Host,
}

/// The collection at a glance.
pub fn overview(
    store: &mut dyn Store,
    terms: &OverviewTerms<'_>,
    now: Timestamp,
) -> Result<Overview, LookError> {
    let rates = CollectionRates::load(store)?;
    let days = spending(store, rates.as_ref(), terms.since, now)?;
    let cycle = store.cycles(1)?.into_iter().next();
    let seeds = store.seeds()?;
    let mut hosts = wanted_hosts(store, &seeds)?;
    hosts.iter_mut().for_each(|host| {
        clock::correct_host(host, now);
    });
    let waiting = waits::waiting(&hosts, now);
    let week = now.minus(Duration::from_secs(7 * 86_400));
    let lately = store.day_tallies(day_of(week), day_of(now))?;
    let strips = strips(store, &hosts, &lately, &waiting, terms.most_strips)?;
    let alarms = alarms(store, terms, (&hosts, &seeds, cycle.as_ref()), now)?;
    let freshness = rates.as_ref().and_then(|rates| {
        Some(ExpectedFreshness {
            share: rates.expected_freshness(now)?,
            held_pages: rates.held,
            pages_without_copy: rates.without_copy,
            noted_at: rates.as_of,
        })
    });
    let waiting: Vec<WaitingHost> = waiting.into_iter().map(|(_, host)| host).collect();
    Ok(Overview {
        as_of_at: now,
        sentence: sentence(freshness, days.first(), waiting.len()),
        alarms,
        freshness,
        cycle,
        days,
        waiting,
        strips,
        host_count: hosts.len(),
    })
}

/// `Fresh 93.1 % (expected), 412 of 1,000 requests spent today, 37 pages changed, 2 hosts wait`
fn sentence(freshness: Option<ExpectedFreshness>, today: Option<&DaySpending>, waiting: usize) -> String {
    let fresh = match freshness {
        Some(fresh) => format!("Fresh {} (expected)", percent(fresh.share)),
        None => "Freshness is not known before the first cycle has ended".to_owned(),
    };
    let spent = today.map_or(0, |today| today.requests);
    let spent = match today.and_then(|today| today.budget) {
        Some(budget) => format!("{} of {} spent today", number(spent), counted(budget, "request")),
        None => format!("{} sent today", counted(spent, "request")),
    };
    let changed = format!("{} changed", counted(today.map_or(0, |today| today.brought.changed), "page"));
    let waits = match waiting {
        0 => "no host waits".to_owned(),
        1 => "1 host waits".to_owned(),
        many => format!("{} hosts wait", number(many as u64)),
    };
    [fresh, spent, changed, waits].join(", ")
}

/// Every host but those that no seed wants any more.
fn wanted_hosts(store: &mut dyn Store, seeds: &[KnownSeed]) -> Result<Vec<KnownHost>, LookError> {
    let mut hosts = store.hosts()?;
    let is_left =
        |seed: &KnownSeed| seed.removed_at.is_some() || seed.paused_at.is_some() || seed.let_go_at.is_some();
    if seeds.iter().any(is_left) {
        let idle: std::collections::BTreeSet<HostId> = store.hosts_without_seed()?.into_iter().collect();
        hosts.retain(|host| !idle.contains(&host.id));
    }
    Ok(hosts)
}

fn alarms(
    store: &mut dyn Store,
    terms: &OverviewTerms<'_>,
    (hosts, seeds, last): (&[KnownHost], &[KnownSeed], Option<&CycleRow>),
    now: Timestamp,
) -> Result<Vec<Alarm>, LookError> {
    let mut alarms = Vec::new();
    let mut tell = |kind, said: Option<String>| alarms.extend(said.map(|said| Alarm { kind, said }));
    let ahead = last.map(|cycle| cycle.started_at).filter(|at| clock::is_ahead(*at, now));
    tell(AlarmKind::Clock, ahead.map(|at| clock::warning(at, now)));
    tell(AlarmKind::Seed, gone_seeds(store, terms.normaliser, seeds)?);
    tell(AlarmKind::Host, silent_hosts(store, hosts, last, now)?);
    for problem in health(store, terms.every, terms.free_bytes, None, now)?.problems {
        tell(AlarmKind::Crawl, Some(problem));
    }
    alarms.sort_by_key(|alarm| alarm.kind);
    Ok(alarms)
}

/// Seeds that the operator wants, and that are gone.
fn gone_seeds(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    seeds: &[KnownSeed],
) -> Result<Option<String>, LookError> {
    let is_wanted = |seed: &&KnownSeed| {
        seed.removed_at.is_none() && seed.paused_at.is_none() && seed.let_go_at.is_none() && !seed.adopted
    };
    let mut gone = Vec::new();
    for seed in seeds.iter().filter(is_wanted).take(MOST_SEEDS) {
        let Ok(url) = normaliser.parse(&seed.url) else { continue };
        let page = store.find_page(url.fingerprint())?;
        if page.is_some_and(|page| page.state == Life::Gone.name()) {
            gone.push(seed.url.clone());
        }
    }
    let seeds = counted(gone.len(), "seed");
    let verb = if gone.len() == 1 { "is" } else { "are" };
    Ok((!gone.is_empty())
        .then(|| format!("{seeds} {verb} gone: {}; `freshet seeds remove` takes a seed out", named(&gone))))
}

/// Hosts that have brought nothing for days although they were asked.
fn silent_hosts(
    store: &mut dyn Store,
    hosts: &[KnownHost],
    last: Option<&CycleRow>,
    now: Timestamp,
) -> Result<Option<String>, LookError> {
    let silent = |host: &&KnownHost| host.report.failures >= SILENT_FAILURES || host.report.rests > 0;
    let suspects: Vec<&KnownHost> = hosts.iter().filter(silent).collect();
    let Some(last) = last.filter(|_| !suspects.is_empty()) else { return Ok(None) };
    let tallies = store.host_tallies(crate::observation::CycleId(last.id))?;
    let mut told: Vec<(u64, String)> = Vec::new();
    for host in suspects {
        let success = tallies.get(&host.id).and_then(|tally| tally.last_success_at);
        // Without a success it is known since its first page was found, which is not told here.
        let Some(success) = success else { continue };
        let silent = Duration::from_secs_f64(now.since(success).seconds());
        if silent < SILENT_FOR {
            continue;
        }
        let why = waits::of_host(&host.report).unwrap_or_else(|| "it failed".to_owned());
        told.push((host.pages, format!("{} for {} ({why})", host.report.host.name(), span(silent))));
    }
    told.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let names: Vec<String> = told.into_iter().map(|(_, said)| said).collect();
    let hosts = counted(names.len(), "host");
    let verb = if names.len() == 1 { "has" } else { "have" };
    Ok((!names.is_empty()).then(|| format!("{hosts} {verb} not answered for days: {}", named(&names))))
}

/// The first few, and how many more there are.
fn named(all: &[String]) -> String {
    let first = all.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST_NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Brought;

    fn today(requests: u64, budget: Option<u64>, changed: u64) -> DaySpending {
        DaySpending {
            day: "2026-11-19".to_owned(),
            requests,
            budget,
            brought: Brought { changed, ..Brought::default() },
            other_requests: 0,
            divergence: 0.0,
            received_bytes: 0,
            round_robin_changed: None,
        }
    }

    #[test]
    fn one_sentence_says_how_it_is() {
        let fresh = ExpectedFreshness {
            share: 0.931,
            held_pages: 4_000,
            pages_without_copy: 0,
            noted_at: Timestamp::default(),
        };
        assert_eq!(
            sentence(Some(fresh), Some(&today(412, Some(1000), 37)), 2),
            "Fresh 93.1 % (expected), 412 of 1,000 requests spent today, 37 pages changed, 2 hosts wait"
        );
        assert_eq!(
            sentence(None, Some(&today(1, None, 1)), 0),
            "Freshness is not known before the first cycle has ended, 1 request sent today, 1 page changed, no host waits"
        );
    }

    #[test]
    fn a_sentence_names_a_few_and_counts_the_rest() {
        let all: Vec<String> = (1..=5).map(|at| format!("host{at}")).collect();
        assert_eq!(named(&all), "host1, host2, host3 and 2 more");
        assert_eq!(named(&all[..2]), "host1, host2");
    }
}
