//! What every store promises, whatever it is made of: see the contract in `freshet::store`.
//!
//! Each function takes a [`Place`], empty and its own, and says what must hold there. None knows what the store is.

use freshet::change::changed_when::ChangedWhen;
use freshet::change::{self, ChangeSettings};
use freshet::estimate::priors::{GroupBy, Prior, PriorKind, Priors};
use freshet::fetch::visit::{Failure, HostReport, Outcome, Refused, RobotsRecord, Waiting};
use freshet::observation::{Life, Observation};
use freshet::page::{Host, Normaliser, PageId, PageUrl, SeedId};
use freshet::policy::registry::{self, PolicySettings};
use freshet::policy::{Policy, Score, Yield};
use freshet::schedule::{Plan, Planned};
use freshet::store::{
    Batch, Change, Content, CycleId, KnownHost, KnownPage, PageFilter, PageRow, PlannedVisit, ReadContent,
    Recorded, Store, Summary, Tally, VersionId, VisitRecord, VisitRow, version,
};
use freshet::time::Timestamp;
use freshet::unique::seeds::Seed;
use freshet::unique::{NewPage, Refusal, ScopeKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128;

/// Where a store lives. What was stored is there when it is opened again; the one opened before is dropped first.
pub trait Place {
    fn open(&self) -> Box<dyn Store>;
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
            a_page_is_one_row_for_ever
            pages_come_back_as_they_were_found
            what_is_planned_stays_planned_until_it_is_recorded
            an_interrupted_cycle_goes_on
            a_closed_cycle_frees_what_it_planned
            a_plan_that_makes_no_sense_changes_nothing
            a_batch_is_taken_whole_or_not_at_all
            observations_are_only_added
            a_content_is_held_once_and_comes_back_to_the_byte
            pages_that_share_a_content_keep_their_own_types
            a_page_keeps_what_it_held_through_bad_times
            not_modified_means_the_version_held
            every_visit_comes_back_with_what_it_left
            validators_come_with_the_plan
            a_plan_says_by_which_rules_a_page_was_read
            a_page_is_alive_missing_gone_and_alive_again
            failures_push_a_page_back
            an_alias_points_to_a_page_that_is_none
            aliases_of_a_page_that_is_gone_stand_for_themselves
            nobody_becomes_the_alias_of_a_page_that_is_missing
            a_page_knows_its_other_spellings_and_they_keep_their_past
            a_redirect_makes_pages_one_hop_further
            a_circle_of_redirects_is_a_loop
            lessons_are_what_visits_could_compare
            what_is_learnt_live_is_what_is_learnt_from_the_log
            priors_notes_and_links_come_back
            pages_count_what_their_seed_does
            hosts_and_their_waits_come_back
            sitemaps_leave_dates_and_the_time_they_were_read
            a_visit_says_how_far_the_page_moved
            profiles_are_kept_of_the_last_versions
            errors_are_no_changes
            a_text_that_comes_back_is_recognised
            what_counts_as_a_change_is_the_site_s_own
            texts_that_other_rules_left_are_not_compared
            what_has_no_words_differs_as_its_bytes_do
            fragments_of_another_length_are_made_again
            changes_are_told_latest_first
            what_the_next_visit_found_is_known
            a_page_is_found_by_its_fingerprint
            a_rebuild_gives_the_same_to_the_bit
            a_rebuild_repairs_what_is_derived
            an_empty_picture_is_no_empty_page
            what_scheduling_keeps_is_small
            refusals_add_up
            counts_of_a_cycle_add_up
            summary_and_list_agree
            lists_are_filtered_by_everything_asked_for
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
    Seed { url: url(path), weight: 1.0, max_depth: None, scope: None, line: 1 }
}

fn found(path: &str, seed: SeedId, on: Option<PageId>) -> NewPage {
    NewPage { url: url(path), depth: 1, seed, found_on: on, lastmod: None }
}

fn observed(outcome: Outcome, at: Timestamp) -> Observation {
    let status = match &outcome {
        Outcome::Fetched => Some(200),
        Outcome::NotModified => Some(304),
        Outcome::Missing => Some(404),
        Outcome::Redirected { permanent, .. } => Some(if *permanent { 301 } else { 302 }),
        _ => None,
    };
    Observation { at, outcome, status, bytes: 100, took: Duration::from_millis(7) }
}

/// A visit that brought nothing but its outcome.
fn visit(page: PageId, outcome: Outcome, at: Timestamp) -> VisitRecord {
    VisitRecord {
        page,
        observation: observed(outcome, at),
        content: None,
        etag: None,
        last_modified: None,
        noindex: false,
        validator: None,
        rules: RULES,
        text_rules: 0,
        changed_when: ChangedWhen::default(),
        found: Vec::new(),
        links: None,
        entry_dates: None,
        redirect: None,
        alias: None,
    }
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
        body_hash: xxh3_128(body),
        text_hash: xxh3_128(text.as_bytes()),
        content_type: Some("text/html".to_owned()),
        charset: Some("UTF-8"),
        body_bytes: body.len(),
        text_bytes: text.len(),
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
    store.each_page(&mut |page| pages.push(page)).expect("pages are read");
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
    let summary = Summary { file_bytes: 0, ..store.summary().expect("a summary") };
    let rows = listed(store, &PageFilter { aliases: true, ..PageFilter::default() });
    let (hosts, cycles) = (store.hosts().expect("hosts"), store.cycles(100).expect("cycles"));
    let (seeds, pages) = (store.seeds().expect("seeds"), pages(store));
    format!("{summary:#?}\n{rows:#?}\n{hosts:#?}\n{cycles:#?}\n{seeds:#?}\n{pages:#?}")
}

fn urls(visits: &[PlannedVisit]) -> Vec<&str> {
    visits.iter().map(|visit| visit.url.trim_start_matches("https://example.org")).collect()
}

/// A store with seeds at these paths and a cycle under way.
struct Begun {
    store: Box<dyn Store>,
    cycle: CycleId,
    seed: SeedId,
}

fn begun(place: &dyn Place, paths: &[&str]) -> Begun {
    let mut store = place.open();
    let seeds: Vec<Seed> = paths.iter().map(|path| seed(path)).collect();
    store.add_seeds(&seeds, NOW).expect("seeds are added");
    let cycle = store.open_cycle("breadth-first", None, NOW).expect("a cycle opens").id;
    let seed = store.seeds().expect("seeds are read")[0].id;
    Begun { store, cycle, seed }
}

impl Begun {
    #[track_caller]
    fn record(&mut self, visits: Vec<VisitRecord>) -> Recorded {
        self.store.record(self.cycle, &batch(visits)).expect("the batch is taken")
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
        self.cycle = self.store.open_cycle("breadth-first", None, NOW).expect("a cycle opens").id;
    }
}

// --- seeds and pages -------------------------------------------------------------------------------------------

pub fn a_new_store_is_empty(place: &dyn Place) {
    let mut store = place.open();
    assert!(store.seeds().expect("seeds").is_empty());
    assert!(store.hosts().expect("hosts").is_empty());
    assert!(store.cycles(10).expect("cycles").is_empty());
    assert!(pages(&mut *store).is_empty());
    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.visited, summary.observations, summary.seeds), (0, 0, 0, 0));
    assert!(store.content(PageId(1)).expect("no content").is_none());
}

pub fn seeds_are_pages_of_depth_zero(place: &dyn Place) {
    let mut store = place.open();
    let wishes = Seed { weight: 2.5, max_depth: Some(3), scope: Some(ScopeKind::Prefix), ..seed("/docs/") };
    store.add_seeds(&[wishes, seed("https://other.example/")], NOW).expect("seeds are added");
    drop(store);

    let mut store = place.open();
    let seeds = store.seeds().expect("seeds");
    assert_eq!(seeds.len(), 2);
    assert_eq!(seeds[0].url, "https://example.org/docs/");
    assert_eq!((seeds[0].max_depth, seeds[0].scope), (Some(3), Some(ScopeKind::Prefix)));
    assert_eq!((seeds[1].max_depth, seeds[1].scope), (None, None));
    let docs = page(&mut *store, "/docs/");
    assert_eq!((docs.state.depth, docs.state.weight), (0, 2.5));
    assert_eq!((docs.state.found_at, docs.state.last_visit, docs.last_cycle), (NOW, None, None));
    assert!(docs.alias_of.is_none() && docs.due_at <= NOW);
    assert_eq!(host(&mut *store, "https://example.org").pages, 1);
    assert_eq!(host(&mut *store, "https://other.example").pages, 1);
}

pub fn a_seed_named_again_has_its_new_wishes(place: &dyn Place) {
    let mut store = place.open();
    let first = Seed { weight: 2.0, max_depth: Some(1), scope: Some(ScopeKind::Any), ..seed("/?b=2&a=1") };
    store.add_seeds(&[first], NOW).expect("a seed is added");
    let before = (store.seeds().expect("seeds")[0].id, page(&mut *store, "/?a=1&b=2").id);
    // The same page under another spelling.
    store.add_seeds(&[Seed { weight: 3.0, ..seed("/?a=1&b=2") }], later(60)).expect("it is added again");
    let seeds = store.seeds().expect("seeds");
    assert_eq!(seeds.len(), 1);
    assert_eq!((seeds[0].scope, seeds[0].max_depth), (None, None));
    let again = page(&mut *store, "/?a=1&b=2");
    assert_eq!((seeds[0].id, again.id), before);
    assert_eq!((again.state.weight, again.state.found_at), (3.0, NOW));
    assert_eq!(again.url, "https://example.org/?b=2&a=1", "as it was found first");
}

