//! `freshet config`: the effective settings, in the form of the settings file.

use std::io::Write as _;
use std::process::ExitCode;

use crate::cli::Global;
use crate::settings::{Given, Settings};

pub fn run(global: &Global, flags: &Given) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, flags)?;
    let text = if global.json {
        serde_json::to_string_pretty(&settings)? + "\n"
    } else {
        toml::to_string(&settings)?
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
