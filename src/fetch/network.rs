//! The real web, over HTTP: one GET at a time, conditional where we hold something, within hard limits.
//!
//! Redirects are not followed here: each hop is a visit of its own, checked and paced like any other. Every address
//! is judged before it is dialled: literal ones here (the HTTP client asks no resolver for them), names in the
//! resolver hook, whose answer is the very list of addresses the client dials.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Host as UrlHost, Url};

use super::certificates;
use super::classify::{AnswerPhase, classify};
use super::limits::{AddressRules, Limits};
use super::resolver::{GuardedResolver, LookUpError, refused};
use super::visit::{Answer, Failure, LargePlace};
use super::web::{Ask, NoAnswer, Web};
use crate::page::{Host, SiteKey, Sites};

/// Settings of the network.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    /// Sent with every request, except to sites that have their own.
    pub user_agent: String,
    /// The limits on time.
    pub limits: Limits,
    /// How long a connection that is not used is kept: longer than the pause between two requests to a host, but
    /// short enough that idle connections of many hosts don't use up the file descriptors.
    pub keep_alive: Duration,
    /// The addresses that may be reached.
    pub addresses: AddressRules,
    /// Sites that are sent other headers.
    pub sites: Sites<SiteHeaders>,
}

/// Headers that one site is sent instead of the general ones.
#[derive(Clone, Debug)]
pub struct SiteHeaders {
    user_agent: Option<HeaderValue>,
    /// Often secrets: sent only to hosts that the key trusts.
    headers: HeaderMap,
    key: SiteKey,
}

impl SiteHeaders {
    /// The user agent and headers of a site. An error names the header that HTTP does not allow, never its value.
    pub fn new(
        key: SiteKey,
        user_agent: Option<&str>,
        headers: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, NetworkError> {
        let user_agent = user_agent.map(agent_value).transpose()?;
        let mut own = HeaderMap::new();
        for (name, value) in headers {
            let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(&value).ok());
            let (known, mut given) = parsed.ok_or(NetworkError::Header { name })?;
            given.set_sensitive(true);
            own.insert(known, given);
        }
        Ok(Self { user_agent, headers: own, key })
    }
}

/// Why the network could not be set up.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum NetworkError {
    #[error("{0:?} can't be sent as a user agent: it holds characters that no header may")]
    UserAgent(String),
    #[error("the header {name:?} can't be sent: its name or its value holds characters that no header may")]
    Header { name: String },
    #[error("the HTTP client could not be built")]
    Client(#[source] reqwest::Error),
    #[error("the trusted certificates of this system can't be read")]
    Certificates(#[source] rustls::Error),
}

/// A body beyond this is large: no page is, by the default limits, but a sitemap may be.
const LARGE_BYTES: usize = 8 << 20;

/// Large bodies that are held at the same time, from their arrival until they are read. Others wait before they grow.
const MOST_LARGE: usize = 4;

/// The live web.
pub struct Network {
    client: reqwest::Client,
    limits: Limits,
    addresses: Arc<AddressRules>,
    resolver: GuardedResolver,
    user_agent: HeaderValue,
    sites: Sites<SiteHeaders>,
    /// It was told that headers of a site are held back.
    told: AtomicBool,
    /// Places for large bodies.
    large: Arc<Semaphore>,
}

impl Network {
    /// Makes the client, with its own resolver. No connection is opened yet.
    pub fn new(settings: NetworkSettings) -> Result<Self, NetworkError> {
        // A second installation is refused, which is as good: a provider is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let addresses = Arc::new(settings.addresses);
        let resolver = GuardedResolver::new(Arc::clone(&addresses));
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(certificates::client_config().map_err(NetworkError::Certificates)?)
            .redirect(reqwest::redirect::Policy::none())
            // A proxy named in the environment would resolve names itself, past the address rules.
            .no_proxy()
            .retry(reqwest::retry::never())
            .dns_resolver(resolver.clone())
            .connect_timeout(settings.limits.connect)
            .pool_idle_timeout(settings.keep_alive)
            .pool_max_idle_per_host(1)
            .tcp_nodelay(true)
            .build()
            .map_err(NetworkError::Client)?;
        let user_agent = agent_value(&settings.user_agent)?;
        let (limits, sites) = (settings.limits, settings.sites);
        let large = Arc::new(Semaphore::new(MOST_LARGE));
        Ok(Self {
            client,
            limits,
            addresses,
            resolver,
            user_agent,
            sites,
            told: AtomicBool::new(false),
            large,
        })
    }

    fn judge(&self, address: IpAddr) -> Result<IpAddr, NoAnswer> {
        if self.addresses.permits(address) { Ok(address) } else { Err(refused(address)) }
    }

    fn request(&self, ask: &Ask) -> reqwest::Request {
        let mut request = reqwest::Request::new(reqwest::Method::GET, ask.url.clone());
        let headers = request.headers_mut();
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.5"),
        );
        // The validators came from a server: if one can't go back as a header, the request is a plain one.
        let conditions = [
            (header::IF_NONE_MATCH, &ask.validators.etag),
            (header::IF_MODIFIED_SINCE, &ask.validators.last_modified),
        ];
        for (name, held) in conditions {
            if let Some(value) = held.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
        if let Some(host) = Host::of(&ask.url)
            && let Some(own) = self.sites.of(host.name(), Some(host.port()))
        {
            if let Some(agent) = &own.user_agent {
                headers.insert(header::USER_AGENT, agent.clone());
            }
            if own.key.trusts(&host) {
                headers.extend(own.headers.clone());
            } else if !own.headers.is_empty() && !self.told.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    %host,
                    "headers of the site {} are not sent here: they go over https and to the named host alone, unless the name of the section begins with `http://` or `*.`",
                    own.key.site()
                );
            }
        }
        request
    }
}