pub fn a_page_that_becomes_a_seed_is_one_row_still(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let links = vec![found("/docs", from, Some(root))];
    begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    assert_eq!(page(&mut *begun.store, "/docs").state.depth, 1);
    let before = begun.id("/docs");
    begun.store.add_seeds(&[Seed { weight: 4.0, ..seed("/docs") }], later(60)).expect("it is added");
    let after = page(&mut *begun.store, "/docs");
    assert_eq!((after.id, after.state.depth, after.state.weight), (before, 0, 4.0));
    assert_eq!(pages(&mut *begun.store).len(), 2);
}

pub fn a_seed_that_moved_hands_on_its_wishes_once(place: &dyn Place) {
    let mut store = place.open();
    let wishes = Seed { max_depth: Some(2), scope: Some(ScopeKind::Domain), ..seed("/") };
    store.add_seeds(&[wishes], NOW).expect("a seed is added");
    let from = store.seeds().expect("seeds")[0].id;
    let moved = url("https://www.example.org/");
    for _ in 0..2 {
        store.adopt_seed(from, &moved, NOW).expect("it is adopted");
    }
    drop(store);
    let seeds = place.open().seeds().expect("seeds");
    assert_eq!(seeds.len(), 2);
    assert_eq!(seeds[1].url, "https://www.example.org/");
    assert_eq!((seeds[1].max_depth, seeds[1].scope), (Some(2), Some(ScopeKind::Domain)));
}

pub fn a_page_is_one_row_for_ever(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let links = vec![found("/a?x=1&y=2", from, Some(root)), found("/a?y=2&x=1", from, Some(root))];
    let recorded = begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    assert_eq!(recorded.new.len(), 1, "two spellings in one batch");
    let first = recorded.new[0].id;

    begun.next_cycle();
    let links = vec![found("/a?y=2&x=1", from, Some(root)), found("/", from, Some(root))];
    let recorded =
        begun.record(vec![VisitRecord { found: links, ..fetched(root, b"new", "new", later(60)) }]);
    assert!(recorded.new.is_empty(), "{:?}", recorded.new);
    let elsewhere =
        Batch { found: vec![found("/a?x=1&y=2", from, None)], now: later(60), ..Batch::default() };
    assert!(begun.store.record(begun.cycle, &elsewhere).expect("the batch is taken").new.is_empty());
    let known = page(&mut *begun.store, "/a?x=1&y=2");
    assert_eq!((known.id, known.url.as_str()), (first, "https://example.org/a?x=1&y=2"));
    assert_eq!(known.state.found_at, NOW);
    assert_eq!(pages(&mut *begun.store).len(), 2);
}

pub fn pages_come_back_as_they_were_found(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let deep = NewPage {
        depth: 7,
        lastmod: Some(1_700_000_000),
        ..found("https://b.example:8443/x?é#f", from, None)
    };
    let batch = Batch { found: vec![deep, found("/a", from, None)], now: later(5), ..Batch::default() };
    let recorded = begun.store.record(begun.cycle, &batch).expect("the batch is taken");
    let origins: Vec<&str> = recorded.new.iter().map(|new| new.url.origin()).collect();
    assert_eq!(origins, ["https://b.example:8443", "https://example.org"]);
    assert_eq!(recorded.new[0].state.depth, 7);
    drop(begun);

    let mut store = place.open();
    let order: Vec<PageId> = pages(&mut *store).iter().map(|page| page.id).collect();
    assert!(order.is_sorted() && order[0] == root, "{order:?}");
    let known = page(&mut *store, "https://b.example:8443/x?é");
    assert_eq!(known.id, recorded.new[0].id);
    assert_eq!(known.host, recorded.new[0].host);
    assert_eq!(known.fingerprint, url("https://b.example:8443/x?é").fingerprint());
    assert_eq!((known.state.depth, known.state.weight, known.state.found_at), (7, 1.0, later(5)));
    let row = row(&mut *store, "https://b.example:8443/x?é");
    assert_eq!(row.sitemap_lastmod, Some(Timestamp::from_seconds(1_700_000_000)));
    assert_eq!((row.state.as_str(), row.outcome, row.visits), ("new", None, 0));
    assert!(store.content(known.id).expect("no content").is_none());
}

// --- cycles and plans ------------------------------------------------------------------------------------------

pub fn what_is_planned_stays_planned_until_it_is_recorded(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let known = pages(&mut *begun.store);
    let order = [&known[2], &known[0], &known[1]];
    let visits = begun.store.plan(begun.cycle, &plan_of(&order)).expect("a plan");
    assert_eq!(urls(&visits), ["/b", "/", "/a"], "in the order of the plan");
    assert_eq!(
        (visits[0].page, visits[0].host, visits[0].depth, visits[0].hops),
        (known[2].id, known[2].host, 0, 0)
    );
    begun.record(vec![fetched(known[0].id, b"home", "home", NOW)]);
    drop(begun);

    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"], "best first, and the recorded one is not among them");
    drop(store);

    // Looking at it did not use it up.
    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert_eq!(urls(&open.outstanding), ["/b", "/a"]);
    let failed = Outcome::Failed(Failure::NoAnswer);
    let visits =
        vec![visit(known[1].id, failed, NOW), visit(known[2].id, Outcome::Refused(Refused::Robots), NOW)];
    store.record(open.id, &batch(visits)).expect("the batch is taken");
    let open = store.open_cycle("breadth-first", None, later(9)).expect("it opens");
    assert!(open.outstanding.is_empty(), "a visit that failed is a visit");
}

pub fn an_interrupted_cycle_goes_on(place: &dyn Place) {
    let mut store = place.open();
    store.add_seeds(&[seed("/")], NOW).expect("a seed is added");
    let first = store.open_cycle("breadth-first", Some(10), NOW).expect("it opens");
    assert!(!first.resumed && first.outstanding.is_empty() && first.requests == 0);
    let tally = Tally { requests: 4, bytes: 1000, deferred: 1 };
    store.record(first.id, &Batch { tally, now: NOW, ..Batch::default() }).expect("the batch is taken");
    drop(store);

    let mut store = place.open();
    let again = store.open_cycle("another", Some(20), later(60)).expect("it opens");
    assert_eq!((again.id, again.resumed, again.requests), (first.id, true, 4));
    let cycles = store.cycles(10).expect("cycles");
    assert_eq!(cycles.len(), 1);
    assert_eq!(
        (cycles[0].policy.as_str(), cycles[0].budget),
        ("another", Some(20)),
        "this run's wishes hold"
    );
    assert_eq!((cycles[0].started_at, cycles[0].ended_at), (NOW, None));
    store.close_cycle(again.id, later(90), Some(0.25)).expect("it closes");
    drop(store);

    let mut store = place.open();
    let next = store.open_cycle("breadth-first", None, later(120)).expect("it opens");
    assert!(!next.resumed && next.id > first.id && next.requests == 0);
    let cycles = store.cycles(10).expect("cycles");
    assert_eq!(
        cycles.iter().map(|cycle| cycle.id).collect::<Vec<_>>(),
        [next.id.0, first.id.0],
        "newest first"
    );
    assert_eq!((cycles[1].ended_at, cycles[0].ended_at), (Some(later(90)), None));
    assert_eq!(store.cycles(1).expect("one cycle").len(), 1);
}

pub fn a_closed_cycle_frees_what_it_planned(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    let known = pages(&mut *begun.store);
    begun.store.plan(begun.cycle, &plan_of(&[&known[0], &known[1]])).expect("a plan");
    begun.next_cycle();
    drop(begun);
    let mut store = place.open();
    let open = store.open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
    let visits = store.plan(open.id, &plan_of(&[&known[1]])).expect("it can be planned again");
    assert_eq!(urls(&visits), ["/a"]);
}

pub fn a_plan_that_makes_no_sense_changes_nothing(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let known = pages(&mut *begun.store);
    let mut plan = plan_of(&[&known[0]]);
    plan.visits.push(Planned {
        page: PageId(999),
        host: known[0].host,
        score: Score::new(1.0),
        is_new: false,
    });
    assert!(begun.store.plan(begun.cycle, &plan).is_err());
    drop(begun);
    let open = place.open().open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty(), "{:?}", urls(&open.outstanding));
}

// --- batches ---------------------------------------------------------------------------------------------------

/// A batch with something of everything, and this visit at its end.
fn full_batch(begun: &mut Begun, last: VisitRecord) -> Batch {
    let (root, from) = (begun.id("/"), begun.seed);
    let report = HostReport {
        host: Host::parse("https://third.example").expect("a host"),
        delay: Duration::from_secs(1),
        wait: None,
        failures: 0,
        rests: 2,
        robots: None,
    };
    let links = vec![found("https://second.example/", from, Some(root))];
    Batch {
        visits: vec![VisitRecord { found: links, ..fetched(root, b"body", "text", later(1)) }, last],
        found: vec![found("/from-a-sitemap", from, None)],
        sitemap_dates: vec![(url("/").fingerprint(), 1_700_000_000)],
        hosts: vec![report],
        sitemaps_read: vec![(url("/").host(), later(1))],
        refusals: vec![(Refusal::OutOfScope, 3)],
        tally: Tally { requests: 5, bytes: 500, deferred: 1 },
        now: later(1),
        change: ChangeSettings::default(),
    }
}

