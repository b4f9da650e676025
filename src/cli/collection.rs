//! Commands that manage the collection: seeds, ping and forget.

use clap::{Args, Subcommand};

const SEEDS_EXAMPLES: &str = "\
Examples:
  freshet seeds                            every seed with its state and its pages
  freshet seeds pause news.example.org     visit nothing under the seeds of this host for now
  freshet seeds resume news.example.org
  freshet seeds remove https://old.example.org/";

/// List the seeds with their state, or remove, pause and resume them
#[derive(Debug, Args)]
#[command(after_help = SEEDS_EXAMPLES)]
pub(crate) struct SeedsArgs {
    #[command(subcommand)]
    pub action: Option<SeedsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SeedsAction {
    /// No longer want these seeds: pages that only they brought are not visited any more. What is stored stays
    Remove(NamedSeeds),
    /// Visit nothing under these seeds until they are resumed
    Pause(NamedSeeds),
    /// Want these seeds again, whether they were paused or removed
    Resume(NamedSeeds),
}

/// The seeds that are meant.
#[derive(Debug, Args)]
pub(crate) struct NamedSeeds {
    /// URL of a seed, or a host: all seeds on it
    #[arg(value_name = "URL|HOST", required = true)]
    pub seeds: Vec<String>,
}

const PING_EXAMPLES: &str = "\
Examples:
  freshet ping https://example.org/news                   this page has just changed
  freshet ping https://example.org/a https://example.org/b
  freshet signals example.org                             how often such hints were right";

/// Tell the next cycle that pages have changed: they are noted as signals, and nothing is fetched now
///
/// This works while a crawl or a monitor is running; its next cycle takes the pings over. A policy that uses signals visits the pages
/// sooner. A page that the store does not know is taken in as a new one if the scope of a seed admits it; for others the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = PING_EXAMPLES)]
pub(crate) struct PingArgs {
    /// The pages
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<String>,
}

/// Delete pages from the store for good: their visits, their contents and all that was learnt
///
/// Contents that another page has too stay. A seed among the pages is removed. This is the only command that takes something
/// from the log; it is for pages that must not be kept. Links, sitemaps and seeds files may bring a page back: `exclude` its
/// address to prevent that.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// URL of a page, or a host: all pages on it
    #[arg(value_name = "URL|HOST", required = true)]
    pub pages: Vec<String>,
    /// Delete without asking
    #[arg(long)]
    pub yes: bool,
}
