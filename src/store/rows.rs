//! Rows that are read: what the crawl plans by, the log, and what people look at.

use std::time::Duration;

use serde::Serialize;
use url::Url;

use crate::change::VersionId;
use crate::change::profile::Measured;
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::{HostReport, Outcome, RobotsStatus, Validators};
use crate::observation::{
    Attempt, Claim, CycleId, EventKind, Found, Lesson, Life, Observation, SameAs, Told, life,
};
use crate::page::{Depth, Fingerprint, HostId, PageId, SeedId};
use crate::policy::{PageState, Yield};
use crate::signal::PageSignals;
use crate::time::Timestamp;
use crate::unique::ScopeKind;

use super::{PageCursor, PageOrder, Result, StoreError};

// --- the frontier ------------------------------------------------------------------------------------------------

/// A seed as it is stored.
#[derive(Clone, Debug)]
pub struct KnownSeed {
    /// Its number.
    pub id: SeedId,
    /// Its address, as it was given first.
    pub url: String,
    /// The weight of pages found from it.
    pub weight: f64,
    /// How far its pages may be from it; `None`: as for all seeds.
    pub scope: Option<ScopeKind>,
    /// Links that are followed from it; `None`: as for all seeds.
    pub max_depth: Option<u32>,
    /// Not named by the operator: a seed redirects here.
    pub adopted: bool,
    /// The seed that redirects here.
    pub adopted_by: Option<SeedId>,
    /// Since when that seed answers for itself again, and this one is not wanted any more.
    pub let_go_at: Option<Timestamp>,
    /// Since when the operator does not want it any more.
    pub removed_at: Option<Timestamp>,
    /// Since when nothing under it is visited, until the operator resumes it.
    pub paused_at: Option<Timestamp>,
    /// A seeds file named it. Else the operator asked for this page alone.
    pub in_file: bool,
    /// When it was named.
    pub added_at: Timestamp,
}

/// A page as scheduling needs it.
#[derive(Clone, Debug)]
pub struct KnownPage {
    /// Its number.
    pub id: PageId,
    /// Of its address.
    pub fingerprint: Fingerprint,
    /// Its address, as it was found first.
    pub url: String,
    /// Its host.
    pub host: HostId,
    /// The state that a policy sees.
    pub state: PageState,
    /// By how its visits ended, it is not visited before this time; see [`KnownPage::waits_until`].
    pub due_at: Timestamp,
    /// The cycle it was last visited in.
    pub last_cycle: Option<CycleId>,
    /// The page that stands for this one, if another does.
    pub alias_of: Option<PageId>,
    /// The page that its last visits named in its place.
    pub claim: Option<Claim>,
}

impl KnownPage {
    /// It is not visited before this time: one that another page stands for is looked at ever more rarely.
    pub fn waits_until(&self) -> Timestamp {
        match (self.alias_of, self.state.last_visit) {
            (Some(_), Some(last)) => {
                let times = self.claim.map_or(0, |claim| claim.times);
                self.due_at.max(life::alias_due_at(last, times))
            }
            _ => self.due_at,
        }
    }
}

/// What a page is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAddress {
    /// Its number.
    pub id: PageId,
    /// Of its address.
    pub fingerprint: Fingerprint,
    /// Its address, as it was found first.
    pub url: String,
    /// Links from a seed.
    pub depth: Depth,
}

/// A host as it is stored.
#[derive(Clone, Debug)]
pub struct KnownHost {
    /// Its number.
    pub id: HostId,
    /// The host as the fetcher left it. Its robots.txt is not part of it: [`super::Wanted::robots_of`] loads the file.
    pub report: HostReport,
    /// When robots.txt was read, and how that ended.
    pub robots: Option<RobotsStatus>,
    /// When its sitemaps were last read.
    pub sitemaps_at: Option<Timestamp>,
    /// Pages on it.
    pub pages: u64,
    /// Those of them that robots.txt forbade when they were last to be visited.
    pub forbidden: u64,
    /// Those of them whose address was refused then.
    pub refused: u64,
    /// Results of the first visits to its pages.
    pub yields: Yield,
}

