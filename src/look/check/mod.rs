//! One page asked for now, and everything that a crawl would make of it. Nothing is stored.
//!
//! The page is read by the crawl's own [`Observer`], its redirects are followed by the crawl's own rules, and its links
//! are judged by a [`crate::unique::UniquenessVerifier`] that is thrown away.

pub mod ask;
mod links;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::change::fragment::Fragments;
use crate::change::segment::count_words;
use crate::change::sketch::Sketch;
use crate::crawl::observe::{Observer, ReadPage};
use crate::extract::{Hints, MediaKind, essence};
use crate::fetch::visit::{Answer, Outcome};
use crate::fetch::web::Web;
use crate::page::{Host, PageUrl};
use crate::time::Timestamp;
use crate::unique::{Refusal, Scope};

use ask::{AskedPage, Asker, Ended, Hop};
use links::DryCrawl;
pub use links::JudgedLink;

/// A page that was asked for now, and what a crawl would make of it.
#[derive(Clone, Debug, Serialize)]
pub struct PageCheck {
    /// The page asked for, in normal form.
    pub url: String,
    /// When it was asked for.
    pub at: Timestamp,
    /// Whether there is a page.
    #[serde(rename = "is_fetched")]
    pub fetched: bool,
    /// How a crawl would record the visit, or why it would put it off.
    pub outcome: &'static str,
    /// Why it was not fetched.
    pub reason: Option<String>,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Bytes of the bodies received.
    #[serde(rename = "received_bytes")]
    pub bytes: u64,
    /// The URLs on the way, one at least.
    pub hops: Vec<CheckedHop>,
    /// The page itself, if there is one.
    #[serde(rename = "document")]
    pub page: Option<CheckedPage>,
}

/// One URL on the way.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedHop {
    /// The URL.
    pub url: String,
    /// The verdict of its host's robots.txt.
    pub robots: CheckedRobots,
    /// Why a crawl that has the first URL as its only seed would not come here; `None`: it would.
    #[serde(rename = "refused_for")]
    pub refused: Option<&'static str>,
    /// How it ended.
    pub outcome: &'static str,
    /// Why it brought nothing, in words.
    pub reason: Option<String>,
    /// Where it redirects to.
    pub redirect_to: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The address that answered.
    pub address: Option<IpAddr>,
    /// How long it took.
    #[serde(rename = "took_ms")]
    pub milliseconds: Option<f64>,
    /// Bytes of the body, decoded.
    #[serde(rename = "body_bytes")]
    pub bytes: Option<usize>,
    /// The headers that matter to a crawl.
    #[serde(rename = "chosen_headers")]
    pub headers: BTreeMap<&'static str, String>,
}

/// The verdict of a host's robots.txt.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedRobots {
    /// `None`: it could not be fetched, or was not asked for.
    pub allowed: Option<bool>,
    /// The rule that decides; `None` if no rule matches the URL.
    pub rule: Option<String>,
    /// The status it was answered with.
    pub status: Option<u16>,
    /// Why it could not be fetched, in words.
    pub reason: Option<String>,
    /// Seconds between two requests that it asks for.
    #[serde(rename = "crawl_delay_seconds")]
    pub crawl_delay: Option<f64>,
    /// Seconds between two requests that are kept.
    #[serde(rename = "delay_seconds")]
    pub delay: Option<f64>,
    /// The sitemaps it names.
    pub sitemaps: Vec<String>,
}

