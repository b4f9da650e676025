//! Rows of the writer: those that a batch is judged by, and the finished ones that are committed.

use std::collections::HashMap;

use crate::change::VersionId;
use crate::change::sketch::Sketch;
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::{HostReport, RobotsRecord};
use crate::observation::compare::Held;
use crate::observation::{CycleId, EventKind, Folded, Observation, PageNode, VersionHashes};
use crate::page::{Depth, Fingerprint, Host, HostId, PageId, PageUrl, SeedId};
use crate::policy::Learnt;
use crate::signal::{PageSignals, Signal, SignalKind};
use crate::time::Timestamp;
use crate::unique::Refusal;

use super::{GainRow, LinksReread, ListRow, PageEvents, Ping, SignalledPage, StoredTargets, TrustRow};

// --- what a batch is judged by -----------------------------------------------------------------------------------

/// Which rows the writer needs to judge a batch; see [`super::Log::load`]. An empty list costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Pages that were visited.
    pub pages: Vec<PageId>,
    /// Pages whose aliases may change.
    pub aliases_of: Vec<PageId>,
    /// Pages that visits found.
    pub found: Vec<Fingerprint>,
    /// Pages that visits lead to, with all that these lead to in turn. Those that visited pages named before are given
    /// in any case.
    pub targets: Vec<Fingerprint>,
    /// Contents that visits brought: hashes of body and text.
    pub contents: Vec<(u128, u128)>,
    /// Origins of the pages found.
    pub origins: Vec<String>,
    /// Seeds of the pages found.
    pub seeds: Vec<SeedId>,
    /// Versions whose hashes are needed.
    pub versions: Vec<VersionId>,
    /// Versions whose sketches are needed.
    pub sketches: Vec<VersionId>,
    /// Contents that pages may have had before.
    pub earlier: Vec<EarlierContent>,
    /// Hosts whose robots.txt is needed.
    pub robots_of: Vec<Host>,
    /// Pages of which it is counted how many others name them, with a text that is unlike theirs.
    pub named: Vec<PageId>,
    /// Pages that something is told of, by their addresses.
    pub told: Vec<Fingerprint>,
    /// Pages that something is told of, by the high halves of their fingerprints.
    pub told_prefixes: Vec<u64>,
    /// Pages whose links of before are needed.
    pub links_of: Vec<PageId>,
    /// Pages whose signals are needed that were learnt after a time.
    pub signals_after: Vec<(PageId, Timestamp)>,
    /// Hosts of which it is needed how often their signals were right.
    pub trust_of: Vec<HostId>,
    /// The first ids that are free are needed.
    pub free_ids: bool,
}

/// A content that a page may have had before; hashes of body and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EarlierContent {
    /// The page.
    pub page: PageId,
    /// Hash of the bytes.
    pub body: u128,
    /// Hash of the text.
    pub text: u128,
    /// The same text is enough; else the bytes must be the same too.
    pub has_words: bool,
}

/// The rows that were wanted; what is not there is left out.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Visited pages.
    pub pages: Vec<PageFacts>,
    /// Pages that others lead to, that were found, or that others stand for.
    pub nodes: Vec<PageNode>,
    /// Versions, wanted by their ids or their contents.
    pub versions: Vec<VersionHashes>,
    /// Hosts by their origins.
    pub hosts: HashMap<String, HostId>,
    /// The weight of pages found from a seed.
    pub seed_weights: HashMap<SeedId, f64>,
    /// Sketches.
    pub sketches: Vec<SketchRow>,
    /// For each of [`Wanted::earlier`], in its order.
    pub earlier: Vec<Earlier>,
    /// The robots.txt last read of each of [`Wanted::robots_of`] that has one.
    pub robots: Vec<(Host, RobotsRecord)>,
    /// Pages that name one of [`Wanted::named`] with a text that is unlike its own, counted by that one, up to
    /// [`MOST_COUNTED`].
    pub unlike: HashMap<PageId, u64>,
    /// Pages of [`Wanted::told`] and [`Wanted::told_prefixes`].
    pub told: Vec<SignalledPage>,
    /// The links of [`Wanted::links_of`].
    pub links: HashMap<PageId, StoredTargets>,
    /// Signals of [`Wanted::signals_after`], those of a page in the order in which they were learnt.
    pub signals: Vec<Signal>,
    /// How often signals of [`Wanted::trust_of`] were right.
    pub trust: Vec<TrustRow>,
    /// The first ids that are free.
    pub free_ids: FreeIds,
}

/// Pages are counted up to this number where only a few of them matter. It is well above the visits of a batch, each of
/// which may take one away.
pub const MOST_COUNTED: u64 = 2_000;

