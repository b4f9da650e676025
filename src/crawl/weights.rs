//! Importance of pages: as their seeds say, equal for all, by the links among them, or by the attention of searchers.

use std::collections::HashMap;
use std::path::Path;

use super::CrawlSettings;
use super::importance::{LinkGatherer, LinkGraph, inlink_counts, inlinks, pagerank};
use crate::follow::FollowError;
use crate::follow::search_index::SearchIndex;
use crate::page::PageId;
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::repository::Searchers;
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;
use crate::store::{Store, StoreError};

/// How a page gets its importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightBy {
    /// By the weight of the seed that it was found from.
    #[default]
    Seeds,
    /// All pages count the same.
    Equal,
    /// By the number of pages under watch that link to it.
    Inlinks,
    /// By its PageRank in the graph of the pages under watch.
    PageRank,
    /// By the attention that its copy gets from searchers.
    Workload,
}

impl WeightBy {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Seeds, Self::Equal, Self::Inlinks, Self::PageRank, Self::Workload];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::Equal => "equal",
            Self::Inlinks => "inlinks",
            Self::PageRank => "pagerank",
            Self::Workload => "workload",
        }
    }

    /// The kind that has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Importance of pages for one cycle.
#[derive(Debug, Default)]
pub enum Weights {
    /// As the store has them, by seed.
    #[default]
    Stored,
    /// 1 for every page.
    Equal,
    /// By page, and the weight of a page that is not among them: it was found since.
    ByPage(HashMap<PageId, f64>, f64),
}

/// The weight of a page that no query finds, as a share of the mean before it is scaled. It is not 0, so that the page is visited at some
/// time: its words may change.
const UNSEARCHED_SHARE: f64 = 0.05;

impl Weights {
    /// Importance of a page that has `stored` in the store.
    pub fn of(&self, page: PageId, stored: f64) -> f64 {
        match self {
            Self::Stored => stored,
            Self::Equal => 1.0,
            Self::ByPage(weights, other) => weights.get(&page).copied().unwrap_or(*other),
        }
    }

    /// Reads the link graph or the search index, if importance depends on it.
    pub fn load(store: &mut dyn Store, settings: &CrawlSettings) -> Result<Self, StoreError> {
        match settings.weight {
            WeightBy::Seeds => Ok(Self::Stored),
            WeightBy::Equal => Ok(Self::Equal),
            WeightBy::Inlinks => Self::by_links(store, inlinks),
            WeightBy::PageRank => Self::by_links(store, pagerank),
            WeightBy::Workload => match (&settings.workload, &settings.index) {
                (Some(searched), Some(index)) => Self::by_attention(store, searched, index),
                _ => Ok(Self::Equal),
            },
        }
    }

    fn by_links(store: &mut dyn Store, rank: fn(&LinkGraph) -> Vec<f64>) -> Result<Self, StoreError> {
        let (pages, graph) = link_graph(store)?;
        let weights = rank(&graph);
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min).min(1.0);
        Ok(Self::ByPage(pages.into_iter().zip(weights).collect(), least))
    }

    /// By Σ f·I(rank) over the queries, by the copies of the index. A page that was never fetched has the mean, because its words are not
    /// known. A crawl does not stop because of its index: without a usable one, all pages count the same.
    fn by_attention(
        store: &mut dyn Store,
        searched: &SearchWorkload,
        index: &Path,
    ) -> Result<Self, StoreError> {
        let terms = WorkloadTerms::of(&searched.workload);
        let read = SearchIndex::open_to_look(index, store).and_then(|index| match index {
            Some(index) => index.workload_words(&searched.workload, &terms).map(Some),
            None => Ok(None),
        });
        let words = match read {
            Ok(Some(words)) => words,
            // The first crawl begins without one.
            Ok(None) if store.pages_held()? == 0 => return Ok(Self::Equal),
            Ok(None) => return Ok(Self::without_index("there is no index that can be used as it is")),
            Err(FollowError::Store(error)) => return Err(error),
            Err(error) => return Ok(Self::without_index(&error.to_string())),
        };
        let inlinks = match searched.scoring {
            Scoring::Inlinks => counted_inlinks(store)?,
            Scoring::Bm25 | Scoring::TfIdf => HashMap::new(),
        };
        let copies: Vec<(u64, &CopyWords, u32)> = words
            .iter()
            .map(|(page, copy)| (page.0.unsigned_abs(), copy, inlinks.get(page).copied().unwrap_or(0)))
            .collect();
        let searchers = Searchers { terms: &terms, scoring: searched.scoring, attention: searched.attention };
        let attention = searchers.attention_on(&copies);
        let attention: HashMap<PageId, f64> = words.iter().map(|(page, _)| *page).zip(attention).collect();
        let mut fetched = Vec::new();
        store.each_page(&mut |page| {
            if page.alias_of.is_none() && page.state.seen_at.is_some() {
                fetched.push((page.id, attention.get(&page.id).copied().unwrap_or(0.0)));
            }
        })?;
        let weights = scaled(&fetched).map(|weights| Self::ByPage(weights, 1.0));
        Ok(weights.unwrap_or_else(|| Self::without_index("no query finds a page in it")))
    }

    fn without_index(why: &str) -> Self {
        tracing::warn!(
            "all pages count the same in this cycle, because the search index does not tell them apart: {why}"
        );
        Self::Equal
    }
}

