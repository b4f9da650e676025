//! Reading a visit: the document, its links in normal form, and the content to keep.
//!
//! Visits are read on the tasks that fetched them, many at a time, without the store and without the set of known pages.
//! [`Observer::read`] and [`Observer::links`] serve whoever wants to know how a crawl reads a page.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use url::Url;

use super::batch::Content;
use super::text_command::TextCommands;
use crate::change::changed_when::ChangedWhen;
use crate::change::segment::count_words;
use crate::change::{self, ChangeSettings};
use crate::extract::hints::{RobotsTag, robots_tag};
use crate::extract::sitemap::{self, Sitemap};
use crate::extract::soft_error::{SoftError, soft_error};
use crate::extract::text_rules::TextRules;
use crate::extract::{self, Document, MediaKind, anchors};
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::robots::ProductTokens;
use crate::fetch::visit::{Answer, Failure, Outcome, Subject, Validators, Visit};
use crate::observation::Attempt;
use crate::observation::validate::is_safe_date;
use crate::page::{Fingerprint, Host, Normaliser, PageUrl, Sites, UrlError};
use crate::store::{ReadContent, version};
use crate::unique::{Candidate, Refusal, RefusalCounts};

/// Reads visits, by these settings.
#[derive(Debug)]
pub struct Observer {
    /// Gives URLs their one spelling.
    pub normaliser: Normaliser,
    /// Links taken from one page.
    pub links_per_page: usize,
    /// Honour `nofollow` in pages, headers and links.
    pub obey_nofollow: bool,
    /// The name that `X-Robots-Tag` headers and `<meta>` tags of a host are read for.
    pub product_tokens: ProductTokens,
    /// Bytes of a sitemap that are read, unpacked.
    pub sitemap_bytes: usize,
    /// Which text of a page counts, by site.
    pub reading: Reading,
    /// How sketches are made.
    pub change: ChangeSettings,
    /// The words of links are wanted.
    pub anchors: bool,
}

/// How pages are read, by site.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// For sites that have no rules of their own.
    pub general: SiteReading,
    /// For the sites that have.
    pub sites: Sites<SiteReading>,
    /// For the types of content that freshet can't read.
    pub commands: TextCommands,
}

/// How the pages of a site are read.
#[derive(Clone, Debug, Default)]
pub struct SiteReading {
    /// Which text of a page counts.
    pub rules: TextRules,
    /// When a page has changed.
    pub changed: ChangedWhen,
}

impl Reading {
    /// How the page at `url` is read.
    pub fn of(&self, url: &Url) -> &SiteReading {
        let host = Host::of(url);
        host.and_then(|host| self.sites.of(host.name(), Some(host.port()))).unwrap_or(&self.general)
    }

    /// Whether a text with this hash, of a content of this type at `url`, was left by these rules and commands.
    pub(super) fn have_read(&self, url: &Url, content_type: Option<&str>, hash: u64) -> bool {
        self.of(url).rules.have_read(hash ^ self.commands.hash_of(content_type))
    }

    /// Does reading this visit take long, because a command has to?
    pub(super) fn takes_long(&self, visit: &Visit) -> bool {
        let answer = visit.answer.as_ref().filter(|_| visit.outcome == Outcome::Fetched);
        answer.is_some_and(|answer| self.commands.of(answer.header("content-type")).is_some())
    }
}

/// URLs taken from one sitemap file: the limit of the sitemap protocol.
const SITEMAP_ENTRIES: usize = 50_000;

/// A visit, read.
#[derive(Debug)]
pub struct Observed {
    /// The subject of the request.
    pub subject: Subject,
    /// The URL that was asked for.
    pub url: Url,
    /// How the visit ended.
    pub attempt: Attempt,
    /// The content, if the page was fetched whole.
    pub content: Option<Content>,
    /// The answer that the content came with.
    pub answer: Option<AnswerHead>,
    /// A hash of the rules by which its text was read.
    pub text_rules: u64,
    /// When the page counts as changed.
    pub changed_when: ChangedWhen,
    /// The validators that the request named.
    pub validator: Option<&'static str>,
    /// The `ETag` of the answer.
    pub etag: Option<String>,
    /// The `Last-Modified` of the answer.
    pub last_modified: Option<String>,
    /// The server can be asked by that date whether the page changed.
    pub has_safe_date: bool,
    /// The page or its headers ask not to be indexed.
    pub noindex: bool,
    /// The pages that it links to, in normal form.
    pub links: Vec<Candidate>,
    /// The dates of its entries in UTC seconds, if it is a feed.
    pub entry_dates: Option<Vec<i64>>,
    /// Links that were refused before anything was asked about their pages.
    pub refused: RefusalCounts,
    /// The page that this one names as canonical, on the same host.
    pub canonical: Option<PageUrl>,
    /// Where a redirect leads.
    pub redirect: Option<Result<PageUrl, UrlError>>,
    /// The sitemap, if one was asked for and can be read.
    pub sitemap: Option<ReadSitemap>,
}

