//! The command line: one file per group of commands, each command's examples beside its flags.
//!
//! Settings of a crawl are flags too; they are declared in [`crate::settings`], with their environment variables.

mod datasets;
#[cfg(test)]
mod docs_tests;
mod gather;
mod groups;
mod keep;
mod look;
mod play;
mod study;

use std::error::Error as _;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::settings::{self, Given};
use crate::terminal::columns;

pub(crate) use datasets::{ExportArgs, ImportArgs};
pub(crate) use gather::{CrawlArgs, MonitorArgs};
pub(crate) use keep::{RebuildArgs, StoreCommand};
pub(crate) use look::{
    ChangesArgs, ChangesFormat, CheckArgs, DiffArgs, HistoryArgs, ListFormat, PagesArgs, PlanArgs,
    StatusArgs, WhyArgs,
};
pub(crate) use play::{DemoArgs, ScoreArgs, WebArgs};
pub(crate) use study::{
    CompareArgs, EstimateArgs, EvolveArgs, Paper, RatesArgs, ReproduceArgs, SimulateArgs,
};

const EXAMPLES: &str = "\
Examples:
  freshet demo                                   see it work, in half a minute and without a network
  freshet crawl --seeds seeds/example.txt        crawl the seeds' sites into ./freshet.db
  freshet crawl                                  go on with the pages of the store
  freshet crawl --budget 1000                    spend at most 1000 requests on this cycle
  freshet monitor --every 1d --budget 1000       a cycle every day, until stopped
  freshet plan --budget 1000                     the visits of the next cycle, and why
  freshet why https://example.org/news           why that page is due, or not
  freshet status                                 known pages, waiting hosts and why they wait
  freshet pages --state gone --format csv        list pages, filtered
  freshet history https://example.org/news       the visits of a page, how long its words live
  freshet export --format brdc --out crawl.brdc  the changes over time, as a dataset for studies
  freshet check https://example.org/             what a crawl would see there; nothing is stored
  freshet compare old.html new.html              their divergence, and the words that differ
  freshet web --hosts 3 --day 10s > seeds.txt    a web to practise on, with days of ten seconds
  freshet score --truth http://127.0.1.1:8000/   how fresh and complete the crawl of that web is
  freshet config > draft.toml                    the effective settings, to save as freshet.toml

Settings of a crawl can also be given by environment variables (FRESHET_DELAY=2) or in freshet.toml
([crawl] delay = 2); `freshet config` prints the effective settings.";

/// Widest help.
const WIDTH: usize = 110;

/// A polite web crawler that learns how pages change
#[derive(Debug, Parser)]
#[command(name = "freshet", version, after_help = EXAMPLES, max_term_width = WIDTH)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The store: one SQLite file [default: freshet.db]
    #[arg(long, global = true, value_name = "PATH", env = "FRESHET_STORE")]
    pub store: Option<PathBuf>,
    /// Settings file [default: freshet.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "FRESHET_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// More log output; -vv for debug (RUST_LOG overrides)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Crawl(Box<CrawlArgs>),
    Monitor(Box<MonitorArgs>),
    Plan(Box<PlanArgs>),
    Why(Box<WhyArgs>),
    Status(StatusArgs),
    Pages(PagesArgs),
    Changes(ChangesArgs),
    Diff(DiffArgs),
    History(HistoryArgs),
    Check(Box<CheckArgs>),
    Compare(Box<CompareArgs>),
    Estimate(EstimateArgs),
    Rates(RatesArgs),
    Simulate(SimulateArgs),
    Evolve(Box<EvolveArgs>),
    Reproduce(ReproduceArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    /// Look after the store itself
    #[command(subcommand)]
    Store(StoreCommand),
    Demo(DemoArgs),
    Web(Box<WebArgs>),
    Score(ScoreArgs),
    /// Print the effective settings as TOML: flags over environment over file over defaults
    Config(Box<Given>),
    /// Print the completion script of a shell
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
}

impl Command {
    /// The settings given by flags and environment, if the command runs or plans cycles.
    pub(crate) fn crawl_flags(&self) -> Option<&Given> {
        match self {
            Self::Crawl(arguments) => Some(&arguments.flags),
            Self::Monitor(arguments) => Some(&arguments.crawl.flags),
            Self::Plan(arguments) => Some(&arguments.flags),
            Self::Why(arguments) => Some(&arguments.flags),
            Self::Config(flags) => Some(flags),
            _ => None,
        }
    }
}

/// Reads the command line and the environment; ends the program with help, or with exit code 2 at a mistake.
pub(crate) fn parse() -> Cli {
    let command = groups::grouped(Cli::command(), columns().min(WIDTH));
    let read = command.try_get_matches().and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    read.unwrap_or_else(|error| match wrong_value(&error) {
        Some(said) => {
            eprintln!("error: {said}");
            std::process::exit(2)
        }
        None => error.exit(),
    })
}

/// A value that its parser refused, in the words used for the settings file: the setting, the value, the rule.
fn wrong_value(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?.split([' ', '=', '[']).next()?;
    let key = flag.trim_start_matches('-').replace('-', "_");
    let name = if settings::is_key(&key) { &key } else { flag };
    Some(settings::said_of(name, text(ContextKind::InvalidValue)?, &error.source()?.to_string()))
}
