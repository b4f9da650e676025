//! Changes in the order of their size, the largest first.

use std::time::Instant;

use crate::crawl::observe::Observer;
use crate::observation::EventKind;
use crate::store::{EventFilter, PageEvent, Store};

use super::LookError;
use super::changes::{ChangesWanted, FoundEvent, KeptOut, hosts_of};
use super::lasting::{Lasting, LastingJudge};

/// Events that are sorted, the latest of them: a list of more is no list that someone reads.
const MOST_SORTED: usize = 20_000;

/// Events read at once.
const AT_ONCE: usize = 1000;

/// A part of the list of changes by size.
pub struct LargestChanges {
    /// The changes, the largest first.
    pub found: Vec<FoundEvent>,
    /// Where the list goes on: the number for `skip` of the next part; `None` if this is the end.
    pub next: Option<usize>,
    /// Changes that were kept out because they are not known to last.
    pub kept_out: KeptOut,
    /// There are more changes in the period than can be sorted: the earlier ones are left out.
    pub is_cut: bool,
}

/// The largest changes of a period, by divergence; a content without words is as far from the one before as can be. Of two alike,
/// the later one is first. `skip` of them are passed over, as [`LargestChanges::next`] says.
pub fn largest(
    store: &mut dyn Store,
    observer: &Observer,
    wanted: &ChangesWanted,
    skip: usize,
    deadline: Instant,
) -> Result<LargestChanges, LookError> {
    let hosts = wanted.host.as_ref().map(|host| hosts_of(store, host)).transpose()?;
    let kinds = vec![EventKind::Changed];
    let mut filter =
        EventFilter { since: wanted.since, kinds, hosts, unread: wanted.unread, ..EventFilter::default() };
    let mut events: Vec<PageEvent> = Vec::new();
    let mut is_cut = false;
    loop {
        let some = store.events(&filter, AT_ONCE)?;
        let is_last = some.len() < AT_ONCE;
        filter.before = some.last().map(PageEvent::place).or(filter.before);
        events.extend(some.into_iter().filter(|event| size(event) >= wanted.min_divergence));
        if is_last {
            break;
        }
        if events.len() >= MOST_SORTED {
            is_cut = true;
            break;
        }
    }
    // A stable sort: the store gave the latest first.
    events.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let mut judge = wanted.lasting.then(|| LastingJudge::new(observer, wanted.fragment_words));
    let (mut found, mut kept_out, mut next) = (Vec::new(), KeptOut::default(), None);
    for (place, event) in events.into_iter().enumerate().skip(skip) {
        if found.len() == wanted.most {
            next = Some(place);
            break;
        }
        let mut later = None;
        if let Some(judge) = &mut judge {
            match judge.judge(store, &event)? {
                Lasting::Lasts(seen) => later = seen,
                Lasting::DidNotLast => {
                    kept_out.did_not_last += 1;
                    continue;
                }
                Lasting::Waits => {
                    kept_out.wait += 1;
                    continue;
                }
            }
        }
        let later = later.as_ref().map(|seen| seen.text.as_str());
        found.push(FoundEvent::of(store, event, later, deadline)?);
    }
    Ok(LargestChanges { found, next, kept_out, is_cut })
}

fn size(event: &PageEvent) -> f64 {
    event.divergence.unwrap_or(1.0)
}
