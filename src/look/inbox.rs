//! The inbox: lasting changes that no person has read, the one that matters most first.
//!
//! A change lasts if the next visit that found the page still found something of it ([`LastingJudge`]). Its place is by weight ×
//! divergence × lasting: how important the page is, how far it moved, and which share of the new lines was found again. Changes of
//! one template are one entry ([`collapse`]), with the place of the best of them.
//!
//! The cost is bounded, whatever is in the store: only the newest changes are looked at, and no more are judged once `is_over` says
//! so. A verdict never changes, because it follows from the visit after the change: [`InboxMemory`] keeps it from one look to the next.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::LookError;
use super::changes::{FoundEvent, KeptOut};
use super::collapse::{Collapsible, collapse, marks};
use super::figures::number;
use super::inline_diff::InlineDiff;
use super::lasting::{Lasting, LastingJudge};
use super::new_text::lasting_share;
use crate::crawl::observe::Observer;
use crate::observation::EventKind;
use crate::page::{Host, HostId};
use crate::store::{EventFilter, EventPlace, PageEvent, Store};
use crate::time::Timestamp;

/// Changes that are looked at unless told otherwise, the newest.
pub const NEWEST: usize = 400;
/// Changes that are passed at once in search of those whose page was visited again.
const SCANNED: usize = 5_000;
/// Verdicts that are kept.
const MOST_KEPT: usize = 2_000;

/// Which changes are wanted.
#[derive(Clone, Debug)]
pub struct InboxWanted {
    /// Found at or after this time.
    pub since: Timestamp,
    /// Those that were read, too.
    pub with_read: bool,
    /// Of pages of these hosts alone.
    pub hosts: Option<Vec<HostId>>,
    /// The newest of them are looked at.
    pub newest: usize,
    /// Entries that are given.
    pub most: usize,
    /// Words of a fragment.
    pub fragment_words: usize,
}

/// Lasting changes, and what was left out.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Inbox {
    /// Changes that were found at this time or later.
    pub since_at: Timestamp,
    /// The entry that matters most first.
    #[serde(rename = "shown")]
    pub entries: Vec<InboxEntry>,
    /// Entries that there are, those included that are not given.
    pub entry_count: usize,
    /// Lasting changes in all entries.
    pub lasting_changes: usize,
    /// Those of them that no person has read.
    pub unread_changes: usize,
    /// Changes of which the next visit found nothing.
    pub noisy_changes: u64,
    /// Changes that wait for the next visit to their page.
    pub waiting_changes: u64,
    /// There are more: older ones, or some that there was no time to judge.
    pub has_more: bool,
}

/// A change, or a change of many pages.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct InboxEntry {
    /// The change that stands for the entry.
    pub event: PageEvent,
    /// The visit that found it: by this it is marked as read.
    pub visit_id: i64,
    /// The origin of the pages.
    pub host: String,
    /// Pages that have the same change.
    #[serde(rename = "page_count")]
    pub pages: usize,
    /// `212 pages of example.org: the same change`; `None` for one page.
    pub same_change: Option<String>,
    /// The weight of the page at the visit.
    pub weight: f64,
    /// The share of the new lines that the next visit found again, 0 to 1.
    pub lasting: f64,
    /// Weight × divergence × lasting: of many pages, the largest.
    pub worth: f64,
    /// A person has read it; of many pages, all.
    pub is_read: bool,
    /// The visits that found the change, that of the entry first.
    pub visit_ids: Vec<i64>,
    /// What came and what went.
    pub diff: InlineDiff,
}

/// Verdicts on changes, and the differences, from earlier looks.
#[derive(Debug, Default)]
pub struct InboxMemory {
    verdicts: HashMap<VerdictKey, Arc<InboxVerdict>>,
    oldest: VecDeque<VerdictKey>,
}

/// A visit by its place in the log and its time: the file may be another store's one day.
type VerdictKey = (i64, Timestamp);

fn key(event: &PageEvent) -> VerdictKey {
    (event.observation_id, event.at)
}

/// What is known of a change for good.
#[derive(Debug)]
struct InboxVerdict {
    /// `None`: it did not last.
    lasted: Option<LastedChange>,
}

/// A change that lasted.
#[derive(Debug)]
struct LastedChange {
    weight: f64,
    share: f64,
    marks: BTreeSet<u64>,
    diff: InlineDiff,
    title: Option<String>,
}

impl InboxMemory {
    fn keep(&mut self, visit: VerdictKey, verdict: InboxVerdict) -> Arc<InboxVerdict> {
        if self.oldest.len() >= MOST_KEPT
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.verdicts.remove(&oldest);
        }
        let verdict = Arc::new(verdict);
        self.verdicts.insert(visit, Arc::clone(&verdict));
        self.oldest.push_back(visit);
        verdict
    }
}

