//! Search: the stored pages that have all words of a query, the best first, and how fresh each copy is.

use std::collections::HashMap;

use serde::Serialize;

use super::LookError;
use super::pages::in_words;
pub use super::snippet::SnippetPart;
use super::snippet::snippet;
use crate::crawl::collection_rates::chance_learner;
use crate::crawl::weights::counted_inlinks;
use crate::estimate::EstimatorState;
use crate::estimate::learner::Learner;
use crate::follow::postings::{IndexHit, IndexHits, best_first};
use crate::follow::search_index::SearchIndex;
use crate::observation::{Folded, Life, Observation};
use crate::page::PageId;
use crate::policy::Lesson;
use crate::policy::page_state::seen;
use crate::quality::scoring::{CollectionCounts, MatchedPage, Scoring, TermMatch};
use crate::quality::terms::{TermReader, distinct_terms};
use crate::store::{KnownPage, PageFilter, PageRow, Store};
use crate::time::{Age, Timestamp};

/// A question to the stored pages.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    text: String,
    terms: Vec<String>,
    /// How pages are scored.
    pub scoring: Scoring,
    /// Pages that are shown, the best first.
    pub most: usize,
}

impl SearchQuery {
    /// A query of these words; an error if it has none.
    pub fn new(text: &str, scoring: Scoring, most: usize) -> Result<Self, LookError> {
        let terms = distinct_terms(text);
        if terms.is_empty() {
            return Err(LookError::NoWords(text.to_owned()));
        }
        Ok(Self { text: text.to_owned(), terms, scoring, most })
    }
}

/// The pages that answer a query.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SearchResults {
    /// As it was asked.
    pub query: String,
    /// Its words, as they are looked for.
    pub terms: Vec<SearchedTerm>,
    /// How pages are scored: `bm25`, `tf-idf` or `inlinks`.
    pub scoring: Scoring,
    /// The moment whose copies were searched; `None`: those of now.
    pub as_of_at: Option<Timestamp>,
    /// Pages that could be found.
    #[serde(rename = "searched_pages")]
    pub searched: u64,
    /// Pages that have all words.
    #[serde(rename = "match_count")]
    pub matches: u64,
    /// The best of them.
    pub hits: Vec<SearchHit>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SearchedTerm {
    /// The word in lower case, or a pair of characters.
    pub term: String,
    /// Pages in which it occurs.
    #[serde(rename = "page_count")]
    pub pages: u64,
}

/// A page that answers a query.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SearchHit {
    /// Its place, from 1.
    pub rank: usize,
    /// Its score, higher first.
    pub score: f64,
    /// Its number.
    pub page_id: i64,
    /// Its address.
    pub url: String,
    /// The title of the copy.
    pub title: Option<String>,
    /// The state of the page now.
    pub state: String,
    /// The version that was searched.
    pub version_id: i64,
    /// The last visit that brought or confirmed this copy.
    pub seen_at: Option<Timestamp>,
    /// Time since then.
    pub age_seconds: Option<f64>,
    /// The probability that the page has changed since then; `None` for copies of an earlier moment.
    pub change_probability: Option<f64>,
    /// A part of the text, with the words marked.
    pub snippet: Vec<SnippetPart>,
}

/// The best pages for a query, by an index that is up to date.
pub fn search(
    store: &mut dyn Store,
    index: &SearchIndex,
    query: &SearchQuery,
    now: Timestamp,
) -> Result<SearchResults, LookError> {
    let collection = index.counts()?;
    if collection.documents == 0 {
        return Err(LookError::NothingToSearch(String::new()));
    }
    let inlinks = inlinks(store, query.scoring)?;
    let count = |page: PageId| inlinks.get(&page).copied().unwrap_or(0);
    let found = index.find(&query.terms, query.scoring, count, query.most)?;
    let learner = chance_learner(store)?;
    let mut hits = Vec::with_capacity(found.best.len());
    let rows = rows(store, &found)?;
    for hit in &found.best {
        // The index may be a moment behind.
        let Some(row) = rows.get(&hit.page).filter(|row| row.alias_of.is_none()) else { continue };
        let mut hit = shown(store, query, hit, row.clone())?;
        let Some(page) = store.known_page(PageId(hit.page_id))? else { continue };
        if let Some(seen_at) = page.state.seen_at {
            let age = now.since(seen_at);
            (hit.seen_at, hit.age_seconds) = (Some(seen_at), Some(age.seconds()));
            let lessons = store.lessons(page.id)?;
            hit.change_probability = Some(chance_of_change(&learner, &page, &lessons, age));
        }
        hit.rank = hits.len() + 1;
        hits.push(hit);
    }
    Ok(results(query, &found, collection, None, hits))
}

