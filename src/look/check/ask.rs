//! One page asked for now, and wherever it redirects to.
//!
//! The crawl's own fetcher asks, so that robots.txt, pauses and limits hold as in a crawl. Each URL is asked for once: a
//! person waits for the answer, and can ask again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::crawl::redirect;
use crate::extract::soft_error::SoftError;
use crate::fetch::robots::{self, Robots};
use crate::fetch::visit::{
    Answer, Failure, Outcome, RedirectFault, Refused, Request, RobotsRecord, Subject, Validators, Visit,
    Waiting,
};
use crate::fetch::web::Web;
use crate::fetch::{FetchEvent, FetchSettings, Fetcher, Traffic, read_robots};
use crate::page::{Host, Normaliser, PageId, PageUrl};
use crate::time::Timestamp;

use super::super::figures::span;

/// Asks for one page after the other, with the pauses between them that their hosts are due.
pub struct Asker<W> {
    fetcher: Fetcher<W, Visit>,
    settings: FetchSettings,
    redirects: u32,
    normaliser: Normaliser,
    hosts: HashMap<Host, HostFacts>,
}

/// The result of asking for a page.
pub struct Asked {
    /// The page and where it led, one at least.
    pub hops: Vec<Hop>,
    /// When the last host may be asked again, if it wants to be left alone.
    pub until: Option<Timestamp>,
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
}

impl<W: Web> Asker<W> {
    /// Asks by the crawl's settings, and follows as many redirects as a crawl does.
    pub fn new(web: W, mut settings: FetchSettings, redirects: u32, normaliser: Normaliser) -> Self {
        settings.politeness.attempts = 1;
        let fetcher = Fetcher::new(Arc::new(web), std::convert::identity, settings.clone(), None);
        Asker { fetcher, settings, redirects, normaliser, hosts: HashMap::new() }
    }

    /// Asks for a page, and follows where it leads. `paused` is told of each host that is due a pause, and how long.
    pub async fn ask(&mut self, url: PageUrl, paused: &mut dyn FnMut(&Host, Duration)) -> Asked {
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
                    (facts.delay, facts.wait) = (report.delay, report.wait);
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
        let until = self.hosts.get(&here.host()).and_then(|facts| facts.wait).map(|(until, _)| until);
        let all = self.fetcher.traffic();
        let traffic = Traffic { requests: all.requests - before.requests, bytes: all.bytes - before.bytes };
        Asked { hops, until, traffic }
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

impl Asked {
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

    /// Why there is no page; `None` if there is one. `soft_error`: what the answer really is, if it is not the page.
    pub fn failure(&self, soft_error: Option<SoftError>) -> Option<String> {
        let Some(hop) = self.hops.last() else { return Some("no request was sent".to_owned()) };
        let host = hop.url.host();
        match (&hop.ended, soft_error) {
            (Ended::PutOff(why), _) => Some(put_off(*why, &host, self.until)),
            (Ended::Visited(visit), Some(error)) if visit.outcome == Outcome::Fetched => {
                let answered = status(visit);
                Some(match error {
                    SoftError::Missing => format!("{answered}, but the page says that it does not exist"),
                    SoftError::Busy => format!("{answered}, but the page asks to come back later"),
                    SoftError::Wall => format!(
                        "{answered}, but a check for robots, a block or a question for consent stands before the page"
                    ),
                })
            }
            (Ended::Visited(visit), _) => went_wrong(visit, &host),
        }
    }
}

fn status(visit: &Visit) -> String {
    match &visit.answer {
        Some(answer) => format!("the server answered {}", answer.status),
        None => "there was no answer".to_owned(),
    }
}

fn put_off(why: Waiting, host: &Host, until: Option<Timestamp>) -> String {
    match why {
        Waiting::Unreachable => {
            format!("`{host}` can't be reached: DNS lookup failed, or the connection was refused")
        }
        Waiting::RobotsUnavailable => {
            format!(
                "robots.txt of `{host}` could not be fetched; nothing on this host may be crawled until it can"
            )
        }
        Waiting::CrawlDelay => {
            format!("robots.txt of `{host}` asks for a longer pause than --max-crawl-delay allows")
        }
        Waiting::RetryAfter | Waiting::BackOff | Waiting::Failing => match until {
            Some(until) => format!("`{host}` asks to be left alone until {until}"),
            None => format!("`{host}` asks to be left alone"),
        },
        Waiting::OutOfFiles => "the limit of open files is reached".to_owned(),
        Waiting::Budget => format!("the budget of `{host}` allows no more requests"),
        Waiting::Stopped => "it was stopped".to_owned(),
        Waiting::CycleOver => "the time of the cycle is over".to_owned(),
    }
}

fn went_wrong(visit: &Visit, host: &Host) -> Option<String> {
    let answered = status(visit);
    Some(match &visit.outcome {
        Outcome::Fetched => return None,
        Outcome::Missing => format!("{answered}: there is no such page"),
        Outcome::Throttled { retry_after: Some(asked) } => {
            format!("{answered}: it asks to come back in {}", span(*asked))
        }
        Outcome::Throttled { retry_after: None } => format!("{answered}: it asks to come back later"),
        Outcome::Refused(Refused::Robots) => format!("robots.txt of `{host}` forbids it"),
        Outcome::Refused(Refused::Address) => {
            format!("the address of `{host}` is private or reserved")
        }
        Outcome::BadRedirect(RedirectFault::BadLocation) => {
            format!("{answered}, and does not say where the page is")
        }
        Outcome::BadRedirect(RedirectFault::Loop) => "it redirects in a circle".to_owned(),
        Outcome::BadRedirect(RedirectFault::TooMany) => {
            "it redirects more often than is allowed (`redirects` in the settings)".to_owned()
        }
        Outcome::BadRedirect(RedirectFault::OutOfScope) => {
            "it redirects to a URL that is never asked for: it has another scheme, or a user name".to_owned()
        }
        Outcome::Failed(failure) => failed(failure).to_owned(),
        // A body that is no page, a status without a page, or a 304 though nothing is stored.
        _ => answered,
    })
}

fn failed(failure: &Failure) -> &'static str {
    match failure {
        Failure::Dns => "DNS lookup failed",
        Failure::Connect => "connection refused",
        Failure::OutOfFiles => "the limit of open files is reached",
        Failure::Tls => "TLS: no secure connection could be made; the certificate may be wrong",
        Failure::NoAnswer => "no answer came in time",
        Failure::TooSlow => "its body did not end in time",
        Failure::HungUp => "the server hung up before it answered",
        Failure::CutOff => "the server hung up within the body",
        Failure::Malformed => "the answer is not HTTP",
        Failure::Encoding => "its content encoding can't be decoded",
        Failure::TooLarge => "it is larger than is allowed (`body_bytes` in the settings)",
    }
}
