//! Commands that look after the store itself.

use clap::{Args, Subcommand};

use super::names;
use crate::settings::{FragmentWords, HashLength, Profiles, SketchSize};

/// Look after the store itself
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    Rebuild(RebuildArgs),
}

/// Make derived data again from the log and the versions: sketches, change profiles, page states
///
/// Needed after a change of `fragment_words`, `sketch` or `hash_bytes`, so that all pages are measured alike. The log and the versions
/// stay as they are. No crawl may use the store meanwhile.
///
/// The store does not remember these values: a store that was crawled with others (`--sketch all`, say) should be
/// rebuilt with the same flags.
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    /// Change nothing; exit with 1 if something would differ
    #[arg(long)]
    pub check: bool,
    /// Make only the search index again (`freshet.search.db`): it may be damaged, or have been deleted. A crawl may go on
    #[arg(long, conflicts_with_all = ["check", "fragment_words", "sketch", "profiles", "policy"])]
    pub index: bool,
    /// Words in a fragment [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<FragmentWords>,
    /// Fragments kept of a version, or `all` [default: 250]
    #[arg(long, value_name = "M", env = "FRESHET_SKETCH")]
    pub sketch: Option<SketchSize>,
    /// Bytes kept of each fragment's hash: 4 or 8 [default: 4]
    #[arg(long, value_name = "BYTES", env = "FRESHET_HASH_BYTES")]
    pub hash_bytes: Option<HashLength>,
    /// Change profiles kept of a page [default: 5]
    #[arg(long, value_name = "H", env = "FRESHET_PROFILES")]
    pub profiles: Option<Profiles>,
    /// Policy whose memory of the pages is made [default: that of the last cycle]
    #[arg(
        long,
        value_name = "NAME",
        env = "FRESHET_POLICY",
        value_parser = names::policies(),
        hide_possible_values = true
    )]
    pub policy: Option<String>,
}
