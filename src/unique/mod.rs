//! Links → pages not known yet.
//!
//! In come links, normalised already, with the page they were found on; out go those that are wanted and lead to pages
//! not known yet. Links of pages, sitemaps and redirects pass [`UniquenessVerifier`]. Seeds are stored first, and are told to
//! it as known.
//!
//! What must stay true:
//! - A page passes once. While the known set is not full, no fingerprint is returned as new a second time.
//! - Every link is accounted for: it is known, refused for a reason that is counted, new, or unsure.
//! - Memory is bounded by the pages known: 10 to 20 bytes each in the known set, at most 10 more in the counts.
//!
//! A link that is known is answered first, with one probe: on most pages nearly all are.

mod counts;
mod known;
mod refusal;
mod scope;
pub mod seeds;

pub use self::known::{KnownSet, Membership};
pub use self::refusal::{Refusal, RefusalCounts};
pub use self::scope::{Scope, ScopeKind, SiteRules, TrapLimits, UnknownScope};

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use self::counts::FrequentCounts;
use crate::page::{Depth, Fingerprint, PageId, PageUrl, SeedId};

/// A link as found: already resolved and normalised (that is done in parallel, before the door).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The page it leads to.
    pub url: PageUrl,
    /// When a sitemap or feed says the page changed last, in UTC seconds.
    pub lastmod: Option<i64>,
    /// The words of the link, if they are wanted.
    pub anchor: Option<Box<str>>,
}

/// Where links come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkSource {
    /// The depth the new pages will have.
    pub depth: Depth,
    /// The seed through which the source itself came.
    pub seed: Option<SeedId>,
    /// The page they were found on. `None` for seeds and sitemaps, which may hold more links than a page may.
    pub page: Option<PageId>,
}

/// A page that was not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPage {
    /// Its URL.
    pub url: PageUrl,
    /// Links between it and its seed.
    pub depth: Depth,
    /// The seed that wants it.
    pub seed: SeedId,
    /// The page it was found on.
    pub found_on: Option<PageId>,
    /// When it changed last, by a sitemap or feed.
    pub lastmod: Option<i64>,
    /// The words of the link by which it was found, if they are wanted.
    pub anchor: Option<Box<str>>,
}

/// The result for a batch of links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Admitted {
    /// Pages that were not known, in the order found; known from here on.
    pub new: Vec<NewPage>,
    /// Pages the full known set cannot tell, each once. Ask the store in one batch, and
    /// [`UniquenessVerifier::remember`] those it takes, so that they count against the limits.
    pub unsure: Vec<NewPage>,
    /// How many links were known, or came a second time in the batch.
    pub known: usize,
}

/// The result for one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A page that was not known; it is known from here on.
    New(NewPage),
    /// A page that the full known set can't tell: the store knows.
    Unsure(NewPage),
    /// A page that is known.
    Known,
    /// The page is not wanted.
    Refused(Refusal),
}

/// The hash by which pages of one host are counted.
pub(crate) fn host_hash(url: &PageUrl) -> u64 {
    xxh3_64(url.origin().as_bytes())
}

/// The hash by which queries of one path are counted; `None` for a page without a query. All spellings of a path
/// count as one, or a trap could multiply its limit by them.
pub(crate) fn query_path_hash(url: &PageUrl) -> Option<u64> {
    url.as_url().query()?;
    let key = url.key();
    let (path, _) = key.split_once('?')?;
    Some(xxh3_64(path.as_bytes()))
}

/// The only door through which pages come to be known.
#[derive(Clone, Debug)]
pub(crate) struct UniquenessVerifier {
    scope: Scope,
    known: KnownSet,
    pages_of_host: FrequentCounts,
    queries_of_path: FrequentCounts,
    refusals: RefusalCounts,
}

impl UniquenessVerifier {
    /// Knows nothing yet, and will hold at most `max_known` pages in memory.
    pub(crate) fn new(scope: Scope, max_known: usize) -> UniquenessVerifier {
        UniquenessVerifier {
            scope,
            known: KnownSet::with_limit(max_known),
            pages_of_host: FrequentCounts::default(),
            queries_of_path: FrequentCounts::default(),
            refusals: RefusalCounts::default(),
        }
    }

