//! The rules of a host's robots.txt (RFC 9309): a body comes in, a verdict on any URL of that host goes out.
//!
//! What must stay true: nothing that a host writes panics or takes more than a bounded time, and a rule that
//! goes over a bound makes us stricter, never laxer. A request that robots.txt forbids is never made.
//!
//! The verdict itself (which rules match, the longest wins, a tie allows) is texting_robots'. Alone it gets
//! 13 of 54 corner cases wrong, most of them by allowing what is forbidden, so it never sees a body as it came:
//! 1. `record` cuts the body at [`MAX_BYTES`] and reads it line by line;
//! 2. `group` keeps the groups that speak to us, with their delay, and the sitemaps;
//! 3. `pattern` gives rules and URLs one spelling, and takes the regexes out of `$`;
//! 4. `rules` drops duplicates, bounds the work, and hands what is left to texting_robots.
//!
//! Costs, in a release build on a shared two-core virtual machine, from quiet to busy: a host with no
//! rule for us, 2 to 4 ns a URL; `Disallow: /` alone, 12 to 19 ns; twenty rules, 1 to 2 µs, and 6 KB held. The
//! worst files of 500 KiB that we could write hold 2 MiB, or take 1 to 2.5 ms for a URL of 2 000 bytes (wildcards made
//! to be slow).
//! Asked directly, texting_robots takes 1.1 s and up to 40 ms for 500 KiB of `$` rules.

mod cache;
mod group;
mod pattern;
mod record;
mod rules;
#[cfg(test)]
mod tests;
mod token;

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::page::Host;
use record::RuleVerdict;
use rules::RobotsRules;
use token::product_token as token_of;

pub(crate) use cache::RobotsCache;
pub use token::ProductTokens;

/// How much of a body is read. RFC 9309 §2.5 asks for at least this much; what follows the last whole line
/// within it is ignored.
pub(crate) const MAX_BYTES: usize = 500 * 1024;

/// The rules of one host's robots.txt, for one product token.
///
/// A clone shares the rules, so it costs a few counters whatever the size of the file.
#[derive(Debug, Clone)]
pub struct Robots {
    rules: RobotsRules,
    crawl_delay: Option<Duration>,
    /// As written.
    sitemaps: Option<Arc<[Box<str>]>>,
}

impl Robots {
    /// The rules that `body` has for `product_token`, which may also be a whole user agent string.
    ///
    /// The groups that name the token, compared without regard to case, are taken together; if there are
    /// none, those for `*`. Reads at most the first [`MAX_BYTES`]. Never fails: lines that mean nothing are
    /// skipped, so a body that is not a robots.txt at all has no rules. If texting_robots refuses what is
    /// left, nothing may be fetched.
    pub fn parse(body: &[u8], product_token: &str) -> Robots {
        let text = record::text(body);
        let group = group::read(&text, token_of(product_token));
        let sitemaps = group.sitemaps.iter().map(|address| Box::from(*address));
        Robots {
            rules: RobotsRules::build(&group.rules),
            crawl_delay: group.crawl_delay,
            sitemaps: (!group.sitemaps.is_empty()).then(|| sitemaps.collect()),
        }
    }

    /// No restrictions: for a host that answers 4xx, and so has no robots.txt (RFC 9309 §2.3.1.3).
    pub(crate) fn allow_all() -> Robots {
        Robots { rules: RobotsRules::AllowAll, crawl_delay: None, sitemaps: None }
    }

    /// May this URL be fetched? `/robots.txt` itself always may.
    ///
    /// Only the path and the query count: whether the URL is of this host is the caller's to know.
    pub fn allows(&self, url: &Url) -> bool {
        match &self.rules {
            RobotsRules::AllowAll => true,
            _ if pattern::path_and_query(url) == "/robots.txt" => true,
            RobotsRules::DisallowAll => false,
            RobotsRules::Ask { robot, .. } => robot.allowed(&pattern::of_url(url)),
        }
    }

    /// The Crawl-delay asked of us: the largest if there are several, however long it is.
    ///
    /// It is not in RFC 9309, but hosts expect it. What is not a number of seconds, or below 0, is skipped. A delay belongs
    /// to the agents named above it in its group. A delay above the first group speaks to everyone whose own groups ask for none.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps named anywhere in the file of this host, whichever agents the lines around them speak to, in the
    /// order written.
    ///
    /// `http` and `https` URLs only, each once, and at most 100. The protocol wants them absolute; many sites write a path,
    /// which is resolved, or leave out the scheme before their own name.
    pub fn sitemaps(&self, of: &Host) -> Vec<Url> {
        let Some(own) = of.url("/robots.txt") else { return Vec::new() };
        let mut named = Vec::new();
        for address in self.sitemaps.iter().flat_map(|sitemaps| sitemaps.iter()) {
            let names_host = address.strip_prefix(of.name()).is_some_and(|path| path.starts_with('/'));
            let resolved = if names_host { own.join(&format!("//{address}")) } else { own.join(address) };
            if let Ok(url) = resolved
                && matches!(url.scheme(), "http" | "https")
                && !named.contains(&url)
            {
                named.push(url);
            }
        }
        named
    }

    /// The same rules without the list of sitemaps, which is needed once.
    pub(super) fn without_sitemaps(self) -> Robots {
        Robots { sitemaps: None, ..self }
    }

    /// The bytes that these rules hold in memory, about; see `rules` for their bound.
    pub(super) fn held_bytes(&self) -> usize {
        let sitemaps = self.sitemaps.iter().flat_map(|sitemaps| sitemaps.iter());
        self.rules.held_bytes() + sitemaps.map(|address| size_of::<Box<str>>() + address.len()).sum::<usize>()
    }
}

/// The rule of a body that decides about a URL, as written: `Disallow: /private`; `None` if no rule speaks of it, or
/// if that can't be told. For people: it asks each rule alone, which is slow.
///
/// The longest that matches decides, and of two as long the one that allows (RFC 9309 §2.2.2).
pub(crate) fn deciding_rule(body: &[u8], product_token: &str, url: &Url) -> Option<String> {
    let text = record::text(body);
    let group = group::read(&text, token_of(product_token));
    let matches = |value: &[u8]| {
        let alone = RobotsRules::build(&[(RuleVerdict::Disallow, value)]);
        !Robots { rules: alone, crawl_delay: None, sitemaps: None }.allows(url)
    };
    let length = |(verdict, value)| pattern::of_rule(verdict, value).map(|pattern| pattern.len());
    let matching = group.rules.iter().filter(|rule| length(**rule).is_some() && matches(rule.1));
    let (verdict, value) = matching.max_by_key(|rule| (length(**rule), Reverse(rule.0)))?;
    // Bounds on all rules together may have made them stricter than each alone.
    let allows = Robots::parse(body, product_token).allows(url);
    let name = if *verdict == RuleVerdict::Allow { "Allow" } else { "Disallow" };
    (allows == (*verdict == RuleVerdict::Allow))
        .then(|| format!("{name}: {}", String::from_utf8_lossy(value)))
}
