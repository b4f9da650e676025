//! A visit → what it says: the document, its links in normal form, the content to keep.
//!
//! Runs on the task that fetched the page, many at a time; it touches neither the store nor what is known.

use reqwest::header::HeaderMap;
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::change::changed_when::ChangedWhen;
use crate::change::{self, ChangeSettings};
use crate::extract::hints::robots_tag;
use crate::extract::sitemap::{self, Sitemap};
use crate::extract::soft_error::{SoftError, soft_error};
use crate::extract::text_rules::TextRules;
use crate::extract::{self, Document, MediaKind, feed};
use crate::fetch::visit::{Answer, Failure, Outcome, Subject, Validators, Visit};
use crate::observation::Observation;
use crate::page::{Fingerprint, Host, Normaliser, PageUrl, Sites, UrlError};
use crate::store::{Content, ReadContent, version};
use crate::unique::{Candidate, Refusal};

/// What the observer goes by.
#[derive(Debug)]
pub struct Observer {
    pub normaliser: Normaliser,
    pub links_per_page: usize,
    /// Honour `nofollow` in pages, headers and links.
    pub obey_nofollow: bool,
    /// Whom agent-specific X-Robots-Tag values are read for.
    pub product_token: String,
    pub sitemap_bytes: usize,
    pub reading: Reading,
    pub change: ChangeSettings,
}

/// How pages are read: the rules for every site, and those of single ones.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub general: SiteReading,
    pub sites: Sites<SiteReading>,
}

/// What of the pages of a site counts, and when they have changed.
#[derive(Clone, Debug, Default)]
pub struct SiteReading {
    pub rules: TextRules,
    pub changed: ChangedWhen,
}

impl Reading {
    /// How the page at `url` is read.
    pub fn of(&self, url: &Url) -> &SiteReading {
        let host = Host::of(url);
        host.and_then(|host| self.sites.of(host.name(), Some(host.port()))).unwrap_or(&self.general)
    }
}

/// URLs taken from one sitemap file, by its protocol.
const SITEMAP_ENTRIES: usize = 50_000;

/// Entries of one feed whose dates are read.
const FEED_ENTRIES: usize = 10_000;

/// What a visit says.
#[derive(Debug)]
pub struct Observed {
    pub subject: Subject,
    /// The URL that was asked for.
    pub url: Url,
    pub observation: Observation,
    pub content: Option<Content>,
    /// A hash of the rules that left the text.
    pub text_rules: u64,
    pub changed_when: ChangedWhen,
    /// What the host was asked to compare.
    pub validator: Option<&'static str>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub noindex: bool,
    pub links: Vec<Candidate>,
    /// The dates of its entries in UTC seconds, if it is a feed.
    pub entry_dates: Option<Vec<i64>>,
    /// Links that are none, by reason.
    pub refused: Vec<(Refusal, u64)>,
    /// Where the page says it really lives, when that is another page on its host.
    pub canonical: Option<PageUrl>,
    /// Where a redirect leads.
    pub redirect: Option<Result<PageUrl, UrlError>>,
    pub sitemap: Option<Sitemap>,
}

impl Observer {
    pub fn observe(&self, visit: Visit) -> Observed {
        let Visit { request, at, took, outcome, answer } = visit;
        let redirect = match &outcome {
            Outcome::Redirected { to, .. } => Some(self.normaliser.normalise(to.clone())),
            _ => None,
        };
        let reading = self.reading.of(&request.url);
        let mut observed = Observed {
            subject: request.subject,
            text_rules: reading.rules.hash(),
            changed_when: reading.changed,
            validator: validator(&request.validators),
            observation: Observation {
                at,
                status: answer.as_ref().map(|answer| answer.status),
                bytes: answer.as_ref().map_or(0, |answer| answer.body.len() as u64),
                took,
                outcome,
            },
            url: request.url,
            content: None,
            etag: None,
            last_modified: None,
            noindex: false,
            links: Vec::new(),
            entry_dates: None,
            refused: Vec::new(),
            canonical: None,
            redirect,
            sitemap: None,
        };
        let too_large = Outcome::Failed(Failure::TooLarge);
        if let Some(answer) = answer {
            match request.subject {
                Subject::Page(_) if observed.observation.outcome == Outcome::Fetched => {
                    self.read_page(&mut observed, &answer, request.validators.body, &reading.rules);
                }
                // Not kept: it is no whole page. The links it began with are as good as any.
                Subject::Page(_) if observed.observation.outcome == too_large => {
                    self.read_beginning(&mut observed, &answer)
                }
                Subject::Page(_) => {}
                Subject::Sitemap { .. } => {
                    observed.sitemap = sitemap::read(&answer.body, SITEMAP_ENTRIES, self.sitemap_bytes).ok();
                }
            }
        }
        observed
    }

