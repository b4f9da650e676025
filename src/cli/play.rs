//! Commands to play with: a demo, a web on loopback, and the score of a store against it.

use std::path::PathBuf;

use clap::Args;

use super::{QueryFlags, RankFlags, names};

/// See it work: crawl a changing web on loopback, visit it again on a budget, and see what that gained
///
/// Needs no network and takes half a minute. The store is kept, in a new temporary folder or at --store, which must not
/// exist yet. The same seed makes the same web.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Use a smaller web, for a few seconds
    #[arg(long)]
    pub short: bool,
    /// Seed of the random numbers that make the web
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Policies to compare, on the same web with the same budget [default: calibrated,calibrated-alone,uniform,nutch; with
    /// --queries also user-centric]
    #[arg(long, value_name = "NAME,…", value_parser = names::policies(), hide_possible_values = true)]
    pub policy: Vec<String>,
    /// Number of hosts
    #[arg(long, value_name = "H")]
    pub hosts: Option<u32>,
    /// Pages on each host
    #[arg(long, value_name = "N")]
    pub pages: Option<u32>,
    /// Cycles after the first crawl, one per day of the web
    #[arg(long, value_name = "N")]
    pub cycles: Option<u32>,
    /// Most requests a cycle may send [default: a tenth of the pages; with --short a quarter]
    #[arg(long, value_name = "K")]
    pub budget: Option<u64>,
    /// How long a day of the web lasts: 500ms, 2s
    #[arg(long, value_name = "TIME")]
    pub day: Option<String>,
    /// What sitemaps and feeds tell of changes: PRECISION,RECALL[,delay=DAYS][,poisson|build|always] as for `freshet web`;
    /// `none`: dates without changes of their own
    #[arg(long, value_name = "SPEC", default_value = "0.8,0.8")]
    pub signals: String,
    /// Show the exact quality of search results too, for the queries of this file (a query per line, optionally a tab and its
    /// frequency); without a file for words that the pages of the web use
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Search")]
    pub queries: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub flags: RankFlags,
}

/// Flags that have no meaning for a web that is played back.
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

/// Flags that `--signals` stands for.
const LIST_FLAGS: [&str; 4] = ["sitemap_precision", "sitemap_recall", "feed_precision", "feed_recall"];

/// Put up a web on loopback that changes while it is crawled, and whose true state is known
///
/// Prints one seed per host and answers until Ctrl-C. Every version is a function of seed, host, page and time: the same
/// flags and --start give the same web again. The true state of a host is at /.truth/site, that of a page at
/// /.truth/page?path=/&at=SECONDS. Shares are from 0 to 1.
#[derive(Debug, Args)]
pub(crate) struct WebArgs {
    /// Number of hosts: 127.0.1.1, 127.0.1.2 and so on
    #[arg(long, value_name = "H", default_value_t = 3)]
    pub hosts: u32,
    /// Pages that exist on each host at any time
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub pages: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How long a day of the web lasts: 500ms, 10s, 5m, 1h, 1d
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub day: String,
    /// Port of every host; 0: any free port
    #[arg(long, value_name = "P", default_value_t = 8000)]
    pub port: u16,
    /// Play back recorded histories instead: a folder with manifest.jsonl and blobs.sqlite, one host per group of pages
    #[arg(long, value_name = "DIR", conflicts_with_all = MODEL_FLAGS)]
    pub replay: Option<PathBuf>,
    /// When day 0 began, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    pub start: Option<f64>,

    /// Share of pages that never change
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Pages")]
    pub static_share: f64,
    /// Share of the changing words that stand in scrolling lists; the others are rewritten as a whole
    #[arg(long, value_name = "SHARE", default_value_t = 0.33, help_heading = "Pages")]
    pub scroll_share: f64,
    /// Times per day that a page dies or moves
    #[arg(long, value_name = "RATE", default_value_t = 0.01, help_heading = "Pages")]
    pub turnover: f64,
    /// Share of these that are moves (301)
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, help_heading = "Pages")]
    pub move_share: f64,
    /// Share of the dead pages that answer 410, not 404
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, help_heading = "Pages")]
    pub gone_share: f64,
    /// Median bytes of a page; pages have from a third of it to five times as much
    #[arg(long, value_name = "BYTES", default_value_t = 16_000, help_heading = "Pages")]
    pub median_bytes: u32,
    /// Leave out the clock, advert and session token on the pages
    #[arg(long, help_heading = "Pages")]
    pub no_noise: bool,
    /// Make changes more frequent by day than by night, and rarer on two days of seven
    #[arg(long, help_heading = "Pages")]
    pub rhythm: bool,

    /// Share of pages with a right ETag
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, help_heading = "Signals of the hosts")]
    pub etag_right: f64,
    /// Share of pages with a wrong one: it never changes, or always
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, help_heading = "Signals of the hosts")]
    pub etag_wrong: f64,
    /// Share of pages with a right Last-Modified
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, help_heading = "Signals of the hosts")]
    pub modified_right: f64,
    /// Share of pages with a wrong one: it never changes, or always
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, help_heading = "Signals of the hosts")]
    pub modified_wrong: f64,
    /// Share of the dates in the sitemap that are true
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, help_heading = "Signals of the hosts")]
    pub sitemap_precision: f64,
    /// Share of pages that are in the sitemap
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, help_heading = "Signals of the hosts")]
    pub sitemap_recall: f64,
    /// Share of the changes in the feed that are true
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, help_heading = "Signals of the hosts")]
    pub feed_precision: f64,
    /// Share of the changes that are in the feed
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, help_heading = "Signals of the hosts")]
    pub feed_recall: f64,
    /// Tell changes one by one in sitemaps and feeds: PRECISION,RECALL[,delay=DAYS][,poisson|build|always], as for `simulate`.
    /// RECALL: share of changes that are told; PRECISION: share of what is told that is right. False dates come by themselves
    /// (`poisson`), for all pages of a host at once (`build`), or every date is that of the request (`always`). With --replay
    /// changes are those of the text, and all contents are read at the start
    #[arg(long, value_name = "SPEC", conflicts_with_all = LIST_FLAGS, help_heading = "Signals of the hosts")]
    pub signals: Option<String>,
}

/// Score the store against the true state of a `freshet web`: how fresh and complete it is, now and over its past
///
/// Freshness: the share of the living pages whose stored text is the true one. Staleness: the divergence of stored and
/// true fragments, 0 to 1; a page that is not stored counts as 1. Age: time since the first change that was not seen. The
/// past is sampled at 60 moments, from the first visit to now. With --queries also the exact quality of search results
/// now (Pandey & Olston 2005, eq. 5): 1 if every query is answered as well as by copies that are all up to date.
#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// A host of the web, as `freshet web` printed it; the other hosts are found from it
    #[arg(long, value_name = "URL")]
    pub truth: String,
    #[command(flatten)]
    pub flags: QueryFlags,
}
