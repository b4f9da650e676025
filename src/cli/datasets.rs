//! Commands that write and read datasets: export and import.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use freshet::dataset::format::{FORMATS, Format};

const EXPORT_EXAMPLES: &str = "\
Examples:
  freshet export --format brdc --out crawl.brdc               one line per page, one character per cycle
  freshet export --format observations --out visits.parquet   every visit; .csv and .jsonl too
  freshet export --format fragments --out texts.parquet       texts over time, as hashed fragments
  freshet export --format rates --out rates.csv               how often each page changes
  freshet export --from DATASET --format lambdacrawl --out d.tsv
  freshet export --format observations-csv --site example.org --since 7d --out - | head
  freshet export --format files --out archive                 the last body of each page, in folders by host
  freshet export --format files --all-versions --out archive  every body; --at 2026-11-16: those of that day

Written beside each file: FILE.README.md and FILE.meta.json: columns, units, period and counts. In the folder of
`files`: index.jsonl, a line for each body.";

/// Write change histories, from the store or a dataset, as a file for other programs
///
/// Histories are of cycles that have ended. Aliases keep their history in `observations`; other formats leave them out and
/// say so. The file appears when it is complete; a link, a pipe or a device is written through. Memory does not grow with
/// the store.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Format of the file
    #[arg(long, value_parser = formats(Format::is_written))]
    pub format: &'static Format,
    /// The file, or `-` for standard output; files that belong to it have its name and an ending of their own. For `files`:
    /// the folder
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Export only pages of this site (`example.org`, `example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub site: Option<String>,
    /// Export only visits, or bodies, since this time: how long ago (12h, 7d), or a date (2026-11-16)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// With `files`: the bodies that the pages had at this time, a date or how long ago
    #[arg(long, value_name = "TIME", conflicts_with = "since")]
    pub at: Option<String>,
    /// With `files`: every version of each page
    #[arg(long)]
    pub all_versions: bool,
    /// Dataset to export instead of the store
    #[arg(long, value_name = "DATASET")]
    pub from: Option<PathBuf>,
    /// Export only this group of the dataset
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Name of the dataset [default: that of the store's file or of the dataset]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  freshet import crawl.brdc --format brdc --out DATASET
  freshet import bits.txt --format brdc --start 2012-11-01 --step 1d --out DATASET
  freshet import visits.csv --format observations --out DATASET
  freshet import RECORDING --format replay --out DATASET      a folder with manifest.jsonl and blobs.sqlite";

/// Read an exported file, or a recording of pages, into a dataset that can be replayed
///
/// A file that `export` wrote has everything that is needed beside it; other files may need --start and --step. A mistake
/// in the file is reported with line and column, and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArgs {
    /// The file, or the folder of a recording
    pub source: PathBuf,
    /// Format of the file
    #[arg(long, value_parser = formats(Format::is_read))]
    pub format: &'static Format,
    /// The dataset: a folder that does not exist yet
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// Name of the dataset [default: the name in the file, or that of the file]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Time of the first cycle, if the file does not have it [default: 1970-01-01, or the first day in the file]
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    /// Time from one cycle to the next, if the file does not have it [default: 1d]
    #[arg(long, value_name = "TIME")]
    pub step: Option<String>,
}

/// Reads `--format`, and lists the formats in the help.
fn formats(listed: impl Fn(&Format) -> bool) -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS.iter().filter(|format| listed(format)).map(|format| {
        let value = PossibleValue::new(format.name).help(format.about);
        format.alias.into_iter().fold(value, PossibleValue::alias)
    });
    PossibleValuesParser::new(values)
        .try_map(|name| Format::named(&name).ok_or_else(|| format!("there is no format `{name}`")))
}