pub fn a_batch_is_taken_whole_or_not_at_all(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let known = pages(&mut *begun.store);
    begun.store.plan(begun.cycle, &plan_of(&[&known[0]])).expect("a plan");
    let before = everything(&mut *begun.store);
    let bad = full_batch(&mut begun, visit(PageId(999), Outcome::Fetched, NOW));
    assert!(begun.store.record(begun.cycle, &bad).is_err(), "a visit of a page that is not there");
    assert_eq!(everything(&mut *begun.store), before);

    // The store still works, and what was undone has left no trace in its memory either.
    let root = begun.id("/");
    let good = full_batch(&mut begun, visit(root, Outcome::NotModified, later(2)));
    let recorded = begun.store.record(begun.cycle, &good).expect("the batch is taken");
    assert_eq!(recorded.new.len(), 2);
    assert_eq!(recorded.visits.len(), 2);
    drop(begun);
    let mut store = place.open();
    assert_ne!(everything(&mut *store), before);
    assert_eq!(store.summary().expect("a summary").observations, 2);
    let open = store.open_cycle("breadth-first", None, NOW).expect("it opens");
    assert!(open.outstanding.is_empty());
    for origin in ["https://example.org", "https://second.example", "https://third.example"] {
        host(&mut *store, origin);
    }
    assert_eq!(
        page(&mut *store, "https://second.example/").host,
        host(&mut *store, "https://second.example").id
    );
}

pub fn observations_are_only_added(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let outcomes = [Outcome::Fetched, Outcome::Missing, Outcome::ServerError, Outcome::Fetched];
    for (count, outcome) in outcomes.into_iter().enumerate() {
        begun.record(vec![visit(root, outcome, later(count as u64))]);
        assert_eq!(begun.store.summary().expect("a summary").observations, count as u64 + 1);
        begun.next_cycle();
    }
    let row = begun.row("/");
    assert_eq!((row.visits, row.outcome.as_deref()), (4, Some("fetched")), "a visit is one attempt");
    assert_eq!(row.last_visit_at, Some(later(3)));
}

// --- versions --------------------------------------------------------------------------------------------------

pub fn a_content_is_held_once_and_comes_back_to_the_byte(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/copy", "/empty", "/large"]);
    let bytes: Vec<u8> = (0..=255u8).cycle().take(300_000).collect();
    let cases: [(&str, &[u8], &str); 4] = [
        ("/", b"<p>caf\xe9\0 and tea</p>", "café and tea"),
        ("/copy", b"<p>caf\xe9\0 and tea</p>", "café and tea"),
        ("/empty", b"", ""),
        ("/large", &bytes, ""),
    ];
    let mut visits = Vec::new();
    for (path, body, text) in cases {
        visits.push(fetched(begun.id(path), body, text, NOW));
    }
    begun.record(visits);
    drop(begun);

    let mut store = place.open();
    let summary = store.summary().expect("a summary");
    assert_eq!(summary.versions, 3, "the copy is held once");
    let bytes_of = |at: usize| (cases[at].1.len() + cases[at].2.len()) as u64;
    assert_eq!(summary.content_bytes, bytes_of(0) + bytes_of(2) + bytes_of(3));
    assert!(summary.stored_bytes > 0 && summary.file_bytes > 0);
    for (path, body, text) in cases {
        let id = page(&mut *store, path).id;
        let held = store.content(id).expect("it is read").unwrap_or_else(|| panic!("{path} holds nothing"));
        assert!(held.body == body, "{path}: {} bytes, not {}", held.body.len(), body.len());
        assert_eq!((held.text.as_str(), held.content_type.as_deref()), (text, Some("text/html")), "{path}");
        assert_eq!(row(&mut *store, path).bytes, Some(body.len() as u64), "{path}");
    }
}

pub fn pages_that_share_a_content_keep_their_own_types(place: &dyn Place) {
    let mut begun = begun(place, &["/a.html", "/a.txt"]);
    let typed = |page, name: &str| {
        let Content::Read(read) = content(b"the same bytes", "the same bytes") else { unreachable!() };
        let read = Content::Read(ReadContent { content_type: Some(name.to_owned()), ..read });
        VisitRecord { content: Some(read), ..visit(page, Outcome::Fetched, NOW) }
    };
    let (html, text) = (begun.id("/a.html"), begun.id("/a.txt"));
    begun.record(vec![typed(html, "text/html"), typed(text, "text/plain")]);
    assert_eq!(begun.store.summary().expect("a summary").versions, 1);
    for (path, id, name) in [("/a.html", html, "text/html"), ("/a.txt", text, "text/plain")] {
        assert_eq!(begun.row(path).content_type.as_deref(), Some(name));
        let held = begun.store.content(id).expect("it is read").expect("it holds something");
        assert_eq!(held.content_type.as_deref(), Some(name));
    }
}

pub fn a_page_keeps_what_it_held_through_bad_times(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let mut changed = Vec::new();
    for (body, outcome) in [
        (Some("one"), Outcome::Fetched),
        (Some("one"), Outcome::Fetched),
        (None, Outcome::Missing),
        (None, Outcome::Failed(Failure::TooSlow)),
        (Some("two"), Outcome::Fetched),
        (Some("one"), Outcome::Fetched),
    ] {
        let visit = match body {
            Some(body) => fetched(root, body.as_bytes(), body, NOW),
            None => visit(root, outcome, NOW),
        };
        changed.extend(begun.record(vec![visit]).visits.into_iter().map(|visit| visit.changed));
        begun.next_cycle();
        let expected = if body == Some("two") { "two" } else { "one" };
        let held = begun.store.content(root).expect("it is read").expect("it holds something");
        assert_eq!(held.text, expected);
    }
    assert_eq!(changed, [None, Some(false), None, None, Some(true), Some(true)]);
    assert_eq!(begun.row("/").changes, 2);
    assert_eq!(
        begun.store.summary().expect("a summary").versions,
        2,
        "a content that came back is the old one"
    );
}

pub fn not_modified_means_the_version_held(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/never"]);
    let (root, never) = (begun.id("/"), begun.id("/never"));
    begun.record(vec![fetched(root, b"one", "one", NOW)]);
    begun.next_cycle();
    let visits =
        vec![visit(root, Outcome::NotModified, later(1)), visit(never, Outcome::NotModified, later(1))];
    let recorded = begun.record(visits);
    let changed: Vec<Option<bool>> = recorded.visits.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [Some(false), None], "a page that holds nothing has nothing to compare with");
    assert_eq!(begun.store.content(root).expect("it is read").map(|held| held.text).as_deref(), Some("one"));

    // A body that is the one held need not be sent again; who holds nothing has nothing to compare it with.
    begun.next_cycle();
    let held = |page| VisitRecord { content: Some(Content::Held), ..visit(page, Outcome::Fetched, later(2)) };
    let recorded = begun.record(vec![held(root), held(never)]);
    let changed: Vec<Option<bool>> = recorded.visits.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [Some(false), None]);
    assert_eq!(begun.store.summary().expect("a summary").versions, 1);
    assert_eq!(begun.store.content(root).expect("it is read").map(|held| held.text).as_deref(), Some("one"));
    assert!(begun.store.content(never).expect("it is read").is_none());
}

pub fn every_visit_comes_back_with_what_it_left(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/other"]);
    let (root, other) = (begun.id("/"), begun.id("/other"));
    begun.record(vec![fetched(other, b"two", "two", later(1)), fetched(root, b"one", "one", NOW)]);
    begun.next_cycle();
    begun.record(vec![visit(root, Outcome::NotModified, later(2)), visit(other, Outcome::Missing, later(3))]);
    begun.next_cycle();
    begun.record(vec![fetched(root, b"<p>new", "new", later(4))]);

    let mut rows = Vec::new();
    begun.store.each_visit(&mut |row| rows.push(row)).expect("visits are read");
    let told: Vec<_> = rows.iter().map(|row| (row.page, row.at, row.outcome.as_str())).collect();
    let expected = [
        (root, NOW, "fetched"),
        (root, later(2), "not-modified"),
        (root, later(4), "fetched"),
        (other, later(1), "fetched"),
        (other, later(3), "missing"),
    ];
    assert_eq!(told, expected);
    assert_eq!((rows[0].version, rows[4].version), (rows[1].version, None));
    let mut read = |row: usize| {
        let version = rows[row].version.expect("a version");
        let found = begun.store.version(version).expect("it is read").expect("it is there");
        (found.body, found.text)
    };
    assert_eq!(read(1), (b"one".to_vec(), "one".to_owned()));
    assert_eq!(read(2), (b"<p>new".to_vec(), "new".to_owned()));
    assert_eq!(read(3), (b"two".to_vec(), "two".to_owned()));
    assert!(begun.store.version(VersionId(999)).expect("no such version").is_none());
}

