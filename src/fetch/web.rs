//! The seam to the web: what answers a request. The network in the live crawl, a scripted web in memory in tests.

use std::future::Future;
use std::net::IpAddr;

use url::Url;

use super::visit::{Answer, Failure, Refused, Validators};

/// One GET, not followed anywhere.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Where to ask.
    pub url: Url,
    /// The version held: makes the request conditional.
    pub validators: Validators,
    /// The most bytes of body to take, decoded; where it is longer, its beginning is answered.
    pub max_bytes: usize,
    /// The beginning of a body that is too long is of use whatever its type (robots.txt counts by its first 500 KiB).
    pub wants_beginning: bool,
}

/// Why an ask brought no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The request was sent, or tried, and no complete answer came.
    Failed(Failure),
    /// The request was not sent.
    Refused(Refused),
}

/// A web that answers requests. Implementations keep every limit on time, bytes and addresses themselves.
pub trait Web: Send + Sync + 'static {
    /// The answer to one GET.
    fn answer(&self, ask: Ask) -> impl Future<Output = Result<Answer, NoAnswer>> + Send;

    /// The address that answers for a URL's host. The limit per address counts by it.
    fn resolve(&self, url: &Url) -> impl Future<Output = Result<IpAddr, NoAnswer>> + Send;
}
