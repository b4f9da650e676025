//! The events of the collection, the latest first: pages that are new, changed, gone, back, moved, failing, recovered.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv6Addr;
use std::time::Instant;

use serde::Serialize;

use crate::crawl::observe::Observer;
use crate::observation::{CycleId, EventKind};
use crate::page::{Host, HostId};
use crate::store::{EventFilter, EventPlace, PageEvent, Store, StoreError, VersionId};
use crate::time::Timestamp;

use super::LookError;
use super::lasting::{Lasting, LastingJudge};
use super::new_text::{excerpt, new_lines};
use super::reread;
use super::text_diff::TextDiff;

/// Events read at once: most people look at a few.
const AT_ONCE: usize = 200;
/// Lines of a change that are given.
const LINES: usize = 3;
/// Characters of the new text that are given.
const NEW_TEXT_CHARACTERS: usize = 80;

/// Which events are wanted.
#[derive(Clone, Debug)]
pub struct ChangesWanted {
    /// Found at or after this time.
    pub since: Timestamp,
    /// Of these kinds; empty: of all.
    pub kinds: Vec<EventKind>,
    /// Of this host alone.
    pub host: Option<WantedHost>,
    /// Changes that are at least this far from the earlier text, 0 to 1.
    pub min_divergence: f64,
    /// Only changes of which something was still there at a later visit.
    pub lasting: bool,
    /// Only events that no person has read.
    pub unread: bool,
    /// No more than this many.
    pub most: usize,
    /// New pages of a cycle that has more of them than this are counted, not listed.
    pub most_new: Option<usize>,
    /// Words of a fragment.
    pub fragment_words: usize,
}

/// When the latest cycle began: the one that runs, or else the last that ended. `None` before the first.
pub fn latest_cycle(store: &mut dyn Store) -> Result<Option<Timestamp>, LookError> {
    Ok(store.cycles(1)?.first().map(|cycle| cycle.started_at))
}

/// An event, and the words that made it if it is a change.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct FoundEvent {
    /// As the visit found it.
    #[serde(flatten)]
    pub event: PageEvent,
    /// Words that are new.
    pub words_added: usize,
    /// Words that are gone.
    pub words_removed: usize,
    /// The first lines that are new; of a change that lasted, those that did.
    pub added: Vec<String>,
    /// The first lines that are gone.
    pub removed: Vec<String>,
    /// The first new words with some of their line around them.
    pub new_text: Option<String>,
    /// The texts compared, for those who draw them.
    #[serde(skip)]
    pub text: TextDiff,
}

/// New pages of a cycle, too many to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManyNew {
    /// The cycle.
    pub cycle: CycleId,
    /// How many there are.
    pub pages: u64,
    /// The last of them.
    pub last_at: Timestamp,
}

/// Changes that were kept out because they are not known to last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptOut {
    /// The next visit did not find what they brought.
    pub did_not_last: u64,
    /// There was no later visit yet.
    pub wait: u64,
}

/// Events that are looked at one after the other.
pub struct Changes<'s> {
    store: &'s mut dyn Store,
    filter: EventFilter,
    found: VecDeque<PageEvent>,
    is_last: bool,
    judge: Option<LastingJudge<'s>>,
    min_divergence: f64,
    left: usize,
    many_new: Vec<ManyNew>,
    kept_out: KeptOut,
}

impl<'s> Changes<'s> {
    /// Finds the events; they and their texts are read as each is asked for.
    pub fn find(
        store: &'s mut dyn Store,
        observer: &'s Observer,
        wanted: &ChangesWanted,
    ) -> Result<Self, LookError> {
        let hosts = match &wanted.host {
            Some(host) => Some(hosts_of(store, host)?),
            None => None,
        };
        let mut filter = EventFilter {
            since: wanted.since,
            kinds: wanted.kinds.clone(),
            hosts,
            unread: wanted.unread,
            ..EventFilter::default()
        };
        let many_new = match wanted.most_new {
            Some(most) => many_new(store, &filter, most)?,
            None => Vec::new(),
        };
        filter.no_new_of = many_new.iter().map(|many| many.cycle).collect();
        Ok(Self {
            store,
            filter,
            found: VecDeque::new(),
            is_last: false,
            judge: wanted.lasting.then(|| LastingJudge::new(observer, wanted.fragment_words)),
            min_divergence: wanted.min_divergence,
            left: wanted.most,
            many_new,
            kept_out: KeptOut::default(),
        })
    }