pub fn validators_come_with_the_plan(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let planned = |begun: &mut Begun| {
        let known = pages(&mut *begun.store);
        begun.store.plan(begun.cycle, &plan_of(&[&known[0]])).expect("a plan").remove(0).held
    };
    assert_eq!(planned(&mut begun), Default::default());
    let visit_with = |etag: Option<&str>, date: Option<&str>| VisitRecord {
        etag: etag.map(str::to_owned),
        last_modified: date.map(str::to_owned),
        noindex: etag.is_some(),
        ..fetched(root, b"one", "one", NOW)
    };
    begun.record(vec![visit_with(Some("\"v1\""), Some("Sun, 06 Nov 1994 08:49:37 GMT"))]);
    let held = planned(&mut begun);
    assert_eq!((held.etag.as_deref(), held.body), (Some("\"v1\""), Some(xxh3_128(b"one"))));
    assert_eq!(held.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(begun.row("/").noindex);

    // A visit without a body says nothing about them …
    begun.record(vec![visit(root, Outcome::NotModified, NOW)]);
    begun.record(vec![visit(root, Outcome::ServerError, NOW)]);
    assert_eq!(planned(&mut begun), held);
    assert!(begun.row("/").noindex);
    // … and one with a body says everything.
    begun.record(vec![visit_with(None, None)]);
    let held = planned(&mut begun);
    assert_eq!((held.etag, held.last_modified), (None, None));
    assert!(!begun.row("/").noindex);
}

pub fn a_plan_says_by_which_rules_a_page_was_read(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let held = VisitRecord { content: Some(Content::Held), ..visit(root, Outcome::Fetched, NOW) };
    let story = [
        (visit(root, Outcome::Missing, NOW), 1, None),
        (fetched(root, b"one", "one", NOW), 2, Some(2)),
        // Not read, so it stands as it was read before.
        (visit(root, Outcome::NotModified, NOW), 3, Some(2)),
        (held, 4, Some(2)),
        (visit(root, Outcome::ServerError, NOW), 5, Some(2)),
        (fetched(root, b"one", "one", NOW), u64::MAX, Some(u64::MAX)),
    ];
    for (visit, rules, read_by) in story {
        let outcome = visit.observation.outcome.clone();
        begun.record(vec![VisitRecord { rules, ..visit }]);
        begun.next_cycle();
        let known = page(&mut *begun.store, "/");
        let planned = begun.store.plan(begun.cycle, &plan_of(&[&known])).expect("a plan");
        assert_eq!(planned[0].read_by, read_by, "after {outcome} by rules {rules}");
    }
}

// --- a page's life ---------------------------------------------------------------------------------------------

pub fn a_page_is_alive_missing_gone_and_alive_again(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let story = [
        (Outcome::Fetched, "alive", 0),
        (Outcome::Missing, "missing", 0),
        (Outcome::Missing, "gone", DAY),
        (Outcome::ServerError, "gone", DAY),
        (Outcome::Fetched, "alive", 0),
        (Outcome::Refused(Refused::Robots), "blocked", 0),
        (Outcome::Redirected { to: url("/x").as_url().clone(), permanent: false }, "redirected", 0),
        (Outcome::Fetched, "alive", 0),
    ];
    for (outcome, state, wait) in story {
        begun.record(vec![visit(root, outcome.clone(), NOW)]);
        assert_eq!(begun.row("/").state, state, "after {outcome}");
        assert_eq!(page(&mut *begun.store, "/").due_at, later(wait), "after {outcome}");
        begun.next_cycle();
    }
}

pub fn failures_push_a_page_back(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    for (failures, wait) in [(1, 0), (2, 600), (3, 1200)] {
        begun.record(vec![visit(root, Outcome::Failed(Failure::Connect), NOW)]);
        let row = begun.row("/");
        assert_eq!((row.state.as_str(), row.outcome.as_deref()), ("failing", Some("connect")));
        assert_eq!(row.failures, failures);
        let known = page(&mut *begun.store, "/");
        assert_eq!(known.due_at, later(wait));
        assert_eq!(known.last_cycle, Some(begun.cycle));
        assert_eq!(known.state.last_visit, Some(NOW), "a visit that failed is one");
        begun.next_cycle();
    }
    begun.record(vec![fetched(root, b"one", "one", later(1))]);
    assert_eq!(begun.row("/").failures, 0);
    assert_eq!(page(&mut *begun.store, "/").state.last_visit, Some(later(1)));
}

// --- aliases and redirects -------------------------------------------------------------------------------------

pub fn an_alias_points_to_a_page_that_is_none(place: &dyn Place) {
    let mut begun = begun(place, &["/one", "/two", "/three"]);
    let (one, two, three) = (begun.id("/one"), begun.id("/two"), begun.id("/three"));
    let canonical = |page: PageId, of: &str| VisitRecord {
        alias: Some(url(of).fingerprint()),
        ..fetched(page, of.as_bytes(), of, NOW)
    };
    begun.record(vec![canonical(one, "/two")]);
    let alias = begun.row("/one");
    assert_eq!((alias.state.as_str(), alias.alias_of.as_deref()), ("alias", Some("https://example.org/two")));
    assert!(page(&mut *begun.store, "/one").alias_of.is_some());

    // Its target becomes an alias itself: both point to the end.
    begun.record(vec![canonical(two, "/three")]);
    for path in ["/one", "/two"] {
        assert_eq!(begun.row(path).alias_of.as_deref(), Some("https://example.org/three"), "{path}");
    }
    // Nobody is the alias of itself, by whatever detour.
    begun.record(vec![canonical(three, "/one"), canonical(three, "/three")]);
    assert_eq!(begun.row("/three").alias_of, None);
    drop(begun);
    let mut store = place.open();
    let summary = store.summary().expect("a summary");
    assert_eq!((summary.known, summary.aliases), (1, 2));
    assert_eq!(row(&mut *store, "/one").alias_of.as_deref(), Some("https://example.org/three"));
}

pub fn aliases_of_a_page_that_is_gone_stand_for_themselves(place: &dyn Place) {
    let mut begun = begun(place, &["/old", "/older", "/new"]);
    let (old, older, new) = (begun.id("/old"), begun.id("/older"), begun.id("/new"));
    begun.record(vec![redirected(old, "/new", true, NOW), redirected(older, "/old", true, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2);
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    assert_eq!(begun.store.summary().expect("a summary").aliases, 2, "once may be a slip");
    begun.next_cycle();
    begun.record(vec![visit(new, Outcome::Missing, NOW)]);
    let summary = begun.store.summary().expect("a summary");
    assert_eq!((summary.aliases, summary.known), (0, 3));
    assert!(page(&mut *begun.store, "/old").alias_of.is_none());
}

pub fn nobody_becomes_the_alias_of_a_page_that_is_missing(place: &dyn Place) {
    let mut begun = begun(place, &["/copy", "/story"]);
    let (copy, story) = (begun.id("/copy"), begun.id("/story"));
    begun.record(vec![visit(story, Outcome::Missing, NOW)]);
    let alias = Some(url("/story").fingerprint());
    begun.record(vec![VisitRecord { alias, ..fetched(copy, b"copy", "copy", NOW) }]);
    assert_eq!(begun.row("/copy").alias_of, None);
    // A page that nobody knows can't stand for another.
    let alias = Some(url("/unknown").fingerprint());
    begun.record(vec![VisitRecord { alias, ..fetched(copy, b"copy", "copy", NOW) }]);
    assert_eq!(begun.row("/copy").state, "alive");
}

pub fn a_page_knows_its_other_spellings_and_they_keep_their_past(place: &dyn Place) {
    let mut begun = begun(place, &["/old", "/older", "/print", "/new"]);
    let [old, older, print, new] = ["/old", "/older", "/print", "/new"].map(|path| begun.id(path));
    assert_eq!(begun.store.spellings(new).expect("spellings"), []);
    begun.record(vec![
        fetched(old, b"story", "story", NOW),
        redirected(older, "/old", true, NOW),
        redirected(old, "/new", true, later(DAY)),
        fetched(new, b"story", "story", later(DAY)),
        VisitRecord {
            alias: Some(url("/new").fingerprint()),
            ..fetched(print, b"print", "print", later(DAY))
        },
    ]);
    // A host that does not answer has not taken back that the page moved.
    begun.next_cycle();
    begun.record(vec![visit(old, Outcome::Failed(Failure::NoAnswer), later(2 * DAY))]);
    drop(begun);
    let mut store = place.open();
    let spellings = store.spellings(new).expect("spellings");
    let seen: Vec<(PageId, &str, bool)> =
        spellings.iter().map(|spelling| (spelling.page, spelling.url.as_str(), spelling.moved)).collect();
    assert_eq!(
        seen,
        [
            (old, "https://example.org/old", true),
            (older, "https://example.org/older", true),
            (print, "https://example.org/print", false),
        ]
    );
    assert_eq!(store.spellings(old).expect("spellings"), [], "the other stands for it");
    let (mut outcomes, mut versions) = (Vec::new(), Vec::new());
    store
        .each_visit(&mut |visit| {
            if visit.page == old {
                outcomes.push(visit.outcome);
                versions.extend(visit.version);
            }
        })
        .expect("visits");
    assert_eq!(outcomes.first().map(String::as_str), Some("fetched"), "{outcomes:?}");
    assert_eq!((outcomes.len(), outcomes[1].as_str()), (3, "moved"));
    let text = store.version(versions[0]).expect("a version").map(|version| version.text);
    assert_eq!(text.as_deref(), Some("story"));
}

pub fn a_redirect_makes_pages_one_hop_further(place: &dyn Place) {
    let mut begun = begun(place, &["/0"]);
    let from = begun.seed;
    for hop in 0..3 {
        let (here, next) = (begun.id(&format!("/{hop}")), format!("/{}", hop + 1));
        let targets = vec![NewPage { depth: 0, ..found(&next, from, Some(here)) }];
        begun.record(vec![VisitRecord { found: targets, ..redirected(here, &next, false, NOW) }]);
    }
    let known = pages(&mut *begun.store);
    let visits = begun.store.plan(begun.cycle, &plan_of(&known.iter().collect::<Vec<_>>())).expect("a plan");
    assert_eq!(visits.iter().map(|visit| visit.hops).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // A page found by a link, on a page that redirects led to, begins anew.
    let last = begun.id("/3");
    begun.record(vec![VisitRecord {
        found: vec![found("/linked", from, Some(last))],
        ..fetched(last, b"x", "x", NOW)
    }]);
    let linked = page(&mut *begun.store, "/linked");
    assert_eq!(begun.store.plan(begun.cycle, &plan_of(&[&linked])).expect("a plan")[0].hops, 0);
}

pub fn a_circle_of_redirects_is_a_loop(place: &dyn Place) {
    for permanent in [false, true] {
        let paths = if permanent { ["/p1", "/p2", "/p3"] } else { ["/t1", "/t2", "/t3"] };
        let mut begun = begun(place, &paths);
        let mut outcomes = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let visit = redirected(begun.id(path), paths[(at + 1) % 3], permanent, NOW);
            outcomes.push(begun.record(vec![visit]).visits[0].outcome.code());
        }
        let sent_on = if permanent { "moved" } else { "redirected" };
        assert_eq!(outcomes, [sent_on, sent_on, "redirect-loop"]);
        let last = begun.row(paths[2]);
        assert_eq!((last.state.as_str(), last.alias_of), ("failing", None));
        assert_eq!(begun.store.cycles(1).expect("a cycle")[0].failed, 1 + u64::from(permanent));
    }
}

// --- hosts -----------------------------------------------------------------------------------------------------

pub fn hosts_and_their_waits_come_back(place: &dyn Place) {
    let mut begun = begun(place, &["/", "http://[::1]:8080/"]);
    let robots =
        RobotsRecord { at: NOW, status: 200, body: b"User-agent: *\nDisallow: /\xff".to_vec().into() };
    let report = |origin: &str, wait, robots| HostReport {
        host: Host::parse(origin).expect("a host"),
        delay: Duration::from_millis(1_500),
        wait,
        failures: 3,
        rests: 2,
        robots,
    };
    let waits = [
        Waiting::RetryAfter,
        Waiting::BackOff,
        Waiting::Failing,
        Waiting::Unreachable,
        Waiting::RobotsUnavailable,
        Waiting::CrawlDelay,
    ];
    for why in waits {
        let reports = vec![
            report("https://example.org", Some((later(60), why)), Some(robots.clone())),
            report("http://[::1]:8080", None, None),
        ];
        let batch = Batch { hosts: reports, now: NOW, ..Batch::default() };
        begun.store.record(begun.cycle, &batch).expect("the batch is taken");
        let known = host(&mut *begun.store, "https://example.org").report;
        assert_eq!(known.wait, Some((later(60), why)));
        assert_eq!((known.delay, known.failures), (Duration::from_millis(1_500), 3));
        assert_eq!(known.robots, Some(robots.clone()));
        let other = host(&mut *begun.store, "http://[::1]:8080").report;
        assert_eq!((other.wait, other.robots), (None, None));
    }
    // A wait that is over goes; the robots.txt that was read stays until another is.
    let batch =
        Batch { hosts: vec![report("https://example.org", None, None)], now: NOW, ..Batch::default() };
    begun.store.record(begun.cycle, &batch).expect("the batch is taken");
    drop(begun);
    let known = host(&mut *place.open(), "https://example.org");
    assert_eq!((known.report.wait, known.report.robots), (None, Some(robots)));
    assert_eq!((known.pages, known.sitemaps_at), (1, None));
}

pub fn sitemaps_leave_dates_and_the_time_they_were_read(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let from = begun.seed;
    let dated = NewPage { lastmod: Some(1_600_000_000), ..found("/a", from, None) };
    let dates = vec![(url("/").fingerprint(), 1_700_000_000), (url("/unknown").fingerprint(), 1)];
    let batch = Batch {
        found: vec![dated],
        sitemap_dates: dates,
        sitemaps_read: vec![(url("/").host(), later(7))],
        now: NOW,
        ..Batch::default()
    };
    begun.store.record(begun.cycle, &batch).expect("the batch is taken");
    drop(begun);
    let mut store = place.open();
    assert_eq!(row(&mut *store, "/").sitemap_lastmod, Some(Timestamp::from_seconds(1_700_000_000)));
    assert_eq!(row(&mut *store, "/a").sitemap_lastmod, Some(Timestamp::from_seconds(1_600_000_000)));
    assert_eq!(pages(&mut *store).len(), 2, "a date makes no page");
    assert_eq!(host(&mut *store, "https://example.org").sitemaps_at, Some(later(7)));
}

// --- counts and lists ------------------------------------------------------------------------------------------

pub fn refusals_add_up(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    for _ in 0..3 {
        let refusals = vec![(Refusal::OutOfScope, 10), (Refusal::NoFollow, 1), (Refusal::OutOfScope, 1)];
        let batch = Batch { refusals, now: NOW, ..Batch::default() };
        begun.store.record(begun.cycle, &batch).expect("the batch is taken");
        begun.next_cycle();
    }
    drop(begun);
    let refusals = place.open().summary().expect("a summary").refusals;
    assert_eq!(refusals, [("out-of-scope".to_owned(), 33), ("no-follow".to_owned(), 3)], "most first");
}

pub fn counts_of_a_cycle_add_up(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b", "/c"]);
    let ids = ["/", "/a", "/b", "/c"].map(|path| begun.id(path));
    let from = begun.seed;
    let tally = |requests| Tally { requests, bytes: requests * 100, deferred: 1 };
    let with = |begun: &mut Begun, visits: Vec<VisitRecord>, requests| {
        let whole = Batch { tally: tally(requests), ..batch(visits) };
        begun.store.record(begun.cycle, &whole).expect("the batch is taken");
    };
    let links = vec![found("/new", from, Some(ids[0]))];
    let first = vec![
        VisitRecord { found: links, ..fetched(ids[0], b"one", "one", NOW) },
        fetched(ids[1], b"a", "a", NOW),
        visit(ids[2], Outcome::Missing, NOW),
        visit(ids[3], Outcome::Refused(Refused::Robots), NOW),
    ];
    with(&mut begun, first, 3);
    begun.next_cycle();
    let second = vec![
        fetched(ids[0], b"two", "two", NOW),
        visit(ids[1], Outcome::NotModified, NOW),
        redirected(ids[2], "/a", false, NOW),
        visit(ids[3], Outcome::Failed(Failure::Tls), NOW),
    ];
    with(&mut begun, second, 4);
    with(&mut begun, Vec::new(), 2);
    drop(begun);

    let cycles = place.open().cycles(10).expect("cycles");
    let counts: Vec<[u64; 8]> = cycles
        .iter()
        .map(|c| [c.requests, c.bytes, c.deferred, c.fetched, c.new_pages, c.changed, c.unchanged, c.failed])
        .collect();
    assert_eq!(counts, [[6, 600, 2, 2, 0, 1, 1, 1], [3, 300, 1, 2, 1, 0, 0, 1]]);
}

/// Pages of two hosts, in every state of their life, one alias among them.
fn varied(place: &dyn Place) -> Begun {
    let mut begun = begun(place, &["/", "https://other.example:8443/"]);
    let (root, from) = (begun.id("/"), begun.seed);
    let names = ["/alive", "/missing", "/gone", "/failing", "/blocked", "/redirected", "/alias", "/new"];
    let mut links: Vec<NewPage> = names.iter().map(|path| found(path, from, Some(root))).collect();
    links.push(NewPage { depth: 4, ..found("https://other.example:8443/deep?x=%25_1", from, Some(root)) });
    begun.record(vec![VisitRecord { found: links, ..fetched(root, b"home", "home", NOW) }]);
    let ids: BTreeMap<&str, PageId> = names.iter().map(|path| (*path, begun.id(path))).collect();
    begun.record(vec![
        fetched(ids["/alive"], b"alive", "alive", NOW),
        visit(ids["/missing"], Outcome::Missing, NOW),
        visit(ids["/gone"], Outcome::Missing, NOW),
        visit(ids["/gone"], Outcome::Missing, NOW),
        visit(ids["/failing"], Outcome::Failed(Failure::TooLarge), NOW),
        visit(ids["/blocked"], Outcome::Refused(Refused::Robots), NOW),
        redirected(ids["/redirected"], "/alive", false, NOW),
        redirected(ids["/alias"], "/alive", true, NOW),
    ]);
    begun
}

pub fn summary_and_list_agree(place: &dyn Place) {
    let mut begun = varied(place);
    let store = &mut *begun.store;
    let summary = store.summary().expect("a summary");
    let rows = listed(store, &PageFilter::default());
    assert_eq!(summary.known, rows.len() as u64);
    assert_eq!(summary.known, 10);
    assert_eq!(summary.aliases, 1);
    assert_eq!(summary.visited, rows.iter().filter(|row| row.last_visit_at.is_some()).count() as u64);
    for life in Life::ALL {
        let of_life = listed(store, &PageFilter { life: Some(life), ..PageFilter::default() });
        assert_eq!(summary.life(life), of_life.len() as u64, "{}", life.name());
        assert!(of_life.iter().all(|row| row.state == life.name()));
        assert!(!of_life.is_empty(), "{}", life.name());
    }
    assert_eq!(summary.lives.iter().map(|(_, count)| count).sum::<u64>(), summary.known);
    for (outcome, count) in &summary.last_outcomes {
        let filter = PageFilter { outcome: Some(outcome.clone()), ..PageFilter::default() };
        assert_eq!(listed(store, &filter).len() as u64, *count, "{outcome}");
    }
    assert_eq!(summary.hosts, 2);
    assert_eq!(summary.seeds, 2);
    assert_eq!(summary.observations, 9);
    let of_hosts: u64 = store.hosts().expect("hosts").iter().map(|host| host.pages).sum();
    assert_eq!(of_hosts, summary.known + summary.aliases);
}

pub fn lists_are_filtered_by_everything_asked_for(place: &dyn Place) {
    let mut begun = varied(place);
    let store = &mut *begun.store;
    let mut paths = |filter: PageFilter| -> Vec<String> {
        let short = |row: PageRow| {
            row.url.replace("https://example.org", "").replace("https://other.example:8443", "o")
        };
        listed(store, &filter).into_iter().map(short).collect()
    };
    let all = PageFilter::default;
    assert_eq!(paths(all()).len(), 10);
    assert_eq!(paths(PageFilter { aliases: true, ..all() }).len(), 11);
    for host in ["other.example", "other.example:8443", "https://other.example:8443"] {
        let of_host = paths(PageFilter { host: Some(host.to_owned()), ..all() });
        assert_eq!(of_host, ["o/", "o/deep?x=%25_1"], "{host}");
    }
    for host in
        ["example", "ther.example", "other.example:443", "%", "%.example", "http://other.example:8443"]
    {
        assert_eq!(paths(PageFilter { host: Some(host.to_owned()), ..all() }), [""; 0], "{host}");
    }
    assert_eq!(paths(PageFilter { url: Some("?x=%25_".to_owned()), ..all() }), ["o/deep?x=%25_1"]);
    assert_eq!(paths(PageFilter { url: Some("_".to_owned()), ..all() }), ["o/deep?x=%25_1"], "no wildcard");
    assert_eq!(paths(PageFilter { url: Some("'; DROP TABLE page".to_owned()), ..all() }), [""; 0]);
    assert_eq!(paths(PageFilter { outcome: Some("too-large".to_owned()), ..all() }), ["/failing"]);
    assert_eq!(paths(PageFilter { max_depth: Some(0), ..all() }), ["/", "o/"]);
    assert_eq!(paths(PageFilter { max_depth: Some(3), ..all() }).len(), 9);
    assert_eq!(paths(PageFilter { limit: Some(3), ..all() }), ["/", "o/", "/alive"], "in order of their ids");
    assert_eq!(paths(PageFilter { limit: Some(0), ..all() }), [""; 0]);
    let both = PageFilter {
        life: Some(Life::Alive),
        host: Some("example.org".to_owned()),
        url: Some("live".to_owned()),
        max_depth: Some(1),
        limit: Some(5),
        ..all()
    };
    assert_eq!(paths(both), ["/alive"]);
}

// --- change ----------------------------------------------------------------------------------------------------

/// Words in a row, `from` the first.
fn words(from: usize, many: usize) -> String {
    (from..from + many).map(|number| format!("word{number} ")).collect::<String>().trim_end().to_owned()
}

/// A visit that brought this text; its body says no more.
fn read(page: PageId, text: &str, at: Timestamp) -> VisitRecord {
    fetched(page, text.as_bytes(), text, at)
}

#[track_caller]
fn visits(store: &mut dyn Store, page: PageId) -> Vec<VisitRow> {
    store.visits(page).expect("visits are read")
}

pub fn a_visit_says_how_far_the_page_moved(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    // 100 words are 97 fragments of four; 50 of them stay.
    let apart = 1.0 - 47.0 / (97.0 + 97.0 - 47.0);
    begun.record(vec![read(root, &words(0, 100), later(0))]);
    let recorded = begun.record(vec![read(root, &words(50, 100), later(10))]);
    let change = recorded.visits[0].change.clone().expect("a change");
    assert_eq!((change.url.as_str(), change.previous_at), ("https://example.org/", Some(later(0))));
    assert!((change.divergence.expect("words") - apart).abs() < 1e-12);
    begun.record(vec![VisitRecord {
        validator: Some("etag"),
        ..visit(root, Outcome::NotModified, later(20))
    }]);
    begun.record(vec![VisitRecord {
        content: Some(Content::Held),
        ..visit(root, Outcome::Fetched, later(30))
    }]);
    begun.record(vec![read(root, &words(0, 100), later(40))]);
    let seen = visits(&mut *begun.store, root);
    let changed: Vec<_> = seen.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [None, Some(true), Some(false), Some(false), Some(true)]);
    let divergences: Vec<_> = seen.iter().map(|visit| visit.divergence).collect();
    assert_eq!(divergences, [None, Some(apart), Some(0.0), Some(0.0), Some(apart)]);
    assert_eq!((seen[2].validator.as_deref(), seen[1].validator.as_deref()), (Some("etag"), None));
    assert_eq!((seen[1].bytes, seen[1].took, seen[1].status), (100, Duration::from_millis(7), Some(200)));
    // From each base version, the oldest first: at the first visit, the second, and so on.
    let bases = |at: usize| -> Vec<(Timestamp, f64)> {
        let rounded = |divergence: f64| (divergence * 1000.0).round() / 1000.0;
        seen[at].bases.iter().map(|found| (found.base.at, rounded(found.divergence.get()))).collect()
    };
    assert_eq!(bases(0), []);
    assert_eq!(bases(1), [(later(0), 0.68)]);
    assert_eq!(bases(3), [(later(0), 0.68), (later(10), 0.0), (later(20), 0.0)]);
    assert_eq!(bases(4), [(later(0), 0.0), (later(10), 0.68), (later(20), 0.68), (later(30), 0.68)]);
    let row = begun.row("/");
    assert_eq!((row.visits, row.changes), (5, 2));
}

pub fn profiles_are_kept_of_the_last_versions(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/none"]);
    let (root, none) = (begun.id("/"), begun.id("/none"));
    for day in 0..9 {
        begun.record(vec![read(root, &words(day as usize * 10, 100), later(day * DAY))]);
    }
    let profiles = begun.store.profiles(root).expect("profiles");
    let bases: Vec<_> = profiles.iter().map(|profile| profile.base.at).collect();
    assert_eq!(bases, [4, 5, 6, 7, 8].map(|day| later(day * DAY)));
    let oldest = profiles.iter().next().expect("a profile");
    let divergences: Vec<f64> = oldest.points.iter().map(|point| point.divergence.get()).collect();
    assert!(divergences.is_sorted() && divergences.len() == 4, "{divergences:?}");
    assert!(begun.store.profiles(none).expect("profiles").is_empty());
}

pub fn errors_are_no_changes(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/other"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "the page", later(0))]);
    let errors = [
        Outcome::Missing,
        Outcome::SoftMissing,
        Outcome::SoftBusy,
        Outcome::ServerError,
        Outcome::HttpError,
        Outcome::Throttled { retry_after: None },
        Outcome::Failed(Failure::CutOff),
        Outcome::Failed(Failure::NoAnswer),
        Outcome::Failed(Failure::TooLarge),
        Outcome::Refused(Refused::Robots),
    ];
    let mut at = 0;
    for error in errors {
        at += 1;
        let recorded = begun.record(vec![visit(root, error.clone(), later(at))]);
        assert_eq!((recorded.visits[0].changed, &recorded.visits[0].change), (None, &None), "{error}");
    }
    begun.record(vec![redirected(root, "/other", false, later(at + 1))]);
    let recorded = begun.record(vec![read(root, "the page", later(at + 2))]);
    assert_eq!(recorded.visits[0].changed, Some(false), "it is what it was before all that");
    let seen = visits(&mut *begun.store, root);
    assert!(
        seen.iter().rev().skip(1).take(11).all(|visit| visit.divergence.is_none() && visit.bases.is_empty())
    );
    assert_eq!(begun.row("/").changes, 0);
    let profiles = begun.store.profiles(root).expect("profiles");
    assert_eq!(profiles.iter().map(|profile| profile.points.len()).collect::<Vec<_>>(), [1, 0]);
}

pub fn a_text_that_comes_back_is_recognised(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    for (second, (body, text)) in
        [("a1", "a"), ("b1", "b"), ("a2", "a"), ("c1", "c"), ("b1", "b")].iter().enumerate()
    {
        begun.record(vec![fetched(root, body.as_bytes(), text, later(second as u64))]);
    }
    let seen = visits(&mut *begun.store, root);
    let returned: Vec<_> = seen.iter().map(|visit| visit.returned_to).collect();
    assert_eq!(returned, [None, None, seen[0].version, None, seen[1].version]);
    assert_eq!(seen[1].version, seen[4].version, "the same bytes are the same version");
    assert_ne!(seen[0].version, seen[2].version);
}

pub fn what_counts_as_a_change_is_the_site_s_own(place: &dyn Place) {
    let cases = [
        (ChangedWhen::Bytes, [true, true, true]),
        (ChangedWhen::Text, [false, true, true]),
        (ChangedWhen::Divergence(0.5), [false, false, true]),
    ];
    let mut begun = begun(place, &["/0", "/1", "/2"]);
    for (case, (changed_when, expected)) in cases.into_iter().enumerate() {
        let page = begun.id(&format!("/{case}"));
        let bodies = [
            ("first", words(0, 100)),
            ("second", words(0, 100)),
            ("third", words(5, 100)),
            ("last", words(90, 100)),
        ];
        let mut changed = Vec::new();
        for (second, (body, text)) in bodies.iter().enumerate() {
            let visit = fetched(page, format!("{body} {case}").as_bytes(), text, later(second as u64));
            changed.push(begun.record(vec![VisitRecord { changed_when, ..visit }]).visits[0].changed);
        }
        assert_eq!(changed[0], None);
        assert_eq!(changed[1..], expected.map(Some), "{changed_when}");
    }
}

pub fn texts_that_other_rules_left_are_not_compared(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "a page with a clock", later(0))]);
    begun.record(vec![VisitRecord {
        text_rules: 7,
        ..fetched(root, b"a page with a clock", "a page", later(1))
    }]);
    begun.record(vec![VisitRecord {
        text_rules: 7,
        ..fetched(root, b"a page with time", "a page", later(2))
    }]);
    begun.record(vec![visit(root, Outcome::NotModified, later(3))]);
    let seen = visits(&mut *begun.store, root);
    let changed: Vec<_> = seen.iter().map(|visit| visit.changed).collect();
    assert_eq!(changed, [None, None, Some(false), Some(false)]);
    assert!(seen[1].bases.is_empty() && seen[3].bases.len() == 2, "profiles begin anew");
    let plan = plan_of(&[&page(&mut *begun.store, "/")]);
    assert_eq!(begun.store.plan(begun.cycle, &plan).expect("a plan")[0].text_rules, 7);
}

