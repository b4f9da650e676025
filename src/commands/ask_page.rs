//! One page asked for now, and wherever it redirects to. The crawl's own fetcher asks, so that robots.txt, pauses and
//! limits hold as in a crawl. Each URL is asked for once: a person waits for the answer, and can ask again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::runtime::Runtime;
use url::Url;

use freshet::extract::soft_error::SoftError;
use freshet::fetch::network::Network;
use freshet::fetch::robots::{self, Robots};
use freshet::fetch::visit::{
    Answer, Failure, Outcome, RedirectFault, Refused, Request, RobotsRecord, Subject, Validators, Visit,
    Waiting,
};
use freshet::fetch::{FetchEvent, FetchSettings, Fetcher, Traffic, read_robots};
use freshet::page::{Host, Normaliser, PageId, PageUrl, UrlError};
use freshet::report::span;
use freshet::time::Timestamp;

use super::crawl::ADDRESS_HINT;
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// Whoever waits longer is told what for.
const LONG_PAUSE: Duration = Duration::from_secs(3);

/// Asks for one page after the other, with the pauses between them that their hosts are due.
pub struct Asker {
    runtime: Runtime,
    fetcher: Fetcher<Network, Visit>,
    settings: FetchSettings,
    redirects: usize,
    normaliser: Normaliser,
    hosts: HashMap<Host, HostFacts>,
    talk: Talk,
}

/// What came of asking for a page.
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
    pub url: PageUrl,
    pub ended: Ended,
}

/// How it ended. A redirect that is not followed is a bad one.
pub enum Ended {
    Visited(Box<Visit>),
    PutOff(Waiting),
}

/// What is known of a host now.
#[derive(Default)]
pub struct HostFacts {
    /// Robots.txt as it was answered; `None` if there was no answer that says something.
    pub record: Option<RobotsRecord>,
    /// What it says to us.
    pub robots: Option<Robots>,
    /// The pause kept with it.
    pub delay: Duration,
    /// Until when it wants to be left alone, and why.
    pub wait: Option<(Timestamp, Waiting)>,
}

impl Asker {
    pub fn new(settings: &Settings, talk: &Talk) -> anyhow::Result<Asker> {
        let network = Network::new(settings.network()?).map_err(|error| Usage(error.to_string()))?;
        let crawl = settings.crawl();
        let mut fetch = crawl.fetch;
        fetch.politeness.attempts = 1;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("the asynchronous runtime could not be started")?;
        Ok(Asker {
            runtime,
            fetcher: Fetcher::new(Arc::new(network), std::convert::identity, fetch.clone(), None),
            settings: fetch,
            redirects: crawl.redirects as usize,
            normaliser: settings.normaliser(),
            hosts: HashMap::new(),
            talk: talk.clone(),
        })
    }

    /// Asks for a page, and follows where it leads, as many redirects as a crawl does.
    pub fn ask(&mut self, url: PageUrl) -> Asked {
        let Asker { runtime, fetcher, settings, redirects, normaliser, hosts, talk } = self;
        let before = fetcher.traffic();
        let mut hops: Vec<Hop> = Vec::new();
        let mut here = url;
        fetcher.submit(request(&here));
        while let Some(event) = runtime.block_on(fetcher.next()) {
            match event {
                FetchEvent::Visited(mut visit) => {
                    let next = match &visit.outcome {
                        Outcome::Redirected { to, .. } => {
                            match follow(to, &here, &hops, *redirects, normaliser) {
                                Ok(next) => Some(next),
                                Err(fault) => {
                                    visit.outcome = Outcome::BadRedirect(fault);
                                    None
                                }
                            }
                        }
                        _ => None,
                    };
                    hops.push(Hop { url: here.clone(), ended: Ended::Visited(Box::new(visit)) });
                    if let Some(next) = next {
                        fetcher.submit(request(&next));
                        here = next;
                    }
                }
                FetchEvent::Deferred { why, .. } => {
                    hops.push(Hop { url: here.clone(), ended: Ended::PutOff(why) })
                }
                FetchEvent::Host(report) => {
                    let facts = hosts.entry(report.host.clone()).or_default();
                    (facts.delay, facts.wait) = (report.delay, report.wait);
                    if let Some(record) = report.robots {
                        let token = settings.product_token(&report.host);
                        facts.robots = Some(read_robots(record.status, &record.body, token));
                        facts.record = Some(record);
                        if facts.wait.is_none() && facts.delay >= LONG_PAUSE {
                            let pause = span(facts.delay);
                            talk.say(&format!("waiting: `{}` is due a pause of {pause}", report.host));
                        }
                    }
                }
                // The host's report has them too.
                FetchEvent::Robots { .. } => {}
            }
        }
        let until = hosts.get(&here.host()).and_then(|facts| facts.wait).map(|(until, _)| until);
        let all = fetcher.traffic();
        let traffic = Traffic { requests: all.requests - before.requests, bytes: all.bytes - before.bytes };
        Asked { hops, until, traffic }
    }