impl Web for Network {
    async fn answer(&self, ask: Ask) -> Result<Answer, NoAnswer> {
        if let Some(address) = literal_address(&ask.url) {
            self.judge(address)?;
        }
        let started = Instant::now();
        let head = timeout(
            self.limits.connect.saturating_add(self.limits.idle),
            self.client.execute(self.request(&ask)),
        );
        let response = match head.await {
            Err(_) => return Err(Failure::NoAnswer.into()),
            Ok(Err(error)) => return Err(classify(&error, AnswerPhase::Head)),
            Ok(Ok(response)) => response,
        };
        let address = response.remote_addr().map(|address| address.ip());
        if let Some(address) = address {
            self.judge(address)?;
        }
        let (status, protocol) = (response.status().as_u16(), response.version());
        let undo = if has_body(status) { Undo::of(response.headers())? } else { Undo::Nothing };
        let mut headers = response.headers().clone();
        if matches!(undo, Undo::Gzip) {
            // The body is given without it, as the client does where it undoes an encoding.
            headers.remove(header::CONTENT_ENCODING);
            headers.remove(header::CONTENT_LENGTH);
        }
        let mut place = None;
        let (body, cut) = if has_body(status) {
            let body = self.body(response, &ask, started + self.limits.total, &mut place).await?;
            if matches!(undo, Undo::Gzip) && ask.max_bytes > LARGE_BYTES {
                self.take_place(&mut place).await;
            }
            undo.apply(body, ask.max_bytes)?
        } else {
            // A short body is read to its end, so that the connection can be used again; a long one is not worth it.
            if response.content_length().is_some_and(|length| length <= DRAINED_BYTES) {
                let _ = timeout(self.limits.idle, response.bytes()).await;
            }
            (Bytes::new(), false)
        };
        Ok(Answer { status, protocol, headers, body, cut, address, place })
    }

    async fn resolve(&self, url: &Url) -> Result<IpAddr, NoAnswer> {
        if let Some(address) = literal_address(url) {
            return self.judge(address);
        }
        let name = url.host_str().ok_or(Failure::Dns)?;
        let looked_up = timeout(self.limits.connect, self.resolver.look_up(name)).await;
        let in_time = looked_up.map_err(|_| NoAnswer::because(Failure::Dns, "DNS lookup timed out"))?;
        let addresses = in_time.map_err(LookUpError::into_answer)?;
        Ok(addresses.first().copied().ok_or(Failure::Dns)?)
    }
}