/// The page itself.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedPage {
    /// Where it was found.
    pub url: String,
    /// Its kind: html, text, json, xml, feed or other.
    pub media: &'static str,
    /// Its type, as the server named it, without parameters; `None` if it named none.
    pub content_type: Option<String>,
    /// The command that reads this type of content.
    pub text_command: Option<String>,
    /// Why that command gave no text.
    pub no_text: Option<String>,
    /// Its charset; `None` for kinds that are not read.
    pub charset: Option<&'static str>,
    /// Its title.
    pub title: Option<String>,
    /// The page that it names as the one it stands for, resolved.
    pub canonical: Option<String>,
    /// It asks not to be indexed.
    pub noindex: bool,
    /// It asks that its links not be followed.
    pub nofollow: bool,
    /// The base of its links, if it names one.
    pub base: Option<String>,
    /// Where it leads by itself.
    pub refresh: Option<CheckedRefresh>,
    /// Words of its text.
    pub words: usize,
    /// Words that the noise rules took away.
    pub words_ignored: usize,
    /// Words of a fragment.
    pub fragment_words: usize,
    /// Distinct fragments of its text.
    pub fragments: usize,
    /// Of these, how many the sketch keeps.
    pub sketch: usize,
    /// Its text, without what the noise rules took away.
    pub text: String,
    /// Its links, judged.
    pub links: Vec<JudgedLink>,
    /// Links beyond those that are taken from one page.
    pub links_dropped: usize,
}

/// A refresh that a page asks for.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedRefresh {
    /// After this time.
    #[serde(rename = "after_seconds")]
    pub seconds: f64,
    /// To this URL, as written.
    pub url: String,
}

/// Headers that decide what becomes of a page.
const HEADERS: [&str; 11] = [
    "location",
    "content-type",
    "content-length",
    "content-encoding",
    "etag",
    "last-modified",
    "cache-control",
    "retry-after",
    "x-robots-tag",
    "link",
    "date",
];

/// Asks for a page, and judges it as a crawl would that has it as its only seed. `scope` has the operator's rules;
/// `paused` is told of each host that is due a pause, and how long.
pub async fn check<W: Web>(
    asker: &mut Asker<W>,
    observer: &Observer,
    scope: Scope,
    url: PageUrl,
    now: Timestamp,
    paused: &mut dyn FnMut(&Host, Duration),
) -> PageCheck {
    let mut crawl = DryCrawl::new(scope, &url);
    let asked = asker.ask(url, paused).await;
    PageCheck::of(&asked, asker, observer, &mut crawl, now)
}

impl PageCheck {
    fn of<W: Web>(
        asked: &AskedPage,
        asker: &Asker<W>,
        observer: &Observer,
        crawl: &mut DryCrawl,
        now: Timestamp,
    ) -> PageCheck {
        let page = asked.answered().map(|(url, answer)| (url, observer.read(url.as_url(), answer)));
        let soft_outcome = page.as_ref().and_then(|(_, page)| page.soft_outcome());
        let reason = asked.failure(soft_outcome.as_ref());
        let mut hops: Vec<CheckedHop> = Vec::new();
        let mut before: Option<&PageUrl> = None;
        for hop in &asked.hops {
            let refused = crawl.refuses(before, &hop.url);
            hops.push(CheckedHop::of(hop, refused, asker));
            // Only a move for good takes the scope of a seed along.
            before = Some(&hop.url).filter(|_| hop.moved());
        }
        let outcome = match soft_outcome {
            Some(outcome) => outcome.code(),
            None => hops.last().map_or("stopped", |hop| hop.outcome),
        };
        let page = page.map(|(url, page)| {
            let links = crawl.judge(&page, &asked.hops, asker, observer);
            let named = asked.answered().and_then(|(_, answer)| answer.header("content-type"));
            let content_type = Some(essence(named)).filter(|named| !named.is_empty());
            CheckedPage::of(page, url, content_type, links, observer)
        });
        PageCheck {
            url: asked.hops.first().map(|hop| hop.url.to_string()).unwrap_or_default(),
            at: now,
            fetched: reason.is_none(),
            outcome,
            reason,
            requests: asked.traffic.requests,
            bytes: asked.traffic.bytes,
            hops,
            page,
        }
    }
}

