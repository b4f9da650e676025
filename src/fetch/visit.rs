//! Requests to the web, and how they ended.
//!
//! A visit never fails as a program fails: whatever happened is an [`Outcome`] with a reason, and is recorded.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use tokio::sync::OwnedSemaphorePermit;
use url::Url;

pub use super::host_report::{HostReport, RobotsFault, RobotsRecord, RobotsStatus};
use crate::page::PageId;
use crate::time::Timestamp;

/// The subject of a request. Robots.txt is not in this list: the fetcher asks for it by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A page of the store.
    Page(PageId),
    /// A sitemap.
    Sitemap {
        /// Sitemap indexes above it; 0 for one that robots.txt names, or at the well-known place.
        nesting: u8,
    },
}

/// A wish to visit a URL, with what we hold of it already.
#[derive(Clone, Debug)]
pub struct Request {
    /// The page or sitemap.
    pub subject: Subject,
    /// Where it is asked for.
    pub url: Url,
    /// The version that we hold.
    pub validators: Validators,
}

/// Marks of the version we hold: the server can answer "not modified", and we can see that a body is the one we have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` of the version held, as it was sent.
    pub etag: Option<String>,
    /// Its `Last-Modified`, as it was sent.
    pub last_modified: Option<String>,
    /// Hash of the body held.
    pub body: Option<u128>,
}

impl Validators {
    /// Is there anything that a server can compare with what it has?
    pub(crate) fn can_be_compared(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }
}

/// One attempt on one URL, ended.
#[derive(Debug)]
pub struct Visit {
    /// The request that ended.
    pub request: Request,
    /// When it was sent.
    pub at: Timestamp,
    /// From the sending to the last byte.
    pub took: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// The cause in words, where the outcome and the status don't say it all.
    pub reason: Option<String>,
    /// The answer, where there was one (a refusal by robots.txt has none).
    pub answer: Option<Answer>,
}

/// An answer of the web. A body that broke off is a [`Failure`], never an answer; one that was longer than we take
/// says so.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The version of HTTP that it came by.
    pub protocol: reqwest::Version,
    /// The headers, as they came.
    pub headers: HeaderMap,
    /// Decoded (gzip and its like undone), within the limit.
    pub body: Bytes,
    /// The body went on; this is how it began.
    pub cut: bool,
    /// The address that answered, if the connection tells it.
    pub address: Option<IpAddr>,
    /// The place that a large body holds until it is read.
    #[allow(dead_code, reason = "it is held, not read")]
    pub(crate) place: Option<LargePlace>,
}

/// A place for a large body: there are few, which bounds the memory of all of them.
#[derive(Clone, Debug)]
pub(crate) struct LargePlace(
    #[allow(dead_code, reason = "it is held, not read")] pub(crate) Arc<OwnedSemaphorePermit>,
);

impl Answer {
    /// An answer that comes from elsewhere than the network: from a store.
    pub(crate) fn of(status: u16, headers: HeaderMap, body: Bytes) -> Self {
        let protocol = reqwest::Version::default();
        Self { status, protocol, headers, body, cut: false, address: None, place: None }
    }

    /// A header as text; absent when it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// How a visit ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A body came.
    Fetched,
    /// 304 to a request that named the version held: what we hold is what there is.
    NotModified,
    /// Sent elsewhere; where to is the `Location`, resolved.
    Redirected {
        /// The page it leads to.
        to: Url,
        /// 301 or 308.
        permanent: bool,
    },
    /// A redirect that leads nowhere.
    BadRedirect(RedirectFault),
    /// 404 or 410.
    Missing,
    /// The status is 200, but the page says that there is no such page: a soft 404.
    SoftMissing,
    /// The status is 200, but the page asks to come back later.
    SoftBusy,
    /// A page came without content where content is stored: not believed until a second visit says the same.
    Empty,
    /// The status is 200, but something else stands before the page: a check for robots, a block, a question for consent.
    Wall,
    /// 5xx, but for 503.
    ServerError,
    /// Another status that brings no page.
    HttpError,
    /// 429 or 503: the host asks us to stay away for a while.
    Throttled {
        /// How long, if it says so.
        retry_after: Option<Duration>,
    },
    /// No complete answer came.
    Failed(Failure),
    /// We did not ask.
    Refused(Refused),
}

/// The kinds of outcomes that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeClass {
    /// The visit brought the page, or the answer that it is unchanged.
    Fetched,
    /// The page sends elsewhere.
    Redirected,
    /// We did not ask: robots.txt or the address rules forbid it. That is no failure of the page.
    Blocked,
    /// The visit brought nothing. A redirect that leads nowhere counts as this.
    Failed,
}

/// A fault of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectFault {
    /// No `Location`, or one that is no URL.
    BadLocation,
    /// Back to where it came from.
    Loop,
    /// More hops than are followed.
    TooMany,
    /// To a page outside the scope, or a URL we never ask for.
    OutOfScope,
}