pub fn what_has_no_words_differs_as_its_bytes_do(place: &dyn Place) {
    let mut begun = begun(place, &["/picture"]);
    let picture = begun.id("/picture");
    for (second, body) in [b"one", b"two", b"two"].iter().enumerate() {
        let Content::Read(bytes) = content(*body, "") else { unreachable!() };
        let bytes = Content::Read(ReadContent { sketch: None, ..bytes });
        begun.record(vec![VisitRecord {
            content: Some(bytes),
            ..visit(picture, Outcome::Fetched, later(second as u64))
        }]);
    }
    let seen = visits(&mut *begun.store, picture);
    assert_eq!(seen.iter().map(|visit| visit.changed).collect::<Vec<_>>(), [None, Some(true), Some(false)]);
    assert!(seen.iter().all(|visit| visit.divergence.is_none() && visit.bases.is_empty()));
    assert!(begun.store.profiles(picture).expect("profiles").is_empty());
}

pub fn fragments_of_another_length_are_made_again(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    begun.record(vec![read(root, "one two three four five six", later(0))]);
    let change = ChangeSettings { fragment_words: 1, ..ChangeSettings::default() };
    let text = "one two three four five seven";
    let Content::Read(content) = content(text.as_bytes(), text) else { unreachable!() };
    let content = ReadContent { sketch: Some(change::sketch(text, change)), ..content };
    let visit =
        VisitRecord { content: Some(Content::Read(content)), ..visit(root, Outcome::Fetched, later(1)) };
    begun.store.record(begun.cycle, &Batch { change, ..batch(vec![visit]) }).expect("it is taken");
    let apart = visits(&mut *begun.store, root)[1].divergence.expect("words");
    assert!((apart - (1.0 - 5.0 / 7.0)).abs() < 1e-12, "{apart}");
}

