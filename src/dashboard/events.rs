//! What happens in the store, told to browsers as it happens: server-sent events at `/events`.
//!
//! One task asks the store once a second while somebody listens: for the end of the log and the last cycle, which are two rows.
//! `state` is sent first, `news` whenever something has changed, and a comment now and then, so that a connection that is dead is
//! found out. A stream ends when the server stops; a browser connects again by itself.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::look::LookError;
use crate::store::Store;

use super::Dashboard;
use super::trouble::Trouble;

/// How often the store is asked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a stream says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Streams at a time.
const MOST_STREAMS: usize = 64;
/// Events that wait for a slow reader.
const MOST_WAITING: usize = 8;

/// How far the crawl is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct News {
    /// The number of the last visit in the log.
    pub observation_id: i64,
    /// The last cycle, ended or not.
    pub cycle_id: Option<i64>,
    /// It has not ended.
    pub is_open: bool,
    /// Requests it has sent.
    pub requests: u64,
    /// Requests it may send.
    pub budget: Option<u64>,
    /// Visits that found a change.
    pub changed: u64,
    /// Pages found that were not known.
    pub new_pages: u64,
    /// Visits that failed.
    pub failed: u64,
}

/// Reads how far the crawl is: two rows.
pub(crate) fn news(store: &mut dyn Store) -> Result<News, LookError> {
    let observation_id = store.log_end()?;
    let Some(cycle) = store.cycles(1)?.into_iter().next() else {
        return Ok(News { observation_id, ..News::default() });
    };
    Ok(News {
        observation_id,
        cycle_id: Some(cycle.id),
        is_open: cycle.ended_at.is_none(),
        requests: cycle.requests,
        budget: cycle.budget,
        changed: cycle.changed,
        new_pages: cycle.new_pages,
        failed: cycle.failed,
    })
}

/// The task that asks the store, and the place where its answer stands.
pub(super) struct Pulse {
    news: watch::Sender<News>,
    is_asking: AtomicBool,
    seats: Arc<Semaphore>,
}

impl Default for Pulse {
    fn default() -> Self {
        let seats = Arc::new(Semaphore::new(MOST_STREAMS));
        Self { news: watch::Sender::default(), is_asking: AtomicBool::new(false), seats }
    }
}

impl Pulse {
    /// Asks as long as somebody listens.
    async fn ask(pulse: Weak<Pulse>, site: Dashboard) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(pulse) = pulse.upgrade() else { return };
            if pulse.news.receiver_count() == 0 {
                pulse.is_asking.store(false, Ordering::SeqCst);
                // Somebody may have come between the two.
                if pulse.news.receiver_count() == 0 || pulse.is_asking.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            // A store that can't be read now may be read in a second.
            if let Ok(found) = site.look(news).await {
                pulse.news.send_if_modified(|known| {
                    let is_new = *known != found;
                    *known = found;
                    is_new
                });
            }
        }
    }
}

/// A stream of events.
pub(super) async fn events(State(site): State<Dashboard>) -> Result<Response, Trouble> {
    let pulse = &site.pulse;
    let seat = Arc::clone(&pulse.seats).try_acquire_owned().map_err(|_| Trouble::Busy)?;
    let found = site.look(news).await?;
    let mut listener = pulse.news.subscribe();
    if !pulse.is_asking.swap(true, Ordering::SeqCst) {
        tokio::spawn(Pulse::ask(Arc::downgrade(pulse), site.clone()));
    }
    let (to, from) = mpsc::channel(MOST_WAITING);
    let mut stopped = site.settings().stopped.clone();
    tokio::spawn(async move {
        let _seat = seat;
        listener.mark_unchanged();
        let mut last = found;
        let mut next = written("state", &last);
        loop {
            if to.send(next).await.is_err() {
                return;
            }
            next = loop {
                tokio::select! {
                    () = to.closed() => return,
                    _ = stopped.wait_for(|stopped| *stopped) => return,
                    () = tokio::time::sleep(ALIVE_EVERY) => break Bytes::from_static(b": alive\n\n"),
                    changed = listener.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        let found = listener.borrow_and_update().clone();
                        if found != last {
                            last = found;
                            break written("news", &last);
                        }
                    }
                }
            };
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::new(EventStream(from))).into_response())
}

fn written(name: &str, news: &News) -> Bytes {
    let data = serde_json::to_string(news).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The events of one connection, as the body of its answer.
struct EventStream(mpsc::Receiver<Bytes>);

impl hyper::body::Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
