//! `--on-change CMD`: a command for every event of a page, with the event as JSON on its standard input.
//!
//! The crawl never waits for it: events queue up here, a few commands run at a time, each within its time limit. A command
//! that fails or takes too long is reported. A command runs at most once for an event: when the crawl is stopped, commands
//! that wait are not run any more, and those that run may end. A command that is killed is killed with every process it
//! started, however the crawl ends.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use freshet::crawl::Crawler;
use freshet::crawl::process_group::ProcessGroup;
use freshet::fetch::network::Network;
use freshet::look::crawled::HookCounts;
use freshet::observation::EventKind;
use freshet::report::number;
use freshet::store::PageEvent;

use crate::cli::CrawlArgs;
use crate::settings::{Settings, Usage};
use crate::terminal::{Talk, json_line};

/// Commands that run at the same time.
const AT_ONCE: usize = 4;
/// Before it is said what the program waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The command that is run for each event.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    pub command: String,
    pub timeout: Duration,
    /// It runs for events of these kinds.
    pub kinds: Vec<EventKind>,
    /// Passed to the command, so that it can look up more.
    pub store: PathBuf,
}

/// The event, as a command gets it.
#[derive(Serialize)]
struct ToldEvent<'a> {
    #[serde(flatten)]
    event: &'a PageEvent,
    store: &'a Path,
}

/// A hook that runs beside a crawl.
pub(crate) struct Hooked {
    running: JoinHandle<HookCounts>,
}

impl Hooked {
    /// Runs the hook for every event that the crawler tells of, until `stopped` turns true.
    pub(crate) fn start(
        hook: Hook,
        crawler: &mut Crawler<Network>,
        stopped: watch::Receiver<bool>,
        talk: &Talk,
    ) -> Self {
        let (tell, told) = unbounded_channel();
        crawler.tell_events(tell);
        Self { running: tokio::spawn(hook.serve(told, stopped, talk.clone())) }
    }

    /// Waits for the commands that still run when the crawl is done.
    pub(crate) async fn finish(mut self, talk: &Talk) -> anyhow::Result<HookCounts> {
        let ran = match tokio::time::timeout(PATIENCE, &mut self.running).await {
            Ok(ran) => ran,
            Err(_) => {
                talk.say(
                    "the crawl is done; waiting for the commands of --on-change (Ctrl-C leaves the rest out)",
                );
                self.running.await
            }
        };
        let ran = ran.context("the commands of --on-change ended unexpectedly")?;
        if ran.failed > 0 {
            let all = number(ran.well + ran.failed);
            talk.say(&format!("warning: {} of {all} commands of --on-change failed", number(ran.failed)));
        }
        if ran.not_run > 0 {
            talk.say(&format!("--on-change was not run for {} more events", number(ran.not_run)));
        }
        Ok(ran)
    }
}

impl Hook {
    /// The hook that the flags ask for.
    pub(crate) fn of(arguments: &CrawlArgs, settings: &Settings) -> Result<Option<Hook>, Usage> {
        let timeout =
            Duration::try_from_secs_f64(arguments.on_change_timeout).ok().filter(|time| !time.is_zero());
        let timeout = timeout.ok_or_else(|| {
            let wrong = arguments.on_change_timeout;
            Usage(format!("--on-change-timeout is `{wrong}`; it must be more than 0 seconds"))
        })?;
        let store = std::path::absolute(&settings.store).unwrap_or_else(|_| settings.store.clone());
        let mut kinds = arguments.on_change_kinds.clone();
        if kinds.is_empty() {
            kinds.extend(EventKind::ALL.into_iter().filter(|kind| *kind != EventKind::New));
        }
        Ok(arguments.on_change.clone().map(|command| Hook { command, timeout, kinds, store }))
    }

    /// Runs the command for every event that comes, until no more can come and all have ended. Once `stopped` is true, no
    /// more are started.
    async fn serve(
        self,
        mut events: UnboundedReceiver<PageEvent>,
        stopped: watch::Receiver<bool>,
        talk: Talk,
    ) -> HookCounts {
        let mut running = JoinSet::new();
        let mut ran = HookCounts::default();
        let mut open = true;
        while open || !running.is_empty() {
            tokio::select! {
                event = events.recv(), if open && (running.len() < AT_ONCE || *stopped.borrow()) => match event {
                    Some(event) if !self.kinds.contains(&event.kind) => {}
                    Some(_) if *stopped.borrow() => ran.not_run += 1,
                    Some(event) => {
                        let hook = self.clone();
                        running.spawn(async move {
                            let done = hook.run(&event).await;
                            done.map_err(|why| format!("--on-change for {}: {why}", event.url))
                        });
                    }
                    None => open = false,
                },
                Some(done) = running.join_next() => match done {
                    Ok(Ok(())) => ran.well += 1,
                    Ok(Err(why)) => {
                        ran.failed += 1;
                        talk.say(&format!("warning: {why}"));
                    }
                    Err(_) => ran.failed += 1,
                },
            }
        }
        ran
    }

    async fn run(&self, event: &PageEvent) -> Result<(), String> {
        let told = json_line(&ToldEvent { event, store: &self.store })
            .map_err(|error| format!("the event can't be written as JSON: {error}"))?;
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .stdin(Stdio::piped())
            // Our standard output is for facts, not for what a command prints.
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            // A group of its own, so that processes of the shell end with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{}` can't be started: {error}", self.command))?;
        let group = ProcessGroup::of(child.id());
        let ended = tokio::time::timeout(self.timeout, feed(&mut child, told)).await;
        if ended.is_ok() {
            group.leave();
        }
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("`{}` ended with {status}", self.command)),
            Ok(Err(error)) => Err(format!("`{}` can't be waited for: {error}", self.command)),
            Err(_) => Err(format!("`{}` took longer than {:?} and was ended", self.command, self.timeout)),
        }
    }
}

/// A command that does not read its standard input, or not all of it, has not failed.
async fn feed(child: &mut Child, told: String) -> std::io::Result<ExitStatus> {
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(told.as_bytes()).await;
    }
    child.wait().await
}
