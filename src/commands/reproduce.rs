//! `freshet reproduce`: a paper's experiments, run again: tables on standard output, plots and CSV files in a folder.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;

use freshet::dataset::Dataset;
use freshet::report::reproduced;
use freshet::reproduce::{
    Effort, FigureCurve, Numbers, Reproduced, avrachenkov, gp4c, grimes_ford, longevity,
};
use freshet::whole_file;

use crate::cli::{Global, Paper, ReproduceArgs};
use crate::terminal::{Talk, json_line};

/// The experiments and the files they are in, as JSON has them.
#[derive(Serialize)]
struct ReproducedFiles<'a> {
    runs: u32,
    seed: u64,
    files: &'a [PathBuf],
    reproduced: &'a Reproduced,
}

pub(crate) fn run(global: &Global, arguments: &ReproduceArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    if let (Some(dataset), Paper::Avrachenkov | Paper::GrimesFord) = (&arguments.dataset, arguments.paper) {
        bail!(
            "`{}` is a dataset: the experiments of this paper are on made-up pages only; leave it out, or take `longevity` or `gp4c`",
            dataset.display()
        );
    }
    let dataset = match (&arguments.dataset, arguments.paper) {
        (Some(path), Paper::Longevity) => Some(recorded(path)?),
        (Some(path), _) => Some(Dataset::load(path)?),
        (None, _) => None,
    };
    let effort = Effort { runs: arguments.runs, seed: arguments.seed };
    // Before the work, which takes a while.
    whole_file::make_folder(&arguments.out)
        .with_context(|| format!("can't make `{}`", arguments.out.display()))?;
    let mut told = |what: &str| talk.say(what);
    let (name, found) = match arguments.paper {
        Paper::Avrachenkov => ("avrachenkov", avrachenkov::run(effort, &mut told)),
        Paper::GrimesFord => ("grimes-ford", grimes_ford::run(effort, &mut told)),
        Paper::Gp4c => ("gp4c", gp4c::run(effort, dataset.as_ref(), &mut told)),
        Paper::Longevity => ("longevity", longevity::run(effort, dataset.as_ref(), &mut told)),
    };
    let files = write_files(&arguments.out, name, &found)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if global.json {
        let Effort { runs, seed } = effort;
        out.write_all(
            json_line(&ReproducedFiles { runs, seed, files: &files, reproduced: &found })?.as_bytes(),
        )?;
    } else {
        out.write_all(reproduced::tables(&found).as_bytes())?;
    }
    out.flush()?;
    talk.say(&format!("{} files in {}", files.len(), arguments.out.display()));
    Ok(ExitCode::SUCCESS)
}

fn recorded(path: &Path) -> anyhow::Result<Dataset> {
    let dataset = Dataset::load(path)?;
    if longevity::pages(&dataset) == 0 {
        bail!("{}: no page was watched at {} cycles or more", path.display(), longevity::FEWEST_MOMENTS);
    }
    Ok(dataset)
}

/// A plot and its numbers for each figure, and the tables; the names of all.
fn write_files(folder: &Path, paper: &str, found: &Reproduced) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut write = |name: String, text: &[u8]| -> anyhow::Result<()> {
        let path = folder.join(name);
        whole_file::write(&path, text).with_context(|| format!("can't write `{}`", path.display()))?;
        files.push(path);
        Ok(())
    };
    for experiment in &found.experiments {
        for figure in &experiment.figures {
            let name = format!("{paper}-{}", figure.name);
            write(format!("{name}.svg"), reproduced::picture(figure).svg().as_bytes())?;
            write(format!("{name}.csv"), &curves_csv(&figure.curves)?)?;
        }
        for (table, at) in experiment.tables.iter().zip(1..) {
            write(format!("{paper}-{}-table-{at}.csv", experiment.name), &table_csv(table)?)?;
        }
    }
    Ok(files)
}

fn curves_csv(curves: &[FigureCurve]) -> anyhow::Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["curve", "x", "y", "low", "high"])?;
    for curve in curves {
        for point in &curve.points {
            let [low, high] = match point.bounds {
                Some((low, high)) => [number(low), number(high)],
                None => [String::new(), String::new()],
            };
            csv.write_record([curve.name.clone(), number(point.x), number(point.y), low, high])?;
        }
    }
    Ok(csv.into_inner()?)
}

fn table_csv(table: &Numbers) -> anyhow::Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&table.heads)?;
    for (name, values) in &table.rows {
        csv.write_record(std::iter::once(name.clone()).chain(values.iter().map(|value| number(*value))))?;
    }
    Ok(csv.into_inner()?)
}

/// Empty if unknown.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
