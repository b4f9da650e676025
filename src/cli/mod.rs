//! The command line: one file per group of commands, each command's examples beside its flags.
//!
//! Settings of a crawl are flags too; they are declared in [`crate::settings`], with their environment variables.

mod collection;
mod datasets;
#[cfg(test)]
mod docs_tests;
mod flags;
mod gather;
mod groups;
mod keep;
mod look;
mod mistakes;
pub(crate) mod names;
mod play;
mod set_up;
mod study;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{
    ArgAction, ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint,
};
use clap_complete::Shell;

use crate::settings::{Given, GivenBy, SettingSource};
use crate::terminal::columns;

pub(crate) use collection::{ForgetArgs, PingArgs, SeedsAction, SeedsArgs};
pub(crate) use datasets::{ExportArgs, ImportArgs};
pub(crate) use flags::{CheckFlags, FetchFlags, LinkFlags, PlanFlags, QueryFlags, RankFlags, ScoreFlags};
pub(crate) use gather::{CrawlArgs, CrawlNowArgs, MonitorArgs};
pub(crate) use keep::{RebuildArgs, StoreCommand};
pub(crate) use look::{
    ChangesArgs, ChangesFormat, CheckArgs, DiffArgs, HistoryArgs, LinksArgs, ListFormat, LogArgs, PageSort,
    PagesArgs, PlanArgs, ReportArgs, SearchArgs, ServeArgs, ShowArgs, SignalsArgs, StatusArgs, WhyArgs,
};
pub(crate) use play::{DemoArgs, ScoreArgs, WebArgs};
pub(crate) use set_up::{ConfigArgs, InitArgs, ManArgs};
pub(crate) use study::{
    ALL_PAPERS, CompareArgs, EstimateArgs, EvolveArgs, QualityArgs, RatesArgs, ReproduceArgs, SimulateArgs,
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
  freshet status --sites                         a row per site: the last cycle, failures, waits
  freshet signals                                what sites tell of their changes, and how often they are right
  freshet ping https://example.org/news          tell the next cycle that a page has changed
  freshet log                                    what the last cycle fetched, line by line
  freshet pages --state gone --format csv        list pages, filtered
  freshet history https://example.org/news       the visits of a page, how long its words live
  freshet serve                                  the same in a browser, as a page to leave open
  freshet search fresh pages                     stored pages that have all words, the best first
  freshet show https://example.org/news          what is stored of a page, now or --at a time
  freshet export --format brdc --out crawl.brdc  the changes over time, as a dataset for studies
  freshet check https://example.org/             what a crawl would see there; nothing is stored
  freshet compare old.html new.html              their divergence, and the words that differ
  freshet web --hosts 3 --day 10s > seeds.txt    a web to practise on, with days of ten seconds
  freshet score --truth http://127.0.1.1:8000/   how fresh and complete the crawl of that web is
  freshet init                                   write ./freshet.toml, which explains every setting
  freshet config                                 the settings that hold, and where each comes from

Settings of a crawl can also be given by environment variables (FRESHET_DELAY=2) or in freshet.toml
([crawl] delay = 2). docs/outcomes.md lists the exit codes, outcomes and states, docs/json.md what --json prints.";

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
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// The store: one SQLite file [default: freshet.db]
    #[arg(long, global = true, value_name = "PATH", env = "FRESHET_STORE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
    /// Settings file [default: freshet.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "FRESHET_CONFIG", value_hint = ValueHint::FilePath)]
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
    Crawl(Box<CrawlNowArgs>),
    Monitor(Box<MonitorArgs>),
    Plan(Box<PlanArgs>),
    Why(Box<WhyArgs>),
    Status(StatusArgs),
    Report(ReportArgs),
    Pages(PagesArgs),
    Changes(ChangesArgs),
    Log(LogArgs),
    Links(Box<LinksArgs>),
    Diff(DiffArgs),
    Show(ShowArgs),
    Search(Box<SearchArgs>),
    Serve(Box<ServeArgs>),
    History(HistoryArgs),
    Check(Box<CheckArgs>),
    Compare(Box<CompareArgs>),
    Estimate(EstimateArgs),
    Quality(Box<QualityArgs>),
    Rates(RatesArgs),
    Simulate(Box<SimulateArgs>),
    Evolve(Box<EvolveArgs>),
    Reproduce(ReproduceArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Signals(SignalsArgs),
    Ping(PingArgs),
    Seeds(SeedsArgs),
    Forget(ForgetArgs),
    /// Look after the store itself
    #[command(subcommand)]
    Store(StoreCommand),
    Demo(Box<DemoArgs>),
    Web(Box<WebArgs>),
    Score(Box<ScoreArgs>),
    Init(InitArgs),
    Config(Box<ConfigArgs>),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    Man(ManArgs),
}

impl Command {
    /// The settings given by flags and environment, if the command runs or plans cycles.
    pub(crate) fn crawl_flags(&self) -> Option<&Given> {
        match self {
            Self::Crawl(arguments) => Some(&arguments.crawl.flags),
            Self::Monitor(arguments) => Some(&arguments.crawl.flags),
            Self::Plan(arguments) => Some(&arguments.flags.0),
            Self::Why(arguments) => Some(&arguments.flags.0),
            Self::Config(arguments) => Some(&arguments.flags),
            _ => None,
        }
    }
}

/// Flags for every command that have no meaning for some: they are not shown there.
const NOT_SHOWN: &[(&str, &[&str])] = &[
    ("check", &["store"]),
    ("compare", &["store"]),
    ("rates", &["store", "config"]),
    ("reproduce", &["store", "config"]),
    ("import", &["store", "config"]),
    ("demo", &["config"]),
    ("web", &["store", "config"]),
    ("init", &["store", "config"]),
    ("completions", &["store", "config", "json", "quiet", "verbose"]),
    ("man", &["store", "config", "json", "verbose"]),
];

/// The command line with everything that the declarations can't say.
pub(crate) fn whole_command() -> clap::Command {
    let mut command = Cli::command();
    let shared: Vec<clap::Arg> = command.get_arguments().cloned().collect();
    for (name, flags) in NOT_SHOWN {
        // An argument that a command has already is not passed down to it.
        let hidden = shared.iter().filter(|argument| flags.contains(&argument.get_id().as_str()));
        let hidden: Vec<clap::Arg> = hidden.map(|argument| argument.clone().hide(true)).collect();
        command = command.mut_subcommand(name, |command| command.args(hidden));
    }
    with_values(command)
}

/// Every flag with a hint for shells. A number below 0 is a value, not a flag: so its rule can say what is wrong with it.
fn with_values(command: clap::Command) -> clap::Command {
    let takes_value =
        |argument: &clap::Arg| matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let read = |argument: clap::Arg| match argument.get_long() {
        _ if !takes_value(&argument) => argument,
        Some(_) => names::with_hint(argument).allow_negative_numbers(true),
        None => names::with_hint(argument),
    };
    command.mut_args(read).mut_subcommands(with_values)
}

/// The environment variables that are read.
pub(crate) fn variables() -> Vec<String> {
    fn of(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|argument| argument.get_env());
        let own = own.map(|name| name.to_string_lossy().into_owned());
        own.chain(command.get_subcommands().flat_map(of)).collect()
    }
    of(&Cli::command())
}

