//! The web on its sockets: a host an address, all on one port of loopback, HTTP/1.1 with keep-alive.
//!
//! Memory grows with the connections that are open and with nothing else.

mod content_cache;
pub(crate) mod model_answer;
pub mod recording;
pub(crate) mod recording_answer;
mod recording_lists;
pub(crate) mod truth_json;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::model_answer::{HttpAnswer, ModelDesk};
use self::recording::Recording;
use self::recording_answer::RecordedDesk;
use crate::model_web::model::clock::Clock;
use crate::model_web::model::site::Site;
use crate::model_web::model::spec::{SpecError, WebSpec};
use crate::time::Timestamp;

/// 127.0.1.1 to 127.0.254.250.
pub(crate) const MOST_HOSTS: u32 = HOSTS_PER_RANGE * 254;
const HOSTS_PER_RANGE: u32 = 250;
/// A port that is free on the first host may be taken on another: then another is tried.
const TRIES: u32 = 5;
/// After a failed accept (no file descriptor left, most likely), wait for connections to end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// A connection that is idle for this time is closed. It is longer than any crawler's delay is likely to be.
const IDLE: Duration = Duration::from_secs(600);
/// How long open connections may take to end once the web is to stop.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why a web can't be started.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ServerError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("the number of hosts is `{0}`; it must be from 1 to {MOST_HOSTS}")]
    Hosts(u32),
    #[error("`{address}` can't be listened on: {source}")]
    Bind { address: SocketAddr, source: io::Error },
}

/// The source of the hosts' answers.
#[derive(Clone, Debug)]
enum WebSource {
    Model(Arc<WebSpec>),
    Recording(Arc<Recording>),
}

/// A web that listens, and answers once it is served.
#[derive(Debug)]
pub struct Server {
    source: WebSource,
    clock: Clock,
    hosts: Vec<(TcpListener, Arc<str>)>,
}

impl Server {
    /// Listens on all hosts' addresses. Port 0 takes one that is free on all of them.
    pub async fn bind(spec: WebSpec, hosts: u32, port: u16, clock: Clock) -> Result<Self, ServerError> {
        spec.check()?;
        Self::listening(WebSource::Model(Arc::new(spec)), hosts, port, clock).await
    }

    /// Listens on an address for each group of a recording.
    pub async fn replay(recording: Recording, port: u16, clock: Clock) -> Result<Self, ServerError> {
        let hosts = u32::try_from(recording.groups.len()).unwrap_or(u32::MAX);
        Self::listening(WebSource::Recording(Arc::new(recording)), hosts, port, clock).await
    }

    async fn listening(source: WebSource, hosts: u32, port: u16, clock: Clock) -> Result<Self, ServerError> {
        if !(1..=MOST_HOSTS).contains(&hosts) {
            return Err(ServerError::Hosts(hosts));
        }
        let mut tries = if port == 0 { TRIES } else { 1 };
        let listening = loop {
            tries -= 1;
            match listen(hosts, port).await {
                Ok(listening) => break listening,
                Err(error) if tries == 0 => return Err(error),
                Err(_) => {}
            }
        };
        Ok(Self { source, clock, hosts: listening })
    }

    /// `http://127.0.1.1:8000` and so on, a host each.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|(_, origin)| &**origin)
    }

    /// Answers until `stop` turns true or its sender is gone; then ends what is open, within two seconds.
    pub async fn serve(self, stop: watch::Receiver<bool>) {
        let mut hosts = JoinSet::new();
        for (host, (listener, origin)) in self.hosts.into_iter().enumerate() {
            let door = Door { source: self.source.clone(), clock: self.clock, host: host as u32, origin };
            hosts.spawn(door.open(listener, stop.clone()));
        }
        while hosts.join_next().await.is_some() {}
    }
}

async fn listen(hosts: u32, mut port: u16) -> Result<Vec<(TcpListener, Arc<str>)>, ServerError> {
    let mut listening = Vec::new();
    for host in 0..hosts {
        let address = SocketAddr::from((address(host), port));
        let failed = |source| ServerError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        port = bound.port();
        listening.push((listener, format!("http://{bound}").into()));
    }
    Ok(listening)
}

/// Where a host of that number listens.
pub(super) fn address(host: u32) -> Ipv4Addr {
    // Both are below 256 for every host that `bind` lets in.
    Ipv4Addr::new(127, 0, (1 + host / HOSTS_PER_RANGE) as u8, (1 + host % HOSTS_PER_RANGE) as u8)
}

/// One host, and what it needs to answer.
#[derive(Clone)]
struct Door {
    source: WebSource,
    clock: Clock,
    host: u32,
    origin: Arc<str>,
}

impl Door {
    async fn open(self, listener: TcpListener, stopped: watch::Receiver<bool>) {
        let mut stop = stopped.clone();
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(self.clone().talk(stream, stopped.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, origin = &*self.origin, "a connection could not be taken");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
                () = told(&mut stop) => break,
            }
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        // A connection that has not ended by then is cut off when the set is dropped.
        let _ = tokio::time::timeout(FAREWELL, all).await;
    }

    async fn talk(self, stream: TcpStream, mut stop: watch::Receiver<bool>) {
        // Small answers must not wait for each other; where that can't be set, they do.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| self.answer(request));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(IDLE);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // A client that breaks off or talks nonsense ends its own connection and nothing else.
            _ = connection.as_mut() => return,
            () = told(&mut stop) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<HttpAnswer, Infallible> {
        let (head, _) = request.into_parts();
        let now = Timestamp::now();
        let is_long = match &self.source {
            WebSource::Model(_) => model_answer::is_long(head.uri.path()),
            // Contents come from a file and have to be unpacked.
            WebSource::Recording(_) => true,
        };
        let mut answer = if is_long {
            // Not where others wait for their answers.
            let door = self.clone();
            let answered = tokio::task::spawn_blocking(move || door.answer_at(&head, now)).await;
            answered.unwrap_or_else(|_| model_answer::missing(StatusCode::INTERNAL_SERVER_ERROR))
        } else {
            self.answer_at(&head, now)
        };
        answer.headers_mut().insert(header::SERVER, header::HeaderValue::from_static("freshet-web"));
        Ok(answer)
    }

    fn answer_at(&self, head: &Parts, now: Timestamp) -> HttpAnswer {
        let (clock, origin) = (self.clock, &*self.origin);
        match &self.source {
            WebSource::Model(spec) => {
                let desk = ModelDesk { site: Site::new(spec, self.host), clock, origin, now };
                desk.answer(&head.method, &head.uri, &head.headers)
            }
            WebSource::Recording(recording) => match recording.groups.get(self.host as usize) {
                Some(group) => {
                    let desk = RecordedDesk { recording, group, host: self.host, clock, origin, now };
                    desk.answer(&head.method, &head.uri, &head.headers)
                }
                None => model_answer::missing(StatusCode::NOT_FOUND),
            },
        }
    }
}

/// Until the web is to stop.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_an_address_of_its_own() {
        assert_eq!(address(0).to_string(), "127.0.1.1");
        assert_eq!(address(249).to_string(), "127.0.1.250");
        assert_eq!(address(250).to_string(), "127.0.2.1");
        assert_eq!(address(MOST_HOSTS - 1).to_string(), "127.0.254.250");
    }
}
