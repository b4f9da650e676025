//! Batches: visits that are recorded together, and the results.

use crate::change::ChangeSettings;
use crate::change::changed_when::ChangedWhen;
use crate::change::sketch::Sketch;
use crate::extract::essence;
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::{HostReport, Outcome};
use crate::observation::Attempt;
use crate::observation::empty::Emptiness;
use crate::observation::room::StoreLimits;
use crate::observation::wall::{MOST_WALL_BYTES, SuddenlySmall};
use crate::page::{Fingerprint, Host, HostId, PageId, PageUrl, SeedId};
use crate::policy::{PageState, Score};
use crate::signal::SignalKind;
use crate::store::{LinksReread, ListRow, PageEvent, PageFacts, Ping, ReadContent, Tally};
use crate::time::Timestamp;
use crate::unique::{NewPage, Refusal};

/// Visits, and the other facts that are committed with them.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order in which they ended.
    pub visits: Vec<VisitRecord>,
    /// Pages found elsewhere than on a page (in sitemaps).
    pub found: Vec<NewPage>,
    /// Pages that lists and people say have changed.
    pub told: Vec<ToldChange>,
    /// Seeds that redirect: the address they lead to becomes a seed with their wishes.
    pub adopted_seeds: Vec<(SeedId, PageUrl)>,
    /// Seeds that answer for themselves again: what they led to before is let go.
    pub let_go: Vec<SeedId>,
    /// Reports of the fetcher on hosts.
    pub hosts: Vec<HostReport>,
    /// Hosts whose sitemaps were read.
    pub sitemaps_read: Vec<(Host, Timestamp)>,
    /// Sitemap files that were read.
    pub lists: Vec<ListRow>,
    /// Pings that are taken over.
    pub pings_taken: Vec<Ping>,
    /// Links that were not taken, by reason.
    pub refusals: Vec<(Refusal, u64)>,
    /// Links of pages that were taken again from stored bodies.
    pub reread: Vec<LinksReread>,
    /// Requests and bytes, and visits that were put off.
    pub tally: Tally,
    /// When it is recorded.
    pub now: Timestamp,
    /// How changes are measured.
    pub change: ChangeSettings,
    /// How much pages and hosts may store.
    pub store_limits: StoreLimits,
}

impl Batch {
    /// Is there nothing to record?
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
            && self.found.is_empty()
            && self.told.is_empty()
            && self.adopted_seeds.is_empty()
            && self.let_go.is_empty()
            && self.hosts.is_empty()
            && self.sitemaps_read.is_empty()
            && self.lists.is_empty()
            && self.pings_taken.is_empty()
            && self.refusals.is_empty()
            && self.reread.is_empty()
            && self.tally == Tally::default()
    }
}

/// A page that a list or a person says has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldChange {
    /// The page. It need not be known.
    pub page: Fingerprint,
    /// Who says it.
    pub kind: SignalKind,
    /// When it changed last, as they say; of a ping, when it was said.
    pub date: Timestamp,
    /// When we learnt of it: after every visit that was handed over before, and before every visit that is sent later.
    pub learnt_at: Timestamp,
}

/// A visit, ready to be judged.
#[derive(Debug)]
pub struct VisitRecord {
    /// The page that was visited.
    pub page: PageId,
    /// How the visit ended.
    pub attempt: Attempt,
    /// The content that it brought.
    pub content: Option<Content>,
    /// The answer that the content came with.
    pub answer: Option<AnswerHead>,
    /// The `ETag` of the answer.
    pub etag: Option<String>,
    /// The `Last-Modified` of the answer.
    pub last_modified: Option<String>,
    /// The server can be asked by that date whether the page changed.
    pub has_safe_date: bool,
    /// The page asks not to be indexed.
    pub noindex: bool,
    /// The validators that the request named.
    pub validator: Option<&'static str>,
    /// A hash of the rules by which its links were taken.
    pub rules: u64,
    /// A hash of the rules by which its text was read; 0: no rules.
    pub text_rules: u64,
    /// When this page counts as changed.
    pub changed_when: ChangedWhen,
    /// Pages that were found on it and were not known.
    pub found: Vec<NewPage>,
    /// The known pages that it links to, as [`Fingerprint::prefix`] has them, in the order of the page; `None` if it was not read.
    pub links: Option<Vec<u64>>,
    /// The links of before were taken by the same rules: one that is not among them is new on the page.
    pub same_rules: bool,
    /// The pages that its entries lead to, with the dates of their last change in UTC seconds, if it is a feed.
    pub entries: Vec<(Fingerprint, i64)>,
    /// When it was read: what it tells of other pages was learnt then.
    pub read_at: Timestamp,
    /// The dates of its entries in UTC seconds, if it is a feed.
    pub entry_dates: Option<Vec<i64>>,
    /// The page it redirects to.
    pub redirect: Option<Fingerprint>,
    /// The page that stands for it.
    pub alias: Option<Fingerprint>,
}

