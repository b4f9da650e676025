//! Commands that study change: comparisons, estimates, replays, breeding, papers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use freshet::evolve::BreedingRule;
use freshet::evolve::fitness::Fitness;
use freshet::evolve::population::Selection;
use freshet::policy::allocation::Objective;

use super::{FetchFlags, QueryFlags, names};
use crate::settings::{Damping, FragmentWords, Gamma, SketchSize, Written};

const COMPARE_EXAMPLES: &str = "\
Examples:
  freshet compare old.html new.html                0.12: about an eighth of all fragments differ
  freshet compare --k 1 a.txt b.txt                by single words, in any order
  freshet compare --m 64 a.txt b.txt               the estimate of a crawl with `sketch = 64`
  pdftotext a.pdf - | freshet compare - b.txt      standard input and a file
  freshet compare page.html https://example.org/   is my copy still the text of the site?";

/// Show the divergence of two pages or files, and the words that differ
///
/// A text is the set of its fragments, runs of k words. The divergence is 1 minus the share of all fragments that both
/// texts have: 0 for the same text, 1 for nothing in common. Fragments that only one text has are printed as words,
/// overlapping ones joined. Files that end in .html, .htm, .xhtml or .xht are read as HTML, others as text. URLs are
/// fetched as a crawl would, robots.txt first, and read by the `ignore` rules of freshet.toml. Nothing is stored.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// First text: a file, `-` for standard input, or an http(s) URL
    pub a: String,
    /// Second text: a file, `-` for standard input, or an http(s) URL
    pub b: String,
    /// Words in a fragment, 1 to 64 [default: `fragment_words` of the settings, which is 4 unless set]
    #[arg(long, value_name = "K")]
    pub k: Option<FragmentWords>,
    /// Estimate the divergence from this number of the smallest fragments, as a crawl does; `all`: exact
    #[arg(long, value_name = "M", default_value = "all")]
    pub m: SketchSize,
    /// Show all differences, not only the first 20 stretches of each side; --json always has all
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub flags: FetchFlags,
}

const ESTIMATE_EXAMPLES: &str = "\
Examples:
  freshet estimate https://example.org/          every estimator on one page of the store
  freshet estimate --all --estimator gamma,mle   two of them on all pages
  freshet estimate --input visits.csv --json     histories from a file, no store needed
  freshet estimate --fit-prior --group host      fit the priors to the store's own pages, and store them
  freshet estimate --first-interval              the best time until the second visit to a new page";

/// Estimate how often pages change, from visits of the store or of a file, with every estimator side by side
///
/// The bounds hold 19 times out of 20 if changes come at random. A page that never changed may get a rate of 0, as in the
/// papers; a crawl assumes at least one change in twice the time that the page was watched.
#[derive(Debug, Args)]
#[command(after_help = ESTIMATE_EXAMPLES)]
#[command(group = clap::ArgGroup::new("of").required(true))]
pub(crate) struct EstimateArgs {
    /// A page of the store
    #[arg(group = "of")]
    pub url: Option<String>,
    /// All pages of the store
    #[arg(long, group = "of")]
    pub all: bool,
    /// Visits as CSV with the header `page,interval,changed`: days since the visit before, and 1 if the page had changed,
    /// else 0. Visits of a page are in the order of time. `-` reads standard input
    #[arg(long, value_name = "FILE", group = "of")]
    pub input: Option<PathBuf>,
    /// Fit the priors of `gamma`, `two-interval` and `posterior` and the first interval of new pages to the store's pages, and
    /// store them for its crawls
    #[arg(long, group = "of")]
    pub fit_prior: bool,
    /// Show the best time between the first and the second visit to a new page: the one with the smallest errors of estimated
    /// periods, if the new pages are like those of the store. Changes nothing
    #[arg(long, group = "of")]
    pub first_interval: bool,
    /// Pages that share a prior, for --fit-prior: all pages, those of one host, or of one depth: all, host, depth [default:
    /// host]
    #[arg(long, value_name = "KIND", requires = "fit_prior")]
    pub group: Option<String>,
    /// γ of `sa`, above 0.5 and at most 1: its step after k visits is (k + 1)^-γ
    #[arg(long, value_name = "GAMMA", default_value = "0.75")]
    pub sa_gamma: Gamma,
    /// α of `lln`, added to the visits that found no change: one, log, sqrt, 3/4
    #[arg(long, value_name = "ALPHA", default_value = "one")]
    pub lln_alpha: Written<Damping>,
    /// Estimators to use, or all
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "all",
        value_parser = names::estimator_names(),
        hide_possible_values = true
    )]
    pub estimator: Vec<String>,
}

