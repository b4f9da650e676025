//! Links taken again from stored bodies, when the rules that decide which links are taken have changed.
//!
//! Scope, patterns, depth, seeds and the release decide which links of a page are taken. When one of them changes, the bodies
//! that are stored are read again, and nothing is downloaded for it. A page whose body is not stored, or whose headers are not
//! known and may have asked that its links be left alone, keeps its old rules: its next visit brings the whole page.
//!
//! Work is committed in pieces, so that a crawl that is stopped meanwhile goes on from there.

use std::collections::HashMap;

use rayon::prelude::*;
use url::Url;

use super::arrivals::known_of;
use super::batch::Batch;
use super::observe::Observer;
use super::recorder::Recorder;
use super::stored_links::answer_of;
use super::{CrawlError, Crawler};
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::Answer;
use crate::fetch::web::Web;
use crate::page::{Depth, Fingerprint, PageId};
use crate::store::{
    Commit, KeptAnswer, LinksReread, PageToRead, Store, StoreError, StoredContent, VersionId,
};
use crate::time::Timestamp;
use crate::unique::{Candidate, LinkSource, NewPage};

/// The store's note of the rules by which the links of all stored bodies were taken.
const READ_BY: &str = "links-read-by";
/// Pages that are looked up at once.
const AT_ONCE: usize = 512;
/// Bytes of bodies that are held at once: pages are read in parallel, and memory stays bounded.
const MOST_BYTES: usize = 16 << 20;
/// Times that the links are gone through for shorter ways from the seeds.
const MOST_ROUNDS: usize = 64;

/// What came of reading stored pages again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinksReadAgain {
    /// Pages whose links were taken again.
    pub pages: u64,
    /// Pages found by that.
    pub new: u64,
    /// Pages that could not be read again: their next visit downloads them.
    pub left: u64,
}

/// A page whose stored body was read.
struct ReadLinks {
    page: PageToRead,
    links: Vec<Candidate>,
}

/// The answer that brought a stored version.
struct StoredAnswer {
    answer: Answer,
    /// Its headers are known, or are known not to have asked that its links be left alone.
    may_follow: bool,
}

impl<W: Web> Crawler<W> {
    /// Takes the links of stored bodies again, if the rules have changed since that was last done. Every cycle does this by
    /// itself; it may take a while.
    pub fn read_again(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<LinksReadAgain, CrawlError> {
        let rules = self.settings.rules;
        if std::mem::replace(&mut self.links_are_read, true)
            || self.store()?.note(READ_BY)? == Some(rules.to_string())
        {
            return Ok(LinksReadAgain::default());
        }
        self.with_recorder(|crawler, recorder| {
            let mut done = LinksReadAgain::default();
            if crawler.verifier.scope_mut().limits_depth() {
                crawler.scope_changed |= find_shorter_ways(&mut *recorder.store)?;
            }
            let mut after = PageId(0);
            loop {
                let some = recorder.store.pages_to_read(rules, after, AT_ONCE)?;
                let Some(last) = some.last() else { break };
                after = last.page;
                let mut heads = heads_of(&mut *recorder.store, &some)?;
                let mut some = some.into_iter().peekable();
                while some.peek().is_some() {
                    crawler.read_some(recorder, &mut some, &mut heads, &mut done)?;
                }
                progress(u64::try_from(after.0).unwrap_or(0).min(crawler.pages), crawler.pages);
            }
            // They were counted when the pages were first read.
            let _ = crawler.verifier.take_refusals();
            crawler.pages += done.new;
            crawler.scope_changed |= done.new > 0;
            recorder.store.set_note(READ_BY, &rules.to_string())?;
            Ok(done)
        })
    }

    /// Reads pages until their bodies are as many bytes as may be held at once.
    fn read_some(
        &mut self,
        recorder: &mut Recorder,
        pages: &mut impl Iterator<Item = PageToRead>,
        heads: &mut HashMap<PageId, AnswerHead>,
        done: &mut LinksReadAgain,
    ) -> Result<(), CrawlError> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < MOST_BYTES
            && let Some(page) = pages.next()
        {
            match stored_answer(&mut *recorder.store, &page, heads.remove(&page.page))? {
                Some(stored) => {
                    bytes += stored.answer.body.len();
                    taken.push((page, stored));
                }
                None => done.left += 1,
            }
        }
        let (observer, asked) = (&self.observer, taken.len() as u64);
        let read: Vec<ReadLinks> =
            taken.into_par_iter().filter_map(|(page, stored)| links_of(observer, page, &stored)).collect();
        done.left += asked - read.len() as u64;
        let (mut found, mut reread): (Vec<NewPage>, Vec<LinksReread>) = Default::default();
        for ReadLinks { page, links } in read {
            let source = LinkSource {
                depth: page.depth.saturating_add(1),
                seed: Some(page.seed),
                page: Some(page.page),
            };
            let targets: Vec<Fingerprint> = links.iter().map(|link| link.url.fingerprint()).collect();
            let admitted = self.verifier.admit(links, &source);
            found.extend(admitted.new);
            found.extend(admitted.unsure);
            let links = known_of(&self.verifier, targets);
            reread.push(LinksReread { page: page.page, rules: self.settings.rules, links });
        }
        done.pages += reread.len() as u64;
        let batch = Batch { found, reread, now: Timestamp::now(), ..Batch::default() };
        done.new += recorder.take_in(batch)?.len() as u64;
        Ok(())
    }
}