impl CheckedHop {
    fn of<W: Web>(hop: &Hop, refused: Option<Refusal>, asker: &Asker<W>) -> CheckedHop {
        let visit = match &hop.ended {
            Ended::Visited(visit) => Some(visit),
            Ended::PutOff(_) => None,
        };
        let answer = visit.and_then(|visit| visit.answer.as_ref());
        CheckedHop {
            url: hop.url.to_string(),
            robots: CheckedRobots::of(&hop.url, asker),
            refused: refused.map(|refusal| refusal.name()),
            outcome: match &hop.ended {
                Ended::Visited(visit) => visit.outcome.code(),
                Ended::PutOff(why) => why.name(),
            },
            reason: hop.reason(asker.host(&hop.url.host())),
            redirect_to: visit.and_then(|visit| match &visit.outcome {
                Outcome::Redirected { to, .. } => Some(to.to_string()),
                _ => None,
            }),
            status: answer.map(|answer| answer.status),
            address: answer.and_then(|answer| answer.address),
            milliseconds: visit
                .filter(|_| answer.is_some())
                .map(|visit| (visit.took.as_secs_f64() * 1e4).round() / 10.0),
            bytes: answer.map(|answer| answer.body.len()),
            headers: answer.map(headers).unwrap_or_default(),
        }
    }
}

fn headers(answer: &Answer) -> BTreeMap<&'static str, String> {
    let named = HEADERS.into_iter().filter_map(|name| {
        let values: Vec<_> = answer.headers.get_all(name).iter().collect();
        let texts: Vec<_> = values.iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        (!texts.is_empty()).then(|| (name, texts.join(", ")))
    });
    named.collect()
}

impl CheckedRobots {
    fn of<W: Web>(url: &PageUrl, asker: &Asker<W>) -> CheckedRobots {
        let facts = asker.host(&url.host());
        let robots = facts.and_then(|facts| facts.robots.as_ref());
        let sitemaps = robots.map_or_else(Vec::new, |robots| robots.sitemaps(&url.host()));
        CheckedRobots {
            allowed: robots.map(|robots| robots.allows(url.as_url())),
            rule: asker.deciding_rule(url),
            status: match facts.and_then(|facts| facts.robots_fault.as_ref()) {
                Some(fault) => fault.status,
                None => facts.and_then(|facts| facts.record.as_ref()).map(|record| record.status),
            },
            reason: facts.and_then(|facts| facts.robots_fault.as_ref()).map(|fault| fault.reason.clone()),
            crawl_delay: robots.and_then(|robots| robots.crawl_delay()).map(|delay| delay.as_secs_f64()),
            delay: facts.map(|facts| facts.delay.as_secs_f64()),
            sitemaps: sitemaps.iter().map(ToString::to_string).collect(),
        }
    }
}

impl CheckedPage {
    fn of(
        page: ReadPage,
        url: &PageUrl,
        content_type: Option<String>,
        links: Vec<JudgedLink>,
        observer: &Observer,
    ) -> CheckedPage {
        let (noindex, nofollow) = (page.noindex(), page.nofollow());
        let ReadPage { kind, document, words_ignored, command: text_command, no_text, .. } = page;
        let charset = document.as_ref().map(|document| document.charset);
        let links_dropped = document.as_ref().map_or(0, |document| document.links_dropped);
        let (text, title, hints) = match document {
            Some(document) => (document.text, document.title, document.hints),
            None => (String::new(), None, Hints::default()),
        };
        let fragments = Fragments::of(&text, observer.change.fragment_words);
        let base = hints.base.as_deref().and_then(|base| url.as_url().join(base).ok());
        let canonical = hints.canonical.map(|href| {
            let resolved = base.as_ref().unwrap_or(url.as_url()).join(&href).map(|url| url.to_string());
            resolved.unwrap_or(href)
        });
        CheckedPage {
            url: url.to_string(),
            media: match kind {
                MediaKind::Html => "html",
                MediaKind::Text => "text",
                MediaKind::Json => "json",
                MediaKind::Xml => "xml",
                MediaKind::Feed => "feed",
                MediaKind::Other => "other",
            },
            content_type,
            text_command,
            no_text,
            charset,
            title,
            canonical,
            noindex,
            nofollow,
            base: hints.base,
            refresh: hints
                .refresh
                .map(|refresh| CheckedRefresh { seconds: refresh.seconds, url: refresh.url }),
            words: count_words(&text),
            words_ignored,
            fragment_words: observer.change.fragment_words,
            fragments: fragments.len(),
            sketch: Sketch::of(&fragments, observer.change.sketch).hashes().len(),
            text,
            links,
            links_dropped,
        }
    }
}
