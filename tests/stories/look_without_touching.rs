//! Looking at a store that can't be written to: another user's, on a read-only medium, left by a crash, or in use.

use crate::support::{FAST, Freshet, Ran, Reply, Running, Site};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A user without rights of its own.
const STRANGER: u32 = 65534;

/// A folder with a store that the user of [`Stranger`] may read and not write to. Its own rights come back when it is dropped.
struct Shelf {
    folder: TempDir,
}

impl Shelf {
    fn new() -> Shelf {
        Shelf { folder: TempDir::new().unwrap() }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("freshet.db")
    }

    /// Takes copies of these files, under the names that a store has.
    fn take(&self, store: &Path, endings: &[&str]) {
        for ending in endings {
            let from = PathBuf::from(format!("{}{ending}", store.display()));
            fs::copy(from, format!("{}{ending}", self.store().display())).unwrap();
        }
    }

    fn lock_up(&self) {
        for file in fs::read_dir(self.folder.path()).unwrap() {
            fs::set_permissions(file.unwrap().path(), Permissions::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(self.folder.path(), Permissions::from_mode(0o555)).unwrap();
    }

    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let read = |entry: fs::DirEntry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap())
        };
        let mut files: Vec<_> =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| read(entry.unwrap())).collect();
        files.sort();
        files
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.folder.path(), Permissions::from_mode(0o755));
    }
}

/// Runs the binary as somebody who may write nowhere but in one folder. Rights mean nothing to root, so a test that runs as
/// root becomes another user for it.
struct Stranger {
    home: TempDir,
    is_root: bool,
}

impl Stranger {
    fn new() -> Stranger {
        let home = TempDir::new().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o777)).unwrap();
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        // The build may be where others may not go.
        let binary = home.path().join("freshet");
        let built = Path::new(env!("CARGO_BIN_EXE_freshet"));
        fs::hard_link(built, &binary).or_else(|_| fs::copy(built, &binary).map(|_| ())).unwrap();
        Stranger { home, is_root }
    }

    #[track_caller]
    fn run(&self, shelf: &Shelf, arguments: &[&str]) -> Ran {
        let mut command = Command::new(self.home.path().join("freshet"));
        command.current_dir(self.home.path()).stdin(Stdio::null()).env_clear();
        if self.is_root {
            command.uid(STRANGER).gid(STRANGER);
        }
        command.args(arguments).arg("--store").arg(shelf.store());
        Running::start(command).wait(Duration::from_secs(60))
    }
}