/// The lasting changes of a store. What is not compared by `deadline` counts as replaced; nothing new is judged once `is_over` says yes.
pub fn inbox(
    store: &mut dyn Store,
    observer: &Observer,
    wanted: &InboxWanted,
    memory: &mut InboxMemory,
    (deadline, is_over): (Instant, &mut dyn FnMut() -> bool),
) -> Result<Inbox, LookError> {
    let mut filter = EventFilter {
        since: wanted.since,
        kinds: vec![EventKind::Changed],
        hosts: wanted.hosts.clone(),
        unread: !wanted.with_read,
        ..EventFilter::default()
    };
    let mut kept_out = KeptOut::default();
    // A page is visited once in a cycle, so all changes of the latest one wait.
    if let Some(latest) = store.cycles(1)?.first().filter(|_| wanted.hosts.is_none()) {
        kept_out.wait = latest.changed;
        filter.before = Some(EventPlace { at: latest.started_at, observation: i64::MAX });
    }
    let mut judge = LastingJudge::new(observer, wanted.fragment_words);
    let (mut lasting, mut looked_at, mut has_more, mut is_first) = (Vec::new(), 0, false, true);
    'looking: loop {
        let left = wanted.newest.saturating_sub(looked_at);
        if left == 0 || !is_first && is_over() {
            has_more = true;
            break;
        }
        is_first = false;
        let found = store.settled_events(&filter, SCANNED, left)?;
        kept_out.wait += found.waiting;
        for event in found.events {
            looked_at += 1;
            let verdict = match memory.verdicts.get(&key(&event)) {
                Some(verdict) => Arc::clone(verdict),
                None if is_over() => {
                    has_more = true;
                    break 'looking;
                }
                None => match verdict(store, &mut judge, &event, deadline)? {
                    Some(verdict) => memory.keep(key(&event), verdict),
                    None => {
                        kept_out.wait += 1;
                        continue;
                    }
                },
            };
            if verdict.lasted.is_some() {
                lasting.push((event, verdict));
            } else {
                kept_out.did_not_last += 1;
            }
        }
        filter.before = found.rest;
        if found.rest.is_none() {
            break;
        }
    }
    let visits: Vec<i64> = lasting.iter().map(|(event, _)| event.observation_id).collect();
    let read: BTreeSet<i64> = store.read_of(&visits)?.into_iter().collect();
    let mut entries = entries(lasting, &read);
    let (entry_count, lasting_changes) = (entries.len(), visits.len());
    entries.truncate(wanted.most);
    Ok(Inbox {
        since_at: wanted.since,
        entries,
        entry_count,
        lasting_changes,
        unread_changes: lasting_changes - read.len(),
        noisy_changes: kept_out.did_not_last,
        waiting_changes: kept_out.wait,
        has_more,
    })
}

/// `None`: there was no later visit yet.
fn verdict(
    store: &mut dyn Store,
    judge: &mut LastingJudge<'_>,
    event: &PageEvent,
    deadline: Instant,
) -> Result<Option<InboxVerdict>, LookError> {
    let (lasts, weight) = judge.judge_with_weight(store, event)?;
    let later = match lasts {
        Lasting::Waits => return Ok(None),
        Lasting::DidNotLast => return Ok(Some(InboxVerdict { lasted: None })),
        Lasting::Lasts(later) => later,
    };
    let later = later.as_ref().map(|seen| seen.text.as_str());
    let found = FoundEvent::of(store, event.clone(), later, deadline)?;
    Ok(Some(InboxVerdict {
        lasted: Some(LastedChange {
            weight,
            share: lasting_share(&found.text, later),
            marks: marks(&found.text, later),
            diff: InlineDiff::of(&found.text, later),
            title: found.event.title,
        }),
    }))
}

fn entries(lasting: Vec<(PageEvent, Arc<InboxVerdict>)>, read: &BTreeSet<i64>) -> Vec<InboxEntry> {
    let hosts: Vec<String> = lasting.iter().map(|(event, _)| host_of(&event.url)).collect();
    let none = BTreeSet::new();
    let changes: Vec<Collapsible<'_>> = lasting
        .iter()
        .zip(&hosts)
        .map(|((event, verdict), host)| Collapsible {
            host,
            page: event.page_id,
            at: event.at,
            marks: verdict.lasted.as_ref().map_or(&none, |lasted| &lasted.marks),
        })
        .collect();
    let entry = |group: &Vec<usize>| -> Option<InboxEntry> {
        let mut members: Vec<InboxEntry> = group
            .iter()
            .filter_map(|place| {
                let (event, verdict) = lasting.get(*place)?;
                Some(alone(event, verdict.lasted.as_ref()?, hosts.get(*place)?, read))
            })
            .collect();
        members.sort_by(by_worth);
        let pages: BTreeSet<i64> = members.iter().map(|member| member.event.page_id).collect();
        let visit_ids = members.iter().map(|member| member.visit_id).collect();
        let is_read = members.iter().all(|member| member.is_read);
        let best = members.into_iter().next()?;
        let pages = pages.len();
        let same_change = (pages > 1).then(|| {
            let host = Host::parse(&best.host).map_or(best.host.clone(), |host| host.name().to_owned());
            format!("{} pages of {host}: the same change", number(pages as u64))
        });
        Some(InboxEntry { pages, same_change, is_read, visit_ids, ..best })
    };
    let mut entries: Vec<InboxEntry> = collapse(&changes).iter().filter_map(entry).collect();
    entries.sort_by(by_worth);
    entries
}

fn alone(event: &PageEvent, lasted: &LastedChange, host: &str, read: &BTreeSet<i64>) -> InboxEntry {
    // A content without words is as far from the one before as can be.
    let worth = lasted.weight * event.divergence.unwrap_or(1.0) * lasted.share;
    let event = PageEvent { title: lasted.title.clone(), ..event.clone() };
    InboxEntry {
        visit_id: event.observation_id,
        host: host.to_owned(),
        pages: 1,
        same_change: None,
        weight: lasted.weight,
        lasting: lasted.share,
        worth,
        is_read: read.contains(&event.observation_id),
        visit_ids: vec![event.observation_id],
        diff: lasted.diff.clone(),
        event,
    }
}

/// What matters most first; of what is equal, the newest.
fn by_worth(one: &InboxEntry, other: &InboxEntry) -> std::cmp::Ordering {
    let newest = (other.event.at, other.visit_id).cmp(&(one.event.at, one.visit_id));
    other.worth.total_cmp(&one.worth).then(newest)
}

/// The origin of a page.
fn host_of(url: &str) -> String {
    let host = url::Url::parse(url).ok().and_then(|url| Host::of(&url));
    host.map_or_else(String::new, |host| host.as_str().to_owned())
}
