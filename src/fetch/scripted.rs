//! A scripted web in memory: the second implementation of [`Web`].
//!
//! Every URL has a list of answers, each with the time that it takes; the last one is given from then on. A URL without a
//! script is not found, so a host without a robots.txt allows everything. Requests are logged in the order in which they
//! came. Answers wait in tokio's time: where that is paused, a crawl of hours takes no time and always goes the same way.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, LOCATION};
use tokio::time::{Instant, sleep};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::visit::{Answer, Failure};
use super::web::{Ask, NoAnswer, Web};
use crate::page::Host;

/// The address of a host: one of those that documentation may use (RFC 3849), another for each name.
fn address(url: &Url) -> IpAddr {
    let name = xxh3_64(url.host_str().unwrap_or_default().as_bytes());
    IpAddr::V6(Ipv6Addr::from((0x2001_0db8_u128 << 96) | u128::from(name)))
}

/// How one request ends, and after which time.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    takes: Duration,
    ends: Result<(u16, HeaderMap, Bytes), Failure>,
}

impl ScriptedAnswer {
    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self { takes: Duration::ZERO, ends: Ok((status, HeaderMap::new(), Bytes::new())) }
    }

    /// A body of this type, with status 200.
    pub fn body(content_type: &str, body: impl Into<Bytes>) -> Self {
        let answer = Self { takes: Duration::ZERO, ends: Ok((200, HeaderMap::new(), body.into())) };
        answer.with_header(CONTENT_TYPE, content_type)
    }

    /// An HTML page.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::body("text/html; charset=utf-8", body)
    }

    /// A redirect: 301 or 308 for good, 302 or 307 for now.
    pub fn redirect(status: u16, to: &str) -> Self {
        Self::status(status).with_header(LOCATION, to)
    }

    /// No complete answer comes.
    pub fn failure(failure: Failure) -> Self {
        Self { takes: Duration::ZERO, ends: Err(failure) }
    }

    /// The same with a header more. A value that no header can have is left out.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        if let (Ok((_, headers, _)), Ok(value)) = (&mut self.ends, HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
        self
    }

    /// The same with an ETag: a request that names it is answered with 304.
    #[must_use]
    pub fn with_etag(self, etag: &str) -> Self {
        self.with_header(ETAG, etag)
    }

    /// The same, after a while.
    #[must_use]
    pub fn after(self, takes: Duration) -> Self {
        Self { takes, ..self }
    }

    fn answer(self, ask: &Ask) -> Result<Answer, NoAnswer> {
        let (mut status, headers, mut body) = self.ends.map_err(NoAnswer::from)?;
        let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok());
        if status == 200 && etag.is_some() && etag == ask.validators.etag.as_deref() {
            (status, body) = (304, Bytes::new());
        }
        let cut = body.len() > ask.max_bytes;
        body.truncate(ask.max_bytes);
        let (protocol, address) = (reqwest::Version::HTTP_11, Some(address(&ask.url)));
        Ok(Answer { status, protocol, headers, body, cut, address, place: None })
    }
}

/// A request that the scripted web got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The URL that was asked for.
    pub url: Url,
    /// When it came, in tokio's time.
    pub at: Instant,
    /// It asked whether the page is still the one that is held.
    pub is_conditional: bool,
}

/// A web that answers from a script. Shared by reference: scripts can be changed while a crawl runs.
#[derive(Debug, Default)]
pub struct ScriptedWeb {
    script: Mutex<Script>,
}

#[derive(Debug, Default)]
struct Script {
    answers: HashMap<String, VecDeque<ScriptedAnswer>>,
    unreachable: HashSet<Host>,
    log: Vec<LoggedRequest>,
}

impl ScriptedWeb {
    /// Gives a URL these answers, in place of those that it had. The URL must be written in full, as `https://a.example/`.
    pub fn set(&self, url: &str, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        self.script().answers.insert(url.to_owned(), answers.into_iter().collect());
    }

    /// Gives a URL an HTML page.
    pub fn set_page(&self, url: &str, html: &str) {
        self.set(url, [ScriptedAnswer::html(html.to_owned())]);
    }

