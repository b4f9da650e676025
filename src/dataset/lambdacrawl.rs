//! `lambdacrawl`: the layout of the PoliteCrawling data of Kolobov et al. 2019: visits as gaps and change bits, and importance.
//!
//! `FILE` has one line per page: id, days from the start to the first visit, and `[[gap, 0/1], …]`, the days since the visit
//! before and whether the page had changed. `FILE.imp.tsv` has id and importance, `FILE.urls.tsv` URL, id, site and
//! group. A folder with the published files (`urlid_offset_history.txt`, `urlid_imp.txt`, `url_urlid_hostid.txt`) is read as
//! well. Reading keeps the side files in memory: some 200 bytes per page.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::DatasetError;
use super::fields::site_of;
use super::fields::{check_name, check_weight};
use super::format::EachRecord;
use super::group::{DAY_MS, FARTHEST_MS, GroupInfo};
use super::import::ImportedFile;
use super::metadata::{FileNote, beside};
use super::page_record::{PageRecord, VisitLine};
use super::rows_to_pages::{PageNames, TakePage};
use super::text_lines::TextLines;

const IMPORTANCE_SUFFIX: &str = ".imp.tsv";
const URLS_SUFFIX: &str = ".urls.tsv";
const PUBLISHED: [&str; 3] = ["urlid_offset_history.txt", "urlid_imp.txt", "url_urlid_hostid.txt"];

/// The part of a page that the format holds: the first copy, and the visits that could compare; nothing without a copy.
pub(super) fn kept(page: &PageRecord, _: &GroupInfo) -> Option<PageRecord> {
    let first = page.first_copy()?;
    let mut kept = PageRecord::new(&page.group, &page.site, &page.url, page.weight);
    let later = page.comparisons().filter(|(visit, _)| visit.time_ms >= first.time_ms);
    kept.visits.push(VisitLine::at(first.time_ms, None));
    kept.visits.extend(later.map(|(visit, changed)| VisitLine::at(visit.time_ms, Some(changed))));
    Some(kept)
}

/// Writes all pages as a file of this format.
pub(super) fn write(path: &Path, each: EachRecord<'_>) -> Result<(), DatasetError> {
    let mut writer = LambdacrawlWriter::create(path)?;
    each(&mut |page, group| writer.page(page, group))?;
    writer.finish()
}

struct LambdacrawlWriter {
    path: PathBuf,
    histories: BufWriter<File>,
    importance: BufWriter<File>,
    urls: BufWriter<File>,
    id: u64,
}

impl LambdacrawlWriter {
    fn create(path: &Path) -> Result<Self, DatasetError> {
        let create = |path: &Path| File::create(path).map(BufWriter::new).map_err(DatasetError::write(path));
        let importance = create(&beside(path, IMPORTANCE_SUFFIX))?;
        let urls = create(&beside(path, URLS_SUFFIX))?;
        Ok(Self { path: path.to_owned(), histories: create(path)?, importance, urls, id: 0 })
    }

    /// A page as [`kept`] made it.
    fn page(&mut self, page: &PageRecord, group: &GroupInfo) -> Result<(), DatasetError> {
        self.write(page, group).map_err(DatasetError::write(&self.path))
    }

    fn write(&mut self, page: &PageRecord, group: &GroupInfo) -> std::io::Result<()> {
        let Some(first) = page.visits.first() else { return Ok(()) };
        let id = self.id;
        self.id += 1;
        write!(self.histories, "{id}\t{}\t[", days(first.time_ms.saturating_sub(group.start_ms)))?;
        let mut before = first.time_ms;
        for (at, (visit, changed)) in page.comparisons().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(self.histories, "{comma}[{}, {}]", days(visit.time_ms - before), u8::from(changed))?;
            before = visit.time_ms;
        }
        writeln!(self.histories, "]")?;
        writeln!(self.importance, "{id}\t{}", page.weight)?;
        writeln!(self.urls, "{}\t{id}\t{}\t{}", page.url, page.site, page.group)
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        let flushed = self.histories.flush().and_then(|()| self.importance.flush());
        flushed.and_then(|()| self.urls.flush()).map_err(DatasetError::write(&self.path))
    }
}

/// Milliseconds as days; read back and rounded, the number gives the same milliseconds.
fn days(time_ms: i64) -> f64 {
    time_ms as f64 / DAY_MS as f64
}

