//! `freshet history`: the visits of a page, and how it moved between them.

use std::process::ExitCode;

use freshet::look::history::history;
use freshet::report;
use freshet::store;

use crate::cli::{Global, HistoryArgs};
use crate::settings::{Given, Settings};
use crate::terminal::{columns, json, print, screen};

/// Visits that a table shows unless told otherwise.
const TABLE_ROWS: usize = 20;

pub(crate) fn run(global: &Global, arguments: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::of_words(arguments.fragment_words))?;
    let mut store = store::open_to_look(&settings.store)?;
    let most = match arguments.limit {
        Some(0) => usize::MAX,
        Some(most) => most,
        None if global.json => usize::MAX,
        None => TABLE_ROWS,
    };
    let words = settings.change.fragment_words;
    let history = history(&mut *store, &settings.normaliser(), &arguments.url, words, most)?;
    print(&if global.json {
        json(&history)?
    } else {
        report::history::history(&history, columns(), arguments.ascii, &screen())
    })
}
