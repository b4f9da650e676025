//! What only the SQLite store promises: about its file, its lock, and a disk that is full.

use crate::store::{Place, RULES, record};
use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::batch::{Batch, Content, VisitRecord};
use freshet::crawl::learning;
use freshet::crawl::rebuild::rebuild;
use freshet::fetch::visit::Outcome;
use freshet::observation::Attempt;
use freshet::page::{Normaliser, PageId};
use freshet::policy::registry::{self, PolicySettings};
use freshet::store::version::content_hash;
use freshet::store::{
    self, CycleCommand, EventFilter, PageEvent, PageFilter, ReadContent, Store, StoreError, VersionId,
    version,
};
use freshet::time::Timestamp;
use freshet::unique::seeds::Seed;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A folder of its own, with one store in it.
pub struct Folder {
    dir: TempDir,
}

impl Folder {
    pub fn new() -> Folder {
        Folder { dir: TempDir::new().expect("a temporary folder can be made") }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("freshet.db")
    }

    /// The names of the files in it, in the order of the alphabet; those that SQLite makes to read one left out.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
        names.sort_unstable();
        names
    }
}

impl Place for Folder {
    fn open(&self) -> Box<dyn Store> {
        store::open(&self.store()).expect("the store opens")
    }

    fn another(&self) -> Box<dyn Place> {
        Box::new(Folder::new())
    }
}

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

fn seed(url: &str) -> Seed {
    let url = Normaliser::default().parse(url).expect("a URL");
    Seed { url, weight: 1.0, max_depth: None, scope: None, line: Some(1) }
}

/// A store with one seed, closed.
fn made(folder: &Folder) {
    folder.open().add_seeds(&[seed("https://example.org/")], NOW).expect("a seed is added");
}

/// A visit of the first page that brings `bytes` bytes which do not compress.
fn heavy_visit(store: &mut dyn Store, number: u64, bytes: usize) -> VisitRecord {
    let mut page = None;
    store.each_page(&mut |known| page = page.or(Some(known.id))).expect("pages are read");
    let mut state = number;
    let body: Vec<u8> = (0..bytes)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    VisitRecord {
        page: page.expect("a page"),
        attempt: Attempt {
            at: NOW,
            outcome: Outcome::Fetched,
            reason: None,
            redirect_to: None,
            status: Some(200),
            bytes: bytes as u64,
            took: Duration::from_millis(1),
        },
        content: Some(Content::Read(ReadContent {
            sha256: version::sha256(&body),
            body_hash: u128::from(number) + 1,
            text_hash: 0,
            content_type: None,
            charset: None,
            body_bytes: bytes,
            text_bytes: 0,
            title: None,
            sketch: None,
            packed: version::pack(&body, "").expect("packing works"),
        })),
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
        read_at: NOW,
        entry_dates: None,
        redirect: None,
        alias: None,
    }
}

/// Both ways of opening it give this error, and the file stays as it was, byte for byte, with nothing beside it but
/// the two files that SQLite needs to read a database in WAL mode.
#[track_caller]
fn assert_refused(folder: &Folder, is_right: impl Fn(&StoreError) -> bool, said: &str) {
    let (before, files) = (fs::read(folder.store()).expect("the file is there"), folder.files());
    for opened in [store::open(&folder.store()), store::open_to_look(&folder.store())] {
        let error = opened.err().unwrap_or_else(|| panic!("it was opened"));
        assert!(is_right(&error), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("freshet.db") && message.contains(said), "{message}");
    }
    assert_eq!(fs::read(folder.store()).expect("the file is there"), before, "it was changed");
    assert_eq!(folder.files(), files, "something was left beside it");
}

// --- files that are no store -----------------------------------------------------------------------------------

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    fs::write(folder.store(), "These are words, and there are enough of them to fill a header.\n".repeat(99))
        .unwrap();
    assert_refused(&folder, |error| matches!(error, StoreError::NotADatabase(_)), "is not a database");
    fs::write(folder.store(), "short").unwrap();
    assert_refused(&folder, |error| matches!(error, StoreError::NotADatabase(_)), "is not a database");
}