/// A cycle under way.
#[derive(Clone, Debug)]
pub struct OpenCycle {
    /// Its number.
    pub id: CycleId,
    /// It was interrupted, and goes on.
    pub resumed: bool,
    /// Requests it has sent so far.
    pub requests: u64,
    /// Planned, not recorded.
    pub outstanding: Vec<PlannedVisit>,
}

/// All that is needed to make a visit and to place what it finds.
#[derive(Clone, Debug)]
pub struct PlannedVisit {
    /// The page to be visited.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// The seed it was found from.
    pub seed: SeedId,
    /// Its address.
    pub url: String,
    /// Links followed from the seed.
    pub depth: Depth,
    /// Redirects that led here.
    pub hops: u32,
    /// The validators that can be sent.
    pub held: Validators,
    /// The latest visits in a row that were answered with 304, at most [`crate::observation::validate::MOST_CONFIRMATIONS`].
    pub confirmations: u32,
    /// A hash of what decided which of its links were taken when it was last read.
    pub read_by: Option<u64>,
    /// A hash of the rules that left the stored text.
    pub text_rules: u64,
    /// The type of the stored content, as the server named it.
    pub content_type: Option<String>,
}

// --- the log -----------------------------------------------------------------------------------------------------

/// An observation as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitRow {
    /// Its place in the log.
    pub id: i64,
    /// The page that was visited.
    pub page: PageId,
    /// The cycle it was visited in.
    pub cycle: CycleId,
    /// When the request was sent.
    pub at: Timestamp,
    /// As [`Outcome::code`] says it.
    pub outcome: String,
    /// The cause in words, where the outcome and the status don't say it all.
    pub reason: Option<String>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Did the page change? `None`: there was nothing to compare with.
    pub changed: Option<bool>,
    /// From what the visit before found.
    pub divergence: Option<f64>,
    /// From each base version that the page had then, oldest first.
    pub bases: Vec<Measured>,
    /// Length of the body that came.
    pub bytes: u64,
    /// From the request to the end of the answer.
    pub took: Duration,
    /// The validators that were sent.
    pub validator: Option<String>,
    /// The page's version after the visit, if the visit brought or confirmed one.
    pub version: Option<VersionId>,
    /// Which rules left the text of that version.
    pub text_rules: u64,
    /// Is that version something that has words?
    pub has_words: bool,
    /// Are its body and text stored? There may have been no room for them.
    pub is_stored: bool,
    /// An earlier version with the same text, if the page changed back to it.
    pub returned_to: Option<VersionId>,
    /// Where the answer leads, whether that was followed or not.
    pub redirect: Option<String>,
    /// Dates and counts that the page or its site gave besides the content.
    pub told: Told,
    /// The page that it said it is another spelling of.
    pub same_as: Option<SameAs>,
    /// The weight of the page in the cycle of the visit; 1 in rows from before this was noted.
    pub weight: f64,
    /// The signals that the page had at the visit.
    pub signals: PageSignals,
    /// The event that it made.
    pub event: Option<EventKind>,
}

impl VisitRow {
    /// The fact that the row keeps.
    pub fn observation(&self) -> Result<Observation> {
        let outcome = Outcome::from_code(&self.outcome, self.redirect.as_deref())
            .ok_or_else(|| StoreError::BadValue(format!("`{}` as the outcome of a visit", self.outcome)))?;
        let (text_rules, has_words) = (self.text_rules, self.has_words);
        Ok(Observation {
            page: self.page,
            cycle: self.cycle,
            attempt: Attempt {
                at: self.at,
                outcome,
                reason: self.reason.clone(),
                redirect_to: self.redirect.as_deref().and_then(|to| Url::parse(to).ok()),
                status: self.status,
                bytes: self.bytes,
                took: self.took,
            },
            found: self.version.map(|version| Found { version, text_rules, has_words }),
            changed: self.changed,
            divergence: self.divergence,
            bases: self.bases.clone(),
            returned_to: self.returned_to,
            told: self.told,
            same_as: self.same_as,
            weight: self.weight,
            signals: self.signals,
        })
    }
}

