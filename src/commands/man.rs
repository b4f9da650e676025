//! `freshet man`: the man page of the program, or one for each command.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Command;
use clap_mangen::Man;

use freshet::report::counted;

use crate::cli::{ManArgs, whole_command};
use crate::terminal::{Talk, print};

pub(crate) fn run(arguments: &ManArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut command = whole_command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.out else { return print(&String::from_utf8(page(&command)?)?) };
    let pages = write_pages(&command, folder)?;
    talk.say(&format!("wrote {} to `{}`", counted(pages, "page"), folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Writes the page of a command and those of its subcommands; the number of pages.
fn write_pages(command: &Command, folder: &Path) -> anyhow::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    freshet::whole_file::write(&path, &page(command)?)
        .with_context(|| format!("`{}` can't be written", path.display()))?;
    let mut written = 1;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        written += write_pages(subcommand, folder)?;
    }
    Ok(written)
}