/// A sitemap file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSitemap {
    /// Its entries.
    pub entries: Sitemap,
    /// A hash of its bytes.
    pub body_hash: u128,
}

impl Observer {
    /// Reads a visit.
    pub fn observe(&self, visit: Visit) -> Observed {
        let Visit { request, at, took, outcome, reason, answer } = visit;
        let redirect_to = match &outcome {
            Outcome::Redirected { to, .. } => Some(to.clone()),
            _ => None,
        };
        let redirect = redirect_to.clone().map(|to| self.normaliser.normalise(to));
        let reading = self.reading.of(&request.url);
        let mut observed = Observed {
            subject: request.subject,
            text_rules: reading.rules.hash(),
            changed_when: reading.changed,
            validator: validator(&request.validators),
            attempt: Attempt {
                at,
                status: answer.as_ref().map(|answer| answer.status),
                bytes: answer.as_ref().map_or(0, |answer| answer.body.len() as u64),
                took,
                outcome,
                reason,
                redirect_to,
            },
            url: request.url,
            content: None,
            answer: None,
            etag: None,
            last_modified: None,
            has_safe_date: false,
            noindex: false,
            links: Vec::new(),
            entry_dates: None,
            refused: RefusalCounts::default(),
            canonical: None,
            redirect,
            sitemap: None,
        };
        let too_large = Outcome::Failed(Failure::TooLarge);
        if let Some(answer) = answer {
            match request.subject {
                Subject::Page(_) if observed.attempt.outcome == Outcome::Fetched => {
                    self.keep_page(&mut observed, &answer, request.validators.body);
                }
                // The body is not whole, so it is not kept. Its links count.
                Subject::Page(_) if observed.attempt.outcome == too_large => {
                    self.keep_links_of_beginning(&mut observed, &answer);
                }
                Subject::Page(_) => {}
                Subject::Sitemap { .. } => self.keep_sitemap(&mut observed, &answer),
            }
        }
        observed
    }

    fn keep_sitemap(&self, observed: &mut Observed, answer: &Answer) {
        let Ok(entries) = sitemap::read(&answer.body, SITEMAP_ENTRIES, self.sitemap_bytes) else { return };
        let body_hash = version::first_half(&version::sha256(&answer.body));
        observed.sitemap = Some(ReadSitemap { entries, body_hash });
        self.keep_validators(observed, answer);
    }

    /// Takes what the server can be asked by whether the content has changed.
    fn keep_validators(&self, observed: &mut Observed, answer: &Answer) {
        observed.etag = answer.header("etag").map(str::to_owned);
        observed.last_modified = answer.header("last-modified").map(str::to_owned);
        let is_safe = |modified: &str| is_safe_date(modified, answer.header("date"), observed.attempt.at);
        observed.has_safe_date = observed.last_modified.as_deref().is_some_and(is_safe);
    }