pub fn what_the_next_visit_found_is_known(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, "other", later(15))]);
    begun.record(vec![read(a, "two", later(10))]);
    begun.record(vec![visit(a, Outcome::ServerError, later(20))]);
    begun.record(vec![visit(a, Outcome::NotModified, later(30))]);
    begun.record(vec![read(a, "one", later(40))]);
    // A clock that was set back: it is time that counts, not the order in which visits came in.
    begun.record(vec![read(a, "three", later(25))]);
    let seen = visits(&mut *begun.store, a);
    let left = |at: Timestamp| seen.iter().find(|visit| visit.at == at).and_then(|visit| visit.version);
    let mut next = |page: PageId, after: Timestamp| begun.store.found_next(page, after).expect("it is read");
    assert_eq!(next(a, later(0)), left(later(10)), "not what another page's visit found");
    assert_eq!(next(a, later(10)), left(later(25)), "not the visit that failed");
    assert_eq!(next(a, later(25)), left(later(30)), "what was confirmed was found");
    assert_eq!(next(a, later(30)), left(later(0)));
    assert_eq!(next(a, later(40)), None);
    assert_eq!(next(PageId(a.0 + b.0 + 1), later(0)), None);
}

pub fn changes_are_told_latest_first(place: &dyn Place) {
    let mut begun = begun(place, &["/a", "/b"]);
    let (a, b) = (begun.id("/a"), begun.id("/b"));
    begun.record(vec![read(a, "one", later(0)), read(b, "one", later(0))]);
    begun.record(vec![visit(a, Outcome::ServerError, later(1))]);
    begun.record(vec![read(a, "two", later(2)), read(b, "one", later(2))]);
    begun.record(vec![read(a, "three", later(4)), read(b, "two", later(3))]);
    let mut told = |since: u64, most: usize| -> Vec<(String, u64, Option<Timestamp>)> {
        let mut found = Vec::new();
        let mut each = |change: Change| {
            let at = change.at.since(NOW).seconds() as u64;
            found.push((change.url.replace("https://example.org", ""), at, change.previous_at));
            found.len() < most
        };
        begun.store.each_change(later(since), &mut each).expect("changes are read");
        found
    };
    let all = [
        ("/a".to_owned(), 4, Some(later(2))),
        ("/b".to_owned(), 3, Some(later(2))),
        ("/a".to_owned(), 2, Some(later(0))),
    ];
    assert_eq!(told(0, 9), all);
    assert_eq!(told(3, 9), all[..2]);
    assert_eq!(told(0, 1), all[..1]);
    assert_eq!(told(5, 9), []);
}