/// Why no complete answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The name has no address.
    Dns,
    /// No server listens at the address and port.
    ConnectionRefused,
    /// The address did not answer in time.
    ConnectionTimedOut,
    /// No connection for another reason: there is no way to the address.
    Connect,
    /// We have no file descriptor left: our want, not the host's fault.
    OutOfFiles,
    /// The certificate or the handshake failed.
    Tls,
    /// Connected, but no complete head in time.
    NoAnswer,
    /// The body did not end in time.
    TooSlow,
    /// Closed or reset before a word was said.
    HungUp,
    /// Closed or reset within the body.
    CutOff,
    /// Not HTTP, or framed against its rules.
    Malformed,
    /// A content encoding that does not decode, or more than one.
    Encoding,
    /// The body is longer than we take.
    TooLarge,
}

/// Why we did not ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Robots.txt forbids it.
    Robots,
    /// The address is private, or special in another way.
    Address,
}

impl Outcome {
    /// The short stable name that is stored and counted.
    pub fn code(&self) -> &'static str {
        match self {
            Outcome::Fetched => "fetched",
            Outcome::NotModified => "not-modified",
            Outcome::Redirected { permanent: true, .. } => "moved",
            Outcome::Redirected { permanent: false, .. } => "redirected",
            Outcome::BadRedirect(fault) => match fault {
                RedirectFault::BadLocation => "redirect-bad-location",
                RedirectFault::Loop => "redirect-loop",
                RedirectFault::TooMany => "redirect-too-many",
                RedirectFault::OutOfScope => "redirect-out-of-scope",
            },
            Outcome::Missing => "missing",
            Outcome::SoftMissing => "soft-missing",
            Outcome::SoftBusy => "soft-busy",
            Outcome::Empty => "empty",
            Outcome::Wall => "wall",
            Outcome::ServerError => "server-error",
            Outcome::HttpError => "http-error",
            Outcome::Throttled { .. } => "throttled",
            Outcome::Failed(failure) => match failure {
                Failure::Dns => "dns",
                Failure::ConnectionRefused => "refused",
                Failure::ConnectionTimedOut => "timed-out",
                Failure::Connect => "connect",
                Failure::OutOfFiles => "out-of-files",
                Failure::Tls => "tls",
                Failure::NoAnswer => "no-answer",
                Failure::TooSlow => "too-slow",
                Failure::HungUp => "hung-up",
                Failure::CutOff => "cut-off",
                Failure::Malformed => "malformed",
                Failure::Encoding => "encoding",
                Failure::TooLarge => "too-large",
            },
            Outcome::Refused(refused) => match refused {
                Refused::Robots => "robots",
                Refused::Address => "address",
            },
        }
    }

    /// The words of all outcomes.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        Outcome::PLAIN.into_iter().map(|outcome| outcome.code()).chain(["moved", "redirected"])
    }

    /// The outcome that has this name; `to` is where it led. What a name does not tell (how long to stay away) is lost.
    pub(crate) fn from_code(code: &str, to: Option<&str>) -> Option<Outcome> {
        let moved = || Url::parse(to.unwrap_or_default()).ok();
        match code {
            "moved" => Some(Outcome::Redirected { to: moved()?, permanent: true }),
            "redirected" => Some(Outcome::Redirected { to: moved()?, permanent: false }),
            _ => Outcome::PLAIN.into_iter().find(|outcome| outcome.code() == code),
        }
    }

    /// All but redirects, which say where they lead.
    pub(crate) const PLAIN: [Outcome; 29] = [
        Outcome::Fetched,
        Outcome::NotModified,
        Outcome::BadRedirect(RedirectFault::BadLocation),
        Outcome::BadRedirect(RedirectFault::Loop),
        Outcome::BadRedirect(RedirectFault::TooMany),
        Outcome::BadRedirect(RedirectFault::OutOfScope),
        Outcome::Missing,
        Outcome::SoftMissing,
        Outcome::SoftBusy,
        Outcome::Empty,
        Outcome::Wall,
        Outcome::ServerError,
        Outcome::HttpError,
        Outcome::Throttled { retry_after: None },
        Outcome::Failed(Failure::Dns),
        Outcome::Failed(Failure::ConnectionRefused),
        Outcome::Failed(Failure::ConnectionTimedOut),
        Outcome::Failed(Failure::Connect),
        Outcome::Failed(Failure::OutOfFiles),
        Outcome::Failed(Failure::Tls),
        Outcome::Failed(Failure::NoAnswer),
        Outcome::Failed(Failure::TooSlow),
        Outcome::Failed(Failure::HungUp),
        Outcome::Failed(Failure::CutOff),
        Outcome::Failed(Failure::Malformed),
        Outcome::Failed(Failure::Encoding),
        Outcome::Failed(Failure::TooLarge),
        Outcome::Refused(Refused::Robots),
        Outcome::Refused(Refused::Address),
    ];

    /// The kind of outcome that it is counted as. Everything that counts outcomes uses it.
    pub fn class(&self) -> OutcomeClass {
        match self {
            Outcome::Fetched | Outcome::NotModified => OutcomeClass::Fetched,
            Outcome::Redirected { .. } => OutcomeClass::Redirected,
            Outcome::Refused(_) => OutcomeClass::Blocked,
            Outcome::BadRedirect(_)
            | Outcome::Missing
            | Outcome::SoftMissing
            | Outcome::SoftBusy
            | Outcome::Empty
            | Outcome::Wall
            | Outcome::ServerError
            | Outcome::HttpError
            | Outcome::Throttled { .. }
            | Outcome::Failed(_) => OutcomeClass::Failed,
        }
    }

    /// How many tries it is worth within one cycle, of `most`. A broken page will be as broken in a minute; a busy or
    /// unreachable host may not; one that says nothing costs a long wait each time.
    pub(crate) fn tries(&self, most: u32) -> u32 {
        match self {
            Outcome::Throttled { .. } | Outcome::ServerError => most,
            Outcome::Failed(
                Failure::Dns
                | Failure::ConnectionRefused
                | Failure::ConnectionTimedOut
                | Failure::Connect
                | Failure::OutOfFiles
                | Failure::Tls
                | Failure::HungUp,
            ) => most,
            Outcome::Failed(Failure::NoAnswer | Failure::CutOff) => most.min(2),
            _ => 1,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Redirected { to, .. } => write!(f, "{} to {to}", self.code()),
            _ => f.write_str(self.code()),
        }
    }
}

