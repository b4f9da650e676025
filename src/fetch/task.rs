//! A request on a task of its own: it asks, reads the outcome and digests the visit.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use super::Digest;
use super::politeness::{self, Sign};
use super::reason;
use super::robots;
use super::visit::{Answer, Failure, Outcome, RedirectFault, Request, Subject, Visit};
use super::web::{Ask, NoAnswer, NoAnswerCause, Web};
use crate::time::Timestamp;

/// Bodies larger than this are digested off the network's threads. Below it the hop costs more than it saves.
const DIGEST_INLINE_BYTES: usize = 100 << 10;

/// How gzip begins.
const GZIP: &[u8] = b"\x1f\x8b";

/// Packed sitemaps that are unpacked at the same time: each may take `sitemap_bytes` of memory.
pub(super) const MOST_UNPACKING: usize = 2;

/// The purpose of a task.
#[derive(Debug)]
pub(super) enum TaskKind {
    Visit(Request),
    /// Robots.txt of the host with index `of`, which may lie on another host after a redirect.
    Robots {
        of: usize,
        hops: u32,
    },
    /// The address of a host.
    Resolve,
}

/// A task in a host's queue.
#[derive(Debug)]
pub(super) struct Task {
    pub kind: TaskKind,
    pub url: Url,
    /// 1 for the first try.
    pub attempt: u32,
    /// How the try before ended: what is recorded if there is no other.
    pub last: Option<Box<Visit>>,
    pub not_before: Instant,
}

impl Task {
    /// Must the robots.txt of the host with index `at` allow it? Not where it is that file itself, nor where another host's
    /// redirect names a `/robots.txt`. A redirect to another path of another host asks for a page like any other.
    pub(super) fn needs_leave(&self, at: usize) -> bool {
        match self.kind {
            TaskKind::Visit(_) => true,
            TaskKind::Robots { of, .. } => {
                of != at && (self.url.path() != "/robots.txt" || self.url.query().is_some())
            }
            TaskKind::Resolve => false,
        }
    }
}

/// A task that ended.
pub(super) struct EndedTask<T> {
    /// The host that was asked.
    pub host: usize,
    pub took: Duration,
    pub sign: Sign,
    /// Why it brought nothing, in words; `None` if it went well.
    pub reason: Option<String>,
    pub first_try: bool,
    pub bytes: u64,
    pub end: TaskEnd<T>,
}

pub(super) enum TaskEnd<T> {
    /// Ended for good, and digested.
    Visited(T),
    /// Worth another try.
    Again {
        visit: Box<Visit>,
        attempt: u32,
    },
    Robots {
        of: usize,
        hops: u32,
        attempt: u32,
        url: Url,
        answer: Result<Answer, NoAnswer>,
    },
    Resolved(Result<IpAddr, NoAnswer>),
    /// Nothing was sent: there was no file descriptor.
    Unsent(Task),
}

/// Could nothing be sent because there was no file descriptor?
fn is_unsent<T>(answer: &Result<T, NoAnswer>) -> bool {
    matches!(answer, Err(NoAnswer { cause: NoAnswerCause::Failed(Failure::OutOfFiles), .. }))
}

/// How a task is run.
pub(super) struct TaskOrders<W, T> {
    pub web: Arc<W>,
    pub digest: Digest<T>,
    pub host: usize,
    pub task: Task,
    /// Tries that a page gets.
    pub attempts: u32,
    /// The longest wait that a retry is kept for.
    pub patience: Duration,
    pub body_bytes: usize,
    /// Places for sitemaps that are being unpacked.
    pub unpacking: Arc<Semaphore>,
    /// Visits whose digest takes long.
    pub aside: Aside,
}

/// Tells visits whose digest takes long, and has places for those that are being digested.
type Slow = (Arc<dyn Fn(&Visit) -> bool + Send + Sync>, Arc<Semaphore>);

/// Visits that are digested off the network's threads because that takes long; none unless someone says which.
#[derive(Clone, Default)]
pub(super) struct Aside(pub Option<Slow>);

