//! `freshet store`: looking after the store itself.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use freshet::crawl::{learning, rebuild};
use freshet::report::{counted, number, span};
use freshet::store;

use crate::cli::{Global, RebuildArgs, StoreCommand};
use crate::settings::{ChangeGiven, Given, Settings};
use crate::terminal::{Talk, json};

pub(crate) fn run(global: &Global, command: &StoreCommand, talk: &Talk) -> anyhow::Result<ExitCode> {
    match command {
        StoreCommand::Rebuild(arguments) => rebuild(global, arguments, talk),
    }
}

fn rebuild(global: &Global, arguments: &RebuildArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let RebuildArgs { fragment_words, sketch, hash_bytes, profiles, .. } = *arguments;
    let change = ChangeGiven { fragment_words, sketch, hash_bytes, profiles, ..ChangeGiven::default() };
    let flags = Given { change, ..Given::default() };
    let settings = Settings::load(global, &flags)?;
    let started = Instant::now();
    // It must exist already: opening for writing would make a new one.
    drop(store::open_to_look(&settings.store)?);
    let mut store = store::open(&settings.store)?;
    let last = store.cycles(1)?.into_iter().next().map(|cycle| cycle.policy);
    let policy = match arguments.policy.clone().or(last) {
        Some(name) => settings.policy_named(&name),
        None => settings.policy(),
    };
    // Where this release does not know the policy, there is no memory of it to make again.
    let mut policy = policy.or_else(|_| Settings::of(flags)?.policy())?;
    let priors = store.priors()?;
    learning::prepare(&mut *store, &mut *policy, &priors)?;
    let mut bar = talk.count("versions and pages");
    let mut show = |done, all| bar.show(done, all);
    let rebuilt = rebuild::rebuild(&mut *store, &*policy, settings.change, !arguments.check, &mut show)?;
    bar.finish();
    let differ =
        rebuilt.sketches_differ + rebuilt.pages_differ + rebuilt.aliases_differ + rebuilt.events_differ;
    let text = if global.json {
        json(&rebuilt)?
    } else {
        let made = if arguments.check { "would be made again" } else { "were made again" };
        format!(
            "{}, {} in {}: {}, {}, {} and the events of {} differed{}\n",
            counted(rebuilt.versions, "version"),
            counted(rebuilt.pages, "page"),
            span(started.elapsed()),
            match rebuilt.sketches_differ {
                1 => "1 sketch".to_owned(),
                many => format!("{} sketches", number(many)),
            },
            counted(rebuilt.pages_differ, "page"),
            match rebuilt.aliases_differ {
                1 => "1 alias".to_owned(),
                many => format!("{} aliases", number(many)),
            },
            counted(rebuilt.events_differ, "page"),
            if differ > 0 { format!(" and {made}") } else { String::new() },
        )
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if arguments.check && differ > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
