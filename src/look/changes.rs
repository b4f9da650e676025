//! The changes across the collection, the latest first.

use std::collections::VecDeque;
use std::net::Ipv6Addr;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;

use crate::change::fragment::Fragments;
use crate::change::lasting_change::lasted;
use crate::page::{Host, PageId};
use crate::store::{Change, Store, StoreError, VersionId};
use crate::time::Timestamp;

use super::LookError;
use super::text_diff::TextDiff;

/// Versions whose fragments are kept in memory; 8 bytes a word.
const RECENT_VERSIONS: usize = 32;
/// Lines of a change that are given.
const LINES: usize = 3;

/// Which changes are wanted.
#[derive(Clone, Debug)]
pub struct ChangesWanted {
    /// Found at or after this time.
    pub since: Timestamp,
    /// Of this host alone.
    pub host: Option<WantedHost>,
    /// At least this far from the earlier text, 0 to 1.
    pub min_divergence: f64,
    /// Only those whose new text was still there at a later visit.
    pub lasting: bool,
    /// No more than this many.
    pub most: usize,
    /// Words of a fragment.
    pub fragment_words: usize,
}

/// A change, and the words that made it.
#[derive(Clone, Debug, Serialize)]
pub struct FoundChange {
    /// As the visit found it.
    #[serde(flatten)]
    pub change: Change,
    /// Words that are new.
    pub words_added: usize,
    /// Words that are gone.
    pub words_removed: usize,
    /// The first lines that are new.
    pub added: Vec<String>,
    /// The first lines that are gone.
    pub removed: Vec<String>,
    /// The texts compared, for those who draw them.
    #[serde(skip)]
    pub text: TextDiff,
}

/// Changes that are looked at one after the other.
pub struct Changes<'s> {
    store: &'s mut dyn Store,
    found: std::vec::IntoIter<Change>,
    recent: RecentFragments,
    lasting: bool,
    left: usize,
}

impl<'s> Changes<'s> {
    /// Finds the changes; their texts are read as each is asked for.
    pub fn find(store: &'s mut dyn Store, wanted: &ChangesWanted) -> Result<Self, LookError> {
        let mut found = Vec::new();
        store.each_change(wanted.since, &mut |change| {
            // A content without words is as far from the one before as can be.
            let is_far = change.divergence.unwrap_or(1.0) >= wanted.min_divergence;
            if is_far && wanted.host.as_ref().is_none_or(|host| host.has(&change.url)) {
                found.push(change);
            }
            wanted.lasting || found.len() < wanted.most
        })?;
        Ok(Self {
            store,
            found: found.into_iter(),
            recent: RecentFragments { words: wanted.fragment_words, kept: VecDeque::new() },
            lasting: wanted.lasting,
            left: wanted.most,
        })
    }

    /// The next change; `None` when there are no more. What is not compared by the deadline counts as replaced.
    pub fn next(&mut self, deadline: Instant) -> Result<Option<FoundChange>, LookError> {
        if self.left == 0 {
            return Ok(None);
        }
        for change in self.found.by_ref() {
            if self.lasting && !self.recent.is_lasting(&mut *self.store, &change)? {
                continue;
            }
            self.left -= 1;
            return Ok(Some(FoundChange::of(&mut *self.store, change, deadline)?));
        }
        Ok(None)
    }
}

impl FoundChange {
    fn of(store: &mut dyn Store, change: Change, deadline: Instant) -> Result<Self, StoreError> {
        let old = store.version(VersionId(change.previous_version))?;
        let new = store.version(VersionId(change.version))?;
        // Without both texts there is nothing to show of the difference.
        let (old, new) = old.zip(new).map_or_else(Default::default, |(old, new)| (old.text, new.text));
        let text = TextDiff::of(&old, &new, deadline);
        let (mut added, mut removed) = text.lines();
        added.truncate(LINES);
        removed.truncate(LINES);
        let (words_added, words_removed) = (text.words_added(), text.words_removed());
        Ok(Self { change, words_added, words_removed, added, removed, text })
    }
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
        let Some(host) = url::Url::parse(url).ok().and_then(|url| Host::of(&url)) else { return false };
        match self {
            WantedHost::Origin(origin) => host == *origin,
            WantedHost::Port(name, port) => host.name() == name && host.port() == *port,
            WantedHost::Name(name) => host.name() == name,
        }
    }
}

/// The fragments of the versions read last: the text that one change of a page brought is the text that the next took
/// away.
struct RecentFragments {
    words: usize,
    kept: VecDeque<(VersionId, Rc<Fragments>)>,
}

impl RecentFragments {
    /// Was the new text of a change still there at a later visit? No, as long as there was no later visit.
    fn is_lasting(&mut self, store: &mut dyn Store, change: &Change) -> Result<bool, StoreError> {
        let Some(later) = store.found_next(PageId(change.page), change.at)? else { return Ok(false) };
        let (version, previous) = (VersionId(change.version), VersionId(change.previous_version));
        let Some(later) = self.fragments(store, later)? else { return Ok(false) };
        let Some(after) = self.fragments(store, version)? else { return Ok(false) };
        let Some(before) = self.fragments(store, previous)? else { return Ok(false) };
        Ok(lasted(&before, &after, &later, self.words))
    }

    /// The fragments of a version; `None` if its text is not stored.
    fn fragments(
        &mut self,
        store: &mut dyn Store,
        version: VersionId,
    ) -> Result<Option<Rc<Fragments>>, StoreError> {
        if let Some((_, fragments)) = self.kept.iter().find(|(kept, _)| *kept == version) {
            return Ok(Some(Rc::clone(fragments)));
        }
        let Some(content) = store.version(version)? else { return Ok(None) };
        let fragments = Rc::new(Fragments::of(&content.text, self.words));
        if self.kept.len() >= RECENT_VERSIONS {
            self.kept.pop_front();
        }
        self.kept.push_back((version, Rc::clone(&fragments)));
        Ok(Some(fragments))
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