/// The files of an export.
pub(super) fn files() -> Vec<FileNote> {
    let histories = [
        ("id", "number", "names the page in the other files"),
        ("offset", "days", "from the start of the group to the first visit"),
        (
            "history",
            "[[days, 0 or 1], …]",
            "time since the visit before, and whether the page had changed since",
        ),
    ];
    let importance =
        [("id", "number", "as above"), ("importance", "number", "weight of the page; 1: an ordinary page")];
    let urls = [
        ("url", "text", "URL of the page"),
        ("id", "number", "as above"),
        ("site", "text", "its site"),
        ("group", "text", "its group"),
    ];
    vec![
        FileNote::new("", "A line a page; tabs between the columns, no header.", &histories),
        FileNote::new(IMPORTANCE_SUFFIX, "A line a page; tabs between the columns, no header.", &importance),
        FileNote::new(URLS_SUFFIX, "A line a page; tabs between the columns, no header.", &urls),
    ]
}

/// Facts about a page from the side files.
#[derive(Default)]
struct SideFacts {
    weight: Option<f64>,
    url: Option<(String, String, Option<String>)>,
    /// The line that names the page first.
    line: u64,
    /// Whether its history was read.
    met: bool,
}

/// The three files, and all facts of the two side files by the id of the page.
struct PoliteCrawlingFiles {
    histories: PathBuf,
    importance: PathBuf,
    urls: PathBuf,
    facts: HashMap<String, SideFacts>,
}

impl PoliteCrawlingFiles {
    fn open(path: &Path) -> Result<Self, DatasetError> {
        let [histories, importance, urls] = if path.is_dir() {
            PUBLISHED.map(|name| path.join(name))
        } else {
            [path.to_owned(), beside(path, IMPORTANCE_SUFFIX), beside(path, URLS_SUFFIX)]
        };
        let mut facts = HashMap::new();
        read_importance(&importance, &mut facts)?;
        read_urls(&urls, &mut facts)?;
        Ok(Self { histories, importance, urls, facts })
    }

    /// The facts about the page of a history; side files must name every page.
    fn meet(&mut self, id: &str) -> Result<Option<&SideFacts>, String> {
        match self.facts.get_mut(id) {
            Some(facts) => {
                facts.met = true;
                Ok(Some(facts))
            }
            None if self.importance.exists() || self.urls.exists() => {
                Err(format!("the page `{id}` is unknown: it is not in `{}`", self.importance.display()))
            }
            None => Ok(None),
        }
    }

    /// An error if a side file names a page without a history.
    fn check_all_met(&self) -> Result<(), DatasetError> {
        let unmet = self.facts.iter().filter(|(_, facts)| !facts.met);
        let Some((id, unmet)) = unmet.min_by_key(|(_, facts)| facts.line) else { return Ok(()) };
        let file = if unmet.weight.is_some() { &self.importance } else { &self.urls };
        let said = format!("the page `{id}` is unknown: `{}` has no history of it", self.histories.display());
        Err(DatasetError::at(file, unmet.line, 1, said))
    }
}

/// Reads the pages of an export, or of the published folder.
pub(super) fn read(
    from: &ImportedFile<'_>,
    take: TakePage<'_>,
) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
    let mut files = PoliteCrawlingFiles::open(from.path)?;
    let histories = files.histories.clone();
    let (mut lines, mut names) = (TextLines::open(&histories)?, PageNames::default());
    let start_of = |group: &str| match &from.meta {
        Some(meta) => meta.groups.iter().find(|info| info.name == group).map(|info| info.start_ms),
        None => Some(from.start_ms.unwrap_or(0)),
    };
    let only_group = from.meta.as_ref().and_then(|meta| meta.groups.first());
    let default_group = only_group.map_or(from.name, |group| group.name.as_str());
    while let Some((number, line)) = lines.next_line()? {
        let wrong = |column: usize, said: String| DatasetError::at(&histories, number, column, said);
        let HistoryLine { id, offset, history } =
            HistoryLine::split(line).map_err(|said| wrong(line.chars().count() + 1, said))?;
        check_name("id", id).map_err(|said| wrong(1, said))?;
        let at_offset = id.chars().count() + 2;
        let at_history = at_offset + offset.chars().count() + 1;
        let facts = files.meet(id).map_err(|said| wrong(1, said))?;
        let (url, site, group) = match facts.and_then(|facts| facts.url.as_ref()) {
            Some((url, site, group)) => {
                (url.as_str(), site.clone(), group.as_deref().unwrap_or(default_group))
            }
            None => (id, site_of(id).unwrap_or_else(|| default_group.to_owned()), default_group),
        };
        if !names.add(group, url) || !names.add("\n", id) {
            return Err(wrong(1, format!("the page `{id}` is there twice")));
        }
        let start_ms = start_of(group)
            .ok_or_else(|| wrong(1, format!("the group `{group}` of page `{id}` is not in the metadata")))?;
        let offset_ms = offset.parse().ok().and_then(millis);
        let offset_ms =
            offset_ms.ok_or_else(|| wrong(at_offset, format!("`{offset}` is not a number of days")))?;
        let mut page =
            PageRecord::new(group, &site, url, facts.and_then(|facts| facts.weight).unwrap_or(1.0));
        page.visits = read_visits(start_ms.saturating_add(offset_ms), history)
            .map_err(|(column, said)| wrong(at_history + column, said))?;
        take(page)?;
    }
    // The published side files name more pages than there are histories.
    if !from.path.is_dir() {
        files.check_all_met()?;
    }
    Ok(None)
}

