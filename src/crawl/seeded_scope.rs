//! The store's seeds added to the operator's rules: which links are taken, and which pages are visited.
//!
//! A seed that was removed or let go wants nothing. A paused seed still takes links, so that nothing is lost when it is
//! resumed; pages that only paused seeds want are not visited.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::extract::links::LINKS_VERSION;
use crate::page::{Depth, Host, Normaliser, PageUrl, SeedId};
use crate::store::KnownSeed;
use crate::unique::{Scope, ScopeKind};

/// The scope of visits, where it is narrower than that of links.
#[derive(Clone, Debug, Default)]
pub(super) struct VisitScope(Option<Scope>);

impl VisitScope {
    /// May this page be visited? `links`: the scope of links.
    pub(super) fn accepts(&self, links: &Scope, url: &PageUrl, depth: Depth) -> bool {
        self.0.as_ref().unwrap_or(links).judge(url, depth, None).is_ok()
    }

    /// A seed redirects to another host of its domain, as in [`Scope::follow_seed`].
    pub(super) fn follow_seed(&mut self, id: SeedId, from: &Host, to: &PageUrl) {
        if let Some(scope) = &mut self.0 {
            scope.follow_seed(id, from, to);
        }
    }

    /// A seed answers for itself, as in [`Scope::let_go`].
    pub(super) fn let_go(&mut self, id: SeedId) {
        if let Some(scope) = &mut self.0 {
            scope.let_go(id);
        }
    }
}

/// The rules with the seeds.
pub(super) struct SeededScope {
    /// Which links are taken.
    pub(super) links: Scope,
    /// Which pages are visited.
    pub(super) visits: VisitScope,
    /// A hash of everything that decides which links are taken.
    pub(super) rules: u64,
}

impl SeededScope {
    /// `scope` and `rules`: the operator's rules and their hash, without seeds.
    pub(super) fn new(scope: Scope, rules: u64, seeds: &[KnownSeed], normaliser: &Normaliser) -> Self {
        let by_id: HashMap<SeedId, &KnownSeed> = seeds.iter().map(|seed| (seed.id, seed)).collect();
        // A seed that another one moved to shares its fate.
        let named =
            |seed: &KnownSeed| seed.adopted_by.and_then(|by| by_id.get(&by).copied()).unwrap_or(seed).clone();
        let is_paused = |seed: &KnownSeed| named(seed).paused_at.is_some() || seed.paused_at.is_some();
        let mut visits = seeds.iter().any(is_paused).then(|| scope.clone());
        let (mut links, mut rules) = (scope, rules_of_reader(rules));
        for seed in seeds {
            if named(seed).removed_at.is_some() || seed.removed_at.is_some() {
                continue;
            }
            // A seed that was adopted has the rules of the seed that redirects to it, and one of depth 0 takes no link.
            if !seed.adopted && seed.max_depth != Some(0) {
                rules = rules_with_seed(rules, &seed.url, seed.scope, seed.max_depth);
            }
            if seed.let_go_at.is_some() {
                continue;
            }
            match normaliser.parse(&seed.url) {
                Ok(url) => {
                    add(&mut links, seed, &url);
                    if let Some(visits) = visits.as_mut().filter(|_| !is_paused(seed)) {
                        add(visits, seed, &url);
                    }
                }
                Err(error) => tracing::warn!(url = seed.url, %error, "a stored seed is left out"),
            }
        }
        Self { links, visits: VisitScope(visits), rules }
    }
}

fn add(scope: &mut Scope, seed: &KnownSeed, url: &PageUrl) {
    if seed.adopted {
        scope.add_adopted(seed.id, url, seed.scope, seed.max_depth, seed.adopted_by);
    } else {
        scope.add_seed(seed.id, url, seed.scope, seed.max_depth);
    }
}

/// The hash of the operator's rules with the version of the reader of links: stored bodies are read again by a better one.
fn rules_of_reader(rules: u64) -> u64 {
    xxh3_64(format!("({rules}, links {LINKS_VERSION})").as_bytes())
}