/// A page, as visits of it are judged.
#[derive(Clone, Debug)]
pub struct PageFacts {
    /// Its number.
    pub id: PageId,
    /// Its place among other pages.
    pub node: PageNode,
    /// Its address.
    pub url: String,
    /// Its host.
    pub host: HostId,
    /// Links followed from its seed.
    pub depth: Depth,
    /// Redirects that led here.
    pub hops: u32,
    /// Bytes of contents that it was the first to bring.
    pub stored_bytes: u64,
    /// The same of all pages of its host.
    pub host_stored_bytes: u64,
    /// The weight of its seed; pages found on it get the same.
    pub weight: f64,
    /// The `Last-Modified` that came with the stored version.
    pub last_modified: Option<String>,
    /// When it last changed, by its sitemap or a feed.
    pub listed_date: Option<Timestamp>,
    /// It asks not to be indexed.
    pub noindex: bool,
    /// Its signals, counted.
    pub signals: PageSignals,
    /// Its state: its observations, folded.
    pub folded: Folded,
    /// The lessons that the policy keeps of it.
    pub learnt: Learnt,
    /// The stored version.
    pub held: Option<VersionHashes>,
    /// Bytes of its text.
    pub held_text_bytes: u64,
    /// Its title; empty if it has none. `None`: it was not looked for.
    pub held_title: Option<String>,
    /// Everything stored of its state could be read. What can't be read is read as nothing.
    pub is_readable: bool,
}

impl PageFacts {
    /// The stored content that visits are compared with.
    pub(crate) fn held(&self) -> Option<Held> {
        let (text_rules, has_words) = (self.folded.text_rules, self.folded.has_words);
        self.held.map(|hashes| Held { hashes, text_rules, has_words })
    }
}

/// The past of a page, as far as it matters for one content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The latest visit that brought or confirmed anything.
    pub seen_at: Option<Timestamp>,
    /// The latest visit that found the same content, and the version it found.
    pub same: Option<(Timestamp, VersionId)>,
}

/// The first ids that are free. One writer at a time: they stay free until it commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeIds {
    /// For a page.
    pub page: i64,
    /// For a host.
    pub host: i64,
    /// For a version.
    pub version: i64,
}

/// The sketch kept of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchRow {
    /// The version whose fragments it stands for.
    pub version: VersionId,
    /// How the fragments were made.
    pub scheme: i64,
    /// Words of a fragment.
    pub words: i64,
    /// The sketch, in its compact form.
    pub hashes: Vec<u8>,
}

/// A version, and the sketch kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchedVersion {
    /// The version.
    pub version: VersionId,
    /// Is there any text in it?
    pub has_text: bool,
    /// Its sketch, if one is kept.
    pub sketch: Option<SketchRow>,
}

// --- finished rows -----------------------------------------------------------------------------------------------

/// Finished rows, written in one transaction.
#[derive(Debug, Default)]
pub struct Commit {
    /// When it is written.
    pub now: Timestamp,
    /// Additions to the counts of a cycle.
    pub cycle: Option<(CycleId, CycleCounts)>,
    /// New seeds: a seed redirects to this address, which gets its settings.
    pub adopted_seeds: Vec<(SeedId, PageUrl)>,
    /// Seeds that answer for themselves again: what they led to before is let go.
    pub let_go: Vec<SeedId>,
    /// New hosts, by their origins.
    pub new_hosts: Vec<(HostId, String)>,
    /// New pages.
    pub new_pages: Vec<NewPageRow>,
    /// New versions.
    pub new_versions: Vec<NewVersion>,
    /// Bytes of these that count for a page and its host.
    pub stored_bytes: Vec<(PageId, HostId, u64)>,
    /// Sketches, in place of any kept before.
    pub sketches: Vec<SketchRow>,
    /// Visits, in their order.
    pub visits: Vec<JudgedVisit>,
    /// States of pages that no visit changed: learnt or folded again.
    pub refolded: Vec<PageRefold>,
    /// Gains of refreshes in search results. Those that are known already are passed over.
    pub gains: Vec<GainRow>,
    /// Links of pages that no visit brought: taken again from stored bodies.
    pub reread: Vec<LinksReread>,
    /// Pages that are fewer links from their seed than was known.
    pub depths: Vec<(PageId, Depth)>,
    /// Events of pages, in place of those they had: derived from the log again.
    pub events: Vec<PageEvents>,
    /// The page that stands for each of these from now on.
    pub aliases: Vec<(PageId, Option<PageId>)>,
    /// When pages changed last, by their sitemap, in UTC seconds.
    pub sitemap_dates: Vec<(PageId, i64)>,
    /// When pages changed last, by a feed, in UTC seconds.
    pub feed_dates: Vec<(PageId, i64)>,
    /// New signals, in the order in which they were learnt.
    pub signals: Vec<Signal>,
    /// The signals of pages, counted, in place of the counts of before.
    pub page_signals: Vec<(PageId, PageSignals)>,
    /// How often signals were right, in place of the counts of before.
    pub trust: Vec<TrustRow>,
    /// Hosts that have no signals of a kind any more: what was counted of them is dropped.
    pub dropped_trust: Vec<(HostId, SignalKind)>,
    /// Sitemap files that were read, in place of what was known of them.
    pub lists: Vec<ListRow>,
    /// Pings that were taken over.
    pub pings_taken: Vec<Ping>,
    /// Hosts as the fetcher left them.
    pub hosts: Vec<HostReport>,
    /// Hosts whose sitemaps were read.
    pub sitemaps_read: Vec<(Host, Timestamp)>,
    /// Links that were not taken, by reason.
    pub refusals: Vec<(Refusal, u64)>,
}

