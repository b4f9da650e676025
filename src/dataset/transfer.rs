//! From a source to a file and back: `export` and `import`.
//!
//! An export goes into a folder beside its place and is moved there when it is whole, the main file last; an import
//! likewise. What is wrong on the way leaves nothing behind.

use std::path::{Path, PathBuf};

use url::{Position, Url};

use super::counts::{DatasetCounts, DatasetTally};
use super::disk::{self, DatasetReader, Manifest};
use super::fields::check_name;
use super::group::{GroupInfo, GroupsSeen};
use super::metadata::{FileNote, Metadata, beside};
use super::observations::Encoding;
use super::page_record::PageRecord;
use super::rows_to_pages::TakePage;
use super::stored::Stored;
use super::{DatasetError, brdc, fragments, lambdacrawl, observations, rates, recording};

/// A format that is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Brdc,
    Lambdacrawl,
    Observations(Encoding),
    Fragments,
    Rates,
}

impl Format {
    pub const ALL: [Self; 7] = [
        Self::Brdc,
        Self::Lambdacrawl,
        Self::Observations(Encoding::Csv),
        Self::Observations(Encoding::JsonLines),
        Self::Observations(Encoding::Parquet),
        Self::Fragments,
        Self::Rates,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Brdc => "brdc",
            Self::Lambdacrawl => "lambdacrawl",
            Self::Observations(Encoding::Csv) => "observations-csv",
            Self::Observations(Encoding::JsonLines) => "observations-jsonl",
            Self::Observations(Encoding::Parquet) => "observations-parquet",
            Self::Fragments => "fragments",
            Self::Rates => "rates",
        }
    }

    /// What it keeps of a page; writing that and reading it back gives the same page again.
    fn kept(self, page: &PageRecord, group: &GroupInfo) -> Option<PageRecord> {
        match self {
            Self::Brdc => brdc::kept(page, group),
            Self::Lambdacrawl => lambdacrawl::kept(page, group),
            Self::Observations(_) => observations::kept(page, group),
            Self::Fragments => fragments::kept(page, group),
            Self::Rates => rates::kept(page, group),
        }
    }

    fn files(self) -> Vec<FileNote> {
        match self {
            Self::Brdc => brdc::files(),
            Self::Lambdacrawl => lambdacrawl::files(),
            Self::Observations(encoding) => observations::files(encoding),
            Self::Fragments => fragments::files(),
            Self::Rates => rates::files(),
        }
    }

    fn read(self, from: &Incoming<'_>, take: TakePage<'_>) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
        match self {
            Self::Brdc => brdc::read(from, take),
            Self::Lambdacrawl => lambdacrawl::read(from, take),
            Self::Observations(encoding) => observations::read(from, encoding, take),
            Self::Fragments => fragments::read(from, take),
            Self::Rates => rates::read(from, take),
        }
    }
}

/// Where an export comes from.
pub enum Source {
    Dataset(Box<DatasetReader>),
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

/// What an export is told besides the format.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// This group only.
    pub group: Option<String>,
    /// What the dataset is called, instead of as its source is.
    pub name: Option<String>,
}

enum Writer {
    Brdc(brdc::BrdcWriter),
    Lambdacrawl(lambdacrawl::LambdacrawlWriter),
    Observations(observations::ObservationsWriter),
    Fragments(fragments::FragmentsWriter),
    Rates(rates::RatesWriter),
}

impl Writer {
    fn create(format: Format, path: &Path) -> Result<Self, DatasetError> {
        Ok(match format {
            Format::Brdc => Self::Brdc(brdc::BrdcWriter::create(path)?),
            Format::Lambdacrawl => Self::Lambdacrawl(lambdacrawl::LambdacrawlWriter::create(path)?),
            Format::Observations(encoding) => {
                Self::Observations(observations::ObservationsWriter::create(path, encoding)?)
            }
            Format::Fragments => Self::Fragments(fragments::FragmentsWriter::create(path)?),
            Format::Rates => Self::Rates(rates::RatesWriter::create(path)?),
        })
    }

    fn page(&mut self, page: &PageRecord, group: &GroupInfo) -> Result<(), DatasetError> {
        match self {
            Self::Brdc(writer) => writer.page(page, group),
            Self::Lambdacrawl(writer) => writer.page(page, group),
            Self::Observations(writer) => writer.page(page),
            Self::Fragments(writer) => writer.page(page),
            Self::Rates(writer) => writer.page(page, group),
        }
    }

