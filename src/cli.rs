//! The grammar of the command line. What is given here wins over the environment, that over `freshet.toml`, and that
//! over the defaults.

mod study;

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use study::{
    EstimateArgs, EvolveArgs, ExportArgs, ExportFormat, ImportArgs, ImportFormatArg, Paper, RatesArgs,
    ReproduceArgs, SimulateArgs,
};

const EXAMPLES: &str = "\
Examples:
  freshet demo                                   see it work: no network, nothing to set up, half a minute
  freshet crawl --seeds seeds/example.txt        crawl the seeds' sites into ./freshet.db
  freshet crawl                                  go on with what the store knows
  freshet crawl --budget 1000                    spend at most 1000 requests on this cycle
  freshet monitor --every 1d --budget 1000       the same every day, until stopped
  freshet plan --budget 1000                     what the next cycle would visit, and why
  freshet why https://example.org/news           why that page is due, or not
  freshet status                                 what is known, which hosts wait and why
  freshet pages --state gone --format csv        list pages, filtered
  freshet history https://example.org/news       how a page moved: its visits, how long its words live
  freshet export --format brdc --out crawl.brdc  what changed when, as a dataset for studies
  freshet check https://example.org/             what a crawl would make of this page, without storing it
  freshet compare old.html new.html              how far two pages are apart, and by which words
  freshet web --hosts 3 --day 10s > seeds.txt    a web to practise on, a day of which lasts ten seconds
  freshet score --truth http://127.0.1.1:8000/   how fresh and complete the crawl of that web is
  freshet config > freshet.toml                  the effective settings, as a file to edit

What can be set for a crawl can also be set by an environment variable (FRESHET_DELAY=2) or in freshet.toml
([crawl] delay = 2); `freshet config` prints what holds.";

const CHECK_EXAMPLES: &str = "\
Examples:
  freshet check https://example.org/                       robots.txt, answer, text and links
  freshet check https://example.org/ --links all           every link, and why it is taken or not
  freshet check https://example.org/ --text                all text that the `ignore` rules leave
  freshet check https://example.org/ --exclude /archive/   what a pattern would keep out
  freshet check https://example.org/ --json                the same for programs

Flags that steer cycles, such as --budget, --cycles, --policy and --profiles, have no effect here.";

const MONITOR_EXAMPLES: &str = "\
Examples:
  freshet monitor --seeds seeds.txt --every 1d --at 02:00 --budget 5000   every night, at 2 o'clock UTC
  freshet monitor --every 1h --budget 200                                 go on with what the store knows
  freshet monitor --every 1d --budget 5000 --once                         one cycle: for cron and systemd timers";

const PLAN_EXAMPLES: &str = "\
Examples:
  freshet plan                                   all that is due, best first
  freshet plan --budget 1000                     the thousand best, under what each host's delay allows in a cycle
  freshet plan --budget 1000 --policy nutch      what another policy would do, from the same visits
  freshet plan --budget 1000 --json              a line a visit";

const ESTIMATE_EXAMPLES: &str = "\
Examples:
  freshet estimate https://example.org/          every estimator on one page of the store
  freshet estimate --all --estimator gamma,mle   two of them on all pages
  freshet estimate --input visits.csv --json     anyone's histories, no store needed
  freshet estimate --fit-prior --group host      fit the priors to the store's own pages, and keep them";

const EXPORT_EXAMPLES: &str = "\
Examples:
  freshet export --format brdc --out crawl.brdc               a line a page, a character a cycle
  freshet export --format observations --out visits.parquet   every visit; .csv and .jsonl work too
  freshet export --format fragments --out texts.parquet       what pages said when, as hashed fragments
  freshet export --format rates --out rates.csv               how often each page changes
  freshet export --from DATASET --format lambdacrawl --out d.tsv

Beside each file are FILE.README.md and FILE.meta.json: columns, units, period and counts.";

