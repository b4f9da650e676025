//! `freshet evolve`: a score function, bred from recorded histories.

mod explain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;

use freshet::dataset::{Dataset, WantedWords};
use freshet::evolve::champion::Champion;
use freshet::evolve::{self, EvolveProgress, EvolveSettings, Generation, Journal};
use freshet::policy::expression::Terminal;
use freshet::report::evolved::{self, STORE, SYNTHETIC};
use freshet::report::{Align, Table, counted, number};
use freshet::whole_file::{self, OutPlace};

use crate::cli::{EvolveArgs, Global};
use crate::histories;
use crate::interrupts;
use crate::settings::Usage;
use crate::terminal::{Talk, json_line, print};
use crate::threads;

/// A champion and its files, as JSON has them.
#[derive(Serialize)]
struct ChampionFiles<'a> {
    champion: &'a Champion,
    file: &'a Path,
    plot: &'a Path,
}

pub(crate) fn run(global: &Global, arguments: &EvolveArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    if arguments.terminals.iter().any(|name| name == "help") {
        return list_terminals();
    }
    if let Some(path) = &arguments.explain {
        return explain::explained(global, arguments, path, talk);
    }
    let settings = settings(arguments)?;
    let (journal_path, plot) = beside(&arguments.out)?;
    // Before the work, which takes a while.
    let place = OutPlace::of(&arguments.out)
        .with_context(|| format!("`{}` can't be written", arguments.out.display()))?;
    if place.is_stream() {
        let said = "is a pipe or a device, and the journal and the plot go beside it; name a file";
        return Err(Usage(format!("--out is `{}`, which {said}", arguments.out.display())).into());
    }
    let dataset = load(global, arguments, talk)?;
    evolve::check(&dataset, &settings).map_err(|said| Usage(format!("{}: {said}", dataset.name)))?;
    let signal = listen(talk);
    let journal = continued(arguments, &journal_path, &dataset, &settings, talk)?;
    // Before the work, which takes a while.
    save(&journal_path, &journal)?;
    let threads = arguments.threads.map_or(0, |threads| threads as usize);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("threads can't be started")?;
    let data = data_name(global, arguments);
    let (journal, champion) = pool.install(|| bred(&dataset, journal, &journal_path, &signal, talk, data))?;
    let Some(champion) = champion else {
        anyhow::ensure!(signal.load(Ordering::SeqCst) != 0, "no formula could be judged");
        talk.say("stopped before the first generation was over: there is nothing to show yet");
        return Ok(ExitCode::from(signal.load(Ordering::SeqCst)));
    };
    write(&arguments.out, champion.text().context("the champion can't be written")?.as_bytes())?;
    write(&plot, evolved::history(&journal).as_bytes())?;
    if champion.finished {
        std::fs::remove_file(&journal_path)
            .with_context(|| format!("`{}` can't be removed", journal_path.display()))?;
    } else {
        talk.say(&format!(
            "stopped: the best formula so far is written; run the same command to continue from `{}`",
            journal_path.display()
        ));
    }
    let text = if global.json {
        json_line(&ChampionFiles { champion: &champion, file: &arguments.out, plot: &plot })?
    } else {
        evolved::champion(&champion, &arguments.out, &plot)
    };
    print(&text)?;
    Ok(ExitCode::from(if champion.finished { 0 } else { signal.load(Ordering::SeqCst) }))
}

fn settings(arguments: &EvolveArgs) -> Result<EvolveSettings, Usage> {
    let mut terminals: Vec<Terminal> = Vec::new();
    for name in arguments.terminals.iter().map(|name| name.trim()) {
        match name {
            "all" => terminals.extend(Terminal::ALL),
            name => terminals
                .push(Terminal::from_name(name).map_err(|said| Usage(format!("--terminals: {said}")))?),
        }
    }
    terminals.sort_unstable();
    terminals.dedup();
    Ok(EvolveSettings {
        population: arguments.population as usize,
        generations: arguments.generations,
        runs: arguments.runs,
        folds: arguments.folds,
        fitness: arguments.fitness.into(),
        terminals,
        breeding: arguments.breeding.into(),
        selection: arguments.selection.into(),
        budget: histories::share(&arguments.budget)?,
        warm_up: arguments.warm_up,
        kept: arguments.kept as usize,
        least_pages: arguments.least_pages,
        seed: arguments.seed,
    })
}

fn load(global: &Global, arguments: &EvolveArgs, talk: &Talk) -> anyhow::Result<Dataset> {
    if let Some(spec) = &arguments.synthetic {
        return Ok(made_up(spec)?);
    }
    histories::load(global, arguments.dataset.as_deref(), None, WantedWords::None, talk)
}

fn made_up(spec: &str) -> Result<Dataset, Usage> {
    let spec = histories::synthetic(spec)?;
    if spec.moments > 1 {
        let wrong = "--synthetic: `evolve` takes pages with one moment a cycle; leave `moments` out";
        return Err(Usage(wrong.to_owned()));
    }
    Ok(spec.dataset())
}

/// The name of the data that a champion is bred on, so that it can be found again.
fn data_name(global: &Global, arguments: &EvolveArgs) -> String {
    match (&arguments.dataset, &arguments.synthetic, &global.store) {
        (Some(path), _, _) => path.display().to_string(),
        (_, Some(spec), _) => format!("{SYNTHETIC}{spec}"),
        (_, _, Some(path)) => format!("{STORE}{}", path.display()),
        _ => String::new(),
    }
}