    /// Goes on behind this event of a list that was read in part.
    #[must_use]
    pub fn behind(mut self, place: EventPlace) -> Self {
        self.filter.before = Some(place);
        self
    }

    /// New pages that are counted instead of listed, the latest cycle first.
    pub fn many_new(&self) -> &[ManyNew] {
        &self.many_new
    }

    /// Changes that were kept out so far.
    pub fn kept_out(&self) -> KeptOut {
        self.kept_out
    }

    /// The next event; `None` when there are no more. What is not compared by the deadline counts as replaced.
    pub fn next(&mut self, deadline: Instant) -> Result<Option<FoundEvent>, LookError> {
        while self.left > 0 {
            let Some(event) = self.read_on()? else { break };
            let mut later = None;
            if event.kind == EventKind::Changed {
                // A content without words is as far from the one before as can be.
                if event.divergence.unwrap_or(1.0) < self.min_divergence {
                    continue;
                }
                if let Some(judge) = &mut self.judge {
                    match judge.judge(&mut *self.store, &event)? {
                        Lasting::Lasts(found) => later = found,
                        Lasting::DidNotLast => {
                            self.kept_out.did_not_last += 1;
                            continue;
                        }
                        Lasting::Waits => {
                            self.kept_out.wait += 1;
                            continue;
                        }
                    }
                }
            }
            self.left -= 1;
            let later = later.as_ref().map(|seen| seen.text.as_str());
            return Ok(Some(FoundEvent::of(&mut *self.store, event, later, deadline)?));
        }
        Ok(None)
    }

    fn read_on(&mut self) -> Result<Option<PageEvent>, StoreError> {
        if self.found.is_empty() && !self.is_last {
            let most = AT_ONCE.min(self.left);
            let some = self.store.events(&self.filter, most)?;
            self.is_last = some.len() < most;
            self.filter.before = some.last().map(PageEvent::place).or(self.filter.before);
            self.found = some.into();
        }
        Ok(self.found.pop_front())
    }
}

impl FoundEvent {
    /// `later`: the text that a later visit found, if only a part of the change lasted.
    pub(super) fn of(
        store: &mut dyn Store,
        mut event: PageEvent,
        later: Option<&str>,
        deadline: Instant,
    ) -> Result<Self, StoreError> {
        let mut content = |version: Option<i64>| match version {
            Some(version) => store.version(VersionId(version)),
            None => Ok(None),
        };
        let versions = (event.previous_version_id, event.version_id);
        let (mut old, mut new) = (None, None);
        if event.changed == Some(true) {
            (old, new) = (content(versions.0)?, content(versions.1)?);
        }
        if !event.is_title_known {
            let titled = match &new {
                Some(new) => Some(new.clone()),
                None => content(versions.1.or(versions.0))?,
            };
            event.title = titled.and_then(|content| reread::title(&content, None));
        }
        // Without both texts there is nothing to show of the difference.
        let (old, new) = old.zip(new).map_or_else(Default::default, |(old, new)| (old.text, new.text));
        let text = TextDiff::of(&old, &new, deadline);
        let added = new_lines(&text, later).into_iter().take(LINES).map(|line| line.text.clone()).collect();
        let (_, mut removed) = text.lines();
        removed.truncate(LINES);
        let new_text = excerpt(&text, later, NEW_TEXT_CHARACTERS);
        let (words_added, words_removed) = (text.words_added(), text.words_removed());
        Ok(Self { event, words_added, words_removed, added, removed, new_text, text })
    }
}

