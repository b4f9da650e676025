//! `freshet import`: a file of histories, or a recording, into a dataset.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

use freshet::dataset::import::{ImportOptions, import};
use freshet::dataset::parse_time;

use super::export;
use crate::cli::{Global, ImportArgs};
use crate::settings::Usage;
use crate::settings::when;
use crate::terminal::Talk;

pub fn run(global: &Global, arguments: &ImportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
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
    let text = if global.json {
        json!({ "out": out, "name": manifest.name, "source": manifest.source, "groups": manifest.groups,
                "counts": manifest.counts })
        .to_string()
            + "\n"
    } else {
        export::said(out, &manifest.counts)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