const QUALITY_EXAMPLES: &str = "\
Examples:
  freshet quality --queries queries.txt                   a query per line, optionally a tab and its frequency
  freshet quality --queries-from access.log --param q     the searches in the log of a web server
  freshet quality --queries-from search --limit 20        the searches that `freshet search` has kept
  freshet crawl --policy user-centric --queries queries.txt --budget 100    visit these pages";

/// Estimate how good the results of searches are: the queries and pages where a visit would gain most
///
/// Quality is that of Pandey & Olston 2005: 1 if every query is answered as well as by copies that are all up to date. What
/// age costs is estimated from the measured gains of earlier refreshes, or from the chance that a page has changed. Nothing
/// is fetched. `freshet score` measures the quality on a web whose truth is known. docs/quality.md explains both.
#[derive(Debug, Args)]
#[command(after_help = QUALITY_EXAMPLES)]
pub(crate) struct QualityArgs {
    /// Queries and pages to show; 0: all of them
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    #[command(flatten)]
    pub flags: QueryFlags,
}

/// Share out visits among pages with known change rates, so that the copies are as fresh as possible
#[derive(Debug, Args)]
pub(crate) struct RatesArgs {
    /// Pages as CSV with the header `page,rate,weight`: changes per day, and importance; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub input: PathBuf,
    /// Visits per day, over all pages
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub budget: f64,
    /// Aim of the visits
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Periodic)]
    pub objective: ObjectiveArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ObjectiveArg {
    /// Most freshness, with visits at random moments
    Poisson,
    /// Most freshness, with visits at even intervals
    Periodic,
    /// Least harmonic cost of unseen changes: every page that changes gets visits
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

const SIMULATE_EXAMPLES: &str = "\
Examples:
  freshet simulate DATASET --budget 5%                                 every policy, 5% of the pages per cycle
  freshet simulate DATASET --policy calibrated,age,nutch --budget 5%,10%  three of them, with two budgets
  freshet simulate DATASET --policy all,oracles --seeds 5 --groups     with oracles, in five page orders
  freshet simulate --store freshet.db --budget 5%                      replay my own crawl under each policy
  freshet simulate --synthetic pages=417048,cycles=58 --budget 5%      made-up pages, as many as in BRDC'12
  freshet simulate DATASET --policy calibrated,age --plot out.svg        freshness cycle by cycle, as a picture
  freshet simulate DATASET --signals 0.8,0.5                           sites tell half of their changes, and are right 8 times in 10
  freshet simulate DATASET --signals 0.2,0.9,delay=2,build             all pages of a site are stamped at once, two cycles late";

/// Replay policies over recorded histories: the visits of each policy, and what they would have gained
///
/// The protocol is that of Santos et al. 2013: the first copy of a page is free, the page is visited in each of the next
/// few cycles (warm-up, not counted), and from then on the best k of all pages are visited each cycle. Figures are pooled
/// over pages and cycles; with several groups of pages the mean over the groups is shown, and each group with --groups.
/// Intervals hold 19 times out of 20, over folds and page orders.
#[derive(Debug, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// Dataset made by `freshet import`; without one, and with --store, the store's own history
    pub dataset: Option<PathBuf>,
    /// Made-up pages: `pages=1000,cycles=60,moments=1,static=0.5,median=0.1,spread=1.5,seed=1`; any part may be left out.
    /// The first of the cycles is that of the first copies. `sites=17` puts the pages on sites, few of them large.
    /// `moments`: moments of a day at which pages may change (24 is almost continuous). `static`: share of pages that never
    /// change. `median`: changes per day of the median page of the others; `spread`: standard deviation of the logarithms.
    /// `scroll=0.33` gives pages fragments: on a third of the changing pages they scroll, on the others they churn.
    /// `adverts=0.5` gives half of all pages a small part that changes several times a day (`advert-part` is its size),
    /// `quiet=0.4` makes pages without either, `moving=0.4` is the largest share of a text that changes, `fragments=192`
    /// makes larger pages. `rest=0.5` lets pages rest for half of their time, after spells of 30 days on average (`spell=30`)
    #[arg(long, value_name = "SPEC", conflicts_with = "dataset")]
    pub synthetic: Option<String>,
    /// Policies by name; `all`: every policy; `oracles`: policies that know the future, and the upper bound of all policies;
    /// `azar-credit`, `proportional-credit`: crawl rates kept by credit; `expr:t * X / n`: a formula;
    /// `evolved:champion.toml`: a formula from `freshet evolve`
    #[arg(
        long,
        value_name = "NAME,…",
        default_value = "all",
        value_parser = names::compared_policies(),
        hide_possible_values = true
    )]
    pub policy: Vec<String>,
    /// Share of the pages that a cycle visits: 5%, or several: 2%,5%,10%
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', default_value = "5%")]
    pub budget: Vec<String>,
    /// Cycles after its first copy in which a page is always visited
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm_up: u32,
    /// Split the pages into this number of parts, and replay each on its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub folds: u32,
    /// Number of page orders, which decide ties; the first is that of the dataset
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Hashes in a policy's sketches of pages (m), from which divergences are estimated [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sketch: Option<u32>,
    /// Change profiles that a policy keeps of a page (h)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub profiles: u32,
    /// Draw signals such as the dates of sitemaps, for policies that look at them: PRECISION,RECALL[,delay=N][,poisson|build|always].
    /// PRECISION: share of signals that are right; RECALL: share of changes that are told; `delay`: cycles until a signal is
    /// known. False signals come by themselves (`poisson`), for all pages of a host at once (`build`), or every page has one in
    /// every cycle (`always`). `none`: no signals [default: those that the dataset has]
    #[arg(long, value_name = "SPEC")]
    pub signals: Option<String>,
    /// Let each reading of a host's list of signals cost a request. A policy decides when that is worth it; for policies that
    /// don't, lists take turns, on this share of the budget (5% if it is left out) [default: lists are free]
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "5%")]
    pub list_cost: Option<String>,
    /// Let the cycles of a day share their budget, by a threshold, as `monitor --daily-budget` does. It changes nothing where a
    /// day has one cycle, nor for oracles and rules that draw
    #[arg(long)]
    pub by_day: bool,
    /// Leave out groups with fewer pages, unless all are that small
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub least_pages: usize,
    /// Show each group of pages, not only their mean
    #[arg(long)]
    pub groups: bool,
    /// Print CSV: one line per policy, budget and group
    #[arg(long)]
    pub csv: bool,
    /// Write a plot (SVG): freshness per cycle; with several budgets, staleness by budget
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub flags: QueryFlags,
}