    /// The scope, to add seeds and sites to.
    pub(crate) fn scope_mut(&mut self) -> &mut Scope {
        &mut self.scope
    }

    /// A page the store already has (called once a page when a store is opened, and for unsure pages it took): feeds
    /// the known set and the counts. `host` is its [`host_hash`], `path_with_query` its [`query_path_hash`].
    pub(crate) fn remember(&mut self, page: Fingerprint, host: u64, path_with_query: Option<u64>) {
        // A full set turns the page away, but its host and path have it all the same.
        if self.known.insert(page) || self.known.contains(page) == Membership::Unsure {
            self.count(host, path_with_query);
        }
    }

    /// The links that lead to pages not known yet. Refused ones are counted by reason. New ones are known from here on.
    /// Links that may be known already are returned apart.
    pub(crate) fn admit(
        &mut self,
        links: impl IntoIterator<Item = Candidate>,
        source: &LinkSource,
    ) -> Admitted {
        let mut admitted = Admitted::default();
        let mut said_unsure = HashSet::new();
        let most = if source.page.is_some() { self.scope.limits().links_per_page } else { usize::MAX };
        for (place, link) in links.into_iter().enumerate() {
            if place >= most {
                self.refusals.add(Refusal::LinksPerPage, 1);
                continue;
            }
            let page = link.url.fingerprint();
            match self.admit_one(link, source) {
                Admission::New(new) => admitted.new.push(new),
                Admission::Unsure(new) if said_unsure.insert(page) => admitted.unsure.push(new),
                Admission::Unsure(_) | Admission::Known => admitted.known += 1,
                Admission::Refused(reason) => self.refusals.add(reason, 1),
            }
        }
        admitted
    }

    /// Judges a single link, and counts no refusal. A verifier that is thrown away afterwards makes this a dry run.
    pub(crate) fn admit_one(&mut self, link: Candidate, source: &LinkSource) -> Admission {
        let page = link.url.fingerprint();
        let answer = self.known.contains(page);
        if answer == Membership::Known {
            return Admission::Known;
        }
        let seed = match self.scope.judge(&link.url, source.depth, source.seed) {
            Ok(seed) => seed,
            Err(reason) => return Admission::Refused(reason),
        };
        let (host, path_with_query) = (host_hash(&link.url), query_path_hash(&link.url));
        if let Err(reason) = self.check_room(host, path_with_query) {
            return Admission::Refused(reason);
        }
        let (depth, found_on) = (source.depth, source.page);
        let new =
            NewPage { url: link.url, depth, seed, found_on, lastmod: link.lastmod, anchor: link.anchor };
        if answer == Membership::New {
            self.known.insert(page);
            self.count(host, path_with_query);
            Admission::New(new)
        } else {
            Admission::Unsure(new)
        }
    }

    /// Counts links that were refused before they came here: malformed ones, or a page that asks not to be followed.
    pub(crate) fn refuse(&mut self, reason: Refusal, count: u64) {
        self.refusals.add(reason, count);
    }

    /// How many links were refused since the last call, by reason; reasons that did not occur are left out.
    pub(crate) fn take_refusals(&mut self) -> Vec<(Refusal, u64)> {
        self.refusals.take()
    }

    /// Is this page held as known?
    pub(crate) fn knows(&self, page: Fingerprint) -> bool {
        self.known.contains(page) == Membership::Known
    }

    /// How many pages are held as known.
    #[cfg(test)]
    pub(crate) fn known(&self) -> usize {
        self.known.len()
    }

    /// Whether the host and the path may have one more page.
    fn check_room(&self, host: u64, path_with_query: Option<u64>) -> Result<(), Refusal> {
        let limits = self.scope.limits();
        if self.pages_of_host.of(host) >= limits.pages_per_host {
            return Err(Refusal::HostFull);
        }
        if path_with_query.is_some_and(|path| self.queries_of_path.of(path) >= limits.query_variants) {
            return Err(Refusal::QueryVariants);
        }
        Ok(())
    }

    fn count(&mut self, host: u64, path_with_query: Option<u64>) {
        self.pages_of_host.add(host, self.known.len());
        if let Some(path) = path_with_query {
            self.queries_of_path.add(path, self.known.len());
        }
    }
}

#[cfg(test)]
mod tests;
