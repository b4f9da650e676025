//! The rules of the hosts that were served last, within a bound.
//!
//! A crawl knows more hosts than it has memory for their rules. Rules that were not asked for the longest are dropped; the
//! file they came from is in the store, and is parsed again when its host is served again.

use std::collections::{BTreeMap, HashMap};

use super::Robots;

/// How many bytes the rules of all hosts may hold together: thousands of ordinary files, or 16 of the largest.
const MAX_HELD_BYTES: usize = 32 << 20;

/// The bytes that a host takes in the cache beside its rules.
const ENTRY_BYTES: usize = 160;

/// Rules by the number of their host, the least recently used dropped first.
#[derive(Debug)]
pub(crate) struct RobotsCache {
    rules: HashMap<usize, CachedRules>,
    /// Hosts by when their rules were last asked for.
    by_use: BTreeMap<u64, usize>,
    uses: u64,
    held_bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct CachedRules {
    robots: Robots,
    used: u64,
}

impl CachedRules {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.robots.held_bytes()
    }
}

impl Default for RobotsCache {
    fn default() -> Self {
        Self::with_room(MAX_HELD_BYTES)
    }
}

impl RobotsCache {
    pub(crate) fn with_room(max_bytes: usize) -> Self {
        Self { rules: HashMap::new(), by_use: BTreeMap::new(), uses: 0, held_bytes: 0, max_bytes }
    }

    /// The rules of a host, if they are held. They count as used now.
    pub(crate) fn of(&mut self, host: usize) -> Option<&Robots> {
        let cached = self.rules.get_mut(&host)?;
        self.uses += 1;
        self.by_use.remove(&cached.used);
        self.by_use.insert(self.uses, host);
        cached.used = self.uses;
        Some(&cached.robots)
    }

    /// Holds the rules of a host in place of those it had. Those just put in stay, whatever they hold.
    pub(crate) fn put(&mut self, host: usize, robots: Robots) {
        self.drop_of(host);
        self.uses += 1;
        let cached = CachedRules { robots: robots.without_sitemaps(), used: self.uses };
        self.held_bytes += cached.bytes();
        self.by_use.insert(self.uses, host);
        self.rules.insert(host, cached);
        while self.held_bytes > self.max_bytes
            && let Some((_, oldest)) = self.by_use.first_key_value().filter(|(_, oldest)| **oldest != host)
        {
            self.drop_of(*oldest);
        }
    }

    fn drop_of(&mut self, host: usize) {
        if let Some(cached) = self.rules.remove(&host) {
            self.by_use.remove(&cached.used);
            self.held_bytes -= cached.bytes();
        }
    }

    /// The bytes that all rules hold together.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::*;
    use url::Url;

    /// A file of 500 KiB of short rules that all differ.
    fn large_file(host: usize) -> Vec<u8> {
        let mut body = b"User-agent: *\n".to_vec();
        let mut rule = 0;
        while body.len() < crate::fetch::robots::MAX_BYTES - 40 {
            body.extend(format!("Disallow: /{rule:x}-{host}\n").bytes());
            rule += 1;
        }
        body
    }

    #[test]
    fn a_thousand_large_files_hold_no_more_than_the_bound() {
        let mut cache = RobotsCache::default();
        let robots = Robots::parse(&large_file(0), "freshet");
        assert!(robots.held_bytes() > 0 && robots.held_bytes() <= rules::MAX_HELD_BYTES);
        for host in 0..1000 {
            cache.put(host, robots.clone());
            assert!(cache.held_bytes() <= MAX_HELD_BYTES, "{} bytes", cache.held_bytes());
        }
        assert!(cache.of(0).is_none() && cache.of(999).is_some());
    }

    #[test]
    fn a_file_that_holds_too_much_becomes_stricter() {
        let url = |path: &str| Url::parse(&format!("https://a.example{path}")).expect("a URL");
        let mut body = large_file(7);
        let allow = b"Allow: /1-7/open\n";
        body.splice(14..14, allow.iter().copied());
        let robots = Robots::parse(&body, "freshet");
        for path in ["/0-7", "/1-7/a", "/1-7/open", "/2fff-7"] {
            assert!(!robots.allows(&url(path)), "{path}");
        }
        assert!(robots.allows(&url("/zebra")), "what is like no rule stays free");
    }

    #[test]
    fn the_least_recently_used_goes_first_and_is_counted_out() {
        let robots = Robots::parse(b"User-agent: *\nDisallow: /a\nAllow: /a/b\nSitemap: /s.xml\n", "freshet");
        let one = ENTRY_BYTES + robots.clone().without_sitemaps().held_bytes();
        let mut cache = RobotsCache::with_room(3 * one);
        (0..3).for_each(|host| cache.put(host, robots.clone()));
        assert!(cache.of(0).is_some());
        cache.put(3, robots.clone());
        assert!(cache.of(1).is_none(), "it was used least recently");
        assert!(cache.of(0).is_some() && cache.of(2).is_some() && cache.of(3).is_some());
        cache.put(3, Robots::allow_all());
        assert_eq!(cache.held_bytes(), 2 * one + ENTRY_BYTES);
        // One that is larger than the whole room is held alone.
        let mut small = RobotsCache::with_room(1);
        small.put(0, robots.clone());
        small.put(1, robots);
        assert!(small.of(0).is_none() && small.of(1).is_some());
    }
}
