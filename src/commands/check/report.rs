//! What is told of a page that was checked: the same for people and programs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use freshet::extract::MediaKind;
use freshet::extract::soft_error::SoftError;
use freshet::fetch::visit::{Answer, Outcome};
use freshet::page::PageUrl;
use freshet::time::Timestamp;

use super::super::ask_page::{Asked, Asker, Ended, Hop};
use super::super::page_facts::PageFacts;
use super::links::{JudgedLink, SeedScope, judge};
use crate::settings::Settings;

/// Everything.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The page asked for, in normal form.
    pub url: String,
    pub at: Timestamp,
    pub fetched: bool,
    /// How a crawl would record the visit, or why it would put it off.
    pub outcome: &'static str,
    /// Why it was not fetched.
    pub reason: Option<String>,
    /// Requests sent, robots.txt included, and bytes of the bodies that came.
    pub requests: u64,
    pub bytes: u64,
    pub hops: Vec<HopReport>,
    pub page: Option<PageReport>,
}

/// One URL on the way.
#[derive(Debug, Serialize)]
pub struct HopReport {
    pub url: String,
    pub robots: RobotsReport,
    /// Why a crawl that has the first URL as its only seed would not come here; `None`: it would.
    pub refused: Option<&'static str>,
    pub outcome: &'static str,
    /// Where it redirects to.
    pub to: Option<String>,
    pub status: Option<u16>,
    pub address: Option<IpAddr>,
    pub milliseconds: Option<f64>,
    /// Of the body, decoded.
    pub bytes: Option<usize>,
    pub headers: BTreeMap<&'static str, String>,
}

/// What a host's robots.txt says.
#[derive(Debug, Serialize)]
pub struct RobotsReport {
    /// `None`: it could not be had, or nobody was asked for it.
    pub allowed: Option<bool>,
    /// The rule that decides; `None` if none speaks of the URL.
    pub rule: Option<String>,
    pub status: Option<u16>,
    pub crawl_delay: Option<f64>,
    /// Seconds between two requests that are kept.
    pub delay: Option<f64>,
    pub sitemaps: Vec<String>,
}

/// The page itself.
#[derive(Debug, Serialize)]
pub struct PageReport {
    /// Where it was found.
    pub url: String,
    pub media: &'static str,
    pub charset: Option<&'static str>,
    pub title: Option<String>,
    /// Resolved.
    pub canonical: Option<String>,
    pub noindex: bool,
    pub nofollow: bool,
    pub base: Option<String>,
    pub refresh: Option<RefreshReport>,
    pub words: usize,
    /// Words that the noise rules took away.
    pub words_ignored: usize,
    pub fragment_words: usize,
    pub fragments: usize,
    /// Of these, how many the sketch keeps.
    pub sketch: usize,
    pub text: String,
    pub links: Vec<JudgedLink>,
    /// Links beyond those that are taken from one page.
    pub links_dropped: usize,
}

#[derive(Debug, Serialize)]
pub struct RefreshReport {
    pub seconds: f64,
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

impl Report {
    pub fn of(
        asked: &Asked,
        page: Option<PageFacts>,
        scope: &mut SeedScope,
        asker: &Asker,
        settings: &Settings,
    ) -> Report {
        let soft_error = page.as_ref().and_then(|page| page.soft_error);
        let reason = asked.failure(soft_error);
        let mut hops: Vec<HopReport> = Vec::new();
        let mut before: Option<&PageUrl> = None;
        for hop in &asked.hops {
            let refused = match before {
                None => scope.refuses_seed(&hop.url),
                Some(from) => scope.refuses_redirect(from, &hop.url),
            };
            hops.push(HopReport::of(hop, refused.map(|refusal| refusal.name()), asker));
            before = Some(&hop.url);
        }
        let outcome = match soft_error {
            Some(SoftError::Missing) => Outcome::SoftMissing.code(),
            Some(SoftError::Busy) => Outcome::SoftBusy.code(),
            None => hops.last().map_or("stopped", |hop| hop.outcome),
        };
        let known = asked.hops.iter().map(|hop| hop.url.fingerprint());
        let page = page.zip(asked.hops.last()).map(|(facts, hop)| {
            let links = judge(&facts, &hop.url, known, scope, asker, settings);
            PageReport::of(facts, &hop.url, links, settings)
        });
        Report {
            url: asked.hops.first().map(|hop| hop.url.to_string()).unwrap_or_default(),
            at: Timestamp::now(),
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

impl HopReport {
    fn of(hop: &Hop, refused: Option<&'static str>, asker: &Asker) -> HopReport {
        let visit = match &hop.ended {
            Ended::Visited(visit) => Some(visit),
            Ended::PutOff(_) => None,
        };
        let answer = visit.and_then(|visit| visit.answer.as_ref());
        HopReport {
            url: hop.url.to_string(),
            robots: RobotsReport::of(&hop.url, asker),
            refused,
            outcome: match &hop.ended {
                Ended::Visited(visit) => visit.outcome.code(),
                Ended::PutOff(why) => why.name(),
            },
            to: visit.and_then(|visit| match &visit.outcome {
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

impl RobotsReport {
    fn of(url: &PageUrl, asker: &Asker) -> RobotsReport {
        let facts = asker.host(&url.host());
        let robots = facts.and_then(|facts| facts.robots.as_ref());
        let sitemaps = robots.map_or(&[][..], |robots| robots.sitemaps());
        RobotsReport {
            allowed: robots.map(|robots| robots.allows(url.as_url())),
            rule: asker.deciding_rule(url),
            status: facts.and_then(|facts| facts.record.as_ref()).map(|record| record.status),
            crawl_delay: robots.and_then(|robots| robots.crawl_delay()).map(|delay| delay.as_secs_f64()),
            delay: facts.map(|facts| facts.delay.as_secs_f64()),
            sitemaps: sitemaps.iter().map(ToString::to_string).collect(),
        }
    }
}

impl PageReport {
    fn of(facts: PageFacts, url: &PageUrl, links: Vec<JudgedLink>, settings: &Settings) -> PageReport {
        let base = facts.hints.base.as_deref().and_then(|base| url.as_url().join(base).ok());
        let canonical = facts.hints.canonical.map(|href| {
            let resolved = base.as_ref().unwrap_or(url.as_url()).join(&href).map(|url| url.to_string());
            resolved.unwrap_or(href)
        });
        PageReport {
            url: url.to_string(),
            media: match facts.kind {
                MediaKind::Html => "html",
                MediaKind::Text => "text",
                MediaKind::Sitemap => "xml",
                MediaKind::Other => "other",
            },
            charset: facts.charset,
            title: facts.title,
            canonical,
            noindex: facts.hints.noindex,
            nofollow: facts.hints.nofollow,
            base: facts.hints.base,
            refresh: facts
                .hints
                .refresh
                .map(|refresh| RefreshReport { seconds: refresh.seconds, url: refresh.url }),
            words: facts.words,
            words_ignored: facts.words_ignored,
            fragment_words: settings.change.fragment_words,
            fragments: facts.fragments,
            sketch: facts.sketch,
            text: facts.text,
            links,
            links_dropped: facts.links_dropped,
        }
    }
}