/// The answer that first brought a version to a page, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The page.
    pub page: PageId,
    /// The version that it brought.
    pub version: VersionId,
    /// Time, address, status and headers.
    pub head: AnswerHead,
}

/// What is known of a version besides its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionFacts {
    /// The version.
    pub version: VersionId,
    /// When any page first had it.
    pub first_seen: Timestamp,
    /// Length of the body.
    pub body_bytes: u64,
    /// Length of the text.
    pub text_bytes: u64,
    /// Are its body and text stored? There may have been no room for them.
    pub is_stored: bool,
    /// SHA-256 of the body; `None` if an earlier release stored it. Then it can be made from the body.
    pub sha256: Option<[u8; 32]>,
    /// Its title; empty if it has none. `None`: it was not looked for when it was stored.
    pub title: Option<String>,
}

/// A version, unpacked.
#[derive(Clone, Debug)]
pub struct StoredContent {
    /// The bytes that came.
    pub body: Vec<u8>,
    /// The text that was read from them.
    pub text: String,
    /// As the host said it, where a page was asked for and not a version.
    pub content_type: Option<String>,
    /// Its title; empty if it has none. `None`: it was not looked for when it was stored.
    pub title: Option<String>,
}

/// A page, and what its visits taught.
#[derive(Clone, Debug)]
pub struct PageLessons {
    /// The page.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// Its host.
    pub host: HostId,
    /// Links followed from its seed.
    pub depth: Depth,
    /// In the order of the visits.
    pub lessons: Vec<Lesson>,
}

// --- what people look at -----------------------------------------------------------------------------------------

/// Counts over the whole store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Pages, aliases left out.
    pub known: u64,
    /// Those of them that were visited.
    pub visited: u64,
    /// Other spellings of pages.
    pub aliases: u64,
    /// Pages by where they are in their life, aliases left out.
    pub lives: Vec<(String, u64)>,
    /// Pages by how the last visit ended, aliases left out.
    pub last_outcomes: Vec<(String, u64)>,
    /// Hosts.
    pub hosts: u64,
    /// Visits in the log.
    pub observations: u64,
    /// Gains of refreshes in search results that are kept.
    pub gains: u64,
    /// Contents that are stored.
    pub versions: u64,
    /// Those of them whose body and text are not stored: there was no room for them.
    pub versions_without_room: u64,
    /// Bytes of bodies and texts.
    pub content_bytes: u64,
    /// Bytes that they take, packed.
    pub stored_bytes: u64,
    /// Bytes of the store as a whole.
    pub file_bytes: u64,
    /// The part of it that is not folded in yet.
    pub journal: JournalSize,
    /// Seeds.
    pub seeds: u64,
    /// Links that were not taken, by reason.
    pub refusals: Vec<(String, u64)>,
}

impl Summary {
    /// Pages that are at this place in their life.
    pub fn life(&self, life: Life) -> u64 {
        self.lives.iter().find(|(name, _)| name == life.name()).map_or(0, |(_, count)| *count)
    }
}

/// The size of the journal that changes are written to before they are folded into the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JournalSize {
    /// On disk.
    pub bytes: u64,
    /// The size at which it is folded in, if no reader holds that up.
    pub checkpoint_bytes: u64,
}

impl JournalSize {
    /// A journal that is this many times larger than it should be was not folded in for a while.
    const OVERGROWN: u64 = 4;

    /// Has it grown far beyond the size at which it is folded in?
    pub fn is_overgrown(self) -> bool {
        self.bytes > Self::OVERGROWN.saturating_mul(self.checkpoint_bytes)
    }

