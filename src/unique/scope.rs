//! Scope: which URLs the operator wants.
//!
//! In comes a page URL with the depth it was found at; out goes the seed that wants it, or the reason why none does. A
//! link is wanted if any seed accepts it, is refused if it looks like a trap or if the operator's patterns say so.
//!
//! What must stay true: the answer depends on the URL, the depth and the settings only (what depends on pages known
//! already is for the verifier), and asking costs the same with one seed as with a hundred thousand. So seeds are
//! indexed by what they accept, and of those that accept the same pages only the one that reaches deepest is asked.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use regex::RegexSet;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::refusal::Refusal;
use crate::page::{Depth, Fingerprint, Host, PageUrl, SeedId, Sites, registrable};

/// How far from a seed links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// Its host, and paths that begin as its own does, up to the last `/`.
    Prefix,
    /// Its host. `http` and `https` on their default ports are one host here.
    #[default]
    Host,
    /// Its registrable domain, on any port.
    Domain,
    /// Everywhere.
    Any,
}

impl ScopeKind {
    fn name(self) -> &'static str {
        match self {
            ScopeKind::Prefix => "prefix",
            ScopeKind::Host => "host",
            ScopeKind::Domain => "domain",
            ScopeKind::Any => "any",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A word that names no [`ScopeKind`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown scope `{0}`, expected `prefix`, `host`, `domain` or `any`")]
pub struct UnknownScope(pub String);

impl FromStr for ScopeKind {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<ScopeKind, UnknownScope> {
        [ScopeKind::Prefix, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Any]
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// Bounds beyond which a site is taken for a trap: pages made up as fast as they are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrapLimits {
    /// Bytes of a URL. 2048 is what old browsers could do, so sites that want readers keep to it.
    pub url_length: usize,
    /// Non-empty segments of a path.
    pub path_depth: usize,
    /// How often one segment may stand in a path: relative links gone wrong give `/a/b/a/b/a/b/…`.
    pub repeated_segments: usize,
    /// Queries known of one path on one host.
    pub query_variants: u32,
    /// Pages known of one host.
    pub pages_per_host: u32,
    /// Links taken from one page.
    pub links_per_page: usize,
}

impl Default for TrapLimits {
    fn default() -> TrapLimits {
        TrapLimits {
            url_length: 2048,
            path_depth: 16,
            repeated_segments: 3,
            query_variants: 1000,
            pages_per_host: 100_000,
            links_per_page: 2_000,
        }
    }
}

/// The operator's rules for a site; one for all and one for each site. Patterns are matched against the full URL.
#[derive(Clone, Debug, Default)]
pub struct SiteRules {
    /// Only URLs that match one of these.
    pub include: Option<RegexSet>,
    /// No URL that matches one of these.
    pub exclude: Option<RegexSet>,
    /// The scope of seeds that do not say it themselves.
    pub scope: Option<ScopeKind>,
}

/// The operator's rules: seeds, patterns and limits together.
#[derive(Clone, Debug)]
pub struct Scope {
    default: ScopeKind,
    max_depth: Option<u32>,
    limits: TrapLimits,
    rules: SiteRules,
    sites: Sites<SiteRules>,
    seeds: Vec<SeedRule>,
    index: Index,
}

/// A seed as the scope sees it.
#[derive(Clone, Debug)]
struct SeedRule {
    id: SeedId,
    url: PageUrl,
    asked: Option<ScopeKind>,
    asked_depth: Option<u32>,
    /// The seed that redirects here; `None`: the operator named it.
    adopted_by: Option<SeedId>,
    /// The rules after the site's and the general settings have filled the gaps.
    kind: ScopeKind,
    max_depth: Option<u32>,
}

/// Places of seeds in `Scope::seeds`, by what they accept; of equals, the one that reaches deepest.
#[derive(Clone, Debug, Default)]
struct Index {
    by_id: HashMap<SeedId, usize>,
    by_page: HashMap<Fingerprint, usize>,
    by_site: HashMap<Box<str>, SiteSeeds>,
    by_domain: HashMap<Box<str>, usize>,
    any: Option<usize>,
}

/// The seeds that accept pages of one host.
#[derive(Clone, Debug, Default)]
struct SiteSeeds {
    whole: Option<usize>,
    prefixes: HashMap<Box<str>, usize>,
    /// Longer beginnings of a path need not be looked up; a path of a thousand slashes would have a thousand.
    longest_prefix: usize,
}

impl Scope {
    /// A scope without seeds, which accepts nothing. `default` and `max_depth` are for seeds that say nothing.
    pub fn new(default: ScopeKind, max_depth: Option<u32>, limits: TrapLimits, rules: SiteRules) -> Scope {
        let (sites, seeds, index) = Default::default();
        Scope { default, max_depth, limits, rules, sites, seeds, index }
    }

    /// Rules for one site: a host name (`example.org`: it and its subdomains, longest name wins) or `name:port` (that
    /// host alone, before any name). `include` and `scope` stand in for the general ones, `exclude` adds to them; the
    /// scope is for seeds on the site, added before or after. `false`: not a host name, nothing was added.
    pub fn add_site(&mut self, site: &str, rules: SiteRules) -> bool {
        let changes_seeds = rules.scope.is_some() && !self.seeds.is_empty();
        let added = self.sites.add(site, rules);
        if added && changes_seeds {
            self.index_again();
        }
        added
    }

    /// A seed, with what its line said. One with an `id` given before takes that one's place.
    pub(crate) fn add_seed(
        &mut self,
        id: SeedId,
        url: &PageUrl,
        scope: Option<ScopeKind>,
        max_depth: Option<u32>,
    ) {
        let (asked, asked_depth, kind) = (scope, max_depth, self.default);
        let url = url.clone();
        self.put_seed(SeedRule { id, url, asked, asked_depth, adopted_by: None, kind, max_depth: None });
    }

    /// A seed that another one redirected to in an earlier run; `by`: that one, if it is known.
    pub(crate) fn add_adopted(
        &mut self,
        id: SeedId,
        url: &PageUrl,
        scope: Option<ScopeKind>,
        max_depth: Option<u32>,
        by: Option<SeedId>,
    ) {
        let (asked, asked_depth, kind) = (scope, max_depth, self.default);
        let url = url.clone();
        self.put_seed(SeedRule { id, url, asked, asked_depth, adopted_by: by, kind, max_depth: None });
    }

    fn put_seed(&mut self, seed: SeedRule) {
        let id = seed.id;
        match self.index.by_id.get(&id).and_then(|place| self.seeds.get_mut(*place)) {
            Some(held) => {
                *held = seed;
                self.index_again();
            }
            None => {
                self.seeds.push(seed);
                self.index_seed(self.seeds.len() - 1);
            }
        }
    }

    /// A seed that moved: what it wants is wanted around `url` too.
    pub(crate) fn extend_seed(&mut self, id: SeedId, url: &PageUrl) {
        let held = self.index.by_id.get(&id).and_then(|place| self.seeds.get(*place));
        if let Some(moved) =
            held.map(|seed| SeedRule { url: url.clone(), adopted_by: Some(id), ..seed.clone() })
        {
            self.seeds.push(moved);
            self.index_seed(self.seeds.len() - 1);
        }
    }

    /// A seed redirects from host `from` to `to`: within its domain (`example.org` → `www.example.org`) it takes its scope
    /// along. Says whether that made the scope wider.
    pub(crate) fn follow_seed(&mut self, id: SeedId, from: &Host, to: &PageUrl) -> bool {
        let follows = from.domain() == to.host().domain() && self.judge(to, 0, None).is_err();
        if follows {
            self.extend_seed(id, to);
        }
        follows
    }

    /// Is this the page of that seed, as the operator named it?
    pub(crate) fn is_page_of(&self, id: SeedId, page: Fingerprint) -> bool {
        let seed = self.index.by_page.get(&page).and_then(|place| self.seeds.get(*place));
        seed.is_some_and(|seed| seed.id == id && seed.adopted_by.is_none())
    }

    /// A seed answers for itself: what it moved to before is not wanted any more for its sake. Says whether that made the
    /// scope narrower.
    pub(crate) fn let_go(&mut self, id: SeedId) -> bool {
        let before = self.seeds.len();
        self.seeds.retain(|seed| seed.adopted_by != Some(id));
        let is_narrower = self.seeds.len() < before;
        if is_narrower {
            self.index_again();
        }
        is_narrower
    }

    /// Is any seed's reach limited to a number of links?
    pub(crate) fn limits_depth(&self) -> bool {
        self.seeds.iter().any(|seed| seed.max_depth.is_some_and(|depth| depth > 0))
    }

    /// The limits it was made with.
    pub fn limits(&self) -> &TrapLimits {
        &self.limits
    }

    /// Which seed wants this page, or why none does. `parent`: the seed through which the linking page came, tried
    /// first. For a page on the host of a seed with `Host` scope this costs one look-up.
    ///
    /// The page of a seed itself need not match `include`: the operator named it, most often as a list of the pages
    /// that do. What `exclude` matches is refused even so.
    pub fn judge(&self, url: &PageUrl, depth: Depth, parent: Option<SeedId>) -> Result<SeedId, Refusal> {
        if url.as_str().len() > self.limits.url_length {
            return Err(Refusal::UrlTooLong);
        }
        let seed = self.seed_for(url, depth, parent)?;
        self.check_path(url.as_url().path())?;
        self.check_patterns(url)?;
        Ok(seed)
    }

    /// Why a page that was given to `seed` is wanted: how far that seed reaches, and the first pattern of `include` that
    /// the page matches, if there is one.
    pub fn reason(&self, url: &PageUrl, seed: SeedId) -> Option<(ScopeKind, Option<&str>)> {
        let seed = self.index.by_id.get(&seed).and_then(|place| self.seeds.get(*place))?;
        let site = self.rules_of(url).and_then(|rules| rules.include.as_ref());
        let pattern = site.or(self.rules.include.as_ref()).and_then(|set| {
            let first = set.matches(url.as_str()).iter().next()?;
            set.patterns().get(first).map(String::as_str)
        });
        Some((seed.kind, pattern))
    }

    /// From the cheapest question to the dearest.
    fn seed_for(&self, url: &PageUrl, depth: Depth, parent: Option<SeedId>) -> Result<SeedId, Refusal> {
        let mut refusal = Refusal::OutOfScope;
        let mut reaches = |place: usize| {
            let seed = self.seeds.get(place)?;
            if seed.max_depth.is_some_and(|max_depth| depth > max_depth) {
                refusal = Refusal::TooDeep;
                return None;
            }
            Some(seed.id)
        };
        let site = site_of(url);
        let parent = parent.and_then(|id| self.index.by_id.get(&id).copied());
        if let Some(seed) = parent.filter(|place| self.covers(*place, url, site)).and_then(&mut reaches) {
            return Ok(seed);
        }
        if let Some(seeds) = self.index.by_site.get(site) {
            if let Some(seed) = seeds.whole.and_then(&mut reaches) {
                return Ok(seed);
            }
            if let Some(seed) = seeds.covering(path_of(&url.key())).find_map(&mut reaches) {
                return Ok(seed);
            }
        }
        if !self.index.by_domain.is_empty()
            && let Some(place) = self.index.by_domain.get(registrable(url.host_name()))
            && let Some(seed) = reaches(*place)
        {
            return Ok(seed);
        }
        self.index.any.and_then(reaches).ok_or(refusal)
    }

    /// Whether the seed at `place` accepts a page, depth aside.
    fn covers(&self, place: usize, url: &PageUrl, site: &str) -> bool {
        self.seeds.get(place).is_some_and(|seed| match seed.kind {
            ScopeKind::Any => true,
            ScopeKind::Host => site_of(&seed.url) == site,
            ScopeKind::Domain => registrable(seed.url.host_name()) == registrable(url.host_name()),
            ScopeKind::Prefix => {
                site_of(&seed.url) == site
                    && path_of(&url.key()).starts_with(folder_of(path_of(&seed.url.key())))
            }
        })
    }

    fn check_path(&self, path: &str) -> Result<(), Refusal> {
        let segments = || path.split('/').filter(|segment| !segment.is_empty());
        let depth = segments().count();
        if depth > self.limits.path_depth {
            return Err(Refusal::PathTooDeep);
        }
        let repeated =
            |one: &str| segments().filter(|other| *other == one).count() > self.limits.repeated_segments;
        if depth > self.limits.repeated_segments && segments().any(repeated) {
            return Err(Refusal::RepeatedSegments);
        }
        Ok(())
    }

    fn check_patterns(&self, url: &PageUrl) -> Result<(), Refusal> {
        let site = self.rules_of(url);
        let excludes =
            |rules: &SiteRules| rules.exclude.as_ref().is_some_and(|set| set.is_match(url.as_str()));
        if excludes(&self.rules) || site.is_some_and(excludes) {
            return Err(Refusal::Excluded);
        }
        let include = site.and_then(|rules| rules.include.as_ref()).or(self.rules.include.as_ref());
        let left_out = include.is_some_and(|set| !set.is_match(url.as_str()));
        if left_out && !self.index.by_page.contains_key(&url.fingerprint()) {
            return Err(Refusal::NotIncluded);
        }
        Ok(())
    }

    fn rules_of(&self, url: &PageUrl) -> Option<&SiteRules> {
        self.sites.of(url.host_name(), url.as_url().port_or_known_default())
    }

    fn index_again(&mut self) {
        self.index = Index::default();
        for place in 0..self.seeds.len() {
            self.index_seed(place);
        }
    }

    fn index_seed(&mut self, place: usize) {
        let Some(url) = self.seeds.get(place).map(|seed| seed.url.clone()) else { return };
        let site_scope = self.rules_of(&url).and_then(|rules| rules.scope);
        let Some(seed) = self.seeds.get_mut(place) else { return };
        seed.kind = seed.asked.or(site_scope).unwrap_or(self.default);
        seed.max_depth = seed.asked_depth.or(self.max_depth);
        let (id, kind) = (seed.id, seed.kind);

        let reach =
            |place: usize| self.seeds.get(place).map_or(0, |seed| seed.max_depth.map_or(u64::MAX, u64::from));
        let deeper = |held: usize| if reach(place) > reach(held) { place } else { held };
        let index = &mut self.index;
        index.by_id.insert(id, place);
        index.by_page.entry(url.fingerprint()).or_insert(place);
        match kind {
            ScopeKind::Any => index.any = Some(index.any.map_or(place, deeper)),
            ScopeKind::Domain => {
                let held = index.by_domain.entry(registrable(url.host_name()).into()).or_insert(place);
                *held = deeper(*held);
            }
            ScopeKind::Host => {
                let seeds = index.by_site.entry(site_of(&url).into()).or_default();
                seeds.whole = Some(seeds.whole.map_or(place, deeper));
            }
            ScopeKind::Prefix => {
                let seeds = index.by_site.entry(site_of(&url).into()).or_default();
                let path = path_of(&url.key()).to_owned();
                let folder = folder_of(&path);
                seeds.longest_prefix = seeds.longest_prefix.max(folder.len());
                let held = seeds.prefixes.entry(folder.into()).or_insert(place);
                *held = deeper(*held);
            }
        }
    }
}

impl SiteSeeds {
    /// The seeds whose folder a path lies in.
    fn covering(&self, path: &str) -> impl Iterator<Item = usize> {
        let reachable = path.bytes().take(self.longest_prefix).enumerate();
        reachable
            .filter(|(_, byte)| *byte == b'/')
            .filter_map(|(slash, _)| self.prefixes.get(path.get(..=slash)?).copied())
    }
}

/// The value that `Host` scope compares. With a port that is not the scheme's own it is the origin; without, the name alone, so
/// that `http` and `https` are one site. Neither can be mistaken for the other, for only one has a `://`.
fn site_of(url: &PageUrl) -> &str {
    let origin = url.origin();
    match origin.split_once("://") {
        Some((_, name)) if url.as_url().port().is_none() => name,
        _ => origin,
    }
}

/// The path inside a page's key.
fn path_of(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    let path = rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or_default();
    path.split('?').next().unwrap_or_default()
}

/// A path up to its last `/`.
fn folder_of(path: &str) -> &str {
    path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
