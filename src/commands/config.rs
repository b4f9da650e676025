//! `freshet config`: the effective settings, in the form of the settings file.

use std::process::ExitCode;

use crate::cli::Global;
use crate::settings::{Given, Settings};
use crate::terminal::print;

pub(crate) fn run(global: &Global, flags: &Given) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, flags)?;
    print(&if global.json {
        serde_json::to_string_pretty(&settings)? + "\n"
    } else {
        toml::to_string(&settings)?
    })
}