/// A store of two cycles over a page that changes and one that stays; the URL of the first.
fn crawled(freshet: &Freshet) -> String {
    let site = Site::start();
    let texts = ["first text of the day", "second text of the day"];
    site.page(
        "/",
        Reply::sequence(texts.map(|text| Reply::html(format!("<p>{text} <a href=/other>on</a>"))).into()),
    );
    site.page("/other", "<p>another page that stays as it is");
    let seeds = freshet.seeds(&[site.url("/")]);
    let crawl = ["crawl", "--seeds", &seeds, "--cycles", "2", "--no-sitemaps", "--quiet"];
    let ran = freshet.run(&[&crawl, &FAST[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    site.url("/")
}

#[test]
fn every_looking_command_reads_a_store_of_another_user_in_a_folder_that_can_t_be_written_to() {
    let freshet = Freshet::new();
    let url = crawled(&freshet);
    let shelf = Shelf::new();
    shelf.take(&freshet.path("freshet.db"), &[""]);
    shelf.lock_up();
    let before = shelf.files();
    let stranger = Stranger::new();
    let commands: [&[&str]; 13] = [
        &["status"],
        &["pages"],
        &["changes"],
        &["diff", &url],
        &["history", &url],
        &["show", &url],
        &["search", "text", "day"],
        &["export", "--format", "files", "--out", "bodies"],
        &["why", &url],
        &["plan"],
        &["estimate", &url],
        &["export", "--format", "observations", "--out", "visits.csv"],
        &["simulate", "--policy", "age", "--budget", "50%"],
    ];
    for command in commands {
        let ran = stranger.run(&shelf, command);
        assert_eq!(ran.code, Some(0), "{command:?}\n{}", ran.output());
    }
    assert!(shelf.files() == before, "nothing was touched, and nothing put beside it");
    let search = stranger.run(&shelf, &["search", "text", "day", "--json"]);
    assert_eq!(search.json()["match_count"], 1, "{}", search.output());
    assert!(search.stderr.contains("a temporary one is made for this search"), "{}", search.output());

    let refused = stranger.run(&shelf, &["store", "rebuild"]);
    assert_eq!(refused.code, Some(1), "{}", refused.output());
    assert!(refused.stderr.contains("can't be opened"), "{}", refused.output());
}

#[test]
fn an_index_that_is_up_to_date_is_used_where_nothing_can_be_written() {
    let freshet = Freshet::new();
    crawled(&freshet);
    let made = freshet.run(&["search", "text"]);
    assert_eq!(made.code, Some(0), "{}", made.output());
    let shelf = Shelf::new();
    shelf.take(&freshet.path("freshet.db"), &[""]);
    fs::copy(freshet.path("freshet.search.db"), shelf.store().with_extension("search.db")).unwrap();
    shelf.lock_up();
    let before = shelf.files();
    let search = Stranger::new().run(&shelf, &["search", "text", "day", "--json"]);
    assert_eq!(search.json()["match_count"], 1, "{}", search.output());
    assert!(!search.stderr.contains("temporary"), "{}", search.output());
    assert!(shelf.files() == before, "nothing was touched, and nothing put beside it");
}

#[test]
fn one_may_look_beside_a_crawl_of_another_user() {
    let freshet = Freshet::new();
    let url = crawled(&freshet);
    let shelf = Shelf::new();
    shelf.take(&freshet.path("freshet.db"), &[""]);
    // The journal gets the mode of the store.
    fs::set_permissions(shelf.store(), Permissions::from_mode(0o644)).unwrap();
    let site = Site::start();
    site.page("/", Reply::silent());
    let seeds = freshet.seeds(&[site.url("/")]);
    let (store, journal) = (shelf.store().display().to_string(), shelf.store().with_extension("db-wal"));
    let crawl = [&["crawl", "--seeds", &seeds, "--store", &store], &FAST[..]].concat();
    let mut running = freshet.start(&crawl);
    while fs::metadata(&journal).map_or(0, |journal| journal.len()) == 0 {
        assert!(running.is_running(), "{}", running.stderr());
        std::thread::sleep(Duration::from_millis(5));
    }
    shelf.lock_up();
    fs::set_permissions(shelf.store(), Permissions::from_mode(0o644)).unwrap();
    let stranger = Stranger::new();
    for command in [&["status"][..], &["diff", &url], &["plan"]] {
        let ran = stranger.run(&shelf, command);
        assert_eq!(ran.code, Some(0), "{command:?}\n{}", ran.output());
    }
    running.kill();
}

#[test]
fn what_a_killed_crawl_left_in_its_journal_is_read_or_told_and_never_passed_over() {
    let freshet = Freshet::new();
    let url = crawled(&freshet);
    let path = freshet.path("freshet.db");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0; UPDATE page SET noindex = 1").unwrap();
    let (whole, alone) = (Shelf::new(), Shelf::new());
    whole.take(&path, &["", "-wal", "-shm"]);
    alone.take(&path, &["", "-wal"]);
    drop(writer);
    for shelf in [&whole, &alone] {
        shelf.lock_up();
    }
    let stranger = Stranger::new();
    let read = stranger.run(&whole, &["pages", "--json", "--url", &url]);
    assert_eq!(read.code, Some(0), "{}", read.output());
    assert!(read.stdout.contains("\"noindex\":true"), "{}", read.output());

    let told = stranger.run(&alone, &["status"]);
    assert_eq!(told.code, Some(1), "{}", told.output());
    assert!(told.stderr.contains("-wal` has changes that are not folded in yet"), "{}", told.output());
    assert!(told.stderr.contains("copy both files"), "{}", told.output());
}

#[test]
fn a_store_of_an_earlier_release_that_can_t_be_written_to_is_refused_with_the_repair() {
    let shelf = Shelf::new();
    let earlier = include_bytes!("../conformance/earlier_store.db.gz");
    let mut file = fs::File::create(shelf.store()).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(&earlier[..]), &mut file).unwrap();
    shelf.lock_up();
    let told = Stranger::new().run(&shelf, &["status"]);
    assert_eq!(told.code, Some(1), "{}", told.output());
    let said = "was made by an earlier freshet and has to be brought up to date";
    assert!(told.stderr.contains(said) && told.stderr.contains("look at a copy"), "{}", told.output());
}

#[test]
fn a_store_that_may_not_be_read_is_named() {
    let freshet = Freshet::new();
    crawled(&freshet);
    let shelf = Shelf::new();
    shelf.take(&freshet.path("freshet.db"), &[""]);
    shelf.lock_up();
    fs::set_permissions(shelf.store(), Permissions::from_mode(0o000)).unwrap();
    let told = Stranger::new().run(&shelf, &["status"]);
    assert_eq!(told.code, Some(1), "{}", told.output());
    assert!(told.stderr.contains("this user may not read it"), "{}", told.output());
}
