//! `freshet export`: histories of the store or of a dataset, as a file that others read.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use freshet::dataset::counts::DatasetCounts;
use freshet::dataset::disk::DatasetReader;
use freshet::dataset::export::{ExportOptions, Source, export};
use freshet::dataset::group::GroupInfo;
use freshet::dataset::stored::Stored;
use freshet::report::number;

use crate::cli::{ExportArgs, Global};
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{Talk, json_line, print};

/// The file that was written, as JSON has it.
#[derive(Serialize)]
struct Exported<'a> {
    out: &'a Path,
    format: &'a str,
    name: &'a str,
    groups: &'a [GroupInfo],
    counts: &'a DatasetCounts,
}

pub(crate) fn run(global: &Global, arguments: &ExportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let out = &arguments.out;
    let wrong = |said| Usage(format!("--out is `{}`; {said}", out.display()));
    let format = arguments.format.for_file(out).map_err(wrong)?;
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
    let meta = export(&mut source, format, &arguments.out, &options, &mut |done, all| bar.show(done, all))?;
    bar.finish();
    print(&if global.json {
        let (format, name, groups, counts) = (&meta.format, &meta.name, &meta.groups, &meta.counts);
        json_line(&Exported { out: &arguments.out, format, name, groups, counts })?
    } else {
        said(&arguments.out, &meta.counts)
    })
}

/// One line of what a file or a dataset holds.
pub(crate) fn said(out: &Path, counts: &DatasetCounts) -> String {
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
