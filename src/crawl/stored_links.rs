//! The links of a stored page, judged as a crawl would judge them now. Nothing is asked for, and nothing is written.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::{CrawlError, Crawler};
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::Answer;
use crate::fetch::web::Web;
use crate::page::{Depth, PageId, PageUrl};
use crate::store::StoredContent;
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
    /// is of a kind that has no links. Headers of the last answer that was kept count, as in a crawl.
    pub fn stored_links(
        &mut self,
        page: PageId,
        url: &str,
        depth: Depth,
    ) -> Result<Option<StoredLinks>, CrawlError> {
        let Some(content) = self.store()?.content(page)? else { return Ok(None) };
        let Ok(here) = self.observer.normaliser.parse(url) else { return Ok(None) };
        let kept = self.store()?.answers_of(&[page])?.pop().map(|kept| kept.head);
        let read = self.observer.read(here.as_url(), &answer(content, kept));
        let Some(document) = &read.document else { return Ok(None) };
        let observer = self.observer.clone();
        let source = LinkSource { depth: depth.saturating_add(1), seed: None, page: Some(page) };
        let links = observer.links(here.as_url(), document, read.nofollow());
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
        match self.verifier.admit_one(Candidate { url, lastmod: None }, source) {
            Admission::Known => LinkVerdict::Known,
            Admission::New(_) | Admission::Unsure(_) => LinkVerdict::New,
            Admission::Refused(refusal) => LinkVerdict::Refused(refusal),
        }
    }
}

/// A stored content as the answer that it came with, with the headers that were kept.
fn answer(content: StoredContent, kept: Option<AnswerHead>) -> Answer {
    let mut headers = HeaderMap::new();
    if let Some(kind) = content.content_type.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
        headers.insert(CONTENT_TYPE, kind);
    }
    for (name, value) in kept.map(|head| head.headers).unwrap_or_default() {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(&value))
            && name != CONTENT_TYPE
        {
            headers.append(name, value);
        }
    }
    Answer {
        status: 200,
        protocol: reqwest::Version::HTTP_11,
        headers,
        body: Bytes::from(content.body),
        cut: false,
        address: None,
        place: None,
    }
}
