//! What a path answers: a request comes in, the bytes that go out and their pace come out.
//!
//! A [`Reply`] is what a test writes down. When a request arrives it is settled (sequences and closures are
//! asked, until nothing is left to decide) and then turned into an [`Answer`], which a connection only has to
//! send.

use super::log::find_header;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// A request as the site read it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method as sent.
    pub method: String,
    /// The path with its query, as sent: nothing is decoded.
    pub path: String,
    /// The headers in the order and spelling they were sent.
    pub headers: Vec<(String, String)>,
    /// Which host was asked, counted from 0.
    pub host: usize,
    /// How often this host was asked for this exact path, this time included. Clearing the log does not reset
    /// it.
    pub count: usize,
}

impl Request {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

/// What a path answers. The builders may be called on any reply: on a sequence or a closure they hold for
/// whatever it answers, over what that answer says itself. What makes no sense on a reply (a header on raw
/// bytes) is ignored.
#[derive(Clone)]
pub struct Reply {
    content: Content,
    manner: Manner,
}

#[derive(Clone)]
enum Content {
    Page { status: u16, content_type: String, body: Arc<[u8]> },
    Raw(Arc<[u8]>),
    Reset,
    Silent,
    Sequence(Arc<[Reply]>),
    Dynamic(Arc<dyn Fn(&Request) -> Reply + Send + Sync>),
}

#[derive(Clone, Default)]
struct Manner {
    headers: Vec<(String, String)>,
    delay: Option<Duration>,
    drip: Option<Drip>,
    truncate: Option<usize>,
    gzip: bool,
    etag: Option<String>,
    last_modified: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Drip {
    pub(super) bytes_per_piece: usize,
    pub(super) every: Duration,
}

impl Reply {
    /// 200 with an HTML body in UTF-8.
    pub fn html(body: impl Into<String>) -> Reply {
        Reply::status(200, body)
    }

    /// 200 with a plain text body in UTF-8: robots.txt, for one.
    pub fn text(body: impl Into<String>) -> Reply {
        Reply::bytes("text/plain; charset=utf-8", body.into())
    }

    /// Any status with an HTML body in UTF-8. 1xx, 204 and 304 go out without the body.
    pub fn status(code: u16, body: impl Into<String>) -> Reply {
        Reply::content(Content::Page {
            status: code,
            content_type: "text/html; charset=utf-8".to_string(),
            body: body.into().into_bytes().into(),
        })
    }

    /// A redirect; the location is sent as given, absolute or relative.
    pub fn redirect(code: u16, location: impl Into<String>) -> Reply {
        Reply::status(code, "").header("Location", location)
    }

    /// 200 with any body of any type.
    pub fn bytes(content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Reply {
        Reply::content(Content::Page {
            status: 200,
            content_type: content_type.into(),
            body: body.into().into(),
        })
    }

    /// These bytes on the wire as they are, head included, then the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply::content(Content::Raw(bytes.into().into()))
    }

    /// The connection is reset before a byte is answered.
    pub fn reset() -> Reply {
        Reply::content(Content::Reset)
    }

    /// No answer, ever, until the client hangs up or the site is dropped.
    pub fn silent() -> Reply {
        Reply::content(Content::Silent)
    }

    /// A different reply each time: first, second, …; the last repeats. Turns are counted from when the page
    /// was scripted, on each host apart. Panics without replies.
    pub fn sequence(replies: Vec<Reply>) -> Reply {
        assert!(!replies.is_empty(), "a sequence needs at least one reply");
        Reply::content(Content::Sequence(replies.into()))
    }

    /// Whatever the closure says. It may block; a panic in it closes the connection and fails the test when
    /// the site is dropped.
    pub fn dynamic(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Reply {
        Reply::content(Content::Dynamic(Arc::new(answer)))
    }

    /// Adds a header. One that the site would write itself (type, length, encoding, connection) is replaced;
    /// after a length that was given by hand the connection is closed, as the length may be a lie.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Reply {
        self.manner.headers.push((name.into(), value.into()));
        self
    }

    /// Waits before the head is sent, or before the connection is reset. A client that hangs up meanwhile
    /// ends the wait, but not that for a reset: there the site can't see it go.
    pub fn delay(mut self, delay: Duration) -> Reply {
        self.manner.delay = Some(delay);
        self
    }

    /// Compresses the body, whatever the client accepts.
    pub fn gzip(mut self) -> Reply {
        self.manner.gzip = true;
        self
    }

    /// Sends this `ETag`, quotes as given, and answers 304 to a request whose `If-None-Match` holds it.
    pub fn etag(mut self, value: impl Into<String>) -> Reply {
        self.manner.etag = Some(value.into());
        self
    }

    /// Sends this `Last-Modified`, and answers 304 to a request whose `If-Modified-Since` equals it. As RFC
    /// 9110 §13.1.3 has it, `If-None-Match` decides alone when there is one.
    pub fn last_modified(mut self, http_date: impl Into<String>) -> Reply {
        self.manner.last_modified = Some(http_date.into());
        self
    }

    /// Sends the head and a first piece of the body, then a piece more after each pause.
    pub fn drip(mut self, bytes_per_piece: usize, every: Duration) -> Reply {
        self.manner.drip = Some(Drip { bytes_per_piece: bytes_per_piece.max(1), every });
        self
    }

    /// Closes the connection after so many bytes of the body as it goes over the wire, though the head
    /// promised all.
    pub fn truncate(mut self, after: usize) -> Reply {
        self.manner.truncate = Some(after);
        self
    }

