//! The links of a stored page, judged as a crawl would judge them now. Nothing is asked for, and nothing is written.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::{CrawlError, Crawler};
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::Answer;
use crate::fetch::web::Web;
use crate::page::{Depth, PageId, PageUrl};
use crate::store::{KeptAnswer, StoredContent};
use crate::unique::{Admission, Candidate, LinkSource, Refusal};

/// The links of a stored page.
#[derive(Clone, Debug, Default)]
pub struct StoredLinks {
    /// In their order; a refresh comes first.
    pub links: Vec<StoredLink>,
    /// Links beyond those that are taken from one page.
    pub dropped: usize,
}

/// A link of a stored page.
#[derive(Clone, Debug)]
pub struct StoredLink {
    /// As written in the page.
    pub href: String,
    /// The page it leads to, in normal form; `None` if that is nowhere.
    pub target: Option<PageUrl>,
    /// What a crawl makes of it.
    pub verdict: LinkVerdict,
}

/// What a crawl makes of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkVerdict {
    /// It leads to a page that is known.
    Known,
    /// It is wanted: a crawl that reads the page adds the page it leads to.
    New,
    /// It is not followed.
    Refused(Refusal),
}

impl<W: Web> Crawler<W> {
    /// The links of the stored version of a page, in the order in which they stand there; `None`: nothing is stored of it, or it
    /// is of a kind that has no links. Headers of the answer that brought the version count, as in a crawl. No command runs.
    pub fn stored_links(
        &mut self,
        page: PageId,
        url: &str,
        depth: Depth,
    ) -> Result<Option<StoredLinks>, CrawlError> {
        let Some(content) = self.store()?.content(page)? else { return Ok(None) };
        let Ok(here) = self.observer.normaliser.parse(url) else { return Ok(None) };
        let version = self.store()?.current_version(page)?;
        let is_its = |kept: &KeptAnswer| Some(kept.version) == version;
        let head = self.store()?.answers_of(&[page])?.into_iter().find(is_its).map(|kept| kept.head);
        let observer = self.observer.clone();
        let read = observer.read_for_links(here.as_url(), &answer_of(content, head.as_ref()));
        let Some((document, nofollow)) = &read else { return Ok(None) };
        let source = LinkSource { depth: depth.saturating_add(1), seed: None, page: Some(page) };
        let links = observer.links(here.as_url(), document, *nofollow);
        let links = links.map(|link| {
            let verdict = match link.judge() {
                Err(refusal) => LinkVerdict::Refused(refusal),
                Ok(url) => self.verdict(url, &source),
            };
            StoredLink { href: link.href.to_owned(), target: link.target().ok(), verdict }
        });
        Ok(Some(StoredLinks { links: links.collect(), dropped: document.links_dropped }))
    }

    fn verdict(&mut self, url: PageUrl, source: &LinkSource) -> LinkVerdict {
        match self.verifier.admit_one(Candidate { url, lastmod: None, anchor: None }, source) {
            Admission::Known => LinkVerdict::Known,
            Admission::New(_) | Admission::Unsure(_) => LinkVerdict::New,
            Admission::Refused(refusal) => LinkVerdict::Refused(refusal),
        }
    }
}

/// A stored content as the answer that it came with, with the headers that were kept.
pub(super) fn answer_of(content: StoredContent, head: Option<&AnswerHead>) -> Answer {
    let mut headers = head.map(headers_of).unwrap_or_default();
    if let Some(Ok(kind)) = content.content_type.as_deref().map(HeaderValue::from_str) {
        headers.insert(CONTENT_TYPE, kind);
    }
    Answer::of(200, headers, Bytes::from(content.body))
}

fn headers_of(head: &AnswerHead) -> HeaderMap {
    let named = head.headers.iter().filter_map(|(name, value)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value).ok()?))
    });
    let mut headers = HeaderMap::new();
    named.for_each(|(name, value)| {
        headers.append(name, value);
    });
    headers
}
