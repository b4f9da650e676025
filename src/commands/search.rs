//! `freshet search`: stored pages that have all words of a query.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use freshet::look::search::{SearchQuery, search, search_as_of};
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, SearchArgs};
use crate::indexed::with_index;
use crate::settings::Settings;
use crate::settings::when::moment;
use crate::terminal::{Talk, json, print};

pub(crate) fn run(global: &Global, arguments: &SearchArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let settings = Settings::load(global, &arguments.flags.0)?;
    let query = SearchQuery::new(&arguments.words.join(" "), settings.scoring(), arguments.limit)?;
    let as_of = arguments.as_of.as_deref().map(|text| moment("--as-of", text, now)).transpose()?;
    let mut store = store::open_to_look(&settings.store)?;
    let found = match as_of {
        Some(at) => {
            let mut bar = talk.count("pages");
            let found = search_as_of(&mut *store, &query, at, &mut |done, all| bar.show(done, all))?;
            bar.finish();
            found
        }
        None => {
            let asked = arguments.words.join(" ");
            let is_kept = !arguments.no_log && asked.len() <= MOST_KEPT_BYTES;
            with_index(&settings, &mut *store, "this search", talk, &|index, store| {
                let found = search(store, index, &query, now)?;
                if is_kept && index.is_kept() {
                    index.log_query(&asked, now)?;
                }
                Ok(found)
            })?
        }
    };
    print(&if global.json { json(&found)? } else { report::search::search(&found, has_bold()) })
}

/// A longer query is not kept: no one typed it.
const MOST_KEPT_BYTES: usize = 4096;

/// Words are bold on a terminal, unless its user wants nothing of the kind.
fn has_bold() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
