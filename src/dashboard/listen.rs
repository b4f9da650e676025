//! The socket: connections in, answers of the dashboard out, HTTP/1.1 with keep-alive.
//!
//! A connection that says nothing is closed, and there are never more than a fixed number of them, so memory is bounded whoever
//! calls.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// Connections at a time: a browser opens six and a stream of events, so this is a dozen people and their monitoring.
const MOST_CONNECTIONS: usize = 128;
/// How long a connection may say nothing between requests, or take to send the head of one.
const IDLE: Duration = Duration::from_secs(60);
/// Most headers of a request.
const MOST_HEADERS: usize = 64;
/// Bytes of a request's head that are read.
const HEAD_BYTES: usize = 32 << 10;
/// Pause after a connection could not be taken: there may be no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long open requests have to end when the server is stopped.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves until it is stopped; open requests are answered then, streams of events end.
pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>) {
    let mut stop = stopped.clone();
    let seats = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            let seat = Arc::clone(&seats).acquire_owned().await;
            (seat, listener.accept().await)
        };
        tokio::select! {
            (seat, accepted) = accepted => match (seat, accepted) {
                (Ok(seat), Ok((stream, _))) => {
                    let talk = talk(stream, router.clone(), stopped.clone());
                    connections.spawn(async move {
                        let _seat = seat;
                        talk.await;
                    });
                }
                (_, Err(error)) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
                // The semaphore is never closed.
                (Err(_), _) => break,
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

/// One connection, from its first request to its last.
async fn talk(stream: TcpStream, router: Router, mut stop: watch::Receiver<bool>) {
    // Small answers must not wait for each other; where that can't be set, they do.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_headers(MOST_HEADERS)
        .max_buf_size(HEAD_BYTES);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    tokio::select! {
        // A client that breaks off or talks nonsense ends its own connection and nothing else.
        _ = connection.as_mut() => return,
        () = told(&mut stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Waits until the server is stopped. If the sender is gone, nothing can stop it any more, so it stops too.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
