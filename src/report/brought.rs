//! What visits brought, as it is drawn everywhere: the same order, words and colours (classes of the style sheet).

use crate::store::{Brought, BroughtKind};

/// A kind of request, for pictures and their legends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BroughtInk {
    /// Its class in the style sheet.
    pub class: &'static str,
    /// In words.
    pub words: &'static str,
}

/// Requests that were no visit.
pub const OTHER: BroughtInk = BroughtInk { class: "o-other", words: "robots.txt, sitemaps, retries" };

/// The legend of a bar of requests, in the order of its parts.
pub const LEGEND: [BroughtInk; 8] = [
    ink(BroughtKind::Changed),
    ink(BroughtKind::First),
    ink(BroughtKind::Moved),
    ink(BroughtKind::Gone),
    ink(BroughtKind::Unchanged),
    ink(BroughtKind::NotModified),
    ink(BroughtKind::Failed),
    OTHER,
];

/// How a kind of visit is drawn.
pub const fn ink(kind: BroughtKind) -> BroughtInk {
    let (class, words) = match kind {
        BroughtKind::First => ("o-first", "new"),
        BroughtKind::Changed => ("o-changed", "changed"),
        BroughtKind::Unchanged => ("o-unchanged", "unchanged"),
        BroughtKind::NotModified => ("o-not-modified", "not modified (304)"),
        BroughtKind::Moved => ("o-moved", "moved"),
        BroughtKind::Gone => ("o-gone", "gone"),
        BroughtKind::Failed => ("o-failed", "failed"),
        BroughtKind::Refused => ("o-refused", "forbidden, not sent"),
    };
    BroughtInk { class, words }
}

/// The kinds of visits that cost a request, what is worth most first, each with its number.
pub fn sent(brought: &Brought) -> [(BroughtKind, u64); 7] {
    [
        (BroughtKind::Changed, brought.changed),
        (BroughtKind::First, brought.first),
        (BroughtKind::Moved, brought.moved),
        (BroughtKind::Gone, brought.gone),
        (BroughtKind::Unchanged, brought.unchanged),
        (BroughtKind::NotModified, brought.not_modified),
        (BroughtKind::Failed, brought.failed),
    ]
}
