//! `freshet export`: histories of the store or of a dataset, as a file that others read.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use freshet::dataset::counts::DatasetCounts;
use freshet::dataset::disk::DatasetReader;
use freshet::dataset::observations::Encoding;
use freshet::dataset::stored::Stored;
use freshet::dataset::transfer::{self, ExportOptions, Format, Source};
use freshet::report::number;

use crate::cli::{ExportArgs, ExportFormat, Global};
use crate::settings::{Given, Settings, Usage};
use crate::terminal::Talk;

pub fn run(global: &Global, arguments: &ExportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let format = format(arguments.format, &arguments.out)?;
    let mut source = match &arguments.from {
        Some(path) => Source::Dataset(Box::new(DatasetReader::open(path)?)),
        None => {
            let settings = Settings::load(global, &Given::default())?;
            let stored = Stored::open(&settings.store, settings.change.fragment_words)?;
            if stored.open_cycle {
                talk.say("a cycle has not ended: its visits are left out; `freshet crawl` goes on with it");
            }
            Source::Store(Box::new(stored))
        }
    };
    let options = ExportOptions { group: arguments.group.clone(), name: arguments.name.clone() };
    let mut bar = talk.count("pages");
    let meta = transfer::export(&mut source, format, &arguments.out, &options, &mut |done, all| {
        bar.show(done, all)
    })?;
    bar.finish();
    let text = if global.json {
        json!({ "out": arguments.out, "format": meta.format, "name": meta.name, "groups": meta.groups,
                "counts": meta.counts })
        .to_string()
            + "\n"
    } else {
        said(&arguments.out, &meta.counts)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One line of what a file or a dataset holds.
pub fn said(out: &Path, counts: &DatasetCounts) -> String {
    let period = match &counts.period {
        Some((first, last)) => format!(", {first} to {last}"),
        None => String::new(),
    };
    format!(
        "{}: {} pages of {} sites, {} visits, {} changes{period}\n",
        out.display(),
        number(counts.pages),
        number(counts.sites),
        number(counts.visits),
        number(counts.changes),
    )
}

fn format(argument: ExportFormat, out: &Path) -> Result<Format, Usage> {
    let ending = || out.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    Ok(match argument {
        ExportFormat::Brdc => Format::Brdc,
        ExportFormat::Lambdacrawl => Format::Lambdacrawl,
        ExportFormat::Observations => Format::Observations(match ending().as_deref() {
            Some("csv") => Encoding::Csv,
            Some("jsonl" | "ndjson" | "json") => Encoding::JsonLines,
            Some("parquet") => Encoding::Parquet,
            _ => {
                let out = out.display();
                return Err(Usage(format!(
                    "--out is `{out}`; observations need a file that ends in .csv, .jsonl or .parquet, or a --format \
                     observations-csv, observations-jsonl or observations-parquet"
                )));
            }
        }),
        ExportFormat::ObservationsCsv => Format::Observations(Encoding::Csv),
        ExportFormat::ObservationsJsonl => Format::Observations(Encoding::JsonLines),
        ExportFormat::ObservationsParquet => Format::Observations(Encoding::Parquet),
        ExportFormat::Fragments => Format::Fragments,
        ExportFormat::Rates => Format::Rates,
    })
}
