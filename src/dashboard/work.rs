//! Work that takes longer than a request may: done once for each state of the store, in the background, and kept until the state
//! is another one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::time::Timestamp;

/// How long a request waits for work of minutes before it says that it is under way.
pub(crate) const PATIENCE: Duration = Duration::from_millis(300);

/// How far work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkDone {
    /// Parts that are done.
    pub done: u64,
    /// All parts; 0: not known yet.
    pub all: u64,
}

/// A result, and what it was made from.
pub(crate) struct Worked<T> {
    /// The state of the store.
    pub key: u64,
    /// When it was ready.
    pub at: Timestamp,
    /// The value, or a sentence that says why there is none.
    pub value: Result<T, String>,
}

/// What there is to show.
pub(crate) struct WorkShown<T> {
    /// The last result, perhaps of an earlier state of the store.
    pub last: Option<Arc<Worked<T>>>,
    /// Work that goes on for the state of now.
    pub under_way: Option<WorkDone>,
}

/// A piece of work and its last result.
pub(crate) struct Background<T> {
    state: Mutex<BackgroundState<T>>,
    ready: watch::Sender<u64>,
}

struct BackgroundState<T> {
    last: Option<Arc<Worked<T>>>,
    under_way: Option<WorkDone>,
}

impl<T> Default for Background<T> {
    fn default() -> Self {
        let state = BackgroundState { last: None, under_way: None };
        Self { state: Mutex::new(state), ready: watch::Sender::new(0) }
    }
}

impl<T: Send + Sync + 'static> Background<T> {
    /// The result for the state `key`, or what there is until then. Work is begun if there is none for that state, and never twice at
    /// a time; `is_good` says whether a result for it is still good enough. It is waited for as long as `patience` says.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        key: u64,
        now: fn() -> Timestamp,
        patience: Duration,
        is_good: impl Fn(&Worked<T>) -> bool,
        work: impl FnOnce(&dyn Fn(WorkDone)) -> Result<T, String> + Send + 'static,
    ) -> WorkShown<T> {
        let mut ready = self.ready.subscribe();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(last) = &state.last
                && last.key == key
                && is_good(last)
            {
                return WorkShown { last: state.last.clone(), under_way: None };
            }
            if state.under_way.is_none() {
                state.under_way = Some(WorkDone::default());
                let background = Arc::clone(self);
                tokio::task::spawn_blocking(move || background.run(key, now, work));
            }
        }
        let _ = tokio::time::timeout(patience, ready.changed()).await;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        WorkShown { last: state.last.clone(), under_way: state.under_way }
    }

    fn run(
        &self,
        key: u64,
        now: fn() -> Timestamp,
        work: impl FnOnce(&dyn Fn(WorkDone)) -> Result<T, String>,
    ) {
        /// Work that breaks off is not under way any more.
        struct End<'a, T>(&'a Background<T>);
        impl<T> Drop for End<'_, T> {
            fn drop(&mut self) {
                self.0.state.lock().unwrap_or_else(PoisonError::into_inner).under_way = None;
                self.0.ready.send_modify(|times| *times += 1);
            }
        }
        let end = End(self);
        let value = work(&|done| {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).under_way = Some(done);
        });
        let worked = Arc::new(Worked { key, at: now(), value });
        self.state.lock().unwrap_or_else(PoisonError::into_inner).last = Some(worked);
        drop(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_once_for_each_state() {
        let background: Arc<Background<u64>> = Arc::default();
        let now = || Timestamp::from_seconds(7);
        let first = background.ask(1, now, PATIENCE, |_| true, |_| Ok(10)).await;
        assert_eq!(first.last.unwrap().value, Ok(10));
        let again = background.ask(1, now, PATIENCE, |_| true, |_| Ok(11)).await;
        assert_eq!(again.last.unwrap().value, Ok(10), "it was there already");
        let other = background.ask(2, now, PATIENCE, |_| true, |_| Ok(12)).await;
        assert_eq!((other.last.unwrap().value.clone(), other.under_way), (Ok(12), None));
        let old = background.ask(2, now, PATIENCE, |_| false, |_| Err("no".to_owned())).await;
        assert_eq!(old.last.unwrap().value, Err("no".to_owned()));
    }
}
