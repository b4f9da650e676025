//! `--on-change CMD`: a command for every page that changed, with the change as JSON on its standard input.
//!
//! The crawl never waits for it: changes queue up here, a few commands run at a time, each within its time. One that
//! fails or takes too long is reported. A command runs at most once for a change: when the crawl is stopped, what waits is
//! not run any more, and what runs may end. A command that is ended is ended with all it started, however the crawl ends.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinSet;

use freshet::store::Change;

use crate::terminal::Talk;

/// Commands that run at the same time.
const AT_ONCE: usize = 4;

/// What is run for each change.
#[derive(Clone, Debug)]
pub struct Hook {
    pub command: String,
    pub timeout: Duration,
    /// Told to the command, so that it can ask for more.
    pub store: PathBuf,
}

/// How the commands fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ran {
    pub well: u64,
    pub failed: u64,
    /// Changes that it was not run for, because the crawl was stopped.
    pub not_run: u64,
}

impl Hook {
    /// Runs the command for every change that comes, until no more can come and all have ended. Once `stopped` is true, no
    /// more are started.
    pub async fn serve(
        self,
        mut changes: UnboundedReceiver<Change>,
        stopped: watch::Receiver<bool>,
        talk: Talk,
    ) -> Ran {
        let mut running = JoinSet::new();
        let mut ran = Ran::default();
        let mut open = true;
        while open || !running.is_empty() {
            tokio::select! {
                change = changes.recv(), if open && (running.len() < AT_ONCE || *stopped.borrow()) => match change {
                    Some(_) if *stopped.borrow() => ran.not_run += 1,
                    Some(change) => {
                        let hook = self.clone();
                        running.spawn(async move {
                            let done = hook.run(&change).await;
                            done.map_err(|why| format!("--on-change for {}: {why}", change.url))
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

    async fn run(&self, change: &Change) -> Result<(), String> {
        let mut told = json!(change);
        if let Some(fields) = told.as_object_mut() {
            fields.insert("store".to_owned(), json!(self.store));
        }
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .stdin(Stdio::piped())
            // What it prints is not ours: our standard output is for facts.
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            // A group of its own, so that what the shell starts ends with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{}` can't be started: {error}", self.command))?;
        let group = Group::of(&child);
        let ended = tokio::time::timeout(self.timeout, feed(&mut child, format!("{told}\n"))).await;
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

/// Groups of commands that run now, so that they can be ended when the program is.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A command and all that it started; ended when this is dropped before the command has ended.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.extend(group.map(Pid::as_raw_pid));
        Self(group)
    }

    /// The command has ended by itself: what it left behind is its own affair.
    fn leave(mut self) {
        if let Some(group) = self.0.take() {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&group.as_raw_pid());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&group.as_raw_pid());
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Ends all commands that run, at once.
pub fn end_all() {
    let running = std::mem::take(&mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
    for group in running.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A command that does not read what it is told, or not all of it, is none the worse for it.
async fn feed(child: &mut Child, told: String) -> std::io::Result<ExitStatus> {
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(told.as_bytes()).await;
    }
    child.wait().await
}