const IMPORT_EXAMPLES: &str = "\
Examples:
  freshet import crawl.brdc --format brdc --out DATASET
  freshet import bits.txt --format brdc --start 2012-11-01 --step 1d --out DATASET
  freshet import visits.csv --format observations --out DATASET
  freshet import RECORDING --format replay --out DATASET      a folder with manifest.jsonl and blobs.sqlite";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  freshet simulate DATASET --budget 5%                                 every policy, a twentieth of the pages a cycle
  freshet simulate DATASET --policy longevity,age,nutch --budget 5%,10%  three of them, with two budgets
  freshet simulate DATASET --policy all,oracles --seeds 5 --groups     with what nobody can know; five page orders
  freshet simulate --store freshet.db --budget 5%                      what would policy X have saved me?
  freshet simulate --synthetic pages=417048,cycles=57 --budget 5%      made-up pages of BRDC'12's size
  freshet simulate DATASET --policy longevity,age --plot out.svg         freshness cycle by cycle, as a picture";

const EVOLVE_EXAMPLES: &str = "\
Examples:
  freshet evolve DATASET --out champion.toml                 the paper's protocol: 300 formulas, 50 generations, 5 runs, 5 folds
  freshet evolve --store freshet.db --runs 2 --folds 2       from what your own crawl saw
  freshet evolve DATASET --terminals all                     with estimates, ages and longevity to go by as well
  freshet evolve DATASET --fitness freshness                 for copies that are up to date, not for changes found
  freshet evolve --explain champion.toml                     which terminals matter; the score as a surface
  freshet simulate DATASET --policy evolved:champion.toml,nad,age
  freshet crawl --budget 1000 --policy evolved:champion.toml

docs/evolve.md says what is bred how, and what came of it.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  freshet compare old.html new.html                0.12: an eighth of all fragments differ
  freshet compare --k 1 a.txt b.txt                by single words, in whatever order
  freshet compare --m 64 a.txt b.txt               what a crawl with `sketch = 64` would see
  pdftotext a.pdf - | freshet compare - b.txt      standard input and a file
  freshet compare page.html https://example.org/   is my copy still what the site shows?

Flags that steer cycles, such as --budget, --cycles, --policy and --profiles, have no effect here.";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  freshet reproduce avrachenkov                       the tables; plots go to ./reproduce/
  freshet reproduce grimes-ford --runs 5000           smoother curves, five times the wait
  freshet reproduce avrachenkov --runs 50 --out tmp   a first look, in seconds
  freshet reproduce grimes-ford --json                every number of every curve, for programs
  freshet reproduce longevity                         on made-up pages, in a minute or two
  freshet reproduce longevity data/replay.ds          on recorded ones, as `freshet import` makes them
  freshet reproduce gp4c                              formulas bred on made-up pages, in an hour or less

docs/reproduce.md shows what came out, and what had to be assumed.";

