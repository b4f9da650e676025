//! `replay`: a recording of real pages, `manifest.jsonl` and `blobs.sqlite`, read into a dataset with fragments.
//!
//! Each group keeps the cycles of its window: from the first at which a page exists to the last at which a text changes or
//! a page appears. At a cycle a page has the text of its newest version up to then. It is visited at every cycle; a page that
//! was removed has the empty text. Words are those of [`super::recording_words`]. Pages of a group that have URLs are linked as their
//! last versions link. Memory holds the texts of one page, and some bytes for each change and each such link of all pages.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::blobs::Blobs;
use super::disk::{DatasetWriter, Manifest};
use super::fields::check_name;
use super::fields::site_of;
use super::group::{GroupInfo, MOST_CYCLES};
use super::metadata::TermNote;
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::recording_text::{RecordedText, RecordedTextReader};
use super::recording_words::{self, LinkedPage, RecordedWordReader};
use super::rows_to_pages::PageNames;
use super::text_lines::TextLines;
use super::{DatasetError, TextWords};
use crate::change::divergence::exact;
use crate::change::fragment::Fragments;
use crate::quality::terms::TERM_SCHEME;

#[derive(Deserialize)]
struct ManifestLine {
    group: String,
    path: String,
    #[serde(default)]
    url: Option<String>,
    /// Content type of its contents.
    #[serde(default)]
    media: Option<String>,
    window: (jiff::Timestamp, jiff::Timestamp),
    step_s: i64,
    versions: Vec<ManifestVersion>,
}

#[derive(Deserialize)]
struct ManifestVersion {
    t: jiff::Timestamp,
    b: Option<String>,
}

/// The window of a group.
struct GroupWindow {
    name: String,
    from_ms: i64,
    to_ms: i64,
    step_ms: i64,
    /// The first cycle at which a page exists, and the last at which anything happens.
    first: Option<u32>,
    last: u32,
}

impl GroupWindow {
    /// The first cycle at or after a time, if there is one.
    fn cycle_from(&self, time_ms: i64) -> Option<u32> {
        let passed = (time_ms - self.from_ms).max(0);
        let cycle = passed.div_euclid(self.step_ms) + i64::from(passed.rem_euclid(self.step_ms) > 0);
        (cycle <= (self.to_ms - self.from_ms).div_euclid(self.step_ms)).then(|| u32::try_from(cycle).ok())?
    }

    /// The versions of a page by the cycle from which they count: the newest before each cycle.
    fn states<'a>(&self, line: &'a ManifestLine) -> Vec<(u32, Option<&'a str>)> {
        let mut states: Vec<(u32, Option<&str>)> = Vec::new();
        for version in &line.versions {
            let Some(cycle) = self.cycle_from(version.t.as_millisecond()) else { break };
            if states.last().is_some_and(|(last, _)| *last == cycle) {
                states.pop();
            }
            states.push((cycle, version.b.as_deref()));
        }
        states
    }
}

/// A page without its texts, which are written already.
struct ManifestPage {
    group: usize,
    site: String,
    url: String,
    born: u32,
    /// The cycles at which its text changed, and the divergence.
    changes: Vec<(u32, f64)>,
    /// What stands for its URL, if it has one, and the pages that its last version links to.
    linked: (Option<u128>, Vec<u128>),
}

/// Reads the contents of a page: texts, words and links.
#[derive(Default)]
struct ContentReader {
    texts: RecordedTextReader,
    words: RecordedWordReader,
}

/// The contents of a page.
struct ReadContents<'a> {
    texts: HashMap<Option<&'a str>, RecordedText>,
    /// The words of each text, by its id.
    words: HashMap<u64, TextWords>,
    /// The pages that its last version links to.
    targets: Vec<u128>,
}

