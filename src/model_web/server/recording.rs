//! Recorded histories: what a page of a recording was at a moment.
//!
//! Comes in: a folder with `manifest.jsonl` (a page a line: group, path, media type, dated versions) and `blobs.sqlite`
//! (contents, zstd-compressed in packs). Each group is a host. The day-0 of a group is the opening of its window, so all
//! groups begin together. The manifest is held in memory, and of the contents what was asked for lately.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::Deserialize;
use url::Url;

use super::content_cache::ContentCache;
use super::recording_lists::ToldPast;
use super::truth_json::PREFIX;
use crate::dataset::blobs::{BlobError, Blobs};
use crate::extract;

/// Bytes of contents that are kept in memory: those of about a thousand pages.
const KEPT_BYTES: usize = 64 << 20;

/// Why a recording can't be played.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum RecordingError {
    #[error("`{path}` can't be read: {source}")]
    Read { path: String, source: io::Error },
    #[error("{path}:{line}: {wrong}")]
    Line { path: String, line: usize, wrong: String },
    #[error("`{0}` names no page")]
    Empty(String),
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

/// A recording that is open.
#[derive(Debug)]
pub struct Recording {
    /// The recorded hosts.
    pub groups: Vec<RecordedHost>,
    blobs: Blobs,
    kept: Mutex<ContentCache>,
    unpacking: Mutex<()>,
}

/// The pages of one host.
#[derive(Debug)]
pub struct RecordedHost {
    /// The group's name in the manifest.
    pub name: String,
    /// The opening of its window, in seconds since 1970.
    pub opens: f64,
    /// The end of its window, in seconds since 1970.
    pub closes: f64,
    /// By the path that they are asked for.
    pub pages: BTreeMap<String, ServedHistory>,
    /// The signals that it tells; `None`: it tells true dates.
    pub(super) told: Option<ToldPast>,
}

/// A page's history.
#[derive(Debug)]
pub struct ServedHistory {
    /// The media type.
    pub media: String,
    /// Oldest first; the time in seconds since 1970, and the content, none where the page was removed.
    pub versions: Vec<(f64, Option<String>)>,
}

/// The state of a page at a moment.
#[derive(Debug, PartialEq)]
pub enum RecordedState<'a> {
    /// Its first version is still to come.
    NotYet,
    /// It has had this content since then.
    Shows {
        /// The name of the content.
        blob: &'a str,
        /// When it appeared, in seconds since 1970.
        since: f64,
    },
    /// It was taken away.
    Removed {
        /// When, in seconds since 1970.
        since: f64,
    },
}

#[derive(Deserialize)]
struct ServedLine {
    group: String,
    path: String,
    media: String,
    window: (jiff::Timestamp, jiff::Timestamp),
    versions: Vec<ServedVersion>,
}

#[derive(Deserialize)]
struct ServedVersion {
    t: jiff::Timestamp,
    b: Option<String>,
}

