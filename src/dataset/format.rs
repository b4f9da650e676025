//! The formats of change histories, one row each.
//!
//! `freshet export --format` and `freshet import --format` take their values and help from [`FORMATS`]. Every row goes to
//! and from [`PageRecord`]s one page at a time. What must stay true: a file that is written, read and written again has
//! the same bytes.

use std::fmt;
use std::path::Path;

use super::disk::Manifest;
use super::group::GroupInfo;
use super::import::ImportedFile;
use super::metadata::FileNote;
use super::observations::Encoding;
use super::page_record::PageRecord;
use super::rows_to_pages::TakePage;
use super::signals::SignalsBeside;
use super::{DatasetError, brdc, fragments, lambdacrawl, observations, rates, recording};

/// A row of [`FORMATS`].
pub struct Format {
    /// The name on the command line and in the metadata of exports.
    pub name: &'static str,
    /// Another name on the command line.
    pub alias: Option<&'static str>,
    /// One line of help.
    pub about: &'static str,
    /// Endings of its files, the usual one first. They choose the format where a row leaves it to the name of the file.
    endings: &'static [&'static str],
    pub(super) write: Write,
    pub(super) read: Read,
}

/// How a format is written.
pub(super) enum Write {
    /// It is only read.
    Never,
    /// Page by page.
    Pages(PageFormat),
    /// As the format among these rows that has the file's ending.
    ByEnding(&'static [&'static str]),
    /// A folder with the bodies of pages, by [`super::bodies`].
    Bodies,
}

