//! The files beside every export: metadata for programs and a README for people.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::DatasetError;
use super::counts::DatasetCounts;
use super::fields::show_time;
use super::group::GroupInfo;
use super::parquet::Column;

/// A file of an export, and its columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileNote {
    /// The ending after the name of the main file; empty for the main file itself.
    pub suffix: String,
    /// The file in a sentence.
    pub about: String,
    /// Its columns.
    pub columns: Vec<ColumnNote>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnNote {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its meaning and unit.
    pub note: String,
}

impl FileNote {
    pub(super) fn new(suffix: &str, about: &str, columns: &[(&str, &str, &str)]) -> Self {
        let columns = columns.iter().map(|(name, kind, note)| ColumnNote {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            note: (*note).to_owned(),
        });
        Self { suffix: suffix.to_owned(), about: about.to_owned(), columns: columns.collect() }
    }

    pub(super) fn of_table(about: &str, columns: &[Column]) -> Self {
        let columns: Vec<_> =
            columns.iter().map(|column| (column.name, column.type_name(), column.note)).collect();
        Self::new("", about, &columns)
    }
}

/// The description of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The format.
    pub format: String,
    /// The name of the dataset.
    pub name: String,
    /// The groups of pages.
    pub groups: Vec<GroupInfo>,
    /// Pages, sites, visits and changes.
    pub counts: DatasetCounts,
    /// How the fragments of its texts were made, if it has some and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<FragmentNote>,
    /// How the terms of its texts were made, if it has them and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<TermNote>,
    /// The files and their columns.
    #[serde(default)]
    pub files: Vec<FileNote>,
}

/// How fragments were made. Only those that were made alike can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentNote {
    /// The version of the scheme.
    pub scheme: u32,
    /// Words in a fragment.
    pub words: usize,
}

/// How terms were made. A workload is compared only with terms that were made as its own are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermNote {
    /// The version of the scheme ([`crate::quality::terms::TERM_SCHEME`]).
    pub scheme: u32,
}

/// The file beside the main one with this ending.
pub(super) fn beside(main: &Path, suffix: &str) -> PathBuf {
    let mut name = main.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Ending of the metadata.
pub(super) const META_SUFFIX: &str = ".meta.json";
/// Ending of the README.
const README_SUFFIX: &str = ".README.md";

impl Metadata {
    /// The metadata of this file, if there is any.
    pub(super) fn find(main: &Path) -> Result<Option<Self>, DatasetError> {
        let path = beside(main, META_SUFFIX);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(DatasetError::read(&path))?;
        let meta: Self = serde_json::from_str(&text).map_err(|error| DatasetError::json(&path, 1, &error))?;
        super::disk::check_groups(&path, &meta.groups)?;
        Ok(Some(meta))
    }

    /// Writes the metadata and the README of this file.
    pub(super) fn write(&self, main: &Path) -> Result<(), DatasetError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| DatasetError::Cannot(error.to_string()))?
            + "\n";
        for (suffix, text) in [(META_SUFFIX, text), (README_SUFFIX, self.readme())] {
            let path = beside(main, suffix);
            std::fs::write(&path, text).map_err(DatasetError::write(&path))?;
        }
        Ok(())
    }

    fn readme(&self) -> String {
        let DatasetCounts { pages, sites, visits, comparisons, changes, .. } = self.counts;
        let mut text = format!(
            "# {}\n\nChange histories of web pages, in the format `{}` of freshet.\n",
            self.name, self.format
        );
        let _ =
            write!(text, "Read them with `freshet import FILE --format {} --out DATASET`.\n\n", self.format);
        text += "| | |\n| --- | --- |\n";
        if let Some((first, last)) = &self.counts.period {
            let _ = writeln!(text, "| period | {first} to {last} |");
        }
        let _ = writeln!(text, "| pages | {pages} |\n| sites | {sites} |");
        let DatasetCounts {
            pages_per_site_min: least,
            pages_per_site_max: most,
            pages_per_site_mean: mean,
            ..
        } = self.counts;
        let _ = writeln!(text, "| pages per site, min / max / mean | {least} / {most} / {mean:.2} |");
        let _ = writeln!(text, "| visits | {visits} |\n| visits that could compare | {comparisons} |");
        let _ = writeln!(text, "| changes found | {changes} |");
        if let Some(FragmentNote { scheme, words }) = self.fragments {
            let _ = writeln!(text, "| fragments | {words} words each, scheme {scheme} |");
        }
        if let Some(TermNote { scheme }) = self.terms {
            let _ = writeln!(text, "| terms | scheme {scheme} |");
        }
        text += "\n## Groups\n\n";
        text += "Pages of a group were watched together; cycle c is at start + c · step.\n\n";
        text += "| group | start (UTC) | step, seconds | cycles |\n| --- | --- | --- | --- |\n";
        for group in &self.groups {
            let (start, step) = (show_time(group.start_ms), group.step_ms as f64 / 1000.0);
            let _ = writeln!(text, "| {} | {start} | {step} | {} |", group.name, group.cycles);
        }
        text += "\n## Files\n";
        for file in &self.files {
            let _ = write!(
                text,
                "\n### FILE{}\n\n{}\n\n| column | type | meaning |\n| --- | --- | --- |\n",
                file.suffix, file.about
            );
            for column in &file.columns {
                let _ = writeln!(text, "| {} | {} | {} |", column.name, column.kind, column.note);
            }
        }
        text
    }
}