/// The best pages for a query among the copies that were held at a moment. Every version of that moment is read: `each` is called
/// with the pages done so far and all of them.
///
/// Pages that are aliases now are left out, and links count as they are now.
pub fn search_as_of(
    store: &mut dyn Store,
    query: &SearchQuery,
    at: Timestamp,
    each: &mut dyn FnMut(u64, u64),
) -> Result<SearchResults, LookError> {
    const AT_ONCE: usize = 200;
    let mut pages = Vec::new();
    store.each_page(&mut |page| {
        if page.alias_of.is_none() && page.state.seen_at.is_some() {
            pages.push(page.id);
        }
    })?;
    let (mut collection, mut with) = (CollectionCounts::default(), vec![0; query.terms.len()]);
    let mut matched: Vec<(PastCopy, Vec<u32>)> = Vec::new();
    let mut reader = TermReader::default();
    for (done, some) in pages.chunks(AT_ONCE).enumerate() {
        each((done * AT_ONCE) as u64, pages.len() as u64);
        for (page, log) in some.iter().zip(store.logs(some)?) {
            let Some(mut copy) = PastCopy::of(*page, &log, at) else { continue };
            let Some(content) = store.version(copy.hit.version)? else { continue };
            let counts = reader.count(&[content.title.as_deref().unwrap_or_default(), &content.text]);
            copy.length = counts.length();
            collection.documents += 1;
            collection.terms += u64::from(counts.length());
            let own: Vec<u32> = query.terms.iter().map(|term| counts.count_of(term)).collect();
            own.iter().zip(&mut with).for_each(|(count, with)| *with += u64::from(*count > 0));
            if own.iter().all(|count| *count > 0) {
                matched.push((copy, own));
            }
        }
    }
    if collection.documents == 0 {
        return Err(LookError::NothingToSearch(format!(" at {at}")));
    }
    let inlinks = inlinks(store, query.scoring)?;
    let mut seen_at = HashMap::new();
    let mut best = Vec::with_capacity(matched.len());
    for (copy, own) in matched {
        let terms = own.iter().zip(&with).map(|(count, with)| TermMatch { count: *count, documents: *with });
        let terms: Vec<TermMatch> = terms.collect();
        let inlinks = inlinks.get(&copy.hit.page).copied().unwrap_or(0);
        let page = MatchedPage { terms: &terms, length: copy.length, inlinks };
        seen_at.insert(copy.hit.page, copy.seen_at);
        best.push(IndexHit { score: query.scoring.score(&page, collection), ..copy.hit });
    }
    let matches = best.len() as u64;
    best_first(&mut best, query.most);
    let found = IndexHits { matches, with, best };
    let rows = rows(store, &found)?;
    let mut hits = Vec::with_capacity(found.best.len());
    for hit in &found.best {
        let Some(row) = rows.get(&hit.page) else { continue };
        let seen_at = seen_at.get(&hit.page).copied();
        let shown = shown(store, query, hit, row.clone())?;
        let age_seconds = seen_at.map(|seen_at| at.since(seen_at).seconds());
        hits.push(SearchHit { rank: hits.len() + 1, seen_at, age_seconds, ..shown });
    }
    Ok(results(query, &found, collection, Some(at), hits))
}

/// The copy that was held of a page at a moment.
struct PastCopy {
    hit: IndexHit,
    seen_at: Timestamp,
    length: u32,
}

impl PastCopy {
    /// `None`: nothing was held, the page was gone, or it had no words.
    fn of(page: PageId, log: &[Observation], at: Timestamp) -> Option<Self> {
        let mut folded = Folded::default();
        let mut last = None;
        for fact in log.iter().filter(|fact| fact.attempt.at <= at) {
            folded.take_life(fact);
            last = fact.found.map(|found| (found, fact.attempt.at)).or(last);
        }
        let (found, seen_at) =
            last.filter(|(found, _)| found.has_words && folded.standing.life != Life::Gone)?;
        Some(Self { hit: IndexHit { page, version: found.version, score: 0.0 }, seen_at, length: 0 })
    }
}

/// Pages that link to each page, if the score depends on it.
pub(super) fn inlinks(store: &mut dyn Store, scoring: Scoring) -> Result<HashMap<PageId, u32>, LookError> {
    match scoring {
        Scoring::Inlinks => Ok(counted_inlinks(store)?),
        Scoring::Bm25 | Scoring::TfIdf => Ok(HashMap::new()),
    }
}

/// The chance that a page has changed this long after its copy was last confirmed.
pub(super) fn chance_of_change(learner: &Learner, page: &KnownPage, lessons: &[Lesson], age: Age) -> f64 {
    let mut state = EstimatorState::default();
    let (host, depth) = (page.host, page.state.depth);
    seen(lessons).for_each(|(interval, seen)| learner.learn(host, depth, &mut state, interval, seen));
    learner.chance_of_change(host, depth, &state, age)
}

/// The rows of the best pages.
fn rows(store: &mut dyn Store, found: &IndexHits) -> Result<HashMap<PageId, PageRow>, LookError> {
    let among: Vec<PageId> = found.best.iter().map(|hit| hit.page).collect();
    let mut rows = HashMap::with_capacity(among.len());
    if !among.is_empty() {
        let filter = PageFilter { among: Some(among), aliases: true, ..PageFilter::default() };
        store.list_pages(&filter, &mut |row| {
            rows.insert(PageId(row.id), in_words(row));
        })?;
    }
    Ok(rows)
}

/// A hit with its title and snippet; how fresh it is comes later.
fn shown(
    store: &mut dyn Store,
    query: &SearchQuery,
    hit: &IndexHit,
    row: PageRow,
) -> Result<SearchHit, LookError> {
    let content = store.version(hit.version)?;
    let (title, text) = content.map(|content| (content.title, content.text)).unwrap_or_default();
    Ok(SearchHit {
        rank: 0,
        score: hit.score,
        page_id: row.id,
        url: row.url,
        title: title.filter(|title| !title.is_empty()),
        state: row.state,
        version_id: hit.version.0,
        seen_at: None,
        age_seconds: None,
        change_probability: None,
        snippet: snippet(&text, &query.terms),
    })
}

fn results(
    query: &SearchQuery,
    found: &IndexHits,
    collection: CollectionCounts,
    as_of_at: Option<Timestamp>,
    hits: Vec<SearchHit>,
) -> SearchResults {
    let terms = query.terms.iter().zip(&found.with);
    SearchResults {
        query: query.text.clone(),
        terms: terms.map(|(term, pages)| SearchedTerm { term: term.clone(), pages: *pages }).collect(),
        scoring: query.scoring,
        as_of_at,
        searched: collection.documents,
        matches: found.matches,
        hits,
    }
}