pub fn a_page_is_found_by_its_fingerprint(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/new"]);
    let root = begun.id("/");
    begun.record(vec![redirected(root, "/new", true, later(1))]);
    let found = begun.store.find_page(url("/").fingerprint()).expect("a look").expect("it is there");
    assert_eq!(
        (found.url.as_str(), found.alias_of.as_deref()),
        ("https://example.org/", Some("https://example.org/new"))
    );
    assert!(begun.store.find_page(url("/none").fingerprint()).expect("a look").is_none());
}

/// A history with all there is in it.
fn eventful(place: &dyn Place) -> Begun {
    let mut begun = begun(place, &["/", "/b", "/c", "/picture"]);
    let ids = ["/", "/b", "/c", "/picture"].map(|path| begun.id(path));
    for day in 0..12u64 {
        let at = later(day * DAY);
        let mut batch = vec![read(ids[0], &words(day as usize * 7, 300), at)];
        batch.push(match day % 5 {
            0 => visit(ids[1], Outcome::Missing, at),
            1 => redirected(ids[1], "/c", day == 1, at),
            2 => visit(ids[1], Outcome::Refused(Refused::Robots), at),
            _ => VisitRecord { text_rules: day / 6, ..read(ids[1], &words(0, 5 + (day % 2) as usize), at) },
        });
        batch.push(match day {
            0 => read(ids[2], "", at),
            5 => visit(ids[2], Outcome::Throttled { retry_after: Some(Duration::from_secs(9)) }, at),
            6 => visit(ids[2], Outcome::Failed(Failure::Dns), at),
            8 => fetched(ids[2], b"other bytes", "", at),
            _ => visit(ids[2], Outcome::NotModified, at),
        });
        let Content::Read(bytes) = content(&[day as u8 / 2], "") else { unreachable!() };
        let bytes = Content::Read(ReadContent { sketch: None, ..bytes });
        batch.push(VisitRecord { content: Some(bytes), ..visit(ids[3], Outcome::Fetched, at) });
        begun.record(batch);
        begun.next_cycle();
    }
    begun
}

/// All that is seen of a store, its change profiles included.
fn derived(store: &mut dyn Store) -> String {
    let profiles: Vec<_> =
        pages(store).iter().map(|page| store.profiles(page.id).expect("profiles").to_bytes()).collect();
    format!("{}\n{profiles:?}", everything(store))
}

pub fn a_rebuild_gives_the_same_to_the_bit(place: &dyn Place) {
    let mut begun = eventful(place);
    let before = derived(&mut *begun.store);
    let mut told = Vec::new();
    for write in [false, true] {
        let rebuilt =
            begun.store.rebuild(ChangeSettings::default(), write, &mut |done, all| told.push((done, all)));
        let rebuilt = rebuilt.expect("a rebuild");
        assert_eq!((rebuilt.pages, rebuilt.pages_differ, rebuilt.sketches_differ), (4, 0, 0), "{rebuilt:?}");
        assert_eq!(derived(&mut *begun.store), before);
    }
    assert!(told.last().is_some_and(|(done, all)| done == all));
}