/// A polite web crawler that learns how pages change.
///
/// Gather: crawl, monitor. Look: status, pages, changes, diff, history, plan, why, check. Study: compare, estimate,
/// rates, export, import, simulate, evolve, reproduce. Keep: store. Play: demo, web, score. Set up: config, completions.
#[derive(Debug, Parser)]
#[command(name = "freshet", version, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// The store: one SQLite file [default: freshet.db]
    #[arg(long, global = true, value_name = "PATH", env = "FRESHET_STORE")]
    pub store: Option<PathBuf>,
    /// Settings file [default: freshet.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "FRESHET_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print facts as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more; twice: say everything (RUST_LOG overrides)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Crawl the seeds' sites into the store, politely and completely
    ///
    /// Each cycle gives every known page a score by the policy, and visits the best first, until nothing is left or the
    /// budget is spent. By default that is the page whose visit gains most freshness, as far as past visits tell. Stop
    /// it with Ctrl-C, or kill it: the next run goes on where it was.
    Crawl(Box<CrawlArgs>),
    /// Crawl again and again, a cycle every so often, until stopped
    ///
    /// Cycles begin at fixed distances, however long they take; one that takes longer than its time ends there, and
    /// what it did not reach competes in the next. After a downtime the cycles that were missed are not caught up with
    /// at once: each later cycle gets a quarter more of the budget until they are. SIGTERM or Ctrl-C lets what is in
    /// flight finish; the cycle goes on with the next run.
    #[command(after_help = MONITOR_EXAMPLES)]
    Monitor(Box<MonitorArgs>),
    /// Print the plan of the next cycle, each page with its score and the reason; nothing is fetched
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Box<PlanArgs>),
    /// Say why a page is or is not due: policy, estimate, expected gain, waits, and its rank against the cut
    Why(Box<WhyArgs>),
    /// Show what the store knows: pages, hosts that wait and why, links refused, the last cycles
    Status(StatusArgs),
    /// List pages, with filters, as a table, JSON lines or CSV
    Pages(PagesArgs),
    /// Show what changed across the collection: a table, JSON lines or an Atom feed, the latest first
    ///
    /// Changes are what visits found, see `changed` in the settings. --lasting keeps those whose new words were still
    /// there at a later visit, so that clocks, adverts and "2 days ago" stay out.
    Changes(ChangesArgs),
    /// Show what changed between two versions of a page
    ///
    /// By default the last one held and the last before it that says something else. Coloured on a terminal, a unified
    /// diff elsewhere, or JSON.
    Diff(DiffArgs),
    /// Show how a page moved: its visits, its change profiles, and how long its fragments live
    ///
    /// A fragment is a run of a few words. Static ones stay, churn is replaced where it stands, scroll is pushed away by
    /// what comes above it. K says at which update after they came fragments are replaced. A page that moved to another
    /// address has the history of both.
    History(HistoryArgs),
    /// Ask for one page now, and show everything that a crawl would make of it; nothing is stored
    ///
    /// Shows what robots.txt says of it and which rule decides, each redirect, the answer and its headers, the text
    /// that the rules of freshet.toml on what to ignore leave, and every link with the reason why a crawl that has the
    /// page as its seed would take it or not. Asks as politely as a crawl, each URL once. Exits with 1 if there is no
    /// page to be had.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Show how far two pages or files are apart, and the words that make the difference
    ///
    /// A text is the set of its fragments, runs of k words. The divergence is 1 less the share of the fragments of
    /// either that both have: 0 for the same, 1 for nothing in common. What only one of them has is printed as words,
    /// fragments that overlap joined. Files that end in .html, .htm, .xhtml or .xht are read as HTML, others as text.
    /// URLs are asked for as a crawl would, robots.txt first, and read by the rules of freshet.toml on what to ignore.
    /// Nothing is stored.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Estimate how often pages change, from visits of the store or of a file: every estimator beside the others
    ///
    /// The bounds hold 19 times out of 20, if changes come at random. A page that never changed may get a rate of 0, as
    /// the papers have it; a crawl takes at least one change in twice the time that the page was watched.
    #[command(after_help = ESTIMATE_EXAMPLES)]
    Estimate(EstimateArgs),
    /// Share out visits among pages whose change rates are known, so that the copies are as fresh as they can be
    Rates(RatesArgs),
    /// Replay policies over recorded histories: what each would have visited, and what that would have been worth
    ///
    /// The protocol is that of Santos et al. 2013: a page's first copy is free, it is visited in each of the next few cycles
    /// (warm-up, not counted), and from then on the best k of all are visited each cycle. Figures are pooled over pages and
    /// cycles; with several groups of pages the mean over the groups is shown, and each group with --groups. Intervals
    /// hold 19 times out of 20, over folds and page orders.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
    /// Breed a score function from recorded histories, or the store's own: genetic programming (GP4C, Santos et al. 2013)
    ///
    /// Formulas over what is known of a page (n visits, X of which found a change, t cycles since the last, and others) are
    /// crossed and mutated, each judged by a replay; the champion is a readable formula in a file, which runs live and in
    /// the simulator as `--policy evolved:FILE`. The same seed gives the same formula on any number of cores. Ctrl-C keeps
    /// the best so far; the same command goes on from there.
    #[command(after_help = EVOLVE_EXAMPLES)]
    Evolve(Box<EvolveArgs>),
    /// Run the experiments of a paper again, with the estimators that crawls use, and plot what comes out
    ///
    /// Prints tables, with notes on what the paper leaves open and where it slips; writes a plot (SVG) and its numbers
    /// (CSV) for each figure. The same seed gives the same numbers.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Write what visits found, from the store or a dataset, as a file that others read
    ///
    /// Only cycles that have ended are exported, and pages under their own spelling. The file is there when it is whole,
    /// not before. Memory does not grow with the store.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Read such a file, or a recording of pages, into a dataset that can be replayed
    ///
    /// What `export` wrote has all that is needed beside it; others' files may need --start and --step. A file that is
    /// wrong is told with line and column, and leaves nothing behind.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Look after the store itself
    #[command(subcommand)]
    Store(StoreCommand),
    /// See it work: crawl a web that changes, made up on loopback, visit it again on a budget, and see what that gained
    ///
    /// Needs no network and takes half a minute. The store is kept, in a new temporary folder or at --store, which must
    /// not be there yet. The same seed makes the same web.
    Demo(DemoArgs),
    /// Put up a web on loopback that changes while it is crawled, and whose truth is known
    ///
    /// Prints a seed a host and answers until Ctrl-C. Every version is a function of seed, host, page and time: the
    /// same flags and --start give the same web again. What is true of a host is at /.truth/site, of a page at
    /// /.truth/page?path=/&at=SECONDS.
    Web(Box<WebArgs>),
    /// Hold the store against the truth of a `freshet web`: how fresh, how complete, now and over the crawl's past
    ///
    /// Freshness: the share of the living pages whose held text is the true one. Staleness: how far held and true
    /// fragments are apart, 0 to 1; a page not held counts 1. Age: time since the first change not seen. The past is
    /// seen at 60 moments, from the first visit to now.
    Score(ScoreArgs),
    /// Print the effective settings as TOML: flags over environment over file over defaults
    Config(Box<CrawlFlags>),
    /// Print the completion script of a shell
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
}

