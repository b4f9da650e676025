//! Cycles as they are stored, and the commands that begin them.

use serde::Serialize;

use crate::time::Timestamp;

/// The command that began a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CycleCommand {
    /// `freshet crawl`.
    #[default]
    Crawl,
    /// `freshet monitor`: the cycle is one of its calendar.
    Monitor,
    /// `freshet crawl --only`: it visits the pages that were named, and is never resumed.
    Only,
}

impl CycleCommand {
    /// Every one of them.
    pub const ALL: [Self; 3] = [Self::Crawl, Self::Monitor, Self::Only];

    /// The stable name that is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Monitor => "monitor",
            Self::Only => "only",
        }
    }

    /// The command of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}

/// A cycle as it is stored.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CycleRow {
    /// Its number.
    #[serde(rename = "cycle_id")]
    pub id: i64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None`: it goes on.
    pub ended_at: Option<Timestamp>,
    /// The command that began it; `None`: an earlier release, which did not say.
    pub command: Option<CycleCommand>,
    /// The policy that ranked its pages.
    pub policy: String,
    /// Requests it was allowed.
    pub budget: Option<u64>,
    /// Requests it sent.
    pub requests: u64,
    /// Bytes it received.
    #[serde(rename = "received_bytes")]
    pub bytes: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    #[serde(rename = "succeeded")]
    pub fetched: u64,
    /// Pages found that were not known.
    pub new_pages: u64,
    /// Visits that found a change.
    pub changed: u64,
    /// Visits that found none.
    pub unchanged: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits put off to a later cycle.
    #[serde(rename = "put_off")]
    pub deferred: u64,
    /// The least score of a page that was visited again.
    #[serde(rename = "lowest_score")]
    pub threshold: Option<f64>,
}
