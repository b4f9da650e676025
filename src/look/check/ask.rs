//! One page asked for now, and wherever it redirects to.
//!
//! The crawl's own fetcher asks, so that robots.txt, pauses and limits hold as in a crawl. Each URL is asked for once: a
//! person waits for the answer, and can ask again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::crawl::redirect;
use crate::fetch::reason;
use crate::fetch::robots::{self, Robots};
use crate::fetch::visit::{
    Answer, Outcome, RedirectFault, Refused, Request, RobotsFault, RobotsRecord, Subject, Validators, Visit,
    Waiting,
};
use crate::fetch::web::Web;
use crate::fetch::{FetchEvent, FetchSettings, Fetcher, Traffic, read_robots};
use crate::page::{Host, Normaliser, PageId, PageUrl};
use crate::time::Timestamp;

use super::super::waits;

/// Asks for one page after the other, with the pauses between them that their hosts are due.
pub struct Asker<W> {
    fetcher: Fetcher<W, Visit>,
    settings: FetchSettings,
    redirects: u32,
    normaliser: Normaliser,
    hosts: HashMap<Host, HostFacts>,
}

/// The result of asking for a page.
pub struct AskedPage {
    /// The page and where it led, one at least.
    pub hops: Vec<Hop>,
    /// The event that the last host waits for, if it does.
    pub host_reason: Option<String>,
    /// Robots.txt included.
    pub traffic: Traffic,
}

/// One URL on the way.
pub struct Hop {
    /// The URL.
    pub url: PageUrl,
    /// How it ended.
    pub ended: Ended,
}

impl Hop {
    /// Was it a permanent redirect?
    pub(super) fn moved(&self) -> bool {
        match &self.ended {
            Ended::Visited(visit) => matches!(visit.outcome, Outcome::Redirected { permanent: true, .. }),
            Ended::PutOff(_) => false,
        }
    }
}

/// How asking for a URL ended. A redirect that is not followed is a bad one.
pub enum Ended {
    /// It was asked for.
    Visited(Box<Visit>),
    /// Its host could not be asked.
    PutOff(Waiting),
}

/// Facts about a host, as of now.
#[derive(Default)]
pub(super) struct HostFacts {
    /// Robots.txt as it was answered; `None` if there was no usable answer.
    pub record: Option<RobotsRecord>,
    /// Its rules for us.
    pub robots: Option<Robots>,
    /// The pause between two requests.
    pub delay: Duration,
    /// Until when the host wants to be left alone, and why.
    pub wait: Option<(Timestamp, Waiting)>,
    /// The event behind that wait, in words.
    pub reason: Option<String>,
    /// How the last request for robots.txt failed.
    pub robots_fault: Option<RobotsFault>,
}

impl<W: Web> Asker<W> {
    /// Asks by the crawl's settings, and follows as many redirects as a crawl does.
    pub fn new(web: W, mut settings: FetchSettings, redirects: u32, normaliser: Normaliser) -> Self {
        settings.politeness.attempts = 1;
        let fetcher = Fetcher::new(Arc::new(web), std::convert::identity, settings.clone(), None);
        Asker { fetcher, settings, redirects, normaliser, hosts: HashMap::new() }
    }

    /// Asks for a page, and follows where it leads. `paused` is told of each host that is due a pause, and how long.
    pub async fn ask(&mut self, url: PageUrl, paused: &mut dyn FnMut(&Host, Duration)) -> AskedPage {
        let before = self.fetcher.traffic();
        let mut hops: Vec<Hop> = Vec::new();
        let mut here = url;
        self.fetcher.submit(request(&here));
        while let Some(event) = self.fetcher.next().await {
            match event {
                FetchEvent::Visited(mut visit) => {
                    let next = self.next_hop(&here, &hops, &mut visit);
                    hops.push(Hop { url: here.clone(), ended: Ended::Visited(Box::new(visit)) });
                    if let Some(next) = next {
                        self.fetcher.submit(request(&next));
                        here = next;
                    }
                }
                FetchEvent::Deferred { why, .. } => {
                    hops.push(Hop { url: here.clone(), ended: Ended::PutOff(why) })
                }
                FetchEvent::Host(report) => {
                    let facts = self.hosts.entry(report.host.clone()).or_default();
                    (facts.delay, facts.wait, facts.reason) = (report.delay, report.wait, report.reason);
                    facts.robots_fault = report.robots_fault;
                    if let Some(record) = report.robots {
                        let token = self.settings.product_token(&report.host);
                        facts.robots = Some(read_robots(record.status, &record.body, token));
                        facts.record = Some(record);
                        if facts.wait.is_none() {
                            paused(&report.host, facts.delay);
                        }
                    }
                }
                FetchEvent::RobotsWanted(host) => {
                    let record = self.hosts.get(&host).and_then(|facts| facts.record.as_ref());
                    self.fetcher.recalled(&host, record);
                }
                // The host's report has them too.
                FetchEvent::Robots { .. } => {}
            }
        }
        let host_reason = self.hosts.get(&here.host()).and_then(|facts| facts.reason.clone());
        let all = self.fetcher.traffic();
        let traffic = Traffic { requests: all.requests - before.requests, bytes: all.bytes - before.bytes };
        AskedPage { hops, host_reason, traffic }
    }

