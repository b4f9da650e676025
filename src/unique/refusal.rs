//! Refusal: why a link was not taken.
//!
//! Reasons are counted, stored by name and shown to the operator, who finds in them what the crawl leaves out. What
//! must stay true: a name, once released, keeps its meaning.

use std::fmt;

use crate::page::UrlError;

/// Why a link was not taken. `name()` is stable and stored; `all()` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Not a URL.
    Malformed,
    /// Not `http` or `https`.
    Scheme,
    /// A user name or password in it.
    UserInfo,
    /// No seed accepts it.
    OutOfScope,
    /// It matches none of the patterns to include.
    NotIncluded,
    /// It matches a pattern to exclude.
    Excluded,
    /// Seeds accept it, but not this many links away.
    TooDeep,
    /// More bytes than a URL may have.
    UrlTooLong,
    /// More path segments than a URL may have.
    PathTooDeep,
    /// The same path segment too often.
    RepeatedSegments,
    /// Its path has too many queries known already.
    QueryVariants,
    /// Its host has too many pages known already.
    HostFull,
    /// It came after as many links as one page may give.
    LinksPerPage,
    /// The page or the link asked not to be followed.
    NoFollow,
}

const ALL: [Refusal; 14] = [
    Refusal::Malformed,
    Refusal::Scheme,
    Refusal::UserInfo,
    Refusal::OutOfScope,
    Refusal::NotIncluded,
    Refusal::Excluded,
    Refusal::TooDeep,
    Refusal::UrlTooLong,
    Refusal::PathTooDeep,
    Refusal::RepeatedSegments,
    Refusal::QueryVariants,
    Refusal::HostFull,
    Refusal::LinksPerPage,
    Refusal::NoFollow,
];

impl Refusal {
    /// Every reason there is, in the order of the enum.
    pub fn all() -> &'static [Refusal] {
        &ALL
    }

    /// The stored name: lower case, words joined by `-`.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Malformed => "malformed",
            Refusal::Scheme => "scheme",
            Refusal::UserInfo => "user-info",
            Refusal::OutOfScope => "out-of-scope",
            Refusal::NotIncluded => "not-included",
            Refusal::Excluded => "excluded",
            Refusal::TooDeep => "too-deep",
            Refusal::UrlTooLong => "url-too-long",
            Refusal::PathTooDeep => "path-too-deep",
            Refusal::RepeatedSegments => "repeated-segments",
            Refusal::QueryVariants => "query-variants",
            Refusal::HostFull => "host-full",
            Refusal::LinksPerPage => "links-per-page",
            Refusal::NoFollow => "no-follow",
        }
    }

    /// The reason of a stored name.
    pub fn from_name(name: &str) -> Option<Refusal> {
        ALL.into_iter().find(|refusal| refusal.name() == name)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The reason to count for a link that could not be normalised.
impl From<&UrlError> for Refusal {
    fn from(error: &UrlError) -> Refusal {
        match error {
            UrlError::Malformed(_) | UrlError::NoHost => Refusal::Malformed,
            UrlError::Scheme(_) => Refusal::Scheme,
            UrlError::UserInfo => Refusal::UserInfo,
            UrlError::TooLong { .. } => Refusal::UrlTooLong,
        }
    }
}

/// How often each reason was given.
#[derive(Clone, Debug, Default)]
pub struct RefusalCounts {
    counts: [u64; ALL.len()],
}

impl RefusalCounts {
    /// Counts a reason.
    pub fn add(&mut self, reason: Refusal, count: u64) {
        if let Some(held) = self.counts.get_mut(reason as usize) {
            *held = held.saturating_add(count);
        }
    }

    /// The reasons that were given, in the order of [`Refusal::all`].
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// The reasons given since the last call.
    pub(super) fn take(&mut self) -> Vec<(Refusal, u64)> {
        std::mem::take(self).iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_place_and_its_name() {
        for (place, refusal) in Refusal::all().iter().enumerate() {
            assert_eq!(*refusal as usize, place);
            assert_eq!(Refusal::from_name(refusal.name()), Some(*refusal));
        }
        assert_eq!(Refusal::from_name("because"), None);
    }

    #[test]
    fn counts_are_taken_once() {
        let mut refusals = RefusalCounts::default();
        refusals.add(Refusal::NoFollow, 2);
        refusals.add(Refusal::Scheme, 1);
        refusals.add(Refusal::NoFollow, 3);
        assert_eq!(refusals.take(), [(Refusal::Scheme, 1), (Refusal::NoFollow, 5)]);
        assert_eq!(refusals.take(), []);
    }
}