    fn read_beginning(&self, observed: &mut Observed, answer: &Answer) {
        let content_type = answer.header("content-type");
        if extract::media_kind(content_type, &answer.body) == MediaKind::Html {
            let tag = robots_tag(header_values(&answer.headers, "x-robots-tag"), &self.product_token);
            let document = extract::html(&answer.body, content_type, self.links_per_page);
            self.read_document(observed, document, tag.nofollow);
            observed.canonical = None;
        }
    }

    fn read_page(&self, observed: &mut Observed, answer: &Answer, held: Option<u128>, rules: &TextRules) {
        let body_hash = xxh3_128(&answer.body);
        observed.etag = answer.header("etag").map(str::to_owned);
        observed.last_modified = answer.header("last-modified").map(str::to_owned);
        let tag = robots_tag(header_values(&answer.headers, "x-robots-tag"), &self.product_token);
        observed.noindex = tag.noindex;
        if held == Some(body_hash) {
            // What we hold: its links are known, its text is stored.
            observed.content = Some(Content::Held);
            return;
        }
        let content_type = answer.header("content-type");
        let mut document = extract::document(&answer.body, content_type, self.links_per_page);
        if let Some(document) = &document
            && let kind = extract::media_kind(content_type, &answer.body)
            && let Some(error) = soft_error(kind, document.title.as_deref(), &document.text)
        {
            // It is not the page: nothing of it is kept, and what is held stays.
            observed.observation.outcome = match error {
                SoftError::Missing => Outcome::SoftMissing,
                SoftError::Busy => Outcome::SoftBusy,
            };
            (observed.etag, observed.last_modified) = (None, None);
            return;
        }
        if let Some(document) = &mut document {
            rules.apply(document, &answer.body, content_type);
        }
        let text = document.as_ref().map_or("", |document| document.text.as_str());
        let sketch = document.is_some().then(|| change::sketch(text, self.change));
        match version::pack(&answer.body, text) {
            Ok(packed) => {
                observed.content = Some(Content::Read(ReadContent {
                    body_hash,
                    text_hash: xxh3_128(text.as_bytes()),
                    content_type: content_type.map(str::to_owned),
                    charset: document.as_ref().map(|document| document.charset),
                    body_bytes: answer.body.len(),
                    text_bytes: text.len(),
                    sketch,
                    packed,
                }));
            }
            Err(error) => tracing::error!(url = %observed.url, %error, "this page could not be compressed"),
        }
        observed.entry_dates = feed::entry_dates(&answer.body, content_type, FEED_ENTRIES);
        if let Some(document) = document {
            self.read_document(observed, document, tag.nofollow);
        }
    }

    fn read_document(&self, observed: &mut Observed, document: Document, nofollow: bool) {
        let base = document.hints.base.as_deref().and_then(|base| observed.url.join(base).ok());
        let base = base.as_ref().unwrap_or(&observed.url).clone();
        observed.noindex |= document.hints.noindex;
        let page_nofollow = self.obey_nofollow && (nofollow || document.hints.nofollow);
        let mut tally = Refusals::default();
        tally.add(Refusal::LinksPerPage, document.links_dropped as u64);
        let refresh = document.hints.refresh.iter().map(|refresh| (refresh.url.as_str(), false));
        let links = document.links.iter().map(|link| (link.href.as_str(), link.nofollow));
        let mut last: Option<Fingerprint> = None;
        for (href, link_nofollow) in refresh.chain(links) {
            if page_nofollow || (self.obey_nofollow && link_nofollow) {
                tally.add(Refusal::NoFollow, 1);
                continue;
            }
            match self.normaliser.join(&base, href) {
                Ok(url) => {
                    // Runs of links to one page (`#a`, `#b`) are common: the cheapest place to drop them is here.
                    if last != Some(url.fingerprint()) {
                        last = Some(url.fingerprint());
                        observed.links.push(Candidate { url, lastmod: None });
                    }
                }
                Err(error) => tally.add(Refusal::from(&error), 1),
            }
        }
        observed.refused = tally.0;
        observed.canonical = document
            .hints
            .canonical
            .as_deref()
            .and_then(|href| self.normaliser.join(&base, href).ok())
            .filter(|canonical| Host::of(&observed.url).is_some_and(|host| canonical.host() == host));
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

#[derive(Default)]
struct Refusals(Vec<(Refusal, u64)>);

impl Refusals {
    fn add(&mut self, reason: Refusal, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, total)) => *total += count,
            None => self.0.push((reason, count)),
        }
    }
}

/// The values of a header that may come more than once.
pub fn header_values<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}
