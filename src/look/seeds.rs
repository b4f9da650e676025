//! The seeds of a store with their state, and the seeds and pages that an argument of the operator names.

use std::collections::HashMap;

use serde::Serialize;

use crate::observation::Life;
use crate::page::{Normaliser, PageId, SeedId};
use crate::store::{KnownSeed, PageFilter, SeedPages, Store};
use crate::time::Timestamp;
use crate::unique::ScopeKind;

use super::LookError;
use super::page::find;

/// A seed with its state.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SeedStatus {
    /// Its address.
    pub url: String,
    /// Whether it is wanted.
    pub state: SeedState,
    /// The weight of its pages.
    pub weight: f64,
    /// Links that are followed from it, if its line says so.
    pub max_depth: Option<u32>,
    /// How far its pages may be from it, if its line says so.
    pub scope: Option<ScopeKind>,
    /// A seeds file named it. Else it is a page that was asked for with `crawl --only`.
    pub in_file: bool,
    /// The seed that redirects here, if it is not the operator who named it.
    pub adopted_by: Option<String>,
    /// When it was named.
    pub added_at: Timestamp,
    /// Since when it is not active, if it is not.
    pub since_at: Option<Timestamp>,
    /// Pages that were found from it, aliases left out.
    pub pages: SeedPageCounts,
    /// The latest visit to one of them.
    pub last_visit_at: Option<Timestamp>,
}

/// Whether a seed is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeedState {
    /// Its pages are visited.
    Active,
    /// Nothing under it is visited until it is resumed.
    Paused,
    /// The operator does not want it any more.
    Removed,
    /// The seed that redirected here answers for itself again.
    LetGo,
}

impl SeedState {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Removed => "removed",
            Self::LetGo => "let-go",
        }
    }
}

/// The pages of a seed, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SeedPageCounts {
    /// In whatever state.
    pub known: u64,
    /// The last visit brought the page.
    pub alive: u64,
    /// Never visited.
    pub new: u64,
    /// The last visit failed.
    pub failing: u64,
    /// Missing or gone.
    pub gone: u64,
}

/// Every seed of the store, in the order in which they came.
pub fn seeds(store: &mut dyn Store) -> Result<Vec<SeedStatus>, LookError> {
    let mut pages: HashMap<SeedId, Vec<SeedPages>> = HashMap::new();
    for row in store.seed_pages()? {
        pages.entry(row.seed).or_default().push(row);
    }
    let seeds = store.seeds()?;
    let by_id: HashMap<SeedId, &KnownSeed> = seeds.iter().map(|seed| (seed.id, seed)).collect();
    let status = |seed: &KnownSeed| {
        let by = seed.adopted_by.and_then(|by| by_id.get(&by).copied());
        let (state, since_at) = state_of(seed, by);
        let rows = pages.get(&seed.id).map(Vec::as_slice).unwrap_or_default();
        SeedStatus {
            url: seed.url.clone(),
            state,
            weight: seed.weight,
            max_depth: seed.max_depth,
            scope: seed.scope,
            in_file: seed.in_file,
            adopted_by: by.filter(|_| seed.adopted).map(|by| by.url.clone()),
            added_at: seed.added_at,
            since_at,
            pages: SeedPageCounts::of(rows),
            last_visit_at: rows.iter().filter_map(|row| row.last_visit_at).max(),
        }
    };
    Ok(seeds.iter().map(status).collect())
}

/// The state of a seed, and since when it has it. One that another seed moved to shares its fate.
fn state_of(seed: &KnownSeed, by: Option<&KnownSeed>) -> (SeedState, Option<Timestamp>) {
    let either = |of: fn(&KnownSeed) -> Option<Timestamp>| of(seed).or_else(|| by.and_then(of));
    let states = [
        (SeedState::Removed, either(|seed| seed.removed_at)),
        (SeedState::LetGo, seed.let_go_at),
        (SeedState::Paused, either(|seed| seed.paused_at)),
    ];
    let set = states.into_iter().find(|(_, since)| since.is_some());
    set.unwrap_or((SeedState::Active, None))
}