    fn finish(self) -> Result<(), DatasetError> {
        match self {
            Self::Brdc(writer) => writer.finish(),
            Self::Lambdacrawl(writer) => writer.finish(),
            Self::Observations(writer) => writer.finish(),
            Self::Fragments(writer) => writer.finish(),
            Self::Rates(writer) => writer.finish(),
        }
    }
}

/// Writes a source in a format; `progress` is told how many of how many pages are done.
pub fn export(
    source: &mut Source,
    format: Format,
    out: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Metadata, DatasetError> {
    let groups = chosen(source, format, options)?;
    let name = options.name.clone().unwrap_or_else(|| source.name().to_owned());
    check_name("name", &name).map_err(DatasetError::Cannot)?;
    let staging = staging(out)?;
    let main = staging.path().join(file_name(out)?);
    let mut writer = Writer::create(format, &main)?;
    let (mut tally, mut done, all) = (DatasetTally::default(), 0, source.pages()?);
    source.each(format == Format::Fragments, &mut |page| {
        if let Some(group) = groups.iter().find(|group| group.name == page.group)
            && let Some(kept) = format.kept(&page, group)
        {
            tally.see(&kept);
            writer.page(&kept, group)?;
        }
        done += 1;
        progress(done, all);
        Ok(())
    })?;
    let counts = tally.counts();
    if counts.pages == 0 {
        return Err(DatasetError::Cannot(match format {
            Format::Fragments => {
                "there is no text to export; it takes a store or a dataset with fragments".into()
            }
            _ => format!("there is no page to export as `{}`: none was ever held", format.name()),
        }));
    }
    writer.finish()?;
    let meta = Metadata { format: format.name().to_owned(), name, groups, counts, files: format.files() };
    meta.write(&main)?;
    move_files(staging.path(), out)?;
    Ok(meta)
}

fn chosen(source: &Source, format: Format, options: &ExportOptions) -> Result<Vec<GroupInfo>, DatasetError> {
    let mut groups = source.groups();
    let names: Vec<String> = groups.iter().map(|group| format!("`{}`", group.name)).collect();
    let names = names.join(", ");
    if let Some(wanted) = &options.group {
        groups.retain(|group| group.name == *wanted);
        if groups.is_empty() {
            return Err(DatasetError::Cannot(format!("there is no group `{wanted}`; there are {names}")));
        }
    }
    if format == Format::Brdc {
        if groups.len() > 1 {
            let said = format!(
                "`brdc` holds one group, as all lines are of one length; choose with --group: {names}"
            );
            return Err(DatasetError::Cannot(said));
        }
        if groups.iter().any(|group| group.cycles < 2) {
            let said = "`brdc` has a character for each cycle after the first, and there is one cycle only";
            return Err(DatasetError::Cannot(said.to_owned()));
        }
    }
    Ok(groups)
}

fn file_name(out: &Path) -> Result<&std::ffi::OsStr, DatasetError> {
    out.file_name().ok_or_else(|| DatasetError::of_file(out, "is no name for a file; name one with --out"))
}

/// A folder beside the place where all goes when it is whole.
fn staging(out: &Path) -> Result<tempfile::TempDir, DatasetError> {
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

/// The main file comes last: what is there under its name is whole.
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

/// A file that is imported, and what is known of it.
pub struct Incoming<'a> {
    pub path: &'a Path,
    /// What the dataset is called, and the group of pages that name none.
    pub name: &'a str,
    pub meta: Option<Metadata>,
    /// Cycle 0, and the distance of cycles, where the file does not tell them.
    pub start_ms: Option<i64>,
    pub step_ms: Option<i64>,
}

/// What an import reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    Exported(Format),
    /// Observations of whatever encoding they are.
    Observations,
    /// A folder with `manifest.jsonl` and `blobs.sqlite`.
    Replay,
}

/// What an import is told besides.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    pub name: Option<String>,
    pub start_ms: Option<i64>,
    pub step_ms: Option<i64>,
}

