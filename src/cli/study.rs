//! What the commands take that study change: estimates, replays, breeding, papers, datasets.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use freshet::evolve::fitness::Fitness;
use freshet::evolve::population::Selection;
use freshet::policy::optimal_rate::Objective;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("of").required(true))]
pub struct EstimateArgs {
    /// A page of the store
    #[arg(group = "of")]
    pub url: Option<String>,
    /// All pages of the store
    #[arg(long, group = "of")]
    pub all: bool,
    /// Visits as CSV, a header `page,interval,changed`: days since the visit before, and 1 if it had changed, else 0; a
    /// page's visits in their order; `-` reads standard input
    #[arg(long, value_name = "FILE", group = "of")]
    pub input: Option<PathBuf>,
    /// Fit the priors of `gamma` and `two-interval` to the store's pages, and keep them for its crawls
    #[arg(long, group = "of")]
    pub fit_prior: bool,
    /// What pages have in common that share a prior, for --fit-prior: all, host, depth [default: host]
    #[arg(long, value_name = "KIND", requires = "fit_prior")]
    pub group: Option<String>,
    /// How fast `sa` settles: its step after k visits is (k + 1)^-γ, γ above 0.5 and at most 1
    #[arg(long, value_name = "GAMMA", default_value_t = 0.75)]
    pub sa_gamma: f64,
    /// What `lln` adds to the visits that found nothing (α of its paper): one, log, sqrt, 3/4
    #[arg(long, value_name = "ALPHA", default_value = "one")]
    pub lln_alpha: String,
    /// Estimators by name, or all
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "all")]
    pub estimator: Vec<String>,
}

#[derive(Debug, Args)]
pub struct RatesArgs {
    /// Pages as CSV, a header `page,rate,weight`: changes a day, and importance; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub input: PathBuf,
    /// Visits a day, over all pages
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub budget: f64,
    /// What the visits are to achieve
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Periodic)]
    pub objective: ObjectiveArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ObjectiveArg {
    /// Most freshness, with visits at random moments
    Poisson,
    /// Most freshness, with visits at even distances
    Periodic,
    /// Least harmonic cost of unseen changes: no page that changes is given up
    Harmonic,
}

