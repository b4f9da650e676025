//! SIGINT and SIGTERM: the first asks to stop, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::watch;

use freshet::crawl::process_group;

use crate::terminal::Talk;

/// Said at the first signal where running requests are waited for.
pub(crate) const STOPPING_CRAWL: &str = "stopping after the running requests; press Ctrl-C again to quit now";

/// Waits for signals. The first is announced with `stopping`, and turns `stop` true; the second ends the program. `signal`
/// gets the exit code that goes with the signal.
pub(crate) async fn listen(
    stop: watch::Sender<bool>,
    signal: Arc<AtomicU8>,
    talk: Talk,
    stopping: &'static str,
) {
    use tokio::signal::unix::{SignalKind, signal as signals};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signals(SignalKind::interrupt()), signals(SignalKind::terminate()))
    else {
        tracing::warn!(
            "signals can't be listened for: an interrupted crawl goes on with the next run all the same"
        );
        // The sender must live, or the crawl would take its end for a request to stop.
        return std::future::pending().await;
    };
    loop {
        let code = tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
        };
        if signal.swap(code, Ordering::SeqCst) != 0 {
            process_group::end_all();
            std::process::exit(i32::from(code));
        }
        talk.say(stopping);
        let _ = stop.send(true);
    }
}
