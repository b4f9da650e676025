//! Commands that gather pages: crawl and monitor.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args};
use freshet::observation::EventKind;

use super::look::event_kinds;
use crate::settings::{Given, TimeOfDay, TimeSpan, Written};

const CRAWL_EXAMPLES: &str = "\
Examples:
  freshet crawl --seeds seeds.txt                           crawl the seeds' sites
  freshet crawl --budget 1000                               go on with the store, with at most 1000 requests
  freshet crawl --only https://example.org/news             visit this page now, and no other";

/// Crawl the seeds' sites into the store, politely and completely
///
/// Each cycle gives every known page a score by the policy and visits the best pages first, until no page is left or the
/// budget is spent. With the default policy, that is the page whose visit is expected to gain most freshness. Stop it with
/// Ctrl-C, or kill it: the next run goes on from there.
#[derive(Debug, Args)]
#[command(after_help = CRAWL_EXAMPLES)]
pub(crate) struct CrawlNowArgs {
    /// Visit exactly these pages now and store them, whatever their score and whenever they are due. Links found on them are
    /// noted and not followed. Robots.txt, pauses and the budget hold
    #[arg(long, value_name = "URL", num_args = 1.., conflicts_with_all = ["seeds", "cycles"])]
    pub only: Vec<String>,
    #[command(flatten)]
    pub crawl: CrawlArgs,
}

/// What `crawl` and `monitor` have in common.
#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Seeds file: one URL per line, `#` for comments, optionally a tab and weight=, depth=, scope= fields; `-` reads standard
    /// input
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Command to run (with `sh -c`) for every event of a page: changed, gone, back, moved, started failing, recovered;
    /// it gets the event as JSON on standard input
    #[arg(long, value_name = "CMD")]
    pub on_change: Option<String>,
    /// Kinds of events that --on-change runs for, separated by commas [default: all but new]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = event_kinds(), requires = "on_change")]
    pub on_change_kinds: Vec<EventKind>,
    /// Stop an --on-change command that takes longer
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub on_change_timeout: f64,
    /// Skip seed lines that are wrong, instead of stopping
    #[arg(long)]
    pub skip_bad_seeds: bool,
    #[command(flatten)]
    pub flags: Given,
}

const MONITOR_EXAMPLES: &str = "\
Examples:
  freshet monitor --seeds seeds.txt --every 1d --at 02:00 --budget 5000   every night at 2:00
  freshet monitor --every 1h --budget 200                                 go on with what the store knows
  freshet monitor --every 1d --budget 5000 --once                         one cycle: for cron and systemd timers";

/// Crawl again and again, one cycle per period, until stopped
///
/// Cycles start at fixed times, however long they take. A cycle that is still running when the next one is due ends there;
/// pages that it did not reach compete in the next. No cycle sends more than its budget. SIGTERM or Ctrl-C lets running
/// requests finish; the next run goes on with the cycle.
#[derive(Debug, Args)]
#[command(after_help = MONITOR_EXAMPLES)]
pub(crate) struct MonitorArgs {
    /// Time from the start of one cycle to the start of the next: 1h, 1d, 1w [default: 1d]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<Written<TimeSpan>>,
    /// Time of day at which cycles start, in local time (TZ): 02:00
    #[arg(long, value_name = "HH:MM", env = "FRESHET_AT")]
    pub at: Option<Written<TimeOfDay>>,
    /// Requests per day, however many cycles it has. A score threshold is adjusted to that cost, so that a cycle in which
    /// more pages are due sends more requests
    #[arg(long, value_name = "N", env = "FRESHET_DAILY_BUDGET", conflicts_with_all = ["budget", "threshold"])]
    pub daily_budget: Option<u64>,
    /// Let later cycles make up for scheduled cycles that did not run: each has up to a quarter more budget until then
    #[arg(
        long,
        env = "FRESHET_CATCH_UP",
        action = ArgAction::SetTrue,
        value_parser = FalseyValueParser::new()
    )]
    pub catch_up: bool,
    /// Run one cycle now and exit: for cron and systemd timers
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub crawl: CrawlArgs,
}