/// The heads of the answers that brought the versions of these pages, as far as they are kept whole.
fn heads_of(store: &mut dyn Store, pages: &[PageToRead]) -> Result<HashMap<PageId, AnswerHead>, StoreError> {
    let versions: HashMap<PageId, VersionId> = pages.iter().map(|page| (page.page, page.version)).collect();
    let ids: Vec<PageId> = pages.iter().map(|page| page.page).collect();
    let kept = store.answers_of(&ids)?.into_iter();
    let current = kept.filter(|kept| versions.get(&kept.page) == Some(&kept.version) && !kept.head.is_cut);
    Ok(current.map(|KeptAnswer { page, head, .. }| (page, head)).collect())
}

/// The answer that brought the stored version of a page; `None` if its body is not stored.
fn stored_answer(
    store: &mut dyn Store,
    page: &PageToRead,
    head: Option<AnswerHead>,
) -> Result<Option<StoredAnswer>, StoreError> {
    // If links were taken of it, its headers did not ask to leave them alone.
    let may_follow = head.is_some() || page.has_links;
    let Some(content) = store.version(page.version)? else { return Ok(None) };
    let content = StoredContent { content_type: page.content_type.clone(), ..content };
    let answer = answer_of(content, head.as_ref());
    Ok(Some(StoredAnswer { answer, may_follow }))
}

/// The links of a page, and the page that it names as canonical. `None` if it has links, and its headers are not known and may
/// have asked to leave them alone.
fn links_of(observer: &Observer, page: PageToRead, stored: &StoredAnswer) -> Option<ReadLinks> {
    let mut links = Vec::new();
    if let Ok(url) = Url::parse(&page.url)
        && let Some((document, nofollow)) = observer.read_for_links(&url, &stored.answer)
    {
        let taken = observer.links(&url, &document, nofollow);
        links.extend(taken.filter_map(|link| {
            Some(Candidate { url: link.judge().ok()?, lastmod: link.lastmod, anchor: None })
        }));
        if !stored.may_follow && !links.is_empty() {
            return None;
        }
        links.extend(observer.canonical(&url, &document).map(|url| Candidate {
            url,
            lastmod: None,
            anchor: None,
        }));
    }
    Some(ReadLinks { page, links })
}

/// Goes through the links among known pages, and notes the pages that are fewer links from a seed than was known: they were
/// found on a longer way first. Says whether there are any.
fn find_shorter_ways(store: &mut dyn Store) -> Result<bool, StoreError> {
    let mut depths: HashMap<PageId, Depth> = HashMap::new();
    let mut ids: HashMap<u64, PageId> = HashMap::new();
    store.each_address(&mut |page| {
        depths.insert(page.id, page.depth);
        ids.insert(page.fingerprint.prefix(), page.id);
    })?;
    let mut shorter: HashMap<PageId, Depth> = HashMap::new();
    for _ in 0..MOST_ROUNDS {
        let mut is_done = true;
        store.each_links(&mut |page, targets| {
            let Some(depth) = depths.get(&page).map(|depth| depth.saturating_add(1)) else { return };
            for target in targets.iter().filter_map(|target| ids.get(target)) {
                if let Some(known) = depths.get_mut(target).filter(|known| **known > depth) {
                    *known = depth;
                    shorter.insert(*target, depth);
                    is_done = false;
                }
            }
        })?;
        if is_done {
            break;
        }
    }
    let rows = Commit { depths: shorter.into_iter().collect(), now: Timestamp::now(), ..Commit::default() };
    if rows.depths.is_empty() {
        return Ok(false);
    }
    store.commit(&rows)?;
    Ok(true)
}
