//! A few connections that read the store, used again and again.
//!
//! Each request has one for as long as it asks, never while its answer is sent. A connection to a file that was replaced since is
//! dropped, so that a store that was made or restored while the server runs is seen.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::look::LookError;
use crate::store::{self, Store, StoreError};

use super::trouble::Trouble;

/// Connections at a time: pages are made of short statements, so a few serve many people, and each has a cache of its own.
const MOST_CONNECTIONS: usize = 4;

/// How long a request waits for a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file that a connection reads: its device and number.
type FileNumber = (u64, u64);

/// The connections to one store.
pub(super) struct StoreReaders {
    location: PathBuf,
    idle: Mutex<Vec<(FileNumber, Box<dyn Store>)>>,
    seats: Arc<Semaphore>,
}

impl StoreReaders {
    pub(super) fn new(location: PathBuf) -> Self {
        Self { location, idle: Mutex::default(), seats: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }

    /// Does `work` with a connection, on a thread where that may take its time.
    pub(super) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut dyn Store) -> Result<T, LookError> + Send + 'static,
    ) -> Result<T, Trouble> {
        let seat = Arc::clone(&self.seats).acquire_owned();
        let seat = tokio::time::timeout(PATIENCE, seat).await.map_err(|_| Trouble::Busy)?;
        let readers = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // A request that was given up still reads to its end; so it keeps its seat until then.
            let _seat = seat;
            readers.look_here(work)
        });
        done.await.map_err(|error| Trouble::failed("a request", &error))?
    }

    fn look_here<T>(&self, work: impl FnOnce(&mut dyn Store) -> Result<T, LookError>) -> Result<T, Trouble> {
        let (file, mut reader) = self.connection()?;
        let done = work(&mut *reader);
        // A connection that failed may fail again.
        if !matches!(done, Err(LookError::Store(_) | LookError::Crawl(_))) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((file, reader));
        }
        Ok(done?)
    }

    fn connection(&self) -> Result<(FileNumber, Box<dyn Store>), LookError> {
        let file = std::fs::metadata(&self.location).map(|file| (file.dev(), file.ino()));
        let file = file.map_err(|_| StoreError::Missing(self.location.clone()))?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(of, _)| *of == file);
        match idle.pop() {
            Some(reader) => Ok(reader),
            None => {
                drop(idle);
                Ok((file, store::open_to_look(&self.location)?))
            }
        }
    }
}