impl VisitRecord {
    /// How empty the content is that it brought; `None` if there is anything in it, or it was not read.
    pub(super) fn emptiness(&self) -> Option<Emptiness> {
        let read = self.content.as_ref()?.read()?;
        let (no_bytes, no_words) = (read.body_bytes == 0, read.sketch.is_some() && read.text_bytes == 0);
        let answer = Emptiness { no_bytes, no_words, body: read.body_hash, text_rules: self.text_rules };
        (no_bytes || no_words).then_some(answer)
    }

    /// Whether what it brought may turn out not to be the page: nothing, or next to nothing.
    pub(super) fn may_be_doubted(&self) -> bool {
        let read = self.content.as_ref().and_then(Content::read);
        read.is_some_and(|read| read.text_bytes as u64 <= MOST_WALL_BYTES)
    }

    /// How far the page shrank, and to which text; `None` if it did not shrink.
    pub(super) fn shrunk(&self, page: &PageFacts) -> Option<(SuddenlySmall, &Sketch)> {
        let read = self.content.as_ref()?.read()?;
        // Data may become short on purpose, and walls are for readers.
        let is_for_readers = matches!(
            essence(read.content_type.as_deref()).as_str(),
            "" | "text/html" | "application/xhtml+xml" | "text/plain"
        );
        if !is_for_readers {
            return None;
        }
        let (last, failures) = (page.folded.last_outcome.as_deref(), page.folded.standing.failures);
        let small = SuddenlySmall::of(page.held_text_bytes, read.text_bytes as u64, last, failures)?;
        Some((small, read.sketch.as_ref()?))
    }

    /// Makes it a visit that ended like this and brought nothing.
    pub(super) fn disbelieve(&mut self, outcome: Outcome) {
        (self.attempt.outcome, self.attempt.reason) = (outcome, None);
        (self.content, self.answer) = (None, None);
        (self.etag, self.last_modified, self.noindex) = (None, None, false);
        (self.found, self.links, self.entry_dates) = (Vec::new(), None, None);
        self.entries = Vec::new();
        (self.redirect, self.alias) = (None, None);
    }
}

/// The content of a page that was fetched.
#[derive(Debug)]
pub enum Content {
    /// The bytes that the store holds of it already.
    Held,
    /// A body that was read.
    Read(ReadContent),
}

impl Content {
    /// The body that was read, if it is not the one held.
    pub fn read(&self) -> Option<&ReadContent> {
        match self {
            Content::Held => None,
            Content::Read(read) => Some(read),
        }
    }
}

/// The results of a batch.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Pages that the store did not know, with their ids.
    pub new: Vec<AddedPage>,
    /// For each visit of the batch, in its order, how it was judged.
    pub visits: Vec<RecordedVisit>,
}

/// A visit as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedVisit {
    /// As it came, unless a redirect turned out to close a circle, or an empty answer was not believed.
    pub outcome: Outcome,
    /// Did the page change? `None`: there was nothing to compare with.
    pub changed: Option<bool>,
    /// The event to tell of, if it made one.
    pub event: Option<PageEvent>,
}

/// A page that was just added.
#[derive(Clone, Debug)]
pub struct AddedPage {
    /// Its number.
    pub id: PageId,
    /// Its host.
    pub host: HostId,
    /// Its address.
    pub url: PageUrl,
    /// The words of the link by which it was found, if they are wanted.
    pub anchor: Option<Box<str>>,
    /// Its state, as a policy sees it.
    pub state: PageState,
}

/// A page that was just added, with its score.
#[derive(Clone, Debug)]
pub(super) struct FoundPage {
    pub(super) host: HostId,
    pub(super) url: PageUrl,
    pub(super) state: PageState,
    pub(super) score: Score,
}