/// Cycles that have more new pages than `most`.
fn many_new(store: &mut dyn Store, filter: &EventFilter, most: usize) -> Result<Vec<ManyNew>, StoreError> {
    let wanted = filter.kinds.is_empty() || filter.kinds.contains(&EventKind::New);
    if !wanted {
        return Ok(Vec::new());
    }
    let mut cycles: BTreeMap<CycleId, ManyNew> = BTreeMap::new();
    for count in store.count_events(&EventFilter { kinds: vec![EventKind::New], ..filter.clone() })? {
        let none = ManyNew { cycle: count.cycle, pages: 0, last_at: count.last_at };
        let many = cycles.entry(count.cycle).or_insert(none);
        many.pages += count.count;
        many.last_at = many.last_at.max(count.last_at);
    }
    let mut many: Vec<ManyNew> = cycles.into_values().filter(|many| many.pages > most as u64).collect();
    many.sort_by_key(|many| std::cmp::Reverse(many.last_at));
    Ok(many)
}

pub(super) fn hosts_of(store: &mut dyn Store, wanted: &WantedHost) -> Result<Vec<HostId>, StoreError> {
    let hosts = store.hosts()?.into_iter();
    Ok(hosts.filter(|known| wanted.is(&known.report.host)).map(|known| known.id).collect())
}

/// A host as people name it: by its origin, by name and port, or by its name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedHost {
    /// `https://example.org`
    Origin(Host),
    /// `example.org:8080`
    Port(String, u16),
    /// `example.org`
    Name(String),
}

impl WantedHost {
    /// `None` if the text names no host.
    pub fn parse(text: &str) -> Option<Self> {
        if text.contains("://") {
            return Host::parse(text).map(WantedHost::Origin);
        }
        let bare =
            text.parse::<Ipv6Addr>().map_or_else(|_| text.to_owned(), |address| format!("[{address}]"));
        let under = |scheme: &str| Host::parse(&format!("{scheme}://{bare}"));
        let (http, https) = (under("http")?, under("https")?);
        let name = http.name().to_owned();
        // Without a port each scheme has its own.
        let same_port = http.port() == https.port();
        Some(if same_port { WantedHost::Port(name, http.port()) } else { WantedHost::Name(name) })
    }

    /// Is a page of this host?
    pub fn has(&self, url: &str) -> bool {
        url::Url::parse(url).ok().and_then(|url| Host::of(&url)).is_some_and(|host| self.is(&host))
    }

    fn is(&self, host: &Host) -> bool {
        match self {
            WantedHost::Origin(origin) => host == origin,
            WantedHost::Port(name, port) => host.name() == name && host.port() == *port,
            WantedHost::Name(name) => host.name() == name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_in_any_way_and_any_case() {
        let pages = [
            "https://example.org/a",
            "http://example.org:8080/a",
            "http://[::1]:8080/",
            "https://m\u{fc}nchen.de/",
        ];
        let has = |wanted: &str| -> Vec<usize> {
            let host = WantedHost::parse(wanted).unwrap_or_else(|| panic!("{wanted}"));
            (0..pages.len()).filter(|place| host.has(pages[*place])).collect()
        };
        assert_eq!(has("example.org"), [0, 1]);
        assert_eq!(has("EXAMPLE.org."), [0, 1]);
        assert_eq!(has("Example.org:8080"), [1]);
        assert_eq!(has("example.org:443"), [0]);
        assert_eq!(has("example.org:80"), [0; 0]);
        assert_eq!(has("HTTPS://Example.ORG"), [0]);
        assert_eq!(has("https://example.org:443/"), [0]);
        assert_eq!(has("http://example.org"), [0; 0]);
        assert_eq!([has("::1"), has("[::1]"), has("[::1]:8080")], [[2], [2], [2]]);
        assert_eq!(has("M\u{dc}NCHEN.de"), [3]);
        assert_eq!(has("ample.org"), [0; 0]);
        for wrong in [
            "",
            "example.org/a",
            "ftp://example.org",
            "two words",
            "example.org:port",
            "http://me:secret@example.org",
        ] {
            assert_eq!(WantedHost::parse(wrong), None, "{wrong}");
        }
    }
}
