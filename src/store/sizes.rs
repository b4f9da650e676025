//! How much of a store scheduling takes.

use serde::Serialize;

/// Bytes of what scheduling keeps of the pages that were visited and have words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Sizes {
    /// Pages that were visited and have words.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Times: the last visit, the last that brought or confirmed anything, and when it is due.
    pub fixed_bytes: u64,
    /// Change profiles.
    pub profile_bytes: u64,
    /// The policy's memory.
    pub memory_bytes: u64,
    /// Sketches of the versions that the profiles start from.
    pub sketch_bytes: u64,
    /// Of the page that takes most.
    pub largest_bytes: u64,
}
