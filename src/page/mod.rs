//! The names of pages.
//!
//! In comes text that claims to be an address; out goes a [`PageUrl`], one spelling a page, with a fingerprint that is
//! the same for every spelling of it, and a [`Host`], which has a robots.txt. What must stay true: the fingerprint of
//! a page never changes from one release to the next, because stores are keyed by it.
//!
//! The identifiers here are the store's: numbers it gives out, which mean nothing outside it.

mod host;
mod key;
mod kin;
mod signals;
mod sites;
mod typed;
mod url;

pub use self::host::Host;
pub(crate) use self::host::{has_user_info, registrable};
pub use self::kin::Kin;
pub use self::signals::{PageSignals, SignalCount, SignalKind};
pub use self::sites::{SiteKey, Sites};
pub use self::typed::with_scheme;
pub(crate) use self::typed::{before_path, is_mail};
pub use self::url::{DEFAULT_DROPPED_PARAMETERS, Fingerprint, Normaliser, PageUrl, UrlError};

use std::fmt;

/// How many links lie between a page and the seed it was found from; a seed is at 0.
pub type Depth = u32;

/// A page, as the store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId(pub i64);

/// A host, as the store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub i64);

/// A seed, as the store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeedId(pub i64);

impl fmt::Display for PageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for SeedId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
