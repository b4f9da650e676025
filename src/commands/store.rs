//! `freshet store`: looking after the store itself.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use freshet::crawl::rebuild::Rebuilt;
use freshet::crawl::{learning, learning_together, rebuild};
use freshet::follow::search_index::{SearchIndex, path_beside};
use freshet::report::{bytes, counted, number, span};
use freshet::store;
use serde::Serialize;

use crate::cli::{Global, RebuildArgs, StoreCommand};
use crate::indexed::update;
use crate::settings::{ChangeGiven, Given, Settings};
use crate::terminal::{Talk, json, print};

pub(crate) fn run(global: &Global, command: &StoreCommand, talk: &Talk) -> anyhow::Result<ExitCode> {
    match command {
        StoreCommand::Rebuild(arguments) => rebuild(global, arguments, talk),
    }
}

/// The search index, made again from the pages of the store.
#[derive(Debug, Serialize)]
struct RebuiltIndex {
    /// Where it is.
    index: PathBuf,
    /// Pages that can be found.
    page_count: u64,
    /// Their words, each as often as it occurs.
    word_count: u64,
    /// Bytes of its file.
    file_bytes: u64,
}

fn rebuild_index(global: &Global, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    let started = Instant::now();
    let path = path_beside(&settings.store);
    let mut store = store::open_to_look(&settings.store)?;
    let mut index = SearchIndex::open(&path, &mut *store)?;
    if index.remade().is_none() {
        index.empty()?;
    }
    update(&mut index, &mut *store, talk)?;
    let counts = index.counts()?;
    drop(index);
    let file_bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    let rebuilt =
        RebuiltIndex { index: path, page_count: counts.documents, word_count: counts.terms, file_bytes };
    print(&if global.json {
        json(&rebuilt)?
    } else {
        let pages = counted(usize::try_from(counts.documents)?, "page");
        let (words, place) = (number(counts.terms), rebuilt.index.display());
        format!(
            "{pages} with {words} words in {}: `{place}`, {}\n",
            span(started.elapsed()),
            bytes(file_bytes)
        )
    })
}

fn rebuild(global: &Global, arguments: &RebuildArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    if arguments.index {
        return rebuild_index(global, talk);
    }
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
    let collection_differs = learning_together::rebuild(&mut *store, &mut *policy, !arguments.check)?;
    let rebuilt = Rebuilt { collection_differs, ..rebuilt };
    let pages_differ = rebuilt.pages_differ + rebuilt.aliases_differ > 0;
    if pages_differ && !arguments.check && path_beside(&settings.store).exists() {
        // Pages may have become others' aliases, or come back, without a visit that the index could read of.
        talk.say("hint: `freshet store rebuild --index` brings the search index in line");
    }
    let gains = store.summary()?.gains;
    if gains > 0 {
        talk.say(&format!(
            "gains of refreshes in search results ({}) stay as they are: they were measured against all pages of their time \
             and can't be made again",
            number(gains)
        ));
    }
    let differ = rebuilt.sketches_differ
        + rebuilt.pages_differ
        + rebuilt.aliases_differ
        + rebuilt.events_differ
        + rebuilt.signals_differ
        + rebuilt.counts_differ
        + u64::from(rebuilt.collection_differs);
    let text = if global.json {
        json(&rebuilt)?
    } else {
        let made = if arguments.check { "would be made again" } else { "were made again" };
        format!(
            "{}, {} in {}: {}, {}, {} and the events of {}{}{}{} differed{}\n",
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
            match rebuilt.signals_differ {
                0 => String::new(),
                1 => ", and 1 count of signals".to_owned(),
                many => format!(", and {} counts of signals", number(many)),
            },
            match rebuilt.counts_differ {
                0 => String::new(),
                1 => ", and 1 kept count".to_owned(),
                many => format!(", and {} kept counts", number(many)),
            },
            if rebuilt.collection_differs { ", and what the policy knows of the collection" } else { "" },
            if differ > 0 { format!(" and {made}") } else { String::new() },
        )
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if arguments.check && differ > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
