//! A store → bodies of pages as files: a folder for each host, and an index.
//!
//! A file appears when it is complete. A file that is there with the same bytes is left alone, so an export that was
//! interrupted goes on where it stopped, and one that is repeated writes only what is new. The index comes last.

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::DatasetError;
use super::body_name::{INDEX_FILE, path_of, told_apart};
use super::fields::{is_of_site, site_of};
use crate::extract::title_of_body;
use crate::fetch::answer_head::AnswerHead;
use crate::page::PageId;
use crate::store::version::{hex, sha256};
use crate::store::{PageFilter, PageRow, Store, VersionFacts, VersionId, VisitRow};
use crate::time::Timestamp;
use crate::whole_file::{self, OutPlace};

/// Which bodies are written.
#[derive(Clone, Debug, Default)]
pub struct BodiesOptions {
    /// Every version of each page, of aliases too; else the last one.
    pub all_versions: bool,
    /// The version that each page had at this time.
    pub at: Option<Timestamp>,
    /// Versions that came at this time or later only.
    pub since: Option<Timestamp>,
    /// Pages of this site only: a host, with or without its port.
    pub site: Option<String>,
}

/// A finished export of bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BodiesCounts {
    /// Pages in the index.
    pub pages: u64,
    /// Files in the index.
    pub files: u64,
    /// Those of them that were written; the others were there.
    pub written: u64,
    /// Bytes of all files.
    pub body_bytes: u64,
    /// Versions without a file: there was no room for them in the store.
    pub without_body: u64,
    /// Aliases that were left out: pages that another one stands for.
    pub aliases: u64,
}

/// A line of the index.
#[derive(Debug, Serialize)]
struct IndexLine<'a> {
    url: &'a str,
    file: Option<String>,
    page_id: i64,
    title: Option<String>,
    version_id: i64,
    fetched_at: Timestamp,
    status: Option<u16>,
    content_type: Option<String>,
    body_bytes: u64,
    sha256: Option<String>,
    state: &'a str,
    alias_of: Option<&'a str>,
}

/// Writes bodies into a folder, which is made if only it is missing; `progress` gets how many of how many pages are done.
/// `lister` and `store` are the same store, opened twice.
pub fn export_bodies(
    lister: &mut dyn Store,
    store: &mut dyn Store,
    folder: &Path,
    options: &BodiesOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BodiesCounts, DatasetError> {
    whole_file::make_folder(folder).map_err(DatasetError::write(folder))?;
    let index = folder.join(INDEX_FILE);
    let place = OutPlace::of(&index).map_err(DatasetError::write(&index))?;
    let staging = place.staging().map_err(DatasetError::write(&index))?;
    let staged = staging.path().join(INDEX_FILE);
    let file = std::fs::File::create(&staged).map_err(DatasetError::write(&staged))?;
    let mut bodies = Bodies {
        store,
        folder,
        options,
        index: BufWriter::new(file),
        names: HashSet::new(),
        counts: BodiesCounts::default(),
    };
    let (mut done, all) = (0, lister.pages_held()?);
    let mut result = Ok(());
    lister.list_pages(&PageFilter { aliases: true, ..PageFilter::default() }, &mut |row| {
        let is_wanted = |site: &String| site_of(&row.url).is_some_and(|own| is_of_site(&own, site));
        if result.is_ok() && row.visits > 0 && options.site.as_ref().is_none_or(is_wanted) {
            result = bodies.page(&row);
        }
        done += u64::from(row.visits > 0);
        progress(done.min(all), all);
    })?;
    result?;
    let Bodies { mut index, counts, .. } = bodies;
    if counts.pages == 0 {
        let said = match &options.site {
            Some(site) => format!("there is no stored page of `{site}`; `freshet status` lists the hosts"),
            None => "there is no stored page to export for these flags".to_owned(),
        };
        return Err(DatasetError::Cannot(said));
    }
    index.flush().map_err(DatasetError::write(&staged))?;
    place.put(&staged).map_err(DatasetError::write(&folder.join(INDEX_FILE)))?;
    Ok(counts)
}

struct Bodies<'a> {
    store: &'a mut dyn Store,
    folder: &'a Path,
    options: &'a BodiesOptions,
    index: BufWriter<std::fs::File>,
    /// Hashes of the paths taken, in lower case: not every file system tells cases apart.
    names: HashSet<u128>,
    counts: BodiesCounts,
}

