//! A store or a dataset → a file in one of the [formats](super::format).
//!
//! An export is written into a folder beside its place and moved there when it is complete, the main file last. An
//! export that fails leaves nothing behind.

use std::path::{Path, PathBuf};

use super::DatasetError;
use super::counts::DatasetTally;
use super::disk::DatasetReader;
use super::fields::check_name;
use super::format::{Format, Write};
use super::group::GroupInfo;
use super::metadata::{FragmentNote, Metadata};
use super::page_record::PageRecord;
use super::stored::Stored;
use crate::change::fragment::SCHEME;

/// The source of an export.
pub enum Source {
    /// A dataset.
    Dataset(Box<DatasetReader>),
    /// A store.
    Store(Box<Stored>),
}

impl Source {
    fn name(&self) -> &str {
        match self {
            Self::Dataset(reader) => &reader.manifest.name,
            Self::Store(stored) => &stored.name,
        }
    }

    fn groups(&self) -> Vec<GroupInfo> {
        match self {
            Self::Dataset(reader) => reader.manifest.groups.clone(),
            Self::Store(stored) => vec![stored.group.clone()],
        }
    }

    /// About how many pages there are.
    fn pages(&mut self) -> Result<u64, DatasetError> {
        match self {
            Self::Dataset(reader) => Ok(reader.manifest.counts.pages),
            Self::Store(stored) => stored.pages(),
        }
    }

    /// How the fragments were made; `None` where it is not known.
    fn fragments(&self) -> Option<FragmentNote> {
        match self {
            Self::Dataset(reader) => reader.manifest.fragments,
            Self::Store(stored) => Some(FragmentNote { scheme: SCHEME, words: stored.words }),
        }
    }

    fn each(
        &mut self,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        match self {
            Self::Dataset(reader) => reader.each(states, each),
            Self::Store(stored) => stored.each(states, each),
        }
    }
}

/// Options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Export this group only.
    pub group: Option<String>,
    /// Name of the dataset; `None`: that of the source.
    pub name: Option<String>,
}

/// Writes a source in a format; `progress` is told how many of how many pages are done.
pub fn export(
    source: &mut Source,
    format: &'static Format,
    out: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Metadata, DatasetError> {
    let format = format.for_file(out).map_err(DatasetError::Cannot)?;
    let Write::Pages(written) = &format.write else {
        return Err(DatasetError::Cannot(format!("`{}` can't be written, only read", format.name)));
    };
    let groups = chosen(source, options)?;
    (written.fits)(&groups).map_err(DatasetError::Cannot)?;
    let name = options.name.clone().unwrap_or_else(|| source.name().to_owned());
    check_name("name", &name).map_err(DatasetError::Cannot)?;
    let staging = staging(out)?;
    let main = staging.path().join(file_name(out)?);
    let (mut tally, mut done, all) = (DatasetTally::default(), 0, source.pages()?);
    (written.write)(&main, &mut |write| {
        source.each(written.needs_texts, &mut |page| {
            let can_be_told = written.has_aliases || page.alias_of.is_none();
            if let Some(group) = groups.iter().find(|group| group.name == page.group && can_be_told)
                && let Some(kept) = (written.keeps)(&page, group)
            {
                tally.see(&kept);
                write(&kept, group)?;
            }
            done += 1;
            progress(done, all);
            Ok(())
        })?;
        match tally.counts().pages {
            0 if written.needs_texts => Err(DatasetError::Cannot(
                "there is no text to export; it takes a store or a dataset with fragments".into(),
            )),
            0 => Err(DatasetError::Cannot(format!(
                "there is no page to export as `{}`: none was ever fetched",
                format.name
            ))),
            _ => Ok(()),
        }
    })?;
    let files = (written.files)();
    let (format, counts) = (format.name.to_owned(), tally.counts());
    let fragments = source.fragments().filter(|_| written.needs_texts);
    let meta = Metadata { format, name, groups, counts, fragments, files };
    meta.write(&main)?;
    move_files(staging.path(), out)?;
    Ok(meta)
}

fn chosen(source: &Source, options: &ExportOptions) -> Result<Vec<GroupInfo>, DatasetError> {
    let groups = source.groups();
    let Some(wanted) = &options.group else { return Ok(groups) };
    let names: Vec<String> = groups.iter().map(|group| format!("`{}`", group.name)).collect();
    let found: Vec<GroupInfo> = groups.into_iter().filter(|group| group.name == *wanted).collect();
    if found.is_empty() {
        let names = names.join(", ");
        return Err(DatasetError::Cannot(format!("there is no group `{wanted}`; there are {names}")));
    }
    Ok(found)
}

fn file_name(out: &Path) -> Result<&std::ffi::OsStr, DatasetError> {
    out.file_name().ok_or_else(|| DatasetError::of_file(out, "is no name for a file; name one with --out"))
}

/// A folder beside the place of the result, for files that are not complete yet.
pub(super) fn staging(out: &Path) -> Result<tempfile::TempDir, DatasetError> {
    file_name(out)?;
    if out.is_dir() {
        return Err(DatasetError::of_file(out, "is a folder; name a file in it with --out"));
    }
    let beside = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(beside).map_err(DatasetError::write(beside))?;
    tempfile::Builder::new().prefix(".freshet-").tempdir_in(beside).map_err(DatasetError::write(beside))
}

/// Moves the main file last: a file under its name is complete.
fn move_files(from: &Path, out: &Path) -> Result<(), DatasetError> {
    let main = from.join(file_name(out)?);
    let entries = std::fs::read_dir(from).map_err(DatasetError::read(from))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort_by_key(|file| (*file == main, file.clone()));
    for file in files {
        if let Some(name) = file.file_name() {
            let to = out.with_file_name(name);
            std::fs::rename(&file, &to).map_err(DatasetError::write(&to))?;
        }
    }
    Ok(())
}