/// The attention on pages as weights: a small share of the mean is added to each, and the mean is made 1. `None` if there is none.
fn scaled(attention: &[(PageId, f64)]) -> Option<HashMap<PageId, f64>> {
    let mean = attention.iter().map(|(_, attention)| attention).sum::<f64>() / attention.len() as f64;
    let weight = |attention: f64| (attention / mean + UNSEARCHED_SHARE) / (1.0 + UNSEARCHED_SHARE);
    let weights = || attention.iter().map(|(page, attention)| (*page, weight(*attention))).collect();
    (mean > 0.0 && mean.is_finite()).then(weights)
}

/// The number of pages under watch that link to each page; a link to an alias is one to the page that stands for it.
pub fn counted_inlinks(store: &mut dyn Store) -> Result<HashMap<PageId, u32>, StoreError> {
    let (pages, graph) = link_graph(store)?;
    Ok(pages.into_iter().zip(inlink_counts(&graph)).collect())
}

/// The pages under watch without their aliases, and the links among them.
fn link_graph(store: &mut dyn Store) -> Result<(Vec<PageId>, LinkGraph), StoreError> {
    let (mut pages, mut spellings) = (Vec::new(), Vec::new());
    store.each_page(&mut |page| {
        // A link to another spelling of a page is a link to the page.
        spellings.push((page.fingerprint.prefix(), page.alias_of.unwrap_or(page.id)));
        if page.alias_of.is_none() {
            pages.push(page.id);
        }
    })?;
    let numbers: HashMap<PageId, u32> = pages.iter().copied().zip(0..).collect();
    let place = |(prefix, page): (u64, PageId)| Some((prefix, *numbers.get(&page)?));
    let places: HashMap<u64, u32> = spellings.into_iter().filter_map(place).collect();
    let mut graph = LinkGatherer::new(pages.len());
    store.each_links(&mut |page, targets| {
        let Some(from) = numbers.get(&page) else { return };
        for to in targets.iter().filter_map(|target| places.get(target)) {
            graph.add(*from, *to);
        }
    })?;
    Ok((pages, graph.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_becomes_weights_whose_mean_is_1() {
        let of = |attention: [f64; 3]| {
            scaled(&[1, 2, 3].map(PageId).into_iter().zip(attention).collect::<Vec<_>>())
        };
        let weights = of([6.0, 3.0, 0.0]).expect("weights");
        // Attention over the mean is 2, 1 and 0.
        for (page, expected) in [(1, 2.05), (2, 1.05), (3, 0.05)] {
            assert!((weights[&PageId(page)] - expected / 1.05).abs() < 1e-12, "{page}: {weights:?}");
        }
        assert!((weights.values().sum::<f64>() - 3.0).abs() < 1e-12);
        assert_eq!(of([0.0; 3]), None);
        assert_eq!(scaled(&[]), None);
        let weights = Weights::ByPage(weights, 1.0);
        assert_eq!(weights.of(PageId(9), 7.0), 1.0, "a page found since");
    }
}
