//! `freshet status`: what the store knows, and with `--sites` a row per site.

use std::process::ExitCode;

use freshet::look::sites::sites;
use freshet::look::status::status;
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, StatusArgs};
use crate::settings::{Given, Settings};
use crate::terminal::{json, print, screen};

pub(crate) fn run(global: &Global, arguments: &StatusArgs) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let hosts = if arguments.hosts == 0 { usize::MAX } else { arguments.hosts };
    if arguments.sites {
        // Budgets of sites are settings.
        let settings = Settings::load(global, &Given::default())?;
        let mut store = store::open_to_look(&settings.store)?;
        let sites = sites(&mut *store, &settings.crawl.fetch.sites, now)?;
        return print(&if global.json {
            json(&sites)?
        } else {
            report::sites::sites(&sites, hosts, now, &screen())
        });
    }
    let mut store = store::open_to_look(&Settings::store(global)?)?;
    let status = status(&mut *store, arguments.cycles, arguments.sizes, now)?;
    print(&if global.json { json(&status)? } else { report::status::status(&status, hosts, now, &screen()) })
}