/// Why requests to a host wait, or are put off to a later cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// 429 or 503 with a `Retry-After`.
    RetryAfter,
    /// 429, 503 or failures in a row, with no time given.
    BackOff,
    /// Too many failures in a row: it rests until a later cycle.
    Failing,
    /// The name does not resolve, or no server listens.
    Unreachable,
    /// Robots.txt could not be had (5xx, time-out, unreachable): everything is forbidden until it answers.
    RobotsUnavailable,
    /// `Crawl-delay` is longer than the operator allows.
    CrawlDelay,
    /// We had no file descriptor left, however long we waited for one: our want, not the host's fault.
    OutOfFiles,
    /// The cycle's budget is spent.
    Budget,
    /// The time of the cycle is over.
    CycleOver,
    /// The crawl was told to stop.
    Stopped,
}

impl Waiting {
    /// Every reason, with its stable stored name.
    const NAMES: [(Waiting, &'static str); 10] = [
        (Waiting::RetryAfter, "retry-after"),
        (Waiting::BackOff, "back-off"),
        (Waiting::Failing, "failing"),
        (Waiting::Unreachable, "unreachable"),
        (Waiting::RobotsUnavailable, "robots-unavailable"),
        (Waiting::CrawlDelay, "crawl-delay"),
        (Waiting::OutOfFiles, "out-of-files"),
        (Waiting::Budget, "budget"),
        (Waiting::CycleOver, "cycle-over"),
        (Waiting::Stopped, "stopped"),
    ];

    /// Does the reason hold for the server, by whichever scheme it is asked? That no server listens on a port, or that an
    /// origin's robots.txt can't be had, says nothing of the other scheme.
    pub(crate) fn is_of_server(self) -> bool {
        matches!(self, Waiting::RetryAfter | Waiting::BackOff | Waiting::Failing | Waiting::CrawlDelay)
    }

    /// The name that is stored and printed.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(reason, _)| *reason == self).map_or("unknown", |(_, name)| name)
    }

    /// The reason of that name.
    pub fn from_name(name: &str) -> Option<Waiting> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(reason, _)| *reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_reasons_survive_their_names() {
        for (reason, name) in Waiting::NAMES {
            assert_eq!(Waiting::from_name(name), Some(reason));
            assert_eq!(reason.name(), name);
        }
        assert_eq!(Waiting::from_name("tea"), None);
    }

    #[test]
    fn outcomes_survive_their_names() {
        for outcome in Outcome::PLAIN {
            assert_eq!(Outcome::from_code(outcome.code(), None), Some(outcome));
        }
        let to = Url::parse("https://example.org/new").expect("a URL");
        for permanent in [false, true] {
            let sent = Outcome::Redirected { to: to.clone(), permanent };
            assert_eq!(Outcome::from_code(sent.code(), Some(to.as_str())), Some(sent));
        }
        assert_eq!(Outcome::from_code("moved", None), None);
        assert_eq!(Outcome::from_code("tea", None), None);
    }

    #[test]
    fn a_broken_page_is_not_tried_again_at_once() {
        assert_eq!(Outcome::Throttled { retry_after: None }.tries(3), 3);
        assert_eq!(Outcome::Failed(Failure::NoAnswer).tries(3), 2);
        assert_eq!(Outcome::Failed(Failure::TooLarge).tries(3), 1);
        assert_eq!(Outcome::Missing.tries(3), 1);
    }
}
