//! A dataset as searchers see it: the words of its pages that a workload asks for.
//!
//! Comes in: a [`Dataset`] with words, and a [`SearchWorkload`]. Goes out: the exact quality Q of the copies of a replay (Pandey & Olston
//! 2005, eq. 5), by [`Searchers::quality`]. The repository is all pages that have a copy, also those in their warm-up: searchers see
//! these too. A text without any word counts as no page.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::dataset::{Dataset, Group};
use crate::quality::attention::Attention;
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::measure::{GainMeasure, MeasureId};
use crate::quality::repository::{HeldPage, Searchers};
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;

/// What people ask, and the words of all pages of a dataset that they ask for.
#[derive(Debug)]
pub struct SearchedDataset {
    asked: Arc<AskedTerms>,
    groups: BTreeMap<String, Arc<GroupWords>>,
    /// Queries that no text of the dataset answers.
    pub unanswered: usize,
}

/// The terms of a workload, and how its searchers see a collection.
#[derive(Debug)]
struct AskedTerms {
    terms: WorkloadTerms,
    scoring: Scoring,
    attention: Attention,
    measure: MeasureId,
}

/// The words of the pages of a group.
#[derive(Debug, Default)]
struct GroupWords {
    pages: Vec<PageWords>,
}

#[derive(Debug, Default)]
struct PageWords {
    /// The words of each text; `None` if it has no words: the page is gone.
    texts: Vec<Option<CopyWords>>,
    inlinks: u32,
}

/// Why a workload can't be replayed over a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchedError {
    /// It has no words.
    #[error(
        "`{0}` has no words of its pages, which queries need; take a recording (`freshet import --format replay`), an export of a store \
         (`freshet export --format fragments`), or a store that has texts"
    )]
    NoWords(String),
    /// No page answers any query.
    #[error("no query finds a page in `{0}`: none of its texts has all the words of one of the {1} queries")]
    NoHits(String, usize),
    /// Pages are ranked by links, and there are none.
    #[error(
        "`{0}` has no links among its pages, so `--score inlinks` ranks none; take `--score bm25` or `tf-idf`"
    )]
    NoLinks(String),
}

impl SearchedDataset {
    /// The words of a dataset that this workload asks for.
    pub fn of(dataset: &Dataset, search: &SearchWorkload) -> Result<Self, SearchedError> {
        let terms = WorkloadTerms::of(&search.workload);
        let (scoring, attention, measure) = (search.scoring, search.attention, search.measure());
        let pages = || dataset.groups.iter().flat_map(|group| &group.pages);
        if pages().all(|page| page.words.iter().all(|words| words.length == 0)) {
            return Err(SearchedError::NoWords(dataset.name.clone()));
        }
        if scoring == Scoring::Inlinks && pages().all(|page| page.inlinks == 0) {
            return Err(SearchedError::NoLinks(dataset.name.clone()));
        }
        let mut is_answered = vec![false; terms.queries().len()];
        let mut groups = BTreeMap::new();
        for group in &dataset.groups {
            let words = GroupWords::of(group, &terms);
            for copy in words.pages.iter().flat_map(|page| page.texts.iter().flatten()) {
                terms.each_match(copy, |query| {
                    if let Some(answered) = is_answered.get_mut(query as usize) {
                        *answered = true;
                    }
                });
            }
            groups.insert(group.name.clone(), Arc::new(words));
        }
        let unanswered = is_answered.iter().filter(|answered| !**answered).count();
        if unanswered == is_answered.len() {
            return Err(SearchedError::NoHits(dataset.name.clone(), unanswered));
        }
        let asked = Arc::new(AskedTerms { terms, scoring, attention, measure });
        Ok(Self { asked, groups, unanswered })
    }

    /// The name of gains that are measured by its workload.
    pub fn measure(&self) -> MeasureId {
        self.asked.measure
    }

    /// The words of these pages of a group, in this order.
    pub(super) fn pages(&self, group: &Group, order: &[u32]) -> SearchedPages {
        let words = self.groups.get(&group.name).map(Arc::clone).unwrap_or_default();
        SearchedPages { asked: Arc::clone(&self.asked), words, order: order.to_vec() }
    }
}

impl GroupWords {
    fn of(group: &Group, terms: &WorkloadTerms) -> Self {
        let pages = group.pages.iter().map(|page| {
            let texts = page
                .words
                .iter()
                .map(|words| (words.length > 0).then(|| terms.words_of_hashes(&words.counts, words.length)));
            PageWords { texts: texts.collect(), inlinks: page.inlinks }
        });
        Self { pages: pages.collect() }
    }
}

/// The words of the pages of a replay, by their numbers in it.
#[derive(Clone, Debug)]
pub(crate) struct SearchedPages {
    asked: Arc<AskedTerms>,
    words: Arc<GroupWords>,
    /// The place of each page in its group.
    order: Vec<u32>,
}

impl SearchedPages {
    /// The words of all pages of a group, by a workload whose terms are known by their hashes only.
    pub(crate) fn of_terms(group: &Group, terms: WorkloadTerms, scoring: Scoring) -> Self {
        let words = Arc::new(GroupWords::of(group, &terms));
        // Its gains are used in the replay only, so any name will do.
        let (attention, measure) = (Attention::default(), MeasureId(0));
        let asked = Arc::new(AskedTerms { terms, scoring, attention, measure });
        Self { asked, words, order: (0..).take(group.pages.len()).collect() }
    }

    /// How searchers see the pages.
    pub(crate) fn searchers(&self) -> Searchers<'_> {
        let AskedTerms { terms, scoring, attention, .. } = &*self.asked;
        Searchers { terms, scoring: *scoring, attention: *attention }
    }

    fn page(&self, page: u32) -> Option<&PageWords> {
        self.words.pages.get(*self.order.get(page as usize)? as usize)
    }

    /// The words of a text of a page; `None` if the page is gone.
    pub(crate) fn words(&self, page: u32, text: u32) -> Option<&CopyWords> {
        self.page(page)?.texts.get(text as usize)?.as_ref()
    }

    /// Pages that link to a page.
    pub(crate) fn inlinks(&self, page: u32) -> u32 {
        self.page(page).map_or(0, |page| page.inlinks)
    }

    /// The name of gains that are measured by the workload.
    pub(super) fn measure(&self) -> MeasureId {
        self.asked.measure
    }

    /// A measure of gains, of no copies yet.
    pub(crate) fn gain_measure(&self) -> GainMeasure {
        GainMeasure::new(self.asked.terms.clone(), self.asked.scoring, self.asked.attention)
    }

    /// The exact quality of these copies: each page comes with the text of its copy and the text that it has. `None` if no query has a
    /// result. Of two pages with the same score the first of the group comes first, whatever the order of the replay.
    pub(super) fn quality(&self, copies: impl Iterator<Item = (u32, u32, u32)>) -> Option<f64> {
        let held = copies.map(|(page, held, live)| HeldPage {
            page: self.order.get(page as usize).copied().map_or(u64::MAX, u64::from),
            copy: self.words(page, held),
            web: self.words(page, live),
            inlinks: self.inlinks(page),
        });
        self.searchers().quality(&held.collect::<Vec<_>>()).normalised()
    }
}

#[cfg(test)]
#[path = "searched_tests.rs"]
mod tests;
