//! Views of a store: the answers to what people ask, as values that serialise.
//!
//! In come a store and the terms of the question; out goes a value. The terminal, `--json` and every later reader print
//! the same value. Nothing here prints, reads a clock (`now` and deadlines are arguments) or knows how wide a terminal
//! is; nothing here writes to the store.

pub mod changes;
pub mod check;
mod collapse;
pub mod crawled;
pub mod curve;
pub mod diff;
pub mod estimates;
pub mod figures;
pub mod health;
pub mod history;
pub mod history_limits;
pub mod hosts;
pub mod inbox;
pub mod inline_diff;
pub mod largest;
mod lasting;
pub mod links;
pub mod log;
pub mod merged;
mod new_text;
pub mod overview;
pub mod page;
pub mod page_view;
pub mod pages;
pub mod plan;
pub mod quality;
mod reason;
mod reread;
pub mod search;
pub mod seeds;
pub mod show;
pub mod signals;
pub mod site_behaviour;
pub mod site_view;
pub mod sites;
mod snippet;
pub mod spending;
pub mod status;
pub mod strips;
pub mod text_diff;
pub mod versions;
pub mod waits;
pub mod week_hours;
pub mod when;
pub mod why;

use crate::crawl::CrawlError;
use crate::follow::FollowError;
use crate::page::UrlError;
use crate::store::StoreError;
use crate::time::Timestamp;

/// The version of the form of all JSON documents, which docs/json.md describes. It goes up when a key gets another meaning
/// or goes away; a new key does not change it.
pub const JSON_VERSION: u32 = 1;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The next cycle could not be worked out.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The search index could not be read or written.
    #[error(transparent)]
    Follow(#[from] FollowError),
    /// The query has no words.
    #[error(
        "`{0}` has no words to search for; a query is one word or more, of letters or digits, and pages that have all of them are \
         found: `freshet search \"fresh pages\"`"
    )]
    NoWords(String),
    /// There are no words in the store.
    #[error(
        "there is no text to search in the store{0}; `freshet status` shows what it has, and `freshet crawl` brings pages"
    )]
    NothingToSearch(String),
    /// The URL carries a secret, which is not repeated here.
    #[error("the URL has a user name or password in it; leave them out, they are never sent")]
    Secret,
    /// The question names no page.
    #[error("`{text}` is no page: {error}; write it like `https://example.org/`")]
    NotAPage {
        /// As it was written, without what looks like a password.
        text: String,
        /// The rule it breaks.
        error: UrlError,
    },
    /// The store has no such page.
    #[error("the store does not know `{0}`; `freshet pages --url TEXT` finds what it knows")]
    UnknownPage(String),
    /// The store has no such host.
    #[error("the store has no host `{named}`; {}", instead(.near))]
    UnknownHost {
        /// As it was written.
        named: String,
        /// Hosts that are written like it.
        near: Vec<String>,
    },
    /// The store has no such cycle.
    #[error("there is no cycle {wanted}; {}", last_cycle(*.last))]
    UnknownCycle {
        /// The number that was asked for.
        wanted: i64,
        /// The number of the last one.
        last: Option<i64>,
    },
    /// The store knows a page with nearly that address.
    #[error("the store does not know `{url}`; did you mean `{near}`?")]
    NearlyKnown {
        /// As it was asked for.
        url: String,
        /// The page that it knows.
        near: String,
    },
    /// Nothing was stored of the page by then.
    #[error("nothing was stored of `{url}` at {at}; its first version is of {first}")]
    NotYetStored {
        /// The page.
        url: String,
        /// The time that was asked for.
        at: Timestamp,
        /// When its first version came.
        first: Timestamp,
    },
    /// There was no room for the version.
    #[error(
        "the version of `{url}` of {at} is known by its hashes only: there was no room for its {body_bytes} bytes; raise \
         `page_store_bytes` or `host_store_bytes` of `[limits]`, or name another time with --at"
    )]
    WithoutRoom {
        /// The page.
        url: String,
        /// When it came.
        at: Timestamp,
        /// Length of its body.
        body_bytes: u64,
    },
    /// The store has no such seed.
    #[error("there is no seed `{0}`; `freshet seeds` lists them")]
    UnknownSeed(String),
    /// The operator did not name it as a seed.
    #[error("`{url}` is no seed of yours: `{by}` moved there; name that one")]
    AdoptedSeed {
        /// The address.
        url: String,
        /// The seed that redirects there.
        by: String,
    },
    /// No visit has brought the page yet.
    #[error("nothing is stored of `{0}` yet: `freshet history {0}` shows its visits")]
    NothingStored(String),
}

fn instead(near: &[String]) -> String {
    if near.is_empty() {
        return "`freshet status --hosts 0` lists those it has".to_owned();
    }
    let near: Vec<String> = near.iter().map(|host| format!("`{host}`")).collect();
    format!("did you mean {}?", near.join(" or "))
}

fn last_cycle(last: Option<i64>) -> String {
    match last {
        Some(last) => format!("the last one is {last}"),
        None => "none was run yet".to_owned(),
    }
}

impl LookError {
    /// Whether the question itself was wrong, whatever is in the store.
    pub fn is_misuse(&self) -> bool {
        matches!(self, LookError::Secret | LookError::NotAPage { .. } | LookError::NoWords(_))
    }
}

#[cfg(test)]
mod tests;
