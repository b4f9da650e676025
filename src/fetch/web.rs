//! The seam to the web: what answers a request. The network in the live crawl, a scripted web in memory in tests.

use std::future::Future;
use std::net::IpAddr;

use url::Url;

use super::visit::{Answer, Failure, Outcome, Refused, Validators};

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
pub struct NoAnswer {
    /// The kind of trouble.
    pub cause: NoAnswerCause,
    /// The cause in words, where its kind does not say it all.
    pub reason: Option<String>,
}

/// The kinds of trouble that leave an ask without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswerCause {
    /// The request was sent, or tried, and no complete answer came.
    Failed(Failure),
    /// The request was not sent.
    Refused(Refused),
}

impl NoAnswer {
    /// No complete answer came; `reason` has the cause in words.
    pub(crate) fn because(failure: Failure, reason: impl Into<String>) -> Self {
        Self { cause: NoAnswerCause::Failed(failure), reason: Some(reason.into()) }
    }

    /// How a visit ended that got no answer.
    pub(crate) fn outcome(&self) -> Outcome {
        match &self.cause {
            NoAnswerCause::Failed(failure) => Outcome::Failed(failure.clone()),
            NoAnswerCause::Refused(refused) => Outcome::Refused(refused.clone()),
        }
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self { cause: NoAnswerCause::Failed(failure), reason: None }
    }
}

impl From<Refused> for NoAnswer {
    fn from(refused: Refused) -> Self {
        Self { cause: NoAnswerCause::Refused(refused), reason: None }
    }
}

/// A web that answers requests. Implementations keep every limit on time, bytes and addresses themselves.
pub trait Web: Send + Sync + 'static {
    /// The answer to one GET.
    fn answer(&self, ask: Ask) -> impl Future<Output = Result<Answer, NoAnswer>> + Send;

    /// The address that answers for a URL's host. The limit per address counts by it.
    fn resolve(&self, url: &Url) -> impl Future<Output = Result<IpAddr, NoAnswer>> + Send;
}
