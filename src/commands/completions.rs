//! `freshet completions SHELL`

use std::io::Write as _;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::cli::whole_command;

pub(crate) fn run(shell: Shell) -> anyhow::Result<ExitCode> {
    // By way of memory: the generator panics on a pipe that closes.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole_command(), "freshet", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