/// Reads a folder into the dataset's; `progress` gets how many of how many pages are done.
pub(super) fn read_into(
    folder: &Path,
    source: &Path,
    name: &str,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, DatasetError> {
    let path = source.join("manifest.jsonl");
    let blobs = Blobs::open(&source.join("blobs.sqlite")).map_err(unusable)?;
    let (mut windows, all) = windows(&path, &blobs)?;
    let mut writer = DatasetWriter::create(folder)?;
    writer.made_terms = Some(TermNote { scheme: TERM_SCHEME });
    let (mut seen, mut reader, mut done) = (Vec::<ManifestPage>::new(), ContentReader::default(), 0);
    each_line(&path, &mut |_, line| {
        done += 1;
        progress(done, all);
        let Some(group) = windows.iter().position(|window| window.name == line.group) else { return Ok(()) };
        let Some(window) = windows.get_mut(group) else { return Ok(()) };
        let states = window.states(&line);
        let contents = reader.contents(&blobs, &line, &states)?;
        let Some((born, changes, states)) = changes(window, &states, &contents) else { return Ok(()) };
        window.last = changes.last().map_or(born, |(cycle, _)| *cycle).max(window.last);
        let number = u32::try_from(seen.len()).unwrap_or(u32::MAX);
        writer.states(number, &states)?;
        let name = line.url.as_deref().and_then(|url| reader.words.page(url));
        let linked = (name, contents.targets);
        let url = line.url.unwrap_or_else(|| line.path.clone());
        let folder_of = line.path.split_once('/').map(|(folder, _)| folder.to_owned());
        let site = site_of(&url).or(folder_of).unwrap_or_else(|| line.group.clone());
        seen.push(ManifestPage { group, site, url, born, changes, linked });
        Ok(())
    })?;
    let linking = recording_words::inlinks(&seen.iter().map(ManifestPage::as_linked).collect::<Vec<_>>());
    for (page, inlinks) in seen.iter().zip(linking) {
        if let Some(window) = windows.get(page.group) {
            writer.page(&PageRecord { inlinks, ..page.record(window) })?;
        }
    }
    let groups = windows.iter().filter_map(|window| {
        let first = window.first?;
        let cycles = window.last - first + 1;
        let start_ms = window.from_ms + i64::from(first) * window.step_ms;
        Some(GroupInfo { name: window.name.clone(), start_ms, step_ms: window.step_ms, cycles })
    });
    writer.finish(name, "replay", groups.collect())
}

impl ManifestPage {
    fn as_linked(&self) -> LinkedPage<'_> {
        LinkedPage { group: self.group, page: self.linked.0, targets: &self.linked.1 }
    }

    fn record(&self, window: &GroupWindow) -> PageRecord {
        let mut page = PageRecord::new(&window.name, &self.site, &self.url, 1.0);
        let mut changes = self.changes.iter().peekable();
        for cycle in self.born..=window.last {
            let found = changes.next_if(|(at, _)| *at == cycle).map(|(_, divergence)| *divergence);
            let visit = VisitLine::at(window.time_of(cycle), (cycle > self.born).then_some(found.is_some()));
            let divergence = visit.changed.map(|_| found.unwrap_or(0.0));
            page.visits.push(VisitLine { divergence, ..visit });
        }
        page
    }
}

impl GroupWindow {
    fn time_of(&self, cycle: u32) -> i64 {
        self.from_ms + i64::from(cycle) * self.step_ms
    }
}

/// Birth, changes and states of a page, in cycles of the window.
type PageChanges = (u32, Vec<(u32, f64)>, Vec<StateRecord>);

fn changes(
    window: &GroupWindow,
    states: &[(u32, Option<&str>)],
    contents: &ReadContents<'_>,
) -> Option<PageChanges> {
    let born = states.first()?.0;
    let (mut changes, mut records) = (Vec::new(), Vec::new());
    let mut before: Option<&RecordedText> = None;
    for (cycle, blob) in states {
        let text = contents.texts.get(blob)?;
        match before {
            Some(before) if before.id == text.id => continue,
            Some(before) => {
                let of = |text: &RecordedText| Fragments::from_hashes(text.hashes.clone());
                changes.push((*cycle, exact(&of(before), &of(text)).get()));
            }
            None => {}
        }
        before = Some(text);
        let hashes = blob.map(|_| text.hashes.clone());
        let words = blob.and_then(|_| contents.words.get(&text.id).cloned());
        let time_ms = window.time_of(*cycle);
        records.push(StateRecord { cycle: None, time_ms, text: text.id, hashes, words });
    }
    Some((born, changes, records))
}