impl Recording {
    /// Opens a folder, and looks whether all contents that it names are there.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let path = folder.join("manifest.jsonl").display().to_string();
        let manifest = std::fs::read_to_string(&path)
            .map_err(|source| RecordingError::Read { path: path.clone(), source })?;
        let blobs = Blobs::open(&folder.join("blobs.sqlite"))?;
        let held = blobs.names()?;
        let mut groups: Vec<RecordedHost> = Vec::new();
        for (place, text) in manifest.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let wrong = |wrong: String| RecordingError::Line { path: path.clone(), line: place + 1, wrong };
            let line: ServedLine = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
            if line.versions.windows(2).any(|pair| pair[0].t > pair[1].t) {
                return Err(wrong(format!("the versions of `{}` are not in the order of time", line.path)));
            }
            if let Some(blob) = line
                .versions
                .iter()
                .filter_map(|version| version.b.as_ref())
                .find(|blob| !held.contains(*blob))
            {
                return Err(wrong(format!("`{blob}` is not in `{}`", blobs.path())));
            }
            let page_path =
                request_path(&line.path).ok_or_else(|| wrong(format!("`{}` is no path", line.path)))?;
            let (opens, closes) = (seconds(line.window.0), seconds(line.window.1));
            let versions = line.versions.into_iter().map(|version| (seconds(version.t), version.b)).collect();
            let page = ServedHistory { media: line.media, versions };
            if is_ours(&page_path) {
                tracing::warn!(
                    path = page_path,
                    "this recorded page is left out: the web answers there itself"
                );
                continue;
            }
            match groups.iter_mut().find(|group| group.name == line.group) {
                Some(group) if group.pages.contains_key(&page_path) => {
                    return Err(wrong(format!("`{}` is there twice", line.path)));
                }
                Some(group) => {
                    group.pages.insert(page_path, page);
                }
                None => groups.push(RecordedHost {
                    name: line.group,
                    opens,
                    closes,
                    pages: BTreeMap::from([(page_path, page)]),
                    told: None,
                }),
            }
        }
        if groups.is_empty() {
            return Err(RecordingError::Empty(path));
        }
        let kept = Mutex::new(ContentCache::new(KEPT_BYTES));
        Ok(Self { groups, blobs, kept, unpacking: Mutex::new(()) })
    }

    /// A content, as it was recorded. Takes time where it has not been asked for lately: its pack is unpacked up to where
    /// it is. Memory: the packed pack, and what is kept of contents asked for lately.
    pub fn content(&self, blob: &str) -> Result<Bytes, RecordingError> {
        if let Some(content) = self.lately(blob) {
            return Ok(content);
        }
        // One at a time: an unpacking takes megabytes for its window alone. Who had to wait may find it done.
        let _turn = self.unpacking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = self.lately(blob) {
            return Ok(content);
        }
        let content = Bytes::from(self.blobs.content(blob)?);
        self.kept().put(blob, content.clone());
        Ok(content)
    }

    /// A content that is in memory.
    fn lately(&self, blob: &str) -> Option<Bytes> {
        self.kept().get(blob)
    }

    fn kept(&self) -> MutexGuard<'_, ContentCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `each` with the place of a content in the list and its bytes, one content at a time, in the order of the
    /// packs: a pack is unpacked once. Memory: a packed pack and a content.
    pub(crate) fn each_content(
        &self,
        blobs: &[&str],
        each: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), RecordingError> {
        Ok(self.blobs.each(blobs, each)?)
    }
}

impl RecordedHost {
    /// The page of a path, as it is asked for or as the file was named.
    pub fn page(&self, path: &str) -> Option<&ServedHistory> {
        self.pages.get(path).or_else(|| self.pages.get(&request_path(path)?))
    }
}

impl ServedHistory {
    /// The state of the page at a moment of the recording, in seconds since 1970.
    pub fn at(&self, moment: f64) -> RecordedState<'_> {
        let past = self.until(moment);
        let Some((_, last)) = past.last() else { return RecordedState::NotYet };
        // Polled and found the same is no change.
        let same = past.iter().rev().take_while(|(_, blob)| blob == last);
        let since = same.last().map_or(moment, |(at, _)| *at);
        match last {
            Some(blob) => RecordedState::Shows { blob, since },
            None => RecordedState::Removed { since },
        }
    }

    /// Its versions up to and including a moment.
    pub fn until(&self, moment: f64) -> &[(f64, Option<String>)] {
        self.versions.split_at(self.versions.partition_point(|(at, _)| *at <= moment)).0
    }

    /// The words that a reader of one of its contents sees, as a crawler reads them.
    pub fn text(&self, content: &[u8]) -> String {
        extract::document(content, Some(&self.media), 0).map_or_else(String::new, |document| document.text)
    }
}

/// Paths that a recorded host answers by itself.
fn is_ours(path: &str) -> bool {
    matches!(path, "/robots.txt" | "/sitemap.xml" | "/feed.atom") || path.starts_with(PREFIX)
}

fn seconds(time: jiff::Timestamp) -> f64 {
    time.as_millisecond() as f64 / 1000.0
}

