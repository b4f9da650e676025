//! One page of the store by its URL, with the visits of all its spellings.

use std::borrow::Cow;

use crate::page::{Normaliser, PageId, PageUrl, UrlError, with_scheme};
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
        let sighting = |visit: &VisitRow| {
            let (at, text_rules) = (visit.at, visit.text_rules);
            visit.version.map(|version| Sighting { at, version, text_rules })
        };
        self.found_where_it_lived(|visit| visit.is_stored).into_iter().filter_map(sighting).collect()
    }

    /// As [`VisitedPage::sightings`], of the visits that brought or confirmed a version and are `wanted`.
    pub(super) fn found_where_it_lived(&self, wanted: impl Fn(&VisitRow) -> bool) -> Vec<&VisitRow> {
        let found = || {
            let visits = self.visits.iter().map(|(_, visit)| visit);
            visits.filter(|visit| visit.version.is_some() && wanted(visit))
        };
        let own = PageId(self.page.id);
        let arrived = found().find(|visit| visit.page == own).map(|visit| visit.at);
        let lived_there = |visit: &&VisitRow| {
            let moved = || self.spellings.iter().any(|other| other.moved && other.page == visit.page);
            visit.page == own || arrived.is_none_or(|arrived| visit.at < arrived) && moved()
        };
        found().filter(lived_there).collect()
    }
}

/// A page that a person named, in normal form; a bare host is meant as `https`. A password in the text is not repeated in
/// the error.
pub fn page_url(text: &str, normaliser: &Normaliser) -> Result<PageUrl, LookError> {
    let whole = with_scheme(text).unwrap_or(Cow::Borrowed(text));
    normaliser.parse(&whole).map_err(|error| match error {
        UrlError::UserInfo => LookError::Secret,
        error => LookError::NotAPage { text: without_secrets(text), error },
    })
}

/// The page of that URL, which the store must know. A bare host finds a page of `http` too.
pub fn find(store: &mut dyn Store, normaliser: &Normaliser, url: &str) -> Result<PageRow, LookError> {
    let wanted = page_url(url, normaliser)?;
    if let Some(found) = store.find_page(wanted.fingerprint())? {
        return Ok(in_words(found));
    }
    for (near, is_meant) in near_spellings(&wanted, !url.contains("://")) {
        let Ok(near) = normaliser.parse(&near) else { continue };
        if let Some(found) = store.find_page(near.fingerprint())? {
            return match is_meant {
                true => Ok(in_words(found)),
                false => Err(LookError::NearlyKnown { url: wanted.to_string(), near: found.url }),
            };
        }
    }
    Err(LookError::UnknownPage(wanted.to_string()))
}

/// Addresses that a person may have meant: by the other scheme, with or without a slash at the end, with or without `www.`.
/// The first is meant for sure where no scheme was typed.
fn near_spellings(wanted: &PageUrl, is_bare: bool) -> Vec<(String, bool)> {
    let text = wanted.as_str();
    let Some((scheme, rest)) = text.split_once("://") else { return Vec::new() };
    let other_scheme = if scheme == "https" { "http" } else { "https" };
    let other_end = rest.strip_suffix('/').map_or_else(|| format!("{rest}/"), str::to_owned);
    let other_name = rest.strip_prefix("www.").map_or_else(|| format!("www.{rest}"), str::to_owned);
    let mut near = vec![(format!("{other_scheme}://{rest}"), is_bare)];
    for rest in [&other_end, &other_name] {
        near.extend([scheme, other_scheme].map(|scheme| (format!("{scheme}://{rest}"), false)));
    }
    near
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