impl Bodies<'_> {
    fn page(&mut self, row: &PageRow) -> Result<(), DatasetError> {
        let id = PageId(row.id);
        let chosen = chosen(&self.store.visits(id)?, self.options);
        if chosen.is_empty() {
            return Ok(());
        }
        if row.alias_of.is_some() && !self.options.all_versions {
            self.counts.aliases += 1;
            return Ok(());
        }
        let versions: Vec<VersionId> = chosen.iter().map(|(version, _)| *version).collect();
        let facts: HashMap<VersionId, VersionFacts> =
            self.store.version_facts(&versions)?.into_iter().map(|facts| (facts.version, facts)).collect();
        let answers = self.store.answers_of(&[id])?.into_iter();
        let heads: HashMap<VersionId, AnswerHead> =
            answers.map(|answer| (answer.version, answer.head)).collect();
        self.counts.pages += 1;
        for (version, fetched_at) in chosen {
            let Some(facts) = facts.get(&version) else { continue };
            self.version(row, facts, heads.get(&version), fetched_at)?;
        }
        Ok(())
    }

    fn version(
        &mut self,
        row: &PageRow,
        facts: &VersionFacts,
        head: Option<&AnswerHead>,
        fetched_at: Timestamp,
    ) -> Result<(), DatasetError> {
        let content_type = head.map_or_else(|| row.content_type.clone(), |head| head.header("content-type"));
        let title = self.title(facts, content_type.as_deref())?;
        let mut line = IndexLine {
            url: &row.url,
            file: None,
            page_id: row.id,
            title,
            version_id: facts.version.0,
            fetched_at,
            status: head.map(|head| head.status),
            content_type,
            body_bytes: facts.body_bytes,
            sha256: facts.sha256.map(|hash| hex(&hash)),
            state: &row.state,
            alias_of: row.alias_of.as_deref(),
        };
        if facts.is_stored {
            let stamp = self.options.all_versions.then(|| stamp(fetched_at));
            let path =
                self.free_path(&row.url, line.content_type.as_deref(), stamp.as_deref(), facts.version);
            line.sha256 = Some(self.write(&path, facts)?);
            line.file = Some(path);
            self.counts.files += 1;
            self.counts.body_bytes += facts.body_bytes;
        } else {
            self.counts.without_body += 1;
        }
        let written = serde_json::to_writer(&mut self.index, &line).map_err(std::io::Error::from);
        written
            .and_then(|()| self.index.write_all(b"\n"))
            .map_err(DatasetError::write(&self.folder.join(INDEX_FILE)))
    }

    /// The title of a version, read from its body if an earlier release stored it.
    fn title(
        &mut self,
        facts: &VersionFacts,
        content_type: Option<&str>,
    ) -> Result<Option<String>, DatasetError> {
        match &facts.title {
            Some(title) => Ok(Some(title.clone()).filter(|title| !title.is_empty())),
            None if !facts.is_stored => Ok(None),
            None => {
                let content = self.store.version(facts.version)?;
                Ok(content.and_then(|content| title_of_body(&content.body, content_type)))
            }
        }
    }

    /// A path that no other page of this export has, whatever its case.
    fn free_path(
        &mut self,
        url: &str,
        content_type: Option<&str>,
        stamp: Option<&str>,
        version: VersionId,
    ) -> String {
        let path = path_of(url, content_type, stamp);
        let tries =
            [path.clone(), told_apart(&path, url), told_apart(&path, &format!("{url} {}", version.0))];
        for path in tries {
            if self.names.insert(xxh3_128(path.to_ascii_lowercase().as_bytes())) {
                return path;
            }
        }
        told_apart(&path, &format!("{url} {}", self.names.len()))
    }

    /// Writes a body, unless the same bytes are there; gives its SHA-256.
    fn write(&mut self, path: &str, facts: &VersionFacts) -> Result<String, DatasetError> {
        let file = self.folder.join(path);
        let there = std::fs::metadata(&file).ok().filter(|there| there.is_file());
        let same_length = there.is_some_and(|there| there.len() == facts.body_bytes);
        let hash_there = || std::fs::read(&file).ok().map(|bytes| sha256(&bytes));
        if let Some(hash) = facts.sha256
            && same_length
            && hash_there() == Some(hash)
        {
            return Ok(hex(&hash));
        }
        let Some(content) = self.store.version(facts.version)? else {
            return Err(DatasetError::Cannot(format!("version {} is not there any more", facts.version.0)));
        };
        let hash = sha256(&content.body);
        if same_length && facts.sha256.is_none() && hash_there() == Some(hash) {
            return Ok(hex(&hash));
        }
        let failed = DatasetError::write(&file);
        let folder = file.parent().unwrap_or(self.folder);
        std::fs::create_dir_all(folder)
            .and_then(|()| whole_file::write(&file, &content.body))
            .map_err(failed)?;
        self.counts.written += 1;
        Ok(hex(&hash))
    }
}

/// The versions of a page that are wanted, with the time of the visit that brought each.
fn chosen(visits: &[VisitRow], options: &BodiesOptions) -> Vec<(VersionId, Timestamp)> {
    let mut runs: Vec<(VersionId, Timestamp)> = Vec::new();
    for visit in visits.iter().filter(|visit| options.at.is_none_or(|at| visit.at <= at)) {
        if let Some(version) = visit.version
            && runs.last().is_none_or(|(last, _)| *last != version)
        {
            runs.push((version, visit.at));
        }
    }
    if options.all_versions {
        let mut seen = HashSet::new();
        runs.retain(|(version, _)| seen.insert(*version));
    } else {
        runs.drain(..runs.len().saturating_sub(1));
    }
    runs.retain(|(_, at)| options.since.is_none_or(|since| *at >= since));
    runs
}

/// `20261118T041047Z`
fn stamp(at: Timestamp) -> String {
    at.to_string().chars().filter(|letter| !"-:".contains(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_has_seconds_and_no_colons() {
        assert_eq!(stamp(Timestamp::from_millis(1_794_800_714_083)), "20261116T034514Z");
    }
}
