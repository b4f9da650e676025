//! Commands that set things up: a settings file, what holds, completions, man pages.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, ValueHint};

use crate::settings::{DEFAULT_FILE, Given, GivenBy, ServeGiven, TimeOfDay, TimeSpan, Written};

const INIT_EXAMPLES: &str = "\
Examples:
  freshet init                      ./freshet.toml, with every setting commented out
  freshet init --out other.toml     another file: name it with --config
  freshet init --out -              only print it";

/// Write a settings file that explains every setting, with all of them commented out
///
/// The file changes nothing until a line is uncommented. A file that exists is never overwritten.
#[derive(Debug, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub(crate) struct InitArgs {
    /// The file; `-` writes to standard output
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

const CONFIG_EXAMPLES: &str = "\
Examples:
  freshet config                    what holds here, and where each value comes from
  freshet config --delay 2          what would hold with these flags
  freshet config --json             the same for programs
  freshet config > draft.toml       save it, but not as the file that is in use: the shell empties that file first

`freshet init` writes a settings file to start from.";

/// Print the settings that hold, and where each comes from: flags over environment over file over defaults
///
/// The output is TOML. Defaults and derived values are comments, so that a saved copy keeps only what was given.
#[derive(Debug, Args)]
#[command(after_help = CONFIG_EXAMPLES)]
pub(crate) struct ConfigArgs {
    /// Time from the start of one cycle of `monitor` to the start of the next: 1h, 1d, 1w
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY", help_heading = "Budget")]
    pub every: Option<Written<TimeSpan>>,
    /// Time of day, local, at which cycles of `monitor` start: 02:00
    #[arg(long, value_name = "HH:MM", env = "FRESHET_AT", help_heading = "Budget")]
    pub at: Option<Written<TimeOfDay>>,
    /// Let later cycles of `monitor` make up for scheduled cycles that did not run
    #[arg(
        long,
        env = "FRESHET_CATCH_UP",
        action = ArgAction::SetTrue,
        value_parser = FalseyValueParser::new(),
        help_heading = "Budget"
    )]
    pub catch_up: bool,
    #[command(flatten)]
    pub flags: Given,
    #[command(flatten, next_help_heading = "Server")]
    pub serve: ServeGiven,
    /// Which of the flags above are from the command line, and which from the environment.
    #[arg(skip)]
    pub given_by: GivenBy,
}

const MAN_EXAMPLES: &str = "\
Examples:
  freshet man | man -l -                                         read it
  freshet man --out ~/.local/share/man/man1 && man freshet-crawl   install a page for each command";

/// Print the man page, or write a page for each command into a folder
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder for the pages freshet.1, freshet-crawl.1 and so on; files of the same names are replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}
