//! `freshet seeds`: the seeds with their state; remove, pause and resume them.

use std::process::ExitCode;

use freshet::look::seeds::{named_seeds, seeds};
use freshet::report;
use freshet::report::diff::harmless;
use freshet::store::{self, KnownSeed, SeedChange, Store};
use freshet::time::Timestamp;

use crate::cli::{Global, SeedsAction, SeedsArgs};
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, json_line, print, screen};

pub(crate) fn run(global: &Global, arguments: &SeedsArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    let Some(action) = &arguments.action else {
        return show(&mut *store::open_to_look(&settings.store)?, global.json);
    };
    let (change, named) = match action {
        SeedsAction::Remove(named) => (SeedChange::Remove, named),
        SeedsAction::Pause(named) => (SeedChange::Pause, named),
        SeedsAction::Resume(named) => (SeedChange::Resume, named),
    };
    // It must exist already: opening for writing would make a new one.
    drop(store::open_to_look(&settings.store)?);
    let mut store = store::open(&settings.store)?;
    let mut changed: Vec<KnownSeed> = Vec::new();
    for text in &named.seeds {
        changed.extend(named_seeds(&mut *store, &settings.normaliser(), text)?);
    }
    let ids: Vec<_> = changed.iter().map(|seed| seed.id).collect();
    store.change_seeds(&ids, change, Timestamp::now())?;
    for seed in &changed {
        talk.say(&format!("`{}` {}", harmless(&seed.url), said(change)));
    }
    if change == SeedChange::Remove {
        talk.say("hint: take it out of the seeds file too; a crawl with --seeds adds what the file names");
    }
    if global.json { show(&mut *store, true) } else { Ok(ExitCode::SUCCESS) }
}

fn said(change: SeedChange) -> &'static str {
    match change {
        SeedChange::Remove => {
            "is removed: its pages are not visited any more unless another seed wants them; what is stored stays"
        }
        SeedChange::Pause => "is paused: nothing under it is visited until `freshet seeds resume`",
        SeedChange::Resume => "is active",
    }
}

fn show(store: &mut dyn Store, as_json: bool) -> anyhow::Result<ExitCode> {
    let seeds = seeds(store)?;
    if !as_json {
        return print(&report::seeds::seeds(&seeds, &screen()));
    }
    let lines: Vec<String> = seeds.iter().map(json_line).collect::<anyhow::Result<_>>()?;
    print(&lines.concat())
}