pub(super) async fn run<W: Web, T: Send + 'static>(orders: TaskOrders<W, T>) -> EndedTask<T> {
    let TaskOrders { web, digest, host, task, attempts, patience, body_bytes, unpacking, aside } = orders;
    let started = Instant::now();
    let first_try = task.attempt == 1;
    let unsent = |task: Task| EndedTask {
        host,
        took: Duration::ZERO,
        sign: Sign::Well,
        reason: None,
        first_try,
        bytes: 0,
        end: TaskEnd::Unsent(task),
    };
    match task.kind {
        TaskKind::Resolve => {
            let resolved = web.resolve(&task.url).await;
            if is_unsent(&resolved) {
                return unsent(task);
            }
            let failed =
                resolved.as_ref().err().filter(|none| matches!(none.cause, NoAnswerCause::Failed(_)));
            EndedTask {
                host,
                took: Duration::ZERO,
                sign: if failed.is_some() { Sign::Unreachable } else { Sign::Well },
                reason: failed.and_then(|none| in_words(&none.outcome(), None, none.reason.as_deref())),
                first_try,
                bytes: 0,
                end: TaskEnd::Resolved(resolved),
            }
        }
        TaskKind::Robots { of, hops } => {
            let ask = Ask {
                url: task.url.clone(),
                validators: Default::default(),
                // One byte more than is read tells a last line that is whole from one that was cut.
                max_bytes: robots::MAX_BYTES + 1,
                wants_beginning: true,
            };
            let answer = web.answer(ask).await;
            if is_unsent(&answer) {
                return unsent(task);
            }
            let (outcome, stored) = read_answer(&answer, &task.url, false);
            let bytes = answer.as_ref().map_or(0, |answer| answer.body.len() as u64);
            let status = answer.as_ref().ok().map(|answer| answer.status);
            let words = in_words(&outcome, status, stored.as_deref());
            EndedTask {
                host,
                took: started.elapsed(),
                sign: politeness::sign(&outcome),
                reason: words
                    .map(|words| if answer.is_ok() { format!("robots.txt: {words}") } else { words }),
                first_try,
                bytes,
                end: TaskEnd::Robots { of, hops, attempt: task.attempt, url: task.url, answer },
            }
        }
        TaskKind::Visit(request) => {
            let at = Timestamp::now();
            let ask = Ask {
                url: request.url.clone(),
                validators: request.validators.clone(),
                max_bytes: body_bytes,
                wants_beginning: false,
            };
            let answer = web.answer(ask).await;
            if is_unsent(&answer) {
                return unsent(Task { kind: TaskKind::Visit(request), ..task });
            }
            let took = started.elapsed();
            let (outcome, stored) = match &answer {
                Ok(answer) if answer.cut => (Outcome::Failed(Failure::TooLarge), None),
                answer => read_answer(answer, &request.url, request.validators.can_be_compared()),
            };
            let sign = politeness::sign(&outcome);
            let answer = answer.ok();
            let bytes = answer.as_ref().map_or(0, |answer| answer.body.len() as u64);
            let reason = in_words(&outcome, answer.as_ref().map(|answer| answer.status), stored.as_deref());
            let visit = Visit { request, at, took, outcome, reason: stored, answer };
            let end = if task.attempt < tries(&visit.outcome, attempts, patience) {
                TaskEnd::Again { visit: Box::new(visit), attempt: task.attempt }
            } else {
                TaskEnd::Visited(digested(digest, visit, &unpacking, &aside).await)
            };
            EndedTask { host, took, sign, reason, first_try, bytes, end }
        }
    }
}

/// A page is tried again within the cycle if the trouble may pass, and the host does not ask for longer than the
/// cycle waits, or for longer than anyone can mean.
fn tries(outcome: &Outcome, attempts: u32, patience: Duration) -> u32 {
    match outcome {
        Outcome::Throttled { retry_after: Some(asked) } if *asked > patience => 1,
        outcome => outcome.tries(attempts),
    }
}