impl Network {
    /// The body, and whether it went on beyond the limit. One that grows large takes a place.
    async fn body(
        &self,
        mut response: reqwest::Response,
        ask: &Ask,
        mut deadline: Instant,
        place: &mut Option<LargePlace>,
    ) -> Result<(Bytes, bool), NoAnswer> {
        let promised = response.content_length().and_then(|length| usize::try_from(length).ok());
        let too_long = promised.is_some_and(|length| length > ask.max_bytes);
        if too_long && !ask.wants_beginning && !is_text(response.headers()) {
            // The beginning of a film is of no use to anyone.
            return Ok((Bytes::new(), true));
        }
        let mut body = BytesMut::with_capacity(promised.unwrap_or(0).min(1 << 20));
        loop {
            let until = deadline.min(Instant::now() + self.limits.idle);
            let chunk = match timeout_at(until, response.chunk()).await {
                Err(_) => return Err(Failure::TooSlow.into()),
                Ok(Err(error)) => return Err(classify(&error, AnswerPhase::Body)),
                Ok(Ok(None)) => return Ok((body.freeze(), false)),
                Ok(Ok(Some(chunk))) => chunk,
            };
            let room = ask.max_bytes.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                return Ok((body.freeze(), true));
            }
            if body.len() > LARGE_BYTES && place.is_none() {
                let waits = Instant::now();
                self.take_place(place).await;
                // The host is not to blame for the wait.
                deadline += waits.elapsed();
            }
        }
    }

    /// Waits for a place for a large body, if it has none.
    async fn take_place(&self, place: &mut Option<LargePlace>) {
        if place.is_none() {
            // It is never closed; if it were, there would be no bound to keep.
            *place =
                Arc::clone(&self.large).acquire_owned().await.ok().map(|permit| LargePlace(Arc::new(permit)));
        }
    }
}

/// The encodings of a body that are still to be undone. The client undoes one and takes its name away, but it knows names
/// in lower case only, and not the old name of gzip (RFC 9110 §8.4.1.3).
#[derive(Clone, Copy)]
enum Undo {
    Nothing,
    Gzip,
}

impl Undo {
    fn of(headers: &HeaderMap) -> Result<Self, NoAnswer> {
        let Some(named) = headers.get(header::CONTENT_ENCODING) else { return Ok(Undo::Nothing) };
        match named.to_str().unwrap_or("?").trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Undo::Nothing),
            "gzip" | "x-gzip" => Ok(Undo::Gzip),
            // Unknown, or more than one: layers upon layers are how a bomb is built.
            _ => Err(Failure::Encoding.into()),
        }
    }

    fn apply(self, (body, cut): (Bytes, bool), max_bytes: usize) -> Result<(Bytes, bool), NoAnswer> {
        use std::io::Read as _;
        match self {
            Undo::Nothing => Ok((body, cut)),
            Undo::Gzip => {
                let mut plain = Vec::new();
                let most = max_bytes as u64 + 1;
                let read =
                    flate2::read::MultiGzDecoder::new(body.as_ref()).take(most).read_to_end(&mut plain);
                let longer = plain.len() > max_bytes;
                plain.truncate(max_bytes);
                match read {
                    Err(_) if !cut => Err(Failure::Encoding.into()),
                    _ => Ok((plain.into(), cut || longer)),
                }
            }
        }
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("text/");
    kind.starts_with("text/") || kind.contains("html") || kind.contains("xml")
}

/// The address, when a URL names one instead of a host: no resolver is asked about these.
fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        UrlHost::Domain(_) => None,
        UrlHost::Ipv4(v4) => Some(IpAddr::V4(v4)),
        UrlHost::Ipv6(v6) => Some(IpAddr::V6(v6)),
    }
}

/// The longest body that is read only to throw it away.
const DRAINED_BYTES: u64 = 32 << 10;

/// Statuses whose body is worth reading: pages, and the robots.txt of a host. Others are closed unread.
fn has_body(status: u16) -> bool {
    (200..300).contains(&status) && status != 204
}

fn agent_value(agent: &str) -> Result<HeaderValue, NetworkError> {
    HeaderValue::from_str(agent).map_err(|_| NetworkError::UserAgent(agent.to_owned()))
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