impl ContentReader {
    /// Reads each content of a page once. Contents with the same text get the words of the first of them that is read.
    fn contents<'a>(
        &mut self,
        blobs: &Blobs,
        line: &ManifestLine,
        states: &[(u32, Option<&'a str>)],
    ) -> Result<ReadContents<'a>, DatasetError> {
        let mut seen = HashSet::new();
        let names: Vec<&str> =
            states.iter().filter_map(|(_, blob)| *blob).filter(|blob| seen.insert(*blob)).collect();
        let last = states.iter().rev().find_map(|(_, blob)| *blob);
        let (media, url) = (line.media.as_deref(), line.url.as_deref());
        let mut texts = HashMap::from([(None, self.texts.nothing())]);
        let (mut words, mut targets) = (HashMap::new(), Vec::new());
        let mut take = |at: usize, content: &[u8]| {
            let name = names.get(at).copied();
            let text = self.texts.read(content);
            words.entry(text.id).or_insert_with(|| self.words.words(content, media));
            if name == last && url.is_some() {
                targets = self.words.links(content, media, url);
            }
            texts.insert(name, text);
        };
        blobs.each(&names, &mut take).map_err(unusable)?;
        Ok(ReadContents { texts, words, targets })
    }
}

fn unusable(error: super::blobs::BlobError) -> DatasetError {
    DatasetError::Cannot(error.to_string())
}

/// Checks the whole manifest first, so that a mistake is found before any content is read.
fn windows(path: &Path, blobs: &Blobs) -> Result<(Vec<GroupWindow>, u64), DatasetError> {
    let held = blobs.names().map_err(unusable)?;
    let (mut windows, mut names, mut pages) = (Vec::<GroupWindow>::new(), PageNames::default(), 0);
    each_line(path, &mut |number, line| {
        pages += 1;
        let wrong = |said: String| DatasetError::at(path, number, 1, said);
        check_name("group", &line.group).map_err(wrong)?;
        check_name("path", &line.path).map_err(wrong)?;
        check_name("url", line.url.as_deref().unwrap_or("-")).map_err(wrong)?;
        let url = line.url.as_deref().unwrap_or(&line.path);
        if !names.add(&line.group, url) {
            return Err(wrong(format!("`{url}` is there twice in the group `{}`", line.group)));
        }
        if line.versions.is_empty() {
            return Err(wrong(format!("`{url}` has no versions")));
        }
        if let Some(pair) = line.versions.windows(2).find(|pair| pair[0].t > pair[1].t) {
            let said = format!(
                "the versions of `{url}` are not in the order of time: {} after {}",
                pair[1].t, pair[0].t
            );
            return Err(wrong(said));
        }
        let mut contents = line.versions.iter().filter_map(|version| version.b.as_ref());
        if let Some(blob) = contents.find(|blob| !held.contains(*blob)) {
            return Err(wrong(format!("the content `{blob}` is not in `{}`", blobs.path())));
        }
        let (from_ms, to_ms) = (line.window.0.as_millisecond(), line.window.1.as_millisecond());
        let step_ms = line.step_s.saturating_mul(1000);
        if step_ms < 1 || to_ms < from_ms {
            return Err(wrong("the window ends before it begins, or step_s is below 1".to_owned()));
        }
        if (to_ms - from_ms) / step_ms >= i64::from(MOST_CYCLES) {
            return Err(wrong(format!("the window has more than {MOST_CYCLES} steps")));
        }
        let window = match windows.iter_mut().find(|window| window.name == line.group) {
            Some(window) => window,
            None => {
                let name = line.group.clone();
                windows.push(GroupWindow { name, from_ms, to_ms, step_ms, first: None, last: 0 });
                let Some(window) = windows.last_mut() else { return Ok(()) };
                window
            }
        };
        if (window.from_ms, window.to_ms, window.step_ms) != (from_ms, to_ms, step_ms) {
            return Err(wrong(format!(
                "the window is not that of the pages before in the group `{}`",
                line.group
            )));
        }
        let born = line.versions.first().and_then(|first| window.cycle_from(first.t.as_millisecond()));
        window.first = match (window.first, born) {
            (Some(first), Some(born)) => Some(first.min(born)),
            (first, born) => first.or(born),
        };
        Ok(())
    })?;
    Ok((windows, pages))
}