impl SeedPageCounts {
    fn of(rows: &[SeedPages]) -> Self {
        let mut counts = Self::default();
        for SeedPages { life, pages, .. } in rows {
            let Some(life) = life else { continue };
            counts.known += pages;
            match Life::from_name(life) {
                Some(Life::Alive) => counts.alive += pages,
                Some(Life::New) => counts.new += pages,
                Some(Life::Failing) => counts.failing += pages,
                Some(Life::Missing | Life::Gone) => counts.gone += pages,
                _ => {}
            }
        }
        counts
    }
}

/// The seeds that an argument names: the one of this URL, or all of this host.
pub fn named_seeds(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    text: &str,
) -> Result<Vec<KnownSeed>, LookError> {
    let seeds = store.seeds()?;
    let wanted = spellings(text).into_iter().filter_map(|url| normaliser.parse(&url).ok());
    let wanted: Vec<_> = wanted.map(|url| url.fingerprint()).collect();
    let is_named = |seed: &KnownSeed| {
        let Ok(url) = normaliser.parse(&seed.url) else { return false };
        wanted.contains(&url.fingerprint()) || is_host(text) && is_on(url.origin(), text)
    };
    let named: Vec<KnownSeed> = seeds.iter().filter(|seed| is_named(seed)).cloned().collect();
    if let [adopted] = named.as_slice()
        && let Some(by) = adopted.adopted_by.filter(|_| adopted.adopted)
    {
        let by = seeds.iter().find(|seed| seed.id == by).map_or("a seed", |seed| seed.url.as_str());
        return Err(LookError::AdoptedSeed { url: adopted.url.clone(), by: by.to_owned() });
    }
    let named: Vec<KnownSeed> = named.into_iter().filter(|seed| !seed.adopted).collect();
    if named.is_empty() { Err(LookError::UnknownSeed(text.to_owned())) } else { Ok(named) }
}

/// The pages that an argument names: the one of this URL with its aliases, or all of this host.
pub fn named_pages(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    text: &str,
) -> Result<Vec<PageId>, LookError> {
    if is_host(text) {
        let filter = PageFilter { host: Some(text.to_lowercase()), aliases: true, ..PageFilter::default() };
        let mut pages = Vec::new();
        store.list_pages(&filter, &mut |page| pages.push(PageId(page.id)))?;
        return if pages.is_empty() { Err(LookError::UnknownPage(text.to_owned())) } else { Ok(pages) };
    }
    let page = PageId(find(store, normaliser, text)?.id);
    let aliases = store.spellings(page)?;
    Ok(std::iter::once(page).chain(aliases.into_iter().map(|alias| alias.page)).collect())
}

/// A host name, with a port or without, or an origin; not the URL of a page.
fn is_host(text: &str) -> bool {
    let name = text.split_once("://").map_or(text, |(_, name)| name);
    !name.is_empty() && !name.contains(['/', '?', '#'])
}

/// Is this origin that of the host? `example.org` names it under both schemes and every port.
fn is_on(origin: &str, host: &str) -> bool {
    let host = host.to_lowercase();
    let name = origin.split_once("://").map_or(origin, |(_, name)| name);
    origin == host || name == host || name.rsplit_once(':').is_some_and(|(name, _)| name == host)
}

/// The URLs that a text may mean: without a scheme, either of the two.
fn spellings(text: &str) -> Vec<String> {
    match text.contains("://") {
        true => vec![text.to_owned()],
        false => vec![format!("https://{text}"), format!("http://{text}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_from_a_page() {
        for host in ["example.org", "example.org:8080", "http://example.org", "127.0.0.1"] {
            assert!(is_host(host), "{host}");
        }
        for page in ["https://example.org/", "example.org/x", "https://example.org?x", ""] {
            assert!(!is_host(page), "{page}");
        }
    }

    #[test]
    fn a_host_is_meant_under_both_schemes_and_every_port() {
        assert!(
            is_on("https://example.org", "example.org") && is_on("http://example.org:8080", "example.org")
        );
        assert!(is_on("http://example.org:8080", "Example.org:8080"));
        assert!(is_on("http://example.org", "http://example.org"));
        assert!(!is_on("https://example.org", "http://example.org"));
        assert!(!is_on("https://www.example.org", "example.org"));
    }
}
