//! Events as they are read: what happened to pages, the latest first.

use serde::Serialize;

use crate::observation::{CycleId, EventKind};
use crate::page::{HostId, PageId};
use crate::time::Timestamp;

/// Which events are wanted.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Of visits at or after this time.
    pub since: Timestamp,
    /// Earlier than this one: the rest of a list that was read in part.
    pub before: Option<EventPlace>,
    /// Of these kinds; empty: of all.
    pub kinds: Vec<EventKind>,
    /// Of pages of these hosts alone.
    pub hosts: Option<Vec<HostId>>,
    /// New pages of these cycles are left out.
    pub no_new_of: Vec<CycleId>,
    /// Only those that no person has read.
    pub unread: bool,
}

/// The place of an event in the list of all, the latest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace {
    /// The time of its visit.
    pub at: Timestamp,
    /// The place of its visit in the log.
    pub observation: i64,
}

/// Events of pages that were found again since, of a part of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettledEvents {
    /// The latest first.
    pub events: Vec<PageEvent>,
    /// Events among them in the list whose page was not found again yet.
    pub waiting: u64,
    /// Where the list goes on; `None` if this was its end.
    pub rest: Option<EventPlace>,
}

/// An event: what a visit found to have happened to a page.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PageEvent {
    /// What happened.
    pub kind: EventKind,
    /// The number of the page.
    pub page_id: i64,
    /// Its address.
    pub url: String,
    /// The title of the version that was found, or else of the one that is stored.
    pub title: Option<String>,
    /// The visit that found it.
    pub at: Timestamp,
    /// The visit before that brought or confirmed the earlier content.
    pub previous_at: Option<Timestamp>,
    /// The cycle of the visit.
    pub cycle_id: i64,
    /// How the visit ended.
    pub outcome: String,
    /// Why the visit brought nothing, in words.
    pub reason: Option<String>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Where it led, if it was sent elsewhere.
    pub redirect_to: Option<String>,
    /// Did the content change? `None`: there was nothing to compare.
    #[serde(rename = "is_changed")]
    pub changed: Option<bool>,
    /// From the earlier content; `None` where there are no words to compare.
    pub divergence: Option<f64>,
    /// The version that was found, if the visit brought or confirmed one.
    pub version_id: Option<i64>,
    /// The version before.
    pub previous_version_id: Option<i64>,
    /// An earlier version with the same text, if the page changed back to it.
    pub returned_to_version_id: Option<i64>,
    /// Length of the body that came.
    pub body_bytes: u64,
    /// The place of the visit in the log; 0 until the visit is in it.
    #[serde(skip)]
    pub observation_id: i64,
    /// Was a title looked for when the version was stored? Earlier releases did not.
    #[serde(skip)]
    pub is_title_known: bool,
}

impl PageEvent {
    /// Its place in the list of all.
    pub fn place(&self) -> EventPlace {
        EventPlace { at: self.at, observation: self.observation_id }
    }
}

/// Events of one kind, counted by cycle and host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCount {
    /// The cycle.
    pub cycle: CycleId,
    /// The host of the pages.
    pub host: HostId,
    /// What happened.
    pub kind: EventKind,
    /// How often.
    pub count: u64,
    /// The latest of them.
    pub last_at: Timestamp,
}

/// The events of a page, by the places of their visits in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEvents {
    /// The page.
    pub page: PageId,
    /// Visits that made an event, in order.
    pub events: Vec<(i64, EventKind)>,
}