async fn digested<T: Send + 'static>(
    digest: Digest<T>,
    visit: Visit,
    unpacking: &Semaphore,
    aside: &Aside,
) -> T {
    let body = visit.answer.as_ref().map_or(&[][..], |answer| &answer.body);
    // A packed sitemap tells its length only when it is unpacked: a few kilobytes may be many megabytes.
    let is_packed = matches!(visit.request.subject, Subject::Sitemap { .. }) && body.starts_with(GZIP);
    let slow = aside.0.as_ref().filter(|(takes_long, _)| takes_long(&visit)).map(|(_, places)| &**places);
    if is_packed || slow.is_some() || body.len() > DIGEST_INLINE_BYTES {
        // They are never closed; if they were, there would be no bound to keep.
        let places = slow.or(is_packed.then_some(unpacking));
        let _place = match places {
            Some(places) => places.acquire().await.ok(),
            None => None,
        };
        let (request, at, took) = (visit.request.clone(), visit.at, visit.took);
        let own = Arc::clone(&digest);
        match tokio::task::spawn_blocking(move || guarded(&*own, visit)).await {
            Ok(digested) => digested,
            Err(_) => digest(broken(request, at, took)),
        }
    } else {
        guarded(&*digest, visit)
    }
}

/// The last line of defence: a page that makes the digest panic is a malformed page, not the end of the crawl.
fn guarded<T>(digest: &dyn Fn(Visit) -> T, visit: Visit) -> T {
    let (request, at, took) = (visit.request.clone(), visit.at, visit.took);
    match catch_unwind(AssertUnwindSafe(|| digest(visit))) {
        Ok(digested) => digested,
        Err(_) => {
            tracing::error!(url = %request.url, "reading this page failed unexpectedly; it is recorded as malformed");
            digest(broken(request, at, took))
        }
    }
}

fn broken(request: Request, at: Timestamp, took: Duration) -> Visit {
    let reason = Some("the page can't be read".to_owned());
    Visit { request, at, took, outcome: Outcome::Failed(Failure::Malformed), reason, answer: None }
}

/// The reason of an outcome in words, for the host that it is a sign of.
fn in_words(outcome: &Outcome, status: Option<u16>, stored: Option<&str>) -> Option<String> {
    reason::in_words(outcome.code(), status, stored)
}

/// The outcome of a request, and its reason where the outcome and the status don't say it all. `conditional`: it named a
/// version that the server could compare with.
fn read_answer(answer: &Result<Answer, NoAnswer>, url: &Url, conditional: bool) -> (Outcome, Option<String>) {
    match answer {
        Err(none) => (none.outcome(), none.reason.clone()),
        Ok(answer) => {
            let outcome = outcome(answer, url, conditional);
            let asked = match &outcome {
                Outcome::Throttled { retry_after: Some(asked) } => {
                    Some(reason::throttled(answer.status, asked.as_secs()))
                }
                _ => None,
            };
            (outcome, asked)
        }
    }
}

fn outcome(answer: &Answer, url: &Url, conditional: bool) -> Outcome {
    match answer.status {
        // No content, a part of it (we never ask for a range), or a difference (RFC 3229, which we never ask for): none of
        // these is the page.
        204 | 205 | 206 | 226 => Outcome::HttpError,
        200..=299 => Outcome::Fetched,
        304 if conditional => Outcome::NotModified,
        301 | 302 | 303 | 307 | 308 => match location(answer, url) {
            Some(to) => Outcome::Redirected { to, permanent: matches!(answer.status, 301 | 308) },
            None => Outcome::BadRedirect(RedirectFault::BadLocation),
        },
        404 | 410 => Outcome::Missing,
        429 | 503 => Outcome::Throttled {
            retry_after: answer
                .header("retry-after")
                .and_then(|value| politeness::retry_after(value, told_time(answer))),
        },
        500..=599 => Outcome::ServerError,
        _ => Outcome::HttpError,
    }
}

/// The time by the server's own clock, which a date in `Retry-After` is measured by; our time if the server sends none.
fn told_time(answer: &Answer) -> SystemTime {
    let told = answer.header("date").and_then(|date| httpdate::parse_http_date(date).ok());
    told.unwrap_or_else(SystemTime::now)
}

/// Where a redirect leads. Raw UTF-8 is common in the header and means what it says; an empty one leads nowhere.
pub(super) fn location(answer: &Answer, url: &Url) -> Option<Url> {
    let value = answer.headers.get(reqwest::header::LOCATION)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let text = text.trim();
    if text.is_empty() { None } else { url.join(text).ok() }
}
