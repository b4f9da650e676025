//! A file in one of the [formats](super::format), or a recording → a dataset.
//!
//! The dataset is written into a folder beside its place and moved there when it is complete. An import that fails leaves
//! nothing behind.

use std::path::Path;

use super::DatasetError;
use super::counts::DatasetCounts;
use super::disk::{self, DatasetWriter, Manifest};
use super::fields::check_name;
use super::format::{Format, Read, ReadPages, Write};
use super::group::GroupsSeen;
use super::metadata::{META_SUFFIX, Metadata, beside};
use super::signals::SignalsBesideReader;
use crate::whole_file::OutPlace;

/// A file that is imported, and the facts known about it.
pub struct ImportedFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// Name of the dataset, and of the group of pages without one.
    pub name: &'a str,
    /// The metadata beside the file.
    pub meta: Option<Metadata>,
    /// Time of cycle 0, if the file does not have it.
    pub start_ms: Option<i64>,
    /// Time from one cycle to the next, if the file does not have it.
    pub step_ms: Option<i64>,
}

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Name of the dataset; `None`: the name in the metadata, or that of the file.
    pub name: Option<String>,
    /// Time of cycle 0, if the file does not have it.
    pub start_ms: Option<i64>,
    /// Time from one cycle to the next, if the file does not have it.
    pub step_ms: Option<i64>,
}

/// Reads a file into a dataset, a folder that must not exist yet; `progress` is told how many pages are done, of how
/// many (0: unknown).
pub fn import(
    source: &Path,
    format: &'static Format,
    out: &Path,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, DatasetError> {
    if out.symlink_metadata().is_ok() {
        return Err(DatasetError::Exists(out.display().to_string()));
    }
    if !source.exists() {
        return Err(DatasetError::of_file(source, "does not exist"));
    }
    let format = match format.read {
        Read::Sniffed(sniff) => {
            let name = sniff(source)?;
            Format::named(name).ok_or_else(|| DatasetError::Cannot(format!("there is no format `{name}`")))?
        }
        _ => format,
    };
    let meta = match format.read {
        Read::Pages { .. } => Metadata::find(source)?,
        _ => None,
    };
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let from_meta = meta.as_ref().map(|meta| meta.name.clone());
    let name = options.name.clone().or(from_meta).or(stem).unwrap_or_else(|| "dataset".to_owned());
    check_name("name", &name).map_err(DatasetError::Cannot)?;
    let place = OutPlace::of(out).map_err(DatasetError::write(out))?;
    let staging = place.staging().map_err(DatasetError::write(out))?;
    let manifest = match format.read {
        Read::Pages { read, start_ms } => {
            let seen = GroupsSeen::new(options.start_ms.or(start_ms), options.step_ms);
            let (start_ms, step_ms) = (options.start_ms, options.step_ms);
            let from = ImportedFile { path: source, name: &name, meta, start_ms, step_ms };
            read_pages(staging.path(), format, read, &from, seen, progress)?
        }
        Read::Folder(read) => read(staging.path(), source, &name, progress)?,
        Read::Sniffed(_) | Read::Never => {
            return Err(DatasetError::Cannot(format!("`{}` can't be read", format.name)));
        }
    };
    // A temporary folder can be read by its owner only; a dataset is like any other folder.
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

/// Reads pages into the folder of a dataset.
fn read_pages(
    folder: &Path,
    format: &Format,
    read: ReadPages,
    from: &ImportedFile<'_>,
    mut seen: GroupsSeen,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, DatasetError> {
    if let Some(meta) = &from.meta
        && meta.format != format.name
    {
        let wrong = format!("was written as `{}`; give that as --format", meta.format);
        return Err(DatasetError::of_file(from.path, wrong));
    }
    let listed = from.meta.as_ref().map(|meta| &meta.files[..]);
    let mut signals = match &format.write {
        Write::Pages(written) => SignalsBesideReader::open(from.path, written.signals, listed)?,
        _ => None,
    };
    let mut writer = DatasetWriter::create(folder)?;
    writer.made = from.meta.as_ref().and_then(|meta| meta.fragments);
    writer.made_terms = from.meta.as_ref().and_then(|meta| meta.terms);
    let mut done = 0;
    let all = from.meta.as_ref().map_or(0, |meta| meta.counts.pages);
    let told = read(from, &mut |mut page| {
        if let Some(meta) = &from.meta
            && !meta.groups.iter().any(|group| group.name == page.group)
        {
            let wrong = format!("has a page of the group `{}`, which its metadata does not know", page.group);
            return Err(DatasetError::of_file(from.path, wrong));
        }
        if let Some(signals) = &mut signals {
            page.signals = signals.of_page(&page.group, &page.url)?;
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
    signals.map_or(Ok(()), SignalsBesideReader::end)?;
    let of_meta = from.meta.as_ref().map(|meta| meta.groups.clone());
    let groups = of_meta.or(told).unwrap_or_else(|| seen.groups());
    disk::check_groups(from.path, &groups)?;
    let manifest = writer.finish(from.name, format.name, groups)?;
    match &from.meta {
        Some(meta) => check_counts(from.path, &meta.counts, &manifest.counts).map(|()| manifest),
        None => Ok(manifest),
    }
}

/// A file with other counts than its metadata says was cut off or changed.
fn check_counts(path: &Path, told: &DatasetCounts, found: &DatasetCounts) -> Result<(), DatasetError> {
    for (what, told, found) in [
        ("pages", told.pages, found.pages),
        ("visits", told.visits, found.visits),
        ("changes", told.changes, found.changes),
    ] {
        if told != found {
            let meta = beside(path, META_SUFFIX);
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