impl Command {
    /// What was said of crawls, if the command takes it.
    pub fn crawl_flags(&self) -> Option<&CrawlFlags> {
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

#[derive(Debug, Args)]
pub struct CrawlArgs {
    /// Seeds: a URL a line, `#` comments; optionally a tab and weight=, depth=, scope= fields; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Run this (with `sh -c`) for every page that changed, the change as JSON on its standard input
    #[arg(long, value_name = "CMD")]
    pub on_change: Option<String>,
    /// End a command of --on-change that takes longer
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub on_change_timeout: f64,
    /// Leave out seed lines that are wrong, instead of stopping
    #[arg(long)]
    pub skip_bad_seeds: bool,
    #[command(flatten)]
    pub flags: CrawlFlags,
}

/// What can be set for a crawl.
#[derive(Debug, Default, Args)]
pub struct CrawlFlags {
    /// Least pause between the end of a request and the start of the next, on one host [default: 1]
    #[arg(long, value_name = "SECONDS", env = "FRESHET_DELAY", help_heading = "Politeness")]
    pub delay: Option<f64>,
    /// Requests in flight, over all hosts [default: 64]
    #[arg(long, value_name = "N", env = "FRESHET_CONCURRENCY", help_heading = "Politeness")]
    pub concurrency: Option<u32>,
    /// Requests in flight on one host [default: 1]
    #[arg(long, value_name = "N", env = "FRESHET_PER_HOST", help_heading = "Politeness")]
    pub per_host: Option<u32>,
    /// Requests a second, over all hosts; 0: no limit [default: 0]
    #[arg(long, value_name = "N", env = "FRESHET_RATE", help_heading = "Politeness")]
    pub rate: Option<f64>,
    /// Requests a second to one IP address, however many hosts it serves; 0: no limit [default: 4 / delay]
    #[arg(long, value_name = "N", env = "FRESHET_ADDRESS_RATE", help_heading = "Politeness")]
    pub address_rate: Option<f64>,
    /// Longest Crawl-delay of a robots.txt that is kept; a host that asks for more is skipped [default: 60]
    #[arg(long, value_name = "SECONDS", env = "FRESHET_MAX_CRAWL_DELAY", help_heading = "Politeness")]
    pub max_crawl_delay: Option<f64>,
    /// Longest a cycle waits for a host that asks for time; else it rests until a later cycle [default: 120]
    #[arg(long, value_name = "SECONDS", env = "FRESHET_PATIENCE", help_heading = "Politeness")]
    pub patience: Option<f64>,
    /// Where site owners can reach you: a URL or mail address, sent in the user agent
    #[arg(long, value_name = "URL", env = "FRESHET_CONTACT", help_heading = "Politeness")]
    pub contact: Option<String>,
    /// Follow links marked nofollow too
    #[arg(long, env = "FRESHET_IGNORE_NOFOLLOW", value_parser = FalseyValueParser::new(), help_heading = "Politeness")]
    pub ignore_nofollow: bool,

    /// Which links are followed from a seed [default: host]
    #[arg(long, value_enum, env = "FRESHET_SCOPE", help_heading = "Scope")]
    pub scope: Option<ScopeArg>,
    /// Follow only URLs that match (repeatable)
    #[arg(
        long,
        value_name = "REGEX",
        env = "FRESHET_INCLUDE",
        value_delimiter = '\n',
        help_heading = "Scope"
    )]
    pub include: Vec<String>,
    /// Follow no URL that matches (repeatable)
    #[arg(
        long,
        value_name = "REGEX",
        env = "FRESHET_EXCLUDE",
        value_delimiter = '\n',
        help_heading = "Scope"
    )]
    pub exclude: Vec<String>,
    /// Links followed from a seed at the most
    #[arg(long, value_name = "N", env = "FRESHET_MAX_DEPTH", help_heading = "Scope")]
    pub max_depth: Option<u32>,
    /// Pages known of one host at the most [default: 100000]
    #[arg(long, value_name = "N", env = "FRESHET_MAX_PAGES_PER_HOST", help_heading = "Scope")]
    pub max_pages_per_host: Option<u32>,
    /// Don't look for sitemaps
    #[arg(long, env = "FRESHET_NO_SITEMAPS", value_parser = FalseyValueParser::new(), help_heading = "Scope")]
    pub no_sitemaps: bool,
    /// Reach private, loopback and other special addresses: all of them, or only these ranges
    #[arg(
        long,
        value_name = "RANGE,…",
        env = "FRESHET_ALLOW_PRIVATE",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        default_missing_value = "all",
        help_heading = "Scope"
    )]
    pub allow_private: Option<Vec<String>>,

    /// Requests a cycle may send, of whatever kind [default: as many as there are pages]
    #[arg(long, value_name = "K", env = "FRESHET_BUDGET", help_heading = "Budget")]
    pub budget: Option<u64>,
    /// Cycles to run [default: 1]
    #[arg(long, value_name = "N", env = "FRESHET_CYCLES", help_heading = "Budget")]
    pub cycles: Option<u64>,
    /// Which page is visited first; `--policy help` lists them; also a formula, `expr:t * X / n`, or a file of
    /// `freshet evolve`, `evolved:champion.toml` [default: longevity]
    #[arg(long, value_name = "NAME", env = "FRESHET_POLICY", help_heading = "Budget")]
    pub policy: Option<String>,
    /// What visits are to achieve, which picks the policy if none is named: staleness, freshness, changes [default: staleness]
    #[arg(long, value_name = "AIM", env = "FRESHET_OBJECTIVE", help_heading = "Budget")]
    pub objective: Option<String>,
    /// Visit a page again once its score reaches T (of `longevity` and `utility`: divergence × days a visit would gain),
    /// however many these are; with --budget, the best of them [default: all that the budget has room for]
    #[arg(long, value_name = "T", env = "FRESHET_THRESHOLD", help_heading = "Budget")]
    pub threshold: Option<f64>,
    /// Of a cycle's visits, the share kept for pages never visited, 0 to 1 [default: they compete with the others]
    #[arg(long, value_name = "SHARE", env = "FRESHET_DISCOVER", help_heading = "Budget")]
    pub discover: Option<f64>,
    /// What the importance of pages goes by: seeds, equal, inlinks, pagerank [default: seeds]
    #[arg(long, value_name = "KIND", env = "FRESHET_WEIGHT", help_heading = "Budget")]
    pub weight: Option<String>,
    /// How long the policy `fixed` leaves a page alone: 12h, 1d, 2w [default: 1d]
    #[arg(long, value_name = "TIME", env = "FRESHET_INTERVAL", help_heading = "Budget")]
    pub interval: Option<String>,
    /// How little `longevity-curve` and `longevity-bound` believe that a page stays as it is: a page is worth at least a
    /// RHOth of the time it was left alone [default: 10]
    #[arg(long, value_name = "RHO", env = "FRESHET_RISK", help_heading = "Budget")]
    pub risk: Option<f64>,
    /// With --threshold: how long `longevity-curve` leaves a new page alone at the most, and n times that after its nth visit
    /// [default: 1d]
    #[arg(long, value_name = "TIME", env = "FRESHET_LEARNING", help_heading = "Budget")]
    pub learning: Option<String>,

    /// When a page has changed: `bytes`, `text`, or `divergence > 0.02` [default: text]
    #[arg(long, value_name = "RULE", env = "FRESHET_CHANGED", help_heading = "Change")]
    pub changed: Option<String>,
    /// Words of a fragment, the unit in which changes are measured [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS", help_heading = "Change")]
    pub fragment_words: Option<usize>,
    /// Fragments kept of a version, or `all` [default: 250]
    #[arg(long, value_name = "M", env = "FRESHET_SKETCH", help_heading = "Change")]
    pub sketch: Option<String>,
    /// Change profiles kept of a page [default: 5]
    #[arg(long, value_name = "H", env = "FRESHET_PROFILES", help_heading = "Change")]
    pub profiles: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScopeArg {
    /// The seed's folder on its host
    Prefix,
    /// The seed's host
    Host,
    /// The seed's registrable domain, by the public suffix list
    Domain,
    /// Everything
    Any,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Hosts to show; those that wait come first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub hosts: usize,
    /// Cycles to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub cycles: usize,
    /// Show how many bytes scheduling keeps of a page
    #[arg(long)]
    pub sizes: bool,
}