const EVOLVE_EXAMPLES: &str = "\
Examples:
  freshet evolve DATASET --out champion.toml                 the paper's protocol: 300 formulas, 50 generations, 5 runs, 5 folds
  freshet evolve --store freshet.db --runs 2 --folds 2       from the history of your own crawl
  freshet evolve DATASET --terminals all                     with estimates, ages and longevity as inputs too
  freshet evolve DATASET --fitness freshness                 for up-to-date copies instead of changes found
  freshet evolve --explain champion.toml                     which inputs matter; the score as a surface
  freshet simulate DATASET --policy evolved:champion.toml,nad,age
  freshet crawl --budget 1000 --policy evolved:champion.toml

docs/evolve.md explains the method and has the results.";

/// Breed a score function from recorded histories, or the store's own: genetic programming (GP4C, Santos et al. 2013)
///
/// Formulas over the facts of a page (n visits, X of them found a change, t cycles since the last, and others) are crossed
/// and mutated; each is judged by a replay. The champion is a readable formula in a file, which runs live and in the
/// simulator as `--policy evolved:FILE`. The same seed gives the same formula on any number of cores. Ctrl-C keeps the best
/// so far; the same command continues from there.
#[derive(Debug, Args)]
#[command(after_help = EVOLVE_EXAMPLES)]
pub(crate) struct EvolveArgs {
    /// Dataset made by `freshet import`; without one, and with --store, the store's own history
    pub dataset: Option<PathBuf>,
    /// Made-up pages, as for `simulate`, with one moment per cycle
    #[arg(long, value_name = "SPEC", conflicts_with = "dataset")]
    pub synthetic: Option<String>,
    /// File for the champion; a plot of the generations (.svg) and the state to continue from (.journal) are written beside it
    #[arg(long, value_name = "FILE", default_value = "champion.toml")]
    pub out: PathBuf,
    /// Formulas in a generation
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub population: u32,
    /// Generations in a run
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub generations: u32,
    /// Independent restarts per fold
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Parts of the pages: each tests the formulas bred on the others; 1: no test
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub folds: u32,
    /// Aim of the formulas
    #[arg(long, value_enum, default_value_t = FitnessArg::Changerate)]
    pub fitness: FitnessArg,
    /// Inputs of the formulas; `all`: every input; `help` lists them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "n,X,t")]
    pub terminals: Vec<String>,
    /// Which formulas of a generation have children
    #[arg(long, value_enum, default_value_t = BreedingArg::Paper)]
    pub breeding: BreedingArg,
    /// How the champion is picked from the best formulas, by their fitness on the pages they were bred on and on others
    #[arg(long, value_enum, default_value_t = SelectionArg::Best)]
    pub selection: SelectionArg,
    /// Best formulas of all generations of a run, which go on evolving and are tried on other pages
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub kept: u32,
    /// Share of the pages that a cycle visits
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub budget: String,
    /// Cycles after its first copy in which a page is always visited
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm_up: u32,
    /// Leave out groups with fewer pages, unless all are that small
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub least_pages: usize,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Replays at the same time [default: number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Start over, even if an earlier run can be continued
    #[arg(long, alias = "anew")]
    pub start_over: bool,
    /// Don't breed: explain which inputs the formula of this file uses, on its own data or on DATASET
    #[arg(long, value_name = "FILE")]
    pub explain: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FitnessArg {
    /// Share of visits that found a change
    Changerate,
    /// The same, with more weight on the earlier visits of a cycle
    Ndcg,
    /// Share of copies that are up to date
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
pub enum BreedingArg {
    /// As Santos et al. 2013 print it: crossover among the top sixth of the generation, and the best of all generations
    /// (--kept) go on
    Paper,
    /// Only: crossover among the top
    TopParents,
    /// Only: the best of all generations go on
    KeptGoOn,
    /// Neither: all parents win a tournament of two, and only the best formula goes on (the rule of earlier releases)
    Tournament,
}

impl From<BreedingArg> for BreedingRule {
    fn from(argument: BreedingArg) -> Self {
        match argument {
            BreedingArg::Paper => Self::Paper,
            BreedingArg::TopParents => Self::TopParents,
            BreedingArg::KeptGoOn => Self::KeptGoOn,
            BreedingArg::Tournament => Self::Tournament,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SelectionArg {
    /// The best on other pages, as in the paper's Fig. 1
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

/// The name that stands for every paper.
pub(crate) const ALL_PAPERS: &str = "all";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  freshet reproduce avrachenkov                       the tables; plots go to ./reproduce/
  freshet reproduce grimes-ford --runs 5000           smoother curves, five times the time
  freshet reproduce avrachenkov --runs 50 --out tmp   a first look, in seconds
  freshet reproduce grimes-ford --json                every number of every curve, for programs
  freshet reproduce longevity                         on made-up pages, in a minute or two
  freshet reproduce longevity data/replay.ds          on recorded pages, from `freshet import`
  freshet reproduce user-centric replay.ds replay-2.ds   on one site and many, in minutes
  freshet reproduce gp4c                              formulas bred on made-up pages, in an hour or less
  freshet reproduce all --out papers                  every paper; open papers/index.html

docs/reproduce.md has the results and the assumptions.";

/// Run the experiments of a paper again with the estimators that crawls use, and plot the results
///
/// Prints tables, with notes on what the paper leaves open and where it is wrong; writes a plot (SVG) and its numbers (CSV)
/// for each figure. The same seed gives the same numbers.
#[derive(Debug, Args)]
#[command(after_help = REPRODUCE_EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// The paper
    #[arg(value_parser = names::papers())]
    pub paper: String,
    /// Datasets made by `freshet import`, instead of made-up pages; their groups are put together. Not for `avrachenkov`
    #[arg(value_name = "DATASET")]
    pub datasets: Vec<PathBuf>,
    /// Folder for plots and numbers; files of the same names are replaced
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
    /// Number of simulated page lives; `longevity` uses half as many pages, `user-centric` 0.4 and 0.5 times as many, `gp4c` ten times as many, up to 417,048
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub runs: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}