    fn content(content: Content) -> Reply {
        Reply { content, manner: Manner::default() }
    }

    /// Asks sequences and closures until nothing is left to decide. Runs the test's own code: hold no lock.
    pub(super) fn settle(self, request: &Request, turn: usize) -> Reply {
        let chosen = match &self.content {
            Content::Sequence(replies) => replies.get(turn.max(1) - 1).or(replies.last()).cloned(),
            Content::Dynamic(answer) => Some(answer(request)),
            _ => None,
        };
        match chosen {
            Some(chosen) => chosen.settle(request, turn).with_manner_of(self),
            None => self,
        }
    }

    fn with_manner_of(self, outer: Reply) -> Reply {
        let (inner, outer) = (self.manner, outer.manner);
        let mut headers = inner.headers;
        headers.extend(outer.headers);
        let manner = Manner {
            headers,
            delay: outer.delay.or(inner.delay),
            drip: outer.drip.or(inner.drip),
            truncate: outer.truncate.or(inner.truncate),
            gzip: outer.gzip || inner.gzip,
            etag: outer.etag.or(inner.etag),
            last_modified: outer.last_modified.or(inner.last_modified),
        };
        Reply { content: self.content, manner }
    }

    /// What a connection does for this request. The reply must have been settled; one that was not is silent.
    pub(super) fn answer(self, request: &Request) -> Answer {
        let Reply { content, manner } = self;
        let delay = manner.delay.unwrap_or_default();
        let action = match content {
            Content::Reset => Action::Reset,
            Content::Silent | Content::Sequence(_) | Content::Dynamic(_) => Action::Silent,
            Content::Raw(bytes) => Action::Send(Parcel {
                status: status_of(&bytes),
                head: Vec::new(),
                body: cut(&bytes, manner.truncate),
                drip: manner.drip,
                close: true,
            }),
            Content::Page { status, content_type, body } => {
                Action::Send(page_parcel(request, manner, status, content_type, &body))
            }
        };
        Answer { delay, action }
    }
}

impl From<&str> for Reply {
    fn from(body: &str) -> Reply {
        Reply::html(body)
    }
}

impl From<String> for Reply {
    fn from(body: String) -> Reply {
        Reply::html(body)
    }
}

/// What a connection does for one request, after a delay.
pub(super) struct Answer {
    pub(super) delay: Duration,
    pub(super) action: Action,
}

pub(super) enum Action {
    Reset,
    Silent,
    Send(Parcel),
}

/// Bytes for the wire: the head, then the body at its pace.
pub(super) struct Parcel {
    pub(super) status: u16,
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) drip: Option<Drip>,
    pub(super) close: bool,
}

fn page_parcel(request: &Request, manner: Manner, status: u16, content_type: String, body: &[u8]) -> Parcel {
    let status = if status == 200 && is_not_modified(request, &manner) { 304 } else { status };
    let has_body = !(matches!(status, 204 | 304) || (100..200).contains(&status));
    let given = |name: &str| find_header(&manner.headers, name);

    let mut own = Vec::new();
    let mut wire_body = Vec::new();
    if has_body {
        own.push(("Content-Type", content_type));
        wire_body = if manner.gzip { compress(body) } else { body.to_vec() };
        if manner.gzip {
            own.push(("Content-Encoding", "gzip".to_string()));
        }
        // A message framed by its transfer coding must not carry a length as well (RFC 9112 §6.2).
        if given("Transfer-Encoding").is_none() {
            own.push(("Content-Length", wire_body.len().to_string()));
        }
    }
    own.extend(manner.etag.clone().map(|etag| ("ETag", etag)));
    own.extend(manner.last_modified.clone().map(|date| ("Last-Modified", date)));
    let close = manner.truncate.is_some()
        || given("Content-Length").is_some()
        || given("Transfer-Encoding").is_some()
        || has_token(given("Connection"), "close")
        || has_token(request.header("Connection"), "close");
    if close {
        own.push(("Connection", "close".to_string()));
    }

    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let own = own.into_iter().filter(|(name, _)| given(name).is_none());
    let others = manner.headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
    for (name, value) in own.chain(others) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let body = if request.method == "HEAD" { Vec::new() } else { cut(&wire_body, manner.truncate) };
    Parcel { status, head: head.into_bytes(), body, drip: manner.drip, close }
}

fn is_not_modified(request: &Request, manner: &Manner) -> bool {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return false;
    }
    if let Some(held) = request.header("If-None-Match") {
        // Weak comparison, the one If-None-Match asks for (RFC 9110 §13.1.2).
        let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_string();
        return manner.etag.as_deref().is_some_and(|etag| {
            held.trim() == "*"
                || strong(held) == strong(etag)
                || held.split(',').any(|one| strong(one) == strong(etag))
        });
    }
    manner.last_modified.is_some() && manner.last_modified.as_deref() == request.header("If-Modified-Since")
}

pub(super) fn has_token(value: Option<&str>, token: &str) -> bool {
    value.is_some_and(|value| value.split(',').any(|one| one.trim().eq_ignore_ascii_case(token)))
}

fn cut(bytes: &[u8], after: Option<usize>) -> Vec<u8> {
    after.and_then(|after| bytes.get(..after)).unwrap_or(bytes).to_vec()
}

fn compress(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// The status in raw bytes that begin as a response does; 0 in others.
fn status_of(bytes: &[u8]) -> u16 {
    let line: Vec<u8> = bytes.iter().take_while(|byte| **byte != b'\r').take(64).copied().collect();
    let line = String::from_utf8_lossy(&line);
    let code = line.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1));
    code.and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        411 => "Length Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