#[test]
fn somebody_elses_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    let other = Connection::open(folder.store()).unwrap();
    other.execute_batch("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');").unwrap();
    drop(other);
    assert_refused(&folder, |error| matches!(error, StoreError::Foreign(_)), "not one of freshet's");

    // Even one that keeps its history as we do.
    let other = Connection::open(folder.store()).unwrap();
    other.execute_batch("CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY);").unwrap();
    drop(other);
    assert_refused(&folder, |error| matches!(error, StoreError::Foreign(_)), "not one of freshet's");
}

#[test]
fn a_store_of_a_newer_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    made(&folder);
    let raw = Connection::open(folder.store()).unwrap();
    raw.execute(
        "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (999, 'later', '', '0')",
        [],
    )
    .unwrap();
    drop(raw);
    let is_newer = |error: &StoreError| matches!(error, StoreError::Newer { found: 999, .. });
    assert_refused(&folder, is_newer, "newer freshet");
}

#[test]
fn a_folder_is_no_store() {
    let folder = Folder::new();
    fs::create_dir(folder.store()).unwrap();
    for opened in [store::open(&folder.store()), store::open_to_look(&folder.store())] {
        let error = opened.err().unwrap().to_string();
        assert!(error.contains("it is a folder"), "{error}");
    }
    assert_eq!(folder.files(), ["freshet.db"]);
}

#[test]
fn a_folder_that_does_not_exist_is_named() {
    let folder = Folder::new();
    let path = folder.dir.path().join("no/such/store.db");
    let error = store::open(&path).err().unwrap();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error:?}");
    assert!(error.to_string().contains("no/such/store.db"), "{error}");
    assert!(matches!(store::open_to_look(&path), Err(StoreError::Missing(_))));
    assert_eq!(folder.files(), [""; 0]);
}

