//! Commands that the program started, and every process that they started in turn: they end together.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Groups of commands that run now, so that they can be ended when the program is.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A command and every process it started; killed when this is dropped before the command has ended.
#[derive(Debug)]
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// The group of a command that was started in a group of its own; `id` is that of its first process.
    pub fn of(id: Option<u32>) -> Self {
        let group = id.and_then(|id| Pid::from_raw(id.cast_signed()));
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.extend(group.map(Pid::as_raw_pid));
        Self(group)
    }

    /// The command has ended by itself: processes it left behind stay.
    pub fn leave(mut self) {
        if let Some(group) = self.0.take() {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&group.as_raw_pid());
        }
    }
}

impl Drop for ProcessGroup {
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
