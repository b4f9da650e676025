//! `freshet quality`: how good the results of searches are expected to be, and which visits would help most.

use std::process::ExitCode;

use freshet::follow::search_index::path_beside;
use freshet::look::quality::quality;
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, QualityArgs};
use crate::indexed::with_index;
use crate::queries;
use crate::settings::Settings;
use crate::terminal::{Talk, json, print, screen};

pub(crate) fn run(global: &Global, arguments: &QualityArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags.0)?;
    let searched = queries::needed("`freshet quality`", &settings, Some(talk))?;
    let mut store = store::open_to_look(&settings.store)?;
    let (now, outbox) = (Timestamp::now(), path_beside(&settings.store));
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let estimate = with_index(&settings, &mut *store, "this estimate", talk, &|index, store| {
        let mut bar = talk.count("pages");
        let estimate =
            quality(store, (index, &outbox), &searched, most, now, &mut |done, all| bar.show(done, all));
        bar.finish();
        estimate
    })?;
    print(&if global.json { json(&estimate)? } else { report::quality::quality(&estimate, &screen()) })
}