#[test]
fn a_store_on_postgresql_is_refused_in_plain_words() {
    for location in ["postgres://localhost/freshet", "postgresql://crawler@db.example:5432/freshet"] {
        let location = Path::new(location);
        for opened in [store::open(location), store::open_to_look(location)] {
            let error = opened.err().unwrap();
            assert!(matches!(error, StoreError::NotBuilt(_)), "{error:?}");
            assert!(error.to_string().contains("not built yet"), "{error}");
        }
    }
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = Folder::new();
    fs::write(folder.store(), "").unwrap();
    assert!(matches!(store::open_to_look(&folder.store()), Err(StoreError::Missing(_))), "it is none yet");
    made(&folder);
    assert_eq!(store::open_to_look(&folder.store()).unwrap().seeds().unwrap().len(), 1);
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_whole() {
    // The history is made first, in a transaction of its own.
    let folder = Folder::new();
    made(&folder);
    let whole = Connection::open(folder.store()).unwrap();
    let history: String = whole
        .query_row("SELECT sql FROM sqlite_master WHERE name = 'refinery_schema_history'", [], |row| {
            row.get(0)
        })
        .unwrap();
    drop(whole);
    let folder = Folder::new();
    Connection::open(folder.store()).unwrap().execute_batch(&history).unwrap();
    assert!(matches!(store::open_to_look(&folder.store()), Err(StoreError::Missing(_))), "it is none yet");
    made(&folder);
    assert_eq!(folder.open().seeds().unwrap().len(), 1);
}

#[test]
fn opening_a_store_again_changes_nothing() {
    let folder = Folder::new();
    made(&folder);
    let before = dump(&folder.store());
    drop(folder.open());
    assert_eq!(dump(&folder.store()), before);
    let raw = Connection::open(folder.store()).unwrap();
    let mode: String = raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

fn dump(path: &Path) -> Vec<(String, i64)> {
    let raw = Connection::open(path).unwrap();
    let mut statement =
        raw.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    names
        .into_iter()
        .map(|name| {
            let rows =
                raw.query_row(&format!("SELECT count(*) FROM \"{name}\""), [], |row| row.get(0)).unwrap();
            (name, rows)
        })
        .collect()
}

/// A store that version 0.1 made (schema 4): four cycles over a page that moves, one that stays, one that is gone, one
/// that redirects and one that is a copy.
const EARLIER: &[u8] = include_bytes!("earlier_store.db.gz");

#[test]
fn a_store_of_an_earlier_version_goes_on() {
    let folder = Folder::new();
    let mut file = fs::File::create(folder.store()).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(EARLIER), &mut file).unwrap();
    drop(file);

    assert_eq!(folder.open().recount(false).unwrap(), 0, "counts are made of what is there");
    let mut reader = store::open_to_look(&folder.store()).unwrap();
    let mut listed = Vec::new();
    let everything = PageFilter { aliases: true, ..PageFilter::default() };
    reader
        .list_pages(&everything, &mut |row| {
            let path = row.url.replace("http://127.0.0.1:18799", "");
            listed.push((path, row.state, row.visits, row.changes));
        })
        .unwrap();
    let row = |path: &str, state: &str, visits, changes| (path.to_owned(), state.to_owned(), visits, changes);
    let expected = [
        row("/", "alive", 4, 0),
        row("/moving", "alive", 4, 3),
        row("/still", "alive", 4, 0),
        row("/old", "alias", 1, 0),
        row("/gone", "gone", 3, 0),
        row("/copy", "alias", 1, 0),
        row("/new", "alive", 4, 0),
    ];
    assert_eq!(listed, expected);
    let moving = PageId(2);
    let divergences: Vec<_> = reader.visits(moving).unwrap().iter().map(|visit| visit.divergence).collect();
    assert_eq!(divergences[0], None);
    assert!(divergences[1..].iter().all(|moved| moved.is_some_and(|moved| moved > 0.1 && moved < 0.6)));
    assert_eq!(reader.lessons(moving).unwrap().len(), 3);
    // Nothing is known of the answers that an earlier version got, nor the whole hashes of its bodies.
    assert_eq!(reader.answers_of(&[moving]).unwrap(), []);
    let versions: Vec<VersionId> =
        reader.visits(moving).unwrap().iter().filter_map(|visit| visit.version).collect();
    let facts = reader.version_facts(&versions).unwrap();
    assert!(facts.len() == 4 && facts.iter().all(|version| version.sha256.is_none() && version.is_stored));
    // Its events are derived from its log.
    let events = reader.events(&EventFilter::default(), 100).unwrap();
    let events: Vec<(&str, String)> = events
        .iter()
        .map(|event| (event.kind.name(), event.url.replace("http://127.0.0.1:18799", "")))
        .collect();
    let of =
        |kind: &str, path: &str| events.iter().filter(|event| event.0 == kind && event.1 == path).count();
    assert_eq!((of("changed", "/moving"), of("new", "/moving")), (3, 1), "{events:?}");
    assert_eq!((of("new", "/gone"), of("gone", "/gone"), events.len()), (1, 1, 10), "{events:?}");
    drop(reader);

    let mut store = folder.open();
    // Contents that were told apart in another way are known again.
    let raw = Connection::open(folder.store()).unwrap();
    let mut hashes = raw.prepare("SELECT id, body_hash, text_hash FROM version").unwrap();
    let rows = hashes.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, [u8; 16], [u8; 16])> = rows.map(Result::unwrap).collect();
    assert!(rows.len() > 4);
    for (id, body, text) in rows {
        let content = store.version(VersionId(id)).unwrap().unwrap();
        assert_eq!(u128::from_be_bytes(body), content_hash(&content.body), "the body of version {id}");
        assert_eq!(
            u128::from_be_bytes(text),
            content_hash(content.text.as_bytes()),
            "the text of version {id}"
        );
    }
    let notes = "SELECT count(*) FROM note WHERE name = 'versions-hashed-to'";
    assert_eq!(raw.query_row(notes, [], |row| row.get::<_, i64>(0)).unwrap(), 0);

    // Its aliases were made by one answer each: they are looked at in the next cycle.
    let mut aliases = 0;
    store
        .each_page(&mut |page| {
            if page.alias_of.is_some() {
                assert_eq!(
                    (page.claim, Some(page.waits_until())),
                    (None, page.state.last_visit),
                    "{}",
                    page.url
                );
                aliases += 1;
            }
        })
        .unwrap();
    assert_eq!(aliases, 2);
    let policy = registry::find("longevity", &PolicySettings::default()).unwrap();
    let rebuilt = |store: &mut dyn Store| {
        rebuild(store, &*policy, ChangeSettings::default(), false, &mut |_, _| ()).unwrap()
    };
    let found = rebuilt(&mut *store);
    assert_eq!((found.pages, found.pages_differ, found.sketches_differ, found.aliases_differ), (7, 0, 0, 0));
    assert_eq!((found.events_differ, found.signals_differ), (0, 0));
    learning::relearn(&mut *store, &*policy, &mut |_, _| ()).unwrap();
    let cycle = store.open_cycle(CycleCommand::Crawl, "longevity", None, NOW).unwrap();
    assert!(!cycle.resumed);
    let mut visit = heavy_visit(&mut *store, 1, 10);
    visit.page = moving;
    let batch = Batch { visits: vec![visit], now: NOW, ..Batch::default() };
    let recorded = freshet::crawl::record::record(&mut *store, &*policy, cycle.id, batch).unwrap();
    assert_eq!(recorded.visits[0].changed, Some(true));
    let found = rebuilt(&mut *store);
    assert_eq!((found.pages_differ, found.sketches_differ), (0, 0));
}

