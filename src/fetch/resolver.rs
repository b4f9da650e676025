//! Names → addresses, judged before any is dialled.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::time::Instant;

use super::limits::AddressRules;
use super::reason;
use super::visit::{Failure, Refused};
use super::web::NoAnswer;

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum LookUpError {
    #[error("the name does not resolve: {0}")]
    Unknown(String),
    #[error("the name points at {0}, which may not be reached")]
    Refused(IpAddr),
    #[error("no file descriptor is left to look the name up with")]
    OutOfFiles,
}

impl LookUpError {
    pub(super) fn into_answer(self) -> NoAnswer {
        match self {
            LookUpError::Unknown(why) => NoAnswer::because(Failure::Dns, reason::dns(&why)),
            LookUpError::Refused(address) => refused(address),
            LookUpError::OutOfFiles => Failure::OutOfFiles.into(),
        }
    }
}

/// The address may not be reached.
pub(super) fn refused(address: IpAddr) -> NoAnswer {
    NoAnswer { reason: Some(reason::address(address)), ..Refused::Address.into() }
}

/// When a name was looked up, and what came.
type Remembered = (Instant, Vec<IpAddr>);

/// Resolves names by the system, refuses a name if any of its addresses is refused, and remembers for a while.
#[derive(Clone)]
pub(super) struct GuardedResolver {
    addresses: Arc<AddressRules>,
    known: Arc<Mutex<HashMap<String, Remembered>>>,
}

/// The system's resolver tells no lifetime: this is short enough for a moved site and long enough for a crawl.
const REMEMBER_ADDRESSES: Duration = Duration::from_secs(300);
/// Names remembered at the most; beyond that the memory starts over.
const REMEMBERED_NAMES: usize = 50_000;

impl GuardedResolver {
    pub(super) fn new(addresses: Arc<AddressRules>) -> Self {
        Self { addresses, known: Arc::default() }
    }

    /// The addresses of a name, all of them allowed.
    pub(super) async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, LookUpError> {
        let now = Instant::now();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((at, addresses)) = known.get(name)
                && now.duration_since(*at) < REMEMBER_ADDRESSES
            {
                return Ok(addresses.clone());
            }
        }
        let answers = tokio::net::lookup_host((name, 0)).await.map_err(|error| {
            if is_out_of_files(&error) {
                LookUpError::OutOfFiles
            } else {
                LookUpError::Unknown(error.to_string())
            }
        })?;
        let addresses: Vec<IpAddr> = answers.map(|answer| answer.ip()).collect();
        if addresses.is_empty() {
            return Err(LookUpError::Unknown("the name has no address".to_owned()));
        }
        if let Some(address) = addresses.iter().find(|address| !self.addresses.permits(**address)) {
            return Err(LookUpError::Refused(*address));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_NAMES {
            known.clear();
        }
        known.insert(name.to_owned(), (now, addresses.clone()));
        Ok(addresses)
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.look_up(name.as_str()).await?;
            let dial: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(dial)
        })
    }
}

/// EMFILE and ENFILE, the same on every Unix.
const TOO_MANY_FILES: i32 = 24;
const TOO_MANY_FILES_IN_ALL: i32 = 23;

/// Is there no file descriptor left?
pub(super) fn is_out_of_files(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(TOO_MANY_FILES | TOO_MANY_FILES_IN_ALL))
}