/// The hash of the rules that decide which links are taken, with one more seed. A store keeps it, and the links of stored pages
/// are taken again when it changes. So the text that is hashed never changes for the same seed.
fn rules_with_seed(rules: u64, url: &str, scope: Option<ScopeKind>, max_depth: Option<u32>) -> u64 {
    let scope = match scope {
        None => "None",
        Some(ScopeKind::Prefix) => "Some(Prefix)",
        Some(ScopeKind::Host) => "Some(Host)",
        Some(ScopeKind::Domain) => "Some(Domain)",
        Some(ScopeKind::Any) => "Some(Any)",
    };
    let depth = max_depth.map_or_else(|| "None".to_owned(), |depth| format!("Some({depth})"));
    xxh3_64(format!("({rules}, \"{url}\", {scope}, {depth})").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;
    use crate::unique::{SiteRules, TrapLimits};

    fn seed(id: i64, url: &str) -> KnownSeed {
        KnownSeed {
            id: SeedId(id),
            url: url.to_owned(),
            weight: 1.0,
            scope: None,
            max_depth: None,
            adopted: false,
            adopted_by: None,
            let_go_at: None,
            removed_at: None,
            paused_at: None,
            in_file: true,
            added_at: Timestamp::from_seconds(0),
        }
    }

    fn seeded(seeds: &[KnownSeed]) -> SeededScope {
        let scope = Scope::new(ScopeKind::Host, None, TrapLimits::default(), SiteRules::default());
        SeededScope::new(scope, 7, seeds, &Normaliser::default())
    }

    fn page(url: &str) -> PageUrl {
        Normaliser::default().parse(url).expect("a URL")
    }

    #[test]
    fn a_removed_seed_wants_nothing_and_a_paused_one_takes_links_only() {
        let since = Some(Timestamp::from_seconds(1));
        let (a, b) = (page("https://a.example/x"), page("https://b.example/x"));
        let both = seeded(&[seed(1, "https://a.example/"), seed(2, "https://b.example/")]);
        let removed = seeded(&[
            seed(1, "https://a.example/"),
            KnownSeed { removed_at: since, ..seed(2, "https://b.example/") },
        ]);
        assert!(removed.links.judge(&a, 1, None).is_ok() && removed.links.judge(&b, 1, None).is_err());
        assert_ne!(removed.rules, both.rules);
        assert_eq!(removed.rules, seeded(&[seed(1, "https://a.example/")]).rules);
        let paused = seeded(&[
            seed(1, "https://a.example/"),
            KnownSeed { paused_at: since, ..seed(2, "https://b.example/") },
        ]);
        assert!(paused.links.judge(&b, 1, None).is_ok(), "its links are taken");
        assert!(paused.visits.accepts(&paused.links, &a, 1) && !paused.visits.accepts(&paused.links, &b, 1));
        assert_eq!(paused.rules, both.rules);
        assert!(both.visits.accepts(&both.links, &b, 1));
    }

    #[test]
    fn a_host_that_a_seed_moved_to_shares_its_fate() {
        let since = Some(Timestamp::from_seconds(1));
        let moved =
            KnownSeed { adopted: true, adopted_by: Some(SeedId(1)), ..seed(2, "https://www.a.example/") };
        let target = page("https://www.a.example/x");
        let active = seeded(&[seed(1, "https://a.example/"), moved.clone()]);
        assert!(active.links.judge(&target, 1, None).is_ok());
        let removed =
            seeded(&[KnownSeed { removed_at: since, ..seed(1, "https://a.example/") }, moved.clone()]);
        assert!(removed.links.judge(&target, 1, None).is_err());
        let paused = seeded(&[KnownSeed { paused_at: since, ..seed(1, "https://a.example/") }, moved]);
        assert!(!paused.visits.accepts(&paused.links, &target, 1));
    }

    #[test]
    fn a_seed_that_takes_no_link_changes_no_rule() {
        let alone = seeded(&[seed(1, "https://a.example/")]);
        let with_page = seeded(&[
            seed(1, "https://a.example/"),
            KnownSeed { max_depth: Some(0), ..seed(2, "https://b.example/x") },
        ]);
        assert_eq!(alone.rules, with_page.rules);
    }

    #[test]
    fn the_version_of_the_reader_of_links_is_one_of_the_rules() {
        let of_an_earlier_release = rules_with_seed(7, "https://a.example/", None, None);
        let now = seeded(&[seed(1, "https://a.example/")]).rules;
        assert_ne!(now, of_an_earlier_release, "stored bodies are read again");
        assert_eq!(now, rules_with_seed(xxh3_64(b"(7, links 2)"), "https://a.example/", None, None));
    }

    #[test]
    fn the_rules_of_a_seed_have_the_hash_that_stores_keep() {
        let of = |text: &str| xxh3_64(text.as_bytes());
        let url = "http://a.example/";
        assert_eq!(rules_with_seed(7, url, None, None), of("(7, \"http://a.example/\", None, None)"));
        let narrow = rules_with_seed(7, url, Some(ScopeKind::Prefix), Some(3));
        assert_eq!(narrow, of("(7, \"http://a.example/\", Some(Prefix), Some(3))"));
    }
}
