//! Signals of sites: how often each kind was right, and the files they come from.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::page::{Host, HostId};
use crate::signal::SignalKind;
use crate::signal::trust::HostTrust;
use crate::store::{ListRow, Store};
use crate::time::{Age, Timestamp};

use super::LookError;
use super::changes::WantedHost;
use super::figures::{counted, number};
use super::reason::span_of;

/// How the signals of one kind compare with what visits found.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SignalTrust {
    /// The kind: `sitemap`, `feed`, `hub` or `ping`.
    pub kind: &'static str,
    /// The first signal. Earlier visits don't count.
    pub since: Timestamp,
    /// Visits that were told of a change and found one.
    pub right: u64,
    /// Visits that were told of a change and found none.
    pub wrong: u64,
    /// Visits that found a change and were not told.
    pub missed: u64,
    /// Visits that were not told and found no change.
    pub quiet: u64,
    /// Right ones among all that were told.
    pub precision: Option<f64>,
    /// Changes that were told of among all that visits found.
    pub recall: Option<f64>,
    /// The mean time from the date that a right signal gave until we learnt of it.
    pub late_seconds: Option<f64>,
}

impl SignalTrust {
    /// The counts with their shares.
    pub(super) fn of(kind: SignalKind, trust: &HostTrust) -> Self {
        Self {
            kind: kind.name(),
            since: trust.since,
            right: trust.right,
            wrong: trust.wrong,
            missed: trust.missed,
            quiet: trust.quiet,
            precision: trust.precision(),
            recall: trust.recall(),
            late_seconds: trust.lateness().map(Age::seconds),
        }
    }

    /// In words: `right 83 of 100 times, tells 60 % of changes, late by 2 h`.
    pub fn in_words(&self) -> String {
        let told = self.right + self.wrong;
        let right = match told {
            0 => "not looked into yet".to_owned(),
            _ => format!("right {} of {}", number(self.right), counted(told, "time")),
        };
        let tells = self.recall.map(|recall| format!(", tells {:.0} % of changes", 100.0 * recall));
        format!(
            "{right}{}{}",
            tells.unwrap_or_default(),
            self.late().map(|late| format!(", {late}")).unwrap_or_default()
        )
    }

    /// How late right signals are: `late by 2 h`.
    pub fn late(&self) -> Option<String> {
        let seconds = self.late_seconds?;
        Some(format!("late by {}", span_of(Age::from_days(seconds.round() / 86_400.0))))
    }
}

/// The signals of a site.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SiteSignals {
    /// The host whose pages they are about.
    pub host: String,
    /// Each kind that has ever told anything.
    pub kinds: Vec<SignalsOfKind>,
    /// Its sitemap files as they were last read.
    pub lists: Vec<ListStatus>,
}

/// The signals of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SignalsOfKind {
    /// How far they can be trusted.
    #[serde(flatten)]
    pub trust: SignalTrust,
    /// Signals in all.
    #[serde(rename = "signal_count")]
    pub signals: u64,
    /// Those of them that no visit has looked into.
    pub unused: u64,
}

/// A sitemap file, or an index of some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ListStatus {
    /// Its address.
    pub url: String,
    /// It names other files.
    pub is_index: bool,
    /// Pages or files that it lists.
    pub entries: u64,
    /// When it was last asked for.
    pub read_at: Timestamp,
    /// When it last came, and did not answer that nothing has changed.
    pub fetched_at: Timestamp,
    /// It has a mark by which the server can say that nothing has changed.
    pub has_validators: bool,
    /// Why its dates are not believed: `all-equal` or `time-of-request`.
    pub flaw: Option<&'static str>,
    /// The same in words.
    pub flaw_in_words: Option<&'static str>,
}

impl ListStatus {
    pub(super) fn of(list: ListRow) -> Self {
        Self {
            has_validators: list.etag.is_some() || list.last_modified.is_some(),
            url: list.url,
            is_index: list.is_index,
            entries: list.entries,
            read_at: list.read_at,
            fetched_at: list.fetched_at,
            flaw: list.flaw.map(|flaw| flaw.name()),
            flaw_in_words: list.flaw.map(|flaw| flaw.in_words()),
        }
    }
}

/// The signals of every site, or of one; sites without any are left out, unless it was asked for.
pub fn signals(store: &mut dyn Store, wanted: Option<&WantedHost>) -> Result<Vec<SiteSignals>, LookError> {
    let mut hosts: BTreeMap<HostId, Host> = BTreeMap::new();
    for known in store.hosts()? {
        let host = known.report.host;
        if wanted.is_none_or(|wanted| wanted.has(host.as_str())) {
            hosts.insert(known.id, host);
        }
    }
    let trust = trust_by_host(store)?;
    let totals = store.signal_totals()?.into_iter();
    let counts: HashMap<(HostId, SignalKind), (u64, u64)> =
        totals.map(|row| ((row.host, row.kind), (row.total, row.unused))).collect();
    let mut lists: HashMap<HostId, Vec<ListStatus>> = HashMap::new();
    for list in store.lists_of(&hosts.keys().copied().collect::<Vec<_>>())? {
        lists.entry(list.host).or_default().push(ListStatus::of(list));
    }
    let mut sites: Vec<SiteSignals> = hosts
        .into_iter()
        .map(|(id, host)| {
            let kinds = trust.get(&id).into_iter().flatten().map(|(kind, trust)| {
                let (signals, unused) = counts.get(&(id, *kind)).copied().unwrap_or_default();
                SignalsOfKind { trust: SignalTrust::of(*kind, trust), signals, unused }
            });
            SiteSignals {
                host: host.as_str().to_owned(),
                kinds: kinds.collect(),
                lists: lists.remove(&id).unwrap_or_default(),
            }
        })
        .filter(|site| wanted.is_some() || !site.kinds.is_empty() || !site.lists.is_empty())
        .collect();
    sites.sort_by_cached_key(|site| {
        (std::cmp::Reverse(site.kinds.iter().map(|kind| kind.signals).sum::<u64>()), site.host.clone())
    });
    Ok(sites)
}

/// How far each host is trusted, by kind.
pub(super) fn trust_by_host(
    store: &mut dyn Store,
) -> Result<HashMap<HostId, Vec<(SignalKind, HostTrust)>>, LookError> {
    let mut trust: HashMap<HostId, Vec<(SignalKind, HostTrust)>> = HashMap::new();
    for row in store.trust()? {
        trust.entry(row.host).or_default().push((row.kind, row.trust));
    }
    for kinds in trust.values_mut() {
        kinds.sort_by_key(|(kind, _)| *kind);
    }
    Ok(trust)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_told_in_words() {
        let mut trust = HostTrust::new(Timestamp::from_seconds(9));
        let words = |trust: &HostTrust| SignalTrust::of(SignalKind::Sitemap, trust).in_words();
        assert_eq!(words(&trust), "not looked into yet");
        (trust.right, trust.wrong, trust.missed) = (83, 17, 55);
        assert_eq!(words(&trust), "right 83 of 100 times, tells 60 % of changes");
        (trust.dated, trust.late_ms) = (83, 83 * 7_200_000);
        assert_eq!(words(&trust), "right 83 of 100 times, tells 60 % of changes, late by 2 h");
        (trust.right, trust.wrong, trust.dated) = (1, 0, 0);
        assert!(words(&trust).starts_with("right 1 of 1 time,"), "{}", words(&trust));
    }
}