/// Reads the command line and the environment; ends the program with help, or with exit code 2 at a mistake.
pub(crate) fn parse() -> Cli {
    let command = groups::grouped(whole_command(), columns().min(WIDTH));
    let read = command.try_get_matches().and_then(|mut matches| {
        let given_by = given_by(&matches);
        let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
        if let Command::Config(arguments) = &mut cli.command {
            arguments.given_by = given_by;
        }
        Ok(cli)
    });
    read.unwrap_or_else(|error| match mistakes::in_our_words(&error) {
        Some(said) => {
            eprintln!("error: {said}");
            std::process::exit(2)
        }
        None => error.exit(),
    })
}

/// Where the settings of `freshet config` come from: the command line or the environment.
fn given_by(matches: &ArgMatches) -> GivenBy {
    let cli = Cli::command();
    let (Some(matches), Some(config)) = (matches.subcommand_matches("config"), cli.find_subcommand("config"))
    else {
        return GivenBy::new();
    };
    let given = |argument: &clap::Arg| {
        let id = argument.get_id().as_str();
        let name = match matches.value_source(id)? {
            ValueSource::CommandLine => (SettingSource::Flag, format!("--{}", argument.get_long()?)),
            ValueSource::EnvVariable => {
                (SettingSource::Environment, argument.get_env()?.to_string_lossy().into_owned())
            }
            _ => return None,
        };
        Some((id.to_owned(), name))
    };
    config.get_arguments().chain(cli.get_arguments()).filter_map(given).collect()
}
