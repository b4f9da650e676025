//! `freshet import`: a file of histories, or a recording, into a dataset.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use freshet::dataset::counts::DatasetCounts;
use freshet::dataset::group::GroupInfo;
use freshet::dataset::import::{ImportOptions, import};
use freshet::dataset::parse_time;

use super::export;
use crate::cli::{Global, ImportArgs};
use crate::settings::Usage;
use crate::settings::when;
use crate::terminal::{Talk, json_line, print};

/// The dataset that was made, as JSON has it.
#[derive(Serialize)]
struct Imported<'a> {
    out: &'a Path,
    name: &'a str,
    source: &'a str,
    groups: &'a [GroupInfo],
    counts: &'a DatasetCounts,
}

pub(crate) fn run(global: &Global, arguments: &ImportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let start_ms = arguments.start.as_deref().map(|text| {
        let start = parse_time(text).map(|start| start.millis());
        start.ok_or_else(|| {
            Usage(format!("--start is `{text}`; write a date (2012-11-01) or a time (2012-11-01T08:00:00Z)"))
        })
    });
    let step_ms = arguments.step.as_deref().map(|text| {
        let step = when::duration(text).and_then(|step| i64::try_from(step.as_millis()).ok());
        step.filter(|step| *step > 0)
            .ok_or_else(|| Usage(format!("--step is `{text}`; write a time like 1h, 1d or 1w, above 0")))
    });
    let options = ImportOptions {
        name: arguments.name.clone(),
        start_ms: start_ms.transpose()?,
        step_ms: step_ms.transpose()?,
    };
    let (source, out) = (&arguments.source, &arguments.out);
    let mut bar = talk.count("pages");
    let manifest = import(source, arguments.format, out, &options, &mut |done, all| {
        bar.show(done, all.max(done));
    })?;
    bar.finish();
    print(&if global.json {
        let (name, source, groups) = (&manifest.name, &manifest.source, &manifest.groups);
        json_line(&Imported { out, name, source, groups, counts: &manifest.counts })?
    } else {
        export::said(out, &manifest.counts)
    })
}