/// Reads a file into a dataset, a folder that must not be there yet; `progress` is told how many pages are done, of how
/// many (0: nobody knows).
pub fn import(
    source: &Path,
    format: ImportFormat,
    out: &Path,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, DatasetError> {
    if out.exists() {
        return Err(DatasetError::Exists(out.display().to_string()));
    }
    if !source.exists() {
        return Err(DatasetError::of_file(source, "is not there"));
    }
    let format = match format {
        ImportFormat::Observations => {
            ImportFormat::Exported(Format::Observations(observations::sniff(source)?))
        }
        other => other,
    };
    let meta = match format {
        ImportFormat::Exported(_) => Metadata::find(source)?,
        _ => None,
    };
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let from_meta = meta.as_ref().map(|meta| meta.name.clone());
    let name = options.name.clone().or(from_meta).or(stem).unwrap_or_else(|| "dataset".to_owned());
    check_name("name", &name).map_err(DatasetError::Cannot)?;
    let staging = staging(out)?;
    let manifest = match format {
        ImportFormat::Exported(format) => {
            let (start_ms, step_ms) = (options.start_ms, options.step_ms);
            let from = Incoming { path: source, name: &name, meta, start_ms, step_ms };
            read_into(staging.path(), format, &from, progress)?
        }
        _ => recording::read_into(staging.path(), source, &name, progress)?,
    };
    // A folder of its own is kept from others; a dataset is as any folder that somebody makes.
    let whole = staging.keep();
    let moved = set_mode(&whole).and_then(|()| std::fs::rename(&whole, out));
    if let Err(error) = moved {
        let _ = std::fs::remove_dir_all(&whole);
        return Err(DatasetError::write(out)(error));
    }
    Ok(manifest)
}

#[cfg(unix)]
fn set_mode(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_mode(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn read_into(
    folder: &Path,
    format: Format,
    from: &Incoming<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, DatasetError> {
    if let Some(meta) = &from.meta
        && meta.format != format.name()
    {
        let wrong = format!("was written as `{}`; give that as --format", meta.format);
        return Err(DatasetError::of_file(from.path, wrong));
    }
    let mut writer = disk::DatasetWriter::create(folder)?;
    // Offsets count from the start, so it is 0 where nobody says another.
    let start_ms = from.start_ms.or((format == Format::Lambdacrawl).then_some(0));
    let (mut seen, mut done) = (GroupsSeen::new(start_ms, from.step_ms), 0);
    let all = from.meta.as_ref().map_or(0, |meta| meta.counts.pages);
    let told = format.read(from, &mut |page| {
        if let Some(meta) = &from.meta
            && !meta.groups.iter().any(|group| group.name == page.group)
        {
            let wrong = format!("has a page of the group `{}`, which its metadata does not know", page.group);
            return Err(DatasetError::of_file(from.path, wrong));
        }
        seen.see(&page);
        writer.page(&page)?;
        done += 1;
        progress(done, all);
        Ok(())
    })?;
    if done == 0 {
        return Err(DatasetError::of_file(from.path, "has no page in it"));
    }
    let of_meta = from.meta.as_ref().map(|meta| meta.groups.clone());
    let groups = of_meta.or(told).unwrap_or_else(|| seen.groups());
    disk::check_groups(from.path, &groups)?;
    let manifest = writer.finish(from.name, format.name(), groups)?;
    match &from.meta {
        Some(meta) => check_counts(from.path, &meta.counts, &manifest.counts).map(|()| manifest),
        None => Ok(manifest),
    }
}

/// A file that has less than its metadata says was cut off.
fn check_counts(path: &Path, told: &DatasetCounts, found: &DatasetCounts) -> Result<(), DatasetError> {
    for (what, told, found) in [
        ("pages", told.pages, found.pages),
        ("visits", told.visits, found.visits),
        ("changes", told.changes, found.changes),
    ] {
        if told != found {
            let meta = beside(path, super::metadata::META_SUFFIX);
            let wrong = format!(
                "has {found} {what}, and by `{}` it should have {told}: it was cut off or changed. Export it again, or \
                 move the metadata away",
                meta.display()
            );
            return Err(DatasetError::of_file(path, wrong));
        }
    }
    Ok(())
}

/// The host of a URL, with the port if it has one of its own; `None` if it is no URL.
pub(super) fn site_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let site = url.has_host().then(|| &url[Position::BeforeHost..Position::AfterPort])?;
    (!site.is_empty()).then(|| site.to_owned())
}