    /// From here on the name of this host is not known.
    pub fn set_unreachable(&self, host: Host) {
        self.script().unreachable.insert(host);
    }

    /// The requests so far, in the order in which they came.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.script().log.clone()
    }

    /// The URLs asked for so far, robots.txt and sitemaps left out.
    pub fn pages_asked(&self) -> Vec<String> {
        let is_page = |url: &Url| !matches!(url.path(), "/robots.txt" | "/sitemap.xml");
        self.script()
            .log
            .iter()
            .map(|asked| &asked.url)
            .filter(|url| is_page(url))
            .map(Url::to_string)
            .collect()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs the request and finds its answer.
    fn next(&self, ask: &Ask) -> ScriptedAnswer {
        let mut script = self.script();
        let is_conditional = ask.validators.etag.is_some() || ask.validators.last_modified.is_some();
        script.log.push(LoggedRequest { url: ask.url.clone(), at: Instant::now(), is_conditional });
        let answers = script.answers.get_mut(ask.url.as_str());
        let answer = answers.and_then(|answers| match answers.len() {
            0 | 1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        answer.unwrap_or_else(|| ScriptedAnswer::status(404))
    }
}

impl Web for ScriptedWeb {
    async fn answer(&self, ask: Ask) -> Result<Answer, NoAnswer> {
        let answer = self.next(&ask);
        sleep(answer.takes).await;
        answer.answer(&ask)
    }

    async fn resolve(&self, url: &Url) -> Result<IpAddr, NoAnswer> {
        let is_known = Host::of(url).is_some_and(|host| !self.script().unreachable.contains(&host));
        if is_known { Ok(address(url)) } else { Err(Failure::Dns.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::Validators;

    fn ask(url: &str, etag: Option<&str>) -> Ask {
        Ask {
            url: Url::parse(url).expect("a URL"),
            validators: Validators { etag: etag.map(str::to_owned), ..Validators::default() },
            max_bytes: 10,
            wants_beginning: false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn answers_come_in_their_order_and_take_their_time() {
        let web = ScriptedWeb::default();
        let slow = ScriptedAnswer::html("slow").after(Duration::from_secs(3600));
        web.set("https://a.example/", [slow, ScriptedAnswer::status(503)]);
        let began = Instant::now();
        let first = web.answer(ask("https://a.example/", None)).await.expect("an answer");
        assert_eq!((first.status, &first.body[..], began.elapsed().as_secs()), (200, &b"slow"[..], 3600));
        for _ in 0..2 {
            assert_eq!(web.answer(ask("https://a.example/", None)).await.expect("an answer").status, 503);
        }
        assert_eq!(web.answer(ask("https://a.example/b", None)).await.expect("an answer").status, 404);
        let asked: Vec<_> = web.log().into_iter().map(|asked| (asked.at - began).as_secs()).collect();
        assert_eq!(asked, [0, 3600, 3600, 3600]);
    }

    #[tokio::test(start_paused = true)]
    async fn conditions_limits_and_failures_are_as_on_the_network() {
        let web = ScriptedWeb::default();
        web.set("https://a.example/", [ScriptedAnswer::html("0123456789 and more").with_etag("\"1\"")]);
        let cut = web.answer(ask("https://a.example/", None)).await.expect("an answer");
        assert_eq!((cut.cut, cut.body.len(), cut.header("etag")), (true, 10, Some("\"1\"")));
        let held = web.answer(ask("https://a.example/", Some("\"1\""))).await.expect("an answer");
        assert_eq!((held.status, held.body.len()), (304, 0));
        web.set("https://a.example/", [ScriptedAnswer::failure(Failure::HungUp)]);
        let failed = web.answer(ask("https://a.example/", None)).await.err();
        assert_eq!(failed, Some(Failure::HungUp.into()));
        let url = Url::parse("https://a.example/").expect("a URL");
        assert!(web.resolve(&url).await.is_ok());
        web.set_unreachable(Host::of(&url).expect("a host"));
        assert_eq!(web.resolve(&url).await, Err(Failure::Dns.into()));
    }
}
