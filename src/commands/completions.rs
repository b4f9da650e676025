//! `freshet completions SHELL`

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

pub fn run(shell: Shell) -> anyhow::Result<ExitCode> {
    clap_complete::generate(shell, &mut Cli::command(), "freshet", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