// --- one crawl at a time ---------------------------------------------------------------------------------------

#[test]
fn an_upgrade_that_was_cut_short_is_finished_and_can_be_looked_at_meanwhile() {
    let folder = Folder::new();
    made(&folder);
    let mut store = folder.open();
    let cycle = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap().id;
    for number in 0..3 {
        let visit = heavy_visit(&mut *store, number, 100);
        record(&mut *store, cycle, Batch { visits: vec![visit], now: NOW, ..Batch::default() }).unwrap();
    }
    let whole = format!("{:?}", store.host_tallies(cycle).unwrap());
    let ticks = |store: &mut dyn Store| {
        let hosts = store.hosts().unwrap();
        format!("{:?}", store.ticks(&[hosts[0].id]).unwrap())
    };
    let latest = ticks(&mut *store);
    drop(store);
    let raw = Connection::open(folder.store()).unwrap();
    // As after each transaction of the count: nothing yet, the pages, the pages and two visits.
    for (note, visits) in [("pages 0", 0), ("pages 1", 0), ("visits 0", 0), ("visits 2", 2), ("nonsense", 3)]
    {
        drop(store::open(&folder.store()).unwrap());
        raw.execute_batch(&format!(
            "DELETE FROM cycle_visit; DELETE FROM day_tally; DELETE FROM total; DELETE FROM host_visit; DELETE FROM seed_visit;
             INSERT INTO note (name, value) VALUES ('counts-kept-to', '{note}');"
        ))
        .unwrap();
        if visits == 0 && note == "pages 0" {
            raw.execute_batch("DELETE FROM page_count; DELETE FROM cycle_life; DELETE FROM cycle_found;")
                .unwrap();
        }
        let mut reader = store::open_to_look(&folder.store()).unwrap();
        assert_eq!(reader.summary().unwrap().observations, 3, "{note}");
        assert_eq!(format!("{:?}", reader.host_tallies(cycle).unwrap()), whole, "{note}");
        assert_eq!(ticks(&mut *reader), latest, "{note}");
        drop(reader);
        let mut store = store::open(&folder.store()).unwrap();
        // What was counted of the visits before the kill is gone with these tables: only a count from the start finds it.
        assert_eq!(store.recount(visits > 0).unwrap() > 0, visits == 2, "{note}");
        assert_eq!(store.recount(false).unwrap(), 0, "{note}");
        assert_eq!(format!("{:?}", store.host_tallies(cycle).unwrap()), whole, "{note}");
        assert_eq!(ticks(&mut *store), latest, "{note}");
    }
}

#[test]
fn a_store_in_use_is_refused_to_a_second_crawl() {
    let folder = Folder::new();
    made(&folder);
    let first = folder.open();
    let error = store::open(&folder.store()).err().unwrap();
    assert!(matches!(error, StoreError::InUse(_)), "{error:?}");
    assert!(error.to_string().contains("in use by another crawl"), "{error}");
    drop(first);
    folder.open();
}