/// A line of the main file.
struct HistoryLine<'a> {
    id: &'a str,
    offset: &'a str,
    history: &'a str,
}

impl<'a> HistoryLine<'a> {
    fn split(line: &'a str) -> Result<Self, String> {
        let fields: Vec<&str> = line.splitn(3, '\t').collect();
        let [id, offset, history] = fields[..] else {
            return Err(format!(
                "there are {} columns; there must be id, offset and history, with tabs between",
                fields.len()
            ));
        };
        Ok(Self { id, offset, history })
    }
}

/// The visits of a page from its first on; an error has the characters before its place.
fn read_visits(first_ms: i64, history: &str) -> Result<Vec<VisitLine>, (usize, String)> {
    let pairs: Vec<(f64, u8)> = serde_json::from_str(history).map_err(|error| {
        let said = error.to_string();
        let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
        (error.column().max(1) - 1, format!("{said}; there must be a list of [days, 0 or 1]"))
    })?;
    let mut time_ms = first_ms;
    let mut visits = vec![VisitLine::at(time_ms, None)];
    for (at, (gap, changed)) in pairs.into_iter().enumerate() {
        let pair = at + 1;
        let gap_ms = millis(gap).filter(|gap| *gap >= 0);
        let gap_ms =
            gap_ms.ok_or_else(|| (0, format!("gap {pair} is `{gap}`; times must not run backwards")))?;
        if changed > 1 {
            return Err((0, format!("bit {pair} is `{changed}`; it must be 0 or 1")));
        }
        time_ms = time_ms.saturating_add(gap_ms);
        if time_ms > FARTHEST_MS {
            return Err((0, format!("gap {pair} leads to no time")));
        }
        visits.push(VisitLine::at(time_ms, Some(changed == 1)));
    }
    Ok(visits)
}

fn millis(days: f64) -> Option<i64> {
    let time_ms = (days * DAY_MS as f64).round();
    (time_ms.abs() < FARTHEST_MS as f64).then_some(time_ms as i64)
}

fn read_importance(path: &Path, known: &mut HashMap<String, SideFacts>) -> Result<(), DatasetError> {
    if !path.exists() {
        return Ok(());
    }
    let mut lines = TextLines::open(path)?;
    while let Some((number, line)) = lines.next_line()? {
        let Some((id, weight)) = line.split_once('\t') else {
            return Err(DatasetError::at(
                path,
                number,
                1,
                "there must be id and importance, with a tab between",
            ));
        };
        let weight = check_weight(weight)
            .map_err(|said| DatasetError::at(path, number, id.chars().count() + 2, said))?;
        let facts = known.entry(id.to_owned()).or_default();
        if facts.weight.replace(weight).is_some() {
            return Err(DatasetError::at(path, number, 1, format!("the page `{id}` is there twice")));
        }
        facts.line = number;
    }
    Ok(())
}

fn read_urls(path: &Path, known: &mut HashMap<String, SideFacts>) -> Result<(), DatasetError> {
    if !path.exists() {
        return Ok(());
    }
    let mut lines = TextLines::open(path)?;
    while let Some((number, line)) = lines.next_line()? {
        let wrong = |column: usize, said: String| DatasetError::at(path, number, column, said);
        let fields: Vec<&str> = line.split('\t').collect();
        let (url, id, site, group) = match fields[..] {
            [url, id, site] => (url, id, site, None),
            [url, id, site, group] => (url, id, site, Some(group)),
            _ => {
                let said = "there must be URL, id, site and group, with tabs between";
                return Err(wrong(1, said.to_owned()));
            }
        };
        for (what, name) in [("URL", url), ("id", id), ("site", site), ("group", group.unwrap_or("-"))] {
            check_name(what, name).map_err(|said| wrong(1, said))?;
        }
        let facts = known.entry(id.to_owned()).or_default();
        let told = (url.to_owned(), site.to_owned(), group.map(str::to_owned));
        if facts.url.replace(told).is_some() {
            return Err(wrong(url.chars().count() + 2, format!("the page `{id}` is there twice")));
        }
        if facts.weight.is_none() {
            facts.line = number;
        }
    }
    Ok(())
}