    /// The warning of an overgrown journal.
    pub fn warning(self) -> String {
        format!(
            "the journal beside the store has {} MB, and should have {} MB: a program that reads the store keeps it from being folded in",
            self.bytes / 1_000_000,
            self.checkpoint_bytes / 1_000_000
        )
    }
}

/// Which pages to list.
#[derive(Clone, Debug, Default)]
pub struct PageFilter {
    /// The page with this address.
    pub page: Option<Fingerprint>,
    /// Pages at this place in their life.
    pub life: Option<Life>,
    /// Host name, or origin.
    pub host: Option<String>,
    /// A part of the URL.
    pub url: Option<String>,
    /// Pages whose last visit ended like this.
    pub outcome: Option<String>,
    /// At most this number of links from a seed.
    pub max_depth: Option<u32>,
    /// Other spellings of pages too.
    pub aliases: bool,
    /// Only other spellings of pages.
    pub only_aliases: bool,
    /// Only other spellings of this page.
    pub alias_of: Option<PageId>,
    /// Only pages whose last visits name another page in their place.
    pub only_naming: bool,
    /// Only pages that were visited or found at this time or later.
    pub since: Option<Timestamp>,
    /// Only pages with these numbers.
    pub among: Option<Vec<PageId>>,
    /// The order of the list.
    pub order: PageOrder,
    /// The whole list the other way round, its last page first.
    pub reversed: bool,
    /// Only pages behind this place of the list.
    pub after: Option<PageCursor>,
    /// At most this number of pages.
    pub limit: Option<u64>,
}

/// A page as people look at it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PageRow {
    /// Its number.
    #[serde(rename = "page_id")]
    pub id: i64,
    /// Its address.
    pub url: String,
    /// Where it is in its life, or `alias`.
    pub state: String,
    /// How its last visit ended.
    pub outcome: Option<String>,
    /// The HTTP status of its last visit, if there was an answer.
    pub status: Option<u16>,
    /// Where that answer leads.
    pub redirect_to: Option<String>,
    /// Why its last visit brought nothing: as it was stored, until a view puts it in words.
    pub reason: Option<String>,
    /// The name of the wait that its host has or had, until a view puts it in words.
    #[serde(skip)]
    pub host_waits_for: Option<String>,
    /// The event behind that wait.
    pub host_reason: Option<String>,
    /// Links followed from its seed.
    pub depth: u32,
    /// Importance.
    pub weight: f64,
    /// Visits that were made.
    #[serde(rename = "visit_count")]
    pub visits: u64,
    /// Visits that found a change.
    #[serde(rename = "change_count")]
    pub changes: u64,
    /// Visits in a row that brought nothing.
    pub failures: u64,
    /// When it was found.
    pub found_at: Timestamp,
    /// The address of the page it was found on; none for seeds and for pages that a sitemap named.
    pub found_on: Option<String>,
    /// Its last visit.
    pub last_visit_at: Option<Timestamp>,
    /// It is not visited before this time.
    pub due_at: Option<Timestamp>,
    /// Length of the stored body.
    #[serde(rename = "body_bytes")]
    pub bytes: Option<u64>,
    /// Is that body stored? There may have been no room for it.
    pub is_stored: bool,
    /// As the host said it.
    pub content_type: Option<String>,
    /// The title of the stored version; `None` if it has none, or an earlier release stored it.
    pub title: Option<String>,
    /// When it last changed, by its sitemap.
    #[serde(rename = "sitemap_modified_at")]
    pub sitemap_lastmod: Option<Timestamp>,
    /// It asks not to be indexed.
    pub noindex: bool,
    /// The address of the page that stands for it.
    pub alias_of: Option<String>,
    /// The address of the page that its last visits name in its place, believed or not.
    pub same_as: Option<String>,
    /// Does its text agree with that of the page named? `None`: they could not be compared.
    pub same_text: Option<bool>,
}

/// Another spelling of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The page.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// It redirects for good: the page lived there before. Else it shows the page too, and says that it is the other.
    pub moved: bool,
}

/// Milliseconds as they are stored.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