#[test]
fn one_may_look_while_a_crawl_writes() {
    let folder = Folder::new();
    made(&folder);
    let mut writer = store::open(&folder.store()).unwrap();
    let cycle = writer.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap().id;
    let mut reader = store::open_to_look(&folder.store()).unwrap();
    for count in 1..=20 {
        let visit = heavy_visit(&mut *writer, count, 1000);
        let batch = Batch { visits: vec![visit], now: NOW, ..Batch::default() };
        record(&mut *writer, cycle, batch).unwrap();
        assert_eq!(reader.summary().unwrap().observations, count, "what is committed is seen");
        assert_eq!(store::open_to_look(&folder.store()).unwrap().summary().unwrap().versions, count);
    }
    // A long look holds up no writer.
    let mut rows = 0;
    reader
        .list_pages(&PageFilter::default(), &mut |_| {
            rows += 1;
            let batch = Batch { now: NOW, ..Batch::default() };
            record(&mut *writer, cycle, batch).unwrap();
            writer.add_seeds(&[seed("https://example.org/added")], NOW).unwrap();
        })
        .unwrap();
    assert_eq!(rows, 1, "and sees the store as it was when it began");
}

/// Moves what the journal holds into the database, which no reader may be in the way of.
#[track_caller]
fn assert_checkpoint(folder: &Folder) {
    let raw = Connection::open(folder.store()).unwrap();
    raw.busy_timeout(Duration::ZERO).unwrap();
    let busy: i64 = raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0, "a reader holds the journal");
}

#[test]
fn a_reader_that_pauses_stops_no_checkpoint() {
    let folder = Folder::new();
    let mut writer = folder.open();
    let seeds: Vec<Seed> = (0..3000).map(|page| seed(&format!("https://example.org/{page}"))).collect();
    writer.add_seeds(&seeds, NOW).unwrap();
    let cycle = writer.open_cycle(CycleCommand::Crawl, "age", None, NOW).unwrap().id;
    for number in 1..=3 {
        let mut visit = heavy_visit(&mut *writer, number, 100);
        visit.links = Some(vec![1, 2]);
        record(&mut *writer, cycle, Batch { visits: vec![visit], now: NOW, ..Batch::default() }).unwrap();
    }
    let mut committed = 3;
    let mut pause = |writer: &mut dyn Store| {
        committed += 1;
        let visit = heavy_visit(writer, committed, 100);
        record(writer, cycle, Batch { visits: vec![visit], now: NOW, ..Batch::default() }).unwrap();
        assert_checkpoint(&folder);
    };
    let mut reader = store::open_to_look(&folder.store()).unwrap();
    let (mut listed, mut known, mut told) = (0, 0, 0);
    reader
        .list_pages(&PageFilter::default(), &mut |_| {
            listed += 1;
            if listed == 1500 {
                pause(&mut *writer);
            }
        })
        .unwrap();
    reader
        .each_page(&mut |_| {
            known += 1;
            if known == 1500 {
                pause(&mut *writer);
            }
        })
        .unwrap();
    let mut filter = EventFilter { since: NOW, ..EventFilter::default() };
    loop {
        let some = reader.events(&filter, 1).unwrap();
        filter.before = some.last().map(PageEvent::place);
        told += some.len();
        if some.is_empty() {
            break;
        }
        if told == 1 {
            pause(&mut *writer);
        }
    }
    reader.each_links(&mut |_, _| pause(&mut *writer)).unwrap();
    assert_eq!((listed, known, told), (3000, 3000, 5), "what came while it was read is not listed");
}

#[test]
fn who_only_looks_can_change_nothing() {
    let folder = Folder::new();
    made(&folder);
    let mut reader = store::open_to_look(&folder.store()).unwrap();
    let error = reader.add_seeds(&[seed("https://example.org/more")], NOW).err().unwrap();
    assert!(matches!(error, StoreError::ReadOnly(_)), "{error:?}");
    assert!(reader.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).is_err());
    assert_eq!(folder.open().seeds().unwrap().len(), 1);
}

// --- what is written stays -------------------------------------------------------------------------------------