#[derive(Debug, Args)]
pub struct ChangesArgs {
    /// From when on: how long ago (30m, 12h, 7d), or a date (2026-11-16)
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub since: String,
    /// Leave out pages that moved less than this, from 0 to 1
    #[arg(long, value_name = "D", default_value_t = 0.0)]
    pub min_divergence: f64,
    /// Keep only changes that a later visit still found
    #[arg(long)]
    pub lasting: bool,
    /// Only pages of this host (`example.org`, `example.org:8080`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// At most so many; 0: all of them [default: 100 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Words of a fragment, for --lasting: as many as the crawl was told to take [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<usize>,
    /// How to print them; --json means json
    #[arg(long, value_enum, default_value_t = ChangesFormat::Table)]
    pub format: ChangesFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangesFormat {
    Table,
    /// One object a line
    Json,
    /// A feed that a reader can follow
    Atom,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    pub url: String,
    /// The version held at this time: a date (2026-11-16), a date with a time, or how long ago (12h, 7d)
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// The version held at this time [default: the last one]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Lines shown around a change
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub context: usize,
    /// A unified diff on a terminal too
    #[arg(long)]
    pub unified: bool,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The page, with its scheme: https://example.org/
    pub url: String,
    /// Links to show, or `all`; --json always has all
    #[arg(long, value_name = "N", default_value = "20")]
    pub links: String,
    /// Show all of the text, not only its first lines
    #[arg(long)]
    pub text: bool,
    #[command(flatten)]
    pub flags: CrawlFlags,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A file, `-` for standard input, or an http(s) URL
    pub a: String,
    /// What to hold against it, named likewise
    pub b: String,
    /// Words of a fragment, 1 to 64 [default: fragment_words of the settings, which is 4 unless set]
    #[arg(long, value_name = "K")]
    pub k: Option<usize>,
    /// Estimate the divergence from so many of the smallest fragments, as a crawl does; `all`: exact
    #[arg(long, value_name = "M", default_value = "all")]
    pub m: String,
    /// Show all that differs, not only the first 20 stretches of each side; --json always has all
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub flags: CrawlFlags,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    pub url: String,
    /// Visits to show, the latest; 0: all of them [default: 20 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Words of a fragment: as many as the crawl was told to take [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<usize>,
}

#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// From the start of one cycle to that of the next: 1h, 1d, 1w [default: 1d]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<String>,
    /// The time of day, UTC, at which cycles begin: 02:00
    #[arg(long, value_name = "HH:MM", env = "FRESHET_AT")]
    pub at: Option<String>,
    /// Requests of a day, however many cycles it has: a threshold is kept that costs as much, so that a cycle in which
    /// more is due sends more
    #[arg(long, value_name = "N", env = "FRESHET_DAILY_BUDGET", conflicts_with_all = ["budget", "threshold"])]
    pub daily_budget: Option<u64>,
    /// Run one cycle now, and end: for cron and systemd timers
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub crawl: CrawlArgs,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// From the start of one cycle to that of the next: how much can be asked of a host [default: no bound]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<String>,
    /// Visits to show; 0: all of them [default: 40 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub flags: CrawlFlags,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    pub url: String,
    /// From the start of one cycle to that of the next: how much can be asked of a host [default: no bound]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<String>,
    #[command(flatten)]
    pub flags: CrawlFlags,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Make again what is derived from the log and the versions: sketches, change profiles, what is known of pages
    ///
    /// Needed after a change of `fragment_words` or `sketch`, so that all is measured alike. The log and the versions
    /// stay as they are. No crawl may use the store meanwhile.
    ///
    /// The store does not remember these values: one that was crawled with others (`--sketch all`, say) should be
    /// rebuilt with the same flags.
    Rebuild(RebuildArgs),
}

