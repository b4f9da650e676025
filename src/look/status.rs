//! The whole store in figures: pages, hosts, the latest cycles, sizes.

use std::collections::HashSet;

use serde::ser::{Serialize, Serializer};

use crate::crawl::clock;
use crate::observation::Life;
use crate::page::HostId;
use crate::store::{CycleRow, KnownHost, KnownSeed, Sizes, Store};
use crate::time::Timestamp;

use super::figures::counted;
use super::merged::{ManyInOne, many_in_one};
use super::{LookError, waits};

/// The figures of a store.
#[derive(Clone, Debug, serde::Serialize, utoipa::ToSchema)]
pub struct StoreStatus {
    /// What is wrong with it, in sentences.
    pub warnings: Vec<String>,
    /// Pages, counted.
    pub pages: PageCounts,
    /// Seeds.
    #[serde(rename = "seed_count")]
    pub seeds: u64,
    /// Addresses that seeds redirect to for good: their hosts are crawled too, until the seed answers for itself.
    pub adopted: Vec<AdoptedSeed>,
    /// Hosts of which many pages turn into one.
    pub merged: Vec<ManyInOne>,
    /// Links that were not taken, by reason.
    #[serde(rename = "refused_links")]
    pub refused: NamedCounts,
    /// Every host: those that wait first, then the largest.
    pub hosts: Vec<HostStatus>,
    /// The latest cycles, newest first.
    pub cycles: Vec<CycleRow>,
    /// How large it is.
    #[serde(rename = "size")]
    pub store: StoreSize,
    /// Bytes that scheduling keeps of pages, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "scheduling_size")]
    pub sizes: Option<Sizes>,
}

/// Pages, counted.
#[derive(Clone, Debug, serde::Serialize, utoipa::ToSchema)]
pub struct PageCounts {
    /// Under watch, aliases left out.
    pub known: u64,
    /// Visited at least once.
    pub visited: u64,
    /// Found to be gone.
    pub gone: u64,
    /// Failing at the moment.
    #[serde(rename = "failing")]
    pub failed: u64,
    /// Other spellings of pages.
    pub aliases: u64,
    /// By where they are in their life.
    pub states: NamedCounts,
    /// By how the last visit ended.
    pub last_outcomes: NamedCounts,
}

/// An address that a seed redirects to, or did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct AdoptedSeed {
    /// The address.
    pub url: String,
    /// The seed, if it is known which one.
    pub seed: Option<String>,
    /// Since when the seed answers for itself, if it does: the host is not crawled for its sake any more.
    #[serde(rename = "let_go_at")]
    pub let_go: Option<Timestamp>,
}

fn adopted(seeds: &[KnownSeed]) -> Vec<AdoptedSeed> {
    let url = |id| seeds.iter().find(|seed| Some(seed.id) == id).map(|seed| seed.url.clone());
    let adopted = seeds.iter().filter(|seed| seed.adopted);
    adopted
        .map(|seed| AdoptedSeed { url: seed.url.clone(), seed: url(seed.adopted_by), let_go: seed.let_go_at })
        .collect()
}

/// A host as people look at it.
#[derive(Clone, Debug, serde::Serialize, utoipa::ToSchema)]
pub struct HostStatus {
    /// Its origin.
    pub host: String,
    /// Pages it has.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Seconds between two requests.
    pub delay_seconds: f64,
    /// Failures in a row.
    pub failures: u32,
    /// Until when it is left alone, if it is.
    #[serde(rename = "waiting_until_at")]
    pub waiting_until: Option<Timestamp>,
    /// Why it is left alone.
    pub waiting_for: Option<&'static str>,
    /// Why its pages were not visited, in words: the event behind its last wait, a missing robots.txt, pages that are
    /// forbidden.
    pub reason: Option<String>,
    /// The status that robots.txt was last answered with.
    pub robots_status: Option<u16>,
    /// Why robots.txt could not be fetched, in words.
    pub robots_reason: Option<String>,
    /// Pages that robots.txt forbids.
    pub forbidden_pages: u64,
    /// Pages whose address is private or reserved.
    pub refused_pages: u64,
    /// When robots.txt was read.
    #[serde(rename = "robots_read_at")]
    pub robots_read: Option<Timestamp>,
}

/// How large the store is.
#[derive(Clone, Copy, Debug, serde::Serialize, utoipa::ToSchema)]
pub struct StoreSize {
    /// On disk.
    #[serde(rename = "store_bytes")]
    pub bytes: u64,
    /// Those of them that are in the journal, not folded in yet.
    pub journal_bytes: u64,
    /// Observations in the log.
    #[serde(rename = "observation_count")]
    pub observations: u64,
    /// Distinct contents.
    #[serde(rename = "version_count")]
    pub versions: u64,
    /// Bytes of bodies and texts.
    pub content_bytes: u64,
    /// Bytes that these take in the store.
    pub content_stored_bytes: u64,
}