/// A file's path as it is asked for: `Zoosk/Privacy Policy.html` → `/Zoosk/Privacy%20Policy.html`.
fn request_path(path: &str) -> Option<String> {
    let mut url = Url::parse("http://host/").ok()?;
    url.path_segments_mut().ok()?.clear().extend(path.split('/').filter(|part| !part.is_empty()));
    Some(url.path().to_owned()).filter(|path| path != "/")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rusqlite::Connection;
    use tempfile::TempDir;

    /// A recording of two groups: three contents in one pack.
    pub(crate) fn folder() -> TempDir {
        let folder = TempDir::new().expect("a temporary folder");
        let contents = ["<p>old words here</p>", "<p>new words here</p>", "<p>caf\u{e9} else</p>"];
        let blobs = Connection::open(folder.path().join("blobs.sqlite")).expect("a database");
        let packed = zstd::encode_all(contents.concat().as_bytes(), 1).expect("memory");
        blobs
            .execute_batch(
                "CREATE TABLE pack(id INTEGER PRIMARY KEY, raw_len INTEGER NOT NULL, zstd BLOB NOT NULL);
                 CREATE TABLE blob(sha TEXT PRIMARY KEY, pack INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL)
                     WITHOUT ROWID;",
            )
            .expect("tables");
        blobs.execute("INSERT INTO pack VALUES (1, 63, ?1)", [packed]).expect("a pack");
        let mut offset = 0i64;
        for (name, content) in ["aa", "bb", "cc"].into_iter().zip(contents) {
            blobs
                .execute("INSERT INTO blob VALUES (?1, 1, ?2, ?3)", (name, offset, content.len() as i64))
                .expect("a blob");
            offset += content.len() as i64;
        }
        let window = r#""window":["2020-01-01T00:00:00Z","2020-02-01T00:00:00Z"]"#;
        let manifest = format!(
            "{{\"group\":\"one\",\"path\":\"a b.html\",\"media\":\"text/html\",{window},\"versions\":[\
             {{\"t\":\"2019-12-30T00:00:00Z\",\"b\":\"aa\"}},{{\"t\":\"2020-01-01T00:00:00Z\",\"b\":\"aa\"}},\
             {{\"t\":\"2020-01-03T00:00:00Z\",\"b\":\"bb\"}},{{\"t\":\"2020-01-05T00:00:00Z\",\"b\":null}}]}}\n\
             {{\"group\":\"two\",\"path\":\"x/y.html\",\"media\":\"text/html\",{window},\"versions\":[\
             {{\"t\":\"2020-01-02T00:00:00Z\",\"b\":\"cc\"}}]}}\n"
        );
        std::fs::write(folder.path().join("manifest.jsonl"), manifest).expect("a file");
        folder
    }

    #[test]
    fn a_page_is_what_it_was() {
        let folder = folder();
        let recording = Recording::open(folder.path()).expect("a recording");
        let names: Vec<&str> = recording.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        let group = &recording.groups[0];
        let page = &group.pages["/a%20b.html"];
        let day = 86_400.0;
        let at = |days: f64| page.at(group.opens + days * day);
        assert_eq!(at(-5.0), RecordedState::NotYet);
        assert_eq!(at(1.0), RecordedState::Shows { blob: "aa", since: group.opens - 2.0 * day });
        assert_eq!(at(2.0), RecordedState::Shows { blob: "bb", since: group.opens + 2.0 * day });
        assert_eq!(at(9.0), RecordedState::Removed { since: group.opens + 4.0 * day });
        assert_eq!(recording.content("bb").expect("a content"), b"<p>new words here</p>".as_slice());
        assert_eq!((recording.lately("bb").is_some(), recording.lately("cc")), (true, None));
        let mut read = Vec::new();
        let mut each = |place: usize, content: &[u8]| read.push((place, content.len()));
        recording.each_content(&["cc", "aa", "cc"], &mut each).expect("contents");
        assert_eq!(read, [(1, 21), (0, 17), (2, 17)], "by where they are in the pack");
        assert_eq!(recording.content("cc").expect("a content"), "<p>caf\u{e9} else</p>".as_bytes());
        assert!(recording.content("dd").is_err());
    }

    #[test]
    fn bad_folders_are_told_apart() {
        let said = |folder: &Path| Recording::open(folder).map(|_| ()).map_err(|error| error.to_string());
        let empty = TempDir::new().expect("a temporary folder");
        assert!(said(empty.path()).is_err_and(|said| said.contains("manifest.jsonl")));
        let bad = folder();
        let manifest = bad.path().join("manifest.jsonl");
        let good = std::fs::read_to_string(&manifest).expect("a file");
        for (text, reason) in [
            (good.replace("\"bb\"", "\"zz\""), ":1: `zz` is not in"),
            (good.replace("x/y.html", "/"), ":2: `/` is no path"),
            (
                good.replace("\"two\"", "\"one\"").replace("x/y.html", "/a b.html"),
                ":2: `/a b.html` is there twice",
            ),
            (
                good.lines().skip(1).map(|line| line.replace("x/y.html", "robots.txt")).collect(),
                "names no page",
            ),
            (good.replace("2020-01-03", "2019-01-03"), ":1: the versions"),
            (good.replace("\"media\"", "\"medium\""), ":1: missing field"),
            (String::new(), "names no page"),
        ] {
            std::fs::write(&manifest, text).expect("a file");
            assert!(
                said(bad.path()).is_err_and(|said| said.contains(reason)),
                "{reason}: {:?}",
                said(bad.path())
            );
        }
        std::fs::write(&manifest, good).expect("a file");
        std::fs::write(bad.path().join("blobs.sqlite"), "no database").expect("a file");
        assert!(said(bad.path()).is_err_and(|said| said.contains("blobs.sqlite")));
    }
}
