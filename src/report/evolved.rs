//! Formulas that were bred, drawn: the champion, its history, its terminals and its surface.

use std::path::Path;
use std::time::Duration;

use crate::evolve::champion::{Champion, Tested};
use crate::evolve::explain::{Explained, SHUFFLES, Surface};
use crate::evolve::fitness::Fitness;
use crate::evolve::{EvolveSettings, Generation, Journal};
use crate::policy::expression::Terminal;

use super::plot::{Axis, Plot, Series};
use super::{Align, Table, number, shell_word, span, with_interval, without_interval};

/// How a champion names the spec of made-up pages it was bred on.
pub const SYNTHETIC: &str = "synthetic:";
/// How a champion names the store it was bred on.
pub const STORE: &str = "store:";

/// The champion, its scores and what it took to breed it.
pub fn champion(champion: &Champion, out: &Path, plot: &Path) -> String {
    let mut text = format!("champion: {}\n", champion.formula);
    if champion.equivalent != champion.formula {
        text += &format!("shortened from: {}\n", champion.equivalent);
    }
    let (scores, fitness) = (&champion.scores, champion.settings.fitness.name());
    text += &format!(
        "{fitness}: training {:.4}, validation {:.4}{}, all pages {:.4}\n",
        scores.training,
        scores.validation,
        scores.test.map_or(String::new(), |test| format!(", test {test:.4}")),
        scores.all
    );
    if !scores.tests.is_empty() {
        let mut table = Table::new(&[
            ("selection", Align::Left),
            (&format!("{fitness} on pages not seen"), Align::Right),
            ("folds", Align::Right),
        ]);
        for Tested { selection, mean, off, folds } in &scores.tests {
            let figure = with_interval(*mean, *off, *folds);
            table.row([selection.name().to_owned(), figure, folds.to_string()]);
        }
        text += &without_interval(table.render(), "folds");
    }
    let effort = &champion.effort;
    text += &format!(
        "{} formulas bred, {} replays, {:.2e} node evaluations, {} ({:.2e} a second)\n",
        number(effort.formulas),
        number(effort.replays),
        effort.node_evaluations as f64,
        span(Duration::try_from_secs_f64(effort.seconds).unwrap_or_default()),
        effort.node_evaluations as f64 / effort.seconds.max(1e-9)
    );
    text + &format!(
        "written: {} and {}\ntry: freshet simulate {}\n",
        out.display(),
        plot.display(),
        simulate_arguments(champion, out)
    )
}

/// The arguments of `freshet simulate` that give the champion's figure on all pages again.
fn simulate_arguments(champion: &Champion, out: &Path) -> String {
    let data = match (champion.data.strip_prefix(SYNTHETIC), champion.data.strip_prefix(STORE)) {
        (Some(spec), _) => format!("--synthetic {}", shell_word(spec)),
        (_, Some(path)) => format!("--store {}", shell_word(path)),
        _ => shell_word(&champion.data),
    };
    let EvolveSettings { budget, warm_up, least_pages, .. } = champion.settings;
    let usual = EvolveSettings::default();
    let policies = shell_word(&format!("evolved:{},nad,age", out.display()));
    let mut arguments = format!("{data} --policy {policies} --budget {}", budget_argument(budget));
    if warm_up != usual.warm_up {
        arguments += &format!(" --warm-up {warm_up}");
    }
    if least_pages != usual.least_pages {
        arguments += &format!(" --least-pages {least_pages}");
    }
    arguments
}

/// A share as `--budget` takes it: in percent, if that is read as the same number.
fn budget_argument(share: f64) -> String {
    let percent = (share * 1e6).round() / 1e4;
    if percent / 100.0 == share { format!("{percent}%") } else { share.to_string() }
}

/// The best and the mean, generation by generation, over all runs.
pub fn history(journal: &Journal) -> String {
    let EvolveSettings { fitness, .. } = journal.settings;
    let runs: Vec<&[Generation]> = journal
        .finished
        .iter()
        .map(|run| run.history.as_slice())
        .chain(journal.current.iter().map(|current| current.history.as_slice()))
        .collect();
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let title = format!("{} by generation, {} runs", fitness.name(), runs.len());
    let curve = |name: &str, of: fn(&Generation) -> f64| {
        let at = |generation: usize| runs.iter().filter_map(move |run| run.get(generation)).map(of);
        let mean = (0..longest).map(|generation| {
            let count = at(generation).count().max(1) as f64;
            ((generation + 1) as f64, at(generation).sum::<f64>() / count)
        });
        let band = (0..longest).map(|generation| {
            let (low, high) =
                (at(generation).fold(f64::INFINITY, f64::min), at(generation).fold(0.0, f64::max));
            ((generation + 1) as f64, low, high)
        });
        Series::line(name, mean).band(band)
    };
    Plot::new(title, Axis::linear("generation"), Axis::linear(fitness.name()))
        .with(curve("best so far", |generation| generation.best))
        .with(curve("mean of all", |generation| generation.mean))
        .svg()
}

/// The terminals of a formula, by how much they matter.
pub fn explanation(found: &Explained, formula: &str, fitness: Fitness, plot: &Path) -> String {
    let mut text = format!(
        "{formula}\n{} {:.4} on {} pages; score lost when an input is shuffled between pages:\n",
        fitness.name(),
        found.worth,
        number(found.pages as u64)
    );
    let mut table =
        Table::new(&[("terminal", Align::Left), ("loss", Align::Right), ("meaning", Align::Left)]);
    for one in &found.terminals {
        table.row([
            one.terminal.name().to_owned(),
            with_interval(one.loss, one.off, SHUFFLES as usize),
            one.terminal.about().to_owned(),
        ]);
    }
    text += &table.render();
    text + &format!("written: {}\n", plot.display())
}

/// The score by the two terminals that matter most, in ten shades: the darkest tenth is visited first.
pub fn surface(surface: &Surface, formula: &str) -> String {
    const SHADES: usize = 10;
    let label = |terminal: Terminal| Axis::linear(format!("{}: {}", terminal.name(), terminal.about()));
    let mut plot = Plot::new(shortened(formula), label(surface.across), label(surface.up));
    for shade in (0..SHADES).rev() {
        let is_own = |rank: f64| ((rank * SHADES as f64) as usize).min(SHADES - 1) == shade;
        let cells = surface.cells.iter().filter(|cell| is_own(cell.2)).map(|(x, y, _)| (*x, *y));
        let name = match shade {
            0 => "visited last".to_owned(),
            9 => "visited first".to_owned(),
            _ => " ".to_owned(),
        };
        plot = plot.with(Series::cells(name, cells, surface.cell, 0.05 + 0.95 * shade as f64 / 9.0));
    }
    plot.svg()
}

/// The beginning of a formula, as long as a line has room for.
pub fn shortened(formula: &str) -> String {
    const MOST: usize = 48;
    if formula.chars().count() <= MOST {
        return formula.to_owned();
    }
    formula.chars().take(MOST - 1).chain(['…']).collect()
}