/// Counts by name, in the store's order; they serialise as a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCounts(pub Vec<(String, u64)>);

impl Serialize for NamedCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

impl utoipa::PartialSchema for NamedCounts {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        std::collections::BTreeMap::<String, u64>::schema()
    }
}

impl utoipa::ToSchema for NamedCounts {}

/// The store in figures, with its latest `cycles`. `sizes` reads every page.
pub fn status(
    store: &mut dyn Store,
    cycles: usize,
    sizes: bool,
    now: Timestamp,
) -> Result<StoreStatus, LookError> {
    let summary = store.summary()?;
    let last = store.cycles(1)?;
    let ahead = last.first().map(|cycle| cycle.started_at).filter(|at| clock::is_ahead(*at, now));
    let clock = ahead.map(|at| clock::warning(at, now));
    let journal = summary.journal.is_overgrown().then(|| summary.journal.warning());
    let room = (summary.versions_without_room > 0).then(|| {
        format!(
            "{} of pages {} only: `page_store_bytes` or `host_store_bytes` left no room",
            counted(summary.versions_without_room, "version"),
            if summary.versions_without_room == 1 {
                "is known by its hashes"
            } else {
                "are known by their hashes"
            }
        )
    });
    let merged = many_in_one(store)?;
    let told = merged.iter().map(ManyInOne::warning);
    let warnings = clock.into_iter().chain(journal).chain(room).chain(told).collect();
    let cycles = store.cycles(cycles)?;
    let idle: HashSet<HostId> = store.hosts_without_seed()?.into_iter().collect();
    let known = store.hosts()?.into_iter();
    let mut hosts: Vec<HostStatus> =
        known
            .map(|host| {
                if idle.contains(&host.id) { HostStatus::idle(host, now) } else { HostStatus::of(host, now) }
            })
            .collect();
    hosts.sort_by_key(|host| (host.waiting_until.is_none(), std::cmp::Reverse(host.pages)));
    let sizes = if sizes { Some(store.sizes()?) } else { None };
    Ok(StoreStatus {
        warnings,
        pages: PageCounts {
            known: summary.known,
            visited: summary.visited,
            gone: summary.life(Life::Gone),
            failed: summary.life(Life::Failing),
            aliases: summary.aliases,
            states: NamedCounts(summary.lives),
            last_outcomes: NamedCounts(summary.last_outcomes),
        },
        seeds: summary.seeds,
        adopted: adopted(&store.seeds()?),
        merged,
        refused: NamedCounts(summary.refusals),
        hosts,
        cycles,
        store: StoreSize {
            bytes: summary.file_bytes,
            journal_bytes: summary.journal.bytes,
            observations: summary.observations,
            versions: summary.versions,
            content_bytes: summary.content_bytes,
            content_stored_bytes: summary.stored_bytes,
        },
        sizes,
    })
}

/// Why pages of a host were not visited, in words.
pub(super) fn reason(host: &KnownHost) -> Option<String> {
    let pages = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "page");
    let forbidden = (host.forbidden > 0).then(|| format!("robots.txt forbids {}", pages(host.forbidden)));
    let refused = (host.refused > 0).then(|| {
        format!("{} on a private or reserved address (--allow-private opens it)", pages(host.refused))
    });
    let all: Vec<String> = waits::of_host(&host.report).into_iter().chain(forbidden).chain(refused).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Said of a host whose seeds are removed or paused.
const NO_SEED: &str = "no seed wants it";

impl HostStatus {
    /// A host that no seed wants: whether it asks for time does not matter.
    fn idle(host: KnownHost, now: Timestamp) -> Self {
        let (waiting_until, waiting_for) = (None, None);
        Self { waiting_until, waiting_for, reason: Some(NO_SEED.to_owned()), ..Self::of(host, now) }
    }

    pub(super) fn of(mut host: KnownHost, now: Timestamp) -> Self {
        clock::correct_host(&mut host, now);
        let report = &host.report;
        let wait = report.wait.filter(|(until, _)| *until > now);
        Self {
            host: report.host.as_str().to_owned(),
            pages: host.pages,
            delay_seconds: report.delay.as_secs_f64(),
            failures: report.failures,
            waiting_until: wait.map(|(until, _)| until),
            waiting_for: wait.map(|(_, why)| why.name()),
            reason: reason(&host),
            robots_status: match &report.robots_fault {
                Some(fault) => fault.status,
                None => host.robots.map(|robots| robots.status),
            },
            robots_reason: report.robots_fault.as_ref().map(|fault| fault.reason.clone()),
            forbidden_pages: host.forbidden,
            refused_pages: host.refused,
            robots_read: host.robots.map(|robots| robots.at),
        }
    }
}