    /// Reads the answer of the page at `url`: its document, by the site's noise rules, and whether it is the page at all.
    pub fn read(&self, url: &Url, answer: &Answer) -> ReadPage {
        let content_type = answer.header("content-type");
        let kind = extract::media_kind(content_type, &answer.body);
        let command = self.reading.commands.of(content_type);
        let (mut document, no_text) = match command.map(|command| command.run(&answer.body)) {
            None => (extract::document(&answer.body, content_type, self.links_per_page), None),
            Some(Ok(text)) => (Some(Document::of_text(text, "UTF-8")), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let command = command.map(|command| command.as_str().to_owned());
        let mut words_ignored = 0;
        let mut error = None;
        if let Some(document) = &mut document {
            error = soft_error(kind, document.title.as_deref(), &document.text, &answer.body);
            let rules = &self.reading.of(url).rules;
            if !rules.is_empty() {
                let words = count_words(&document.text);
                rules.apply(document, &answer.body, content_type);
                words_ignored = words.saturating_sub(count_words(&document.text));
            }
        }
        let header = self.header_tag(url, answer);
        let own = document.as_ref().map_or_else(RobotsTag::default, |document| self.page_tag(url, document));
        ReadPage { kind, document, command, no_text, soft_error: error, header, own, words_ignored }
    }

    /// Reads the answer of the page at `url` for its links alone, without noise rules and commands. With it comes whether the
    /// page or its headers ask that none of them be followed.
    pub(super) fn read_for_links(&self, url: &Url, answer: &Answer) -> Option<(Document, bool)> {
        let content_type = answer.header("content-type");
        // What a command prints has no links.
        if self.reading.commands.of(content_type).is_some() {
            return None;
        }
        let document = extract::document(&answer.body, content_type, self.links_per_page)?;
        let nofollow = self.header_tag(url, answer).nofollow || self.page_tag(url, &document).nofollow;
        Some((document, nofollow))
    }

    /// Reads a body that is stored of the page at `url`, as if it came today.
    pub fn read_again(&self, url: &Url, body: &[u8], content_type: Option<&str>) -> ReadPage {
        let mut headers = HeaderMap::new();
        if let Some(content_type) = content_type.and_then(|name| HeaderValue::from_str(name).ok()) {
            headers.insert(CONTENT_TYPE, content_type);
        }
        let body = Bytes::copy_from_slice(body);
        let protocol = Default::default();
        self.read(
            url,
            &Answer { status: 200, headers, body, cut: false, address: None, protocol, place: None },
        )
    }

    /// The links of a document that stands at `url`, a refresh first. `page_nofollow`: the page asks that none be followed.
    pub fn links<'a>(
        &'a self,
        url: &Url,
        document: &'a Document,
        page_nofollow: bool,
    ) -> impl Iterator<Item = FoundLink<'a>> + use<'a> {
        let base = Arc::new(document.base(url));
        let refresh = document.hints.refresh.iter().map(|refresh| (refresh.url.as_str(), false, None));
        let links = document.links.iter().map(|link| (link.href.as_str(), link.nofollow, link.lastmod));
        refresh.chain(links).map(move |(href, nofollow, lastmod)| FoundLink {
            href,
            nofollow: nofollow || page_nofollow,
            lastmod,
            // Most documents have one base and many links: the base is shared, not copied.
            base: Arc::clone(&base),
            observer: self,
        })
    }

    /// The page that a document at `url` names as the one it stands for, if that is on the same host.
    pub fn canonical(&self, url: &Url, document: &Document) -> Option<PageUrl> {
        let canonical =
            self.normaliser.join(&document.base(url), document.hints.canonical.as_deref()?).ok()?;
        Some(canonical).filter(|canonical| Host::of(url).is_some_and(|host| canonical.host() == host))
    }

    /// What the headers of the answer of the page at `url` ask of us.
    fn header_tag(&self, url: &Url, answer: &Answer) -> RobotsTag {
        robots_tag(header_values(&answer.headers, "x-robots-tag"), self.token(url))
    }

    /// What the page at `url` itself asks of us.
    fn page_tag(&self, url: &Url, document: &Document) -> RobotsTag {
        document.hints.robots_for(self.token(url))
    }

    /// The name that the rules of a page's host are read for.
    fn token(&self, url: &Url) -> &str {
        Host::of(url).map_or("*", |host| self.product_tokens.of(&host))
    }

    /// Takes the content and the links of a page that was fetched whole. `held`: the hash of the body that is held.
    fn keep_page(&self, observed: &mut Observed, answer: &Answer, held: Option<u128>) {
        let sha256 = version::sha256(&answer.body);
        let body_hash = version::first_half(&sha256);
        self.keep_validators(observed, answer);
        if held == Some(body_hash) {
            // The text is stored and the links are known already.
            observed.noindex = self.header_tag(&observed.url, answer).noindex;
            observed.content = Some(Content::Held);
            observed.answer = Some(AnswerHead::of(answer, observed.attempt.at));
            return;
        }
        let page = self.read(&observed.url, answer);
        observed.noindex = page.header.noindex;
        if let Some(outcome) = page.soft_outcome() {
            // This is not the page: nothing of it is kept, and what is held stays.
            observed.attempt.outcome = outcome;
            (observed.etag, observed.last_modified) = (None, None);
            return;
        }
        if let Some(why) = &page.no_text {
            tracing::warn!(url = %observed.url, "stored without text: {why}");
        }
        let content_type = answer.header("content-type");
        let rules = &self.reading.of(&observed.url).rules;
        let left_by = page.document.as_ref().map_or_else(|| rules.hash(), |document| rules.hash_of(document));
        observed.text_rules = left_by ^ self.reading.commands.hash_of(content_type);
        let text = page.document.as_ref().map_or("", |document| document.text.as_str());
        let sketch = page.document.is_some().then(|| change::sketch(text, self.change));
        match version::pack(&answer.body, text) {
            Ok(packed) => {
                observed.answer = Some(AnswerHead::of(answer, observed.attempt.at));
                observed.content = Some(Content::Read(ReadContent {
                    sha256,
                    body_hash,
                    text_hash: version::content_hash(text.as_bytes()),
                    content_type: content_type.map(str::to_owned),
                    charset: page.document.as_ref().map(|document| document.charset),
                    body_bytes: answer.body.len(),
                    text_bytes: text.len(),
                    title: extract::title(&answer.body, content_type, page.document.as_ref())
                        .map(String::into_boxed_str),
                    sketch,
                    packed,
                }));
            }
            Err(error) => tracing::error!(url = %observed.url, %error, "this page could not be compressed"),
        }
        if let Some(document) = &page.document {
            observed.entry_dates.clone_from(&document.entry_dates);
            self.keep_links(observed, document, answer, page.nofollow());
            observed.noindex = page.noindex();
            observed.canonical = self.canonical(&observed.url, document);
        }
    }

    /// Takes the links that the beginning of a long page or feed holds.
    fn keep_links_of_beginning(&self, observed: &mut Observed, answer: &Answer) {
        let content_type = answer.header("content-type");
        let has_links =
            matches!(extract::media_kind(content_type, &answer.body), MediaKind::Html | MediaKind::Feed);
        if has_links
            && let Some(document) = extract::document(&answer.body, content_type, self.links_per_page)
        {
            let asked = self.page_tag(&observed.url, &document);
            observed.noindex = asked.noindex;
            let nofollow = self.header_tag(&observed.url, answer).nofollow || asked.nofollow;
            self.keep_links(observed, &document, answer, nofollow);
        }
    }

    fn keep_links(&self, observed: &mut Observed, document: &Document, answer: &Answer, page_nofollow: bool) {
        let anchors = if self.anchors {
            anchors::anchors(&answer.body, answer.header("content-type"))
        } else {
            HashMap::new()
        };
        observed.refused.add(Refusal::LinksPerPage, document.links_dropped as u64);
        let mut last: Option<Fingerprint> = None;
        for link in self.links(&observed.url, document, page_nofollow) {
            match link.judge() {
                // Runs of links to one page (`#a`, `#b`) are common: the cheapest place to drop them is here.
                Ok(url) if last == Some(url.fingerprint()) => {}
                Ok(url) => {
                    last = Some(url.fingerprint());
                    let anchor = anchors.get(link.href).cloned();
                    observed.links.push(Candidate { url, lastmod: link.lastmod, anchor });
                }
                Err(reason) => observed.refused.add(reason, 1),
            }
        }
    }
}

/// An answer, read.
#[derive(Clone, Debug)]
pub struct ReadPage {
    /// The kind of content.
    pub kind: MediaKind,
    /// The document, without the text that the noise rules leave out; `None` for kinds of content that are not read.
    pub document: Option<Document>,
    /// The command that reads this type of content.
    pub command: Option<String>,
    /// Why that command gave no text.
    pub no_text: Option<String>,
    /// The answer says 200, but it is not the page.
    pub soft_error: Option<SoftError>,
    /// What the headers ask of us.
    pub header: RobotsTag,
    /// What the page itself asks of us.
    pub own: RobotsTag,
    /// Words that the noise rules left out.
    pub words_ignored: usize,
}

impl ReadPage {
    /// The outcome of a visit that brought something else instead of the page.
    pub fn soft_outcome(&self) -> Option<Outcome> {
        self.soft_error.map(|error| match error {
            SoftError::Missing => Outcome::SoftMissing,
            SoftError::Busy => Outcome::SoftBusy,
            SoftError::Wall => Outcome::Wall,
        })
    }