    /// What is known of a host, if it was asked.
    pub fn host(&self, host: &Host) -> Option<&HostFacts> {
        self.hosts.get(host)
    }

    /// The rule of a host's robots.txt that decides about a page.
    pub fn deciding_rule(&self, url: &PageUrl) -> Option<String> {
        let host = url.host();
        let record =
            self.host(&host)?.record.as_ref().filter(|record| (200..300).contains(&record.status))?;
        robots::deciding_rule(&record.body, self.settings.product_token(&host), url.as_url())
    }
}

/// Where a redirect leads, if it is one to follow: each URL once, and not too many.
fn follow(
    to: &Url,
    here: &PageUrl,
    hops: &[Hop],
    redirects: usize,
    normaliser: &Normaliser,
) -> Result<PageUrl, RedirectFault> {
    let to = normaliser.normalise(to.clone()).map_err(|error| match error {
        UrlError::Scheme(_) | UrlError::UserInfo => RedirectFault::OutOfScope,
        _ => RedirectFault::BadLocation,
    })?;
    let is_it = |url: &PageUrl| url.fingerprint() == to.fingerprint();
    if is_it(here) || hops.iter().any(|hop| is_it(&hop.url)) {
        Err(RedirectFault::Loop)
    } else if hops.len() >= redirects {
        Err(RedirectFault::TooMany)
    } else {
        Ok(to)
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

    /// Why there is no page; `None` if there is one. `soft_error`: what a page that was fetched really is.
    pub fn failure(&self, soft_error: Option<SoftError>) -> Option<String> {
        let Some(hop) = self.hops.last() else { return Some("nobody was asked".to_owned()) };
        let host = hop.url.host();
        match (&hop.ended, soft_error) {
            (Ended::PutOff(why), _) => Some(put_off(*why, &host, self.until)),
            (Ended::Visited(visit), Some(error)) if visit.outcome == Outcome::Fetched => {
                let answered = status(visit);
                Some(match error {
                    SoftError::Missing => format!("{answered}, but the page says that there is none"),
                    SoftError::Busy => {
                        format!("{answered}, but the page asks to come back later, or who we are")
                    }
                })
            }
            (Ended::Visited(visit), _) => went_wrong(visit, &host),
        }
    }
}

/// What can be done about it, where something can.
pub fn hint(asked: &Asked, talk: &Talk) {
    if let Some(Hop { ended: Ended::Visited(visit), .. }) = asked.hops.last()
        && visit.outcome == Outcome::Refused(Refused::Address)
    {
        talk.say(ADDRESS_HINT);
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
            format!("`{host}` can't be reached: its name is not known, or nobody listens")
        }
        Waiting::RobotsUnavailable => {
            format!("robots.txt of `{host}` can't be had, and without it nothing may be asked for")
        }
        Waiting::CrawlDelay => {
            format!("robots.txt of `{host}` asks for a longer pause than --max-crawl-delay allows")
        }
        Waiting::RetryAfter | Waiting::BackOff | Waiting::Failing => match until {
            Some(until) => format!("`{host}` asks to be left alone until {until}"),
            None => format!("`{host}` asks to be left alone"),
        },
        Waiting::OutOfFiles => "there is no file descriptor left to ask with".to_owned(),
        Waiting::Budget => format!("the budget of `{host}` allows no more requests"),
        Waiting::Stopped => "it was stopped".to_owned(),
        Waiting::CycleOver => "its time is over".to_owned(),
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
            format!("the address of `{host}` is private or special in another way")
        }
        Outcome::BadRedirect(RedirectFault::BadLocation) => {
            format!("{answered}, and does not say where the page is")
        }
        Outcome::BadRedirect(RedirectFault::Loop) => "it redirects to where it came from".to_owned(),
        Outcome::BadRedirect(RedirectFault::TooMany) => {
            "it redirects more often than is followed (`redirects` in the settings)".to_owned()
        }
        Outcome::BadRedirect(RedirectFault::OutOfScope) => {
            "it redirects to what is never asked for: another scheme, or with a user name".to_owned()
        }
        Outcome::Failed(failure) => failed(failure).to_owned(),
        // A body that is no page, a status that brings none, or a 304 where nothing was held.
        _ => answered,
    })
}

fn failed(failure: &Failure) -> &'static str {
    match failure {
        Failure::Dns => "the name of its host is not known",
        Failure::Connect => "nobody listens there",
        Failure::OutOfFiles => "there is no file descriptor left to ask with",
        Failure::Tls => "no secure connection could be made; its certificate may be wrong",
        Failure::NoAnswer => "no answer came in time",
        Failure::TooSlow => "its body did not end in time",
        Failure::HungUp => "the server hung up before it answered",
        Failure::CutOff => "the server hung up within the body",
        Failure::Malformed => "what came is not HTTP",
        Failure::Encoding => "its content encoding can't be undone",
        Failure::TooLarge => "it is larger than is taken (`body_bytes` in the settings)",
    }
}