/// A page that was just found.
#[derive(Clone, Debug)]
pub struct NewPageRow {
    /// Its number.
    pub id: PageId,
    /// Its address.
    pub url: PageUrl,
    /// Its host.
    pub host: HostId,
    /// The seed it was found from.
    pub seed: SeedId,
    /// Links followed from the seed.
    pub depth: Depth,
    /// Redirects that led here.
    pub hops: u32,
    /// The page it was found on.
    pub found_on: Option<PageId>,
    /// Importance.
    pub weight: f64,
    /// When it last changed, by its sitemap, in UTC seconds.
    pub sitemap_lastmod: Option<i64>,
    /// The words of the link by which it was found, if they are wanted.
    pub anchor: Option<Box<str>>,
}

/// A content that was not stored yet.
#[derive(Debug)]
pub struct NewVersion {
    /// Its number.
    pub id: VersionId,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// Body and text.
    pub content: ReadContent,
}

/// A body with its text, packed.
#[derive(Debug)]
pub struct ReadContent {
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// Its first half, which contents are told apart by.
    pub body_hash: u128,
    /// Hash of the text.
    pub text_hash: u128,
    /// As the host said it.
    pub content_type: Option<String>,
    /// The charset that the text was decoded from.
    pub charset: Option<&'static str>,
    /// Length of the body.
    pub body_bytes: usize,
    /// Length of the text.
    pub text_bytes: usize,
    /// The title, as [`crate::extract::title`] finds it.
    pub title: Option<Box<str>>,
    /// The sketch of its fragments; `None` if it has no words.
    pub sketch: Option<Sketch>,
    /// As [`super::version::pack`] makes it; empty if there was no room for it.
    pub packed: Vec<u8>,
}

/// A visit that was judged: the fact for the log, and the page after it.
#[derive(Debug)]
pub struct JudgedVisit {
    /// The fact.
    pub observation: Observation,
    /// The event that it makes.
    pub event: Option<EventKind>,
    /// The validators that were sent.
    pub validator: Option<&'static str>,
    /// The answer that brought the version which the visit found. It is kept if none is kept of this page and version.
    pub answer: Option<AnswerHead>,
    /// The page's state after this visit.
    pub folded: Folded,
    /// The lessons that the policy keeps of it.
    pub learnt: Learnt,
    /// Validators of the stored version; `None`: as they were.
    pub validators: Option<(Option<String>, Option<String>)>,
    /// The page asks not to be indexed.
    pub noindex: bool,
    /// Where it redirects to.
    pub redirects_to: Option<PageId>,
    /// How it was read; `None`: as it was.
    pub read_as: Option<ReadAs>,
    /// The known pages that it links to, as [`Fingerprint::prefix`] has them, in the order of the page; `None`: as they were.
    pub links: Option<Vec<u64>>,
}

/// How a page was read.
#[derive(Clone, Debug)]
pub struct ReadAs {
    /// As the host said it.
    pub content_type: Option<String>,
    /// The charset that the text was decoded from.
    pub charset: Option<&'static str>,
    /// A hash of what decided which of its links were taken.
    pub rules: u64,
}

/// The state of a page, made again from its log.
#[derive(Clone, Debug)]
pub struct PageRefold {
    /// The page.
    pub page: PageId,
    /// Its state: its observations, folded.
    pub folded: Folded,
    /// The lessons that the policy keeps of it.
    pub learnt: Learnt,
}

/// Additions to a cycle's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleCounts {
    /// Requests and bytes spent, visits put off.
    pub tally: Tally,
    /// Visits that brought the page, or the word that it is unchanged.
    pub fetched: u64,
    /// Pages found that were not known.
    pub new_pages: u64,
    /// Visits that found a change.
    pub changed: u64,
    /// Visits that found none.
    pub unchanged: u64,
    /// Visits that failed.
    pub failed: u64,
}

/// Requests and bytes that were spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests sent.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Visits put off to a later cycle.
    pub deferred: u64,
}

impl Tally {
    /// Adds what else was spent.
    pub fn add(&mut self, other: Tally) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.deferred += other.deferred;
    }
}
