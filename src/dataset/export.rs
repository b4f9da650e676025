//! A store or a dataset → a file in one of the [formats](super::format).
//!
//! An export is written into a folder beside its place and moved there when it is complete, the main file last. An
//! export that fails leaves nothing behind. Pipes, devices and standard output get the main file alone.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DatasetError;
use super::counts::DatasetTally;
use super::disk::DatasetReader;
use super::fields::{check_name, is_of_site};
use super::format::{Format, PageFormat, Write};
use super::group::GroupInfo;
use super::metadata::{FragmentNote, Metadata, TermNote};
use super::page_record::PageRecord;
use super::signals::{SignalsBeside, SignalsBesideWriter};
use super::stored::Stored;
use crate::change::fragment::SCHEME;
use crate::quality::terms::TERM_SCHEME;
use crate::time::Timestamp;
use crate::whole_file::OutPlace;

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

    /// How the terms were made; `None` where there are none, or it is not known.
    fn terms(&self) -> Option<TermNote> {
        match self {
            Self::Dataset(reader) => reader.manifest.terms,
            Self::Store(_) => Some(TermNote { scheme: TERM_SCHEME }),
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

/// Where an export goes.
pub enum ExportTo<'a> {
    /// A file, with the files that belong to it beside it.
    File(&'a Path),
    /// The main file alone, once it is complete.
    Stream(&'a mut dyn std::io::Write),
}

/// Options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Export this group only.
    pub group: Option<String>,
    /// Export the pages of this site only: a host, with or without its port.
    pub site: Option<String>,
    /// Export visits of this time and later only; for formats that have a row for each visit.
    pub since: Option<Timestamp>,
    /// Name of the dataset; `None`: that of the source.
    pub name: Option<String>,
}

/// A finished export.
#[derive(Clone, Debug)]
pub struct ExportDone {
    /// The description of the file.
    pub meta: Metadata,
    /// The part of the source that the format can't hold.
    pub left_out: LeftOut,
}

/// The part of a source that a format can't hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Aliases: their history is in `observations`, under their own URLs.
    pub aliases: u64,
    /// Visits of these.
    pub alias_visits: u64,
    /// Other pages that were visited: no copy was ever fetched, or they have no text.
    pub pages: u64,
    /// All visits of the source, without those of aliases that are left out.
    pub source_visits: u64,
    /// Changes that these found.
    pub source_changes: u64,
    /// Signals of the pages: the format, a pipe or a device has no room for them.
    pub signals: u64,
}

/// Writes a source in a format; `progress` gets how many of how many pages are done.
pub fn export(
    source: &mut Source,
    format: &'static Format,
    to: ExportTo<'_>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ExportDone, DatasetError> {
    let format = match &to {
        ExportTo::File(out) => format.for_file(out).map_err(DatasetError::Cannot)?,
        ExportTo::Stream(_) => format,
    };
    let Write::Pages(written) = &format.write else {
        return Err(DatasetError::Cannot(format!("`{}` can't be written as one file", format.name)));
    };
    if options.since.is_some() && !written.has_visits {
        let said = "has no row for each visit, so --since can't choose some of them; take `observations`";
        return Err(DatasetError::Cannot(format!("`{}` {said}", format.name)));
    }
    let groups = chosen(source, options)?;
    (written.fits)(&groups).map_err(DatasetError::Cannot)?;
    let name = options.name.clone().unwrap_or_else(|| source.name().to_owned());
    check_name("name", &name).map_err(DatasetError::Cannot)?;
    let place = match &to {
        ExportTo::File(out) => Some(OutPlace::of(out).map_err(DatasetError::write(out))?),
        ExportTo::Stream(_) => None,
    };
    let is_stream = place.as_ref().is_none_or(OutPlace::is_stream);
    if is_stream && (written.files)().len() > 1 {
        let said = "is written as several files, which a pipe or a device can't hold; name a file with --out";
        return Err(DatasetError::Cannot(format!("`{}` {said}", format.name)));
    }
    let staging = match &place {
        Some(place) => place.staging(),
        None => tempfile::Builder::new().prefix("freshet-").tempdir(),
    };
    let shown = match &to {
        ExportTo::File(out) => out,
        ExportTo::Stream(_) => Path::new("-"),
    };
    let staging = staging.map_err(DatasetError::write(shown))?;
    let main = staging.path().join(shown.file_name().unwrap_or_else(|| "export".as_ref()));
    let signals = if is_stream { SignalsBeside::None } else { written.signals };
    let (meta, left_out) =
        write_staged(source, format, (written, signals), &main, (groups, name), options, progress)?;
    match (to, place) {
        (ExportTo::File(out), Some(place)) => {
            if !is_stream {
                meta.write(&main)?;
                move_side_files(&main, out)?;
            }
            place.put(&main).map_err(DatasetError::write(out))?;
        }
        (ExportTo::Stream(stream), _) => {
            let mut whole = std::fs::File::open(&main).map_err(DatasetError::read(&main))?;
            let copied = std::io::copy(&mut whole, stream).and_then(|_| stream.flush());
            copied.map_err(DatasetError::write(shown))?;
        }
        (ExportTo::File(_), None) => {}
    }
    Ok(ExportDone { meta, left_out })
}

/// Writes the main file, and those that the format itself puts beside it.
fn write_staged(
    source: &mut Source,
    format: &Format,
    (written, signals): (&PageFormat, SignalsBeside),
    main: &Path,
    (groups, name): (Vec<GroupInfo>, String),
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Metadata, LeftOut), DatasetError> {
    let (mut tally, mut done, all) = (DatasetTally::default(), 0, source.pages()?);
    let (mut left_out, mut has_words) = (LeftOut::default(), false);
    let mut signals_beside = SignalsBesideWriter::new(main, signals);
    (written.write)(main, &mut |write| {
        source.each(written.needs_texts, &mut |mut page| {
            done += 1;
            progress(done, all);
            if let Some(since) = options.since {
                page.visits.retain(|visit| visit.time_ms >= since.millis());
                page.signals.retain(|signal| signal.learnt_at >= since);
            }
            let is_wanted = |site: &String| is_of_site(&page.site, site);
            let Some(group) = groups.iter().find(|group| group.name == page.group) else { return Ok(()) };
            if page.visits.is_empty() || !options.site.as_ref().is_none_or(is_wanted) {
                return Ok(());
            }
            if page.alias_of.is_some() && !written.has_aliases {
                left_out.aliases += 1;
                left_out.alias_visits += page.visits.len() as u64;
                return Ok(());
            }
            left_out.source_visits += page.visits.len() as u64;
            left_out.source_changes += page.comparisons().filter(|(_, changed)| *changed).count() as u64;
            match (written.keeps)(&page, group) {
                Some(kept) => {
                    tally.see(&kept);
                    left_out.signals += signals_beside.page(&page)?;
                    has_words |= kept.states.iter().any(|state| state.words.is_some());
                    write(&kept, group)
                }
                None => {
                    left_out.pages += 1;
                    Ok(())
                }
            }
        })?;
        match (tally.counts().pages, &options.site) {
            (0, Some(site)) => Err(DatasetError::Cannot(format!(
                "there is no page of `{site}` to export; `freshet status` lists the hosts"
            ))),
            (0, _) if options.since.is_some() => {
                Err(DatasetError::Cannot("there is no visit since then to export".into()))
            }
            (0, _) if written.needs_texts => Err(DatasetError::Cannot(
                "there is no text to export; it takes a store or a dataset with fragments".into(),
            )),
            (0, _) => Err(DatasetError::Cannot(format!(
                "there is no page to export as `{}`: none was ever fetched",
                format.name
            ))),
            _ => Ok(()),
        }
    })?;
    let mut files = (written.files)();
    if signals_beside.finish()? {
        files.push(signals.note());
    }
    let (format, counts) = (format.name.to_owned(), tally.counts());
    let fragments = source.fragments().filter(|_| written.needs_texts);
    let terms = source.terms().filter(|_| has_words);
    Ok((Metadata { format, name, groups, counts, fragments, terms, files }, left_out))
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

/// Moves the files beside the main one, which comes last: a file under its name is complete.
fn move_side_files(main: &Path, out: &Path) -> Result<(), DatasetError> {
    let from = main.parent().unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(from).map_err(DatasetError::read(from))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for file in files.iter().filter(|file| *file != main) {
        if let Some(name) = file.file_name() {
            let to = out.with_file_name(name);
            OutPlace::of(&to).and_then(|place| place.put(file)).map_err(DatasetError::write(&to))?;
        }
    }
    Ok(())
}
