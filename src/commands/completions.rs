//! `freshet completions SHELL`

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

pub(crate) fn run(shell: Shell) -> anyhow::Result<ExitCode> {
    // By way of memory: the generator panics on a pipe that closes.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "freshet", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