#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// Change nothing; exit with 1 if something would differ
    #[arg(long)]
    pub check: bool,
    /// Words of a fragment [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<usize>,
    /// Fragments kept of a version, or `all` [default: 250]
    #[arg(long, value_name = "M", env = "FRESHET_SKETCH")]
    pub sketch: Option<String>,
    /// Change profiles kept of a page [default: 5]
    #[arg(long, value_name = "H", env = "FRESHET_PROFILES")]
    pub profiles: Option<usize>,
    /// The policy that what was learnt of pages is for [default: that of the last cycle]
    #[arg(long, value_name = "NAME", env = "FRESHET_POLICY")]
    pub policy: Option<String>,
}

#[derive(Debug, Args)]
pub struct PagesArgs {
    /// Only pages in this state: new, alive, missing, gone, failing, blocked, redirected, alias
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only pages of this host (`example.org`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only pages whose URL contains this
    #[arg(long, value_name = "TEXT")]
    pub url: Option<String>,
    /// Only pages whose last visit ended like this (`fetched`, `too-large`, `no-answer`, …)
    #[arg(long, value_name = "OUTCOME")]
    pub outcome: Option<String>,
    /// Only pages at most this deep
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Show other spellings of pages too
    #[arg(long)]
    pub aliases: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// How to print them; --json means json
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// A smaller web, and only seconds of it
    #[arg(long)]
    pub short: bool,
    /// What the web is drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Policies to compare, on the same web with the same budget [default: longevity,uniform,nutch]
    #[arg(long, value_name = "NAME,…")]
    pub policy: Vec<String>,
    /// Hosts of the web
    #[arg(long, value_name = "H")]
    pub hosts: Option<u32>,
    /// Pages of each host
    #[arg(long, value_name = "N")]
    pub pages: Option<u32>,
    /// Cycles after the first crawl, one a day of the web
    #[arg(long, value_name = "N")]
    pub cycles: Option<u32>,
    /// Requests a cycle may send [default: a tenth of the pages; with --short a quarter]
    #[arg(long, value_name = "K")]
    pub budget: Option<u64>,
    /// How long a day of the web lasts: 500ms, 2s
    #[arg(long, value_name = "TIME")]
    pub day: Option<String>,
}

/// What has no meaning for a web that is played back.
const MODEL_FLAGS: [&str; 19] = [
    "hosts",
    "pages",
    "seed",
    "static_share",
    "scroll_share",
    "turnover",
    "move_share",
    "gone_share",
    "median_bytes",
    "no_noise",
    "rhythm",
    "etag_right",
    "etag_wrong",
    "modified_right",
    "modified_wrong",
    "sitemap_precision",
    "sitemap_recall",
    "feed_precision",
    "feed_recall",
];

/// Shares are from 0 to 1.
#[derive(Debug, Args)]
pub struct WebArgs {
    /// Hosts: 127.0.1.1, 127.0.1.2 and so on
    #[arg(long, value_name = "H", default_value_t = 3)]
    pub hosts: u32,
    /// Pages that live on each host at any moment
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub pages: u32,
    /// What everything is drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How long a day of the web lasts: 500ms, 10s, 5m, 1h, 1d
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub day: String,
    /// Port of every host; 0: one that is free
    #[arg(long, value_name = "P", default_value_t = 8000)]
    pub port: u16,
    /// Play back recorded histories instead: a folder with manifest.jsonl and blobs.sqlite, a group of pages a host
    #[arg(long, value_name = "DIR", conflicts_with_all = MODEL_FLAGS)]
    pub replay: Option<PathBuf>,
    /// When day 0 began, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    pub start: Option<f64>,