impl From<ObjectiveArg> for Objective {
    fn from(argument: ObjectiveArg) -> Self {
        match argument {
            ObjectiveArg::Poisson => Self::Poisson,
            ObjectiveArg::Periodic => Self::Periodic,
            ObjectiveArg::Harmonic => Self::Harmonic,
        }
    }
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// A dataset, as `freshet import` makes it; without one, and with --store, the store's own history
    pub dataset: Option<PathBuf>,
    /// Made-up pages: `pages=1000,cycles=60,moments=1,static=0.5,median=0.1,spread=1.5,seed=1`, of which any may be left out:
    /// moments of a day at which pages may change (24: as good as continuous), the share that never changes, changes a day
    /// of the page in the middle of the others, and the spread of their logarithms; `scroll=0.33` gives pages fragments, of
    /// which a third of the changing pages' scroll and the others' churn; `adverts=0.5` gives half of all pages a small part
    /// that changes several times a day (`advert-part`), `quiet=0.4` pages without either, `moving=0.4` texts of which so much
    /// changes at most, `fragments=192` larger pages; `rest=0.5` lets pages rest for half of their time, after spells of 30
    /// days in the mean (`spell=30`)
    #[arg(long, value_name = "SPEC", conflicts_with = "dataset")]
    pub synthetic: Option<String>,
    /// Policies by name; `all`: every policy; `oracles`: those that know the future, and the bound that nobody can pass;
    /// `azar-credit`, `proportional-credit`: crawl rates kept to by credit; `expr:t * X / n`: a formula;
    /// `evolved:champion.toml`: what `freshet evolve` bred
    #[arg(long, value_name = "NAME,…", default_value = "all")]
    pub policy: Vec<String>,
    /// Of the pages, the share that a cycle visits: 5%, or several: 2%,5%,10%
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', default_value = "5%")]
    pub budget: Vec<String>,
    /// Cycles in which a page is visited anyway, after its first copy
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm_up: u32,
    /// Split the pages into so many parts, and replay each on its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub folds: u32,
    /// Orders of the pages, which decide ties; the first is that of the dataset
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Fragments that a policy's sketches of pages hold (m): divergences are estimated from so many hashes; all by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sketch: Option<u32>,
    /// Change profiles that a policy keeps of a page (h)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub profiles: u32,
    /// Leave out groups with fewer pages, unless all are that small
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub least_pages: usize,
    /// Show each group of pages, not only their mean
    #[arg(long)]
    pub groups: bool,
    /// Print CSV: a line a policy, budget and group
    #[arg(long)]
    pub csv: bool,
    /// Write a plot (SVG): of freshness, cycle by cycle; with several budgets, of staleness by what it costs
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct EvolveArgs {
    /// A dataset, as `freshet import` makes it; without one, and with --store, the store's own history
    pub dataset: Option<PathBuf>,
    /// Made-up pages, as for `simulate`, with one moment a cycle
    #[arg(long, value_name = "SPEC", conflicts_with = "dataset")]
    pub synthetic: Option<String>,
    /// Where the champion goes; a plot of the generations goes beside it (.svg), and what is needed to go on (.journal)
    #[arg(long, value_name = "FILE", default_value = "champion.toml")]
    pub out: PathBuf,
    /// Formulas of a generation
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub population: u32,
    /// Generations of a run
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub generations: u32,
    /// Times that it is begun anew with other draws, in each fold
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Parts of the pages: each tests what was bred on the others; 1: nothing is tested
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub folds: u32,
    /// What formulas are bred for
    #[arg(long, value_enum, default_value_t = FitnessArg::Changerate)]
    pub fitness: FitnessArg,
    /// What formulas may go by; `all`: everything; `help` lists them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "n,X,t")]
    pub terminals: Vec<String>,
    /// How the champion is picked of the best formulas, by what they are worth on the pages they were bred on and on others
    #[arg(long, value_enum, default_value_t = SelectionArg::Avg)]
    pub selection: SelectionArg,
    /// The best of all generations of a run that are tried on other pages
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub kept: u32,
    /// Of the pages, the share that a cycle visits
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub budget: String,
    /// Cycles in which a page is visited anyway, after its first copy
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm_up: u32,
    /// Leave out groups with fewer pages, unless all are that small
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub least_pages: usize,
    /// What everything is drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Replays at the same time [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Begin anew, even if an earlier run can be gone on with
    #[arg(long)]
    pub anew: bool,
    /// Don't breed: say what the formula of this file goes by, on its own data or on DATASET
    #[arg(long, value_name = "FILE")]
    pub explain: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FitnessArg {
    /// Visits that found a change
    Changerate,
    /// The same, earlier visits of a cycle counting more
    Ndcg,
    /// Copies that are what the page says
    Freshness,
}

impl From<FitnessArg> for Fitness {
    fn from(argument: FitnessArg) -> Self {
        match argument {
            FitnessArg::Changerate => Self::ChangeRate,
            FitnessArg::Ndcg => Self::Ndcg,
            FitnessArg::Freshness => Self::Freshness,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SelectionArg {
    /// The best on other pages
    Best,
    /// The best sum, less the standard deviation of the two
    Sum,
    /// The best mean, less the standard deviation
    Avg,
}

impl From<SelectionArg> for Selection {
    fn from(argument: SelectionArg) -> Self {
        match argument {
            SelectionArg::Best => Self::Best,
            SelectionArg::Sum => Self::Sum,
            SelectionArg::Avg => Self::Avg,
        }
    }
}

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Whose experiments
    #[arg(value_enum)]
    pub paper: Paper,
    /// Recorded pages instead of made-up ones, as `freshet import` makes them; `longevity` and `gp4c` only
    pub dataset: Option<PathBuf>,
    /// Where plots and numbers go; files of the same names are replaced
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
    /// Times that a page's life is drawn; `longevity` draws half as many pages, `gp4c` ten times as many
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub runs: u32,
    /// What everything is drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Paper {
    /// Change rates estimated online, and freshness by them (2020)
    Avrachenkov,
    /// The bias of estimators, the first interval, and a prior of two intervals (2008)
    GrimesFord,
    /// How long fragments live, and policies that go by it, against those that count changes (Olston & Pandey 2008)
    Longevity,
    /// Score functions that are bred, against their baselines and ours (Santos et al. 2013)
    Gp4c,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// How it is written
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// The file; others that go with it have its name and an ending of their own
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// A dataset, instead of the store
    #[arg(long, value_name = "DATASET")]
    pub from: Option<PathBuf>,
    /// This group of the dataset only
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// What it is called [default: as the store's file or the dataset]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExportFormat {
    /// BRDC'12: a line a page, `0` or `1` a cycle
    Brdc,
    /// PoliteCrawling: gaps and change bits, and importance
    Lambdacrawl,
    /// Every visit; CSV, JSON lines or Parquet by the ending of the file (.csv, .jsonl, .parquet)
    Observations,
    #[value(alias = "csv")]
    ObservationsCsv,
    #[value(alias = "jsonl")]
    ObservationsJsonl,
    #[value(alias = "parquet")]
    ObservationsParquet,
    /// What pages said from when on, as sorted fragment hashes, in Parquet
    Fragments,
    /// How often pages change, as CSV
    Rates,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file, or the folder of a recording
    pub source: PathBuf,
    /// How it is written
    #[arg(long, value_enum)]
    pub format: ImportFormatArg,
    /// The dataset: a folder that is not there yet
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// What it is called [default: as the file says, or its name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// When the first cycle was, for a file that does not tell [default: 1970-01-01, or the first day in it]
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    /// From one cycle to the next, for a file that does not tell [default: 1d]
    #[arg(long, value_name = "TIME")]
    pub step: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImportFormatArg {
    /// BRDC'12: bits alone, or the older `site page bits`
    Brdc,
    /// PoliteCrawling: a file, or the folder as it was published
    Lambdacrawl,
    /// Every visit; CSV, JSON lines or Parquet, whichever it is
    Observations,
    #[value(alias = "csv")]
    ObservationsCsv,
    #[value(alias = "jsonl")]
    ObservationsJsonl,
    #[value(alias = "parquet")]
    ObservationsParquet,
    /// What pages said from when on, as sorted fragment hashes
    Fragments,
    /// How often pages change; the moments of the changes are made up, evenly spread
    Rates,
    /// A recording: a folder with manifest.jsonl and blobs.sqlite
    Replay,
}
