//! One page of the store by its URL, with the visits of all its spellings.

use crate::page::{Normaliser, PageId, PageUrl, UrlError};
use crate::store::{PageRow, Spelling, Store, StoreError, StoredContent, VersionId, VisitRow};
use crate::time::Timestamp;

use super::LookError;
use super::pages::in_words;

/// A page and the visits of all its spellings, in order of time.
pub(super) struct VisitedPage {
    pub page: PageRow,
    /// Its other spellings: those it moved from, and those that show it too.
    pub spellings: Vec<Spelling>,
    /// The URL that was visited, and the observation.
    pub visits: Vec<(String, VisitRow)>,
}

/// A version, and the time of a visit that found the page to hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sighting {
    pub at: Timestamp,
    pub version: VersionId,
    /// Hash of the rules that left the version's text.
    pub text_rules: u64,
}

impl VisitedPage {
    /// The page of that URL. A page that moved has its own visits and those of where it lived before.
    pub(super) fn load(store: &mut dyn Store, normaliser: &Normaliser, url: &str) -> Result<Self, LookError> {
        let mut page = find(store, normaliser, url)?;
        // Another page stands for this spelling: the history is that page's.
        if let Some(target) = page.alias_of.clone() {
            page = find(store, normaliser, &target)?;
        }
        let mut visits: Vec<(String, VisitRow)> = Vec::new();
        let spellings = store.spellings(PageId(page.id))?;
        let others = spellings.iter().map(|other| (other.page, other.url.clone()));
        for (id, url) in std::iter::once((PageId(page.id), page.url.clone())).chain(others) {
            visits.extend(store.visits(id)?.into_iter().map(|visit| (url.clone(), visit)));
        }
        visits.sort_by_key(|(_, visit)| visit.at);
        Ok(Self { page, spellings, visits })
    }

    /// The visits that found the page where it lived then, in order of time: at its own address, and before it was
    /// found there at those it moved from. Another spelling may show the page in another way.
    pub(super) fn sightings(&self) -> Vec<Sighting> {
        let found = || {
            self.visits.iter().filter_map(|(_, visit)| {
                let version = visit.version.filter(|_| visit.is_stored)?;
                Some((visit.page, Sighting { at: visit.at, version, text_rules: visit.text_rules }))
            })
        };
        let own = PageId(self.page.id);
        let arrived = found().find(|(page, _)| *page == own).map(|(_, sighting)| sighting.at);
        let lived_there = |page: PageId, at: Timestamp| {
            let moved = || self.spellings.iter().any(|other| other.moved && other.page == page);
            page == own || arrived.is_none_or(|arrived| at < arrived) && moved()
        };
        found().filter(|(page, sighting)| lived_there(*page, sighting.at)).map(|(_, found)| found).collect()
    }
}

/// A page that a person named, in normal form. A password in the text is not repeated in the error.
pub fn page_url(text: &str, normaliser: &Normaliser) -> Result<PageUrl, LookError> {
    normaliser.parse(text).map_err(|error| match error {
        UrlError::UserInfo => LookError::Secret,
        error => LookError::NotAPage { text: without_secrets(text), error },
    })
}

/// The page of that URL, which the store must know.
pub fn find(store: &mut dyn Store, normaliser: &Normaliser, url: &str) -> Result<PageRow, LookError> {
    let wanted = page_url(url, normaliser)?;
    let found = store.find_page(wanted.fingerprint())?;
    found.map(in_words).ok_or_else(|| LookError::UnknownPage(wanted.to_string()))
}

/// A version's content, which must be there.
pub(super) fn content(store: &mut dyn Store, version: VersionId) -> Result<StoredContent, StoreError> {
    let missing = || StoreError::BadValue(format!("version {}, which is not there", version.0));
    store.version(version)?.ok_or_else(missing)
}

/// Text that is no URL may hold a password all the same, before an `@`.
fn without_secrets(text: &str) -> String {
    let Some((before, after)) = text.rsplit_once('@') else { return text.to_owned() };
    match before.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://…@{after}"),
        None => format!("…@{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hidden_wherever_it_stands() {
        assert_eq!(without_secrets("ftp://me:secret@example.org/a"), "ftp://…@example.org/a");
        assert_eq!(without_secrets("http://me:se/cr@et@"), "http://…@");
        assert_eq!(without_secrets("me:secret@example.org"), "…@example.org");
        assert_eq!(without_secrets("no page"), "no page");
    }
}
