//! Rows of signals: the lists that tell of changes, the pages told of, and how often a host was right.

use crate::page::{Fingerprint, HostId, PageId};
use crate::signal::lists::ListFlaw;
use crate::signal::trust::HostTrust;
use crate::signal::{PageSignals, SignalKind};
use crate::time::Timestamp;

/// A page that something is told of, as signals are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalledPage {
    /// Its number.
    pub id: PageId,
    /// Of its address.
    pub fingerprint: Fingerprint,
    /// Its host.
    pub host: HostId,
    /// The last visit that brought or confirmed its copy.
    pub seen_at: Option<Timestamp>,
    /// The last date that a sitemap gave for it.
    pub sitemap_date: Option<Timestamp>,
    /// The last date that a feed gave for it.
    pub feed_date: Option<Timestamp>,
    /// Its signals so far.
    pub signals: PageSignals,
}

/// The links that a page had when it was last read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTargets {
    /// The known pages that it links to, as [`Fingerprint::prefix`] has them.
    pub targets: Vec<u64>,
    /// They are in the order of the page; those that an earlier release stored are sorted.
    pub in_order: bool,
}

/// How often the signals of one kind were right for the pages of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// The host of the pages.
    pub host: HostId,
    /// The kind of the signals.
    pub kind: SignalKind,
    /// The counts.
    pub trust: HostTrust,
}

/// The signals of one kind for the pages of a host, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalTotal {
    /// The host of the pages.
    pub host: HostId,
    /// The kind of the signals.
    pub kind: SignalKind,
    /// All of them.
    pub total: u64,
    /// Those that no visit has looked into.
    pub unused: u64,
}

/// A sitemap file, or an index of some, as it was last read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// Its address.
    pub url: String,
    /// The host whose pages it lists.
    pub host: HostId,
    /// The index that names it.
    pub named_by: Option<String>,
    /// The date that the index gave for it then.
    pub listed: Option<Timestamp>,
    /// The last answer.
    pub read_at: Timestamp,
    /// The last answer that brought the file itself.
    pub fetched_at: Timestamp,
    /// A hash of what decided which of its links were taken.
    pub rules: u64,
    /// A hash of its bytes.
    pub body_hash: u128,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`, if the server can be asked by it.
    pub last_modified: Option<String>,
    /// It names other files.
    pub is_index: bool,
    /// Its entries.
    pub entries: u64,
    /// Why its dates are not believed.
    pub flaw: Option<ListFlaw>,
}

/// A page that somebody says has changed. It waits until a cycle takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The address.
    pub url: String,
    /// When it was said.
    pub at: Timestamp,
}
