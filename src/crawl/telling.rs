//! The event that a visit makes, sent while the crawl runs: the same value that a look at the store gives.

use super::batch::{Content, VisitRecord};
use crate::observation::{EventKind, Observation};
use crate::store::{PageEvent, PageFacts, VersionId};
use crate::time::Timestamp;

/// What the page held before the visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBefore {
    /// The stored version.
    pub(super) version: Option<VersionId>,
    /// When a visit last brought or confirmed it.
    pub(super) seen_at: Option<Timestamp>,
}

/// The event of a visit to `page`, which left `fact`.
pub(super) fn told(
    kind: EventKind,
    page: &PageFacts,
    visit: &VisitRecord,
    fact: &Observation,
    before: HeldBefore,
) -> PageEvent {
    let attempt = &fact.attempt;
    let title = match visit.content.as_ref().and_then(Content::read).filter(|_| fact.found.is_some()) {
        Some(read) => Some(String::from(read.title.clone().unwrap_or_default())),
        None => page.held_title.clone(),
    };
    PageEvent {
        kind,
        page_id: page.id.0,
        url: page.url.clone(),
        is_title_known: title.is_some(),
        title: title.filter(|title| !title.is_empty()),
        at: attempt.at,
        previous_at: before.seen_at,
        cycle_id: fact.cycle.0,
        outcome: attempt.outcome.code().to_owned(),
        reason: attempt.reason.clone(),
        status: attempt.status,
        redirect_to: attempt.redirect_to.as_ref().map(|to| to.as_str().to_owned()),
        changed: fact.changed,
        divergence: fact.divergence,
        version_id: fact.found.map(|found| found.version.0),
        previous_version_id: before.version.map(|version| version.0),
        returned_to_version_id: fact.returned_to.map(|version| version.0),
        body_bytes: attempt.bytes,
        observation_id: 0,
    }
}
