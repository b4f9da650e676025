//! `freshet evolve --explain FILE`: which inputs of a formula matter, and the score as a surface.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Serialize;

use freshet::dataset::stored::backtest;
use freshet::dataset::{Dataset, WantedWords};
use freshet::evolve::champion::Champion;
use freshet::evolve::explain::explain;
use freshet::report::evolved::{self, STORE, SYNTHETIC};

use super::{load, made_up, write};
use crate::cli::{EvolveArgs, Global};
use crate::settings::Usage;
use crate::terminal::{Talk, json_line, print};

/// The importance of the inputs of a formula, as JSON has it.
#[derive(Serialize)]
struct ExplainedFormula<'a> {
    formula: &'a str,
    fitness: &'a str,
    worth: f64,
    pages: usize,
    /// The one that matters most first.
    terminals: Vec<TerminalLoss>,
    plot: &'a Path,
}

/// The score lost when a terminal is shuffled between pages.
#[derive(Serialize)]
struct TerminalLoss {
    terminal: &'static str,
    loss: f64,
    /// How far that may be off 19 times out of 20.
    off: Option<f64>,
}

pub(super) fn explained(
    global: &Global,
    arguments: &EvolveArgs,
    path: &Path,
    talk: &Talk,
) -> anyhow::Result<ExitCode> {
    let champion = Champion::read(path).map_err(|error| Usage(format!("--explain: {error}")))?;
    let formula = champion.expression().map_err(Usage)?;
    let named = arguments.dataset.is_some() || arguments.synthetic.is_some() || global.store.is_some();
    let dataset = if named { load(global, arguments, talk)? } else { own_data(&champion, talk)? };
    let found = explain(&dataset, &formula, &champion.settings).ok_or_else(|| {
        Usage(format!(
            "{}: no page has a cycle left after its first copy and {} cycles of warm-up",
            dataset.name, champion.settings.warm_up
        ))
    })?;
    let plot = path.with_extension("surface.svg");
    write(&plot, evolved::surface(&found.surface, &champion.formula).as_bytes())?;
    print(&if global.json {
        let terminals = found.terminals.iter().map(|one| TerminalLoss {
            terminal: one.terminal.name(),
            loss: one.loss,
            off: one.off,
        });
        json_line(&ExplainedFormula {
            formula: &champion.formula,
            fitness: champion.settings.fitness.name(),
            worth: found.worth,
            pages: found.pages,
            terminals: terminals.collect(),
            plot: &plot,
        })?
    } else {
        evolved::explanation(&found, &champion.formula, champion.settings.fitness, &plot)
    })
}

/// The data that the champion was bred on.
fn own_data(champion: &Champion, talk: &Talk) -> anyhow::Result<Dataset> {
    let data = champion.data.as_str();
    let hint = "name the data to explain it by: a dataset, --synthetic SPEC or --store PATH";
    if let Some(spec) = data.strip_prefix(SYNTHETIC) {
        return Ok(made_up(spec)?);
    }
    if let Some(path) = data.strip_prefix(STORE) {
        return Ok(backtest(Path::new(path), WantedWords::None).with_context(|| hint)?.dataset);
    }
    if data.is_empty() {
        return Err(Usage(format!("the file does not say what the formula was bred on; {hint}")).into());
    }
    talk.say(&format!("using {data}, the data that it was bred on"));
    Dataset::load(Path::new(data)).with_context(|| hint)
}