/// The functions of a format that is written page by page.
pub(super) struct PageFormat {
    /// Writes all pages into a new file, and the files that go with it.
    pub write: fn(&Path, EachRecord<'_>) -> Result<(), DatasetError>,
    /// The part of a page that the format can hold. Only this is written, so that reading gives it back unchanged.
    pub keeps: fn(&PageRecord, &GroupInfo) -> Option<PageRecord>,
    /// The files and their columns, for the metadata.
    pub files: fn() -> Vec<FileNote>,
    /// Whether it has a column for the page that stands for another one. Formats without it leave such pages out.
    pub has_aliases: bool,
    /// Whether it has a row for each visit, so that some of them can be chosen.
    pub has_visits: bool,
    /// Why it may have another number of visits and changes than its source.
    pub visits_note: &'static str,
    /// Where signals go.
    pub signals: SignalsBeside,
    /// Whether the texts of pages are needed.
    pub needs_texts: bool,
    /// Whether these groups fit into one file; the error says what to do.
    pub fits: fn(&[GroupInfo]) -> Result<(), String>,
}

/// Takes one page to write.
pub(super) type WritePage<'a> = &'a mut dyn FnMut(&PageRecord, &GroupInfo) -> Result<(), DatasetError>;

/// Calls the given function with every page that is to be written.
pub(super) type EachRecord<'a> = &'a mut dyn FnMut(WritePage<'_>) -> Result<(), DatasetError>;

/// Reads a file page by page; gives the groups too, if the file has them.
pub(super) type ReadPages =
    fn(&ImportedFile<'_>, TakePage<'_>) -> Result<Option<Vec<GroupInfo>>, DatasetError>;

/// Told how many of how many pages are done.
pub(super) type TellProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// How a format is read.
pub(super) enum Read {
    /// It is only written.
    Never,
    /// Page by page.
    Pages {
        /// Reads the file.
        read: ReadPages,
        /// Time of the first cycle if nothing says it; `None`: that of the first visit.
        start_ms: Option<i64>,
    },
    /// A folder, into the folder of a dataset.
    Folder(fn(&Path, &Path, &str, TellProgress<'_>) -> Result<Manifest, DatasetError>),
    /// As the format that the first bytes of the file show.
    Sniffed(fn(&Path) -> Result<&'static str, DatasetError>),
}

const fn any_groups(_: &[GroupInfo]) -> Result<(), String> {
    Ok(())
}

/// Every format.
pub static FORMATS: &[Format] = &[
    Format {
        name: "brdc",
        alias: None,
        about: "BRDC'12: one line per page, `0` or `1` per cycle; import reads the older `site page bits` too",
        endings: &["brdc"],
        write: Write::Pages(PageFormat {
            write: brdc::write,
            keeps: brdc::kept,
            files: brdc::files,
            has_aliases: false,
            has_visits: false,
            visits_note: "it has one visit for each cycle from the first copy on, whether there was one or not",
            signals: SignalsBeside::None,
            needs_texts: false,
            fits: brdc::fits,
        }),
        read: Read::Pages { read: brdc::read, start_ms: None },
    },
    Format {
        name: "lambdacrawl",
        alias: None,
        about: "PoliteCrawling: gaps, change bits and importance; import reads the published folder too",
        endings: &["tsv"],
        write: Write::Pages(PageFormat {
            write: lambdacrawl::write,
            keeps: lambdacrawl::kept,
            files: lambdacrawl::files,
            has_aliases: false,
            has_visits: false,
            visits_note: "it has the first copy of a page and the visits that could compare",
            signals: SignalsBeside::None,
            needs_texts: false,
            fits: any_groups,
        }),
        // Offsets count from the start.
        read: Read::Pages { read: lambdacrawl::read, start_ms: Some(0) },
    },
    Format {
        name: "observations",
        alias: None,
        about: "Every visit, as CSV, JSON lines or Parquet; export chooses by the ending of the file (.csv, .jsonl, .parquet)",
        endings: &[],
        write: Write::ByEnding(&["observations-csv", "observations-jsonl", "observations-parquet"]),
        read: Read::Sniffed(observations::sniff),
    },
    Format {
        name: "observations-csv",
        alias: Some("csv"),
        about: "Every visit, as CSV",
        endings: &["csv"],
        write: Write::Pages(PageFormat {
            write: |path, each| observations::write(path, Encoding::Csv, each),
            keeps: observations::kept,
            files: || observations::files(Encoding::Csv),
            has_aliases: true,
            has_visits: true,
            visits_note: "",
            signals: SignalsBeside::Csv,
            needs_texts: false,
            fits: any_groups,
        }),
        read: Read::Pages {
            read: |from, take| observations::read(from, Encoding::Csv, take),
            start_ms: None,
        },
    },
    Format {
        name: "observations-jsonl",
        alias: Some("jsonl"),
        about: "Every visit, as JSON lines",
        endings: &["jsonl", "ndjson", "json"],
        write: Write::Pages(PageFormat {
            write: |path, each| observations::write(path, Encoding::JsonLines, each),
            keeps: observations::kept,
            files: || observations::files(Encoding::JsonLines),
            has_aliases: true,
            has_visits: true,
            visits_note: "",
            signals: SignalsBeside::Csv,
            needs_texts: false,
            fits: any_groups,
        }),
        read: Read::Pages {
            read: |from, take| observations::read(from, Encoding::JsonLines, take),
            start_ms: None,
        },
    },
    Format {
        name: "observations-parquet",
        alias: Some("parquet"),
        about: "Every visit, in Parquet",
        endings: &["parquet"],
        write: Write::Pages(PageFormat {
            write: |path, each| observations::write(path, Encoding::Parquet, each),
            keeps: observations::kept,
            files: || observations::files(Encoding::Parquet),
            has_aliases: true,
            has_visits: true,
            visits_note: "",
            signals: SignalsBeside::Parquet,
            needs_texts: false,
            fits: any_groups,
        }),
        read: Read::Pages {
            read: |from, take| observations::read(from, Encoding::Parquet, take),
            start_ms: None,
        },
    },
    Format {
        name: "fragments",
        alias: None,
        about: "Texts over time, as sorted hashes of fragments and of words, in Parquet",
        endings: &["parquet"],
        write: Write::Pages(PageFormat {
            write: fragments::write,
            keeps: fragments::kept,
            files: fragments::files,
            has_aliases: false,
            has_visits: false,
            visits_note: "it has the visits that found another text",
            signals: SignalsBeside::Parquet,
            needs_texts: true,
            fits: any_groups,
        }),
        read: Read::Pages { read: fragments::read, start_ms: None },
    },
    Format {
        name: "rates",
        alias: None,
        about: "How often pages change, as CSV; import spreads the changes evenly over time",
        endings: &["csv"],
        write: Write::Pages(PageFormat {
            write: rates::write,
            keeps: rates::kept,
            files: rates::files,
            has_aliases: false,
            has_visits: false,
            visits_note: "it has the first copy of a page and the visits that could compare",
            signals: SignalsBeside::None,
            needs_texts: false,
            fits: any_groups,
        }),
        read: Read::Pages { read: rates::read, start_ms: None },
    },
    Format {
        name: "replay",
        alias: None,
        about: "A recording: a folder with manifest.jsonl and blobs.sqlite",
        endings: &[],
        write: Write::Never,
        read: Read::Folder(recording::read_into),
    },
    Format {
        name: "files",
        alias: None,
        about: "Bodies of pages as files in folders by host, with an index; export only",
        endings: &[],
        write: Write::Bodies,
        read: Read::Never,
    },
];

impl Format {
    /// The format of this name or alias.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name || format.alias == Some(name))
    }

    /// Whether it can be exported.
    pub fn is_written(&self) -> bool {
        !matches!(self.write, Write::Never)
    }

    /// Why a file of it may have another number of visits and changes than its source; empty: it has all of them.
    pub fn visits_note(&self) -> &'static str {
        match &self.write {
            Write::Pages(pages) => pages.visits_note,
            _ => "",
        }
    }

    /// Whether a file of it has the texts of pages.
    pub fn needs_texts(&self) -> bool {
        matches!(&self.write, Write::Pages(pages) if pages.needs_texts)
    }

    /// Whether it can be imported.
    pub fn is_read(&self) -> bool {
        !matches!(self.read, Read::Never)
    }

    /// Whether it is a folder with the bodies of pages, which [`super::bodies::export_bodies`] writes.
    pub fn is_bodies(&self) -> bool {
        matches!(self.write, Write::Bodies)
    }

    /// The format in which a file of this name is written: this one, or the one that the ending chooses. `-`, standard output,
    /// has no ending: the first of them is taken.
    pub fn for_file(&'static self, out: &Path) -> Result<&'static Self, String> {
        let Write::ByEnding(names) = self.write else { return Ok(self) };
        if *out == *Path::new("-")
            && let Some(first) = names.first().and_then(|name| Self::named(name))
        {
            return Ok(first);
        }
        let ending =
            out.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        let among: Vec<&Self> = names.iter().filter_map(|name| Self::named(name)).collect();
        let found = among.iter().find(|format| format.endings.contains(&ending.as_str()));
        found.copied().ok_or_else(|| {
            let endings = among.iter().filter_map(|format| format.endings.first());
            format!(
                "`{}` needs a file that ends in {}, or one of the formats {}",
                self.name,
                either(endings.map(|ending| format!(".{ending}")).collect()),
                either(names.iter().map(|name| format!("`{name}`")).collect())
            )
        })
    }
}

/// `a, b or c`.
fn either(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_explained() {
        let mut names: Vec<&str> =
            FORMATS.iter().flat_map(|row| [Some(row.name), row.alias]).flatten().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(FORMATS.iter().all(|row| !row.about.is_empty()));
    }

    #[test]
    fn a_row_that_names_others_names_rows_that_are_written_and_read_page_by_page() {
        for row in FORMATS {
            let Write::ByEnding(names) = row.write else { continue };
            for name in names {
                let named = Format::named(name).expect("a row");
                assert!(matches!(named.write, Write::Pages(_)) && matches!(named.read, Read::Pages { .. }));
                let file = format!("visits.{}", named.endings[0].to_uppercase());
                assert_eq!(row.for_file(Path::new(&file)).map(|found| found.name), Ok(*name));
            }
        }
    }

    #[test]
    fn an_ending_that_chooses_nothing_is_told_with_the_choice() {
        let observations = Format::named("observations").expect("a row");
        let said = observations.for_file(Path::new("visits")).expect_err("no ending");
        assert_eq!(
            said,
            "`observations` needs a file that ends in .csv, .jsonl or .parquet, or one of the formats \
             `observations-csv`, `observations-jsonl` or `observations-parquet`"
        );
        assert_eq!(observations.for_file(Path::new("-")).map(|found| found.name), Ok("observations-csv"));
        let brdc = Format::named("brdc").expect("a row");
        assert_eq!(brdc.for_file(Path::new("x")).map(|found| found.name), Ok("brdc"));
    }
}
