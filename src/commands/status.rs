//! `freshet status`: what the store knows.

use std::process::ExitCode;

use freshet::look::status::status;
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, StatusArgs};
use crate::settings::Settings;
use crate::terminal::{json, print};

pub(crate) fn run(global: &Global, arguments: &StatusArgs) -> anyhow::Result<ExitCode> {
    let mut store = store::open_to_look(&Settings::store(global)?)?;
    let now = Timestamp::now();
    let status = status(&mut *store, arguments.cycles, arguments.sizes, now)?;
    print(&if global.json { json(&status)? } else { report::status::status(&status, arguments.hosts, now) })
}