fn each_line(
    path: &Path,
    each: &mut dyn FnMut(u64, ManifestLine) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut lines = TextLines::open(path)?;
    while let Some((number, text)) = lines.next_line()? {
        let line = serde_json::from_str(text).map_err(|error| DatasetError::json(path, number, &error))?;
        each(number, line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Dataset, History, RecordedPage, WantedWords};
    use super::*;
    use crate::quality::copies::term_hash;
    use rusqlite::Connection;
    use tempfile::TempDir;

    /// A recording whose contents are in one pack, and these lines of a manifest.
    fn recording(contents: &[(&str, &str)], manifest: &str) -> TempDir {
        let folder = TempDir::new().expect("a folder");
        let blobs = Connection::open(folder.path().join("blobs.sqlite")).expect("a database");
        let tables = "CREATE TABLE pack(id INTEGER PRIMARY KEY, raw_len INTEGER NOT NULL, zstd BLOB NOT NULL);
             CREATE TABLE blob(sha TEXT PRIMARY KEY, pack INTEGER NOT NULL, off INTEGER NOT NULL, len INTEGER NOT NULL);";
        blobs.execute_batch(tables).expect("tables");
        let (mut all, mut places) = (String::new(), Vec::new());
        for (name, content) in contents {
            places.push((name, all.len() as i64, content.len() as i64));
            all += content;
        }
        let packed = zstd::encode_all(all.as_bytes(), 1).expect("memory");
        blobs.execute("INSERT INTO pack VALUES (1, ?1, ?2)", (all.len() as i64, packed)).expect("a pack");
        for (name, offset, length) in places {
            blobs.execute("INSERT INTO blob VALUES (?1, 1, ?2, ?3)", (name, offset, length)).expect("a blob");
        }
        std::fs::write(folder.path().join("manifest.jsonl"), manifest).expect("a file");
        folder
    }

    fn line(group: &str, path: &str, versions: &str) -> String {
        let window = r#""window":["2020-01-01T00:00:00Z","2020-01-11T00:00:00Z"],"step_s":86400"#;
        format!(
            "{{\"group\":\"{group}\",\"path\":\"{path}\",\"url\":null,{window},\"versions\":[{versions}]}}\n"
        )
    }

    fn version(day: &str, blob: &str) -> String {
        format!("{{\"t\":\"2020-01-{day}Z\",\"b\":{blob}}}")
    }

    fn read(folder: &TempDir) -> Result<Dataset, DatasetError> {
        let out = TempDir::new().expect("a folder");
        read_into(out.path(), folder.path(), "small", &mut |_, _| ())?;
        Dataset::load_with(out.path(), WantedWords::All)
    }

    #[test]
    fn words_and_links_are_those_that_a_crawl_would_read() {
        let contents = [
            ("aa", "<title>Mail</title><p>lists <a href=b.html>b</a>"),
            ("bb", "<title>Mail</title><p>lists <a href=/>b</a>"),
            ("cc", "errata errata <a href=/>home</a> [x](b.html)"),
        ];
        let with = |path: &str, url: &str, media: &str, versions: &str| {
            let url = format!("\"media\":\"text/{media}\",\"url\":\"https://a.example/{url}\"");
            line("g", path, versions).replace("\"url\":null", &url)
        };
        let one = [version("03T00:00:00", "\"aa\""), version("05T00:00:00", "\"bb\"")].join(",");
        let other = [version("03T00:00:00", "\"cc\""), version("05T00:00:00", "null")].join(",");
        let manifest = with("one", "", "html", &one)
            + &with("two", "b.html", "html", &other)
            + &with("three", "c", "markdown", &version("03T00:00:00", "\"cc\""))
            + &line("g", "no url", &version("03T00:00:00", "\"cc\""));
        let dataset = read(&recording(&contents, &manifest)).expect("a dataset");
        let [one, other, plain, unnamed] = &dataset.groups[0].pages[..] else { panic!("{dataset:?}") };
        let counts = |page: &RecordedPage, text: usize| {
            let words = &page.words[text];
            let count = |term| {
                let found = words.counts.iter().find(|(hash, _)| *hash == term_hash(term));
                found.map_or(0, |(_, count)| *count)
            };
            (words.length, count("mail"), count("errata"), count("a"))
        };
        assert_eq!(counts(one, 0), (3, 1, 0, 0));
        assert_eq!(one.words.len(), 1, "another link, the same words");
        assert_eq!((counts(other, 0), counts(other, 1)), ((6, 0, 2, 0), (0, 0, 0, 0)), "removed");
        assert_eq!(counts(plain, 0), (9, 0, 2, 2), "Markdown is read as it stands");
        let inlinks = [one, other, plain, unnamed].map(|page| page.inlinks);
        assert_eq!(inlinks, [1, 0, 0, 0], "the last version of `one` links to itself, `two` to `one`");
    }

    #[test]
    fn a_page_is_at_a_cycle_what_its_newest_version_is() {
        let contents = [("aa", "<p>one two"), ("bb", "<p>one two</p><!-- x -->"), ("cc", "three")];
        let late = [
            version("03T00:00:00", "\"aa\""),
            version("05T10:00:00", "\"bb\""),
            version("06T10:00:00", "\"aa\""),
            version("06T11:00:00", "\"cc\""),
            version("08T00:00:00", "null"),
        ];
        let still = version("04T00:00:01", "\"cc\"");
        let never = version("12T00:00:00", "\"cc\"");
        let manifest = line("g", "s/a", &late.join(","))
            + &line("g", "s/b", &still)
            + &line("g", "never", &never)
            + &line("h", "s/a", &still);
        let dataset = read(&recording(&contents, &manifest)).expect("a dataset");
        let [g, h] = &dataset.groups[..] else { panic!("{dataset:?}") };
        assert_eq!(
            (g.name.as_str(), g.start.to_string().as_str(), g.cycles),
            ("g", "2020-01-03T00:00:00Z", 6)
        );
        assert_eq!((h.name.as_str(), h.cycles, h.pages[0].born), ("h", 1, 0));
        let [a, b] = &g.pages[..] else { panic!("{g:?}") };
        assert_eq!((a.site.as_str(), a.url.as_str(), a.born), ("s", "s/a", 0));
        let History::Texts { from, texts } = &a.history else { panic!("{a:?}") };
        assert_eq!(from[..], [(0, 0), (4, 1), (5, 2)], "other bytes with the same words are no change");
        assert_eq!(texts.iter().map(|text| text.len()).collect::<Vec<_>>(), [1, 1, 0]);
        assert_eq!(b.born, 2, "it exists from the first cycle after its first version on");
    }

    #[test]
    fn mistakes_in_a_recording_are_told_with_their_place() {
        let one = version("03T00:00:00", "\"aa\"");
        let two = format!("{one},{}", version("02T00:00:00", "\"aa\""));
        for (manifest, said) in [
            (String::new(), "manifest.jsonl:1:1: the file is empty"),
            (line("g", "a", &one) + "{\"group\":", "manifest.jsonl:2:9: EOF while parsing a value"),
            (line("g", "a", &one) + &line("g", "a", &one), "manifest.jsonl:2:1: `a` is there twice"),
            (line("g", "a", &two), "manifest.jsonl:1:1: the versions of `a` are not in the order of time"),
            (
                line("g", "a", &version("03T00:00:00", "\"zz\"")),
                "manifest.jsonl:1:1: the content `zz` is not in",
            ),
            (line("g", "a", ""), "manifest.jsonl:1:1: `a` has no versions"),
        ] {
            let error = read(&recording(&[("aa", "x")], &manifest)).expect_err("a mistake").to_string();
            assert!(error.contains(said), "{error}, not {said}");
        }
    }
}