/// The journal of an earlier run that can be continued, or a new one.
fn continued(
    arguments: &EvolveArgs,
    path: &Path,
    dataset: &Dataset,
    settings: &EvolveSettings,
    talk: &Talk,
) -> anyhow::Result<Journal> {
    let new = || Journal::new(dataset, settings.clone());
    if arguments.start_over || !path.exists() {
        return Ok(new());
    }
    let hint = "--start-over replaces it; another --out keeps it";
    let text = std::fs::read(path).with_context(|| format!("`{}` can't be read", path.display()))?;
    let journal: Journal = serde_json::from_slice(&text).map_err(|error| {
        Usage(format!("`{}` is not a journal of `freshet evolve` ({error}); {hint}", path.display()))
    })?;
    journal.fits(dataset, settings).map_err(|said| {
        Usage(format!("`{}` is of a run that can't be continued: {said}; {hint}", path.display()))
    })?;
    let generations = journal.finished.iter().map(|run| run.history.len()).sum::<usize>()
        + journal.current.as_ref().map_or(0, |current| current.history.len());
    if generations > 0 {
        talk.say(&format!("continuing after {} generations", number(generations as u64)));
    }
    Ok(journal)
}

/// How often the journal is written on the way.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// Breeds formulas, and judges the best.
fn bred(
    dataset: &Dataset,
    mut journal: Journal,
    path: &Path,
    signal: &Arc<AtomicU8>,
    talk: &Talk,
    data: String,
) -> anyhow::Result<(Journal, Option<Champion>)> {
    let EvolveSettings { folds, runs, generations, fitness, .. } = journal.settings;
    let pages: usize = dataset.groups.iter().map(|group| group.pages.len()).sum();
    talk.say(&format!("{}: {}", dataset.name, counted(pages, "page")));
    let mut steps = talk.steps(u64::from(folds * runs) * u64::from(generations));
    let (started, before) = (Instant::now(), journal.effort.seconds);
    let mut saved = Instant::now();
    let mut is_told = false;
    let mut told = |journal: &Journal, progress: &EvolveProgress<'_>| {
        let done = (progress.fold * runs + progress.run) * generations + progress.generation + 1;
        steps.count(u64::from(done), &line(journal, progress));
        if saved.elapsed() >= SAVE_EVERY {
            saved = Instant::now();
            let mut journal = journal.clone();
            journal.effort.seconds = before + started.elapsed().as_secs_f64();
            if let Err(error) = save(path, &journal)
                && !std::mem::replace(&mut is_told, true)
            {
                talk.say(&format!("{error:#}; breeding continues, but can't be resumed after a stop"));
            }
        }
    };
    let stop = || signal.load(Ordering::Relaxed) != 0;
    // The journal has the result: a run that was stopped has fewer generations.
    let _ = evolve::evolve(dataset, &mut journal, &stop, &mut told);
    steps.finish();
    journal.effort.seconds = before + started.elapsed().as_secs_f64();
    // The champion is written all the same.
    if let Err(error) = save(path, &journal) {
        talk.say(&format!("{error:#}; formulas bred since it was last written are lost if you continue"));
    }
    talk.say(&format!("judging the best formulas by {}", fitness.name()));
    let champion = evolve::judge(dataset, &journal).map(|verdict| Champion::new(data, &journal, &verdict));
    Ok((journal, champion))
}

fn line(journal: &Journal, progress: &EvolveProgress<'_>) -> String {
    let EvolveSettings { folds, runs, generations, fitness, .. } = journal.settings;
    let Generation { best, mean, .. } = progress.figures;
    format!(
        "{} best {best:.4} mean {mean:.4}, generation {}/{generations} run {}/{runs} fold {}/{folds}  {}",
        fitness.name(),
        progress.generation + 1,
        progress.run + 1,
        progress.fold + 1,
        evolved::shortened(&progress.best.simplified().to_string())
    )
}

/// The first signal ends the generation at hand, the second everything.
fn listen(talk: &Talk) -> Arc<AtomicU8> {
    let signal = Arc::new(AtomicU8::new(0));
    let (given, talk) = (Arc::clone(&signal), talk.clone());
    std::thread::spawn(move || {
        let Ok(runtime) = threads::this_one() else { return };
        let (stop, _) = tokio::sync::watch::channel(false);
        runtime.block_on(interrupts::listen(
            stop,
            given,
            talk,
            "stopping: judging what was bred so far; press Ctrl-C again to quit now",
        ));
    });
    signal
}

/// `champion.toml` → `champion.journal` and `champion.svg`
fn beside(out: &Path) -> Result<(PathBuf, PathBuf), Usage> {
    let (journal, plot) = (out.with_extension("journal"), out.with_extension("svg"));
    let wrong = |why: &str| {
        Usage(format!("--out is `{}`, {why}; write the champion to a file like champion.toml", out.display()))
    };
    if out.is_dir() || out.file_name().is_none() {
        return Err(wrong("a folder"));
    }
    if out == journal || out == plot {
        return Err(wrong("where the journal or the plot goes"));
    }
    Ok((journal, plot))
}

fn save(path: &Path, journal: &Journal) -> anyhow::Result<()> {
    write(path, &serde_json::to_vec(journal)?)
}

/// Whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    whole_file::write(path, bytes).with_context(|| format!("`{}` can't be written", path.display()))
}

fn list_terminals() -> anyhow::Result<ExitCode> {
    let mut table = Table::new(&[("terminal", Align::Left), ("meaning", Align::Left)]);
    for terminal in Terminal::ALL {
        table.row([terminal.name(), terminal.about()]);
    }
    let text = table.render() + "\nSantos et al. 2013 have n, X and t.\n";
    print(&text)
}