pub fn a_rebuild_repairs_what_is_derived(place: &dyn Place) {
    let mut begun = eventful(place);
    let before = derived(&mut *begun.store);
    let other = ChangeSettings { fragment_words: 1, sketch: Some(8), profiles: 2 };
    let looked = begun.store.rebuild(other, false, &mut |_, _| ()).expect("a look");
    assert!(looked.pages_differ > 0 && looked.sketches_differ > 0, "{looked:?}");
    assert_eq!(derived(&mut *begun.store), before, "a look changes nothing");
    begun.store.rebuild(other, true, &mut |_, _| ()).expect("a rebuild");
    let measured = derived(&mut *begun.store);
    assert_ne!(measured, before);
    let again = begun.store.rebuild(other, true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!((again.pages_differ, again.sketches_differ), (0, 0));
    begun.store.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!(derived(&mut *begun.store), before, "the log and the versions have it all");
}

pub fn what_scheduling_keeps_is_small(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let change = ChangeSettings { sketch: Some(8), profiles: 1, ..ChangeSettings::default() };
    for day in 0..30 {
        let text = words(day as usize * 20, 400);
        let Content::Read(content) = content(text.as_bytes(), &text) else { unreachable!() };
        let content = Content::Read(ReadContent { sketch: Some(change::sketch(&text, change)), ..content });
        let visit = VisitRecord { content: Some(content), ..visit(root, Outcome::Fetched, later(day * DAY)) };
        begun.store.record(begun.cycle, &Batch { change, ..batch(vec![visit]) }).expect("it is taken");
        let sizes = begun.store.sizes().expect("sizes");
        assert_eq!(sizes.pages, 1);
        // The paper's hashes have 4 bytes, ours 8.
        assert!(sizes.largest_bytes - 8 * 4 <= 128, "{sizes:?}");
    }
}

pub fn an_empty_picture_is_no_empty_page(place: &dyn Place) {
    let mut begun = begun(place, &["/page", "/picture"]);
    let (page, picture) = (begun.id("/page"), begun.id("/picture"));
    for second in 0..3 {
        let Content::Read(empty) = content(b"", "") else { unreachable!() };
        let empty = Content::Read(ReadContent { sketch: None, ..empty });
        let empty = VisitRecord { content: Some(empty), ..visit(picture, Outcome::Fetched, later(second)) };
        begun.record(vec![empty, read(page, "", later(second))]);
    }
    begun.record(vec![
        visit(picture, Outcome::NotModified, later(4)),
        visit(page, Outcome::NotModified, later(4)),
    ]);
    let divergences = |store: &mut dyn Store, page| -> Vec<Option<f64>> {
        visits(store, page).iter().map(|visit| visit.divergence).collect()
    };
    assert_eq!(divergences(&mut *begun.store, picture), [None; 4]);
    assert_eq!(divergences(&mut *begun.store, page), [None, Some(0.0), Some(0.0), Some(0.0)]);
    let rebuilt = begun.store.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.sketches_differ), (0, 0));
}

// --- what visits teach -------------------------------------------------------------------------------------------

fn policy(name: &str) -> Arc<dyn Policy> {
    Arc::from(registry::find(name, &PolicySettings::default()).expect("a policy"))
}

pub fn lessons_are_what_visits_could_compare(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let dated = |text: &str, at, date: &str| VisitRecord {
        last_modified: Some(date.to_owned()),
        ..fetched(root, text.as_bytes(), text, at)
    };
    let seconds = NOW.seconds() as i64;
    let feed = |text: &str, at, dates: &[i64]| VisitRecord {
        entry_dates: Some(dates.to_vec()),
        ..fetched(root, text.as_bytes(), text, at)
    };
    begun.record(vec![dated("one", NOW, "Sun, 06 Nov 1994 08:49:37 GMT")]);
    begun.record(vec![visit(root, Outcome::NotModified, later(100))]);
    // What failed adds nothing, and leaves the interval open.
    begun.record(vec![visit(root, Outcome::ServerError, later(150))]);
    let from = Some(root);
    let found = vec![found("/a", begun.seed, from), found("/b", begun.seed, from)];
    begun.record(vec![VisitRecord { found, ..fetched(root, b"two", "two", later(300)) }]);
    // Two entries since the last visit, and an older one: none was missed.
    begun.record(vec![feed("three", later(400), &[seconds + 390, seconds + 350, seconds + 10])]);
    // All are newer: some may have been pushed out.
    begun.record(vec![feed("four", later(500), &[seconds + 490, seconds + 450])]);
    let lessons = begun.store.lessons(root).expect("lessons");
    let facts: Vec<_> = lessons
        .iter()
        .map(|lesson| (lesson.interval.seconds() as u64, lesson.changed, lesson.events, lesson.new_links))
        .collect();
    assert_eq!(
        facts,
        [(100, false, None, 0), (200, true, None, 2), (100, true, Some(2), 0), (100, true, None, 0)]
    );
    let date = Timestamp::from_seconds(784_111_777);
    assert_eq!(lessons[0].date, Some(date), "what has not changed is still of its date");
    assert_eq!(lessons[1].date, None);
    let known = begun.store.known_page(root).expect("a page").expect("the root");
    assert_eq!((known.state.learnt.state.visits, known.state.learnt.state.changes), (4, 3));
    assert_eq!(
        (known.state.seen_at, known.state.failures, known.state.learnt.new_links),
        (Some(later(500)), 0, 2)
    );
    assert!(begun.store.known_page(PageId(999)).expect("nothing").is_none());
    let mut all = Vec::new();
    begun.store.each_history(1, &mut |page| all.push((page.page, page.lessons.len()))).expect("histories");
    assert_eq!(all, [(root, 4)]);
    assert_eq!(begun.store.comparisons().expect("a number"), 4);
    assert_eq!(host(&mut *begun.store, "https://example.org").yields, Yield { visited: 1, useful: 1 });
}

pub fn what_is_learnt_live_is_what_is_learnt_from_the_log(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a", "/b"]);
    let ids = ["/", "/a", "/b"].map(|path| begun.id(path));
    let names = [
        "utility",
        "nutch",
        "change-probability:aad",
        "utility:mle",
        "optimal:sa",
        "change-rate:count",
        "longevity",
        "longevity-curve",
        "longevity-bound",
    ];
    begun.store.follow(policy("utility"));
    assert_eq!(begun.store.relearn(&mut |_, _| ()).expect("nothing to learn"), 0);
    for day in 0..12_u64 {
        for (place, id) in ids.into_iter().enumerate() {
            let text = if day % (place as u64 + 1) == 0 { words(day as usize, 9) } else { words(0, 9) };
            let at = later(day * DAY + place as u64);
            begun.record(vec![fetched(id, text.as_bytes(), &text, at)]);
        }
        if day == 5 {
            begun.record(vec![visit(ids[0], Outcome::ServerError, later(day * DAY + 7))]);
        }
    }
    let live = derived(&mut *begun.store);
    let learnt =
        |store: &mut dyn Store| pages(store).into_iter().map(|page| page.state.learnt).collect::<Vec<_>>();
    let by_utility = learnt(&mut *begun.store);
    for name in names.into_iter().skip(1).chain(["utility"]) {
        begun.store.follow(policy(name));
        let mut told = Vec::new();
        let anew = begun.store.relearn(&mut |done, all| told.push((done, all))).expect("it learns");
        assert_eq!((anew, told.last()), (3, Some(&(3, 3))), "{name}");
        assert_eq!(begun.store.relearn(&mut |_, _| ()).expect("again"), 0, "{name} is learnt");
        assert_eq!(begun.store.memory_kind().expect("a kind"), Some(policy(name).memory_version()));
        let rebuilt = begun.store.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
        assert_eq!(rebuilt.pages_differ, 0, "{name}");
        if name != "utility" {
            assert_ne!(learnt(&mut *begun.store), by_utility, "{name}");
        }
    }
    assert_eq!(learnt(&mut *begun.store), by_utility);
    assert_eq!(derived(&mut *begun.store), live);
}

pub fn priors_notes_and_links_come_back(place: &dyn Place) {
    let mut begun = begun(place, &["/", "/a"]);
    assert!(begun.store.priors().expect("none").is_empty());
    let prior = |kind, group, numbers| Prior { kind, group, numbers, pages: 7 };
    let priors = Priors {
        by: GroupBy::Depth,
        all: vec![
            prior(PriorKind::Gamma, None, [0.5, 2.0]),
            prior(PriorKind::Gamma, Some(3), [0.25, 1.5]),
            prior(PriorKind::TwoIntervals, None, [4.0, 8.0]),
        ],
        comparisons: 123,
    };
    begun.store.set_priors(&priors).expect("kept");
    begun.store.set_note("a", "one").expect("kept");
    begun.store.set_note("a", "two").expect("kept");
    let links = |page: PageId, targets: &[u64]| VisitRecord {
        links: Some(targets.to_vec()),
        ..fetched(page, b"body", "text", NOW)
    };
    let (root, other) = (begun.id("/"), begun.id("/a"));
    begun.record(vec![links(root, &[1, 2, u64::MAX]), links(other, &[5])]);
    begun.record(vec![links(other, &[])]);
    begun.record(vec![visit(root, Outcome::NotModified, later(5))]);
    drop(begun);
    let mut store = place.open();
    assert_eq!(store.priors().expect("priors"), priors);
    assert_eq!(store.note("a").expect("a note"), Some("two".to_owned()));
    assert_eq!(store.note("b").expect("no note"), None);
    let mut all = Vec::new();
    store.each_links(&mut |page, targets| all.push((page, targets.to_vec()))).expect("links");
    assert_eq!(all, [(root, vec![1, 2, u64::MAX]), (other, vec![])]);
    store.set_priors(&Priors::default()).expect("none any more");
    assert!(store.priors().expect("none").is_empty());
}

pub fn pages_count_what_their_seed_does(place: &dyn Place) {
    let mut store = place.open();
    let important = |weight| Seed { weight, ..seed("/") };
    store.add_seeds(&[important(3.0)], NOW).expect("a seed");
    let cycle = store.open_cycle("age", None, NOW).expect("a cycle").id;
    let root = page(&mut *store, "/").id;
    let seed_id = store.seeds().expect("seeds")[0].id;
    let links = vec![found("/a", seed_id, Some(root))];
    store
        .record(cycle, &batch(vec![VisitRecord { found: links, ..fetched(root, b"x", "x", NOW) }]))
        .expect("taken");
    let in_sitemap = Batch { found: vec![found("/b", seed_id, None)], now: NOW, ..Batch::default() };
    store.record(cycle, &in_sitemap).expect("taken");
    let weights = |store: &mut dyn Store| ["/", "/a", "/b"].map(|path| page(store, path).state.weight);
    assert_eq!(weights(&mut *store), [3.0, 3.0, 3.0]);
    store.add_seeds(&[important(0.5)], NOW).expect("the seed again");
    assert_eq!(weights(&mut *store), [0.5, 0.5, 0.5]);
}
