//! `freshet reproduce`: a paper's experiments, run again: tables on standard output, plots and CSV files in a folder; for all papers
//! also a page with all of them.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde::Serialize;

use freshet::dataset::{Dataset, WantedWords};
use freshet::report::counted;
use freshet::report::reproduced::{self, figure_file, table_file};
use freshet::report::reproduced_page::{self, ReproducedPaper};
use freshet::reproduce::registry::{PAPERS, PaperRow, paper};
use freshet::reproduce::{Effort, FigureCurve, Numbers, Reproduced};
use freshet::whole_file;

use crate::cli::{ALL_PAPERS, Global, ReproduceArgs};
use crate::terminal::{Talk, json_line};

/// The experiments of one paper and the files they are in, as JSON has them.
#[derive(Serialize)]
struct ReproducedFiles<'a> {
    runs: u32,
    seed: u64,
    files: &'a [PathBuf],
    reproduced: &'a Reproduced,
}

/// The experiments of all papers, as JSON has them.
#[derive(Serialize)]
struct AllReproduced<'a> {
    runs: u32,
    seed: u64,
    files: &'a [PathBuf],
    papers: &'a [RanPaper],
}

/// One of several papers.
#[derive(Serialize)]
struct RanPaper {
    name: &'static str,
    took_seconds: f64,
    reproduced: Reproduced,
}

pub(crate) fn run(global: &Global, arguments: &ReproduceArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let effort = Effort { runs: arguments.runs, seed: arguments.seed };
    let Some(row) = paper(&arguments.paper) else { return run_all(global, arguments, effort, talk) };
    let dataset = dataset(row, &arguments.datasets)?;
    make_folder(&arguments.out)?;
    let found = (row.run)(effort, dataset.as_ref(), &mut |what: &str| talk.say(what));
    let files = write_files(&arguments.out, row.name, &found)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if global.json {
        let Effort { runs, seed } = effort;
        let all = ReproducedFiles { runs, seed, files: &files, reproduced: &found };
        out.write_all(json_line(&all)?.as_bytes())?;
    } else {
        out.write_all(reproduced::tables(&found).as_bytes())?;
    }
    out.flush()?;
    talk.say(&format!("{} in {}", counted(files.len(), "file"), arguments.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// Every paper, and a page with links to every file.
fn run_all(
    global: &Global,
    arguments: &ReproduceArgs,
    effort: Effort,
    talk: &Talk,
) -> anyhow::Result<ExitCode> {
    if let Some(dataset) = arguments.datasets.first() {
        bail!(
            "`{}` is a dataset: `{ALL_PAPERS}` runs on made-up pages only; leave it out, or name one paper that takes a dataset",
            dataset.display()
        );
    }
    make_folder(&arguments.out)?;
    let index = arguments.out.join("index.html");
    let (mut papers, mut files): (Vec<RanPaper>, Vec<PathBuf>) = (Vec::new(), vec![index.clone()]);
    for row in PAPERS {
        let started = Instant::now();
        let reproduced =
            (row.run)(effort, None, &mut |what: &str| talk.say(&format!("{}: {what}", row.name)));
        let took_seconds = started.elapsed().as_secs_f64();
        files.extend(write_files(&arguments.out, row.name, &reproduced)?);
        if !global.json {
            let mut out = std::io::stdout().lock();
            out.write_all(format!("{}\n", reproduced::tables(&reproduced)).as_bytes())?;
        }
        papers.push(RanPaper { name: row.name, took_seconds, reproduced });
        // After each paper, so that there is a page to look at while the others run.
        let shown = papers.iter().map(|paper| ReproducedPaper {
            name: paper.name,
            took_seconds: paper.took_seconds,
            found: &paper.reproduced,
        });
        let page = reproduced_page::index(&shown.collect::<Vec<_>>(), effort);
        whole_file::write(&index, page.as_bytes())
            .with_context(|| format!("can't write `{}`", index.display()))?;
    }
    if global.json {
        let Effort { runs, seed } = effort;
        let all = AllReproduced { runs, seed, files: &files, papers: &papers };
        std::io::stdout().lock().write_all(json_line(&all)?.as_bytes())?;
    }
    let seconds: f64 = papers.iter().map(|paper| paper.took_seconds).sum();
    talk.say(&format!("{} files after {seconds:.0} seconds: open `{}`", files.len(), index.display()));
    Ok(ExitCode::SUCCESS)
}

/// Before the work, which takes a while.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    whole_file::make_folder(folder).with_context(|| format!("can't make `{}`", folder.display()))
}

/// The groups of these datasets as one dataset; `None` if none was given.
fn dataset(row: PaperRow, paths: &[PathBuf]) -> anyhow::Result<Option<Dataset>> {
    let Some(path) = paths.first() else { return Ok(None) };
    let Some(check) = row.dataset else {
        let others: Vec<String> =
            PAPERS.iter().filter(|row| row.dataset.is_some()).map(|row| format!("`{}`", row.name)).collect();
        bail!(
            "`{}` is a dataset: the experiments of this paper are on made-up pages only; leave it out, or take {}",
            path.display(),
            others.join(" or ")
        );
    };
    let wanted = if row.words { WantedWords::All } else { WantedWords::None };
    let mut all = Dataset::load_with(path, wanted)?;
    for path in paths.iter().skip(1) {
        let more = Dataset::load_with(path, wanted)?;
        if let Some(group) =
            more.groups.iter().find(|group| all.groups.iter().any(|own| own.name == group.name))
        {
            bail!(
                "{}: another dataset has a group `{}`, too; name each dataset once",
                path.display(),
                group.name
            );
        }
        all.groups.extend(more.groups);
    }
    match check(&all) {
        Ok(()) => Ok(Some(all)),
        Err(why) => {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            bail!("{}: {why}", names.join(", "))
        }
    }
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
            let name = figure_file(paper, figure);
            write(format!("{name}.svg"), reproduced::picture(figure).svg().as_bytes())?;
            write(format!("{name}.csv"), &curves_csv(&figure.curves)?)?;
        }
        for (table, at) in experiment.tables.iter().zip(1..) {
            write(table_file(paper, experiment, at), &table_csv(table)?)?;
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