#[test]
fn a_page_that_is_forgotten_leaves_a_sound_file_and_a_guarded_log() {
    let folder = Folder::new();
    made(&folder);
    let mut store = store::open(&folder.store()).unwrap();
    let cycle = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap().id;
    let visits = vec![heavy_visit(&mut *store, 1, 10)];
    let page = visits[0].page;
    record(&mut *store, cycle, Batch { visits, now: NOW, ..Batch::default() }).unwrap();
    let guards = |path: &Path| -> Vec<String> {
        let raw = Connection::open(path).unwrap();
        let mut statement =
            raw.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let before = guards(&folder.store());
    assert_eq!(store.forget(&[page], NOW).unwrap().pages, 1);
    drop(store);
    assert_eq!(guards(&folder.store()), before);
    let raw = Connection::open(folder.store()).unwrap();
    let broken = raw.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    let sound: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!((broken, sound.as_str()), (false, "ok"));
    let noted: (i64, i64) = raw
        .query_row("SELECT pages, observations FROM forgotten", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(noted, (1, 1), "that it happened is known, without names");
}

#[test]
fn observations_can_be_neither_changed_nor_deleted() {
    let folder = Folder::new();
    made(&folder);
    let mut store = store::open(&folder.store()).unwrap();
    let cycle = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap().id;
    let visit = heavy_visit(&mut *store, 1, 10);
    record(&mut *store, cycle, Batch { visits: vec![visit], now: NOW, ..Batch::default() }).unwrap();
    drop(store);
    let raw = Connection::open(folder.store()).unwrap();
    for sql in ["UPDATE observation SET outcome = 'missing'", "DELETE FROM observation"] {
        let error = raw.execute(sql, []).err().unwrap().to_string();
        assert!(error.contains("append-only"), "{sql}: {error}");
    }
    let replaced = raw.execute("INSERT OR REPLACE INTO observation SELECT * FROM observation", []);
    let outcome: String = raw.query_row("SELECT outcome FROM observation", [], |row| row.get(0)).unwrap();
    assert_eq!(outcome, "fetched", "{replaced:?}");
}

#[test]
fn a_full_disk_is_told_and_loses_nothing_that_was_committed() {
    let folder = Folder::new();
    made(&folder);
    let mut store = store::open_with_room(&folder.store(), 100).unwrap();
    let cycle = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap().id;
    let mut committed = 0;
    let error = loop {
        let visit = heavy_visit(&mut *store, committed, 20_000);
        match record(&mut *store, cycle, Batch { visits: vec![visit], now: NOW, ..Batch::default() }) {
            Ok(_) => committed += 1,
            Err(error) => break error,
        }
        assert!(committed < 1000, "the disk never fills");
    };
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(committed > 5, "{committed}");
    assert_eq!(store.summary().unwrap().observations, committed, "the batch that failed left nothing");
    assert_eq!(store.recount(false).unwrap(), 0, "nor in the counts");
    drop(store);

    // With room again it goes on.
    let mut store = store::open(&folder.store()).unwrap();
    let summary = store.summary().unwrap();
    assert_eq!((summary.observations, summary.versions), (committed, committed));
    let open = store.open_cycle(CycleCommand::Crawl, "breadth-first", None, NOW).unwrap();
    assert!(open.resumed);
    let visit = heavy_visit(&mut *store, committed, 20_000);
    record(&mut *store, open.id, Batch { visits: vec![visit], now: NOW, ..Batch::default() }).unwrap();
    assert_eq!(store.summary().unwrap().observations, committed + 1);
    drop(store);
    let raw = Connection::open(folder.store()).unwrap();
    let checked: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
}

#[test]
fn a_full_disk_stops_plans_and_seeds_too() {
    let folder = Folder::new();
    made(&folder);
    let mut store = store::open_with_room(&folder.store(), 0).unwrap();
    let seeds: Vec<Seed> = (0..5000).map(|page| seed(&format!("https://example.org/page/{page}"))).collect();
    let error = store.add_seeds(&seeds, NOW).err().unwrap();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert_eq!(store.seeds().unwrap().len(), 1, "all of them or none");
    drop(store);
    let mut store = folder.open();
    store.add_seeds(&seeds, NOW).unwrap();
    assert_eq!(store.seeds().unwrap().len(), 5001);
}