    /// Do the headers or the page ask not to be indexed?
    pub fn noindex(&self) -> bool {
        self.header.noindex || self.own.noindex
    }

    /// Do the headers or the page ask that none of its links be followed?
    pub fn nofollow(&self) -> bool {
        self.header.nofollow || self.own.nofollow
    }
}

/// A link as it stands in a document.
#[derive(Clone, Debug)]
pub struct FoundLink<'a> {
    /// As written.
    pub href: &'a str,
    /// The link or its page asks not to be followed.
    pub nofollow: bool,
    /// When the page that it leads to changed last, by the entry of a feed, in UTC seconds.
    pub lastmod: Option<i64>,
    base: Arc<Url>,
    observer: &'a Observer,
}

impl FoundLink<'_> {
    /// The page it leads to, in normal form.
    pub fn target(&self) -> Result<PageUrl, UrlError> {
        self.observer.normaliser.join(&self.base, self.href)
    }

    /// The page it leads to, or why the crawl takes no notice of it. Scope is judged later, where pages are admitted.
    pub fn judge(&self) -> Result<PageUrl, Refusal> {
        if self.nofollow && self.observer.obey_nofollow {
            return Err(Refusal::NoFollow);
        }
        self.target().map_err(|error| Refusal::from(&error))
    }
}

fn validator(held: &Validators) -> Option<&'static str> {
    match (held.etag.is_some(), held.last_modified.is_some()) {
        (true, true) => Some("etag, last-modified"),
        (true, false) => Some("etag"),
        (false, true) => Some("last-modified"),
        (false, false) => None,
    }
}

/// All values of a header.
fn header_values<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