    /// Where a visit leads, if that is to be followed; a redirect that is not becomes a bad one.
    fn next_hop(&self, here: &PageUrl, hops: &[Hop], visit: &mut Visit) -> Option<PageUrl> {
        let Outcome::Redirected { to, .. } = &visit.outcome else { return None };
        let was_passed =
            |page| here.fingerprint() == page || hops.iter().any(|hop| hop.url.fingerprint() == page);
        let target = self.normaliser.normalise(to.clone());
        match redirect::follow(target, was_passed, hops.len() as u32, self.redirects) {
            Ok(next) => Some(next),
            Err(fault) => {
                visit.outcome = Outcome::BadRedirect(fault);
                None
            }
        }
    }

    /// Facts about a host, if it was asked.
    pub(super) fn host(&self, host: &Host) -> Option<&HostFacts> {
        self.hosts.get(host)
    }

    /// The rule of a host's robots.txt that decides about a page.
    pub(super) fn deciding_rule(&self, url: &PageUrl) -> Option<String> {
        let host = url.host();
        let record =
            self.host(&host)?.record.as_ref().filter(|record| (200..300).contains(&record.status))?;
        robots::deciding_rule(&record.body, self.settings.product_token(&host), url.as_url())
    }
}

fn request(url: &PageUrl) -> Request {
    Request {
        subject: Subject::Page(PageId(0)),
        url: url.as_url().clone(),
        validators: Validators::default(),
    }
}

impl AskedPage {
    /// The page that was fetched in the end, and where it lives.
    pub fn answered(&self) -> Option<(&PageUrl, &Answer)> {
        let hop = self.hops.last()?;
        match &hop.ended {
            Ended::Visited(visit) if visit.outcome == Outcome::Fetched => {
                Some((&hop.url, visit.answer.as_ref()?))
            }
            _ => None,
        }
    }

    /// Why there is no page; `None` if there is one. `soft_outcome`: what the answer really is, if it is not the page.
    pub fn failure(&self, soft_outcome: Option<&Outcome>) -> Option<String> {
        let Some(hop) = self.hops.last() else { return Some("no request was sent".to_owned()) };
        let host = hop.url.host();
        match &hop.ended {
            Ended::PutOff(why) => Some(put_off(*why, &host, self.host_reason.as_deref())),
            Ended::Visited(visit) => match soft_outcome {
                Some(outcome) if visit.outcome == Outcome::Fetched => words(outcome, visit),
                _ => went_wrong(visit, &host),
            },
        }
    }
}

impl Hop {
    /// Why it brought nothing, in words.
    pub(super) fn reason(&self, host: Option<&HostFacts>) -> Option<String> {
        match &self.ended {
            Ended::Visited(visit) => words(&visit.outcome, visit),
            Ended::PutOff(why) => Some(waits::in_words(*why, host.and_then(|facts| facts.reason.as_deref()))),
        }
    }
}

/// The reason of an outcome in words, with the status of the visit.
fn words(outcome: &Outcome, visit: &Visit) -> Option<String> {
    let status = visit.answer.as_ref().map(|answer| answer.status);
    reason::in_words(outcome.code(), status, visit.reason.as_deref())
}

fn put_off(why: Waiting, host: &Host, event: Option<&str>) -> String {
    let words = waits::in_words(why, event);
    match why {
        Waiting::Unreachable => format!("`{host}` can't be reached: {words}"),
        Waiting::CrawlDelay => format!("`{host}`: {words} (raise it with --max-crawl-delay)"),
        _ => format!("`{host}`: {words}"),
    }
}

fn went_wrong(visit: &Visit, host: &Host) -> Option<String> {
    match &visit.outcome {
        Outcome::Refused(Refused::Robots) => Some(format!("robots.txt of `{host}` forbids it")),
        Outcome::BadRedirect(RedirectFault::OutOfScope) => Some(
            "it redirects to a URL that is never asked for: it has another scheme, or a user name".to_owned(),
        ),
        outcome => words(outcome, visit),
    }
}