    /// Pages that never change
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Pages")]
    pub static_share: f64,
    /// Of the words that change, those in lists that scroll; the others are rewritten as a whole
    #[arg(long, value_name = "SHARE", default_value_t = 0.33, help_heading = "Pages")]
    pub scroll_share: f64,
    /// How often a page dies or moves, a day
    #[arg(long, value_name = "RATE", default_value_t = 0.01, help_heading = "Pages")]
    pub turnover: f64,
    /// Of these, moves (301)
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, help_heading = "Pages")]
    pub move_share: f64,
    /// Of the pages that die, those that answer 410, not 404
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, help_heading = "Pages")]
    pub gone_share: f64,
    /// Bytes of a page in the middle; they go from a third of it to five times as much
    #[arg(long, value_name = "BYTES", default_value_t = 16_000, help_heading = "Pages")]
    pub median_bytes: u32,
    /// No clock, advert and session token on the pages
    #[arg(long, help_heading = "Pages")]
    pub no_noise: bool,
    /// Changes come by day more than by night, and less on two days of seven
    #[arg(long, help_heading = "Pages")]
    pub rhythm: bool,

    /// Pages with a right ETag
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, help_heading = "What the hosts tell")]
    pub etag_right: f64,
    /// Pages with a wrong one: it never moves, or always
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, help_heading = "What the hosts tell")]
    pub etag_wrong: f64,
    /// Pages with a right Last-Modified
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, help_heading = "What the hosts tell")]
    pub modified_right: f64,
    /// Pages with a wrong one: it never moves, or always
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, help_heading = "What the hosts tell")]
    pub modified_wrong: f64,
    /// Of the dates in the sitemap, the true ones
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, help_heading = "What the hosts tell")]
    pub sitemap_precision: f64,
    /// Of the pages, those in the sitemap
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, help_heading = "What the hosts tell")]
    pub sitemap_recall: f64,
    /// Of the changes that the feed tells of, the true ones
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, help_heading = "What the hosts tell")]
    pub feed_precision: f64,
    /// Of the changes, those that the feed tells of
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, help_heading = "What the hosts tell")]
    pub feed_recall: f64,
}

#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// A host of the web, as `freshet web` printed it; the others are found from it
    #[arg(long, value_name = "URL")]
    pub truth: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    Table,
    /// One object a line
    Json,
    Csv,
}
