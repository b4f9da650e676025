//! `freshet store`: looking after the store itself.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use freshet::report::{number, span};
use freshet::store::Store;
use freshet::store::sqlite::SqliteStore;

use super::talk::Talk;
use crate::cli::{CrawlFlags, Global, RebuildArgs, StoreCommand};
use crate::settings::Settings;

pub fn run(global: &Global, command: &StoreCommand, talk: &Talk) -> anyhow::Result<ExitCode> {
    match command {
        StoreCommand::Rebuild(arguments) => rebuild(global, arguments, talk),
    }
}

fn rebuild(global: &Global, arguments: &RebuildArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let RebuildArgs { fragment_words, profiles, .. } = *arguments;
    let sketch = arguments.sketch.clone();
    let flags = CrawlFlags { fragment_words, sketch, profiles, ..CrawlFlags::default() };
    let settings = Settings::load(global, &flags)?;
    let started = Instant::now();
    // It must be there already: a rebuild makes nothing out of nothing.
    drop(SqliteStore::open_to_look(&settings.store)?);
    let mut store = SqliteStore::open(&settings.store)?;
    let mut bar = talk.count("versions and pages");
    let rebuilt = store.rebuild(settings.change(), !arguments.check, &mut |done, all| bar.show(done, all))?;
    bar.finish();
    let differ = rebuilt.sketches_differ + rebuilt.pages_differ;
    let text = if global.json {
        serde_json::to_string_pretty(&rebuilt)? + "\n"
    } else {
        let made = if arguments.check { "would be made again" } else { "were made again" };
        format!(
            "{} versions, {} pages in {}: {} sketches and {} pages differed{}\n",
            number(rebuilt.versions),
            number(rebuilt.pages),
            span(started.elapsed()),
            number(rebuilt.sketches_differ),
            number(rebuilt.pages_differ),
            if differ > 0 { format!(" and {made}") } else { String::new() },
        )
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if arguments.check && differ > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
