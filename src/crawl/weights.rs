//! Importance of pages: as their seeds say, equal for all, or by the links among them.

use std::collections::HashMap;

use super::importance::{LinkGatherer, LinkGraph, inlink_counts, inlinks, pagerank};
use crate::page::PageId;
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
}

impl WeightBy {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Seeds, Self::Equal, Self::Inlinks, Self::PageRank];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::Equal => "equal",
            Self::Inlinks => "inlinks",
            Self::PageRank => "pagerank",
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
    /// By page. A page that is not in it was found since, and counts as the lowest of these.
    ByPage(HashMap<PageId, f64>, f64),
}

impl Weights {
    /// Importance of a page that has `stored` in the store.
    pub fn of(&self, page: PageId, stored: f64) -> f64 {
        match self {
            Self::Stored => stored,
            Self::Equal => 1.0,
            Self::ByPage(weights, least) => weights.get(&page).copied().unwrap_or(*least),
        }
    }

    /// Reads the link graph, if importance depends on it.
    pub fn load(store: &mut dyn Store, by: WeightBy) -> Result<Self, StoreError> {
        let rank = match by {
            WeightBy::Seeds => return Ok(Self::Stored),
            WeightBy::Equal => return Ok(Self::Equal),
            WeightBy::Inlinks => inlinks,
            WeightBy::PageRank => pagerank,
        };
        let (pages, graph) = link_graph(store)?;
        let weights = rank(&graph);
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min).min(1.0);
        Ok(Self::ByPage(pages.into_iter().zip(weights).collect(), least))
    }
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
