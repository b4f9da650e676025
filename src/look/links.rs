//! The links of stored pages, with what becomes of each: known, new, or not followed and why; and the pages that link to a page.
//!
//! Links are read again from the stored bodies, by the settings of now, so every link of every stored page can be asked about.

use std::collections::HashSet;

use serde::Serialize;

use crate::crawl::Crawler;
use crate::crawl::stored_links::{LinkVerdict, StoredLink};
use crate::fetch::web::Web;
use crate::page::{Normaliser, PageId};
use crate::store::{PageFilter, PageRow, Store};
use crate::unique::Refusal;

use super::LookError;
use super::page::find;

/// A link of a stored page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PageLink {
    /// The page it stands on.
    pub url: String,
    /// As written there.
    pub href: String,
    /// The address it leads to, in normal form; `None` if that is nowhere.
    #[serde(rename = "target_url")]
    pub target: Option<String>,
    /// `known`, `new` or `refused`.
    pub verdict: &'static str,
    /// Why it is not followed, by the names of docs/outcomes.md.
    #[serde(rename = "refused_for")]
    pub reason: Option<&'static str>,
    /// The state of the page that it leads to, if that is known.
    pub state: Option<String>,
}

/// Which links are wanted.
#[derive(Clone, Debug, Default)]
pub struct LinksWanted {
    /// Only links that are not followed.
    pub refused: bool,
    /// Only links that are not followed for this reason.
    pub reason: Option<Refusal>,
}

impl LinksWanted {
    fn takes(&self, verdict: LinkVerdict) -> bool {
        match (verdict, self.reason) {
            (LinkVerdict::Refused(refusal), Some(reason)) => refusal == reason,
            (LinkVerdict::Refused(_), None) => true,
            (_, reason) => !self.refused && reason.is_none(),
        }
    }
}

/// Links of pages that were looked at, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Pages whose links were read.
    pub pages: usize,
    /// Links that are wanted.
    pub links: usize,
    /// Links beyond those that are taken from one page: they were not read.
    pub dropped: usize,
}

/// Calls `each` for every wanted link of one page, in the order of the page, until it fails. The page must be stored.
pub fn links_of<W: Web, E: From<LookError>>(
    crawler: &mut Crawler<W>,
    url: &str,
    wanted: &LinksWanted,
    mut each: impl FnMut(PageLink) -> Result<(), E>,
) -> Result<LinkCounts, E> {
    let normaliser = crawler.normaliser().clone();
    let store = crawler.store().map_err(LookError::from)?;
    let mut page = find(store, &normaliser, url)?;
    if let Some(target) = page.alias_of.clone() {
        page = find(store, &normaliser, &target)?;
    }
    let mut counts = LinkCounts::default();
    if !add_links(crawler, &page, wanted, &mut counts, &mut each)? {
        return Err(LookError::NothingStored(page.url).into());
    }
    Ok(counts)
}

/// Calls `each` for every wanted link of every page that passes the filter, page by page, until it fails.
pub fn links<W: Web, E: From<LookError>>(
    crawler: &mut Crawler<W>,
    filter: &PageFilter,
    wanted: &LinksWanted,
    mut each: impl FnMut(PageLink) -> Result<(), E>,
) -> Result<LinkCounts, E> {
    let mut pages = Vec::new();
    let store = crawler.store().map_err(LookError::from)?;
    store
        .list_pages(filter, &mut |page| pages.extend(page.is_stored.then_some(PageId(page.id))))
        .map_err(LookError::from)?;
    let mut counts = LinkCounts::default();
    for some in pages.chunks(PAGES_AT_ONCE) {
        let mut rows = Vec::new();
        let filter = PageFilter { among: Some(some.to_vec()), ..filter.clone() };
        let store = crawler.store().map_err(LookError::from)?;
        store.list_pages(&filter, &mut |page| rows.push(page)).map_err(LookError::from)?;
        for page in rows {
            add_links(crawler, &page, wanted, &mut counts, &mut each)?;
        }
    }
    Ok(counts)
}

/// Pages whose rows are held at a time.
const PAGES_AT_ONCE: usize = 200;

/// Calls `each` for the wanted links of a page; `false`: nothing is stored of it that has links.
fn add_links<W: Web, E: From<LookError>>(
    crawler: &mut Crawler<W>,
    page: &PageRow,
    wanted: &LinksWanted,
    counts: &mut LinkCounts,
    each: &mut dyn FnMut(PageLink) -> Result<(), E>,
) -> Result<bool, E> {
    let stored = crawler.stored_links(PageId(page.id), &page.url, page.depth).map_err(LookError::from)?;
    let Some(stored) = stored else { return Ok(false) };
    counts.pages += 1;
    counts.dropped += stored.dropped;
    for link in stored.links.into_iter().filter(|link| wanted.takes(link.verdict)) {
        counts.links += 1;
        let store = crawler.store().map_err(LookError::from)?;
        each(page_link(store, page, link)?)?;
    }
    Ok(true)
}

fn page_link(store: &mut dyn Store, page: &PageRow, link: StoredLink) -> Result<PageLink, LookError> {
    let (verdict, reason) = match link.verdict {
        LinkVerdict::Known => ("known", None),
        LinkVerdict::New => ("new", None),
        LinkVerdict::Refused(refusal) => ("refused", Some(refusal.name())),
    };
    let known = link.target.as_ref().filter(|_| link.verdict == LinkVerdict::Known);
    let state = match known {
        Some(target) => store.find_page(target.fingerprint())?.map(|page| page.state),
        None => None,
    };
    let target = link.target.map(|url| url.to_string());
    Ok(PageLink { url: page.url.clone(), href: link.href, target, verdict, reason, state })
}

/// The pages that link to a page or to one of its other spellings, by their numbers. The store must know the page.
pub fn linking_to(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
) -> Result<Vec<PageId>, LookError> {
    let page = find(store, normaliser, url)?;
    let spellings = store.spellings(PageId(page.id))?.into_iter().map(|spelling| spelling.url);
    let targets: HashSet<u64> = std::iter::once(page.url)
        .chain(spellings)
        .filter_map(|url| Some(normaliser.parse(&url).ok()?.fingerprint().prefix()))
        .collect();
    let mut linking = Vec::new();
    store.each_links(&mut |page, links| {
        linking.extend(links.iter().any(|link| targets.contains(link)).then_some(page));
    })?;
    Ok(linking)
}
