//! What every store promises, whatever it is made of: see the contract in `freshet::store`.
//!
//! Each function takes a [`Place`], empty and its own, and says what must hold there. None knows what the store is.

mod changes;
mod collection;
mod cycles;
mod events;
mod followed;
mod kept;
mod learnt;
mod lists;
mod lives;
mod pages;
mod rebuilt;
mod signals;
mod versions;
mod views;

pub use changes::*;
pub use collection::*;
pub use cycles::*;
pub use events::*;
pub use followed::*;
pub use kept::*;
pub use learnt::*;
pub use lists::*;
pub use lives::*;
pub use pages::*;
pub use rebuilt::*;
pub use signals::*;
pub use versions::*;
pub use views::*;

use freshet::change::changed_when::ChangedWhen;
use freshet::change::{self, ChangeSettings};
use freshet::crawl::batch::{Batch, Content, Recorded, ToldChange, VisitRecord};
use freshet::crawl::learning::{self, MemoryMaker};
use freshet::crawl::rebuild::Rebuilt;
use freshet::crawl::retold;
use freshet::estimate::priors::{GroupBy, Prior, PriorKind, Priors};
use freshet::fetch::answer_head::AnswerHead;
use freshet::fetch::visit::{
    Failure, HostReport, Outcome, RedirectFault, Refused, RobotsFault, RobotsRecord, RobotsStatus, Waiting,
};
use freshet::observation::{Attempt, EventKind, Life};
use freshet::page::{Host, Kin, Normaliser, PageId, PageUrl, SeedId};
use freshet::policy::registry::{self, PolicySettings};
use freshet::policy::{Policy, Score, Yield};
use freshet::quality::gain::MeasuredGain;
use freshet::quality::measure::MeasureId;
use freshet::schedule::{Plan, Planned};
use freshet::signal::lists::{ListFlaw, MOST_UNUSED};
use freshet::signal::trust::HostTrust;
use freshet::signal::{PageSignals, Signal, SignalCount, SignalKind};
use freshet::store::version::content_hash;
use freshet::store::{
    Commit, CycleCommand, CycleId, EventFilter, GainRow, JournalSize, KnownHost, KnownPage, ListRow, LogPart,
    LoggedVisit, PageAddress, PageEvent, PageEvents, PageFilter, PageOrder, PageRow, Ping, PlannedVisit,
    ReadContent, Store, StoreError, Summary, Tally, TrustRow, VersionId, VisitRow, Wanted, version,
};
use freshet::time::Timestamp;
use freshet::unique::seeds::Seed;
use freshet::unique::{NewPage, Refusal, ScopeKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a store lives. What was stored is there when it is opened again; the one opened before is dropped first.
pub trait Place {
    fn open(&self) -> Box<dyn Store>;

    /// Another place of the same kind, empty.
    fn another(&self) -> Box<dyn Place>;
}

/// Makes a test of each promise, for one kind of store.
macro_rules! conformance_of_a_store {
    ($name:ident, $place:expr) => {
        conformance_of_a_store! { $name, $place,
            a_new_store_is_empty
            seeds_are_pages_of_depth_zero
            a_seed_named_again_has_its_new_wishes
            a_page_that_becomes_a_seed_is_one_row_still
            a_seed_that_moved_hands_on_its_wishes_once
            seeds_are_paused_removed_and_resumed
            a_seed_knows_whether_a_file_named_it
            pages_are_counted_by_their_seed_and_state
            links_that_were_read_again_are_those_of_the_new_rules
            what_is_forgotten_is_gone_and_nothing_else_is
            numbers_of_what_was_forgotten_are_not_given_again
            a_page_is_one_row_for_ever
            pages_come_back_as_they_were_found
            what_is_planned_stays_planned_until_it_is_recorded
            an_interrupted_cycle_goes_on
            a_closed_cycle_frees_what_it_planned
            a_cycle_of_named_pages_stands_beside_the_others
            a_cycle_knows_the_command_that_began_it
            a_plan_that_makes_no_sense_changes_nothing
            a_batch_is_taken_whole_or_not_at_all
            visits_of_a_batch_are_judged_one_after_the_other
            pages_of_one_batch_may_lead_to_each_other
            a_list_may_be_longer_than_what_is_read_at_once
            pages_are_read_in_order_all_of_them_or_one_in_so_many
            observations_are_only_added
            a_content_is_held_once_and_comes_back_to_the_byte
            pages_that_share_a_content_keep_their_own_types
            a_page_keeps_what_it_held_through_bad_times
            not_modified_means_the_version_held
            every_visit_comes_back_with_what_it_left
            the_answer_that_first_brought_a_version_to_a_page_is_kept
            headers_take_no_room_where_contents_have_none
            versions_have_the_whole_hash_of_their_body
            validators_come_with_the_plan
            a_plan_says_by_which_rules_a_page_was_read
            a_page_is_alive_missing_gone_and_alive_again
            failures_push_a_page_back
            an_alias_points_to_a_page_that_is_none
            aliases_of_a_page_that_is_gone_stand_for_themselves
            no_page_becomes_the_alias_of_a_page_that_is_missing
            an_alias_is_believed_when_a_later_cycle_says_the_same
            many_unlike_pages_that_lead_to_one_are_no_aliases_of_it
            a_page_that_is_named_as_a_seed_is_no_alias
            a_rebuild_repairs_aliases
            a_page_knows_its_other_spellings_and_they_keep_their_past
            a_redirect_makes_pages_one_hop_further
            a_circle_of_redirects_is_a_loop
            lessons_are_what_visits_could_compare
            what_is_learnt_live_is_what_is_learnt_from_the_log
            gains_are_facts_of_their_own_and_are_learnt_again
            words_of_links_are_kept_until_the_first_visit
            priors_notes_and_links_come_back
            pages_count_what_their_seed_does
            hosts_and_their_waits_come_back
            the_reason_of_a_visit_and_where_it_led_are_kept
            sitemaps_leave_dates_and_the_time_they_were_read
            a_visit_says_how_far_the_page_moved
            profiles_are_kept_of_the_last_versions
            errors_are_no_changes
            a_text_that_comes_back_is_recognised
            what_counts_as_a_change_is_the_site_s_own
            texts_that_other_rules_left_are_not_compared
            what_has_no_words_differs_as_its_bytes_do
            fragments_of_another_length_are_made_again
            changes_are_marked_as_read_and_as_not_read
            changes_of_pages_that_were_found_again_are_listed
            events_are_listed_latest_first
            every_kind_of_event_is_told_live_and_listed_alike
            events_are_counted_by_cycle_host_and_kind
            a_rebuild_repairs_events
            titles_come_with_versions_pages_and_events
            what_the_next_visit_found_is_known
            a_page_is_found_by_its_fingerprint
            a_rebuild_gives_the_same_to_the_bit
            a_rebuild_repairs_what_is_derived
            an_empty_picture_is_no_empty_page
            what_scheduling_keeps_is_small
            signals_are_facts_that_pages_count
            a_visit_uses_up_what_was_told_before_it
            what_a_visit_has_seen_is_no_signal
            a_page_collects_no_more_signals_than_tell_anything
            links_that_appear_and_entries_of_feeds_are_signals
            visits_say_how_far_a_host_is_trusted
            a_rebuild_counts_signals_again_to_the_bit
            signals_go_with_a_page_that_is_forgotten
            sitemap_files_and_pings_come_back
            refusals_add_up
            counts_of_a_cycle_add_up
            summary_and_list_agree
            lists_are_filtered_by_everything_asked_for
            pages_are_counted_by_host_and_cycle
            the_log_of_a_cycle_is_in_order_of_time
            lists_have_the_order_asked_for
            a_list_in_an_order_may_be_longer_than_what_is_read_at_once
            a_list_goes_on_from_any_place
            kept_counts_are_those_of_the_rows
            a_batch_that_fails_leaves_the_counts_of_the_rows
            an_index_has_the_words_of_the_present_pages
            an_index_measures_what_refreshes_gain
            an_index_forgets_what_the_store_forgot
            an_index_that_is_read_in_steps_is_the_same_as_one_made_at_once
        }
    };
    ($name:ident, $place:expr, $($promise:ident)*) => {
        mod $name {
            $(#[test] fn $promise() { crate::store::$promise(&$place); })*
        }
    };
}

// --- making things ---------------------------------------------------------------------------------------------

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_123);
/// Stands for which links are taken.
pub const RULES: u64 = 42;
/// A day, in seconds.
const DAY: u64 = 86_400;

fn later(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

fn url(path: &str) -> PageUrl {
    let text = if path.starts_with('/') { format!("https://example.org{path}") } else { path.to_owned() };
    Normaliser::default().parse(&text).expect("a URL")
}

fn seed(path: &str) -> Seed {
    Seed { url: url(path), weight: 1.0, max_depth: None, scope: None, line: Some(1) }
}

fn found(path: &str, seed: SeedId, on: Option<PageId>) -> NewPage {
    NewPage { url: url(path), depth: 1, seed, found_on: on, lastmod: None, anchor: None }
}

fn observed(outcome: Outcome, at: Timestamp) -> Attempt {
    let status = match &outcome {
        Outcome::Fetched => Some(200),
        Outcome::NotModified => Some(304),
        Outcome::Missing => Some(404),
        Outcome::Redirected { permanent, .. } => Some(if *permanent { 301 } else { 302 }),
        _ => None,
    };
    let redirect_to = match &outcome {
        Outcome::Redirected { to, .. } => Some(to.clone()),
        _ => None,
    };
    Attempt { at, outcome, reason: None, redirect_to, status, bytes: 100, took: Duration::from_millis(7) }
}

/// A visit that brought nothing but its outcome.
fn visit(page: PageId, outcome: Outcome, at: Timestamp) -> VisitRecord {
    VisitRecord {
        page,
        attempt: observed(outcome, at),
        content: None,
        answer: None,
        etag: None,
        last_modified: None,
        has_safe_date: true,
        noindex: false,
        validator: None,
        rules: RULES,
        text_rules: 0,
        changed_when: ChangedWhen::default(),
        found: Vec::new(),
        links: None,
        same_rules: false,
        entries: Vec::new(),
        read_at: at,
        entry_dates: None,
        redirect: None,
        alias: None,
    }
}

/// A change of a page that a list or a person tells of.
fn told_by(kind: SignalKind, path: &str, date: Timestamp, learnt_at: Timestamp) -> ToldChange {
    ToldChange { page: url(path).fingerprint(), kind, date, learnt_at }
}

/// A visit that brought this body and text.
fn fetched(page: PageId, body: &[u8], text: &str, at: Timestamp) -> VisitRecord {
    VisitRecord { content: Some(content(body, text)), ..visit(page, Outcome::Fetched, at) }
}

/// A visit that was sent on to another page.
fn redirected(page: PageId, to: &str, permanent: bool, at: Timestamp) -> VisitRecord {
    let target = url(to).fingerprint();
    VisitRecord {
        redirect: Some(target),
        alias: permanent.then_some(target),
        ..visit(page, Outcome::Redirected { to: url(to).as_url().clone(), permanent }, at)
    }
}

fn content(body: &[u8], text: &str) -> Content {
    Content::Read(ReadContent {
        sha256: version::sha256(body),
        body_hash: content_hash(body),
        text_hash: content_hash(text.as_bytes()),
        content_type: Some("text/html".to_owned()),
        charset: Some("UTF-8"),
        body_bytes: body.len(),
        text_bytes: text.len(),
        title: (text.len() < 50 && !text.is_empty()).then(|| format!("about {text}").into_boxed_str()),
        sketch: Some(change::sketch(text, ChangeSettings::default())),
        packed: version::pack(body, text).expect("packing works"),
    })
}

fn batch(visits: Vec<VisitRecord>) -> Batch {
    Batch { visits, now: NOW, ..Batch::default() }
}

fn plan_of(pages: &[&KnownPage]) -> Plan {
    let planned = |(place, page): (usize, &&KnownPage)| Planned {
        page: page.id,
        host: page.host,
        score: Score::new(100.0 - place as f64),
        is_new: false,
    };
    Plan { visits: pages.iter().enumerate().map(planned).collect() }
}

// --- looking ---------------------------------------------------------------------------------------------------

fn pages(store: &mut dyn Store) -> Vec<KnownPage> {
    let mut pages = Vec::new();
    store.each_page(&mut |page| pages.push(page.clone())).expect("pages are read");
    pages
}

#[track_caller]
fn page(store: &mut dyn Store, path: &str) -> KnownPage {
    let wanted = url(path);
    let found = pages(store).into_iter().find(|page| page.fingerprint == wanted.fingerprint());
    found.unwrap_or_else(|| panic!("`{wanted}` is not there"))
}

fn listed(store: &mut dyn Store, filter: &PageFilter) -> Vec<PageRow> {
    let mut rows = Vec::new();
    store.list_pages(filter, &mut |row| rows.push(row)).expect("pages are listed");
    rows
}

#[track_caller]
fn row(store: &mut dyn Store, path: &str) -> PageRow {
    let everything = PageFilter { aliases: true, ..PageFilter::default() };
    let wanted = url(path);
    let found = listed(store, &everything).into_iter().find(|row| row.url == wanted.as_str());
    found.unwrap_or_else(|| panic!("`{wanted}` is not listed"))
}

#[track_caller]
fn host(store: &mut dyn Store, origin: &str) -> KnownHost {
    let hosts = store.hosts().expect("hosts are read");
    let found = hosts.into_iter().find(|host| host.report.host.as_str() == origin);
    found.unwrap_or_else(|| panic!("no host `{origin}`"))
}

/// All that a person or a scheduler can see, to be compared.
fn everything(store: &mut dyn Store) -> String {
    let summary =
        Summary { file_bytes: 0, journal: JournalSize::default(), ..store.summary().expect("a summary") };
    let rows = listed(store, &PageFilter { aliases: true, ..PageFilter::default() });
    let (hosts, cycles) = (store.hosts().expect("hosts"), store.cycles(100).expect("cycles"));
    let (seeds, pages) = (store.seeds().expect("seeds"), pages(store));
    format!("{summary:#?}\n{rows:#?}\n{hosts:#?}\n{cycles:#?}\n{seeds:#?}\n{pages:#?}")
}

fn urls(visits: &[PlannedVisit]) -> Vec<&str> {
    visits.iter().map(|visit| visit.url.trim_start_matches("https://example.org")).collect()
}

/// Words in a row, `from` the first.
fn words(from: usize, many: usize) -> String {
    (from..from + many).map(|number| format!("word{number} ")).collect::<String>().trim_end().to_owned()
}

/// A visit that brought this text; its body says no more.
fn read(page: PageId, text: &str, at: Timestamp) -> VisitRecord {
    fetched(page, text.as_bytes(), text, at)
}

fn visits(store: &mut dyn Store, page: PageId) -> Vec<VisitRow> {
    store.visits(page).expect("visits are read")
}

/// All that is seen of a store, its change profiles included.
fn derived(store: &mut dyn Store) -> String {
    let profiles: Vec<_> =
        pages(store).iter().map(|page| store.profiles(page.id).expect("profiles").to_bytes()).collect();
    format!("{}\n{profiles:?}", everything(store))
}

/// The measure of gains in these tests.
const MEASURE: MeasureId = MeasureId(7);

/// A store with seeds at these paths and a cycle under way.
struct Begun {
    store: Box<dyn Store>,
    cycle: CycleId,
    seed: SeedId,
    policy: Box<dyn Policy>,
}

/// Records a batch; pages learn what every policy counts.
pub fn record(store: &mut dyn Store, cycle: CycleId, batch: Batch) -> Result<Recorded, StoreError> {
    freshet::crawl::record::record(store, &*policy("age"), cycle, batch)
}

fn policy(name: &str) -> Box<dyn Policy> {
    let settings = PolicySettings { queries: Some(MEASURE), ..PolicySettings::default() };
    registry::find(name, &settings).expect("a policy")
}

fn begun(place: &dyn Place, paths: &[&str]) -> Begun {
    let mut store = place.open();
    let seeds: Vec<Seed> = paths.iter().map(|path| seed(path)).collect();
    store.add_seeds(&seeds, NOW).expect("seeds are added");
    let cycle = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).expect("a cycle opens").id;
    let seed = store.seeds().expect("seeds are read")[0].id;
    Begun { store, cycle, seed, policy: policy("age") }
}

/// The same with pages that were found and are no seeds: those may be aliases.
fn begun_with_found(place: &dyn Place, paths: &[&str]) -> Begun {
    let mut begun = begun(place, &["/seed"]);
    let found = paths.iter().map(|path| found(path, begun.seed, None)).collect();
    begun.take(Batch { found, ..batch(Vec::new()) }).expect("pages are found");
    begun
}

impl Begun {
    /// Records the same visits in two cycles: that is believed.
    #[track_caller]
    fn record_twice(&mut self, visits: impl Fn() -> Vec<VisitRecord>) -> Recorded {
        self.record(visits());
        self.next_cycle();
        self.record(visits())
    }

    #[track_caller]
    fn record(&mut self, visits: Vec<VisitRecord>) -> Recorded {
        self.take(batch(visits)).expect("the batch is taken")
    }

    fn take(&mut self, batch: Batch) -> Result<Recorded, StoreError> {
        freshet::crawl::record::record(&mut *self.store, &*self.policy, self.cycle, batch)
    }

    fn relearn(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, StoreError> {
        learning::relearn(&mut *self.store, &*self.policy, progress)
    }

    fn rebuild(
        &mut self,
        settings: ChangeSettings,
        write: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Rebuilt, StoreError> {
        freshet::crawl::rebuild::rebuild(&mut *self.store, &*self.policy, settings, write, progress)
    }

    #[track_caller]
    fn id(&mut self, path: &str) -> PageId {
        page(&mut *self.store, path).id
    }

    #[track_caller]
    fn row(&mut self, path: &str) -> PageRow {
        row(&mut *self.store, path)
    }

    /// Closes the cycle, opens the next.
    fn next_cycle(&mut self) {
        self.store.close_cycle(self.cycle, NOW, None).expect("the cycle closes");
        self.cycle =
            self.store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).expect("a cycle opens").id;
    }
}
